// What passes make of graphs: each case builds one, runs passes and compares
// the rest, written as text, with what is wanted.
#include "runtime/graph_pass.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/algorithm.h"
#include "graph/graph_test_util.h"
#include "runtime/symbolic_shape.h"

namespace headrace {
namespace {

class PassTest : public ::testing::Test {
 protected:
  Endpoint In(const std::string& name, const PartialTensorShape& shape = {},
              DataType t = DT_FLOAT) {
    return Placeholder(&g_, name, t, shape);
  }
  // 0.5, 1, 1.5, ...
  Endpoint Weights(const std::string& name, const TensorShape& shape) {
    Tensor t(DT_FLOAT, shape);
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      t.data<float>()[i] = 0.5f * static_cast<float>(i + 1);
    }
    return Const(&g_, name, t);
  }
  Endpoint Floats(const std::string& name, const std::vector<float>& v) {
    return Const(&g_, name, Tensor::Vector<float>(v));
  }
  Endpoint Scalar(const std::string& name, float v) {
    return Const(&g_, name, Tensor::Scalar<float>(v));
  }
  Endpoint Ints(const std::string& name, const std::vector<int32_t>& v) {
    return Const(&g_, name, Tensor::Vector<int32_t>(v));
  }
  Endpoint Op(const std::string& name, const std::string& op,
              std::vector<Endpoint> inputs, AttrMap attrs = {},
              std::vector<Node*> control = {}) {
    return {AddOp(&g_, name, op, std::move(inputs), std::move(attrs),
                  std::move(control)),
            0};
  }
  Endpoint Conv(const std::string& name, Endpoint x, Endpoint filter,
                const std::string& padding = "SAME",
                const std::string& format = "NHWC") {
    return Op(name, "Conv2D", {x, filter},
              {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
               {"padding", padding},
               {"data_format", format}});
  }
  Endpoint Norm(const std::string& name, Endpoint x, int64_t channels,
                bool training = false, const std::string& format = "NHWC") {
    const TensorShape shape({channels});
    return Op(
        name, "FusedBatchNorm",
        {x, Weights(name + "/scale", shape), Weights(name + "/offset", shape),
         Weights(name + "/mean", shape), Weights(name + "/variance", shape)},
        {{"is_training", training}, {"data_format", format}});
  }
  void Fetch(Endpoint e) {
    AddOp(&g_, StrCat("fetch_", e.node->name(), "_", e.index), "_Retval", {e},
          {{"index", fetches_++}});
  }

  // Runs these passes and "prune"; constants and inputs are left out of the
  // result, which has a line a node in order.
  std::string Run(const std::string& passes) {
    const std::vector<std::string> names = absl::StrSplit(passes, ' ');
    absl::flat_hash_set<std::string> off;
    for (const GraphPass& p : GraphPasses()) off.insert(p.name);
    for (const std::string& n : names) EXPECT_EQ(off.erase(n), 1u) << n;
    off.erase("prune");
    report_.clear();
    EXPECT_EQ(RunGraphPasses(context_, off, &g_, &report_), OkStatus());
    std::vector<Node*> order;
    EXPECT_EQ(TopologicalOrder(g_, &order), OkStatus());
    std::string text;
    for (const Node* n : order) {
      if (n->IsConstant() || n->type_string() == "Placeholder") continue;
      std::vector<std::string> in;
      for (const Edge* e : n->data_inputs()) {
        in.push_back(e->src_output() == 0
                         ? e->src()->name()
                         : EndpointName({e->src(), e->src_output()}));
      }
      for (const Edge* e : n->control_inputs()) {
        in.push_back("^" + e->src()->name());
      }
      StrAppend(&text, n->name(), " = ", n->type_string(), "(",
                absl::StrJoin(in, ", "), ")\n");
    }
    return text;
  }

  std::string FusedOps(const std::string& node) {
    std::vector<std::string> ops;
    const Node* n = g_.FindNode(node);
    EXPECT_NE(n, nullptr);
    if (n == nullptr) return "no node";
    EXPECT_EQ(n->attrs().Get("fused_ops", &ops), OkStatus());
    return absl::StrJoin(ops, " ");
  }
  Tensor Value(const std::string& constant) {
    const Node* n = g_.FindNode(constant);
    EXPECT_NE(n, nullptr) << constant;
    return n == nullptr ? Tensor() : *n->attrs().Find("value")->Get<Tensor>();
  }

  Graph g_;
  GraphPassContext context_;
  std::vector<std::string> report_;
  int fetches_ = 0;
};

// ---- remove_noops -----------------------------------------------------------

TEST_F(PassTest, IdentitiesGoAndFetchedOnesStay) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint a = Op("a", "Identity", {x});
  const Endpoint b = Op("b", "StopGradient", {a});
  const Endpoint c = Op("c", "Neg", {b});
  Fetch(Op("d", "Identity", {c}));
  EXPECT_EQ(Run("remove_noops"),
            "c = Neg(x)\n"
            "d = Identity(c)\n"
            "fetch_d_0 = _Retval(d)\n");
  EXPECT_EQ(report_[1], "remove_noops: 2 nodes");
}

TEST_F(PassTest, TargetsAndColocationPeersStay) {
  const Endpoint x = In("x");
  context_.targets.insert("target");
  const Endpoint t = Op("target", "Identity", {x});
  const Endpoint p = Op("peer", "Identity", {x});
  Fetch(Op("a", "Neg", {t}));
  Fetch(
      Op("b", "Neg", {p}, {{"_class", std::vector<std::string>{"loc:@peer"}}}));
  EXPECT_EQ(Run("remove_noops"),
            "target = Identity(x)\n"
            "peer = Identity(x)\n"
            "a = Neg(target)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Neg(peer)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(PassTest, ControlEdgesOfARemovedIdentityMoveToItsNeighbours) {
  const Endpoint x = In("x");
  const Endpoint before = Op("before", "Neg", {x});
  const Endpoint i = Op("i", "Identity", {x}, {}, {before.node});
  const Endpoint a = Op("a", "Neg", {i});
  Fetch(a);
  Fetch(Op("b", "Abs", {x}, {}, {i.node}));
  EXPECT_EQ(Run("remove_noops"),
            "before = Neg(x)\n"
            "a = Neg(x, ^before)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Abs(x, ^x, ^before)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(PassTest, AnIdentityThatSavesControlEdgesStays) {
  const Endpoint x = In("x");
  std::vector<Node*> before;
  for (int i = 0; i < 3; ++i) {
    before.push_back(Op(StrCat("b", i), "Neg", {x}).node);
  }
  const Endpoint i = Op("i", "Identity", {x}, {}, before);
  for (int k = 0; k < 3; ++k) Fetch(Op(StrCat("a", k), "Neg", {i}));
  const std::string after = Run("remove_noops");
  EXPECT_NE(after.find("i = Identity(x, ^b0, ^b1, ^b2)"), std::string::npos)
      << after;
}

TEST_F(PassTest, NothingBesideControlFlowIsTouched) {
  const Endpoint x = In("x"), p = In("p", {}, DT_BOOL);
  const Node* s = Op("switch", "Switch", {x, p}).node;
  Node* sw = const_cast<Node*>(s);
  // The pivot tells which branch runs; the pass-through feeds a Merge.
  const Endpoint pivot = Op("pivot", "Identity", {{sw, 1}});
  const Endpoint one = Op("one", "Abs", {x}, {}, {pivot.node});
  const Endpoint through = Op("through", "Identity", {{sw, 0}});
  Fetch(Op("merge", "Merge", {through, one}));
  EXPECT_EQ(Run("remove_noops"),
            "switch = Switch(x, p)\n"
            "pivot = Identity(switch:1)\n"
            "one = Abs(x, ^pivot)\n"
            "through = Identity(switch)\n"
            "merge = Merge(through, one)\n"
            "fetch_merge_0 = _Retval(merge)\n");
}

TEST_F(PassTest, ReadsOfReferencesStay) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  Fetch(Op("a", "Neg", {Op("read", "Identity", {v})}));
  EXPECT_EQ(Run("remove_noops"),
            "v = VariableV2()\n"
            "read = Identity(v)\n"
            "a = Neg(read)\n"
            "fetch_a_0 = _Retval(a)\n");
}

TEST_F(PassTest, ReshapesGoWhereTheShapeIsSurelyTheSame) {
  const Endpoint x = In("x", {-1, 4});
  const Endpoint same = Op("same", "Reshape", {x, Ints("s1", {-1, 4})});
  Fetch(Op("a", "Neg", {same}));
  const Endpoint other = Op("other", "Reshape", {x, Ints("s2", {-1, 2})});
  Fetch(Op("b", "Neg", {other}));
  const Endpoint back = Op("back", "Reshape", {other, Ints("s3", {-1, 4})});
  Fetch(Op("c", "Neg", {back}));
  const Endpoint y = In("y", {-1, -1});
  Fetch(Op("d", "Neg", {Op("swap", "Reshape", {y, In("s", {2}, DT_INT32)})}));
  EXPECT_EQ(Run("remove_noops"),
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "other = Reshape(x, s2)\n"
            "b = Neg(other)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = Neg(x)\n"
            "fetch_c_0 = _Retval(c)\n"
            "swap = Reshape(y, s)\n"
            "d = Neg(swap)\n"
            "fetch_d_0 = _Retval(d)\n");
}

TEST_F(PassTest, TransposesThatUndoEachOtherGo) {
  const Endpoint x = In("x", {-1, 2, 3, 4});
  const Endpoint to = Op("to", "Transpose", {x, Ints("p1", {0, 3, 1, 2})});
  const Endpoint back = Op("back", "Transpose", {to, Ints("p2", {0, 2, 3, 1})});
  Fetch(Op("a", "Neg", {back}));
  const Endpoint twice =
      Op("twice", "Transpose", {to, Ints("p3", {0, 3, 1, 2})});
  Fetch(Op("b", "Neg", {twice}));
  Fetch(
      Op("c", "Neg", {Op("none", "Transpose", {x, Ints("p4", {0, 1, 2, 3})})}));
  EXPECT_EQ(Run("remove_noops"),
            "to = Transpose(x, p1)\n"
            "a = Neg(x)\n"
            "fetch_a_0 = _Retval(a)\n"
            "twice = Transpose(to, p3)\n"
            "b = Neg(twice)\n"
            "fetch_b_0 = _Retval(b)\n"
            "c = Neg(x)\n"
            "fetch_c_0 = _Retval(c)\n");
}

TEST_F(PassTest, ExactArithmeticWithOneAndZeroGoesUnlessItBroadcasts) {
  const Endpoint x = In("x", {-1, 3});
  const Endpoint one = Scalar("one", 1), zero = Scalar("zero", 0);
  const Endpoint ones = Const(&g_, "ones", MakeTensor<float>({2, 1}, {1, 1}));
  const Endpoint a = Op("a", "Mul", {Op("m", "Mul", {one, x}), ones});
  const Endpoint b = Op("b", "RealDiv", {Op("s", "Sub", {x, zero}), one});
  Fetch(a);
  Fetch(Op("n", "Neg", {b}));
  Fetch(Op("rest", "Neg", {Op("d", "RealDiv", {one, x})}));
  EXPECT_EQ(Run("remove_noops"),
            "a = Mul(x, ones)\n"
            "fetch_a_0 = _Retval(a)\n"
            "n = Neg(x)\n"
            "fetch_n_0 = _Retval(n)\n"
            "d = RealDiv(one, x)\n"
            "rest = Neg(d)\n"
            "fetch_rest_0 = _Retval(rest)\n");
}

// ---- fold_pad ---------------------------------------------------------------

TEST_F(PassTest, PaddingWithZerosGoesIntoEveryConvolutionThatReadsIt) {
  const Endpoint x = In("x", {-1, 8, 8, 2});
  const Endpoint paddings = Const(
      &g_, "paddings", MakeTensor<int32_t>({4, 2}, {0, 0, 1, 2, 3, 4, 0, 0}));
  const Endpoint pad = Op("pad", "Pad", {x, paddings});
  const Endpoint w = Weights("w", {3, 3, 2, 4});
  Fetch(Conv("a", pad, w, "VALID"));
  Fetch(Conv("b", pad, w, "VALID"));
  EXPECT_EQ(Run("fold_pad"),
            "a = Conv2D(x, w)\n"
            "fetch_a_0 = _Retval(a)\n"
            "b = Conv2D(x, w)\n"
            "fetch_b_0 = _Retval(b)\n");
  std::vector<int64_t> explicit_paddings;
  const AttrMap& attrs = g_.FindNode("a")->attrs();
  ASSERT_EQ(attrs.Get("explicit_paddings", &explicit_paddings), OkStatus());
  EXPECT_EQ(explicit_paddings, std::vector<int64_t>({0, 0, 1, 2, 3, 4, 0, 0}));
  EXPECT_EQ(*attrs.Find("padding"), AttrValue("EXPLICIT"));
}

TEST_F(PassTest, PaddingThatAConvolutionCannotTakeStays) {
  const Endpoint x = In("x", {-1, 8, 8, 2});
  const auto paddings = [&](const std::string& name, int batch, int depth) {
    return Const(&g_, name,
                 MakeTensor<int32_t>({4, 2}, {batch, 0, 1, 1, 1, 1, 0, depth}));
  };
  const Endpoint w = Weights("w", {3, 3, 2, 4}),
                 w3 = Weights("w3", {1, 1, 3, 4});
  const Endpoint space = paddings("space", 0, 0);
  Fetch(Conv("a", Op("batch", "Pad", {x, paddings("p1", 1, 0)}), w, "VALID"));
  Fetch(Conv("b", Op("depth", "Pad", {x, paddings("p2", 0, 1)}), w3, "VALID"));
  Fetch(Conv("c", Op("same", "Pad", {x, space}), w, "SAME"));
  Fetch(
      Conv("d", Op("ones", "PadV2", {x, space, Scalar("one", 1)}), w, "VALID"));
  const Endpoint shared = Op("shared", "Pad", {x, space});
  Fetch(Conv("e", shared, w, "VALID"));
  Fetch(shared);
  Run("fold_pad");
  EXPECT_EQ(report_[4], "fold_pad: 0 nodes");
  for (const char* pad : {"batch", "depth", "same", "ones", "shared"}) {
    EXPECT_NE(g_.FindNode(pad), nullptr) << pad;
  }
}

// ---- fold_batch_norm --------------------------------------------------------

TEST_F(PassTest, BatchNormBecomesAScaleAndABias) {
  const Endpoint conv =
      Conv("conv", In("x", {-1, 8, 8, 1}), Weights("w", {1, 1, 1, 2}));
  Fetch(Op("relu", "Relu", {Norm("norm", conv, 2)}));
  EXPECT_EQ(Run("fold_batch_norm"),
            "conv = Conv2D(x, w)\n"
            "conv/scaled = Mul(conv, conv/scale)\n"
            "norm = BiasAdd(conv/scaled, conv/bias)\n"
            "relu = Relu(norm)\n"
            "fetch_relu_0 = _Retval(relu)\n");
  // scale, offset, mean and variance are 0.5 and 1.
  const float f0 = 0.5f / std::sqrt(0.5f + 1e-4f);
  const float f1 = 1.0f / std::sqrt(1.0f + 1e-4f);
  ExpectClose(Value("conv/scale"), MakeTensor<float>({2}, {f0, f1}));
  ExpectClose(Value("conv/bias"),
              MakeTensor<float>({2}, {0.5f - 0.5f * f0, 1 - f1}));
}

TEST_F(PassTest, ScalesAndShiftsAreFoldedInAnyOrderAndLayout) {
  const Endpoint conv = Conv("conv", In("x", {-1, 1, 8, 8}),
                             Weights("w", {1, 1, 1, 2}), "SAME", "NCHW");
  const Endpoint bias = Op("bias", "BiasAdd", {conv, Floats("b", {1, 2})},
                           {{"data_format", "NCHW"}});
  const Endpoint mul =
      Op("mul", "Mul",
         {Const(&g_, "m", MakeTensor<float>({2, 1, 1}, {10, 100})), bias});
  const Endpoint sub =  // 3 - x
      Op("sub", "Sub", {Scalar("three", 3), mul});
  const Endpoint div =
      Op("div", "RealDiv",
         {sub, Const(&g_, "d", MakeTensor<float>({1, 2, 1, 1}, {2, 4}))});
  Fetch(Norm("norm", div, 2, /*training=*/false, "NCHW"));
  EXPECT_EQ(Run("fold_batch_norm"),
            "conv = Conv2D(x, w)\n"
            "conv/scaled = Mul(conv, conv/scale)\n"
            "norm = BiasAdd(conv/scaled, conv/bias)\n"
            "fetch_norm_0 = _Retval(norm)\n");
  const float f0 = 0.5f / std::sqrt(0.5f + 1e-4f);
  const float f1 = 1.0f / std::sqrt(1.0f + 1e-4f);
  ExpectClose(Value("conv/scale"),
              MakeTensor<float>({2, 1, 1}, {-5 * f0, -25 * f1}));
  ExpectClose(Value("conv/bias"),
              MakeTensor<float>({2}, {-4 * f0 + 0.5f, -50.25f * f1 + 1}));
}

TEST_F(PassTest, ShiftsBecomeOneBiasAndScalesOneMul) {
  const Endpoint x = In("x", {-1, 8, 8, 1});
  const Endpoint w = Weights("w", {1, 1, 1, 2});
  const Endpoint bias =
      Op("bias", "BiasAdd", {Conv("a", x, w), Floats("b", {1, 2})});
  Fetch(Op("sum", "Add", {bias, Floats("c", {10, 20})}));
  const Endpoint mul =
      Op("mul", "Mul", {Conv("d", x, w), Floats("m", {2, 10})});
  Fetch(Op("div", "RealDiv", {mul, Scalar("four", 4)}));
  EXPECT_EQ(Run("fold_batch_norm"),
            "a = Conv2D(x, w)\n"
            "d = Conv2D(x, w)\n"
            "sum = BiasAdd(a, a/bias)\n"
            "fetch_sum_0 = _Retval(sum)\n"
            "div = Mul(d, d/scale)\n"
            "fetch_div_0 = _Retval(div)\n");
  ExpectClose(Value("a/bias"), MakeTensor<float>({2}, {11, 22}));
  ExpectClose(Value("d/scale"), MakeTensor<float>({2}, {0.5, 2.5}));
}

TEST_F(PassTest, AScaleAndAShiftThatAreSpelledOutStay) {
  const Endpoint x = In("x", {-1, 8, 8, 1});
  const Endpoint w = Weights("w", {1, 1, 1, 2});
  const Endpoint mul = Op("mul", "Mul", {Conv("a", x, w), Floats("m", {1, 2})});
  Fetch(Op("sum", "Add", {mul, Floats("b", {10, 20})}));
  Run("fold_batch_norm");
  EXPECT_EQ(report_[5], "fold_batch_norm: 0 nodes");
}

TEST_F(PassTest, WhatIsReadElsewhereOrIsNoConstantIsNotFolded) {
  const Endpoint x = In("x", {-1, 8, 8, 1});
  const Endpoint w = Weights("w", {1, 1, 1, 2});
  const Endpoint read = Conv("read", x, w);
  Fetch(read);
  Fetch(Norm("n1", read, 2));
  Fetch(Norm("n2", Conv("training", x, w), 2, /*training=*/true));
  Fetch(Norm("n3", Conv("fed", x, In("filter", {1, 1, 1, 2})), 2));
  const Endpoint stats = Norm("n4", Conv("stats", x, w), 2);
  Fetch(stats);
  Fetch({stats.node, 1});
  // Broadcasts the result to more columns.
  Fetch(Op("n5", "Mul",
           {Conv("wide", In("y", {-1, 8, 1, 1}), w),
            Const(&g_, "m", MakeTensor<float>({2, 1}, {1, 2}))}));
  Run("fold_batch_norm");
  EXPECT_EQ(report_[5], "fold_batch_norm: 0 nodes");
}

TEST_F(PassTest, AScaleThatIsNotFiniteIsLeftAlone) {
  const Endpoint conv =
      Conv("conv", In("x", {-1, 8, 8, 1}), Weights("w", {1, 1, 1, 2}));
  Fetch(Norm("norm", Op("div", "RealDiv", {conv, Floats("zeros", {0, 1})}), 2));
  Run("fold_batch_norm");
  EXPECT_EQ(report_[5], "fold_batch_norm: 0 nodes");
}

// ---- fuse_conv, fuse_matmul -------------------------------------------------

TEST_F(PassTest, BiasShortcutAndActivationGoIntoTheDeeperConvolution) {
  const Endpoint x = In("x", {-1, -1, -1, 4});
  const Endpoint w = Weights("w", {1, 1, 4, 4}), b = Weights("b", {4});
  const Endpoint shortcut = Op("s_bias", "BiasAdd", {Conv("s", x, w), b});
  const Endpoint first =
      Op("first", "Relu", {Op("c1_bias", "BiasAdd", {Conv("c1", x, w), b})});
  const Endpoint second =
      Op("c2_bias", "BiasAdd",
         {Conv("c2", first, Weights("w3", {3, 3, 4, 4})), b});
  const Endpoint sum = Op("sum", "Add", {second, shortcut});
  Fetch(Op("out", "Relu", {sum}));
  EXPECT_EQ(Run("fuse_conv"),
            "s_bias = _FusedConv2D(x, w, b)\n"
            "first = _FusedConv2D(x, w, b)\n"
            "out = _FusedConv2D(first, w3, b, s_bias)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(FusedOps("out"), "BiasAdd Add Relu");
  EXPECT_EQ(FusedOps("first"), "BiasAdd Relu");
  EXPECT_EQ(NodeErrorSuffix(g_.FindNode("out")->def()),
            "{{node out}} (fused from c2, c2_bias, sum, out)");
}

TEST_F(PassTest, AnAdditionThatMayBroadcastIsNotFused) {
  const Endpoint w = Weights("w", {1, 1, 4, 4}), b = Weights("b", {4});
  const Endpoint bias =
      Op("bias", "BiasAdd", {Conv("c", In("x", {-1, 8, 8, 4}), w), b});
  const Endpoint sum = Op("sum", "AddV2", {In("y", {-1, 8, 8, 4}), bias});
  Fetch(Op("out", "Relu", {sum}));
  EXPECT_EQ(Run("fuse_conv"),
            "bias = _FusedConv2D(x, w, b)\n"
            "sum = AddV2(y, bias)\n"
            "out = Relu(sum)\n"
            "fetch_out_0 = _Retval(out)\n");
}

TEST_F(PassTest, ConstantsThatAreAddedAreABiasIfThereIsOneAChannel) {
  const Endpoint w = Weights("w", {1, 1, 4, 2});
  const Endpoint b = Const(&g_, "b", MakeTensor<float>({1, 2}, {1, 2}));
  Fetch(Op("a", "Add", {b, Conv("c", In("x", {-1, 8, 8, 4}), w)}));
  // Of an image of two columns, this would be one value a column.
  const Endpoint nchw = Conv("d", In("y", {-1, 4, 8, 2}), w, "SAME", "NCHW");
  Fetch(Op("e", "Add", {b, nchw}));
  EXPECT_EQ(Run("fuse_conv"),
            "d = Conv2D(y, w)\n"
            "e = Add(b, d)\n"
            "fetch_e_0 = _Retval(e)\n"
            "a = _FusedConv2D(x, w, a/vector)\n"
            "fetch_a_0 = _Retval(a)\n");
  ExpectClose(Value("a/vector"), MakeTensor<float>({2}, {1, 2}));
}

TEST_F(PassTest, AFactorForEachChannelGoesIntoTheConvolutionFirst) {
  const Endpoint w = Weights("w", {1, 1, 4, 2}), m = Floats("m", {2, 10});
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint bias =
      Op("bias", "BiasAdd",
         {Op("mul", "Mul", {m, Conv("c", x, w)}), Floats("b", {1, 2})});
  Fetch(Op("a", "Relu6", {bias}));
  // Nothing scales after the bias.
  const Endpoint late =
      Op("late", "Mul",
         {Op("e_bias", "BiasAdd", {Conv("e", x, w), Floats("f", {1, 2})}), m});
  Fetch(late);
  EXPECT_EQ(Run("fuse_conv"),
            "a = _FusedConv2D(x, w, m, b)\n"
            "fetch_a_0 = _Retval(a)\n"
            "e_bias = _FusedConv2D(x, w, f)\n"
            "late = Mul(e_bias, m)\n"
            "fetch_late_0 = _Retval(late)\n");
  EXPECT_EQ(FusedOps("a"), "Mul BiasAdd Relu6");
}

TEST_F(PassTest, AnActivationAloneIsFusedWithABiasOfZeros) {
  const Endpoint conv =
      Conv("c", In("x", {-1, 8, 8, 4}), Weights("w", {1, 1, 4, 2}));
  Fetch(Op("a", "LeakyRelu", {conv}, {{"alpha", 0.3f}}));
  EXPECT_EQ(Run("fuse_conv"),
            "a = _FusedConv2D(x, w, c/no_bias)\n"
            "fetch_a_0 = _Retval(a)\n");
  EXPECT_EQ(FusedOps("a"), "BiasAdd LeakyRelu");
  EXPECT_EQ(*g_.FindNode("a")->attrs().Find("leakyrelu_alpha"),
            AttrValue(0.3f));
}

TEST_F(PassTest, WhatIsReadInBetweenStays) {
  const Endpoint x = In("x", {-1, 8, 8, 4}), b = Weights("b", {2});
  const Endpoint conv = Conv("c", x, Weights("w", {1, 1, 4, 2}));
  const Endpoint bias = Op("bias", "BiasAdd", {conv, b});
  Fetch(Op("relu", "Relu", {bias}));
  Fetch(Op("after", "Neg", {x}, {}, {conv.node}));
  EXPECT_EQ(Run("fuse_conv"),
            "c = Conv2D(x, w)\n"
            "bias = BiasAdd(c, b)\n"
            "relu = Relu(bias)\n"
            "fetch_relu_0 = _Retval(relu)\n"
            "after = Neg(x, ^c)\n"
            "fetch_after_0 = _Retval(after)\n");
}

TEST_F(PassTest,
       AFusedNodeWaitsForWhatItsPartsWaitedForAndIsWaitedForLikeTheLast) {
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint before = Op("before", "Neg", {x});
  const Endpoint conv = Conv("c", x, Weights("w", {1, 1, 4, 2}));
  const Endpoint bias =
      Op("bias", "BiasAdd", {conv, Weights("b", {2})}, {}, {before.node});
  const Endpoint relu = Op("relu", "Relu", {bias});
  Fetch(relu);
  Fetch(Op("after", "Abs", {x}, {}, {relu.node}));
  EXPECT_EQ(Run("fuse_conv"),
            "before = Neg(x)\n"
            "relu = _FusedConv2D(x, w, b, ^before)\n"
            "fetch_relu_0 = _Retval(relu)\n"
            "after = Abs(x, ^relu)\n"
            "fetch_after_0 = _Retval(after)\n");
}

TEST_F(PassTest, NodesForOtherDevicesAreNotMerged) {
  const Endpoint conv =
      Conv("c", In("x", {-1, 8, 8, 4}), Weights("w", {1, 1, 4, 2}));
  const Endpoint bias = Op("bias", "BiasAdd", {conv, Weights("b", {2})});
  g_.SetRequestedDevice(bias.node, "/cpu:1");
  Fetch(bias);
  Run("fuse_conv");
  EXPECT_EQ(report_[6], "fuse_conv: 0 nodes");
}

// ---- fuse_conv_chain --------------------------------------------------------

TEST_F(PassTest, DepthwiseAndPointwiseConvolutionsBecomeOne) {
  const AttrMap attrs = {{"strides", std::vector<int64_t>{1, 1, 1, 1}},
                         {"padding", "SAME"}};
  const Endpoint w3 = Weights("w3", {3, 3, 4, 1}),
                 w1 = Weights("w1", {1, 1, 4, 4}),
                 wide = Weights("wide", {1, 1, 1, 4}), b = Weights("b", {4});
  const Endpoint x = In("x", {-1, 8, 8, 4}), thin = In("thin", {-1, 8, 8, 1});
  // One by one: a first 1x1 that does not widen stays outside.
  const Endpoint a = Conv("a", x, w1);
  const Endpoint d =
      Op("d_relu", "Relu",
         {Op("d_bias", "BiasAdd",
             {Op("d", "DepthwiseConv2dNative", {a, w3}, attrs), b})});
  Fetch(Op("p_bias", "BiasAdd", {Conv("p", d, w1), b}));
  // A depthwise convolution whose result is read elsewhere stays.
  const Endpoint e =
      Op("e", "DepthwiseConv2dNative", {Conv("c", thin, wide), w3}, attrs);
  Fetch(Conv("f", e, w1));
  Fetch(Op("g", "Neg", {e}));
  const Endpoint h =
      Op("h", "DepthwiseConv2dNative", {Conv("i", thin, wide), w3}, attrs);
  Fetch(Conv("j", h, w1));
  const std::string after = Run("fuse_conv fuse_conv_chain");
  for (const char* line :
       {"a = Conv2D(x, w1)\n", "p_bias = _FusedConvChain(a, w3, w1, b, b)\n",
        "f = Conv2D(e, w1)\n", "j = _FusedConvChain(thin, wide, w3, w1)\n"}) {
    EXPECT_NE(after.find(line), std::string::npos) << after;
  }
  EXPECT_EQ(FusedOps("p_bias"), "BiasAdd,Relu BiasAdd");
}

// ---- fuse_elementwise -------------------------------------------------------

TEST_F(PassTest, ChainsOfElementwiseOpsBecomeOneNode) {
  const Endpoint x = In("x", {-1, 8, 8, 4});
  const Endpoint centred = Op("centred", "Sub", {x, Weights("mean", {4})});
  const Endpoint scaled =
      Op("scaled", "Mul", {Weights("scale", {1, 1, 4}), centred});
  const Endpoint bias = Op("bias", "BiasAdd", {scaled, Weights("b", {4})});
  const Endpoint relu = Op("relu", "Relu", {bias});
  const Endpoint sum = Op("sum", "AddV2", {Op("square", "Square", {x}), relu});
  Fetch(Op("out", "RealDiv", {Scalar("one", 1), sum}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "square = Square(x)\n"
            "out = _FusedElementwise(x, mean, scale, b, square, one)\n"
            "fetch_out_0 = _Retval(out)\n");
  EXPECT_EQ(report_[10], "fuse_elementwise: 5 nodes");
  std::vector<std::string> ops;
  std::vector<int64_t> sides;
  const Node& n = *g_.FindNode("out");
  EXPECT_EQ(n.attrs().Get("ops", &ops), OkStatus());
  EXPECT_EQ(n.attrs().Get("sides", &sides), OkStatus());
  EXPECT_EQ(absl::StrJoin(ops, " "), "Sub Mul Add Relu AddV2 RealDiv");
  EXPECT_EQ(absl::StrJoin(sides, " "), "1 2 1 0 2 2");
  EXPECT_EQ(NodeErrorSuffix(n.def()),
            "{{node out}} (fused from centred, scaled, bias, relu, sum, out)");
}

TEST_F(PassTest, ChainsEndWhereTheShapeMayChangeOrSomebodyElseReads) {
  const Endpoint x = In("x", {-1, 4}), y = In("y", {-1, 4});
  // Either batch may be 1.
  Fetch(Op("sum", "Add", {Op("exp", "Exp", {x}), y}));
  // A column makes a matrix of the row.
  Fetch(Op("wide", "Mul",
           {Op("neg", "Neg", {In("row", {1, 4})}), Weights("column", {3, 1})}));
  const Endpoint read = Op("read", "Sqrt", {x});
  Fetch(Op("a", "Square", {read}));
  Fetch(Op("b", "Abs", {y}, {}, {read.node}));
  const Endpoint fetched = Op("fetched", "Tanh", {x});
  Fetch(fetched);
  Fetch(Op("c", "Neg", {fetched}));
  context_.targets.insert("target");
  Fetch(Op("d", "Neg", {Op("target", "Log", {x})}));
  // Twice the same.
  const Endpoint twice = Op("twice", "Ceil", {x});
  Fetch(Op("e", "Mul", {twice, twice}));
  // Scalars, other types, other results.
  const Endpoint s = In("s", PartialTensorShape(DimVector()));
  Fetch(Op("f", "Neg", {Op("g", "Exp", {s})}));
  const Endpoint i = In("i", {-1}, DT_INT32);
  Fetch(Op("h", "Neg", {Op("j", "Abs", {i})}));
  Fetch(Op("k", "Greater", {Op("l", "Abs", {x}), Scalar("zero", 0)}));
  Run("fuse_elementwise");
  EXPECT_EQ(report_[10], "fuse_elementwise: 0 nodes");
}

TEST_F(PassTest, AChainFromAReferenceReadsItWhereItsReaderDid) {
  const Endpoint v = Op("v", "VariableV2", {},
                        {{"dtype", DT_FLOAT}, {"shape", TensorShape({2})}});
  const Endpoint read = Op("read", "Neg", {v});
  Fetch(Op("c", "Exp", {Op("b", "Abs", {read})}));
  EXPECT_EQ(Run("fuse_elementwise"),
            "v = VariableV2()\n"
            "read = Neg(v)\n"
            "c = _FusedElementwise(read)\n"
            "fetch_c_0 = _Retval(c)\n");
}

TEST_F(PassTest, LongChainsAreCut) {
  Endpoint e = In("x", {-1});
  for (int i = 0; i < 40; ++i) e = Op(StrCat("n", i), "Neg", {e});
  Fetch(e);
  EXPECT_EQ(Run("fuse_elementwise"),
            "n31 = _FusedElementwise(x)\n"
            "n39 = _FusedElementwise(n31)\n"
            "fetch_n39_0 = _Retval(n39)\n");
}

// ---- fuse_lstm --------------------------------------------------------------

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
    const Endpoint xh = Op(at("xh"), "ConcatV2", {x, s.h, axis});
    const Endpoint gates =
        Op(at("biased"), "BiasAdd", {Op(at("product"), "MatMul", {xh, w}), b});
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

// ---- SymbolicShapes ---------------------------------------------------------

TEST_F(PassTest, SizesThatMustComeOutEqualAreKnownToBe) {
  const Endpoint x = In("x", {-1, -1, -1, 4}), y = In("y", {-1, -1, -1, 4});
  const auto pool = [&](const std::string& name, int k, int stride,
                        const std::string& padding) {
    return Op(name, "MaxPool", {x},
              {{"ksize", std::vector<int64_t>{1, k, k, 1}},
               {"strides", std::vector<int64_t>{1, stride, stride, 1}},
               {"padding", padding}});
  };
  const Endpoint w1 = Weights("w1", {1, 1, 4, 4}),
                 w3 = Weights("w3", {3, 3, 4, 4});
  struct {
    Endpoint a, b;
    bool equal;
  } cases[] = {
      {x, Op("relu", "Relu", {x}), true},
      {x, y, false},
      {x, Conv("c1", x, w3), true},
      {x, Conv("c2", x, w1, "VALID"), true},
      {x, Conv("c3", x, w3, "VALID"), false},
      {pool("p1", 2, 2, "SAME"), pool("p2", 3, 2, "SAME"), true},
      {pool("p3", 1, 2, "VALID"), pool("p4", 3, 2, "SAME"), true},
      {pool("p5", 2, 2, "VALID"), pool("p6", 2, 2, "VALID"), true},
      {pool("p7", 3, 2, "VALID"), pool("p8", 2, 2, "VALID"), false},
      {x, Op("sum", "Add", {x, Op("neg", "Neg", {x})}), true},
      {x, Op("sum_y", "Add", {x, y}), false},
  };
  SymbolicShapes shapes;
  ASSERT_EQ(SymbolicShapes::Make(g_, &shapes), OkStatus());
  for (const auto& c : cases) {
    EXPECT_EQ(shapes.SurelyEqual(c.a, c.b), c.equal)
        << c.a.node->name() << " " << c.b.node->name();
  }
}

}  // namespace
}  // namespace headrace
