#include "headrace/allocator.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <new>

#include "absl/container/flat_hash_map.h"
#include "base/memory.h"
#include "framework/memory/allocation_size.h"
#include "framework/memory/allocation_trace.h"
#include "framework/memory/lasting_allocator.h"
#include "framework/memory/slab.h"
#include "headrace/mutex.h"

namespace headrace {
namespace {

// Blocks that are to go back to the system. They are linked through their own
// bytes: freeing must not need memory.
class FreedBlocks {
 public:
  FreedBlocks() = default;
  FreedBlocks(const FreedBlocks&) = delete;
  FreedBlocks& operator=(const FreedBlocks&) = delete;
  bool empty() const { return first_ == nullptr; }
  void Add(void* data, size_t bytes) {
    first_ = new (data) Block{first_, bytes};
  }
  void* Pop(size_t* bytes) {
    Block* const block = first_;
    first_ = block->next;
    *bytes = block->bytes;
    return block;
  }

 private:
  struct Block {
    Block* next;
    size_t bytes;
  };
  Block* first_ = nullptr;
};

// Blocks of at least kLeastKept are kept when freed, up to a quarter of the
// memory in all and not longer than kKeepSeconds:
//   - A fresh mapping costs a page fault for every 4 KiB, which is more than
//     most element-wise kernels take to fill it; clearing pages has taken a
//     third of a training step.
//   - malloc has an arena for each thread. Tensors are freed on other threads
//     than they were made on, so all arenas would grow to the most that one has
//     ever held.
// A request takes the smallest kept block that holds it, if that is not twice
// as large: layer after layer of a network finds room in what larger ones left.
// Blocks in use and kept together hardly exceed what was in use at once at some
// time: where they would, kept ones go. The largest kept ones are the system's
// if it needs memory (MADV_FREE).
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
    const bool large = rounded >= kLeastKept;
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
    size_t rounded = AllocationSize(bytes);
    in_use_.fetch_sub(static_cast<int64_t>(rounded), std::memory_order_relaxed);
    if (rounded >= kLeastKept) {
      if (lasting) {
        Forget(rounded);
      } else if (Keep(ptr, &rounded)) {
        return;
      }
    }
    if (lasting && rounded < kHuge) {
      slabs_.Free(ptr, bytes);
    } else {
      Release(ptr, rounded);
    }
  }

  void DropKept() {
    FreedBlocks old;
    {
      MutexLock lock(&mu_);
      DropUnusedSince(std::numeric_limits<int64_t>::max(), &old);
      most_used_ = used_;
    }
    ReleaseAll(&old);
    malloc_trim(0);
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
  // Lasting blocks of at least so much lie in no slab.
  static constexpr size_t kHuge = size_t{4} << 20;
  static_assert(kHuge <= Slabs::kMaxBlock);
  // Other blocks of at least so much do not come from malloc.
  static constexpr size_t kLeastMapped = size_t{1} << 20;
#if defined(__SANITIZE_ADDRESS__)
  static constexpr bool kMapped = false;  // it watches malloc's blocks
#else
  static constexpr bool kMapped = true;
#endif
  static constexpr size_t kLeastKeepBytes = size_t{256} << 20;
  static constexpr size_t kLeastKept = size_t{16} << 10;
  static constexpr size_t kLendBytes = size_t{64} << 20;
  static constexpr size_t kLeastSlack = size_t{2} << 20;
  static constexpr size_t kMostSlack = size_t{16} << 20;
  static constexpr size_t kLookBytes = size_t{32} << 20;
  static constexpr int64_t kKeepSeconds = 20;

  // Pages of 2 MiB where the system has them: a tenth of the faults' cost, and
  // fewer misses of the address cache later. Lasting blocks that have none of
  // their own share them; what `rounded` adds would be in memory there. Not
  // from malloc, which keeps what it gets back of such sizes.
  void* Fresh(size_t bytes, size_t rounded, bool lasting) {
    if (rounded >= kLargeAllocation && !IsThereRoom(rounded)) return nullptr;
    if (lasting && rounded < kHuge) return slabs_.Allocate(bytes);
    return kMapped && rounded >= kLeastMapped
               ? MapHugePages(rounded)
               : std::aligned_alloc(kAlignment, rounded);
  }
  // The system promises more than it has, and ends a process that then uses it.
  // It is asked once for so many bytes: that takes some 20 us.
  bool IsThereRoom(size_t bytes) {
    if (unseen_.fetch_add(bytes, std::memory_order_relaxed) + bytes <
        kLookBytes) {
      return true;
    }
    unseen_.store(0, std::memory_order_relaxed);
    return static_cast<int64_t>(bytes) <= AvailableMemory();
  }
  static void Release(void* data, size_t bytes) {
    if (!kMapped || bytes < kLeastMapped) {
      std::free(data);
    } else {
      munmap(data, bytes);
    }
  }
  static void ReleaseAll(FreedBlocks* blocks) {
    while (!blocks->empty()) {
      size_t bytes = 0;
      void* const data = blocks->Pop(&bytes);
      Release(data, bytes);
    }
  }
  // The system may take the pages of a large block, which nobody reads before
  // writing, until they are written again. They cost nothing if it does not.
  static void Lend(void* data, size_t bytes) {
#ifdef MADV_FREE
    if (kMapped && bytes >= kLendBytes) madvise(data, bytes, MADV_FREE);
#endif
  }
  static void RaiseTo(std::atomic<int64_t>* a, int64_t v) {
    int64_t old = a->load(std::memory_order_relaxed);
    while (old < v &&
           !a->compare_exchange_weak(old, v, std::memory_order_relaxed)) {
    }
  }
  // Null if the caller has to make a fresh block, which is counted already.
  void* TakeKept(size_t rounded, bool lasting) {
    FreedBlocks old;
    {
      MutexLock lock(&mu_);
      used_ += rounded;
      most_used_ = std::max(most_used_, used_);
      const size_t allowed =
          most_used_ + std::clamp(most_used_ / 16, kLeastSlack, kMostSlack);
      auto it = lasting ? kept_.end() : kept_.lower_bound(rounded);
      if (it != kept_.end() && it->first < 2 * rounded) {
        // Of that size the one that was freed last, which may be in the cache.
        it = std::prev(kept_.upper_bound(it->first));
      } else {
        it = kept_.end();
      }
      if (it != kept_.end() &&
          (it->first == rounded || TryNoteSize(it->second.data, it->first))) {
        void* p = it->second.data;
        kept_bytes_ -= it->first;
        kept_.erase(it);
        return p;
      }
      blocks_ += rounded;
      // The smallest save the least when they are there.
      while (blocks_ > allowed && !kept_.empty()) {
        Drop(kept_.begin(), &old);
      }
    }
    ReleaseAll(&old);
    return nullptr;
  }
  // A block that is none, or is freed.
  void Forget(size_t rounded) {
    MutexLock lock(&mu_);
    used_ -= rounded;
    blocks_ -= rounded;
  }
  // `*rounded` is what was asked for, and becomes what the block has.
  bool Keep(void* p, size_t* rounded) {
    // Not absl's clock: a fork may leave its lock locked in the child.
    const int64_t now = std::chrono::nanoseconds(
                            std::chrono::steady_clock::now().time_since_epoch())
                            .count();
    FreedBlocks old;
    bool keep = false;
    Lend(p, *rounded);
    {
      MutexLock lock(&mu_);
      used_ -= *rounded;
      const auto it = larger_.find(p);
      if (it != larger_.end()) {
        *rounded = it->second;
        larger_.erase(it);
      }
      keep = *rounded <= keep_bytes_;
      if (keep) {
        // The block of the last tensor is wanted sooner than older ones.
        while (kept_bytes_ + *rounded > keep_bytes_) {
          Drop(std::min_element(kept_.begin(), kept_.end(),
                                [](const auto& a, const auto& b) {
                                  return a.second.freed_ns < b.second.freed_ns;
                                }),
               &old);
        }
        keep = TryKeep(*rounded, {p, now});
      }
      if (!keep) blocks_ -= *rounded;
      if (now >= next_look_) {
        next_look_ = now + kKeepSeconds * 1000000000 / 4;
        DropUnusedSince(now - kKeepSeconds * 1000000000, &old);
      }
    }
    ReleaseAll(&old);
    return keep;
  }
  void DropUnusedSince(int64_t ns, FreedBlocks* old) REQUIRES(mu_) {
    for (auto it = kept_.begin(); it != kept_.end();) {
      if (it->second.freed_ns > ns) {
        ++it;
        continue;
      }
      const auto next = std::next(it);
      Drop(it, old);
      it = next;
    }
  }

  const int64_t limit_ = TotalMemory();
  const size_t keep_bytes_ =
      std::max(kLeastKeepBytes, static_cast<size_t>(limit_) / 4);
  Slabs slabs_;
  std::atomic<int64_t> allocs_{0}, in_use_{0}, peak_{0}, largest_{0};
  std::atomic<size_t> unseen_{0};  // bytes of large fresh blocks since a look
  Mutex mu_;
  struct Block {
    void* data;
    int64_t freed_ns;
  };
  using KeptBlocks = std::multimap<size_t, Block>;  // by size
  void Drop(KeptBlocks::iterator it, FreedBlocks* old) REQUIRES(mu_) {
    old->Add(it->second.data, it->first);
    kept_bytes_ -= it->first;
    blocks_ -= it->first;
    kept_.erase(it);
  }
  // These are false if there is no memory to remember it.
  bool TryNoteSize(void* block, size_t bytes) REQUIRES(mu_) {
    try {
      larger_.emplace(block, bytes);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  bool TryKeep(size_t bytes, Block block) REQUIRES(mu_) {
    try {
      kept_.emplace(bytes, block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    kept_bytes_ += bytes;
    return true;
  }
  KeptBlocks kept_ GUARDED_BY(mu_);
  // Sizes of blocks in use that are larger than what was asked for.
  absl::flat_hash_map<void*, size_t> larger_ GUARDED_BY(mu_);
  int64_t next_look_ GUARDED_BY(mu_) = 0;
  size_t kept_bytes_ GUARDED_BY(mu_) = 0;
  // Of blocks that are kept: what was asked for of those in use, the most of it
  // since all kept ones were dropped, and the sizes of those in use and kept.
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
