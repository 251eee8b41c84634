"""Summaries of a training: what is written is read back."""
import glob
import os

import tensorflow as tf

from data import blobs, own_folder, show

points, which = blobs(90, [(0, 0), (3, 1), (1, 4)])
folder = own_folder()
tf.set_random_seed(18)
with tf.name_scope("input"):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
with tf.name_scope("layer1"):
    w = tf.Variable(tf.truncated_normal([2, 3], stddev=0.5), name="w")
    b = tf.Variable(tf.zeros([3]), name="b")
    tf.summary.histogram("weights", w)
    logits = tf.matmul(x, w) + b
with tf.name_scope("loss"):
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=y, logits=logits))
    tf.summary.scalar("cross_entropy", loss)
image = tf.reshape(tf.nn.softmax(logits[:12]), [1, 6, 6, 1])
tf.summary.image("probabilities", image, max_outputs=1)
train = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    writer = tf.summary.FileWriter(folder, sess.graph)
    sess.run(tf.global_variables_initializer())
    for step in range(6):
        feed = {x: points, y: which}
        summary = sess.run(merged, feed)
        sess.run(train, feed)
        writer.add_summary(summary, step)
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(
        tag="own", simple_value=1.5)]), 6)
    writer.close()

for event in tf.train.summary_iterator(
        glob.glob(os.path.join(folder, "events.*"))[0]):
    for value in event.summary.value:
        if value.HasField("simple_value"):
            show("%d %s" % (event.step, value.tag), value.simple_value)
        elif value.HasField("histo") and event.step % 5 == 0:
            h = value.histo
            show("%d %s" % (event.step, value.tag), h.min, h.max, h.num, h.sum,
                 h.sum_squares, len(h.bucket))
        elif value.HasField("image") and event.step == 0:
            print(value.tag, value.image.height, value.image.width,
                  value.image.encoded_image_string[:4])
    if event.HasField("graph_def"):
        print("a graph:", len(event.graph_def) > 1000)
