// JPEG, PNG, GIF and BMP files, with the options that take other ways.
#include "io/image.h"

#include "fuzz_target.h"

namespace headrace {
FUZZ_TARGET(image) {
  Tensor image;
  // A file may ask for far more pixels than it has bytes: memory, not time.
  const ImageAllocator allocate = [&](const TensorShape& shape, Tensor** out) {
    if (shape.num_elements() > 1 << 22) return errors::ResourceExhausted("big");
    HR_RETURN_IF_ERROR(
        Tensor::Allocate(CpuAllocator(), DT_UINT8, shape, &image));
    *out = &image;
    return OkStatus();
  };
  switch (DetectImageFormat(bytes)) {
    case ImageFormat::kJpeg: {
      int64_t height, width;
      int channels;
      (void)ReadJpegShape(bytes, &height, &width, &channels);
      (void)DecodeJpeg(bytes, {.try_recover_truncated = true}, allocate);
      (void)DecodeJpeg(bytes, {.channels = 1, .ratio = 8}, allocate);
      (void)DecodeJpeg(bytes,
                       {.channels = 3,
                        .crop = true,
                        .crop_y = 1,
                        .crop_x = 1,
                        .crop_height = 2,
                        .crop_width = 2},
                       allocate);
      break;
    }
    case ImageFormat::kPng:
      for (int channels = 0; channels <= 4; ++channels) {
        (void)DecodePng(bytes, channels, false, allocate);
      }
      break;
    case ImageFormat::kGif:
      (void)DecodeGif(bytes, true, allocate);
      (void)DecodeGif(bytes, false, allocate);
      break;
    default:
      (void)DecodeBmp(bytes, 0, allocate);
  }
}
}  // namespace headrace
