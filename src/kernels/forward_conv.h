// What the kernels of forward convolutions have in common: their attrs, and a
// filter that may be the same in every call.
#ifndef HEADRACE_KERNELS_FORWARD_CONV_H_
#define HEADRACE_KERNELS_FORWARD_CONV_H_

#include "framework/conv_attrs.h"
#include "framework/op_kernel.h"
#include "kernels/conv/conv_impl.h"
#include "kernels/conv/prepared_filter.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ForwardConv : public OpKernel {
 public:
  explicit ForwardConv(OpKernelConstruction* ctx) : OpKernel(ctx) {
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
  // Holds input 1; null if that may change from call to call.
  ConstantFilter* constant_filter() {
    return constant_filter_.is_set() ? &constant_filter_ : nullptr;
  }

 private:
  ConvAttrs attrs_;
  ConstantFilter constant_filter_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FORWARD_CONV_H_
