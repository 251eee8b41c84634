// Schemas of the losses.
#include "framework/common_shape_fns.h"
#include "framework/op.h"

namespace headrace {
namespace {

// features and labels broadcast to each other; the result is a matrix.
Status XentShape(InferenceContext* c) {
  PartialTensorShape logits;
  if (c->input(0).unknown_rank() || c->input(1).unknown_rank()) {
    logits = InferenceContext::UnknownShapeOfRank(2);
  } else {
    HR_RETURN_IF_ERROR(BroadcastShapes(c->input(0), c->input(1), &logits));
    HR_RETURN_IF_ERROR(c->WithRank(logits, 2, &logits));
  }
  c->set_output(0, InferenceContext::Vector(InferenceContext::Dim(logits, 0)));
  c->set_output(1, logits);
  return OkStatus();
}

Status SparseXentShape(InferenceContext* c) {
  PartialTensorShape features, labels;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &features));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &labels));
  int64_t batch;
  HR_RETURN_IF_ERROR(c->MergeDims(InferenceContext::Dim(features, 0),
                                  InferenceContext::Dim(labels, 0), &batch));
  c->set_output(0, InferenceContext::Vector(batch));
  c->set_output(
      1, InferenceContext::Matrix(batch, InferenceContext::Dim(features, 1)));
  return OkStatus();
}

}  // namespace

REGISTER_OP("SoftmaxCrossEntropyWithLogits")
    .Input("features: T")
    .Input("labels: T")
    .Output("loss: T")
    .Output("backprop: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(XentShape);

REGISTER_OP("SparseSoftmaxCrossEntropyWithLogits")
    .Input("features: T")
    .Input("labels: Tlabels")
    .Output("loss: T")
    .Output("backprop: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("Tlabels: {int32, int64} = DT_INT64")
    .SetShapeFn(SparseXentShape);

REGISTER_OP("L2Loss")
    .Input("t: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(shape_inference::ScalarShape);

}  // namespace headrace
