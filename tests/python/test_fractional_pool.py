"""tf.nn.fractional_max_pool and fractional_avg_pool; the sequences are
TensorFlow's for these seeds."""
import numpy as np

import headrace as tf


def run(tensors):
    with tf.Session() as sess:
        return sess.run(list(tensors))


def test_pools_the_windows_of_the_sequences():
    x = np.arange(90, dtype=np.float32).reshape(1, 10, 9, 1)
    most, rows, columns = run(tf.nn.fractional_max_pool(
        x, [1, 1.414, 1.9, 1], pseudo_random=True, deterministic=True, seed=1,
        seed2=2))
    assert rows.tolist() == [0, 1, 3, 4, 6, 7, 8, 10]
    assert columns.tolist() == [0, 2, 4, 7, 9]
    want = [[x[0, rows[i]:rows[i + 1], columns[j]:columns[j + 1], 0]
             for j in range(4)] for i in range(7)]
    assert most[0, :, :, 0].tolist() == [[w.max() for w in r] for r in want]
    mean, again, _ = run(tf.nn.fractional_avg_pool(
        x, [1, 1.414, 1.9, 1], pseudo_random=True, deterministic=True, seed=1,
        seed2=2))
    assert again.tolist() == rows.tolist()
    np.testing.assert_allclose(mean[0, :, :, 0],
                               [[w.mean() for w in r] for r in want], rtol=1e-6)
    output = tf.nn.fractional_max_pool(x, [1, 1.414, 1.9, 1]).output
    assert output.shape.as_list() == [1, 7, 4, 1]
