#include "headrace/op_kernel.h"
#include "kernels/array/columns.h"

namespace headrace {
namespace {

class UnpackOp : public OpKernel {
 public:
  explicit UnpackOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("axis", &axis_));
  }
  void Compute(OpKernelContext* ctx) override {
    const Tensor& in = ctx->input(0);
    OP_REQUIRES(ctx, -in.dims() <= axis_ && axis_ < in.dims(),
                errors::InvalidArgument("axis = ", axis_, " not in [",
                                        -in.dims(), ", ", in.dims(), ")"));
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + in.dims() : axis_);
    const int64_t n = ctx->num_outputs();
    OP_REQUIRES(
        ctx, in.dim_size(axis) == n,
        errors::InvalidArgument("Input shape axis ", axis, " must equal ", n,
                                ", got shape ", in.shape().DebugString()));
    SplitColumns(ctx, in, axis, DimVector(n, 1), true);
  }

 private:
  int64_t axis_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("Unpack").Device(DEVICE_CPU), UnpackOp);

}  // namespace
}  // namespace headrace
