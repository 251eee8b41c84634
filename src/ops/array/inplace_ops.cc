// Uninitialised tensors, updates of rows and of slices of values, and positions
// as coordinates.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status EmptyShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &out));
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &out));
  c->set_output(0, out);
  return OkStatus();
}

// dims of n coordinates: [n] for a scalar index, [n, m] for m of them.
Status UnravelIndexShape(InferenceContext* c) {
  Shape indices, dims;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 1, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &dims));
  if (indices.unknown_rank()) {
    c->set_output(0, c->UnknownShape());
  } else {
    c->set_output(0, dims.Concatenate(indices));
  }
  return OkStatus();
}

}  // namespace

REGISTER_OP("Empty")
    .Input("shape: int32")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("init: bool = false")
    .SetIsStateful()
    .SetShapeFn(EmptyShape)
    .IsRandom();

REGISTER_OP("InplaceUpdate")
    .Input("x: T")
    .Input("i: int32")
    .Input("v: T")
    .Output("y: T")
    .Attr("T: type")
    .KeepsShape();

REGISTER_OP("InplaceAdd")
    .Input("x: T")
    .Input("i: int32")
    .Input("v: T")
    .Output("y: T")
    .Attr("T: type")
    .KeepsShape();

REGISTER_OP("InplaceSub")
    .Input("x: T")
    .Input("i: int32")
    .Input("v: T")
    .Output("y: T")
    .Attr("T: type")
    .KeepsShape();

REGISTER_OP("TensorStridedSliceUpdate")
    .Input("input: T")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("value: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: {int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .KeepsShape();

REGISTER_OP("UnravelIndex")
    .Input("indices: Tidx")
    .Input("dims: Tidx")
    .Output("output: Tidx")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(UnravelIndexShape);

}  // namespace headrace
