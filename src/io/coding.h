// Integers as in checkpoints: little-endian with fixed width, and varints with
// 7 bits per byte. The readers remove bytes from the front of `in`. They return
// false if `in` ends early or a varint is too long; `in` is then unspecified.
#ifndef HEADRACE_IO_CODING_H_
#define HEADRACE_IO_CODING_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace headrace {

template <typename T>
void PutFixed(std::string* out, T v) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out->push_back(static_cast<char>(v >> (8 * i)));
  }
}
// `p` points to sizeof(T) bytes.
template <typename T>
T GetFixed(const char* p) {
  T v = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    v |= static_cast<T>(static_cast<uint8_t>(p[i])) << (8 * i);
  }
  return v;
}

inline void PutVarint(std::string* out, uint64_t v) {
  for (; v >= 128; v >>= 7) out->push_back(static_cast<char>(v | 128));
  out->push_back(static_cast<char>(v));
}
inline bool GetVarint64(absl::string_view* in, uint64_t* v) {
  *v = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const uint64_t byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    *v |= (byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}
inline bool GetVarint32(absl::string_view* in, uint32_t* v) {
  uint64_t wide = 0;
  if (!GetVarint64(in, &wide) || wide > UINT32_MAX) return false;
  *v = static_cast<uint32_t>(wide);
  return true;
}

}  // namespace headrace

#endif  // HEADRACE_IO_CODING_H_
