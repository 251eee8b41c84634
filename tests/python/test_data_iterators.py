"""Iterators: taking elements, waiting for them, and ending meanwhile."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import headrace as tf
from dataset_values import one_shot, plain

Dataset = tf.data.Dataset


def test_one_shot_copies_what_it_depends_on():
    k = tf.constant(2, tf.int64) * 3
    assert one_shot(Dataset.range(k).map(lambda x: x + k)) == list(range(6, 12))
    x = tf.placeholder(tf.int64, [])
    with pytest.raises(ValueError, match="placeholder"):
        Dataset.range(x).make_one_shot_iterator()
    v = tf.get_variable("v", [], tf.int64, use_resource=True)
    with pytest.raises(ValueError, match="make_initializable_iterator"):
        Dataset.range(3).map(lambda x: x + v).make_one_shot_iterator()


def test_the_end_is_the_end():
    get_next = Dataset.range(1).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        sess.run(get_next)
        for _ in range(3):
            with pytest.raises(tf.errors.OutOfRangeError,
                               match="End of sequence"):
                sess.run(get_next)


def test_an_uninitialized_iterator():
    iterator = Dataset.range(1).make_initializable_iterator()
    with tf.Session() as sess, pytest.raises(
            tf.errors.FailedPreconditionError, match="not been initialized"):
        sess.run(iterator.get_next())
    with pytest.raises(ValueError, match="does not have an initializer"):
        Dataset.range(1).make_one_shot_iterator().initializer


def test_initialize_again():
    n = tf.placeholder(tf.int64, [])
    iterator = Dataset.range(n).make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        for count in (2, 3):
            sess.run(iterator.initializer, {n: count})
            assert [sess.run(get_next) for _ in range(count)] == \
                list(range(count))
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(get_next)


def test_from_structure():
    a, b = Dataset.range(3), Dataset.range(10, 12)
    iterator = tf.data.Iterator.from_structure(a.output_types, a.output_shapes)
    get_next = iterator.get_next()
    init_a, init_b = iterator.make_initializer(a), iterator.make_initializer(b)
    with tf.Session() as sess:
        sess.run(init_a)
        assert sess.run(get_next) == 0
        sess.run(init_b)
        assert sess.run(get_next) == 10
    with pytest.raises(TypeError, match="output types"):
        iterator.make_initializer(Dataset.from_tensors(1.0))
    with pytest.raises(TypeError, match="output shapes"):
        iterator.make_initializer(Dataset.range(4).batch(2))


def test_string_handles():
    a = Dataset.range(3).make_one_shot_iterator()
    b = Dataset.range(10, 13).make_initializable_iterator()
    name = tf.placeholder(tf.string, [])
    either = tf.data.Iterator.from_string_handle(
        name, a.output_types, a.output_shapes)
    get_next = either.get_next()
    wrong = tf.data.Iterator.from_string_handle(name, tf.float32).get_next()
    with tf.Session() as sess:
        sess.run(b.initializer)
        names = sess.run([a.string_handle(), b.string_handle()])
        assert [sess.run(get_next, {name: names[i]})
                for i in (0, 1, 0, 1)] == [0, 10, 1, 11]
        with pytest.raises(tf.errors.InvalidArgumentError, match="types"):
            sess.run(wrong, {name: names[0]})
        for junk in (b"", b"junk", names[0][:10], names[0] + b"x"):
            with pytest.raises(tf.errors.OpError):
                sess.run(get_next, {name: junk})


def test_two_outputs_of_one_element():
    x, y = Dataset.from_tensor_slices(
        ([1, 2], [3, 4])).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run([x, y]) == [1, 3]
        assert sess.run(y) == 4


def test_optionals():
    Optional = tf.data.experimental.Optional
    some, none = Optional.from_value((1, "a")), Optional.none_from_structure(
        tf.data.experimental.get_structure(Dataset.from_tensors(1)))
    assert some.value_structure == (tf.TensorSpec([], tf.int32),
                                    tf.TensorSpec([], tf.string))
    assert none.value_structure == tf.TensorSpec([], tf.int32)
    nexts = Dataset.range(1).make_one_shot_iterator().get_next_as_optional()
    has, value = nexts.has_value(), nexts.get_value()
    with tf.Session() as sess:
        assert sess.run(some.has_value()) and not sess.run(none.has_value())
        assert plain(sess.run(some.get_value())) == (1, b"a")
        with pytest.raises(tf.errors.InvalidArgumentError,
                           match="does not have a value"):
            sess.run(none.get_value())
        assert sess.run([has, value]) == [True, 0]
        assert not sess.run(has)


def test_many_threads_share_an_iterator():
    for d in (Dataset.range(400), Dataset.range(400).map(lambda x: x + 0),
              Dataset.range(400).prefetch(5)):
        get_next, got = d.make_one_shot_iterator().get_next(), []
        with tf.Session() as sess:
            def take():
                while True:
                    try:
                        got.append(int(sess.run(get_next)))
                    except tf.errors.OutOfRangeError:
                        return
            threads = [threading.Thread(target=take) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(60)
        assert sorted(got) == list(range(400))


# Waiting, and ending while something waits.

def test_a_deadline_ends_the_wait():
    q = tf.FIFOQueue(1, tf.int64, shapes=[])
    d = Dataset.range(2).map(lambda x: x + q.dequeue())
    iterator = d.make_initializable_iterator()
    get_next, put = iterator.get_next(), q.enqueue(np.int64(40))
    with tf.Session(config=tf.ConfigProto(
            inter_op_parallelism_threads=1)) as sess:
        sess.run(iterator.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(get_next, options=tf.RunOptions(timeout_in_ms=100))
        sess.run(put)
        assert sess.run(get_next) == 41


def test_those_who_wait_hold_no_worker():
    """As many steps wait for elements as there are threads, and more."""
    q = tf.FIFOQueue(100, tf.int64, shapes=[])
    get_next = [Dataset.range(1).map(lambda x: x + q.dequeue()) for _ in
                range(8)]
    iterators = [d.make_initializable_iterator() for d in get_next]
    get_next = [i.get_next() for i in iterators]
    many = q.enqueue_many([np.arange(8, dtype=np.int64)])
    got = []
    with tf.Session(config=tf.ConfigProto(
            inter_op_parallelism_threads=1)) as sess:
        sess.run([i.initializer for i in iterators])
        threads = [threading.Thread(target=lambda g=g: got.append(sess.run(g)))
                   for g in get_next]
        for t in threads:
            t.start()
        time.sleep(0.1)
        sess.run(many)
        for t in threads:
            t.join(30)
    assert sorted(got) == list(range(8))


def test_a_session_ends_while_elements_are_made():
    script = """
import time, numpy as np, headrace as tf
D = tf.data.Dataset
q = tf.FIFOQueue(1, tf.int64, shapes=[])
def slow(x):
    time.sleep(0.01)
    return x
for d in (D.range(1000).map(lambda x: tf.py_func(slow, [x], tf.int64)).prefetch(50),
          D.range(1000).map(lambda x: tf.py_func(slow, [x], tf.int64), 8),
          D.range(1000).map(lambda x: x + q.dequeue()).prefetch(5),
          D.range(9).interleave(lambda x: D.range(1000).map(
              lambda y: tf.py_func(slow, [y], tf.int64)), 4, 2, 4)):
    iterator = d.make_initializable_iterator()
    get_next = iterator.get_next()
    sess = tf.Session()
    sess.run(iterator.initializer)
    try:
        sess.run(get_next, options=tf.RunOptions(timeout_in_ms=60))
    except tf.errors.DeadlineExceededError:
        pass
    sess.close()
    del sess
print("ended")
# And one that is still at work when Python ends.
get_next = D.range(10**9).map(lambda x: tf.py_func(slow, [x], tf.int64)
                              ).prefetch(10**6).make_one_shot_iterator().get_next()
sess = tf.Session()
sess.run(get_next)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True,
                         timeout=120, text=True)
    assert out.returncode == 0, out.stderr[-2000:]
    assert out.stdout.strip() == "ended"


def test_initialize_again_while_elements_are_made():
    def slow(x):
        time.sleep(0.002)
        return x

    d = Dataset.range(10**6).map(
        lambda x: tf.py_func(slow, [x], tf.int64), 2).prefetch(10)
    iterator = d.make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session(config=tf.ConfigProto(
            inter_op_parallelism_threads=1)) as sess:
        for _ in range(10):
            sess.run([iterator.initializer, tf.constant(1)])
            assert [sess.run(get_next) for _ in range(3)] == [0, 1, 2]


def test_wrong_types_in_a_graph():
    raw = tf.raw_ops
    d = raw.RangeDataset(0, 3, 1, output_types=[tf.int64], output_shapes=[[]])
    for types, shapes, part in (([tf.float32], [[]], "types"),
                                ([tf.int64], [[2]], "shapes"),
                                ([tf.int64] * 2, [[], []], "number or types")):
        i = raw.IteratorV2(shared_name="", container="", output_types=types,
                           output_shapes=shapes)
        with tf.Session() as sess, pytest.raises(
                tf.errors.InvalidArgumentError, match=part):
            sess.run(raw.MakeIterator(d, i))
    # A dataset that lies about its elements.
    lie = raw.BatchDatasetV2(d, 2, False, output_types=[tf.float32],
                             output_shapes=[[7]])
    i = raw.IteratorV2(shared_name="", container="", output_types=[tf.float32],
                       output_shapes=[[7]])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(raw.MakeIterator(lie, i))
        sess.run(raw.IteratorGetNext(i, output_types=[tf.float32],
                                     output_shapes=[[7]]))


def values(sess, tensor, n):
    return [float(sess.run(tensor)) for _ in range(n)]


@pytest.mark.parametrize("make", [
    lambda: Dataset.range(3).map(lambda i: tf.random_uniform([], seed=7)),
    lambda: Dataset.range(3).map(lambda i: tf.random_uniform([], seed=7),
                                 num_parallel_calls=1),
    lambda: Dataset.range(3).map(
        lambda i: tf.random_uniform([], seed=7)).prefetch(2),
    lambda: Dataset.range(3).flat_map(
        lambda i: Dataset.from_tensors(0).map(
            lambda j: tf.random_uniform([], seed=7))),
    lambda: Dataset.range(3).interleave(
        lambda i: Dataset.from_tensors(tf.random_uniform([], seed=7)), 2),
    lambda: Dataset.range(3).map(lambda i: tf.cond(
        i > 5, lambda: 0., lambda: tf.random_uniform([], seed=7)))],
    ids=["map", "parallel_map", "prefetch", "flat_map", "interleave", "cond"])
def test_a_seeded_function_begins_anew_with_the_iterator(make):
    iterator = make().make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        runs = []
        for _ in range(3):
            sess.run(iterator.initializer)
            runs.append(values(sess, get_next, 3))
    assert runs[0] == runs[1] == runs[2] and len(set(runs[0])) == 3


def test_a_seeded_function_goes_on_within_an_iterator():
    """TensorFlow's numbers: those of three runs of the op, then of three
    more."""
    iterator = Dataset.range(3).map(lambda i: tf.random_uniform(
        [], seed=7)).repeat(2).make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(iterator.initializer)
            np.testing.assert_allclose(values(sess, get_next, 6), [
                0.4839409589767456, 0.6571301221847534, 0.2652016878128052,
                0.8793959617614746, 0.3056023120880127, 0.618986964225769])


def test_functions_without_a_seed_differ_between_iterators():
    iterator = Dataset.range(3).map(
        lambda i: tf.random_uniform([])).make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        runs = []
        for _ in range(2):
            sess.run(iterator.initializer)
            runs.append(values(sess, get_next, 3))
    assert runs[0] != runs[1]


def test_iterators_of_one_dataset_do_not_share_a_stream():
    data = Dataset.range(3).map(lambda i: tf.random_uniform([], seed=7))
    a, b = (data.make_initializable_iterator() for _ in range(2))
    one, other = a.get_next(), b.get_next()
    with tf.Session() as sess:
        sess.run([a.initializer, b.initializer])
        pairs = [sess.run([one, other]) for _ in range(3)]
    assert all(x == y for x, y in pairs)


@pytest.mark.parametrize("capacity", [1, 2, 4, 7])
def test_prefetch_keeps_its_buffer_full(capacity):
    """It was filled again only when half of it was gone: who waited for the
    producer to go on waited for ever."""
    made = []
    iterator = Dataset.range(100).map(lambda i: tf.py_func(
        lambda v: made.append(v) or v, [i], tf.int64)).prefetch(
            capacity).make_one_shot_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        for taken in range(1, 6):
            sess.run(get_next)
            if taken == 3:
                time.sleep(0.2)  # the thread that fills has given up
            end = time.time() + 20
            while len(made) < taken + capacity and time.time() < end:
                time.sleep(0.002)
            assert len(made) == taken + capacity


def test_one_shot_iterators_take_assertions(tmp_path):
    (tmp_path / "a").write_text("")
    files = Dataset.list_files(str(tmp_path / "*")).make_one_shot_iterator()
    with tf.control_dependencies([tf.Assert(tf.constant(True), ["x"])]):
        three = tf.identity(3)
    data = Dataset.from_tensors(three).make_one_shot_iterator()
    with tf.control_dependencies([tf.Assert(tf.constant(False), ["no"])]):
        never = tf.identity(3)
    wrong = Dataset.from_tensors(never).make_one_shot_iterator()
    with tf.Session() as sess:
        assert sess.run(files.get_next()) == str(tmp_path / "a").encode()
        assert sess.run(data.get_next()) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
            sess.run(wrong.get_next())


def test_one_shot_iterators_take_placeholders_with_a_default():
    n = tf.placeholder_with_default(tf.constant(2, tf.int64), [])
    data = Dataset.range(n).make_one_shot_iterator()
    with tf.Session() as sess:
        assert sess.run(data.get_next()) == 0


def test_an_iterator_of_a_resource():
    dataset = tf.data.Dataset.range(3)
    first = tf.data.make_initializable_iterator(dataset)
    again = tf.data.Iterator(first._iterator_resource, first.initializer,
                             tf.int64, tf.TensorShape([]), tf.Tensor)
    with tf.Session() as sess:
        sess.run(again.initializer)
        assert [sess.run(it.get_next()) for it in (again, first)] == [0, 1]


def test_a_dataset_shows_what_it_has():
    dataset = tf.data.Dataset.range(3)
    assert repr(dataset.batch(2)) == "<Dataset shapes: (?,), types: tf.int64>"
    assert repr(dataset.map(lambda x: (x, {"a": x}))) == (
        "<Dataset shapes: ((), {a: ()}), types: (tf.int64, {a: tf.int64})>")
