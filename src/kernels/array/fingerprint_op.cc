// Fingerprint: 64 bits, as 8 bytes with the lowest first, for each row of the
// data. A row of strings that is more than one string is the fingerprint of its
// strings' fingerprints, so that ["a", "bc"] and ["ab", "c"] differ.
#include <string>

#include "base/fingerprint.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

void Put(uint64_t v, char* to) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(v >> 8 * i);
}

class FingerprintOp : public OpKernel {
 public:
  explicit FingerprintOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES(
        ctx,
        ctx->input_type(0) == DT_STRING ||
            DataTypeCanUseMemcpy(ctx->input_type(0)),
        errors::InvalidArgument("Fingerprint is not supported for data type ",
                                DataTypeString(ctx->input_type(0))));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor &data = ctx->input(0), &method = ctx->input(1);
    OP_REQUIRES(ctx, method.dims() == 0,
                errors::InvalidArgument("`method` should be a scalar string: ",
                                        method.shape().DebugString()));
    OP_REQUIRES(
        ctx, absl::string_view(method.scalar<tstring>()) == "farmhash64",
        errors::InvalidArgument("Unsupported fingerprint method: ",
                                absl::string_view(method.scalar<tstring>())));
    OP_REQUIRES(ctx, data.dims() >= 1,
                errors::InvalidArgument("`data` should have at least one "
                                        "dimension: ",
                                        data.shape().DebugString()));
    const int64_t rows = data.dim_size(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({rows, 8}), &out));
    auto* to = static_cast<char*>(out->raw_data());
    const int64_t inner = rows == 0 ? 0 : data.NumElements() / rows;
    if (data.dtype() == DT_STRING) {
      std::string row;
      for (int64_t i = 0; i < rows; ++i) {
        const tstring* s = data.data<tstring>() + i * inner;
        if (data.dims() == 1) {
          Put(Fingerprint64(ToStd(*s)), to + 8 * i);
          continue;
        }
        row.resize(8 * inner);
        for (int64_t k = 0; k < inner; ++k) {
          Put(Fingerprint64(ToStd(s[k])), row.data() + 8 * k);
        }
        Put(Fingerprint64(row), to + 8 * i);
      }
      return;
    }
    const int64_t bytes = inner * DataTypeSize(data.dtype());
    for (int64_t i = 0; i < rows; ++i) {
      Put(Fingerprint64(ToStd(data.tensor_data().substr(i * bytes, bytes))),
          to + 8 * i);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("Fingerprint").Device(DEVICE_CPU), FingerprintOp);

}  // namespace
}  // namespace headrace
