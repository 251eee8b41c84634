// AsString: numbers in printf's formats. Floats are %f unless `scientific` or
// `shortest` asks for %e or %g; `width`, `precision` and `fill` are printf's.
// bool has no format; a string only a width, filled with blanks.
#include <cstdio>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr int64_t kMaxWidth = 1 << 16;  // of one number, in characters

// The conversion of T after '%' and the flags, and what printf is given.
template <typename T>
struct Conversion {
  static constexpr const char* kSuffix = std::is_signed_v<T> ? "lld" : "llu";
  static auto Argument(T v) {
    using Wide = std::conditional_t<std::is_signed_v<T>, long long,  // NOLINT
                                    unsigned long long>;             // NOLINT
    return static_cast<Wide>(v);
  }
};
template <typename T>
concept Float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16> ||
    std::is_floating_point_v<T>;
template <typename T>
concept Complex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <Float T>
struct Conversion<T> {
  static constexpr const char* kSuffix = "";  // the attrs choose
  static double Argument(T v) { return static_cast<double>(v); }
};

template <typename V>
Status Print(const std::string& format, V value, std::string* out) {
  char buffer[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = std::snprintf(buffer, sizeof(buffer), format.c_str(), value);
  if (n < 0) return errors::Internal("cannot print with ", format);
  if (static_cast<size_t>(n) < sizeof(buffer)) {
    out->append(buffer, n);
    return OkStatus();
  }
  std::string large(n + 1, '\0');
  std::snprintf(large.data(), large.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  out->append(large.data(), n);
  return OkStatus();
}

template <typename T>
class AsStringOp : public OpKernel {
 public:
  explicit AsStringOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t precision;
    bool scientific, shortest;
    std::string fill;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("precision", &precision));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scientific", &scientific));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shortest", &shortest));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("width", &width_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fill", &fill));
    constexpr bool kFloat = Float<T> || Complex<T>;
    const std::string type = DataTypeString(DataTypeToEnum<T>::value);
    OP_REQUIRES(
        ctx, kFloat || !(scientific || shortest),
        errors::InvalidArgument(
            "scientific and shortest format not supported for datatype ",
            type));
    OP_REQUIRES(
        ctx, kFloat || precision < 0,
        errors::InvalidArgument("precision not supported for datatype ", type));
    OP_REQUIRES(ctx, fill.size() <= 1,
                errors::InvalidArgument(
                    "Fill string must be one or fewer characters, got ", fill));
    OP_REQUIRES(ctx, !(scientific && shortest),
                errors::InvalidArgument(
                    "Cannot select both scientific and shortest notation"));
    OP_REQUIRES(
        ctx,
        fill.empty() ||
            absl::string_view(" +-0#").find(fill[0]) != absl::string_view::npos,
        errors::InvalidArgument("Fill argument not supported: \"", fill, "\""));
    OP_REQUIRES(ctx, width_ <= kMaxWidth && precision <= kMaxWidth,
                errors::InvalidArgument("width and precision must be at most ",
                                        kMaxWidth, ", got ", width_, " and ",
                                        precision));
    format_ = "%" + fill;
    left_ = fill == "-";
    if (width_ > -1) absl::StrAppend(&format_, width_);
    if (precision > -1) absl::StrAppend(&format_, ".", precision);
    if constexpr (kFloat) {
      format_ += scientific ? "e" : shortest ? "g" : "f";
    } else if constexpr (std::is_integral_v<T>) {
      format_ += Conversion<T>::kSuffix;
    }
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string text;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const T& v = in.data<T>()[i];
      text.clear();
      if constexpr (std::is_same_v<T, bool>) {
        text = v ? "true" : "false";
      } else if constexpr (std::is_same_v<T, tstring>) {
        text.assign(v.data(), v.size());
        if (width_ > static_cast<int64_t>(text.size())) {
          text.insert(left_ ? text.size() : 0, width_ - text.size(), ' ');
        }
      } else if constexpr (Complex<T>) {
        text = "(";
        OP_REQUIRES_OK(ctx, Print<double>(format_, v.real(), &text));
        text += ",";
        OP_REQUIRES_OK(ctx, Print<double>(format_, v.imag(), &text));
        text += ")";
      } else {
        OP_REQUIRES_OK(ctx, Print(format_, Conversion<T>::Argument(v), &text));
      }
      out->data<tstring>()[i] = text;
    }
  }

 private:
  std::string format_;
  int64_t width_ = -1;
  bool left_ = false;
};

#define HR_REGISTER(T)                                            \
  REGISTER_KERNEL_BUILDER(                                        \
      Name("AsString").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      AsStringOp<T>);
HR_CALL_NUMBER_TYPES(HR_REGISTER)
HR_REGISTER(bool)
HR_REGISTER(tstring)
#undef HR_REGISTER

// What a variant holds is told by its type alone.
class VariantAsStringOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const std::string& type = in.data<Variant>()[i].TypeName();
      out->data<tstring>()[i] =
          StrCat("Variant<type: ", type,
                 " value: ", type.substr(type.rfind(':') + 1), ">");
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("AsString").Device(DEVICE_CPU).TypeConstraint<Variant>("T"),
    VariantAsStringOp);

}  // namespace
}  // namespace headrace
