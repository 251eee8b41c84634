// UnravelIndex: flat positions as coordinates in an array of the given dims,
// the first coordinate of all positions first.
#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

template <typename T>
class UnravelIndexOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& indices = ctx->input(0);
    OP_REQUIRES(
        ctx, indices.dims() <= 1,
        errors::InvalidArgument("The indices can only be scalar or 1-D, "
                                "got shape ",
                                indices.shape().DebugString()));
    DimVector dims;
    OP_REQUIRES_OK(ctx, ReadIntegerVector(ctx->input(1), "dims", &dims));
    int64_t size = 1;
    for (int64_t d : dims) {
      OP_REQUIRES(
          ctx, d > 0,
          errors::InvalidArgument("Input dims must be positive, got ", d));
      size = MultiplyWithoutOverflow(size, d);
      OP_REQUIRES(ctx, size > 0,
                  errors::InvalidArgument("The product of dims overflows"));
    }
    const int64_t n = static_cast<int64_t>(dims.size());
    const int64_t m = indices.NumElements();
    TensorShape shape({n});
    shape.AppendShape(indices.shape());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    const T* in = indices.data<T>();
    T* to = out->data<T>();
    for (int64_t i = 0; i < m; ++i) {
      OP_REQUIRES(ctx, 0 <= in[i] && in[i] < size,
                  errors::InvalidArgument("index ", in[i],
                                          " is out of bound as with dims of ",
                                          size, " elements"));
      int64_t rest = in[i];
      for (int64_t d = n - 1; d >= 0; --d) {
        to[d * m + i] = static_cast<T>(rest % dims[d]);
        rest /= dims[d];
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("UnravelIndex").Device(DEVICE_CPU).TypeConstraint<int32_t>("Tidx"),
    UnravelIndexOp<int32_t>);
REGISTER_KERNEL_BUILDER(
    Name("UnravelIndex").Device(DEVICE_CPU).TypeConstraint<int64_t>("Tidx"),
    UnravelIndexOp<int64_t>);

}  // namespace
}  // namespace headrace
