// Kernels treat denormal numbers as zero, both as arguments and as results.
// TensorFlow does so on all threads that run kernels, and models were trained
// that way. Arithmetic on denormals is also 10 to 100 times slower on many
// processors.
//
// A thread that only runs kernels sets the mode once. A client's thread has the
// mode while it works on a step, and so have the Python functions that the step
// calls.
//
// Copies, bitwise comparisons and text conversions ignore the mode: a denormal
// that is only copied does not change.
#ifndef HEADRACE_BASE_FLUSH_DENORMALS_H_
#define HEADRACE_BASE_FLUSH_DENORMALS_H_

#include <cstdint>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace headrace {

// Sets the mode of this thread for the lifetime of this object. Costs a few
// nanoseconds, and less if the mode is already set.
class FlushDenormals {
 public:
  FlushDenormals() : before_(Get()) {
    if ((before_ & kBits) != kBits) Set(before_ | kBits);
  }
  ~FlushDenormals() {
    // Restore only the mode bits: other bits, such as raised exceptions, may
    // have changed meanwhile.
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
  static constexpr Word kBits = Word{1} << 24;  // FZ: for arguments and results
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
