// Singular values and vectors of one matrix. In a source of its own, because
// the templates are slow to compile.
#ifndef HEADRACE_KERNELS_LINALG_SVD_H_
#define HEADRACE_KERNELS_LINALG_SVD_H_

#include "kernels/linalg/linalg.h"

namespace headrace {

enum class SvdVectors { kNone, kThin, kFull };

// a = u diag(s) v^H, with s in decreasing order. u and v only as asked for;
// thin has min(m, n) columns.
template <typename S>
struct Svd {
  Eigen::VectorXd s;
  LinalgMatrix<S> u, v;
};

// S is double or complex128. `a` is finite and not empty.
template <typename S>
Svd<S> ComputeSvd(const LinalgMatrix<S>& a, SvdVectors vectors);
template <>
Svd<double> ComputeSvd(const LinalgMatrix<double>& a, SvdVectors vectors);
template <>
Svd<complex128> ComputeSvd(const LinalgMatrix<complex128>& a,
                           SvdVectors vectors);

}  // namespace headrace

#endif  // HEADRACE_KERNELS_LINALG_SVD_H_
