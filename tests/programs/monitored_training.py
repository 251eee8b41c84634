"""A training with hooks: checkpoints, summaries, a session that goes on from
them, averages of the variables, and an export for serving."""
import os

import tensorflow as tf

from data import blobs, own_folder, show

points, which = blobs(90, [(0, 0), (3, 1), (1, 4)])
folder = own_folder()
logs = os.path.join(folder, "logs")


def train(last_step):
    with tf.Graph().as_default():
        tf.set_random_seed(31)
        count = tf.train.get_or_create_global_step()
        x, y = tf.constant(points), tf.constant(which, tf.int64)
        with tf.variable_scope("net", partitioner=(
                tf.fixed_size_partitioner(2))):
            hidden = tf.layers.dense(x, 6, tf.tanh, name="hidden")
            table = tf.get_variable("table", [4, 6])
        hidden += tf.nn.embedding_lookup(table, y)
        with tf.variable_scope("out", use_resource=True):
            logits = tf.layers.dense(hidden, 3)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("hidden", hidden)
        step = tf.train.AdamOptimizer(.05).minimize(loss, global_step=count)
        averages = tf.train.ExponentialMovingAverage(.9, count)
        with tf.control_dependencies([step]):
            step = averages.apply(tf.trainable_variables())
        hooks = [tf.train.StopAtStepHook(last_step=last_step),
                 tf.train.NanTensorHook(loss),
                 tf.train.SummarySaverHook(
                     save_steps=4, output_dir=logs,
                     summary_op=tf.summary.merge_all())]
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir=os.path.join(folder, "model"), hooks=hooks,
                save_checkpoint_steps=5, save_summaries_steps=None,
                save_summaries_secs=None, log_step_count_steps=None) as session:
            show("begins at", session.run(count))
            while not session.should_stop():
                value, _ = session.run([loss, step])
        show("loss", value)


train(7)
train(12)
latest = tf.train.latest_checkpoint(os.path.join(folder, "model"))
print(os.path.basename(latest))
with tf.Graph().as_default(), tf.Session() as session:
    w = tf.get_variable("w", initializer=tf.train.load_variable(
        latest, "net/table"))
    rows = tf.placeholder(tf.int32, [None], name="rows")
    found = tf.gather(w, rows, name="found")
    session.run(tf.global_variables_initializer())
    show("table", session.run(found, {rows: [0, 3]}))
    tf.saved_model.simple_save(session, os.path.join(folder, "export"),
                               {"rows": rows}, {"found": found})
print(sorted(os.listdir(folder)))
