// NthElement: the n-th smallest of each row (last axis), the n-th largest with
// reverse; the result has one dimension fewer. NaN ranks above every number.
#include <algorithm>
#include <cstdint>

#include "headrace/op_kernel.h"
#include "kernels/nn/block_scratch.h"
#include "kernels/nn/total_order.h"

namespace headrace {
namespace {

template <typename T>
class NthElementOp : public OpKernel {
 public:
  explicit NthElementOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reverse", &reverse_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& input = ctx->input(0);
    const Tensor& which = ctx->input(1);
    OP_REQUIRES(ctx, which.dims() == 0,
                errors::InvalidArgument("N must be scalar, got shape ",
                                        which.shape().DebugString()));
    int64_t n = which.data<int32_t>()[0];
    OP_REQUIRES(ctx, n >= 0,
                errors::InvalidArgument("n must be non-negative but is ", n));
    OP_REQUIRES(ctx, input.dims() >= 1,
                errors::InvalidArgument("Input must be >= 1-D, got shape ",
                                        input.shape().DebugString()));
    const int64_t size = input.dim_size(input.dims() - 1);
    OP_REQUIRES(ctx, size > n,
                errors::InvalidArgument("Input must have at least n+1 columns; "
                                        "got ",
                                        size, " columns and n = ", n));
    if (reverse_) n = size - n - 1;
    TensorShape shape = input.shape();
    shape.RemoveLastDims(1);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &output));
    const T* x = input.data<T>();
    T* y = output->data<T>();
    const double cost = 10.0 * static_cast<double>(size);
    BlockScratch<T> scratch;
    OP_REQUIRES_OK(ctx,
                   scratch.Allocate(ctx, output->NumElements(), cost, size));
    ctx->ParallelFor(output->NumElements(), cost,
                     [&, x, y, n, size](int64_t begin, int64_t end) {
                       T* row = scratch.For(begin);
                       for (int64_t r = begin; r < end; ++r) {
                         std::copy(x + r * size, x + (r + 1) * size, row);
                         std::nth_element(row, row + n, row + size,
                                          [](const T& a, const T& b) {
                                            return TotalGreater(b, a);
                                          });
                         y[r] = row[n];
                       }
                     });
  }

 private:
  bool reverse_ = false;
};

#define REGISTER_NTH_ELEMENT(T)                                     \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("NthElement").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      NthElementOp<T>);
HR_CALL_REAL_NUMBER_TYPES(REGISTER_NTH_ELEMENT)
#undef REGISTER_NTH_ELEMENT

}  // namespace
}  // namespace headrace
