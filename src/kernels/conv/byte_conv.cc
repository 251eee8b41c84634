// bytes: forward convolution whose image and filter are fake-quantised: each
// number is a step (byte_levels.h), so that
//
//   sum of x w = sx sw (sum of a b - zw sum of a - zx sum of b + n zx zw)
//
// where x = sx (a - zx) and w = sw (b - zw), and a and b are bytes. The sums of
// bytes are exact (lib/byte_product.h), so results are the same on every
// processor; they differ from those of other algorithms by the rounding of
// these.
//
// The codes of the image are computed once (for 1x1 filters by the tiles that
// read them), in rows of quads of channels
// (tap_rows.h). A tile is twelve output pixels by 32 output channels. A pixel
// with a NaN makes NaNs of all results that read it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/thread_pool.h"
#include "headrace/simd.h"
#include "kernels/conv/byte_levels.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tap_rows.h"
#include "kernels/lib/byte_product.h"
#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_tail.h"

namespace headrace::conv {
namespace {

constexpr int64_t kRows = kByteTileRows;
constexpr int64_t kColumns = kBytePanelColumns;
constexpr int64_t kMostTaps = 256;
constexpr int64_t kMostEncoded = 2048;
// So many products of two bytes fit 32 bits.
constexpr int64_t kMostProducts =
    std::numeric_limits<int32_t>::max() / (255 * 255);

// What is packed of a channel's codes is less by this, so that it fits a signed
// byte: their zero if it can be.
int32_t PackedLess(const ByteLevels::Steps& filter) {
  return std::clamp(filter.zero, filter.last - 127, 128);
}

constexpr int64_t Aligned(int64_t bytes) { return CeilDiv(bytes, 64) * 64; }

// The prepared filter: panels, then the sum of each column.
struct Form {
  explicit Form(const ConvParams& p)
      : quads(NumQuads(p.in_channels)),
        all_quads(quads * p.taps()),
        panels(NumBytePanels(p.out_channels)),
        sums_at(BytePanelsBytes(p.out_channels, all_quads)),
        bytes(sums_at + panels * kColumns * int64_t{sizeof(uint32_t)}) {}

  const int64_t quads, all_quads, panels, sums_at, bytes;
};

// The codes of images of which each pixel is read by few tiles are computed by
// these: what another thread has computed is slower to read.
bool TilesEncode(const ConvParams& p) {
  return p.IsPointwise() && p.in_channels <= kMostEncoded;
}

// The workspace: for each pixel, and for the padding, its codes, their sum, and
// 0 or NaN, unless tiles encode; for each output channel what its sums are
// multiplied by and less. The sums are there if the results depend on them,
// zeros and NaNs if there is a NaN.
class Workspace {
 public:
  Workspace(const ConvParams& p, void* base)
      : step(4 * NumQuads(p.in_channels)) {
    const int64_t pixels = TilesEncode(p) ? 0 : p.batch * p.in_pixels() + 1;
    const int64_t channels = CeilDiv(p.out_channels, kColumns) * kColumns;
    codes = Take<uint8_t>(base, pixels * step);
    code_sums = Take<uint32_t>(base, pixels);
    nans = Take<float>(base, pixels);
    factors = Take<float>(base, channels);
    less = Take<uint32_t>(base, channels);
    zeros = Take<uint32_t>(base, channels);
  }

  int64_t bytes() const { return bytes_; }

  const int64_t step;  // of codes, from one pixel to the next
  uint8_t* codes;
  uint32_t* code_sums;
  float* nans;
  float* factors;
  uint32_t* less;
  uint32_t* zeros;

 private:
  template <typename T>
  T* Take(void* base, int64_t count) {
    T* const at = base == nullptr
                      ? nullptr
                      : reinterpret_cast<T*>(static_cast<char*>(base) + bytes_);
    bytes_ += Aligned(count * int64_t{sizeof(T)});
    return at;
  }

  int64_t bytes_ = 0;
};

// The codes of `rows` rows of `n` numbers, `step` bytes apart, and zeros
// between them. Returns whether there is a NaN, whose code is any.
bool Encode(const FakeQuantRange& range, const float* from, int64_t rows,
            int64_t n, int64_t step, uint8_t* codes) {
  int32_t nan = 0;
  RunSimd([&nan, range, from, rows, n, step, codes] {
    // Copies: a byte that is written might be a part of what is captured.
    const float min = range.min, max = range.max, inverse = range.inverse;
    const int64_t all = rows, count = n, gap = step - n;
    const float* __restrict x = from;
    uint8_t* __restrict to = codes;
    int32_t any = 0;
    for (int64_t r = 0; r < all; ++r, x += count, to += count + gap) {
      for (int64_t c = 0; c < count; ++c) {
        // In this order a NaN becomes a number, and nothing is below 0.
        const float clamped = std::max(min, std::min(max, x[c]));
        to[c] = static_cast<uint8_t>(
            static_cast<int32_t>((clamped - min) * inverse + 0.5f));
        any |= x[c] != x[c] ? 1 : 0;
      }
      for (int64_t c = 0; c < gap; ++c) to[count + c] = 0;
    }
    nan = any;
  });
  return nan != 0;
}
float NanOr0(const float* from, int64_t n) {
  const bool has =
      std::any_of(from, from + n, [](float x) { return std::isnan(x); });
  return has ? std::numeric_limits<float>::quiet_NaN() : 0;
}

class Tile {
 public:
  // `is_skewed`: sums depend on those of the image's codes.
  Tile(const ConvArgs& args, const VectorTail& tail, const Form& form,
       const Workspace& w, bool has_nan, bool is_skewed)
      : args_(args),
        tail_(tail),
        form_(form),
        w_(w),
        pixels_(*args.params),
        encodes_(TilesEncode(*args.params)),
        is_skewed_(is_skewed),
        has_nan_(has_nan) {}

  void Find(int64_t pixel, int64_t count) {
    first_ = pixel;
    count_ = count;
    if (encodes_) return EncodePixels();
    for (int64_t r = 0; r < count; ++r) {
      pixels_.ForEach(pixel + r, [&](int64_t tap, int64_t from) {
        rows_[tap * kRows + r] = w_.codes + from * w_.step;
      });
    }
    if (!is_skewed_ && !has_nan_) return;
    for (int64_t r = 0; r < count; ++r) {
      code_sums_[r] = 0;
      nans_[r] = 0;
      pixels_.ForEach(pixel + r, [&](int64_t, int64_t from) {
        if (is_skewed_) code_sums_[r] += w_.code_sums[from];
        if (has_nan_) nans_[r] += w_.nans[from];
      });
    }
  }

  void Multiply(int64_t panel, int64_t channel, int64_t columns) {
    const ConvParams& p = *args_.params;
    MultiplyBytes(
        {.rows = rows_,
         .num_rows = count_,
         .segments = p.taps(),
         .quads = form_.quads,
         .panel = static_cast<const ByteQuad*>(args_.prepared_filter) +
                  panel * form_.all_quads * kColumns,
         .sums = reinterpret_cast<int32_t*>(sums_),
         .sums_step = kColumns,
         .columns = kColumns});
    RunSimdWide([&](auto bytes) {
      constexpr int kBytes = decltype(bytes)::value;
      using Vector = VectorOf<kBytes>;
      for (int64_t j = 0; j < columns; j += Vector::kLanes) {
        Finish<kBytes>(channel, j, std::min(columns - j, Vector::kLanes));
      }
    });
  }

 private:
  void EncodePixels() {
    const ConvParams& p = *args_.params;
    const int64_t depth = p.in_channels;
    const float* const from =
        static_cast<const float*>(args_.input) + first_ * depth;
    has_nan_ = Encode(p.byte_levels->image().range, from, count_, depth,
                      w_.step, codes_);
    for (int64_t r = 0; r < count_; ++r) {
      const uint8_t* const row = rows_[r] = codes_ + r * w_.step;
      if (has_nan_) nans_[r] = NanOr0(from + r * depth, depth);
      if (is_skewed_) code_sums_[r] = std::accumulate(row, row + depth, 0u);
    }
  }

  // Scales and stores `count` columns of the sums from column j on, those of
  // `channel` + j.
  template <int kBytes>
  __attribute__((always_inline)) void Finish(int64_t channel, int64_t j,
                                             int64_t count) {
    using Vector = VectorOf<kBytes>;
    using Ints = VectorOf<kBytes, int32_t>;
    using Words = VectorOf<kBytes, uint32_t>;
    const int64_t depth = args_.params->out_channels, c = channel + j;
    auto* const out = static_cast<float*>(args_.result);
    const auto factor = Vector::At(w_.factors + c);
    const auto less = Words::At(w_.less + c), zero = Words::At(w_.zeros + c);
    const VectorTail::Channels<Vector> channels(tail_, c, count);
    for (int64_t r = 0; r < count_; ++r) {
      // Wraps around on the way; in the end it fits 32 bits.
      typename Words::Type sum = Words::At(sums_ + r * kColumns + j) - less;
      if (is_skewed_) sum -= code_sums_[r] * zero;
      typename Vector::Type y =
          __builtin_convertvector(reinterpret_cast<typename Ints::Type&>(sum),
                                  typename Vector::Type) *
          factor;
      if (has_nan_) y += nans_[r];
      const int64_t at = (first_ + r) * depth + c;
      if (count == Vector::kLanes) {
        tail_.Store<Vector>(y, channels, at, out);
      } else {
        tail_.StoreLanes<Vector>(y, channels, count, at, out);
      }
    }
  }

  const ConvArgs& args_;
  const VectorTail& tail_;
  const Form& form_;
  const Workspace& w_;
  const TapPixels pixels_;
  const bool encodes_, is_skewed_;
  bool has_nan_;
  int64_t first_ = 0, count_ = 0;
  const uint8_t* rows_[kMostTaps * kRows];
  uint32_t sums_[kRows * kColumns], code_sums_[kRows];
  float nans_[kRows];
  uint8_t codes_[kRows * kMostEncoded];
};

class ByteConv : public ConvImplementation {
 public:
  const char* Name() const override { return "bytes"; }
  bool AppliesEpilogue() const override { return true; }

  bool Accepts(const ConvParams& p, const CpuFeatures&) const override {
    return p.byte_levels != nullptr && p.byte_levels->Fits(p.out_channels) &&
           p.format == DataFormat::kNHWC && p.dtype == DT_FLOAT &&
           p.groups == 1 && p.taps() <= kMostTaps &&
           p.taps() * p.in_channels <= kMostProducts;
  }
  double EstimateNs(const ConvParams& p,
                    const CpuFeatures& cpu) const override {
    const double pixels =
        1.0 * CeilDiv(p.batch * p.out_pixels(), kRows) * kRows;
    const double columns = 1.0 * NumBytePanels(p.out_channels) * kColumns;
    const double products =
        4.0 * pixels * columns * p.taps() * NumQuads(p.in_channels);
    const double of_peak =
        cpu.avx512_vnni ? cost::kBytesOfPeak : cost::kBytePairsOfPeak;
    return cost::kStart + of_peak * products / PeakFlopsPerNs(cpu) +
           cost::kCode * p.in_elements() + cost::kByteTap * p.taps() * pixels +
           cost::kStoreBytes * p.out_elements();
  }
  int64_t PreparedFilterBytes(const ConvParams& p) const override {
    return Form(p).bytes;
  }
  bool TakesUnalignedFilter(const ConvParams&) const override { return true; }
  int64_t WorkspaceBytes(const ConvParams& p, int) const override {
    return Workspace(p, nullptr).bytes();
  }

  void PrepareFilter(ThreadPool* pool, const ConvParams& p, const void* filter,
                     void* prepared) const override {
    const Form form(p);
    auto* const sums = reinterpret_cast<uint32_t*>(
        static_cast<char*>(prepared) + form.sums_at);
    const auto* const from = static_cast<const char*>(filter);
    const int64_t depth = p.in_channels;
    pool->ParallelForCost(
        form.panels, 1.0 * kColumns * static_cast<double>(p.taps() * depth),
        [&](int64_t begin, int64_t end) {
          for (int64_t panel = begin; panel < end; ++panel) {
            const int64_t c0 = panel * kColumns;
            const int64_t columns = std::min(kColumns, p.out_channels - c0);
            auto* const to = static_cast<ByteQuad*>(prepared) +
                             panel * form.all_quads * kColumns;
            std::fill_n(sums + c0, kColumns, 0u);
            for (int64_t tap = 0; tap < p.taps(); ++tap) {
              for (int64_t i = 0; i < depth; i += 4) {
                const int64_t count = std::min<int64_t>(4, depth - i);
                int8_t bytes[4 * kColumns];
                for (int64_t k = 0; k < count; ++k) {
                  const int64_t at =
                      ((tap * depth + i + k) * p.out_channels + c0) *
                      int64_t{sizeof(float)};
                  Pack(p, from + at, c0, columns, bytes + k * columns);
                }
                PackBytePanels({.data = bytes, .k = count, .n = columns}, 0,
                               count, tap * form.quads + i / 4, form.all_quads,
                               to, sums + c0);
              }
            }
          }
        });
  }

  void Run(const ConvArgs& args) const override {
    const ConvParams& p = *args.params;
    const Form form(p);
    const Workspace w(p, args.workspace);
    const bool is_skewed = PrepareChannels(args, form, w);
    const bool has_nan = !TilesEncode(p) && Quantize(args, is_skewed, w);
    const VectorTail tail(args.epilogue);
    // Of a processor that multiplies bytes.
    constexpr double kQuadsPerNs = 125, kFinishNs = 50;
    const double tile_quads =
        1.0 * kRows * kColumns * static_cast<double>(form.all_quads);
    ComputeTiles(
        args, tail.rest,
        {.rows = kRows,
         .columns = kColumns,
         .panel_bytes = form.all_quads * kColumns * int64_t{sizeof(ByteQuad)},
         .tile_ns = tile_quads / kQuadsPerNs + kFinishNs},
        [&] { return Tile(args, tail, form, w, has_nan, is_skewed); });
  }

 private:
  // What is packed of `columns` numbers of the filter, which may be unaligned.
  static void Pack(const ConvParams& p, const char* from, int64_t c0,
                   int64_t columns, int8_t* to) {
    for (int64_t j = 0; j < columns; ++j) {
      const ByteLevels::Steps& steps = p.byte_levels->filter(c0 + j);
      float x;
      std::memcpy(&x, from + j * int64_t{sizeof x}, sizeof x);
      const float code =
          std::round((x - steps.range.min) * steps.range.inverse);
      // A NaN, which the pass has looked for, would be the lowest one.
      to[j] = static_cast<int8_t>(
          static_cast<int32_t>(
              std::max(0.0f, std::min(code, static_cast<float>(steps.last)))) -
          PackedLess(steps));
    }
  }

  // Writes the codes of the image and of the padding, and their sums if these
  // count. Returns whether there is a NaN.
  static bool Quantize(const ConvArgs& args, bool needs_sums,
                       const Workspace& w) {
    const ConvParams& p = *args.params;
    const ByteLevels::Steps& steps = p.byte_levels->image();
    const auto* const in = static_cast<const float*>(args.input);
    const int64_t depth = p.in_channels, all = p.batch * p.in_pixels();
    std::fill_n(w.codes + all * w.step, depth,
                static_cast<uint8_t>(steps.zero));
    std::fill_n(w.codes + all * w.step + depth, w.step - depth, uint8_t{0});
    w.code_sums[all] = static_cast<uint32_t>(depth * steps.zero);
    w.nans[all] = 0;
    std::atomic<bool> has_nan{false};
    args.pool->ParallelForCost(
        all, cost::kCode * static_cast<double>(depth),
        [&](int64_t begin, int64_t end) {
          // Without gaps they are one row.
          const bool is_dense = w.step == depth;
          const int64_t rows = is_dense ? 1 : end - begin;
          const int64_t n = is_dense ? (end - begin) * depth : depth;
          const bool any =
              Encode(steps.range, in + begin * depth, rows, n,
                     is_dense ? n : w.step, w.codes + begin * w.step);
          for (int64_t i = begin; i < end; ++i) {
            w.nans[i] = any ? NanOr0(in + i * depth, depth) : 0;
          }
          for (int64_t i = begin; needs_sums && i < end; ++i) {
            const uint8_t* const codes = w.codes + i * w.step;
            w.code_sums[i] = std::accumulate(codes, codes + depth, 0u);
          }
          if (any) has_nan = true;
        });
    return has_nan;
  }

  // What the sums of a channel are multiplied by and less. Returns whether they
  // depend on the sums of the image's codes.
  static bool PrepareChannels(const ConvArgs& args, const Form& form,
                              const Workspace& w) {
    const ConvParams& p = *args.params;
    const ByteLevels::Steps& image = p.byte_levels->image();
    const auto* const sums = reinterpret_cast<const uint32_t*>(
        static_cast<const char*>(args.prepared_filter) + form.sums_at);
    const auto products = static_cast<uint32_t>(p.taps() * p.in_channels);
    const auto image_zero = static_cast<uint32_t>(image.zero);
    bool is_skewed = false;
    const int64_t end = form.panels * kColumns;
    std::fill(w.factors + p.out_channels, w.factors + end, 0.0f);
    std::fill(w.zeros + p.out_channels, w.zeros + end, 0u);
    std::fill(w.less + p.out_channels, w.less + end, 0u);
    for (int64_t c = 0; c < p.out_channels; ++c) {
      const ByteLevels::Steps& filter = p.byte_levels->filter(c);
      w.factors[c] = image.range.scale * filter.range.scale;
      w.zeros[c] = static_cast<uint32_t>(filter.zero - PackedLess(filter));
      w.less[c] = image_zero * (sums[c] - products * w.zeros[c]);
      is_skewed |= w.zeros[c] != 0;
    }
    return is_skewed;
  }
};

}  // namespace

const ConvImplementation* Bytes() {
  static const ByteConv implementation;
  return &implementation;
}

}  // namespace headrace::conv
