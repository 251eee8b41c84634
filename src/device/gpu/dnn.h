// Dnn: convolutions on a stream. CUDA's implementation is cuDNN, the host's are
// plain loops. Pooling, norms and softmax are kernels of our own
// (kernels/gpu/).
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
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_DNN_H_
