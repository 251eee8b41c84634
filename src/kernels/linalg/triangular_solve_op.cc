// MatrixTriangularSolve: x with A x = b (or A^H x = b), reading one triangle of
// A; batches broadcast. A zero on the diagonal is refused. MatrixSolveLs: least
// squares with an L2 term, by normal equations (fast) or by singular values,
// which bear a deficient rank.
#include <Eigen/Cholesky>
#include <limits>

#include "headrace/simd.h"
#include "kernels/linalg/linalg.h"
#include "kernels/linalg/svd.h"

namespace headrace {
namespace {

class MatrixTriangularSolveOp : public LinalgOp {
 public:
  explicit MatrixTriangularSolveOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("lower", &lower_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint", &adjoint_));
    broadcast_batch_ = true;
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    HR_RETURN_IF_ERROR(CheckSquare(in[0]));
    if (in[1].rows != in[0].rows) {
      return errors::InvalidArgument(
          "In[0] mismatch In[1] shape: the matrix has ", in[0].rows,
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
    LinalgMatrix<S>& x = (*out)[0];
    x = in[1];
    if (x.cols() > 0 && (a.diagonal().array() == S(0)).any()) {
      return errors::InvalidArgument("Input matrix is not invertible.");
    }
    // Substitution spelled out: a library solver may treat NaNs otherwise.
    const int64_t n = a.rows();
    const bool forward = lower_ != adjoint_;
    if constexpr (std::is_same_v<S, double>) {
      SubstituteColumns(a, forward, &x);
      return OkStatus();
    }
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = forward ? step : n - 1 - step;
      x.row(i) /= a(i, i);
      if (forward) {
        x.bottomRows(n - 1 - i) -=
            a.col(i).tail(n - 1 - i) * LinalgMatrix<S>(x.row(i));
      } else {
        x.topRows(i) -= a.col(i).head(i) * LinalgMatrix<S>(x.row(i));
      }
    }
    return OkStatus();
  }

  // The same for real numbers, column by column, with the widest vectors.
  static void SubstituteColumns(const LinalgMatrix<double>& a, bool forward,
                                LinalgMatrix<double>* x) {
    RunSimd([&] {
      const int64_t n = a.rows();
      for (int64_t c = 0; c < x->cols(); ++c) {
        double* const to = x->data() + c * n;
        for (int64_t step = 0; step < n; ++step) {
          const int64_t i = forward ? step : n - 1 - step;
          const double* const from = a.data() + i * n;
          const double value = to[i] / from[i];
          to[i] = value;
          const int64_t begin = forward ? i + 1 : 0;
          const int64_t end = forward ? n : i;
#pragma GCC ivdep
          for (int64_t k = begin; k < end; ++k) to[k] -= from[k] * value;
        }
      }
    });
  }

  bool lower_ = true, adjoint_ = false;
};
HR_REGISTER_LINALG("MatrixTriangularSolve", MatrixTriangularSolveOp);
HR_REGISTER_LINALG("BatchMatrixTriangularSolve", MatrixTriangularSolveOp);

class MatrixSolveLsOp : public LinalgOp {
 public:
  explicit MatrixSolveLsOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("fast", &fast_));
    num_matrices_ = 2;
  }
  HR_LINALG_RUN

 private:
  Status CheckScalars(OpKernelContext* ctx) override {
    const Tensor& l2 = ctx->input(2);
    if (l2.dims() != 0) {
      return errors::InvalidArgument(
          "l2_regularizer must be scalar, got shape ",
          l2.shape().DebugString());
    }
    if (!(l2.scalar<double>() >= 0)) {
      return errors::InvalidArgument("l2_regularizer must be >= 0, got ",
                                     l2.scalar<double>());
    }
    return OkStatus();
  }

  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    if (in[1].rows != in[0].rows) {
      return errors::InvalidArgument(
          "Input matrix and rhs are incompatible: the matrix has ", in[0].rows,
          " rows, the right side ", in[1].rows);
    }
    *out = {{LinalgOutput::kMatrix, {in[0].cols, in[1].cols}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext* ctx, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    using Matrix = LinalgMatrix<S>;
    const double l2 = ctx->input(2).scalar<double>();
    const Matrix &a = in[0], &b = in[1];
    Matrix& x = (*out)[0];
    if (a.rows() == 0 || a.cols() == 0) {
      x = Matrix::Zero(a.cols(), b.cols());
      return OkStatus();
    }
    if (!fast_) {
      if (!a.allFinite()) {
        x = Matrix::Constant(a.cols(), b.cols(),
                             S(std::numeric_limits<double>::quiet_NaN()));
        return OkStatus();
      }
      // The smallest of the least-squares solutions: directions in which `a` is
      // as good as zero get nothing.
      const Svd<S> svd = ComputeSvd<S>(a, SvdVectors::kThin);
      const double zero =
          svd.s[0] * svd.s.size() * std::numeric_limits<double>::epsilon();
      const Eigen::VectorXd inverse =
          svd.s.unaryExpr([zero](double s) { return s > zero ? 1 / s : 0; });
      Matrix of_u = Product<S>(svd.u, b, true);
      for (int64_t i = 0; i < of_u.rows(); ++i) of_u.row(i) *= S(inverse[i]);
      x = Product<S>(svd.v, of_u);
      return OkStatus();
    }
    const bool tall = a.rows() >= a.cols();
    const Matrix adjoint = a.adjoint();
    Matrix gram = tall ? Product<S>(adjoint, a) : Product<S>(a, adjoint);
    gram.diagonal().array() += S(l2);
    const Eigen::LLT<Matrix> llt(gram);
    if (llt.info() != Eigen::Success) {
      return errors::InvalidArgument(
          "Input matrix was rank deficient or ill-conditioned. Try setting "
          "fast=False or provide a larger l2_regularizer > 0.");
    }
    if (tall) {
      x = llt.solve(Product<S>(adjoint, b));
    } else {
      x = Product<S>(adjoint, llt.solve(b));
    }
    return OkStatus();
  }

  bool fast_ = true;
};
HR_REGISTER_LINALG("MatrixSolveLs", MatrixSolveLsOp);
HR_REGISTER_LINALG("BatchMatrixSolveLs", MatrixSolveLsOp);

}  // namespace
}  // namespace headrace
