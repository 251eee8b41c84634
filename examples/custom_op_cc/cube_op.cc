// An op of one's own, with kernels and a gradient, in a library: TF_LoadLibrary
// makes the op known; a C++ program may also be linked with it.
#include "headrace/gradients.h"
#include "headrace/op.h"
#include "headrace/op_kernel.h"

namespace headrace {

REGISTER_OP("Cube")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .KeepsShape()
    .Elementwise();

template <typename T>
class CubeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      const T v = x.data<T>()[i];
      y->data<T>()[i] = v * v * v;
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("Cube").Device(DEVICE_CPU).TypeConstraint<float>("T"), CubeOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("Cube").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    CubeOp<double>);

REGISTER_GRADIENT("Cube", [](GradientContext& g) {
  g.SetDx(0, g.x() * g.x() * 3 * g.dy());
});

}  // namespace headrace
