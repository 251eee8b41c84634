// _Arg with the label "partial": waits for its value, for steps that are fed
// piece by piece.
#include "framework/kernel/async_call_frame.h"

namespace headrace {
namespace {

class PartialArgOp : public AsyncOpKernel {
 public:
  explicit PartialArgOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("index", &index_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("_feed", &feed_));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    AsyncCallFrame* const frame =
        ctx->call_frame() == nullptr ? nullptr : ctx->call_frame()->AsAsync();
    OP_REQUIRES_ASYNC(ctx, frame != nullptr,
                      errors::Internal("the step is not run in pieces"), done);
    frame->WaitArg(index_, ctx->cancellation_manager(),
                   [ctx, done](const Status& s, const Tensor& value) {
                     if (s.ok()) {
                       ctx->set_output(0, value);
                     } else {
                       ctx->SetStatus(s);
                     }
                     done();
                   });
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return absl::StrCat("the feed of ", feed_);
  }

 private:
  int32_t index_ = 0;
  std::string feed_;
};
REGISTER_KERNEL_BUILDER(Name("_Arg").Device(DEVICE_CPU).Label("partial"),
                        PartialArgOp);

}  // namespace
}  // namespace headrace
