"""A small DCGAN: two networks under variable scopes, shared by reuse, trained in
turns."""
import tensorflow as tf

from data import fashion, show

images, _ = fashion(count=320)
tf.set_random_seed(8)
noise = tf.placeholder(tf.float32, [None, 20])
real = tf.placeholder(tf.float32, [None, 28, 28, 1])
batch_noise = tf.random_uniform([32, 20], -1, 1)


def generator(x, reuse=False):
    with tf.variable_scope("Generator", reuse=reuse):
        x = tf.nn.tanh(tf.layers.dense(x, 7 * 7 * 16))
        x = tf.reshape(x, [-1, 7, 7, 16])
        x = tf.layers.conv2d_transpose(x, 8, 5, strides=2, padding="same")
        x = tf.nn.relu(x)
        x = tf.layers.conv2d_transpose(x, 1, 5, strides=2, padding="same")
        return tf.nn.sigmoid(x)


def discriminator(x, reuse=False):
    with tf.variable_scope("Discriminator", reuse=reuse):
        x = tf.nn.leaky_relu(tf.layers.conv2d(x, 8, 5, 2, "same"))
        x = tf.nn.leaky_relu(tf.layers.conv2d(x, 16, 5, 2, "same"))
        return tf.layers.dense(tf.layers.flatten(x), 1)


fake = generator(noise)
on_real, on_fake = discriminator(real), discriminator(fake, reuse=True)
bce = tf.nn.sigmoid_cross_entropy_with_logits
disc_loss = tf.reduce_mean(
    bce(logits=on_real, labels=tf.ones_like(on_real))
    + bce(logits=on_fake, labels=tf.zeros_like(on_fake)))
gen_loss = tf.reduce_mean(bce(logits=on_fake, labels=tf.ones_like(on_fake)))
gen_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES,
                             scope="Generator")
disc_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES,
                              scope="Discriminator")
train_gen = tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(
    gen_loss, var_list=gen_vars)
train_disc = tf.train.AdamOptimizer(2e-3, beta1=0.5).minimize(
    disc_loss, var_list=disc_vars)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(10):
        batch = images[i * 32:i * 32 + 32].reshape(-1, 28, 28, 1)
        feed = {real: batch, noise: sess.run(batch_noise)}
        _, d = sess.run([train_disc, disc_loss], feed)
        _, g = sess.run([train_gen, gen_loss], feed)
        if i % 3 == 0:
            show("step %d" % i, g, d)
print([v.name for v in gen_vars + disc_vars])
