#include "headrace/tstring.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/exceptions.h"
#include "base/scratch_account.h"

namespace headrace {
namespace {

// What 62 bits of the size field can say.
constexpr size_t kMaxSize = (size_t{1} << 62) - 32;

// As TensorFlow's: 16-byte steps with one byte for the NUL.
size_t RoundUpCapacity(size_t n) { return (n + 16) / 16 * 16 - 1; }

// Throws OutOfMemory: a string is built in the middle of a kernel's work, whose
// edge catches that.
char* AllocateCharacters(size_t capacity) {
  char* p = nullptr;
  if (ScratchAccount::Admits(capacity)) {
    p = static_cast<char*>(std::malloc(capacity));
  }
  if (p == nullptr) throw OutOfMemory(capacity);
  return p;
}

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
    if (n > kMaxSize) throw OutOfMemory(n);
    const size_t capacity = RoundUpCapacity(n);
    char* p = AllocateCharacters(capacity + 1);
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
    tstring copy;
    std::memcpy(copy.resize_uninitialized(n), s, n);
    *this = std::move(copy);
    return;
  }
  char* p = resize_uninitialized(n);
  if (n != 0) std::memcpy(p, s, n);
}

void tstring::append(const char* s, size_t n) {
  if (n == 0) return;
  const size_t old = size();
  if (n > kMaxSize - old) throw OutOfMemory(n);
  tstring joined;
  char* p = joined.resize_uninitialized(old + n);
  std::memcpy(p, data(), old);
  std::memcpy(p + old, s, n);
  *this = std::move(joined);
}

char* tstring::mdata() {
  if (kind() == kOffset || kind() == kView) {
    tstring copy;
    std::memcpy(copy.resize_uninitialized(size()), data(), size());
    *this = std::move(copy);
  }
  return const_cast<char*>(data());
}

}  // namespace headrace
