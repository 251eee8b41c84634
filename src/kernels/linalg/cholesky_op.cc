// Cholesky: the lower triangular L with L L^H = A, of A's lower triangle alone;
// the upper part of the result is zero. A matrix that is not positive definite
// is refused; one that holds a NaN gives NaNs. CholeskyGrad: the gradient of A
// from L and the gradient of L, (S + S^T) / 2 with S = L^-T P L^-1 and P the
// lower triangle of L^T G, its diagonal halved.
#include <Eigen/Cholesky>

#include "kernels/linalg/linalg.h"

namespace headrace {
namespace {

class CholeskyOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kMatrix, in[0]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    const Eigen::LLT<LinalgMatrix<S>> llt(in[0]);
    if (llt.info() != Eigen::Success) {
      return errors::InvalidArgument(
          "Cholesky decomposition was not successful. The input might not be "
          "valid.");
    }
    (*out)[0] = llt.matrixL();
    return OkStatus();
  }
};
HR_REGISTER_LINALG("Cholesky", CholeskyOp);
HR_REGISTER_LINALG("BatchCholesky", CholeskyOp);

class CholeskyGradOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    if (in[1].rows != in[0].rows || in[1].cols != in[0].cols) {
      return errors::InvalidArgument("grad must have the shape of l, ",
                                     in[0].rows, " x ", in[0].cols, ", got ",
                                     in[1].rows, " x ", in[1].cols);
    }
    *out = {{LinalgOutput::kMatrix, in[0]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    using Matrix = LinalgMatrix<S>;
    const Matrix l = in[0].template triangularView<Eigen::Lower>();
    const Matrix g = in[1].template triangularView<Eigen::Lower>();
    Matrix p = Product<S>(l, g, true);
    p.template triangularView<Eigen::StrictlyUpper>().setZero();
    p.diagonal() *= S(0.5);
    // S = L^-H P L^-1: solve from the left, then (transposed) from the right.
    const Matrix left =
        l.adjoint().template triangularView<Eigen::Upper>().solve(p);
    const Matrix s = l.adjoint()
                         .template triangularView<Eigen::Upper>()
                         .solve(Matrix(left.adjoint()))
                         .adjoint();
    (*out)[0] = (s + s.adjoint()) * S(0.5);
    return OkStatus();
  }
};
HR_REGISTER_LINALG("CholeskyGrad", CholeskyGradOp);
HR_REGISTER_LINALG("BatchCholeskyGrad", CholeskyGradOp);

}  // namespace
}  // namespace headrace
