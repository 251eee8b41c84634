// Multiply-add in one instruction. Before all includes, so that what they
// define inline has it too.
#pragma GCC optimize("fp-contract=fast")

#include "kernels/lib/prepacked_gemm.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "kernels/lib/simd_width.h"

namespace headrace {
namespace {

// The cache line, in bytes.
constexpr int64_t kLine = 64;
constexpr int64_t kLines = kPanelColumns * int64_t{sizeof(float)} / kLine;
// Rows of a panel between two looks ahead.
constexpr int64_t kStride = 8;
// Rows of a panel that stay in the second level cache while the rows of A pass
// over them: 128 KiB.
constexpr int64_t kDepth = 512;
constexpr int64_t kMostRows = 32;

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows that the registers hold sums of.
int64_t RegisterRows() {
#ifdef HR_HAVE_TARGET_CLONES
  if (simd_internal::Level() >= 3) return 6;
#endif
  return 1;
}

// Lines of the cache that are to come, some with every kStride rows.
struct Ahead {
  const char* next;
  int64_t lines;

  void Fetch() {
    for (int64_t i = 0; i < lines; ++i) {
      __builtin_prefetch(next, 0, 2);
      next += kLine;
    }
  }
};

// Vectors of a panel's row whose sums are taken at a time: as many as leave
// registers for them, the row and a factor. One row of A needs them to hide how
// long an addition takes; what it reads of the panel need not be kept.
template <int kBytes, int kRows>
constexpr int VectorsAtATime() {
  constexpr int kRegisters = kBytes == 64 ? 32 : 16;
  const int whole = kPanelColumns / VectorOf<kBytes>::kLanes;
  if (kRows == 1) return std::min(whole, kRegisters / 2);
  int n = whole;
  while (n * (kRows + 1) >= kRegisters) n /= 2;
  return n;
}

// Rows of A from `first` on by kWide vectors of the panel's rows from column
// `column` on.
template <int kBytes, int kRows, int kWide>
inline void MultiplyColumns(const PanelProduct& g, int64_t first,
                            int64_t column, Ahead* ahead) {
  using Vector = VectorOf<kBytes>;
  using V = typename Vector::Type;
  constexpr int64_t kLanes = Vector::kLanes;
  const float* const x = g.x + first * g.x_step;
  float* const sums = g.sums + first * g.sums_step + column;
  const float* const panel = g.panel + column;
  V sum[kRows][kWide] = {};
  if (g.accumulate) {
    for (int r = 0; r < kRows; ++r) {
      for (int w = 0; w < kWide; ++w) {
        sum[r][w] = Vector::At(sums + r * g.sums_step + w * kLanes);
      }
    }
  }
  for (int64_t from = 0; from < g.depth; from += kStride) {
    if (column == 0) ahead->Fetch();
    const int64_t to = std::min(g.depth, from + kStride);
    for (int64_t p = from; p < to; ++p) {
      V row[kWide];
      for (int w = 0; w < kWide; ++w) {
        row[w] = Vector::At(panel + p * kPanelColumns + w * kLanes);
      }
      for (int r = 0; r < kRows; ++r) {
        for (int w = 0; w < kWide; ++w) {
          sum[r][w] += x[r * g.x_step + p] * row[w];
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int w = 0; w < kWide; ++w) {
      Vector::At(sums + r * g.sums_step + w * kLanes) = sum[r][w];
    }
  }
}

template <int kBytes, int kRows>
inline void Multiply(const PanelProduct& g, int64_t first, Ahead* ahead) {
  constexpr int kWide = VectorsAtATime<kBytes, kRows>();
  for (int64_t column = 0; column < kPanelColumns;
       column += kWide * VectorOf<kBytes>::kLanes) {
    MultiplyColumns<kBytes, kRows, kWide>(g, first, column, ahead);
  }
}

}  // namespace

void MultiplyPanel(const PanelProduct& g) {
  const int64_t groups = CeilDiv(g.rows, RegisterRows());
  const int64_t looks =
      std::max<int64_t>(1, groups * CeilDiv(g.depth, kStride));
  Ahead ahead = {
      reinterpret_cast<const char*>(g.panel + g.depth * kPanelColumns),
      CeilDiv(g.fetch * kLines, looks)};
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    for (int64_t group = 0; group < groups; ++group) {
      const int64_t first = g.rows * group / groups;
      switch (g.rows * (group + 1) / groups - first) {
#define HR_CASE(N)                         \
  case N:                                  \
    Multiply<kBytes, N>(g, first, &ahead); \
    break;
        HR_CASE(1)
        HR_CASE(2)
        HR_CASE(3)
        HR_CASE(4)
        HR_CASE(5)
        HR_CASE(6)
#undef HR_CASE
      }
    }
  });
}

bool PrefersPanels(int64_t m, int64_t n, int64_t k) {
  constexpr double kSecondLevelCaches = 4 << 20;
  return RegisterRows() > 1 && m >= 4 && m <= kMostRows &&
         static_cast<double>(n) * static_cast<double>(k) * sizeof(float) >=
             kSecondLevelCaches;
}

void PackPanels(ThreadPool* pool, const void* b, bool transpose_b, int64_t n,
                int64_t k, float* panels,
                absl::FunctionRef<void(int64_t begin, int64_t end)> packed) {
  const char* const from = static_cast<const char*>(b);
  constexpr int64_t kFloat = sizeof(float);
  const auto rows = [&](int64_t begin, int64_t end) {
    for (int64_t j = 0; j < n; j += kPanelColumns) {
      const int64_t count = std::min(kPanelColumns, n - j);
      float* to = panels + j * k + begin * kPanelColumns;
      for (int64_t p = begin; p < end; ++p, to += kPanelColumns) {
        if (transpose_b) {
          for (int64_t c = 0; c < count; ++c) {
            std::memcpy(to + c, from + ((j + c) * k + p) * kFloat, kFloat);
          }
        } else {
          std::memcpy(to, from + (p * n + j) * kFloat, count * kFloat);
        }
        std::fill(to + count, to + kPanelColumns, 0.0f);
      }
    }
    if (!transpose_b) packed(begin, end);
  };
  constexpr int64_t kBlock = 64;  // 16 KiB of a panel
  pool->ParallelFor(k, kBlock, rows);
}

void PrepackedGemm(ThreadPool* pool, int64_t m, int64_t n, int64_t k,
                   const float* a, int64_t lda, const float* panels, float* c,
                   int64_t ldc) {
  // Equal slices, so that each fetches the next.
  const int64_t slice = CeilDiv(k, CeilDiv(k, kDepth));
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t j = panel * kPanelColumns;
      const int64_t columns = std::min(kPanelColumns, n - j);
      alignas(64) float tail[kMostRows * kPanelColumns];
      const bool whole = columns == kPanelColumns;
      PanelProduct g = {.x_step = lda,
                        .rows = m,
                        .sums = whole ? c + j : tail,
                        .sums_step = whole ? ldc : kPanelColumns};
      for (int64_t k0 = 0; k0 < k; k0 += slice) {
        g.x = a + k0;
        g.panel = panels + (panel * k + k0) * kPanelColumns;
        g.depth = std::min(slice, k - k0);
        g.accumulate = k0 > 0;
        const int64_t behind =
            (NumPanels(n) - panel - 1) * k + (k - k0 - g.depth);
        g.fetch = std::min(slice, behind);
        MultiplyPanel(g);
      }
      for (int64_t i = 0; !whole && i < m; ++i) {
        std::copy_n(tail + i * kPanelColumns, columns, c + i * ldc + j);
      }
    }
  };
  if (pool == nullptr) return run(0, NumPanels(n));
  // Blocks of about 30 us, at 50 multiply-adds per ns.
  const int64_t panel_flops = 2 * m * k * kPanelColumns;
  pool->ParallelFor(NumPanels(n), std::max<int64_t>(1, 1500000 / panel_flops),
                    run);
}

}  // namespace headrace
