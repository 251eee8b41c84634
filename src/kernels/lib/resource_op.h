// ResourceOp<T>: base class of kernels that create a T once, keep it in the
// device's ResourceMgr and output a handle to it: queues, tables, barriers,
// accumulators. The resource's name is the attr shared_name. Without one it is
// a name unique to the node, so that no other session finds it.
//
// The form of the handle follows the type of output 0: a DT_RESOURCE scalar, or
// a reference to the two strings {container, name}.
#ifndef HEADRACE_KERNELS_LIB_RESOURCE_OP_H_
#define HEADRACE_KERNELS_LIB_RESOURCE_OP_H_

#include <atomic>
#include <string>
#include <utility>

#include "headrace/op_kernel.h"
#include "kernels/lib/handle_lookup.h"

namespace headrace {

template <typename T>
class ResourceOp : public OpKernel {
 public:
  explicit ResourceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &name_));
    bool use_node_name = false;
    if (ctx->HasAttr("use_node_name_sharing")) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("use_node_name_sharing", &use_node_name));
    }
    if (name_.empty() && use_node_name) name_ = name();
    if (name_.empty()) {
      static std::atomic<int64_t> counter{0};
      name_ = absl::StrCat("_", counter.fetch_add(1), "_", name());
    }
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    ResourceMgr* mgr = ctx->resource_manager();
    const std::string& container =
        container_.empty() ? mgr->default_container() : container_;
    RefPtr<T> resource;
    OP_REQUIRES_OK(ctx, mgr->LookupOrCreate<T>(
                            container, name_, &resource,
                            [&](RefPtr<T>* made) { return Make(ctx, made); }));
    // Another node with the same shared_name may have created it.
    OP_REQUIRES_OK(ctx, Verify(*ctx, *resource));
    if (output_type(0) == DT_RESOURCE) {
      Tensor t(DT_RESOURCE, TensorShape());
      t.scalar<ResourceHandle>() =
          mgr->MakeHandle<T>(ctx->device()->name(), container, name_);
      ctx->set_output(0, std::move(t));
      return;
    }
    MutexLock lock(&mu_);
    if (!handle_.IsInitialized()) handle_ = MakeStringHandle(container, name_);
    ctx->set_output_ref(0, &mu_, &handle_);
  }

 protected:
  const std::string& resource_name() const { return name_; }
  // Runs under the ResourceMgr's lock.
  virtual Status Make(OpKernelContext* ctx, RefPtr<T>* out) = 0;
  virtual Status Verify(const OpKernelContext& ctx, const T& resource) = 0;

 private:
  std::string container_, name_;
  Mutex mu_;
  Tensor handle_ GUARDED_BY(mu_);
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_RESOURCE_OP_H_
