#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/gpu/host/host_platform.h"

namespace headrace::gpu {
namespace {

constexpr size_t kAlignment = 256;

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

HostMemory::HostMemory(int64_t bytes)
    : total_(static_cast<int64_t>(
          RoundUp(static_cast<size_t>(std::max<int64_t>(bytes, 4096)), 4096))) {
  void* const at = mmap(nullptr, total_, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return;
  base_ = static_cast<char*>(at);
  free_[0] = total_;
}

HostMemory::~HostMemory() {
  if (base_ != nullptr) munmap(base_, total_);
}

StatusOr<DeviceMemoryBase> HostMemory::Allocate(size_t bytes) {
  if (bytes == 0) return DeviceMemoryBase();
  MutexLock lock(&mu_);
  const auto refused = [&]() REQUIRES(mu_) {
    size_t largest = 0;
    for (const auto& [offset, size] : free_) largest = std::max(largest, size);
    return errors::ResourceExhausted(
        "the device has no ", bytes, " bytes: ", total_ - in_use_,
        " bytes are free, ", largest, " of them in one piece");
  };
  if (bytes > static_cast<size_t>(total_)) return refused();
  const size_t wanted = RoundUp(bytes, kAlignment);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [offset, size] = *it;
    if (size < wanted) continue;
    free_.erase(it);
    if (size > wanted) free_[offset + wanted] = size - wanted;
    used_[offset] = {wanted, bytes};
    in_use_ += static_cast<int64_t>(wanted);
    return DeviceMemoryBase(base_ + offset, bytes);
  }
  return refused();
}

Status HostMemory::Deallocate(DeviceMemoryBase m) {
  if (m.is_null()) return OkStatus();
  MutexLock lock(&mu_);
  const auto it = used_.find(static_cast<char*>(m.opaque) - base_);
  if (it == used_.end()) {
    return errors::Internal("no allocation of the device begins at ",
                            reinterpret_cast<uintptr_t>(m.opaque));
  }
  size_t offset = it->first, size = it->second.bytes;
  used_.erase(it);
  in_use_ -= static_cast<int64_t>(size);
  // The pages go back to the system, as far as they are whole.
  const size_t first = RoundUp(offset, 4096);
  const size_t last = (offset + size) / 4096 * 4096;
  if (last > first) madvise(base_ + first, last - first, MADV_DONTNEED);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += size;
      return OkStatus();
    }
  }
  free_[offset] = size;
  return OkStatus();
}

bool HostMemory::Contains(const void* address, size_t bytes) {
  const char* const at = static_cast<const char*>(address);
  if (base_ == nullptr || at < base_ || at >= base_ + total_) return false;
  const size_t offset = at - base_;
  MutexLock lock(&mu_);
  auto it = used_.upper_bound(offset);
  if (it == used_.begin()) return false;
  --it;
  const size_t inside = offset - it->first;
  return inside <= it->second.wanted && bytes <= it->second.wanted - inside;
}

int64_t HostMemory::in_use() {
  MutexLock lock(&mu_);
  return in_use_;
}

HostMemory::Access::Access(HostMemory* memory) : memory_(memory) {
  MutexLock lock(&memory->access_mu_);
  if (memory->accesses_++ == 0 && memory->base_ != nullptr) {
    mprotect(memory->base_, memory->total_, PROT_READ | PROT_WRITE);
  }
}

HostMemory::Access::~Access() {
  MutexLock lock(&memory_->access_mu_);
  if (--memory_->accesses_ == 0 && memory_->base_ != nullptr) {
    mprotect(memory_->base_, memory_->total_, PROT_NONE);
  }
}

}  // namespace headrace::gpu
