// What weighted alternating least squares needs, of TensorFlow's contrib
// library: schemas and shapes.
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status WalsShape(InferenceContext* c) {
  const struct {
    int input, rank;
  } ranks[] = {{1, 1}, {2, 0}, {3, 1}, {5, 1}, {6, 1}, {7, 0}, {8, 0}};
  Shape factors, indices, other;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &factors));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(4), 2, &indices));
  for (const auto& r : ranks) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(r.input), r.rank, &other));
  }
  int64_t rows;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(7, &rows));
  const int64_t size = c->Dim(factors, 1);
  c->set_output(0, Shape({rows, size, size}));
  c->set_output(1, c->Matrix(rows, size));
  return OkStatus();
}

Status MaskedMatmulShape(InferenceContext* c) {
  Shape a, b, indices, scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &a));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &b));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &scalar));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(4), 0, &scalar));
  c->set_output(0, c->Vector(c->Dim(indices, 0)));
  return OkStatus();
}

}  // namespace

// The normal equations of rows of a sparse matrix: of each row the sum of
// w f f^T, and of (w_0 + w) value f, over its entries.
REGISTER_OP("WALSComputePartialLhsAndRhs")
    .Input("factors: float")
    .Input("factor_weights: float")
    .Input("unobserved_weights: float")
    .Input("input_weights: float")
    .Input("input_indices: int64")
    .Input("input_values: float")
    .Input("entry_weights: float")
    .Input("input_block_size: int64")
    .Input("input_is_transpose: bool")
    .Output("partial_lhs: float")
    .Output("partial_rhs: float")
    .SetShapeFn(WalsShape);
// The entries of the product a b at mask_indices.
REGISTER_OP("MaskedMatmul")
    .Input("a: float")
    .Input("b: float")
    .Input("mask_indices: int64")
    .Input("transpose_a: bool")
    .Input("transpose_b: bool")
    .Output("prod_values: float")
    .SetShapeFn(MaskedMatmulShape);

}  // namespace headrace
