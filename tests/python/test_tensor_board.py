"""tf.keras.callbacks.TensorBoard writes the events that TensorFlow 1.15's does."""
import numpy as np
import pytest

import headrace as tf

keras = tf.keras
layers = keras.layers
METRICS = ["loss", "mean_absolute_error"]


def dense():
    return keras.Sequential([layers.Dense(3, input_shape=(4,)),
                             layers.Dense(1)]), np.ones((8, 4))


def convolution():
    return keras.Sequential([
        layers.Conv2D(3, 2, input_shape=(5, 5, 1)), layers.Flatten(),
        layers.Dense(1)]), np.ones((8, 5, 5, 1))


def events(folder, make, validate=True, **options):
    """[(step, tag)] of what two epochs with two batches each write."""
    keras.backend.clear_session()
    model, x = make()
    model.compile("sgd", "mse", metrics=["mae"])
    y = np.ones((len(x), 1))
    model.fit(x, y, epochs=2, batch_size=4, verbose=0,
              validation_data=(x, y) if validate else None,
              callbacks=[keras.callbacks.TensorBoard(str(folder), **options)])
    file, = folder.glob("events*")
    return [(e.step, v.tag) for e in tf.train.summary_iterator(str(file))
            for v in e.summary.value]


def epoch(step, validate=True):
    return [(step, "epoch_" + name) for name in METRICS + (
        ["val_" + m for m in METRICS] if validate else [])]


def batch(step):
    return [(step, "batch_" + name) for name in METRICS]


def histograms(step, *names):
    return [(step, name) for name in names]


DENSE = ("dense/kernel_0", "dense/bias_0", "dense_out", "dense_1/kernel_0",
         "dense_1/bias_0", "dense_1_out")
GRADS = ("dense/kernel_0", "dense/bias_0", "dense/kernel_0_grad",
         "dense/bias_0_grad", "dense_out", "dense_1/kernel_0",
         "dense_1/bias_0", "dense_1/kernel_0_grad", "dense_1/bias_0_grad",
         "dense_1_out")
IMAGES = ("conv2d/kernel_0", "conv2d/kernel_0_1/image/0",
          "conv2d/kernel_0_1/image/1", "conv2d/kernel_0_1/image/2",
          "conv2d/bias_0", "conv2d/bias_0_1/image/0", "conv2d_out",
          "flatten_out", "dense/kernel_0", "dense/kernel_0_1/image/0",
          "dense/bias_0", "dense_out")


@pytest.mark.parametrize("make, options, wanted", [
    (dense, {}, epoch(0) + epoch(1)),
    (dense, {"validate": False, "histogram_freq": 1},
     epoch(0, False) + epoch(1, False)),
    (dense, {"histogram_freq": 2}, histograms(0, *DENSE)
     + histograms(1, *DENSE) + epoch(0) + epoch(1)),
    (dense, {"histogram_freq": 2, "write_grads": True}, histograms(0, *GRADS)
     + histograms(1, *GRADS) + epoch(0) + epoch(1)),
    (convolution, {"histogram_freq": 2, "write_images": True},
     histograms(0, *IMAGES) + histograms(1, *IMAGES) + epoch(0) + epoch(1)),
    (dense, {"update_freq": "batch"}, batch(0) + batch(1) + epoch(8)
     + batch(2) + batch(3) + epoch(16)),
    (dense, {"update_freq": 6}, batch(1) + epoch(8) + batch(3) + epoch(16))],
    ids=["plain", "no_data", "histograms", "gradients", "images", "batches",
         "samples"])
def test_events(make, options, wanted, tmp_path):
    assert events(tmp_path, make, **options) == wanted


def embedding():
    return keras.Sequential([
        layers.Embedding(5, 3, input_length=2), layers.Flatten(),
        layers.Dense(1)]), np.arange(16).reshape(8, 2) % 5


def test_embeddings_are_saved_for_the_projector(tmp_path):
    events(tmp_path, embedding, embeddings_freq=1, batch_size=3,
           embeddings_data=embedding()[1][:4],
           embeddings_metadata="meta.tsv")
    reader = tf.train.load_checkpoint(str(tmp_path / "keras_embedding.ckpt-1"))
    found = reader.get_tensor("embedding_embedding")
    assert found.shape == (4, 6) and found.any(axis=1).all()
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "embedding_embedding:0"\n'
        '  metadata_path: "meta.tsv"\n}\n')


def test_embeddings_need_data(tmp_path):
    with pytest.raises(ValueError, match="embeddings_data must be provided"):
        events(tmp_path, embedding, embeddings_freq=1)
