// Code for the vector units of the processor at hand, from plain loops. The
// build is baseline x86-64; what is marked here is compiled once more for AVX2
// (x86-64-v3) and AVX-512 (x86-64-v4), and the best one is taken at run time.
// Contraction is off everywhere, so all copies compute the same bits.
//
//   RunSimd([&] { for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]); });
//
// Everything the lambda calls whose body is visible is compiled with it. A call
// costs about 2 ns. No vector of GCC's may be wider than the registers are (see
// simd_width.h): it would be computed number by number.
#ifndef HEADRACE_KERNELS_LIB_SIMD_H_
#define HEADRACE_KERNELS_LIB_SIMD_H_

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(HEADRACE_TSAN) &&       \
    defined(__OPTIMIZE__)
#define HR_HAVE_TARGET_CLONES 1
#endif

namespace headrace {

#ifdef HR_HAVE_TARGET_CLONES
namespace simd_internal {
template <typename F>
__attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten,
               noinline)) void
RunV4(const F& f) {
  f();
}
template <typename F>
__attribute__((target("arch=x86-64-v3"), flatten, noinline)) void RunV3(
    const F& f) {
  f();
}
template <typename F>
__attribute__((flatten, noinline)) void RunBaseline(const F& f) {
  f();
}
int FindLevel();
inline int Level() {
  static const int level = FindLevel();
  return level;
}
}  // namespace simd_internal

// Calls f(), compiled for this processor. `f` returns nothing.
template <typename F>
inline void RunSimd(const F& f) {
  switch (simd_internal::Level()) {
    case 4:
      return simd_internal::RunV4(f);
    case 3:
      return simd_internal::RunV3(f);
    default:
      return simd_internal::RunBaseline(f);
  }
}
#else
template <typename F>
inline void RunSimd(const F& f) {
  f();
}
#endif

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LIB_SIMD_H_
