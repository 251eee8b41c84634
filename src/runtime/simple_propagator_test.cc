#include "runtime/simple_propagator.h"

#include <atomic>
#include <thread>

#include "runtime/propagator_test_util.h"

namespace headrace {
namespace {

using SimpleDriver = Driver<SimplePropagator>;

TEST(SimplePropagatorTest, NothingToDo) {
  const TestPlan p("");
  ASSERT_EQ(p.status, OkStatus());
  SimplePropagator::ReadyList ready{7};
  SimplePropagator propagator(p.plan);
  propagator.Start(&ready);
  EXPECT_TRUE(ready.empty());
}

TEST(SimplePropagatorTest, EachNodeRunsOnceWhateverTheOrder) {
  const TestPlan p(R"(
    x: _Arg index=0
    one: Const 1
    a: StepAdd five one
    five: Identity four
    four: StepAdd two two
    two: StepAdd one one
    b: StepAdd a four
    twice: StepAdd b b
    effect: StepEffect ^a ^b
    last: StepAdd one one ^effect ^twice
  )");
  ASSERT_EQ(p.status, OkStatus());
  SimpleDriver d(p.plan);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    ASSERT_EQ(d.Run(seed == 0 ? Order::kLast : Order::kRandom, seed),
              OkStatus());
    EXPECT_EQ(d.Of("twice"), "0:18");
    EXPECT_EQ(d.Of("last"), "0:2");
    EXPECT_EQ(d.Count("effect"), 1);
  }
}

TEST(SimplePropagatorTest, OutputsMustBeThereAndOfTheirType) {
  const TestPlan unset("v: Const 1\nbad: StepUnset v\nr: StepAdd bad v");
  ASSERT_EQ(unset.status, OkStatus());
  ExpectError(SimpleDriver(unset.plan).Run(Order::kFirst),
              absl::StatusCode::kInternal, "Missing 0-th output");
  const TestPlan wrong("v: Const 1\nbad: StepWrong v\nr: StepAdd bad v");
  ASSERT_EQ(wrong.status, OkStatus());
  ExpectError(SimpleDriver(wrong.plan).Run(Order::kFirst),
              absl::StatusCode::kInternal,
              "Output 0 has type float but the op declares int32");
}

// The last reader gets the tensor itself, so that its kernel may write over it.
TEST(SimplePropagatorTest, TheLastReaderOwnsTheValue) {
  const TestPlan p("x: _Arg index=0\na: StepSlow x\nb: StepSlow x");
  ASSERT_EQ(p.status, OkStatus());
  SimplePropagator propagator(p.plan);
  SimplePropagator::ReadyList ready;
  propagator.Start(&ready);
  ASSERT_EQ(ready, (SimplePropagator::ReadyList{p.Find("x")}));
  OutputSlot out;
  out.value = Tensor(DT_INT32, {100});
  out.is_set = true;
  ready.clear();
  ASSERT_EQ(propagator.Propagate(p.Find("x"), p.plan.nodes[p.Find("x")],
                                 Outputs(&out, 0, 1), true, &ready),
            OkStatus());
  EXPECT_FALSE(out.is_set);
  EXPECT_FALSE(out.value.IsInitialized());
  ASSERT_EQ(ready.size(), 2u);
  Entry* first = propagator.entries(ready[0], p.plan.nodes[ready[0]]);
  Entry* last = propagator.entries(ready[1], p.plan.nodes[ready[1]]);
  EXPECT_TRUE(first->value.SharesBufferWith(last->value));
  EXPECT_FALSE(last->value.OwnsExclusively());
  Clear(first);
  EXPECT_TRUE(last->value.OwnsExclusively());  // nobody else is left
}

// A node whose inputs come from many threads is handed to one of them.
TEST(SimplePropagatorTest, StressTheLastOfManyInputsMakesANodeReady) {
  std::string text = "sink: StepEffect";
  constexpr int kSources = 8;
  for (int i = 0; i < kSources; ++i) absl::StrAppend(&text, " ^s", i);
  for (int i = 0; i < kSources; ++i) {
    absl::StrAppend(&text, "\ns", i, ": StepEffect");
  }
  const TestPlan p(text);
  ASSERT_EQ(p.status, OkStatus());
  SimplePropagator propagator(p.plan);
  for (int round = 0; round < 200; ++round) {
    SimplePropagator::ReadyList ready;
    propagator.Start(&ready);
    ASSERT_EQ(ready.size(), static_cast<size_t>(kSources));
    std::atomic<int> sinks{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t; i < kSources; i += 4) {
          SimplePropagator::ReadyList mine;
          EXPECT_EQ(propagator.Propagate(ready[i], p.plan.nodes[ready[i]],
                                         Outputs(), /*alone=*/false, &mine),
                    OkStatus());
          sinks += static_cast<int>(mine.size());
        }
      });
    }
    for (std::thread& t : threads) t.join();
    ASSERT_EQ(sinks, 1);
  }
}

}  // namespace
}  // namespace headrace
