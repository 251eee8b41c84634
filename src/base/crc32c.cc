// The instruction handles 8 bytes in a cycle but takes three to answer, so long
// inputs run as three streams whose CRCs are joined by a table: the CRC of A
// followed by B is that of A moved past |B| zero bytes, xor that of B.
#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>

#include "base/cpu.h"
#endif

namespace headrace::crc32c {
namespace {

constexpr uint32_t kPolynomial = 0x82F63B78u;  // reflected

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// kTables[k][b]: the CRC register after byte b and k zero bytes.
constexpr Tables kTables = [] {
  Tables t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int i = 0; i < 8; ++i) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    t[0][b] = crc;
  }
  for (uint32_t b = 0; b < 256; ++b) {
    for (int k = 1; k < 8; ++k) {
      t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
    }
  }
  return t;
}();

uint64_t Load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}

#if defined(__x86_64__)

// Moves a CRC register past a fixed number of zero bytes.
class ZeroShift {
 public:
  explicit ZeroShift(size_t zero_bytes) {
    // Linear over GF(2): find where each bit goes, then sum bits of a byte.
    for (int byte = 0; byte < 4; ++byte) {
      for (uint32_t b = 0; b < 256; ++b) {
        table_[byte][b] = 0;
      }
      for (int i = 0; i < 8; ++i) {
        uint32_t crc = uint32_t{1} << (8 * byte + i);
        for (size_t z = 0; z < zero_bytes; ++z) {
          crc = (crc >> 8) ^ kTables[0][crc & 0xff];
        }
        for (uint32_t b = 0; b < 256; ++b) {
          if ((b >> i) & 1) table_[byte][b] ^= crc;
        }
      }
    }
  }
  uint32_t operator()(uint32_t crc) const {
    return table_[0][crc & 0xff] ^ table_[1][(crc >> 8) & 0xff] ^
           table_[2][(crc >> 16) & 0xff] ^ table_[3][crc >> 24];
  }

 private:
  uint32_t table_[4][256];
};

constexpr size_t kStream = 2048;  // bytes of each of the three streams

__attribute__((target("sse4.2"))) uint32_t ExtendSse42(uint32_t crc,
                                                       const char* p,
                                                       size_t n) {
  uint64_t a = crc ^ 0xffffffffu;
  if (n >= 3 * kStream) {
    static const ZeroShift* const shift = new ZeroShift(kStream);
    do {
      uint64_t b = 0;
      uint64_t c = 0;
      for (const char* end = p + kStream; p < end; p += 8) {
        a = _mm_crc32_u64(a, Load64(p));
        b = _mm_crc32_u64(b, Load64(p + kStream));
        c = _mm_crc32_u64(c, Load64(p + 2 * kStream));
      }
      p += 2 * kStream;
      n -= 3 * kStream;
      a = (*shift)(static_cast<uint32_t>(a)) ^ b;
      a = (*shift)(static_cast<uint32_t>(a)) ^ c;
    } while (n >= 3 * kStream);
  }
  for (; n >= 8; p += 8, n -= 8) a = _mm_crc32_u64(a, Load64(p));
  auto tail = static_cast<uint32_t>(a);
  for (; n > 0; ++p, --n) {
    tail = _mm_crc32_u8(tail, static_cast<unsigned char>(*p));
  }
  return tail ^ 0xffffffffu;
}

#endif  // __x86_64__

}  // namespace

namespace internal {

uint32_t ExtendTable(uint32_t crc, const char* p, size_t n) {
  const Tables& t = kTables;
  crc ^= 0xffffffffu;
  for (; n >= 8; p += 8, n -= 8) {
    const uint64_t v = Load64(p) ^ crc;
    crc = t[7][v & 0xff] ^ t[6][(v >> 8) & 0xff] ^ t[5][(v >> 16) & 0xff] ^
          t[4][(v >> 24) & 0xff] ^ t[3][(v >> 32) & 0xff] ^
          t[2][(v >> 40) & 0xff] ^ t[1][(v >> 48) & 0xff] ^ t[0][v >> 56];
  }
  for (; n > 0; ++p, --n) {
    crc = (crc >> 8) ^ t[0][(crc ^ static_cast<unsigned char>(*p)) & 0xff];
  }
  return crc ^ 0xffffffffu;
}

}  // namespace internal

uint32_t Extend(uint32_t crc, const char* data, size_t n) {
#if defined(__x86_64__)
  static const bool has_instruction = HostCpu().sse4_2;
  if (has_instruction) return ExtendSse42(crc, data, n);
#endif
  return internal::ExtendTable(crc, data, n);
}

}  // namespace headrace::crc32c
