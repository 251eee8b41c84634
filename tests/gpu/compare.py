"""Graphs on the GPU against the same graphs on the CPU.

    compare.py [--need-gpu] [NAME...]

Each case is built twice, on /gpu:0 and on /cpu:0, from the same numbers, and its
fetches are compared. Ops without a kernel for the GPU run on the CPU, and are
counted. Without a GPU there is nothing to compare, which is said, and is a failure
with --need-gpu. With HEADRACE_GPU_PLATFORM=host the GPU is one of threads (docs/design/0018).
"""
import sys

import numpy as np

import headrace as tf

RNG = np.random.Generator(np.random.PCG64(1))


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


FEEDS = {}


def given(values):
    """Returns a placeholder that is fed: constants would be folded on the CPU."""
    x = tf.placeholder(values.dtype, values.shape)
    FEEDS[x] = values
    return x


def case_elementwise():
    x, y = given(numbers(37, 129)), given(numbers(129))
    return [tf.nn.relu(x * y + 1.0), tf.tanh(x) - y, tf.exp(-tf.square(x)),
            tf.reduce_sum(x, 1), tf.reduce_mean(x)]


def case_products():
    a, b = given(numbers(65, 129)), given(numbers(129, 33))
    c, d = given(numbers(5, 17, 9)), given(numbers(5, 13, 9))
    return [tf.matmul(a, b), tf.nn.relu(tf.nn.bias_add(tf.matmul(a, b), given(numbers(33)))),
            tf.matmul(c, d, transpose_b=True)]


def case_convolutions():
    x = given(numbers(3, 17, 16, 8))
    results = []
    for k, stride, padding in ((1, 1, "SAME"), (3, 1, "SAME"), (3, 2, "SAME"),
                               (5, 2, "VALID"), (2, 1, "SAME"), (7, 3, "SAME")):
        w = given(numbers(k, k, 8, 12))
        y = tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding=padding)
        results += [y, *tf.gradients(tf.reduce_sum(y * y), [x, w])]
    w = given(numbers(17, 16, 8, 12))
    results.append(tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="VALID"))
    w = given(numbers(3, 3, 8, 2))
    results.append(tf.nn.depthwise_conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME"))
    return results


def case_pooling_and_norm():
    x = given(numbers(3, 9, 10, 6))
    results = []
    for pool in (tf.nn.max_pool, tf.nn.avg_pool):
        y = pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
        results += [y, *tf.gradients(tf.reduce_sum(y * y), [x])]
    scale, offset = given(numbers(6)), given(numbers(6))
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
    results += [y, mean, variance, *tf.gradients(tf.reduce_sum(y * y * y), [x, scale, offset])]
    return results


def case_softmax():
    x = given(numbers(33, 100))
    labels = given(RNG.integers(0, 100, 33).astype(np.int32))
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    return [tf.nn.softmax(x), tf.nn.log_softmax(x), loss, *tf.gradients(tf.reduce_mean(loss), [x])]


def case_moves():
    x = given(numbers(4, 6, 10))
    return [tf.transpose(x, [2, 0, 1]), tf.concat([x, x * 2.0], 1), x[1:3, ::2, -1],
            tf.pad(x, [[1, 0], [0, 2], [3, 3]]), tf.gather(x, [3, 0, 1]), tf.reshape(x, [8, -1]),
            tf.tile(x, [1, 2, 1]), tf.stack(tf.unstack(x, axis=1), axis=2)]


def case_training():
    """A LeNet learns for some steps; the losses agree."""
    x = given(numbers(16, 28, 28, 1))
    labels = given(RNG.integers(0, 10, 16).astype(np.int32))
    weights = [tf.Variable(0.1 * numbers(*shape)) for shape in
               ((5, 5, 1, 8), (5, 5, 8, 16), (7 * 7 * 16, 32), (32, 10))]
    y = x
    for w in weights[:2]:
        y = tf.nn.relu(tf.nn.conv2d(y, w, strides=[1, 1, 1, 1], padding="SAME"))
        y = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    y = tf.nn.relu(tf.matmul(tf.reshape(y, [16, -1]), weights[2]))
    logits = tf.matmul(y, weights[3])
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)
    return [loss], train


CASES = {name[5:]: case for name, case in list(globals().items())
         if name.startswith("case_")}


def run(case, device):
    """Returns the fetches' values and how many nodes ran where."""
    global RNG
    RNG = np.random.Generator(np.random.PCG64(1))
    FEEDS.clear()
    with tf.Graph().as_default(), tf.device(device):
        made = case()
        fetches, train = made if isinstance(made, tuple) else (made, None)
        config = tf.ConfigProto(allow_soft_placement=True)
        config.gpu_options.allow_growth = True
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            values, where = [], {}
            for _ in range(5 if train is not None else 1):
                metadata = tf.RunMetadata()
                options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
                values += session.run(fetches, FEEDS, options=options, run_metadata=metadata)
                if train is not None:
                    session.run(train, FEEDS)
            for dev in metadata.step_stats.dev_stats:
                kind = "gpu" if "gpu" in dev.device.lower() else "cpu"
                where[kind] = where.get(kind, 0) + len(dev.node_stats)
            return values, where


def main():
    with tf.Session() as session:
        gpus = [d for d in session.list_devices() if d.device_type == "GPU"]
    if not gpus:
        print("no GPU: nothing was compared")
        return 1 if "--need-gpu" in sys.argv else 0
    failed = []
    for name in [a for a in sys.argv[1:] if a != "--need-gpu"] or CASES:
        try:
            want, _ = run(CASES[name], "/cpu:0")
            got, where = run(CASES[name], "/gpu:0")
            worst = max(float(np.max(np.abs(g - w) / (1 + np.abs(w)), initial=0.0))
                        for g, w in zip(got, want))
            ok = worst < 2e-3 and all(g.shape == w.shape for g, w in zip(got, want))
            print(f"{name}: {'ok' if ok else 'DIFFERS'}, worst {worst:.1e}; nodes "
                  + ", ".join(f"{k} {n}" for k, n in sorted(where.items())))
        except tf.errors.OpError as error:
            ok = False
            print(f"{name}: {type(error).__name__}: {error.message}")
        if not ok:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
