#include "io/image.h"

#include "absl/strings/match.h"

namespace headrace {

ImageFormat DetectImageFormat(absl::string_view bytes) {
  if (absl::StartsWith(bytes, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (absl::StartsWith(bytes, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (absl::StartsWith(bytes, "GIF8")) return ImageFormat::kGif;
  if (absl::StartsWith(bytes, "BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

Status DecodeImage(absl::string_view bytes, int channels, Tensor* image) {
  if (channels != 1 && channels != 3 && channels != 4) {
    return errors::InvalidArgument("channels must be 1, 3 or 4, got ",
                                   channels);
  }
  Tensor out;
  const ImageAllocator allocate = [&](const TensorShape& shape, Tensor** t) {
    *t = &out;
    return Tensor::Allocate(CpuAllocator(), DT_UINT8, shape, &out);
  };
  switch (DetectImageFormat(bytes)) {
    case ImageFormat::kJpeg: {
      JpegDecodeOptions options;
      options.channels = channels;
      options.fast_dct = false;
      HR_RETURN_IF_ERROR(DecodeJpeg(bytes, options, allocate));
      break;
    }
    case ImageFormat::kPng:
      HR_RETURN_IF_ERROR(DecodePng(bytes, channels, false, allocate));
      break;
    case ImageFormat::kGif:
      if (channels != 3) {
        return errors::InvalidArgument("a GIF has 3 channels, wanted ",
                                       channels);
      }
      HR_RETURN_IF_ERROR(DecodeGif(bytes, true, allocate));
      out = out.SubSlice(0);
      break;
    case ImageFormat::kBmp:
      HR_RETURN_IF_ERROR(DecodeBmp(bytes, channels, allocate));
      break;
    case ImageFormat::kUnknown:
      return errors::InvalidArgument("neither a JPEG nor a PNG, GIF or BMP");
  }
  *image = std::move(out);
  return OkStatus();
}

}  // namespace headrace
