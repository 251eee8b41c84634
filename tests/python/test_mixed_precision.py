"""Policies of tf.keras, variables that are cast where they are read, loss scales
of models and tf.contrib.mixed_precision, as in TensorFlow 1.15."""
import contextlib

import numpy as np
import pytest

import headrace as tf
from headrace._src.layers import policy
from headrace._src.variables import autocast

experimental = tf.keras.mixed_precision.experimental
layers = tf.keras.layers
Policy = experimental.Policy


@contextlib.contextmanager
def second_behavior():
    policy.enable_v2_dtype_behavior()
    try:
        yield
    finally:
        policy.disable_v2_dtype_behavior()
        experimental.set_policy(None)


@pytest.mark.parametrize("name, compute, variable, text", [
    ("float32", "float32", "float32", None),
    ("float16", "float16", "float16", None),
    ("int32", "int32", "int32", None),
    ("mixed_bfloat16", "bfloat16", "float32", None),
    ("infer", None, None, None),
    ("infer_float32_vars", None, "float32", "infer_with_float32_vars"),
    ("float32_with_float32_vars", "float32", "float32", "float32"),
    ("float16_with_float32_vars", "float16", "float32", None)])
def test_types_of_a_policy(name, compute, variable, text):
    found = Policy(name)
    assert (found.compute_dtype, found.variable_dtype) == (compute, variable)
    assert found.should_cast_variables == (compute != variable)
    assert repr(found) == '<Policy "%s", loss_scale=None>' % (text or name)


def test_loss_scales_of_policies():
    assert repr(Policy("mixed_float16").loss_scale) == (
        "DynamicLossScale(initial_loss_scale=32768.0, increment_period=2000, "
        "multiplier=2.0)")
    assert repr(Policy("mixed_float16", 8).loss_scale) == "FixedLossScale(8.0)"
    assert Policy("mixed_float16", loss_scale=None).loss_scale is None


@pytest.mark.parametrize("make, error, message", [
    (lambda: Policy(tf.float16), TypeError, "must be a string, not a DType"),
    (lambda: Policy(3), TypeError, "must be a string, but got: 3"),
    (lambda: Policy("bad"), ValueError, "Cannot convert value bad to a mixed"),
    (lambda: Policy("bad_with_float32_vars"), ValueError,
     "ends with _with_float32_vars, but bad cannot"),
    (lambda: Policy("float32", loss_scale="no"), ValueError, "loss scale"),
    (lambda: experimental.set_policy("mixed_float16"), ValueError,
     "only be set to a non-infer policy"),
    (lambda: autocast.AutoCastVariable(tf.Variable(1, use_resource=True)),
     ValueError, "floating point variable but has type: int32"),
    (lambda: autocast.AutoCastVariable(tf.Variable(1., use_resource=False)),
     ValueError, "must be of type tf.ResourceVariable")])
def test_refusals(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_global_policy_is_that_which_was_set():
    assert experimental.global_policy().name == "infer"
    experimental.set_policy("infer_with_float32_vars")
    try:
        dense = layers.Dense(3)
        y = dense(tf.ones([2, 3], tf.float16))
        assert (dense.dtype, dense._compute_dtype) == ("float32", "float16")
        assert y.dtype == tf.float16
        with pytest.raises(ValueError, match="has been set"):
            tf.train.experimental.enable_mixed_precision_graph_rewrite(
                tf.train.GradientDescentOptimizer(1.))
    finally:
        experimental.set_policy(None)
    tf.train.experimental.enable_mixed_precision_graph_rewrite(
        tf.train.GradientDescentOptimizer(1.))
    with pytest.raises(ValueError, match="already been enabled"):
        experimental.set_policy("infer")
    tf.train.experimental.disable_mixed_precision_graph_rewrite()
    experimental.set_policy(None)


@pytest.mark.parametrize("name, given, kernel, out", [
    ("mixed_float16", tf.float16, "AutoCastVariable", "float16"),
    ("mixed_float16", tf.float32, "AutoCastVariable", "float16"),
    ("float64", tf.float16, "ResourceVariable", "float64"),
    ("infer", tf.float16, "ResourceVariable", "float16")])
def test_policy_of_a_layer(name, given, kernel, out):
    dense = layers.Dense(3, dtype=Policy(name))
    y = dense(tf.ones([2, 3], given))
    assert type(dense.kernel).__name__ == kernel
    assert y.dtype.name == out
    assert dense.get_config()["dtype"] == dense.dtype == dense.kernel.dtype.name


class Seen(layers.Layer):
    """Notes the types that its call sees."""

    def build(self, input_shape):
        self.v = self.add_weight("v", shape=(), initializer="ones")
        self.kept = self.add_weight("k", shape=(), dtype="float32",
                                    initializer="ones",
                                    experimental_autocast=False)

    def call(self, x):
        self.seen = [t.dtype.name for t in (
            x, self.v, self.kept, tf.identity(self.v), self.v.read_value(),
            self.v + 1)]
        return tf.cast(x, tf.float32) * 1.


FLOAT16 = ["float16", "float16", "float32", "float16", "float16", "float16"]


@pytest.mark.parametrize("is_second, chosen, given, options, wanted", [
    (False, "mixed_float16", tf.float32, {}, ["float32"] + FLOAT16[1:]),
    (False, "mixed_float16", tf.float32, {"autocast": True}, FLOAT16),
    (False, "mixed_float16", tf.int32, {"autocast": True},
     ["int32"] + FLOAT16[1:]),
    (True, "mixed_float16", tf.float64, {}, FLOAT16),
    (True, "mixed_float16", tf.float64, {"autocast": False},
     ["float64"] + FLOAT16[1:]),
    (True, None, tf.float64, {}, ["float32"] * 6)])
def test_types_in_a_call(is_second, chosen, given, options, wanted):
    with second_behavior() if is_second else contextlib.nullcontext():
        layer = Seen(dtype=chosen and Policy(chosen), **options)
        layer(tf.ones([2], given))
    assert layer.seen == wanted
    assert layer.v.dtype == tf.float32


def test_model_of_the_second_behavior_scales_its_loss():
    with second_behavior():
        experimental.set_policy("mixed_float16")
        model = tf.keras.Sequential([
            layers.Dense(2, input_shape=(3,)), layers.BatchNormalization(),
            layers.Activation("softmax", dtype="float32")])
        model.compile("sgd", "mse")
    assert [x.output.dtype.name for x in model.layers] == [
        "float16", "float16", "float32"]
    assert {w.dtype.name for w in model.weights} == {"float32"}
    assert isinstance(model.optimizer, experimental.LossScaleOptimizer)


def test_autocast_variable_is_the_variable():
    v = tf.Variable(1., use_resource=True)
    cast = autocast.AutoCastVariable(v)
    with tf.get_default_graph()._enable_auto_casting_variables(tf.float16):
        types = [x.dtype.name for x in (
            cast, tf.identity(cast), cast.value(), 2 * cast, cast[...], v)]
        assert cast.true_dtype == tf.float32
        assert repr(cast) == ("<AutoCastVariable 'Variable:0' shape=() "
                              "dtype=float16 true_dtype=float32>")
        with autocast.read_as("int32"):
            assert cast.dtype == tf.float32
    assert types == ["float16"] * 5 + ["float32"]
    with tf.Session() as s:
        s.run(v.initializer)
        assert s.run(cast.assign_add(2.)) == 3 == s.run(v)


def network(chosen="mixed_float16"):
    x = layers.Input((4,), dtype="float16")
    dense = layers.Dense(3, dtype=Policy(chosen, loss_scale=None),
                         kernel_initializer="ones")
    y = layers.Lambda(lambda t: tf.cast(t, tf.float32))(dense(x))
    return tf.keras.Model(x, y), dense


DATA = np.ones((4, 4), np.float16), np.zeros((4, 3))


@pytest.mark.parametrize("scale, losses, kernel", [
    (None, [16., 0.4455], 0.2222), (8, [16., 0.4455], 0.2222),
    ("dynamic", [16., 16.], 0.3335)])
def test_training_in_float16(scale, losses, kernel):
    """The first dynamic step overflows float16, so it changes nothing."""
    model, dense = network()
    optimizer = tf.keras.optimizers.SGD(.25)
    if scale:
        optimizer = experimental.LossScaleOptimizer(optimizer, scale)
    model.compile(optimizer, "mse")
    history = model.fit(*DATA, epochs=2, verbose=0, batch_size=4).history
    np.testing.assert_allclose(history["loss"], losses, atol=1e-4)
    found = dense.get_weights()[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.full((4, 3), kernel), atol=1e-4)
    if scale == "dynamic":
        assert tf.keras.backend.get_value(optimizer.loss_scale()) == 16384


@pytest.mark.parametrize("scale", [None, 8, "dynamic"])
def test_replicas_scale_their_losses(scale):
    tf.keras.backend.set_session(tf.Session(
        config=tf.ConfigProto(device_count={"CPU": 2})))
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        model, dense = network()
        optimizer = tf.keras.optimizers.SGD(.25)
        if scale:
            optimizer = experimental.LossScaleOptimizer(optimizer, scale)
        model.compile(optimizer, "mse")
    losses = model.fit(*DATA, epochs=2, verbose=0,
                       batch_size=4).history["loss"]
    np.testing.assert_allclose(losses, [16., 0.4455], atol=1e-4)
    tf.keras.backend.clear_session()


def test_weights_are_saved_as_float32(tmp_path):
    model = tf.keras.Sequential([layers.Dense(
        2, dtype=Policy("mixed_float16"), input_shape=(3,))])
    before = model.get_weights()
    for name in ("weights.h5", "weights"):
        model.save_weights(str(tmp_path / name))
        model.set_weights([w + 1 for w in before])
        model.load_weights(str(tmp_path / name))
        for a, b in zip(model.get_weights(), before):
            np.testing.assert_array_equal(a, b)
    assert model.output.dtype == tf.float16


def test_compile_asks_for_an_optimizer_that_can_scale():
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__(dtype=Policy("mixed_float16", loss_scale=4))

        def call(self, x):
            return x
    model = Own()
    model.compile(tf.keras.optimizers.SGD(.1), "mse")
    assert repr(model.optimizer.loss_scale) == "FixedLossScale(4.0)"
    with pytest.raises(ValueError, match="must be an instance of"):
        model.compile(tf.train.GradientDescentOptimizer(1.), "mse")


STEPS = [1, 1, np.inf, 1, 1, 1, np.nan, np.nan]
contrib = tf.contrib.mixed_precision


@pytest.mark.parametrize("make, scales", [
    (lambda: contrib.FixedLossScaleManager(16.), [16.] * 8),
    (lambda: contrib.ExponentialUpdateLossScaleManager(8, 2),
     [8., 16., 16., 16., 32., 32., 32., 25.6]),
    (lambda: contrib.ExponentialUpdateLossScaleManager(1.1, 2, 1, 4, .5),
     [1.1, 4.4, 2.2, 2.2, 8.8, 8.8, 4.4, 2.2])])
def test_managers_of_loss_scales(make, scales):
    manager = make()
    x = tf.placeholder(tf.float32, [])
    w = tf.Variable([2., 3.])
    step = contrib.LossScaleOptimizer(
        tf.train.MomentumOptimizer(.1, 0.), manager).minimize(
            tf.reduce_sum(w * x))
    found = []
    with tf.Session() as s:
        s.run(tf.global_variables_initializer())
        for value in STEPS:
            s.run(step, {x: value})
            found.append(s.run(tf.identity(manager.get_loss_scale())))
        np.testing.assert_allclose(s.run(w), [1.5, 2.5], rtol=1e-6)
    np.testing.assert_allclose(found, scales, rtol=1e-6)


def test_managers_that_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        contrib.FixedLossScaleManager(.5)
    with pytest.raises(TypeError, match="abstract"):
        contrib.LossScaleManager()
