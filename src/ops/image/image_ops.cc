// Resizing, cropping, colours and boxes. Images are [batch, height, width,
// channels]. (Reading and writing image files is another family.)
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"
#include "headrace/shape_inference.h"

namespace headrace {
namespace {

using Shape = PartialTensorShape;

// images [b,h,w,c], size [2]: [b, size..., c]
Status ResizeShape(InferenceContext* c) {
  Shape images, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(c->input(1), 0), 2, &two));
  int64_t height = -1, width = -1;
  std::vector<int64_t> size;
  if (c->IntInputs(1, &size) && size.size() == 2) {
    // The kernel says what is wrong with a size below 1.
    height = size[0];
    width = size[1];
  }
  c->set_output(0,
                Shape({c->Dim(images, 0), height, width, c->Dim(images, 3)}));
  return OkStatus();
}

// grads, original image: the image's height and width.
Status ResizeGradShape(InferenceContext* c) {
  Shape grads, image;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &grads));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 4, &image));
  // The kernel has batch and depth of the gradients; TensorFlow infers those of
  // the image. Where the two may differ nothing is said.
  const auto common = [](int64_t grads, int64_t image) {
    return image < 0 || grads == image ? grads : -1;
  };
  c->set_output(
      0, Shape({common(c->Dim(grads, 0), c->Dim(image, 0)), c->Dim(image, 1),
                c->Dim(image, 2), common(c->Dim(grads, 3), c->Dim(image, 3))}));
  return OkStatus();
}

// image, boxes, box_ind, crop_size
Status CropAndResizeShape(InferenceContext* c) {
  Shape image, boxes, index, size;
  int64_t n, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &image));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &boxes));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 1, &index));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &size));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(boxes, 0), c->Dim(index, 0), &n));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(boxes, 1), 4, &unused));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(size, 0), 2, &unused));
  int64_t height = -1, width = -1;
  std::vector<int64_t> given;
  if (c->IntInputs(3, &given) && given.size() == 2) {
    height = given[0];
    width = given[1];
  }
  c->set_output(0, Shape({n, height, width, c->Dim(image, 3)}));
  return OkStatus();
}

Status CropAndResizeGradImageShape(InferenceContext* c) {
  Shape out;
  HR_RETURN_IF_ERROR(c->MakeShapeFromInput(3, &out));
  HR_RETURN_IF_ERROR(c->WithRank(out, 4, &out));
  c->set_output(0, out);
  return OkStatus();
}

Status CropAndResizeGradBoxesShape(InferenceContext* c) {
  Shape boxes;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &boxes));
  c->set_output(0, boxes);
  return OkStatus();
}

// images, transforms [n or 1, 8], output_shape [2], and scalars.
Status ProjectiveTransformShape(InferenceContext* c) {
  Shape transforms, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 2, &transforms));
  int64_t eight;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(transforms, 1), 8, &eight));
  if (c->num_inputs() > 3) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 0, &unused));
  }
  const Shape size = c->input(2);
  Shape images;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
  int64_t two;
  HR_RETURN_IF_ERROR(c->WithRank(size, 1, &unused));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(size, 0), 2, &two));
  std::vector<int64_t> given;
  const bool known = c->IntInputs(2, &given) && given.size() == 2;
  c->set_output(0, Shape({c->Dim(images, 0), known ? given[0] : -1,
                          known ? given[1] : -1, c->Dim(images, 3)}));
  return OkStatus();
}

// images, size, offsets [n, 2]
Status GlimpseShape(InferenceContext* c) {
  Shape offsets;
  int64_t unused, batch;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 2, &offsets));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(offsets, 1), 2, &unused));
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(c->input(0), 0), c->Dim(offsets, 0), &batch));
  HR_RETURN_IF_ERROR(ResizeShape(c));
  Shape glimpse;
  HR_RETURN_IF_ERROR(c->ReplaceDim(c->output(0), 0, batch, &glimpse));
  c->set_output(0, glimpse);
  return OkStatus();
}

Status ColourShape(InferenceContext* c) {
  Shape images;
  int64_t three;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &images));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(images, -1), 3, &three));
  if (c->RankKnown(images)) {
    HR_RETURN_IF_ERROR(
        c->ReplaceDim(images, images.dims() - 1, three, &images));
  }
  c->set_output(0, images);
  return OkStatus();
}

Status AdjustShape(InferenceContext* c) {
  Shape images;
  HR_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 3, &images));
  c->set_output(0, images);
  return OkStatus();
}

Status DrawBoxesShape(InferenceContext* c) {
  Shape images, boxes;
  int64_t unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &images));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &boxes));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(boxes, 2), 4, &unused));
  c->set_output(0, images);
  return OkStatus();
}

// boxes [n,4], scores [n], then scalars.
Status NmsShape(InferenceContext* c) {
  Shape boxes, scores, unused;
  int64_t dim;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &boxes));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &scores));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(boxes, 0), c->Dim(scores, 0), &dim));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(boxes, 1), 4, &dim));
  for (int i = 2; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  int64_t n = -1;
  bool pad = false;
  if (c->attrs().Find("pad_to_max_output_size") != nullptr) {
    HR_RETURN_IF_ERROR(c->GetAttr("pad_to_max_output_size", &pad));
  }
  if (pad) HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &n));
  for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, c->Vector(n));
  if (c->num_outputs() > 1) c->set_output(c->num_outputs() - 1, c->Scalar());
  return OkStatus();
}

Status NmsWithOverlapsShape(InferenceContext* c) {
  Shape overlaps, unused;
  int64_t dim;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &overlaps));
  HR_RETURN_IF_ERROR(
      c->MergeDims(c->Dim(overlaps, 0), c->Dim(overlaps, 1), &dim));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &unused));
  for (int i = 2; i < c->num_inputs(); ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  c->set_output(0, c->Vector(-1));
  return OkStatus();
}

Status CombinedNmsShape(InferenceContext* c) {
  Shape boxes, scores, unused;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 4, &boxes));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &scores));
  for (int i = 2; i < 6; ++i) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(i), 0, &unused));
  }
  int64_t batch, dim, total = -1, per_class = -1;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(boxes, 3), 4, &dim));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(boxes, 0), c->Dim(scores, 0), &batch));
  HR_RETURN_IF_ERROR(c->MergeDims(c->Dim(boxes, 1), c->Dim(scores, 1), &dim));
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(2, &per_class));
  HR_RETURN_IF_ERROR(c->MakeDimForScalarInput(3, &total));
  bool pad_per_class = false;
  HR_RETURN_IF_ERROR(c->GetAttr("pad_per_class", &pad_per_class));
  if (pad_per_class && total >= 0) {
    const int64_t classes = c->Dim(scores, 2);
    if (per_class < 0 || classes < 0) {
      total = -1;
    } else {
      const int64_t all = MultiplyWithoutOverflow(per_class, classes);
      if (all >= 0 && all < total) total = all;
    }
  }
  c->set_output(0, Shape({batch, total, 4}));
  c->set_output(1, c->Matrix(batch, total));
  c->set_output(2, c->Matrix(batch, total));
  c->set_output(3, c->Vector(batch));
  return OkStatus();
}

REGISTER_OP("ResizeArea")
    .Input("images: T")
    .Input("size: int32")
    .Output("resized_images: float")
    .Attr(
        "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, "
        "bfloat16}")
    .Attr("align_corners: bool = false")
    .SetShapeFn(ResizeShape);

REGISTER_OP("ResizeBicubic")
    .Input("images: T")
    .Input("size: int32")
    .Output("resized_images: float")
    .Attr(
        "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, "
        "bfloat16}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeShape);

REGISTER_OP("ResizeBicubicGrad")
    .Input("grads: float")
    .Input("original_image: T")
    .Output("output: T")
    .Attr("T: {float, double}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeGradShape);

REGISTER_OP("ResizeBilinear")
    .Input("images: T")
    .Input("size: int32")
    .Output("resized_images: float")
    .Attr(
        "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, "
        "float, double, bfloat16}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeShape);

REGISTER_OP("ResizeBilinearGrad")
    .Input("grads: float")
    .Input("original_image: T")
    .Output("output: T")
    .Attr("T: {float, bfloat16, half, double}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeGradShape);

REGISTER_OP("ResizeNearestNeighbor")
    .Input("images: T")
    .Input("size: int32")
    .Output("resized_images: T")
    .Attr(
        "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, "
        "bfloat16}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeShape);

REGISTER_OP("ResizeNearestNeighborGrad")
    .Input("grads: T")
    .Input("size: int32")
    .Output("output: T")
    .Attr("T: {uint8, int8, int32, half, float, double, bfloat16}")
    .Attr("align_corners: bool = false")
    .Attr("half_pixel_centers: bool = false")
    .SetShapeFn(ResizeShape);

REGISTER_OP("CropAndResize")
    .Input("image: T")
    .Input("boxes: float")
    .Input("box_ind: int32")
    .Input("crop_size: int32")
    .Output("crops: float")
    .Attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
    .Attr("method: {'bilinear', 'nearest'} = 'bilinear'")
    .Attr("extrapolation_value: float = 0")
    .SetShapeFn(CropAndResizeShape);

REGISTER_OP("CropAndResizeGradImage")
    .Input("grads: float")
    .Input("boxes: float")
    .Input("box_ind: int32")
    .Input("image_size: int32")
    .Output("output: T")
    .Attr("T: {float, half, double}")
    .Attr("method: {'bilinear', 'nearest'} = 'bilinear'")
    .SetShapeFn(CropAndResizeGradImageShape);

REGISTER_OP("CropAndResizeGradBoxes")
    .Input("grads: float")
    .Input("image: T")
    .Input("boxes: float")
    .Input("box_ind: int32")
    .Output("output: float")
    .Attr("T: {uint8, uint16, int8, int16, int32, int64, half, float, double}")
    .Attr("method: {'bilinear'} = 'bilinear'")
    .SetShapeFn(CropAndResizeGradBoxesShape);

REGISTER_OP("RGBToHSV")
    .Input("images: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    .SetShapeFn(ColourShape);

REGISTER_OP("HSVToRGB")
    .Input("images: T")
    .Output("output: T")
    .Attr("T: {half, bfloat16, float, double} = DT_FLOAT")
    .SetShapeFn(ColourShape);

REGISTER_OP("ScaleAndTranslate")
    .Input("images: T")
    .Input("size: int32")
    .Input("scale: float")
    .Input("translation: float")
    .Output("resized_images: float")
    .Attr(
        "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, "
        "double}")
    .Attr("kernel_type: string = 'lanczos3'")
    .Attr("antialias: bool = true")
    .SetShapeFn(ResizeShape);
REGISTER_OP("ScaleAndTranslateGrad")
    .Input("grads: T")
    .Input("original_image: T")
    .Input("scale: float")
    .Input("translation: float")
    .Output("output: T")
    .Attr("T: {float}")
    .Attr("kernel_type: string = 'lanczos3'")
    .Attr("antialias: bool = true")
    .SetShapeFn(ResizeGradShape);
REGISTER_OP("ImageProjectiveTransformV2")
    .Input("images: dtype")
    .Input("transforms: float")
    .Input("output_shape: int32")
    .Attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
    .Attr("interpolation: string")
    .Attr("fill_mode: string = 'CONSTANT'")
    .Output("transformed_images: dtype")
    .SetShapeFn(ProjectiveTransformShape);
REGISTER_OP("ImageProjectiveTransformV3")
    .Input("images: dtype")
    .Input("transforms: float")
    .Input("output_shape: int32")
    .Input("fill_value: float")
    .Attr("dtype: {uint8, int32, int64, half, bfloat16, float, double}")
    .Attr("interpolation: string")
    .Attr("fill_mode: string = 'CONSTANT'")
    .Output("transformed_images: dtype")
    .SetShapeFn(ProjectiveTransformShape);
REGISTER_OP("ExtractGlimpse")
    .Input("input: float")
    .Input("size: int32")
    .Input("offsets: float")
    .Output("glimpse: float")
    .Attr("centered: bool = true")
    .Attr("normalized: bool = true")
    .Attr("uniform_noise: bool = true")
    .Attr("noise: string = 'uniform'")
    .SetShapeFn(GlimpseShape)
    .IsRandom();
REGISTER_OP("ExtractGlimpseV2")
    .Input("input: float")
    .Input("size: int32")
    .Input("offsets: float")
    .Output("glimpse: float")
    .Attr("centered: bool = true")
    .Attr("normalized: bool = true")
    .Attr("uniform_noise: bool = true")
    .Attr("noise: string = 'uniform'")
    .SetShapeFn(GlimpseShape)
    .IsRandom();

REGISTER_OP("AdjustContrastv2")
    .Input("images: T")
    .Input("contrast_factor: float")
    .Output("output: T")
    .Attr("T: {half, float} = DT_FLOAT")
    .SetShapeFn(AdjustShape);

REGISTER_OP("AdjustHue")
    .Input("images: T")
    .Input("delta: float")
    .Output("output: T")
    .Attr("T: {half, float} = DT_FLOAT")
    .SetShapeFn(AdjustShape);

REGISTER_OP("AdjustSaturation")
    .Input("images: T")
    .Input("scale: float")
    .Output("output: T")
    .Attr("T: {half, float} = DT_FLOAT")
    .SetShapeFn(AdjustShape);

REGISTER_OP("DrawBoundingBoxes")
    .Input("images: T")
    .Input("boxes: float")
    .Output("output: T")
    .Attr("T: {float, half} = DT_FLOAT")
    .SetShapeFn(DrawBoxesShape);

REGISTER_OP("DrawBoundingBoxesV2")
    .Input("images: T")
    .Input("boxes: float")
    .Input("colors: float")
    .Output("output: T")
    .Attr("T: {float, half} = DT_FLOAT")
    .SetShapeFn(DrawBoxesShape);

REGISTER_OP("NonMaxSuppression")
    .Input("boxes: float")
    .Input("scores: float")
    .Input("max_output_size: int32")
    .Output("selected_indices: int32")
    .Attr("iou_threshold: float = 0.5")
    .SetShapeFn(NmsShape);

REGISTER_OP("NonMaxSuppressionV2")
    .Input("boxes: T")
    .Input("scores: T")
    .Input("max_output_size: int32")
    .Input("iou_threshold: T_threshold")
    .Output("selected_indices: int32")
    .Attr("T: {half, float} = DT_FLOAT")
    .Attr("T_threshold: {half, float} = DT_FLOAT")
    .SetShapeFn(NmsShape);

REGISTER_OP("NonMaxSuppressionV3")
    .Input("boxes: T")
    .Input("scores: T")
    .Input("max_output_size: int32")
    .Input("iou_threshold: T_threshold")
    .Input("score_threshold: T_threshold")
    .Output("selected_indices: int32")
    .Attr("T: {half, float} = DT_FLOAT")
    .Attr("T_threshold: {half, float} = DT_FLOAT")
    .SetShapeFn(NmsShape);

REGISTER_OP("NonMaxSuppressionV4")
    .Input("boxes: T")
    .Input("scores: T")
    .Input("max_output_size: int32")
    .Input("iou_threshold: T_threshold")
    .Input("score_threshold: T_threshold")
    .Output("selected_indices: int32")
    .Output("valid_outputs: int32")
    .Attr("T: {half, float} = DT_FLOAT")
    .Attr("T_threshold: {half, float} = DT_FLOAT")
    .Attr("pad_to_max_output_size: bool = false")
    .SetShapeFn(NmsShape);

REGISTER_OP("NonMaxSuppressionV5")
    .Input("boxes: T")
    .Input("scores: T")
    .Input("max_output_size: int32")
    .Input("iou_threshold: T")
    .Input("score_threshold: T")
    .Input("soft_nms_sigma: T")
    .Output("selected_indices: int32")
    .Output("selected_scores: T")
    .Output("valid_outputs: int32")
    .Attr("T: {half, float} = DT_FLOAT")
    .Attr("pad_to_max_output_size: bool = false")
    .SetShapeFn(NmsShape);

REGISTER_OP("NonMaxSuppressionWithOverlaps")
    .Input("overlaps: float")
    .Input("scores: float")
    .Input("max_output_size: int32")
    .Input("overlap_threshold: float")
    .Input("score_threshold: float")
    .Output("selected_indices: int32")
    .SetShapeFn(NmsWithOverlapsShape);

REGISTER_OP("CombinedNonMaxSuppression")
    .Input("boxes: float")
    .Input("scores: float")
    .Input("max_output_size_per_class: int32")
    .Input("max_total_size: int32")
    .Input("iou_threshold: float")
    .Input("score_threshold: float")
    .Output("nmsed_boxes: float")
    .Output("nmsed_scores: float")
    .Output("nmsed_classes: float")
    .Output("valid_detections: int32")
    .Attr("pad_per_class: bool = false")
    .Attr("clip_boxes: bool = true")
    .SetShapeFn(CombinedNmsShape);

}  // namespace
}  // namespace headrace
