"""LSTM cells that loops spell out run as one node, and give what NumPy gives."""
import numpy as np
import pytest

import headrace as tf

STEPS, BATCH, INPUTS, CELLS = 6, 3, 5, 7
R = np.random.RandomState(0)
X = R.randn(STEPS, BATCH, INPUTS).astype(np.float32)
KERNEL = R.randn(INPUTS + CELLS, 4 * CELLS).astype(np.float32)
BIAS = R.randn(4 * CELLS).astype(np.float32)
LENGTHS = np.array([6, 2, 4], np.int32)


def cell(x, c, h):
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), KERNEL), BIAS)
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def loop(masked, colocated):
    """As tf.nn.dynamic_rnn makes it; masked: a row ends after its length;
    colocated: the nodes that keep the state are, as in TensorFlow's graphs."""
    def kept(ended, old, new):
        with tf.colocate_with(new) if colocated else tf.name_scope(None):
            return tf.where(ended, old, new)

    x = tf.placeholder(tf.float32, [None, None, INPUTS], name="x")
    inputs = tf.TensorArray(tf.float32, size=STEPS,
                            element_shape=[None, INPUTS]).unstack(x)
    outputs = tf.TensorArray(tf.float32, size=STEPS)
    zeros = tf.zeros_like(x[0, :, :1]) + tf.zeros([1, CELLS])

    def body(t, outputs, c, h):
        new_c, new_h = cell(inputs.read(t), c, h)
        if masked:
            ended = t >= tf.constant(LENGTHS)
            new_c, new_h = kept(ended, c, new_c), kept(ended, h, new_h)
        return t + 1, outputs.write(t, new_h), new_c, new_h

    result = tf.while_loop(lambda t, *_: t < STEPS, body,
                           [tf.constant(0), outputs, zeros, zeros])
    return [result[1].stack(), result[2]]


def wanted(masked):
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))

    c, h, outputs = np.zeros((BATCH, CELLS)), np.zeros((BATCH, CELLS)), []
    for t in range(STEPS):
        gates = np.concatenate([X[t], h], 1) @ KERNEL.astype(np.float64) + BIAS
        i, j, f, o = np.split(gates, 4, axis=1)
        new_c = c * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
        new_h = np.tanh(new_c) * sigmoid(o)
        ended = (masked & (t >= LENGTHS))[:, None]
        c, h = np.where(ended, c, new_c), np.where(ended, h, new_h)
        outputs.append(h)
    return [np.stack(outputs), c]


@pytest.mark.parametrize("masked, colocated", [(False, False), (True, False),
                                               (True, True)])
def test_cell_of_a_loop_is_one_node(masked, colocated):
    with tf.Graph().as_default():
        fetches = loop(masked, colocated)
        with tf.Session() as session:
            metadata = tf.RunMetadata()
            got = session.run(fetches, {"x:0": X},
                              options=tf.RunOptions(output_partition_graphs=True),
                              run_metadata=metadata)
    ops = [n.op for g in metadata.partition_graphs for n in g.node]
    assert ops.count("_FusedLSTM") == 1
    assert not {"MatMul", "_FusedMatMul", "Tanh", "Split"} & set(ops)
    for g, w in zip(got, wanted(masked)):
        np.testing.assert_allclose(g, w, rtol=1e-5, atol=1e-6)
