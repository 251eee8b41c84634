// What our own element-wise ops need beside headrace/elementwise.h: arithmetic
// of integers that wraps around, ops of other signatures, lists of types.
#ifndef HEADRACE_KERNELS_LIB_ELEMENTWISE_H_
#define HEADRACE_KERNELS_LIB_ELEMENTWISE_H_

#include <cstdint>
#include <type_traits>

#include "headrace/elementwise.h"  // IWYU pragma: export

namespace headrace {

// Integer arithmetic wraps around; other types are unchanged. WrapOf is the
// type to compute in. It is wide enough that promotion to int cannot overflow.
template <typename T, bool = std::is_integral_v<T>>
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

// Lists of types for these macros.
#define HR_TYPES_COMPLEX complex64, complex128
#define HR_TYPES_SIGNED int8_t, int16_t, int32_t, int64_t
#define HR_TYPES_INT HR_TYPES_SIGNED, uint8_t, uint16_t, uint32_t, uint64_t
#define HR_TYPES_REAL HR_TYPES_FLOAT, HR_TYPES_INT
#define HR_TYPES_NUMBER HR_TYPES_REAL, HR_TYPES_COMPLEX
#define HR_TYPES_QUANTIZED qint8, quint8, qint16, quint16, qint32

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_ELEMENTWISE_H_
