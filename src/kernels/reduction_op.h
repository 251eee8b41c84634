// The kernel that the reduction ops share: axes, identity, accumulators.
#ifndef HEADRACE_KERNELS_REDUCTION_OP_H_
#define HEADRACE_KERNELS_REDUCTION_OP_H_

#include "kernels/reduction.h"

namespace headrace {

// Turns `n` accumulators into elements of the output's type.
using FinishReduction = void (*)(const void* acc, int64_t count, int64_t n,
                                 void* out);

class ReductionKernel final : public OpKernel {
 public:
  // `finish` is null if the accumulators are the results; `identity` if
  // reducing one element gives that element.
  ReductionKernel(OpKernelConstruction* ctx, const ReductionLoops* loops,
                  FinishReduction finish, bool identity);
  void Compute(OpKernelContext* ctx) override;

 private:
  const ReductionLoops& loops_;
  const FinishReduction finish_;
  const bool identity_;
  bool keep_dims_ = false;
};

namespace reduction_internal {
template <typename Kind, typename T>
void FinishLoop(const void* acc, int64_t count, int64_t n, void* out) {
  const auto* a =
      static_cast<const typename Kind::template Accumulator<T>*>(acc);
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<T>(Kind::template Finish<ComputeType<T>>(a[i], count));
  }
}

// Kind has:
//   Accumulator<T>        what results of T are gathered in
//   Op                    see kReductionLoops
//   kIdentity             as above
//   Finish<C>(a, count)   the result, as C: T, or float for narrow floats
//   kPlain                Finish returns `a`
template <typename Kind, typename T>
class Kernel {
 public:
  static OpKernel* Make(OpKernelConstruction* ctx) {
    using A = typename Kind::template Accumulator<T>;
    constexpr bool kDirect = std::is_same_v<A, T> && Kind::kPlain;
    return new ReductionKernel(
        ctx, &kReductionLoops<typename Kind::Op, A, ComputeType<T>>,
        kDirect ? nullptr : &FinishLoop<Kind, T>, Kind::kIdentity);
  }
};

template <typename Kind, typename... T>
struct Registrar {
  Registrar(const char* op, const char* kernel_class, const char* type_attr)
      : entries{KernelEntry(Spec(op, type_attr, DataTypeToEnum<T>::value),
                            kernel_class, &Kernel<Kind, T>::Make)...} {}
  static KernelSpec Spec(const char* op, const char* type_attr, DataType t) {
    KernelSpec spec = Name(op).Device(DEVICE_CPU);
    if (type_attr != nullptr) spec.TypeConstraint(type_attr, t);
    return spec;
  }
  KernelEntry entries[sizeof...(T)];
};
}  // namespace reduction_internal

// Kernels of op NAME for the listed types of attr TYPE_ATTR (null if none).
#define HR_REGISTER_REDUCTION(NAME, KIND, TYPE_ATTR, ...)       \
  static const reduction_internal::Registrar<KIND, __VA_ARGS__> \
  HR_REDUCTION_CAT(hr_reduction_, __COUNTER__)                  \
      [[maybe_unused]] (NAME, "ReductionKernel<" #KIND ">", TYPE_ATTR)
#define HR_REDUCTION_CAT(a, b) HR_REDUCTION_CAT2(a, b)
#define HR_REDUCTION_CAT2(a, b) a##b

}  // namespace headrace

#endif  // HEADRACE_KERNELS_REDUCTION_OP_H_
