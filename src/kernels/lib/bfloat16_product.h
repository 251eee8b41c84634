// Products in bfloat16 with sums in float: the factors are rounded to bfloat16,
// the sums are not. Twice the speed of float where the processor multiplies
// pairs of bfloat16 (AVX512-BF16); elsewhere the same bits by multiply-adds of
// floats.
//
//   C[m,n] = A[m,k] B[k,n]
//
//   order      each sum goes over k in pairs, the second of a pair first, with
//              one rounding to float for each product. So results depend
//              neither on the processor nor on the number of threads.
//   range      subnormal factors, products and sums count as zero, as they do
//              in all kernels (base/flush_denormals.h)
//   layouts    A is rows of pairs of bfloat16, k rounded up to a whole pair; B
//              is packed in panels of 32 columns, aligned to 64 bytes
//   called by  MatMul and BatchMatMul (bfloat16_matrix.h) and the convolution
//              "bfloat16" (conv/bfloat16_conv.cc) of nodes that pass
//              lower_precision marks
//
// Thread-safe.
#ifndef HEADRACE_KERNELS_LIB_BFLOAT16_PRODUCT_H_
#define HEADRACE_KERNELS_LIB_BFLOAT16_PRODUCT_H_

#include <cstdint>

#include "base/thread_pool.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Whether pass lower_precision has marked the node of a kernel: it may round
// its factors to bfloat16.
bool MultipliesBfloat16(const OpKernelConstruction& ctx);

// Two bfloat16: the first in the low half.
using Bfloat16Pair = uint32_t;

inline constexpr int64_t kBfloat16PanelColumns = 32;
inline constexpr int64_t kBfloat16TileRows = 12;

// Of k numbers.
constexpr int64_t NumPairs(int64_t k) { return (k + 1) / 2; }
constexpr int64_t NumBfloat16Panels(int64_t n) {
  return (n + kBfloat16PanelColumns - 1) / kBfloat16PanelColumns;
}
constexpr int64_t Bfloat16PanelsBytes(int64_t n, int64_t pairs) {
  return NumBfloat16Panels(n) * pairs * kBfloat16PanelColumns *
         int64_t{sizeof(Bfloat16Pair)};
}

// Rounds `n` floats at any address to nearest, ties to even, and a last zero if
// n is odd. NaN stays NaN.
// `step` elements lie between one float and the next.
void RoundToPairs(const void* from, int64_t n, Bfloat16Pair* to,
                  int64_t step = 1);

// Rounds rows [0, k) of B into panels from pair `first` of `pairs` on: panel j
// is [pairs][32]. `b` is [k, n], or [n, k] if transposed, with `ldb` elements
// from one stored row to the next, at any address. `pool` may be null.
void PackBfloat16Panels(ThreadPool* pool, const void* b, int64_t ldb,
                        bool transpose_b, int64_t n, int64_t k, int64_t first,
                        int64_t pairs, Bfloat16Pair* panels);

// Up to kBfloat16TileRows rows by the columns of one panel:
//   sums[r, c] = sum over s < segments, p < pairs of
//                rows[s * kBfloat16TileRows + r][p] * panel[s * pairs + p][c]
// A row is in segments that may lie anywhere: the taps of a convolution.
struct Bfloat16Tile {
  const Bfloat16Pair* const* rows = nullptr;
  int64_t num_rows = 0;
  int64_t segments = 1, pairs = 0;
  const Bfloat16Pair* panel = nullptr;
  float* sums = nullptr;  // at any address
  int64_t sums_step = 0;  // from one row to the next
  int64_t columns = 0;    // that are written, up to 32
};
void MultiplyBfloat16(const Bfloat16Tile& tile);

// The product of rows of `a`, [m][pairs], with panels. `pool` may be null.
void Bfloat16Gemm(ThreadPool* pool, int64_t m, int64_t n, int64_t pairs,
                  const Bfloat16Pair* a, const Bfloat16Pair* panels, float* c,
                  int64_t ldc);

namespace internal {
// The ways of MultiplyBfloat16 that this processor has, for tests: "bfloat16",
// "avx512", "avx2", "plain".
int NumBfloat16Ways();
const char* Bfloat16WayName(int way);
void MultiplyBfloat16By(int way, const Bfloat16Tile& tile);
}  // namespace internal

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BFLOAT16_PRODUCT_H_
