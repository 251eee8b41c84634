"""A VALID window that reaches beyond its input is refused while the graph is built, as by TensorFlow.

While it runs, where shapes may not have been known before, the output is empty, or, with a window larger than the input
and a stride together, an error."""
import numpy as np
import pytest

import headrace as tf

raw = tf.raw_ops


def conv2d(x, w, stride=1, **attrs):
    return raw.Conv2D(input=x, filter=w, strides=[1, stride, stride, 1], **dict({"padding": "VALID"}, **attrs))


def pool(op, x, rank=4, **args):
    ones = [1] * (rank - 2)
    return op(**args, ksize=[1, 3, *ones], strides=[1, *[2] * (rank - 2), 1], padding="VALID")


NO_PADS = [[0, 0]] * 4
# Of what is made of inputs of these shapes, and what the window needs and gets.
CASES = {
    "conv2d": (conv2d, [(1, 2, 5, 1), (3, 1, 1, 1)], 3, 2),
    "conv2d_of_unknown_batch": (conv2d, [(None, 2, 5, 1), (3, 1, 1, 1)], 3, 2),
    "conv2d_of_unknown_width": (conv2d, [(1, 2, None, 1), (3, 1, 1, 1)], 3, 2),
    "strides": (lambda x, w: conv2d(x, w, 3), [(1, 1, 5, 1), (3, 1, 1, 1)], 3, 1),
    "dilations": (lambda x, w: conv2d(x, w, dilations=[1, 2, 1, 1]), [(1, 4, 5, 1), (3, 1, 1, 1)], 5, 4),
    "nchw": (lambda x, w: conv2d(x, w, data_format="NCHW"), [(1, 1, 2, 5), (3, 1, 1, 1)], 3, 2),
    "explicit_paddings": (
        lambda x, w: conv2d(x, w, 2, padding="EXPLICIT", explicit_paddings=[0, 0, 0, 1, 0, 0, 0, 0]),
        [(1, 1, 5, 1), (3, 1, 1, 1)], 3, 2),
    "depthwise": (
        lambda x, w: raw.DepthwiseConv2dNative(input=x, filter=w, strides=[1, 2, 2, 1], padding="VALID"),
        [(1, 2, 5, 1), (3, 1, 1, 1)], 3, 2),
    "conv3d": (
        lambda x, w: raw.Conv3D(input=x, filter=w, strides=[1, 2, 2, 2, 1], padding="VALID"),
        [(1, 2, 5, 5, 1), (3, 1, 1, 1, 1)], 3, 2),
    "max_pool": (lambda x: pool(raw.MaxPool, x, input=x), [(1, 2, 5, 1)], 3, 2),
    "avg_pool": (lambda x: pool(raw.AvgPool, x, value=x), [(1, 2, 5, 1)], 3, 2),
    "max_pool_3d": (lambda x: pool(raw.MaxPool3D, x, 5, input=x), [(1, 2, 5, 5, 1)], 3, 2),
    "avg_pool_3d": (lambda x: pool(raw.AvgPool3D, x, 5, input=x), [(1, 2, 5, 5, 1)], 3, 2),
    "max_pool_with_argmax": (lambda x: pool(raw.MaxPoolWithArgmax, x, input=x)[0], [(1, 2, 5, 1)], 3, 2),
    "max_pool_v2": (
        lambda x: raw.MaxPoolV2(input=x, ksize=[1, 3, 1, 1], strides=[1, 2, 2, 1], padding="VALID"),
        [(1, 2, 5, 1)], 3, 2),
    "fused_pad_conv2d": (
        lambda x, w: raw.FusedPadConv2D(
            input=x, paddings=NO_PADS, filter=w, mode="REFLECT", strides=[1, 2, 2, 1], padding="VALID"),
        [(1, 2, 5, 1), (3, 1, 1, 1)], 3, 2),
    "fused_resize_and_pad_conv2d": (
        lambda x, w: raw.FusedResizeAndPadConv2D(
            input=x, size=[2, 5], paddings=NO_PADS, filter=w, mode="REFLECT", strides=[1, 2, 2, 1], padding="VALID"),
        [(1, 7, 7, 1), (3, 1, 1, 1)], 3, 2),
}


@pytest.mark.parametrize("name", CASES)
def test_a_window_beyond_its_input_is_refused_when_the_graph_is_built(name):
    make, shapes, window, size = CASES[name]
    with pytest.raises(ValueError, match=f"Negative dimension size caused by subtracting {window} from {size}"):
        make(*[tf.placeholder(tf.float32, shape) for shape in shapes])


def test_quantized_windows():
    x, w = tf.placeholder(tf.quint8, [1, 2, 5, 1]), tf.placeholder(tf.quint8, [3, 1, 1, 1])
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
        raw.QuantizedConv2D(input=x, filter=w, min_input=0., max_input=1., min_filter=0., max_filter=1.,
                            strides=[1, 2, 2, 1], padding="VALID")
    for op in [raw.QuantizedMaxPool, raw.QuantizedAvgPool]:
        with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 3 from 2"):
            op(input=x, min_input=0., max_input=1., ksize=[1, 3, 1, 1], strides=[1, 2, 2, 1], padding="VALID")


# As TensorFlow has it of these: their shape functions do not mind.
def test_windows_of_patches_and_dilations_may_be_empty():
    x = tf.placeholder(tf.float32, [1, 2, 5, 1])
    patches = raw.ExtractImagePatches(
        images=x, ksizes=[1, 3, 1, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
    assert patches.shape.as_list() == [1, 0, 3, 3]
    dilated = raw.Dilation2D(
        input=x, filter=tf.zeros([3, 1, 1]), strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID")
    assert dilated.shape.as_list() == [1, 0, 3, 1]


def fed(make, shapes):
    inputs = [tf.placeholder(tf.float32, None) for _ in shapes]
    with tf.Session() as sess:
        return sess.run(make(*inputs), {x: np.ones(s, np.float32) for x, s in zip(inputs, shapes)})


@pytest.mark.parametrize("name, want", [
    ("conv2d", (0, 5, 1)), ("strides", (0, 2, 1)), ("dilations", (0, 5, 1)), ("depthwise", (0, 3, 1)),
    ("conv3d", (0, 3, 3, 1)), ("max_pool", (0, 3, 1)), ("avg_pool", (0, 3, 1)), ("max_pool_with_argmax", (0, 3, 1)),
    ("max_pool_v2", (0, 3, 1)), ("explicit_paddings", (0, 3, 1))])
@pytest.mark.parametrize("batch", [0, 1])
def test_a_window_beyond_its_input_gives_nothing_when_it_runs(name, want, batch):
    make, (first, *rest), _, _ = CASES[name]
    assert fed(make, [(batch, *first[1:]), *rest]).shape == (batch, *want)


@pytest.mark.parametrize("batch", [0, 1])
def test_a_window_beyond_input_and_stride_is_an_error_when_it_runs(batch):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Computed output size would be negative"):
        fed(conv2d, [(batch, 2, 5, 1), (4, 1, 1, 1)])


def test_an_empty_batch_is_fine():
    assert fed(conv2d, [(0, 5, 5, 1), (3, 3, 1, 2)]).shape == (0, 3, 3, 2)
    x = tf.placeholder(tf.float32, [0, 5, 5, 1])
    assert conv2d(x, tf.zeros([3, 3, 1, 2])).shape.as_list() == [0, 3, 3, 2]
