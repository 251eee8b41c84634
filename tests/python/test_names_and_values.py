"""Names that once were the raw op in the place of TensorFlow's function, with
other arguments or results, and their neighbours: their values in TensorFlow
1.15, as tf1_values.tsv has them."""
import os

import numpy as np
import pytest

import headrace as tf



def _random(*shape):
    return np.float32(np.random.RandomState(0).rand(*shape))


# What the expressions are of.
LOGITS = np.random.RandomState(0).randn(5, 2, 4).astype(np.float32)
VALUES = {
    "np": np, "tf": tf, "L": LOGITS, "X": _random(1, 5, 5, 2),
    "S": _random(2, 20), "X1": _random(1, 6, 2), "X3": _random(1, 3, 3, 3, 1),
    "IMAGE": _random(4, 5, 3), "M": np.float32([[1, -2, 3], [4, 5, -6]]),
    "BYTES": np.uint8(np.random.RandomState(0).randint(0, 255, (4, 5, 3)))}


def table():
    path = os.path.join(os.path.dirname(__file__), "tf1_values.tsv")
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines
                if not line.startswith("#")]


def leaves(x):
    """Tensors and values in the order of the structure."""
    if isinstance(x, (list, tuple)):
        return [leaf for item in x for leaf in leaves(item)]
    if isinstance(x, tf.SparseTensor):
        return [x.indices, x.values, x.dense_shape]
    if isinstance(x, tf.IndexedSlices):
        return [x.indices, x.values]
    return [x]


def parts(value, count):
    """`value` as that many: a tuple has one for each tensor."""
    if count == 1 and not isinstance(value, tuple):
        return [value]
    found = []
    for item in value:
        found += parts(item, 2) if isinstance(item, tuple) else [item]
    return found


@pytest.mark.parametrize("expression, value, types", table())
def test_value(expression, value, types):
    sparse = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [5, 6, 7], [2, 3])
    result = leaves(eval(expression, dict(VALUES, SPARSE=sparse)))
    wanted = parts(eval(value, {"INF": np.inf, "NAN": np.nan}), len(result))
    tensors = [x for x in result if isinstance(x, tf.Tensor)]
    assert [x.dtype.name for x in tensors] == types.split()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        result = [session.run(x) if isinstance(x, tf.Tensor) else x
                  for x in result]
    assert len(result) == len(wanted)
    for got, want in zip(result, wanted):
        if isinstance(got, (np.ndarray, np.generic)) and (
                got.dtype.kind in "fc"):
            np.testing.assert_allclose(got, want, 2e-4, 2e-5)
        else:
            np.testing.assert_array_equal(got, want)


def test_svd_takes_full_matrices_first():
    s, u, v = tf.svd(np.float32([[3, 1], [2, 2], [0, 1]]), True)
    assert [x.shape.as_list() for x in (s, u, v)] == [[2], [3, 3], [2, 2]]
    assert isinstance(tf.svd(np.float32([[1]]), False, False), tf.Tensor)


# What TensorFlow 1.15.5 takes and ignores, its documentation describes.
@pytest.mark.parametrize("build, value", [
    (lambda: tf.matrix_diag([1, 2], k=1), [[0, 1, 0], [0, 0, 2], [0, 0, 0]]),
    (lambda: tf.linalg.diag([1, 2], num_rows=3, num_cols=2, padding_value=9),
     [[1, 9], [9, 2], [9, 9]]),
    (lambda: tf.matrix_diag([[1, 2, 3], [4, 5, 0]], k=(-1, 0)),
     [[1, 0, 0], [4, 2, 0], [0, 5, 3]]),
    (lambda: tf.matrix_diag_part([[1, 2, 3], [4, 5, 6]], k=1), [2, 6]),
    (lambda: tf.linalg.diag_part([[1, 2, 3], [4, 5, 6]], k=(-1, 1),
                                 padding_value=7), [[2, 6], [1, 5], [4, 7]]),
    (lambda: tf.matrix_set_diag([[1, 2, 3], [4, 5, 6]], [8, 9], k=1),
     [[1, 8, 3], [4, 5, 9]])])
def test_diagonals_beside_the_main_one(build, value):
    with tf.Session() as session:
        assert session.run(build()).tolist() == value


# The smallest integer has no negative.
def test_argsort_of_the_smallest_integer():
    with tf.Session() as session:
        assert session.run(tf.argsort(np.int32([3, -2 ** 31, 2]))).tolist() == [
            1, 2, 0]


def test_sort_of_unknown_rank():
    values = np.random.RandomState(1).randn(3, 4, 5).astype(np.float32)
    with tf.Session() as session:
        for axis in (-3, -2, -1, 0, 1, 2):
            for x in (values, tf.placeholder_with_default(values, None)):
                np.testing.assert_array_equal(
                    session.run(tf.sort(x, axis)), np.sort(values, axis))
                np.testing.assert_array_equal(
                    session.run(tf.argsort(x, axis, "DESCENDING")),
                    np.argsort(-values, axis))


def test_ctc_loss_v2_without_room_for_the_labels():
    with tf.Session() as session:
        loss = session.run(tf.nn.ctc_loss_v2(
            [[1, 2, 0], [3, 3, 1]], LOGITS, [2, 3], [5, 3]))
    np.testing.assert_allclose(loss, [3.8039, np.inf], 1e-4)


@pytest.mark.parametrize("build, error, message", [
    (lambda: tf.norm([[3.]], 3, (0, 1)), ValueError, "matrix norm"),
    (lambda: tf.norm([[3.]], "fro"), ValueError, "vector norm"),
    (lambda: tf.norm([[3.]], -1), ValueError, "vector norm"),
    (lambda: tf.norm([[3.]], 1, [1]), ValueError, "'axis' must be None"),
    (lambda: tf.linalg.pinv([1.]), ValueError, "at least 2 dimensions"),
    (lambda: tf.linalg.pinv([[1]]), TypeError, "`float`-like"),
    (lambda: tf.edit_distance(tf.constant([1]), tf.constant([1])), TypeError,
     "Hypothesis must be a SparseTensor"),
    (lambda: tf.sort([1], direction="UP"), ValueError, "ASCENDING"),
    (lambda: tf.sort([1], tf.placeholder(tf.int32, [])), ValueError,
     "constant scalar"),
    (lambda: tf.searchsorted([1], [1], "middle"), ValueError, "middle"),
    (lambda: tf.arg_max([[1]]), TypeError, "dimension"),
    (lambda: tf.nn.conv3d_transpose(), TypeError, "value"),
    (lambda: tf.string_split(["a"], "-", True, "+"), ValueError,
     "Cannot specify both"),
    (lambda: tf.strings.unicode_encode(72, "UTF-8"), ValueError,
     "must be at least 1"),
    (lambda: tf.strings.unicode_encode(
        tf.placeholder(tf.int32), "UTF-8"), ValueError, "statically known"),
    (lambda: tf.strings.unicode_decode(tf.placeholder(tf.string), "UTF-8"),
     ValueError, "statically known"),
    (lambda: tf.nn.ctc_loss_v2(tf.SparseTensor([[0, 0]], [1], [2, 3]), LOGITS,
                               None, [5, 5]), ValueError, "blank_index"),
    (lambda: tf.confusion_matrix([1, 1, 1], [2, 2]), ValueError, "3 and 2"),
    (lambda: tf.space_to_batch(np.ones([1, 2, 2, 1]), [[0, 0], [0, 0]], 2,
                               block_shape=2), ValueError, "Cannot specify"),
    (lambda: tf.initializers.identity()([2]), ValueError, "2D matrices"),
    (lambda: tf.argmax([1], 0, dimension=0), ValueError,
     "both 'dimension' and 'axis'"),
    (lambda: tf.expand_dims([1], 0, dim=0), ValueError, "both 'dim' and 'axis'"),
    (lambda: tf.squeeze([1], 0, squeeze_dims=0), ValueError,
     "both 'squeeze_dims' and 'axis'"),
    (lambda: tf.reduce_sum([1], 0, reduction_indices=0), ValueError,
     "both 'reduction_indices' and 'axis'"),
    (lambda: tf.reduce_logsumexp([1.], 0, reduction_indices=0), ValueError,
     "both 'reduction_indices' and 'axis'"),
    (lambda: tf.nn.softmax([1.], 0, dim=0), ValueError,
     "both 'dim' and 'axis'"),
    (lambda: tf.nn.softmax([[1.]], 2), tf.errors.InvalidArgumentError,
     r"Dimension \(2\) must be in the range \[-2, 2\)"),
    (lambda: tf.nn.l2_normalize([1.], 0, dim=0), ValueError,
     "both 'dim' and 'axis'"),
    (lambda: tf.sparse_reduce_sum(tf.SparseTensor([[0]], [1], [2]), 0,
                                  reduction_axes=0), ValueError, "both"),
    (lambda: tf.repeat([1, 2], [1, 2, 3], 0), ValueError, "not compatible"),
    (lambda: tf.repeat([1, 2], [[1]], 0), ValueError, "rank at most 1"),
    (lambda: tf.gather_nd([[1]], [[0]], batch_dims=2), ValueError,
     "batch_dims = 2 must be less than rank.indices. = 2"),
    (lambda: tf.sequence_mask([1], [3]), ValueError, "maxlen must be scalar"),
    (lambda: tf.conj(["a"]), TypeError, "numeric"),
    (lambda: tf.nn.pool(np.ones([1, 2, 2, 1]), [2, 2], "SUM", "SAME"),
     ValueError, "2-D SUM pooling is not supported"),
    (lambda: tf.nn.pool(np.ones([1, 2, 2, 1]), [2, 2], "MAX", "SAME", [2, 2],
                        [2, 2]), ValueError, "strides > 1"),
    (lambda: tf.nn.pool(np.ones([1, 2, 2, 1]), [2, 2], "MAX", "SAME", [2, 2]),
     ValueError, "SAME padding"),
    (lambda: tf.nn.pool(np.ones([1, 2, 2, 1]), [2], "MAX", "SAME"), ValueError,
     "rank 3"),
    (lambda: tf.nn.log_poisson_loss([[1.]], [.5]), ValueError, "same shape"),
    (lambda: tf.nn.conv1d_transpose(np.ones([1, 2, 1]), np.ones([1, 1, 1]),
                                    [1, 2, 1], 1, data_format="NHWC"),
     ValueError, "NWC or NCW"),
    (lambda: tf.nn.conv_transpose(np.ones([1, 2]), np.ones([1, 1]), [1, 2], 1),
     ValueError, "length 3, 4 or 5"),
    (lambda: tf.nn.separable_conv2d(
        np.ones([1, 2, 2, 1]), np.ones([1, 1, 1, 1]), np.ones([2, 1, 1, 1]),
        [1, 1, 1, 1], "SAME"), ValueError, "not compatible"),
    (lambda: tf.orthogonal_initializer()([3]), ValueError, "two-dimensional"),
    (lambda: tf.orthogonal_initializer(dtype=tf.int32), ValueError,
     "floating point type"),
    (lambda: tf.variance_scaling_initializer(dtype=tf.int32), ValueError,
     "floating point type"),
    (lambda: tf.constant_initializer(tf.constant(1)), TypeError,
     "Invalid type for initial value"),
    (lambda: tf.sparse_split(3, tf.SparseTensor([[0]], [1], [2]), 2, 0),
     ValueError, "Keyword arguments are required"),
])
def test_refused(build, error, message):
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("build, message", [
    (lambda: tf.bincount([-1, 1]), "Input arr must be non-negative"),
    (lambda: tf.confusion_matrix([1, 7], [2, 2], num_classes=3),
     "`labels` out of bound"),
    (lambda: tf.confusion_matrix([1, 1], tf.placeholder_with_default(
        [2, -2], [2])), "`predictions` contains negative values"),
    (lambda: tf.bincount([1, 1, 3], [1., 2., 3.], maxlength=2),
     "out of range"),
])
def test_fails_in_the_run(build, message):
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(build())


def test_confusion_matrix_of_unknown_ranks():
    labels = tf.placeholder(tf.int32)
    predictions = tf.placeholder(tf.int32)
    matrix = tf.confusion_matrix(labels, predictions)
    with tf.Session() as session:
        for a, b in (([1, 0], [[1], [1]]), ([[1], [0]], [1, 1]),
                     ([1, 0], [1, 1])):
            assert session.run(matrix, {labels: a, predictions: b}).tolist() == [
                [0, 1], [0, 1]]


def test_unique_of_tf_data_is_no_op_of_arrays():
    data = tf.data.Dataset.from_tensor_slices([1, 2, 1, 3, 2]).apply(
        tf.data.experimental.unique())
    item = data.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert [session.run(item) for _ in range(3)] == [1, 2, 3]


def test_nest_expands_composites():
    sparse = tf.SparseTensor([[0]], [1], [2])
    assert tf.nest.flatten([sparse, 1]) == [sparse, 1]
    flat = tf.nest.flatten([sparse, 1], expand_composites=True)
    assert flat == [sparse.indices, sparse.values, sparse.dense_shape, 1]
    packed = tf.nest.pack_sequence_as([sparse, 1], flat, True)
    assert isinstance(packed[0], tf.SparseTensor) and packed[1] == 1
    with pytest.raises(ValueError):
        tf.nest.assert_same_structure([sparse], [1], expand_composites=True)
    assert tf.nest.map_structure(lambda a, b: a + b, (1, [2]), (3, [4])) == (
        4, [6])
    with pytest.raises(ValueError, match="check_types"):
        tf.nest.map_structure(abs, [1], other=True)


@pytest.mark.parametrize("build, message", [
    (lambda: tf.signal.hann_window(4, dtype=tf.int32), "floating point"),
    (lambda: tf.signal.overlap_and_add([1.], 1), "rank at least 2"),
    (lambda: tf.signal.overlap_and_add([[1.]], 1.5), "must be an integer"),
    (lambda: tf.signal.dct([[1., 2.]], 4), "Only Types I, II and III"),
    (lambda: tf.signal.dct([[1., 2.]], norm="x"), "Unknown normalization"),
    (lambda: tf.signal.dct([[1., 2.]], 1, norm="ortho"), "Normalization"),
    (lambda: tf.signal.dct([[1., 2.]], n=0), "positive integer"),
    (lambda: tf.signal.linear_to_mel_weight_matrix(0), "num_mel_bins"),
    (lambda: tf.signal.linear_to_mel_weight_matrix(4, 9, -1), "sample_rate"),
    (lambda: tf.signal.linear_to_mel_weight_matrix(
        lower_edge_hertz=5., upper_edge_hertz=4.), "lower_edge_hertz 5.0 >="),
    (lambda: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.),
     "Nyquist"),
])
def test_signals_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_inverse_stft_gives_the_signal_back():
    signal = np.random.RandomState(3).randn(2, 64).astype(np.float32)
    spectra = tf.signal.stft(signal, 16, 4)
    back = tf.signal.inverse_stft(
        spectra, 16, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(back)[:, 12:-12],
                                   signal[:, 12:-12], atol=1e-5)


@pytest.mark.parametrize("on_value, dtype", [
    (1, tf.float32), (1., tf.int32), (np.float32(1), tf.float64), (1, tf.uint8)])
def test_one_hot_values_of_another_type_are_refused(on_value, dtype):
    with pytest.raises(TypeError, match="does not match dtype parameter"):
        tf.one_hot([1], 3, on_value=on_value, dtype=dtype)


def test_names_of_the_nodes_of_xor():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant(True)
        assert session.run([x ^ True, False ^ x]) == [False, True]
        assert [op.name for op in graph.get_operations()][1:6] == [
            "xor/y", "xor/LogicalOr", "xor/LogicalAnd", "xor/LogicalNot", "xor"]
