// Products of bytes with sums in 32 bits, which wrap around: unsigned rows by
// signed columns. Four products at once where the processor has them
// (AVX512-VNNI), elsewhere in pairs of 16 bits. The sums are the same on every
// processor.
//
//   C[m,n] = A[m,k] B[k,n]
//
//   layouts    a row of A is k bytes at any address; what lies behind them up
//   to
//              4 * NumQuads(k) is read but does not count. B is packed in
//              panels of 32 columns: four bytes of a column beside each other.
//   called by  the kernels of quantised products (quantized/byte_matrix.h)
//
// Thread-safe.
#ifndef HEADRACE_KERNELS_LIB_BYTE_PRODUCT_H_
#define HEADRACE_KERNELS_LIB_BYTE_PRODUCT_H_

#include <cstdint>

namespace headrace {

// Four bytes: the first in the lowest bits.
using ByteQuad = uint32_t;

inline constexpr int64_t kBytePanelColumns = 32;
inline constexpr int64_t kByteTileRows = 12;

// Of k bytes.
constexpr int64_t NumQuads(int64_t k) { return (k + 3) / 4; }
constexpr int64_t NumBytePanels(int64_t n) {
  return (n + kBytePanelColumns - 1) / kBytePanelColumns;
}
constexpr int64_t BytePanelsBytes(int64_t n, int64_t quads) {
  return NumBytePanels(n) * quads * kBytePanelColumns *
         int64_t{sizeof(ByteQuad)};
}

// A matrix [k, n], or [n, k] if transposed, without gaps. Of unsigned bytes,
// what is packed is each number less 128.
struct ByteMatrixView {
  const void* data = nullptr;
  bool is_unsigned = false, transposed = false;
  int64_t k = 0, n = 0;
};

// Packs rows [from, from + k) of `b` as quads [first, first + NumQuads(k)) of
// panels of `quads` quads. Adds what it packs to `column_sums`, one a column;
// the sums wrap around.
void PackBytePanels(const ByteMatrixView& b, int64_t from, int64_t k,
                    int64_t first, int64_t quads, ByteQuad* panels,
                    uint32_t* column_sums);

// Up to kByteTileRows rows by the columns of one panel:
//   sums[r, c] = sum over s < segments, q < quads of
//                rows[s * kByteTileRows + r][q] . panel[s * quads + q][c]
// A row is in segments that may lie anywhere: the taps of a convolution.
struct ByteTile {
  const uint8_t* const* rows = nullptr;
  int64_t num_rows = 0;
  int64_t segments = 1, quads = 0;
  const ByteQuad* panel = nullptr;
  int32_t* sums = nullptr;
  int64_t sums_step = 0;  // from one row to the next
  int64_t columns = 0;    // that are written, up to 32
};
void MultiplyBytes(const ByteTile& tile);

namespace internal {
// The ways of MultiplyBytes that this processor has, for tests: "vnni",
// "avx512", "avx2", "plain".
int NumByteWays();
const char* ByteWayName(int way);
void MultiplyBytesBy(int way, const ByteTile& tile);
}  // namespace internal

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_BYTE_PRODUCT_H_
