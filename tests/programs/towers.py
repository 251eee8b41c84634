"""Towers on two CPU devices with shared variables and averaged gradients."""
import tensorflow as tf

from data import blobs, show

points, which = blobs(120, [(0, 0), (3, 1), (1, 4)])
tf.set_random_seed(19)


def average(tower_grads):
    found = []
    for pairs in zip(*tower_grads):
        grad = tf.reduce_mean(tf.stack([g for g, _ in pairs]), 0)
        found.append((grad, pairs[0][1]))
    return found


with tf.device("/cpu:0"):
    x = tf.constant(points)
    y = tf.constant(which, tf.int64)
    optimizer = tf.train.AdamOptimizer(0.05)
    tower_grads, losses = [], []
    with tf.variable_scope(tf.get_variable_scope()):
        for i in range(2):
            with tf.device("/cpu:%d" % i), tf.name_scope("tower_%d" % i):
                part = slice(i * 60, i * 60 + 60)
                hidden = tf.layers.dense(x[part], 8, tf.nn.relu, name="hidden")
                logits = tf.layers.dense(hidden, 3, name="logits")
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(
                        labels=y[part], logits=logits))
                tf.get_variable_scope().reuse_variables()
                losses.append(loss)
                tower_grads.append(optimizer.compute_gradients(loss))
    train = optimizer.apply_gradients(average(tower_grads))

config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True,
                        log_device_placement=False)
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    print([d.name[-5:] for d in sess.list_devices() if ":CPU:" in d.name])
    for step in range(20):
        sess.run(train)
        if step % 6 == 0:
            show("losses", *sess.run(losses))
    metadata = tf.RunMetadata()
    sess.run(losses, options=tf.RunOptions(
        trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    used = sorted(d.device[-5:] for d in metadata.step_stats.dev_stats
                  if "/device:" in d.device)
    print(used)
print([v.name for v in tf.trainable_variables()], losses[1].op.name,
      losses[1].device)
