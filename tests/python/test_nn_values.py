"""Values of ops of neural networks that no other test has."""
import numpy as np

import headrace as tf


def test_selu_grad_and_spence_of_narrow_floats():
    with tf.Graph().as_default(), tf.Session() as s:
        grad = tf.raw_ops.SeluGrad(gradients=tf.constant([1., 2.], tf.float16), outputs=tf.constant([.5, -1.], tf.float16))
        np.testing.assert_allclose(s.run(grad), [1.0507, 2 * (1.7580993 - 1)], rtol=2e-3)
        spence = tf.cast(tf.raw_ops.Spence(x=tf.cast(tf.constant([1., 0., 2.]), tf.bfloat16)), tf.float32)
        np.testing.assert_allclose(s.run(spence), [0, np.pi ** 2 / 6, -np.pi ** 2 / 12], rtol=1e-2)
