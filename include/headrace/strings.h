// String helpers that absl lacks, and the string hash of TensorFlow's wire
// formats. All functions are thread-safe.
#ifndef HEADRACE_STRINGS_H_
#define HEADRACE_STRINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace headrace {

// Debian's absl has a string_view class of its own, which does not convert to
// or from std::string_view. Headrace's interfaces take std::string_view; these
// two functions convert.
inline absl::string_view ToAbsl(std::string_view s) {
  return {s.data(), s.size()};
}
inline std::string_view ToStd(absl::string_view s) {
  return {s.data(), s.size()};
}

namespace internal {
// Passes an argument to absl::StrCat unchanged; converts std::string_view.
template <typename T>
decltype(auto) StrCatArg(const T& arg) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(arg);
  } else {
    return (arg);
  }
}
}  // namespace internal

// absl::StrCat and absl::StrAppend that also accept std::string_view.
template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(internal::StrCatArg(args)...);
}
template <typename... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, internal::StrCatArg(args)...);
}

// MurmurHash64A, little-endian, with TensorFlow's seed. Never change it: it is
// part of the wire format (processes must compute equal frame ids for
// rendezvous keys).
uint64_t Hash64(const char* data, size_t n, uint64_t seed = 0xDECAFCAFFEull);
inline uint64_t Hash64(std::string_view s) {
  return Hash64(s.data(), s.size());
}

// Mixes hash `b` into hash `a`. The order matters.
inline uint64_t Hash64Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ull + (a << 10) + (a >> 4));
}

// True for [A-Za-z_][A-Za-z0-9_]*, a C or Python identifier.
bool IsIdentifier(std::string_view s);

}  // namespace headrace

#endif  // HEADRACE_STRINGS_H_
