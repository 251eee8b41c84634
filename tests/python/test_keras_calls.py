"""Calls of layers inside calls: what they are told of training and masks, and how
models repeat them."""
import numpy as np
import pytest

import headrace as tf

K = tf.keras.backend
L = tf.keras.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


class Told(L.Layer):
    """Keeps what its calls said of training."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.said = []

    def call(self, x, training=None):
        self.said.append(training)
        return x + 1


class Around(L.Layer):

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def call(self, x):
        return self.inner(x)


class AroundToldToo(Around):

    def call(self, x, training=None):
        return self.inner(x)


class AroundThatSays(Around):

    def call(self, x):
        return self.inner(x, training=None)


class ModelAround(tf.keras.Model):

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def call(self, x):
        return self.inner(x)


def network(inner):
    x = tf.keras.Input((3,))
    model = tf.keras.Model(x, inner(x))
    inner.said.clear()
    return model


@pytest.mark.parametrize("around", [
    Around, AroundToldToo, ModelAround, lambda inner: L.TimeDistributed(inner),
    network, lambda inner: tf.keras.Sequential([inner]),
    lambda inner: ModelAround(Around(inner))])
@pytest.mark.parametrize("said", [True, False, None])
def test_layers_inside_are_told_what_the_call_around_them_was(around, said):
    inner = Told()
    layer = around(inner)
    layer(tf.zeros([2, 3]), training=said)
    layer(tf.zeros([2, 3]))
    assert inner.said == [said, None]


def test_a_call_that_says_nothing_is_for_those_inside_too():
    inner = Told()
    AroundThatSays(inner)(tf.zeros([2, 3]), training=True)
    assert inner.said == [None]


def test_a_call_that_fails_leaves_no_word_of_training():
    class Fails(L.Layer):

        def call(self, x):
            raise KeyError("here")

    with pytest.raises(KeyError):
        Fails()(tf.zeros([2]), training=True)
    told = Told()
    told(tf.zeros([2]))
    assert told.said == [None]


def test_the_word_of_training_is_a_bool():
    inner = Told()
    Around(inner)(tf.zeros([2]), training=1)
    Around(inner)(tf.zeros([2]), training=tf.constant(1))
    assert inner.said[0] is True
    assert inner.said[1].dtype == tf.bool


def test_the_learning_phase_of_a_graph_is_its_own():
    K.set_learning_phase(True)
    assert K.learning_phase() is True
    dropped = L.Dropout(.5)(tf.ones([50]))
    told = Told()
    told(tf.zeros([2]))
    # tf.layers follow their own argument, which is False.
    kept = tf.layers.Dropout(.5)(tf.ones([50]))
    with tf.Session() as session:
        assert (session.run(dropped) == 0).any()
        assert (session.run(kept) == 1).all()
    assert told.said == [None]
    with tf.Graph().as_default():
        assert isinstance(K.learning_phase(), tf.Tensor)
        K.set_learning_phase(0)
    assert K.learning_phase() is True


def test_arguments_by_name():
    got = []

    class Any(L.Layer):

        def call(self, x, **kwargs):
            got.append(kwargs)
            return x + 1

    Any()(tf.zeros([2]), other=3)
    Any()(tf.zeros([2]), training=True)
    Around(Any())(tf.zeros([2]), training=False)
    assert got == [{"other": 3}, {"training": True}, {"training": False}]


def test_a_model_repeats_the_arguments_of_its_calls():
    x = tf.keras.Input((100,))
    always = L.Dropout(.5)(x, training=True)
    states = tf.fill([2, 4], 5.)
    sequence = tf.keras.Input((3, 2), batch_size=2)
    gru = L.GRU(4)
    started = gru(sequence, initial_state=states)
    inner = Told()
    outer = Around(inner)(x, training=True)
    first = tf.keras.Model(x, [always, outer])
    second = tf.keras.Model(sequence, started)
    inner.said.clear()
    found = first(tf.ones([2, 100]))[0]
    first(tf.ones([2, 100]), training=False)
    # The layer around it takes no `training`, so the model does not repeat it.
    assert inner.said == [None, False]
    again, plain = second(tf.ones([2, 3, 2])), gru(tf.ones([2, 3, 2]))
    want = gru(tf.ones([2, 3, 2]), initial_state=states)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert (session.run(found) == 0).any()
        again, plain, want = session.run([again, plain, want])
    np.testing.assert_allclose(again, want, rtol=1e-6)
    assert not np.allclose(again, plain)


def test_models_with_a_call_without_a_mask():
    class Plain(tf.keras.Model):

        def call(self, x):
            return x + 1

    class Masked(tf.keras.Model):

        def call(self, x, training=None, mask=None):
            masks.append(mask)
            return x + 1

    masks = []
    x = L.Masking()(tf.zeros([2, 3, 4]))
    for model in Plain(), Masked():
        count = len(tf.get_default_graph().get_operations())
        assert model(x)._keras_mask is None
        assert model.compute_mask(x, x._keras_mask) is None
        # The call added its nodes once.
        assert len(tf.get_default_graph().get_operations()) == count + 2
    assert masks == [None]
    Masked()(x, mask=x._keras_mask)
    assert masks[1] is x._keras_mask


class AddsLoss(L.Layer):

    def call(self, xs):
        self.add_loss(tf.reduce_mean(tf.square(xs[0] - xs[1])), inputs=xs)
        return xs[1]


def test_a_layer_that_returns_its_input_belongs_to_the_model():
    x = tf.keras.Input((3,))
    y = AddsLoss(name="loss")([x, L.Dense(3, kernel_initializer="zeros")(x)])
    assert y.name == "loss/loss/Identity:0"
    model = tf.keras.Model(x, y)
    assert [type(layer).__name__ for layer in model.layers] == [
        "InputLayer", "Dense", "AddsLoss"]
    assert len(model.losses) == 1
    model.compile("sgd", loss=None)
    losses = model.fit(np.ones((4, 3)), None, epochs=2,
                       verbose=0).history["loss"]
    assert losses[0] == 1 and losses[1] < 1


def test_a_tensor_of_no_layer_is_returned_as_it_is():
    x = tf.zeros([2, 3])
    assert L.Lambda(lambda x: x)(x) is x
    x = tf.keras.Input((3,))
    assert L.Lambda(lambda x: x)(x) is not x


@pytest.mark.parametrize("make", [
    lambda **options: L.DepthwiseConv2D(3, **options),
    lambda **options: L.SeparableConv2D(4, 3, **options),
    lambda **options: L.SeparableConv1D(4, 3, **options)])
def test_options_of_a_kernel_that_a_layer_does_not_have(make):
    layer = make(kernel_initializer="ones", kernel_regularizer="l2",
                 kernel_constraint=None)
    assert type(layer).from_config(layer.get_config()).name == layer.name
    sizes = (1, 8, 5) if isinstance(layer, L.SeparableConv1D) else (1, 8, 8, 5)
    layer(tf.zeros(sizes))
    assert layer.losses == []
