#include "session/direct_session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/error_cause.h"
#include "framework/kernel/op_tester.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "runtime/passes/graph_pass.h"

namespace headrace {
namespace {

// Fails with a message and code of the test's choice.
REGISTER_OP("TestFail")
    .Input("x: float")
    .Output("y: float")
    .Attr("message: string")
    .Attr("code: int = 15")  // DATA_LOSS
    .SetShapeFn(shape_inference::UnchangedShape);
class TestFailOp : public OpKernel {
 public:
  explicit TestFailOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message", &message_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("code", &code_));
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(Status(static_cast<absl::StatusCode>(code_), message_));
  }

 private:
  std::string message_;
  int64_t code_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("TestFail").Device(DEVICE_CPU), TestFailOp);

// Finishes only when the step is cancelled.
REGISTER_OP("TestWait")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
std::atomic<int> waiting{0};
class TestWaitOp : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    CancellationManager* c = ctx->cancellation_manager();
    if (!c->RegisterCallback(c->NextToken(), [ctx, done] {
          --waiting;
          ctx->CtxFailure(errors::Cancelled("TestWait was cancelled"));
          done();
        })) {
      ctx->CtxFailure(errors::Cancelled("TestWait came too late"));
      done();
      return;
    }
    ++waiting;
  }
};
REGISTER_KERNEL_BUILDER(Name("TestWait").Device(DEVICE_CPU), TestWaitOp);

// Counts how often it runs.
REGISTER_OP("TestCount")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
std::atomic<int> counted{0};
class TestCountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++counted;
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("TestCount").Device(DEVICE_CPU), TestCountOp);

// Cancels the step that it runs in.
REGISTER_OP("TestCancel")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
class TestCancelOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->cancellation_manager()->StartCancel(
        errors::Cancelled("by TestCancel"));
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("TestCancel").Device(DEVICE_CPU), TestCancelOp);

class SessionTest : public ::testing::Test {
 protected:
  Endpoint Add(const std::string& name, const std::string& op,
               std::vector<Endpoint> inputs, AttrMap attrs = {},
               const std::string& device = "",
               std::vector<Node*> control = {}) {
    NodeDef def;
    def.name = name;
    def.op = op;
    def.device = device;
    def.attrs = std::move(attrs);
    MutexLock lock(&graph_->mu());
    auto n = graph_->AddNode(std::move(def), inputs, control);
    EXPECT_TRUE(n.ok()) << n.status();
    return {n.ok() ? *n : nullptr, 0};
  }
  Endpoint Const(const std::string& name, Tensor value) {
    const DataType t = value.dtype();
    return Add(name, "Const", {}, {{"dtype", t}, {"value", std::move(value)}});
  }
  Endpoint Placeholder(const std::string& name, PartialTensorShape shape = {}) {
    return Add(name, "Placeholder", {},
               {{"dtype", DT_FLOAT}, {"shape", std::move(shape)}});
  }
  void Start(const pb::ConfigProto& config = {}) {
    ASSERT_EQ(MoveTo(NewSession(config, "", graph_), &session_), OkStatus());
  }
  Status Run(std::vector<Session::Feed> feeds, std::vector<Endpoint> fetches,
             std::vector<Tensor>* out = nullptr,
             std::vector<Node*> targets = {},
             const pb::RunOptions& options = {},
             pb::RunMetadata* metadata = nullptr,
             CancellationManager* cancellation = nullptr) {
    return session_->Run(options, feeds, fetches, targets, out, metadata,
                         cancellation);
  }
  static Tensor F(float v) { return Tensor::Scalar<float>(v); }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, ComputesWhatIsFetchedFromWhatIsFed) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "AddV2", {x, Const("c", F(2))});
  const Endpoint z = Add("z", "Mul", {y, y});
  Start();
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{x, F(3)}}, {z, y, z}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 25);
  EXPECT_EQ(out[1].scalar<float>(), 5);
  EXPECT_EQ(out[2].scalar<float>(), 25);  // one tensor may be fetched twice
  // An intermediate tensor can be fed; its producer is then not needed.
  ASSERT_EQ(Run({{y, F(4)}}, {z}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 16);
}

TEST_F(SessionTest, FeedsAreNotWritten) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "Neg", {x});
  Start();
  const Tensor fed(DT_FLOAT, TensorShape({64}));
  std::fill_n(const_cast<Tensor&>(fed).data<float>(), 64, 1.f);
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{x, fed}}, {y}, &out), OkStatus());
  EXPECT_EQ(out[0].data<float>()[0], -1);
  EXPECT_EQ(fed.data<float>()[0], 1);
}

// Whoever reads a feed finds it, also a Merge, a node that waits for another
// and a fetch that hands it on; the next run finds the next one.
TEST_F(SessionTest, AllReadersFindAFeed) {
  const Endpoint x = Placeholder("x", TensorShape({64}));
  const Endpoint p = Add("p", "Placeholder", {}, {{"dtype", DT_BOOL}});
  const Endpoint on = Add("on", "Switch", {x, p});
  const Endpoint merged = Add("merged", "Merge", {x, on}, {{"N", 2}});
  const Endpoint copy = Add("copy", "Identity", {x});
  const Endpoint minus = Add("minus", "Neg", {copy}, {}, "", {on.node});
  const Endpoint twice = Add("twice", "AddV2", {x, copy});
  Start();
  const Tensor yes = Tensor::Scalar(true);
  for (const float v : {1.f, 2.f}) {
    Tensor fed(DT_FLOAT, TensorShape({64}));
    std::fill_n(fed.data<float>(), 64, v);
    std::vector<Tensor> out;
    // Output 0 of the Switch is dead, so x alone arrives at the Merge.
    ASSERT_EQ(Run({{x, std::move(fed)}, {p, yes}}, {merged, minus, twice, copy},
                  &out),
              OkStatus());
    EXPECT_EQ(out[0].data<float>()[63], v);
    EXPECT_EQ(out[1].data<float>()[63], -v);
    EXPECT_EQ(out[2].data<float>()[63], 2 * v);
    EXPECT_EQ(out[3].data<float>()[63], v);
  }
}

TEST_F(SessionTest, ConstantsAreNotWritten) {
  Tensor big(DT_FLOAT, TensorShape({64}));
  std::fill_n(big.data<float>(), 64, 1.f);
  const Endpoint c = Const("c", big);
  big = Tensor();  // the graph holds it alone
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "AddV2", {c, x});
  Start();
  for (int i = 0; i < 3; ++i) {
    std::vector<Tensor> out;
    ASSERT_EQ(Run({{x, F(1)}}, {y}, &out), OkStatus());
    EXPECT_EQ(out[0].data<float>()[0], 2);
  }
}

TEST_F(SessionTest, RefusesWhatMakesNoSense) {
  const Endpoint x = Placeholder("x", PartialTensorShape({2}));
  const Endpoint y = Add("y", "Neg", {x});
  Start();
  const Tensor two = MakeTensor<float>({2}, {1, 2});
  std::vector<Tensor> out;
  using absl::StatusCode;
  ExpectError(Run({}, {}), StatusCode::kInvalidArgument,
              "Must specify at least one target");
  ExpectError(Run({}, {y}, &out), StatusCode::kInvalidArgument,
              "You must feed a value for placeholder tensor 'x' with dtype "
              "float and shape [2]");
  ExpectError(Run({{x, MakeTensor<int32_t>({2}, {1, 2})}}, {y}, &out),
              StatusCode::kInvalidArgument, "'x:0', which has type float");
  ExpectError(Run({{x, two}, {x, two}}, {y}, &out),
              StatusCode::kInvalidArgument, "fed more than once");
  ExpectError(Run({{y, two}}, {y}, &out), StatusCode::kInvalidArgument,
              "both fed and fetched");
  ExpectError(session_->Run({}, {"nobody:0"}, {}, &out), StatusCode::kNotFound,
              "FetchOutputs node nobody:0: not found");
  ExpectError(session_->Run({{"nobody", two}}, {"y"}, {}, &out),
              StatusCode::kNotFound, "FeedInputs node nobody: not found");
  ExpectError(session_->Run({}, {"y:7"}, {}, &out),
              StatusCode::kInvalidArgument, "y:7");
  ASSERT_EQ(Run({{x, two}}, {y}, &out), OkStatus());  // nothing was lost
}

// What passes and plans concluded from the static shapes must not hold for a
// feed that has another.
TEST_F(SessionTest, AFeedOfAnotherShapeThanTheStaticOneIsComputedByItsOwn) {
  const PartialTensorShape shape({2, 3});
  const Endpoint x = Placeholder("x", shape);
  const Endpoint size = Add("size", "Shape", {x});
  // No operation for [2, 3] alone.
  const Endpoint reshaped =
      Add("reshaped", "Reshape",
          {x, Const("to", MakeTensor<int32_t>({2}, {2, 3}))});
  Endpoint chain = reshaped;
  for (int i = 0; i < 4; ++i) {
    chain = Add(absl::StrCat("add", i), "AddV2", {chain, reshaped});
  }
  const Endpoint rows = Add("rows", "Neg", {x});
  Start();
  const std::vector<Endpoint> fetches = {size, chain, rows};
  const Tensor as_said = MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor other = MakeTensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor more = MakeTensor<float>({1, 6, 1}, {1, 2, 3, 4, 5, 6});
  auto prepared = session_->Prepare({x}, fetches, {});
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  for (int i = 0; i < 4; ++i) {
    for (const Tensor& t : {as_said, other, more}) {
      for (const bool by_callable : {false, true}) {
        std::vector<Tensor> out;
        ASSERT_EQ(by_callable ? session_->RunPrepared(**prepared, {}, {t}, &out)
                              : Run({{x, t}}, fetches, &out),
                  OkStatus());
        ASSERT_EQ(out[0].NumElements(), t.dims());
        EXPECT_EQ(out[0].data<int32_t>()[0], t.dim_size(0));
        EXPECT_EQ(out[1].shape(), as_said.shape());
        EXPECT_EQ(out[1].data<float>()[5], 30);
        EXPECT_EQ(out[2].shape(), t.shape());
        EXPECT_EQ(out[2].data<float>()[4], -5);
      }
    }
  }
  // One that the reshape cannot take is its own error.
  std::vector<Tensor> out;
  ExpectError(Run({{x, MakeTensor<float>({3}, {1, 2, 3})}}, fetches, &out),
              absl::StatusCode::kInvalidArgument, "reshaped");
  // What stands in the middle of the graph may be fed so, too.
  ASSERT_EQ(Run({{reshaped, more}}, {chain}, &out), OkStatus());
  EXPECT_EQ(out[0].shape(), more.shape());
  EXPECT_EQ(out[0].data<float>()[5], 30);

  std::string handle;
  ASSERT_EQ(MoveTo(session_->PRunSetup({x}, {rows}, {}), &handle), OkStatus());
  ASSERT_EQ(session_->PRun(handle, {}, {{x, other}}, {rows}, &out), OkStatus());
  EXPECT_EQ(out[0].shape(), other.shape());
}

// A shape function refuses the window, TensorFlow's kernels do not: neither
// does a memory budget.
TEST_F(SessionTest, ABudgetIsNoReasonToRefuseAShapeThatAKernelTakes) {
  const Endpoint x = Placeholder("x", PartialTensorShape::UnknownRank());
  const std::vector<int64_t> window = {1, 3, 1, 1}, strides = {1, 1, 1, 1};
  const Endpoint y =
      Add("y", "MaxPool", {x},
          {{"ksize", window}, {"strides", strides}, {"padding", "VALID"}});
  Start();
  pb::RunOptions options;
  for (const int64_t budget : {0, 1 << 20}) {
    options.mutable_headrace()->set_memory_budget_bytes(budget);
    std::vector<Tensor> out;
    ASSERT_EQ(Run({{x, MakeTensor<float>({1, 2, 1, 1}, {1, 2})}}, {y}, &out, {},
                  options),
              OkStatus());
    EXPECT_EQ(out[0].shape(), TensorShape({1, 0, 1, 1}));
  }
}

// Tensors large enough for an arena, and a loop over what is fed.
TEST_F(SessionTest, MemoryIsPlannedForTheShapeThatIsFed) {
  const Endpoint x = Placeholder("x", PartialTensorShape({8, 8}));
  Endpoint y = x;
  for (int i = 0; i < 6; ++i) {
    y = Add(absl::StrCat("y", i), "MatMul", {y, x});
    y = Add(absl::StrCat("z", i), "Relu", {y});
  }
  Start();
  for (const int64_t n : {8, 96, 8, 64, 96, 1}) {
    Tensor t(DT_FLOAT, TensorShape({n, n}));
    std::fill_n(t.data<float>(), n * n, 1.f / static_cast<float>(n));
    for (int i = 0; i < 4; ++i) {
      std::vector<Tensor> out;
      ASSERT_EQ(Run({{x, t}}, {y}, &out), OkStatus());
      ASSERT_EQ(out[0].shape(), t.shape());
      EXPECT_NEAR(out[0].data<float>()[n * n - 1], 1.f / static_cast<float>(n),
                  1e-5);
    }
  }
}

TEST_F(SessionTest, TheFirstErrorWinsAndNamesNodeAndSource) {
  const Endpoint x = Placeholder("x");
  NodeDef def;
  def.name = "bad";
  def.op = "TestFail";
  def.source = "train.py:12 in main";
  def.attrs.Set("message", "no luck");
  auto bad = graph_->AddNode(def, {x});
  ASSERT_TRUE(bad.ok());
  const Endpoint y = Add("y", "Neg", {{*bad, 0}});
  Start();
  std::vector<Tensor> out{F(1)};
  const Status s = Run({{x, F(1)}}, {y}, &out);
  ExpectError(s, absl::StatusCode::kDataLoss, "no luck");
  ExpectError(s, absl::StatusCode::kDataLoss, "bad");
  ExpectError(s, absl::StatusCode::kDataLoss, "train.py:12");
  EXPECT_EQ(out.size(), 1);  // untouched
  ASSERT_EQ(Run({{x, F(1)}}, {}, &out, {x.node}), OkStatus());
}

TEST_F(SessionTest, MissingKernelIsReportedAtRun) {
  const Endpoint x = Placeholder("x");
  NodeDef def;
  def.name = "y";
  def.op = "Reciprocal";
  Endpoint i = Add("i", "Cast", {x}, {{"DstT", DT_INT32}});
  auto y = graph_->AddNode(def, {i});
  if (!y.ok()) GTEST_SUCCEED();
  if (y.ok()) {
    Start();
    std::vector<Tensor> out;
    ExpectError(Run({{x, F(1)}}, {{*y, 0}}, &out),
                absl::StatusCode::kInvalidArgument, "No OpKernel");
  }
}

TEST_F(SessionTest, TargetsRunAndUnneededNodesDoNot) {
  const Endpoint x = Placeholder("x");
  const Endpoint needed = Add("needed", "TestCount", {x});
  Add("unneeded", "TestCount", {x});
  Start();
  counted = 0;
  ASSERT_EQ(Run({{x, F(1)}}, {}, nullptr, {needed.node}), OkStatus());
  EXPECT_EQ(counted, 1);
}

TEST_F(SessionTest, ControlEdgesOrder) {
  const Endpoint x = Placeholder("x");
  const Endpoint first = Add("first", "TestCount", {x});
  const Endpoint c =
      Add("c", "Const", {}, {{"dtype", DT_FLOAT}, {"value", F(7)}}, "",
          {first.node});
  Start();
  counted = 0;
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{x, F(1)}}, {c}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 7);
  EXPECT_EQ(counted, 1);
}

TEST_F(SessionTest, NodesAddedLaterAreSeen) {
  const Endpoint x = Placeholder("x");
  Endpoint y = Add("y0", "Neg", {x});
  Start();
  for (int i = 1; i < 20; ++i) {
    std::vector<Tensor> out;
    ASSERT_EQ(Run({{x, F(1)}}, {y}, &out), OkStatus());
    EXPECT_EQ(out[0].scalar<float>(), i % 2 ? -1 : 1);
    y = Add(absl::StrCat("y", i), "Neg", {y});
  }
}

TEST_F(SessionTest, SeveralDevicesExchangeOneCopyOfATensor) {
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 3;
  const Endpoint x = Placeholder("x");
  const Endpoint a = Add("a", "Neg", {x}, {}, "/cpu:0");
  const Endpoint b = Add("b", "AddV2", {a, a}, {}, "/cpu:1");
  const Endpoint c = Add("c", "Mul", {a, b}, {}, "/cpu:1");
  const Endpoint d = Add("d", "AddV2", {c, a}, {}, "/cpu:2");
  Start(config);
  EXPECT_EQ(session_->ListDevices().size(), 3);
  pb::RunOptions options;
  options.set_output_partition_graphs(true);
  pb::RunMetadata metadata;
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{x, F(-3)}}, {d}, &out, {}, options, &metadata), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 21);
  ASSERT_EQ(metadata.partition_graphs_size(), 3);
  for (const pb::GraphDef& g : metadata.partition_graphs()) {
    int receives = 0;
    for (const pb::NodeDef& n : g.node()) receives += n.op() == "_Recv";
    EXPECT_LE(receives, g.node(0).device().ends_with("CPU:2") ? 2 : 1)
        << g.DebugString();
  }
}

TEST_F(SessionTest, AFailureOnOneDeviceEndsTheOthers) {
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  const Endpoint x = Placeholder("x");
  const Endpoint bad =
      Add("bad", "TestFail", {x}, {{"message", "broken"}}, "/cpu:1");
  const Endpoint y = Add("y", "Neg", {bad}, {}, "/cpu:0");
  Start(config);
  for (int i = 0; i < 50; ++i) {
    std::vector<Tensor> out;
    ExpectError(Run({{x, F(1)}}, {y}, &out), absl::StatusCode::kDataLoss,
                "broken");
  }
}

TEST_F(SessionTest, PlacementFollowsRequestsOrSaysWhyNot) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "Neg", {x}, {}, "/gpu:0");
  std::vector<Tensor> out;
  Start();
  ExpectError(Run({{x, F(1)}}, {y}, &out), absl::StatusCode::kInvalidArgument,
              "Cannot assign a device for operation y");
  pb::ConfigProto soft;
  soft.set_allow_soft_placement(true);
  Start(soft);
  ASSERT_EQ(Run({{x, F(1)}}, {y}, &out), OkStatus());
}

TEST_F(SessionTest, PassesCanBeSwitchedOff) {
  const Endpoint c = Add("c", "AddV2", {Const("a", F(1)), Const("b", F(2))});
  const Endpoint x = Placeholder("x");
  const Endpoint p = Add("p", "Mul", {x, c});
  const Endpoint q = Add("q", "Mul", {x, c});
  const Endpoint y = Add("y", "AddV2", {p, q});
  pb::RunMetadata metadata;
  auto nodes = [&](const pb::ConfigProto& config) {
    Start(config);
    pb::RunOptions options;
    options.set_output_partition_graphs(true);
    std::vector<Tensor> out;
    EXPECT_EQ(Run({{x, F(5)}}, {y}, &out, {}, options, &metadata), OkStatus());
    EXPECT_EQ(out[0].scalar<float>(), 30);
    return metadata.partition_graphs(0).node_size();
  };
  pb::ConfigProto all_on, no_folding, no_cse, none;
  auto* r = no_folding.mutable_graph_options()->mutable_rewrite_options();
  r->set_constant_folding(pb::RewriterConfig::OFF);
  r = no_cse.mutable_graph_options()->mutable_rewrite_options();
  r->set_common_subgraph_elimination(pb::RewriterConfig::OFF);
  none.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
      pb::OptimizerOptions::L0);
  EXPECT_EQ(nodes(all_on), 5);      // arg, constant, one Mul, AddV2, retval
  EXPECT_EQ(nodes(no_folding), 7);  // two constants and their sum
  EXPECT_EQ(nodes(no_cse), 6);      // two Muls
  EXPECT_EQ(nodes(none), 8);

  pb::ConfigProto by_name;
  by_name.mutable_headrace()->add_disabled_passes("cse");
  EXPECT_EQ(nodes(by_name), 6);
  std::map<std::string, int> done;
  for (const pb::GraphPassReport& p : metadata.headrace_passes()) {
    done[p.name()] = p.off() ? -1 : p.changes();
  }
  EXPECT_EQ(done.size(), GraphPasses().size());
  EXPECT_EQ(done["cse"], -1);
  EXPECT_EQ(done["constant_folding"], 1);
  EXPECT_EQ(done["fuse_conv"], 0);
  by_name.mutable_headrace()->add_disabled_passes("csee");
  std::unique_ptr<Session> session;
  const Status s = MoveTo(NewSession(by_name, "", graph_), &session);
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
  EXPECT_NE(s.message().find("disabled_passes: no graph pass 'csee'"),
            absl::string_view::npos)
      << s;
}

TEST_F(SessionTest, ATracedRunTellsKernelsAndTimes) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "Neg", {x});
  Start();
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  pb::RunMetadata metadata;
  std::vector<Tensor> out;
  ASSERT_EQ(Run({{x, F(1)}}, {y}, &out, {}, options, &metadata), OkStatus());
  ASSERT_EQ(metadata.step_stats().dev_stats_size(), 1);
  bool found = false;
  for (const auto& n : metadata.step_stats().dev_stats(0).node_stats()) {
    if (n.node_name() != "y") continue;
    found = true;
    EXPECT_FALSE(n.timeline_label().empty());
    EXPECT_GT(n.all_start_micros(), 0);
    EXPECT_EQ(n.output_size(), 1);
  }
  EXPECT_TRUE(found);
}

TEST_F(SessionTest, DeadlineEndsAWaitingStep) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "TestWait", {x});
  Start();
  pb::RunOptions options;
  options.set_timeout_in_ms(20);
  std::vector<Tensor> out;
  ExpectError(Run({{x, F(1)}}, {y}, &out, {}, options),
              absl::StatusCode::kDeadlineExceeded, "20 ms");
}

TEST_F(SessionTest, CallersTokenEndsItsRunAlone) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "TestWait", {x});
  const Endpoint z = Add("z", "Neg", {x});
  Start();
  CancellationManager token;
  waiting = 0;
  Status ended;
  std::thread runner([&] {
    std::vector<Tensor> out;
    ended = Run({{x, F(1)}}, {y}, &out, {}, {}, nullptr, &token);
  });
  while (waiting == 0) absl::SleepFor(absl::Milliseconds(1));
  std::vector<Tensor> out;
  EXPECT_EQ(Run({{x, F(1)}}, {z}, &out), OkStatus());
  token.StartCancel();
  runner.join();
  ExpectError(ended, absl::StatusCode::kCancelled, "cancelled");
}

TEST_F(SessionTest, CloseEndsRunsInProgressAndRefusesLaterOnes) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "TestWait", {x});
  Start();
  waiting = 0;
  Status ended;
  std::thread runner([&] {
    std::vector<Tensor> out;
    ended = Run({{x, F(1)}}, {y}, &out);
  });
  while (waiting == 0) absl::SleepFor(absl::Milliseconds(1));
  ASSERT_EQ(session_->Close(), OkStatus());
  runner.join();
  ExpectError(ended, absl::StatusCode::kCancelled, "Session has been closed.");
  std::vector<Tensor> out;
  ExpectError(Run({{x, F(1)}}, {x}, &out), absl::StatusCode::kCancelled,
              "Session has been closed.");
}

TEST_F(SessionTest, PreparedStepsRunWithoutLookUp) {
  const Endpoint x = Placeholder("x");
  const Endpoint y = Add("y", "Neg", {x});
  Start();
  auto prepared = session_->Prepare({x}, {y}, {});
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  std::vector<Tensor> out;
  const Tensor one = F(1);
  ASSERT_EQ(session_->RunPrepared(**prepared, {}, {one}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), -1);
  ExpectError(session_->RunPrepared(**prepared, {}, {}, &out),
              absl::StatusCode::kInvalidArgument, "Expected 1 feed");
}

TEST_F(SessionTest, VariablesLiveInTheirSession) {
  const Endpoint v =
      Add("v", "VariableV2", {},
          {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape::Scalar()}});
  const Endpoint init = Add("init", "Assign", {v, Const("zero", F(10))});
  const Endpoint inc = Add("inc", "AssignAdd", {v, Const("one", F(1))});
  const Endpoint read = Add("read", "Identity", {v});
  Start();
  std::vector<Tensor> out;
  ExpectError(Run({}, {read}, &out), absl::StatusCode::kFailedPrecondition,
              "Attempting to use uninitialized value v");
  ASSERT_EQ(Run({}, {}, nullptr, {init.node}), OkStatus());
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Run({}, {}, nullptr, {inc.node}), OkStatus());
  }
  ASSERT_EQ(Run({}, {read}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 13);
  Start();  // another session has variables of its own
  ExpectError(Run({}, {read}, &out), absl::StatusCode::kFailedPrecondition,
              "uninitialized");
}

TEST_F(SessionTest, ManyThreadsRunAndExtendAtOnce) {
  const Endpoint x = Placeholder("x");
  Endpoint y = x;
  for (int i = 0; i < 30; ++i) {
    y = Add(absl::StrCat("chain", i), "AddV2", {y, x});
  }
  Start();
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        Endpoint mine = y;
        if (i % 10 == 0) mine = Add(absl::StrCat("t", t, "_", i), "Neg", {y});
        std::vector<Tensor> out;
        const Status s = Run({{x, F(static_cast<float>(t))}}, {mine}, &out);
        const float want = static_cast<float>(31 * t) * (i % 10 == 0 ? -1 : 1);
        if (!s.ok() || out[0].scalar<float>() != want) ++failures;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failures, 0);
}

TEST_F(SessionTest, AWideGraphOfExpensiveNodesUsesThePool) {
  const Endpoint x = Placeholder("x");
  std::vector<Endpoint> products;
  for (int i = 0; i < 40; ++i) {
    products.push_back(Add(absl::StrCat("p", i), "MatMul", {x, x}));
  }
  const Endpoint sum = Add("sum", "AddN", products);
  Start();
  const Tensor m = MakeTensor<float>({2, 2}, {1, 1, 0, 1});
  for (int i = 0; i < 20; ++i) {
    std::vector<Tensor> out;
    ASSERT_EQ(Run({{x, m}}, {sum}, &out), OkStatus());
    EXPECT_EQ(out[0].data<float>()[1], 80);
  }
}

TEST(NewSessionTest, RefusesUnknownTargetsAndBadOptions) {
  auto graph = std::make_shared<Graph>();
  std::unique_ptr<Session> session;
  ExpectError(MoveTo(NewSession({}, "carrier://pigeon", graph), &session),
              absl::StatusCode::kNotFound, "carrier://pigeon");
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = -1;
  ExpectError(MoveTo(NewSession(config, "", graph), &session),
              absl::StatusCode::kInvalidArgument, "device_count");
}

TEST_F(SessionTest, CancelledAfterItsDequeueFinishedKeepsTheElement) {
  const std::vector<DataType> types = {DT_FLOAT};
  const Endpoint q = Add("q", "FIFOQueueV2", {}, {{"component_types", types}});
  const Endpoint x = Placeholder("x");
  const Endpoint put =
      Add("put", "QueueEnqueueV2", {q, x}, {{"Tcomponents", types}});
  const Endpoint take =
      Add("take", "QueueDequeueV2", {q}, {{"component_types", types}});
  const Endpoint cancel = Add("cancel", "TestCancel", {take});
  const Endpoint more = Add("more", "TestCount", {cancel});
  Start();
  ASSERT_EQ(Run({{x, F(7)}}, {}, nullptr, {put.node}), OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(Run({}, {cancel}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), 7);
  // Where nodes were still to run it is cancelled, as ever.
  ASSERT_EQ(Run({{x, F(8)}}, {}, nullptr, {put.node}), OkStatus());
  ExpectError(Run({}, {more}, &out), absl::StatusCode::kCancelled,
              "by TestCancel");
}

TEST_F(SessionTest, DeadlineTellsWhatItWasWaitingFor) {
  const std::vector<DataType> types = {DT_FLOAT};
  const Endpoint q = Add("q", "FIFOQueueV2", {},
                         {{"component_types", types},
                          {"capacity", int64_t{3}},
                          {"shared_name", std::string("numbers")}});
  const Endpoint take =
      Add("take", "QueueDequeueV2", {q}, {{"component_types", types}});
  const Endpoint there = Add("there", "Neg", {take}, {}, "/device:CPU:1");
  pb::ConfigProto config;
  (*config.mutable_device_count())["CPU"] = 2;
  Start(config);
  pb::RunOptions options;
  options.set_timeout_in_ms(20);
  std::vector<Tensor> out;
  const Status s = Run({}, {there}, &out, {}, options);
  ExpectError(s, absl::StatusCode::kDeadlineExceeded,
              "node 'take' (QueueDequeueV2) for an element of FIFOQueue "
              "'numbers', which has 0 of at most 3");
  ExpectError(s, absl::StatusCode::kDeadlineExceeded, "(_Recv) for tensor '");
}

TEST_F(SessionTest, PartialRunRefusesArgsOfTheClientsGraph) {
  const Endpoint x = Placeholder("x");
  const Endpoint mine =
      Add("mine", "_Arg", {}, {{"T", DT_FLOAT}, {"index", int64_t{1000}}});
  const Endpoint sum = Add("sum", "AddV2", {x, mine});
  Start();
  ExpectError(session_->PRunSetup({x}, {sum}, {}).status(),
              absl::StatusCode::kInvalidArgument, "node 'mine' is _Arg 1000");
}

TEST_F(SessionTest, PartialRunDeadlineNamesTheFeedsThatHaveNotCome) {
  const Endpoint a = Placeholder("a"), b = Placeholder("b");
  const Endpoint sum = Add("sum", "AddV2", {a, b});
  const Endpoint wait = Add("wait", "TestWait", {a});
  Start();
  std::string handle;
  ASSERT_EQ(MoveTo(session_->PRunSetup({a, b}, {sum, wait}, {}), &handle),
            OkStatus());
  pb::RunOptions options;
  options.set_timeout_in_ms(20);
  std::vector<Tensor> out;
  ExpectError(session_->PRun(handle, options, {{a, F(1)}}, {wait}, &out),
              absl::StatusCode::kDeadlineExceeded, "for the feed of b");
}

TEST_F(SessionTest, AllUninitializedVariablesAreNamedWithTheirInitializers) {
  const auto variable = [&](const std::string& name) {
    return Add(name, "VariableV2", {},
               {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape::Scalar()}});
  };
  const Endpoint one = Const("one", F(1));
  const Endpoint a = variable("a"), b = variable("b"), c = variable("c");
  const Endpoint init_a = Add("a/Assign", "Assign", {a, one});
  Add("set_b", "Assign", {b, one});
  const Endpoint r =
      Add("r", "VarHandleOp", {},
          {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape::Scalar()}});
  Add("r/Assign", "AssignVariableOp", {r, one});
  const Endpoint sum =
      Add("sum", "AddN",
          {Add("ra", "Identity", {a}), Add("rb", "Identity", {b}),
           Add("rr", "ReadVariableOp", {r}, {{"dtype", DT_FLOAT}})});
  const Endpoint unused = Add("unused", "Identity", {c});
  Start();
  std::vector<Tensor> out;
  const Status s = Run({}, {sum}, &out);
  ExpectError(s, absl::StatusCode::kFailedPrecondition,
              "Variables without a value that this step reads (3): 'a' "
              "(initializer 'a/Assign'), 'b' (initializer 'set_b'), 'r' "
              "(initializer 'r/Assign')");
  EXPECT_TRUE(
      absl::StartsWith(s.message(), "Attempting to use uninitialized value ") ||
      absl::StartsWith(s.message(), "Error while reading resource variable r"))
      << s;
  ASSERT_EQ(Run({}, {init_a}, &out), OkStatus());
  ExpectError(Run({}, {sum}, &out), absl::StatusCode::kFailedPrecondition,
              "reads (2): 'b'");
  ExpectError(Run({}, {unused}, &out), absl::StatusCode::kFailedPrecondition,
              "reads (1): 'c' (no node of the graph assigns it)");
}

TEST_F(SessionTest, AnErrorIsNotOfAVariableBecauseItsTextSoundsSo) {
  const Endpoint v =
      Add("v", "VariableV2", {},
          {{"dtype", DT_FLOAT}, {"shape", PartialTensorShape::Scalar()}});
  const Endpoint read = Add("read", "Identity", {v});
  const Endpoint x = Placeholder("x");
  const Endpoint failed =
      Add("failed", "TestFail", {x},
          {{"message", std::string("Attempting to use uninitialized value w")},
           {"code", int64_t{9}}});  // FAILED_PRECONDITION
  // Runs when `failed` has run: never.
  const Endpoint after = Add("after", "Identity", {v}, {}, "", {failed.node});
  Start();
  std::vector<Tensor> out;
  const Status s = Run({{x, F(1)}}, {failed, after}, &out);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << s;
  EXPECT_FALSE(HasCause(s, ErrorCause::kUninitializedVariable));
  EXPECT_EQ(s.message().find("Variables without a value"),
            absl::string_view::npos)
      << s;
  const Status of_variable = Run({}, {read}, &out);
  EXPECT_TRUE(HasCause(of_variable, ErrorCause::kUninitializedVariable))
      << of_variable;
  const Status not_fed = Run({}, {x}, &out);
  EXPECT_TRUE(HasCause(not_fed, ErrorCause::kNoFeed)) << not_fed;
}

TEST_F(SessionTest, ACallableIsMadeByNames) {
  const Endpoint x = Placeholder("x");
  Add("y", "Neg", {x});
  Start();
  pb::CallableOptions options;
  options.add_feed("x:0");
  options.add_fetch("y:0");
  (*options.mutable_feed_devices())["x:0"] = "/device:CPU:0";
  auto callable = session_->MakeCallable(options);
  ASSERT_TRUE(callable.ok()) << callable.status();
  std::vector<Tensor> out;
  ASSERT_EQ(session_->RunPrepared(**callable, {}, {F(3)}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), -3);
  (*options.mutable_fetch_devices())["y:0"] = "/device:GPU:0";
  EXPECT_EQ(session_->MakeCallable(options).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.mutable_fetch_devices()->clear();
  options.add_target("z");
  EXPECT_EQ(session_->MakeCallable(options).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(SessionTest, ADeadlineEndsALongKernelBetweenTwoBlocks) {
  const Endpoint shape =
      Const("shape", MakeTensor<int32_t>({1}, {40 * 1000 * 1000}));
  const Endpoint samples =
      Add("samples", "RandomGamma", {shape, Const("alpha", F(0.5))},
          {{"S", DT_INT32}, {"T", DT_FLOAT}});
  Start();
  pb::RunOptions options;
  options.set_timeout_in_ms(30);
  std::vector<Tensor> out;
  const absl::Time start = absl::Now();
  ExpectError(Run({}, {samples}, &out, {}, options),
              absl::StatusCode::kDeadlineExceeded, "30 ms");
  // All of it would be seconds.
  EXPECT_LT(absl::Now() - start, absl::Milliseconds(800));
}

}  // namespace
}  // namespace headrace
