// Schemas of pooling.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/symbolic_shape_fns.h"
#include "framework/shape_fns/window_shape.h"
#include "headrace/op.h"

namespace headrace {
namespace {

using shape_inference::AvgPoolShape;
using shape_inference::MaxPoolShape;

// ksize and strides come as inputs; the result is known where they are.
Status MaxPoolV2ShapeFrom(InferenceContext* c, int at,
                          PartialTensorShape* output) {
  PartialTensorShape input, ignored;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(at), 1, &ignored));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(at + 1), 1, &ignored));
  *output = InferenceContext::UnknownShapeOfRank(4);
  output->set_dim(0, InferenceContext::Dim(input, 0));
  std::vector<int64_t> ksize, strides;
  if (!c->IntInputs(at, &ksize) || !c->IntInputs(at + 1, &strides)) {
    return OkStatus();
  }
  if (ksize.size() != 4 || strides.size() != 4) {
    return errors::InvalidArgument(
        c->op_def().name, ": ksize and strides must have 4 elements, got ",
        ksize.size(), " and ", strides.size());
  }
  std::string text;
  DataFormat format;
  Padding padding;
  HR_RETURN_IF_ERROR(c->GetAttr("data_format", &text));
  HR_RETURN_IF_ERROR(ParseDataFormat(text, &format));
  HR_RETURN_IF_ERROR(c->GetAttr("padding", &text));
  HR_RETURN_IF_ERROR(ParsePadding(text, &padding));
  for (int i = 1; i < 4; ++i) {
    const int64_t in = InferenceContext::Dim(input, i);
    if (in < 0) continue;
    if (ksize[i] < 1) {
      return errors::InvalidArgument(
          "Sliding window ksize must be positive, got ", ksize[i]);
    }
    int64_t out, before = 0, after = 0;
    HR_RETURN_IF_ERROR(CheckWindowFits(in, ksize[i], 1, padding));
    HR_RETURN_IF_ERROR(WindowedOutputSize(in, ksize[i], 1, strides[i], padding,
                                          &out, &before, &after));
    output->set_dim(i, out);
  }
  return OkStatus();
}

Status MaxPoolV2Shape(InferenceContext* c) {
  PartialTensorShape output;
  HR_RETURN_IF_ERROR(MaxPoolV2ShapeFrom(c, 1, &output));
  c->set_output(0, output);
  return OkStatus();
}

Status MaxPoolWithArgmaxShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(MaxPoolShape(c));
  c->set_output(1, c->output(0));
  return OkStatus();
}

// The gradient with respect to input 0, which has the shape of input 0.
Status LikeInput0(InferenceContext* c, int rank) {
  PartialTensorShape input;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), rank, &input));
  c->set_output(0, input);
  return OkStatus();
}
Status LikeInput0Rank4(InferenceContext* c) { return LikeInput0(c, 4); }
Status LikeInput0Rank5(InferenceContext* c) { return LikeInput0(c, 5); }

// The gradient's gradient has the shape of the forward op's output: the merge
// of what pooling predicts and of input 1.
Status GradGradShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(MaxPoolShape(c));
  PartialTensorShape output;
  HR_RETURN_IF_ERROR(c->Merge(c->output(0), c->input(1), &output));
  c->set_output(0, output);
  return OkStatus();
}

Status GradGradV2Shape(InferenceContext* c) {
  PartialTensorShape output;
  HR_RETURN_IF_ERROR(MaxPoolV2ShapeFrom(c, 3, &output));
  HR_RETURN_IF_ERROR(c->Merge(output, c->input(1), &output));
  c->set_output(0, output);
  return OkStatus();
}

// Input 0 spells out the shape.
Status AvgPoolGradShape(InferenceContext* c, int rank) {
  PartialTensorShape output, grad;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &output));
  HR_RETURN_IF_ERROR(c->WithRank(output, rank, &output));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), rank, &grad));
  c->set_output(0, output);
  return OkStatus();
}
Status AvgPool2DGradShape(InferenceContext* c) {
  return AvgPoolGradShape(c, 4);
}
Status AvgPool3DGradShape(InferenceContext* c) {
  return AvgPoolGradShape(c, 5);
}

}  // namespace

#define HR_REAL_TYPES                                                    \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, " \
  "half, uint32, uint64}"

REGISTER_OP("AvgPool")
    .Input("value: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(AvgPoolShape)
    .SymbolicShape(WindowSymbolicShape);

REGISTER_OP("AvgPoolGrad")
    .Input("orig_input_shape: int32")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(AvgPool2DGradShape);

REGISTER_OP("AvgPool3D")
    .Input("input: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(AvgPoolShape);

REGISTER_OP("AvgPool3DGrad")
    .Input("orig_input_shape: int32")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("T: {half, bfloat16, float, double}")
    .SetShapeFn(AvgPool3DGradShape);

REGISTER_OP("MaxPool")
    .Input("input: T")
    .Output("output: T")
    .Attr(
        "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, "
        "uint16, qint8} = DT_FLOAT")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .SetShapeFn(MaxPoolShape)
    .SymbolicShape(WindowSymbolicShape);

REGISTER_OP("MaxPoolV2")
    .Input("input: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr(
        "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, "
        "uint16, qint8} = DT_FLOAT")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .SetShapeFn(MaxPoolV2Shape);

REGISTER_OP("MaxPoolGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: " HR_REAL_TYPES " = DT_FLOAT")
    .SetShapeFn(LikeInput0Rank4);

REGISTER_OP("MaxPoolGradV2")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: " HR_REAL_TYPES " = DT_FLOAT")
    .SetShapeFn(LikeInput0Rank4);

REGISTER_OP("MaxPoolGradGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(GradGradShape);

REGISTER_OP("MaxPoolGradGradV2")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(GradGradV2Shape);

REGISTER_OP("MaxPoolWithArgmax")
    .Input("input: T")
    .Output("output: T")
    .Output("argmax: Targmax")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("Targmax: {int32, int64} = DT_INT64")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(MaxPoolWithArgmaxShape);

REGISTER_OP("MaxPoolGradWithArgmax")
    .Input("input: T")
    .Input("grad: T")
    .Input("argmax: Targmax")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("Targmax: {int32, int64}")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(LikeInput0Rank4);

REGISTER_OP("MaxPoolGradGradWithArgmax")
    .Input("input: T")
    .Input("grad: T")
    .Input("argmax: Targmax")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("Targmax: {int32, int64}")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(MaxPoolShape);

REGISTER_OP("MaxPool3D")
    .Input("input: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("T: {half, bfloat16, float}")
    .SetShapeFn(MaxPoolShape);

REGISTER_OP("MaxPool3DGrad")
    .Input("orig_input: TInput")
    .Input("orig_output: TInput")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("T: {half, bfloat16, float} = DT_FLOAT")
    .Attr("TInput: {half, bfloat16, float} = DT_FLOAT")
    .SetShapeFn(LikeInput0Rank5);

REGISTER_OP("MaxPool3DGradGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 5")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("T: " HR_REAL_TYPES)
    .SetShapeFn(GradGradShape);
#undef HR_REAL_TYPES

}  // namespace headrace
