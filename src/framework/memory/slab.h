// Slabs: memory for blocks that live long, such as a model's prepared weights,
// and that are too small for huge pages of their own. Blocks are cut one after
// the other from chunks that consist of huge pages. With small pages, the page
// faults would cost more than packing the weights.
//
// The first kPlainBytes of blocks come from malloc, so that a process with few
// blocks has no huge page that is nearly empty. Freed pages go back to the
// system at once, unless a block in use lies on them. Later blocks reuse their
// addresses.
//
// Thread-safe. Ends when every block is freed.
#ifndef HEADRACE_FRAMEWORK_MEMORY_SLAB_H_
#define HEADRACE_FRAMEWORK_MEMORY_SLAB_H_

#include <cstddef>
#include <map>

#include "headrace/mutex.h"

namespace headrace {

class Slabs {
 public:
  // Smaller blocks come from malloc.
  static constexpr size_t kMinBlock = size_t{16} << 10;
  static constexpr size_t kMaxBlock = size_t{4} << 20;
  // So many bytes of blocks in use come from malloc, too, and more where the
  // system has no addresses for a chunk.
  static constexpr size_t kPlainBytes = size_t{2} << 20;
  static constexpr size_t kChunk = size_t{32} << 20;

  Slabs() = default;
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  // `bytes` is more than 0 and at most kMaxBlock. Aligned to
  // Allocator::kAlignment; null if the system has no memory.
  void* Allocate(size_t bytes);
  // `bytes` is what Allocate was asked for.
  void Free(void* block, size_t bytes);

  size_t num_chunks() const;

  // Around fork(), so that the child does not find this locked by a thread that
  // it does not have. Not analysed: fork's handlers lock in one function and
  // unlock in another.
  void Lock() NO_THREAD_SAFETY_ANALYSIS { mu_.Lock(); }
  void Unlock() NO_THREAD_SAFETY_ANALYSIS { mu_.Unlock(); }

 private:
  using Gaps = std::map<size_t, size_t>;  // ends by begins; never adjacent

  // Null if there is no room and no new chunk.
  char* Cut(size_t bytes) REQUIRES(mu_);
  // False if the block was not cut from a chunk.
  bool Uncut(char* block, size_t bytes) REQUIRES(mu_);

  mutable Mutex mu_;
  std::map<char*, Gaps> chunks_ GUARDED_BY(mu_);  // by address
  size_t plain_bytes_ GUARDED_BY(mu_) = 0;
};

// Mapped memory that begins a huge page, and has them where the system does;
// munmap gives it back. Null if there is none.
char* MapHugePages(size_t bytes);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_MEMORY_SLAB_H_
