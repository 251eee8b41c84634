// EncodeBase64 and DecodeBase64 in the alphabet for file names and URLs ('-'
// and '_'). Padding is written where `pad` asks for it; reading takes both.
#include <string>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

constexpr char kAlphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int Digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '-' ? 62 : c == '_' ? 63 : -1;
}

void Encode(absl::string_view in, bool pad, std::string* out) {
  out->clear();
  uint32_t bits = 0;
  int held = 0;
  for (char c : in) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) {
      out->push_back(kAlphabet[bits >> (held - 6) & 63]);
    }
  }
  if (held > 0) out->push_back(kAlphabet[bits << (6 - held) & 63]);
  while (pad && out->size() % 4 != 0) out->push_back('=');
}

Status Decode(absl::string_view in, std::string* out) {
  out->clear();
  if (in.size() % 4 == 0) {
    for (int i = 0; i < 2 && !in.empty() && in.back() == '='; ++i) {
      in.remove_suffix(1);
    }
  }
  if (in.size() % 4 == 1) {
    return errors::InvalidArgument(
        "Base64 string length cannot be 1 modulo 4.");
  }
  uint32_t bits = 0;
  int held = 0;
  for (char c : in) {
    const int digit = Digit(c);
    if (digit < 0) {
      return errors::InvalidArgument("Invalid character found in base64.");
    }
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out->push_back(static_cast<char>(bits >> held));
    }
  }
  return OkStatus();
}

class EncodeBase64Op : public OpKernel {
 public:
  explicit EncodeBase64Op(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pad", &pad_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string text;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      Encode(in.data<tstring>()[i], pad_, &text);
      out->data<tstring>()[i] = text;
    }
  }

 private:
  bool pad_ = false;
};

class DecodeBase64Op : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string bytes;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      OP_REQUIRES_OK(ctx, Decode(in.data<tstring>()[i], &bytes));
      out->data<tstring>()[i] = bytes;
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("EncodeBase64").Device(DEVICE_CPU),
                        EncodeBase64Op);
REGISTER_KERNEL_BUILDER(Name("DecodeBase64").Device(DEVICE_CPU),
                        DecodeBase64Op);

}  // namespace
}  // namespace headrace
