// Images in files: thin wrappers of libjpeg-turbo, libpng and giflib, and a BMP
// reader. For any bytes the result is a Status or an image. Sizes are checked
// before memory is allocated. All functions are thread-safe.
#ifndef HEADRACE_IO_IMAGE_H_
#define HEADRACE_IO_IMAGE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/string_view.h"
#include "headrace/status.h"
#include "headrace/tensor.h"

namespace headrace {

// Maximum bytes of a decoded image, or of all frames of a GIF. A file of a few
// kilobytes can claim any size.
constexpr int64_t kMaxImageBytes = int64_t{1} << 29;

enum class ImageFormat : uint8_t { kUnknown, kJpeg, kPng, kGif, kBmp };
// Looks at the first bytes.
ImageFormat DetectImageFormat(absl::string_view bytes);

// A decoder calls it once, when the shape is known and within the limits. It
// allocates the pixels. The decoder then writes all of them or fails.
using ImageAllocator =
    std::function<Status(const TensorShape& shape, Tensor** pixels)>;

struct JpegDecodeOptions {
  int channels = 0;  // 0: as in the file; 1: grey; 3: RGB
  int ratio = 1;     // 2, 4, 8: scales down by this factor
  bool fancy_upscaling = true;
  // If a file ends early, decode what is there and repeat the last row.
  bool try_recover_truncated = false;
  // Otherwise: the fraction of the rows that must be there. The rest is black.
  float acceptable_fraction = 1;
  bool fast_dct = true;
  bool crop = false;
  int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
// Gives uint8 [height, width, channels].
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
// `pixels` is [height, width, channels], row-major; `channels` is 1 or 3.
Status EncodeJpeg(const uint8_t* pixels, int64_t height, int64_t width,
                  int channels, const JpegEncodeOptions& options,
                  std::string* bytes);

// Gives uint8 or (with `sixteen_bits`) uint16 [height, width, channels].
// `channels` is 0 (as in the file) to 4. An alpha channel that is not asked for
// is dropped.
Status DecodePng(absl::string_view bytes, int channels, bool sixteen_bits,
                 const ImageAllocator& allocate);
// `image` is uint8 or uint16 [height, width, 1 to 4]. `compression` is 0 to 9,
// or -1 for the library's default.
Status EncodePng(const Tensor& image, int compression, std::string* bytes);

// Gives uint8 [frames, height, width, 3]: the picture that a viewer shows after
// each frame. A file that ends early gives the frames before its end.
Status DecodeGif(absl::string_view bytes, bool first_frame_only,
                 const ImageAllocator& allocate);

// Gives uint8 [height, width, channels]. `channels` is 0 or the file's number.
Status DecodeBmp(absl::string_view bytes, int channels,
                 const ImageAllocator& allocate);

// Decodes any of the formats to uint8 [height, width, channels]; of a GIF only
// the first frame. `channels` is 1 (grey), 3 (RGB) or 4 (RGBA, PNG only).
Status DecodeImage(absl::string_view bytes, int channels, Tensor* image);

}  // namespace headrace

#endif  // HEADRACE_IO_IMAGE_H_
