// tstring: the element of a DT_STRING tensor, laid out in memory as
// TensorFlow's TF_TString since 2.4 (24 bytes, four kinds), so that a tensor's
// bytes can be handed through the C ABI without translation:
//   small   byte 0 = size << 2, characters in bytes 1..22, NUL terminated
//   large   size << 2 | 1, capacity, pointer to malloc'd characters
//   offset  u32 size << 2 | 2, u32 offset from this struct, u32 count
//   view    size << 2 | 3, pointer to characters owned by somebody else
// All-zero bytes are the empty small string. Moving is copying the 24 bytes and
// zeroing the source. What makes a string grow throws OutOfMemory
// (base/exceptions.h) where there is none. Not thread-safe, like std::string.
#ifndef HEADRACE_TSTRING_H_
#define HEADRACE_TSTRING_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>

#include "absl/strings/string_view.h"

namespace headrace {

class tstring {
 public:
  tstring() { std::memset(raw_, 0, sizeof(raw_)); }
  tstring(absl::string_view s) : tstring() { assign(s.data(), s.size()); }
  tstring(const char* s) : tstring(absl::string_view(s)) {}
  tstring(const std::string& s) : tstring(absl::string_view(s)) {}
  tstring(const tstring& o) : tstring() { assign(o.data(), o.size()); }
  tstring(tstring&& o) noexcept {
    std::memcpy(raw_, o.raw_, sizeof(raw_));
    if (kind() == kOffset) {  // relative to the struct: must be copied out
      const absl::string_view v = o;
      std::memset(raw_, 0, sizeof(raw_));
      assign(v.data(), v.size());
    }
    std::memset(o.raw_, 0, sizeof(o.raw_));
  }
  ~tstring() { Free(); }
  tstring& operator=(const tstring& o) {
    if (this != &o) assign(o.data(), o.size());
    return *this;
  }
  tstring& operator=(tstring&& o) noexcept {
    if (this != &o) {
      this->~tstring();
      new (this) tstring(static_cast<tstring&&>(o));
    }
    return *this;
  }
  tstring& operator=(absl::string_view s) {
    assign(s.data(), s.size());
    return *this;
  }
  tstring& operator=(const char* s) { return *this = absl::string_view(s); }
  tstring& operator=(const std::string& s) {
    return *this = absl::string_view(s);
  }

  const char* data() const {
    switch (kind()) {
      case kSmall:
        return reinterpret_cast<const char*>(raw_) + 1;
      case kOffset:
        return reinterpret_cast<const char*>(raw_) + Word32(4);
      default:
        return Pointer();
    }
  }
  size_t size() const {
    switch (kind()) {
      case kSmall:
        return raw_[0] >> 2;
      case kOffset:
        return Word32(0) >> 2;
      default:
        return Word64(0) >> 2;
    }
  }
  bool empty() const { return size() == 0; }
  operator absl::string_view() const {  // NOLINT: a string is a view
    return absl::string_view(data(), size());
  }
  explicit operator std::string() const { return std::string(data(), size()); }

  // Copies the characters; `s` may point into this string.
  void assign(const char* s, size_t n);
  void append(const char* s, size_t n);
  tstring& operator+=(absl::string_view s) {
    append(s.data(), s.size());
    return *this;
  }
  // Room for `n` characters, contents undefined; returns writable characters.
  char* resize_uninitialized(size_t n);
  // A writable pointer to size() characters; copies out of a view or offset.
  char* mdata();
  // Points at characters that outlive this string, without a copy.
  void assign_as_view(const char* s, size_t n) {
    Free();
    SetWord64(0, n << 2 | kView);
    SetPointer(s);
  }

  friend bool operator==(const tstring& a, const tstring& b) {
    return absl::string_view(a) == absl::string_view(b);
  }
  friend bool operator!=(const tstring& a, const tstring& b) {
    return !(a == b);
  }
  friend bool operator<(const tstring& a, const tstring& b) {
    return absl::string_view(a) < absl::string_view(b);
  }
  friend std::ostream& operator<<(std::ostream& os, const tstring& s) {
    return os << absl::string_view(s);
  }
  template <typename H>
  friend H AbslHashValue(H h, const tstring& s) {
    return H::combine(std::move(h), absl::string_view(s));
  }

 private:
  enum Kind { kSmall = 0, kLarge = 1, kOffset = 2, kView = 3 };
  static constexpr size_t kSmallCapacity = 22;

  Kind kind() const { return static_cast<Kind>(raw_[0] & 3); }
  uint32_t Word32(int at) const {
    uint32_t v;
    std::memcpy(&v, raw_ + at, sizeof(v));
    return v;
  }
  uint64_t Word64(int at) const {
    uint64_t v;
    std::memcpy(&v, raw_ + at, sizeof(v));
    return v;
  }
  void SetWord64(int at, uint64_t v) { std::memcpy(raw_ + at, &v, sizeof(v)); }
  // The pointer is at byte 16 in a large string and at byte 8 in a view.
  const char* Pointer() const {
    const char* p;
    std::memcpy(&p, raw_ + (kind() == kLarge ? 16 : 8), sizeof(p));
    return p;
  }
  void SetPointer(const char* p) {
    std::memcpy(raw_ + (kind() == kLarge ? 16 : 8), &p, sizeof(p));
  }
  void Free() {
    if (kind() == kLarge) std::free(const_cast<char*>(Pointer()));
    std::memset(raw_, 0, sizeof(raw_));
  }

  alignas(8) unsigned char raw_[24];
};
static_assert(sizeof(tstring) == 24);

}  // namespace headrace

#endif  // HEADRACE_TSTRING_H_
