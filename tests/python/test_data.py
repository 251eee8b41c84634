"""Datasets. Values that are not plain arithmetic (draws, orders, messages) are
TensorFlow's."""
import os
import threading
import time

import numpy as np
import pytest

import headrace as tf
from dataset_values import one_shot, plain, values

Dataset = tf.data.Dataset


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
        1, 0, 4, 3, 2, 0, 2, 1, 4, 3, 1, 4, 0, 3, 2]
    assert values(_shuffle(d, 5, (3, 4), False).repeat(3)) == [
        1, 0, 4, 3, 2] * 3


def test_shuffle_seeds_of_graph_and_op():
    d = Dataset.range(10).shuffle(10, seed=5).repeat(2)
    assert values(d) == [1, 3, 2, 7, 6, 9, 0, 5, 8, 4,
                         9, 7, 6, 0, 5, 1, 4, 8, 2, 3]
    tf.set_random_seed(11)
    assert values(Dataset.range(10).shuffle(10, seed=5)) == [
        6, 8, 7, 0, 4, 9, 5, 1, 2, 3]


@pytest.mark.parametrize("n, buffer, count, reshuffle, wanted", [
    (5, 3, 3, True, [0, 2, 4, 3, 1, 1, 2, 0, 4, 3, 2, 3, 4, 1, 0]),
    (5, 3, 3, False, [0, 2, 4, 3, 1] * 3),
    (3, 100, 6, True, [0, 1, 2, 2, 0, 1, 1, 2, 0, 2, 0, 1, 2, 1, 0, 2, 0, 1]),
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


def all_of(dataset):
    it = tf.data.make_initializable_iterator(dataset)
    element, found = it.get_next(), []
    with tf.Session() as sess:
        sess.run(it.initializer)
        while True:
            try:
                found.append(int(sess.run(element)))
            except tf.errors.OutOfRangeError:
                return found


def test_arguments_of_datasets_may_be_tensors(tmp_path):
    numbers = Dataset.range(6)
    two, long = tf.constant(2), tf.constant(2, tf.int64)
    shuffled = all_of(numbers.shuffle(3, seed=long))
    assert shuffled == all_of(numbers.shuffle(long + 1, seed=2))
    assert sorted(shuffled) == list(range(6)) != shuffled
    cached = numbers.cache(tf.constant(str(tmp_path / "kept")))
    assert all_of(cached) == list(range(6))
    assert list(tmp_path.iterdir())
    assert all_of(numbers.cache(tf.constant(""))) == list(range(6))
    squares = numbers.map(lambda x: x * x, num_parallel_calls=two)
    assert all_of(squares) == [x * x for x in range(6)]
    assert all_of(numbers.repeat(long).take(long).skip(long)) == []
    with pytest.raises(ValueError, match="requested dtype int64"):
        numbers.batch(two)


@pytest.mark.parametrize("value, types, first", [
    (lambda x: [x, x + 1], "(tf.int64, tf.int64)", (0, 1)),
    (lambda x: [x], "(tf.int64,)", (0,)),
    (lambda x: [tf.to_float(x), x], "(tf.float32, tf.int64)", (0., 0)),
    (lambda x: tf.py_func(lambda y: (y, y + 2.), [x],
                          [tf.int64, tf.float64]),
     "(tf.int64, tf.float64)", (0, 2.)),
    # Only the outermost list is a tuple.
    (lambda x: ([x, x + 2], x), "(tf.int64, tf.int64)", ([0, 2], 0)),
    (lambda x: {"a": [x, x + 2]}, "{'a': tf.int64}", {"a": [0, 2]})])
def test_a_function_may_return_a_list(value, types, first):
    dataset = Dataset.range(3).map(value)
    assert str(dataset.output_types) == types
    got = values(dataset)[0]
    assert got == first, got


@pytest.mark.parametrize("first, function, shape", [
    (lambda: tf.zeros([2]), lambda a, b: a + 1, [2]),
    (lambda: tf.zeros([2]), lambda a, b: tf.placeholder_with_default(a, [None]),
     [None]),
    (lambda: tf.placeholder_with_default([1.], [None]),
     lambda a, b: tf.ones([1]), [None])])
def test_the_shape_of_a_reduced_state(first, function, shape):
    with tf.Graph().as_default():
        out = Dataset.range(3).reduce(first(), function)
        assert out.shape.as_list() == shape


def test_element_spec():
    with tf.Graph().as_default():
        dataset = Dataset.from_tensors({
            "a": tf.zeros([2]), "b": tf.SparseTensor([[0]], [1], [2])})
        assert dataset.batch(2).element_spec == {
            "a": tf.TensorSpec([None, 2], tf.float32),
            "b": tf.SparseTensorSpec([None, 2], tf.int32)}
        windows = Dataset.range(3).window(2)
        assert windows.element_spec == (
            tf.data.experimental.DatasetStructure(
                tf.TensorSpec([], tf.int64)))


@pytest.mark.parametrize("function, arguments, error, message", [
    ("assert_same_structure", ((1, 2), (1,)), ValueError, "number of elements"),
    ("assert_same_structure", ((1,), {"a": 1}), TypeError, "same sequence type"),
    ("assert_same_structure", ({"a": 1}, {"b": 1}), ValueError, "set of keys"),
    ("assert_same_structure", ((1, (2,)), (1, 2)), ValueError, "is a sequence"),
    ("pack_sequence_as", ((1, 2), [1]), ValueError, "Could not pack sequence"),
    ("pack_sequence_as", (1, [1, 2]), ValueError, "Structure is a scalar"),
    ("pack_sequence_as", ((1,), 3), TypeError, "must be a sequence"),
    ("map_structure", (1, (1,)), TypeError, "func must be callable"),
    ("map_structure", (len,), ValueError, "at least one structure"),
    ("assert_shallow_structure", ((1,), 3), TypeError, "must also be a sequence"),
    ("assert_shallow_structure", ((1, 2), (1,)), ValueError, "sequence length"),
    ("assert_shallow_structure", ((1,), {"a": 1}), TypeError, "sequence type"),
    ("assert_shallow_structure", ({"a": 1}, {"b": 1}), ValueError, "same keys"),
    ("map_structure_up_to", (1, len), ValueError, "no sequences")])
def test_structures_of_elements_that_differ(function, arguments, error, message):
    from headrace._src.compat import data_nest
    with pytest.raises(error, match=message):
        getattr(data_nest, function)(*arguments)


@pytest.mark.parametrize("shape, error, message", [
    (1.5, ValueError, r"but the shape was \(\)"),
    ([[1]], ValueError, r"but the shape was \(1, 1\)"),
    ([1.5], TypeError, "but the element type was float32")])
def test_shapes_that_are_no_vectors_of_sizes(shape, error, message):
    from headrace._src.compat import data_parts
    with pytest.raises(error, match=message):
        data_parts.partial_shape_to_tensor(shape)
