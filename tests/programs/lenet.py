"""LeNet on Fashion-MNIST with variables, conv2d and max_pool written out."""
import tensorflow as tf

from data import fashion, show

images, labels = fashion(count=640)
tf.set_random_seed(5)


def weights(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def biases(size):
    return tf.Variable(tf.constant(0.1, shape=[size]))


x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
keep = tf.placeholder(tf.float32)
image = tf.reshape(x, [-1, 28, 28, 1])
net = tf.nn.conv2d(image, weights([5, 5, 1, 8]), [1, 1, 1, 1], "SAME")
net = tf.nn.relu(net + biases(8))
net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
net = tf.nn.conv2d(net, weights([5, 5, 8, 16]), [1, 1, 1, 1], "VALID")
net = tf.nn.relu(tf.nn.bias_add(net, biases(16)))
net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
net = tf.reshape(net, [-1, 5 * 5 * 16])
net = tf.nn.relu(tf.matmul(net, weights([400, 64])) + biases(64))
net = tf.nn.dropout(net, keep)
logits = tf.matmul(net, weights([64, 10])) + biases(10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    labels=y, logits=logits))
train = tf.train.MomentumOptimizer(0.02, 0.5).minimize(loss)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), y)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(30):
        i = step * 32 % 640
        feed = {x: images[i:i + 32], y: labels[i:i + 32], keep: 0.5}
        _, value = sess.run([train, loss], feed)
        if step in (0, 1, 9, 29):
            show("loss %d" % step, value)
    feed = {x: images, y: labels, keep: 1.0}
    show("accuracy", sess.run(accuracy, feed))
