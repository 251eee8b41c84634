"""Eager execution: ops have their values at once, and a tape has gradients.

    python examples/eager.py

fits a line and then a small network to points, in loops of Python."""
import numpy as np

import headrace as tf

tf.enable_eager_execution()
tf.set_random_seed(1)

x = tf.random_normal([100, 1])
y = 3. * x + 2. + 0.1 * tf.random_normal([100, 1])

slope, offset = tf.Variable(0.), tf.Variable(0.)
for step in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(slope * x + offset - y))
    by_slope, by_offset = tape.gradient(loss, [slope, offset])
    slope.assign_sub(0.1 * by_slope)
    offset.assign_sub(0.1 * by_offset)
print("line: %.1f x + %.1f" % (slope.numpy(), offset.numpy()))

model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"),
                             tf.keras.layers.Dense(1)])
optimizer = tf.train.AdamOptimizer(0.05)
inputs = np.linspace(-2., 2., 200, dtype=np.float32)[:, None]
data = tf.data.Dataset.from_tensor_slices((inputs, np.sin(2. * inputs)))
data = data.shuffle(200, seed=1).batch(50)


@tf.function  # traced once, then called as one op
def train(batch, targets):
    with tf.GradientTape() as tape:
        loss = tf.losses.mean_squared_error(targets, model(batch))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(60):
    for batch, targets in data:
        loss = train(batch, targets)
print("network: loss below 0.01:", bool(loss < 0.01))
