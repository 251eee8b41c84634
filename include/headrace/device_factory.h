// DeviceFactory: makes the devices of one type for a session. A plug-in library
// adds a type of device by registering a factory, and kernels for that type:
//
//   class NpuFactory : public DeviceFactory {
//    public:
//     Status CreateDevices(
//         const DeviceOptions& options,
//         std::vector<std::unique_ptr<Device>>* devices) override;
//   };
//   REGISTER_DEVICE_FACTORY("NPU", 200, NpuFactory);
//   REGISTER_KERNEL_BUILDER(Name("MatMul").Device("NPU"), NpuMatMulOp);
//
// Sessions that are made after the library was loaded have the devices. Kernels
// of DEVICE_DEFAULT run there too: those of control flow, and on a device whose
// memory is the host's also _Send, _Recv and what else carries values between
// devices. docs/design/0012-device-factories.md says more.
#ifndef HEADRACE_DEVICE_FACTORY_H_
#define HEADRACE_DEVICE_FACTORY_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/device.h"

namespace headrace {

// What a session wants of GPUs: ConfigProto.gpu_options.
struct GpuOptions {
  // Of a GPU's memory, how much the process may take: 0 to 1; 0 is nearly all.
  double memory_fraction = 0;
  bool allow_growth = false;  // takes memory as it is needed
  // "1,0": these GPUs of the machine, in this order; empty is all.
  std::string visible_device_list;
  // "BFC", also by its default, empty; or "cuda_malloc_async", which asks for
  // CUDA's own allocator.
  std::string allocator_type;
};

// What a session wants of its devices.
struct DeviceOptions {
  // ConfigProto.device_count: how many of a type, at most. Of a type that is
  // not there the factory makes as many as it thinks fit. A client may have
  // written a negative number, which is none.
  std::map<std::string, int> counts;
  std::string name_prefix;  // "/job:localhost/replica:0/task:0"
  // For loops inside kernels. Lives as long as the devices.
  ThreadPool* pool = nullptr;
  GpuOptions gpu;

  int CountOf(const std::string& type, int otherwise) const {
    const auto it = counts.find(type);
    return it == counts.end() ? otherwise : it->second;
  }
};

class DeviceFactory {
 public:
  virtual ~DeviceFactory() = default;
  // Appends the devices of this type; none if the machine has none. An error is
  // the session's: the factory says what it wanted and what it found.
  // Thread-safe.
  virtual Status CreateDevices(
      const DeviceOptions& options,
      std::vector<std::unique_ptr<Device>>* devices) = 0;
};

// The attributes of device `index` of a type: its full name, "PREFIX/device:
// NPU:0", and a new random incarnation. The rest is for the factory to fill in.
DeviceAttributes MakeDeviceAttributes(const DeviceOptions& options,
                                      const std::string& type, int index);

// CPU ranks behind every type that computes faster.
inline constexpr int kCpuDevicePriority = 60;

// The factories of this process. Thread-safe.
class DeviceFactories {
 public:
  // The devices of all factories. CPUs come first, because the first device is
  // where a session keeps feeds and fetches; then types by falling priority and
  // by name. InvalidArgument for a device whose name is not of its type, or is
  // taken; else the first error of a factory.
  static Status CreateDevices(const DeviceOptions& options,
                              std::vector<std::unique_ptr<Device>>* devices);
  // The higher one is preferred for a node that asks for no device. A type
  // without a factory ranks just before the CPU.
  static int PriorityOf(const std::string& type);
  // The types that have a factory, by name.
  static std::vector<std::string> Types();
};

// Registers a factory when its library is loaded. `type` and the factory stay
// for the life of the process; so must the library. Of two factories for one
// type the one of higher priority counts, of equal ones the first.
class DeviceFactoryRegistrar {
 public:
  DeviceFactoryRegistrar(const char* type, int priority,
                         std::unique_ptr<DeviceFactory> factory);
};

#define REGISTER_DEVICE_FACTORY(TYPE, PRIORITY, ...) \
  HR_REGISTER_DEVICE_UNIQ(__COUNTER__, TYPE, PRIORITY, __VA_ARGS__)
#define HR_REGISTER_DEVICE_UNIQ(CTR, TYPE, PRIORITY, ...) \
  HR_REGISTER_DEVICE_UNIQ2(CTR, TYPE, PRIORITY, __VA_ARGS__)
#define HR_REGISTER_DEVICE_UNIQ2(CTR, TYPE, PRIORITY, ...)       \
  static const ::headrace::DeviceFactoryRegistrar hr_device##CTR \
      [[maybe_unused]] (TYPE, PRIORITY, ::std::make_unique<__VA_ARGS__>())

}  // namespace headrace

#endif  // HEADRACE_DEVICE_FACTORY_H_
