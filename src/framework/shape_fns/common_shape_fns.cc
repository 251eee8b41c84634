#include "framework/shape_fns/common_shape_fns.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace headrace {

Status ParsePadding(absl::string_view s, Padding* out) {
  if (s == "SAME") {
    *out = Padding::kSame;
  } else if (s == "VALID") {
    *out = Padding::kValid;
  } else if (s == "EXPLICIT") {
    *out = Padding::kExplicit;
  } else {
    return errors::InvalidArgument(
        "padding must be SAME, VALID or EXPLICIT, got ", s);
  }
  return OkStatus();
}

Status ParseDataFormat(absl::string_view s, DataFormat* out) {
  if (s == "NHWC" || s == "NDHWC" || s == "NWC") {
    *out = DataFormat::kNHWC;
  } else if (s == "NCHW" || s == "NCDHW" || s == "NCW") {
    *out = DataFormat::kNCHW;
  } else {
    return errors::InvalidArgument("Invalid data format: ", s);
  }
  return OkStatus();
}

Status WindowedOutputSize(int64_t in, int64_t filter, int64_t dilation,
                          int64_t stride, Padding padding, int64_t* out,
                          int64_t* pad_before, int64_t* pad_after) {
  if (stride <= 0) {
    return errors::InvalidArgument("Stride must be > 0, but got ", stride);
  }
  if (dilation < 1) {
    return errors::InvalidArgument("Dilation rate must be >= 1, but got ",
                                   dilation);
  }
  if (in < 0 || filter < 0) {
    return errors::InvalidArgument("input size ", in, " and filter size ",
                                   filter, " must not be negative");
  }
  int64_t effective = 0, reach = 0;
  if (__builtin_mul_overflow(filter - 1, dilation, &effective) ||
      __builtin_add_overflow(effective, int64_t{1}, &effective) ||
      __builtin_add_overflow(in, stride, &reach)) {
    return errors::InvalidArgument("window of filter ", filter, ", dilation ",
                                   dilation, " and stride ", stride,
                                   " overflows");
  }
  switch (padding) {
    case Padding::kValid:
      *out = (reach - effective) / stride;
      *pad_before = *pad_after = 0;
      break;
    case Padding::kExplicit: {
      if (*pad_before < 0 || *pad_after < 0) {
        return errors::InvalidArgument("explicit padding must not be negative");
      }
      int64_t padded = 0;
      if (__builtin_add_overflow(reach, *pad_before, &padded) ||
          __builtin_add_overflow(padded, *pad_after, &padded)) {
        return errors::InvalidArgument("explicit padding overflows");
      }
      *out = (padded - effective) / stride;
      break;
    }
    case Padding::kSame: {
      *out = (reach - 1) / stride;
      // (out - 1) * stride < in + stride: no overflow.
      const int64_t need =
          std::max<int64_t>(0, (*out - 1) * stride + effective - in);
      *pad_before = need / 2;
      *pad_after = need - *pad_before;
      break;
    }
  }
  if (*out < 0) {
    return errors::InvalidArgument(
        "Computed output size would be negative: ", *out, " [input_size: ", in,
        ", effective_filter_size: ", effective, ", stride: ", stride, "]");
  }
  return OkStatus();
}

Status BroadcastShapes(const PartialTensorShape& a, const PartialTensorShape& b,
                       PartialTensorShape* out) {
  if (a.unknown_rank() || b.unknown_rank()) {
    *out = PartialTensorShape::UnknownRank();
    return OkStatus();
  }
  const int rank = std::max(a.dims(), b.dims());
  DimVector dims(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.dims()), ib = i - (rank - b.dims());
    const int64_t da = ia < 0 ? 1 : a.dim_size(ia);
    const int64_t db = ib < 0 ? 1 : b.dim_size(ib);
    if (da == db || db == 1) {
      dims[i] = da;
    } else if (da == 1) {
      dims[i] = db;
    } else if (da < 0 || db < 0) {
      // The known one is not 1: the result has it, or the run fails.
      dims[i] = std::max(da, db);
    } else {
      return errors::InvalidArgument("Dimensions must be equal, but are ", da,
                                     " and ", db);
    }
  }
  return PartialTensorShape::Build(dims, out);
}

namespace shape_inference {
using Shape = PartialTensorShape;

Status UnknownShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, Shape::UnknownRank());
  }
  return OkStatus();
}

Status UnchangedShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  if (const auto* h = c->input_handle(0)) c->set_output_handle(0, *h);
  return OkStatus();
}

Status UnchangedShapeWithRank(InferenceContext* c, int rank) {
  Shape s;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &s));
  c->set_output(0, std::move(s));
  return OkStatus();
}

Status ScalarShape(InferenceContext* c) {
  c->set_output(0, Shape::Scalar());
  return OkStatus();
}

Status IntAttr(const InferenceContext& c, const char* attr, int* n) {
  int64_t value = 0;
  HR_RETURN_IF_ERROR(c.GetAttr(attr, &value));
  *n = static_cast<int>(value);
  return OkStatus();
}

Status StringHandleShape(InferenceContext* c) {
  c->set_output(0, c->Vector(2));
  return OkStatus();
}

Status NoOutputs(InferenceContext*) { return OkStatus(); }

Status MergeBothInputs(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &s));
  c->set_output(0, std::move(s));
  return OkStatus();
}

Status BroadcastBinaryOp(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(BroadcastShapes(c->input(0), c->input(1), &s));
  c->set_output(0, std::move(s));
  return OkStatus();
}

Status ReductionShape(InferenceContext* c) {
  bool keep_dims = false;
  HR_RETURN_IF_ERROR(c->GetAttr("keep_dims", &keep_dims));
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &unused));
  const Shape& in = c->input(0);
  if (in.unknown_rank()) {
    c->set_output(0, Shape::UnknownRank());
    return OkStatus();
  }
  std::vector<int64_t> axes;
  if (!c->IntInputs(1, &axes)) {
    c->set_output(
        0, keep_dims ? Shape::UnknownDims(in.dims()) : Shape::UnknownRank());
    return OkStatus();
  }
  std::vector<bool> reduced(in.dims());
  for (int64_t a : axes) {
    if (a < -in.dims() || a >= in.dims()) {
      return errors::InvalidArgument("Invalid reduction dimension ", a,
                                     " for input with ", in.dims(),
                                     " dimensions.");
    }
    reduced[a < 0 ? a + in.dims() : a] = true;
  }
  DimVector dims;
  for (int i = 0; i < in.dims(); ++i) {
    if (!reduced[i]) {
      dims.push_back(in.dim_size(i));
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  c->set_output(0, Shape(dims));
  return OkStatus();
}

namespace {
// Inputs [begin, end) along the axis in input `axis_input`.
Status Concat(InferenceContext* c, int begin, int end, int axis_input) {
  Shape axis_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(axis_input), 0, &axis_shape));
  int64_t axis = 0;
  const bool axis_known = c->ScalarInput(axis_input, &axis);
  Shape out;
  for (int i = begin; i < end && out.unknown_rank(); ++i) {
    if (!c->input(i).unknown_rank())
      out = Shape::UnknownDims(c->input(i).dims());
  }
  if (out.unknown_rank()) {
    c->set_output(0, out);
    return OkStatus();
  }
  const int rank = out.dims();
  if (rank == 0) {
    return errors::InvalidArgument(
        "Can't concatenate scalars (use tf.stack instead)");
  }
  if (!axis_known) {
    for (int i = begin; i < end; ++i) {
      Shape s;
      HR_RETURN_IF_ERROR(c->WithRank(c->input(i), rank, &s));
    }
    c->set_output(0, out);
    return OkStatus();
  }
  if (axis < -rank || axis >= rank) {
    return errors::InvalidArgument(
        "ConcatOp : Expected concatenating dimensions in the range [", -rank,
        ", ", rank, "), but got ", axis);
  }
  if (axis < 0) axis += rank;
  int64_t sum = 0;
  for (int i = begin; i < end; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), rank, &s));
    HR_RETURN_IF_ERROR(c->Add(sum, s.dim_size(static_cast<int>(axis)), &sum));
    s.set_dim(static_cast<int>(axis), -1);
    HR_RETURN_IF_ERROR(c->Merge(out, s, &out));
  }
  out.set_dim(static_cast<int>(axis), sum);
  c->set_output(0, std::move(out));
  return OkStatus();
}
}  // namespace

Status ConcatShape(InferenceContext* c) {
  return Concat(c, 1, c->num_inputs(), 0);
}
Status ConcatV2Shape(InferenceContext* c) {
  return Concat(c, 0, c->num_inputs() - 1, c->num_inputs() - 1);
}

Status ShapeFromInput0(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &s));
  c->set_output(0, std::move(s));
  return OkStatus();
}

Status ExplicitShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->GetAttr("shape", &s));
  c->set_output(0, std::move(s));
  return OkStatus();
}

}  // namespace shape_inference
}  // namespace headrace
