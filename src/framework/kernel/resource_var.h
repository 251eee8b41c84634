// Variables as resources. Var is what a VarHandleOp's handle names: readers
// take snapshots (they share the buffer, and a writer that finds it shared
// copies first). LegacyVar is what a VariableV2 node refers to: readers hold
// the variable's own buffer and see later writes, so its buffer is always on
// the heap and is written in place. The two never meet under one name.
#ifndef HEADRACE_FRAMEWORK_KERNEL_RESOURCE_VAR_H_
#define HEADRACE_FRAMEWORK_KERNEL_RESOURCE_VAR_H_

#include <string>

#include "headrace/mutex.h"
#include "headrace/resource_handle.h"
#include "headrace/tensor.h"

namespace headrace {

// A typed tensor and the mutex that guards it; the tensor has DT_INVALID until
// something was assigned.
// Thread-safe; mu() guards what tensor() points to.
class VariableBase : public ResourceBase {
 public:
  explicit VariableBase(DataType dtype) : dtype_(dtype) {}

  DataType dtype() const { return dtype_; }
  Mutex* mu() RETURNS_MUTEX(mu_) { return &mu_; }
  // What it points to is read and written with mu() held.
  Tensor* tensor() { return &tensor_; }
  bool is_initialized() const REQUIRES(mu_) { return tensor_.IsInitialized(); }

  std::string DebugString() const override {
    MutexLock lock(&mu_);
    return absl::StrCat(DataTypeString(dtype_), "/",
                        tensor_.shape().DebugString());
  }

 private:
  const DataType dtype_;
  mutable Mutex mu_;
  Tensor tensor_ GUARDED_BY(mu_);
};

class Var final : public VariableBase {
 public:
  using VariableBase::VariableBase;
};

class LegacyVar final : public VariableBase {
 public:
  using VariableBase::VariableBase;
};

}  // namespace headrace

#endif  // HEADRACE_FRAMEWORK_KERNEL_RESOURCE_VAR_H_
