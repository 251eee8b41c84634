// Memory for when there is none. Small pieces that `new` cannot get from the
// system come out of a reserve: much code cannot go on without them (a hash
// table of absl's that fails to grow is broken for good). Whoever used it fails
// soon after, in the order that Statuses give.
//
// Thread-safe.
#ifndef HEADRACE_BASE_MEMORY_RESERVE_H_
#define HEADRACE_BASE_MEMORY_RESERVE_H_

#include <cstddef>

namespace headrace {

// Larger pieces never come from the reserve.
inline constexpr size_t kSmallPiece = size_t{64} << 10;

// True if this thread has used the reserve since it asked last. Cheap if the
// reserve is full; then false, too.
bool TookFromMemoryReserve();

// Fills it again, if it was used and there is memory. Cheap if it is full.
void RefillMemoryReserve();

// While this lives the next piece of more than kSmallPiece that this thread
// takes by `new` is there already, if it has at most so many bytes and more
// than half as many. For what is broken if it throws.
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
