// x^y of floats, many at a time. Each result depends on its x and y alone, not
// on where they stand. On processors with AVX2 or AVX-512 by pairs of floats,
// to 1.1 units of the last place (0.9 but for results near either end of the
// floats); elsewhere by doubles, to 0.6. Signs, zeros, infinities and NaN are
// those of C99. Squares and square roots are rounded once.
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
