#include "framework/memory/slab.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "headrace/allocator.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace headrace {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t RoundUp(size_t n, size_t step) { return (n + step - 1) / step * step; }

// AddressSanitizer knows what malloc hands out; of slabs it has to be told.
void SetAccessible(const char* p, size_t bytes, bool accessible) {
#if defined(__SANITIZE_ADDRESS__)
  if (accessible) {
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
  } else {
    ASAN_POISON_MEMORY_REGION(p, bytes);
  }
#else
  static_cast<void>(p), static_cast<void>(bytes), static_cast<void>(accessible);
#endif
}

}  // namespace

char* MapHugePages(size_t bytes) {
  bytes = RoundUp(bytes, sysconf(_SC_PAGESIZE));
  void* const mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const size_t before = RoundUp(address, kHugePage) - address;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, kHugePage - before);
  // Only whole ones, so that no more memory is taken than was asked for.
  madvise(begin + before, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return begin + before;
}

void* Slabs::Allocate(size_t bytes) {
  bytes = RoundUp(bytes, Allocator::kAlignment);
  if (bytes >= kMinBlock) {
    MutexLock lock(&mu_);
    if (plain_bytes_ + bytes > kPlainBytes) {
      if (char* const block = Cut(bytes)) {
        SetAccessible(block, bytes, true);
        return block;
      }
    }
    plain_bytes_ += bytes;
  }
  void* const block = std::aligned_alloc(Allocator::kAlignment, bytes);
  if (block == nullptr && bytes >= kMinBlock) {
    MutexLock lock(&mu_);
    plain_bytes_ -= bytes;
  }
  return block;
}

char* Slabs::Cut(size_t bytes) {
  // The smallest, so that the ends of chunks, whose huge pages are in memory,
  // are filled before others are touched.
  size_t least = kChunk + 1;
  std::pair<char* const, Gaps>* owner = nullptr;
  Gaps::iterator gap;
  for (auto& chunk : chunks_) {
    for (auto at = chunk.second.begin(); at != chunk.second.end(); ++at) {
      const size_t size = at->second - at->first;
      if (size < bytes || size >= least) continue;
      least = size;
      owner = &chunk;
      gap = at;
    }
  }
  if (owner == nullptr) {
    char* const chunk = MapHugePages(kChunk);
    if (chunk == nullptr) return nullptr;
    try {
      owner = &*chunks_.emplace(chunk, Gaps{{0, kChunk}}).first;
    } catch (const std::bad_alloc&) {
      munmap(chunk, kChunk);
      return nullptr;
    }
    SetAccessible(chunk, kChunk, false);
    gap = owner->second.begin();
  }
  const auto [begin, end] = *gap;
  // What is left keeps the gap's entry: nothing is allocated here.
  auto entry = owner->second.extract(gap);
  if (begin + bytes < end) {
    entry.key() = begin + bytes;
    owner->second.insert(std::move(entry));
  }
  return owner->first + begin;
}

void Slabs::Free(void* block, size_t bytes) {
  bytes = RoundUp(bytes, Allocator::kAlignment);
  if (bytes >= kMinBlock) {
    MutexLock lock(&mu_);
    if (Uncut(static_cast<char*>(block), bytes)) return;
    plain_bytes_ -= bytes;
  }
  std::free(block);
}

bool Slabs::Uncut(char* block, size_t bytes) {
  const auto later = chunks_.upper_bound(block);
  if (later == chunks_.begin()) return false;
  const auto owner = std::prev(later);
  char* const chunk = owner->first;
  const size_t begin = block - chunk, end = begin + bytes;
  if (begin >= kChunk) return false;

  Gaps& gaps = owner->second;
  size_t gap_begin = begin, gap_end = end;
  auto next = gaps.lower_bound(begin);
  if (next != gaps.end() && next->first == end) {
    gap_end = next->second;
    next = gaps.erase(next);
  }
  if (next != gaps.begin() && std::prev(next)->second == begin) {
    gap_begin = std::prev(next)->first;
    gaps.erase(std::prev(next));
  }
  if (gap_end - gap_begin == kChunk) {
    chunks_.erase(owner);
    SetAccessible(chunk, kChunk, true);
    munmap(chunk, kChunk);
    return true;
  }
  try {
    gaps.emplace(gap_begin, gap_end);
  } catch (const std::bad_alloc&) {
    // Its addresses are lost, and the chunk's with them; its pages go.
  }
  SetAccessible(block, bytes, false);
  // The block's pages, except what others in use have of the first and last.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t first = std::max(begin / page * page, RoundUp(gap_begin, page));
  const size_t last = std::min(RoundUp(end, page), gap_end / page * page);
  if (first < last) madvise(chunk + first, last - first, MADV_DONTNEED);
  return true;
}

size_t Slabs::num_chunks() const {
  MutexLock lock(&mu_);
  return chunks_.size();
}

}  // namespace headrace
