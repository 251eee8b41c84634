"""Groups of element-wise nodes run as one node each (the pass
group_elementwise), with the same bits, in training graphs of all sorts."""
import numpy as np
import pytest

import headrace as tf


def run(build, groups, steps=3):
    """Fetched values of some steps, and the ops of the last."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        fetches, feeds = build()
        config = tf.ConfigProto()
        if not groups:
            config.headrace.disabled_passes.append("group_elementwise")
        options = tf.RunOptions(output_partition_graphs=True)
        metadata = tf.RunMetadata()
        results = []
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                results += session.run(fetches, feeds, options=options,
                                       run_metadata=metadata)
    ops = [n.op for g in metadata.partition_graphs for n in g.node]
    return results, ops


def variable(name, *shape):
    values = np.random.RandomState(len(name)).standard_normal(shape) * .3
    return tf.get_variable(name, initializer=values.astype(np.float32),
                           use_resource=False)


def dense(x, units, name):
    return tf.matmul(x, variable(name, int(x.shape[-1]), units))


def gelu(x):
    return .5 * x * (1 + tf.tanh(.7978845608 * (x + .044715 * x * x * x)))


def erf_gelu(x):
    return .5 * x * (1. + tf.erf(x * .7071067811865475))


def layer_norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6)


def perceptron(activation):
    def build():
        x = tf.placeholder(tf.float32, [16, 64])
        y = dense(layer_norm(activation(dense(x, 80, "first"))), 72, "second")
        loss = tf.reduce_mean(tf.square(activation(y)))
        step = tf.train.AdamOptimizer(.01).minimize(loss)
        values = np.random.RandomState(1).standard_normal([16, 64])
        with tf.control_dependencies([step]):
            return [tf.identity(loss), y, *tf.trainable_variables()], {
                x: values}
    return build


def lstm_loop():
    x = tf.placeholder(tf.float32, [7, 4, 32])
    w = variable("w", 64, 128)
    steps = tf.TensorArray(tf.float32, 7).unstack(x)

    def cell(i, c, h):
        gates = tf.split(tf.matmul(tf.concat([steps.read(i), h], 1), w), 4, 1)
        c = c * tf.sigmoid(gates[0] + 1.) + tf.sigmoid(gates[1]) * tf.tanh(
            gates[2])
        return i + 1, c, tf.tanh(c) * tf.sigmoid(gates[3])

    zero = tf.zeros([4, 32])
    h = tf.while_loop(lambda i, *_: i < 7, cell, [0, zero, zero])[2]
    loss = tf.reduce_sum(h * h)
    gradient = tf.gradients(loss, [w, x])
    return [h, *gradient], {
        x: np.random.RandomState(2).standard_normal([7, 4, 32])}


def branches():
    x = tf.placeholder(tf.float32, [4, 64])
    p = tf.placeholder(tf.bool, [])
    a = tf.exp(-x * x)
    y = tf.cond(p, lambda: a * x - a, lambda: (a + x) * tf.tanh(a + x))
    z = y * a + y
    return [z, a, *tf.gradients(z, [x])], {
        x: np.random.RandomState(2).standard_normal([4, 64]), p: False}


def of_any_batch():
    x = tf.placeholder(tf.float32, [None, 64])
    y = gelu(x * x)
    return [y, *tf.gradients(y, [x])], {
        x: np.random.RandomState(2).standard_normal([33, 64])}


@pytest.mark.parametrize("build", [
    perceptron(gelu), perceptron(erf_gelu), perceptron(tf.nn.swish),
    perceptron(tf.nn.softplus), lstm_loop, branches, of_any_batch])
def test_training_gives_the_same_bits(build):
    want, ops = run(build, groups=False)
    assert "_FusedElementwiseGroup" not in ops
    got, ops = run(build, groups=True)
    assert "_FusedElementwiseGroup" in ops
    for g, w in zip(got, want):
        np.testing.assert_array_equal(g, w)
