// Handles that own their resource: iterators, caches and seed generators
// without a name. The last tensor that holds such a handle frees the resource.
// The ops also have a "deleter", which has nothing to do.
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

// An empty handle, from ops named Dummy...: the receiver creates its own
// resource.
Tensor DummyHandle(const OpKernelContext& ctx);
bool IsDummyHandle(const ResourceHandle& handle);

// Sets output 0, and the deleter if the op has one.
void SetHandleOutputs(OpKernelContext* ctx, Tensor handle);

// DeleteSeedGenerator and similar ops.
class DropHandleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext*) override {}
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_DATA_OWNED_HANDLE_H_
