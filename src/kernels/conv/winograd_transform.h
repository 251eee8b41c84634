// The linear maps of Winograd's convolution F(MxM, RxR), on vectors of
// channels: Y = A' [(G g G') * (B' d B)] A for a tile d of kEdge x kEdge
// inputs, an RxR filter g and M x M outputs, kEdge = M + R - 1.
//
// The gradient of the filter takes the transposed maps: dg = G' [(B' d B) * (A
// dy A')] G, summed over the tiles.
//
// They follow from polynomial interpolation at kEdge - 1 points and infinity.
// F(2x2, 3x3) takes 0, 1, -1. F(4x4, 3x3) and F(2x2, 5x5) take 0, a, -a, b, -b
// with a = 5/8, b = 3/2: with the usual 1 and 2 the largest errors are four
// times as large, for the same number of operations.
#ifndef HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_
#define HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_

#include <cstdint>
#include <cstring>

#include "kernels/lib/simd_width.h"

namespace headrace::conv {

// A register of floats in double, in which filters are transformed.
template <int kBytes>
struct WinogradLanes {
  static constexpr int64_t kCount = kBytes / sizeof(double);
  using V = typename VectorOf<kBytes, double>::Type;
  using Floats = typename VectorOf<kBytes / 2>::Type;

  // `lanes` of them, the others 0. `p` need not be aligned.
  static inline void Load(const float* p, int64_t lanes, V* v) {
    Floats floats = {};
    if (lanes >= kCount) {
      std::memcpy(&floats, p, sizeof floats);
    } else {
      std::memcpy(&floats, p, lanes * sizeof(float));
    }
    *v = __builtin_convertvector(floats, V);
  }
  static inline void Store(const V& v, int64_t lanes, float* p) {
    if (lanes >= kCount) {
      *reinterpret_cast<Floats*>(p) = __builtin_convertvector(v, Floats);
      return;
    }
    for (int64_t i = 0; i < lanes; ++i) p[i] = static_cast<float>(v[i]);
  }
};

// V is float, double or a vector of them.
template <int M, int R>
struct WinogradTransform;

template <>
struct WinogradTransform<2, 3> {
  // o = B' d
  template <typename V>
  static inline void Input(const V* d, V* o) {
    o[0] = d[0] - d[2];
    o[1] = d[1] + d[2];
    o[2] = d[2] - d[1];
    o[3] = d[3] - d[1];
  }
  // y = A' x
  template <typename V>
  static inline void Output(const V* x, V* y) {
    y[0] = x[0] + x[1] + x[2];
    y[1] = x[1] - x[2] + x[3];
  }
  // x = A y
  template <typename V>
  static inline void OutputTransposed(const V* y, V* x) {
    x[0] = y[0];
    x[1] = y[0] + y[1];
    x[2] = y[0] - y[1];
    x[3] = y[1];
  }
  // u = G g
  template <typename V>
  static inline void Filter(const V* g, V* u) {
    const V even = 0.5f * (g[0] + g[2]), odd = 0.5f * g[1];
    u[0] = g[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = g[2];
  }
  // g = G' u
  template <typename V>
  static inline void FilterTransposed(const V* u, V* g) {
    const V even = 0.5f * (u[1] + u[2]);
    g[0] = u[0] + even;
    g[1] = 0.5f * (u[1] - u[2]);
    g[2] = even + u[3];
  }
};

// What the transforms of six points share.
struct WinogradSixPoints {
  static constexpr float kA = 0.625f, kB = 1.5f;
  static constexpr float kA2 = kA * kA, kB2 = kB * kB;  // exact

  template <typename V>
  static inline void Input(const V* d, V* o) {
    // Products of (x - point) over all points but one; those of a and -a, b and
    // -b share their even and odd powers.
    o[0] = kA2 * kB2 * d[0] + (d[4] - (kA2 + kB2) * d[2]);
    const V a_even = d[4] - kB2 * d[2], a_odd = d[3] - kB2 * d[1];
    o[1] = a_even + kA * a_odd;
    o[2] = a_even - kA * a_odd;
    const V b_even = d[4] - kA2 * d[2], b_odd = d[3] - kA2 * d[1];
    o[3] = b_even + kB * b_odd;
    o[4] = b_even - kB * b_odd;
    o[5] = kA2 * kB2 * d[1] + (d[5] - (kA2 + kB2) * d[3]);
  }

 protected:
  static constexpr double kZeroScale = 1.0 / (kA2 * kB2),
                          kAScale = 1.0 / (2 * kA2 * (kA2 - kB2)),
                          kBScale = 1.0 / (2 * kB2 * (kB2 - kA2));
};

template <>
struct WinogradTransform<4, 3> : WinogradSixPoints {
  template <typename V>
  static inline void Output(const V* x, V* y) {
    const V a_even = x[1] + x[2], a_odd = x[1] - x[2];
    const V b_even = x[3] + x[4], b_odd = x[3] - x[4];
    y[0] = x[0] + a_even + b_even;
    y[1] = kA * a_odd + kB * b_odd;
    y[2] = kA2 * a_even + kB2 * b_even;
    y[3] = kA * kA2 * a_odd + (kB * kB2 * b_odd + x[5]);
  }
  template <typename V>
  static inline void OutputTransposed(const V* y, V* x) {
    const V a_even = y[0] + kA2 * y[2], a_odd = kA * (y[1] + kA2 * y[3]);
    const V b_even = y[0] + kB2 * y[2], b_odd = kB * (y[1] + kB2 * y[3]);
    x[0] = y[0];
    x[1] = a_even + a_odd;
    x[2] = a_even - a_odd;
    x[3] = b_even + b_odd;
    x[4] = b_even - b_odd;
    x[5] = y[3];
  }
  // V is double or a vector of them.
  template <typename V>
  static inline void Filter(const V* g, V* u) {
    // g(point) over the product of the point's distances to the others.
    u[0] = kZeroScale * g[0];
    const V a_even = kAScale * (g[0] + kA2 * g[2]), a_odd = kAScale * kA * g[1];
    u[1] = a_even + a_odd;
    u[2] = a_even - a_odd;
    const V b_even = kBScale * (g[0] + kB2 * g[2]), b_odd = kBScale * kB * g[1];
    u[3] = b_even + b_odd;
    u[4] = b_even - b_odd;
    u[5] = g[2];
  }
  template <typename V>
  static inline void FilterTransposed(const V* u, V* g) {
    const V a_even = kAScale * (u[1] + u[2]);
    const V b_even = kBScale * (u[3] + u[4]);
    g[0] = kZeroScale * u[0] + (a_even + b_even);
    g[1] = kAScale * kA * (u[1] - u[2]) + kBScale * kB * (u[3] - u[4]);
    g[2] = kA2 * a_even + (kB2 * b_even + u[5]);
  }
};

template <>
struct WinogradTransform<2, 5> : WinogradSixPoints {
  template <typename V>
  static inline void Output(const V* x, V* y) {
    y[0] = x[0] + ((x[1] + x[2]) + (x[3] + x[4]));
    y[1] = kA * (x[1] - x[2]) + (kB * (x[3] - x[4]) + x[5]);
  }
  template <typename V>
  static inline void OutputTransposed(const V* y, V* x) {
    x[0] = y[0];
    x[1] = y[0] + kA * y[1];
    x[2] = y[0] - kA * y[1];
    x[3] = y[0] + kB * y[1];
    x[4] = y[0] - kB * y[1];
    x[5] = y[1];
  }
  // V is double or a vector of them.
  template <typename V>
  static inline void Filter(const V* g, V* u) {
    u[0] = kZeroScale * g[0];
    const V a_even = kAScale * (g[0] + kA2 * (g[2] + kA2 * g[4]));
    const V a_odd = kAScale * kA * (g[1] + kA2 * g[3]);
    u[1] = a_even + a_odd;
    u[2] = a_even - a_odd;
    const V b_even = kBScale * (g[0] + kB2 * (g[2] + kB2 * g[4]));
    const V b_odd = kBScale * kB * (g[1] + kB2 * g[3]);
    u[3] = b_even + b_odd;
    u[4] = b_even - b_odd;
    u[5] = g[4];
  }
  template <typename V>
  static inline void FilterTransposed(const V* u, V* g) {
    const V a_even = kAScale * (u[1] + u[2]);
    const V b_even = kBScale * (u[3] + u[4]);
    const V a_odd = kAScale * kA * (u[1] - u[2]);
    const V b_odd = kBScale * kB * (u[3] - u[4]);
    g[0] = kZeroScale * u[0] + (a_even + b_even);
    g[1] = a_odd + b_odd;
    g[2] = kA2 * a_even + kB2 * b_even;
    g[3] = kA2 * a_odd + kB2 * b_odd;
    g[4] = kA2 * kA2 * a_even + (kB2 * kB2 * b_even + u[5]);
  }
};

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_
