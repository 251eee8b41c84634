// Numbers in code that runs on the host and on a GPU: 16-bit floats as bits,
// and the functions of the C library by one name for float and double.
//
// A kernel loads elements, computes in ComputeType and rounds once when it
// stores, as the CPU's kernels do.
#ifndef HEADRACE_KERNELS_GPU_NUMERIC_H_
#define HEADRACE_KERNELS_GPU_NUMERIC_H_

#include <math.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define HR_HOST_DEVICE __host__ __device__
#else
#define HR_HOST_DEVICE
#endif

namespace headrace::gpu {

// Elements of DT_HALF and DT_BFLOAT16: their bits, without arithmetic.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

HR_HOST_DEVICE inline uint32_t BitsOf(float x) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(x);
#else
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
#endif
}
HR_HOST_DEVICE inline float FloatOf(uint32_t u) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(u);
#else
  float x;
  memcpy(&x, &u, 4);
  return x;
#endif
}

HR_HOST_DEVICE inline float Widen(Bfloat16 x) {
  return FloatOf(uint32_t{x.bits} << 16);
}
HR_HOST_DEVICE inline float Widen(Half h) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(h.bits));
#else
  const uint32_t sign = uint32_t{h.bits & 0x8000u} << 16;
  const uint32_t rest = h.bits & 0x7fffu;
  if (rest >= 0x7c00u) {  // infinity or NaN
    return FloatOf(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  }
  if (rest >= 0x400u) return FloatOf(sign | ((rest << 13) + 0x38000000u));
  // A multiple of 2^-24.
  const float tiny = static_cast<float>(rest) * 5.9604644775390625e-8f;
  return sign != 0 ? -tiny : tiny;
#endif
}

// To the nearest, ties to even.
HR_HOST_DEVICE inline Bfloat16 NarrowToBfloat16(float x) {
  const uint32_t u = BitsOf(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) {
    return {static_cast<uint16_t>((u >> 16 & 0x8000u) | 0x7fc0u)};
  }
  return {static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1)) >> 16)};
}
HR_HOST_DEVICE inline Half NarrowToHalf(float x) {
#ifdef __CUDA_ARCH__
  return {__half_as_ushort(__float2half_rn(x))};
#else
  const uint32_t u = BitsOf(x);
  const uint32_t sign = u >> 16 & 0x8000u;
  uint32_t rest = u & 0x7fffffffu;
  if (rest >= 0x47800000u) {  // 65536 and more, or NaN
    rest = rest > 0x7f800000u ? 0x7e00u : 0x7c00u;
  } else if (rest < 0x38800000u) {
    // Below the smallest normal number: the sum's last bit is 2^-24.
    rest = BitsOf(FloatOf(rest) + 0.5f) - 0x3f000000u;
  } else {
    rest = (rest - 0x38000000u + 0xfffu + (rest >> 13 & 1)) >> 13;
  }
  return {static_cast<uint16_t>(sign | rest)};
#endif
}

template <typename T>
inline constexpr bool kIsNarrow =
    std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;
// The type in which elements of type T are computed.
template <typename T>
using ComputeType = std::conditional_t<kIsNarrow<T>, float, T>;

template <typename T>
HR_HOST_DEVICE inline ComputeType<T> Load(const T& x) {
  if constexpr (kIsNarrow<T>) {
    return Widen(x);
  } else {
    return x;
  }
}
// Rounds x, of any arithmetic type, to T.
template <typename T, typename C>
HR_HOST_DEVICE inline T Store(C x) {
  if constexpr (std::is_same_v<T, Half>) {
    return NarrowToHalf(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return NarrowToBfloat16(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

// The extremes of type C, by which maxima and minima begin.
template <typename C>
struct Limits;
template <>
struct Limits<float> {
  HR_HOST_DEVICE static float Lowest() { return -3.402823466e+38f; }
  HR_HOST_DEVICE static float Infinity() { return FloatOf(0x7f800000u); }
};
template <>
struct Limits<double> {
  HR_HOST_DEVICE static double Lowest() { return -1.7976931348623157e308; }
  HR_HOST_DEVICE static double Infinity() { return HUGE_VAL; }
};
template <>
struct Limits<int32_t> {
  HR_HOST_DEVICE static int32_t Lowest() { return -2147483647 - 1; }
  HR_HOST_DEVICE static int32_t Infinity() { return 2147483647; }
};
template <>
struct Limits<int64_t> {
  HR_HOST_DEVICE static int64_t Lowest() { return -Infinity() - 1; }
  HR_HOST_DEVICE static int64_t Infinity() { return 0x7fffffffffffffffLL; }
};
// Of the values that elements of type T can have.
template <typename T>
HR_HOST_DEVICE inline ComputeType<T> LowestOf() {
  if constexpr (std::is_same_v<T, Half>) return -65504.0f;
  if constexpr (std::is_same_v<T, Bfloat16>) return FloatOf(0xff7f0000u);
  if constexpr (!kIsNarrow<T>) return Limits<T>::Lowest();
}

#define HR_GPU_MATH(NAME, FUNCTION)                                      \
  HR_HOST_DEVICE inline float NAME(float x) { return ::FUNCTION##f(x); } \
  HR_HOST_DEVICE inline double NAME(double x) { return ::FUNCTION(x); }
HR_GPU_MATH(Exp, exp)
HR_GPU_MATH(Expm1, expm1)
HR_GPU_MATH(Log, log)
HR_GPU_MATH(Log1p, log1p)
HR_GPU_MATH(Sqrt, sqrt)
HR_GPU_MATH(Tanh, tanh)
HR_GPU_MATH(Sin, sin)
HR_GPU_MATH(Cos, cos)
HR_GPU_MATH(Erf, erf)
HR_GPU_MATH(Erfc, erfc)
HR_GPU_MATH(Floor, floor)
HR_GPU_MATH(Ceil, ceil)
HR_GPU_MATH(Trunc, trunc)
HR_GPU_MATH(NearbyInt, nearbyint)
HR_GPU_MATH(Abs, fabs)
#undef HR_GPU_MATH
HR_HOST_DEVICE inline float Pow(float x, float y) { return ::powf(x, y); }
HR_HOST_DEVICE inline double Pow(double x, double y) { return ::pow(x, y); }
HR_HOST_DEVICE inline float Fmod(float x, float y) { return ::fmodf(x, y); }
HR_HOST_DEVICE inline double Fmod(double x, double y) { return ::fmod(x, y); }

template <typename C>
HR_HOST_DEVICE inline C MaxOf(C x, C y) {
  return x >= y || x != x ? x : y;
}
template <typename C>
HR_HOST_DEVICE inline C MinOf(C x, C y) {
  return x <= y || x != x ? x : y;
}

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_NUMERIC_H_
