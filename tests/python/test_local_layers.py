"""tf.keras.layers: locally connected layers, compared with NumPy, and attention.
Values are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import headrace as tf
from headrace._src.layers import attention

K = tf.keras.backend
L = tf.keras.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def filled(layer, x):
    layer.build(x.shape)
    layer.set_weights([
        np.linspace(-1, 1, w.shape.num_elements()).reshape(w.shape.as_list())
        for w in layer.weights])
    return K.eval(layer(tf.constant(x)))


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_other_weights_at_each_place(data_format):
    first = data_format == "channels_first"
    x = np.random.RandomState(0).rand(2, 4, 5, 3).astype(np.float32)
    layer = L.LocallyConnected2D(2, (2, 3), (1, 2), data_format=data_format)
    found = filled(layer, x.transpose(0, 3, 1, 2) if first else x)
    kernel, bias = layer.get_weights()
    assert kernel.shape == (3 * 2, 2 * 3 * 3, 2)
    wanted = np.zeros((2, 3, 2, 2))
    for i in range(3):
        for j in range(2):
            window = x[:, i:i + 2, 2 * j:2 * j + 3]
            if first:
                window = window.transpose(0, 3, 1, 2)
            wanted[:, i, j] = window.reshape(2, -1) @ kernel[2 * i + j]
    if first:
        wanted = wanted.transpose(0, 3, 1, 2)
    np.testing.assert_allclose(found, wanted + bias.reshape(wanted.shape[1:]),
                               rtol=1e-4)


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_a_masked_matrix_is_the_sparse_one(padding, data_format):
    x = np.random.RandomState(1).rand(2, 7, 6).astype(np.float32)
    options = dict(padding=padding, strides=2, data_format=data_format)
    sparse = L.LocallyConnected1D(2, 3, implementation=3, **options)
    wanted = filled(sparse, x)
    dense = L.LocallyConnected1D(2, 3, implementation=2, **options)
    dense.build(x.shape)
    numbers, bias = sparse.get_weights()
    matrix = np.full(sparse.kernel_shape, 9., np.float32)  # 9s are masked
    for (out, taken), number in zip(sparse.kernel_idxs, numbers):
        matrix[out, taken] = number
    dense.set_weights([matrix.T.reshape(dense.kernel_shape), bias])
    found = K.eval(dense(tf.constant(x)))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    assert found.shape == tuple(dense.compute_output_shape(x.shape).as_list())


def c(x):
    return tf.constant(x, tf.float32)


def test_scores_of_attention():
    base = attention.BaseDenseAttention()
    found = base._apply_scores(c([[[1., 0., 1.]]]), c([[[1.6], [.7], [-.8]]]),
                               tf.constant([[[True, True, False]]]))
    np.testing.assert_allclose(K.eval(found), [[[1.35795]]], rtol=1e-5)
    query, key = c([[[1.1, .5]]]), c([[[1.6, .2], [.7, .1]]])
    product = L.Attention(use_scale=True)
    total = L.AdditiveAttention()
    for layer in (product, total):
        layer.build([query.shape, key.shape])
        layer.scale = -2.
    np.testing.assert_allclose(K.eval(product._calculate_scores(query, key)),
                               [[[-3.72, -1.64]]], rtol=1e-5)
    np.testing.assert_allclose(
        K.eval(total._calculate_scores(query, key)),
        [-2 * np.tanh([[2.7, .7], [1.8, .6]]).sum(-1)[np.newaxis]], rtol=1e-5)


@pytest.mark.parametrize("kind", [L.Attention, L.AdditiveAttention])
def test_masks_of_attention(kind):
    query, value = c([[[1.], [2.]]]), c([[[3.], [5.]]])
    causal = kind(causal=True)([query, value])
    np.testing.assert_allclose(K.eval(causal)[0, 0], [3.])
    masks = [tf.constant([[True, False]]), tf.constant([[True, False]])]
    layer = kind()
    np.testing.assert_allclose(K.eval(layer([query, value], mask=masks)),
                               [[[3.], [0.]]])
    assert K.eval(layer.compute_mask([query, value], masks)).tolist() == [
        [True, False]]
    assert layer.compute_mask([query, value], [None, masks[1]]) is None
    again = kind.from_config(kind(causal=True).get_config())
    assert again.causal


@pytest.mark.parametrize("make, message", [
    (lambda: L.Attention()(c([[[1.]]])), "called on a list of inputs"),
    (lambda: L.Attention()([c([[[1.]]])] * 4), "Given length: 4"),
    (lambda: L.Attention()([c([[[1.]]])] * 2, mask=tf.constant([[True]])),
     "mask must be a list, namely"),
    (lambda: L.Attention()([c([[[1.]]])] * 2, mask=[tf.constant([[True]])] * 3),
     "mask must be a list of length 2"),
    (lambda: L.LocallyConnected1D(2, 3, padding="same"),
     "only \"valid\" is supported"),
    (lambda: L.LocallyConnected1D(2, 3).build((1, None, 3)),
     "should be fully-defined"),
    (lambda: L.LocallyConnected1D(2, 3, implementation=4).build((1, 7, 3)),
     "Unrecognized implementation mode: 4"),
    (lambda: L.deserialize({"class_name": "Zap", "config": {}}),
     "Unknown layer")])
def test_refusals(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_layers_are_described():
    config = L.serialize(L.LocallyConnected1D(2, 3, name="local"))
    assert config["class_name"] == "LocallyConnected1D"
    again = L.deserialize(config)
    assert again.name == "local" and L.serialize(again) == config
