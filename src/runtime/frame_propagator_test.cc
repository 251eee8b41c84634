#include "runtime/frame_propagator.h"

#include <functional>

#include "runtime/propagator_test_util.h"

namespace headrace {
namespace {

using FrameDriver = Driver<FramePropagator>;

// Calls `check` after a step in each of many orders.
void InAnyOrder(const Plan& plan,
                const std::function<void(FrameDriver&)>& check) {
  FrameDriver driver(plan);
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const Order order = seed < 2   ? Order::kFirst
                        : seed < 4 ? Order::kLast
                                   : Order::kRandom;
    SCOPED_TRACE(seed);
    ASSERT_EQ(driver.Run(order, seed), OkStatus());
    check(driver);
    if (::testing::Test::HasFailure()) return;
  }
}

// i = 0; while (i < limit) i = i + 1, then out = i. Reads limit as a value that
// comes late in some orders.
std::string CountTo(int limit) {
  return absl::StrCat(
      "limit: Identity late\n"
      "late: StepAdd bound nothing\n"
      "bound: Const ",
      limit, R"(
    nothing: Const 0
    zero: Const 0
    one: Const 1
    enter: Enter zero in=f
    to: Enter limit in=f is_constant=true
    step: Enter one in=f is_constant=true
    merge: Merge enter next
    less: StepLess merge to
    cond: LoopCond less
    split: Switch merge cond
    sum: StepAdd split:1 step
    next: NextIteration sum
    exit: Exit split
    out: StepAdd exit one
  )");
}

TEST(FramePropagatorTest, ALoopRunsUntilItsConditionFails) {
  for (const int parallel : {1, 2, 10}) {
    for (const int limit : {-1, 0, 1, 3, 12}) {
      SCOPED_TRACE(absl::StrCat(limit, " with ", parallel));
      const TestPlan p(CountTo(limit), parallel);
      ASSERT_EQ(p.status, OkStatus());
      InAnyOrder(p.plan, [&](FrameDriver& d) {
        const int n = std::max(limit, 0);
        EXPECT_EQ(d.Of("out"), absl::StrCat("0:", n + 1));
        EXPECT_EQ(d.Count("sum"), n + 1);
        EXPECT_EQ(d.Count("exit"), n + 1);
        EXPECT_EQ(d.Of("enter"), "0:0");
        EXPECT_LE(d.most_iterations(), static_cast<size_t>(parallel));
      });
    }
  }
}

TEST(FramePropagatorTest, ALoopOfNoIterationsHasADeadBody) {
  const TestPlan p(CountTo(0));
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("merge"), "0:0,0");
    EXPECT_EQ(d.Of("split"), "0:0=0");
    EXPECT_EQ(d.Of("sum"), "0:dead");
    EXPECT_EQ(d.Of("next"), "0:dead");
    EXPECT_EQ(d.Of("exit"), "0:0");
  });
}

TEST(FramePropagatorTest, EveryIterationHasValuesOfItsOwn) {
  const TestPlan p(CountTo(3), /*parallel=*/3);
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("merge"), "0:0,0 1:1,1 2:2,1 3:3,1");
    EXPECT_EQ(d.Of("sum"), "0:1 1:2 2:3 3:dead");
    EXPECT_EQ(d.Of("exit"), "0:dead 1:dead 2:dead 3:3");
  });
}

// Not moved into the first one: a tensor with a buffer, unlike a scalar, can
// be.
TEST(FramePropagatorTest, AnInvariantComesIntoEveryIteration) {
  for (const int parallel : {1, 10}) {
    const TestPlan p(absl::StrCat(CountTo(3), R"(
      five: Const 1,2,3,4,5
      table: StepSlow five
      invariant: Enter table in=f is_constant=true
      use: StepSlow invariant ^merge
      more: StepSlow invariant ^less
    )"),
                     parallel);
    ASSERT_EQ(p.status, OkStatus());
    InAnyOrder(p.plan, [](FrameDriver& d) {
      const char* const each =
          "0:1 2 3 4... 1:1 2 3 4... 2:1 2 3 4... 3:1 2 3 4...";
      EXPECT_EQ(d.Of("use"), each);
      EXPECT_EQ(d.Of("more"), each);
    });
  }
}

// A loop in the branch that is not taken never begins, and its Exit is dead
// once; the Merge behind takes the other branch.
TEST(FramePropagatorTest, ALoopInADeadBranchIsDead) {
  const TestPlan p(R"(
    p: Const false
    v: Const 5
    branch: Switch v p
    zero: Identity branch:1
    one: Const 1
    enter: Enter zero in=f
    step: Enter one in=f is_constant=true
    invariant: Enter branch:1 in=f is_constant=true
    merge: Merge enter next
    less: StepLess merge invariant
    cond: LoopCond less
    split: Switch merge cond
    sum: StepAdd split:1 step
    next: NextIteration sum
    exit: Exit split
    after: StepAdd exit exit
    effect: StepEffect ^exit
    both: Merge after branch
    out: StepAdd both both
  )");
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("merge"), "0:dead");
    EXPECT_EQ(d.Of("exit"), "0:dead");
    EXPECT_EQ(d.Of("after"), "0:dead");
    EXPECT_EQ(d.Of("effect"), "0:dead");
    EXPECT_EQ(d.Of("both"), "0:5,1");
    EXPECT_EQ(d.Of("out"), "0:10");
  });
}

TEST(FramePropagatorTest, AnInnerLoopIsAFrameOfItsOwnInEachIteration) {
  // for i in 0..2: for j in 0..i: total += 1
  const TestPlan p(R"(
    zero: Const 0
    one: Const 1
    three: Const 3
    ei: Enter zero in=outer
    et: Enter zero in=outer
    one_o: Enter one in=outer is_constant=true
    three_o: Enter three in=outer is_constant=true
    mi: Merge ei ni
    mt: Merge et nt
    less: StepLess mi three_o
    cond: LoopCond less
    si: Switch mi cond
    st: Switch mt cond
    ej: Enter mj0 in=inner
    mj0: StepAdd si:1 minus
    minus: Const -1 ^si1
    si1: Identity si:1
    eu: Enter st:1 in=inner
    one_i: Enter one_o in=inner is_constant=true
    low: Const -1 ^mu
    mj: Merge ej nj
    mu: Merge eu nu
    inner_less: StepLess low mj
    inner_cond: LoopCond inner_less
    sj: Switch mj inner_cond
    su: Switch mu inner_cond
    j1: StepAdd sj:1 low
    u1: StepAdd su:1 one_i
    nj: NextIteration j1
    nu: NextIteration u1
    xu: Exit su
    i1: StepAdd si:1 one_o
    ni: NextIteration i1
    nt: NextIteration xu
    xt: Exit st
    out: Identity xt
    use: StepAdd out one
  )",
                   /*parallel=*/2);
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("use"), "0:4");  // 0 + 1 + 2, and one
    EXPECT_EQ(d.Of("xt"), "0:dead 1:dead 2:dead 3:3");
    // Inner frames of 0, 1 and 2 iterations, and one that is dead.
    EXPECT_EQ(d.Count("u1"), 1 + 2 + 3 + 1);
  });
}

TEST(FramePropagatorTest, AMergeTakesTheFirstAndWaitsForItsControls) {
  const TestPlan p(R"(
    p: Const true
    v: Const 1
    two: Const 2
    split: Switch v p
    slow: StepAdd split:1 two
    slower: StepAdd slow two
    both: Merge split:1 slow ^slower
    none: Merge split left
    left: StepAdd split split
    after: StepAdd both two
  )");
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("both"), "0:1,0");  // only once, the first
    EXPECT_EQ(d.Of("after"), "0:3");
    EXPECT_EQ(d.Of("none"), "0:dead");
  });
}

TEST(FramePropagatorTest, AnExitWithAValueInEachIterationGivesItOnce) {
  TestPlan p(absl::StrCat(CountTo(3), R"(
    early: Exit merge
    after: StepAdd early nothing
    both: StepAdd early out
  )"));
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Count("early"), 4);
    EXPECT_EQ(d.Count("after"), 1);
    EXPECT_EQ(d.Count("both"), 1);
  });
}

TEST(FramePropagatorTest, DeathComesThroughControlEdgesToo) {
  const TestPlan p(R"(
    p: Const true
    v: Const 1
    split: Switch v p
    dead: Identity split
    a: StepEffect ^dead
    b: StepAdd v v ^a
    trigger: ControlTrigger ^dead ^a
    c: StepAdd v v ^trigger
    merge: Merge split split:1 ^dead
  )");
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("a"), "0:dead");
    EXPECT_EQ(d.Of("b"), "0:dead");
    EXPECT_EQ(d.Of("trigger"), "0:");
    EXPECT_EQ(d.Of("c"), "0:2");        // alive again
    EXPECT_EQ(d.Of("merge"), "0:1,1");  // its control inputs only delay it
  });
}

TEST(FramePropagatorTest, AReceivedDeadValueIsDeadAlsoForControlEdges) {
  const TestPlan p(R"(
    recv: _Recv tensor_type=int32 tensor_name=t send_device=a recv_device=b send_device_incarnation=1
    one: Const 1
    data: StepAdd recv one
    control: StepEffect ^recv
    p: Const true
    also: Switch one p ^control
  )");
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("recv"), "0:");  // it ran, and gave nothing
    EXPECT_EQ(d.Of("data"), "0:dead");
    EXPECT_EQ(d.Of("control"), "0:dead");
    EXPECT_EQ(d.Of("also"), "0:dead");
  });
}

TEST(FramePropagatorTest, ANextIterationThatOnlyControlsIsDeferredToo) {
  // Nobody reads the value of `tick`, but `effect` waits for it.
  const TestPlan p(absl::StrCat(CountTo(4), R"(
    tick: NextIteration sum
    effect: StepEffect ^tick
  )"),
                   /*parallel=*/1);
  ASSERT_EQ(p.status, OkStatus());
  InAnyOrder(p.plan, [](FrameDriver& d) {
    EXPECT_EQ(d.Of("tick"), "0:1 1:2 2:3 3:4 4:dead");
    EXPECT_EQ(d.Of("effect"), "1: 2: 3: 4:");
    EXPECT_EQ(d.Of("out"), "0:5");
    EXPECT_EQ(d.most_iterations(), 1u);
  });
}

TEST(FramePropagatorTest, AStepThatEndedEarlyLeavesNothingToTheNext) {
  const TestPlan p(CountTo(5), /*parallel=*/2);
  ASSERT_EQ(p.status, OkStatus());
  FrameDriver d(p.plan);
  for (int items = 0; items < 40; ++items) {
    SCOPED_TRACE(items);
    ASSERT_EQ(d.Run(Order::kRandom, items, items), OkStatus());
    ASSERT_EQ(d.Run(Order::kFirst), OkStatus());
    EXPECT_EQ(d.Of("out"), "0:6");
    EXPECT_EQ(d.Count("sum"), 6);
  }
}

TEST(FramePropagatorTest, MoreFramesThanAreKeptForLater) {
  // 100 iterations at once.
  const TestPlan p(CountTo(100), /*parallel=*/200);
  ASSERT_EQ(p.status, OkStatus());
  FrameDriver d(p.plan);
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(d.Run(Order::kLast), OkStatus());
    EXPECT_EQ(d.Of("out"), "0:101");
  }
}

TEST(FramePropagatorTest, OutputsMustBeThereAndOfTheirType) {
  struct Case {
    const char* op;
    const char* words;
  };
  const Case cases[] = {
      {"StepUnset", "Missing 0-th output"},
      {"StepWrong", "Output 0 has type float but the op declares int32"},
  };
  for (const Case& c : cases) {
    for (const char* reader :
         {"r: StepAdd bad v", "r: Enter bad in=f", "r: Merge bad bad"}) {
      SCOPED_TRACE(absl::StrCat(c.op, " ", reader));
      const TestPlan p(
          absl::StrCat("v: Const 1\np: Const true\n"
                       "s: Switch v p\nbad: ",
                       c.op, " s:1\n", reader));
      ASSERT_EQ(p.status, OkStatus());
      FrameDriver d(p.plan);
      ExpectError(d.Run(Order::kFirst), absl::StatusCode::kInternal, c.words);
    }
  }
}

}  // namespace
}  // namespace headrace
