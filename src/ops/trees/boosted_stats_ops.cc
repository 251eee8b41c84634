// Sums for boosted trees, the splits that these give, and the buckets of
// features. Schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;
using shape_inference::IntAttr;
using shape_inference::NoOutputs;
using shape_inference::ScalarShape;

// node_ids, gradients and hessians of a batch: inputs 0 to 2. `stats`: how many
// numbers an example has.
Status ExamplesShape(InferenceContext* c, int64_t* batch, int64_t* stats) {
  Shape nodes, gradients, hessians;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &nodes));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &gradients));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &hessians));
  *batch = c->Dim(nodes, 0);
  HR_RETURN_IF_ERROR(c->MergeDims(*batch, c->Dim(gradients, 0), batch));
  HR_RETURN_IF_ERROR(c->MergeDims(*batch, c->Dim(hessians, 0), batch));
  const int64_t g = c->Dim(gradients, 1), h = c->Dim(hessians, 1);
  *stats = g < 0 || h < 0 ? -1 : g + h;
  return OkStatus();
}

Status MakeStatsShape(InferenceContext* c) {
  int64_t batch = -1, stats = -1;
  int splits = 0, buckets = 0, features = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "max_splits", &splits));
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_buckets", &buckets));
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_features", &features));
  HR_RETURN_IF_ERROR(ExamplesShape(c, &batch, &stats));
  for (int i = 3; i < 3 + features; ++i) {
    Shape feature;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &feature));
    HR_RETURN_IF_ERROR(c->MergeDims(batch, c->Dim(feature, 0), &batch));
  }
  c->set_output(0, Shape({features, splits, buckets, 2}));
  return OkStatus();
}

Status AggregateStatsShape(InferenceContext* c) {
  int64_t batch = -1, stats = -1;
  int splits = 0, buckets = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "max_splits", &splits));
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_buckets", &buckets));
  HR_RETURN_IF_ERROR(ExamplesShape(c, &batch, &stats));
  Shape feature;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 2, &feature));
  HR_RETURN_IF_ERROR(c->MergeDims(batch, c->Dim(feature, 0), &batch));
  c->set_output(
      0, Shape({splits, c->Dim(feature, 1), int64_t{buckets} + 1, stats}));
  return OkStatus();
}

Status SparseAggregateShape(InferenceContext* c) {
  int64_t batch = -1, stats = -1;
  HR_RETURN_IF_ERROR(ExamplesShape(c, &batch, &stats));
  Shape indices, values, shape;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(4), 1, &values));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(5), 1, &shape));
  c->set_output(0, c->Matrix(-1, 4));
  c->set_output(1, c->Vector(-1));
  c->set_output(2, c->Vector(4));
  return OkStatus();
}

// Scalars l1, l2, tree_complexity and min_node_weight from input `first` on.
Status RegularizationShape(InferenceContext* c, int first) {
  Shape scalar;
  for (int i = first; i < first + 4; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &scalar));
  }
  return OkStatus();
}

Status NodeRangeShape(InferenceContext* c) {
  Shape range;
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &range));
  return c->MergeDims(c->Dim(range, 0), 2, &two);
}

Status BestGainsShape(InferenceContext* c) {
  int splits = 0, features = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "max_splits", &splits));
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_features", &features));
  HR_RETURN_IF_ERROR(NodeRangeShape(c));
  Shape stats = Shape({splits, -1, 2});
  for (int i = 1; i <= features; ++i) {
    HR_RETURN_IF_ERROR(c->Merge(c->input(i), stats, &stats));
  }
  HR_RETURN_IF_ERROR(RegularizationShape(c, features + 1));
  for (int i = 0; i < 3 * features; ++i) c->set_output(i, c->Vector(-1));
  for (int i = 3 * features; i < 5 * features; ++i) {
    c->set_output(i, c->Matrix(-1, 1));
  }
  return OkStatus();
}

Status SplitOutputs(InferenceContext* c) {
  int dimension = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "logits_dimension", &dimension));
  for (int i = 0; i < 7; ++i) {
    c->set_output(i,
                  i == 4 || i == 5 ? c->Matrix(-1, dimension) : c->Vector(-1));
  }
  return OkStatus();
}

Status BestFeatureSplitShape(InferenceContext* c) {
  Shape stats;
  HR_RETURN_IF_ERROR(NodeRangeShape(c));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 4, &stats));
  HR_RETURN_IF_ERROR(RegularizationShape(c, 2));
  return SplitOutputs(c);
}

Status SparseBestSplitShape(InferenceContext* c) {
  Shape indices, values, shape;
  HR_RETURN_IF_ERROR(NodeRangeShape(c));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &values));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &shape));
  HR_RETURN_IF_ERROR(RegularizationShape(c, 4));
  return SplitOutputs(c);
}

Status BoostedBucketizeShape(InferenceContext* c) {
  int features = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_features", &features));
  for (int i = 0; i < 2 * features; ++i) {
    Shape vector;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    if (i < features) c->set_output(i, vector);
  }
  return OkStatus();
}

Status CreateQuantilesShape(InferenceContext* c) {
  Shape scalar;
  for (int i = 0; i < 3; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &scalar));
  }
  return OkStatus();
}

Status MakeQuantilesShape(InferenceContext* c) {
  int features = 0;
  HR_RETURN_IF_ERROR(IntAttr(*c, "num_features", &features));
  Shape vector, scalar;
  int64_t batch = -1;
  for (int i = 0; i < features; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    HR_RETURN_IF_ERROR(c->MergeDims(batch, c->Dim(vector, 0), &batch));
    c->set_output(i, c->Matrix(-1, 4));
  }
  HR_RETURN_IF_ERROR(c->WithRank(c->input(features), 1, &vector));
  return c->WithRank(c->input(features + 1), 0, &scalar);
}

Status FlushSummariesShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) {
    c->set_output(i, c->Matrix(-1, 4));
  }
  return OkStatus();
}

Status BoundariesShape(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Vector(-1));
  return OkStatus();
}

}  // namespace

REGISTER_OP("BoostedTreesMakeStatsSummary")
    .Input("node_ids: int32")
    .Input("gradients: float")
    .Input("hessians: float")
    .Input("bucketized_features_list: num_features * int32")
    .Output("stats_summary: float")
    .Attr("max_splits: int >= 1")
    .Attr("num_buckets: int >= 1")
    .Attr("num_features: int >= 1")
    .SetShapeFn(MakeStatsShape);
REGISTER_OP("BoostedTreesAggregateStats")
    .Input("node_ids: int32")
    .Input("gradients: float")
    .Input("hessians: float")
    .Input("feature: int32")
    .Output("stats_summary: float")
    .Attr("max_splits: int >= 1")
    .Attr("num_buckets: int >= 1")
    .SetShapeFn(AggregateStatsShape);
REGISTER_OP("BoostedTreesSparseAggregateStats")
    .Input("node_ids: int32")
    .Input("gradients: float")
    .Input("hessians: float")
    .Input("feature_indices: int32")
    .Input("feature_values: int32")
    .Input("feature_shape: int32")
    .Output("stats_summary_indices: int32")
    .Output("stats_summary_values: float")
    .Output("stats_summary_shape: int32")
    .Attr("max_splits: int >= 1")
    .Attr("num_buckets: int >= 1")
    .SetShapeFn(SparseAggregateShape);
REGISTER_OP("BoostedTreesCalculateBestGainsPerFeature")
    .Input("node_id_range: int32")
    .Input("stats_summary_list: num_features * float")
    .Input("l1: float")
    .Input("l2: float")
    .Input("tree_complexity: float")
    .Input("min_node_weight: float")
    .Output("node_ids_list: num_features * int32")
    .Output("gains_list: num_features * float")
    .Output("thresholds_list: num_features * int32")
    .Output("left_node_contribs_list: num_features * float")
    .Output("right_node_contribs_list: num_features * float")
    .Attr("max_splits: int >= 1")
    .Attr("num_features: int >= 1")
    .SetShapeFn(BestGainsShape);
REGISTER_OP("BoostedTreesCalculateBestFeatureSplit")
    .Input("node_id_range: int32")
    .Input("stats_summary: float")
    .Input("l1: float")
    .Input("l2: float")
    .Input("tree_complexity: float")
    .Input("min_node_weight: float")
    .Output("node_ids: int32")
    .Output("gains: float")
    .Output("feature_dimensions: int32")
    .Output("thresholds: int32")
    .Output("left_node_contribs: float")
    .Output("right_node_contribs: float")
    .Output("split_with_default_directions: string")
    .Attr("logits_dimension: int >= 1")
    .Attr("split_type: {'inequality', 'equality'} = 'inequality'")
    .SetShapeFn(BestFeatureSplitShape);
REGISTER_OP("BoostedTreesSparseCalculateBestFeatureSplit")
    .Input("node_id_range: int32")
    .Input("stats_summary_indices: int32")
    .Input("stats_summary_values: float")
    .Input("stats_summary_shape: int32")
    .Input("l1: float")
    .Input("l2: float")
    .Input("tree_complexity: float")
    .Input("min_node_weight: float")
    .Output("node_ids: int32")
    .Output("gains: float")
    .Output("feature_dimensions: int32")
    .Output("thresholds: int32")
    .Output("left_node_contribs: float")
    .Output("right_node_contribs: float")
    .Output("split_with_default_directions: string")
    .Attr("logits_dimension: int >= 1")
    .Attr("split_type: {'inequality'} = 'inequality'")
    .SetShapeFn(SparseBestSplitShape);
REGISTER_OP("BoostedTreesBucketize")
    .Input("float_values: num_features * float")
    .Input("bucket_boundaries: num_features * float")
    .Output("buckets: num_features * int32")
    .Attr("num_features: int >= 0")
    .SetShapeFn(BoostedBucketizeShape);

REGISTER_OP("BoostedTreesQuantileStreamResourceHandleOp")
    .Output("resource: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .WritesState();
REGISTER_OP("IsBoostedTreesQuantileStreamResourceInitialized")
    .Input("quantile_stream_resource_handle: resource")
    .Output("is_initialized: bool")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .ReadsState();
REGISTER_OP("BoostedTreesCreateQuantileStreamResource")
    .Input("quantile_stream_resource_handle: resource")
    .Input("epsilon: float")
    .Input("num_streams: int64")
    .Attr("max_elements: int = 1099511627776")
    .SetIsStateful()
    .SetShapeFn(CreateQuantilesShape)
    .WritesState();
REGISTER_OP("BoostedTreesMakeQuantileSummaries")
    .Input("float_values: num_features * float")
    .Input("example_weights: float")
    .Input("epsilon: float")
    .Output("summaries: num_features * float")
    .Attr("num_features: int >= 0")
    .SetShapeFn(MakeQuantilesShape);
REGISTER_OP("BoostedTreesQuantileStreamResourceAddSummaries")
    .Input("quantile_stream_resource_handle: resource")
    .Input("summaries: num_features * float")
    .Attr("num_features: int >= 0")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("BoostedTreesQuantileStreamResourceFlush")
    .Input("quantile_stream_resource_handle: resource")
    .Input("num_buckets: int64")
    .Attr("generate_quantiles: bool = false")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();
REGISTER_OP("BoostedTreesFlushQuantileSummaries")
    .Input("quantile_stream_resource_handle: resource")
    .Output("summaries: num_features * float")
    .Attr("num_features: int >= 0")
    .SetIsStateful()
    .SetShapeFn(FlushSummariesShape)
    .WritesState();
REGISTER_OP("BoostedTreesQuantileStreamResourceGetBucketBoundaries")
    .Input("quantile_stream_resource_handle: resource")
    .Output("bucket_boundaries: num_features * float")
    .Attr("num_features: int >= 0")
    .SetIsStateful()
    .SetShapeFn(BoundariesShape)
    .ReadsState();
REGISTER_OP("BoostedTreesQuantileStreamResourceDeserialize")
    .Input("quantile_stream_resource_handle: resource")
    .Input("bucket_boundaries: num_streams * float")
    .Attr("num_streams: int >= 1")
    .SetIsStateful()
    .SetShapeFn(NoOutputs)
    .WritesState();

}  // namespace headrace
