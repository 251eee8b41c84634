// Every kernel of GPUs that moves or computes elements, against the CPU's:
// tails of blocks, empty tensors, broadcasting, padding, all types.
#include <gtest/gtest.h>

#include "kernels/gpu/elementwise_functors.h"
#include "kernels/gpu/gpu_op_tester.h"
#include "kernels/gpu/update_functors.h"

namespace headrace::gpu {
namespace {

constexpr DataType kFloats[] = {DT_FLOAT, DT_HALF, DT_BFLOAT16};
constexpr DataType kReals[] = {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_DOUBLE};

TEST(GpuOpsTest, Unary) {
  static const char* const kOps[] = {
#define HR_NAME(OP) #OP,
      HR_GPU_UNARY_OPS(HR_NAME)
#undef HR_NAME
          "Inv",
      "Rint"};
  for (const char* op : kOps) {
    const std::string name = op;
    const bool positive = name == "Log" || name == "Log1p" || name == "Sqrt" ||
                          name == "Rsqrt" || name == "Reciprocal" ||
                          name == "Inv";
    for (const DataType dtype : kReals) {
      for (const int64_t n : {0, 1, 255, 257, 1000}) {
        OnBoth call(op);
        call.Input(Numbers(dtype, {n}, 1, positive ? 0.1 : -7, 7));
        call.ExpectEqual();
      }
    }
  }
}

TEST(GpuOpsTest, UnarySpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = MakeTensor<float>({6}, {inf, -inf, NAN, 0.0f, -0.0f, 1e30f});
  for (const char* op :
       {"Relu", "Relu6", "Abs", "Sign", "Exp", "Tanh", "Sigmoid", "Elu",
        "Softsign", "Round", "IsNan", "IsInf", "IsFinite"}) {
    OnBoth call(op);
    call.Input(x);
    call.ExpectEqual();
  }
}

TEST(GpuOpsTest, BinaryBroadcasts) {
  const std::pair<TensorShape, TensorShape> kShapes[] = {
      {{3, 4}, {3, 4}},
      {{300}, {}},
      {{}, {5}},
      {{3, 1}, {1, 4}},
      {{2, 3, 4}, {3, 1}},
      {{0, 3}, {1, 3}},
      {{2, 1, 3, 1, 2}, {1, 4, 1, 5, 1}},
      {{7, 33}, {33}},
  };
  static const char* const kOps[] = {
#define HR_NAME(OP) #OP,
      HR_GPU_BINARY_OPS(HR_NAME) HR_GPU_COMPARE_OPS(HR_NAME)
#undef HR_NAME
          "Add"};
  for (const char* op : kOps) {
    const bool positive = std::string(op) == "Pow";
    for (const DataType dtype : kReals) {
      for (const auto& [x, y] : kShapes) {
        // bfloat16 rounds quotients to others' sides of an integer.
        const bool cuts = std::string(op).substr(0, 5) == "Floor";
        if (cuts && dtype != DT_FLOAT && dtype != DT_DOUBLE) continue;
        OnBoth call(op);
        call.Input(Numbers(dtype, x, 1, positive ? 0.1 : -2, 2));
        call.Input(Numbers(dtype, y, 2, cuts ? 0.5 : -2, 2));
        call.ExpectEqual();
      }
    }
  }
  static const char* const kIntOps[] = {
#define HR_NAME(OP) #OP,
      HR_GPU_INT_BINARY_OPS(HR_NAME) HR_GPU_COMPARE_OPS(HR_NAME)
#undef HR_NAME
          "Add"};
  for (const char* op : kIntOps) {
    for (const DataType dtype : {DT_INT64, DT_INT32}) {
      OnBoth call(op);
      call.Input(Numbers(dtype, {3, 1}, 1, -9, 9));
      call.Input(Numbers(dtype, {4}, 2, -9, 9));
      call.ExpectEqual();
    }
  }
}

TEST(GpuOpsTest, ShapesThatDoNotBroadcastAreRefused) {
  OnBoth call("Mul");
  call.Input(Numbers(DT_FLOAT, {2}, 1)).Input(Numbers(DT_FLOAT, {3}, 2));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument,
                     "Incompatible shapes: [2] vs. [3]");
}

TEST(GpuOpsTest, Gradients) {
  static const char* const kOps[] = {
#define HR_NAME(OP) #OP,
      HR_GPU_GRAD_OPS(HR_NAME)
#undef HR_NAME
          "LeakyReluGrad",
      "InvGrad"};
  for (const char* op : kOps) {
    for (const DataType dtype : kReals) {
      for (const int64_t n : {0, 3, 513}) {
        OnBoth call(op);
        call.Input(Numbers(dtype, {n}, 1, 0.5, 2));
        call.Input(Numbers(dtype, {n}, 2,
                           std::string(op) == "SqrtGrad" ? 0.5 : -2, 7));
        call.ExpectEqual();
      }
    }
  }
  OnBoth call("ReluGrad");
  call.Input(Numbers(DT_FLOAT, {2}, 1)).Input(Numbers(DT_FLOAT, {3}, 2));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "same shape");
}

TEST(GpuOpsTest, Logical) {
  for (const char* op : {"LogicalAnd", "LogicalOr"}) {
    OnBoth call(op);
    call.Input(Numbers(DT_BOOL, {3, 1}, 1)).Input(Numbers(DT_BOOL, {5}, 2));
    call.ExpectEqual();
  }
  OnBoth call("LogicalNot");
  call.Input(Numbers(DT_BOOL, {77}, 1));
  call.ExpectEqual();
}

TEST(GpuOpsTest, Casts) {
  constexpr DataType kTypes[] = {DT_FLOAT, DT_HALF,  DT_BFLOAT16, DT_INT32,
                                 DT_INT64, DT_UINT8, DT_BOOL,     DT_DOUBLE};
  for (const DataType from : kTypes) {
    for (const DataType to : kTypes) {
      OnBoth call("Cast");
      call.Attr("SrcT", from).Attr("DstT", to);
      call.Input(Numbers(from, {300}, 1, 0, 100));
      call.ExpectEqual();
    }
  }
}

TEST(GpuOpsTest, RoundingToNarrowTypes) {
  // Ties, overflow, numbers below the smallest normal one.
  std::vector<float> v = {0.0f,     -0.0f,      1.00048828125f, 1.0009765625f,
                          65504.0f, 65519.9f,   65520.0f,       1e6f,
                          6e-8f,    2.9e-8f,    2.98023224e-8f, 3e-8f,
                          6.1e-5f,  -6.09e-5f,  -1e-10f,        3.39e38f,
                          -3.4e38f, 1.00390625f};
  v.push_back(std::numeric_limits<float>::infinity());
  v.push_back(NAN);
  for (const DataType to : {DT_HALF, DT_BFLOAT16}) {
    OnBoth call("Cast");
    call.Attr("SrcT", DT_FLOAT).Attr("DstT", to);
    call.Input(MakeTensor<float>({static_cast<int64_t>(v.size())}, v));
    call.ExpectEqual();
  }
}

TEST(GpuOpsTest, BiasAdd) {
  for (const DataType dtype : kReals) {
    for (const char* format : {"NHWC", "NCHW"}) {
      const bool nhwc = format[1] == 'H';
      OnBoth add("BiasAdd");
      add.Attr("data_format", std::string(format));
      add.Input(Numbers(
          dtype, nhwc ? TensorShape({2, 3, 5, 7}) : TensorShape({2, 7, 3, 5}),
          1));
      add.Input(Numbers(dtype, {7}, 2));
      add.ExpectEqual();
      for (const int64_t batch : {0, 2, 700}) {
        OnBoth grad("BiasAddGrad");
        grad.Attr("data_format", std::string(format));
        grad.Input(Numbers(dtype,
                           nhwc ? TensorShape({batch, 3, 5, 7})
                                : TensorShape({batch, 7, 3, 5}),
                           1));
        grad.ExpectEqual(2e-4);
      }
    }
  }
  OnBoth call("BiasAdd");
  call.Input(Numbers(DT_FLOAT, {2, 3}, 1)).Input(Numbers(DT_FLOAT, {2}, 2));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "as many biases");
}

TEST(GpuOpsTest, SelectFillRangeAddN) {
  for (const DataType dtype :
       {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_INT64, DT_BOOL}) {
    const TensorShape kConditions[] = {{4, 3}, {4}, {}};
    for (const TensorShape& c : kConditions) {
      OnBoth call("Select");
      call.Input(Numbers(DT_BOOL, c, 1)).Input(Numbers(dtype, {4, 3}, 2));
      call.Attr("T", dtype).Input(Numbers(dtype, {4, 3}, 3));
      call.ExpectEqual();
    }
    OnBoth select("SelectV2");
    select.Attr("T", dtype).Input(Numbers(DT_BOOL, {3, 1}, 1));
    select.Input(Numbers(dtype, {4}, 2)).Input(Numbers(dtype, {2, 1, 1}, 3));
    select.ExpectEqual();
    OnBoth fill("Fill");
    fill.Input(Ints<int32_t>({3, 100})).Input(Numbers(dtype, {}, 1));
    fill.ExpectEqual();
    OnBoth zeros("ZerosLike");
    zeros.Input(Numbers(dtype, {33}, 1));
    zeros.ExpectEqual();
  }
  for (const DataType dtype : kReals) {
    OnBoth ones("OnesLike");
    ones.Input(Numbers(dtype, {33}, 1));
    ones.ExpectEqual();
    for (const int n : {1, 2, 16, 17, 40}) {
      OnBoth add("AddN");
      for (int i = 0; i < n; ++i) add.Input(Numbers(dtype, {5, 60}, i));
      add.ExpectEqual();
    }
  }
  OnBoth range("Range");
  range.Input(MakeScalar(1.5f)).Input(MakeScalar(9.0f));
  range.Input(MakeScalar(0.25f));
  range.ExpectEqual();
  OnBoth down("Range");
  down.Input(MakeScalar<int64_t>(9)).Input(MakeScalar<int64_t>(-300));
  down.Input(MakeScalar<int64_t>(-2));
  down.ExpectEqual();
  OnBoth bad("Range");
  bad.Input(MakeScalar(1.0f)).Input(MakeScalar(9.0f)).Input(MakeScalar(0.0f));
  bad.ExpectRefused(absl::StatusCode::kInvalidArgument, "delta != 0");
}

TEST(GpuOpsTest, Chains) {
  OnBoth call("_FusedElementwise");
  call.Attr("ops", std::vector<std::string>{"Mul", "Add", "Tanh", "Sub", "Relu",
                                            "RealDiv"});
  call.Attr("sides", std::vector<int64_t>{1, 1, 0, 2, 0, 1});
  call.Attr("T", DT_FLOAT);
  call.Input(Numbers(DT_FLOAT, {9, 70}, 1));
  call.Input(Numbers(DT_FLOAT, {9, 70}, 2));
  call.Input(Numbers(DT_FLOAT, {70}, 3));
  call.Input(Numbers(DT_FLOAT, {}, 4));
  call.Input(Numbers(DT_FLOAT, {70}, 5, 1, 2));
  call.ExpectEqual();
  OnBoth lengthy("_FusedElementwise");  // more steps than a kernel has
  lengthy.Attr("ops", std::vector<std::string>(60, "Tanh"));
  lengthy.Attr("sides", std::vector<int64_t>(60, 0)).Attr("T", DT_FLOAT);
  lengthy.Attr("num_args", int64_t{0}).Input(Numbers(DT_FLOAT, {100}, 1));
  lengthy.ExpectEqual(1e-4);
}

// ---- Moves ------------------------------------------------------------------

constexpr DataType kMoved[] = {DT_FLOAT, DT_HALF,  DT_INT64,
                               DT_BOOL,  DT_INT32, DT_DOUBLE};

TEST(GpuOpsTest, Transpose) {
  const std::pair<TensorShape, std::vector<int32_t>> kCases[] = {
      {{3, 5}, {1, 0}},
      {{33, 65}, {1, 0}},
      {{2, 40, 35}, {0, 2, 1}},
      {{2, 5, 6, 3}, {0, 3, 1, 2}},
      {{2, 3, 5, 6}, {0, 2, 3, 1}},
      {{3, 3, 4, 7}, {3, 2, 0, 1}},
      {{1, 5, 1, 6}, {2, 3, 0, 1}},
      {{4, 5, 6}, {2, 1, 0}},
      {{4, 5, 6}, {0, 1, 2}},
      {{0, 5}, {1, 0}},
      {{2, 3, 2, 3, 2}, {4, 0, 3, 1, 2}},
  };
  for (const DataType dtype : {DT_FLOAT, DT_BFLOAT16, DT_INT64, DT_BOOL}) {
    for (const auto& [shape, perm] : kCases) {
      OnBoth call("Transpose");
      call.Input(Numbers(dtype, shape, 1, -100, 100)).Input(Ints(perm));
      call.ExpectEqual();
    }
  }
  for (const std::vector<int32_t>& perm :
       {std::vector<int32_t>{0, 0}, {0, 2}, {0}}) {
    OnBoth call("Transpose");
    call.Input(Numbers(DT_FLOAT, {2, 3}, 1)).Input(Ints(perm));
    call.ExpectRefused(absl::StatusCode::kInvalidArgument, "");
  }
}

TEST(GpuOpsTest, ConcatSplitPack) {
  for (const DataType dtype : kMoved) {
    for (const int32_t axis : {0, 1, 2, -1}) {
      OnBoth concat("ConcatV2");
      for (int i = 0; i < 3; ++i) {
        TensorShape shape({2, 3, 4});
        shape.set_dim(axis < 0 ? 2 : axis, i == 1 ? 0 : i + 1);
        concat.Input(Numbers(dtype, shape, i, -50, 50));
      }
      concat.Attr("N", int64_t{3}).Input(MakeScalar(axis));
      concat.ExpectEqual();
      OnBoth pack("Pack");
      pack.Attr("axis", int64_t{axis});
      for (int i = 0; i < 3; ++i) {
        pack.Input(Numbers(dtype, {3, 4}, i, -50, 50));
      }
      pack.ExpectEqual();
      OnBoth unpack("Unpack");
      unpack.Attr("axis", int64_t{axis}).Attr("num", int64_t{3});
      unpack.Input(Numbers(dtype, {3, 3, 3}, 1, -50, 50));
      unpack.ExpectEqual();
      OnBoth split("Split");
      split.Attr("num_split", int64_t{2}).Input(MakeScalar(axis));
      split.Input(Numbers(dtype, {2, 4, 6}, 1, -50, 50)).Attr("T", dtype);
      split.ExpectEqual();
    }
    OnBoth split("SplitV");
    split.Attr("num_split", int64_t{3});
    split.Input(Numbers(dtype, {5, 9}, 1, -50, 50));
    split.Input(Ints<int32_t>({2, -1, 3})).Input(MakeScalar(1));
    split.ExpectEqual();
  }
  OnBoth call("ConcatV2");
  call.Input(Numbers(DT_FLOAT, {2, 3}, 1)).Input(Numbers(DT_FLOAT, {3, 3}, 1));
  call.Attr("N", int64_t{2}).Input(MakeScalar(1));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "ConcatOp");
}

TEST(GpuOpsTest, PadSliceTile) {
  for (const DataType dtype : kMoved) {
    const Tensor x = Numbers(dtype, {2, 3, 4}, 1, -50, 50);
    OnBoth pad("Pad");
    pad.Input(x).Input(MakeTensor<int32_t>({3, 2}, {1, 0, 0, 2, 3, 1}));
    pad.ExpectEqual();
    OnBoth same("Pad");
    same.Input(x).Input(MakeTensor<int32_t>({3, 2}, {0, 0, 0, 0, 0, 0}));
    same.ExpectEqual();
    if (dtype != DT_INT32) {
      OnBoth value("PadV2");
      value.Input(x).Input(MakeTensor<int32_t>({3, 2}, {0, 0, 1, 2, 0, 0}));
      value.Input(Numbers(dtype, {}, 5, 1, 50));
      value.ExpectEqual();
    }
    OnBoth slice("Slice");
    slice.Input(x).Input(Ints<int32_t>({0, 1, 2}));
    slice.Input(Ints<int32_t>({-1, 2, 1}));
    slice.ExpectEqual();
    OnBoth tile("Tile");
    tile.Input(x).Input(Ints<int32_t>({2, 1, 3}));
    tile.ExpectEqual();
    OnBoth strided("StridedSlice");
    strided.Input(x).Input(Ints<int32_t>({1, 2, 3}));
    strided.Input(Ints<int32_t>({0, 0, 0})).Input(Ints<int32_t>({-1, -1, -2}));
    strided.Attr("end_mask", int64_t{1}).Attr("T", dtype);
    strided.ExpectEqual();
    OnBoth shrink("StridedSlice");
    shrink.Input(x).Input(Ints<int32_t>({1, 0})).Input(Ints<int32_t>({2, 3}));
    shrink.Input(Ints<int32_t>({1, 2})).Attr("shrink_axis_mask", int64_t{1});
    shrink.Attr("T", dtype);
    shrink.ExpectEqual();
    OnBoth broadcast("BroadcastTo");
    broadcast.Input(Numbers(dtype, {3, 1}, 1, -50, 50));
    broadcast.Input(Ints<int32_t>({2, 3, 5}));
    broadcast.ExpectEqual();
  }
  for (const DataType dtype : kReals) {
    OnBoth grad("StridedSliceGrad");
    grad.Input(Ints<int32_t>({4, 5})).Input(Ints<int32_t>({3, 1}));
    grad.Input(Ints<int32_t>({0, 5})).Input(Ints<int32_t>({-2, 2}));
    grad.Input(Numbers(dtype, {2, 2}, 1)).Attr("T", dtype);
    grad.ExpectEqual();
  }
  OnBoth call("Slice");
  call.Input(Numbers(DT_FLOAT, {3}, 1)).Input(Ints<int32_t>({2}));
  call.Input(Ints<int32_t>({2}));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "size[0]");
}

TEST(GpuOpsTest, GatherOneHotSegments) {
  for (const DataType dtype : {DT_FLOAT, DT_HALF, DT_INT64, DT_INT32}) {
    for (const int32_t axis : {0, 1, -1}) {
      OnBoth call("GatherV2");
      call.Input(Numbers(dtype, {4, 5, 6}, 1, -50, 50));
      call.Input(MakeTensor<int64_t>({2, 3}, {0, 3, 1, 1, 2, 3}));
      call.Input(MakeScalar(axis));
      call.ExpectEqual();
    }
    OnBoth call("Gather");
    call.Input(Numbers(dtype, {7, 300}, 1, -50, 50));
    call.Input(Ints<int32_t>({6, 0, 6}));
    call.ExpectEqual();
  }
  for (const int64_t axis : {-1, 0, 1}) {
    OnBoth call("OneHot");
    call.Attr("axis", axis).Attr("T", DT_FLOAT);
    call.Input(MakeTensor<int64_t>({2, 3}, {0, 3, -1, 1, 9, 2}));
    call.Input(MakeScalar(4)).Input(MakeScalar(2.5f)).Input(MakeScalar(-1.0f));
    call.ExpectEqual();
  }
  for (const DataType dtype : kReals) {
    OnBoth call("UnsortedSegmentSum");
    call.Input(Numbers(dtype, {2, 3, 70}, 1));
    call.Input(MakeTensor<int32_t>({2, 3}, {4, 0, 4, 1, 0, -1}));
    call.Input(MakeScalar(6));
    call.ExpectEqual();
  }
}

TEST(GpuOpsTest, AnIndexOutOfRangeGathersZeros) {
  OnBoth call("Gather");
  call.Input(Numbers(DT_FLOAT, {3}, 1, 1, 2)).Input(Ints<int32_t>({-1, 3, 0}));
  std::vector<Tensor> out;
  ASSERT_EQ(call.Run(TestGpu(), &out), OkStatus());
  EXPECT_EQ(out[0].data<float>()[0], 0);
  EXPECT_EQ(out[0].data<float>()[1], 0);
  EXPECT_GE(out[0].data<float>()[2], 1);
}

// ---- Pooling ----------------------------------------------------------------

TEST(GpuOpsTest, Pooling) {
  struct {
    int64_t rows, columns, window, stride;
    const char* padding;
  } const kCases[] = {{7, 9, 2, 2, "VALID"},
                      {7, 9, 3, 2, "SAME"},
                      {5, 5, 3, 1, "SAME"},
                      {6, 8, 6, 6, "VALID"},
                      {8, 8, 3, 3, "SAME"}};
  for (const auto& c : kCases) {
    for (const DataType dtype : kFloats) {
      for (const bool nhwc : {true, false}) {
        if (!nhwc && dtype == DT_HALF) continue;
        for (const int64_t batch : {0, 2}) {
          const TensorShape shape =
              nhwc ? TensorShape({batch, c.rows, c.columns, 3})
                   : TensorShape({batch, 3, c.rows, c.columns});
          const std::vector<int64_t> window =
              nhwc ? std::vector<int64_t>{1, c.window, c.window, 1}
                   : std::vector<int64_t>{1, 1, c.window, c.window};
          const std::vector<int64_t> strides =
              nhwc ? std::vector<int64_t>{1, c.stride, c.stride, 1}
                   : std::vector<int64_t>{1, 1, c.stride, c.stride};
          const auto pool = [&](const char* op) {
            OnBoth call(op);
            call.Attr("ksize", window).Attr("strides", strides);
            call.Attr("padding", std::string(c.padding)).Attr("T", dtype);
            call.Attr("data_format", std::string(nhwc ? "NHWC" : "NCHW"));
            return call;
          };
          const Tensor x = Numbers(dtype, shape, 1);
          for (const char* op : {"MaxPool", "AvgPool"}) {
            OnBoth call = pool(op);
            call.Input(x);
            call.ExpectEqual();
          }
          TestDevice cpu;
          std::vector<Tensor> y;
          OnBoth forward = pool("MaxPool");
          forward.Input(x);
          ASSERT_EQ(forward.Run(&cpu, &y), OkStatus());
          const Tensor dy = Numbers(dtype, y[0].shape(), 2);
          OnBoth max_grad = pool("MaxPoolGrad");
          max_grad.Input(x).Input(y[0]).Input(dy);
          max_grad.ExpectEqual();
          OnBoth avg_grad = pool("AvgPoolGrad");
          std::vector<int32_t> dims;
          for (const int64_t d : shape.dim_sizes()) {
            dims.push_back(static_cast<int32_t>(d));
          }
          avg_grad.Input(Ints(dims)).Input(dy);
          avg_grad.ExpectEqual();
        }
      }
    }
  }
}

// ---- Rows and columns -------------------------------------------------------

TEST(GpuOpsTest, Reductions) {
  const std::pair<TensorShape, std::vector<int32_t>> kCases[] = {
      {{5}, {0}},
      {{3, 300}, {1}},
      {{300, 3}, {0}},
      {{4, 5, 6}, {1}},
      {{4, 5, 6}, {0, 2}},
      {{4, 5, 6}, {}},
      {{2, 3, 4, 5}, {1, 2}},
      {{0, 3}, {0}},
      {{3, 0}, {0}},
      {{20000}, {0}},
      {{9000, 40}, {0}},
      {{2, 9000}, {1}},
      {{}, {}},
      {{1, 257, 1}, {-2}},
  };
  for (const auto& [shape, axes] : kCases) {
    for (const bool keep : {false, true}) {
      for (const char* op : {"Sum", "Mean", "Max", "Min", "Prod"}) {
        for (const DataType dtype : {DT_FLOAT, DT_BFLOAT16, DT_HALF}) {
          if (shape.num_elements() > 5000 && dtype != DT_FLOAT) continue;
          OnBoth call(op);
          call.Attr("keep_dims", keep).Attr("T", dtype);
          const bool prod = op[0] == 'P';
          call.Input(
              Numbers(dtype, shape, 1, prod ? 0.98 : -1, prod ? 1.02 : 1));
          call.Input(Ints(axes));
          call.ExpectEqual(1e-3);
        }
      }
    }
  }
  for (const char* op : {"All", "Any"}) {
    OnBoth call(op);
    call.Input(Numbers(DT_BOOL, {40, 3}, 1)).Input(Ints<int32_t>({1}));
    call.ExpectEqual();
  }
  for (const char* op : {"Sum", "Max", "Prod"}) {
    OnBoth call(op);
    call.Input(Numbers(DT_INT64, {4, 5}, 1, -3, 3)).Input(Ints<int32_t>({0}));
    call.ExpectEqual();
  }
  OnBoth call("Sum");
  call.Input(Numbers(DT_FLOAT, {4, 5}, 1)).Input(Ints<int32_t>({2}));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "");
}

TEST(GpuOpsTest, ASumIsTheSameInEachRun) {
  OnBoth call("Sum");
  call.Input(Numbers(DT_FLOAT, {100000}, 1)).Input(Ints<int32_t>({0}));
  std::vector<Tensor> first, again;
  ASSERT_EQ(call.Run(TestGpu(), &first), OkStatus());
  for (int run = 0; run < 3; ++run) {
    ASSERT_EQ(call.Run(TestGpu(), &again), OkStatus());
    EXPECT_EQ(first[0].scalar<float>(), again[0].scalar<float>());
  }
}

TEST(GpuOpsTest, ArgExtremesAndL2Loss) {
  for (const char* op : {"ArgMax", "ArgMin"}) {
    for (const DataType out : {DT_INT32, DT_INT64}) {
      for (const int32_t axis : {0, 1, -1}) {
        OnBoth call(op);
        call.Attr("output_type", out);
        call.Input(Numbers(DT_FLOAT, {4, 50, 6}, 1)).Input(MakeScalar(axis));
        call.ExpectEqual();
      }
    }
  }
  for (const DataType dtype : kReals) {
    for (const int64_t n : {0, 5, 1000}) {
      OnBoth call("L2Loss");
      call.Input(Numbers(dtype, {n}, 1, -1, 1));
      call.ExpectEqual(1e-4);
    }
  }
  OnBoth large("L2Loss");
  large.Input(Numbers(DT_HALF, {9000}, 1, -0.5, 0.5));
  large.ExpectEqual(1e-4);
}

TEST(GpuOpsTest, SoftmaxAndCrossEntropy) {
  for (const DataType dtype : kReals) {
    const TensorShape kShapes[] = {{3, 10}, {2, 3, 1000}, {7},
                                   {4, 1},  {0, 5},       {5, 129}};
    for (const TensorShape& shape : kShapes) {
      for (const char* op : {"Softmax", "LogSoftmax"}) {
        OnBoth call(op);
        call.Input(Numbers(dtype, shape, 1, -5, 5));
        call.ExpectEqual(1e-4);
      }
    }
    for (const int64_t n : {1, 10, 300}) {
      OnBoth dense("SoftmaxCrossEntropyWithLogits");
      dense.Input(Numbers(dtype, {5, n}, 1, -3, 3));
      dense.Input(Numbers(dtype, {5, n}, 2, 0, 0.1));
      dense.ExpectEqual(1e-4);
      OnBoth sparse("SparseSoftmaxCrossEntropyWithLogits");
      sparse.Input(Numbers(dtype, {5, n}, 1, -3, 3));
      sparse.Input(Numbers(DT_INT64, {5}, 2, 0, static_cast<double>(n)));
      sparse.ExpectEqual(1e-4);
    }
    OnBoth rows("SoftmaxCrossEntropyWithLogits");
    rows.Input(Numbers(dtype, {5, 8}, 1)).Input(Numbers(dtype, {1, 8}, 2));
    rows.ExpectEqual(1e-4);
  }
  OnBoth huge("Softmax");
  const float inf = std::numeric_limits<float>::infinity();
  huge.Input(MakeTensor<float>({3, 2}, {1e30f, -1e30f, -inf, 0, -inf, -inf}));
  huge.ExpectEqual();
}

TEST(GpuOpsTest, LayerNorm) {
  const std::pair<TensorShape, int64_t> kCases[] = {
      {{4, 10}, 1}, {{2, 3, 300}, 1}, {{2, 3, 8}, 2}, {{0, 8}, 1}};
  for (const auto& [shape, axes] : kCases) {
    for (const bool scale : {false, true}) {
      OnBoth call("_FusedLayerNorm");
      call.Attr("axes", axes).Attr("epsilon", 1e-3f);
      call.Attr("has_scale", scale)
          .Attr("has_offset", true)
          .Attr("T", DT_FLOAT);
      call.Input(Numbers(DT_FLOAT, shape, 1));
      const int64_t last = shape.dim_size(shape.dims() - 1);
      if (scale) call.Input(Numbers(DT_FLOAT, {last}, 2));
      call.Input(Numbers(DT_FLOAT, {last}, 3));
      call.ExpectEqual(1e-4);
    }
  }
}

TEST(GpuOpsTest, BatchNorm) {
  for (const DataType dtype : kFloats) {
    for (const char* format : {"NHWC", "NCHW"}) {
      for (const bool training : {true, false}) {
        for (const float factor : {1.0f, 0.25f}) {
          for (const int64_t batch : {2, 30}) {
            const TensorShape shape = format[1] == 'H'
                                          ? TensorShape({batch, 12, 9, 5})
                                          : TensorShape({batch, 5, 12, 9});
            OnBoth call("FusedBatchNormV3");
            call.Attr("data_format", std::string(format)).Attr("T", dtype);
            call.Attr("is_training", training).Attr("U", DT_FLOAT);
            call.Attr("exponential_avg_factor", factor);
            call.Input(Numbers(dtype, shape, 1));
            for (int i = 0; i < 4; ++i) {
              call.Input(Numbers(DT_FLOAT, {5}, 2 + i, 0.5, 2));
            }
            call.ExpectEqual(1e-4);
            OnBoth grad("FusedBatchNormGradV3");
            grad.Attr("data_format", std::string(format)).Attr("T", dtype);
            grad.Attr("is_training", training).Attr("U", DT_FLOAT);
            grad.Input(Numbers(dtype, shape, 7))
                .Input(Numbers(dtype, shape, 1));
            for (int i = 0; i < 4; ++i) {
              grad.Input(Numbers(DT_FLOAT, {5}, 2 + i, 0.5, 2));
            }
            grad.ExpectEqual(3e-4);
          }
        }
      }
    }
  }
}

// ---- Random numbers, updates ------------------------------------------------

TEST(GpuOpsTest, RandomNumbersAreTheCpus) {
  for (const char* op :
       {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    for (const DataType dtype : kReals) {
      for (const int32_t n : {0, 1, 5, 4096, 4099}) {
        OnBoth call(op);
        call.Attr("seed", int64_t{7}).Attr("seed2", int64_t{11});
        call.Attr("dtype", dtype).Input(Ints<int32_t>({n}));
        call.ExpectEqual(1e-6);
      }
    }
  }
  OnBoth stateless("StatelessRandomNormal");
  stateless.Input(Ints<int32_t>({300})).Input(Ints<int64_t>({5, 6}));
  stateless.Attr("dtype", DT_FLOAT);
  stateless.ExpectEqual(1e-6);
  OnBoth integers("RandomUniformInt");
  integers.Attr("seed", int64_t{7}).Attr("seed2", int64_t{11});
  integers.Input(Ints<int32_t>({301})).Input(MakeScalar<int64_t>(-5));
  integers.Input(MakeScalar<int64_t>(1000));
  integers.ExpectEqual();
  OnBoth bad("RandomUniformInt");
  bad.Attr("seed", int64_t{7}).Input(Ints<int32_t>({3}));
  bad.Input(MakeScalar(5)).Input(MakeScalar(5));
  bad.ExpectRefused(absl::StatusCode::kInvalidArgument, "minval < maxval");
}

TEST(GpuOpsTest, Optimizers) {
  // The number of slots, and of scalars before and behind the gradient.
  struct {
    const char* rule;
    int vars, before, behind;
  } const kRules[] = {
      {"GradientDescent", 1, 1, 0},
      {"Momentum", 2, 1, 1},
      {"KerasMomentum", 2, 1, 1},
      {"Adagrad", 2, 1, 0},
      {"AdagradV2", 2, 2, 0},
      {"Adadelta", 3, 3, 0},
      {"Ftrl", 3, 0, 4},
      {"FtrlV2", 3, 0, 5},
      {"Adam", 3, 6, 0},
      {"AdamWithAmsgrad", 4, 6, 0},
      {"AdaMax", 3, 5, 0},
      {"RMSProp", 3, 4, 0},
      {"CenteredRMSProp", 4, 4, 0},
  };
  for (const auto& r : kRules) {
    for (const DataType dtype : kReals) {
      SCOPED_TRACE(r.rule);
      OnBoth call(absl::StrCat("ResourceApply", r.rule));
      call.Attr("T", dtype);
      const bool centered = std::string(r.rule) == "CenteredRMSProp";
      for (int i = 0; i < r.vars; ++i) {
        // mg is small, so that ms - mg^2 is a variance.
        call.Variable(Numbers(dtype, {3, 100}, i, centered && i == 1 ? 0 : 1,
                              centered && i == 1 ? 0.1 : 2));
      }
      for (int i = 0; i < r.before; ++i) {
        call.Input(Numbers(dtype, {}, 10 + i, 0.1, 0.9));
      }
      call.Input(Numbers(dtype, {3, 100}, 20));
      for (int i = 0; i < r.behind; ++i) {
        call.Input(Numbers(dtype, {}, 30 + i, 0.1, 0.9));
      }
      call.ExpectEqual(1e-4);
    }
  }
  OnBoth call("ResourceApplyGradientDescent");
  call.Variable(Numbers(DT_FLOAT, {3}, 1)).Input(MakeScalar(1.0f));
  call.Input(Numbers(DT_FLOAT, {4}, 1)).Attr("T", DT_FLOAT);
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "same shape");
}

TEST(GpuOpsTest, Assignments) {
  for (const DataType dtype :
       {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_INT64, DT_DOUBLE}) {
    for (const char* op :
         {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"}) {
      OnBoth call(op);
      call.Attr("dtype", dtype).Variable(Numbers(dtype, {77}, 1, -9, 9));
      call.Input(Numbers(dtype, {77}, 2, -9, 9));
      call.ExpectEqual();
    }
    if (dtype != DT_INT64) {
      OnBoth gather("ResourceGather");
      gather.Attr("dtype", dtype).Variable(Numbers(dtype, {7, 3}, 1));
      gather.Input(MakeTensor<int64_t>({2, 2}, {6, 0, 3, 6}));
      gather.ExpectEqual();
    }
    OnBoth read("ReadVariableOp");
    read.Attr("dtype", dtype).Variable(Numbers(dtype, {77}, 1, -9, 9));
    read.ExpectEqual();
  }
}

// ---- Products and convolutions ----------------------------------------------

TEST(GpuOpsTest, MatMul) {
  for (const DataType dtype : kReals) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        for (const int64_t k : {0, 1, 33}) {
          OnBoth call("MatMul");
          call.Attr("transpose_a", ta).Attr("transpose_b", tb);
          call.Input(Numbers(
              dtype, ta ? TensorShape({k, 5}) : TensorShape({5, k}), 1));
          call.Input(Numbers(
              dtype, tb ? TensorShape({7, k}) : TensorShape({k, 7}), 2));
          call.ExpectEqual(1e-4);
          OnBoth batch("BatchMatMulV2");
          batch.Attr("adj_x", ta).Attr("adj_y", tb);
          batch.Input(Numbers(
              dtype, ta ? TensorShape({2, 3, k, 5}) : TensorShape({2, 3, 5, k}),
              1));
          batch.Input(Numbers(
              dtype, tb ? TensorShape({2, 3, 7, k}) : TensorShape({2, 3, k, 7}),
              2));
          batch.ExpectEqual(1e-4);
        }
      }
    }
    const std::pair<TensorShape, TensorShape> kBatches[] = {
        {{2, 1, 4, 5}, {3, 5, 6}},
        {{4, 5}, {2, 3, 5, 6}},
        {{2, 3, 4, 5}, {5, 6}},
        {{2, 1, 2, 4, 5}, {1, 3, 2, 5, 6}},
        {{1, 3, 1, 4, 5}, {2, 1, 2, 5, 6}},
        {{0, 4, 5}, {0, 5, 6}}};
    for (const auto& [x, y] : kBatches) {
      OnBoth call("BatchMatMulV2");
      call.Input(Numbers(dtype, x, 1)).Input(Numbers(dtype, y, 2));
      call.ExpectEqual(1e-4);
    }
    for (const char* activation : {"Relu", "Tanh", "LeakyRelu", ""}) {
      if (dtype == DT_DOUBLE) continue;  // is not fused
      OnBoth fused("_FusedMatMul");
      std::vector<std::string> ops = {"BiasAdd"};
      if (*activation != '\0') ops.push_back(activation);
      fused.Attr("fused_ops", ops).Attr("num_args", int64_t{1});
      fused.Attr("T", dtype);
      fused.Input(Numbers(dtype, {9, 4}, 1)).Input(Numbers(dtype, {4, 6}, 2));
      fused.Input(Numbers(dtype, {6}, 3));
      fused.ExpectEqual(1e-4);
    }
  }
  OnBoth call("MatMul");
  call.Input(Numbers(DT_FLOAT, {2, 3}, 1)).Input(Numbers(DT_FLOAT, {2, 3}, 1));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "size-incompatible");
}

struct ConvCase {
  TensorShape input, filter;  // NHWC
  int64_t stride;
  const char* padding;
  int64_t dilation = 1;
};
const ConvCase kConvs[] = {
    {{2, 5, 7, 3}, {1, 1, 3, 4}, 1, "VALID"},
    {{2, 5, 7, 3}, {1, 1, 3, 4}, 2, "SAME"},
    {{3, 4, 6, 2}, {4, 6, 2, 5}, 1, "VALID"},
    {{2, 8, 8, 3}, {3, 3, 3, 4}, 1, "SAME"},
    {{2, 8, 9, 3}, {3, 3, 3, 4}, 2, "SAME"},
    {{1, 9, 8, 3}, {3, 2, 3, 4}, 2, "VALID"},
    {{1, 12, 12, 3}, {7, 7, 3, 4}, 2, "SAME"},
    {{1, 9, 9, 2}, {3, 3, 2, 4}, 1, "SAME", 2},
    {{0, 8, 8, 3}, {3, 3, 3, 4}, 1, "SAME"},
    {{2, 6, 6, 4}, {3, 3, 2, 6}, 1, "SAME"},
};

TensorShape InFormat(const TensorShape& nhwc, bool nchw) {
  return nchw ? TensorShape({nhwc.dim_size(0), nhwc.dim_size(3),
                             nhwc.dim_size(1), nhwc.dim_size(2)})
              : nhwc;
}
OnBoth Conv(const char* op, const ConvCase& c, DataType dtype, bool nchw) {
  OnBoth call(op);
  const auto per_dim = [nchw](int64_t v) {
    return nchw ? std::vector<int64_t>{1, 1, v, v}
                : std::vector<int64_t>{1, v, v, 1};
  };
  call.Attr("strides", per_dim(c.stride)).Attr("T", dtype);
  call.Attr("dilations", per_dim(c.dilation));
  call.Attr("padding", std::string(c.padding));
  call.Attr("data_format", std::string(nchw ? "NCHW" : "NHWC"));
  return call;
}
std::vector<int32_t> DimsOf(const TensorShape& s) {
  std::vector<int32_t> dims;
  for (const int64_t d : s.dim_sizes()) dims.push_back(static_cast<int32_t>(d));
  return dims;
}

TEST(GpuOpsTest, Convolutions) {
  for (const ConvCase& c : kConvs) {
    for (const DataType dtype : kFloats) {
      for (const bool nchw : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << c.input.DebugString() << c.filter.DebugString()
                     << c.padding << c.stride << " " << DataTypeString(dtype)
                     << (nchw ? " NCHW" : " NHWC"));
        const Tensor x = Numbers(dtype, InFormat(c.input, nchw), 1, -1, 1);
        const Tensor w = Numbers(dtype, c.filter, 2, -1, 1);
        OnBoth forward = Conv("Conv2D", c, dtype, nchw);
        forward.Input(x).Input(w);
        forward.ExpectEqual(1e-4);
        TestDevice cpu;
        std::vector<Tensor> y;
        ASSERT_EQ(forward.Run(&cpu, &y), OkStatus());
        const Tensor dy = Numbers(dtype, y[0].shape(), 3, -1, 1);
        OnBoth input = Conv("Conv2DBackpropInput", c, dtype, nchw);
        input.Input(Ints(DimsOf(x.shape()))).Input(w).Input(dy);
        input.ExpectEqual(1e-4);
        OnBoth filter = Conv("Conv2DBackpropFilter", c, dtype, nchw);
        filter.Input(x).Input(Ints(DimsOf(c.filter))).Input(dy);
        filter.ExpectEqual(1e-4);
      }
    }
  }
  OnBoth call = Conv("Conv2D", kConvs[0], DT_FLOAT, false);
  call.Input(Numbers(DT_FLOAT, {1, 4, 4, 3}, 1));
  call.Input(Numbers(DT_FLOAT, {1, 1, 2, 4}, 1));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "");
}

TEST(GpuOpsTest, DepthwiseConvolutions) {
  const ConvCase kCases[] = {{{2, 8, 9, 3}, {3, 3, 3, 2}, 1, "SAME"},
                             {{2, 9, 9, 4}, {3, 3, 4, 1}, 2, "SAME"},
                             {{1, 5, 5, 4}, {1, 1, 4, 2}, 1, "VALID"}};
  for (const ConvCase& c : kCases) {
    for (const DataType dtype : kFloats) {
      const Tensor x = Numbers(dtype, c.input, 1, -1, 1);
      const Tensor w = Numbers(dtype, c.filter, 2, -1, 1);
      OnBoth forward = Conv("DepthwiseConv2dNative", c, dtype, false);
      forward.Input(x).Input(w);
      forward.ExpectEqual(1e-4);
      TestDevice cpu;
      std::vector<Tensor> y;
      ASSERT_EQ(forward.Run(&cpu, &y), OkStatus());
      const Tensor dy = Numbers(dtype, y[0].shape(), 3, -1, 1);
      OnBoth input =
          Conv("DepthwiseConv2dNativeBackpropInput", c, dtype, false);
      input.Input(Ints(DimsOf(x.shape()))).Input(w).Input(dy);
      input.ExpectEqual(1e-4);
      OnBoth filter =
          Conv("DepthwiseConv2dNativeBackpropFilter", c, dtype, false);
      filter.Input(x).Input(Ints(DimsOf(c.filter))).Input(dy);
      filter.ExpectEqual(1e-4);
    }
  }
}

TEST(GpuOpsTest, FusedConvolutions) {
  const std::vector<std::string> kOps[] = {
      {"BiasAdd"},
      {"BiasAdd", "Relu"},
      {"BiasAdd", "Relu6"},
      {"BiasAdd", "LeakyRelu"},
      {"BiasAdd", "Add", "Relu"},
      {"FusedBatchNorm", "Relu"},
      {"FusedBatchNorm"},
      {"Mul", "BiasAdd", "Elu"},
  };
  for (const auto& ops : kOps) {
    for (const DataType dtype : kFloats) {
      for (const ConvCase& c : {kConvs[0], kConvs[3], kConvs[4]}) {
        SCOPED_TRACE(ops[0] + " " + ops.back());
        OnBoth call = Conv("_FusedConv2D", c, dtype, false);
        call.Attr("fused_ops", ops);
        call.Input(Numbers(dtype, c.input, 1, -1, 1));
        call.Input(Numbers(dtype, c.filter, 2, -1, 1));
        int64_t args = 0;
        for (const std::string& op : ops) {
          const int vectors = op == "FusedBatchNorm"           ? 4
                              : op == "BiasAdd" || op == "Mul" ? 1
                                                               : 0;
          for (int i = 0; i < vectors; ++i, ++args) {
            call.Input(Numbers(dtype, {c.filter.dim_size(3)},
                               3 + static_cast<int>(args), 0.5, 2));
          }
          if (op == "Add") {
            OnBoth plain = Conv("Conv2D", c, dtype, false);
            plain.Input(Numbers(dtype, c.input, 1));
            plain.Input(Numbers(dtype, c.filter, 2));
            TestDevice cpu;
            std::vector<Tensor> y;
            ASSERT_EQ(plain.Run(&cpu, &y), OkStatus());
            call.Input(Numbers(dtype, y[0].shape(), 9));
            ++args;
          }
        }
        call.Attr("num_args", args).Attr("epsilon", 1e-3f);
        call.ExpectEqual(1e-4);
      }
    }
  }
}

}  // namespace
}  // namespace headrace::gpu
