"""tf.image: more about boxes [y1, x1, y2, x2] in images, and parts of images."""
from headrace import array_ops as _array
from headrace import dtypes
from headrace import raw_ops as _raw
from headrace.graph import name_scope
from headrace.tensor import convert_to_tensor


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """A batch of images with boxes [batch, n, 4] drawn, in [0, 1] of the sides,
    in the `colors` [m, 4] in turn, or in those of the op."""
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
    return _array.extract_image_patches(images, sizes, strides, rates, padding,
                                        name)
