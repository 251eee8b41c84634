"""A Keras model that several workers train together:

    python -m headrace.cluster local --job worker=2 -- \
        python examples/distributed/keras_workers.py [FOLDER]

Each worker gets its rows of each batch; all have the same weights after each
step. Two spirals in a plane are told apart. With a FOLDER the chief saves the
weights there, and a run that begins again after a worker was lost goes on from
the last epoch.
"""
import hashlib
import os
import sys

import numpy as np

import headrace as tf


def spirals(n=400):
    """Points of two spirals, and on which each lies."""
    random = np.random.RandomState(0)
    kind = random.randint(2, size=n)
    angle = random.uniform(.5, 3.5, n)
    x = angle[:, None] * np.stack([np.cos(angle + np.pi * kind),
                                   np.sin(angle + np.pi * kind)], 1)
    return (x + random.normal(0, .05, x.shape)).astype(np.float32), kind


strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(32, "relu", input_shape=(2,)),
        tf.keras.layers.Dense(32, "relu"),
        tf.keras.layers.Dense(1, "sigmoid")])
    model.compile(tf.keras.optimizers.Adam(.01), "binary_crossentropy",
                  metrics=["accuracy"])
callbacks = []
if len(sys.argv) > 1:
    callbacks.append(tf.keras.callbacks.ModelCheckpoint(
        os.path.join(sys.argv[1], "weights"), save_weights_only=True))
x, y = spirals()
data = tf.data.Dataset.from_tensor_slices((x, y[:, None])).shuffle(
    len(x), seed=1).batch(40)
model.fit(data, epochs=25, verbose=0, callbacks=callbacks)
loss, right = model.evaluate(x, y, batch_size=100, verbose=0)
digest = hashlib.sha256(b"".join(w.tobytes() for w in model.get_weights()))
sys.stdout.write("of %d workers: %.1f %% of the points are right; weights %s\n"
                 % (strategy.num_replicas_in_sync, 100 * right,
                    digest.hexdigest()[:12]))
