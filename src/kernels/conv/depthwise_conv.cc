// depthwise: as many groups as input channels, so that no sum runs over
// channels and a matrix product has nothing to do. Channels lie next to each
// other in memory: each output pixel is a sum of element-wise products of
// input pixels and filter taps, vectorised along the channels.
//
//   y[pixel, c*M + m] = sum over taps of x[pixel + tap, c] w[tap, c*M + m]
//
// The gradient of the input is such a sum too (for M = 1), over the outputs
// that touch a pixel. The gradient of the filter sums over all pixels, in
// slices of rows whose sums are added in order. The usual filters have a kernel
// of their own: depthwise_tiles.cc.

// Before all includes, so that what they define inline can be inlined.
#pragma GCC optimize("fp-contract=fast")

#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tiles.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/visit_type.h"

namespace headrace::conv {
namespace {

constexpr int kMostTaps = 9;  // summed in one pass over the channels
constexpr int kPixels = 4;    // summed at once, so that they share the taps

// Multiplicands of some pixels that have the same taps: rows of channels. From
// one pixel to the next x moves by x_step and y by y_step elements.
template <typename T>
struct Span {
  int64_t pixels = 0;
  int taps = 0;
  const T* x[kMostTaps];
  const T* w[kMostTaps];
  int64_t x_step = 0;
  T* y = nullptr;
  int64_t y_step = 0;
  bool accumulate = false;  // y += instead of y =
};

// y[pixel][c] (+)= sum over taps of x[pixel][c] * w[c], for kCount pixels from
// `pixel` on and the channels that a vector holds from c on.
template <typename Vector, int kCount, typename T>
inline void SumVectors(const Span<T>& s, int64_t pixel, int64_t c) {
  using V = typename Vector::Type;
  V sum[kCount] = {};
  const int64_t from = pixel * s.x_step + c;
  for (int t = 0; t < s.taps; ++t) {
    const V w = Vector::At(s.w[t] + c);
    const T* x = s.x[t] + from;
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      sum[i] += Vector::At(x + i * s.x_step) * w;
    }
  }
  T* y = s.y + pixel * s.y_step + c;
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    T* const to = y + i * s.y_step;
    if (s.accumulate) sum[i] += Vector::At(to);
    Vector::At(to) = sum[i];
  }
}

template <int kBytes, int kCount, typename T>
inline void SumChannels(const Span<T>& s, int64_t pixel, int64_t channels) {
  using Vector = VectorOf<kBytes, T>;
  int64_t c = 0;
  for (; c + Vector::kLanes <= channels; c += Vector::kLanes) {
    SumVectors<Vector, kCount>(s, pixel, c);
  }
  for (; c < channels; ++c) SumVectors<ScalarOf<T>, kCount>(s, pixel, c);
}

template <typename T>
void SumProducts(const Span<T>& s, int64_t channels) {
  RunSimdWide([&](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    int64_t i = 0;
    for (; i + kPixels <= s.pixels; i += kPixels) {
      SumChannels<kBytes, kPixels>(s, i, channels);
    }
    for (; i < s.pixels; ++i) SumChannels<kBytes, 1>(s, i, channels);
  });
}

// y[pixel][c*M + m] (+)= sum over taps of x[pixel][c] * w[c*M + m].
template <typename T>
void SumProductsExpanding(const Span<T>& s, int64_t channels,
                          int64_t multiplier) {
  RunSimd([&] {
    for (int64_t i = 0; i < s.pixels; ++i) {
      T* const y = s.y + i * s.y_step;
      if (!s.accumulate) std::fill_n(y, channels * multiplier, T(0));
      for (int t = 0; t < s.taps; ++t) {
        const T* w = s.w[t];
        T* out = y;
        for (int64_t c = 0; c < channels; ++c) {
          const T x = s.x[t][i * s.x_step + c];
          for (int64_t m = 0; m < multiplier; ++m) out[m] += x * w[m];
          out += multiplier;
          w += multiplier;
        }
      }
    }
  });
}

// y[pixel][c] (+)= sum over taps and m of x[pixel][c*M + m] * w[c*M + m].
template <typename T>
void SumProductsFolding(const Span<T>& s, int64_t channels,
                        int64_t multiplier) {
  RunSimd([&] {
    for (int64_t i = 0; i < s.pixels; ++i) {
      T* const y = s.y + i * s.y_step;
      if (!s.accumulate) std::fill_n(y, channels, T(0));
      for (int t = 0; t < s.taps; ++t) {
        const T* x = s.x[t] + i * s.x_step;
        const T* w = s.w[t];
        for (int64_t c = 0; c < channels; ++c) {
          T sum = 0;
          for (int64_t m = 0; m < multiplier; ++m) sum += x[m] * w[m];
          y[c] += sum;
          x += multiplier;
          w += multiplier;
        }
      }
    }
  });
}

// Along one dimension, destination i pairs with source (i + shift) / divide *
// multiply for tap t, where shift = offset - sign * t * dilation: the forward
// sum multiplies by the stride, the backward one divides by it.
struct Line {
  int64_t source_size, multiply, divide, offset, tap_step;
  static Line Of(const ConvParams& p, int dim, bool forward) {
    if (forward) {
      return {p.in[dim], p.stride[dim], 1, -p.pad_before[dim], p.dilation[dim]};
    }
    return {p.out[dim], 1, p.stride[dim], p.pad_before[dim], -p.dilation[dim]};
  }
  // The source of destination i under tap t, or -1.
  int64_t Source(int64_t i, int64_t t) const {
    const int64_t at = i * multiply + offset + t * tap_step;
    if (at < 0 || at % divide != 0) return -1;
    return at / divide < source_size ? at / divide : -1;
  }
};

// One row of destination pixels. `rows` are the source rows and the filter rows
// that belong to it.
template <typename T>
struct RowTaps {
  std::vector<const T*> x, w;
};

template <typename T, bool kForward>
class RowSum {
 public:
  explicit RowSum(const ConvParams& p)
      : p_(p),
        line_(Line::Of(p, 2, kForward)),
        width_(kForward ? p.out[2] : p.in[2]),
        x_channels_(kForward ? p.in_channels : p.out_channels),
        y_channels_(kForward ? p.out_channels : p.in_channels) {}

  void Run(const RowTaps<T>& rows, T* y) const {
    // Destinations that are `divide` apart have the same taps, except those
    // that fall outside at either end.
    for (int64_t first = 0; first < std::min(line_.divide, width_); ++first) {
      const int64_t count = CeilDiv(width_ - first, line_.divide);
      int64_t begin = 0, end = count;  // where all the taps fall inside
      for (int64_t t = 0; t < p_.filter[2]; ++t) {
        const int64_t at =
            first * line_.multiply + line_.offset + t * line_.tap_step;
        if (FloorMod(at, line_.divide) != 0) continue;
        // Source at0 + k * multiply for the k-th destination.
        const int64_t at0 = (at - FloorMod(at, line_.divide)) / line_.divide;
        begin = std::max(begin,
                         CeilDiv(std::max<int64_t>(-at0, 0), line_.multiply));
        end = std::min(end,
                       at0 >= line_.source_size
                           ? 0
                           : CeilDiv(line_.source_size - at0, line_.multiply));
      }
      begin = std::min(begin, count);
      end = std::max(end, begin);
      for (int64_t k = 0; k < begin; ++k) Pixels(rows, first, k, 1, y);
      if (end > begin) Pixels(rows, first, begin, end - begin, y);
      for (int64_t k = end; k < count; ++k) Pixels(rows, first, k, 1, y);
    }
  }

 private:
  static int64_t FloorMod(int64_t a, int64_t b) { return (a % b + b) % b; }

  // `count` destinations from the k-th of this class on, all with the taps of
  // the first one; in passes of kMostTaps.
  void Pixels(const RowTaps<T>& rows, int64_t first, int64_t k, int64_t count,
              T* y) const {
    const int64_t i = first + k * line_.divide;
    Span<T> span;
    span.pixels = count;
    span.x_step = line_.multiply * x_channels_;
    span.y_step = line_.divide * y_channels_;
    span.y = y + i * y_channels_;
    for (size_t r = 0; r < rows.x.size(); ++r) {
      for (int64_t t = 0; t < p_.filter[2]; ++t) {
        const int64_t source = line_.Source(i, t);
        if (source < 0) continue;
        if (span.taps == kMostTaps) Flush(&span);
        span.x[span.taps] = rows.x[r] + source * x_channels_;
        span.w[span.taps++] = rows.w[r] + t * p_.out_channels;
      }
    }
    if (span.taps > 0 || !span.accumulate) Flush(&span);
  }

  void Flush(Span<T>* span) const {
    const int64_t multiplier = p_.group_out();
    if (multiplier == 1) {
      SumProducts(*span, y_channels_);
    } else if (kForward) {
      SumProductsExpanding(*span, p_.in_channels, multiplier);
    } else {
      SumProductsFolding(*span, p_.in_channels, multiplier);
    }
    span->taps = 0;
    span->accumulate = true;
  }

  const ConvParams& p_;
  const Line line_;
  const int64_t width_, x_channels_, y_channels_;
};

// Both sums run over rows of destination pixels; kForward tells which tensor
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
  const int64_t dst_row = dst[2] * (kForward ? p.out_channels : p.in_channels);
  const int64_t src_row = src[2] * (kForward ? p.in_channels : p.out_channels);
  const Line depth = Line::Of(p, 0, kForward),
             height = Line::Of(p, 1, kForward);
  const RowSum<T, kForward> sum(p);
  const int64_t rows = p.batch * dst[0] * dst[1];
  const double cost = 0.05 * dst[2] * p.taps() * p.out_channels;
  args.pool->ParallelForCost(rows, cost, [&](int64_t begin, int64_t end) {
    RowTaps<T> taps;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t image = row / (dst[0] * dst[1]);
      taps.x.clear();
      taps.w.clear();
      for (int64_t tz = 0; tz < p.filter[0]; ++tz) {
        const int64_t z = depth.Source(row / dst[1] % dst[0], tz);
        for (int64_t ty = 0; ty < p.filter[1]; ++ty) {
          const int64_t y = height.Source(row % dst[1], ty);
          if (z < 0 || y < 0) continue;
          taps.x.push_back(from +
                           ((image * src[0] + z) * src[1] + y) * src_row);
          taps.w.push_back(filter + (tz * p.filter[1] + ty) * p.filter[2] *
                                        p.out_channels);
        }
      }
      sum.Run(taps, to + row * dst_row);
      if (!args.epilogue.empty()) {
        ApplyEpilogue(args.epilogue, OutputRows(p, row), to);
      }
    }
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
  bool AppliesEpilogue() const override { return true; }
  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.format == DataFormat::kNHWC && p.group_in() == 1 &&
           (p.dtype == DT_FLOAT || p.dtype == DT_DOUBLE);
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    // Vectors run along the channels, or for M > 1 along the multiples.
    const int64_t run = p.group_out() == 1 ? p.in_channels : p.group_out();
    const double most = p.group_out() == 1 ? cost::kDepthwiseFlopsPerNs
                        : direction_ != ConvDirection::kBackwardInput
                            ? cost::kDepthwiseMultiplierFlopsPerNs
                            : cost::kDepthwiseBackwardInputFlopsPerNs;
    const double rate =
        std::min({most, cost::kDepthwiseRate * PeakFlopsPerNs(cpu),
                  cost::kDepthwiseRunStart +
                      cost::kDepthwiseRun * static_cast<double>(run)});
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
    VisitType<float, double>(args.params->dtype,
                             [&]<typename T>(T) { RunAs<T>(args); });
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
