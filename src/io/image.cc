#include "io/image.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include "absl/strings/match.h"

#if HEADRACE_HAVE_PNG
#include <png.h>
#endif
#if HEADRACE_HAVE_JPEG
#include <jpeglib.h>
#endif

namespace headrace {
namespace {

Status CheckSize(int64_t height, int64_t width) {
  if (height <= 0 || width <= 0 || height > kMaxImagePixels / width) {
    return errors::InvalidArgument("image of ", height, " x ", width,
                                   " pixels; wanted 1 to ", kMaxImagePixels,
                                   " in all");
  }
  return OkStatus();
}

#if HEADRACE_HAVE_PNG
Status DecodePng(absl::string_view bytes, int channels, Tensor* image) {
  // libpng's simplified interface: it reports errors instead of jumping.
  png_image png;
  std::memset(&png, 0, sizeof(png));
  png.version = PNG_IMAGE_VERSION;
  auto failed = [&png] {
    const std::string why = png.message;
    png_image_free(&png);
    return errors::InvalidArgument("Invalid PNG data: ", why);
  };
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) {
    return failed();
  }
  const Status size = CheckSize(png.height, png.width);
  if (!size.ok()) {
    png_image_free(&png);
    return size;
  }
  png.format = channels == 1   ? PNG_FORMAT_GRAY
               : channels == 3 ? PNG_FORMAT_RGB
                               : PNG_FORMAT_RGBA;
  Tensor out;
  const Status allocated =
      Tensor::Allocate(CpuAllocator(), DT_UINT8,
                       TensorShape({png.height, png.width, channels}), &out);
  if (!allocated.ok()) {
    png_image_free(&png);
    return allocated;
  }
  // Transparent pixels show the black behind them.
  const png_color background = {0, 0, 0};
  if (!png_image_finish_read(&png, &background, out.data<uint8_t>(),
                             static_cast<png_int_32>(png.width) * channels,
                             nullptr)) {
    return failed();
  }
  *image = std::move(out);
  return OkStatus();
}
#endif

#if HEADRACE_HAVE_JPEG
// libjpeg leaves by longjmp: nothing with a destructor lives in the function
// that calls it.
struct JpegError {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void OnJpegError(j_common_ptr info) {
  auto* e = reinterpret_cast<JpegError*>(info->err);
  e->base.format_message(info, e->message);
  std::longjmp(e->jump, 1);
}

// Reads the header, then calls `allocate` for the pixels. False on error, with
// e->message set, or if `allocate` returns null.
bool ReadJpeg(const unsigned char* bytes, size_t size, int channels,
              JpegError* e, uint8_t* (*allocate)(void*, int64_t, int64_t),
              void* context) {
  jpeg_decompress_struct info;
  info.err = jpeg_std_error(&e->base);
  e->base.error_exit = OnJpegError;
  // Warnings of damaged files do not go to stderr.
  e->base.output_message = [](j_common_ptr) {};
  if (setjmp(e->jump)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  uint8_t* pixels = allocate(context, info.image_height, info.image_width);
  if (pixels == nullptr) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_start_decompress(&info);
  const size_t stride = static_cast<size_t>(info.output_width) * channels;
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels + info.output_scanline * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

Status DecodeJpeg(absl::string_view bytes, int channels, Tensor* image) {
  if (channels == 4) {
    return errors::InvalidArgument("a JPEG has 1 or 3 channels, wanted 4");
  }
  struct Context {
    int channels;
    Tensor out;
    Status status;
  } context{channels, Tensor(), OkStatus()};
  JpegError e;
  std::strcpy(e.message, "unknown");
  const bool ok = ReadJpeg(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
      channels, &e,
      [](void* p, int64_t height, int64_t width) -> uint8_t* {
        auto* c = static_cast<Context*>(p);
        c->status = CheckSize(height, width);
        if (c->status.ok()) {
          c->status = Tensor::Allocate(
              CpuAllocator(), DT_UINT8,
              TensorShape({height, width, c->channels}), &c->out);
        }
        return c->status.ok() ? c->out.data<uint8_t>() : nullptr;
      },
      &context);
  HR_RETURN_IF_ERROR(context.status);
  if (!ok) return errors::InvalidArgument("Invalid JPEG data: ", e.message);
  *image = std::move(context.out);
  return OkStatus();
}
#endif

}  // namespace

Status DecodeImage(absl::string_view bytes, int channels, Tensor* image) {
  if (channels != 1 && channels != 3 && channels != 4) {
    return errors::InvalidArgument("channels must be 1, 3 or 4, got ",
                                   channels);
  }
  if (absl::StartsWith(bytes, "\x89PNG\r\n\x1a\n")) {
#if HEADRACE_HAVE_PNG
    return DecodePng(bytes, channels, image);
#else
    return errors::Unimplemented("this library was built without libpng");
#endif
  }
  if (absl::StartsWith(bytes, "\xff\xd8\xff")) {
#if HEADRACE_HAVE_JPEG
    return DecodeJpeg(bytes, channels, image);
#else
    return errors::Unimplemented("this library was built without libjpeg");
#endif
  }
  return errors::InvalidArgument("neither a PNG nor a JPEG");
}

Status EncodePng(const Tensor& image, std::string* bytes) {
#if HEADRACE_HAVE_PNG
  if (image.dtype() != DT_UINT8 || image.dims() != 3 ||
      image.NumElements() == 0) {
    return errors::InvalidArgument(
        "EncodePng: wanted a uint8 [height, width, channels] image, got ",
        DataTypeString(image.dtype()), " ", image.shape().DebugString());
  }
  HR_RETURN_IF_ERROR(CheckSize(image.dim_size(0), image.dim_size(1)));
  const int64_t channels = image.dim_size(2);
  if (channels != 1 && channels != 3 && channels != 4) {
    return errors::InvalidArgument(
        "EncodePng: channels must be 1, 3 or 4, got ", channels);
  }
  png_image png;
  std::memset(&png, 0, sizeof(png));
  png.version = PNG_IMAGE_VERSION;
  png.height = static_cast<png_uint_32>(image.dim_size(0));
  png.width = static_cast<png_uint_32>(image.dim_size(1));
  png.format = channels == 1   ? PNG_FORMAT_GRAY
               : channels == 3 ? PNG_FORMAT_RGB
                               : PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  bytes->resize(size);
  if (!png_image_write_to_memory(&png, bytes->data(), &size, 0,
                                 image.data<uint8_t>(), 0, nullptr)) {
    return errors::Internal("EncodePng: ", png.message);
  }
  bytes->resize(size);
  return OkStatus();
#else
  return errors::Unimplemented("this library was built without libpng");
#endif
}

}  // namespace headrace
