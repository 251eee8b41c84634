// _FusedAssign: Assign, AssignAdd or AssignSub of what a chain of element-wise
// ops gives (kernels/lib/elementwise_chain.h). Blocks go from the operands
// straight into the variable: no tensor holds the value.
//
// Operands may be the variable itself, since element i depends on elements i
// alone. An operand that is another part of its bytes (a row of it) would be
// overwritten before it was read; the value is then computed ahead.
#include <algorithm>
#include <string>
#include <vector>

#include "headrace/op_kernel.h"
#include "kernels/lib/elementwise_chain.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

constexpr int kFirstArg = 2;

template <typename T>
class FusedAssignOp : public OpKernel {
 public:
  explicit FusedAssignOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::string update;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("update", &update));
    update_ = update == "AssignAdd"   ? UpdateOp::kAdd
              : update == "AssignSub" ? UpdateOp::kSub
                                      : UpdateOp::kAssign;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_shape", &validate_shape_));
    OP_REQUIRES(ctx, IsRefType(ctx->input_type(0)),
                errors::InvalidArgument("ref must be of a reference type"));
    OP_REQUIRES_OK(ctx, chain_.Init(ctx, DataTypeToEnum<T>::value,
                                    num_inputs() - kFirstArg));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input_is_ref(0),
                errors::InvalidArgument(
                    "ref must be a reference to a variable, got a value"));
    for (int i = 1; i < num_inputs(); ++i) {
      OP_REQUIRES(ctx, ctx->input(i).IsInitialized(),
                  UninitializedError(*ctx, i));
    }
    const Tensor& x = ctx->input(1);
    std::vector<ElementwiseChain::Arg> args;
    Tensor laid_out;
    OP_REQUIRES_OK(ctx, chain_.FindArgs(ctx, x, kFirstArg, &args, &laid_out));
    ctx->forward_ref_input_to_ref_output(0, 0);
    MutexLock lock(ctx->input_ref_mutex(0));
    Tensor* const var = ctx->params().inputs[0].tensor;
    OP_REQUIRES(ctx, update_ == UpdateOp::kAssign || var->IsInitialized(),
                UninitializedError(*ctx, 0));
    OP_REQUIRES(
        ctx,
        (update_ == UpdateOp::kAssign &&
         (!validate_shape_ || !HasShape(*var))) ||
            var->shape() == x.shape(),
        update_ == UpdateOp::kAssign
            ? errors::InvalidArgument("Assign requires shapes of both tensors "
                                      "to match. lhs shape= ",
                                      var->shape().DebugString(),
                                      " rhs shape= ", x.shape().DebugString())
            : errors::InvalidArgument(
                  "Parameters and update must be the same size: the variable "
                  "is ",
                  var->shape().DebugString(), ", the update ",
                  x.shape().DebugString()));
    const bool in_place = var->IsInitialized() &&
                          var->dtype() == DataTypeToEnum<T>::value &&
                          var->shape() == x.shape();
    if (in_place && !OverlapsElsewhere(ctx, *var)) {
      Run(ctx, x, args, update_, var->data<T>());
      return;
    }
    OP_REQUIRES(ctx, update_ == UpdateOp::kAssign || in_place,
                errors::InvalidArgument(
                    "the variable is of type ", DataTypeString(var->dtype()),
                    ", wanted ", DataTypeString(DataTypeToEnum<T>::value)));
    Tensor value;
    OP_REQUIRES_OK(ctx,
                   Tensor::Allocate(CpuAllocator(), DataTypeToEnum<T>::value,
                                    x.shape(), &value, Tensor::kHeap));
    Run(ctx, x, args, UpdateOp::kAssign, value.data<T>());
    if (!ctx->status().ok()) return;
    if (!in_place) {
      *var = std::move(value);
      return;
    }
    Update(update_, value.data<T>(), value.NumElements(), var->data<T>());
  }

 private:
  // True if an operand has bytes of `var`, but not the same for each element.
  static bool OverlapsElsewhere(OpKernelContext* ctx, const Tensor& var) {
    const char* const begin = static_cast<const char*>(var.raw_data());
    const char* const end = begin + var.TotalBytes();
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      const Tensor& t = ctx->input(i);
      const char* const from = static_cast<const char*>(t.raw_data());
      const bool same = from == begin && t.NumElements() == var.NumElements();
      if (!same && from < end && begin < from + t.TotalBytes()) return true;
    }
    return false;
  }

  static void Update(UpdateOp op, const T* from, int64_t n, T* to) {
    if (op == UpdateOp::kAssign) {
      UpdateRange<UpdateOp::kAssign, T>(to, from, n, false);
    } else if (op == UpdateOp::kAdd) {
      UpdateRange<UpdateOp::kAdd, T>(to, from, n, false);
    } else {
      UpdateRange<UpdateOp::kSub, T>(to, from, n, false);
    }
  }

  void Run(OpKernelContext* ctx, const Tensor& x,
           absl::Span<const ElementwiseChain::Arg> args, UpdateOp op, T* to) {
    const T* const from = x.data<T>();
    ElementwiseState state;
    ctx->ParallelFor(x.NumElements(), chain_.cost() + sizeof(T) * 0.1,
                     [&](int64_t begin, int64_t end) {
                       constexpr int64_t kBlock = ElementwiseChain::kBlock;
                       alignas(64) T block[kBlock];
                       for (int64_t i = begin; i < end; i += kBlock) {
                         const int64_t n = std::min(kBlock, end - i);
                         char* const y = reinterpret_cast<char*>(block);
                         chain_.RunBlock(
                             reinterpret_cast<const char*>(from + i), y, args,
                             i, n, &state);
                         Update(op, block, n, to + i);
                       }
                     });
    if (state.failed) ctx->SetStatus(chain_.Error());
  }

  ElementwiseChain chain_;
  UpdateOp update_ = UpdateOp::kAssign;
  bool validate_shape_ = true;
};
REGISTER_KERNEL_BUILDER(
    Name("_FusedAssign").Device(DEVICE_CPU).TypeConstraint<float>("T"),
    FusedAssignOp<float>);
REGISTER_KERNEL_BUILDER(
    Name("_FusedAssign").Device(DEVICE_CPU).TypeConstraint<double>("T"),
    FusedAssignOp<double>);

}  // namespace
}  // namespace headrace
