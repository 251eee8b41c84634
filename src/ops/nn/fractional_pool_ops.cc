// Schemas of pooling with windows whose sizes are drawn.
#include <cmath>

#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

Status FractionalPoolShape(InferenceContext* c) {
  Shape in;
  std::vector<float> ratio;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  HR_RETURN_IF_ERROR(c->GetAttr("pooling_ratio", &ratio));
  if (ratio.size() != 4) {
    return errors::InvalidArgument("pooling_ratio must have 4 elements, got ",
                                   ratio.size());
  }
  int64_t size[4];
  for (int d = 0; d < 4; ++d) {
    // The kernel would not take it, and NaN is no number of windows.
    if (!std::isfinite(ratio[d]) || ratio[d] < 1) {
      return errors::InvalidArgument(
          "pooling_ratio cannot be smaller than 1, got: ", ratio[d]);
    }
    size[d] = c->Dim(in, d);
    if (size[d] < 0 || ratio[d] == 1) continue;
    size[d] = static_cast<int64_t>(
        std::floor(static_cast<float>(size[d]) / ratio[d]));
  }
  c->set_output(0, Shape({size[0], size[1], size[2], size[3]}));
  for (int d : {1, 2}) {
    int64_t ends = -1;
    HR_RETURN_IF_ERROR(c->Add(size[d], 1, &ends));
    c->set_output(d, c->Vector(ends));
  }
  return OkStatus();
}

Status FractionalMaxPoolGradShape(InferenceContext* c) {
  Shape in;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &in));
  c->set_output(0, in);
  return OkStatus();
}

Status FractionalAvgPoolGradShape(InferenceContext* c) {
  Shape shape;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &shape));
  HR_RETURN_IF_ERROR(c->WithRank(shape, 4, &shape));
  c->set_output(0, shape);
  return OkStatus();
}

#define FRACTIONAL_POOL(NAME)                   \
  REGISTER_OP(NAME)                             \
      .Input("value: T")                        \
      .Output("output: T")                      \
      .Output("row_pooling_sequence: int64")    \
      .Output("col_pooling_sequence: int64")    \
      .Attr("pooling_ratio: list(float) >= 4")  \
      .Attr("pseudo_random: bool = false")      \
      .Attr("overlapping: bool = false")        \
      .Attr("deterministic: bool = false")      \
      .Attr("seed: int = 0")                    \
      .Attr("seed2: int = 0")                   \
      .Attr("T: {float, double, int32, int64}") \
      .SetShapeFn(FractionalPoolShape)
FRACTIONAL_POOL("FractionalMaxPool");
FRACTIONAL_POOL("FractionalAvgPool");
#undef FRACTIONAL_POOL

REGISTER_OP("FractionalMaxPoolGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("out_backprop: T")
    .Input("row_pooling_sequence: int64")
    .Input("col_pooling_sequence: int64")
    .Output("output: T")
    .Attr("overlapping: bool = false")
    .Attr("T: {float, double, int32, int64}")
    .SetShapeFn(FractionalMaxPoolGradShape);
REGISTER_OP("FractionalAvgPoolGrad")
    .Input("orig_input_tensor_shape: int64")
    .Input("out_backprop: T")
    .Input("row_pooling_sequence: int64")
    .Input("col_pooling_sequence: int64")
    .Output("output: T")
    .Attr("overlapping: bool = false")
    .Attr("T: {float, double, int32, int64}")
    .SetShapeFn(FractionalAvgPoolGradShape);

}  // namespace
}  // namespace headrace
