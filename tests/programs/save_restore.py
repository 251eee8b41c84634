"""Saver: numbered checkpoints, a restored graph, some of the variables."""
import os

import tensorflow as tf

from data import own_folder, show

folder = own_folder()
with tf.Graph().as_default():
    tf.set_random_seed(16)
    a = tf.get_variable("a", [2, 2], initializer=tf.random_normal_initializer())
    b = tf.get_variable("b", [3], initializer=tf.glorot_uniform_initializer())
    step = tf.train.get_or_create_global_step()
    tf.add_to_collection("results", tf.matmul(a, a, name="square"))
    bump = tf.assign_add(step, 1)
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run([bump, a.assign_add(tf.ones([2, 2]))])
            path = saver.save(sess, os.path.join(folder, "model.ckpt"),
                              global_step=step)
        show("a", sess.run(a))
print(os.path.basename(path), sorted(os.listdir(folder)))
state = tf.train.get_checkpoint_state(folder)
print([os.path.basename(p) for p in state.all_model_checkpoint_paths])
print(os.path.basename(tf.train.latest_checkpoint(folder)))
print(tf.train.list_variables(path))
reader = tf.train.NewCheckpointReader(path)
show("b", reader.get_tensor("b"))

with tf.Graph().as_default(), tf.Session() as sess:
    saver = tf.train.import_meta_graph(path + ".meta")
    saver.restore(sess, path)
    show("square", sess.run(tf.get_collection("results")[0]))
    show("step", sess.run("global_step:0"))

with tf.Graph().as_default(), tf.Session() as sess:
    other = tf.Variable(tf.zeros([2, 2]), name="other")
    kept = tf.Variable(tf.fill([3], 7.0), name="kept")
    sess.run(tf.global_variables_initializer())
    tf.train.Saver({"a": other}).restore(sess, path)
    show("other", *sess.run([other, kept]))
    try:
        tf.train.Saver([kept]).restore(sess, path)
    except tf.errors.NotFoundError as error:
        print("NotFoundError", "kept" in str(error))
