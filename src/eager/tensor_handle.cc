#include "eager/tensor_handle.h"

#include <string>

namespace headrace {
namespace {

bool IsHost(const Device* d) { return d == nullptr || d->IsHostMemory(); }

}  // namespace

const std::string& HostDeviceName() {
  static const auto* const name =
      new std::string("/job:localhost/replica:0/task:0/device:CPU:0");
  return *name;
}

const std::string& TensorHandle::DeviceName() const {
  return device_ == nullptr ? HostDeviceName() : device_->name();
}

const std::string& TensorHandle::BackingDeviceName() const {
  return in_host_memory_ && !IsHost(device_) ? HostDeviceName() : DeviceName();
}

Status TensorHandle::ToHost(Tensor* out) const {
  return CopyBetweenDevices(tensor_, in_host_memory_ ? nullptr : device_,
                            nullptr, out);
}

Status CopyBetweenDevices(const Tensor& from, Device* from_device,
                          Device* to_device, Tensor* to) {
  if (from_device == to_device || (IsHost(from_device) && IsHost(to_device))) {
    *to = from;
    return OkStatus();
  }
  Tensor on_host = from;
  const auto wait_for = [](const auto& copy) {
    Notification done;
    Status status;
    copy([&](const Status& s) {
      status = s;
      done.Notify();
    });
    done.WaitForNotification();
    return status;
  };
  if (!IsHost(from_device)) {
    HR_RETURN_IF_ERROR(wait_for([&](Device::DoneCallback done) {
      from_device->CopyToHost(from, &on_host, std::move(done));
    }));
  }
  if (IsHost(to_device)) {
    *to = std::move(on_host);
    return OkStatus();
  }
  return wait_for([&](Device::DoneCallback done) {
    to_device->CopyFromHost(on_host, to, std::move(done));
  });
}

}  // namespace headrace
