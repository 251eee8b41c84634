#include "headrace/device_factory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/fork.h"
#include "base/random.h"
#include "framework/kernel/device_plugins.h"
#include "headrace/mutex.h"
#include "headrace/types.h"

namespace headrace {
namespace {

struct Registered {
  std::string type;
  int priority = 0;
  DeviceFactory* factory = nullptr;  // never destroyed
};

struct Registry {
  Mutex mu;
  std::vector<Registered> factories GUARDED_BY(mu);  // one of each type

  static Registry* Get() {
    static Registry* const registry = [] {
      auto* const made = new Registry;
      HoldDuringFork(&made->mu);
      return made;
    }();
    return registry;
  }
  // In the order in which a session has their devices.
  std::vector<Registered> Ordered() {
    std::vector<Registered> ordered;
    {
      MutexLock lock(&mu);
      ordered = factories;
    }
    std::sort(ordered.begin(), ordered.end(),
              [](const Registered& a, const Registered& b) {
                const bool a_is_cpu = a.type == DEVICE_CPU;
                const bool b_is_cpu = b.type == DEVICE_CPU;
                if (a_is_cpu != b_is_cpu) return a_is_cpu;
                if (a.priority != b.priority) return a.priority > b.priority;
                return a.type < b.type;
              });
    return ordered;
  }
};

Status CheckDevice(const Registered& from, const Device& device,
                   const std::vector<std::unique_ptr<Device>>& others) {
  const DeviceName& name = device.parsed_name();
  if (!name.IsFull() || name.type != from.type ||
      device.device_type() != from.type) {
    return errors::InvalidArgument("the factory of devices of type ", from.type,
                                   " made one of type ", device.device_type(),
                                   " and name '", device.name(),
                                   "'; wanted that type in both");
  }
  for (const auto& other : others) {
    if (other->name() == device.name()) {
      return errors::InvalidArgument("the factory of devices of type ",
                                     from.type, " made '", device.name(),
                                     "' twice");
    }
  }
  return OkStatus();
}

}  // namespace

DeviceAttributes MakeDeviceAttributes(const DeviceOptions& options,
                                      const std::string& type, int index) {
  DeviceAttributes a;
  a.name = absl::StrCat(options.name_prefix, "/device:", type, ":", index);
  a.device_type = type;
  do {
    a.incarnation = RandomSeed64();
  } while (a.incarnation == 0);
  return a;
}

Status DeviceFactories::CreateDevices(
    const DeviceOptions& options,
    std::vector<std::unique_ptr<Device>>* devices) {
  LoadDevicePlugins();
  std::vector<std::unique_ptr<Device>> all;
  for (const Registered& r : Registry::Get()->Ordered()) {
    std::vector<std::unique_ptr<Device>> made;
    HR_RETURN_IF_ERROR(Annotate(
        CatchExceptions(
            [&] { return r.factory->CreateDevices(options, &made); }),
        absl::StrCat(" (while devices of type ", r.type, " were made)")));
    for (std::unique_ptr<Device>& device : made) {
      HR_RETURN_IF_ERROR(CheckDevice(r, *device, all));
      all.push_back(std::move(device));
    }
  }
  if (all.empty()) {
    return errors::FailedPrecondition(
        "no factory made a device for the session");
  }
  *devices = std::move(all);
  return OkStatus();
}

int DeviceFactories::PriorityOf(const std::string& type) {
  Registry* const registry = Registry::Get();
  MutexLock lock(&registry->mu);
  for (const Registered& r : registry->factories) {
    if (r.type == type) return r.priority;
  }
  return type == DEVICE_CPU ? kCpuDevicePriority : kCpuDevicePriority + 1;
}

std::vector<std::string> DeviceFactories::Types() {
  std::vector<std::string> types;
  for (const Registered& r : Registry::Get()->Ordered()) {
    types.push_back(r.type);
  }
  std::sort(types.begin(), types.end());
  return types;
}

DeviceFactoryRegistrar::DeviceFactoryRegistrar(
    const char* type, int priority, std::unique_ptr<DeviceFactory> factory) {
  Registry* const registry = Registry::Get();
  MutexLock lock(&registry->mu);
  for (Registered& r : registry->factories) {
    if (r.type != type) continue;
    if (priority > r.priority) {
      r.priority = priority;
      r.factory = factory.release();
    }
    return;
  }
  registry->factories.push_back({type, priority, factory.release()});
}

}  // namespace headrace
