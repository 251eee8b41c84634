#include "framework/kernel/host_device.h"

#include "headrace/types.h"

namespace headrace {

void HostDevice::CopyFromHost(const Tensor& host, Tensor* device,
                              DoneCallback done) {
  *device = host;
  done(OkStatus());
}

void HostDevice::CopyToHost(const Tensor& device, Tensor* host,
                            DoneCallback done) {
  *host = device;
  done(OkStatus());
}

DeviceAttributes LoneCpuAttributes(const std::string& description) {
  return {.name = "/job:localhost/replica:0/task:0/device:CPU:0",
          .device_type = DEVICE_CPU,
          .memory_limit = CpuAllocator()->GetStats().bytes_limit,
          .incarnation = 1,
          .physical_device_desc = description};
}

}  // namespace headrace
