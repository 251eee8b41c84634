#include "kernels/conv/image_bands.h"

#include <algorithm>

#include "kernels/conv/tiles.h"

namespace headrace::conv {
namespace {

// Bytes of a band's copied rows: they stay in the second level cache.
constexpr int64_t kBandBytes = 256 << 10;
// A band takes this long at least, if the image has the rows.
constexpr double kBandNs = 20000;

}  // namespace

ImageBands::ImageBands(const ConvParams& p, const Needs& needs)
    : p_(p),
      pixel_(needs.pixel),
      row_ns_(needs.row_ns),
      zero_rows_(needs.zero_rows),
      copies_(needs.copies || needs.zero_rows || p.out[2] < needs.least_width ||
              p.pad_before[2] != 0 || p.pad_after[2] > 0) {
  const int64_t width = std::max(p.out[2], needs.least_width);
  line_pixels_ = copies_ ? (width - 1) * p.stride[2] +
                               (p.filter[2] - 1) * p.dilation[2] + 1
                         : p.in[2];
  line_ = line_pixels_ * pixel();
  const int64_t fit =
      kBandBytes / (p.filter[0] * line_ * 4) - p.filter[1] * p.dilation[1];
  const int64_t wanted = static_cast<int64_t>(kBandNs / row_ns_) + 1;
  rows_ = std::clamp<int64_t>(
      copies_ ? std::min(fit / p.stride[1], wanted) : wanted, 1, p.out[1]);
  lines_ = (rows_ - 1) * p.stride[1] + (p.filter[1] - 1) * p.dilation[1] + 1;
  bands_ = CeilDiv(p.out[1], rows_);
}

bool ImageBands::Fit(const ConvParams& p, int64_t pixel, int64_t least_width) {
  constexpr double kMostBytes = 8 << 20;
  const double pixels = 1.0 * std::max(p.out[2], least_width) * p.stride[2] +
                        1.0 * p.filter[2] * p.dilation[2];
  const double lines = 1.0 * p.filter[1] * p.dilation[1] + p.stride[1];
  const double bytes = sizeof(float) * static_cast<double>(pixel);
  return pixels * lines * p.filter[0] * bytes < kMostBytes &&
         1.0 * p.in[2] * bytes < kMostBytes;
}

double ImageBands::copied() const {
  return copies_ ? static_cast<double>(size()) * p_.filter[0] * lines_ * line_
                 : 0;
}

int64_t ImageBands::CopiedBytes() const {
  return copies_ ? p_.filter[0] * lines_ * line_ * int64_t{sizeof(float)} : 0;
}

int64_t ImageBands::SlotBytes() const {
  const int64_t rows = p_.filter[0] * p_.filter[1];
  const int64_t bytes = CopiedBytes() + 2 * rows * int64_t{8};
  return CeilDiv(bytes, 64) * 64;
}

ImageBand::ImageBand(const ImageBands& bands, const float* input, int64_t index,
                     void* scratch)
    : bands_(bands),
      depth_(index / bands.bands_),
      oz_(depth_ % bands.p_.out[0]),
      oy_(index % bands.bands_ * bands.rows_),
      rows_(std::min(bands.rows_, bands.p_.out[1] - oy_)),
      image_(input + depth_ / bands.p_.out[0] * bands.p_.in_pixels() *
                         bands.p_.in_channels),
      copies_(static_cast<float*>(scratch)) {
  // The rows come first: their pixels may be whole lines of the cache.
  char* const after = static_cast<char*>(scratch) + bands.CopiedBytes();
  const ConvParams& p = bands.p_;
  row_.at = reinterpret_cast<const float**>(after);
  row_.line = reinterpret_cast<int64_t*>(row_.at + p.filter[0] * p.filter[1]);
  if (!bands.copies_) return;
  const int64_t first_y = oy_ * p.stride[1] - p.pad_before[1];
  const int64_t last =
      (rows_ - 1) * p.stride[1] + (p.filter[1] - 1) * p.dilation[1];
  for (int64_t tz = 0; tz < p.filter[0]; ++tz) {
    const int64_t z = oz_ * p.stride[0] - p.pad_before[0] + tz * p.dilation[0];
    for (int64_t i = 0; i <= last; ++i) {
      const int64_t y = first_y + i;
      float* const to = copies_ + (tz * bands.lines_ + i) * bands.line_;
      if (z >= 0 && z < p.in[0] && y >= 0 && y < p.in[1]) {
        Copy(Line(z, y), to);
      } else if (bands.zero_rows_) {
        std::fill_n(to, bands.line_, 0.0f);
      }
    }
  }
}

const float* ImageBand::Line(int64_t z, int64_t y) const {
  const ConvParams& p = bands_.p_;
  return image_ + (z * p.in[1] + y) * p.in[2] * p.in_channels;
}

const ImageRows& ImageBand::Row(int64_t r) {
  const ConvParams& p = bands_.p_;
  const int64_t first_y = oy_ * p.stride[1] - p.pad_before[1];
  row_.count = 0;
  ForEachImageRow(p, oz_, oy_ + r, [&](int64_t line, int64_t z, int64_t y) {
    const int64_t copy = line / p.filter[1] * bands_.lines_ + (y - first_y);
    row_.at[row_.count] =
        bands_.copies_ ? copies_ + copy * bands_.line_ : Line(z, y);
    row_.line[row_.count++] = line;
  });
  return row_;
}

// Pixels that lie in the image between zeros, and zeros after its channels.
void ImageBand::Copy(const float* from, float* to) const {
  const ConvParams& p = bands_.p_;
  const int64_t pixel = bands_.pixel_, pixels = bands_.line_pixels_;
  const int64_t before = std::clamp<int64_t>(p.pad_before[2], 0, pixels);
  // A turned convolution may have negative padding.
  const int64_t skipped = std::max<int64_t>(-p.pad_before[2], 0);
  const int64_t inside =
      std::clamp<int64_t>(p.in[2] - skipped, 0, pixels - before);
  from += skipped * p.in_channels;
  std::fill_n(to, before * pixel, 0.0f);
  to += before * pixel;
  if (pixel == p.in_channels) {
    std::copy_n(from, inside * pixel, to);
  } else {
    for (int64_t x = 0; x < inside; ++x) {
      std::copy_n(from + x * p.in_channels, p.in_channels, to + x * pixel);
      std::fill_n(to + x * pixel + p.in_channels, pixel - p.in_channels, 0.0f);
    }
  }
  std::fill_n(to + inside * pixel, (pixels - before - inside) * pixel, 0.0f);
}

}  // namespace headrace::conv
