"""tf.keras.layers.CuDNNLSTM and CuDNNGRU: recurrent layers of cuDNN."""
import collections

from headrace import raw_ops as _raw
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import (
    constraints, initializers, regularizers)
from headrace._src.layers.engine import Layer
from headrace._src.layers.input_spec import InputSpec
from headrace._src.layers.recurrent import RNN
from headrace._src.ops import array_ops as _array

_KINDS = {"initializer": initializers, "regularizer": regularizers,
          "constraint": constraints}
_WEIGHTS = ("kernel", "recurrent", "bias")
_Cell = collections.namedtuple("_Cell", "state_size output_size")


class _CuDNN(RNN):
    """`options`: of each weight, its initializer, regularizer and
    constraint."""

    _masks_pass = False
    gates: int
    mode: str
    order: tuple  # cuDNN's order of the gates

    def __init__(self, units, states, options, activity_regularizer,
                 return_sequences, return_state, go_backwards, stateful,
                 time_major=False, **kwargs):
        # There is no cell for RNN to run.
        Layer.__init__(self, activity_regularizer=regularizers.get(
            activity_regularizer), **kwargs)
        self.units = units
        self.cell = _Cell((units,) * states, units)
        for key, value in options.items():
            setattr(self, key, _KINDS[key.rpartition("_")[2]].get(value))
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.time_major = time_major
        self.zero_output_for_mask = False
        self._states = self._input_sizes = self._num_constants = None
        self._constant_shapes = []
        self._state_updates = []
        self.input_spec = InputSpec(ndim=3)
        self.kernel = self.recurrent_kernel = self.bias = None

    def _weight(self, name, shape, options, initializer=None):
        return self.add_weight(
            name, shape=shape, initializer=initializer or getattr(
                self, options + "_initializer"),
            regularizer=getattr(self, options + "_regularizer"),
            constraint=getattr(self, options + "_constraint"))

    def build(self, input_shape):
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        self._input_sizes = TensorShape(shape).as_list()
        size = self._input_sizes[-1]
        if size is None:
            raise ValueError("The last dimension of the inputs to %s must be "
                             "known" % type(self).__name__)
        width = self.gates * self.units
        self.kernel = self._weight("kernel", (size, width), "kernel")
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", (self.units, width), "recurrent")
        self.bias = self._weight("bias", (2 * width,), "bias",
                                 self._bias_initializer())
        self.built = True

    def _bias_initializer(self):
        return None

    def call(self, inputs, mask=None, training=None, initial_state=None):
        if self._one_mask(mask) is not None:
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        if initial_state is not None:
            states = [convert_to_tensor(s) for s in initial_state]
        elif self.stateful:
            states = self._kept_states(inputs)
        else:
            states = self.get_initial_state(inputs)
        if len(states) != len(self._sizes()):
            raise ValueError("Layer has %d states but was passed %d initial "
                             "states." % (len(self._sizes()), len(states)))
        if self.go_backwards:
            inputs = _raw.ReverseV2(inputs, [1])
        output, new = self._run(inputs, states)
        if self.stateful:
            self._state_updates = [v.assign(s).op
                                   for v, s in zip(self._states, new)]
        return [output] + new if self.return_state else output

    def _run(self, inputs, states):
        if not self.time_major:
            inputs = _array.transpose(inputs, (1, 0, 2))
        states = [_array.expand_dims(s, 0) for s in states]
        # A kernel's gates lie along its columns, cuDNN's one after the other.
        n, parts = self.units, []
        for weight in (self.kernel, self.recurrent_kernel):
            whole = convert_to_tensor(weight)
            parts += [whole[:, g * n:(g + 1) * n] for g in self.order]
        whole = convert_to_tensor(self.bias)
        for half in (0, self.gates):
            parts += [whole[(half + g) * n:(half + g + 1) * n]
                      for g in self.order]
        params = _array.concat([_array.reshape(p, [-1]) for p in parts], 0)
        found = _raw.CudnnRNN(
            inputs, states[0], states[1] if len(states) > 1 else
            _array.zeros((), inputs.dtype), params, rnn_mode=self.mode,
            is_training=True)
        new = list(found[1:1 + len(states)])
        if self.stateful or self.return_state:
            new = [s[0] for s in new]
        if not self.return_sequences:
            return found[0][-1], new
        return (found[0] if self.time_major
                else _array.transpose(found[0], (1, 0, 2))), new

    def _options(self):
        return {key: getattr(self, key) for key in (
            "return_sequences", "return_state", "go_backwards", "stateful",
            "time_major")}

    def get_config(self):
        config = {**Layer.get_config(self), **self._options(),
                  "units": self.units,
                  "activity_regularizer": regularizers.serialize(
                      self.activity_regularizer)}
        for weight in _WEIGHTS:
            for kind in _KINDS:
                key = "%s_%s" % (weight, kind)
                config[key] = initializers.serialize(getattr(self, key))
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class CuDNNGRU(_CuDNN):
    """A GRU that cuDNN runs on a GPU: on other devices a session says that the
    op CudnnRNN has no kernel. Its weights, `kernel` [inputs, 3 * units],
    `recurrent_kernel` [units, 3 * units] and `bias` [6 * units], are made, saved
    and loaded anywhere; HDF5 files with them also load into
    GRU(reset_after=True), and back.

    `inputs`: floats [batch, time, size]; the result is [batch, units], or
    [batch, time, units] with return_sequences. ValueError for inputs with a
    mask."""

    gates = 3
    mode = "gru"
    order = (1, 0, 2)

    def __init__(self, units, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, return_sequences=False,
                 return_state=False, go_backwards=False, stateful=False,
                 **kwargs):
        super().__init__(
            units, 1, _given(
                (kernel_initializer, kernel_regularizer, kernel_constraint),
                (recurrent_initializer, recurrent_regularizer,
                 recurrent_constraint),
                (bias_initializer, bias_regularizer, bias_constraint)),
            activity_regularizer, return_sequences, return_state, go_backwards,
            stateful, **kwargs)


class CuDNNLSTM(_CuDNN):
    """An LSTM that cuDNN runs on a GPU: on other devices a session says that
    the op CudnnRNN has no kernel. Its weights, `kernel` [inputs, 4 * units],
    `recurrent_kernel` [units, 4 * units] and `bias` [8 * units], are made, saved
    and loaded anywhere; HDF5 files with them also load into LSTM, and back.

    `inputs`: floats [batch, time, size]; the result is [batch, units], or
    [batch, time, units] with return_sequences. `unit_forget_bias`: the bias of
    the forget gate begins at 1. ValueError for inputs with a mask."""

    gates = 4
    mode = "lstm"
    order = (0, 1, 2, 3)

    def __init__(self, units, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None,
                 return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, **kwargs):
        super().__init__(
            units, 2, _given(
                (kernel_initializer, kernel_regularizer, kernel_constraint),
                (recurrent_initializer, recurrent_regularizer,
                 recurrent_constraint),
                (bias_initializer, bias_regularizer, bias_constraint)),
            activity_regularizer, return_sequences, return_state, go_backwards,
            stateful, **kwargs)
        self.unit_forget_bias = unit_forget_bias

    def _bias_initializer(self):
        if not self.unit_forget_bias:
            return None

        def make(shape, dtype=None, partition_info=None):
            n, start = self.units, self.bias_initializer
            return _array.concat([
                start((5 * n,), dtype=dtype), _array.ones((n,), dtype),
                start((2 * n,), dtype=dtype)], 0)
        return make

    def get_config(self):
        return {**super().get_config(),
                "unit_forget_bias": self.unit_forget_bias}


def _given(*options):
    """{name: value} of the options of each weight, in the order of _KINDS."""
    return {"%s_%s" % (weight, kind): value
            for weight, values in zip(_WEIGHTS, options)
            for kind, value in zip(_KINDS, values)}
