// Control flow on one device: frames, iterations, dead values, references, what
// is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "session/control_flow_test_util.h"

namespace headrace {
namespace {

// How often it has run, over all iterations and steps.
REGISTER_OP("LoopTestCount").Input("x: int32").Output("y: int32");
std::atomic<int> counted{0};
class LoopTestCountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++counted;
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("LoopTestCount").Device(DEVICE_CPU),
                        LoopTestCountOp);

TEST_F(ControlFlowTest, ReferencesThroughSwitchAndMerge) {
  ASSERT_EQ(Load(R"(
      v: VariableV2 dtype=int32 shape=[]
      five: Const 5
      init: Assign v five
      p: Placeholder dtype=bool
      s: RefSwitch v p
      one: Const 1
      ten: Const 10
      t: AssignAdd s:1 one
      f: AssignAdd s ten
      m: RefMerge f t
      read: Identity m
      now: Identity v
      unset: VariableV2 dtype=int32 shape=[]
      s2: RefSwitch unset p
      set: Assign s2:1 ten)"),
            OkStatus());
  ASSERT_EQ(Run({}, {"init"}), OkStatus());
  std::vector<Tensor> out;
  for (const auto& [p, want] : {std::pair(true, 6), {false, 16}, {true, 17}}) {
    ASSERT_EQ(session_->Run({{"p:0", Tensor::Scalar(p)}}, {"read:0", "m:1"}, {},
                            &out),
              OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), want);
    EXPECT_EQ(out[1].scalar<int32_t>(), p ? 1 : 0);
  }
  EXPECT_EQ(Get("now"), 17);
  // What has no value yet goes through a RefSwitch too.
  EXPECT_EQ(session_->Run({{"p:0", Tensor::Scalar(true)}}, {"set:0"}, {}, &out),
            OkStatus());
}

TEST_F(ControlFlowTest, ReferencesThroughALoop) {
  ASSERT_EQ(Load(R"(
      v: VariableV2 dtype=int32 shape=[]
      hundred: Const 100
      init: Assign v hundred
      zero: Const 0
      e: Enter zero frame_name=f
      ev: RefEnter v frame_name=f
      m: Merge e n
      mv: RefMerge ev nv
      six: Const 6
      esix: Enter six is_constant=true frame_name=f
      less: Less m esix
      cond: LoopCond less
      s: Switch m cond
      sv: RefSwitch mv cond
      one: Const 1 ^s_1
      s_1: Identity s:1
      inc: AddV2 s:1 one
      add: AssignAdd sv:1 inc
      n: NextIteration inc
      nv: RefNextIteration add
      out: RefExit sv
      value: Identity out
      now: Identity v)"),
            OkStatus());
  ASSERT_EQ(Run({}, {"init"}), OkStatus());
  EXPECT_EQ(Get("value"), 121);
  EXPECT_EQ(Get("now"), 121);
  EXPECT_EQ(Get("value"), 142);
}

TEST_F(ControlFlowTest, AControlTriggerRunsOnDeadInputs) {
  ASSERT_EQ(Load(R"(
      x: Const 1
      no: Const false
      s: Switch x no
      dead: LoopTestCount s:1
      trigger: ControlTrigger ^dead
      noop: NoOp ^dead
      after: Const 8 ^trigger
      never: Const 9 ^noop)"),
            OkStatus());
  counted = 0;
  EXPECT_EQ(Get("after"), 8);
  ExpectError(Run({"never:0"}), kInvalid, {"Retval[0] does not have value"});
  EXPECT_EQ(counted, 0);
}

TEST_F(ControlFlowTest, NothingRunsOnADeadInput) {
  const std::string branch = R"(
      x: Const 1
      p: Placeholder dtype=bool
      s: Switch x p
      pivot: Identity s:1
      )";
  const char* const nodes[] = {
      "d: LoopTestCount pivot",
      "c: Const 3 ^pivot\n d: LoopTestCount c",
      "n: NoOp ^pivot\n c: Const 3 ^n\n d: LoopTestCount c",
      "c: Const 3 ^pivot\n a: AddV2 x c\n d: LoopTestCount a",
      "c: Const 3 ^pivot\n a: AddV2 s:1 c\n d: LoopTestCount a",
      "c: Const 3 ^pivot\n o: Neg s:1\n a: AddV2 o c\n d: LoopTestCount a",
      "c: Const 3 ^pivot\n e: Const 4 ^pivot\n a: AddV2 c e\n"
      " d: LoopTestCount a",
      "n: NoOp ^pivot\n c: Const 3 ^n\n a: AddV2 x c\n d: LoopTestCount a",
      "t: ControlTrigger ^pivot\n u: Switch x p ^t\n c: Const 3 ^u\n"
      " a: AddV2 u:1 c\n d: LoopTestCount a",
      "a: AddV2 x pivot\n d: LoopTestCount a",
      "q: FIFOQueueV2 component_types=none\n w: QueueSizeV2 q ^pivot\n"
      " d: LoopTestCount w",
      "i: Merge pivot pivot\n d: LoopTestCount i",
      "i: Merge pivot pivot\n d: LoopTestCount i:1",
      "t: Switch pivot p\n d: LoopTestCount t:1",
      "v: VariableV2 dtype=int32 shape=[]\n w: Assign v pivot\n"
      " d: LoopTestCount w",
      "h: VarHandleOp dtype=int32 shape=[]\n w: AssignVariableOp h pivot\n"
      " r: ReadVariableOp h ^w\n d: LoopTestCount r",
      "e: Enter pivot frame_name=f\n o: Exit e\n d: LoopTestCount o",
      "e: Enter pivot is_constant=true frame_name=f\n o: Exit e\n"
      " d: LoopTestCount o",
  };
  for (std::string text : nodes) {
    SCOPED_TRACE(text);
    graph_ = std::make_shared<Graph>();
    pb::GraphDef def = ParseNodes(branch + text);
    for (auto& n : *def.mutable_node()) {
      if (n.op() != "FIFOQueueV2") continue;
      auto& types = (*n.mutable_attr())["component_types"];
      types.clear_value();
      types.mutable_list()->add_type(pb::DT_INT32);
    }
    ASSERT_EQ(ImportGraphDef({}, def, graph_.get()), OkStatus());
    ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
    std::vector<Tensor> out;
    counted = 0;
    EXPECT_EQ(session_->Run({{"p:0", Tensor::Scalar(true)}}, {}, {"d"}, &out),
              OkStatus());
    EXPECT_EQ(counted, 1);
    EXPECT_EQ(session_->Run({{"p:0", Tensor::Scalar(false)}}, {}, {"d"}, &out),
              OkStatus());
    EXPECT_EQ(counted, 1);
    ExpectError(
        session_->Run({{"p:0", Tensor::Scalar(false)}}, {"d:0"}, {}, &out),
        kInvalid, {"Retval[0] does not have value", "d:0"});
    EXPECT_EQ(counted, 1);
  }
}

TEST_F(ControlFlowTest, AConstantWaitsForItsControlInputs) {
  ASSERT_EQ(Load(R"(
      v: VariableV2 dtype=int32 shape=[]
      zero: Const 0
      late: LoopTestSlow zero
      first: Assign v late
      one: Const 1 ^first
      second: AssignAdd v one
      done: NoOp ^second
      two: Const 2 ^done
      third: AssignAdd v two
      out: Identity third)"),
            OkStatus());
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Get("out"), 3);
}

TEST_F(ControlFlowTest, FetchesInsideBranchesAndLoops) {
  ASSERT_EQ(Load(R"(
      x: Const 4
      p: Placeholder dtype=bool
      s: Switch x p
      t: Neg s:1
      f: Mul s s
      m: Merge f t
      e: Enter x frame_name=f
      lm: Merge e n
      ten: Const 10
      eten: Enter ten is_constant=true frame_name=f
      less: Less lm eten
      cond: LoopCond less
      ls: Switch lm cond
      twice: AddV2 ls:1 ls:1
      n: NextIteration twice
      out: Exit ls)"),
            OkStatus());
  std::vector<Tensor> out;
  ASSERT_EQ(session_->Run({{"p:0", Tensor::Scalar(true)}},
                          {"t:0", "m:0", "s:1"}, {}, &out),
            OkStatus());
  EXPECT_EQ(out[0].scalar<int32_t>(), -4);
  EXPECT_EQ(out[2].scalar<int32_t>(), 4);
  ExpectError(
      session_->Run({{"p:0", Tensor::Scalar(false)}}, {"m:0", "t:0"}, {}, &out),
      kInvalid, {"Retval[1] does not have value: t:0"});
  EXPECT_EQ(Get("out"), 16);
}

TEST_F(ControlFlowTest, ALoopWithoutIterations) {
  ASSERT_EQ(Load(R"(
      x: Const 4
      e: Enter x frame_name=f
      m: Merge e n
      no: Const false
      eno: Enter no T=bool is_constant=true frame_name=f
      cond: LoopCond eno
      s: Switch m cond
      body: LoopTestCount s:1
      n: NextIteration body
      out: Exit s)"),
            OkStatus());
  counted = 0;
  EXPECT_EQ(Get("out"), 4);
  EXPECT_EQ(counted, 0);
}

// Sleeps, and notes by how many iterations the loop's counter is ahead.
REGISTER_OP("LoopTestSlow").Input("x: int32").Output("y: int32");
std::atomic<int> slept{0}, ahead{0};
class LoopTestSlowOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    absl::SleepFor(absl::Milliseconds(1));
    ahead = std::max(ahead.load(), counted - slept++);
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("LoopTestSlow").Device(DEVICE_CPU),
                        LoopTestSlowOp);

TEST_F(ControlFlowTest, ParallelIterationsBoundHowFarALoopRunsAhead) {
  for (const int parallel : {1, 3, 8}) {
    SCOPED_TRACE(parallel);
    const std::string frame =
        absl::StrCat(" frame_name=f parallel_iterations=", parallel);
    graph_ = std::make_shared<Graph>();
    ASSERT_EQ(Load(absl::StrCat(R"(
      zero: Const 0
      e: Enter zero)",
                                frame, R"(
      ee: Enter zero)",
                                frame, R"(
      limit: Const 40
      elimit: Enter limit is_constant=true)",
                                frame, R"(
      one: Const 1
      eone: Enter one is_constant=true)",
                                frame, R"(
      m: Merge e n
      mm: Merge ee nn
      less: Less m elimit
      cond: LoopCond less
      s: Switch m cond
      ss: Switch mm cond
      count: LoopTestCount s:1
      inc: AddV2 count eone
      n: NextIteration inc
      slow: LoopTestSlow count
      sum: AddV2 ss:1 slow
      nn: NextIteration sum
      out: Exit ss)")),
              OkStatus());
    counted = slept = ahead = 0;
    EXPECT_EQ(Get("out"), 780);
    EXPECT_EQ(counted, 40);
    EXPECT_LE(ahead, parallel + 1);
  }
}

TEST_F(ControlFlowTest, LoopsInsideLoopsWithOtherParallelIterations) {
  for (const int outer : {1, 4}) {
    for (const int inner : {1, 2, 32}) {
      SCOPED_TRACE(absl::StrCat(outer, ", ", inner));
      const std::string out =
          absl::StrCat(" frame_name=o parallel_iterations=", outer);
      const std::string in =
          absl::StrCat(" frame_name=i parallel_iterations=", inner);
      graph_ = std::make_shared<Graph>();
      // for (i = 0; i < 9; ++i) { for (j = 0; j < 3; ++j) count; s += j }
      ASSERT_EQ(Load(absl::StrCat(R"(
      zero: Const 0
      one: Const 1
      three: Const 3
      nine: Const 9
      e: Enter zero)",
                                  out, R"(
      es: Enter zero)",
                                  out, R"(
      enine: Enter nine is_constant=true)",
                                  out, R"(
      ethree: Enter three is_constant=true)",
                                  out, R"(
      eone: Enter one is_constant=true)",
                                  out, R"(
      m: Merge e n
      ms: Merge es ns
      less: Less m enine
      cond: LoopCond less
      s: Switch m cond
      ss: Switch ms cond
      inc: AddV2 s:1 eone
      n: NextIteration inc
      start: Sub s:1 s:1
      ie: Enter start)",
                                  in, R"(
      i3: Enter ethree is_constant=true)",
                                  in, R"(
      i1: Enter eone is_constant=true)",
                                  in, R"(
      im: Merge ie in
      iless: Less im i3
      icond: LoopCond iless
      is: Switch im icond
      count: LoopTestCount is:1
      iinc: AddV2 count i1
      in: NextIteration iinc
      j: Exit is
      sum: AddV2 ss:1 j
      ns: NextIteration sum
      out: Exit ss)")),
                OkStatus());
      counted = 0;
      EXPECT_EQ(Get("out"), 27);
      EXPECT_EQ(counted, 27);
    }
  }
}

TEST_F(ControlFlowTest, AnInvariantThatComesLate) {
  // The loop's other Enters are long there, and iterations begun.
  ASSERT_EQ(Load(R"(
      zero: Const 0
      e: Enter zero frame_name=f
      ee: Enter zero frame_name=f
      one: Const 1
      late: LoopTestSlow one
      elate: Enter late is_constant=true frame_name=f
      eone: Enter one is_constant=true frame_name=f
      five: Const 5
      efive: Enter five is_constant=true frame_name=f
      m: Merge e n
      mm: Merge ee nn
      less: Less m efive
      cond: LoopCond less
      s: Switch m cond
      ss: Switch mm cond
      inc: AddV2 s:1 eone
      n: NextIteration inc
      sum: AddV2 ss:1 elate
      nn: NextIteration sum
      out: Exit ss)"),
            OkStatus());
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Get("out"), 5);
}

TEST_F(ControlFlowTest, ConstantsOfLoopsNeedNotArrive) {
  const std::string kLoop = R"(
      zero: Const 0
      e: Enter zero in=f
      three: Const 3
      ethree: Enter three is_constant=true in=f
      m: Merge e n
      less: Less m ethree
      cond: LoopCond less
      s: Switch m cond
      one: Const 1
      eone: Enter one is_constant=true in=f
      inc: AddV2 s:1 eone
      n: NextIteration inc
      ee: Enter zero in=f
      mm: Merge ee nn
      ss: Switch mm cond
      next: AddV2 ss:1 value
      nn: NextIteration next
      out: Exit ss
      five: Const 5
      efive: Enter five is_constant=true in=f
)";
  const struct {
    const char* nodes;
    int want;
    std::vector<const char*> run;  // Enters of constants, beside e and ee
  } kCases[] = {
      {"value: AddV2 efive s:1", 5 + 6 + 7, {}},
      // Through Identities, and where all inputs but one are constants.
      {"i: Identity efive\n j: Identity i\n value: AddV2 j s:1", 18, {}},
      {"a: AddV2 efive s:1\n i: Identity ethree\n value: AddV2 a i", 27, {}},
      // Nothing else to wait for: it must arrive.
      {"value: AddV2 efive ethree", 24, {"efive", "ethree"}},
      {"i: Identity efive\n value: AddV2 i efive", 30, {"efive"}},
      {"value: LoopTestCount efive", 15, {"efive"}},
      {"i: Identity efive\n v: AddV2 s:1 s:1\n value: Identity v ^i",
       0 + 2 + 4,
       {"efive"}},
      {"value: Identity s:1 ^efive", 0 + 1 + 2, {"efive"}},
      // Into an inner loop, of two turns.
      {R"(
      g: Enter s:1 in=g
      gfive: Enter efive is_constant=true in=g
      gone: Enter eone is_constant=true in=g
      zz: Const 0
      gm: Merge g gn
      two: Const 2
      etwo: Enter two is_constant=true in=f
      ez: Enter zz is_constant=true in=f
      start: AddV2 ez s:1
      gstart: Enter start is_constant=true in=g
      gtwo: Enter etwo is_constant=true in=g
      end: AddV2 gstart gtwo
      gless: Less gm end
      gcond: LoopCond gless
      gs: Switch gm gcond
      ginc: AddV2 gs:1 gone
      gn: NextIteration ginc
      gout: Exit gs
      gsum: AddV2 gs:1 gfive
      value: AddV2 gout efive)",
       2 + 3 + 4 + 15,
       {"gtwo", "etwo"}},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.nodes);
    graph_ = std::make_shared<Graph>();
    ASSERT_EQ(Load(kLoop + c.nodes), OkStatus());
    pb::RunOptions options;
    options.set_trace_level(pb::RunOptions::FULL_TRACE);
    pb::RunMetadata metadata;
    out_.clear();
    ASSERT_EQ(session_->Run(options, {}, {"out:0"}, {}, &out_, &metadata),
              OkStatus());
    EXPECT_EQ(out_[0].scalar<int32_t>(), c.want);
    std::set<std::string> entered, wanted(c.run.begin(), c.run.end());
    for (const auto& n : metadata.step_stats().dev_stats(0).node_stats()) {
      for (const char* name :
           {"efive", "ethree", "eone", "etwo", "ez", "gfive", "gone", "gtwo"}) {
        if (n.node_name() == name) entered.insert(name);
      }
    }
    EXPECT_EQ(entered, wanted);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Get("out"), c.want);
  }
}

TEST_F(ControlFlowTest, TheFirstLiveInputOfAMergeCounts) {
  ASSERT_EQ(Load(R"(
      a: Const 1
      b: Const 2
      m: Merge a b
      out: Identity m
      twice: AddV2 m m)"),
            OkStatus());
  ASSERT_EQ(Run({"out:0", "m:1", "twice:0"}), OkStatus());
  EXPECT_EQ(out_[0].scalar<int32_t>(), out_[1].scalar<int32_t>() + 1);
  EXPECT_EQ(out_[2].scalar<int32_t>(), 2 * out_[0].scalar<int32_t>());
}

TEST_F(ControlFlowTest, RefusesLoopsThatMakeNoSense) {
  const struct {
    const char* text;
    std::vector<std::string> words;
  } cases[] = {
      {"x: Const 1\n d: Exit x", {"d", "Exit", "no frame"}},
      {"x: Const 1\n d: NextIteration x", {"d", "NextIteration", "no frame"}},
      {"x: Const 1\n e: Enter x frame_name=left\n d: AddV2 e x",
       {"inputs from different frames", "'left'", "''", "{{node d}}"}},
      {"x: Const 1\n e: Enter x frame_name=left\n"
       " r: Enter x frame_name=right\n d: AddV2 e r",
       {"'left'", "'right'", "{{node e}}", "{{node r}}"}},
      {"x: Const 1\n e: Enter x frame_name=left\n d: Merge e x",
       {"inputs from different frames", "'left'", "{{node d}}"}},
      {"x: Const 1\n e: Enter x frame_name=f\n o: Exit e\n d: Merge o e",
       {"inputs from different frames", "'f'", "{{node d}}"}},
      {"x: Const 1\n e: Enter x frame_name=f\n d: NoOp ^e ^x",
       {"inputs from different frames", "'f'"}},
      {"x: Const 1\n e: Enter x frame_name=f\n"
       " g: Enter e frame_name=g\n h: Enter x frame_name=g\n d: AddV2 g h",
       {"'g'", "'f'", "''"}},
      {"x: Const 1\n e: Enter x frame_name=f\n"
       " g: Enter x frame_name=f parallel_iterations=3\n d: AddV2 e g",
       {"'f'", "parallel_iterations", "10", "3"}},
      {"x: Const 1\n d: Enter x frame_name=f parallel_iterations=0",
       {"parallel_iterations", "0"}},
      // The back edge comes from another frame.
      {"x: Const 1\n e: Enter x frame_name=f\n r: Enter x frame_name=g\n"
       " d: Merge e n\n n: NextIteration r",
       {"inputs from different frames", "'f'", "'g'"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    graph_ = std::make_shared<Graph>();
    const Status loaded = Load(c.text);
    const Status s = loaded.ok() ? Run({}, {"d"}) : loaded;
    ExpectError(s, kInvalid, c.words);
  }
}

TEST_F(ControlFlowTest, RefusesLoopsNestedWithoutEnd) {
  const auto nested = [](int depth) {
    std::string text = "x0: Const 1\n";
    for (int i = 1; i <= depth; ++i) {
      absl::StrAppend(&text, "x", i, ": Enter x", i - 1, " frame_name=f", i,
                      "\n");
    }
    std::string out = absl::StrCat("x", depth);
    for (int i = depth; i >= 1; --i) {
      absl::StrAppend(&text, "y", i, ": Exit ", out, "\n");
      out = absl::StrCat("y", i);
    }
    return text;
  };
  ASSERT_EQ(Load(nested(200)), OkStatus());
  EXPECT_EQ(Get("y1"), 1);
  graph_ = std::make_shared<Graph>();
  ASSERT_EQ(Load(nested(201)), OkStatus());
  ExpectError(Run({"y1:0"}), kInvalid, {"at most 200 deep"});
}

TEST_F(ControlFlowTest, ConditionsMustBeScalars) {
  ASSERT_EQ(Load(R"(
      x: Const 1
      p: Placeholder dtype=bool
      s: Switch x p
      e: Enter p T=bool frame_name=f
      c: LoopCond e
      o: Exit c T=bool)"),
            OkStatus());
  const Tensor two = MakeTensor<bool>({2}, {true, false});
  std::vector<Tensor> out;
  ExpectError(session_->Run({{"p:0", two}}, {}, {"s"}, &out), kInvalid,
              {"scalar", "[2]", "{{node s}}"});
  ExpectError(session_->Run({{"p:0", two}}, {}, {"o"}, &out), kInvalid,
              {"scalar", "[2]", "{{node c}}"});
}

TEST_F(ControlFlowTest, AbortEndsTheStepAndNotTheProcess) {
  ASSERT_EQ(Load(R"(
      a: Abort error_msg=boo
      b: Abort exit_without_error=true)"),
            OkStatus());
  std::vector<Tensor> out;
  const auto kAborted = absl::StatusCode::kAborted;
  ExpectError(session_->Run({}, {}, {"a"}, &out), kAborted,
              {"boo (asked to abort the process", "{{node a}}"});
  ExpectError(session_->Run({}, {}, {"b"}, &out), kAborted,
              {"Abort was run (asked to exit without error", "{{node b}}"});
}

TEST_F(ControlFlowTest, LoopsThatCannotCrossDevices) {
  ASSERT_EQ(Load(R"(
      x: Const 1
      e: Enter x frame_name=f
      m: Merge e n
      n: NextIteration twice
      p: Const true
      ep: Enter p T=bool is_constant=true frame_name=f
      s: Switch m ep
      twice: AddV2 s:1 s:1 @1
      o: Exit s)",
                 2),
            OkStatus());
  ExpectError(Run({"o:0"}), kInvalid,
              {"A cross-device loop must have a pivot predicate", "'f'"});
  graph_ = std::make_shared<Graph>();
  ASSERT_EQ(Load(R"(
      x: Const 1
      e: Enter x frame_name=f
      m: Merge e n
      n: NextIteration inc
      five: Const 5
      efive: Enter five is_constant=true frame_name=f
      less: Less m efive
      cond: LoopCond less
      s: Switch m cond
      inc: AddV2 s:1 s:1
      once: Neg e
      there: Neg once @1
      sum: AddV2 there less_int
      less_int: Cast cond SrcT=bool DstT=int32
      o: Exit s)",
                 2),
            OkStatus());
  ExpectError(Run({"o:0"}, {"sum"}), kInvalid,
              {"'once'", "'f'", "no value in some iterations"});
}

}  // namespace
}  // namespace headrace
