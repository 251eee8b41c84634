// Ops between values and positions: OneHot, Where, Unique, ListDiff, searches
// in sorted rows, partitions and stitches, edit distance.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status OneHotShape(InferenceContext* c) {
  int64_t axis, depth;
  HR_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
  if (axis < -1) {
    return errors::InvalidArgument("axis must be >= -1, got ", axis);
  }
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &depth));
  Shape scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &scalar));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &scalar));
  const Shape& in = c->input(0);
  if (in.unknown_rank()) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (axis > in.dims()) {
    return errors::InvalidArgument("axis must be in [-1, ", in.dims(),
                                   "], got ", axis);
  }
  if (axis == -1) axis = in.dims();
  DimVector out(in.dim_sizes().begin(), in.dim_sizes().end());
  out.insert(out.begin() + axis, depth);
  Shape shape;
  HR_RETURN_IF_ERROR(Shape::Build(out, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

Status WhereShape(InferenceContext* c) {
  c->set_output(0, Shape({-1, c->Rank(c->input(0))}));
  return OkStatus();
}

// y, idx and counts of a vector: y and the counts are of one unknown length.
Status UniqueShape(InferenceContext* c) {
  Shape x;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &x));
  c->set_output(0, c->Vector(-1));
  c->set_output(1, x);
  if (c->num_outputs() > 2) c->set_output(2, c->Vector(-1));
  return OkStatus();
}

Status UniqueV2Shape(InferenceContext* c) {
  const Shape& x = c->input(0);
  Shape axis_shape;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &axis_shape));
  std::vector<int64_t> axis;
  const bool known = c->IntInputs(1, &axis);
  Shape y = c->UnknownShape();
  int64_t n = -1;
  if (!x.unknown_rank()) {
    y = c->UnknownShapeOfRank(x.dims());
    if (known && axis.empty()) {
      HR_RETURN_IF_ERROR(c->WithRank(x, 1, &y));
      n = x.dim_size(0);
      y = c->Vector(-1);
    } else if (known && axis.size() == 1) {
      int64_t a = axis[0];
      if (a < -x.dims() || a >= x.dims()) {
        return errors::InvalidArgument("axis ", a, " is not in [", -x.dims(),
                                       ", ", x.dims(), ")");
      }
      if (a < 0) a += x.dims();
      y = x;
      n = x.dim_size(static_cast<int>(a));
      y.set_dim(static_cast<int>(a), -1);
    }
  }
  c->set_output(0, y);
  c->set_output(1, c->Vector(n));
  if (c->num_outputs() > 2) c->set_output(2, c->Vector(-1));
  return OkStatus();
}

Status ListDiffShape(InferenceContext* c) {
  Shape vector;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &vector));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &vector));
  c->set_output(0, c->Vector(-1));
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

Status SearchShape(InferenceContext* c) {
  Shape sorted, values;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &sorted));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &values));
  int64_t rows;
  HR_RETURN_IF_ERROR(
      c->MergeDims(sorted.dim_size(0), values.dim_size(0), &rows));
  values.set_dim(0, rows);
  c->set_output(0, values);
  return OkStatus();
}

Status DynamicPartitionShape(InferenceContext* c) {
  const Shape& partitions = c->input(1);
  Shape data, prefix, out;
  if (partitions.unknown_rank() || c->input(0).unknown_rank()) {
    out = c->UnknownShape();
  } else {
    HR_RETURN_IF_ERROR(c->MergePrefix(c->input(0), partitions, &data, &prefix));
    HR_RETURN_IF_ERROR(c->Subshape(data, partitions.dims(), &out));
    out = c->Vector(-1).Concatenate(out);
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, out);
  return OkStatus();
}

Status DynamicStitchShape(InferenceContext* c) {
  const int n = c->num_inputs() / 2;
  int64_t max_index = -1;
  bool all_known = true;
  Shape rest;
  for (int i = 0; i < n; ++i) {
    std::vector<int64_t> indices;
    if (c->IntInputs(i, &indices)) {
      for (int64_t v : indices) max_index = std::max(max_index, v);
    } else {
      all_known = false;
    }
    const Shape& indices_shape = c->input(i);
    const Shape& data_shape = c->input(n + i);
    if (indices_shape.unknown_rank() || data_shape.unknown_rank()) continue;
    Shape data, prefix, inner;
    HR_RETURN_IF_ERROR(
        c->MergePrefix(data_shape, indices_shape, &data, &prefix));
    HR_RETURN_IF_ERROR(c->Subshape(data, indices_shape.dims(), &inner));
    HR_RETURN_IF_ERROR(c->Merge(rest, inner, &rest));
  }
  c->set_output(0, c->Vector(all_known ? max_index + 1 : -1).Concatenate(rest));
  return OkStatus();
}

Status EditDistanceShape(InferenceContext* c) {
  std::vector<int64_t> hypothesis, truth;
  if (!c->IntInputs(2, &hypothesis) || !c->IntInputs(5, &truth)) {
    c->set_output(0, c->UnknownShape());
    return OkStatus();
  }
  if (hypothesis.size() != truth.size() || truth.empty()) {
    return errors::InvalidArgument(
        "hypothesis_shape and truth_shape must be equally long and not empty, "
        "got ",
        hypothesis.size(), " and ", truth.size());
  }
  DimVector out;
  for (size_t i = 0; i + 1 < truth.size(); ++i) {
    out.push_back(std::max(hypothesis[i], truth[i]));
  }
  Shape shape;
  HR_RETURN_IF_ERROR(Shape::Build(out, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

}  // namespace

REGISTER_OP("OneHot")
    .Input("indices: TI")
    .Input("depth: int32")
    .Input("on_value: T")
    .Input("off_value: T")
    .Output("output: T")
    .Attr("axis: int = -1")
    .Attr("T: type")
    .Attr("TI: {uint8, int8, int32, int64} = DT_INT64")
    .SetShapeFn(OneHotShape);

REGISTER_OP("Where")
    .Input("input: T")
    .Output("index: int64")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64, bool} = DT_BOOL")
    .SetShapeFn(WhereShape);

REGISTER_OP("Unique")
    .Input("x: T")
    .Output("y: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("out_idx: {int32, int64} = DT_INT32")
    .SetShapeFn(UniqueShape);

REGISTER_OP("UniqueV2")
    .Input("x: T")
    .Input("axis: Taxis")
    .Output("y: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("Taxis: {int32, int64} = DT_INT64")
    .Attr("out_idx: {int32, int64} = DT_INT32")
    .SetShapeFn(UniqueV2Shape);

REGISTER_OP("UniqueWithCounts")
    .Input("x: T")
    .Output("y: T")
    .Output("idx: out_idx")
    .Output("count: out_idx")
    .Attr("T: type")
    .Attr("out_idx: {int32, int64} = DT_INT32")
    .SetShapeFn(UniqueShape);

REGISTER_OP("UniqueWithCountsV2")
    .Input("x: T")
    .Input("axis: Taxis")
    .Output("y: T")
    .Output("idx: out_idx")
    .Output("count: out_idx")
    .Attr("T: type")
    .Attr("Taxis: {int32, int64} = DT_INT64")
    .Attr("out_idx: {int32, int64} = DT_INT32")
    .SetShapeFn(UniqueV2Shape);

REGISTER_OP("ListDiff")
    .Input("x: T")
    .Input("y: T")
    .Output("out: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("out_idx: {int32, int64} = DT_INT32")
    .SetShapeFn(ListDiffShape);

REGISTER_OP("LowerBound")
    .Input("sorted_inputs: T")
    .Input("values: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(SearchShape);

REGISTER_OP("UpperBound")
    .Input("sorted_inputs: T")
    .Input("values: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(SearchShape);

REGISTER_OP("DynamicPartition")
    .Input("data: T")
    .Input("partitions: int32")
    .Output("outputs: num_partitions * T")
    .Attr("num_partitions: int >= 1")
    .Attr("T: type")
    .SetShapeFn(DynamicPartitionShape);

REGISTER_OP("DynamicStitch")
    .Input("indices: N * int32")
    .Input("data: N * T")
    .Output("merged: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .SetShapeFn(DynamicStitchShape);

REGISTER_OP("ParallelDynamicStitch")
    .Input("indices: N * int32")
    .Input("data: N * T")
    .Output("merged: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .SetShapeFn(DynamicStitchShape);

REGISTER_OP("EditDistance")
    .Input("hypothesis_indices: int64")
    .Input("hypothesis_values: T")
    .Input("hypothesis_shape: int64")
    .Input("truth_indices: int64")
    .Input("truth_values: T")
    .Input("truth_shape: int64")
    .Output("output: float")
    .Attr("normalize: bool = true")
    .Attr("T: type")
    .SetShapeFn(EditDistanceShape);

}  // namespace headrace
