// PNG by libpng, which leaves by longjmp when something is wrong: nothing with
// a destructor lives in the functions that call it.
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "io/image.h"

#if HEADRACE_HAVE_PNG
#include <png.h>
#endif

namespace headrace {

#if HEADRACE_HAVE_PNG
namespace {

constexpr size_t kMessageSize = 128;

// libpng says only in words that it found no memory; this remembers it.
struct PngMemory {
  bool is_short = false;
};
png_voidp Allocate(png_structp png, png_alloc_size_t n) {
  void* const p = std::malloc(n);
  if (p == nullptr) {
    static_cast<PngMemory*>(png_get_mem_ptr(png))->is_short = true;
  }
  return p;
}
void Release(png_structp, png_voidp p) { std::free(p); }

struct PngReader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngMemory memory;
  absl::string_view rest;
  char message[kMessageSize] = "unknown error";
  int channels = 0;
};

void Keep(char* to, const char* message) {
  std::strncpy(to, message, kMessageSize - 1);
  to[kMessageSize - 1] = 0;
}
void OnReadError(png_structp png, png_const_charp message) {
  Keep(static_cast<PngReader*>(png_get_error_ptr(png))->message, message);
  png_longjmp(png, 1);
}
void OnWarning(png_structp, png_const_charp) {}

void ReadBytes(png_structp png, png_bytep to, png_size_t n) {
  auto* r = static_cast<PngReader*>(png_get_io_ptr(png));
  if (n > r->rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, r->rest.data(), n);
  r->rest.remove_prefix(n);
}

// Sets the transformations from the file's format to the wanted one.
void SetTransformations(PngReader* r, int channels, bool sixteen_bits) {
  png_structp png = r->png;
  const int color = png_get_color_type(png, r->info);
  const int bits = png_get_bit_depth(png, r->info);
  const bool has_trns = png_get_valid(png, r->info, PNG_INFO_tRNS) != 0;
  const bool has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0;
  const bool is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
  if (channels == 0) {
    channels = color == PNG_COLOR_TYPE_PALETTE ? (has_trns ? 4 : 3)
                                               : png_get_channels(png, r->info);
  }
  r->channels = channels;
  const bool wants_alpha = channels % 2 == 0, wants_gray = channels < 3;
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (is_gray && bits < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (wants_alpha) {
    if (has_trns) {
      png_set_tRNS_to_alpha(png);
    } else if (!has_alpha) {
      png_set_add_alpha(png, bits == 16 ? 0xffff : 0xff, PNG_FILLER_AFTER);
    }
  } else if (has_alpha || has_trns) {
    png_set_strip_alpha(png);
  }
  if (sixteen_bits && bits < 16) {
    png_set_expand_16(png);
  } else if (!sixteen_bits && bits == 16) {
    png_set_strip_16(png);
  }
  if (wants_gray && !is_gray) {
    png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  } else if (!wants_gray && is_gray) {
    png_set_gray_to_rgb(png);
  }
  if (sixteen_bits && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    png_set_swap(png);
  }
  png_set_interlace_handling(png);
  png_read_update_info(png, r->info);
}

bool ReadHeader(PngReader* r, int channels, bool sixteen_bits) {
  r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, OnReadError,
                                    OnWarning, &r->memory, Allocate, Release);
  if (r->png == nullptr) return false;
  if (setjmp(png_jmpbuf(r->png))) return false;
  r->info = png_create_info_struct(r->png);
  if (r->info == nullptr) return false;
  png_set_read_fn(r->png, r, ReadBytes);
  png_read_info(r->png, r->info);
  SetTransformations(r, channels, sixteen_bits);
  return true;
}

bool ReadPixels(PngReader* r, png_bytepp rows) {
  if (setjmp(png_jmpbuf(r->png))) return false;
  png_read_image(r->png, rows);
  png_read_end(r->png, nullptr);
  return true;
}

Status Decode(absl::string_view bytes, int channels, bool sixteen_bits,
              const ImageAllocator& allocate, PngReader* r) {
  r->rest = bytes;
  if (!ReadHeader(r, channels, sixteen_bits)) {
    return errors::InvalidArgument("Invalid PNG header, data size ",
                                   bytes.size(), ": ", r->message);
  }
  const int64_t height = png_get_image_height(r->png, r->info);
  const int64_t width = png_get_image_width(r->png, r->info);
  const int64_t pixel = r->channels * (sixteen_bits ? 2 : 1);
  if (height <= 0 || width <= 0 || height > kMaxImageBytes / width / pixel) {
    return errors::InvalidArgument("PNG image of ", height, " x ", width,
                                   " pixels is empty or too large");
  }
  if (static_cast<int64_t>(png_get_rowbytes(r->png, r->info)) !=
      width * pixel) {
    return errors::Internal("PNG image has rows of ",
                            png_get_rowbytes(r->png, r->info),
                            " bytes, wanted ", width * pixel);
  }
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(allocate(TensorShape({height, width, r->channels}), &out));
  auto* pixels = static_cast<png_bytep>(out->raw_data());
  std::vector<png_bytep> rows(height);
  for (int64_t y = 0; y < height; ++y) rows[y] = pixels + y * width * pixel;
  if (!ReadPixels(r, rows.data())) {
    return errors::InvalidArgument("Invalid PNG data, size ", bytes.size(),
                                   ": ", r->message);
  }
  return OkStatus();
}

struct PngWriter {
  png_structp png = nullptr;
  png_infop info = nullptr;
  PngMemory memory;
  std::string* bytes = nullptr;
  char message[kMessageSize] = "unknown error";
};

bool TryAppend(const char* data, size_t n, std::string* to) {
  try {
    to->append(data, n);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool WritePixels(PngWriter* w, const Tensor& image, int color, int compression,
                 png_bytepp rows) {
  w->png = png_create_write_struct_2(
      PNG_LIBPNG_VER_STRING, w,
      [](png_structp png, png_const_charp message) {
        Keep(static_cast<PngWriter*>(png_get_error_ptr(png))->message, message);
        png_longjmp(png, 1);
      },
      OnWarning, &w->memory, Allocate, Release);
  if (w->png == nullptr) return false;
  if (setjmp(png_jmpbuf(w->png))) return false;
  w->info = png_create_info_struct(w->png);
  if (w->info == nullptr) return false;
  png_set_write_fn(
      w->png, w,
      [](png_structp png, png_bytep data, png_size_t n) {
        auto* const w = static_cast<PngWriter*>(png_get_io_ptr(png));
        // Exceptions do not cross the library, nor a jump a catch.
        if (!TryAppend(reinterpret_cast<const char*>(data), n, w->bytes)) {
          w->memory.is_short = true;
          png_error(png, "out of memory");
        }
      },
      [](png_structp) {});
  png_set_compression_level(w->png, compression);
  png_set_IHDR(w->png, w->info, static_cast<png_uint_32>(image.dim_size(1)),
               static_cast<png_uint_32>(image.dim_size(0)),
               image.dtype() == DT_UINT8 ? 8 : 16, color, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w->png, w->info);
  if (image.dtype() == DT_UINT16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
    png_set_swap(w->png);
  }
  png_write_image(w->png, rows);
  png_write_end(w->png, nullptr);
  return true;
}

}  // namespace

Status DecodePng(absl::string_view bytes, int channels, bool sixteen_bits,
                 const ImageAllocator& allocate) {
  if (channels < 0 || channels > 4) {
    return errors::InvalidArgument("a PNG has 1 to 4 channels, wanted ",
                                   channels);
  }
  PngReader r;
  Status s = Decode(bytes, channels, sixteen_bits, allocate, &r);
  if (!s.ok() && (r.memory.is_short || r.png == nullptr)) {
    s = errors::ResourceExhausted("out of memory: no room to decode a PNG of ",
                                  bytes.size(), " bytes: ", r.message);
  }
  png_destroy_read_struct(&r.png, &r.info, nullptr);
  return s;
}

Status EncodePng(const Tensor& image, int compression, std::string* bytes) {
  if ((image.dtype() != DT_UINT8 && image.dtype() != DT_UINT16) ||
      image.dims() != 3 || image.NumElements() == 0) {
    return errors::InvalidArgument(
        "EncodePng: wanted a uint8 or uint16 [height, width, channels] image "
        "that is not empty, got ",
        DataTypeString(image.dtype()), " ", image.shape().DebugString());
  }
  if (compression < -1 || compression > 9) {
    return errors::InvalidArgument(
        "EncodePng: compression should be in [-1,9], got ", compression);
  }
  constexpr int kColor[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                            PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  const int64_t height = image.dim_size(0), width = image.dim_size(1);
  const int64_t channels = image.dim_size(2);
  if (channels > 4) {
    return errors::InvalidArgument(
        "EncodePng: image must have 1, 2, 3, or 4 channels, got ", channels);
  }
  if (height > kMaxImageBytes || width > kMaxImageBytes / (2 * channels)) {
    return errors::InvalidArgument("EncodePng: image of ", height, " x ", width,
                                   " is too large");
  }
  const int64_t stride = width * channels * DataTypeSize(image.dtype());
  auto* pixels = static_cast<png_bytep>(const_cast<void*>(image.raw_data()));
  std::vector<png_bytep> rows(height);
  for (int64_t y = 0; y < height; ++y) rows[y] = pixels + y * stride;
  PngWriter w;
  w.bytes = bytes;
  bytes->clear();
  const bool ok =
      WritePixels(&w, image, kColor[channels - 1], compression, rows.data());
  png_destroy_write_struct(&w.png, &w.info);
  if (!ok && (w.memory.is_short || w.png == nullptr)) {
    return errors::ResourceExhausted(
        "out of memory: no room to encode an image of ", height, " x ", width,
        " x ", channels, " as a PNG: ", w.message);
  }
  if (!ok) return errors::Internal("EncodePng: ", w.message);
  return OkStatus();
}

#else   // HEADRACE_HAVE_PNG

Status DecodePng(absl::string_view, int, bool, const ImageAllocator&) {
  return errors::Unimplemented("this library was built without libpng");
}
Status EncodePng(const Tensor&, int, std::string*) {
  return errors::Unimplemented("this library was built without libpng");
}
#endif  // HEADRACE_HAVE_PNG

}  // namespace headrace
