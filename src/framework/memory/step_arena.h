// StepArena: one block of memory for the tensors of a run of which it is known
// beforehand how large they are and in what order they come and go. Each has
// its place; those that are never alive at one moment share bytes.
//
// The layout need not be right. A place is given to who asks while nothing
// alive shares bytes with it; who comes too early, because a kernel kept what
// it was thought to drop, or wants more than planned gets memory of the CPU's
// allocator.
#ifndef HEADRACE_FRAMEWORK_MEMORY_STEP_ARENA_H_
#define HEADRACE_FRAMEWORK_MEMORY_STEP_ARENA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/allocator.h"
#include "headrace/mutex.h"
#include "headrace/ref_count.h"

namespace headrace {

struct ArenaLayout {
  struct Place {
    int64_t offset = 0;  // a multiple of Allocator::kAlignment
    int64_t bytes = 0;
    std::vector<int32_t> overlapping;  // places that share bytes with it
  };
  // Instead of a place: memory as if there were no arena, but where the tensor
  // may outlive the run not that of an input.
  static constexpr int32_t kAnywhere = -1, kOutside = -2;

  int64_t bytes = 0;
  std::vector<Place> places;
  // The places of the outputs of all nodes that run; those of node i from
  // first_output[i] on.
  std::vector<int32_t> first_output, output_place;
};

// Thread-safe. Lives as long as the run or a tensor in it.
class StepArena : public RefCounted {
 public:
  // Null if there is no memory.
  static RefPtr<StepArena> New(std::shared_ptr<const ArenaLayout> layout);

  // Of the outputs of node i, from where to allocate them; null: from anywhere,
  // and the buffer of an input may be taken over.
  Allocator* const* Outputs(int64_t node) const {
    return outputs_.data() + layout_->first_output[node];
  }

 private:
  class Slot : public Allocator {
   public:
    Slot(StepArena* arena, int index) : arena_(arena), index_(index) {}
    std::string Name() const override { return "arena"; }
    void* AllocateRaw(size_t bytes) override {
      return arena_->Take(index_, bytes);
    }
    void DeallocateRaw(void* ptr, size_t bytes) override {
      arena_->Give(index_, ptr, bytes);
    }
    AllocatorStats GetStats() const override {
      return CpuAllocator()->GetStats();
    }
    void ResetPeak() override { CpuAllocator()->ResetPeak(); }

   private:
    StepArena* const arena_;
    const int index_;
  };

  StepArena(std::shared_ptr<const ArenaLayout> layout, char* block);
  ~StepArena() override;

  void* Take(int place, size_t bytes);
  void Give(int place, void* ptr, size_t bytes);

  const std::shared_ptr<const ArenaLayout> layout_;
  char* const block_;
  std::vector<Slot> slots_;
  std::vector<Allocator*> outputs_;
  Mutex mu_;
  std::vector<bool> taken_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_STEP_ARENA_H_
