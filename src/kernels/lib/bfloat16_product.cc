#include "kernels/lib/bfloat16_product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "base/cpu.h"
#include "headrace/simd.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/product_tiles.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HR_BFLOAT16_X86 1
#endif

namespace headrace {
namespace {

constexpr int64_t kColumns = kBfloat16PanelColumns;
constexpr int64_t kRows = kBfloat16TileRows;

// Of the float i of `from`, which may lie at any address.
inline Bfloat16Pair Bits(const void* from, int64_t i) {
  float x;
  std::memcpy(&x, static_cast<const char*>(from) + i * sizeof(x), sizeof(x));
  return FloatToBfloat16Bits(x);
}

inline float Low(Bfloat16Pair p) { return std::bit_cast<float>(p << 16); }
inline float High(Bfloat16Pair p) {
  return std::bit_cast<float>(p & 0xffff0000u);
}

void MultiplyPlain(const Bfloat16Tile& t) {
  for (int64_t r = 0; r < t.num_rows; ++r) {
    for (int64_t c = 0; c < t.columns; ++c) {
      float sum = 0;
      for (int64_t s = 0; s < t.segments; ++s) {
        const Bfloat16Pair* const row = t.rows[s * kRows + r];
        const Bfloat16Pair* const panel = t.panel + s * t.pairs * kColumns;
        for (int64_t p = 0; p < t.pairs; ++p) {
          const Bfloat16Pair w = panel[p * kColumns + c];
          sum = std::fma(High(row[p]), High(w), sum);
          sum = std::fma(Low(row[p]), Low(w), sum);
        }
      }
      t.sums[r * t.sums_step + c] = sum;
    }
  }
}

#ifdef HR_BFLOAT16_X86
#define HR_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define HR_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,fma")))
#define HR_AVX2 __attribute__((target("avx2,fma")))

// Writes those of kCount rows that there are from `first` on, whose columns are
// in two vectors.
template <int kCount>
HR_AVX512 inline void StoreRows(const Bfloat16Tile& t, int64_t first,
                                const __m512* low, const __m512* high) {
  const uint32_t columns =
      t.columns >= 32 ? ~0u : (1u << t.columns) - 1;  // one bit each
  for (int64_t r = 0; r < std::min<int64_t>(kCount, t.num_rows - first); ++r) {
    float* const to = t.sums + (first + r) * t.sums_step;
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(columns), low[r]);
    _mm512_mask_storeu_ps(to + 16, static_cast<__mmask16>(columns >> 16),
                          high[r]);
  }
}

template <int kCount>
HR_BF16 void TileBfloat16(const Bfloat16Tile& t, int64_t first) {
  __m512 low[kCount], high[kCount];
  for (int r = 0; r < kCount; ++r) low[r] = high[r] = _mm512_setzero_ps();
  const Bfloat16Pair* w = t.panel;
  for (int64_t s = 0; s < t.segments; ++s) {
    const Bfloat16Pair* rows[kCount];
    product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
    for (int64_t p = 0; p < t.pairs; ++p, w += kColumns) {
      const __m512bh b0 = (__m512bh)_mm512_loadu_si512(w);
      const __m512bh b1 = (__m512bh)_mm512_loadu_si512(w + 16);
#pragma GCC unroll 12
      for (int r = 0; r < kCount; ++r) {
        const __m512bh a =
            (__m512bh)_mm512_set1_epi32(static_cast<int>(rows[r][p]));
        low[r] = _mm512_dpbf16_ps(low[r], a, b0);
        high[r] = _mm512_dpbf16_ps(high[r], a, b1);
      }
    }
  }
  StoreRows<kCount>(t, first, low, high);
}
HR_BF16 void MultiplyNative(const Bfloat16Tile& t) {
  HR_TILE_ROWS(TileBfloat16, t, 12)
}

template <int kCount>
HR_AVX512 void TileAvx512(const Bfloat16Tile& t, int64_t first) {
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  __m512 low[kCount], high[kCount];
  for (int r = 0; r < kCount; ++r) low[r] = high[r] = _mm512_setzero_ps();
  const Bfloat16Pair* w = t.panel;
  for (int64_t s = 0; s < t.segments; ++s) {
    const Bfloat16Pair* rows[kCount];
    product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
    for (int64_t p = 0; p < t.pairs; ++p, w += kColumns) {
      const __m512i b0 = _mm512_loadu_si512(w);
      const __m512i b1 = _mm512_loadu_si512(w + 16);
      const __m512 b0_high = _mm512_castsi512_ps(_mm512_and_si512(b0, upper));
      const __m512 b1_high = _mm512_castsi512_ps(_mm512_and_si512(b1, upper));
      const __m512 b0_low = _mm512_castsi512_ps(_mm512_slli_epi32(b0, 16));
      const __m512 b1_low = _mm512_castsi512_ps(_mm512_slli_epi32(b1, 16));
#pragma GCC unroll 12
      for (int r = 0; r < kCount; ++r) {
        const __m512 a_high = _mm512_set1_ps(High(rows[r][p]));
        const __m512 a_low = _mm512_set1_ps(Low(rows[r][p]));
        low[r] = _mm512_fmadd_ps(a_high, b0_high, low[r]);
        high[r] = _mm512_fmadd_ps(a_high, b1_high, high[r]);
        low[r] = _mm512_fmadd_ps(a_low, b0_low, low[r]);
        high[r] = _mm512_fmadd_ps(a_low, b1_low, high[r]);
      }
    }
  }
  StoreRows<kCount>(t, first, low, high);
}
HR_AVX512 void MultiplyAvx512(const Bfloat16Tile& t) {
  HR_TILE_ROWS(TileAvx512, t, 12)
}

// kCount rows by sixteen columns at a time.
template <int kCount>
HR_AVX2 void TileAvx2(const Bfloat16Tile& t, int64_t first) {
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
  for (int64_t c = 0; c < t.columns; c += 16) {
    __m256 sum[kCount][2];
    for (int r = 0; r < kCount; ++r) {
      sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    }
    const Bfloat16Pair* w = t.panel + c;
    for (int64_t s = 0; s < t.segments; ++s) {
      const Bfloat16Pair* rows[kCount];
      product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
      for (int64_t p = 0; p < t.pairs; ++p, w += kColumns) {
        for (int v = 0; v < 2; ++v) {
          const __m256i b =
              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 8 * v));
          const __m256 b_high = _mm256_castsi256_ps(_mm256_and_si256(b, upper));
          const __m256 b_low = _mm256_castsi256_ps(_mm256_slli_epi32(b, 16));
#pragma GCC unroll 4
          for (int r = 0; r < kCount; ++r) {
            sum[r][v] = _mm256_fmadd_ps(_mm256_set1_ps(High(rows[r][p])),
                                        b_high, sum[r][v]);
            sum[r][v] = _mm256_fmadd_ps(_mm256_set1_ps(Low(rows[r][p])), b_low,
                                        sum[r][v]);
          }
        }
      }
    }
    alignas(32) float sums[16];
    for (int64_t r = 0; r < std::min<int64_t>(kCount, t.num_rows - first);
         ++r) {
      _mm256_store_ps(sums, sum[r][0]);
      _mm256_store_ps(sums + 8, sum[r][1]);
      std::copy_n(sums, std::min<int64_t>(16, t.columns - c),
                  t.sums + (first + r) * t.sums_step + c);
    }
  }
}
HR_AVX2 void MultiplyAvx2(const Bfloat16Tile& t) {
  HR_TILE_ROWS(TileAvx2, t, 4)
}
#endif

struct Ways : product_tiles::Ways<Bfloat16Tile> {
  Ways() {
#ifdef HR_BFLOAT16_X86
    const CpuFeatures& cpu = HostCpu();
    const bool wide = cpu.avx512f && cpu.avx512bw && cpu.avx512vl && cpu.fma;
    if (wide && cpu.avx512_bf16) Add("bfloat16", MultiplyNative);
    if (wide) Add("avx512", MultiplyAvx512);
    if (cpu.avx2 && cpu.fma) Add("avx2", MultiplyAvx2);
#endif
    Add("plain", MultiplyPlain);
  }
};
const Ways& AllWays() {
  static const Ways ways;
  return ways;
}

}  // namespace

bool MultipliesBfloat16(const OpKernelConstruction& ctx) {
  std::string precision;
  return ctx.def().attrs.Get("_precision", &precision).ok() &&
         precision == "bfloat16";
}

void RoundToPairs(const void* from, int64_t n, Bfloat16Pair* to, int64_t step) {
  const int64_t whole = n / 2;
  if (step == 1) {
    RunSimd([=] {
      for (int64_t i = 0; i < whole; ++i) {
        to[i] = Bits(from, 2 * i) | Bits(from, 2 * i + 1) << 16;
      }
    });
  } else {
    for (int64_t i = 0; i < whole; ++i) {
      to[i] = Bits(from, 2 * i * step) | Bits(from, (2 * i + 1) * step) << 16;
    }
  }
  if (n % 2 != 0) to[whole] = Bits(from, (n - 1) * step);
}

void PackBfloat16Panels(ThreadPool* pool, const void* b, int64_t ldb,
                        bool transpose_b, int64_t n, int64_t k, int64_t first,
                        int64_t pairs, Bfloat16Pair* panels) {
  const int64_t own = NumPairs(k);
  const auto pack = [&](int64_t begin, int64_t end) {
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t count = std::min(kColumns, n - j);
      for (int64_t p = begin; p < end; ++p) {
        Bfloat16Pair* const to =
            panels + (j / kColumns * pairs + first + p) * kColumns;
        const bool has_second = 2 * p + 1 < k;
        const int64_t row_step = transpose_b ? 1 : ldb;
        const int64_t column_step = transpose_b ? ldb : 1;
        const int64_t at = 2 * p * row_step + j * column_step;
        for (int64_t c = 0; c < count; ++c) {
          const int64_t i = at + c * column_step;
          const Bfloat16Pair second = has_second ? Bits(b, i + row_step) : 0;
          to[c] = Bits(b, i) | second << 16;
        }
        std::fill(to + count, to + kColumns, 0u);
      }
    }
  };
  if (pool == nullptr) return pack(0, own);
  pool->ParallelForCost(own, 2.0 * static_cast<double>(n), pack);
}

void MultiplyBfloat16(const Bfloat16Tile& tile) {
  AllWays().all[0].multiply(tile);
}

void Bfloat16Gemm(ThreadPool* pool, int64_t m, int64_t n, int64_t pairs,
                  const Bfloat16Pair* a, const Bfloat16Pair* panels, float* c,
                  int64_t ldc) {
  // Pieces of some tiles by one panel, neighbouring pieces with the same rows.
  const int64_t tiles = (m + kRows - 1) / kRows;
  const double tile_flops =
      4.0 * kRows * kColumns * static_cast<double>(std::max<int64_t>(pairs, 1));
  const int64_t together =
      std::clamp<int64_t>(static_cast<int64_t>(2e6 / tile_flops), 1, tiles);
  const int64_t across = NumBfloat16Panels(n);
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t j = piece % across * kColumns;
      const int64_t first = piece / across * together;
      for (int64_t i = first; i < std::min(first + together, tiles); ++i) {
        const Bfloat16Pair* rows[kRows];
        const int64_t row = i * kRows, count = std::min(kRows, m - row);
        for (int64_t r = 0; r < count; ++r) rows[r] = a + (row + r) * pairs;
        MultiplyBfloat16({.rows = rows,
                          .num_rows = count,
                          .pairs = pairs,
                          .panel = panels + piece % across * pairs * kColumns,
                          .sums = c + row * ldc + j,
                          .sums_step = ldc,
                          .columns = std::min(kColumns, n - j)});
      }
    }
  };
  const int64_t pieces = (tiles + together - 1) / together * across;
  if (pool == nullptr) return run(0, pieces);
  pool->ParallelFor(pieces, 1, run);
}

namespace internal {
int NumBfloat16Ways() { return AllWays().count; }
const char* Bfloat16WayName(int way) { return AllWays().all[way].name; }
void MultiplyBfloat16By(int way, const Bfloat16Tile& tile) {
  AllWays().all[way].multiply(tile);
}
}  // namespace internal

}  // namespace headrace
