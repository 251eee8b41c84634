// StringFormat: a template with its placeholders replaced by tensors. Each dim
// of a tensor shows its first and last `summarize` entries, with "..." between.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class TensorPrinter {
 public:
  // `limit` below 0: all entries.
  TensorPrinter(const Tensor& t, int64_t limit, std::string* out)
      : t_(t),
        limit_(limit < 0 ? t.NumElements() : std::min(limit, t.NumElements())),
        out_(out) {}

  void Print() {
    if (t_.dims() == 0 && limit_ == 0) {
      *out_ += "...";
    } else {
      Dim(0, 0);
    }
  }

 private:
  void Dim(int d, int64_t index) {
    if (d == t_.dims()) return Element(index);
    const int64_t n = t_.dim_size(d);
    const int64_t step = t_.shape().ProductOf(d + 1, t_.dims());
    const int64_t ends = std::min(limit_, n);
    *out_ += '[';
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0 || ends == 0) Space(d);
      if (i == ends && i < n - ends) {
        *out_ += "...";
        i = n - ends;
        if (i < n) Space(d);
      }
      if (i < n) Dim(d + 1, index + i * step);
    }
    *out_ += ']';
  }
  // Between the entries of dim `d`: rows stand in lines of their own.
  void Space(int d) {
    const int below = t_.dims() - d - 1;
    out_->append(below, '\n');
    out_->append(below > 0 ? d + 1 : 1, ' ');
  }
  void Element(int64_t i) {
    if (t_.dtype() == DT_STRING) {
      *out_ += '"';
      *out_ += absl::Utf8SafeCEscape(t_.data<tstring>()[i]);
      *out_ += '"';
      return;
    }
    if (t_.dtype() == DT_FLOAT) {
      return Real<float>(t_.data<float>()[i], 6, 9,
                         [](const char* s) { return std::strtof(s, nullptr); });
    }
    if (t_.dtype() == DT_DOUBLE) {
      return Real<double>(t_.data<double>()[i], 15, 17, [](const char* s) {
        return std::strtod(s, nullptr);
      });
    }
    if (t_.dtype() == DT_HALF) {
      return Real<float>(static_cast<float>(t_.data<half>()[i]), 6, 9,
                         [](const char* s) { return std::strtof(s, nullptr); });
    }
    Tensor one(t_.dtype(), TensorShape());
    CopyElements(t_, i, &one, 0, 1);
    *out_ += one.SummarizeValue(1);
  }
  // With few digits where they tell the number, else with many.
  template <typename T>
  void Real(T v, int few, int many, T (*parse)(const char*)) {
    char buffer[32];
    std::snprintf(buffer, sizeof(buffer), "%.*g", few, double{v});
    if (!(parse(buffer) == v)) {
      std::snprintf(buffer, sizeof(buffer), "%.*g", many, double{v});
    }
    *out_ += std::isnan(v) ? "nan" : buffer;
  }

  const Tensor& t_;
  const int64_t limit_;
  std::string* out_;
};

class StringFormatOp : public OpKernel {
 public:
  explicit StringFormatOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string text, placeholder;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("template", &text));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("placeholder", &placeholder));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("summarize", &summarize_));
    pieces_ = absl::StrSplit(text, placeholder);
    OP_REQUIRES(ctx, static_cast<int>(pieces_.size()) == ctx->num_inputs() + 1,
                errors::InvalidArgument(
                    "num placeholders in template and num inputs must match: ",
                    pieces_.size() - 1, " vs. ", ctx->num_inputs()));
  }

  void Compute(OpKernelContext* ctx) override {
    std::string text = pieces_[0];
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      TensorPrinter(ctx->input(i), summarize_, &text).Print();
      text += pieces_[i + 1];
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    out->scalar<tstring>() = text;
  }

 private:
  std::vector<std::string> pieces_;
  int64_t summarize_ = 3;
};

REGISTER_KERNEL_BUILDER(Name("StringFormat").Device(DEVICE_CPU),
                        StringFormatOp);

}  // namespace
}  // namespace headrace
