// Graphs run with all graph passes and with none: the results agree, and the
// nodes that were to be fused are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "framework/kernel/op_tester.h"
#include "graph/graph_test_util.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

// Of one convolution or product in float, relative to the largest value.
constexpr double kTolerance = 2e-5;

class FusedGraphTest : public ::testing::Test {
 protected:
  Tensor Random(const TensorShape& shape, float low = -1, float high = 1) {
    Tensor t(DT_FLOAT, shape);
    std::uniform_real_distribution<float> d(low, high);
    for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = d(rng_);
    return t;
  }
  Endpoint Op(const std::string& op, std::vector<Endpoint> inputs,
              AttrMap attrs = {}) {
    return {AddOp(g_.get(), g_->UniqueName(op), op, std::move(inputs),
                  std::move(attrs)),
            0};
  }
  Endpoint Weights(const TensorShape& shape, float low = -1, float high = 1) {
    return Const(g_.get(), g_->UniqueName("weights"), Random(shape, low, high));
  }
  Endpoint Feed(const PartialTensorShape& declared, const TensorShape& shape) {
    const Endpoint e =
        Placeholder(g_.get(), g_->UniqueName("x"), DT_FLOAT, declared);
    feeds_.emplace_back(e, Random(shape));
    return e;
  }
  AttrMap ConvAttrs(int64_t stride, const std::string& padding) const {
    std::vector<int64_t> strides{1, stride, stride, 1};
    if (format_ == "NCHW") strides = {1, 1, stride, stride};
    return {
        {"strides", strides}, {"padding", padding}, {"data_format", format_}};
  }
  Endpoint Conv(Endpoint x, int64_t k, int64_t in, int64_t out,
                int64_t stride = 1, const std::string& padding = "SAME") {
    return Op("Conv2D", {x, Weights({k, k, in, out})},
              ConvAttrs(stride, padding));
  }
  Endpoint Depthwise(Endpoint x, int64_t k, int64_t in, int64_t multiplier,
                     int64_t stride = 1, const std::string& padding = "SAME") {
    return Op("DepthwiseConv2dNative", {x, Weights({k, k, in, multiplier})},
              ConvAttrs(stride, padding));
  }
  Endpoint Norm(Endpoint x, int64_t channels) {
    const TensorShape s({channels});
    return Op("FusedBatchNormV3",
              {x, Weights(s), Weights(s), Weights(s), Weights(s, 0.1f, 2)},
              {{"is_training", false}, {"data_format", format_}});
  }
  Endpoint Bias(Endpoint x, int64_t channels) {
    return Op("BiasAdd", {x, Weights({channels})}, {{"data_format", format_}});
  }
  // Batch, rows, columns and channels in the order of format_.
  template <typename Shape>
  Shape Image(int64_t n, int64_t h, int64_t w, int64_t c) const {
    return format_ == "NCHW" ? Shape({n, c, h, w}) : Shape({n, h, w, c});
  }

  // Runs with and without passes, compares, and counts the ops that are left.
  std::map<std::string, int> Compare(const std::vector<Endpoint>& fetches,
                                     double tolerance = kTolerance) {
    std::map<std::string, int> ops;
    std::vector<Tensor> results[2];
    for (const bool optimized : {false, true}) {
      pb::ConfigProto config;
      if (!optimized) {
        config.mutable_graph_options()
            ->mutable_optimizer_options()
            ->set_opt_level(pb::OptimizerOptions::L0);
      }
      std::unique_ptr<Session> session;
      EXPECT_EQ(NewDirectSession(config, g_, &session), OkStatus());
      pb::RunOptions options;
      options.set_output_partition_graphs(true);
      pb::RunMetadata metadata;
      EXPECT_EQ(session->Run(options, feeds_, fetches, {}, &results[optimized],
                             &metadata, nullptr),
                OkStatus());
      if (!optimized || results[1].size() != results[0].size()) continue;
      for (const auto& n : metadata.partition_graphs(0).node()) ++ops[n.op()];
      for (size_t i = 0; i < fetches.size(); ++i) {
        CompareTensors(results[1][i], results[0][i], tolerance);
      }
    }
    for (const char* op : {"_Arg", "_Retval", "Const"}) ops.erase(op);
    return ops;
  }
  static void CompareTensors(const Tensor& got, const Tensor& want,
                             double tolerance) {
    ASSERT_EQ(got.shape().DebugString(), want.shape().DebugString());
    if (tolerance == 0) {
      EXPECT_EQ(got.tensor_data(), want.tensor_data());
    }
    double scale = 0, difference = 0;
    for (int64_t i = 0; i < want.NumElements(); ++i) {
      const double w = want.data<float>()[i];
      scale = std::max(scale, std::abs(w));
      difference = std::max(difference, std::abs(got.data<float>()[i] - w));
    }
    EXPECT_LE(difference, tolerance * scale);
  }
  using Ops = std::map<std::string, int>;

  std::mt19937 rng_{42};
  std::string format_ = "NHWC";
  std::shared_ptr<Graph> g_ = std::make_shared<Graph>();
  std::vector<Session::Feed> feeds_;
};

class FusedImageTest : public FusedGraphTest,
                       public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { format_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Formats, FusedImageTest,
                         ::testing::Values("NHWC", "NCHW"),
                         [](const auto& info) { return info.param; });

// A residual block with a projection, of an image of any size.
TEST_P(FusedImageTest, ResidualBlock) {
  const Endpoint x = Feed(Image<PartialTensorShape>(-1, -1, -1, 8),
                          Image<TensorShape>(2, 13, 9, 8));
  const Endpoint shortcut = Norm(Conv(x, 1, 8, 16, 2), 16);
  Endpoint y = Op("Relu", {Norm(Conv(x, 1, 8, 12, 2), 12)});
  y = Op("Relu", {Norm(Conv(y, 3, 12, 12), 12)});
  y = Norm(Conv(y, 1, 12, 16), 16);
  EXPECT_EQ(Compare({Op("Relu", {Op("Add", {shortcut, y})})}),
            Ops({{"_FusedConv2D", 4}}));
}

TEST_P(FusedImageTest, DepthwiseSeparable) {
  const Endpoint x = Feed(Image<PartialTensorShape>(-1, 10, 10, 8),
                          Image<TensorShape>(2, 10, 10, 8));
  Endpoint y = Op("Relu6", {Norm(Depthwise(x, 3, 8, 2, 2), 16)});
  y = Norm(Conv(y, 1, 16, 8), 8);
  EXPECT_EQ(Compare({Op("Relu6", {y})}),
            Ops({{"_FusedDepthwiseConv2dNative", 1}, {"_FusedConv2D", 1}}));
}

TEST_P(FusedImageTest, EveryActivation) {
  for (const char* activation :
       {"Relu", "Relu6", "Elu", "LeakyRelu", "Sigmoid", "Tanh"}) {
    SCOPED_TRACE(activation);
    g_ = std::make_shared<Graph>();
    feeds_.clear();
    const Endpoint x = Feed(Image<PartialTensorShape>(-1, 6, 5, 3),
                            Image<TensorShape>(1, 6, 5, 3));
    EXPECT_EQ(Compare({Op(activation, {Bias(Conv(x, 3, 3, 5), 5)})}),
              Ops({{"_FusedConv2D", 1}}));
  }
}

TEST_P(FusedImageTest, PaddedConvolution) {
  const Endpoint x = Feed(Image<PartialTensorShape>(-1, -1, -1, 3),
                          Image<TensorShape>(2, 11, 12, 3));
  Tensor paddings(DT_INT32, TensorShape({4, 2}));
  const std::vector<int32_t> values =
      format_ == "NCHW" ? std::vector<int32_t>{0, 0, 0, 0, 3, 2, 1, 3}
                        : std::vector<int32_t>{0, 0, 3, 2, 1, 3, 0, 0};
  std::copy(values.begin(), values.end(), paddings.data<int32_t>());
  const Endpoint pad = Op("Pad", {x, Const(g_.get(), "paddings", paddings)});
  EXPECT_EQ(Compare({Op("Relu", {Bias(Conv(pad, 5, 3, 4, 2, "VALID"), 4)})}),
            Ops({{"_FusedConv2D", 1}}));
}

TEST_P(FusedImageTest, PaddedDepthwiseConvolution) {
  const Endpoint x = Feed(Image<PartialTensorShape>(-1, -1, -1, 4),
                          Image<TensorShape>(2, 11, 12, 4));
  Tensor paddings(DT_INT32, TensorShape({4, 2}));
  const std::vector<int32_t> values =
      format_ == "NCHW" ? std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 2}
                        : std::vector<int32_t>{0, 0, 0, 1, 1, 2, 0, 0};
  std::copy(values.begin(), values.end(), paddings.data<int32_t>());
  const Endpoint pad = Op("Pad", {x, Const(g_.get(), "paddings", paddings)});
  const Endpoint conv = Depthwise(pad, 3, 4, 2, 2, "VALID");
  EXPECT_EQ(Compare({Op("Relu6", {Norm(conv, 8)})}),
            Ops({{"_FusedDepthwiseConv2dNative", 1}}));
}

// Batch norm as old graphs spell it out, and Identity around every constant.
TEST_F(FusedGraphTest, DecomposedBatchNorm) {
  const Endpoint x = Feed({-1, 7, 7, 4}, {2, 7, 7, 4});
  const auto read = [&](Endpoint e) { return Op("Identity", {e}); };
  const Endpoint gamma = read(Weights({6})), beta = read(Weights({6})),
                 mean = read(Weights({6})),
                 variance = read(Weights({6}, 0.1f, 2));
  const Endpoint factor =
      Op("Mul", {Op("Rsqrt", {Op("Add", {variance, Const(g_.get(), "epsilon",
                                                         MakeScalar(1e-3f))})}),
                 gamma});
  const Endpoint conv =
      Op("Conv2D", {x, read(Weights({3, 3, 4, 6}))}, ConvAttrs(1, "SAME"));
  const Endpoint shift = Op("Sub", {beta, Op("Mul", {mean, factor})});
  const Endpoint y = Op("Add", {Op("Mul", {conv, factor}), shift});
  EXPECT_EQ(Compare({Op("Relu", {y})}), Ops({{"_FusedConv2D", 1}}));
}

// A narrow image that is widened, filtered and narrowed again, small enough for
// one convolution after the other, and larger.
TEST_F(FusedGraphTest, InvertedResiduals) {
  for (const int64_t size : {9, 60}) {
    for (const int64_t stride : {1, 2}) {
      const Endpoint x = Feed({-1, -1, -1, 16}, {2, size, size + 1, 16});
      const Endpoint wide = Op("Relu6", {Norm(Conv(x, 1, 16, 64), 64)});
      const Endpoint filtered =
          Op("Relu6", {Norm(Depthwise(wide, 3, 64, 1, stride), 64)});
      Endpoint y = Norm(Conv(filtered, 1, 64, 16), 16);
      if (stride == 1) y = Op("Add", {x, y});
      EXPECT_EQ(Compare({y}), Ops({{"_FusedConvChain", 1}}))
          << size << ", stride " << stride;
    }
  }
}

TEST_F(FusedGraphTest, SeparableConvolutions) {
  for (const int64_t size : {11, 80}) {
    Endpoint y = Feed({-1, -1, -1, 32}, {1, size, size, 32});
    for (const int64_t stride : {1, 2}) {
      y = Op("Relu", {Bias(Depthwise(y, 3, 32, 1, stride, "VALID"), 32)});
      y = Op("Relu", {Bias(Conv(y, 1, 32, 32), 32)});
    }
    EXPECT_EQ(Compare({y}), Ops({{"_FusedConvChain", 2}})) << size;
  }
}

// As Keras spells a stride of 2.
TEST_F(FusedGraphTest, PaddedSeparableConvolutions) {
  for (const int64_t size : {12, 81}) {
    Tensor paddings(DT_INT32, TensorShape({4, 2}));
    for (int i = 0; i < 8; ++i) {
      paddings.data<int32_t>()[i] = i == 3 || i == 5 ? 1 : 0;
    }
    const Endpoint x = Feed({-1, size, size, 32}, {2, size, size, 32});
    const Endpoint pad =
        Op("Pad", {x, Const(g_.get(), StrCat("paddings", size), paddings)});
    Endpoint y = Op("Relu", {Bias(Depthwise(pad, 3, 32, 1, 2, "VALID"), 32)});
    y = Op("Relu", {Bias(Conv(y, 1, 32, 48), 48)});
    EXPECT_EQ(Compare({y}), Ops({{"_FusedConvChain", 1}})) << size;
  }
}

// What is in between is fetched too.
TEST_F(FusedGraphTest, FetchedNodesKeepTheirValues) {
  const Endpoint conv = Conv(Feed({-1, 5, 5, 2}, {1, 5, 5, 2}), 3, 2, 3);
  const Endpoint norm = Norm(conv, 3);
  const Endpoint relu = Op("Relu", {norm});
  Compare({conv, norm, relu});
  Compare({norm, relu});
  Compare({conv, relu});
}

// The shortcut has a batch of 1, which the Add broadcasts.
TEST_F(FusedGraphTest, ShortcutThatBroadcasts) {
  const Endpoint x = Feed({-1, 6, 6, 4}, {3, 6, 6, 4});
  const Endpoint y = Feed({-1, 6, 6, 4}, {1, 6, 6, 4});
  const Endpoint sum =
      Op("Add", {Bias(Conv(x, 3, 4, 4), 4), Bias(Conv(y, 3, 4, 4), 4)});
  EXPECT_EQ(Compare({Op("Relu", {sum})}),
            Ops({{"_FusedConv2D", 2}, {"Add", 1}, {"Relu", 1}}));
}

TEST_F(FusedGraphTest, ErrorsNameTheNodesThatWereFused) {
  const Endpoint x = Placeholder(g_.get(), "x", DT_FLOAT);
  const Endpoint filter = Const(g_.get(), "filter", Random({3, 3, 2, 4}));
  const Endpoint conv = {
      AddOp(g_.get(), "the_conv", "Conv2D", {x, filter}, ConvAttrs(1, "SAME")),
      0};
  const Endpoint relu = Op("Relu", {Bias(conv, 4)});
  std::unique_ptr<Session> session;
  ASSERT_EQ(NewDirectSession({}, g_, &session), OkStatus());
  std::vector<Tensor> out;
  const Status s = session->Run({}, {{x, Random({1, 5, 5, 3})}}, {relu}, {},
                                &out, nullptr, nullptr);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  EXPECT_NE(s.message().find("the_conv"), absl::string_view::npos) << s;
}

TEST_F(FusedGraphTest, DenseLayers) {
  const Endpoint x = Feed({-1, 20}, {3, 20});
  const auto dense = [&](Endpoint e, int64_t in, int64_t out) {
    return Bias(Op("MatMul", {e, Weights({in, out})}), out);
  };
  const Endpoint y = Op("Relu", {dense(x, 20, 16)});
  const Endpoint scaled = Op("Mul", {dense(y, 16, 8), Weights({8})});
  EXPECT_EQ(Compare({Op("Tanh", {scaled})}),
            Ops({{"_FusedMatMul", 2}, {"_FusedElementwise", 1}}));
}

// As tf.tensordot makes them, where only the channels are known.
TEST_F(FusedGraphTest, DenseLayersOfMoreDims) {
  const auto ints = [&](const std::vector<int32_t>& v) {
    return Const(g_.get(), g_->UniqueName("ints"), Tensor::Vector<int32_t>(v));
  };
  const Endpoint zero = Const(g_.get(), "zero", Tensor::Scalar<int32_t>(0));
  const auto dense = [&](Endpoint x, int64_t in, int64_t out) {
    const Endpoint shape = Op("Shape", {x});
    const Endpoint kept = Op("GatherV2", {shape, ints({0, 1}), zero});
    const Endpoint contracted = Op("GatherV2", {shape, ints({2}), zero});
    const Endpoint rows = Op("Pack", {Op("Prod", {kept, ints({0})}),
                                      Op("Prod", {contracted, ints({0})})});
    const Endpoint order = Op("ConcatV2", {ints({0, 1}), ints({2}), zero});
    const Endpoint matrix = Op("Reshape", {Op("Transpose", {x, order}), rows});
    return Op("Reshape", {Op("MatMul", {matrix, Weights({in, out})}),
                          Op("ConcatV2",
                             {kept, ints({static_cast<int32_t>(out)}), zero})});
  };
  const Endpoint x = Feed({-1, -1, 20}, {3, 15, 20});
  const Endpoint y = Op("Relu", {Bias(dense(x, 20, 80), 80)});
  EXPECT_EQ(Compare({Op("Tanh", {dense(y, 80, 8)})}),
            Ops({{"_FusedBatchMatMul", 2}}));
}

TEST_F(FusedGraphTest, ProductsOfTransposedMatrices) {
  const Endpoint order =
      Const(g_.get(), "order", Tensor::Vector<int32_t>({0, 1, 3, 2}));
  const Endpoint x = Feed({-1, 2, 5, 20}, {3, 2, 5, 20});
  const Endpoint y = Feed({-1, 2, 7, 20}, {3, 2, 7, 20});
  EXPECT_EQ(
      Compare({Op("BatchMatMulV2", {x, Op("Transpose", {y, order})}),
               Op("BatchMatMulV2",
                  {Op("Transpose", {x, order}), Op("Transpose", {y, order})},
                  {{"adj_x", true}})}),
      Ops({{"BatchMatMulV2", 2}, {"Transpose", 1}}));
}

// Images cut into phases, with a bias before they are put together and one
// after. `causal` pads at the begin alone.
TEST_F(FusedGraphTest, DilatedConvolutions) {
  const auto ints = [&](const TensorShape& shape,
                        const std::vector<int32_t>& v) {
    return Const(g_.get(), g_->UniqueName("ints"),
                 MakeTensor<int32_t>(shape, v));
  };
  const Endpoint image = Feed({-1, 12, 10, 6}, {2, 12, 10, 6});
  for (const bool depthwise : {false, true}) {
    SCOPED_TRACE(depthwise);
    const Endpoint block = ints({2}, {2, 3});
    // 12 + 4 rows, 10 + 8 columns; one row and two columns are cropped.
    const Endpoint phases =
        Op("SpaceToBatchND", {image, block, ints({2, 2}, {2, 2, 3, 5})});
    const Endpoint conv = depthwise ? Depthwise(phases, 3, 6, 1, 1, "VALID")
                                    : Conv(phases, 3, 6, 5, 1, "VALID");
    const int64_t channels = depthwise ? 6 : 5;
    const Endpoint whole = Op("BatchToSpaceND", {Bias(conv, channels), block,
                                                 ints({2, 2}, {0, 1, 0, 2})});
    EXPECT_EQ(
        Compare({Op("Relu", {whole})}),
        Ops({{depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D", 1}}));
  }
  const Endpoint signal = Feed({-1, 20, 6}, {2, 20, 6});
  const Endpoint one = ints({}, {1});
  for (const int32_t rate : {1, 2, 4}) {
    SCOPED_TRACE(rate);
    Endpoint x = Op("Pad", {signal, ints({3, 2}, {0, 0, 2 * rate, 0, 0, 0})});
    const Endpoint block = ints({1}, {rate});
    const int32_t rest = (20 + 2 * rate) % rate;
    EXPECT_EQ(rest, 0);
    if (rate > 1) {
      x = Op("SpaceToBatchND", {x, block, ints({1, 2}, {0, 0})});
    }
    Endpoint y =
        Op("Conv2D", {Op("ExpandDims", {x, one}), Weights({1, 3, 6, 8})},
           ConvAttrs(1, "VALID"));
    y = Op("Squeeze", {y}, {{"squeeze_dims", std::vector<int64_t>{1}}});
    if (rate > 1) {
      y = Op("BatchToSpaceND", {y, block, ints({1, 2}, {0, 0})});
    }
    EXPECT_EQ(Compare({Op("Softsign", {y})}), Ops({{"ExpandDims", 1},
                                                   {"Conv2D", 1},
                                                   {"Squeeze", 1},
                                                   {"Softsign", 1}}));
  }
}

TEST_F(FusedGraphTest, ActivationsAfterLayersWithoutABias) {
  for (const char* op :
       {"Relu", "Relu6", "Elu", "LeakyRelu", "Sigmoid", "Tanh"}) {
    SCOPED_TRACE(op);
    for (const int64_t batch : {1, 5}) {
      const Endpoint x = Feed({-1, 20}, {batch, 20});
      EXPECT_EQ(Compare({Op(op, {Op("MatMul", {x, Weights({20, 12})})})}),
                Ops({{"_FusedMatMul", 1}}));
      const Endpoint image = Feed({-1, 6, 7, 3}, {batch, 6, 7, 3});
      EXPECT_EQ(Compare({Op(op, {Conv(image, 3, 3, 5)})}),
                Ops({{"_FusedConv2D", 1}}));
      EXPECT_EQ(Compare({Op(op, {Depthwise(image, 3, 3, 2)})}),
                Ops({{"_FusedDepthwiseConv2dNative", 1}}));
    }
  }
}

// Every op that may stand in a chain, over tensors that are not made of whole
// blocks, keeps every bit.
TEST_F(FusedGraphTest, ElementwiseChainsKeepEveryBit) {
  int found = 0;
  for (const OpDef* alone : OpRegistry::Global()->All()) {
    if (alone->traits->elementwise == Elementwise::kNo) continue;
    const std::string& op = alone->name;
    SCOPED_TRACE(op);
    ++found;
    for (const TensorShape& shape :
         {TensorShape({3, 1025}), TensorShape({7, 30, 31}), TensorShape({0, 5}),
          TensorShape({1, 2})}) {
      g_ = std::make_shared<Graph>();
      feeds_.clear();
      const int64_t last = shape.dim_size(shape.dims() - 1);
      DimVector open(shape.dim_sizes().begin(), shape.dim_sizes().end());
      open[0] = -1;
      const Endpoint x = Feed(PartialTensorShape(open), shape);
      Endpoint y = Op("Square", {x});
      if (alone->inputs.size() == 1) {
        y = Op(op, {y});
      } else {
        y = Op(op, {y, Weights({last}, 0.5, 1)});
        y = Op(op, {Weights({}, 0.5, 1), y});
        y = Op(op, {y, x});
      }
      EXPECT_EQ(Compare({Op("Neg", {y})}, 0), Ops({{"_FusedElementwise", 1}}));
    }
  }
  EXPECT_GE(found, 40);
}

// Two layers over four words, as BasicLSTMCell spells them out. The first state
// has one row for the whole batch.
TEST_F(FusedGraphTest, UnrolledLstm) {
  for (const int64_t batch : {1, 3}) {
    SCOPED_TRACE(batch);
    g_ = std::make_shared<Graph>();
    feeds_.clear();
    constexpr int64_t kCells = 20;
    const Endpoint axis = Const(g_.get(), "axis", Tensor::Scalar<int32_t>(1));
    const Endpoint one = Const(g_.get(), "one", Tensor::Scalar<float>(1));
    std::vector<Endpoint> x, fetches;
    for (int t = 0; t < 4; ++t) {
      x.push_back(Feed({-1, kCells}, TensorShape({batch, kCells})));
    }
    for (int layer = 0; layer < 2; ++layer) {
      const Endpoint w = Weights({2 * kCells, 4 * kCells}),
                     b = Weights({4 * kCells});
      Endpoint cs = Feed({-1, kCells}, TensorShape({1, kCells}));
      Endpoint h = Feed({-1, kCells}, TensorShape({batch, kCells}));
      for (Endpoint& e : x) {
        const Endpoint gates =
            Op("BiasAdd", {Op("MatMul", {Op("ConcatV2", {e, h, axis}), w}), b});
        const Node* split = Op("Split", {axis, gates}, {{"num_split", 4}}).node;
        const auto gate = [&](int i) {
          return Endpoint{const_cast<Node*>(split), i};
        };
        cs = Op("Add",
                {Op("Mul", {cs, Op("Sigmoid", {Op("Add", {gate(2), one})})}),
                 Op("Mul", {Op("Sigmoid", {gate(0)}), Op("Tanh", {gate(1)})})});
        h = Op("Mul", {Op("Tanh", {cs}), Op("Sigmoid", {gate(3)})});
        e = h;
      }
      fetches.insert(fetches.end(), {cs, h});
    }
    EXPECT_EQ(Compare(fetches), Ops({{"_FusedLSTM", 2}}));
  }
}

TEST_F(FusedGraphTest, TracesNameTheNodesOfAChain) {
  const Endpoint x = Feed({-1, 4}, {2, 4});
  const Node* neg = AddOp(g_.get(), "first", "Neg", {x});
  const Node* exp =
      AddOp(g_.get(), "second", "Exp", {{const_cast<Node*>(neg), 0}});
  std::unique_ptr<Session> session;
  ASSERT_EQ(NewDirectSession({}, g_, &session), OkStatus());
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  pb::RunMetadata metadata;
  std::vector<Tensor> out;
  ASSERT_EQ(session->Run(options, feeds_, {{const_cast<Node*>(exp), 0}}, {},
                         &out, &metadata, nullptr),
            OkStatus());
  std::string labels;
  for (const auto& n : metadata.step_stats().dev_stats(0).node_stats()) {
    StrAppend(&labels, n.node_name(), ": ", n.timeline_label(), "\n");
  }
  EXPECT_NE(labels.find("second: FusedElementwiseOp (first, second)\n"),
            std::string::npos)
      << labels;
}

}  // namespace
}  // namespace headrace
