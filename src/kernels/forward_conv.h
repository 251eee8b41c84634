// A forward convolution, of which the filter may be the same in every call.
#ifndef HEADRACE_KERNELS_FORWARD_CONV_H_
#define HEADRACE_KERNELS_FORWARD_CONV_H_

#include "framework/stored_constant.h"
#include "kernels/conv/prepared_filter.h"
#include "kernels/conv_kernel.h"

namespace headrace {

template <int kSpatial, bool kDepthwise>
class ForwardConv : public ConvKernel<kSpatial, kDepthwise>,
                    public StoredConstantReader {
 public:
  using ConvKernel<kSpatial, kDepthwise>::ConvKernel;

  void SetConstantInput(int i, const Tensor& value) final {
    if (i == 1) constant_filter_.Set(value);
  }
  bool TakesStoredConstant(int input) const final { return input == 1; }

  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool* pool) final {
    ConvParams p;
    if (!this->SizesOf(inputs[0], inputs[1], this->input_type(0), &p).ok()) {
      return 0;
    }
    // The ops of graph passes have an epilogue.
    return ConvTemporaryBytes(pool, ConvDirection::kForward, p,
                              constant_filter_.is_set(),
                              this->type_string()[0] == '_', this->chooser());
  }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    ConvKernel<kSpatial, kDepthwise>::DescribeTraits(traits);
    traits->stored_constant_reader = this;
  }
  // Checks inputs 0 and 1 against each other.
  Status ReadSizes(OpKernelContext* ctx, ConvParams* p) const {
    return this->SizesOf(ctx->input(0).shape(), ctx->input(1).shape(),
                         ctx->input(0).dtype(), p);
  }
  // Holds input 1; null if that may change from call to call.
  ConstantFilter* constant_filter() {
    return constant_filter_.is_set() ? &constant_filter_ : nullptr;
  }

 private:
  ConstantFilter constant_filter_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FORWARD_CONV_H_
