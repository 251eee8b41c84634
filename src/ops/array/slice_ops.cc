// Ops that put tensors together and take them apart: concatenations, splits and
// slices.
#include "absl/strings/str_join.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/shape_value_fns.h"
#include "framework/shape_fns/strided_slice.h"
#include "framework/shape_fns/symbolic_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// An axis in [-rank, rank) as one in [0, rank).
Status Axis(int64_t axis, int rank, const char* name, int* out) {
  if (axis < -rank || axis >= rank) {
    return errors::InvalidArgument(name, " ", axis, " is not in [", -rank, ", ",
                                   rank, ")");
  }
  *out = static_cast<int>(axis < 0 ? axis + rank : axis);
  return OkStatus();
}

// Every output is a vector as input 1 is.
Status ConcatOffsetShape(InferenceContext* c) {
  for (int i = 1; i < c->num_inputs(); ++i) c->set_output(i - 1, c->input(i));
  return OkStatus();
}

Status PackShape(InferenceContext* c) {
  Shape in = c->input(0);
  for (int i = 1; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->Merge(in, c->input(i), &in));
  }
  int64_t attr;
  HR_RETURN_IF_ERROR(c->GetAttr("axis", &attr));
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  int axis;
  HR_RETURN_IF_ERROR(Axis(attr, in.dims() + 1, "axis", &axis));
  DimVector out(in.dim_sizes().begin(), in.dim_sizes().end());
  out.insert(out.begin() + axis, c->num_inputs());
  c->set_output(0, Shape(out));
  return OkStatus();
}

Status UnpackShape(InferenceContext* c) {
  const Shape& in = c->input(0);
  int64_t attr;
  HR_RETURN_IF_ERROR(c->GetAttr("axis", &attr));
  Shape out;
  if (!in.unknown_rank()) {
    int axis;
    HR_RETURN_IF_ERROR(Axis(attr, in.dims(), "axis", &axis));
    int64_t n;
    HR_RETURN_IF_ERROR(c->WithValue(in.dim_size(axis), c->num_outputs(), &n));
    DimVector dims(in.dim_sizes().begin(), in.dim_sizes().end());
    dims.erase(dims.begin() + axis);
    out = Shape(dims);
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, out);
  return OkStatus();
}

Status ParallelConcatShape(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &shape));
  TensorShape full;
  if (!shape.AsTensorShape(&full) || full.dims() == 0) {
    return errors::InvalidArgument(
        "shape attr must be fully defined and of rank 1 or more, got ",
        shape.DebugString());
  }
  if (full.dim_size(0) != c->num_inputs()) {
    return errors::InvalidArgument("shape ", full.DebugString(),
                                   " must begin with the number of values, ",
                                   c->num_inputs());
  }
  Shape piece = shape;
  piece.set_dim(0, 1);
  for (int i = 0; i < c->num_inputs(); ++i) {
    Shape merged;
    HR_RETURN_IF_ERROR(c->Merge(c->input(i), piece, &merged));
  }
  c->set_output(0, shape);
  return OkStatus();
}

Status SplitShape(InferenceContext* c) {
  Shape in = c->input(1), out;
  // An axis that is no scalar is refused when its value is known, or when the
  // node runs: of one part the axis does not matter.
  int64_t value;
  if (const Tensor* const axis = c->input_tensor(0);
      axis != nullptr && axis->dims() != 0) {
    return errors::InvalidArgument("Input must be scalar but has rank ",
                                   axis->dims());
  }
  if (!in.unknown_rank() && in.dims() == 0) {
    return errors::InvalidArgument("Split: value must not be a scalar");
  }
  if (!in.unknown_rank() && c->ScalarInput(0, &value)) {
    int axis;
    HR_RETURN_IF_ERROR(Axis(value, in.dims(), "split_dim", &axis));
    int64_t part;
    HR_RETURN_IF_ERROR(
        c->Divide(in.dim_size(axis), c->num_outputs(), true, &part));
    out = in;
    out.set_dim(axis, part);
  } else if (!in.unknown_rank()) {
    out = c->UnknownShapeOfRank(in.dims());
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, out);
  return OkStatus();
}

Status SplitVShape(InferenceContext* c) {
  const Shape& in = c->input(0);
  Shape sizes_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &sizes_shape));
  if (const Tensor* const axis = c->input_tensor(2);
      axis != nullptr && axis->dims() != 0) {
    return errors::InvalidArgument("Input must be scalar but has rank ",
                                   axis->dims());
  }
  int64_t num_split;
  HR_RETURN_IF_ERROR(
      c->WithValue(sizes_shape.dim_size(0), c->num_outputs(), &num_split));
  int64_t value;
  std::vector<int64_t> sizes;
  const bool sizes_known = c->IntInputs(1, &sizes);
  if (in.unknown_rank() || !c->ScalarInput(2, &value)) {
    const Shape out = in.unknown_rank() ? c->UnknownShape()
                                        : c->UnknownShapeOfRank(in.dims());
    for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, out);
    return OkStatus();
  }
  int axis;
  HR_RETURN_IF_ERROR(Axis(value, in.dims(), "split_dim", &axis));
  const int64_t total = in.dim_size(axis);
  if (sizes_known) {
    // The one -1 is what the others leave.
    int64_t sum = 0;
    int unknown = -1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == -1 && unknown < 0) {
        unknown = static_cast<int>(i);
        continue;
      }
      if (sizes[i] == -1) {
        return errors::InvalidArgument("size_splits can only have one -1");
      }
      sum = sizes[i] < 0 ? -1 : AddWithoutOverflow(sum, sizes[i]);
      if (sum < 0) {
        return errors::InvalidArgument(
            "size_splits must not be negative, except one -1; got ", sizes[i]);
      }
    }
    if (total >= 0 && (unknown < 0 ? sum != total : sum > total)) {
      return errors::InvalidArgument("can't split axis of size ", total,
                                     " into pieces of size [",
                                     absl::StrJoin(sizes, ","), "]");
    }
    if (unknown >= 0) sizes[unknown] = total < 0 ? -1 : total - sum;
  }
  for (int i = 0; i < c->num_outputs(); ++i) {
    Shape out = in;
    if (sizes_known) {
      out.set_dim(axis, sizes[i]);
    } else {
      out.set_dim(axis, c->num_outputs() == 1 ? total : -1);
    }
    c->set_output(i, std::move(out));
  }
  return OkStatus();
}

Status SliceShape(InferenceContext* c) {
  Shape in = c->input(0), begin_shape, size_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &begin_shape));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &size_shape));
  HR_RETURN_IF_ERROR(c->Merge(begin_shape, size_shape, &begin_shape));
  const int64_t n = begin_shape.dim_size(0);
  if (n >= 0) {
    if (n > kMaxTensorRank) {
      return errors::InvalidArgument("Slice: begin has ", n, " elements");
    }
    HR_RETURN_IF_ERROR(c->WithRank(in, static_cast<int>(n), &in));
  }
  std::vector<int64_t> begin, size;
  const bool begin_known = c->IntInputs(1, &begin);
  if (!begin_known) {
    Shape known;  // each known for itself, or -1
    HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &known));
    begin.assign(in.unknown_rank() ? 0 : in.dims(), -1);
    if (!known.unknown_rank() && !in.unknown_rank() &&
        known.dims() == in.dims()) {
      begin.assign(known.dim_sizes().begin(), known.dim_sizes().end());
    }
  }
  Shape as_shape;  // the sizes, each known for itself, -1: to the end
  const bool size_known = c->IntInputs(2, &size);
  if (!size_known) {
    HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &as_shape));
  }
  if (in.unknown_rank()) {
    c->set_output(0, in);
    return OkStatus();
  }
  Shape out = c->UnknownShapeOfRank(in.dims());
  for (int i = 0; i < in.dims(); ++i) {
    const int64_t dim = in.dim_size(i);
    if (!size_known) {
      // A dim that is known only as a shape may stand for -1 in truth; what is
      // positive is sure.
      if (!as_shape.unknown_rank() && as_shape.dims() == in.dims() &&
          as_shape.dim_size(i) >= 0) {
        out.set_dim(i, as_shape.dim_size(i));
      }
      continue;
    }
    if (size[i] < -1) {
      return errors::InvalidArgument("Expected size[", i, "] >= -1, but got ",
                                     size[i]);
    }
    if (begin_known && (begin[i] < 0 || (dim >= 0 && begin[i] > dim))) {
      return errors::InvalidArgument("Expected begin[", i, "] in [0, ", dim,
                                     "], but got ", begin[i]);
    }
    if (size[i] >= 0) {
      if (begin_known && dim >= 0 && size[i] > dim - begin[i]) {
        return errors::InvalidArgument("Expected size[", i, "] in [0, ",
                                       dim - begin[i], "], but got ", size[i]);
      }
      out.set_dim(i, size[i]);
    } else if (begin[i] >= 0 && dim >= begin[i]) {
      out.set_dim(i, dim - begin[i]);
    }
  }
  c->set_output(0, out);
  return OkStatus();
}

// `first` is the index of begin, which end and strides follow.
Status PlanFromInputs(InferenceContext* c, const Shape& in, int first,
                      Shape* out) {
  Shape spec;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(first), 1, &spec));
  for (int i = first + 1; i < first + 3; ++i) {
    Shape vector;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    HR_RETURN_IF_ERROR(c->Merge(spec, vector, &spec));
  }
  StridedSliceMasks masks;
  HR_RETURN_IF_ERROR(masks.FromAttrs(c->attrs()));
  std::vector<int64_t> begin, end, strides;
  const bool begin_known = c->IntInputs(first, &begin);
  const bool end_known = c->IntInputs(first + 1, &end);
  if (!c->IntInputs(first + 2, &strides) || in.unknown_rank()) {
    *out = c->UnknownShape();
    return OkStatus();
  }
  const absl::Span<const int64_t> begin_span(begin), end_span(end);
  StridedSlicePlan plan;
  HR_RETURN_IF_ERROR(PlanStridedSlice(in, begin_known ? &begin_span : nullptr,
                                      end_known ? &end_span : nullptr, strides,
                                      masks, &plan));
  *out = plan.shape;
  return OkStatus();
}

Status StridedSliceShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(PlanFromInputs(c, c->input(0), 1, &out));
  c->set_output(0, out);
  // A slice of handles keeps what they refer to.
  if (const auto* handle = c->input_handle(0)) c->set_output_handle(0, *handle);
  return OkStatus();
}

Status StridedSliceGradShape(InferenceContext* c) {
  Shape out, sliced, dy;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &out));
  HR_RETURN_IF_ERROR(PlanFromInputs(c, out, 1, &sliced));
  HR_RETURN_IF_ERROR(c->Merge(sliced, c->input(4), &dy));
  c->set_output(0, out);
  return OkStatus();
}

Status StridedSliceAssignShape(InferenceContext* c) {
  Shape sliced, value;
  HR_RETURN_IF_ERROR(PlanFromInputs(c, c->input(0), 1, &sliced));
  c->set_output(0, c->input(0));
  return OkStatus();
}

}  // namespace

REGISTER_OP("Concat")
    .Input("concat_dim: int32")
    .Input("values: N * T")
    .Output("output: T")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .SetShapeFn(shape_inference::ConcatShape)
    .ShapeValue(ConcatValue);

REGISTER_OP("ConcatV2")
    .Input("values: N * T")
    .Input("axis: Tidx")
    .Output("output: T")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ConcatV2Shape)
    .SymbolicShape(ConcatSymbolicShape)
    .ShapeValue(ConcatV2Value);

REGISTER_OP("ConcatOffset")
    .Input("concat_dim: int32")
    .Input("shape: N * shape_type")
    .Output("offset: N * shape_type")
    .Attr("N: int >= 2")
    .Attr("shape_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ConcatOffsetShape);

REGISTER_OP("Pack")
    .Input("values: N * T")
    .Output("output: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("axis: int = 0")
    .SetShapeFn(PackShape)
    .ShapeValue(PackValue, PackedMatrix);

REGISTER_OP("Unpack")
    .Input("value: T")
    .Output("output: num * T")
    .Attr("num: int >= 0")
    .Attr("T: type")
    .Attr("axis: int = 0")
    .SetShapeFn(UnpackShape)
    .Outputs(OutputBuffer::kPart);

REGISTER_OP("ParallelConcat")
    .Input("values: N * T")
    .Output("output: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("shape: shape")
    .SetShapeFn(ParallelConcatShape);

REGISTER_OP("Split")
    .Input("split_dim: int32")
    .Input("value: T")
    .Output("output: num_split * T")
    .Attr("num_split: int >= 1")
    .Attr("T: type")
    .SetShapeFn(SplitShape)
    .Outputs(OutputBuffer::kPart);

REGISTER_OP("SplitV")
    .Input("value: T")
    .Input("size_splits: Tlen")
    .Input("split_dim: int32")
    .Output("output: num_split * T")
    .Attr("num_split: int >= 1")
    .Attr("T: type")
    .Attr("Tlen: {int8, int32, int64} = DT_INT64")
    .SetShapeFn(SplitVShape)
    .Outputs(OutputBuffer::kPart);

REGISTER_OP("Slice")
    .Input("input: T")
    .Input("begin: Index")
    .Input("size: Index")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: {int32, int64}")
    .SetShapeFn(SliceShape)
    .Outputs(OutputBuffer::kPart)
    .ShapeValue(SliceValue);

REGISTER_OP("StridedSlice")
    .Input("input: T")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: {int16, int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .SetShapeFn(StridedSliceShape)
    .Outputs(OutputBuffer::kPart)
    .ShapeValue(StridedSliceValue);

REGISTER_OP("StridedSliceGrad")
    .Input("shape: Index")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("dy: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: {int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .SetShapeFn(StridedSliceGradShape);

REGISTER_OP("StridedSliceAssign")
    .Input("ref: Ref(T)")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: type")
    .Attr("Index: {int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .SetShapeFn(StridedSliceAssignShape)
    .WritesState();

REGISTER_OP("ResourceStridedSliceAssign")
    .Input("ref: resource")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("value: T")
    .Attr("T: type")
    .Attr("Index: {int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .SetIsStateful()
    .SetShapeFn(shape_inference::NoOutputs)
    .WritesState();

}  // namespace headrace
