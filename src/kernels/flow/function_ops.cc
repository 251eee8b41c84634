// _Arg and _Retval: where values enter and leave a graph that is called, be it
// a function or a step whose feeds and fetches go through a CallFrame. On a
// device with a memory of its own, who calls a function gives and takes them in
// that memory, except types that stay on the host.
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ArgOp : public OpKernel {
 public:
  explicit ArgOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("index", &index_));
  }
  void Compute(OpKernelContext* ctx) override {
    CallFrame* frame = ctx->call_frame();
    OP_REQUIRES(ctx, frame != nullptr, errors::Internal("no call frame"));
    const Tensor* value = frame->GetArg(index_);
    OP_REQUIRES(ctx, value != nullptr,
                errors::InvalidArgument("argument ", index_, " was not given"));
    OP_REQUIRES(
        ctx, value->dtype() == output_type(0),
        errors::InvalidArgument("Type mismatch: argument ", index_, " is ",
                                DataTypeString(value->dtype()), ", wanted ",
                                DataTypeString(output_type(0))));
    // Moved out, so that a kernel of the body may write into it.
    Tensor own;
    if (frame->TakeArg(index_, &own)) {
      ctx->set_output(0, std::move(own));
    } else if (value->TotalBytes() <= Tensor::kInlineBytes &&
               !value->IsInline() && DataTypeCanUseMemcpy(value->dtype()) &&
               (ctx->device()->IsHostMemory() ||
                output_memory_type(0) == HOST_MEMORY)) {
      // A few bytes are sooner copied than shared by all that read them.
      OP_REQUIRES_OK(ctx, value->DeepCopyTo(&own));
      ctx->set_output(0, std::move(own));
    } else {
      ctx->set_output(0, *value);
    }
  }

 private:
  int32_t index_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("_Arg").Device(DEVICE_DEFAULT), ArgOp);

class RetvalOp : public OpKernel {
 public:
  explicit RetvalOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("index", &index_));
  }
  void Compute(OpKernelContext* ctx) override {
    CallFrame* frame = ctx->call_frame();
    OP_REQUIRES(ctx, frame != nullptr, errors::Internal("no call frame"));
    OP_REQUIRES_OK(ctx, frame->SetRetval(index_, ctx->input(0)));
  }

 private:
  int32_t index_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("_Retval").Device(DEVICE_DEFAULT), RetvalOp);

}  // namespace
}  // namespace headrace
