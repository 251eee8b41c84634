// Loops and branches over several devices, with one and several iterations at
// once, and how they are ended from outside.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "session/control_flow_test_util.h"

namespace headrace {
namespace {

// The same graph on one, two and three devices, with as many iterations at once
// as the second parameter says.
class DevicesTest : public ControlFlowTest,
                    public ::testing::WithParamInterface<std::tuple<int, int>> {
 protected:
  int devices() const { return std::get<0>(GetParam()); }
  Status LoadHere(absl::string_view text) {
    return Load(text, devices(), std::get<1>(GetParam()));
  }
  // Several times over, as what goes wrong between threads may go right once.
  void ExpectAlways(const std::string& fetch, int32_t value) {
    for (int i = 0; i < 20; ++i) ASSERT_EQ(Get(fetch), value) << fetch;
  }
};
INSTANTIATE_TEST_SUITE_P(, DevicesTest,
                         ::testing::Combine(::testing::Values(1, 2, 3),
                                            ::testing::Values(1, 2, 10)),
                         [](const auto& info) {
                           return absl::StrCat(
                               "devices", std::get<0>(info.param), "_parallel",
                               std::get<1>(info.param));
                         });

TEST_P(DevicesTest, BodyOnAnotherDevice) {
  // for (i = 0, sum = 0; i < 50; ++i) sum += i * 3
  ASSERT_EQ(LoadHere(R"(
      zero: Const 0
      ei: Enter zero in=f
      es: Enter zero in=f
      fifty: Const 50
      elimit: Enter fifty is_constant=true in=f
      three: Const 3
      e3: Enter three is_constant=true in=f
      mi: Merge ei ni
      ms: Merge es ns
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      ss: Switch ms cond
      one: Const 1 ^si_1
      si_1: Identity si:1
      inc: AddV2 si:1 one
      times: Mul si:1 e3 @1
      plus: AddV2 ss:1 times @2
      ni: NextIteration inc
      ns: NextIteration plus
      i: Exit si
      sum: Exit ss)"),
            OkStatus());
  ExpectAlways("sum", 3 * 1225);
  ExpectAlways("i", 50);
}

TEST_P(DevicesTest, AnInvariantComputedElsewhereInEveryIteration) {
  // `square` reads loop invariants alone, on a device that the loop sends
  // nothing to.
  ASSERT_EQ(LoadHere(R"(
      zero: Const 0
      ei: Enter zero in=f
      three: Const 3
      e3: Enter three is_constant=true in=f
      limit: Const 100
      elimit: Enter limit is_constant=true in=f
      mi: Merge ei ni
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      square: Mul e3 e3 @1
      inc: AddV2 si:1 square
      ni: NextIteration inc
      i: Exit si)"),
            OkStatus());
  ExpectAlways("i", 108);
}

TEST_P(DevicesTest, TheConditionElsewhere) {
  ASSERT_EQ(LoadHere(R"(
      zero: Const 0
      ei: Enter zero in=f
      limit: Const 30
      elimit: Enter limit is_constant=true in=f
      mi: Merge ei ni
      less: Less mi elimit @1
      cond: LoopCond less @2
      si: Switch mi cond
      one: Const 1 ^si_1 @2
      si_1: Identity si:1
      inc: AddV2 si:1 one @1
      ni: NextIteration inc
      i: Exit si
      twice: Mul i i @1)"),
            OkStatus());
  ExpectAlways("twice", 900);
}

TEST_P(DevicesTest, LoopsInsideLoops) {
  // for (i = 0, s = 0; i < 6; ++i) for (j = 0; j < i; ++j) s += i
  ASSERT_EQ(LoadHere(R"(
      zero: Const 0
      ei: Enter zero in=out
      es: Enter zero in=out
      limit: Const 6
      elimit: Enter limit is_constant=true in=out
      unit: Const 1
      eunit: Enter unit is_constant=true in=out
      mi: Merge ei ni
      ms: Merge es ns
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      ss: Switch ms cond
      inc: AddV2 si:1 eunit
      ni: NextIteration inc
      jzero: Sub si:1 si:1 @2
      ej: Enter jzero in=in
      et: Enter ss:1 in=in
      e2i: Enter si:1 is_constant=true in=in
      e2unit: Enter eunit is_constant=true in=in
      mj: Merge ej nj
      mt: Merge et nt
      jless: Less mj e2i
      jcond: LoopCond jless
      sj: Switch mj jcond
      st: Switch mt jcond
      jinc: AddV2 sj:1 e2unit
      tsum: AddV2 st:1 e2i @1
      nj: NextIteration jinc
      nt: NextIteration tsum
      t: Exit st
      passed: Identity t @2
      ns: NextIteration passed
      s: Exit ss)"),
            OkStatus());
  ExpectAlways("s", 0 + 1 + 4 + 9 + 16 + 25);
}

TEST_P(DevicesTest, ABranchInALoopOnAnotherDevice) {
  // s += i % 2 == 0 ? i * 10 : -1
  ASSERT_EQ(LoadHere(R"(
      zero: Const 0
      ei: Enter zero in=f
      es: Enter zero in=f
      limit: Const 11
      elimit: Enter limit is_constant=true in=f
      mi: Merge ei ni
      ms: Merge es ns
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      ss: Switch ms cond
      i: Identity si:1
      one: Const 1 ^i
      two: Const 2 ^i
      none: Const 0 ^i
      rest: FloorMod i two
      even: Equal rest none
      branch: Switch i even
      ten: Const 10 ^branch_t @1
      branch_t: Identity branch:1 @1
      true: Mul branch_t ten @1
      false: Const -1 ^branch_f @2
      branch_f: Identity branch:0
      both: Merge false true
      sum: AddV2 ss:1 both
      inc: AddV2 i one
      ni: NextIteration inc
      ns: NextIteration sum
      s: Exit ss)"),
            OkStatus());
  ExpectAlways("s", 10 * 30 - 5);
}

TEST_P(DevicesTest, ADeadBranchCrosses) {
  ASSERT_EQ(LoadHere(R"(
      x: Const 7
      p: Placeholder dtype=bool
      s: Switch x p
      t: Neg s:1 @1
      f: Mul s s @2
      ft: Neg f @1
      m: Merge ft t @2
      out: Identity m
      after: NoOp ^t @2
      late: Const 1 ^after)"),
            OkStatus());
  for (const bool p : {true, false}) {
    std::vector<Tensor> out;
    ASSERT_EQ(session_->Run({{"p:0", Tensor::Scalar(p)}}, {"out:0"}, {}, &out),
              OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), p ? -7 : -49);
    // Only what waits for the branch not taken is dead.
    const Status s =
        session_->Run({{"p:0", Tensor::Scalar(p)}}, {"late:0"}, {}, &out);
    if (p) {
      EXPECT_EQ(s, OkStatus());
    } else {
      ExpectError(s, kInvalid, {"Retval[0] does not have value", "late:0"});
    }
  }
}

TEST_P(DevicesTest, ALoopInABranchNotTaken) {
  ASSERT_EQ(LoadHere(R"(
      x: Const 3
      p: Placeholder dtype=bool
      b: Switch x p
      start: Identity b:1 @1
      e: Enter start in=f
      limit: Const 40
      elimit: Enter limit is_constant=true in=f
      m: Merge e n
      less: Less m elimit @1
      cond: LoopCond less
      s: Switch m cond
      twice: AddV2 s:1 s:1 @2
      n: NextIteration twice
      exit: Exit s
      other: Neg b
      out: Merge other exit)"),
            OkStatus());
  for (int i = 0; i < 10; ++i) {
    const bool p = i % 2 == 0;
    std::vector<Tensor> out;
    ASSERT_EQ(session_->Run({{"p:0", Tensor::Scalar(p)}}, {"out:0"}, {}, &out),
              OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), p ? 48 : -3);
  }
}

TEST_P(DevicesTest, AStackFilledByOneLoopAndEmptiedByAnother) {
  // Push i, then pop with r = 2 * r + i, as gradients of loops do.
  ASSERT_EQ(LoadHere(R"(
      size: Const 20
      stack: StackV2 size elem_type=int32 @1
      zero: Const 0
      unit: Const 1
      ei: Enter zero in=fwd
      eh: Enter stack T=resource is_constant=true in=fwd
      elimit: Enter size is_constant=true in=fwd
      eunit: Enter unit is_constant=true in=fwd
      mi: Merge ei ni
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      push: StackPushV2 eh si:1
      inc: AddV2 push eunit @2
      ni: NextIteration inc
      n: Exit si
      ek: Enter n in=back
      er: Enter zero in=back
      bh: Enter stack T=resource is_constant=true in=back
      bzero: Enter zero is_constant=true in=back
      bunit: Enter unit is_constant=true in=back
      mk: Merge ek nk
      mr: Merge er nr
      more: Greater mk bzero
      bcond: LoopCond more
      sk: Switch mk bcond
      sr: Switch mr bcond
      pivot: Identity sk:1
      pop: StackPopV2 bh ^pivot ^nr_order elem_type=int32
      nr_order: Identity sr:1
      double: AddV2 sr:1 sr:1 @2
      sum: AddV2 double pop
      nr: NextIteration sum
      dec: Sub sk:1 bunit
      nk: NextIteration dec
      r: Exit sr)"),
            OkStatus());
  int32_t want = 0;
  for (int i = 19; i >= 0; --i) want = 2 * want + i;
  ExpectAlways("r", want);
}

constexpr char kEndless[] = R"(
    zero: Const 0
    e: Enter zero frame_name=f
    always: Const true
    ealways: Enter always T=bool is_constant=true frame_name=f
    m: Merge e n
    cond: LoopCond ealways
    s: Switch m cond
    minus: Neg s:1 @1
    plus: Neg minus @2
    n: NextIteration plus
    out: Exit s)";

TEST_P(DevicesTest, ADeadlineEndsAnEndlessLoop) {
  ASSERT_EQ(LoadHere(kEndless), OkStatus());
  pb::RunOptions options;
  options.set_timeout_in_ms(50);
  const absl::Time start = absl::Now();
  ExpectError(session_->Run(options, {}, {"out:0"}, {}, &out_, nullptr),
              absl::StatusCode::kDeadlineExceeded, {});
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_P(DevicesTest, CancellingEndsAnEndlessLoop) {
  ASSERT_EQ(LoadHere(kEndless), OkStatus());
  for (int i = 0; i < 5; ++i) {
    CancellationManager cancel;
    std::thread other([&] {
      absl::SleepFor(absl::Milliseconds(5 * i));
      cancel.StartCancel();
    });
    std::vector<Tensor> out;
    const Endpoint fetch{graph_->FindNode("out"), 0};
    ExpectError(session_->Run({}, {}, {fetch}, {}, &out, nullptr, &cancel),
                absl::StatusCode::kCancelled, {});
    other.join();
  }
}

TEST_P(DevicesTest, AFailureInAnIterationEndsTheLoop) {
  ASSERT_EQ(LoadHere(R"(
      three: Const 3
      e: Enter three in=f
      always: Const true
      ealways: Enter always T=bool is_constant=true in=f
      unit: Const 1
      eunit: Enter unit is_constant=true in=f
      hundred: Const 100
      ehundred: Enter hundred is_constant=true in=f
      m: Merge e n
      cond: LoopCond ealways
      s: Switch m cond
      less: Sub s:1 eunit
      bad: FloorDiv ehundred less @1
      back: AddV2 less bad @2
      n: NextIteration less ^back
      out: Exit s)"),
            OkStatus());
  for (int i = 0; i < 10; ++i) {
    ExpectError(Run({"out:0"}), kInvalid, {"Integer division by zero", "bad"});
  }
}

TEST_P(DevicesTest, SeveralRunsAtOnce) {
  ASSERT_EQ(LoadHere(R"(
      x: Placeholder
      zero: Const 0
      ei: Enter zero in=f
      ex: Enter x is_constant=true in=f
      unit: Const 1
      eunit: Enter unit is_constant=true in=f
      mi: Merge ei ni
      less: Less mi ex @1
      cond: LoopCond less
      si: Switch mi cond
      inc: AddV2 si:1 eunit @2
      ni: NextIteration inc
      i: Exit si)"),
            OkStatus());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 20; ++k) {
        std::vector<Tensor> out;
        EXPECT_EQ(session_->Run({{"x:0", Tensor::Scalar<int32_t>(t * 7 + k)}},
                                {"i:0"}, {}, &out),
                  OkStatus());
        if (!out.empty()) {
          EXPECT_EQ(out[0].scalar<int32_t>(), t * 7 + k);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace headrace
