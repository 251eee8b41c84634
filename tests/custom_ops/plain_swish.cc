// A library that adds an activation with a kernel of its own, and registers no
// loops: fused nodes cannot run it. src/c_api/custom_op_test.cc loads it.
#include "headrace/op.h"
#include "headrace/op_kernel.h"

namespace headrace {
namespace {

REGISTER_OP("TestPlainSwish")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: {float, double}")
    .KeepsShape()
    .Elementwise()
    .Activation(ActivationFunction());

template <typename T>
class PlainSwishOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    const Tensor& x = ctx->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, x.shape(), &y));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      const T v = x.data<T>()[i];
      y->data<T>()[i] = v < T(0) ? v / T(8) : v;
    }
  }
};
REGISTER_KERNEL_BUILDER(
    Name("TestPlainSwish").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    PlainSwishOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("TestPlainSwish").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    PlainSwishOp<double>);

}  // namespace
}  // namespace headrace
