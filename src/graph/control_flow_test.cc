#include "graph/control_flow.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/graph_test_util.h"
#include "graph/node_text_test_util.h"

namespace headrace {
namespace {

// "name/parent/depth/enters/parallel" of each frame but the top level.
std::string Frames(const ControlFlow& flow) {
  std::string s;
  for (size_t i = 1; i < flow.frames.size(); ++i) {
    const LoopFrame& f = flow.frames[i];
    absl::StrAppend(&s, i > 1 ? " " : "", f.name, "/", f.parent, "/", f.depth,
                    "/", f.num_enters, "/", f.parallel_iterations);
  }
  return s;
}

// "frame it runs in>frame it puts out to" of a node.
std::string Place(const Graph& g, const ControlFlow& flow, const char* node) {
  const Node* const n = g.FindNode(node);
  EXPECT_NE(n, nullptr) << node;
  if (n == nullptr) return "";
  return absl::StrCat(flow.frames[flow.runs_in[n->id()]].name, ">",
                      flow.frames[flow.puts_out_to[n->id()]].name);
}

// i = 0; while (i < 3) i = i + one.
constexpr char kLoop[] = R"(
  zero: Const 0
  three: Const 3
  one: Const 1
  enter: Enter zero in=f
  limit: Enter three in=f is_constant=true
  step: Enter one in=f is_constant=true
  merge: Merge enter next
  less: Less merge limit
  cond: LoopCond less
  split: Switch merge cond
  sum: Add split:1 step
  next: NextIteration sum
  exit: Exit split
)";

TEST(ControlFlowTest, WithoutLoopsAllIsAtTheTop) {
  for (const char* text : {"", "a: Const 1\nb: Identity a"}) {
    Graph g;
    LoadNodes(text, &g);
    ControlFlow flow;
    ASSERT_EQ(AnalyzeControlFlow(g, &flow), OkStatus());
    ASSERT_EQ(flow.frames.size(), 1u);
    EXPECT_EQ(flow.frames[0].name, "");
    EXPECT_EQ(flow.frames[0].parent, -1);
    for (int f : flow.runs_in) EXPECT_EQ(f, 0);
  }
}

TEST(ControlFlowTest, ALoopIsAFrame) {
  Graph g;
  LoadNodes(kLoop, &g, /*parallel=*/4);
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(g, &flow), OkStatus());
  EXPECT_EQ(Frames(flow), "f/0/1/3/4");
  const std::map<const char*, const char*> places = {
      {"zero", ">"},   {"enter", ">f"}, {"limit", ">f"},  {"merge", "f>f"},
      {"less", "f>f"}, {"cond", "f>f"}, {"split", "f>f"}, {"sum", "f>f"},
      {"next", "f>f"}, {"exit", "f>"},
  };
  for (const auto& [node, place] : places) {
    EXPECT_EQ(Place(g, flow, node), place) << node;
  }
}

TEST(ControlFlowTest, OuterFramesComeBeforeThoseInside) {
  // The inner loop's nodes come first in the graph.
  Graph g;
  LoadNodes(R"(
    inner_enter: Enter merge in=inner
    inner: Identity inner_enter
    inner_exit: Exit inner
    zero: Const 0
    enter: Enter zero in=outer
    merge: Merge enter next
    next: NextIteration inner_exit
    exit: Exit merge
    beside: Enter zero in=beside
    beside_exit: Exit beside
  )",
            &g);
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(g, &flow), OkStatus());
  EXPECT_EQ(Place(g, flow, "inner"), "inner>inner");
  EXPECT_EQ(Place(g, flow, "inner_exit"), "inner>outer");
  EXPECT_EQ(Place(g, flow, "exit"), "outer>");
  EXPECT_EQ(Place(g, flow, "beside_exit"), "beside>");
  ASSERT_EQ(flow.frames.size(), 4u);
  for (size_t i = 1; i < flow.frames.size(); ++i) {
    const LoopFrame& f = flow.frames[i];
    EXPECT_LT(f.parent, static_cast<int>(i)) << f.name;
    EXPECT_EQ(f.depth, flow.frames[f.parent].depth + 1) << f.name;
  }
}

TEST(ControlFlowTest, AControlInputPutsANodeIntoAFrame) {
  Graph g;
  LoadNodes(absl::StrCat(kLoop,
                         "effect: NoOp ^merge\n"
                         "constant: Const 5 ^effect\n"),
            &g);
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(g, &flow), OkStatus());
  EXPECT_EQ(Place(g, flow, "constant"), "f>f");
}

TEST(ControlFlowTest, Refuses) {
  struct Case {
    const char* text;
    std::vector<std::string> words;
  };
  const Case cases[] = {
      {R"(a: Const 1
          in: Enter a in=f
          sum: Add in a)",
       {"sum", "has inputs from different frames", "is in frame 'f'",
        "is in frame ''"}},
      {R"(a: Const 1
          in: Enter a in=f
          then: NoOp ^in ^a)",
       {"then", "different frames"}},
      {R"(a: Const 1
          f: Enter a in=f
          g: Enter a in=g
          both: Merge f g)",
       {"both", "'f'", "'g'"}},
      // What comes round a loop is of that loop.
      {R"(a: Const 1
          f: Enter a in=f
          g: Enter a in=g
          merge: Merge f next
          next: NextIteration g)",
       {"merge", "different frames", "'f'", "'g'"}},
      {R"(merge: Merge next
          next: NextIteration merge)",
       {"merge", "inputs from NextIteration alone"}},
      {"a: Const 1\nout: Exit a", {"out", "Exit is in no frame"}},
      {"a: Const 1\nnext: NextIteration a", {"next", "is in no frame"}},
      {R"(a: Const 1
          f: Enter a in=f
          g: Enter f in=g
          again: Enter a in=g)",
       {"enters frame 'g' from frame ''", "so from frame 'f'"}},
      {R"(a: Const 1
          f: Enter a in=f
          other: Enter a in=f parallel_iterations=3)",
       {"Enters of frame 'f' disagree", "10 and 3", "other"}},
      {"a: Const 1\nf: Enter a in=f parallel_iterations=0",
       {"parallel_iterations must be at least 1, got 0"}},
      {"a: Const 1\nf: Enter a in=f parallel_iterations=-5", {"got -5"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    Graph g;
    LoadNodes(c.text, &g);
    ControlFlow flow;
    const Status s = AnalyzeControlFlow(g, &flow);
    for (const std::string& w : c.words) {
      ExpectError(s, absl::StatusCode::kInvalidArgument, w);
    }
  }
}

TEST(ControlFlowTest, RefusesACycleThatIsNoLoop) {
  Graph g;
  LoadNodes("c: Const 1\na: Identity c\nb: Identity a", &g);
  ASSERT_EQ(g.ReplaceInput(g.FindNode("a"), 0, {g.FindNode("b"), 0}),
            OkStatus());
  ControlFlow flow;
  ExpectError(AnalyzeControlFlow(g, &flow), absl::StatusCode::kInvalidArgument,
              "cycle with 2 nodes");
}

TEST(ControlFlowTest, LoopsNestOnlySoDeep) {
  Graph g;
  Endpoint v = Const(&g, "a", Tensor::Scalar(1.f));
  const auto enter = [&](int i) {
    v = {AddOp(&g, absl::StrCat("e", i), "Enter", {v},
               {{"frame_name", absl::StrCat("f", i)}}),
         0};
  };
  for (int i = 0; i < kMaxLoopDepth; ++i) enter(i);
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(g, &flow), OkStatus());
  EXPECT_EQ(flow.frames.back().depth, kMaxLoopDepth);
  enter(kMaxLoopDepth);
  ExpectError(AnalyzeControlFlow(g, &flow), absl::StatusCode::kInvalidArgument,
              "enters frame 'f200' at depth 201; loops nest at most 200 deep");
}

TEST(ControlFlowTest, OnlyAConstantEnterIsALoopInvariant) {
  Graph g;
  LoadNodes(kLoop, &g);
  EXPECT_TRUE(IsConstantEnter(*g.FindNode("limit")));
  for (const char* node : {"enter", "zero", "merge"}) {
    EXPECT_FALSE(IsConstantEnter(*g.FindNode(node))) << node;
  }
}

}  // namespace
}  // namespace headrace
