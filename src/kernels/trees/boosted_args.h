// What kernels of boosted trees share: checks of arguments, the kernels of
// handles.
#ifndef HEADRACE_KERNELS_TREES_BOOSTED_ARGS_H_
#define HEADRACE_KERNELS_TREES_BOOSTED_ARGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {

inline Status CheckBoostedRank(const Tensor& t, absl::string_view name,
                               int rank) {
  if (t.dims() == rank) return OkStatus();
  return errors::InvalidArgument(name, " must have rank ", rank, ", got shape ",
                                 t.shape().DebugString());
}

// The scalar at input i.
template <typename T>
Status BoostedScalar(const OpKernelContext& ctx, int i, const char* name,
                     T* out) {
  HR_RETURN_IF_ERROR(CheckBoostedRank(ctx.input(i), name, 0));
  *out = ctx.input(i).scalar<T>();
  return OkStatus();
}

// The vectors of the list input `name`, all of one length.
inline Status BoostedVectors(const OpKernelContext& ctx, const char* name,
                             std::vector<const Tensor*>* out) {
  HR_RETURN_IF_ERROR(ctx.input_list(name, out));
  for (const Tensor* t : *out) {
    HR_RETURN_IF_ERROR(CheckBoostedRank(*t, name, 1));
    if (t->NumElements() != out->front()->NumElements()) {
      return errors::InvalidArgument(name, " must have the same length, got ",
                                     out->front()->NumElements(), " and ",
                                     t->NumElements());
    }
  }
  return OkStatus();
}

// Finds the resource of input 0.
template <typename T>
Status BoostedResource(const OpKernelContext& ctx, RefPtr<T>* out) {
  return LookupInput<T>(ctx, 0, ctx.resource_manager(), out);
}

// Makes the resource that the handle of input 0 names. One that is there stays.
template <typename T, typename... Args>
Status MakeBoostedResource(const OpKernelContext& ctx, Args&&... args) {
  const ResourceHandle* handle = nullptr;
  HR_RETURN_IF_ERROR(HandleInput(ctx, 0, &handle));
  RefPtr<T> resource;
  return ctx.resource_manager()->LookupOrCreate<T>(
      handle->container, handle->name, &resource, [&](RefPtr<T>* out) {
        *out = MakeRef<T>(std::forward<Args>(args)...);
        return OkStatus();
      });
}

// A handle to a resource that another op makes. Its name is the attr
// shared_name, or the node's.
template <typename T>
class BoostedHandleOp : public OpKernel {
 public:
  explicit BoostedHandleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &name_));
    if (name_.empty()) name_ = name();
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    const ResourceMgr* mgr = ctx->resource_manager();
    Tensor t(DT_RESOURCE, TensorShape());
    t.scalar<ResourceHandle>() = mgr->MakeHandle<T>(
        ctx->device()->name(),
        container_.empty() ? mgr->default_container() : container_, name_);
    ctx->set_output(0, std::move(t));
  }

 private:
  std::string container_, name_;
};

template <typename T>
class BoostedIsInitializedOp : public OpKernel {
 public:
  explicit BoostedIsInitializedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<T> resource;
    const Status s = BoostedResource(*ctx, &resource);
    OP_REQUIRES(ctx, s.ok() || errors::IsNotFound(s), s);
    ctx->set_output(0, Tensor::Scalar<bool>(s.ok()));
  }
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TREES_BOOSTED_ARGS_H_
