// EncodeJpeg, EncodeJpegVariableQuality and EncodePng; the last one takes a
// batch of any number of dims.
#include <string>

#include "headrace/op_kernel.h"
#include "io/image.h"

namespace headrace {
namespace {

class EncodeJpegOp : public OpKernel {
 public:
  explicit EncodeJpegOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (ctx->num_inputs() == 2) return;
    int64_t quality, x, y;
    std::string unit;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("format", &format_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("quality", &quality));
    OP_REQUIRES_OK(ctx, SetQuality(quality, &options_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("progressive", &options_.progressive));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("optimize_size", &options_.optimize_size));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("chroma_downsampling",
                                     &options_.chroma_downsampling));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("density_unit", &unit));
    options_.density_unit = unit == "in" ? 1 : 2;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("x_density", &x));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("y_density", &y));
    OP_REQUIRES(ctx, x >= 0 && y >= 0 && x <= 65535 && y <= 65535,
                errors::InvalidArgument(
                    "x_density and y_density must be in [0,65535], got ", x,
                    " and ", y));
    options_.x_density = static_cast<int>(x);
    options_.y_density = static_cast<int>(y);
    OP_REQUIRES_OK(ctx, ctx->GetAttr("xmp_metadata", &options_.xmp_metadata));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& image = ctx->input(0);
    OP_REQUIRES(ctx, image.dims() == 3,
                errors::InvalidArgument("image must be 3-dimensional, got ",
                                        image.shape().DebugString()));
    const int64_t channels = image.dim_size(2);
    const int64_t wanted = format_ == "grayscale" ? 1
                           : format_ == "rgb"     ? 3
                                                  : channels;
    OP_REQUIRES(ctx, channels == wanted,
                errors::InvalidArgument("format ", format_, " expects ", wanted,
                                        " channels, got ",
                                        image.shape().DebugString()));
    OP_REQUIRES(ctx, channels == 1 || channels == 3,
                errors::InvalidArgument("image must have 1 or 3 channels, got ",
                                        image.shape().DebugString()));
    JpegEncodeOptions options = options_;
    if (ctx->num_inputs() == 2) {
      const Tensor& quality = ctx->input(1);
      OP_REQUIRES(ctx, quality.dims() == 0,
                  errors::InvalidArgument("quality must be scalar, got ",
                                          quality.shape().DebugString()));
      OP_REQUIRES_OK(ctx, SetQuality(quality.scalar<int32_t>(), &options));
    }
    std::string bytes;
    OP_REQUIRES_OK(
        ctx,
        EncodeJpeg(image.data<uint8_t>(), image.dim_size(0), image.dim_size(1),
                   static_cast<int>(channels), options, &bytes));
    ctx->set_output(0, Tensor::Scalar<tstring>(tstring(bytes)));
  }

 private:
  static Status SetQuality(int64_t quality, JpegEncodeOptions* options) {
    if (quality < 0 || quality > 100) {
      return errors::InvalidArgument("quality must be in [0,100], got ",
                                     quality);
    }
    options->quality = static_cast<int>(quality);
    return OkStatus();
  }

  std::string format_;
  JpegEncodeOptions options_;
};
REGISTER_KERNEL_BUILDER(Name("EncodeJpeg").Device(DEVICE_CPU), EncodeJpegOp);
REGISTER_KERNEL_BUILDER(Name("EncodeJpegVariableQuality").Device(DEVICE_CPU),
                        EncodeJpegOp);

class EncodePngOp : public OpKernel {
 public:
  explicit EncodePngOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compression", &compression_));
    OP_REQUIRES(ctx, compression_ >= -1 && compression_ <= 9,
                errors::InvalidArgument("compression should be in [-1,9], got ",
                                        compression_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& images = ctx->input(0);
    const int rank = images.dims();
    OP_REQUIRES(ctx, rank >= 3,
                errors::InvalidArgument("images must be at least rank 3, got ",
                                        images.shape().DebugString()));
    OP_REQUIRES(ctx, images.NumElements() > 0,
                errors::InvalidArgument("EncodePng: image of shape ",
                                        images.shape().DebugString(),
                                        " has no pixels"));
    TensorShape batch = images.shape();
    batch.RemoveLastDims(3);
    const auto dims = images.shape().dim_sizes();
    const int64_t n = batch.num_elements();
    Tensor rows;
    OP_REQUIRES(
        ctx,
        rows.CopyFrom(images, TensorShape({n, dims[rank - 3], dims[rank - 2],
                                           dims[rank - 1]})),
        errors::Internal("EncodePng: sizes differ"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, batch, &out));
    for (int64_t i = 0; i < n; ++i) {
      std::string bytes;
      OP_REQUIRES_OK(ctx, EncodePng(rows.SubSlice(i),
                                    static_cast<int>(compression_), &bytes));
      out->data<tstring>()[i] = tstring(bytes);
    }
  }

 private:
  int64_t compression_ = -1;
};
REGISTER_KERNEL_BUILDER(Name("EncodePng").Device(DEVICE_CPU), EncodePngOp);

}  // namespace
}  // namespace headrace
