// _Send and _Recv: the two ends of an edge between devices or processes. They
// meet in the step's Rendezvous by a key that both can compute: devices, edge
// name, frame and iteration. Dead values cross, too: _Send also runs on a dead
// input and marks the value dead. For a dead value _Recv leaves its output
// unset, which makes it dead.
#include "framework/kernel/edge_key.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// Both hand host memory over as it is. A device with a memory of its own has to
// register kernels that copy.
Status CheckMemory(const OpKernelConstruction& ctx) {
  const bool is_host_op = ctx.def().op[1] == 'H';  // _HostSend, _HostRecv
  if (is_host_op || ctx.device()->IsHostMemory()) return OkStatus();
  return errors::Unimplemented(
      ctx.def().op, ": device type ", ctx.device_type(),
      " has a memory of its own and registers no kernel for this op");
}

class SendOp : public OpKernel {
 public:
  explicit SendOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, CheckMemory(*ctx));
    OP_REQUIRES_OK(ctx, key_.Init(ctx));
  }
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->rendezvous() != nullptr,
                errors::Internal("a step without a rendezvous cannot send"));
    const bool dead = ctx->is_input_dead();
    OP_REQUIRES_OK(
        ctx, ctx->rendezvous()->Send(
                 key_.Key(ctx), dead ? Tensor(DT_FLOAT) : ctx->input(0), dead));
  }

 private:
  EdgeKey key_;
};
REGISTER_KERNEL_BUILDER(Name("_Send").Device(DEVICE_DEFAULT), SendOp);
REGISTER_KERNEL_BUILDER(
    Name("_HostSend").Device(DEVICE_DEFAULT).HostMemory("tensor"), SendOp);

class RecvOp : public AsyncOpKernel {
 public:
  explicit RecvOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, CheckMemory(*ctx));
    OP_REQUIRES_OK(ctx, key_.Init(ctx));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    OP_REQUIRES_ASYNC(
        ctx, ctx->rendezvous() != nullptr,
        errors::Internal("a step without a rendezvous cannot receive"), done);
    ctx->rendezvous()->RecvAsync(
        key_.Key(ctx), ctx->cancellation_manager(),
        [ctx, done = std::move(done), wanted = output_type(0)](
            const Status& s, const Tensor& value, bool is_dead) {
          if (!s.ok()) {
            ctx->SetStatus(s);
          } else if (is_dead) {
            // The output stays unset.
          } else if (value.dtype() != wanted) {
            ctx->SetStatus(errors::InvalidArgument(
                "received a tensor of type ", DataTypeString(value.dtype()),
                ", wanted ", DataTypeString(wanted)));
          } else {
            ctx->set_output(0, value);
          }
          done();
        });
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return key_.Describe();
  }

 private:
  EdgeKey key_;
};
REGISTER_KERNEL_BUILDER(Name("_Recv").Device(DEVICE_DEFAULT), RecvOp);
REGISTER_KERNEL_BUILDER(
    Name("_HostRecv").Device(DEVICE_DEFAULT).HostMemory("tensor"), RecvOp);

}  // namespace
}  // namespace headrace
