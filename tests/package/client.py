"""A little of everything in the package: a graph, a training step, an error, a picture, a checkpoint."""
import os
import sys
import tempfile

import headrace as tf
import numpy as np

x = tf.placeholder(tf.float32, [None, 8, 8, 3])
w = tf.get_variable("w", [3, 3, 3, 4], initializer=tf.ones_initializer())
y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")))
step = tf.train.GradientDescentOptimizer(0.5).minimize(y)
png = tf.image.decode_png(tf.image.encode_png(tf.fill([4, 4, 3], tf.constant(7, tf.uint8))))
saver = tf.train.Saver()
with tf.Session() as session, tempfile.TemporaryDirectory() as folder:
    session.run(tf.global_variables_initializer())
    ones = np.ones([1, 8, 8, 3], np.float32)
    assert session.run(y, {x: ones}) == 36 * 27 * 4
    session.run(step, {x: ones})
    assert session.run(w)[0, 0, 0, 0] == 1 - 0.5 * 36
    assert (session.run(png) == 7).all()
    saver.save(session, os.path.join(folder, "model"))
    session.run(tf.assign(w, tf.zeros_like(w)))
    saver.restore(session, os.path.join(folder, "model"))
    assert session.run(w)[0, 0, 0, 0] == -17
try:
    tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
except ValueError as error:
    assert "3 and 2" in str(error), error
else:
    sys.exit("no error")
print(42)
