#include "device/cpu/cpu_device.h"

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace headrace {

std::vector<std::unique_ptr<Device>> NewCpuDevices(int count,
                                                   const std::string& prefix,
                                                   ThreadPool* pool) {
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < count; ++i) {
    DeviceAttributes a;
    a.name = absl::StrCat(prefix, "/device:CPU:", i);
    a.device_type = DEVICE_CPU;
    a.memory_limit = CpuAllocator()->GetStats().bytes_limit;
    do {
      a.incarnation = RandomSeed64();
    } while (a.incarnation == 0);
    devices.push_back(std::make_unique<CpuDevice>(std::move(a), pool));
  }
  return devices;
}

}  // namespace headrace
