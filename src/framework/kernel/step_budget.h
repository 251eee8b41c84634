// StepBudget: the memory of a run that may take so many bytes at once, and
// refuses what goes beyond. For runs of which that is not known beforehand.
//
// The outputs and temporary tensors of such a run's kernels come from here, and
// large buffers that a kernel takes by `new` count while it runs.
#ifndef HEADRACE_FRAMEWORK_KERNEL_STEP_BUDGET_H_
#define HEADRACE_FRAMEWORK_KERNEL_STEP_BUDGET_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "base/scratch_account.h"
#include "headrace/allocator.h"
#include "headrace/ref_count.h"
#include "headrace/tensor.h"

namespace headrace {

// Thread-safe. Lives as long as the run or a tensor of it.
class StepBudget : public Allocator, public MemoryCounter, public RefCounted {
 public:
  explicit StepBudget(int64_t bytes) : bytes_(bytes) {}

  // For messages: who refused.
  std::string Name() const override;
  void* AllocateRaw(size_t bytes) override;
  void DeallocateRaw(void* ptr, size_t bytes) override;
  bool Reserve(int64_t bytes) override;
  void Release(int64_t bytes) override;
  AllocatorStats GetStats() const override;
  void ResetPeak() override;

  // Counts the characters of strings as long as the tensor's buffer lives;
  // other tensors and those that are counted already are left as they are.
  // ResourceExhausted, and `t` is left alone, if that is beyond the budget.
  Status CountStrings(Tensor* t);

 private:
  const int64_t bytes_;
  std::atomic<int64_t> in_use_{0}, peak_{0};
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_STEP_BUDGET_H_
