"""tf.keras.layers: SimpleRNN, GRU, LSTM, their cells, and what wraps layers."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    activations, backend, constraints, initializers, named, regularizers)
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

    def _make_masks(self, inputs, state, training):
        """Dropout masks, the same for all steps of a call: of the inputs and of
        the state, one for each gate; None for those without dropout."""
        def masks(rate, x):
            if not rate:
                return None
            ones = _array.ones_like(x)
            # As tf.keras.backend.dropout, by a seed of NumPy.
            return [backend.choose(
                backend.learning_phase() if training is None else training,
                lambda: _nn.dropout(ones, rate=rate,
                                    seed=np.random.randint(10**7)),
                lambda: ones) for _ in range(self.gates)]
        if self._masks is None:
            self._masks = (masks(self.dropout, inputs),
                           masks(self.recurrent_dropout, state))

    def _masked(self, x, which, gate):
        masks = self._masks[which] if self._masks else None
        return x if masks is None else x * masks[gate]

    # Nodes are made in TensorFlow's order: the seeds of the random ops after
    # them are their numbers.

    def _part(self, weight, gate):
        """The columns of a kernel, or numbers of a bias, that are of a gate."""
        part = slice(gate * self.units, (gate + 1) * self.units)
        whole = convert_to_tensor(weight)
        return whole[part] if whole.get_shape().ndims == 1 else whole[:, part]

    def _of_inputs(self, x):
        """For each gate: the inputs by its kernel, and its bias."""
        products = [_math.matmul(self._masked(x, 0, gate),
                                 self._part(self.kernel, gate))
                    for gate in range(self.gates)]
        if not self.use_bias:
            return products
        return [_nn.bias_add(product, self._bias_part(gate))
                for gate, product in enumerate(products)]

    def _bias_part(self, gate):
        return self._part(self.bias, gate)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros."""
        if inputs is not None:
            batch_size, dtype = _array.shape(inputs)[0], inputs.dtype
        sizes = as_list(self.state_size)
        states = [_array.zeros([batch_size, n], dtype) for n in sizes]
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
        self._make_masks(inputs, states[0], training)
        h = _math.matmul(self._masked(inputs, 0, 0), self.kernel)
        if self.use_bias:
            h = _nn.bias_add(h, self.bias)
        h = self.activation(h + _math.matmul(
            self._masked(states[0], 1, 0), self.recurrent_kernel))
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

    def _of_state(self, before, gate):
        """The product of a state, masked for each gate, and its bias."""
        product = _math.matmul(before[gate],
                               self._part(self.recurrent_kernel, gate))
        if not self.use_bias or not self.reset_after:
            return product
        return _nn.bias_add(product, self._bias_part(gate, row=1))

    def call(self, inputs, states, training=None):
        h = states[0]
        self._make_masks(inputs, h, training)
        x = self._of_inputs(inputs)
        before = [self._masked(h, 1, gate) for gate in range(3)]
        of_state = [self._of_state(before, gate) for gate in (0, 1)]
        z, r = (self.recurrent_activation(x[gate] + of_state[gate])
                for gate in (0, 1))
        if self.reset_after:
            last = r * self._of_state(before, 2)
        else:
            reset = r * before[2]
            last = _math.matmul(reset, self._part(self.recurrent_kernel, 2))
        new = self.activation(x[2] + last)
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
        self._make_masks(inputs, h, training)
        x = self._of_inputs(inputs)
        before = [self._masked(h, 1, gate) for gate in range(4)]

        def whole(gate):
            return x[gate] + _math.matmul(before[gate], self._part(
                self.recurrent_kernel, gate))
        gate = self.recurrent_activation
        i = gate(whole(0))
        kept = gate(whole(1)) * c
        c = kept + i * self.activation(whole(2))
        h = gate(whole(3)) * self.activation(c)
        return h, [h, c]

    def _of_inputs(self, x):
        """As other cells', by kernels that are split into those of the gates."""
        kernels = _array.split(self.kernel, 4, axis=1)
        products = [_math.matmul(self._masked(x, 0, gate), kernel)
                    for gate, kernel in enumerate(kernels)]
        if not self.use_bias:
            return products
        return [_nn.bias_add(product, bias) for product, bias in zip(
            products, _array.split(self.bias, 4, axis=0))]

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

    def get_config(self):
        return {**super().get_config(),
                "cells": [named.describe(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        return cls([_cell_of(cell, custom_objects)
                    for cell in config.pop("cells")], **config)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            batch_size, dtype = _array.shape(inputs)[0], inputs.dtype
        return tuple(_zero_states(c, batch_size, dtype) for c in self.cells)

    def _forget_masks(self):
        for cell in self.cells:
            _forget_masks(cell)

    def call(self, inputs, states, training=None, **kwargs):
        """The output and the new states, a tuple with those of each cell.
        `states`: such a tuple, or a list of all tensors in its order."""
        states, new, at = nest.flatten(states), [], 0
        for cell in self.cells:
            n = len(as_list(cell.state_size))
            inputs, state = cell.call(inputs, states[at:at + n],
                                      **_training_of(cell, training))
            new += nest.flatten(state)
            at += n
        return inputs, nest.pack_sequence_as(self.state_size, new)


def _zero_states(cell, batch_size, dtype):
    if hasattr(cell, "get_initial_state"):
        return cell.get_initial_state(inputs=None, batch_size=batch_size,
                                      dtype=dtype)
    return [_array.zeros([batch_size, n], dtype)
            for n in as_list(cell.state_size)]


def _forget_masks(cell):
    """A call has dropout masks of its own."""
    if hasattr(cell, "_forget_masks"):
        cell._forget_masks()
    elif hasattr(cell, "_masks"):
        cell._masks = None


def _training_of(cell, training):
    """`training` for a cell whose call takes it."""
    return {"training": training} if (
        isinstance(cell, Layer) and "training" in cell._call_arguments()
        ) else {}


class RNN(Layer):
    """Runs a cell over the second dimension of [batch, time, ...].
    `return_sequences`: all outputs, not the last alone. `return_state`: the
    last states too. `stateful`: a batch begins with the states that the one
    before left; the batch size must be known. `unroll` is ignored.

    Where a mask [batch, time] is False, the states stay as they are and the
    output is that of the step before, or zeros with `zero_output_for_mask`."""

    _masks_pass = True

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
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self._states = None
        self._num_constants = None
        self._constant_shapes = []
        self._input_sizes = None  # the static shape of the inputs
        self._state_updates = []  # to run with each batch
        self.input_spec = None if isinstance(
            cell, StackedRNNCells) else InputSpec(ndim=3)

    def build(self, input_shape):
        shape = TensorShape(nest.flatten(input_shape)[0] if isinstance(
            input_shape, list) else input_shape).as_list()
        self._input_sizes = shape
        step = TensorShape([shape[1 if self.time_major else 0]] + shape[2:])
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build([step] + self._constant_shapes
                            if self._constant_shapes else step)
            self.cell.built = True
        self.built = True

    def _sizes(self):
        return [n for part in as_list(self.cell.state_size)
                for n in as_list(part)]

    def compute_output_shape(self, input_shape):
        """That of the last output or of all; with return_state a list with
        those of the states."""
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        first, second = TensorShape(input_shape).as_list()[:2]
        batch = second if self.time_major else first
        size = getattr(self.cell, "output_size", None)
        size = TensorShape(self._sizes()[0] if size is None else size)
        ahead = ([first, second] if self.return_sequences else [batch])
        output = TensorShape(ahead).concatenate(size)
        if not self.return_state:
            return output
        return [output] + [TensorShape([batch]).concatenate(TensorShape(n))
                           for n in self._sizes()]

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        if isinstance(inputs, (list, tuple)):
            inputs = list(inputs)
            if constants is None and self._num_constants:
                constants = inputs[-self._num_constants:]
                del inputs[-self._num_constants:]
            inputs, *rest = inputs
            if initial_state is None and rest:
                initial_state = rest
        further = []
        if initial_state is not None:
            states = nest.flatten(as_list(initial_state))
            kwargs["initial_state"] = states
            further += states
        if constants is not None:
            kwargs["constants"] = as_list(constants)
            self._num_constants = len(kwargs["constants"])
            self._constant_shapes = [convert_to_tensor(x).get_shape()
                                     for x in kwargs["constants"]]
            further += kwargs["constants"]
        outputs = super().__call__(inputs, **kwargs)
        if further and all(isinstance(x, Tensor) and backend.is_keras_tensor(x)
                           for x in further):
            # A model that has the call gives it these too.
            self._calls[-1] = [inputs] + further, outputs
        return outputs

    def get_initial_state(self, inputs):
        """The states before the first step: a list of zeros [batch, size]."""
        return nest.flatten(_zero_states(
            self.cell, _array.shape(inputs)[1 if self.time_major else 0],
            inputs.dtype))

    def call(self, inputs, mask=None, training=None, initial_state=None,
             constants=None):
        if initial_state is not None:
            states = [convert_to_tensor(s) for s in initial_state]
        elif self.stateful:
            states = self._kept_states(inputs)
        else:
            states = self.get_initial_state(inputs)
        if len(states) != len(self._sizes()):
            raise ValueError("Layer %s expects %d states, but was passed %d"
                             % (self.name, len(self._sizes()), len(states)))
        x = inputs if self.time_major else _swapped(inputs)
        mask = self._time_major_mask(mask)
        _forget_masks(self.cell)
        options = _training_of(self.cell, training)
        if constants is not None:
            options["constants"] = [convert_to_tensor(c) for c in constants]
        last, outputs, new = self._loop(x, states, mask, options)
        _forget_masks(self.cell)
        if self.stateful:
            self._state_updates = [v.assign(s).op
                                   for v, s in zip(self._states, new)]
        if not self.time_major:
            outputs = _swapped(outputs)
        result = outputs if self.return_sequences else last
        static = inputs.get_shape().as_list()
        result.set_shape((static[:2] if self.return_sequences else static[:1])
                         + self._step_shape(static))
        return [result] + new if self.return_state else result

    def _step_shape(self, static):
        """The sizes of a step's output after the batch, for inputs of the sizes
        `static`."""
        return [getattr(self.cell, "output_size", self._sizes()[0])]

    def compute_mask(self, inputs, mask=None):
        """That of the inputs, for the outputs of all steps; states have
        none."""
        mask = self._one_mask(mask) if self.return_sequences else None
        return [mask] + [None] * len(self._sizes()) if self.return_state \
            else mask

    def _time_major_mask(self, mask):
        """A mask as bools [time, batch, 1], or None."""
        mask = self._one_mask(mask)
        if mask is None:
            return None
        mask = convert_to_tensor(mask)
        if mask.dtype.base_dtype != dtypes.bool_:
            mask = _math.cast(mask, dtypes.bool_)
        if mask.get_shape().ndims == 2:
            mask = _array.expand_dims(mask, -1)
        return mask if self.time_major else _swapped(mask)

    @staticmethod
    def _masked_step(there, before, states, output, new):
        """(output, states) of a step: where `there` [batch, 1] is False, those
        of before."""
        def like(x):
            return _array.tile(there, [1] + x.get_shape().as_list()[1:])
        output = _array.where(like(output), output, before)
        every = [like(s) for s in states]
        return output, [_array.where(m, a, b)
                        for m, a, b in zip(every, new, states)]

    def _loop(self, x, states, mask, options):
        """(the last output, all outputs, the last states) of time-major x. The
        first step is made outside of the loop too: it tells the shape of the
        output, and dropout masks of all steps are made there."""
        n = _array.shape(x)[0]
        read = TensorArray(x.dtype.base_dtype, size=n)
        read = read.unstack(_raw.ReverseV2(x, [0]) if self.go_backwards else x)
        first, _ = self.cell.call(x[0], list(states), **options)
        outputs = TensorArray(first.dtype.base_dtype, size=n,
                              element_shape=first.get_shape())
        start = constant(0, name="time")
        shapes = [s.get_shape() for s in states]
        masks, last = None, []  # with a mask: the output of the step before
        if mask is not None:
            if self.go_backwards:
                mask = _raw.ReverseV2(mask, [0])
            masks = TensorArray(mask.dtype, size=n).unstack(mask)
            zeros = _array.zeros_like(first)
            last = [zeros]

        def step(t, outputs, last, states):
            value = read.read(t)
            value.set_shape(x.get_shape()[1:])
            there = None if masks is None else masks.read(t)
            output, new = self.cell.call(value, list(states), **options)
            new = nest.flatten(new)
            for s, shape in zip(new, shapes):
                s.set_shape(shape)
            if masks is not None:
                there.set_shape([None, 1])
                output, new = self._masked_step(
                    there, zeros if self.zero_output_for_mask else last[0],
                    states, output, new)
                last = [output]
            outputs = outputs.write(t, output)
            return t + 1, outputs, last, new

        _, outputs, _, states = while_loop(
            lambda t, *_: t < n, step, (start, outputs, last, states),
            parallel_iterations=32)
        stacked = outputs.stack()
        return stacked[-1], stacked, states

    @property
    def states(self):
        """The states of a stateful layer, a list of variables, or of None
        where there are none yet."""
        return ([None] * len(self._sizes()) if self._states is None
                else self._states)

    @states.setter
    def states(self, states):
        self._states = states

    def _make_states(self, sizes, dtype):
        """Variables for inputs of the static shape `sizes`."""
        batch = sizes[1 if self.time_major else 0] if sizes else None
        if batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. "
                "Specify the batch size of your input tensors: by "
                "`batch_input_shape` of the first layer of a Sequential "
                "model, or by `batch_shape` of Input")
        with name_scope("states"):
            self._states = [backend.variable(
                _zeros(batch, *shape), dtype=dtype, name="state")
                for shape in self._state_shapes(sizes)]

    def _kept_states(self, inputs):
        if self._states is None:
            self._make_states(inputs.get_shape().as_list(), inputs.dtype.name)
        return [convert_to_tensor(s) for s in self._states]

    def _state_shapes(self, sizes):
        """The sizes of each state after the batch, for inputs of the static
        shape `sizes`."""
        return [[n] for n in self._sizes()]

    def reset_states(self, states=None):
        """Sets the states of a stateful layer, by default to zeros.
        AttributeError for a layer that is not; ValueError for another number
        of states or other shapes, and while the size of a batch is not
        known."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if self._states is None:
            self._make_states(self._input_sizes,
                              self.dtype or backend.floatx())
        values = nest.flatten(as_list(states)) if states is not None else [
            _zeros(*s.get_shape().as_list()) for s in self._states]
        if len(values) != len(self._states):
            raise ValueError(
                "Layer %s expects %d states, but it received %d state values. "
                "Input received: %s" % (self.name, len(self._states),
                                        len(values), states))
        for i, (state, value) in enumerate(zip(self._states, values)):
            if tuple(state.get_shape().as_list()) != np.shape(value):
                raise ValueError(
                    "State %d is incompatible with layer %s: expected shape=%s,"
                    " found shape=%s" % (i, self.name, tuple(
                        state.get_shape().as_list()), np.shape(value)))
        backend.batch_set_value(list(zip(self._states, values)))

    _lists_layers = False

    def get_config(self):
        constants = ({} if self._num_constants is None
                     else {"num_constants": self._num_constants})
        return {**super().get_config(), "cell": named.describe(self.cell),
                **self._options(), **constants}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        cell = config.pop("cell")
        if isinstance(cell, dict):
            cell = _cell_of(cell, custom_objects)
        constants = config.pop("num_constants", None)
        layer = cls(cell, **config)
        layer._num_constants = constants
        return layer

    def _options(self):
        return {key: getattr(self, key) for key in (
            "return_sequences", "return_state", "go_backwards", "stateful",
            "unroll", "time_major")} | (
                {"zero_output_for_mask": True} if self.zero_output_for_mask
                else {})


def _zeros(*shape):
    return np.zeros(shape, np.float32)


def _cell_of(config, custom_objects):
    return named.layer_of(config, custom_objects)


def _swapped(x):
    """Batch and time in place of each other."""
    rank = x.get_shape().ndims
    return _array.transpose(x, [1, 0] + list(range(2, rank)))


class OfOneCell:
    """A layer that has the attributes of its cell too, as `units` and
    `activation`."""

    def __getattr__(self, name):
        cell = vars(self).get("cell")
        if cell is None or name.startswith("_") or name not in vars(cell):
            raise AttributeError("'%s' object has no attribute %r"
                                 % (type(self).__name__, name))
        return getattr(cell, name)


class _OfCell(OfOneCell, RNN):
    """A layer of one kind of cell."""

    cell_type: type

    def __init__(self, units, *args, return_sequences=False,
                 return_state=False, go_backwards=False, stateful=False,
                 unroll=False, time_major=False, activity_regularizer=None,
                 **kwargs):
        own = {k: kwargs.pop(k) for k in (
            "name", "trainable", "dtype", "input_shape", "batch_input_shape",
            "input_dim", "input_length", "batch_size", "weights", "dynamic",
            "zero_output_for_mask")
            if k in kwargs}
        length = own.pop("input_length", None)
        if "input_dim" in own:
            own["input_shape"] = (length, own.pop("input_dim"))
        cell = self.cell_type(units, *args, dtype=own.get("dtype"), **kwargs)
        super().__init__(
            cell, return_sequences, return_state, go_backwards, stateful,
            unroll, time_major,
            activity_regularizer=regularizers.get(activity_regularizer), **own)

    @property
    def _cell_config(self):
        config = self.cell.get_config()
        return {k: v for k, v in config.items()
                if k not in ("name", "trainable", "dtype",
                             "batch_input_shape")}

    def get_config(self):
        return {**Layer.get_config(self), **self._cell_config,
                **self._options(), "activity_regularizer":
                regularizers.serialize(self.activity_regularizer)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def _of_the_cell(name):
    return property(lambda self: getattr(self.cell, name),
                    doc="As its cell has it.")


for _name in """
        activation bias_constraint bias_initializer bias_regularizer dropout
        implementation kernel_constraint kernel_initializer kernel_regularizer
        recurrent_activation recurrent_constraint recurrent_dropout
        recurrent_initializer recurrent_regularizer reset_after
        unit_forget_bias units use_bias""".split():
    setattr(_OfCell, _name, _of_the_cell(_name))


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

    def build(self, input_shape=None):
        """Builds the layer, with the names of this one before its weights'."""
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self._dtype
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self):
        return {**super().get_config(), "layer": named.describe(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        layer = named.layer_of(config.pop("layer"), custom_objects)
        return cls(layer, **config)


class Bidirectional(Wrapper):
    """A recurrent layer forwards and backwards. `merge_mode`: "concat", "sum",
    "mul", "ave", or None for both results. Masked steps give zeros."""

    _masks_pass = True

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
        self._described = named.describe(layer)
        self._is_own_backward = backward_layer is not None
        self.merge_mode = merge_mode
        self.return_state = layer.return_state
        self.return_sequences = layer.return_sequences
        self.forward_layer = type(layer).from_config(
            {**config, "name": "forward_" + layer.name})
        self.backward_layer = backward_layer or type(layer).from_config(
            {**config, "name": "backward_" + layer.name,
             "go_backwards": not layer.go_backwards})
        for one in (self.forward_layer, self.backward_layer):
            one.zero_output_for_mask = one.return_sequences
        if hasattr(layer, "_batch_input_shape"):
            self._batch_input_shape = layer._batch_input_shape
        del self.layer

    def get_config(self):
        config = {**Layer.get_config(self), "merge_mode": self.merge_mode,
                  "layer": self._described}
        if self._is_own_backward:
            config["backward_layer"] = named.describe(self.backward_layer)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if config.get("backward_layer") is not None:
            config["backward_layer"] = named.layer_of(
                config["backward_layer"], custom_objects)
        return super().from_config(config, custom_objects)

    def build(self, input_shape):
        for layer in (self.forward_layer, self.backward_layer):
            with name_scope(layer.name):
                layer._dtype = layer._dtype or self._dtype
                layer.build(input_shape)
        self.built = True

    def compute_output_shape(self, input_shape):
        """That of the forward layer, twice as wide for "concat"; a list if
        there are several outputs."""
        shapes = as_list(self.forward_layer.compute_output_shape(input_shape))
        output, states = shapes[0], shapes[1:]
        if self.merge_mode == "concat":
            sizes = output.as_list()
            output = TensorShape(sizes[:-1] + [2 * sizes[-1]])
        outputs = [output] if self.merge_mode else [output, output]
        outputs += states + states
        return outputs[0] if len(outputs) == 1 else outputs

    def compute_mask(self, inputs, mask=None):
        """That of the inputs, for the outputs of all steps; states have
        none."""
        mask = self._one_mask(mask) if self.return_sequences else None
        masks = [mask] if self.merge_mode else [mask, mask]
        if self.return_state:
            masks += [None] * 2 * len(self.forward_layer._sizes())
        return masks if len(masks) > 1 else masks[0]

    def call(self, inputs, training=None, mask=None):
        first = as_list(self.forward_layer(inputs, training=training,
                                           mask=mask))
        second = as_list(self.backward_layer(inputs, training=training,
                                             mask=mask))
        y, z = first[0], second[0]
        if self.return_sequences:
            z = _raw.ReverseV2(z, [1])
        merged = {"concat": lambda: [_array.concat([y, z], -1)],
                  "sum": lambda: [y + z], "mul": lambda: [y * z],
                  "ave": lambda: [(y + z) / 2],
                  None: lambda: [y, z]}[self.merge_mode]()
        result = merged + first[1:] + second[1:]
        return result[0] if len(result) == 1 else result


def _sizes_from(x, start):
    """The sizes of the dimensions of x from `start` on: tensors where they are
    not known."""
    sizes = x.get_shape().as_list()[start:]
    if all(sizes):
        return sizes
    shape = _array.shape(x)
    return [size or shape[start + i] for i, size in enumerate(sizes)]


def _flat_steps(x):
    """[batch, time, ...] as [batch * time, ...]"""
    return _array.reshape(x, [-1] + _sizes_from(x, 2))


class TimeDistributed(Wrapper):
    """A layer applied to each step of [batch, time, ...]. A mask [batch, time,
    ...] is given to it in steps too, if it takes one."""

    _masks_pass = True

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self._last = None, None  # the inputs of the last call, also in steps

    def build(self, input_shape):
        shape = TensorShape(input_shape).as_list()
        if not self.layer.built:
            self.layer._dtype = self.layer._dtype or self._dtype
            self.layer.build(TensorShape([shape[0]] + shape[2:]))
            self.layer.built = True
        self.built = True

    def compute_output_shape(self, input_shape):
        """The layer's for one step, with the steps after the batch."""
        sizes = TensorShape(input_shape).as_list()
        step = self.layer.compute_output_shape(
            TensorShape(sizes[:1] + sizes[2:]))
        return TensorShape(sizes[:2] + TensorShape(step).as_list()[1:])

    def compute_mask(self, inputs, mask=None):
        """What the layer makes of the mask of each step; where it makes none,
        whether anything of a step is there. With a known batch size, the mask
        as it is."""
        if inputs.get_shape().as_list()[0]:
            return mask
        flat = None if mask is None else _flat_steps(mask)
        given, flat_inputs = self._last
        made = self.layer.compute_mask(
            flat_inputs if given is inputs else _flat_steps(inputs), flat)
        if made is not None:
            length = inputs.get_shape().as_list()[1] or _array.shape(inputs)[1]
            return _array.reshape(made, [-1, length] + _sizes_from(made, 1))
        if mask is not None:
            for _ in range(2, mask.get_shape().ndims):
                mask = _math.reduce_any(mask, -1)
        return mask

    def call(self, inputs, training=None, mask=None):
        shape = inputs.get_shape().as_list()
        length = shape[1] or _array.shape(inputs)[1]
        flat = _flat_steps(inputs)
        self._last = inputs, flat
        known = self.layer._call_arguments()
        options = {"training": training} if training is not None and (
            "training" in known) else {}
        if mask is not None and "mask" in known:
            options["mask"] = _flat_steps(mask)
        y = self.layer(flat, **options)
        out = _array.reshape(y, [-1, length] + _sizes_from(y, 1))
        out.set_shape(shape[:2] + y.get_shape().as_list()[1:])
        return out
