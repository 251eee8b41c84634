// DeviceMemory: an address and a size in a device's memory. It owns nothing;
// the CPU may not follow the address. A DeviceMemory<T> says what lies there.
// Plain values.
#ifndef HEADRACE_DEVICE_GPU_DEVICE_MEMORY_H_
#define HEADRACE_DEVICE_GPU_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "headrace/tensor.h"

namespace headrace::gpu {

struct DeviceMemoryBase {
  DeviceMemoryBase() = default;
  DeviceMemoryBase(void* address, size_t bytes)
      : opaque(address), size(bytes) {}
  // The buffer of a tensor on the device.
  explicit DeviceMemoryBase(const Tensor& t)
      : opaque(const_cast<void*>(t.raw_data())), size(t.TotalBytes()) {}

  bool is_null() const { return opaque == nullptr; }
  // The part from `offset` on. Both count bytes.
  DeviceMemoryBase Slice(size_t offset, size_t bytes) const {
    return {static_cast<char*>(opaque) + offset, bytes};
  }

  void* opaque = nullptr;
  size_t size = 0;  // bytes
};

template <typename T>
struct DeviceMemory : DeviceMemoryBase {
  DeviceMemory() = default;
  explicit DeviceMemory(const DeviceMemoryBase& base)
      : DeviceMemoryBase(base) {}
  DeviceMemory(T* address, int64_t elements)
      : DeviceMemoryBase(const_cast<std::remove_const_t<T>*>(address),
                         static_cast<size_t>(elements) * sizeof(T)) {}

  T* data() const { return static_cast<T*>(opaque); }
  int64_t elements() const { return static_cast<int64_t>(size / sizeof(T)); }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_DEVICE_GPU_DEVICE_MEMORY_H_
