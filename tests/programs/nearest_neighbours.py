"""k nearest neighbours by L1 distance, on Fashion-MNIST."""
import tensorflow as tf

from data import fashion, show

images, labels = fashion(count=1000)
test_images, test_labels = fashion("t10k", 40)

xtr = tf.placeholder("float", [None, 784])
ytr = tf.placeholder(tf.int32, [None])
xte = tf.placeholder("float", [784])
distance = tf.reduce_sum(tf.abs(tf.add(xtr, tf.negative(xte))),
                         reduction_indices=1)
nearest = tf.argmin(distance, 0)
values, indices = tf.nn.top_k(tf.negative(distance), k=5)
votes = tf.bincount(tf.gather(ytr, indices), minlength=10)
winner = tf.argmax(votes)

first, right = [], 0
with tf.Session() as sess:
    for i in range(len(test_images)):
        index, label, far = sess.run(
            [nearest, winner, values],
            {xtr: images, ytr: labels, xte: test_images[i]})
        first.append(int(index))
        right += int(label == test_labels[i])
print("nearest:", first)
show("distances", far)
print("right: %d of %d" % (right, len(test_images)))
