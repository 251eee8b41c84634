#include "framework/kernel/op_tester.h"
#include "kernels/nn/fused_batch_norm.h"

namespace headrace {
namespace {

// {outer, channels, inner}: short rows, rows that do not fill a vector, more
// than one block, one element.
const BatchNormView kViews[] = {{6, 1, 1},    {1000, 3, 1},  {7, 5, 1},
                                {40, 100, 1}, {9000, 16, 1}, {1, 4, 1},
                                {2, 3, 35},   {123, 31, 1}};

std::vector<float> Values(int64_t n, uint32_t seed, float shift) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 16777216.0f + shift;
  }
  return v;
}

TEST(FusedBatchNormTest, EveryImplementationAgreesWithReference) {
  const auto list = BatchNormImplementations<float>();
  const auto& reference = list.back();
  for (const BatchNormView& v : kViews) {
    const int64_t n = v.count() * v.channels;
    const auto x = Values(n, 1, 100.0f), dy = Values(n, 2, -0.5f);
    const auto p = Values(v.channels, 3, 0), q = Values(v.channels, 4, 0),
               r = Values(v.channels, 5, 0);
    TestDevice device;
    NodeDef node;
    node.name = "n";
    node.op = "Relu";
    node.attrs.Set("T", DT_FLOAT);
    const OpDef* op = nullptr;
    ASSERT_EQ(OpRegistry::Global()->LookUp("Relu", &op), OkStatus());
    std::unique_ptr<OpKernel> kernel;
    ASSERT_EQ(
        CreateOpKernel(&device, std::make_shared<NodeDef>(node), op, &kernel),
        OkStatus());
    OpKernelContext::Params params;
    params.device = &device;
    params.kernel = kernel.get();
    OpKernelContext ctx(&params);
    struct Result {
      std::vector<float> mean, var, y, s, sx, dx;
    };
    auto run = [&](const BatchNormImplementation<float>& impl) {
      Result o;
      o.mean.resize(v.channels);
      o.var.resize(v.channels);
      o.s.resize(v.channels);
      o.sx.resize(v.channels);
      o.y.resize(n);
      o.dx.resize(n);
      EXPECT_EQ(impl.moments(&ctx, v, x.data(), o.mean.data(), o.var.data()),
                OkStatus());
      impl.normalize(&ctx, v, x.data(), p.data(), q.data(), r.data(),
                     o.y.data());
      EXPECT_EQ(impl.grad_sums(&ctx, v, dy.data(), x.data(), p.data(),
                               o.s.data(), o.sx.data()),
                OkStatus());
      impl.grad_input(&ctx, v, dy.data(), x.data(), p.data(), q.data(),
                      r.data(), p.data(), o.dx.data());
      return o;
    };
    const Result want = run(reference);
    for (const auto& impl : list) {
      if (!impl.accepts(v)) continue;
      const Result got = run(impl);
      auto near = [&](const std::vector<float>& a, const std::vector<float>& b,
                      const char* what) {
        for (size_t i = 0; i < a.size(); ++i) {
          ASSERT_NEAR(a[i], b[i], 1e-4 + 2e-5 * std::abs(b[i]))
              << impl.name << " " << what << " at " << i << " of " << v.outer
              << "x" << v.channels << "x" << v.inner;
        }
      };
      near(got.mean, want.mean, "mean");
      near(got.var, want.var, "variance");
      near(got.y, want.y, "y");
      near(got.s, want.s, "sum dy");
      near(got.sx, want.sx, "sum dy x");
      near(got.dx, want.dx, "dx");
    }
  }
}

Tensor Vec(const std::vector<float>& v) {
  return MakeTensor<float>({static_cast<int64_t>(v.size())}, v);
}

TEST(FusedBatchNormTest, TrainingStatistics) {
  for (const char* format : {"NHWC", "NCHW"}) {
    OpTester t("FusedBatchNormV3");
    t.Attr("data_format", format).Attr("epsilon", 0.0f);
    t.Input(MakeTensor<float>({1, 2, 2, 1}, {1, 2, 3, 6}));
    const bool nchw = format[1] == 'C';
    const int c = nchw ? 2 : 1;
    t.Input(Vec(std::vector<float>(c, 2))).Input(Vec(std::vector<float>(c, 1)));
    t.Input(Vec({})).Input(Vec({}));
    ASSERT_EQ(t.Run(), OkStatus());
    if (nchw) {
      ExpectClose(t.Output(1), Vec({1.5, 4.5}));
      ExpectClose(t.Output(2), Vec({0.5, 4.5}));
      ExpectClose(t.Output(0), MakeTensor<float>({1, 2, 2, 1}, {-1, 3, -1, 3}));
    } else {
      ExpectClose(t.Output(1), Vec({3}));
      ExpectClose(t.Output(2), Vec({14.0f / 3}));
      ExpectClose(t.Output(3), Vec({3}));
      ExpectClose(t.Output(4), Vec({3.5}));
    }
  }
}

TEST(FusedBatchNormTest, BlendInferenceAndEmpty) {
  OpTester blend("FusedBatchNormV3");
  blend.Attr("exponential_avg_factor", 0.5f);
  blend.Input(MakeTensor<float>({1, 2, 2, 1}, {1, 2, 3, 6}));
  blend.Input(Vec({1})).Input(Vec({0})).Input(Vec({10})).Input(Vec({0}));
  ASSERT_EQ(blend.Run(), OkStatus());
  ExpectClose(blend.Output(1), Vec({6.5}));
  ExpectClose(blend.Output(2), Vec({7.0f / 3}));
  OpTester inference("FusedBatchNorm");
  inference.Attr("is_training", false).Attr("epsilon", 1.0f);
  inference.Input(MakeTensor<float>({1, 1, 1, 2}, {3, 4}));
  inference.Input(Vec({1, 2})).Input(Vec({0, 1}));
  inference.Input(Vec({1, 2})).Input(Vec({3, 0}));
  ASSERT_EQ(inference.Run(), OkStatus());
  ExpectClose(inference.Output(0), MakeTensor<float>({1, 1, 1, 2}, {1, 5}));
  OpTester empty("FusedBatchNormV2");
  empty.Attr("U", DT_FLOAT).Input(MakeTensor<float>({0, 1, 1, 1}, {}));
  empty.Input(Vec({1})).Input(Vec({0})).Input(Vec({})).Input(Vec({}));
  ASSERT_EQ(empty.Run(), OkStatus());
  EXPECT_TRUE(std::isnan(empty.Output(1).data<float>()[0]));
  EXPECT_EQ(empty.Output(3).data<float>()[0], 0);
}

TEST(FusedBatchNormTest, Gradient) {
  std::vector<float> x(8), dy(8);
  for (int i = 0; i < 8; ++i) {
    dy[i] = static_cast<float>(i);
    x[i] = static_cast<float>(i * i);
  }
  for (bool training : {true, false}) {
    OpTester t("FusedBatchNormGradV3");
    t.Attr("is_training", training);
    t.Input(MakeTensor<float>({1, 2, 2, 2}, dy));
    t.Input(MakeTensor<float>({1, 2, 2, 2}, x));
    t.Input(Vec({1, 2})).Input(Vec({1, 2})).Input(Vec({3, 4})).Input(Vec({0}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(
        t.Output(0),
        training
            ? MakeTensor<float>({1, 2, 2, 2}, {11.546370506f, 25.998947144f,
                                               -40.412517548f, -203.992370605f,
                                               -198.59854126f, -665.97491455f,
                                               -463.01171875f, -1359.9488525f})
            : MakeTensor<float>(
                  {1, 2, 2, 2},
                  {0, 0.999987483f, 1.154681325f, 2.999962330f, 2.309362650f,
                   4.999937534f, 3.464044094f, 6.999912262f}));
    ExpectClose(t.Output(1), Vec({159.346008301f, 231.997100830f}));
    ExpectClose(t.Output(2), Vec({12, 16}));
    EXPECT_EQ(t.Output(3).shape().DebugString(), "[0]");
  }
}

TEST(FusedBatchNormTest, Refusals) {
  auto run = [](const TensorShape& x, int scale, int mean, bool training) {
    OpTester t("FusedBatchNormV3");
    t.Attr("is_training", training);
    t.Input(Tensor(DT_FLOAT, x));
    t.Input(Vec(std::vector<float>(scale)));
    t.Input(Vec(std::vector<float>(2)));
    t.Input(Vec(std::vector<float>(mean)));
    t.Input(Vec(std::vector<float>(mean)));
    return t.Run();
  };
  using absl::StatusCode;
  ExpectError(run({2, 2, 2}, 2, 0, true), StatusCode::kInvalidArgument,
              "4 or 5-dimensional");
  ExpectError(run({1, 2, 2, 2}, 1, 0, true), StatusCode::kInvalidArgument,
              "scale must have the same number");
  ExpectError(run({1, 2, 2, 2}, 2, 0, false), StatusCode::kInvalidArgument,
              "When is_training=false");
}

}  // namespace
}  // namespace headrace
