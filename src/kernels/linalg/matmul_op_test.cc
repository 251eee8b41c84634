#include "framework/kernel/op_tester.h"

namespace headrace {
namespace {

using F = std::vector<float>;

TEST(MatMulOp, Transposes) {
  const Tensor a = MakeTensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor at = MakeTensor<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor b = MakeTensor<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor bt = MakeTensor<float>({2, 3}, {1, 0, 1, 0, 1, 1});
  for (int bits = 0; bits < 4; ++bits) {
    OpTester t("MatMul");
    t.Attr("transpose_a", (bits & 1) != 0).Attr("transpose_b", (bits & 2) != 0);
    t.Input(bits & 1 ? at : a).Input(bits & 2 ? bt : b);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), MakeTensor<float>({2, 2}, {4, 5, 10, 11}));
  }
}

TEST(MatMulOp, EmptyInnerDimensionGivesZeros) {
  OpTester t("MatMul");
  t.Input(MakeTensor<float>({2, 0}, {})).Input(MakeTensor<float>({0, 3}, {}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3}, F(6, 0)));
}

TEST(MatMulOp, TransposeDoesNotConjugateAndAdjointDoes) {
  const Tensor x = MakeTensor<complex64>({1, 1}, {{1, 2}});
  const Tensor y = MakeTensor<complex64>({1, 1}, {{3, 4}});
  OpTester plain("MatMul");
  plain.Attr("transpose_a", true).Input(x).Input(y);
  ASSERT_EQ(plain.Run(), OkStatus());
  ExpectEqual(plain.Output(0), MakeTensor<complex64>({1, 1}, {{-5, 10}}));
  OpTester adjoint("BatchMatMul");
  adjoint.Attr("adj_x", true).Input(x).Input(y);
  ASSERT_EQ(adjoint.Run(), OkStatus());
  ExpectEqual(adjoint.Output(0), MakeTensor<complex64>({1, 1}, {{11, -2}}));
}

// As lower_precision marks it: 1 + 2^-8 rounds to 1, 1 + 3 * 2^-8 to 1 + 2^-6.
TEST(MatMulOp, RoundsFactorsToBfloat16IfItsPrecisionSaysSo) {
  const float x = 1.00390625f, y = 1.01171875f, z = 1.015625f;
  const Tensor a = MakeTensor<float>({2, 3}, {x, y, 3, 4, 5, 6});
  const Tensor at = MakeTensor<float>({3, 2}, {x, 4, y, 5, 3, 6});
  const Tensor b = MakeTensor<float>({3, 2}, {1, 0, 0, y, 1, 1});
  const Tensor bt = MakeTensor<float>({2, 3}, {1, 0, 1, 0, y, 1});
  const Tensor want = MakeTensor<float>({2, 2}, {4, z * z + 3, 10, 5 * z + 6});
  for (int bits = 0; bits < 4; ++bits) {
    OpTester t("MatMul");
    t.Attr("_precision", "bfloat16");
    t.Attr("transpose_a", (bits & 1) != 0).Attr("transpose_b", (bits & 2) != 0);
    t.Input(bits & 1 ? at : a).Input(bits & 2 ? bt : b);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0), want);
  }
  OpTester empty("MatMul");
  empty.Attr("_precision", "bfloat16");
  empty.Input(MakeTensor<float>({2, 0}, {}));
  empty.Input(MakeTensor<float>({0, 3}, {}));
  ASSERT_EQ(empty.Run(), OkStatus());
  ExpectEqual(empty.Output(0), MakeTensor<float>({2, 3}, F(6, 0)));
}

TEST(FusedMatMulOp, IsProductThenBiasThenActivation) {
  const Tensor a = MakeTensor<float>({2, 2}, {1, 2, -3, 4});
  const Tensor b = MakeTensor<float>({2, 3}, {1, 0, 2, 0, 1, -1});
  const Tensor bias = MakeTensor<float>({3}, {-3, 0.5f, 9});
  // a b + bias = {-2, 2.5, 9}, {-6, 4.5, -1}
  const struct {
    std::vector<std::string> ops;
    F want;
  } kCases[] = {
      {{"Relu"}, {1, 2, 0, 0, 4, 0}},
      {{"Tanh"},
       {std::tanh(1.0f), std::tanh(2.0f), 0, std::tanh(-3.0f), std::tanh(4.0f),
        std::tanh(-10.0f)}},
      {{"BiasAdd"}, {-2, 2.5f, 9, -6, 4.5f, -1}},
      {{"BiasAdd", "Relu"}, {0, 2.5f, 9, 0, 4.5f, 0}},
      {{"BiasAdd", "Relu6"}, {0, 2.5f, 6, 0, 4.5f, 0}},
      {{"BiasAdd", "LeakyRelu"}, {-0.5f, 2.5f, 9, -1.5f, 4.5f, -0.25f}},
      {{"BiasAdd", "Elu"},
       {std::expm1(-2.0f), 2.5f, 9, std::expm1(-6.0f), 4.5f,
        std::expm1(-1.0f)}},
      {{"BiasAdd", "Tanh"},
       {std::tanh(-2.0f), std::tanh(2.5f), std::tanh(9.0f), std::tanh(-6.0f),
        std::tanh(4.5f), std::tanh(-1.0f)}},
      {{"BiasAdd", "Sigmoid"},
       {0.11920292f, 0.92414182f, 0.99987661f, 0.00247262f, 0.98901306f,
        0.26894142f}},
  };
  for (const auto& c : kCases) {
    OpTester t("_FusedMatMul");
    const bool biased = c.ops[0] == "BiasAdd";
    t.Attr("fused_ops", c.ops).Attr("num_args", int64_t{biased});
    t.Attr("leakyrelu_alpha", 0.25f).Attr("T", DT_FLOAT);
    t.Input(a).Input(b);
    if (biased) t.Input(bias);
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectClose(t.Output(0), MakeTensor<float>({2, 3}, c.want));
  }
}

TEST(FusedMatMulOp, NarrowFloats) {
  using H = std::vector<half>;
  OpTester t("_FusedMatMul");
  t.Attr("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
  t.Attr("num_args", int64_t{1}).Attr("T", DT_HALF);
  t.Input(MakeTensor<half>({1, 2}, H{half(1), half(2)}));
  t.Input(MakeTensor<half>({2, 2}, H{half(1), half(0), half(1), half(-3)}));
  t.Input(MakeTensor<half>({2}, H{half(0.5f), half(1)}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<half>({1, 2}, H{half(3.5f), half(0)}));

  OpTester unbiased("_FusedMatMul");
  unbiased.Attr("fused_ops", std::vector<std::string>{"Relu"});
  unbiased.Attr("num_args", int64_t{0}).Attr("T", DT_HALF);
  unbiased.Input(MakeTensor<half>({1, 1}, H{half(-2)}));
  unbiased.Input(MakeTensor<half>({1, 2}, H{half(1), half(-3)}));
  ASSERT_EQ(unbiased.Run(), OkStatus());
  ExpectEqual(unbiased.Output(0),
              MakeTensor<half>({1, 2}, H{half(0), half(6)}));
}

TEST(FusedMatMulOp, Refusals) {
  using Ops = std::vector<std::string>;
  const auto run = [](const Ops& ops, int64_t bias_size) {
    OpTester t("_FusedMatMul");
    t.Attr("fused_ops", ops).Attr("num_args", int64_t{1}).Attr("T", DT_FLOAT);
    t.Input(MakeTensor<float>({1, 2}, {1, 2}));
    t.Input(MakeTensor<float>({2, 2}, {1, 2, 3, 4}));
    t.Input(MakeTensor<float>({bias_size}, F(bias_size, 1)));
    return t.Run();
  };
  ExpectError(run({"BiasAdd"}, 3), absl::StatusCode::kInvalidArgument,
              "as many biases as the product has columns: [3] vs. 2");
  for (const Ops& ops : {Ops{}, Ops{"Add"}, Ops{"BiasAdd", "Selu"},
                         Ops{"BiasAdd", "Relu", "Relu"}}) {
    ExpectError(run(ops, 2), absl::StatusCode::kUnimplemented, "fused_ops");
  }
  OpTester none("_FusedMatMul");
  none.Attr("fused_ops", Ops{"BiasAdd"}).Attr("num_args", int64_t{0});
  none.Attr("T", DT_FLOAT);
  none.Input(MakeTensor<float>({1, 1}, {1}))
      .Input(MakeTensor<float>({1, 1}, {1}));
  ExpectError(none.Run(), absl::StatusCode::kInvalidArgument,
              "take 1 arguments, got num_args = 0");
}

TEST(FusedBatchMatMulOp, IsProductThenBiasThenActivation) {
  const Tensor x = MakeTensor<float>({2, 1, 2}, {1, 2, -3, 4});
  const Tensor y = MakeTensor<float>({2, 3}, {1, 0, 2, 0, 1, -1});
  for (const bool adj_y : {false, true}) {
    OpTester t("_FusedBatchMatMul");
    t.Attr("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
    t.Attr("num_args", int64_t{1}).Attr("T", DT_FLOAT).Attr("adj_y", adj_y);
    t.Input(x);
    t.Input(adj_y ? MakeTensor<float>({3, 2}, {1, 0, 0, 1, 2, -1}) : y);
    t.Input(MakeTensor<float>({3}, {-3, 0.5f, 9}));
    ASSERT_EQ(t.Run(), OkStatus());
    ExpectEqual(t.Output(0),
                MakeTensor<float>({2, 1, 3}, {0, 2.5f, 9, 0, 4.5f, 0}));
  }
}

TEST(FusedBatchMatMulOp, Refusals) {
  using Ops = std::vector<std::string>;
  const auto run = [](const Ops& ops, int64_t bias_size) {
    OpTester t("_FusedBatchMatMul");
    t.Attr("fused_ops", ops).Attr("num_args", int64_t{1}).Attr("T", DT_FLOAT);
    t.Input(MakeTensor<float>({2, 1, 2}, {1, 2, 3, 4}));
    t.Input(MakeTensor<float>({2, 2}, {1, 2, 3, 4}));
    t.Input(MakeTensor<float>({bias_size}, F(bias_size, 1)));
    return t.Run();
  };
  ExpectError(run({"BiasAdd"}, 3), absl::StatusCode::kInvalidArgument,
              "as many biases as the product has columns: [3] vs. 2");
  for (const Ops& ops : {Ops{"Add"}, Ops{"Mul"}, Ops{"BiasAdd", "Selu"}}) {
    ExpectError(run(ops, 2), absl::StatusCode::kUnimplemented, "fused_ops");
  }
}

TEST(BatchMatMulOp, BroadcastsBatchDimensions) {
  OpTester t("BatchMatMulV2");
  t.Input(MakeTensor<float>({2, 1, 1, 2}, {1, 2, 3, 4}));
  t.Input(MakeTensor<float>({3, 2, 1}, {1, 0, 0, 1, 1, 1}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<float>({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7}));
}

TEST(BatchMatMulOp, ZeroBroadcastsWithOne) {
  OpTester t("BatchMatMulV2");
  t.Input(MakeTensor<float>({0, 2, 2}, {}));
  t.Input(MakeTensor<float>({1, 2, 3}, F(6, 1)));
  ASSERT_EQ(t.Run(), OkStatus());
  EXPECT_EQ(t.Output(0).shape(), TensorShape({0, 2, 3}));
}

TEST(BatchMatMulOp, V3MixesInt8AndUint8) {
  OpTester t("BatchMatMulV3");
  t.Attr("Tout", DT_INT32);
  t.Input(MakeTensor<int8_t>({1, 2}, {-128, 127}));
  t.Input(MakeTensor<uint8_t>({2, 1}, {255, 255}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), MakeTensor<int32_t>({1, 1}, {-255}));
}

TEST(BatchMatMulOp, V3MixesBfloat16WithBytes) {
  const Tensor x = MakeTensor<bfloat16>({1, 2}, {bfloat16(0.5f), bfloat16(2)});
  const Tensor want = MakeTensor<bfloat16>({1, 1}, {bfloat16(-62.5f)});
  OpTester t("BatchMatMulV3");
  t.Attr("Tout", DT_BFLOAT16).Input(x);
  t.Input(MakeTensor<int8_t>({2, 1}, {127, -63}));
  ASSERT_EQ(t.Run(), OkStatus());
  ExpectEqual(t.Output(0), want);

  OpTester turned("BatchMatMulV3");
  turned.Attr("Tout", DT_BFLOAT16).Attr("adj_y", true);
  turned.Input(MakeTensor<uint8_t>({1, 2}, {255, 1})).Input(x);
  ASSERT_EQ(turned.Run(), OkStatus());
  ExpectEqual(turned.Output(0),
              MakeTensor<bfloat16>({1, 1}, {bfloat16(129.5f)}));
}

TEST(MatMulOps, Refusals) {
  struct {
    const char* op;
    TensorShape x, y;
    const char* message;
  } const kCases[] = {
      {"MatMul", {2}, {2, 2}, "In[0] is not a matrix"},
      {"MatMul", {2, 2}, {1, 2, 2}, "In[1] is not a matrix"},
      {"MatMul", {2, 2}, {3, 3}, "Matrix size-incompatible: In[0]: [2,2]"},
      {"BatchMatMul", {2, 2, 2}, {1, 2, 2}, "same batch dimensions"},
      {"BatchMatMul", {2}, {2, 2}, "at least 2 dimensions"},
      {"BatchMatMulV2", {2, 2, 2}, {3, 2, 2}, "Dimensions must be equal"},
      {"BatchMatMulV2", {2, 2, 3}, {2, 2, 3}, "Matrix size-incompatible"},
  };
  for (const auto& c : kCases) {
    OpTester t(c.op);
    t.Input(MakeTensor<float>(c.x, F(c.x.num_elements(), 1)));
    t.Input(MakeTensor<float>(c.y, F(c.y.num_elements(), 1)));
    ExpectError(t.Run(), absl::StatusCode::kInvalidArgument, c.message);
  }
}

}  // namespace
}  // namespace headrace
