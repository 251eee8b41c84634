#include "framework/memory/step_arena.h"

#include <algorithm>
#include <utility>

#include "framework/memory/allocation_trace.h"

namespace headrace {
namespace {

int64_t RoundUp(size_t bytes) {
  constexpr size_t kTo = Allocator::kAlignment;
  return static_cast<int64_t>((bytes + kTo - 1) / kTo * kTo);
}

}  // namespace

RefPtr<StepArena> StepArena::New(std::shared_ptr<const ArenaLayout> layout) {
  void* const block = CpuAllocator()->AllocateRaw(layout->bytes);
  if (block == nullptr) return nullptr;
  return RefPtr<StepArena>(
      new StepArena(std::move(layout), static_cast<char*>(block)));
}

StepArena::StepArena(std::shared_ptr<const ArenaLayout> layout, char* block)
    : layout_(std::move(layout)), block_(block), held_(layout_->places.size()) {
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
  const int64_t size = RoundUp(bytes);
  void* ptr = nullptr;
  {
    MutexLock lock(&mu_);
    Held& held = held_[place];
    const auto is_held = [this](int32_t i) REQUIRES(mu_) -> bool {
      return held_[i].count > 0;
    };
    if (size <= p.bytes - held.bytes &&
        (held.count > 0 ||
         std::none_of(p.overlapping.begin(), p.overlapping.end(), is_held))) {
      ptr = block_ + p.offset + held.bytes;
      ++held.count;
      held.bytes += size;
    }
  }
  if (ptr != nullptr) {
    AllocationTrace::Allocated(ptr, size);
  } else {
    ptr = CpuAllocator()->AllocateRaw(bytes);
    if (ptr == nullptr) return nullptr;
  }
  Ref();
  return ptr;
}

void StepArena::Give(int place, void* ptr, size_t bytes) {
  char* const at = static_cast<char*>(ptr);
  if (at >= block_ && at < block_ + layout_->bytes) {
    AllocationTrace::Freed(ptr);
    MutexLock lock(&mu_);
    Held& held = held_[place];
    if (--held.count == 0) held.bytes = 0;
  } else {
    CpuAllocator()->DeallocateRaw(ptr, bytes);
  }
  Unref();
}

}  // namespace headrace
