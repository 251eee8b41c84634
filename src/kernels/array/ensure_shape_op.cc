// EnsureShape: its input, if the shape is compatible with the attr.
#include <string>

#include "headrace/op_kernel.h"

namespace headrace {
namespace {

class EnsureShapeOp : public OpKernel {
 public:
  explicit EnsureShapeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    const TensorShape& in = ctx->input(0).shape();
    OP_REQUIRES(
        ctx, shape_.IsCompatibleWith(in),
        errors::InvalidArgument(
            "Shape of tensor ",
            def().inputs.empty() ? std::string("input") : def().inputs[0], " ",
            in.DebugString(),
            " is not compatible with expected "
            "shape ",
            shape_.DebugString(), "."));
    ctx->set_output(0, ctx->input(0));
  }

 private:
  PartialTensorShape shape_;
};
REGISTER_KERNEL_BUILDER(Name("EnsureShape").Device(DEVICE_CPU), EnsureShapeOp);

}  // namespace
}  // namespace headrace
