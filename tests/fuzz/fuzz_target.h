// A fuzz target is a function of bytes that must neither crash nor hang:
//
//   FUZZ_TARGET(wav) { WavView wav; (void)ParseWav(bytes, &wav); }
//
// In the fuzz preset each source is a libFuzzer program of its own; in all
// others they are linked into fuzz_replay, which runs them over the corpora.
#ifndef HEADRACE_TESTS_FUZZ_FUZZ_TARGET_H_
#define HEADRACE_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace headrace::fuzz {

using Function = void (*)(absl::string_view bytes);

struct Target {
  Target(const char* name, Function function)
      : name(name), function(function), next(first) {
    first = this;
  }
  const char* const name;
  const Function function;
  const Target* const next;
  static inline const Target* first = nullptr;
};

#ifdef HEADRACE_LIBFUZZER
#define FUZZ_TARGET(NAME)                                                   \
  static void Fuzz(absl::string_view bytes);                                \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    Fuzz({reinterpret_cast<const char*>(data), size});                      \
    return 0;                                                               \
  }                                                                         \
  static void Fuzz(absl::string_view bytes)
#else
#define FUZZ_TARGET(NAME)                                         \
  static void Fuzz(absl::string_view bytes);                      \
  static const ::headrace::fuzz::Target fuzz_target{#NAME, Fuzz}; \
  static void Fuzz(absl::string_view bytes)
#endif

// Decisions out of the fuzzer's bytes; zeros when they are used up.
class Choices {
 public:
  explicit Choices(absl::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }
  uint8_t Byte() {
    if (rest_.empty()) return 0;
    const auto b = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return b;
  }
  // Below n, which is positive.
  uint32_t Below(uint32_t n) {
    const uint32_t high = n > 256 ? Byte() : 0;
    return (high << 8 | Byte()) % n;
  }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  absl::string_view Text(size_t n) {
    const absl::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(out.size());
    return out;
  }

 private:
  absl::string_view rest_;
};

}  // namespace headrace::fuzz

#endif  // HEADRACE_TESTS_FUZZ_FUZZ_TARGET_H_
