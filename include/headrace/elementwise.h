// The kernel of an element-wise op. It is one small struct and one line:
//
//   REGISTER_OP("HardSwish")
//       .Input("features: T")
//       .Output("activations: T")
//       .Attr("T: {half, bfloat16, float, double}")
//       .KeepsShape()
//       .Elementwise()
//       .Activation(ActivationFunction());
//
//   struct HardSwishFn {
//     static constexpr bool kSimd = true;
//     template <typename T>
//     static T Apply(T x) {
//       const T up = x + T(3);
//       const T low = up < T(0) ? T(0) : up;
//       return x * (low > T(6) ? T(6) : low) / T(6);
//     }
//   };
//   HR_REGISTER_UNARY("HardSwish", HardSwishFn, HR_TYPES_FLOAT);
//
// The untyped kernels behind the macros handle shapes, broadcasting, buffer
// forwarding, threads and narrow floats once. Only one loop is compiled per op
// and type. half and bfloat16 are converted in blocks and run the float loop. A
// quantised type runs the loop of its integer type. Fused nodes run the loops
// of float and double, too: after a layer, and in chains.
//
// A struct may also have:
//
//   static constexpr bool kSimd = true;   plain arithmetic: compile it for
//                                         AVX2 and AVX-512, too (see simd.h)
//   static constexpr double kCost = 0.3;  ns per element, for splitting work
//   Apply(x, y, ElementwiseState* s)      if it can fail or has a parameter:
//                                         s->Fail(), s->param
//   static Status Error()                 the error if s->failed is set
//   static bool InRange(float x)          where Apply<float> is right, if not
//   static float Elsewhere(float x)       everywhere, and what to use there
//
// s->param is the attr that the schema's ActivationFunction("alpha") names.
#ifndef HEADRACE_ELEMENTWISE_H_
#define HEADRACE_ELEMENTWISE_H_

#include <cstdint>
#include <type_traits>

#include "headrace/elementwise_loops.h"
#include "headrace/op_kernel.h"
#include "headrace/simd.h"
#include "headrace/types.h"

namespace headrace {

// Kernels that run a loop over whole tensors, for the caller to delete.
OpKernel* NewUnaryKernel(OpKernelConstruction* ctx, const UnaryLoop* loop);
// Broadcasts the operands unless `same_shape` is set (gradient ops).
OpKernel* NewBinaryKernel(OpKernelConstruction* ctx, const BinaryLoop* loop,
                          bool same_shape);

namespace elementwise_internal {

template <typename Fn>
constexpr bool WantsSimd() {
  if constexpr (requires { Fn::kSimd; }) return Fn::kSimd;
  return false;
}
template <typename Fn, typename T>
constexpr bool UseSimd() {
  return WantsSimd<Fn>() && std::is_arithmetic_v<T> &&
         (sizeof(T) >= 4 || std::is_same_v<T, bool>);
}
template <typename Fn, typename T>
constexpr double Cost() {
  if constexpr (requires { Fn::kCost; }) return Fn::kCost;
  return 0.1 * sizeof(T);
}
template <typename Fn>
constexpr auto ErrorOf() -> Status (*)() {
  if constexpr (requires { &Fn::Error; }) return &Fn::Error;
  return nullptr;
}

template <typename Fn, typename T>
inline auto Call(const T& x, ElementwiseState* s) {
  if constexpr (requires { Fn::template Apply<T>(x, s); }) {
    return Fn::template Apply<T>(x, s);
  } else {
    return Fn::template Apply<T>(x);
  }
}
template <typename Fn, typename T>
inline auto Call(const T& x, const T& y, ElementwiseState* s) {
  if constexpr (requires { Fn::template Apply<T>(x, y, s); }) {
    return Fn::template Apply<T>(x, y, s);
  } else {
    return Fn::template Apply<T>(x, y);
  }
}

// `ivdep` is correct: the output may be an input's buffer, but element i is
// read before it is written.
template <typename Fn, typename T>
void RunUnary(const void* xv, void* yv, int64_t n, ElementwiseState* s) {
  using R = decltype(Call<Fn, T>(T(), s));
  auto body = [=] {
    const T* x = static_cast<const T*>(xv);
    R* y = static_cast<R*>(yv);
    const int64_t count = n;
    if constexpr (std::is_same_v<T, float> && requires { Fn::InRange(1.0f); }) {
      // The loop without branches, unless some argument needs the other way.
      constexpr int64_t kBlock = 512;
      for (int64_t first = 0; first < count; first += kBlock) {
        const int64_t last = first + kBlock < count ? first + kBlock : count;
        int outside = 0;
        for (int64_t i = first; i < last; ++i) outside |= !Fn::InRange(x[i]);
        if (outside != 0) {
          for (int64_t i = first; i < last; ++i) y[i] = Fn::Elsewhere(x[i]);
          continue;
        }
#pragma GCC ivdep
        for (int64_t i = first; i < last; ++i) y[i] = Call<Fn, T>(x[i], s);
      }
      return;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) y[i] = Call<Fn, T>(x[i], s);
  };
  if constexpr (UseSimd<Fn, T>()) {
    RunSimd(body);
  } else {
    body();
  }
}

template <typename Fn, typename T>
void RunBinary(const void* xv, const void* yv, void* zv, int64_t n,
               LoopShape shape, ElementwiseState* s) {
  using R = decltype(Call<Fn, T>(T(), T(), s));
  auto body = [=] {
    const T* x = static_cast<const T*>(xv);
    const T* y = static_cast<const T*>(yv);
    R* z = static_cast<R*>(zv);
    const int64_t count = n;
    if (shape == LoopShape::kBoth) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = Call<Fn, T>(x[i], y[i], s);
    } else if (shape == LoopShape::kFirstScalar) {
      const T a = x[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = Call<Fn, T>(a, y[i], s);
    } else {
      const T b = y[0];
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = Call<Fn, T>(x[i], b, s);
    }
  };
  if constexpr (UseSimd<Fn, T>()) {
    RunSimd(body);
  } else {
    body();
  }
}

template <typename Fn, typename T>
void RunOneBinary(const void* x, const void* y, void* z, ElementwiseState* s) {
  using R = decltype(Call<Fn, T>(T(), T(), s));
  *static_cast<R*>(z) =
      Call<Fn, T>(*static_cast<const T*>(x), *static_cast<const T*>(y), s);
}

template <typename Fn, typename T>
using UnaryResult =
    decltype(Call<Fn, T>(T(), static_cast<ElementwiseState*>(nullptr)));
template <typename Fn, typename T>
using BinaryResult =
    decltype(Call<Fn, T>(T(), T(), static_cast<ElementwiseState*>(nullptr)));

template <typename Fn, typename T>
inline constexpr UnaryLoop kUnaryLoop = {&RunUnary<Fn, T>,
                                         sizeof(T),
                                         sizeof(UnaryResult<Fn, T>),
                                         std::is_same_v<UnaryResult<Fn, T>, T>,
                                         Cost<Fn, T>(),
                                         ErrorOf<Fn>()};
template <typename Fn, typename T>
inline constexpr BinaryLoop kBinaryLoop = {
    &RunBinary<Fn, T>,
    &RunOneBinary<Fn, T>,
    sizeof(T),
    sizeof(BinaryResult<Fn, T>),
    std::is_same_v<BinaryResult<Fn, T>, T>,
    !std::is_same_v<T, tstring>,
    Cost<Fn, T>(),
    ErrorOf<Fn>()};

template <typename T, typename Loop>
constexpr void AddIfPlain(const Loop* loop, NamedLoops<Loop>* named) {
  if (!loop->same_type) return;
  if (std::is_same_v<T, float>) named->of_float = loop;
  if (std::is_same_v<T, double>) named->of_double = loop;
}

// A CPU kernel, constrained by "T" and "Tout", by "T" alone, or by nothing.
template <int kAttrs>
constexpr KernelSpec<kAttrs> Spec(const char* op, DataType type,
                                  DataType result) {
  const KernelSpec<0> spec = Name(op).Device(DEVICE_CPU);
  if constexpr (kAttrs == 0) {
    return spec;
  } else if constexpr (kAttrs == 1) {
    return spec.TypeConstraint("T", type);
  } else {
    return spec.TypeConstraint("T", type).TypeConstraint("Tout", result);
  }
}

// An op with one operand and an op with two, in the form that Table needs.
template <typename Fn>
struct Unary {
  using Loop = UnaryLoop;
  template <typename T>
  using Result = UnaryResult<Fn, ComputeType<T>>;
  template <typename T>
  static constexpr const Loop* kLoop = &kUnaryLoop<Fn, ComputeType<T>>;
  static constexpr bool kIsNamed = true;
  template <typename T>
  static OpKernel* NewKernel(OpKernelConstruction* ctx) {
    return NewUnaryKernel(ctx, kLoop<T>);
  }
};
template <typename Fn, bool kSameShape>
struct Binary {
  using Loop = BinaryLoop;
  template <typename T>
  using Result = BinaryResult<Fn, ComputeType<T>>;
  template <typename T>
  static constexpr const Loop* kLoop = &kBinaryLoop<Fn, ComputeType<T>>;
  static constexpr bool kIsNamed = !kSameShape;
  template <typename T>
  static OpKernel* NewKernel(OpKernelConstruction* ctx) {
    return NewBinaryKernel(ctx, kLoop<T>, kSameShape);
  }
};

// The constants that HR_REGISTER_... defines, and the code that links them.
template <int kAttrs, typename Op, typename... T>
struct Table {
  constexpr Table(const char* op, const char* kernel_class)
      : kernels{{Spec<kAttrs>(
                     op, DataTypeToEnum<T>::value,
                     DataTypeToEnum<typename Op::template Result<T>>::value),
                 kernel_class, &Op::template NewKernel<T>}...},
        named{op} {
    ChainKernels(kernels);
    if (!Op::kIsNamed) return;
    (AddIfPlain<T>(Op::template kLoop<T>, &named), ...);
  }
  KernelDefinition<kAttrs> kernels[sizeof...(T)];
  NamedLoops<typename Op::Loop> named;
};
template <int kAttrs, typename Fn, typename... T>
using UnaryTable = Table<kAttrs, Unary<Fn>, T...>;
template <int kAttrs, bool kSameShape, typename Fn, typename... T>
using BinaryTable = Table<kAttrs, Binary<Fn, kSameShape>, T...>;
struct Registrar {
  template <typename Table>
  explicit Registrar(Table* table, bool wanted) {
    if (!wanted) return;
    KernelRegistrar link(table->kernels);
    if (table->named.of_float != nullptr || table->named.of_double != nullptr) {
      NameLoops(&table->named);
    }
  }
};

}  // namespace elementwise_internal

#define HR_REGISTER_ELEMENTWISE(CTR, NAME, FN, ...) \
  HR_REGISTER_ELEMENTWISE2(CTR, NAME, FN, __VA_ARGS__)
#define HR_REGISTER_ELEMENTWISE2(CTR, NAME, FN, ...)                         \
  static constinit ::headrace::elementwise_internal::__VA_ARGS__             \
      hr_elementwise_##CTR(NAME, FN);                                        \
  static const ::headrace::elementwise_internal::Registrar hr_register_##CTR \
      [[maybe_unused]] (&hr_elementwise_##CTR, ::headrace::IsWanted(NAME))

// Kernels of op NAME for the listed types of attr "T".
#define HR_REGISTER_UNARY(NAME, FN, ...)          \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          UnaryTable<1, FN, __VA_ARGS__>)
#define HR_REGISTER_BINARY(NAME, FN, ...)         \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          BinaryTable<1, false, FN, __VA_ARGS__>)

// A list of types for these macros.
#define HR_TYPES_FLOAT ::headrace::half, ::headrace::bfloat16, float, double

}  // namespace headrace

#endif  // HEADRACE_ELEMENTWISE_H_
