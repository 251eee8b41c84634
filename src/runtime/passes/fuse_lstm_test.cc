#include <functional>

#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

class LstmPassTest : public PassTest {
 protected:
  static constexpr int64_t kCells = 3;

  struct State {
    Endpoint cs, h;
  };
  struct Options {
    // Parts of the split: input, new, forget and output gate.
    std::vector<int> order = {0, 1, 2, 3};
    bool forget_bias = true;
    bool swapped = false;  // operands of products and sums
    // The rows of h, if it has a product of its own, as Keras spells cells.
    Endpoint u = {};
  };
  State Zeros(const std::string& name) {
    return {In(name + "/cs", {-1, kCells}), In(name + "/h", {-1, kCells})};
  }
  Endpoint Kernel(const std::string& name, int64_t inputs = kCells) {
    return Weights(name, {inputs + kCells, 4 * kCells});
  }
  Endpoint Both(const std::string& name, const std::string& op, Endpoint a,
                Endpoint b, const Options& o) {
    return o.swapped ? Op(name, op, {b, a}) : Op(name, op, {a, b});
  }
  // A cell with nodes NAME/...; its results are NAME/cs and NAME.
  State Cell(const std::string& name, Endpoint x, const State& s, Endpoint w,
             Endpoint b, const Options& o) {
    const auto at = [&](const char* part) { return name + "/" + part; };
    const Endpoint axis = Const(&g_, at("axis"), Tensor::Scalar<int32_t>(1));
    const Endpoint sums =
        o.u.node == nullptr
            ? Op(at("product"), "MatMul",
                 {Op(at("xh"), "ConcatV2", {x, s.h, axis}), w})
            : Both(at("sums"), "AddV2", Op(at("of_x"), "MatMul", {x, w}),
                   Op(at("of_h"), "MatMul", {s.h, o.u}), o);
    const Endpoint gates = Op(at("biased"), "BiasAdd", {sums, b});
    const Endpoint split =
        Op(at("split"), "Split", {axis, gates}, {{"num_split", 4}});
    const auto gate = [&](int g) { return Endpoint{split.node, o.order[g]}; };
    Endpoint f = gate(2);
    if (o.forget_bias) {
      f = Both(at("f/biased"), "Add", f, Scalar(at("f/bias"), 1), o);
    }
    const Endpoint kept =
        Both(at("kept"), "Mul", s.cs, Op(at("f"), "Sigmoid", {f}), o);
    const Endpoint added =
        Both(at("added"), "Mul", Op(at("i"), "Sigmoid", {gate(0)}),
             Op(at("j"), "Tanh", {gate(1)}), o);
    const Endpoint cs = Both(at("cs"), "AddV2", kept, added, o);
    const Endpoint h = Both(name, "Mul", Op(at("tanh"), "Tanh", {cs}),
                            Op(at("o"), "Sigmoid", {gate(3)}), o);
    return {cs, h};
  }
  State Cell(const std::string& name, Endpoint x, const State& s, Endpoint w,
             Endpoint b) {
    return Cell(name, x, s, w, b, Options());
  }
  Endpoint X(const std::string& name) { return In(name, {-1, kCells}); }
};

TEST_F(LstmPassTest, CellsBecomeOneNode) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  const State s = Cell("cell", X("x"), Zeros("zero"), w, b);
  Fetch(s.cs);
  Fetch(s.h);
  Fetch(Op("neg", "Neg", {s.cs}));
  EXPECT_EQ(Run("fuse_lstm"),
            "cell = _FusedLSTM(x, zero/h, zero/cs, w, b)\n"
            "fetch_cell/cs_0 = _Retval(cell)\n"
            "fetch_cell_0 = _Retval(cell:1)\n"
            "neg = Neg(cell)\n"
            "fetch_neg_0 = _Retval(neg)\n");
  float forget_bias = 0;
  EXPECT_EQ(g_.FindNode("cell")->attrs().Get("forget_bias", &forget_bias),
            OkStatus());
  EXPECT_EQ(forget_bias, 1);
}

TEST_F(LstmPassTest, GatesAndOperandsInAnyOrder) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  const Options options = {
      .order = {2, 0, 3, 1}, .forget_bias = false, .swapped = true};
  Fetch(Cell("cell", X("x"), Zeros("zero"), w, b, options).h);
  EXPECT_EQ(Run("fuse_lstm"),
            "cell = _FusedLSTM(x, zero/h, zero/cs, w, b)\n"
            "fetch_cell_0 = _Retval(cell:1)\n");
  std::vector<int64_t> order;
  EXPECT_EQ(g_.FindNode("cell")->attrs().Get("gate_order", &order), OkStatus());
  EXPECT_EQ(order, std::vector<int64_t>({2, 0, 3, 1}));
}

TEST_F(LstmPassTest, LayersOfUnrolledNetworks) {
  const Endpoint w0 = Kernel("w0"), b0 = Weights("bias0", {4 * kCells});
  const Endpoint w1 = Kernel("w1"), b1 = Weights("bias1", {4 * kCells});
  State first = Zeros("first"), second = Zeros("second");
  for (int t = 0; t < 3; ++t) {
    first = Cell(StrCat("a", t), X(StrCat("x", t)), first, w0, b0);
    second = Cell(StrCat("b", t), first.h, second, w1, b1);
    if (t != 1) Fetch(second.h);
  }
  Fetch(first.cs);
  EXPECT_EQ(
      Run("fuse_lstm"),
      "a2 = _FusedLSTM(x0, x1, x2, first/h, first/cs, w0, bias0)\n"
      "fetch_a2/cs_0 = _Retval(a2:2)\n"
      "b2 = _FusedLSTM(a2:3, a2:4, a2:5, second/h, second/cs, w1, bias1)\n"
      "fetch_b0_0 = _Retval(b2:3)\n"
      "fetch_b2_0 = _Retval(b2:5)\n");
}

TEST_F(LstmPassTest, LayersAsKerasSpellsThem) {
  const Endpoint w = Weights("w", {2, 4 * kCells});
  const Options o = {.order = {0, 2, 1, 3},
                     .forget_bias = false,
                     .u = Weights("u", {kCells, 4 * kCells})};
  const Endpoint b = Weights("b", {4 * kCells});
  State s = Zeros("zero");
  for (int t = 0; t < 3; ++t) {
    s = Cell(StrCat("c", t), In(StrCat("x", t), {-1, 2}), s, w, b, o);
  }
  Fetch(s.h);
  const Tensor of_x = Value("w"), of_h = Value("u");
  EXPECT_EQ(Run("fuse_lstm"),
            "c2 = _FusedLSTM(x0, x1, x2, zero/h, zero/cs, c0/weights, b)\n"
            "fetch_c2_0 = _Retval(c2:5)\n");
  const Tensor both = Value("c0/weights");
  EXPECT_EQ(both.shape(), TensorShape({2 + kCells, 4 * kCells}));
  EXPECT_EQ(both.tensor_data(), StrCat(of_x.tensor_data(), of_h.tensor_data()));
  bool broadcast = false;
  EXPECT_EQ(g_.FindNode("c2")->attrs().Get("rows_broadcast", &broadcast),
            OkStatus());
  EXPECT_TRUE(broadcast);
}

// Which of two products is of h_prev shows in the cells after the first.
TEST_F(LstmPassTest, KerasLayersWithSwappedProducts) {
  const Endpoint w = Weights("w", {2, 4 * kCells});
  const Options o = {.swapped = true, .u = Weights("u", {kCells, 4 * kCells})};
  const Endpoint b = Weights("b", {4 * kCells});
  State s = Zeros("zero");
  for (int t = 0; t < 3; ++t) {
    s = Cell(StrCat("c", t), In(StrCat("x", t), {-1, 2}), s, w, b, o);
  }
  Fetch(s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "c0 = _FusedLSTM(zero/h, x0, zero/cs, c0/weights, b)\n"
            "c2 = _FusedLSTM(x1, x2, c0:1, c0, c1/weights, b)\n"
            "fetch_c2_0 = _Retval(c2:3)\n");
}

TEST_F(LstmPassTest, ProductsThatAreAddedStay) {
  struct {
    const char* what;
    std::function<void()> change;
  } cases[] = {
      {"weights that are no constants",
       [&] {
         EXPECT_EQ(g_.ReplaceInput(g_.FindNode("cell/of_h"), 1,
                                   In("any_u", {kCells, 4 * kCells})),
                   OkStatus());
       }},
      {"weights that wait, as in the body of a loop",
       [&] { g_.AddControlEdge(g_.FindNode("x"), g_.FindNode("u")); }},
      {"a product has another reader",
       [&] {
         Fetch(Op("other", "Neg", {{g_.FindNode("cell/of_x"), 0}}));
       }},
      {"the sum is fetched",
       [&] {
         Fetch({g_.FindNode("cell/sums"), 0});
       }},
      {"other columns, which are an error",
       [&] {
         EXPECT_EQ(g_.ReplaceInput(g_.FindNode("cell/of_h"), 1,
                                   Weights("wide", {kCells, 5 * kCells})),
                   OkStatus());
       }},
      {"transposed weights",
       [&] { g_.SetNodeAttr(g_.FindNode("cell/of_x"), "transpose_b", true); }}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    std::vector<int> ids;
    g_.ForEachNode([&](const Node* n) { ids.push_back(n->id()); });
    for (const int id : ids) g_.RemoveNode(g_.node(id));
    const Options o = {.u = Weights("u", {kCells, 4 * kCells})};
    const Endpoint w = Weights("w", {kCells, 4 * kCells});
    Fetch(Cell("cell", X("x"), Zeros("zero"), w, Weights("b", {4 * kCells}), o)
              .h);
    c.change();
    EXPECT_EQ(Run("fuse_lstm").find("_FusedLSTM"), std::string::npos);
  }
}

TEST_F(LstmPassTest, WhatIsFedBackStaysStepByStep) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  State s = Cell("c0", X("x"), Zeros("zero"), w, b);
  s = Cell("c1", Op("fed_back", "Relu", {s.h}), s, w, b);
  Fetch(s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "c0 = _FusedLSTM(x, zero/h, zero/cs, w, b)\n"
            "fed_back = Relu(c0:1)\n"
            "c1 = _FusedLSTM(fed_back, c0:1, c0, w, b)\n"
            "fetch_c1_0 = _Retval(c1:1)\n");
}

TEST_F(LstmPassTest, StepsThatMayBeDeadStayOnTheirOwn) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  const Endpoint p = In("p", {}, DT_BOOL);
  State s = Cell("c0", X("x0"), Zeros("zero"), w, b);
  Fetch(s.h);
  s = Cell("c1", Op("branch", "Switch", {X("x1"), p}), s, w, b);
  Fetch(s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "branch = Switch(x1, p)\n"
            "c0 = _FusedLSTM(x0, zero/h, zero/cs, w, b)\n"
            "fetch_c0_0 = _Retval(c0:1)\n"
            "c1 = _FusedLSTM(branch, c0:1, c0, w, b)\n"
            "fetch_c1_0 = _Retval(c1:1)\n");
}

TEST_F(LstmPassTest, LayersWithOtherWeightsStayApart) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  State s = Cell("c0", X("x0"), Zeros("zero"), w, b);
  s = Cell("c1", X("x1"), s, w, Weights("other_b", {4 * kCells}));
  Fetch(s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "c0 = _FusedLSTM(x0, zero/h, zero/cs, w, b)\n"
            "c1 = _FusedLSTM(x1, c0:1, c0, w, other_b)\n"
            "fetch_c1_0 = _Retval(c1:1)\n");
}

TEST_F(LstmPassTest, ConstantsThatWaitMakeTheCellWait) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  const State s = Cell("cell", X("x"), Zeros("zero"), w, b);
  const Endpoint first = X("first");
  g_.AddControlEdge(first.node, g_.FindNode("cell/f/bias"));
  Fetch(s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "cell = _FusedLSTM(x, zero/h, zero/cs, w, b, ^first)\n"
            "fetch_cell_0 = _Retval(cell:1)\n");
}

// As dynamic_rnn keeps the state of sequences that have ended.
TEST_F(LstmPassTest, WhatIsColocatedWithTheStateGoesToTheCell) {
  const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
  const State before = Zeros("zero");
  const State s = Cell("cell", X("x"), before, w, b);
  const Endpoint ended = In("ended", {-1}, DT_BOOL);
  const auto select = [&](const char* name, Endpoint old, Endpoint now) {
    const Endpoint e = Op(name, "Select", {ended, old, now});
    g_.SetNodeAttr(e.node, "_class",
                   std::vector<std::string>{"loc:@" + now.node->name()});
    Fetch(e);
  };
  select("kept_cs", before.cs, s.cs);
  select("kept_h", before.h, s.h);
  EXPECT_EQ(Run("fuse_lstm"),
            "cell = _FusedLSTM(x, zero/h, zero/cs, w, b)\n"
            "kept_cs = Select(ended, zero/cs, cell)\n"
            "fetch_kept_cs_0 = _Retval(kept_cs)\n"
            "kept_h = Select(ended, zero/h, cell:1)\n"
            "fetch_kept_h_0 = _Retval(kept_h)\n");
  for (const char* name : {"kept_cs", "kept_h"}) {
    std::vector<std::string> classes;
    EXPECT_EQ(g_.FindNode(name)->attrs().Get("_class", &classes), OkStatus());
    EXPECT_EQ(classes, std::vector<std::string>({"loc:@cell"}));
  }
}

TEST_F(LstmPassTest, WhatIsNoCellStays) {
  struct {
    const char* what;
    std::function<void(const State&)> change;
  } cases[] = {
      {"a gate has another reader",
       [&](const State&) {
         Fetch(Op("other", "Neg", {{g_.FindNode("cell/i"), 0}}));
       }},
      {"a part has another reader",
       [&](const State&) {
         Fetch(Op("other", "Neg", {{g_.FindNode("cell/split"), 3}}));
       }},
      {"the product is fetched",
       [&](const State&) {
         Fetch({g_.FindNode("cell/product"), 0});
       }},
      {"a node is a target",
       [&](const State&) { context_.targets.insert("cell/cs"); }},
      {"a node waits for one inside",
       [&](const State&) {
         g_.AddControlEdge(g_.FindNode("cell/added"), g_.FindNode("last"));
       }},
      {"another device",
       [&](const State&) {
         g_.SetRequestedDevice(g_.FindNode("cell/tanh"), "/device:CPU:1");
       }},
      {"transposed weights",
       [&](const State&) {
         g_.SetNodeAttr(g_.FindNode("cell/product"), "transpose_b", true);
       }},
      {"a state that may be broadcast",
       [&](const State&) {
         EXPECT_EQ(g_.ReplaceInput(g_.FindNode("cell/kept"), 0, In("any")),
                   OkStatus());
       }},
      {"a bias of the input gate",
       [&](const State&) {
         const Endpoint part = {g_.FindNode("cell/split"), 0};
         EXPECT_EQ(g_.ReplaceInput(
                       g_.FindNode("cell/i"), 0,
                       Op("biased_i", "Add", {part, Scalar("i_bias", 1)})),
                   OkStatus());
       }},
      {"a bias that is no constant",
       [&](const State&) {
         EXPECT_EQ(g_.ReplaceInput(g_.FindNode("cell/f/biased"), 1,
                                   In("fed_bias", {})),
                   OkStatus());
       }},
      {"a bias for each cell",
       [&](const State&) {
         EXPECT_EQ(g_.ReplaceInput(g_.FindNode("cell/f/biased"), 1,
                                   Weights("f_biases", {kCells})),
                   OkStatus());
       }},
      {"rows that are joined", [&](const State&) {
         EXPECT_EQ(
             g_.ReplaceInput(g_.FindNode("cell/xh"), 2,
                             Const(&g_, "rows", Tensor::Scalar<int32_t>(0))),
             OkStatus());
       }}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    std::vector<int> ids;
    g_.ForEachNode([&](const Node* n) { ids.push_back(n->id()); });
    for (const int id : ids) g_.RemoveNode(g_.node(id));
    context_.targets.clear();
    const Endpoint w = Kernel("w"), b = Weights("b", {4 * kCells});
    const State s = Cell("cell", X("x"), Zeros("zero"), w, b);
    Fetch(Op("last", "Neg", {s.h}));
    Fetch(s.cs);
    c.change(s);
    EXPECT_EQ(Run("fuse_lstm").find("_FusedLSTM"), std::string::npos);
  }
}

}  // namespace
}  // namespace headrace
