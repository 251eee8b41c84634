// SpaceToDepth and DepthToSpace: block x block pixels become channels and back.
// The channel index is (dy * block + dx) * C + c: the offset in the block is
// the major part.
#include <string>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/box_copy.h"
#include "kernels/lib/element.h"

namespace headrace {
namespace {

template <bool kToDepth>
class SpaceDepthOp : public OpKernel {
 public:
  explicit SpaceDepthOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("block_size", &block_));
    OP_REQUIRES(
        ctx, block_ > 1,
        errors::InvalidArgument("Block size should be > 1, but was: ", block_));
    std::string format;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("data_format", &format));
    OP_REQUIRES(ctx, format != "NCHW_VECT_C",
                errors::Unimplemented("data_format NCHW_VECT_C is not "
                                      "supported on CPU"));
    OP_REQUIRES_OK(ctx, ParseDataFormat(format, &format_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 4,
                errors::InvalidArgument("Input rank should be: 4 instead of: ",
                                        in.dims()));
    const int c = ChannelDim(format_, 4);
    const int h = SpatialDim(format_, 0), w = SpatialDim(format_, 1);
    TensorShape shape = in.shape();
    const int64_t square = MultiplyWithoutOverflow(block_, block_);
    OP_REQUIRES(ctx, square > 0,
                errors::InvalidArgument("block_size overflows"));
    if (kToDepth) {
      OP_REQUIRES(ctx,
                  in.dim_size(h) % block_ == 0 && in.dim_size(w) % block_ == 0,
                  errors::InvalidArgument("Image height ", in.dim_size(h),
                                          " and width ", in.dim_size(w),
                                          " should be divisible by "
                                          "block_size: ",
                                          block_));
      const int64_t depth = MultiplyWithoutOverflow(in.dim_size(c), square);
      OP_REQUIRES(ctx, depth >= 0,
                  errors::InvalidArgument("the depth overflows"));
      shape.set_dim(h, in.dim_size(h) / block_);
      shape.set_dim(w, in.dim_size(w) / block_);
      shape.set_dim(c, depth);
    } else {
      OP_REQUIRES(
          ctx, in.dim_size(c) % square == 0,
          errors::InvalidArgument("Input depth dimension ", in.dim_size(c),
                                  " should be divisible by: ", square));
      const int64_t rows = MultiplyWithoutOverflow(in.dim_size(h), block_);
      const int64_t cols = MultiplyWithoutOverflow(in.dim_size(w), block_);
      OP_REQUIRES(ctx, rows >= 0 && cols >= 0,
                  errors::InvalidArgument("the image size overflows"));
      shape.set_dim(h, rows);
      shape.set_dim(w, cols);
      shape.set_dim(c, in.dim_size(c) / square);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    const TensorShape& space = kToDepth ? in.shape() : shape;
    const TensorShape& depth = kToDepth ? shape : in.shape();
    const DimVector s = RowMajorStrides(space.dim_sizes());
    const DimVector d = RowMajorStrides(depth.dim_sizes());
    const int64_t channels = space.dim_size(c);
    BoxCopy copy;
    auto add = [&](int64_t n, int64_t space_stride, int64_t depth_stride) {
      if (kToDepth) {
        copy.AddDim(n, space_stride, depth_stride);
      } else {
        copy.AddDim(n, depth_stride, space_stride);
      }
    };
    add(space.dim_size(0), s[0], d[0]);
    add(depth.dim_size(h), block_ * s[h], d[h]);
    add(depth.dim_size(w), block_ * s[w], d[w]);
    add(block_, s[h], block_ * channels * d[c]);  // dy
    add(block_, s[w], channels * d[c]);           // dx
    add(channels, s[c], d[c]);
    copy.Run(ctx, in, 0, out, 0);
  }

 private:
  int64_t block_ = 0;
  DataFormat format_ = DataFormat::kNHWC;
};
REGISTER_KERNEL_BUILDER(Name("SpaceToDepth").Device(DEVICE_CPU),
                        SpaceDepthOp<true>);
REGISTER_KERNEL_BUILDER(Name("DepthToSpace").Device(DEVICE_CPU),
                        SpaceDepthOp<false>);

}  // namespace
}  // namespace headrace
