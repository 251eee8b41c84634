#include "kernels/quantized/quantized_epilogue.h"

#include "headrace/op_kernel.h"
#include "headrace/simd.h"

namespace headrace {
namespace {

template <typename T>
void AddScaled(const Tensor& t, int64_t first, int64_t n, double scale,
               double* to) {
  const T* const x = static_cast<const T*>(t.raw_data()) + first;
  for (int64_t i = 0; i < n; ++i) to[i] += static_cast<double>(x[i]) * scale;
}

// Stores what `at(j)` gives, rounded and clamped.
template <typename T, typename F>
inline void StoreClamped(const F& at, int64_t first, int64_t n, double low,
                         double high, Tensor* out) {
  T* const y = static_cast<T*>(out->raw_data()) + first;
  for (int64_t j = 0; j < n; ++j) {
    const double v = std::nearbyint(at(j));
    // NaN, from a bias that holds one, becomes the lowest.
    y[j] = static_cast<T>(v > low ? std::min(v, high) : low);
  }
}

template <typename F>
inline void Store(const F& at, int64_t first, int64_t n, double low,
                  double high, Tensor* out) {
  switch (out->dtype()) {
    case DT_FLOAT: {
      float* const y = static_cast<float*>(out->raw_data()) + first;
      for (int64_t j = 0; j < n; ++j) y[j] = static_cast<float>(at(j));
      break;
    }
    case DT_QINT8:
      StoreClamped<int8_t>(at, first, n, low, high, out);
      break;
    case DT_QUINT8:
      StoreClamped<uint8_t>(at, first, n, low, high, out);
      break;
    default:
      StoreClamped<int32_t>(at, first, n, low, high, out);
  }
}

}  // namespace

Status ReadOrderedRange(const OpKernelContext& ctx, int first,
                        FloatRange* out) {
  HR_RETURN_IF_ERROR(ReadFloatRange(ctx, first, out));
  if (out->min <= out->max) return OkStatus();
  return errors::InvalidArgument("the range of inputs ", first, " and ",
                                 first + 1,
                                 " must not end below where it "
                                 "begins, got [",
                                 out->min, ", ", out->max, "]");
}

FloatRange SumsRange(const FloatRange& a, DataType a_type, const FloatRange& b,
                     DataType b_type) {
  const double a_level = (double{a.max} - a.min) / QuantizedSteps(a_type);
  const double b_level = (double{b.max} - b.min) / QuantizedSteps(b_type);
  const float level = static_cast<float>(a_level) * static_cast<float>(b_level);
  return {-level * 2147483648.0f, level * 2147483648.0f};
}

void QuantizedEpilogue::SetColumns(int64_t n) {
  if (scales.size() == 1) scales.resize(n, scales[0]);
  addends.resize(n, 0.0);
}

inline void QuantizedEpilogue::FinishRow(const int32_t* sums, int64_t row,
                                         int64_t n, double* scratch,
                                         Tensor* out) const {
  const int64_t first = row * n;
  const double* const scale = scales.data();
  const double* const addend = addends.data();
  const auto scaled = [=](int64_t j) { return sums[j] * scale[j] + addend[j]; };
  if (summand == nullptr) return Store(scaled, first, n, low, high, out);
  for (int64_t j = 0; j < n; ++j) scratch[j] = scaled(j);
  switch (summand->dtype()) {
    case DT_FLOAT:
      AddScaled<float>(*summand, first, n, summand_scale, scratch);
      break;
    case DT_QINT8:
      AddScaled<int8_t>(*summand, first, n, summand_scale, scratch);
      break;
    default:
      AddScaled<uint8_t>(*summand, first, n, summand_scale, scratch);
  }
  Store([=](int64_t j) { return scratch[j]; }, first, n, low, high, out);
}

void QuantizedEpilogue::Finish(const int32_t* sums, int64_t row, int64_t n,
                               double* scratch, Tensor* out) const {
  RunSimd([&] { FinishRow(sums, row, n, scratch, out); });
}

}  // namespace headrace
