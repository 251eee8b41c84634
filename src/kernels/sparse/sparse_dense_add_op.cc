// SparseTensorDenseAdd: b plus the sparse a, of the same shape; entries may be
// repeated, then all of them count.
#include "kernels/lib/elementwise.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

template <typename T>
class SparseTensorDenseAddOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& b = ctx->input(3);
    Tensor indices, shape;
    OP_REQUIRES_OK(ctx, AsInt64(ctx, ctx->input(0), &indices));
    OP_REQUIRES_OK(ctx, AsInt64(ctx, ctx->input(2), &shape));
    SparseView a;
    OP_REQUIRES_OK(ctx, ReadSparse(indices, ctx->input(1), shape, "a", &a));
    OP_REQUIRES(
        ctx, absl::MakeConstSpan(a.dims) == b.shape().dim_sizes(),
        errors::InvalidArgument("SparseTensorDenseAdd: a has shape ",
                                IndexString(a.dims.data(), a.rank),
                                ", b has shape ", b.shape().DebugString(),
                                "; they must be equal, nothing is broadcast"));
    OP_REQUIRES_OK(ctx, CheckBounds(a, "a"));
    Tensor* out = nullptr;
    int forwarded = -1;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {3}, 0, b.shape(), &out, &forwarded));
    if (forwarded < 0) CopyElements(b, 0, out, 0, b.NumElements());
    const T* x = a.values.data<T>();
    T* y = out->data<T>();
    for (int64_t i = 0; i < a.n; ++i) {
      int64_t at = 0;
      for (int d = 0; d < a.rank; ++d) at = at * a.dims[d] + a.at(i, d);
      y[at] = WrapAdd(y[at], x[i]);
    }
  }
};
#define HR_REGISTER(T)                                                        \
  REGISTER_KERNEL_BUILDER(                                                    \
      Name("SparseTensorDenseAdd").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseTensorDenseAddOp<T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
