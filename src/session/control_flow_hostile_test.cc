// Graphs of control flow that no front end makes: what the executor may not
// meet is refused, and it survives the rest.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_cat.h"
#include "session/control_flow_test_util.h"

namespace headrace {
namespace {

REGISTER_OP("HostileTestCount").Input("x: int32").Output("y: int32");
std::atomic<int> counted{0};
class HostileTestCountOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++counted;
    ctx->set_output(0, ctx->input(0));
  }
};
REGISTER_KERNEL_BUILDER(Name("HostileTestCount").Device(DEVICE_CPU),
                        HostileTestCountOp);

TEST_F(ControlFlowTest, AMergeOfNextIterationsAloneIsRefused) {
  for (const char* text :
       {"x: Const 1\n e: Enter x frame_name=f\n n: NextIteration e\n"
        " d: Merge n n",
        "x: Const 1\n e: Enter x frame_name=f\n n: NextIteration e\n"
        " d: Merge n n ^e\n o: Exit d",
        // Nothing begins it: it turns round itself.
        "d: Merge n n\n n: NextIteration d",
        "v: VariableV2 dtype=int32 shape=[]\n e: RefEnter v frame_name=f\n"
        " n: RefNextIteration e\n d: RefMerge n n"}) {
    SCOPED_TRACE(text);
    graph_ = std::make_shared<Graph>();
    const Status loaded = Load(text);
    const Status s = loaded.ok() ? Run({}, {"d"}) : loaded;
    ExpectError(s, kInvalid, {"{{node d}}", "NextIteration alone"});
    ExpectError(loaded.ok() ? Run({"d:0"}) : loaded, kInvalid,
                {"NextIteration alone"});
  }
}

// A Merge that fired for each dead Enter told its readers twice, which then did
// not wait for what else they read.
TEST_F(ControlFlowTest, AMergeOfTwoDeadEntersFiresOnce) {
  ASSERT_EQ(Load(R"(
      x: Const 1
      no: Const false
      s: Switch x no
      e1: Enter s:1 frame_name=f
      e2: Enter s:1 frame_name=f
      live: Enter x frame_name=f
      m: Merge e1 e2
      back: NextIteration live
      later: Identity back
      t: ControlTrigger ^m ^later
      c: Const 3 ^t
      d: HostileTestCount c
      o: Exit d)"),
            OkStatus());
  for (int i = 0; i < 20; ++i) {
    counted = 0;
    ASSERT_EQ(Run({}, {"d", "o"}), OkStatus());
    EXPECT_EQ(counted, 0);
  }
}

TEST_F(ControlFlowTest, AMergeOfADeadAndALiveEnterFiresOnce) {
  ASSERT_EQ(Load(R"(
      x: Const 1
      no: Const false
      s: Switch x no
      dead: Enter s:1 frame_name=f
      live: Enter x frame_name=f
      m: Merge dead live
      d: HostileTestCount m
      t: ControlTrigger ^m
      c: Const 3 ^t
      e: HostileTestCount c
      o: Exit d)"),
            OkStatus());
  for (int i = 0; i < 50; ++i) {
    counted = 0;
    ASSERT_EQ(Run({}, {"d", "e", "o"}), OkStatus());
    EXPECT_GE(counted, 1);
    EXPECT_LE(counted, 2);
  }
}

// The iterations of the outer loop run the inner ones at the same time: all but
// one of them would write the result.
TEST_F(ControlFlowTest, AFetchInALoopInALoopGivesOneValue) {
  ASSERT_EQ(Load(R"(
      zero: Const 0
      one: Const 1
      twenty: Const 20
      ten: Const 10
      e: Enter zero in=o
      limit: Enter twenty in=o is_constant=true
      eone: Enter one in=o is_constant=true
      eten: Enter ten in=o is_constant=true
      m: Merge e n
      less: Less m limit
      cond: LoopCond less
      s: Switch m cond
      inc: AddV2 s:1 eone
      n: NextIteration inc
      start: Mul s:1 eten
      ie: Enter start in=i
      ione: Enter eone in=i is_constant=true
      istop: AddV2 start eten
      ilimit: Enter istop in=i is_constant=true
      im: Merge ie in
      iless: Less im ilimit
      icond: LoopCond iless
      is: Switch im icond
      body: HostileTestCount is:1
      iinc: AddV2 body ione
      in: NextIteration iinc
      j: Exit is
      out: Exit s)"),
            OkStatus());
  for (int i = 0; i < 20; ++i) {
    counted = 0;
    ASSERT_EQ(Run({"body:0", "m:0"}, {"out", "j"}), OkStatus());
    EXPECT_EQ(out_[0].scalar<int32_t>(), 0);
    EXPECT_EQ(out_[1].scalar<int32_t>(), 0);
    EXPECT_EQ(counted, 200);
  }
}

// Its control loops would follow one condition and wait for the other.
TEST_F(ControlFlowTest, TwoConditionsOfALoopOnTwoDevicesAreRefused) {
  const char* const text = R"(
      x: Const 1
      three: Const 3
      e: Enter x frame_name=f
      limit: Enter three frame_name=f is_constant=true
      m: Merge e n
      less: Less m limit
      c1: LoopCond less
      c2: LoopCond less
      s: Switch m c1
      inc: AddV2 s:1 s:1 @1
      n: NextIteration inc
      out: Exit s
      o: Switch m c2
      never: Identity o)";
  ASSERT_EQ(Load(text), OkStatus());
  EXPECT_EQ(Run({"out:0"}, {"never"}), OkStatus());
  EXPECT_EQ(out_[0].scalar<int32_t>(), 4);
  graph_ = std::make_shared<Graph>();
  ASSERT_EQ(Load(text, /*devices=*/2), OkStatus());
  ExpectError(Run({"out:0"}, {"never"}), kInvalid,
              {"more than one LoopCond", "{{node c1}}", "{{node c2}}", "'f'"});
  EXPECT_EQ(Run({"out:0"}), OkStatus());
}

TEST_F(ControlFlowTest, ARetvalOfTheClientBesideAFetchIsRefused) {
  ASSERT_EQ(Load("x: Const 1\n d: _Retval x index=0\n e: _Retval x index=1"),
            OkStatus());
  ExpectError(Run({"x:0"}, {"d"}), kInvalid,
              {"Retval[0]", "'d'", "already been set"});
  ExpectError(Run({"x:0"}, {"e"}), kInvalid, {"Retval index 1"});
}

TEST_F(ControlFlowTest, ABodyWithArgumentsOfItsOwnIsRefused) {
  for (const char* op : {"_Arg", "_Retval"}) {
    pb::GraphDef def;
    ASSERT_EQ(
        ParseGraphDef(
            absl::StrCat(
                "node { name: 'd' op: 'F' } library { function { signature { "
                "name: 'F' output_arg { name: 'y' type: DT_INT32 } } "
                "node_def { name: 'c' op: 'Const' attr { key: 'dtype' value { "
                "type: DT_INT32 } } attr { key: 'value' value { tensor { "
                "dtype: DT_INT32 tensor_shape {} int_val: 3 } } } } "
                "node_def { name: 'hostile' op: '",
                op, "' ",
                op == std::string("_Arg") ? "" : "input: 'c:output:0'",
                " attr { key: 'T' value { type: DT_INT32 } } attr { key: "
                "'index' value { i: 7 } } } ret { key: 'y' value: 'c:output:0' "
                "} } }"),
            &def),
        OkStatus());
    graph_ = std::make_shared<Graph>();
    ASSERT_EQ(ImportGraphDef({}, def, graph_.get()), OkStatus());
    ASSERT_EQ(MoveTo(NewSession({}, "", graph_), &session_), OkStatus());
    ExpectError(Run({"d:0"}), kInvalid, {"'hostile'", op, "'F'"});
  }
}

TEST_F(ControlFlowTest, ReadVariablesWithFewerInputsThanTypesIsRefused) {
  pb::GraphDef def;
  ASSERT_EQ(ParseGraphDef(
                "node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value "
                "{ type: DT_FLOAT } } attr { key: 'shape' value { shape {} } } "
                "} node { name: 'd' op: '_ReadVariablesOp' input: 'v' attr { "
                "key: 'N' value { i: 1 } } attr { key: 'dtypes' value { list { "
                "type: DT_FLOAT type: DT_FLOAT } } } }",
                &def),
            OkStatus());
  ExpectError(ImportGraphDef({}, def, graph_.get()), kInvalid,
              {"dtypes must have N = 1 entries, got 2", "d"});
}

}  // namespace
}  // namespace headrace
