// Const: a tensor that never changes. The executor takes const_tensor() and
// does not call Compute. Also the placeholders, which compute only when nobody
// fed them: that is the user's error, and the message is what he looks for.
#include "base/error_cause.h"
#include "framework/tensor/stored_constant.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class ConstOp : public OpKernel, public StoredConstant {
 public:
  explicit ConstOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("value", &value_));
    OP_REQUIRES(ctx, value_.dtype() == ctx->output_type(0),
                errors::InvalidArgument("Const: value is of type ",
                                        DataTypeString(value_.dtype()),
                                        ", which is different from dtype ",
                                        DataTypeString(ctx->output_type(0))));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor* value = nullptr;
    OP_REQUIRES_OK(ctx, aligned_.Get(value_, &value));
    ctx->set_output(0, *value);
  }
  // Null if there is no memory for an aligned copy; Compute then says so.
  const Tensor* const_tensor() const override {
    const Tensor* value = nullptr;
    return aligned_.Get(value_, &value).ok() ? value : nullptr;
  }
  const Tensor& stored_tensor() const override { return value_; }

 protected:
  void DescribeTraits(KernelTraits* traits) override {
    traits->stored_constant = this;
  }

 private:
  Tensor value_;
  AlignedCopy aligned_;
};
REGISTER_KERNEL_BUILDER(Name("Const").Device(DEVICE_CPU), ConstOp);

class PlaceholderOp : public OpKernel {
 public:
  explicit PlaceholderOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->SetStatus(WithCause(
        errors::InvalidArgument(
            "You must feed a value for placeholder tensor '", name(),
            "' with dtype ", DataTypeString(output_type(0)),
            shape_.dims() > 0 ? " and shape " + shape_.DebugString() : ""),
        ErrorCause::kNoFeed));
  }

 private:
  PartialTensorShape shape_;
};
REGISTER_KERNEL_BUILDER(Name("Placeholder").Device(DEVICE_CPU), PlaceholderOp);
REGISTER_KERNEL_BUILDER(Name("PlaceholderV2").Device(DEVICE_CPU),
                        PlaceholderOp);

}  // namespace
}  // namespace headrace
