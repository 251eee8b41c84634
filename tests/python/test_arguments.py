"""Arguments that functions take: lists without elements, tensors of unknown
rank, sparse and sliced values."""
import numpy as np
import pytest

import headrace as tf


def value_of(fetch, feed=None):
    with tf.Session() as sess:
        return sess.run(fetch, feed)


def test_reduce_all_of_nothing():
    assert value_of(tf.reduce_all([])) and not value_of(tf.reduce_any([]))
    assert value_of(tf.reduce_all([[], []], axis=1)).tolist() == [True, True]
    assert value_of(tf.reduce_all(np.array([])))
    with pytest.raises(TypeError):
        tf.reduce_all([1, 2])
    with pytest.raises(TypeError, match="expected type of bool"):
        tf.reduce_all(tf.constant([1]))


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("known_a, known_b", [
    (None, None), ([None, 3], None), (None, [3, 2]),
    ([None, None], [None, 2]), ([2, 3], [3, 2])])
@pytest.mark.parametrize("axes", [1, [[1], [0]], [[-1], [0]], [1, 0]])
def test_tensordot_of_unknown_rank(known_a, known_b, axes):
    a = tf.placeholder(tf.float32, known_a)
    b = tf.placeholder(tf.float32, known_b)
    x, y = numbers(2, 3), numbers(3, 2)
    product = tf.tensordot(a, b, axes)
    assert value_of(product, {a: x, b: y}).tolist() == (x @ y).tolist()


def test_tensordot_by_axes_of_a_tensor():
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    axes = tf.placeholder(tf.int32)
    x, y = numbers(2, 3, 4), numbers(4, 3, 5)
    got = value_of(tf.tensordot(a, b, axes),
                   {a: x, b: y, axes: [[1, 2], [1, 0]]})
    np.testing.assert_allclose(got, np.tensordot(x, y, [[1, 2], [1, 0]]))
    assert value_of(tf.tensordot(a, b, 0), {a: [1., 2.], b: [3.]}
                    ).tolist() == [[3], [6]]


@pytest.mark.parametrize("axes, error", [
    (-1, ValueError), (3, ValueError), ([1], ValueError),
    ([[0, 1], [0]], ValueError), ([[0], [7]], IndexError)])
def test_tensordot_over_axes_that_are_not_there(axes, error):
    with pytest.raises(error):
        tf.tensordot([[1., 2.], [3., 4.]], [[1., 2.], [3., 4.]], axes)


def test_images_of_unknown_rank():
    image = tf.placeholder(tf.float32)
    gray, color = tf.image.rgb_to_grayscale(image), (
        tf.image.grayscale_to_rgb(image))
    got = value_of(gray, {image: np.ones((1, 2, 2, 3))})
    np.testing.assert_allclose(got, np.full((1, 2, 2, 1), .9999), rtol=1e-5)
    assert value_of(color, {image: np.ones((2, 2, 1))}).shape == (2, 2, 3)


@pytest.mark.parametrize("k", range(-1, 5))
@pytest.mark.parametrize("shape", [(2, 3, 1), (2, 2, 3, 1)])
def test_rot90_by_a_tensor(k, shape):
    image, turns = tf.placeholder(tf.float32, shape), (
        tf.placeholder(tf.int32, []))
    turned = tf.image.rot90(image, turns)
    x = numbers(*shape)
    axes = (0, 1) if len(shape) == 3 else (1, 2)
    assert value_of(turned, {image: x, turns: k}).tolist() == np.rot90(
        x, k, axes).tolist()
    with pytest.raises(ValueError, match="rank 0"):
        tf.image.rot90(image, [1])


def sparse():
    return tf.SparseTensor([[0, 0], [1, 1]], tf.constant([1., 2.]), [2, 2])


def test_dense_times_sparse():
    dense = tf.constant([[3., 4.], [5., 6.]])
    for product in (dense * sparse(), sparse() * dense,
                    tf.Variable([[3., 4.], [5., 6.]],
                                name="v").initial_value * sparse()):
        assert isinstance(product, tf.SparseTensor)
        assert value_of(product).values.tolist() == [3, 12]
    for refused in (lambda: 2. * sparse(), lambda: dense + sparse(),
                    lambda: [[1.]] * sparse()):
        with pytest.raises(TypeError):
            refused()


def test_sparse_retain_of_other_sizes():
    with pytest.raises(ValueError, match="Dimensions 2 and 1"):
        tf.sparse_retain(sparse(), [True])
    kept = value_of(tf.sparse_retain(sparse(), [False, True]))
    assert kept.indices.tolist() == [[1, 1]]


@pytest.mark.parametrize("shape, message", [
    ([3], "Cannot reshape a tensor with 4"), ([-1, -1], "At most one"),
    ([-1, 3], "Cannot reshape"), ([2**40, 2**40], "Cannot reshape"),
    ([0, -1], "Cannot reshape")])
def test_sparse_reshape_to_another_size(shape, message):
    with pytest.raises(ValueError, match=message):
        tf.sparse_reshape(sparse(), shape)


def test_sparse_reshape_knows_its_shape():
    for shape in ([-1, 1], tf.constant([4, -1]), np.array([-1, 1])):
        out = tf.sparse_reshape(sparse(), shape)
        assert out.get_shape().as_list() == [4, 1]
        assert value_of(out).indices.tolist() == [[0, 0], [3, 0]]
    p = tf.placeholder(tf.int64, [2])
    assert tf.sparse_reshape(sparse(), p).get_shape().as_list() == [None] * 2
    unknown = tf.sparse_placeholder(tf.float32, [None, 2])
    assert tf.sparse_reshape(unknown, [-1]).get_shape().as_list() == [None]


def slices(dense_shape=None):
    return tf.IndexedSlices(tf.constant([[3., 4.]]), tf.constant([1]),
                            dense_shape)


def test_slices_without_dense_shape_are_clipped():
    clipped, norm = tf.clip_by_global_norm(
        [slices(), tf.constant([12.]), None], 2.)
    assert clipped[2] is None and clipped[0].dense_shape is None
    got = value_of([clipped[0].values, clipped[1], norm])
    np.testing.assert_allclose(got[0], [[6 / 13, 8 / 13]], rtol=1e-6)
    np.testing.assert_allclose(got[1], [24 / 13], rtol=1e-6)
    assert got[2] == 13
    by_norm = value_of(tf.clip_by_norm(slices(), 1.).values)
    np.testing.assert_allclose(by_norm, [[.6, .8]], rtol=1e-6)
    assert value_of(tf.clip_by_value(slices(), 0., 3.5).values).tolist() == [
        [3, 3.5]]
    for function in (tf.global_norm, lambda x: tf.clip_by_global_norm(x, 1.)):
        with pytest.raises(TypeError, match="should be a sequence"):
            function(tf.constant([1.]))
    assert tf.clip_by_global_norm([None], 1.)[0] == [None]


def test_tuple_of_slices_without_dense_shape():
    known = tf.constant([3, 2])
    parts = tf.tuple([tf.constant(1), slices(), None, slices(known), 5])
    assert parts[1].dense_shape is None and parts[3].dense_shape is known
    assert parts[2] is None
    assert value_of([parts[0], parts[1].values, parts[4]])[1].tolist() == [
        [3, 4]]
    with pytest.raises(TypeError, match="Operation or Tensor"):
        tf.tuple([tf.constant(1)], control_inputs=[3])


def test_accumulate_n_of_what_does_not_fit():
    one, two = tf.constant([1.]), tf.constant([1., 2.])
    for inputs in (3, [], [one, tf.constant([1])], [slices()]):
        with pytest.raises(ValueError, match="at least one Tensor"):
            tf.accumulate_n(inputs)
    with pytest.raises(ValueError, match="not compatible"):
        tf.accumulate_n([one, two])
    with pytest.raises(ValueError, match="not compatible"):
        tf.accumulate_n([one], shape=[2])
    with pytest.raises(TypeError, match="tensor_dtype is"):
        tf.accumulate_n([one], tensor_dtype=tf.int32)
    total = tf.accumulate_n([one, [2.]], shape=[1], tensor_dtype=tf.float32)
    assert value_of(total) == [3] and total.op.type == "AccumulateNV2"


def test_functions_of_each_element_of_sparse_tensors():
    s = tf.SparseTensor([[0], [2]], tf.constant([-4., 1.]), [3])
    for function, wanted in (
            (tf.abs, [4, 1]), (tf.negative, [4, -1]), (tf.sign, [-1, 1]),
            (tf.square, [16, 1]), (tf.sqrt, [np.nan, 1]),
            (tf.tanh, np.tanh([-4, 1])), (tf.nn.tanh, np.tanh([-4, 1])),
            (tf.erf, [-1, .842701]), (tf.math.bessel_i0e, [.207, .465760]),
            (tf.math.bessel_i1e, [-.178751, .207910]),
            (tf.to_int32, [-4, 1])):
        got = value_of(function(s))
        assert got.indices.tolist() == [[0], [2]]
        np.testing.assert_allclose(got.values, wanted, rtol=1e-4)
    assert value_of(tf.sqrt([4., 9.], name="n")).tolist() == [2, 3]


def test_cast_of_slices():
    cast = tf.cast(slices(), tf.int32)
    assert cast.dtype == tf.int32 and cast.dense_shape is None


def test_sparse_sum_and_reset_know_their_shapes():
    assert tf.sparse_add(sparse(), sparse()).get_shape().as_list() == [2, 2]
    with pytest.raises(ValueError, match="dimension sizes >="):
        tf.sparse_reset_shape(sparse(), [1, 4])
    with pytest.raises(TypeError, match="Neither a SparseTensor"):
        tf.SparseTensor.from_value(([[0]], [1.], [1]))


def test_variables_that_are_asserted_to_be_initialised():
    assert tf.assert_variables_initialized() is None
    tf.Variable([1.])
    tf.Variable(2., use_resource=True)
    ranks = tf.assert_variables_initialized()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(ranks)
        sess.run(tf.global_variables_initializer())
        assert sess.run(ranks).tolist() == [1, 0]


@pytest.mark.parametrize("make", [
    lambda: tf.fill([-1], 1), lambda: tf.ones([-1]),
    lambda: tf.zeros([2, -1]), lambda: tf.fill(np.int64([2, -1]), 1),
    lambda: tf.eye(-1)])
def test_fill_of_a_negative_size(make):
    with pytest.raises(ValueError, match="Fill dimensions must be >= 0"):
        make()


def test_branches_with_slices_of_other_index_types():
    short = tf.IndexedSlices(tf.constant([[1.]]), tf.constant([2], tf.int32))
    long = tf.IndexedSlices(tf.constant([[3.]]), tf.constant([4], tf.int64))
    pred = tf.placeholder(tf.bool, [])
    out, _ = tf.cond(pred, lambda: (short, 1), lambda: (long, 2))
    assert out.indices.dtype == tf.int64
    assert value_of(out.indices, {pred: True}) == [2]
    assert value_of(out.indices, {pred: False}) == [4]


def test_tuple_of_operations():
    slices = tf.IndexedSlices(tf.constant([[1.]]), tf.constant([2]))
    op = tf.no_op()
    gated = tf.tuple([slices, None, op], control_inputs=[tf.no_op()])
    assert isinstance(gated[0], tf.IndexedSlices)
    assert gated[1] is None and gated[2] is op


def test_the_norm_of_no_tensors():
    norm = tf.global_norm([None])
    assert norm.dtype == tf.float32 and value_of(norm) == 0


def test_a_queue_from_a_list_of_queues_alone():
    queue = tf.FIFOQueue(3, [tf.float32])
    for bad in ([queue, 3], (queue,), []):
        with pytest.raises(TypeError, match="A list of queues expected"):
            tf.QueueBase.from_list(0, bad)


def test_types_by_their_number():
    assert tf.DType(1) is tf.float32 and tf.DType(101) == tf.float32._as_ref
    assert tf.DType(tf.int8) is tf.int8
    for bad in (0, 99, -1, 1000):
        with pytest.raises(TypeError, match="type_enum is not a valid"):
            tf.DType(bad)


@pytest.mark.parametrize("dtype, limits", [
    (tf.int32, (0, 2**31 - 1)), (tf.uint8, (0, 255)), (tf.float32, (0, 1)),
    (tf.int64, (0, 2**63 - 1))])
def test_limits_of_types(dtype, limits):
    assert dtype.limits == limits


@pytest.mark.parametrize("dtype", [
    tf.bool, tf.qint8, tf.quint16, tf.string, tf.complex64, tf.resource])
def test_types_without_limits(dtype):
    with pytest.raises(TypeError, match="Cannot find m..imum value of"):
        dtype.min
    with pytest.raises(TypeError, match="Cannot find m..imum value of"):
        dtype.max


def test_shapes_of_negative_sizes_and_of_strings():
    with pytest.raises(ValueError, match="-1 must be >= 0"):
        tf.TensorShape([-1])
    with pytest.raises(TypeError, match="ambiguous TensorShape"):
        tf.TensorShape("ab")
    with pytest.raises(TypeError, match="Cannot convert a TensorShape"):
        tf.convert_to_tensor(tf.TensorShape([1]), tf.float32)


def test_assert_scalar_wants_to_know():
    with pytest.raises(ValueError, match="saw shape: <unknown>"):
        tf.assert_scalar(tf.placeholder(tf.float32))


@pytest.mark.parametrize("function, name", [
    (tf.nn.elu, "elu"), (tf.nn.softplus, "softplus"), (tf.sin, "sin"),
    (tf.nn.l2_loss, "l2_loss"), (tf.nn.relu6, "relu6")])
def test_functions_have_names(function, name):
    assert function.__name__ == name
    assert not hasattr(function, "name")


def test_references_to_tensors_and_variables():
    x, y = tf.constant(1), tf.constant(1)
    v = tf.Variable(1)
    found = {x.experimental_ref(): "x", v.experimental_ref(): "v"}
    assert found[x.op.outputs[0].experimental_ref()] == "x"
    assert found[v.experimental_ref()] == "v"
    assert y.experimental_ref() not in found
    assert x.experimental_ref().deref() is x


def test_a_variable_without_a_name():
    for resource in False, True:
        with tf.Graph().as_default():
            assert tf.get_variable(None, [2], use_resource=resource
                                   ).name == "Variable:0"


@pytest.mark.parametrize("dtype, other, same", [
    (tf.int32, int, False), (tf.int64, int, False), (tf.float32, float, True),
    (tf.float64, float, False), (tf.bool, bool, True), (tf.string, str, False),
    (tf.string, object, True), (tf.int32, np.int32, True),
    (tf.int32, "int32", True), (tf.int32, 3, True), (tf.int32, None, False),
    (tf.float32, np.dtype("float32"), True), (tf.complex128, complex, False)])
def test_types_beside_those_of_python_and_numpy(dtype, other, same):
    assert (dtype == other) is same and (dtype != other) is not same


@pytest.mark.parametrize("make, dtype, wanted", [
    (lambda: tf.ones([tf.constant(2, tf.int64), 3]), "float32", np.ones((2, 3))),
    (lambda: tf.random_uniform([tf.constant(2, tf.int64)], 1., 1.), "float32",
     [1, 1]),
    (lambda: tf.convert_to_tensor([tf.constant(2.5), 2], tf.int32), "int32",
     [2, 2]),
    (lambda: tf.convert_to_tensor([[tf.constant(2), 1], [0, 1]], tf.float32),
     "float32", [[2, 1], [0, 1]]),
    (lambda: tf.convert_to_tensor([tf.constant(3), tf.constant(2.)], tf.float32),
     "float32", [3, 2]),
    (lambda: tf.add(tf.constant([1, 2]), [tf.constant(2, tf.int64), 2]), "int32",
     [3, 4]),
    (lambda: tf.convert_to_tensor([np.float32(2), tf.constant(1, tf.int64)],
                                  tf.int32), "int32", [2, 1])])
def test_lists_with_tensors_of_another_type_are_cast(make, dtype, wanted):
    with tf.Graph().as_default():
        made = make()
        assert made.dtype.name == dtype
        np.testing.assert_array_equal(value_of(made), wanted)


@pytest.mark.parametrize("use_resource", [False, True])
def test_lists_with_variables_of_another_type_are_cast(use_resource):
    v = tf.Variable(2, use_resource=use_resource)
    made = tf.convert_to_tensor([v, 2], tf.int64)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(made).tolist() == [2, 2]
    assert made.dtype == tf.int64


@pytest.mark.parametrize("make, message", [
    (lambda: tf.convert_to_tensor([tf.constant(3), tf.constant(2.)]),
     "dtype: 'float32'> to <dtype: 'int32'>"),
    (lambda: tf.convert_to_tensor([tf.constant(3), tf.constant(2.)], tf.int32),
     "list containing a tensor of dtype <dtype: 'float32'>"),
    (lambda: tf.convert_to_tensor([tf.constant(3.), 2.5], tf.int32),
     "Expected int32, got 2.5")])
def test_lists_of_mixed_types_are_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_group_of_nested_lists_and_dicts():
    a, b, c = (tf.constant(i, name=n) for i, n in enumerate("abc"))
    grouped = tf.group({"y": [(a, b)], "x": c}, [{"z": a}])
    assert [op.name for op in grouped.control_inputs] == ["c", "a", "b"]
    with pytest.raises(TypeError, match="'None'"):
        tf.group({"x": None})
