// Small string helpers that absl lacks (std::string_view with absl), and the
// string hash of TensorFlow's wire formats.
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

// Debian builds absl with a string_view of its own, which does not convert to
// or from std's. Headrace's interfaces take std::string_view; these cross over.
inline absl::string_view ToAbsl(std::string_view s) {
  return {s.data(), s.size()};
}
inline std::string_view ToStd(absl::string_view s) {
  return {s.data(), s.size()};
}

namespace internal {
// What absl::StrCat takes, as it is; std::string_view by way of absl's.
template <typename T>
decltype(auto) StrCatArg(const T& arg) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return ToAbsl(arg);
  } else {
    return (arg);
  }
}
}  // namespace internal

// absl::StrCat and StrAppend that take std::string_view as well.
template <typename... Args>
std::string StrCat(const Args&... args) {
  return absl::StrCat(internal::StrCatArg(args)...);
}
template <typename... Args>
void StrAppend(std::string* out, const Args&... args) {
  absl::StrAppend(out, internal::StrCatArg(args)...);
}

// MurmurHash64A, little-endian, with TensorFlow's seed. Part of the wire format
// (frame ids in rendezvous keys must agree between processes): never change it.
uint64_t Hash64(const char* data, size_t n, uint64_t seed = 0xDECAFCAFFEull);
inline uint64_t Hash64(std::string_view s) {
  return Hash64(s.data(), s.size());
}

// Mixes hash `b` into `a`; the order matters.
inline uint64_t Hash64Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800ull + (a << 10) + (a >> 4));
}

// [A-Za-z_][A-Za-z0-9_]*: a C or Python identifier.
bool IsIdentifier(std::string_view s);

}  // namespace headrace

#endif  // HEADRACE_STRINGS_H_
