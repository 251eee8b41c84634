// Floats as integers of few bits, and back.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Inputs `first` and first + 1, the ends of ranges: one element each, or one
// for each slice of input 0 along the attr axis. *ends: of such an output. Of
// one element, `scalars` says whether its shape is refused here or in the run.
Status RangeShape(InferenceContext* c, int first, bool scalars, Shape* ends) {
  int64_t axis = -1;
  if (c->op_def().FindAttr("axis") >= 0) {
    HR_RETURN_IF_ERROR(c->GetAttr("axis", &axis));
  }
  *ends = c->Scalar();
  if (axis >= 0) {
    Shape in;
    HR_RETURN_IF_ERROR(
        c->WithRankAtLeast(c->input(0), static_cast<int>(axis) + 1, &in));
    *ends =
        c->Vector(c->RankKnown(in) ? c->Dim(in, static_cast<int>(axis)) : -1);
  } else if (!scalars) {
    return OkStatus();
  }
  for (int i = first; i < first + 2; ++i) {
    HR_RETURN_IF_ERROR(c->Merge(*ends, c->input(i), ends));
  }
  return OkStatus();
}

Status QuantizeShape(InferenceContext* c) {
  Shape ends;
  HR_RETURN_IF_ERROR(RangeShape(c, 1, false, &ends));
  c->set_output(0, c->input(0));
  for (int i = 1; i < c->num_outputs(); ++i) c->set_output(i, ends);
  return OkStatus();
}

Status GradShape(InferenceContext* c) {
  Shape both, ends;
  HR_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &both));
  HR_RETURN_IF_ERROR(RangeShape(c, 2, true, &ends));
  c->set_output(0, both);
  c->set_output(1, ends);
  c->set_output(2, ends);
  return OkStatus();
}

REGISTER_OP("QuantizeV2")
    .Input("input: float")
    .Input("min_range: float")
    .Input("max_range: float")
    .Output("output: T")
    .Output("output_min: float")
    .Output("output_max: float")
    .Attr("T: {qint8, quint8, qint32, qint16, quint16}")
    .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
    .Attr(
        "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = "
        "'HALF_AWAY_FROM_ZERO'")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .Attr("ensure_minimum_range: float = 0.01")
    .SetShapeFn(QuantizeShape);

REGISTER_OP("Dequantize")
    .Input("input: T")
    .Input("min_range: float")
    .Input("max_range: float")
    .Output("output: dtype")
    .Attr("T: {qint8, quint8, qint32, qint16, quint16}")
    .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .Attr("dtype: {bfloat16, float} = DT_FLOAT")
    .SetShapeFn(QuantizeShape);

REGISTER_OP("QuantizeAndDequantize")
    .Input("input: T")
    .Output("output: T")
    .Attr("signed_input: bool = true")
    .Attr("num_bits: int = 8")
    .Attr("range_given: bool = false")
    .Attr("input_min: float = 0")
    .Attr("input_max: float = 0")
    .Attr("T: {bfloat16, half, float, double}")
    .Deprecated(22, "Replaced by QuantizeAndDequantizeV2")
    .KeepsShape();

#define QUANTIZE_AND_DEQUANTIZE_OP(NAME)                                \
  REGISTER_OP(NAME)                                                     \
      .Input("input: T")                                                \
      .Input("input_min: T")                                            \
      .Input("input_max: T")                                            \
      .Output("output: T")                                              \
      .Attr("signed_input: bool = true")                                \
      .Attr("num_bits: int = 8")                                        \
      .Attr("range_given: bool = false")                                \
      .Attr("T: {bfloat16, half, float, double}")                       \
      .Attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'") \
      .Attr("narrow_range: bool = false")                               \
      .Attr("axis: int = -1")                                           \
      .SetShapeFn(QuantizeShape)
QUANTIZE_AND_DEQUANTIZE_OP("QuantizeAndDequantizeV2");
QUANTIZE_AND_DEQUANTIZE_OP("QuantizeAndDequantizeV4");
#undef QUANTIZE_AND_DEQUANTIZE_OP

REGISTER_OP("QuantizeAndDequantizeV3")
    .Input("input: T")
    .Input("input_min: T")
    .Input("input_max: T")
    .Input("num_bits: int32")
    .Output("output: T")
    .Attr("signed_input: bool = true")
    .Attr("range_given: bool = true")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("narrow_range: bool = false")
    .Attr("axis: int = -1")
    .SetShapeFn(QuantizeShape);

REGISTER_OP("QuantizeAndDequantizeV4Grad")
    .Input("gradients: T")
    .Input("input: T")
    .Input("input_min: T")
    .Input("input_max: T")
    .Output("input_backprop: T")
    .Output("input_min_backprop: T")
    .Output("input_max_backprop: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("axis: int = -1")
    .SetShapeFn(GradShape);

}  // namespace
}  // namespace headrace
