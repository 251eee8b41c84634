// What a session keeps of the steps that it has compiled and of partial runs
// that nobody continues is bounded, and compiling is part of a run's deadline.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "graph/graph_test_util.h"
#include "headrace/session.h"
#include "session/partial_runs.h"
#include "session/step_cache.h"

namespace headrace {
namespace {

// Takes a while: where its input is constant, when the step is compiled.
REGISTER_OP("TestSlowFold")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
std::atomic<int> folded{0};
class TestSlowFoldOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++folded;
    absl::SleepFor(absl::Milliseconds(20));
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("TestSlowFold").Device(DEVICE_CPU),
                        TestSlowFoldOp);

class StepLimitsTest : public ::testing::Test {
 protected:
  void Start() {
    ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
  }
  // A chain that takes 20 s to compile.
  Endpoint Slow() {
    Endpoint e = Const(graph_.get(), "c", Tensor::Scalar<float>(1));
    for (int i = 0; i < 1000; ++i) {
      e = {AddOp(graph_.get(), absl::StrCat("n", i), "TestSlowFold", {e}), 0};
    }
    folded = 0;
    return e;
  }
  Status Run(Endpoint fetch, int64_t timeout_ms = 0,
             CancellationManager* token = nullptr) {
    pb::RunOptions options;
    options.set_timeout_in_ms(timeout_ms);
    std::vector<Tensor> out;
    return session_->Run(options, {}, {&fetch, 1}, {}, &out, nullptr, token);
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
};

TEST_F(StepLimitsTest, CompilingIsPartOfTheDeadline) {
  const Endpoint slow = Slow();
  Start();
  const Status s = Run(slow, 150);
  EXPECT_EQ(s.code(), absl::StatusCode::kDeadlineExceeded) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "not compiled after 150 ms")) << s;
  EXPECT_LT(folded, 500);
}

TEST_F(StepLimitsTest, AConfiguredTimeoutBoundsCompilingToo) {
  const Endpoint slow = Slow();
  pb::ConfigProto config;
  config.set_operation_timeout_in_ms(150);
  ASSERT_EQ(MoveTo(NewSession(config, "", graph_), &session_), OkStatus());
  EXPECT_EQ(Run(slow).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(session_->Prepare({}, {&slow, 1}, {}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  std::string handle;
  EXPECT_EQ(MoveTo(session_->PRunSetup({}, {&slow, 1}, {}), &handle).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(StepLimitsTest, TheCallersTokenEndsACompilation) {
  const Endpoint slow = Slow();
  Start();
  CancellationManager token;
  std::thread cancel([&] {
    while (folded < 2) absl::SleepFor(absl::Milliseconds(1));
    token.StartCancel();
  });
  const Status s = Run(slow, 0, &token);
  cancel.join();
  EXPECT_EQ(s, errors::Cancelled("Run was cancelled."));
  EXPECT_LT(folded, 500);
}

TEST_F(StepLimitsTest, CloseEndsACompilation) {
  const Endpoint slow = Slow();
  Start();
  std::thread close([&] {
    while (folded < 2) absl::SleepFor(absl::Milliseconds(1));
    session_->Close().IgnoreError();
  });
  const Status s = Run(slow);
  close.join();
  EXPECT_EQ(s.code(), absl::StatusCode::kCancelled) << s;
  EXPECT_LT(folded, 500);
}

TEST_F(StepLimitsTest, AShortDeadlineLeavesTimeForASmallStep) {
  const Endpoint c = Const(graph_.get(), "c", Tensor::Scalar<float>(1));
  const Endpoint slow = {AddOp(graph_.get(), "n", "TestSlowFold", {c}), 0};
  Start();
  Run(slow, 1).IgnoreError();  // compiled, whatever became of the run
  folded = 0;
  EXPECT_EQ(Run(slow, 5000), OkStatus());
  EXPECT_EQ(folded, 0);
}

// It took 28 s, most of them in Graph::RemoveEdge, which looked through all the
// edges of the constant for each that went.
TEST_F(StepLimitsTest, ManyEdgesFromOneNodeAreCompiledInNoTime) {
  constexpr int kEdges = 400'000;
  const Endpoint x = Placeholder(graph_.get(), "x", DT_FLOAT, {});
  const Endpoint id = {AddOp(graph_.get(), "id", "Identity", {x}), 0};
  const Endpoint sum = {
      AddOp(graph_.get(), "sum", "AddN", std::vector<Endpoint>(kEdges, id)), 0};
  Start();
  const absl::Time begun = absl::Now();
  std::vector<Tensor> out;
  ASSERT_EQ(
      session_->Run({}, {{x, Tensor::Scalar<float>(1)}}, {&sum, 1}, {}, &out),
      OkStatus());
  EXPECT_EQ(out[0].scalar<float>(), kEdges);
  EXPECT_LT(absl::Now() - begun, absl::Seconds(15));
}

std::shared_ptr<const CompiledStep> StepOf(int nodes) {
  auto step = std::make_shared<CompiledStep>();
  auto graph = std::make_unique<Graph>();
  for (int i = 0; i < nodes; ++i) {
    AddOp(graph.get(), absl::StrCat("n", i), "NoOp");
  }
  step->parts.push_back({nullptr, std::move(graph), nullptr});
  return step;
}

TEST(StepCacheTest, TheLeastRecentlyUsedGoFirst) {
  StepCache cache({.steps = 3, .nodes = 1000, .always = 1});
  for (uint64_t k : {1, 2, 3}) cache.Insert({k}, StepOf(1));
  const auto first = cache.Find({1});
  ASSERT_NE(first, nullptr);
  const auto fourth = StepOf(1);
  EXPECT_EQ(cache.Insert({4}, fourth), fourth);
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_EQ(cache.Find({2}), nullptr);
  EXPECT_EQ(cache.Find({1}), first);
  EXPECT_NE(cache.Find({3}), nullptr);
  // Who was first stays.
  EXPECT_EQ(cache.Insert({4}, StepOf(1)), fourth);
}

TEST(StepCacheTest, LargeStepsCountForMore) {
  StepCache cache({.steps = 100, .nodes = 50, .always = 2});
  for (uint64_t k = 0; k < 10; ++k) cache.Insert({k}, StepOf(10));
  EXPECT_EQ(cache.size(), 5u);
  cache.Insert({20}, StepOf(200));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.Find({20}), nullptr);
  EXPECT_NE(cache.Find({9}), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.size(), 0u);
  cache.Insert({1}, StepOf(10));
  EXPECT_EQ(cache.size(), 1u);
}

TEST_F(StepLimitsTest, ManySignaturesRunAndComeBack) {
  const Endpoint x = Const(graph_.get(), "x", Tensor::Scalar<float>(2));
  std::vector<Endpoint> all;
  for (int i = 0; i < 1200; ++i) {
    all.push_back({AddOp(graph_.get(), absl::StrCat("n", i), "Neg", {x}), 0});
  }
  Start();
  for (int round = 0; round < 2; ++round) {
    for (const Endpoint& e : all) ASSERT_EQ(Run(e), OkStatus());
  }
}

TEST_F(StepLimitsTest, AbandonedPartialRunsAreDropped) {
  const Endpoint x = Placeholder(graph_.get(), "x", DT_FLOAT);
  const Endpoint y = {AddOp(graph_.get(), "y", "Neg", {x}), 0};
  const Endpoint z = Placeholder(graph_.get(), "z", DT_FLOAT);
  const Endpoint w = {AddOp(graph_.get(), "w", "Neg", {z}), 0};
  Start();
  constexpr size_t kRuns = PartialRuns::kMaxRuns + 10;
  std::vector<std::string> handles(kRuns);
  std::vector<Tensor> out;
  const auto go_on = [&](const std::string& handle, Endpoint feed,
                         Endpoint fetch) {
    return session_->PRun(handle, {}, {{feed, Tensor::Scalar<float>(1)}},
                          {&fetch, 1}, &out);
  };
  for (size_t i = 0; i < kRuns; ++i) {
    ASSERT_EQ(MoveTo(session_->PRunSetup({x, z}, {y, w}, {}), &handles[i]),
              OkStatus());
    // The first is one that somebody goes on with.
    if (i != 20) continue;
    ASSERT_EQ(go_on(handles[0], x, y), OkStatus());
  }
  EXPECT_EQ(go_on(handles[0], z, w), OkStatus());
  for (const size_t dropped : {1, 9}) {
    const Status s = go_on(handles[dropped], x, y);
    EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "dropped")) << s;
  }
  for (const size_t kept : {size_t{11}, kRuns - 1}) {
    EXPECT_EQ(go_on(handles[kept], x, y), OkStatus());
    EXPECT_EQ(go_on(handles[kept], z, w), OkStatus());
  }
}

}  // namespace
}  // namespace headrace
