// Quantised products and convolutions of many sizes beside plain sums.
#include "kernels/quantized/byte_matrix.h"

#include <random>

#include "kernels/quantized/quantized_test_util.h"

namespace headrace {
namespace {

std::vector<int> Random(int64_t n, bool is_signed, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> x(n);
  for (int& v : x) v = static_cast<int>(random() % 256) - (is_signed ? 128 : 0);
  return x;
}

Tensor OfBytes(bool is_signed, const TensorShape& shape,
               const std::vector<int>& v) {
  return is_signed ? Numbers<int8_t>(DT_QINT8, shape, v)
                   : Numbers<uint8_t>(DT_QUINT8, shape, v);
}

// A range in which `zero` is stored for 0.0 and 1 stands for 1.
std::vector<float> RangeWithZero(int zero) {
  return {static_cast<float>(-zero), static_cast<float>(255 - zero)};
}

TEST(ByteMatrixTest, ProductsOfAllSizes) {
  for (const int64_t m : {1, 5, 12, 49, 100}) {
    for (const int64_t k : {1, 4, 31, 64}) {
      for (const int64_t n : {1, 32, 33, 100}) {
        for (const int turned : {0, 1, 2, 3}) {
          // No byte stands for the second pair's 0.0.
          for (const auto& [a_zero, b_zero] :
               {std::pair(0, 128), std::pair(300, -20), std::pair(77, 255)}) {
            const bool turn_a = turned & 1, turn_b = turned & 2;
            const auto a = Random(m * k, false, 3), b = Random(k * n, false, 4);
            std::vector<int> want(m * n);
            for (int64_t i = 0; i < m; ++i) {
              for (int64_t j = 0; j < n; ++j) {
                for (int64_t p = 0; p < k; ++p) {
                  want[i * n + j] +=
                      (a[turn_a ? p * m + i : i * k + p] - a_zero) *
                      (b[turn_b ? j * k + p : p * n + j] - b_zero);
                }
              }
            }
            for (const bool constant : {false, true}) {
              OpTester t("QuantizedMatMul");
              t.Attr("transpose_a", turn_a).Attr("transpose_b", turn_b);
              t.Input(OfBytes(
                  false, turn_a ? TensorShape({k, m}) : TensorShape({m, k}),
                  a));
              const Tensor by = OfBytes(
                  false, turn_b ? TensorShape({n, k}) : TensorShape({k, n}), b);
              constant ? t.Constant(by) : t.Input(by);
              Ends(&t, RangeWithZero(a_zero));
              Ends(&t, RangeWithZero(b_zero));
              ASSERT_EQ(t.Run(), OkStatus());
              ASSERT_EQ(Values(t.Output(0)), want)
                  << m << " " << k << " " << n << " " << turned;
            }
          }
        }
      }
    }
  }
}

// All sums of a convolution SAME of strides 1, 2.
struct Conv {
  int64_t batch, size, depth, window, stride, n;
};
std::vector<int> PlainSums(const Conv& c, const std::vector<int>& x, int zero,
                           const std::vector<int>& w, int w_zero) {
  const int64_t out = (c.size + c.stride - 1) / c.stride;
  const int64_t pad =
      std::max<int64_t>(0, (out - 1) * c.stride + c.window - c.size) / 2;
  std::vector<int> sums(c.batch * out * out * c.n);
  for (int64_t at = 0; at < c.batch * out * out; ++at) {
    for (int64_t r = 0; r < c.window; ++r) {
      for (int64_t s = 0; s < c.window; ++s) {
        const int64_t y = at / out % out * c.stride + r - pad;
        const int64_t z = at % out * c.stride + s - pad;
        if (y < 0 || y >= c.size || z < 0 || z >= c.size) continue;
        for (int64_t k = 0; k < c.depth; ++k) {
          for (int64_t j = 0; j < c.n; ++j) {
            sums[at * c.n + j] +=
                (x[((at / (out * out) * c.size + y) * c.size + z) * c.depth +
                   k] -
                 zero) *
                (w[((r * c.window + s) * c.depth + k) * c.n + j] - w_zero);
          }
        }
      }
    }
  }
  return sums;
}

TEST(ByteMatrixTest, ConvolutionsOfAllSizes) {
  const Conv cases[] = {{1, 7, 3, 3, 2, 40}, {2, 5, 8, 1, 1, 33},
                        {1, 9, 5, 3, 1, 16}, {3, 1, 4, 3, 1, 64},
                        {1, 12, 4, 5, 2, 7}, {1, 3, 16, 3, 1, 100}};
  for (const Conv& c : cases) {
    const TensorShape image({c.batch, c.size, c.size, c.depth});
    const TensorShape filter({c.window, c.window, c.depth, c.n});
    for (const bool constant : {false, true}) {
      const std::vector<int64_t> strides = {1, c.stride, c.stride, 1};
      // Both unsigned; no byte stands for the last padding.
      for (const int zero : {0, 100, -3}) {
        const auto x = Random(image.num_elements(), false, 1);
        const auto w = Random(filter.num_elements(), false, 2);
        OpTester t("QuantizedConv2D");
        t.Attr("strides", strides).Attr("padding", std::string("SAME"));
        t.Input(OfBytes(false, image, x));
        const Tensor by = OfBytes(false, filter, w);
        constant ? t.Constant(by) : t.Input(by);
        Ends(&t, RangeWithZero(zero));
        Ends(&t, RangeWithZero(90));
        ASSERT_EQ(t.Run(), OkStatus());
        ASSERT_EQ(Values(t.Output(0)), PlainSums(c, x, zero, w, 90))
            << image.DebugString() << filter.DebugString() << zero;
      }
      // A signed filter; the image either.
      for (const bool is_signed : {false, true}) {
        const auto x = Random(image.num_elements(), is_signed, 1);
        const auto w = Random(filter.num_elements(), true, 2);
        OpTester t("QuantizedConv2DWithBias");
        t.Attr("strides", strides).Attr("padding", std::string("SAME"));
        t.Attr("out_type", DT_QINT32);
        t.Input(OfBytes(is_signed, image, x));
        const Tensor by = OfBytes(true, filter, w);
        constant ? t.Constant(by) : t.Input(by);
        t.Input(MakeTensor<float>({c.n}, std::vector<float>(c.n, 0)));
        Ends(&t, {-1, 1, -1, 1});
        ASSERT_EQ(t.Run(), OkStatus());
        ASSERT_EQ(Values(t.Output(0)), PlainSums(c, x, 0, w, 0))
            << image.DebugString() << filter.DebugString() << is_signed;
      }
    }
  }
}

}  // namespace
}  // namespace headrace
