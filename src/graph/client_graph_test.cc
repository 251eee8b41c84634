#include "graph/client_graph.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph_test_util.h"

namespace headrace {
namespace {

constexpr char kClient[] = "/job:a/replica:0/task:0/device:CPU:0";
const auto kInvalid = absl::StatusCode::kInvalidArgument;

REGISTER_OP("ClientGraphTestPair").Output("a: float").Output("b: int32");
REGISTER_OP("ClientGraphTestRef").Output("ref: Ref(float)").SetIsStateful();

std::map<std::string, int> CountOps(const Graph& g) {
  std::map<std::string, int> ops;
  g.ForEachNode([&](Node* n) { ++ops[n->type_string()]; });
  return ops;
}

class ClientGraphTest : public ::testing::Test {
 protected:
  ClientGraphTest() {
    x_ = Placeholder(&g_, "x", DT_FLOAT, {2});
    c_ = Const(&g_, "c", MakeTensor<float>({2}, {1, 2}));
    sum_ = {AddOp(&g_, "sum", "AddV2", {x_, c_}), 0};
    out_ = {AddOp(&g_, "out", "Identity", {sum_}, {}, {x_.node}), 0};
    other_ = AddOp(&g_, "other", "NoOp");
  }
  StatusOr<std::unique_ptr<Graph>> Build(std::vector<Endpoint> feeds,
                                         std::vector<Endpoint> fetches,
                                         std::vector<Node*> targets = {}) {
    return BuildClientGraph(g_, feeds, fetches, targets, kClient);
  }
  std::map<std::string, int> Ops(std::vector<Endpoint> feeds,
                                 std::vector<Endpoint> fetches,
                                 std::vector<Node*> targets = {}) {
    auto got = Build(std::move(feeds), std::move(fetches), std::move(targets));
    EXPECT_TRUE(got.ok()) << got.status();
    return got.ok() ? CountOps(**got) : std::map<std::string, int>();
  }

  Graph g_;
  Endpoint x_, c_, sum_, out_;
  Node* other_;
};

TEST_F(ClientGraphTest, KeepsWhatIsNeeded) {
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(Ops({x_}, {out_}), (Counts{{"AddV2", 1},
                                       {"Const", 1},
                                       {"Identity", 1},
                                       {"_Arg", 1},
                                       {"_Retval", 1}}));
  // A feed cuts the graph; what nothing needs is no error.
  EXPECT_EQ(Ops({sum_, x_, c_}, {out_}),
            (Counts{{"Identity", 1}, {"_Arg", 3}, {"_Retval", 1}}));
  EXPECT_EQ(Ops({}, {}, {other_}), (Counts{{"NoOp", 1}}));
  EXPECT_EQ(Ops({}, {c_, c_}), (Counts{{"Const", 1}, {"_Retval", 2}}));
  auto got = Build({x_}, {out_});
  ASSERT_TRUE(got.ok());
  (*got)->ForEachNode([&](Node* n) {
    if (n->IsArg() || n->IsRetval()) {
      EXPECT_EQ(n->assigned_device(), kClient);
    }
    if (n->name() == "out") {
      EXPECT_TRUE(n->control_inputs()[0]->src()->IsArg());
    }
  });
}

TEST_F(ClientGraphTest, Refuses) {
  ExpectError(Build({}, {}).status(), kInvalid, "at least one target");
  ExpectError(Build({x_, x_}, {out_}).status(), kInvalid, "x:0");
  ExpectError(Build({c_}, {c_}).status(), kInvalid,
              "c:0 is both fed and fetched.");
  ExpectError(Build({}, {{c_.node, 1}}).status(), kInvalid, "c:1");
  ExpectError(Build({{x_.node, -3}}, {out_}).status(), kInvalid, "");
  ASSERT_EQ(g_.ReplaceInput(sum_.node, 0, out_), OkStatus());
  ExpectError(Build({}, {out_}).status(), kInvalid, "cycle with 2 nodes");
}

TEST_F(ClientGraphTest, RefusesNodesThatAreNotTheGraphs) {
  Graph other;
  const Endpoint stranger = Const(&other, "stranger", Tensor::Scalar(1.f));
  const char* const kOther = "'stranger', which is of another graph";
  ExpectError(Build({stranger}, {out_}).status(), kInvalid, kOther);
  ExpectError(Build({}, {stranger}).status(), kInvalid, kOther);
  ExpectError(Build({}, {}, {stranger.node}).status(), kInvalid, kOther);
  ExpectError(Build({Endpoint()}, {out_}).status(), kInvalid, "a feed");
  ExpectError(Build({}, {Endpoint()}).status(), kInvalid, "a fetch");
  ExpectError(Build({}, {}, {nullptr}).status(), kInvalid, "a target is null");
  ExpectError(Build({}, {{c_.node, kControlSlot}}).status(), kInvalid, "^c");
}

TEST_F(ClientGraphTest, NodesOfFunctionsStandForNoFeed) {
  std::vector<Node*> args, retvals;
  auto good = Build({x_}, {out_});
  ASSERT_EQ(good.status(), OkStatus());
  ASSERT_EQ(FindArgsAndRetvals(**good, 1, 1, &args, &retvals), OkStatus());
  EXPECT_TRUE(args[0]->IsArg());
  EXPECT_TRUE(retvals[0]->IsRetval());
  for (const int64_t index : {int64_t{0}, int64_t{1000}}) {
    const std::string name = absl::StrCat("mine", index);
    const Endpoint mine = {
        AddOp(&g_, name, "_Arg", {}, {{"T", DT_FLOAT}, {"index", index}}), 0};
    auto got = Build({x_}, {out_}, {mine.node});
    ASSERT_EQ(got.status(), OkStatus());
    ExpectError(FindArgsAndRetvals(**got, 1, 1, &args, &retvals), kInvalid,
                "_Arg");
  }
  Node* const result = AddOp(&g_, "result", "_Retval", {c_},
                             {{"T", DT_FLOAT}, {"index", int64_t{1000}}});
  auto got = Build({x_}, {out_}, {result});
  ASSERT_EQ(got.status(), OkStatus());
  ExpectError(FindArgsAndRetvals(**got, 1, 1, &args, &retvals), kInvalid,
              "node 'result' is _Retval 1000");
}

TEST_F(ClientGraphTest, RefusesMalformedNamesWhenAStepIsMade) {
  g_.TakeAnyName();
  AddOp(&g_, "no good", "NoOp");
  ExpectError(Build({}, {c_}).status(), kInvalid, "Node 'no good'");
}

TEST_F(ClientGraphTest, AFeedOfOneOutputLeavesTheOthers) {
  Node* const pair = AddOp(&g_, "pair", "ClientGraphTestPair");
  Node* const a = AddOp(&g_, "a", "Identity", {{pair, 0}});
  Node* const b = AddOp(&g_, "b", "Identity", {{pair, 1}});
  auto got = Build({{pair, 1}}, {{a, 0}, {b, 0}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->FindNode("a")->input_edge(0)->src()->name(), "pair");
  const Node* const arg = (*got)->FindNode("b")->input_edge(0)->src();
  EXPECT_TRUE(arg->IsArg());
  DataType t;
  ASSERT_EQ(arg->attrs().Get("T", &t), OkStatus());
  EXPECT_EQ(t, DT_INT32);
  EXPECT_EQ(Ops({{pair, 0}, {pair, 1}}, {{a, 0}})["ClientGraphTestPair"], 0);
}

TEST_F(ClientGraphTest, OnlyAFedPlaceholderGivesItsControlEdgesToTheFeed) {
  // sum is fed, too, but what it does before `then` it still has to do.
  Node* const then = AddOp(&g_, "then", "NoOp", {}, {}, {x_.node, sum_.node});
  auto got = Build({x_, sum_}, {}, {then});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)->FindNode("x"), nullptr);
  ASSERT_NE((*got)->FindNode("sum"), nullptr);
  // sum reads what was fed for x.
  EXPECT_TRUE((*got)->FindNode("sum")->input_edge(0)->src()->IsArg());
  int args = 0;
  for (const Edge* e : (*got)->FindNode("then")->control_inputs()) {
    args += e->src()->IsArg();
  }
  EXPECT_EQ(args, 1);
  // A fed placeholder as a target has nothing to do.
  using Counts = std::map<std::string, int>;
  EXPECT_EQ(Ops({x_}, {}, {x_.node}), (Counts{{"_Arg", 1}}));
  EXPECT_EQ(Ops({}, {}, {x_.node}), (Counts{{"Placeholder", 1}}));
}

TEST_F(ClientGraphTest, ArgsAndRetvalsAreNumberedAsTheyWereNamed) {
  Node* const ref = AddOp(&g_, "ref", "ClientGraphTestRef");
  auto got = Build({c_, x_}, {out_, {ref, 0}, out_});
  ASSERT_TRUE(got.ok()) << got.status();
  std::map<int64_t, std::string> args, rets;
  (*got)->ForEachNode([&](Node* n) {
    int64_t index = -1;
    DataType t = DT_INVALID;
    if (!n->IsArg() && !n->IsRetval()) return;
    ASSERT_EQ(n->attrs().Get("index", &index), OkStatus());
    ASSERT_EQ(n->attrs().Get("T", &t), OkStatus());
    EXPECT_EQ(t, DT_FLOAT);  // of a reference the value
    (n->IsArg() ? args : rets)[index] = n->IsArg()
                                            ? n->output_shape(0).DebugString()
                                            : n->input_edge(0)->src()->name();
    EXPECT_EQ(n->placement_reason(),
              n->IsArg() ? "fed by the client" : "fetched by the client");
  });
  EXPECT_EQ(args, (std::map<int64_t, std::string>{{0, "[2]"}, {1, "[2]"}}));
  EXPECT_EQ(rets, (std::map<int64_t, std::string>{
                      {0, "out"}, {1, "ref"}, {2, "out"}}));
  EXPECT_EQ((*got)->FindNode("sum")->input_edge(0)->src()->name(),
            "_arg_x_0_1");
}

TEST_F(ClientGraphTest, ARetvalOfTheGraphMustNotGiveTheSameResult) {
  Node* const ret =
      AddOp(&g_, "ret", "_Retval", {out_}, {{"T", DT_FLOAT}, {"index", 1}});
  EXPECT_TRUE(Build({x_}, {out_}, {ret}).ok());
  ExpectError(Build({x_}, {out_, c_}, {ret}).status(), kInvalid,
              "Retval[1] of node 'ret' has already been set by fetch c:0");
}

// A node of the client's once had the same name as the _Arg of a feed.
TEST_F(ClientGraphTest, NodesThatAreAddedHaveNamesThatNobodyHas) {
  const Endpoint a = Const(&g_, "_arg_x_0_0", MakeTensor<float>({2}, {5, 6}));
  const Endpoint r = {AddOp(&g_, "_retval_out_0_0", "AddV2", {a, sum_}), 0};
  auto got = Build({x_}, {out_, r});
  ASSERT_TRUE(got.ok()) << got.status();
  std::map<std::string, int> names;
  (*got)->ForEachNode([&](Node* n) {
    ++names[n->name()];
    EXPECT_EQ((*got)->FindNode(n->name()), n);
  });
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  EXPECT_TRUE((*got)->FindNode("_arg_x_0_0")->IsConstant());
  EXPECT_EQ((*got)->FindNode("_retval_out_0_0")->type_string(), "AddV2");
  // Nor do two of them have one: what stands for x:0 is "_arg_x_0_0_1".
  const Endpoint x0 = Placeholder(&g_, "x_0", DT_FLOAT, {2});
  const Endpoint both = {AddOp(&g_, "both", "AddV2", {x_, x0}), 0};
  got = Build({x_, x0}, {both});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(CountOps(**got)["_Arg"], 2);
}

TEST_F(ClientGraphTest, CopiesLeaveTheClientsGraphAlone) {
  const int nodes = g_.num_nodes();
  const size_t edges = c_.node->out_edges().size();
  auto got = Build({x_}, {out_});
  ASSERT_TRUE(got.ok());
  (*got)->FindNode("out")->set_assigned_device("/elsewhere");
  (*got)->SetNodeAttr((*got)->FindNode("c"), "_mark", AttrValue(true));
  EXPECT_EQ(g_.num_nodes(), nodes);
  EXPECT_EQ(c_.node->out_edges().size(), edges);
  EXPECT_EQ(out_.node->assigned_device(), "");
  EXPECT_EQ(c_.node->attrs().Find("_mark"), nullptr);
  EXPECT_EQ((*got)->versions().producer, g_.versions().producer);
}

TEST_F(ClientGraphTest, ForgettingFedShapesForgetsWhatFollowsFromThem) {
  auto got = Build({x_}, {out_, c_});
  ASSERT_TRUE(got.ok());
  Graph& g = **got;
  EXPECT_EQ(g.FindNode("sum")->output_shape(0).DebugString(), "[2]");
  ASSERT_EQ(ForgetFedShapes(&g), OkStatus());
  EXPECT_TRUE(g.FindNode("_arg_x_0_0")->output_shape(0).unknown_rank());
  EXPECT_TRUE(g.FindNode("sum")->output_shape(0).unknown_rank());
  EXPECT_TRUE(g.FindNode("out")->output_shape(0).unknown_rank());
  EXPECT_EQ(g.FindNode("c")->output_shape(0).DebugString(), "[2]");
}

}  // namespace
}  // namespace headrace
