"""tf.keras.layers: SimpleRNN, GRU, LSTM, their cells, and what wraps layers."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    activations, backend, constraints, initializers, regularizers)
from headrace._src.layers.engine import Layer, as_list
from headrace._src.layers.input_spec import InputSpec
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

_KINDS = {"initializer": initializers, "regularizer": regularizers,
          "constraint": constraints}
_WEIGHTS = ("kernel", "recurrent", "bias")


class _Cell(Layer):
    """A step: call(inputs, states) gives (output, new states)."""

    gates = 1

    def __init__(self, units, activation="tanh", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.,
                 recurrent_dropout=0., **kwargs):
        super().__init__(**kwargs)
        given = {
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint}
        for weight in _WEIGHTS:
            for kind, module in _KINDS.items():
                key = "%s_%s" % (weight, kind)
                setattr(self, key, module.get(given[key]))
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.dropout = min(1., max(0., dropout))
        self.recurrent_dropout = min(1., max(0., recurrent_dropout))
        self.kernel = self.recurrent_kernel = self.bias = None
        self._masks = None

    state_size = property(lambda self: self.units)
    output_size = property(lambda self: self.units)

    def _weight(self, name, shape, options, initializer=None):
        return self.add_weight(
            name, shape=shape, initializer=initializer or getattr(
                self, options + "_initializer"),
            regularizer=getattr(self, options + "_regularizer"),
            constraint=getattr(self, options + "_constraint"))

    def build(self, input_shape):
        size = TensorShape(input_shape)[-1].value
        if size is None:
            raise ValueError("The last dimension of the inputs to %s must be "
                             "known" % type(self).__name__)
        self.kernel = self._weight("kernel", (size, self.gates * self.units),
                                   "kernel")
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", (self.units, self.gates * self.units),
            "recurrent")
        if self.use_bias:
            self.bias = self._weight("bias", self._bias_shape(), "bias",
                                     self._bias_initializer())
        self.built = True

    def _bias_shape(self):
        return (self.gates * self.units,)

    def _bias_initializer(self):
        return None

    def _make_masks(self, inputs, training):
        """Dropout masks, the same for all steps: of the inputs and of the
        state, one for each gate; None for those without dropout."""
        batch = _array.shape(inputs)[0]

        def masks(rate, size):
            if not rate:
                return None
            ones = _array.ones(_array.stack([batch, size]), inputs.dtype)
            return [backend.choose(
                backend.learning_phase() if training is None else training,
                lambda: _nn.dropout(ones, rate=rate), lambda: ones)
                for _ in range(self.gates)]
        self._masks = (masks(self.dropout, inputs.get_shape().as_list()[-1]),
                       masks(self.recurrent_dropout, self.units))

    def _masked(self, x, which, gate):
        masks = self._masks[which] if self._masks else None
        return x if masks is None else x * masks[gate]

    def _product(self, x, kernel, which, gate):
        """x times the part of a kernel that is of one gate."""
        n = self.units
        part = convert_to_tensor(kernel)[:, gate * n:(gate + 1) * n]
        return _math.matmul(self._masked(x, which, gate), part)

    def _of_inputs(self, x, gate):
        product = self._product(x, self.kernel, 0, gate)
        if not self.use_bias:
            return product
        return _nn.bias_add(product, self._bias_part(gate))

    def _bias_part(self, gate):
        n = self.units
        return convert_to_tensor(self.bias)[gate * n:(gate + 1) * n]

    def _of_state(self, h, gate):
        return self._product(h, self.recurrent_kernel, 1, gate)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros."""
        if inputs is not None:
            batch_size, dtype = _array.shape(inputs)[0], inputs.dtype
        sizes = as_list(self.state_size)
        states = [_array.zeros(_array.stack([batch_size, n]), dtype)
                  for n in sizes]
        return states if isinstance(self.state_size, (list, tuple)) \
            else states[0]

    def get_config(self):
        config = {**super().get_config(), "units": self.units,
                  "activation": activations.serialize(self.activation),
                  "use_bias": self.use_bias, "dropout": self.dropout,
                  "recurrent_dropout": self.recurrent_dropout}
        for weight in _WEIGHTS:
            for kind in _KINDS:
                key = "%s_%s" % (weight, kind)
                config[key] = initializers.serialize(getattr(self, key))
        return config


class SimpleRNNCell(_Cell):
    """activation(inputs x kernel + state x recurrent_kernel + bias)."""

    def call(self, inputs, states, training=None):
        h = self.activation(self._of_inputs(inputs, 0)
                            + self._of_state(states[0], 0))
        return h, [h]


class GRUCell(_Cell):
    """A gated recurrent unit. `reset_after`: the reset gate is applied after the
    product with the recurrent kernel, which then has a bias of its own."""

    gates = 3

    def __init__(self, units, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.,
                 recurrent_dropout=0., implementation=1, reset_after=False,
                 **kwargs):
        super().__init__(
            units, activation, use_bias, kernel_initializer,
            recurrent_initializer, bias_initializer, kernel_regularizer,
            recurrent_regularizer, bias_regularizer, kernel_constraint,
            recurrent_constraint, bias_constraint, dropout, recurrent_dropout,
            **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.implementation = implementation
        self.reset_after = bool(reset_after)

    def _bias_shape(self):
        size = self.gates * self.units
        return (2, size) if self.reset_after else (size,)

    def _bias_part(self, gate, row=0):
        if not self.reset_after:
            return super()._bias_part(gate)
        n = self.units
        return convert_to_tensor(self.bias)[row, gate * n:(gate + 1) * n]

    def _of_state(self, h, gate):
        product = super()._of_state(h, gate)
        if not self.use_bias or not self.reset_after:
            return product
        return _nn.bias_add(product, self._bias_part(gate, row=1))

    def call(self, inputs, states, training=None):
        h = states[0]
        z, r = (self.recurrent_activation(
            self._of_inputs(inputs, gate) + self._of_state(h, gate))
            for gate in (0, 1))
        if self.reset_after:
            last = r * self._of_state(h, 2)
        else:
            last = _math.matmul(
                r * self._masked(h, 1, 2),
                convert_to_tensor(self.recurrent_kernel)[:, 2 * self.units:])
        new = self.activation(self._of_inputs(inputs, 2) + last)
        h = z * h + (1 - z) * new
        return h, [h]

    def get_config(self):
        return {**super().get_config(), "recurrent_activation":
                activations.serialize(self.recurrent_activation),
                "implementation": self.implementation,
                "reset_after": self.reset_after}


class LSTMCell(_Cell):
    """A cell of long short-term memory; the states are [h, c].
    `unit_forget_bias`: the bias of the forget gate begins at 1."""

    gates = 4

    def __init__(self, units, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0., recurrent_dropout=0.,
                 implementation=1, **kwargs):
        super().__init__(
            units, activation, use_bias, kernel_initializer,
            recurrent_initializer, bias_initializer, kernel_regularizer,
            recurrent_regularizer, bias_regularizer, kernel_constraint,
            recurrent_constraint, bias_constraint, dropout, recurrent_dropout,
            **kwargs)
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias
        self.implementation = implementation

    state_size = property(lambda self: [self.units, self.units])

    def _bias_initializer(self):
        if not self.unit_forget_bias:
            return None

        def make(shape, dtype=None, partition_info=None):
            n, start = self.units, self.bias_initializer
            return _array.concat([
                start((n,), dtype=dtype), _array.ones((n,), dtype),
                start((2 * n,), dtype=dtype)], 0)
        return make

    def call(self, inputs, states, training=None):
        h, c = states
        x = [self._of_inputs(inputs, gate) + self._of_state(h, gate)
             for gate in range(4)]
        gate = self.recurrent_activation
        c = gate(x[1]) * c + gate(x[0]) * self.activation(x[2])
        h = gate(x[3]) * self.activation(c)
        return h, [h, c]

    def get_config(self):
        return {**super().get_config(), "recurrent_activation":
                activations.serialize(self.recurrent_activation),
                "unit_forget_bias": self.unit_forget_bias,
                "implementation": self.implementation}


class StackedRNNCells(Layer):
    """Cells, each of which takes the output of the one before."""

    def __init__(self, cells, **kwargs):
        for cell in cells:
            if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
                raise ValueError("All cells must have a `call` method and a "
                                 "`state_size` attribute. received cells: %s"
                                 % (cells,))
        super().__init__(**kwargs)
        self.cells = list(cells)

    state_size = property(lambda self: tuple(c.state_size for c in self.cells))
    output_size = property(lambda self: getattr(
        self.cells[-1], "output_size", as_list(self.cells[-1].state_size)[0]))

    def build(self, input_shape):
        for cell in self.cells:
            if not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = TensorShape(
                [TensorShape(input_shape)[0].value,
                 getattr(cell, "output_size", as_list(cell.state_size)[0])])
        self.built = True

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        return tuple(_zero_states(c, inputs) for c in self.cells)

    def call(self, inputs, states, **kwargs):
        new, at = [], 0
        for cell in self.cells:
            n = len(as_list(cell.state_size))
            inputs, state = cell.call(inputs, list(states[at:at + n]))
            new += as_list(state)
            at += n
        return inputs, new


def _zero_states(cell, inputs):
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=inputs)
    batch = _array.shape(inputs)[0]
    return [_array.zeros(_array.stack([batch, n]), inputs.dtype)
            for n in as_list(cell.state_size)]


class RNN(Layer):
    """Runs a cell over the second dimension of [batch, time, ...].
    `return_sequences`: all outputs, not the last alone. `return_state`: the
    last states too. `stateful`: a batch begins with the states that the one
    before left; the batch size must be known. Masks and `unroll` are not
    supported; unroll is ignored."""

    def __init__(self, cell, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False,
                 time_major=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("`cell` should have a `call` method. The RNN was "
                             "passed: %s" % (cell,))
        if not hasattr(cell, "state_size"):
            raise ValueError("The RNN cell should have an attribute "
                             "`state_size` (tuple of integers, one integer per "
                             "RNN state).")
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.states = None
        self._state_updates = []  # to run with each batch
        self.input_spec = None if isinstance(
            cell, StackedRNNCells) else InputSpec(ndim=3)

    def build(self, input_shape):
        shape = TensorShape(nest.flatten(input_shape)[0] if isinstance(
            input_shape, list) else input_shape).as_list()
        step = [shape[1 if self.time_major else 0]] + shape[2:]
        if not self.cell.built:
            self.cell.build(TensorShape(step))
            self.cell.built = True
        self.built = True

    def _sizes(self):
        return [n for part in as_list(self.cell.state_size)
                for n in as_list(part)]

    def __call__(self, inputs, initial_state=None, **kwargs):
        if isinstance(inputs, (list, tuple)):
            inputs, initial_state = inputs[0], list(inputs[1:])
        if initial_state is not None:
            kwargs["initial_state"] = as_list(initial_state)
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, mask=None, training=None, initial_state=None):
        if mask is not None:
            raise NotImplementedError("%s: masks are not supported"
                                      % type(self).__name__)
        x = inputs if self.time_major else _swapped(inputs)
        first = x[0]
        if initial_state is not None:
            states = [convert_to_tensor(s) for s in initial_state]
        elif self.stateful:
            states = self._kept_states(inputs)
        else:
            states = nest.flatten(_zero_states(self.cell, first))
        if len(states) != len(self._sizes()):
            raise ValueError("Layer %s expects %d states, but was passed %d"
                             % (self.name, len(self._sizes()), len(states)))
        if hasattr(self.cell, "_make_masks"):
            self.cell._make_masks(first, training)
        last, outputs, new = self._loop(x, states)
        if hasattr(self.cell, "_masks"):
            self.cell._masks = None
        if self.stateful:
            self._state_updates = [v.assign(s).op
                                   for v, s in zip(self.states, new)]
        result = (outputs if self.time_major else _swapped(outputs)) \
            if self.return_sequences else last
        static = inputs.get_shape().as_list()
        size = getattr(self.cell, "output_size", self._sizes()[0])
        result.set_shape((static[:2] if self.return_sequences else static[:1])
                         + [size])
        return [result] + new if self.return_state else result

    def _loop(self, x, states):
        """(the last output, all outputs, the last states) of time-major x."""
        n = x.get_shape().as_list()[0] or _array.shape(x)[0]
        read = TensorArray(x.dtype.base_dtype, size=n).unstack(
            _raw.ReverseV2(x, [0]) if self.go_backwards else x)
        outputs = TensorArray(x.dtype.base_dtype, size=n)
        shapes = [s.get_shape() for s in states]

        def step(t, outputs, *states):
            value = read.read(t)
            value.set_shape(x.get_shape()[1:])
            output, new = self.cell.call(value, list(states))
            new = nest.flatten(new)
            for s, shape in zip(new, shapes):
                s.set_shape(shape)
            return (t + 1, outputs.write(t, output), *new)

        _, outputs, *states = while_loop(
            lambda t, *_: t < n, step, (constant(0), outputs, *states),
            maximum_iterations=n, parallel_iterations=32)
        stacked = outputs.stack()
        return stacked[-1], stacked, states

    def _kept_states(self, inputs):
        if self.states is None:
            batch = inputs.get_shape().as_list()[1 if self.time_major else 0]
            if batch is None:
                raise ValueError(
                    "If a RNN is stateful, it needs to know its batch size. "
                    "Specify the batch size of your input tensors: by "
                    "`batch_input_shape` of the first layer of a Sequential "
                    "model, or by `batch_shape` of Input")
            with name_scope("states"):
                self.states = [backend.variable(
                    _zeros(batch, n), dtype=inputs.dtype.name, name="state")
                    for n in self._sizes()]
        return [convert_to_tensor(s) for s in self.states]

    def reset_states(self, states=None):
        """Sets the states of a stateful layer, by default to zeros.
        AttributeError for a layer that is not."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if self.states is None:
            return
        values = as_list(states) or [
            _zeros(*s.get_shape().as_list()) for s in self.states]
        backend.batch_set_value(list(zip(self.states, values)))

    def get_config(self):
        return {**super().get_config(), "cell": self.cell,
                **self._options()}

    def _options(self):
        return {key: getattr(self, key) for key in (
            "return_sequences", "return_state", "go_backwards", "stateful",
            "unroll", "time_major")}


def _zeros(*shape):
    return np.zeros(shape, np.float32)


def _swapped(x):
    """Batch and time in place of each other."""
    rank = x.get_shape().ndims
    return _array.transpose(x, [1, 0] + list(range(2, rank)))


class _OfCell(RNN):
    """A layer of one kind of cell."""

    cell_type: type

    def __init__(self, units, *args, return_sequences=False,
                 return_state=False, go_backwards=False, stateful=False,
                 unroll=False, time_major=False, activity_regularizer=None,
                 **kwargs):
        own = {k: kwargs.pop(k) for k in (
            "name", "trainable", "dtype", "input_shape", "batch_input_shape",
            "input_dim", "input_length", "batch_size", "weights", "dynamic")
            if k in kwargs}
        length = own.pop("input_length", None)
        if "input_dim" in own:
            own["input_shape"] = (length, own.pop("input_dim"))
        cell = self.cell_type(units, *args, dtype=own.get("dtype"),
                              name="cell", **kwargs)
        super().__init__(
            cell, return_sequences, return_state, go_backwards, stateful,
            unroll, time_major,
            activity_regularizer=regularizers.get(activity_regularizer), **own)

    units = property(lambda self: self.cell.units)

    @property
    def _cell_config(self):
        config = self.cell.get_config()
        return {k: v for k, v in config.items()
                if k not in ("name", "trainable", "dtype",
                             "batch_input_shape")}

    def get_config(self):
        options = self._options()
        del options["time_major"]
        return {**Layer.get_config(self), **self._cell_config, **options}


class SimpleRNN(_OfCell):
    """A SimpleRNNCell over time; see RNN."""

    cell_type = SimpleRNNCell

    def __init__(self, units, activation="tanh", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0., recurrent_dropout=0.,
                 return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, **kwargs):
        super().__init__(**_given(locals()), **kwargs)


class GRU(_OfCell):
    """A GRUCell over time; see RNN."""

    cell_type = GRUCell

    def __init__(self, units, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0., recurrent_dropout=0.,
                 implementation=1, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False,
                 reset_after=False, **kwargs):
        super().__init__(**_given(locals()), **kwargs)


class LSTM(_OfCell):
    """An LSTMCell over time; see RNN."""

    cell_type = LSTMCell

    def __init__(self, units, activation="tanh",
                 recurrent_activation="hard_sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.,
                 recurrent_dropout=0., implementation=1,
                 return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, **kwargs):
        super().__init__(**_given(locals()), **kwargs)


def _given(arguments):
    return {k: v for k, v in arguments.items()
            if k not in ("self", "kwargs", "__class__")}


class Wrapper(Layer):
    """A layer around another one, `layer`."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise TypeError("%s: layer must be a Layer, got %s"
                            % (type(self).__name__, layer))
        self.layer = layer
        super().__init__(**kwargs)


class Bidirectional(Wrapper):
    """A recurrent layer forwards and backwards. `merge_mode`: "concat", "sum",
    "mul", "ave", or None for both results."""

    def __init__(self, layer, merge_mode="concat", weights=None,
                 backward_layer=None, **kwargs):
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError("Invalid merge mode. Merge mode should be one of "
                             "{\"sum\", \"mul\", \"ave\", \"concat\", None}")
        if weights is not None:
            raise ValueError("Bidirectional: weights is not supported; use "
                             "set_weights")
        super().__init__(layer, **kwargs)
        if not isinstance(layer, RNN):
            raise ValueError("Bidirectional: layer must be a recurrent layer, "
                             "got %s" % (layer,))
        config = layer.get_config()
        self.merge_mode = merge_mode
        self.return_state = layer.return_state
        self.return_sequences = layer.return_sequences
        self.forward_layer = type(layer).from_config(
            {**config, "name": "forward_" + layer.name})
        self.backward_layer = backward_layer or type(layer).from_config(
            {**config, "name": "backward_" + layer.name,
             "go_backwards": not layer.go_backwards})
        if hasattr(layer, "_batch_input_shape"):
            self._batch_input_shape = layer._batch_input_shape
        del self.layer

    def call(self, inputs, training=None):
        first = as_list(self.forward_layer(inputs, training=training))
        second = as_list(self.backward_layer(inputs, training=training))
        y, z = first[0], second[0]
        if self.return_sequences:
            z = _raw.ReverseV2(z, [1])
        merged = {"concat": lambda: [_array.concat([y, z], -1)],
                  "sum": lambda: [y + z], "mul": lambda: [y * z],
                  "ave": lambda: [(y + z) / 2],
                  None: lambda: [y, z]}[self.merge_mode]()
        result = merged + first[1:] + second[1:]
        return result[0] if len(result) == 1 else result


class TimeDistributed(Wrapper):
    """A layer applied to each step of [batch, time, ...]."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)

    def build(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self._dtype
            self.layer.build(TensorShape([shape[0]] + shape[2:]))
            self.layer.built = True
        self.built = True

    def call(self, inputs, training=None):
        shape = inputs.get_shape().as_list()
        sizes = _array.shape(inputs)
        flat = _array.reshape(inputs, _array.concat([[-1], sizes[2:]], 0))
        flat.set_shape([None] + shape[2:])
        options = {"training": training} if training is not None and (
            "training" in self.layer._call_arguments()) else {}
        y = self.layer(flat, **options)
        out = _array.reshape(y, _array.concat(
            [sizes[:2], _array.shape(y)[1:]], 0))
        out.set_shape(shape[:2] + y.get_shape().as_list()[1:])
        return out
