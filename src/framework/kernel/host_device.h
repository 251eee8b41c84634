// HostDevice: a device whose tensors lie in the host's memory. It is the CPU,
// and a base of other devices that compute there.
#ifndef HEADRACE_FRAMEWORK_KERNEL_HOST_DEVICE_H_
#define HEADRACE_FRAMEWORK_KERNEL_HOST_DEVICE_H_

#include <string>
#include <utility>

#include "headrace/device.h"

namespace headrace {

// Thread-safe.
class HostDevice : public Device {
 public:
  HostDevice(DeviceAttributes attributes, ThreadPool* pool)
      : Device(std::move(attributes), pool) {}

  Allocator* allocator(MemoryType) override { return CpuAllocator(); }
  // Share the buffer and call `done` before they return.
  void CopyFromHost(const Tensor& host, Tensor* device,
                    DoneCallback done) override;
  void CopyToHost(const Tensor& device, Tensor* host,
                  DoneCallback done) override;
};

// Of a CPU that belongs to no session: for tests, and for what is computed
// outside steps. Its name is that of a session's first CPU.
DeviceAttributes LoneCpuAttributes(const std::string& description);

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_HOST_DEVICE_H_
