// Divide and conquer on the bidiagonal form (Eigen's BDCSVD). A complex matrix
// is brought into that form first, which can be made real; so the templates of
// the rest, which take longest of all to compile, are compiled for double
// alone.
#include "kernels/linalg/svd.h"

#include <Eigen/SVD>
#include <utility>

namespace headrace {
namespace {

using RealMatrix = LinalgMatrix<double>;

// tall = q * r * permutation^T with r square and upper triangular. q is square
// (full), has the columns of `tall` (thin), or is not wanted (neither).
void ReduceToSquare(const RealMatrix& tall, bool full, bool thin, bool permuted,
                    RealMatrix* r, RealMatrix* q, RealMatrix* permutation) {
  const Eigen::ColPivHouseholderQR<RealMatrix> qr(tall);
  *r = qr.matrixR().topRows(tall.cols()).triangularView<Eigen::Upper>();
  if (full) {
    *q = qr.householderQ();
  } else if (thin) {
    q->setIdentity(tall.rows(), tall.cols());
    q->applyOnTheLeft(qr.householderQ());
  }
  if (permuted) *permutation = qr.colsPermutation();
}

}  // namespace
}  // namespace headrace

// JacobiSVD, which BDCSVD ends in, makes a matrix square by one of these. They
// stand in place of Eigen's own, which keep the factorisation in a member that
// they destroy and construct anew: when the constructor finds no memory, the
// destructor runs for a second time.
namespace Eigen::internal {

template <>
class qr_preconditioner_impl<headrace::RealMatrix,
                             ColPivHouseholderQRPreconditioner,
                             PreconditionIfMoreRowsThanCols, true> {
 public:
  void allocate(const JacobiSVD<headrace::RealMatrix>&) {}
  bool run(JacobiSVD<headrace::RealMatrix>& svd, const headrace::RealMatrix& a);
};

template <>
class qr_preconditioner_impl<headrace::RealMatrix,
                             ColPivHouseholderQRPreconditioner,
                             PreconditionIfMoreColsThanRows, true> {
 public:
  void allocate(const JacobiSVD<headrace::RealMatrix>&) {}
  bool run(JacobiSVD<headrace::RealMatrix>& svd, const headrace::RealMatrix& a);
};

bool qr_preconditioner_impl<headrace::RealMatrix,
                            ColPivHouseholderQRPreconditioner,
                            PreconditionIfMoreRowsThanCols,
                            true>::run(JacobiSVD<headrace::RealMatrix>& svd,
                                       const headrace::RealMatrix& a) {
  if (a.rows() <= a.cols()) return false;
  headrace::ReduceToSquare(a, svd.m_computeFullU, svd.m_computeThinU,
                           svd.computeV(), &svd.m_workMatrix, &svd.m_matrixU,
                           &svd.m_matrixV);
  return true;
}

bool qr_preconditioner_impl<headrace::RealMatrix,
                            ColPivHouseholderQRPreconditioner,
                            PreconditionIfMoreColsThanRows,
                            true>::run(JacobiSVD<headrace::RealMatrix>& svd,
                                       const headrace::RealMatrix& a) {
  if (a.cols() <= a.rows()) return false;
  headrace::ReduceToSquare(a.transpose(), svd.m_computeFullV,
                           svd.m_computeThinV, svd.computeU(),
                           &svd.m_workMatrix, &svd.m_matrixV, &svd.m_matrixU);
  svd.m_workMatrix.transposeInPlace();
  return true;
}

}  // namespace Eigen::internal

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
