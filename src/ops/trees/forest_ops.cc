// Random forests, of TensorFlow's contrib library: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

Status ForestVectorShape(InferenceContext* c) {
  c->set_output(0, c->Vector(-1));
  return OkStatus();
}

Status TreePredictionsShape(InferenceContext* c) {
  c->set_output(0, c->Matrix(-1, -1));
  c->set_output(1, c->Vector(-1));
  return OkStatus();
}

}  // namespace

#define HR_FOREST_HANDLE_OP(NAME)       \
  REGISTER_OP(NAME)                     \
      .Output("resource: resource")     \
      .Attr("container: string = ''")   \
      .Attr("shared_name: string = ''") \
      .SetIsStateful()                  \
      .SetShapeFn(ScalarShape)          \
      .WritesState()
HR_FOREST_HANDLE_OP("DecisionTreeResourceHandleOp");
HR_FOREST_HANDLE_OP("FertileStatsResourceHandleOp");
#undef HR_FOREST_HANDLE_OP

REGISTER_OP("TreeIsInitializedOp")
    .Input("tree_handle: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("FertileStatsIsInitializedOp")
    .Input("stats_handle: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("CreateTreeVariable")
    .Input("tree_handle: resource")
    .Input("tree_config: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("CreateFertileStatsVariable")
    .Input("stats_handle: resource")
    .Input("stats_config: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("TreeSerialize")
    .Input("tree_handle: resource")
    .Output("tree_config: string")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("FertileStatsSerialize")
    .Input("stats_handle: resource")
    .Output("stats_config: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("TreeDeserialize")
    .Input("tree_handle: resource")
    .Input("tree_config: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("FertileStatsDeserialize")
    .Input("stats_handle: resource")
    .Input("stats_config: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("TreeSize")
    .Input("tree_handle: resource")
    .Output("tree_size: int32")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("FeatureUsageCounts")
    .Input("tree_handle: resource")
    .Output("feature_counts: int32")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(ForestVectorShape)
    .ReadsState();
REGISTER_OP("TreePredictionsV4")
    .Input("tree_handle: resource")
    .Input("input_data: float")
    .Input("sparse_input_indices: int64")
    .Input("sparse_input_values: float")
    .Input("sparse_input_shape: int64")
    .Output("predictions: float")
    .Output("tree_paths: string")
    .Attr("input_spec: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(TreePredictionsShape)
    .ReadsState();
REGISTER_OP("TraverseTreeV4")
    .Input("tree_handle: resource")
    .Input("input_data: float")
    .Input("sparse_input_indices: int64")
    .Input("sparse_input_values: float")
    .Input("sparse_input_shape: int64")
    .Output("leaf_ids: int32")
    .Attr("input_spec: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(ForestVectorShape)
    .ReadsState();
REGISTER_OP("UpdateModelV4")
    .Input("tree_handle: resource")
    .Input("leaf_ids: int32")
    .Input("input_labels: float")
    .Input("input_weights: float")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("ProcessInputV4")
    .Input("tree_handle: resource")
    .Input("stats_handle: resource")
    .Input("input_data: float")
    .Input("sparse_input_indices: int64")
    .Input("sparse_input_values: float")
    .Input("sparse_input_shape: int64")
    .Input("input_labels: float")
    .Input("input_weights: float")
    .Input("leaf_ids: int32")
    .Output("finished_nodes: int32")
    .Attr("random_seed: int")
    .Attr("input_spec: string")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(ForestVectorShape)
    .WritesState();
REGISTER_OP("GrowTreeV4")
    .Input("tree_handle: resource")
    .Input("stats_handle: resource")
    .Input("finished_nodes: int32")
    .Attr("params: string")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();

}  // namespace headrace
