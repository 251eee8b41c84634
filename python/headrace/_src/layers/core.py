"""tf.keras.layers: Dense, Dropout, Flatten, and layers without weights."""
import inspect
import math

from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    activations, backend, constraints, function_code, initializers,
    regularizers)
from headrace._src.layers.engine import Layer, as_list
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.kernel_layer import KernelLayer
from headrace._src.nn import activations as _nn
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.ops import array_ops as _array
from headrace._src.ops import contractions as _contractions
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse


class Dense(KernelLayer):
    """activation(inputs x kernel + bias) over the last dimension of the
    inputs, whose size must be known. Weights: `kernel` [inputs, units] and
    `bias` [units]. TypeError for a type that is not of real or complex
    numbers.

    The result is [..., units] of the inputs' type. ValueError if the last
    dimension is not known, or another one in the next call."""

    _masks_pass = True

    def __init__(self, units, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, **kwargs):
        super().__init__(activation, use_bias, {
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint}, activity_regularizer, **kwargs)
        self.units = int(units)
        self.kernel = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = dtypes.as_dtype(self.dtype or backend.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError("Unable to build `Dense` layer with non-floating "
                            "point dtype %s" % dtype)
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` "
                             "should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self._add("kernel", [size, self.units])
        self._add_bias(self.units)
        self.built = True

    def call(self, inputs):
        kernel = self.kernel
        rank = inputs.get_shape().ndims
        if isinstance(inputs, SparseTensor):
            outputs = _sparse.sparse_tensor_dense_matmul(inputs, kernel)
        elif rank > 2:
            outputs = _contractions.tensordot(inputs, kernel,
                                              [[rank - 1], [0]])
            outputs.set_shape(inputs.get_shape().as_list()[:-1]
                              + [self.units])
        else:
            outputs = _math.matmul(
                _math.cast(inputs, kernel.dtype.base_dtype), kernel)
        if self.use_bias:
            outputs = _nn.bias_add(outputs, self.bias)
        return self._activate(outputs)

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape[-1].value is None:
            raise ValueError("The innermost dimension of input_shape must be "
                             "defined, but saw: %s" % (input_shape,))
        return shape[:-1].concatenate(self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


class Dropout(Layer):
    """In training, sets a share `rate` of the inputs to 0 and scales up the
    others. `training`: a bool, or a tensor of one."""

    _masks_pass = True

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def _get_noise_shape(self, inputs):
        if self.noise_shape is None:
            return None
        sizes = _array.shape(inputs)
        return convert_to_tensor([sizes[i] if n is None else n
                                  for i, n in enumerate(self.noise_shape)])

    def call(self, inputs, training=None):
        if training is None:
            training = backend.learning_phase()
        return backend.choose(
            training,
            lambda: _nn.dropout(
                inputs, noise_shape=self._get_noise_shape(inputs),
                seed=self.seed, rate=self.rate),
            lambda: _array.identity(inputs))

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate,
                "noise_shape": self.noise_shape, "seed": self.seed}


class Flatten(Layer):
    """All dimensions but the first as one. "channels_first": in the order of
    "channels_last"."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.get_shape().ndims
        if self.data_format == "channels_first" and rank and rank > 1:
            inputs = _array.transpose(
                inputs, [0] + list(range(2, rank)) + [1])
        first = inputs.get_shape()[0].value or _array.shape(inputs)[0]
        outputs = _array.reshape(inputs, (first, -1))
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return outputs

    def compute_output_shape(self, input_shape):
        shape = TensorShape(input_shape)
        if shape.ndims is None:
            return TensorShape([None, None])
        size = 1
        for n in shape.as_list()[1:]:
            size = None if n is None or size is None else size * n
        return TensorShape([shape[0], size])

    def get_config(self):
        return {**super().get_config(), "data_format": self.data_format}


class Activation(Layer):
    """A function of its inputs, by name or as it is."""

    _masks_pass = True

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        return {**super().get_config(),
                "activation": activations.serialize(self.activation)}


class Reshape(Layer):
    """Each example in the shape `target_shape`, where one size may be -1."""

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs):
        return _array.reshape(
            inputs, (_array.shape(inputs)[0],) + self.target_shape)

    def compute_output_shape(self, input_shape):
        """The batch and target_shape, whose -1 is what remains of an example.
        ValueError for examples of another size."""
        batch, *sizes = TensorShape(input_shape).as_list()
        target = [None if n == -1 else n for n in self.target_shape]
        if None not in sizes:
            size = math.prod(sizes)
            known = math.prod(n for n in target if n is not None)
            if (size % known if None in target and known else size != known):
                raise ValueError("total size of new array must be unchanged")
            target = [size // known if n is None and known else n
                      for n in target]
        return TensorShape([batch] + target)

    def get_config(self):
        return {**super().get_config(), "target_shape": self.target_shape}


class Lambda(Layer):
    """A Python function as a layer."""

    def __init__(self, function, output_shape=None, mask=None, arguments=None,
                 **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self._output_shape = output_shape
        self.arguments = arguments or {}
        self.mask = mask
        self.supports_masking = mask is not None
        self._takes = {"mask", "training"} & set(_parameters(function))

    def call(self, inputs, mask=None, training=None):
        given = {"mask": mask, "training": training}
        return self.function(inputs, **{
            **self.arguments, **{key: given[key] for key in self._takes}})

    def compute_output_shape(self, input_shape):
        """What output_shape says: a function of the inputs' shape, or the
        shape of an example; else that of what the function makes."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return TensorShape(self._output_shape(input_shape))
        batch = TensorShape(input_shape)[0] if input_shape else None
        return TensorShape([batch] + list(self._output_shape))

    def compute_mask(self, inputs, mask=None):
        """What `mask` says: a mask, or a function of inputs and their mask."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def get_config(self):
        config = {**super().get_config(),
                  **function_code.described("function", self.function),
                  **function_code.described("output_shape",
                                            self._output_shape)}
        if self.mask is not None:
            config.update(function_code.described("mask", self.mask))
        return {**config, "arguments": self.arguments}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for name in ("function", "output_shape", "mask"):
            if name in config:
                config[name] = function_code.restored(config, name,
                                                      custom_objects)
        return cls(**config)


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def merged_mask(masks):
    """True where all masks of several inputs are that are not None; None if
    there are none."""
    known = [_array.expand_dims(m, 0) for m in as_list(masks) if m is not None]
    return _math.reduce_all(_array.concat(known, 0), 0) if known else None


class Add(Layer):
    """The sum of a list of inputs."""

    _masks_pass = True

    def compute_mask(self, inputs, mask=None):
        return merged_mask(mask)

    def call(self, inputs):
        return _merged(self, inputs, _math.add)


class Multiply(Layer):
    """The product of a list of inputs."""

    _masks_pass = True

    def compute_mask(self, inputs, mask=None):
        return merged_mask(mask)

    def call(self, inputs):
        return _merged(self, inputs, _math.multiply)


def _merged(layer, inputs, op):
    if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
        raise ValueError("A merge layer should be called on a list of at least "
                         "2 inputs. Got %s (layer %s)" % (inputs, layer.name))
    output = inputs[0]
    for x in inputs[1:]:
        output = op(output, x)
    return output


class Concatenate(Layer):
    """A list of inputs side by side, along `axis`."""

    _masks_pass = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def compute_mask(self, inputs, mask=None):
        """True where all that is along the last dimension is. ValueError for
        another number of masks."""
        if mask is None:
            return None
        if not isinstance(mask, (list, tuple)) or len(mask) != len(inputs):
            raise ValueError("`mask` should be a list of as many masks as "
                             "inputs: %d. Got %s" % (len(inputs), mask))
        if all(m is None for m in mask):
            return None
        masks = []
        for x, m in zip(inputs, mask):
            if m is None:
                m = _array.ones_like(x, dtype=dtypes.bool_)
            elif m.get_shape().ndims < x.get_shape().ndims:
                m = _array.expand_dims(m, -1)
            masks.append(m)
        return _math.reduce_all(_array.concat(masks, self.axis), -1)

    def call(self, inputs):
        return _array.concat(inputs, self.axis)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class _ZeroPadding(Layer):
    rank: int

    def __init__(self, padding, data_format, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        if isinstance(padding, int):
            padding = (padding,) * self.rank
        if len(padding) != self.rank:
            raise ValueError("`padding` should have %d elements. Found: %s"
                             % (self.rank, padding))
        self.padding = tuple((p, p) if isinstance(p, int) else tuple(p)
                             for p in padding)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        pads = [[0, 0]] + [list(p) for p in self.padding] + [[0, 0]]
        if self.data_format == "channels_first":
            pads = pads[:1] + pads[-1:] + pads[1:-1]
        return _array.pad(inputs, pads)

    def get_config(self):
        return {**super().get_config(), "padding": self.padding,
                "data_format": self.data_format}


class ZeroPadding1D(_ZeroPadding):
    """Zeros around sequences. `padding`: a number, or one for each end."""

    rank = 1

    def __init__(self, padding=1, **kwargs):
        if not isinstance(padding, int):
            padding = (tuple(padding),)
        super().__init__(padding, "channels_last", **kwargs)

    def get_config(self):
        config = super().get_config()
        del config["data_format"]
        return {**config, "padding": self.padding[0]}


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images. `padding`: a number, one for each dimension, or a
    pair for each."""

    rank = 2

    def __init__(self, padding=(1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes. `padding`: a number, one for each dimension, or a
    pair for each."""

    rank = 3

    def __init__(self, padding=(1, 1, 1), data_format=None, **kwargs):
        super().__init__(padding, data_format, **kwargs)


class ReLU(Layer):
    """Values below `threshold` times negative_slope, others up to
    max_value."""

    def __init__(self, max_value=None, negative_slope=0, threshold=0,
                 **kwargs):
        super().__init__(**kwargs)
        self.max_value = max_value
        self.negative_slope = negative_slope
        self.threshold = threshold

    def call(self, inputs):
        return backend.relu(inputs, self.negative_slope, self.max_value,
                            self.threshold)

    def get_config(self):
        most = self.max_value
        return {**super().get_config(),
                "max_value": None if most is None else backend.rounded(most),
                "negative_slope": backend.rounded(self.negative_slope),
                "threshold": backend.rounded(self.threshold)}


class LeakyReLU(Layer):
    """Values below 0 times alpha."""

    _masks_pass = True

    def __init__(self, alpha=0.3, **kwargs):
        super().__init__(**kwargs)
        self.alpha = alpha

    def call(self, inputs):
        return backend.relu(inputs, alpha=self.alpha)

    def get_config(self):
        return {**super().get_config(), "alpha": backend.rounded(self.alpha)}


class PReLU(Layer):
    """Values below 0 times the weight `alpha`, one for each place of an example.

    `shared_axes`: dimensions, counted from 1, along which the weight is the
    same. ValueError if another dimension's size is not known."""

    _masks_pass = True

    def __init__(self, alpha_initializer="zeros", alpha_regularizer=None,
                 alpha_constraint=None, shared_axes=None, **kwargs):
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        self.shared_axes = (None if shared_axes is None
                            else list(shared_axes)
                            if isinstance(shared_axes, (list, tuple))
                            else [shared_axes])

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        shape = sizes[1:]
        for axis in self.shared_axes or ():
            shape[axis - 1] = 1
        if None in shape:
            raise ValueError("PReLU needs the sizes of dimensions that are not "
                             "shared; the inputs are %s" % (sizes,))
        self.alpha = self.add_weight(
            "alpha", shape=shape, initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint)
        self.input_spec = InputSpec(ndim=len(sizes), axes={
            i: sizes[i] for i in range(1, len(sizes))
            if i not in (self.shared_axes or ())})
        self.built = True

    def call(self, inputs):
        above = backend.relu(inputs)
        return above + -self.alpha * backend.relu(-inputs)

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        return {
            **super().get_config(),
            "alpha_initializer": initializers.serialize(self.alpha_initializer),
            "alpha_regularizer": regularizers.serialize(self.alpha_regularizer),
            "alpha_constraint": constraints.serialize(self.alpha_constraint),
            "shared_axes": self.shared_axes}


class Softmax(Layer):
    """tf.keras.activations.softmax along `axis`."""

    _masks_pass = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs):
        return activations.softmax(inputs, axis=self.axis)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class Permute(Layer):
    """The dimensions of each example in the order `dims`, which counts them
    from 1."""

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError("Invalid permutation `dims` for Permute Layer: "
                             "%s. The set of indices in `dims` must be "
                             "consecutive and start from 1." % (dims,))
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        return _array.transpose(inputs, (0,) + self.dims)

    def get_config(self):
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """Each example, a vector, n times: [batch, n, size]."""

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        return _array.tile(_array.expand_dims(inputs, 1), [1, self.n, 1])

    def get_config(self):
        return {**super().get_config(), "n": self.n}


class Embedding(Layer):
    """Rows of a table of `input_dim` vectors of size `output_dim`, by their
    indices. The weight is `embeddings`. `mask_zero`: index 0 stands for nothing,
    and is masked."""

    def __init__(self, input_dim, output_dim,
                 embeddings_initializer="uniform",
                 embeddings_regularizer=None, activity_regularizer=None,
                 embeddings_constraint=None, mask_zero=False,
                 input_length=None, **kwargs):
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,)
        kwargs["dtype"] = kwargs.get("dtype") or backend.floatx()
        super().__init__(
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def compute_mask(self, inputs, mask=None):
        """With `mask_zero`: True for indices other than 0."""
        return _math.not_equal(inputs, 0) if self.mask_zero else None

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            "embeddings", shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint)
        self.built = True

    def compute_output_shape(self, input_shape):
        """[batch, steps..., output_dim]. ValueError for steps other than
        input_length says."""
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape(sizes + [self.output_dim])
        wanted = list(as_list(self.input_length))
        if len(wanted) != len(sizes) - 1 or any(
                None not in (a, b) and a != b
                for a, b in zip(wanted, sizes[1:])):
            raise ValueError(
                '"input_length" is %s, but received input has shape %s'
                % (self.input_length, tuple(sizes)))
        steps = [b if a is None else a for a, b in zip(wanted, sizes[1:])]
        return TensorShape(sizes[:1] + steps + [self.output_dim])

    def call(self, inputs):
        if inputs.dtype.base_dtype not in (dtypes.int32, dtypes.int64):
            inputs = _math.cast(inputs, dtypes.int32)
        return embedding_lookup(self.embeddings, inputs)

    def get_config(self):
        return {
            **super().get_config(), "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer":
                initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer":
                regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer":
                regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint":
                constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero, "input_length": self.input_length}


class Masking(Layer):
    """A mask over the steps of [batch, time, ...]: those in which all numbers
    equal `mask_value` are masked, and become 0."""

    _masks_pass = True

    def __init__(self, mask_value=0., **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask=None):
        return _math.reduce_any(_math.not_equal(inputs, self.mask_value), -1)

    def call(self, inputs):
        there = _math.reduce_any(_math.not_equal(inputs, self.mask_value), -1,
                                 keepdims=True)
        outputs = inputs * _math.cast(there, inputs.dtype)
        outputs._keras_mask = _array.squeeze(there, [-1])
        return outputs

    def compute_output_shape(self, input_shape):
        return TensorShape(input_shape)

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}


def data_format_of(data_format):
    """"channels_last" or "channels_first", by default that of the backend."""
    if data_format is None:
        return backend.image_data_format()
    if not isinstance(data_format, str) or data_format.lower() not in (
            "channels_last", "channels_first"):
        raise ValueError("The `data_format` argument must be one of "
                         "\"channels_first\", \"channels_last\". Received: %s"
                         % (data_format,))
    return data_format.lower()
