#include "framework/allocator.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "framework/allocation_size.h"
#include "framework/allocation_trace.h"
#include "framework/lasting_allocator.h"
#include "framework/slab.h"

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

// Blocks of at least kLargeAllocation are kept when freed, up to kKeepBytes in
// all and not longer than kKeepSeconds: a fresh mapping costs a page fault for
// every 4 KiB, which is more than most element-wise kernels take to fill it. A
// request takes the smallest kept block that holds it, if that is not twice as
// large: layer after layer of a network finds room in what larger ones left.
// Blocks in use and kept together hardly exceed what was in use at once at some
// time: where they would, larger ones are taken, too, or kept ones go.
class CpuAllocatorImpl : public Allocator {
 public:
  std::string Name() const override { return "cpu"; }

  void* AllocateRaw(size_t bytes) override { return Allocate(bytes, false); }
  void DeallocateRaw(void* ptr, size_t bytes) override {
    Free(ptr, bytes, false);
  }

  // `lasting`: no kept block is taken for it, and it is not kept.
  void* Allocate(size_t bytes, bool lasting) {
    if (bytes == 0) bytes = 1;
    if (bytes > static_cast<size_t>(limit_)) return nullptr;
    const size_t rounded = AllocationSize(bytes);
    const bool large = rounded >= kLargeAllocation;
    void* p = nullptr;
    if (large) p = TakeKept(rounded, lasting);
    if (p == nullptr) p = Fresh(bytes, rounded, lasting);
    if (p == nullptr) {
      DropKept();
      p = Fresh(bytes, rounded, lasting);
      if (p == nullptr) {
        if (large) Forget(rounded);
        return nullptr;
      }
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

  void Free(void* ptr, size_t bytes, bool lasting) {
    if (ptr == nullptr) return;
    AllocationTrace::Freed(ptr);
    if (bytes == 0) bytes = 1;
    const size_t rounded = AllocationSize(bytes);
    in_use_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
    if (rounded >= kLargeAllocation) {
      if (lasting) {
        Forget(rounded);
      } else if (Keep(ptr, rounded)) {
        return;
      }
    }
    if (lasting && rounded < kHuge) {
      slabs_.Free(ptr, bytes);
    } else {
      Release({ptr, rounded});
    }
  }

  void DropKept() {
    std::vector<Gone> old;
    {
      MutexLock lock(&mu_);
      DropUnusedSince(std::numeric_limits<int64_t>::max(), &old);
    }
    for (const Gone& g : old) Release(g);
  }

  // Around fork(), as Slabs'.
  void Lock() NO_THREAD_SAFETY_ANALYSIS {
    mu_.Lock();
    slabs_.Lock();
  }
  void Unlock() NO_THREAD_SAFETY_ANALYSIS {
    slabs_.Unlock();
    mu_.Unlock();
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
  static constexpr size_t kHuge = size_t{4} << 20;
  static_assert(kHuge <= Slabs::kMaxBlock);
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kMapped = false;  // it watches malloc's blocks
#else
  static constexpr bool kMapped = true;  // blocks of kHuge
#endif
  static constexpr size_t kKeepBytes = size_t{256} << 20;
  static constexpr size_t kSlackBytes = size_t{16} << 20;
  static constexpr int64_t kKeepSeconds = 20;

  // Pages of 2 MiB where the system has them: a tenth of the faults' cost, and
  // fewer misses of the address cache later. Lasting blocks that have none of
  // their own share them; what `rounded` adds would be in memory there. Not
  // from malloc, which keeps what it gets back of such sizes.
  void* Fresh(size_t bytes, size_t rounded, bool lasting) {
    if (rounded < kHuge) {
      return lasting ? slabs_.Allocate(bytes)
                     : std::aligned_alloc(kAlignment, rounded);
    }
    return kMapped ? MapHugePages(rounded)
                   : std::aligned_alloc(kAlignment, rounded);
  }
  // A block that is freed, and its size.
  struct Gone {
    void* data;
    size_t bytes;
  };
  static void Release(const Gone& block) {
    if (!kMapped || block.bytes < kHuge) {
      std::free(block.data);
    } else {
      munmap(block.data, block.bytes);
    }
  }
  static void RaiseTo(std::atomic<int64_t>* a, int64_t v) {
    int64_t old = a->load(std::memory_order_relaxed);
    while (old < v &&
           !a->compare_exchange_weak(old, v, std::memory_order_relaxed)) {
    }
  }
  // Null if the caller has to make a fresh block, which is counted already.
  void* TakeKept(size_t rounded, bool lasting) {
    std::vector<Gone> old;
    {
      MutexLock lock(&mu_);
      used_ += rounded;
      most_used_ = std::max(most_used_, used_);
      const size_t allowed = most_used_ + kSlackBytes;
      auto it = lasting ? kept_.end() : kept_.lower_bound(rounded);
      if (it != kept_.end() &&
          (it->first < 2 * rounded || blocks_ + rounded > allowed)) {
        // Of that size the one that was freed last, which may be in the cache.
        it = std::prev(kept_.upper_bound(it->first));
        void* p = it->second.data;
        if (it->first != rounded) larger_[p] = it->first;
        kept_bytes_ -= it->first;
        kept_.erase(it);
        return p;
      }
      blocks_ += rounded;
      // The smallest save the least when they are there.
      while (blocks_ > allowed && !kept_.empty()) {
        old.push_back(Drop(kept_.begin()));
      }
    }
    for (const Gone& g : old) Release(g);
    return nullptr;
  }
  // A block that is none, or is freed.
  void Forget(size_t rounded) {
    MutexLock lock(&mu_);
    used_ -= rounded;
    blocks_ -= rounded;
  }
  // `rounded` is what was asked for.
  bool Keep(void* p, size_t rounded) {
    // Not absl's clock: a fork may leave its lock locked in the child.
    const int64_t now = std::chrono::nanoseconds(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
    std::vector<Gone> old;
    bool keep = false;
    {
      MutexLock lock(&mu_);
      used_ -= rounded;
      const auto it = larger_.find(p);
      if (it != larger_.end()) {
        rounded = it->second;
        larger_.erase(it);
      }
      keep = rounded <= kKeepBytes;
      if (keep) {
        // The block of the last tensor is wanted sooner than older ones.
        while (kept_bytes_ + rounded > kKeepBytes) {
          old.push_back(Drop(std::min_element(
              kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
                return a.second.freed_ns < b.second.freed_ns;
              })));
        }
        kept_.emplace(rounded, Block{p, now});
        kept_bytes_ += rounded;
      } else {
        blocks_ -= rounded;
      }
      if (now >= next_look_) {
        next_look_ = now + kKeepSeconds * 1000000000 / 4;
        DropUnusedSince(now - kKeepSeconds * 1000000000, &old);
      }
    }
    for (const Gone& g : old) Release(g);
    return keep;
  }
  void DropUnusedSince(int64_t ns, std::vector<Gone>* old) REQUIRES(mu_) {
    for (auto it = kept_.begin(); it != kept_.end();) {
      if (it->second.freed_ns > ns) {
        ++it;
        continue;
      }
      const auto next = std::next(it);
      old->push_back(Drop(it));
      it = next;
    }
  }

  const int64_t limit_ = MemoryLimit();
  Slabs slabs_;
  std::atomic<int64_t> allocs_{0}, in_use_{0}, peak_{0}, largest_{0};
  Mutex mu_;
  struct Block {
    void* data;
    int64_t freed_ns;
  };
  using KeptBlocks = std::multimap<size_t, Block>;  // by size
  Gone Drop(KeptBlocks::iterator it) REQUIRES(mu_) {
    const Gone gone{it->second.data, it->first};
    kept_bytes_ -= it->first;
    blocks_ -= it->first;
    kept_.erase(it);
    return gone;
  }
  KeptBlocks kept_ GUARDED_BY(mu_);
  // Sizes of blocks in use that are larger than what was asked for.
  absl::flat_hash_map<void*, size_t> larger_ GUARDED_BY(mu_);
  int64_t next_look_ GUARDED_BY(mu_) = 0;
  size_t kept_bytes_ GUARDED_BY(mu_) = 0;
  // Of large blocks: what was asked for of those in use, the most of it so far,
  // and the sizes of those in use and kept.
  size_t used_ GUARDED_BY(mu_) = 0,
               most_used_ GUARDED_BY(mu_) = 0, blocks_ GUARDED_BY(mu_) = 0;
};

CpuAllocatorImpl* Impl() {
  static CpuAllocatorImpl* const allocator = new CpuAllocatorImpl;
  return allocator;
}

class LastingAllocatorImpl : public Allocator {
 public:
  std::string Name() const override { return Impl()->Name(); }
  void* AllocateRaw(size_t bytes) override {
    return Impl()->Allocate(bytes, /*lasting=*/true);
  }
  void DeallocateRaw(void* ptr, size_t bytes) override {
    Impl()->Free(ptr, bytes, /*lasting=*/true);
  }
  AllocatorStats GetStats() const override { return Impl()->GetStats(); }
  void ResetPeak() override { Impl()->ResetPeak(); }
};

[[maybe_unused]] const int kAtForkRegistered = pthread_atfork(
    [] {
      LastingAllocator();  // not while another thread makes it
      Impl()->Lock();
    },
    [] { Impl()->Unlock(); }, [] { Impl()->Unlock(); });

}  // namespace

Allocator* CpuAllocator() { return Impl(); }

void DropKeptBlocks() { Impl()->DropKept(); }

Allocator* LastingAllocator() {
  static LastingAllocatorImpl* const allocator = new LastingAllocatorImpl;
  return allocator;
}

}  // namespace headrace
