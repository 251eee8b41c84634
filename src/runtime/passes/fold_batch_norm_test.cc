#include "runtime/passes/pass_test_util.h"

namespace headrace {
namespace {

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
  EXPECT_EQ(Changes("fold_batch_norm"), 0);
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
  EXPECT_EQ(Changes("fold_batch_norm"), 0);
}

TEST_F(PassTest, AScaleThatIsNotFiniteIsLeftAlone) {
  const Endpoint conv =
      Conv("conv", In("x", {-1, 8, 8, 1}), Weights("w", {1, 1, 1, 2}));
  Fetch(Norm("norm", Op("div", "RealDiv", {conv, Floats("zeros", {0, 1})}), 2));
  Run("fold_batch_norm");
  EXPECT_EQ(Changes("fold_batch_norm"), 0);
}

}  // namespace
}  // namespace headrace
