// Libraries with devices that come with this one.
#ifndef HEADRACE_FRAMEWORK_KERNEL_DEVICE_PLUGINS_H_
#define HEADRACE_FRAMEWORK_KERNEL_DEVICE_PLUGINS_H_

namespace headrace {

// Loads the library of the GPU from beside this one, once: with
// HEADRACE_GPU_PLATFORM=host libheadrace_gpu_host.so, else libheadrace_cuda.so
// where a driver is present. Where there is no such library there are no GPUs.
// If it cannot be loaded, that is logged. Thread-safe.
void LoadDevicePlugins();

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_DEVICE_PLUGINS_H_
