// Kernels of control flow. The executor handles loops and dead values. A kernel
// only passes a value on: to one of two outputs, or from one of several inputs.
// An output that Switch does not set is dead.
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ControlFlowKernel : public OpKernel {
 public:
  explicit ControlFlowKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }

 protected:
  static void Pass(OpKernelContext* ctx, int input, int output) {
    if (ctx->input_is_ref(input)) {
      ctx->forward_ref_input_to_ref_output(input, output);
    } else {
      ctx->set_output(output, ctx->input(input));
    }
  }
};

class SwitchOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& pred = ctx->input(1);
    OP_REQUIRES(ctx, pred.dims() == 0,
                errors::InvalidArgument(
                    "The second input must be a scalar, but it has shape ",
                    pred.shape().DebugString()));
    Pass(ctx, 0, pred.scalar<bool>() ? 1 : 0);
  }
};

class MergeOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      if (!ctx->input_is_ref(i) && !ctx->input(i).IsInitialized()) continue;
      Pass(ctx, i, 0);
      ctx->set_output(1, Tensor::Scalar<int32_t>(i));
      return;
    }
    ctx->CtxFailure(errors::Internal("Merge ran without a live input"));
  }
};

// Enter, Exit, NextIteration.
class PassOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext* ctx) override { Pass(ctx, 0, 0); }
};

class LoopCondOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& cond = ctx->input(0);
    OP_REQUIRES(ctx, cond.dims() == 0,
                errors::InvalidArgument(
                    "The loop condition must be a scalar, but it has shape ",
                    cond.shape().DebugString()));
    Pass(ctx, 0, 0);
  }
};

class ControlTriggerOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext*) override {}
};

// TensorFlow's ends the process. Here the step ends, and the caller decides.
class AbortOp : public ControlFlowKernel {
 public:
  explicit AbortOp(OpKernelConstruction* ctx) : ControlFlowKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("error_msg", &message_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("exit_without_error", &without_error_));
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->CtxFailure(errors::Aborted(
        message_.empty() ? "Abort was run" : message_, " (asked to ",
        without_error_ ? "exit without error" : "abort the process",
        "; the step was ended instead)"));
  }

 private:
  std::string message_;
  bool without_error_ = false;
};

class RefSelectOp : public ControlFlowKernel {
 public:
  using ControlFlowKernel::ControlFlowKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& index = ctx->input(0);
    OP_REQUIRES(ctx, index.dims() == 0,
                errors::InvalidArgument("Index must be a scalar, but it has "
                                        "shape ",
                                        index.shape().DebugString()));
    const int32_t i = index.scalar<int32_t>();
    OP_REQUIRES(
        ctx, i >= 0 && i < ctx->num_inputs() - 1,
        errors::InvalidArgument("Index must be in the range [0, ",
                                ctx->num_inputs() - 1, ") but got ", i));
    Pass(ctx, i + 1, 0);
  }
};

REGISTER_KERNEL_BUILDER(
    Name("Switch").Device(DEVICE_DEFAULT).HostMemory("pred"), SwitchOp);
REGISTER_KERNEL_BUILDER(
    Name("RefSwitch").Device(DEVICE_DEFAULT).HostMemory("pred"), SwitchOp);
REGISTER_KERNEL_BUILDER(
    Name("Merge").Device(DEVICE_DEFAULT).HostMemory("value_index"), MergeOp);
REGISTER_KERNEL_BUILDER(
    Name("RefMerge").Device(DEVICE_DEFAULT).HostMemory("value_index"), MergeOp);
REGISTER_KERNEL_BUILDER(Name("Enter").Device(DEVICE_DEFAULT), PassOp);
REGISTER_KERNEL_BUILDER(Name("RefEnter").Device(DEVICE_DEFAULT), PassOp);
REGISTER_KERNEL_BUILDER(Name("Exit").Device(DEVICE_DEFAULT), PassOp);
REGISTER_KERNEL_BUILDER(Name("RefExit").Device(DEVICE_DEFAULT), PassOp);
REGISTER_KERNEL_BUILDER(Name("NextIteration").Device(DEVICE_DEFAULT), PassOp);
REGISTER_KERNEL_BUILDER(Name("RefNextIteration").Device(DEVICE_DEFAULT),
                        PassOp);
REGISTER_KERNEL_BUILDER(Name("LoopCond")
                            .Device(DEVICE_DEFAULT)
                            .HostMemory("input")
                            .HostMemory("output"),
                        LoopCondOp);
REGISTER_KERNEL_BUILDER(Name("Abort").Device(DEVICE_DEFAULT), AbortOp);
REGISTER_KERNEL_BUILDER(Name("ControlTrigger").Device(DEVICE_DEFAULT),
                        ControlTriggerOp);
REGISTER_KERNEL_BUILDER(
    Name("RefSelect").Device(DEVICE_DEFAULT).HostMemory("index"), RefSelectOp);

}  // namespace
}  // namespace headrace
