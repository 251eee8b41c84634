// Variables on a GPU: the handles and mutexes are the host's, the tensors lie
// on the device. AssignVariableOp, ReadVariableOp, AssignAdd and AssignSub in
// both forms, Assign, Scatter* of both forms; and the optimizers' updates, of
// all elements or of some rows, each in one pass.
//
// A resource variable whose buffer others hold is copied before it is written,
// on the device.
#include <string>
#include <utility>
#include <vector>

#include "framework/kernel/resource_var.h"
#include "kernels/gpu/gpu_op.h"
#include "kernels/gpu/layout_functors.h"
#include "kernels/gpu/rows.h"
#include "kernels/gpu/update_functors.h"
#include "kernels/lib/scatter_indices.h"
#include "kernels/lib/variable_access.h"

namespace headrace::gpu {
namespace {

// A copy of `from` with a buffer of its own, never inside the Tensor.
Status CopyTensor(OpKernelContext* ctx, const Tensor& from, Tensor* to) {
  Tensor made;
  HR_RETURN_IF_ERROR(AllocateScratch(ctx, from.dtype(), from.shape(), &made));
  if (from.TotalBytes() > 0) {
    HR_RETURN_IF_ERROR(GpuStream(ctx)->CopyOnDevice(
        DeviceMemoryBase(made), DeviceMemoryBase(from), from.TotalBytes()));
  }
  *to = std::move(made);
  return OkStatus();
}

// As VariableWriter::PrepareToWrite, on the device.
Status PrepareToWrite(OpKernelContext* ctx, VariableWriter* writer, int i) {
  Tensor* t = writer->tensor(i);
  const bool is_ref = IsRefType(ctx->op_kernel().input_type(0));
  if (is_ref || t->OwnsExclusively()) {
    t->AllowWrites();
    return OkStatus();
  }
  return CopyTensor(ctx, *t, t);
}

class AssignVariableOp : public OpKernel {
 public:
  explicit AssignVariableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_shape", &validate_shape_));
  }
  void Compute(OpKernelContext* ctx) override {
    const ResourceHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, HandleInput(*ctx, 0, &handle));
    RefPtr<Var> var;
    OP_REQUIRES_OK(ctx, LookupOrMakeVariable(*ctx, *handle, dtype_, &var));
    // The buffer may be a constant's or a part of a larger one: readers share
    // it, and a writer copies first.
    Tensor value = ctx->input(1);
    MutexLock lock(var->mu());
    OP_REQUIRES(ctx,
                !validate_shape_ || !var->is_initialized() ||
                    var->tensor()->shape() == value.shape(),
                errors::InvalidArgument(
                    "Trying to assign to variable ", handle->name, " of shape ",
                    var->tensor()->shape().DebugString(), " a tensor of shape ",
                    value.shape().DebugString()));
    *var->tensor() = std::move(value);
  }

 private:
  DataType dtype_ = DT_INVALID;
  bool validate_shape_ = false;
};

// Assign to a reference. The variable keeps its buffer if the sizes are equal:
// Identity of a reference shares it and must see later writes.
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
    OP_REQUIRES(
        ctx, !validate_shape_ || !HasShape(*lhs) || lhs->shape() == rhs.shape(),
        errors::InvalidArgument(
            "Assign requires shapes of both tensors to match. lhs "
            "shape= ",
            lhs->shape().DebugString(),
            " rhs shape= ", rhs.shape().DebugString()));
    if (lhs->IsInitialized() && lhs->dtype() == rhs.dtype() &&
        lhs->NumElements() == rhs.NumElements()) {
      Tensor same;
      OP_REQUIRES(ctx, same.CopyFrom(*lhs, rhs.shape()),
                  errors::Internal("cannot reshape the variable"));
      if (same.raw_data() != rhs.raw_data() && rhs.TotalBytes() > 0) {
        OP_REQUIRES_OK(ctx, GpuStream(ctx)->CopyOnDevice(DeviceMemoryBase(same),
                                                         DeviceMemoryBase(rhs),
                                                         rhs.TotalBytes()));
      }
      *lhs = std::move(same);
      return;
    }
    Tensor copy;
    OP_REQUIRES_OK(ctx, CopyTensor(ctx, rhs, &copy));
    *lhs = std::move(copy);
  }

 private:
  bool validate_shape_ = true;
};

template <typename T, bool kSubtract>
class AssignUpdateOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, DataTypeToEnum<T>::value));
    const Tensor& value = ctx->input(1);
    OP_REQUIRES(ctx, writer.tensor(0)->shape() == value.shape(),
                errors::InvalidArgument(
                    "Parameters and update must be the same size: the variable "
                    "is ",
                    writer.tensor(0)->shape().DebugString(), ", the update ",
                    value.shape().DebugString()));
    OP_REQUIRES_OK(ctx, PrepareToWrite(ctx, &writer, 0));
    OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), value.NumElements(),
                                AddTo<Dev<T>, kSubtract>{
                                    Out<T>(writer.tensor(0)), In<T>(value)}));
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }
};

// Scatter* and ResourceScatter*: rows of a variable, in the order of the
// indices.
template <typename T, RowUpdate kUpdate>
class ScatterOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, 1, DataTypeToEnum<T>::value));
    const Tensor &indices = ctx->input(1), &updates = ctx->input(2);
    const TensorShape params = writer.tensor(0)->shape();
    OP_REQUIRES_OK(ctx,
                   CheckScatterRows(params, indices.shape(), updates.shape()));
    const bool scalar = updates.dims() == 0;
    OP_REQUIRES_OK(ctx, PrepareToWrite(ctx, &writer, 0));
    RowIndices rows;
    OP_REQUIRES_OK(ctx,
                   RowsOf(indices, indices.NumElements(), 1, params, &rows));
    OP_REQUIRES_OK(
        ctx,
        ForRows(GpuStream(ctx), rows, params.ProductOf(1, params.dims()),
                CombineRows<Dev<T>>{Out<T>(writer.tensor(0)), In<T>(updates),
                                    scalar ? 0 : 1, kUpdate}));
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }
};

#define HR_REGISTER_UPDATE(NAME, UPDATE, T)                           \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("Scatter" NAME).Device(DEVICE_GPU).TypeConstraint<T>("T"), \
      ScatterOp<T, RowUpdate::UPDATE>);                               \
  REGISTER_KERNEL_BUILDER(Name("ResourceScatter" NAME)                \
                              .Device(DEVICE_GPU)                     \
                              .HostMemory("resource")                 \
                              .TypeConstraint<T>("dtype"),            \
                          ScatterOp<T, RowUpdate::UPDATE>);
#define HR_REGISTER(T)                     \
  HR_REGISTER_UPDATE("Update", kAssign, T) \
  HR_REGISTER_UPDATE("Add", kAdd, T)       \
  HR_REGISTER_UPDATE("Sub", kSub, T)       \
  HR_REGISTER_UPDATE("Mul", kMul, T)       \
  HR_REGISTER_UPDATE("Min", kMin, T)       \
  HR_REGISTER_UPDATE("Max", kMax, T)
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER
// Integers divide on the CPU, which refuses zero.
#define HR_REGISTER(T) HR_REGISTER_UPDATE("Div", kDiv, T)
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_UPDATE

// kSparse: the rows that `indices` names, in order.
template <template <typename> class RuleOf, typename T, bool kSparse = false>
class OptimizerOp : public OpKernel {
 public:
  using F = OptimizerStep<RuleOf, Dev<T>>;
  static constexpr int kVars = F::Rule::kVars;

  explicit OptimizerOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    const OpDef& op = ctx->op_def();
    for (int i = kVars; i < ctx->num_inputs(); ++i) {
      const std::string& name = op.inputs[i].name;
      if (name == "grad" || name == "delta") {
        grad_ = i;
      } else if (kSparse && name == "indices") {
        indices_ = i;
      } else {
        scalars_.push_back(i);
      }
    }
    OP_REQUIRES(ctx,
                grad_ >= 0 && kSparse == (indices_ >= 0) &&
                    scalars_.size() <= static_cast<size_t>(F::kMaxScalars),
                errors::Internal(ctx->def().op, ": not an optimizer's op"));
    for (const auto& [attr, flag] :
         {std::pair("use_nesterov", &flags_.use_nesterov),
          std::pair("update_slots", &flags_.update_slots),
          std::pair("multiply_linear_by_lr", &flags_.multiply_linear_by_lr)}) {
      if (ctx->HasAttr(attr)) OP_REQUIRES_OK(ctx, ctx->GetAttr(attr, flag));
    }
  }

  void Compute(OpKernelContext* ctx) override {
    VariableWriter writer;
    OP_REQUIRES_OK(ctx, writer.Lock(ctx, 0, kVars, DataTypeToEnum<T>::value));
    const TensorShape& shape = writer.tensor(0)->shape();
    for (int i = 1; i < kVars; ++i) {
      OP_REQUIRES(ctx, writer.tensor(i)->shape() == shape,
                  errors::InvalidArgument(
                      "var and slot ", i, " do not have the same shape",
                      shape.DebugString(), " ",
                      writer.tensor(i)->shape().DebugString()));
    }
    F f{};
    f.flags = flags_;
    for (const int i : scalars_) {
      OP_REQUIRES(ctx, ctx->input(i).dims() == 0,
                  errors::InvalidArgument(
                      "input ", i, ", a hyper-parameter, is not a scalar: ",
                      ctx->input(i).shape().DebugString()));
      f.scalar[f.scalars++] = In<T>(ctx->input(i));
    }
    const Tensor& grad = ctx->input(grad_);
    RowIndices rows;
    if (kSparse) {
      OP_REQUIRES_OK(ctx, ReadRows(ctx->input(indices_), shape, grad, &rows));
    } else {
      OP_REQUIRES(ctx, grad.shape() == shape,
                  errors::InvalidArgument(
                      "var and grad do not have the same shape",
                      shape.DebugString(), " ", grad.shape().DebugString()));
    }
    for (int i = 0; i < kVars; ++i) {
      OP_REQUIRES_OK(ctx, PrepareToWrite(ctx, &writer, i));
    }
    for (int i = 0; i < kVars; ++i) f.var[i] = Out<T>(writer.tensor(i));
    f.grad = In<T>(grad);
    if constexpr (kSparse) {
      OP_REQUIRES_OK(ctx, ForRows(GpuStream(ctx), rows,
                                  shape.ProductOf(1, shape.dims()), f));
    } else {
      OP_REQUIRES_OK(ctx, ForEach(GpuStream(ctx), grad.NumElements(), f));
    }
    if (num_outputs() > 0) ctx->forward_ref_input_to_ref_output(0, 0);
  }

 private:
  static Status ReadRows(const Tensor& indices, const TensorShape& var,
                         const Tensor& grad, RowIndices* rows) {
    if (var.dims() < 1 || indices.dims() != 1) {
      return errors::InvalidArgument(
          "var must be at least 1 dimensional and indices a vector, got ",
          var.DebugString(), " and ", indices.shape().DebugString());
    }
    TensorShape want = var;
    want.set_dim(0, indices.dim_size(0));
    if (grad.shape() != want) {
      return errors::InvalidArgument(
          "grad must have one row for each index and the variable's other "
          "dimensions, ",
          want.DebugString(), ", got ", grad.shape().DebugString());
    }
    return RowsOf(indices, indices.NumElements(), 1, var, rows);
  }

  int grad_ = -1, indices_ = -1;
  std::vector<int> scalars_;
  optimizer_rules::OptimizerFlags flags_;
};

// Rows of a variable, without batch dims.
template <typename Index>
class ResourceGatherOp : public OpKernel {
 public:
  explicit ResourceGatherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    int64_t batch_dims = 0;
    if (ctx->HasAttr("batch_dims")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("batch_dims", &batch_dims));
    }
    OP_REQUIRES(ctx, batch_dims == 0,
                errors::Unimplemented("ResourceGather on a GPU: batch_dims "
                                      "must be 0, got ",
                                      batch_dims));
  }
  void Compute(OpKernelContext* ctx) override {
    Tensor params;
    OP_REQUIRES_OK(ctx, ReadVariable(*ctx, 0, output_type(0), &params));
    const Tensor& indices = ctx->input(1);
    OP_REQUIRES(ctx, params.dims() >= 1,
                errors::InvalidArgument("params must be at least 1 "
                                        "dimensional, got a scalar"));
    TensorShape shape = indices.shape();
    for (int i = 1; i < params.dims(); ++i) shape.AddDim(params.dim_size(i));
    OP_REQUIRES(ctx, shape.dims() <= kMaxTensorRank,
                errors::InvalidArgument("the result has too many dimensions"));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    if (out->NumElements() == 0) return;
    OP_REQUIRES_OK(
        ctx, WithWidth(params.dtype(), [&](auto bytes) {
          using E = Element<bytes()>;
          return ForEach(
              GpuStream(ctx), out->NumElements(),
              GatherMove<bytes(), Index>{
                  static_cast<const E*>(params.raw_data()), In<Index>(indices),
                  static_cast<E*>(out->raw_data()), params.dim_size(0),
                  indices.NumElements(),
                  params.shape().ProductOf(1, params.dims())});
        }));
  }
};
#define HR_REGISTER_INDEX(T, INDEX)                               \
  REGISTER_KERNEL_BUILDER(Name("ResourceGather")                  \
                              .Device(DEVICE_GPU)                 \
                              .HostMemory("resource")             \
                              .TypeConstraint<T>("dtype")         \
                              .TypeConstraint<INDEX>("Tindices"), \
                          ResourceGatherOp<INDEX>);
#define HR_REGISTER(T)          \
  HR_REGISTER_INDEX(T, int32_t) \
  HR_REGISTER_INDEX(T, int64_t)
HR_GPU_REAL_TYPES(HR_REGISTER)
#undef HR_REGISTER
#undef HR_REGISTER_INDEX

// What touches no element: the CPU's kernels.
REGISTER_KERNEL_BUILDER(
    Name("VarHandleOp").Device(DEVICE_GPU).HostMemory("resource"), HostKernel);
REGISTER_KERNEL_BUILDER(Name("VarIsInitializedOp")
                            .Device(DEVICE_GPU)
                            .HostMemory("resource")
                            .HostMemory("is_initialized"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(
    Name("DestroyResourceOp").Device(DEVICE_GPU).HostMemory("resource"),
    HostKernel);
REGISTER_KERNEL_BUILDER(Name("VariableShape")
                            .Device(DEVICE_GPU)
                            .HostMemory("input")
                            .HostMemory("output"),
                        HostKernel);
REGISTER_KERNEL_BUILDER(Name("IsVariableInitialized")
                            .Device(DEVICE_GPU)
                            .HostMemory("is_initialized"),
                        HostKernel);

#define HR_REGISTER(T)                                                  \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("Variable").Device(DEVICE_GPU).TypeConstraint<T>("dtype"),   \
      HostKernel);                                                      \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("VariableV2").Device(DEVICE_GPU).TypeConstraint<T>("dtype"), \
      HostKernel);                                                      \
  HR_GPU_KERNEL("Assign", T, AssignOp);                                 \
  REGISTER_KERNEL_BUILDER(Name("ReadVariableOp")                        \
                              .Device(DEVICE_GPU)                       \
                              .TypeConstraint<T>("dtype")               \
                              .HostMemory("resource"),                  \
                          HostKernel);                                  \
  REGISTER_KERNEL_BUILDER(Name("AssignVariableOp")                      \
                              .Device(DEVICE_GPU)                       \
                              .TypeConstraint<T>("dtype")               \
                              .HostMemory("resource"),                  \
                          AssignVariableOp);                            \
  HR_GPU_KERNEL("AssignAdd", T, AssignUpdateOp<T, false>);              \
  HR_GPU_KERNEL("AssignSub", T, AssignUpdateOp<T, true>);               \
  REGISTER_KERNEL_BUILDER(Name("AssignAddVariableOp")                   \
                              .Device(DEVICE_GPU)                       \
                              .TypeConstraint<T>("dtype")               \
                              .HostMemory("resource"),                  \
                          AssignUpdateOp<T, false>);                    \
  REGISTER_KERNEL_BUILDER(Name("AssignSubVariableOp")                   \
                              .Device(DEVICE_GPU)                       \
                              .TypeConstraint<T>("dtype")               \
                              .HostMemory("resource"),                  \
                          AssignUpdateOp<T, true>);
HR_GPU_REAL_TYPES(HR_REGISTER)
HR_REGISTER(int64_t)
#undef HR_REGISTER

#define HR_REGISTER_TYPE(OP, RULE, T) \
  HR_GPU_KERNEL(OP, T, OptimizerOp<optimizer_rules::RULE, T>);
#define HR_REGISTER_REF(RULE)                   \
  HR_REGISTER_TYPE("Apply" #RULE, RULE, float)  \
  HR_REGISTER_TYPE("Apply" #RULE, RULE, double) \
  HR_REGISTER_TYPE("Apply" #RULE, RULE, half)   \
  HR_REGISTER_TYPE("Apply" #RULE, RULE, bfloat16)
HR_GPU_REF_OPTIMIZERS(HR_REGISTER_REF)
#undef HR_REGISTER_REF
#undef HR_REGISTER_TYPE

// The handles of resource ops are in host memory: var and the slots, by name.
#define HR_REGISTER_TYPE(RULE, T, SPEC)                                   \
  REGISTER_KERNEL_BUILDER(SPEC.Device(DEVICE_GPU).TypeConstraint<T>("T"), \
                          OptimizerOp<optimizer_rules::RULE, T>);
#define HR_REGISTER_RESOURCE(RULE, SPEC) \
  HR_REGISTER_TYPE(RULE, float, SPEC)    \
  HR_REGISTER_TYPE(RULE, double, SPEC)   \
  HR_REGISTER_TYPE(RULE, half, SPEC)     \
  HR_REGISTER_TYPE(RULE, bfloat16, SPEC)
#define HR_VARS1(OP) Name("ResourceApply" #OP).HostMemory("var")
HR_REGISTER_RESOURCE(GradientDescent, HR_VARS1(GradientDescent))
HR_REGISTER_RESOURCE(Momentum, HR_VARS1(Momentum).HostMemory("accum"))
HR_REGISTER_RESOURCE(KerasMomentum, HR_VARS1(KerasMomentum).HostMemory("accum"))
HR_REGISTER_RESOURCE(Adagrad, HR_VARS1(Adagrad).HostMemory("accum"))
HR_REGISTER_RESOURCE(AdagradV2, HR_VARS1(AdagradV2).HostMemory("accum"))
HR_REGISTER_RESOURCE(
    Adadelta, HR_VARS1(Adadelta).HostMemory("accum").HostMemory("accum_update"))
HR_REGISTER_RESOURCE(Ftrl,
                     HR_VARS1(Ftrl).HostMemory("accum").HostMemory("linear"))
HR_REGISTER_RESOURCE(FtrlV2,
                     HR_VARS1(FtrlV2).HostMemory("accum").HostMemory("linear"))
HR_REGISTER_RESOURCE(Adam, HR_VARS1(Adam).HostMemory("m").HostMemory("v"))
HR_REGISTER_RESOURCE(AdamWithAmsgrad, HR_VARS1(AdamWithAmsgrad)
                                          .HostMemory("m")
                                          .HostMemory("v")
                                          .HostMemory("vhat"))
HR_REGISTER_RESOURCE(AdaMax, HR_VARS1(AdaMax).HostMemory("m").HostMemory("v"))
HR_REGISTER_RESOURCE(RMSProp,
                     HR_VARS1(RMSProp).HostMemory("ms").HostMemory("mom"))
HR_REGISTER_RESOURCE(CenteredRMSProp, HR_VARS1(CenteredRMSProp)
                                          .HostMemory("mg")
                                          .HostMemory("ms")
                                          .HostMemory("mom"))
#undef HR_VARS1
#undef HR_REGISTER_RESOURCE
#undef HR_REGISTER_TYPE

#define HR_REGISTER_TYPE(RULE, T, SPEC)                                   \
  REGISTER_KERNEL_BUILDER(SPEC.Device(DEVICE_GPU).TypeConstraint<T>("T"), \
                          OptimizerOp<optimizer_rules::RULE, T, true>);
#define HR_REGISTER_SPARSE(RULE, SPEC) \
  HR_REGISTER_TYPE(RULE, float, SPEC)  \
  HR_REGISTER_TYPE(RULE, double, SPEC) \
  HR_REGISTER_TYPE(RULE, half, SPEC)   \
  HR_REGISTER_TYPE(RULE, bfloat16, SPEC)
#define HR_REGISTER_REF(RULE) \
  HR_REGISTER_SPARSE(RULE, Name("SparseApply" #RULE))
HR_GPU_SPARSE_REF_OPTIMIZERS(HR_REGISTER_REF)
#undef HR_REGISTER_REF
#define HR_VARS1(OP) Name("ResourceSparseApply" #OP).HostMemory("var")
#define HR_VARS2(OP) HR_VARS1(OP).HostMemory("accum")
HR_REGISTER_SPARSE(Momentum, HR_VARS2(Momentum))
HR_REGISTER_SPARSE(KerasMomentum, HR_VARS2(KerasMomentum))
HR_REGISTER_SPARSE(Adagrad, HR_VARS2(Adagrad))
HR_REGISTER_SPARSE(AdagradV2, HR_VARS2(AdagradV2))
HR_REGISTER_SPARSE(Adadelta, HR_VARS2(Adadelta).HostMemory("accum_update"))
HR_REGISTER_SPARSE(Ftrl, HR_VARS2(Ftrl).HostMemory("linear"))
HR_REGISTER_SPARSE(FtrlV2, HR_VARS2(FtrlV2).HostMemory("linear"))
HR_REGISTER_SPARSE(RMSProp,
                   HR_VARS1(RMSProp).HostMemory("ms").HostMemory("mom"))
HR_REGISTER_SPARSE(CenteredRMSProp, HR_VARS1(CenteredRMSProp)
                                        .HostMemory("mg")
                                        .HostMemory("ms")
                                        .HostMemory("mom"))
#undef HR_VARS1
#undef HR_VARS2
#undef HR_REGISTER_SPARSE
#undef HR_REGISTER_TYPE

}  // namespace
}  // namespace headrace::gpu
