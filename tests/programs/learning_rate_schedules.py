"""Learning rates that decay, and an optimizer that follows one."""
import tensorflow as tf

from data import show

step = tf.Variable(0, trainable=False, name="global_step")
rates = {
    "exponential": tf.train.exponential_decay(0.1, step, 10, 0.9),
    "staircase": tf.train.exponential_decay(0.1, step, 10, 0.9, True),
    "piecewise": tf.train.piecewise_constant(step, [5, 12], [1.0, 0.5, 0.1]),
    "polynomial": tf.train.polynomial_decay(0.1, step, 15, 0.01, 2.0),
    "cycle": tf.train.polynomial_decay(0.1, step, 8, 0.01, cycle=True),
    "inverse": tf.train.inverse_time_decay(0.1, step, 10, 0.5),
    "natural": tf.train.natural_exp_decay(0.1, step, 10, 0.5),
    "cosine": tf.train.cosine_decay(0.1, step, 18, 0.1),
    "restarts": tf.train.cosine_decay_restarts(0.1, step, 6),
    "linear cosine": tf.train.linear_cosine_decay(0.1, step, 18),
}
w = tf.Variable([3.0, -2.0])
loss = tf.reduce_sum(tf.square(w))
train = tf.train.GradientDescentOptimizer(rates["exponential"]).minimize(
    loss, global_step=step)
average = tf.train.ExponentialMovingAverage(0.9, step)
with tf.control_dependencies([train]):
    train = average.apply([w])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    found = {name: [] for name in rates}
    for _ in range(20):
        values = sess.run(rates)
        for name in rates:
            found[name].append(values[name])
        sess.run(train)
    for name in sorted(found):
        show(name, found[name][::3])
    show("w", sess.run(w), sess.run(average.average(w)))
    print(average.average_name(w), sess.run(step))
