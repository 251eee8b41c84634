// Images in files: thin wrappers of libpng and libjpeg-turbo. Whatever is in
// the bytes, the result is a Status or an image; sizes are bounded before
// anything is allocated.
#ifndef HEADRACE_IO_IMAGE_H_
#define HEADRACE_IO_IMAGE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/status.h"
#include "framework/tensor.h"

namespace headrace {

constexpr int64_t kMaxImagePixels = int64_t{1} << 28;

// A PNG or JPEG as uint8 [height, width, channels]; `channels` is 1 (grey),
// 3 (RGB) or 4 (RGBA, PNG only). InvalidArgument for other formats and for
// malformed bytes, Unimplemented if the library was built without the codec.
Status DecodeImage(absl::string_view bytes, int channels, Tensor* image);

// uint8 [height, width, 1 | 3 | 4] as PNG.
Status EncodePng(const Tensor& image, std::string* bytes);

}  // namespace headrace

#endif  // HEADRACE_IO_IMAGE_H_
