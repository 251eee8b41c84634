#include "headrace/device.h"

#include "base/exceptions.h"
#include "base/memory_reserve.h"
#include "base/require_memory.h"
#include "base/scratch_account.h"
#include "framework/kernel/kernel_counts.h"
#include "framework/kernel/step_budget.h"
#include "headrace/elementwise_loops.h"
#include "headrace/op_kernel.h"

namespace headrace {

Device::Device(DeviceAttributes attributes, ThreadPool* pool)
    : attributes_(std::move(attributes)), pool_(pool) {
  // Names are made by device factories; one that does not parse leaves the
  // parts unset, and nothing can be placed on it.
  DeviceName::Parse(attributes_.name, &parsed_name_).IgnoreError();
}

Device::~Device() = default;

bool Device::CanFuse(const OpDef& activation) const {
  return CanFuseOnHost(activation);
}

namespace {

void ComputeWithin(StepBudget* budget, OpKernel* kernel, OpKernelContext* ctx) {
  {
    const ScratchAccount account(budget);
    kernel->Compute(ctx);
  }
  for (int i = 0; ctx->status().ok() && i < ctx->num_outputs(); ++i) {
    OutputSlot& slot = ctx->output_slot(i);
    if (!slot.is_set || slot.ref != nullptr) continue;
    OP_REQUIRES_OK(ctx, budget->CountStrings(&slot.value));
  }
}

}  // namespace

void Device::Compute(OpKernel* kernel, OpKernelContext* ctx) {
  if (!MemoryReserveIsFull()) [[unlikely]] {
    OP_REQUIRES_OK(ctx, RequireMemoryReserve());
  }
  KernelCounts* const counts = KernelCounts::OfProcess();
  if (counts != nullptr) [[unlikely]]
    KernelCounts::Begin(ctx);
  try {
    StepBudget* const budget = ctx->params().budget;
    if (budget == nullptr) [[likely]] {
      kernel->Compute(ctx);
    } else {
      ComputeWithin(budget, kernel, ctx);
    }
  } catch (const std::exception& e) {
    ctx->CtxFailure(StatusOf(e));
  }
  // The next may not come as far.
  if (TookFromMemoryReserve()) [[unlikely]] {
    ctx->CtxFailure(errors::ResourceExhausted(
        "out of memory: the kernel used what is kept for the end"));
  }
  if (counts != nullptr) [[unlikely]]
    counts->Add(*kernel, *ctx);
}

}  // namespace headrace
