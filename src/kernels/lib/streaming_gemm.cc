// Multiply-add in one instruction where the processor has it, as the generated
// kernels of gemm_kernel.h do. Before all includes, so that what they define
// inline has it too. The other two passes take a third of the compile time and
// change nothing in loops that are unrolled whole.
#pragma GCC optimize("fp-contract=fast", "no-gcse-after-reload", "no-tree-pre")

#include "kernels/lib/streaming_gemm.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "headrace/allocator.h"
#include "kernels/lib/simd_width.h"

namespace headrace {
namespace {

constexpr int64_t kSumBytes = 16384;  // half of a first level cache

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A register. What is loaded and stored may lie at any address.
template <typename T, int kBytes>
struct Vec {
  typedef T Type __attribute__((vector_size(kBytes)));
  static constexpr int64_t kLanes = kBytes / sizeof(T);
  // AVX-512 has 32 registers, others 16.
  static constexpr int kRegisters = kBytes == 64 ? 32 : 16;

  // By reference, because the ABI of vector arguments and results depends on
  // the target.
  static void Load(const T* p, Type* v) { std::memcpy(v, p, sizeof(*v)); }
  static void Store(const Type& v, T* p) { std::memcpy(p, &v, sizeof(v)); }
};

// A and B may lie at any address.
template <typename T>
inline T At(const T* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

// B as it lies: rows of B, sums of whole rows of C.

// c[i, 0:n] += sum over p < kDepth of x[p, i] b[p, 0:n], for kM rows i. x is
// [kDepth, kM] and c [kM, ldc].
template <typename T, int kBytes, int kM, int kDepth>
inline void MultiplyRows(const T* x, const T* b, int64_t ldb, int64_t n, T* c,
                         int64_t ldc) {
  using R = Vec<T, kBytes>;
  using V = typename R::Type;
  constexpr int64_t kLanes = R::kLanes;
  // Sums, a row and a factor fill the registers.
  constexpr int kMost = (R::kRegisters - 1) / (kM + 1);
  constexpr int kWide = kM <= 2 ? 4 : std::min(kMost, 2);
  int64_t j = 0;
  for (; j + kWide * kLanes <= n; j += kWide * kLanes) {
    V sum[kM][kWide];
    for (int i = 0; i < kM; ++i) {
      for (int w = 0; w < kWide; ++w) {
        R::Load(c + i * ldc + j + w * kLanes, &sum[i][w]);
      }
    }
    for (int p = 0; p < kDepth; ++p) {
      V row[kWide];
      for (int w = 0; w < kWide; ++w) {
        R::Load(b + p * ldb + j + w * kLanes, &row[w]);
      }
      for (int i = 0; i < kM; ++i) {
        for (int w = 0; w < kWide; ++w) sum[i][w] += x[p * kM + i] * row[w];
      }
    }
    for (int i = 0; i < kM; ++i) {
      for (int w = 0; w < kWide; ++w) {
        R::Store(sum[i][w], c + i * ldc + j + w * kLanes);
      }
    }
  }
  for (; j < n; ++j) {
    for (int i = 0; i < kM; ++i) {
      T sum = c[i * ldc + j];
      for (int p = 0; p < kDepth; ++p) {
        sum += x[p * kM + i] * At(b + p * ldb + j);
      }
      c[i * ldc + j] = sum;
    }
  }
}

// c[0:kM, 0:n] (+)= columns [j0, j0 + n) and depth [k0, k1) of the product.
template <typename T, int kBytes, int kM>
inline void Rows(const GemmArgs<T>& g, int64_t k0, int64_t k1, int64_t j0,
                 int64_t n, T* c, int64_t ldc, bool accumulate) {
  // Rows of B at a time: as many streams from memory, and where n is a power of
  // two their elements of one column share a set of the first level cache, in
  // which the sums must also find room.
  constexpr int kDepth = kM <= 2 ? 8 : 4;
  constexpr int64_t kPacked = 64;  // depth for which A is put together
  alignas(64) T x[kPacked * kM];
  alignas(64) T sums[kSumBytes / sizeof(T)];
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t stride = CeilDiv(n, kLine) * kLine;
  std::fill_n(sums, kM * stride, T(0));
  for (int64_t k = k0; k < k1; k += kPacked) {
    const int64_t depth = std::min(kPacked, k1 - k);
    for (int64_t i = 0; i < kM; ++i) {
      const T* a = g.transpose_a ? g.a + k * g.lda + i : g.a + i * g.lda + k;
      const int64_t step = g.transpose_a ? g.lda : 1;
      for (int64_t p = 0; p < depth; ++p) x[p * kM + i] = At(a + p * step);
    }
    const T* b = g.b + k * g.ldb + j0;
    int64_t p = 0;
    for (; p + kDepth <= depth; p += kDepth) {
      MultiplyRows<T, kBytes, kM, kDepth>(x + p * kM, b + p * g.ldb, g.ldb, n,
                                          sums, stride);
    }
    for (; p < depth; ++p) {
      const T* row = b + p * g.ldb;
      for (int i = 0; i < kM; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          sums[i * stride + j] += x[p * kM + i] * At(row + j);
        }
      }
    }
  }
  for (int64_t i = 0; i < kM; ++i) {
    T* row = c + i * ldc;
    const T* sum = sums + i * stride;
    for (int64_t j = 0; j < n; ++j) {
      row[j] = accumulate ? row[j] + sum[j] : sum[j];
    }
  }
}

template <typename T>
void RowsOf(const GemmArgs<T>& g, int64_t k0, int64_t k1, int64_t j0, int64_t n,
            T* c, int64_t ldc, bool accumulate) {
  RunSimdWide([&](auto bytes) {
    switch (g.m) {
#define HR_CASE(M)                                                      \
  case M:                                                               \
    return Rows<T, decltype(bytes)::value, M>(g, k0, k1, j0, n, c, ldc, \
                                              accumulate);
      HR_CASE(1)
      HR_CASE(2)
      HR_CASE(3)
      HR_CASE(4)
      HR_CASE(5)
      HR_CASE(6)
      HR_CASE(7)
      HR_CASE(8)
#undef HR_CASE
    }
  });
}

// B transposed: inner products.

// c[i, j] (+)= the inner product of rows a[i] and b[j] over k elements, for kM
// rows of A and kN of B.
template <typename T, int kBytes, int kM, int kN>
inline void MultiplyDots(const T* a, int64_t lda, const T* b, int64_t ldb,
                         int64_t k, T* c, int64_t ldc, bool accumulate) {
  using R = Vec<T, kBytes>;
  using V = typename R::Type;
  constexpr int64_t kLanes = R::kLanes;
  V sum[kM][kN] = {};
  int64_t p = 0;
  for (; p + kLanes <= k; p += kLanes) {
    V x[kM];
    for (int i = 0; i < kM; ++i) R::Load(a + i * lda + p, &x[i]);
    for (int j = 0; j < kN; ++j) {
      V y;
      R::Load(b + j * ldb + p, &y);
      for (int i = 0; i < kM; ++i) sum[i][j] += x[i] * y;
    }
  }
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      alignas(64) T lane[kLanes];
      R::Store(sum[i][j], lane);
      for (int64_t half = kLanes / 2; half > 0; half /= 2) {
        for (int64_t l = 0; l < half; ++l) lane[l] += lane[l + half];
      }
      T total = lane[0];
      for (int64_t q = p; q < k; ++q) {
        total += At(a + i * lda + q) * At(b + j * ldb + q);
      }
      T* out = c + i * ldc + j;
      *out = accumulate ? *out + total : total;
    }
  }
}

template <typename T, int kBytes, int kN>
inline void MultiplyDotsOf(int64_t m, const T* a, int64_t lda, const T* b,
                           int64_t ldb, int64_t k, T* c, int64_t ldc,
                           bool accumulate) {
  constexpr int kMost = kBytes == 64 ? 4 : 2;
  int64_t i = 0;
  for (; i + kMost <= m; i += kMost) {
    MultiplyDots<T, kBytes, kMost, kN>(a + i * lda, lda, b, ldb, k, c + i * ldc,
                                       ldc, accumulate);
  }
  switch (m - i) {
#define HR_CASE(M)                                                     \
  case M:                                                              \
    return MultiplyDots<T, kBytes, M, kN>(a + i * lda, lda, b, ldb, k, \
                                          c + i * ldc, ldc, accumulate);
    HR_CASE(1)
    HR_CASE(2)
    HR_CASE(3)
#undef HR_CASE
  }
}

// c[0:m, 0:n] (+)= columns [j0, j0 + n) and depth [k0, k1) of the product.
template <typename T>
void Dots(const GemmArgs<T>& g, int64_t k0, int64_t k1, int64_t j0, int64_t n,
          T* c, int64_t ldc, bool accumulate) {
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    // Four rows of B with this many columns stay in the first-level cache while
    // the rows of A are multiplied with them.
    constexpr int64_t kChunk = 4096 / sizeof(T);
    const int64_t chunk = g.m <= 4 && !g.transpose_a ? k1 - k0 : kChunk;
    alignas(64) T x[kStreamedRowsTransposed * kChunk];
    for (int64_t k = k0; k < k1; k += chunk) {
      const int64_t depth = std::min(chunk, k1 - k);
      const bool add = accumulate || k > k0;
      const T* a = g.a + k;
      int64_t lda = g.lda;
      if (g.transpose_a) {
        for (int64_t p = 0; p < depth; ++p) {
          for (int64_t i = 0; i < g.m; ++i) {
            x[i * kChunk + p] = At(g.a + (k + p) * g.lda + i);
          }
        }
        a = x;
        lda = kChunk;
      }
      const T* b = g.b + j0 * g.ldb + k;
      int64_t j = 0;
      for (; j + 4 <= n; j += 4) {
        MultiplyDotsOf<T, kBytes, 4>(g.m, a, lda, b + j * g.ldb, g.ldb, depth,
                                     c + j, ldc, add);
      }
      for (; j < n; ++j) {
        MultiplyDotsOf<T, kBytes, 1>(g.m, a, lda, b + j * g.ldb, g.ldb, depth,
                                     c + j, ldc, add);
      }
    }
  });
}

// How a product is cut: into blocks of columns, and slices of k where these are
// too few for several threads.
struct Cut {
  int64_t wide;    // columns of a block
  int64_t blocks;  // of columns
  int64_t slices;  // of k
};

template <typename T>
Cut CutOf(const GemmArgs<T>& g) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int64_t kBlockBytes = 262144;  // of B, at least; about 10 us
  Cut cut;
  cut.wide =
      g.transpose_b
          ? CeilDiv(std::max<int64_t>(1, kBlockBytes / (g.k * kSize)), 4) * 4
          : kSumBytes / kSize / g.m / 64 * 64;
  cut.blocks = CeilDiv(g.n, cut.wide);
  const int64_t block_bytes = std::min(cut.wide, g.n) * g.k * kSize;
  cut.slices = std::clamp<int64_t>(
      std::min(CeilDiv(16, cut.blocks), block_bytes / kBlockBytes), 1, 16);
  return cut;
}

}  // namespace

template <typename T>
int64_t StreamingGemmHeapBytes(const GemmArgs<T>& g) {
  const int64_t slices = CutOf(g).slices;
  return slices > 1 ? int64_t{sizeof(T)} * slices * g.m * g.n : 0;
}

// The partial products of slices are added in order.
template <typename T>
void StreamingGemm(ThreadPool* pool, const GemmArgs<T>& g) {
  const Cut cut = CutOf(g);
  const int64_t wide = cut.wide, blocks = cut.blocks;
  int64_t slices = cut.slices;
  const auto bytes = static_cast<size_t>(StreamingGemmHeapBytes(g));
  T* partial = nullptr;
  if (slices > 1) {
    partial = static_cast<T*>(CpuAllocator()->AllocateRaw(bytes));
    if (partial == nullptr) slices = 1;
  }
  const int64_t depth = CeilDiv(CeilDiv(g.k, slices), 8) * 8;
  slices = CeilDiv(g.k, depth);
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t s = unit % slices;
      const int64_t j0 = unit / slices * wide;
      const int64_t n = std::min(wide, g.n - j0);
      const int64_t k0 = s * depth, k1 = std::min(g.k, k0 + depth);
      T* c = partial == nullptr ? g.c + j0 : partial + s * g.m * g.n + j0;
      const int64_t ldc = partial == nullptr ? g.ldc : g.n;
      const bool accumulate = partial == nullptr && g.accumulate;
      if (g.transpose_b) {
        Dots(g, k0, k1, j0, n, c, ldc, accumulate);
      } else {
        RowsOf(g, k0, k1, j0, n, c, ldc, accumulate);
      }
    }
  };
  if (pool == nullptr || blocks * slices == 1) {
    run(0, blocks * slices);
  } else {
    pool->ParallelFor(blocks * slices, 1, run);
  }
  if (partial == nullptr) return;
  for (int64_t i = 0; i < g.m; ++i) {
    T* c = g.c + i * g.ldc;
    for (int64_t s = 0; s < slices; ++s) {
      const T* p = partial + (s * g.m + i) * g.n;
      if (s == 0 && !g.accumulate) {
        std::copy_n(p, g.n, c);
      } else {
        for (int64_t j = 0; j < g.n; ++j) c[j] += p[j];
      }
    }
  }
  CpuAllocator()->DeallocateRaw(partial, bytes);
}

template void StreamingGemm<float>(ThreadPool*, const GemmArgs<float>&);
template void StreamingGemm<double>(ThreadPool*, const GemmArgs<double>&);
template int64_t StreamingGemmHeapBytes<float>(const GemmArgs<float>&);
template int64_t StreamingGemmHeapBytes<double>(const GemmArgs<double>&);

}  // namespace headrace
