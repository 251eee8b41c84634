// Products by panels against sums in double, for every number of rows, and in
// the kernels that keep their constant weights so.
#include "kernels/lib/prepacked_gemm.h"

#include <cmath>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "framework/kernel/op_tester.h"
#include "kernels/lib/constant_forms.h"

namespace headrace {
namespace {

std::vector<float> Random(int64_t n, int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = values(random);
  return v;
}

// Sums of k products of numbers up to 1.
void ExpectNear(float got, double want, int64_t k, const std::string& where) {
  ASSERT_NEAR(got, want, 1e-7 * static_cast<double>(k + 8)) << where;
}

TEST(PrepackedGemmTest, EveryNumberOfRows) {
  const struct {
    int64_t n, k;
  } kSizes[] = {{64, 1}, {1, 9}, {130, 70}, {65, 1100}, {300, 513}};
  ThreadPool pool(3);
  for (const auto& size : kSizes) {
    const int64_t n = size.n, k = size.k;
    for (const bool transpose : {false, true}) {
      const std::vector<float> b = Random(n * k, 1);
      // At an odd address.
      std::vector<char> bytes(b.size() * sizeof(float) + 1);
      std::memcpy(bytes.data() + 1, b.data(), b.size() * sizeof(float));
      Tensor panels(DT_FLOAT, TensorShape({NumPanels(n), k, kPanelColumns}));
      PackPanels(&pool, bytes.data() + 1, transpose, n, k,
                 panels.data<float>());
      for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 11, 20, 32}) {
        const int64_t lda = k + 3, ldc = n + 2;
        const std::vector<float> a = Random(m * lda, 2);
        std::vector<float> c(m * ldc, 7), alone = c;
        PrepackedGemm(&pool, m, n, k, a.data(), lda, panels.data<float>(),
                      c.data(), ldc);
        PrepackedGemm(nullptr, m, n, k, a.data(), lda, panels.data<float>(),
                      alone.data(), ldc);
        ASSERT_EQ(c, alone);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            double want = 0;
            for (int64_t p = 0; p < k; ++p) {
              want += static_cast<double>(a[i * lda + p]) *
                      (transpose ? b[j * k + p] : b[p * n + j]);
            }
            ExpectNear(c[i * ldc + j], want, k,
                       StrCat(m, "x", n, "x", k, " at ", i, ", ", j));
          }
          EXPECT_EQ(c[i * ldc + n], 7) << "written behind row " << i;
        }
      }
    }
  }
}

TEST(PrepackedGemmTest, AddsToWhatIsThere) {
  const int64_t depth = 20;
  Tensor panel(DT_FLOAT, TensorShape({depth, kPanelColumns}));
  for (int64_t i = 0; i < panel.NumElements(); ++i) {
    panel.data<float>()[i] = static_cast<float>(i % 5);
  }
  const std::vector<float> x(7 * depth, 2);
  std::vector<float> sums(7 * kPanelColumns, 10);
  PanelProduct g = {.x = x.data(),
                    .x_step = depth,
                    .rows = 7,
                    .panel = panel.data<float>(),
                    .depth = depth,
                    .accumulate = true,
                    .sums = sums.data(),
                    .sums_step = kPanelColumns};
  MultiplyPanel(g);
  // Rows of 64: each column sees every residue four times.
  EXPECT_EQ(sums, std::vector<float>(7 * kPanelColumns, 10 + 2 * 4 * 10));
  g.depth = 0;
  MultiplyPanel(g);
  EXPECT_EQ(sums, std::vector<float>(7 * kPanelColumns, 90));
  g.accumulate = false;
  MultiplyPanel(g);
  EXPECT_EQ(sums, std::vector<float>(7 * kPanelColumns, 0));
}

TEST(PrepackedGemmTest, AConstantMatrixIsPackedOnce) {
  const int64_t n = 1030, k = 1100;
  for (const bool transpose : {false, true}) {
    Tensor b(DT_FLOAT, transpose ? TensorShape({n, k}) : TensorShape({k, n}));
    const std::vector<float> values = Random(n * k, 3);
    std::copy(values.begin(), values.end(), b.data<float>());
    const int64_t before = ConstantFormBytesInUse();
    {
      std::vector<std::unique_ptr<OpTester>> held;
      for (const int64_t m : {1, 4, 20, 32, 33}) {
        SCOPED_TRACE(StrCat(m, " rows, transpose_b ", transpose));
        Tensor a(DT_FLOAT, TensorShape({m, k}));
        const std::vector<float> rows = Random(m * k, 4);
        std::copy(rows.begin(), rows.end(), a.data<float>());
        OpTester plain("MatMul");
        plain.Attr("transpose_b", transpose).Input(a).Input(b);
        held.push_back(std::make_unique<OpTester>("MatMul"));
        OpTester& constant = *held.back();
        constant.Attr("transpose_b", transpose).Input(a).Constant(b);
        ASSERT_EQ(plain.Run(), OkStatus());
        ASSERT_EQ(constant.Run(), OkStatus());
        for (int64_t i = 0; i < m * n; ++i) {
          ExpectNear(constant.Output(0).data<float>()[i],
                     plain.Output(0).data<float>()[i], k, StrCat("at ", i));
        }
      }
      const int64_t bytes = NumPanels(n) * kPanelColumns * k * 4;
      EXPECT_EQ(ConstantFormBytesInUse(), before + bytes);
    }
    EXPECT_EQ(ConstantFormBytesInUse(), before);
  }
}

}  // namespace
}  // namespace headrace
