"""tf.contrib.framework's checks of shapes, tf.contrib.nn, and fused cells made of
other cells. Values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf

F = tf.contrib.framework


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("wanted", [
    [2], (2,), np.array([2], np.int32), tf.TensorShape([2]),
    tf.TensorShape([None])])
def test_shapes_that_fit(session, wanted):
    known, unknown = tf.constant([1, 2]), tf.placeholder(tf.int32)
    assert F.with_shape(wanted, known) is known
    checked = F.with_shape(wanted, unknown)
    assert session.run(checked, {unknown: [1, 2]}).tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape for "
                       r"Placeholder.* \[expected\] \[actual\]"):
        session.run(checked, {unknown: [[1]]})


def test_shapes_in_the_run_and_scalars(session):
    size = tf.placeholder(tf.int32, [None])
    checked = F.with_shape(size, tf.constant([1, 2]))
    assert session.run(checked, {size: [2]}).tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[3\] \[2\]"):
        session.run(checked, {size: [3]})
    assert F.with_shape([], tf.constant([7])).shape == ()
    like = F.with_same_shape(tf.zeros([2]), tf.placeholder(tf.float32))
    assert like.shape == (2,)
    labels, predictions = [F.remove_squeezable_dimensions(
        tf.zeros([2, 1]), tf.zeros([2]))[i].shape for i in (0, 1)]
    assert labels == predictions == (2,)
    assert session.run(F.reduce_sum_n([tf.ones([2]), tf.ones([3, 2])])) == 8
    assert F.get_placeholders(tf.get_default_graph())[0] is size
    assert F.assert_or_get_global_step() is None


@pytest.mark.parametrize("make, error, message", [
    (lambda: F.with_shape([3], tf.constant([1, 2])), ValueError,
     "Invalid shape"),
    (lambda: F.with_shape(["a"], tf.constant([1])), ValueError,
     "Invalid dtype"),
    (lambda: F.with_shape([[2]], tf.constant([1])), ValueError,
     "Invalid rank 2"),
    (lambda: F.with_shape(tf.constant([2], tf.int64), tf.constant([1])),
     ValueError, "Invalid dtype"),
    (lambda: F.with_shape([1], tf.SparseTensor([[0]], [1], [1])), ValueError,
     "SparseTensor not supported"),
    (lambda: F.assert_scalar_int(tf.constant(1.)), ValueError,
     "Expected integer type"),
    (lambda: F.reduce_sum_n([]), ValueError, "No tensors provided"),
    (lambda: F.get_placeholders(1), TypeError, "needs to be a Graph"),
    (lambda: tf.contrib.nn.alpha_dropout(tf.ones([3]), -1.), ValueError,
     r"in the range \(0, 1\]")])
def test_refusals(make, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


def test_softplus_that_is_scaled(session):
    x, alpha = tf.constant([-.5, .3, .7]), tf.constant([1., .5, 1.])
    y = tf.contrib.nn.scaled_softplus(x, alpha, .6)
    found = session.run([y] + tf.gradients(y, [x, alpha]))
    np.testing.assert_allclose(found, [
        [.47408, .51874, .6], [.37754, .64566, 0.], [.66285, .65008, 0.]],
        atol=2e-5)


def test_dropout_that_keeps_mean_and_variance(session):
    x = tf.random_normal([20000], seed=1)
    y = session.run(tf.contrib.nn.alpha_dropout(x, .8, seed=2))
    assert abs(y.mean()) < .05 and abs(y.std() - 1) < .05
    assert tf.contrib.nn.alpha_dropout(x, 1.) is x


def test_flipped_losses(session):
    logits, labels = tf.constant([[1., 2.]]), tf.constant([[0., 1.]])
    flipped = tf.contrib.nn
    pairs = [
        (flipped.deprecated_flipped_softmax_cross_entropy_with_logits(
            logits, labels), tf.nn.softmax_cross_entropy_with_logits(
                labels=labels, logits=logits)),
        (flipped.deprecated_flipped_sigmoid_cross_entropy_with_logits(
            logits, labels), tf.nn.sigmoid_cross_entropy_with_logits(
                labels=labels, logits=logits)),
        (flipped.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
            logits, [1]), tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=[1], logits=logits))]
    for a, b in session.run(pairs):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("is_dynamic", [False, True])
@pytest.mark.parametrize("is_list", [False, True])
def test_cells_over_all_steps(session, is_dynamic, is_list):
    steps = np.arange(12.).reshape(3, 2, 2).astype(np.float32) / 12
    given = [tf.constant(s) for s in steps] if is_list else tf.constant(steps)
    half = tf.constant_initializer(.5)

    def run(name, wrap, x, **kwargs):
        with tf.variable_scope(name, initializer=half):
            cell = tf.contrib.rnn.FusedRNNCellAdaptor(
                tf.nn.rnn_cell.BasicRNNCell(3), is_dynamic)
            outputs, state = wrap(cell)(x, dtype=tf.float32, **kwargs)
            assert isinstance(outputs, list) == isinstance(x, list)
            return tf.convert_to_tensor(outputs), state
    forward = run("a", lambda cell: cell, given)
    back = run("b", tf.contrib.rnn.TimeReversedFusedRNN, given)
    turned = run("c", lambda cell: cell, tf.constant(steps[::-1]))
    session.run(tf.global_variables_initializer())
    forward, back, turned = session.run([forward, back, turned])
    np.testing.assert_allclose(forward[0][-1], forward[1], rtol=1e-5)
    np.testing.assert_allclose(back[0], turned[0][::-1], rtol=1e-5)
    np.testing.assert_allclose(back[1], turned[1], rtol=1e-5)


def test_variable_device_chooser():
    chooser = tf.contrib.framework.VariableDeviceChooser
    assert chooser()(None) == "/device:CPU:0"
    servers = chooser(2, replica=0)
    assert [servers(None) for _ in range(3)] == [
        "/job:ps/replica:0/task:%d/device:CPU:0" % i for i in (0, 1, 0)]


def test_py_func_of_structures():
    py_func = tf.contrib.framework.py_func
    got = py_func(
        lambda a, b, k: {"s": a + b["x"], "t": (a * k, b["y"])},
        [tf.constant(1.), {"x": tf.constant(2.), "y": tf.constant([3, 4])}],
        {"k": tf.constant(5.)},
        {"s": tf.float32, "t": (tf.float32, tf.int32)},
        {"s": [], "t": ([], [2])})
    assert got["s"].shape == [] and got["t"][1].shape == [2]
    with tf.Session() as session:
        s, t, u = session.run([got["s"], *got["t"]])
    assert (s, t, u.tolist()) == (3., 5., [3, 4])
    with pytest.raises(TypeError, match="args must be list"):
        py_func(abs, tf.constant(1), output_types=tf.int32)
    with pytest.raises(TypeError, match="kwargs must be dict"):
        py_func(abs, [1], [2], output_types=tf.int32)


def test_scale_gradient():
    x = tf.constant([1., 2.])
    y = tf.contrib.layers.scale_gradient(x, tf.constant([3., 4.]))
    with tf.Session() as session:
        values = session.run([y, tf.gradients(y * y, x)[0]])
    assert [v.tolist() for v in values] == [[1., 2.], [6., 16.]]
