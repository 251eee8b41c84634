// Gather and scatter on values: Gather, GatherV2, GatherNd, ScatterNd and the
// TensorScatter family.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/shape_value_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status GatherShape(InferenceContext* c) {
  Shape params, rest;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &params));
  HR_RETURN_IF_ERROR(c->Subshape(params, 1, &rest));
  c->set_output(0, c->input(1).Concatenate(rest));
  return OkStatus();
}

Status GatherV2Shape(InferenceContext* c) {
  Shape params, axis_shape;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &params));
  const Shape& indices = c->input(1);
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &axis_shape));
  int64_t batch_dims, axis;
  HR_RETURN_IF_ERROR(c->GetAttr("batch_dims", &batch_dims));
  if (!c->ScalarInput(2, &axis)) {
    if (params.unknown_rank() || indices.unknown_rank() || batch_dims < 0 ||
        batch_dims > indices.dims() ||
        params.dims() + indices.dims() - 1 > kMaxTensorRank) {
      c->set_output(0, c->UnknownShape());
    } else {
      c->set_output(0, c->UnknownShapeOfRank(static_cast<int>(
                           params.dims() + indices.dims() - 1 - batch_dims)));
    }
    return OkStatus();
  }
  if (params.unknown_rank() || indices.unknown_rank()) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  const int rank = params.dims();
  if (axis < -rank || axis >= rank) {
    return errors::InvalidArgument("axis ", axis, " is not in [", -rank, ", ",
                                   rank, ")");
  }
  if (axis < 0) axis += rank;
  if (batch_dims < 0) batch_dims += indices.dims();
  if (batch_dims < 0 || batch_dims > indices.dims() || batch_dims > axis) {
    return errors::InvalidArgument(
        "batch_dims ", batch_dims, " must be in [0, ", indices.dims(),
        "], the rank of indices, and at most axis, which is ", axis);
  }
  DimVector out;
  for (int i = 0; i < axis; ++i) {
    int64_t d = params.dim_size(i);
    if (i < batch_dims) {
      HR_RETURN_IF_ERROR(c->MergeDims(d, indices.dim_size(i), &d));
    }
    out.push_back(d);
  }
  for (int i = static_cast<int>(batch_dims); i < indices.dims(); ++i) {
    out.push_back(indices.dim_size(i));
  }
  for (int i = static_cast<int>(axis) + 1; i < rank; ++i) {
    out.push_back(params.dim_size(i));
  }
  Shape shape;
  HR_RETURN_IF_ERROR(Shape::Build(out, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

Status GatherNdShape(InferenceContext* c) {
  const Shape& params = c->input(0);
  Shape indices;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &indices));
  const int64_t depth = c->Dim(indices, -1);
  if (params.unknown_rank() || depth < 0) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (depth > params.dims()) {
    return errors::InvalidArgument(
        "indices.shape[-1] must be <= params.rank, but saw indices shape: ",
        indices.DebugString(), " and params shape: ", params.DebugString());
  }
  Shape outer, inner;
  HR_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &outer));
  HR_RETURN_IF_ERROR(c->Subshape(params, depth, &inner));
  c->set_output(0, outer.Concatenate(inner));
  return OkStatus();
}

// updates must be indices.shape[:-1] + shape[depth:].
Status CheckScatter(InferenceContext* c, const Shape& indices,
                    const Shape& updates, const Shape& shape) {
  if (shape.unknown_rank() || indices.unknown_rank() ||
      updates.unknown_rank()) {
    return OkStatus();
  }
  Shape at_least;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(indices, 1, &at_least));
  const int64_t depth = indices.dim_size(indices.dims() - 1);
  if (depth < 0) return OkStatus();
  if (depth > shape.dims()) {
    return errors::InvalidArgument("indices.shape[-1] is ", depth,
                                   ", more than the rank of ",
                                   shape.DebugString());
  }
  Shape outer, inner, merged;
  HR_RETURN_IF_ERROR(c->Subshape(indices, 0, -1, &outer));
  HR_RETURN_IF_ERROR(c->Subshape(shape, depth, &inner));
  const Status s = c->Merge(updates, outer.Concatenate(inner), &merged);
  if (s.ok()) return s;
  return errors::InvalidArgument(
      "updates must have shape indices.shape[:-1] + shape[", depth,
      ":] = ", outer.Concatenate(inner).DebugString(), ", got ",
      updates.DebugString());
}

Status ScatterNdShape(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(2), 1, &shape));
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &shape));
  HR_RETURN_IF_ERROR(CheckScatter(c, c->input(0), c->input(1), shape));
  c->set_output(0, shape);
  return OkStatus();
}

Status TensorScatterShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CheckScatter(c, c->input(1), c->input(2), c->input(0)));
  c->set_output(0, c->input(0));
  return OkStatus();
}

}  // namespace

REGISTER_OP("Gather")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Output("output: Tparams")
    .Attr("validate_indices: bool = true")
    .Attr("Tparams: type")
    .Attr("Tindices: {int32, int64}")
    .SetShapeFn(GatherShape)
    .ShapeValue(GatherValue);

REGISTER_OP("GatherV2")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Input("axis: Taxis")
    .Output("output: Tparams")
    .Attr("batch_dims: int = 0")
    .Attr("Tparams: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("Taxis: {int32, int64}")
    .SetShapeFn(GatherV2Shape)
    .ShapeValue(GatherValue);

REGISTER_OP("GatherNd")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Output("output: Tparams")
    .Attr("Tparams: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("bad_indices_policy: string = ''")
    .SetShapeFn(GatherNdShape);

REGISTER_OP("ScatterNd")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Input("shape: Tindices")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("bad_indices_policy: string = ''")
    .SetShapeFn(ScatterNdShape);

REGISTER_OP("ScatterNdNonAliasingAdd")
    .Input("input: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64, bool}")
    .Attr("Tindices: {int32, int64}")
    .Attr("bad_indices_policy: string = ''")
    .SetShapeFn(TensorScatterShape);

REGISTER_OP("TensorScatterUpdate")
    .Input("tensor: T")
    .Input("indices: Tindices")
    .Input("updates: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tindices: {int16, int32, int64, uint16}")
    .Attr("bad_indices_policy: string = ''")
    .SetShapeFn(TensorScatterShape);

#define REGISTER_TENSOR_SCATTER(name)          \
  REGISTER_OP(name)                            \
      .Input("tensor: T")                      \
      .Input("indices: Tindices")              \
      .Input("updates: T")                     \
      .Output("output: T")                     \
      .Attr("T: type")                         \
      .Attr("Tindices: {int32, int64}")        \
      .Attr("bad_indices_policy: string = ''") \
      .SetShapeFn(TensorScatterShape)

REGISTER_TENSOR_SCATTER("TensorScatterAdd");
REGISTER_TENSOR_SCATTER("TensorScatterSub");
REGISTER_TENSOR_SCATTER("TensorScatterMax");
REGISTER_TENSOR_SCATTER("TensorScatterMin");

#undef REGISTER_TENSOR_SCATTER

}  // namespace headrace
