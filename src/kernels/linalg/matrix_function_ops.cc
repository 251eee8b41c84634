// Functions of square matrices: MatrixSquareRoot, MatrixLogarithm and
// MatrixExponential. A matrix that has no such function, for it is singular or
// not finite, or because its real square root would have to be complex, gives
// NaN, as in TensorFlow.
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/linalg.h"

namespace headrace {
namespace {

using ComplexMatrix = LinalgMatrix<complex128>;

// The square root of an upper triangle, whose eigenvalues have roots in the
// right half plane.
ComplexMatrix TriangularRoot(const ComplexMatrix& t) {
  const int64_t n = t.rows();
  ComplexMatrix r = ComplexMatrix::Zero(n, n);
  for (int64_t j = 0; j < n; ++j) {
    r(j, j) = std::sqrt(t(j, j));
    for (int64_t i = j - 1; i >= 0; --i) {
      complex128 sum = t(i, j);
      for (int64_t k = i + 1; k < j; ++k) sum -= r(i, k) * r(k, j);
      r(i, j) = sum / (r(i, i) + r(j, j));
    }
  }
  return r;
}

double DistanceFromIdentity(const ComplexMatrix& t) {
  double most = 0;
  for (int64_t j = 0; j < t.cols(); ++j) {
    double sum = 0;
    for (int64_t i = 0; i <= j; ++i) {
      sum += std::abs(t(i, j) - (i == j ? 1.0 : 0.0));
    }
    if (!(sum <= most)) most = sum;  // NaN too
  }
  return most;
}

// The logarithm of an upper triangle: square roots until it is near the
// identity, then the integral of x / (1 + s x) for s from 0 to 1 by Gauss's
// formula, doubled as often. The diagonal is computed directly.
ComplexMatrix TriangularLogarithm(const ComplexMatrix& t) {
  constexpr double kNodes[] = {0.9491079123427585, 0.7415311855993945,
                               0.4058451513773972, 0.0};
  constexpr double kWeights[] = {0.1294849661688697, 0.2797053914892766,
                                 0.3818300505051189, 0.4179591836734694};
  const int64_t n = t.rows();
  ComplexMatrix root = t;
  int halvings = 0;
  for (; DistanceFromIdentity(root) > 0.25; ++halvings) {
    if (halvings == 200) return ComplexMatrix::Constant(n, n, NAN);
    root = TriangularRoot(root);
  }
  const ComplexMatrix x = root - ComplexMatrix::Identity(n, n);
  ComplexMatrix log = ComplexMatrix::Zero(n, n), y(n, n);
  for (int node = -3; node <= 3; ++node) {
    const int k = 3 - std::abs(node);
    const double s = (1 + (node < 0 ? -kNodes[k] : kNodes[k])) / 2;
    const double weight = std::ldexp(kWeights[k] / 2, halvings);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = j; i >= 0; --i) {
        complex128 sum = x(i, j);
        for (int64_t m = i + 1; m <= j; ++m) sum -= s * x(i, m) * y(m, j);
        y(i, j) = sum / (1.0 + s * x(i, i));
        log(i, j) += weight * y(i, j);
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) log(i, i) = std::log(t(i, i));
  return log;
}

// U f(T) U^H, where U T U^H is the matrix and T an upper triangle.
template <typename F>
ComplexMatrix OfTriangle(const ComplexMatrix& m, const F& f) {
  const int64_t n = m.rows();
  const ComplexMatrix none = ComplexMatrix::Constant(n, n, {NAN, NAN});
  if (!m.allFinite()) return none;
  const Eigen::ComplexSchur<ComplexMatrix> schur(m);
  if (schur.info() != Eigen::Success) return none;
  const ComplexMatrix result = f(schur.matrixT());
  if (!result.allFinite()) return none;
  const ComplexMatrix& u = schur.matrixU();
  return Product<complex128>(Product<complex128>(u, result), u.adjoint());
}

class MatrixFunctionOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kMatrix, in[0]}};
    return OkStatus();
  }
};

class MatrixSquareRootOp : public MatrixFunctionOp {
 public:
  using MatrixFunctionOp::MatrixFunctionOp;

 private:
  Status Run(OpKernelContext*, const std::vector<Complex>& in,
             std::vector<Complex>* out) override {
    (*out)[0] = OfTriangle(in[0], TriangularRoot);
    return OkStatus();
  }
  Status Run(OpKernelContext*, const std::vector<Real>& in,
             std::vector<Real>* out) override {
    // Eigenvalues are known to about this.
    const double near = in[0].norm() * static_cast<double>(in[0].rows()) *
                        std::numeric_limits<double>::epsilon();
    (*out)[0] =
        OfTriangle(in[0].cast<complex128>(), [near](const ComplexMatrix& t) {
          ComplexMatrix root = TriangularRoot(t);
          for (int64_t i = 0; i < t.rows(); ++i) {
            const complex128 e = t(i, i);
            if (e.real() < 0 && std::abs(e.imag()) <= near) {
              root(i, i) = NAN;
            }
          }
          return root;
        }).real();
    return OkStatus();
  }
};
HR_REGISTER_LINALG("MatrixSquareRoot", MatrixSquareRootOp);

class MatrixLogarithmOp : public MatrixFunctionOp {
 public:
  using MatrixFunctionOp::MatrixFunctionOp;

 private:
  Status Run(OpKernelContext*, const std::vector<Complex>& in,
             std::vector<Complex>* out) override {
    (*out)[0] = OfTriangle(in[0], TriangularLogarithm);
    return OkStatus();
  }
  // The op's T is complex.
  Status Run(OpKernelContext*, const std::vector<Real>&,
             std::vector<Real>*) override {
    return errors::Internal("MatrixLogarithm of a real matrix");
  }
};
REGISTER_KERNEL_BUILDER(Name("MatrixLogarithm")
                            .Device(DEVICE_CPU)
                            .TypeConstraint<complex64>("T")
                            .TypeConstraint<complex128>("T"),
                        MatrixLogarithmOp);

// The quotient of two polynomials of degree 13, good to the last bit up to a
// norm of 5.37; a larger matrix is halved first and its result squared after.
class MatrixExponentialOp : public MatrixFunctionOp {
 public:
  using MatrixFunctionOp::MatrixFunctionOp;
  HR_LINALG_RUN

 private:
  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    using M = LinalgMatrix<S>;
    constexpr double kC[] = {64764752532480000.0,
                             32382376266240000.0,
                             7771770303897600.0,
                             1187353796428800.0,
                             129060195264000.0,
                             10559470521600.0,
                             670442572800.0,
                             33522128640.0,
                             1323241920.0,
                             40840800.0,
                             960960.0,
                             16380.0,
                             182.0,
                             1.0};
    const int64_t n = in[0].rows();
    const double norm = in[0].cwiseAbs().colwise().sum().maxCoeff();
    if (!in[0].allFinite() || !std::isfinite(norm)) {
      (*out)[0] = M::Constant(n, n, S(NAN));
      return OkStatus();
    }
    const int halvings =
        norm > 5.37 ? static_cast<int>(std::ceil(std::log2(norm / 5.37))) : 0;
    const M a = in[0] * S(std::ldexp(1.0, -halvings));
    const M a2 = Product<S>(a, a), a4 = Product<S>(a2, a2);
    const M a6 = Product<S>(a4, a2);
    const auto sum = [&](int i) -> M {
      return S(kC[i + 4]) * a6 + S(kC[i + 2]) * a4 + S(kC[i]) * a2;
    };
    M odd = Product<S>(a6, sum(9)) + sum(3);
    odd.diagonal().array() += S(kC[1]);
    odd = Product<S>(a, odd);
    M even = Product<S>(a6, sum(8)) + sum(2);
    even.diagonal().array() += S(kC[0]);
    const M below = even - odd, above = even + odd;
    M e = Eigen::PartialPivLU<M>(below).solve(above);
    for (int i = 0; i < halvings; ++i) e = Product<S>(e, e);
    (*out)[0] = e;
    return OkStatus();
  }
};
HR_REGISTER_LINALG("MatrixExponential", MatrixExponentialOp);

}  // namespace
}  // namespace headrace
