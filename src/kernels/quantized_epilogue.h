// What a fused quantised product does with its sums in 32 bits: a row at a time
// they are scaled, given a bias and the elements of another tensor, rounded to
// the nearest, halves to even, clamped and stored.
//
// Here 0 is stored as 0: a range [min, max] reaches as far as the end further
// from 0, and that is the largest stored integer.
#ifndef HEADRACE_KERNELS_QUANTIZED_EPILOGUE_H_
#define HEADRACE_KERNELS_QUANTIZED_EPILOGUE_H_

#include <vector>

#include "kernels/quantized_math.h"

namespace headrace {

// The largest integer of a quantised type of 8 bits, and from the lowest to the
// highest without the -128 that has no positive counterpart.
inline double QuantizedReach(DataType type) {
  return type == DT_QINT8 ? 127 : 255;
}
inline double QuantizedSteps(DataType type) {
  return type == DT_QINT8 ? 254 : 255;
}
// What the integer 1 stands for.
inline double QuantizedUnit(const FloatRange& range, DataType type) {
  return std::max(std::abs(double{range.min}), std::abs(double{range.max})) /
         QuantizedReach(type);
}

// Inputs `first` and first + 1, the lower one first (InvalidArgument).
Status ReadOrderedRange(const OpKernelContext& ctx, int first, FloatRange* out);

// The range that sums of products have whose factors have these ranges.
FloatRange SumsRange(const FloatRange& a, DataType a_type, const FloatRange& b,
                     DataType b_type);

struct QuantizedEpilogue {
  std::vector<double> scales;       // one, or one a column
  std::vector<double> addends;      // none, or one a column, after scaling
  const Tensor* summand = nullptr;  // float, qint8 or quint8
  double summand_scale = 0;
  double low = 0, high = 0;  // unused for float outputs, which are not rounded

  // Row `row` of `out`, n columns wide: float, qint8, quint8 or qint32.
  // `scratch` has room for a row.
  void Finish(const int32_t* sums, int64_t row, int64_t n, double* scratch,
              Tensor* out) const;
};

// sums[j] += a * b[j]
inline void AddProducts(int32_t a, const int8_t* b, int64_t n, int32_t* sums) {
  for (int64_t j = 0; j < n; ++j) sums[j] = WrapMulAdd(sums[j], a, b[j]);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_QUANTIZED_EPILOGUE_H_
