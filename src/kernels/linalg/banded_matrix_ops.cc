// Matrices given by their diagonals: TridiagonalSolve, TridiagonalMatMul and
// BandedTriangularSolve. The elements of row r of the matrix are in column r of
// the input. Elements outside of the matrix are not read.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/linalg/linalg.h"

namespace headrace {
namespace {

// Rows of `diagonals`: above, on and below the main diagonal.
template <typename S>
class Tridiagonal {
 public:
  explicit Tridiagonal(const LinalgMatrix<S>& diagonals)
      : n_(diagonals.cols()),
        above_(n_),
        main_(n_),
        below_(n_),
        second_(n_, S(0)) {
    for (int64_t i = 0; i < n_; ++i) {
      above_[i] = i + 1 < n_ ? diagonals(0, i) : S(0);
      main_[i] = diagonals(1, i);
      below_[i] = i > 0 ? diagonals(2, i) : S(0);
    }
  }

  // Each of these solves for x, which holds the right side before. False if a
  // pivot is 0.
  bool SolveWithoutPivoting(LinalgMatrix<S>* x) {
    for (int64_t i = 0; i < n_; ++i) {
      if (i > 0) Eliminate(i - 1, below_[i] / main_[i - 1], x);
      if (main_[i] == S(0)) return false;
    }
    Substitute(x);
    return true;
  }

  bool SolveWithPivoting(LinalgMatrix<S>* x) {
    for (int64_t i = 0; i + 1 < n_; ++i) {
      if (std::abs(main_[i]) >= std::abs(below_[i + 1])) {
        if (main_[i] == S(0)) return false;
        Eliminate(i, below_[i + 1] / main_[i], x);
      } else {
        Exchange(i, x);
      }
    }
    if (main_[n_ - 1] == S(0)) return false;
    Substitute(x);
    return true;
  }

  // A pivot is chosen by its size relative to the rest of its row. A pivot that
  // is too small to divide by is moved away from 0: first by `epsilon` of the
  // largest element, then by twice as much until the quotient is finite. `tiny`
  // is the smallest number with a finite inverse.
  void SolvePerturbed(double epsilon, double tiny, LinalgMatrix<S>* x) {
    double scale = std::abs(main_[0]) + std::abs(above_[0]);
    double most = std::max(std::abs(main_[0]), std::abs(above_[0]));
    for (int64_t i = 0; i + 1 < n_; ++i) {
      const double below = std::abs(below_[i + 1]);
      const double next_scale =
          below + std::abs(main_[i + 1]) + std::abs(above_[i + 1]);
      const double here = main_[i] == S(0) ? 0 : std::abs(main_[i]) / scale;
      if (below == 0) {
        scale = next_scale;
      } else if (below / next_scale <= here) {
        scale = next_scale;
        Eliminate(i, below_[i + 1] / main_[i], x);
      } else {
        Exchange(i, x);
      }
      if (i + 2 < n_) {
        most = std::max({most, std::abs(main_[i]), std::abs(above_[i]),
                         std::abs(second_[i])});
      }
    }
    const double step = std::max(most * epsilon, tiny);
    for (int64_t c = 0; c < x->cols(); ++c) {
      for (int64_t i = n_ - 1; i >= 0; --i) {
        (*x)(i, c) = PerturbedQuotient(Rest(*x, i, c), main_[i], step, tiny);
      }
    }
  }

 private:
  // Row i + 1 less `factor` times row i.
  void Eliminate(int64_t i, S factor, LinalgMatrix<S>* x) {
    main_[i + 1] -= factor * above_[i];
    for (int64_t c = 0; c < x->cols(); ++c) {
      (*x)(i + 1, c) -= factor * (*x)(i, c);
    }
  }
  // Exchanges rows i and i + 1 before that.
  void Exchange(int64_t i, LinalgMatrix<S>* x) {
    const S factor = main_[i] / below_[i + 1];
    const S main = main_[i + 1];
    main_[i] = below_[i + 1];
    main_[i + 1] = above_[i] - factor * main;
    above_[i] = main;
    if (i + 2 < n_) {
      second_[i] = above_[i + 1];
      above_[i + 1] = -factor * second_[i];
    }
    for (int64_t c = 0; c < x->cols(); ++c) {
      const S right = (*x)(i, c);
      (*x)(i, c) = (*x)(i + 1, c);
      (*x)(i + 1, c) = right - factor * (*x)(i + 1, c);
    }
  }
  // The right side i minus the known part of row i.
  S Rest(const LinalgMatrix<S>& x, int64_t i, int64_t c) const {
    S rest = x(i, c);
    if (i + 1 < n_) rest -= above_[i] * x(i + 1, c);
    if (i + 2 < n_) rest -= second_[i] * x(i + 2, c);
    return rest;
  }
  void Substitute(LinalgMatrix<S>* x) const {
    for (int64_t c = 0; c < x->cols(); ++c) {
      for (int64_t i = n_ - 1; i >= 0; --i) {
        (*x)(i, c) = Rest(*x, i, c) / main_[i];
      }
    }
  }
  static S PerturbedQuotient(S rest, S pivot, double step, double tiny) {
    if (std::signbit(std::real(pivot))) step = -step;
    for (;;) {
      const double size = std::abs(pivot);
      if (size < 1 && (size == 0 || std::abs(rest) * tiny > size)) {
        pivot += step;
        step *= 2;
        continue;
      }
      return rest / pivot;
    }
  }

  const int64_t n_;
  // `second_` is the second diagonal above, which exchanges fill.
  std::vector<S> above_, main_, below_, second_;
};

class TridiagonalSolveOp : public LinalgOp {
 public:
  explicit TridiagonalSolveOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("partial_pivoting", &pivoting_));
    if (ctx->HasAttr("perturb_singular")) {
      OP_REQUIRES_OK(ctx, ctx->GetAttr("perturb_singular", &perturb_));
    }
    OP_REQUIRES(ctx, pivoting_ || !perturb_,
                errors::InvalidArgument("Setting perturb_singular requires "
                                        "also setting partial_pivoting."));
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    if (in[0].rows != 3) {
      return errors::InvalidArgument(
          "Expected diagonals to be provided as a matrix with 3 rows, got ",
          in[0].rows, " rows.");
    }
    if (in[1].rows != in[0].cols) {
      return errors::InvalidArgument(
          "Expected the same number of left-hand sides and right-hand sides, "
          "got ",
          in[0].cols, " and ", in[1].rows, ".");
    }
    *out = {{LinalgOutput::kMatrix, in[1]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext* ctx, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    LinalgMatrix<S>& x = (*out)[0];
    x = in[1];
    Tridiagonal<S> matrix(in[0]);
    if (perturb_) {
      // The elements of the tensors must be finite in their own type.
      const DataType t = ctx->input(0).dtype();
      if (t == DT_FLOAT || t == DT_COMPLEX64) {
        using Limits = std::numeric_limits<float>;
        matrix.SolvePerturbed(Limits::epsilon(), Limits::min(), &x);
      } else {
        using Limits = std::numeric_limits<double>;
        matrix.SolvePerturbed(Limits::epsilon(), Limits::min(), &x);
      }
      return OkStatus();
    }
    if (!(pivoting_ ? matrix.SolveWithPivoting(&x)
                    : matrix.SolveWithoutPivoting(&x))) {
      x.setConstant(S(NAN));
    }
    return OkStatus();
  }

  bool pivoting_ = true, perturb_ = false;
};
HR_REGISTER_LINALG("TridiagonalSolve", TridiagonalSolveOp);

class TridiagonalMatMulOp : public LinalgOp {
 public:
  using LinalgOp::LinalgOp;
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    const char* const names[] = {"superdiagonal", "main diagonal",
                                 "subdiagonal"};
    for (int i = 0; i < 3; ++i) {
      if (in[i].rows != 1 || in[i].cols != in[3].rows) {
        return errors::InvalidArgument(
            "Invalid ", names[i], " shape: wanted a row of ", in[3].rows,
            " elements, got ", in[i].rows, " x ", in[i].cols);
      }
    }
    *out = {{LinalgOutput::kMatrix, in[3]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    const LinalgMatrix<S>& x = in[3];
    LinalgMatrix<S>& y = (*out)[0];
    const int64_t n = x.rows();
    y.resize(n, x.cols());
    for (int64_t c = 0; c < x.cols(); ++c) {
      for (int64_t r = 0; r < n; ++r) {
        S sum = in[1](0, r) * x(r, c);
        if (r > 0) sum += in[2](0, r) * x(r - 1, c);
        if (r + 1 < n) sum += in[0](0, r) * x(r + 1, c);
        y(r, c) = sum;
      }
    }
    return OkStatus();
  }
};
HR_REGISTER_LINALG("TridiagonalMatMul", TridiagonalMatMulOp);

// The main diagonal is the first of the bands of a lower triangle, the last of
// those of an upper one.
class BandedTriangularSolveOp : public LinalgOp {
 public:
  explicit BandedTriangularSolveOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("lower", &lower_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("adjoint", &adjoint_));
    broadcast_batch_ = true;
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    for (int i = 0; i < 2; ++i) {
      if (in[i].rows == 0 || in[i].cols == 0) {
        return errors::InvalidArgument(
            "In[", i, "] must not be an empty tensor, got a ", in[i].rows,
            " x ", in[i].cols, " matrix");
      }
    }
    if (in[0].cols != in[1].rows) {
      return errors::InvalidArgument(
          "In[0] mismatch In[1] shape: the matrix has ", in[0].cols,
          " rows, the right side ", in[1].rows);
    }
    *out = {{LinalgOutput::kMatrix, in[1]}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    const LinalgMatrix<S>& bands = in[0];
    const int64_t n = bands.cols(), last = bands.rows() - 1;
    const auto band = [&](int64_t k, int64_t r) {
      const S v = bands(lower_ ? k : last - k, r);
      if constexpr (Eigen::NumTraits<S>::IsComplex) {
        return adjoint_ ? std::conj(v) : v;
      } else {
        return v;
      }
    };
    LinalgMatrix<S>& x = (*out)[0];
    x = in[1];
    // The side of the diagonal on which row r has elements.
    const int64_t toward = lower_ ? -1 : 1;
    for (int64_t step = 0; step < n; ++step) {
      const int64_t r = lower_ != adjoint_ ? step : n - 1 - step;
      const S pivot = band(0, r);
      if (pivot == S(0)) {
        return errors::InvalidArgument("Input matrix is not invertible.");
      }
      const int64_t reach = std::min(last, lower_ ? r : n - 1 - r);
      for (int64_t c = 0; c < x.cols(); ++c) {
        if (adjoint_) {
          x(r, c) /= pivot;
          for (int64_t k = 1; k <= reach; ++k) {
            x(r + toward * k, c) -= band(k, r) * x(r, c);
          }
        } else {
          for (int64_t k = 1; k <= reach; ++k) {
            x(r, c) -= band(k, r) * x(r + toward * k, c);
          }
          x(r, c) /= pivot;
        }
      }
    }
    return OkStatus();
  }

  bool lower_ = true, adjoint_ = false;
};
HR_REGISTER_LINALG("BandedTriangularSolve", BandedTriangularSolveOp);

}  // namespace
}  // namespace headrace
