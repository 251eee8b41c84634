// RemoteDevice: a device of another process, for placing nodes. It has no
// memory here and runs nothing.
#ifndef HEADRACE_DISTRIBUTED_REMOTE_DEVICE_H_
#define HEADRACE_DISTRIBUTED_REMOTE_DEVICE_H_

#include <memory>
#include <utility>

#include "headrace/device.h"
#include "headrace/device.pb.h"

namespace headrace {

// Thread-safe.
class RemoteDevice : public Device {
 public:
  explicit RemoteDevice(const pb::DeviceAttributes& a)
      : Device({.name = a.name(),
                .device_type = a.device_type(),
                .memory_limit = a.memory_limit(),
                .incarnation = a.incarnation(),
                .physical_device_desc = a.physical_device_desc()},
               nullptr) {}

  Allocator* allocator(MemoryType) override { return CpuAllocator(); }
  void CopyFromHost(const Tensor&, Tensor*, DoneCallback done) override {
    done(errors::Internal(name(), " is a device of another process"));
  }
  void CopyToHost(const Tensor&, Tensor*, DoneCallback done) override {
    done(errors::Internal(name(), " is a device of another process"));
  }
};

}  // namespace headrace

#endif  // HEADRACE_DISTRIBUTED_REMOTE_DEVICE_H_
