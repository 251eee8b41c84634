"""tf.layers and tf.keras.layers: names, variables, collections, values."""
import numpy as np
import pytest

import headrace as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def names(variables):
    return [v.name for v in variables]


def run(fetches, feed=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def numbers(*shape):
    return np.random.RandomState(3).uniform(-1, 1, shape).astype(np.float32)


def constant(value):
    return tf.constant_initializer(value)


# What graphs have.

def test_names_of_layers_and_their_variables(graph):
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    h = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.flatten(h)
    with tf.variable_scope("s"):
        h = tf.layers.dense(h, 6, name="fc")
        h = tf.layers.dense(h, 5)
        out = tf.layers.dense(h, 5)
    assert names(tf.trainable_variables()) == [
        "conv2d/kernel:0", "conv2d/bias:0", "s/fc/kernel:0", "s/fc/bias:0",
        "s/dense/kernel:0", "s/dense/bias:0", "s/dense_1/kernel:0",
        "s/dense_1/bias:0"]
    assert out.name == "s/dense_1/BiasAdd:0"
    assert out.get_shape().as_list() == [None, 5]
    for name in ("conv2d/Conv2D", "conv2d/BiasAdd", "conv2d/Relu",
                 "max_pooling2d/MaxPool", "flatten/Reshape", "s/fc/MatMul"):
        graph.get_operation_by_name(name)


def test_a_name_is_reused():
    x = tf.ones([2, 3])
    with tf.variable_scope("s"):
        first = tf.layers.dense(x, 4, name="fc")
        with pytest.raises(ValueError, match="already exists"):
            tf.layers.dense(x, 4, name="fc")
        again = tf.layers.dense(x, 4, name="fc", reuse=True)
    with tf.variable_scope("s", reuse=True):
        third = tf.layers.dense(x, 4, name="fc")
    with pytest.raises(ValueError, match="does not exist"):
        tf.layers.dense(x, 4, name="other", reuse=True)
    assert len(tf.global_variables()) == 2
    a, b, c = run([first, again, third])
    assert (a == b).all() and (a == c).all()


def test_a_layer_that_is_called_twice_has_one_set_of_weights():
    layer = tf.layers.Dense(4)
    with pytest.raises(ValueError, match="has not been used yet"):
        layer.scope_name
    a, b = layer(tf.ones([2, 3])), layer(tf.ones([5, 3]))
    assert (a.name, b.name) == ("dense/BiasAdd:0", "dense/BiasAdd_1:0")
    assert layer.scope_name == "dense" and layer.built
    assert names(layer.variables) == ["dense/kernel:0", "dense/bias:0"]
    assert layer.count_params() == 16
    with pytest.raises(ValueError, match="axis -1 of input shape to have "
                       "value 3"):
        layer(tf.ones([2, 7]))


def test_regularization_losses_are_collected_once():
    x = tf.ones([2, 3])

    def square(w):
        return tf.reduce_sum(w * w)
    for reuse in (None, True):
        tf.layers.dense(x, 1, name="fc", reuse=reuse, use_bias=False,
                        kernel_initializer=constant([1, 2, 3]),
                        kernel_regularizer=square)
    loss, = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name.startswith("fc/kernel/Regularizer/")
    assert run(loss) == 14


def test_activity_regularizer_and_losses_of_a_layer():
    layer = tf.layers.Dense(
        1, use_bias=False, kernel_initializer=constant(2.),
        activity_regularizer=tf.reduce_sum,
        kernel_regularizer=tf.keras.regularizers.l1_l2(0.5, 0.25))
    x = tf.ones([4, 3])
    layer(x)
    # The activity's loss is a mean over the batch.
    assert run(layer.get_losses_for(x)) == [6.]
    assert run(layer.get_losses_for(None)) == [3. + 3.]
    assert len(layer.losses) == 2
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == (
        layer.losses)


def test_constraints_are_the_variables():
    layer = tf.layers.Dense(2, kernel_constraint=tf.keras.constraints.NonNeg())
    layer(tf.ones([1, 2]))
    assert isinstance(layer.kernel.constraint, tf.keras.constraints.NonNeg)


def test_layers_of_ones_own():
    class Scaled(tf.layers.Layer):
        def build(self, shape):
            self.scale = self.add_variable("scale", [int(shape[-1])],
                                           initializer=tf.ones_initializer())
            self.count = self.add_weight("count", [], trainable=False,
                                         initializer=tf.zeros_initializer())
            self.built = True

        def call(self, inputs, factor=1.):
            self.add_update(tf.assign_add(self.count, 1.), inputs=inputs)
            return inputs * self.scale * factor

    layer = Scaled(name="mine")
    out = layer(tf.constant([[1., 2.]]), factor=3.)
    assert names(layer.trainable_weights) == ["mine/scale:0"]
    assert names(layer.non_trainable_weights) == ["mine/count:0"]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == layer.updates
    assert run(out).tolist() == [[3., 6.]]

    class Nothing(tf.layers.Layer):
        def call(self, inputs):
            return None
    with pytest.raises(ValueError, match="not None"):
        Nothing()(tf.ones([1]))


def test_layers_that_do_not_train():
    tf.layers.dense(tf.ones([1, 2]), 2, trainable=False)
    assert not tf.trainable_variables() and len(tf.global_variables()) == 2


def test_initializers_of_the_scope():
    with tf.variable_scope("s", initializer=tf.constant_initializer(5.)):
        y = tf.layers.dense(tf.ones([1, 2]), 1)
    assert run(y) == [[10.]]


def test_dtype_is_that_of_the_inputs():
    y = tf.layers.dense(tf.ones([1, 2], tf.float64), 1)
    assert y.dtype == tf.float64
    assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float64}


def test_partitioned_kernels():
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        y = tf.layers.dense(tf.ones([1, 4]), 3, use_bias=False,
                            kernel_initializer=tf.ones_initializer())
    assert names(tf.global_variables()) == ["s/dense/kernel/part_0:0",
                                            "s/dense/kernel/part_1:0"]
    assert run(y).tolist() == [[4., 4., 4.]]


def test_keras_style():
    with tf.layers.experimental.keras_style_scope():
        layer = tf.layers.Dense(2, name="d")
        with pytest.raises(ValueError, match="keras style"):
            tf.layers.Dense(2, _reuse=True)
    with tf.variable_scope("unused"):
        layer(tf.ones([1, 2]))
    assert len(layer.weights) == 2
    assert not hasattr(tf.get_variable_scope(), "d")


# What layers compute.

def test_dense():
    x, w, b = numbers(2, 3, 4), numbers(4, 5), numbers(5)
    y = tf.layers.dense(x, 5, kernel_initializer=constant(w),
                        bias_initializer=constant(b), activation=tf.nn.relu)
    assert y.get_shape().as_list() == [2, 3, 5]
    np.testing.assert_allclose(run(y), np.maximum(x @ w + b, 0), rtol=1e-5,
                               atol=1e-6)


def convolved(x, w, stride=1, dilation=1):
    """VALID, of [batch, rows, columns, channels]."""
    rows = (x.shape[1] - (w.shape[0] - 1) * dilation - 1) // stride + 1
    columns = (x.shape[2] - (w.shape[1] - 1) * dilation - 1) // stride + 1
    out = np.zeros([x.shape[0], rows, columns, w.shape[3]], np.float64)
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            part = x[:, i * dilation:i * dilation + (rows - 1) * stride + 1:
                     stride, j * dilation:
                     j * dilation + (columns - 1) * stride + 1:stride]
            out += part @ w[i, j]
    return out


@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_conv2d(stride, dilation, data_format):
    x, w = numbers(2, 7, 9, 3), numbers(3, 2, 3, 4)
    first = data_format == "channels_first"
    y = tf.layers.conv2d(
        x.transpose(0, 3, 1, 2) if first else x, 4, (3, 2), strides=stride,
        dilation_rate=dilation, data_format=data_format,
        kernel_initializer=constant(w), bias_initializer=constant(0.5))
    wanted = convolved(x, w, stride, dilation) + 0.5
    got = run(y)
    assert list(got.shape) == y.get_shape().as_list()
    np.testing.assert_allclose(got.transpose(0, 2, 3, 1) if first else got,
                               wanted, rtol=1e-4, atol=1e-5)


def test_conv1d_is_conv2d_of_one_row():
    x, w = numbers(2, 9, 3), numbers(4, 3, 2)
    y = tf.layers.conv1d(x, 2, 4, kernel_initializer=constant(w))
    np.testing.assert_allclose(
        run(y), convolved(x[:, None], w[None])[:, 0], rtol=1e-4, atol=1e-5)


def test_conv3d_with_a_window_of_one_is_dense():
    x, w = numbers(2, 2, 3, 4, 5), numbers(1, 1, 1, 5, 2)
    y = tf.layers.conv3d(x, 2, 1, kernel_initializer=constant(w))
    np.testing.assert_allclose(run(y), x @ w[0, 0, 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding, size", [("valid", 9), ("same", 8)])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_conv2d_transpose(padding, size, data_format):
    x, w = numbers(1, 4, 4, 2), numbers(3, 3, 5, 2)
    full = np.zeros([1, 9, 9, 5])
    for r in range(4):
        for c in range(4):
            full[0, 2 * r:2 * r + 3, 2 * c:2 * c + 3] += w @ x[0, r, c]
    first = data_format == "channels_first"
    y = tf.layers.conv2d_transpose(
        x.transpose(0, 3, 1, 2) if first else x, 5, 3, strides=2,
        padding=padding, data_format=data_format,
        kernel_initializer=constant(w))
    got = run(y)
    assert list(got.shape) == y.get_shape().as_list()
    got = got.transpose(0, 2, 3, 1) if first else got
    np.testing.assert_allclose(got, full[:, :size, :size], rtol=1e-4,
                               atol=1e-5)


def test_conv3d_transpose_shape():
    y = tf.layers.conv3d_transpose(numbers(1, 2, 3, 4, 2), 3, 2, strides=2)
    assert run(y).shape == tuple(y.get_shape().as_list()) == (1, 4, 6, 8, 3)


def test_separable_conv2d():
    x, depth, point = numbers(1, 5, 6, 2), numbers(3, 3, 2, 2), numbers(
        1, 1, 4, 3)
    y = tf.layers.separable_conv2d(
        x, 3, 3, depth_multiplier=2, depthwise_initializer=constant(depth),
        pointwise_initializer=constant(point))
    apart = [convolved(x[..., c:c + 1], depth[:, :, c:c + 1, :])
             for c in range(2)]
    np.testing.assert_allclose(run(y), np.concatenate(apart, 3) @ point[0, 0],
                               rtol=1e-4, atol=1e-5)
    assert names(tf.global_variables()) == [
        "separable_conv2d/depthwise_kernel:0",
        "separable_conv2d/pointwise_kernel:0", "separable_conv2d/bias:0"]


def test_separable_conv1d_is_causal():
    x = numbers(1, 6, 2)
    y = tf.layers.separable_conv1d(
        x, 1, 3, padding="causal", depthwise_initializer=constant(1.),
        pointwise_initializer=constant(1.))
    sums = x.sum(2)
    wanted = [sums[0, max(0, i - 2):i + 1].sum() for i in range(6)]
    np.testing.assert_allclose(run(y)[0, :, 0], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pooling(rank, data_format):
    x = numbers(*([2] + [4] * rank + [3]))
    first = data_format == "channels_first"
    axes = tuple(range(1, rank + 1))
    given = np.moveaxis(x, -1, 1) if first else x
    for name, reduce in (("max_pooling%dd", np.max),
                         ("average_pooling%dd", np.mean)):
        y = getattr(tf.layers, name % rank)(given, 4, 1,
                                            data_format=data_format)
        got = run(y)
        assert list(got.shape) == y.get_shape().as_list()
        np.testing.assert_allclose(
            np.moveaxis(got, 1, -1) if first else got,
            reduce(x, axis=axes, keepdims=True), rtol=1e-5)


def test_dropout():
    x = tf.ones([100, 100])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.25, seed=1, training=training)
    assert (run(y, {training: False}) == 1).all()
    dropped = run(y, {training: True})
    assert set(np.unique(dropped)) == {0., np.float32(1 / 0.75)}
    assert 0.2 < (dropped == 0).mean() < 0.3
    assert (run(tf.layers.dropout(x, 0.25)) == 1).all()
    rows = run(tf.layers.dropout(x, 0.5, noise_shape=[None, 1],
                                 training=True))
    assert (rows == rows[:, :1]).all() and len(np.unique(rows)) == 2


@pytest.mark.parametrize("shape, axis, fused", [
    ((6, 5), -1, None), ((3, 4, 4, 5), -1, None), ((3, 4, 4, 5), -1, False),
    ((3, 5, 4, 4), 1, None), ((3, 5, 4), 1, None)])
@pytest.mark.parametrize("how", ["python", "tensor"])
def test_batch_normalization(shape, axis, fused, how):
    x = numbers(*shape) * 3 + 1
    n = 5
    gamma, beta = numbers(n) + 2, numbers(n)
    known = how == "python"
    training = True if known else tf.placeholder(tf.bool, [])
    options = dict(axis=axis, fused=fused, momentum=0.9,
                   gamma_initializer=constant(gamma),
                   beta_initializer=constant(beta))
    y = tf.layers.batch_normalization(x, training=training, **options)
    assert names(tf.global_variables()) == [
        "batch_normalization/gamma:0", "batch_normalization/beta:0",
        "batch_normalization/moving_mean:0",
        "batch_normalization/moving_variance:0"]
    assert len(tf.trainable_variables()) == 2
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    axes = tuple(i for i in range(len(shape)) if i != axis % len(shape))
    wide = [1] * len(shape)
    wide[axis] = n
    mean, variance = x.mean(axes), x.var(axes)

    def normal(mean, variance):
        return ((x - mean.reshape(wide))
                / np.sqrt(variance.reshape(wide) + 1e-3)
                * gamma.reshape(wide) + beta.reshape(wide))
    feed = {} if known else {training: True}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got, _ = session.run([y, updates], feed)
        np.testing.assert_allclose(got, normal(mean, variance), rtol=1e-3,
                                   atol=1e-4)
        moving = session.run(tf.global_variables()[2:])
        np.testing.assert_allclose(moving[0], 0.1 * mean, rtol=1e-4, atol=1e-5)
        # The fused op's variance is that of a sample.
        count = x.size // n
        is_fused = fused is None and len(shape) == 4
        sample = variance * (count / (count - 1) if is_fused else 1)
        np.testing.assert_allclose(moving[1], 0.9 + 0.1 * sample, rtol=1e-4)
        if not known:
            got, _ = session.run([y, updates], {training: False})
            np.testing.assert_allclose(got, normal(*moving), rtol=1e-3,
                                       atol=1e-4)
            for before, after in zip(moving, session.run(
                    tf.global_variables()[2:])):
                np.testing.assert_allclose(before, after)


def test_batch_normalization_at_rest_has_no_updates():
    y = tf.layers.batch_normalization(np.ones([2, 3], np.float32),
                                      center=False, scale=False)
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    np.testing.assert_allclose(run(y), 1 / np.sqrt(1.001), rtol=1e-5)


def test_flatten_of_channels_first():
    x = numbers(2, 3, 4, 5)
    y = tf.layers.flatten(x, data_format="channels_first")
    assert (run(y) == x.transpose(0, 2, 3, 1).reshape(2, -1)).all()


# Refusals.

@pytest.mark.parametrize("function, arguments, message", [
    (tf.layers.dense, (np.ones([3], np.float32), 2), "expected min_ndim=2"),
    (tf.layers.conv2d, (np.ones([3, 4], np.float32), 2, 3), "expected ndim=4"),
    (tf.layers.conv2d, (np.ones([1, 4, 4, 1], np.float32), 2, (1, 2, 3)),
     "`kernel_size` argument must be a tuple of 2 integers"),
    (tf.layers.conv2d, (np.ones([1, 4, 4, 1], np.float32), 2, 3, 1, "some"),
     "`padding` argument"),
    (tf.layers.max_pooling2d, (np.ones([1, 4, 4, 1], np.float32), 2, 2,
                               "valid", "NHWC"), "`data_format` argument"),
])
def test_wrong_arguments(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize("arguments, message", [
    (dict(renorm=True, renorm_clipping={"max": 1.}),
     "contains keys not in .*'rmax', 'rmin', 'dmax'"),
    (dict(virtual_batch_size=0), "virtual_batch_size must be a positive"),
    (dict(virtual_batch_size=2, axis=0), "axis cannot include 0"),
    (dict(virtual_batch_size=2, adjustment=lambda shape: (1., 1.)),
     "adjustment cannot be specified"),
    (dict(axis=5), "Invalid axis: 5"),
    (dict(axis=[1, -1]), "Duplicate axis")])
def test_normalization_that_is_not_supported(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.layers.batch_normalization(np.ones([2, 3], np.float32), **arguments)


LIMITS = {"rmax": 1.1, "rmin": 0.9, "dmax": 0.2}


@pytest.mark.parametrize("limits", [{}, LIMITS, {"rmax": 1.1}])
@pytest.mark.parametrize("shape, axis", [((6, 3), -1), ((4, 3, 2, 2), 1),
                                         ((4, 3, 2, 2), [1, 2])])
def test_batch_renormalization(shape, axis, limits):
    x = tf.placeholder(tf.float32, shape)
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(
        x, axis, training=training, momentum=0.9, renorm=True, fused=True,
        renorm_clipping=limits, renorm_momentum=0.5)
    kept = [axis % len(shape)] if isinstance(axis, int) else axis
    axes = tuple(i for i in range(len(shape)) if i not in kept)
    names = [v.op.name.split("/")[1] for v in tf.global_variables()]
    assert names == ["gamma", "beta", "moving_mean", "moving_variance",
                     "moving_stddev", "renorm_mean", "renorm_stddev"]
    first = np.zeros([n if i in kept else 1 for i, n in enumerate(shape)])
    mean, stddev, means, stddevs = first, first + 1, first, first + 1
    variances = stddevs
    data = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(4):
            a = (data.randn(*shape) * 2 + 1).astype(np.float32)
            got, _ = session.run([y, tf.get_collection("update_ops")],
                                 {x: a, training: step != 2})
            if step == 2:  # not in training
                wanted = (a - means) / np.sqrt(variances + 1e-3)
            else:
                m = a.mean(axes, keepdims=True)
                s = np.sqrt(a.var(axes, keepdims=True) + 1e-3)
                r = np.clip(s / stddev, limits.get("rmin"),
                            limits.get("rmax", np.inf))
                far = limits.get("dmax", np.inf)
                d = np.clip((m - mean) / stddev, -far, far)
                wanted = (a - m) / s * r + d
                mean, stddev = (mean + m) / 2, (stddev + s) / 2
                means, stddevs = .9 * means + .1 * m, .9 * stddevs + .1 * s
                variances = stddevs ** 2 - 1e-3
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        for v, wanted in zip(tf.global_variables()[2:], (
                means, variances, stddevs, mean, stddev)):
            np.testing.assert_allclose(session.run(v).ravel(), wanted.ravel(),
                                       rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape, axis, known", [
    ((6, 3), -1, True), ((6, 3), 1, False), ((6, 2, 2, 3), -1, True),
    ((6, 3, 2, 2), 1, True)])
def test_virtual_batches(shape, axis, known):
    x = tf.placeholder(tf.float32, shape if known else [None, *shape[1:]])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, axis, training=training, momentum=0.,
                                      virtual_batch_size=2)
    at = axis % len(shape) + 1
    assert tf.global_variables()[0].shape.as_list() == [
        3 if i == at else 1 for i in range(len(shape) + 1)]
    a = np.random.RandomState(0).randn(*shape).astype(np.float32) * 2 + 1
    parts = a.reshape(2, 3, *shape[1:])
    axes = tuple(i for i in range(parts.ndim) if i not in (1, at))
    mean, variance = [f(axes, keepdims=True) for f in (parts.mean, parts.var)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got, _ = session.run([y, tf.get_collection("update_ops")],
                             {x: a, training: True})
        np.testing.assert_allclose(
            got, ((parts - mean) / np.sqrt(variance + 1e-3)).reshape(shape),
            rtol=1e-4, atol=1e-5)
        mean, variance = mean.mean(1), variance.mean(1)
        np.testing.assert_allclose(
            session.run(y, {x: a, training: False}),
            (a - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)


def test_an_adjustment_is_for_training_alone():
    def adjustment(shape):
        return tf.fill([shape[0], 1], 2.), tf.fill([shape[0], 1], .5)
    training = tf.placeholder(tf.bool, [])
    a = np.random.RandomState(0).randn(6, 3).astype(np.float32)
    y = tf.layers.batch_normalization(a, training=training,
                                      adjustment=adjustment)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(
            session.run(y, {training: True}),
            (a - a.mean(0)) / np.sqrt(a.var(0) + 1e-3) * 2 + .5, rtol=1e-4,
            atol=1e-5)
        np.testing.assert_allclose(session.run(y, {training: False}),
                                   a / np.sqrt(1 + 1e-3), rtol=1e-5)


def test_configurations_of_normalization():
    layer = tf.keras.layers.BatchNormalization
    config = layer(renorm=True, renorm_clipping=LIMITS).get_config()
    assert config["renorm"] and config["renorm_clipping"] == LIMITS
    assert config["renorm_momentum"] == 0.99
    assert layer.from_config(config).renorm_clipping == LIMITS
    assert layer(virtual_batch_size=2).get_config()["virtual_batch_size"] == 2
    plain = layer(adjustment=lambda shape: (1., 0.)).get_config()
    assert not {"renorm", "virtual_batch_size", "adjustment"} & set(plain)


@pytest.mark.parametrize("shape, axis, fused", [
    ((5, 3), -1, False), ((5, 4, 3), 1, False), ((5, 2, 4, 3, 2), -1, False),
    ((5, 4, 3, 7), 2, False), ((5, 4, 3, 7), [1, 2], False),
    ((5, 4, 3, 7), [3], True), ((5, 4, 3, 7), 1, True)])
def test_fused_batch_normalization_is_a_wish(shape, axis, fused):
    # Only tf.compat.v2 refuses it where it cannot be.
    for layers in (tf.keras.layers, tf.layers, tf.compat.v2.keras.layers):
        with tf.Graph().as_default() as graph:
            layer = layers.BatchNormalization(axis=axis, fused=True) if (
                fused or layers is not tf.compat.v2.keras.layers) else None
            if layer is None:
                with pytest.raises(ValueError, match="fused=True"):
                    layers.BatchNormalization(axis=axis, fused=True)(
                        tf.zeros(shape))
                continue
            layer(tf.zeros(shape), training=True)
            assert layer.fused is fused
            assert fused == any(op.type == "FusedBatchNormV3"
                                for op in graph.get_operations())


def test_unknown_sizes_are_refused():
    x = tf.placeholder(tf.float32, [None, None])
    with pytest.raises(ValueError, match="last dimension of the inputs"):
        tf.layers.dense(x, 2)
    with pytest.raises(TypeError, match="non-floating point dtype.*int32"):
        tf.layers.dense(np.ones([1, 2], np.int32), 2)
    with pytest.raises(TypeError, match="not understood: unit"):
        tf.layers.Dense(2, unit=3)
    with pytest.raises(ValueError, match="strides > 1"):
        tf.layers.Conv2D(2, 3, strides=2, dilation_rate=2)


# tf.keras.

def test_keras_model():
    keras = tf.keras
    x = keras.layers.Input((8, 8, 3))
    h = keras.layers.Conv2D(4, 3, activation="relu",
                            kernel_regularizer="l2")(x)
    h = keras.layers.BatchNormalization()(h)
    h = keras.layers.MaxPooling2D()(h)
    h = keras.layers.Flatten()(h)
    y = keras.layers.Dense(3, activation="softmax")(h)
    model = keras.models.Model(x, y)
    assert [layer.name for layer in model.layers] == [
        "input_1", "conv2d", "batch_normalization", "max_pooling2d", "flatten",
        "dense"]
    assert names(model.trainable_weights) == [
        "conv2d/kernel:0", "conv2d/bias:0", "batch_normalization/gamma:0",
        "batch_normalization/beta:0", "dense/kernel:0", "dense/bias:0"]
    assert len(model.losses) == 1 and len(model.updates) == 2
    assert model.output_shape == (None, 3)
    assert model.count_params() == 3 * 3 * 3 * 4 + 4 + 16 + 36 * 3 + 3
    image = numbers(2, 8, 8, 3)
    again = model(tf.constant(image))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        a, b = session.run([y, again], {x: image})
        np.testing.assert_allclose(a, b, rtol=1e-5)
        np.testing.assert_allclose(a.sum(1), 1, rtol=1e-5)
    with pytest.raises(ValueError, match="Graph disconnected"):
        keras.Model(x, tf.ones([1]))


def test_sequential():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(4, input_shape=(5,)),
                                 layers.Activation("relu"), layers.Dense(2)])
    assert names(model.weights) == ["dense/kernel:0", "dense/bias:0",
                                    "dense_1/kernel:0", "dense_1/bias:0"]
    assert model.output_shape == (None, 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        x = numbers(3, 5)
        w = model.get_weights()
        got = session.run(model.output, {model.input: x})
        np.testing.assert_allclose(
            got, np.maximum(x @ w[0] + w[1], 0) @ w[2] + w[3], rtol=1e-4,
            atol=1e-5)
        model.set_weights([np.zeros_like(a) for a in w])
        assert (session.run(model.output, {model.input: x}) == 0).all()
    with pytest.raises(TypeError, match="must be an instance of class Layer"):
        model.add(3)


def test_training_follows_the_learning_phase():
    x = tf.ones([50, 4])
    y = tf.keras.layers.Dropout(0.5)(x)
    phase = tf.keras.backend.learning_phase()
    assert (run(y) == 1).all()
    assert (run(y, {phase: True}) == 0).any()


@pytest.mark.parametrize("name, function", [
    ("relu", lambda x: np.maximum(x, 0)), ("linear", lambda x: x),
    ("tanh", np.tanh), ("exponential", np.exp),
    ("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    ("softplus", lambda x: np.log1p(np.exp(x))),
    ("elu", lambda x: np.where(x > 0, x, np.expm1(x))),
    ("softsign", lambda x: x / (1 + np.abs(x)))])
def test_activations(name, function):
    x = np.float32([-5, -1, 0, 0.5, 4])
    y = tf.keras.activations.get(name)(tf.constant(x))
    np.testing.assert_allclose(run(y), function(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("constraint, function", [
    ("non_neg", lambda w: np.maximum(w, 0)),
    ("unit_norm", lambda w: w / np.linalg.norm(w, axis=0)),
    ("max_norm", lambda w: w * np.minimum(
        1, 2 / np.linalg.norm(w, axis=0))),
    ("min_max_norm", lambda w: w * np.clip(np.linalg.norm(w, axis=0), 0, 1)
     / np.linalg.norm(w, axis=0))])
def test_constraints(constraint, function):
    w = numbers(6, 4) * 3
    got = run(tf.keras.constraints.get(constraint)(tf.constant(w)))
    np.testing.assert_allclose(got, function(w), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("get, given, message", [
    (tf.keras.activations.get, "reul", "Unknown activation"),
    (tf.keras.regularizers.get, "l3", "Unknown regularizer"),
    (tf.keras.constraints.get, "none", "Unknown constraint"),
    (tf.keras.initializers.get, "xavier", "Unknown initializer"),
    (tf.keras.initializers.get, 3, "Could not interpret initializer")])
def test_names_that_are_not_known(get, given, message):
    with pytest.raises(ValueError, match=message):
        get(given)


@pytest.mark.parametrize("make", [
    lambda: tf.keras.layers.Dense(3, activation="relu", name="d",
                                  kernel_regularizer="l2"),
    lambda: tf.keras.layers.Conv1D(2, 3), lambda: tf.keras.layers.Conv3D(2, 3),
    lambda: tf.keras.layers.Conv2D(2, 3, bias_constraint="non_neg"),
    lambda: tf.keras.layers.Conv2DTranspose(2, 3, output_padding=0),
    lambda: tf.keras.layers.Conv3DTranspose(2, 3),
    lambda: tf.keras.layers.SeparableConv1D(2, 3),
    lambda: tf.keras.layers.SeparableConv2D(2, 3, depth_multiplier=2),
    lambda: tf.keras.layers.MaxPooling2D(3, 1),
    lambda: tf.keras.layers.BatchNormalization(momentum=0.5),
    lambda: tf.keras.layers.Dropout(0.5, seed=3),
    lambda: tf.keras.layers.Embedding(3, 4),
    lambda: tf.keras.layers.Reshape((2, 3)),
    lambda: tf.keras.layers.ZeroPadding2D(2),
    lambda: tf.layers.Dense(3, name="x"), lambda: tf.layers.Conv2D(2, 3),
    lambda: tf.layers.BatchNormalization(epsilon=0.1),
    lambda: tf.nn.rnn_cell.LSTMCell(3, num_proj=2)])
def test_config_makes_an_equal_layer(make):
    layer = make()
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config


def test_layers_inside_of_loops_and_conditions():
    ones = tf.ones_initializer()
    x = tf.ones([2, 3])

    def body(i, a):
        return i + 1, tf.layers.dense(a, 3, name="fc", use_bias=False,
                                      kernel_initializer=ones)
    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    on = tf.placeholder(tf.bool, [])
    z = tf.cond(on, lambda: tf.layers.dense(x, 1, kernel_initializer=ones),
                lambda: x[:, :1])
    assert names(tf.global_variables()) == ["fc/kernel:0", "dense/kernel:0",
                                            "dense/bias:0"]
    a, b = run([y, z], {on: True})
    assert (a == 27).all() and (b == 3).all()
    assert (run(z, {on: False}) == 1).all()


def test_layers_of_layers():
    class Two(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4)
            self.second = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.second(self.first(inputs))
    model = Two()
    x = tf.ones([1, 3])
    a, b = model(x), model(x)
    assert len(model.weights) == 4 and len(model.layers) == 2
    first, second = run([a, b])
    assert (first == second).all()
    model.trainable = False
    assert not model.trainable_weights and (
        len(model.non_trainable_weights) == 4)


def test_a_template_shares_layers():
    make = tf.make_template("t", lambda x: tf.layers.dense(x, 2))
    make(tf.ones([1, 3])), make(tf.ones([4, 3]))
    assert names(tf.global_variables()) == ["t/dense/kernel:0",
                                            "t/dense/bias:0"]


X4 = numbers(2, 3, 4, 5)
X2 = numbers(2, 3)


@pytest.mark.parametrize("make, x, wanted", [
    (lambda k: k.ZeroPadding1D((1, 2)), X4[0],
     np.pad(X4[0], [(0, 0), (1, 2), (0, 0)])),
    (lambda k: k.ZeroPadding2D(1), X4,
     np.pad(X4, [(0, 0), (1, 1), (1, 1), (0, 0)])),
    (lambda k: k.ZeroPadding2D((1, 2), "channels_first"), X4,
     np.pad(X4, [(0, 0), (0, 0), (1, 1), (2, 2)])),
    (lambda k: k.ZeroPadding3D(((0, 1), (1, 0), (2, 2))), X4[None],
     np.pad(X4[None], [(0, 0), (0, 1), (1, 0), (2, 2), (0, 0)])),
    (lambda k: k.ReLU(0.5), X2, np.clip(X2, 0, 0.5)),
    (lambda k: k.ReLU(negative_slope=0.1, threshold=0.2), X2,
     np.where(X2 > 0.2, X2, 0.1 * (X2 - 0.2))),
    (lambda k: k.LeakyReLU(0.3), X2, np.where(X2 > 0, X2, 0.3 * X2)),
    (lambda k: k.PReLU(tf.constant_initializer([0.1, 0.2, 0.3])), X2,
     np.where(X2 > 0, X2, [0.1, 0.2, 0.3] * X2)),
    (lambda k: k.PReLU(tf.constant_initializer(0.1), shared_axes=[1, 2]), X4,
     np.where(X4 > 0, X4, 0.1 * X4)),
    (lambda k: k.Softmax(), X2,
     np.exp(X2) / np.exp(X2).sum(1, keepdims=True)),
    (lambda k: k.Permute((3, 1, 2)), X4, X4.transpose(0, 3, 1, 2)),
    (lambda k: k.RepeatVector(3), X2, np.stack([X2] * 3, 1)),
    (lambda k: k.Reshape((12, 5)), X4, X4.reshape(2, 12, 5)),
    (lambda k: k.Lambda(lambda x, by: x * by, arguments={"by": 2}), X2,
     X2 * 2),
    (lambda k: k.GlobalAveragePooling2D(), X4, X4.mean((1, 2))),
    (lambda k: k.GlobalMaxPooling2D("channels_first"), X4, X4.max((2, 3))),
    (lambda k: k.LayerNormalization(epsilon=1e-6), X2,
     (X2 - X2.mean(1, keepdims=True)) / X2.std(1, keepdims=True))])
def test_layers_without_much(make, x, wanted):
    layer = make(tf.keras.layers)
    np.testing.assert_allclose(run(layer(tf.constant(x))), wanted, rtol=1e-3,
                               atol=1e-4)


def test_layers_of_several_inputs():
    layers = tf.keras.layers
    a, b = tf.constant(X2), tf.constant(X2 * 3)
    got = run([layers.Add()([a, b]), layers.Multiply()([a, b]),
               layers.Concatenate()([a, b])])
    for value, wanted in zip(got, (X2 * 4, X2 * X2 * 3,
                                   np.concatenate([X2, X2 * 3], 1))):
        np.testing.assert_allclose(value, wanted, rtol=1e-5)
    with pytest.raises(ValueError, match="at least 2 inputs"):
        layers.Add()(a)


def test_embedding():
    layer = tf.keras.layers.Embedding(4, 3)
    out = layer(tf.constant([[1, 3]]))
    assert out.get_shape().as_list() == [1, 2, 3]
    got, table = run([out, layer.embeddings.value()])
    assert (got == table[[1, 3]]).all() and abs(table).max() <= 0.05


@pytest.mark.parametrize("pool", [tf.layers.max_pooling2d,
                                  tf.layers.average_pooling2d])
def test_a_pool_without_strides_is_refused(pool):
    with pytest.raises(ValueError, match="`strides` must not be None"):
        pool(tf.ones([1, 4, 4, 1]), 2, None)
