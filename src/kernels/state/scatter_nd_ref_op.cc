// ScatterNd{Update,Add,Sub,Min,Max} on references and resources. The last
// dimension of indices holds coordinates into the first dimensions of the
// variable; each names a slice that is combined with the matching slice of
// updates, in order. All indices are checked before anything is written,
// unless bad_indices_policy is IGNORE: then bad ones are skipped.
#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"
#include "headrace/resource_handle.h"
#include "kernels/lib/scalar_update.h"
#include "kernels/lib/scatter_indices.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

// The slices to write: which ones, -1 for one to skip, and how large.
struct Slices {
  int64_t size = 1;
  std::vector<int64_t> at;
};

Status Check(const TensorShape& params, const Tensor& indices,
             const Tensor& updates, bool skip_bad, Slices* out) {
  HR_RETURN_IF_ERROR(
      CheckScatterNd(params, "params", indices.shape(), updates.shape()));
  // Also bounds the loop below: with depth 0 there may be any number of slices.
  if (updates.NumElements() == 0 && indices.NumElements() == 0) {
    return OkStatus();
  }
  const int64_t depth = indices.dim_size(indices.dims() - 1);
  out->size = params.ProductOf(static_cast<int>(depth), params.dims());
  return SliceIndices(indices, params, "shape", skip_bad, &out->at);
}

template <typename T, UpdateOp op>
void UpdateSlices(const Slices& slices, const Tensor& updates, Tensor* params) {
  T* dst = params->data<T>();
  const T* src = updates.data<T>();
  for (const int64_t at : slices.at) {
    if (at >= 0) {
      UpdateRange<op, T>(dst + at * slices.size, src, slices.size, false);
    }
    src += slices.size;
  }
}

class ScatterNdVariableOp : public OpKernel {
 public:
  using UpdateFn = void (*)(const Slices& slices, const Tensor& updates,
                            Tensor* params);

  ScatterNdVariableOp(OpKernelConstruction* ctx, DataType dtype,
                      UpdateFn update)
      : OpKernel(ctx), dtype_(dtype), update_(update) {
    OP_REQUIRES_OK(ctx, GetIgnoreBadIndices(ctx, &skip_bad_));
  }

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, dtype_));
    const Tensor& updates = ctx->input(2);
    Slices slices;
    OP_REQUIRES_OK(ctx, Check(writer.tensor(0)->shape(), ctx->input(1), updates,
                              skip_bad_, &slices));
    OP_REQUIRES_OK(ctx, writer.PrepareToWrite(0));
    update_(slices, updates, writer.tensor(0));
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  const DataType dtype_;
  const UpdateFn update_;
  bool skip_bad_ = false;
};

template <typename T, UpdateOp op>
class TypedScatterNdVariableOp : public ScatterNdVariableOp {
 public:
  explicit TypedScatterNdVariableOp(OpKernelConstruction* ctx)
      : ScatterNdVariableOp(ctx, DataTypeToEnum<T>::value,
                            UpdateSlices<T, op>) {}
};

#define REGISTER_RESOURCE(NAME, OP, T)                   \
  REGISTER_KERNEL_BUILDER(Name("ResourceScatterNd" NAME) \
                              .Device(DEVICE_CPU)        \
                              .TypeConstraint<T>("T"),   \
                          TypedScatterNdVariableOp<T, OP>)
#define REGISTER(NAME, OP, T)                                           \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("ScatterNd" NAME).Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      TypedScatterNdVariableOp<T, OP>);                                 \
  REGISTER_RESOURCE(NAME, OP, T)
#define REGISTER_UPDATE(T) REGISTER("Update", UpdateOp::kAssign, T);
#define REGISTER_ARITHMETIC(T)        \
  REGISTER("Add", UpdateOp::kAdd, T); \
  REGISTER("Sub", UpdateOp::kSub, T);
#define REGISTER_MIN_MAX(T)           \
  REGISTER("Min", UpdateOp::kMin, T); \
  REGISTER("Max", UpdateOp::kMax, T);
HR_CALL_ALL_TYPES(REGISTER_UPDATE)
HR_CALL_NUMBER_TYPES(REGISTER_ARITHMETIC)
HR_CALL_REAL_NUMBER_TYPES(REGISTER_MIN_MAX)
REGISTER_RESOURCE("Add", UpdateOp::kAdd, bool);
REGISTER_RESOURCE("Sub", UpdateOp::kSub, bool);
#undef REGISTER
#undef REGISTER_RESOURCE
#undef REGISTER_UPDATE
#undef REGISTER_ARITHMETIC
#undef REGISTER_MIN_MAX

}  // namespace
}  // namespace headrace
