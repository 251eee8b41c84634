"""Random graphs, each from a seed, run with all graph passes and without any.

A graph is made of constructs: functions that put a few ops behind a value. To
add a pattern, write one and give it @construct; to add an op of one argument,
add a line to a table. Optional parts (bias, batch normalization, residual,
activation) are left out as often as not, and constructs that keep a shape also
stand in the bodies of loops, conditionals and functions.

check() runs a graph in float32 and compares it with the same graph in float64
with the passes off; graphs of integers must agree in every bit. A loop can make
much of little: before floats count as wrong, the float64 graph runs once more
with noise as float32's rounding makes it, and errors of the size that this
causes are let pass.

`python tests/python/random_graphs.py --help` says how to search for longer.
"""
import argparse
import random
import sys
import time
import traceback
import typing

import numpy as np

import headrace as tf

ACTIVATIONS = {
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "elu": tf.nn.elu,
    "leaky_relu": tf.nn.leaky_relu,
    "tanh": tf.tanh,
    "sigmoid": tf.sigmoid,
    "selu": tf.nn.selu,
    "softplus": tf.nn.softplus,
    "max_leaky": lambda v: tf.maximum(v, .1 * v),
    "swish": lambda v: v * tf.sigmoid(v),
    "hard_swish": lambda v: v * tf.nn.relu6(v + 3.) * (1 / 6.),
    "gelu": lambda v: .5 * v * (1. + tf.erf(v * .7071067811865475)),
    "gelu_erfc": lambda v: .5 * v * tf.erfc(-v * .7071067811865475),
    "gelu_tanh": lambda v: v * (.5 * (1. + tf.tanh(
        .7978845608028654 * (v + .044715 * tf.pow(v, 3.))))),
    "mish": lambda v: v * tf.tanh(tf.nn.softplus(v)),
}
UNARY = {
    **ACTIVATIONS,
    "abs": tf.abs,
    "negative": tf.negative,
    "exp": lambda v: tf.exp(-tf.abs(v)),
    "log1p": lambda v: tf.log1p(tf.abs(v)),
    "sqrt": lambda v: tf.sqrt(tf.abs(v) + 1.),
    "rsqrt": lambda v: tf.rsqrt(v * v + 1.),
    "reciprocal": lambda v: 1. / (1. + tf.abs(v)),
    "sin": tf.sin,
    "softsign": tf.nn.softsign,
    "subtract": lambda v: v - 1.5,
    "subtract_from": lambda v: 2. - v,
    "clip": lambda v: tf.clip_by_value(v, -1., 1.),
    "where": lambda v: tf.where(v > 0., v * .5, tf.zeros_like(v)),
    "nothing": lambda v: (v + 0.) * 1. - 0.,
}
INTEGER_UNARY = {
    "abs": tf.abs,
    "negative": tf.negative,
    "square": tf.square,
    "sign": tf.sign,
    "relu": tf.nn.relu,
    "floordiv": lambda v: v // 3,
    "mod": lambda v: v % 7,
    "subtract_from": lambda v: 5 - v,
    "clip": lambda v: tf.clip_by_value(v, -2, 9),
    "where": lambda v: tf.where(v > 1, v, -v),
    "nothing": lambda v: (v + 0) * 1 - 0,
}
BINARY = {"add": tf.add, "subtract": tf.subtract, "maximum": tf.maximum,
          "minimum": tf.minimum}
UNCHANGED = {
    "identity": tf.identity,
    "stop_gradient": tf.stop_gradient,
    "reshape": lambda v: tf.reshape(v, tf.shape(v)),
    "squeeze": lambda v: tf.squeeze(tf.expand_dims(v, 1), [1]),
    "index": lambda v: tf.expand_dims(v, 0)[0],
    "reverse_twice": lambda v: tf.reverse(tf.reverse(v, [0]), [0]),
}



def causal(scores):
    """1 where a key is not after the query."""
    sizes = [tf.shape(scores)[i] for i in (1, 2)]
    seen = tf.range(sizes[0])[:, None] >= tf.range(sizes[1])
    return tf.reshape(tf.cast(seen, scores.dtype), [1, *sizes])


def some_keys(scores):
    """True for the first key, and for some of the others."""
    return tf.equal(tf.range(tf.shape(scores)[2]) % 3, 0)


# Of the scores of a batch of queries with keys.
MASKS = {
    "added": lambda s: s + (1. - tf.cast(some_keys(s), s.dtype)) * -1e4,
    "weighted": lambda s: s * causal(s) - 1e4 * (1. - causal(s)),
    "band": lambda s: s - 1e4 * (1. - tf.matrix_band_part(
        tf.ones_like(s), -1, 0)),
    "where": lambda s: tf.where(tf.matrix_band_part(tf.ones(
        tf.shape(s), s.dtype), -1, 0) > 0., s, tf.ones_like(s) * -1e4),
    "where_not": lambda s: tf.where(
        tf.equal(tf.zeros(tf.shape(s), s.dtype) + causal(s), 0.),
        tf.fill(tf.shape(s), tf.constant(-1e4, s.dtype)), s),
    "where_repeated": lambda s: tf.where_v2(some_keys(s), s, tf.constant(
        -1e4, s.dtype)),
    "scaled": lambda s: (s + causal(s)) * .5,
    "divided": lambda s: s / tf.cast(tf.shape(s)[0] + 1, s.dtype),
}


class Construct(typing.NamedTuple):
    function: typing.Callable  # of a Builder and a tensor, to one or a list
    takes: str  # "images" (rank 4), "rows" (rank 2) or "any" of the two
    keeps: bool  # the result has the shape of the argument
    integers: bool  # are taken too
    nests: bool  # it has a body of other constructs


CONSTRUCTS = []


def construct(takes, keeps=False, integers=False, nests=False, weight=1):
    """What is written below becomes a Construct; `weight`: how often it is
    chosen."""
    def add(function):
        CONSTRUCTS.extend(
            [Construct(function, takes, keeps, integers, nests)] * weight)
        return function
    return add


def changed(array, noise):
    """Each number by another share, of about `noise`."""
    shares = np.random.RandomState(array.size).standard_normal(array.shape)
    return (array * (1 + noise * shares)).astype(array.dtype)


class Builder:
    """A graph of `dtype`: a seed makes the same choices for each type. `noise`:
    how much its numbers are changed and its products are off, relatively.

    `values` are the tensors that constructs go on from and that may be fetched
    or fed; those of one family have the same shape in every run. `trace` says
    what the graph is made of."""

    def __init__(self, seed, dtype, noise=0.):
        self.random = random.Random(seed)
        self.numbers = np.random.RandomState(seed % 2**32)
        self.dtype = dtype
        self.noise = noise
        self.trace = []
        self.values = []
        self.depth = 0
        self._families = {}
        self.graph = tf.Graph()
        with self.graph.as_default():
            self._input()
            for _ in range(self.random.randint(2, 9)):
                recent = self.maybe(.65)
                value = self.values[-1] if recent else self.choice(self.values)
                result = self._apply(value)
                for t in result if isinstance(result, list) else [result]:
                    self.add(t)
            self.init = tf.global_variables_initializer()

    def _input(self):
        self.format = self.choice(["NHWC", "NHWC", "NHWC", "NCHW"])
        self.has_variables = self.maybe(.15)
        self.batch = self.choice([None, None, 1, 2])
        channels = self.choice([1, 3, 4, 8, 13, 16, 24, 32])
        size = [self.choice([5, 7, 8, 12, 16, 21]) for _ in range(2)]
        # Graphs with loops have no arena, nor have small tensors.
        self.nesting = self.choice([0, 0, 1, 2])
        if self.maybe(.02 if self.nesting else .4):
            channels, size = self.choice([16, 24, 32]), [40, 41]
        self.sizes_vary = self.maybe()
        if self.dtype.is_integer or self.maybe(.25):
            self.sizes_vary, self.shape = False, [self.batch, channels]
        else:
            self.shape = self.order([self.batch, *size, channels])
        static = [None if self.sizes_vary and i in self.spatial() else d
                  for i, d in enumerate(self.shape)]
        self.add(tf.placeholder(self.dtype, static, name="x"))

    def _apply(self, value, only_keeping=False):
        kind = "rows" if len(value.shape) == 2 else "images"
        chosen = self.choice([
            c for c in CONSTRUCTS
            if c.takes in (kind, "any") and (c.keeps or not only_keeping) and
            (c.integers or not self.dtype.is_integer) and
            (self.depth < self.nesting or not c.nests)])
        self.trace.append(chosen.function.__name__)
        result = chosen.function(self, value)
        if chosen.keeps:
            self.same_shape(result, value)
        return result

    def body(self, value):
        """Some constructs behind `value`, for what has a body."""
        self.depth += 1
        self.trace.append("[")
        for _ in range(self.random.randint(1, 3)):
            value = self._apply(value, only_keeping=True)
        self.trace.append("]")
        self.depth -= 1
        return value

    def add(self, tensor):
        """Makes a tensor one of the values, outside of bodies."""
        self._family(tensor)
        if self.depth == 0 and tensor not in self.values:
            self.values.append(tensor)

    def _family(self, tensor):
        return self._families.setdefault(tensor, tensor)

    def same_shape(self, tensor, other):
        tensor.set_shape(other.shape)
        self._families[tensor] = self._family(other)
        return tensor

    def relative(self, tensor):
        """A value that has the shape of `tensor`, perhaps itself."""
        family = self._family(tensor)
        return self.choice([tensor] + [v for v in self.values
                                       if self._families[v] is family])

    def choice(self, of):
        return self.random.choice(list(of))

    def maybe(self, probability=.5):
        return self.random.random() < probability

    def table(self, table):
        """One of a table's functions."""
        name = self.choice(table)
        self.trace.append(name)
        return table[name]

    def array(self, *shape):
        if self.dtype.is_integer:
            return self.numbers.randint(-5, 6, shape)
        array = self.numbers.standard_normal(shape).astype(np.float32)
        return changed(array, self.noise) if self.noise else array

    def constant(self, array):
        return tf.constant(array.astype(self.dtype.as_numpy_dtype))

    def weights(self, *shape, terms=None):
        """Of a product of so many terms, which keeps magnitudes; in some graphs
        a variable."""
        array = self.array(*shape)
        if not self.dtype.is_integer:
            array /= np.sqrt(terms or np.prod(shape[:-1]))
        if self.has_variables and self.depth == 0 and self.maybe(.4):
            return tf.Variable(array.astype(self.dtype.as_numpy_dtype))
        return self.constant(array)

    def product(self, y):
        """For each result of many terms: an error is as large everywhere."""
        if not self.noise:
            return y
        errors = tf.random_normal(tf.shape(y), dtype=self.dtype)
        return y + self.noise * tf.reduce_max(tf.abs(y)) * errors

    def order(self, nhwc):
        """A list for batch, height, width and channels in the graph's order."""
        n, h, w, c = nhwc
        return [n, h, w, c] if self.format == "NHWC" else [n, c, h, w]

    def axis(self, tensor):
        """That of the channels."""
        return 1 if self.format == "NCHW" else len(tensor.shape) - 1

    def spatial(self):
        return [1, 2] if self.format == "NHWC" else [2, 3]

    def sequence(self, tensor):
        """Its rows: rank 3, whatever its own."""
        shape = tf.shape(tensor)
        if len(tensor.shape) == 2:
            return tf.expand_dims(tensor, 0)
        return tf.reshape(tensor, [shape[0], -1, shape[len(tensor.shape) - 1]])

    def channels(self, tensor):
        return tensor.shape.as_list()[self.axis(tensor)]

    def per_channel(self, tensor, array):
        """An array of one number a channel in a shape that broadcasts."""
        shape = [1] * len(tensor.shape)
        shape[self.axis(tensor)] = -1
        if shape[-1] == -1 and self.maybe():
            shape = [-1]
        return self.constant(array.reshape(shape))

    def padding(self, tensor, size):
        """VALID only where that leaves something of every input."""
        known = tensor.shape.as_list()
        fits = all(known[i] and known[i] >= size for i in self.spatial())
        return self.choice(["SAME", "VALID"]) if fits else "SAME"


def bias(b, y):
    array = b.array(b.channels(y))
    how = b.choice(["bias_add", "add", "add_to"])
    b.trace.append("+" + how)
    if how == "bias_add":
        data_format = b.format if len(y.shape) == 4 else None
        return tf.nn.bias_add(y, b.constant(array), data_format=data_format)
    array = b.per_channel(y, array)
    return y + array if how == "add" else array + y


def batch_norm(b, y):
    c = b.channels(y)
    scale, offset, mean = b.array(c), b.array(c), b.array(c)
    variance = np.abs(b.array(c)) + np.float32(.3)
    names = ["affine", "batch_normalization", "fused_batch_norm"]
    how = b.choice(names if len(y.shape) == 4 else names[:2])
    b.trace.append("+" + how)
    if how == "fused_batch_norm":  # has no float64
        y = tf.raw_ops.FusedBatchNorm(
            x=tf.cast(y, tf.float32), scale=scale, offset=offset, mean=mean,
            variance=variance, is_training=False, data_format=b.format,
            epsilon=1e-3)[0]
        return tf.cast(y, b.dtype)
    if how == "batch_normalization":
        arrays = [b.per_channel(y, a) for a in (mean, variance, offset, scale)]
        return tf.nn.batch_normalization(y, *arrays, 1e-3)
    return y * b.per_channel(y, scale) + b.per_channel(y, offset)


def rest_of_layer(b, y, skip=None):
    """What may follow a product, each part or not; what is between the parts
    is sometimes read by others too."""
    def residual(b, y):
        b.trace.append("+residual")
        return y + skip if b.maybe() else skip + y

    def activation(b, y):
        b.trace.append("+")
        return b.table(ACTIVATIONS)(y)

    for part, probability in ((bias, .5), (batch_norm, .2), (residual, .3),
                              (activation, .6)):
        if not b.maybe(probability) or (part is residual and skip is None):
            continue
        if b.maybe(.1):
            b.add(y)
        y = part(b, y)
    return y


def convolve(b, t, out, size=None, stride=1, padding="SAME", dilation=1):
    height = size or b.choice([1, 1, 3, 3, 3, 5, 2, 7])
    width = size or b.choice([height, height, height, 1, 3])
    filters = b.weights(height, width, b.channels(t), out)
    return b.product(tf.nn.conv2d(
        t, filters, strides=b.order([1, stride, stride, 1]), padding=padding,
        data_format=b.format, dilations=b.order([1, dilation, dilation, 1])))


def depthwise(b, t, size=3, multiplier=1, stride=1, padding="SAME"):
    filters = b.weights(size, size, b.channels(t), multiplier,
                        terms=size * size)
    return b.product(tf.nn.depthwise_conv2d(
        t, filters, strides=b.order([1, stride, stride, 1]), padding=padding,
        data_format=b.format))


def pad_around(b, t, before, after):
    return tf.pad(t, b.order([[0, 0], before, after, [0, 0]]))


def narrow(b, t):
    """Too many channels are cut off, so that graphs stay small."""
    if b.channels(t) <= 96:
        return t
    return tf.split(t, [64, b.channels(t) - 64], b.axis(t))[0]


@construct("images", weight=4)
def conv(b, t):
    stride = b.choice([1, 1, 2, 3])
    dilation = b.choice([1, 1, 1, 2]) if stride == 1 else 1
    y = convolve(b, t, b.choice([1, 4, 8, 16, 17, 24, 32]), stride=stride,
                 padding=b.padding(t, 14), dilation=dilation)
    return rest_of_layer(b, y)


@construct("images", weight=2)
def conv_groups(b, t):
    """In groups, as an attribute or spelled as parts of the image."""
    channels = b.channels(t)
    groups = b.choice([g for g in (2, 3, 4, 8, 16) if channels % g == 0] or [1])
    size, stride = b.choice([1, 3, 3, 5]), b.choice([1, 1, 2])
    out = b.choice([1, 2, 4, 8, channels // groups])
    padding = b.padding(t, size)

    def layer(part, out):
        filters = b.weights(size, size, channels // groups, out)
        return b.product(tf.nn.conv2d(
            part, filters, strides=b.order([1, stride, stride, 1]),
            padding=padding, data_format=b.format))

    if b.maybe():
        return rest_of_layer(b, layer(t, out * groups))
    b.trace.append("of parts")
    parts = [layer(part, out) for part in tf.split(t, groups, b.axis(t))]
    if b.maybe():
        parts = [bias(b, part) for part in parts]
    if b.maybe():
        parts = [tf.nn.relu(part) for part in parts]
    return rest_of_layer(b, tf.concat(parts, b.axis(t)))


@construct("images", keeps=True, weight=7)
def conv_same(b, t):
    return rest_of_layer(b, convolve(b, t, b.channels(t)), skip=t)


def fake_quant(b, t):
    """Steps of 8 bits; the op takes float alone."""
    low, high = b.choice([(0., 6.), (-2., 2.), (-1.5, 2.5)])
    settings = {"narrow_range": b.maybe()}
    t = tf.cast(t, tf.float32)
    if b.maybe():
        t = tf.fake_quant_with_min_max_vars(t, low, high, **settings)
    else:
        t = tf.fake_quant_with_min_max_args(t, low, high, **settings)
    return tf.cast(t, b.dtype)


@construct("images")
def conv_of_steps(b, t):
    """Where a value lies between two steps, an error in the last bit is one of
    a whole step. So what comes out counts little."""
    size, out = b.choice([1, 1, 3]), b.choice([4, 16, 33])
    filters = b.weights(size, size, b.channels(t), out)
    y = b.product(tf.nn.conv2d(
        fake_quant(b, t), fake_quant(b, filters), padding=b.padding(t, size),
        strides=b.order([1, 1, 1, 1]), data_format=b.format))
    y = rest_of_layer(b, y)
    if b.maybe():
        y = fake_quant(b, y)
    return .05 * y + b.per_channel(y, b.array(b.channels(y)))


@construct("images", keeps=True)
def conv_padded(b, t):
    y = pad_around(b, t, [1, 1], [1, 1])
    y = convolve(b, y, b.channels(t), size=3, padding="VALID")
    return rest_of_layer(b, y, skip=t)


@construct("images")
def conv_padded_unevenly(b, t):
    before, after = ([b.random.randint(0, 3) for _ in range(2)]
                     for _ in range(2))
    y = pad_around(b, t, before, after)
    if b.maybe(.2):
        b.add(y)
    return rest_of_layer(b, convolve(b, y, 8, stride=b.choice([1, 2])))


@construct("images", weight=2)
def conv_of_phases(b, t):
    """Cut into phases, convolved and put together."""
    known = t.shape.as_list()
    if b.format == "NCHW" or None in known[1:]:
        return convolve(b, t, 8, size=3)
    blocks = [b.choice([1, 2, 3]) for _ in range(2)]
    size = b.choice([2, 3])
    paddings, crops = [], []
    for block, length in zip(blocks, known[1:3]):
        before = b.random.randint(0, 3)
        after = block * size + -(length + before) % block
        paddings.append([before, after])
        crops.append([b.random.randint(0, before),
                      b.random.randint(0, min(after, block))])
    y = tf.space_to_batch_nd(t, blocks, paddings)
    if b.maybe(.1):
        b.add(y)
    if b.maybe():
        y = depthwise(b, y, size, padding="VALID")
    else:
        y = convolve(b, y, 8, size=size, padding="VALID")
    y = bias(b, y) if b.maybe() else y
    return rest_of_layer(b, tf.batch_to_space_nd(y, blocks, crops))


@construct("rows")
def conv_causal(b, t):
    """Along one dim, padded at its begin."""
    y = tf.reshape(tf.concat([t] * 6, 1), [-1, 6, b.channels(t)])
    rate = b.choice([1, 2, 3])
    y = tf.pad(y, [[0, 0], [2 * rate, 0], [0, 0]])
    y = tf.space_to_batch_nd(y, [rate], [[0, 0]]) if rate > 1 else y
    filters = b.weights(1, 3, b.channels(t), 8)
    y = tf.nn.conv2d(tf.expand_dims(y, 1), filters, strides=[1, 1, 1, 1],
                     padding="VALID")
    y = tf.squeeze(b.product(y), [1])
    y = tf.nn.bias_add(y, b.constant(b.array(8))) if b.maybe() else y
    y = tf.batch_to_space_nd(y, [rate], [[0, 0]]) if rate > 1 else y
    return tf.reduce_mean(y, 1)


@construct("images")
def conv_grouped(b, t):
    groups = b.choice([g for g in (1, 2, 3, 4) if b.channels(t) % g == 0])
    filters = b.weights(3, 3, b.channels(t) // groups, 8 * groups)
    y = tf.nn.conv2d(t, filters, strides=[1, 1, 1, 1], padding="SAME",
                     data_format=b.format)
    return rest_of_layer(b, b.product(y))


@construct("images", keeps=True, weight=2)
def depthwise_same(b, t):
    return rest_of_layer(b, depthwise(b, t, b.choice([1, 3, 5, 7])), skip=t)


@construct("images", weight=2)
def depthwise_any(b, t):
    size, multiplier = b.choice([2, 3]), b.choice([1, 2])
    y = depthwise(b, t, size, multiplier, b.choice([1, 2]),
                  b.padding(t, size))
    return rest_of_layer(b, narrow(b, y))


@construct("images", keeps=True, weight=2)
def separable(b, t):
    y = rest_of_layer(b, depthwise(b, t))
    return rest_of_layer(b, convolve(b, y, b.channels(t), size=1), skip=t)


@construct("images", keeps=True, weight=2)
def bottleneck(b, t):
    y = rest_of_layer(b, convolve(b, t, b.choice([24, 48]), size=1))
    y = rest_of_layer(b, depthwise(b, y))
    return rest_of_layer(b, convolve(b, y, b.channels(t), size=1), skip=t)


@construct("images")
def branches(b, t):
    parts = [rest_of_layer(b, convolve(b, t, b.choice([4, 8, 16]), size=size))
             for size in (1, 3, 5)]
    return tf.concat(parts, b.axis(t))


@construct("images", weight=2)
def pool(b, t):
    size, stride = b.choice([2, 3]), b.choice([1, 2])
    function = b.table({"max": tf.nn.max_pool, "avg": tf.nn.avg_pool})
    return function(t, b.order([1, size, size, 1]),
                    b.order([1, stride, stride, 1]), b.padding(t, size),
                    data_format=b.format)


@construct("images", keeps=True)
def pool_same(b, t):
    function = b.table({"max": tf.nn.max_pool, "avg": tf.nn.avg_pool})
    return function(t, b.order([1, 3, 3, 1]), [1, 1, 1, 1], "SAME",
                    data_format=b.format)


@construct("images")
def pad(b, t):
    return pad_around(b, t, [b.random.randint(0, 2), 1],
                      [0, b.random.randint(0, 2)])


@construct("images")
def crop(b, t):
    t = pad_around(b, t, [1, 0], [1, 0])
    if b.channels(t) == 1 or b.maybe():  # channels may be what is cut
        return t[:, :, ::-1]
    return t[:, 1:, 1:]


@construct("images", keeps=True)
def squeeze_and_excite(b, t):
    y = tf.reduce_mean(t, b.spatial(), keepdims=True)
    if b.maybe():
        y = rest_of_layer(b, convolve(b, y, b.channels(t), size=1))
    return t * tf.sigmoid(y)


@construct("images", keeps=True)
def transposed(b, t):
    swap = b.choice([[0, 2, 1, 3], [0, 3, 1, 2]])
    back = [swap.index(i) for i in range(4)]
    return tf.transpose(b.table(UNARY)(tf.transpose(t, swap)), back)


@construct("images")
def transpose(b, t):
    swap = [0, 2, 1, 3] if b.format == "NHWC" else [0, 1, 3, 2]
    return tf.transpose(t, swap)


@construct("images", weight=2)
def reduce(b, t):
    function = b.table({"mean": tf.reduce_mean, "max": tf.reduce_max})
    y = function(t, b.spatial(), keepdims=b.maybe())
    return tf.reshape(y, [-1, b.channels(t)])


@construct("images", weight=2)
def flatten(b, t):
    sizes = t.shape.as_list()[1:]
    if None in sizes or np.prod(sizes) > 600:
        return tf.reduce_mean(t, b.spatial())
    return tf.reshape(t, [-1, int(np.prod(sizes))])


def multiply(b, t, columns):
    """By a matrix, as it is or transposed."""
    matrix = b.weights(b.channels(t), columns)
    if b.maybe(.3):
        return b.product(tf.matmul(t, tf.transpose(matrix), transpose_b=True))
    return b.product(tf.matmul(t, matrix))


@construct("rows", weight=4)
def dense(b, t):
    return rest_of_layer(b, multiply(b, t, b.choice([1, 5, 16, 33, 64])))


@construct("rows", keeps=True, weight=8)
def dense_same(b, t):
    return rest_of_layer(b, multiply(b, t, b.channels(t)), skip=t)


@construct("rows", weight=2)
def dense_of_more_dims(b, t):
    """As tf.tensordot, tf.einsum and tf.matmul make them."""
    columns = b.choice([5, 32, 70, 130])
    y = tf.stack([t, .5 * t, -t][:b.random.randint(1, 3)], 1)
    matrix = b.weights(b.channels(t), columns)
    y = b.product(b.table({
        "tensordot": lambda y: tf.tensordot(y, matrix, [[2], [0]]),
        "einsum": lambda y: tf.einsum("abc,cd->abd", y, matrix),
        "matmul": lambda y: tf.matmul(y, matrix),
        "transposed": lambda y: tf.matmul(y, tf.transpose(matrix)[None],
                                          transpose_b=True),
    })(y))
    if b.maybe(.6):
        y = tf.nn.bias_add(y, b.constant(b.array(columns)))
    y = b.table(ACTIVATIONS)(y) if b.maybe() else y
    return tf.reduce_sum(y, 1)


@construct("rows", integers=True)
def integer_product(b, t):
    return tf.matmul(t, b.weights(b.channels(t), 6))


@construct("rows", keeps=True)
def norm_of_rows(b, t):
    mean, variance = tf.nn.moments(t, [1], keep_dims=True)
    y = (t - mean) * tf.rsqrt(variance + 1e-2)
    return rest_of_layer(b, y, skip=t)


@construct("rows")
def attention_of_rows(b, t):
    heads = [tf.reshape(rest_of_layer(b, multiply(b, t, 32)), [-1, 4, 8])
             for _ in range(3)]
    scores = b.product(tf.matmul(heads[0], heads[1], transpose_b=True)) * .35
    y = b.product(tf.matmul(tf.nn.softmax(scores), heads[2]))
    return tf.reshape(y, [-1, 32])


@construct("rows", weight=2)
def lstm(b, t):
    """Cells spelled out over three steps, in a loop or one after another."""
    cells = b.choice([1, 4, 8, 31])
    apart = b.maybe(.4)  # as Keras spells it
    pieces = apart and b.maybe(.4)  # and as it does by default: weights are cut in the cell
    if apart:
        matrix, recurrent = b.weights(b.channels(t), 4 * cells), b.weights(cells, 4 * cells)
    else:
        matrix = b.weights(b.channels(t) + cells, 4 * cells)
    offset = b.constant(b.array(4 * cells)) if b.maybe(.8) else None
    forget = b.choice([1., 0., .5])
    gates = b.choice(["ijfo", "ijfo", "ifjo"])
    first, swapped = b.maybe(), b.maybe()
    activation = b.table(ACTIVATIONS) if b.maybe(.3) else tf.tanh
    zeros = tf.zeros_like(t[:, :1]) + tf.zeros([1, cells], b.dtype)
    start = tf.zeros([1, cells], b.dtype) if apart and b.maybe(.3) else zeros

    def cell(x, c, h):
        if apart:
            parts = [tf.split(w, 4, 1) if pieces else [w] for w in (matrix, recurrent)]
            y = [[b.product(tf.matmul(v, part)) for part in w] for v, w in zip([x, h], parts)]
            y = [p + q if first else q + p for p, q in zip(*y)]
            y = tf.concat(y, 1) if pieces else y[0]
        else:
            y = b.product(tf.matmul(tf.concat([x, h] if first else [h, x], 1), matrix))
        y = y if offset is None else tf.nn.bias_add(y, offset)
        y = dict(zip(gates, tf.split(y, 4, 1)))
        kept = c * tf.sigmoid(y["f"] + forget if forget else y["f"])
        new = tf.sigmoid(y["i"]) * activation(y["j"])
        c = new + kept if swapped else kept + new
        return c, activation(c) * tf.sigmoid(y["o"])

    steps = tf.stack([t, t * .5, -t])
    if b.maybe():
        return list(tf.while_loop(
            lambda i, c, h: i < 3,
            lambda i, c, h: (i + 1, *cell(steps[i], c, h)),
            [0, zeros, zeros])[1:])
    c, h = zeros, start
    for x in tf.unstack(steps):
        c, h = cell(x, c, h)
        if b.maybe(.2):
            b.add(h)
    return [c, h]


@construct("any", keeps=True, integers=True, weight=6)
def elementwise(b, t):
    for _ in range(b.random.randint(1, 3)):
        table = INTEGER_UNARY if b.dtype.is_integer else UNARY
        t = b.table(table)(t)
    return t


@construct("any", keeps=True, integers=True, weight=3)
def binary(b, t):
    y = b.table(BINARY)(t, b.relative(t))
    return b.table(ACTIVATIONS)(y) if y.dtype.is_floating and b.maybe() else y


@construct("any", keeps=True)
def gradient(b, t):
    """Of smooth functions: values of the forward step are read twice."""
    names = ["tanh", "sigmoid", "softplus", "swish", "gelu", "gelu_tanh"]
    y = t
    for _ in range(b.random.randint(1, 2)):
        y = b.table({n: ACTIVATIONS[n] for n in names})(y) * (
            t if b.maybe() else b.constant(b.array()))
    return tf.gradients(y, t)[0]


@construct("any", keeps=True, integers=True)
def add_several(b, t):
    return tf.add_n([t, b.relative(t), b.relative(t)])


@construct("any", keeps=True, integers=True, weight=2)
def with_constants(b, t):
    t = t * b.per_channel(t, b.array(b.channels(t)))
    return t + b.constant(b.array()) if b.maybe() else t


@construct("any", keeps=True)
def normalize(b, t):
    return batch_norm(b, t)


@construct("any", keeps=True)
def softmax(b, t):
    def spelled(v):
        e = tf.exp(v - tf.reduce_max(v, -1, keepdims=True))
        return e / tf.reduce_sum(e, -1, keepdims=True)
    return b.table({"softmax": tf.nn.softmax, "spelled": spelled,
                    "log_softmax": tf.nn.log_softmax})(t)


@construct("any", keeps=True, integers=True, weight=2)
def unchanged(b, t):
    return b.table(UNCHANGED)(t)


@construct("any", keeps=True, integers=True)
def cumulative(b, t):
    y = tf.cumsum(t, b.axis(t))
    return y // 4 if b.dtype.is_integer else y * .25


@construct("any", keeps=True, integers=True)
def stacked(b, t):
    first, second = tf.unstack(tf.stack([t, b.relative(t)], 1), 2, axis=1)
    return first + second


@construct("any", keeps=True)
def layer_norm(b, t):
    """Over the last dims; over others it is not fused."""
    axes = b.choice([[-1], [-1], list(range(1, len(t.shape)))])
    size = t.shape.as_list()[-1]
    has_parameters = size is not None and b.maybe(.8)
    scale, offset = (b.constant(b.array(size)) if has_parameters and b.maybe()
                     else None for _ in range(2))
    how = b.choice(["moments", "divided", "products"])
    b.trace.append("+norm_" + how)
    mean = tf.reduce_mean(t, axes, keepdims=True)
    if how == "divided":
        square = tf.square(t - mean)
    else:
        square = tf.squared_difference(t, tf.stop_gradient(mean))
    variance = tf.reduce_mean(square, axes, keepdims=True)
    if b.maybe(.1):
        b.add(t - mean)
    if how == "moments":
        return tf.nn.batch_normalization(t, mean, variance, offset, scale, .01)
    if how == "divided":
        y = (t - mean) / tf.sqrt(variance + .01)
    else:
        y = (t - mean) * tf.rsqrt(variance + .01)
    y = y if scale is None else y * scale
    return y if offset is None else y + offset


@construct("any", keeps=True)
def attention(b, t):
    """Of the rows of a tensor to each other, or to those of another."""
    rows = [b.sequence(v) for v in (t, b.relative(t), b.relative(t))]
    query, key, value = rows
    size = query.shape.as_list()[-1] or 8
    how = b.choice(["matmul", "einsum"])
    b.trace.append("+attention_" + how)
    if how == "einsum":
        scores = tf.raw_ops.Einsum(inputs=[query, key], equation="bth,bsh->bts")
    else:
        scores = tf.matmul(query, key, transpose_b=True)
    scores = b.product(scores) * size ** -.5
    if b.maybe(.3):
        scores = tf.minimum(scores, 5.) + b.constant(b.array(1, 1))
    for _ in range(b.choice([0, 0, 1, 1, 2])):
        scores = b.table(MASKS)(scores)
    share = tf.nn.softmax(scores)
    if b.maybe(.1):
        value += tf.reduce_max(share, [2], keepdims=True)[:, :1]
    if how == "einsum":
        y = tf.raw_ops.Einsum(inputs=[share, value], equation="bts,bsd->btd")
    else:
        y = tf.matmul(share, value)
    return b.same_shape(tf.reshape(b.product(y), tf.shape(t)), t)


@construct("any", keeps=True, integers=True)
def after_another(b, t):
    # A function's ops cannot wait for those around it.
    with tf.control_dependencies([-t if b.depth else b.relative(t)]):
        return tf.identity(t) if b.maybe() else t + t


@construct("any", integers=True)
def concat(b, t):
    return narrow(b, tf.concat([t, b.relative(t)], b.axis(t)))


@construct("any", integers=True)
def split(b, t):
    if b.channels(t) % 2:
        return t[..., ::-1]
    return tf.split(t, 2, b.axis(t))


@construct("any", integers=True)
def gather(b, t):
    columns = [b.random.randrange(b.channels(t)) for _ in range(4)]
    return tf.gather(t, columns, axis=b.axis(t))


@construct("any", integers=True)
def tile(b, t):
    times = [2 if i == b.axis(t) else 1 for i in range(len(t.shape))]
    return narrow(b, tf.tile(t, times))


@construct("any", keeps=True, integers=True, nests=True, weight=5)
def while_loop(b, t):
    return tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, b.body(b.same_shape(v, t))), [0, t])[1]


@construct("any", keeps=True, integers=True, nests=True, weight=3)
def cond(b, t):
    bound = b.choice([-1, 1]) * 10**9
    taken = tf.reduce_sum(tf.cast(t, tf.float64)) < bound
    return tf.cond(taken, lambda: b.body(t), lambda: b.body(t))


@construct("any", keeps=True, integers=True, nests=True, weight=3)
def map_fn(b, t):
    return tf.map_fn(lambda v: b.body(tf.expand_dims(v, 0))[0], t)


@construct("any", keeps=True, integers=True, nests=True)
def scan(b, t):
    return tf.scan(
        lambda v, element: tf.maximum(v, b.body(element[None])[0]), t)


@construct("any", keeps=True, integers=True, nests=True, weight=3)
def defun(b, t):
    @tf.headrace.Defun(b.dtype)
    def function(v):
        v.set_shape(t.shape)
        return b.body(b.same_shape(v, t))
    return function(t)


NOISE = 1e-6


class Mismatch(AssertionError):
    """What differed, with the seed and the constructs."""


def config(passes=True, threads=0):
    proto = tf.ConfigProto(intra_op_parallelism_threads=threads,
                           inter_op_parallelism_threads=threads)
    if not passes:
        proto.graph_options.optimizer_options.opt_level = -1
    return proto


def builders(seed):
    """The graph and its reference."""
    is_integer = random.Random(~seed).random() < .1
    dtype = tf.int32 if is_integer else tf.float32
    reference = tf.int32 if is_integer else tf.float64
    return Builder(seed, dtype), Builder(seed, reference)


def run_with_noise(seed, fetches, feeds):
    """What a graph of floats makes of the arrays at these places."""
    built = Builder(seed, tf.float64, NOISE)
    with tf.Session(graph=built.graph, config=config(passes=False)) as session:
        session.run(built.init)
        return session.run(
            [built.values[i] for i in fetches],
            {built.values[i]: changed(a, NOISE) for i, a in feeds.items()})


def run(session, fetches, feeds):
    """The results, or the error."""
    try:
        return session.run(fetches, feeds)
    except tf.errors.OpError as error:
        return error


def outcome(result):
    return repr(result) if isinstance(result, Exception) else "results"


def same_bits(a, b):
    return len(a) == len(b) and all(
        p.dtype == q.dtype and p.shape == q.shape and
        p.tobytes() == q.tobytes() for p, q in zip(a, b))


class Check:
    """Runs one seed's graph in several sessions; see check()."""

    def __init__(self, seed):
        self.random = random.Random(seed + 1)
        self.numbers = np.random.RandomState((seed + 1) % 2**32)
        self.seed = seed
        self.built, self.reference = builders(seed)
        threads = self.random.sample([0, 1, 2, 3, 5], 2)
        self.session, self.other = (
            tf.Session(graph=self.built.graph, config=config(threads=t))
            for t in threads)
        self.plain = tf.Session(graph=self.reference.graph,
                                config=config(passes=False))
        self.kept = []
        self.where = "building"

    def fail(self, what):
        raise Mismatch("seed %d, %s: %s\nmade of: %s\nagain: python "
                       "tests/python/random_graphs.py 0 %d" % (
                           self.seed, self.where, what,
                           " ".join(self.built.trace), self.seed))

    def run(self):
        with self.session, self.other, self.plain:
            for session, built in ((self.session, self.built),
                                   (self.other, self.built),
                                   (self.plain, self.reference)):
                session.run(built.init)
            cases = [self.case() for _ in range(3)]
            for i, (fetches, feeds, want) in enumerate(cases + cases[:1]):
                self.compare_runs(i, fetches, feeds, want)
        for where, arrays, copies in self.kept:
            self.where = where
            if not same_bits(arrays, copies):
                self.fail("its results changed afterwards")

    def input_shape(self):
        shape = list(self.built.shape)
        if self.built.batch is None:
            shape[0] = self.random.choice([1, 2, 3, 5, 5, 0])
        if self.built.sizes_vary:
            for i in self.built.spatial():
                shape[i] += self.random.randint(-2, 5)
        return shape

    def numbers_of(self, shape):
        if self.built.dtype.is_integer:
            return self.numbers.randint(-9, 10, shape).astype(np.int32)
        return self.numbers.standard_normal(shape).astype(np.float32)

    def case(self):
        """Places of what is fetched, arrays for what is fed, and what the
        reference makes of it."""
        values = self.reference.values
        places = range(1, len(values))
        fetches = self.random.choices(places, k=self.random.randint(0, 3))
        fetches.append(places[-1])
        feeds = {0: self.numbers_of(self.input_shape())}
        if self.random.random() < .2:
            place = self.random.choice(places)
            usual = run(self.plain, values[place], {values[0]: feeds[0]})
            if not isinstance(usual, tf.errors.OpError):
                feeds[place] = self.numbers_of(usual.shape)
        want = run(self.plain, [values[i] for i in fetches],
                   {values[i]: array for i, array in feeds.items()})
        return fetches, feeds, want

    def compare_runs(self, case, fetches, feeds, want):
        values = self.built.values
        tensors = [values[i] for i in fetches]
        first = None
        # From the second run of some shapes on the memory plan is used.
        for name, session in (("first", self.session),
                              ("second", self.session),
                              ("third", self.session),
                              ("other threads'", self.other)):
            self.where = "case %d's %s run of %s with %s fed" % (
                case, name, [t.name for t in tensors],
                {values[i].name: a.shape for i, a in feeds.items()})
            arrays = {i: array.copy() for i, array in feeds.items()}
            got = self.step(session, tensors, {
                values[i]: array for i, array in arrays.items()})
            for i, array in arrays.items():
                if not same_bits([array], [feeds[i]]):
                    self.fail("the array fed as %s was written" %
                              values[i].name)
                array[...] = 77  # no result may be a view of it
            # Of several nodes that fail any may be the first.
            if isinstance(got, Exception) != isinstance(want, Exception):
                self.fail("got %s, want %s" % (outcome(got), outcome(want)))
            if isinstance(got, Exception):
                continue
            self.compare(fetches, feeds, got, want)
            if first is None:
                first = [array.copy() for array in got]
            elif not same_bits(got, first):
                self.fail("the bits are not those of the first run")
            self.kept.append((self.where, got, first))

    def step(self, session, tensors, feeds):
        return run(session, tensors, feeds)

    def compare(self, fetches, feeds, got, want):
        for place, g, w in zip(fetches, got, want):
            t = self.built.values[place]
            if g.dtype != t.dtype.as_numpy_dtype or g.shape != w.shape:
                self.fail("%s is %s %s, want %s" % (t.name, g.dtype, g.shape,
                                                    w.shape))
            if t.dtype.is_integer:
                if not np.array_equal(g, w):
                    self.fail("%s: %s, want %s" % (t.name, g, w))
                continue
            finite = np.isfinite(w)
            if not np.array_equal(np.isfinite(g), finite):
                self.fail("%s is finite elsewhere" % t.name)
            scale = np.abs(w[finite]).max(initial=1)
            error = np.abs(g[finite] - w[finite]).max(initial=0)
            if error > 1e-3 * scale:
                moved, = run_with_noise(self.seed, [place], feeds)
                due = np.abs(moved[finite] - w[finite]).max(initial=0)
                if not error < 10 * due:
                    self.fail("%s (%s) is off by %g, of at most %g; by %g for "
                              "noise of %g" % (t.name, t.op.type, error, scale,
                                               due, NOISE))


def check(seed):
    """Raises Mismatch unless the seed's graph gives the same with all passes
    as in float64 without them: in each of three runs of each of a few choices
    of fetches, fed intermediates and shapes, with every bit of another number
    of threads; leaves fed arrays alone, and results as they were."""
    Check(seed).run()


def search(seconds, seed):
    """Checks seed after seed, at least one; True unless some failed."""
    end, shown, first, failed = time.time() + seconds, 0, seed, []
    while seed == first or time.time() < end:
        try:
            check(seed)
        except Mismatch as mismatch:
            failed.append(seed)
            print(mismatch, flush=True)
        except Exception:
            failed.append(seed)
            print("seed %d could not be checked" % seed, flush=True)
            traceback.print_exc()
        seed += 1
        if time.time() > shown + 10:
            shown = time.time()
            print("%d graphs, next seed %d, %d failed, %d s left" % (
                seed - first, seed, len(failed), max(0, end - shown)),
                flush=True)
    print("%d graphs from seed %d: %s" % (
        seed - first, first, "failed: %s" % failed if failed else "passed"))
    return not failed


def main():
    parser = argparse.ArgumentParser(
        description="Compares random graphs with all graph passes and without "
        "any, and prints the seeds of those that differ.")
    parser.add_argument("seconds", type=float, metavar="SECONDS",
                        help="how long; 0: one graph")
    parser.add_argument("seed", type=int, nargs="?", metavar="SEED",
                        default=int(time.time()),
                        help="the first graph's; the time if not given")
    options = parser.parse_args()
    sys.exit(not search(options.seconds, options.seed))


if __name__ == "__main__":
    main()
