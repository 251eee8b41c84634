// The tail of fused products: x = activation(x + bias), in place, the way
// BiasAdd and the activation would have computed it one after the other (half
// and bfloat16 are rounded once instead of twice).
#ifndef HEADRACE_KERNELS_BIAS_ACTIVATION_H_
#define HEADRACE_KERNELS_BIAS_ACTIVATION_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "framework/op_kernel.h"

namespace headrace {

enum class Activation {
  kNone,
  kRelu,
  kRelu6,
  kElu,
  kLeakyRelu,
  kSigmoid,
  kTanh
};

// By the name of its op; false if it is none of these.
bool ParseActivation(const std::string& op, Activation* activation);

// Attrs fused_ops and leakyrelu_alpha of a fused product. fused_ops is BiasAdd
// and then at most one activation.
Status GetBiasActivation(OpKernelConstruction* ctx, Activation* activation,
                         float* leakyrelu_alpha);

// `rows` rows of n elements, `stride` elements apart. Without a bias if that is
// null. float, double, half, bfloat16.
template <typename T>
void ApplyBiasActivation(T* x, int64_t rows, int64_t n, int64_t stride,
                         const T* bias, Activation activation,
                         float leakyrelu_alpha);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_BIAS_ACTIVATION_H_
