#include "framework/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "framework/allocation_trace.h"

namespace headrace {
namespace {

// The machine's memory, or the cgroup's limit if that is lower.
int64_t MemoryLimit() {
  int64_t limit = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::FILE* f = std::fopen(path, "r");
    if (f == nullptr) continue;
    long long v = 0;
    if (std::fscanf(f, "%lld", &v) == 1 && v > 0) {
      limit = std::min<int64_t>(limit, v);
    }
    std::fclose(f);
  }
  return limit;
}

// Blocks of at least kLarge are kept when freed, by rounded size, up to
// kKeepBytes in all: a fresh mapping costs a page fault for every 4 KiB, which
// is more than most element-wise kernels take to fill it.
class CpuAllocatorImpl : public Allocator {
 public:
  std::string Name() const override { return "cpu"; }

  void* AllocateRaw(size_t bytes) override {
    if (bytes == 0) bytes = 1;
    if (bytes > static_cast<size_t>(limit_)) return nullptr;
    const size_t rounded = Rounded(bytes);
    void* p = nullptr;
    if (rounded >= kLarge) p = TakeKept(rounded);
    if (p == nullptr) p = Fresh(rounded);
    if (p == nullptr) {
      DropKept();
      p = Fresh(rounded);
      if (p == nullptr) return nullptr;
    }
    const int64_t size = static_cast<int64_t>(rounded);
    allocs_.fetch_add(1, std::memory_order_relaxed);
    const int64_t now =
        in_use_.fetch_add(size, std::memory_order_relaxed) + size;
    RaiseTo(&peak_, now);
    RaiseTo(&largest_, size);
    AllocationTrace::Allocated(p, size);
    return p;
  }

  void DeallocateRaw(void* ptr, size_t bytes) override {
    if (ptr == nullptr) return;
    AllocationTrace::Freed(ptr);
    const size_t rounded = Rounded(bytes == 0 ? 1 : bytes);
    in_use_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
    if (rounded >= kLarge && Keep(ptr, rounded)) return;
    std::free(ptr);
  }

  AllocatorStats GetStats() const override {
    AllocatorStats s;
    s.num_allocs = allocs_.load(std::memory_order_relaxed);
    s.bytes_in_use = in_use_.load(std::memory_order_relaxed);
    s.peak_bytes_in_use = peak_.load(std::memory_order_relaxed);
    s.largest_alloc_size = largest_.load(std::memory_order_relaxed);
    s.bytes_limit = limit_;
    return s;
  }
  void ResetPeak() override {
    peak_.store(in_use_.load(std::memory_order_relaxed),
                std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kLarge = size_t{128} << 10;
  static constexpr size_t kHugePage = size_t{2} << 20;
  static constexpr size_t kHuge = 2 * kHugePage;
  static constexpr size_t kKeepBytes = size_t{256} << 20;

  // Large sizes in steps of an eighth of their power of two, so that similar
  // requests share blocks and at most an eighth is wasted.
  static size_t Rounded(size_t n) {
    size_t step = kAlignment;
    if (n >= kLarge) {
      const int log2 = 63 - __builtin_clzll(n);
      step = size_t{1} << (log2 - 3);
    }
    return (n + step - 1) / step * step;
  }
  // Pages of 2 MiB where the system has them: a tenth of the faults' cost, and
  // fewer misses of the address cache later. Only whole ones, so that no more
  // memory is taken than was asked for.
  static void* Fresh(size_t rounded) {
    if (rounded < kHuge) return std::aligned_alloc(kAlignment, rounded);
    // Not aligned_alloc, which wants a multiple of the alignment.
    void* p = nullptr;
    if (posix_memalign(&p, kHugePage, rounded) != 0) return nullptr;
    madvise(p, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);
    return p;
  }
  static void RaiseTo(std::atomic<int64_t>* a, int64_t v) {
    int64_t old = a->load(std::memory_order_relaxed);
    while (old < v &&
           !a->compare_exchange_weak(old, v, std::memory_order_relaxed)) {
    }
  }
  void* TakeKept(size_t rounded) {
    MutexLock lock(&mu_);
    auto it = kept_.find(rounded);
    if (it == kept_.end() || it->second.empty()) return nullptr;
    void* p = it->second.back();
    it->second.pop_back();
    kept_bytes_ -= rounded;
    return p;
  }
  bool Keep(void* p, size_t rounded) {
    MutexLock lock(&mu_);
    if (kept_bytes_ + rounded > kKeepBytes) return false;
    kept_[rounded].push_back(p);
    kept_bytes_ += rounded;
    return true;
  }
  void DropKept() {
    MutexLock lock(&mu_);
    for (auto& [size, blocks] : kept_) {
      for (void* p : blocks) std::free(p);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }

  const int64_t limit_ = MemoryLimit();
  std::atomic<int64_t> allocs_{0}, in_use_{0}, peak_{0}, largest_{0};
  Mutex mu_;
  absl::flat_hash_map<size_t, std::vector<void*>> kept_ GUARDED_BY(mu_);
  size_t kept_bytes_ GUARDED_BY(mu_) = 0;
};

}  // namespace

Allocator* CpuAllocator() {
  static CpuAllocatorImpl* const allocator = new CpuAllocatorImpl;
  return allocator;
}

}  // namespace headrace
