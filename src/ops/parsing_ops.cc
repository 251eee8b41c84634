// Examples (records of named features) into tensors.
#include "framework/common_shape_fns.h"
#include "framework/op.h"
#include "framework/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

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
  return OkStatus();
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

}  // namespace
}  // namespace headrace
