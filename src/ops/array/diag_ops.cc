// Diagonals of matrices and of tensors, and bands of matrices.
#include <string>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status DiagShape(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
  if (!in.unknown_rank() && 2 * in.dims() > kMaxTensorRank) {
    return errors::InvalidArgument("Diag: too many dimensions");
  }
  c->set_output(0, in.Concatenate(in));
  return OkStatus();
}

Status DiagPartShape(InferenceContext* c) {
  const Shape& in = c->input(0);
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  if (in.dims() % 2 != 0 || in.dims() <= 0) {
    return errors::InvalidArgument(
        "Input must have even and non-zero rank, input rank is ", in.dims());
  }
  Shape a, b, out;
  HR_RETURN_IF_ERROR(c->Subshape(in, 0, in.dims() / 2, &a));
  HR_RETURN_IF_ERROR(c->Subshape(in, in.dims() / 2, &b));
  HR_RETURN_IF_ERROR(c->Merge(a, b, &out));
  c->set_output(0, out);
  return OkStatus();
}

// lower and upper from input `i`; false if it is not known yet.
Status ReadBand(InferenceContext* c, int i, bool* known, int64_t* lower,
                int64_t* upper) {
  Shape at_most;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &at_most));
  std::vector<int64_t> k;
  *known = c->IntInputs(i, &k);
  if (!*known) return OkStatus();
  if (k.empty() || k.size() > 2) {
    return errors::InvalidArgument(
        "diag_index must be a scalar or vector with one or two elements. It "
        "has ",
        k.size(), " elements");
  }
  *lower = k.front();
  *upper = k.back();
  if (*lower > *upper) {
    return errors::InvalidArgument(
        "lower_diag_index is greater than "
        "upper_diag_index: ",
        *lower, " > ", *upper);
  }
  return OkStatus();
}

// The band lies within a matrix of `rows` x `cols`, where these are known.
Status CheckBand(int64_t lower, int64_t upper, int64_t rows, int64_t cols) {
  if (rows < 0 || cols < 0) return OkStatus();
  for (int64_t d : {lower, upper}) {
    if (d != 0 && (d <= -rows || d >= cols)) {
      return errors::InvalidArgument("diagonal ", d,
                                     " is out of bound: the matrix has ", rows,
                                     " rows and ", cols, " columns");
    }
  }
  return OkStatus();
}

Status MatrixDiagShape(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  c->set_output(0, in.Concatenate(c->Vector(in.dim_size(in.dims() - 1))));
  return OkStatus();
}

Status MatrixDiagV2Shape(InferenceContext* c) {
  Shape in, scalar;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
  for (int i = 2; i < 5; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &scalar));
  }
  bool known;
  int64_t lower, upper, rows = -1, cols = -1;
  HR_RETURN_IF_ERROR(ReadBand(c, 1, &known, &lower, &upper));
  const bool sizes_known = c->ScalarInput(2, &rows) && c->ScalarInput(3, &cols);
  if (!known || in.unknown_rank()) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  int batch_dims = in.dims() - 1;
  if (lower < upper) {
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(in, 2, &in));
    int64_t n;
    HR_RETURN_IF_ERROR(c->WithValue(c->Dim(in, -2), upper - lower + 1, &n));
    --batch_dims;
  }
  const int64_t length = c->Dim(in, -1);
  Shape out;
  HR_RETURN_IF_ERROR(c->Subshape(in, 0, batch_dims, &out));
  if (!sizes_known || length < 0) {
    c->set_output(0, out.Concatenate(c->Matrix(-1, -1)));
    return OkStatus();
  }
  const int64_t min_rows = length - std::min<int64_t>(upper, 0);
  const int64_t min_cols = length + std::max<int64_t>(lower, 0);
  if (rows == -1 && cols == -1) {
    rows = cols = std::max(min_rows, min_cols);
  } else if (rows == -1) {
    rows = min_rows;
  } else if (cols == -1) {
    cols = min_cols;
  }
  if (rows < min_rows || cols < min_cols ||
      (rows != min_rows && cols != min_cols)) {
    return errors::InvalidArgument(
        "The number of rows (", rows, ") or columns (", cols,
        ") is not consistent with diagonals of length ", length, " from ",
        lower, " to ", upper);
  }
  c->set_output(0, out.Concatenate(c->Matrix(rows, cols)));
  return OkStatus();
}

Status MatrixDiagPartShape(InferenceContext* c) {
  Shape in, out;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &in));
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(c->Subshape(in, 0, -2, &out));
  const int64_t rows = c->Dim(in, -2), cols = c->Dim(in, -1);
  const int64_t n = rows < 0 || cols < 0 ? -1 : std::min(rows, cols);
  c->set_output(0, out.Concatenate(c->Vector(n)));
  return OkStatus();
}

// The shape of diagonals lower..upper of matrices of shape `in`.
Status BandShape(InferenceContext* c, const Shape& in, int64_t lower,
                 int64_t upper, Shape* out) {
  const int64_t rows = c->Dim(in, -2), cols = c->Dim(in, -1);
  HR_RETURN_IF_ERROR(CheckBand(lower, upper, rows, cols));
  int64_t length = -1;
  if (rows >= 0 && cols >= 0) {
    length = std::min(rows + std::min<int64_t>(upper, 0),
                      cols - std::max<int64_t>(lower, 0));
  }
  HR_RETURN_IF_ERROR(c->Subshape(in, 0, -2, out));
  if (lower < upper) *out = out->Concatenate(c->Vector(upper - lower + 1));
  *out = out->Concatenate(c->Vector(length));
  return OkStatus();
}

Status MatrixDiagPartV2Shape(InferenceContext* c) {
  Shape in, scalar, out;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &scalar));
  bool known;
  int64_t lower, upper;
  HR_RETURN_IF_ERROR(ReadBand(c, 1, &known, &lower, &upper));
  if (known && !in.unknown_rank()) {
    HR_RETURN_IF_ERROR(BandShape(c, in, lower, upper, &out));
  }
  c->set_output(0, out);
  return OkStatus();
}

Status MatrixSetDiagShape(InferenceContext* c) {
  Shape in, diagonal;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &in));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &diagonal));
  bool known = true;
  int64_t lower = 0, upper = 0;
  if (c->num_inputs() > 2) {
    HR_RETURN_IF_ERROR(ReadBand(c, 2, &known, &lower, &upper));
  }
  if (known && !in.unknown_rank()) {
    Shape want, merged;
    HR_RETURN_IF_ERROR(BandShape(c, in, lower, upper, &want));
    HR_RETURN_IF_ERROR(c->Merge(want, diagonal, &merged));
  }
  if (known && in.unknown_rank() && !diagonal.unknown_rank()) {
    const int own_dims = lower < upper ? 2 : 1;
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(diagonal, own_dims, &diagonal));
    HR_RETURN_IF_ERROR(c->Subshape(diagonal, 0, -own_dims, &in));
    in = in.Concatenate(c->Matrix(-1, -1));
  }
  c->set_output(0, in);
  return OkStatus();
}

Status MatrixBandPartShape(InferenceContext* c) {
  Shape in, scalar;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &scalar));
  c->set_output(0, in);
  return OkStatus();
}

}  // namespace

REGISTER_OP("Diag")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr(
        "T: {bfloat16, half, float, double, int32, int64, complex64, "
        "complex128}")
    .SetShapeFn(DiagShape);

REGISTER_OP("DiagPart")
    .Input("input: T")
    .Output("diagonal: T")
    .Attr(
        "T: {bfloat16, half, float, double, int32, int64, complex64, "
        "complex128}")
    .SetShapeFn(DiagPartShape);

REGISTER_OP("MatrixDiag")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(MatrixDiagShape);

REGISTER_OP("MatrixDiagV2")
    .Input("diagonal: T")
    .Input("k: int32")
    .Input("num_rows: int32")
    .Input("num_cols: int32")
    .Input("padding_value: T")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(MatrixDiagV2Shape);

REGISTER_OP("MatrixDiagV3")
    .Input("diagonal: T")
    .Input("k: int32")
    .Input("num_rows: int32")
    .Input("num_cols: int32")
    .Input("padding_value: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr(
        "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = "
        "'RIGHT_LEFT'")
    .SetShapeFn(MatrixDiagV2Shape);

REGISTER_OP("MatrixDiagPart")
    .Input("input: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .SetShapeFn(MatrixDiagPartShape);

REGISTER_OP("MatrixDiagPartV2")
    .Input("input: T")
    .Input("k: int32")
    .Input("padding_value: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .SetShapeFn(MatrixDiagPartV2Shape);

REGISTER_OP("MatrixDiagPartV3")
    .Input("input: T")
    .Input("k: int32")
    .Input("padding_value: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .Attr(
        "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = "
        "'RIGHT_LEFT'")
    .SetShapeFn(MatrixDiagPartV2Shape);

REGISTER_OP("MatrixSetDiag")
    .Input("input: T")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(MatrixSetDiagShape);

REGISTER_OP("MatrixSetDiagV2")
    .Input("input: T")
    .Input("diagonal: T")
    .Input("k: int32")
    .Output("output: T")
    .Attr("T: type")
    .SetShapeFn(MatrixSetDiagShape);

REGISTER_OP("MatrixSetDiagV3")
    .Input("input: T")
    .Input("diagonal: T")
    .Input("k: int32")
    .Output("output: T")
    .Attr("T: type")
    .Attr(
        "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = "
        "'RIGHT_LEFT'")
    .SetShapeFn(MatrixSetDiagShape);

REGISTER_OP("MatrixBandPart")
    .Input("input: T")
    .Input("num_lower: Tindex")
    .Input("num_upper: Tindex")
    .Output("band: T")
    .Attr("T: type")
    .Attr("Tindex: {int32, int64} = DT_INT64")
    .SetShapeFn(MatrixBandPartShape);

REGISTER_OP("BatchMatrixDiag")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: type")
    .Deprecated(14, "Use MatrixDiag")
    .SetShapeFn(MatrixDiagShape);

REGISTER_OP("BatchMatrixDiagPart")
    .Input("input: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .Deprecated(14, "Use MatrixDiagPart")
    .SetShapeFn(MatrixDiagPartShape);

REGISTER_OP("BatchMatrixSetDiag")
    .Input("input: T")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: type")
    .Deprecated(14, "Use MatrixSetDiag")
    .SetShapeFn(MatrixSetDiagShape);

REGISTER_OP("BatchMatrixBandPart")
    .Input("input: T")
    .Input("num_lower: int64")
    .Input("num_upper: int64")
    .Output("band: T")
    .Attr("T: type")
    .Deprecated(14, "Use MatrixBandPart")
    .SetShapeFn(MatrixBandPartShape);

}  // namespace headrace
