// Sparse tensors as triples of indices, values and shape: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

// Checks inputs i (indices), i + 1 (values) and i + 2 (shape) against each
// other; what is known of the entries and of the rank comes out.
Status SparseInput(InferenceContext* c, int i, int64_t* entries,
                   int64_t* rank) {
  Shape indices, values, shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i + 1), 1, &values));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(i + 2), 1, &shape));
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(indices, 0), c->Dim(values, 0), entries));
  return c->MergeDims(c->Dim(indices, 1), c->Dim(shape, 0), rank);
}

// Outputs i, i + 1 and i + 2 as a sparse tensor.
void SetSparse(InferenceContext* c, int i, int64_t entries, int64_t rank) {
  c->set_output(i, c->Matrix(entries, rank));
  c->set_output(i + 1, c->Vector(entries));
  c->set_output(i + 2, c->Vector(rank));
}

Status SparseReshapeShape(InferenceContext* c) {
  Shape indices, shape, wanted;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &shape));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &wanted));
  c->set_output(0, c->Matrix(c->Dim(indices, 0), c->Dim(wanted, 0)));
  c->set_output(1, wanted);
  return OkStatus();
}

Status SparseFillEmptyRowsShape(InferenceContext* c) {
  int64_t entries, rank;
  Shape value;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &value));
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &shape));
  c->set_output(0, c->Matrix(-1, rank));
  c->set_output(1, c->Vector(-1));
  c->set_output(2, c->Vector(c->Dim(shape, 0)));
  c->set_output(3, c->Vector(entries));
  return OkStatus();
}

Status SparseFillEmptyRowsGradShape(InferenceContext* c) {
  Shape map, grad;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &map));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &grad));
  c->set_output(0, map);
  c->set_output(1, c->Scalar());
  return OkStatus();
}

// The dense tensor of the shape that vector input i spells out.
Status DenseOf(InferenceContext* c, int i) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(i, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

Status SparseTensorDenseAddShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->input(3));
  return OkStatus();
}

Status SparseAddShape(InferenceContext* c) {
  int64_t entries, rank, other;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  HR_RETURN_IF_ERROR(SparseInput(c, 3, &entries, &other));
  HR_RETURN_IF_ERROR(c->MergeDims(rank, other, &rank));
  Shape thresh;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(6), 0, &thresh));
  SetSparse(c, 0, -1, rank);
  return OkStatus();
}

Status SparseAddGradShape(InferenceContext* c) {
  Shape a, b;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &a));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &b));
  c->set_output(0, c->Vector(c->Dim(a, 0)));
  c->set_output(1, c->Vector(c->Dim(b, 0)));
  return OkStatus();
}

Status SparseConcatShape(InferenceContext* c) {
  const int n = c->num_inputs() / 3;
  int64_t total = 0, rank = -1;
  for (int i = 0; i < n; ++i) {
    Shape indices, values, shape;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &indices));
    HR_RETURN_IF_ERROR(c->WithRank(c->input(n + i), 1, &values));
    HR_RETURN_IF_ERROR(c->WithRank(c->input(2 * n + i), 1, &shape));
    int64_t entries, own_rank;
    HR_RETURN_IF_ERROR(
        c->MergeDims(c->Dim(indices, 0), c->Dim(values, 0), &entries));
    HR_RETURN_IF_ERROR(
        c->MergeDims(c->Dim(indices, 1), c->Dim(shape, 0), &own_rank));
    HR_RETURN_IF_ERROR(c->MergeDims(rank, own_rank, &rank));
    HR_RETURN_IF_ERROR(c->Add(total, entries, &total));
  }
  SetSparse(c, 0, total, rank);
  return OkStatus();
}

Status SparseSplitShape(InferenceContext* c) {
  const int n = c->num_outputs() / 3;
  for (int i = 0; i < n; ++i) {
    c->set_output(i, c->Matrix(-1, c->input(3).num_elements()));
    c->set_output(n + i, c->Vector(-1));
    c->set_output(2 * n + i, c->input(3));
  }
  return OkStatus();
}

Status SparseSliceShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  for (int i = 3; i < 5; ++i) {
    Shape v;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &v));
    HR_RETURN_IF_ERROR(c->MergeDims(rank, c->Dim(v, 0), &rank));
  }
  SetSparse(c, 0, -1, rank);
  return OkStatus();
}

Status SparseSliceGradShape(InferenceContext* c) {
  Shape indices;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &indices));
  c->set_output(0, c->Vector(c->Dim(indices, 0)));
  return OkStatus();
}

Status SparseReorderShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Matrix(entries, rank));
  c->set_output(1, c->Vector(entries));
  return OkStatus();
}

Status SparseTensorDenseMatMulShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  HR_RETURN_IF_ERROR(c->WithValue(rank, 2, &rank));
  Shape a, b;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &a));
  HR_RETURN_IF_ERROR(c->WithRank(a, 2, &a));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 2, &b));
  bool adjoint_a, adjoint_b;
  HR_RETURN_IF_ERROR(c->GetAttr("adjoint_a", &adjoint_a));
  HR_RETURN_IF_ERROR(c->GetAttr("adjoint_b", &adjoint_b));
  int64_t inner;
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(a, adjoint_a ? 0 : 1),
                                  c->Dim(b, adjoint_b ? 1 : 0), &inner));
  c->set_output(
      0, c->Matrix(c->Dim(a, adjoint_a ? 1 : 0), c->Dim(b, adjoint_b ? 0 : 1)));
  return OkStatus();
}

Status SparseReduceSparseShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  SetSparse(c, 0, -1, -1);
  return OkStatus();
}

Status SparseReduceShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  bool keep_dims;
  HR_RETURN_IF_ERROR(c->GetAttr("keep_dims", &keep_dims));
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &shape));
  std::vector<int64_t> axes;
  if (shape.unknown_rank() || !c->IntInputs(3, &axes)) {
    if (keep_dims && rank >= 0) {
      c->set_output(0, c->UnknownShapeOfRank(rank));
    } else {
      c->set_output(0, c->UnknownShape());
    }
    return OkStatus();
  }
  std::vector<bool> reduced(shape.dims());
  for (int64_t axis : axes) {
    if (axis < -shape.dims() || axis >= shape.dims()) {
      return errors::InvalidArgument("Invalid reduction dimension ", axis,
                                     ", for input with ", shape.dims(),
                                     " dimensions.");
    }
    reduced[axis < 0 ? axis + shape.dims() : axis] = true;
  }
  DimVector dims;
  for (int d = 0; d < shape.dims(); ++d) {
    if (!reduced[d]) {
      dims.push_back(shape.dim_size(d));
    } else if (keep_dims) {
      dims.push_back(1);
    }
  }
  c->set_output(0, Shape(dims));
  return OkStatus();
}

// Output 0 is as many values as the sparse input has.
Status ValuesShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Vector(entries));
  return OkStatus();
}

Status SparseSparseExtremeShape(InferenceContext* c) {
  int64_t entries, rank, other;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  HR_RETURN_IF_ERROR(SparseInput(c, 3, &entries, &other));
  HR_RETURN_IF_ERROR(c->MergeDims(rank, other, &rank));
  c->set_output(0, c->Matrix(-1, rank));
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

Status SparseCrossShape(InferenceContext* c) {
  SetSparse(c, 0, -1, 2);
  return OkStatus();
}

Status SparseToDenseShape(InferenceContext* c) { return DenseOf(c, 1); }

Status SerializeSparseShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Vector(3));
  return OkStatus();
}
Status SerializeManySparseShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Matrix(-1, 3));
  return OkStatus();
}
Status DeserializeSparseShape(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &in));
  int64_t three;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(in, -1), 3, &three));
  SetSparse(c, 0, -1, -1);
  return OkStatus();
}
Status DeserializeManySparseShape(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &in));
  int64_t three;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(in, 1), 3, &three));
  SetSparse(c, 0, -1, -1);
  return OkStatus();
}

Status AddSparseToTensorsMapShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Scalar());
  return OkStatus();
}
Status AddManySparseToTensorsMapShape(InferenceContext* c) {
  int64_t entries, rank;
  HR_RETURN_IF_ERROR(SparseInput(c, 0, &entries, &rank));
  c->set_output(0, c->Vector(-1));
  return OkStatus();
}
Status TakeManySparseShape(InferenceContext* c) {
  Shape handles;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &handles));
  SetSparse(c, 0, -1, -1);
  return OkStatus();
}
}  // namespace

REGISTER_OP("SparseReshape")
    .Input("input_indices: int64")
    .Input("input_shape: int64")
    .Input("new_shape: int64")
    .Output("output_indices: int64")
    .Output("output_shape: int64")
    .SetShapeFn(SparseReshapeShape);

REGISTER_OP("SparseFillEmptyRows")
    .Input("indices: int64")
    .Input("values: T")
    .Input("dense_shape: int64")
    .Input("default_value: T")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("empty_row_indicator: bool")
    .Output("reverse_index_map: int64")
    .Attr("T: type")
    .SetShapeFn(SparseFillEmptyRowsShape);

REGISTER_OP("SparseFillEmptyRowsGrad")
    .Input("reverse_index_map: int64")
    .Input("grad_values: T")
    .Output("d_values: T")
    .Output("d_default_value: T")
    .Attr("T: type")
    .SetShapeFn(SparseFillEmptyRowsGradShape);

REGISTER_OP("SparseToDense")
    .Input("sparse_indices: Tindices")
    .Input("output_shape: Tindices")
    .Input("sparse_values: T")
    .Input("default_value: T")
    .Output("dense: T")
    .Attr("validate_indices: bool = true")
    .Attr("T: type")
    .Attr("Tindices: {int32, int64}")
    .SetShapeFn(SparseToDenseShape);

REGISTER_OP("SparseTensorDenseAdd")
    .Input("a_indices: Tindices")
    .Input("a_values: T")
    .Input("a_shape: Tindices")
    .Input("b: T")
    .Output("output: T")
    .Attr("T: numbertype")
    .Attr("Tindices: {int32, int64}")
    .SetShapeFn(SparseTensorDenseAddShape);

REGISTER_OP("SparseAdd")
    .Input("a_indices: int64")
    .Input("a_values: T")
    .Input("a_shape: int64")
    .Input("b_indices: int64")
    .Input("b_values: T")
    .Input("b_shape: int64")
    .Input("thresh: Treal")
    .Output("sum_indices: int64")
    .Output("sum_values: T")
    .Output("sum_shape: int64")
    .Attr("T: numbertype")
    .Attr("Treal: realnumbertype")
    .SetShapeFn(SparseAddShape);

REGISTER_OP("SparseAddGrad")
    .Input("backprop_val_grad: T")
    .Input("a_indices: int64")
    .Input("b_indices: int64")
    .Input("sum_indices: int64")
    .Output("a_val_grad: T")
    .Output("b_val_grad: T")
    .Attr("T: numbertype")
    .SetShapeFn(SparseAddGradShape);

REGISTER_OP("SparseConcat")
    .Input("indices: N * int64")
    .Input("values: N * T")
    .Input("shapes: N * int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_shape: int64")
    .Attr("concat_dim: int")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .SetShapeFn(SparseConcatShape);

REGISTER_OP("SparseSplit")
    .Input("split_dim: int64")
    .Input("indices: int64")
    .Input("values: T")
    .Input("shape: int64")
    .Output("output_indices: num_split * int64")
    .Output("output_values: num_split * T")
    .Output("output_shape: num_split * int64")
    .Attr("num_split: int >= 1")
    .Attr("T: type")
    .SetShapeFn(SparseSplitShape);

REGISTER_OP("SparseSlice")
    .Input("indices: int64")
    .Input("values: T")
    .Input("shape: int64")
    .Input("start: int64")
    .Input("size: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_shape: int64")
    .Attr("T: type")
    .SetShapeFn(SparseSliceShape);

REGISTER_OP("SparseSliceGrad")
    .Input("backprop_val_grad: T")
    .Input("input_indices: int64")
    .Input("input_start: int64")
    .Input("output_indices: int64")
    .Output("val_grad: T")
    .Attr("T: numbertype")
    .SetShapeFn(SparseSliceGradShape);

REGISTER_OP("SparseReorder")
    .Input("input_indices: int64")
    .Input("input_values: T")
    .Input("input_shape: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Attr("T: type")
    .SetShapeFn(SparseReorderShape);

REGISTER_OP("SparseTensorDenseMatMul")
    .Input("a_indices: Tindices")
    .Input("a_values: T")
    .Input("a_shape: int64")
    .Input("b: T")
    .Output("product: T")
    .Attr("T: type")
    .Attr("Tindices: {int32, int64} = DT_INT64")
    .Attr("adjoint_a: bool = false")
    .Attr("adjoint_b: bool = false")
    .SetShapeFn(SparseTensorDenseMatMulShape);

REGISTER_OP("SparseMatMul")
    .Input("a: Ta")
    .Input("b: Tb")
    .Output("product: float")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .Attr("a_is_sparse: bool = false")
    .Attr("b_is_sparse: bool = false")
    .Attr("Ta: {float, bfloat16} = DT_FLOAT")
    .Attr("Tb: {float, bfloat16} = DT_FLOAT")
    .SetShapeFn(shape_inference::MatMulShape);

REGISTER_OP("SparseReduceSum")
    .Input("input_indices: int64")
    .Input("input_values: T")
    .Input("input_shape: int64")
    .Input("reduction_axes: int32")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr("T: numbertype")
    .SetShapeFn(SparseReduceShape);
REGISTER_OP("SparseReduceMax")
    .Input("input_indices: int64")
    .Input("input_values: T")
    .Input("input_shape: int64")
    .Input("reduction_axes: int32")
    .Output("output: T")
    .Attr("keep_dims: bool = false")
    .Attr("T: realnumbertype")
    .SetShapeFn(SparseReduceShape);
REGISTER_OP("SparseReduceSumSparse")
    .Input("input_indices: int64")
    .Input("input_values: T")
    .Input("input_shape: int64")
    .Input("reduction_axes: int32")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_shape: int64")
    .Attr("keep_dims: bool = false")
    .Attr("T: numbertype")
    .SetShapeFn(SparseReduceSparseShape);
REGISTER_OP("SparseReduceMaxSparse")
    .Input("input_indices: int64")
    .Input("input_values: T")
    .Input("input_shape: int64")
    .Input("reduction_axes: int32")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Output("output_shape: int64")
    .Attr("keep_dims: bool = false")
    .Attr("T: realnumbertype")
    .SetShapeFn(SparseReduceSparseShape);

REGISTER_OP("SparseDenseCwiseAdd")
    .Input("sp_indices: int64")
    .Input("sp_values: T")
    .Input("sp_shape: int64")
    .Input("dense: T")
    .Output("output: T")
    .Attr("T: numbertype")
    .SetShapeFn(ValuesShape);
REGISTER_OP("SparseDenseCwiseMul")
    .Input("sp_indices: int64")
    .Input("sp_values: T")
    .Input("sp_shape: int64")
    .Input("dense: T")
    .Output("output: T")
    .Attr("T: numbertype")
    .SetShapeFn(ValuesShape);
REGISTER_OP("SparseDenseCwiseDiv")
    .Input("sp_indices: int64")
    .Input("sp_values: T")
    .Input("sp_shape: int64")
    .Input("dense: T")
    .Output("output: T")
    .Attr("T: numbertype")
    .SetShapeFn(ValuesShape);

REGISTER_OP("SparseSoftmax")
    .Input("sp_indices: int64")
    .Input("sp_values: T")
    .Input("sp_shape: int64")
    .Output("output: T")
    .Attr("T: {half, float, double}")
    .SetShapeFn(ValuesShape);

REGISTER_OP("SparseSparseMaximum")
    .Input("a_indices: int64")
    .Input("a_values: T")
    .Input("a_shape: int64")
    .Input("b_indices: int64")
    .Input("b_values: T")
    .Input("b_shape: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Attr("T: realnumbertype")
    .SetShapeFn(SparseSparseExtremeShape);
REGISTER_OP("SparseSparseMinimum")
    .Input("a_indices: int64")
    .Input("a_values: T")
    .Input("a_shape: int64")
    .Input("b_indices: int64")
    .Input("b_values: T")
    .Input("b_shape: int64")
    .Output("output_indices: int64")
    .Output("output_values: T")
    .Attr("T: numbertype")
    .SetShapeFn(SparseSparseExtremeShape);

REGISTER_OP("SparseCross")
    .Input("indices: N * int64")
    .Input("values: sparse_types")
    .Input("shapes: N * int64")
    .Input("dense_inputs: dense_types")
    .Output("output_indices: int64")
    .Output("output_values: out_type")
    .Output("output_shape: int64")
    .Attr("N: int >= 0")
    .Attr("hashed_output: bool")
    .Attr("num_buckets: int >= 0")
    .Attr("hash_key: int")
    .Attr("sparse_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .Attr("out_type: {int64, string}")
    .Attr("internal_type: {int64, string}")
    .SetShapeFn(SparseCrossShape);

// tf.contrib.layers: SparseCross with and without a key.
REGISTER_OP("SparseFeatureCross")
    .Input("indices: N * int64")
    .Input("values: sparse_types")
    .Input("shapes: N * int64")
    .Input("dense: dense_types")
    .Output("output_indices: int64")
    .Output("output_values: out_type")
    .Output("output_shape: int64")
    .Attr("N: int >= 0")
    .Attr("hashed_output: bool")
    .Attr("num_buckets: int >= 0")
    .Attr("sparse_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .Attr("out_type: {int64, string}")
    .Attr("internal_type: {int64, string}")
    .SetShapeFn(SparseCrossShape);
REGISTER_OP("SparseFeatureCrossV2")
    .Input("indices: N * int64")
    .Input("values: sparse_types")
    .Input("shapes: N * int64")
    .Input("dense: dense_types")
    .Output("output_indices: int64")
    .Output("output_values: out_type")
    .Output("output_shape: int64")
    .Attr("N: int >= 0")
    .Attr("hashed_output: bool")
    .Attr("num_buckets: int >= 0")
    .Attr("hash_key: int")
    .Attr("sparse_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .Attr("out_type: {int64, string}")
    .Attr("internal_type: {int64, string}")
    .SetShapeFn(SparseCrossShape);

REGISTER_OP("SparseCrossV2")
    .Input("indices: N * int64")
    .Input("values: sparse_types")
    .Input("shapes: N * int64")
    .Input("dense_inputs: dense_types")
    .Input("sep: string")
    .Output("output_indices: int64")
    .Output("output_values: string")
    .Output("output_shape: int64")
    .Attr("N: int >= 0")
    .Attr("sparse_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .SetShapeFn(SparseCrossShape);
REGISTER_OP("SparseCrossHashed")
    .Input("indices: N * int64")
    .Input("values: sparse_types")
    .Input("shapes: N * int64")
    .Input("dense_inputs: dense_types")
    .Input("num_buckets: int64")
    .Input("strong_hash: bool")
    .Input("salt: int64")
    .Output("output_indices: int64")
    .Output("output_values: int64")
    .Output("output_shape: int64")
    .Attr("N: int >= 0")
    .Attr("sparse_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .SetShapeFn(SparseCrossShape);

REGISTER_OP("SerializeSparse")
    .Input("sparse_indices: int64")
    .Input("sparse_values: T")
    .Input("sparse_shape: int64")
    .Output("serialized_sparse: out_type")
    .Attr("T: type")
    .Attr("out_type: {string, variant} = DT_STRING")
    .SetShapeFn(SerializeSparseShape);
REGISTER_OP("SerializeManySparse")
    .Input("sparse_indices: int64")
    .Input("sparse_values: T")
    .Input("sparse_shape: int64")
    .Output("serialized_sparse: out_type")
    .Attr("T: type")
    .Attr("out_type: {string, variant} = DT_STRING")
    .SetShapeFn(SerializeManySparseShape);
REGISTER_OP("DeserializeSparse")
    .Input("serialized_sparse: Tserialized")
    .Output("sparse_indices: int64")
    .Output("sparse_values: dtype")
    .Output("sparse_shape: int64")
    .Attr("dtype: type")
    .Attr("Tserialized: {string, variant} = DT_STRING")
    .SetShapeFn(DeserializeSparseShape);
REGISTER_OP("DeserializeManySparse")
    .Input("serialized_sparse: string")
    .Output("sparse_indices: int64")
    .Output("sparse_values: dtype")
    .Output("sparse_shape: int64")
    .Attr("dtype: type")
    .SetShapeFn(DeserializeManySparseShape);

REGISTER_OP("AddSparseToTensorsMap")
    .Input("sparse_indices: int64")
    .Input("sparse_values: T")
    .Input("sparse_shape: int64")
    .Output("sparse_handle: int64")
    .Attr("T: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(AddSparseToTensorsMapShape)
    .WritesState();
REGISTER_OP("AddManySparseToTensorsMap")
    .Input("sparse_indices: int64")
    .Input("sparse_values: T")
    .Input("sparse_shape: int64")
    .Output("sparse_handles: int64")
    .Attr("T: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(AddManySparseToTensorsMapShape)
    .WritesState();
REGISTER_OP("TakeManySparseFromTensorsMap")
    .Input("sparse_handles: int64")
    .Output("sparse_indices: int64")
    .Output("sparse_values: dtype")
    .Output("sparse_shape: int64")
    .Attr("dtype: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(TakeManySparseShape)
    .WritesState();

}  // namespace headrace
