"""tf.keras.backend: what tests/programs/keras_backend.py, which compares values
with TensorFlow, does not show."""
import numpy as np
import pytest

import headrace as tf

K = tf.keras.backend


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def images(first=False):
    x = np.random.RandomState(0).rand(2, 5, 6, 3).astype("f")
    return K.constant(x.transpose(0, 3, 1, 2) if first else x)


@pytest.mark.parametrize("make", [
    lambda x, f: K.conv2d(x, K.ones((2, 2, 3, 4)), (2, 1), "same", f),
    lambda x, f: K.separable_conv2d(x, K.ones((2, 2, 3, 2)), K.ones((1, 1, 6, 2)),
                                    data_format=f),
    lambda x, f: K.conv2d_transpose(
        x, K.ones((2, 2, 4, 3)), (2, 4, 10, 12) if f == "channels_first"
        else (2, 10, 12, 4), (2, 2), "same", f),
    lambda x, f: K.pool2d(x, (2, 2), (2, 2), data_format=f),
    lambda x, f: K.bias_add(x, K.constant([1.0, 2.0, 3.0]), f),
    lambda x, f: K.spatial_2d_padding(x, ((1, 0), (2, 3)), f),
    lambda x, f: K.resize_images(x, 2, 3, f)])
def test_channels_first(make):
    last = make(images(), "channels_last")
    first = K.permute_dimensions(make(images(True), "channels_first"),
                                 (0, 2, 3, 1))
    np.testing.assert_allclose(K.eval(first), K.eval(last), rtol=1e-6)


def test_variables_begin_with_their_values():
    made = [K.zeros((2,)), K.ones((2,), "int32"), K.eye(2),
            K.random_uniform_variable((3,), 2, 3),
            K.random_normal_variable((3,), 5, 0)]
    zeros, ones, eye, uniform, normal = K.batch_get_value(made)
    assert zeros.tolist() == [0, 0] and ones.tolist() == [1, 1]
    assert eye.tolist() == [[1, 0], [0, 1]] and normal.tolist() == [5] * 3
    assert ((uniform >= 2) & (uniform < 3)).all()


def test_random_numbers_follow_the_seed():
    for make in (K.random_normal, K.random_uniform, K.truncated_normal,
                 lambda shape, seed=None: K.random_binomial(shape, 0.5, seed=seed)):
        np.random.seed(3)
        a = K.eval(make((20,)))
        np.random.seed(3)
        assert K.eval(make((20,))).tolist() == a.tolist()
        assert K.eval(make((20,), seed=1)).tolist() != a.tolist()


def test_moving_average_update():
    x = K.variable([0.0])
    update = K.moving_average_update(x, K.constant([4.0]), 0.5)
    K.get_session().run(update)
    assert K.get_value(x).tolist() == [4]  # corrected for the beginning at 0


def test_a_function_with_feeds_and_updates():
    x, v = K.placeholder((None,)), K.variable(1.0)
    f = K.function([x], {"sum": K.sum(x)}, updates=[(v, K.sum(x))])
    assert f([[1.0, 2.0]]) == {"sum": 3.0} and K.get_value(v) == 3
    with pytest.raises(ValueError, match="2 inputs were given, 1 are wanted"):
        f([[1.0], [2.0]])
    with pytest.raises(ValueError, match="argument \"other\""):
        K.function([x], [x], other=3)
    with pytest.raises(TypeError, match="list or tuple"):
        K.function([x], [x], updates=v)


def test_a_function_of_tensors_and_variables():
    x, y = K.placeholder((None,)), K.placeholder((None,), dtype="int32")
    number = tf.random_uniform([2])
    f = K.function([x, y], [x, K.cast(y, "float32"), x - number])
    for first, second, wanted in [
            (K.constant([1., 2.]), [3, 4], ([1, 2], [3, 4])),
            ([1., 2.], K.variable([3.5, 4.]), ([1, 2], [3, 4])),
            (K.variable([1.]), K.constant([3]), ([1], [3]))]:
        assert [z.tolist() for z in f([first, second])[:2]] == list(wanted)
    assert f([number, [0]])[2].tolist() == [0, 0]  # of one value in a run


def test_sparse_cross_entropy_over_another_axis():
    p = np.random.RandomState(0).rand(2, 4, 3).astype("f")
    labels = np.array([[0, 1, 2], [2, 1, 0]])
    wanted = -np.log(np.take_along_axis(p, labels[:, None], 1)[:, 0])
    last = p.transpose(0, 2, 1)
    for logits in False, True:
        for q, axis in ((p, 1), (p, -2), (last, 2), (last, -1)):
            q = np.log(q) if logits else q
            loss = K.sparse_categorical_crossentropy(
                K.constant(labels), K.constant(q), logits, axis=axis)
            assert loss.shape == [2, 3]
            scale = p.sum(1)
            kept = np.expand_dims(labels, axis)  # as long a shape as q's
            np.testing.assert_allclose(
                K.eval(K.sparse_categorical_crossentropy(
                    K.constant(kept), K.constant(q), logits, axis=axis)),
                K.eval(loss))
            np.testing.assert_allclose(K.eval(loss), wanted + np.log(scale),
                                       rtol=2e-6)


def test_a_function_with_arguments_of_the_run():
    x, y = K.placeholder((None,)), K.placeholder(())
    f = K.function([x], [x + y], feed_dict={y: 5}, fetches=[2 * x],
                   options=tf.RunOptions(
                       trace_level=tf.RunOptions.FULL_TRACE),
                   run_metadata=tf.RunMetadata())
    seen = []
    f.fetch_callbacks[f.fetches[0]] = seen.append
    assert f([[1.0, 2.0]])[0].tolist() == [6, 7]
    assert seen[0].tolist() == [2, 4]
    assert f.run_metadata.step_stats.dev_stats


class Coo:
    """A sparse matrix as SciPy's are."""
    row, col, data, shape = np.array([0, 1]), np.array([2, 0]), np.array(
        [3.0, 4.0], np.float32), (2, 3)

    def tocoo(self):
        return self


def test_sparse_values():
    x = K.placeholder((None, 3), sparse=True)
    assert K.is_sparse(x)
    f = K.function([x], [K.sum(K.to_dense(x), axis=1)])
    assert f([Coo()])[0].tolist() == [3, 4]
    assert f([tf.SparseTensorValue([[0, 1]], [2.0], (1, 3))])[0].tolist() == [2]
    v = K.variable(Coo())
    assert K.eval(K.to_dense(v)).tolist() == [[0, 0, 3], [4, 0, 0]]


def test_manual_variable_initialization():
    K.manual_variable_initialization(True)
    try:
        v = K.variable(1.0)
        with pytest.raises(tf.errors.FailedPreconditionError):
            K.get_value(v)
    finally:
        K.manual_variable_initialization(False)
    assert K.get_value(v) == 1


def test_the_learning_phase_of_a_scope_ends_with_it():
    phase = K.learning_phase()
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert K.eval(K.in_train_phase(K.constant(1.0), K.constant(2.0))) == 1
    assert K.learning_phase() is phase
    chosen = K.in_train_phase(lambda: K.constant(1.0), lambda: K.constant(2.0))
    assert [K.get_session().run(chosen, {phase: p}) for p in (True, False)] == [1, 2]


def test_print_tensor(capfd):
    assert K.eval(K.print_tensor(K.constant(2.0), "it is")) == 2
    assert "it is 2" in capfd.readouterr().err


def test_cross_entropy_of_a_softmax_over_another_axis():
    x = np.random.RandomState(0).rand(2, 3, 4).astype("f")
    target = x / x.sum(1, keepdims=True)
    # As in TensorFlow, the softmax of the last axis is taken for one of `axis`.
    loss = K.eval(K.categorical_crossentropy(
        K.constant(target), K.softmax(K.constant(x)), axis=1))
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    np.testing.assert_allclose(loss, -(target * logs).sum(1), rtol=1e-5)


def test_a_loop_over_an_unknown_number_of_steps():
    x = K.placeholder((2, None, 3))
    last, outputs, _ = K.rnn(lambda x, s: (x + s[0], [x + s[0]]), x,
                             [K.zeros_like(x[:, 0])], constants=None)
    assert K.int_shape(outputs) == (2, None, 3)
    value = np.arange(24.0).reshape(2, 4, 3)
    got = K.get_session().run([last, outputs], {x: value})
    np.testing.assert_array_equal(got[0], value.sum(1))
    np.testing.assert_array_equal(got[1], value.cumsum(1))


def test_the_step_before_a_loop_takes_no_element_of_its_arrays():
    x = K.constant(np.arange(6.0).reshape(1, 3, 2))
    # The step outside of the loop runs with it, at any time.
    last, _, _ = K.rnn(lambda x, s: (x + s[0], [x + s[0]]), x,
                       [K.zeros_like(x[:, 0])])
    first = [K.get_session().run(last).tolist() for _ in range(50)]
    assert first == [[[6, 9]]] * 50


def test_a_loop_over_nested_inputs_outputs_and_states():
    x = {"a": K.constant(np.arange(6.0).reshape(1, 3, 2)),
         "b": K.constant(np.ones((1, 3, 2)))}
    zero = K.zeros((1, 2))

    def step(x, states):
        one, (two, three) = states
        new = [one + x["a"], (two + x["b"], three + 2)]
        return (new[0], new[1][0] * 10), new

    for options in dict(), dict(unroll=True), dict(time_major=True), dict(
            mask=K.constant([[1, 1, 1]])):
        given = x if "time_major" not in options else {
            k: K.permute_dimensions(v, (1, 0, 2)) for k, v in x.items()}
        last, outputs, states = K.rnn(step, given, [zero, (zero, zero)],
                                      **options)
        got = K.get_session().run([last, outputs, states])
        assert [v.tolist() for v in got[0]] == [[[6, 9]], [[30, 30]]]
        assert [v.ravel().tolist() for v in got[1]] == [
            [0, 1, 2, 4, 6, 9], [10, 10, 20, 20, 30, 30]]
        assert got[2][0].tolist() == [[6, 9]]
        assert [v.tolist() for v in got[2][1]] == [[[3, 3]], [[6, 6]]]


def test_a_loop_of_fewer_steps_than_the_input_has():
    x = K.ones((1, 3, 1))
    _, outputs, states = K.rnn(lambda x, s: (x + s[0], [x + s[0]]), x,
                               [K.zeros((1, 1))], input_length=2)
    got = K.get_session().run([outputs, states])
    assert got[0].ravel().tolist() == [1, 2, 0] and got[1][0].tolist() == [[2]]


def test_a_loop_with_constants_has_a_gradient():
    x = K.constant(np.ones((2, 3, 1)))
    w = K.variable([[2.0]])
    last, _, _ = K.rnn(lambda x, s: (s[0] * s[1] + x, [s[0] * s[1] + x]), x,
                       [K.zeros_like(x[:, 0])], constants=[w])
    # ((0 w + 1) w + 1) w + 1 = w^2 + w + 1 of two rows.
    assert K.eval(K.gradients(K.sum(last), w)[0]).tolist() == [[10]]


@pytest.mark.parametrize("make, error, words", [
    (lambda: K.rnn(None, K.placeholder((2, None, 1)), [], unroll=True),
     ValueError, "fixed number"),
    (lambda: K.rnn(lambda x, s: (x, []), images()[0], [],
                   mask=K.ones((6, 7))), ValueError, "No initial states"),
    (lambda: K.conv2d(images(), K.ones((2, 2, 3, 1)), padding="full"),
     ValueError, "Unknown padding"),
    (lambda: K.conv2d(images(), K.ones((2, 2, 3, 1)), data_format="x"),
     ValueError, "Unknown data_format"),
    (lambda: K.conv2d_transpose(images(), K.ones((2, 2, 4, 3)), (2, 6, 7, 4),
                                dilation_rate=2), NotImplementedError, "dilation_rate"),
    (lambda: K.pool2d(images(), 2, pool_mode="min"), ValueError, "pooling mode"),
    (lambda: K.resize_images(images(), 2, 2, "channels_last", "cubic"),
     ValueError, "interpolation"),
    (lambda: K.bias_add(images(), K.ones((2, 3))), ValueError, "bias dimensions"),
    (lambda: K.spatial_2d_padding(images(), ((1, 1),)), ValueError, "2 pairs"),
    (lambda: K.batch_dot(images(), images(), axes=(0, 1)), ValueError, "batch"),
    (lambda: K.repeat(images(), 2), ValueError, "2 dimensions"),
    (lambda: K.switch(images() > 0, K.ones((2,)), K.ones((2,))), ValueError, "Rank"),
    (lambda: K.sparse_categorical_crossentropy([0], tf.placeholder("float"),
                                               axis=1), ValueError, "rank"),
    (lambda: K.learning_phase_scope(2).__enter__(), ValueError, "0 or 1")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()
