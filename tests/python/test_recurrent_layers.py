"""tf.keras.layers.LSTM and the like: their states, constants and the attributes
of their cells; and the nodes that tell of calls of layers."""
import numpy as np
import pytest

import headrace as tf

K = tf.keras.backend
L = tf.keras.layers
KINDS = [(L.LSTM, 2), (L.GRU, 1), (L.SimpleRNN, 1)]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("kind, states", KINDS)
def test_a_layer_has_what_its_cell_has(kind, states):
    limit = tf.keras.constraints.MaxNorm(.01)
    layer = kind(3, kernel_constraint=limit, dropout=.1)
    assert layer.kernel_constraint is limit and layer.dropout == .1
    assert layer.activation.__name__ == "tanh" and layer.use_bias
    assert layer.units == 3 and layer.states == [None] * states
    again = kind.from_config(layer.get_config())
    assert again.get_config() == layer.get_config()


@pytest.mark.parametrize("kind, states", KINDS)
def test_states_are_set_before_the_first_call(kind, states):
    layer = kind(3, stateful=True)
    layer.build((2, 5, 4))
    layer.reset_states()
    assert len(layer.states) == states
    np.testing.assert_array_equal(K.eval(layer.states[0]), np.zeros((2, 3)))
    ones = [np.ones((2, 3))] * states
    layer.reset_states(ones if states > 1 else ones[0])
    np.testing.assert_array_equal(K.eval(layer.states[-1]), ones[0])
    with pytest.raises(ValueError, match="expects %d states" % states):
        layer.reset_states(ones + ones[:1])
    with pytest.raises(ValueError, match="State 0 is incompatible"):
        layer.reset_states([np.ones((2, 4))] * states)
    with pytest.raises(AttributeError, match="must be stateful"):
        kind(3).reset_states()
    unknown = kind(3, stateful=True)
    unknown.build((None, 5, 4))
    with pytest.raises(ValueError, match="needs to know its batch size"):
        unknown.reset_states()


@pytest.mark.parametrize("kind, states", KINDS)
@pytest.mark.parametrize("as_inputs", [False, True])
def test_initial_states_are_inputs(kind, states, as_inputs):
    x = L.Input((5, 4))
    first = [L.Input((3,)) for _ in range(states)]
    layer = kind(3)
    y = layer([x] + first) if as_inputs else layer(x, initial_state=first)
    node, = layer._inbound_nodes
    assert any(first[0] is t for t in node.input_tensors)
    model = tf.keras.Model([x] + first, y)
    model.compile("adam", "mse")
    model.train_on_batch([np.ones((2, 5, 4))] + [np.ones((2, 3))] * states,
                         np.ones((2, 3)))


@pytest.mark.parametrize("kind, states", KINDS)
def test_initial_states_of_variables(kind, states):
    x = L.Input((5, 4))
    first = [K.variable(np.ones((2, 3))) for _ in range(states)]
    model = tf.keras.Model(x, kind(3)(x, initial_state=first))
    assert model.predict(np.ones((2, 5, 4))).shape == (2, 3)
    zeros = kind(3).get_initial_state(tf.zeros([2, 5, 4]))
    assert [s.shape.as_list() for s in zeros] == [[2, 3]] * states


class WithConstants(L.Layer):
    """A cell of sums, with one constant."""

    state_size = 3

    def build(self, shapes):
        x, constant = shapes
        self.kernel = self.add_weight("k", (x[-1], 3))
        self.other = self.add_weight("c", (constant[-1], 3))
        self.built = True

    def call(self, x, states, constants):
        y = K.dot(x, self.kernel) + states[0] + K.dot(constants[0], self.other)
        return y, [y]

    def get_config(self):
        return {}


def test_a_cell_with_constants():
    x, constant = L.Input((None, 5)), L.Input((2,))
    layer = L.RNN(WithConstants())
    model = tf.keras.Model([x, constant], layer(x, constants=constant))
    model.compile("sgd", "mse")
    arrays = [np.ones((6, 4, 5)), np.ones((6, 2))]
    model.train_on_batch(arrays, np.ones((6, 3)))
    with tf.keras.utils.CustomObjectScope({"WithConstants": WithConstants}):
        again = L.RNN.from_config(layer.get_config())
    copy = tf.keras.Model([x, constant], again([x, constant]))
    copy.set_weights(model.get_weights())
    np.testing.assert_allclose(copy.predict(arrays), model.predict(arrays))


def test_nodes_tell_of_calls():
    x = L.Input((4,))
    dense, after = L.Dense(3, name="dense"), L.Dense(2)
    y = dense(x)
    z = after(y)
    first, node = x._keras_history[0] if hasattr(
        x, "_keras_history") else None, dense.inbound_nodes[0]
    assert node.input_tensors is x and node.output_tensors is y
    assert node.outbound_layer is dense and node.output_shapes == (None, 3)
    assert after._inbound_nodes[0].inbound_layers is dense
    used, = dense.outbound_nodes
    assert used.outbound_layer is after and used.output_tensors is z
    start = node.inbound_layers
    assert first in (None, start)
    assert start._inbound_nodes[0].input_tensors == [x]
    assert list(used.iterate_inbound()) == [(dense, 0, 0, y)]


@pytest.mark.parametrize("flat", [False, True])
def test_stacked_cells_take_and_give_the_states_of_each_cell(flat):
    cells = tf.keras.layers.StackedRNNCells(
        [tf.keras.layers.LSTMCell(3), tf.keras.layers.GRUCell(2)])
    states = cells.get_initial_state(batch_size=4, dtype=tf.float32)
    output, new = cells(tf.zeros([4, 5]),
                        tf.nest.flatten(states) if flat else states)
    assert output.shape.as_list() == [4, 2]
    shapes = tf.nest.map_structure(lambda s: s.shape.as_list()[1], new)
    assert shapes == ([3, 3], 2)
    again, _ = cells(tf.zeros([4, 5]), new)
    assert again.shape.as_list() == [4, 2]
