"""tf.contrib.layers, which is tf.contrib.slim too: functions that make a layer,
its variables (of MODEL_VARIABLES, named `weights` and `biases`), a normalizer
and an activation. All take arguments from arg_scopes."""
import functools
import inspect

from headrace import raw_ops as _raw
from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.contrib.outputs import collect_named_outputs
from headrace._src.contrib.regularizers import xavier_initializer
from headrace._src.contrib.variables import model_getter, model_variable
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collections, colocate_with, control_dependencies,
    name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.layers import backend, functions
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.nn import normalization as _norm
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.moving_averages import assign_moving_average
from headrace._src.variables.initializers import Ones, Zeros
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.scopes import get_variable_scope, variable_scope
from headrace._src.variables.variables import assign_sub

_UPDATES = GraphKeys.UPDATE_OPS


def collections_of(collections, name):
    """`collections` may have them by the names of the variables."""
    if isinstance(collections, dict):
        return collections.get(name)
    return collections


def _collect(variable, collections, name):
    keys = collections_of(collections, name)
    if variable is None or not keys:
        return
    parts = (list(variable) if isinstance(variable, PartitionedVariable)
             else [variable])
    for part in parts:
        add_to_collections(keys, part)


def _keras_format(data_format, allowed):
    if data_format not in (None,) + allowed:
        raise ValueError("data_format has to be either %s or %s. It is %s"
                         % (*reversed(allowed), data_format))
    return ("channels_first" if data_format and data_format.startswith("NC")
            else "channels_last")


_IMAGES = ("NHWC", "NCHW")
_VOLUMES = ("NDHWC", "NCDHW")


def finish(outputs, normalizer_fn, normalizer_params, activation_fn,
           outputs_collections, scope):
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, scope.name, outputs)


def _options(inputs, scope, reuse, normalizer_fn, weights_initializer,
             weights_regularizer, biases_initializer, biases_regularizer,
             trainable):
    """What all layers with a kernel and a bias take."""
    return dict(
        activation=None,
        use_bias=not normalizer_fn and bool(biases_initializer),
        kernel_initializer=weights_initializer,
        bias_initializer=biases_initializer,
        kernel_regularizer=weights_regularizer,
        bias_regularizer=biases_regularizer, trainable=trainable,
        name=scope.name, dtype=inputs.dtype.base_dtype, _scope=scope,
        _reuse=reuse)


def _applied(layer, inputs, collections, normalizer_fn, normalizer_params,
             activation_fn, outputs_collections, scope, weights=("kernel",)):
    """The layer's outputs after normalizer and activation; its variables join
    the collections."""
    outputs = layer.apply(inputs)
    for name in weights:
        _collect(getattr(layer, name), collections, "weights")
    _collect(layer.bias, collections, "biases")
    return finish(outputs, normalizer_fn, normalizer_params, activation_fn,
                  outputs_collections, scope)


_KERNEL_NAMES = {"bias": "biases", "kernel": "weights"}


@add_arg_scope
def fully_connected(
        inputs, num_outputs, activation_fn=_nn.relu, normalizer_fn=None,
        normalizer_params=None, weights_initializer=xavier_initializer(),
        weights_regularizer=None, biases_initializer=Zeros,
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None):
    """activation_fn(inputs x weights + biases), over the last dimension. With
    a normalizer_fn there are no biases.

    `inputs`: float16, float32 or float64 [batch, ..., in]; the result is
    [batch, ..., num_outputs] of that type. Variables: `weights` [in,
    num_outputs] and `biases` [num_outputs]. ValueError for a num_outputs that
    is no integer, for inputs of rank below 2 and if the size of the last
    dimension is not known."""
    if not isinstance(num_outputs, int):
        raise ValueError("num_outputs type should be int, got %s."
                         % type(num_outputs))
    with variable_scope(
            scope, "fully_connected", [inputs], reuse=reuse,
            custom_getter=model_getter(
                _KERNEL_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        layer = functions.Dense(
            units=num_outputs,
            **_options(inputs, sc, reuse, normalizer_fn, weights_initializer,
                       weights_regularizer, biases_initializer,
                       biases_regularizer, trainable))
        return _applied(layer, inputs, variables_collections, normalizer_fn,
                        normalizer_params, activation_fn, outputs_collections,
                        sc)


_CONVOLUTIONS = {3: (functions.Conv1D, ("NWC", "NCW")),
                 4: (functions.Conv2D, _IMAGES),
                 5: (functions.Conv3D, _VOLUMES)}


@add_arg_scope
def convolution(
        inputs, num_outputs, kernel_size, stride=1, padding="SAME",
        data_format=None, rate=1, activation_fn=_nn.relu, normalizer_fn=None,
        normalizer_params=None, weights_initializer=xavier_initializer(),
        weights_regularizer=None, biases_initializer=Zeros,
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None, conv_dims=None):
    """A convolution over conv_dims dimensions, by default as many as the
    inputs have between batch and channels. `rate`: the dilation."""
    with variable_scope(
            scope, "Conv", [inputs], reuse=reuse, custom_getter=model_getter(
                _KERNEL_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                "Convolution expects input with rank %d, got %s"
                % (conv_dims + 2, rank))
        if rank not in _CONVOLUTIONS:
            raise ValueError("Convolution not supported for input with rank %s"
                             % rank)
        make, formats = _CONVOLUTIONS[rank]
        layer = make(
            filters=num_outputs, kernel_size=kernel_size, strides=stride,
            padding=padding, data_format=_keras_format(data_format, formats),
            dilation_rate=rate,
            **_options(inputs, sc, reuse, normalizer_fn, weights_initializer,
                       weights_regularizer, biases_initializer,
                       biases_regularizer, trainable))
        return _applied(layer, inputs, variables_collections, normalizer_fn,
                        normalizer_params, activation_fn, outputs_collections,
                        sc)


def _with_fixed(base, name, doc, defaults=(), **fixed):
    """`base` under another name. Its arguments `fixed` have these values and
    are not in the signature; `defaults` takes the place of other defaults."""
    signature = inspect.signature(base)
    signature = signature.replace(parameters=[
        p.replace(default=dict(defaults).get(p.name, p.default))
        for p in signature.parameters.values() if p.name not in fixed])

    def layer(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        return base(**given.arguments, **fixed)
    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = doc
    layer.__signature__ = signature
    return add_arg_scope(layer)


convolution1d = _with_fixed(
    convolution, "convolution1d",
    "A convolution of sequences [batch, time, channels].", conv_dims=1)
convolution2d = _with_fixed(
    convolution, "convolution2d",
    """A convolution of images, with a normalizer or biases, and an activation.

    `inputs`: [batch, height, width, in] of float16, float32 or float64, or with
    data_format "NCHW" [batch, in, height, width]. Returns [batch, rows, columns,
    num_outputs] of the same type. Variables: `weights` [height, width, in,
    num_outputs] and `biases` [num_outputs]. ValueError for another rank, unknown
    channels, another data format, or both `stride` and `rate` above 1.""",
    conv_dims=2)
convolution3d = _with_fixed(
    convolution, "convolution3d", "A convolution of volumes.", conv_dims=3)


def _transpose(
        inputs, num_outputs, kernel_size, stride=1, padding="SAME",
        data_format=None, activation_fn=_nn.relu, normalizer_fn=None,
        normalizer_params=None, weights_initializer=xavier_initializer(),
        weights_regularizer=None, biases_initializer=Zeros,
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None, *, make, default,
        formats):
    with variable_scope(scope, default, [inputs], reuse=reuse,
                        custom_getter=model_getter(_KERNEL_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        layer = make(
            filters=num_outputs, kernel_size=kernel_size, strides=stride,
            padding=padding, data_format=_keras_format(data_format, formats),
            **_options(inputs, sc, reuse, normalizer_fn, weights_initializer,
                       weights_regularizer, biases_initializer,
                       biases_regularizer, trainable))
        return _applied(layer, inputs, variables_collections, normalizer_fn,
                        normalizer_params, activation_fn, outputs_collections,
                        sc)


convolution2d_transpose = _with_fixed(
    _transpose, "convolution2d_transpose",
    "The transpose of a convolution of images.", {"data_format": "NHWC"},
    make=functions.Conv2DTranspose, default="Conv2d_transpose",
    formats=_IMAGES)
convolution3d_transpose = _with_fixed(
    _transpose, "convolution3d_transpose",
    "The transpose of a convolution of volumes.", {"data_format": "NDHWC"},
    make=functions.Conv3DTranspose, default="Conv3d_transpose",
    formats=_VOLUMES)


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


@add_arg_scope
def separable_convolution2d(
        inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1,
        padding="SAME", data_format="NHWC", rate=1, activation_fn=_nn.relu,
        normalizer_fn=None, normalizer_params=None,
        weights_initializer=xavier_initializer(), pointwise_initializer=None,
        weights_regularizer=None, biases_initializer=Zeros,
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None):
    """A convolution of each channel by itself, then one over all channels;
    with num_outputs None the first alone.

    `inputs`: [batch, height, width, in] of float16, float32 or float64, or as
    data_format "NCHW" says. Returns [batch, rows, columns, num_outputs] of the
    same type; in * depth_multiplier channels without num_outputs. Variables:
    `depthwise_weights`, `pointwise_weights` and `biases`. ValueError for
    another rank, unknown channels or another data format."""
    with variable_scope(
            scope, "SeparableConv2d", [inputs], reuse=reuse,
            custom_getter=model_getter({
                "bias": "biases", "depthwise_kernel": "depthwise_weights",
                "pointwise_kernel": "pointwise_weights"})) as sc:
        inputs = convert_to_tensor(inputs)
        keras_format = _keras_format(data_format, _IMAGES)
        if num_outputs is None:
            outputs = _depthwise(
                inputs, kernel_size, depth_multiplier, stride, padding,
                data_format, rate, normalizer_fn, weights_initializer,
                weights_regularizer, biases_initializer, biases_regularizer,
                variables_collections, trainable)
            return finish(outputs, normalizer_fn, normalizer_params,
                          activation_fn, outputs_collections, sc)
        options = _options(inputs, sc, reuse, normalizer_fn,
                           weights_initializer, weights_regularizer,
                           biases_initializer, biases_regularizer, trainable)
        del options["kernel_initializer"], options["kernel_regularizer"]
        layer = functions.SeparableConv2D(
            filters=num_outputs, kernel_size=kernel_size, strides=stride,
            padding=padding, data_format=keras_format,
            dilation_rate=pair(rate), depth_multiplier=depth_multiplier,
            depthwise_initializer=weights_initializer,
            pointwise_initializer=(
                weights_initializer if pointwise_initializer is None
                else pointwise_initializer),
            depthwise_regularizer=weights_regularizer,
            pointwise_regularizer=weights_regularizer, **options)
        return _applied(
            layer, inputs, variables_collections, normalizer_fn,
            normalizer_params, activation_fn, outputs_collections, sc,
            weights=("depthwise_kernel", "pointwise_kernel"))


def _depthwise(inputs, kernel_size, multiplier, stride, padding, data_format,
               rate, normalizer_fn, weights_initializer, weights_regularizer,
               biases_initializer, biases_regularizer, collections, trainable):
    kind = inputs.dtype.base_dtype
    channels_first = data_format.startswith("NC")
    channels = inputs.get_shape()[1 if channels_first else 3].value
    if channels is None:
        raise ValueError("separable_conv2d: the number of channels of the "
                         "inputs must be known, got shape %s"
                         % inputs.get_shape())
    weights = model_variable(
        "depthwise_weights",
        shape=list(pair(kernel_size)) + [channels, multiplier], dtype=kind,
        initializer=weights_initializer, regularizer=weights_regularizer,
        trainable=trainable,
        collections=collections_of(collections, "weights"))
    strides = list(pair(stride))
    outputs = _conv.depthwise_conv2d(
        inputs, weights, [1, 1] + strides if channels_first
        else [1] + strides + [1], padding, rate=pair(rate),
        data_format=data_format)
    if normalizer_fn is None and biases_initializer is not None:
        outputs = _nn.bias_add(outputs, model_variable(
            "biases", shape=[multiplier * channels], dtype=kind,
            initializer=biases_initializer, regularizer=biases_regularizer,
            trainable=trainable,
            collections=collections_of(collections, "biases")),
            data_format=data_format)
    return outputs


def _pool(layer, default, inputs, kernel_size, stride, padding, data_format,
          outputs_collections, scope, formats=_IMAGES):
    keras_format = _keras_format(data_format, formats)
    with name_scope(scope, default, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        outputs = layer(pool_size=kernel_size, strides=stride, padding=padding,
                        data_format=keras_format, _scope=sc).apply(inputs)
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID",
               data_format="NHWC", outputs_collections=None, scope=None):
    """The largest of each window of an image.

    `inputs`: real numbers [batch, height, width, channels], or as data_format
    "NCHW" says; `kernel_size` and `stride`: a number or two. The result has its
    type and rank, and joins `outputs_collections`. ValueError for another rank
    or data format."""
    return _pool(functions.MaxPooling2D, "MaxPool2D", inputs, kernel_size,
                 stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID",
               data_format="NHWC", outputs_collections=None, scope=None):
    """The mean of each window of an image, over what is inside it.

    `inputs`: float16, bfloat16, float32 or float64 [batch, height, width,
    channels], or as data_format "NCHW" says; `kernel_size` and `stride`: a
    number or two. The result has its type and rank, and joins
    `outputs_collections`. ValueError for another rank or data format."""
    return _pool(functions.AveragePooling2D, "AvgPool2D", inputs, kernel_size,
                 stride, padding, data_format, outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs, kernel_size, stride=2, padding="VALID",
               data_format="NDHWC", outputs_collections=None, scope=None):
    """The largest of each window of a volume."""
    return _pool(functions.MaxPooling3D, "MaxPool3D", inputs, kernel_size,
                 stride, padding, data_format, outputs_collections, scope,
                 _VOLUMES)


@add_arg_scope
def avg_pool3d(inputs, kernel_size, stride=2, padding="VALID",
               data_format="NDHWC", outputs_collections=None, scope=None):
    """The mean of each window of a volume."""
    return _pool(functions.AveragePooling3D, "AvgPool3D", inputs, kernel_size,
                 stride, padding, data_format, outputs_collections, scope,
                 _VOLUMES)


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True,
            outputs_collections=None, scope=None, seed=None):
    """In training, keeps a share keep_prob and scales it up.

    `inputs`: float16, float32 or float64, of any shape, which the result has
    too. `is_training`: a bool, or a scalar bool tensor. ValueError for a
    keep_prob out of (0, 1] and for other types."""
    with variable_scope(scope, "Dropout", [inputs],
                        custom_getter=model_getter({})) as sc:
        inputs = convert_to_tensor(inputs)
        layer = functions.Dropout(rate=1 - keep_prob, noise_shape=noise_shape,
                                  seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """All dimensions but the first as one: [batch, ...] gives [batch, n].

    `inputs`: of any type, which the result has, and of known rank; it joins
    `outputs_collections`. ValueError for a scalar or an unknown rank."""
    with name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        return collect_named_outputs(outputs_collections, sc,
                                     functions.flatten(inputs))


@add_arg_scope
def batch_norm(
        inputs, decay=0.999, center=True, scale=False, epsilon=0.001,
        activation_fn=None, param_initializers=None, param_regularizers=None,
        updates_collections=_UPDATES, is_training=True, reuse=None,
        variables_collections=None, outputs_collections=None, trainable=True,
        batch_weights=None, fused=None, data_format="NHWC",
        zero_debias_moving_mean=False, scope=None, renorm=False,
        renorm_clipping=None, renorm_decay=0.99, adjustment=None):
    """`inputs` normalised: by the moments of the batch in training, otherwise
    by moving averages of those. Updates of the averages join
    updates_collections; with None they happen before the result is there.
    batch_weights: a weight of each example, [batch]. zero_debias_moving_mean:
    as of assign_moving_average. renorm and adjustment: as of
    tf.layers.BatchNormalization; ValueError for renorm with batch_weights,
    zero_debias_moving_mean or other updates_collections.

    `inputs`: float16, float32 or float64, of rank 2 or more with known
    channels, the last dimension or with data_format "NCHW" the second; the
    result has its type and shape. Variables: beta, gamma, moving_mean and
    moving_variance, [channels]. ValueError for unknown channels or another data
    format."""
    _keras_format(data_format, _IMAGES)
    is_plain = (batch_weights is None and not zero_debias_moving_mean
                and updates_collections == _UPDATES)
    if renorm and not is_plain:
        raise ValueError("renorm is not supported with batch_weights, "
                         "updates_collections or zero_debias_moving_mean")
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    options = dict(param_initializers or {})
    regularizers = dict(param_regularizers or {})
    axis = 1 if data_format == "NCHW" else -1
    fused = fused is None or fused
    if fused and rank in (2, 4) and not renorm and adjustment is None and (
            batch_weights is None and (rank == 2 or not is_plain)):
        return _fused_norm(
            inputs, decay, center, scale, epsilon, activation_fn, options,
            regularizers, updates_collections, is_training, reuse,
            variables_collections, outputs_collections, trainable, data_format,
            zero_debias_moving_mean, scope)
    if not is_plain:
        return _norm_in_parts(
            inputs, decay, center, scale, epsilon, activation_fn, options,
            regularizers, updates_collections, is_training, reuse,
            variables_collections, outputs_collections, trainable,
            batch_weights, axis, zero_debias_moving_mean, scope)
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse,
                        custom_getter=model_getter({})) as sc:
        layer = functions.BatchNormalization(
            axis=axis, momentum=decay, epsilon=epsilon, center=center,
            scale=scale, beta_initializer=options.get("beta", Zeros),
            gamma_initializer=options.get("gamma", Ones),
            moving_mean_initializer=options.get("moving_mean", Zeros),
            moving_variance_initializer=options.get("moving_variance", Ones),
            beta_regularizer=regularizers.get("beta"),
            gamma_regularizer=regularizers.get("gamma"), trainable=trainable,
            renorm=renorm, renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_decay, adjustment=adjustment,
            name=sc.name, _scope=sc, _reuse=reuse, fused=fused)
        outputs = layer.apply(inputs, training=is_training)
        for name in ("moving_mean", "moving_variance", "beta", "gamma"):
            _collect(getattr(layer, name), variables_collections, name)
        return finish(outputs, None, None, activation_fn,
                      outputs_collections, sc)


def _moved(variable, value, decay):
    """The assignment that moves `variable` towards `value`."""
    with name_scope("AssignMovingAvg") as scope:
        with colocate_with(variable.op):
            share = convert_to_tensor(1.0 - decay, name="decay")
            return assign_sub(variable, (variable - value) * share, name=scope)


def _norm_in_parts(inputs, decay, center, scale, epsilon, activation_fn,
                   initializers, regularizers, updates_collections,
                   is_training, reuse, collections, outputs_collections,
                   trainable, batch_weights, axis, zero_debias, scope):
    """batch_norm of inputs of any rank: by moments, which may have weights,
    with updates in any collections or before the result."""
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        static = inputs.get_shape()
        rank = static.ndims
        if rank is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        axis %= rank
        sizes = static[axis:axis + 1]
        if not sizes.is_fully_defined():
            raise ValueError("Inputs %s has undefined channels dimension %s."
                             % (inputs.name, sizes))
        axes = [i for i in range(rank) if i != axis]
        kind = inputs.dtype.base_dtype

        def parameter(name, default, trains):
            return model_variable(
                name, shape=sizes, dtype=kind,
                initializer=initializers.get(name, default),
                regularizer=regularizers.get(name), trainable=trains,
                collections=collections_of(collections, name))
        beta = parameter("beta", Zeros, trainable) if center else None
        gamma = parameter("gamma", Ones, trainable) if scale else None
        with variable_scope(get_variable_scope()) as whole:
            whole.set_partitioner(None)
            moving = [parameter("moving_mean", Zeros, False),
                      parameter("moving_variance", Ones, False)]
        moments = moving
        if backend.known(is_training) is not False:
            if batch_weights is None:
                batch = _norm.moments(inputs, axes)
            else:
                weights = convert_to_tensor(batch_weights)
                static[0:1].assert_is_compatible_with(weights.get_shape())
                batch = _norm.weighted_moments(
                    inputs, axes,
                    _array.reshape(weights, [-1] + [1] * (rank - 1)))

            def move():
                return [assign_moving_average(v, value, decay, debias)
                        for v, value, debias in zip(
                            moving, batch, (zero_debias, False))]

            def forced():
                with control_dependencies(move()):
                    return [_array.identity(v) for v in batch]
            if updates_collections is None:
                moments = backend.choose(is_training, forced, lambda: moving)
            else:
                for update in backend.choose(is_training, move, lambda: moving):
                    add_to_collections(updates_collections, update)
                moments = backend.choose(is_training, lambda: list(batch),
                                         lambda: moving)
        parts = [*moments, beta, gamma]
        if axis != rank - 1:
            wide = [sizes.as_list()[0] if i == axis else 1
                    for i in range(rank)]
            parts = [None if v is None else _array.reshape(v, wide)
                     for v in parts]
        outputs = _norm.batch_normalization(inputs, *parts, epsilon)
        outputs.set_shape(static)
        return finish(outputs, None, None, activation_fn, outputs_collections,
                      sc)


def _fused_norm(inputs, decay, center, scale, epsilon, activation_fn,
                initializers, regularizers, updates_collections, is_training,
                reuse, collections, outputs_collections, trainable,
                data_format, zero_debias, scope):
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as sc:
        static, given = inputs.get_shape(), inputs
        first = data_format == "NCHW"
        channels = static[1 if first or static.ndims == 2 else -1].value
        if channels is None:
            raise ValueError("Inputs %s has undefined `C` dimension %s."
                             % (inputs.name, static))
        if static.ndims == 2:
            inputs = _array.reshape(inputs, [-1, channels, 1, 1] if first
                                    else [-1, 1, 1, channels])

        def parameter(name, default, trains):
            return model_variable(
                name, shape=[channels], dtype=dtypes.float32,
                initializer=initializers.get(name, default),
                regularizer=regularizers.get(name), trainable=trains,
                collections=collections_of(collections, name))
        beta = (parameter("beta", Zeros, trainable) if center
                else constant(0.0, dtypes.float32, [channels]))
        gamma = (parameter("gamma", Ones, trainable) if scale
                 else constant(1.0, dtypes.float32, [channels]))
        with variable_scope(get_variable_scope()) as whole:
            whole.set_partitioner(None)
            mean = parameter("moving_mean", Zeros, False)
            variance = parameter("moving_variance", Ones, False)
        shared = dict(epsilon=epsilon, data_format=data_format)
        outputs, batch_mean, batch_variance = backend.choose(
            is_training,
            lambda: _norm.fused_batch_norm(inputs, gamma, beta, **shared),
            lambda: _norm.fused_batch_norm(
                inputs, gamma, beta, mean=mean, variance=variance,
                is_training=False, **shared))
        if backend.known(is_training) is not False:
            def move():
                return [assign_moving_average(mean, batch_mean, decay)
                        if zero_debias else _moved(mean, batch_mean, decay),
                        _moved(variance, batch_variance, decay)]
            normal = outputs
            if updates_collections is None:
                def forced():
                    with control_dependencies(move()):
                        return _array.identity(normal)
                outputs = backend.choose(is_training, forced, lambda: normal)
            else:
                moved = backend.choose(
                    is_training, move,
                    lambda: [mean, variance])
                for update in moved:
                    add_to_collections(updates_collections, update)
        if static.ndims == 2:
            outputs = _array.reshape(outputs, _array.shape(given))
        outputs.set_shape(static)
        return finish(outputs, None, None, activation_fn,
                      outputs_collections, sc)


@add_arg_scope
def layer_norm(inputs, center=True, scale=True, activation_fn=None, reuse=None,
               variables_collections=None, outputs_collections=None,
               trainable=True, begin_norm_axis=1, begin_params_axis=-1,
               scope=None):
    """Each example normalised over the dimensions from begin_norm_axis on;
    beta and gamma have those from begin_params_axis on.

    `inputs`: float16, bfloat16, float32 or float64, of known rank; the result
    has its type and shape. ValueError for dimensions out of range, or if the
    sizes of those that have parameters are not known."""
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape()
        rank = shape.ndims
        if rank is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        kind = inputs.dtype.base_dtype
        first = begin_norm_axis + (rank if begin_norm_axis < 0 else 0)
        if begin_params_axis >= rank or first >= rank:
            raise ValueError(
                "begin_params_axis (%d) and begin_norm_axis (%d) must be < "
                "rank(inputs) (%d)" % (begin_params_axis, first, rank))
        sizes = shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise ValueError("Inputs %s: shape(inputs)[%s:] is not fully "
                             "defined: %s"
                             % (inputs.name, begin_params_axis, shape))

        def parameter(name, initializer):
            return model_variable(
                name, shape=sizes.as_list(), dtype=kind,
                initializer=initializer, trainable=trainable,
                collections=collections_of(variables_collections, name))
        beta = parameter("beta", Zeros()) if center else None
        gamma = parameter("gamma", Ones()) if scale else None
        mean, variance = _norm.moments(inputs, list(range(first, rank)),
                                       keep_dims=True)
        outputs = _norm.batch_normalization(
            inputs, mean, variance, offset=beta, scale=gamma,
            variance_epsilon=1e-3 if kind == dtypes.float16 else 1e-12)
        outputs.set_shape(shape)
        return finish(outputs, None, None, activation_fn,
                      outputs_collections, sc)


@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0,
                     outputs_collections=None, scope=None):
    """Labels as vectors, on_value at their number."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype.base_dtype == dtypes.int32:
            labels = _math.cast(labels, dtypes.int64, name="ToInt64")
        outputs = _array.one_hot(labels, num_classes, on_value=on_value,
                                 off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits, scope=None):
    """nn.softmax over the last dimension, which must be known."""
    with variable_scope(scope, "softmax", [logits]):
        shape = logits.get_shape()
        if shape.ndims is None or shape.ndims < 2 or shape[-1].value is None:
            raise ValueError("softmax: logits must have at least 2 dimensions, "
                             "the last of a known size, got shape %s" % shape)
        flat = _array.reshape(logits, [-1, shape[-1].value])
        outputs = _array.reshape(_nn.softmax(flat), _array.shape(logits))
        outputs.set_shape(shape)
        return outputs


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """`inputs` divided by their lengths along `dim`."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input "
                             "rank.")
        lengths = _math.sqrt(epsilon + _math.reduce_sum(
            _math.square(inputs), dim, keepdims=True))
        # The nodes of TensorFlow, which does not broadcast here.
        repeats = [_array.ones([dim], dtypes.int32)] if dim > 0 else []
        repeats.append(_array.strided_slice(_array.shape(inputs), [dim],
                                            [dim + 1]))
        if dim < rank - 1:
            repeats.append(_array.ones([rank - 1 - dim], dtypes.int32))
        return _math.div(inputs, _array.tile(lengths,
                                             _array.concat(repeats, 0)))


def _scope_of(layer, default):
    """What repeated layers are named after."""
    return getattr(layer, "__name__", None) or getattr(
        getattr(layer, "func", None), "__name__", default)


def repeat(inputs, repetitions, layer, *args, **kwargs):
    """`layer` applied `repetitions` times, in scopes scope/scope_1 and so
    on.

    `inputs`: what the layer takes, of any shape and dtype; the output of one
    call is the input of the next. Returns the last output. ValueError
    for inputs that `layer` refuses, and what else it raises."""
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Repeat", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _scope_of(layer, "repeat")
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{
                **kwargs, "scope": "%s_%d" % (scope, i + 1)})
        return outputs


def stack(inputs, layer, stack_args, **kwargs):
    """`layer` applied once with each of stack_args, in scopes scope/scope_1
    and so on."""
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, "Stack", [inputs]):
        outputs = convert_to_tensor(inputs)
        scope = scope or _scope_of(layer, "stack")
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            outputs = layer(outputs, *args, **{
                **kwargs, "scope": "%s_%d" % (scope, i + 1)})
        return outputs


elu = functools.partial(fully_connected, activation_fn=_raw.Elu)
linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=_nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=_nn.relu6)
conv1d = convolution1d
conv2d = convolution2d
conv3d = convolution3d
conv3d_transpose = convolution3d_transpose
conv2d_transpose = convolution2d_transpose
separable_conv2d = separable_convolution2d
