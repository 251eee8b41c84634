"""Networks that tf.contrib.quantize rewrites, each a function of the module tf
that makes one. quantize_values.json has the nodes of TensorFlow 1.15.5 that the
rewriting added or changed, and what the networks give.

    PYTHON tests/python/quantize_programs.py [NAME...]

with an interpreter that has TensorFlow 1.15 writes the file again, or the values
of the programs that are named."""
import base64
import json
import os
import sys
import zlib

import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "quantize_values.json")


def images(*shape):
    return np.cos(1.3 * np.arange(np.prod(shape))).reshape(shape).astype(
        np.float32)


def convolutional(tf, training, fused=True, scale=True, activation="Relu6",
                  resource=False):
    """slim's layers with batch normalisation, a separable one among them."""
    slim = tf.contrib.slim
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    params = {"is_training": training, "fused": fused, "scale": scale,
              "decay": .9}
    with tf.variable_scope("net", use_resource=resource), slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d, slim.fully_connected],
            normalizer_fn=slim.batch_norm, normalizer_params=params,
            activation_fn=getattr(tf.nn, activation.lower())):
        y = slim.conv2d(x, 4, [3, 3], stride=2, scope="first")
        y = slim.separable_conv2d(y, None, [3, 3], 2, scope="second")
        y = slim.conv2d(y, 4, [1, 1], scope="third",
                        activation_fn=None if scale and fused else tf.nn.relu)
        y = tf.identity(y)
        y = slim.conv2d(y, 5, [1, 1], activation_fn=None, normalizer_fn=None,
                        scope="logits")
    return x, tf.reduce_mean(y, [1, 2])


def residual(tf, training):
    """Shortcuts before and after activations."""
    slim = tf.contrib.slim
    x = tf.placeholder(tf.float32, [2, 6, 6, 4], name="x")
    params = {"is_training": training, "fused": True, "decay": .9}
    with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm,
                        normalizer_params=params):
        with tf.variable_scope("block"):
            y = slim.conv2d(x, 4, [3, 3], scope="a", activation_fn=None)
            y = tf.nn.relu(y + x)
        with tf.variable_scope("block2"):
            z = slim.conv2d(y, 4, [3, 3], scope="b")
            y = z + y
        with tf.variable_scope("block3"):
            y = slim.conv2d(y, 4, [1, 1], scope="c", normalizer_fn=None,
                            activation_fn=None) + y
            y = tf.identity(y * y)
    return x, tf.reduce_mean(y, [1, 2])


def dense(tf, training):
    """tf.layers without batch normalisation."""
    x = tf.placeholder(tf.float32, [2, 8], name="x")
    y = tf.layers.dense(x, 6, tf.nn.relu, name="a")
    y = tf.layers.dense(y, 5, None, name="b")
    return x, tf.layers.dense(tf.nn.relu6(y), 3, name="c")


def layers(tf, training):
    """tf.layers with batch normalisation."""
    x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
    y = tf.layers.conv2d(x, 4, 3, use_bias=False, name="conv")
    y = tf.layers.batch_normalization(y, training=training, momentum=.9)
    y = tf.layers.flatten(tf.nn.relu(y))
    return x, tf.layers.dense(y, 3, name="out")


def mobilenet(tf, training):
    """MobileNet v1's first layers, as slim has them."""
    slim = tf.contrib.slim
    x = tf.placeholder(tf.float32, [2, 16, 16, 3], name="x")
    params = {"center": True, "scale": True, "decay": .9997, "epsilon": .001,
              "is_training": training}
    with tf.variable_scope("MobilenetV1"), slim.arg_scope(
            [slim.conv2d, slim.separable_conv2d],
            activation_fn=tf.nn.relu6, normalizer_fn=slim.batch_norm,
            normalizer_params=params):
        y = slim.conv2d(x, 8, [3, 3], stride=2, scope="Conv2d_0")
        for i, (depth, stride, rate) in enumerate(
                [(8, 1, 1), (16, 2, 1), (16, 1, 2)]):
            y = slim.separable_conv2d(
                y, None, [3, 3], depth_multiplier=1, stride=stride, rate=rate,
                scope="Conv2d_%d_depthwise" % (i + 1))
            y = slim.conv2d(y, depth, [1, 1], scope="Conv2d_%d_pointwise"
                            % (i + 1))
        y = tf.reduce_mean(y, [1, 2], keepdims=True)
        y = slim.conv2d(y, 5, [1, 1], activation_fn=None, normalizer_fn=None,
                        scope="Logits")
    return x, tf.squeeze(y, [1, 2])


NETWORKS = {
    "convolutional": convolutional,
    "unfused": lambda tf, t: convolutional(tf, t, False),
    "unfused_plain": lambda tf, t: convolutional(tf, t, False, False, "Relu"),
    "resource": lambda tf, t: convolutional(tf, t, True, True, "Relu", True),
    "residual": residual, "dense": dense, "layers": layers,
    "mobilenet": mobilenet,
}
REWRITES = {
    "train": (True, lambda q, g: q.create_training_graph(g)),
    "train_late": (True, lambda q, g: q.create_training_graph(g, 2)),
    "train_own": (True, lambda q, g: q.experimental_create_training_graph(
        g, 4, 7, True, 0, 3)),
    "eval": (False, lambda q, g: q.create_eval_graph(g)),
    "eval_own": (False, lambda q, g: q.experimental_create_eval_graph(
        g, 5, 6, quant_delay=1)),
}


def packed(nodes):
    return base64.b64encode(zlib.compress(json.dumps(
        nodes, sort_keys=True).encode(), 9)).decode()


def unpacked(text):
    return json.loads(zlib.decompress(base64.b64decode(text)))


def nodes_of(graph):
    return {n.name: [n.op] + list(n.input) for n in graph.as_graph_def().node}


def start(tf, session):
    """Gives the variables numbers that all libraries agree on."""
    session.run(tf.global_variables_initializer())
    for i, v in enumerate(sorted(tf.trainable_variables(),
                                 key=lambda v: v.op.name)):
        size = int(np.prod(v.get_shape().as_list()))
        value = np.sin(np.arange(size) + i).reshape(
            v.get_shape().as_list()) * .5
        session.run(v.assign(value + (1 if "gamma" in v.op.name else 0)))


def run(tf, name, rewrite):
    training, change = REWRITES[rewrite]
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        x, y = NETWORKS[name](tf, training)
        before = nodes_of(graph)
        change(tf.contrib.quantize, graph)
        after = nodes_of(graph)
        changed = {n: after[n] for n in after if before.get(n) != after[n]}
        outputs = []
        if training:
            loss = tf.reduce_mean(tf.square(y - 1))
            gradients = tf.gradients(loss, tf.trainable_variables())
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            given = [(v, g) for v, g in zip(tf.trainable_variables(), gradients)
                     if g is not None]
            fed = [tf.placeholder(tf.float32, v.get_shape()) for v, _ in given]
            step = [v.assign_sub(.01 * f) for (v, _), f in zip(given, fed)]
        with tf.Session() as session:
            start(tf, session)
            data = images(*x.get_shape().as_list())
            for _ in range(4 if training else 1):
                if training:
                    # Variables change after all have read them.
                    value, found, _ = session.run(
                        [loss, [g for _, g in given], updates], {x: data})
                    session.run(step, dict(zip(fed, found)))
                    outputs.append(value)
                else:
                    outputs.append(session.run(y, {x: data}))
        return {"nodes": changed, "outputs": np.asarray(
            outputs, np.float64).round(5).tolist(), "variables": sorted(
                v.name for v in tf.global_variables())}


def main():
    import tensorflow as tf
    assert tf.__version__.startswith("1.15"), tf.__version__
    results = {}
    if sys.argv[1:] and os.path.exists(VALUES):
        with open(VALUES) as file:
            results = json.load(file)
    for name in sys.argv[1:] or NETWORKS:
        for rewrite in REWRITES:
            try:
                found = run(tf, name, rewrite)
                found["nodes"] = packed(found["nodes"])
                results["%s %s" % (name, rewrite)] = found
            except (ValueError, AttributeError, KeyError) as error:
                print(name, rewrite, type(error).__name__, error)
    recorded.write(VALUES, results)


if __name__ == "__main__":
    main()
