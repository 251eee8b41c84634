// CompareAndBitpack: eight comparisons "input > threshold" make a byte, the
// first one its highest bit. A bool counts as 0 or 1.
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

template <typename T>
class CompareAndBitpackOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &threshold = ctx->input(1);
    OP_REQUIRES(ctx, threshold.dims() == 0,
                errors::InvalidArgument("Compare must be a scalar, but saw "
                                        "shape: ",
                                        threshold.shape().DebugString()));
    OP_REQUIRES(ctx, in.dims() >= 1,
                errors::InvalidArgument(
                    "Input should be at least a vector, but saw a scalar."));
    const int last = in.dims() - 1;
    OP_REQUIRES(ctx, in.dim_size(last) % 8 == 0,
                errors::InvalidArgument(
                    "Inner dimension of input should be divisible by 8, but "
                    "saw shape: ",
                    in.shape().DebugString()));
    TensorShape shape = in.shape();
    shape.set_dim(last, in.dim_size(last) / 8);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const T limit = threshold.scalar<T>();
    const T* x = in.data<T>();
    ctx->ParallelFor(out->NumElements(), 4.0, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        unsigned bits = 0;
        for (int k = 0; k < 8; ++k) bits = bits << 1 | (x[8 * i + k] > limit);
        out->data<uint8_t>()[i] = static_cast<uint8_t>(bits);
      }
    });
  }
};

#define HR_REGISTER(T)                                                     \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("CompareAndBitpack").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CompareAndBitpackOp<T>);
HR_CALL_SIGNED_INT_TYPES(HR_REGISTER)
HR_REGISTER(half)
HR_REGISTER(float)
HR_REGISTER(double)
HR_REGISTER(bool)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
