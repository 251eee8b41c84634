// GpuDevice: "/device:GPU:n", a device with a memory of its own whose kernels
// queue work on a stream and return.
//
// A kernel for a GPU derives from OpKernel, allocates its outputs from ctx, and
// queues work on GpuStream(ctx). It never waits, and never follows an address
// of a tensor in device memory on the CPU. Arguments that it reads on the CPU
// are registered with HostMemory.
//
//   void Compute(OpKernelContext* ctx) override {
//     const Tensor& x = ctx->input(0);
//     Tensor* y = nullptr;
//     OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
//     OP_REQUIRES_OK(ctx, LaunchRelu(gpu::GpuStream(ctx), x.data<float>(),
//                                    y->data<float>(), x.NumElements()));
//   }
//
// Memory. All kernels of a device queue on one compute stream, and its
// allocator gives memory out in the order of that stream: a buffer that is
// released while work on it is queued is given only to work behind it. So
// inputs, temporaries and scratch need not be kept. Copies from and to the host
// run on streams of their own, which keep their buffers until they are done.
#ifndef HEADRACE_DEVICE_GPU_GPU_DEVICE_H_
#define HEADRACE_DEVICE_GPU_GPU_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "device/gpu/blas.h"
#include "device/gpu/dnn.h"
#include "device/gpu/stream_executor.h"
#include "headrace/device.h"
#include "headrace/op_kernel.h"

namespace headrace::gpu {

// What the kernels of one device share. Thread-safe.
class GpuContext {
 public:
  virtual ~GpuContext() = default;
  virtual StreamExecutor* executor() const = 0;
  virtual Stream* compute_stream() const = 0;
  // From TF_CUDNN_DETERMINISTIC, and from NVIDIA_TF32_OVERRIDE: TF32 only for
  // "1".
  virtual bool deterministic() const = 0;
  virtual MathMode math_mode() const = 0;
  // A copy of `host`, of plain data, in the device's memory. Waits for it.
  virtual Status CopyToDevice(const Tensor& host, Tensor* device) = 0;
};

// The context of the device that runs `ctx`'s kernel. Only for kernels that are
// registered for DEVICE_GPU.
GpuContext* GpuContextOf(OpKernelContext* ctx);
GpuContext* GpuContextOf(OpKernelConstruction* ctx);
inline Stream* GpuStream(OpKernelContext* ctx) {
  return GpuContextOf(ctx)->compute_stream();
}

// An environment variable that switches: false for "0" and "false", `otherwise`
// if it is not set or empty.
bool EnvironmentFlag(const char* variable, bool otherwise);

// Scratch from the device's allocator for one call of a kernel.
class KernelScratch : public ScratchAllocator {
 public:
  // `limit`: bytes for one request; 0 means the default of 4 GiB, or of
  // TF_CUDNN_WORKSPACE_LIMIT_IN_MB.
  explicit KernelScratch(OpKernelContext* ctx, int64_t limit = 0);
  int64_t MemoryLimit() const override { return limit_; }
  StatusOr<DeviceMemoryBase> Allocate(int64_t bytes) override;

 private:
  OpKernelContext* const ctx_;
  const int64_t limit_;
  int64_t total_ = 0;
  std::vector<Tensor> buffers_;
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_GPU_DEVICE_H_
