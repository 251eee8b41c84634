// Resource variables: handles, reads, assignments. A read is a snapshot that
// shares the variable's buffer; a later writer copies first (see
// VariableWriter). AssignVariableOp accepts any shape at run time.
#include <utility>

#include "framework/kernel/resource_var.h"
#include "framework/tensor/borrowed_buffer.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

ResourceHandle MakeVarHandle(OpKernelContext* ctx, const std::string& container,
                             const std::string& name, DataType dtype,
                             const PartialTensorShape& shape) {
  ResourceMgr* mgr = ctx->resource_manager();
  ResourceHandle h = mgr->MakeHandle<Var>(
      ctx->device()->name(),
      container.empty() ? mgr->default_container() : container, name);
  h.dtypes_and_shapes = {{dtype, shape}};
  return h;
}

class VarHandleOp : public OpKernel {
 public:
  explicit VarHandleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &shared_name_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
    if (shared_name_.empty()) shared_name_ = name();
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    MutexLock lock(&mu_);
    if (!handle_.IsInitialized()) {
      Tensor t(DT_RESOURCE, TensorShape());
      t.scalar<ResourceHandle>() =
          MakeVarHandle(ctx, container_, shared_name_, dtype_, shape_);
      handle_ = std::move(t);
    }
    ctx->set_output(0, handle_);
  }

 private:
  std::string container_, shared_name_;
  DataType dtype_ = DT_INVALID;
  PartialTensorShape shape_;
  Mutex mu_;
  Tensor handle_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("VarHandleOp").Device(DEVICE_CPU), VarHandleOp);

class VarHandlesOp : public OpKernel {
 public:
  explicit VarHandlesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("containers", &containers_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_names", &names_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtypes", &dtypes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shapes", &shapes_));
    const size_t n = ctx->num_outputs();
    OP_REQUIRES(ctx,
                containers_.size() == n && names_.size() == n &&
                    dtypes_.size() == n && shapes_.size() == n,
                errors::InvalidArgument("containers, shared_names, dtypes and "
                                        "shapes must each have ",
                                        n, " entries"));
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    for (size_t i = 0; i < names_.size(); ++i) {
      Tensor t(DT_RESOURCE, TensorShape());
      t.scalar<ResourceHandle>() =
          MakeVarHandle(ctx, containers_[i], names_[i], dtypes_[i], shapes_[i]);
      ctx->set_output(static_cast<int>(i), std::move(t));
    }
  }

 private:
  std::vector<std::string> containers_, names_;
  std::vector<DataType> dtypes_;
  std::vector<PartialTensorShape> shapes_;
};
REGISTER_KERNEL_BUILDER(Name("_VarHandlesOp").Device(DEVICE_CPU), VarHandlesOp);

// ReadVariableOp and _ReadVariablesOp.
class ReadVariablesOp : public OpKernel {
 public:
  explicit ReadVariablesOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES(ctx, num_inputs() == num_outputs(),
                errors::InvalidArgument("dtypes must have N = ", num_inputs(),
                                        " entries, got ", num_outputs()));
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    for (int i = 0; i < num_outputs(); ++i) {
      Tensor value;
      OP_REQUIRES_OK(ctx, ReadVariable(*ctx, i, output_type(i), &value));
      ctx->set_output(i, std::move(value));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("ReadVariableOp").Device(DEVICE_CPU),
                        ReadVariablesOp);
REGISTER_KERNEL_BUILDER(Name("_ReadVariablesOp").Device(DEVICE_CPU),
                        ReadVariablesOp);

class AssignVariableOp : public OpKernel {
 public:
  explicit AssignVariableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("validate_shape", &validate_shape_));
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    const ResourceHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, HandleInput(*ctx, 0, &handle));
    RefPtr<Var> var;
    OP_REQUIRES_OK(ctx, LookupOrMakeVariable(*ctx, *handle, dtype_, &var));
    Tensor value = ctx->input(1);
    OP_REQUIRES_OK(ctx, OwnBytes(&value));
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
REGISTER_KERNEL_BUILDER(Name("AssignVariableOp").Device(DEVICE_CPU),
                        AssignVariableOp);

class VarIsInitializedOp : public OpKernel {
 public:
  explicit VarIsInitializedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Var> var;
    const Status s = LookupVariable(*ctx, 0, &var);
    OP_REQUIRES(ctx, s.ok() || errors::IsNotFound(s), s);
    bool initialized = false;
    if (s.ok()) {
      MutexLock lock(var->mu());
      initialized = var->is_initialized();
    }
    ctx->set_output(0, Tensor::Scalar<bool>(initialized));
  }
};
REGISTER_KERNEL_BUILDER(Name("VarIsInitializedOp").Device(DEVICE_CPU),
                        VarIsInitializedOp);

template <typename T>
class VariableShapeOp : public OpKernel {
 public:
  explicit VariableShapeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Var> var;
    OP_REQUIRES_OK(ctx, LookupVariable(*ctx, 0, &var));
    TensorShape shape;
    {
      MutexLock lock(var->mu());
      OP_REQUIRES(ctx, var->is_initialized(), UninitializedError(*ctx, 0));
      shape = var->tensor()->shape();
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {shape.dims()}, &out));
    for (int i = 0; i < shape.dims(); ++i) {
      OP_REQUIRES(
          ctx, shape.dim_size(i) <= std::numeric_limits<T>::max(),
          errors::InvalidArgument("dimension ", i, " is ", shape.dim_size(i),
                                  ", too large for out_type"));
      out->data<T>()[i] = static_cast<T>(shape.dim_size(i));
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("VariableShape")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<int32_t>("out_type"),
                        VariableShapeOp<int32_t>);
REGISTER_KERNEL_BUILDER(Name("VariableShape")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<int64_t>("out_type"),
                        VariableShapeOp<int64_t>);

// For any kind of resource: variables, tables, queues.
class DestroyResourceOp : public OpKernel {
 public:
  explicit DestroyResourceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("ignore_lookup_error", &ignore_missing_));
  }
  void Compute(OpKernelContext* ctx) override {
    const ResourceHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, HandleInput(*ctx, 0, &handle));
    if (handle->resource != nullptr) return;  // goes with its last handle
    const Status s = ctx->resource_manager()->Delete(*handle);
    OP_REQUIRES(ctx, s.ok() || (ignore_missing_ && errors::IsNotFound(s)), s);
  }

 private:
  bool ignore_missing_ = true;
};
REGISTER_KERNEL_BUILDER(Name("DestroyResourceOp").Device(DEVICE_CPU),
                        DestroyResourceOp);

// Reads here never copy, so there is nothing to disable.
class DisableCopyOnReadOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    RefPtr<Var> var;
    OP_REQUIRES_OK(ctx, LookupVariable(*ctx, 0, &var));
  }
};
REGISTER_KERNEL_BUILDER(Name("DisableCopyOnRead").Device(DEVICE_CPU),
                        DisableCopyOnReadOp);

}  // namespace
}  // namespace headrace
