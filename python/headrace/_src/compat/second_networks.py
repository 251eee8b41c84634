"""Functions of tensorflow.python.ops with the arguments that they have in
TensorFlow 2, whose names end in _v2: networks, embeddings, images. What they do
is said at the functions of 1.x, which do it."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.image import boxes as _boxes
from headrace._src.image import transforms as _transforms
from headrace._src.nn import activations as _activations
from headrace._src.nn import candidate_sampling as _sampling
from headrace._src.nn import conv as _conv
from headrace._src.nn import embeddings as _embeddings
from headrace._src.nn import losses as _losses
from headrace._src.nn import normalization as _normalization
from headrace._src.nn import spatial as _spatial
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.random_ops import get_seed


# Convolutions and pools.

def convolution_v2(input, filters, strides=None, padding="VALID",
                   data_format=None, dilations=None, name=None):
    return _conv.convolution(input, filters, padding, strides, dilations, name,
                             data_format)


convolution_internal = convolution_v2


class Convolution:
    """tf.nn.convolution with all but its inputs: a call takes those, and the
    filter. The shapes are checked when it is made: ValueError if they do not
    fit."""

    def __init__(self, input_shape, filter_shape, padding, strides=None,
                 dilation_rate=None, name=None, data_format=None):
        rank = TensorShape(filter_shape).ndims
        wanted = TensorShape(input_shape).ndims
        if rank is not None and wanted is not None and rank != wanted:
            raise ValueError("Input tensor must be of rank %d but was %d."
                             % (rank, wanted))
        self._options = (padding, strides, dilation_rate, name, data_format)

    def __call__(self, inp, filter):
        return _conv.convolution(inp, filter, *self._options)


def conv1d_v2(input, filters, stride, padding, data_format="NWC",
              dilations=None, name=None):
    return _conv.conv1d(input, filters, stride, padding,
                        data_format=data_format, dilations=dilations, name=name)


def conv2d_v2(input, filters, strides, padding, data_format="NHWC",
              dilations=None, name=None):
    return _conv.conv2d(input, filters, strides, padding,
                        data_format=data_format,
                        dilations=[1] if dilations is None else dilations,
                        name=name)


def conv2d_transpose_v2(input, filters, output_shape, strides, padding="SAME",
                        data_format="NHWC", dilations=None, name=None):
    return _conv.conv2d_transpose(
        input, filters, output_shape, strides, padding, data_format, name,
        dilations=dilations)


def conv3d_v2(input, filters, strides, padding, data_format="NDHWC",
              dilations=None, name=None):
    return _conv.conv3d(
        input, filters, strides, padding, data_format,
        [1, 1, 1, 1, 1] if dilations is None else dilations, name)


def conv3d_transpose_v2(input, filters, output_shape, strides, padding="SAME",
                        data_format="NDHWC", dilations=None, name=None):
    return _conv.conv3d_transpose(
        input, filters, output_shape, strides, padding, data_format, name,
        dilations=dilations)


def depthwise_conv2d_v2(input, filter, strides, padding, data_format=None,
                        dilations=None, name=None):
    return _conv.depthwise_conv2d(input, filter, strides, padding, dilations,
                                  name, data_format)


def separable_conv2d_v2(input, depthwise_filter, pointwise_filter, strides,
                        padding, data_format=None, dilations=None, name=None):
    return _conv.separable_conv2d(
        input, depthwise_filter, pointwise_filter, strides, padding, dilations,
        name, data_format)


def dilation2d_v2(input, filters, strides, padding, data_format, dilations,
                  name=None):
    _only_nhwc(data_format)
    return _spatial.dilation2d(input, filters, strides, dilations, padding,
                               name)


def erosion2d_v2(value, filters, strides, padding, data_format, dilations,
                 name=None):
    _only_nhwc(data_format)
    return _spatial.erosion2d(value, filters, strides, dilations, padding, name)


def _only_nhwc(data_format):
    if data_format != "NHWC":
        raise ValueError("Data formats other than NHWC are not yet supported")


def pool_v2(input, window_shape, pooling_type, strides=None, padding="VALID",
            data_format=None, dilations=None, name=None):
    return _spatial.pool(input, window_shape, pooling_type, padding, dilations,
                         strides, name, data_format)


def avg_pool2d_v2(input, ksize, strides, padding, data_format="NHWC",
                  name=None):
    return _conv.avg_pool(input, ksize, strides, padding, data_format,
                          name or "AvgPool2D")


def max_pool_with_argmax_v2(input, ksize, strides, padding, data_format="NHWC",
                            output_dtype=dtypes.int64,
                            include_batch_in_index=False, name=None):
    _only_nhwc(data_format)
    return _raw.MaxPoolWithArgmax(
        input, ksize=_conv._sequence(ksize, 2, 3, "ksize"),
        strides=_conv._sequence(strides, 2, 3, "strides"), padding=padding,
        Targmax=output_dtype, include_batch_in_index=include_batch_in_index,
        name=name)


def _fractional(op, value, pooling_ratio, pseudo_random, overlapping, seed,
                name):
    """`pooling_ratio`: a number, two or four."""
    ratio = [float(r) for r in np.atleast_1d(pooling_ratio)]
    if len(ratio) not in (1, 2, 4):
        raise ValueError("pooling_ratio should be of length 1, 2 or 4 but was "
                         "%d" % len(ratio))
    if len(ratio) < 4:
        ratio = [1.0] + (ratio * 2)[:2] + [1.0]
    kwargs = {}
    if seed:
        first, second = get_seed(seed)
        kwargs = {"deterministic": True, "seed": first, "seed2": second}
    return op(value, pooling_ratio=ratio, pseudo_random=pseudo_random,
              overlapping=overlapping, name=name, **kwargs)


def fractional_max_pool_v2(value, pooling_ratio, pseudo_random=False,
                           overlapping=False, seed=0, name=None):
    """A seed other than 0 makes the regions the same in each run."""
    return _fractional(_raw.FractionalMaxPool, value, pooling_ratio,
                       pseudo_random, overlapping, seed, name)


def fractional_avg_pool_v2(value, pooling_ratio, pseudo_random=False,
                           overlapping=False, seed=0, name=None):
    """A seed other than 0 makes the regions the same in each run."""
    return _fractional(_raw.FractionalAvgPool, value, pooling_ratio,
                       pseudo_random, overlapping, seed, name)


# Activations.

def crelu_v2(features, axis=-1, name=None):
    return _activations.crelu(features, name, axis)


def softmax_v2(logits, axis=None, name=None):
    return _activations.softmax(logits, axis, name)


def log_softmax_v2(logits, axis=None, name=None):
    return _activations.log_softmax(logits, axis, name)


def dropout_v2(x, rate, noise_shape=None, seed=None, name=None):
    return _activations.dropout(x, None, noise_shape, seed, name, rate)


def in_top_k_v2(targets, predictions, k, name=None):
    return _activations.in_top_k(predictions, targets, k, name)


def bias_add_v1(value, bias, name=None):
    return _raw.BiasAddV1(value, bias, name=name or "BiasAdd_v1")


# Losses.

def sigmoid_cross_entropy_with_logits_v2(labels=None, logits=None, name=None):
    return _losses.sigmoid_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name)


def softmax_cross_entropy_with_logits_of_axis(labels, logits, axis=-1,
                                              name=None):
    return _losses.softmax_cross_entropy_with_logits_v2(labels, logits, axis,
                                                        name)


def sparse_softmax_cross_entropy_with_logits_v2(labels, logits, name=None):
    return _losses.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name)


def weighted_cross_entropy_with_logits_v2(labels, logits, pos_weight,
                                          name=None):
    return _losses.weighted_cross_entropy_with_logits(labels, logits,
                                                      pos_weight, name)


def nce_loss_v2(weights, biases, labels, inputs, num_sampled, num_classes,
                num_true=1, sampled_values=None, remove_accidental_hits=False,
                name="nce_loss"):
    return _sampling.nce_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, "div", name)


def sampled_softmax_loss_v2(weights, biases, labels, inputs, num_sampled,
                            num_classes, num_true=1, sampled_values=None,
                            remove_accidental_hits=True, seed=None,
                            name="sampled_softmax_loss"):
    return _sampling.sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, remove_accidental_hits, "div", name, seed)


# Statistics.

def l2_normalize_v2(x, axis=None, epsilon=1e-12, name=None):
    return _normalization.l2_normalize(x, axis, epsilon, name)


def moments_v2(x, axes, shift=None, keepdims=False, name=None):
    return _normalization.moments(x, axes, shift, name, keepdims=keepdims)


def weighted_moments_v2(x, axes, frequency_weights, keepdims=False, name=None):
    return _normalization.weighted_moments(x, axes, frequency_weights, name,
                                           keepdims=keepdims)


def sufficient_statistics_v2(x, axes, shift=None, keepdims=False, name=None):
    return _normalization.sufficient_statistics(x, axes, shift, keepdims, name)


def batch_norm_with_global_normalization_v2(
        input, mean, variance, beta, gamma, variance_epsilon,
        scale_after_normalization, name=None):
    return _normalization.batch_norm_with_global_normalization(
        input, mean, variance, beta, gamma, variance_epsilon,
        scale_after_normalization, name)


# Embeddings.

def embedding_lookup_v2(params, ids, max_norm=None, name=None):
    return _embeddings.embedding_lookup(params, ids, "div", name,
                                        max_norm=max_norm)


def embedding_lookup_sparse_v2(params, sp_ids, sp_weights, combiner=None,
                               max_norm=None, name=None):
    return _embeddings.embedding_lookup_sparse(
        params, sp_ids, sp_weights, "div", name, combiner, max_norm)


def safe_embedding_lookup_sparse_v2(
        embedding_weights, sparse_ids, sparse_weights=None, combiner="mean",
        default_id=None, max_norm=None, name=None):
    return _embeddings.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id,
        name, "div", max_norm)


# Images.

def crop_and_resize_v2(image, boxes, box_indices, crop_size, method="bilinear",
                       extrapolation_value=0, name=None):
    return _boxes.crop_and_resize(image, boxes, box_indices, crop_size, method,
                                  extrapolation_value, name)


def draw_bounding_boxes_v2(images, boxes, colors, name=None):
    return _boxes.draw_bounding_boxes(images, boxes, name, colors)


def sample_distorted_bounding_box_v2(
        image_size, bounding_boxes, seed=0, min_object_covered=0.1,
        aspect_ratio_range=None, area_range=None, max_attempts=None,
        use_image_if_no_bounding_boxes=None, name=None):
    first, second = get_seed(seed) if seed else (0, 0)
    return _boxes.sample_distorted_bounding_box(
        image_size, bounding_boxes, first, second, min_object_covered,
        aspect_ratio_range, area_range, max_attempts,
        use_image_if_no_bounding_boxes, name)


def extract_glimpse_v2(input, size, offsets, centered=True, normalized=True,
                       noise="uniform", name=None):
    """tf.image.extract_glimpse. `noise`: what lies outside of the image:
    "uniform" or "gaussian" numbers, or "zero"."""
    return _raw.ExtractGlimpse(
        input, size, offsets, centered=centered, normalized=normalized,
        uniform_noise=noise == "uniform", noise=noise, name=name)


class ResizeMethod:
    """The methods of resize_images_v2. Those after `area` weigh more than 16
    pixels, and take `antialias`, as do the first and third."""
    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Weights that ScaleAndTranslate knows, by method.
_KERNELS = {"bilinear": "triangle", "bicubic": "keyscubic",
            "lanczos3": "lanczos3", "lanczos5": "lanczos5",
            "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}


def _resizer(method, antialias):
    """The function of images and size that a method is, for pixels that lie
    in the middle of their squares."""
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return lambda images, size: _transforms.resize_nearest_neighbor(
            images, size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return _raw.ResizeArea
    if method == ResizeMethod.BILINEAR and not antialias:
        return lambda images, size: _transforms.resize_bilinear(
            images, size, half_pixel_centers=True)
    if method == ResizeMethod.BICUBIC and not antialias:
        return lambda images, size: _transforms.resize_bicubic(
            images, size, half_pixel_centers=True)
    if method not in _KERNELS:
        raise ValueError("Resize method is not implemented: %s" % (method,))

    def scaled(images, size):
        old = _math.cast(_array.shape(images)[1:3], dtypes.float32)
        return _raw.ScaleAndTranslate(
            images, size, _math.cast(size, dtypes.float32) / old,
            _array.zeros([2]), kernel_type=_KERNELS[method],
            antialias=antialias)
    return scaled


def resize_images_v2(images, size, method=ResizeMethod.BILINEAR,
                     preserve_aspect_ratio=False, antialias=False, name=None):
    """tf.image.resize_images for pixels that lie in the middle of their
    squares. `antialias`: the weights widen where images shrink."""
    with name_scope(name, "resize", [images, size]):
        return _transforms._resized(images, size, _resizer(method, antialias),
                                    preserve_aspect_ratio)


def resize_image_with_pad_v2(image, target_height, target_width,
                             method=ResizeMethod.BILINEAR, antialias=False):
    """tf.image.resize_image_with_pad by resize_images_v2."""
    return _transforms._resized_with_pad(
        image, target_height, target_width,
        lambda x, size: resize_images_v2(x, size, method, antialias=antialias))
