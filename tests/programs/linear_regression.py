"""Linear regression by gradient descent, with placeholders and a summary of the
fit."""
import numpy as np
import tensorflow as tf

from data import show

train_x = np.linspace(0, 10, 17).astype(np.float32)
train_y = (0.7 * train_x + 1.5 + 0.3 * np.sin(5 * train_x)).astype(np.float32)

tf.set_random_seed(1)
X = tf.placeholder(tf.float32, name="X")
Y = tf.placeholder(tf.float32, name="Y")
W = tf.Variable(tf.random_normal([]), name="weight")
b = tf.Variable(tf.random_normal([]), name="bias")
prediction = tf.add(tf.multiply(X, W), b)
cost = tf.reduce_sum(tf.pow(prediction - Y, 2)) / (2 * len(train_x))
optimizer = tf.train.GradientDescentOptimizer(0.02).minimize(cost)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("start", *sess.run([W, b]))
    for epoch in range(60):
        for x, y in zip(train_x, train_y):
            sess.run(optimizer, {X: x, Y: y})
        if epoch % 20 == 19:
            show("cost", sess.run(cost, {X: train_x, Y: train_y}))
    show("W, b", *sess.run([W, b]))
print([v.name for v in tf.trainable_variables()], optimizer.name)
