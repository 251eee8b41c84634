// DecodeJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage: each but DecodeBmp
// takes JPEG, PNG and GIF by the file's first bytes, whatever its own name
// says; what differs are attrs and the rank of the result. DecodeAndCropJpeg
// takes JPEG alone.
//
// Wider types: PNG gives 16 bits a sample where it has them (and v * 257 of 8);
// of the others uint16 is v * 256. Floats are in [0, 1].
#include <string>

#include "headrace/op_kernel.h"
#include "io/image.h"

namespace headrace {
namespace {

const char* FormatName(ImageFormat format) {
  switch (format) {
    case ImageFormat::kJpeg:
      return "JPEG";
    case ImageFormat::kPng:
      return "PNG";
    case ImageFormat::kGif:
      return "GIF";
    case ImageFormat::kBmp:
      return "BMP";
    default:
      return "unknown";
  }
}

Status ReadContents(const Tensor& t, absl::string_view* contents) {
  if (t.dims() != 0) {
    return errors::InvalidArgument("`contents` must be scalar but got shape",
                                   t.shape().DebugString());
  }
  *contents = t.scalar<tstring>();
  return OkStatus();
}

class DecodeImageOp : public OpKernel {
 public:
  explicit DecodeImageOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    const std::string& op = type_string();
    gif_op_ = op == "DecodeGif";
    bmp_op_ = op == "DecodeBmp";
    image_op_ = op == "DecodeImage";
    crop_op_ = op == "DecodeAndCropJpeg";
    int64_t channels = gif_op_ ? 3 : 0;
    if (!gif_op_) OP_REQUIRES_OK(ctx, ctx->GetAttr("channels", &channels));
    OP_REQUIRES(
        ctx, channels == 0 || channels == 1 || channels == 3 || channels == 4,
        errors::InvalidArgument("`channels` must be 0, 1, 3 or 4 but got ",
                                channels));
    channels_ = static_cast<int>(channels);
    if (image_op_) {
      OP_REQUIRES_OK(ctx,
                     ctx->GetAttr("expand_animations", &expand_animations_));
    }
    if (crop_op_ || op == "DecodeJpeg") OP_REQUIRES_OK(ctx, ReadJpegAttrs(ctx));
    jpeg_.channels = channels_;
    jpeg_.crop = crop_op_;
  }

  void Compute(OpKernelContext* ctx) override {
    absl::string_view contents;
    OP_REQUIRES_OK(ctx, ReadContents(ctx->input(0), &contents));
    OP_REQUIRES(ctx, !contents.empty(),
                errors::InvalidArgument("Input is empty."));
    const ImageFormat format = DetectImageFormat(contents);
    // DecodeBmp accepts a BMP with or without its two-letter signature.
    if (bmp_op_ && format == ImageFormat::kUnknown) return Bmp(ctx, contents);
    OP_REQUIRES(ctx, format != ImageFormat::kUnknown,
                errors::InvalidArgument("Unknown image file format. One of "
                                        "JPEG, PNG, GIF, BMP required."));
    OP_REQUIRES(ctx, !crop_op_ || format == ImageFormat::kJpeg,
                errors::InvalidArgument(
                    "DecodeAndCropJpeg operation can run on JPEG only, but "
                    "detected ",
                    FormatName(format), "."));
    OP_REQUIRES(ctx, image_op_ || bmp_op_ == (format == ImageFormat::kBmp),
                errors::InvalidArgument("Trying to decode ", FormatName(format),
                                        " format using ", type_string(),
                                        " op. Use `decode_image` instead."));
    switch (format) {
      case ImageFormat::kJpeg:
        return Jpeg(ctx, contents);
      case ImageFormat::kPng:
        return Png(ctx, contents);
      case ImageFormat::kGif:
        return Gif(ctx, contents);
      default:
        return Bmp(ctx, contents);
    }
  }

 private:
  Status ReadJpegAttrs(OpKernelConstruction* ctx) {
    int64_t ratio;
    std::string dct_method;
    HR_RETURN_IF_ERROR(ctx->GetAttr("ratio", &ratio));
    HR_RETURN_IF_ERROR(ctx->GetAttr("fancy_upscaling", &jpeg_.fancy_upscaling));
    HR_RETURN_IF_ERROR(
        ctx->GetAttr("try_recover_truncated", &jpeg_.try_recover_truncated));
    HR_RETURN_IF_ERROR(
        ctx->GetAttr("acceptable_fraction", &jpeg_.acceptable_fraction));
    HR_RETURN_IF_ERROR(ctx->GetAttr("dct_method", &dct_method));
    if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
      return errors::InvalidArgument("ratio must be 1, 2, 4, or 8, got ",
                                     ratio);
    }
    if (!dct_method.empty() && dct_method != "INTEGER_FAST" &&
        dct_method != "INTEGER_ACCURATE") {
      return errors::InvalidArgument(
          "dct_method must be one of {'', 'INTEGER_FAST', "
          "'INTEGER_ACCURATE'}, got '",
          dct_method, "'");
    }
    jpeg_.ratio = static_cast<int>(ratio);
    jpeg_.fast_dct = dct_method != "INTEGER_ACCURATE";
    return OkStatus();
  }

  // Runs `decode`, which allocates pixels of `pixel_type`, and makes them
  // output 0; `rank` drops or adds the leading dim of frames.
  template <typename Decode>
  void Output(OpKernelContext* ctx, DataType pixel_type, int rank,
              const Decode& decode) {
    const DataType wanted = output_type(0);
    Tensor pixels;
    OP_REQUIRES_OK(
        ctx, decode([&](const TensorShape& decoded, Tensor** out) {
          TensorShape shape = decoded;
          if (shape.dims() > rank) shape.RemoveDim(0);
          if (shape.dims() < rank) shape.InsertDim(0, 1);
          HR_RETURN_IF_ERROR(ctx->allocate_temp(pixel_type, shape, &pixels));
          *out = &pixels;
          return OkStatus();
        }));
    if (wanted == pixel_type) return ctx->set_output(0, std::move(pixels));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, pixels.shape(), &out));
    const int64_t n = out->NumElements();
    if (wanted == DT_UINT16) {
      for (int64_t i = 0; i < n; ++i) {
        out->data<uint16_t>()[i] =
            static_cast<uint16_t>(pixels.data<uint8_t>()[i] * 256);
      }
    } else if (pixel_type == DT_UINT8) {
      for (int64_t i = 0; i < n; ++i) {
        out->data<float>()[i] = pixels.data<uint8_t>()[i] * (1.f / 255);
      }
    } else {
      for (int64_t i = 0; i < n; ++i) {
        out->data<float>()[i] = pixels.data<uint16_t>()[i] * (1.f / 65535);
      }
    }
  }

  int Rank() const { return gif_op_ ? 4 : 3; }

  void Jpeg(OpKernelContext* ctx, absl::string_view contents) {
    OP_REQUIRES(ctx, channels_ != 4,
                errors::InvalidArgument("JPEG does not support 4 channels"));
    JpegDecodeOptions options = jpeg_;
    if (crop_op_) {
      const Tensor& window = ctx->input(1);
      OP_REQUIRES(ctx, window.dims() == 1 && window.NumElements() == 4,
                  errors::InvalidArgument(
                      "crop_window must have four elements, got shape ",
                      window.shape().DebugString()));
      const int32_t* w = window.data<int32_t>();
      options.crop_y = w[0];
      options.crop_x = w[1];
      options.crop_height = w[2];
      options.crop_width = w[3];
    }
    Output(ctx, DT_UINT8, Rank(), [&](const ImageAllocator& allocate) {
      return DecodeJpeg(contents, options, allocate);
    });
  }

  void Png(OpKernelContext* ctx, absl::string_view contents) {
    const bool sixteen = output_type(0) != DT_UINT8;
    Output(ctx, sixteen ? DT_UINT16 : DT_UINT8, Rank(),
           [&](const ImageAllocator& allocate) {
             return DecodePng(contents, channels_, sixteen, allocate);
           });
  }

  void Gif(OpKernelContext* ctx, absl::string_view contents) {
    OP_REQUIRES(ctx, channels_ == 0 || channels_ == 3,
                errors::InvalidArgument(
                    "channels must be 0 or 3 for GIF, but got ", channels_));
    const bool all = gif_op_ || (image_op_ && expand_animations_);
    Output(ctx, DT_UINT8, all ? 4 : 3, [&](const ImageAllocator& allocate) {
      const auto checked = [&](const TensorShape& shape, Tensor** out) {
        if (!all && !image_op_ && shape.dim_size(0) != 1) {
          return errors::InvalidArgument(
              "Got ", shape.dim_size(0),
              " frames, but animated gifs can only be decoded by "
              "tf.io.decode_gif or tf.io.decode_image");
        }
        return allocate(shape, out);
      };
      return DecodeGif(contents, image_op_ && !expand_animations_, checked);
    });
  }

  void Bmp(OpKernelContext* ctx, absl::string_view contents) {
    OP_REQUIRES(ctx, channels_ != 1,
                errors::InvalidArgument(
                    "`channels` must be 0, 3 or 4 for BMP, but got 1"));
    Output(ctx, DT_UINT8, Rank(), [&](const ImageAllocator& allocate) {
      return DecodeBmp(contents, channels_, allocate);
    });
  }

  bool gif_op_, bmp_op_, image_op_, crop_op_;
  bool expand_animations_ = true;
  int channels_ = 0;
  JpegDecodeOptions jpeg_;
};
REGISTER_KERNEL_BUILDER(Name("DecodeJpeg").Device(DEVICE_CPU), DecodeImageOp);
REGISTER_KERNEL_BUILDER(Name("DecodeAndCropJpeg").Device(DEVICE_CPU),
                        DecodeImageOp);
REGISTER_KERNEL_BUILDER(Name("DecodePng").Device(DEVICE_CPU), DecodeImageOp);
REGISTER_KERNEL_BUILDER(Name("DecodeGif").Device(DEVICE_CPU), DecodeImageOp);
REGISTER_KERNEL_BUILDER(Name("DecodeBmp").Device(DEVICE_CPU), DecodeImageOp);
REGISTER_KERNEL_BUILDER(Name("DecodeImage").Device(DEVICE_CPU), DecodeImageOp);

class ExtractJpegShapeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    absl::string_view contents;
    OP_REQUIRES_OK(ctx, ReadContents(ctx->input(0), &contents));
    int64_t height, width;
    int channels;
    OP_REQUIRES_OK(ctx, ReadJpegShape(contents, &height, &width, &channels));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {3}, &out));
    const int64_t shape[] = {height, width, channels};
    for (int i = 0; i < 3; ++i) {
      if (out->dtype() == DT_INT32) {
        out->data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
      } else {
        out->data<int64_t>()[i] = shape[i];
      }
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("ExtractJpegShape").Device(DEVICE_CPU),
                        ExtractJpegShapeOp);

}  // namespace
}  // namespace headrace
