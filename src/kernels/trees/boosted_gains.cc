#include "kernels/trees/boosted_gains.h"

#include <Eigen/Dense>
#include <algorithm>

namespace headrace {

float BestBoostedLeaf(const std::vector<float>& g, const std::vector<float>& h,
                      float l1, float l2, std::vector<float>* values) {
  const size_t n = g.size();
  values->assign(n, 0.f);
  if (n == 1) {
    const BoostedLeafValue leaf = BestBoostedLeaf(g[0], h[0], l1, l2);
    (*values)[0] = leaf.weight;
    return leaf.gain;
  }
  if (h.size() == n) {
    float gain = 0;
    for (size_t i = 0; i < n; ++i) {
      const BoostedLeafValue leaf = BestBoostedLeaf(g[i], h[i], 0, l2);
      (*values)[i] = leaf.weight;
      gain += leaf.gain;
    }
    return gain;
  }
  using Matrix =
      Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(n);
  const Eigen::VectorXf gradient =
      Eigen::Map<const Eigen::VectorXf>(g.data(), size);
  Eigen::MatrixXf hessian = Eigen::Map<const Matrix>(h.data(), size, size);
  hessian.diagonal().array() += l2;
  const Eigen::VectorXf found = hessian.colPivHouseholderQr().solve(-gradient);
  std::copy_n(found.data(), n, values->begin());
  return -gradient.dot(found);
}

}  // namespace headrace
