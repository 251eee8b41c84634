// Functions run through a session: calls, branches, loops, recursion, errors.
// Each test runs with the graph passes on and off, so that a call that is
// inlined does as one that is not.
#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "framework/kernel/op_tester.h"
#include "headrace/importer.h"
#include "session/direct_session.h"

namespace headrace {
namespace {

// "int" in the texts below stands for an int32 type attr, and so on.
std::string Expand(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"$int", "attr { key: 'T' value { type: DT_INT32 } }"},
             {"$float", "attr { key: 'T' value { type: DT_FLOAT } }"},
             {"$Tint",
              "attr { key: 'Tin' value { list { type: DT_INT32 } } }"
              "attr { key: 'Tout' value { list { type: DT_INT32 } } }"},
             {"$cond", "attr { key: 'Tcond' value { type: DT_BOOL } }"},
             {"$list",
              "attr { key: 'T' value { list { type: DT_INT32 "
              "type: DT_INT32 } } }"}});
}

std::string Const(const std::string& name, int value) {
  return absl::StrCat(
      "name: '", name,
      "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } "
      "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {} "
      "int_val: ",
      value, " } } }");
}

// A function int32 x -> int32 y with this body; y is output `ret` of it.
std::string Function(const std::string& name, const std::string& nodes,
                     const std::string& ret) {
  return absl::StrCat("library { function { signature { name: '", name,
                      "' input_arg { name: 'x' type: DT_INT32 } "
                      "output_arg { name: 'y' type: DT_INT32 } } ",
                      nodes, " ret { key: 'y' value: '", ret, "' } } } %%");
}

// y = x + 1, and y = x * 2.
std::string AddOne() {
  return Function("AddOne",
                  absl::StrCat("node_def { ", Const("one", 1),
                               " } node_def { name: 'sum' op: 'AddV2' input: "
                               "'x' input: 'one:output:0' $int }"),
                  "sum:z:0");
}
std::string Twice() {
  return Function("Twice",
                  "node_def { name: 'sum' op: 'AddV2' input: 'x' input: 'x' "
                  "$int }",
                  "sum:z:0");
}

class FunctionTest : public ::testing::TestWithParam<bool> {
 protected:
  // A graph of these nodes and functions (texts ended by "%%", so that each may
  // have its library), with a placeholder "in" of type int32.
  Status Load(const std::string& text) {
    pb::GraphDef def;
    for (const absl::string_view part : absl::StrSplit(
             Expand(absl::StrCat("node { name: 'in' op: 'Placeholder' attr { "
                                 "key: 'dtype' value { type: DT_INT32 } } } %%",
                                 text)),
             "%%", absl::SkipWhitespace())) {
      pb::GraphDef more;
      HR_RETURN_IF_ERROR(ParseGraphDef(part, &more));
      def.MergeFrom(more);
    }
    {
      MutexLock lock(&graph_->mu());
      HR_RETURN_IF_ERROR(ImportGraphDef({}, def, graph_.get()));
    }
    pb::ConfigProto config;
    if (!GetParam()) {
      config.mutable_graph_options()
          ->mutable_optimizer_options()
          ->set_opt_level(pb::OptimizerOptions::L0);
    }
    return MoveTo(NewSession(config, "", graph_), &session_);
  }
  Status Run(int in, const std::string& fetch, int* out) {
    std::vector<Tensor> outputs;
    HR_RETURN_IF_ERROR(session_->Run({{"in:0", Tensor::Scalar<int32_t>(in)}},
                                     {fetch}, {}, &outputs));
    *out = outputs[0].scalar<int32_t>();
    return OkStatus();
  }
  // What fetching output 0 of "out" gives, or -1 after a failure.
  int Out(int in) {
    int out = -1;
    const Status s = Run(in, "out:0", &out);
    EXPECT_TRUE(s.ok()) << s;
    return s.ok() ? out : -1;
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  std::unique_ptr<Session> session_;
};
INSTANTIATE_TEST_SUITE_P(Passes, FunctionTest, ::testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "on" : "off";
                         });

TEST_P(FunctionTest, NodeWhoseOpIsAFunction) {
  ASSERT_EQ(Load(AddOne() + "node { name: 'out' op: 'AddOne' input: 'in' }"),
            OkStatus());
  EXPECT_EQ(Out(4), 5);
  EXPECT_EQ(Out(-1), 0);
}

TEST_P(FunctionTest, PartitionedCall) {
  ASSERT_EQ(Load(AddOne() +
                 "node { name: 'out' op: 'PartitionedCall' input: 'in' $Tint "
                 "attr { key: 'f' value { func { name: 'AddOne' } } } }"),
            OkStatus());
  EXPECT_EQ(Out(4), 5);
}

TEST_P(FunctionTest, FunctionsCallFunctions) {
  ASSERT_EQ(Load(AddOne() + Twice() +
                 Function("Both",
                          "node_def { name: 'a' op: 'AddOne' input: 'x' } "
                          "node_def { name: 'b' op: 'StatefulPartitionedCall' "
                          "input: 'a:y:0' $Tint attr { key: 'f' value { func { "
                          "name: 'Twice' } } } }",
                          "b:output:0") +
                 "node { name: 'a' op: 'Both' input: 'in' }"
                 "node { name: 'out' op: 'Both' input: 'a' }"),
            OkStatus());
  EXPECT_EQ(Out(1), 10);  // ((1 + 1) * 2 + 1) * 2
}

TEST_P(FunctionTest, AttrsOfTheCallGoIntoTheBody) {
  const std::string f =
      "library { function { signature { name: 'SumAll' "
      "input_arg { name: 'x' type_attr: 'T' number_attr: 'N' } "
      "output_arg { name: 'y' type_attr: 'T' } "
      "attr { name: 'T' type: 'type' } attr { name: 'N' type: 'int' } } "
      "node_def { name: 's' op: 'AddV2' input: 'x:0' input: 'x:1' "
      "attr { key: 'T' value { placeholder: 'T' } } } "
      "ret { key: 'y' value: 's:z' } } } ";
  ASSERT_EQ(
      Load(f + "node { name: 'c' op: 'Cast' input: 'in' "
               "attr { key: 'SrcT' value { type: DT_INT32 } } "
               "attr { key: 'DstT' value { type: DT_FLOAT } } } "
               "node { name: 'g' op: 'SumAll' input: 'c' input: 'c' $float "
               "attr { key: 'N' value { i: 2 } } } "
               "node { name: 'd' op: 'Cast' input: 'g' "
               "attr { key: 'SrcT' value { type: DT_FLOAT } } "
               "attr { key: 'DstT' value { type: DT_INT32 } } } "
               "node { name: 'out' op: 'SumAll' input: 'd' input: 'in' $int "
               "attr { key: 'N' value { i: 2 } } }"),
      OkStatus());
  EXPECT_EQ(Out(5), 15);
}

TEST_P(FunctionTest, IfTakesOneBranch) {
  ASSERT_EQ(Load(AddOne() + Twice() + "node { " + Const("ten", 10) +
                 " } node { name: 'c' op: 'Less' input: 'in' input: 'ten' $int "
                 "} node { name: 'out' op: 'If' input: 'c' input: 'in' $cond "
                 "$Tint attr { key: 'then_branch' value { func { name: 'AddOne'"
                 " } } } attr { key: 'else_branch' value { func { name: "
                 "'Twice' } } } }"),
            OkStatus());
  EXPECT_EQ(Out(3), 4);
  EXPECT_EQ(Out(20), 40);
}

TEST_P(FunctionTest, CaseOutOfRangeTakesTheLastBranch) {
  ASSERT_EQ(Load(AddOne() + Twice() + "node { " + Const("five", 5) +
                 " } node { name: 'out' op: 'StatelessCase' input: 'in' "
                 "input: 'five' $Tint attr { key: 'branches' value { list { "
                 "func { name: 'AddOne' } func { name: 'Twice' } } } } }"),
            OkStatus());
  EXPECT_EQ(Out(0), 6);
  EXPECT_EQ(Out(1), 10);
  EXPECT_EQ(Out(7), 10);
  EXPECT_EQ(Out(-1), 10);
}

// Sums the integers below `in`: state (i, sum), while i < limit.
std::string SumLoop(int limit) {
  return absl::StrCat(
      "library { function { signature { name: 'Cond' "
      "input_arg { name: 'i' type: DT_INT32 } "
      "input_arg { name: 's' type: DT_INT32 } "
      "output_arg { name: 'c' type: DT_BOOL } } node_def { ",
      Const("n", limit),
      " } node_def { name: 'l' op: 'Less' input: 'i' input: 'n:output:0' $int }"
      " ret { key: 'c' value: 'l:z:0' } } "
      "function { signature { name: 'Body' "
      "input_arg { name: 'i' type: DT_INT32 } "
      "input_arg { name: 's' type: DT_INT32 } "
      "output_arg { name: 'j' type: DT_INT32 } "
      "output_arg { name: 't' type: DT_INT32 } } node_def { ",
      Const("one", 1),
      " } node_def { name: 'a' op: 'AddV2' input: 'i' input: 'one:output:0' "
      "$int } node_def { name: 'b' op: 'AddV2' input: 's' input: 'i' $int } "
      "ret { key: 'j' value: 'a:z:0' } ret { key: 't' value: 'b:z:0' } } } "
      "node { ",
      Const("zero", 0),
      " } node { name: 'w' op: 'While' input: 'in' input: 'zero' $list "
      "attr { key: 'cond' value { func { name: 'Cond' } } } "
      "attr { key: 'body' value { func { name: 'Body' } } } } "
      "node { name: 'out' op: 'Identity' input: 'w:1' $int } ");
}

TEST_P(FunctionTest, WhileSums) {
  ASSERT_EQ(Load(SumLoop(1000)), OkStatus());
  EXPECT_EQ(Out(0), 499500);
  EXPECT_EQ(Out(998), 998 + 999);
  EXPECT_EQ(Out(1000), 0);
}

TEST_P(FunctionTest, ForSums) {
  const std::string body =
      "library { function { signature { name: 'B' "
      "input_arg { name: 'i' type: DT_INT32 } "
      "input_arg { name: 's' type: DT_INT32 } "
      "output_arg { name: 't' type: DT_INT32 } } "
      "node_def { name: 'b' op: 'AddV2' input: 's' input: 'i' $int } "
      "ret { key: 't' value: 'b:z:0' } } } ";
  ASSERT_EQ(
      Load(body + "node { " + Const("zero", 0) + " } node { " +
           Const("two", 2) +
           " } node { name: 'out' op: 'For' input: 'zero' input: 'in' "
           "input: 'two' input: 'zero' attr { key: 'T' value { list { type: "
           "DT_INT32 } } } attr { key: 'body' value { func { name: 'B' } } } "
           "}"),
      OkStatus());
  EXPECT_EQ(Out(7), 0 + 2 + 4 + 6);
  EXPECT_EQ(Out(0), 0);
  int out;
  EXPECT_EQ(Run(-1, "out:0", &out).code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(FunctionTest, CancelStopsAnEndlessLoop) {
  ASSERT_EQ(Load(SumLoop(2147483647)), OkStatus());
  pb::RunOptions options;
  options.set_timeout_in_ms(30);
  std::vector<Tensor> out;
  // The loop's counter never gets to the limit in time.
  const absl::Time start = absl::Now();
  const Status s =
      session_->Run(options, {{"in:0", Tensor::Scalar<int32_t>(0)}}, {"out:0"},
                    {}, &out, nullptr);
  EXPECT_EQ(s.code(), absl::StatusCode::kDeadlineExceeded) << s;
  EXPECT_LT(absl::ToDoubleSeconds(absl::Now() - start), 5);
}

// f(x) = x > 0 ? x + f(x - 1) : 0, by way of If.
std::string Recursive(bool ends) {
  return Function("Zero",
                  absl::StrCat("node_def { ", Const("z", 0),
                               " } node_def { name: 'm' op: 'Mul' input: 'x' "
                               "input: 'z:output:0' $int }"),
                  "m:z:0") +
         Function("Step",
                  absl::StrCat(
                      "node_def { ", Const("one", ends ? 1 : 0),
                      " } node_def { name: 'less' op: 'Sub' input: 'x' "
                      "input: 'one:output:0' $int } "
                      "node_def { name: 'rest' op: 'Rec' input: 'less:z:0' } "
                      "node_def { name: 'sum' op: 'AddV2' input: 'x' input: "
                      "'rest:y:0' $int }"),
                  "sum:z:0") +
         Function("Rec",
                  absl::StrCat(
                      "node_def { ", Const("zero", 0),
                      " } node_def { name: 'go' op: 'Greater' input: 'x' "
                      "input: 'zero:output:0' $int } "
                      "node_def { name: 'if' op: 'StatelessIf' input: 'go:z:0' "
                      "input: 'x' $cond $Tint "
                      "attr { key: 'then_branch' value { func { name: 'Step' "
                      "} } } attr { key: 'else_branch' value { func { name: "
                      "'Zero' } } } }"),
                  "if:output:0") +
         "node { name: 'out' op: 'Rec' input: 'in' } ";
}

TEST_P(FunctionTest, RecursionThatEnds) {
  ASSERT_EQ(Load(Recursive(true)), OkStatus());
  EXPECT_EQ(Out(0), 0);
  EXPECT_EQ(Out(10), 55);
  EXPECT_EQ(Out(400), 400 * 401 / 2);
}

TEST_P(FunctionTest, EndlessRecursionFailsClearly) {
  ASSERT_EQ(Load(Recursive(false)), OkStatus());
  int out;
  for (int i = 0; i < 3; ++i) {
    const Status s = Run(1, "out:0", &out);
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "'Step'") ||
                absl::StrContains(s.message(), "'Rec'"))
        << s;
    EXPECT_LT(s.message().size(), 4000) << s;
  }
  ASSERT_EQ(Run(0, "out:0", &out), OkStatus());  // the session lives on
}

TEST_P(FunctionTest, ACallOfItselfWithoutABranchFailsClearly) {
  ASSERT_EQ(
      Load(Function("Self", "node_def { name: 'r' op: 'Self' input: 'x' }",
                    "r:y:0") +
           "node { name: 'out' op: 'Self' input: 'in' }"),
      OkStatus());
  int out;
  const Status s = Run(1, "out:0", &out);
  EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "'Self'")) << s;
}

TEST_P(FunctionTest, AnErrorNamesNodeAndFunction) {
  ASSERT_EQ(
      Load(Function("Ratio",
                    absl::StrCat("node_def { ", Const("hundred", 100),
                                 " } node_def { name: 'ratio' op: 'FloorDiv' "
                                 "input: 'hundred:output:0' input: 'x' $int }"),
                    "ratio:z:0") +
           "node { name: 'out' op: 'Ratio' input: 'in' }"),
      OkStatus());
  EXPECT_EQ(Out(7), 14);
  int out;
  const Status s = Run(0, "out:0", &out);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"ratio", "'Ratio'", "out"}) {
    EXPECT_TRUE(absl::StrContains(s.message(), part)) << part << ": " << s;
  }
}

TEST_P(FunctionTest, Refusals) {
  struct Case {
    const char* what;
    std::string graph;
    const char* message;
  };
  const std::string call = "node { name: 'out' op: 'F' input: 'in' }";
  const Case cases[] = {
      {"no such function",
       "node { name: 'out' op: 'PartitionedCall' input: 'in' $Tint attr { key: "
       "'f' value { func { name: 'Nobody' } } } }",
       "Function Nobody is not defined"},
      {"unknown input", Function("F", "", "zork:y:0") + call, "'zork:y:0'"},
      {"unknown op",
       Function("F", "node_def { name: 'a' op: 'Zork' input: 'x' }", "a:y:0") +
           call,
       "Zork"},
      {"no value for a placeholder",
       Function("F",
                "node_def { name: 'a' op: 'Neg' input: 'x' attr { key: 'T' "
                "value { placeholder: 'U' } } }",
                "a:y:0") +
           call,
       "$U"},
      {"too few results",
       AddOne() +
           "node { name: 'out' op: 'PartitionedCall' input: 'in' attr { key: "
           "'Tin' value { list { type: DT_INT32 } } } attr { key: 'Tout' value "
           "{ list { type: DT_INT32 type: DT_INT32 } } } attr { key: 'f' value "
           "{ func { name: 'AddOne' } } } }",
       "1 results, wanted 2"},
      {"too many arguments",
       AddOne() +
           "node { name: 'out' op: 'PartitionedCall' input: 'in' input: 'in' "
           "attr { key: 'Tin' value { list { type: DT_INT32 type: DT_INT32 } } "
           "} attr { key: 'Tout' value { list { type: DT_INT32 } } } attr { "
           "key: 'f' value { func { name: 'AddOne' } } } }",
       "1 arguments"},
      {"a cycle in the body",
       Function("F",
                "node_def { name: 'a' op: 'Neg' input: 'b:y:0' $int } "
                "node_def { name: 'b' op: 'Neg' input: 'a:y:0' $int }",
                "a:y:0") +
           call,
       "cycle"},
      {"no gradient",
       "node { name: 'out' op: 'SymbolicGradient' input: 'in' input: 'in' "
       "attr { key: 'Tin' value { list { type: DT_INT32 type: DT_INT32 } } "
       "} attr { key: 'Tout' value { list { type: DT_INT32 } } } attr { "
       "key: 'f' value { func { name: 'Nobody' } } } }",
       "Function Nobody is not defined"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    graph_ = std::make_shared<Graph>();
    Status s = Load(c.graph);
    int out;
    if (s.ok()) s = Run(1, "out:0", &out);
    EXPECT_FALSE(s.ok());
    EXPECT_TRUE(absl::StrContains(s.message(), c.message)) << s;
  }
}

// A function that counts its calls in a variable, as a control result.
std::string Counting() {
  const std::string handle =
      "name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_INT32 "
      "} } attr { key: 'shape' value { shape {} } } attr { key: 'shared_name' "
      "value { s: 'count' } }";
  return "library { function { signature { name: 'Count' is_stateful: true "
         "input_arg { name: 'x' type: DT_INT32 } "
         "output_arg { name: 'y' type: DT_INT32 } control_output: 'done' } "
         "node_def { " +
         handle + " } node_def { " + Const("one", 1) +
         " } node_def { name: 'add' op: 'AssignAddVariableOp' input: "
         "'v:resource:0' input: 'one:output:0' attr { key: 'dtype' value { "
         "type: DT_INT32 } } } node_def { name: 'same' op: 'Identity' input: "
         "'x' $int } ret { key: 'y' value: 'same:output:0' } "
         "control_ret { key: 'done' value: 'add' } } } "
         "node { " +
         handle + " } node { " + Const("zero", 0) +
         " } node { name: 'init' op: 'AssignVariableOp' input: 'v' input: "
         "'zero' attr { key: 'dtype' value { type: DT_INT32 } } } "
         "node { name: 'read' op: 'ReadVariableOp' input: 'v' attr { key: "
         "'dtype' value { type: DT_INT32 } } } "
         "node { name: 'out' op: 'Count' input: 'in' } "
         "node { name: 'after' op: 'ReadVariableOp' input: 'v' input: '^out' "
         "attr { key: 'dtype' value { type: DT_INT32 } } } "
         "node { name: 'first' op: 'Identity' input: 'in' $int } "
         "node { name: 'later' op: 'StatefulPartitionedCall' input: 'in' "
         "input: '^read' input: '^first' $Tint attr { key: 'f' value { func { "
         "name: 'Count' } } } } ";
}

TEST_P(FunctionTest, SideEffectsHappenAndAreOrdered) {
  ASSERT_EQ(Load(Counting()), OkStatus());
  const std::vector<std::pair<std::string, Tensor>> feeds = {
      {"in:0", Tensor::Scalar<int32_t>(3)}};
  std::vector<Tensor> out;
  ASSERT_EQ(session_->Run(feeds, {}, {"init"}, &out), OkStatus());
  // A fetched result brings the effect with it.
  EXPECT_EQ(Out(3), 3);
  ASSERT_EQ(session_->Run({}, {"read:0"}, {}, &out), OkStatus());
  EXPECT_EQ(out[0].scalar<int32_t>(), 1);
  // So does the call as a target, and a control input waits for it.
  ASSERT_EQ(session_->Run(feeds, {}, {"out"}, &out), OkStatus());
  for (int i = 3; i < 20; ++i) {
    ASSERT_EQ(session_->Run(feeds, {"after:0"}, {}, &out), OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), i);
  }
  // A call waits for its control inputs.
  for (int i = 19; i < 40; ++i) {
    ASSERT_EQ(session_->Run(feeds, {"read:0"}, {"later"}, &out), OkStatus());
    EXPECT_EQ(out[0].scalar<int32_t>(), i);
  }
}

TEST_P(FunctionTest, ThreadsCallOneFunction) {
  ASSERT_EQ(Load(Recursive(true)), OkStatus());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        int out = 0;
        EXPECT_EQ(Run(20, "out:0", &out), OkStatus());
        EXPECT_EQ(out, 210);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

// Runs with the same shapes have their large tensors in one block: the
// caller's, not those of the body.
TEST_P(FunctionTest, ABodyHasNoPlaceInTheCallersMemory) {
  std::string body = absl::StrCat("node_def { ", Const("one", 1), " }");
  std::string last = "x";
  for (int i = 0; i < 60; ++i) {
    absl::StrAppend(&body, "node_def { name: 'a", i, "' op: 'AddV2' input: '",
                    last, "' input: 'one:output:0' $int } ");
    last = absl::StrCat("a", i, ":z:0");
  }
  std::string sum =
      "node { name: 'sum' op: 'AddN' $int attr { key: 'N' value "
      "{ i: 4 } }";
  std::string nodes;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&nodes, "node { name: 'p", i,
                    "' op: 'AddV2' input: 'in' input: 'in' $int }");
    absl::StrAppend(&sum, " input: 'p", i, "'");
  }
  ASSERT_EQ(
      Load(Function("Add60", body, last) + nodes + sum + " }" +
           "node { name: 'b' op: 'Add60' input: 'sum' }"
           "node { name: 'out' op: 'AddV2' input: 'b' input: 'in' $int }"),
      OkStatus());
  Tensor in(DT_INT32, TensorShape({100000}));
  for (int i = 0; i < 100000; ++i) in.data<int32_t>()[i] = i;
  for (int run = 0; run < 5; ++run) {
    std::vector<Tensor> outputs;
    ASSERT_EQ(session_->Run({{"in:0", in}}, {"out:0"}, {}, &outputs),
              OkStatus());
    for (const int i : {0, 1, 50000, 99999}) {
      ASSERT_EQ(outputs[0].data<int32_t>()[i], 9 * i + 60) << "run " << run;
    }
  }
}

TEST_P(FunctionTest, TraceShowsTheNodesOfTheBody) {
  ASSERT_EQ(Load(SumLoop(3)), OkStatus());
  pb::RunOptions options;
  options.set_trace_level(pb::RunOptions::FULL_TRACE);
  pb::RunMetadata metadata;
  std::vector<Tensor> out;
  ASSERT_EQ(session_->Run(options, {{"in:0", Tensor::Scalar<int32_t>(0)}},
                          {"out:0"}, {}, &out, &metadata),
            OkStatus());
  int bodies = 0;
  for (const auto& d : metadata.step_stats().dev_stats()) {
    for (const auto& n : d.node_stats()) bodies += n.node_name() == "b";
  }
  EXPECT_EQ(bodies, 3);
}

}  // namespace
}  // namespace headrace
