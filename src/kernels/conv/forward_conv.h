// ForwardConv: the kernels of forward convolutions, alone or with an epilogue.
// Input 0 is the image, input 1 the filter, which may be a constant.
//
// Thread-safe, as kernels are; constants are set before the first call.
#ifndef HEADRACE_KERNELS_CONV_FORWARD_CONV_H_
#define HEADRACE_KERNELS_CONV_FORWARD_CONV_H_

#include "kernels/conv/byte_levels.h"
#include "kernels/conv/conv_kernel.h"
#include "kernels/lib/bfloat16_product.h"
#include "kernels/lib/temporary_peak.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ForwardConv : public FilterKernel<kSpatial, kDepthwise> {
 public:
  explicit ForwardConv(OpKernelConstruction* ctx)
      : FilterKernel<kSpatial, kDepthwise>(ctx),
        bfloat16_products_(MultipliesBfloat16(*ctx)),
        byte_levels_(ByteLevels::Of(*ctx)) {}

  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool* pool) final {
    const DataType dtype = this->input_type(0);
    ConvParams p;
    ConvPlan plan;
    if (!SizesOfForward(inputs[0], inputs[1], dtype, &p).ok() ||
        !Plan(pool, p, &plan).ok()) {
      return 0;
    }
    const EpilogueTypes types = fused_.Types(dtype);
    // The scale and the bias that FusedBatchNorm becomes.
    const int64_t batch_norm =
        fused_.batch_norm
            ? 2 * TemporarySize(p.out_channels * DataTypeSize(types.scale))
            : 0;
    return batch_norm + plan.TemporaryBytes();
  }

 protected:
  // Checks inputs 0 and 1 against each other.
  Status ReadSizes(OpKernelContext* ctx, ConvParams* p) const {
    return SizesOfForward(ctx->input(0).shape(), ctx->input(1).shape(),
                          ctx->input(0).dtype(), p);
  }
  // `p`: from ReadSizes. `epilogue`: of the types that `fused` says.
  Status Convolve(OpKernelContext* ctx, const ConvParams& p,
                  const Epilogue& epilogue, Tensor* output) {
    ConvPlan plan;
    HR_RETURN_IF_ERROR(Plan(ctx->thread_pool(), p, &plan));
    return RunConv(ctx, plan, {&ctx->input(0), &ctx->input(1), nullptr},
                   epilogue, this->constant_filter(), output);
  }
  // Written by the constructor of a fused op, constant afterwards.
  FusedOps* mutable_fused() { return &fused_; }
  const FusedOps& fused() const { return fused_; }

 private:
  Status SizesOfForward(const TensorShape& input, const TensorShape& filter,
                        DataType dtype, ConvParams* p) const {
    HR_RETURN_IF_ERROR(this->SizesOf(input, filter, dtype, p));
    p->bfloat16_products = bfloat16_products_;
    if (byte_levels_) p->byte_levels = &*byte_levels_;
    return OkStatus();
  }
  Status Plan(ThreadPool* pool, const ConvParams& p, ConvPlan* plan) {
    return PlanConv(pool, ConvDirection::kForward, p, fused_.Types(p.dtype),
                    this->chooser(), plan);
  }

  const bool bfloat16_products_;
  const std::optional<ByteLevels> byte_levels_;
  FusedOps fused_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_FORWARD_CONV_H_
