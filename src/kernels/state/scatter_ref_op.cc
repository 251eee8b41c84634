// Scatter{Update,Add,Sub,Mul,Div,Min,Max} on references and resources: row
// indices[i] of the variable is combined with row i of updates, in the order of
// i, so duplicates accumulate and the last update wins. Updates may be a
// scalar. Every index is checked before anything is written.
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/scatter_indices.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

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

// The indices are those of rows of params.
template <typename T, UpdateOp op>
Status UpdateRows(const Tensor& indices, const Tensor& updates,
                  Tensor* params) {
  const T* src = updates.data<T>();
  if constexpr (op == UpdateOp::kDiv) {
    if (HasZero(src, updates.NumElements())) {
      return errors::InvalidArgument("Integer division by zero");
    }
  }
  T* dst = params->data<T>();
  const bool narrow = indices.dtype() == DT_INT32;
  const int32_t* at32 = narrow ? indices.data<int32_t>() : nullptr;
  const int64_t* at64 = narrow ? nullptr : indices.data<int64_t>();
  const int64_t row = params->shape().ProductOf(1, params->dims());
  const bool scalar = updates.dims() == 0;
  for (int64_t i = 0; i < indices.NumElements(); ++i) {
    const int64_t at = narrow ? at32[i] : at64[i];
    UpdateRange<op, T>(dst + at * row, scalar ? src : src + i * row, row,
                       scalar);
  }
  return OkStatus();
}

class ScatterOp : public OpKernel {
 public:
  using UpdateFn = Status (*)(const Tensor& indices, const Tensor& updates,
                              Tensor* params);

  ScatterOp(OpKernelConstruction* ctx, DataType dtype, UpdateFn update)
      : OpKernel(ctx), dtype_(dtype), update_(update) {}

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, dtype_));
    const Tensor& indices = ctx->input(1);
    const Tensor& updates = ctx->input(2);
    const Tensor& params = *writer.tensor(0);
    OP_REQUIRES_OK(ctx, CheckScatterRows(params.shape(), indices.shape(),
                                         updates.shape()));
    const int64_t rows = params.dim_size(0);
    OP_REQUIRES_OK(ctx, indices.dtype() == DT_INT32
                            ? CheckIndices<int32_t>(indices, rows)
                            : CheckIndices<int64_t>(indices, rows));
    OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
    OP_REQUIRES_OK(ctx, update_(indices, updates, writer.tensor(0)));
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  const DataType dtype_;
  const UpdateFn update_;
};

template <typename T, UpdateOp op>
class TypedScatterOp : public ScatterOp {
 public:
  explicit TypedScatterOp(OpKernelConstruction* ctx)
      : ScatterOp(ctx, DataTypeToEnum<T>::value, UpdateRows<T, op>) {}
};

#define REGISTER(NAME, OP, T)                                         \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("Scatter" NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      TypedScatterOp<T, OP>);                                         \
  REGISTER_KERNEL_BUILDER(Name("ResourceScatter" NAME)                \
                              .Device(DEVICE_CPU)                     \
                              .TypeConstraint<T>("dtype"),            \
                          TypedScatterOp<T, OP>)
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
