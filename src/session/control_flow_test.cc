// Control flow run through a session: frames, iterations, dead values,
// references, loops inside loops, on one device and over several.
//
// Graphs are written a node a line: "name: Op input ... attr=value ...
// @device". Types are int32 unless T says otherwise; "name: Const 5" makes a
// scalar.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "framework/op_tester.h"
#include "graph/importer.h"
#include "session/direct_session.h"

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

void SetConst(absl::string_view text, pb::NodeDef* n) {
  Tensor t;
  int32_t i;
  float f;
  if (text == "true" || text == "false") {
    t = Tensor::Scalar(text == "true");
  } else if (absl::SimpleAtoi(text, &i)) {
    t = Tensor::Scalar(i);
  } else {
    ASSERT_TRUE(absl::SimpleAtof(text, &f)) << text;
    t = Tensor::Scalar(f);
  }
  (*n->mutable_attr())["dtype"].set_type(static_cast<pb::DataType>(t.dtype()));
  auto* value = (*n->mutable_attr())["value"].mutable_tensor();
  value->set_dtype(static_cast<pb::DataType>(t.dtype()));
  value->mutable_tensor_shape();
  if (t.dtype() == DT_BOOL) value->add_bool_val(t.scalar<bool>());
  if (t.dtype() == DT_INT32) value->add_int_val(t.scalar<int32_t>());
  if (t.dtype() == DT_FLOAT) value->add_float_val(t.scalar<float>());
}

void SetAttr(absl::string_view name, absl::string_view value, pb::NodeDef* n) {
  auto& attr = (*n->mutable_attr())[std::string(name)];
  int64_t i;
  DataType type;
  if (value == "true" || value == "false") {
    attr.set_b(value == "true");
  } else if (absl::SimpleAtoi(value, &i)) {
    attr.set_i(i);
  } else if (value == "[]") {
    attr.mutable_shape();
  } else if (DataTypeFromString(value, &type)) {
    attr.set_type(static_cast<pb::DataType>(type));
  } else {
    attr.set_s(std::string(value));
  }
}

// `devices`: how many there are; "@k" beyond means the last one.
pb::GraphDef ParseNodes(absl::string_view text, int devices = 1) {
  pb::GraphDef def;
  def.mutable_versions()->set_producer(21);
  for (absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipWhitespace());
    pb::NodeDef* n = def.add_node();
    n->set_name(std::string(absl::StripSuffix(words[0], ":")));
    n->set_op(std::string(words[1]));
    const OpDef* op;
    EXPECT_EQ(OpRegistry::Global()->LookUp(n->op(), &op), OkStatus());
    if (op == nullptr) continue;
    for (const auto& a : op->attrs) {
      if (a.name == "T" || a.name == "dtype") SetAttr(a.name, "int32", n);
    }
    for (size_t i = 2; i < words.size(); ++i) {
      const absl::string_view w = words[i];
      const std::vector<absl::string_view> attr = absl::StrSplit(w, '=');
      int k;
      if (n->op() == "Const" && i == 2) {
        SetConst(w, n);
      } else if (attr.size() == 2) {
        SetAttr(attr[0], attr[1], n);
      } else if (w[0] == '@') {
        EXPECT_TRUE(absl::SimpleAtoi(w.substr(1), &k));
        n->set_device(absl::StrCat("/cpu:", std::min(k, devices - 1)));
      } else {
        n->add_input(std::string(w));
      }
    }
    if (absl::EndsWith(n->op(), "Merge")) SetAttr("N", "2", n);
  }
  return def;
}

class ControlFlowTest : public ::testing::Test {
 protected:
  Status Load(absl::string_view text, int devices = 1) {
    HR_RETURN_IF_ERROR(
        ImportGraphDef({}, ParseNodes(text, devices), graph_.get()));
    pb::ConfigProto config;
    (*config.mutable_device_count())["CPU"] = devices;
    // The loops under test are of constants.
    auto* rewrite = config.mutable_graph_options()->mutable_rewrite_options();
    rewrite->set_constant_folding(pb::RewriterConfig::OFF);
    return NewSession(config, "", graph_, &session_);
  }
  Status Run(const std::vector<std::string>& fetches,
             const std::vector<std::string>& targets = {}) {
    out_.clear();
    return session_->Run({}, fetches, targets, &out_);
  }
  // The value of an int32 scalar; a failure is the test's.
  int32_t Get(const std::string& fetch) {
    const Status s = Run({absl::StrCat(fetch, ":0")});
    EXPECT_EQ(s, OkStatus()) << fetch;
    return s.ok() ? out_[0].scalar<int32_t>() : -999;
  }
  static void ExpectError(const Status& s, absl::StatusCode code,
                          const std::vector<std::string>& words) {
    EXPECT_EQ(s.code(), code) << s;
    for (const std::string& w : words) {
      EXPECT_TRUE(absl::StrContains(s.message(), w)) << w << " not in " << s;
    }
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
  std::vector<Tensor> out_;
};

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// The same graph on one, two and three devices, with as many iterations at once
// as the second parameter says.
class DevicesTest : public ControlFlowTest,
                    public ::testing::WithParamInterface<std::tuple<int, int>> {
 protected:
  int devices() const { return std::get<0>(GetParam()); }
  // frame attrs
  std::string Frame(const std::string& name) const {
    return absl::StrCat(" frame_name=", name,
                        " parallel_iterations=", std::get<1>(GetParam()), " ");
  }
  Status LoadHere(absl::string_view text) { return Load(text, devices()); }
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
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      zero: Const 0
      ei: Enter zero)",
                                  Frame("f"), R"(
      es: Enter zero)",
                                  Frame("f"), R"(
      fifty: Const 50
      elimit: Enter fifty is_constant=true)",
                                  Frame("f"), R"(
      three: Const 3
      e3: Enter three is_constant=true)",
                                  Frame("f"), R"(
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
      sum: Exit ss)")),
            OkStatus());
  ExpectAlways("sum", 3 * 1225);
  ExpectAlways("i", 50);
}

TEST_P(DevicesTest, AnInvariantComputedElsewhereInEveryIteration) {
  // `square` reads loop invariants alone, on a device that the loop sends
  // nothing to.
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      zero: Const 0
      ei: Enter zero)",
                                  Frame("f"), R"(
      three: Const 3
      e3: Enter three is_constant=true)",
                                  Frame("f"), R"(
      limit: Const 100
      elimit: Enter limit is_constant=true)",
                                  Frame("f"), R"(
      mi: Merge ei ni
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      square: Mul e3 e3 @1
      inc: AddV2 si:1 square
      ni: NextIteration inc
      i: Exit si)")),
            OkStatus());
  ExpectAlways("i", 108);
}

TEST_P(DevicesTest, TheConditionElsewhere) {
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      zero: Const 0
      ei: Enter zero)",
                                  Frame("f"), R"(
      limit: Const 30
      elimit: Enter limit is_constant=true)",
                                  Frame("f"), R"(
      mi: Merge ei ni
      less: Less mi elimit @1
      cond: LoopCond less @2
      si: Switch mi cond
      one: Const 1 ^si_1 @2
      si_1: Identity si:1
      inc: AddV2 si:1 one @1
      ni: NextIteration inc
      i: Exit si
      twice: Mul i i @1)")),
            OkStatus());
  ExpectAlways("twice", 900);
}

TEST_P(DevicesTest, LoopsInsideLoops) {
  // for (i = 0, s = 0; i < 6; ++i) for (j = 0; j < i; ++j) s += i
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      zero: Const 0
      ei: Enter zero)",
                                  Frame("out"), R"(
      es: Enter zero)",
                                  Frame("out"), R"(
      limit: Const 6
      elimit: Enter limit is_constant=true)",
                                  Frame("out"), R"(
      unit: Const 1
      eunit: Enter unit is_constant=true)",
                                  Frame("out"), R"(
      mi: Merge ei ni
      ms: Merge es ns
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      ss: Switch ms cond
      inc: AddV2 si:1 eunit
      ni: NextIteration inc
      jzero: Sub si:1 si:1 @2
      ej: Enter jzero)",
                                  Frame("in"), R"(
      et: Enter ss:1)",
                                  Frame("in"), R"(
      e2i: Enter si:1 is_constant=true)",
                                  Frame("in"), R"(
      e2unit: Enter eunit is_constant=true)",
                                  Frame("in"), R"(
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
      s: Exit ss)")),
            OkStatus());
  ExpectAlways("s", 0 + 1 + 4 + 9 + 16 + 25);
}

TEST_P(DevicesTest, ABranchInALoopOnAnotherDevice) {
  // s += i % 2 == 0 ? i * 10 : -1
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      zero: Const 0
      ei: Enter zero)",
                                  Frame("f"), R"(
      es: Enter zero)",
                                  Frame("f"), R"(
      limit: Const 11
      elimit: Enter limit is_constant=true)",
                                  Frame("f"), R"(
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
      s: Exit ss)")),
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
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      x: Const 3
      p: Placeholder dtype=bool
      b: Switch x p
      start: Identity b:1 @1
      e: Enter start)",
                                  Frame("f"), R"(
      limit: Const 40
      elimit: Enter limit is_constant=true)",
                                  Frame("f"), R"(
      m: Merge e n
      less: Less m elimit @1
      cond: LoopCond less
      s: Switch m cond
      twice: AddV2 s:1 s:1 @2
      n: NextIteration twice
      exit: Exit s
      other: Neg b
      out: Merge other exit)")),
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
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      size: Const 20
      stack: StackV2 size elem_type=int32 @1
      zero: Const 0
      unit: Const 1
      ei: Enter zero)",
                                  Frame("fwd"), R"(
      eh: Enter stack T=resource is_constant=true)",
                                  Frame("fwd"), R"(
      elimit: Enter size is_constant=true)",
                                  Frame("fwd"), R"(
      eunit: Enter unit is_constant=true)",
                                  Frame("fwd"), R"(
      mi: Merge ei ni
      less: Less mi elimit
      cond: LoopCond less
      si: Switch mi cond
      push: StackPushV2 eh si:1
      inc: AddV2 push eunit @2
      ni: NextIteration inc
      n: Exit si
      ek: Enter n)",
                                  Frame("back"), R"(
      er: Enter zero)",
                                  Frame("back"), R"(
      bh: Enter stack T=resource is_constant=true)",
                                  Frame("back"), R"(
      bzero: Enter zero is_constant=true)",
                                  Frame("back"), R"(
      bunit: Enter unit is_constant=true)",
                                  Frame("back"), R"(
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
      r: Exit sr)")),
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
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      three: Const 3
      e: Enter three)",
                                  Frame("f"), R"(
      always: Const true
      ealways: Enter always T=bool is_constant=true)",
                                  Frame("f"), R"(
      unit: Const 1
      eunit: Enter unit is_constant=true)",
                                  Frame("f"), R"(
      hundred: Const 100
      ehundred: Enter hundred is_constant=true)",
                                  Frame("f"), R"(
      m: Merge e n
      cond: LoopCond ealways
      s: Switch m cond
      less: Sub s:1 eunit
      bad: FloorDiv ehundred less @1
      back: AddV2 less bad @2
      n: NextIteration less ^back
      out: Exit s)")),
            OkStatus());
  for (int i = 0; i < 10; ++i) {
    ExpectError(Run({"out:0"}), kInvalid, {"Integer division by zero", "bad"});
  }
}

TEST_P(DevicesTest, SeveralRunsAtOnce) {
  ASSERT_EQ(LoadHere(absl::StrCat(R"(
      x: Placeholder
      zero: Const 0
      ei: Enter zero)",
                                  Frame("f"), R"(
      ex: Enter x is_constant=true)",
                                  Frame("f"), R"(
      unit: Const 1
      eunit: Enter unit is_constant=true)",
                                  Frame("f"), R"(
      mi: Merge ei ni
      less: Less mi ex @1
      cond: LoopCond less
      si: Switch mi cond
      inc: AddV2 si:1 eunit @2
      ni: NextIteration inc
      i: Exit si)")),
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

// Frames, on one device.

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
    ASSERT_EQ(NewSession({}, "", graph_, &session_), OkStatus());
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
