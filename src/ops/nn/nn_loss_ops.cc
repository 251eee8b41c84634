// Schemas of the losses.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

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

// Connectionist temporal classification: inputs are [time, batch, classes];
// labels and decoded sequences are sparse [batch, time].

// The batch's size, of inputs and sequence_length alike.
Status CtcBatch(InferenceContext* c, int length_input, int64_t* batch,
                PartialTensorShape* inputs) {
  PartialTensorShape length;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, inputs));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(length_input), 1, &length));
  return c->MergeDims(InferenceContext::Dim(*inputs, 1),
                      InferenceContext::Dim(length, 0), batch);
}

Status CtcLossShape(InferenceContext* c) {
  PartialTensorShape inputs, indices, values;
  int64_t batch, unused;
  HR_RETURN_IF_ERROR(CtcBatch(c, 3, &batch, &inputs));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &indices));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &values));
  HR_RETURN_IF_ERROR(c->MergeDims(InferenceContext::Dim(indices, 0),
                                  InferenceContext::Dim(values, 0), &unused));
  c->set_output(0, InferenceContext::Vector(batch));
  if (c->RankKnown(inputs)) inputs.set_dim(1, batch);
  c->set_output(1, inputs);
  return OkStatus();
}

// Indices, values and shape of `paths` sparse matrices, then log_probability.
Status SetDecoded(InferenceContext* c, int paths, int64_t batch) {
  for (int p = 0; p < paths; ++p) {
    c->set_output(p, InferenceContext::Matrix(-1, 2));
    c->set_output(paths + p, InferenceContext::Vector(-1));
    c->set_output(2 * paths + p, InferenceContext::Vector(2));
  }
  c->set_output(3 * paths, InferenceContext::Matrix(batch, paths));
  return OkStatus();
}

Status CtcGreedyShape(InferenceContext* c) {
  PartialTensorShape inputs;
  int64_t batch;
  HR_RETURN_IF_ERROR(CtcBatch(c, 1, &batch, &inputs));
  return SetDecoded(c, 1, batch);
}

Status CtcBeamShape(InferenceContext* c) {
  PartialTensorShape inputs;
  int64_t batch;
  HR_RETURN_IF_ERROR(CtcBatch(c, 1, &batch, &inputs));
  return SetDecoded(c, (c->num_outputs() - 1) / 3, batch);
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

REGISTER_OP("CTCLoss")
    .Input("inputs: T")
    .Input("labels_indices: int64")
    .Input("labels_values: int32")
    .Input("sequence_length: int32")
    .Attr("preprocess_collapse_repeated: bool = false")
    .Attr("ctc_merge_repeated: bool = true")
    .Attr("ignore_longer_outputs_than_inputs: bool = false")
    .Output("loss: T")
    .Output("gradient: T")
    .Attr("T: {float, double} = DT_FLOAT")
    .SetShapeFn(CtcLossShape);

// As CTCLoss with class 0 as the blank.
REGISTER_OP("CTCLossV2")
    .Input("inputs: float")
    .Input("labels_indices: int64")
    .Input("labels_values: int32")
    .Input("sequence_length: int32")
    .Attr("preprocess_collapse_repeated: bool = false")
    .Attr("ctc_merge_repeated: bool = true")
    .Attr("ignore_longer_outputs_than_inputs: bool = false")
    .Output("loss: float")
    .Output("gradient: float")
    .SetShapeFn(CtcLossShape);

REGISTER_OP("CTCGreedyDecoder")
    .Input("inputs: T")
    .Input("sequence_length: int32")
    .Attr("merge_repeated: bool = false")
    .Attr("blank_index: int = -1")
    .Output("decoded_indices: int64")
    .Output("decoded_values: int64")
    .Output("decoded_shape: int64")
    .Output("log_probability: T")
    .Attr("T: {float, double} = DT_FLOAT")
    .SetShapeFn(CtcGreedyShape);

REGISTER_OP("CTCBeamSearchDecoder")
    .Input("inputs: T")
    .Input("sequence_length: int32")
    .Attr("beam_width: int >= 1")
    .Attr("top_paths: int >= 1")
    .Attr("merge_repeated: bool = true")
    .Output("decoded_indices: top_paths * int64")
    .Output("decoded_values: top_paths * int64")
    .Output("decoded_shape: top_paths * int64")
    .Output("log_probability: T")
    .Attr("T: {float, double} = DT_FLOAT")
    .SetShapeFn(CtcBeamShape);

}  // namespace headrace
