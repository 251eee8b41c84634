// How kernels find the resource of an input. A handle has one of two forms: a
// DT_RESOURCE scalar, or, in older ops, a vector of two strings {container,
// name}, often as a reference.
#ifndef HEADRACE_KERNELS_LIB_HANDLE_LOOKUP_H_
#define HEADRACE_KERNELS_LIB_HANDLE_LOOKUP_H_

#include <string>

#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "kernels/lib/variable_access.h"

namespace headrace {

// Reads the strings of an old handle at input i.
inline Status StringHandleInput(const OpKernelContext& ctx, int i,
                                std::string* container, std::string* name) {
  const Tensor& t = ctx.input(i);
  if (t.dtype() != DT_STRING || t.NumElements() != 2) {
    return errors::InvalidArgument(
        "input ", i, " must be a handle of two strings, got a ",
        DataTypeString(t.dtype()), " tensor of shape ",
        t.shape().DebugString());
  }
  *container = std::string(t.data<tstring>()[0]);
  *name = std::string(t.data<tstring>()[1]);
  return OkStatus();
}

inline Tensor MakeStringHandle(absl::string_view container,
                               absl::string_view name) {
  Tensor t(DT_STRING, TensorShape({2}));
  t.data<tstring>()[0] = tstring(container);
  t.data<tstring>()[1] = tstring(name);
  return t;
}

// Finds the T of input i in `mgr`, or takes it from a handle that owns it.
template <typename T>
Status LookupInput(const OpKernelContext& ctx, int i, ResourceMgr* mgr,
                   RefPtr<T>* out) {
  if (ctx.input_dtype(i) == DT_RESOURCE) {
    const ResourceHandle* handle = nullptr;
    HR_RETURN_IF_ERROR(HandleInput(ctx, i, &handle));
    return LookupResource<T>(mgr, *handle, out);
  }
  std::string container, name;
  HR_RETURN_IF_ERROR(StringHandleInput(ctx, i, &container, &name));
  return mgr->Lookup<T>(container, name, out);
}

// The same of the DT_RESOURCE input `name`, in the device's resources.
template <typename T>
Status LookupInput(OpKernelContext* ctx, absl::string_view name,
                   RefPtr<T>* out) {
  const Tensor* t = nullptr;
  HR_RETURN_IF_ERROR(ctx->input(name, &t));
  if (t->dtype() != DT_RESOURCE || t->NumElements() != 1) {
    return errors::InvalidArgument(name, " must be one resource handle, got a ",
                                   DataTypeString(t->dtype()),
                                   " tensor of shape ",
                                   t->shape().DebugString());
  }
  return LookupResource<T>(ctx->resource_manager(), *t->data<ResourceHandle>(),
                           out);
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_HANDLE_LOOKUP_H_
