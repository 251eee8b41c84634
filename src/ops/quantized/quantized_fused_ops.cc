// Convolutions and matrix products of quantised numbers with what follows fused
// to them: bias, another tensor added, Relu, Requantize.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

// Output 0 is known. Whatever its name says is an end of a range is a scalar
// or a vector.
Status FusedInputs(InferenceContext* c) {
  PartialTensorShape unused;
  int64_t depth;
  for (int i = 2; i < c->num_inputs(); ++i) {
    const std::string& name = c->op_def().inputs[i].name;
    if (name.rfind("min_", 0) == 0 || name.rfind("max_", 0) == 0) {
      HR_RETURN_IF_ERROR(c->WithRankAtMost(c->input(i), 1, &unused));
    } else if (name == "bias") {
      HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &unused));
      HR_RETURN_IF_ERROR(
          c->MergeDims(c->Dim(unused, 0), c->Dim(c->output(0), -1), &depth));
    } else {
      HR_RETURN_IF_ERROR(c->Merge(c->input(i), c->output(0), &unused));
    }
  }
  return OkStatus();
}

// Outputs 1 and 2 are what is given for them, else of the filter's range's
// shape.
Status FusedConvRanges(InferenceContext* c) {
  HR_RETURN_IF_ERROR(FusedInputs(c));
  int filter_range = 0;
  bool given = false;
  for (int i = 2; i < c->num_inputs(); ++i) {
    const std::string& name = c->op_def().inputs[i].name;
    if (name == "min_filter") filter_range = i;
    given = given || name == "min_freezed_output";
  }
  for (int i = 1; i < c->num_outputs(); ++i) {
    c->set_output(i, given ? c->Scalar() : c->input(filter_range));
  }
  return OkStatus();
}

Status FusedConvShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::UngroupedConv2DShape(c));
  return FusedConvRanges(c);
}
Status FusedDepthwiseConvShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::DepthwiseConv2DNativeShape(c));
  return FusedConvRanges(c);
}

Status FusedMatMulShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(shape_inference::MatMulShape(c));
  HR_RETURN_IF_ERROR(FusedInputs(c));
  for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, c->Scalar());
  return OkStatus();
}

#define QUANTIZED "{qint8, quint8, qint32, qint16, quint16}"
#define FLOAT_BIAS .Input("bias: float")
#define ANY_BIAS .Input("bias: Tbias").Attr("Tbias: {float, qint32}")
#define GIVEN_RANGE \
  .Input("min_freezed_output: float").Input("max_freezed_output: float")
#define QUANTIZED_SUMMAND          \
  .Input("summand: Tsummand")      \
      .Input("min_summand: float") \
      .Input("max_summand: float") \
      .Attr("Tsummand: " QUANTIZED)
#define PADDING_LIST .Attr("padding_list: list(int) = []")

// MORE inputs follow the ranges, LIST is PADDING_LIST or nothing.
#define CONV_OP(NAME, BIAS, MORE, TYPE, LIST, SHAPE_FN)           \
  REGISTER_OP(NAME)                                               \
      .Input("input: Tinput")                                     \
      .Input("filter: Tfilter") BIAS.Input("min_input: float")    \
      .Input("max_input: float")                                  \
      .Input("min_filter: float")                                 \
      .Input("max_filter: float") MORE.Output("output: out_type") \
      .Output("min_output: float")                                \
      .Output("max_output: float")                                \
      .Attr("Tinput: " QUANTIZED)                                 \
      .Attr("Tfilter: " QUANTIZED)                                \
      .Attr("out_type: " QUANTIZED " = " TYPE)                    \
      .Attr("strides: list(int)")                                 \
      .Attr("padding: {'SAME', 'VALID'}")                         \
      .Attr("dilations: list(int) = [1, 1, 1, 1]") LIST.SetShapeFn(SHAPE_FN)

CONV_OP("QuantizedConv2DPerChannel", , , "DT_QINT32", , FusedConvShape);
CONV_OP("QuantizedConv2DAndRelu", , , "DT_QINT32", PADDING_LIST,
        FusedConvShape);
CONV_OP("QuantizedConv2DAndReluAndRequantize", , GIVEN_RANGE, "DT_QUINT8",
        PADDING_LIST, FusedConvShape);
CONV_OP("QuantizedConv2DAndRequantize", , GIVEN_RANGE, "DT_QINT8", PADDING_LIST,
        FusedConvShape);
CONV_OP("QuantizedConv2DWithBias", FLOAT_BIAS, , "DT_QINT32", PADDING_LIST,
        FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasAndRelu", FLOAT_BIAS, , "DT_QINT32",
        PADDING_LIST, FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasAndReluAndRequantize", ANY_BIAS, GIVEN_RANGE,
        "DT_QUINT8", PADDING_LIST, FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasAndRequantize", ANY_BIAS, GIVEN_RANGE,
        "DT_QINT8", PADDING_LIST, FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasSumAndRelu", FLOAT_BIAS,
        .Input("summand: float"), "DT_QINT32", PADDING_LIST, FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasSumAndReluAndRequantize", ANY_BIAS,
        GIVEN_RANGE QUANTIZED_SUMMAND, "DT_QUINT8", PADDING_LIST,
        FusedConvShape);
CONV_OP("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", ANY_BIAS,
        GIVEN_RANGE QUANTIZED_SUMMAND, "DT_QUINT8", PADDING_LIST,
        FusedConvShape);
CONV_OP("QuantizedDepthwiseConv2D", , , "DT_QINT32", , FusedDepthwiseConvShape);
CONV_OP("QuantizedDepthwiseConv2DWithBias", FLOAT_BIAS, , "DT_QINT32", ,
        FusedDepthwiseConvShape);
CONV_OP("QuantizedDepthwiseConv2DWithBiasAndRelu", FLOAT_BIAS, , "DT_QINT32",
        PADDING_LIST, FusedDepthwiseConvShape);
CONV_OP("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", ANY_BIAS,
        GIVEN_RANGE, "DT_QUINT8", PADDING_LIST, FusedDepthwiseConvShape);
#undef CONV_OP

#define MATMUL_OP(NAME, BIAS, MORE)                                    \
  REGISTER_OP(NAME)                                                    \
      .Input("a: T1")                                                  \
      .Input("b: T2") BIAS.Input("min_a: float")                       \
      .Input("max_a: float")                                           \
      .Input("min_b: float")                                           \
      .Input("max_b: float") MORE.Output("out: Toutput")               \
      .Attr("T1: " QUANTIZED)                                          \
      .Attr("T2: " QUANTIZED)                                          \
      .Attr("transpose_a: bool = false")                               \
      .Attr("transpose_b: bool = false")                               \
      .Attr("input_quant_mode: {'MIN_FIRST', 'SCALED'} = 'MIN_FIRST'") \
      .SetShapeFn(FusedMatMulShape)
#define WITH_RANGE(TYPE)        \
  .Output("min_out: float")     \
      .Output("max_out: float") \
      .Attr("Toutput: " QUANTIZED " = " TYPE)

MATMUL_OP("QuantizedMatMulWithBias", ANY_BIAS, ) WITH_RANGE("DT_QINT32");
MATMUL_OP("QuantizedMatMulWithBiasAndRelu", FLOAT_BIAS, )
WITH_RANGE("DT_QINT32");
MATMUL_OP("QuantizedMatMulWithBiasAndRequantize", ANY_BIAS, GIVEN_RANGE)
WITH_RANGE("DT_QUINT8");
MATMUL_OP("QuantizedMatMulWithBiasAndReluAndRequantize", ANY_BIAS, GIVEN_RANGE)
WITH_RANGE("DT_QUINT8");
MATMUL_OP("QuantizedMatMulWithBiasAndDequantize", ANY_BIAS, GIVEN_RANGE)
    .Attr("Toutput: {float}");
#undef WITH_RANGE
#undef MATMUL_OP
#undef PADDING_LIST
#undef QUANTIZED_SUMMAND
#undef GIVEN_RANGE
#undef ANY_BIAS
#undef FLOAT_BIAS
#undef QUANTIZED

}  // namespace
}  // namespace headrace
