// Rows of half and bfloat16 to float and back, rounding to nearest even.
#ifndef HEADRACE_KERNELS_LIB_HALF_CONVERT_H_
#define HEADRACE_KERNELS_LIB_HALF_CONVERT_H_

#include <cstdint>

#include "framework/tensor/types.h"

namespace headrace {

void ToFloat(const half* x, int64_t n, float* y);
void ToFloat(const bfloat16* x, int64_t n, float* y);
void FromFloat(const float* x, int64_t n, half* y);
void FromFloat(const float* x, int64_t n, bfloat16* y);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_HALF_CONVERT_H_
