#include "runtime/plan_inputs.h"

#include <map>
#include <set>

#include "graph/algorithm.h"
#include "runtime/step_test_util.h"

namespace headrace {
namespace {

struct Inputs {
  explicit Inputs(absl::string_view text) {
    LoadNodes(text, &graph);
    EXPECT_EQ(TopologicalOrder(graph, &order), OkStatus());
    inputs = std::make_unique<PlanInputs>(graph, order);
  }
  // "a b": nodes of which `is` holds, in order of id.
  std::string Those(bool (PlanInputs::*is)(const Node&) const) const {
    std::vector<std::string> names;
    graph.ForEachNode([&](Node* n) {
      if (((*inputs).*is)(*n)) names.push_back(n->name());
    });
    return absl::StrJoin(names, " ");
  }

  Graph graph;
  std::vector<Node*> order;
  std::unique_ptr<PlanInputs> inputs;
};

struct Case {
  const char* name;
  const char* text;
  const char* bound;
  const char* passed_by = "";
};

void Check(const Case& c) {
  SCOPED_TRACE(c.name);
  const Inputs i(c.text);
  EXPECT_EQ(i.Those(&PlanInputs::IsBound), c.bound);
  EXPECT_EQ(i.Those(&PlanInputs::IsPassedBy), c.passed_by);
}

TEST(PlanInputsTest, ConstantsAtTheTop) {
  const Case cases[] = {
      {"read", "c: Const 1\na: StepSlow c", "c"},
      {"not read", "c: Const 1", "c"},
      {"read by a Merge",
       "c: Const 1\np: Const true\ns: Switch c p\nm: Merge s c", "p"},
      {"waited for", "c: Const 1\ne: StepEffect ^c", "c"},
      {"waits for what its reader waits for",
       "e: StepEffect\nc: Const 1 ^e\na: StepSlow c ^e", "c"},
      {"waits for what comes before its reader",
       "e: StepEffect\nb: StepCount z ^e\nz: Const 0\nc: Const 1 ^e\n"
       "a: StepAdd c b",
       "z c"},
      {"waits for what nothing else waits for",
       "e: StepEffect\nc: Const 1 ^e\na: StepSlow c", ""},
      {"one of two readers does not wait",
       "e: StepEffect\nc: Const 1 ^e\na: StepSlow c ^e\nb: StepSlow c", ""},
      {"is waited for itself",
       "e: StepEffect\nc: Const 1 ^e\na: StepSlow c ^e\nf: StepEffect ^c", ""},
      {"waits for another constant",
       "z: Const 0\nc: Const 1 ^z\na: StepSlow c ^z", "z"},
      {"waits for a NoOp of what its reader waits for",
       "e: StepEffect\nn: NoOp ^e\nc: Const 1 ^n\na: StepSlow c ^e", "c"},
  };
  for (const Case& c : cases) Check(c);
}

TEST(PlanInputsTest, ConstantsOfABranch) {
  const std::string head =
      "p: _Arg T=bool index=0\nv: StepVariable\nr: Identity v\ns: Switch r p\n";
  const std::vector<std::array<std::string, 3>> cases = {
      {"of the reader's branch",
       "t: Identity s:1\nc: Const 1 ^t\na: StepAdd c s:1", "c"},
      {"of the other branch", "t: Identity s\nc: Const 1 ^t\na: StepAdd c s:1",
       ""},
      {"of a branch of the same predicate",
       "s2: Switch r p\nt: Identity s2:1\nc: Const 1 ^t\na: StepAdd c s:1",
       "c"},
      {"of a branch of another predicate",
       "q: _Arg T=bool index=1\ns2: Switch r q\nt: Identity s2:1\nc: Const 1 "
       "^t\n"
       "a: StepAdd c s:1",
       ""},
      {"of a branch, and read behind it",
       "t: Identity s:1\nc: Const 1 ^t\nd: StepAdd s s\nm: Merge d c\n", ""},
  };
  for (const auto& [name, text, bound] : cases) {
    SCOPED_TRACE(name);
    const Inputs i(head + text);
    EXPECT_EQ(i.Those(&PlanInputs::IsBound), bound);
  }
}

TEST(PlanInputsTest, Identities) {
  const Case cases[] = {
      {"read", "x: _Arg index=0\ni: Identity x\na: StepSlow i", "", "i"},
      {"in a row",
       "x: _Arg index=0\ni: Identity x\nj: Identity i\na: StepSlow j", "",
       "i j"},
      {"not read", "x: _Arg index=0\ni: Identity x", "", ""},
      {"waits",
       "e: StepEffect\nx: _Arg index=0\ni: Identity x ^e\na: StepSlow i", "",
       ""},
      {"waited for",
       "x: _Arg index=0\ni: Identity x\na: StepSlow i\ne: StepEffect ^i", "",
       ""},
      {"of a constant", "c: Const 1\ni: Identity c\na: StepSlow i", "c", ""},
      {"of a variable", "v: StepVariable\ni: Identity v\na: StepSlow i", "",
       ""},
      {"of an Identity that waits",
       "e: StepEffect\nx: _Arg index=0\ni: Identity x ^e\nj: Identity i\n"
       "a: StepSlow j",
       "", "j"},
  };
  for (const Case& c : cases) Check(c);
}

// while (x < limit) x = x + step, with what the case adds to the loop.
std::string Loop(const std::string& more) {
  return R"(x: _Arg index=0
            lim: Const 3
            one: Const 1
            enter: Enter x in=f
            limit: Enter lim in=f is_constant=true
            step: Enter one in=f is_constant=true
            merge: Merge enter next
            less: StepLess merge limit
            cond: LoopCond less
            split: Switch merge cond
            sum: StepAdd split:1 step
            next: NextIteration sum
            exit: Exit split
            )" +
         more;
}

TEST(PlanInputsTest, ConstantsThatALoopIsGiven) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"read beside values of the loop", "", "limit step"},
      // Nothing else tells its reader that an iteration has begun.
      {"read alone", "a: StepSlow limit\nb: StepAdd a split:1", "step"},
      {"read by a Merge", "m: Merge limit split:1", "step"},
      {"waited for", "e: StepEffect ^limit", "step"},
      {"read through an Identity", "i: Identity limit\na: StepAdd i split:1",
       "limit step i"},
      {"read through an Identity alone", "i: Identity limit\na: StepSlow i",
       "step i"},
      {"of two constants alone", "a: StepAdd limit step", ""},
      {"of no constant",
       "y: StepCount x\nto: Enter y in=f is_constant=true\n"
       "a: StepAdd to split:1",
       "limit step"},
      {"not constant in the loop",
       "to: Enter lim in=f\nm2: Merge to n2\nn2: NextIteration m2\n"
       "a: StepAdd m2 split:1",
       "limit step"},
      {"given to a loop inside",
       "in: Enter split:1 in=g\nlim2: Enter limit in=g is_constant=true\n"
       "a: StepAdd in lim2",
       "limit step lim2"},
  };
  for (const auto& [name, more, passed_by] : cases) {
    SCOPED_TRACE(name);
    const Inputs i(Loop(more));
    std::set<std::string> got = absl::StrSplit(i.Those(&PlanInputs::IsPassedBy),
                                               ' ', absl::SkipEmpty());
    const std::set<std::string> want =
        absl::StrSplit(passed_by, ' ', absl::SkipEmpty());
    EXPECT_EQ(got, want);
  }
}

TEST(PlanInputsTest, EdgesLeadPastWhatDoesNotRun) {
  const Inputs i(R"(
    v: _Arg index=0
    p: Const true
    s: Switch v p
    i: Identity s:1
    j: Identity i
    a: StepAdd j i
    b: StepSlow s
    e: StepEffect ^s
  )");
  const Node& a = *i.graph.FindNode("a");
  for (int k = 0; k < 2; ++k) {
    const Endpoint from = i.inputs->Source(*a.input_edge(k));
    EXPECT_EQ(EndpointName(from), "s:1");
  }
  std::multiset<std::string> edges;
  i.inputs->ForEachOutEdge(
      *i.graph.FindNode("s"), [&](const Edge& e, int output) {
        edges.insert(
            absl::StrCat(output, ">", e.dst()->name(), ":", e.dst_input()));
      });
  EXPECT_EQ(edges,
            (std::multiset<std::string>{"-1>e:-1", "0>b:0", "1>a:0", "1>a:1"}));
}

}  // namespace
}  // namespace headrace
