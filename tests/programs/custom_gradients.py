"""Own gradients: tf.custom_gradient, override maps, stop_gradient, second order,
and Defun."""
import tensorflow as tf
from tensorflow.python.framework import function, ops

from data import show


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)
    return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


@ops.RegisterGradient("StraightThrough")
def _straight_through(op, grad):
    return grad


def quantize(x):
    with ops.get_default_graph().gradient_override_map(
            {"Round": "StraightThrough"}):
        return tf.round(x * 4) / 4


@function.Defun(tf.float32, func_name="cube")
def cube(x):
    return x * x * x


x = tf.constant([-2.0, 0.3, 1.1, 100.0])
y = log1pexp(x)
q = quantize(x)
z = tf.stop_gradient(x) * x
short = x[:3]
first = tf.gradients(tf.reduce_sum(short ** 3), short)[0]
second = tf.gradients(tf.reduce_sum(first), short)[0]
numbers = tf.placeholder(tf.float32, [2, 2])
inverse = tf.gradients(tf.matrix_inverse(numbers), numbers)[0]

with tf.Session() as sess:
    show("log1pexp", sess.run(y)[:3], sess.run(tf.gradients(y, x)[0]))
    show("quantize", sess.run(q), sess.run(tf.gradients(q, x)[0]))
    show("stop", sess.run(tf.gradients(z, x)[0]))
    show("orders", *sess.run([first, second]))
    show("cube", sess.run(cube(short)))
    show("inverse", sess.run(inverse, {numbers: [[2., 1.], [0.5, 3.]]}))
    print(tf.gradients(y, numbers), len(tf.gradients([y, q], [x])))
