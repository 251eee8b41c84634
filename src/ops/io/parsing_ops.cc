// Examples (records of named features) into tensors.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// The outputs of the list `name`, which the op may not have.
Status SetList(InferenceContext* c, const char* name, const Shape& shape,
               const std::vector<Shape>* each = nullptr) {
  std::vector<ArgRange> ranges;
  const OpDef& def = c->op_def();
  HR_RETURN_IF_ERROR(ArgRanges(def.outputs, def, c->attrs(), &ranges));
  for (size_t o = 0; o < ranges.size(); ++o) {
    if (def.outputs[o].name != name) continue;
    for (int i = ranges[o].begin; i < ranges[o].end; ++i) {
      const size_t k = static_cast<size_t>(i - ranges[o].begin);
      Shape full = shape;
      if (each != nullptr && k < each->size()) {
        HR_RETURN_IF_ERROR(c->Concatenate(shape, (*each)[k], &full));
      }
      c->set_output(i, full);
    }
  }
  return OkStatus();
}

// Sparse outputs, then dense ones; `batch` is the shape of `serialized`.
Status ExampleOutputs(InferenceContext* c, const Shape& batch,
                      int64_t num_sparse) {
  std::vector<PartialTensorShape> dense;
  HR_RETURN_IF_ERROR(c->GetAttr("dense_shapes", &dense));
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, InferenceContext::UnknownShape());
  }
  const int64_t rank = batch.unknown_rank() ? -1 : batch.dims() + 1;
  for (int64_t i = 0; i < num_sparse; ++i) {
    if (3 * num_sparse > c->num_outputs()) break;
    c->set_output(i, InferenceContext::Matrix(-1, rank));
    c->set_output(num_sparse + i, InferenceContext::Vector(-1));
    c->set_output(2 * num_sparse + i, InferenceContext::Vector(rank));
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    const int64_t at = 3 * num_sparse + static_cast<int64_t>(i);
    if (at >= c->num_outputs()) break;
    Shape out;
    HR_RETURN_IF_ERROR(c->Concatenate(batch, dense[i], &out));
    c->set_output(static_cast<int>(at), out);
  }
  HR_RETURN_IF_ERROR(SetList(c, "ragged_values", InferenceContext::Vector(-1)));
  const int64_t n = batch.dims() == 1 ? batch.dim_size(0) : -1;
  const Shape splits = batch.dims() == 1
                           ? InferenceContext::Vector(n < 0 ? -1 : n + 1)
                           : InferenceContext::UnknownShape();
  return SetList(c, "ragged_row_splits", splits);
}

REGISTER_OP("ParseExample")
    .Input("serialized: string")
    .Input("names: string")
    .Input("sparse_keys: Nsparse * string")
    .Input("dense_keys: Ndense * string")
    .Input("dense_defaults: Tdense")
    .Output("sparse_indices: Nsparse * int64")
    .Output("sparse_values: sparse_types")
    .Output("sparse_shapes: Nsparse * int64")
    .Output("dense_values: Tdense")
    .Attr("Nsparse: int >= 0")
    .Attr("Ndense: int >= 0")
    .Attr("sparse_types: list({float, int64, string}) >= 0")
    .Attr("Tdense: list({float, int64, string}) >= 0")
    .Attr("dense_shapes: list(shape) >= 0")
    .SetShapeFn([](InferenceContext* c) -> Status {
      Shape batch;
      int64_t num_sparse = 0;
      HR_RETURN_IF_ERROR(c->GetAttr("Nsparse", &num_sparse));
      HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &batch));
      return ExampleOutputs(c, batch, num_sparse);
    });

REGISTER_OP("ParseExampleV2")
    .Input("serialized: string")
    .Input("names: string")
    .Input("sparse_keys: string")
    .Input("dense_keys: string")
    .Input("ragged_keys: string")
    .Input("dense_defaults: Tdense")
    .Output("sparse_indices: num_sparse * int64")
    .Output("sparse_values: sparse_types")
    .Output("sparse_shapes: num_sparse * int64")
    .Output("dense_values: Tdense")
    .Output("ragged_values: ragged_value_types")
    .Output("ragged_row_splits: ragged_split_types")
    .Attr("Tdense: list({float, int64, string}) >= 0")
    .Attr("num_sparse: int >= 0")
    .Attr("sparse_types: list({float, int64, string}) >= 0")
    .Attr("ragged_value_types: list({float, int64, string}) >= 0")
    .Attr("ragged_split_types: list({int32, int64}) >= 0")
    .Attr("dense_shapes: list(shape) >= 0")
    .SetShapeFn([](InferenceContext* c) -> Status {
      int64_t num_sparse = 0;
      HR_RETURN_IF_ERROR(c->GetAttr("num_sparse", &num_sparse));
      return ExampleOutputs(c, c->input(0), num_sparse);
    });

// `batch`: the shape of `serialized`.
Status SequenceShape(InferenceContext* c, const Shape& batch) {
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, InferenceContext::UnknownShape());
  }
  std::vector<Shape> context, lists;
  HR_RETURN_IF_ERROR(c->GetAttr("context_dense_shapes", &context));
  HR_RETURN_IF_ERROR(c->GetAttr("feature_list_dense_shapes", &lists));
  const int64_t rank = batch.unknown_rank() ? -1 : batch.dims();
  const auto more = [rank](int64_t n) { return rank < 0 ? -1 : rank + n; };
  const Shape vector = InferenceContext::Vector(-1);
  HR_RETURN_IF_ERROR(SetList(c, "context_sparse_indices",
                             InferenceContext::Matrix(-1, more(1))));
  HR_RETURN_IF_ERROR(SetList(c, "context_sparse_values", vector));
  HR_RETURN_IF_ERROR(
      SetList(c, "context_sparse_shapes", InferenceContext::Vector(more(1))));
  HR_RETURN_IF_ERROR(SetList(c, "context_dense_values", batch, &context));
  HR_RETURN_IF_ERROR(SetList(c, "context_ragged_values", vector));
  HR_RETURN_IF_ERROR(SetList(c, "context_ragged_row_splits", vector));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_sparse_indices",
                             InferenceContext::Matrix(-1, more(2))));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_sparse_values", vector));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_sparse_shapes",
                             InferenceContext::Vector(more(2))));
  Shape steps;
  HR_RETURN_IF_ERROR(c->Concatenate(batch, vector, &steps));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_dense_values", steps, &lists));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_dense_lengths", batch));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_ragged_values", vector));
  HR_RETURN_IF_ERROR(SetList(c, "feature_list_ragged_outer_splits", vector));
  return SetList(c, "feature_list_ragged_inner_splits", vector);
}

Status BatchSequenceShape(InferenceContext* c) {
  Shape batch;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &batch));
  return SequenceShape(c, batch);
}

Status AnySequenceShape(InferenceContext* c) {
  Shape batch;
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 1, &batch));
  return SequenceShape(c, batch);
}

Status SingleSequenceShape(InferenceContext* c) {
  Shape unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  return SequenceShape(c, InferenceContext::Scalar());
}

Status SingleExampleShape(InferenceContext* c) {
  Shape unused;
  int64_t num_sparse = 0;
  HR_RETURN_IF_ERROR(c->GetAttr("num_sparse", &num_sparse));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
  return ExampleOutputs(c, InferenceContext::Scalar(), num_sparse);
}

// Each field has the shape of the records.
Status CsvShape(InferenceContext* c) {
  for (int i = 1; i < c->num_inputs(); ++i) {
    Shape fallback;
    HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &fallback));
    if (fallback.dims() == 1 && fallback.dim_size(0) > 1) {
      return errors::InvalidArgument(
          "Shape of a default must be a length-0 or length-1 vector, or a "
          "scalar, got ",
          fallback.DebugString());
    }
  }
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->input(0));
  return OkStatus();
}

REGISTER_OP("ParseSingleExample")
    .Input("serialized: string")
    .Input("dense_defaults: Tdense")
    .Output("sparse_indices: num_sparse * int64")
    .Output("sparse_values: sparse_types")
    .Output("sparse_shapes: num_sparse * int64")
    .Output("dense_values: Tdense")
    .Attr("num_sparse: int >= 0")
    .Attr("sparse_keys: list(string) >= 0")
    .Attr("dense_keys: list(string) >= 0")
    .Attr("sparse_types: list({float, int64, string}) >= 0")
    .Attr("Tdense: list({float, int64, string}) >= 0")
    .Attr("dense_shapes: list(shape) >= 0")
    .SetShapeFn(SingleExampleShape);

REGISTER_OP("ParseSequenceExample")
    .Input("serialized: string")
    .Input("debug_name: string")
    .Input("context_dense_defaults: Tcontext_dense")
    .Output("context_sparse_indices: Ncontext_sparse * int64")
    .Output("context_sparse_values: context_sparse_types")
    .Output("context_sparse_shapes: Ncontext_sparse * int64")
    .Output("context_dense_values: Tcontext_dense")
    .Output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
    .Output("feature_list_sparse_values: feature_list_sparse_types")
    .Output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
    .Output("feature_list_dense_values: feature_list_dense_types")
    .Output("feature_list_dense_lengths: Nfeature_list_dense * int64")
    .Attr("feature_list_dense_missing_assumed_empty: list(string) >= 0")
    .Attr("context_sparse_keys: list(string) >= 0")
    .Attr("context_dense_keys: list(string) >= 0")
    .Attr("feature_list_sparse_keys: list(string) >= 0")
    .Attr("feature_list_dense_keys: list(string) >= 0")
    .Attr("Ncontext_sparse: int >= 0 = 0")
    .Attr("Ncontext_dense: int >= 0 = 0")
    .Attr("Nfeature_list_sparse: int >= 0 = 0")
    .Attr("Nfeature_list_dense: int >= 0 = 0")
    .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
    .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
    .Attr("context_dense_shapes: list(shape) >= 0 = []")
    .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr("feature_list_dense_shapes: list(shape) >= 0 = []")
    .SetShapeFn(BatchSequenceShape);
REGISTER_OP("ParseSequenceExampleV2")
    .Input("serialized: string")
    .Input("debug_name: string")
    .Input("context_sparse_keys: string")
    .Input("context_dense_keys: string")
    .Input("context_ragged_keys: string")
    .Input("feature_list_sparse_keys: string")
    .Input("feature_list_dense_keys: string")
    .Input("feature_list_ragged_keys: string")
    .Input("feature_list_dense_missing_assumed_empty: bool")
    .Input("context_dense_defaults: Tcontext_dense")
    .Output("context_sparse_indices: Ncontext_sparse * int64")
    .Output("context_sparse_values: context_sparse_types")
    .Output("context_sparse_shapes: Ncontext_sparse * int64")
    .Output("context_dense_values: Tcontext_dense")
    .Output("context_ragged_values: context_ragged_value_types")
    .Output("context_ragged_row_splits: context_ragged_split_types")
    .Output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
    .Output("feature_list_sparse_values: feature_list_sparse_types")
    .Output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
    .Output("feature_list_dense_values: feature_list_dense_types")
    .Output("feature_list_dense_lengths: Nfeature_list_dense * int64")
    .Output("feature_list_ragged_values: feature_list_ragged_value_types")
    .Output("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
    .Output("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
    .Attr("Ncontext_sparse: int >= 0 = 0")
    .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
    .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []")
    .Attr("context_ragged_split_types: list({int32, int64}) >= 0 = []")
    .Attr("context_dense_shapes: list(shape) >= 0 = []")
    .Attr("Nfeature_list_sparse: int >= 0 = 0")
    .Attr("Nfeature_list_dense: int >= 0 = 0")
    .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
    .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr(
        "feature_list_ragged_value_types: list({float, int64, string}) >= 0 = "
        "[]")
    .Attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []")
    .Attr("feature_list_dense_shapes: list(shape) >= 0 = []")
    .SetShapeFn(AnySequenceShape);
REGISTER_OP("ParseSingleSequenceExample")
    .Input("serialized: string")
    .Input("feature_list_dense_missing_assumed_empty: string")
    .Input("context_sparse_keys: Ncontext_sparse * string")
    .Input("context_dense_keys: Ncontext_dense * string")
    .Input("feature_list_sparse_keys: Nfeature_list_sparse * string")
    .Input("feature_list_dense_keys: Nfeature_list_dense * string")
    .Input("context_dense_defaults: Tcontext_dense")
    .Input("debug_name: string")
    .Output("context_sparse_indices: Ncontext_sparse * int64")
    .Output("context_sparse_values: context_sparse_types")
    .Output("context_sparse_shapes: Ncontext_sparse * int64")
    .Output("context_dense_values: Tcontext_dense")
    .Output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
    .Output("feature_list_sparse_values: feature_list_sparse_types")
    .Output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
    .Output("feature_list_dense_values: feature_list_dense_types")
    .Attr("Ncontext_sparse: int >= 0 = 0")
    .Attr("Ncontext_dense: int >= 0 = 0")
    .Attr("Nfeature_list_sparse: int >= 0 = 0")
    .Attr("Nfeature_list_dense: int >= 0 = 0")
    .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
    .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
    .Attr("context_dense_shapes: list(shape) >= 0 = []")
    .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
    .Attr("feature_list_dense_shapes: list(shape) >= 0 = []")
    .SetShapeFn(SingleSequenceShape);
REGISTER_OP("DecodeCSV")
    .Input("records: string")
    .Input("record_defaults: OUT_TYPE")
    .Output("output: OUT_TYPE")
    .Attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1")
    .Attr("field_delim: string = ','")
    .Attr("use_quote_delim: bool = true")
    .Attr("na_value: string = ''")
    .Attr("select_cols: list(int) = []")
    .SetShapeFn(CsvShape);

}  // namespace
}  // namespace headrace
