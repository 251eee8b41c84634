// Values that are compared through keys: unsigned integers of the element's
// size, where -0.0 has the key of 0.0 and a NaN, equal to nothing, has none; of
// strings, their bytes.
#ifndef HEADRACE_KERNELS_ARRAY_VALUE_KEYS_H_
#define HEADRACE_KERNELS_ARRAY_VALUE_KEYS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/element.h"

namespace headrace {

// What the bits of an element mean: for floating point the bits of infinity
// (all larger magnitudes are NaN), else 0.
inline uint64_t InfinityBits(DataType dtype) {
  switch (dtype) {
    case DT_HALF:
      return 0x7C00;
    case DT_BFLOAT16:
      return 0x7F80;
    case DT_FLOAT:
      return 0x7F800000;
    case DT_DOUBLE:
      return 0x7FF0000000000000;
    default:
      return 0;
  }
}

template <typename T>
struct KeyOf {
  using Key = T;
  explicit KeyOf(DataType dtype)
      : infinity(static_cast<T>(InfinityBits(dtype))) {}
  // False for a NaN.
  bool operator()(const T& v, Key* key) const {
    *key = v;
    if (infinity == 0) return true;
    // All bits but the sign's. Not ~T(0) >> 1: a narrow T becomes a signed int.
    const T magnitude = v & static_cast<T>(std::numeric_limits<T>::max() >> 1);
    if (magnitude == 0) *key = 0;
    return magnitude <= infinity;
  }
  T infinity;
};
template <>
struct KeyOf<tstring> {
  using Key = absl::string_view;
  explicit KeyOf(DataType) {}
  bool operator()(const tstring& v, Key* key) const {
    *key = v;
    return true;
  }
};
template <>
struct KeyOf<std::string> {
  using Key = absl::string_view;
  bool operator()(const std::string& v, Key* key) const {
    *key = v;
    return true;
  }
};

// Calls fn(Element<T>) for the types that can be compared; false for others.
template <typename F>
bool WithComparable(DataType dtype, const F& fn) {
  if (dtype == DT_STRING) {
    fn(Element<tstring>());
    return true;
  }
  switch (DataTypeSize(dtype)) {
    case 1:
      fn(Element<uint8_t>());
      return true;
    case 2:
      fn(Element<uint16_t>());
      return true;
    case 4:
      fn(Element<uint32_t>());
      return true;
    case 8:
      if (dtype == DT_COMPLEX64) return false;
      fn(Element<uint64_t>());
      return true;
    default:
      return false;
  }
}

// Output `output`: `values`, of the output's type, int32 or int64.
inline Status StoreIndices(OpKernelContext* ctx, int output,
                           const std::vector<int64_t>& values) {
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(ctx->allocate_output(
      output, {static_cast<int64_t>(values.size())}, &out));
  for (size_t i = 0; i < values.size(); ++i) {
    if (out->dtype() == DT_INT64) {
      out->data<int64_t>()[i] = values[i];
    } else {
      out->data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_ARRAY_VALUE_KEYS_H_
