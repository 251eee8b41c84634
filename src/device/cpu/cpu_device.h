// The CPU as a device: host memory, the process-wide pool or a session's own.
#ifndef HEADRACE_DEVICE_CPU_CPU_DEVICE_H_
#define HEADRACE_DEVICE_CPU_CPU_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "headrace/device.h"

namespace headrace {

// Thread-safe.
class CpuDevice : public Device {
 public:
  CpuDevice(DeviceAttributes attributes, ThreadPool* pool)
      : Device(std::move(attributes), pool) {}
  Allocator* allocator(MemoryType) override { return CpuAllocator(); }
  void CopyFromHost(const Tensor& host, Tensor* device,
                    DoneCallback done) override {
    *device = host;
    done(OkStatus());
  }
  void CopyToHost(const Tensor& device, Tensor* host,
                  DoneCallback done) override {
    *host = device;
    done(OkStatus());
  }
};

// `count` CPU devices named `prefix`/device:CPU:0 and on; they share `pool`.
std::vector<std::unique_ptr<Device>> NewCpuDevices(int count,
                                                   const std::string& prefix,
                                                   ThreadPool* pool);

}  // namespace headrace

#endif  // HEADRACE_DEVICE_CPU_CPU_DEVICE_H_
