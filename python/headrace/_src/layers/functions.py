"""tf.layers: the layers of tf.keras with variables of get_variable, and a
function for each, which makes the layer and calls it."""
import inspect

from headrace._src.layers import convolution, core, normalization, pooling
from headrace._src.layers.legacy import Layer
from headrace._src.variables.initializers import Ones, Zeros

_DEFAULTS = {"glorot_uniform": None, "zeros": Zeros, "ones": Ones}


def _arguments(keras, without=(), required=(), **others):
    """The signature that TensorFlow's layer has beside `keras`, one of
    tf.keras.layers: `trainable` and `name` at the end, and other defaults."""
    found = []
    for p in list(inspect.signature(keras.__init__).parameters.values()):
        if p.name in without or p.kind is p.VAR_KEYWORD:
            continue
        default = p.default
        if isinstance(default, str):
            default = _DEFAULTS.get(default, default)
        if p.name == "data_format" and default is None and (
                keras is not core.Flatten):
            default = "channels_last"
        default = p.empty if p.name in required else others.pop(p.name, default)
        found.append(p.replace(default=default))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    found += [inspect.Parameter(name, kind, default=default)
              for name, default in others.items()]
    found.append(inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(found)


def _layer(keras, *args, **others):
    """The class of tf.layers for one of tf.keras.layers."""
    signature = _arguments(keras, *args, **others)

    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        if "strides" in given and given["strides"] is None:
            raise ValueError("Argument `strides` must not be None.")
        keras.__init__(self, **given.pop("kwargs", {}), **given)
    __init__.__signature__ = signature
    return type(keras.__name__, (keras, Layer), {
        "__init__": __init__, "__module__": __name__, "__doc__": keras.__doc__})


_weights = dict(trainable=True, name=None)
Dense = _layer(core.Dense, **_weights)
Dropout = _layer(core.Dropout, rate=0.5, name=None)
Flatten = _layer(core.Flatten)
Conv1D = _layer(convolution.Conv1D, **_weights)
Conv2D = _layer(convolution.Conv2D, **_weights)
Conv3D = _layer(convolution.Conv3D, **_weights)
_TRANSPOSED = ("output_padding", "dilation_rate")
Conv2DTranspose = _layer(convolution.Conv2DTranspose, _TRANSPOSED, **_weights)
Conv3DTranspose = _layer(convolution.Conv3DTranspose, _TRANSPOSED, **_weights)
SeparableConv1D = _layer(convolution.SeparableConv1D, **_weights)
SeparableConv2D = _layer(convolution.SeparableConv2D, **_weights)
_SIZES = ("pool_size", "strides")
MaxPooling1D = _layer(pooling.MaxPooling1D, (), _SIZES, name=None)
MaxPooling2D = _layer(pooling.MaxPooling2D, (), _SIZES, name=None)
MaxPooling3D = _layer(pooling.MaxPooling3D, (), _SIZES, name=None)
AveragePooling1D = _layer(pooling.AveragePooling1D, (), _SIZES, name=None)
AveragePooling2D = _layer(pooling.AveragePooling2D, (), _SIZES, name=None)
AveragePooling3D = _layer(pooling.AveragePooling3D, (), _SIZES, name=None)
BatchNormalization = _layer(normalization.BatchNormalization)


def _not_training_by_default(layer):
    def call(self, inputs, training=False):
        return super(layer, self).call(inputs, training)
    layer.call = call


_not_training_by_default(Dropout)
_not_training_by_default(BatchNormalization)


def _function(name, layer):
    """The function of tf.layers that makes a `layer` and calls it."""
    own = [p for p in inspect.signature(layer).parameters.values()
           if p.kind is not p.VAR_KEYWORD]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shared = "trainable" in [p.name for p in own]
    parameters = [inspect.Parameter("inputs", kind)] + own
    if shared:
        parameters.append(inspect.Parameter("reuse", kind, default=None))
    signature = inspect.Signature(parameters)

    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        inputs = given.pop("inputs")
        if shared:
            given.update(_reuse=given.pop("reuse"), _scope=given["name"])
        return layer(**given)(inputs)
    function.__signature__ = signature
    function.__name__ = function.__qualname__ = name
    function.__doc__ = "A %s layer, called with `inputs`.\n\n    %s" % (
        layer.__name__, layer.__doc__)
    return function


dense = _function("dense", Dense)
conv1d = _function("conv1d", Conv1D)
conv2d = _function("conv2d", Conv2D)
conv3d = _function("conv3d", Conv3D)
conv2d_transpose = _function("conv2d_transpose", Conv2DTranspose)
conv3d_transpose = _function("conv3d_transpose", Conv3DTranspose)
separable_conv1d = _function("separable_conv1d", SeparableConv1D)
separable_conv2d = _function("separable_conv2d", SeparableConv2D)
max_pooling1d = _function("max_pooling1d", MaxPooling1D)
max_pooling2d = _function("max_pooling2d", MaxPooling2D)
max_pooling3d = _function("max_pooling3d", MaxPooling3D)
average_pooling1d = _function("average_pooling1d", AveragePooling1D)
average_pooling2d = _function("average_pooling2d", AveragePooling2D)
average_pooling3d = _function("average_pooling3d", AveragePooling3D)


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False,
            name=None):
    """`inputs`, in training with a share `rate` set to 0 and the others scaled
    up. `training`: a bool, or a tensor of one.

    `inputs`: float16, bfloat16, float32 or float64, of any shape, which the
    result has. `noise_shape`: int32 [rank], 1 where a dimension shares its
    fate. ValueError for a rate out of [0, 1), and in training for other types.
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer(inputs, training=training)


def flatten(inputs, name=None, data_format="channels_last"):
    """All dimensions but the first as one: [batch, ...] gives [batch, n].

    `inputs`: of any type, which the result has. With data_format
    "channels_first" the channels go last before that. ValueError for a scalar
    and for another data format."""
    return Flatten(name=name, data_format=data_format)(inputs)


def batch_normalization(
        inputs, axis=-1, momentum=0.99, epsilon=0.001, center=True, scale=True,
        beta_initializer=Zeros, gamma_initializer=Ones,
        moving_mean_initializer=Zeros, moving_variance_initializer=Ones,
        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None,
        gamma_constraint=None, training=False, trainable=True, name=None,
        reuse=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99,
        fused=None, virtual_batch_size=None, adjustment=None):
    """`inputs` normalised: by the moments of the batch in training, otherwise
    by moving averages of those. The updates of the averages are in the
    collection UPDATE_OPS, and must be run with the training op.

    `inputs`: float16, bfloat16, float32 or float64 of known rank, with a known
    size of `axis`; the result has its type and shape. Variables: gamma, beta,
    moving_mean and moving_variance, [size of axis], float32 for float16.
    `training`: a bool, or a scalar bool tensor. ValueError for unknown sizes or
    an axis out of range."""
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer,
        gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer,
        beta_constraint, gamma_constraint, renorm, renorm_clipping,
        renorm_momentum, fused, trainable, virtual_batch_size, adjustment,
        name=name, _reuse=reuse, _scope=name)
    return layer(inputs, training=training)
