#include "headrace/strings.h"

#include <bit>
#include <cstring>

#include "absl/strings/ascii.h"

namespace headrace {

uint64_t Hash64(const char* data, size_t n, uint64_t seed) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t m = 0xc6a4a7935bd1e995ull;
  constexpr int r = 47;
  uint64_t h = seed ^ (n * m);
  for (; n >= 8; data += 8, n -= 8) {
    uint64_t k;
    std::memcpy(&k, data, 8);
    k *= m;
    k ^= k >> r;
    k *= m;
    h ^= k;
    h *= m;
  }
  if (n > 0) {
    uint64_t k = 0;
    std::memcpy(&k, data, n);
    h ^= k;
    h *= m;
  }
  h ^= h >> r;
  h *= m;
  h ^= h >> r;
  return h;
}

bool IsIdentifier(std::string_view s) {
  if (s.empty() || absl::ascii_isdigit(s[0])) return false;
  for (char c : s) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

}  // namespace headrace
