// Reductions, scans and histograms: schemas and shapes.
#include "framework/common_shape_fns.h"
#include "framework/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

// Input 0 without the dim that input 1 names.
Status ArgShape(InferenceContext* c) {
  Shape axis_shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &axis_shape));
  const Shape& in = c->input(0);
  if (in.unknown_rank()) return shape_inference::UnknownShape(c);
  if (in.dims() == 0) {
    return errors::InvalidArgument(
        "Shape must be at least rank 1 but is rank 0");
  }
  int64_t axis;
  if (!c->ScalarInput(1, &axis)) {
    c->set_output(0, Shape::UnknownDims(in.dims() - 1));
    return OkStatus();
  }
  if (axis < -in.dims() || axis >= in.dims()) {
    return errors::InvalidArgument(
        "Dimension (", axis, ") must be in the range [", -in.dims(), ", ",
        in.dims(), "), where ", in.dims(),
        " is the number of dimensions in the input.");
  }
  if (axis < 0) axis += in.dims();
  DimVector dims(in.dim_sizes().begin(), in.dim_sizes().end());
  dims.erase(dims.begin() + axis);
  c->set_output(0, Shape(dims));
  return OkStatus();
}

Status ScanShape(InferenceContext* c) {
  Shape s;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &s));
  Shape axis;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &axis));
  c->set_output(0, s);
  return OkStatus();
}

Status BincountShape(InferenceContext* c) {
  Shape size;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &size));
  int64_t n;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &n));
  c->set_output(0, c->Vector(n));
  return OkStatus();
}

Status DenseBincountShape(InferenceContext* c) {
  Shape in, size;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 2, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &size));
  int64_t n;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &n));
  if (in.unknown_rank()) return shape_inference::UnknownShape(c);
  if (in.dims() == 2) {
    c->set_output(0, c->Matrix(in.dim_size(0), n));
  } else {
    c->set_output(0, c->Vector(n));
  }
  return OkStatus();
}

Status HistogramShape(InferenceContext* c) {
  Shape range, bins;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &range));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(range, 0), 2, &two));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &bins));
  int64_t n;
  if (!c->ScalarInput(2, &n)) n = -1;
  if (c->input_tensor(2) != nullptr && n <= 0) {
    return errors::InvalidArgument("Requires nbins > 0; got ", n);
  }
  c->set_output(0, c->Vector(n));
  return OkStatus();
}
}  // namespace

REGISTER_OP("Sum")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("Mean")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("Prod")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("Max")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("Min")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("All")
    .Input("input: bool")
    .Input("reduction_indices: Tidx")
    .Output("output: bool")
    .Attr("keep_dims: bool = false")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("Any")
    .Input("input: bool")
    .Input("reduction_indices: Tidx")
    .Output("output: bool")
    .Attr("keep_dims: bool = false")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("EuclideanNorm")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape);
REGISTER_OP("ArgMax")
    .Input("input: T")
    .Input("dimension: Tidx")
    .Output("output: output_type")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16, "
        "bool}")
    .Attr("Tidx: {int16, int32, int64} = DT_INT32")
    .Attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
    .SetShapeFn(ArgShape);
REGISTER_OP("ArgMin")
    .Input("input: T")
    .Input("dimension: Tidx")
    .Output("output: output_type")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16, "
        "bool}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .Attr("output_type: {int32, int64} = DT_INT64")
    .SetShapeFn(ArgShape);
REGISTER_OP("Cumsum")
    .Input("x: T")
    .Input("axis: Tidx")
    .Output("out: T")
    .Attr("exclusive: bool = false")
    .Attr("reverse: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(ScanShape);
REGISTER_OP("Cumprod")
    .Input("x: T")
    .Input("axis: Tidx")
    .Output("out: T")
    .Attr("exclusive: bool = false")
    .Attr("reverse: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, "
        "qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, "
        "half, uint32, uint64}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(ScanShape);
REGISTER_OP("CumulativeLogsumexp")
    .Input("x: T")
    .Input("axis: Tidx")
    .Output("out: T")
    .Attr("exclusive: bool = false")
    .Attr("reverse: bool = false")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(ScanShape);
REGISTER_OP("Bincount")
    .Input("arr: int32")
    .Input("size: int32")
    .Input("weights: T")
    .Output("bins: T")
    .Attr("T: {int32, int64, float, double}")
    .SetShapeFn(BincountShape);
REGISTER_OP("DenseBincount")
    .Input("input: Tidx")
    .Input("size: Tidx")
    .Input("weights: T")
    .Output("output: T")
    .Attr("Tidx: {int32, int64}")
    .Attr("T: {int32, int64, float, double}")
    .Attr("binary_output: bool = false")
    .SetShapeFn(DenseBincountShape);
REGISTER_OP("HistogramFixedWidth")
    .Input("values: T")
    .Input("value_range: T")
    .Input("nbins: int32")
    .Output("out: dtype")
    .Attr("T: {int32, int64, float, double}")
    .Attr("dtype: {int32, int64} = DT_INT32")
    .SetShapeFn(HistogramShape);

}  // namespace headrace
