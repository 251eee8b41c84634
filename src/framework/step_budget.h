// StepBudget: the memory of a run that may take so many bytes at once, and
// refuses what goes beyond. For runs of which that is not known beforehand.
//
// While a thread works for such a run, the outputs and temporary tensors of its
// kernels come from here. What a kernel takes in other ways, or on others of
// its threads, is not counted.
#ifndef HEADRACE_FRAMEWORK_STEP_BUDGET_H_
#define HEADRACE_FRAMEWORK_STEP_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "base/ref_count.h"
#include "framework/allocator.h"

namespace headrace {

// Thread-safe. Lives as long as the run or a tensor of it.
class StepBudget : public Allocator, public RefCounted {
 public:
  StepBudget(int64_t step_id, int64_t bytes)
      : step_id_(step_id), bytes_(bytes) {}

  // For messages: who refused.
  std::string Name() const override;
  void* AllocateRaw(size_t bytes) override;
  void DeallocateRaw(void* ptr, size_t bytes) override;
  AllocatorStats GetStats() const override;
  void ResetPeak() override;

  // The calling thread's; null: none. A thread may call back a kernel that
  // waits in another step: that step's tensors are not this one's.
  static StepBudget* Current(int64_t step_id) {
    StepBudget* const b = current_;
    if (b == nullptr) [[likely]]
      return nullptr;
    return b->step_id_ == step_id ? b : nullptr;
  }

  // Makes `budget` (null: none) the thread's, for its own lifetime.
  class Scope {
   public:
    explicit Scope(StepBudget* budget) : outer_(current_) { current_ = budget; }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StepBudget* const outer_;
  };

 private:
  static constinit thread_local StepBudget* current_;

  const int64_t step_id_, bytes_;
  std::atomic<int64_t> in_use_{0}, peak_{0};
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_STEP_BUDGET_H_
