// WideTensor: a tensor of a kernel that computes in ComputeType<T>, float for
// half and bfloat16. Where T is narrower, a temporary holds the wide numbers,
// so that the loops of such a kernel are compiled for float and double alone.
#ifndef HEADRACE_KERNELS_NN_WIDE_TENSOR_H_
#define HEADRACE_KERNELS_NN_WIDE_TENSOR_H_

#include <type_traits>

#include "headrace/op_kernel.h"
#include "kernels/lib/narrow_float.h"

namespace headrace {

// Constructed for one tensor of one call; Read or Begin, once.
// Used by the thread that runs the kernel; the data may be used by all.
template <typename T>
class WideTensor {
 public:
  using C = ComputeType<T>;
  static constexpr bool kNarrow = !std::is_same_v<T, C>;

  // One to read, which stays where it is.
  Status Read(OpKernelContext* ctx, const Tensor& t) {
    if constexpr (kNarrow) {
      HR_RETURN_IF_ERROR(Allocate(ctx, t.shape()));
      Widen(t.data<T>(), wide_.data<C>(), t.NumElements());
      in_ = wide_.data<C>();
    } else {
      in_ = t.data<T>();  // no copy of `t`: its buffer may become an output
    }
    return OkStatus();
  }
  // One to write; Write rounds it to `t`.
  Status Begin(OpKernelContext* ctx, Tensor* t) {
    to_ = t;
    return kNarrow ? Allocate(ctx, t->shape()) : OkStatus();
  }
  C* out() { return kNarrow ? wide_.data<C>() : to_->data<C>(); }
  void Write() {
    if constexpr (kNarrow) {
      Narrow(wide_.data<C>(), to_->data<T>(), to_->NumElements());
    }
  }
  const C* in() const { return in_; }

 private:
  Status Allocate(OpKernelContext* ctx, const TensorShape& shape) {
    return ctx->allocate_temp(DataTypeToEnum<C>::value, shape, &wide_,
                              Tensor::kHeap);
  }
  Tensor wide_;
  const C* in_ = nullptr;
  Tensor* to_ = nullptr;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_NN_WIDE_TENSOR_H_
