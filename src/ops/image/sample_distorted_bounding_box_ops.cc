// Random crops that cover a part of some object: schemas and shapes.
#include "framework/shape_fns/common_shape_fns.h"
#include "headrace/op.h"

namespace headrace {

namespace {
Status SampleDistortedShape(InferenceContext* c) {
  PartialTensorShape image, boxes, covered;
  HR_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &image));
  int64_t three, four;
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(image, 0), 3, &three));
  HR_RETURN_IF_ERROR(c->WithRank(c->input(1), 3, &boxes));
  HR_RETURN_IF_ERROR(c->WithValue(c->Dim(boxes, 2), 4, &four));
  if (c->num_inputs() > 2) {
    HR_RETURN_IF_ERROR(c->WithRank(c->input(2), 0, &covered));
  }
  if (c->num_inputs() > 3) {
    PartialTensorShape seed;
    int64_t two;
    HR_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &seed));
    HR_RETURN_IF_ERROR(c->WithValue(c->Dim(seed, 0), 2, &two));
  }
  c->set_output(0, c->Vector(3));
  c->set_output(1, c->Vector(3));
  c->set_output(2, PartialTensorShape({1, 1, 4}));
  return OkStatus();
}
}  // namespace

REGISTER_OP("SampleDistortedBoundingBox")
    .Input("image_size: T")
    .Input("bounding_boxes: float")
    .Output("begin: T")
    .Output("size: T")
    .Output("bboxes: float")
    .Attr("T: {uint8, int8, int16, int32, int64}")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("min_object_covered: float = 0.1")
    .Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
    .Attr("area_range: list(float) = [0.05, 1.0]")
    .Attr("max_attempts: int = 100")
    .Attr("use_image_if_no_bounding_boxes: bool = false")
    .SetIsStateful()
    .SetShapeFn(SampleDistortedShape)
    .IsRandom();
REGISTER_OP("SampleDistortedBoundingBoxV2")
    .Input("image_size: T")
    .Input("bounding_boxes: float")
    .Input("min_object_covered: float")
    .Output("begin: T")
    .Output("size: T")
    .Output("bboxes: float")
    .Attr("T: {uint8, int8, int16, int32, int64}")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
    .Attr("area_range: list(float) = [0.05, 1.0]")
    .Attr("max_attempts: int = 100")
    .Attr("use_image_if_no_bounding_boxes: bool = false")
    .SetIsStateful()
    .SetShapeFn(SampleDistortedShape)
    .IsRandom();
REGISTER_OP("StatelessSampleDistortedBoundingBox")
    .Input("image_size: T")
    .Input("bounding_boxes: float")
    .Input("min_object_covered: float")
    .Input("seed: Tseed")
    .Output("begin: T")
    .Output("size: T")
    .Output("bboxes: float")
    .Attr("T: {uint8, int8, int16, int32, int64}")
    .Attr("Tseed: {int32, int64}")
    .Attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
    .Attr("area_range: list(float) = [0.05, 1.0]")
    .Attr("max_attempts: int = 100")
    .Attr("use_image_if_no_bounding_boxes: bool = false")
    .SetShapeFn(SampleDistortedShape);

}  // namespace headrace
