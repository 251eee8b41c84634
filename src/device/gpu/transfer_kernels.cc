// Kernels of the GPU that carry values and compute nothing: _Send and _Recv,
// which copy from and to the host, Const, and the ops that hand an input on.
#include <utility>

#include "device/gpu/gpu_device.h"
#include "framework/kernel/edge_key.h"
#include "framework/kernel/rendezvous.h"
#include "headrace/op_kernel.h"

namespace headrace::gpu {
namespace {

// A value crosses in the host's memory: _Send copies it there, _Recv from
// there.
class GpuSendOp : public AsyncOpKernel {
 public:
  explicit GpuSendOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, key_.Init(ctx));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    OP_REQUIRES_ASYNC(ctx, ctx->rendezvous() != nullptr,
                      errors::Internal("a step without a rendezvous"), done);
    if (ctx->is_input_dead()) {
      ctx->SetStatus(
          ctx->rendezvous()->Send(key_.Key(ctx), Tensor(DT_FLOAT), true));
      return done();
    }
    const auto host = std::make_shared<Tensor>();
    if (ctx->input(0).TotalBytes() == 0) {  // a signal, mostly
      *host = Tensor(ctx->input(0).dtype(), ctx->input(0).shape());
      ctx->SetStatus(ctx->rendezvous()->Send(key_.Key(ctx), *host, false));
      return done();
    }
    ctx->device()->CopyToHost(
        ctx->input(0), host.get(),
        [this, ctx, host, done = std::move(done)](const Status& s) {
          ctx->SetStatus(s);
          if (s.ok()) {
            ctx->SetStatus(
                ctx->rendezvous()->Send(key_.Key(ctx), *host, false));
          }
          done();
        });
  }

 private:
  EdgeKey key_;
};
REGISTER_KERNEL_BUILDER(Name("_Send").Device(DEVICE_GPU), GpuSendOp);

class GpuRecvOp : public AsyncOpKernel {
 public:
  explicit GpuRecvOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, key_.Init(ctx));
  }
  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    OP_REQUIRES_ASYNC(ctx, ctx->rendezvous() != nullptr,
                      errors::Internal("a step without a rendezvous"), done);
    ctx->rendezvous()->RecvAsync(
        key_.Key(ctx), ctx->cancellation_manager(),
        [this, ctx, done = std::move(done)](const Status& s, const Tensor& host,
                                            bool is_dead) {
          if (!s.ok()) {
            ctx->SetStatus(s);
            return done();
          }
          if (is_dead) return done();  // the output stays unset
          if (host.dtype() != output_type(0)) {
            ctx->SetStatus(errors::InvalidArgument(
                "received a tensor of type ", DataTypeString(host.dtype()),
                ", wanted ", DataTypeString(output_type(0))));
            return done();
          }
          const auto device = std::make_shared<Tensor>();
          ctx->device()->CopyFromHost(
              host, device.get(), [ctx, device, done](const Status& copied) {
                ctx->SetStatus(copied);
                if (copied.ok()) ctx->set_output(0, std::move(*device));
                done();
              });
        });
  }
  std::string WaitsFor(OpKernelContext*) const override {
    return key_.Describe();
  }

 private:
  EdgeKey key_;
};
REGISTER_KERNEL_BUILDER(Name("_Recv").Device(DEVICE_GPU), GpuRecvOp);

// The value is copied to the GPU once, when the kernel is made.
class GpuConstOp : public OpKernel {
 public:
  explicit GpuConstOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    Tensor host;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("value", &host));
    OP_REQUIRES(ctx, host.dtype() == output_type(0),
                errors::InvalidArgument(
                    "Const: value is ", DataTypeString(host.dtype()),
                    ", dtype is ", DataTypeString(output_type(0))));
    if (output_memory_type(0) == HOST_MEMORY) {
      value_ = std::move(host);
      return;
    }
    // A step's thread may make kernels, those of a function for one, and be the
    // thread that calls back: so nothing here waits for a callback.
    OP_REQUIRES_OK(ctx, GpuContextOf(ctx)->CopyToDevice(host, &value_));
  }
  void Compute(OpKernelContext* ctx) override { ctx->set_output(0, value_); }
  const Tensor* const_tensor() const override { return &value_; }

 private:
  Tensor value_;
};

class GpuIdentityOp : public OpKernel {
 public:
  explicit GpuIdentityOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(0));
  }
};

class GpuNoOp : public OpKernel {
 public:
  explicit GpuNoOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext*) override {}
};
REGISTER_KERNEL_BUILDER(Name("NoOp").Device(DEVICE_GPU), GpuNoOp);

#define REGISTER_ON_DEVICE(T)                                            \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("Const").Device(DEVICE_GPU).TypeConstraint<T>("dtype"),       \
      GpuConstOp);                                                       \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("Identity").Device(DEVICE_GPU).TypeConstraint<T>("T"),        \
      GpuIdentityOp);                                                    \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("StopGradient").Device(DEVICE_GPU).TypeConstraint<T>("T"),    \
      GpuIdentityOp);                                                    \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("PreventGradient").Device(DEVICE_GPU).TypeConstraint<T>("T"), \
      GpuIdentityOp);
HR_CALL_FLOAT_TYPES(REGISTER_ON_DEVICE)
HR_CALL_COMPLEX_TYPES(REGISTER_ON_DEVICE)
HR_CALL_UNSIGNED_INT_TYPES(REGISTER_ON_DEVICE)
REGISTER_ON_DEVICE(int8_t)
REGISTER_ON_DEVICE(int16_t)
REGISTER_ON_DEVICE(int64_t)
REGISTER_ON_DEVICE(bool)
#undef REGISTER_ON_DEVICE

// Shapes and counters stay on the host.
REGISTER_KERNEL_BUILDER(Name("Const")
                            .Device(DEVICE_GPU)
                            .HostMemory("output")
                            .TypeConstraint<int32_t>("dtype"),
                        GpuConstOp);
#define REGISTER_ON_HOST(T)                            \
  REGISTER_KERNEL_BUILDER(Name("Identity")             \
                              .Device(DEVICE_GPU)      \
                              .HostMemory("input")     \
                              .HostMemory("output")    \
                              .TypeConstraint<T>("T"), \
                          GpuIdentityOp);
REGISTER_ON_HOST(int32_t)
REGISTER_ON_HOST(tstring)
REGISTER_ON_HOST(ResourceHandle)
#undef REGISTER_ON_HOST

}  // namespace
}  // namespace headrace::gpu
