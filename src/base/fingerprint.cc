#include "base/fingerprint.h"

#include <bit>
#include <cstddef>
#include <utility>

namespace headrace {
namespace {

// Little-endian integers from bytes.
uint64_t Load(const char* p, int bytes) {
  uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    v = v << 8 | static_cast<unsigned char>(p[i]);
  }
  return v;
}
uint64_t Load64(const char* p) { return Load(p, 8); }

// FarmHash: strings are hashed by length class, the long ones in blocks of 64
// bytes with 56 bytes of state.
constexpr uint64_t kK0 = 0xc3a5c85c97cb3127;
constexpr uint64_t kK1 = 0xb492b66fbe98f273;
constexpr uint64_t kK2 = 0x9ae16a3b2f90404f;

uint64_t ShiftMix(uint64_t v) { return v ^ (v >> 47); }

uint64_t Mix(uint64_t u, uint64_t v, uint64_t mul) {
  const uint64_t a = ShiftMix((u ^ v) * mul);
  return ShiftMix((v ^ a) * mul) * mul;
}

uint64_t UpTo16(const char* s, size_t n) {
  const uint64_t mul = kK2 + n * 2;
  if (n >= 8) {
    const uint64_t a = Load64(s) + kK2, b = Load64(s + n - 8);
    return Mix(std::rotr(b, 37) * mul + a, (std::rotr(a, 25) + b) * mul, mul);
  }
  if (n >= 4) return Mix(n + (Load(s, 4) << 3), Load(s + n - 4, 4), mul);
  if (n == 0) return kK2;
  const auto byte = [s](size_t i) {
    return uint64_t{static_cast<unsigned char>(s[i])};
  };
  const uint64_t y = byte(0) + (byte(n >> 1) << 8);
  const uint64_t z = n + (byte(n - 1) << 2);
  return ShiftMix(y * kK2 ^ z * kK0) * kK2;
}

uint64_t UpTo32(const char* s, size_t n) {
  const uint64_t mul = kK2 + n * 2;
  const uint64_t a = Load64(s) * kK1, b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * mul, d = Load64(s + n - 16) * kK2;
  return Mix(std::rotr(a + b, 43) + std::rotr(c, 30) + d,
             a + std::rotr(b + kK2, 18) + c, mul);
}

uint64_t UpTo64(const char* s, size_t n) {
  const uint64_t mul = kK2 + n * 2;
  const uint64_t a = Load64(s) * kK2, b = Load64(s + 8);
  const uint64_t c = Load64(s + n - 8) * mul, d = Load64(s + n - 16) * kK2;
  const uint64_t y = std::rotr(a + b, 43) + std::rotr(c, 30) + d;
  const uint64_t z = Mix(y, a + std::rotr(b + kK2, 18) + c, mul);
  const uint64_t e = Load64(s + 16) * mul, f = Load64(s + 24);
  const uint64_t g = (y + Load64(s + n - 32)) * mul;
  const uint64_t h = (z + Load64(s + n - 24)) * mul;
  return Mix(std::rotr(e + f, 43) + std::rotr(g, 30) + h,
             e + std::rotr(f + a, 18) + g, mul);
}

struct Pair {
  uint64_t first = 0, second = 0;
};

// 32 bytes under two seeds.
Pair Weak32(const char* s, uint64_t a, uint64_t b) {
  a += Load64(s);
  const uint64_t z = Load64(s + 24), c = a;
  b = std::rotr(b + a + z, 21);
  a += Load64(s + 8) + Load64(s + 16);
  b += std::rotr(a, 44);
  return {a + z, b + c};
}

struct LongState {
  uint64_t x, y, z;
  Pair v, w;

  // `nine` is 9 in the last block and 1 before.
  void Block(const char* s, uint64_t mul, uint64_t nine) {
    x = std::rotr(x + y + v.first + Load64(s + 8), 37) * mul;
    y = std::rotr(y + v.second + Load64(s + 48), 42) * mul;
    x ^= w.second * nine;
    y += v.first * nine + Load64(s + 40);
    z = std::rotr(z + w.first, 33) * mul;
    v = Weak32(s, v.second * mul, x + w.first);
    w = Weak32(s + 32, z + w.second, y + Load64(s + 16));
    std::swap(z, x);
  }
};

uint64_t Long(const char* s, size_t n) {
  constexpr uint64_t kSeed = 81;
  LongState t;
  t.y = kSeed * kK1 + 113;
  t.z = ShiftMix(t.y * kK2 + 113) * kK2;
  t.x = kSeed * kK2 + Load64(s);
  const size_t blocks = (n - 1) / 64, rest = (n - 1) & 63;
  for (size_t i = 0; i < blocks; ++i) t.Block(s + 64 * i, kK1, 1);
  const uint64_t mul = kK1 + ((t.z & 0xff) << 1);
  t.w.first += rest;
  t.v.first += t.w.first;
  t.w.first += t.v.first;
  t.Block(s + n - 64, mul, 9);
  return Mix(Mix(t.v.first, t.w.first, mul) + ShiftMix(t.y) * kK0 + t.z,
             Mix(t.v.second, t.w.second, mul) + t.x, mul);
}

struct SipState {
  uint64_t v0, v1, v2, v3;
  void Rounds(int n) {
    for (int i = 0; i < n; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void Word(uint64_t m) {
    v3 ^= m;
    Rounds(2);
    v0 ^= m;
  }
};

// Mix with the multiplier of the 128-bit hash.
uint64_t Mix128(uint64_t u, uint64_t v) {
  return Mix(u, v, 0x9ddfea08eb382d69);
}

// Fewer than 128 bytes under two seeds.
Fingerprint128Value Short128(const char* s, size_t n, uint64_t a, uint64_t b) {
  uint64_t c, d;
  if (n <= 16) {
    a = ShiftMix(a * kK1) * kK1;
    c = b * kK1 + UpTo16(s, n);
    d = ShiftMix(a + (n >= 8 ? Load64(s) : c));
  } else {
    c = Mix128(Load64(s + n - 8) + kK1, a);
    d = Mix128(b + n, c + Load64(s + n - 16));
    a += d;
    for (size_t done = 0; done + 16 < n; done += 16) {
      a = (a ^ ShiftMix(Load64(s + done) * kK1) * kK1) * kK1;
      b ^= a;
      c = (c ^ ShiftMix(Load64(s + done + 8) * kK1) * kK1) * kK1;
      d ^= c;
    }
  }
  a = Mix128(a, c);
  b = Mix128(d, b);
  return {a ^ b, Mix128(b, a)};
}

Fingerprint128Value Seeded128(const char* s, size_t n, uint64_t low,
                              uint64_t high) {
  if (n < 128) return Short128(s, n, low, high);
  LongState t;
  t.x = low;
  t.y = high;
  t.z = n * kK1;
  t.v.first = std::rotr(t.y ^ kK1, 49) * kK1 + Load64(s);
  t.v.second = std::rotr(t.v.first, 42) * kK1 + Load64(s + 8);
  t.w.first = std::rotr(t.y + t.z, 35) * kK1 + t.x;
  t.w.second = std::rotr(t.x + Load64(s + 88), 53) * kK1;
  for (; n >= 128; n -= 128, s += 128) {
    t.Block(s, kK1, 1);
    t.Block(s + 64, kK1, 1);
  }
  t.x += std::rotr(t.v.first + t.z, 49) * kK0;
  t.y = t.y * kK0 + std::rotr(t.w.second, 37);
  t.z = t.z * kK0 + std::rotr(t.w.first, 27);
  t.w.first *= 9;
  t.v.first *= kK0;
  // The rest, in pieces of 32 bytes from its end; the last piece may reach into
  // what was done.
  for (size_t done = 0; done < n;) {
    done += 32;
    const char* piece = s + n - done;
    t.y = std::rotr(t.x + t.y, 42) * kK0 + t.v.second;
    t.w.first += Load64(piece + 16);
    t.x = t.x * kK0 + t.w.first;
    t.z += t.w.second + Load64(piece);
    t.w.second += t.v.first;
    t.v = Weak32(piece, t.v.first + t.z, t.v.second);
    t.v.first *= kK0;
  }
  const uint64_t x = Mix128(t.x, t.v.first);
  const uint64_t y = Mix128(t.y + t.z, t.w.first);
  return {Mix128(x + t.v.second, t.w.second) + y,
          Mix128(x + t.w.second, y + t.v.second)};
}

}  // namespace

Fingerprint128Value Fingerprint128(std::string_view s) {
  if (s.size() < 16) return Seeded128(s.data(), s.size(), kK0, kK1);
  return Seeded128(s.data() + 16, s.size() - 16, Load64(s.data()),
                   Load64(s.data() + 8) + kK0);
}

uint64_t Fingerprint64(std::string_view s) {
  if (s.size() <= 16) return UpTo16(s.data(), s.size());
  if (s.size() <= 32) return UpTo32(s.data(), s.size());
  if (s.size() <= 64) return UpTo64(s.data(), s.size());
  return Long(s.data(), s.size());
}

uint64_t SipHash(uint64_t k0, uint64_t k1, std::string_view s) {
  SipState t{0x736f6d6570736575 ^ k0, 0x646f72616e646f6d ^ k1,
             0x6c7967656e657261 ^ k0, 0x7465646279746573 ^ k1};
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) t.Word(Load64(s.data() + i));
  const int rest = static_cast<int>(s.size() - i);
  t.Word(Load(s.data() + i, rest) | static_cast<uint64_t>(s.size()) << 56);
  t.v2 ^= 0xff;
  t.Rounds(4);
  return t.v0 ^ t.v1 ^ t.v2 ^ t.v3;
}

}  // namespace headrace
