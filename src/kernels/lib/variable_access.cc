#include "kernels/lib/variable_access.h"

#include <algorithm>

#include "absl/strings/strip.h"
#include "base/error_cause.h"

namespace headrace {
namespace {

std::string InputName(const OpKernelContext& ctx, int i) {
  const NodeDef& def = ctx.op_kernel().def();
  return i < static_cast<int>(def.inputs.size())
             ? std::string(absl::StripSuffix(def.inputs[i], ":0"))
             : absl::StrCat("input ", i);
}

}  // namespace

Status HandleInput(const OpKernelContext& ctx, int i,
                   const ResourceHandle** handle) {
  const Tensor& t = ctx.input(i);
  if (t.dtype() != DT_RESOURCE || t.NumElements() != 1) {
    return errors::InvalidArgument(
        "input ", i, " must be one resource handle, got a ",
        DataTypeString(t.dtype()), " tensor of shape ",
        t.shape().DebugString());
  }
  *handle = t.data<ResourceHandle>();
  return OkStatus();
}

Status LookupVariable(const OpKernelContext& ctx, int i, RefPtr<Var>* var) {
  const ResourceHandle* handle = nullptr;
  HR_RETURN_IF_ERROR(HandleInput(ctx, i, &handle));
  const Status s = LookupResource<Var>(ctx.resource_manager(), *handle, var);
  if (errors::IsNotFound(s)) {
    return WithCause(
        errors::NotFound(
            "Could not find variable ", handle->name, " in container ",
            handle->container,
            ". It was never assigned a value, or it has been deleted."),
        ErrorCause::kUninitializedVariable);
  }
  return s;
}

// An empty buffer marks the shape as declared.
Status LookupOrMakeVariable(const OpKernelContext& ctx,
                            const ResourceHandle& handle, DataType dtype,
                            RefPtr<Var>* var) {
  Status s = LookupResource<Var>(ctx.resource_manager(), handle, var);
  if (errors::IsNotFound(s)) {
    s = ctx.resource_manager()->LookupOrCreate<Var>(
        handle.container, handle.name, var, [dtype](RefPtr<Var>* made) {
          *made = RefPtr<Var>(new Var(dtype));
          return OkStatus();
        });
  }
  HR_RETURN_IF_ERROR(s);
  if ((*var)->dtype() == dtype) return OkStatus();
  return errors::InvalidArgument(
      "Trying to assign variable ", handle.name, " with wrong dtype. Expected ",
      DataTypeString((*var)->dtype()), " got ", DataTypeString(dtype));
}

Tensor UnassignedTensor(const TensorShape& declared) {
  return Tensor(DT_INVALID, declared,
                WrapExternalBuffer(nullptr, 0, /*writable=*/true, nullptr));
}

bool HasShape(const Tensor& variable) {
  return variable.IsInitialized() || variable.buffer() != nullptr;
}

Status UninitializedError(const OpKernelContext& ctx, int i) {
  return WithCause(
      errors::FailedPrecondition("Attempting to use uninitialized value ",
                                 InputName(ctx, i)),
      ErrorCause::kUninitializedVariable);
}

Status ReadVariable(const OpKernelContext& ctx, int i, DataType dtype,
                    Tensor* out) {
  const ResourceHandle* handle = nullptr;
  HR_RETURN_IF_ERROR(HandleInput(ctx, i, &handle));
  RefPtr<Var> var;
  Status s = LookupResource<Var>(ctx.resource_manager(), *handle, &var);
  if (s.ok()) {
    MutexLock lock(var->mu());
    if (var->is_initialized()) *out = *var->tensor();
  } else if (!errors::IsNotFound(s)) {
    return s;
  }
  if (!out->IsInitialized()) {
    return WithCause(
        errors::FailedPrecondition(
            "Error while reading resource variable ", handle->name,
            " from Container: ", handle->container,
            ". This could mean that the variable was uninitialized. Could not "
            "find variable ",
            handle->name, "."),
        ErrorCause::kUninitializedVariable);
  }
  if (out->dtype() != dtype) {
    return errors::InvalidArgument("Trying to read variable ", handle->name,
                                   " with wrong dtype. Expected ",
                                   DataTypeString(dtype), " got ",
                                   DataTypeString(out->dtype()));
  }
  return OkStatus();
}

// This and Lock are not analysed: how many mutexes are locked, and which, is
// known at run time alone.
VariableWriter::~VariableWriter() NO_THREAD_SAFETY_ANALYSIS {
  for (Mutex* mu : locked_) mu->Unlock();
}

Status VariableWriter::Lock(OpKernelContext* ctx, int first, int n,
                            DataType dtype) NO_THREAD_SAFETY_ANALYSIS {
  is_ref_ = IsRefType(ctx->op_kernel().input_type(first));
  absl::InlinedVector<Mutex*, 4> mutexes;
  for (int i = first; i < first + n; ++i) {
    if (is_ref_) {
      if (!ctx->input_is_ref(i)) {
        return errors::InvalidArgument(
            "input ", i, " must be a reference to a variable, got a value");
      }
      tensors_.push_back(ctx->params().inputs[i].tensor);
      mutexes.push_back(ctx->input_ref_mutex(i));
    } else {
      RefPtr<Var> var;
      HR_RETURN_IF_ERROR(LookupVariable(*ctx, i, &var));
      tensors_.push_back(var->tensor());
      mutexes.push_back(var->mu());
      vars_.push_back(std::move(var));
    }
  }
  std::sort(mutexes.begin(), mutexes.end());
  mutexes.erase(std::unique(mutexes.begin(), mutexes.end()), mutexes.end());
  for (Mutex* mu : mutexes) mu->Lock();
  locked_ = std::move(mutexes);
  for (int i = 0; i < n; ++i) {
    if (!tensors_[i]->IsInitialized()) {
      return UninitializedError(*ctx, first + i);
    }
    if (tensors_[i]->dtype() != dtype) {
      return errors::InvalidArgument("variable ", InputName(*ctx, first + i),
                                     " is of type ",
                                     DataTypeString(tensors_[i]->dtype()),
                                     ", wanted ", DataTypeString(dtype));
    }
  }
  return OkStatus();
}

Status VariableWriter::PrepareToWrite(int i) {
  Tensor* t = tensors_[i];
  const bool in_place =
      is_ref_ ? DataTypeCanUseMemcpy(t->dtype()) : t->OwnsExclusively();
  if (in_place) {
    t->AllowWrites();
    return OkStatus();
  }
  return t->DeepCopyTo(t, is_ref_ ? Tensor::kHeap : Tensor::kAuto);
}

}  // namespace headrace
