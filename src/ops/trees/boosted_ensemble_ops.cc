// Ensembles of boosted trees: their making, what they say of examples, and
// their growth. Schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::IntAttr;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

// Vectors of one length: `n` inputs from `first` on.
Status EqualVectors(InferenceContext* c, int first, int n, int64_t* size) {
  for (int i = first; i < first + n; ++i) {
    Shape vector;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(vector, 0), *size, size));
  }
  return OkStatus();
}

Status CreateEnsembleShape(InferenceContext* c) {
  Shape unused;
  for (int i = 0; i < 3; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  return OkStatus();
}

Status SerializeEnsembleShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  c->set_output(1, c->Scalar());
  return OkStatus();
}

Status EnsembleStatesShape(InferenceContext* c) {
  for (int i = 0; i < 4; ++i) c->set_output(i, c->Scalar());
  c->set_output(4, c->Vector(2));
  return OkStatus();
}

// Batch and logits of the features, which are the inputs from `first` on.
Status LogitsShape(InferenceContext* c, int first, int64_t* batch) {
  int n = 0;
  int64_t dimension = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_bucketized_features", &n));
  HR_RETURN_IF_ERROR(EqualVectors(c, first, n, batch));
  HR_RETURN_IF_ERROR(c->GetAttr("logits_dimension", &dimension));
  c->set_output(0, c->Matrix(*batch, dimension));
  return OkStatus();
}

Status BoostedPredictShape(InferenceContext* c) {
  int64_t batch = -1;
  return LogitsShape(c, 1, &batch);
}

Status TrainingPredictShape(InferenceContext* c) {
  int64_t batch = -1;
  HR_RETURN_IF_ERROR(EqualVectors(c, 1, 2, &batch));
  HR_RETURN_IF_ERROR(LogitsShape(c, 3, &batch));
  c->set_output(1, c->Vector(batch));
  c->set_output(2, c->Vector(batch));
  return OkStatus();
}

Status DebugOutputsShape(InferenceContext* c) {
  int64_t batch = -1;
  HR_RETURN_IF_ERROR(LogitsShape(c, 1, &batch));
  c->set_output(0, c->Vector(batch));
  return OkStatus();
}

Status CenterBiasShape(InferenceContext* c) {
  Shape gradients, hessians, scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &gradients));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &hessians));
  HR_RETURN_IF_ERROR(c->Merge(gradients, hessians, &gradients));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &scalar));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(4), 0, &scalar));
  c->set_output(0, c->Scalar());
  return OkStatus();
}

}  // namespace

REGISTER_OP("BoostedTreesEnsembleResourceHandleOp")
    .Output("resource: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .WritesState();
REGISTER_OP("IsBoostedTreesEnsembleInitialized")
    .Input("tree_ensemble_handle: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("BoostedTreesCreateEnsemble")
    .Input("tree_ensemble_handle: resource")
    .Input("stamp_token: int64")
    .Input("tree_ensemble_serialized: string")
    .SetIsStateful()
    .SetShapeFn(CreateEnsembleShape)
    .WritesState();
REGISTER_OP("BoostedTreesDeserializeEnsemble")
    .Input("tree_ensemble_handle: resource")
    .Input("stamp_token: int64")
    .Input("tree_ensemble_serialized: string")
    .SetIsStateful()
    .SetShapeFn(CreateEnsembleShape)
    .WritesState();
REGISTER_OP("BoostedTreesSerializeEnsemble")
    .Input("tree_ensemble_handle: resource")
    .Output("stamp_token: int64")
    .Output("tree_ensemble_serialized: string")
    .SetIsStateful()
    .SetShapeFn(SerializeEnsembleShape)
    .ReadsState();
REGISTER_OP("BoostedTreesGetEnsembleStates")
    .Input("tree_ensemble_handle: resource")
    .Output("stamp_token: int64")
    .Output("num_trees: int32")
    .Output("num_finalized_trees: int32")
    .Output("num_attempted_layers: int32")
    .Output("last_layer_nodes_range: int32")
    .SetIsStateful()
    .SetShapeFn(EnsembleStatesShape)
    .ReadsState();

REGISTER_OP("BoostedTreesPredict")
    .Input("tree_ensemble_handle: resource")
    .Input("bucketized_features: num_bucketized_features * int32")
    .Output("logits: float")
    .Attr("num_bucketized_features: int >= 1")
    .Attr("logits_dimension: int")
    .SetIsStateful()
    .SetShapeFn(BoostedPredictShape)
    .ReadsState();
REGISTER_OP("BoostedTreesTrainingPredict")
    .Input("tree_ensemble_handle: resource")
    .Input("cached_tree_ids: int32")
    .Input("cached_node_ids: int32")
    .Input("bucketized_features: num_bucketized_features * int32")
    .Output("partial_logits: float")
    .Output("tree_ids: int32")
    .Output("node_ids: int32")
    .Attr("num_bucketized_features: int >= 1")
    .Attr("logits_dimension: int")
    .SetIsStateful()
    .SetShapeFn(TrainingPredictShape)
    .ReadsState();
REGISTER_OP("BoostedTreesExampleDebugOutputs")
    .Input("tree_ensemble_handle: resource")
    .Input("bucketized_features: num_bucketized_features * int32")
    .Output("examples_debug_outputs_serialized: string")
    .Attr("num_bucketized_features: int >= 1")
    .Attr("logits_dimension: int")
    .SetIsStateful()
    .SetShapeFn(DebugOutputsShape)
    .ReadsState();

REGISTER_OP("BoostedTreesUpdateEnsemble")
    .Input("tree_ensemble_handle: resource")
    .Input("feature_ids: int32")
    .Input("node_ids: num_features * int32")
    .Input("gains: num_features * float")
    .Input("thresholds: num_features * int32")
    .Input("left_node_contribs: num_features * float")
    .Input("right_node_contribs: num_features * float")
    .Input("max_depth: int32")
    .Input("learning_rate: float")
    .Attr("pruning_mode: int >= 0")
    .Attr("num_features: int >= 0")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
// TensorFlow 1.15 has one vector of feature_ids and no groups, which is what
// the defaults say.
REGISTER_OP("BoostedTreesUpdateEnsembleV2")
    .Input("tree_ensemble_handle: resource")
    .Input("feature_ids: num_groups * int32")
    .Input("dimension_ids: num_features * int32")
    .Input("node_ids: num_features * int32")
    .Input("gains: num_features * float")
    .Input("thresholds: num_features * int32")
    .Input("left_node_contribs: num_features * float")
    .Input("right_node_contribs: num_features * float")
    .Input("split_types: num_features * string")
    .Input("max_depth: int32")
    .Input("learning_rate: float")
    .Input("pruning_mode: int32")
    .Attr("num_features: int >= 0")
    .Attr("logits_dimension: int = 1")
    .Attr("num_groups: int >= 1 = 1")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("BoostedTreesCenterBias")
    .Input("tree_ensemble_handle: resource")
    .Input("mean_gradients: float")
    .Input("mean_hessians: float")
    .Input("l1: float")
    .Input("l2: float")
    .Output("continue_centering: bool")
    .SetIsStateful()
    .SetShapeFn(CenterBiasShape)
    .WritesState();

}  // namespace headrace
