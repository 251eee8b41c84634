// Images in files: thin wrappers of libjpeg-turbo, libpng and giflib, and a
// reader of BMP. Whatever is in the bytes, the result is a Status or an image;
// sizes are bounded before anything is allocated.
#ifndef HEADRACE_IO_IMAGE_H_
#define HEADRACE_IO_IMAGE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// The most bytes that one decoded image, or all frames of a GIF, may have. A
// file of a few kilobytes can ask for any size.
constexpr int64_t kMaxImageBytes = int64_t{1} << 29;

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp };
// By the first bytes.
ImageFormat DetectImageFormat(absl::string_view bytes);

// Called once by a decoder with the shape, when it is known and within bounds;
// allocates the pixels. The decoder writes them all or fails.
using ImageAllocator =
    std::function<Status(const TensorShape& shape, Tensor** pixels)>;

struct JpegDecodeOptions {
  int channels = 0;  // 0: as in the file; 1: grey; 3: RGB
  int ratio = 1;     // 2, 4, 8: that many times smaller
  bool fancy_upscaling = true;
  // Decode what there is of a file that ends early; the last row is repeated.
  bool try_recover_truncated = false;
  // Without that: the part of the rows that must be there; the rest is black.
  float acceptable_fraction = 1;
  bool fast_dct = true;
  bool crop = false;
  int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
// uint8 [height, width, channels].
Status DecodeJpeg(absl::string_view bytes, const JpegDecodeOptions& options,
                  const ImageAllocator& allocate);
Status ReadJpegShape(absl::string_view bytes, int64_t* height, int64_t* width,
                     int* channels);

struct JpegEncodeOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  int density_unit = 1;  // 1: dots an inch, 2: dots a cm
  int x_density = 300, y_density = 300;
  std::string xmp_metadata;
};
// Of `channels` 1 or 3.
Status EncodeJpeg(const uint8_t* pixels, int64_t height, int64_t width,
                  int channels, const JpegEncodeOptions& options,
                  std::string* bytes);

// uint8 or (`sixteen_bits`) uint16 [height, width, channels]; channels 0 to 4,
// 0: as in the file. An alpha channel that is not asked for is dropped.
Status DecodePng(absl::string_view bytes, int channels, bool sixteen_bits,
                 const ImageAllocator& allocate);
// Of a uint8 or uint16 [height, width, 1 to 4] tensor; compression -1 (the
// library's choice) or 0 to 9.
Status EncodePng(const Tensor& image, int compression, std::string* bytes);

// uint8 [frames, height, width, 3]: what a viewer shows after each frame. A
// file that ends early gives the frames before that.
Status DecodeGif(absl::string_view bytes, bool first_frame_only,
                 const ImageAllocator& allocate);

// uint8 [height, width, channels]; channels 0, or what the file has.
Status DecodeBmp(absl::string_view bytes, int channels,
                 const ImageAllocator& allocate);

// A picture in any of the formats as uint8 [height, width, channels], the first
// frame of a GIF; `channels` is 1 (grey), 3 (RGB) or 4 (RGBA, PNG only).
Status DecodeImage(absl::string_view bytes, int channels, Tensor* image);

}  // namespace headrace

#endif  // HEADRACE_IO_IMAGE_H_
