// Dnn: convolutions, pooling, batch normalisation and softmax on a stream.
// CUDA's implementation is cuDNN, the host's are plain loops.
//
// Problems are plain structs; buffers are dense in the layout that the problem
// names. Every method checks sizes and returns InvalidArgument for what is
// impossible, Unimplemented for what this implementation cannot do.
#ifndef HEADRACE_DEVICE_GPU_DNN_H_
#define HEADRACE_DEVICE_GPU_DNN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "device/gpu/blas.h"
#include "device/gpu/stream_executor.h"
#include "headrace/types.h"

namespace headrace::gpu {

enum class DataLayout : uint8_t { kNHWC, kNCHW };
// Of a convolution's filter; O and I are the channels out and in of one group.
enum class FilterLayout : uint8_t {
  kHWIO,  // TensorFlow's
  kOIHW,  // cuDNN's with NCHW
  kOHWI,  // cuDNN's with NHWC
};
const char* LayoutName(DataLayout layout);
const char* LayoutName(FilterLayout layout);

// ---- Convolution ------------------------------------------------------------

enum class ConvKind : uint8_t { kForward, kBackwardInput, kBackwardFilter };
const char* ConvKindName(ConvKind kind);

// A convolution of two spatial dimensions; [0] is height, [1] is width.
// Padding is the same before and after: asymmetric padding is explicit, by the
// caller. Outputs are
//   out = (in + 2 * padding - (filter - 1) * dilation - 1) / stride + 1.
struct ConvProblem {
  ConvKind kind = ConvKind::kForward;
  DataType type = DT_FLOAT;               // half, bfloat16, float, double
  DataLayout layout = DataLayout::kNHWC;  // of input and output
  FilterLayout filter_layout = FilterLayout::kHWIO;
  int64_t batch = 0, in_depth = 0, out_depth = 0;
  int64_t groups = 1;  // divide both depths; the filter has in_depth / groups
  int64_t input[2] = {0, 0};
  int64_t filter[2] = {0, 0};
  int64_t output[2] = {0, 0};
  int64_t padding[2] = {0, 0};
  int64_t stride[2] = {1, 1};
  int64_t dilation[2] = {1, 1};
  MathMode math = MathMode::kFloat;
  // Forward only: bias [out_depth], addend like the output.
  bool has_bias = false, has_addend = false;
  GpuActivation activation = GpuActivation::kNone;

  int64_t InputElements() const;
  int64_t FilterElements() const;
  int64_t OutputElements() const;
  // All of the above in one line, for messages and keys.
  std::string ToString() const;
  bool operator==(const ConvProblem&) const = default;
};

// InvalidArgument unless all numbers are possible and `output` follows from the
// others. Every implementation calls it.
Status CheckConv(const ConvProblem& p);

// A way to compute a convolution. `id` means something to the Dnn that gave it,
// of the same version, and for the same kind of problem only.
struct ConvAlgorithm {
  int64_t id = -1;
  std::string name;             // "implicit_precomp_gemm": for people
  int64_t workspace_bytes = 0;  // for the problem that was asked about
  bool deterministic = true;

  bool operator==(const ConvAlgorithm& o) const { return id == o.id; }
};

// The buffers of a convolution: the kind says which one is written.
//   kForward:        output = activation(alpha * conv(input, filter)
//                             + beta * output + bias + addend)
//   kBackwardInput:  input  = alpha * gradient(filter, output) + beta * input
//   kBackwardFilter: filter = alpha * gradient(input, output) + beta * filter
// With beta 0 the written buffer is not read.
struct ConvBuffers {
  DeviceMemoryBase input, filter, output, bias, addend;
  double alpha = 1, beta = 0;
};

// ---- Pooling ----------------------------------------------------------------

enum class PoolMode : uint8_t {
  kMax,
  kAverage,  // of the elements inside the image, as TensorFlow counts
};

// Padding may differ before and after; cells outside the image do not count.
struct PoolProblem {
  PoolMode mode = PoolMode::kMax;
  DataType type = DT_FLOAT;
  DataLayout layout = DataLayout::kNHWC;
  int64_t batch = 0, depth = 0;
  int64_t input[2] = {0, 0}, window[2] = {1, 1}, output[2] = {0, 0};
  int64_t padding_before[2] = {0, 0};
  int64_t stride[2] = {1, 1};

  std::string ToString() const;
};
Status CheckPool(const PoolProblem& p);

// ---- Batch normalisation ----------------------------------------------------

// Statistics, scale and offset are float, one for each channel.
struct BatchNormProblem {
  DataType type = DT_FLOAT;  // of x and y: half, bfloat16, float
  DataLayout layout = DataLayout::kNHWC;
  int64_t batch = 0, height = 0, width = 0, depth = 0;
  double epsilon = 1e-3;
  GpuActivation activation = GpuActivation::kNone;  // forward only

  std::string ToString() const;
};
Status CheckBatchNorm(const BatchNormProblem& p);

// ---- Dnn --------------------------------------------------------------------

// Thread-safe.
class Dnn {
 public:
  virtual ~Dnn() = default;

  // 91200 is cuDNN 9.12; part of the key of measured choices.
  virtual int version() const = 0;
  // Whether NHWC kernels of this type are worth having. Where false, NHWC input
  // is transposed to NCHW.
  virtual bool PrefersNhwc(DataType type) const = 0;
  // Whether Convolve can add bias, addend and activation for this problem.
  virtual bool CanFuse(const ConvProblem& problem) const = 0;

  // All algorithms that can compute `problem`, the one of the heuristic first.
  // `deterministic` leaves out those whose results may differ between runs.
  virtual StatusOr<std::vector<ConvAlgorithm>> ConvAlgorithms(
      const ConvProblem& problem, bool deterministic) = 0;
  // Queues a convolution. `scratch` may be null if the algorithm needs no
  // workspace; its ResourceExhausted is returned. Failures name the problem and
  // the library's call.
  virtual Status Convolve(Stream* stream, const ConvProblem& problem,
                          const ConvAlgorithm& algorithm,
                          const ConvBuffers& buffers,
                          ScratchAllocator* scratch) = 0;

  virtual Status Pool(Stream* stream, const PoolProblem& problem,
                      DeviceMemoryBase input, DeviceMemoryBase output) = 0;
  virtual Status PoolGrad(Stream* stream, const PoolProblem& problem,
                          DeviceMemoryBase input, DeviceMemoryBase output,
                          DeviceMemoryBase output_grad,
                          DeviceMemoryBase input_grad) = 0;

  // y = activation(scale * (x - mean) / sqrt(variance + epsilon) + offset).
  virtual Status BatchNormInference(Stream* stream, const BatchNormProblem& p,
                                    DeviceMemoryBase x, DeviceMemoryBase scale,
                                    DeviceMemoryBase offset,
                                    DeviceMemoryBase mean,
                                    DeviceMemoryBase variance,
                                    DeviceMemoryBase y) = 0;
  // The same with the batch's mean and variance, which it writes: `mean`,
  // `variance` (divided by n - 1 instead of n where n > 1, as TensorFlow gives
  // it) and for the gradient `saved_inv_std`, 1 / sqrt(variance + epsilon) with
  // the variance divided by n.
  virtual Status BatchNormTraining(Stream* stream, const BatchNormProblem& p,
                                   DeviceMemoryBase x, DeviceMemoryBase scale,
                                   DeviceMemoryBase offset, DeviceMemoryBase y,
                                   DeviceMemoryBase mean,
                                   DeviceMemoryBase variance,
                                   DeviceMemoryBase saved_inv_std) = 0;
  virtual Status BatchNormGrad(Stream* stream, const BatchNormProblem& p,
                               DeviceMemoryBase y_grad, DeviceMemoryBase x,
                               DeviceMemoryBase scale, DeviceMemoryBase mean,
                               DeviceMemoryBase saved_inv_std,
                               DeviceMemoryBase x_grad,
                               DeviceMemoryBase scale_grad,
                               DeviceMemoryBase offset_grad) = 0;

  // Over the last dimension of [rows, classes]; may work in place.
  virtual Status Softmax(Stream* stream, DataType type, int64_t rows,
                         int64_t classes, bool log, DeviceMemoryBase x,
                         DeviceMemoryBase y) = 0;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_DNN_H_
