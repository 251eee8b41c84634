"""tf.nn.rnn_cell: cells around another cell."""
import hashlib
import numbers

from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import nest
from headrace._src.framework.graph import device as _device
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.nn import activations as _nn
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.rnn.cells import LSTMStateTuple, RNNCell, check_cell


class _Wrapper(RNNCell):
    """A cell with the sizes, states and variables of another."""

    def __init__(self, cell, *args, **kwargs):
        super().__init__(*args, **kwargs)
        check_cell("cell", cell)
        self.cell = cell

    wrapped_cell = property(lambda self: self.cell)
    state_size = property(lambda self: self.cell.state_size)
    output_size = property(lambda self: self.cell.output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        return self._wrapped(inputs, state, scope)

    # Arguments that get_config has, and the attributes where they are kept.
    _CONFIG: dict = {}
    _FUNCTION: object = None  # that of an argument that is a function

    def get_config(self):
        """The arguments, with the class and the arguments of the cell. A
        wrapper around a function raises NotImplementedError."""
        if self._FUNCTION and getattr(self, self._FUNCTION) is not None:
            raise NotImplementedError("The configuration of a %s with a "
                                      "function is not supported yet"
                                      % type(self).__name__)
        return {**super().get_config(),
                "cell": {"class_name": type(self.cell).__name__,
                         "config": self.cell.get_config()},
                **{key: getattr(self, name)
                   for key, name in self._CONFIG.items()}}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A wrapper of what get_config gave, once its "cell" has been replaced
        by a cell."""
        config = dict(config)
        cell = config.pop("cell")
        if not isinstance(cell, RNNCell):
            raise ValueError("RNNCellWrapper cannot reconstruct the wrapped "
                             "cell. Please overwrite the cell in the config "
                             "with a RNNCell instance.")
        return cls(cell, **config)


def _drops_all_but_memory(state):
    if isinstance(state, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(state, TensorArray)


class DropoutWrapper(_Wrapper):
    """Sets a share 1 - keep_prob of the cell's inputs, new state and outputs
    to 0, and scales the rest up.

    `variational_recurrent`: the same elements at all steps and for all
    examples; needs `dtype`, and `input_size` for the inputs.
    `dropout_state_filter_visitor` says of a state, or by a structure of bools
    of its parts, what may be dropped: all but the memory c of an
    LSTMStateTuple.

    Inputs and states: float16, float32 or float64 [batch, ...], whose shapes
    stay. A keep_prob is a number or scalar tensor. ValueError for a number out
    of (0, 1] and for `variational_recurrent` without what it needs; TypeError
    for what is no cell."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0,
                 state_keep_prob=1.0, variational_recurrent=False,
                 input_size=None, dtype=None, seed=None,
                 dropout_state_filter_visitor=None, **kwargs):
        super().__init__(cell, dtype=dtype, **kwargs)
        visitor = dropout_state_filter_visitor
        if visitor is not None and not callable(visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._filter = visitor or _drops_all_but_memory
        self._visitor = visitor
        self._input_size = input_size
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = self._probability(
                "input_keep_prob", input_keep_prob)
            self._state_keep_prob = self._probability(
                "state_keep_prob", state_keep_prob)
            self._output_keep_prob = self._probability(
                "output_keep_prob", output_keep_prob)
        self._variational = variational_recurrent
        self._seed = seed
        self._noise = {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    _CONFIG = {"input_keep_prob": "_input_keep_prob",
               "output_keep_prob": "_output_keep_prob",
               "state_keep_prob": "_state_keep_prob",
               "variational_recurrent": "_variational",
               "input_size": "_input_size", "seed": "_seed"}
    _FUNCTION = "_visitor"

    @staticmethod
    def _probability(name, value):
        tensor = convert_to_tensor(value)
        known = constant_value(tensor)
        if known is None:
            return tensor
        if not 0 <= known <= 1:
            raise ValueError("Parameter %s must be between 0 and 1: %s"
                             % (name, known))
        return float(known)

    def _seed_of(self, what, index):
        """A seed for each use, of the one that was given."""
        if self._seed is None:
            return None
        text = "%s%s_%d" % (self._seed, what, index)
        return int(hashlib.md5(text.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _make_noise(self, input_size, dtype):
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be "
                             "provided")

        def noise(what, sizes):
            return [_random.random_uniform(
                [1] + TensorShape(size).as_list(),
                seed=self._seed_of(what, i), dtype=dtype)
                for i, size in enumerate(nest.flatten(sizes))]
        keep = self._input_keep_prob
        if not isinstance(keep, numbers.Real) or keep < 1.0:
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 "
                    "or is unknown, input_size must be provided")
            self._noise["input"] = noise("input", input_size)
        self._noise["state"] = noise("state", self.cell.state_size)
        self._noise["output"] = noise("output", self.cell.output_size)

    def _dropped(self, value, what, i, keep):
        if not self._variational:
            return _nn.dropout(value, rate=1. - keep,
                               seed=self._seed_of(what, i))
        mask = _math.floor(keep + self._noise[what][i])
        result = _math.div(value, keep) * mask
        result.set_shape(value.get_shape())
        return result

    def _drop(self, values, what, keep):
        return nest.pack_sequence_as(values, [
            self._dropped(v, what, i, keep)
            for i, v in enumerate(nest.flatten(values))])

    def _drop_state(self, state):
        """Numbers the parts as the filter cuts them."""
        count = [-1]

        def visit(value, allowed):
            if allowed is True and nest.is_nested(value):
                allowed = self._filter(value)
            if allowed is False:
                count[0] += 1
                return value
            if nest.is_nested(value):
                parts = list(allowed) if nest.is_nested(allowed) else [
                    True] * len(value)
                results = [visit(v, self._filter(v) if p is True and
                                 nest.is_nested(v) else p)
                           for v, p in zip(value, parts)]
                return (type(value)(*results) if hasattr(value, "_fields")
                        else type(value)(results))
            count[0] += 1
            return self._dropped(value, "state", count[0],
                                 self._state_keep_prob)
        return visit(state, self._filter(state))

    def _wrapped(self, inputs, state, scope):
        def drops(keep):
            return not isinstance(keep, float) or keep < 1
        if drops(self._input_keep_prob):
            inputs = self._drop(inputs, "input", self._input_keep_prob)
        output, state = self.cell(inputs, state, scope=scope)
        if drops(self._state_keep_prob):
            state = self._drop_state(state)
        if drops(self._output_keep_prob):
            output = self._drop(output, "output", self._output_keep_prob)
        return output, state


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs, or what `residual_fn` makes of the
    two."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    _FUNCTION = "_residual_fn"

    def _wrapped(self, inputs, state, scope):
        outputs, state = self.cell(inputs, state, scope=scope)

        def add(a, b):
            a.get_shape().assert_is_compatible_with(b.get_shape())
            return a + b
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), state
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(add, inputs, outputs), state


class DeviceWrapper(_Wrapper):
    """Puts the cell's nodes on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    _CONFIG = {"device": "_device"}

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            with _device(self._device):
                return self.cell.zero_state(batch_size, dtype)

    def _wrapped(self, inputs, state, scope):
        with _device(self._device):
            return self.cell(inputs, state, scope=scope)
