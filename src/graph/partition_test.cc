#include "graph/partition.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "graph/algorithm.h"
#include "graph/client_graph.h"
#include "graph/control_flow.h"
#include "graph/graph_test_util.h"

namespace headrace {
namespace {

constexpr char kA[] = "/job:a/replica:0/task:0/device:CPU:0";
constexpr char kB[] = "/job:a/replica:0/task:0/device:CPU:1";

REGISTER_OP("PartitionTestVariable").Output("ref: Ref(float)").SetIsStateful();
REGISTER_OP("PartitionTestAssign").Input("ref: Ref(float)");

Node* On(const char* device, Node* n) {
  n->set_assigned_device(device);
  return n;
}

using Parts = std::map<std::string, std::unique_ptr<Graph>>;

Status Partition(const Graph& g, Parts* parts) {
  PartitionOptions options;
  options.incarnation = [](const std::string& d) {
    return d == kA ? 0xffffffffffffffffull : 7ull;
  };
  return PartitionGraph(options, g, parts);
}

std::map<std::string, int> CountOps(const Graph& g) {
  std::map<std::string, int> ops;
  g.ForEachNode([&](Node* n) { ++ops[n->type_string()]; });
  return ops;
}

TEST(PartitionTest, OneCopyOfATensorForEachDevice) {
  Graph g;
  const Endpoint a = Const(&g, "a", MakeTensor<float>({2}, {1, 2}));
  On(kA, a.node);
  On(kB, AddOp(&g, "twice", "AddV2", {a, a}));
  On(kB, AddOp(&g, "again", "Identity", {a}));
  On(kA, AddOp(&g, "local", "Identity", {a}));
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(CountOps(*parts[kA]),
            (std::map<std::string, int>{
                {"Const", 1}, {"Identity", 1}, {"_Send", 1}}));
  EXPECT_EQ(CountOps(*parts[kB]),
            (std::map<std::string, int>{
                {"AddV2", 1}, {"Identity", 1}, {"_Recv", 1}}));
  const Node* send = nullptr;
  const Node* recv = nullptr;
  parts[kA]->ForEachNode([&](Node* n) { send = n->IsSend() ? n : send; });
  parts[kB]->ForEachNode([&](Node* n) { recv = n->IsRecv() ? n : recv; });
  for (const Node* n : {send, recv}) {
    std::string s;
    ASSERT_EQ(n->attrs().Get("send_device", &s), OkStatus());
    EXPECT_EQ(s, kA);
    ASSERT_EQ(n->attrs().Get("recv_device", &s), OkStatus());
    EXPECT_EQ(s, kB);
    ASSERT_EQ(n->attrs().Get("tensor_name", &s), OkStatus());
    EXPECT_EQ(s, "edge_1_a");
    int64_t incarnation;
    ASSERT_EQ(n->attrs().Get("send_device_incarnation", &incarnation),
              OkStatus());
    EXPECT_EQ(incarnation, -1);
  }
  EXPECT_EQ(recv->output_shape(0).DebugString(), "[2]");
  EXPECT_EQ(recv->assigned_device(), kB);
}

TEST(PartitionTest, ControlEdgesCrossAsEmptyTensors) {
  Graph g;
  Node* const first = On(kA, AddOp(&g, "first", "NoOp"));
  On(kB, AddOp(&g, "then", "NoOp", {}, {}, {first}));
  On(kB, AddOp(&g, "also", "NoOp", {}, {}, {first}));
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  EXPECT_EQ(
      CountOps(*parts[kA]),
      (std::map<std::string, int>{{"Const", 1}, {"NoOp", 1}, {"_Send", 1}}));
  EXPECT_EQ(
      CountOps(*parts[kB]),
      (std::map<std::string, int>{{"Identity", 1}, {"NoOp", 2}, {"_Recv", 1}}));
  Node* const then = parts[kB]->FindNode("then");
  ASSERT_EQ(then->control_inputs().size(), 1u);
  EXPECT_EQ(then->control_inputs()[0]->src()->type_string(), "Identity");
}

TEST(PartitionTest, RefusesReferencesAndNodesWithoutDevice) {
  Graph g;
  Node* const v = On(kA, AddOp(&g, "v", "PartitionTestVariable"));
  Node* const assign =
      On(kB, AddOp(&g, "assign", "PartitionTestAssign", {{v, 0}}));
  Parts parts;
  ExpectError(Partition(g, &parts), absl::StatusCode::kInvalidArgument,
              "a reference cannot cross");
  EXPECT_TRUE(parts.empty());
  g.RemoveNode(assign);
  On(kB, AddOp(&g, "read", "Identity", {{v, 0}}));  // its value may
  EXPECT_EQ(Partition(g, &parts), OkStatus());
  AddOp(&g, "nowhere", "NoOp");
  ExpectError(Partition(g, &parts), absl::StatusCode::kInternal,
              "'nowhere' has no device");
}

// i = 0; while (p(i)) i = -i, with `body` on a device of its own.
struct Loop {
  explicit Loop(const char* body_device, bool with_condition = true) {
    const AttrMap frame{{"frame_name", "f"}, {"parallel_iterations", 4}};
    AttrMap constant = frame;
    constant.Set("is_constant", true);
    const Endpoint zero = Const(&g, "zero", MakeScalar(0.f));
    const Endpoint yes = Const(&g, "yes", MakeScalar(true));
    enter = AddOp(&g, "enter", "Enter", {zero}, frame);
    scale = AddOp(&g, "scale", "Enter", {zero}, constant);
    Node* const pred = AddOp(&g, "pred", "Enter", {yes}, constant);
    NodeDef def;
    def.name = "merge";
    def.op = "Merge";
    def.attrs = {{"T", DT_FLOAT}, {"N", int64_t{2}}};
    auto added = g.AddUnconnectedNode(std::move(def));
    EXPECT_TRUE(added.ok());
    merge = *added;
    EXPECT_EQ(g.AddEdge({enter, 0}, merge, 0), OkStatus());
    Node* const cond =
        with_condition ? AddOp(&g, "cond", "LoopCond", {{pred, 0}}) : pred;
    split = AddOp(&g, "switch", "Switch", {{merge, 0}, {cond, 0}});
    body = AddOp(&g, "body", "Mul", {{split, 1}, {scale, 0}});
    next = AddOp(&g, "next", "NextIteration", {{body, 0}});
    EXPECT_EQ(g.AddEdge({next, 0}, merge, 1), OkStatus());
    exit = AddOp(&g, "exit", "Exit", {{split, 0}});
    g.ForEachNode([](Node* n) { On(kA, n); });
    On(body_device, body);
  }
  Graph g;
  Node *enter, *scale, *merge, *split, *body, *next, *exit;
};

TEST(PartitionTest, ALoopRunsOnEachOfItsDevices) {
  Loop loop(kB);
  Parts parts;
  ASSERT_EQ(Partition(loop.g, &parts), OkStatus());
  // Over there: the loop that the condition keeps going, and the invariant,
  // which crosses outside the loop.
  EXPECT_EQ(CountOps(*parts[kB]),
            (std::map<std::string, int>{{"Const", 1},
                                        {"Enter", 2},
                                        {"Merge", 1},
                                        {"Switch", 1},
                                        {"NextIteration", 1},
                                        {"Mul", 1},
                                        {"_Recv", 3},
                                        {"_Send", 1}}));
  for (const char* device : {kA, kB}) {
    int in_loop = 0;
    parts[device]->ForEachNode([&](Node* n) {
      if (!n->IsRecv()) return;
      if (n->control_inputs().empty()) {
        EXPECT_TRUE(n->out_edges()[0]->dst()->IsEnter());
        return;
      }
      ++in_loop;
      const Node* const starts = n->control_inputs()[0]->src();
      EXPECT_TRUE(starts->IsMerge());
      EXPECT_TRUE(absl::StartsWith(starts->name(), "_cloop"));
      EXPECT_NE(starts, parts[device]->FindNode("merge"));
    });
    EXPECT_EQ(in_loop, device == kA ? 1 : 2) << device;
    std::vector<Node*> order;
    EXPECT_EQ(TopologicalOrder(*parts[device], &order), OkStatus());
    ControlFlow flow;
    ASSERT_EQ(AnalyzeControlFlow(*parts[device], &flow), OkStatus());
    ASSERT_EQ(flow.frames.size(), 2u);
    EXPECT_EQ(flow.frames[1].name, "f");
    EXPECT_EQ(flow.frames[1].parallel_iterations, 4);
  }
}

TEST(PartitionTest, NodesThatOnlyPassValuesOnGoToTheirNeighbours) {
  Loop loop(kA);
  for (Node* n : {loop.enter, loop.scale, loop.split, loop.next, loop.exit}) {
    On(kB, n);
  }
  Parts parts;
  ASSERT_EQ(Partition(loop.g, &parts), OkStatus());
  for (const auto& [device, part] : parts) {
    part->ForEachNode([&](Node* n) { EXPECT_FALSE(n->IsSend()) << n->name(); });
  }
  EXPECT_EQ(parts[kA]->FindNode("exit")->assigned_device(), kA);
}

TEST(PartitionTest, RefusesLoopsThatCannotCross) {
  Parts parts;
  {
    Loop loop(kB, /*with_condition=*/false);
    ExpectError(Partition(loop.g, &parts), absl::StatusCode::kInvalidArgument,
                "A cross-device loop must have a pivot predicate: loop 'f'");
    EXPECT_TRUE(parts.empty());
  }
  Loop loop(kA);
  Node* const once = On(kA, AddOp(&loop.g, "once", "Neg", {{loop.enter, 0}}));
  On(kB, AddOp(&loop.g, "reader", "Neg", {{once, 0}}));
  ExpectError(Partition(loop.g, &parts), absl::StatusCode::kInvalidArgument,
              "'once' of loop 'f'");
  EXPECT_TRUE(parts.empty());
}

TEST(ControlFlowTest, FramesOfNodes) {
  Loop loop(kA);
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(loop.g, &flow), OkStatus());
  ASSERT_EQ(flow.frames.size(), 2u);
  EXPECT_EQ(flow.frames[1].num_enters, 3);
  EXPECT_EQ(flow.frames[1].depth, 1);
  EXPECT_EQ(flow.runs_in[loop.enter->id()], 0);
  EXPECT_EQ(flow.puts_out_to[loop.enter->id()], 1);
  EXPECT_EQ(flow.runs_in[loop.body->id()], 1);
  EXPECT_EQ(flow.runs_in[loop.exit->id()], 1);
  EXPECT_EQ(flow.puts_out_to[loop.exit->id()], 0);
  EXPECT_TRUE(IsConstantEnter(*loop.scale));
  EXPECT_FALSE(IsConstantEnter(*loop.enter));
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
    return BuildClientGraph(g_, feeds, fetches, targets, kA);
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
    if (n->IsArg() || n->IsRetval()) EXPECT_EQ(n->assigned_device(), kA);
    if (n->name() == "out") {
      EXPECT_TRUE(n->control_inputs()[0]->src()->IsArg());
    }
  });
}

TEST_F(ClientGraphTest, Refuses) {
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(Build({}, {}).status(), kInvalid, "at least one target");
  ExpectError(Build({x_, x_}, {out_}).status(), kInvalid, "x:0");
  ExpectError(Build({c_}, {c_}).status(), kInvalid,
              "c:0 is both fed and fetched.");
  ExpectError(Build({}, {{c_.node, 1}}).status(), kInvalid, "c:1");
  ExpectError(Build({{x_.node, -3}}, {out_}).status(), kInvalid, "");
  ASSERT_EQ(g_.ReplaceInput(sum_.node, 0, out_), OkStatus());
  ExpectError(Build({}, {out_}).status(), kInvalid, "2 nodes in a cycle");
}

}  // namespace
}  // namespace headrace
