#include "kernels/math/reduction_op.h"

#include "kernels/lib/cancellable_loops.h"

namespace headrace {

ReductionKernel::ReductionKernel(OpKernelConstruction* ctx,
                                 const ReductionLoops* loops,
                                 FinishReduction finish, bool identity)
    : OpKernel(ctx), loops_(*loops), finish_(finish), identity_(identity) {
  if (ctx->HasAttr("keep_dims")) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep_dims", &keep_dims_));
  }
}

void ReductionKernel::Compute(OpKernelContext* ctx) {
  const Tensor& x = ctx->input(0);
  ReductionPlan plan;
  OP_REQUIRES_OK(ctx, plan.Init(x.shape(), ctx->input(1), keep_dims_));
  if (identity_ && plan.count == 1) {
    Tensor y;
    OP_REQUIRES(ctx, y.CopyFrom(x, plan.output_shape),
                errors::Internal("reduction of one element changed the size"));
    ctx->set_output(0, std::move(y));
    return;
  }
  Tensor* y = nullptr;
  OP_REQUIRES_OK(ctx, ctx->allocate_output(0, plan.output_shape, &y));
  CancellableLoops cancellable(ctx);
  if (plan.outputs == 0) return;

  // Room for accumulators that are not results, and for parts.
  const int64_t accumulators = (finish_ == nullptr ? 0 : plan.outputs) +
                               (plan.parts > 1 ? plan.parts * plan.outputs : 0);
  alignas(16) char few[512];  // a few need no allocation
  char* room = few;
  Tensor temp;
  if (accumulators > static_cast<int64_t>(sizeof(few)) / loops_.acc_size) {
    OP_REQUIRES_OK(
        ctx, ctx->allocate_temp(DT_UINT8,
                                TensorShape({accumulators, loops_.acc_size}),
                                &temp, Tensor::kHeap));
    room = static_cast<char*>(temp.raw_data());
  }
  if (finish_ == nullptr) {
    Reduce(ctx, plan, loops_, x.dtype(), x.raw_data(), y->raw_data(), room);
  } else {
    Reduce(ctx, plan, loops_, x.dtype(), x.raw_data(), room,
           room + plan.outputs * loops_.acc_size);
    finish_(room, plan.count, plan.outputs, y->raw_data());
  }
}

}  // namespace headrace
