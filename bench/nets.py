"""Builds the bench networks as frozen GraphDefs with seeded random weights.

    nets.py FOLDER NAME...

names: vgg16 resnet50 mobilenet_v1 mobilenet_v2 inception_v3 lstm_unrolled
lstm_dynamic. float32, images NHWC, any batch. FOLDER/NAME.json says what to feed
and fetch, and what a run of one example costs: multiply-adds and bytes of weights.
"""
import json
import pathlib
import sys

import numpy as np

import headrace as tf


class Builder:
    """Layers over one stream of random weights, counting what they cost."""

    def __init__(self, seed):
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.weight_bytes = 0
        self.multiply_adds = 0

    def constant(self, values):
        self.weight_bytes += values.nbytes
        return tf.constant(values)

    def weights(self, shape, fan_in, gain=2.0):
        values = self.rng.standard_normal(shape, dtype=np.float32)
        return self.constant(values * np.float32(np.sqrt(gain / fan_in)))

    def uniform(self, shape, low, high):
        values = self.rng.random(shape, dtype=np.float32)
        return self.constant(values * np.float32(high - low) + np.float32(low))

    def conv(self, x, cout, k, stride=1, padding="SAME", bias=False, gain=2.0):
        kh, kw = k if isinstance(k, tuple) else (k, k)
        cin = channels(x)
        y = tf.nn.conv2d(x, self.weights((kh, kw, cin, cout), kh * kw * cin, gain),
                         strides=[1, stride, stride, 1], padding=padding)
        self.multiply_adds += pixels(y) * kh * kw * cin * cout
        return tf.nn.bias_add(y, self.weights((cout,), 2e4)) if bias else y

    def depthwise(self, x, stride):
        y = tf.nn.depthwise_conv2d(x, self.weights((3, 3, channels(x), 1), 9),
                                   strides=[1, stride, stride, 1], padding="SAME")
        self.multiply_adds += pixels(y) * 9 * channels(x)
        return y

    def norm(self, x, epsilon=1e-3):
        c = channels(x)
        scale, offset = self.uniform((c,), 0.8, 1.2), self.weights((c,), 200)
        mean, variance = self.weights((c,), 200), self.uniform((c,), 0.6, 1.4)
        return tf.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=epsilon, is_training=False)[0]

    def matmul(self, x, w, rows=1):
        cin, cout = w.shape.as_list()
        self.multiply_adds += rows * cin * cout
        return tf.matmul(x, w)

    def dense(self, x, cin, cout, gain=1.0):
        y = self.matmul(x, self.weights((cin, cout), cin, gain))
        return tf.nn.bias_add(y, self.weights((cout,), 2e4))


def channels(x):
    return x.shape.as_list()[-1]


def pixels(x):
    return int(np.prod(x.shape.as_list()[1:3]))


def images(size):
    return tf.placeholder(tf.float32, [None, size, size, 3], name="input")


def vgg16(b):
    x = images(224)
    for layers, c in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]:
        for _ in range(layers):
            x = tf.nn.relu(b.conv(x, c, 3, bias=True))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    x = tf.reshape(x, [-1, 7 * 7 * 512])
    x = tf.nn.relu(b.dense(x, 25088, 4096, 2.0))
    x = tf.nn.relu(b.dense(x, 4096, 4096, 2.0))
    return b.dense(x, 4096, 1000)


def resnet50(b):
    """He et al., v1: the stride is in the first 1x1 of each stage."""
    x = tf.pad(images(224), [[0, 0], [3, 3], [3, 3], [0, 0]])
    x = tf.nn.relu(b.norm(b.conv(x, 64, 7, 2, "VALID"), 1e-5))
    x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    x = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
    for stage, (units, c) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for unit in range(units):
            stride = 2 if unit == 0 and stage > 0 else 1
            shortcut = x
            if unit == 0:
                shortcut = b.norm(b.conv(x, 4 * c, 1, stride, gain=1.0), 1e-5)
            y = tf.nn.relu(b.norm(b.conv(x, c, 1, stride), 1e-5))
            y = tf.nn.relu(b.norm(b.conv(y, c, 3), 1e-5))
            y = b.norm(b.conv(y, 4 * c, 1, gain=0.3), 1e-5)
            x = tf.nn.relu(shortcut + y)
    return b.dense(tf.reduce_mean(x, [1, 2]), 2048, 1000)


def mobilenet_v1(b):
    x = tf.nn.relu6(b.norm(b.conv(images(224), 32, 3, 2)))
    for c, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        x = tf.nn.relu6(b.norm(b.depthwise(x, stride)))
        x = tf.nn.relu6(b.norm(b.conv(x, c, 1)))
    x = tf.nn.avg_pool(x, [1, 7, 7, 1], [1, 2, 2, 1], "VALID")
    return tf.squeeze(b.conv(x, 1001, 1, bias=True, gain=1.0), [1, 2])


def mobilenet_v2(b):
    x = tf.nn.relu6(b.norm(b.conv(images(224), 32, 3, 2)))
    for expansion, c, units, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                              (6, 320, 1, 1)]:
        for unit in range(units):
            stride, shortcut, y = (first_stride if unit == 0 else 1), x, x
            if expansion > 1:
                y = tf.nn.relu6(b.norm(b.conv(y, channels(x) * expansion, 1)))
            y = tf.nn.relu6(b.norm(b.depthwise(y, stride)))
            y = b.norm(b.conv(y, c, 1, gain=1.0))
            x = y + shortcut if stride == 1 and channels(shortcut) == c else y
    x = tf.nn.relu6(b.norm(b.conv(x, 1280, 1)))
    x = tf.nn.avg_pool(x, [1, 7, 7, 1], [1, 1, 1, 1], "VALID")
    return tf.squeeze(b.conv(x, 1001, 1, bias=True, gain=1.0), [1, 2])


def inception_v3(b):
    """Szegedy et al. 2015, with batch norm after every convolution."""

    def chain(x, *layers):
        """Convolutions one after another: (channels, size[, stride, padding])."""
        for layer in layers:
            x = tf.nn.relu(b.norm(b.conv(x, *layer)))
        return x

    def pool(x, kind, stride, padding):
        return kind(x, [1, 3, 3, 1], [1, stride, stride, 1], padding)

    def shrink(x):
        return pool(x, tf.nn.max_pool, 2, "VALID")

    def smooth(x, c):
        return chain(pool(x, tf.nn.avg_pool, 1, "SAME"), (c, 1))

    x = chain(images(299), (32, 3, 2, "VALID"), (32, 3, 1, "VALID"), (64, 3))
    x = chain(shrink(x), (80, 1), (192, 3, 1, "VALID"))
    x = shrink(x)
    for c in (32, 64, 64):
        x = tf.concat([chain(x, (64, 1)), chain(x, (48, 1), (64, 5)), chain(x, (64, 1), (96, 3), (96, 3)), smooth(x, c)], 3)
    x = tf.concat([chain(x, (384, 3, 2, "VALID")), chain(x, (64, 1), (96, 3), (96, 3, 2, "VALID")), shrink(x)], 3)
    for c in (128, 160, 160, 192):
        x = tf.concat([chain(x, (192, 1)), chain(x, (c, 1), (c, (1, 7)), (192, (7, 1))),
                       chain(x, (c, 1), (c, (7, 1)), (c, (1, 7)), (c, (7, 1)), (192, (1, 7))), smooth(x, 192)], 3)
    x = tf.concat([chain(x, (192, 1), (320, 3, 2, "VALID")),
                   chain(x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, "VALID")), shrink(x)], 3)
    for _ in range(2):
        y, z = chain(x, (384, 1)), chain(x, (448, 1), (384, 3))
        x = tf.concat([chain(x, (320, 1)), *(chain(v, (384, k)) for v in (y, z) for k in ((1, 3), (3, 1))), smooth(x, 192)], 3)
    x = tf.nn.avg_pool(x, [1, 8, 8, 1], [1, 2, 2, 1], "VALID")
    return tf.squeeze(b.conv(x, 1001, 1, bias=True, gain=1.0), [1, 2])


WORDS, UNITS, LAYERS, STEPS = 10000, 650, 2, 20


class LanguageModel:
    """Zaremba et al. 2014, medium: two layers of basic LSTM cells over 20 words."""

    def __init__(self, b):
        self.b = b
        self.embedding = b.uniform((WORDS, UNITS), -0.05, 0.05)
        self.cells = [(b.uniform((2 * UNITS, 4 * UNITS), -0.05, 0.05), b.weights((4 * UNITS,), 2e4)) for _ in range(LAYERS)]

    def words(self):
        return tf.placeholder(tf.int32, [None, STEPS], name="input")

    def step(self, y, state):
        """One word through all layers; state is [c, h] of each layer."""
        new = []
        for layer, (kernel, bias) in enumerate(self.cells):
            c, h = state[2 * layer:2 * layer + 2]
            gates = tf.nn.bias_add(tf.matmul(tf.concat([y, h], 1), kernel), bias)
            i, j, f, o = tf.split(gates, 4, axis=1)
            c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
            y = tf.tanh(c) * tf.sigmoid(o)
            new += [c, y]
        return new

    def logits(self, outputs):
        self.b.multiply_adds += STEPS * LAYERS * 2 * UNITS * 4 * UNITS
        y = self.b.matmul(tf.reshape(outputs, [-1, UNITS]), self.b.uniform((UNITS, WORDS), -0.05, 0.05), STEPS)
        return tf.nn.bias_add(y, self.b.weights((WORDS,), 2e4))


def lstm_unrolled(b):
    model = LanguageModel(b)
    x = tf.gather(model.embedding, model.words())
    state, outputs = [tf.zeros_like(x[:, 0, :])] * (2 * LAYERS), []
    for t in range(STEPS):
        state = model.step(x[:, t, :], state)
        outputs.append(state[-1])
    return model.logits(tf.stack(outputs, 1))


def lstm_dynamic(b):
    """The same as tf.nn.dynamic_rnn makes it: a while_loop over TensorArrays."""
    model = LanguageModel(b)
    x = tf.transpose(tf.gather(model.embedding, model.words()), [1, 0, 2])
    n = tf.shape(x)[0]
    inputs = tf.TensorArray(tf.float32, size=n, element_shape=[None, UNITS]).unstack(x)
    outputs = tf.TensorArray(tf.float32, size=n, element_shape=[None, UNITS])
    state = [tf.zeros_like(x[0])] * (2 * LAYERS)

    def body(t, outputs, *state):
        state = model.step(inputs.read(t), state)
        return (t + 1, outputs.write(t, state[-1]), *state)

    result = tf.while_loop(lambda t, *_: t < n, body, [tf.constant(0), outputs, *state], parallel_iterations=1)
    return model.logits(tf.transpose(result[1].stack(), [1, 0, 2]))


NETS = {"vgg16": vgg16, "resnet50": resnet50, "mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2,
        "inception_v3": inception_v3, "lstm_unrolled": lstm_unrolled, "lstm_dynamic": lstm_dynamic}


def build(name, path):
    b = Builder(sum(map(ord, name.split("_")[0])))
    graph = tf.Graph()
    with graph.as_default():
        tf.nn.softmax(NETS[name](b), name="prob")
        x = graph.get_tensor_by_name("input:0")
    path.write_bytes(graph.as_graph_def().SerializeToString())
    feed = {"name": x.name, "dtype": x.dtype.name, "shape": x.shape.as_list(), "below": WORDS if x.dtype == tf.int32 else None}
    spec = {"feeds": [feed], "fetches": ["prob:0"], "onnx": name != "lstm_dynamic",
            "multiply_adds": b.multiply_adds, "weight_bytes": b.weight_bytes}
    path.with_suffix(".json").write_text(json.dumps(spec))


def main():
    if len(sys.argv) < 2 or any(name not in NETS for name in sys.argv[2:]):
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = folder / f"{name}.pb"
        spec = path.with_suffix(".json")
        if not spec.exists() or spec.stat().st_mtime < pathlib.Path(__file__).stat().st_mtime:
            build(name, path)
            print(f"built {path} ({path.stat().st_size / 1e6:.0f} MB)", file=sys.stderr)


if __name__ == "__main__":
    main()
