// Tensors that stay with the session from one step to the next, known to the
// client by a handle alone; framework/kernel/session_tensors.h says how long.
#include <utility>

#include "framework/kernel/session_tensors.h"
#include "framework/tensor/borrowed_buffer.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

Status FindStore(ResourceMgr* mgr, RefPtr<SessionTensors>* out) {
  return mgr->LookupOrCreate<SessionTensors>(
      SessionTensors::kContainer, SessionTensors::kName, out,
      [](RefPtr<SessionTensors>* made) {
        *made = MakeRef<SessionTensors>();
        return OkStatus();
      });
}

class GetSessionHandleOp : public OpKernel {
 public:
  explicit GetSessionHandleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<SessionTensors> session, step;
    OP_REQUIRES_OK(ctx, FindStore(ctx->resource_manager(), &session));
    OP_REQUIRES_OK(ctx, FindStore(ctx->step_resources(), &step));
    const std::string handle =
        session->NewHandle(name(), ctx->device()->name());
    Tensor value = ctx->input(0);
    OP_REQUIRES_OK(ctx, OwnBytes(&value));
    step->Put(handle, std::move(value));
    if (output_type(0) == DT_STRING) {
      ctx->set_output(0, Tensor::Scalar<tstring>(tstring(handle)));
      return;
    }
    Tensor t(DT_RESOURCE, TensorShape());
    t.scalar<ResourceHandle>() =
        ctx->resource_manager()->MakeHandle<SessionTensors>(
            ctx->device()->name(), SessionTensors::kContainer, handle);
    ctx->set_output(0, std::move(t));
  }
};
REGISTER_KERNEL_BUILDER(Name("GetSessionHandle").Device(DEVICE_CPU),
                        GetSessionHandleOp);
REGISTER_KERNEL_BUILDER(Name("GetSessionHandleV2").Device(DEVICE_CPU),
                        GetSessionHandleOp);

Status HandleOf(const Tensor& t, std::string* handle) {
  if (t.NumElements() != 1) {
    return errors::InvalidArgument("handle must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *handle = std::string(t.data<tstring>()[0]);
  return OkStatus();
}

class GetSessionTensorOp : public OpKernel {
 public:
  explicit GetSessionTensorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<SessionTensors> session;
    OP_REQUIRES_OK(ctx, FindStore(ctx->resource_manager(), &session));
    std::string handle;
    OP_REQUIRES_OK(ctx, HandleOf(ctx->input(0), &handle));
    Tensor value;
    OP_REQUIRES_OK(ctx, session->Get(handle, &value));
    OP_REQUIRES(
        ctx, value.dtype() == output_type(0),
        errors::InvalidArgument("The tensor with handle '", handle, "' is of ",
                                DataTypeString(value.dtype()), ", wanted ",
                                DataTypeString(output_type(0))));
    ctx->set_output(0, std::move(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("GetSessionTensor").Device(DEVICE_CPU),
                        GetSessionTensorOp);

class DeleteSessionTensorOp : public OpKernel {
 public:
  explicit DeleteSessionTensorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<SessionTensors> session;
    OP_REQUIRES_OK(ctx, FindStore(ctx->resource_manager(), &session));
    std::string handle;
    OP_REQUIRES_OK(ctx, HandleOf(ctx->input(0), &handle));
    OP_REQUIRES_OK(ctx, session->Delete(handle));
  }
};
REGISTER_KERNEL_BUILDER(Name("DeleteSessionTensor").Device(DEVICE_CPU),
                        DeleteSessionTensorOp);

}  // namespace
}  // namespace headrace
