// Fused batch normalisation of a tensor viewed as [outer, channels, inner]
// (NHWC: outer = N*H*W, inner = 1; NCHW: outer = N, inner = H*W). The
// implementations are an ordered list, and the first that accepts the view
// runs. The last one is the reference; fused_batch_norm_op_test.cc compares
// each with it.
//
// Statistics are float vectors of `channels` elements for every type of x.
#ifndef HEADRACE_KERNELS_NN_FUSED_BATCH_NORM_H_
#define HEADRACE_KERNELS_NN_FUSED_BATCH_NORM_H_

#include <cstdint>

#include "absl/types/span.h"
#include "headrace/op_kernel.h"

namespace headrace {

struct BatchNormView {
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t count() const { return outer * inner; }  // elements a channel
};

template <typename T>
struct BatchNormImplementation {
  const char* name;
  bool (*accepts)(const BatchNormView& v);
  // Computes the mean and the biased variance of each channel. count() > 0.
  Status (*moments)(OpKernelContext* ctx, const BatchNormView& v, const T* x,
                    float* mean, float* variance);
  // y = (x - mean) * factor + offset.
  void (*normalize)(OpKernelContext* ctx, const BatchNormView& v, const T* x,
                    const float* mean, const float* factor, const float* offset,
                    T* y);
  // sum_dy = sum of dy; sum_dyx = sum of dy * (x - mean).
  Status (*grad_sums)(OpKernelContext* ctx, const BatchNormView& v, const T* dy,
                      const T* x, const float* mean, float* sum_dy,
                      float* sum_dyx);
  // dx = a * dy + b * (x - mean) + c.
  void (*grad_input)(OpKernelContext* ctx, const BatchNormView& v, const T* dy,
                     const T* x, const float* mean, const float* a,
                     const float* b, const float* c, T* dx);
};

// For half, bfloat16 and float.
template <typename T>
absl::Span<const BatchNormImplementation<T>> BatchNormImplementations();

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_FUSED_BATCH_NORM_H_
