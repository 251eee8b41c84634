// How kernels reach the variables they write: through reference inputs (V1
// variables) or through resource handles. One kernel body then serves both.
#ifndef HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_
#define HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_

#include "absl/container/inlined_vector.h"
#include "framework/kernel/resource_var.h"
#include "headrace/op_kernel.h"

namespace headrace {

// The handle in input i, which must hold exactly one.
Status HandleInput(const OpKernelContext& ctx, int i,
                   const ResourceHandle** handle);

// The variable that the handle in input i names. NotFound if nothing was ever
// assigned to it.
Status LookupVariable(const OpKernelContext& ctx, int i, RefPtr<Var>* var);

// The content of a reference variable to which nothing was assigned: no value,
// but the shape that its node declares.
Tensor UnassignedTensor(const TensorShape& declared);
// True if the shape of a reference variable's tensor is that of its value or
// was declared; false if nothing is known of it.
bool HasShape(const Tensor& variable);

// FailedPrecondition "Attempting to use uninitialized value NAME", as the
// executor says it; `i` is the input.
Status UninitializedError(const OpKernelContext& ctx, int i);

// A consistent copy of a resource variable's tensor (sharing the buffer).
Status ReadVariable(const OpKernelContext& ctx, int i, DataType dtype,
                    Tensor* out);

// Locks the variables of `n` consecutive inputs until it goes, in one global
// order, so that two kernels that share variables cannot wait for each other.
// The same variable may be given twice.
class VariableWriter {
 public:
  VariableWriter() = default;
  ~VariableWriter();
  VariableWriter(const VariableWriter&) = delete;
  VariableWriter& operator=(const VariableWriter&) = delete;

  // Each variable must be initialised and of type `dtype`.
  Status Lock(OpKernelContext* ctx, int first, int n, DataType dtype);

  // The variable's tensor, of input first + i.
  Tensor* tensor(int i) { return tensors_[i]; }

  // Makes tensor(i) fit to be written in place. A resource variable whose
  // buffer somebody else holds gets a buffer of its own; a reference's is
  // shared on purpose, unless its elements are objects, which no reader could
  // survive seeing half written.
  Status PrepareToWrite(int i);

 private:
  bool is_ref_ = false;
  absl::InlinedVector<RefPtr<Var>, 4> vars_;
  absl::InlinedVector<Tensor*, 4> tensors_;
  absl::InlinedVector<Mutex*, 4> locked_;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_VARIABLE_ACCESS_H_
