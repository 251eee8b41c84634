// FusedTail: what follows a matrix product or a convolution element by element:
// y = activation(y * scale + bias + addend). Blas and Dnn do it where they can;
// ApplyTailOnDevice does it afterwards, in one pass.
#ifndef HEADRACE_KERNELS_GPU_TAIL_H_
#define HEADRACE_KERNELS_GPU_TAIL_H_

#include <string>
#include <vector>

#include "kernels/gpu/gpu_op.h"
#include "kernels/lib/epilogue.h"

namespace headrace::gpu {

// Constant after it was read.
struct FusedTail {
  bool has_mul = false, has_bias = false, has_batch_norm = false,
       has_add = false;
  Tail tail = Tail::kNone;
  float alpha = 0.2f, epsilon = 0.0001f;
  // The activation's name for Blas and Dnn.
  GpuActivation blas = GpuActivation::kNone;

  // Whether they have it.
  bool blas_knows() const {
    return tail == Tail::kNone || blas != GpuActivation::kNone;
  }

  // From the attrs of a fused node whose args start at input 2. Unimplemented
  // for activations that have no kernel here.
  Status Read(const OpKernelConstruction& ctx);
  Status ReadOfProduct(const OpKernelConstruction& ctx);

 private:
  Status Set(const FusedOps& fused, const std::vector<std::string>& ops);
};

// In place on `y`, whose channels are `inner` elements apart. Tensors may be
// null; `scale` and `wide_bias` are of the type that y is computed in, `bias`
// and `addend` of y's. One of the biases at most.
Status ApplyTailOnDevice(Stream* stream, const FusedTail& tail,
                         const Tensor* scale, const Tensor* bias,
                         const Tensor* wide_bias, const Tensor* addend,
                         int64_t channels, int64_t inner, Tensor* y);

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_TAIL_H_
