"""tf.nn.rnn_cell: one step of a recurrent network, as a layer of an input and
a state."""
import collections

from headrace._headrace import Tensor
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import activations, initializers
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.legacy import Layer
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.variables import initializers as _init
from headrace._src.variables.partitioners import fixed_size_partitioner
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.scopes import get_variable_scope, variable_scope
from headrace._src.variables.variables import trainable_variables


def check_cell(argument, cell):
    """TypeError if `cell` has not what loops need."""
    missing = [text for fits, text in (
        (hasattr(cell, "output_size"), "'output_size' property is missing"),
        (hasattr(cell, "state_size"), "'state_size' property is missing"),
        (hasattr(cell, "get_initial_state") or hasattr(cell, "zero_state"),
         "either 'zero_state' or 'get_initial_state' method is required"),
        (callable(cell), "is not callable")) if not fits]
    if missing:
        raise TypeError("The argument %r (%s) is not an RNNCell: %s."
                        % (argument, cell, ", ".join(missing)))


def _part(sizes):
    """(tensor or None, static sizes or None) of a part of a shape."""
    if isinstance(sizes, Tensor):
        known = constant_value(sizes)
        if sizes.get_shape().ndims == 0:
            static = [None if known is None else int(known)]
            return _array.expand_dims(sizes, 0), static
        if sizes.get_shape().ndims != 1:
            raise ValueError("a shape must be a scalar or vector, but saw "
                             "tensor: %s" % sizes)
        return sizes, None if known is None else [int(n) for n in known]
    shape = TensorShape([sizes] if isinstance(sizes, int) or sizes is None
                        else sizes)
    if shape.ndims is None:
        return None, None
    static = shape.as_list()
    return (constant(static, dtypes.int32) if shape.is_fully_defined()
            else None), static


def joined_shape(batch, sizes):
    """[batch] + sizes as a tensor. ValueError for sizes that are unknown."""
    first, second = _part(batch)[0], _part(sizes)[0]
    if first is None or second is None:
        raise ValueError("the sizes %s and %s must be known" % (batch, sizes))
    return _array.concat((first, second), 0)


def static_shape(batch, sizes):
    """[batch] + sizes as far as they are known."""
    first, second = _part(batch)[1], _part(sizes)[1]
    return None if first is None or second is None else first + second


def zero_tensors(sizes, batch_size, dtype):
    """Zeros [batch_size] + each of a structure of sizes."""
    def zeros(size):
        state = _array.zeros(joined_shape(batch_size, size), dtype=dtype)
        state.set_shape(static_shape(batch_size, size))
        return state
    return nest.map_structure(zeros, sizes)


def check_dtype(dtype):
    """ValueError for a type that the cells' functions do not take."""
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError("RNN cell only supports floating point inputs, but "
                         "saw dtype: %s" % dtype)


class RNNCell(Layer):
    """A step: (output, new state) = cell(inputs, state).

    `inputs` is [batch, size]. `state_size` and `output_size` are integers,
    shapes, or structures of these; the state is of the structure of
    state_size. Variables made in `call` with get_variable belong to the
    cell."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._cell_scope = None

    def __call__(self, inputs, state, scope=None):
        if scope is not None:
            with variable_scope(scope, custom_getter=self._noted) as scope:
                return super().__call__(inputs, state, scope=scope)
        if self._cell_scope is None:
            self._cell_scope = variable_scope(
                get_variable_scope(), custom_getter=self._noted)
        with self._cell_scope:
            return super().__call__(inputs, state)

    def _noted(self, getter, *args, **kwargs):
        """A custom getter, which notes the variables as the cell's."""
        variable = getter(*args, **kwargs)
        first = (list(variable)[0] if isinstance(variable, PartitionedVariable)
                 else variable)
        weights = (self._trainable_weights
                   if any(v is first for v in trainable_variables())
                   else self._non_trainable_weights)
        if all(variable is not w for w in weights):
            weights.append(variable)
        return variable

    @property
    def state_size(self):
        raise NotImplementedError("state_size of %s" % type(self).__name__)

    @property
    def output_size(self):
        raise NotImplementedError("output_size of %s" % type(self).__name__)

    def build(self, _):
        pass

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """zero_state, of the batch size and type of `inputs` if given.
        ValueError if neither those nor the two are."""
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            if batch_size is None:
                batch_size = inputs.get_shape()[0].value or _array.shape(
                    inputs)[0]
            dtype = dtype or inputs.dtype.base_dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype cannot be None while "
                             "constructing initial state: batch_size=%s, "
                             "dtype=%s" % (batch_size, dtype))
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """A state of zeros, [batch_size] + each of the sizes."""
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            return zero_tensors(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell whose variables are those of add_variable."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        return Layer.__call__(self, inputs, state, scope=scope, *args,
                              **kwargs)

    def _input_depth(self, shape):
        check_dtype(self.dtype)
        depth = TensorShape(shape)[-1].value
        if depth is None:
            raise ValueError("Expected inputs.shape[-1] to be known, saw "
                             "shape: %s" % (shape,))
        return depth

    def _zeros(self):
        return _init.Zeros(dtype=self.dtype or "float32")

    def get_config(self):
        config = super().get_config()
        for key in self._CONFIG.split():
            config[key] = initializers.serialize(value) if callable(
                value := getattr(self, "_" + key)) else value
        return config

    _CONFIG = "num_units activation reuse"


def _check_types(*tensors):
    for t in nest.flatten(tensors):
        check_dtype(t.dtype.base_dtype)


def _function(activation):
    return activations.get(activation) if activation else _math.tanh


class BasicRNNCell(LayerRNNCell):
    """output = state = activation(W [inputs, state] + b); tanh by default."""

    def __init__(self, num_units, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = _function(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        depth = self._input_depth(inputs_shape)
        self._kernel = self.add_variable(
            "kernel", shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", shape=[self._num_units],
                                       initializer=self._zeros())
        self.built = True

    def call(self, inputs, state):
        _check_types(inputs, state)
        gates = _math.matmul(_array.concat([inputs, state], 1), self._kernel)
        output = self._activation(_nn.bias_add(gates, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit: r, u = sigmoid(W [inputs, state] + b),
    c = activation(V [inputs, r * state] + d), and the output and new state are
    u * state + (1 - u) * c.

    `inputs` [batch, size], state and output [batch, num_units], of float16,
    float32 or float64. ValueError if the size of the inputs is not known or
    they are no matrix."""

    def __init__(self, num_units, activation=None, reuse=None,
                 kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = _function(activation)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)
    _CONFIG = "num_units activation reuse kernel_initializer bias_initializer"

    def build(self, inputs_shape):
        depth, n = self._input_depth(inputs_shape), self._num_units
        bias = self._bias_initializer
        self._gate_kernel = self.add_variable(
            "gates/kernel", shape=[depth + n, 2 * n],
            initializer=self._kernel_initializer)
        # 1 at first: the cell neither resets nor forgets.
        self._gate_bias = self.add_variable(
            "gates/bias", shape=[2 * n], initializer=(
                bias if bias is not None
                else _init.Constant(1.0, dtype=self.dtype or "float32")))
        self._candidate_kernel = self.add_variable(
            "candidate/kernel", shape=[depth + n, n],
            initializer=self._kernel_initializer)
        self._candidate_bias = self.add_variable(
            "candidate/bias", shape=[n],
            initializer=bias if bias is not None else self._zeros())
        self.built = True

    def call(self, inputs, state):
        _check_types(inputs, state)
        gates = _math.matmul(_array.concat([inputs, state], 1),
                             self._gate_kernel)
        gates = _math.sigmoid(_nn.bias_add(gates, self._gate_bias))
        r, u = _array.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = _math.matmul(_array.concat([inputs, r * state], 1),
                                 self._candidate_kernel)
        c = self._activation(_nn.bias_add(candidate, self._candidate_bias))
        output = u * state + (1 - u) * c
        return output, output


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the cell's memory and its last output."""

    __slots__ = ()

    @property
    def dtype(self):
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError("Inconsistent internal state: %s vs %s"
                            % (c.dtype, h.dtype))
        return c.dtype


class BasicLSTMCell(LayerRNNCell):
    """A long short-term memory: i, j, f, o = W [inputs, h] + b,
    c' = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j),
    h' = activation(c') * sigmoid(o), and the output is h'.

    `inputs` [batch, size], c and h [batch, num_units], of float16, float32 or
    float64; the state is LSTMStateTuple(c, h), or [batch, 2 * num_units] unless
    `state_is_tuple`. ValueError if the size of the inputs is not known;
    TypeError for a state of another structure."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True,
                 activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _function(activation)

    output_size = property(lambda self: self._num_units)
    _CONFIG = "num_units forget_bias state_is_tuple activation reuse"

    @property
    def state_size(self):
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    def build(self, inputs_shape):
        depth, n = self._input_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + n, 4 * n])
        self._bias = self.add_variable("bias", shape=[4 * n],
                                       initializer=self._zeros())
        self.built = True

    def call(self, inputs, state):
        _check_types(inputs, state)
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = _array.split(value=state, num_or_size_splits=2, axis=one)
        gates = _math.matmul(_array.concat([inputs, h], 1), self._kernel)
        gates = _nn.bias_add(gates, self._bias)
        i, j, f, o = _array.split(value=gates, num_or_size_splits=4, axis=one)
        forget = constant(self._forget_bias, dtype=f.dtype.base_dtype)
        c = _math.add(
            _math.multiply(c, _math.sigmoid(_math.add(f, forget))),
            _math.multiply(_math.sigmoid(i), self._activation(j)))
        h = _math.multiply(self._activation(c), _math.sigmoid(o))
        if self._state_is_tuple:
            return h, LSTMStateTuple(c, h)
        return h, _array.concat([c, h], 1)


class LSTMCell(LayerRNNCell):
    """A long short-term memory with, as asked for, peepholes (the gates see
    the memory too), a limit of the memory (cell_clip), and a projection of the
    output to num_proj units (limited by proj_clip)."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None,
                 initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0,
                 state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = _function(activation)

    output_size = property(lambda self: self._num_proj or self._num_units)
    _CONFIG = ("num_units use_peepholes cell_clip initializer num_proj "
               "proj_clip num_unit_shards num_proj_shards forget_bias "
               "state_is_tuple activation reuse")

    @property
    def state_size(self):
        c, h = self._num_units, self.output_size
        return LSTMStateTuple(c, h) if self._state_is_tuple else c + h

    def build(self, inputs_shape):
        depth, n = self._input_depth(inputs_shape), self._num_units

        def parts(shards):
            return None if shards is None else fixed_size_partitioner(shards)
        self._kernel = self.add_variable(
            "kernel", shape=[depth + self.output_size, 4 * n],
            initializer=self._initializer,
            partitioner=parts(self._num_unit_shards))
        self._bias = self.add_variable("bias", shape=[4 * n],
                                       initializer=self._zeros())
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = [
                self.add_variable("w_%s_diag" % gate, shape=[n],
                                  initializer=self._initializer)
                for gate in "fio"]
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                "projection/kernel", shape=[n, self._num_proj],
                initializer=self._initializer,
                partitioner=parts(self._num_proj_shards))
        self.built = True

    def call(self, inputs, state):
        _check_types(inputs, state)
        sigmoid = _math.sigmoid
        if self._state_is_tuple:
            c, h = state
        else:
            n = self._num_units
            c = _array.slice(state, [0, 0], [-1, n])
            h = _array.slice(state, [0, n], [-1, self.output_size])
        if inputs.get_shape().with_rank(2)[1].value is None:
            raise ValueError("Could not infer input size from "
                             "inputs.get_shape()[-1]")
        gates = _math.matmul(_array.concat([inputs, h], 1), self._kernel)
        gates = _nn.bias_add(gates, self._bias)
        i, j, f, o = _array.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            c = (sigmoid(f + self._forget_bias + self._w_f_diag * c) * c
                 + sigmoid(i + self._w_i_diag * c) * self._activation(j))
        else:
            c = (sigmoid(f + self._forget_bias) * c
                 + sigmoid(i) * self._activation(j))
        if self._cell_clip is not None:
            c = _clipping.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            h = sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            h = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = _math.matmul(h, self._proj_kernel)
            if self._proj_clip is not None:
                h = _clipping.clip_by_value(h, -self._proj_clip,
                                            self._proj_clip)
        if self._state_is_tuple:
            return h, LSTMStateTuple(c, h)
        return h, _array.concat([c, h], 1)


class MultiRNNCell(RNNCell):
    """Cells, each of which takes the output of the one before. The state is a
    tuple of theirs.

    `inputs`: [batch, size] of float16, float32 or float64; states [batch, ...];
    unless `state_is_tuple` one tensor holds them side by side. ValueError for
    no cells and for states that are tuples without `state_is_tuple`; TypeError
    for what is no list."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for "
                             "MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError("cells must be a list or tuple, but saw: %s."
                            % (cells,))
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size)
                                      for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag "
                "state_is_tuple is not set.  State sizes are: %s"
                % [c.state_size for c in cells])

    output_size = property(lambda self: self._cells[-1].output_size)

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype)
                             for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self):
        return [w for cell in self._cells for w in getattr(
            cell, "trainable_weights", [])] if self.trainable else []

    @property
    def non_trainable_weights(self):
        weights = [w for cell in self._cells
                   for w in getattr(cell, "non_trainable_weights", [])]
        if self.trainable:
            return weights
        return [w for cell in self._cells for w in getattr(
            cell, "trainable_weights", [])] + weights

    def call(self, inputs, state):
        if self._state_is_tuple and not nest.is_nested(state):
            raise ValueError(
                "Expected state to be a tuple of length %d, but received: %s"
                % (len(self.state_size), state))
        states, at = [], 0
        for i, cell in enumerate(self._cells):
            with variable_scope("cell_%d" % i):
                if self._state_is_tuple:
                    before = state[i]
                else:
                    before = _array.slice(state, [0, at],
                                          [-1, cell.state_size])
                    at += cell.state_size
                inputs, after = cell(inputs, before)
                states.append(after)
        return inputs, (tuple(states) if self._state_is_tuple
                        else _array.concat(states, 1))
