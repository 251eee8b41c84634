// x^y of many floats. A result depends only on its x and y, not on its
// position. With AVX2 or AVX-512 the computation uses pairs of floats; the
// error is at most 1.1 units of the last place (0.9 unless the result is near
// either end of the range). Elsewhere it uses doubles, with at most 0.6. Signs,
// zeros, infinities and NaN are as in C99. Squares and square roots are rounded
// once.
#ifndef HEADRACE_KERNELS_LIB_VECTOR_POW_H_
#define HEADRACE_KERNELS_LIB_VECTOR_POW_H_

#include <cstdint>

namespace headrace {

// z[i] = x[i]^y[i]. z may be x or y.
void VecPow(const float* x, const float* y, float* z, int64_t n);
// The same for one y; faster where it is 2, 3 or 0.5.
void VecPow(const float* x, float y, float* z, int64_t n);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VECTOR_POW_H_
