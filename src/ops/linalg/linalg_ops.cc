// Linear algebra on batches of matrices.
#include <algorithm>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// A matrix in the last two dims of input i: batch dims, rows and columns.
struct BatchedMatrix {
  bool known = false;
  Shape batch;
  int64_t rows = -1, cols = -1;
};
Status GetMatrix(InferenceContext* c, int i, bool square, BatchedMatrix* m) {
  Shape s;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(i), 2, &s));
  m->known = c->RankKnown(s);
  if (!m->known) return OkStatus();
  HR_RETURN_IF_ERROR(c->Subshape(s, 0, -2, &m->batch));
  m->rows = c->Dim(s, -2);
  m->cols = c->Dim(s, -1);
  if (square) {
    HR_RETURN_IF_ERROR(c->MergeDims(m->rows, m->cols, &m->rows));
    m->cols = m->rows;
  }
  return OkStatus();
}
void SetBatched(InferenceContext* c, int i, const BatchedMatrix& m,
                std::initializer_list<int64_t> dims) {
  c->set_output(i,
                m.known ? m.batch.Concatenate(Shape(dims)) : c->UnknownShape());
}

Status SquareShape(InferenceContext* c) {
  BatchedMatrix m;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, true, &m));
  SetBatched(c, 0, m, {m.rows, m.rows});
  return OkStatus();
}

Status DeterminantShape(InferenceContext* c) {
  BatchedMatrix m;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, true, &m));
  for (int i = 0; i < c->num_outputs(); ++i) SetBatched(c, i, m, {});
  return OkStatus();
}

// matrix, right side. Whether batches broadcast is in the template argument.
template <bool square, bool broadcast>
Status SolveShape(InferenceContext* c) {
  BatchedMatrix a, b;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, square, &a));
  HR_RETURN_IF_ERROR(GetMatrix(c, 1, false, &b));
  int64_t rows;
  HR_RETURN_IF_ERROR(c->MergeDims(a.rows, b.rows, &rows));
  if (square) a.cols = rows;
  if (broadcast) {
    if (!a.known || !b.known) {
      c->set_output(0, c->UnknownShape());
      return OkStatus();
    }
    HR_RETURN_IF_ERROR(BroadcastShapes(a.batch, b.batch, &a.batch));
  } else {
    HR_RETURN_IF_ERROR(c->Merge(a.batch, b.batch, &a.batch));
    a.known = a.known || b.known;
  }
  SetBatched(c, 0, a, {a.cols, b.cols});
  return OkStatus();
}

Status SolveLsShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &unused));
  return SolveShape<false, false>(c);
}

// Diagonals, each as long as the last input, the right side, is high. Input 0
// has `rows` rows if that is known.
template <bool broadcast>
Status DiagonalsShape(InferenceContext* c, int64_t rows) {
  const int last = c->num_inputs() - 1;
  BatchedMatrix right;
  HR_RETURN_IF_ERROR(GetMatrix(c, last, false, &right));
  for (int i = 0; i < last; ++i) {
    BatchedMatrix a;
    HR_RETURN_IF_ERROR(GetMatrix(c, i, false, &a));
    HR_RETURN_IF_ERROR(c->MergeDims(a.rows, rows, &a.rows));
    HR_RETURN_IF_ERROR(c->MergeDims(a.cols, right.rows, &right.rows));
    if (!broadcast) {
      HR_RETURN_IF_ERROR(c->Merge(right.batch, a.batch, &right.batch));
      right.known = right.known || a.known;
      continue;
    }
    right.known = right.known && a.known;
    if (right.known) {
      HR_RETURN_IF_ERROR(BroadcastShapes(right.batch, a.batch, &right.batch));
    }
  }
  SetBatched(c, 0, right, {right.rows, right.cols});
  return OkStatus();
}
Status TridiagonalSolveShape(InferenceContext* c) {
  return DiagonalsShape<false>(c, 3);
}
Status TridiagonalMatMulShape(InferenceContext* c) {
  return DiagonalsShape<false>(c, 1);
}
Status BandedSolveShape(InferenceContext* c) {
  return DiagonalsShape<true>(c, -1);
}

Status SelfAdjointEigV1Shape(InferenceContext* c) {
  BatchedMatrix m;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, true, &m));
  int64_t more = -1;
  HR_RETURN_IF_ERROR(c->Add(m.rows, 1, &more));
  SetBatched(c, 0, m, {more, m.rows});
  return OkStatus();
}

Status EigShape(InferenceContext* c) {
  BatchedMatrix m;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, true, &m));
  bool vectors = true;
  HR_RETURN_IF_ERROR(c->GetAttr("compute_v", &vectors));
  SetBatched(c, 0, m, {m.rows});
  if (vectors) {
    SetBatched(c, 1, m, {m.rows, m.rows});
  } else {
    c->set_output(1, c->Scalar());
  }
  return OkStatus();
}

int64_t MinDim(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 ? -1 : std::min(a, b);
}

Status SvdShape(InferenceContext* c) {
  BatchedMatrix a;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, false, &a));
  bool vectors = true, full = false;
  HR_RETURN_IF_ERROR(c->GetAttr("compute_uv", &vectors));
  HR_RETURN_IF_ERROR(c->GetAttr("full_matrices", &full));
  const int64_t k = MinDim(a.rows, a.cols);
  SetBatched(c, 0, a, {k});
  if (vectors) {
    SetBatched(c, 1, a, {a.rows, full ? a.rows : k});
    SetBatched(c, 2, a, {a.cols, full ? a.cols : k});
  } else {
    c->set_output(1, c->Scalar());
    c->set_output(2, c->Scalar());
  }
  return OkStatus();
}

Status QrShape(InferenceContext* c) {
  BatchedMatrix a;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, false, &a));
  bool full = false;
  HR_RETURN_IF_ERROR(c->GetAttr("full_matrices", &full));
  const int64_t k = full ? a.rows : MinDim(a.rows, a.cols);
  SetBatched(c, 0, a, {a.rows, k});
  SetBatched(c, 1, a, {k, a.cols});
  return OkStatus();
}

Status LuShape(InferenceContext* c) {
  BatchedMatrix a;
  HR_RETURN_IF_ERROR(GetMatrix(c, 0, true, &a));
  SetBatched(c, 0, a, {a.rows, a.rows});
  SetBatched(c, 1, a, {a.rows});
  return OkStatus();
}

#define LINALG_TYPES "{double, float, half, complex64, complex128}"

REGISTER_OP("Cholesky")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(SquareShape);

REGISTER_OP("CholeskyGrad")
    .Input("l: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("T: {half, float, double}")
    .SetShapeFn(SquareShape);

REGISTER_OP("MatrixInverse")
    .Input("input: T")
    .Output("output: T")
    .Attr("adjoint: bool = false")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(SquareShape);

REGISTER_OP("MatrixDeterminant")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {half, float, double, complex64, complex128}")
    .SetShapeFn(DeterminantShape);

REGISTER_OP("LogMatrixDeterminant")
    .Input("input: T")
    .Output("sign: T")
    .Output("log_abs_determinant: T")
    .Attr("T: {half, float, double, complex64, complex128}")
    .SetShapeFn(DeterminantShape);

REGISTER_OP("MatrixSolve")
    .Input("matrix: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("adjoint: bool = false")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(SolveShape<true, false>);

REGISTER_OP("MatrixTriangularSolve")
    .Input("matrix: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("lower: bool = true")
    .Attr("adjoint: bool = false")
    .Attr("T: {bfloat16, double, float, half, complex64, complex128}")
    .SetShapeFn(SolveShape<true, true>);

REGISTER_OP("BandedTriangularSolve")
    .Input("matrix: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("lower: bool = true")
    .Attr("adjoint: bool = false")
    .Attr("T: {double, float, half, complex64, complex128}")
    .SetShapeFn(BandedSolveShape);

REGISTER_OP("TridiagonalSolve")
    .Input("diagonals: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("partial_pivoting: bool = true")
    .Attr("perturb_singular: bool = false")
    .Attr("T: {double, float, complex64, complex128}")
    .SetShapeFn(TridiagonalSolveShape);

REGISTER_OP("TridiagonalMatMul")
    .Input("superdiag: T")
    .Input("maindiag: T")
    .Input("subdiag: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("T: {double, float, complex64, complex128}")
    .SetShapeFn(TridiagonalMatMulShape);

REGISTER_OP("MatrixSquareRoot")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {double, float, half, complex64, complex128}")
    .SetShapeFn(SquareShape);

REGISTER_OP("MatrixExponential")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {double, float, half, complex64, complex128}")
    .Deprecated(27, "Use tf.linalg.expm instead.")
    .SetShapeFn(SquareShape);

REGISTER_OP("MatrixLogarithm")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {complex64, complex128}")
    .SetShapeFn(SquareShape);

REGISTER_OP("MatrixSolveLs")
    .Input("matrix: T")
    .Input("rhs: T")
    .Input("l2_regularizer: double")
    .Output("output: T")
    .Attr("T: " LINALG_TYPES)
    .Attr("fast: bool = true")
    .SetShapeFn(SolveLsShape);

REGISTER_OP("SelfAdjointEig")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {double, float, half}")
    .Deprecated(11, "Use SelfAdjointEigV2 instead.")
    .SetShapeFn(SelfAdjointEigV1Shape);

REGISTER_OP("SelfAdjointEigV2")
    .Input("input: T")
    .Output("e: T")
    .Output("v: T")
    .Attr("compute_v: bool = true")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(EigShape);

REGISTER_OP("Eig")
    .Input("input: T")
    .Output("e: Tout")
    .Output("v: Tout")
    .Attr("compute_v: bool = true")
    .Attr("T: {float, double, complex64, complex128}")
    .Attr("Tout: {complex64, complex128}")
    .SetShapeFn(EigShape);

REGISTER_OP("Svd")
    .Input("input: T")
    .Output("s: T")
    .Output("u: T")
    .Output("v: T")
    .Attr("compute_uv: bool = true")
    .Attr("full_matrices: bool = false")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(SvdShape);

REGISTER_OP("Qr")
    .Input("input: T")
    .Output("q: T")
    .Output("r: T")
    .Attr("full_matrices: bool = false")
    .Attr("T: " LINALG_TYPES)
    .SetShapeFn(QrShape);

REGISTER_OP("Lu")
    .Input("input: T")
    .Output("lu: T")
    .Output("p: output_idx_type")
    .Attr("T: " LINALG_TYPES)
    .Attr("output_idx_type: {int32, int64} = DT_INT32")
    .SetShapeFn(LuShape);

// The names of before the plain ops took batches.
REGISTER_OP("BatchCholesky")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {double, float}")
    .Deprecated(13, "Use Cholesky instead.")
    .SetShapeFn(SquareShape);

REGISTER_OP("BatchCholeskyGrad")
    .Input("l: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("T: {float, double}")
    .Deprecated(13, "Use CholeskyGrad instead.")
    .SetShapeFn(SquareShape);

REGISTER_OP("BatchMatrixInverse")
    .Input("input: T")
    .Output("output: T")
    .Attr("adjoint: bool = false")
    .Attr("T: {double, float}")
    .Deprecated(13, "Use MatrixInverse instead.")
    .SetShapeFn(SquareShape);

REGISTER_OP("BatchMatrixDeterminant")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {float, double, complex64, complex128}")
    .Deprecated(13, "Use MatrixDeterminant instead.")
    .SetShapeFn(DeterminantShape);

REGISTER_OP("BatchMatrixSolve")
    .Input("matrix: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("adjoint: bool = false")
    .Attr("T: {double, float}")
    .Deprecated(13, "Use MatrixSolve instead.")
    .SetShapeFn(SolveShape<true, false>);

REGISTER_OP("BatchMatrixTriangularSolve")
    .Input("matrix: T")
    .Input("rhs: T")
    .Output("output: T")
    .Attr("lower: bool = true")
    .Attr("adjoint: bool = false")
    .Attr("T: {double, float}")
    .Deprecated(13, "Use MatrixTriangularSolve instead.")
    .SetShapeFn(SolveShape<true, true>);

REGISTER_OP("BatchMatrixSolveLs")
    .Input("matrix: T")
    .Input("rhs: T")
    .Input("l2_regularizer: double")
    .Output("output: T")
    .Attr("T: {double, float}")
    .Attr("fast: bool = true")
    .Deprecated(13, "Use MatrixSolveLs instead.")
    .SetShapeFn(SolveLsShape);

REGISTER_OP("BatchSelfAdjointEig")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {double, float}")
    .Deprecated(11, "Use SelfAdjointEigV2 instead.")
    .SetShapeFn(SelfAdjointEigV1Shape);

REGISTER_OP("BatchSelfAdjointEigV2")
    .Input("input: T")
    .Output("e: T")
    .Output("v: T")
    .Attr("compute_v: bool = true")
    .Attr("T: {double, float}")
    .Deprecated(13, "Use SelfAdjointEigV2 instead.")
    .SetShapeFn(EigShape);

REGISTER_OP("BatchSvd")
    .Input("input: T")
    .Output("s: T")
    .Output("u: T")
    .Output("v: T")
    .Attr("compute_uv: bool = true")
    .Attr("full_matrices: bool = false")
    .Attr("T: {double, float, complex64, complex128}")
    .Deprecated(13, "Use Svd instead.")
    .SetShapeFn(SvdShape);
#undef LINALG_TYPES

}  // namespace
}  // namespace headrace
