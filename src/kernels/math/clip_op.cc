// ClipByValue: min(x, high), then max with low, so that low wins where the
// bounds are crossed; NaN passes. Each bound is a scalar or has x's shape. Of
// complex numbers both parts are clipped.
#include "kernels/lib/elementwise.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {
namespace {

template <typename C>
inline C ClipOne(C x, C low, C high) {
  const C v = x > high ? high : x;
  return v < low ? low : v;
}
template <typename F>
inline std::complex<F> ClipOne(std::complex<F> x, std::complex<F> low,
                               std::complex<F> high) {
  return {ClipOne(x.real(), low.real(), high.real()),
          ClipOne(x.imag(), low.imag(), high.imag())};
}

template <typename C>
void Clip(const C* x, const C* low, int64_t low_step, const C* high,
          int64_t high_step, C* y, int64_t n) {
  auto body = [=] {
    const C *a = x, *l = low, *h = high;
    C* out = y;
    const int64_t count = n;
    if (low_step == 0 && high_step == 0) {
      const C lo = l[0], hi = h[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) out[i] = ClipOne(a[i], lo, hi);
      return;
    }
    for (int64_t i = 0; i < count; ++i, l += low_step, h += high_step) {
      out[i] = ClipOne(a[i], *l, *h);
    }
  };
  if constexpr (std::is_same_v<C, float>) {
    RunSimd(body);
  } else {
    body();
  }
}

template <typename T>
class ClipByValueOp : public OpKernel {
 public:
  explicit ClipByValueOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &x = ctx->input(0), &low = ctx->input(1),
                 &high = ctx->input(2);
    for (const Tensor* bound : {&low, &high}) {
      OP_REQUIRES(ctx, bound->dims() == 0 || bound->shape() == x.shape(),
                  errors::InvalidArgument(
                      bound == &low ? "clip_value_min" : "clip_value_max",
                      " must be a scalar or of the same shape as the input; "
                      "input shape: ",
                      x.shape().DebugString(),
                      ", got: ", bound->shape().DebugString()));
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    const int64_t low_step = low.dims() == 0 ? 0 : 1;
    const int64_t high_step = high.dims() == 0 ? 0 : 1;
    ctx->ParallelFor(x.NumElements(), 0.5, [&](int64_t begin, int64_t end) {
      Block(x.data<T>() + begin, low.data<T>() + begin * low_step, low_step,
            high.data<T>() + begin * high_step, high_step, y->data<T>() + begin,
            end - begin);
    });
  }

 private:
  static void Block(const T* x, const T* low, int64_t low_step, const T* high,
                    int64_t high_step, T* y, int64_t n) {
    using C = ComputeType<T>;
    if constexpr (std::is_same_v<C, float> && !std::is_same_v<T, float>) {
      constexpr int64_t kBlock = 512;
      float a[kBlock], l[kBlock], h[kBlock];
      for (int64_t i = 0; i < n; i += kBlock) {
        const int64_t m = std::min(kBlock, n - i);
        Widen(x + i, a, m);
        Widen(low + i * low_step, l, low_step == 0 ? 1 : m);
        Widen(high + i * high_step, h, high_step == 0 ? 1 : m);
        Clip<float>(a, l, low_step, h, high_step, a, m);
        Narrow(a, y + i, m);
      }
    } else {
      Clip<C>(reinterpret_cast<const C*>(x), reinterpret_cast<const C*>(low),
              low_step, reinterpret_cast<const C*>(high), high_step,
              reinterpret_cast<C*>(y), n);
    }
  }
};

#define HR_REGISTER(T)                                               \
  REGISTER_KERNEL_BUILDER(                                           \
      Name("ClipByValue").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ClipByValueOp<T>);
HR_CALL_REAL_NUMBER_TYPES(HR_REGISTER)
HR_CALL_QUANTIZED_TYPES(HR_REGISTER)
HR_CALL_COMPLEX_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
