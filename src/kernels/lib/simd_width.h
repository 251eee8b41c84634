// RunSimd (simd.h) for code written with vector types. It passes the width of
// the processor's widest vectors, in bytes.
//
//   RunSimdWide([&](auto bytes) {
//     using Vector = VectorOf<decltype(bytes)::value>;
//     for (; i + Vector::kLanes <= n; i += Vector::kLanes) {
//       Vector::At(y + i) = Vector::At(x + i) * 2.0f;
//     }
//   });
#ifndef HEADRACE_KERNELS_LIB_SIMD_WIDTH_H_
#define HEADRACE_KERNELS_LIB_SIMD_WIDTH_H_

#include <cstdint>
#include <type_traits>

#include "headrace/simd.h"

namespace headrace {

// Vectors of floats or doubles at any address. Pass them as VectorOf<>, because
// template arguments lose attributes.
template <int kBytes, typename T = float>
struct VectorOf {
  static constexpr int64_t kLanes = kBytes / sizeof(T);
  typedef T Type
      __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
  static const Type& At(const T* p) {
    return *reinterpret_cast<const Type*>(p);
  }
  static Type& At(T* p) { return *reinterpret_cast<Type*>(p); }
};

// A single number with the interface of a vector.
template <typename T = float>
struct ScalarOf {
  static constexpr int64_t kLanes = 1;
  using Type = T;
  static const T& At(const T* p) { return *p; }
  static T& At(T* p) { return *p; }
};

// Calls f(std::integral_constant<int, bytes of a vector>), compiled for this
// processor. `f` returns nothing.
template <typename F>
inline void RunSimdWide(const F& f) {
#ifdef HR_HAVE_TARGET_CLONES
  switch (simd_internal::Level()) {
    case 4:
      return simd_internal::RunV4(
          [&] { f(std::integral_constant<int, 64>()); });
    case 3:
      return simd_internal::RunV3(
          [&] { f(std::integral_constant<int, 32>()); });
    default:
      return simd_internal::RunBaseline(
          [&] { f(std::integral_constant<int, 16>()); });
  }
#else
  f(std::integral_constant<int, 16>());
#endif
}

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SIMD_WIDTH_H_
