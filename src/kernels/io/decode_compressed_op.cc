// DecodeCompressed: strings that were packed by zlib ("ZLIB"), gzip ("GZIP")
// or not at all ("").
#include <limits>
#include <memory>
#include <string>

#include "headrace/op_kernel.h"
#include "io/input_stream.h"

namespace headrace {
namespace {

constexpr size_t kMaxUnpacked = std::numeric_limits<int32_t>::max();

Status Unpack(absl::string_view in, Compression compression, std::string* out) {
  out->clear();
  if (in.empty()) return OkStatus();
  HR_ASSIGN_OR_RETURN(std::unique_ptr<InputStream> stream,
                      Inflate(NewStringStream(ToStd(in)), compression));
  char buffer[16384];
  for (size_t got = sizeof(buffer); got != 0;) {
    HR_RETURN_IF_ERROR(stream->Read(buffer, sizeof(buffer), &got));
    out->append(buffer, got);
    if (out->size() > kMaxUnpacked) {
      return errors::ResourceExhausted("compressed string holds more than ",
                                       kMaxUnpacked, " bytes");
    }
  }
  return OkStatus();
}

class DecodeCompressedOp : public OpKernel {
 public:
  explicit DecodeCompressedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string type;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compression_type", &type));
    StatusOr<Compression> compression = ParseCompression(type);
    OP_REQUIRES_OK(ctx, compression.status());
    compression_ = *compression;
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    if (compression_ == Compression::kNone) return ctx->set_output(0, in);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string unpacked;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      OP_REQUIRES_OK(ctx,
                     Unpack(in.data<tstring>()[i], compression_, &unpacked));
      out->data<tstring>()[i] = unpacked;
    }
  }

 private:
  Compression compression_ = Compression::kNone;
};

REGISTER_KERNEL_BUILDER(Name("DecodeCompressed").Device(DEVICE_CPU),
                        DecodeCompressedOp);

}  // namespace
}  // namespace headrace
