// Values kept in a variant scalar (lists, maps) that an op changes.
#ifndef HEADRACE_KERNELS_FLOW_VARIANT_VALUE_H_
#define HEADRACE_KERNELS_FLOW_VARIANT_VALUE_H_

#include "framework/tensor/variant.h"
#include "headrace/op_kernel.h"

namespace headrace {

// Output 0 becomes the T of input 0, which the caller has checked to be one, to
// be changed: in place if the input alone holds it.
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
