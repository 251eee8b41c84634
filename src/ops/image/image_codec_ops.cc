// Images in strings: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
using Shape = PartialTensorShape;

// Image files come one at a time; the result is [height, width, channels].
Status DecodedShape(InferenceContext* c) {
  Shape contents;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &contents));
  int64_t channels;
  HR_RETURN_IF_ERROR(c->GetAttr("channels", &channels));
  if (channels < 0) {
    return errors::InvalidArgument("channels must be non-negative, got ",
                                   channels);
  }
  c->set_output(0, Shape({-1, -1, channels == 0 ? -1 : channels}));
  return OkStatus();
}

Status DecodeImageShape(InferenceContext* c) {
  bool expand;
  HR_RETURN_IF_ERROR(c->GetAttr("expand_animations", &expand));
  HR_RETURN_IF_ERROR(DecodedShape(c));
  // With frames the rank depends on the file.
  if (expand) c->set_output(0, c->UnknownShape());
  return OkStatus();
}

Status DecodeGifShape(InferenceContext* c) {
  Shape contents;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &contents));
  c->set_output(0, Shape({-1, -1, -1, 3}));
  return OkStatus();
}

Status DecodeAndCropShape(InferenceContext* c) {
  HR_RETURN_IF_ERROR(DecodedShape(c));
  Shape window;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &window));
  int64_t four;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(window, 0), 4, &four));
  std::vector<int64_t> at;
  if (c->IntInputs(1, &at) && at.size() == 4 && at[2] >= 0 && at[3] >= 0) {
    c->set_output(0, Shape({at[2], at[3], c->Dim(c->output(0), 2)}));
  }
  return OkStatus();
}

Status EncodeJpegShape(InferenceContext* c) {
  Shape image;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 3, &image));
  c->set_output(0, c->Scalar());
  return OkStatus();
}

Status EncodePngShape(InferenceContext* c) {
  Shape images;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 3, &images));
  Shape batch;
  HR_RETURN_IF_ERROR(c->Subshape(images, 0, -3, &batch));
  c->set_output(0, batch);
  return OkStatus();
}

Status ExtractJpegShapeShape(InferenceContext* c) {
  Shape contents;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &contents));
  c->set_output(0, c->Vector(3));
  return OkStatus();
}
}  // namespace

REGISTER_OP("DecodeJpeg")
    .Input("contents: string")
    .Output("image: uint8")
    .Attr("channels: int = 0")
    .Attr("ratio: int = 1")
    .Attr("fancy_upscaling: bool = true")
    .Attr("try_recover_truncated: bool = false")
    .Attr("acceptable_fraction: float = 1.0")
    .Attr("dct_method: string = ''")
    .SetShapeFn(DecodedShape);
REGISTER_OP("DecodeAndCropJpeg")
    .Input("contents: string")
    .Input("crop_window: int32")
    .Output("image: uint8")
    .Attr("channels: int = 0")
    .Attr("ratio: int = 1")
    .Attr("fancy_upscaling: bool = true")
    .Attr("try_recover_truncated: bool = false")
    .Attr("acceptable_fraction: float = 1.0")
    .Attr("dct_method: string = ''")
    .SetShapeFn(DecodeAndCropShape);
REGISTER_OP("DecodePng")
    .Input("contents: string")
    .Output("image: dtype")
    .Attr("channels: int = 0")
    .Attr("dtype: {uint8, uint16} = DT_UINT8")
    .SetShapeFn(DecodedShape);
REGISTER_OP("DecodeGif")
    .Input("contents: string")
    .Output("image: uint8")
    .SetShapeFn(DecodeGifShape);
REGISTER_OP("DecodeBmp")
    .Input("contents: string")
    .Output("image: uint8")
    .Attr("channels: int = 0")
    .SetShapeFn(DecodedShape);
REGISTER_OP("DecodeImage")
    .Input("contents: string")
    .Output("image: dtype")
    .Attr("channels: int = 0")
    .Attr("dtype: {uint8, uint16, float} = DT_UINT8")
    .Attr("expand_animations: bool = true")
    .SetShapeFn(DecodeImageShape);
REGISTER_OP("ExtractJpegShape")
    .Input("contents: string")
    .Output("image_shape: output_type")
    .Attr("output_type: {int32, int64} = DT_INT32")
    .SetShapeFn(ExtractJpegShapeShape);
REGISTER_OP("EncodeJpeg")
    .Input("image: uint8")
    .Output("contents: string")
    .Attr("format: {'', 'grayscale', 'rgb'} = ''")
    .Attr("quality: int = 95")
    .Attr("progressive: bool = false")
    .Attr("optimize_size: bool = false")
    .Attr("chroma_downsampling: bool = true")
    .Attr("density_unit: {'in', 'cm'} = 'in'")
    .Attr("x_density: int = 300")
    .Attr("y_density: int = 300")
    .Attr("xmp_metadata: string = ''")
    .SetShapeFn(EncodeJpegShape);
REGISTER_OP("EncodeJpegVariableQuality")
    .Input("images: uint8")
    .Input("quality: int32")
    .Output("contents: string")
    .SetShapeFn(EncodeJpegShape);
REGISTER_OP("EncodePng")
    .Input("image: T")
    .Output("contents: string")
    .Attr("compression: int = -1")
    .Attr("T: {uint8, uint16} = DT_UINT8")
    .SetShapeFn(EncodePngShape);

}  // namespace headrace
