"""Python functions as nodes: values, state, errors, and a gradient for one."""
import numpy as np
import tensorflow as tf

from data import show

calls = []


def clip_and_count(x, limit):
    calls.append(x.shape)
    return np.clip(x, -limit, limit), np.int64(np.sum(np.abs(x) > limit))


def with_gradient(func, x, grad):
    name = "MyGradient%d" % len(calls)
    tf.RegisterGradient(name)(grad)
    with tf.get_default_graph().gradient_override_map({"PyFunc": name}):
        return tf.py_func(func, [x], tf.float32)


x = tf.placeholder(tf.float32, [None])
clipped, count = tf.py_func(clip_and_count, [x, tf.constant(1.5)],
                            [tf.float32, tf.int64])
clipped.set_shape(x.get_shape())
joined = tf.py_func(lambda s: b"-".join(s.tolist()),
                    [tf.constant(["a", "b", "c"])], tf.string)
square = with_gradient(lambda v: v * v, x, lambda op, g: g * op.inputs[0] * 2)
gradient, = tf.gradients(tf.reduce_sum(square), x)
bad = tf.py_func(lambda: np.int32(1 // 0), [], tf.int32)
wrong = tf.py_func(lambda: np.float64(1), [], tf.int32)

with tf.Session() as sess:
    feed = {x: [-3., 0.5, 2., 1.]}
    values, n = sess.run([clipped, count], feed)
    show("clipped", values, n)
    print(calls, sess.run(joined), clipped.get_shape())
    show("gradient", *sess.run([square, gradient], feed))
    for node in (bad, wrong):
        try:
            sess.run(node)
        except tf.errors.OpError as error:
            print(type(error).__name__, "ZeroDivisionError" in str(error))
