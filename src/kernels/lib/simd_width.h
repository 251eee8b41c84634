// RunSimd (simd.h) for code that is written in vectors: the widest vectors of
// the processor at hand are told to it.
//
//   RunSimdWide([&](auto bytes) {
//     typedef float V __attribute__((vector_size(bytes()), aligned(4),
//                                    may_alias));
//     ...
//   });
#ifndef HEADRACE_KERNELS_LIB_SIMD_WIDTH_H_
#define HEADRACE_KERNELS_LIB_SIMD_WIDTH_H_

#include <type_traits>

#include "kernels/lib/simd.h"

namespace headrace {

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
