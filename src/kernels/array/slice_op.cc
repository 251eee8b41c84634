// Slice and StridedSlice with its gradient and assignments. Slice neither
// clamps nor counts from the end; StridedSlice does both, as Python does, and
// framework/shape_fns/strided_slice.h says what each mask means.
#include "framework/shape_fns/strided_slice.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

// True if the box [begin, begin + size) of `shape` is a run of the memory: full
// in all dims after the first that is not of size 1.
bool IsRun(const TensorShape& shape, absl::Span<const int64_t> size) {
  int i = 0;
  while (i < shape.dims() && size[i] == 1) ++i;
  for (++i; i < shape.dims(); ++i) {
    if (size[i] != shape.dim_size(i)) return false;
  }
  return true;
}

class SliceOp : public OpKernel {
 public:
  explicit SliceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int rank = in.dims();
    DimVector begin, size;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "begin", &begin));
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(2), "size", &size));
    OP_REQUIRES(
        ctx,
        static_cast<int>(begin.size()) == rank &&
            static_cast<int>(size.size()) == rank,
        errors::InvalidArgument(
            "Expected begin and size arguments to be 1-D tensors of "
            "size ",
            rank, ", but got shapes ", ctx->input(1).shape().DebugString(),
            " and ", ctx->input(2).shape().DebugString(), " instead."));
    TensorShape shape;
    for (int i = 0; i < rank; ++i) {
      const int64_t dim = in.dim_size(i);
      OP_REQUIRES(ctx, 0 <= begin[i] && begin[i] <= dim,
                  errors::InvalidArgument("Expected begin[", i, "] in [0, ",
                                          dim, "], but got ", begin[i]));
      if (size[i] == -1) size[i] = dim - begin[i];
      OP_REQUIRES(
          ctx, 0 <= size[i] && size[i] <= dim - begin[i],
          errors::InvalidArgument("Expected size[", i, "] in [0, ",
                                  dim - begin[i], "], but got ", size[i]));
      shape.AddDim(size[i]);
    }
    const DimVector strides = RowMajorStrides(in.shape().dim_sizes());
    int64_t at = 0;
    if (shape.num_elements() > 0) {
      for (int i = 0; i < rank; ++i) at += begin[i] * strides[i];
    }
    if (shape.num_elements() == in.NumElements() || IsRun(in.shape(), size)) {
      SetOutputRun(ctx, 0, in, at, shape);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const DimVector out_strides = RowMajorStrides(shape.dim_sizes());
    BoxCopy copy;
    for (int i = 0; i < rank; ++i) {
      copy.AddDim(size[i], strides[i], out_strides[i]);
    }
    copy.Run(ctx, in, at, out, 0);
  }
};
REGISTER_KERNEL_BUILDER(Name("Slice").Device(DEVICE_CPU), SliceOp);

// Reads the spec from inputs first, first + 1 and first + 2.
Status PlanFromInputs(OpKernelContext* ctx, const TensorShape& shape, int first,
                      const StridedSliceMasks& masks, StridedSlicePlan* plan) {
  DimVector begin, end, strides;
  HR_RETURN_IF_ERROR(ReadIntegerVector(ctx->input(first), "begin", &begin));
  HR_RETURN_IF_ERROR(ReadIntegerVector(ctx->input(first + 1), "end", &end));
  HR_RETURN_IF_ERROR(
      ReadIntegerVector(ctx->input(first + 2), "strides", &strides));
  if (begin.size() != strides.size() || end.size() != strides.size()) {
    return errors::InvalidArgument(
        "Expected begin, end, and strides to be 1D equal size tensors, but got "
        "shapes ",
        ctx->input(first).shape().DebugString(), ", ",
        ctx->input(first + 1).shape().DebugString(), ", and ",
        ctx->input(first + 2).shape().DebugString(), " instead.");
  }
  const absl::Span<const int64_t> begin_span(begin), end_span(end);
  return PlanStridedSlice(shape, &begin_span, &end_span, strides, masks, plan);
}

// A loop over the sliced part of a tensor of `shape`, whose first element is
// *at, beside a dense tensor of the sliced sizes.
struct SlicedLoop {
  SlicedLoop(const TensorShape& shape, const StridedSlicePlan& plan) {
    const DimVector whole = RowMajorStrides(shape.dim_sizes());
    const DimVector dense = RowMajorStrides(plan.size);
    bool empty = false;
    for (int i = 0; i < shape.dims(); ++i) empty |= plan.size[i] == 0;
    for (int i = 0; i < shape.dims() && !empty; ++i) {
      at += plan.begin[i] * whole[i];
      // Of one index alone the stride may be anything.
      const int64_t step = plan.size[i] == 1 ? 0 : whole[i] * plan.stride[i];
      dims.push_back({plan.size[i], step, dense[i]});
    }
    if (empty) dims.push_back({0, 0, 0});
  }
  struct Dim {
    int64_t n, whole, dense;
  };
  int64_t at = 0;
  absl::InlinedVector<Dim, 6> dims;
};

class StridedSliceOp : public OpKernel {
 public:
  explicit StridedSliceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, masks_.FromAttrs(ctx->def().attrs));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    StridedSlicePlan plan;
    OP_REQUIRES_OK(ctx, PlanFromInputs(ctx, in.shape(), 1, masks_, &plan));
    TensorShape shape;
    OP_REQUIRES(ctx, plan.shape.AsTensorShape(&shape),
                errors::InvalidArgument("StridedSlice: invalid shape ",
                                        plan.shape.DebugString()));
    const SlicedLoop loop(in.shape(), plan);
    bool dense = true;
    for (int i = 0; i < in.dims(); ++i) {
      dense &= plan.stride[i] == 1 || plan.size[i] <= 1;
    }
    if (shape.num_elements() > 0 && dense && IsRun(in.shape(), plan.size)) {
      SetOutputRun(ctx, 0, in, loop.at, shape);
      return;
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    BoxCopy copy;
    for (const auto& d : loop.dims) copy.AddDim(d.n, d.whole, d.dense);
    copy.Run(ctx, in, loop.at, out, 0);
  }

 private:
  StridedSliceMasks masks_;
};
REGISTER_KERNEL_BUILDER(Name("StridedSlice").Device(DEVICE_CPU),
                        StridedSliceOp);

class StridedSliceGradOp : public OpKernel {
 public:
  explicit StridedSliceGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, masks_.FromAttrs(ctx->def().attrs));
  }
  void Compute(OpKernelContext* ctx) override {
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(0), "shape", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    StridedSlicePlan plan;
    OP_REQUIRES_OK(ctx, PlanFromInputs(ctx, shape, 1, masks_, &plan));
    const Tensor& dy = ctx->input(4);
    OP_REQUIRES(
        ctx, plan.shape.IsCompatibleWith(dy.shape()),
        errors::InvalidArgument("shape of dy was ", dy.shape().DebugString(),
                                " instead of ", plan.shape.DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    ZeroElements(out);
    const SlicedLoop loop(shape, plan);
    BoxCopy copy;
    for (const auto& d : loop.dims) copy.AddDim(d.n, d.dense, d.whole);
    copy.Run(ctx, dy, 0, out, loop.at);
  }

 private:
  StridedSliceMasks masks_;
};
REGISTER_KERNEL_BUILDER(Name("StridedSliceGrad").Device(DEVICE_CPU),
                        StridedSliceGradOp);

// A slice takes a value of its shape, or a scalar; an empty one, any. The code
// is TensorFlow's.
Status CheckAssigned(const StridedSlicePlan& plan, const Tensor& value) {
  TensorShape slice;
  if (plan.shape.AsTensorShape(&slice) &&
      (slice.num_elements() == 0 || value.dims() == 0 ||
       value.shape() == slice)) {
    return OkStatus();
  }
  return errors::Unimplemented(
      "sliced l-value shape ", plan.shape.DebugString(),
      " does not match r-value shape ", value.shape().DebugString(),
      ". Automatic broadcasting not yet implemented.");
}

class StridedSliceAssignOp : public OpKernel {
 public:
  explicit StridedSliceAssignOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, masks_.FromAttrs(ctx->def().attrs));
  }
  void Compute(OpKernelContext* ctx) override {
    {
      VariableWriter writer;
      OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, ctx->input(4).dtype()));
      OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
      Tensor* var = writer.tensor(0);
      StridedSlicePlan plan;
      OP_REQUIRES_OK(ctx, PlanFromInputs(ctx, var->shape(), 1, masks_, &plan));
      Tensor value = ctx->input(4);
      if (value.SharesBufferWith(*var)) {  // x[1:].assign(x[:-1])
        OP_REQUIRES_OK(ctx, Tensor(value).DeepCopyTo(&value));
      }
      OP_REQUIRES_OK(ctx, CheckAssigned(plan, value));
      const SlicedLoop loop(var->shape(), plan);
      BoxCopy copy;
      // Nothing is read for an empty slice, whatever shape the value has.
      for (const auto& d : loop.dims) {
        // A scalar is what every element becomes.
        copy.AddDim(d.n, value.dims() == 0 ? 0 : d.dense, d.whole);
      }
      copy.Run(ctx, value, 0, var, loop.at);
    }
    if (ctx->num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  StridedSliceMasks masks_;
};
REGISTER_KERNEL_BUILDER(Name("StridedSliceAssign").Device(DEVICE_CPU),
                        StridedSliceAssignOp);
REGISTER_KERNEL_BUILDER(Name("ResourceStridedSliceAssign").Device(DEVICE_CPU),
                        StridedSliceAssignOp);

// As an assignment, into a copy of the input.
class TensorStridedSliceUpdateOp : public OpKernel {
 public:
  explicit TensorStridedSliceUpdateOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, masks_.FromAttrs(ctx->def().attrs));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const Tensor& value = ctx->input(4);
    StridedSlicePlan plan;
    OP_REQUIRES_OK(ctx, PlanFromInputs(ctx, in.shape(), 1, masks_, &plan));
    OP_REQUIRES_OK(ctx, CheckAssigned(plan, value));
    Tensor* out = nullptr;
    int forwarded = -1;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, in.shape(), &out, &forwarded));
    if (forwarded < 0) CopyElements(in, 0, out, 0, in.NumElements());
    const SlicedLoop loop(out->shape(), plan);
    BoxCopy copy;
    for (const auto& d : loop.dims) {
      copy.AddDim(d.n, value.dims() == 0 ? 0 : d.dense, d.whole);
    }
    copy.Run(ctx, value, 0, out, loop.at);
  }

 private:
  StridedSliceMasks masks_;
};
REGISTER_KERNEL_BUILDER(Name("TensorStridedSliceUpdate").Device(DEVICE_CPU),
                        TensorStridedSliceUpdateOp);

}  // namespace
}  // namespace headrace
