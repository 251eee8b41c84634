// QuantizeAndDequantize, V2, V3 and V4: values as if stored in num_bits, with 0
// as one of the steps. The range is given or that of the input; the side that
// would not use up its integers is widened. V4's gradient passes inside the
// range.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/lib/quantized_range.h"

namespace headrace {
namespace {

enum class Version { kV1, kV2, kV3 };  // V4 is V2

template <typename T>
struct Steps {
  T low = 0, high = 0;  // the range; adjusted
  T scale = 1, inverse = 1;

  // To integers in [lowest, highest], lowest <= 0.
  void Adjust(T lowest, T highest) {
    constexpr T kNone = std::numeric_limits<T>::max();
    const T of_min = lowest * low > 0 ? lowest / low : kNone;
    const T of_max = highest * high > 0 ? highest / high : kNone;
    if (of_min < of_max) {
      scale = of_min;
      inverse = low / lowest;
      high = highest * inverse;
    } else {
      scale = of_max;
      inverse = high / highest;
      low = lowest * inverse;
    }
  }
};

template <typename T, Version kVersion>
class QuantizeAndDequantizeOp : public OpKernel {
 public:
  explicit QuantizeAndDequantizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("signed_input", &signed_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("range_given", &range_given_));
    if (kVersion == Version::kV1) {
      float low = 0, high = 0;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("input_min", &low));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("input_max", &high));
      given_low_ = static_cast<T>(low);
      given_high_ = static_cast<T>(high);
    } else {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("narrow_range", &narrow_));
      OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
    }
    if (kVersion == Version::kV2) {
      std::string round;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("round_mode", &round));
      half_up_ = round == "HALF_UP";
    }
    if (kVersion != Version::kV3) {
      int64_t bits = 0;
      OP_REQUIRES_OK(ctx, ctx->GetAttr("num_bits", &bits));
      OP_REQUIRES_OK(ctx, CheckBits(bits));
      bits_ = static_cast<int>(bits);
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    QuantizedSlices slices;
    OP_REQUIRES_OK(ctx, slices.Init(in.shape(), axis_));
    int bits = bits_;
    if (kVersion == Version::kV3) {
      const Tensor& t = ctx->input(3);
      OP_REQUIRES(ctx, t.dims() == 0,
                  errors::InvalidArgument("num_bits must be a scalar, got "
                                          "shape ",
                                          t.shape().DebugString()));
      bits = t.scalar<int32_t>();
      OP_REQUIRES_OK(ctx, CheckBits(bits));
    }
    std::vector<Steps<T>> steps;
    if (!range_given_) {
      // There may be any number of slices without elements.
      if (slices.total > 0) {
        steps.resize(slices.slices);
        ReadRanges(in, slices, &steps);
      }
    } else if (kVersion == Version::kV1) {
      steps.resize(1);
      steps[0].low = given_low_;
      steps[0].high = given_high_;
    } else {
      const Tensor& low = ctx->input(1);
      const Tensor& high = ctx->input(2);
      OP_REQUIRES_OK(ctx, slices.CheckRange(low, "input_min", axis_));
      OP_REQUIRES_OK(ctx, slices.CheckRange(high, "input_max", axis_));
      steps.resize(slices.slices);
      for (int64_t i = 0; i < slices.slices; ++i) {
        steps[i].low = low.data<T>()[i];
        steps[i].high = high.data<T>()[i];
      }
    }
    const double top = std::ldexp(1.0, signed_ ? bits - 1 : bits) - 1;
    const double bottom = !signed_ ? 0 : narrow_ ? -top : -top - 1;
    for (Steps<T>& s : steps) {
      OP_REQUIRES(ctx, s.low <= s.high,
                  errors::InvalidArgument("Invalid range: input_min ", s.low,
                                          " > input_max ", s.high));
      s.Adjust(static_cast<T>(bottom), static_cast<T>(top));
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(
        ctx, ctx->forward_input_or_allocate_output({0}, 0, in.shape(), &out));
    const T* const x = in.data<T>();
    T* const y = out->data<T>();
    slices.ForEachRun(ctx, [&](int64_t slice, int64_t begin, int64_t end) {
      const Steps<T> s = steps[slice];
      for (int64_t i = begin; i < end; ++i) {
        T v = x[i];
        if (range_given_) {
          v = v > s.high ? s.high : v;
          v = v < s.low ? s.low : v;
        }
        v *= s.scale;
        v = half_up_ ? std::floor(v + T(0.5)) : std::nearbyint(v);
        y[i] = v * s.inverse;
      }
    });
  }

 private:
  Status CheckBits(int64_t bits) const {
    if (bits > 0 && bits < (signed_ ? 62 : 63)) return OkStatus();
    return errors::InvalidArgument("num_bits is out of range: ", bits,
                                   " with signed_input ", signed_);
  }

  // NaNs do not count; a slice without numbers is [0, 0].
  static void ReadRanges(const Tensor& in, const QuantizedSlices& slices,
                         std::vector<Steps<T>>* steps) {
    constexpr T kInf = std::numeric_limits<T>::infinity();
    for (Steps<T>& s : *steps) {
      s.low = kInf;
      s.high = -kInf;
    }
    const T* x = in.data<T>();
    for (int64_t o = 0; o < slices.outer; ++o) {
      for (int64_t k = 0; k < slices.slices; ++k) {
        T low = (*steps)[k].low, high = (*steps)[k].high;
        for (int64_t i = 0; i < slices.inner; ++i, ++x) {
          low = *x < low ? *x : low;
          high = *x > high ? *x : high;
        }
        (*steps)[k].low = low;
        (*steps)[k].high = high;
      }
    }
    for (Steps<T>& s : *steps) {
      if (s.low > s.high) s.low = s.high = 0;
    }
  }

  bool signed_ = true, range_given_ = false, narrow_ = false, half_up_ = false;
  int bits_ = 8;
  int64_t axis_ = -1;
  T given_low_ = 0, given_high_ = 0;
};

template <typename T>
class QuantizeAndDequantizeV4GradOp : public OpKernel {
 public:
  explicit QuantizeAndDequantizeV4GradOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& gradients = ctx->input(0);
    const Tensor& in = ctx->input(1);
    OP_REQUIRES(ctx, gradients.shape() == in.shape(),
                errors::InvalidArgument(
                    "gradient and input must be the same size, got shapes ",
                    gradients.shape().DebugString(), " and ",
                    in.shape().DebugString()));
    QuantizedSlices slices;
    OP_REQUIRES_OK(ctx, slices.Init(in.shape(), axis_));
    const Tensor& low = ctx->input(2);
    const Tensor& high = ctx->input(3);
    OP_REQUIRES_OK(ctx, slices.CheckRange(low, "input_min", axis_));
    OP_REQUIRES_OK(ctx, slices.CheckRange(high, "input_max", axis_));
    Tensor* outs[3];
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &outs[0]));
    for (int i = 1; i < 3; ++i) {
      OP_REQUIRES_OK(ctx, ctx->allocate_output(i, low.shape(), &outs[i]));
      std::fill_n(outs[i]->data<T>(), outs[i]->NumElements(), T(0));
    }
    const T* const g = gradients.data<T>();
    const T* const x = in.data<T>();
    T* const y = outs[0]->data<T>();
    slices.ForEachRun(ctx, [&](int64_t slice, int64_t begin, int64_t end) {
      const T from = low.data<T>()[slice], to = high.data<T>()[slice];
      for (int64_t i = begin; i < end; ++i) {
        // A product: gradients that are not finite show outside, too.
        y[i] = T(x[i] >= from && x[i] <= to ? 1 : 0) * g[i];
      }
    });
  }

 private:
  int64_t axis_ = -1;
};

#define HR_REGISTER_ONE(NAME, T, ...) \
  REGISTER_KERNEL_BUILDER(            \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), __VA_ARGS__)
#define HR_REGISTER(T)                                       \
  HR_REGISTER_ONE("QuantizeAndDequantize", T,                \
                  QuantizeAndDequantizeOp<T, Version::kV1>); \
  HR_REGISTER_ONE("QuantizeAndDequantizeV2", T,              \
                  QuantizeAndDequantizeOp<T, Version::kV2>); \
  HR_REGISTER_ONE("QuantizeAndDequantizeV3", T,              \
                  QuantizeAndDequantizeOp<T, Version::kV3>); \
  HR_REGISTER_ONE("QuantizeAndDequantizeV4", T,              \
                  QuantizeAndDequantizeOp<T, Version::kV2>); \
  HR_REGISTER_ONE("QuantizeAndDequantizeV4Grad", T,          \
                  QuantizeAndDequantizeV4GradOp<T>);
HR_REGISTER(float)
HR_REGISTER(double)
#undef HR_REGISTER
#undef HR_REGISTER_ONE

}  // namespace
}  // namespace headrace
