// Graphs built by Scope and the classes of ops: values, names, refusals.
#include "headrace/cc/scope.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "headrace/cc/client_session.h"
#include "headrace/cc/gradients.h"
#include "headrace/cc/standard_ops.h"
#include "headrace/cc/throwing.h"
#include "headrace/cc/variable.h"

namespace headrace {
namespace {

using ops::Const;

Tensor RunOne(const Scope& root, const Output& y,
              const ClientSession::FeedType& feeds = {}) {
  ClientSession session(root);
  std::vector<Tensor> out;
  const Status s = session.Run(feeds, {y}, &out);
  EXPECT_TRUE(s.ok()) << s;
  return s.ok() ? out[0] : Tensor();
}

std::vector<float> Floats(const Tensor& t) {
  EXPECT_EQ(t.dtype(), DT_FLOAT);
  if (t.dtype() != DT_FLOAT) return {};
  return {t.data<float>(), t.data<float>() + t.NumElements()};
}

void ExpectError(const Status& s, absl::StatusCode code,
                 absl::string_view text) {
  EXPECT_EQ(s.code(), code) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), text)) << s;
}
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ScopeTest, ArithmeticIsOneLine) {
  const Scope root = Scope::NewRootScope();
  const Output a = ops::Placeholder(root.WithOpName("a"), DT_FLOAT);
  const Output y = a * a + 1;
  EXPECT_EQ(Floats(RunOne(root, y, {{a, {1, 2, 3}}})),
            (std::vector<float>{2, 5, 10}));
  EXPECT_EQ(y.name(), "add:0");
  const Output z = (1 - a) / 2 - -a;
  EXPECT_EQ(Floats(RunOne(root, z, {{a, {1, 3}}})), (std::vector<float>{1, 2}));
  const Output whole = Const(root, {7, -7});
  const Tensor halves = RunOne(root, whole / 2);
  EXPECT_EQ(halves.data<int32_t>()[0], 3);
  EXPECT_EQ(halves.data<int32_t>()[1], -3);
}

TEST(ScopeTest, OpsHaveAttrsAndSeveralOutputs) {
  const Scope root = Scope::NewRootScope();
  const auto product =
      ops::MatMul(root, {{1.f, 2.f}}, {{3.f, 4.f}},
                  ops::MatMul::TransposeB(true).TransposeA(false));
  EXPECT_EQ(Floats(RunOne(root, product)), (std::vector<float>{11}));
  const auto top = ops::TopKV2(root, {1.f, 5.f, 3.f}, 2);
  EXPECT_EQ(Floats(RunOne(root, top.values)), (std::vector<float>{5, 3}));
  EXPECT_EQ(RunOne(root, top.indices).data<int32_t>()[0], 1);
  const auto parts = ops::Split(root, 0, {1.f, 2.f, 3.f}, 3);
  ASSERT_EQ(parts.output.size(), 3u);
  EXPECT_EQ(Floats(RunOne(root, parts[2])), (std::vector<float>{3}));
  EXPECT_TRUE(parts[3].empty());
  const auto joined = ops::ConcatV2(root, {parts[1], parts[0], parts[2]}, 0);
  EXPECT_EQ(Floats(RunOne(root, joined)), (std::vector<float>{2, 1, 3}));
  const auto sum = ops::AddN(root, parts.output);
  EXPECT_EQ(Floats(RunOne(root, sum)), (std::vector<float>{6}));
  const auto pool =
      ops::MaxPool(root, Const(root, {{{{1.f}, {2.f}}, {{3.f}, {4.f}}}}),
                   {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
  EXPECT_EQ(Floats(RunOne(root, pool)), (std::vector<float>{4}));
}

TEST(ScopeTest, NamesAreUniqueAndNested) {
  const Scope root = Scope::NewRootScope();
  const Scope layer = root.NewSubScope("layer");
  EXPECT_EQ(Const(layer.WithOpName("x", 1), 1).name(), "layer/x1:0");
  EXPECT_EQ(Const(layer.WithOpName("x", 1), 1).name(), "layer/x1_1:0");
  EXPECT_EQ(Const(root.NewSubScope("layer"), 1).name(), "layer_1/Const:0");
  EXPECT_EQ(Const(layer.NewSubScope("in"), 1).name(), "layer/in/Const:0");
  const Output x = Const(layer, 2.f);
  EXPECT_EQ((x * 3).name(), "layer/mul:0");
  EXPECT_EQ(root.FindOutput("layer/mul").name(), "layer/mul:0");
  EXPECT_TRUE(root.ok());
}

TEST(ScopeTest, DevicesControlDependenciesAndColocation) {
  const Scope root = Scope::NewRootScope();
  const auto first = ops::NoOp(root.WithOpName("first"));
  const Output x = Const(root.WithDevice("/device:CPU:0"), 1.f);
  const Output y =
      ops::Identity(root.WithControlDependencies(first).ColocateWith(x), x);
  EXPECT_EQ(x.node()->requested_device(), "/device:CPU:0");
  ASSERT_EQ(y.node()->control_inputs().size(), 1u);
  EXPECT_EQ(y.node()->control_inputs()[0]->src()->name(), "first");
  std::vector<std::string> classes;
  EXPECT_TRUE(y.node()->attrs().Get("_class", &classes).ok());
  EXPECT_EQ(classes, std::vector<std::string>{"loc:@Const"});
  EXPECT_EQ(Floats(RunOne(root, y)), (std::vector<float>{1}));
  const Output z = ops::Identity(root.ColocateWith(x).ClearColocation(), x);
  EXPECT_FALSE(z.node()->attrs().Get("_class", &classes).ok());
}

TEST(ScopeTest, ValuesTakeTheTypeThatIsWanted) {
  struct Case {
    DataType dtype;
    Input::Initializer value;
    const char* error;  // nullptr: fits
  };
  const Case cases[] = {
      {DT_FLOAT, 2, nullptr},
      {DT_FLOAT, 2.5, nullptr},
      {DT_DOUBLE, {1, 2.5}, nullptr},
      {DT_INT64, 3, nullptr},
      {DT_INT64, 3.0, nullptr},
      {DT_HALF, 1, nullptr},
      {DT_COMPLEX64, 1.5, nullptr},
      {DT_UINT8, 255, nullptr},
      {DT_UINT8, 256, "the value 256 is no uint8"},
      {DT_UINT8, -1, "is no uint8"},
      {DT_INT32, 0.5, "is no int32"},
      {DT_INT32, 1e10, "is no int32"},
      {DT_INT32, std::numeric_limits<double>::quiet_NaN(), "is no int32"},
      {DT_FLOAT, "text", nullptr},  // its own type: the op refuses it
      {DT_BOOL, 1, "a value of type int32 cannot be given where bool"},
      {DT_FLOAT, true, "a value of type bool cannot be given where float"},
      {DT_FLOAT, {{1, 2}, {3}}, "items of different shapes"},
      {DT_FLOAT, {"a", 1}, "items of different types"},
  };
  for (const Case& c : cases) {
    const Scope root = Scope::NewRootScope();
    const Output x = ops::Placeholder(root, c.dtype);
    const Output y = ops::IdentityN(root, {x})[0];
    const auto same = ops::Equal(root, y, c.value);
    if (c.value.tensor.dtype() == DT_STRING && c.error == nullptr) {
      ExpectError(root.status(), kInvalid, "Equal");
    } else if (c.error == nullptr) {
      EXPECT_TRUE(root.ok()) << root.status();
      EXPECT_EQ(same.node()->input_type(1), c.dtype);
    } else {
      ExpectError(root.status(), kInvalid, c.error);
      ExpectError(root.status(), kInvalid, "argument 'y' of Equal 'Equal'");
    }
  }
}

TEST(ScopeTest, TheFirstErrorStays) {
  const Scope root = Scope::NewRootScope();
  const Output bad = ops::MatMul(root, {1.f, 2.f}, {{1.f}});
  EXPECT_TRUE(bad.empty());
  const Status first = Status(root.status());
  ExpectError(first, kInvalid, "MatMul");
  const Output more = bad * 2 + 1;
  EXPECT_TRUE(more.empty());
  EXPECT_TRUE(ops::Identity(root.NewSubScope("x"), bad).empty());
  EXPECT_EQ(root.status(), first);
  ClientSession session(root);
  std::vector<Tensor> out;
  EXPECT_EQ(session.Run({more}, &out), first);
  EXPECT_THROW(OrThrow(session.Run({more}, &out)), StatusError);
}

TEST(ScopeTest, WhatDoesNotFitIsRefused) {
  const Scope other = Scope::NewRootScope();
  const Output foreign = Const(other, 1.f);
  struct Case {
    const char* text;
    void (*build)(const Scope& root, const Output& foreign);
  };
  const Case cases[] = {
      {"of another graph",
       [](const Scope& s, const Output& f) { ops::Identity(s, f); }},
      {"is an empty Output",
       [](const Scope& s, const Output&) { ops::Identity(s, Output()); }},
      {"not a valid name",
       [](const Scope& s, const Output&) { s.NewSubScope("a b"); }},
      {"name",
       [](const Scope& s, const Output&) { Const(s.WithOpName("a b"), 1); }},
      {"is a variable, got a value",
       [](const Scope& s, const Output&) { ops::Assign(s, 1.f, 2.f); }},
      {"got no graph",
       [](const Scope& s, const Output&) {
         s.UpdateStatus(Scope::OfGraph(nullptr).status());
       }},
      {"must be known",
       [](const Scope& s, const Output&) {
         Variable(s, ops::Placeholder(s, DT_FLOAT));
       }},
      {"empty operation",
       [](const Scope& s, const Output&) {
         s.WithControlDependencies(Operation());
       }},
      {"has 1 outputs",
       [](const Scope& s, const Output&) {
         ops::Identity(s, Output(Const(s, 1.f).op(), 7));
       }},
      {"wanted 2", [](const Scope& s, const Output&) {
         OpCall(s, "Mul").Add(1.f).Finish();
       }}};
  for (const Case& c : cases) {
    const Scope root = Scope::NewRootScope();
    c.build(root, foreign);
    ExpectError(root.status(), kInvalid, c.text);
  }
  const Scope root = Scope::NewRootScope();
  EXPECT_TRUE(OpCall(root, "NoSuchOp").Finish(0).empty());
  EXPECT_EQ(root.status().code(), absl::StatusCode::kNotFound);
}

TEST(ClientSessionTest, CallablesFeedsAndRefusals) {
  const Scope root = Scope::NewRootScope();
  const Output x = ops::Placeholder(root, DT_FLOAT), y = x + 1;
  ClientSession session(root);
  const auto callable = OrThrow(session.MakeCallable({x}, {y}));
  std::vector<Tensor> out;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(
        callable.Run({Tensor::Scalar<float>(static_cast<float>(i))}, &out)
            .ok());
    EXPECT_EQ(out[0].scalar<float>(), i + 1);
  }
  ExpectError(callable.Run({}, &out), kInvalid, "");
  EXPECT_EQ(ClientSession::Callable().Run({}, &out).code(),
            absl::StatusCode::kFailedPrecondition);
  ExpectError(session.Run({{x, "text"}}, {y}, &out), kInvalid, "");
  ExpectError(session.Run({{x, {{1}, {2, 3}}}}, {y}, &out), kInvalid,
              "(feed Placeholder:0)");
  ExpectError(session.Run({{Output(), 1}}, {y}, &out), kInvalid,
              "feed 0 is an empty Output");
  ExpectError(session.Run({Output()}, &out), kInvalid, "fetch 0 is an empty");
  const Scope other = Scope::NewRootScope();
  ExpectError(session.Run({Const(other, 1)}, &out), kInvalid,
              "belongs to another graph");
  ExpectError(ClientSession(other, std::shared_ptr<Session>()).status(),
              kInvalid, "got no session");
}

TEST(ClientSessionTest, PartialRun) {
  const Scope root = Scope::NewRootScope();
  const Output a = ops::Placeholder(root, DT_FLOAT),
               b = ops::Placeholder(root, DT_FLOAT);
  const Output first = a + 1, second = first * b;
  ClientSession session(root);
  const std::string handle =
      OrThrow(session.PRunSetup({a, b}, {first, second}));
  std::vector<Tensor> out;
  OrThrow(session.PRun(handle, {{a, 1}}, {first}, &out));
  EXPECT_EQ(out[0].scalar<float>(), 2);
  OrThrow(session.PRun(handle, {{b, 5}}, {second}, &out));
  EXPECT_EQ(out[0].scalar<float>(), 10);
}

TEST(GradientsTest, OfAnExpression) {
  const Scope root = Scope::NewRootScope();
  const Output x = Const(root, 3.f), y = x * x * x + x;
  std::vector<Output> dx;
  ASSERT_TRUE(AddSymbolicGradients(root, {y}, {x}, &dx).ok());
  EXPECT_EQ(RunOne(root, dx[0]).scalar<float>(), 28);
  std::vector<Output> ddx;
  ASSERT_TRUE(AddSymbolicGradients(root, dx, {x}, &ddx).ok());
  EXPECT_EQ(RunOne(root, ddx[0]).scalar<float>(), 18);
  ASSERT_TRUE(
      AddSymbolicGradients(root, {y}, {x}, {Const(root, 2.f)}, &dx).ok());
  EXPECT_EQ(RunOne(root, dx[0]).scalar<float>(), 56);

  const Output apart = Const(root, 1.f);
  ExpectError(AddSymbolicGradients(root, {y}, {apart}, &dx), kInvalid, "");
  ExpectError(AddSymbolicGradients(root, {Output()}, {x}, &dx), kInvalid,
              "ys[0] is an empty Output");
  ExpectError(AddSymbolicGradients(root, {y}, {x}, {x, x}, &dx), kInvalid,
              "got 2 grad_ys for 1 ys");
  EXPECT_TRUE(root.ok());
}

TEST(VariableTest, HasTheNodesOfTensorFlow) {
  const Scope root = Scope::NewRootScope();
  const Variable w(root.NewSubScope("layer").WithOpName("w"), {1.f, 2.f});
  const Variable other(root, 1, Variable::kNotTrainable);
  EXPECT_EQ(w.name(), "layer/w");
  EXPECT_EQ(w.value().name(), "layer/w/read:0");
  EXPECT_EQ(w.initializer().name(), "layer/w/Assign");
  EXPECT_EQ(other.name(), "Variable");
  EXPECT_EQ(GlobalVariables(root).size(), 2u);
  ASSERT_EQ(TrainableVariables(root).size(), 1u);
  EXPECT_EQ(TrainableVariables(root)[0].name(), "layer/w");
  const auto more = ops::AssignAdd(root, w.ref(), {10.f, 20.f});
  const Output twice = w * 2;
  const Operation init = GlobalVariablesInitializer(root);
  ClientSession session(root);
  std::vector<Tensor> out;
  EXPECT_EQ(session.Run({twice}, &out).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(session.Run({init}).ok());
  ASSERT_TRUE(session.Run(std::vector<Operation>{more}).ok());
  ASSERT_TRUE(session.Run({twice}, &out).ok());
  EXPECT_EQ(Floats(out[0]), (std::vector<float>{22, 44}));
  EXPECT_EQ(GetOrCreateGlobalStep(root).name(), "global_step");
  EXPECT_EQ(GetOrCreateGlobalStep(root).name(), "global_step");
}

}  // namespace
}  // namespace headrace
