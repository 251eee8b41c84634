// Softmax y = exp(x - max) / sum exp(x - max) and LogSoftmax y = x - max -
// log(sum exp(x - max)), along the last axis.
//
// Subtracting the maximum prevents overflow of exp and changes nothing else. A
// row that is all -inf, or that contains +inf or NaN, becomes NaN because inf -
// inf is NaN; this needs no special case. Zero classes give an empty result.

// Floating-point exceptions are ignored. The compiler may then compute both
// sides of a conditional, which lets its loop become vector code. exp uses
// fused multiply-add if the processor has it. The pragma is before all
// includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math", "fp-contract=fast")

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "headrace/op_kernel.h"
#include "kernels/lib/nn_math.h"
#include "kernels/lib/simd_width.h"
#include "kernels/nn/row_math.h"
#include "kernels/nn/wide_tensor.h"

namespace headrace {
namespace {

// Rows of type C, float or double.
template <typename C, bool kLog>
class SoftmaxRows {
 public:
  // Rows [begin, end) of n numbers. y may be x.
  static void Run(const C* x, C* y, int64_t n, int64_t begin, int64_t end) {
    RunSimdWide([=](auto bytes) {
      if constexpr (std::is_same_v<C, float> && bytes() == kRowBytes) {
        if (n <= kRowLanes) {
          FewClasses(x, y, n, begin, end);
          return;
        }
      }
      constexpr bool kInPlace = !kLog;
      if constexpr (kInPlace) {
        if (n >= kLongRow) {
          for (int64_t r = begin; r < end; ++r) {
            LongRowInPlace(x + r * n, y + r * n, n);
          }
          return;
        }
      } else if (n > kBlockElements) {
        for (int64_t r = begin; r < end; ++r) LongRow(x + r * n, y + r * n, n);
        return;
      }
      // x - max and its exponential, unless the output itself holds them.
      C shifted[kInPlace ? 1 : kBlockElements];
      C exps[kInPlace ? 1 : kBlockElements];
      const int64_t block = std::max<int64_t>(1, kBlockElements / n);
      for (int64_t r = begin; r < end; r += block) {
        const int64_t rows = std::min(block, end - r);
        const C* from = x + r * n;
        C* to = y + r * n;
        C *s = shifted, *e = exps;
        if constexpr (kInPlace) s = e = to;
        for (int64_t k = 0; k < rows; ++k) {
          const C* row = from + k * n;
          C* out = s + k * n;
          const C max = row_math::Max<C>(row, n);
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) out[i] = row[i] - max;
        }
#pragma GCC ivdep
        for (int64_t i = 0; i < rows * n; ++i) e[i] = vec::Exp(s[i]);
        for (int64_t k = 0; k < rows; ++k) {
          const C* row = e + k * n;
          const C* shifted_row = s + k * n;
          C* out = to + k * n;
          const C sum = row_math::Sum(row, n);
          const C log_sum = kLog ? std::log(sum) : C(0);
          const C scale = C(1) / sum;
#pragma GCC ivdep
          for (int64_t i = 0; i < n; ++i) {
            out[i] = kLog ? shifted_row[i] - log_sum : row[i] * scale;
          }
        }
      }
    });
  }

 private:
  // Rows are taken a block at a time, so that exp runs over long stretches
  // however few the classes are. A row that is longer than a block is one.
  static constexpr int64_t kBlockElements = 2048;
  // From so many classes on a row is a long stretch by itself.
  static constexpr int64_t kLongRow = 256;

  // Lane l of `out` is v's lane l ^ k.
  template <int k, typename V>
  static inline void Swap(const V& v, V* out) {
    *out = __builtin_shufflevector(v, v, 0 ^ k, 1 ^ k, 2 ^ k, 3 ^ k, 4 ^ k,
                                   5 ^ k, 6 ^ k, 7 ^ k, 8 ^ k, 9 ^ k, 10 ^ k,
                                   11 ^ k, 12 ^ k, 13 ^ k, 14 ^ k, 15 ^ k);
  }

  template <typename F>
  static inline void ForHalves(const F& f) {
    f(std::integral_constant<int, 8>());
    f(std::integral_constant<int, 4>());
    f(std::integral_constant<int, 2>());
    f(std::integral_constant<int, 1>());
  }

  // A vector of AVX-512.
  static constexpr int kRowBytes = 64;
  static constexpr int kRowLanes = kRowBytes / sizeof(float);

  // A row is one vector; its lanes from n on hold what changes nothing. Vectors
  // overlap, so they go through blocks of scratch.
  static inline void FewClasses(const C* x, C* y, int64_t n, int64_t begin,
                                int64_t end) {
    constexpr int kLanes = kRowLanes;
    typedef C V __attribute__((vector_size(kRowBytes)));
    using I = decltype(V() < V());
    I index;
    for (int l = 0; l < kLanes; ++l) index[l] = l;
    const I used = index < static_cast<int>(n);
    const V none = V{} - std::numeric_limits<C>::infinity();
    C in[kBlockElements + kLanes], shifted[kBlockElements + kLanes],
        out[kBlockElements + kLanes];
    const int64_t block = kBlockElements / n;
    for (int64_t r = begin; r < end; r += block) {
      const int64_t rows = std::min(block, end - r);
      std::memcpy(in, x + r * n, rows * n * sizeof(C));
      std::fill_n(in + rows * n, kLanes, C(0));
      for (int64_t k = 0; k < rows; ++k) {
        V v, max;
        std::memcpy(&v, in + k * n, sizeof(v));
        max = used ? v : none;
        const auto fold_max = [&max]<int k>(std::integral_constant<int, k>) {
          V other;
          Swap<k>(max, &other);
          max = other > max ? other : max;
        };
        ForHalves(fold_max);
        v -= max;
        std::memcpy(shifted + k * n, &v, sizeof(v));
      }
#pragma GCC ivdep
      for (int64_t i = 0; i < rows * n; ++i) in[i] = vec::Exp(shifted[i]);
      for (int64_t k = 0; k < rows; ++k) {
        V e, sum, v;
        std::memcpy(&e, in + k * n, sizeof(e));
        sum = used ? e : V{};
        const auto fold_sum = [&sum]<int k>(std::integral_constant<int, k>) {
          V other;
          Swap<k>(sum, &other);
          sum += other;
        };
        ForHalves(fold_sum);
        if (kLog) {
          std::memcpy(&v, shifted + k * n, sizeof(v));
          v -= std::log(sum[0]);
        } else {
          v = e / sum;
        }
        std::memcpy(out + k * n, &v, sizeof(v));
      }
      std::memcpy(y + r * n, out, rows * n * sizeof(C));
    }
  }

  static inline void LongRowInPlace(const C* x, C* y, int64_t n) {
    const C sum = row_math::ExpAndSum(x, n, row_math::Max<C>(x, n), y);
    const C scale = C(1) / sum;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) y[i] *= scale;
  }

  // Without scratch memory: computes exp again where it is needed a second
  // time.
  static inline void LongRow(const C* x, C* y, int64_t n) {
    const C max = row_math::Max<C>(x, n);
    const C sum = row_math::SumOf<C>(
        n, [x, max](int64_t i) { return vec::Exp(x[i] - max); });
    const C log_sum = kLog ? std::log(sum) : C(0);
    const C scale = C(1) / sum;
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      const C shifted = x[i] - max;
      y[i] = kLog ? shifted - log_sum : vec::Exp(shifted) * scale;
    }
  }
};

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
    WideTensor<T> in, out;
    OP_REQUIRES_OK(ctx, in.Read(ctx, logits));
    const C* const x = in.in();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->forward_input_or_allocate_output(
                            {0}, 0, logits.shape(), &output));
    if (output->NumElements() == 0) return;
    OP_REQUIRES_OK(ctx, out.Begin(ctx, output));
    C* const y = out.out();
    ctx->ParallelFor(output->NumElements() / classes,
                     1.5 * static_cast<double>(classes),
                     [x, y, classes](int64_t begin, int64_t end) {
                       SoftmaxRows<C, kLog>::Run(x, y, classes, begin, end);
                     });
    out.Write();
  }

 private:
  using C = ComputeType<T>;
};

#define REGISTER_SOFTMAX(T)                                         \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("Softmax").Device(DEVICE_CPU).TypeConstraint<T>("T"),    \
      SoftmaxOp<T, false>);                                         \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("LogSoftmax").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SoftmaxOp<T, true>);
HR_CALL_FLOAT_TYPES(REGISTER_SOFTMAX)
#undef REGISTER_SOFTMAX

}  // namespace
}  // namespace headrace
