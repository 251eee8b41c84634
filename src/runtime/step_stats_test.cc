#include "runtime/step_stats.h"

#include <thread>

#include "runtime/passes/rewrite.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

class StepStatsTest : public ::testing::Test {
 protected:
  std::unique_ptr<OpKernel> Kernel(const std::string& name,
                                   AttrMap attrs = {}) {
    auto def = std::make_shared<NodeDef>();
    def->name = name;
    def->op = "StepSlow";
    def->attrs = std::move(attrs);
    const OpDef* op = nullptr;
    EXPECT_EQ(OpRegistry::Global()->LookUp("StepSlow", &op), OkStatus());
    std::unique_ptr<OpKernel> kernel;
    EXPECT_EQ(CreateOpKernel(&device_, def, op, &kernel), OkStatus());
    return kernel;
  }
  static StepStatsCollector::NodeRecord Record(const OpKernel& kernel,
                                               int64_t start, int64_t end) {
    StepStatsCollector::NodeRecord r;
    r.kernel = &kernel;
    r.scheduled_ns = start - 500;
    r.start_ns = start;
    r.end_ns = end;
    r.thread_id = 42;
    return r;
  }
  void Finish() { stats_.Finish(&all_, &counters_); }

  TestDevice device_;
  const std::unique_ptr<OpKernel> a_ = Kernel("a"), b_ = Kernel("b");
  StepStatsCollector stats_;
  pb::StepStats all_;
  pb::RunCounters counters_;
};

TEST_F(StepStatsTest, NothingRan) {
  EXPECT_EQ(stats_.LargestOutputs(), "");
  Finish();
  EXPECT_EQ(all_.dev_stats_size(), 0);
  EXPECT_EQ(counters_.nodes(), 0);
}

TEST_F(StepStatsTest, NodesInTheOrderInWhichTheyBegan) {
  stats_.Add(&device_, Record(*b_, 7'000, 9'500));
  stats_.Add(&device_, Record(*a_, 2'000, 4'000));
  Finish();
  ASSERT_EQ(all_.dev_stats_size(), 1);
  EXPECT_EQ(all_.dev_stats(0).device(), device_.name());
  ASSERT_EQ(all_.dev_stats(0).node_stats_size(), 2);
  const pb::NodeExecStats& a = all_.dev_stats(0).node_stats(0);
  const pb::NodeExecStats& b = all_.dev_stats(0).node_stats(1);
  EXPECT_EQ(a.node_name(), "a");
  EXPECT_EQ(b.node_name(), "b");
  EXPECT_EQ(b.all_start_nanos(), 7'000);
  EXPECT_EQ(b.all_start_micros(), 7);
  EXPECT_EQ(b.op_end_rel_nanos(), 2'500);
  EXPECT_EQ(b.op_end_rel_micros(), 2);
  EXPECT_EQ(b.scheduled_nanos(), 6'500);
  EXPECT_EQ(b.thread_id(), 42u);
  EXPECT_EQ(counters_.nodes(), 2);
  // They are handed out once.
  pb::StepStats again;
  stats_.Finish(&again, &counters_);
  EXPECT_EQ(again.dev_stats_size(), 0);
}

TEST_F(StepStatsTest, LabelsTellTheClassTheAlgorithmAndWhatWasMerged) {
  auto with = Record(*a_, 1, 2);
  with.algorithm = "winograd";
  stats_.Add(&device_, std::move(with));
  const auto merged = Kernel(
      "m", {{kMergedNodesAttr, std::vector<std::string>{"conv", "relu"}}});
  stats_.Add(&device_, Record(*merged, 3, 4));
  Finish();
  EXPECT_EQ(all_.dev_stats(0).node_stats(0).timeline_label(),
            "StepSlowOp [winograd]");
  EXPECT_EQ(all_.dev_stats(0).node_stats(1).timeline_label(),
            "StepSlowOp (conv, relu)");
}

TEST_F(StepStatsTest, OutputsWithTypeShapeAndBytes) {
  auto r = Record(*a_, 1, 2);
  r.outputs.push_back({2, DT_FLOAT, TensorShape({3, 4}), 48});
  r.outputs.push_back({3, DT_INT32, TensorShape(), 4});
  stats_.Add(&device_, std::move(r));
  Finish();
  const pb::NodeExecStats& a = all_.dev_stats(0).node_stats(0);
  ASSERT_EQ(a.output_size(), 2);
  EXPECT_EQ(a.output(0).slot(), 2);
  const pb::TensorDescription& t = a.output(0).tensor_description();
  EXPECT_EQ(t.dtype(), pb::DT_FLOAT);
  ASSERT_EQ(t.shape().dim_size(), 2);
  EXPECT_EQ(t.shape().dim(1).size(), 4);
  EXPECT_EQ(t.allocation_description().requested_bytes(), 48);
  EXPECT_TRUE(a.output(1).tensor_description().has_shape());
  EXPECT_EQ(a.output(1).tensor_description().shape().dim_size(), 0);
}

TEST_F(StepStatsTest, WhatIsNeitherPutOutNorKeptIsTemporary) {
  struct Case {
    int64_t bytes, live, put_out;
    int64_t temporary, persistent;
  };
  const Case cases[] = {
      {1000, 0, 0, 1000, 0},
      {1000, 400, 400, 600, 0},
      {1000, 400, 100, 600, 300},
      // Outputs that were made elsewhere do not make it less than nothing.
      {1000, 100, 400, 900, 0},
  };
  for (const Case& c : cases) {
    auto r = Record(*a_, 1, 2);
    r.memory.allocations = 2;
    r.memory.bytes = c.bytes;
    r.memory.live_bytes = c.live;
    r.memory.peak_bytes = 700;
    r.memory.copies = 3;
    r.memory.copied_bytes = 30;
    r.outputs.push_back({0, DT_INT8, TensorShape({c.put_out}), c.put_out});
    r.outputs.back().made_here = c.put_out;
    stats_.Add(&device_, std::move(r));
    all_.Clear();
    Finish();
    const pb::NodeExecStats& a = all_.dev_stats(0).node_stats(0);
    EXPECT_EQ(a.memory_stats().temp_memory_size(), c.temporary);
    EXPECT_EQ(a.memory_stats().persistent_memory_size(), c.persistent);
    ASSERT_EQ(a.memory_size(), 1);
    EXPECT_EQ(a.memory(0).total_bytes(), c.bytes);
    EXPECT_EQ(a.memory(0).peak_bytes(), 700);
    EXPECT_EQ(counters_.allocations(), 2);
    EXPECT_EQ(counters_.allocated_bytes(), c.bytes);
    EXPECT_EQ(counters_.copies(), 3);
    EXPECT_EQ(counters_.copied_bytes(), 30);
  }
  stats_.Add(&device_, Record(*a_, 1, 2));  // allocated nothing
  all_.Clear();
  Finish();
  EXPECT_EQ(all_.dev_stats(0).node_stats(0).memory_size(), 0);
}

TEST_F(StepStatsTest, TheLargestOutputsAreTenOfThem) {
  for (int i = 0; i < 12; ++i) {
    auto r = Record(i % 2 == 0 ? *a_ : *b_, i, i + 1);
    r.outputs.push_back({0, DT_INT8, TensorShape({i}), i});
    stats_.Add(&device_, std::move(r));
  }
  const std::string text = stats_.LargestOutputs();
  EXPECT_TRUE(absl::StartsWith(text,
                               "11 bytes by node 'b' (StepSlow), 10 bytes by "
                               "node 'a' (StepSlow), "))
      << text;
  EXPECT_TRUE(absl::EndsWith(text, ", 2 bytes by node 'a' (StepSlow)")) << text;
}

TEST_F(StepStatsTest, ManyThreadsAddAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) stats_.Add(&device_, Record(*a_, i, i));
    });
  }
  for (std::thread& t : threads) t.join();
  Finish();
  EXPECT_EQ(counters_.nodes(), 1000);
  EXPECT_EQ(all_.dev_stats(0).node_stats_size(), 1000);
}

}  // namespace
}  // namespace headrace
