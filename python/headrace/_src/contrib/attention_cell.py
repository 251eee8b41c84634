"""tf.contrib.rnn.AttentionCellWrapper."""
from headrace._src.contrib.linear import Linear
from headrace._src.framework import nest
from headrace._src.nn import activations as _nn
from headrace._src.nn import conv as _conv
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import RNNCell, check_cell
from headrace._src.variables.scopes import get_variable, variable_scope


class AttentionCellWrapper(RNNCell):
    """A cell that also looks back at its last attn_length outputs (Bahdanau and
    others, 2014). Its output is [batch, attn_size].

    The state is (the cell's, the last attention [batch, attn_size], the outputs
    [batch, attn_length * attn_size]), or all side by side without
    state_is_tuple. attn_size is the cell's output size by default, attn_vec_size
    attn_size, input_size the inputs'. ValueError for attn_length <= 0."""

    def __init__(self, cell, attn_length, attn_size=None, attn_vec_size=None,
                 input_size=None, state_is_tuple=True, reuse=None):
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError("Cell returns tuple of states, but the flag "
                             "state_is_tuple is not set. State size is: %s"
                             % str(cell.state_size))
        if attn_length <= 0:
            raise ValueError("attn_length should be greater than zero, got %s"
                             % str(attn_length))
        self._cell = cell
        self._length = attn_length
        self._size = attn_size or cell.output_size
        self._vector = attn_vec_size or self._size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple
        self._linears = {}

    @property
    def state_size(self):
        sizes = (self._cell.state_size, self._size, self._size * self._length)
        return sizes if self._state_is_tuple else sum(sizes)

    output_size = property(lambda self: self._size)

    def _linear(self, key, args, size):
        if key not in self._linears:
            self._linears[key] = Linear(args, size, True)
        return self._linears[key](args)

    def call(self, inputs, state):
        if self._state_is_tuple:
            state, attention, outputs = state
        else:
            size = self._cell.state_size
            state, attention, outputs = (
                _array.slice(state, [0, 0], [-1, size]),
                _array.slice(state, [0, size], [-1, self._size]),
                _array.slice(state, [0, size + self._size],
                             [-1, self._size * self._length]))
        outputs = _array.reshape(outputs, [-1, self._length, self._size])
        width = self._input_size or inputs.get_shape()[1].value
        output, state = self._cell(
            self._linear("inputs", [inputs, attention], width), state)
        query = (_array.concat(nest.flatten(state), 1)
                 if self._state_is_tuple else state)
        attention = self._attention(query, outputs)
        with variable_scope("attn_output_projection"):
            output = self._linear("output", [output, attention], self._size)
        outputs = _array.concat(
            [outputs[:, 1:], _array.expand_dims(output, 1)], 1)
        outputs = _array.reshape(outputs, [-1, self._length * self._size])
        state = (state, attention, outputs)
        return output, (state if self._state_is_tuple
                        else _array.concat(list(state), 1))

    def _attention(self, query, outputs):
        """The mean [batch, size] of the outputs, weighted by the query."""
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, self._size, self._vector])
            vector = get_variable("attn_v", [self._vector])
            hidden = _array.reshape(
                outputs, [-1, self._length, 1, self._size])
            keys = _conv.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            query = _array.reshape(
                self._linear("query", query, self._vector),
                [-1, 1, 1, self._vector])
            scores = _math.reduce_sum(vector * _math.tanh(keys + query),
                                      [2, 3])
            weights = _array.reshape(_nn.softmax(scores),
                                     [-1, self._length, 1, 1])
            return _array.reshape(_math.reduce_sum(weights * hidden, [1, 2]),
                                  [-1, self._size])
