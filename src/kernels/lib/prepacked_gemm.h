// PrepackedGemm: float products of 4 to 32 rows with a matrix B that never
// changes. B is packed once in the order of reading: panels of 64 columns, each
// row by row, the last one padded with zeros. Each panel is prefetched while
// the previous one is multiplied.
//
//   shapes     4 <= m <= 32, B of 4 MiB or more (PrefersPanels); LSTM cells
//              call MultiplyPanel with fewer rows, too
//   layouts    A plain with any leading dimension; B packed; C plain
//   alignment  panels are aligned to 64 bytes, A and C to their elements; the
//              unpacked B may lie at any address
//   called by  MatMul with a constant B (matmul_op.cc), LSTM (lstm_panels.h);
//              both keep the panels as ConstantForms
//
// For a B that may change, see streaming_gemm.h and prefetching_gemm.h.
//
// Every row is summed in the same order, for any number of rows and threads.
// Thread-safe.
#ifndef HEADRACE_KERNELS_LIB_PREPACKED_GEMM_H_
#define HEADRACE_KERNELS_LIB_PREPACKED_GEMM_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "base/thread_pool.h"

namespace headrace {

inline constexpr int64_t kPanelColumns = 64;

constexpr int64_t NumPanels(int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns;
}

// The product of some rows with one panel, or with some rows of a panel:
//   sums[r, 0:64] (+)= sum over p < depth of x[r, p] panel[p, 0:64]
struct PanelProduct {
  const float* x = nullptr;
  int64_t x_step = 0;  // from one row to the next
  int64_t rows = 0;
  const float* panel = nullptr;  // aligned to 64 bytes
  int64_t depth = 0;
  bool accumulate = false;
  float* sums = nullptr;
  int64_t sums_step = 0;
  // The number of rows of 64 floats after this panel to prefetch.
  int64_t fetch = 0;
};
void MultiplyPanel(const PanelProduct& g);

// True if a product of m rows with a constant matrix [k, n] (or [n, k],
// transposed) is faster with panels.
bool PrefersPanels(int64_t m, int64_t n, int64_t k);

// Packs b as [NumPanels(n), k, 64]. The elements of b may lie at any address.
// If b is not transposed, calls `packed`, on any thread, with the rows that are
// not needed any more.
void PackPanels(
    ThreadPool* pool, const void* b, bool transpose_b, int64_t n, int64_t k,
    float* panels,
    absl::FunctionRef<void(int64_t begin, int64_t end)> packed =
        [](int64_t, int64_t) {});

// c[0:m, 0:n] = a[0:m, 0:k] b. `pool` may be null.
void PrepackedGemm(ThreadPool* pool, int64_t m, int64_t n, int64_t k,
                   const float* a, int64_t lda, const float* panels, float* c,
                   int64_t ldc);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_PREPACKED_GEMM_H_
