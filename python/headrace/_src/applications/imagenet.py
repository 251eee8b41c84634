"""tf.keras.applications: images as the networks take them, and their predictions as
classes of ImageNet."""
import json

import numpy as np

from headrace._headrace import Tensor
from headrace._src.applications.parts import kept
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

# Of the red, green and blue of ImageNet's images.
_MEANS = (123.68, 116.779, 103.939)
_UNIT_MEANS, _UNIT_DEVIATIONS = (.485, .456, .406), (.229, .224, .225)


def preprocess_input(x, data_format=None, mode="caffe", **kwargs):
    """Images, a float array or Tensor [rows, columns, 3] or [batch, rows, columns,
    3] of numbers up to 255, as networks take them.

    mode: "caffe": blue, green, red, less ImageNet's mean; "tf": from -1 to 1;
    "torch": from 0 to 1, less the mean, and divided by the deviation. Arrays of
    floats are changed in place. ValueError for other formats of data."""
    data_format = data_format or backend.image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Unknown data_format %s" % (data_format,))
    if isinstance(x, Tensor):
        return _tensor(x, data_format, mode)
    x = np.asarray(x)
    if not issubclass(x.dtype.type, np.floating):
        x = x.astype(backend.floatx())
    if mode == "tf":
        x /= 127.5
        x -= 1.
        return x
    # A view, whose last dimension has the channels.
    view = x if data_format == "channels_last" else np.moveaxis(x, -3, -1)
    if mode == "torch":
        x /= 255.
        view -= _UNIT_MEANS
        view /= _UNIT_DEVIATIONS
        return x
    reverse = view[..., ::-1]
    reverse -= _MEANS[::-1]
    return reverse if view is x else np.moveaxis(reverse, -1, -3)


def _tensor(x, data_format, mode):
    if mode == "tf":
        return x / 127.5 - 1.
    at = -1 if data_format == "channels_last" else -3
    if mode == "torch":
        means, deviations = _UNIT_MEANS, _UNIT_DEVIATIONS
        x = x / 255.
    else:
        means, deviations = _MEANS[::-1], None
        x = _array.reverse(x, [x.get_shape().ndims + at])

    def along(values):
        return _math.cast(convert_to_tensor(np.reshape(
            np.float64(values), [3] + [1] * (-1 - at))), x.dtype)
    x = x - along(means)
    return x if deviations is None else x / along(deviations)


def _of(mode):
    def of_network(x, data_format=None, **kwargs):
        return preprocess_input(x, data_format, mode)
    of_network.__name__ = of_network.__qualname__ = "preprocess_input"
    of_network.__doc__ = (
        "Images as the network takes them: as imagenet_utils.preprocess_input with "
        "mode=%r, with its shapes and errors." % mode)
    return of_network


preprocess_caffe = _of("caffe")
preprocess_tf = _of("tf")
preprocess_torch = _of("torch")


def decode_predictions(preds, top=5, **kwargs):
    """[[(number, name, score)]]: of each example, the `top` classes of ImageNet with
    the highest scores in the array [batch, 1000]. ValueError for other shapes;
    NotFoundError if ~/.keras/models/imagenet_class_index.json is not there."""
    preds = np.asarray(preds)
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array "
            "of shape (samples, 1000)). Found array with shape: %s"
            % (preds.shape,))
    with open(kept("imagenet_class_index.json"), encoding="utf-8") as file:
        classes = json.load(file)
    return [[(*classes[str(i)], row[i]) for i in row.argsort()[-top:][::-1]]
            for row in preds]
