// What the files of the CUDA platform share.
#ifndef HEADRACE_DEVICE_GPU_CUDA_CUDA_PLATFORM_H_
#define HEADRACE_DEVICE_GPU_CUDA_CUDA_PLATFORM_H_

#include <cuda_runtime_api.h>

#include <memory>

#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "device/gpu/stream_executor.h"

namespace headrace::gpu {

// OK, or "cudaMalloc failed: cudaErrorMemoryAllocation: out of memory" with the
// code ResourceExhausted for want of memory and else Internal.
Status CudaStatus(cudaError_t error, const char* call);

#define HR_CUDA_RETURN_IF_ERROR(CALL, ...) \
  HR_RETURN_IF_ERROR(::headrace::gpu::CudaStatus(CALL(__VA_ARGS__), #CALL))

// Makes a device the current one of this thread, and the one before again.
class ScopedDevice {
 public:
  explicit ScopedDevice(int ordinal) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = ordinal;
    if (before_ != ordinal) cudaSetDevice(ordinal);
    now_ = ordinal;
  }
  ~ScopedDevice() {
    if (before_ != now_) cudaSetDevice(before_);
  }
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;

 private:
  int before_ = 0, now_ = 0;
};

inline cudaStream_t CudaStreamOf(Stream* stream) {
  return static_cast<cudaStream_t>(stream->platform_handle());
}

StatusOr<std::unique_ptr<Blas>> NewCudaBlas(StreamExecutor* executor);
StatusOr<std::unique_ptr<Dnn>> NewCudaDnn(StreamExecutor* executor);

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_CUDA_CUDA_PLATFORM_H_
