#include "graph/partition.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "graph/algorithm.h"
#include "graph/control_flow.h"
#include "graph/graph_test_util.h"
#include "graph/node_text_test_util.h"

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

TEST(PartitionTest, DevicesOfOnePartKeepTheirEdges) {
  constexpr char kFar0[] = "/job:b/replica:0/task:0/device:CPU:0";
  constexpr char kFar1[] = "/job:b/replica:0/task:0/device:CPU:1";
  Graph g;
  const Endpoint a = Const(&g, "a", MakeTensor<float>({2}, {1, 2}));
  On(kA, a.node);
  const Endpoint near = {On(kB, AddOp(&g, "near", "Identity", {a})), 0};
  Node* const far0 = On(kFar0, AddOp(&g, "far0", "Identity", {near}));
  On(kFar1, AddOp(&g, "far1", "AddV2", {near, near}));
  On(kFar1, AddOp(&g, "after", "NoOp", {}, {}, {far0}));
  PartitionOptions options;
  options.part_of = [](const std::string& device) {
    return device.substr(0, device.find("/device"));
  };
  Parts parts;
  ASSERT_EQ(PartitionGraph(options, g, &parts), OkStatus());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(CountOps(*parts["/job:a/replica:0/task:0"]),
            (std::map<std::string, int>{
                {"Const", 1}, {"Identity", 1}, {"_Send", 1}}));
  EXPECT_EQ(CountOps(*parts["/job:b/replica:0/task:0"]),
            (std::map<std::string, int>{
                {"AddV2", 1}, {"Identity", 1}, {"NoOp", 1}, {"_Recv", 1}}));
}

// On kB the second input of an AddV2 is in the host's memory, and so is the
// output of an Identity.
TEST(PartitionTest, MemoriesOfADeviceAreCrossedOnceForEachReader) {
  Graph g;
  const Endpoint a = Const(&g, "a", MakeTensor<float>({2}, {1, 2}));
  On(kA, a.node);
  const Endpoint b = Const(&g, "b", MakeTensor<float>({2}, {1, 2}));
  On(kB, b.node);
  const Endpoint host = {On(kB, AddOp(&g, "host", "Identity", {b})), 0};
  Node* const add = On(kB, AddOp(&g, "add", "AddV2", {b, b}));
  On(kB, AddOp(&g, "again", "AddV2", {host, b}));
  On(kB, AddOp(&g, "from_a", "AddV2", {a, a}));
  On(kA, AddOp(&g, "back", "AddV2", {host, {add, 0}}));
  PartitionOptions options;
  options.memory_of = [](const Node& n, const std::string& device,
                         bool is_output, int index) {
    const bool on_host =
        device == kB && (is_output ? n.type_string() == "Identity"
                                   : n.type_string() == "AddV2" && index == 1);
    return on_host ? HOST_MEMORY : DEVICE_MEMORY;
  };
  Parts parts;
  ASSERT_EQ(PartitionGraph(options, g, &parts), OkStatus());
  // To kB: a, for each of its memories. From it: what `back` reads.
  EXPECT_EQ(CountOps(*parts[kA]),
            (std::map<std::string, int>{
                {"AddV2", 1}, {"Const", 1}, {"_Recv", 2}, {"_Send", 2}}));
  // Inside of kB: b to the host, once for two readers, and host to the device.
  EXPECT_EQ(CountOps(*parts[kB]), (std::map<std::string, int>{{"AddV2", 3},
                                                              {"Const", 1},
                                                              {"Identity", 1},
                                                              {"_HostRecv", 2},
                                                              {"_HostSend", 2},
                                                              {"_Recv", 2},
                                                              {"_Send", 2}}));
  const Node* const copy = parts[kB]->FindNode("add");
  EXPECT_EQ(copy->input_edge(0)->src()->name(), "b");
  EXPECT_EQ(copy->input_edge(1)->src()->type_string(), "_HostRecv");
}

TEST(PartitionTest, AGraphInOneMemoryOfOneDeviceIsNotCopied) {
  for (const bool crosses : {false, true}) {
    auto g = std::make_unique<Graph>();
    const Endpoint a = Const(g.get(), "a", MakeTensor<float>({2}, {1, 2}));
    On(kA, a.node);
    On(kA, AddOp(g.get(), "b", "Identity", {a}));
    const Graph* const whole = g.get();
    PartitionOptions options;
    options.memory_of = [&](const Node&, const std::string&, bool is_output,
                            int) {
      return crosses && !is_output ? HOST_MEMORY : DEVICE_MEMORY;
    };
    Parts parts;
    ASSERT_EQ(PartitionGraph(options, std::move(g), &parts), OkStatus());
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[kA].get() == whole, !crosses);
    EXPECT_EQ(parts[kA]->num_nodes(), crosses ? 4 : 2);
  }
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

// Its reader waits for an update, so what is sent is the variable after it.
TEST(PartitionTest, AVariableIsSentAfterWhatItsReaderWaitsFor) {
  Graph g;
  const Endpoint v = {On(kA, AddOp(&g, "v", "PartitionTestVariable", {})), 0};
  Node* const update = On(kA, AddOp(&g, "update", "PartitionTestAssign", {v}));
  Node* const elsewhere = On(kB, AddOp(&g, "elsewhere", "NoOp", {}));
  On(kB, AddOp(&g, "before", "Neg", {v}));
  On(kB, AddOp(&g, "before_too", "Abs", {v}));
  On(kB, AddOp(&g, "after", "Square", {v}, {}, {update, elsewhere}));
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  int waiting = 0, free = 0;
  parts[kA]->ForEachNode([&](Node* n) {
    if (!n->IsSend() || n->input_edge(0)->src()->name() != "v") return;
    ++(n->control_inputs().empty() ? free : waiting);
    if (n->control_inputs().empty()) return;
    std::set<std::string> ops;
    for (const Edge* e : n->control_inputs()) {
      ops.insert(e->src()->type_string());
    }
    // The other one's end is told by an empty tensor.
    EXPECT_EQ(ops, (std::set<std::string>{"PartitionTestAssign", "Identity"}));
  });
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(free, 1);
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

constexpr char kC[] = "/job:a/replica:0/task:0/device:CPU:2";

// The graph of a text whose "@k" stand for kA, kB and kC; kA without one.
void LoadPlaced(absl::string_view text, Graph* g) {
  LoadNodes(text, g);
  g->ForEachNode([](Node* n) {
    const std::string& wanted = n->requested_device();
    On(wanted == "/cpu:1" ? kB : wanted == "/cpu:2" ? kC : kA, n);
  });
}

TEST(PartitionTest, NothingIsAPartition) {
  Graph g;
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  EXPECT_TRUE(parts.empty());
  ASSERT_EQ(PartitionGraph({}, std::make_unique<Graph>(), &parts), OkStatus());
  EXPECT_TRUE(parts.empty());
}

TEST(PartitionTest, AGraphOnOneDeviceStaysAsItIs) {
  auto owned = std::make_unique<Graph>();
  Graph* const g = owned.get();
  LoadPlaced("a: Const 1\nb: Identity a", g);
  Parts parts;
  parts["stale"] = nullptr;
  ASSERT_EQ(PartitionGraph({}, std::move(owned), &parts), OkStatus());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[kA].get(), g);
  // Copied, it is the same graph.
  Parts copies;
  ASSERT_EQ(PartitionGraph({}, *parts[kA], &copies), OkStatus());
  EXPECT_EQ(CountOps(*copies[kA]), CountOps(*g));

  auto nowhere = std::make_unique<Graph>();
  LoadNodes("a: Const 1", nowhere.get());
  ExpectError(PartitionGraph({}, std::move(nowhere), &parts),
              absl::StatusCode::kInternal, "'a' has no device");
  EXPECT_TRUE(parts.empty());
}

TEST(PartitionTest, ATensorCrossesToEachDeviceByItsOwnPair) {
  Graph g;
  LoadPlaced(R"(
    pair: Switch v p
    v: Const 1
    p: Const true
    b0: Identity pair @1
    b1: Identity pair:1 @1
    c0: Identity pair @2
  )",
             &g);
  Parts parts;
  // The data and the predicate go with Switch's input.
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  EXPECT_EQ(CountOps(*parts[kA])["_Send"], 3);
  EXPECT_EQ(CountOps(*parts[kB])["_Recv"], 2);
  EXPECT_EQ(CountOps(*parts[kC])["_Recv"], 1);
  std::map<std::string, int> names;
  for (const auto& [device, part] : parts) {
    part->ForEachNode([&](Node* n) {
      std::string name;
      if (!n->IsSend()) return;
      ASSERT_EQ(n->attrs().Get("tensor_name", &name), OkStatus());
      ++names[name];
    });
  }
  EXPECT_EQ(names.size(), 3u);
}

TEST(PartitionTest, DataAndControlOfANodeCrossApart) {
  Graph g;
  LoadPlaced(R"(
    a: Const 1
    reads: Identity a @1
    waits: NoOp ^a @1
    both: Identity a ^a @1
  )",
             &g);
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  EXPECT_EQ(CountOps(*parts[kA])["_Send"], 2);
  EXPECT_EQ(CountOps(*parts[kB])["_Recv"], 2);
  const Node* const both = parts[kB]->FindNode("both");
  EXPECT_TRUE(both->input_edge(0)->src()->IsRecv());
  EXPECT_EQ(both->control_inputs()[0]->src()->type_string(), "Identity");
}

TEST(PartitionTest, WhatCarriesHasNamesThatNobodyHas) {
  Graph g;
  LoadPlaced(R"(
    a: Const 1
    a/_1: Identity a
    a/_2: Identity a @1
    a/_3: Identity a/_1 @1
  )",
             &g);
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  std::map<std::string, int> names;
  for (const auto& [device, part] : parts) {
    part->ForEachNode([&](Node* n) { ++names[n->name()]; });
  }
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
}

TEST(PartitionTest, TheIncarnationOfTheSenderIsInTheKey) {
  Graph g;
  LoadPlaced("b: Const 1 @1\na: Identity b", &g);
  for (const bool given : {true, false}) {
    Parts parts;
    ASSERT_EQ(given ? Partition(g, &parts) : PartitionGraph({}, g, &parts),
              OkStatus());
    int seen = 0;
    for (const auto& [device, part] : parts) {
      part->ForEachNode([&](Node* n) {
        int64_t incarnation = 0;
        if (!n->IsSend() && !n->IsRecv()) return;
        ++seen;
        ASSERT_EQ(n->attrs().Get("send_device_incarnation", &incarnation),
                  OkStatus());
        EXPECT_EQ(incarnation, given ? 7 : 1);
      });
    }
    EXPECT_EQ(seen, 2);
  }
}

TEST(PartitionTest, ALoopInALoopRunsOnTheDeviceThatOnlyTheInnerOneNeeds) {
  Graph g;
  LoadPlaced(R"(
    zero: Const 0
    yes: Const true
    enter: Enter zero in=outer
    go: Enter yes T=bool in=outer is_constant=true
    merge: Merge enter next
    cond: LoopCond go
    split: Switch merge cond
    in_enter: Enter split:1 in=inner
    in_go: Enter go T=bool in=inner is_constant=true
    in_merge: Merge in_enter in_next
    in_cond: LoopCond in_go
    in_split: Switch in_merge in_cond
    in_body: Neg in_split:1 @1
    in_next: NextIteration in_body
    in_exit: Exit in_split
    next: NextIteration in_exit
    exit: Exit split
  )",
             &g);
  Parts parts;
  ASSERT_EQ(Partition(g, &parts), OkStatus());
  // Over there: control loops of both, one inside the other.
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(*parts[kB], &flow), OkStatus());
  ASSERT_EQ(flow.frames.size(), 3u);
  EXPECT_EQ(flow.frames[1].name, "outer");
  EXPECT_EQ(flow.frames[2].name, "inner");
  EXPECT_EQ(flow.frames[2].parent, 1);
  // Each receives its condition, and the inner one its value as well.
  int in_frame[3] = {};
  parts[kB]->ForEachNode([&](Node* n) {
    if (n->IsRecv()) ++in_frame[flow.runs_in[n->id()]];
  });
  EXPECT_EQ(in_frame[1], 1);
  EXPECT_EQ(in_frame[2], 2);
}

TEST(PartitionTest, AControlEdgeInALoopCrossesInEveryIteration) {
  Loop loop(kA);
  Node* const there =
      On(kB, AddOp(&loop.g, "there", "NoOp", {}, {}, {loop.merge}));
  ASSERT_NE(there, nullptr);
  Parts parts;
  ASSERT_EQ(Partition(loop.g, &parts), OkStatus());
  ControlFlow flow;
  ASSERT_EQ(AnalyzeControlFlow(*parts[kB], &flow), OkStatus());
  EXPECT_EQ(flow.runs_in[parts[kB]->FindNode("there")->id()], 1);
  ASSERT_EQ(AnalyzeControlFlow(*parts[kA], &flow), OkStatus());
  parts[kA]->ForEachNode([&](Node* n) {
    if (n->IsSend()) {
      EXPECT_EQ(flow.runs_in[n->id()], 1) << n->name();
    }
  });
}

TEST(PartitionTest, RefusesALoopWithTwoConditions) {
  Loop loop(kB);
  AddOp(&loop.g, "second", "LoopCond",
        {{loop.g.FindNode("cond")->input_edge(0)->src(), 0}});
  On(kA, loop.g.FindNode("second"));
  Parts parts;
  ExpectError(Partition(loop.g, &parts), absl::StatusCode::kInvalidArgument,
              "more than one LoopCond");
  EXPECT_TRUE(parts.empty());
}

}  // namespace
}  // namespace headrace
