// CRC-32C (Castagnoli), as record files, tables and checkpoints use it: with
// the processor's instruction where there is one, else by table. Thread-safe.
#ifndef HEADRACE_BASE_CRC32C_H_
#define HEADRACE_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::crc32c {

// The CRC of A followed by data[0, n), where `crc` is that of A.
uint32_t Extend(uint32_t crc, const char* data, size_t n);

inline uint32_t Value(const char* data, size_t n) { return Extend(0, data, n); }
inline uint32_t Value(std::string_view s) { return Value(s.data(), s.size()); }

// Files store masked CRCs: the CRC of bytes that contain CRCs would be weak.
inline uint32_t Mask(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}
inline uint32_t Unmask(uint32_t masked) {
  const uint32_t rot = masked - 0xa282ead8u;
  return (rot << 15) | (rot >> 17);
}

namespace internal {
uint32_t ExtendTable(uint32_t crc, const char* data, size_t n);
}  // namespace internal

}  // namespace headrace::crc32c

#endif  // HEADRACE_BASE_CRC32C_H_
