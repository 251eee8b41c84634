// Arithmetic on quantised numbers. The integers of a type Q divide a range
// evenly: the lowest integer is the minimum, the highest is the maximum.
#ifndef HEADRACE_KERNELS_LIB_QUANTIZED_MATH_H_
#define HEADRACE_KERNELS_LIB_QUANTIZED_MATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/lib/quantized_range.h"

namespace headrace {

struct FloatRange {
  float min = 0, max = 0;

  bool operator==(const FloatRange& o) const {
    return min == o.min && max == o.max;
  }
};

// Reads input `i`: one finite number.
inline Status ReadFloat(const OpKernelContext& ctx, int i, float* out) {
  const Tensor& t = ctx.input(i);
  if (t.NumElements() != 1 || t.dims() > 1) {
    return errors::InvalidArgument("the end of a range, input ", i,
                                   ", must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *out = *t.data<float>();
  if (std::isfinite(*out)) return OkStatus();
  return errors::InvalidArgument("the end of a range, input ", i,
                                 ", must be finite, got ", *out);
}

// Reads a range from inputs `first` and first + 1.
inline Status ReadFloatRange(const OpKernelContext& ctx, int first,
                             FloatRange* out) {
  HR_RETURN_IF_ERROR(ReadFloat(ctx, first, &out->min));
  return ReadFloat(ctx, first + 1, &out->max);
}

// The same. InvalidArgument if the range is empty.
inline Status ReadWideRange(const OpKernelContext& ctx, int first,
                            FloatRange* out) {
  HR_RETURN_IF_ERROR(ReadFloatRange(ctx, first, out));
  if (out->min < out->max) return OkStatus();
  return errors::InvalidArgument("a range must not be empty, got [", out->min,
                                 ", ", out->max, "]");
}

// The sizes of a product m x k by k x n.
struct MatMulSizes {
  int64_t m = 0, k = 0, n = 0;
};

// Reads the sizes from inputs 0 and 1. InvalidArgument unless they are matrices
// that fit.
inline Status ReadMatMulSizes(const OpKernelContext& ctx, bool transpose_a,
                              bool transpose_b, MatMulSizes* out) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  if (a.dims() != 2 || b.dims() != 2) {
    return errors::InvalidArgument("a and b must be matrices, got shapes ",
                                   a.shape().DebugString(), " and ",
                                   b.shape().DebugString());
  }
  *out = {a.dim_size(transpose_a), a.dim_size(!transpose_a),
          b.dim_size(!transpose_b)};
  if (b.dim_size(transpose_b) == out->k) return OkStatus();
  return errors::InvalidArgument(
      "Matrix size-compatible: In[0]: ", a.shape().DebugString(),
      ", In[1]: ", b.shape().DebugString());
}

// Writes a range to outputs `first` and first + 1.
inline void SetRangeOutputs(OpKernelContext* ctx, int first,
                            const FloatRange& range) {
  ctx->set_output(first, Tensor::Scalar(range.min));
  ctx->set_output(first + 1, Tensor::Scalar(range.max));
}

// Converts between stored integers of type T (int8_t ... int32_t) and the
// numbers of a range.
// Constant after construction, and then thread-safe.
template <typename T>
class QuantizedNumbers {
 public:
  explicit QuantizedNumbers(const FloatRange& range)
      : range_(range), empty_(range.min == range.max) {
    constexpr double kSteps = kHighest - kLowest + 1;
    const double width = static_cast<double>(range.max - range.min);
    const double adjusted = width * (kSteps / (kSteps - 1));
    per_unit_ = kSteps / adjusted;
    step_ = adjusted / kSteps;
    const float step = static_cast<float>(step_);
    rounded_min_ = std::round(range.min / step) * step;
  }

  double ToFloat(T q) const {
    if (empty_) return range_.min;
    return rounded_min_ + (static_cast<double>(q) - kLowest) * step_;
  }
  // The nearest integer, without the limits of T. For NaN a very low integer.
  int64_t Unclamped(float x) const {
    if (empty_) return static_cast<int64_t>(kLowest);
    const double q = std::round(x * per_unit_) -
                     std::round(range_.min * per_unit_) + kLowest;
    constexpr double kFar = 1e15;
    return static_cast<int64_t>(q > -kFar ? std::min(q, kFar) : -kFar);
  }
  T FromFloat(float x) const {
    return static_cast<T>(std::clamp<int64_t>(Unclamped(x),
                                              static_cast<int64_t>(kLowest),
                                              static_cast<int64_t>(kHighest)));
  }
  // The difference between neighbouring numbers.
  float Level() const {
    return static_cast<float>(
        (static_cast<double>(range_.max) - static_cast<double>(range_.min)) /
        (kHighest - kLowest));
  }

 private:
  static constexpr double kLowest = std::numeric_limits<T>::min();
  static constexpr double kHighest = std::numeric_limits<T>::max();

  const FloatRange range_;
  const bool empty_;
  double per_unit_ = 0, step_ = 0, rounded_min_ = 0;
};

// The range of sums of products of A's and B's numbers in 32 bits.
template <typename A, typename B>
FloatRange ProductRange(const FloatRange& a, const FloatRange& b) {
  const float level =
      QuantizedNumbers<A>(a).Level() * QuantizedNumbers<B>(b).Level();
  return {level * static_cast<float>(std::numeric_limits<int32_t>::min()),
          level * static_cast<float>(std::numeric_limits<int32_t>::max())};
}

// The range of sums of two ranges' numbers in 32 bits. It is symmetric, so that
// 0 + 0 is 0, and reaches 2^shift times the largest input.
inline FloatRange SumRange(const FloatRange& a, const FloatRange& b,
                           int shift) {
  const float largest =
      std::max(std::max(a.max, -a.min), std::max(b.max, -b.min)) *
      static_cast<float>(1 << shift);
  return {-largest, largest};
}

// Sums of products that exceed 32 bits wrap around.
inline int32_t WrapMulAdd(int32_t sum, int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) +
                              static_cast<uint32_t>(a) *
                                  static_cast<uint32_t>(b));
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_QUANTIZED_MATH_H_
