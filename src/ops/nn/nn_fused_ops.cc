// Schemas of the nodes that graph passes make of several: a convolution and
// what follows it element by element, chains of element-wise ops, activations,
// LSTM cells.
#include "framework/shape_fns/attention_labels.h"
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/conv_attrs.h"
#include "headrace/op.h"

namespace headrace {
namespace {

Status FusedConv2DShape(InferenceContext* c) {
  std::string filter_format;
  HR_RETURN_IF_ERROR(c->GetAttr("filter_format", &filter_format));
  if (filter_format != "HWIO") {
    return errors::Unimplemented("filter_format: got ", filter_format,
                                 ", wanted HWIO");
  }
  return shape_inference::Conv2DShape(c);
}

Status FusedConvChainShape(InferenceContext* c) {
  ConvChainAttrs attrs;
  HR_RETURN_IF_ERROR(ConvChainAttrs::Read(*c, &attrs));
  const int count = static_cast<int>(attrs.convs.size());
  PartialTensorShape image, filter;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &image));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(count), 4, &filter));
  int64_t size[2] = {image.dim_size(1), image.dim_size(2)};
  for (int i = 0; i < count; ++i) {
    const ConvAttrs& conv = attrs.convs[i];
    PartialTensorShape window;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(1 + i), 4, &window));
    for (int k = 0; k < 2; ++k) {
      const int64_t in = size[k];
      size[k] = -1;
      if (in < 0 || window.dim_size(k) <= 0) continue;
      int64_t before = 0, after = 0;
      if (conv.padding == Padding::kExplicit) {
        before = conv.explicit_paddings[2 * (1 + k)];
        after = conv.explicit_paddings[2 * (1 + k) + 1];
      }
      HR_RETURN_IF_ERROR(WindowedOutputSize(in, window.dim_size(k), 1,
                                            conv.stride(k), conv.padding,
                                            &size[k], &before, &after));
    }
  }
  c->set_output(0, PartialTensorShape({image.dim_size(0), size[0], size[1],
                                       filter.dim_size(3)}));
  return OkStatus();
}

Status AllLikeFirstInput(InferenceContext* c) {
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->input(0));
  return OkStatus();
}

Status ProductShapeShape(InferenceContext* c) {
  std::string labels;
  HR_RETURN_IF_ERROR(c->GetAttr("labels", &labels));
  const size_t arrow = labels.find("->");
  if (arrow == std::string::npos) {
    return errors::InvalidArgument("labels: got ", labels,
                                   ", wanted for example ath,ash->ats");
  }
  c->set_output(
      0, PartialTensorShape({static_cast<int64_t>(labels.size() - arrow - 2)}));
  return OkStatus();
}

Status FusedLstmShape(InferenceContext* c) {
  int64_t steps;
  HR_RETURN_IF_ERROR(c->GetAttr("num_steps", &steps));
  const int n = static_cast<int>(steps);
  bool rows_broadcast;
  HR_RETURN_IF_ERROR(c->GetAttr("rows_broadcast", &rows_broadcast));
  PartialTensorShape x, h_prev, cs_prev, w, b;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n), 2, &h_prev));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n + 1), 2, &cs_prev));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n + 2), 2, &w));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n + 3), 1, &b));
  int64_t rows = h_prev.dim_size(0), gates, cells;
  for (int i = 0; i < n; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 2, &x));
    if (rows_broadcast && rows != x.dim_size(0)) {
      rows = -1;
      continue;
    }
    HR_RETURN_IF_ERROR(c->MergeDims(rows, x.dim_size(0), &rows));
  }
  HR_RETURN_IF_ERROR(c->MergeDims(w.dim_size(1), b.dim_size(0), &gates));
  HR_RETURN_IF_ERROR(c->Divide(gates, 4, true, &cells));
  HR_RETURN_IF_ERROR(c->MergeDims(cells, cs_prev.dim_size(1), &cells));
  // One row of gates goes with any number of rows of cs_prev.
  if (rows == 1) rows = cs_prev.dim_size(0);
  for (int i = 0; i < 2 * n; ++i) {
    c->set_output(i, PartialTensorShape({rows, cells}));
  }
  return OkStatus();
}

}  // namespace

REGISTER_OP("_FusedConv2D")
    .Input("input: T")
    .Input("filter: T")
    .Input("args: TArgs")
    .Input("host_args: num_host_args * float")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double, int8, qint8}")
    .Attr("TArgs: list(type) >= 0")
    .Attr("num_args: int >= 0")
    .Attr("num_host_args: int >= 0 = 0")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("fused_ops: list(string) = []")
    .Attr("epsilon: float = 0.0001")
    .Attr("leakyrelu_alpha: float = 0.2")
    .SetShapeFn(FusedConv2DShape)
    .Layer(LayerKind::kConv2D);

REGISTER_OP("_FusedDepthwiseConv2dNative")
    .Input("input: T")
    .Input("filter: T")
    .Input("args: num_args * T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("num_args: int >= 0")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .Attr("fused_ops: list(string) = []")
    .Attr("epsilon: float = 0.0001")
    .Attr("leakyrelu_alpha: float = 0.2")
    .SetShapeFn(shape_inference::DepthwiseConv2DNativeShape)
    .Layer(LayerKind::kDepthwiseConv2D);

// Convolutions of NHWC images one after the other, and what is fused with each:
// "fused_ops" of the ith is a list as that of _FusedConv2D, joined by commas;
// "args" has the arguments of all of them in order.
REGISTER_OP("_FusedConvChain")
    .Input("input: T")
    .Input("filters: num_convs * T")
    .Input("args: num_args * T")
    .Output("output: T")
    .Attr("T: {float}")
    .Attr("num_convs: int >= 2")
    .Attr("num_args: int >= 0")
    .Attr("depthwise: list(bool)")
    .Attr("strides: list(int)")
    .Attr("paddings: list({'SAME', 'VALID', 'EXPLICIT'})")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("fused_ops: list(string)")
    .SetShapeFn(FusedConvChainShape);

// "ops" one after the other, the first on x. "sides" says of each where the
// next of "args" is: 0: it has one operand; 1: the second; 2: the first. They
// are ops whose schemas say Elementwise().
REGISTER_OP("_FusedElementwise")
    .Input("x: T")
    .Input("args: num_args * T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .Attr("num_args: int >= 0")
    .Attr("ops: list(string) >= 1")
    .Attr("sides: list(int)")
    .KeepsShape();

// Element-wise ops that read each other's results, in any form. Values are the
// inputs, then the results of "ops" in their order. "operands" has two numbers
// of values for each op, the second -1 where it has one operand; "results" says
// which ops' results are the outputs. All have the shape of input 0. Other
// inputs have that shape, too, or one element, or are rows (a shape that it
// ends with) or columns (that shape, but for a last dim of 1).
REGISTER_OP("_FusedElementwiseGroup")
    .Input("inputs: num_inputs * T")
    .Output("outputs: num_outputs * T")
    .Attr("T: {float, double}")
    .Attr("num_inputs: int >= 1")
    .Attr("num_outputs: int >= 1")
    .Attr("ops: list(string) >= 1")
    .Attr("operands: list(int)")
    .Attr("results: list(int)")
    .SetShapeFn(AllLikeFirstInput);

// Activations that graphs spell out by several ops: gelu, gelu by tanh, x
// sigmoid(x), x relu6(x + 3) / 6, x tanh(softplus(x)).
#define HR_REGISTER(NAME)         \
  REGISTER_OP(NAME)               \
      .Input("features: T")       \
      .Output("activations: T")   \
      .Attr("T: {float, double}") \
      .KeepsShape()               \
      .Elementwise()              \
      .Activation(ActivationFunction())
HR_REGISTER("_Gelu");
HR_REGISTER("_ApproximateGelu");
HR_REGISTER("_Swish");
HR_REGISTER("_HardSwish");
HR_REGISTER("_Mish");
#undef HR_REGISTER

// Normalizes over the last "axes" dims of x. "args": the scale, the offset.
REGISTER_OP("_FusedLayerNorm")
    .Input("x: T")
    .Input("args: num_args * T")
    .Output("y: T")
    .Attr("T: {float}")
    .Attr("num_args: int >= 0")
    .Attr("axes: int >= 1")
    .Attr("epsilon: float")
    .Attr("has_scale: bool")
    .Attr("has_offset: bool")
    .KeepsShape();

// softmax(mask(query key^T * scale)) value; attention_labels.h says what
// "labels" and "scores" are. "repeats": batch dims of size 1 are repeated.
// "steps" mask the scores x, one after another, each with the next of "args",
// whose dims are the last ones of the scores and are repeated:
//
//   add, sub, mul, div   x + a, x - a, x * a, x / a
//   where, where_not     x where a condition, the first of two args, is true or
//                        false, the second elsewhere
//   select, select_not   the same; args that are no scalars have all dims
REGISTER_OP("_FusedAttention")
    .Input("query: T")
    .Input("key: T")
    .Input("value: T")
    .Input("args: TArgs")
    .Output("output: T")
    .Attr("T: {float}")
    .Attr("TArgs: list(type) >= 0 = []")
    .Attr("labels: string")
    .Attr("scores: string")
    .Attr("scale: float = 1.0")
    .Attr("repeats: bool = false")
    .Attr("steps: list(string) = []")
    .SetShapeFn(shape_inference::FusedAttentionShape);

// The shape of the product of two tensors whose dims are the letters of
// "labels", as in abth,absh->abts. "repeats": sizes 1 are repeated.
REGISTER_OP("_ProductShape")
    .Input("x: T")
    .Input("y: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("labels: string")
    .Attr("repeats: bool = false")
    .Attr("out_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ProductShapeShape);

// Steps of a basic LSTM cell: the results of each go into the next. Of the four
// parts of the columns of w and b, gate_order tells which are the input gate,
// the new input, the forget gate and the output gate. With rows_broadcast, an x
// and what stands for h_prev beside it may have one row where the other has
// many.
REGISTER_OP("_FusedLSTM")
    .Input("x: num_steps * T")
    .Input("h_prev: T")
    .Input("cs_prev: T")
    .Input("w: T")
    .Input("b: T")
    .Output("cs: num_steps * T")
    .Output("h: num_steps * T")
    .Attr("T: {float}")
    .Attr("num_steps: int >= 1")
    .Attr("forget_bias: float = 0.0")
    .Attr("gate_order: list(int) = [0, 1, 2, 3]")
    .Attr("rows_broadcast: bool = false")
    .SetShapeFn(FusedLstmShape);

}  // namespace headrace
