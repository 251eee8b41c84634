// DecodeJSONExample: Examples written as JSON, into the bytes of the message.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>

#include <string>

#include "headrace/example.pb.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class DecodeJsonExampleOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, in.shape(), &out));
    for (int64_t i = 0; i < in.NumElements(); ++i) {
      const tstring& json = in.data<tstring>()[i];
      pb::Example example;
      const auto status = google::protobuf::util::JsonStringToMessage(
          std::string(json.data(), json.size()), &example);
      OP_REQUIRES(
          ctx, status.ok(),
          errors::InvalidArgument(
              "Error while parsing JSON: ",
              std::string(status.message().data(), status.message().size())));
      // The order of a map's entries is otherwise up to its hash.
      std::string bytes;
      google::protobuf::io::StringOutputStream stream(&bytes);
      google::protobuf::io::CodedOutputStream coded(&stream);
      coded.SetSerializationDeterministic(true);
      example.SerializeToCodedStream(&coded);
      coded.Trim();
      out->data<tstring>()[i] = bytes;
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("DecodeJSONExample").Device(DEVICE_CPU),
                        DecodeJsonExampleOp);

}  // namespace
}  // namespace headrace
