// Kernels compute with denormal numbers as zero, as arguments and as results:
// so does TensorFlow on every thread that runs kernels, and models that were
// trained there have seen no others. Arithmetic on denormals is also 10 to 100
// times slower on many processors, so that a network whose activations fade
// would slow down. Threads that only run kernels say so once; a client's thread
// is changed for as long as it works on a step, and Python functions that a
// step calls see the same.
//
// Moves, comparisons by bits and conversions of text do not look at the mode:
// a denormal that is only passed on stays what it is.
#ifndef HEADRACE_BASE_FLUSH_DENORMALS_H_
#define HEADRACE_BASE_FLUSH_DENORMALS_H_

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace headrace {

// Sets the mode for this thread while it lives. Costs some nanoseconds, less
// where the mode is set already.
class FlushDenormals {
 public:
  FlushDenormals() : before_(Get()) {
    if ((before_ & kBits) != kBits) Set(before_ | kBits);
  }
  ~FlushDenormals() {
    // Other bits may have been changed meanwhile; exceptions that were raised
    // are among them.
    if ((before_ & kBits) != kBits) Set((Get() & ~kBits) | (before_ & kBits));
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  using Word = uint32_t;
  static constexpr Word kBits = 0x8040;  // flush to zero, denormals are zero
  static Word Get() { return _mm_getcsr(); }
  static void Set(Word w) { _mm_setcsr(w); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static constexpr Word kBits = Word{1} << 24;  // FZ: arguments and results
  static Word Get() {
    Word w;
    asm volatile("mrs %0, fpcr" : "=r"(w));
    return w;
  }
  static void Set(Word w) { asm volatile("msr fpcr, %0" : : "r"(w)); }
#else
  using Word = uint32_t;
  static constexpr Word kBits = 0;
  static Word Get() { return 0; }
  static void Set(Word) {}
#endif

  const Word before_;
};

}  // namespace headrace

#endif  // HEADRACE_BASE_FLUSH_DENORMALS_H_
