// Ragged tensors: values, and splits that tell their rows, a vector for each
// ragged level.
#include <string>
#include <vector>

#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = InferenceContext::Shape;

// The vectors of splits that begin at input `i`.
Status SplitsInputs(InferenceContext* c, int i, int64_t n) {
  Shape splits;
  for (int64_t k = 0; k < n; ++k) {
    HR_RETURN_IF_ERROR(
        c->WithRank(c->input(i + static_cast<int>(k)), 1, &splits));
  }
  return OkStatus();
}
// `n` vectors of splits of unknown length.
void SplitsOutputs(InferenceContext* c, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    c->set_output(static_cast<int>(k), c->Vector(-1));
  }
}

int64_t Plus1(int64_t dim) { return dim < 0 ? -1 : AddWithoutOverflow(dim, 1); }
int64_t Minus1(int64_t dim) { return dim > 0 ? dim - 1 : -1; }

Status RaggedRangeShape(InferenceContext* c) {
  int64_t rows = -1;
  bool scalars = true;
  for (int i = 0; i < 3; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &s));
    scalars = scalars && s.dims() == 0;
    if (s.dims() == 1) {
      HR_RETURN_IF_ERROR(c->MergeDims(rows, s.dim_size(0), &rows));
    }
  }
  c->set_output(0, c->Vector(scalars ? 2 : Plus1(rows)));
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

Status RaggedGatherShape(InferenceContext* c) {
  int64_t levels, out_levels;
  HR_RETURN_IF_ERROR(c->GetAttr("PARAMS_RAGGED_RANK", &levels));
  HR_RETURN_IF_ERROR(c->GetAttr("OUTPUT_RAGGED_RANK", &out_levels));
  HR_RETURN_IF_ERROR(SplitsInputs(c, 0, levels));
  Shape values, indices = c->input(static_cast<int>(levels) + 1);
  HR_RETURN_IF_ERROR(
      c->WithRankAtLeast(c->input(static_cast<int>(levels)), 1, &values));
  if (c->RankKnown(indices) && indices.dims() - 1 + levels != out_levels) {
    return errors::InvalidArgument(
        "OUTPUT_RAGGED_RANK is ", out_levels, ", wanted the rank of indices, ",
        indices.dims(), ", - 1 + PARAMS_RAGGED_RANK, ", levels);
  }
  SplitsOutputs(c, out_levels);
  if (c->RankKnown(values)) values.set_dim(0, -1);
  c->set_output(static_cast<int>(out_levels), values);
  return OkStatus();
}

Status RaggedTensorToSparseShape(InferenceContext* c) {
  int64_t levels;
  HR_RETURN_IF_ERROR(c->GetAttr("RAGGED_RANK", &levels));
  HR_RETURN_IF_ERROR(SplitsInputs(c, 0, levels));
  Shape values;
  HR_RETURN_IF_ERROR(
      c->WithRankAtLeast(c->input(static_cast<int>(levels)), 1, &values));
  const int64_t n = values.num_elements();
  const int64_t rank = c->RankKnown(values) ? levels + values.dims() : -1;
  c->set_output(0, c->Matrix(n, rank));
  c->set_output(1, c->Vector(n));
  c->set_output(2, c->Vector(rank));
  return OkStatus();
}

Status RaggedTensorToTensorShape(InferenceContext* c) {
  std::vector<std::string> types;
  HR_RETURN_IF_ERROR(c->GetAttr("row_partition_types", &types));
  if (static_cast<int>(types.size()) != c->num_inputs() - 3) {
    return errors::InvalidArgument("Number of row partition tensors (",
                                   c->num_inputs() - 3,
                                   ") does not equal the number of row "
                                   "partition types(",
                                   types.size(), ").");
  }
  for (const std::string& t : types) {
    if (t != "FIRST_DIM_SIZE" && t != "VALUE_ROWIDS" && t != "ROW_SPLITS") {
      return errors::InvalidArgument(
          "Unknown string for row partition type: ", t,
          ", wanted FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS");
    }
  }
  Shape given, values;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &given));
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(1), 1, &values));
  if (c->RankKnown(values)) {
    const int64_t levels =
        static_cast<int64_t>(types.size()) -
        (!types.empty() && types[0] == "FIRST_DIM_SIZE" ? 1 : 0);
    if (levels + values.dims() > kMaxTensorRank) {
      return errors::InvalidArgument("the result has ", levels + values.dims(),
                                     " dimensions, more than the ",
                                     kMaxTensorRank, " supported");
    }
    Shape wanted = c->UnknownShapeOfRank(static_cast<int>(levels) + 1);
    for (int d = 1; d < values.dims(); ++d) wanted.AddDim(values.dim_size(d));
    HR_RETURN_IF_ERROR(c->Merge(given, wanted, &given));
  }
  c->set_output(0, given);
  return OkStatus();
}

Status RaggedTensorToVariantShape(InferenceContext* c) {
  int64_t levels;
  bool batched;
  HR_RETURN_IF_ERROR(c->GetAttr("RAGGED_RANK", &levels));
  HR_RETURN_IF_ERROR(c->GetAttr("batched_input", &batched));
  HR_RETURN_IF_ERROR(SplitsInputs(c, 0, levels));
  Shape values = c->input(static_cast<int>(levels));
  if (batched || levels > 0) {
    HR_RETURN_IF_ERROR(c->WithRankAtLeast(values, 1, &values));
  }
  if (!batched) {
    c->set_output(0, c->Scalar());
    return OkStatus();
  }
  c->set_output(0, c->Vector(levels > 0 ? Minus1(c->Dim(c->input(0), 0))
                                        : c->Dim(values, 0)));
  return OkStatus();
}

Status RaggedTensorFromVariantShape(InferenceContext* c) {
  int64_t in_levels, out_levels;
  HR_RETURN_IF_ERROR(c->GetAttr("input_ragged_rank", &in_levels));
  HR_RETURN_IF_ERROR(c->GetAttr("output_ragged_rank", &out_levels));
  Shape encoded = c->input(0);
  if (out_levels > 0 || in_levels > 0) {
    if (in_levels >= 0) {
      if (out_levels < in_levels) {
        return errors::InvalidArgument("output_ragged_rank ", out_levels,
                                       " is less than input_ragged_rank ",
                                       in_levels);
      }
      if (out_levels - in_levels > kMaxTensorRank) {
        return errors::InvalidArgument(
            "output_ragged_rank ", out_levels, " - input_ragged_rank ",
            in_levels, " is more than the dimensions that a tensor can have");
      }
      HR_RETURN_IF_ERROR(c->WithRank(
          encoded, static_cast<int>(out_levels - in_levels), &encoded));
    } else if (encoded.dims() > out_levels) {
      return errors::InvalidArgument(
          "output_ragged_rank ", out_levels,
          " is less than the dimensions of encoded_ragged, ", encoded.dims());
    }
  }
  SplitsOutputs(c, out_levels);
  c->set_output(static_cast<int>(out_levels), c->UnknownShape());
  return OkStatus();
}

Status RaggedTensorToVariantGradientShape(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(2, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

Status RaggedCrossShape(InferenceContext* c) {
  std::vector<Shape> values, splits, indices, sparse_values, shapes, dense;
  HR_RETURN_IF_ERROR(c->input("ragged_values", &values));
  HR_RETURN_IF_ERROR(c->input("ragged_row_splits", &splits));
  HR_RETURN_IF_ERROR(c->input("sparse_indices", &indices));
  HR_RETURN_IF_ERROR(c->input("sparse_values", &sparse_values));
  HR_RETURN_IF_ERROR(c->input("sparse_shape", &shapes));
  HR_RETURN_IF_ERROR(c->input("dense_inputs", &dense));
  const auto all_of_rank = [c](const std::vector<Shape>& list, int rank) {
    Shape s;
    for (const Shape& shape : list) {
      HR_RETURN_IF_ERROR(c->WithRank(shape, rank, &s));
    }
    return OkStatus();
  };
  HR_RETURN_IF_ERROR(all_of_rank(values, 1));
  HR_RETURN_IF_ERROR(all_of_rank(splits, 1));
  HR_RETURN_IF_ERROR(all_of_rank(indices, 2));
  HR_RETURN_IF_ERROR(all_of_rank(sparse_values, 1));
  HR_RETURN_IF_ERROR(all_of_rank(shapes, 1));
  HR_RETURN_IF_ERROR(all_of_rank(dense, 2));
  int64_t rows = -1;
  for (const Shape& s : splits) {
    HR_RETURN_IF_ERROR(c->MergeDims(rows, Minus1(c->Dim(s, 0)), &rows));
  }
  for (const Shape& s : dense) {
    HR_RETURN_IF_ERROR(c->MergeDims(rows, c->Dim(s, 0), &rows));
  }
  c->set_output(0, c->Vector(-1));
  c->set_output(1, c->Vector(Plus1(rows)));
  return OkStatus();
}

Status RaggedFillEmptyRowsShape(InferenceContext* c) {
  Shape rowids, values, default_value;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &rowids));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &values));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &default_value));
  HR_RETURN_IF_ERROR(c->Merge(rowids, values, &rowids));
  int64_t rows;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &rows));
  c->set_output(0, c->Vector(-1));
  c->set_output(1, c->Vector(-1));
  c->set_output(2, c->Vector(rows));
  c->set_output(3, rowids);
  return OkStatus();
}

Status RaggedFillEmptyRowsGradShape(InferenceContext* c) {
  Shape map, grad;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &map));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &grad));
  c->set_output(0, map);
  c->set_output(1, c->Scalar());
  return OkStatus();
}

}  // namespace

REGISTER_OP("RaggedRange")
    .Input("starts: T")
    .Input("limits: T")
    .Input("deltas: T")
    .Output("rt_nested_splits: Tsplits")
    .Output("rt_dense_values: T")
    .Attr("T: {bfloat16, float, double, int32, int64} = DT_INT32")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(RaggedRangeShape);
REGISTER_OP("RaggedGather")
    .Input("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
    .Input("params_dense_values: Tvalues")
    .Input("indices: Tindices")
    .Output("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits")
    .Output("output_dense_values: Tvalues")
    .Attr("Tvalues: type")
    .Attr("Tindices: {int32, int64}")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .Attr("PARAMS_RAGGED_RANK: int >= 1")
    .Attr("OUTPUT_RAGGED_RANK: int >= 0")
    .SetShapeFn(RaggedGatherShape);
REGISTER_OP("RaggedTensorToSparse")
    .Input("rt_nested_splits: RAGGED_RANK * Tsplits")
    .Input("rt_dense_values: T")
    .Output("sparse_indices: int64")
    .Output("sparse_values: T")
    .Output("sparse_dense_shape: int64")
    .Attr("RAGGED_RANK: int >= 1")
    .Attr("T: type")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(RaggedTensorToSparseShape);
REGISTER_OP("RaggedTensorToTensor")
    .Input("shape: Tshape")
    .Input("values: T")
    .Input("default_value: T")
    .Input("row_partition_tensors: num_row_partition_tensors * Tindex")
    .Output("result: T")
    .Attr("T: type")
    .Attr("Tindex: {int64, int32}")
    .Attr("Tshape: {int64, int32}")
    .Attr("num_row_partition_tensors: int >= 1")
    .Attr("row_partition_types: list(string)")
    .SetShapeFn(RaggedTensorToTensorShape);
REGISTER_OP("RaggedTensorToVariant")
    .Input("rt_nested_splits: RAGGED_RANK * Tsplits")
    .Input("rt_dense_values: Tvalues")
    .Output("encoded_ragged: variant")
    .Attr("RAGGED_RANK: int >= 0")
    .Attr("Tvalues: type")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .Attr("batched_input: bool")
    .SetShapeFn(RaggedTensorToVariantShape);
REGISTER_OP("RaggedTensorFromVariant")
    .Input("encoded_ragged: variant")
    .Output("output_nested_splits: output_ragged_rank * Tsplits")
    .Output("output_dense_values: Tvalues")
    .Attr("input_ragged_rank: int >= -1")
    .Attr("output_ragged_rank: int >= 0")
    .Attr("Tvalues: type")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(RaggedTensorFromVariantShape);
REGISTER_OP("RaggedTensorToVariantGradient")
    .Input("encoded_ragged_grad: variant")
    .Input("row_splits: Tsplits")
    .Input("dense_values_shape: int32")
    .Output("dense_values_grad: Tvalues")
    .Attr("Tvalues: type")
    .Attr("Tsplits: {int32, int64} = DT_INT64")
    .SetShapeFn(RaggedTensorToVariantGradientShape);
REGISTER_OP("RaggedCross")
    .Input("ragged_values: ragged_values_types")
    .Input("ragged_row_splits: ragged_splits_types")
    .Input("sparse_indices: Nsparse * int64")
    .Input("sparse_values: sparse_values_types")
    .Input("sparse_shape: Nsparse * int64")
    .Input("dense_inputs: dense_types")
    .Output("output_values: out_values_type")
    .Output("output_row_splits: out_row_splits_type")
    .Attr("Nsparse: int >= 0")
    .Attr("input_order: string")
    .Attr("hashed_output: bool")
    .Attr("num_buckets: int >= 0")
    .Attr("hash_key: int")
    .Attr("ragged_values_types: list({int64, string}) >= 0")
    .Attr("ragged_splits_types: list({int32, int64}) >= 0")
    .Attr("sparse_values_types: list({int64, string}) >= 0")
    .Attr("dense_types: list({int64, string}) >= 0")
    .Attr("out_values_type: {int64, string}")
    .Attr("out_row_splits_type: {int32, int64}")
    .SetShapeFn(RaggedCrossShape);
REGISTER_OP("RaggedFillEmptyRows")
    .Input("value_rowids: int64")
    .Input("values: T")
    .Input("nrows: int64")
    .Input("default_value: T")
    .Output("output_value_rowids: int64")
    .Output("output_values: T")
    .Output("empty_row_indicator: bool")
    .Output("reverse_index_map: int64")
    .Attr("T: type")
    .SetShapeFn(RaggedFillEmptyRowsShape);
REGISTER_OP("RaggedFillEmptyRowsGrad")
    .Input("reverse_index_map: int64")
    .Input("grad_values: T")
    .Output("d_values: T")
    .Output("d_default_value: T")
    .Attr("T: type")
    .SetShapeFn(RaggedFillEmptyRowsGradShape);

}  // namespace headrace
