"""Metrics that keep their sums in local variables."""
import numpy as np
import tensorflow as tf

from data import show

labels = tf.placeholder(tf.int64, [None])
scores = tf.placeholder(tf.float32, [None, 3])
predicted = tf.argmax(scores, 1)
one = tf.cast(tf.equal(labels, 1), tf.int64)
with tf.name_scope("eval"):
    metrics = [
        ("accuracy", tf.metrics.accuracy(labels, predicted)),
        ("auc", tf.metrics.auc(one, scores[:, 1], num_thresholds=20)),
        ("false_negatives", tf.metrics.false_negatives(one, predicted)),
        ("mean", tf.metrics.mean(scores)),
        ("mean_iou", tf.metrics.mean_iou(labels, predicted, 3)),
        ("mse", tf.metrics.mean_squared_error(
            tf.to_float(one), scores[:, 1])),
        ("per_class", tf.metrics.mean_per_class_accuracy(labels, predicted, 3)),
        ("precision", tf.metrics.precision(one, tf.equal(predicted, 1))),
        ("recall", tf.metrics.recall(one, tf.equal(predicted, 1))),
        ("recall_at_2", tf.metrics.recall_at_k(labels, scores, 2)),
        ("specificity", tf.metrics.specificity_at_sensitivity(
            one, scores[:, 1], 0.5, num_thresholds=20)),
    ]
confusion = tf.confusion_matrix(labels, predicted, 3)
updates = [m[1][1] for m in metrics]
values = [m[1][0] for m in metrics]
reset = tf.variables_initializer(tf.local_variables())

draw = np.random.RandomState(4)
with tf.Session() as sess:
    for part in range(2):
        sess.run(reset)
        for _ in range(3):
            y = draw.randint(0, 3, 20)
            s = draw.uniform(size=[20, 3]) + 0.4 * np.eye(3)[y]
            feed = {labels: y, scores: s / s.sum(1, keepdims=True)}
            sess.run(updates, feed)
        for (name, _), value in zip(metrics, sess.run(values)):
            show(name, value)
    show("confusion", sess.run(confusion, feed))
print(len(tf.local_variables()), tf.local_variables()[0].name)
