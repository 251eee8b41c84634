// Handles that own what they refer to: iterators, caches and seed generators
// without a name. Such a resource goes with the last tensor that holds it. Ops
// of that kind come with a "deleter", which then has nothing left to do.
#ifndef HEADRACE_KERNELS_DATA_OWNED_HANDLE_H_
#define HEADRACE_KERNELS_DATA_OWNED_HANDLE_H_

#include <string>
#include <utility>

#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"

namespace headrace {

template <typename T>
Tensor OwnedHandle(const OpKernelContext& ctx, absl::string_view name,
                   RefPtr<T> resource) {
  Tensor t(DT_RESOURCE, TensorShape());
  ResourceHandle& h = t.scalar<ResourceHandle>();
  h = ctx.resource_manager()->template MakeHandle<T>(ctx.device()->name(), "",
                                                     name);
  h.resource = std::move(resource);
  return t;
}

// A handle to nothing, of ops named Dummy...: "make your own".
Tensor DummyHandle(const OpKernelContext& ctx);
bool IsDummyHandle(const ResourceHandle& handle);

// Sets output 0, and, if there is one, the deleter.
void SetHandleOutputs(OpKernelContext* ctx, Tensor handle);

// DeleteSeedGenerator and others of that kind.
class DropHandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_OWNED_HANDLE_H_
