// LowerBound and UpperBound: for each value the first position in its row of
// sorted_inputs whose element is not less (or is greater) than it.
#include <algorithm>
#include <limits>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

template <typename T, bool kUpper>
class BoundOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& sorted = ctx->input(0);
    const Tensor& values = ctx->input(1);
    OP_REQUIRES(ctx, sorted.dims() == 2,
                errors::InvalidArgument("sorted input argument must be a "
                                        "matrix, got shape ",
                                        sorted.shape().DebugString()));
    OP_REQUIRES(ctx, values.dims() == 2,
                errors::InvalidArgument("values must be a matrix, got shape ",
                                        values.shape().DebugString()));
    OP_REQUIRES(ctx, sorted.dim_size(0) == values.dim_size(0),
                errors::InvalidArgument("Leading dim_size of both tensors must "
                                        "match, got ",
                                        sorted.shape().DebugString(), " and ",
                                        values.shape().DebugString()));
    const int64_t n = sorted.dim_size(1), m = values.dim_size(1);
    OP_REQUIRES(
        ctx,
        output_type(0) == DT_INT64 || n <= std::numeric_limits<int32_t>::max(),
        errors::InvalidArgument("trailing dim_size must be less than "
                                "INT_MAX for int32 output type, was ",
                                n));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, values.shape(), &out));
    const T* s = sorted.data<T>();
    const T* v = values.data<T>();
    ctx->ParallelFor(values.NumElements(), 50, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = s + i / m * n;
        const T* at = kUpper ? std::upper_bound(row, row + n, v[i])
                             : std::lower_bound(row, row + n, v[i]);
        if (out->dtype() == DT_INT64) {
          out->data<int64_t>()[i] = at - row;
        } else {
          out->data<int32_t>()[i] = static_cast<int32_t>(at - row);
        }
      }
    });
  }
};
#define REGISTER(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("LowerBound").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      BoundOp<T, false>);                                           \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("UpperBound").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      BoundOp<T, true>);
HR_CALL_REAL_NUMBER_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
