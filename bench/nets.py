"""Builds the bench networks as frozen GraphDefs with seeded random weights.

    nets.py FOLDER NAME...        names: vgg16 resnet50 mobilenet_v1 mobilenet_v2 inception_v3

NHWC, float32, any batch; input `input:0` [?,224,224,3] (inception_v3: 299 x 299), output `prob:0`.
"""
import pathlib
import sys

import numpy as np

import headrace as tf

from worker import image_size


class Builder:
    """Layers over one stream of random weights."""

    def __init__(self, seed):
        self.rng = np.random.Generator(np.random.PCG64(seed))

    def weights(self, shape, fan_in, gain=2.0):
        values = self.rng.standard_normal(shape, dtype=np.float32)
        return tf.constant(values * np.float32(np.sqrt(gain / fan_in)))

    def conv(self, x, cin, cout, k, stride=1, padding="SAME", bias=False, gain=2.0):
        y = tf.nn.conv2d(x, self.weights((k, k, cin, cout), k * k * cin, gain),
                         strides=[1, stride, stride, 1], padding=padding)
        return tf.nn.bias_add(y, self.weights((cout,), 2e4)) if bias else y

    def depthwise(self, x, c, stride):
        return tf.nn.depthwise_conv2d(x, self.weights((3, 3, c, 1), 9),
                                      strides=[1, stride, stride, 1], padding="SAME")

    def norm(self, x, c, epsilon=1e-3):
        scale = tf.constant(self.rng.random(c, dtype=np.float32) * np.float32(0.4) + np.float32(0.8))
        offset = self.weights((c,), 200)
        mean = self.weights((c,), 200)
        variance = tf.constant(self.rng.random(c, dtype=np.float32) * np.float32(0.8) + np.float32(0.6))
        return tf.nn.fused_batch_norm(x, scale, offset, mean, variance, epsilon=epsilon, is_training=False)[0]

    def dense(self, x, cin, cout, gain=1.0):
        return tf.nn.bias_add(tf.matmul(x, self.weights((cin, cout), cin, gain)), self.weights((cout,), 2e4))


def vgg16(x):
    b, cin = Builder(16), 3
    for layers, c in [(2, 64), (2, 128), (3, 256), (3, 512), (3, 512)]:
        for _ in range(layers):
            x, cin = tf.nn.relu(b.conv(x, cin, c, 3, bias=True)), c
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    x = tf.reshape(x, [-1, 7 * 7 * 512])
    x = tf.nn.relu(b.dense(x, 25088, 4096, 2.0))
    x = tf.nn.relu(b.dense(x, 4096, 4096, 2.0))
    return b.dense(x, 4096, 1000)


def resnet50(x):
    """He et al., v1: the stride is in the first 1x1 of each stage."""
    b = Builder(50)
    x = tf.pad(x, [[0, 0], [3, 3], [3, 3], [0, 0]])
    x = tf.nn.relu(b.norm(b.conv(x, 3, 64, 7, 2, "VALID"), 64, 1e-5))
    x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
    x, cin = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID"), 64
    for stage, (units, c) in enumerate([(3, 64), (4, 128), (6, 256), (3, 512)]):
        for unit in range(units):
            stride = 2 if unit == 0 and stage > 0 else 1
            shortcut = x
            if unit == 0:
                shortcut = b.norm(b.conv(x, cin, 4 * c, 1, stride, gain=1.0), 4 * c, 1e-5)
            y = tf.nn.relu(b.norm(b.conv(x, cin, c, 1, stride), c, 1e-5))
            y = tf.nn.relu(b.norm(b.conv(y, c, c, 3), c, 1e-5))
            y = b.norm(b.conv(y, c, 4 * c, 1, gain=0.3), 4 * c, 1e-5)
            x, cin = tf.nn.relu(shortcut + y), 4 * c
    return b.dense(tf.reduce_mean(x, [1, 2]), 2048, 1000)


def mobilenet_v1(x):
    b, cin = Builder(101), 32
    x = tf.nn.relu6(b.norm(b.conv(x, 3, 32, 3, 2), 32))
    for c, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        x = tf.nn.relu6(b.norm(b.depthwise(x, cin, stride), cin))
        x, cin = tf.nn.relu6(b.norm(b.conv(x, cin, c, 1), c)), c
    x = tf.nn.avg_pool(x, [1, 7, 7, 1], [1, 2, 2, 1], "VALID")
    return tf.squeeze(b.conv(x, 1024, 1001, 1, bias=True, gain=1.0), [1, 2])


def mobilenet_v2(x):
    """Sandler et al.: a shortcut joins the narrow ends of two blocks of one size."""
    b, cin = Builder(102), 32
    x = tf.nn.relu6(b.norm(b.conv(x, 3, 32, 3, 2), 32))
    for expand, cout, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            y, wide = x, cin * expand
            if expand > 1:
                y = tf.nn.relu6(b.norm(b.conv(y, cin, wide, 1), wide))
            y = tf.nn.relu6(b.norm(b.depthwise(y, wide, stride if i == 0 else 1), wide))
            y = b.norm(b.conv(y, wide, cout, 1, gain=1.0), cout)
            x, cin = x + y if i > 0 else y, cout
    x = tf.nn.relu6(b.norm(b.conv(x, cin, 1280, 1), 1280))
    return b.dense(tf.reduce_mean(x, [1, 2]), 1280, 1001)


def inception_v3(x):
    """Szegedy et al., without the auxiliary head."""
    b = Builder(3)

    def conv(x, cin, cout, rows, columns, stride=1, padding="SAME"):
        w = b.weights((rows, columns, cin, cout), rows * columns * cin)
        return tf.nn.relu(b.norm(tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding=padding), cout))

    def branch(x, cin, *filters):
        for rows, columns, cout in filters:
            x, cin = conv(x, cin, cout, rows, columns), cout
        return x

    def around(x):
        return tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")

    def halved(x):
        return tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")

    x = conv(x, 3, 32, 3, 3, 2, "VALID")
    x = conv(x, 32, 32, 3, 3, 1, "VALID")
    x = halved(conv(x, 32, 64, 3, 3))
    x = conv(x, 64, 80, 1, 1, 1, "VALID")
    x, cin = halved(conv(x, 80, 192, 3, 3, 1, "VALID")), 192
    for pooled in (32, 64, 64):
        x = tf.concat([branch(x, cin, (1, 1, 64)), branch(x, cin, (1, 1, 48), (5, 5, 64)), branch(x, cin, (1, 1, 64), (3, 3, 96), (3, 3, 96)),
                       branch(around(x), cin, (1, 1, pooled))], 3)
        cin = 224 + pooled
    y = conv(branch(x, cin, (1, 1, 64), (3, 3, 96)), 96, 96, 3, 3, 2, "VALID")
    x = tf.concat([conv(x, cin, 384, 3, 3, 2, "VALID"), y, halved(x)], 3)
    for c in (128, 160, 160, 192):
        x = tf.concat([branch(x, 768, (1, 1, 192)), branch(x, 768, (1, 1, c), (1, 7, c), (7, 1, 192)),
                       branch(x, 768, (1, 1, c), (7, 1, c), (1, 7, c), (7, 1, c), (1, 7, 192)), branch(around(x), 768, (1, 1, 192))], 3)
    y = conv(branch(x, 768, (1, 1, 192)), 192, 320, 3, 3, 2, "VALID")
    z = conv(branch(x, 768, (1, 1, 192), (1, 7, 192), (7, 1, 192)), 192, 192, 3, 3, 2, "VALID")
    x, cin = tf.concat([y, z, halved(x)], 3), 1280
    for _ in range(2):
        y = branch(x, cin, (1, 1, 384))
        z = branch(x, cin, (1, 1, 448), (3, 3, 384))
        x = tf.concat([branch(x, cin, (1, 1, 320)), branch(y, 384, (1, 3, 384)), branch(y, 384, (3, 1, 384)), branch(z, 384, (1, 3, 384)),
                       branch(z, 384, (3, 1, 384)), branch(around(x), cin, (1, 1, 192))], 3)
        cin = 2048
    return b.dense(tf.reduce_mean(x, [1, 2]), 2048, 1001)


NETS = {f.__name__: f for f in (vgg16, resnet50, mobilenet_v1, mobilenet_v2, inception_v3)}


def build(name, path):
    graph = tf.Graph()
    with graph.as_default():
        size = image_size(name)
        x = tf.placeholder(tf.float32, [None, size, size, 3], name="input")
        tf.nn.softmax(NETS[name](x), name="prob")
    path.write_bytes(graph.as_graph_def().SerializeToString())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = folder / f"{name}.pb"
        if not path.exists():
            build(name, path)
            print(f"built {path} ({path.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    main()
