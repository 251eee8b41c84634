#include "kernels/lib/byte_product.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace headrace {
namespace {

std::vector<uint8_t> Random(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> x(n);
  for (uint8_t& v : x) {
    const unsigned kind = random() % 4;
    v = static_cast<uint8_t>(kind == 0 ? 0xff : kind == 1 ? 0x80 : random());
  }
  return x;
}

// Every way of multiplying gives the sums of the plain one, and writes nothing
// else.
TEST(ByteProductTest, AllWaysAgree) {
  for (const int64_t segments : {1, 3}) {
    for (const int64_t depth : {1, 3, 4, 30, 200}) {
      for (int64_t rows = 1; rows <= kByteTileRows; ++rows) {
        for (const int64_t columns : {1, 7, 8, 16, 17, 31, 32}) {
          const int64_t quads = NumQuads(depth);
          const auto a = Random(rows * segments * quads * 4, 1 + rows);
          const auto b = Random(segments * depth * columns, 77 + columns);
          std::vector<ByteQuad> panel(
              BytePanelsBytes(columns, segments * quads) / 4);
          std::vector<uint32_t> column_sums(columns);
          const ByteMatrixView view = {
              .data = b.data(), .k = segments * depth, .n = columns};
          std::vector<const uint8_t*> at(segments * kByteTileRows);
          for (int64_t s = 0; s < segments; ++s) {
            PackBytePanels(view, s * depth, depth, s * quads, segments * quads,
                           panel.data(), column_sums.data());
            for (int64_t r = 0; r < rows; ++r) {
              at[s * kByteTileRows + r] = &a[(r * segments + s) * quads * 4];
            }
          }
          const int64_t step = columns + 3;
          std::vector<int32_t> want(rows * step, 5);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < columns; ++c) {
              int32_t sum = 0;
              for (int64_t s = 0; s < segments; ++s) {
                for (int64_t k = 0; k < depth; ++k) {
                  sum += at[s * kByteTileRows + r][k] *
                         static_cast<int8_t>(b[(s * depth + k) * columns + c]);
                }
              }
              want[r * step + c] = sum;
            }
          }
          for (int way = 0; way < internal::NumByteWays(); ++way) {
            std::vector<int32_t> got(rows * step, 5);
            internal::MultiplyBytesBy(way, {.rows = at.data(),
                                            .num_rows = rows,
                                            .segments = segments,
                                            .quads = quads,
                                            .panel = panel.data(),
                                            .sums = got.data(),
                                            .sums_step = step,
                                            .columns = columns});
            ASSERT_EQ(got, want)
                << internal::ByteWayName(way) << " rows " << rows << " columns "
                << columns << " segments " << segments << " depth " << depth;
          }
        }
      }
    }
  }
}

TEST(ByteProductTest, PacksUnsignedBytesLess128AndTransposedOnes) {
  const std::vector<uint8_t> b = {0, 1, 127, 128, 200, 255};  // [3, 2]
  const std::vector<uint8_t> turned = {0, 127, 200, 1, 128, 255};
  for (const bool transposed : {false, true}) {
    std::vector<ByteQuad> panel(BytePanelsBytes(2, 1) / 4, 9u);
    std::vector<uint32_t> sums(2);
    PackBytePanels({.data = transposed ? turned.data() : b.data(),
                    .is_unsigned = true,
                    .transposed = transposed,
                    .k = 3,
                    .n = 2},
                   0, 3, 0, 1, panel.data(), sums.data());
    EXPECT_EQ(panel[0], 0x0048ff80u);  // -128, -1, 72
    EXPECT_EQ(panel[1], 0x007f0081u);  // -127, 0, 127
    EXPECT_EQ(panel[2], 0u);
    EXPECT_EQ(static_cast<int32_t>(sums[0]), -57);
    EXPECT_EQ(static_cast<int32_t>(sums[1]), 0);
  }
}

}  // namespace
}  // namespace headrace
