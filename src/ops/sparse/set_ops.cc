// Sets in the last dim of dense and sparse tensors: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

// The rank of a set argument, at least 2, from a dense input.
Status DenseSetRank(InferenceContext* c, int i, int64_t* rank) {
  Shape set;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(i), 2, &set));
  *rank = set.unknown_rank() ? -1 : set.dims();
  return OkStatus();
}
// From the indices, values and shape in inputs i to i + 2.
Status SparseSetRank(InferenceContext* c, int i, int64_t* rank) {
  Shape indices, values, shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i + 1), 1, &values));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i + 2), 1, &shape));
  int64_t entries;
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(indices, 0), c->Dim(values, 0), &entries));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(indices, 1), c->Dim(shape, 0), rank));
  if (*rank >= 0 && *rank < 2) {
    return errors::InvalidArgument("Input rank ", *rank, " < 2");
  }
  return OkStatus();
}

Status SetResult(InferenceContext* c, int64_t a, int64_t b) {
  int64_t rank;
  HR_RETURN_IF_ERROR(c->MergeDims(a, b, &rank));
  c->set_output(0, c->Matrix(-1, rank));
  c->set_output(1, c->Vector(-1));
  c->set_output(2, c->Vector(rank));
  return OkStatus();
}

Status DenseToDenseShape(InferenceContext* c) {
  int64_t a, b;
  HR_RETURN_IF_ERROR(DenseSetRank(c, 0, &a));
  HR_RETURN_IF_ERROR(DenseSetRank(c, 1, &b));
  return SetResult(c, a, b);
}
Status DenseToSparseShape(InferenceContext* c) {
  int64_t a, b;
  HR_RETURN_IF_ERROR(DenseSetRank(c, 0, &a));
  HR_RETURN_IF_ERROR(SparseSetRank(c, 1, &b));
  return SetResult(c, a, b);
}
Status SparseToSparseShape(InferenceContext* c) {
  int64_t a, b;
  HR_RETURN_IF_ERROR(SparseSetRank(c, 0, &a));
  HR_RETURN_IF_ERROR(SparseSetRank(c, 3, &b));
  return SetResult(c, a, b);
}
Status SetSizeShape(InferenceContext* c) {
  int64_t rank;
  HR_RETURN_IF_ERROR(SparseSetRank(c, 0, &rank));
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &shape));
  if (shape.unknown_rank()) {
    c->set_output(0, rank < 0
                         ? c->UnknownShape()
                         : c->UnknownShapeOfRank(static_cast<int>(rank) - 1));
    return OkStatus();
  }
  HR_RETURN_IF_ERROR(c->Subshape(shape, 0, -1, &shape));
  c->set_output(0, shape);
  return OkStatus();
}
}  // namespace

REGISTER_OP("SetSize")
    .Input("set_indices: int64")
    .Input("set_values: T")
    .Input("set_shape: int64")
    .Output("size: int32")
    .Attr("validate_indices: bool = true")
    .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
    .SetShapeFn(SetSizeShape);
REGISTER_OP("DenseToDenseSetOperation")
    .Input("set1: T")
    .Input("set2: T")
    .Output("result_indices: int64")
    .Output("result_values: T")
    .Output("result_shape: int64")
    .Attr("set_operation: string")
    .Attr("validate_indices: bool = true")
    .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
    .SetShapeFn(DenseToDenseShape);
REGISTER_OP("DenseToSparseSetOperation")
    .Input("set1: T")
    .Input("set2_indices: int64")
    .Input("set2_values: T")
    .Input("set2_shape: int64")
    .Output("result_indices: int64")
    .Output("result_values: T")
    .Output("result_shape: int64")
    .Attr("set_operation: string")
    .Attr("validate_indices: bool = true")
    .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
    .SetShapeFn(DenseToSparseShape);
REGISTER_OP("SparseToSparseSetOperation")
    .Input("set1_indices: int64")
    .Input("set1_values: T")
    .Input("set1_shape: int64")
    .Input("set2_indices: int64")
    .Input("set2_values: T")
    .Input("set2_shape: int64")
    .Output("result_indices: int64")
    .Output("result_values: T")
    .Output("result_shape: int64")
    .Attr("set_operation: string")
    .Attr("validate_indices: bool = true")
    .Attr("T: {int8, int16, int32, int64, uint8, uint16, string}")
    .SetShapeFn(SparseToSparseShape);

}  // namespace headrace
