// Recurrent networks by cuDNN: schemas and shapes. The kernels are the GPU's;
// TensorFlow has none for the CPU either, so graphs that have these ops can be
// read, looked at and pruned, and placing one on a CPU is refused.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

Status CudnnRnnShape(InferenceContext* c) {
  Shape input, input_h, params;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &input_h));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &params));
  std::string direction, mode;
  HR_RETURN_IF_ERROR(c->GetAttr("direction", &direction));
  HR_RETURN_IF_ERROR(c->GetAttr("rnn_mode", &mode));
  int64_t units;
  HR_RETURN_IF_ERROR(c->Multiply(c->Dim(input_h, 2),
                                 direction == "bidirectional" ? 2 : 1, &units));
  c->set_output(0, Shape({c->Dim(input, 0), c->Dim(input, 1), units}));
  c->set_output(1, input_h);
  c->set_output(2, mode == "lstm" ? input_h : c->Scalar());
  return OkStatus();
}

// The gradients of input, input_h, input_c and params.
Status CudnnRnnBackpropShape(InferenceContext* c) {
  for (int i = 0; i < 4; ++i) c->set_output(i, c->input(i));
  return OkStatus();
}

Status ParamsSizeShape(InferenceContext* c) {
  c->set_output(0, c->Vector(1));
  return OkStatus();
}
}  // namespace

REGISTER_OP("CudnnRNN")
    .Input("input: T")
    .Input("input_h: T")
    .Input("input_c: T")
    .Input("params: T")
    .Output("output: T")
    .Output("output_h: T")
    .Output("output_c: T")
    .Output("reserve_space: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'")
    .Attr(
        "input_mode: {'linear_input', 'skip_input', 'auto_select'} = "
        "'linear_input'")
    .Attr("direction: {'unidirectional', 'bidirectional'} = 'unidirectional'")
    .Attr("dropout: float = 0.0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("is_training: bool = true")
    .SetIsStateful()
    .SetShapeFn(CudnnRnnShape)
    .IsRandom();

REGISTER_OP("CudnnRNNBackprop")
    .Input("input: T")
    .Input("input_h: T")
    .Input("input_c: T")
    .Input("params: T")
    .Input("output: T")
    .Input("output_h: T")
    .Input("output_c: T")
    .Input("output_backprop: T")
    .Input("output_h_backprop: T")
    .Input("output_c_backprop: T")
    .Input("reserve_space: T")
    .Output("input_backprop: T")
    .Output("input_h_backprop: T")
    .Output("input_c_backprop: T")
    .Output("params_backprop: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'")
    .Attr(
        "input_mode: {'linear_input', 'skip_input', 'auto_select'} = "
        "'linear_input'")
    .Attr("direction: {'unidirectional', 'bidirectional'} = 'unidirectional'")
    .Attr("dropout: float = 0.0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .SetIsStateful()
    .SetShapeFn(CudnnRnnBackpropShape)
    .IsRandom();

REGISTER_OP("CudnnRNNParamsSize")
    .Input("num_layers: int32")
    .Input("num_units: int32")
    .Input("input_size: int32")
    .Output("params_size: S")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("S: {int32, int64}")
    .Attr("rnn_mode: {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'} = 'lstm'")
    .Attr(
        "input_mode: {'linear_input', 'skip_input', 'auto_select'} = "
        "'linear_input'")
    .Attr("direction: {'unidirectional', 'bidirectional'} = 'unidirectional'")
    .Attr("dropout: float = 0.0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("num_proj: int = 0")
    .SetShapeFn(ParamsSizeShape);

}  // namespace headrace
