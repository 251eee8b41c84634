// Compiles plain loops for the vector units of the processor. The build is
// baseline x86-64. Code marked here is also compiled for AVX2 (x86-64-v3) and
// AVX-512 (x86-64-v4), and the best copy is chosen at run time. Contraction is
// off in the whole build, so all copies compute the same bits; a library of ops
// that wants this is compiled with -ffp-contract=off, too.
//
//   RunSimd([&] { for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]); });
//
// Functions that the lambda calls are compiled with it if their bodies are
// visible, at -O3 if the source is compiled with -O2. A call costs about 2 ns.
// GCC's vector types must not be wider than the registers: GCC would compute
// them one number at a time.
#ifndef HEADRACE_SIMD_H_
#define HEADRACE_SIMD_H_

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(HEADRACE_TSAN) &&       \
    defined(__OPTIMIZE__)
#define HR_HAVE_TARGET_CLONES 1
#endif

// GCC inlines nothing of -Os into a function of -O3.
#ifdef __OPTIMIZE_SIZE__
#define HR_SIMD_OPTIMIZE_
#else
#define HR_SIMD_OPTIMIZE_ , optimize("O3")
#endif

namespace headrace {

#ifdef HR_HAVE_TARGET_CLONES
namespace simd_internal {
template <typename F>
__attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten,
               noinline HR_SIMD_OPTIMIZE_)) void
RunV4(const F& f) {
  f();
}
template <typename F>
__attribute__((target("arch=x86-64-v3"), flatten,
               noinline HR_SIMD_OPTIMIZE_)) void
RunV3(const F& f) {
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

#undef HR_SIMD_OPTIMIZE_

#endif  // HEADRACE_SIMD_H_
