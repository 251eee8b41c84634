// Cross: the cross product of vectors of three along the last axis.
#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

template <typename T>
class CrossOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor &a = ctx->input(0), &b = ctx->input(1);
    OP_REQUIRES(ctx, a.shape() == b.shape(),
                errors::InvalidArgument("Both inputs must be of same shape: ",
                                        a.shape().DebugString(), " vs. ",
                                        b.shape().DebugString()));
    OP_REQUIRES(ctx, a.dims() >= 1,
                errors::InvalidArgument("Input must be at least 1D, got shape ",
                                        a.shape().DebugString()));
    OP_REQUIRES(ctx, a.dim_size(a.dims() - 1) == 3,
                errors::FailedPrecondition(
                    "Cross-products are only defined for 3-element vectors, "
                    "got shape ",
                    a.shape().DebugString()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0, 1}, 0, a.shape(), &out));
    const T *p = a.data<T>(), *q = b.data<T>();
    T* r = out->data<T>();
    ctx->ParallelFor(a.NumElements() / 3, 3, [&](int64_t begin, int64_t end) {
      using C = ComputeType<T>;
      for (int64_t i = 3 * begin; i < 3 * end; i += 3) {
        const C u[3] = {C(p[i]), C(p[i + 1]), C(p[i + 2])};
        const C v[3] = {C(q[i]), C(q[i + 1]), C(q[i + 2])};
        for (int k = 0; k < 3; ++k) {
          const int l = (k + 1) % 3, m = (k + 2) % 3;
          r[i + k] =
              static_cast<T>(WrapSub(WrapMul(u[l], v[m]), WrapMul(u[m], v[l])));
        }
      }
    });
  }
};

#define HR_REGISTER(T)     \
  REGISTER_KERNEL_BUILDER( \
      Name("Cross").Device(DEVICE_CPU).TypeConstraint<T>("T"), CrossOp<T>);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
