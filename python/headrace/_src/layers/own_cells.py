"""Cells of tf.keras that programs derive from or name by themselves."""
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers.engine import Layer, as_list
from headrace._src.layers.recurrent import LSTMCell
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class AbstractRNNCell(Layer):
    """The base of cells: a derived class has `call(inputs, states)`, which
    gives (output, new states), `state_size` and `output_size`; here these raise
    NotImplementedError. `inputs` is [batch, ...]; a state is [batch, size]."""

    def call(self, inputs, states):
        """(output, new states) of a step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        """The size of a state, or a list of sizes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros, for the batch of `inputs` or for batch_size and dtype.
        ValueError if there is neither."""
        if inputs is not None:
            batch_size, dtype = _array.shape(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial "
                "state: batch_size=%s, dtype=%s" % (batch_size, dtype))
        states = [_array.zeros([batch_size] + _sizes_of(n), dtype)
                  for n in as_list(self.state_size)]
        return states if isinstance(self.state_size, (list, tuple)) \
            else states[0]


def _sizes_of(size):
    return size.as_list() if hasattr(size, "as_list") else [size]


class PeepholeLSTMCell(LSTMCell):
    """An LSTMCell whose gates also see the state c, by the weights
    `input_gate_peephole_weights`, `forget_gate_peephole_weights` and
    `output_gate_peephole_weights` [units]. The arguments are LSTMCell's."""

    def build(self, input_shape):
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = gate + "_gate_peephole_weights"
            setattr(self, name, self.add_weight(
                name, shape=(self.units,),
                initializer=self.kernel_initializer))

    def call(self, inputs, states, training=None):
        h, c = states
        self._make_masks(inputs, h, training)
        x = self._of_inputs(inputs)

        def whole(gate):
            return x[gate] + _math.matmul(self._masked(h, 1, gate), self._part(
                self.recurrent_kernel, gate))
        gate = self.recurrent_activation
        peep = [convert_to_tensor(w) for w in (
            self.input_gate_peephole_weights,
            self.forget_gate_peephole_weights,
            self.output_gate_peephole_weights)]
        i = gate(whole(0) + peep[0] * c)
        f = gate(whole(1) + peep[1] * c)
        c = f * c + i * self.activation(whole(2))
        h = gate(whole(3) + peep[2] * c) * self.activation(c)
        return h, [h, c]
