// StringNGrams: for each row of a ragged tensor of tokens, the runs of
// `ngram_widths` tokens, joined. Rows are padded on both sides with pad_width
// pads (below 0: width - 1), and never with so many that an n-gram is pads
// alone on both sides.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr int64_t kMaxNgramWidth = int64_t{1} << 30;
// Of all n-grams of a call.
constexpr double kMaxBytes = int64_t{1} << 32;

template <typename Tsplits>
class StringNGramsOp : public OpKernel {
 public:
  explicit StringNGramsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("separator", &separator_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ngram_widths", &widths_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("left_pad", &left_pad_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("right_pad", &right_pad_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pad_width", &pad_width_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("preserve_short_sequences", &keep_short_));
    OP_REQUIRES(ctx, pad_width_ <= kMaxNgramWidth,
                errors::InvalidArgument("pad_width must be at most ",
                                        kMaxNgramWidth, ", got ", pad_width_));
    for (int64_t w : widths_) {
      OP_REQUIRES(ctx, w >= 1 && w <= kMaxNgramWidth,
                  errors::InvalidArgument("ngram_widths must be in [1, ",
                                          kMaxNgramWidth, "], got ", w));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &data = ctx->input(0), &splits = ctx->input(1);
    OP_REQUIRES(
        ctx, data.dims() == 1 && splits.dims() == 1,
        errors::InvalidArgument("data and data_splits must be vectors, got ",
                                data.shape().DebugString(), " and ",
                                splits.shape().DebugString()));
    const absl::Span<const Tsplits> at = splits.span<Tsplits>();
    OP_REQUIRES_OK(ctx, CheckSplits(at, data.NumElements()));
    // What will be made is counted first, so that it can be refused.
    int64_t total = 0;
    double bytes = 0;
    const auto pad =
        static_cast<double>(sizeof(tstring) + separator_.size() +
                            std::max(left_pad_.size(), right_pad_.size()));
    Tensor* out_splits = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, splits.shape(), &out_splits));
    for (size_t r = 0; r + 1 < at.size(); ++r) {
      out_splits->data<Tsplits>()[r] = static_cast<Tsplits>(total);
      const int64_t length = at[r + 1] - at[r];
      double row_bytes = 0;
      for (int64_t k = at[r]; k < at[r + 1]; ++k) {
        row_bytes += static_cast<double>(data.data<tstring>()[k].size());
      }
      OP_REQUIRES(
          ctx,
          !keep_short_ || !widths_.empty() || pad_width_ >= 0 || length == 0,
          errors::InvalidArgument(
              "Pad width should be >= 0 when preserve_short_sequences "
              "is True and ngram_widths are not provided, got ",
              pad_width_));
      if (data.NumElements() == 0) continue;  // no pads without any token
      for (int64_t width : RowWidths(length)) {
        const int64_t n = Count(length, width);
        total += n;
        bytes += pad * static_cast<double>(n) * static_cast<double>(width) +
                 row_bytes * static_cast<double>(std::min(n, width));
        OP_REQUIRES(
            ctx,
            bytes <= kMaxBytes && total <= std::numeric_limits<Tsplits>::max(),
            errors::ResourceExhausted(
                "StringNGrams: n-grams of width ", width, " of ", length,
                " tokens with pad_width ", pad_width_, " would take more than ",
                static_cast<int64_t>(kMaxBytes), " bytes"));
      }
    }
    if (!at.empty()) {
      out_splits->data<Tsplits>()[at.size() - 1] = static_cast<Tsplits>(total);
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({total}), &out));
    if (data.NumElements() == 0) return;
    tstring* to = out->data<tstring>();
    for (size_t r = 0; r + 1 < at.size(); ++r) {
      const absl::Span<const tstring> row =
          data.span<tstring>().subspan(at[r], at[r + 1] - at[r]);
      for (int64_t width : RowWidths(row.size())) {
        const int64_t n = Count(row.size(), width);
        for (int64_t i = 0; i < n; ++i) *to++ = NGram(row, width, i);
      }
    }
  }

 private:
  static Status CheckSplits(absl::Span<const Tsplits> at, int64_t size) {
    // No splits at all go with no data.
    if (at.empty() && size == 0) return OkStatus();
    if (at.empty() || at.front() != 0) {
      return errors::InvalidArgument("First split value must be 0, got ",
                                     at.empty() ? -1 : int64_t{at.front()});
    }
    for (size_t i = 1; i < at.size(); ++i) {
      if (at[i] < at[i - 1] || at[i] > size) {
        return errors::InvalidArgument("Invalid split value ", at[i],
                                       ", must be in [", at[i - 1], ", ", size,
                                       "]");
      }
    }
    if (at.back() == size) return OkStatus();
    return errors::InvalidArgument(
        "Last split value must be data size. "
        "Expected ",
        size, ", got ", at.back());
  }

  int64_t Pads(int64_t width) const {
    return pad_width_ < 0 ? width - 1 : std::min(pad_width_, width - 1);
  }
  int64_t Count(int64_t length, int64_t width) const {
    return std::max<int64_t>(0, length + 2 * Pads(width) - width + 1);
  }
  // The widths for a row: of one that is too short for any, and is to be kept,
  // the one that takes it as a whole.
  std::vector<int64_t> RowWidths(int64_t length) const {
    if (!keep_short_ || length == 0) return widths_;
    for (int64_t w : widths_) {
      if (Count(length, w) > 0) return widths_;
    }
    return {length + 2 * pad_width_};
  }

  // The i-th of a row padded on both sides. Where it has no token the left pads
  // end in a separator already.
  std::string NGram(absl::Span<const tstring> row, int64_t width,
                    int64_t i) const {
    const int64_t pads = Pads(width), n = Count(row.size(), width);
    const int64_t left = std::clamp<int64_t>(pads - i, 0, width);
    const int64_t right =
        std::clamp<int64_t>(pads - (n - i - 1), 0, width - left);
    std::string out;
    auto add = [&](absl::string_view s) {
      out.append(s.data(), s.size());
      out += separator_;
    };
    for (int64_t k = 0; k < left; ++k) add(left_pad_);
    const int64_t first = std::max<int64_t>(i - pads, 0);
    for (int64_t k = 0; k < width - left - right; ++k) add(row[first + k]);
    for (int64_t k = 0; k < right; ++k) add(right_pad_);
    out.resize(out.size() - separator_.size());
    return out;
  }

  std::string separator_, left_pad_, right_pad_;
  std::vector<int64_t> widths_;
  int64_t pad_width_ = -1;
  bool keep_short_ = false;
};

REGISTER_KERNEL_BUILDER(
    Name("StringNGrams").Device(DEVICE_CPU).TypeConstraint<int32_t>("Tsplits"),
    StringNGramsOp<int32_t>);
REGISTER_KERNEL_BUILDER(
    Name("StringNGrams").Device(DEVICE_CPU).TypeConstraint<int64_t>("Tsplits"),
    StringNGramsOp<int64_t>);

}  // namespace
}  // namespace headrace
