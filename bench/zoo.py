"""Builds networks that nobody tuned for, as frozen GraphDefs, with TensorFlow.

    zoo.py FOLDER NAME...       names: --list prints them

Keras' own networks, and others spelled as people spell them; float32, any batch,
weights from a fixed seed. Batch norms hold the statistics of a batch of noise, so
that values stay of a size whatever the depth. FOLDER/NAME.json has the fields
that nets.py writes.
"""
import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import applications, layers  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402

RANDOM = np.random.RandomState()  # seeded for each network


def feed(name, *shape, dtype="float32", below=None, start=0):
    """An input of `shape`, None where the batch goes: noise from 0 to 1, or integers from `start` to `below`."""
    return {"name": name, "shape": list(shape), "dtype": dtype, "below": below, "start": start}


def uniform(shape, low, high):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def weights(*shape, gain=1.0):
    """A constant matrix or filter, scaled by what is summed."""
    return tf.constant((RANDOM.standard_normal(shape) * np.sqrt(gain / np.prod(shape[:-1]))).astype(np.float32))


def bias(n):
    return tf.constant(uniform([n], -0.1, 0.1))


# Networks of Keras.

def settle(model, noise):
    """Random offsets and scales; then the statistics of `noise` in the batch norms."""
    for v in model.weights:
        if v.name in ("bias", "beta"):
            v.assign(uniform(v.shape, -0.1, 0.1))
        elif v.name == "gamma":
            v.assign(uniform(v.shape, 0.8, 1.2))
    norms = [layer for layer in model._flatten_layers() if isinstance(layer, layers.BatchNormalization)]
    if norms:
        for layer in norms:
            layer.momentum = 0.0
        model(noise, training=True)


def keras_net(model, *feeds):
    if all(f["below"] is None for f in feeds):
        settle(model, [uniform([4, *f["shape"][1:]], 0, 1) for f in feeds][0])
    return (lambda *xs: model(xs[0] if len(xs) == 1 else list(xs), training=False)), feeds


def pictures(model, size=224, **options):
    return keras_net(model(weights=None, input_shape=(size, size, 3), **options), feed("input", None, size, size, 3))


def normed(x, c, k=3, stride=1, activation=layers.ReLU, conv=layers.Conv2D):
    x = conv(c, k, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return activation()(x)


def convnext(gelu):
    """ConvNeXt of narrow stages: 7x7 depthwise, layer norm, two dense layers with `gelu` between."""
    x = image = keras.Input((224, 224, 3))
    for c, blocks in ((64, 2), (128, 2), (256, 4), (512, 2)):
        x = layers.Conv2D(c, 4 if c == 64 else 2, strides=4 if c == 64 else 2)(x)
        x = layers.LayerNormalization(epsilon=1e-6)(x)
        for _ in range(blocks):
            y = layers.DepthwiseConv2D(7, padding="same")(x)
            y = layers.LayerNormalization(epsilon=1e-6)(y)
            y = layers.Lambda(gelu)(layers.Dense(4 * c)(y))
            x = layers.Add()([x, layers.Dense(c)(y)])
    x = layers.LayerNormalization(epsilon=1e-6)(layers.GlobalAveragePooling2D()(x))
    return keras_net(keras.Model(image, layers.Dense(1000)(x)), feed("input", None, 224, 224, 3))


def gelu_erf(x):
    return 0.5 * x * (1.0 + tf.math.erf(x / np.float32(np.sqrt(2))))


def gelu_erfc(x):
    return 0.5 * x * tf.math.erfc(-x * np.float32(np.sqrt(0.5)))


def gelu_tanh(x):
    return 0.5 * x * (1.0 + tf.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + 0.044715 * tf.pow(x, 3))))


def unet():
    x = image = keras.Input((128, 128, 1))
    skips = []
    for c in (32, 64, 128):
        x = normed(normed(x, c), c)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = normed(normed(x, 256), 256)
    for c, skip in zip((128, 64, 32), reversed(skips)):
        x = layers.Conv2DTranspose(c, 2 if c > 32 else 3, strides=2, padding="same")(x)
        x = normed(normed(layers.Concatenate()([skip, x]), c), c)
    return keras_net(keras.Model(image, layers.Conv2D(2, 1, activation="sigmoid")(x)), feed("input", None, 128, 128, 1))


def yolo():
    """Residual blocks, leaky ReLU, two scales joined by upsampling; boxes decoded."""
    def leaky():
        return layers.LeakyReLU(negative_slope=0.1)

    def conv(x, c, k, stride=1):
        return normed(x, c, k, stride, leaky)

    x = image = keras.Input((256, 256, 3))
    x, scales = conv(x, 16, 3), []
    for c, blocks in ((32, 1), (64, 1), (128, 2), (256, 2), (512, 1)):
        x = conv(x, c, 3, 2)
        for _ in range(blocks):
            x = layers.Add()([x, conv(conv(x, c // 2, 1), c, 3)])
        scales.append(x)
    coarse = conv(conv(x, 256, 1), 512, 3)
    fine = layers.UpSampling2D()(conv(coarse, 128, 1))
    fine = conv(layers.Concatenate()([fine, scales[-2]]), 256, 3)

    def boxes(y):
        n = y.shape[1]
        y = tf.reshape(y, [-1, n, n, 3, 25])
        xy, wh, rest = tf.split(y, [2, 2, 21], axis=-1)
        grid = np.stack(np.meshgrid(np.arange(n), np.arange(n)), -1)[:, :, None].astype(np.float32)
        anchors = np.array([[10, 13], [16, 30], [33, 23]], np.float32)
        y = tf.concat([(tf.sigmoid(xy) + grid) / n, tf.exp(tf.minimum(wh, 4.0)) * anchors / 256, tf.sigmoid(rest)], -1)
        return tf.reshape(y, [-1, n * n * 3, 25])

    heads = [layers.Lambda(boxes)(layers.Conv2D(75, 1)(y)) for y in (coarse, fine)]
    return keras_net(keras.Model(image, layers.Concatenate(axis=1)(heads)), feed("input", None, 256, 256, 3))


def ssd():
    """MobileNet v2 with box and class heads; decoding and non-maximum suppression of one picture."""
    base = applications.MobileNetV2(weights=None, include_top=False, input_shape=(256, 256, 3), alpha=0.5)
    x, locations, scores = base.output, [], []
    maps = [base.get_layer("block_13_expand_relu").output, x]
    for c in (128, 64):
        x = normed(x, c, 3, 2)
        maps.append(x)
    for m in maps:
        locations.append(layers.Reshape((-1, 4))(layers.SeparableConv2D(4 * 4, 3, padding="same")(m)))
        scores.append(layers.Reshape((-1, 11))(layers.SeparableConv2D(4 * 11, 3, padding="same")(m)))
    model = keras.Model(base.input, [layers.Concatenate(axis=1)(locations), layers.Concatenate(axis=1)(scores)])
    settle(model, uniform([4, 256, 256, 3], 0, 1))
    anchors = []
    for m in maps:
        n = m.shape[1]
        for y in range(n):
            for x in range(n):
                anchors += [((y + .5) / n, (x + .5) / n, h / n, w / n) for h, w in ((1, 1), (2, 1), (1, 2), (2, 2))]
    cy, cx, h, w = np.array(anchors, np.float32).T

    def call(image):
        location, score = model(image, training=False)
        ty, tx, th, tw = tf.unstack(location, axis=2)
        y, x = ty * 0.1 * h + cy, tx * 0.1 * w + cx
        dy, dx = tf.exp(th * 0.2) * h / 2, tf.exp(tw * 0.2) * w / 2
        boxes = tf.clip_by_value(tf.stack([y - dy, x - dx, y + dy, x + dx], 2), 0.0, 1.0)
        chances = tf.nn.softmax(score)[:, :, 1:]
        best = tf.reduce_max(chances[0], 1)
        keep = tf.image.non_max_suppression(boxes[0], best, 50, 0.5, 0.1)
        return tf.gather(boxes[0], keep), tf.gather(best, keep), tf.gather(tf.argmax(chances[0], 1), keep)

    return call, [feed("input", None, 256, 256, 3)]


def deeplab():
    """Dilated convolutions side by side on a short ResNet, then resized to the picture."""
    x = image = keras.Input((192, 192, 3))
    for c in (32, 64, 128):
        x = normed(x, c, 3, 2)
        x = layers.ReLU()(layers.Add()([x, normed(normed(x, c), c)]))
    parts = [normed(x, 64, 1)] + [normed(x, 64, 3, conv=lambda *a, d=d, **k: layers.Conv2D(*a, dilation_rate=d, **k)) for d in (2, 4, 8)]
    mean = normed(layers.GlobalAveragePooling2D(keepdims=True)(x), 64, 1)
    parts.append(layers.UpSampling2D(24, interpolation="bilinear")(mean))
    x = layers.Conv2D(21, 1)(normed(layers.Concatenate()(parts), 128, 1))
    x = layers.Lambda(lambda v: tf.image.resize(v, (192, 192)))(x)
    return keras_net(keras.Model(image, layers.Softmax()(x)), feed("input", None, 192, 192, 3))


def encoder_einsum():
    """Four layers of Keras' MultiHeadAttention, 128 words of 256 numbers."""
    x = words = keras.Input((128, 256))
    for _ in range(4):
        y = layers.MultiHeadAttention(8, 32)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, y]))
        y = layers.Dense(256)(layers.Dense(1024, activation="gelu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, y]))
    return keras_net(keras.Model(words, x), feed("input", None, 128, 256))


def recurrent(layer, unroll, both=False, length=32):
    words = keras.Input((length,), dtype="int32")
    x = layers.Embedding(2000, 128)(words)
    for last in (False, True):
        cell = layer(128, return_sequences=not last, unroll=unroll)
        x = layers.Bidirectional(cell)(x) if both else cell(x)
    return keras_net(keras.Model(words, layers.Dense(2000)(x)), feed("input", None, length, dtype="int32", below=2000))


def super_resolution():
    x = image = keras.Input((96, 96, 3))
    x = first = layers.Conv2D(32, 5, padding="same")(x)
    for _ in range(4):
        y = layers.Conv2D(32, 3, padding="same")(layers.PReLU(shared_axes=[1, 2])(layers.Conv2D(32, 3, padding="same")(x)))
        x = layers.Add()([x, y])
    x = layers.Conv2D(12, 3, padding="same")(layers.Add()([x, first]))
    x = layers.Lambda(lambda v: tf.clip_by_value(tf.nn.depth_to_space(v, 2), 0.0, 1.0))(x)
    return keras_net(keras.Model(image, x), feed("input", None, 96, 96, 3))


def generator():
    """Numbers to pictures by transposed convolutions, as generative networks and decoders have them."""
    x = code = keras.Input((100,))
    x = layers.Reshape((7, 7, 128))(layers.Dense(7 * 7 * 128, activation="relu")(x))
    for c in (128, 64):
        x = normed(x, c, 5, 2, conv=layers.Conv2DTranspose)
    x = layers.Conv2DTranspose(3, 5, strides=2, padding="same", activation="tanh")(x)
    return keras_net(keras.Model(code, x), feed("input", None, 100))


# Networks of plain ops, as TensorFlow 1.x models have them.

def dense(x, n, gain=1.0):
    """A matrix product over the last axis, as models in rows have it."""
    shape = tf.shape(x)
    y = tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, x.shape[-1]]), weights(x.shape[-1], n, gain=gain)), bias(n))
    return tf.reshape(y, tf.concat([shape[:-1], [n]], 0))


def layer_norm(x):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    n = x.shape[-1]
    return tf.nn.batch_normalization(x, mean, variance, tf.constant(uniform([n], -0.1, 0.1)), tf.constant(uniform([n], 0.8, 1.2)), 1e-6)


def heads(x, n):
    return tf.transpose(tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1], n, x.shape[-1] // n]), [0, 2, 1, 3])


def attend(q, k, v, mask=None):
    scores = tf.matmul(q, k, transpose_b=True) / np.float32(np.sqrt(q.shape[-1]))
    if mask is not None:
        scores += mask
    y = tf.transpose(tf.matmul(tf.nn.softmax(scores), v), [0, 2, 1, 3])
    return tf.reshape(y, [tf.shape(y)[0], tf.shape(y)[1], y.shape[2] * y.shape[3]])


def encoder_matmul(width=256, count=8):
    """BERT's layers: words, positions and a mask fed; attention by BatchMatMul."""
    def call(words, present):
        x = tf.gather(weights(5000, width), words) * 16 + weights(128, width)
        x = layer_norm(tf.reshape(x, [tf.shape(words)[0], 128, width]))
        mask = (1.0 - tf.cast(present, tf.float32)[:, None, None, :]) * -10000.0
        for _ in range(4):
            q, k, v = (heads(dense(x, width), count) for _ in range(3))
            x = layer_norm(x + dense(attend(q, k, v, mask), width))
            x = layer_norm(x + dense(gelu_erf(dense(x, 4 * width)), width))
        return tf.tanh(dense(x[:, 0], width))

    return call, [feed("words", None, 128, dtype="int32", below=5000), feed("present", None, 128, dtype="int32", below=2)]


def decoder_step(width=512, count=8, past=100):
    """One word of GPT-2's kind after `past` others, whose keys and values are fed; the new ones are fetched."""
    def call(word, keys, values):
        embedding = weights(5000, width)
        x = tf.gather(embedding, word) * 16 + weights(200, width)[past:past + 1]
        old_keys, old_values = tf.unstack(keys, axis=1), tf.unstack(values, axis=1)
        new_keys, new_values = [], []
        for layer in range(6):
            qkv = dense(layer_norm(x), 3 * width)
            q, k, v = (heads(y, count) for y in tf.split(qkv, 3, axis=2))
            k, v = tf.concat([old_keys[layer], k], 2), tf.concat([old_values[layer], v], 2)
            new_keys.append(k)
            new_values.append(v)
            x += dense(attend(q, k, v), width)
            x += dense(gelu_tanh(dense(layer_norm(x), 4 * width)), width)
        logits = tf.matmul(tf.reshape(layer_norm(x), [-1, width]), embedding, transpose_b=True)
        return logits, tf.stack(new_keys, 1), tf.stack(new_values, 1)

    cache = [None, 6, count, past, width // count]
    return call, [feed("word", None, 1, dtype="int32", below=5000), feed("keys", *cache), feed("values", *cache)]


def wavenet(channels=64, length=1024):
    """Gated causal convolutions, dilated by SpaceToBatchND around VALID ones."""
    def conv(x, k, n, dilation=1):
        x = tf.pad(x, [[0, 0], [(k - 1) * dilation, 0], [0, 0]])
        if dilation > 1:
            missing = -x.shape[1] % dilation
            x = tf.space_to_batch(x, [dilation], [[0, missing]])
        y = tf.squeeze(tf.nn.conv2d(tf.expand_dims(x, 1), weights(1, k, x.shape[2], n), 1, "VALID"), 1)
        if dilation > 1:
            y = tf.batch_to_space(y, [dilation], [[0, missing]])
        return tf.nn.bias_add(y, bias(n))

    def call(x):
        x, skip = conv(x, 2, channels), 0.0
        for dilation in (1, 2, 4, 8, 16, 32, 64, 128):
            y = tf.tanh(conv(x, 2, channels, dilation)) * tf.sigmoid(conv(x, 2, channels, dilation))
            skip += conv(y, 1, channels)
            x += conv(y, 1, channels)
        return tf.nn.softmax(conv(tf.nn.relu(conv(tf.nn.relu(skip), 1, channels)), 1, 256))

    return call, [feed("input", None, length, 1)]


def wide_deep():
    """Ids with gaps made sparse, mean and sum of their embeddings, crossed ids hashed, and a few dense layers."""
    def sparse(ids):
        places = tf.where(ids >= 0)
        return tf.SparseTensor(places, tf.gather_nd(ids, places), tf.shape(ids, out_type=tf.int64))

    def call(ids, numbers):
        parts, wide = [tf.math.log1p(numbers)], []
        for i, (size, width) in enumerate(((20000, 64), (5000, 32), (1000, 16))):
            column = sparse(tf.where(ids[:, 10 * i:10 * i + 10] >= size, tf.constant(-1, tf.int64), ids[:, 10 * i:10 * i + 10]))
            parts.append(tf.nn.safe_embedding_lookup_sparse(tf.constant(uniform([size, width], -1, 1)), column, combiner="mean"))
            wide.append(tf.nn.safe_embedding_lookup_sparse(tf.constant(uniform([size, 1], -1, 1)), column, combiner="sum"))
        crossed = tf.strings.to_hash_bucket_fast(tf.strings.join([tf.as_string(ids[:, 0]), tf.as_string(ids[:, 10])], "_"), 1000)
        wide.append(tf.gather(tf.constant(uniform([1000, 1], -1, 1)), crossed))
        x = tf.concat(parts, 1)
        for n in (256, 128, 64):
            x = tf.nn.relu(dense(x, n, 2.0))
        return tf.sigmoid(dense(x, 1) + tf.add_n(wide))

    return call, [feed("ids", None, 30, dtype="int64", start=-1, below=20000), feed("numbers", None, 13)]


def mobilenet_fake_quant():
    """MobileNet v1 trained for 8 bits: fake quantisation of weights and activations."""
    def conv(x, c, k, stride=1):
        if c is None:
            f = weights(k, k, x.shape[3], 1, gain=2.0 * x.shape[3])
            f = tf.quantization.fake_quant_with_min_max_vars_per_channel(tf.reshape(f, [k, k, -1]), -uniform([x.shape[3]], 1, 1.5),
                                                                         uniform([x.shape[3]], 1, 1.5), narrow_range=True)
            y = tf.nn.depthwise_conv2d(x, f[..., None], [1, stride, stride, 1], "SAME")
        else:
            f = tf.quantization.fake_quant_with_min_max_vars(weights(k, k, x.shape[3], c, gain=2.0), -0.5, 0.5, narrow_range=True)
            y = tf.nn.conv2d(x, f, stride, "SAME")
        y = tf.nn.relu6(tf.nn.bias_add(y, bias(y.shape[3])))
        return tf.quantization.fake_quant_with_min_max_vars(y, 0.0, 6.0)

    def call(x):
        x = conv(tf.quantization.fake_quant_with_min_max_args(x * 2 - 1, -1.0, 1.0), 16, 3, 2)
        for c, stride in [(32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2)] + [(256, 1)] * 5 + [(512, 2), (512, 1)]:
            x = conv(conv(x, None, 3, stride), c, 1)
        return dense(tf.reduce_mean(x, [1, 2]), 1000)

    return call, [feed("input", None, 192, 192, 3)]


def mobilenet_quantized():
    """MobileNet v1 as the graph transform tool left it: 8-bit convolutions, requantised by the range of their results, float depthwise ones between."""
    ops = tf.raw_ops

    def conv(x, c, k, stride=1):
        f = ops.QuantizeV2(input=weights(k, k, x.shape[3], c, gain=2.0), min_range=-1.0, max_range=1.0, T=tf.quint8, mode="MIN_FIRST")
        x = ops.QuantizeV2(input=x, min_range=tf.reduce_min(x), max_range=tf.reduce_max(x), T=tf.quint8, mode="MIN_FIRST")
        y = ops.QuantizedConv2D(input=x[0], filter=f[0], min_input=x[1], max_input=x[2], min_filter=f[1], max_filter=f[2], strides=[1, stride, stride, 1], padding="SAME")
        low, high = ops.RequantizationRange(input=y[0], input_min=y[1], input_max=y[2])
        y = ops.Requantize(input=y[0], input_min=y[1], input_max=y[2], requested_output_min=low, requested_output_max=high, out_type=tf.quint8)
        y = ops.QuantizedRelu6(features=y[0], min_features=y[1], max_features=y[2])
        return ops.Dequantize(input=y[0], min_range=y[1], max_range=y[2], mode="MIN_FIRST")

    def call(x):
        x = conv(x, 16, 3, 2)
        for c, stride in [(32, 1), (64, 2), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1)]:
            x = tf.nn.depthwise_conv2d(x, weights(3, 3, x.shape[3], 1, gain=2.0 * x.shape[3]), [1, stride, stride, 1], "SAME")
            x = conv(tf.nn.relu6(tf.nn.bias_add(x, bias(x.shape[3]))), c, 1)
        return dense(tf.reduce_mean(x, [1, 2]), 1000)

    return call, [feed("input", None, 96, 96, 3)]


NETS = {
    "densenet121": lambda: pictures(applications.DenseNet121),
    "efficientnet_b0": lambda: pictures(applications.EfficientNetB0),
    "efficientnet_v2_b0": lambda: pictures(applications.EfficientNetV2B0),
    "nasnet_mobile": lambda: pictures(applications.NASNetMobile),
    "xception": lambda: pictures(applications.Xception, 299),
    "resnet50_v2": lambda: pictures(applications.ResNet50V2),
    "mobilenet_v3": lambda: pictures(applications.MobileNetV3Large),
    "convnext_erf": lambda: convnext(gelu_erf),
    "convnext_erfc": lambda: convnext(gelu_erfc),
    "unet": unet,
    "yolo": yolo,
    "ssd": ssd,
    "deeplab": deeplab,
    "super_resolution": super_resolution,
    "generator": generator,
    "mobilenet_fake_quant": mobilenet_fake_quant,
    "mobilenet_quantized": mobilenet_quantized,
    "encoder_einsum": encoder_einsum,
    "encoder_matmul": encoder_matmul,
    "decoder_step": decoder_step,
    "wavenet": wavenet,
    "gru_while": lambda: recurrent(layers.GRU, False),
    "gru_unrolled": lambda: recurrent(layers.GRU, True),
    "bilstm_while": lambda: recurrent(layers.LSTM, False, both=True),
    "bilstm_unrolled": lambda: recurrent(layers.LSTM, True, both=True),
    "wide_deep": wide_deep,
}
FUNCTIONAL = {"bilstm_while"}  # loops stay While nodes; others become Enter, Switch, Merge...
TURNS = {"gru_while": 32, "bilstm_while": 32}  # of the loops


def multiply_adds(graph):
    """Of one run of every node: convolutions and matrix products, whose shapes are known."""
    total = 0
    for op in graph.get_operations():
        shapes = [x.shape for x in op.inputs]
        if op.type in ("Conv2D", "QuantizedConv2D", "DepthwiseConv2dNative"):
            total += op.outputs[0].shape.num_elements() * int(np.prod(shapes[1][:3])) // (shapes[1][2] if op.type[0] == "D" else 1)
        elif op.type == "Conv2DBackpropInput":
            total += shapes[2].num_elements() * int(np.prod(shapes[1][:3]))
        elif op.type == "MatMul":
            total += (op.outputs[0].shape.num_elements() or 0) * shapes[0][0 if op.get_attr("transpose_a") else 1]
        elif op.type == "BatchMatMulV2":
            total += (op.outputs[0].shape.num_elements() or 0) * shapes[0][-2 if op.get_attr("adj_x") else -1]
        elif op.type == "Einsum":
            equation = op.get_attr("equation").decode().split("->")[0].split(",")
            sizes = {c: n for names, shape in zip(equation, shapes) for c, n in zip(names, shape)}
            total += int(np.prod(list(sizes.values())))
    return total


def loops(graph):
    """The bodies of the While nodes of a graph."""
    bodies = {op.get_attr("body").name for op in graph.get_operations() if op.type in ("While", "StatelessWhile")}
    return [f.graph for name, f in graph._functions.items() if (name if isinstance(name, str) else name.decode()) in bodies]


def build(name, path):
    seed = sum(map(ord, name))
    RANDOM.seed(seed)
    keras.utils.set_random_seed(seed)
    call, feeds = NETS[name]()
    state = RANDOM.get_state()

    def concrete(batch):
        RANDOM.set_state(state)
        specs = [tf.TensorSpec([batch if n is None else n for n in f["shape"]], f["dtype"], name=f["name"]) for f in feeds]
        return tf.function(call).get_concrete_function(*specs)

    frozen = convert_variables_to_constants_v2(concrete(None), lower_control_flow=name not in FUNCTIONAL)
    definition = frozen.graph.as_graph_def()
    path.write_bytes(definition.SerializeToString())
    single = concrete(1).graph
    spec = {"feeds": [{**f, "name": x.name} for f, x in zip(feeds, frozen.inputs)], "fetches": [y.name for y in frozen.outputs], "onnx": False,
            "multiply_adds": multiply_adds(single) + sum(TURNS[name] * multiply_adds(body) for body in loops(single)),
            "weight_bytes": sum(tf.make_ndarray(n.attr["value"].tensor).nbytes for n in definition.node
                                if n.op == "Const" and n.attr["dtype"].type == tf.float32.as_datatype_enum)}
    path.with_suffix(".json").write_text(json.dumps(spec))


def main():
    if sys.argv[1:] == ["--list"]:
        print(*NETS)
        return
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
