#include "kernels/lib/constant_matrix.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "framework/tensor/mapped_buffer.h"
#include "kernels/lib/gemm_kernel.h"
#include "kernels/lib/prepacked_gemm.h"

namespace headrace {
namespace {

static_assert(kPanelColumns == kGemmPanel<float>);

constexpr int64_t kFewRows = 32;

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

bool PanelsPay(const GemmArgs<float>& g) {
  if (g.transpose_a || g.accumulate || g.n <= 0 || g.k <= 0) return false;
  if (g.m <= kFewRows) return PrefersPanels(g.m, g.n, g.k);
  // Gemm would copy B's panels in each call, except a plain B of one panel.
  return g.transpose_b || g.n > kPanelColumns;
}

// How C is cut: blocks of `rows` by `group` panels.
struct Cut {
  explicit Cut(const GemmArgs<float>& g) : panels(NumPanels(g.n)) {
    // Up to 384 rows, a multiple of 12 where there are several blocks.
    constexpr int64_t kRowStep = 12;
    rows = g.m;
    if (g.m > 384) {
      rows = CeilDiv(CeilDiv(g.m, CeilDiv(g.m, 256)), kRowStep) * kRowStep;
    }
    const auto flops = [&] { return 2.0 * rows * kPanelColumns * g.k; };
    // Few panels: smaller blocks, so that there are some for each thread.
    while (rows >= 8 * kRowStep && flops() > 8e6 &&
           CeilDiv(g.m, rows) * panels < 16) {
      rows = CeilDiv(CeilDiv(rows, 2), kRowStep) * kRowStep;
    }
    group = std::clamp<int64_t>(static_cast<int64_t>(8e6 / flops()), 1, panels);
    across = CeilDiv(panels, group);
    blocks = CeilDiv(g.m, rows) * across;
  }
  int64_t panels, rows, group, across, blocks;
};

// Rows [i0, i1) of C by panels [p0, p1).
void Block(const GemmArgs<float>& g, const float* panels, int64_t i0,
           int64_t i1, int64_t p0, int64_t p1) {
  for (int64_t k0 = 0; k0 < g.k; k0 += kGemmDepth) {
    const int64_t depth = std::min(kGemmDepth, g.k - k0);
    const auto kernel_for = [&](int64_t columns) {
      return GemmKernel<float>({.m = i1 - i0,
                                .n = columns,
                                .k = depth,
                                .lda = g.lda,
                                .ldb = kPanelColumns,
                                .ldc = g.ldc,
                                .accumulate = k0 > 0,
                                .fetch_next_b = true});
    };
    const auto slice = [&](int64_t panel, int64_t from) {
      return panels + (panel * g.k + from) * kPanelColumns;
    };
    const GemmKernel<float> whole = kernel_for(std::min(kPanelColumns, g.n));
    for (int64_t p = p0; p < p1; ++p) {
      const int64_t j = p * kPanelColumns;
      const float* const b = slice(p, k0);
      // After the last slice of a block comes the first of another block, for
      // this thread or for its neighbour.
      const float* next = b;
      if (p + 1 < p1) {
        next = slice(p + 1, k0);
      } else if (k0 + depth < g.k) {
        next = slice(p0, k0 + depth);
      } else if (p1 < NumPanels(g.n)) {
        next = slice(p1, 0);
      }
      if (g.n - j >= kPanelColumns) {
        whole(g.a + i0 * g.lda + k0, b, g.c + i0 * g.ldc + j, next);
      } else {
        kernel_for(g.n - j)(g.a + i0 * g.lda + k0, b, g.c + i0 * g.ldc + j,
                            next);
      }
    }
  }
}

}  // namespace

bool ConstantMatrix::Multiply(ThreadPool* pool, const GemmArgs<float>& g,
                              const Epilogue& e) {
  if (!forms_.is_set() || g.m <= 0 || !PanelsPay(g)) return false;
  const float* const panels = Panels(pool, g);
  if (panels == nullptr) return false;
  if (g.m <= kFewRows) {
    PrepackedGemm(pool, g.m, g.n, g.k, g.a, g.lda, panels, g.c, g.ldc);
    if (!e.empty()) {
      ApplyEpilogue(pool, DT_FLOAT, e, g.m, g.n, g.c);
    }
    return true;
  }
  const Cut cut(g);
  pool->ParallelFor(cut.blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t i0 = block / cut.across * cut.rows;
      const int64_t i1 = std::min(g.m, i0 + cut.rows);
      const int64_t p0 = block % cut.across * cut.group;
      const int64_t p1 = std::min(cut.panels, p0 + cut.group);
      Block(g, panels, i0, i1, p0, p1);
      if (e.empty()) continue;
      const int64_t j0 = p0 * kPanelColumns;
      ApplyEpilogue(e,
                    {.row = i0,
                     .rows = i1 - i0,
                     .channel = j0,
                     .channels = std::min(g.n, p1 * kPanelColumns) - j0,
                     .row_size = g.ldc},
                    g.c);
    }
  });
  return true;
}

const float* ConstantMatrix::Panels(ThreadPool* pool,
                                    const GemmArgs<float>& g) {
  static constexpr char kKind = 0;
  const int64_t sizes[] = {g.transpose_b, g.n, g.k};
  const int64_t floats = NumPanels(g.n) * kPanelColumns * g.k;
  return static_cast<const float*>(forms_.Get(
      &kKind, sizes, floats * sizeof(float), [&](const Tensor& b, void* to) {
        PackPanels(pool, b.raw_data(), g.transpose_b, g.n, g.k,
                   static_cast<float*>(to), [&](int64_t begin, int64_t end) {
                     if (b.dims() == 2) ReleasePages(b.Slice(begin, end));
                   });
        return true;
      }));
}

}  // namespace headrace
