"""Datasets and iterators. Values that are not plain arithmetic (draws, orders,
messages) are TensorFlow's."""
import gzip
import os
import struct
import subprocess
import sys
import threading
import time
import zlib

import numpy as np
import pytest

import headrace as tf

Dataset = tf.data.Dataset


def values(dataset, n=100):
    """The first elements, as Python values; errors in their place."""
    iterator = tf.data.make_initializable_iterator(dataset)
    get_next, out = iterator.get_next(), []
    with tf.Session(graph=tf.get_default_graph()) as sess:
        sess.run(iterator.initializer)
        while len(out) < n:
            try:
                out.append(plain(sess.run(get_next)))
            except tf.errors.OutOfRangeError as error:
                assert "End of sequence" in str(error)
                break
            except tf.errors.OpError as error:
                out.append(error)
    return out


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        return tuple(plain(v) for v in x)
    return x.tolist() if hasattr(x, "tolist") else x


def one_shot(dataset, n=100):
    get_next, out = dataset.make_one_shot_iterator().get_next(), []
    with tf.Session() as sess:
        while len(out) < n:
            try:
                out.append(plain(sess.run(get_next)))
            except tf.errors.OutOfRangeError:
                break
    return out


# Sources.

def test_from_tensors():
    assert values(Dataset.from_tensors(([1, 2], "a"))) == [([1, 2], b"a")]


def test_from_tensor_slices_keeps_the_structure():
    d = Dataset.from_tensor_slices({"b": [1, 2], "a": ([3., 4.], ["x", "y"])})
    assert d.output_types == {"b": tf.int32, "a": (tf.float32, tf.string)}
    assert values(d) == [{"b": 1, "a": (3.0, b"x")}, {"b": 2, "a": (4.0, b"y")}]
    with pytest.raises(ValueError, match="rank >= 1"):
        Dataset.from_tensor_slices(5)


def test_slices_of_unequal_tensors():
    x = tf.placeholder(tf.int32, [None])
    d = Dataset.from_tensor_slices(([1, 2, 3], x))
    iterator = d.make_initializable_iterator()
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="0th dimension"):
        sess.run(iterator.initializer, {x: [1, 2]})


@pytest.mark.parametrize("args, wanted", [
    ((4,), [0, 1, 2, 3]), ((2, 4), [2, 3]), ((10, 0, -3), [10, 7, 4, 1]),
    ((0, 10, 4), [0, 4, 8]), ((3, 3), []), ((5, 0), []), ((0, 5, -1), []),
    ((2**63 - 3, 2**63 - 1, 2), [2**63 - 3]),
    ((-2**63, 2**63 - 1, 2**62), [-2**63, -2**62, 0, 2**62])])
def test_range(args, wanted):
    assert values(Dataset.range(*args)) == wanted


def test_range_step_zero():
    iterator = Dataset.range(1, 5, 0).make_initializable_iterator()
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="step must be a non-zero"):
        sess.run(iterator.initializer)


def test_from_generator():
    def generate(n):
        for i in range(n):
            yield i, [i] * i

    d = Dataset.from_generator(generate, (tf.int64, tf.int64),
                               (tf.TensorShape([]), tf.TensorShape([None])),
                               args=(3,))
    assert d.output_shapes[1].as_list() == [None]
    assert values(d.repeat(2)) == [(0, []), (1, [1]), (2, [2, 2])] * 2
    assert one_shot(Dataset.from_generator(
        lambda: iter(["a", b"b"]), tf.string)) == [b"a", b"b"]


def test_generator_errors_are_the_elements():
    def generate():
        yield 1
        yield "x"
        yield 2

    got = values(Dataset.from_generator(generate, tf.int64))
    assert got[0] == 1 and got[2] == 2
    assert isinstance(got[1], tf.errors.InvalidArgumentError)
    assert "could not be converted to the expected type" in str(got[1])
    got = values(Dataset.from_generator(lambda: iter([[1], [1, 2]]), tf.int64,
                                        [1]))
    assert got[0] == [1]
    assert "element of shape (2,) where an element of shape (1,)" in str(got[1])


def test_random():
    # TensorFlow's RandomDataset with seed=3, seed2=4.
    d = Dataset(tf.raw_ops.RandomDataset(3, 4, output_types=[tf.int64],
                                         output_shapes=[[]]),
                Dataset.range(1)._spec)
    assert values(d, 5) == [1995848961, 2377083460, 192503441, 2649255194,
                            3326414959]


@pytest.mark.parametrize("rerandomize, wanted", [
    (False, [1995848961, 2377083460, 192503441] * 2),
    (True, [1138331117, 168407181, 2899603629, 2689513579, 368471435,
            394051648])])
def test_random_of_each_iteration(rerandomize, wanted):
    d = Dataset(tf.raw_ops.RandomDatasetV2(
        3, 4, tf.raw_ops.DummySeedGenerator(), output_types=[tf.int64],
        output_shapes=[[]], rerandomize_each_iteration=rerandomize),
        Dataset.range(1)._spec)
    assert values(d.take(3).repeat(2)) == wanted


# Transformations.

def test_map():
    outer = tf.constant(10, tf.int64)
    d = Dataset.range(3).map(lambda x: (x + outer, {"s": x * x}))
    assert d.output_types == (tf.int64, {"s": tf.int64})
    assert values(d) == [(10, {"s": 0}), (11, {"s": 1}), (12, {"s": 4})]
    assert values(d.map(lambda a, b: a - b["s"])) == [10, 10, 8]


def test_map_captures_variables_and_feeds():
    scale = tf.get_variable("scale", [], initializer=tf.constant_initializer(3.))
    offset = tf.placeholder(tf.float32, [])
    d = Dataset.from_tensor_slices([1., 2.]).map(lambda x: x * scale + offset)
    iterator = d.make_initializable_iterator()
    get_next = iterator.get_next()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(iterator.initializer, {offset: 0.5})
        assert sess.run(get_next) == 3.5 and sess.run(get_next) == 6.5


def test_a_failing_element_does_not_end_the_sequence():
    for parallel in (None, 2):
        got = values(Dataset.range(4).map(
            lambda x: tf.check_numerics(1. / tf.cast(x - 1, tf.float32), "bad"),
            parallel))
        assert got[0] == -1 and got[2:] == [1.0, 0.5]
        assert isinstance(got[1], tf.errors.InvalidArgumentError)
        assert "bad" in str(got[1])


def test_ignore_errors():
    d = Dataset.range(4).map(lambda x: tf.check_numerics(
        1. / tf.cast(x - 1, tf.float32), "bad"))
    assert values(d.apply(tf.data.experimental.ignore_errors())) == [
        -1.0, 1.0, 0.5]


def test_parallel_map_keeps_the_order():
    def slow(x):
        time.sleep(0.02 if x % 4 == 0 else 0)
        return x * 2

    d = Dataset.range(20).map(
        lambda x: tf.py_func(slow, [x], tf.int64), num_parallel_calls=4)
    assert values(d) == list(range(0, 40, 2))
    assert values(Dataset.range(5).map(lambda x: x, -1)) == list(range(5))


def test_a_map_that_runs_out_of_range_ends_the_sequence():
    def stop(x):
        if x == 2:
            raise StopIteration
        return x

    for parallel in (None, 3):
        d = Dataset.range(5).map(lambda x: tf.py_func(stop, [x], tf.int64),
                                 parallel)
        assert values(d, 2) == [0, 1]
        assert len(values(d)) in (2, 4)


def test_filter_and_take_while():
    assert values(Dataset.range(10).filter(
        lambda x: tf.equal(x % 3, 0))) == [0, 3, 6, 9]
    assert values(Dataset.range(5).apply(
        tf.data.experimental.take_while(lambda x: x < 3))) == [0, 1, 2]
    with pytest.raises(ValueError, match="scalar boolean"):
        Dataset.range(5).filter(lambda x: x)


def test_flat_map():
    assert values(Dataset.range(4).flat_map(Dataset.range)) == [
        0, 0, 1, 0, 1, 2]
    with pytest.raises(TypeError, match="must return a `Dataset`"):
        Dataset.range(4).flat_map(lambda x: x)
    # A function inside a function takes what the outer one captured.
    k = tf.constant(100, tf.int64)
    assert values(Dataset.range(1, 3).flat_map(
        lambda x: Dataset.range(x).map(lambda y: x * k + y))) == [100, 200, 201]


@pytest.mark.parametrize("parallel", [None, 2])
@pytest.mark.parametrize("counts, cycle, block, wanted", [
    (range(1, 6), 2, 2, [1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 4, 4, 5, 5, 5]),
    (range(1, 6), 1, 3, [1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5]),
    (range(1, 4), 100, 1, [1, 2, 3, 2, 3, 3])])
def test_interleave(parallel, counts, cycle, block, wanted):
    d = Dataset.from_tensor_slices(np.array(counts, np.int64)).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x), cycle, block, parallel)
    assert values(d) == wanted


def test_interleave_of_empty_and_long_datasets():
    for parallel in (None, 2):
        d = Dataset.range(1, 8).interleave(Dataset.range, 3, 2, parallel)
        assert values(d, 20) == [0, 0, 1, 0, 1, 0, 1, 2, 2, 3, 0, 1, 0, 1, 2, 3,
                                 2, 3, 0, 1]


def test_batch():
    assert values(Dataset.range(5).batch(2)) == [[0, 1], [2, 3], [4]]
    d = Dataset.range(5).batch(2, drop_remainder=True)
    assert d.output_shapes.as_list() == [2]
    assert values(d) == [[0, 1], [2, 3]]
    assert values(Dataset.from_tensor_slices(["a", "b"]).batch(5)) == [
        [b"a", b"b"]]
    got = values(Dataset.range(4).map(lambda x: tf.fill([x], x)).batch(2))
    assert all(isinstance(e, tf.errors.InvalidArgumentError) for e in got)
    assert "different shapes in component 0" in str(got[0])


def test_padded_batch():
    d = Dataset.range(5).map(lambda x: tf.fill([x], x))
    assert values(d.padded_batch(2, [None])) == [
        [[0], [1]], [[2, 2, 0], [3, 3, 3]], [[4, 4, 4, 4]]]
    assert values(d.padded_batch(2, [None], np.int64(-1), True)) == [
        [[-1], [1]], [[2, 2, -1], [3, 3, 3]]]
    got = values(d.padded_batch(2, [1]))
    assert got[0] == [[0], [1]] and len(got) == 3
    assert isinstance(got[1], tf.errors.DataLossError)
    d = Dataset.range(1, 3).map(lambda x: (tf.fill([x, 2], x), x))
    assert values(d.padded_batch(2, ([3, -1], []))) == [
        ([[[1, 1], [0, 0], [0, 0]], [[2, 2], [2, 2], [0, 0]]], [1, 2])]


def test_unbatch():
    assert values(Dataset.range(5).batch(2).unbatch()) == list(range(5))


def test_window():
    def windows(*args):
        return values(Dataset.range(7).window(*args).flat_map(
            lambda w: w.batch(10)))
    assert windows(3, 2, 2) == [[0, 2, 4], [2, 4, 6], [4, 6], [6]]
    assert windows(3, 1, 1, True) == [[i, i + 1, i + 2] for i in range(5)]
    assert windows(2, 3) == [[0, 1], [3, 4], [6]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="size"):
        iterator = Dataset.range(7).window(0, 1).make_initializable_iterator()
        with tf.Session() as sess:
            sess.run(iterator.initializer)


def test_repeat_take_skip_shard_concatenate():
    d = Dataset.range(3)
    assert values(d.repeat(2)) == [0, 1, 2] * 2
    assert values(d.repeat(0)) == []
    assert values(d.repeat(), 7) == [0, 1, 2, 0, 1, 2, 0]
    assert values(Dataset.range(0).repeat()) == []
    assert values(d.take(2)) == [0, 1]
    assert values(d.take(-2)) == [0, 1, 2]
    assert values(d.skip(2)) == [2]
    assert values(d.skip(5)) == [] == values(d.skip(-2))
    assert values(Dataset.range(10).shard(3, 1)) == [1, 4, 7]
    assert values(d.concatenate(Dataset.range(5, 7))) == [0, 1, 2, 5, 6]
    with pytest.raises(TypeError, match="different types"):
        d.concatenate(Dataset.from_tensors(1.0))


def test_zip_and_enumerate():
    d = Dataset.zip({"a": Dataset.range(5), "b": (Dataset.range(3),)})
    assert values(d) == [{"a": i, "b": (i,)} for i in range(3)]
    assert values(Dataset.range(5, 7).enumerate(1)) == [(1, 5), (2, 6)]


# With seeds (seed, seed2), what TensorFlow draws.
@pytest.mark.parametrize("n, buffer, seeds, wanted", [
    (10, 4, (1, 2), [0, 2, 1, 3, 5, 8, 6, 4, 7, 9]),
    (10, 100, (7, 9), [4, 6, 0, 9, 3, 2, 5, 8, 1, 7]),
    (5, 1, (7, 9), [0, 1, 2, 3, 4]),
    (5, -2, (3, 4), [2, 0, 1, 4, 3])])
def test_shuffle_draws(n, buffer, seeds, wanted):
    assert values(_shuffle(Dataset.range(n), buffer, seeds)) == wanted


def _shuffle(d, buffer, seeds, reshuffle=True):
    return d._unary(tf.raw_ops.ShuffleDataset, buffer_size=buffer,
                    seed=seeds[0], seed2=seeds[1],
                    reshuffle_each_iteration=reshuffle)


def test_shuffle_again_in_each_epoch():
    d = Dataset.range(5)
    assert values(_shuffle(d, 5, (3, 4)).repeat(3)) == [
        2, 0, 1, 4, 3, 4, 0, 3, 2, 1, 4, 2, 3, 0, 1]
    assert values(_shuffle(d, 5, (3, 4), False).repeat(3)) == [
        1, 0, 4, 3, 2] * 3


def test_shuffle_seeds_of_graph_and_op():
    d = Dataset.range(10).shuffle(10, seed=5).repeat(2)
    assert values(d) == [5, 3, 0, 2, 7, 6, 4, 1, 9, 8,
                         4, 0, 5, 9, 2, 8, 6, 3, 1, 7]
    tf.set_random_seed(11)
    assert values(Dataset.range(10).shuffle(10, seed=5)) == [
        6, 8, 7, 0, 4, 9, 5, 1, 2, 3]


@pytest.mark.parametrize("n, buffer, count, reshuffle, wanted", [
    (5, 3, 3, True, [2, 1, 0, 4, 3, 1, 3, 0, 2, 4, 1, 2, 3, 4, 0]),
    (5, 3, 3, False, [0, 2, 4, 3, 1] * 3),
    (3, 100, 6, True, [2, 0, 1, 1, 2, 0, 1, 2, 0, 2, 0, 1, 1, 0, 2, 2, 1, 0]),
    (3, 100, 6, False, [0, 1, 2] * 6),
    (0, 3, -1, True, [])])
def test_shuffle_and_repeat(n, buffer, count, reshuffle, wanted):
    d = Dataset.range(n)._unary(
        tf.raw_ops.ShuffleAndRepeatDataset, buffer_size=buffer, seed=3, seed2=4,
        count=count, reshuffle_each_iteration=reshuffle)
    assert values(d) == wanted


def test_shuffle_with_a_seed_generator():
    generator = tf.raw_ops.AnonymousSeedGenerator(3, 4, True)
    d = Dataset.range(6)._unary(tf.raw_ops.ShuffleDatasetV2, buffer_size=6,
                                seed_generator=generator[0])
    assert values(d.repeat(2)) == [5, 2, 3, 4, 0, 1, 1, 0, 2, 3, 5, 4]
    d = Dataset.range(6)._unary(tf.raw_ops.ShuffleDatasetV3, buffer_size=6,
                                seed=3, seed2=4,
                                seed_generator=tf.raw_ops.DummySeedGenerator())
    assert values(d) == [5, 2, 3, 4, 0, 1]


def test_cache_in_memory():
    calls = []

    def note(x):
        calls.append(int(x))
        return x

    d = Dataset.range(3).map(lambda x: tf.py_func(note, [x], tf.int64))
    assert values(d.cache().repeat(3)) == [0, 1, 2] * 3
    assert calls == [0, 1, 2]
    # An iteration that stops early leaves no cache.
    del calls[:]
    assert values(d.cache().take(2).repeat(2)) == [0, 1] * 2
    assert calls == [0, 1, 0, 1]


def test_cache_in_a_file(tmp_path):
    path = str(tmp_path / "cache")
    texts = [b"%d" % i for i in range(12)]
    d = Dataset.zip((Dataset.range(12), Dataset.from_tensor_slices(texts)))
    assert values(d.cache(path)) == list(enumerate(texts))
    assert os.path.exists(path + ".index")
    # The file answers, not the input.
    other = Dataset.from_tensors((np.int64(7), "x"))
    assert values(other.cache(path)) == list(enumerate(texts))


def test_prefetch():
    assert values(Dataset.range(100).prefetch(10)) == list(range(100))
    assert values(Dataset.range(5).prefetch(0)) == list(range(5))
    assert values(Dataset.range(5).prefetch(None)) == list(range(5))
    assert values(Dataset.range(5).prefetch(3).prefetch(1).repeat(2)) == \
        list(range(5)) * 2


def test_prefetch_works_ahead():
    made = threading.Event()

    def note(x):
        if x == 2:
            made.set()
        return x

    d = Dataset.range(10).map(
        lambda x: tf.py_func(note, [x], tf.int64)).prefetch(3)
    get_next = d.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(get_next) == 0
        assert made.wait(10)


def test_reduce():
    total = Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x)
    both = Dataset.from_tensor_slices([b"a", b"b"]).reduce(
        (np.int64(0), "x"), lambda s, x: (s[0] + 1, tf.strings.join(
            [s[1], x])))
    with tf.Session() as sess:
        assert sess.run(total) == 10
        assert plain(sess.run(both)) == (2, b"xab")


def test_scan():
    assert values(Dataset.range(5).apply(tf.data.experimental.scan(
        np.int64(0), lambda s, x: (s + x, (s, x))))) == [
            (0, 0), (0, 1), (1, 2), (3, 3), (6, 4)]


def test_map_and_batch():
    assert values(Dataset.range(5).apply(tf.data.experimental.map_and_batch(
        lambda x: x * 2, 2, num_parallel_calls=2))) == [[0, 2], [4, 6], [8]]


def test_single_element_and_cardinality():
    one = tf.data.experimental.get_single_element(Dataset.range(3).batch(9))
    none = tf.data.experimental.get_single_element(Dataset.range(0))
    two = tf.data.experimental.get_single_element(Dataset.range(2))
    with tf.Session() as sess:
        assert sess.run(one).tolist() == [0, 1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="was empty"):
            sess.run(none)
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than"):
            sess.run(two)
        for d, n in [(Dataset.range(7), 7), (Dataset.range(7).batch(2), 4),
                     (Dataset.range(7).repeat(), -1),
                     (Dataset.range(7).skip(2).take(9), 5),
                     (Dataset.range(7).filter(lambda x: x > 2), -2)]:
            assert sess.run(tf.data.experimental.cardinality(d)) == n


def test_group_by_window():
    X, d = tf.data.experimental, Dataset.range(10)
    assert values(d.apply(X.group_by_window(
        lambda x: x % 3, lambda k, g: g.batch(2), window_size=2))) == [
            [0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    assert values(d.apply(X.group_by_window(
        lambda x: x % 3, lambda k, g: g.batch(10),
        window_size_func=lambda k: k + 1))) == [
            [0], [3], [1, 4], [6], [2, 5, 8], [9], [7]]
    got = values(d.apply(X.group_by_window(
        lambda x: x, lambda k, g: g, window_size=0)), 1)
    assert "Window size must be greater than zero" in str(got[0])


def test_bucket_by_sequence_length():
    X = tf.data.experimental
    d = Dataset.range(1, 9).map(lambda x: tf.fill([x], x))
    assert values(d.apply(X.bucket_by_sequence_length(
        tf.size, [3, 5], [2, 2, 2]))) == [
            [[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]],
            [[5, 5, 5, 5, 5, 0], [6] * 6], [[7] * 7 + [0], [8] * 8]]
    assert values(d.take(4).apply(X.bucket_by_sequence_length(
        tf.size, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True))) == [
            [[1, 0], [2, 2]], [[3, 3, 3, 0, 0], [4, 4, 4, 4, 0]]]


def test_choose_and_sample():
    X = tf.data.experimental
    choice = Dataset.from_tensor_slices(
        np.array([0, 1, 2, 1, 1, 0, 2, 1, 0, 0, 2], np.int64))
    assert values(X.choose_from_datasets(
        [Dataset.range(3), Dataset.range(10, 12), Dataset.range(20, 30)],
        choice)) == [0, 10, 20, 11, 1, 21, 2, 22]
    got = values(X.choose_from_datasets(
        [Dataset.range(3)], Dataset.from_tensor_slices(
            np.array([0, 1, 0, -1], np.int64))))
    assert [g for g in got if isinstance(g, int)] == [0, 1]
    assert all("Selector index out of range" in str(g)
               for g in got if not isinstance(g, int)) and len(got) == 4
    got = values(X.sample_from_datasets(
        [Dataset.range(9).repeat(), Dataset.range(10, 15).repeat()],
        [0.0, 1.0], seed=3), 12)
    assert got == [10, 11, 12, 13, 14] * 2 + [10, 11]
    got = values(X.sample_from_datasets(
        [Dataset.range(50), Dataset.range(100, 150)], seed=3))
    assert sorted(got) == list(range(50)) + list(range(100, 150))
    assert got != sorted(got)


def test_sparse_elements():
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
    d = Dataset.from_tensor_slices((sparse, [1, 2, 3]))
    assert d.output_classes[0] is tf.SparseTensor
    assert d.output_types == (tf.int32, tf.int32)
    doubled = d.map(lambda s, x: (tf.SparseTensor(s.indices, s.values * 2,
                                                  s.dense_shape), x))
    for made, wanted in (
            (d, [([[1]], [5], [2]), ([], [], [2]), ([[0]], [6], [2])]),
            (doubled.batch(2), [([[0, 1]], [10], [2, 2]),
                                ([[0, 0]], [12], [1, 2])])):
        get_next = made.make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            for w in wanted:
                s = sess.run(get_next)[0]
                assert (s.indices.tolist(), s.values.tolist(),
                        s.dense_shape.tolist()) == w


def test_from_sparse_tensor_slices():
    d = Dataset.from_sparse_tensor_slices(
        tf.SparseTensor([[0, 1], [2, 0], [2, 1]], [5, 6, 7], [4, 2]))
    assert values(d) == [([[1]], [5], [2]), ([], [], [2]),
                         ([[0], [1]], [6, 7], [2]), ([], [], [2])]
    for indices in ([[1, 0], [0, 0]], [[9, 0], [9, 1]]):
        iterator = Dataset.from_sparse_tensor_slices(tf.SparseTensor(
            indices, [5, 6], [4, 2])).make_initializable_iterator()
        with tf.Session() as sess, pytest.raises(
                (tf.errors.UnimplementedError, tf.errors.InvalidArgumentError)):
            sess.run(iterator.initializer)


# Iterators.

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
        Dataset.from_tensors(1)._spec)
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


def test_deep_chains_are_refused():
    d = Dataset.range(3)
    for _ in range(1200):
        d = d.skip(0)
    got = []
    with pytest.raises(tf.errors.ResourceExhaustedError, match="chain"):
        got.append(one_shot(d))


def test_unbounded_requests_are_refused_or_bounded():
    assert values(Dataset.range(3).batch(2**62)) == [[0, 1, 2]]
    assert sorted(values(Dataset.range(3).shuffle(2**62))) == [0, 1, 2]
    assert values(Dataset.range(2**62).map(lambda x: x, 2**31 - 1), 2) == [0, 1]
    assert values(Dataset.range(2**62).prefetch(2**62), 2) == [0, 1]
    assert values(Dataset.range(2**62).interleave(
        lambda x: Dataset.from_tensors(x), 2**20, 1, 4), 2) == [0, 1]
    assert values(Dataset.range(2**62).repeat(2**62), 2) == [0, 1]


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


# Files.

def _crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def _records(*records):
    out = b""
    for r in records:
        head = struct.pack("<Q", len(r))
        out += head + struct.pack("<I", _crc32c(head))
        out += r + struct.pack("<I", _crc32c(r))
    return out


def _write(path, data):
    path.write_bytes(data)
    return str(path)


def test_record_files(tmp_path):
    records = [b"one", b"", b"x" * 300000]
    data = _records(*records)
    a = _write(tmp_path / "a", data)
    b = _write(tmp_path / "b", zlib.compress(data))
    c = _write(tmp_path / "c", gzip.compress(data))
    two = _write(tmp_path / "d", gzip.compress(data) + gzip.compress(data))
    TFRecordDataset = tf.data.TFRecordDataset
    assert values(TFRecordDataset([a, a])) == records * 2
    assert values(TFRecordDataset(a, buffer_size=1)) == records
    assert values(TFRecordDataset(b, "ZLIB")) == records
    assert values(TFRecordDataset([c], "GZIP", 100)) == records
    assert values(TFRecordDataset(two, "GZIP")) == records * 2
    assert values(TFRecordDataset(Dataset.from_tensor_slices([a, a]))) == \
        records * 2
    assert sorted(values(TFRecordDataset([a, a], num_parallel_reads=2))) == \
        sorted(records * 2)
    assert one_shot(TFRecordDataset(_write(tmp_path / "e", b""))) == []


def test_damaged_record_files(tmp_path):
    data = _records(b"one", b"two")
    good = _write(tmp_path / "good", data)
    cases = [
        (data[:-3], [b"one"], "truncated record at 19"),
        (data[:25], [b"one"], "truncated record at 19"),
        (data[:14] + b"X" + data[15:], [], "corrupted record at 12"),
        (data[:1] + b"X" + data[2:], [], "corrupted record at 0"),
        (b"short", [], "truncated record at 0"),
        # Lengths that a checksum vouches for.
        (struct.pack("<Q", 2**40) + struct.pack(
            "<I", _crc32c(struct.pack("<Q", 2**40))) + b"abc", [],
         "corrupted record at 0"),
        (struct.pack("<Q", 2**31) + struct.pack(
            "<I", _crc32c(struct.pack("<Q", 2**31))) + b"abc", [],
         "truncated record at 0")]
    for damaged, before, message in cases:
        bad = _write(tmp_path / "bad", damaged)
        got = values(tf.data.TFRecordDataset([bad, good]))
        assert got[:len(before)] == before
        error = got[len(before)]
        assert isinstance(error, tf.errors.DataLossError), damaged
        assert message in str(error) and "bad" in str(error)
        assert got[len(before) + 1:] == [b"one", b"two"]
    for name, damaged in (("ZLIB", b"not zlib"), ("GZIP", data),
                          ("ZLIB", zlib.compress(data)[:-5]),
                          ("GZIP", gzip.compress(data)[:20])):
        got = values(tf.data.TFRecordDataset(
            _write(tmp_path / "bad", damaged), name))
        assert isinstance(got[-1], tf.errors.DataLossError)


def test_files_that_are_not_there(tmp_path):
    missing = str(tmp_path / "missing")
    for d in (tf.data.TFRecordDataset(missing), tf.data.TextLineDataset(missing),
              tf.data.FixedLengthRecordDataset(missing, 1)):
        got = values(d)
        assert len(got) == 1 and isinstance(got[0], tf.errors.NotFoundError)
    iterator = tf.data.TFRecordDataset(
        missing, "LZ4").make_initializable_iterator()
    with tf.Session() as sess, pytest.raises(
            tf.errors.InvalidArgumentError, match="compression_type: LZ4"):
        sess.run(iterator.initializer)


def test_text_lines(tmp_path):
    text = b"a\rb\r\nc\n\nlast\r"
    lines = [b"ab", b"c", b"", b"last"]
    a = _write(tmp_path / "a", text)
    z = _write(tmp_path / "z", zlib.compress(text))
    long = _write(tmp_path / "long", b"x" * 600000 + b"\n" + b"y" * 10)
    assert values(tf.data.TextLineDataset([a, a])) == lines * 2
    assert values(tf.data.TextLineDataset(z, "ZLIB", 3)) == lines
    assert values(tf.data.TextLineDataset(long)) == [b"x" * 600000, b"y" * 10]
    assert values(tf.data.TextLineDataset(a).skip(1).filter(
        lambda s: tf.not_equal(s, ""))) == [b"c", b"last"]


CSV = [  # text, options, elements; a string in place of an error's message
    (b"1,2.5,a\n2,3.5,b", {}, [(1, 2.5, b"a"), (2, 3.5, b"b")]),
    (b"1,2.5,a\r2,3.5,b\r\n3,4,c\n", {},
     [(1, 2.5, b"a"), (2, 3.5, b"b"), (3, 4, b"c")]),
    (b'1,2,"a,\nb""c\r\n"\r\n2,"3.5",""\n', {},
     [(1, 2, b'a,\nb"c\r\n'), (2, 3.5, b"none")]),
    (b'1,2,"a"b\n', dict(use_quote_delim=False), [(1, 2, b'"a"b')]),
    (b" 1 , 2.5 , a \n1,0x10,a\0b\n,nan,\n1,1e400,x", {},
     [(1, 2.5, b" a "), (1, 16, b"a\0b"), (7, float("nan"), b"none"),
      (1, float("inf"), b"x")]),
    (b"", {}, []),
    (b"a,b,c\n1,2,x\n", dict(header=True), [(1, 2, b"x")]),
    (b'"a\nb",b\n1,2,x\n', dict(header=True), [(1, 2, b"x")]),
    (b"", dict(header=True), ["Can't read header of file"]),
    (b"1;2;x", dict(field_delim=";"), [(1, 2, b"x")]),
    (b'NA,1,"NA"', dict(na_value="NA"), [(7, 1, b"none")]),
    (b"1,2,3,4,q\n5,6,7\n8,9,1,2,r,t", dict(select_cols=[0, 2, 4]),
     [(1, 3, b"q"), "Expect 3 fields but have 2", (8, 1, b"r")]),
    (b"1,2\n1,2,3,4\n\n3,4,z", {},
     ["Expect 3 fields but have 2", "Expect 3 fields but have more",
      "Expect 3 fields but have 1", (3, 4, b"z")]),
    (b"x,2,3\n99999999999,1,2\n1,y,3\n1,2,3", {},
     ["Field 0 in record is not a valid int32: x",
      "Field 0 in record is not a valid int32: 99999999999",
      "Field 1 in record is not a valid float: y", (1, 2, b"3")]),
    (b'1,2,a"b\n1,2,"a"b",x\r"2",3,c', {},
     ["Unquoted fields cannot have quotes inside",
      "Quote inside a string has to be escaped", (2, 3, b"c")]),
    (b'1,2,"abc\n2,3,c\n', {}, ["Reached end of file without closing"]),
    (b"1,2,x", dict(field_delim=";;"), ["field_delim should be only 1 char"]),
    (b"1,2,x", dict(field_delim=""), ["field_delim should be only 1 char"]),
    (b"1,2,x", dict(select_cols=[0, 4, 2]), ["strictly increasing"]),
    (b"1,2,x", dict(select_cols=[-1, 4, 2]), ["non-negative"]),
    (b"1,2,x", dict(select_cols=[0, 1]), ["should match output size"]),
    (b"1,2,x", dict(buffer_size=-1), ["buffer_size should be positive"]),
    (b"1,2,x", dict(compression_type="LZ"), ["Unsupported compression_type"]),
]


@pytest.mark.parametrize("text, options, wanted", CSV)
def test_csv(tmp_path, text, options, wanted):
    path = _write(tmp_path / "a.csv", text)
    defaults = [[7], tf.constant([0.5]), "none"]
    try:
        got = values(tf.data.experimental.CsvDataset(path, defaults, **options))
    except tf.errors.OpError as error:
        got = [error]
    assert len(got) == len(wanted), got
    for g, w in zip(got, wanted):
        if isinstance(w, str):
            assert isinstance(g, tf.errors.InvalidArgumentError)
            assert w in str(g), g
        else:
            np.testing.assert_equal(g, w)


def test_csv_files(tmp_path):
    X = tf.data.experimental
    a = _write(tmp_path / "a", b'h,h\n1,"2\n')
    b = _write(tmp_path / "b", b"h,h\n3,4\n5,6")
    got = values(X.CsvDataset([a, "/nowhere/x", b], [tf.int32, tf.int64],
                              header=True))
    assert got[2:] == [(3, 4), (5, 6)]
    assert "Reached end of file" in str(got[0]) and str(a) in str(got[0])
    assert isinstance(got[1], tf.errors.NotFoundError)
    packed = _write(tmp_path / "c", gzip.compress(b"1,2\n,4"))
    got = values(X.CsvDataset(packed, [tf.int32, [9]], compression_type="GZIP",
                              buffer_size=1))
    assert got[0] == (1, 2) and len(got) == 2
    assert "Field 0 is required but missing in record" in str(got[1])
    got = values(X.CsvDataset(b, [tf.int32], compression_type="GZIP"))
    assert isinstance(got[0], tf.errors.DataLossError) and len(got) == 1
    with tf.Session() as sess:
        made = tf.raw_ops.CSVDatasetV2(
            [b], "", 10, True, ",", True, "", np.array([], np.int64), [[7]],
            np.array([0], np.int64), output_shapes=[[]])
        get_next = tf.data.Dataset(made, tf.data.Dataset.from_tensors(
            1)._spec).make_one_shot_iterator().get_next()
        assert [sess.run(get_next), sess.run(get_next)] == [4, 6]


def test_parse_example_dataset():
    def example(**features):
        e = tf.train.Example()
        for key, value in features.items():
            if isinstance(value[0], bytes):
                e.features.feature[key].bytes_list.value.extend(value)
            else:
                e.features.feature[key].int64_list.value.extend(value)
        return e.SerializeToString()
    batches = Dataset.from_tensor_slices(
        [example(b=[1, 2], a=[b"x"], z=[7]), example(b=[3, 4]),
         example(b=[5, 6], z=[8, 9])]).batch(2)
    X = tf.data.experimental
    d = batches.apply(X.parse_example_dataset({
        "z": tf.VarLenFeature(tf.int64),
        "a": tf.FixedLenFeature([], tf.string, "none"),
        "b": tf.FixedLenFeature([2], tf.int64)}, num_parallel_calls=2))
    assert d.output_types == {"a": tf.string, "b": tf.int64, "z": tf.int64}
    assert d.output_shapes["b"].as_list() == [None, 2]
    get_next = d.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        first, second = sess.run(get_next), sess.run(get_next)
    assert first["a"].tolist() == [b"x", b"none"]
    assert first["b"].tolist() == [[1, 2], [3, 4]]
    assert first["z"].indices.tolist() == [[0, 0]]
    assert first["z"].values.tolist() == [7]
    assert first["z"].dense_shape.tolist() == [2, 1]
    assert second["z"].values.tolist() == [8, 9]
    # A required key that is missing; no Example; no strings.
    required = X.parse_example_dataset({"a": tf.FixedLenFeature([], tf.string)})
    got = values(batches.apply(required))
    assert ["Feature: a (data type: string) is required" in str(g)
            for g in got] == [True, True]
    got = values(Dataset.from_tensors(["\x0a\xff"]).apply(required))
    assert "Could not parse example input, index 0" in str(got[0])
    got = values(Dataset.range(2).batch(2).apply(required))
    assert "must be one tensor of strings" in str(got[0])


def test_fixed_length_records(tmp_path):
    data = b"HHaaabbbF"
    a = _write(tmp_path / "a", data)
    z = _write(tmp_path / "z", zlib.compress(data))
    Fixed = tf.data.FixedLengthRecordDataset
    assert values(Fixed([a, a], 3, 2, 1)) == [b"aaa", b"bbb"] * 2
    assert values(Fixed(z, 3, 2, 1, compression_type="ZLIB")) == [
        b"aaa", b"bbb"]
    assert isinstance(values(Fixed(a, 4, 2, 1))[0],
                      tf.errors.InvalidArgumentError)
    got = values(Fixed(z, 4, 2, 1, compression_type="ZLIB"))
    assert got[0] == b"aaab" and isinstance(got[1], tf.errors.DataLossError)
    got = values(Fixed(z, 4, 200, 1, compression_type="ZLIB"))
    assert isinstance(got[0], tf.errors.DataLossError)
    assert isinstance(values(Fixed(a, 1, 2**62, 2**61))[0],
                      tf.errors.InvalidArgumentError)


def test_list_files(tmp_path):
    for name in "bca":
        _write(tmp_path / name, b"")
    found = values(Dataset.list_files(str(tmp_path / "*"), shuffle=False))
    assert found == [str(tmp_path / n).encode() for n in "abc"]
    assert sorted(values(Dataset.list_files(str(tmp_path / "*")))) == found


def test_write_records(tmp_path):
    path = str(tmp_path / "out")
    write = tf.data.experimental.TFRecordWriter(path, "GZIP").write(
        Dataset.from_tensor_slices(["a", "", "ccc"]))
    with tf.Session() as sess:
        sess.run(write)
    assert gzip.open(path).read() == _records(b"a", b"", b"ccc")
    assert values(tf.data.TFRecordDataset(path, "GZIP")) == [b"a", b"", b"ccc"]
