// Range and LinSpace. Range has ceil((limit - start) / delta) elements and
// computes start + i * delta, not a running sum; the length of a float range is
// computed in that type. LinSpace ends exactly at stop.
#include <cmath>
#include <limits>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

template <typename T>
class RangeOp : public OpKernel {
 public:
  explicit RangeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    static const char* const kNames[] = {"start", "limit", "delta"};
    for (int i = 0; i < 3; ++i) {
      OP_REQUIRES(
          ctx, ctx->input(i).NumElements() == 1,
          errors::InvalidArgument(kNames[i], " must be a scalar, not shape ",
                                  ctx->input(i).shape().DebugString()));
    }
    using C = ComputeType<T>;
    const C start = static_cast<C>(*ctx->input(0).data<T>());
    const C limit = static_cast<C>(*ctx->input(1).data<T>());
    const C delta = static_cast<C>(*ctx->input(2).data<T>());
    OP_REQUIRES(ctx, delta != 0,
                errors::InvalidArgument("Requires delta != 0: ", delta));
    const bool up = delta > 0;
    OP_REQUIRES(ctx, up ? start <= limit : start >= limit,
                errors::InvalidArgument(
                    "Requires start ", up ? "<=" : ">=", " limit when delta ",
                    up ? ">" : "<", " 0: ", start, "/", limit));
    int64_t size = 0;
    if constexpr (std::is_integral_v<C>) {
      const uint64_t span =
          up ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
             : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
      const uint64_t step = up ? static_cast<uint64_t>(delta)
                               : uint64_t{0} - static_cast<uint64_t>(delta);
      const uint64_t n = span / step + (span % step != 0);
      OP_REQUIRES(ctx, n <= static_cast<uint64_t>(INT64_MAX), TooLong());
      size = static_cast<int64_t>(n);
    } else {
      const C n = std::ceil(std::abs(Rounded(Rounded(limit - start) / delta)));
      OP_REQUIRES(ctx, n < C(9.2e18), TooLong());
      size = static_cast<int64_t>(n);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({size}), &out));
    T* y = out->data<T>();
    for (int64_t i = 0; i < size; ++i) {
      y[i] = static_cast<T>(
          WrapAdd(start, Rounded(WrapMul(Rounded(static_cast<C>(i)), delta))));
    }
  }

 private:
  // Rounds to T: ranges of half and bfloat16 use the arithmetic of their type.
  static ComputeType<T> Rounded(ComputeType<T> x) {
    return static_cast<ComputeType<T>>(static_cast<T>(x));
  }
  static Status TooLong() {
    return errors::InvalidArgument("Requires ((limit - start) / delta) <= ",
                                   INT64_MAX);
  }
};
#define HR_REGISTER(T)     \
  REGISTER_KERNEL_BUILDER( \
      Name("Range").Device(DEVICE_CPU).TypeConstraint<T>("Tidx"), RangeOp<T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
HR_CALL_SIGNED_INT_TYPES(HR_REGISTER)
HR_REGISTER(uint16_t)
HR_REGISTER(uint32_t)
HR_REGISTER(uint64_t)
#undef HR_REGISTER

template <typename T>
class LinSpaceOp : public OpKernel {
 public:
  explicit LinSpaceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    static const char* const kNames[] = {"start", "stop", "num"};
    for (int i = 0; i < 3; ++i) {
      OP_REQUIRES(
          ctx, ctx->input(i).dims() == 0,
          errors::InvalidArgument(kNames[i], " must be a scalar, not shape ",
                                  ctx->input(i).shape().DebugString()));
    }
    using C = ComputeType<T>;
    const C start = static_cast<C>(*ctx->input(0).data<T>());
    const C stop = static_cast<C>(*ctx->input(1).data<T>());
    const int64_t num = ctx->input(2).dtype() == DT_INT32
                            ? *ctx->input(2).data<int32_t>()
                            : *ctx->input(2).data<int64_t>();
    OP_REQUIRES(ctx, num > 0,
                errors::InvalidArgument("Requires num > 0: ", num));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({num}), &out));
    T* y = out->data<T>();
    const C step = num > 1 ? (stop - start) / static_cast<C>(num - 1) : C(0);
    y[0] = static_cast<T>(start);  // also where the step is not finite
    for (int64_t i = 1; i < num; ++i) {
      y[i] = static_cast<T>(start + step * static_cast<C>(i));
    }
    if (num > 1) y[num - 1] = static_cast<T>(stop);
  }
};
#define HR_REGISTER(T)                                            \
  REGISTER_KERNEL_BUILDER(                                        \
      Name("LinSpace").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      LinSpaceOp<T>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
