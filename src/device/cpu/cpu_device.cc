// The CPU as a device: host memory, and the process-wide pool or the session's
// own.
#include "framework/kernel/host_device.h"
#include "headrace/device_factory.h"
#include "headrace/types.h"

namespace headrace {
namespace {

class CpuDeviceFactory : public DeviceFactory {
 public:
  Status CreateDevices(const DeviceOptions& options,
                       std::vector<std::unique_ptr<Device>>* devices) override {
    const int count = options.CountOf(DEVICE_CPU, 1);
    for (int i = 0; i < count; ++i) {
      DeviceAttributes a = MakeDeviceAttributes(options, DEVICE_CPU, i);
      a.memory_limit = CpuAllocator()->GetStats().bytes_limit;
      devices->push_back(
          std::make_unique<HostDevice>(std::move(a), options.pool));
    }
    return OkStatus();
  }
};
REGISTER_DEVICE_FACTORY(DEVICE_CPU, kCpuDevicePriority, CpuDeviceFactory);

}  // namespace
}  // namespace headrace
