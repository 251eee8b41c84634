// Small ops for functions: a branch's condition as bool, a placeholder for a
// value that a branch lacks, lists of tensors as function arguments, and the
// branch index for the kind of device.
#include <algorithm>
#include <cstring>

#include "kernels/flow/function_call.h"

namespace headrace {
namespace {

class CheapKernel : public OpKernel {
 public:
  explicit CheapKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
};

class ToBoolOp : public CheapKernel {
 public:
  using CheapKernel::CheapKernel;
  void Compute(OpKernelContext* ctx) override {
    bool value;
    OP_REQUIRES_OK(ctx, TensorAsBool(ctx->input(0), &value));
    ctx->set_output(0, Tensor::Scalar<bool>(value));
  }
};
REGISTER_KERNEL_BUILDER(Name("ToBool").Device(DEVICE_CPU), ToBoolOp);

// Nobody reads the value; dims that are not known are 0.
class FakeParamOp : public CheapKernel {
 public:
  explicit FakeParamOp(OpKernelConstruction* ctx) : CheapKernel(ctx) {
    DataType dtype;
    PartialTensorShape partial;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &partial));
    absl::InlinedVector<int64_t, 8> dims;
    for (int i = 0; i < partial.dims(); ++i) {
      dims.push_back(std::max<int64_t>(partial.dim_size(i), 0));
    }
    OP_REQUIRES_OK(ctx, TensorShape::Build(dims, &shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor* out;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape_, &out));
    if (DataTypeCanUseMemcpy(out->dtype()) && out->TotalBytes() > 0) {
      std::memset(out->raw_data(), 0, out->TotalBytes());
    }
  }

 private:
  TensorShape shape_;
};
REGISTER_KERNEL_BUILDER(Name("FakeParam").Device(DEVICE_CPU), FakeParamOp);

// The place of this device's type in device_names; their number if it is not
// among them.
class DeviceIndexOp : public CheapKernel {
 public:
  explicit DeviceIndexOp(OpKernelConstruction* ctx) : CheapKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("device_names", &names_));
  }
  void Compute(OpKernelContext* ctx) override {
    size_t i = 0;
    while (i < names_.size() && names_[i] != ctx->device()->device_type()) ++i;
    ctx->set_output(0, Tensor::Scalar<int32_t>(static_cast<int32_t>(i)));
  }

 private:
  std::vector<std::string> names_;
};
REGISTER_KERNEL_BUILDER(Name("DeviceIndex").Device(DEVICE_CPU), DeviceIndexOp);

class PassListOp : public CheapKernel {
 public:
  explicit PassListOp(OpKernelConstruction* ctx) : CheapKernel(ctx) {
    OP_REQUIRES(
        ctx, ctx->num_inputs() == ctx->num_outputs(),
        errors::InvalidArgument(ctx->num_inputs(), " tensors cannot become ",
                                ctx->num_outputs()));
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES(ctx, ctx->input_type(i) == ctx->output_type(i),
                  errors::InvalidArgument(
                      "tensor ", i, " is ", DataTypeString(ctx->input_type(i)),
                      ", wanted ", DataTypeString(ctx->output_type(i))));
    }
  }
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_inputs(); ++i) {
      ctx->set_output(i, ctx->input(i));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("_ListToArray").Device(DEVICE_CPU), PassListOp);
REGISTER_KERNEL_BUILDER(Name("_ArrayToList").Device(DEVICE_CPU), PassListOp);

}  // namespace
}  // namespace headrace
