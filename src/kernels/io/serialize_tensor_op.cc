// SerializeTensor and ParseTensor: a tensor as the bytes of a TensorProto.
#include <limits>
#include <string>

#include "framework/op/tensor_proto.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class SerializeTensorOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    pb::TensorProto proto;
    TensorToProto(in, &proto);
    std::string bytes;
    OP_REQUIRES(ctx,
                proto.ByteSizeLong() <= std::numeric_limits<int32_t>::max() &&
                    proto.SerializeToString(&bytes),
                errors::InvalidArgument(
                    "a tensor of shape ", in.shape().DebugString(),
                    " cannot be serialized: a message has less than 2 GiB"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape(), &out));
    out->scalar<tstring>() = bytes;
  }
};

class ParseTensorOp : public OpKernel {
 public:
  explicit ParseTensorOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("out_type", &type_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, in.dims() == 0,
                errors::InvalidArgument(
                    "Expected `serialized` to be a scalar, got shape: ",
                    in.shape().DebugString()));
    const tstring& bytes = in.scalar<tstring>();
    pb::TensorProto proto;
    OP_REQUIRES(
        ctx,
        bytes.size() <= std::numeric_limits<int32_t>::max() &&
            proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
        errors::InvalidArgument(
            "Could not parse `serialized` as TensorProto, bytes: ",
            bytes.size()));
    OP_REQUIRES(ctx, static_cast<DataType>(proto.dtype()) == type_,
                errors::InvalidArgument(
                    "Type mismatch between parsed tensor (",
                    DataTypeString(static_cast<DataType>(proto.dtype())),
                    ") and dtype (", DataTypeString(type_), ")"));
    Tensor out;
    OP_REQUIRES_OK(ctx, TensorFromProto(proto, &out));
    ctx->set_output(0, out);
  }

 private:
  DataType type_ = DT_INVALID;
};

#define HR_REGISTER(T)                                                   \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("SerializeTensor").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      SerializeTensorOp);
HR_CALL_POD_TYPES(HR_REGISTER)
HR_CALL_QUANTIZED_TYPES(HR_REGISTER)
HR_REGISTER(tstring)
#undef HR_REGISTER
REGISTER_KERNEL_BUILDER(Name("ParseTensor").Device(DEVICE_CPU), ParseTensorOp);

}  // namespace
}  // namespace headrace
