// QuantizeV2 and Dequantize: floats as integers of 8, 16 or 32 bits that step
// evenly through a range, and back.
//
// MIN_COMBINED: all of the integers step from min to max. MIN_FIRST: the same,
// but 0.0 falls on an integer. SCALED: 0 stays 0, and the range grows on the
// side that would not use up its integers.
// Floating-point exceptions are ignored: loops with conditions become vectors.
// Before all includes, so that it also applies to their inline functions.
#pragma GCC optimize("no-trapping-math")

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "headrace/simd.h"
#include "kernels/lib/quantized_range.h"

namespace headrace {
namespace {

enum class Mode { kMinCombined, kMinFirst, kScaled };

// Of input 0, with a range, inputs 1 and 2, for each.
Status ReadSlices(const OpKernelContext& ctx, int64_t axis,
                  QuantizedSlices* slices) {
  HR_RETURN_IF_ERROR(slices->Init(ctx.input(0).shape(), axis));
  HR_RETURN_IF_ERROR(slices->CheckRange(ctx.input(1), "min_range", axis));
  return slices->CheckRange(ctx.input(2), "max_range", axis);
}

Status ReadMode(OpKernelConstruction* ctx, Mode* mode) {
  std::string s;
  HR_RETURN_IF_ERROR(ctx->GetAttr("mode", &s));
  *mode = s == "SCALED"      ? Mode::kScaled
          : s == "MIN_FIRST" ? Mode::kMinFirst
                             : Mode::kMinCombined;
  return OkStatus();
}

// To the nearest, ties away from 0. Unlike std::round, loops of it become
// vectors.
inline float Round(float x) {
  const float whole = std::trunc(x);
  return whole + (std::abs(x - whole) >= 0.5f ? std::copysign(1.0f, x) : 0.0f);
}

// What all integers of type T are for MIN_COMBINED and MIN_FIRST.
template <typename T>
struct Integers {
  static constexpr double kLowest = std::numeric_limits<T>::min();
  static constexpr double kHighest = std::numeric_limits<T>::max();
  static constexpr double kSteps = kHighest - kLowest;
  // Signed integers, from here on.
  static constexpr float kHalfRange =
      std::is_signed_v<T> ? static_cast<float>((kSteps + 1) / 2) : 0.0f;

  // The nearest that is there; NaN becomes the lowest.
  static T Saturate(float x) {
    if constexpr (sizeof(T) < sizeof(float)) {
      constexpr float kMin = static_cast<float>(kLowest);
      constexpr float kMax = static_cast<float>(kHighest);
      return static_cast<T>(x > kMin ? std::min(x, kMax) : kMin);
    }
    if (!(x > static_cast<float>(kLowest)))
      return std::numeric_limits<T>::min();
    if (x >= static_cast<float>(kHighest)) return std::numeric_limits<T>::max();
    return static_cast<T>(x);
  }
};

template <typename Q>
class QuantizeV2Op : public OpKernel {
  using T = typename StoredInteger<Q>::Type;
  using All = Integers<T>;

 public:
  explicit QuantizeV2Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadMode(ctx, &mode_));
    std::string round;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("round_mode", &round));
    to_even_ = round == "HALF_TO_EVEN";
    OP_REQUIRES(
        ctx, !to_even_ || mode_ == Mode::kScaled,
        errors::InvalidArgument(
            "Round mode 'HALF_TO_EVEN' only supported for mode "
            "'SCALED', but mode is '",
            mode_ == Mode::kMinFirst ? "MIN_FIRST" : "MIN_COMBINED", "'."));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("narrow_range", &narrow_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ensure_minimum_range", &minimum_range_));
    OP_REQUIRES(ctx, axis_ < 0 || mode_ != Mode::kMinFirst,
                errors::Unimplemented("MIN_FIRST mode is not implemented for "
                                      "Quantize with axis != -1."));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    QuantizedSlices slices;
    OP_REQUIRES_OK(ctx, ReadSlices(*ctx, axis_, &slices));
    const TensorShape range_shape =
        axis_ < 0 ? TensorShape() : TensorShape({slices.slices});
    Tensor *out = nullptr, *low = nullptr, *high = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, range_shape, &low));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(2, range_shape, &high));
    std::vector<Scale> scales;
    for (int64_t i = 0; i < slices.slices; ++i) {
      Scale s;
      OP_REQUIRES_OK(ctx, MakeScale(ctx->input(1).data<float>()[i],
                                    ctx->input(2).data<float>()[i], &s));
      low->data<float>()[i] = s.low;
      high->data<float>()[i] = s.high;
      scales.push_back(s);
    }
    const float* const x = in.data<float>();
    T* const y = static_cast<T*>(out->raw_data());
    slices.ForEachRun(ctx, [&](int64_t slice, int64_t begin, int64_t end) {
      const Scale s = scales[slice];
      const auto each = [&](auto value) {
        RunSimd([&] {
          // Copies: a byte that is stored could be part of what is captured.
          const float* const from = x;
          T* const to = y;
          const auto step = value;
          const float low = s.low, high = s.high;
          const float shift = s.shift, scale = s.scale;
          const int64_t last = end;
          for (int64_t i = begin; i < last; ++i) {
            // Written so that a NaN ends at the low end.
            const float v = from[i] > low ? std::min(from[i], high) : low;
            to[i] = All::Saturate(step((v - shift) * scale));
          }
        });
      };
      const float offset = s.offset;
      if (mode_ == Mode::kMinFirst) {
        each([=](float v) { return Round(Round(v) - offset); });
      } else if (to_even_) {
        each([=](float v) { return std::nearbyint(v - offset); });
      } else {
        each([=](float v) { return Round(v - offset); });
      }
    });
  }

 private:
  struct Scale {
    float low = 0, high = 0;  // the range that is used
    float shift = 0, scale = 1, offset = 0;
  };

  Status MakeScale(float low, float high, Scale* s) const {
    if (!(high >= low)) {
      return errors::InvalidArgument(
          "max_range must not be less than min_range, got [", low, ", ", high,
          "]");
    }
    // 0 is in the range, and the range is not empty.
    s->low = std::min(0.0f, low);
    const float least =
        std::max(1.0f, std::max(std::abs(low), std::abs(high))) *
        minimum_range_;
    s->high = std::max(0.0f, std::max(high, s->low + least));
    const double width = static_cast<double>(s->high - s->low);
    if (mode_ == Mode::kMinCombined) {
      s->shift = s->low;
      s->scale = static_cast<float>(All::kSteps / width);
      s->offset = All::kHalfRange;
    } else if (mode_ == Mode::kMinFirst) {
      s->scale = width == 0 ? 0 : static_cast<float>(All::kSteps / width);
      s->offset =
          std::round(s->low * s->scale) - static_cast<float>(All::kLowest);
    } else {
      const float lowest = static_cast<float>(All::kLowest) + (narrow_ ? 1 : 0);
      const float highest = static_cast<float>(All::kHighest);
      constexpr float kNone = std::numeric_limits<float>::max();
      s->scale = std::min(lowest * s->low > 0 ? lowest / s->low : kNone,
                          highest * s->high > 0 ? highest / s->high : kNone);
      s->low = lowest / s->scale;
      s->high = highest / s->scale;
    }
    return OkStatus();
  }

  Mode mode_ = Mode::kMinCombined;
  bool to_even_ = false, narrow_ = false;
  int64_t axis_ = -1;
  float minimum_range_ = 0.01f;
};

template <typename Q>
class DequantizeOp : public OpKernel {
  using T = typename StoredInteger<Q>::Type;
  using All = Integers<T>;

 public:
  explicit DequantizeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ReadMode(ctx, &mode_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("narrow_range", &narrow_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
    OP_REQUIRES(
        ctx, axis_ >= -1,
        errors::InvalidArgument("Axis must be at least -1, got ", axis_));
    OP_REQUIRES(
        ctx, output_type(0) == DT_FLOAT || mode_ != Mode::kMinFirst,
        errors::InvalidArgument("When output type is bfloat16, mode must be "
                                "'MIN_COMBINED' or 'SCALED', is 'MIN_FIRST'"));
    OP_REQUIRES(ctx, axis_ < 0 || mode_ != Mode::kMinFirst,
                errors::Unimplemented("MIN_FIRST mode is not implemented for "
                                      "Dequantize with axis != -1."));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    QuantizedSlices slices;
    OP_REQUIRES_OK(ctx, ReadSlices(*ctx, axis_, &slices));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::vector<Line> lines;
    for (int64_t i = 0; i < slices.slices; ++i) {
      lines.push_back(MakeLine(ctx->input(1).data<float>()[i],
                               ctx->input(2).data<float>()[i]));
    }
    const T* const x = static_cast<const T*>(in.raw_data());
    slices.ForEachRun(ctx, [&](int64_t slice, int64_t begin, int64_t end) {
      const Line l = lines[slice];
      const auto at = [&](int64_t i) {
        return (static_cast<float>(x[i]) + l.before) * l.scale + l.after;
      };
      if (out->dtype() == DT_FLOAT) {
        float* const y = out->data<float>();
        RunSimd([&] {
          for (int64_t i = begin; i < end; ++i) y[i] = at(i);
        });
      } else {
        bfloat16* const y = out->data<bfloat16>();
        for (int64_t i = begin; i < end; ++i) y[i] = bfloat16(at(i));
      }
    });
  }

 private:
  struct Line {
    float before = 0, scale = 1, after = 0;
  };

  Line MakeLine(float low, float high) const {
    const double width = static_cast<double>(high - low);
    Line l;
    l.scale = static_cast<float>(width / All::kSteps);
    if (mode_ == Mode::kMinCombined) {
      l.before = All::kHalfRange;
      l.after = low;
    } else if (mode_ == Mode::kMinFirst) {
      // 0.0 was on an integer.
      const float from = width == 0 ? low : std::round(low / l.scale) * l.scale;
      l.after = from - static_cast<float>(All::kLowest) * l.scale;
    } else {
      const float lowest = static_cast<float>(All::kLowest) + (narrow_ ? 1 : 0);
      const float of_max = high / static_cast<float>(All::kHighest);
      l.scale = std::is_signed_v<T> ? std::max(low / lowest, of_max) : of_max;
    }
    return l;
  }

  Mode mode_ = Mode::kMinCombined;
  bool narrow_ = false;
  int64_t axis_ = -1;
};

#define HR_REGISTER(Q)                                              \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("QuantizeV2").Device(DEVICE_CPU).TypeConstraint<Q>("T"), \
      QuantizeV2Op<Q>);                                             \
  REGISTER_KERNEL_BUILDER(                                          \
      Name("Dequantize").Device(DEVICE_CPU).TypeConstraint<Q>("T"), \
      DequantizeOp<Q>);
HR_CALL_QUANTIZED_TYPES(HR_REGISTER)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
