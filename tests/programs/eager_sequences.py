"""Recurrent cells and loops of Python over steps; random numbers by seeds."""
import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tf.set_random_seed(3)

print("uniform", tf.random_uniform([3]).numpy(),
      tf.random_uniform([2], seed=5).numpy(),
      tf.random_uniform([2], seed=5).numpy())
print("normal", tf.random_normal([2]).numpy(), tf.random_shuffle(
    tf.range(5)).numpy())
tf.set_random_seed(3)
print("again", tf.random_uniform([3]).numpy())

text = "to be or not to be that is the question "
letters = sorted(set(text))
codes = np.array([letters.index(c) for c in text], np.int32)


class Letters(tf.keras.Model):
    def __init__(self, units):
        super(Letters, self).__init__()
        self.embedding = tf.keras.layers.Embedding(
            len(letters), 8, embeddings_initializer=tf.keras.initializers.
            RandomUniform(-0.1, 0.1, seed=1))
        self.cell = tf.keras.layers.GRUCell(
            units, kernel_initializer=tf.keras.initializers.
            glorot_uniform(seed=2), recurrent_initializer=tf.keras.
            initializers.glorot_uniform(seed=3))
        self.output_layer = tf.keras.layers.Dense(
            len(letters), kernel_initializer=tf.keras.initializers.
            glorot_uniform(seed=4))

    def call(self, batch):
        state = [tf.zeros([1, 16])]
        outputs = []
        for step in tf.unstack(self.embedding(batch), axis=1):
            output, state = self.cell(step, state)
            outputs.append(self.output_layer(output))
        return tf.stack(outputs, 1)


model = Letters(16)
optimizer = tf.train.AdamOptimizer(0.02)
inputs, targets = codes[None, :-1], codes[None, 1:]
for i in range(31):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=model(inputs)))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if i % 10 == 0:
        print("step", i, "loss %.3f norm %.3f" % (loss.numpy(), norm.numpy()))


def collatz(n):
    n, steps = tf.constant(n), 0
    while n > 1:
        n = tf.cond(tf.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1)
        steps += 1
    return steps


print("collatz", [collatz(n) for n in range(1, 10)])
array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
for i in range(4):
    array = array.write(i, tf.sqrt(float(i)))
print("array", array.stack().numpy())
print("scan", tf.scan(lambda a, b: a * b, tf.constant([1, 2, 3, 4])).numpy())
x = tf.constant(2.)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    product = x
    for i in range(5):
        product = product * x if i % 2 else product + x
print("loop", product.numpy(), tape.gradient(product, x).numpy())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.stack([x, x ** 2, x ** 3])
print("jacobian", tape.jacobian(y, x).numpy())


@tf.custom_gradient
def clipped(value):
    return tf.exp(value), lambda dy: tf.clip_by_value(dy * tf.exp(value), 0., 5.)


with tf.GradientTape() as tape:
    tape.watch(x)
    y = clipped(x)
print("custom", y.numpy(), tape.gradient(y, x).numpy())
print("py_function", tf.py_function(
    lambda v: v.numpy() + 1, [x], tf.float32).numpy())
