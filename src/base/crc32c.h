// CRC-32C (Castagnoli) for record files, tables and checkpoints. Uses the
// processor's instruction if it has one, else a table. Thread-safe.
#ifndef HEADRACE_BASE_CRC32C_H_
#define HEADRACE_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace::crc32c {

// Returns the CRC of the bytes A followed by data[0, n); `crc` is the CRC of A.
uint32_t Extend(uint32_t crc, const char* data, size_t n);

inline uint32_t Value(const char* data, size_t n) { return Extend(0, data, n); }
inline uint32_t Value(std::string_view s) { return Value(s.data(), s.size()); }

// Files store masked CRCs, because the CRC of data that contains its own CRC is
// weak.
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
