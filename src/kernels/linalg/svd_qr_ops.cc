// Svd: A = u diag(s) v^H with s falling; the outputs' order is s, u, v, and v
// is not transposed. Qr: A = q r by Householder reflections. Without
// full_matrices both give only the first min(m, n) columns of the unitary
// factors. Signs (phases) are the algorithm's choice.
#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/linalg/linalg.h"
#include "kernels/linalg/svd.h"

namespace headrace {
namespace {

class SvdOp : public LinalgOp {
 public:
  explicit SvdOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("compute_uv", &vectors_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("full_matrices", &full_));
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    const auto [m, n] = in[0];
    const int64_t k = std::min(m, n);
    const auto kind = vectors_ ? LinalgOutput::kMatrix : LinalgOutput::kNothing;
    *out = {{LinalgOutput::kVector, {k, 1}},
            {kind, {m, full_ ? m : k}},
            {kind, {n, full_ ? n : k}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    using Matrix = LinalgMatrix<S>;
    const int64_t m = in[0].rows(), n = in[0].cols(), k = std::min(m, n);
    Matrix &s = (*out)[0], &u = (*out)[1], &v = (*out)[2];
    s = Matrix::Zero(k, 1);
    if (k == 0) {  // full unitary factors of nothing
      u = Matrix::Identity(m, full_ ? m : 0);
      v = Matrix::Identity(n, full_ ? n : 0);
      return OkStatus();
    }
    if (in[0].allFinite()) {
      Svd<S> svd = ComputeSvd<S>(in[0], !vectors_ ? SvdVectors::kNone
                                        : full_   ? SvdVectors::kFull
                                                  : SvdVectors::kThin);
      s = svd.s.template cast<S>();
      if (vectors_) {
        u = std::move(svd.u);
        v = std::move(svd.v);
      }
      return OkStatus();
    }
    const S nan(std::numeric_limits<double>::quiet_NaN());
    s = Matrix::Constant(k, 1, nan);
    if (vectors_) {
      u = Matrix::Constant(m, full_ ? m : k, nan);
      v = Matrix::Constant(n, full_ ? n : k, nan);
    }
    return OkStatus();
  }

  bool vectors_ = true, full_ = false;
};
HR_REGISTER_LINALG("Svd", SvdOp);
HR_REGISTER_LINALG("BatchSvd", SvdOp);

class QrOp : public LinalgOp {
 public:
  explicit QrOp(OpKernelConstruction* ctx) : LinalgOp(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("full_matrices", &full_));
  }
  HR_LINALG_RUN

 private:
  Status Outputs(const std::vector<MatrixSize>& in,
                 std::vector<LinalgOutput>* out) override {
    const auto [m, n] = in[0];
    const int64_t k = full_ ? m : std::min(m, n);
    *out = {{LinalgOutput::kMatrix, {m, k}}, {LinalgOutput::kMatrix, {k, n}}};
    return OkStatus();
  }

  template <typename S>
  Status RunAs(OpKernelContext*, const std::vector<LinalgMatrix<S>>& in,
               std::vector<LinalgMatrix<S>>* out) {
    using Matrix = LinalgMatrix<S>;
    const int64_t m = in[0].rows(), n = in[0].cols();
    const int64_t k = full_ ? m : std::min(m, n);
    if (m == 0 || n == 0) {
      (*out)[0] = Matrix::Identity(m, k);
      (*out)[1] = Matrix::Zero(k, n);
      return OkStatus();
    }
    const Eigen::HouseholderQR<Matrix> qr(in[0]);
    (*out)[0].setIdentity(m, k);
    (*out)[0].applyOnTheLeft(qr.householderQ());
    (*out)[1] =
        qr.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
    return OkStatus();
  }

  bool full_ = false;
};
HR_REGISTER_LINALG("Qr", QrOp);

}  // namespace
}  // namespace headrace
