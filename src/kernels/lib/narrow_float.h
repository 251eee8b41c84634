// half and bfloat16 to float and back, in bulk and vectorised: kernels compute
// narrow types in float, a block at a time.
#ifndef HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_
#define HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_

#include <bit>
#include <cstdint>

#include "headrace/types.h"

namespace headrace {

void Widen(const half* x, float* y, int64_t n);
void Widen(const bfloat16* x, float* y, int64_t n);
// To nearest, ties to even; NaN stays NaN.
void Narrow(const float* x, half* y, int64_t n);
void Narrow(const float* x, bfloat16* y, int64_t n);

constexpr bool IsNarrowFloat(DataType t) {
  return t == DT_HALF || t == DT_BFLOAT16;
}
// By type; `t` is one of the two.
inline void Widen(DataType t, const void* x, float* y, int64_t n) {
  if (t == DT_HALF) {
    Widen(static_cast<const half*>(x), y, n);
  } else {
    Widen(static_cast<const bfloat16*>(x), y, n);
  }
}
inline void Narrow(DataType t, const float* x, void* y, int64_t n) {
  if (t == DT_HALF) {
    Narrow(x, static_cast<half*>(y), n);
  } else {
    Narrow(x, static_cast<bfloat16*>(y), n);
  }
}

// What a kernel computes with for a tensor of T: float for the narrow floats,
// the integer inside for quantised types, T itself otherwise.
template <typename T>
struct ComputeTypeOf {
  using type = T;
};
#define HR_COMPUTE_TYPE(T, C) \
  template <>                 \
  struct ComputeTypeOf<T> {   \
    using type = C;           \
  }
HR_COMPUTE_TYPE(half, float);
HR_COMPUTE_TYPE(bfloat16, float);
HR_COMPUTE_TYPE(qint8, int8_t);
HR_COMPUTE_TYPE(quint8, uint8_t);
HR_COMPUTE_TYPE(qint16, int16_t);
HR_COMPUTE_TYPE(quint16, uint16_t);
HR_COMPUTE_TYPE(qint32, int32_t);
#undef HR_COMPUTE_TYPE
template <typename T>
using ComputeType = typename ComputeTypeOf<T>::type;

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_
