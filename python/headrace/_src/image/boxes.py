"""tf.image: boxes [y1, x1, y2, x2] in images, and parts of images."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops.blocks import extract_image_patches


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """A batch of images with boxes [batch, n, 4] drawn, in [0, 1] of the sides,
    in the `colors` [m, 4] in turn, or in those of the op.

    `images`: float16 or float32 [batch, height, width, channels], whose type
    and shape the result has; boxes are float32 (y1, x1, y2, x2). ValueError for
    other ranks; TypeError for other types; InvalidArgumentError in the run for
    batches that differ."""
    if colors is None:
        return _raw.DrawBoundingBoxes(images, boxes, name=name)
    return _raw.DrawBoundingBoxesV2(images, boxes, colors, name=name)


def non_max_suppression_overlaps(overlaps, scores, max_output_size,
                                 overlap_threshold=0.5,
                                 score_threshold=float("-inf"), name=None):
    """non_max_suppression of boxes of which `overlaps` [n, n] says how much
    each two overlap."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return _raw.NonMaxSuppressionWithOverlaps(
            overlaps, scores, max_output_size,
            convert_to_tensor(overlap_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32))


def non_max_suppression_padded(boxes, scores, max_output_size,
                               iou_threshold=0.5,
                               score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None):
    """(non_max_suppression, filled up with 0 if asked for; how many of them are
    meant)."""
    with name_scope(name, "non_max_suppression_padded"):
        selected, valid = _raw.NonMaxSuppressionV4(
            boxes, scores, max_output_size,
            convert_to_tensor(iou_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32),
            pad_to_max_output_size=pad_to_max_output_size)
        return selected, valid


def non_max_suppression_with_scores(boxes, scores, max_output_size,
                                    iou_threshold=0.5,
                                    score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """(non_max_suppression, the scores). soft_nms_sigma above 0: an overlap
    lowers the score of a box by a Gaussian of that width instead of taking it
    out."""
    with name_scope(name, "non_max_suppression_with_scores"):
        selected, kept, _ = _raw.NonMaxSuppressionV5(
            boxes, scores, max_output_size,
            convert_to_tensor(iou_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32),
            convert_to_tensor(soft_nms_sigma, dtypes.float32),
            pad_to_max_output_size=False)
        return selected, kept


def combined_non_max_suppression(boxes, scores, max_output_size_per_class,
                                 max_total_size, iou_threshold=0.5,
                                 score_threshold=float("-inf"),
                                 pad_per_class=False, clip_boxes=True,
                                 name=None):
    """(boxes, scores, classes, how many are meant) of each image of a batch:
    non_max_suppression within each class of boxes [batch, n, classes or 1, 4],
    then the best of all."""
    with name_scope(name, "combined_non_max_suppression"):
        return _raw.CombinedNonMaxSuppression(
            boxes, scores, max_output_size_per_class, max_total_size,
            convert_to_tensor(iou_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32),
            pad_per_class=pad_per_class, clip_boxes=clip_boxes)


def extract_glimpse(input, size, offsets, centered=True, normalized=True,
                    uniform_noise=True, name=None):
    """Parts of `size` of a batch of images, around the offsets; what lies
    outside is noise."""
    return _raw.ExtractGlimpse(
        input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=uniform_noise, name=name)


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """Patches of images in the depth dimension."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5,
                        score_threshold=float("-inf"), name=None):
    """Indices of the best boxes [y1, x1, y2, x2], no two of which overlap by
    more than iou_threshold.

    `boxes`: float16 or float32 [n, 4]; `scores`: of their type [n]; the others
    are scalars. Returns int32 [m], m <= max_output_size, best first; boxes that
    score score_threshold or less are left out. ValueError for other shapes or
    thresholds out of [0, 1]; TypeError for other types."""
    with name_scope(name, "non_max_suppression"):
        return _raw.NonMaxSuppressionV3(
            boxes, scores, max_output_size,
            convert_to_tensor(iou_threshold, dtypes.float32),
            convert_to_tensor(score_threshold, dtypes.float32))


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=None,
                                  seed2=None, min_object_covered=0.1,
                                  aspect_ratio_range=None, area_range=None,
                                  max_attempts=None,
                                  use_image_if_no_bounding_boxes=None,
                                  name=None):
    """(begin, size, box [1, 1, 4]) of a random crop, for slice and for
    draw_bounding_boxes: its area and aspect ratio (width / height) lie in the
    ranges, by default (0.05, 1) of the image and (0.75, 1.33), and it covers
    min_object_covered of one of the boxes [1, n, 4]. The whole image if none is
    found in max_attempts (100).

    `image_size`: integers [3]; begin and size are of its type [3], boxes
    float32. ValueError for other shapes; InvalidArgumentError in the run for no
    box, unless use_image_if_no_bounding_boxes, and for ranges that are none."""
    with name_scope(name, "sample_distorted_bounding_box"):
        return _raw.SampleDistortedBoundingBoxV2(
            image_size, bounding_boxes,
            convert_to_tensor(min_object_covered, dtypes.float32),
            seed=seed or 0, seed2=seed2 or 0,
            aspect_ratio_range=aspect_ratio_range or [.75, 1.33],
            area_range=area_range or [.05, 1.],
            max_attempts=max_attempts or 100,
            use_image_if_no_bounding_boxes=bool(
                use_image_if_no_bounding_boxes))


def crop_and_resize(image, boxes, box_ind=None, crop_size=None,
                    method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):
    """The parts `boxes` (in [0, 1]) of the images `box_ind`, each resized to
    crop_size."""
    return _raw.CropAndResize(
        image, boxes, box_ind if box_indices is None else box_indices,
        crop_size, method=method, extrapolation_value=extrapolation_value,
        name=name)
