"""tf.examples.tutorials.mnist.mnist: a network of two hidden layers for the
handwritten digits."""
import math

from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.losses.losses import sparse_softmax_cross_entropy
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.training import summary as _summary
from headrace._src.training.optimizers import GradientDescentOptimizer
from headrace._src.variables.variables import Variable

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(scope, inputs, fan_in, units):
    with name_scope(scope):
        weights = Variable(_random.truncated_normal(
            [fan_in, units], stddev=1.0 / math.sqrt(float(fan_in))),
            name="weights")
        biases = Variable(_array.zeros([units]), name="biases")
        outputs = _math.matmul(inputs, weights) + biases
        return outputs if scope == "softmax_linear" else _nn.relu(outputs)


def inference(images, hidden1_units, hidden2_units):
    """The logits [batch, 10] of images [batch, 784].

    All are float32. `hidden1_units` and `hidden2_units`: ints. Variables are in
    the scopes hidden1, hidden2 and softmax_linear. ValueError for images of
    another shape."""
    hidden = _layer("hidden1", images, IMAGE_PIXELS, hidden1_units)
    hidden = _layer("hidden2", hidden, hidden1_units, hidden2_units)
    return _layer("softmax_linear", hidden, hidden2_units, NUM_CLASSES)


def loss(logits, labels):
    """The mean cross entropy of logits [batch, 10] and integers [batch].

    Returns a scalar float32; labels may be int32 or int64. ValueError for
    shapes that do not fit."""
    return sparse_softmax_cross_entropy(
        labels=_math.to_int64(labels), logits=logits)


def training(loss, learning_rate):
    """A step of gradient descent, which counts in `global_step`; the loss gets
    a summary.

    `loss`: a scalar float32. Returns an Operation. ValueError if no variable
    has a gradient."""
    _summary.scalar("loss", loss)
    step = Variable(0, name="global_step", trainable=False)
    return GradientDescentOptimizer(learning_rate).minimize(
        loss, global_step=step)


def evaluation(logits, labels):
    """int32 scalar: how many labels have the largest logit.

    `logits`: float32 [batch, 10]; `labels`: int32 or int64 [batch]. ValueError
    for shapes that do not fit."""
    correct = _nn.in_top_k(logits, labels, 1)
    return _math.reduce_sum(_math.cast(correct, dtypes.int32))
