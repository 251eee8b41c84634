// What the kernels of forward convolutions have in common: their attrs, and a
// filter that may be the same in every call.
#ifndef HEADRACE_KERNELS_FORWARD_CONV_H_
#define HEADRACE_KERNELS_FORWARD_CONV_H_

#include "framework/conv_attrs.h"
#include "framework/op_kernel.h"
#include "framework/temporary_memory.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/prepared_filter.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ForwardConv : public OpKernel, public TemporaryMemory {
 public:
  explicit ForwardConv(OpKernelConstruction* ctx)
      : OpKernel(ctx), chooser_(*ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, kSpatial, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
    OP_REQUIRES(ctx, !kDepthwise || attrs_.stride(0) == attrs_.stride(1),
                errors::InvalidArgument(
                    "strides: row and column strides must be equal, got ",
                    attrs_.stride(0), " and ", attrs_.stride(1)));
  }

  void SetConstantInput(int i, const Tensor& value) final {
    if (i == 1) constant_filter_.Set(value);
  }

  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool* pool) final {
    ConvParams p;
    if (!ConvSizesOf(attrs_, inputs[0], inputs[1], kDepthwise, &p).ok()) {
      return 0;
    }
    p.dtype = this->input_type(0);
    p.format = attrs_.format;
    // The ops of graph passes have an epilogue.
    return ConvTemporaryBytes(pool, ConvDirection::kForward, p,
                              constant_filter_.is_set(),
                              this->type_string()[0] == '_', &chooser_);
  }

 protected:
  // Checks inputs 0 and 1 against each other.
  Status ReadSizes(OpKernelContext* ctx, ConvParams* p) const {
    HR_RETURN_IF_ERROR(ConvSizesOf(attrs_, ctx->input(0).shape(),
                                   ctx->input(1).shape(), kDepthwise, p));
    p->dtype = ctx->input(0).dtype();
    p->format = attrs_.format;
    return OkStatus();
  }
  const ConvAttrs& attrs() const { return attrs_; }
  ConvChooser* chooser() { return &chooser_; }
  // Holds input 1; null if that may change from call to call.
  ConstantFilter* constant_filter() {
    return constant_filter_.is_set() ? &constant_filter_ : nullptr;
  }

 private:
  ConvAttrs attrs_;
  ConvChooser chooser_;
  ConstantFilter constant_filter_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FORWARD_CONV_H_
