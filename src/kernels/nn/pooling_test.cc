#include "kernels/nn/pooling.h"

#include <gtest/gtest-spi.h>

#include <algorithm>
#include <limits>

#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct PoolCase {
  const char* name;
  std::vector<int64_t> in;  // NHWC or NDHWC
  std::vector<int64_t> ksize, strides;
  const char* padding;
};

// Odd sizes, where SAME pads asymmetrically; strides that skip pixels; more
// and fewer channels than a vector; windows as large as the image.
const PoolCase kCases[] = {
    {"2x2", {2, 4, 6, 16}, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID"},
    {"same_odd", {1, 5, 7, 3}, {1, 3, 3, 1}, {1, 2, 2, 1}, "SAME"},
    {"many_channels", {2, 6, 5, 70}, {1, 3, 2, 1}, {1, 1, 2, 1}, "SAME"},
    {"skipping", {1, 7, 9, 17}, {1, 2, 2, 1}, {1, 4, 3, 1}, "SAME"},
    {"whole", {3, 4, 4, 33}, {1, 4, 4, 1}, {1, 1, 1, 1}, "VALID"},
    {"one_channel", {2, 8, 8, 1}, {1, 3, 3, 1}, {1, 1, 1, 1}, "VALID"},
    {"wide", {1, 1, 40, 20}, {1, 1, 5, 1}, {1, 1, 2, 1}, "SAME"},
    {"3d", {2, 3, 5, 4, 18}, {1, 2, 3, 2, 1}, {1, 1, 2, 2, 1}, "SAME"},
    {"3d_valid", {1, 4, 4, 4, 5}, {1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "VALID"},
};

PoolGeometry Geometry(const PoolCase& c, bool nchw) {
  PoolAttrs attrs;
  attrs.rank = static_cast<int>(c.in.size());
  attrs.op = "MaxPool";
  attrs.ksize = c.ksize;
  attrs.strides = c.strides;
  auto move = [&](std::vector<int64_t> v) {
    if (nchw) std::rotate(v.begin() + 1, v.end() - 1, v.end());
    return v;
  };
  attrs.ksize = move(c.ksize);
  attrs.strides = move(c.strides);
  attrs.format = nchw ? DataFormat::kNCHW : DataFormat::kNHWC;
  EXPECT_EQ(ParsePadding(c.padding, &attrs.padding), OkStatus());
  EXPECT_EQ(attrs.CheckWindow(), OkStatus());
  PoolGeometry g;
  EXPECT_EQ(attrs.Resolve(TensorShape(move(c.in)), &g), OkStatus()) << c.name;
  return g;
}

// Few distinct values, so that there are ties.
template <typename T>
std::vector<T> Values(int64_t n, uint32_t seed) {
  std::vector<T> v(n);
  for (T& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<T>(static_cast<float>(seed >> 28));
  }
  return v;
}

// Calls fn(output position, input position) for each element of each window.
template <typename Fn>
void ForEachPair(const PoolGeometry& g, const Fn& fn) {
  std::array<int64_t, 3> o, i, begin, end;
  for (o[0] = 0; o[0] < g.out[0]; ++o[0]) {
    for (o[1] = 0; o[1] < g.out[1]; ++o[1]) {
      for (o[2] = 0; o[2] < g.out[2]; ++o[2]) {
        for (int d = 0; d < 3; ++d) g.Range(d, o[d], &begin[d], &end[d]);
        for (i[0] = begin[0]; i[0] < end[0]; ++i[0]) {
          for (i[1] = begin[1]; i[1] < end[1]; ++i[1]) {
            for (i[2] = begin[2]; i[2] < end[2]; ++i[2]) fn(o, i);
          }
        }
      }
    }
  }
}

// Runs `fn` with a context that has a thread pool and nothing else.
template <typename Fn>
void WithContext(const Fn& fn) {
  TestDevice device;
  OpKernelContext::Params params;
  params.device = &device;
  // A kernel is needed for the number of outputs alone.
  const OpDef* op = nullptr;
  ASSERT_EQ(OpRegistry::Global()->LookUp("Relu", &op), OkStatus());
  NodeDef node;
  node.name = "n";
  node.op = "Relu";
  node.attrs.Set("T", DT_FLOAT);
  std::unique_ptr<OpKernel> kernel;
  ASSERT_EQ(
      CreateOpKernel(&device, std::make_shared<NodeDef>(node), op, &kernel),
      OkStatus());
  params.kernel = kernel.get();
  OpKernelContext ctx(&params);
  fn(&ctx);
}

template <typename T, typename Impl>
void ForwardAgrees(absl::Span<const Impl> list) {
  for (const PoolCase& c : kCases) {
    for (bool nchw : {false, true}) {
      const PoolGeometry g = Geometry(c, nchw);
      const auto in = Values<T>(g.in_shape.num_elements(), 1);
      std::vector<T> want(g.out_shape.num_elements());
      WithContext([&](OpKernelContext* ctx) {
        list.back().run(ctx, g, in.data(), want.data());
        for (const Impl& impl : list) {
          if (!impl.accepts(g)) continue;
          std::vector<T> got(want.size());
          impl.run(ctx, g, in.data(), got.data());
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_EQ(static_cast<double>(got[i]), static_cast<double>(want[i]))
                << c.name << " " << impl.name << " nchw=" << nchw << " at "
                << i;
          }
        }
      });
    }
  }
}

template <typename T, typename Impl>
void GradAgrees(absl::Span<const Impl> list) {
  for (const PoolCase& c : kCases) {
    for (bool nchw : {false, true}) {
      const PoolGeometry g = Geometry(c, nchw);
      const auto in = Values<T>(g.in_shape.num_elements(), 2);
      const auto grad = Values<T>(g.out_shape.num_elements(), 3);
      std::vector<T> want(in.size());
      WithContext([&](OpKernelContext* ctx) {
        list.back().run(ctx, g, in.data(), grad.data(), want.data());
        for (const Impl& impl : list) {
          if (!impl.accepts(g)) continue;
          std::vector<T> got(in.size());
          impl.run(ctx, g, in.data(), grad.data(), got.data());
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(static_cast<double>(got[i]),
                        static_cast<double>(want[i]), 1e-5)
                << c.name << " " << impl.name << " nchw=" << nchw << " at "
                << i;
          }
        }
      });
    }
  }
}

TEST(PoolingTest, EveryMaxImplementationAgreesWithReference) {
  ForwardAgrees<float>(MaxPoolImplementations<float>());
  ForwardAgrees<double>(MaxPoolImplementations<double>());
  ForwardAgrees<half>(MaxPoolImplementations<half>());
  ForwardAgrees<int8_t>(MaxPoolImplementations<int8_t>());
  ForwardAgrees<int64_t>(MaxPoolImplementations<int64_t>());
}
TEST(PoolingTest, EveryAverageImplementationAgreesWithReference) {
  ForwardAgrees<float>(AvgPoolImplementations<float>());
  ForwardAgrees<double>(AvgPoolImplementations<double>());
  ForwardAgrees<bfloat16>(AvgPoolImplementations<bfloat16>());
}
TEST(PoolingTest, EveryGradientImplementationAgreesWithReference) {
  GradAgrees<float>(MaxPoolGradImplementations<float>());
  GradAgrees<double>(MaxPoolGradImplementations<double>());
  GradAgrees<int32_t>(MaxPoolGradImplementations<int32_t>());
  GradAgrees<float>(AvgPoolGradImplementations<float>());
  GradAgrees<double>(AvgPoolGradImplementations<double>());
}

struct PoolTester : OpTester {
  PoolTester(const char* op, std::vector<int64_t> k, std::vector<int64_t> s,
             const char* padding)
      : OpTester(op) {
    Attr("ksize", k).Attr("strides", s).Attr("padding", padding);
  }
};
Tensor Row(const std::vector<float>& v) {
  return MakeTensor<float>({1, 1, static_cast<int64_t>(v.size()), 1}, v);
}

TEST(PoolingTest, AverageLeavesPaddingOut) {
  PoolTester t("AvgPool", {1, 1, 2, 1}, {1, 1, 1, 1}, "SAME");
  t.Input(Row({1, 2, 3}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectClose(t.Output(0), Row({1.5, 2.5, 3}));
  PoolTester grad("AvgPoolGrad", {1, 1, 2, 1}, {1, 1, 1, 1}, "SAME");
  grad.Input(MakeTensor<int32_t>({4}, {1, 1, 3, 1})).Input(Row({2, 4, 8}));
  ASSERT_EQ(grad.Run(), OkStatus());
  ExpectClose(grad.Output(0), Row({1, 3, 10}));
}

TEST(PoolingTest, NanAndTies) {
  const std::vector<float> in = {1,    kNan, 2,     -kInf, -kInf,
                                 kNan, kNan, -kInf, 3};
  PoolTester t("MaxPool", {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID");
  t.Input(Row(in));
  ASSERT_EQ(t.Run(), OkStatus());
  const float lowest = std::numeric_limits<float>::lowest();
  ExpectClose(t.Output(0), Row({1, 2, 2, lowest, lowest, lowest, lowest, 3}));
  PoolTester arg("MaxPoolWithArgmax", {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID");
  arg.Input(Row(in));
  ASSERT_EQ(arg.Run(), OkStatus());
  EXPECT_TRUE(std::isnan(arg.Output(0).data<float>()[1]));
  ExpectEqual(arg.Output(1),
              MakeTensor<int64_t>({1, 1, 8, 1}, {0, 1, 2, 3, 4, 5, 6, 8}));
  PoolTester grad("MaxPoolGrad", {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID");
  grad.Input(Row({5, 5, 5, 1})).Input(Row({5, 5, 5})).Input(Row({1, 2, 4}));
  ASSERT_EQ(grad.Run(), OkStatus());
  ExpectClose(grad.Output(0), Row({1, 2, 4, 0}));
  PoolTester grad3("MaxPool3DGrad", {1, 1, 1, 2, 1}, {1, 1, 1, 1, 1}, "VALID");
  auto row3 = [](const std::vector<float>& v) {
    return MakeTensor<float>({1, 1, 1, static_cast<int64_t>(v.size()), 1}, v);
  };
  grad3.Input(row3({5, 5, 5, 1})).Input(row3({5, 5, 5}));
  grad3.Input(row3({1, 2, 4}));
  ASSERT_EQ(grad3.Run(), OkStatus());
  ExpectClose(grad3.Output(0), row3({1, 3, 6, 0}));
}

TEST(PoolingTest, MaxPool3DGradOfTiesInBothOrders) {
  for (const PoolCase& c : kCases) {
    if (c.in.size() != 5) continue;
    for (const bool nchw : {false, true}) {
      SCOPED_TRACE(StrCat(c.name, " nchw ", nchw));
      const PoolGeometry g = Geometry(c, nchw);
      const PoolLayout &x = g.in_layout, &y = g.out_layout;
      const auto in = Values<float>(g.in_shape.num_elements(), 4);
      const auto grad = Values<float>(g.out_shape.num_elements(), 5);
      std::vector<float> max(grad.size(), -1), want(in.size());
      // Twice over all windows: the maxima, then what equals them.
      for (const bool spreads : {false, true}) {
        for (int64_t b = 0; b < g.batch; ++b) {
          for (int64_t k = 0; k < g.channels; ++k) {
            ForEachPair(g, [&](const std::array<int64_t, 3>& o,
                               const std::array<int64_t, 3>& i) {
              const int64_t out = b * y.batch + o[0] * y.plane + o[1] * y.row +
                                  o[2] * y.col + k * y.channel;
              const int64_t from = b * x.batch + i[0] * x.plane + i[1] * x.row +
                                   i[2] * x.col + k * x.channel;
              if (!spreads) max[out] = std::max(max[out], in[from]);
              if (spreads && in[from] == max[out]) want[from] += grad[out];
            });
          }
        }
      }
      auto move = [&](std::vector<int64_t> v) {
        if (nchw) std::rotate(v.begin() + 1, v.end() - 1, v.end());
        return v;
      };
      PoolTester t("MaxPool3DGrad", move(c.ksize), move(c.strides), c.padding);
      t.Attr("data_format", nchw ? "NCDHW" : "NDHWC");
      t.Input(MakeTensor<float>(g.in_shape, in));
      t.Input(MakeTensor<float>(g.out_shape, max));
      t.Input(MakeTensor<float>(g.out_shape, grad));
      ASSERT_EQ(t.Run(), OkStatus());
      ExpectClose(t.Output(0), MakeTensor<float>(g.in_shape, want));
    }
  }
}

TEST(PoolingTest, DepthExplicitAndEmpty) {
  PoolTester depth("MaxPool", {1, 1, 1, 2}, {1, 1, 1, 2}, "VALID");
  depth.Input(MakeTensor<float>({1, 1, 1, 4}, {3, 1, 2, 9}));
  ASSERT_EQ(depth.Run(), OkStatus());
  ExpectClose(depth.Output(0), MakeTensor<float>({1, 1, 1, 2}, {3, 9}));
  PoolTester padded("MaxPool", {1, 1, 2, 1}, {1, 1, 1, 1}, "EXPLICIT");
  padded.Attr("explicit_paddings", std::vector<int64_t>{0, 0, 0, 0, 1, 0, 0, 0})
      .Input(Row({1, 2}));
  ASSERT_EQ(padded.Run(), OkStatus());
  ExpectClose(padded.Output(0), Row({1, 2}));
  PoolTester empty("MaxPool", {1, 1, 4, 1}, {1, 1, 1, 1}, "VALID");
  empty.Input(Row({1, 2, 3}));
  // A window that reaches beyond the row: only the kernel takes it.
  Status s;
  EXPECT_NONFATAL_FAILURE(s = empty.Run(), "shape function says");
  ASSERT_EQ(s, OkStatus());
  EXPECT_EQ(empty.Output(0).shape().DebugString(), "[1,1,0,1]");
}

TEST(PoolingTest, Refusals) {
  using absl::StatusCode;
  struct Case {
    const char* op;
    std::vector<int64_t> k, s;
    StatusCode code;
    const char* part;
  };
  const Case cases[] = {
      {"MaxPool",
       {2, 1, 1, 1},
       {1, 1, 1, 1},
       StatusCode::kUnimplemented,
       "batch"},
      {"MaxPool",
       {1, 0, 1, 1},
       {1, 1, 1, 1},
       StatusCode::kInvalidArgument,
       "must be positive"},
      {"MaxPool",
       {1, 1, 1, 1},
       {1, 0, 1, 1},
       StatusCode::kInvalidArgument,
       "must be positive"},
      {"MaxPool",
       {1, 1, 6, 1},
       {1, 1, 1, 1},
       StatusCode::kInvalidArgument,
       "negative"},
      {"MaxPool",
       {1, 1, 1, 3},
       {1, 1, 1, 3},
       StatusCode::kUnimplemented,
       "evenly divide"},
      {"MaxPool",
       {1, 1, 2, 2},
       {1, 1, 1, 2},
       StatusCode::kUnimplemented,
       "exactly one of"},
      {"AvgPool",
       {1, 1, 1, 2},
       {1, 1, 1, 2},
       StatusCode::kUnimplemented,
       "depth"},
  };
  for (const Case& c : cases) {
    PoolTester t(c.op, c.k, c.s, "VALID");
    t.Input(MakeTensor<float>({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}));
    ExpectError(t.Run(), c.code, c.part);
  }
  PoolTester grad("MaxPoolGrad", {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID");
  grad.Input(Row({1, 2, 3})).Input(Row({1})).Input(Row({1, 2}));
  ExpectError(grad.Run(), StatusCode::kInvalidArgument, "orig_output");
  PoolTester arg("MaxPoolGradWithArgmax", {1, 1, 2, 1}, {1, 1, 1, 1}, "VALID");
  arg.Input(Row({1, 2}))
      .Input(Row({1}))
      .Input(MakeTensor<int64_t>({1, 1, 1, 1}, {7}));
  ExpectError(arg.Run(), StatusCode::kInvalidArgument, "not in [0, 2)");
}

}  // namespace
}  // namespace headrace
