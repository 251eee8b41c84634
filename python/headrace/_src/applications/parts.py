"""What the networks of tf.keras.applications share: their arguments, their first
and last layers, and the files of their weights."""
import os

from headrace._loading import load as _load
from headrace._src.framework import errors
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.keras import models
from headrace._src.keras.sources import get_source_inputs
from headrace._src.layers import backend

# What keras_applications is given; only the layers are of use here.
_GIVEN = ("backend", "layers", "models", "utils")


class Network:
    """One network that is made. `layers`: the module that its layers are from;
    `axis`: that of the channels.

    Args: as those of the functions of tf.keras.applications. `size`: the rows and
    columns of images by default, `least`: the fewest.
    Raises ValueError for weights, classes and shapes that do not fit."""

    def __init__(self, include_top, weights, input_tensor, input_shape, pooling,
                 classes, options, size=224, least=32):
        for key in options:
            if key not in _GIVEN:
                raise TypeError("Invalid keyword argument: %s" % key)
        if not (weights in (None, "imagenet") or os.path.exists(weights)):
            raise ValueError(
                "The `weights` argument should be either `None` (random "
                "initialization), `imagenet` (pre-training on ImageNet), or the "
                "path to the weights file to be loaded; got %r" % (weights,))
        if weights == "imagenet" and include_top and classes != 1000:
            raise ValueError(
                "If using `weights` as `\"imagenet\"` with `include_top` as "
                "true, `classes` should be 1000; got %s" % classes)
        self.layers = options.get("layers") or _load("keras.layers")
        self.top, self.weights = include_top, weights
        self.pooling, self.classes = pooling, classes
        self.axis = 1 if _channels_first() else 3
        self.shape = input_shape_of(input_shape, size, least, include_top,
                                    weights)
        if input_tensor is None:
            self.inputs = self.layers.Input(shape=self.shape)
            self.sources = self.inputs
        else:
            self.inputs = (
                input_tensor if backend.is_keras_tensor(input_tensor)
                else self.layers.Input(tensor=input_tensor, shape=self.shape))
            self.sources = get_source_inputs(self.inputs)

    def pooled(self, x, average="", most=""):
        """What a network without its top ends with: `x`, or the average or the
        largest of its images; with the names of the layers."""
        if self.pooling == "avg":
            return self.layers.GlobalAveragePooling2D(name=average or None)(x)
        if self.pooling == "max":
            return self.layers.GlobalMaxPooling2D(name=most or None)(x)
        return x

    def ended(self, x, name, classes="predictions", average="", most=""):
        """The model whose last images are `x`, with the classes of their means, or
        what `pooled` makes of them. `classes`: the name of that layer."""
        if self.top:
            x = self.layers.GlobalAveragePooling2D(name="avg_pool")(x)
            x = self.layers.Dense(self.classes, activation="softmax",
                                  name=classes)(x)
        else:
            x = self.pooled(x, average, most)
        return self.model(x, name)

    def model(self, outputs, name, file=""):
        """The model, with its weights. `file`: the name of ImageNet's, if it is
        not as that of most networks."""
        model = models.Model(self.sources, outputs, name=name)
        if self.weights == "imagenet":
            model.load_weights(kept(
                file or "%s_weights_tf_dim_ordering_tf_kernels%s.h5" % (
                    name, "" if self.top else "_notop")))
        elif self.weights is not None:
            model.load_weights(self.weights)
        return model


def maker(name, text, make, shape_first=False):
    """The function `name` of tf.keras.applications, which calls make(arguments,
    options) for a network of `text`. `shape_first`: input_shape is its first
    argument."""
    def function(include_top=True, weights="imagenet", input_tensor=None,
                 input_shape=None, pooling=None, classes=1000, **kwargs):
        return make((include_top, weights, input_tensor, input_shape, pooling,
                     classes), kwargs)

    def of_shape(input_shape=None, include_top=True, weights="imagenet",
                 input_tensor=None, pooling=None, classes=1000, **kwargs):
        return function(include_top, weights, input_tensor, input_shape,
                        pooling, classes, **kwargs)
    made = of_shape if shape_first else function
    made.__name__ = made.__qualname__ = name
    made.__module__ = make.__module__
    made.__doc__ = (
        "%s; arguments, shapes and errors as those of "
        "tf.keras.applications.VGG16." % text)
    return made


def _channels_first():
    return backend.image_data_format() == "channels_first"


def input_shape_of(given, size, least, include_top, weights):
    """The shape of one image. ValueError for one that is no image, is too small,
    or does not fit the weights."""
    first = _channels_first()

    def shape(rows, columns, channels):
        return (channels, rows, columns) if first else (rows, columns, channels)
    default = shape(size, size, 3)
    if given is not None:
        given = tuple(TensorShape(given).as_list())
        if len(given) != 3:
            raise ValueError("`input_shape` must be a tuple of three integers; "
                             "got `input_shape=%s`" % (given,))
    if weights == "imagenet" and include_top:
        if given not in (None, default):
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, "
                "`input_shape` should be %s; got %s" % (default, given))
        return default
    if given is None:
        return default if include_top else shape(None, None, 3)
    channels, sides = (given[0], given[1:]) if first else (given[2], given[:2])
    if weights == "imagenet" and channels != 3:
        raise ValueError("The input must have 3 channels; got `input_shape=%s`"
                         % (given,))
    if any(side is not None and side < least for side in sides):
        raise ValueError("Input size must be at least %dx%d; got "
                         "`input_shape=%s`" % (least, least, given))
    if include_top and None in given:
        raise ValueError("If `include_top` is True, you should specify a static "
                         "`input_shape`. Got `input_shape=%s`" % (given,))
    return given


def kept(name):
    """The path of a file that Keras keeps, ~/.keras/models/`name`, where ~/.keras
    may be $KERAS_HOME. Nothing is downloaded: NotFoundError if it is not there."""
    home = os.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")
    path = os.path.join(home, "models", name)
    if not os.path.exists(path):
        raise errors.NotFoundError(
            None, None, "tf.keras.applications: no file %r. Nothing is downloaded; "
            "put the file of keras-applications 1.0.8 there, or build the model "
            "with weights=None." % path)
    return path
