// How a product is cut, by type and shape:
//   float, double    blocks of rows x a few panels of columns; a panel of B is
//                    copied next to each other when enough rows use it
//   few rows of A    one pass over B at the speed of memory: streaming_gemm.h
//                    (and, through the transposed problem, one column of B);
//                    prefetching_gemm.h for some more rows
//   a column, k <= 4 a loop over rows of A, which are read as one run
//   tall k           k is split and the partial products are added in order,
//                    where C is too small to keep several threads busy
//   half, bfloat16   blocks of A and B are widened to float on the stack
//   other types      plain loops over blocks of B
#include "kernels/lib/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/thread_pool.h"
#include "headrace/allocator.h"
#include "headrace/simd.h"
#include "kernels/lib/gemm_kernel.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/prefetching_gemm.h"
#include "kernels/lib/streaming_gemm.h"

namespace headrace {
namespace {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A loop over `total` units, one unit a block; here if there is no pool.
void For(ThreadPool* pool, int64_t total,
         absl::FunctionRef<void(int64_t)> body) {
  if (pool == nullptr || total <= 1) {
    for (int64_t i = 0; i < total; ++i) body(i);
    return;
  }
  pool->ParallelFor(total, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

template <typename T>
const T* AtA(const GemmArgs<T>& g, int64_t i, int64_t p) {
  return g.transpose_a ? g.a + p * g.lda + i : g.a + i * g.lda + p;
}
template <typename T>
const T* AtB(const GemmArgs<T>& g, int64_t p, int64_t j) {
  return g.transpose_b ? g.b + j * g.ldb + p : g.b + p * g.ldb + j;
}

template <typename T>
bool IsAligned(const T* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(T) == 0;
}

template <typename T>
void Zero(const GemmArgs<T>& g) {
  for (int64_t i = 0; i < g.m; ++i) {
    std::fill_n(g.c + i * g.ldc, g.n, T(0));
  }
}

// float and double: blocks.

// Rows [i0, i1) and columns [j0, j1) of C.
template <typename T>
void Block(const GemmArgs<T>& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
           bool pack) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  alignas(64) T panel[kGemmDepth * kPanel];
  const int64_t m = i1 - i0;
  for (int64_t k0 = 0; k0 < g.k; k0 += kGemmDepth) {
    const int64_t k = std::min(kGemmDepth, g.k - k0);
    for (int64_t j = j0; j < j1; j += kPanel) {
      const int64_t n = std::min(kPanel, j1 - j);
      const auto kernel_for = [&](int64_t ldb) {
        return GemmKernel<T>({.m = m,
                              .n = n,
                              .k = k,
                              .lda = g.lda,
                              .ldb = ldb,
                              .ldc = g.ldc,
                              .transpose_a = g.transpose_a,
                              .accumulate = g.accumulate || k0 > 0});
      };
      bool copied = pack;
      GemmKernel<T> kernel = kernel_for(pack ? n : g.ldb);
      if (!pack && !kernel.generated() && !IsAligned(g.b)) {
        copied = true;
        kernel = kernel_for(n);
      }
      if (copied) PackPanel(g.b, g.ldb, g.transpose_b, k0, j, k, n, panel);
      kernel(AtA(g, i0, k0), copied ? panel : AtB(g, k0, j),
             g.c + i0 * g.ldc + j);
    }
  }
}

template <typename T>
void Blocked(ThreadPool* pool, const GemmArgs<T>& g) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  // Rows of a block: up to 384, a multiple of 12 where there are several.
  int64_t rows = g.m;
  if (g.m > 384) {
    rows = CeilDiv(CeilDiv(g.m, CeilDiv(g.m, 256)), 12) * 12;
  }
  const int64_t panels = CeilDiv(g.n, kPanel);
  // Panels of a block: worth about 8 Mflop, so that the copy of A's block in
  // the cache serves several and yet there are blocks for every thread.
  const double panel_flops = 2.0 * rows * kPanel * g.k;
  const int64_t group =
      std::clamp<int64_t>(static_cast<int64_t>(8e6 / panel_flops), 1, panels);
  const int64_t groups = CeilDiv(panels, group);
  const int64_t row_blocks = CeilDiv(g.m, rows);
  const bool pack = g.transpose_b || (rows >= 48 && g.ldb > kPanel);
  For(2.0 * g.m * g.n * g.k < 1e6 ? nullptr : pool, row_blocks * groups,
      [&](int64_t block) {
        const int64_t i0 = block / groups * rows;
        const int64_t j0 = block % groups * group * kPanel;
        Block(g, i0, std::min(g.m, i0 + rows), j0,
              std::min(g.n, j0 + group * kPanel), pack);
      });
}

// Into how many slices k is cut where there are few blocks and a tall k; less
// than 2 if that does not pay.
template <typename T>
int64_t SlicesOfK(const GemmArgs<T>& g) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  const int64_t blocks = CeilDiv(g.m, 256) * CeilDiv(g.n, kPanel);
  if (blocks > 8 || g.k < 2048) return 1;
  const int64_t by_work = static_cast<int64_t>(2.0 * g.m * g.n * g.k / 4e6);
  return std::min<int64_t>({CeilDiv(16, blocks), g.k / 1024, by_work});
}

// Slices of k into partial products, then their sum in order. False if that
// does not pay or there is no memory.
template <typename T>
bool SplitK(ThreadPool* pool, const GemmArgs<T>& g) {
  const int64_t slices = SlicesOfK(g);
  if (slices < 2) return false;
  const int64_t depth = CeilDiv(CeilDiv(g.k, slices), kGemmDepth) * kGemmDepth;
  const size_t bytes = sizeof(T) * slices * g.m * g.n;
  T* partial = static_cast<T*>(CpuAllocator()->AllocateRaw(bytes));
  if (partial == nullptr) return false;
  For(pool, CeilDiv(g.k, depth), [&](int64_t s) {
    GemmArgs<T> part = g;
    part.k = std::min(depth, g.k - s * depth);
    part.a = AtA(g, 0, s * depth);
    part.b = AtB(g, s * depth, 0);
    part.c = partial + s * g.m * g.n;
    part.ldc = g.n;
    part.accumulate = false;
    Blocked<T>(nullptr, part);
  });
  for (int64_t i = 0; i < g.m; ++i) {
    T* c = g.c + i * g.ldc;
    for (int64_t s = 0; s < CeilDiv(g.k, depth); ++s) {
      const T* p = partial + s * g.m * g.n + i * g.n;
      if (s == 0 && !g.accumulate) {
        std::copy_n(p, g.n, c);
      } else {
        for (int64_t j = 0; j < g.n; ++j) c[j] += p[j];
      }
    }
  }
  CpuAllocator()->DeallocateRaw(partial, bytes);
  return true;
}

// float and double: by shape.

// C of one column as the transposed problem, C' = op(B)' op(A)', one row.
template <typename T>
GemmArgs<T> ColumnAsRow(const GemmArgs<T>& g) {
  GemmArgs<T> t = g;
  t.m = 1;
  t.n = g.m;
  t.a = g.b;
  t.lda = g.ldb;
  t.transpose_a = !g.transpose_b;
  t.b = g.a;
  t.ldb = g.lda;
  t.transpose_b = !g.transpose_a;
  t.ldc = g.m;
  return t;
}

// A column of sums of kDepth products, as colours become grey.
template <typename T, int kDepth>
void ShortSums(ThreadPool* pool, const GemmArgs<T>& g) {
  constexpr int64_t kRows = 16384;
  For(pool, CeilDiv(g.m, kRows), [&](int64_t block) {
    RunSimd([&] {
      T b[kDepth];
      for (int p = 0; p < kDepth; ++p) b[p] = *AtB(g, p, 0);
      const int64_t first = block * kRows;
      const int64_t rows = std::min(kRows, g.m - first);
      const T* const a = g.a + first * kDepth;
      T* const c = g.c + first;
      const bool accumulate = g.accumulate;
#pragma GCC ivdep
      for (int64_t i = 0; i < rows; ++i) {
        T sum = a[i * kDepth] * b[0];
        for (int p = 1; p < kDepth; ++p) sum += a[i * kDepth + p] * b[p];
        c[i] = accumulate ? c[i] + sum : sum;
      }
    });
  });
}

template <typename T>
bool IsShortColumn(const GemmArgs<T>& g) {
  return g.n == 1 && g.ldc == 1 && !g.transpose_a && g.lda == g.k && g.k >= 1 &&
         g.k <= 4;
}

template <typename T>
void ShortColumn(ThreadPool* pool, const GemmArgs<T>& g) {
  switch (g.k) {
    case 1:
      return ShortSums<T, 1>(pool, g);
    case 2:
      return ShortSums<T, 2>(pool, g);
    case 3:
      return ShortSums<T, 3>(pool, g);
    default:
      return ShortSums<T, 4>(pool, g);
  }
}

enum class FloatWay {
  kShortColumn,
  kStreaming,
  kStreamingColumn,
  kPrefetching,
  kBlocks
};

template <typename T>
FloatWay WayOf(const GemmArgs<T>& g) {
  if (IsShortColumn(g)) return FloatWay::kShortColumn;
  if (PrefersStreamingGemm(g)) return FloatWay::kStreaming;
  if (g.n == 1 && g.ldc == 1) return FloatWay::kStreamingColumn;
  if constexpr (std::is_same_v<T, float>) {
    if (PrefersPrefetchingGemm(g)) return FloatWay::kPrefetching;
  }
  return FloatWay::kBlocks;
}

template <typename T>
void FloatGemm(ThreadPool* pool, const GemmArgs<T>& g) {
  switch (WayOf(g)) {
    case FloatWay::kShortColumn:
      return ShortColumn(pool, g);
    case FloatWay::kStreaming:
      return StreamingGemm(pool, g);
    case FloatWay::kStreamingColumn:
      return StreamingGemm(pool, ColumnAsRow(g));
    case FloatWay::kPrefetching:
      if constexpr (std::is_same_v<T, float>) PrefetchingGemm(pool, g);
      return;
    case FloatWay::kBlocks:
      if (!SplitK(pool, g)) Blocked(pool, g);
  }
}

template <typename T>
int64_t FloatHeapBytes(const GemmArgs<T>& g) {
  switch (WayOf(g)) {
    case FloatWay::kStreaming:
      return StreamingGemmHeapBytes(g);
    case FloatWay::kStreamingColumn:
      return StreamingGemmHeapBytes(ColumnAsRow(g));
    case FloatWay::kShortColumn:
    case FloatWay::kPrefetching:
      return 0;
    case FloatWay::kBlocks:
      break;
  }
  const int64_t slices = SlicesOfK(g);
  return slices < 2 ? 0 : int64_t{sizeof(T)} * slices * g.m * g.n;
}

// half and bfloat16: blocks widened to float.

template <typename T>
void HalfGemm(ThreadPool* pool, const GemmArgs<T>& g) {
  constexpr int64_t kRows = 96, kColumns = 64, kDepth = 128;
  const int64_t columns = CeilDiv(g.n, kColumns);
  For(2.0 * g.m * g.n * g.k < 5e5 ? nullptr : pool,
      CeilDiv(g.m, kRows) * columns, [&](int64_t block) {
        alignas(64) float a[kRows * kDepth], b[kDepth * kColumns],
            c[kRows * kColumns];
        const int64_t i0 = block / columns * kRows;
        const int64_t j0 = block % columns * kColumns;
        const int64_t m = std::min(kRows, g.m - i0);
        const int64_t n = std::min(kColumns, g.n - j0);
        if (g.accumulate) {
          for (int64_t i = 0; i < m; ++i) {
            Widen(g.c + (i0 + i) * g.ldc + j0, c + i * n, n);
          }
        }
        for (int64_t k0 = 0; k0 < g.k; k0 += kDepth) {
          const int64_t k = std::min(kDepth, g.k - k0);
          // A stays transposed if it is; B is put upright.
          const int64_t lda = g.transpose_a ? m : k;
          for (int64_t r = 0; r < (g.transpose_a ? k : m); ++r) {
            Widen(g.transpose_a ? AtA(g, i0, k0 + r) : AtA(g, i0 + r, k0),
                  a + r * lda, lda);
          }
          if (g.transpose_b) {
            float line[kDepth];
            for (int64_t j = 0; j < n; ++j) {
              Widen(AtB(g, k0, j0 + j), line, k);
              for (int64_t p = 0; p < k; ++p) b[p * n + j] = line[p];
            }
          } else {
            for (int64_t p = 0; p < k; ++p) {
              Widen(AtB(g, k0 + p, j0), b + p * n, n);
            }
          }
          const GemmKernel<float> kernel(
              {.m = m,
               .n = n,
               .k = k,
               .lda = lda,
               .ldb = n,
               .ldc = n,
               .transpose_a = g.transpose_a,
               .accumulate = g.accumulate || k0 > 0});
          kernel(a, b, c);
        }
        for (int64_t i = 0; i < m; ++i) {
          Narrow(c + i * n, g.c + (i0 + i) * g.ldc + j0, n);
        }
      });
}

// Integers and complex numbers: plain loops.

// Multiplies and adds without undefined behaviour, NaN repair or promotion to
// int of narrow unsigned types.
template <typename T>
struct Arithmetic {
  using U = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
  static T MultiplyAdd(T sum, T x, T y) {
    return static_cast<T>(static_cast<U>(sum) +
                          static_cast<U>(x) * static_cast<U>(y));
  }
  static T Conjugate(T x) { return x; }
};
template <typename F>
struct Arithmetic<std::complex<F>> {
  using T = std::complex<F>;
  static T MultiplyAdd(T sum, T x, T y) {
    return {sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
            sum.imag() + (x.real() * y.imag() + x.imag() * y.real())};
  }
  static T Conjugate(T x) { return {x.real(), -x.imag()}; }
};

template <typename T>
void LoopGemm(ThreadPool* pool, const GemmArgs<T>& g) {
  constexpr int64_t kRows = 64, kColumns = 64, kDepth = 64;
  const int64_t columns = CeilDiv(g.n, kColumns);
  For(1.0 * g.m * g.n * g.k < 5e4 ? nullptr : pool,
      CeilDiv(g.m, kRows) * columns, [&](int64_t block) {
        T b[kDepth * kColumns];
        const int64_t i0 = block / columns * kRows;
        const int64_t j0 = block % columns * kColumns;
        const int64_t m = std::min(kRows, g.m - i0);
        const int64_t n = std::min(kColumns, g.n - j0);
        for (int64_t i = 0; i < m && !g.accumulate; ++i) {
          std::fill_n(g.c + (i0 + i) * g.ldc + j0, n, T(0));
        }
        for (int64_t k0 = 0; k0 < g.k; k0 += kDepth) {
          const int64_t k = std::min(kDepth, g.k - k0);
          for (int64_t p = 0; p < k; ++p) {
            for (int64_t j = 0; j < n; ++j) {
              const T v = *AtB(g, k0 + p, j0 + j);
              b[p * n + j] = g.conjugate_b ? Arithmetic<T>::Conjugate(v) : v;
            }
          }
          RunSimd([&] {
            for (int64_t i = 0; i < m; ++i) {
              T* c = g.c + (i0 + i) * g.ldc + j0;
              for (int64_t p = 0; p < k; ++p) {
                T x = *AtA(g, i0 + i, k0 + p);
                if (g.conjugate_a) x = Arithmetic<T>::Conjugate(x);
                const T* y = b + p * n;
                for (int64_t j = 0; j < n; ++j) {
                  c[j] = Arithmetic<T>::MultiplyAdd(c[j], x, y[j]);
                }
              }
            }
          });
        }
      });
}

}  // namespace

template <typename T>
void Gemm(ThreadPool* pool, const GemmArgs<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.k <= 0) {
    if (!g.accumulate) Zero(g);
    return;
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    FloatGemm(pool, g);
  } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    HalfGemm(pool, g);
  } else {
    LoopGemm(pool, g);
  }
}

template <typename T>
int64_t GemmHeapBytes(const GemmArgs<T>& g) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (g.m > 0 && g.n > 0 && g.k > 0) return FloatHeapBytes(g);
  }
  return 0;
}

#define HR_INSTANTIATE(T)                                 \
  template void Gemm<T>(ThreadPool*, const GemmArgs<T>&); \
  template int64_t GemmHeapBytes<T>(const GemmArgs<T>&);
HR_CALL_NUMBER_TYPES(HR_INSTANTIATE)
#undef HR_INSTANTIATE

}  // namespace headrace
