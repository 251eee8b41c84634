// Fake quantisation: floats rounded as if stored in num_bits.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// Inputs first and first + 1, min and max, are scalars or, per channel, vectors
// as long as the last dim of the inputs.
Status CheckRange(InferenceContext* c, int first, bool per_channel,
                  Shape* inputs) {
  Shape range;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(first), per_channel, &range));
  HR_RETURN_IF_ERROR(c->Merge(range, c->input(first + 1), &range));
  if (!per_channel) return OkStatus();
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(*inputs, 1, inputs));
  if (inputs->unknown_rank()) return OkStatus();
  int64_t depth;
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(*inputs, -1), range.dim_size(0), &depth));
  return c->ReplaceDim(*inputs, -1, depth, inputs);
}

template <bool kPerChannel>
Status FakeQuantShape(InferenceContext* c) {
  Shape inputs = c->input(0);
  HR_RETURN_IF_ERROR(CheckRange(c, 1, kPerChannel, &inputs));
  c->set_output(0, inputs);
  return OkStatus();
}

template <bool kPerChannel>
Status FakeQuantGradientShape(InferenceContext* c) {
  Shape inputs;
  HR_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &inputs));
  HR_RETURN_IF_ERROR(CheckRange(c, 2, kPerChannel, &inputs));
  c->set_output(0, inputs);
  const Shape range = kPerChannel ? c->Vector(c->Dim(inputs, -1)) : c->Scalar();
  c->set_output(1, range);
  c->set_output(2, range);
  return OkStatus();
}

}  // namespace

REGISTER_OP("FakeQuantWithMinMaxArgs")
    .Input("inputs: float")
    .Output("outputs: float")
    .Attr("min: float = -6.0")
    .Attr("max: float = 6.0")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .KeepsShape();

REGISTER_OP("FakeQuantWithMinMaxArgsGradient")
    .Input("gradients: float")
    .Input("inputs: float")
    .Output("backprops: float")
    .Attr("min: float = -6.0")
    .Attr("max: float = 6.0")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .SetShapeFn(shape_inference::MergeBothInputs);

REGISTER_OP("FakeQuantWithMinMaxVars")
    .Input("inputs: float")
    .Input("min: float")
    .Input("max: float")
    .Output("outputs: float")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .SetShapeFn(FakeQuantShape<false>);

REGISTER_OP("FakeQuantWithMinMaxVarsGradient")
    .Input("gradients: float")
    .Input("inputs: float")
    .Input("min: float")
    .Input("max: float")
    .Output("backprops_wrt_input: float")
    .Output("backprop_wrt_min: float")
    .Output("backprop_wrt_max: float")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .SetShapeFn(FakeQuantGradientShape<false>);

REGISTER_OP("FakeQuantWithMinMaxVarsPerChannel")
    .Input("inputs: float")
    .Input("min: float")
    .Input("max: float")
    .Output("outputs: float")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .SetShapeFn(FakeQuantShape<true>);

REGISTER_OP("FakeQuantWithMinMaxVarsPerChannelGradient")
    .Input("gradients: float")
    .Input("inputs: float")
    .Input("min: float")
    .Input("max: float")
    .Output("backprops_wrt_input: float")
    .Output("backprop_wrt_min: float")
    .Output("backprop_wrt_max: float")
    .Attr("num_bits: int = 8")
    .Attr("narrow_range: bool = false")
    .SetShapeFn(FakeQuantGradientShape<true>);

}  // namespace headrace
