"""tf.keras.applications: networks with the layers that TensorFlow 1.15's have
(application_programs.py), their weights, and images and classes of ImageNet."""
import json

import application_programs
import numpy as np
import pytest

import headrace as tf

A = tf.keras.applications

with open(application_programs.VALUES) as file:
    WANTED = json.load(file)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("case", application_programs.CASES,
                         ids=lambda case: application_programs.title(*case))
def test_a_network_has_the_layers_of_tensorflows(case):
    assert application_programs.run(tf, *case) == WANTED[
        application_programs.title(*case)]


def test_a_network_gives_what_its_weights_say(tmp_path):
    images = np.random.RandomState(1).rand(2, 32, 32, 3)
    options = {"include_top": False, "input_shape": (32, 32, 3),
               "pooling": "avg"}
    first = tf.keras.applications.mobilenet.MobileNet(weights=None, alpha=.25, **options)
    path = str(tmp_path / "weights.h5")
    pytest.importorskip("h5py")
    first.save_weights(path)
    second = A.MobileNet(weights=path, alpha=.25, **options)
    wanted = first.predict(images)
    assert wanted.shape == (2, 256)
    np.testing.assert_allclose(second.predict(images), wanted, rtol=1e-5)


def test_a_network_starts_where_it_is_told():
    layers, made = tf.keras.layers, []

    class Layers:

        def __getattr__(self, name):
            made.append(name)
            return getattr(layers, name)

    x = tf.keras.Input((40, 40, 3))
    y = layers.Lambda(lambda x: x * 2)(x)
    model = tf.keras.applications.VGG16(
        weights=None, include_top=False, input_tensor=y, layers=Layers())
    assert model.inputs == [x]
    assert made.count("Conv2D") == 13
    # Tensors of no layer become inputs.
    other = A.VGG16(weights=None, include_top=False, input_shape=(40, 40, 3),
                    input_tensor=tf.zeros([1, 40, 40, 3]))
    assert other.outputs[0].shape.as_list() == [1, 1, 1, 512]
    assert tf.keras.utils.get_source_inputs(model.outputs[0]) == [x]
    both = layers.concatenate([y, tf.keras.Input((40, 40, 1)), y])
    assert [t.shape.as_list()[-1] for t in
            tf.keras.utils.get_source_inputs(both)] == [3, 1]
    zeros = tf.zeros([2])
    assert tf.keras.utils.get_source_inputs(zeros) == [zeros]


@pytest.mark.parametrize("make, error, words", [
    (lambda: A.VGG16(weights="nowhere"), ValueError, "path to the weights file"),
    (lambda: A.VGG16(classes=3), ValueError, "should be 1000; got 3"),
    (lambda: A.VGG16(input_shape=(32, 32, 3)), ValueError,
     r"should be \(224, 224, 3\); got \(32, 32, 3\)"),
    (lambda: A.Xception(weights=None, input_shape=(70, 80, 3)), ValueError,
     "at least 71x71"),
    (lambda: A.VGG16(weights=None, input_shape=(32, 32)), ValueError,
     "tuple of three integers"),
    (lambda: A.VGG16(weights=None, input_shape=(None, 99, 3)), ValueError,
     "static `input_shape`"),
    (lambda: A.VGG16(include_top=False, input_shape=(32, 32, 5)), ValueError,
     "must have 3 channels"),
    (lambda: A.VGG16(weights=None, layer=3), TypeError, "argument: layer"),
    (lambda: A.MobileNet(alpha=.3), ValueError, "alpha can be one"),
    (lambda: A.MobileNet(depth_multiplier=2), ValueError,
     "multiplier must be 1"),
    (lambda: A.MobileNetV2(alpha=.3), ValueError, "alpha can be one"),
    (lambda: A.imagenet_utils.decode_predictions(np.zeros((2, 3))), ValueError,
     r"\(2, 3\)"),
    (lambda: A.imagenet_utils.preprocess_input(np.zeros((2, 3)), "nchw"),
     ValueError, "nchw")])
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("make, name", [
    (A.VGG19, "vgg19_weights_tf_dim_ordering_tf_kernels.h5"),
    (A.MobileNet, "mobilenet_1_0_224_tf.h5"),
    (lambda: A.MobileNet((128, 128, 3), .25, include_top=False),
     "mobilenet_2_5_128_tf_no_top.h5"),
    (lambda: A.MobileNetV2(include_top=False, alpha=1.3), "mobilenet_v2_weights_"
     "tf_dim_ordering_tf_kernels_1.3_224_no_top.h5"),
    (lambda: A.ResNet50V2(include_top=False, input_shape=(32, 32, 3)),
     "resnet50v2_weights_tf_dim_ordering_tf_kernels_notop.h5")])
def test_weights_that_are_not_there_are_named(make, name, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(tf.errors.NotFoundError, match="models/" + name):
        make()


def test_classes(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "imagenet_class_index.json").write_text(json.dumps(
        {str(i): ["n%d" % i, "thing %d" % i] for i in range(1000)}))
    scores = np.zeros((2, 1000))
    scores[0, [7, 9]] = 1, 2
    scores[1, 3] = 5
    found = tf.keras.applications.vgg16.decode_predictions(scores, top=2)
    assert found[0] == [("n9", "thing 9", 2), ("n7", "thing 7", 1)]
    assert found[1][0] == ("n3", "thing 3", 5)


@pytest.mark.parametrize("network, wanted", [
    ("vgg16", [[-101.939, -115.779, -123.68], [-98.939, -112.779, -120.68]]),
    ("resnet_v2", [[-1., -.99215686, -.98431373],
                   [-.97647059, -.96862745, -.96078431]]),
    ("densenet", [[-2.11790393, -2.01820728, -1.76958607],
                  [-2.06652967, -1.96568628, -1.71729847]])])
def test_images_as_networks_take_them(network, wanted):
    module = getattr(A, network)
    image = np.arange(6.).reshape(1, 2, 3)
    tensor = tf.constant(image, tf.float32)
    turned = np.moveaxis(image, -1, -3)
    got = module.preprocess_input(tensor), module.preprocess_input(
        tf.constant(turned, tf.float32), data_format="channels_first")
    with tf.Session() as session:
        last, first = session.run(got)
    np.testing.assert_allclose(last, [wanted], rtol=1e-4)
    np.testing.assert_allclose(np.moveaxis(first, -3, -1), [wanted], rtol=1e-4)
    batch = module.preprocess_input(np.arange(6).reshape(1, 1, 2, 3))
    np.testing.assert_allclose(batch, [[wanted]], rtol=1e-5)
    np.testing.assert_allclose(
        np.moveaxis(module.preprocess_input(
            turned.copy(), data_format="channels_first"), -3, -1), [wanted],
        rtol=1e-5)
    # Arrays of floats are changed in place.
    module.preprocess_input(image)
    assert image.sum() < 0
