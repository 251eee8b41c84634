// StreamingGemm: float or double products of very few rows of A with any B, at
// the speed at which memory delivers B. A fully connected layer with a batch of
// one is such a product. B is read once, in long runs along its rows. The sums
// stay in the first-level cache.
//
//   shapes     m <= 8, or m <= 16 where B is transposed; any n and k
//   layouts    any leading dimensions; A and B plain or transposed
//   alignment  A and B may lie at any address; C is aligned to its elements
//   called by  Gemm alone: use gemm.h
//
// Related: prefetching_gemm.h takes slightly more rows; prepacked_gemm.h takes
// a B that never changes.
//
// The result depends only on the arguments, not on the number of threads. The
// order of summation differs from that of Gemm's blocks.
//
// Thread-safe.
#ifndef HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_
#define HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_

#include <type_traits>

#include "kernels/lib/gemm.h"

namespace headrace {

// The maximum number of rows of A, for a plain B and for a transposed B.
inline constexpr int64_t kStreamedRows = 8, kStreamedRowsTransposed = 16;

// True if Gemm uses StreamingGemm for this product. Only for float and double.
template <typename T>
bool PrefersStreamingGemm(const GemmArgs<T>& args) {
  if (!std::is_same_v<T, float> && !std::is_same_v<T, double>) return false;
  if (args.transpose_b) return args.m <= kStreamedRowsTransposed;
  // If the caches hold B, Gemm's blocks are faster from this number of rows on.
  constexpr int64_t kRowsOfBlocks = 4;
  constexpr double kCacheBytes = 16 << 20;
  return args.m < kRowsOfBlocks ||
         (args.m <= kStreamedRows &&
          static_cast<double>(args.n) * args.k * sizeof(T) >= kCacheBytes);
}

// For PrefersStreamingGemm(args) and m, n, k > 0. `pool` may be null.
template <typename T>
void StreamingGemm(ThreadPool* pool, const GemmArgs<T>& args);

// As GemmHeapBytes.
template <typename T>
int64_t StreamingGemmHeapBytes(const GemmArgs<T>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_
