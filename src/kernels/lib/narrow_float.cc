#include "kernels/lib/narrow_float.h"

#include <cstring>

#include "headrace/simd.h"

namespace headrace {

namespace {
// Branch-free, so that the loops vectorise; arithmetic on floats stands in for
// the shifting of subnormals.
inline float HalfBitsToFloat(uint16_t h) {
  constexpr uint32_t kExponent = 0x7c00u << 13;
  const uint32_t bits = (h & 0x7fffu) << 13;
  const uint32_t exponent = bits & kExponent;
  const uint32_t normal = bits + ((127u - 15u) << 23);
  const uint32_t special = normal + ((128u - 16u) << 23);
  const float subnormal = std::bit_cast<float>(normal + (1u << 23)) -
                          std::bit_cast<float>(113u << 23);
  uint32_t r = exponent == kExponent ? special : normal;
  r = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : r;
  return std::bit_cast<float>(r | (h & 0x8000u) << 16);
}

inline uint16_t FloatToHalfBits(float x) {
  constexpr uint32_t kInf = 255u << 23;
  constexpr uint32_t kTooLarge = (127u + 16u) << 23;
  constexpr uint32_t kMagic = ((127u - 15u) + (23u - 10u) + 1u) << 23;
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t a = bits & 0x7fffffffu;
  const uint32_t large = a > kInf ? 0x7e00u : 0x7c00u;
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(a) +
                                                 std::bit_cast<float>(kMagic)) -
                         kMagic;
  const uint32_t odd = (a >> 13) & 1u;
  const uint32_t normal = (a - ((127u - 15u) << 23) + 0xfffu + odd) >> 13;
  uint32_t r = a < (113u << 23) ? small : normal;
  r = a >= kTooLarge ? large : r;
  return static_cast<uint16_t>(r | (bits & 0x80000000u) >> 16);
}

}  // namespace

void Widen(const half* x, float* y, int64_t n) {
  const uint16_t* in = reinterpret_cast<const uint16_t*>(x);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) y[i] = HalfBitsToFloat(in[i]);
  });
}

void Widen(const bfloat16* x, float* y, int64_t n) {
  const uint16_t* in = reinterpret_cast<const uint16_t*>(x);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) {
      y[i] = std::bit_cast<float>(static_cast<uint32_t>(in[i]) << 16);
    }
  });
}

void Narrow(const float* x, half* y, int64_t n) {
  uint16_t* out = reinterpret_cast<uint16_t*>(y);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) out[i] = FloatToHalfBits(x[i]);
  });
}

void Narrow(const float* x, bfloat16* y, int64_t n) {
  uint16_t* out = reinterpret_cast<uint16_t*>(y);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) out[i] = FloatToBfloat16Bits(x[i]);
  });
}

}  // namespace headrace
