// Kernels of GPUs that update, gather and order rows, resize images and
// convolve volumes, against the CPU's.
#include <gtest/gtest.h>

#include "kernels/gpu/gpu_op_tester.h"
#include "kernels/gpu/update_functors.h"

namespace headrace::gpu {
namespace {

constexpr DataType kFloats[] = {DT_FLOAT, DT_HALF, DT_BFLOAT16};

// Indices with duplicates, of int32 or int64.
Tensor RowNumbers(bool wide, const TensorShape& shape) {
  static constexpr int kNumbers[] = {3, 0, 3, 6, 1, 0, 3, 2, 5, 6, 0, 1};
  Tensor t(wide ? DT_INT64 : DT_INT32, shape);
  for (int64_t i = 0; i < t.NumElements(); ++i) {
    if (wide) {
      t.data<int64_t>()[i] = kNumbers[i % 12];
    } else {
      t.data<int32_t>()[i] = kNumbers[i % 12];
    }
  }
  return t;
}

TEST(GpuRowOpsTest, Scatters) {
  for (const char* op : {"Update", "Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    for (const DataType dtype :
         {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_INT64, DT_DOUBLE}) {
      if (dtype == DT_INT64 && op == std::string("Div")) continue;
      for (const bool wide : {false, true}) {
        for (const bool scalar : {false, true}) {
          OnBoth call(absl::StrCat("ResourceScatter", op));
          call.Attr("dtype", dtype).Variable(Numbers(dtype, {7, 5}, 1, -9, 9));
          call.Input(RowNumbers(wide, {2, 6}));
          call.Input(Numbers(
              dtype, scalar ? TensorShape() : TensorShape({2, 6, 5}), 2, 1, 3));
          call.ExpectEqual();
        }
      }
    }
  }
  OnBoth empty("ResourceScatterAdd");
  empty.Attr("dtype", DT_FLOAT).Variable(Numbers(DT_FLOAT, {7, 5}, 1));
  empty.Input(Ints<int32_t>({})).Input(Numbers(DT_FLOAT, {0, 5}, 2));
  empty.ExpectEqual();
  OnBoth shape("ResourceScatterAdd");
  shape.Attr("dtype", DT_FLOAT).Variable(Numbers(DT_FLOAT, {7, 5}, 1));
  shape.Input(RowNumbers(false, {2})).Input(Numbers(DT_FLOAT, {2, 4}, 2));
  shape.ExpectRefused(absl::StatusCode::kInvalidArgument,
                      "Must have updates.shape");
}

TEST(GpuRowOpsTest, AnIndexOutOfRangeWritesNothing) {
  OnBoth call("ResourceScatterAdd");
  call.Attr("dtype", DT_FLOAT).Variable(MakeTensor<float>({3}, {1, 2, 3}));
  call.Input(Ints<int32_t>({3, 1, -1, 1}));
  call.Input(MakeTensor<float>({4}, {10, 20, 30, 40}));
  std::vector<Tensor> results;
  ASSERT_NE(TestGpu(), nullptr);
  ASSERT_EQ(call.Run(TestGpu(), &results), OkStatus());
  ASSERT_EQ(results.size(), 1u);
  ExpectClose(results[0], MakeTensor<float>({3}, {1, 62, 3}));
}

TEST(GpuRowOpsTest, SparseOptimizers) {
  // Scalars before the gradient, and behind the indices.
  static const struct {
    const char* rule;
    int vars, before, behind;
  } kRules[] = {
      {"Momentum", 2, 1, 1},        {"KerasMomentum", 2, 1, 1},
      {"Adagrad", 2, 1, 0},         {"AdagradV2", 2, 2, 0},
      {"Adadelta", 3, 3, 0},        {"Ftrl", 3, 0, 4},
      {"FtrlV2", 3, 0, 5},          {"RMSProp", 3, 4, 0},
      {"CenteredRMSProp", 4, 4, 0},
  };
  int covered = 0;
#define HR_COUNT(RULE) ++covered;
  HR_GPU_SPARSE_OPTIMIZERS(HR_COUNT)
#undef HR_COUNT
  EXPECT_EQ(covered, static_cast<int>(std::size(kRules)));
  for (const auto& r : kRules) {
    for (const DataType dtype : {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_DOUBLE}) {
      for (const bool wide : {false, true}) {
        SCOPED_TRACE(r.rule);
        OnBoth call(absl::StrCat("ResourceSparseApply", r.rule));
        call.Attr("T", dtype);
        const bool centered = std::string(r.rule) == "CenteredRMSProp";
        for (int i = 0; i < r.vars; ++i) {
          call.Variable(Numbers(dtype, {7, 3, 2}, i, centered && i == 1 ? 0 : 1,
                                centered && i == 1 ? 0.1 : 2));
        }
        for (int i = 0; i < r.before; ++i) {
          call.Input(Numbers(dtype, {}, 10 + i, 0.1, 0.9));
        }
        call.Input(Numbers(dtype, {9, 3, 2}, 20));
        call.Input(RowNumbers(wide, {9}));
        for (int i = 0; i < r.behind; ++i) {
          call.Input(Numbers(dtype, {}, 30 + i, 0.1, 0.9));
        }
        call.ExpectEqual(1e-4);
      }
    }
  }
  OnBoth call("ResourceSparseApplyAdagrad");
  call.Attr("T", DT_FLOAT).Variable(Numbers(DT_FLOAT, {7, 3}, 1, 1, 2));
  call.Variable(Numbers(DT_FLOAT, {7, 3}, 2, 1, 2)).Input(MakeScalar(0.1f));
  call.Input(Numbers(DT_FLOAT, {2, 4}, 3)).Input(RowNumbers(false, {2}));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument,
                     "one row for each index");
}

TEST(GpuRowOpsTest, GatherNd) {
  for (const DataType dtype :
       {DT_FLOAT, DT_HALF, DT_INT64, DT_BOOL, DT_INT32}) {
    OnBoth rows("GatherNd");
    rows.Input(Numbers(dtype, {7, 5}, 1, -9, 9));
    rows.Input(RowNumbers(false, {2, 3, 1}));
    rows.ExpectEqual();
    OnBoth elements("GatherNd");
    elements.Input(Numbers(dtype, {7, 8, 7, 3}, 1, -9, 9));
    elements.Input(RowNumbers(true, {4, 3}));
    elements.ExpectEqual();
    OnBoth whole("GatherNd");
    whole.Input(Numbers(dtype, {7, 5}, 1, -9, 9));
    whole.Input(RowNumbers(true, {2, 0}));
    whole.ExpectEqual();
  }
  OnBoth deep("GatherNd");
  deep.Input(Numbers(DT_FLOAT, {7, 5}, 1)).Input(RowNumbers(false, {4, 3}));
  deep.ExpectRefused(absl::StatusCode::kInvalidArgument, "params rank");
  OnBoth empty("GatherNd");
  empty.Input(Numbers(DT_FLOAT, {0, 5}, 1)).Input(RowNumbers(false, {4, 1}));
  empty.ExpectRefused(absl::StatusCode::kInvalidArgument, "params is empty");
}

TEST(GpuRowOpsTest, ScatterNd) {
  for (const DataType dtype :
       {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_INT64, DT_DOUBLE}) {
    for (const bool wide : {false, true}) {
      const Tensor shape =
          wide ? Ints<int64_t>({7, 7, 3}) : Ints<int32_t>({7, 7, 3});
      OnBoth call("ScatterNd");
      call.Input(RowNumbers(wide, {2, 3, 2}));
      call.Input(Numbers(dtype, {2, 3, 3}, 1, -9, 9)).Input(shape);
      call.ExpectEqual();
      for (const char* op : {"Update", "Add", "Sub"}) {
        OnBoth tensor(absl::StrCat("TensorScatter", op));
        tensor.Input(Numbers(dtype, {7, 3}, 1, -9, 9));
        tensor.Input(RowNumbers(wide, {9, 1}));
        tensor.Input(Numbers(dtype, {9, 3}, 2, -9, 9));
        tensor.ExpectEqual();
      }
    }
  }
  OnBoth updates("ScatterNd");
  updates.Input(RowNumbers(false, {2, 1})).Input(Numbers(DT_FLOAT, {3}, 1));
  updates.Input(Ints<int32_t>({7}));
  updates.ExpectRefused(absl::StatusCode::kInvalidArgument,
                        "Must have updates.shape");
  OnBoth negative("ScatterNd");
  negative.Input(RowNumbers(false, {2, 1})).Input(Numbers(DT_FLOAT, {2}, 1));
  negative.Input(Ints<int32_t>({-7}));
  negative.ExpectRefused(absl::StatusCode::kInvalidArgument, "");
}

TEST(GpuRowOpsTest, TopK) {
  for (const DataType dtype :
       {DT_FLOAT, DT_HALF, DT_BFLOAT16, DT_INT64, DT_DOUBLE}) {
    for (const int k : {0, 1, 4, 37}) {
      OnBoth call("TopKV2");  // few values, so that many are equal
      call.Input(
          Numbers(dtype == DT_INT64 ? DT_INT64 : dtype, {3, 2, 37}, 1, -4, 4));
      call.Input(MakeScalar<int32_t>(k));
      call.ExpectEqual();
    }
  }
  OnBoth infinite("TopKV2");
  infinite.Input(MakeTensor<float>({5}, {1, INFINITY, -INFINITY, 0, 1}));
  infinite.Input(MakeScalar<int32_t>(5));
  infinite.ExpectEqual();
  OnBoth call("TopKV2");
  call.Input(Numbers(DT_FLOAT, {3}, 1)).Input(MakeScalar<int32_t>(4));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "at least k columns");
}

TEST(GpuRowOpsTest, Resizes) {
  static const struct {
    int64_t in_h, in_w, out_h, out_w;
  } kSizes[] = {{4, 5, 8, 10}, {4, 5, 7, 3}, {9, 7, 2, 3},  {1, 1, 3, 4},
                {5, 6, 1, 1},  {3, 3, 3, 3}, {2, 20, 13, 5}};
  for (const auto& s : kSizes) {
    for (const int mode : {0, 1, 2}) {
      for (const DataType dtype : kFloats) {
        SCOPED_TRACE(testing::Message()
                     << s.in_h << "x" << s.in_w << " to " << s.out_h << "x"
                     << s.out_w << ", mode " << mode);
        const bool align = mode == 1, half_pixel = mode == 2;
        const TensorShape in({2, s.in_h, s.in_w, 3});
        const TensorShape out({2, s.out_h, s.out_w, 3});
        const Tensor size = Ints<int32_t>(
            {static_cast<int32_t>(s.out_h), static_cast<int32_t>(s.out_w)});
        const Tensor original = Ints<int32_t>(
            {static_cast<int32_t>(s.in_h), static_cast<int32_t>(s.in_w)});
        for (const char* op : {"ResizeBilinear", "ResizeNearestNeighbor"}) {
          OnBoth call(op);
          call.Attr("align_corners", align);
          call.Attr("half_pixel_centers", half_pixel);
          call.Input(Numbers(dtype, in, 1)).Input(size);
          call.ExpectEqual();
        }
        OnBoth linear("ResizeBilinearGrad");
        linear.Attr("align_corners", align);
        linear.Attr("half_pixel_centers", half_pixel);
        linear.Input(Numbers(DT_FLOAT, out, 1)).Input(Numbers(dtype, in, 2));
        linear.ExpectEqual(1e-4);
        OnBoth nearest("ResizeNearestNeighborGrad");
        nearest.Attr("align_corners", align);
        nearest.Attr("half_pixel_centers", half_pixel);
        nearest.Input(Numbers(dtype, out, 1)).Input(original);
        nearest.ExpectEqual(1e-4);
      }
    }
  }
  OnBoth call("ResizeBilinear");
  call.Input(Numbers(DT_FLOAT, {1, 2, 2, 1}, 1)).Input(Ints<int32_t>({0, 3}));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "must be positive");
}

TEST(GpuRowOpsTest, Conv3D) {
  static const struct {
    std::vector<int64_t> in, filter;  // NDHWC; channels of a group
    int64_t stride, dilation;
    const char* padding;
    std::vector<int64_t> out;
  } kCases[] = {
      {{2, 5, 6, 7, 3}, {3, 3, 3, 3, 4}, 1, 1, "SAME", {2, 5, 6, 7, 4}},
      {{2, 5, 6, 7, 3}, {2, 3, 1, 3, 4}, 2, 1, "SAME", {2, 3, 3, 4, 4}},
      {{1, 6, 6, 7, 2}, {2, 2, 3, 2, 3}, 1, 2, "VALID", {1, 4, 4, 3, 3}},
      {{0, 5, 6, 7, 3}, {1, 1, 1, 3, 2}, 1, 1, "VALID", {0, 5, 6, 7, 2}},
  };
  for (const auto& c : kCases) {
    for (const DataType dtype : kFloats) {
      const auto with_attrs = [&](OnBoth* call) {
        call->Attr("strides",
                   std::vector<int64_t>{1, c.stride, c.stride, c.stride, 1});
        call->Attr("dilations", std::vector<int64_t>{1, c.dilation, c.dilation,
                                                     c.dilation, 1});
        call->Attr("padding", std::string(c.padding));
      };
      const auto shape = [](const std::vector<int64_t>& dims) {
        TensorShape s;
        for (const int64_t d : dims) s.AddDim(d);
        return s;
      };
      OnBoth forward("Conv3D");
      with_attrs(&forward);
      forward.Input(Numbers(dtype, shape(c.in), 1));
      forward.Input(Numbers(dtype, shape(c.filter), 2));
      forward.ExpectEqual(1e-4);
      OnBoth input("Conv3DBackpropInputV2");
      with_attrs(&input);
      input.Input(Ints<int64_t>(c.in));
      input.Input(Numbers(dtype, shape(c.filter), 2));
      input.Input(Numbers(dtype, shape(c.out), 3));
      input.ExpectEqual(1e-4);
      OnBoth filter("Conv3DBackpropFilterV2");
      with_attrs(&filter);
      filter.Input(Numbers(dtype, shape(c.in), 1));
      filter.Input(Ints<int32_t>(
          std::vector<int32_t>(c.filter.begin(), c.filter.end())));
      filter.Input(Numbers(dtype, shape(c.out), 3));
      filter.ExpectEqual(1e-3);
    }
  }
  OnBoth call("Conv3D");
  call.Attr("strides", std::vector<int64_t>{1, 1, 1, 1, 1});
  call.Attr("padding", std::string("SAME"));
  call.Input(Numbers(DT_FLOAT, {1, 2, 2, 2, 3}, 1));
  call.Input(Numbers(DT_FLOAT, {1, 1, 1, 2, 3}, 2));
  call.ExpectRefused(absl::StatusCode::kInvalidArgument, "");
}

}  // namespace
}  // namespace headrace::gpu
