// SparseSoftmax: over the last dim, among the entries that there are. Entries
// of one row of that dim follow each other.
#include <algorithm>
#include <cmath>

#include "kernels/lib/narrow_float.h"
#include "kernels/lib/sparse_tensor.h"

namespace headrace {
namespace {

template <typename T>
class SparseSoftmaxOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    using C = ComputeType<T>;
    SparseView s;
    OP_REQUIRES_OK(ctx, ReadSparseInputs(*ctx, 0, "sp", &s));
    OP_REQUIRES(ctx, s.rank >= 2,
                errors::InvalidArgument(
                    "Input should have rank >= 2, but got: ", s.rank));
    OP_REQUIRES_OK(ctx, CheckBounds(s, "sp"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {s.n}, &out));
    const T* x = s.values.data<T>();
    T* y = out->data<T>();
    std::vector<C> exps;
    for (int64_t begin = 0, end; begin < s.n; begin = end) {
      end = begin + 1;
      while (end < s.n &&
             CompareIndices(s.row(begin), s.row(end), s.rank - 1) == 0) {
        ++end;
      }
      C max = static_cast<C>(x[begin]);
      for (int64_t i = begin; i < end; ++i) {
        max = std::max(max, static_cast<C>(x[i]));
      }
      exps.clear();
      C sum = 0;
      for (int64_t i = begin; i < end; ++i) {
        exps.push_back(std::exp(static_cast<C>(x[i]) - max));
        sum += exps.back();
      }
      for (int64_t i = begin; i < end; ++i) {
        y[i] = static_cast<T>(exps[i - begin] / sum);
      }
    }
  }
};
#define HR_REGISTER(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                             \
      Name("SparseSoftmax").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SparseSoftmaxOp<T>);
HR_REGISTER(half)
HR_REGISTER(float)
HR_REGISTER(double)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
