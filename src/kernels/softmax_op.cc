// Softmax y = exp(x - max) / sum exp(x - max) and LogSoftmax
// y = x - max - log(sum exp(x - max)), along the last axis.
//
// Subtracting the maximum keeps exp from overflowing and changes nothing else.
// A row that is all -inf, or that contains +inf or NaN, becomes NaN: inf - inf
// is NaN, and no case of its own is wanted. Zero classes give an empty result.

// Floating-point exceptions are not looked at: both sides of a conditional may
// be computed, which lets its loop become vector code. Before all includes, so
// that what they define inline has it too.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
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

  // Rows are taken a block at a time, so that exp runs over long stretches
  // however few the classes are.
  static constexpr int64_t kBlockElements = 2048;

  static void Rows(const T* x, T* y, int64_t n, int64_t begin, int64_t end) {
    const int64_t block = std::max<int64_t>(1, kBlockElements / n);
    constexpr bool kDirect = std::is_same_v<T, C>;
    // x - max and its exponential; the output itself holds what it can.
    std::vector<C> shifted(kDirect ? 0 : block * n);
    std::vector<C> exps(kLog ? block * n : 0);
    RunSimd([&] {
      for (int64_t r = begin; r < end; r += block) {
        const int64_t rows = std::min(block, end - r);
        const T* from = x + r * n;
        T* to = y + r * n;
        C* s;
        if constexpr (kDirect) {
          s = to;
        } else {
          s = shifted.data();
        }
        for (int64_t k = 0; k < rows; ++k) {
          const T* row = from + k * n;
          C* out = s + k * n;
          const C max = row_math::Max<C>(row, n);
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) out[i] = static_cast<C>(row[i]) - max;
        }
        C* e = kLog ? exps.data() : s;
#pragma GCC ivdep
        for (int64_t i = 0; i < rows * n; ++i) e[i] = vec::Exp(s[i]);
        for (int64_t k = 0; k < rows; ++k) {
          const C* row = e + k * n;
          C* out = s + k * n;
          const C sum =
              row_math::SumOf<C>(n, [row](int64_t i) { return row[i]; });
          if constexpr (kLog) {
            const C shift = std::log(sum);
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) out[i] -= shift;
          } else {
            const C scale = C(1) / sum;
#pragma GCC ivdep
            for (int64_t i = 0; i < n; ++i) out[i] *= scale;
          }
        }
        if constexpr (!kDirect) {
          for (int64_t i = 0; i < rows * n; ++i) to[i] = static_cast<T>(s[i]);
        }
      }
    });
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
