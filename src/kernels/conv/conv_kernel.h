// ConvKernel: what the kernels of convolutions have in common, whatever their
// direction: attrs, the check of shapes, and the choice of an algorithm.
// FilterKernel: those of which input 1 is the filter, which may be a constant.
//
// Thread-safe, as kernels are.
#ifndef HEADRACE_KERNELS_CONV_CONV_KERNEL_H_
#define HEADRACE_KERNELS_CONV_CONV_KERNEL_H_

#include "framework/kernel/temporary_memory.h"
#include "framework/shape_fns/conv_attrs.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"
#include "kernels/conv/conv_choice.h"
#include "kernels/conv/conv_plan.h"
#include "kernels/conv/prepared_filter.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ConvKernel : public OpKernel, public TemporaryMemory {
 public:
  explicit ConvKernel(OpKernelConstruction* ctx)
      : OpKernel(ctx), chooser_(*ctx) {
    OP_REQUIRES_OK(ctx, ConvAttrs::Read(*ctx, kSpatial, &attrs_));
    OP_REQUIRES_OK(ctx, attrs_.CheckValues());
    OP_REQUIRES(ctx, !kDepthwise || attrs_.stride(0) == attrs_.stride(1),
                errors::InvalidArgument(
                    "strides: row and column strides must be equal, got ",
                    attrs_.stride(0), " and ", attrs_.stride(1)));
  }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->temporary_memory = this;
  }
  // Checks the shapes against each other. `dtype` is that of the arithmetic.
  Status SizesOf(const TensorShape& input, const TensorShape& filter,
                 DataType dtype, ConvParams* p) const {
    HR_RETURN_IF_ERROR(ConvSizesOf(attrs_, input, filter, kDepthwise, p));
    p->dtype = dtype;
    p->format = attrs_.format;
    return OkStatus();
  }
  const ConvAttrs& attrs() const { return attrs_; }
  ConvChooser* chooser() { return &chooser_; }

 private:
  ConvAttrs attrs_;
  ConvChooser chooser_;
};

template <int kSpatial, bool kDepthwise>
class FilterKernel : public ConvKernel<kSpatial, kDepthwise>,
                     public StoredConstantReader {
 public:
  using ConvKernel<kSpatial, kDepthwise>::ConvKernel;

  void SetConstantInput(int i, const Tensor& value) final {
    if (i == 1) constant_filter_.Set(value);
  }
  bool TakesStoredConstant(int input) const final { return input == 1; }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    ConvKernel<kSpatial, kDepthwise>::DescribeTraits(traits);
    traits->stored_constant_reader = this;
  }
  // ConvKernel's, and whether the filter is constant.
  Status SizesOf(const TensorShape& input, const TensorShape& filter,
                 DataType dtype, ConvParams* p) const {
    HR_RETURN_IF_ERROR(
        (ConvKernel<kSpatial, kDepthwise>::SizesOf(input, filter, dtype, p)));
    p->constant_filter = constant_filter_.is_set();
    return OkStatus();
  }
  // Null if the filter may change.
  ConstantFilter* constant_filter() {
    return constant_filter_.is_set() ? &constant_filter_ : nullptr;
  }

 private:
  ConstantFilter constant_filter_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_CONV_CONV_KERNEL_H_
