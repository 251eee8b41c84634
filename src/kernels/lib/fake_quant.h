// The steps of fake quantisation (FakeQuantWithMinMax*): a value is one of
//
//   min + scale * code        code = 0, 1, ... last
//
// of which one is 0.
#ifndef HEADRACE_KERNELS_LIB_FAKE_QUANT_H_
#define HEADRACE_KERNELS_LIB_FAKE_QUANT_H_

#include <algorithm>
#include <cmath>

namespace headrace {

// The numbers of the lowest and the highest step: 0 or 1 (narrow_range), and
// 2^num_bits - 1.
struct FakeQuantLevels {
  float low = 0, high = 255;

  float last() const { return high - low; }
};

// A range that is nudged so that 0 is a step: one that does not contain 0 is
// shifted. `zero`: the range is all zero, and gives zeros.
struct FakeQuantRange {
  float min = 0, max = 0, scale = 0, inverse = 0;
  bool zero = true;

  FakeQuantRange() = default;
  FakeQuantRange(float low, float high, const FakeQuantLevels& levels) {
    zero = low == 0 && high == 0;
    if (zero) return;
    scale = (high - low) / levels.last();
    const float from_min = levels.low - low / scale;
    // Written so that a NaN ends at the low end.
    const float point = from_min >= levels.high ? levels.high
                        : from_min > levels.low ? std::round(from_min)
                                                : levels.low;
    min = (levels.low - point) * scale;
    max = (levels.high - point) * scale;
    inverse = 1 / scale;
  }
};

// The code of `x`, rounding halves up. NaN for NaN.
inline float FakeQuantCode(float x, float min, float max, float inverse) {
  // In this order a NaN comes through.
  const float clamped = std::max(std::min(x, max), min);
  return std::floor((clamped - min) * inverse + 0.5f);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_FAKE_QUANT_H_
