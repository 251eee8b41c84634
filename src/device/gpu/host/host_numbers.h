// What the host's Blas and Dnn share: numbers in the type that sums have, and
// activations.
#ifndef HEADRACE_DEVICE_GPU_HOST_HOST_NUMBERS_H_
#define HEADRACE_DEVICE_GPU_HOST_HOST_NUMBERS_H_

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "device/gpu/blas.h"
#include "headrace/types.h"

namespace headrace::gpu {

// Sums of double are double, all others float.
template <typename T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename S>
S Activate(GpuActivation a, S v) {
  switch (a) {
    case GpuActivation::kNone:
      return v;
    case GpuActivation::kRelu:  // NaN stays
      return v < S(0) ? S(0) : v;
    case GpuActivation::kRelu6:
      return v < S(0) ? S(0) : v > S(6) ? S(6) : v;
    case GpuActivation::kElu:
      return v < S(0) ? std::expm1(v) : v;
    case GpuActivation::kTanh:
      return std::tanh(v);
    case GpuActivation::kSigmoid:
      return S(1) / (S(1) + std::exp(-v));
  }
  return v;
}

// Calls fn(T()) with the floating type; false for other types.
template <typename F>
bool ForFloatingType(DataType type, F&& fn) {
  switch (type) {
    case DT_FLOAT:
      fn(float());
      return true;
    case DT_DOUBLE:
      fn(double());
      return true;
    case DT_HALF:
      fn(half());
      return true;
    case DT_BFLOAT16:
      fn(bfloat16());
      return true;
    default:
      return false;
  }
}

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_HOST_HOST_NUMBERS_H_
