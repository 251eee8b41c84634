// The kernel of all reduction ops: axes, identity, accumulators.
#ifndef HEADRACE_KERNELS_MATH_REDUCTION_OP_H_
#define HEADRACE_KERNELS_MATH_REDUCTION_OP_H_

#include "kernels/math/reduction.h"

namespace headrace {

// Converts `n` accumulators to elements of the output's type.
using FinishReduction = void (*)(const void* acc, int64_t count, int64_t n,
                                 void* out);

class ReductionKernel final : public OpKernel {
 public:
  // `finish` is null if the accumulators are the results. `identity`: reducing
  // one element gives that element.
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

template <bool kTyped>
constexpr KernelSpec<kTyped> Spec(const char* op, const char* type_attr,
                                  DataType t) {
  const KernelSpec<0> spec = Name(op).Device(DEVICE_CPU);
  if constexpr (kTyped) {
    return spec.TypeConstraint(type_attr, t);
  } else {
    return spec;
  }
}

template <bool kTyped, typename Kind, typename... T>
struct Table {
  constexpr Table(const char* op, const char* kernel_class,
                  const char* type_attr)
      : kernels{{Spec<kTyped>(op, type_attr, DataTypeToEnum<T>::value),
                 kernel_class, &Kernel<Kind, T>::Make}...} {
    ChainKernels(kernels);
  }
  KernelDefinition<kTyped> kernels[sizeof...(T)];
};
}  // namespace reduction_internal

// Kernels of op NAME for the listed types of attr TYPE_ATTR (nullptr if none).
#define HR_REGISTER_REDUCTION(NAME, KIND, TYPE_ATTR, ...) \
  HR_REGISTER_REDUCTION1(__COUNTER__, NAME, KIND, TYPE_ATTR, __VA_ARGS__)
#define HR_REGISTER_REDUCTION1(CTR, NAME, KIND, TYPE_ATTR, ...) \
  HR_REGISTER_REDUCTION2(CTR, NAME, KIND, TYPE_ATTR, __VA_ARGS__)
#define HR_REGISTER_REDUCTION2(CTR, NAME, KIND, TYPE_ATTR, ...)          \
  static constinit reduction_internal::Table<                            \
      !std::is_null_pointer_v<decltype(TYPE_ATTR)>, KIND, __VA_ARGS__>   \
      hr_reduction_##CTR(NAME, "ReductionKernel<" #KIND ">", TYPE_ATTR); \
  static const KernelRegistrar hr_register_##CTR                         \
      [[maybe_unused]] (hr_reduction_##CTR.kernels, IsWanted(NAME))

}  // namespace headrace

#endif  // HEADRACE_KERNELS_MATH_REDUCTION_OP_H_
