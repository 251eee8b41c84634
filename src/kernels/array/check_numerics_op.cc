// CheckNumerics passes its input on unless it holds an infinity or a NaN. V2
// also tells the sign of infinities.
#include <atomic>
#include <cmath>
#include <string>

#include "kernels/lib/elementwise.h"

namespace headrace {
namespace {

// The exponent bits of infinities and NaNs are all ones.
template <typename T>
struct Bits;
template <>
struct Bits<float> {
  using type = uint32_t;
  static constexpr type kExponent = 0x7f800000u;
};
template <>
struct Bits<double> {
  using type = uint64_t;
  static constexpr type kExponent = 0x7ff0000000000000ull;
};
template <>
struct Bits<half> {
  using type = uint16_t;
  static constexpr type kExponent = 0x7c00u;
};
template <>
struct Bits<bfloat16> {
  using type = uint16_t;
  static constexpr type kExponent = 0x7f80u;
};

template <typename T>
bool AllFinite(const T* x, int64_t n) {
  using B = Bits<T>;
  using U = typename B::type;
  U bad = 0;
  RunSimd([x, n, &bad] {
    const U* bits = reinterpret_cast<const U*>(x);
    U found = 0;
    for (int64_t i = 0; i < n; ++i) {
      found |= static_cast<U>((bits[i] & B::kExponent) == B::kExponent);
    }
    bad = found;
  });
  return bad == 0;
}

template <typename T, bool kTellSign>
class CheckNumericsOp : public OpKernel {
 public:
  explicit CheckNumericsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("message", &message_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    const T* in = x.data<T>();
    std::atomic<bool> finite{true};
    ctx->ParallelFor(x.NumElements(), 0.3, [&](int64_t begin, int64_t end) {
      if (!AllFinite(in + begin, end - begin)) finite = false;
    });
    OP_REQUIRES(ctx, finite, Describe(in, x.NumElements()));
    ctx->set_output(0, x);
  }

 private:
  Status Describe(const T* x, int64_t n) const {
    bool low = false, high = false, nan = false;
    for (int64_t i = 0; i < n; ++i) {
      const double v = static_cast<double>(x[i]);
      nan = nan || v != v;
      low = low || v == -HUGE_VAL;
      high = high || v == HUGE_VAL;
    }
    std::string list;
    const auto add = [&list](bool is, const char* what) {
      if (is) StrAppend(&list, list.empty() ? "" : " and ", what);
    };
    if (kTellSign) {
      add(low, "-Inf");
      add(high, "+Inf");
    } else {
      add(low || high, "Inf");
    }
    add(nan, "NaN");
    return errors::InvalidArgument(message_, " : Tensor had ", list, " values");
  }

  std::string message_;
};

#define HR_REGISTER(T)                                                   \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("CheckNumerics").Device(DEVICE_CPU).TypeConstraint<T>("T"),   \
      CheckNumericsOp<T, false>);                                        \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("CheckNumericsV2").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CheckNumericsOp<T, true>);
HR_CALL_FLOAT_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
