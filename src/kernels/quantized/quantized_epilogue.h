// QuantizedEpilogue: the last steps of a fused quantised product. Takes rows of
// 32-bit sums, scales them, adds a bias and the elements of another tensor,
// rounds to nearest (ties to even), clamps and stores.
//
// It is not an Epilogue (epilogue.h), which works in place and in the result's
// type: this one reads integers, computes in double and writes another type.
//
// Here 0 is stored as 0. A range [min, max] is widened to be symmetric; the end
// further from 0 is the largest stored integer.
//
// Thread-safe: rows may be finished on several threads at once.
#ifndef HEADRACE_KERNELS_QUANTIZED_QUANTIZED_EPILOGUE_H_
#define HEADRACE_KERNELS_QUANTIZED_QUANTIZED_EPILOGUE_H_

#include <vector>

#include "kernels/lib/quantized_math.h"

namespace headrace {

// The largest integer of a quantised type of 8 bits, and from the lowest to the
// highest without the -128 that has no positive counterpart.
inline double QuantizedReach(DataType type) {
  return type == DT_QINT8 ? 127 : 255;
}
inline double QuantizedSteps(DataType type) {
  return type == DT_QINT8 ? 254 : 255;
}
// The number that the integer 1 represents.
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

  // Gives each of n columns its scale and addend. Call it once, before Finish.
  void SetColumns(int64_t n);

  // Row `row` of `out`, n columns wide: float, qint8, quint8 or qint32.
  // `scratch` has room for a row.
  void Finish(const int32_t* sums, int64_t row, int64_t n, double* scratch,
              Tensor* out) const;

 private:
  void FinishRow(const int32_t* sums, int64_t row, int64_t n, double* scratch,
                 Tensor* out) const;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_QUANTIZED_QUANTIZED_EPILOGUE_H_
