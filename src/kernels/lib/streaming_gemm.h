// ThinGemm: matrix products with few rows of A (a fully connected layer with a
// small batch), as fast as B comes from memory: B is read once, in long runs
// along its rows, and the sums stay in the first level cache.
//
// The result depends on the arguments alone: the blocks, and the order in which
// each element is summed, follow from m, n, k. It is not the order of the
// general Gemm, which calls this by itself: use gemm.h.
#ifndef HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_
#define HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_

#include <type_traits>

#include "kernels/lib/gemm.h"

namespace headrace {

// The most rows of A, for B as it is and for B transposed.
inline constexpr int64_t kThinRows = 8, kThinRowsTransposed = 16;

// True if Gemm leaves this product to ThinGemm. Always false but for float and
// double.
template <typename T>
bool PrefersThinGemm(const GemmArgs<T>& args) {
  if (!std::is_same_v<T, float> && !std::is_same_v<T, double>) return false;
  if (args.transpose_b) return args.m <= kThinRowsTransposed;
  // What the caches hold the general kernels multiply faster, from so many rows
  // on.
  constexpr int64_t kFewRows = 3;
  constexpr double kCacheBytes = 16 << 20;
  return args.m <= kFewRows ||
         (args.m <= kThinRows &&
          static_cast<double>(args.n) * args.k * sizeof(T) >= kCacheBytes);
}

// For PrefersThinGemm(args), and m, n, k > 0. A and B may lie at any
// address.
template <typename T>
void ThinGemm(ThreadPool* pool, const GemmArgs<T>& args);

// As GemmHeapBytes.
template <typename T>
int64_t ThinGemmHeapBytes(const GemmArgs<T>& args);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_STREAMING_GEMM_H_
