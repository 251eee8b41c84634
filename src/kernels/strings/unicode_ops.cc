// UnicodeTranscode, UnicodeDecode(WithOffsets), UnicodeEncode, UnicodeScript:
// between strings in some encoding and their code points. What is malformed is
// replaced, left out or refused, as the attr `errors` says.
#include <limits>
#include <string>
#include <vector>

#include "base/unicode.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

enum class OnError : uint8_t { kReplace, kIgnore, kStrict };

// The attrs that the family shares.
struct ErrorPolicy {
  OnError on_error = OnError::kReplace;
  int64_t replacement = 0xfffd;
  bool control_characters = false;

  Status Read(OpKernelConstruction* ctx) {
    std::string errors;
    HR_RETURN_IF_ERROR(ctx->GetAttr("errors", &errors));
    on_error = errors == "strict"   ? OnError::kStrict
               : errors == "ignore" ? OnError::kIgnore
                                    : OnError::kReplace;
    HR_RETURN_IF_ERROR(ctx->GetAttr("replacement_char", &replacement));
    if (!IsScalarValue(replacement)) {
      return errors::InvalidArgument(
          "replacement_char out of unicode codepoint range: ", replacement);
    }
    if (ctx->HasAttr("replace_control_characters")) {
      return ctx->GetAttr("replace_control_characters", &control_characters);
    }
    return OkStatus();
  }

  // Hands `c`, or what stands for it, to `use`; -1 is malformed.
  template <typename F>
  Status Take(int64_t c, const F& use) const {
    const bool bad = !IsScalarValue(c);
    if (bad && on_error == OnError::kStrict) {
      return errors::InvalidArgument("Invalid formatting on input string");
    }
    if (bad || (control_characters && c <= 0x1f)) {
      if (on_error == OnError::kIgnore) return OkStatus();
      c = replacement;
    }
    use(static_cast<int32_t>(c));
    return OkStatus();
  }
};

Status EncodingAttr(OpKernelConstruction* ctx, const char* attr,
                    Encoding* out) {
  std::string name;
  HR_RETURN_IF_ERROR(ctx->GetAttr(attr, &name));
  return ParseEncoding(name, out);
}

class UnicodeTranscodeOp : public OpKernel {
 public:
  explicit UnicodeTranscodeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, policy_.Read(ctx));
    OP_REQUIRES_OK(ctx, EncodingAttr(ctx, "input_encoding", &from_));
    OP_REQUIRES_OK(ctx, EncodingAttr(ctx, "output_encoding", &to_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string text;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      text.clear();
      CharReader reader(from_, ToStd(in.data<tstring>()[i]));
      while (!reader.done()) {
        OP_REQUIRES_OK(ctx, policy_.Take(reader.Next(), [&](int32_t c) {
          AppendChar(to_, c, &text);
        }));
      }
      out->data<tstring>()[i] = text;
    }
  }

 private:
  ErrorPolicy policy_;
  Encoding from_ = Encoding::kUtf8, to_ = Encoding::kUtf8;
};

template <typename Tsplits, bool kOffsets>
class UnicodeDecodeOp : public OpKernel {
 public:
  explicit UnicodeDecodeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, policy_.Read(ctx));
    OP_REQUIRES_OK(ctx, EncodingAttr(ctx, "input_encoding", &from_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const int64_t n = in.NumElements();
    Tensor* splits = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n + 1}), &splits));
    std::vector<int32_t> chars;
    std::vector<int64_t> starts;
    splits->data<Tsplits>()[0] = 0;
    for (int64_t i = 0; i < n; ++i) {
      CharReader reader(from_, ToStd(in.data<tstring>()[i]));
      while (!reader.done()) {
        const auto start = static_cast<int64_t>(reader.position());
        OP_REQUIRES_OK(ctx, policy_.Take(reader.Next(), [&](int32_t c) {
          chars.push_back(c);
          if (kOffsets) starts.push_back(start);
        }));
      }
      OP_REQUIRES(ctx, chars.size() <= std::numeric_limits<Tsplits>::max(),
                  errors::InvalidArgument(
                      "the input has more characters than Tsplits can count"));
      splits->data<Tsplits>()[i + 1] = static_cast<Tsplits>(chars.size());
    }
    OP_REQUIRES_OK(ctx, Output(ctx, 1, chars));
    if (kOffsets) OP_REQUIRES_OK(ctx, Output(ctx, 2, starts));
  }

 private:
  template <typename T>
  static Status Output(OpKernelContext* ctx, int i, const std::vector<T>& v) {
    Tensor* out = nullptr;
    HR_RETURN_IF_ERROR(ctx->allocate_output(
        i, TensorShape({static_cast<int64_t>(v.size())}), &out));
    std::copy(v.begin(), v.end(), out->data<T>());
    return OkStatus();
  }

  ErrorPolicy policy_;
  Encoding from_ = Encoding::kUtf8;
};

template <typename Tsplits>
class UnicodeEncodeOp : public OpKernel {
 public:
  explicit UnicodeEncodeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, policy_.Read(ctx));
    OP_REQUIRES_OK(ctx, EncodingAttr(ctx, "output_encoding", &to_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &splits = ctx->input(1);
    OP_REQUIRES(
        ctx, in.dims() == 1 && splits.dims() == 1,
        errors::InvalidArgument(
            "input_values and input_splits must be vectors, got ",
            in.shape().DebugString(), " and ", splits.shape().DebugString()));
    const absl::Span<const Tsplits> at = splits.span<Tsplits>();
    OP_REQUIRES(ctx, !at.empty() && at.front() == 0,
                errors::InvalidArgument("First value in input_splits must be "
                                        "zero, got ",
                                        splits.SummarizeValue(1)));
    for (size_t i = 1; i < at.size(); ++i) {
      OP_REQUIRES(ctx, at[i] >= at[i - 1],
                  errors::InvalidArgument(
                      "Values in input_splits must be equal or in ascending "
                      "order, got ",
                      at[i - 1], " before ", at[i]));
    }
    OP_REQUIRES(ctx, at.back() == in.NumElements(),
                errors::InvalidArgument(
                    "Last value in input_splits must be equal to the number of "
                    "input values: got ",
                    at.back(), ", which is not ", in.NumElements()));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(
                            0, TensorShape({splits.NumElements() - 1}), &out));
    std::string text;
    for (size_t i = 0; i + 1 < at.size(); ++i) {
      text.clear();
      for (Tsplits k = at[i]; k < at[i + 1]; ++k) {
        const int32_t c = in.data<int32_t>()[k];
        OP_REQUIRES(ctx,
                    IsScalarValue(c) || policy_.on_error != OnError::kStrict,
                    errors::InvalidArgument("Code point is out of range for "
                                            "Unicode, or a surrogate: ",
                                            c));
        OP_REQUIRES_OK(ctx, policy_.Take(c, [&](int32_t valid) {
          AppendChar(to_, valid, &text);
        }));
      }
      out->data<tstring>()[i] = text;
    }
  }

 private:
  ErrorPolicy policy_;
  Encoding to_ = Encoding::kUtf8;
};

class UnicodeScriptOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      out->data<int32_t>()[i] = ScriptOf(in.data<int32_t>()[i]);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UnicodeTranscode").Device(DEVICE_CPU),
                        UnicodeTranscodeOp);
REGISTER_KERNEL_BUILDER(Name("UnicodeScript").Device(DEVICE_CPU),
                        UnicodeScriptOp);
#define HR_REGISTER(T)                                                       \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UnicodeDecode").Device(DEVICE_CPU).TypeConstraint<T>("Tsplits"), \
      UnicodeDecodeOp<T, false>);                                            \
  REGISTER_KERNEL_BUILDER(Name("UnicodeDecodeWithOffsets")                   \
                              .Device(DEVICE_CPU)                            \
                              .TypeConstraint<T>("Tsplits"),                 \
                          UnicodeDecodeOp<T, true>);                         \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("UnicodeEncode").Device(DEVICE_CPU).TypeConstraint<T>("Tsplits"), \
      UnicodeEncodeOp<T>);
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
