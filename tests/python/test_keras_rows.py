"""Models of tf.keras that take and give sparse and ragged tensors."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.keras import row_values

keras = tf.keras
layers = keras.layers

X = np.array([[0, 1., 0], [2, 0, 3], [0, 0, 0], [4, 0, 0]], np.float32)
ROWS = [[1, 2, 3], [4], [], [5, 6]]
SUMS = [[1., 1.], [5., 5.], [0., 0.], [4., 4.]]
PADDED = [[1, 2, 3], [4, -1, -1], [-1, -1, -1], [5, 6, -1]]


def sparse(x=X):
    at = np.argwhere(x)
    return tf.SparseTensorValue(at.astype(np.int64), x[tuple(at.T)], x.shape)


def ragged():
    return tf.ragged.constant_value(ROWS, dtype=np.int64)


class Matrix:
    """What the code uses of scipy.sparse's matrices."""

    def __init__(self, x):
        self._x = x
        self.row, self.col = np.nonzero(x)
        self.data, self.shape = x[self.row, self.col], x.shape

    def tocoo(self):
        return self

    tocsr = tocoo

    def toarray(self):
        return self._x


class ToDense(layers.Layer):
    def call(self, x):
        if isinstance(x, tf.RaggedTensor):
            return x.to_tensor(default_value=-1)
        if isinstance(x, tf.SparseTensor):
            x = tf.sparse.to_dense(x)
            x.set_shape([None, 3])
        return x


class ToRagged(layers.Layer):
    def call(self, x):
        return tf.RaggedTensor.from_tensor(x, padding=0.)


class ToSparse(layers.Layer):
    def call(self, x):
        return tf.sparse.from_dense(x)


def model():
    x = keras.Input((3,), sparse=True)
    return keras.Model(x, layers.Dense(2, kernel_initializer="ones")(
        ToDense()(x)))


@pytest.mark.parametrize("options, kind, dtype, shape", [
    ({"shape": (3,), "sparse": True}, tf.SparseTensor, "float32", [None, None]),
    ({"batch_shape": (2, 3), "sparse": True, "dtype": "int32"},
     tf.SparseTensor, "int32", [2, 3]),
    ({"shape": (None,), "ragged": True, "dtype": "int64"}, tf.RaggedTensor,
     "int64", [None, None]),
    ({"shape": (None, 4), "ragged": True}, tf.RaggedTensor, "float32",
     [None, None, 4])])
def test_inputs(options, kind, dtype, shape):
    x = keras.Input(**options)
    assert isinstance(x, kind)
    assert (x.dtype.name, x.shape.as_list()) == (dtype, shape)


def test_input_is_of_one_kind():
    with pytest.raises(ValueError, match="both sparse and ragged"):
        keras.Input((3,), sparse=True, ragged=True)


@pytest.mark.parametrize("make, options", [
    (sparse, {}), (sparse, {"batch_size": 3}), (lambda: Matrix(X), {}),
    (lambda: Matrix(X), {"batch_size": 3}),
    (lambda: tf.SparseTensor(*sparse()), {"steps": 1})],
    ids=["value", "value_3", "matrix", "matrix_3", "tensor"])
def test_prediction_for_sparse_data(make, options):
    assert model().predict(make(), **options).tolist() == SUMS


@pytest.mark.parametrize("options, losses", [
    ({}, [6.5, 5.7972]), ({"batch_size": 2}, [6.2482, 4.9794])])
def test_training_with_sparse_data(options, losses):
    trained = model()
    trained.compile("sgd", "mse")
    found = trained.fit(Matrix(X), np.ones((4, 2)), epochs=2, verbose=0,
                        shuffle=False, **options).history["loss"]
    np.testing.assert_allclose(found, losses, atol=1e-4)
    trained = model()
    trained.compile("sgd", "mse")
    assert trained.evaluate(Matrix(X), np.ones((4, 2)), verbose=0) == 6.5
    assert trained.train_on_batch(sparse(), np.ones((4, 2))) == 6.5
    assert trained.predict_on_batch(sparse()).shape == (4, 2)


def test_datasets_of_sparse_and_ragged_data():
    trained = model()
    trained.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensors((
        tf.SparseTensor(*sparse()), np.ones((4, 2), np.float32))).repeat(4)
    losses = trained.fit(data, epochs=2, steps_per_epoch=2,
                         verbose=0).history["loss"]
    np.testing.assert_allclose(losses, [6.1486, 4.9045], atol=1e-4)
    x = keras.Input((None,), ragged=True, dtype="int64")
    of_rows = keras.Model(x, ToDense()(x))
    data = tf.data.Dataset.from_tensors(tf.ragged.constant(
        ROWS, dtype=tf.int64))
    assert of_rows.predict(data, steps=1).tolist() == PADDED


def test_ragged_data():
    x = keras.Input((None,), ragged=True, dtype="int64")
    of_rows = keras.Model(x, ToDense()(x))
    assert of_rows.predict(ragged()).tolist() == PADDED
    chain = keras.Sequential([
        layers.InputLayer(input_shape=(None,), ragged=True, dtype="int64"),
        ToDense(), layers.Lambda(lambda t: t * 2)])
    assert chain.predict(tf.ragged.constant(ROWS, dtype=tf.int64),
                         steps=1)[0].tolist() == [2, 4, 6]


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}])
def test_outputs_are_joined(options):
    x = keras.Input((3,))
    found = keras.Model(x, ToRagged()(x)).predict(X, **options)
    assert found.to_list() == [[0., 1.], [2., 0., 3.], [], [4.]]
    found = keras.Model(x, ToSparse()(x)).predict(X, **options)
    assert found.indices.tolist() == [[0, 1], [1, 0], [1, 2], [3, 0]]
    assert found.values.tolist() == [1., 2., 3., 4.]
    assert list(found.dense_shape) == [4, 3]


def test_sparse_and_dense_inputs_together():
    x, y = keras.Input((3,), sparse=True), keras.Input((3,))
    both = keras.Model([x, y], layers.concatenate([ToDense()(x), y]))
    found = both.predict([sparse(), X], batch_size=3)
    np.testing.assert_array_equal(found, np.concatenate([X, X], 1))


def test_config_says_what_inputs_are():
    config = model().get_config()
    assert config["layers"][0]["config"]["sparse"] is True
    again = keras.Model.from_config(config, {"ToDense": ToDense})
    assert isinstance(again.inputs[0], tf.SparseTensor)
    assert again.input_names == [config["layers"][0]["name"]]


@pytest.mark.parametrize("run, message", [
    (lambda: model().predict(X), "is sparse, so it takes a SparseTensorValue"),
    (lambda: model().predict(tf.SparseTensor(*sparse())), "`steps` argument"),
    (lambda: keras.Sequential([layers.Dense(1, input_shape=(3,))]).predict(
        sparse()), "takes arrays, got SparseTensorValue")])
def test_refusals(run, message):
    with pytest.raises(ValueError, match=message):
        run()


def test_own_models_declare_sparse_inputs():
    class Own(keras.Model):
        def call(self, x):
            return x
    with pytest.raises(ValueError, match="must be explicitly declared"):
        Own().predict(ragged())
    assert Own().predict(Matrix(X)).tolist() == X.tolist()


def test_rows_of_values():
    rows = row_values.Rows(ragged())
    assert len(rows) == 4 and rows[[3, 0]].value.to_list() == [[5, 6],
                                                               [1, 2, 3]]
    assert row_values.Rows(sparse())[1:3].value.values.tolist() == [2., 3.]
    assert row_values.Rows(sparse())[:0].shape == (0, 3)
