"""Functions make as many nodes as TensorFlow 1.15 does: the seeds of random ops
are the numbers of the nodes before them, so a program gets the same numbers as
there only if the numbers of nodes agree. Recorded with TensorFlow 1.15.5."""
import os

import numpy
import pytest

import headrace as tf


def x(*shape):
    return tf.placeholder(tf.float32, shape)


def i32(*shape):
    return tf.placeholder(tf.int32, shape)


def i64(*shape):
    return tf.placeholder(tf.int64, shape)


def b(*shape):
    return tf.placeholder(tf.bool, shape)


def v(*shape):
    return tf.get_variable("v%d" % len(tf.global_variables()), shape)


def loss():
    return tf.reduce_sum(tf.square(v(2)))


def mini(optimizer):
    return optimizer.minimize(loss())


def cells():
    return R.LSTMCell(4)


# What the expressions of numbers_of_nodes.tsv use.
C, I, L, M, N = (tf.contrib.layers, tf.image, tf.layers, tf.metrics,  # noqa: E741
                 tf.nn)
Q, R, S, T = tf.contrib.seq2seq, tf.nn.rnn_cell, tf.losses, tf.train
np = numpy
CELL = tf.nn.rnn_cell
K = tf.keras.layers
CONTRIB = tf.contrib.layers
CASES = [
    (23, lambda: tf.layers.conv1d(x(2, 8, 3), 4, 3)),
    (18, lambda: tf.layers.conv2d(x(2, 8, 8, 3), 4, 3, 2, "same")),
    (18, lambda: tf.layers.conv2d(x(2, 3, 8, 8), 4, 3, data_format="channels_first")),
    (18, lambda: tf.layers.conv3d(x(2, 8, 8, 8, 3), 4, 3)),
    (30, lambda: tf.layers.separable_conv2d(x(2, 8, 8, 3), 4, 3)),
    (37, lambda: tf.layers.separable_conv1d(x(2, 8, 3), 4, 3)),
    (44, lambda: tf.layers.conv2d_transpose(x(2, 8, 8, 3), 4, 3, 2)),
    (40, lambda: tf.layers.conv2d_transpose(x(None, 8, 8, 3), 4, 3, 2, "same")),
    (48, lambda: tf.layers.conv3d_transpose(x(2, 8, 8, 8, 3), 4, 3, 2)),
    (8, lambda: tf.nn.convolution(x(2, 8, 3), tf.ones([3, 3, 4]), "SAME")),
    (3, lambda: tf.nn.convolution(x(2, 8, 8, 3), tf.ones([3, 3, 3, 4]), "SAME")),
    (8, lambda: tf.nn.conv1d(x(2, 8, 3), tf.ones([3, 3, 4]), 1, "SAME")),
    (5, lambda: tf.nn.depthwise_conv2d(x(2, 8, 8, 3), tf.ones([3, 3, 3, 2]), [1, 1, 1,
        1], "SAME")),
    (7, lambda: tf.nn.separable_conv2d(x(2, 8, 8, 3), tf.ones([3, 3, 3, 2]), tf.ones([1,
        1, 6, 4]), [1, 1, 1, 1], "SAME")),
    (2, lambda: tf.layers.max_pooling2d(x(2, 8, 8, 3), 2, 2)),
    (3, lambda: tf.nn.pool(x(2, 8, 8, 3), [2, 2], "MAX", "SAME")),
    (31, lambda: tf.layers.batch_normalization(x(2, 8, 8, 3), training=True)),
    (74, lambda: tf.layers.batch_normalization(x(2, 3), training=tf.placeholder("bool", []))),
    (25, lambda: tf.layers.batch_normalization(x(2, 3))),
    (19, lambda: tf.layers.batch_normalization(x(2, 8, 8, 3))),
    (16, lambda: CONTRIB.batch_norm(x(2, 8, 8, 3), is_training=False)),
    (27, lambda: tf.keras.layers.BatchNormalization()(x(2, 8, 8, 3), training=False)),
    (17, lambda: tf.layers.dropout(x(2, 3), training=True)),
    (26, lambda: tf.layers.dropout(x(2, 3), training=tf.placeholder("bool", []))),
    (41, lambda: tf.layers.dense(x(None, 2, 3), 4)),
    (9, lambda: tf.layers.flatten(x(None, 2, 3))),
    (41, lambda: CONTRIB.fully_connected(x(None, 3), 4, normalizer_fn=CONTRIB.batch_norm)),
    (22, lambda: CONTRIB.conv2d(x(None, 8, 8, 3), 4, 3,
        weights_regularizer=CONTRIB.l2_regularizer(.1))),
    (31, lambda: CONTRIB.batch_norm(x(None, 8, 8, 3), is_training=True, scale=True)),
    (20, lambda: CONTRIB.separable_conv2d(x(None, 8, 8, 3), None, 3, 1)),
    (41, lambda: CONTRIB.conv2d_transpose(x(None, 8, 8, 3), 4, 3, 2)),
    (17, lambda: CONTRIB.dropout(x(None, 3))),
    (9, lambda: CONTRIB.flatten(x(None, 2, 3))),
    (2, lambda: CONTRIB.max_pool2d(x(None, 8, 8, 3), 2)),
    (23, lambda: CONTRIB.layer_norm(x(None, 3))),
    (7, lambda: CONTRIB.one_hot_encoding(tf.placeholder("int64", [4]), 3)),
    (17, lambda: tf.nn.dropout(x(4), 0.3)),
    (19, lambda: tf.nn.dropout(x(4), x())),
    (9, lambda: tf.nn.moments(x(4, 3), [0])),
    (8, lambda: tf.nn.embedding_lookup(tf.Variable(tf.zeros([4, 3])),
        tf.placeholder("int32", [3]))),
    (119, lambda: tf.nn.nce_loss(tf.Variable(tf.zeros([9, 3])),
        tf.Variable(tf.zeros([9])), tf.placeholder("int64", [5, 1]), x(5, 3), 4, 9)),
    (150, lambda: tf.nn.sampled_softmax_loss(tf.Variable(tf.zeros([9, 3])),
        tf.Variable(tf.zeros([9])), tf.placeholder("int64", [5, 1]), x(5, 3), 4, 9)),
    (4, lambda:
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.placeholder("int64",
        [5]), logits=x(5, 3))),
    (34, lambda: tf.nn.softmax_cross_entropy_with_logits(labels=x(5, 3), logits=x(5, 3))),
    (33, lambda: tf.nn.softmax_cross_entropy_with_logits_v2(labels=x(None, 3),
        logits=x(None, 3))),
    (65, lambda: tf.losses.softmax_cross_entropy(x(5, 3), x(5, 3))),
    (34, lambda: tf.losses.mean_squared_error(x(5, 3), x(5, 3))),
    (12, lambda: tf.nn.sigmoid_cross_entropy_with_logits(labels=x(5, 3), logits=x(5, 3))),
    (160, lambda: tf.nn.dynamic_rnn(CELL.LSTMCell(4), x(None, 6, 3), dtype=tf.float32)),
    (271, lambda:
        tf.nn.dynamic_rnn(CELL.MultiRNNCell([CELL.DropoutWrapper(CELL.BasicLSTMCell(4),
        output_keep_prob=.5) for _ in range(2)]), x(5, 6, 3),
        sequence_length=tf.placeholder("int32", [5]), dtype=tf.float32)),
    (325, lambda: tf.nn.bidirectional_dynamic_rnn(CELL.GRUCell(4), CELL.GRUCell(4),
        x(None, 6, 3), dtype=tf.float32)),
    (39, lambda: tf.nn.static_rnn(CELL.BasicRNNCell(4), tf.unstack(x(5, 3, 3), axis=1),
        dtype=tf.float32)),
    (24, lambda: tf.metrics.accuracy(tf.placeholder("int64", [5]),
        tf.placeholder("int64", [5]))),
    (35, lambda: tf.train.ExponentialMovingAverage(.9).apply([tf.Variable(1.)])),
    (13, lambda: tf.train.exponential_decay(.1, tf.train.get_or_create_global_step(),
        10, .9, True)),
    (20, lambda: tf.image.random_flip_left_right(x(8, 8, 3))),
    (19, lambda: tf.random_crop(x(8, 8, 3), [4, 4, 3])),
    (6, lambda: tf.image.resize_images(x(8, 8, 3), [4, 4])),
    (3, lambda: tf.multinomial(x(2, 3), 2)),
    (5, lambda: tf.image.central_crop(x(8, 8, 3), .5)),
    (8, lambda: tf.image.crop_to_bounding_box(x(8, 8, 3), 1, 1, 4, 4)),
    (9, lambda: tf.image.pad_to_bounding_box(x(8, 8, 3), 1, 1, 12, 12)),
    (15, lambda: tf.image.resize_image_with_crop_or_pad(x(8, 8, 3), 6, 6)),
    (15, lambda: tf.image.resize_image_with_crop_or_pad(x(8, 8, 3), 12, 12)),
    (4, lambda: tf.image.adjust_brightness(x(8, 8, 3), .1)),
    (4, lambda: tf.image.adjust_contrast(x(8, 8, 3), .1)),
    (4, lambda: tf.image.adjust_saturation(x(8, 8, 3), .1)),
    (4, lambda: tf.image.adjust_hue(x(8, 8, 3), .1)),
    (10, lambda: tf.image.random_hue(x(8, 8, 3), .1)),
    (10, lambda: tf.image.random_saturation(x(8, 8, 3), .1, .3)),
    (17, lambda: tf.image.rgb_to_grayscale(x(8, 8, 3))),
    (4, lambda: tf.image.transpose_image(x(8, 8, 3))),
    (4, lambda: tf.image.convert_image_dtype(tf.placeholder("uint8", [8, 8, 3]), tf.float32)),
    (4, lambda: tf.image.convert_image_dtype(x(8, 8, 3), tf.uint8)),
    (27, lambda: tf.image.random_flip_left_right(x(4, 8, 8, 3))),
    (6, lambda: tf.image.resize_images(x(None, None, 3), [4, 4])),
    (6, lambda: tf.image.resize_images(x(8, 8, 3), tf.placeholder("int32", [2]))),
    (26, lambda: tf.image.total_variation(x(8, 8, 3))),
    (19, lambda: tf.image.random_brightness(tf.placeholder("uint8", [8, 8, 3]), .1)),
    (5, lambda: tf.custom_gradient(
        lambda a: (a, lambda d: d))(tf.custom_gradient(
            lambda a: (a, lambda d: d))(x(2)))),
    (25, lambda: tf.clip_by_global_norm([x(2), x(2)], 1.)),
    (15, lambda: tf.train.range_input_producer(5)),
    (18, lambda: tf.train.shuffle_batch([tf.constant(1.)], 2, 20, 5)),
]


@pytest.mark.parametrize("count, make", CASES)
def test_numbers_of_nodes(count, make):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        make()
        assert len(graph.get_operations()) == count, [
            op.name for op in graph.get_operations()]


def table():
    """Lines of a number and an expression."""
    path = os.path.join(os.path.dirname(__file__), "numbers_of_nodes.tsv")
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


@pytest.mark.parametrize("count, expression", table())
def test_numbers_of_nodes_of_expressions(count, expression):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        eval(expression)
        assert len(graph.get_operations()) == int(count), [
            op.name for op in graph.get_operations()]


def names(make):
    with tf.Graph().as_default() as graph:
        make()
        return [op.name for op in graph.get_operations()]


def test_names_of_examples():
    features = {"b": tf.FixedLenFeature([2], tf.float32),
                "a": tf.FixedLenFeature([], tf.int64, 3),
                "c/d": tf.FixedLenFeature([], tf.string, "")}
    nodes = ["key_a", "Reshape/shape", "Reshape", "Const", "key_c/d",
             "Reshape_1/shape", "Reshape_1"]
    keys = ["names", "dense_keys_0", "dense_keys_1", "dense_keys_2"]
    for prefix, parse, more in [
            ("ParseSingleExample/", tf.parse_single_example, []),
            ("ParseExample/", tf.parse_example, ["ParseExample/" + k for k in keys])]:
        found = names(lambda parse=parse: parse(tf.placeholder(tf.string), features))
        assert found[1:] == [prefix + n for n in nodes + more + [prefix[:-1]]]


def test_names_of_fills_and_of_one_joined():
    assert names(lambda: tf.ones(1)) == ["ones/shape_as_tensor", "ones/Const", "ones"]
    assert names(lambda: tf.ones([1])) == ["ones"]
    assert names(lambda: tf.concat([x(2)], 0))[1:] == ["concat/concat_dim", "concat/concat"]


def test_names_of_a_state_with_another_value():
    state = tf.contrib.seq2seq.AttentionWrapperState
    found = names(lambda: state(x(None, 2), (), (), (), (), ()).clone(
        cell_state=tf.placeholder(tf.float32, [None, 2], name="new")))
    scope = "new/assert_shape/"
    assert found[2:] == ["new/expected_shape", scope + "actual"] + [
        scope + "is_shape/" + n for n in (
            "Size", "is_rank/actual", "is_rank", "shape_tensor_equal/Equal/y",
            "shape_tensor_equal/Equal", "shape_tensor_equal/equal_1",
            "shape_tensor_equal/exclude_partial_shape", "shape_tensor_equal/Const",
            "shape_tensor_equal")] + [
        scope + n for n in ("is_shape", "Const", "Assert/data_0", "Assert")] + [
            "new/Identity"]
