// StepArena: one block of memory for large tensors of a run, whose sizes and
// lifetimes are known before the run. Each tensor has a place in the block, and
// the temporary memory of a kernel has one. Those that are never in use at the
// same time share bytes.
//
// A layout may be wrong without harm. A tensor gets its place only if nothing
// alive shares bytes with the place. If something does, because a kernel kept
// what the plan thought it would drop, or if the tensor is larger than planned,
// it gets memory of the CPU's allocator.
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

// All offsets and sizes are in bytes.
struct ArenaLayout {
  struct Place {
    int64_t offset = 0;  // a multiple of Allocator::kAlignment
    int64_t bytes = 0;
    std::vector<int32_t> overlapping;  // places that share bytes with it
  };
  // In output_place: an output without a place. kAnywhere: it is allocated as
  // if there were no arena. kOutside: the tensor may outlive the run, so it
  // does not take over the buffer of an input either, which may lie in the
  // arena.
  static constexpr int32_t kAnywhere = -1, kOutside = -2;

  int64_t bytes = 0;  // of the block
  std::vector<Place> places;
  // output_place has an index into `places`, or one of the above, for each
  // output of each node that runs, and one more for the temporary memory of its
  // kernel. Those of node i begin at first_output[i].
  std::vector<int32_t> first_output, output_place;
};

// Thread-safe. Reference counted: the run has a reference, and so has each
// tensor that lies in the arena.
class StepArena : public RefCounted {
 public:
  // Allocates the block. Null if there is no memory for it; the run then goes
  // on without an arena.
  static RefPtr<StepArena> New(std::shared_ptr<const ArenaLayout> layout);

  // For each output of a node, the allocator to allocate it from, and then the
  // one for temporary memory. Null there: any allocator, and the output may
  // take over the buffer of an input.
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
  // What a place holds: the tensors of one output, one after the other, or
  // several pieces of temporary memory, which lie side by side. The bytes of
  // all that were taken since it was empty.
  struct Held {
    int count = 0;
    int64_t bytes = 0;
  };
  std::vector<Held> held_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_STEP_ARENA_H_
