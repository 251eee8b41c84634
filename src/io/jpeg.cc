// JPEG by libjpeg-turbo. The library leaves by longjmp when something is wrong:
// nothing with a destructor lives in the functions that call it between setjmp
// and the last call, and what they keep over a jump is in a struct outside.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "io/image.h"

#if HEADRACE_HAVE_JPEG
#include <jpeglib.h>
#endif

namespace headrace {

#if HEADRACE_HAVE_JPEG
namespace {

struct JpegError {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void OnError(j_common_ptr info) {
  auto* e = reinterpret_cast<JpegError*>(info->err);
  e->base.format_message(info, e->message);
  std::longjmp(e->jump, 1);
}

jpeg_error_mgr* InitError(JpegError* e) {
  std::strcpy(e->message, "unknown error");
  jpeg_std_error(&e->base);
  e->base.error_exit = OnError;
  // Warnings of damaged files do not go to stderr.
  e->base.output_message = [](j_common_ptr) {};
  return &e->base;
}

// Reads the bytes from memory. At their end it either reports the end of the
// file (the library then fills the rest of the image) or stops reading.
struct MemorySource {
  jpeg_source_mgr base;
  bool end_when_empty;
};

void InitSource(j_decompress_ptr info, MemorySource* source,
                absl::string_view bytes, bool end_when_empty) {
  source->end_when_empty = end_when_empty;
  source->base.init_source = [](j_decompress_ptr) {};
  source->base.term_source = [](j_decompress_ptr) {};
  source->base.resync_to_restart = jpeg_resync_to_restart;
  source->base.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  source->base.bytes_in_buffer = bytes.size();
  source->base.fill_input_buffer = [](j_decompress_ptr i) -> boolean {
    auto* s = reinterpret_cast<MemorySource*>(i->src);
    if (!s->end_when_empty) return FALSE;
    static const JOCTET kEnd[] = {0xff, JPEG_EOI};
    s->base.next_input_byte = kEnd;
    s->base.bytes_in_buffer = sizeof(kEnd);
    return TRUE;
  };
  source->base.skip_input_data = [](j_decompress_ptr i, long n) {
    jpeg_source_mgr* s = i->src;
    if (n <= 0) return;
    const size_t skipped = std::min<size_t>(n, s->bytes_in_buffer);
    s->next_input_byte += skipped;
    s->bytes_in_buffer -= skipped;
  };
  info->src = &source->base;
}

// A progressive file may have any number of scans over the whole image, each of
// a few bytes.
constexpr int kMaxScans = 1000;
void LimitScans(j_common_ptr info) {
  if (!info->is_decompressor) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <=
      kMaxScans) {
    return;
  }
  auto* e = reinterpret_cast<JpegError*>(info->err);
  std::strcpy(e->message, "too many scans");
  std::longjmp(e->jump, 1);
}

struct Decoder {
  jpeg_decompress_struct info;
  JpegError error;
  MemorySource source;
  jpeg_progress_mgr progress;
  int channels = 0;
  bool cmyk = false, crop = false;
  int64_t rows_read = 0;
  // The part of the image for the caller: a part of each row, of some rows.
  int64_t first_row = 0, rows = 0, first_byte = 0, row_bytes = 0;
};

// The header, and the library set up as the options say. False on error.
bool ReadHeader(absl::string_view bytes, const JpegDecodeOptions& o,
                Decoder* d) {
  jpeg_decompress_struct* info = &d->info;
  info->err = InitError(&d->error);
  if (setjmp(d->error.jump)) return false;
  jpeg_create_decompress(info);
  d->progress = {};
  d->progress.progress_monitor = LimitScans;
  info->progress = &d->progress;
  InitSource(info, &d->source, bytes, o.try_recover_truncated);
  if (jpeg_read_header(info, TRUE) != JPEG_HEADER_OK) {
    std::strcpy(d->error.message, "the file ends in its header");
    return false;
  }
  d->channels =
      o.channels == 0 ? std::min(info->num_components, 3) : o.channels;
  if (d->channels == 1) {
    info->out_color_space = JCS_GRAYSCALE;
  } else if (info->jpeg_color_space == JCS_CMYK ||
             info->jpeg_color_space == JCS_YCCK) {
    info->out_color_space = JCS_CMYK;
    d->cmyk = true;
  } else {
    info->out_color_space = JCS_RGB;
  }
  info->do_fancy_upsampling = o.fancy_upscaling ? TRUE : FALSE;
  info->scale_num = 1;
  info->scale_denom = o.ratio;
  info->dct_method = o.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_calc_output_dimensions(info);
  return true;
}

void CmykToRgb(const uint8_t* in, int64_t pixels, bool inverted, uint8_t* out) {
  for (int64_t i = 0; i < pixels; ++i) {
    const int k = inverted ? in[4 * i + 3] : 255 - in[4 * i + 3];
    for (int c = 0; c < 3; ++c) {
      const int v = inverted ? in[4 * i + c] : 255 - in[4 * i + c];
      out[3 * i + c] = static_cast<uint8_t>(k * v / 255);
    }
  }
}

// Decodes into `out`, rows_read telling how many rows came. `row` and `rgb` are
// scratch for one row. False on error.
bool ReadRows(Decoder* d, uint8_t* row, uint8_t* rgb, uint8_t* out) {
  jpeg_decompress_struct* info = &d->info;
  if (setjmp(d->error.jump)) return false;
  if (!jpeg_start_decompress(info)) return true;  // it ends before the first
#if defined(LIBJPEG_TURBO_VERSION)
  // Decodes only the blocks that the window touches.
  if (d->crop) {
    auto x = static_cast<JDIMENSION>(d->first_byte / d->channels);
    auto width = static_cast<JDIMENSION>(d->row_bytes / d->channels);
    const JDIMENSION wanted = x;
    jpeg_crop_scanline(info, &x, &width);
    d->first_byte = int64_t{wanted - x} * d->channels;
    const auto skipped = static_cast<JDIMENSION>(d->first_row);
    if (jpeg_skip_scanlines(info, skipped) != skipped) return true;
  }
#endif
  while (d->rows_read < d->rows) {
    JSAMPROW at = row;
    const int64_t line = info->output_scanline;
    if (jpeg_read_scanlines(info, &at, 1) != 1) return true;
    const uint8_t* pixels = row;
    if (d->cmyk) {
      CmykToRgb(row, info->output_width, info->saw_Adobe_marker, rgb);
      pixels = rgb;
    }
    if (line < d->first_row) continue;
    std::memcpy(out + d->rows_read * d->row_bytes, pixels + d->first_byte,
                d->row_bytes);
    ++d->rows_read;
  }
  return true;
}

Status Failed(const Decoder& d, absl::string_view bytes) {
  return errors::InvalidArgument("Invalid JPEG data, size ", bytes.size(), ": ",
                                 d.error.message);
}

Status DecodeWith(absl::string_view bytes, const JpegDecodeOptions& o,
                  const ImageAllocator& allocate, Decoder* d) {
  if (!ReadHeader(bytes, o, d)) return Failed(*d, bytes);
  const int64_t height = d->info.output_height, width = d->info.output_width;
  const int64_t components = std::max(d->channels, d->info.num_components);
  if (height <= 0 || width <= 0 ||
      height > kMaxImageBytes / width / components) {
    return errors::InvalidArgument("JPEG image of ", height, " x ", width,
                                   " pixels is empty or too large");
  }
  int64_t y = 0, x = 0, h = height, w = width;
  if (o.crop) {
    y = o.crop_y, x = o.crop_x, h = o.crop_height, w = o.crop_width;
    if (h <= 0 || w <= 0 || y < 0 || x < 0 || y > height - h || x > width - w) {
      return errors::InvalidArgument("crop window [", y, ",", x, ",", h, ",", w,
                                     "] does not lie within the image of ",
                                     height, " x ", width);
    }
  }
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(allocate(TensorShape({h, w, d->channels}), &out));
  std::vector<uint8_t> row(width * std::max(components, int64_t{4}));
  std::vector<uint8_t> rgb(d->cmyk ? 3 * width : 0);
  d->crop = o.crop;
  d->first_row = y;
  d->rows = h;
  d->first_byte = x * d->channels;
  d->row_bytes = w * d->channels;
  uint8_t* pixels = out->data<uint8_t>();
  if (!ReadRows(d, row.data(), rgb.data(), pixels)) return Failed(*d, bytes);
  if (d->rows_read == h) return OkStatus();
  uint8_t* rest = pixels + d->rows_read * d->row_bytes;
  const int64_t rest_rows = h - d->rows_read;
  if (o.try_recover_truncated && d->rows_read > 0) {
    for (int64_t i = 0; i < rest_rows; ++i) {
      std::memcpy(rest + i * d->row_bytes, rest - d->row_bytes, d->row_bytes);
    }
    return OkStatus();
  }
  if (!o.try_recover_truncated &&
      static_cast<float>(d->rows_read) / static_cast<float>(h) <
          std::min(1.f, o.acceptable_fraction)) {
    return errors::InvalidArgument("Invalid JPEG data, size ", bytes.size(),
                                   ": it ends after ", d->rows_read, " of ", h,
                                   " rows");
  }
  std::memset(rest, 0, rest_rows * d->row_bytes);
  return OkStatus();
}

struct Encoder {
  jpeg_compress_struct info;
  JpegError error;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

constexpr char kXmpName[] = "http://ns.adobe.com/xap/1.0/";

// `xmp` is a whole APP1 segment, or empty.
bool WriteJpeg(const uint8_t* pixels, int64_t height, int64_t width,
               int channels, const JpegEncodeOptions& o, const std::string& xmp,
               Encoder* e) {
  jpeg_compress_struct* info = &e->info;
  info->err = InitError(&e->error);
  if (setjmp(e->error.jump)) return false;
  jpeg_create_compress(info);
  jpeg_mem_dest(info, &e->bytes, &e->size);
  info->image_height = static_cast<JDIMENSION>(height);
  info->image_width = static_cast<JDIMENSION>(width);
  info->input_components = channels;
  info->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(info);
  if (o.optimize_size) info->optimize_coding = TRUE;
  info->density_unit = static_cast<UINT8>(o.density_unit);
  info->X_density = static_cast<UINT16>(o.x_density);
  info->Y_density = static_cast<UINT16>(o.y_density);
  jpeg_set_quality(info, o.quality, TRUE);
  if (o.progressive) jpeg_simple_progression(info);
  if (!o.chroma_downsampling) {
    for (int c = 0; c < info->num_components; ++c) {
      info->comp_info[c].h_samp_factor = info->comp_info[c].v_samp_factor = 1;
    }
  }
  jpeg_start_compress(info, TRUE);
  if (!xmp.empty()) {
    jpeg_write_marker(info, JPEG_APP0 + 1,
                      reinterpret_cast<const JOCTET*>(xmp.data()),
                      static_cast<unsigned>(xmp.size()));
  }
  while (info->next_scanline < info->image_height) {
    JSAMPROW row =
        const_cast<uint8_t*>(pixels) + info->next_scanline * width * channels;
    jpeg_write_scanlines(info, &row, 1);
  }
  jpeg_finish_compress(info);
  return true;
}

}  // namespace

Status DecodeJpeg(absl::string_view bytes, const JpegDecodeOptions& options,
                  const ImageAllocator& allocate) {
  if (options.channels != 0 && options.channels != 1 && options.channels != 3) {
    return errors::InvalidArgument("a JPEG has 1 or 3 channels, wanted ",
                                   options.channels);
  }
  Decoder d;
  std::memset(&d.info, 0, sizeof(d.info));
  const Status s = DecodeWith(bytes, options, allocate, &d);
  jpeg_destroy_decompress(&d.info);
  return s;
}

Status ReadJpegShape(absl::string_view bytes, int64_t* height, int64_t* width,
                     int* channels) {
  Decoder d;
  std::memset(&d.info, 0, sizeof(d.info));
  Status s;
  if (ReadHeader(bytes, JpegDecodeOptions(), &d)) {
    *height = d.info.image_height;
    *width = d.info.image_width;
    *channels = d.info.num_components;
  } else {
    s = Failed(d, bytes);
  }
  jpeg_destroy_decompress(&d.info);
  return s;
}

Status EncodeJpeg(const uint8_t* pixels, int64_t height, int64_t width,
                  int channels, const JpegEncodeOptions& options,
                  std::string* bytes) {
  if (height <= 0 || width <= 0 || height > JPEG_MAX_DIMENSION ||
      width > JPEG_MAX_DIMENSION || (channels != 1 && channels != 3)) {
    return errors::InvalidArgument(
        "a JPEG has 1 to ", JPEG_MAX_DIMENSION,
        " rows and columns and 1 or 3 channels, got ", height, " x ", width,
        " x ", channels);
  }
  std::string xmp;
  if (!options.xmp_metadata.empty()) {
    xmp.assign(kXmpName, sizeof(kXmpName));  // with its NUL
    xmp += options.xmp_metadata;
    if (xmp.size() > 65533) {
      return errors::InvalidArgument("xmp_metadata of ",
                                     options.xmp_metadata.size(),
                                     " bytes is too large for one segment");
    }
  }
  Encoder e;
  std::memset(&e.info, 0, sizeof(e.info));
  const bool ok = WriteJpeg(pixels, height, width, channels, options, xmp, &e);
  if (ok) {
    bytes->assign(reinterpret_cast<const char*>(e.bytes), e.size);
  }
  jpeg_destroy_compress(&e.info);
  std::free(e.bytes);
  if (!ok) return errors::Internal("JPEG encoding failed: ", e.error.message);
  return OkStatus();
}

#else   // HEADRACE_HAVE_JPEG

namespace {
Status NoJpeg() {
  return errors::Unimplemented("this library was built without libjpeg");
}
}  // namespace
Status DecodeJpeg(absl::string_view, const JpegDecodeOptions&,
                  const ImageAllocator&) {
  return NoJpeg();
}
Status ReadJpegShape(absl::string_view, int64_t*, int64_t*, int*) {
  return NoJpeg();
}
Status EncodeJpeg(const uint8_t*, int64_t, int64_t, int,
                  const JpegEncodeOptions&, std::string*) {
  return NoJpeg();
}
#endif  // HEADRACE_HAVE_JPEG

}  // namespace headrace
