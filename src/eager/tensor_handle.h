// TensorHandle: a value of eager execution, and the device that it belongs to.
// Immutable, so that any number of threads may use one. It keeps alive what its
// tensor refers to, so it may outlive its context.
#ifndef HEADRACE_EAGER_TENSOR_HANDLE_H_
#define HEADRACE_EAGER_TENSOR_HANDLE_H_

#include <memory>
#include <utility>

#include "headrace/device.h"
#include "headrace/ref_count.h"
#include "headrace/tensor.h"

namespace headrace {

class TensorHandle : public RefCounted {
 public:
  // A value in the host's memory that belongs to no context yet.
  explicit TensorHandle(Tensor value) : tensor_(std::move(value)) {}
  // `owner` keeps `device` alive. With `in_host_memory`, the tensor is there
  // although the device has a memory of its own.
  TensorHandle(Tensor value, Device* device, bool in_host_memory,
               std::shared_ptr<const void> owner)
      : owner_(std::move(owner)),
        device_(device),
        in_host_memory_(in_host_memory || device->IsHostMemory()),
        tensor_(std::move(value)) {}

  // As it lies in its device's memory.
  const Tensor& tensor() const { return tensor_; }
  DataType dtype() const { return tensor_.dtype(); }
  // The device of the op that made the value. Null: the first CPU.
  Device* device() const { return device_; }
  bool in_host_memory() const { return in_host_memory_; }
  // Full names, of the device and of the one in whose memory the tensor lies.
  const std::string& DeviceName() const;
  const std::string& BackingDeviceName() const;

  // The value in the host's memory; shares the buffer if it is there already.
  Status ToHost(Tensor* out) const;

 private:
  ~TensorHandle() override = default;

  // First, so that it is destroyed last.
  const std::shared_ptr<const void> owner_;
  Device* const device_ = nullptr;
  const bool in_host_memory_ = true;
  const Tensor tensor_;
};

// The full name of the device where values without a device are.
const std::string& HostDeviceName();

// Moves a value between memories and waits until it is there. A null device is
// the host.
Status CopyBetweenDevices(const Tensor& from, Device* from_device,
                          Device* to_device, Tensor* to);

}  // namespace headrace

#endif  // HEADRACE_EAGER_TENSOR_HANDLE_H_
