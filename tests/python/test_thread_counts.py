"""Results do not depend on the number of threads and clients: ops whose work is
split, on tensors that are large enough to be, and networks."""
import concurrent.futures

import numpy as np
import pytest

import headrace as tf

R = np.random.RandomState(0)
BIG = R.randn(1 << 20).astype(np.float32)
ROWS = BIG.reshape(1024, 1024)
IMAGES = BIG[:4 * 64 * 64 * 16].reshape(4, 64, 64, 16)
FILTER = R.randn(3, 3, 16, 24).astype(np.float32)
IDS = R.randint(0, 100, 1024)
AT = np.unique(R.randint(0, 1024, (5000, 2)), axis=0)
raw = tf.raw_ops

CASES = {
    "sum": lambda: [tf.reduce_sum(BIG), tf.reduce_sum(ROWS, 0),
                    tf.reduce_sum(ROWS, 1), tf.reduce_mean(ROWS)],
    "prod_max": lambda: [tf.reduce_prod(1 + ROWS * 1e-3, 1),
                         tf.reduce_max(ROWS, 0), tf.argmax(ROWS, 1)],
    "moments": lambda: tf.nn.moments(tf.constant(IMAGES), [0, 1, 2]),
    "l2_loss": lambda: tf.nn.l2_loss(BIG),
    "softmax": lambda: [tf.nn.softmax(ROWS), tf.nn.log_softmax(ROWS)],
    "xent": lambda: tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=np.abs(ROWS), logits=ROWS),
    "unary": lambda: [tf.exp(BIG), tf.tanh(BIG), tf.nn.sigmoid(BIG),
                      tf.nn.elu(BIG), tf.rsqrt(tf.abs(BIG))],
    "binary": lambda: [tf.multiply(ROWS, ROWS[0]),
                       tf.divide(ROWS, 2 + ROWS[:, :1] ** 2)],
    "cumsum": lambda: [tf.cumsum(BIG), tf.cumsum(ROWS, 1)],
    "matmul": lambda: [tf.matmul(ROWS, ROWS),
                       tf.matmul(ROWS, ROWS[:, :3], transpose_a=True),
                       tf.matmul(ROWS[:1], ROWS)],
    "batch_matmul": lambda: tf.matmul(BIG.reshape(64, 128, 128),
                                      BIG.reshape(64, 128, 128),
                                      transpose_b=True),
    "einsum": lambda: [tf.einsum("ij,kj->ki", ROWS, ROWS),
                       tf.einsum("abcd,abcd->d", IMAGES, IMAGES)],
    "half": lambda: tf.matmul(ROWS.astype(np.float16),
                              ROWS.astype(np.float16)),
    "conv2d": lambda: [tf.nn.conv2d(IMAGES, FILTER, [1, s, s, 1], "SAME")
                       for s in (1, 2)],
    "conv2d_grad": lambda: [
        raw.Conv2DBackpropFilter(
            IMAGES, [3, 3, 16, 24], np.ones((4, 64, 64, 24), np.float32),
            strides=[1, 1, 1, 1], padding="SAME"),
        raw.Conv2DBackpropInput(
            [4, 64, 64, 16], FILTER, np.ones((4, 64, 64, 24), np.float32),
            strides=[1, 1, 1, 1], padding="SAME")],
    "depthwise": lambda: tf.nn.depthwise_conv2d(
        IMAGES, FILTER[..., :1], [1, 1, 1, 1], "SAME"),
    "pool": lambda: [tf.nn.max_pool(IMAGES, [1, 3, 3, 1], [1, 2, 2, 1],
                                    "SAME"),
                     tf.nn.avg_pool(IMAGES, [1, 3, 3, 1], [1, 1, 1, 1],
                                    "SAME")],
    "batch_norm": lambda: list(raw.FusedBatchNorm(
        IMAGES, *[np.ones(16, np.float32)] * 2, [], [], is_training=True))[:3],
    "bias_grad": lambda: raw.BiasAddGrad(IMAGES),
    "lrn": lambda: tf.nn.local_response_normalization(IMAGES),
    "segments": lambda: [
        raw.UnsortedSegmentSum(ROWS, IDS, 100),
        raw.SegmentSum(ROWS, np.sort(IDS)),
        raw.SparseSegmentMean(ROWS, IDS, np.sort(IDS))],
    "scatter": lambda: tf.scatter_nd(IDS[:, None], ROWS, [100, 1024]),
    "sparse": lambda: [
        tf.sparse_tensor_dense_matmul(
            tf.SparseTensor(AT, BIG[:len(AT)], [1024, 1024]), ROWS),
        tf.sparse_reduce_sum(
            tf.SparseTensor(AT, BIG[:len(AT)], [1024, 1024]), 0)],
    "resize": lambda: [tf.image.resize_images(IMAGES, [100, 90], m)
                       for m in (0, 2, 3)],
    "fft": lambda: raw.FFT(ROWS.astype(np.complex64)),
    "random": lambda: [tf.random_normal([1 << 20], seed=1),
                       tf.random_gamma([1 << 16], .7, seed=1),
                       tf.truncated_normal([1 << 20], seed=2)],
}


def run(build, threads):
    tf.reset_default_graph()
    tf.set_random_seed(7)
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Session(config=config) as sess:
        fetches = build()
        fetches = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        return sess.run(list(fetches))


@pytest.mark.parametrize("name", CASES)
def test_threads_do_not_show(name):
    one = run(CASES[name], 1)
    for threads in (2, 3, 8):
        for a, b in zip(one, run(CASES[name], threads)):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert a.tobytes() == b.tobytes()


def branches():
    """A network whose nodes are ready side by side."""
    x = tf.constant(IMAGES)
    sides = [tf.nn.relu(tf.nn.conv2d(x, FILTER[..., i:i + 8], [1, 1, 1, 1],
                                     "SAME")) for i in (0, 8, 16)]
    x = tf.concat(sides, 3) + tf.reduce_mean(x, [1, 2], keepdims=True)[..., :1]
    x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return tf.nn.softmax(tf.matmul(tf.reshape(x, [4, -1]), ROWS[:24, :10]
                                   .repeat(1024, 0)))


def loop():
    """A recurrent network by while_loop."""
    rows = tf.constant(ROWS[:64])
    step = lambda i, h: (i + 1, tf.tanh(tf.matmul(h, ROWS * 0.03) + rows))
    return tf.while_loop(lambda i, h: i < 5, step, (0, tf.zeros([64, 1024])))[1]


@pytest.mark.parametrize("build", [branches, loop])
def test_clients_do_not_show(build):
    tf.reset_default_graph()
    fetch, wanted = build(), None
    for threads in (0, 1, 2, 3, 8):
        config = tf.ConfigProto(intra_op_parallelism_threads=threads)
        with tf.Session(config=config) as sess:
            for clients in (1, 2, 3, 8):
                with concurrent.futures.ThreadPoolExecutor(clients) as pool:
                    runs = [pool.submit(sess.run, fetch)
                            for _ in range(2 * clients)]
                results = {r.result().tobytes() for r in runs}
                wanted = wanted or results
                assert len(results) == 1 and results == wanted
