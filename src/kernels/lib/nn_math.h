// Functions for activations, losses and recurrent cells: vector code for float
// (see vector_math.h), the C library for double. Elu and Softplus need expm1
// and log1p near zero.
#ifndef HEADRACE_KERNELS_LIB_NN_MATH_H_
#define HEADRACE_KERNELS_LIB_NN_MATH_H_

#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/lib/narrow_float.h"
#include "kernels/lib/vector_math.h"

namespace headrace::vec {

inline float Exp(float x) { return VecExp(x); }
inline double Exp(double x) { return std::exp(x); }
inline float Tanh(float x) { return VecTanh(x); }
inline double Tanh(double x) { return std::tanh(x); }
inline float Sigmoid(float x) { return VecSigmoid(x); }
inline double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

inline float Expm1(float x) { return VecExpm1(x); }
inline double Expm1(double x) { return std::expm1(x); }

// log(1 + x) for NaN or 0 <= x < 1e30. It need not handle zeros, denormals and
// infinities. The second term corrects the rounding of 1 + x.
inline float Log1pNonNegative(float x) {
  const float u = 1.0f + x;
  // u = 2^e (1 + m), sqrt(1/2) <= 1 + m < sqrt(2).
  constexpr uint32_t kRootHalf = 0x3f3504f3u;
  const uint32_t shifted = std::bit_cast<uint32_t>(u) - kRootHalf;
  const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
  const float m =
      std::bit_cast<float>((shifted & 0x007fffffu) + kRootHalf) - 1.0f;
  return ReducedLog(e, m) + (x - (u - 1.0f)) / u;
}
inline double Log1pNonNegative(double x) { return std::log1p(x); }

}  // namespace headrace::vec

#endif  // HEADRACE_KERNELS_LIB_NN_MATH_H_
