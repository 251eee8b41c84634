#include "framework/memory/allocation_trace.h"

#include <gtest/gtest.h>

#include <thread>

#include "headrace/tensor.h"

namespace headrace {
namespace {

constexpr int64_t kBytes = 4096;  // a size that is not rounded

Tensor Make() { return Tensor(DT_FLOAT, TensorShape({kBytes / 4})); }

TEST(AllocationTraceTest, CountsWhatIsTakenAndWhatStays) {
  const Tensor before = Make();
  AllocationTrace trace;
  const Tensor kept = Make();
  {
    const Tensor dropped = Make();
    const Tensor dropped_too = Make();
  }
  const AllocationTrace::Counts& c = trace.counts();
  EXPECT_EQ(c.allocations, 3);
  EXPECT_EQ(c.bytes, 3 * kBytes);
  EXPECT_EQ(c.live_bytes, kBytes);
  EXPECT_EQ(c.peak_bytes, 3 * kBytes);
  EXPECT_EQ(trace.LiveBytes(kept.raw_data()), kBytes);
  EXPECT_EQ(trace.LiveBytes(before.raw_data()), 0);
}

TEST(AllocationTraceTest, WhatWasThereBeforeIsNotFreedTwice) {
  Tensor before = Make();
  AllocationTrace trace;
  before = Tensor();
  EXPECT_EQ(trace.counts().live_bytes, 0);
}

TEST(AllocationTraceTest, ATraceInsideHasItsOwn) {
  AllocationTrace outer;
  {
    AllocationTrace inner;
    const Tensor t = Make();
    EXPECT_EQ(inner.counts().allocations, 1);
  }
  EXPECT_EQ(outer.counts().allocations, 0);
}

TEST(AllocationTraceTest, OtherThreadsAreNotSeen) {
  AllocationTrace trace;
  std::thread([] { Make(); }).join();
  EXPECT_EQ(trace.counts().allocations, 0);
}

TEST(AllocationTraceTest, CopiesOfTensors) {
  const Tensor t = Make();
  AllocationTrace trace;
  Tensor copy;
  ASSERT_EQ(t.DeepCopyTo(&copy), OkStatus());
  EXPECT_EQ(trace.counts().copies, 1);
  EXPECT_EQ(trace.counts().copied_bytes, kBytes);
}

}  // namespace
}  // namespace headrace
