"""Trains small networks on /device:GPU:0 and on the CPU, and compares.

test_gpu_networks.py runs it in a process whose GPUs are those of the host
platform (HEADRACE_GPU_PLATFORM=host). With a real GPU it runs as it is:

  .venv/bin/python tests/python/gpu_networks.py [--check] [NETWORK...]

It prints JSON, or with --check what is wrong.
"""
import json
import sys

import numpy as np

import headrace as tf

STEPS = 3


def lenet(images):
    x = tf.layers.conv2d(images, 6, 5, padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 8, 3, activation=tf.nn.tanh)
    x = tf.layers.average_pooling2d(x, 2, 2)
    x = tf.layers.flatten(x)
    x = tf.layers.dense(x, 24, activation=tf.nn.sigmoid)
    return tf.layers.dense(x, 10)


def vgg(images):
    x = images
    for depth in (4, 8):
        x = tf.layers.conv2d(x, depth, 3, padding="same", activation=tf.nn.relu)
        x = tf.layers.conv2d(x, depth, 3, padding="same", activation=tf.nn.relu)
        x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.dense(tf.layers.flatten(x), 16, activation=tf.nn.relu)
    return tf.layers.dense(x, 10)


def resnet(images):
    def unit(x, depth, stride):
        y = tf.layers.conv2d(x, depth, 1, stride, use_bias=False)
        y = tf.nn.relu(tf.layers.batch_normalization(y, training=True))
        y = tf.layers.conv2d(y, depth, 3, padding="same", use_bias=False)
        y = tf.layers.batch_normalization(y, training=True)
        short = x
        if stride != 1 or x.shape[3] != depth:
            short = tf.layers.conv2d(x, depth, 1, stride, use_bias=False)
        return tf.nn.relu(y + short)
    x = tf.layers.conv2d(images, 4, 7, 2, padding="same", use_bias=False)
    x = tf.nn.relu(tf.layers.batch_normalization(x, training=True))
    x = tf.layers.max_pooling2d(x, 3, 2, padding="same")
    x = unit(unit(x, 8, 1), 8, 2)
    return tf.layers.dense(tf.reduce_mean(x, [1, 2]), 10)


def mobilenet(images):
    x = tf.layers.conv2d(images, 4, 3, 2, padding="same", use_bias=False)
    for depth in (8, 8):
        x = tf.layers.separable_conv2d(x, depth, 3, padding="same")
        x = tf.layers.batch_normalization(x, training=True)
        x = tf.nn.relu6(x)
    return tf.layers.dense(tf.reduce_mean(x, [1, 2]), 10)


def inception(images):
    a = tf.layers.conv2d(images, 4, 1, activation=tf.nn.relu)
    b = tf.layers.conv2d(images, 4, 3, padding="same", activation=tf.nn.relu)
    c = tf.layers.conv2d(images, 3, (1, 5), padding="same")
    d = tf.layers.average_pooling2d(images, 3, 1, padding="same")
    x = tf.concat([a, b, c, d], 3)
    x = tf.layers.conv2d(x, 6, 3, 2, activation=tf.nn.relu)
    return tf.layers.dense(tf.layers.flatten(x), 10)


def images_model(network, optimizer):
    def build():
        images = tf.constant(
            np.random.RandomState(1).randn(4, 16, 16, 3).astype(np.float32))
        labels = tf.constant([1, 5, 9, 3], tf.int64)
        logits = network(images)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=logits))
        loss += sum(1e-3 * tf.nn.l2_loss(v) for v in tf.trainable_variables())
        return loss, logits, optimizer().minimize(loss)
    return build


def lstm():
    words = np.random.RandomState(2).randint(0, 20, (4, 6)).astype(np.int64)
    table = tf.get_variable("table", [20, 8])
    inputs = tf.unstack(tf.nn.embedding_lookup(table, words[:, :-1]), axis=1)
    cell = tf.nn.rnn_cell.BasicLSTMCell(8)
    outputs, _ = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
    x = tf.reshape(tf.stack(outputs, 1), [-1, 8])
    logits = tf.layers.dense(x, 20)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant(words[:, 1:].reshape(-1)), logits=logits))
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(
        [tf.convert_to_tensor(g) for g in tf.gradients(loss, variables)], 1.0)
    train = tf.train.GradientDescentOptimizer(0.5).apply_gradients(
        zip(gradients, variables))
    return loss, logits, train


def transformer():
    x = tf.constant(
        np.random.RandomState(3).randn(2, 5, 16).astype(np.float32))

    def norm(x, name):
        mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
        scale = tf.get_variable(name + "_scale", [16],
                                initializer=tf.ones_initializer())
        return (x - mean) * tf.rsqrt(variance + 1e-5) * scale

    def heads(x):
        return tf.transpose(tf.reshape(x, [2, 5, 4, 4]), [0, 2, 1, 3])
    q, k, v = (heads(tf.layers.dense(x, 16)) for _ in range(3))
    scores = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.5)
    y = tf.reshape(tf.transpose(tf.matmul(scores, v), [0, 2, 1, 3]), [2, 5, 16])
    y = norm(x + tf.layers.dense(y, 16), "a")
    z = tf.layers.dense(y, 32)
    z = 0.5 * z * (1 + tf.erf(z / np.float32(np.sqrt(2))))
    y = norm(y + tf.layers.dense(z, 16), "b")
    loss = tf.reduce_mean(tf.square(y[:, 0]))
    # The gradient of the keys' bias is zero but for rounding; Adam would make
    # whole steps of that.
    return loss, y, tf.train.AdamOptimizer(0.01, epsilon=1e-3).minimize(loss)


def embedding():
    """Rows of a table, updated alone; the best classes as a second result."""
    words = np.random.RandomState(5).randint(0, 20, (6, 4)).astype(np.int64)
    table = tf.get_variable("table", [20, 8])
    x = tf.reduce_mean(tf.nn.embedding_lookup(table, words), 1)
    x = tf.layers.dense(x, 16, activation=tf.nn.tanh)
    logits = tf.layers.dense(x, 5)
    best, where = tf.nn.top_k(logits, 2)
    rows = tf.range(6)
    first = tf.gather_nd(logits, tf.stack([rows, where[:, 0]], 1))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant([0, 1, 2, 3, 4, 0], tf.int64), logits=logits))
    loss += 0.01 * tf.reduce_mean(tf.square(first - best[:, 1]))
    return loss, logits, tf.train.AdagradOptimizer(0.5).minimize(loss)


def segmentation():
    """Down and up again, over images and over volumes."""
    images = tf.constant(
        np.random.RandomState(6).rand(2, 9, 8, 3).astype(np.float32))
    x = tf.layers.conv2d(images, 4, 3, 2, padding="same", activation=tf.nn.relu)
    x = tf.image.resize_bilinear(x, [9, 8])
    y = tf.layers.max_pooling2d(images, 2, 2)
    y = tf.layers.conv2d(y, 4, 3, padding="same")
    y = tf.image.resize_nearest_neighbor(y, [9, 8])
    volumes = tf.reshape(tf.concat([x, y], 3), [2, 9, 8, 2, 4])
    z = tf.layers.conv3d(volumes, 3, 3, padding="same", activation=tf.nn.relu)
    z = tf.layers.conv3d(z, 2, (3, 3, 2), strides=(1, 1, 2))
    loss = tf.reduce_mean(tf.square(z - 0.5))
    return loss, z, tf.train.MomentumOptimizer(0.1, 0.5).minimize(loss)


def wide():
    """All of double."""
    x = tf.constant(np.random.RandomState(7).randn(6, 10))
    y = tf.layers.dense(x, 16, activation=tf.nn.elu)
    y = tf.layers.dense(y, 16, activation=tf.nn.softplus) * tf.sigmoid(y)
    mean, variance = tf.nn.moments(y, [0])
    y = (y - mean) * tf.rsqrt(variance + 1e-3)
    y = tf.layers.dense(y, 4)
    loss = tf.losses.softmax_cross_entropy(
        tf.one_hot([0, 1, 2, 3, 0, 1], 4, dtype=tf.float64), y)
    return loss, y, tf.train.GradientDescentOptimizer(0.5).minimize(loss)


def frozen():
    """Constant weights, as a frozen graph has: convolutions are fused."""
    numbers = np.random.RandomState(4)

    def weights(*shape):
        return tf.constant(numbers.randn(*shape).astype(np.float32) * 0.3)

    def norm(x, depth):
        scale, offset, mean = (weights(depth) for _ in range(3))
        variance = tf.constant(1 + numbers.rand(depth).astype(np.float32))
        return tf.nn.fused_batch_norm(x, scale, offset, mean, variance,
                                      is_training=False)[0]

    x = tf.placeholder_with_default(
        numbers.randn(2, 16, 16, 3).astype(np.float32), [None, 16, 16, 3])
    x = tf.nn.conv2d(x, weights(7, 7, 3, 8), [1, 2, 2, 1], "SAME")
    x = tf.nn.relu(norm(x, 8))
    y = tf.pad(x, [[0, 0], [1, 0], [2, 1], [0, 0]])
    x = x + 0.1 * tf.nn.conv2d(y, weights(2, 4, 8, 8), [1, 1, 1, 1], "VALID")
    y = tf.nn.conv2d(x, weights(1, 1, 8, 8), [1, 1, 1, 1], "VALID")
    y = tf.nn.relu(tf.nn.bias_add(y, weights(8)))
    y = tf.nn.depthwise_conv2d(y, weights(3, 3, 8, 1), [1, 1, 1, 1], "SAME")
    y = tf.nn.relu6(norm(y, 8))
    y = tf.nn.bias_add(
        tf.nn.conv2d(y, weights(3, 3, 8, 8), [1, 1, 1, 1], "SAME"), weights(8))
    x = tf.nn.relu(x + y)
    x = tf.nn.conv2d(x, weights(8, 8, 8, 4), [1, 1, 1, 1], "VALID")
    x = tf.reshape(x, [-1, 4])
    x = tf.nn.softmax(tf.matmul(x, weights(4, 5)) + weights(5))
    return tf.reduce_sum(x[:, 0]), x, tf.no_op()


NETWORKS = {
    "frozen": frozen,
    "lenet": images_model(
        lenet, lambda: tf.train.GradientDescentOptimizer(0.1)),
    "vgg": images_model(vgg, lambda: tf.train.MomentumOptimizer(0.05, 0.9)),
    "resnet": images_model(
        resnet, lambda: tf.train.MomentumOptimizer(0.05, 0.9)),
    "mobilenet": images_model(
        mobilenet, lambda: tf.train.RMSPropOptimizer(0.01)),
    "inception": images_model(inception, lambda: tf.train.AdamOptimizer(0.01)),
    "lstm": lstm,
    "transformer": transformer,
    "embedding": embedding,
    "segmentation": segmentation,
    "wide": wide,
}


def run(build, device, resource):
    """The losses, the last result, and how many ops ran on which device."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        with tf.device(device), tf.variable_scope("net", use_resource=resource):
            loss, result, train = build()
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            losses = []
            metadata = tf.RunMetadata()
            for _ in range(STEPS):
                value, _ = session.run(
                    [loss, train],
                    options=tf.RunOptions(
                        trace_level=tf.RunOptions.FULL_TRACE),
                    run_metadata=metadata)
                losses.append(float(value))
            result = session.run(result)
        ran = {}
        for stats in metadata.step_stats.dev_stats:
            kind = "GPU" if "GPU" in stats.device.upper() else "CPU"
            ran.setdefault(kind, []).extend(
                n.timeline_label or n.node_name for n in stats.node_stats)
        return losses, result, ran


def compare(name, resource):
    cpu_losses, cpu_result, _ = run(NETWORKS[name], "/cpu:0", resource)
    gpu_losses, gpu_result, ran = run(NETWORKS[name], "/gpu:0", resource)
    return {
        "losses": [cpu_losses, gpu_losses],
        "difference": float(np.max(np.abs(cpu_result - gpu_result))),
        "greatest": float(np.max(np.abs(cpu_result))),
        "on_gpu": len(ran.get("GPU", [])),
        "on_cpu": len(ran.get("CPU", [])),
        "names_on_gpu": sorted(set(ran.get("GPU", []))),
        "names_on_cpu": sorted(ran.get("CPU", []))[:20],
    }


def problems(name, result):
    """What is wrong with a result of compare."""
    cpu, gpu = result["losses"]
    found = []
    if not np.allclose(gpu, cpu, rtol=2e-3, atol=1e-4):
        found.append(f"losses {gpu}, on the CPU {cpu}")
    if not result["difference"] <= 1e-2 * result["greatest"]:
        found.append(f"the last result differs by {result['difference']}")
    if name == "frozen":  # fused convolutions
        found += [f"no {kernel} ran on the GPU"
                  for kernel in ("ConvOp<float, false, true>",
                                 "ConvOp<float, true, true>")
                  if not any(n.startswith(kernel)
                             for n in result["names_on_gpu"])]
    elif not gpu[-1] < gpu[0]:  # losses fall if the updates were made
        found.append(f"losses {gpu} do not fall")
    # Nearly everything runs on the GPU.
    if not result["on_gpu"] > 5 * result["on_cpu"]:
        found.append(f"{result['on_gpu']} nodes on the GPU, on the CPU "
                     f"{result['names_on_cpu']}")
    return found


def main(names, check):
    failed = False
    for network in names or NETWORKS:
        for use_resource in (False, True):
            result = compare(network, use_resource)
            if not check:
                print(json.dumps([network, use_resource, result]), flush=True)
                continue
            found = problems(network, result)
            failed |= bool(found)
            print(network, "resource" if use_resource else "ref",
                  "; ".join(found) or "ok", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main([a for a in sys.argv[1:] if a != "--check"],
                  "--check" in sys.argv))
