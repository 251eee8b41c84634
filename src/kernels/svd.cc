// Divide and conquer on the bidiagonal form (Eigen's BDCSVD).
#include "kernels/svd.h"

#include <Eigen/SVD>

namespace headrace {

template <typename S>
Svd<S> ComputeSvd(const LinalgMatrix<S>& a, SvdVectors vectors) {
  const unsigned options = vectors == SvdVectors::kNone ? 0
                           : vectors == SvdVectors::kFull
                               ? Eigen::ComputeFullU | Eigen::ComputeFullV
                               : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<LinalgMatrix<S>> svd(a, options);
  Svd<S> result;
  result.s = svd.singularValues();
  if (vectors != SvdVectors::kNone) {
    result.u = svd.matrixU();
    result.v = svd.matrixV();
  }
  return result;
}
template Svd<double> ComputeSvd(const LinalgMatrix<double>&, SvdVectors);
template Svd<complex128> ComputeSvd(const LinalgMatrix<complex128>&,
                                    SvdVectors);

}  // namespace headrace
