// Activations as a kernel of their own, where a library cannot apply them.
#ifndef HEADRACE_DEVICE_GPU_ACTIVATION_H_
#define HEADRACE_DEVICE_GPU_ACTIVATION_H_

#include "device/gpu/blas.h"
#include "device/gpu/stream_executor.h"

namespace headrace::gpu {

// Queues x = activation(x) for `elements` of half, bfloat16, float or double.
// InvalidArgument for other types and for memory that is too small.
Status LaunchActivation(Stream* stream, DataType type, GpuActivation activation,
                        DeviceMemoryBase x, int64_t elements);

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_ACTIVATION_H_
