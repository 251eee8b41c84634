#include "kernels/lib/half_convert.h"

#include <bit>

#include "kernels/lib/simd.h"

namespace headrace {
namespace {

// The two conversions by bits alone, without branches, so that they vectorise
// with any instruction set.
inline float FromHalfBits(uint32_t h) {
  const uint32_t sign = (h & 0x8000u) << 16;
  const uint32_t rest = (h & 0x7fffu) << 13;
  const uint32_t exponent = rest & 0x0f800000u;
  // Normal: rebias. Infinity and NaN: rebias twice. Subnormal: as a difference
  // of two normals.
  const uint32_t normal = rest + (112u << 23);
  const uint32_t special = rest + (224u << 23);
  const float subnormal = std::bit_cast<float>(rest + (113u << 23)) -
                          std::bit_cast<float>(113u << 23);
  uint32_t bits = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : normal;
  bits = exponent == 0x0f800000u ? special : bits;
  return std::bit_cast<float>(bits | sign);
}

inline uint16_t ToHalfBits(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (u >> 16) & 0x8000u;
  const uint32_t a = u & 0x7fffffffu;
  // Subnormal halves: adding 0.5 aligns the mantissa and rounds it.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0.5f) - (126u << 23);
  const uint32_t odd = (a >> 13) & 1;
  const uint32_t normal = (a - (112u << 23) + 0xfffu + odd) >> 13;
  uint32_t h = a < (113u << 23) ? subnormal : normal;
  h = a >= (143u << 23) ? 0x7c00u : h;  // overflow and infinity
  h = a > (255u << 23) ? 0x7e00u : h;   // NaN
  return static_cast<uint16_t>(h | sign);
}

inline uint16_t ToBfloat16Bits(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  const uint32_t nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

}  // namespace

void ToFloat(const half* x, int64_t n, float* y) {
  const uint16_t* h = reinterpret_cast<const uint16_t*>(x);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) y[i] = FromHalfBits(h[i]);
  });
}

void ToFloat(const bfloat16* x, int64_t n, float* y) {
  const uint16_t* h = reinterpret_cast<const uint16_t*>(x);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) {
      y[i] = std::bit_cast<float>(static_cast<uint32_t>(h[i]) << 16);
    }
  });
}

void FromFloat(const float* x, int64_t n, half* y) {
  uint16_t* h = reinterpret_cast<uint16_t*>(y);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) h[i] = ToHalfBits(x[i]);
  });
}

void FromFloat(const float* x, int64_t n, bfloat16* y) {
  uint16_t* h = reinterpret_cast<uint16_t*>(y);
  RunSimd([=] {
    for (int64_t i = 0; i < n; ++i) h[i] = ToBfloat16Bits(x[i]);
  });
}

}  // namespace headrace
