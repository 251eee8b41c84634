// DecodeCompressed: strings that were packed by zlib ("ZLIB"), gzip ("GZIP")
// or not at all ("").
#ifdef HEADRACE_HAVE_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <limits>
#include <string>

#include "framework/op_kernel.h"

namespace headrace {
namespace {

#ifdef HEADRACE_HAVE_ZLIB
constexpr size_t kMaxUnpacked = std::numeric_limits<int32_t>::max();

Status Inflate(absl::string_view in, bool gzip, std::string* out) {
  out->clear();
  if (in.empty()) return OkStatus();
  z_stream z{};
  constexpr int kWindowBits = 15, kGzip = 16;
  if (inflateInit2(&z, kWindowBits + (gzip ? kGzip : 0)) != Z_OK) {
    return errors::ResourceExhausted("zlib cannot start");
  }
  int status = Z_OK;
  size_t at = 0;
  while (status == Z_OK) {
    char buffer[16384];
    if (z.avail_in == 0) {
      const size_t n = std::min<size_t>(in.size() - at, 1u << 30);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + at));
      z.avail_in = static_cast<uInt>(n);
      at += n;
    }
    z.next_out = reinterpret_cast<Bytef*>(buffer);
    z.avail_out = sizeof(buffer);
    status = inflate(&z, Z_NO_FLUSH);  // Z_BUF_ERROR: the input is cut off
    out->append(buffer, sizeof(buffer) - z.avail_out);
    if (out->size() > kMaxUnpacked) break;
  }
  const std::string why = z.msg != nullptr ? z.msg : "it is cut off";
  inflateEnd(&z);
  if (out->size() > kMaxUnpacked) {
    return errors::ResourceExhausted("compressed string holds more than ",
                                     kMaxUnpacked, " bytes");
  }
  if (status != Z_STREAM_END) {
    return errors::DataLoss("cannot unpack compressed string: ", why);
  }
  return OkStatus();
}
#else
Status Inflate(absl::string_view, bool, std::string*) {
  return errors::Unimplemented("this library was built without zlib");
}
#endif

class DecodeCompressedOp : public OpKernel {
 public:
  explicit DecodeCompressedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compression_type", &type_));
    OP_REQUIRES(
        ctx, type_.empty() || type_ == "ZLIB" || type_ == "GZIP",
        errors::InvalidArgument(
            "Only ZLIB, GZIP or NONE are supported compressions, got ", type_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    if (type_.empty()) return ctx->set_output(0, in);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    std::string unpacked;
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      OP_REQUIRES_OK(
          ctx, Inflate(in.data<tstring>()[i], type_ == "GZIP", &unpacked));
      out->data<tstring>()[i] = unpacked;
    }
  }

 private:
  std::string type_;
};

REGISTER_KERNEL_BUILDER(Name("DecodeCompressed").Device(DEVICE_CPU),
                        DecodeCompressedOp);

}  // namespace
}  // namespace headrace
