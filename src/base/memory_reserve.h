// A reserve for small allocations when memory runs out. If `new` cannot get a
// small block from the system, it takes one from the reserve. Much code cannot
// survive a failure there: absl's hash tables are broken for good if they fail
// to grow. The code that used the reserve fails soon after with a Status.
//
// Thread-safe.
#ifndef HEADRACE_BASE_MEMORY_RESERVE_H_
#define HEADRACE_BASE_MEMORY_RESERVE_H_

#include <cstddef>

namespace headrace {

// In bytes. Larger blocks never come from the reserve.
inline constexpr size_t kSmallPiece = size_t{64} << 10;

// True if this thread has used the reserve since its last call. Cheap and false
// if the reserve is full.
bool TookFromMemoryReserve();

// Fills the reserve again if it was used and there is memory. Cheap if it is
// full.
void RefillMemoryReserve();

// Allocates a block in advance. The next allocation of this thread by `new` of
// more than kSmallPiece bytes uses that block, if it needs at most `bytes`
// bytes and more than half of them. For code that is broken if `new` throws.
class NextPiece {
 public:
  // Throws OutOfMemory.
  explicit NextPiece(size_t bytes);
  ~NextPiece();
  NextPiece(const NextPiece&) = delete;
  NextPiece& operator=(const NextPiece&) = delete;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_MEMORY_RESERVE_H_
