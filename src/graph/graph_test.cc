#include "headrace/graph.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "graph/algorithm.h"
#include "graph/constant_eval.h"
#include "graph/graph_test_util.h"
#include "headrace/op_kernel.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

REGISTER_OP("GraphTestLists")
    .Input("a: N * T")
    .Input("b: N * T")
    .Input("rest: Tlist")
    .Input("one: float")
    .Output("out: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("Tlist: list(type) >= 0");
REGISTER_OP("GraphTestRef").Input("x: Ref(T)").Output("y: T").Attr("T: type");
REGISTER_OP("GraphTestVariable")
    .Output("ref: Ref(T)")
    .Attr("T: type")
    .SetIsStateful();
REGISTER_OP("GraphTestOld").Output("y: float").Deprecated(20, "Use a new one");

// Doubles an int32 tensor and counts how often.
REGISTER_OP("GraphTestDouble")
    .Input("x: int32")
    .Output("y: int32")
    .SetShapeFn([](InferenceContext* c) {
      c->set_output(0, c->input(0));
      return OkStatus();
    });
int g_doubled = 0;
class GraphTestDoubleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++g_doubled;
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ctx->input(0).shape(), &y));
    for (int64_t i = 0; i < y->NumElements(); ++i) {
      y->data<int32_t>()[i] = 2 * ctx->input(0).data<int32_t>()[i];
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("GraphTestDouble").Device(DEVICE_CPU),
                        GraphTestDoubleOp);

// Output 0 has the shape that the input spells out.
REGISTER_OP("GraphTestFill")
    .Input("dims: T")
    .Output("y: float")
    .Attr("T: {int32, int64}")
    .SetShapeFn([](InferenceContext* c) {
      PartialTensorShape s;
      HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &s));
      c->set_output(0, std::move(s));
      return OkStatus();
    });

Status TryAdd(Graph* g, const std::string& op, std::vector<Endpoint> inputs,
              AttrMap attrs = {}, const std::string& name = "bad") {
  NodeDef def;
  def.name = name;
  def.op = op;
  def.attrs = std::move(attrs);
  return g->AddNode(std::move(def), inputs).status();
}

std::string FilledShape(Graph* g, Endpoint dims) {
  const std::string name = g->UniqueName("fill");
  return AddOp(g, name, "GraphTestFill", {dims})->output_shape(0).DebugString();
}

TEST(GraphTest, InfersAttrsAndShapes) {
  Graph g;
  const Endpoint a = Const(&g, "a", MakeTensor<float>({2, 1}, {1, 2}));
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {-1, 3});
  Node* const sum = AddOp(&g, "sum", "AddV2", {a, x});
  DataType t;
  ASSERT_EQ(sum->attrs().Get("T", &t), OkStatus());
  EXPECT_EQ(t, DT_FLOAT);
  EXPECT_EQ(sum->output_shape(0).DebugString(), "[2,3]");
  EXPECT_EQ(g.FindNode("sum"), sum);
  EXPECT_EQ(sum->input_edge(1)->src(), x.node);
  EXPECT_EQ(a.node->out_edges().size(), 1u);

  // N and Tlist from the number of inputs: 2 * N + len(Tlist) + 1.
  const Endpoint i = Const(&g, "i", MakeScalar<int32_t>(1));
  Node* const lists =
      AddOp(&g, "lists", "GraphTestLists", {i, i, i, i, a, i, a}, {{"N", 2}});
  std::vector<DataType> types;
  ASSERT_EQ(lists->attrs().Get("Tlist", &types), OkStatus());
  EXPECT_EQ(types, (std::vector<DataType>{DT_FLOAT, DT_INT32}));
  // Both are missing: only the caller can tell.
  ExpectError(TryAdd(&g, "GraphTestLists", {i, i, a, a}),
              absl::StatusCode::kInvalidArgument, "'N' and 'Tlist'");
  NodeDef def;
  def.name = "sized";
  def.op = "GraphTestLists";
  StatusOr<Node*> sized =
      g.AddNode(def, {i, i, a, a}, {}, std::vector<int>{1, 1, 1, 1});
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_EQ((*sized)->num_inputs(), 4);
}

TEST(GraphTest, RefusesBadNodesAndStaysAsItWas) {
  Graph g;
  const Endpoint f =
      Const(&g, "f", MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Endpoint i = Const(&g, "i", MakeScalar<int32_t>(1));
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  ExpectError(TryAdd(&g, "Zork", {}), absl::StatusCode::kNotFound, "'Zork'");
  ExpectError(TryAdd(&g, "NoOp", {}, {}, "f"), kInvalid, "not unique");
  for (const char* name : {"", "a b", "-x", "a:0", "^a", "/x"}) {
    ExpectError(TryAdd(&g, "NoOp", {}, {}, name), kInvalid, "not valid");
  }
  ExpectError(TryAdd(&g, "AddV2", {f}), kInvalid, "wants 2 inputs (x, y)");
  ExpectError(TryAdd(&g, "AddV2", {f, i}), kInvalid,
              "input 1 ('y') of op AddV2 was passed int32 incompatible with "
              "expected float");
  ExpectError(TryAdd(&g, "AddV2", {f, {f.node, 1}}), kInvalid,
              "output 1 of node 'f'");
  ExpectError(TryAdd(&g, "AddV2", {f, {}}), kInvalid, "no node");
  ExpectError(TryAdd(&g, "MatMul", {f, f}), kInvalid,
              "for 'bad' (op: 'MatMul') with input shapes: [2,3], [2,3]");
  // Every problem in one message.
  const Status s = TryAdd(&g, "AddV2", {f, i}, {{"T", "x"}, {"zork", 1}});
  ExpectError(s, kInvalid, "when 'type' expected for attr 'T'");
  ExpectError(s, kInvalid, "mentions attr 'zork'");
  ExpectError(TryAdd(&g, "GraphTestRef", {f}), kInvalid,
              "passed float incompatible with expected float_ref");
  ExpectError(TryAdd(&g, "GraphTestOld", {}), absl::StatusCode::kUnimplemented,
              "removed in version 20");
  ExpectError(TryAdd(&g, "AddN", {}, {{"N", int64_t{1} << 40}}), kInvalid, "");
  EXPECT_EQ(g.num_nodes(), 2);
  EXPECT_TRUE(f.node->out_edges().empty());
  Node* const v = AddOp(&g, "v", "GraphTestVariable", {}, {{"T", DT_FLOAT}});
  AddOp(&g, "r", "GraphTestRef", {{v, 0}});
  AddOp(&g, "deref", "Identity", {{v, 0}});
}

TEST(GraphTest, EvaluatesConstantInputsOfShapeFunctions) {
  Graph g;
  const Endpoint dims = Const(&g, "dims", MakeTensor<int32_t>({2}, {3, 5}));
  EXPECT_EQ(FilledShape(&g, dims), "[3,5]");
  // Through a kernel, once for each shape function that asks, no other.
  g_doubled = 0;
  Node* const twice = AddOp(&g, "twice", "GraphTestDouble", {dims});
  Node* const four = AddOp(&g, "four", "GraphTestDouble", {{twice, 0}});
  EXPECT_EQ(g_doubled, 0);
  EXPECT_EQ(FilledShape(&g, {four, 0}), "[12,20]");
  EXPECT_EQ(g_doubled, 2);
  // Not what a feed may replace.
  const Endpoint x = Placeholder(&g, "x", DT_INT32, {2});
  Node* const fed = AddOp(&g, "fed", "GraphTestDouble", {x});
  EXPECT_EQ(FilledShape(&g, {fed, 0}), "[?,?]");
  Node* const preset = AddOp(&g, "preset", "PlaceholderWithDefault", {dims},
                             {{"shape", PartialTensorShape({2})}});
  EXPECT_EQ(FilledShape(&g, {preset, 0}), "[?,?]");
  // A refused value is refused.
  ExpectError(TryAdd(&g, "GraphTestFill",
                     {Const(&g, "neg", MakeTensor<int32_t>({1}, {-7}))}),
              absl::StatusCode::kInvalidArgument, "");
}

TEST(GraphTest, OnlyTheKernelsOfTestsAreLinked) {
  for (const KernelRegistry::Info& k : KernelRegistry::Global()->All()) {
    EXPECT_NE(k.op.find("Test"), std::string::npos) << k.op;
  }
}

TEST(GraphTest, FollowsPartlyKnownShapes) {
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT, {-1, 28, 28, 3});
  const Endpoint shape{AddOp(&g, "shape", "Shape", {x}), 0};
  EXPECT_EQ(FilledShape(&g, shape), "[?,28,28,3]");
  const auto vec = [&](const std::string& name, std::vector<int32_t> v) {
    return Const(&g, name,
                 MakeTensor<int32_t>({static_cast<int64_t>(v.size())}, v));
  };
  const Endpoint zero = vec("zero", {0}), one = vec("one", {1}),
                 big = vec("big", {9}), minus = vec("minus", {-1});
  const auto slice = [&](const std::string& name, Endpoint b, Endpoint e,
                         Endpoint s, AttrMap attrs = {}) {
    return Endpoint{
        AddOp(&g, name, "StridedSlice", {shape, b, e, s}, std::move(attrs)), 0};
  };
  EXPECT_EQ(FilledShape(&g, slice("tail", one, big, one)), "[28,28,3]");
  EXPECT_EQ(FilledShape(&g, slice("reversed", minus, big, minus,
                                  {{"begin_mask", 1}, {"end_mask", 1}})),
            "[3,28,28,?]");
  const Endpoint batch =
      slice("batch", zero, one, one, {{"shrink_axis_mask", 1}});
  const Endpoint height =
      slice("height", one, vec("two", {2}), one, {{"shrink_axis_mask", 1}});
  const Endpoint area{AddOp(&g, "area", "Mul", {height, height}), 0};
  const Endpoint packed{AddOp(&g, "packed", "Pack", {batch, area}), 0};
  EXPECT_EQ(FilledShape(&g, packed), "[?,784]");
  const Endpoint axis = Const(&g, "axis", MakeScalar<int32_t>(0));
  const Endpoint joined{
      AddOp(&g, "joined", "ConcatV2", {packed, one, zero, axis}), 0};
  EXPECT_EQ(FilledShape(&g, joined), "[?,784,1,0]");
  const Endpoint wide{AddOp(&g, "wide", "Cast", {joined}, {{"DstT", DT_INT64}}),
                      0};
  EXPECT_EQ(FilledShape(&g, wide), "[?,784,1,0]");
  const Endpoint gathered{
      AddOp(&g, "gathered", "GatherV2", {shape, vec("which", {3, 0}), axis}),
      0};
  EXPECT_EQ(FilledShape(&g, gathered), "[3,?]");
  const Endpoint prod{AddOp(&g, "prod", "Prod", {{g.FindNode("tail"), 0}, zero},
                            {{"keep_dims", true}}),
                      0};
  EXPECT_EQ(FilledShape(&g, prod), "[2352]");
  Node* const flat =
      AddOp(&g, "flat", "Reshape",
            {x,
             {AddOp(&g, "p2", "Pack",
                    {batch, area, Const(&g, "three", MakeScalar<int32_t>(3))}),
              0}});
  EXPECT_EQ(flat->output_shape(0).DebugString(), "[?,784,3]");
}

TEST(GraphTest, HostileShapeArithmeticStaysBounded) {
  // Each level names the one below twice: 2^60 paths.
  Graph g;
  Endpoint e = Placeholder(&g, "x", DT_INT32, PartialTensorShape::Scalar());
  for (int i = 0; i < 60; ++i) {
    e = {AddOp(&g, StrCat("m", i), "Mul", {e, e}), 0};
  }
  Node* const pack = AddOp(&g, "pack", "Pack", {e});
  EXPECT_EQ(FilledShape(&g, {pack, 0}), "[?]");
  Tensor t;
  EXPECT_FALSE(EvaluateConstant({pack, 0}, &t));
}

TEST(GraphTest, EditsKeepBothEndsOfEdges) {
  Graph g;
  const Endpoint a = Const(&g, "a", MakeScalar(1.0f));
  const Endpoint b = Const(&g, "b", MakeScalar(2.0f));
  Node* const n = AddOp(&g, "n", "AddV2", {a, b});
  Node* const c = AddOp(&g, "c", "NoOp", {}, {}, {n, n, a.node});
  EXPECT_EQ(c->control_inputs().size(), 2u);  // collapsed
  ASSERT_EQ(g.ReplaceInput(n, 1, a), OkStatus());
  EXPECT_TRUE(b.node->out_edges().empty());
  EXPECT_EQ(n->input_edge(1)->src(), a.node);
  const Endpoint i = Const(&g, "i", MakeScalar<int32_t>(2));
  ExpectError(g.ReplaceInput(n, 1, i), absl::StatusCode::kInvalidArgument,
              "was passed int32 from i:0 incompatible with expected float");
  EXPECT_EQ(n->input_edge(1)->src(), a.node);
  const std::shared_ptr<const NodeDef> before = n->shared_def();
  g.SetNodeAttr(n, "_mark", 1);
  EXPECT_EQ(before->attrs.Find("_mark"), nullptr);
  EXPECT_EQ(g.FindNode("n"), n);
  g.RemoveNode(n);
  EXPECT_EQ(g.FindNode("n"), nullptr);
  EXPECT_EQ(g.node(n->id()), nullptr);
  EXPECT_EQ(c->control_inputs().size(), 1u);
  EXPECT_EQ(a.node->out_edges().size(), 1u);
  EXPECT_EQ(g.UniqueName("c"), "c_1");
  EXPECT_EQ(g.UniqueName("n"), "n");
}

TEST(GraphTest, OrdersAndNamesCycles) {
  Graph g;
  const Endpoint a = Const(&g, "a", MakeScalar(1.0f));
  Node* const x = AddOp(&g, "x", "Identity", {a});
  Node* const y = AddOp(&g, "y", "Identity", {{x, 0}});
  Node* const z = AddOp(&g, "z", "Identity", {{y, 0}});
  std::vector<Node*> order;
  ASSERT_EQ(TopologicalOrder(g, &order), OkStatus());
  EXPECT_EQ(order, (std::vector<Node*>{a.node, x, y, z}));
  const std::vector<bool> needed = ReachableBackwards(g, std::vector<Node*>{y});
  EXPECT_TRUE(needed[x->id()]);
  EXPECT_FALSE(needed[z->id()]);
  ASSERT_EQ(g.ReplaceInput(x, 0, {y, 0}), OkStatus());
  ExpectError(TopologicalOrder(g, &order), absl::StatusCode::kInvalidArgument,
              "cycle with 2 nodes, including: x -> y -> x");
}

TEST(EndpointNameTest, Parses) {
  std::string node;
  int index;
  for (const auto& [text, want_node, want_index] :
       {std::tuple("a", "a", 0), std::tuple("a:0", "a", 0),
        std::tuple("a:007", "a", 7), std::tuple("^a/b", "a/b", kControlSlot)}) {
    ASSERT_EQ(ParseEndpointName(text, &node, &index), OkStatus());
    EXPECT_EQ(node, want_node);
    EXPECT_EQ(index, want_index);
  }
  for (const char* bad : {"", "^", ":0", "a:", "a:x", "a:-1", "^a:0", "^^a",
                          "a:1:2", "a:99999999999"}) {
    ExpectError(ParseEndpointName(bad, &node, &index),
                absl::StatusCode::kInvalidArgument, "Malformed tensor name");
  }
}

// No session has this graph.
TEST(GraphTest, AForkFindsTheLockOfAGraphThatAnotherThreadBuildsFree) {
  Graph g;
  std::atomic<bool> over{false};
  std::thread busy([&] {
    for (int i = 0; !over; ++i) {
      {
        MutexLock lock(&g.mu());
        Const(&g, StrCat("c", i), MakeScalar(1.0f));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  for (int i = 0; i < 30; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(20);
      MutexLock lock(&g.mu());
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  over = true;
  busy.join();
}

// 10,000 nodes of two inputs take about 10 ms; the bound leaves room for
// sanitizers and busy machines.
TEST(GraphTest, BuildsTenThousandNodesQuickly) {
  const auto start = std::chrono::steady_clock::now();
  Graph g;
  Endpoint e = Const(&g, "a", MakeScalar(1.0f));
  for (int i = 0; i < 10000; ++i) {
    NodeDef def;
    def.name = StrCat("n", i);
    def.op = "AddV2";
    const Endpoint in[] = {e, e};
    StatusOr<Node*> n = g.AddNode(std::move(def), in);
    ASSERT_TRUE(n.ok());
    e = {*n, 0};
  }
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  RecordProperty("ms", static_cast<int>(took.count()));
  std::printf("10,000 nodes: %.1f ms\n", took.count());
  EXPECT_LT(took.count(), 2000);
}

}  // namespace
}  // namespace headrace
