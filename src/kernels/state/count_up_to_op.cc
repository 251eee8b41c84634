// CountUpTo and ResourceCountUpTo: the value before it is increased by one;
// OutOfRange once `limit` is reached.
#include "headrace/op_kernel.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

template <typename T>
class CountUpToOp : public OpKernel {
 public:
  explicit CountUpToOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("limit", &limit_));
  }

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, DataTypeToEnum<T>::value));
    Tensor* var = writer.tensor(0);
    OP_REQUIRES(ctx, var->dims() == 0,
                errors::InvalidArgument("input is not a scalar: ",
                                        var->shape().DebugString()));
    const T before = var->scalar<T>();
    OP_REQUIRES(ctx, before < limit_,
                errors::OutOfRange("Reached limit of ", limit_));
    OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
    ++var->scalar<T>();
    ctx->set_output(0, Tensor::Scalar<T>(before));
  }

 private:
  int64_t limit_ = 0;
};
#define REGISTER(T)                                                        \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("CountUpTo").Device(DEVICE_CPU).TypeConstraint<T>("T"),         \
      CountUpToOp<T>);                                                     \
  REGISTER_KERNEL_BUILDER(                                                 \
      Name("ResourceCountUpTo").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      CountUpToOp<T>)
REGISTER(int32_t);
REGISTER(int64_t);
#undef REGISTER

}  // namespace
}  // namespace headrace
