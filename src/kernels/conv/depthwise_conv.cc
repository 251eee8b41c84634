// depthwise: as many groups as input channels, so that no sum runs over
// channels and a matrix product has nothing to do. Channels lie next to each
// other in memory: each output pixel is a sum of element-wise products of
// input pixels and filter taps, vectorised along the channels.
//
//   y[pixel, c*M + m] = sum over taps of x[pixel + tap, c] w[tap, c*M + m]
//
// The gradient of the input is such a sum too (for M = 1), over the outputs
// that touch a pixel. The gradient of the filter sums over all pixels, in
// slices of rows whose sums are added in order.
#include <cstring>

#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/simd.h"

namespace headrace::conv {
namespace {

constexpr int kMostTaps = 64;  // summed in one pass over the channels

// Multiplicands of one pixel: rows of `channels` elements each.
template <typename T>
struct Taps {
  int count = 0;
  const T* x[kMostTaps];
  const T* w[kMostTaps];
};

// y[c] (+)= sum over taps of x[c] * w[c].
template <typename T>
inline void SumProducts(const Taps<T>& taps, int64_t channels, bool accumulate,
                        T* y) {
  constexpr int64_t kBlock = 128 / sizeof(T);
  int64_t c = 0;
  for (; c + kBlock <= channels; c += kBlock) {
    T sum[kBlock];
    for (int64_t j = 0; j < kBlock; ++j) sum[j] = accumulate ? y[c + j] : T(0);
    for (int t = 0; t < taps.count; ++t) {
      const T* x = taps.x[t] + c;
      const T* w = taps.w[t] + c;
      for (int64_t j = 0; j < kBlock; ++j) sum[j] += x[j] * w[j];
    }
    for (int64_t j = 0; j < kBlock; ++j) y[c + j] = sum[j];
  }
  for (; c < channels; ++c) {
    T sum = accumulate ? y[c] : T(0);
    for (int t = 0; t < taps.count; ++t) sum += taps.x[t][c] * taps.w[t][c];
    y[c] = sum;
  }
}

// y[c*M + m] (+)= sum over taps of x[c] * w[c*M + m].
template <typename T>
inline void SumProductsExpanding(const Taps<T>& taps, int64_t channels,
                                 int64_t multiplier, bool accumulate, T* y) {
  if (!accumulate) std::fill_n(y, channels * multiplier, T(0));
  for (int t = 0; t < taps.count; ++t) {
    const T* w = taps.w[t];
    T* out = y;
    for (int64_t c = 0; c < channels; ++c) {
      const T x = taps.x[t][c];
      for (int64_t m = 0; m < multiplier; ++m) out[m] += x * w[m];
      out += multiplier;
      w += multiplier;
    }
  }
}

// y[c] (+)= sum over taps and m of x[c*M + m] * w[c*M + m].
template <typename T>
inline void SumProductsFolding(const Taps<T>& taps, int64_t channels,
                               int64_t multiplier, bool accumulate, T* y) {
  if (!accumulate) std::fill_n(y, channels, T(0));
  for (int t = 0; t < taps.count; ++t) {
    const T* x = taps.x[t];
    const T* w = taps.w[t];
    for (int64_t c = 0; c < channels; ++c) {
      T sum = 0;
      for (int64_t m = 0; m < multiplier; ++m) sum += x[m] * w[m];
      y[c] += sum;
      x += multiplier;
      w += multiplier;
    }
  }
}

// Collects the taps of a pixel and sums them, in passes of kMostTaps.
template <typename T, typename Sum>
class Pixel {
 public:
  explicit Pixel(const Sum& sum) : sum_(sum) {}
  void Add(const T* x, const T* w) {
    if (taps_.count == kMostTaps) Flush();
    taps_.x[taps_.count] = x;
    taps_.w[taps_.count++] = w;
  }
  void Flush() {
    sum_(taps_, accumulate_);
    taps_.count = 0;
    accumulate_ = true;
  }

 private:
  const Sum& sum_;
  Taps<T> taps_;
  bool accumulate_ = false;
};

// Both sums run over rows of destination pixels; `forward` tells which tensor
// the destination is.
template <typename T, bool kForward>
void SumTaps(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* from =
      static_cast<const T*>(kForward ? args.input : args.out_backprop);
  const T* filter = static_cast<const T*>(args.filter);
  T* to = static_cast<T*>(args.result);
  const ConvSizes::Dims& dst = kForward ? p.out : p.in;
  const ConvSizes::Dims& src = kForward ? p.in : p.out;
  const int64_t dst_channels = kForward ? p.out_channels : p.in_channels;
  const int64_t src_channels = kForward ? p.in_channels : p.out_channels;
  const int64_t multiplier = p.group_out();
  // The source position that tap t pairs with destination i, or -1.
  const auto source = [&p](int dim, int64_t i, int64_t t) -> int64_t {
    if constexpr (kForward) {
      const int64_t at =
          i * p.stride[dim] + t * p.dilation[dim] - p.pad_before[dim];
      return at < p.in[dim] ? at : -1;
    } else {
      const int64_t at = i + p.pad_before[dim] - t * p.dilation[dim];
      if (at < 0 || at % p.stride[dim] != 0) return -1;
      return at / p.stride[dim] < p.out[dim] ? at / p.stride[dim] : -1;
    }
  };
  const int64_t rows = p.batch * dst[0] * dst[1];
  const double cost = 0.1 * dst[2] * p.taps() * p.out_channels;
  args.pool->ParallelForCost(rows, cost, [&](int64_t begin, int64_t end) {
    RunSimd([&] {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t image = row / (dst[0] * dst[1]);
        const int64_t dz = row / dst[1] % dst[0], dy = row % dst[1];
        for (int64_t dx = 0; dx < dst[2]; ++dx) {
          T* y = to + (row * dst[2] + dx) * dst_channels;
          const auto sum = [&](const Taps<T>& taps, bool accumulate) {
            if (multiplier == 1) {
              SumProducts(taps, dst_channels, accumulate, y);
            } else if (kForward) {
              SumProductsExpanding(taps, p.in_channels, multiplier, accumulate,
                                   y);
            } else {
              SumProductsFolding(taps, p.in_channels, multiplier, accumulate,
                                 y);
            }
          };
          Pixel<T, decltype(sum)> pixel(sum);
          const T* w = filter;
          for (int64_t tz = 0; tz < p.filter[0]; ++tz) {
            const int64_t z = source(0, dz, tz);
            for (int64_t ty = 0; ty < p.filter[1]; ++ty) {
              const int64_t y = source(1, dy, ty);
              for (int64_t tx = 0; tx < p.filter[2];
                   ++tx, w += p.out_channels) {
                const int64_t x = source(2, dx, tx);
                if (z < 0 || y < 0 || x < 0) continue;
                pixel.Add(
                    from + (((image * src[0] + z) * src[1] + y) * src[2] + x) *
                               src_channels,
                    w);
              }
            }
          }
          pixel.Flush();
        }
      }
    });
  });
}

// Slices of input-image rows for the filter's gradient.
int64_t Slices(const ConvParams& p) {
  const int64_t rows = p.batch * p.out[0] * p.out[1];
  return std::max<int64_t>(
      1, std::min<int64_t>({16, rows, static_cast<int64_t>(p.flops() / 1e6)}));
}

template <typename T>
void BackwardFilter(const ConvArgs& args) {
  const ConvParams& p = *args.params;
  const T* in = static_cast<const T*>(args.input);
  const T* dy = static_cast<const T*>(args.out_backprop);
  T* dw = static_cast<T*>(args.result);
  T* partial = static_cast<T*>(args.workspace);
  const int64_t elements = p.filter_elements();
  const int64_t multiplier = p.group_out();
  const int64_t rows = p.batch * p.out[0] * p.out[1];
  const int64_t slices = Slices(p);
  const int64_t slice_rows = CeilDiv(rows, slices);
  args.pool->ParallelFor(slices, 1, [&](int64_t slice, int64_t) {
    T* sums = slices == 1 ? dw : partial + slice * elements;
    std::fill_n(sums, elements, T(0));
    const int64_t end = std::min(rows, (slice + 1) * slice_rows);
    RunSimd([&] {
      for (int64_t row = slice * slice_rows; row < end; ++row) {
        const int64_t image = row / (p.out[0] * p.out[1]);
        const int64_t oz = row / p.out[1] % p.out[0], oy = row % p.out[1];
        for (int64_t tap = 0; tap < p.taps(); ++tap) {
          const int64_t tz = tap / (p.filter[1] * p.filter[2]);
          const int64_t ty = tap / p.filter[2] % p.filter[1];
          const int64_t tx = tap % p.filter[2];
          const int64_t z =
              oz * p.stride[0] + tz * p.dilation[0] - p.pad_before[0];
          const int64_t y =
              oy * p.stride[1] + ty * p.dilation[1] - p.pad_before[1];
          if (z < 0 || z >= p.in[0] || y < 0 || y >= p.in[1]) continue;
          const T* line = in + ((image * p.in[0] + z) * p.in[1] + y) * p.in[2] *
                                   p.in_channels;
          T* w = sums + tap * p.out_channels;
          for (int64_t ox = 0; ox < p.out[2]; ++ox) {
            const int64_t x =
                ox * p.stride[2] + tx * p.dilation[2] - p.pad_before[2];
            if (x < 0 || x >= p.in[2]) continue;
            const T* xs = line + x * p.in_channels;
            const T* ys = dy + (row * p.out[2] + ox) * p.out_channels;
            if (multiplier == 1) {
              for (int64_t c = 0; c < p.in_channels; ++c) w[c] += xs[c] * ys[c];
              continue;
            }
            for (int64_t c = 0; c < p.in_channels; ++c) {
              const int64_t o = c * multiplier;
              for (int64_t m = 0; m < multiplier; ++m) {
                w[o + m] += xs[c] * ys[o + m];
              }
            }
          }
        }
      }
    });
  });
  if (slices == 1) return;
  std::copy_n(partial, elements, dw);
  for (int64_t s = 1; s < slices; ++s) {
    const T* more = partial + s * elements;
    for (int64_t i = 0; i < elements; ++i) dw[i] += more[i];
  }
}

class DepthwiseConv : public ConvImplementation {
 public:
  explicit DepthwiseConv(ConvDirection d) : direction_(d) {}
  const char* Name() const override { return "depthwise"; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC && p.group_in() == 1 &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE);
  }
  double EstimateNs(const ConvParams& p, const CpuFeatures&) const override {
    // Vectors run along the channels, or for M > 1 along the multiples.
    const int64_t run = p.group_out() == 1 ? p.in_channels : p.group_out();
    const double rate = std::min(12.0, 0.5 + 0.3 * run);
    return p.flops() / rate;
  }
  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    if (direction_ != ConvDirection::kBackwardFilter || Slices(p) == 1) {
      return 0;
    }
    return MultiplyWithoutOverflow(Slices(p) * DataTypeSize(p.dtype),
                                   p.filter_elements());
  }
  void Run(const ConvArgs& args) const override {
    if (args.params->dtype == DT_FLOAT) {
      RunAs<float>(args);
    } else {
      RunAs<double>(args);
    }
  }

 private:
  template <typename T>
  void RunAs(const ConvArgs& args) const {
    switch (direction_) {
      case ConvDirection::kForward:
        return SumTaps<T, true>(args);
      case ConvDirection::kBackwardInput:
        return SumTaps<T, false>(args);
      case ConvDirection::kBackwardFilter:
        return BackwardFilter<T>(args);
    }
  }
  const ConvDirection direction_;
};

}  // namespace

const ConvImplementation* Depthwise(ConvDirection d) {
  static const DepthwiseConv all[] = {
      DepthwiseConv(ConvDirection::kForward),
      DepthwiseConv(ConvDirection::kBackwardInput),
      DepthwiseConv(ConvDirection::kBackwardFilter)};
  return &all[static_cast<int>(d)];
}

}  // namespace headrace::conv
