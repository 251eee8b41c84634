// The gradients of the convolutions (conv_ops.cc) by their input and by their
// filter. One of the two is not there and its shape is an argument: a vector
// (input_sizes, filter_sizes), or in some versions the tensor itself, of which
// the shape alone is read. The forward convolution of these shapes must give
// the shape of out_backprop.
//
// Input pixels that no window touches get 0; so does the filter of an empty
// batch.
#include <numeric>
#include <type_traits>

#include "kernels/conv/conv_kernel.h"
#include "kernels/lib/conv_args.h"

namespace headrace {
// The gradient by the input is also what transposed convolutions are; their
// filter may be a constant.
template <int kSpatial, bool kDepthwise, ConvDirection kDirection>
using ConvGradBase =
    std::conditional_t<kDirection == ConvDirection::kBackwardInput,
                       FilterKernel<kSpatial, kDepthwise>,
                       ConvKernel<kSpatial, kDepthwise>>;

// kSizes: the missing tensor's shape is given as a vector.
template <int kSpatial, bool kDepthwise, ConvDirection kDirection, bool kSizes>
class ConvGradOp : public ConvGradBase<kSpatial, kDepthwise, kDirection> {
 public:
  using ConvGradBase<kSpatial, kDepthwise, kDirection>::ConvGradBase;

  void Compute(OpKernelContext* ctx) override {
    const Tensor& out_backprop = ctx->input(2);
    TensorShape input, filter;
    OP_REQUIRES_OK(ctx, Shapes(ctx, out_backprop.shape(), &input, &filter));
    ConvParams p;
    OP_REQUIRES_OK(ctx, this->SizesOf(input, filter, out_backprop.dtype(), &p));
    OP_REQUIRES_OK(ctx, CheckBackprop(p, out_backprop.shape()));
    Tensor* result = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, kInput ? input : filter, &result));
    ConvPlan plan;
    OP_REQUIRES_OK(ctx, PlanConv(ctx->thread_pool(), kDirection, p, {},
                                 this->chooser(), &plan));
    const ConvTensors tensors = {kInput ? nullptr : &ctx->input(0),
                                 kInput ? &ctx->input(1) : nullptr,
                                 &out_backprop};
    ConstantFilter* constant = nullptr;
    if constexpr (kInput) constant = this->constant_filter();
    OP_REQUIRES_OK(ctx, RunConv(ctx, plan, tensors, {}, constant, result));
  }

  int64_t TemporaryBytes(absl::Span<const TensorShape> inputs,
                         absl::Span<const TensorShape> outputs,
                         ThreadPool* pool) override {
    ConvParams p;
    ConvPlan plan;
    if (!this->SizesOf(kInput ? outputs[0] : inputs[0],
                       kInput ? inputs[1] : outputs[0], this->input_type(2), &p)
             .ok() ||
        !PlanConv(pool, kDirection, p, {}, this->chooser(), &plan).ok()) {
      return 0;
    }
    return plan.TemporaryBytes();
  }

 private:
  static constexpr bool kInput = kDirection == ConvDirection::kBackwardInput;

  Status Shapes(OpKernelContext* ctx, const TensorShape& out_backprop,
                TensorShape* input, TensorShape* filter) const {
    *input = ctx->input(0).shape();
    *filter = ctx->input(1).shape();
    if (!kSizes) return OkStatus();
    DimVector dims;
    HR_RETURN_IF_ERROR(ReadSizes(kInput ? "input_sizes" : "filter_sizes",
                                 ctx->input(kInput ? 0 : 1), &dims));
    const int rank = kSpatial + 2;
    if (kInput && kSpatial == 2 && !kDepthwise && dims.size() == 2 &&
        filter->dims() == rank && out_backprop.dims() == rank) {
      // Height and width alone; the rest is known.
      DimVector whole(rank);
      whole[0] = out_backprop.dim_size(0);
      whole[ChannelDim(this->attrs().format, rank)] = filter->dim_size(2);
      whole[SpatialDim(this->attrs().format, 0)] = dims[0];
      whole[SpatialDim(this->attrs().format, 1)] = dims[1];
      dims = whole;
    }
    return TensorShape::Build(dims, kInput ? input : filter);
  }

  Status CheckBackprop(const ConvSizes& sizes, const TensorShape& got) const {
    const int rank = kSpatial + 2;
    if (got.dims() != rank) {
      return errors::InvalidArgument("out_backprop must be ", rank,
                                     "-dimensional, got ", got.DebugString());
    }
    const TensorShape want = ConvOutputShape(this->attrs(), sizes);
    for (int i = 0; i < rank; ++i) {
      if (got.dim_size(i) == want.dim_size(i)) continue;
      return errors::InvalidArgument(
          "Size of out_backprop doesn't match computed: actual = ",
          got.dim_size(i), ", computed = ", want.dim_size(i), " in dimension ",
          i, " (out_backprop ", got.DebugString(), ", computed ",
          want.DebugString(), ")");
    }
    return OkStatus();
  }
};

template <int kSpatial, bool kDepthwise, bool kSizes>
using ConvInputGradOp =
    ConvGradOp<kSpatial, kDepthwise, ConvDirection::kBackwardInput, kSizes>;
template <int kSpatial, bool kDepthwise, bool kSizes>
using ConvFilterGradOp =
    ConvGradOp<kSpatial, kDepthwise, ConvDirection::kBackwardFilter, kSizes>;

#define HR_REGISTER(OP, T, ...)                                               \
  REGISTER_KERNEL_BUILDER(Name(OP).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
                          __VA_ARGS__);
#define HR_REGISTER_INPUT2D(T)                                           \
  HR_REGISTER("Conv2DBackpropInput", T, ConvInputGradOp<2, false, true>) \
  HR_REGISTER("Conv2DBackpropInputV2", T, ConvInputGradOp<2, false, false>)
#define HR_REGISTER_ALL(T)                                                    \
  HR_REGISTER_INPUT2D(T)                                                      \
  HR_REGISTER("Conv2DBackpropFilter", T, ConvFilterGradOp<2, false, true>)    \
  HR_REGISTER("Conv2DBackpropFilterV2", T, ConvFilterGradOp<2, false, false>) \
  HR_REGISTER("Conv3DBackpropInputV2", T, ConvInputGradOp<3, false, true>)    \
  HR_REGISTER("Conv3DBackpropFilterV2", T, ConvFilterGradOp<3, false, true>)  \
  HR_REGISTER("DepthwiseConv2dNativeBackpropInput", T,                        \
              ConvInputGradOp<2, true, true>)                                 \
  HR_REGISTER("DepthwiseConv2dNativeBackpropFilter", T,                       \
              ConvFilterGradOp<2, true, true>)
#define HR_REGISTER_V1(T)                                                 \
  HR_REGISTER("Conv3DBackpropInput", T, ConvInputGradOp<3, false, false>) \
  HR_REGISTER("Conv3DBackpropFilter", T, ConvFilterGradOp<3, false, false>)
HR_CALL_FLOAT_TYPES(HR_REGISTER_ALL)
HR_REGISTER_INPUT2D(int32_t)
HR_REGISTER_V1(half)
HR_REGISTER_V1(float)
HR_REGISTER_V1(double)
#undef HR_REGISTER_V1
#undef HR_REGISTER_ALL
#undef HR_REGISTER_INPUT2D
#undef HR_REGISTER

}  // namespace headrace
