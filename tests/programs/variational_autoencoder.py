"""A variational autoencoder with the reparametrisation trick."""
import tensorflow as tf

from data import fashion, show

images, _ = fashion(count=1000)
tf.set_random_seed(7)


def glorot(shape):
    return tf.random_normal(shape, stddev=1. / tf.sqrt(shape[0] / 2.))


w = {name: tf.Variable(glorot(shape), name=name) for name, shape in [
    ("encoder", [784, 64]), ("mean", [64, 2]), ("std", [64, 2]),
    ("decoder", [2, 64]), ("out", [64, 784])]}
b = {name: tf.Variable(tf.zeros([size])) for name, size in [
    ("encoder", 64), ("mean", 2), ("std", 2), ("decoder", 64), ("out", 784)]}
x = tf.placeholder(tf.float32, [None, 784])
hidden = tf.nn.tanh(tf.matmul(x, w["encoder"]) + b["encoder"])
mean = tf.matmul(hidden, w["mean"]) + b["mean"]
std = tf.matmul(hidden, w["std"]) + b["std"]
eps = tf.random_normal(tf.shape(std), dtype=tf.float32, mean=0., stddev=1.0,
                       name="epsilon")
z = mean + tf.exp(std / 2) * eps
hidden = tf.nn.tanh(tf.matmul(z, w["decoder"]) + b["decoder"])
out = tf.nn.sigmoid(tf.matmul(hidden, w["out"]) + b["out"])
rec = x * tf.log(1e-10 + out) + (1 - x) * tf.log(1e-10 + 1 - out)
rec = -tf.reduce_sum(rec, 1)
kl = -0.5 * tf.reduce_sum(1 + std - tf.square(mean) - tf.exp(std), 1)
loss = tf.reduce_mean(rec + kl)
train = tf.train.RMSPropOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(60):
        j = i * 64 % 896
        _, value = sess.run([train, loss], {x: images[j:j + 64]})
        if i in (0, 1, 29, 59):
            show("loss %d" % i, value)
    noise, latent = sess.run([eps, z], {x: images[:2]})
    show("epsilon", noise)
    show("z", latent)
