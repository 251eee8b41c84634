// Centers of clusters, and sequences made to fall: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status NearestNeighborsShape(InferenceContext* c) {
  Shape points, centers, k;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &points));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &centers));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &k));
  int64_t size;
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(points, 1), c->Dim(centers, 1), &size));
  for (int i = 0; i < 2; ++i) {
    c->set_output(i, c->Matrix(c->Dim(points, 0), -1));
  }
  return OkStatus();
}

Status KmeansPlusPlusShape(InferenceContext* c) {
  Shape points, scalar;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &points));
  for (int i = 1; i < 4; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &scalar));
  }
  int64_t samples;
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &samples));
  c->set_output(0, c->Matrix(samples, c->Dim(points, 1)));
  return OkStatus();
}

Status Kmc2Shape(InferenceContext* c) {
  Shape distances, seed;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &distances));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &seed));
  c->set_output(0, c->Scalar());
  return OkStatus();
}

Status IsotonicShape(InferenceContext* c) {
  c->set_output(0, c->input(0));
  c->set_output(1, c->input(0));
  return OkStatus();
}

}  // namespace

REGISTER_OP("NearestNeighbors")
    .Input("points: float")
    .Input("centers: float")
    .Input("k: int64")
    .Output("nearest_center_indices: int64")
    .Output("nearest_center_distances: float")
    .SetShapeFn(NearestNeighborsShape);
REGISTER_OP("KmeansPlusPlusInitialization")
    .Input("points: float")
    .Input("num_to_sample: int64")
    .Input("seed: int64")
    .Input("num_retries_per_sample: int64")
    .Output("samples: float")
    .SetShapeFn(KmeansPlusPlusShape);
REGISTER_OP("KMC2ChainInitialization")
    .Input("distances: float")
    .Input("seed: int64")
    .Output("index: int64")
    .SetShapeFn(Kmc2Shape);
REGISTER_OP("IsotonicRegression")
    .Input("input: T")
    .Output("output: output_dtype")
    .Output("segments: int32")
    .Attr("T: realnumbertype")
    .Attr("output_dtype: {half, bfloat16, float, double} = DT_FLOAT")
    .SetShapeFn(IsotonicShape);

}  // namespace headrace
