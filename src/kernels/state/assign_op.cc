// Assign, AssignAdd, AssignSub on reference variables. The variable keeps its
// buffer whenever the new value has as many elements, because Identity of a
// reference shares that buffer and must see later writes. Assign insists on the
// variable's shape unless validate_shape is false, the first time on the one
// that its node declares; AssignAdd and AssignSub insist on it always. There is
// no broadcasting.
#include "headrace/op_kernel.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

class AssignOp : public OpKernel {
 public:
  explicit AssignOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_shape", &validate_shape_));
    OP_REQUIRES(ctx, IsRefType(ctx->input_type(0)),
                errors::InvalidArgument("lhs input needs to be a ref type"));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input_is_ref(0),
                errors::InvalidArgument(
                    "ref must be a reference to a variable, got a value"));
    const Tensor& rhs = ctx->input(1);
    ctx->forward_ref_input_to_ref_output(0, 0);
    MutexLock lock(ctx->input_ref_mutex(0));
    Tensor* lhs = ctx->params().inputs[0].tensor;
    const bool has_value = lhs->IsInitialized();
    OP_REQUIRES(
        ctx, !validate_shape_ || !HasShape(*lhs) || lhs->shape() == rhs.shape(),
        errors::InvalidArgument(
            "Assign requires shapes of both tensors to match. lhs "
            "shape= ",
            lhs->shape().DebugString(),
            " rhs shape= ", rhs.shape().DebugString()));
    if (!DataTypeCanUseMemcpy(rhs.dtype())) {
      *lhs = rhs;  // never written in place, so it can be shared
      return;
    }
    if (has_value && lhs->dtype() == rhs.dtype() &&
        lhs->NumElements() == rhs.NumElements()) {
      Tensor same;
      OP_REQUIRES(ctx, same.CopyFrom(*lhs, rhs.shape()),
                  errors::Internal("cannot reshape the variable"));
      // The right side may be a read of this very variable.
      if (same.raw_data() != rhs.raw_data()) {
        std::memcpy(same.raw_data(), rhs.raw_data(), rhs.TotalBytes());
      }
      *lhs = std::move(same);
    } else if (!rhs.IsInline() && rhs.OwnsExclusively() &&
               !ctx->input_is_ref(1)) {
      *lhs = rhs;  // a buffer that nobody else can write
    } else {
      Tensor copy;
      OP_REQUIRES_OK(ctx, rhs.DeepCopyTo(&copy, Tensor::kHeap));
      *lhs = std::move(copy);
    }
  }

 private:
  bool validate_shape_ = true;
};
REGISTER_KERNEL_BUILDER(Name("Assign").Device(DEVICE_CPU), AssignOp);

template <typename T, UpdateOp op>
class AssignUpdateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, DataTypeToEnum<T>::value));
    Tensor* var = writer.tensor(0);
    const Tensor& value = ctx->input(1);
    OP_REQUIRES(ctx, var->shape() == value.shape(),
                errors::InvalidArgument(
                    "Parameters and update must be the same size: the variable "
                    "is ",
                    var->shape().DebugString(), ", the update ",
                    value.shape().DebugString()));
    OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
    T* dst = var->data<T>();
    const T* src = value.data<T>();
    ctx->ParallelFor(
        var->NumElements(), sizeof(T) * 0.1, [=](int64_t begin, int64_t end) {
          UpdateRange<op, T>(dst + begin, src + begin, end - begin, false);
        });
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }
};
#define REGISTER(T)                                                \
  REGISTER_KERNEL_BUILDER(                                         \
      Name("AssignAdd").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      AssignUpdateOp<T, UpdateOp::kAdd>);                          \
  REGISTER_KERNEL_BUILDER(                                         \
      Name("AssignSub").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      AssignUpdateOp<T, UpdateOp::kSub>);                          \
  REGISTER_KERNEL_BUILDER(Name("AssignAddVariableOp")              \
                              .Device(DEVICE_CPU)                  \
                              .TypeConstraint<T>("dtype"),         \
                          AssignUpdateOp<T, UpdateOp::kAdd>);      \
  REGISTER_KERNEL_BUILDER(Name("AssignSubVariableOp")              \
                              .Device(DEVICE_CPU)                  \
                              .TypeConstraint<T>("dtype"),         \
                          AssignUpdateOp<T, UpdateOp::kSub>);
HR_CALL_NUMBER_TYPES(REGISTER)
#undef REGISTER

}  // namespace
}  // namespace headrace
