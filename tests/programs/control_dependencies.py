"""Control dependencies: order, groups, tuples, assertions, prints to nowhere."""
import tensorflow as tf

from data import show

v = tf.Variable(1.0, name="v")
log = tf.Variable(tf.zeros([0]), validate_shape=False, name="log")


def note(value):
    return tf.assign(log, tf.concat([log, [value]], 0), validate_shape=False)


with tf.control_dependencies([v.assign_add(2.0)]):
    after = v.read_value() * 10
    with tf.control_dependencies([note(after)]):
        twice = tf.identity(after)
with tf.control_dependencies([twice]):
    with tf.control_dependencies(None):
        free = tf.constant(5.0) + 1
    last = note(v * 100)
checked = tf.placeholder(tf.float32, [None])
with tf.control_dependencies([
        tf.assert_positive(checked, message="only positive"),
        tf.Assert(tf.size(checked) < 4, [tf.size(checked)])]):
    mean = tf.reduce_mean(checked)
left, right = tf.tuple([v * 2, v * 3], control_inputs=[v.assign_sub(1.0).op])
everything = tf.group(last, left)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show("twice", sess.run(twice))
    show("free", sess.run(free), sess.run(v))
    sess.run(last)
    show("log", sess.run(log))
    show("tuple", *sess.run([left, right]))
    print(sess.run(everything))
    show("mean", sess.run(mean, {checked: [1., 2.]}))
    for value in ([1., -1.], [1., 1., 1., 1.]):
        try:
            sess.run(mean, {checked: value})
        except tf.errors.InvalidArgumentError as error:
            print("InvalidArgumentError", "only positive" in str(error))
print([op.name for op in twice.op.control_inputs], free.op.control_inputs)
