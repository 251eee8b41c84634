#include "framework/tstring.h"

#include <algorithm>

namespace headrace {
namespace {
// As TensorFlow's: 16-byte steps with one byte for the NUL.
size_t RoundUpCapacity(size_t n) { return (n + 16) / 16 * 16 - 1; }
}  // namespace

char* tstring::resize_uninitialized(size_t n) {
  if (n <= kSmallCapacity) {
    Free();
    raw_[0] = static_cast<unsigned char>(n << 2);
    char* p = reinterpret_cast<char*>(raw_) + 1;
    p[n] = '\0';
    return p;
  }
  if (kind() == kLarge && Word64(8) >= n) {
    SetWord64(0, n << 2 | kLarge);
  } else {
    Free();
    const size_t capacity = RoundUpCapacity(n);
    char* p = static_cast<char*>(std::malloc(capacity + 1));
    if (p == nullptr) return nullptr;
    SetWord64(0, n << 2 | kLarge);
    SetWord64(8, capacity);
    SetPointer(p);
  }
  char* p = const_cast<char*>(Pointer());
  p[n] = '\0';
  return p;
}

void tstring::assign(const char* s, size_t n) {
  const char* own = data();
  if (s >= own && s < own + size()) {
    const std::string copy(s, n);
    std::memcpy(resize_uninitialized(n), copy.data(), n);
    return;
  }
  char* p = resize_uninitialized(n);
  if (n != 0 && p != nullptr) std::memcpy(p, s, n);
}

void tstring::append(const char* s, size_t n) {
  std::string joined;
  joined.reserve(size() + n);
  joined.append(data(), size());
  joined.append(s, n);
  assign(joined.data(), joined.size());
}

char* tstring::mdata() {
  if (kind() == kOffset || kind() == kView) {
    const std::string copy(data(), size());
    assign(copy.data(), copy.size());
  }
  return const_cast<char*>(data());
}

}  // namespace headrace
