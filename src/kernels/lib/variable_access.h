// How kernels access the variables that they write: through reference inputs
// (V1 variables) or resource handles. One kernel body serves both.
#ifndef HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_
#define HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_

#include "absl/container/inlined_vector.h"
#include "framework/kernel/resource_var.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Reads the handle at input i, which must have exactly one element.
Status HandleInput(const OpKernelContext& ctx, int i,
                   const ResourceHandle** handle);

// Finds the variable of the handle at input i. NotFound if it was never
// assigned.
Status LookupVariable(const OpKernelContext& ctx, int i, RefPtr<Var>* var);

// The variable of a handle that an op assigns to: a new one of `dtype` if there
// is none. InvalidArgument if it has another type.
Status LookupOrMakeVariable(const OpKernelContext& ctx,
                            const ResourceHandle& handle, DataType dtype,
                            RefPtr<Var>* var);

// The tensor of a reference variable that was never assigned: it has the
// declared shape and no value.
Tensor UnassignedTensor(const TensorShape& declared);
// True if the shape of a reference variable's tensor is known, from its value
// or its declaration.
bool HasShape(const Tensor& variable);

// FailedPrecondition "Attempting to use uninitialized value NAME", the
// executor's message. `i` is the input.
Status UninitializedError(const OpKernelContext& ctx, int i);

// A consistent copy of a resource variable's tensor. It shares the buffer.
Status ReadVariable(const OpKernelContext& ctx, int i, DataType dtype,
                    Tensor* out);

// Locks the variables of `n` consecutive inputs for its lifetime. It locks them
// in one global order, so that kernels that share variables cannot deadlock. A
// variable may occur twice.
// Used by the thread that runs the kernel.
class VariableWriter {
 public:
  VariableWriter() = default;
  ~VariableWriter();
  VariableWriter(const VariableWriter&) = delete;
  VariableWriter& operator=(const VariableWriter&) = delete;

  // Fails unless each variable is initialised and has type `dtype`.
  Status Lock(OpKernelContext* ctx, int first, int n, DataType dtype);

  // The tensor of the variable at input first + i.
  Tensor* tensor(int i) { return tensors_[i]; }

  // Prepares tensor(i) for writing in place. If others hold the buffer of a
  // resource variable, the variable gets a copy. The buffer of a reference
  // variable stays shared on purpose, except if its elements are objects: a
  // reader must not see a half-written object.
  Status PrepareToWrite(int i);

 private:
  bool is_ref_ = false;
  absl::InlinedVector<RefPtr<Var>, 4> vars_;
  absl::InlinedVector<Tensor*, 4> tensors_;
  absl::InlinedVector<Mutex*, 4> locked_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_
