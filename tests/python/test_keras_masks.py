"""Masks of tf.keras: the models of mask_programs.py give what TensorFlow 1.15
gives, and what layers refuse."""
import json

import mask_programs
import numpy as np
import pytest

import headrace as tf

K = tf.keras
L = tf.keras.layers

with open(mask_programs.VALUES) as file:
    WANTED = json.load(file)


def test_every_program_has_values():
    assert sorted(WANTED) == sorted(mask_programs.PROGRAMS)


@pytest.mark.parametrize("name", sorted(mask_programs.PROGRAMS))
def test_a_model_gives_what_tensorflow_gives(name):
    got, wanted = mask_programs.run(tf, name), WANTED[name]
    assert got.keys() == wanted.keys() and got["mask"] == wanted["mask"]
    for key in wanted.keys() - {"mask"}:
        if key == "weights":
            np.testing.assert_allclose(np.hstack(got[key]),
                                       np.hstack(wanted[key]), rtol=1e-4,
                                       atol=1e-4)
        else:
            np.testing.assert_allclose(got[key], wanted[key], rtol=2e-4,
                                       atol=2e-5, err_msg=key)


def value(tensor, **feeds):
    return K.backend.get_session().run(tensor, feeds or None)


WORDS = np.array([[1., 2., 0.], [0., 3., 0.]], np.float32)
THERE = [[True, True, False], [False, True, False]]


def embedded():
    return L.Embedding(5, 2, mask_zero=True)(tf.constant(WORDS))


def test_masks_of_layers():
    x = embedded()
    assert value(x._keras_mask).tolist() == THERE
    for layer in (L.Dense(3), L.Dropout(.5), L.Activation("relu"), L.Softmax(),
                  L.BatchNormalization(), L.ELU(), L.LeakyReLU(), L.PReLU(),
                  L.GaussianNoise(.1), L.ThresholdedReLU(), L.LayerNormalization(),
                  L.SpatialDropout1D(.5), L.LSTM(2, return_sequences=True),
                  L.TimeDistributed(L.Dense(2)),
                  L.Bidirectional(L.GRU(2, return_sequences=True))):
        assert layer.supports_masking, layer
        assert value(layer(x)._keras_mask).tolist() == THERE
        again = layer.compute_mask(x, tf.constant(THERE))
        assert value(again).tolist() == THERE
    for layer in (L.Flatten(), L.Conv1D(2, 1), L.Reshape((6,)), L.ReLU(),
                  L.Permute((2, 1)), L.UpSampling1D(2), L.Lambda(lambda x: x + 1),
                  L.GlobalMaxPooling1D(), L.LSTM(2), L.GRU(2),
                  L.Bidirectional(L.GRU(2)), L.GlobalAveragePooling1D()):
        assert layer(x)._keras_mask is None, layer
    for layer in (L.Flatten(), L.Conv1D(2, 1), L.ReLU()):
        assert not layer.supports_masking
        assert layer.compute_mask(x) is layer.compute_mask(x, [None]) is None
        with pytest.raises(TypeError, match="does not support masking, but was "
                           "passed an input_mask"):
            layer.compute_mask(x, x._keras_mask)


def test_masks_of_calls():
    x = embedded()
    layer = L.Dense(2)
    y = layer(x)
    assert layer.input_mask is layer.get_input_mask_at(0) is x._keras_mask
    assert layer.output_mask is layer.get_output_mask_at(0) is y._keras_mask
    layer(tf.zeros([1, 2]))
    assert layer.get_output_mask_at(1) is None
    assert layer.output_mask is y._keras_mask  # of the first call
    with pytest.raises(ValueError, match="input_mask at node 2, but the layer "
                       "has only 2"):
        layer.get_input_mask_at(2)
    both = L.Add()
    both([x, tf.zeros([2, 3, 2])])
    assert both.input_mask == [x._keras_mask, None]


def test_masks_of_results_and_states():
    x = embedded()
    for made, wanted in (
            (L.LSTM(2, return_state=True), [None] * 3),
            (L.GRU(2, return_sequences=True, return_state=True), [THERE, None]),
            (L.Bidirectional(L.LSTM(2, return_sequences=True), merge_mode=None),
             [THERE, THERE]),
            (L.Bidirectional(L.GRU(2, return_state=True)), [None] * 3),
            (L.Bidirectional(L.GRU(2, return_state=True), merge_mode=None),
             [None] * 4)):
        found = [y._keras_mask for y in made(x)]
        assert [m if m is None else value(m).tolist() for m in found] == wanted


def test_a_mask_that_is_given():
    x = tf.constant(np.ones([2, 3, 2], np.float32))
    given = tf.constant(THERE)
    layer = L.SimpleRNN(1, "linear", kernel_initializer="ones",
                        recurrent_initializer="ones")
    assert value(layer(x)).tolist() == [[6.], [6.]]
    assert value(layer(x, mask=given)).tolist() == [[4.], [2.]]
    backwards = L.SimpleRNN(
        1, "linear", kernel_initializer="ones", recurrent_initializer="ones",
        go_backwards=True, return_sequences=True)
    assert value(backwards(x, mask=given))[..., 0].tolist() == [
        [0., 2., 4.], [0., 2., 2.]]
    model = K.Sequential([layer])
    assert value(model(x, mask=given)).tolist() == [[4.], [2.]]
    assert model.compute_mask(x, given) is None
    model = K.Sequential([L.Dense(2, input_shape=(3, 2))])
    assert value(model.compute_mask(x, given)).tolist() == THERE
    mean = L.GlobalAveragePooling1D(data_format="channels_first")
    x = tf.constant([[[1., 2., 9.]], [[3., 4., 5.]]])
    assert value(mean(x, mask=given)).tolist() == [[1.5], [4.]]


def test_masks_of_several_inputs():
    a, b = embedded(), embedded()
    other = tf.constant([[False, True, True]] * 2)
    b._keras_mask = other
    c = tf.zeros([2, 3, 2])
    both = [[False, True, False]] * 2
    for layer in (L.Add(), L.Multiply(), L.Subtract(), L.Average(), L.Maximum(),
                  L.Minimum(), L.Concatenate()):
        assert value(layer([a, b])._keras_mask).tolist() == both
        assert value(layer([a, c])._keras_mask).tolist() == THERE
        assert layer([c, c])._keras_mask is None
    with pytest.raises(ValueError, match="`mask` should be a list of as many"):
        L.Concatenate().compute_mask([a, b], [other])


def test_configs_have_what_masks_need():
    for layer in (L.Embedding(5, 2, mask_zero=True, input_length=3),
                  L.Masking(2.), L.LSTM(2, zero_output_for_mask=True)):
        again = type(layer).from_config(layer.get_config())
        assert again.get_config() == layer.get_config()
    assert again.zero_output_for_mask
    assert L.Masking().get_config()["mask_value"] == 0.
    assert "zero_output_for_mask" not in L.LSTM(2).get_config()


def test_a_function_with_a_mask():
    x = embedded()
    layer = L.Lambda(lambda x, mask: x * tf.expand_dims(
        tf.cast(mask, tf.float32), -1), mask=lambda x, mask: mask)
    y = layer(x)
    assert value(y._keras_mask).tolist() == THERE
    found = value(y)
    assert ((found != 0).any(-1).tolist()) == THERE
    fixed = L.Lambda(lambda x: x + 1., mask=tf.constant(THERE))
    assert value(fixed(tf.zeros([2, 3]))._keras_mask).tolist() == THERE
