// Schemas of normalisation.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using shape_inference::FusedBatchNormGradShape;
using shape_inference::FusedBatchNormShape;

// t, then vectors of its last dimension.
Status GlobalNormInputs(InferenceContext* c, int vectors, PartialTensorShape* t,
                        int64_t* depth) {
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, t));
  *depth = InferenceContext::Dim(*t, 3);
  for (int i = 1; i <= vectors; ++i) {
    PartialTensorShape v;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 1, &v));
    HR_RETURN_IF_ERROR(
        c->MergeDims(*depth, InferenceContext::Dim(v, 0), depth));
  }
  if (!t->unknown_rank()) t->set_dim(3, *depth);
  return OkStatus();
}

Status GlobalNormShape(InferenceContext* c) {
  PartialTensorShape t;
  int64_t depth;
  HR_RETURN_IF_ERROR(GlobalNormInputs(c, 4, &t, &depth));
  c->set_output(0, t);
  return OkStatus();
}

Status GlobalNormGradShape(InferenceContext* c) {
  PartialTensorShape t;
  int64_t depth;
  HR_RETURN_IF_ERROR(GlobalNormInputs(c, 3, &t, &depth));
  HR_RETURN_IF_ERROR(c->Merge(t, c->input(4), &t));
  c->set_output(0, t);
  for (int i = 1; i < 5; ++i) {
    c->set_output(i, InferenceContext::Vector(depth));
  }
  return OkStatus();
}

Status LrnShape(InferenceContext* c) {
  return shape_inference::UnchangedShapeWithRank(c, 4);
}

Status LrnGradShape(InferenceContext* c) {
  PartialTensorShape s;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &s));
  HR_RETURN_IF_ERROR(c->Merge(s, c->input(1), &s));
  HR_RETURN_IF_ERROR(c->Merge(s, c->input(2), &s));
  c->set_output(0, s);
  return OkStatus();
}

}  // namespace

#define HR_NUMBER_TYPES                                                   \
  "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, "  \
  "quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, " \
  "uint32, uint64}"

REGISTER_OP("FusedBatchNorm")
    .Input("x: T")
    .Input("scale: T")
    .Input("offset: T")
    .Input("mean: T")
    .Input("variance: T")
    .Output("y: T")
    .Output("batch_mean: T")
    .Output("batch_variance: T")
    .Output("reserve_space_1: T")
    .Output("reserve_space_2: T")
    .Attr("T: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("exponential_avg_factor: float = 1.0")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormShape)
    .KeepsShapeOfInput();

REGISTER_OP("FusedBatchNormV2")
    .Input("x: T")
    .Input("scale: U")
    .Input("offset: U")
    .Input("mean: U")
    .Input("variance: U")
    .Output("y: T")
    .Output("batch_mean: U")
    .Output("batch_variance: U")
    .Output("reserve_space_1: U")
    .Output("reserve_space_2: U")
    .Attr("T: {half, bfloat16, float}")
    .Attr("U: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("exponential_avg_factor: float = 1.0")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormShape)
    .KeepsShapeOfInput();

REGISTER_OP("FusedBatchNormV3")
    .Input("x: T")
    .Input("scale: U")
    .Input("offset: U")
    .Input("mean: U")
    .Input("variance: U")
    .Output("y: T")
    .Output("batch_mean: U")
    .Output("batch_variance: U")
    .Output("reserve_space_1: U")
    .Output("reserve_space_2: U")
    .Output("reserve_space_3: U")
    .Attr("T: {half, bfloat16, float}")
    .Attr("U: {bfloat16, float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("exponential_avg_factor: float = 1.0")
    .Attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormShape)
    .KeepsShapeOfInput();

REGISTER_OP("FusedBatchNormGrad")
    .Input("y_backprop: T")
    .Input("x: T")
    .Input("scale: T")
    .Input("reserve_space_1: T")
    .Input("reserve_space_2: T")
    .Output("x_backprop: T")
    .Output("scale_backprop: T")
    .Output("offset_backprop: T")
    .Output("reserve_space_3: T")
    .Output("reserve_space_4: T")
    .Attr("T: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormGradShape)
    .ReserveOutputsFrom(3);

REGISTER_OP("FusedBatchNormGradV2")
    .Input("y_backprop: T")
    .Input("x: T")
    .Input("scale: float")
    .Input("reserve_space_1: U")
    .Input("reserve_space_2: U")
    .Output("x_backprop: T")
    .Output("scale_backprop: U")
    .Output("offset_backprop: U")
    .Output("reserve_space_3: U")
    .Output("reserve_space_4: U")
    .Attr("T: {half, bfloat16, float}")
    .Attr("U: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormGradShape)
    .ReserveOutputsFrom(3);

REGISTER_OP("FusedBatchNormGradV3")
    .Input("y_backprop: T")
    .Input("x: T")
    .Input("scale: float")
    .Input("reserve_space_1: U")
    .Input("reserve_space_2: U")
    .Input("reserve_space_3: U")
    .Output("x_backprop: T")
    .Output("scale_backprop: U")
    .Output("offset_backprop: U")
    .Output("reserve_space_4: U")
    .Output("reserve_space_5: U")
    .Attr("T: {half, bfloat16, float}")
    .Attr("U: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .SetShapeFn(FusedBatchNormGradShape)
    .ReserveOutputsFrom(3);

REGISTER_OP("BatchNormWithGlobalNormalization")
    .Input("t: T")
    .Input("m: T")
    .Input("v: T")
    .Input("beta: T")
    .Input("gamma: T")
    .Output("result: T")
    .Attr("T: " HR_NUMBER_TYPES)
    .Attr("variance_epsilon: float")
    .Attr("scale_after_normalization: bool")
    .Deprecated(9, "Use tf.nn.batch_normalization()")
    .SetShapeFn(GlobalNormShape);

REGISTER_OP("BatchNormWithGlobalNormalizationGrad")
    .Input("t: T")
    .Input("m: T")
    .Input("v: T")
    .Input("gamma: T")
    .Input("backprop: T")
    .Output("dx: T")
    .Output("dm: T")
    .Output("dv: T")
    .Output("db: T")
    .Output("dg: T")
    .Attr("T: " HR_NUMBER_TYPES)
    .Attr("variance_epsilon: float")
    .Attr("scale_after_normalization: bool")
    .Deprecated(9, "Use tf.nn.batch_normalization()")
    .SetShapeFn(GlobalNormGradShape);

REGISTER_OP("LRN")
    .Input("input: T")
    .Output("output: T")
    .Attr("depth_radius: int = 5")
    .Attr("bias: float = 1.0")
    .Attr("alpha: float = 1.0")
    .Attr("beta: float = 0.5")
    .Attr("T: {half, bfloat16, float} = DT_FLOAT")
    .SetShapeFn(LrnShape);

REGISTER_OP("LRNGrad")
    .Input("input_grads: T")
    .Input("input_image: T")
    .Input("output_image: T")
    .Output("output: T")
    .Attr("depth_radius: int = 5")
    .Attr("bias: float = 1.0")
    .Attr("alpha: float = 1.0")
    .Attr("beta: float = 0.5")
    .Attr("T: {half, bfloat16, float} = DT_FLOAT")
    .SetShapeFn(LrnGradShape);
#undef HR_NUMBER_TYPES

}  // namespace headrace
