// DecodeRaw and DecodePaddedRaw: the bytes of strings as numbers. DecodeRaw
// wants strings of one length, a multiple of the type's; DecodePaddedRaw cuts
// each at fixed_length or fills it up with zeros.
#include <algorithm>
#include <bit>
#include <cstring>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

// Of a complex number each half is turned around on its own.
int SwappedUnit(DataType t) {
  return DataTypeIsComplex(t) ? DataTypeSize(t) / 2 : DataTypeSize(t);
}

class RawKernel : public OpKernel {
 public:
  explicit RawKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    bool little;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("out_type", &type_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("little_endian", &little));
    swap_ = little != (std::endian::native == std::endian::little);
  }

 protected:
  // `length` bytes of each string, zeros where it is shorter.
  void Decode(OpKernelContext* ctx, int64_t length) {
    const Tensor& in = ctx->input(0);
    TensorShape shape = in.shape();
    shape.AddDim(length / DataTypeSize(type_));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    char* to = static_cast<char*>(out->raw_data());
    const int unit = SwappedUnit(type_);
    for (const tstring& s : in.span<tstring>()) {
      const auto n = static_cast<size_t>(
          std::min<int64_t>(length, static_cast<int64_t>(s.size())));
      std::memcpy(to, s.data(), n);
      std::memset(to + n, 0, length - n);
      for (int64_t i = 0; swap_ && unit > 1 && i < length; i += unit) {
        std::reverse(to + i, to + i + unit);
      }
      // A bool that is neither 0 nor 1 must not exist.
      for (int64_t i = 0; type_ == DT_BOOL && i < length; ++i) {
        to[i] = to[i] != 0;
      }
      to += length;
    }
  }

  DataType type_ = DT_INVALID;

 private:
  bool swap_ = false;
};

class DecodeRawOp : public RawKernel {
 public:
  using RawKernel::RawKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    const absl::Span<const tstring> strings = in.span<tstring>();
    const size_t length = strings.empty() ? 0 : strings[0].size();
    for (size_t i = 0; i < strings.size(); ++i) {
      OP_REQUIRES(ctx, strings[i].size() == length,
                  errors::InvalidArgument(
                      "DecodeRaw requires input strings to all be "
                      "the same size, but element ",
                      i, " has size ", strings[i].size(), " != ", length));
    }
    OP_REQUIRES(ctx, length % DataTypeSize(type_) == 0,
                errors::InvalidArgument("Input to DecodeRaw has length ",
                                        length, " that is not a multiple of ",
                                        DataTypeSize(type_), ", the size of ",
                                        DataTypeString(type_)));
    Decode(ctx, static_cast<int64_t>(length));
  }
};

class DecodePaddedRawOp : public RawKernel {
 public:
  using RawKernel::RawKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& length = ctx->input(1);
    OP_REQUIRES(ctx, length.dims() == 0,
                errors::InvalidArgument("fixed_length must be a scalar, got ",
                                        length.shape().DebugString()));
    const int32_t n = length.scalar<int32_t>();
    OP_REQUIRES(ctx, n > 0,
                errors::InvalidArgument(
                    "fixed_length must be greater than zero, got ", n));
    OP_REQUIRES(ctx, n % DataTypeSize(type_) == 0,
                errors::InvalidArgument(
                    "fixed_length (", n, ") must be a multiple of the size of ",
                    DataTypeString(type_), " (", DataTypeSize(type_), ")"));
    Decode(ctx, n);
  }
};

#define HR_REGISTER_PADDED(T)                                 \
  REGISTER_KERNEL_BUILDER(Name("DecodePaddedRaw")             \
                              .Device(DEVICE_CPU)             \
                              .TypeConstraint<T>("out_type"), \
                          DecodePaddedRawOp);
#define HR_REGISTER(T)                                                    \
  REGISTER_KERNEL_BUILDER(                                                \
      Name("DecodeRaw").Device(DEVICE_CPU).TypeConstraint<T>("out_type"), \
      DecodeRawOp);
#define HR_REGISTER_BOTH(T) HR_REGISTER(T) HR_REGISTER_PADDED(T)
HR_CALL_FLOAT_TYPES(HR_REGISTER_BOTH)
HR_CALL_SIGNED_INT_TYPES(HR_REGISTER_BOTH)
HR_REGISTER_BOTH(uint8_t)
HR_REGISTER_BOTH(uint16_t)
HR_REGISTER(complex64)
HR_REGISTER(complex128)
HR_REGISTER(bool)
#undef HR_REGISTER_BOTH
#undef HR_REGISTER
#undef HR_REGISTER_PADDED

}  // namespace
}  // namespace headrace
