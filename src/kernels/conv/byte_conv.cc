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
// The codes of the image are computed once, in rows of quads of channels
// (tap_rows.h). A tile is twelve output pixels by 32 output channels. A pixel
// with a NaN makes NaNs of all results that read it.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/thread_pool.h"
#include "headrace/simd.h"
#include "kernels/conv/byte_levels.h"
#include "kernels/conv/conv_costs.h"
#include "kernels/conv/conv_lists.h"
#include "kernels/conv/tap_rows.h"
#include "kernels/lib/byte_product.h"

namespace headrace::conv {
namespace {

constexpr int64_t kRows = kByteTileRows;
constexpr int64_t kColumns = kBytePanelColumns;
constexpr int64_t kMostTaps = 256;
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

// The workspace: for each pixel, and for the padding, its codes, their sum, and
// 0 or NaN; for each output channel what its sums are multiplied by and less.
class Workspace {
 public:
  Workspace(const ConvParams& p, void* base)
      : step(4 * NumQuads(p.in_channels)) {
    const int64_t pixels = p.batch * p.in_pixels() + 1;
    codes = Take<uint8_t>(base, pixels * step);
    code_sums = Take<int32_t>(base, pixels);
    nans = Take<float>(base, pixels);
    factors = Take<float>(base, p.out_channels);
    less = Take<int32_t>(base, p.out_channels);
    zeros = Take<int32_t>(base, p.out_channels);
  }

  int64_t bytes() const { return bytes_; }

  const int64_t step;  // of codes, from one pixel to the next
  uint8_t* codes;
  int32_t* code_sums;
  float* nans;
  float* factors;
  int32_t* less;
  int32_t* zeros;

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

class Tile {
 public:
  // `is_skewed`: sums depend on those of the image's codes.
  Tile(const ConvArgs& args, const Form& form, const Workspace& w, bool has_nan,
       bool is_skewed)
      : args_(args),
        form_(form),
        w_(w),
        pixels_(*args.params),
        has_nan_(has_nan),
        is_skewed_(is_skewed) {}

  void Find(int64_t pixel, int64_t count) {
    first_ = pixel;
    count_ = count;
    for (int64_t r = 0; r < count; ++r) {
      code_sums_[r] = 0;
      nans_[r] = 0;
      pixels_.ForEach(pixel + r, [&](int64_t tap, int64_t from) {
        rows_[tap * kRows + r] = w_.codes + from * w_.step;
        code_sums_[r] += w_.code_sums[from];
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
         .sums = sums_,
         .sums_step = kColumns,
         .columns = columns});
    if (is_skewed_) {
      SubtractZeros(count_, columns, code_sums_, w_.zeros + channel, sums_);
    }
    Scale(count_, columns, sums_, w_.factors + channel, w_.less + channel,
          nans_,
          static_cast<float*>(args_.result) + first_ * p.out_channels + channel,
          p.out_channels);
  }

 private:
  // Sums wrap around on the way; in the end they fit 32 bits.
  static void SubtractZeros(int64_t rows, int64_t columns,
                            const int32_t* code_sums, const int32_t* zeros,
                            int32_t* sums) {
    RunSimd([=] {
      for (int64_t r = 0; r < rows; ++r) {
        auto* const to = reinterpret_cast<uint32_t*>(sums + r * kColumns);
        const auto of_row = static_cast<uint32_t>(code_sums[r]);
        for (int64_t j = 0; j < columns; ++j) {
          to[j] -= of_row * static_cast<uint32_t>(zeros[j]);
        }
      }
    });
  }
  static void Scale(int64_t rows, int64_t columns, const int32_t* sums,
                    const float* factors, const int32_t* less,
                    const float* nans, float* out, int64_t out_step) {
    RunSimd([=] {
      for (int64_t r = 0; r < rows; ++r) {
        const int32_t* const from = sums + r * kColumns;
        float* const to = out + r * out_step;
        const float nan = nans[r];
        for (int64_t j = 0; j < columns; ++j) {
          const auto sum = static_cast<int32_t>(static_cast<uint32_t>(from[j]) -
                                                static_cast<uint32_t>(less[j]));
          to[j] = static_cast<float>(sum) * factors[j] + nan;
        }
      }
    });
  }

  const ConvArgs& args_;
  const Form& form_;
  const Workspace& w_;
  const TapPixels pixels_;
  const bool has_nan_, is_skewed_;
  int64_t first_ = 0, count_ = 0;
  const uint8_t* rows_[kMostTaps * kRows];
  int32_t sums_[kRows * kColumns], code_sums_[kRows];
  float nans_[kRows];
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
    const bool has_nan = Quantize(args, w);
    const bool is_skewed = PrepareChannels(args, form, w);
    const double tile_flops =
        2.0 * kRows * kColumns * static_cast<double>(form.all_quads);
    ComputeTiles(args, {kRows, kColumns, tile_flops},
                 [&] { return Tile(args, form, w, has_nan, is_skewed); });
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

  // The codes of `n` numbers, their sum, and whether there is a NaN.
  static void Encode(const FakeQuantRange& range, const float* from, int64_t n,
                     uint8_t* codes, int32_t* sum_of, int32_t* has_nan) {
    RunSimd([=] {
      // Copies: a byte that is written might be a part of what is captured.
      const float min = range.min, max = range.max, inverse = range.inverse;
      const int64_t count = n;
      const float* __restrict x = from;
      uint8_t* __restrict to = codes;
      int32_t sum = 0, nan = 0;
      for (int64_t c = 0; c < count; ++c) {
        // In this order a NaN becomes a number, and nothing is below 0.
        const float clamped = std::max(min, std::min(max, x[c]));
        const auto code =
            static_cast<int32_t>((clamped - min) * inverse + 0.5f);
        to[c] = static_cast<uint8_t>(code);
        sum += code;
        nan |= x[c] != x[c] ? 1 : 0;
      }
      *sum_of = sum;
      *has_nan = nan;
    });
  }

  // Writes the codes of the image and of the padding. Returns whether there is
  // a NaN.
  static bool Quantize(const ConvArgs& args, const Workspace& w) {
    const ConvParams& p = *args.params;
    const ByteLevels::Steps& steps = p.byte_levels->image();
    const auto* const in = static_cast<const float*>(args.input);
    const int64_t depth = p.in_channels, all = p.batch * p.in_pixels();
    std::fill_n(w.codes + all * w.step, depth,
                static_cast<uint8_t>(steps.zero));
    std::fill_n(w.codes + all * w.step + depth, w.step - depth, uint8_t{0});
    w.code_sums[all] = static_cast<int32_t>(depth) * steps.zero;
    w.nans[all] = 0;
    std::atomic<bool> has_nan{false};
    args.pool->ParallelForCost(
        all, cost::kCode * static_cast<double>(depth),
        [&](int64_t begin, int64_t end) {
          int32_t any = 0;
          for (int64_t i = begin; i < end; ++i) {
            int32_t nan = 0;
            Encode(steps.range, in + i * depth, depth, w.codes + i * w.step,
                   &w.code_sums[i], &nan);
            std::fill(w.codes + i * w.step + depth, w.codes + (i + 1) * w.step,
                      uint8_t{0});
            w.nans[i] = nan != 0 ? std::numeric_limits<float>::quiet_NaN() : 0;
            any |= nan;
          }
          if (any != 0) has_nan = true;
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
    for (int64_t c = 0; c < p.out_channels; ++c) {
      const ByteLevels::Steps& filter = p.byte_levels->filter(c);
      w.factors[c] = image.range.scale * filter.range.scale;
      w.zeros[c] = filter.zero - PackedLess(filter);
      w.less[c] = static_cast<int32_t>(
          image_zero *
          (sums[c] - products * static_cast<uint32_t>(w.zeros[c])));
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
