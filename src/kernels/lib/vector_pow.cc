#include "kernels/lib/vector_pow.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/lib/simd_width.h"
#include "kernels/lib/vector_math.h"

namespace headrace {
namespace {

// x^y = 2^(y log2(|x|)) in double precision, to 2^-29; then what C99 says of
// signs, zeros, infinities and NaN.
inline float PowOfAny(float x, float y) {
  // |x| = 2^e m, sqrt(1/2) <= m < sqrt(2); log(m) = 2 atanh(s).
  constexpr uint64_t kMantissa = (uint64_t{1} << 52) - 1;
  constexpr uint64_t kBias = uint64_t{1023} << 52;
  constexpr uint64_t kRootHalf = std::bit_cast<uint64_t>(0.70710678118654752);
  // Adding it leaves an integer in the low bits.
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  constexpr uint64_t kRoundBits = std::bit_cast<uint64_t>(kRound);
  const float ax = std::abs(x);
  const uint64_t shifted =
      std::bit_cast<uint64_t>(static_cast<double>(ax)) - kRootHalf;
  const double e =
      std::bit_cast<double>(((shifted + kBias) >> 52) + kRoundBits) -
      (kRound + 1023.0);
  const double m = std::bit_cast<double>((shifted & kMantissa) + kRootHalf);
  const double s = (m - 1.0) / (m + 1.0);
  const double log2 =
      e + s * Polynomial(s * s, 0.34074892873691259, 0.41167174890173067,
                         0.57708360027222552, 0.96179667326663779,
                         2.8853900817901416);
  double t = static_cast<double>(y) * log2;
  t = t < -200.0 ? -200.0 : t;
  t = t > 200.0 ? 200.0 : t;
  const double rounded = t + kRound;
  const double f = t - (rounded - kRound);
  const double power =
      Polynomial(f, 0.00015345771615570169, 0.0013399930892693791,
                 0.0096184891072527783, 0.055503287779819879,
                 0.24022646889247021, 0.69314720573663667, 1.0000000005543535);
  const uint64_t n = std::bit_cast<uint64_t>(rounded) << 52;
  float r = static_cast<float>(
      std::bit_cast<double>(std::bit_cast<uint64_t>(power) + n));

  constexpr float kInf = std::numeric_limits<float>::infinity();
  // Floats from 2^24 on are even integers.
  const float small_y = Pick(std::abs(y) < 16777216.0f, y, 0.0f);
  const int32_t integer = static_cast<int32_t>(small_y);
  const bool is_integer = static_cast<float>(integer) == small_y;
  const auto odd = static_cast<uint32_t>(is_integer ? integer : 0) << 31;
  const float at_end = Pick((y < 0.0f) == (ax == 0.0f), kInf, 0.0f);
  r = Pick((ax == 0.0f) | (ax == kInf), at_end, r);
  r = std::bit_cast<float>(std::bit_cast<uint32_t>(r) |
                           (odd & std::bit_cast<uint32_t>(x)));
  const bool nan =
      (x != x) | (y != y) | ((x < 0.0f) & (ax != kInf) & !is_integer);
  r = Pick(nan, std::numeric_limits<float>::quiet_NaN(), r);
  const bool one =
      (x == 1.0f) | (y == 0.0f) | ((ax == 1.0f) & (std::abs(y) == kInf));
  r = Pick(one, 1.0f, r);
  // The exponents that graphs are full of.
  r = Pick(y == 2.0f, x * x, r);
  r = Pick(y == 3.0f, x * x * x, r);
  return Pick((y == 0.5f) & (x > 0.0f), std::sqrt(x), r);
}

// What follows is for ordinary operands: x positive and neither subnormal nor
// infinite, y not 2, 3 or 0.5, |y log2(x)| up to 125.
//
// x = 2^e m, 0.703 <= m < 1.406. One of sixteen factors t takes m to m t = 1 +
// r, |r| < 0.035; it has so few bits that r is exact. log2(x) = e - log2(t) +
// log(1 + r) log2(e) is the sum of two floats.
constexpr float kFactor[16] = {
    1.375,   1.34375, 1.28125, 1.21875,  1.1875,  1.15625,  1.09375,  1.0625,
    1.03125, 1.0,     0.9375,  0.890625, 0.84375, 0.796875, 0.765625, 0.71875};
// -log2(t): multiples of 2^-17, so that e can be added exactly, and the rest.
constexpr float kLog[16] = {
    -0x1.d676p-2, -0x1.b47ep-2, -0x1.6e22p-2, -0x1.244p-2,
    -0x1.fbcp-3,  -0x1.acf4p-3, -0x1.08c4p-3, -0x1.664p-4,
    -0x1.6bbp-5,  0.0f,         0x1.7d6p-4,   0x1.563cp-3,
    0x1.f5fcp-3,  0x1.4f7p-2,   0x1.8a8ap-2,  0x1.e7ep-2};
constexpr float kLogRest[16] = {0x1.83f9a2p-19,  -0x1.7ee71p-19,
                                -0x1.cd9d0cp-22, -0x1.eac382p-20,
                                -0x1.6b9026p-19, -0x1.e2db4ep-19,
                                -0x1.88cda8p-19, 0x1.20a6dep-21,
                                0x1.645388p-20,  0.0f,
                                0x1.25b3eep-22,  0x1.c29ffap-19,
                                0x1.8a9064p-19,  -0x1.134c4ep-20,
                                -0x1.fd501p-20,  -0x1.40358ep-19};
constexpr uint32_t kLeastM = 0x3f340000u;
constexpr float kLargestExponent = 125;

template <int kBytes>
struct Vectors {
  typedef float Float __attribute__((vector_size(kBytes)));
  typedef int32_t Int __attribute__((vector_size(kBytes)));
  typedef uint32_t Unsigned __attribute__((vector_size(kBytes)));
  static constexpr int kLanes = kBytes / 4;
};

// Vectors go by reference: as arguments or results they would depend on the
// ABI. They lie at any address.
template <typename V>
inline void LoadLanes(const void* p, V* v) {
  std::memcpy(v, p, sizeof(V));
}
template <typename V>
inline void StoreLanes(const V& v, void* p) {
  std::memcpy(p, &v, sizeof(V));
}
// a b + c, rounded once. One instruction: loops over lanes are put together.
template <typename V>
inline void MultiplyAdd(const V& a, const V& b, const V& c, V* result) {
  V r;
  for (size_t k = 0; k < sizeof(V) / sizeof(float); ++k) {
    r[k] = __builtin_fmaf(a[k], b[k], c[k]);
  }
  *result = r;
}
// p = p x + c.
template <typename V>
inline void HornerStep(const V& x, float c, V* p) {
  const V all = V() + c;
  MultiplyAdd(*p, x, all, p);
}
// table[i % 16].
template <int kBytes>
inline void LookUp(const float* table, const typename Vectors<kBytes>::Int& i,
                   typename Vectors<kBytes>::Float* result) {
  typename Vectors<kBytes>::Float low, high;
  LoadLanes(table, &low);
  if constexpr (kBytes == 64) {
    *result = __builtin_shuffle(low, i);
  } else {
    LoadLanes(table + 8, &high);
    *result = __builtin_shuffle(low, high, i);
  }
}

// log2(x) = hi + lo. The high bit of *special: x is not ordinary.
template <int kBytes>
inline void Log2(const typename Vectors<kBytes>::Float& x,
                 typename Vectors<kBytes>::Float* hi,
                 typename Vectors<kBytes>::Float* lo,
                 typename Vectors<kBytes>::Unsigned* special) {
  using F = typename Vectors<kBytes>::Float;
  using I = typename Vectors<kBytes>::Int;
  using U = typename Vectors<kBytes>::Unsigned;
  const U bits = reinterpret_cast<U>(x);
  *special = (bits - 0x00800000u) | (0x7f7fffffu - bits);
  const U above = bits - kLeastM;
  const U e = above & 0xff800000u;  // times 2^23
  const I index = reinterpret_cast<I>(above >> 19);
  const F m = reinterpret_cast<F>(bits - e);
  F t, log, rest, r;
  LookUp<kBytes>(kFactor, index, &t);
  LookUp<kBytes>(kLog, index, &log);
  LookUp<kBytes>(kLogRest, index, &rest);
  const F minus_one = F() - 1.0f;
  MultiplyAdd(m, t, minus_one, &r);

  // log(1 + r) = r - r^2 / 2 + ... = a + b.
  const F minus_half_r = r * -0.5f;
  const F square = minus_half_r * r;  // -r^2 / 2 without square_rest
  const F minus_square = -square;
  F square_rest;
  MultiplyAdd(minus_half_r, r, minus_square, &square_rest);
  const F a = r + square;
  F b = (square - (a - r)) + square_rest;
  F p = F() + 0.33362597227f;
  HornerStep(r, -0.40033444762f, &p);
  HornerStep(r, 0.49999997020f, &p);
  HornerStep(r, -0.66666662693f, &p);
  const F cube = r * square;
  MultiplyAdd(cube, p, b, &b);

  // Exact except the last three steps, which are small beside the sum.
  const F log2_e = F() + 0x1.715476p0f;
  const F log2_e_rest = F() + 0x1.4ae0cp-26f;
  const F scale = F() + 0x1p-23f;
  const F scaled_e = __builtin_convertvector(reinterpret_cast<I>(e), F);
  F whole, sum, sum_rest;
  MultiplyAdd(scaled_e, scale, log, &whole);
  MultiplyAdd(a, log2_e, whole, &sum);
  const F minus_added = whole - sum;
  MultiplyAdd(a, log2_e, minus_added, &sum_rest);
  MultiplyAdd(a, log2_e_rest, rest, &rest);
  MultiplyAdd(b, log2_e, rest, &rest);
  *hi = sum;
  *lo = sum_rest + rest;
}

// 2^(y (hi + lo)). The high bit of *special: y or that exponent is not
// ordinary.
template <int kBytes>
inline void Exp2OfProduct(const typename Vectors<kBytes>::Float& hi,
                          const typename Vectors<kBytes>::Float& lo,
                          const typename Vectors<kBytes>::Float& y,
                          typename Vectors<kBytes>::Float* power,
                          typename Vectors<kBytes>::Unsigned* special) {
  using F = typename Vectors<kBytes>::Float;
  using U = typename Vectors<kBytes>::Unsigned;
  const F t = y * hi;
  const F minus_t = -t;
  F rest;
  MultiplyAdd(y, hi, minus_t, &rest);
  MultiplyAdd(y, lo, rest, &rest);
  const U y_bits = reinterpret_cast<U>(y);
  const U not_2_or_3 = (y_bits & ~0x00400000u) ^ 0x40000000u;
  const U not_half = y_bits ^ 0x3f000000u;
  const U least = not_2_or_3 < not_half ? not_2_or_3 : not_half;
  *special = ((least - 1u) & ~y_bits) |
             (std::bit_cast<uint32_t>(kLargestExponent) -
              (reinterpret_cast<U>(t) & 0x7fffffffu));  // NaN is beyond, too
  const F shifted = t + kToInteger;
  const F f = (t - (shifted - kToInteger)) + rest;
  F p = F() + 1.5459307178e-4f;
  HornerStep(f, 1.3397961156e-3f, &p);
  HornerStep(f, 9.6180699766e-3f, &p);
  HornerStep(f, 5.5503431708e-2f, &p);
  HornerStep(f, 2.4022650719e-1f, &p);
  HornerStep(f, 6.9314718246e-1f, &p);
  HornerStep(f, 1.0f, &p);
  *power = reinterpret_cast<F>(reinterpret_cast<U>(p) +
                               (reinterpret_cast<U>(shifted) << 23));
}

constexpr int64_t kBlock = 256;

// A multiple of vectors, kBlock elements at most. In two loops: the chain of
// operations behind one power is longer than what a processor looks ahead.
template <int kBytes>
inline void PowBlock(const float* x, const float* y, float* z, int64_t n) {
  using F = typename Vectors<kBytes>::Float;
  using U = typename Vectors<kBytes>::Unsigned;
  constexpr int64_t kLanes = Vectors<kBytes>::kLanes;
  alignas(64) float hi[kBlock], lo[kBlock], result[kBlock];
  U any = {};
  for (int64_t i = 0; i < n; i += kLanes) {
    F v, h, l;
    U special;
    LoadLanes(x + i, &v);
    Log2<kBytes>(v, &h, &l, &special);
    any |= special;
    StoreLanes(h, hi + i);
    StoreLanes(l, lo + i);
  }
  for (int64_t i = 0; i < n; i += kLanes) {
    F h, l, v, power;
    U special;
    LoadLanes(hi + i, &h);
    LoadLanes(lo + i, &l);
    LoadLanes(y + i, &v);
    Exp2OfProduct<kBytes>(h, l, v, &power, &special);
    any |= special;
    StoreLanes(power, result + i);
  }
  uint32_t some = 0;
  for (int64_t k = 0; k < kLanes; ++k) some |= any[k];
  if (some >> 31 == 0) {
    std::copy_n(result, n, z);
    return;
  }
  constexpr float kLeast = std::numeric_limits<float>::min();
  constexpr float kMost = std::numeric_limits<float>::max();
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float exponent = std::abs(y[i] * hi[i]);
    const bool ordinary = (x[i] >= kLeast) & (x[i] <= kMost) & (y[i] != 2.0f) &
                          (y[i] != 3.0f) & (y[i] != 0.5f) &
                          (exponent <= kLargestExponent);
    z[i] = Pick(ordinary, result[i], PowOfAny(x[i], y[i]));
  }
}

template <int kBytes>
inline void PowBlocks(const float* x, const float* y, float* z, int64_t n) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    PowBlock<kBytes>(x + i, y + i, z + i, kBlock);
  }
  if (i == n) return;
  const int64_t rest = n - i;
  constexpr int64_t kLanes = Vectors<kBytes>::kLanes;
  const int64_t padded = (rest + kLanes - 1) / kLanes * kLanes;
  float last_x[kBlock], last_y[kBlock], last_z[kBlock];
  std::copy_n(x + i, rest, last_x);
  std::copy_n(y + i, rest, last_y);
  std::fill(last_x + rest, last_x + padded, 1.0f);
  std::fill(last_y + rest, last_y + padded, 1.0f);
  PowBlock<kBytes>(last_x, last_y, last_z, padded);
  std::copy_n(last_z, rest, z + i);
}

}  // namespace

void VecPow(const float* x, const float* y, float* z, int64_t n) {
  RunSimdWide([=](auto bytes) {
    constexpr int kBytes = decltype(bytes)::value;
    if constexpr (kBytes >= 32) {
      PowBlocks<kBytes>(x, y, z, n);
    } else {
      const int64_t count = n;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = PowOfAny(x[i], y[i]);
    }
  });
}

void VecPow(const float* x, float y, float* z, int64_t n) {
  if (y == 2.0f) {
    RunSimd([=] {
      const int64_t count = n;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = x[i] * x[i];
    });
  } else if (y == 3.0f) {
    RunSimd([=] {
      const int64_t count = n;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) z[i] = x[i] * x[i] * x[i];
    });
  } else if (y == 0.5f) {
    RunSimd([=] {
      constexpr float kInf = std::numeric_limits<float>::infinity();
      constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
      const int64_t count = n;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) {
        // x + 0: the root of -0 is 0 here, that of -infinity infinity.
        const float root = Pick(x[i] >= 0.0f, std::sqrt(x[i] + 0.0f), kNan);
        z[i] = Pick(x[i] == -kInf, kInf, root);
      }
    });
  } else {
    float same[kBlock];
    std::fill_n(same, std::min(kBlock, n), y);
    for (int64_t i = 0; i < n; i += kBlock) {
      VecPow(x + i, same, z + i, std::min(kBlock, n - i));
    }
  }
}

}  // namespace headrace
