"""Batch normalisation: update ops, moving averages, training and inference."""
import numpy as np
import tensorflow as tf

from data import blobs, show

points, which = blobs(256, [(0, 0), (4, 1), (1, 5)])
tf.set_random_seed(15)
x = tf.placeholder(tf.float32, [None, 2])
y = tf.placeholder(tf.int64, [None])
is_training = tf.placeholder(tf.bool, name="is_training")
net = tf.layers.dense(x, 8, use_bias=False)
net = tf.layers.batch_normalization(net, training=is_training, momentum=0.8)
net = tf.nn.relu(net)
net = tf.contrib.layers.fully_connected(
    net, 8, normalizer_fn=tf.contrib.layers.batch_norm,
    normalizer_params={"is_training": is_training, "decay": 0.9,
                       "updates_collections": tf.GraphKeys.UPDATE_OPS})
logits = tf.layers.dense(net, 3)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        i = step * 64 % 256
        _, value = sess.run([train, loss], {
            x: points[i:i + 64], y: which[i:i + 64], is_training: True})
    show("loss", value)
    show("inference", sess.run(loss, {x: points, y: which,
                                      is_training: False}))
    for v in tf.global_variables():
        if "moving" in v.name and "Momentum" not in v.name:
            show(v.name, np.sum(sess.run(v)))
print(len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
      [v.name for v in tf.trainable_variables()])
