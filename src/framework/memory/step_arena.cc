#include "framework/memory/step_arena.h"

#include <algorithm>
#include <utility>

#include "framework/memory/allocation_trace.h"

namespace headrace {

RefPtr<StepArena> StepArena::New(std::shared_ptr<const ArenaLayout> layout) {
  void* const block = CpuAllocator()->AllocateRaw(layout->bytes);
  if (block == nullptr) return nullptr;
  return RefPtr<StepArena>(
      new StepArena(std::move(layout), static_cast<char*>(block)));
}

StepArena::StepArena(std::shared_ptr<const ArenaLayout> layout, char* block)
    : layout_(std::move(layout)),
      block_(block),
      taken_(layout_->places.size()) {
  slots_.reserve(layout_->places.size());
  for (size_t i = 0; i < layout_->places.size(); ++i) {
    slots_.emplace_back(this, static_cast<int>(i));
  }
  outputs_.reserve(layout_->output_place.size());
  for (const int32_t place : layout_->output_place) {
    outputs_.push_back(place >= 0                       ? &slots_[place]
                       : place == ArenaLayout::kOutside ? CpuAllocator()
                                                        : nullptr);
  }
}

StepArena::~StepArena() {
  CpuAllocator()->DeallocateRaw(block_, layout_->bytes);
}

void* StepArena::Take(int place, size_t bytes) {
  const ArenaLayout::Place& p = layout_->places[place];
  void* ptr = nullptr;
  if (bytes <= static_cast<size_t>(p.bytes)) {
    MutexLock lock(&mu_);
    const auto is_taken = [this](int32_t i)
                              REQUIRES(mu_) -> bool { return taken_[i]; };
    if (!taken_[place] &&
        std::none_of(p.overlapping.begin(), p.overlapping.end(), is_taken)) {
      taken_[place] = true;
      ptr = block_ + p.offset;
    }
  }
  if (ptr != nullptr) {
    AllocationTrace::Allocated(ptr, p.bytes);
  } else {
    ptr = CpuAllocator()->AllocateRaw(bytes);
    if (ptr == nullptr) return nullptr;
  }
  Ref();
  return ptr;
}

void StepArena::Give(int place, void* ptr, size_t bytes) {
  if (ptr == block_ + layout_->places[place].offset) {
    AllocationTrace::Freed(ptr);
    MutexLock lock(&mu_);
    taken_[place] = false;
  } else {
    CpuAllocator()->DeallocateRaw(ptr, bytes);
  }
  Unref();
}

}  // namespace headrace
