// BMP, uncompressed, of 8 (grey), 24 or 32 bits a pixel. All numbers are little
// endian: at 10 where the pixels begin, at 18 the width, at 22 the height, at
// 28 the bits. Rows are padded to 4 bytes and stand bottom up unless the height
// is negative; colours are blue, green, red (, alpha).
#include <cstdint>
#include <cstdlib>

#include "io/image.h"

namespace headrace {
namespace {

int64_t LittleEndian(absl::string_view bytes, size_t at, int size) {
  uint32_t v = 0;
  for (int i = 0; i < size; ++i) {
    v |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  }
  return size == 2 ? int64_t{static_cast<int16_t>(v)}
                   : int64_t{static_cast<int32_t>(v)};
}

}  // namespace

Status DecodeBmp(absl::string_view bytes, int channels,
                 const ImageAllocator& allocate) {
  constexpr size_t kHeaderSize = 32;
  if (bytes.size() < kHeaderSize) {
    return errors::InvalidArgument(
        "Incomplete bmp content, requires at least ", kHeaderSize,
        " bytes to find the header size, width, height, and bpp, got ",
        bytes.size(), " bytes");
  }
  const int64_t begin = LittleEndian(bytes, 10, 4);
  const int64_t width = LittleEndian(bytes, 18, 4);
  const int64_t signed_height = LittleEndian(bytes, 22, 4);
  const int64_t bits = LittleEndian(bytes, 28, 2);
  const int64_t height = std::abs(signed_height);
  const int64_t in_channels = bits / 8;
  if (bits != 8 && bits != 24 && bits != 32) {
    return errors::InvalidArgument(
        "Number of channels inherent in the image must be 1, 3 or 4, was ",
        in_channels);
  }
  if (channels != 0 && channels != in_channels) {
    return errors::InvalidArgument("channels attribute ", channels,
                                   " does not match bits per pixel from file ",
                                   in_channels);
  }
  if (begin < 0 || width <= 0 || height == 0 ||
      height > kMaxImageBytes / width / in_channels) {
    return errors::InvalidArgument("bmp image of ", signed_height, " x ", width,
                                   " pixels at byte ", begin,
                                   " is empty or too large");
  }
  const int64_t stride = (in_channels * width + 3) / 4 * 4;
  const int64_t end = begin + (height - 1) * stride + width * in_channels;
  if (end > static_cast<int64_t>(bytes.size())) {
    return errors::InvalidArgument("Incomplete bmp content, requires at least ",
                                   end, " bytes, got ", bytes.size(), " bytes");
  }
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(allocate(TensorShape({height, width, in_channels}), &out));
  uint8_t* to = out->data<uint8_t>();
  const auto* pixels = reinterpret_cast<const uint8_t*>(bytes.data()) + begin;
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* from =
        pixels + (signed_height < 0 ? y : height - 1 - y) * stride;
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < in_channels; ++c) {
        *to++ = from[in_channels >= 3 && c < 3 ? 2 - c : c];
      }
      from += in_channels;
    }
  }
  return OkStatus();
}

}  // namespace headrace
