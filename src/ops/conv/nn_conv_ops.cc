// Schemas of the convolutions and of morphological dilation.
#include "framework/shape_fns/common_shape_fns.h"
#include "framework/shape_fns/conv_attrs.h"
#include "framework/shape_fns/symbolic_shape_fns.h"
#include "framework/shape_fns/window_shape.h"
#include "headrace/op.h"

namespace headrace {
namespace {

// Output 0 has the shape of input `kInput`, of rank `kRank`.
template <int kInput, int kRank>
Status ShapeOfInput(InferenceContext* c) {
  PartialTensorShape s;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(kInput), kRank, &s));
  c->set_output(0, s);
  return OkStatus();
}

// Output 0 has the shape that input `kInput` spells out.
template <int kInput, int kRank>
Status ShapeFromSizes(InferenceContext* c) {
  PartialTensorShape s;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(kInput, &s));
  HR_RETURN_IF_ERROR(c->WithRank(s, kRank, &s));
  c->set_output(0, s);
  return OkStatus();
}

// input_sizes is the whole shape, or height and width alone.
Status Conv2DBackpropInputShape(InferenceContext* c) {
  PartialTensorShape sizes;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(0, &sizes));
  if (sizes.dims() != 2) return ShapeFromSizes<0, 4>(c);
  ConvAttrs attrs;
  HR_RETURN_IF_ERROR(ConvAttrs::Read(*c, 2, &attrs));
  PartialTensorShape filter, out;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 4, &filter));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 4, &out));
  DimVector dims(4);
  dims[0] = out.dim_size(0);
  dims[ChannelDim(attrs.format, 4)] = filter.dim_size(2);
  dims[SpatialDim(attrs.format, 0)] = sizes.dim_size(0);
  dims[SpatialDim(attrs.format, 1)] = sizes.dim_size(1);
  c->set_output(0, PartialTensorShape(dims));
  return OkStatus();
}

// The filter is [rows, columns, depth]; rates are dilations.
Status Dilation2DShape(InferenceContext* c) {
  std::string padding_name;
  std::vector<int64_t> strides, rates;
  Padding padding;
  HR_RETURN_IF_ERROR(c->GetAttr("padding", &padding_name));
  HR_RETURN_IF_ERROR(ParsePadding(padding_name, &padding));
  HR_RETURN_IF_ERROR(c->GetAttr("strides", &strides));
  HR_RETURN_IF_ERROR(c->GetAttr("rates", &rates));
  if (strides.size() != 4 || rates.size() != 4) {
    return errors::InvalidArgument(
        "strides and rates must have 4 entries, got ", strides.size(), " and ",
        rates.size());
  }
  PartialTensorShape input, filter;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &filter));
  DimVector out(4, -1);
  out[0] = input.dim_size(0);
  HR_RETURN_IF_ERROR(
      c->MergeDims(input.dim_size(3), filter.dim_size(2), &out[3]));
  for (int i = 0; i < 2; ++i) {
    if (input.dim_size(1 + i) < 0 || filter.dim_size(i) < 0) continue;
    int64_t before = 0, after = 0;
    HR_RETURN_IF_ERROR(WindowedOutputSize(
        input.dim_size(1 + i), filter.dim_size(i), rates[1 + i], strides[1 + i],
        padding, &out[1 + i], &before, &after));
  }
  c->set_output(0, PartialTensorShape(out));
  return OkStatus();
}

// input, (size,) paddings, filter: Conv2D of an image that was resized and
// padded.
Status FusedPadConvShape(InferenceContext* c) {
  const int n = c->num_inputs();
  ConvAttrs attrs;
  HR_RETURN_IF_ERROR(ConvAttrs::Read(*c, 2, &attrs));
  PartialTensorShape input, paddings, filter;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &input));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n - 2), 2, &paddings));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(n - 1), 4, &filter));
  int64_t unused;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(paddings, 0), 4, &unused));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(paddings, 1), 2, &unused));
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(input, 3), c->Dim(filter, 2), &unused));
  std::vector<int64_t> size = {c->Dim(input, 1), c->Dim(input, 2)}, pads;
  if (n == 4 && (!c->IntInputs(1, &size) || size.size() != 2)) {
    size = {-1, -1};
  }
  const bool pads_known = c->IntInputs(n - 2, &pads) && pads.size() == 8;
  DimVector dims = {c->Dim(input, 0), -1, -1, c->Dim(filter, 3)};
  for (int d = 0; d < 2; ++d) {
    const int64_t window = c->Dim(filter, d);
    if (size[d] < 0 || window < 0 || !pads_known) continue;
    int64_t padded, before, after;
    HR_RETURN_IF_ERROR(c->Add(size[d], pads[2 * d + 2], &padded));
    HR_RETURN_IF_ERROR(c->Add(padded, pads[2 * d + 3], &padded));
    HR_RETURN_IF_ERROR(CheckWindowFits(padded, window, 1, attrs.padding));
    HR_RETURN_IF_ERROR(WindowedOutputSize(padded, window, 1, attrs.stride(d),
                                          attrs.padding, &dims[d + 1], &before,
                                          &after));
  }
  c->set_output(0, PartialTensorShape(dims));
  return OkStatus();
}

}  // namespace

REGISTER_OP("Conv2D")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double, int32}")
    .Attr("strides: list(int)")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(shape_inference::Conv2DShape)
    .SymbolicShape(WindowSymbolicShape)
    .Layer(LayerKind::kConv2D, "_FusedConv2D");

REGISTER_OP("FusedPadConv2D")
    .Input("input: T")
    .Input("paddings: int32")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(FusedPadConvShape);

REGISTER_OP("FusedResizeAndPadConv2D")
    .Input("input: T")
    .Input("size: int32")
    .Input("paddings: int32")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: {half, float, double}")
    .Attr("resize_align_corners: bool = false")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(FusedPadConvShape);

REGISTER_OP("Conv2DBackpropInput")
    .Input("input_sizes: int32")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double, int32}")
    .Attr("strides: list(int)")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(Conv2DBackpropInputShape);

REGISTER_OP("Conv2DBackpropFilter")
    .Input("input: T")
    .Input("filter_sizes: int32")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int)")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ShapeFromSizes<1, 4>);

REGISTER_OP("Conv2DBackpropInputV2")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double, int32}")
    .Attr("strides: list(int)")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ShapeOfInput<0, 4>);

REGISTER_OP("Conv2DBackpropFilterV2")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int)")
    .Attr("use_cudnn_on_gpu: bool = true")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ShapeOfInput<1, 4>);

REGISTER_OP("Conv3D")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1, 1]")
    .SetShapeFn(shape_inference::Conv3DShape);

REGISTER_OP("Conv3DBackpropInput")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, float, double}")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("dilations: list(int) = [1, 1, 1, 1, 1]")
    .Deprecated(10, "Use Conv3DBackpropInputV2")
    .SetShapeFn(ShapeOfInput<0, 5>);

REGISTER_OP("Conv3DBackpropFilter")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, float, double}")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("dilations: list(int) = [1, 1, 1, 1, 1]")
    .Deprecated(10, "Use Conv3DBackpropFilterV2")
    .SetShapeFn(ShapeOfInput<1, 5>);

REGISTER_OP("Conv3DBackpropInputV2")
    .Input("input_sizes: Tshape")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1, 1]")
    .Attr("Tshape: {int32, int64} = DT_INT32")
    .SetShapeFn(ShapeFromSizes<0, 5>);

REGISTER_OP("Conv3DBackpropFilterV2")
    .Input("input: T")
    .Input("filter_sizes: int32")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int) >= 5")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1, 1]")
    .SetShapeFn(ShapeFromSizes<1, 5>);

REGISTER_OP("DepthwiseConv2dNative")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(shape_inference::DepthwiseConv2DNativeShape)
    .SymbolicShape(WindowSymbolicShape)
    .Layer(LayerKind::kDepthwiseConv2D, "_FusedDepthwiseConv2dNative");

REGISTER_OP("DepthwiseConv2dNativeBackpropInput")
    .Input("input_sizes: int32")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ShapeFromSizes<0, 4>);

REGISTER_OP("DepthwiseConv2dNativeBackpropFilter")
    .Input("input: T")
    .Input("filter_sizes: int32")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("strides: list(int)")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("dilations: list(int) = [1, 1, 1, 1]")
    .SetShapeFn(ShapeFromSizes<1, 4>);

REGISTER_OP("Dilation2D")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Attr("strides: list(int) >= 4")
    .Attr("rates: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(Dilation2DShape);

REGISTER_OP("Dilation2DBackpropInput")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("in_backprop: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Attr("strides: list(int) >= 4")
    .Attr("rates: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(ShapeOfInput<0, 4>);

REGISTER_OP("Dilation2DBackpropFilter")
    .Input("input: T")
    .Input("filter: T")
    .Input("out_backprop: T")
    .Output("filter_backprop: T")
    .Attr(
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, "
        "uint16, half, uint32, uint64}")
    .Attr("strides: list(int) >= 4")
    .Attr("rates: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .SetShapeFn(ShapeOfInput<1, 3>);

}  // namespace headrace
