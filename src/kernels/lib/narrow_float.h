// Vectorised conversion between float and half or bfloat16. Kernels compute
// narrow types in float, one block at a time.
#ifndef HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_
#define HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_

#include <bit>
#include <cstdint>

#include "headrace/types.h"

namespace headrace {

void Widen(const half* x, float* y, int64_t n);
void Widen(const bfloat16* x, float* y, int64_t n);
// Rounds to nearest, ties to even. NaN stays NaN.
void Narrow(const float* x, half* y, int64_t n);
void Narrow(const float* x, bfloat16* y, int64_t n);

// The bits of the bfloat16 to which Narrow rounds x.
inline uint16_t FloatToBfloat16Bits(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return static_cast<uint16_t>(nan ? (bits >> 16 | 0x40u) : rounded);
}

constexpr bool IsNarrowFloat(DataType t) {
  return t == DT_HALF || t == DT_BFLOAT16;
}
// By type; `t` is DT_HALF or DT_BFLOAT16.
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

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_NARROW_FLOAT_H_
