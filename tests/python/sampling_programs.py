"""The samplers of tf.contrib.training, each a function of the module tf that
returns numbers. sampling_values.json has what TensorFlow 1.15.5 returns.

    PYTHON tests/python/sampling_programs.py

with an interpreter that has TensorFlow 1.15 writes the file again."""
import os

from contrib_extra_programs import plain
import numpy as np
import recorded

VALUES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "sampling_values.json")


def run_steps(tf, things, steps):
    """What each of the steps gives, with queues that are filled."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(),
                     tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(things) for _ in range(steps)]
        coordinator.request_stop()
        session.close()
        coordinator.join(threads, ignore_live_threads=True)
    return found


def names_of(variables):
    return [(v.name, v.dtype.base_dtype.name, v.get_shape().as_list())
            for v in variables]


def rates(tf):
    """Seeds give the same rows."""
    rate = tf.constant([0., 1., 3., .5])
    x, words = tf.constant([[1., 2], [3, 4], [5, 6], [7, 8]]), tf.constant(
        list("abcd"))
    things = tf.contrib.training.resample_at_rate([x, words], rate, seed=5)
    nothing = tf.contrib.training.resample_at_rate([x], tf.zeros([4]))
    gradient = tf.gradients(tf.contrib.training.resample_at_rate(
        [x], rate, seed=6, back_prop=True)[0], x)[0]
    return run_steps(tf, [things, nothing, tf.convert_to_tensor(gradient)], 4)


def weights(tf):
    """The mean of the weights follows."""
    weight = tf.Variable([1., 2., 3.])
    more = tf.contrib.training.weighted_resample(
        [tf.constant([10, 20, 30])],
        tf.identity(weight.assign_add([1., 0., 2.])), 2.5,
        mean_decay=.5, seed=3)
    names = names_of(tf.local_variables())
    again = tf.contrib.training.weighted_resample(
        [tf.constant([10, 20, 30])], tf.constant([1., 1., 4.]), .5,
        scope="mine", seed=4)
    return run_steps(tf, [more, again], 4) + [
        names, names_of(tf.local_variables())]


def reject(tf):
    """Only examples of probability 1 come."""
    number = tf.contrib.training.rejection_sample(
        [tf.train.range_input_producer(10, shuffle=False).dequeue(),
         tf.constant([1., 2.])],
        lambda x: tf.cast(x[0] % 3 > 0, tf.float32), 4, runtime_checks=True)
    rows = tf.contrib.training.rejection_sample(
        [tf.constant([[1, 2], [3, 4], [5, 6]]), tf.constant([.1, .2, .3])],
        lambda x: tf.cast(x[0][0] > 1, tf.float32), 3, enqueue_many=True)
    return run_steps(tf, [number, rows], 3) + [
        [t.get_shape().as_list() for t in number + rows]]


def stratify(tf):
    """The classes that are not wanted do not come; the rest in order, if all of
    it is accepted."""
    given = tf.contrib.training.stratified_sample(
        [tf.constant([[1, 2], [3, 4], [5, 6]])], tf.constant([0, 2, 1]),
        [.5, 0., .5], 4, init_probs=[.5, 0, .5], enqueue_many=True)
    counted = tf.contrib.training.stratified_sample(
        [tf.constant([1.5]), tf.constant("a")], tf.constant(1), [0., 1.], 3)
    return run_steps(tf, counted, 2) + [
        [t.get_shape().as_list() for t in given[0] + [given[1]]],
        [t.dtype.name for t in given[0] + [given[1]]],
        names_of(tf.global_variables())]


PROGRAMS = {f.__name__: f for f in (rates, weights, reject, stratify)}


def run(tf, name):
    with tf.Graph().as_default():
        tf.set_random_seed(2)
        return plain(PROGRAMS[name](tf))


def shares(tf, batches, **arguments):
    """The shares of three classes that come evenly, where 1/2, 1/4, 1/4 are
    wanted."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        _, labels = tf.contrib.training.stratified_sample(
            [tf.zeros([6])], tf.constant([0, 1, 2, 0, 1, 2]), [.5, .25, .25],
            100, enqueue_many=True, **arguments)
        found = np.concatenate(run_steps(tf, labels, batches))
    return np.bincount(found, minlength=3) / float(len(found))


if __name__ == "__main__":
    import tensorflow
    recorded.write(VALUES, {name: run(tensorflow, name) for name in PROGRAMS})
