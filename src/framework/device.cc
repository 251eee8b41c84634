#include "framework/device.h"

#include "base/exceptions.h"
#include "base/scratch_account.h"
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
  try {
    Allocator* const budget = ctx->params().host_allocator;
    if (budget == nullptr) [[likely]]
      return kernel->Compute(ctx);
    const ScratchAccount account(dynamic_cast<MemoryCounter*>(budget));
    kernel->Compute(ctx);
  } catch (const std::exception& e) {
    ctx->CtxFailure(StatusOf(e));
  }
}

}  // namespace headrace
