// The best value of a leaf, and what it gains. For the sums g of gradients and
// h of hessians of a leaf's examples, the value w makes
//   g w + (h + l2) w^2 / 2 + l1 |w|
// least; the gain is twice what that is below 0.
#ifndef HEADRACE_KERNELS_TREES_BOOSTED_GAINS_H_
#define HEADRACE_KERNELS_TREES_BOOSTED_GAINS_H_

#include <cstdint>
#include <vector>

namespace headrace {

// Gains that differ by less are equal.
constexpr float kBoostedTolerance = 1e-15f;
inline bool BoostedGainIsLarger(float a, float b) {
  return a - b >= kBoostedTolerance;
}

struct BoostedLeafValue {
  float weight = 0, gain = 0;
};
inline BoostedLeafValue BestBoostedLeaf(float g, float h, float l1, float l2) {
  if (l1 > 0) {
    if (g > l1) {
      g -= l1;
    } else if (g < -l1) {
      g += l1;
    } else {
      return {};
    }
  }
  if (h + l2 <= kBoostedTolerance) return {};
  const float weight = -g / (h + l2);
  return {weight, -g * weight};
}

// The same for leaves of several values: `h` has one number (or as many as
// `g`, the diagonal of the hessian, or their square, the whole hessian). Writes
// the values and returns the gain. TensorFlow applies l1 to single values only.
float BestBoostedLeaf(const std::vector<float>& g, const std::vector<float>& h,
                      float l1, float l2, std::vector<float>* values);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_TREES_BOOSTED_GAINS_H_
