// Scatter{Update,Add,Sub,Mul,Div,Min,Max} on references and resources: row
// indices[i] of the variable is combined with row i of updates, in the order of
// i, so duplicates accumulate and the last update wins. Updates may be a
// scalar. Every index is checked before anything is written.
#include "framework/op_kernel.h"
#include "framework/resource_handle.h"
#include "framework/variant.h"
#include "kernels/scalar_update.h"
#include "kernels/scatter_indices.h"
#include "kernels/variable_access.h"

namespace headrace {
namespace {

Status CheckShapes(const Tensor& params, const Tensor& indices,
                   const Tensor& updates) {
  if (params.dims() < 1) {
    return errors::InvalidArgument("params must be at least 1-D, got shape ",
                                   params.shape().DebugString());
  }
  if (updates.dims() == 0) return OkStatus();
  TensorShape want = indices.shape();
  for (int d = 1; d < params.dims(); ++d) want.AddDim(params.dim_size(d));
  if (updates.shape() != want) {
    return errors::InvalidArgument(
        "Must have updates.shape = indices.shape + params.shape[1:] or "
        "updates.shape = [], got updates.shape ",
        updates.shape().DebugString(), ", indices.shape ",
        indices.shape().DebugString(), ", params.shape ",
        params.shape().DebugString());
  }
  return OkStatus();
}

template <typename Index>
Status CheckIndices(const Tensor& indices, int64_t limit) {
  const Index* at = indices.data<Index>();
  for (int64_t i = 0; i < indices.NumElements(); ++i) {
    if (at[i] < 0 || at[i] >= limit) {
      return errors::InvalidArgument("indices", IndexString(indices.shape(), i),
                                     " = ", at[i], " is not in [0, ", limit,
                                     ")");
    }
  }
  return OkStatus();
}

template <typename T, typename Index, UpdateOp op>
void ScatterRows(T* params, int64_t row, const Tensor& indices,
                 const Tensor& updates) {
  const Index* at = indices.data<Index>();
  const T* src = updates.data<T>();
  const bool scalar = updates.dims() == 0;
  for (int64_t i = 0; i < indices.NumElements(); ++i) {
    UpdateRange<op, T>(params + at[i] * row, scalar ? src : src + i * row, row,
                       scalar);
  }
}

template <typename T, UpdateOp op>
class ScatterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, DataTypeToEnum<T>::value));
    Tensor* params = writer.tensor(0);
    const Tensor& indices = ctx->input(1);
    const Tensor& updates = ctx->input(2);
    OP_REQUIRES_OK(ctx, CheckShapes(*params, indices, updates));
    const int64_t rows = params->dim_size(0);
    const bool narrow = indices.dtype() == DT_INT32;
    OP_REQUIRES_OK(ctx, narrow ? CheckIndices<int32_t>(indices, rows)
                               : CheckIndices<int64_t>(indices, rows));
    if constexpr (op == UpdateOp::kDiv) {
      OP_REQUIRES(ctx, !HasZero(updates.data<T>(), updates.NumElements()),
                  errors::InvalidArgument("Integer division by zero"));
    }
    OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
    const int64_t row = params->shape().ProductOf(1, params->dims());
    if (narrow) {
      ScatterRows<T, int32_t, op>(params->data<T>(), row, indices, updates);
    } else {
      ScatterRows<T, int64_t, op>(params->data<T>(), row, indices, updates);
    }
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }
};

#define REGISTER(NAME, OP, T)                                         \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("Scatter" NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      ScatterOp<T, OP>);                                              \
  REGISTER_KERNEL_BUILDER(Name("ResourceScatter" NAME)                \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("dtype"),            \
                          ScatterOp<T, OP>)
#define REGISTER_UPDATE(T) REGISTER("Update", UpdateOp::kAssign, T);
#define REGISTER_ARITHMETIC(T)        \
  REGISTER("Add", UpdateOp::kAdd, T); \
  REGISTER("Sub", UpdateOp::kSub, T); \
  REGISTER("Mul", UpdateOp::kMul, T); \
  REGISTER("Div", UpdateOp::kDiv, T);
#define REGISTER_MIN_MAX(T)           \
  REGISTER("Min", UpdateOp::kMin, T); \
  REGISTER("Max", UpdateOp::kMax, T);
HR_CALL_ALL_TYPES(REGISTER_UPDATE)
HR_CALL_NUMBER_TYPES(REGISTER_ARITHMETIC)
HR_CALL_REAL_NUMBER_TYPES(REGISTER_MIN_MAX)
#undef REGISTER
#undef REGISTER_UPDATE
#undef REGISTER_ARITHMETIC
#undef REGISTER_MIN_MAX

}  // namespace
}  // namespace headrace
