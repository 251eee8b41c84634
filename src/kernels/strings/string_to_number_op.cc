// StringToNumber: decimal numbers, with blanks around them. Floats may also be
// "inf", "nan" and hexadecimal; what is too large for them is an infinity, for
// integers an error.
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/charconv.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

template <typename T>
bool ParseFloat(absl::string_view s, T* out) {
  if (absl::ConsumePrefix(&s, "+") && absl::StartsWith(s, "-")) return false;
  absl::string_view digits = s;
  const bool negative = absl::ConsumePrefix(&digits, "-");
  auto format = absl::chars_format::general;
  if (absl::StartsWithIgnoreCase(digits, "0x")) {
    format = absl::chars_format::hex;
    digits.remove_prefix(2);
  }
  if (digits.empty() || digits[0] == '-') return false;
  T v;
  const auto r =
      absl::from_chars(digits.data(), digits.data() + digits.size(), v, format);
  if (r.ptr != digits.data() + digits.size()) return false;
  if (r.ec == std::errc::result_out_of_range) {
    // from_chars leaves the largest or the smallest number.
    v = v > 1 ? std::numeric_limits<T>::infinity() : v;
  } else if (r.ec != std::errc()) {
    return false;
  }
  *out = negative ? -v : v;
  return true;
}

template <typename T>
bool Parse(absl::string_view s, T* out) {
  s = absl::StripAsciiWhitespace(s);
  if constexpr (std::is_floating_point_v<T>) {
    return ParseFloat(s, out);
  } else {
    return absl::SimpleAtoi(s, out);
  }
}

template <typename T>
class StringToNumberOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const absl::string_view s = in.data<tstring>()[i];
      OP_REQUIRES(ctx, Parse(s, &out->data<T>()[i]),
                  errors::InvalidArgument(
                      "StringToNumberOp could not correctly convert string: ",
                      absl::CHexEscape(s.substr(0, 100))));
    }
  }
};

#define HR_REGISTER(T)                                                         \
  REGISTER_KERNEL_BUILDER(                                                     \
      Name("StringToNumber").Device(DEVICE_CPU).TypeConstraint<T>("out_type"), \
      StringToNumberOp<T>);
HR_REGISTER(float)
HR_REGISTER(double)
HR_REGISTER(int32_t)
HR_REGISTER(int64_t)
HR_REGISTER(uint32_t)
HR_REGISTER(uint64_t)
#undef HR_REGISTER

}  // namespace
}  // namespace headrace
