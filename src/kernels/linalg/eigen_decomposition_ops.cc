// SelfAdjointEigV2: ascending eigenvalues e and, as columns of v, eigenvectors
// of a matrix of which only the lower triangle is read. SelfAdjointEig, its
// first form, stacks e on top of v. Eig: any square matrix, complex results.
#include <Eigen/Eigenvalues>

#include "kernels/linalg/linalg.h"

namespace headrace {
namespace {

class SelfAdjointEigOp : public LinalgOp {
 public:
  explicit SelfAdjointEigOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    if (ctx->HasAttr("compute_v")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("compute_v", &vectors_));
    }
  }
  HR_LINALG_RUN

 private:
  bool stacked() const { return num_outputs() == 1; }

  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    const int64_t n = in[0].rows;
    if (stacked()) {
      *out = {{LinalgOutput::kMatrix, {n + 1, n}}};
      return OkStatus();
    }
    *out = {{LinalgOutput::kVector, {n, 1}},
            {vectors_ ? LinalgOutput::kMatrix : LinalgOutput::kNothing, in[0]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    const Eigen::SelfAdjointEigenSolver<LinalgMatrix<S>> eig(
        in[0], vectors_ ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (eig.info() != Eigen::Success) {
      return errors::InvalidArgument(
          "Self-adjoint eigen decomposition was not successful. The input "
          "might not be valid.");
    }
    const LinalgMatrix<S> e = eig.eigenvalues().template cast<S>();
    if (stacked()) {
      const int64_t n = in[0].rows();
      (*out)[0].resize(n + 1, n);
      (*out)[0].row(0) = e.transpose();
      (*out)[0].bottomRows(n) = eig.eigenvectors();
      return OkStatus();
    }
    (*out)[0] = e;
    if (vectors_) (*out)[1] = eig.eigenvectors();
    return OkStatus();
  }

  bool vectors_ = true;
};
HR_REGISTER_LINALG("SelfAdjointEig", SelfAdjointEigOp);
HR_REGISTER_LINALG("BatchSelfAdjointEig", SelfAdjointEigOp);
HR_REGISTER_LINALG("SelfAdjointEigV2", SelfAdjointEigOp);
HR_REGISTER_LINALG("BatchSelfAdjointEigV2", SelfAdjointEigOp);

class EigOp : public LinalgOp {
 public:
  explicit EigOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compute_v", &vectors_));
    complex_outputs_ = true;
  }

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kVector, {in[0].rows, 1}},
            {vectors_ ? LinalgOutput::kMatrix : LinalgOutput::kNothing, in[0]}};
    return OkStatus();
  }

  Status Run(OpKernelContext*, const std::vector<Real>&,
             std::vector<Real>*) override {
    return errors::Internal("Eig has complex results");
  }
  Status Run(OpKernelContext*, const std::vector<Complex>& in,
             std::vector<Complex>* out) override {
    const Eigen::ComplexEigenSolver<Complex> eig(in[0], vectors_);
    if (eig.info() != Eigen::Success) {
      return errors::InvalidArgument(
          "Eigen decomposition was not successful. The input might not be "
          "valid.");
    }
    (*out)[0] = eig.eigenvalues();
    if (vectors_) (*out)[1] = eig.eigenvectors();
    return OkStatus();
  }

  bool vectors_ = true;
};
HR_REGISTER_LINALG("Eig", EigOp);

}  // namespace
}  // namespace headrace
