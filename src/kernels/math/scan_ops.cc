// Cumsum, Cumprod and CumulativeLogsumexp along an axis. On [a, b, c] exclusive
// shifts by one and starts with the neutral element; reverse runs from the end;
// both give [b + c, c, 0]. The neutral element of CumulativeLogsumexp is -inf.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/lib/elementwise.h"
#include "kernels/math/axis_split.h"

namespace headrace {
namespace {

struct SumScan {
  template <typename A>
  static A Init() {
    return A(0);
  }
  template <typename A>
  static A Combine(A a, A b) {
    return WrapAdd(a, b);
  }
};
struct ProductScan {
  template <typename A>
  static A Init() {
    return A(1);
  }
  template <typename A>
  static A Combine(A a, A b) {
    return WrapMul(a, b);
  }
};
struct LogsumexpScan {
  template <typename A>
  static A Init() {
    return -std::numeric_limits<A>::infinity();
  }
  template <typename A>
  static A Combine(A a, A b) {
    const A high = a > b ? a : b;
    const A low = a > b ? b : a;
    if (high != high || low != low) return a + b;
    if (std::isinf(high) || std::isinf(low)) return high;
    return high + std::log1p(std::exp(low - high));
  }
};

template <typename Scan, typename T>
class ScanOp : public OpKernel {
 public:
  explicit ScanOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("exclusive", &exclusive_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("reverse", &reverse_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    AxisSplit split;
    OP_REQUIRES_OK(ctx, split.Init(x.shape(), ctx->input(1), "scan axis"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    if (x.NumElements() == 0) return;
    const T* in = x.data<T>();
    T* out = y->data<T>();
    const int64_t chunks = (split.inner + kColumns - 1) / kColumns;
    ctx->ParallelFor(
        split.outer * chunks,
        1.0 * split.size * std::min(split.inner, kColumns),
        [&](int64_t begin, int64_t end) {
          for (int64_t u = begin; u < end; ++u) {
            if (split.inner == 1) {
              Row(in + u * split.size, out + u * split.size, split.size);
              continue;
            }
            const int64_t column = u % chunks * kColumns;
            const int64_t n = std::min(kColumns, split.inner - column);
            Columns(in, out, u / chunks * split.size * split.inner + column, n,
                    split);
          }
        });
  }

 private:
  static constexpr int64_t kColumns = 256;
  using A = ComputeType<T>;

  // Both read an element before they write it: in and out may be one buffer.
  void Row(const T* x, T* y, int64_t n) const {
    A acc = Scan::template Init<A>();
    const int64_t step = reverse_ ? -1 : 1;
    for (int64_t i = reverse_ ? n - 1 : 0; i >= 0 && i < n; i += step) {
      const A next = Scan::Combine(acc, static_cast<A>(x[i]));
      y[i] = static_cast<T>(exclusive_ ? acc : next);
      acc = next;
    }
  }
  void Columns(const T* in, T* out, int64_t base, int64_t n,
               const AxisSplit& split) const {
    A acc[kColumns];
    std::fill(acc, acc + n, Scan::template Init<A>());
    for (int64_t i = 0; i < split.size; ++i) {
      const int64_t row = reverse_ ? split.size - 1 - i : i;
      const T* x = in + base + row * split.inner;
      T* y = out + base + row * split.inner;
      for (int64_t j = 0; j < n; ++j) {
        const A next = Scan::Combine(acc[j], static_cast<A>(x[j]));
        y[j] = static_cast<T>(exclusive_ ? acc[j] : next);
        acc[j] = next;
      }
    }
  }

  bool exclusive_ = false, reverse_ = false;
};

#define HR_REGISTER(T)                                           \
  REGISTER_KERNEL_BUILDER(                                       \
      Name("Cumsum").Device(DEVICE_CPU).TypeConstraint<T>("T"),  \
      ScanOp<SumScan, T>);                                       \
  REGISTER_KERNEL_BUILDER(                                       \
      Name("Cumprod").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ScanOp<ProductScan, T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
#undef HR_REGISTER
#define HR_REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("CumulativeLogsumexp").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ScanOp<LogsumexpScan, T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
