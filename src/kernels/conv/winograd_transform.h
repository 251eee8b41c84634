// The linear maps of Winograd's convolution F(MxM, 3x3), on vectors of
// channels: Y = A' [(G g G') * (B' d B)] A for a tile d of kEdge x kEdge
// inputs, a 3x3 filter g and M x M outputs, kEdge = M + 2.
//
// They follow from polynomial interpolation at kEdge - 1 points and infinity.
// F(2x2) takes 0, 1, -1. F(4x4) takes 0, a, -a, b, -b with a = 5/8, b = 3/2:
// with the usual 1 and 2 the largest errors are four times as large, for the
// same number of operations.
#ifndef HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_
#define HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_

namespace headrace::conv {

// V is float, double or a vector of them.
template <int M>
struct WinogradTransform;

template <>
struct WinogradTransform<2> {
  static constexpr int kEdge = 4;

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
  // u = G g
  template <typename V>
  static inline void Filter(const V* g, V* u) {
    const V even = 0.5f * (g[0] + g[2]), odd = 0.5f * g[1];
    u[0] = g[0];
    u[1] = even + odd;
    u[2] = even - odd;
    u[3] = g[2];
  }
};

template <>
struct WinogradTransform<4> {
  static constexpr int kEdge = 6;
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
  static inline void Filter(const V* g, V* u) {
    // g(point) over the product of the point's distances to the others.
    constexpr double a2 = kA2, b2 = kB2;
    constexpr double zero = 1 / (a2 * b2);
    constexpr double a = 1 / (2 * a2 * (a2 - b2)), b = 1 / (2 * b2 * (b2 - a2));
    u[0] = zero * g[0];
    const V a_even = a * (g[0] + a2 * g[2]), a_odd = a * kA * g[1];
    u[1] = a_even + a_odd;
    u[2] = a_even - a_odd;
    const V b_even = b * (g[0] + b2 * g[2]), b_odd = b * kB * g[1];
    u[3] = b_even + b_odd;
    u[4] = b_even - b_odd;
    u[5] = g[2];
  }
};

}  // namespace headrace::conv

#endif  // HEADRACE_KERNELS_CONV_WINOGRAD_TRANSFORM_H_
