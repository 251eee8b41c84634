// Of the pass FoldConstants.
#include <atomic>

#include "base/interrupt.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

// x + 1; counts how often it runs, and fails below 0.
REGISTER_OP("FoldTestInc")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
std::atomic<int> increments{0};
class FoldTestIncOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ++increments;
    const float x = ctx->input(0).scalar<float>();
    OP_REQUIRES(ctx, x >= 0, errors::InvalidArgument("below 0"));
    ctx->set_output(0, Tensor::Scalar(x + 1));
  }
};
REGISTER_KERNEL_BUILDER(Name("FoldTestInc").Device(DEVICE_CPU), FoldTestIncOp);

REGISTER_OP("FoldTestSum")
    .Input("a: float")
    .Input("b: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
class FoldTestSumOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar(ctx->input(0).scalar<float>() +
                                      ctx->input(1).scalar<float>()));
  }
};
REGISTER_KERNEL_BUILDER(Name("FoldTestSum").Device(DEVICE_CPU), FoldTestSumOp);

// Both outputs are x; the second has no known shape.
REGISTER_OP("FoldTestTwo")
    .Input("x: float")
    .Output("y: float")
    .Output("z: float")
    .Attr("known: bool")
    .SetShapeFn([](InferenceContext* c) {
      bool known = false;
      HR_RETURN_IF_ERROR(c->GetAttr("known", &known));
      c->set_output(0, c->input(0));
      if (known) c->set_output(1, c->input(0));
      return OkStatus();
    });
class FoldTestTwoOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
    ctx->set_output(1, Tensor::Scalar(-ctx->input(0).scalar<float>()));
  }
};
REGISTER_KERNEL_BUILDER(Name("FoldTestTwo").Device(DEVICE_CPU), FoldTestTwoOp);

REGISTER_OP("FoldTestNoKernel")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(shape_inference::UnchangedShape);
REGISTER_OP("FoldTestStateful")
    .Input("x: float")
    .Output("y: float")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("FoldTestStateful").Device(DEVICE_CPU),
                        FoldTestIncOp);
// A tensor of `bytes` bytes.
REGISTER_OP("FoldTestLarge")
    .Input("x: float")
    .Output("y: int8")
    .Attr("bytes: int")
    .SetShapeFn([](InferenceContext* c) {
      int64_t n = 0;
      HR_RETURN_IF_ERROR(c->GetAttr("bytes", &n));
      c->set_output(0, InferenceContext::Vector(n));
      return OkStatus();
    });
class FoldTestLargeOp : public OpKernel {
 public:
  explicit FoldTestLargeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("bytes", &bytes_));
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {bytes_}, &y));
    std::fill_n(y->data<int8_t>(), bytes_, int8_t{1});
  }

 private:
  int64_t bytes_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("FoldTestLarge").Device(DEVICE_CPU),
                        FoldTestLargeOp);

class FoldTest : public PassTest {
 protected:
  FoldTest() { increments = 0; }
  std::string Fold() { return Run("constant_folding"); }
  std::string WaitsFor(const char* node) {
    std::vector<std::string> names;
    for (const Edge* e : g_.FindNode(node)->control_inputs()) {
      names.push_back(e->src()->name());
    }
    absl::c_sort(names);
    return absl::StrJoin(names, " ");
  }
};

TEST_F(FoldTest, WhatDependsOnConstantsAloneIsComputedOnce) {
  const Endpoint a = Op("a", "FoldTestInc", {Scalar("c", 1)});
  const Endpoint b = Op("b", "FoldTestInc", {a});
  Fetch(b);
  Fetch(Op("x", "Add", {b, In("in")}));
  EXPECT_EQ(Fold(),
            "fetch_b_0 = _Retval(b/folded_0)\n"
            "x = Add(b/folded_0, in)\n"
            "fetch_x_0 = _Retval(x)\n");
  EXPECT_EQ(Value("b/folded_0").scalar<float>(), 3);
  EXPECT_EQ(Changes("constant_folding"), 2);
  EXPECT_EQ(increments, 2);
}

TEST_F(FoldTest, EachOutputThatIsReadIsAConstant) {
  const Endpoint two =
      Op("two", "FoldTestTwo", {Scalar("c", 5)}, {{"known", true}});
  Fetch({two.node, 1});
  Fetch(Op("x", "Add", {{two.node, 1}, In("in")}));
  EXPECT_EQ(Fold(),
            "fetch_two_1 = _Retval(two/folded_1)\n"
            "x = Add(two/folded_1, in)\n"
            "fetch_x_0 = _Retval(x)\n");
  EXPECT_EQ(Value("two/folded_1").scalar<float>(), -5);
  EXPECT_EQ(g_.FindNode("two/folded_0"), nullptr);
}

TEST_F(FoldTest, TheConstantsBelongWhereTheNodeWas) {
  const Endpoint a = Op("a", "FoldTestInc", {Scalar("c", 1)});
  Scalar("a/folded_0", 7);  // the name is taken
  g_.SetRequestedDevice(a.node, "/cpu:1");
  Fetch(a);
  EXPECT_EQ(Fold(), "fetch_a_0 = _Retval(a/folded_0_1)\n");
  EXPECT_EQ(g_.FindNode("a/folded_0_1")->requested_device(), "/cpu:1");
}

TEST_F(FoldTest, WaitingForAFoldedNodeMeansNothing) {
  const Endpoint a = Op("a", "FoldTestInc", {Scalar("c", 1)});
  Fetch(Op("b", "Neg", {In("in")}, {}, {a.node}));
  EXPECT_EQ(Fold(),
            "b = Neg(in)\n"
            "fetch_b_0 = _Retval(b)\n");
}

TEST_F(FoldTest, WhatMayNotBeFoldedStays) {
  const Endpoint one = Scalar("one", 1), in = In("in");
  context_.targets.insert("target");
  Fetch(Op("target", "FoldTestInc", {one}));
  Fetch(Op("fed", "FoldTestInc", {in}));
  Fetch(Op("waits", "FoldTestInc", {one}, {}, {in.node}));
  Fetch(Op("of_a_loop_variable", "FoldTestInc",
           {Op("variable", "Enter", {one}, {{"frame_name", "loop"}})}));
  Fetch(Op("enters_late", "FoldTestInc",
           {Op("late", "Enter", {one},
               {{"frame_name", "loop"}, {"is_constant", true}}, {in.node})}));
  Fetch(Op("fails", "FoldTestInc", {Scalar("minus", -1)}));
  Fetch(Op("stateful", "FoldTestStateful", {one}));
  Fetch(Op("no_kernel", "FoldTestNoKernel", {one}));
  Fetch(Op("unknown", "FoldTestTwo", {one}, {{"known", false}}));
  Fetch(Op("too_large", "FoldTestLarge", {one}, {{"bytes", (10 << 20) + 1}}));
  Op("unread", "FoldTestInc", {one});
  const std::string after = Fold();
  EXPECT_EQ(Changes("constant_folding"), 0) << after;
  EXPECT_EQ(increments, 1);  // of the one that fails
}

// As constants in a branch or in the body of a loop do.
TEST_F(FoldTest, WhatIsComputedOfConstantsThatWaitWaits) {
  const Endpoint p = In("p"), q = In("q");
  const auto waiting = [&](const char* name, std::vector<Node*> anchors) {
    return Op(name, "Const", {},
              {{"dtype", DT_FLOAT}, {"value", Tensor::Scalar(1.f)}},
              std::move(anchors));
  };
  const Endpoint sum =
      Op("sum", "FoldTestSum",
         {waiting("a", {p.node}), waiting("b", {q.node, p.node})});
  const Endpoint inc = Op("inc", "FoldTestInc", {sum});
  Fetch(inc);
  Fetch(Op("after", "Neg", {In("in")}, {}, {inc.node}));
  EXPECT_EQ(Fold(),
            "after = Neg(in, ^p, ^q)\n"
            "fetch_after_0 = _Retval(after)\n"
            "fetch_inc_0 = _Retval(inc/folded_0)\n");
  EXPECT_EQ(Value("inc/folded_0").scalar<float>(), 3);
  EXPECT_EQ(WaitsFor("inc/folded_0"), "p q");
}

TEST_F(FoldTest, InvariantsOfLoopsAreConstants) {
  const auto enter = [&](const std::string& name, const char* frame,
                         Endpoint e) {
    return Op(name, "Enter", {e},
              {{"frame_name", frame},
               {"is_constant", true},
               {"parallel_iterations", 7}});
  };
  const Endpoint one = enter("one/enter", "loop", Scalar("one", 1));
  const Endpoint pivot = In("pivot");
  const Endpoint in_body =
      Op("in_body", "Const", {},
         {{"dtype", DT_FLOAT}, {"value", Tensor::Scalar(5.f)}}, {pivot.node});
  const Endpoint x = In("x");
  Fetch(Op("y", "Mul", {x, Op("sum", "FoldTestSum", {one, in_body})}));
  Fetch(Op("z", "Mul", {x, Op("inc", "FoldTestInc", {one})}));
  const Endpoint nested = enter("nested", "inner", one);
  Fetch(Op("n", "Mul", {x, Op("more", "FoldTestInc", {nested})}));
  EXPECT_EQ(Fold(),
            "y = Mul(x, sum/folded_0)\n"
            "fetch_y_0 = _Retval(y)\n"
            "inc/folded_0/enter = Enter(inc/folded_0)\n"
            "z = Mul(x, inc/folded_0/enter)\n"
            "fetch_z_0 = _Retval(z)\n"
            "more/folded_0/enter = Enter(more/folded_0)\n"
            "more/folded_0/enter_1 = Enter(more/folded_0/enter)\n"
            "n = Mul(x, more/folded_0/enter_1)\n"
            "fetch_n_0 = _Retval(n)\n");
  EXPECT_EQ(Value("sum/folded_0").scalar<float>(), 6);
  EXPECT_EQ(WaitsFor("sum/folded_0"), "pivot");
  EXPECT_EQ(Value("inc/folded_0").scalar<float>(), 2);
  const auto attr = [&](const char* node, const char* name) {
    return *g_.FindNode(node)->attrs().Find(name);
  };
  EXPECT_EQ(attr("inc/folded_0/enter", "frame_name"), AttrValue("loop"));
  EXPECT_EQ(attr("inc/folded_0/enter", "parallel_iterations"),
            AttrValue(int64_t{7}));
  EXPECT_EQ(attr("more/folded_0/enter", "frame_name"), AttrValue("loop"));
  EXPECT_EQ(attr("more/folded_0/enter_1", "frame_name"), AttrValue("inner"));
}

TEST_F(FoldTest, UpToTheLimitOfSize) {
  Fetch(
      Op("large", "FoldTestLarge", {Scalar("one", 1)}, {{"bytes", 10 << 20}}));
  EXPECT_EQ(Fold(), "fetch_large_0 = _Retval(large/folded_0)\n");
  EXPECT_EQ(Value("large/folded_0").NumElements(), 10 << 20);
}

TEST_F(FoldTest, EndsWhenItIsInterrupted) {
  Fetch(Op("a", "FoldTestInc", {Scalar("c", 1)}));
  const Interrupt interrupt([] { return errors::Cancelled("enough"); });
  int changes = 0;
  EXPECT_EQ(FoldConstants(context_, &g_, &changes),
            errors::Cancelled("enough"));
  EXPECT_EQ(increments, 0);
}

TEST_F(PassTest, ViewsOfLargeConstantsAreFoldedAndShareTheirBytes) {
  const Endpoint large = Weights("large", {1024, 64, 64});  // 16 MiB
  const Endpoint rows = Ints("rows", {1024, 4096});
  const Endpoint view = Op("view", "Reshape", {large, rows});
  Fetch(Op("product", "MatMul", {In("x", {2, 1024}), view}));
  Fetch(Op("negative", "Neg", {large}));
  EXPECT_EQ(Run("constant_folding"),
            "negative = Neg(large)\n"
            "fetch_negative_0 = _Retval(negative)\n"
            "product = MatMul(x, view/folded_0)\n"
            "fetch_product_0 = _Retval(product)\n");
  const Tensor folded = Value("view/folded_0");
  EXPECT_EQ(folded.shape(), TensorShape({1024, 4096}));
  EXPECT_EQ(folded.raw_data(), Value("large").raw_data());
}

}  // namespace
}  // namespace headrace
