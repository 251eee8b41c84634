// Regular expressions of RE2's syntax over every string of a tensor. A rewrite
// is RE2's as well: \1 is the first group, \0 the whole match.
#ifdef HEADRACE_HAVE_RE2
#include <re2/re2.h>

#include <memory>
#include <string>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

Status Compile(absl::string_view pattern, std::unique_ptr<RE2>* out) {
  RE2::Options options;
  options.set_log_errors(false);
  *out = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()),
                               options);
  if ((*out)->ok()) return OkStatus();
  return errors::InvalidArgument("Invalid pattern: ", pattern,
                                 ", error: ", (*out)->error());
}

Status ScalarInput(OpKernelContext* ctx, int i, const char* name,
                   absl::string_view* out) {
  const Tensor& t = ctx->input(i);
  if (t.dims() != 0) {
    return errors::InvalidArgument(name, " must be a scalar, got shape ",
                                   t.shape().DebugString());
  }
  *out = t.scalar<tstring>();
  return OkStatus();
}

// The pattern is an attr where kStatic, else input 1.
template <bool kStatic>
class RegexFullMatchOp : public OpKernel {
 public:
  explicit RegexFullMatchOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (!kStatic) return;
    std::string pattern;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pattern", &pattern));
    OP_REQUIRES_OK(ctx, Compile(pattern, &re_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::unique_ptr<RE2> own;
    if (!kStatic) {
      absl::string_view pattern;
      OP_REQUIRES_OK(ctx, ScalarInput(ctx, 1, "pattern", &pattern));
      OP_REQUIRES_OK(ctx, Compile(pattern, &own));
    }
    const RE2& re = kStatic ? *re_ : *own;
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const tstring& s = in.data<tstring>()[i];
      out->data<bool>()[i] =
          RE2::FullMatch(re2::StringPiece(s.data(), s.size()), re);
    }
  }

 private:
  std::unique_ptr<RE2> re_;
};

template <bool kStatic>
class RegexReplaceOp : public OpKernel {
 public:
  explicit RegexReplaceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("replace_global", &global_));
    if (!kStatic) return;
    std::string pattern;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("rewrite", &rewrite_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pattern", &pattern));
    OP_REQUIRES_OK(ctx, Compile(pattern, &re_));
  }

  void Compute(OpKernelContext* ctx) override {
    std::unique_ptr<RE2> own;
    absl::string_view pattern, rewrite = rewrite_;
    if (!kStatic) {
      OP_REQUIRES_OK(ctx, ScalarInput(ctx, 1, "pattern", &pattern));
      OP_REQUIRES_OK(ctx, ScalarInput(ctx, 2, "rewrite", &rewrite));
      OP_REQUIRES_OK(ctx, Compile(pattern, &own));
    }
    const RE2& re = kStatic ? *re_ : *own;
    const re2::StringPiece to(rewrite.data(), rewrite.size());
    std::string why;
    OP_REQUIRES(ctx, re.CheckRewriteString(to, &why),
                errors::InvalidArgument("Invalid rewrite: ", rewrite,
                                        ", error: ", why));
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      std::string s(in.data<tstring>()[i]);
      if (global_) {
        RE2::GlobalReplace(&s, re, to);
      } else {
        RE2::Replace(&s, re, to);
      }
      out->data<tstring>()[i] = s;
    }
  }

 private:
  bool global_ = true;
  std::string rewrite_;
  std::unique_ptr<RE2> re_;
};

REGISTER_KERNEL_BUILDER(Name("RegexFullMatch").Device(DEVICE_CPU),
                        RegexFullMatchOp<false>);
REGISTER_KERNEL_BUILDER(Name("StaticRegexFullMatch").Device(DEVICE_CPU),
                        RegexFullMatchOp<true>);
REGISTER_KERNEL_BUILDER(Name("RegexReplace").Device(DEVICE_CPU),
                        RegexReplaceOp<false>);
REGISTER_KERNEL_BUILDER(Name("StaticRegexReplace").Device(DEVICE_CPU),
                        RegexReplaceOp<true>);

}  // namespace
}  // namespace headrace
#endif  // HEADRACE_HAVE_RE2
