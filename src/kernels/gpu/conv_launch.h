// ConvLauncher: a two-dimensional convolution or one of its gradients on a GPU,
// in the order in which TensorFlow's GPU kernel looks for a way:
//
//   1. NHWC, a filter of 1x1, strides 1, no padding: a product of matrices.
//   2. NHWC, a filter as large as the input, no padding: the same.
//   3. Padding that is not the same before and after: the input is padded.
//   4. NHWC where Dnn has no good kernels for it: transposed to NCHW.
//   5. The filter, HWIO, transposed to the layout that Dnn wants. That of a
//      constant filter is kept.
//   6. The algorithm of the autotuner (conv_autotune.h), or the heuristic's.
//   7. Dnn, with bias, addend and activation where it can, else a functor.
//   8. The result transposed back.
//
// If there is no memory for a workspace, an algorithm that needs none runs; if
// the chosen algorithm fails otherwise, another one does. The name that is
// reported says so. If none runs: the same without the tail, then in NCHW with
// and without it. What did not run is not tried again in this process.
//
// Thread-safe: a launcher is constant, and guards the filter that it keeps.
#ifndef HEADRACE_KERNELS_GPU_CONV_LAUNCH_H_
#define HEADRACE_KERNELS_GPU_CONV_LAUNCH_H_

#include <functional>
#include <memory>
#include <string>

#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "framework/shape_fns/conv_attrs.h"
#include "headrace/mutex.h"
#include "headrace/tensor.h"
#include "kernels/gpu/conv_autotune.h"
#include "kernels/gpu/tail.h"

namespace headrace::gpu {

// What a convolution works with, for one call.
struct ConvEnvironment {
  Stream* stream = nullptr;
  Blas* blas = nullptr;
  Dnn* dnn = nullptr;
  ConvAutotuner* tuner = nullptr;
  std::string device;  // for the tuner's key
  bool deterministic = true;
  MathMode math = MathMode::kFloat;
  // Temporary memory of the device.
  std::function<Status(DataType, const TensorShape&, Tensor*)> allocate;
  // A new scratch for each call of Blas or Dnn.
  std::function<std::unique_ptr<ScratchAllocator>()> scratch;
  // For measurements. Null: none.
  std::function<StatusOr<std::unique_ptr<Timer>>()> timer;
};

// Images are in `format`, filters HWIO. The tensor that the kind computes is
// `result`, the others are read.
struct ConvCall {
  ConvKind kind = ConvKind::kForward;
  ConvSizes sizes;
  DataType dtype = DT_FLOAT;
  DataFormat format = DataFormat::kNHWC;
  const Tensor *input = nullptr, *filter = nullptr, *out_backprop = nullptr;
  Tensor* result = nullptr;
  // Forward only; may be null.
  const FusedTail* tail = nullptr;
  const Tensor *scale = nullptr, *bias = nullptr, *wide_bias = nullptr,
               *addend = nullptr;
};

class ConvLauncher {
 public:
  // The filter is this tensor in every call.
  void SetConstantFilter(const Tensor& filter);

  // Queues the convolution. `algorithm`, if not null, gets the name of the way
  // that was taken: "gemm_1x1", "gemm_full", or that of Dnn's algorithm.
  Status Run(const ConvEnvironment& env, const ConvCall& call,
             std::string* algorithm);

 private:
  Status RunGemm(const ConvEnvironment& env, const ConvCall& call, int64_t m,
                 int64_t k) const;
  struct DnnProblem;
  // Tries one way after the other.
  Status RunDnn(const ConvEnvironment& env, const ConvCall& call,
                std::string* algorithm);
  Status RunDnnAs(const ConvEnvironment& env, const ConvCall& call,
                  const ConvKey& key, const DnnProblem& problem,
                  std::string* algorithm);
  // The filter in the layout; kept if it is the constant.
  Status FilterIn(const ConvEnvironment& env, const ConvCall& call,
                  FilterLayout layout, Tensor* out);
  Status Convolve(const ConvEnvironment& env, const ConvKey& key,
                  const ConvBuffers& buffers, std::string* algorithm) const;

  Mutex mu_;
  Tensor constant_ GUARDED_BY(mu_);
  Tensor kept_ GUARDED_BY(mu_);
  FilterLayout kept_layout_ GUARDED_BY(mu_) = FilterLayout::kHWIO;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_CONV_LAUNCH_H_
