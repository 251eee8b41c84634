// The dense conditional accumulator, and the ops that both kinds share.
#include "framework/tensor/borrowed_buffer.h"
#include "kernels/flow/accumulator.h"
#include "kernels/lib/tensor_sum.h"

namespace headrace {
namespace {

class DenseAccumulator : public Accumulator {
 public:
  using Accumulator::Accumulator;

  Status Apply(int64_t local_step, const Tensor& gradient) {
    if (gradient.dtype() != options().dtype) {
      return errors::InvalidArgument("Wrong dtype: the ", DebugString(),
                                     " was given ",
                                     DataTypeString(gradient.dtype()));
    }
    if (!options().shape.IsCompatibleWith(gradient.shape())) {
      return errors::InvalidArgument("Shape mismatch: expected ",
                                     options().shape.DebugString(), ", got ",
                                     gradient.shape().DebugString());
    }
    return Add(local_step, [&]() -> Status {
      mu_.AssertHeld();
      if (sum_.IsInitialized()) return AddToTensor(gradient, &sum_);
      Tensor first = gradient;
      HR_RETURN_IF_ERROR(OwnBytes(&first));
      sum_ = std::move(first);
      return OkStatus();
    });
  }

 private:
  Status TakeLocked(int64_t count, std::vector<Tensor>* result) override
      REQUIRES(mu_) {
    result->push_back(std::move(sum_));
    sum_ = Tensor();
    return options().mean ? DivideTensor(count, &result->front()) : OkStatus();
  }

  Tensor sum_ GUARDED_BY(mu_);
};

using DenseAccumulatorOp = AccumulatorOp<DenseAccumulator>;
REGISTER_KERNEL_BUILDER(Name("ConditionalAccumulator").Device(DEVICE_CPU),
                        DenseAccumulatorOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceConditionalAccumulator").Device(DEVICE_CPU),
    DenseAccumulatorOp);

class ApplyGradientOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<DenseAccumulator> a;
    OP_REQUIRES_OK(ctx, LookupAccumulator<DenseAccumulator>(ctx, &a));
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "local_step", &step));
    OP_REQUIRES_OK(ctx, a->Apply(step, ctx->input(2)));
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorApplyGradient").Device(DEVICE_CPU),
                        ApplyGradientOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorApplyGradient").Device(DEVICE_CPU),
    ApplyGradientOp);

using TakeDenseOp = TakeGradientOp<DenseAccumulator>;
REGISTER_KERNEL_BUILDER(Name("AccumulatorTakeGradient").Device(DEVICE_CPU),
                        TakeDenseOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorTakeGradient").Device(DEVICE_CPU), TakeDenseOp);

class NumAccumulatedOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK(ctx, LookupAccumulator<Accumulator>(ctx, &a));
    ctx->set_output(0,
                    Tensor::Scalar<int32_t>(static_cast<int32_t>(a->count())));
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorNumAccumulated").Device(DEVICE_CPU),
                        NumAccumulatedOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorNumAccumulated").Device(DEVICE_CPU),
    NumAccumulatedOp);

class SetGlobalStepOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Accumulator> a;
    OP_REQUIRES_OK(ctx, LookupAccumulator<Accumulator>(ctx, &a));
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ReadInteger(ctx->input(1), "new_global_step", &step));
    a->SetGlobalStep(step);
  }
};
REGISTER_KERNEL_BUILDER(Name("AccumulatorSetGlobalStep").Device(DEVICE_CPU),
                        SetGlobalStepOp);
REGISTER_KERNEL_BUILDER(
    Name("ResourceAccumulatorSetGlobalStep").Device(DEVICE_CPU),
    SetGlobalStepOp);

}  // namespace
}  // namespace headrace
