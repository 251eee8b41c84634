"""tf.contrib.model_pruning: layers and cells whose weights have masks. A mask has
ones where a weight counts and zeros where it was pruned."""
from headrace._src.contrib.arg_scopes import add_arg_scope
from headrace._src.contrib.layers import collections_of, finish
from headrace._src.contrib.regularizers import xavier_initializer
from headrace._src.contrib.variables import model_getter
from headrace._src.framework.graph import add_to_collection, get_collection
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.legacy import Layer
from headrace._src.ops import contractions as _contractions
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import BasicLSTMCell, LSTMCell
from headrace._src.variables.initializers import Ones, Zeros
from headrace._src.variables.scopes import get_variable, variable_scope

MASKS, THRESHOLDS = "masks", "thresholds"
MASKED_WEIGHTS, WEIGHTS = "masked_weights", "kernel"
_MASKED_NAME = "weights/masked_weight"
_NAMES = {"bias": "biases", "kernel": "weights"}


def _collect(weights, mask, threshold):
    """The weights times their mask. All join their collections."""
    masked = _math.multiply(mask, weights, _MASKED_NAME)
    if all(mask is not m for m in get_collection(MASKS)):
        for key, value in ((THRESHOLDS, threshold), (MASKS, mask),
                           (MASKED_WEIGHTS, masked), (WEIGHTS, weights)):
            add_to_collection(key, value)
    return masked


def apply_mask(x, scope=""):
    """The weights x, a float variable of any shape, times a mask: a new variable
    in `scope`, beside a threshold. ValueError for variables that are there
    already, unless the scope reuses them."""
    def extra(name, shape, initializer):
        with variable_scope(scope):
            return get_variable(name, shape, initializer=initializer,
                                trainable=False, dtype=x.dtype.base_dtype)
    mask = extra("mask", x.get_shape(), Ones())
    return _collect(x, mask, extra("threshold", [], Zeros()))


class _Masked(Layer):
    """A layer with a kernel, its mask and its threshold, and perhaps a bias."""

    def __init__(self, activation, use_bias, kernel_initializer,
                 bias_initializer, kernel_regularizer, bias_regularizer,
                 **kwargs):
        super().__init__(**kwargs)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.bias = None

    def _add_extra(self, name, shape, initializer):
        return self.add_variable(name, shape=shape, initializer=initializer,
                                 trainable=False, dtype=self.dtype)

    def _add_kernel(self, shape):
        self.kernel = self.add_variable(
            "kernel", shape=shape, initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, trainable=True,
            dtype=self.dtype)

    def _add_rest(self, size):
        self.threshold = self._add_extra("threshold", [], Zeros())
        self.masked_kernel = _collect(self.kernel, self.mask, self.threshold)
        if self.use_bias:
            self.bias = self.add_variable(
                "bias", shape=[size], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, trainable=True,
                dtype=self.dtype)
        self.built = True

    def _finish(self, outputs, data_format=None):
        if self.bias is not None:
            outputs = _nn.bias_add(outputs, self.bias,
                                   data_format=data_format)
        return outputs if self.activation is None else self.activation(outputs)


class MaskedFullyConnected(_Masked):
    """inputs x (kernel * mask) + bias, over the last dimension."""

    def __init__(self, units, activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, **kwargs):
        super().__init__(activation, use_bias, kernel_initializer,
                         bias_initializer, kernel_regularizer,
                         bias_regularizer, **kwargs)
        self.units = units
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` "
                             "should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        shape = [size, self.units]
        self._add_kernel(shape)
        self.mask = self._add_extra("mask", shape, Ones())
        self._add_rest(self.units)

    def call(self, inputs):
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        shape = inputs.get_shape().as_list()
        if len(shape) == 2:
            return self._finish(_math.matmul(inputs, self.masked_kernel))
        outputs = _contractions.tensordot(inputs, self.masked_kernel,
                                          [[len(shape) - 1], [0]])
        outputs.set_shape(shape[:-1] + [self.units])
        return self._finish(outputs)


class MaskedConv2D(_Masked):
    """The convolution of images with kernel * mask, and bias."""

    def __init__(self, filters, kernel_size, strides, padding, channels_first,
                 dilation_rate, activation=None, use_bias=True,
                 kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, **kwargs):
        super().__init__(activation, use_bias, kernel_initializer,
                         bias_initializer, kernel_regularizer,
                         bias_regularizer, **kwargs)
        self.filters = filters
        self.kernel_size = kernel_size
        self.strides = strides
        self.padding = padding
        self.data_format = "NCHW" if channels_first else "NHWC"
        self.dilation_rate = dilation_rate
        self.input_spec = InputSpec(ndim=4)

    def build(self, input_shape):
        axis = 1 if self.data_format == "NCHW" else -1
        channels = TensorShape(input_shape)[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be "
                             "defined. Found `None`.")
        shape = [*self.kernel_size, channels, self.filters]
        self.mask = self._add_extra("mask", shape, Ones())
        self._add_kernel(shape)
        self._add_rest(self.filters)
        self.input_spec = InputSpec(ndim=4, axes={axis: channels})

    def call(self, inputs):
        return self._finish(_conv.convolution(
            inputs, self.masked_kernel, self.padding.upper(), self.strides,
            self.dilation_rate, data_format=self.data_format),
            self.data_format)


def _pair(value):
    return [value] * 2 if isinstance(value, int) else list(value)


def _options(inputs, scope, reuse, normalizer_fn, weights_initializer,
             weights_regularizer, biases_initializer, biases_regularizer,
             trainable):
    return dict(
        use_bias=not normalizer_fn and bool(biases_initializer),
        kernel_initializer=weights_initializer,
        bias_initializer=biases_initializer,
        kernel_regularizer=weights_regularizer,
        bias_regularizer=biases_regularizer, trainable=trainable,
        name=scope.name, dtype=inputs.dtype.base_dtype, _scope=scope,
        _reuse=reuse)


def _applied(layer, inputs, variables_collections, normalizer_fn,
             normalizer_params, activation_fn, outputs_collections, scope):
    outputs = layer.apply(inputs)
    for variable, name in ((layer.kernel, "weights"), (layer.bias, "biases")):
        for key in collections_of(variables_collections, name) or ():
            if variable is not None and all(
                    variable is not v for v in get_collection(key)):
                add_to_collection(key, variable)
    return finish(outputs, normalizer_fn, normalizer_params, activation_fn,
                  outputs_collections, scope)


@add_arg_scope
def masked_convolution(
        inputs, num_outputs, kernel_size, stride=1, padding="SAME",
        data_format=None, rate=1, activation_fn=_nn.relu, normalizer_fn=None,
        normalizer_params=None, weights_initializer=xavier_initializer(),
        weights_regularizer=None, biases_initializer=Zeros(),
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None):
    """layers.conv2d, float [batch, height, width, channels], whose weights have a
    mask. ValueError for inputs of another rank and for other data formats."""
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC",
                           "NCDHW"):
        raise ValueError("Invalid data_format: %r" % (data_format,))
    with variable_scope(scope, "Conv", [inputs], reuse=reuse,
                        custom_getter=model_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank != 4:
            raise ValueError("Sparse Convolution not supported for input with "
                             "rank", rank)
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            num_outputs, _pair(kernel_size), _pair(stride), padding,
            data_format == "NCHW", _pair(rate), **_options(
                inputs, sc, reuse, normalizer_fn, weights_initializer,
                weights_regularizer, biases_initializer, biases_regularizer,
                trainable))
        return _applied(layer, inputs, variables_collections, normalizer_fn,
                        normalizer_params, activation_fn, outputs_collections,
                        sc)


@add_arg_scope
def masked_fully_connected(
        inputs, num_outputs, activation_fn=_nn.relu, normalizer_fn=None,
        normalizer_params=None, weights_initializer=xavier_initializer(),
        weights_regularizer=None, biases_initializer=Zeros(),
        biases_regularizer=None, reuse=None, variables_collections=None,
        outputs_collections=None, trainable=True, scope=None):
    """layers.fully_connected, float [batch, ..., in], whose weights have a mask.
    ValueError for a num_outputs that is no integer."""
    if not isinstance(num_outputs, int):
        raise ValueError("num_outputs should be int, got %s."
                         % type(num_outputs))
    with variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                        custom_getter=model_getter(_NAMES)) as sc:
        inputs = convert_to_tensor(inputs)
        layer = MaskedFullyConnected(num_outputs, **_options(
            inputs, sc, reuse, normalizer_fn, weights_initializer,
            weights_regularizer, biases_initializer, biases_regularizer,
            trainable))
        return _applied(layer, inputs, variables_collections, normalizer_fn,
                        normalizer_params, activation_fn, outputs_collections,
                        sc)


masked_conv2d = masked_convolution


class _MaskedCell:
    """What gives a cell a mask for its kernel."""

    def build(self, inputs_shape):
        super().build(inputs_shape)
        self.built = False
        mask = self.add_variable(
            "mask", shape=self._kernel.get_shape(), initializer=Ones(),
            trainable=False, dtype=self.dtype)
        threshold = self.add_variable(
            "threshold", shape=[], initializer=Zeros(), trainable=False,
            dtype=self.dtype)
        self._masked_kernel = _collect(self._kernel, mask, threshold)
        self.built = True

    def call(self, inputs, *args, **kwargs):
        kernel, self._kernel = self._kernel, self._masked_kernel
        try:
            return super().call(inputs, *args, **kwargs)
        finally:
            self._kernel = kernel


class MaskedBasicLSTMCell(_MaskedCell, BasicLSTMCell):
    """nn.rnn_cell.BasicLSTMCell whose kernel has a mask. Shapes, dtypes and errors
    are its."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True,
                 activation=None, reuse=None, name=None):
        super().__init__(num_units, forget_bias=forget_bias,
                         state_is_tuple=state_is_tuple, activation=activation,
                         reuse=reuse, name=name)


class MaskedLSTMCell(_MaskedCell, LSTMCell):
    """nn.rnn_cell.LSTMCell whose kernel has a mask. Shapes, dtypes and errors are
    its."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None,
                 initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0,
                 state_is_tuple=True, activation=None, reuse=None):
        super().__init__(
            num_units, use_peepholes=use_peepholes, cell_clip=cell_clip,
            initializer=initializer, num_proj=num_proj, proj_clip=proj_clip,
            num_unit_shards=num_unit_shards, num_proj_shards=num_proj_shards,
            forget_bias=forget_bias, state_is_tuple=state_is_tuple,
            activation=activation, reuse=reuse)
