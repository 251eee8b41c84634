// GIF by giflib. A frame may cover a part of the canvas and leave pixels of it
// transparent; there the frame before shows through, black before the first.
// As in TensorFlow, the canvas is as large as the largest frame, whatever the
// file says of the screen, and how a frame is to be disposed of is not heeded.
//
// The file is read twice, a row at a time: once to count the frames that are
// whole, once for the pixels. So nothing is allocated that the file can ask for
// without having it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "io/image.h"

#if HEADRACE_HAVE_GIF
#include <gif_lib.h>
#endif

namespace headrace {

#if HEADRACE_HAVE_GIF
namespace {

class GifReader {
 public:
  ~GifReader() {
    if (gif_ != nullptr) DGifCloseFile(gif_, nullptr);
  }
  Status Open(absl::string_view bytes) {
    rest_ = bytes;
    int error = 0;
    gif_ = DGifOpen(this, &GifReader::Read, &error);
    if (gif_ == nullptr) {
      const char* why = GifErrorString(error);
      return errors::InvalidArgument("Invalid GIF data, size ", bytes.size(),
                                     ": ", why == nullptr ? "unknown" : why);
    }
    return OkStatus();
  }
  const GifImageDesc& frame() const { return gif_->Image; }
  int transparent() const { return transparent_; }
  const ColorMapObject* colors() const {
    return gif_->Image.ColorMap != nullptr ? gif_->Image.ColorMap
                                           : gif_->SColorMap;
  }

  // Moves to the next frame. False at the end of the file or of its readable
  // part.
  bool NextFrame() {
    transparent_ = NO_TRANSPARENT_COLOR;
    while (true) {
      GifRecordType type;
      if (DGifGetRecordType(gif_, &type) != GIF_OK) return false;
      if (type == IMAGE_DESC_RECORD_TYPE) {
        return DGifGetImageDesc(gif_) == GIF_OK && gif_->Image.Width > 0 &&
               gif_->Image.Height > 0;
      }
      if (type != EXTENSION_RECORD_TYPE || !ReadExtension()) return false;
    }
  }

  // Calls fn(y, indices) for each row of the frame, y counted in it; false if
  // the frame is not whole.
  template <typename F>
  bool ReadFrame(const F& fn) {
    line_.resize(gif_->Image.Width);
    const int height = gif_->Image.Height;
    const auto rows = [&](int from, int step) {
      for (int y = from; y < height; y += step) {
        if (DGifGetLine(gif_, line_.data(), gif_->Image.Width) != GIF_OK) {
          return false;
        }
        fn(y, line_.data());
      }
      return true;
    };
    if (!gif_->Image.Interlace) return rows(0, 1);
    return rows(0, 8) && rows(4, 8) && rows(2, 4) && rows(1, 2);
  }

 private:
  static int Read(GifFileType* gif, GifByteType* to, int n) {
    auto* r = static_cast<GifReader*>(gif->UserData);
    const size_t count = std::min<size_t>(n, r->rest_.size());
    std::memcpy(to, r->rest_.data(), count);
    r->rest_.remove_prefix(count);
    return static_cast<int>(count);
  }

  bool ReadExtension() {
    int code;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif_, &code, &block) != GIF_OK) return false;
    while (block != nullptr) {
      GraphicsControlBlock control;
      if (code == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK) {
        transparent_ = control.TransparentColor;
      }
      if (DGifGetExtensionNext(gif_, &block) != GIF_OK) return false;
    }
    return true;
  }

  absl::string_view rest_;
  GifFileType* gif_ = nullptr;
  int transparent_ = NO_TRANSPARENT_COLOR;
  std::vector<GifByteType> line_;
};

// The limit of decoded pixels, so that a small file cannot occupy a core for
// long.
constexpr int64_t kMaxGifPixels = kMaxImageBytes;

struct Canvas {
  int64_t frames = 0, height = 0, width = 0;
};

// The frames that are whole, at most `limit`.
Status MeasureFrames(absl::string_view bytes, int64_t limit, Canvas* canvas) {
  GifReader reader;
  HR_RETURN_IF_ERROR(reader.Open(bytes));
  int64_t pixels = 0;
  while (canvas->frames < limit && reader.NextFrame()) {
    pixels += int64_t{reader.frame().Width} * reader.frame().Height;
    if (pixels > kMaxGifPixels) {
      return errors::InvalidArgument("GIF frames have more than ",
                                     kMaxGifPixels, " pixels in all");
    }
    if (!reader.ReadFrame([](int, const GifByteType*) {})) break;
    ++canvas->frames;
    canvas->height = std::max<int64_t>(canvas->height, reader.frame().Height);
    canvas->width = std::max<int64_t>(canvas->width, reader.frame().Width);
  }
  if (canvas->frames == 0) {
    return errors::InvalidArgument("Invalid GIF data, size ", bytes.size(),
                                   ": it has no whole frame");
  }
  return OkStatus();
}

// Paints the frame that `reader` stands at over `pixels`.
Status PaintFrame(GifReader* reader, int64_t number, const Canvas& canvas,
                  uint8_t* pixels) {
  const ColorMapObject* colors = reader->colors();
  if (colors == nullptr) {
    return errors::InvalidArgument("missing color map for GIF frame ", number);
  }
  const GifImageDesc& f = reader->frame();
  const int64_t left = std::max(f.Left, 0), top = std::max(f.Top, 0);
  const int64_t right = std::min(int64_t{f.Left} + f.Width, canvas.width);
  int bad = -1;
  const bool whole =
      reader->ReadFrame([&](int row, const GifByteType* indices) {
        const int64_t y = int64_t{f.Top} + row;
        if (y < top || y >= canvas.height) return;
        for (int64_t x = left; x < right; ++x) {
          const int index = indices[x - f.Left];
          if (index == reader->transparent()) continue;
          if (index >= colors->ColorCount) {
            bad = index;
            return;
          }
          const GifColorType& c = colors->Colors[index];
          uint8_t* to = pixels + (y * canvas.width + x) * 3;
          to[0] = c.Red, to[1] = c.Green, to[2] = c.Blue;
        }
      });
  if (bad >= 0) {
    return errors::InvalidArgument(
        "found color index ", bad, " outside of color map range ",
        colors->ColorCount, " in GIF frame ", number);
  }
  if (!whole)
    return errors::Internal("GIF frame ", number, " was whole before");
  return OkStatus();
}

}  // namespace

Status DecodeGif(absl::string_view bytes, bool first_frame_only,
                 const ImageAllocator& allocate) {
  Canvas canvas;
  HR_RETURN_IF_ERROR(
      MeasureFrames(bytes, first_frame_only ? 1 : kMaxImageBytes, &canvas));
  const int64_t size = canvas.height * canvas.width * 3;
  if (canvas.frames > kMaxImageBytes / size) {
    return errors::InvalidArgument("GIF of ", canvas.frames, " frames of ",
                                   canvas.height, " x ", canvas.width,
                                   " pixels is too large");
  }
  Tensor* out = nullptr;
  HR_RETURN_IF_ERROR(allocate(
      TensorShape({canvas.frames, canvas.height, canvas.width, 3}), &out));
  GifReader reader;
  HR_RETURN_IF_ERROR(reader.Open(bytes));
  uint8_t* pixels = out->data<uint8_t>();
  for (int64_t k = 0; k < canvas.frames; ++k, pixels += size) {
    if (k == 0) {
      std::memset(pixels, 0, size);
    } else {
      std::memcpy(pixels, pixels - size, size);
    }
    if (!reader.NextFrame()) {
      return errors::Internal("GIF frame ", k, " was there before");
    }
    HR_RETURN_IF_ERROR(PaintFrame(&reader, k, canvas, pixels));
  }
  return OkStatus();
}

#else   // HEADRACE_HAVE_GIF

Status DecodeGif(absl::string_view, bool, const ImageAllocator&) {
  return errors::Unimplemented("this library was built without giflib");
}
#endif  // HEADRACE_HAVE_GIF

}  // namespace headrace
