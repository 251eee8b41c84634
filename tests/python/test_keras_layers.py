"""Layers and helpers of tf.keras beside what TensorFlow 1.15.5 gives
(keras_layer_programs.py), and what they refuse."""
import json

import keras_layer_programs as programs
import numpy as np
import pytest

import headrace as tf

K = tf.keras
L = K.layers

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.fixture(autouse=True)
def fresh():
    K.backend.clear_session()
    yield
    K.backend.clear_session()


def check(got, wanted, where):
    if isinstance(wanted, dict):
        assert sorted(got) == sorted(wanted), where
        for key in wanted:
            check(got[key], wanted[key], where + "/" + key)
    elif isinstance(wanted, list):
        assert len(got) == len(wanted), where
        for i, (a, b) in enumerate(zip(got, wanted)):
            check(a, b, "%s/%d" % (where, i))
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=1e-3, abs=2e-5), where
    else:
        assert got == wanted, where


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name):
    if name == "of_cudnn":
        pytest.importorskip("h5py")
    check(programs.run(tf, name), VALUES[name], name)


X = np.zeros((2, 4, 3), np.float32)


@pytest.mark.parametrize("make, x, message", [
    (lambda: L.LocallyConnected1D(2, 2, padding="same"), X,
     "only \"valid\" is supported if implementation is 1"),
    (lambda: L.LocallyConnected1D(2, 2, padding="causal"), X, "`padding`"),
    (lambda: L.LocallyConnected1D(2, 2, implementation=4), X,
     "Unrecognized implementation mode: 4"),
    (lambda: L.LocallyConnected1D(2, (2, 2)), X, "tuple of 1 integers"),
    (lambda: L.LocallyConnected2D(2, 2), X, "expected ndim=4"),
    (lambda: L.LocallyConnected2D(2, 2),
     tf.placeholder(tf.float32, (None, None, 4, 3)), "fully-defined"),
    (lambda: L.ConvLSTM2D(2, 2), X, "expected ndim=5"),
    (lambda: L.ConvLSTM2D(2, 2, stateful=True),
     tf.placeholder(tf.float32, (None, 3, 4, 4, 1)), "batch size"),
    (lambda: L.ConvLSTM2D(2, 2), tf.placeholder(
        tf.float32, (1, 3, 4, 4, None)), "channel dimension"),
    (lambda: L.Attention(), X, "must be called on a list"),
    (lambda: L.Attention(), [X], "Given length: 1"),
    (lambda: L.CuDNNLSTM(2), L.Masking()(tf.constant(X)),
     "Masking is not supported for CuDNN")])
def test_refusals(make, x, message):
    if isinstance(x, tf.Tensor) and x.graph is not tf.get_default_graph():
        x = tf.placeholder(x.dtype, x.get_shape())
        if "Masking" in message:
            x = L.Masking()(tf.constant(X))
    with pytest.raises(ValueError, match=message):
        make()(x)


def test_masks_of_attention_that_do_not_fit():
    with pytest.raises(ValueError, match="mask must be a list, namely"):
        L.Attention()([X, X], mask=(None, None))
    with pytest.raises(ValueError, match="list of length 2"):
        L.Attention()([X, X], mask=[None])
    with pytest.raises(TypeError, match="Unrolling"):
        L.ConvLSTM2D(2, 2, unroll=True)


@pytest.mark.parametrize("make, shapes, result", [
    (lambda: tf.keras.layers.CuDNNLSTM(3),
     [(5, 12), (3, 12), (24,)], "cu_dnnlstm/strided_slice_17:0"),
    (lambda: L.CuDNNGRU(3, return_sequences=True), [(5, 9), (3, 9), (18,)],
     "cu_dnngru/transpose_1:0")])
def test_layers_of_cudnn_have_weights_and_no_kernel_here(make, shapes, result):
    layer = make()
    y = layer(K.Input(batch_shape=(2, 4, 5)))
    assert y.name == result
    values = layer.get_weights()
    assert [w.shape for w in values] == shapes
    assert values[2].sum() == (3 if "lstm" in layer.name else 0)
    assert type(layer).from_config(
        layer.get_config()).get_config() == layer.get_config()
    if not tf.test.is_gpu_available():
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="No OpKernel was registered to support"):
            K.backend.get_session().run(y, {layer.input: np.zeros((2, 4, 5))})


def test_weights_of_cudnn_in_files(tmp_path):
    """From LSTM to CuDNNLSTM and back; a GRU of another kind does not fit."""
    pytest.importorskip("h5py")

    def model(layer):
        made = K.Sequential([L.InputLayer((4, 5)), layer])
        programs.start(made)
        return made
    first, last = model(L.LSTM(3)), model(L.LSTM(3))
    wanted = first.get_weights()
    for source, target in ((first, model(L.CuDNNLSTM(3))), (None, last)):
        path = str(tmp_path / "weights.h5")
        if source is not None:
            source.save_weights(path)
            target.load_weights(path)
            target.save_weights(path)
        else:
            target.load_weights(path)
    for got, value in zip(last.get_weights(), wanted):
        np.testing.assert_allclose(got, value, rtol=1e-6)
    model(L.CuDNNGRU(3)).save_weights(path)
    model(L.GRU(3, reset_after=True)).load_weights(path)
    with pytest.raises(ValueError, match="CuDNNGRU is not compatible with "
                                         "GRU\\(reset_after=False\\)"):
        model(L.GRU(3)).load_weights(path)


def test_layers_have_the_attributes_of_their_cells():
    assert L.GRU(3, reset_after=True).reset_after
    assert L.ConvLSTM2D(4, 3, strides=2).strides == (2, 2)
    assert L.LSTM(3, dropout=.5).dropout == .5
    with pytest.raises(AttributeError, match="'LSTM' object has no attribute"):
        L.LSTM(3).strides


@pytest.mark.parametrize("call, message", [
    (lambda: K.metrics.SensitivityAtSpecificity(1.5), "`specificity` must be"),
    (lambda: K.metrics.SpecificityAtSensitivity(-1), "`sensitivity` must be"),
    (lambda: K.metrics.SpecificityAtSensitivity(.5, 0), "`num_thresholds`"),
    (lambda: K.metrics.MeanTensor().result(), "does not have any result yet"),
    (lambda: [metric.update_state(x) for metric in [K.metrics.MeanTensor()]
              for x in ([1., 2.], [3.])], "must always have the same shape"),
    (lambda: K.constraints.RadialConstraint()(tf.ones([2, 2])), "of rank 4"),
    (lambda: K.constraints.RadialConstraint()(tf.ones([2, 3, 1, 1])),
     "must be square")])
def test_metrics_and_constraints_refuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_names_of_metrics_are_unique():
    names = [K.metrics.AUC().name for _ in range(2)]
    assert names == ["auc", "auc_1"] and K.metrics.AUC(name="a").name == "a"


def test_schedules_refuse():
    S = K.optimizers.schedules
    with pytest.raises(ValueError, match="1 less than the length of values"):
        S.PiecewiseConstantDecay([1], [1.])
    with pytest.raises(ValueError, match="Nadam optimizer does not support"):
        K.optimizers.Nadam(S.ExponentialDecay(.1, 1, .5))
    with pytest.raises(ValueError, match="Unknown decay: Other"):
        S.deserialize({"class_name": "Other", "config": {}})
    with pytest.raises(NotImplementedError, match="must override __call__"):
        S.LearningRateSchedule()(1)


def test_noisy_schedules_are_near_those_without_noise():
    E = K.experimental
    noisy = E.NoisyLinearCosineDecay(.1, 10, initial_variance=1e-6)
    plain = E.LinearCosineDecay(.1, 10)
    found = K.backend.get_session().run([noisy(tf.constant(3.)),
                                         plain(tf.constant(3.))])
    assert found[0] == pytest.approx(found[1], abs=1e-3)
