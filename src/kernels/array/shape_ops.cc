// Shape, ShapeN, Rank and Size: what a tensor's shape says, as tensors. A dim
// that does not fit into int32 where out_type is int32 is an error, not a
// truncation.
#include <limits>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

Status StoreDim(int64_t value, int64_t at, Tensor* out) {
  if (out->dtype() == DT_INT64) {
    out->data<int64_t>()[at] = value;
    return OkStatus();
  }
  if (value > std::numeric_limits<int32_t>::max()) {
    return errors::InvalidArgument(value,
                                   " does not fit into out_type int32; "
                                   "use out_type=int64");
  }
  out->data<int32_t>()[at] = static_cast<int32_t>(value);
  return OkStatus();
}

class ShapeOp : public OpKernel {
 public:
  explicit ShapeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      const TensorShape& shape = ctx->input(i).shape();
      Tensor* out = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, {shape.dims()}, &out));
      for (int d = 0; d < shape.dims(); ++d) {
        OP_REQUIRES_OK(ctx, StoreDim(shape.dim_size(d), d, out));
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("Shape").Device(DEVICE_CPU), ShapeOp);
REGISTER_KERNEL_BUILDER(Name("ShapeN").Device(DEVICE_CPU), ShapeOp);

class RankOp : public OpKernel {
 public:
  explicit RankOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, Tensor::Scalar<int32_t>(ctx->input(0).dims()));
  }
};
REGISTER_KERNEL_BUILDER(Name("Rank").Device(DEVICE_CPU), RankOp);

class SizeOp : public OpKernel {
 public:
  explicit SizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {}, &out));
    OP_REQUIRES_OK(ctx, StoreDim(ctx->input(0).NumElements(), 0, out));
  }
};
REGISTER_KERNEL_BUILDER(Name("Size").Device(DEVICE_CPU), SizeOp);

}  // namespace
}  // namespace headrace
