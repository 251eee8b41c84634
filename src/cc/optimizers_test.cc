// Optimizers against the losses that TensorFlow 1.15.5's gave: a matrix w and
// the rows of e that a gather takes, one of them twice.
#include "headrace/cc/optimizers.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "headrace/cc/client_session.h"
#include "headrace/cc/standard_ops.h"

namespace headrace {
namespace {

using MakeOptimizer =
    std::function<std::unique_ptr<Optimizer>(const Variable& step)>;

template <typename T, typename... Args>
MakeOptimizer Make(Args... args) {
  return [=](const Variable&) { return std::make_unique<T>(args...); };
}

struct Net {
  Variable e, w;
  Output loss;
};

Net MakeNet(const Scope& root,
            Variable::Storage storage = Variable::kReference) {
  const Variable e(root.WithOpName("e"),
                   {{0.1f, 0.2f}, {0.3f, -0.4f}, {0.5f, 0.6f}},
                   Variable::kTrainable, storage);
  const Variable w(root.WithOpName("w"), {{1.f, -1.f}, {0.5f, 0.25f}},
                   Variable::kTrainable, storage);
  const auto rows = ops::GatherV2(root, e, {0, 1, 1}, 0);
  const Output d = ops::MatMul(root, rows, w) -
                   ops::Const(root, {{1.f, 0.f}, {0.f, 1.f}, {0.5f, 0.5f}});
  return {e, w, ops::Sum(root, d * d, {0, 1})};
}

struct Case {
  const char* name;
  std::vector<float> losses;
  const char* variables;
};

const Case kCases[] = {
    {"GradientDescent",
     {3.5825f, 2.0406616f, 1.7847887f, 1.651967f, 1.533551f, 1.3809175f,
      1.1694609f, 0.90126503f, 0.62137192f, 0.40606052f},
     "e global_step w"},
    {"Momentum",
     {3.5825f, 2.0406618f, 2.0249372f, 1.977814f, 1.6273392f, 1.0737857f,
      1.1572735f, 1.199263f, 0.85833478f, 1.3706965f},
     "e e/Momentum global_step w w/Momentum"},
    {"Nesterov",
     {3.5825f, 2.1275814f, 1.5795882f, 1.1871684f, 0.40911978f, 0.63613605f,
      0.28660178f, 0.32051075f, 0.32762551f, 0.34257811f},
     "e e/Momentum global_step w w/Momentum"},
    {"Adam",
     {3.5825f, 2.6176751f, 1.9967384f, 1.6898279f, 1.6358926f, 1.6713679f,
      1.6685939f, 1.6173227f, 1.5299834f, 1.4041984f},
     "beta1_power beta2_power e e/Adam e/Adam_1 global_step w w/Adam w/Adam_1"},
    {"Adagrad",
     {3.5825f, 2.6519916f, 2.253511f, 2.025156f, 1.8813627f, 1.7846918f,
      1.7148126f, 1.6597826f, 1.6123363f, 1.56792f},
     "e e/Adagrad global_step w w/Adagrad"},
    {"AdagradDA",
     {3.5825f, 2.5454357f, 2.5070899f, 2.4778562f, 2.4495947f, 2.4199798f,
      2.3883927f, 2.356185f, 2.3209715f, 2.2837613f},
     "e e/AdagradDA e/AdagradDA_1 global_step w w/AdagradDA w/AdagradDA_1"},
    {"Adadelta",
     {3.5825f, 3.5774031f, 3.5722528f, 3.567071f, 3.5618682f, 3.5566525f,
      3.5514278f, 3.5461969f, 3.5409625f, 3.5357273f},
     "e e/Adadelta e/Adadelta_1 global_step w w/Adadelta w/Adadelta_1"},
    {"RMSProp",
     {3.5825f, 2.198092f, 1.7171091f, 1.6378582f, 1.4885565f, 1.1831384f,
      0.72996604f, 0.32674354f, 0.27685839f, 0.3143068f},
     "e e/RMSProp e/RMSProp_1 global_step w w/RMSProp w/RMSProp_1"},
    {"CenteredRMSProp",
     {3.5825f, 2.1814196f, 1.8478248f, 1.6985435f, 1.5910978f, 1.4594854f,
      1.2606375f, 0.97416896f, 0.63926852f, 0.37444663f},
     "e e/RMSProp e/RMSProp_1 e/RMSProp_2 global_step w w/RMSProp w/RMSProp_1 "
     "w/RMSProp_2"},
    {"Ftrl",
     {3.5825f, 2.7789047f, 2.5590336f, 2.3942649f, 2.2584713f, 2.1416306f,
      2.0397871f, 1.9503653f, 1.8725135f, 1.8040597f},
     "e e/Ftrl e/Ftrl_1 global_step w w/Ftrl w/Ftrl_1"},
    {"FtrlV2",
     {3.5825f, 2.7902746f, 2.5786593f, 2.428318f, 2.3088512f, 2.2079248f,
      2.119859f, 2.0418012f, 1.9720998f, 1.9095329f},
     "e e/Ftrl e/Ftrl_1 global_step w w/Ftrl w/Ftrl_1"},
    {"ProximalGradientDescent",
     {3.5825f, 2.0415158f, 1.7876246f, 1.6563455f, 1.5423194f, 1.3975142f,
      1.1973161f, 0.94041705f, 0.66415089f, 0.43932644f},
     "e global_step w"},
    {"ProximalAdagrad",
     {3.5825f, 2.6534524f, 2.2578869f, 2.0308137f, 1.887013f, 1.7898036f,
      1.7194312f, 1.6642394f, 1.6170388f, 1.5734848f},
     "e e/ProximalAdagrad global_step w w/ProximalAdagrad"},
};

MakeOptimizer MakerOf(const std::string& name) {
  const std::map<std::string, MakeOptimizer> makers = {
      {"GradientDescent", Make<GradientDescentOptimizer>(0.1)},
      {"Momentum", Make<MomentumOptimizer>(0.1, 0.9)},
      {"Nesterov", Make<MomentumOptimizer>(0.1, 0.9, true)},
      {"Adam", Make<AdamOptimizer>(0.1)},
      {"Adagrad", Make<AdagradOptimizer>(0.1)},
      {"AdagradDA",
       [](const Variable& step) {
         return std::make_unique<AdagradDAOptimizer>(0.1, step, 0.1, 0.01,
                                                     0.02);
       }},
      {"Adadelta", Make<AdadeltaOptimizer>(1.0)},
      {"RMSProp", Make<RMSPropOptimizer>(0.1, 0.9, 0.5)},
      {"CenteredRMSProp", Make<RMSPropOptimizer>(0.1, 0.9, 0.0, 1e-10, true)},
      {"Ftrl", Make<FtrlOptimizer>(0.1, -0.5, 0.1, 0.01, 0.02)},
      {"FtrlV2", Make<FtrlOptimizer>(0.1, -0.5, 0.1, 0.0, 0.0, "Ftrl", 0.1)},
      {"ProximalGradientDescent",
       Make<ProximalGradientDescentOptimizer>(0.1, 0.01, 0.02)},
      {"ProximalAdagrad",
       Make<ProximalAdagradOptimizer>(0.1, 0.1, 0.01, 0.02)}};
  return makers.at(name);
}

class StorageTest : public ::testing::TestWithParam<Variable::Storage> {};
INSTANTIATE_TEST_SUITE_P(OptimizersTest, StorageTest,
                         ::testing::Values(Variable::kReference,
                                           Variable::kResource));

TEST_P(StorageTest, LossesAndNamesAreTensorFlows) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Scope root = Scope::NewRootScope();
    const Net net = MakeNet(root, GetParam());
    const Variable step =
        MakeVariable(root, "global_step", Tensor::Scalar<int64_t>(0),
                     Variable::kNotTrainable, GetParam());
    const std::unique_ptr<Optimizer> optimizer = MakerOf(c.name)(step);
    const Operation train = optimizer->Minimize(root, net.loss, step);
    const Operation init = GlobalVariablesInitializer(root);
    std::set<std::string> names;
    for (const Variable& v : GlobalVariables(root)) names.insert(v.name());
    EXPECT_EQ(absl::StrJoin(names, " "), c.variables);
    EXPECT_EQ(train.name(), optimizer->name());
    ASSERT_TRUE(root.ok()) << root.status();

    ClientSession session(root);
    ASSERT_TRUE(session.Run({init}).ok()) << session.Run({init});
    std::vector<Tensor> out;
    for (const float wanted : c.losses) {
      ASSERT_TRUE(session.Run({net.loss}, &out).ok());
      EXPECT_NEAR(out[0].scalar<float>(), wanted, 2e-6 * (1 + wanted));
      ASSERT_TRUE(session.Run({train}).ok());
    }
    ASSERT_TRUE(session.Run({step}, &out).ok());
    EXPECT_EQ(out[0].scalar<int64_t>(), 10);
  }
}

TEST(OptimizersTest, ALearningRateMayBeATensor) {
  const Scope root = Scope::NewRootScope();
  const Variable x(root, 4.f);
  const Output rate = ops::Placeholder(root, DT_FLOAT);
  GradientDescentOptimizer optimizer(rate);
  const Operation train = optimizer.Minimize(root, x * x);
  const Operation init = GlobalVariablesInitializer(root);
  ClientSession session(root);
  ASSERT_TRUE(session.Run({init}).ok());
  std::vector<Tensor> out;
  ASSERT_TRUE(session.Run({{rate, 0.25}}, {}, {train}, nullptr).ok());
  ASSERT_TRUE(session.Run({x}, &out).ok());
  EXPECT_EQ(out[0].scalar<float>(), 2);
}

TEST(OptimizersTest, SlotsAreFound) {
  const Scope root = Scope::NewRootScope();
  const Net net = MakeNet(root);
  AdamOptimizer optimizer;
  EXPECT_TRUE(optimizer.GetSlot(net.w, "m").empty());
  optimizer.Minimize(root, net.loss);
  EXPECT_EQ(optimizer.GetSlot(net.w, "m").name(), "w/Adam");
  EXPECT_EQ(optimizer.GetSlot(net.w, "v").name(), "w/Adam_1");
  EXPECT_TRUE(optimizer.GetSlot(net.w, "x").empty());
  EXPECT_TRUE(root.ok()) << root.status();
}

TEST(OptimizersTest, WhatMakesNoSenseIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  struct Refusal {
    const char* text;
    std::function<void(const Scope&, const Net&)> build;
  };
  const auto minimize = [](auto optimizer) {
    return [optimizer](const Scope& root, const Net& net) mutable {
      optimizer.Minimize(root, net.loss);
    };
  };
  const Refusal cases[] = {
      {"Adam: learning_rate is not finite", minimize(AdamOptimizer(nan))},
      {"Momentum: momentum is not finite", minimize(MomentumOptimizer(1, nan))},
      {"initial_accumulator_value must be positive, got 0",
       minimize(AdagradOptimizer(0.1, 0))},
      {"learning_rate_power must be negative or zero",
       minimize(FtrlOptimizer(0.1, 0.5))},
      {"l1_regularization_strength must be positive or zero",
       minimize(FtrlOptimizer(0.1, -0.5, 0.1, -1))},
      {"global_step is empty", minimize(AdagradDAOptimizer(0.1, Variable()))},
      {"depends on none of the variables [e, w]",
       [](const Scope& root, const Net&) {
         GradientDescentOptimizer(0.1).Minimize(root, ops::Const(root, 1.f));
       }},
      {"ys[0] is an empty Output",
       [](const Scope& root, const Net&) {
         GradientDescentOptimizer(0.1).Minimize(root, Output());
       }},
      {"got an empty Variable", [](const Scope& root, const Net&) {
         GradientDescentOptimizer(0.1).ApplyGradients(root, {{{}, {}}});
       }}};
  for (const Refusal& c : cases) {
    const Scope root = Scope::NewRootScope();
    const Net net = MakeNet(root);
    ASSERT_TRUE(root.ok()) << root.status();
    c.build(root, net);
    EXPECT_EQ(root.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(root.status().message(), c.text))
        << root.status();
  }
  const Scope root = Scope::NewRootScope();
  EXPECT_TRUE(AdamOptimizer().Minimize(root, ops::Const(root, 1.f)).empty());
  EXPECT_TRUE(absl::StrContains(root.status().message(),
                                "the graph has no trainable variable"));
}

}  // namespace
}  // namespace headrace
