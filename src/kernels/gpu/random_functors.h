// Random numbers by Philox, the CPU's numbers: result i comes from the same
// block of the stream, by the same steps (kernels/random/random_fill.cc).
#ifndef HEADRACE_KERNELS_GPU_RANDOM_FUNCTORS_H_
#define HEADRACE_KERNELS_GPU_RANDOM_FUNCTORS_H_

#include "kernels/gpu/grid.h"

namespace headrace::gpu {

// A stream: the key, and the counter of its first block.
struct PhiloxStream {
  uint64_t key, low, high;

  // Block n, four words.
  HR_HOST_DEVICE void Block(uint64_t n, uint32_t* c) const {
    const uint64_t l = low + n;
    const uint64_t h = high + (l < low ? 1 : 0);
    c[0] = static_cast<uint32_t>(l), c[1] = static_cast<uint32_t>(l >> 32);
    c[2] = static_cast<uint32_t>(h), c[3] = static_cast<uint32_t>(h >> 32);
    uint32_t k0 = static_cast<uint32_t>(key);
    uint32_t k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * c[2];
      c[0] = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
      c[1] = static_cast<uint32_t>(p1);
      c[2] = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
      c[3] = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
  }
};

HR_HOST_DEVICE inline float UnitFloat(uint32_t x) {
  return FloatOf(0x3f800000u | (x & 0x7fffffu)) - 1.0f;
}
// Two independent normals; the sine first.
HR_HOST_DEVICE inline void NormalPair(uint32_t x0, uint32_t x1, float* pair) {
  const float first = UnitFloat(x0);
  const float u = first < 1e-7f ? 1e-7f : first;
  const float v = static_cast<float>(6.283185307179586476925286766559 *
                                     static_cast<double>(UnitFloat(x1)));
  const float r = Sqrt(-2.0f * Log(u));
  pair[0] = Sin(v) * r;
  pair[1] = Cos(v) * r;
}

// From 20 bits of the first word and all of the second.
HR_HOST_DEVICE inline double UnitDouble(uint32_t x0, uint32_t x1) {
  const uint64_t bits = uint64_t{x0 & 0xfffffu} << 32 | x1;
  return static_cast<double>(bits) * (1.0 / 4503599627370496.0);  // 2^-52
}
HR_HOST_DEVICE inline void NormalPair(const uint32_t* x, double* pair) {
  const double first = UnitDouble(x[0], x[1]);
  const double u = first < 1e-7 ? 1e-7 : first;
  const double v = 6.283185307179586476925286766559 * UnitDouble(x[2], x[3]);
  const double r = Sqrt(-2.0 * Log(u));
  pair[0] = Sin(v) * r;
  pair[1] = Cos(v) * r;
}

enum class Distribution { kUniform, kNormal, kTruncatedNormal };

// Index g makes results 4 g .. 4 g + 3.
template <typename T, Distribution kDistribution>
struct RandomGroup {
  static constexpr int kPerGroup = 4;
  PhiloxStream stream;
  T* y;
  int64_t n;

  HR_HOST_DEVICE void Put(int64_t i, float v) const {
    if (i < n) y[i] = Store<T>(v);
  }
  HR_HOST_DEVICE void operator()(int64_t g) const {
    uint32_t w[4];
    if constexpr (kDistribution == Distribution::kUniform) {
      stream.Block(g, w);
      for (int k = 0; k < 4; ++k) {
        if (4 * g + k >= n) return;
        if constexpr (std::is_same_v<T, Half>) {
          const Half h{static_cast<uint16_t>(0x3c00u | (w[k] & 0x3ffu))};
          y[4 * g + k] = Store<T>(Widen(h) - 1.0f);
        } else if constexpr (std::is_same_v<T, Bfloat16>) {
          const Bfloat16 b{static_cast<uint16_t>(0x3f80u | (w[k] & 0x7fu))};
          y[4 * g + k] = Store<T>(Widen(b) - 1.0f);
        } else {
          y[4 * g + k] = UnitFloat(w[k]);
        }
      }
    } else if constexpr (kDistribution == Distribution::kNormal) {
      stream.Block(g, w);
      for (int k = 0; k < 4; k += 2) {
        float pair[2];
        NormalPair(w[k], w[k + 1], pair);
        Put(4 * g + k, pair[0]);
        Put(4 * g + k + 1, pair[1]);
      }
    } else {
      // Each group has 256 blocks; what is 2 or more is drawn again.
      int have = 0;
      for (uint64_t block = 256 * static_cast<uint64_t>(g); have < 4; ++block) {
        stream.Block(block, w);
        for (int k = 0; k < 4 && have < 4; k += 2) {
          float pair[2];
          NormalPair(w[k], w[k + 1], pair);
          for (int p = 0; p < 2 && have < 4; ++p) {
            if (Abs(pair[p]) < 2) Put(4 * g + have++, pair[p]);
          }
        }
      }
    }
  }
};

// Of double: results 2 g and 2 g + 1.
template <Distribution kDistribution>
struct RandomGroup<double, kDistribution> {
  static constexpr int kPerGroup = 2;
  PhiloxStream stream;
  double* y;
  int64_t n;

  HR_HOST_DEVICE void Put(int64_t i, double v) const {
    if (i < n) y[i] = v;
  }
  HR_HOST_DEVICE void operator()(int64_t g) const {
    uint32_t w[4];
    double pair[2];
    if constexpr (kDistribution == Distribution::kTruncatedNormal) {
      // Each group has 128 blocks.
      int have = 0;
      for (uint64_t block = 128 * static_cast<uint64_t>(g); have < 2; ++block) {
        stream.Block(block, w);
        NormalPair(w, pair);
        for (int p = 0; p < 2 && have < 2; ++p) {
          if (Abs(pair[p]) < 2) Put(2 * g + have++, pair[p]);
        }
      }
      return;
    }
    stream.Block(g, w);
    if constexpr (kDistribution == Distribution::kUniform) {
      pair[0] = UnitDouble(w[0], w[1]);
      pair[1] = UnitDouble(w[2], w[3]);
    } else {
      NormalPair(w, pair);
    }
    Put(2 * g, pair[0]);
    Put(2 * g + 1, pair[1]);
  }
};

// Integers lo + word % range; range 0: all values.
template <typename U>
struct RandomIntegers {
  static constexpr int kPerBlock = sizeof(U) == 8 ? 2 : 4;
  PhiloxStream stream;
  U lo, range;
  U* y;
  int64_t n;
  HR_HOST_DEVICE void operator()(int64_t g) const {
    uint32_t w[4];
    stream.Block(g, w);
    for (int k = 0; k < kPerBlock; ++k) {
      const int64_t i = kPerBlock * g + k;
      if (i >= n) return;
      U x;
      if constexpr (sizeof(U) == 8) {
        x = U{w[2 * k]} | U{w[2 * k + 1]} << 32;
      } else {
        x = w[k];
      }
      y[i] = range == 0 ? x : lo + x % range;
    }
  }
};

}  // namespace headrace::gpu

#endif  // HEADRACE_KERNELS_GPU_RANDOM_FUNCTORS_H_
