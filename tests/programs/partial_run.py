"""Partial runs: fetches and feeds of one step in several calls."""
import tensorflow as tf

from data import show

a = tf.placeholder(tf.float32, [])
b = tf.placeholder(tf.float32, [2])
c = tf.placeholder(tf.float32, [])
first = a * 2 + 1
second = first * b
third = tf.reduce_sum(second) - c

with tf.Session() as sess:
    handle = sess.partial_run_setup([first, second, third], [a, b, c])
    one = sess.partial_run(handle, first, {a: 3.0})
    show("first", one)
    two = sess.partial_run(handle, second, {b: [one, -1.0]})
    show("second", two)
    show("third", sess.partial_run(handle, third, {c: two[0]}))
    handle = sess.partial_run_setup([first, second], [a, b])
    values = sess.partial_run(handle, [first, second], {a: 1.0, b: [2., 3.]})
    show("both", *values)
    try:
        sess.partial_run(handle, second, {b: [0., 0.]})
    except Exception as error:
        print(isinstance(error, (tf.errors.InvalidArgumentError,
                                 RuntimeError, ValueError)))
