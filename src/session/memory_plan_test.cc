// What a run's tensors take is known before it runs.
#include "runtime/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "framework/kernel/op_tester.h"
#include "framework/memory/allocation_size.h"
#include "graph/graph_test_util.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

class MemoryPlanTest : public ::testing::Test {
 protected:
  Endpoint Op(const std::string& op, std::vector<Endpoint> inputs,
              AttrMap attrs = {}) {
    return {AddOp(g_.get(), g_->UniqueName(op), op, std::move(inputs),
                  std::move(attrs)),
            0};
  }
  Endpoint Feed(const PartialTensorShape& declared, const TensorShape& shape) {
    const Endpoint e =
        Placeholder(g_.get(), g_->UniqueName("x"), DT_FLOAT, declared);
    feeds_.emplace_back(e, Zeros(shape));
    return e;
  }
  static Tensor Zeros(const TensorShape& shape) {
    Tensor t(DT_FLOAT, shape);
    std::memset(t.raw_data(), 0, t.TotalBytes());
    return t;
  }
  Endpoint Conv(Endpoint x, int64_t k, int64_t in, int64_t out,
                int64_t stride = 1) {
    const Endpoint w =
        Const(g_.get(), g_->UniqueName("w"), Zeros({k, k, in, out}));
    return Op("Conv2D", {x, w},
              {{"strides", std::vector<int64_t>{1, stride, stride, 1}},
               {"padding", std::string("SAME")}});
  }
  Endpoint Relu(Endpoint x) { return Op("Relu", {x}); }

  std::unique_ptr<Session> Open(int64_t budget = 0) {
    pb::ConfigProto config;
    config.mutable_headrace()->set_memory_budget_bytes(budget);
    if (!optimize_) {
      config.mutable_graph_options()
          ->mutable_optimizer_options()
          ->set_opt_level(pb::OptimizerOptions::L0);
    }
    std::unique_ptr<Session> session;
    EXPECT_EQ(NewDirectSession(config, g_, &session), OkStatus());
    return session;
  }
  Status Plan(Session* session, const std::vector<Endpoint>& fetches,
              MemoryPlan* plan) {
    std::vector<std::pair<Endpoint, TensorShape>> shapes;
    for (const auto& f : feeds_) shapes.emplace_back(f.first, f.second.shape());
    return MoveTo(session->PlanMemory(shapes, fetches, {}), plan);
  }
  Status Run(Session* session, const std::vector<Endpoint>& fetches,
             const pb::RunOptions& options = pb::RunOptions()) {
    std::vector<Tensor> out;
    return session->Run(options, feeds_, fetches, {}, &out, nullptr, nullptr);
  }
  // The plan, after a look that it bounds what runs take.
  MemoryPlan PlanAndMeasure(const std::vector<Endpoint>& fetches) {
    auto session = Open();
    MemoryPlan plan;
    EXPECT_EQ(Plan(session.get(), fetches, &plan), OkStatus());
    EXPECT_TRUE(plan.unknown.empty());
    // The first run makes what later ones share.
    EXPECT_EQ(Run(session.get(), fetches), OkStatus());
    for (int i = 0; i < 5; ++i) {
      CpuAllocator()->ResetPeak();
      const int64_t before = CpuAllocator()->GetStats().bytes_in_use;
      EXPECT_EQ(Run(session.get(), fetches), OkStatus());
      EXPECT_LE(CpuAllocator()->GetStats().peak_bytes_in_use - before,
                plan.peak_bytes);
    }
    ExpectNoOverlapOf(plan);
    return plan;
  }
  // The places lie within the peak, and it takes no more than the sum, except
  // the size of a block.
  static void ExpectNoOverlapOf(const MemoryPlan& plan) {
    int64_t total = 0;
    for (const MemoryPlan::Block& b : plan.blocks) {
      EXPECT_GE(b.offset, 0);
      EXPECT_LE(b.offset + b.bytes, plan.peak_bytes) << b.name;
      total += b.bytes;
    }
    EXPECT_EQ(total, plan.total_bytes);
    EXPECT_LE(plan.peak_bytes, total + total / 8);
  }

  const std::shared_ptr<Graph> g_ = std::make_shared<Graph>();
  std::vector<Session::Feed> feeds_;
  bool optimize_ = false;  // passes change what tensors there are
};

constexpr int64_t kBytes = 4 * 1000;  // of a [1000] tensor
const int64_t kRounded = static_cast<int64_t>(AllocationSize(kBytes));

TEST_F(MemoryPlanTest, AChainTakesTwoTensors) {
  Endpoint x = Feed({-1}, {1000});
  for (int i = 0; i < 10; ++i) x = Relu(x);
  const MemoryPlan plan = PlanAndMeasure({x});
  EXPECT_EQ(plan.peak_bytes, 2 * kRounded);
  EXPECT_EQ(plan.total_bytes, 10 * kRounded);
}

TEST_F(MemoryPlanTest, BranchesThatMayRunAtOnceDoNotShare) {
  const Endpoint x = Feed({1000}, {1000});
  std::vector<Endpoint> ends;
  for (const char* op : {"Neg", "Abs", "Square", "Exp"}) {
    ends.push_back(Relu(Op(op, {x})));
  }
  const Endpoint y = Op("AddN", ends, {{"N", int64_t{4}}});
  const MemoryPlan plan = PlanAndMeasure({y});
  EXPECT_EQ(plan.peak_bytes, 2 * 4 * kRounded);
}

TEST_F(MemoryPlanTest, AResidualIsAliveAsLongAsItIsRead) {
  const Endpoint x = Feed({1000}, {1000});
  const Endpoint kept = Relu(x);
  Endpoint y = kept;
  for (int i = 0; i < 6; ++i) y = Op("Neg", {y});
  y = Op("Mul", {y, kept});
  EXPECT_EQ(PlanAndMeasure({y}).peak_bytes, 3 * kRounded);
}

TEST_F(MemoryPlanTest, FetchesAndViewsAreAliveToTheEnd) {
  const Endpoint x = Feed({1000}, {1000});
  const Endpoint a = Op("Neg", {x});
  const Endpoint view =
      Op("Reshape",
         {a, Const(g_.get(), "shape", MakeTensor<int32_t>({2}, {10, 100}))},
         {{"T", DT_FLOAT}});
  Endpoint y = Op("Neg", {view});
  for (int i = 0; i < 5; ++i) y = Op("Neg", {y});
  EXPECT_EQ(PlanAndMeasure({view, y}).peak_bytes, 3 * kRounded);
}

TEST_F(MemoryPlanTest, NetworksTakeNoMoreThanPlanned) {
  optimize_ = true;
  const Endpoint x = Feed({-1, 32, 32, 3}, {2, 32, 32, 3});
  Endpoint y = Relu(Conv(x, 3, 3, 16));
  for (int i = 0; i < 3; ++i) {
    const Endpoint left = Conv(Relu(Conv(y, 1, 16, 16)), 3, 16, 16);
    y = Relu(Op("Add", {left, y}));
  }
  y = Op("MaxPool", {y},
         {{"ksize", std::vector<int64_t>{1, 2, 2, 1}},
          {"strides", std::vector<int64_t>{1, 2, 2, 1}},
          {"padding", std::string("VALID")}});
  const Endpoint axis = Const(g_.get(), "axis", Tensor::Scalar<int32_t>(3));
  y = Op("ConcatV2", {Conv(y, 3, 16, 8), Conv(y, 5, 16, 8), axis},
         {{"N", int64_t{2}}});
  y = Conv(y, 3, 16, 32, 2);
  const MemoryPlan plan = PlanAndMeasure({y});
  EXPECT_LT(plan.peak_bytes, plan.total_bytes / 2);
}

TEST_F(MemoryPlanTest, LargeTensorsOfARunAreOneBlock) {
  const Endpoint x = Feed({-1}, {100000});
  std::vector<Endpoint> ends;
  for (int i = 0; i < 8; ++i) ends.push_back(Op("Neg", {x}));
  const Endpoint sum = Op("AddN", ends, {{"N", int64_t{8}}});
  const Endpoint y = Op("Neg", {sum});
  PlanAndMeasure({y});
  auto session = Open();
  const auto allocations = [&] {
    const int64_t before = CpuAllocator()->GetStats().num_allocs;
    EXPECT_EQ(Run(session.get(), {y}), OkStatus());
    return CpuAllocator()->GetStats().num_allocs - before;
  };
  // The block, and what is fetched; a shape is planned for after its second
  // run.
  EXPECT_GT(allocations(), 2);
  EXPECT_GT(allocations(), 2);
  EXPECT_EQ(allocations(), 2);
  feeds_[0].second = Zeros({200000});
  EXPECT_GT(allocations(), 2);
  EXPECT_GT(allocations(), 2);
  EXPECT_EQ(allocations(), 2);
  feeds_[0].second = Zeros({100000});
  EXPECT_EQ(allocations(), 2);
  // A client keeps what it fetched, not the block.
  const int64_t before = CpuAllocator()->GetStats().bytes_in_use;
  std::vector<Tensor> out;
  ASSERT_EQ(session->Run({}, feeds_, {y}, {}, &out, nullptr, nullptr),
            OkStatus());
  EXPECT_EQ(CpuAllocator()->GetStats().bytes_in_use - before,
            static_cast<int64_t>(AllocationSize(out[0].TotalBytes())));
  // Within a budget kernels may take over their inputs.
  session = Open(int64_t{1} << 30);
  EXPECT_GT(allocations(), 2);
}

TEST_F(MemoryPlanTest, RunsAtOnceHaveABlockEach) {
  const Endpoint x = Feed({-1}, {40000});
  std::vector<Endpoint> ends;
  for (const char* op : {"Neg", "Abs", "Square", "Neg"}) {
    ends.push_back(Op("Mul", {Op(op, {x}), x}));
  }
  const Endpoint y = Op("AddN", ends, {{"N", int64_t{4}}});
  auto session = Open();
  const auto client = [&](float value) {
    Tensor fed(DT_FLOAT, TensorShape({40000}));
    std::fill_n(fed.data<float>(), 40000, value);
    const float want = value * value * (value - 2) + std::abs(value) * value;
    for (int run = 0; run < 30; ++run) {
      std::vector<Tensor> out;
      ASSERT_EQ(session->Run({}, {{x, fed}}, {y}, {}, &out, nullptr, nullptr),
                OkStatus());
      for (const int64_t at : {int64_t{0}, int64_t{20000}, int64_t{39999}}) {
        ASSERT_EQ(out[0].data<float>()[at], want);
      }
    }
  };
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(client, static_cast<float>(i - 2));
  }
  for (std::thread& t : clients) t.join();
}

TEST_F(MemoryPlanTest, WhatAKernelKeepsStaysWhatItIs) {
  // The queue, the list and the variable hold tensors whose places others want.
  const Endpoint x = Feed({-1}, {100000});
  for (int64_t i = 0; i < 100000; ++i) {
    feeds_[0].second.data<float>()[i] = static_cast<float>(i);
  }
  const Endpoint queue =
      Op("FIFOQueueV2", {},
         {{"component_types", std::vector<DataType>{DT_FLOAT}},
          {"shared_name", std::string("arena")}});
  Endpoint y = x;
  std::vector<Node*> targets;
  Endpoint list = Op("EmptyTensorList",
                     {Const(g_.get(), "any", Tensor::Scalar<int32_t>(-1)),
                      Const(g_.get(), "most", Tensor::Scalar<int32_t>(10))},
                     {{"element_dtype", DT_FLOAT}, {"shape_type", DT_INT32}});
  const Endpoint one = Const(g_.get(), "one", Tensor::Scalar<float>(1));
  for (int i = 0; i < 4; ++i) {
    y = Op("AddV2", {y, one});
    targets.push_back(Op("QueueEnqueueV2", {queue, y},
                         {{"Tcomponents", std::vector<DataType>{DT_FLOAT}}})
                          .node);
    y = Op("AddV2", {y, one});
    list = Op("TensorListPushBack", {list, y}, {{"element_dtype", DT_FLOAT}});
  }
  const Endpoint stacked =
      Op("TensorListStack",
         {list, Const(g_.get(), "shape", MakeTensor<int32_t>({1}, {100000}))},
         {{"element_dtype", DT_FLOAT}});
  const Endpoint taken =
      Op("QueueDequeueV2", {queue},
         {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  auto session = Open();
  for (int run = 0; run < 3; ++run) {
    std::vector<Tensor> out;
    ASSERT_EQ(
        session->Run({}, feeds_, {stacked, y}, targets, &out, nullptr, nullptr),
        OkStatus());
    for (const int64_t at : {int64_t{0}, int64_t{99999}}) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(out[0].data<float>()[i * 100000 + at],
                  static_cast<float>(at + 2 * i + 2));
      }
      EXPECT_EQ(out[1].data<float>()[at], static_cast<float>(at + 8));
    }
  }
  std::vector<float> sums(4);
  for (int i = 0; i < 12; ++i) {
    std::vector<Tensor> out;
    ASSERT_EQ(session->Run({}, {}, {taken}, {}, &out, nullptr, nullptr),
              OkStatus());
    const float first = out[0].data<float>()[0];
    EXPECT_EQ(out[0].data<float>()[99999], first + 99999);
    sums[static_cast<int>(first) / 2] += first;
  }
  EXPECT_EQ(sums, (std::vector<float>{3 * 1, 3 * 3, 3 * 5, 3 * 7}));
}

TEST_F(MemoryPlanTest, FollowsTheShapesThatAreFed) {
  const Endpoint x = Feed({-1, 100}, {10, 100});
  const Endpoint y = Op("Neg", {Relu(x)});
  auto session = Open();
  MemoryPlan small, large;
  ASSERT_EQ(Plan(session.get(), {y}, &small), OkStatus());
  feeds_[0].second = Zeros({1000, 100});
  ASSERT_EQ(Plan(session.get(), {y}, &large), OkStatus());
  EXPECT_GT(large.peak_bytes, 50 * small.peak_bytes);
  feeds_[0].second = Zeros({10, 99});
  EXPECT_TRUE(errors::IsInvalidArgument(Plan(session.get(), {y}, &large)));
}

TEST_F(MemoryPlanTest, NamesWhatItCannotKnow) {
  const Endpoint x = Feed({1000}, {1000});
  const Endpoint where = Op("Where", {Op("Neg", {x})}, {{"T", DT_FLOAT}});
  MemoryPlan plan;
  ASSERT_EQ(Plan(Open().get(), {where}, &plan), OkStatus());
  ASSERT_EQ(plan.unknown.size(), 1);
  EXPECT_EQ(plan.unknown[0], "Where:0");
  EXPECT_EQ(plan.peak_bytes, kRounded);
}

TEST_F(MemoryPlanTest, RefusesRunsBeyondTheBudget) {
  const Endpoint x = Feed({-1}, {1000});
  const Endpoint y = Op("Neg", {Relu(x)});
  auto session = Open(2 * kRounded);
  EXPECT_EQ(Run(session.get(), {y}), OkStatus());
  feeds_[0].second = Zeros({2000});
  for (int i = 0; i < 2; ++i) {
    const Status s = Run(session.get(), {y});
    EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
    EXPECT_NE(s.message().find("the memory budget is"), std::string::npos);
    EXPECT_NE(s.message().find("float [2000]"), std::string::npos) << s;
  }
  pb::RunOptions options;
  options.mutable_headrace()->set_memory_budget_bytes(100 * kRounded);
  EXPECT_EQ(Run(session.get(), {y}, options), OkStatus());
  options.mutable_headrace()->set_memory_budget_bytes(-1);
  EXPECT_TRUE(errors::IsInvalidArgument(Run(session.get(), {y}, options)));
}

TEST_F(MemoryPlanTest, SaysThatItPlansNoLoops) {
  const Endpoint x = Feed({1000}, {1000});
  const Endpoint enter =
      Op("Enter", {x}, {{"frame_name", std::string("loop")}});
  const Endpoint exit = Op("Exit", {enter});
  MemoryPlan plan;
  const Status s = Plan(Open().get(), {exit}, &plan);
  EXPECT_TRUE(errors::IsUnimplemented(s)) << s;
}

TEST_F(MemoryPlanTest, BudgetOfWhatIsNotPlannedHoldsAtEachTensor) {
  const Endpoint x = Feed({-1}, {1000});
  const Endpoint enter =
      Op("Enter", {x}, {{"frame_name", std::string("loop")}});
  const Endpoint exit = Op("Exit", {Op("Neg", {Op("Neg", {enter})})});
  const Endpoint where = Op("Where", {Op("Neg", {x})}, {{"T", DT_FLOAT}});
  auto session = Open(2 * kRounded);
  EXPECT_EQ(Run(session.get(), {exit}), OkStatus());
  EXPECT_EQ(Run(session.get(), {where}), OkStatus());
  feeds_[0].second = Zeros({5000});
  for (const Endpoint& fetch : {exit, where}) {
    const Status s = Run(session.get(), {fetch});
    EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
    EXPECT_NE(s.message().find("Neg"), std::string::npos) << s;
    EXPECT_NE(s.message().find("memory budget is"), std::string::npos) << s;
  }
  pb::RunOptions options;
  options.mutable_headrace()->set_memory_budget_bytes(100 * kRounded);
  EXPECT_EQ(Run(session.get(), {exit}, options), OkStatus());
}

}  // namespace
}  // namespace headrace
