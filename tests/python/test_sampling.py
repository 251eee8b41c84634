"""The samplers of tf.contrib.training beside TensorFlow 1.15.5
(sampling_programs.py), the shares that they give, and what they refuse."""
import json

import numpy as np
import pytest
import sampling_programs as programs
from test_contrib_extra import check

import headrace as tf

training = tf.contrib.training

with open(programs.VALUES) as _file:
    VALUES = json.load(_file)


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name):
    check(programs.run(tf, name), VALUES[name], name)


@pytest.mark.parametrize("arguments", [
    {"init_probs": [1 / 3, 1 / 3, 1 / 3]}, {}, {"threads_per_queue": 3}],
                         ids=["known", "counted", "threads"])
def test_shares_of_a_stratified_sample(arguments):
    np.testing.assert_allclose(programs.shares(tf, 20, **arguments),
                               [.5, .25, .25], atol=.07)


def sample(tensors=None, labels=(0, 1), target=(.5, .5), **arguments):
    return training.stratified_sample(
        [tf.zeros([2, 3])] if tensors is None else tensors,
        tf.convert_to_tensor(labels), target, 4,
        **dict({"enqueue_many": True}, **arguments))


@pytest.mark.parametrize("make, error, message", [
    (lambda: sample(labels=0, init_probs=[.5, .5]), ValueError, "must have rank 1"),
    (lambda: sample(labels=(0, 1, 1)), ValueError, "are not compatible"),
    (lambda: sample(tensors=[tf.constant(1)]), ValueError, "rank at least 1"),
    (lambda: sample(init_probs=[.5, .25, .25]), ValueError,
     "Probability parameters must have the same length"),
    (lambda: sample(target=[[.5, .5]], init_probs=[.5, .5]), ValueError,
     "must have rank 1"),
    (lambda: sample(target=tf.placeholder(tf.float32, [None])), ValueError,
     "is not fully defined"),
    (lambda: sample(labels=(0., 1.), init_probs=[.5, .5]), TypeError,
     "integer|not in list of allowed"),
    (lambda: training.rejection_sample(
        [tf.zeros([2]), tf.zeros([3])], lambda x: x[0], 2, enqueue_many=True),
     ValueError, "are not compatible"),
    (lambda: training.rejection_sample(tf.constant(1), lambda x: x, 2),
     TypeError, "rejection_sample: tensors is .*, must be a list"),
    (lambda: sample(tensors=tf.constant(1)), TypeError,
     "stratified_sample: tensors is .*, must be a list"),
    (lambda: sample(target=[-.5, 1.5], init_probs=[.5, .5]),
     tf.errors.InvalidArgumentError, "x >= 0 did not hold")])
def test_samples_that_no_graph_has(make, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("make, message", [
    (lambda: sample(target=[.5, .6], init_probs=[.5, .5]), "assertion failed"),
    (lambda: sample(labels=(0, 2), init_probs=[.5, .5]), "assertion failed"),
    (lambda: sample(init_probs=[1., 0.]),
     "All classes with zero initial probability"),
    (lambda: (training.rejection_sample(
        [tf.zeros([])], lambda x: x[0] + 1.5, 2, runtime_checks=True), 0),
     "assertion failed")])
def test_samples_that_fail_as_they_run(make, message):
    with tf.Graph().as_default():
        make()
        with tf.Session() as session, pytest.raises(
                tf.errors.InvalidArgumentError, match=message):
            session.run(tf.global_variables_initializer())
            for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
                session.run(runner.enqueue_ops[0])


@pytest.mark.parametrize("shape, wanted", [
    ((8,), [4., 5., 6., 7.]),
    ((6, 2), [[2., 3.], [4., 5.], [6., 7.], [8., 9.]])])
def test_rows_of_a_single_tensor_are_rejected(shape, wanted):
    """TensorFlow 1.15.5 fails on one tensor with enqueue_many."""
    with tf.Graph().as_default():
        rows = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        found, = training.rejection_sample(
            [tf.constant(rows)], lambda x: tf.cast(
                tf.reduce_sum(x[0]) > 3, tf.float32), 4, enqueue_many=True)
        assert found.shape.as_list() == [4] + list(shape[1:])
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            assert session.run(found).tolist() == wanted
            coordinator.request_stop()
            coordinator.join(threads)
