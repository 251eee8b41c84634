"""A dynamic LSTM that tells sequences that count from others, with padded
sequences of different lengths."""
import numpy as np
import tensorflow as tf

from data import show

MAX, COUNT = 12, 128
lengths = 3 + np.arange(COUNT) * 7 % (MAX - 2)
data = np.zeros([COUNT, MAX, 1], np.float32)
labels = np.zeros([COUNT, 2], np.float32)
for i, n in enumerate(lengths):
    start = i * 5 % 23
    if i % 2:
        values = start + np.arange(n)
    else:
        values = (start + np.arange(n) ** 2 * 7 + i) % 31
    data[i, :n, 0] = values / 35.0
    labels[i, i % 2] = 1

tf.set_random_seed(10)
x = tf.placeholder("float", [None, MAX, 1])
y = tf.placeholder("float", [None, 2])
seqlen = tf.placeholder(tf.int32, [None])
weights = tf.Variable(tf.random_normal([16, 2]))
biases = tf.Variable(tf.random_normal([2]))
cell = tf.contrib.rnn.BasicLSTMCell(16)
outputs, states = tf.nn.dynamic_rnn(cell, x, seqlen, dtype=tf.float32)
batch_size = tf.shape(outputs)[0]
index = tf.range(0, batch_size) * MAX + (seqlen - 1)
last = tf.gather(tf.reshape(outputs, [-1, 16]), index)
same = tf.reduce_max(tf.abs(last - states.h))
pred = tf.matmul(last, weights) + biases
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(
    logits=pred, labels=y))
train = tf.train.GradientDescentOptimizer(0.2).minimize(cost)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(pred, 1),
                                           tf.argmax(y, 1)), tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {x: data, y: labels, seqlen: lengths}
    for step in range(40):
        value, _ = sess.run([cost, train], feed)
        if step % 10 == 0:
            show("cost %d" % step, value)
    show("accuracy", *sess.run([accuracy, same], feed))
    show("after the end", sess.run(outputs, feed)[0, lengths[0]:].sum())
