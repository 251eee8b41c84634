"""A bidirectional LSTM over the rows of Fashion-MNIST's images."""
import tensorflow as tf
from tensorflow.contrib import rnn

from data import fashion, show

images, labels = fashion(count=512)
tf.set_random_seed(11)
X = tf.placeholder("float", [None, 28, 28])
Y = tf.placeholder(tf.int32, [None])
weights = {"out": tf.Variable(tf.random_normal([2 * 24, 10]))}
biases = {"out": tf.Variable(tf.random_normal([10]))}
steps = tf.unstack(X, 28, 1)
fw = rnn.BasicLSTMCell(24, forget_bias=1.0)
bw = rnn.BasicLSTMCell(24, forget_bias=1.0)
outputs, _, _ = rnn.static_bidirectional_rnn(fw, bw, steps, dtype=tf.float32)
logits = tf.matmul(outputs[-1], weights["out"]) + biases["out"]
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
    logits=logits, labels=Y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

with tf.variable_scope("second"):
    (a, b), _ = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(6), tf.nn.rnn_cell.GRUCell(6), X,
        dtype=tf.float32)
    both = tf.concat([a, b], 2)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(16):
        i = step * 64 % 512
        feed = {X: images[i:i + 64].reshape(-1, 28, 28), Y: labels[i:i + 64]}
        value, _ = sess.run([loss, train], feed)
        if step % 5 == 0:
            show("loss %d" % step, value)
    value = sess.run(both, {X: images[:2].reshape(-1, 28, 28)})
    print(value.shape)
print([v.name for v in tf.trainable_variables()])
