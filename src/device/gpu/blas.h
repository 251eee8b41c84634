// Blas: matrix products on a stream. Matrices are row-major, as tensors are.
// CUDA's implementation is cuBLASLt, the host's a plain loop.
#ifndef HEADRACE_DEVICE_GPU_BLAS_H_
#define HEADRACE_DEVICE_GPU_BLAS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "device/gpu/stream_executor.h"
#include "headrace/types.h"

namespace headrace::gpu {

// Applied to a result before it is written.
enum class GpuActivation : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kElu,
  kTanh,
  kSigmoid
};
// The op's name, or "None".
const char* GpuActivationName(GpuActivation a);

// How float products are computed. Others are not affected.
enum class MathMode : uint8_t {
  kFloat,  // all bits of float
  kTf32,   // 10 bits of the fraction, on tensor cores
};

// c = activation(alpha * op(a) * op(b) + beta * c + bias), for each matrix of a
// batch. op(a) is [m, k], op(b) [k, n], c [m, n]. Leading dimensions are the
// elements from a row to the next of what is stored: a is stored [m, k], or
// [k, m] if transpose_a. Strides are elements from a matrix to the next; 0
// repeats one matrix (not for c).
struct GemmProblem {
  DataType type = DT_FLOAT;  // of a, b, c, bias: half, bfloat16, float, double
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  double alpha = 1, beta = 0;  // beta 0 does not read c
  bool has_bias = false;       // [n], added to each row
  GpuActivation activation = GpuActivation::kNone;
  MathMode math = MathMode::kFloat;

  // Dense matrices without epilogue; stride_c too.
  static GemmProblem Dense(DataType type, int64_t m, int64_t n, int64_t k,
                           bool transpose_a = false, bool transpose_b = false,
                           int64_t batch = 1);
  // "Gemm float 64x1000x2048 batch 1 +bias Relu", for messages and keys.
  std::string ToString() const;
  bool operator==(const GemmProblem&) const = default;
};

// InvalidArgument if a dimension, leading dimension, stride or a buffer's size
// is impossible. Every implementation calls it.
Status CheckGemm(const GemmProblem& p, const DeviceMemoryBase& a,
                 const DeviceMemoryBase& b, const DeviceMemoryBase& bias,
                 const DeviceMemoryBase& c);

// Thread-safe.
class Blas {
 public:
  virtual ~Blas() = default;

  // Queues the product. `scratch` may be null: then only algorithms that need
  // no memory are taken. The result is the same in each run. Empty products
  // (m, n or batch 0) do nothing; with k == 0 the product is zero.
  virtual Status Gemm(Stream* stream, const GemmProblem& problem,
                      DeviceMemoryBase a, DeviceMemoryBase b,
                      DeviceMemoryBase bias, DeviceMemoryBase c,
                      ScratchAllocator* scratch) = 0;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_BLAS_H_
