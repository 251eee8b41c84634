"""tf.contrib.training.bucket and bucket_by_sequence_length. Names, shapes and
values are TensorFlow 1.15's."""
import pytest

import headrace as tf
from headrace.contrib.training import bucket, bucket_by_sequence_length


def numbers(n=20):
    return tf.train.range_input_producer(
        n, num_epochs=1, shuffle=False).dequeue()


def plain(x):
    """A fetched structure as Python values."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tf.SparseTensorValue):
        return [a.tolist() for a in x]
    return [plain(v) for v in x] if isinstance(x, (list, tuple)) else x.tolist()


def all_of(out):
    """What `out` gives until the inputs end, sorted."""
    got = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(),
                  tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                got.append(plain(sess.run(out)))
        coord.request_stop()
        coord.join(threads)
    return sorted(got, key=str)


def of_thirds():
    i = numbers(12)
    return bucket([i, tf.cast(i, tf.float32)], i % 3, 2, 3)


def padded():
    i = numbers(6)
    return bucket([tf.range(i)], i % 2, [2, 4], 2, dynamic_pad=True,
                  allow_smaller_final_batch=True, name="q")


def of_a_dict():
    i = numbers(9)
    return bucket({"b": i, "a": tf.as_string(i)}, i % 2, 3, 2,
                  keep_input=i > 2, bucket_capacities=[5, 6], shared_name="s")


def sparse():
    i = numbers(6)
    row = tf.SparseTensor(tf.reshape(tf.cast(i, tf.int64), [1, 1]), [i], [30])
    return bucket([row, i], i % 2, 3, 2)


def of_a_fed_size():
    i = numbers(4)
    return bucket([i], i % 2, tf.placeholder_with_default(2, []), 2)


def by_length():
    i = numbers(6)
    return bucket_by_sequence_length(i, [tf.range(i), "x"], 2, [2, 4],
                                     dynamic_pad=True)


def by_length_of_a_dict():
    i = numbers(6)
    return bucket_by_sequence_length(i, {"i": i}, [1, 2, 3], [1, 4],
                                     shapes=[tf.TensorShape([])],
                                     allow_smaller_final_batch=True)


@pytest.mark.parametrize("make, shapes, values", [
    (of_thirds, "() (2,) (2,)", [[k, [[a, a + 3], [a + 0., a + 3.]]]
                                 for k in range(3) for a in (k, k + 6)]),
    (padded, "() (?, ?)", [
        [0, [[0, 0], [0, 1]]], [0, [[0, 1, 2, 3]]],
        [1, [[0, 0, 0, 0, 0], [0, 1, 2, 0, 0], [0, 1, 2, 3, 4]]]]),
    (of_a_dict, "() (3,) (3,)", [
        [0, {"a": [b"4", b"6", b"8"], "b": [4, 6, 8]}],
        [1, {"a": [b"3", b"5", b"7"], "b": [3, 5, 7]}]]),
    (sparse, "() (?, 2) (?,) (2,) (3,)", [
        [k, [[[[0, k], [1, k + 2], [2, k + 4]], [k, k + 2, k + 4], [3, 30]],
             [k, k + 2, k + 4]]] for k in range(2)]),
    (of_a_fed_size, "() (?,)", [[0, [0, 2]], [1, [1, 3]]]),
    (by_length, "(2,) (2, ?) (2,)", [
        [[0, 1], [[[0], [0]], [b"x", b"x"]]],
        [[2, 3], [[[0, 1, 0], [0, 1, 2]], [b"x", b"x"]]],
        [[4, 5], [[[0, 1, 2, 3, 0], [0, 1, 2, 3, 4]], [b"x", b"x"]]]]),
    (by_length_of_a_dict, "(?,) (?,)", [
        [[0], {"i": [0]}], [[1, 2], {"i": [1, 2]}], [[3], {"i": [3]}],
        [[4, 5], {"i": [4, 5]}]])])
def test_batches_of_buckets(make, shapes, values):
    out = make()
    parts = tf.contrib.framework.nest.flatten(out, expand_composites=True)
    assert " ".join(str(t.shape) for t in parts) == shapes
    assert all_of(out) == sorted(values, key=str)


def test_names_of_the_queues_and_their_summaries():
    of_thirds()
    nodes = {n.name: n.op for n in tf.get_default_graph().as_graph_def().node}
    assert {name: nodes[name] for name in nodes if nodes[name].endswith(
        ("FIFOQueueV2", "ScalarSummary"))} == {
            "input_producer": "FIFOQueueV2",
            "input_producer/fraction_of_32_full": "ScalarSummary",
            "bucket/bucket_queue_0": "FIFOQueueV2",
            "bucket/bucket_queue_1": "FIFOQueueV2",
            "bucket/bucket_queue_2": "FIFOQueueV2",
            "bucket/top_queue": "PaddingFIFOQueueV2",
            "bucket/bucket/bucket/bucket_queue_0/size": "ScalarSummary",
            "bucket/bucket/bucket/bucket_queue_1/size": "ScalarSummary",
            "bucket/bucket/bucket/bucket_queue_2/size": "ScalarSummary",
            "bucket/bucket/bucket/top_queue/fraction_of_32_full":
                "ScalarSummary"}
    assert len(nodes) == 116
    assert {"bucket/group_enqueues", "bucket/read_bucket_2", "bucket/dequeue_top",
            "bucket/enqueue_from_bucket_1", "bucket/top_queue_Close_1",
            "bucket/cond_1/bucket_queue_1_enqueue"} <= set(nodes)


def test_a_known_keep_input_adds_no_handle_of_what_is_left_out():
    sparse()
    assert len(tf.get_default_graph().get_operations()) == 103


ONE = [1]


@pytest.mark.parametrize("make, error, message", [
    (lambda: bucket([], 0, 2, 2), ValueError, "at least one tensor in bucket"),
    (lambda: bucket(tf.constant(1), 0, 2, 2), TypeError, "a list or a dict"),
    (lambda: bucket(ONE, 0, [2], 2), ValueError,
     "must have num_buckets elements: got 1, wanted 2"),
    (lambda: bucket(ONE, 0, 2, 2, bucket_capacities=[3]), ValueError,
     r"\(\[3\]\) must have exactly num_buckets \(2\)"),
    (lambda: bucket([tf.placeholder(tf.int32)], 0, 2, 2), ValueError,
     "Cannot infer Tensor's rank"),
    (lambda: bucket([tf.placeholder(tf.int32, [None])], 0, 2, 2), ValueError,
     "All shapes must be fully defined"),
    (lambda: bucket(ONE, 0, 2, 2, keep_input=[True]), ValueError,
     "cannot be a vector"),
    (lambda: bucket(ONE, 1.5, 2, 2), TypeError, "int32"),
    (lambda: bucket_by_sequence_length(1, ONE, 2, 5), TypeError,
     "must be a list or tuple"),
    (lambda: bucket_by_sequence_length(1, ONE, 2, []), ValueError,
     "must not be empty"),
    (lambda: bucket_by_sequence_length(1, ONE, 2, [1., 2]), TypeError,
     "must be integers"),
    (lambda: bucket_by_sequence_length(1, ONE, 2, [3, 2]), ValueError,
     "3 before 2"),
    (lambda: bucket_by_sequence_length(1, ONE, [2], [2]), ValueError,
     "got 1, wanted 2")])
def test_buckets_that_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
