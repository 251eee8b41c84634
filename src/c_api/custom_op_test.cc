// An op of a loaded library takes part in graph passes by the traits of its
// schema (tests/custom_ops/hard_swish.cc), and of its kernels
// (tests/custom_ops/plain_swish.cc has no loops).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "c_api/c_api_test_util.h"
#include "framework/kernel/op_tester.h"
#include "graph/graph_test_util.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

constexpr char kActivation[] = "TestHardSwish";

class CustomOpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    for (const char* file :
         {HEADRACE_TEST_HARD_SWISH, HEADRACE_TEST_PLAIN_SWISH}) {
      TF_Status* const s = TF_NewStatus();
      TF_Library* const library = TF_LoadLibrary(file, s);
      ASSERT_EQ(TF_GetCode(s), TF_OK) << TF_Message(s);
      TF_DeleteLibraryHandle(library);
      TF_DeleteStatus(s);
    }
  }

  Tensor Random(const TensorShape& shape) {
    Tensor t(DT_FLOAT, shape);
    std::uniform_real_distribution<float> d(-2, 2);
    for (int64_t i = 0; i < t.NumElements(); ++i) t.data<float>()[i] = d(rng_);
    return t;
  }
  Endpoint Op(const std::string& op, std::vector<Endpoint> inputs,
              AttrMap attrs = {}) {
    return {AddOp(g_.get(), g_->UniqueName(op), op, std::move(inputs),
                  std::move(attrs)),
            0};
  }
  Endpoint Weights(const TensorShape& shape) {
    return Const(g_.get(), g_->UniqueName("weights"), Random(shape));
  }
  Endpoint Feed(const TensorShape& shape) {
    const Endpoint e = Placeholder(g_.get(), g_->UniqueName("x"), DT_FLOAT,
                                   PartialTensorShape(shape));
    feeds_.emplace_back(e, Random(shape));
    return e;
  }
  Endpoint Conv(const char* op, Endpoint x, const TensorShape& filter) {
    return Op(
        op, {x, Weights(filter)},
        {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "SAME"}});
  }

  // The ops that are left of the graph when it has run.
  std::map<std::string, int> Run(Endpoint fetch, bool optimized, Tensor* out) {
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
    std::vector<Tensor> results;
    EXPECT_EQ(session->Run(options, feeds_, {fetch}, {}, &results, &metadata,
                           nullptr),
              OkStatus());
    if (results.size() == 1) *out = results[0];
    std::map<std::string, int> ops;
    for (const auto& n : metadata.partition_graphs(0).node()) ++ops[n.op()];
    for (const char* op : {"_Arg", "_Retval", "Const"}) ops.erase(op);
    return ops;
  }
  // Fused and unfused results agree; `ops` are left.
  void ExpectFused(Endpoint fetch, const std::map<std::string, int>& ops) {
    Tensor fused, plain;
    EXPECT_EQ(Run(fetch, true, &fused), ops);
    EXPECT_EQ(Run(fetch, false, &plain)[kActivation], 1);
    ExpectClose(fused, plain, 1e-4, 1e-4);
  }

  std::mt19937 rng_{42};
  std::shared_ptr<Graph> g_ = std::make_shared<Graph>();
  std::vector<Session::Feed> feeds_;
};

TEST_F(CustomOpTest, TheOpComputesWhatItsLibrarySays) {
  const Endpoint x = Feed({7, 5});
  Tensor y;
  Run(Op(kActivation, {x}), true, &y);
  const Tensor& in = feeds_[0].second;
  for (int64_t i = 0; i < in.NumElements(); ++i) {
    const float v = in.data<float>()[i];
    EXPECT_NEAR(y.data<float>()[i], v * std::min(6.f, std::max(0.f, v + 3)) / 6,
                1e-6);
  }
}

TEST_F(CustomOpTest, AnActivationOfALibraryIsFusedAfterLayers) {
  const Endpoint image = Feed({2, 9, 7, 5});
  for (const bool biased : {true, false}) {
    const auto with_bias = [&](Endpoint x, int64_t channels) {
      return biased ? Op("BiasAdd", {x, Weights({channels})}) : x;
    };
    ExpectFused(
        Op(kActivation, {with_bias(Conv("Conv2D", image, {3, 3, 5, 11}), 11)}),
        {{"_FusedConv2D", 1}});
    ExpectFused(
        Op(kActivation,
           {with_bias(Conv("DepthwiseConv2dNative", image, {3, 3, 5, 1}), 5)}),
        {{"_FusedDepthwiseConv2dNative", 1}});
  }
  const Endpoint rows = Feed({6, 20});
  ExpectFused(Op(kActivation, {Op("MatMul", {rows, Weights({20, 13})})}),
              {{"_FusedMatMul", 1}});
}

TEST_F(CustomOpTest, AnActivationOfALibraryHasAParameter) {
  const Endpoint x = Feed({6, 20});
  for (const float slope : {0.5f, -2.f}) {
    const Endpoint product = Op("MatMul", {x, Weights({20, 13})});
    const Endpoint y = Op("TestLeaky", {product}, {{"slope", slope}});
    Tensor in, fused, plain;
    Run(product, false, &in);
    EXPECT_EQ(Run(y, true, &fused),
              (std::map<std::string, int>{{"_FusedMatMul", 1}}));
    EXPECT_EQ(Run(y, false, &plain)["TestLeaky"], 1);
    ExpectClose(fused, plain, 1e-4, 1e-4);
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const float v = in.data<float>()[i];
      EXPECT_EQ(plain.data<float>()[i], v < 0 ? v * slope : v);
    }
  }
}

// Its schema says that it is an activation and element-wise; there are no loops
// that a fused node could run.
TEST_F(CustomOpTest, AnActivationWithoutLoopsIsNotFused) {
  const Endpoint image = Feed({2, 9, 7, 5}), rows = Feed({6, 20});
  const auto plain = [&](Endpoint x) { return Op("TestPlainSwish", {x}); };
  const struct {
    Endpoint fetch;
    std::map<std::string, int> ops;
  } cases[] = {
      {plain(Conv("Conv2D", image, {3, 3, 5, 11})),
       {{"Conv2D", 1}, {"TestPlainSwish", 1}}},
      {plain(Op("BiasAdd",
                {Conv("Conv2D", image, {1, 1, 5, 11}), Weights({11})})),
       {{"_FusedConv2D", 1}, {"TestPlainSwish", 1}}},
      {plain(Op("MatMul", {rows, Weights({20, 13})})),
       {{"MatMul", 1}, {"TestPlainSwish", 1}}},
      {Op("Neg", {plain(Op("Square", {rows}))}),
       {{"Square", 1}, {"TestPlainSwish", 1}, {"Neg", 1}}},
  };
  for (const auto& c : cases) {
    Tensor fused, unfused;
    EXPECT_EQ(Run(c.fetch, true, &fused), c.ops);
    Run(c.fetch, false, &unfused);
    ExpectClose(fused, unfused, 1e-4, 1e-4);
  }
}

TEST_F(CustomOpTest, AnActivationOfALibraryGoesIntoAChainOfElementwiseOps) {
  const Endpoint x = Feed({30, 41});
  const Endpoint y = Op("Neg", {Op(kActivation, {Op("Square", {x})})});
  ExpectFused(y, {{"_FusedElementwise", 1}});
}

TEST_F(CustomOpTest, AnActivationOfALibraryIsFoldedAndMerged) {
  const Endpoint x = Feed({3});
  const Endpoint folded = Op(kActivation, {Weights({3})});
  Tensor sum;
  EXPECT_EQ(Run(Op("Add", {x, folded}), true, &sum),
            (std::map<std::string, int>{{"Add", 1}}));
  const Endpoint twice =
      Op("Equal", {Op(kActivation, {x}), Op(kActivation, {x})});
  EXPECT_EQ(Run(twice, true, &sum)[kActivation], 1);
}

}  // namespace
}  // namespace headrace
