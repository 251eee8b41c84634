"""tensorflow.python.keras.keras_parameterized and testing_utils: tests of each
kind of models, and of one layer."""
import unittest

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import keras_test_case as cases

L = tf.keras.layers

LAYERS = [
    (L.Dense, dict(units=3), (3, None, 2)),
    (L.Activation, dict(activation="relu"), (3, 2)),
    (L.Reshape, dict(target_shape=(-1, 1)), (3, 2, 4)),
    (L.Permute, dict(dims=(2, 1)), (3, 2, 4)),
    (L.RepeatVector, dict(n=3), (3, 2)),
    (L.ActivityRegularization, dict(l1=.01), (3, 2)),
    (L.Lambda, dict(function=lambda x, a: x * a, arguments={"a": .6}), (3, 2)),
    (L.LeakyReLU, dict(alpha=.5), (2, 3, 4)),
    (L.Softmax, dict(axis=1), (2, 3, 4)),
    (L.GaussianNoise, dict(stddev=1.), (3, 2, 3)),
    (L.LayerNormalization, {}, (3, 4, 2)),
    (L.GlobalMaxPooling1D, {}, (3, 4, 5)),
    (L.ZeroPadding2D, dict(padding=((1, 2), (3, 4))), (2, 3, 4, 4)),
    (L.Cropping1D, dict(cropping=(1, 1)), (2, 5, 4)),
    (L.UpSampling2D, dict(size=(2, 3)), (2, 5, 4, 4)),
    (L.LSTM, dict(units=2, return_sequences=True), (2, 3, 4)),
    (L.GRU, dict(units=2, dropout=.1), (2, 3, 4)),
]


@pytest.mark.parametrize("layer, kwargs, shape", LAYERS,
                         ids=[c[0].__name__ for c in LAYERS])
def test_a_layer_alone(layer, kwargs, shape):
    with tf.Graph().as_default():
        out = cases.layer_test(layer, dict(kwargs), input_shape=shape)
        assert out.dtype == np.float32


def test_what_layer_test_refuses():
    with tf.Graph().as_default():
        with pytest.raises(AssertionError, match="expected to find int32"):
            cases.layer_test(L.Dense, {"units": 2}, (3, 2),
                             expected_output_dtype="int32")
        with pytest.raises(AssertionError, match=r"output_shape=\[None, 2\]"):
            cases.layer_test(L.Dense, {"units": 2}, (3, 2),
                             expected_output_shape=(None, 3))
        with pytest.raises(ValueError, match="input_shape is None"):
            cases.layer_test(L.Dense, {"units": 2})


def shapes(value):
    if isinstance(value, list):
        return [shapes(v) for v in value]
    return tuple(tf.TensorShape(value).as_list())


OUTPUT_SHAPES = [
    (lambda: L.LSTM(3, return_state=True), (None, 5, 2), [(None, 3)] * 3),
    (lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)), (None, 5, 2),
     (None, 5, 6)),
    (lambda: L.TimeDistributed(L.Conv2D(5, 2)), (4, 5, 6, 6, 2),
     (4, 5, 5, 5, 5)),
    (lambda: L.Concatenate(1), [(None, 5, 2), (None, 3, 2)], (None, 8, 2)),
    (lambda: L.Reshape((-1,)), (None, 5, 2), (None, 10)),
    (lambda: L.Reshape((-1, 2)), (None, None), (None, None, 2)),
    (lambda: L.Lambda(abs, output_shape=(4,)), (3, 5), (3, 4)),
    (lambda: L.Lambda(abs, output_shape=lambda s: (s[0], 9)), (3, 5), (3, 9)),
    (lambda: L.Embedding(3, 2, input_length=(None, 2)), (3, 4, 2),
     (3, 4, 2, 2)),
    (lambda: tf.keras.Sequential([L.Dense(3, input_shape=(4,)), L.Dense(7)]),
     (None, 4), (None, 7)),
]


def test_output_shapes_are_computed():
    with tf.Graph().as_default() as graph:
        for make, given, wanted in OUTPUT_SHAPES:
            layer = make()
            before = len(graph.get_operations())
            assert shapes(layer.compute_output_shape(given)) == wanted
            assert len(graph.get_operations()) == before
        for layer, given in ((L.Reshape((4,)), (3, 5)),
                             (L.Embedding(3, 2, input_length=4), (3, 5))):
            with pytest.raises(ValueError):
                layer.compute_output_shape(given)
        spec = L.Dense(3).compute_output_signature(
            tf.TensorSpec((3, 4), tf.float32))
        assert (spec.shape, spec.dtype) == ((3, 3), tf.float32)
        with pytest.raises(TypeError, match="Only TensorSpec"):
            L.Dense(3).compute_output_signature(tf.float32)


class OfAProgram(L.Layer):

    def call(self, x):
        return x


def test_a_programs_layer_computes_no_output_shape():
    with tf.Graph().as_default(), pytest.raises(NotImplementedError):
        OfAProgram().compute_output_shape((3, 5))


def results(case):
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert not result.errors and not result.failures, result
    return result


def test_kinds_of_models_and_modes():
    pytest.importorskip("absl")
    seen = []

    class Tests(cases.TestCase):

        @cases.run_with_all_model_types(exclude_models="sequential")
        @cases.run_all_keras_modes
        def test_mlp(self):
            seen.append((self._testMethodName, cases.get_model_type()))
            assert not cases.should_run_eagerly()
            model = cases.get_small_mlp(2, 3, 4)
            model.compile(cases.get_v2_optimizer("sgd"), "mse",
                          run_eagerly=cases.should_run_eagerly())
            (x, _), _ = cases.get_test_data(4, 1, (4,), 3)
            model.train_on_batch(x, np.zeros((4, 3)))
            assert model.predict(x).shape == (4, 3)

        @cases.run_all_keras_modes(always_skip_v1=True)
        def test_eager(self):
            seen.append("eager")

    assert len(results(Tests).skipped) == 1
    assert sorted(kind for _, kind in seen) == ["functional", "subclass"]


def test_models_of_branches():
    with tf.Graph().as_default():
        for kind in ("functional", "subclass", "subclass_custom_build"):
            with cases.model_type_scope(kind):
                model = cases.get_multi_io_model(
                    [L.Input((2,)), L.Dense(2)], [L.Input((3,)), L.Dense(2)],
                    shared_output_branch=[L.Add(), L.Dense(1)])
                model.compile("sgd", "mse")
                model.train_on_batch([np.ones((4, 2)), np.ones((4, 3))],
                                     np.ones((4, 1)))
                row = cases.get_model_from_layers([L.Dense(2), L.Dense(1)],
                                                  input_shape=(3,))
                row.compile("sgd", "mse")
                row.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))
    with pytest.raises(ValueError, match="outside of a `model_type_scope"):
        cases.get_model_type()
