"""tf.contrib.sparsemax, resampler and reversible layers, each a function of the
module tf that returns numbers. contrib_extra_values.json has what TensorFlow
1.15.5 returns.

    PYTHON tests/python/contrib_extra_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

from keras_layer_programs import numbers
import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "contrib_extra_values.json")


def run_all(tf, things):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, v in enumerate(tf.trainable_variables()):
            size = int(np.prod(v.get_shape().as_list()))
            session.run(v.assign(np.sin(np.arange(size) + i).reshape(
                v.get_shape().as_list())))
        return session.run(things)


def sparsemax(tf):
    z = tf.constant(np.array([
        [1, 2, 3, 2.9], [0, 0, 0, 0], [-5, 1, 1, .5], [9, 0, -3, 8.5]]))
    p = tf.contrib.sparsemax.sparsemax(z)
    q = tf.constant(np.eye(4)[[2, 0, 1, 3]])
    loss = tf.contrib.sparsemax.sparsemax_loss(z, p, q)
    bad = tf.contrib.sparsemax.sparsemax(tf.constant([
        [np.nan, 1.], [-np.inf, -np.inf], [np.inf, 1.], [-np.inf, 2.]]))
    infinite = tf.constant([[-np.inf, 0.], [1., 2.]])
    return run_all(tf, [p, loss, tf.gradients(loss, z)[0], tf.is_nan(bad),
                        tf.contrib.sparsemax.sparsemax_loss(
                            infinite, tf.contrib.sparsemax.sparsemax(infinite),
                            tf.constant([[0., 1.], [1., 0.]]))])


def resampler(tf):
    data = tf.constant(numbers(2, 4, 5, 3))
    warp = tf.constant(np.array([
        [[0, 0], [1.5, 2.25], [4, 3], [4.5, 3.5]],
        [[-.5, 1.2], [-1, 0], [100, 2], [2.75, -.25]]], np.float32))
    more = tf.reshape(warp, [2, 2, 2, 2])
    read = tf.contrib.resampler.resampler
    y = read(data, warp)
    return run_all(tf, [y, read(data, more)] + tf.gradients(
        y * tf.constant(numbers(2, 4, 3)), [data, warp])
        + [tf.constant(read(data, more).get_shape().as_list())])


def reversible(tf):
    """Layers with variables and side inputs; gradients with and without the
    outputs of layers kept."""
    def f(x, side=None):
        y = tf.layers.dense(x, 3, tf.nn.tanh, use_bias=True)
        return y if side is None else y * side[0]

    def g(x, side=None):
        y = tf.layers.dense(x, 3, None, use_bias=False)
        return y if side is None else y + side[0] + side[1]

    found = []
    x = tf.constant(numbers(4, 6))
    side = tf.constant(numbers(4, 3) + 1)
    for options, sides in (
            ({"num_layers": 2}, []), ({"is_training": False}, []),
            ({"num_layers": 3, "f_side_input": [side],
              "g_side_input": [side * 2, side - 1]}, [side])):
        with tf.variable_scope("net%d" % len(found),
                               use_resource=True) as scope:
            a, b = tf.split(x, 2, axis=1)
            y1, y2 = tf.contrib.layers.rev_block(a, b, f, g, **options)
            variables = scope.trainable_variables()
        loss = tf.reduce_sum(y1 * y2)
        found.append([y1, y2] + tf.gradients(loss, [x] + sides + variables)
                     + [tf.constant([v.name for v in variables])])
    return run_all(tf, found)


def block(tf):
    """RevBlock backwards gives its inputs."""
    layer = tf.contrib.layers.RevBlock(
        [tf.nn.relu, tf.tanh], [tf.sin, lambda x: x * .5], 2)
    a, b = tf.constant(numbers(2, 3)), tf.constant(numbers(2, 3) + 1)
    with tf.variable_scope("net", use_resource=True):
        y = layer.forward(a, b)
        x = layer.backward(*y)
    return run_all(tf, [y, x, a, b])


def recompute(tf):
    calls = []

    @tf.contrib.layers.recompute_grad
    def plain(x, y):
        calls.append(0)
        return tf.sin(x) * y, y * y

    @tf.contrib.layers.recompute_grad(use_data_dep=True, tupleize_grads=True)
    def with_variables(x, is_recomputing=False):
        calls.append(1 + is_recomputing)
        return tf.layers.dense(x, 2, tf.nn.relu, name="d")

    x, y = tf.constant(numbers(3, 2)), tf.constant(numbers(3, 2) + 2)
    a, b = plain(x, y)
    with tf.variable_scope("scope", use_resource=True):
        c = with_variables(x)
    variables = tf.trainable_variables()
    found = run_all(tf, [a, b, c] + tf.gradients(a + b, [x, y])
                    + tf.gradients(c * c, [x] + variables))
    return found + [calls, [v.name for v in variables]]


PROGRAMS = {f.__name__: f for f in (
    sparsemax, resampler, reversible, block, recompute)}


def plain(value):
    if isinstance(value, bytes):
        return value.decode()
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    value = np.asarray(value)
    if value.dtype.kind in "OS":
        return plain(value.tolist())
    return value.astype(np.float64).round(5).tolist()


def run(tf, name):
    with tf.Graph().as_default():
        return plain(PROGRAMS[name](tf))


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    recorded.write(VALUES, {name: run(tf, name) for name in PROGRAMS})


if __name__ == "__main__":
    main()
