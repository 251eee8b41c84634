"""With the same seeds, layers of tf.keras begin with the weights of TensorFlow
1.15.5 and drop the same numbers; their results have its names."""
import numpy as np
import pytest

import headrace as tf

K = tf.keras.layers


def x(*shape):
    return tf.placeholder(tf.float32, shape)


def test_weights_and_dropout():
    tf.reset_default_graph()
    np.random.seed(5)
    tf.set_random_seed(3)
    model = tf.keras.Sequential([
        K.Embedding(7, 4, input_length=5, mask_zero=True),
        K.Bidirectional(K.GRU(3, return_sequences=True)), K.Dropout(.5),
        K.LSTM(3, recurrent_dropout=.2), K.BatchNormalization(), K.Dense(2)])
    words = tf.constant(np.arange(10).reshape(2, 5) % 7, tf.float32)
    output = model(words, training=True)
    found = tf.keras.backend.get_session().run(output)
    np.testing.assert_allclose(
        [w.sum() for w in model.get_weights()],
        [.10749, -.68941, -2.47047, 0., -3.67178, 1.84535, 0., 2.11123,
         -1.62204, 3., 3., 0., 0., 3., .36607, 0.], atol=1e-5)
    np.testing.assert_allclose(found, [[-.05879, .00327], [.05879, -.00327]],
                               atol=2e-5)


@pytest.mark.parametrize("make, wanted", [
    (lambda: K.LSTM(3)(x(None, 5, 2)), ["lstm/strided_slice_7:0"]),
    (lambda: K.LSTM(3, return_sequences=True, return_state=True)(x(None, 5, 2)),
     ["lstm/transpose_1:0", "lstm/while/Exit_2:0", "lstm/while/Exit_3:0"]),
    (lambda: K.GRU(3)(x(None, 5, 2)), ["gru/strided_slice_12:0"]),
    (lambda: K.GRU(3, go_backwards=True, use_bias=False)(x(None, None, 2)),
     ["gru/strided_slice_9:0"]),
    (lambda: K.SimpleRNN(3)(x(None, None, 2)), ["simple_rnn/strided_slice_3:0"]),
    (lambda: K.Bidirectional(K.LSTM(3))(x(None, 5, 2)),
     ["bidirectional/concat:0"]),
    (lambda: K.TimeDistributed(K.Dense(3))(x(None, 5, 2)),
     ["time_distributed/Reshape_1:0"]),
    (lambda: K.LSTM(3)(K.Embedding(5, 2, mask_zero=True)(x(None, 5))),
     ["lstm/strided_slice_7:0"]),
    (lambda: K.SimpleRNN(3, return_sequences=True)(K.Masking()(x(None, 5, 2))),
     ["simple_rnn/transpose_2:0"]),
    (lambda: K.RNN([K.LSTMCell(2), K.GRUCell(3)])(x(None, 5, 2)),
     ["rnn/strided_slice_16:0"]),
    (lambda: K.UpSampling1D()(x(None, 4, 2)), ["up_sampling1d/concat:0"]),
    (lambda: K.LeakyReLU()(x(None, 4)), ["leaky_re_lu/LeakyRelu:0"]),
    (lambda: K.PReLU()(x(None, 4)), ["p_re_lu/add:0"]),
    (lambda: K.Activation("softmax")(x(None, 4, 6)), ["activation/truediv:0"])])
def test_names_of_results(make, wanted):
    tf.reset_default_graph()
    found = make()
    assert [y.name for y in (found if isinstance(found, list) else [found])
            ] == wanted


# x above and below, and the result of TensorFlow 1.15.5.
@pytest.mark.parametrize("options, wanted", [
    (dict(), [0., 0., .5, 7.]), (dict(max_value=6), [0., 0., .5, 6.]),
    (dict(max_value=2.), [0., 0., .5, 2.]),
    (dict(negative_slope=.1), [-.2, -.05, .5, 7.]),
    (dict(negative_slope=.1, threshold=1.), [-.3, -.15, -.05, 7.]),
    (dict(max_value=3., negative_slope=.5, threshold=1.),
     [-1.5, -.75, -.25, 3.])])
def test_relu(options, wanted):
    y = K.ReLU(**options)(tf.constant([[-2., -.5, .5, 7.]]))
    np.testing.assert_allclose(
        tf.keras.backend.get_session().run(y)[0], wanted, rtol=1e-6)


def test_normalization_by_the_batch_though_not_trainable():
    layer = K.BatchNormalization()
    layer.trainable = False
    y = layer(tf.constant(np.arange(8.).reshape(4, 2), tf.float32),
              training=True)
    np.testing.assert_allclose(
        tf.keras.backend.get_session().run(y)[:, 0],
        [-1.34151, -.44717, .44717, 1.34151], atol=1e-5)
    assert layer.updates == []


def test_a_cleared_session_has_the_learning_phase():
    tf.keras.backend.clear_session()
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        "keras_learning_phase/input", "keras_learning_phase"]


def test_names_of_what_compile_and_training_add():
    # As TensorFlow 1.15 names what it has of these.
    tf.reset_default_graph()
    x = K.Input((4,))
    model = tf.keras.Model(x, [K.Dense(1, name="a")(x), K.Dense(2, name="b")(x)])
    model.compile("adam", "mse", ["mae"], weighted_metrics=[
        tf.keras.metrics.MeanSquaredError()], loss_weights=[1., .5])
    model._make_train_op()
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert names >= {
        "total", "count", "total_1", "count/Initializer/zeros",
        "metrics/a_mean_absolute_error/div_no_nan",
        "metrics_1/b_weighted_mean_squared_error/div_no_nan",
        "loss/a_loss/value", "loss/b_loss/num_elements/Cast",
        "loss/a_loss/weighted_loss/Mul", "loss/mul", "loss/mul_1", "loss/add",
        "training/Adam/gradients/gradients/Fill", "training/Adam/iter",
        "training/Adam/iter/Initializer/zeros", "training/Adam/learning_rate",
        "training/Adam/a/kernel/m", "training/Adam/b/bias/v",
        "training/Adam/Adam/update_a/kernel/ResourceApplyAdam",
        "training/Adam/Adam/AssignAddVariableOp"}
    assert model.total_loss.name == "loss/add:0"
    assert model.metrics_names[-2:] == ["a_weighted_mean_squared_error",
                                        "b_weighted_mean_squared_error"]
    assert model.metrics[-1] is not model.metrics[-2]
