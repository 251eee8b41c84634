// Ops that use an LU factorisation with row pivoting: MatrixInverse,
// MatrixSolve, MatrixDeterminant, LogMatrixDeterminant, Lu. A matrix is
// singular if a pivot is zero; a tiny pivot is allowed.
#include <Eigen/LU>
#include <cmath>

#include "kernels/linalg/linalg.h"

namespace headrace {
namespace {

template <typename S>
bool Singular(const Eigen::PartialPivLU<LinalgMatrix<S>>& lu) {
  return !(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0);
}

class MatrixInverseOp : public LinalgOp {
 public:
  explicit MatrixInverseOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint", &adjoint_));
  }
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
    LinalgMatrix<S> a = in[0];
    if (adjoint_) a.adjointInPlace();
    const Eigen::PartialPivLU<LinalgMatrix<S>> lu(a);
    if (Singular<S>(lu)) {
      return errors::InvalidArgument("Input is not invertible.");
    }
    (*out)[0] = lu.inverse();
    return OkStatus();
  }

  bool adjoint_ = false;
};
HR_REGISTER_LINALG("MatrixInverse", MatrixInverseOp);
HR_REGISTER_LINALG("BatchMatrixInverse", MatrixInverseOp);

class MatrixSolveOp : public LinalgOp {
 public:
  explicit MatrixSolveOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint", &adjoint_));
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    if (in[1].rows != in[0].rows) {
      return errors::InvalidArgument(
          "Input matrix and rhs are incompatible: the matrix has ", in[0].rows,
          " rows, the right side ", in[1].rows);
    }
    *out = {{LinalgOutput::kMatrix, in[1]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    LinalgMatrix<S> a = in[0];
    if (adjoint_) a.adjointInPlace();
    const Eigen::PartialPivLU<LinalgMatrix<S>> lu(a);
    if (Singular<S>(lu)) {
      return errors::InvalidArgument("Input matrix is not invertible.");
    }
    (*out)[0] = lu.solve(in[1]);
    return OkStatus();
  }

  bool adjoint_ = false;
};
HR_REGISTER_LINALG("MatrixSolve", MatrixSolveOp);
HR_REGISTER_LINALG("BatchMatrixSolve", MatrixSolveOp);

class MatrixDeterminantOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kScalar, {1, 1}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    S d(1);
    if (in[0].rows() > 0) {
      d = Eigen::PartialPivLU<LinalgMatrix<S>>(in[0]).determinant();
    }
    (*out)[0] = LinalgMatrix<S>::Constant(1, 1, d);
    return OkStatus();
  }
};
HR_REGISTER_LINALG("MatrixDeterminant", MatrixDeterminantOp);
HR_REGISTER_LINALG("BatchMatrixDeterminant", MatrixDeterminantOp);

class LogMatrixDeterminantOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kScalar, {1, 1}}, {LinalgOutput::kScalar, {1, 1}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    S sign(1);
    double log_abs = 0;
    if (in[0].rows() > 0) {
      const Eigen::PartialPivLU<LinalgMatrix<S>> lu(in[0]);
      sign = S(static_cast<double>(lu.permutationP().determinant()));
      for (int64_t i = 0; i < in[0].rows(); ++i) {
        const S pivot = lu.matrixLU()(i, i);
        const double size = std::abs(pivot);
        sign *= size == 0 ? S(0) : pivot / size;
        log_abs += std::log(size);
      }
    }
    (*out)[0] = LinalgMatrix<S>::Constant(1, 1, sign);
    (*out)[1] = LinalgMatrix<S>::Constant(1, 1, S(log_abs));
    return OkStatus();
  }
};
HR_REGISTER_LINALG("LogMatrixDeterminant", LogMatrixDeterminantOp);

// Both factors in one matrix, and p with row i of their product being row p[i]
// of the input.
class LuOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    *out = {{LinalgOutput::kMatrix, in[0]},
            {LinalgOutput::kVector, {in[0].rows, 1}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    const Eigen::PartialPivLU<LinalgMatrix<S>> lu(in[0]);
    if (Singular<S>(lu)) {
      return errors::InvalidArgument("Input is not invertible.");
    }
    (*out)[0] = lu.matrixLU();
    (*out)[1].resize(in[0].rows(), 1);
    for (int64_t i = 0; i < in[0].rows(); ++i) {
      (*out)[1](lu.permutationP().indices()(i), 0) = S(static_cast<double>(i));
    }
    return OkStatus();
  }
};
HR_REGISTER_LINALG("Lu", LuOp);

}  // namespace
}  // namespace headrace
