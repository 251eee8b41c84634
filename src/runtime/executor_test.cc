#include "runtime/executor.h"

#include <atomic>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "base/thread_pool.h"
#include "runtime/call_site.h"
#include "runtime/pending_calls.h"
#include "runtime/reuse_notes.h"
#include "runtime/running_kernels.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

using ExecutorTest = StepTest;

void ExpectWords(const Status& s, absl::StatusCode code,
                 const std::vector<std::string>& words) {
  for (const std::string& w : words) ExpectError(s, code, w);
}

TEST_F(ExecutorTest, AnEmptyGraphIsComplete) {
  EXPECT_EQ(Ran(""), "");
  EXPECT_EQ(executor_->num_nodes(), 0);
  EXPECT_FALSE(executor_->needs_rendezvous());
  EXPECT_FALSE(executor_->may_run_long());
}

TEST_F(ExecutorTest, RunsEachNodeOnceAfterItsInputs) {
  const char* const text = R"(
    in: _Arg index=0
    one: Const 1
    a: StepAdd in one
    b: StepAdd a a
    effect: StepEffect ^b
    c: StepAdd b one ^effect
    ret: _Retval c index=0
  )";
  frame_.args = {Tensor::Scalar<int32_t>(4)};
  EXPECT_EQ(Ran(text), "0:11");
  EXPECT_EQ(StepLog::Take(), "a b effect c");
  // The executor is used again, with other arguments.
  frame_.args = {Tensor::Scalar<int32_t>(-1)};
  EXPECT_EQ(Run(), OkStatus());
  EXPECT_EQ(Results(), "0:1");
}

TEST_F(ExecutorTest, ArgumentsThatTheCallerKeepsAreNotWrittenOver) {
  frame_.args = {Tensor(CpuAllocator(), DT_INT32, {}, Tensor::kHeap)};
  frame_.args[0].scalar<int32_t>() = 4;
  ASSERT_EQ(Load("in: _Arg index=0\n"
                 "one: Const 1\n"
                 "a: StepAdd in one\n"
                 "ret: _Retval a index=0\n"
                 "same: _Retval in index=1\n"),
            OkStatus());
  for (const bool kept : {true, false}) {
    ASSERT_EQ(Create({.args_are_kept = kept}), OkStatus());
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(Run(), OkStatus());
      EXPECT_EQ(Results(), "0:5 1:4");
    }
  }
  EXPECT_EQ(frame_.args[0].scalar<int32_t>(), 4);
  // Fewer than the graph has.
  frame_.args.clear();
  for (const bool kept : {true, false}) {
    ASSERT_EQ(Create({.args_are_kept = kept}), OkStatus());
    EXPECT_FALSE(Run().ok());
  }
}

TEST_F(ExecutorTest, TheFirstFailureEndsTheStepAndNamesTheNode) {
  ASSERT_EQ(Load(R"(
    in: Const 1
    bad: StepFail in message=broken
    after: StepAdd bad in
    ret: _Retval after index=0
  )"),
            OkStatus());
  ExpectWords(Run(), absl::StatusCode::kDataLoss,
              {"broken", "[[{{node bad}}]]"});
  EXPECT_EQ(StepLog::Take(), "");
  EXPECT_EQ(Results(), "");
  // And again: what is left of a failed step is no part of the next.
  ExpectWords(Run(), absl::StatusCode::kDataLoss, {"broken"});
}

TEST_F(ExecutorTest, AFailureInAFunctionSaysWhoCalledIt) {
  ASSERT_EQ(Load("in: Const 1\nbad: StepFail in message=broken"), OkStatus());
  const std::string function = "f";
  NodeDef caller;
  caller.name = "call";
  const CallSite site{&function, &caller, nullptr, 1};
  StepArgs args;
  args.call_site = &site;
  CancellationManager cancellation;
  ExpectWords(RunWith(&cancellation, nullptr, args),
              absl::StatusCode::kDataLoss,
              {"in function 'f', called by [[{{node call}}]]"});
}

TEST_F(ExecutorTest, WhatAKernelThrowsIsItsFailure) {
  ASSERT_EQ(Load("in: Const 1\nbad: StepThrow in what=memory"), OkStatus());
  ExpectWords(Run(), absl::StatusCode::kResourceExhausted, {"{{node bad}}"});
  ASSERT_EQ(Load("in: Const 1\nbad: StepThrow in what=other"), OkStatus());
  ExpectWords(Run(), absl::StatusCode::kInternal,
              {"thrown by a test", "{{node bad}}"});
}

TEST_F(ExecutorTest, OutputsMustBeSetAndOfTheirType) {
  ASSERT_EQ(Load("in: Const 1\nbad: StepUnset in\nx: StepSlow bad"),
            OkStatus());
  ExpectWords(Run(), absl::StatusCode::kInternal,
              {"Missing 0-th output", "{{node bad}}"});
  ASSERT_EQ(Load("in: Const 1\nbad: StepWrong in\nx: StepSlow bad"),
            OkStatus());
  ExpectWords(Run(), absl::StatusCode::kInternal,
              {"Output 0 has type float but the op declares int32"});
  // Nobody reads them: nobody minds.
  EXPECT_EQ(Ran("in: Const 1\nbad: StepUnset in\nalso: StepWrong in"), "");
}

TEST_F(ExecutorTest, CancelledBeforeItBeginsItRunsNothing) {
  ASSERT_EQ(Load("in: Const 1\na: StepAdd in in\nret: _Retval a index=0"),
            OkStatus());
  CancellationManager cancellation;
  cancellation.StartCancel(errors::DeadlineExceeded("too late"));
  EXPECT_EQ(RunWith(&cancellation), errors::DeadlineExceeded("too late"));
  EXPECT_EQ(StepLog::Take(), "");
  EXPECT_EQ(Results(), "");
}

// An element that was taken from a queue would be lost.
TEST_F(ExecutorTest, WhatWasComputedIsHandedOutThoughTheStepIsCancelled) {
  ASSERT_EQ(Load("in: Const 1\na: StepAsync in how=keep\n"
                 "ret: _Retval a index=0"),
            OkStatus());
  CancellationManager cancellation;
  StepArgs args;
  args.cancellation = &cancellation;
  args.call_frame = &frame_;
  bool complete = false, done = false;
  executor_->RunAsync(args, [&](bool c) {
    complete = c;
    done = true;
  });
  EXPECT_FALSE(done);
  cancellation.StartCancel();
  KeptCallbacks::Take()();
  EXPECT_TRUE(done);
  EXPECT_TRUE(complete);
  EXPECT_EQ(Results(), "0:1");
}

TEST_F(ExecutorTest, AsynchronousKernelsCallBackWhenTheyWill) {
  for (const char* how : {"now", "thread", "twice"}) {
    SCOPED_TRACE(how);
    ASSERT_EQ(Load(absl::StrCat("in: Const 3\n"
                                "a: StepAsync in how=",
                                how,
                                "\n"
                                "b: StepAsync in how=",
                                how,
                                "\n"
                                "sum: StepAdd a b\n"
                                "ret: _Retval sum index=0\n")),
              OkStatus());
    ThreadPool pool(2, "test");
    for (ThreadPool* p : {&pool, static_cast<ThreadPool*>(nullptr)}) {
      for (int run = 0; run < 3; ++run) {
        ASSERT_EQ(Run(p), OkStatus());
        EXPECT_EQ(Results(), "0:6");
        const std::string ran = StepLog::Take();
        EXPECT_TRUE(ran == "a b sum" || ran == "b a sum") << ran;
      }
    }
  }
}

TEST_F(ExecutorTest, AsynchronousKernelsThatFailOrDropTheirCallback) {
  struct Case {
    const char* how;
    absl::StatusCode code;
    const char* words;
  };
  const Case cases[] = {
      {"fail", absl::StatusCode::kDataLoss, "asynchronous failure"},
      {"drop", absl::StatusCode::kResourceExhausted,
       "the kernel ended without a result"},
      {"throw", absl::StatusCode::kResourceExhausted, "memory"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.how);
    ASSERT_EQ(Load(absl::StrCat("in: Const 3\na: StepAsync in how=", c.how,
                                "\nb: StepAdd a a\n")),
              OkStatus());
    const Status s = Run();
    ExpectWords(s, c.code, {"{{node a}}"});
    EXPECT_TRUE(absl::StrContains(absl::AsciiStrToLower(s.message()), c.words))
        << s;
    EXPECT_EQ(StepLog::Take(), "a");
  }
}

// The last copy of the callback goes on another thread, long after the kernel
// has returned.
TEST_F(ExecutorTest, ACallbackDroppedLaterEndsTheStepToo) {
  ASSERT_EQ(Load("in: Const 3\na: StepAsync in how=keep"), OkStatus());
  std::thread dropper([] {
    while (KeptCallbacks::size() == 0) absl::SleepFor(absl::Milliseconds(1));
    absl::SleepFor(absl::Milliseconds(5));
    KeptCallbacks::Take();
  });
  ExpectWords(Run(), absl::StatusCode::kResourceExhausted,
              {"the kernel ended without a result"});
  dropper.join();
}

TEST_F(ExecutorTest, AFailureEndsWhatWaitsForTheCancellation) {
  ASSERT_EQ(Load(R"(
    in: Const 1
    waits: StepAsync in how=wait
    bad: StepFail in message=broken
  )"),
            OkStatus());
  ExpectWords(Run(), absl::StatusCode::kDataLoss, {"broken"});
  EXPECT_EQ(StepLog::Take(), "waits");
}

TEST_F(ExecutorTest, PendingCallsAreKnownByName) {
  ASSERT_EQ(Load("in: Const 7\nwaits: StepAsync in how=wait"), OkStatus());
  PendingCalls pending;
  CancellationManager cancellation;
  StepArgs args;
  args.cancellation = &cancellation;
  args.pending = &pending;
  Notification done;
  executor_->RunAsync(args, [&](bool complete) {
    EXPECT_FALSE(complete);
    done.Notify();
  });
  EXPECT_EQ(pending.Describe(),
            "; still waiting: node 'waits' (StepAsync) for the end, with 7");
  cancellation.StartCancel();
  done.WaitForNotification();
  EXPECT_EQ(pending.Describe(), "");
}

TEST_F(ExecutorTest, ExpensiveNodesRunBesideEachOther) {
  // Each waits until three are there.
  ASSERT_EQ(Load(R"(
    in: Const 1
    a: StepMeet in parties=3
    b: StepMeet in parties=3
    c: StepMeet in parties=3
    ab: StepAdd a b
    abc: StepAdd ab c
    ret: _Retval abc index=0
  )"),
            OkStatus());
  EXPECT_TRUE(executor_->may_run_long());
  ThreadPool pool(3, "test");
  for (int run = 0; run < 10; ++run) {
    ASSERT_EQ(Run(&pool), OkStatus());
    EXPECT_EQ(Results(), "0:3");
  }
}

// The caller's own branch ends first; what is left was in the pool's queue, and
// the caller slept.
TEST_F(ExecutorTest, TheCallerRunsNodesThatWaitForABusyPool) {
  ASSERT_EQ(Load(R"(
    in: Const 1
    a: StepSlow in
    b: StepSlow in
    c: StepSlow b
    d: StepSlow in
    ab: StepAdd a c
    abd: StepAdd ab d
    ret: _Retval abd index=0
  )"),
            OkStatus());
  ThreadPool pool(2, "test");
  Notification busy, release, ended;
  pool.Schedule([&] {
    busy.Notify();
    release.WaitForNotification();
    ended.Notify();
  });
  busy.WaitForNotification();
  EXPECT_EQ(Run(&pool), OkStatus());
  EXPECT_EQ(Results(), "0:3");
  release.Notify();
  ended.WaitForNotification();
}

TEST_F(ExecutorTest, CheapNodesRunBeforeExpensiveOnes) {
  ASSERT_EQ(Load(R"(
    in: Const 1
    slow: StepSlow in
    more: StepSlow slow
    cheap: StepAdd in in
    next: StepAdd cheap in
  )"),
            OkStatus());
  ASSERT_EQ(Run(), OkStatus());
  EXPECT_EQ(StepLog::Take(), "cheap next slow more");
}

TEST_F(ExecutorTest, ManyRunsAtOnceDoNotMix) {
  ASSERT_EQ(Load(R"(
    in: _Arg index=0
    one: Const 1
    a: StepSlow in
    b: StepSlow in
    sum: StepAdd a b
    out: StepAdd sum one
    ret: _Retval out index=0
  )"),
            OkStatus());
  ThreadPool pool(3, "test");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      TestFrame frame;
      frame.args = {Tensor::Scalar<int32_t>(t)};
      for (int run = 0; run < 100; ++run) {
        frame.rets.clear();
        CancellationManager cancellation;
        StepArgs args;
        args.cancellation = &cancellation;
        args.call_frame = &frame;
        args.pool = &pool;
        TaskGroup group;
        args.group = &group;
        if (!executor_->Run(args, RunMemory(), nullptr) ||
            frame.rets[0].scalar<int32_t>() != 2 * t + 1) {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ExecutorTest, ReferencesAreReadWhenTheyAreUsed) {
  EXPECT_EQ(Ran(R"(
    v: StepVariable
    five: Const 5
    set: StepAssign v five
    read: StepAdd v five ^set
    ret: _Retval read index=0
    ref: _Retval set index=1
  )"),
            "0:10 1:5");
}

TEST_F(ExecutorTest, AnUninitializedVariableMayOnlyBeWritten) {
  const char* const head = "v: StepVariable set=false\nfive: Const 5\n";
  ASSERT_EQ(Load(absl::StrCat(head, "read: StepAdd five v")), OkStatus());
  ExpectWords(Run(), absl::StatusCode::kFailedPrecondition,
              {"Attempting to use uninitialized value v", "{{node read}}"});
  EXPECT_EQ(Ran(absl::StrCat(head,
                             "set: StepAssign v five\n"
                             "ret: _Retval set index=0")),
            "0:5");
}

TEST_F(ExecutorTest, DeadNodesDoNotRun) {
  const char* const text = R"(
    p: _Arg T=bool index=0
    v: Const 1
    split: Switch v p
    on: StepAdd split:1 v
    off: StepAdd split v
    more: StepAdd off off
    effect: StepEffect ^off
    both: Merge on more
    ret: _Retval both index=0
    which: _Retval both:1 index=1
  )";
  frame_.args = {Tensor::Scalar(true)};
  EXPECT_EQ(Ran(text), "0:2 1:0");
  EXPECT_EQ(StepLog::Take(), "on");
  frame_.args = {Tensor::Scalar(false)};
  EXPECT_EQ(Run(), OkStatus());
  EXPECT_EQ(Results(), "0:4 1:1");
  EXPECT_EQ(StepLog::Take(), "off more effect");
}

TEST_F(ExecutorTest, ADeadResultIsNotSet) {
  EXPECT_EQ(Ran(R"(
    p: Const true
    v: Const 1
    split: Switch v p
    dead: _Retval split index=0
    live: _Retval split:1 index=1
  )"),
            "1:1");
}

TEST_F(ExecutorTest, APredicateMustBeAScalar) {
  ASSERT_EQ(Load("p: _Arg T=bool index=0\nv: Const 1\ns: Switch v p\n"
                 "r: _Retval s index=0"),
            OkStatus());
  frame_.args = {MakeTensor<bool>({2}, {true, false})};
  ExpectWords(Run(), absl::StatusCode::kInvalidArgument,
              {"must be a scalar", "{{node s}}"});
}

// i = 0; while (i < limit) i = i + 1
constexpr char kCount[] = R"(
  zero: Const 0
  one: Const 1
  limit: _Arg index=0
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
  ret: _Retval exit index=0
)";

TEST_F(ExecutorTest, LoopsRunAsOftenAsTheirConditionHolds) {
  for (const int parallel : {1, 2, 10}) {
    ASSERT_EQ(Load(kCount, parallel), OkStatus());
    for (const int limit : {0, 1, 2, 57, 3000}) {
      frame_.args = {Tensor::Scalar<int32_t>(limit)};
      ASSERT_EQ(Run(), OkStatus());
      EXPECT_EQ(Results(), absl::StrCat("0:", limit));
    }
  }
}

TEST_F(ExecutorTest, AResultInsideALoopIsThatOfTheFirstIteration) {
  frame_.args = {Tensor::Scalar<int32_t>(4)};
  EXPECT_EQ(Ran(absl::StrCat(kCount, "inside: _Retval merge index=1")),
            "0:4 1:0");
}

TEST_F(ExecutorTest, AFailureInALoopEndsIt) {
  frame_.args = {Tensor::Scalar<int32_t>(3)};
  ASSERT_EQ(Load(absl::StrCat(kCount, "bad: StepFail sum message=inside")),
            OkStatus());
  for (int run = 0; run < 3; ++run) {
    ExpectWords(Run(), absl::StatusCode::kDataLoss, {"inside", "{{node bad}}"});
  }
}

TEST_F(ExecutorTest, TracedStepsRecordEachCall) {
  frame_.args = {Tensor::Scalar<int32_t>(2)};
  ASSERT_EQ(Load(absl::StrCat(kCount,
                              "twice: StepAdd exit one\n"
                              "late: StepAsync exit how=now\n")),
            OkStatus());
  StepStatsCollector stats;
  StepArgs args;
  args.stats = &stats;
  CancellationManager cancellation;
  ASSERT_EQ(RunWith(&cancellation, nullptr, args), OkStatus());
  pb::StepStats all;
  pb::RunCounters counters;
  stats.Finish(&all, &counters);
  ASSERT_EQ(all.dev_stats_size(), 1);
  EXPECT_EQ(all.dev_stats(0).device(), device_.name());
  std::map<std::string, int> calls;
  for (const auto& n : all.dev_stats(0).node_stats()) {
    ++calls[n.node_name()];
    EXPECT_GE(n.op_end_rel_nanos(), 0) << n.node_name();
    EXPECT_LE(n.scheduled_nanos(), n.all_start_nanos()) << n.node_name();
  }
  EXPECT_EQ(calls["sum"], 2);
  EXPECT_EQ(calls["merge"], 3);  // traced steps call every kernel
  EXPECT_EQ(calls["twice"], 1);
  EXPECT_EQ(calls["late"], 1);
}

TEST_F(ExecutorTest, NotesSayWhichOutputTookAnInputsPlace) {
  ASSERT_EQ(Load("in: _Arg index=0\na: StepSlow in\nret: _Retval a index=0"),
            OkStatus());
  frame_.args = {Tensor(DT_INT32, {100})};
  ReuseNotes notes;
  RunMemory memory;
  memory.notes = &notes;
  CancellationManager cancellation;
  StepArgs args;
  args.cancellation = &cancellation;
  args.call_frame = &frame_;
  TaskGroup group;
  args.group = &group;
  ASSERT_TRUE(executor_->Run(args, memory, nullptr));
  const auto kernel = [&](const std::string& name) -> const OpKernel* {
    for (const OpKernel* k : executor_->RunKernels()) {
      if (k->name() == name) return k;
    }
    return nullptr;
  };
  ASSERT_NE(kernel("a"), nullptr);
  EXPECT_EQ(notes.InputOf(kernel("a"), 0), 0);  // hands it on
  EXPECT_EQ(notes.InputOf(kernel("in"), 0), ReuseNotes::kOwn);
}

TEST_F(ExecutorTest, AStepThatWasLeftBeginsNoFurtherExpensiveKernel) {
  ASSERT_EQ(Load("in: Const 1\na: StepSlow in\nb: StepSlow a"), OkStatus());
  RunningKernels running;
  CancellationManager cancellation;
  StepArgs args;
  args.running = &running;
  EXPECT_EQ(RunWith(&cancellation, nullptr, args), OkStatus());
  EXPECT_EQ(StepLog::Take(), "a b");
  // Left while some kernel of it ran.
  std::string which;
  {
    const RunningKernels::Call call(&running, executor_->kernels()[1].get());
    ASSERT_TRUE(running.Leave(&which));
  }
  CancellationManager again;
  StepArgs left = args;
  left.cancellation = &again;
  bool complete = true;
  executor_->RunAsync(left, [&](bool c) { complete = c; });
  EXPECT_FALSE(complete);
  EXPECT_EQ(StepLog::Take(), "");
}

TEST_F(ExecutorTest, RefusesGraphsThatNoPlanCanRun) {
  graph_ = std::make_unique<Graph>();
  LoadNodes("c: Const 1\na: Identity c", graph_.get());
  graph_->RemoveEdge(graph_->FindNode("a")->input_edge(0));
  ExpectWords(Create({}), absl::StatusCode::kInternal,
              {"input 0 of node {{node a}} is not connected"});
  graph_ = std::make_unique<Graph>();
  LoadNodes("c: Const 1\nx: Exit c", graph_.get());
  ExpectWords(Create({.control_flow = true}),
              absl::StatusCode::kInvalidArgument, {"is in no frame"});
}

}  // namespace
}  // namespace headrace
