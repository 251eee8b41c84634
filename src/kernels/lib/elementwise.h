// The machinery of element-wise ops. An op is one small struct and one line:
//
//   struct AddFn {
//     template <typename T>
//     static T Apply(T x, T y) { return WrapAdd(x, y); }
//   };
//   HR_REGISTER_BINARY("Add", AddFn, float, double, int32_t, half);
//
// The untyped kernels behind the macros handle shapes, broadcasting, buffer
// forwarding, threads and narrow floats once. Only one loop is compiled per op
// and type. half and bfloat16 are converted in blocks and run the float loop. A
// quantised type runs the loop of its integer type.
//
// A struct may also have:
//
//   static constexpr bool kSimd = true;   plain arithmetic: compile it for
//                                         AVX2 and AVX-512, too (see simd.h)
//   static constexpr double kCost = 0.3;  ns per element, for splitting work
//   Apply(x, y, ElementwiseState* s)      if it can fail or has a parameter
//   static Status Error()                 the error if s->failed is set
#ifndef HEADRACE_KERNELS_LIB_ELEMENTWISE_H_
#define HEADRACE_KERNELS_LIB_ELEMENTWISE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "headrace/op_kernel.h"
#include "kernels/lib/narrow_float.h"
#include "kernels/lib/simd.h"

namespace headrace {

class BCast;

// State for an Apply that asks for it. All threads of a Compute share it.
struct ElementwiseState {
  float param = 0;  // ApproximateEqual's tolerance
  std::atomic<bool> failed{false};
  void Fail() { failed.store(true, std::memory_order_relaxed); }
};

// Integer arithmetic wraps around; other types are unchanged. WrapOf is the
// type to compute in. It is wide enough that promotion to int cannot overflow.
template <typename T, bool kIsInt = std::is_integral_v<T>>
struct WrapOf {
  using type = T;
};
template <typename T>
struct WrapOf<T, true> {
  using type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
};
template <typename T>
inline T WrapAdd(const T& x, const T& y) {
  using W = typename WrapOf<T>::type;
  return static_cast<T>(static_cast<W>(x) + static_cast<W>(y));
}
template <typename T>
inline T WrapSub(const T& x, const T& y) {
  using W = typename WrapOf<T>::type;
  return static_cast<T>(static_cast<W>(x) - static_cast<W>(y));
}
// Computes complex products by the formula, without C99's correction for
// infinities.
template <typename T>
inline T WrapMul(const T& x, const T& y) {
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return T(x.real() * y.real() - x.imag() * y.imag(),
             x.real() * y.imag() + x.imag() * y.real());
  } else {
    using W = typename WrapOf<T>::type;
    return static_cast<T>(static_cast<W>(x) * static_cast<W>(y));
  }
}

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

// Says which operand of a loop is a single element.
enum class LoopShape : uint8_t { kBoth, kFirstScalar, kSecondScalar };

struct UnaryLoop {
  void (*run)(const void* x, void* y, int64_t n, ElementwiseState* s);
  int in_size, out_size;  // bytes per element that `run` reads and writes
  bool same_type;         // it writes the type that it reads
  double cost;
  Status (*error)();
};
struct BinaryLoop {
  void (*run)(const void* x, const void* y, void* z, int64_t n, LoopShape shape,
              ElementwiseState* s);
  // One iteration of `run`, with the same bits.
  void (*run_one)(const void* x, const void* y, void* z, ElementwiseState* s);
  int in_size, out_size;
  bool same_type;
  bool plain;  // elements are plain data
  double cost;
  Status (*error)();
};

// Finds the loop of an op, for the kernel that fuses several ops. Only float
// and double loops whose output has the input's type. Null if there is none.
const UnaryLoop* FindUnaryLoop(absl::string_view op, DataType type);
const BinaryLoop* FindBinaryLoop(absl::string_view op, DataType type);
template <typename Loop>
struct NamedLoops {
  const char* op;
  const Loop* of_float = nullptr;
  const Loop* of_double = nullptr;
  const NamedLoops* next = nullptr;  // the list of all loops
};
// For static objects, when a library is loaded.
void NameLoops(NamedLoops<UnaryLoop>* loops);
void NameLoops(NamedLoops<BinaryLoop>* loops);

class UnaryKernel final : public OpKernel {
 public:
  UnaryKernel(OpKernelConstruction* ctx, const UnaryLoop* loop);
  void Compute(OpKernelContext* ctx) override;

 private:
  void Run(const char* x, char* y, int64_t n, ElementwiseState* s) const;

  const UnaryLoop& loop_;
  const DataType type_;
  const int in_size_, out_size_;  // as stored in the tensors
};

// Broadcasts its operands unless `same_shape` is set (gradient ops).
class BinaryKernel final : public OpKernel {
 public:
  BinaryKernel(OpKernelConstruction* ctx, const BinaryLoop* loop,
               bool same_shape);
  void Compute(OpKernelContext* ctx) override;

 private:
  void ComputeMany(OpKernelContext* ctx);
  void Broadcast(OpKernelContext* ctx, const Tensor& x, const Tensor& y,
                 ElementwiseState* s);
  int RepeatedRow(const BCast& bcast, int64_t total, const Tensor& x,
                  const Tensor& y) const;
  void RepeatRow(OpKernelContext* ctx, const BCast& bcast, int k, const char* a,
                 const char* b, char* c, int64_t total, ElementwiseState* s);
  void Run(const void* x, const void* y, void* z, int64_t n, LoopShape shape,
           ElementwiseState* s) const;
  void RunNarrow(const char* x, const char* y, char* z, int64_t n,
                 LoopShape shape, ElementwiseState* s) const;

  const BinaryLoop& loop_;
  const bool same_shape_, is_narrow_;
  const DataType type_;
  const int in_size_, out_size_;
  float param_ = 0;
  // The result of Equal and NotEqual with incompatible_shape_error=false for
  // shapes that do not fit. -1: such shapes are an error.
  int mismatch_ = -1;
};

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
    return new UnaryKernel(ctx, kLoop<T>);
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
    return new BinaryKernel(ctx, kLoop<T>, kSameShape);
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
#define HR_REGISTER_ELEMENTWISE2(CTR, NAME, FN, ...)                       \
  static constinit elementwise_internal::__VA_ARGS__ hr_elementwise_##CTR( \
      NAME, FN);                                                           \
  static const elementwise_internal::Registrar hr_register_##CTR           \
      [[maybe_unused]] (&hr_elementwise_##CTR, IsWanted(NAME))

// Kernels of op NAME for the listed types of attr "T".
#define HR_REGISTER_UNARY(NAME, FN, ...)          \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          UnaryTable<1, FN, __VA_ARGS__>)
#define HR_REGISTER_BINARY(NAME, FN, ...)         \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          BinaryTable<1, false, FN, __VA_ARGS__>)
// Both operands have the same shape.
#define HR_REGISTER_BINARY_SAME_SHAPE(NAME, FN, ...) \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN,    \
                          BinaryTable<1, true, FN, __VA_ARGS__>)
// Ops whose result type is attr "Tout" (Real, ComplexAbs).
#define HR_REGISTER_UNARY_TOUT(NAME, FN, ...)     \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          UnaryTable<2, FN, __VA_ARGS__>)
#define HR_REGISTER_BINARY_TOUT(NAME, FN, ...)    \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, \
                          BinaryTable<2, false, FN, __VA_ARGS__>)
// Ops without type attrs, such as LogicalAnd.
#define HR_REGISTER_UNARY_UNTYPED(NAME, FN, TYPE) \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN, UnaryTable<0, FN, TYPE>)
#define HR_REGISTER_BINARY_UNTYPED(NAME, FN, TYPE) \
  HR_REGISTER_ELEMENTWISE(__COUNTER__, NAME, #FN,  \
                          BinaryTable<0, false, FN, TYPE>)

// Type lists for these macros.
#define HR_TYPES_FLOAT half, bfloat16, float, double
#define HR_TYPES_COMPLEX complex64, complex128
#define HR_TYPES_SIGNED int8_t, int16_t, int32_t, int64_t
#define HR_TYPES_INT HR_TYPES_SIGNED, uint8_t, uint16_t, uint32_t, uint64_t
#define HR_TYPES_REAL HR_TYPES_FLOAT, HR_TYPES_INT
#define HR_TYPES_NUMBER HR_TYPES_REAL, HR_TYPES_COMPLEX
#define HR_TYPES_QUANTIZED qint8, quint8, qint16, quint16, qint32

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ELEMENTWISE_H_
