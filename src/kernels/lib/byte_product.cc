#include "kernels/lib/byte_product.h"

#include <algorithm>
#include <cstring>

#include "base/cpu.h"
#include "kernels/lib/product_tiles.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HR_BYTES_X86 1
#endif

namespace headrace {
namespace {

constexpr int64_t kColumns = kBytePanelColumns;
constexpr int64_t kRows = kByteTileRows;

inline uint32_t QuadAt(const uint8_t* row, int64_t q) {
  uint32_t quad;
  std::memcpy(&quad, row + 4 * q, sizeof(quad));
  return quad;
}

void MultiplyPlain(const ByteTile& t) {
  for (int64_t r = 0; r < t.num_rows; ++r) {
    for (int64_t c = 0; c < t.columns; ++c) {
      uint32_t sum = 0;
      for (int64_t s = 0; s < t.segments; ++s) {
        const uint8_t* const row = t.rows[s * kRows + r];
        const ByteQuad* const panel = t.panel + s * t.quads * kColumns;
        for (int64_t q = 0; q < t.quads; ++q) {
          const ByteQuad w = panel[q * kColumns + c];
          for (int i = 0; i < 4; ++i) {
            sum += static_cast<uint32_t>(int32_t{row[4 * q + i]} *
                                         static_cast<int8_t>(w >> 8 * i));
          }
        }
      }
      t.sums[r * t.sums_step + c] = static_cast<int32_t>(sum);
    }
  }
}

#ifdef HR_BYTES_X86
#define HR_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))
#define HR_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define HR_AVX2 __attribute__((target("avx2")))

// Writes those of kCount rows that there are from `first` on, whose columns are
// in two vectors.
template <int kCount>
HR_AVX512 inline void StoreRows(const ByteTile& t, int64_t first,
                                const __m512i* low, const __m512i* high) {
  const uint32_t columns =
      t.columns >= 32 ? ~0u : (1u << t.columns) - 1;  // one bit each
  for (int64_t r = 0; r < std::min<int64_t>(kCount, t.num_rows - first); ++r) {
    int32_t* const to = t.sums + (first + r) * t.sums_step;
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(columns), low[r]);
    _mm512_mask_storeu_epi32(to + 16, static_cast<__mmask16>(columns >> 16),
                             high[r]);
  }
}

template <int kCount>
HR_VNNI void TileVnni(const ByteTile& t, int64_t first) {
  __m512i low[kCount], high[kCount];
  for (int r = 0; r < kCount; ++r) low[r] = high[r] = _mm512_setzero_si512();
  const ByteQuad* w = t.panel;
  for (int64_t s = 0; s < t.segments; ++s) {
    const uint8_t* rows[kCount];
    product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
    for (int64_t q = 0; q < t.quads; ++q, w += kColumns) {
      const __m512i b0 = _mm512_loadu_si512(w);
      const __m512i b1 = _mm512_loadu_si512(w + 16);
#pragma GCC unroll 12
      for (int r = 0; r < kCount; ++r) {
        const __m512i a =
            _mm512_set1_epi32(static_cast<int>(QuadAt(rows[r], q)));
        low[r] = _mm512_dpbusd_epi32(low[r], a, b0);
        high[r] = _mm512_dpbusd_epi32(high[r], a, b1);
      }
    }
  }
  StoreRows<kCount>(t, first, low, high);
}
HR_VNNI void MultiplyVnni(const ByteTile& t) { HR_TILE_ROWS(TileVnni, t, 12) }

// The bytes 0 and 2 of each quad as 16 bits, then the bytes 1 and 3: unsigned
// ones of A, signed ones of B. Their products and sums of two fit 32 bits.
template <int kCount>
HR_AVX512 void TileAvx512(const ByteTile& t, int64_t first) {
  const __m512i mask = _mm512_set1_epi16(0xff);
  __m512i low[kCount], high[kCount];
  for (int r = 0; r < kCount; ++r) low[r] = high[r] = _mm512_setzero_si512();
  const ByteQuad* w = t.panel;
  for (int64_t s = 0; s < t.segments; ++s) {
    const uint8_t* rows[kCount];
    product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
    for (int64_t q = 0; q < t.quads; ++q, w += kColumns) {
      const __m512i b0 = _mm512_loadu_si512(w);
      const __m512i b1 = _mm512_loadu_si512(w + 16);
      const __m512i b0_even = _mm512_srai_epi16(_mm512_slli_epi16(b0, 8), 8);
      const __m512i b1_even = _mm512_srai_epi16(_mm512_slli_epi16(b1, 8), 8);
      const __m512i b0_odd = _mm512_srai_epi16(b0, 8);
      const __m512i b1_odd = _mm512_srai_epi16(b1, 8);
#pragma GCC unroll 12
      for (int r = 0; r < kCount; ++r) {
        const __m512i a =
            _mm512_set1_epi32(static_cast<int>(QuadAt(rows[r], q)));
        const __m512i even = _mm512_and_si512(a, mask);
        const __m512i odd = _mm512_srli_epi16(a, 8);
        low[r] = _mm512_add_epi32(low[r], _mm512_madd_epi16(even, b0_even));
        high[r] = _mm512_add_epi32(high[r], _mm512_madd_epi16(even, b1_even));
        low[r] = _mm512_add_epi32(low[r], _mm512_madd_epi16(odd, b0_odd));
        high[r] = _mm512_add_epi32(high[r], _mm512_madd_epi16(odd, b1_odd));
      }
    }
  }
  StoreRows<kCount>(t, first, low, high);
}
HR_AVX512 void MultiplyAvx512(const ByteTile& t) {
  HR_TILE_ROWS(TileAvx512, t, 12)
}

// kCount rows by eight columns at a time.
template <int kCount>
HR_AVX2 void TileAvx2(const ByteTile& t, int64_t first) {
  const __m256i mask = _mm256_set1_epi16(0xff);
  for (int64_t c = 0; c < t.columns; c += 8) {
    __m256i sum[kCount];
    for (int r = 0; r < kCount; ++r) sum[r] = _mm256_setzero_si256();
    const ByteQuad* w = t.panel + c;
    for (int64_t s = 0; s < t.segments; ++s) {
      const uint8_t* rows[kCount];
      product_tiles::FindRows<kCount, kRows>(t, s, first, rows);
      for (int64_t q = 0; q < t.quads; ++q, w += kColumns) {
        const __m256i b =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w));
        const __m256i b_even = _mm256_srai_epi16(_mm256_slli_epi16(b, 8), 8);
        const __m256i b_odd = _mm256_srai_epi16(b, 8);
#pragma GCC unroll 8
        for (int r = 0; r < kCount; ++r) {
          const __m256i a =
              _mm256_set1_epi32(static_cast<int>(QuadAt(rows[r], q)));
          sum[r] = _mm256_add_epi32(
              sum[r], _mm256_madd_epi16(_mm256_and_si256(a, mask), b_even));
          sum[r] = _mm256_add_epi32(
              sum[r], _mm256_madd_epi16(_mm256_srli_epi16(a, 8), b_odd));
        }
      }
    }
    alignas(32) int32_t sums[8];
    for (int64_t r = 0; r < std::min<int64_t>(kCount, t.num_rows - first);
         ++r) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(sums), sum[r]);
      std::copy_n(sums, std::min<int64_t>(8, t.columns - c),
                  t.sums + (first + r) * t.sums_step + c);
    }
  }
}
HR_AVX2 void MultiplyAvx2(const ByteTile& t) { HR_TILE_ROWS(TileAvx2, t, 6) }
#endif

struct Ways : product_tiles::Ways<ByteTile> {
  Ways() {
#ifdef HR_BYTES_X86
    const CpuFeatures& cpu = HostCpu();
    const bool wide = cpu.avx512f && cpu.avx512bw && cpu.avx512vl;
    if (wide && cpu.avx512_vnni) Add("vnni", MultiplyVnni);
    if (wide) Add("avx512", MultiplyAvx512);
    if (cpu.avx2) Add("avx2", MultiplyAvx2);
#endif
    Add("plain", MultiplyPlain);
  }
};
const Ways& AllWays() {
  static const Ways ways;
  return ways;
}

}  // namespace

void PackBytePanels(const ByteMatrixView& b, int64_t from, int64_t k,
                    int64_t first, int64_t quads, ByteQuad* panels,
                    uint32_t* column_sums) {
  const uint8_t* const data = static_cast<const uint8_t*>(b.data);
  const int64_t row_step = b.transposed ? 1 : b.n;
  const int64_t column_step = b.transposed ? b.k : 1;
  const uint8_t flip = b.is_unsigned ? 0x80 : 0;
  for (int64_t j = 0; j < b.n; j += kColumns) {
    const int64_t count = std::min(kColumns, b.n - j);
    for (int64_t q = 0; q < NumQuads(k); ++q) {
      ByteQuad* const to =
          panels + (j / kColumns * quads + first + q) * kColumns;
      std::fill(to, to + kColumns, 0u);
      for (int64_t i = 0; i < std::min<int64_t>(4, k - 4 * q); ++i) {
        const uint8_t* const row =
            data + (from + 4 * q + i) * row_step + j * column_step;
        for (int64_t c = 0; c < count; ++c) {
          const uint8_t byte = row[c * column_step] ^ flip;
          to[c] |= ByteQuad{byte} << 8 * i;
          column_sums[j + c] +=
              static_cast<uint32_t>(int32_t{static_cast<int8_t>(byte)});
        }
      }
    }
  }
}

void MultiplyBytes(const ByteTile& tile) { AllWays().all[0].multiply(tile); }

namespace internal {
int NumByteWays() { return AllWays().count; }
const char* ByteWayName(int way) { return AllWays().all[way].name; }
void MultiplyBytesBy(int way, const ByteTile& tile) {
  AllWays().all[way].multiply(tile);
}
}  // namespace internal

}  // namespace headrace
