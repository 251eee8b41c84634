// direct: forward convolution as a sum of small matrix products straight on
// the input, without the im2col matrix. For one row of output pixels and one
// filter tap the input pixels lie `stride * channels` apart, so that they are
// the rows of a matrix already:
//
//   y[row, o] += X[row + tap, c] W[tap][c, o]        for every tap
//
// Needs the padding to be there as zeros: images that have any are first copied
// into a padded buffer, some images at a time to bound its size.
//
// Work is cut into tiles of rows and panels of output channels; a tile packs
// each block of the filter next to each other and runs all its rows over it.
#include "framework/tensor_shape.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/gemm_kernel.h"

namespace headrace::conv {
namespace {

constexpr int64_t kPaddedBytes = int64_t{16} << 20;  // wanted at a time

// The part of the padded image that the taps read.
struct Padded {
  ConvSizes::Dims size;
  bool copy = false;     // false: the input itself serves
  int64_t elements = 0;  // of one image; -1 if it overflows
  int64_t images = 0;    // copied at a time

  explicit Padded(const ConvParams& p) {
    elements = p.in_channels;
    for (int i = 0; i < 3; ++i) {
      size[i] =
          (p.out[i] - 1) * p.stride[i] + (p.filter[i] - 1) * p.dilation[i] + 1;
      if (p.pad_before[i] > 0 || size[i] - p.pad_before[i] > p.in[i]) {
        copy = true;
      }
      elements = MultiplyWithoutOverflow(elements, size[i]);
    }
    if (!copy) {
      size = p.in;
      elements = p.in_pixels() * p.in_channels;
      images = p.batch;
    } else if (elements > 0) {
      images = std::clamp<int64_t>(
          kPaddedBytes / std::max<int64_t>(1, elements * 4), 1, p.batch);
    }
  }
};

// Copies `images` images into `padded`, zeros around them.
template <typename T>
void Pad(ThreadPool* pool, const ConvParams& p, const Padded& padded,
         const T* in, int64_t images, T* out) {
  const int64_t width = padded.size[2] * p.in_channels;
  const int64_t rows = images * padded.size[0] * padded.size[1];
  const int64_t left =
      std::min(p.pad_before[2], padded.size[2]) * p.in_channels;
  const int64_t copied = std::min(p.in[2] * p.in_channels, width - left);
  pool->ParallelForCost(
      rows, 20 + 0.3 * width, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          T* to = out + row * width;
          const int64_t n = row / (padded.size[0] * padded.size[1]);
          const int64_t z =
              row / padded.size[1] % padded.size[0] - p.pad_before[0];
          const int64_t y = row % padded.size[1] - p.pad_before[1];
          if (z < 0 || z >= p.in[0] || y < 0 || y >= p.in[1]) {
            std::fill_n(to, width, T(0));
            continue;
          }
          std::fill_n(to, left, T(0));
          std::copy_n(
              in + ((n * p.in[0] + z) * p.in[1] + y) * p.in[2] * p.in_channels,
              copied, to + left);
          std::fill_n(to + left + copied, width - left - copied, T(0));
        }
      });
}

// `images` images at `in`, laid out as `size` says, to `out`.
template <typename T>
void Convolve(ThreadPool* pool, const ConvParams& p,
              const ConvSizes::Dims& size, const T* in, const T* filter,
              int64_t images, T* out) {
  constexpr int64_t kPanel = kGemmPanel<T>;
  // A unit is a segment of an output row: the row, unless it is very wide.
  const int64_t segments = CeilDiv(p.out[2], 384);
  const int64_t segment = CeilDiv(p.out[2], segments);
  const int64_t units = images * p.out[0] * p.out[1] * segments;
  const int64_t group_panels = CeilDiv(p.group_out(), kPanel);
  const Tiling tiles = Tiling::Of(units, segment, p.groups * group_panels,
                                  kPanel, p.taps() * p.group_in());
  const int64_t depth =
      CeilDiv(p.group_in(), CeilDiv(p.group_in(), kGemmDepth));
  const bool pack = tiles.rows * segment >= 48 && p.out_channels > kPanel;

  pool->ParallelFor(tiles.size(), 1, [&](int64_t tile, int64_t) {
    alignas(64) T panel[kGemmDepth * kPanel];
    const int64_t u0 = tile / tiles.panel_tiles * tiles.rows;
    const int64_t u1 = std::min(units, u0 + tiles.rows);
    const int64_t p0 = tile % tiles.panel_tiles * tiles.panels;
    const int64_t p1 = std::min(p.groups * group_panels, p0 + tiles.panels);
    for (int64_t tap = 0; tap < p.taps(); ++tap) {
      const int64_t tz = tap / (p.filter[1] * p.filter[2]);
      const int64_t ty = tap / p.filter[2] % p.filter[1];
      const int64_t tx = tap % p.filter[2];
      for (int64_t c = 0; c < p.group_in(); c += depth) {
        const int64_t k = std::min(depth, p.group_in() - c);
        for (int64_t at = p0; at < p1; ++at) {
          const int64_t group = at / group_panels;
          const int64_t j = at % group_panels * kPanel;
          const int64_t n = std::min(kPanel, p.group_out() - j);
          const int64_t o = group * p.group_out() + j;
          const T* w = filter + (tap * p.group_in() + c) * p.out_channels + o;
          if (pack) {
            PackPanel(w, p.out_channels, false, 0, 0, k, n, panel);
          }
          typename GemmKernel<T>::Shape shape = {
              .m = segment,
              .n = n,
              .k = k,
              .lda = p.stride[2] * p.in_channels,
              .ldb = pack ? n : p.out_channels,
              .ldc = p.out_channels,
              .accumulate = tap > 0 || c > 0};
          const GemmKernel<T> whole(shape);
          shape.m = p.out[2] - (segments - 1) * segment;
          const GemmKernel<T> last(shape);
          for (int64_t unit = u0; unit < u1; ++unit) {
            const int64_t row = unit / segments;
            const int64_t x = unit % segments * segment;
            const int64_t y = row % p.out[1];
            const int64_t z = row / p.out[1] % p.out[0];
            const int64_t image = row / (p.out[1] * p.out[0]);
            const int64_t from =
                ((image * size[0] + z * p.stride[0] + tz * p.dilation[0]) *
                     size[1] +
                 y * p.stride[1] + ty * p.dilation[1]) *
                    size[2] +
                x * p.stride[2] + tx * p.dilation[2];
            const GemmKernel<T>& kernel =
                unit % segments == segments - 1 ? last : whole;
            kernel(in + from * p.in_channels + group * p.group_in() + c,
                   pack ? panel : w,
                   out + (row * p.out[2] + x) * p.out_channels + o);
          }
        }
      }
    }
  });
}

class DirectConv : public ConvImplementation {
 public:
  const char* Name() const override { return "direct"; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    if (p.format != DataFormat::kNHWC ||
        (p.dtype != DT_FLOAT && p.dtype != DT_DOUBLE && p.dtype != DT_INT32)) {
      return false;
    }
    // Padding that dwarfs the image (huge dilations) is not worth storing.
    const Padded padded(p);
    return padded.elements > 0 && padded.elements < (int64_t{1} << 40) &&
           (!padded.copy ||
            padded.elements / 16 <= p.in_pixels() * p.in_channels + 4096);
  }
  double EstimateNs(const ConvParams& p, const CpuFeatures&) const override {
    const Padded padded(p);
    // Short products spend their time starting: depth, rows, columns.
    const double idle = (1 + 6.0 / p.group_in()) * (1 + 2.5 / p.out[2]) *
                        (CeilDiv(p.group_out(), 16) * 16.0 / p.group_out());
    // So do those of thin groups, one call after the other.
    const double calls =
        p.groups > 1 ? 1.0 * p.batch * p.out[0] * p.out[1] * p.taps() * p.groups
                     : 0;
    return p.flops() / 208 * idle + 60 * calls +
           (padded.copy ? 0.4 * p.batch * padded.elements : 0);
  }
  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    const Padded padded(p);
    return padded.copy ? padded.images * padded.elements * DataTypeSize(p.dtype)
                       : 0;
  }
  void Run(const ConvArgs& args) const override {
    switch (args.params->dtype) {
      case DT_FLOAT:
        return RunAs<float>(args);
      case DT_DOUBLE:
        return RunAs<double>(args);
      default:
        return RunAs<int32_t>(args);
    }
  }

 private:
  template <typename T>
  static void RunAs(const ConvArgs& args) {
    const ConvParams& p = *args.params;
    const Padded padded(p);
    const T* in = static_cast<const T*>(args.input);
    const T* filter = static_cast<const T*>(args.filter);
    T* out = static_cast<T*>(args.result);
    T* buffer = static_cast<T*>(args.workspace);
    for (int64_t n = 0; n < p.batch; n += padded.images) {
      const int64_t images = std::min(padded.images, p.batch - n);
      const T* from = in + n * p.in_pixels() * p.in_channels;
      if (padded.copy) {
        Pad(args.pool, p, padded, from, images, buffer);
        from = buffer;
      }
      Convolve(args.pool, p, padded.size, from, filter, images,
               out + n * p.out_pixels() * p.out_channels);
    }
  }
};

}  // namespace

const ConvImplementation* DirectForward() {
  static const DirectConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
