// Fill, ZerosLike and OnesLike.
#include <algorithm>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"
#include "kernels/lib/variant_math.h"

namespace headrace {
namespace {

// Every element becomes that of `value`, on all threads.
void FillAll(OpKernelContext* ctx, const Tensor& value, Tensor* out) {
  const double cost = 0.1 * DataTypeObjectSize(out->dtype());
  ctx->ParallelFor(out->NumElements(), cost, [&](int64_t begin, int64_t end) {
    FillElements(value, out, begin, end - begin);
  });
}

class FillOp : public OpKernel {
 public:
  explicit FillOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& dims_in = ctx->input(0);
    const Tensor& value = ctx->input(1);
    // Old graphs write a scalar where a vector of one dim is meant.
    OP_REQUIRES(ctx, dims_in.dims() <= 1,
                errors::InvalidArgument("dims must represent a vector, got "
                                        "shape ",
                                        dims_in.shape().DebugString()));
    OP_REQUIRES(ctx, value.NumElements() == 1 && value.dims() <= 1,
                errors::InvalidArgument("value must represent a scalar, got "
                                        "shape ",
                                        value.shape().DebugString()));
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegers(dims_in, "dims", &dims));
    TensorShape shape;
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    FillAll(ctx, value, out);
  }
};
REGISTER_KERNEL_BUILDER(Name("Fill").Device(DEVICE_CPU), FillOp);

class ZerosLikeOp : public OpKernel {
 public:
  explicit ZerosLikeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    if (DataTypeCanUseMemcpy(in.dtype())) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(
          ctx, ctx->forward_input_or_allocate_output({0}, 0, in.shape(), &out));
      ZeroElements(out);
    } else {
      Tensor out;
      OP_REQUIRES_OK(ctx, ZerosLikeTensor(in, 0, &out));
      ctx->set_output(0, std::move(out));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("ZerosLike").Device(DEVICE_CPU), ZerosLikeOp);

template <typename T>
class OnesLikeOp : public OpKernel {
 public:
  explicit OnesLikeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, ctx->input(0).shape(), &out));
    FillAll(ctx, Tensor::Scalar<T>(T(1)), out);
  }
};
#define REGISTER(T)                                               \
  REGISTER_KERNEL_BUILDER(                                        \
      Name("OnesLike").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      OnesLikeOp<T>);
HR_CALL_POD_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
