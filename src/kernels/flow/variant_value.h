// Values in a variant scalar (lists, maps) that an op changes.
#ifndef HEADRACE_KERNELS_FLOW_VARIANT_VALUE_H_
#define HEADRACE_KERNELS_FLOW_VARIANT_VALUE_H_

#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Sets output 0 to the T of input 0, ready for writing: in place if the input
// is the only owner, else a copy. The caller has checked that it is a T.
template <typename T>
Status ValueForWrite(OpKernelContext* ctx, T** out) {
  Tensor* t = nullptr;
  int forwarded = -1;
  HR_RETURN_IF_ERROR(ctx->forward_input_or_allocate_output(
      {0}, 0, TensorShape(), &t, &forwarded));
  if (forwarded < 0) t->scalar<Variant>() = *ctx->input(0).data<Variant>();
  *out = t->scalar<Variant>().GetMutable<T>();
  return OkStatus();
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_FLOW_VARIANT_VALUE_H_
