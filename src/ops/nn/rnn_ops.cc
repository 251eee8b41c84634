// Schemas of the fused recurrent cells.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// x [batch, input] and cs_prev or h_prev [batch, cell]: every output is
// [batch, cell].
Status CellShape(InferenceContext* c, int outputs) {
  Shape x, prev;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &x));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &prev));
  int64_t batch;
  HR_RETURN_IF_ERROR(c->MergeDims(InferenceContext::Dim(x, 0),
                                  InferenceContext::Dim(prev, 0), &batch));
  for (int i = 0; i < outputs; ++i) {
    c->set_output(
        i, InferenceContext::Matrix(batch, InferenceContext::Dim(prev, 1)));
  }
  return OkStatus();
}
// step_ids and parent_ids [time, batch, beam], a length for each batch, and a
// scalar: the output has the shape of step_ids.
Status GatherTreeShape(InferenceContext* c) {
  Shape steps, parents, lengths, end;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &steps));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &parents));
  HR_RETURN_IF_ERROR(c->Merge(steps, parents, &steps));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &lengths));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &end));
  int64_t batch;
  HR_RETURN_IF_ERROR(c->MergeDims(InferenceContext::Dim(steps, 1),
                                  InferenceContext::Dim(lengths, 0), &batch));
  HR_RETURN_IF_ERROR(c->ReplaceDim(steps, 1, batch, &steps));
  c->set_output(0, steps);
  return OkStatus();
}

Status LstmCellShape(InferenceContext* c) { return CellShape(c, 7); }
Status GruCellShape(InferenceContext* c) { return CellShape(c, 4); }

Status LstmCellGradShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CellShape(c, 1));
  const int64_t batch = InferenceContext::Dim(c->output(0), 0);
  const int64_t cell = InferenceContext::Dim(c->output(0), 1);
  int64_t gates;
  HR_RETURN_IF_ERROR(c->Multiply(cell, 4, &gates));
  c->set_output(1, InferenceContext::Matrix(batch, gates));
  for (int i = 2; i < 5; ++i) {
    c->set_output(i, InferenceContext::Vector(cell));
  }
  return OkStatus();
}

Status GruCellGradShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(CellShape(c, 3));
  const Shape cell = c->output(1);
  Shape x, gate_weights;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &x));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &gate_weights));
  int64_t gates = InferenceContext::Dim(gate_weights, 1);
  if (gates < 0) {
    HR_RETURN_IF_ERROR(c->Multiply(InferenceContext::Dim(cell, 1), 2, &gates));
  }
  c->set_output(0, x);
  c->set_output(
      3, InferenceContext::Matrix(InferenceContext::Dim(cell, 0), gates));
  return OkStatus();
}

// x [time, batch, input], b [4 * cell]: every output is [time, batch, cell].
Status BlockLstmShape(InferenceContext* c) {
  Shape x, b;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &x));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(8), 1, &b));
  int64_t cell;
  HR_RETURN_IF_ERROR(c->Divide(InferenceContext::Dim(b, 0), 4, true, &cell));
  const Shape output(
      {InferenceContext::Dim(x, 0), InferenceContext::Dim(x, 1), cell});
  for (int i = 0; i < 7; ++i) c->set_output(i, output);
  return OkStatus();
}

// Outputs: the gradients of x, cs_prev, h_prev, w, wci, wcf, wco, b.
Status BlockLstmGradShape(InferenceContext* c) {
  const int ranks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < 8; ++i) {
    Shape s;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(1 + i), ranks[i], &s));
    c->set_output(i, s);
  }
  return OkStatus();
}

}  // namespace

REGISTER_OP("LSTMBlockCell")
    .Input("x: T")
    .Input("cs_prev: T")
    .Input("h_prev: T")
    .Input("w: T")
    .Input("wci: T")
    .Input("wcf: T")
    .Input("wco: T")
    .Input("b: T")
    .Output("i: T")
    .Output("cs: T")
    .Output("f: T")
    .Output("o: T")
    .Output("ci: T")
    .Output("co: T")
    .Output("h: T")
    .Attr("forget_bias: float = 1.0")
    .Attr("cell_clip: float = 3.0")
    .Attr("use_peephole: bool = false")
    .Attr("T: {half, float}")
    .SetShapeFn(LstmCellShape);

REGISTER_OP("LSTMBlockCellGrad")
    .Input("x: T")
    .Input("cs_prev: T")
    .Input("h_prev: T")
    .Input("w: T")
    .Input("wci: T")
    .Input("wcf: T")
    .Input("wco: T")
    .Input("b: T")
    .Input("i: T")
    .Input("cs: T")
    .Input("f: T")
    .Input("o: T")
    .Input("ci: T")
    .Input("co: T")
    .Input("cs_grad: T")
    .Input("h_grad: T")
    .Output("cs_prev_grad: T")
    .Output("dicfo: T")
    .Output("wci_grad: T")
    .Output("wcf_grad: T")
    .Output("wco_grad: T")
    .Attr("use_peephole: bool")
    .Attr("T: {half, float}")
    .SetShapeFn(LstmCellGradShape);

REGISTER_OP("BlockLSTM")
    .Input("seq_len_max: int64")
    .Input("x: T")
    .Input("cs_prev: T")
    .Input("h_prev: T")
    .Input("w: T")
    .Input("wci: T")
    .Input("wcf: T")
    .Input("wco: T")
    .Input("b: T")
    .Output("i: T")
    .Output("cs: T")
    .Output("f: T")
    .Output("o: T")
    .Output("ci: T")
    .Output("co: T")
    .Output("h: T")
    .Attr("forget_bias: float = 1.0")
    .Attr("cell_clip: float = 3.0")
    .Attr("use_peephole: bool = false")
    .Attr("T: {half, float}")
    .SetShapeFn(BlockLstmShape);

REGISTER_OP("BlockLSTMV2")
    .Input("seq_len_max: int64")
    .Input("x: T")
    .Input("cs_prev: T")
    .Input("h_prev: T")
    .Input("w: T")
    .Input("wci: T")
    .Input("wcf: T")
    .Input("wco: T")
    .Input("b: T")
    .Output("i: T")
    .Output("cs: T")
    .Output("f: T")
    .Output("o: T")
    .Output("ci: T")
    .Output("co: T")
    .Output("h: T")
    .Attr("cell_clip: float = 0.0")
    .Attr("use_peephole: bool = false")
    .Attr("T: {half, float}")
    .SetShapeFn(BlockLstmShape);

#define HR_BLOCK_LSTM_GRAD(name)   \
  REGISTER_OP(name)                \
      .Input("seq_len_max: int64") \
      .Input("x: T")               \
      .Input("cs_prev: T")         \
      .Input("h_prev: T")          \
      .Input("w: T")               \
      .Input("wci: T")             \
      .Input("wcf: T")             \
      .Input("wco: T")             \
      .Input("b: T")               \
      .Input("i: T")               \
      .Input("cs: T")              \
      .Input("f: T")               \
      .Input("o: T")               \
      .Input("ci: T")              \
      .Input("co: T")              \
      .Input("h: T")               \
      .Input("cs_grad: T")         \
      .Input("h_grad: T")          \
      .Output("x_grad: T")         \
      .Output("cs_prev_grad: T")   \
      .Output("h_prev_grad: T")    \
      .Output("w_grad: T")         \
      .Output("wci_grad: T")       \
      .Output("wcf_grad: T")       \
      .Output("wco_grad: T")       \
      .Output("b_grad: T")         \
      .Attr("use_peephole: bool")  \
      .Attr("T: {half, float}")    \
      .SetShapeFn(BlockLstmGradShape)

HR_BLOCK_LSTM_GRAD("BlockLSTMGrad");
HR_BLOCK_LSTM_GRAD("BlockLSTMGradV2");

REGISTER_OP("GatherTree")
    .Input("step_ids: T")
    .Input("parent_ids: T")
    .Input("max_sequence_lengths: int32")
    .Input("end_token: T")
    .Output("beams: T")
    .Attr("T: {int32}")
    .SetShapeFn(GatherTreeShape);

REGISTER_OP("GRUBlockCell")
    .Input("x: T")
    .Input("h_prev: T")
    .Input("w_ru: T")
    .Input("w_c: T")
    .Input("b_ru: T")
    .Input("b_c: T")
    .Output("r: T")
    .Output("u: T")
    .Output("c: T")
    .Output("h: T")
    .Attr("T: {float}")
    .SetShapeFn(GruCellShape);

REGISTER_OP("GRUBlockCellGrad")
    .Input("x: T")
    .Input("h_prev: T")
    .Input("w_ru: T")
    .Input("w_c: T")
    .Input("b_ru: T")
    .Input("b_c: T")
    .Input("r: T")
    .Input("u: T")
    .Input("c: T")
    .Input("d_h: T")
    .Output("d_x: T")
    .Output("d_h_prev: T")
    .Output("d_c_bar: T")
    .Output("d_r_bar_u_bar: T")
    .Attr("T: {float}")
    .SetShapeFn(GruCellGradShape);
#undef HR_BLOCK_LSTM_GRAD

}  // namespace headrace
