"""tf.contrib.rnn: cells around another cell that change what goes in or comes
out."""
import math

from headrace._src.contrib.linear import Linear
from headrace._src.framework.graph import device as _device
from headrace._src.framework.graph import name_scope
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.ops import array_ops as _array
from headrace._src.rnn.cells import RNNCell, check_cell
from headrace._src.variables.initializers import RandomUniform
from headrace._src.variables.scopes import get_variable, get_variable_scope


class CellAround(RNNCell):
    """A cell with the state of another."""

    def __init__(self, cell, reuse):
        super().__init__(_reuse=reuse)
        check_cell("cell", cell)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState",
                        values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class EmbeddingWrapper(CellAround):
    """A cell whose inputs are integers [batch] or [batch, 1]: it takes their
    rows of the variable `embedding`."""

    def __init__(self, cell, embedding_classes, embedding_size,
                 initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: %d, %d."
                % (embedding_classes, embedding_size))
        self._shape = [embedding_classes, embedding_size]
        self._initializer = initializer

    def call(self, inputs, state):
        limit = math.sqrt(3)  # a variance of 1
        initializer = (self._initializer or get_variable_scope().initializer
                       or RandomUniform(-limit, limit))
        first = state[0] if isinstance(state, tuple) else state
        with _device("/cpu:0"):
            embedding = get_variable("embedding", self._shape,
                                     initializer=initializer,
                                     dtype=first.dtype.base_dtype)
            rows = embedding_lookup(embedding, _array.reshape(inputs, [-1]))
        return self._cell(rows, state)


class InputProjectionWrapper(CellAround):
    """A cell whose inputs are projected to num_proj numbers first."""

    def __init__(self, cell, num_proj, activation=None, input_size=None,
                 reuse=None):
        super().__init__(cell, reuse)
        self._size = num_proj
        self._activation = activation
        self._linear = None

    def call(self, inputs, state):
        if self._linear is None:
            self._linear = Linear(inputs, self._size, True)
        projected = self._linear(inputs)
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


class OutputProjectionWrapper(CellAround):
    """A cell whose outputs are projected to output_size numbers."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError("Parameter output_size must be > 0: %d."
                             % output_size)
        self._output_size = output_size
        self._activation = activation
        self._linear = None

    output_size = property(lambda self: self._output_size)

    def call(self, inputs, state):
        output, state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        if self._activation:
            projected = self._activation(projected)
        return projected, state
