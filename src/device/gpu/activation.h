// The activations that fused layers apply on a GPU, and a kernel of their own
// where a library cannot apply them.
#ifndef HEADRACE_DEVICE_GPU_ACTIVATION_H_
#define HEADRACE_DEVICE_GPU_ACTIVATION_H_

#include "device/gpu/blas.h"
#include "device/gpu/stream_executor.h"
#include "device/gpu/tail.h"

namespace headrace::gpu {

// An op that a fused layer can apply to its result. Blas and Dnn apply
// `activation`; kNone: they do not know the op. Kernels of ours apply `tail`.
struct FusedActivation {
  const char* op;
  Tail tail;
  GpuActivation activation;
};
// Null: no fused layer can apply `op`. Thread-safe.
const FusedActivation* FindFusedActivation(absl::string_view op);

// Queues x = activation(x) for `elements` of half, bfloat16, float or double.
// InvalidArgument for other types and for memory that is too small.
Status LaunchActivation(Stream* stream, DataType type, GpuActivation activation,
                        DeviceMemoryBase x, int64_t elements);

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_ACTIVATION_H_
