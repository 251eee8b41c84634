// Reductions, scans and histograms: schemas and shapes.
#include <algorithm>
#include <vector>

#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/shape_value_fns.h"
#include "headrace/op.h"

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
  // TensorFlow infers a scalar of a scalar input and an unknown size, where the
  // kernel gives a vector.
  if (in.unknown_rank() || (in.dims() == 0 && n < 0)) {
    return shape_inference::UnknownShape(c);
  }
  if (in.dims() == 2) {
    c->set_output(0, c->Matrix(in.dim_size(0), n));
  } else {
    c->set_output(0, c->Vector(n));
  }
  return OkStatus();
}

// indices, values, dense_shape, size: a sparse vector counts as one row.
Status SparseBincountShape(InferenceContext* c) {
  Shape dense, size;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &dense));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &size));
  int64_t n;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(3, &n));
  const int64_t rank = c->Dim(dense, 0);
  if (rank < 0) return shape_inference::UnknownShape(c);
  std::vector<int64_t> dims;
  const int64_t rows = rank > 0 && c->IntInputs(2, &dims) ? dims[0] : -1;
  c->set_output(0,
                rank == 1 ? c->Vector(n) : c->Matrix(rows < 0 ? -1 : rows, n));
  return OkStatus();
}

Status RaggedBincountShape(InferenceContext* c) {
  Shape splits, size;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &splits));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &size));
  int64_t n;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &n));
  const int64_t ends = c->Dim(splits, 0);
  c->set_output(0, c->Matrix(ends > 0 ? ends - 1 : -1, n));
  return OkStatus();
}

// A sparse tensor of counts, of this rank.
Status SetCounts(InferenceContext* c, int64_t rank) {
  c->set_output(0, c->Matrix(-1, rank));
  c->set_output(1, c->Vector(-1));
  c->set_output(2, c->Vector(rank));
  return OkStatus();
}
Status DenseCountShape(InferenceContext* c) {
  // Weights that are not left out, an empty vector, are as many as the values.
  Shape values = c->input(0);
  if (c->input(1).num_elements() > 0) {
    HR_RETURN_IF_ERROR(c->Merge(values, c->input(1), &values));
  }
  return SetCounts(c, values.unknown_rank() ? -1 : values.dims());
}
Status SparseCountShape(InferenceContext* c) {
  // Of more than two dimensions the kernel counts by the first, where
  // TensorFlow infers them all.
  int64_t rank = c->Dim(c->input(0), 1);
  if (rank < 0) rank = c->Dim(c->input(2), 0);
  return SetCounts(c, rank > 2 ? -1 : rank);
}
Status RaggedCountShape(InferenceContext* c) {
  // The kernel wants a vector of values.
  const Shape& values = c->input(1);
  return SetCounts(c, values.unknown_rank() ? 2 : values.dims() + 1);
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
    .SetShapeFn(shape_inference::ReductionShape)
    .IsNoOpWhen(NoOpWhen::kNoAxes)
    .FloatsNeverFail();
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
    .SetShapeFn(shape_inference::ReductionShape)
    .IsNoOpWhen(NoOpWhen::kNoAxes)
    .FloatsNeverFail();
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
    .SetShapeFn(shape_inference::ReductionShape)
    .IsNoOpWhen(NoOpWhen::kNoAxes)
    .ShapeValue(ProdValue);
REGISTER_OP("Max")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape)
    .IsNoOpWhen(NoOpWhen::kNoAxes);
REGISTER_OP("Min")
    .Input("input: T")
    .Input("reduction_indices: Tidx")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16}")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(shape_inference::ReductionShape)
    .IsNoOpWhen(NoOpWhen::kNoAxes);
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
REGISTER_OP("SparseBincount")
    .Input("indices: int64")
    .Input("values: Tidx")
    .Input("dense_shape: int64")
    .Input("size: Tidx")
    .Input("weights: T")
    .Output("output: T")
    .Attr("Tidx: {int32, int64}")
    .Attr("T: {int32, int64, float, double}")
    .Attr("binary_output: bool = false")
    .SetShapeFn(SparseBincountShape);
REGISTER_OP("RaggedBincount")
    .Input("splits: int64")
    .Input("values: Tidx")
    .Input("size: Tidx")
    .Input("weights: T")
    .Output("output: T")
    .Attr("Tidx: {int32, int64}")
    .Attr("T: {int32, int64, float, double}")
    .Attr("binary_output: bool = false")
    .SetShapeFn(RaggedBincountShape);
REGISTER_OP("DenseCountSparseOutput")
    .Input("values: T")
    .Input("weights: output_type")
    .Attr("T: {int32, int64}")
    .Attr("minlength: int >= -1 = -1")
    .Attr("maxlength: int >= -1 = -1")
    .Attr("binary_output: bool")
    .Attr("output_type: {int32, int64, float, double}")
    .Output("output_indices: int64")
    .Output("output_values: output_type")
    .Output("output_dense_shape: int64")
    .SetShapeFn(DenseCountShape);
REGISTER_OP("SparseCountSparseOutput")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Input("weights: output_type")
    .Attr("T: {int32, int64}")
    .Attr("minlength: int >= -1 = -1")
    .Attr("maxlength: int >= -1 = -1")
    .Attr("binary_output: bool")
    .Attr("output_type: {int32, int64, float, double}")
    .Output("output_indices: int64")
    .Output("output_values: output_type")
    .Output("output_dense_shape: int64")
    .SetShapeFn(SparseCountShape);
REGISTER_OP("RaggedCountSparseOutput")
    .Input("splits: int64")
    .Input("values: T")
    .Input("weights: output_type")
    .Attr("T: {int32, int64}")
    .Attr("minlength: int >= -1 = -1")
    .Attr("maxlength: int >= -1 = -1")
    .Attr("binary_output: bool")
    .Attr("output_type: {int32, int64, float, double}")
    .Output("output_indices: int64")
    .Output("output_values: output_type")
    .Output("output_dense_shape: int64")
    .SetShapeFn(RaggedCountShape);
REGISTER_OP("HistogramFixedWidth")
    .Input("values: T")
    .Input("value_range: T")
    .Input("nbins: int32")
    .Output("out: dtype")
    .Attr("T: {int32, int64, float, double}")
    .Attr("dtype: {int32, int64} = DT_INT32")
    .SetShapeFn(HistogramShape);

}  // namespace headrace
