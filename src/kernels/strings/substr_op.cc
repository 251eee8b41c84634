// Substr: `len` bytes or characters of each string from `pos` on, fewer where
// it ends before; a negative pos counts from the end. pos and len have one
// shape, which is broadcast with the input's.
#include <algorithm>
#include <string>

#include "headrace/op_kernel.h"
#include "kernels/lib/broadcast.h"

namespace headrace {
namespace {

bool ContinuesChar(char c) { return (c & 0xc0) == 0x80; }

// Moves *at over `n` characters; false where there are fewer.
bool SkipChars(absl::string_view s, int64_t n, int64_t* at) {
  const auto size = static_cast<int64_t>(s.size());
  for (; n > 0 && *at < size; --n) {
    do ++*at;
    while (*at < size && ContinuesChar(s[*at]));
  }
  return n <= 0;
}
bool SkipCharsBack(absl::string_view s, int64_t n, int64_t* at) {
  for (; n > 0 && *at > 0; --n) {
    do --*at;
    while (*at > 0 && ContinuesChar(s[*at]));
  }
  return n <= 0;
}

template <typename T>
class SubstrOp : public OpKernel {
 public:
  explicit SubstrOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string unit;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("unit", &unit));
    chars_ = unit == "UTF8_CHAR";
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &in = ctx->input(0), &pos = ctx->input(1),
                 &len = ctx->input(2);
    OP_REQUIRES(
        ctx, pos.shape() == len.shape(),
        errors::InvalidArgument("pos and len should have the same shape, got: ",
                                pos.shape().DebugString(), " vs. ",
                                len.shape().DebugString()));
    const BCast b({&in.shape(), &pos.shape()});
    OP_REQUIRES_OK(ctx, b.status());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, b.output_shape(), &out));
    BCastCursor cursor(b.dims(), 0);
    for (int64_t i = 0; i < out->NumElements(); ++i, cursor.Next()) {
      const absl::string_view s = in.data<tstring>()[cursor.offset(0)];
      const int64_t p = pos.template data<T>()[cursor.offset(1)];
      const int64_t n = len.template data<T>()[cursor.offset(1)];
      int64_t begin, size;
      OP_REQUIRES(
          ctx, Locate(s, p, n, &begin, &size),
          errors::InvalidArgument("pos ", p, " out of range for string b'",
                                  s.substr(0, 100), "' at index ", i));
      out->data<tstring>()[i] = s.substr(begin, size);
    }
  }

 private:
  // False where `pos` lies outside of the string.
  bool Locate(absl::string_view s, int64_t pos, int64_t len, int64_t* begin,
              int64_t* size) const {
    const auto all = static_cast<int64_t>(s.size());
    if (!chars_) {
      if (len < 0) len = all;
      *begin = pos < 0 ? all + pos : pos;
      if (pos < -all || pos > all) return false;
      *size = std::min(len, all - *begin);
      return true;
    }
    *begin = pos < 0 ? all : 0;
    const bool found = pos < 0 ? pos >= -all && SkipCharsBack(s, -pos, begin)
                               : SkipChars(s, pos, begin);
    int64_t end = *begin;
    SkipChars(s, len, &end);
    *size = end - *begin;
    return found;
  }

  bool chars_ = false;
};

REGISTER_KERNEL_BUILDER(
    Name("Substr").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"),
    SubstrOp<int32_t>);
REGISTER_KERNEL_BUILDER(
    Name("Substr").Device(DEVICE_CPU).TypeConstraint<int64_t>("T"),
    SubstrOp<int64_t>);

}  // namespace
}  // namespace headrace
