"""tf.examples.tutorials.mnist: the digits, read from the files of a folder, and
the network of the tutorial."""
import gzip
import os
import struct

import numpy as np
import pytest

import headrace as tf
from headrace.examples.tutorials.mnist import input_data, mnist

FILES = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte",
         "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]


def idx(values):
    head = struct.pack(">II", 2051 if values.ndim == 3 else 2049, len(values))
    if values.ndim == 3:
        head += struct.pack(">II", *values.shape[1:])
    return head + values.astype(np.uint8).tobytes()


@pytest.fixture
def folder(tmp_path):
    """A data set of 20 images to train with and 7 to test with, the first
    compressed."""
    for count, names, opened in ((20, FILES[:2], gzip.open), (7, FILES[2:], open)):
        images = np.arange(count * 12).reshape(count, 4, 3) % 256
        for values, name in zip((images, np.arange(count) % 10), names):
            end = ".gz" if opened is gzip.open else ""
            with opened(tmp_path / (name + end), "wb") as f:
                f.write(idx(values))
    return str(tmp_path)


def test_data_sets(folder):
    data = input_data.read_data_sets(folder, validation_size=5)
    assert [d.num_examples for d in data] == [15, 5, 7]
    assert data.train.images.shape == (15, 12)
    assert data.train.images.dtype == np.float32
    np.testing.assert_allclose(data.train.images[0], np.arange(60, 72) / 255.,
                               rtol=1e-6)
    assert data.validation.labels.tolist() == [0, 1, 2, 3, 4]
    assert data.test.labels.dtype == np.uint8
    data = input_data.read_data_sets(folder, one_hot=True, reshape=False,
                                     dtype=tf.uint8, validation_size=0)
    assert data.train.images.shape == (20, 4, 3, 1)
    assert data.train.images.dtype == np.uint8
    assert data.train.labels.shape == (20, 10)
    assert (data.train.labels.argmax(1) == np.arange(20) % 10).all()


def test_batches_are_those_of_tensorflow(folder):
    data = input_data.read_data_sets(folder, validation_size=0, seed=3)
    batches = [data.train.next_batch(8)[1].tolist() for _ in range(3)]
    assert batches == BATCHES
    assert data.train.epochs_completed == 1
    data = input_data.read_data_sets(folder, validation_size=0)
    batches = [data.test.next_batch(5, shuffle=False)[1].tolist()
               for _ in range(3)]
    assert batches == [[0, 1, 2, 3, 4], [5, 6, 0, 1, 2], [3, 4, 5, 6, 0]]


BATCHES = [[4, 2, 1, 7, 4, 6, 6, 7],
           [5, 2, 9, 1, 9, 8, 3, 5],
           [0, 8, 3, 0, 4, 2, 7, 6]]


def test_fake_data():
    data = input_data.read_data_sets("", fake_data=True, one_hot=True)
    images, labels = data.train.next_batch(2, fake_data=True)
    assert images == [[1] * 784] * 2 and labels == [[1] + [0] * 9] * 2
    assert data.test.num_examples == 10000


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_asked_for(folder, name):
    for end in ("", ".gz"):
        if os.path.exists(os.path.join(folder, name + end)):
            os.remove(os.path.join(folder, name + end))
    with pytest.raises(tf.errors.NotFoundError, match="no file %s.gz or %s in .*"
                       "Put the four MNIST files there" % (name, name)):
        input_data.read_data_sets(folder, validation_size=0)


@pytest.mark.parametrize("data, message", [
    (b"", "Invalid magic number None"), (b"\0" * 16, "Invalid magic number 0"),
    (idx(np.zeros([2, 2, 2]))[:-1], "is cut off: sizes .2, 2, 2. need 8 bytes"),
    (struct.pack(">IIII", 2051, *[2 ** 32 - 1] * 3), "is cut off"),
    (b"\x1f\x8b\x08nothing", "MNIST file .*t10k-images")])
def test_files_that_are_none(folder, data, message):
    with open(os.path.join(folder, FILES[2]), "wb") as f:
        f.write(data)
    with pytest.raises(ValueError, match=message):
        input_data.read_data_sets(folder, validation_size=0)


@pytest.mark.parametrize("options, error, message", [
    ({"validation_size": 21}, ValueError, "between 0 and 20. Received: 21"),
    ({"validation_size": -1}, ValueError, "Received: -1"),
    ({"validation_size": 0, "dtype": tf.int32}, TypeError,
     "expected uint8 or float32")])
def test_wrong_arguments(folder, options, error, message):
    with pytest.raises(error, match=message):
        input_data.read_data_sets(folder, **options)


def test_the_network_of_the_tutorial():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, mnist.IMAGE_PIXELS])
        labels = tf.placeholder(tf.int32, [None])
        logits = mnist.inference(images, 16, 8)
        loss = mnist.loss(logits, labels)
        step = mnist.training(loss, 0.1)
        correct = mnist.evaluation(logits, labels)
        assert [v.name for v in tf.global_variables()] == [
            "hidden1/weights:0", "hidden1/biases:0", "hidden2/weights:0",
            "hidden2/biases:0", "softmax_linear/weights:0",
            "softmax_linear/biases:0", "global_step:0"]
        assert len(graph.get_collection(tf.GraphKeys.SUMMARIES)) == 1
        session.run(tf.global_variables_initializer())
        feed = {images: np.eye(10, mnist.IMAGE_PIXELS, dtype=np.float32) * 9,
                labels: np.arange(10)}
        before = session.run(loss, feed)
        for _ in range(150):
            session.run(step, feed)
        after, right = session.run([loss, correct], feed)
        assert after < before / 2 and 0 <= right <= 10
        assert session.run("global_step:0") == 150
