// The loops of the segment ops, compiled per operation and type. The ops
// themselves are written once and work on bytes. half and bfloat16 results are
// accumulated in float and rounded once.
#ifndef HEADRACE_KERNELS_LIB_SEGMENT_LOOPS_H_
#define HEADRACE_KERNELS_LIB_SEGMENT_LOOPS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/lib/elementwise.h"

namespace headrace {

// Element i of an int16, int32 or int64 tensor.
inline int64_t IdAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_INT16:
      return t.data<int16_t>()[i];
    case DT_INT32:
      return t.data<int32_t>()[i];
    default:
      return t.data<int64_t>()[i];
  }
}

// The divisor of a sum over `count` rows.
enum class Divisor : uint8_t { kOne, kCount, kSqrtCount };

struct SegmentLoops {
  // The value of an empty segment: 0, 1, the lowest or the highest finite
  // number.
  void (*init)(void* acc, int64_t n);
  void (*add)(const void* x, void* acc, int64_t n);
  // Rounds accumulators to elements. In place is allowed if the sizes are
  // equal.
  void (*finish)(const void* acc, int64_t n, Divisor d, int64_t count, void* y);
  // acc[j] += x[j] / divisor. Only for sums of floats, else null.
  void (*scatter)(const void* x, Divisor d, int64_t count, void* acc,
                  int64_t n);
  int acc_size;
  // The start value of max and min in a sorted segment: -inf or inf, if the
  // type has them, so that infinities count. Else as init.
  void (*start)(void* acc, int64_t n);
};

// Max and min ignore NaN.
enum class SegmentOp : uint8_t { kSum, kProd, kMax, kMin };

namespace segment_internal {

// The limits of T, not of the accumulator: those may round to infinity.
template <SegmentOp kOp, typename A, typename T>
void Init(void* acc, int64_t n) {
  using L = std::numeric_limits<T>;
  A v{};
  if constexpr (kOp == SegmentOp::kProd) v = A(1);
  if constexpr (kOp == SegmentOp::kMax) v = static_cast<A>(L::lowest());
  if constexpr (kOp == SegmentOp::kMin) v = static_cast<A>(L::max());
  A* a = static_cast<A*>(acc);
  for (int64_t j = 0; j < n; ++j) a[j] = v;
}

template <SegmentOp kOp, typename A, typename T>
void Start(void* acc, int64_t n) {
  using L = std::numeric_limits<A>;
  if constexpr (L::has_infinity &&
                (kOp == SegmentOp::kMax || kOp == SegmentOp::kMin)) {
    const A v = kOp == SegmentOp::kMax ? -L::infinity() : L::infinity();
    std::fill_n(static_cast<A*>(acc), n, v);
  } else {
    Init<kOp, A, T>(acc, n);
  }
}

template <SegmentOp kOp, typename A, typename T>
void Add(const void* xv, void* acc, int64_t n) {
  const T* x = static_cast<const T*>(xv);
  A* a = static_cast<A*>(acc);
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) {
    const A v = static_cast<A>(x[j]);
    if constexpr (kOp == SegmentOp::kSum) a[j] = WrapAdd(a[j], v);
    if constexpr (kOp == SegmentOp::kProd) a[j] = WrapMul(a[j], v);
    if constexpr (kOp == SegmentOp::kMax) a[j] = v > a[j] ? v : a[j];
    if constexpr (kOp == SegmentOp::kMin) a[j] = v < a[j] ? v : a[j];
  }
}

inline double Factor(Divisor d, int64_t count) {
  const double n = static_cast<double>(count);
  return d == Divisor::kOne ? 1 : 1 / (d == Divisor::kCount ? n : std::sqrt(n));
}

template <typename A, typename T>
void Finish(const void* acc, int64_t n, Divisor d, int64_t count, void* yv) {
  const A* a = static_cast<const A*>(acc);
  T* y = static_cast<T*>(yv);
  if (d == Divisor::kOne) {
    if constexpr (std::is_same_v<A, T>) {
      if (a == y) return;
    }
    for (int64_t j = 0; j < n; ++j) y[j] = static_cast<T>(a[j]);
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    if constexpr (std::is_integral_v<A>) {
      y[j] = static_cast<T>(static_cast<int64_t>(a[j]) / count);
    } else if (d == Divisor::kCount) {
      y[j] = static_cast<T>(a[j] / static_cast<A>(static_cast<double>(count)));
    } else {
      y[j] = static_cast<T>(a[j] * static_cast<A>(Factor(d, count)));
    }
  }
}

template <typename A, typename T>
void Scatter(const void* xv, Divisor d, int64_t count, void* acc, int64_t n) {
  const T* x = static_cast<const T*>(xv);
  A* a = static_cast<A*>(acc);
  const A factor = static_cast<A>(Factor(d, count));
#pragma GCC ivdep
  for (int64_t j = 0; j < n; ++j) a[j] += static_cast<A>(x[j]) * factor;
}

template <SegmentOp kOp, typename T>
constexpr SegmentLoops Make() {
  using A = ComputeType<T>;
  SegmentLoops loops = {&Init<kOp, A, T>, &Add<kOp, A, T>, &Finish<A, T>,
                        nullptr,          sizeof(A),       &Start<kOp, A, T>};
  if constexpr (kOp == SegmentOp::kSum && std::is_floating_point_v<A>) {
    loops.scatter = &Scatter<A, T>;
  }
  return loops;
}

}  // namespace segment_internal

template <SegmentOp kOp, typename T>
inline constexpr SegmentLoops kSegmentLoops = segment_internal::Make<kOp, T>();

namespace segment_internal {
template <typename Kernel, SegmentOp kOp, Divisor kDivisor, typename... T>
struct Table {
  constexpr Table(const char* op, const char* kernel_class)
      : kernels{{Name(op).Device(DEVICE_CPU).TypeConstraint<T>("T"),
                 kernel_class, [](OpKernelConstruction* ctx) -> OpKernel* {
                   return new Kernel(ctx, &kSegmentLoops<kOp, T>, kDivisor);
                 }}...} {
    ChainKernels(kernels);
  }
  KernelDefinition<1> kernels[sizeof...(T)];
};
}  // namespace segment_internal

// KERNEL(ctx, loops, divisor) for the listed types of attr "T".
#define HR_REGISTER_SEGMENT(NAME, KERNEL, OP, DIVISOR, ...) \
  HR_REGISTER_SEGMENT1(__COUNTER__, NAME, KERNEL, OP, DIVISOR, __VA_ARGS__)
#define HR_REGISTER_SEGMENT1(CTR, NAME, KERNEL, OP, DIVISOR, ...) \
  HR_REGISTER_SEGMENT2(CTR, NAME, KERNEL, OP, DIVISOR, __VA_ARGS__)
#define HR_REGISTER_SEGMENT2(CTR, NAME, KERNEL, OP, DIVISOR, ...)         \
  static constinit segment_internal::Table<KERNEL, SegmentOp::OP,         \
                                           Divisor::DIVISOR, __VA_ARGS__> \
      hr_segment_##CTR(NAME, #KERNEL);                                    \
  static const KernelRegistrar hr_register_##CTR                          \
      [[maybe_unused]] (hr_segment_##CTR.kernels, IsWanted(NAME))

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SEGMENT_LOOPS_H_
