#include "framework/device.h"

#include "framework/op_kernel.h"

namespace headrace {

Device::Device(DeviceAttributes attributes, ThreadPool* pool)
    : attributes_(std::move(attributes)), pool_(pool) {
  // Names are made by device factories; one that does not parse leaves the
  // parts unset, and nothing can be placed on it.
  DeviceName::Parse(attributes_.name, &parsed_name_).IgnoreError();
}

Device::~Device() = default;

void Device::Compute(OpKernel* kernel, OpKernelContext* ctx) {
  kernel->Compute(ctx);
}

}  // namespace headrace
