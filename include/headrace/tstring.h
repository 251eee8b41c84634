// tstring: the element of a DT_STRING tensor. Its layout in memory is that of
// TensorFlow's TF_TString since 2.4 (24 bytes, four kinds). A tensor's bytes
// can therefore pass through the C ABI without conversion:
//   small   byte 0 = size << 2, characters in bytes 1..22, NUL terminated
//   large   size << 2 | 1, capacity, pointer to malloc'd characters
//   offset  u32 size << 2 | 2, u32 offset from this struct, u32 count
//   view    size << 2 | 3, pointer to characters that the tstring does not own
// 24 zero bytes are an empty small string. To move a tstring, copy the 24 bytes
// and zero the source. Functions that allocate throw OutOfMemory
// (base/exceptions.h) if there is no memory. Not thread-safe, like std::string.
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
    if (kind() == kOffset) {  // relative to the struct, so copy the characters
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

  // Copies `n` characters. `s` may point into this string.
  void assign(const char* s, size_t n);
  void append(const char* s, size_t n);
  tstring& operator+=(absl::string_view s) {
    append(s.data(), s.size());
    return *this;
  }
  // Sets the size to `n`. Returns a pointer to the characters, which have
  // undefined values.
  char* resize_uninitialized(size_t n);
  // A writable pointer to size() characters. A view or offset string becomes a
  // copy first.
  char* mdata();
  // Refers to `n` characters without a copy. They must outlive this string.
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
  // The pointer is at byte 16 of a large string and at byte 8 of a view.
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
