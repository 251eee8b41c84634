// Shared by the samplers of several distributions: pairs of normal numbers by
// the Box-Muller method (the sine first), and single doubles.
#ifndef HEADRACE_KERNELS_RANDOM_RANDOM_SAMPLING_H_
#define HEADRACE_KERNELS_RANDOM_RANDOM_SAMPLING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "framework/kernel/philox.h"

namespace headrace {

struct FloatPair {
  float a, b;
};
inline FloatPair BoxMuller(uint32_t x0, uint32_t x1) {
  const float u = std::max(UniformFloat(x0), 1e-7f);
  const float v = static_cast<float>(2 * std::numbers::pi * UniformFloat(x1));
  const float r = std::sqrt(-2.0f * std::log(u));
  return {std::sin(v) * r, std::cos(v) * r};
}
struct DoublePair {
  double a, b;
};
inline DoublePair BoxMullerDouble(const uint32_t* x) {
  const double u = std::max(UniformDouble(x[0], x[1]), 1e-7);
  const double v = 2 * std::numbers::pi * UniformDouble(x[2], x[3]);
  const double r = std::sqrt(-2.0 * std::log(u));
  return {std::sin(v) * r, std::cos(v) * r};
}

// Doubles, two per block of a stream; the second is returned first. They are
// uniform in [0, 1) or normal. Several objects may share one stream.
// Thread-compatible.
class RandomDoubles {
 public:
  RandomDoubles(Philox* stream, bool normal)
      : stream_(stream), normal_(normal) {}
  double operator()() {
    if (left_ == 0) {
      const Philox::Block x = (*stream_)();
      pair_ = normal_ ? BoxMullerDouble(x.data())
                      : DoublePair{UniformDouble(x[0], x[1]),
                                   UniformDouble(x[2], x[3])};
      left_ = 2;
    }
    return --left_ == 1 ? pair_.b : pair_.a;
  }

 private:
  Philox* stream_;
  const bool normal_;
  DoublePair pair_ = {};
  int left_ = 0;
};

}  // namespace headrace

#endif  // HEADRACE_KERNELS_RANDOM_RANDOM_SAMPLING_H_
