// StringStrip, StringLength, StringLower, StringUpper: one string to one
// result. Without encoding="utf-8" letters are ASCII's, with it Unicode's.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/unicode.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class StringStripOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      out->data<tstring>()[i] =
          absl::StripAsciiWhitespace(in.data<tstring>()[i]);
    }
  }
};

class StringLengthOp : public OpKernel {
 public:
  explicit StringLengthOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string unit;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("unit", &unit));
    chars_ = unit == "UTF8_CHAR";
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const absl::string_view s = in.data<tstring>()[i];
      // Bytes that do not continue a character begin one.
      const int64_t n =
          chars_ ? std::count_if(s.begin(), s.end(),
                                 [](char c) { return (c & 0xc0) != 0x80; })
                 : static_cast<int64_t>(s.size());
      out->data<int32_t>()[i] = static_cast<int32_t>(n);
    }
  }

 private:
  bool chars_ = false;
};

// A capital sigma becomes the final form where a letter precedes and none
// follows, not counting characters that case ignores.
bool IsFinalSigma(const std::vector<int32_t>& text, size_t at) {
  size_t before = at, after = at + 1;
  while (before > 0 && IsCaseIgnorable(text[before - 1])) --before;
  if (before == 0 || !IsCased(text[before - 1])) return false;
  while (after < text.size() && IsCaseIgnorable(text[after])) ++after;
  return after == text.size() || !IsCased(text[after]);
}

template <bool kUpper>
class StringCaseOp : public OpKernel {
 public:
  explicit StringCaseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string encoding;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("encoding", &encoding));
    OP_REQUIRES(ctx, encoding.empty() || encoding == "utf-8",
                errors::InvalidArgument("only utf-8 or '' (no encoding) is "
                                        "currently supported, got ",
                                        encoding));
    unicode_ = !encoding.empty();
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string text;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const absl::string_view s = in.data<tstring>()[i];
      text.clear();
      if (unicode_) {
        Convert(s, &text);
      } else {
        for (char c : s) {
          text.push_back(kUpper ? absl::ascii_toupper(c)
                                : absl::ascii_tolower(c));
        }
      }
      out->data<tstring>()[i] = text;
    }
  }

 private:
  static void Convert(absl::string_view s, std::string* out) {
    constexpr int32_t kReplacement = 0xfffd, kSigma = 0x3a3, kFinal = 0x3c2;
    std::vector<int32_t> chars;
    for (CharReader reader(Encoding::kUtf8, ToStd(s)); !reader.done();) {
      const int32_t c = reader.Next();
      chars.push_back(c < 0 ? kReplacement : c);
    }
    for (size_t i = 0; i < chars.size(); ++i) {
      if (kUpper) {
        AppendUpper(chars[i], out);
      } else if (chars[i] == kSigma && IsFinalSigma(chars, i)) {
        AppendChar(Encoding::kUtf8, kFinal, out);
      } else {
        AppendLower(chars[i], out);
      }
    }
  }

  bool unicode_ = false;
};

REGISTER_KERNEL_BUILDER(Name("StringStrip").Device(DEVICE_CPU), StringStripOp);
REGISTER_KERNEL_BUILDER(Name("StringLength").Device(DEVICE_CPU),
                        StringLengthOp);
REGISTER_KERNEL_BUILDER(Name("StringLower").Device(DEVICE_CPU),
                        StringCaseOp<false>);
REGISTER_KERNEL_BUILDER(Name("StringUpper").Device(DEVICE_CPU),
                        StringCaseOp<true>);

}  // namespace
}  // namespace headrace
