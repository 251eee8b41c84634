"""Softmax regression on Fashion-MNIST."""
import tensorflow as tf

from data import fashion, show

images, labels = fashion(count=3000)
test_images, test_labels = fashion("t10k", 500)

tf.set_random_seed(2)
x = tf.placeholder(tf.float32, [None, 784])
y = tf.placeholder(tf.int64, [None])
one_hot = tf.one_hot(y, 10)
W = tf.Variable(tf.zeros([784, 10]))
b = tf.Variable(tf.zeros([10]))
pred = tf.nn.softmax(tf.matmul(x, W) + b)
cost = tf.reduce_mean(-tf.reduce_sum(one_hot * tf.log(pred + 1e-8), 1))
step = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
correct = tf.equal(tf.argmax(pred, 1), tf.argmax(one_hot, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        total = 0.0
        for i in range(0, 3000, 100):
            _, c = sess.run([step, cost], {x: images[i:i + 100],
                                           y: labels[i:i + 100]})
            total += c / 30
        show("epoch %d" % (epoch + 1), total)
    show("accuracy", accuracy.eval({x: test_images, y: test_labels}))
