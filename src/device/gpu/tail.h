// Tail: the activations that kernels of our own apply to the result of a fused
// layer. Device code includes this header.
#ifndef HEADRACE_DEVICE_GPU_TAIL_H_
#define HEADRACE_DEVICE_GPU_TAIL_H_

namespace headrace::gpu {

enum class Tail : int {
  kNone,
  kRelu,
  kRelu6,
  kLeakyRelu,
  kElu,
  kTanh,
  kSigmoid
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_TAIL_H_
