// Softmax y = exp(x - max) / sum exp(x - max) and LogSoftmax
// y = x - max - log(sum exp(x - max)), along the last axis.
//
// Subtracting the maximum keeps exp from overflowing and changes nothing else.
// A row that is all -inf, or that contains +inf or NaN, becomes NaN: inf - inf
// is NaN, and no case of its own is wanted. Zero classes give an empty result.
#include <cmath>
#include <cstdint>
#include <vector>

#include "framework/op_kernel.h"
#include "kernels/nn_math.h"
#include "kernels/row_math.h"
#include "kernels/simd.h"

namespace headrace {
namespace {

template <typename T, bool kLog>
class SoftmaxOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& logits = ctx->input(0);
    OP_REQUIRES(ctx, logits.dims() >= 1,
                errors::InvalidArgument("logits must have >= 1 dimension, got ",
                                        logits.shape().DebugString()));
    const int64_t classes = logits.dim_size(logits.dims() - 1);
    const T* x = logits.data<T>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, logits.shape(), &output));
    if (output->NumElements() == 0) return;
    T* y = output->data<T>();
    const int64_t rows = output->NumElements() / classes;
    ctx->ParallelFor(rows, 1.5 * static_cast<double>(classes),
                     [x, y, classes](int64_t begin, int64_t end) {
                       Rows(x, y, classes, begin, end);
                     });
  }

 private:
  using C = ComputeType<T>;

  static void Rows(const T* x, T* y, int64_t classes, int64_t begin,
                   int64_t end) {
    if constexpr (std::is_same_v<T, C>) {
      RunSimd([=] {
        for (int64_t r = begin; r < end; ++r) {
          Row(x + r * classes, y + r * classes, classes);
        }
      });
    } else {
      std::vector<C> row(classes);
      for (int64_t r = begin; r < end; ++r) {
        const T* in = x + r * classes;
        T* out = y + r * classes;
        for (int64_t i = 0; i < classes; ++i) row[i] = static_cast<C>(in[i]);
        Row(row.data(), row.data(), classes);
        for (int64_t i = 0; i < classes; ++i) out[i] = static_cast<T>(row[i]);
      }
    }
  }

  // In place is fine.
  static inline void Row(const C* x, C* y, int64_t n) {
    const C max = row_math::Max(x, n);
    if constexpr (kLog) {
      const C shift = std::log(row_math::SumExp(x, n, max));
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - max) - shift;
    } else {
      const C sum = row_math::ExpAndSum(x, n, max, y);
      const C scale = C(1) / sum;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) y[i] *= scale;
    }
  }
};

#define REGISTER_SOFTMAX(T)                                         \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("Softmax").Device(DEVICE_CPU).TypeConstraint<T>("T"),    \
      SoftmaxOp<T, false>);                                         \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("LogSoftmax").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SoftmaxOp<T, true>);
HR_CALL_FLOAT_TYPES(REGISTER_SOFTMAX)

}  // namespace
}  // namespace headrace
