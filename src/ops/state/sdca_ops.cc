// Stochastic dual coordinate ascent for linear models: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::NoOutputs;

// Deltas have the shapes of the weights.
Status SdcaShape(InferenceContext* c) {
  int64_t sparse = 0, with_values = 0, dense = 0;
  HR_RETURN_IF_ERROR(c->GetAttr("num_sparse_features", &sparse));
  HR_RETURN_IF_ERROR(
      c->GetAttr("num_sparse_features_with_values", &with_values));
  HR_RETURN_IF_ERROR(c->GetAttr("num_dense_features", &dense));
  // sparse_example_indices, sparse_feature_indices, sparse_feature_values,
  // dense_features, example_weights, example_labels, sparse_indices,
  // sparse_weights, dense_weights, example_state_data.
  const int64_t of_weights = 3 * sparse + with_values + dense + 2;
  c->set_output(0, c->Matrix(-1, 4));
  for (int64_t i = 0; i < sparse + dense; ++i) {
    c->set_output(static_cast<int>(1 + i),
                  c->input(static_cast<int>(of_weights + i)));
  }
  return OkStatus();
}

Status SdcaFprintShape(InferenceContext* c) {
  Shape input;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &input));
  c->set_output(0, c->Matrix(c->Dim(input, 0), 2));
  return OkStatus();
}

}  // namespace

// The two versions differ in how an attr is spelled.
#define HR_SDCA_OP(NAME, ADAPTIVE)                                             \
  REGISTER_OP(NAME)                                                            \
      .Input("sparse_example_indices: num_sparse_features * int64")            \
      .Input("sparse_feature_indices: num_sparse_features * int64")            \
      .Input("sparse_feature_values: num_sparse_features_with_values * float") \
      .Input("dense_features: num_dense_features * float")                     \
      .Input("example_weights: float")                                         \
      .Input("example_labels: float")                                          \
      .Input("sparse_indices: num_sparse_features * int64")                    \
      .Input("sparse_weights: num_sparse_features * float")                    \
      .Input("dense_weights: num_dense_features * float")                      \
      .Input("example_state_data: float")                                      \
      .Output("out_example_state_data: float")                                 \
      .Output("out_delta_sparse_weights: num_sparse_features * float")         \
      .Output("out_delta_dense_weights: num_dense_features * float")           \
      .Attr(                                                                   \
          "loss_type: {'logistic_loss', 'squared_loss', 'hinge_loss', "        \
          "'smooth_hinge_loss', 'poisson_loss'}")                              \
      .Attr(ADAPTIVE ": bool = false")                                         \
      .Attr("num_sparse_features: int >= 0")                                   \
      .Attr("num_sparse_features_with_values: int >= 0")                       \
      .Attr("num_dense_features: int >= 0")                                    \
      .Attr("l1: float")                                                       \
      .Attr("l2: float")                                                       \
      .Attr("num_loss_partitions: int >= 1")                                   \
      .Attr("num_inner_iterations: int >= 1")                                  \
      .SetShapeFn(SdcaShape)                                                   \
      .IsRandom()
HR_SDCA_OP("SdcaOptimizer", "adaptative");
HR_SDCA_OP("SdcaOptimizerV2", "adaptive");
#undef HR_SDCA_OP

REGISTER_OP("SdcaShrinkL1")
    .Input("weights: Ref(num_features * float)")
    .Attr("num_features: int >= 0")
    .Attr("l1: float")
    .Attr("l2: float")
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("SdcaFprint")
    .Input("input: string")
    .Output("output: int64")
    .SetShapeFn(SdcaFprintShape);

}  // namespace headrace
