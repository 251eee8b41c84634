"""tf.contrib.layers: pools of any rank, images as sequences and as key points;
and the fully connected layers by their first names."""
import functools

from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.contrib.layer_utils import n_positive_integers
from headrace._src.contrib.layers import collections_of
from headrace._src.contrib.outputs import collect_named_outputs
from headrace._src.contrib.regularizers import xavier_initializer
from headrace._src.contrib.variables import model_variable
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collections, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn import activations as _nn
from headrace._src.nn.spatial import pool as _pool_of_nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_special import meshgrid
from headrace._src.variables.initializers import Constant, Zeros
from headrace._src.variables.scopes import get_variable, variable_scope


@add_arg_scope
def pool(inputs, kernel_size, pooling_type, padding="VALID", data_format=None,
         dilation_rate=1, stride=1, outputs_collections=None, scope=None):
    """tf.nn.pool: pooling_type is "MAX" or "AVG"; sizes are one number or one
    for each dimension between the batch and the channels. ValueError for inputs
    without such."""
    with name_scope(scope, "%s_pool" % pooling_type.lower(), [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        outputs = _pool_of_nn(
            inputs, n_positive_integers(rank - 2, kernel_size), pooling_type,
            padding, dilation_rate=n_positive_integers(rank - 2, dilation_rate),
            strides=n_positive_integers(rank - 2, stride),
            data_format=data_format, name=sc)
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None,
                       scope=None):
    """Images [batch, height, width, channels] as sequences [width, batch *
    height, channels]: each row by itself, from left to right."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = _array.transpose(inputs, [0, 2, 3, 1])
        width, channels = inputs.get_shape().as_list()[2:]
        sizes = _array.shape(inputs)
        outputs = _array.reshape(
            _array.transpose(inputs, [2, 0, 1, 3]),
            [-1 if width is None else width, sizes[0] * sizes[1],
             sizes[3] if channels is None else channels])
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(inputs, height, output_data_format="channels_last",
                       outputs_collections=None, scope=None):
    """Sequences [width, batch * height, channels] as images, as
    images_to_sequence had them; with "channels_first" [batch, channels, height,
    width]."""
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, batches, channels = inputs.get_shape().as_list()
        outputs = _array.reshape(
            inputs, [-1 if width is None else width,
                     _array.shape(inputs)[1] // height if batches is None
                     else batches // height, height, channels])
        outputs = _array.transpose(
            outputs, [1, 3, 2, 0] if output_data_format == "channels_first"
            else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def spatial_softmax(features, temperature=None, name=None,
                    variables_collections=None, trainable=True,
                    data_format="NHWC"):
    """Where each channel of images is large: [batch, 2 * channels], the means of
    the row and of the column, from -1 to 1, by the softmax of features /
    temperature, a variable that is 1 at first by default."""
    with variable_scope(name, "spatial_softmax"):
        features = convert_to_tensor(features)
        sizes, known = _array.shape(features), features.get_shape()
        if data_format == "NHWC":
            height, width, channels = sizes[1], sizes[2], known[3].value
        elif data_format == "NCHW":
            height, width, channels = sizes[2], sizes[3], known[1].value
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to "
                             "`spatial_softmax` should be defined. Found "
                             "`None`.")
        with name_scope("spatial_softmax"):
            positions = [_array.reshape(grid, [height * width])
                         for grid in meshgrid(
                             _math.linspace(-1., 1., num=height),
                             _math.linspace(-1., 1., num=width),
                             indexing="ij")]
            temperature = model_variable(
                "temperature", shape=(), dtype=dtypes.float32,
                initializer=Constant(1. if temperature is None
                                     else temperature),
                collections=collections_of(variables_collections,
                                           "temperature"), trainable=trainable)
            if data_format == "NHWC":
                features = _array.transpose(features, [0, 3, 1, 2])
            shares = _nn.softmax(
                _array.reshape(features, [-1, height * width]) / temperature)
            points = _array.concat([_math.reduce_sum(
                p * shares, [1], keepdims=True) for p in positions], 1)
            points = _array.reshape(points, [-1, channels * 2])
            points.set_shape([None, channels * 2])
        return points


_WEIGHTS, _BIASES = (GraphKeys.WEIGHTS,), (GraphKeys.BIASES,)


def legacy_fully_connected(
        x, num_output_units, activation_fn=None,
        weight_init=xavier_initializer(), bias_init=Zeros(), name=None,
        weight_collections=_WEIGHTS, bias_collections=_BIASES,
        output_collections=(GraphKeys.ACTIVATIONS,), trainable=True,
        weight_regularizer=None, bias_regularizer=None):
    """activation_fn(x weights + bias) for the last dimension of x; without
    bias_init no bias. ValueError for less than two dimensions, and if the last
    size is not known."""
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        rank = x.get_shape().ndims
        if rank is None:
            raise ValueError("dims of x must be known but is None")
        if rank < 2:
            raise ValueError("rank of x must be at least 2 not: %d" % rank)
        size = x.get_shape()[-1].value
        if size is None:
            raise ValueError("last dimension of x must be known but is None")

        def variable(name, shape, initializer, collections, regularizer):
            return get_variable(
                name, shape=shape, dtype=x.dtype.base_dtype,
                initializer=initializer, regularizer=regularizer,
                trainable=trainable, collections=list(dict.fromkeys([
                    *(collections or ()), GraphKeys.GLOBAL_VARIABLES])))
        weights = variable("weights", [size, num_output_units], weight_init,
                           weight_collections, weight_regularizer)
        y = _math.matmul(x if rank == 2 else _array.reshape(x, [-1, size]),
                         weights)
        if bias_init is not None:
            y = _nn.bias_add(y, variable(
                "bias", [num_output_units], bias_init, bias_collections,
                bias_regularizer))
        if rank > 2:
            known = x.get_shape()[:-1].concatenate([num_output_units])
            y = _array.reshape(y, _array.concat(
                [_array.shape(x)[:-1], [num_output_units]], 0))
            y.set_shape(known)
        if activation_fn:
            y = activation_fn(y)
        add_to_collections(list(dict.fromkeys([
            *(output_collections or ()), GraphKeys.ACTIVATIONS])), y)
        return y


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=_nn.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
