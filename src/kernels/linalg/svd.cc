// Divide and conquer on the bidiagonal form (Eigen's BDCSVD). A complex matrix
// is brought into that form first, which can be made real; so the templates of
// the rest, the dearest of all to compile, are compiled for double alone.
#include "kernels/linalg/svd.h"

#include <Eigen/SVD>
#include <utility>

namespace headrace {

template <>
Svd<double> ComputeSvd(const LinalgMatrix<double>& a, SvdVectors vectors) {
  const unsigned options = vectors == SvdVectors::kNone ? 0
                           : vectors == SvdVectors::kFull
                               ? Eigen::ComputeFullU | Eigen::ComputeFullV
                               : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Eigen::BDCSVD<LinalgMatrix<double>> svd(a, options);
  Svd<double> result;
  result.s = svd.singularValues();
  if (vectors != SvdVectors::kNone) {
    result.u = svd.matrixU();
    result.v = svd.matrixV();
  }
  return result;
}

template <>
Svd<complex128> ComputeSvd(const LinalgMatrix<complex128>& a,
                           SvdVectors vectors) {
  using Matrix = LinalgMatrix<complex128>;
  const Eigen::Index m = a.rows(), n = a.cols();
  if (m < n) {
    Svd<complex128> result = ComputeSvd<complex128>(a.adjoint(), vectors);
    std::swap(result.u, result.v);
    return result;
  }
  // The squares of large and of small elements have to fit a double.
  double scale = a.cwiseAbs().maxCoeff();
  if (scale == 0) scale = 1;
  Matrix form = a / scale;
  Eigen::VectorXd diagonal(n), upper(n);
  Eigen::VectorXcd work(m);
  Eigen::internal::upperbidiagonalization_inplace_unblocked(
      form, diagonal.data(), upper.data(), work.data());
  LinalgMatrix<double> bidiagonal = LinalgMatrix<double>::Zero(n, n);
  bidiagonal.diagonal() = diagonal;
  bidiagonal.diagonal<1>() = upper.head(n - 1);
  Svd<double> inner = ComputeSvd<double>(bidiagonal, vectors);
  Svd<complex128> result;
  result.s = inner.s * scale;
  if (vectors == SvdVectors::kNone) return result;
  result.u = Matrix::Identity(m, vectors == SvdVectors::kFull ? m : n);
  result.u.topLeftCorner(n, n) = inner.u.cast<complex128>();
  result.v = inner.v.cast<complex128>();
  for (Eigen::Index k = n; k-- > 0;) {
    result.u.bottomRows(m - k).applyHouseholderOnTheLeft(
        form.col(k).tail(m - k - 1), std::conj(form(k, k)), work.data());
  }
  for (Eigen::Index k = n - 1; k-- > 0;) {
    result.v.bottomRows(n - k - 1).applyHouseholderOnTheLeft(
        form.row(k).tail(n - k - 2).adjoint(), form(k, k + 1), work.data());
  }
  return result;
}

}  // namespace headrace
