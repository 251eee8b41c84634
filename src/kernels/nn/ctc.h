// Shared by the CTC ops.
#ifndef HEADRACE_KERNELS_NN_CTC_H_
#define HEADRACE_KERNELS_NN_CTC_H_

#include <cmath>
#include <limits>

#include "headrace/op_kernel.h"

namespace headrace {

// The logarithm of probability 0.
template <typename T>
inline constexpr T kLogZero = -std::numeric_limits<T>::infinity();

// log(exp(a) + exp(b))
template <typename T>
T LogSum(T a, T b) {
  if (a == kLogZero<T>) return b;
  if (b == kLogZero<T>) return a;
  return a > b ? a + std::log1p(std::exp(b - a))
               : b + std::log1p(std::exp(a - b));
}

// InvalidArgument unless the logits are [time, batch, classes] and not empty.
inline Status CheckCtcLogits(const Tensor& inputs) {
  if (inputs.dims() != 3) {
    return errors::InvalidArgument(
        "inputs must be [time, batch, classes], got shape ",
        inputs.shape().DebugString());
  }
  if (inputs.dim_size(1) == 0) {
    return errors::InvalidArgument("batch_size must not be 0, got inputs of ",
                                   "shape ", inputs.shape().DebugString());
  }
  if (inputs.NumElements() == 0) {
    return errors::InvalidArgument("inputs must not be empty, got shape ",
                                   inputs.shape().DebugString());
  }
  return OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_CTC_H_
