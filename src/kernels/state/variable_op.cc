// VariableV2 and related ops: variables of TF 1.x as references. The output is
// a pointer to the tensor in a LegacyVar of the device's ResourceMgr. Its key
// is the container and shared_name (or the node's name), so nodes with the same
// shared_name share a variable. A variable without a value is a tensor without
// a type, with the declared shape. The executor rejects reading it.
#include <utility>

#include "framework/kernel/resource_var.h"
#include "headrace/op_kernel.h"
#include "kernels/lib/variable_access.h"

namespace headrace {
namespace {

class VariableOp : public OpKernel {
 public:
  explicit VariableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("container", &container_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shared_name", &shared_name_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
    expensive_ = false;
  }

  void Compute(OpKernelContext* ctx) override {
    RefPtr<LegacyVar> var;
    {
      MutexLock lock(&mu_);
      if (var_ == nullptr) {
        ResourceMgr* mgr = ctx->resource_manager();
        RefPtr<LegacyVar> found;
        OP_REQUIRES_OK(
            ctx, mgr->LookupOrCreate<LegacyVar>(
                     container_.empty() ? mgr->default_container() : container_,
                     shared_name_.empty() ? name() : shared_name_, &found,
                     [this](RefPtr<LegacyVar>* made) {
                       *made = RefPtr<LegacyVar>(new LegacyVar(dtype_));
                       TensorShape shape;
                       if (shape_.AsTensorShape(&shape)) {
                         MutexLock lock((*made)->mu());
                         *(*made)->tensor() = UnassignedTensor(shape);
                       }
                       return OkStatus();
                     }));
        OP_REQUIRES(ctx, found->dtype() == dtype_,
                    errors::InvalidArgument(
                        "variable ", shared_name_, " exists with type ",
                        DataTypeString(found->dtype()), ", wanted ",
                        DataTypeString(dtype_)));
        var_ = std::move(found);
      }
      var = var_;
    }
    ctx->set_output_ref(0, var->mu(), var->tensor());
  }

 private:
  DataType dtype_ = DT_INVALID;
  PartialTensorShape shape_;
  std::string container_, shared_name_;
  Mutex mu_;
  RefPtr<LegacyVar> var_ GUARDED_BY(mu_);
};
REGISTER_KERNEL_BUILDER(Name("Variable").Device(DEVICE_CPU), VariableOp);
REGISTER_KERNEL_BUILDER(Name("VariableV2").Device(DEVICE_CPU), VariableOp);

class IsVariableInitializedOp : public OpKernel {
 public:
  explicit IsVariableInitializedOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    expensive_ = false;
  }
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(
        0, Tensor::Scalar<bool>(ctx->mutable_input(0, false).IsInitialized()));
  }
};
REGISTER_KERNEL_BUILDER(Name("IsVariableInitialized").Device(DEVICE_CPU),
                        IsVariableInitializedOp);

// A variable of one step, in the step's own resources. DestroyTemporaryVariable
// takes its value away but leaves the object until the step ends: a node that
// still holds the reference then meets an uninitialised variable, not freed
// memory.
class TemporaryVariableOp : public OpKernel {
 public:
  explicit TemporaryVariableOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("shape", &shape_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dtype", &dtype_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("var_name", &var_name_));
    if (var_name_.empty()) var_name_ = name();
  }

  void Compute(OpKernelContext* ctx) override {
    Tensor value;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_temp(dtype_, shape_, &value, Tensor::kHeap));
    if (DataTypeCanUseMemcpy(dtype_)) {
      std::memset(value.raw_data(), 0, value.TotalBytes());
    }
    const std::string key = Key(*ctx, var_name_);
    RefPtr<LegacyVar> var;
    OP_REQUIRES_OK(ctx, ctx->step_resources()->LookupOrCreate<LegacyVar>(
                            "", key, &var, [this](RefPtr<LegacyVar>* made) {
                              *made = RefPtr<LegacyVar>(new LegacyVar(dtype_));
                              return OkStatus();
                            }));
    {
      MutexLock lock(var->mu());
      OP_REQUIRES(ctx, !var->is_initialized(),
                  errors::AlreadyExists("TemporaryVariable ", var_name_,
                                        " already exists in this step"));
      *var->tensor() = std::move(value);
    }
    ctx->set_output_ref(0, var->mu(), var->tensor());
  }

  static std::string Key(const OpKernelContext& ctx, const std::string& name) {
    return absl::StrCat(name, "/", ctx.params().frame_id, ":",
                        ctx.params().frame_iter);
  }

 private:
  TensorShape shape_;
  DataType dtype_ = DT_INVALID;
  std::string var_name_;
};
REGISTER_KERNEL_BUILDER(Name("TemporaryVariable").Device(DEVICE_CPU),
                        TemporaryVariableOp);

class DestroyTemporaryVariableOp : public OpKernel {
 public:
  explicit DestroyTemporaryVariableOp(OpKernelConstruction* ctx)
      : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("var_name", &var_name_));
  }

  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES(ctx, ctx->input_is_ref(0),
                errors::InvalidArgument(
                    "ref must be a reference to a variable, got a value"));
    RefPtr<LegacyVar> var;
    OP_REQUIRES_OK(ctx,
                   ctx->step_resources()->Lookup<LegacyVar>(
                       "", TemporaryVariableOp::Key(*ctx, var_name_), &var));
    MutexLock lock(var->mu());
    OP_REQUIRES(ctx, ctx->params().inputs[0].tensor == var->tensor(),
                errors::InvalidArgument("ref is not the TemporaryVariable ",
                                        var_name_));
    OP_REQUIRES(ctx, var->is_initialized(),
                errors::NotFound("TemporaryVariable ", var_name_,
                                 " was already destroyed"));
    ctx->set_output(0, std::move(*var->tensor()));
  }

 private:
  std::string var_name_;
};
REGISTER_KERNEL_BUILDER(Name("DestroyTemporaryVariable").Device(DEVICE_CPU),
                        DestroyTemporaryVariableOp);

}  // namespace
}  // namespace headrace
