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
#include <string>

#include "absl/types/span.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"

namespace headrace {

struct BatchNormView {
  int64_t outer = 0, channels = 0, inner = 0;
  int64_t count() const { return outer * inner; }  // elements a channel
};

// The attrs of both directions.
struct BatchNormAttrs {
  float epsilon = 0.0001f;
  bool is_training = true;
  DataFormat format = DataFormat::kNHWC;

  Status Read(OpKernelConstruction* ctx) {
    HR_RETURN_IF_ERROR(ctx->GetAttr("epsilon", &epsilon));
    HR_RETURN_IF_ERROR(ctx->GetAttr("is_training", &is_training));
    std::string text;
    HR_RETURN_IF_ERROR(ctx->GetAttr("data_format", &text));
    return ParseDataFormat(text, &format);
  }
  Status View(const TensorShape& x, BatchNormView* v) const {
    if (x.dims() != 4 && x.dims() != 5) {
      return errors::InvalidArgument("input must be 4 or 5-dimensional, got ",
                                     x.DebugString());
    }
    const int axis = ChannelDim(format, x.dims());
    v->channels = x.dim_size(axis);
    v->outer = x.num_elements() == 0 ? 0 : x.ProductOf(0, axis);
    v->inner = x.num_elements() == 0 ? 0 : x.ProductOf(axis + 1, x.dims());
    return OkStatus();
  }
};

// InvalidArgument unless `t` is a vector with an element for each channel.
inline Status CheckBatchNormVector(const char* name, const Tensor& t,
                                   int64_t channels, const char* when = "") {
  if (t.dims() != 1) {
    return errors::InvalidArgument(name, " must be 1-dimensional, got ",
                                   t.shape().DebugString());
  }
  if (t.NumElements() != channels) {
    return errors::InvalidArgument(
        when, name,
        " must have the same number of elements as the channels of x, got ",
        t.NumElements(), " and ", channels);
  }
  return OkStatus();
}

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
