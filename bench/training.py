"""The networks that train.py measures, built by the API of TensorFlow 1.x.

Each function of WORKLOADS takes `tf` (Headrace, or TensorFlow's compat.v1) and
gives (loss, optimizer, {placeholder: fed array}). Both engines have all that is
used here; what Keras has taken out of TensorFlow (cells, layers) is spelled out.
"""
import numpy as np


def normal(random, *shape):
    return random.standard_normal(shape).astype(np.float32)


def variable(tf, name, shape, value=0):
    """A variable; `build` gives one of a higher rank random values."""
    return tf.get_variable(name, shape, tf.float32,
                           tf.constant_initializer(value))


def cross_entropy(tf, labels, logits):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits))


def dense(tf, x, units, name):
    with tf.variable_scope(name):
        w = variable(tf, "w", [int(x.shape[-1]), units])
        return tf.nn.bias_add(tf.matmul(x, w),
                              variable(tf, "b", [units]))


def conv(tf, x, channels, size, name, stride=1):
    w = variable(tf, name, [size, size, int(x.shape[-1]), channels])
    return tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding="SAME")


def conv_relu(tf, x, channels, size, name):
    with tf.variable_scope(name):
        x = conv(tf, x, channels, size, "w")
        return tf.nn.relu(tf.nn.bias_add(
            x, variable(tf, "b", [channels])))


def pool(tf, x, size=2):
    return tf.nn.max_pool(x, ksize=[1, size, size, 1], strides=[1, 2, 2, 1],
                          padding="SAME")


def lenet(tf, random):
    """LeNet on 28x28 pictures."""
    batch = 64
    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    y = tf.placeholder(tf.int64, [None])
    h = pool(tf, conv_relu(tf, x, 32, 5, "conv1"))
    h = pool(tf, conv_relu(tf, h, 64, 5, "conv2"))
    h = tf.reshape(h, [-1, 7 * 7 * 64])
    h = tf.nn.relu(dense(tf, h, 1024, "dense1"))
    loss = cross_entropy(tf, y, dense(tf, h, 10, "dense2"))
    return loss, tf.train.AdamOptimizer(1e-3), {
        x: random.rand(batch, 28, 28, 1).astype(np.float32),
        y: random.randint(10, size=batch)}


def convolutions(tf, random):
    """Six 3x3 layers on 32x32 pictures."""
    batch = 16
    x = tf.placeholder(tf.float32, [None, 32, 32, 3])
    y = tf.placeholder(tf.int64, [None])
    h = x
    for i, channels in enumerate([64, 64, 128, 128, 256, 256]):
        h = conv_relu(tf, h, channels, 3, "conv%d" % i)
        if i % 2:
            h = pool(tf, h)
    loss = cross_entropy(
        tf, y, dense(tf, tf.reduce_mean(h, axis=[1, 2]), 10, "dense"))
    return loss, tf.train.MomentumOptimizer(1e-2, 0.9), {
        x: normal(random, batch, 32, 32, 3),
        y: random.randint(10, size=batch)}


def lstm_cell(tf, x, c, h, w, b):
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), w), b)
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def lstm_weights(tf, inputs, units, name):
    with tf.variable_scope(name):
        return (variable(tf, "w", [inputs + units, 4 * units]),
                variable(tf, "b", [4 * units]))


def lstm(tf, random):
    """An LSTM of 256 units, 50 steps unrolled."""
    steps, batch, units = 50, 32, 256
    x = tf.placeholder(tf.float32, [steps, batch, units])
    y = tf.placeholder(tf.int64, [batch])
    w, b = lstm_weights(tf, units, units, "lstm")
    c = h = tf.zeros([batch, units])
    for step in tf.unstack(x):
        c, h = lstm_cell(tf, step, c, h, w, b)
    loss = cross_entropy(tf, y, dense(tf, h, 10, "dense"))
    return loss, tf.train.AdamOptimizer(1e-3), {
        x: normal(random, steps, batch, units),
        y: random.randint(10, size=batch)}


def char_lstm(tf, random):
    """A character LSTM: two layers of 128, 50 steps of a while_loop."""
    steps, batch, units, letters = 50, 50, 128, 65
    x = tf.placeholder(tf.int32, [steps, batch])
    y = tf.placeholder(tf.int32, [steps, batch])
    table = variable(tf, "embedding", [letters, units])
    inputs = tf.TensorArray(tf.float32, steps).unstack(
        tf.nn.embedding_lookup(table, x))
    outputs = tf.TensorArray(tf.float32, steps)
    weights = [lstm_weights(tf, units, units, "lstm%d" % i) for i in range(2)]
    zero = tf.zeros([batch, units])

    def body(time, outputs, c0, h0, c1, h1):
        c0, h0 = lstm_cell(tf, inputs.read(time), c0, h0, *weights[0])
        c1, h1 = lstm_cell(tf, h0, c1, h1, *weights[1])
        return time + 1, outputs.write(time, h1), c0, h0, c1, h1

    outputs = tf.while_loop(lambda time, *_: time < steps, body,
                            [tf.constant(0), outputs, zero, zero, zero,
                             zero])[1].stack()
    logits = dense(tf, tf.reshape(outputs, [-1, units]), letters, "dense")
    loss = cross_entropy(tf, tf.reshape(y, [-1]), logits)
    return loss, Clipped(tf, tf.train.AdamOptimizer(2e-3), 5.0), {
        x: random.randint(letters, size=[steps, batch]),
        y: random.randint(letters, size=[steps, batch])}


class Clipped:
    """An optimizer whose gradients are clipped by their global norm."""

    def __init__(self, tf, optimizer, norm):
        self._tf, self._optimizer, self._norm = tf, optimizer, norm

    def minimize(self, loss):
        gradients, variables = zip(*self._optimizer.compute_gradients(loss))
        gradients, _ = self._tf.clip_by_global_norm(gradients, self._norm)
        return self._optimizer.apply_gradients(zip(gradients, variables))


def norm(tf, x, name, relu=True):
    """Batch norm of a batch, with its moving averages."""
    with tf.variable_scope(name):
        shape = [int(x.shape[-1])]
        scale = variable(tf, "scale", shape, value=1)
        offset = variable(tf, "offset", shape)
        mean = tf.get_variable("mean", shape, trainable=False,
                               initializer=tf.zeros_initializer())
        variance = tf.get_variable("variance", shape, trainable=False,
                                   initializer=tf.ones_initializer())
        x, m, v = tf.nn.fused_batch_norm(x, scale, offset, epsilon=1e-5)
        for old, new in ((mean, m), (variance, v)):
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS,
                                 tf.assign_sub(old, (old - new) * 0.1))
        return tf.nn.relu(x) if relu else x


def bottleneck(tf, x, channels, stride, name):
    with tf.variable_scope(name):
        short = x
        if stride != 1 or int(x.shape[-1]) != 4 * channels:
            short = norm(tf, conv(tf, x, 4 * channels, 1, "short", stride),
                         "norm", relu=False)
        x = norm(tf, conv(tf, x, channels, 1, "conv1"), "norm1")
        x = norm(tf, conv(tf, x, channels, 3, "conv2", stride), "norm2")
        x = norm(tf, conv(tf, x, 4 * channels, 1, "conv3"), "norm3",
                 relu=False)
        return tf.nn.relu(x + short)


def resnet50(tf, random):
    """ResNet-50 on 224x224 pictures."""
    batch = 8
    x = tf.placeholder(tf.float32, [None, 224, 224, 3])
    y = tf.placeholder(tf.int64, [None])
    h = pool(tf, norm(tf, conv(tf, x, 64, 7, "conv", 2), "norm"), 3)
    for stage, (channels, blocks) in enumerate(
            [(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            h = bottleneck(tf, h, channels, 2 if stage and not block else 1,
                           "block%d_%d" % (stage, block))
    loss = cross_entropy(
        tf, y, dense(tf, tf.reduce_mean(h, axis=[1, 2]), 1000, "dense"))
    return loss, tf.train.MomentumOptimizer(1e-2, 0.9), {
        x: normal(random, batch, 224, 224, 3),
        y: random.randint(1000, size=batch)}


def layer_norm(tf, x, name):
    with tf.variable_scope(name):
        width = int(x.shape[-1])
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        x = (x - mean) * tf.rsqrt(variance + 1e-6)
        return (x * variable(tf, "scale", [width], value=1) +
                variable(tf, "offset", [width]))


def attention(tf, x, batch, length, heads, name):
    with tf.variable_scope(name):
        width = int(x.shape[-1])
        q, k, v = (tf.transpose(
            tf.reshape(dense(tf, x, width, part),
                       [batch, length, heads, width // heads]), [0, 2, 1, 3])
                   for part in ("query", "key", "value"))
        scores = tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5
        mixed = tf.matmul(tf.nn.softmax(scores), v)
        mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, width])
        return dense(tf, mixed, width, "output")


def gelu(tf, x):
    return 0.5 * x * (1 + tf.tanh(
        (2 / np.pi) ** 0.5 * (x + 0.044715 * x * x * x)))


def transformer(tf, random):
    """A transformer encoder: 4 layers of 256, 4 heads, 128 words."""
    batch, length, width, words = 8, 128, 256, 8000
    x = tf.placeholder(tf.int32, [batch, length])
    y = tf.placeholder(tf.int64, [batch])
    h = tf.nn.embedding_lookup(
        variable(tf, "words", [words, width]), x)
    h = tf.reshape(h + variable(tf, "positions", [length, width]),
                   [-1, width])
    for i in range(4):
        with tf.variable_scope("layer%d" % i):
            h += attention(tf, layer_norm(tf, h, "norm1"), batch, length, 4,
                           "attention")
            inner = gelu(tf, dense(tf, layer_norm(tf, h, "norm2"), 4 * width,
                                   "dense1"))
            h += dense(tf, inner, width, "dense2")
    h = tf.reduce_mean(tf.reshape(layer_norm(tf, h, "norm"),
                                  [batch, length, width]), axis=1)
    loss = cross_entropy(tf, y, dense(tf, h, 20, "dense"))
    return loss, tf.train.AdamOptimizer(1e-4), {
        x: random.randint(words, size=[batch, length]),
        y: random.randint(20, size=batch)}


def word2vec(tf, random):
    """word2vec: 50,000 words of 128, NCE with 64 samples, sparse Adam."""
    batch, width, words, samples = 128, 128, 50000, 64
    x = tf.placeholder(tf.int32, [batch])
    y = tf.placeholder(tf.int64, [batch, 1])
    table = variable(tf, "embedding", [words, width])
    loss = tf.reduce_mean(tf.nn.nce_loss(
        weights=variable(tf, "weights", [words, width]),
        biases=variable(tf, "biases", [words]), labels=y,
        inputs=tf.nn.embedding_lookup(table, x), num_sampled=samples,
        num_classes=words))
    return loss, tf.train.AdamOptimizer(1e-3), {
        x: random.zipf(1.3, batch) % words,
        y: random.zipf(1.3, [batch, 1]) % words}


WORKLOADS = {f.__name__: f for f in (
    lenet, convolutions, lstm, char_lstm, resnet50, transformer, word2vec)}


def build(tf, name):
    """(session, what a step runs, its feeds)"""
    tf.disable_resource_variables()
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    loss, optimizer, feeds = WORKLOADS[name](tf, random)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = optimizer.minimize(loss)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    for v in tf.trainable_variables():
        shape = v.shape.as_list()
        if len(shape) > 1:
            scale = np.prod(shape[:-1]) ** -0.5
            session.run(v.initializer, {
                v.initializer.inputs[1]: normal(random, *shape) * scale})
    return session, [step, loss], feeds
