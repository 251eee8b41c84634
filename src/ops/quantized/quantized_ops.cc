// Arithmetic on quantised numbers: beside each tensor go the ends of its range.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/window_shape.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Inputs from `first` on are ends of ranges. So are outputs 1 and 2, if there
// are any.
Status RangeEnds(InferenceContext* c, int first) {
  Shape unused;
  for (int i = first; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &unused));
  }
  for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
  return OkStatus();
}

Status UnchangedWithRange(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return RangeEnds(c, 1);
}

Status RequantizationRangeShape(InferenceContext* c) {
  c->set_output(0, c->Scalar());
  return RangeEnds(c, 1);
}

Status BroadcastWithRange(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::BroadcastBinaryOp(c));
  return RangeEnds(c, 2);
}

Status BiasAddWithRange(InferenceContext* c) {
  Shape in, bias;
  int64_t depth;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 2, &in));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &bias));
  if (c->RankKnown(in)) {
    HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(in, -1), c->Dim(bias, 0), &depth));
  }
  c->set_output(0, in);
  return RangeEnds(c, 2);
}

Status MatMulWithRange(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::MatMulShape(c));
  return RangeEnds(c, 2);
}

// A window of these sizes moves over the rows and columns of input 0.
Status WindowShape(InferenceContext* c, int64_t rows, int64_t columns,
                   int64_t depth) {
  Shape in;
  std::vector<int64_t> strides;
  std::string text;
  Padding padding;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->GetAttr("strides", &strides));
  HR_RETURN_IF_ERROR(c->GetAttr("padding", &text));
  HR_RETURN_IF_ERROR(ParsePadding(text, &padding));
  if (strides.size() != 4) {
    return errors::InvalidArgument("strides must have 4 elements, got ",
                                   strides.size());
  }
  const int64_t window[2] = {rows, columns};
  int64_t size[2] = {-1, -1};
  for (int d = 0; d < 2; ++d) {
    int64_t before, after;
    const int64_t have = c->Dim(in, 1 + d);
    if (have < 0 || window[d] < 0) continue;
    HR_RETURN_IF_ERROR(CheckWindowFits(have, window[d], 1, padding));
    HR_RETURN_IF_ERROR(WindowedOutputSize(have, window[d], 1, strides[1 + d],
                                          padding, &size[d], &before, &after));
  }
  c->set_output(0, Shape({c->Dim(in, 0), size[0], size[1], depth}));
  return OkStatus();
}

Status ConvWithRange(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::UngroupedConv2DShape(c));
  return RangeEnds(c, 2);
}

Status PoolWithRange(InferenceContext* c) {
  Shape in;
  std::vector<int64_t> size;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->GetAttr("ksize", &size));
  if (size.size() != 4) {
    return errors::InvalidArgument("ksize must have 4 elements, got ",
                                   size.size());
  }
  HR_RETURN_IF_ERROR(WindowShape(c, size[1], size[2], c->Dim(in, 3)));
  return RangeEnds(c, 1);
}

// A -1 stays unknown.
Status ReshapeWithRange(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(1, &shape));
  c->set_output(0, shape);
  return RangeEnds(c, 2);
}

Status ConcatWithRange(InferenceContext* c) {
  c->set_output(0, Shape());
  return RangeEnds(c, (c->num_inputs() - 1) / 3 + 1);
}

// One range for each channel, the last dimension of input 0.
Status ChannelRanges(InferenceContext* c) {
  Shape in, low, high;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(1), 1, &low));
  HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(2), 1, &high));
  return c->Merge(low, high, &low);
}

Status RequantizePerChannelShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ChannelRanges(c));
  c->set_output(0, c->input(0));
  return RangeEnds(c, 3);
}

Status RequantizationRangePerChannelShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(ChannelRanges(c));
  c->set_output(0, c->Scalar());
  c->set_output(1, c->Scalar());
  return OkStatus();
}

Status ResizeWithRange(InferenceContext* c) {
  Shape images, size;
  int64_t unused, height = -1, width = -1;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &size));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(size, 0), 2, &unused));
  std::vector<int64_t> given;
  if (c->IntInputs(1, &given) && given.size() == 2) {
    height = given[0];
    width = given[1];
  }
  c->set_output(0,
                Shape({c->Dim(images, 0), height, width, c->Dim(images, 3)}));
  return RangeEnds(c, 2);
}

Status BatchNormWithRange(InferenceContext* c) {
  Shape in, vector;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  int64_t depth = c->Dim(in, 3);
  for (const int i : {3, 6, 9, 12}) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &vector));
    HR_RETURN_IF_ERROR(c->MergeDims(depth, c->Dim(vector, 0), &depth));
  }
  c->set_output(0, Shape({c->Dim(in, 0), c->Dim(in, 1), c->Dim(in, 2), depth}));
  c->set_output(1, c->Scalar());
  c->set_output(2, c->Scalar());
  return OkStatus();
}

Status InstanceNormWithRange(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  c->set_output(0, in);
  return RangeEnds(c, 1);
}

#define QUANTIZED "{qint8, quint8, qint32, qint16, quint16}"

#define SHRINK_OP(NAME)          \
  REGISTER_OP(NAME)              \
      .Input("input: Tinput")    \
      .Input("input_min: float") \
      .Input("input_max: float") \
      .Attr("Tinput: " QUANTIZED)
SHRINK_OP("QuantizeDownAndShrinkRange")
    .Output("output: out_type")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("out_type: " QUANTIZED)
    .SetShapeFn(UnchangedWithRange);
SHRINK_OP("Requantize")
    .Input("requested_output_min: float")
    .Input("requested_output_max: float")
    .Output("output: out_type")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("out_type: " QUANTIZED)
    .SetShapeFn(UnchangedWithRange);
SHRINK_OP("RequantizationRange")
    .Output("output_min: float")
    .Output("output_max: float")
    .SetShapeFn(RequantizationRangeShape);
#undef SHRINK_OP

#define SUM_OP(NAME)                              \
  REGISTER_OP(NAME)                               \
      .Input("x: T1")                             \
      .Input("y: T2")                             \
      .Input("min_x: float")                      \
      .Input("max_x: float")                      \
      .Input("min_y: float")                      \
      .Input("max_y: float")                      \
      .Output("z: Toutput")                       \
      .Output("min_z: float")                     \
      .Output("max_z: float")                     \
      .Attr("T1: " QUANTIZED)                     \
      .Attr("T2: " QUANTIZED)                     \
      .Attr("Toutput: " QUANTIZED " = DT_QINT32") \
      .SetShapeFn(BroadcastWithRange)
SUM_OP("QuantizedAdd");
SUM_OP("QuantizedMul");
#undef SUM_OP

#define RELU_OP(NAME, BOUND)                                        \
  REGISTER_OP(NAME)                                                 \
      .Input("features: Tinput") BOUND.Input("min_features: float") \
      .Input("max_features: float")                                 \
      .Output("activations: out_type")                              \
      .Output("min_activations: float")                             \
      .Output("max_activations: float")                             \
      .Attr("Tinput: " QUANTIZED)                                   \
      .Attr("out_type: " QUANTIZED " = DT_QUINT8")                  \
      .SetShapeFn(UnchangedWithRange)
RELU_OP("QuantizedRelu", );
RELU_OP("QuantizedRelu6", );
RELU_OP("QuantizedReluX", .Input("max_value: float"));
#undef RELU_OP

REGISTER_OP("QuantizedReshape")
    .Input("tensor: T")
    .Input("shape: Tshape")
    .Input("input_min: float")
    .Input("input_max: float")
    .Output("output: T")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("T: type")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(ReshapeWithRange);

REGISTER_OP("QuantizedBiasAdd")
    .Input("input: T1")
    .Input("bias: T2")
    .Input("min_input: float")
    .Input("max_input: float")
    .Input("min_bias: float")
    .Input("max_bias: float")
    .Output("output: out_type")
    .Output("min_out: float")
    .Output("max_out: float")
    .Attr("T1: " QUANTIZED)
    .Attr("T2: " QUANTIZED)
    .Attr("out_type: " QUANTIZED)
    .SetShapeFn(BiasAddWithRange);

REGISTER_OP("QuantizedMatMul")
    .Input("a: T1")
    .Input("b: T2")
    .Input("min_a: float")
    .Input("max_a: float")
    .Input("min_b: float")
    .Input("max_b: float")
    .Output("out: Toutput")
    .Output("min_out: float")
    .Output("max_out: float")
    .Attr("T1: " QUANTIZED)
    .Attr("T2: " QUANTIZED)
    .Attr("Toutput: " QUANTIZED " = DT_QINT32")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .Attr("Tactivation: " QUANTIZED " = DT_QUINT8")
    .SetShapeFn(MatMulWithRange);

REGISTER_OP("QuantizedConv2D")
    .Input("input: Tinput")
    .Input("filter: Tfilter")
    .Input("min_input: float")
    .Input("max_input: float")
    .Input("min_filter: float")
    .Input("max_filter: float")
    .Output("output: out_type")
    .Output("min_output: float")
    .Output("max_output: float")
    .Attr("Tinput: " QUANTIZED)
    .Attr("Tfilter: " QUANTIZED)
    .Attr("out_type: " QUANTIZED " = DT_QINT32")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ConvWithRange);

#define POOL_OP(NAME)                     \
  REGISTER_OP(NAME)                       \
      .Input("input: T")                  \
      .Input("min_input: float")          \
      .Input("max_input: float")          \
      .Output("output: T")                \
      .Output("min_output: float")        \
      .Output("max_output: float")        \
      .Attr("T: " QUANTIZED)              \
      .Attr("ksize: list(int)")           \
      .Attr("strides: list(int)")         \
      .Attr("padding: {'SAME', 'VALID'}") \
      .SetShapeFn(PoolWithRange)
POOL_OP("QuantizedMaxPool");
POOL_OP("QuantizedAvgPool");
#undef POOL_OP

REGISTER_OP("QuantizedConcat")
    .Input("concat_dim: int32")
    .Input("values: N * T")
    .Input("input_mins: N * float")
    .Input("input_maxes: N * float")
    .Output("output: T")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .SetShapeFn(ConcatWithRange);
REGISTER_OP("QuantizedConcatV2")
    .Input("values: N * T")
    .Input("axis: Tidx")
    .Input("input_mins: N * float")
    .Input("input_maxes: N * float")
    .Output("output: T")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .Attr("Tidx: {int32, int64} = DT_INT32")
    .SetShapeFn(ConcatWithRange);

REGISTER_OP("RequantizePerChannel")
    .Input("input: T")
    .Input("input_min: float")
    .Input("input_max: float")
    .Input("requested_output_min: float")
    .Input("requested_output_max: float")
    .Output("output: out_type")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("T: " QUANTIZED " = DT_QINT32")
    .Attr("out_type: " QUANTIZED " = DT_QUINT8")
    .SetShapeFn(RequantizePerChannelShape);
REGISTER_OP("RequantizationRangePerChannel")
    .Input("input: T")
    .Input("input_min: float")
    .Input("input_max: float")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("T: " QUANTIZED " = DT_QINT32")
    .Attr("clip_value_max: float")
    .SetShapeFn(RequantizationRangePerChannelShape);

REGISTER_OP("QuantizedResizeBilinear")
    .Input("images: T")
    .Input("size: int32")
    .Input("min: float")
    .Input("max: float")
    .Output("resized_images: T")
    .Output("out_min: float")
    .Output("out_max: float")
    .Attr("T: {quint8, qint32, float}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeWithRange);

REGISTER_OP("QuantizedBatchNormWithGlobalNormalization")
    .Input("t: Tinput")
    .Input("t_min: float")
    .Input("t_max: float")
    .Input("m: Tinput")
    .Input("m_min: float")
    .Input("m_max: float")
    .Input("v: Tinput")
    .Input("v_min: float")
    .Input("v_max: float")
    .Input("beta: Tinput")
    .Input("beta_min: float")
    .Input("beta_max: float")
    .Input("gamma: Tinput")
    .Input("gamma_min: float")
    .Input("gamma_max: float")
    .Output("result: out_type")
    .Output("result_min: float")
    .Output("result_max: float")
    .Attr("Tinput: " QUANTIZED)
    .Attr("out_type: " QUANTIZED)
    .Attr("variance_epsilon: float")
    .Attr("scale_after_normalization: bool")
    .SetShapeFn(BatchNormWithRange);

REGISTER_OP("QuantizedInstanceNorm")
    .Input("x: T")
    .Input("x_min: float")
    .Input("x_max: float")
    .Output("y: T")
    .Output("y_min: float")
    .Output("y_max: float")
    .Attr("T: " QUANTIZED)
    .Attr("output_range_given: bool = false")
    .Attr("given_y_min: float = 0")
    .Attr("given_y_max: float = 0")
    .Attr("variance_epsilon: float = 1e-05")
    .Attr("min_separation: float = 0.001")
    .SetShapeFn(InstanceNormWithRange);
#undef QUANTIZED

}  // namespace
}  // namespace headrace
