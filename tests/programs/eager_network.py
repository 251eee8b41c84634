"""A classifier of points in spirals: layers, tf.data, tf.function, checkpoints,
Model.fit."""
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tf.set_random_seed(11)

random = np.random.RandomState(5)
angles = random.uniform(0.5, 6., 240)
labels = (np.arange(240) % 2).astype(np.int64)
points = np.stack([angles * np.cos(angles + np.pi * labels),
                   angles * np.sin(angles + np.pi * labels)], 1)
points = (points / 6.).astype(np.float32)


class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__(name="net")
        make = tf.keras.initializers.glorot_uniform
        self.first = tf.keras.layers.Dense(
            32, activation="relu", kernel_initializer=make(seed=1))
        self.second = tf.keras.layers.Dense(
            32, activation="tanh", kernel_initializer=make(seed=2))
        self.norm = tf.keras.layers.BatchNormalization()
        self.last = tf.keras.layers.Dense(
            2, kernel_initializer=make(seed=3))

    def call(self, inputs, training=False):
        hidden = self.second(self.first(inputs))
        return self.last(self.norm(hidden, training=training))


def batches():
    return tf.data.Dataset.from_tensor_slices(
        (points, labels)).shuffle(240, seed=9).batch(40)


def train(net, optimizer, step, epochs):
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    mean = tf.keras.metrics.Mean()
    for epoch in range(epochs):
        for x, y in batches():
            value, logits = step(net, optimizer, x, y)
            mean(value)
            accuracy(y, logits)
        print("epoch", epoch, "loss %.4f" % mean.result().numpy(),
              "accuracy %.3f" % accuracy.result().numpy())
        mean.reset_states()
        accuracy.reset_states()


def eager_step(net, optimizer, x, y):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        value = tf.losses.sparse_softmax_cross_entropy(y, logits)
    found = tape.gradient(value, net.trainable_variables)
    optimizer.apply_gradients(zip(found, net.trainable_variables))
    return value, logits


net = Net()
optimizer = tf.train.AdamOptimizer(0.01)
train(net, optimizer, eager_step, 3)
print("variables", [(v.name, v.shape.as_list()) for v in net.variables])

folder = tempfile.mkdtemp()
checkpoint = tf.train.Checkpoint(net=net, optimizer=optimizer,
                                 step=tf.Variable(4))
path = checkpoint.save(os.path.join(folder, "ckpt"))
print("saved", os.path.basename(path), len(tf.train.list_variables(path)))
other = Net()
other(points)
restored = tf.train.Checkpoint(net=other, step=tf.Variable(0))
status = restored.restore(path)
same = np.allclose(net(points).numpy(), other(points).numpy())
print("restored", same, restored.step.numpy())
shutil.rmtree(folder)

function_step = tf.function(eager_step)
again = Net()
train(again, tf.train.AdamOptimizer(0.01), function_step, 2)

final = Net()
final.compile(tf.train.AdamOptimizer(0.01),
              tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
history = final.fit(points, labels, batch_size=40, epochs=3, shuffle=False,
                    verbose=0).history
print("fit", ["%.4f" % v for v in history["loss"]])
print("evaluate", ["%.4f" % v for v in final.evaluate(
    points, labels, verbose=0)])
print("predict", final.predict(points[:3]).shape)

inputs = tf.keras.Input((2,))
hidden = tf.keras.layers.Dense(4, activation="relu", kernel_initializer=(
    tf.keras.initializers.Constant(0.3)))(inputs)
functional = tf.keras.Model(inputs, tf.keras.layers.Dense(
    1, kernel_initializer=tf.keras.initializers.Constant(0.2))(hidden))
print("functional", functional(points[:2]).numpy().ravel(),
      functional.predict(points[:2]).ravel())
with tf.Graph().as_default():
    a = tf.placeholder(tf.float32)
    with tf.Session() as session:
        print("graph", session.run(a * 2, {a: 21.}), tf.executing_eagerly())
