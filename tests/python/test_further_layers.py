"""tf.keras.layers that further.py has, against NumPy and what TensorFlow 1.15
gives."""
import numpy as np
import pytest

import headrace as tf

L = tf.keras.layers


def numbers(*shape):
    return np.cos(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


def run(x):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(x)


@pytest.fixture(autouse=True)
def fresh():
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("make", [
    lambda: L.DepthwiseConv2D(3, (2, 2), "same", 2, depthwise_regularizer="l2"),
    lambda: L.Dot((1, 2), normalize=True), lambda: L.GaussianDropout(.2),
    lambda: L.AlphaDropout(.2), lambda: L.ActivityRegularization(.1, .2),
    lambda: L.SpatialDropout3D(.2), lambda: L.GlobalMaxPooling3D(),
    lambda: L.Cropping3D(2), lambda: L.UpSampling3D((1, 2, 3))])
def test_configs(make):
    layer = make()
    config = layer.get_config()
    assert type(layer).from_config(config).get_config() == config


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("dilation", [1, 2])
def test_depthwise_convolution(padding, dilation):
    x = numbers(2, 6, 5, 3)
    layer = L.DepthwiseConv2D(2, padding=padding, depth_multiplier=2,
                              dilation_rate=dilation)
    y = layer(tf.constant(x))
    assert [w.name for w in layer.weights] == [
        "depthwise_conv2d/depthwise_kernel:0", "depthwise_conv2d/bias:0"]
    assert y.get_shape() == layer.compute_output_shape(x.shape)
    got, kernel = run([y, layer.depthwise_kernel])
    padded = np.pad(x, [(0, 0), (0, dilation), (0, dilation), (0, 0)]) if (
        padding == "same" and dilation == 1) else np.pad(
            x, [(0, 0), (1, 1), (1, 1), (0, 0)]) if padding == "same" else x
    h, w = padded.shape[1] - dilation, padded.shape[2] - dilation
    wanted = np.zeros((2, h, w, 3, 2), np.float32)
    for i in range(2):
        for j in range(2):
            part = padded[:, i * dilation:i * dilation + h,
                          j * dilation:j * dilation + w, :, None]
            wanted += part * kernel[i, j]
    np.testing.assert_allclose(got, wanted.reshape(2, h, w, 6), atol=1e-5)


def test_dot():
    a = np.arange(12.).reshape(1, 3, 4)
    b = np.ones((1, 2, 4))
    plain, normal, last = run([L.Dot(2)([a, b]), L.dot([a, b], 2, True),
                               L.Dot((1, -1))([numbers(2, 3), numbers(2, 3)])])
    np.testing.assert_allclose(plain, [[[6, 6], [22, 22], [38, 38]]])
    np.testing.assert_allclose(normal[0, :, 0], [
        0.80178373, 0.97995789, 0.99314591])
    np.testing.assert_allclose(last[:, 0], (numbers(2, 3) ** 2).sum(1),
                               rtol=1e-6)
    with pytest.raises(ValueError, match="Dimension incompatibility 3 != 2"):
        L.Dot(1)([a, b])
    with pytest.raises(ValueError, match="a list of 2 inputs"):
        L.Dot(1)(tf.constant(a))
    with pytest.raises(ValueError, match="must be an int or two of them"):
        L.Dot("x")


@pytest.mark.parametrize("layer, variance", [
    (L.GaussianDropout, .25), (L.AlphaDropout, None)])
def test_noise_of_training(layer, variance):
    tf.set_random_seed(1)
    x = np.random.RandomState(0).normal(size=100000).astype(np.float32)
    if variance is not None:
        x[:] = 1.
    noised, same, none = run([
        layer(.2)(tf.constant(x), training=True),
        layer(.2)(tf.constant(x), training=False), layer(0.)(tf.constant(x))])
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(none, x)
    assert abs(noised.mean() - x.mean()) < .02
    assert abs(noised.var() - (variance or x.var())) < .03
    assert (noised != x).mean() > .9


def test_loss_of_activities():
    x = numbers(4, 3)
    layer = L.ActivityRegularization(.1, .2)
    y = layer(tf.constant(x))
    got, loss = run([y, layer.losses[0]])
    np.testing.assert_array_equal(got, x)
    np.testing.assert_allclose(
        loss, (.1 * abs(x).sum() + .2 * (x ** 2).sum()) / 4, rtol=1e-5)


@pytest.mark.parametrize("first", [False, True])
def test_volumes(first):
    x = numbers(2, 3, 4, 5, 2)
    kind = "channels_first" if first else "channels_last"

    def there(a):
        return np.moveaxis(a, -1, 1) if first else a
    given = tf.constant(there(x))
    results = run([
        L.GlobalAveragePooling3D(kind)(given), L.GlobalMaxPool3D(kind)(given),
        L.Cropping3D(((0, 1), (1, 0), (1, 1)), kind)(given),
        L.UpSampling3D((1, 2, 3), kind)(given),
        L.SpatialDropout3D(.5, kind)(given, training=True)])
    wanted = [x.mean((1, 2, 3)), x.max((1, 2, 3)), there(x[:, :-1, 1:, 1:-1]),
              there(x.repeat(2, 2).repeat(3, 3))]
    for got, want in zip(results, wanted):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    kept = results[-1] / there(x)
    kept = kept.reshape(2, 2, -1) if first else np.moveaxis(
        kept.reshape(2, -1, 2), 1, 2)
    assert np.allclose(kept, kept[..., :1], atol=1e-4)
    assert set(np.round(np.unique(kept[..., 0]), 3)) <= {0., 2.}
