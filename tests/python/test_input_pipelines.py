"""tf.train.batch and its like, of SparseTensors too."""
import numpy as np
import pytest

import headrace as tf


def results(out, n):
    """n runs of `out`, fewer if the queue ends before."""
    got = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(),
                  tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            for _ in range(n):
                got.append(sess.run(out))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return got


def counter(n=8):
    return tf.Variable(tf.constant(0, tf.int64)).count_up_to(n)


def single(i):
    """A vector of i + 1 elements, of which the last is 2 i."""
    return tf.SparseTensor(tf.reshape(i, [1, 1]), tf.stack([2 * i]),
                           tf.reshape(i + 1, [1]))


def pair(i):
    """Two rows with i and -i in column i."""
    zero, one = tf.zeros_like(i), tf.ones_like(i)
    return tf.SparseTensor(tf.reshape(tf.stack([zero, i, one, i]), [2, 2]),
                           tf.stack([i, -i]), [2, 10])


def test_batch_of_sparse_tensors():
    i = counter()
    numbers, sparse, words = out = tf.train.batch(
        [i, single(i), "s"], 3, allow_smaller_final_batch=True)
    assert isinstance(sparse, tf.SparseTensor)
    assert sparse.get_shape().as_list() == [None, None]
    got = results(out, 5)
    assert [g[0].tolist() for g in got] == [[0, 1, 2], [3, 4, 5], [6, 7]]
    value = got[1][1]
    assert value.indices.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert value.values.tolist() == [6, 8, 10]
    assert value.dense_shape.tolist() == [3, 6]
    assert got[2][2].tolist() == [b"s", b"s"]


def test_batch_of_one_sparse_tensor_or_a_dict():
    i = counter()
    one = tf.train.batch([single(i)], 4)
    named = tf.train.batch({"a": single(counter()), "b": counter()}, 4)
    assert isinstance(one, tf.SparseTensor) and sorted(named) == ["a", "b"]
    value, values = results([one, named], 2)[1]
    assert value.values.tolist() == values["a"].values.tolist() == [
        8, 10, 12, 14]
    assert values["b"].tolist() == [4, 5, 6, 7]


def test_batch_of_many_sparse_rows():
    i = counter(4)
    got = results(tf.train.batch([pair(i), tf.stack([i, i])], 4,
                                 enqueue_many=True), 3)
    assert len(got) == 2
    assert got[1][0].values.tolist() == [2, -2, 3, -3]
    assert got[1][0].indices.tolist() == [[0, 2], [1, 2], [2, 3], [3, 3]]
    assert got[1][1].tolist() == [2, 2, 3, 3]


def test_maybe_batch_keeps_sparse_tensors():
    i = counter(4)
    got = results(tf.train.maybe_batch(
        [single(i), i], tf.equal(i % 2, 0), 2), 2)
    assert len(got) == 1 and got[0][1].tolist() == [0, 2]
    assert got[0][0].values.tolist() == [0, 4]


@pytest.mark.parametrize("rows", [False, True])
def test_maybe_batch_keeps_sparse_rows(rows):
    i = counter(4)
    even = tf.equal(i % 2, 0)
    got = results(tf.train.maybe_batch(
        [pair(i), tf.stack([i, i + 100])],
        tf.stack([even, True]) if rows else even, 4, enqueue_many=True), 1)
    numbers, values = ([0, 100, 101, 2], [0, 0, -1, 2]) if rows else (
        [0, 100, 2, 102], [0, 0, 2, -2])
    assert got[0][1].tolist() == numbers
    assert got[0][0].values.tolist() == values


@pytest.mark.parametrize("batch", [
    lambda e: tf.train.shuffle_batch(e[0], 3, 20, 2, num_threads=2),
    lambda e: tf.train.batch_join(e, 3),
    lambda e: tf.train.maybe_batch_join(e, tf.constant(True), 3),
    lambda e: tf.train.shuffle_batch_join(e, 3, 20, 2),
    lambda e: tf.train.maybe_shuffle_batch(e[0], 3, 20, 2, e[0][0] >= 0),
    lambda e: tf.train.maybe_shuffle_batch_join(e, 3, 20, 2, True)])
def test_sparse_tensors_of_several_threads(batch):
    elements = [[i, single(i)] for i in (counter(6), counter(6))]
    for numbers, sparse in results(batch(elements), 2):
        assert sparse.values.tolist() == (2 * numbers).tolist()
        assert sparse.indices[:, 1].tolist() == numbers.tolist()


def test_every_sparse_tensor_leaves_its_map():
    # Only the numbers are fetched; the SparseTensors may not stay behind.
    i = counter()
    numbers, sparse = tf.train.batch([i, single(i)], 4)
    taken = [op for op in tf.get_default_graph().get_operations()
             if op.type == "TakeManySparseFromTensorsMap"]
    assert taken[0] in numbers.op.control_inputs
    assert [g.tolist() for g in results(numbers, 2)] == [
        [0, 1, 2, 3], [4, 5, 6, 7]]


def test_batches_that_are_refused():
    unknown = tf.placeholder(tf.int32)
    vector = tf.placeholder(tf.int32, [None])
    for message, make in (
            ("Cannot infer Tensor's rank", lambda: tf.train.batch(
                [unknown], 1)),
            ("must be fully defined", lambda: tf.train.batch([vector], 2)),
            ("at least one tensor", lambda: tf.train.batch([], 1)),
            ("at least one list", lambda: tf.train.batch_join([], 1)),
            ("same keys", lambda: tf.train.batch_join(
                [{"a": 1}, {"b": 1}], 1)),
            ("Inconsistent SparseTensors", lambda: tf.train.batch_join(
                [[single(counter())], [1]], 1)),
            ("not compatible", lambda: tf.train.batch_join(
                [[[1]], [[1, 2]]], 1, dynamic_pad=True)),
            ("cannot be a vector", lambda: tf.train.maybe_batch(
                [[1, 2]], [True, False], 1)),
            ("0 or 1 dimensions", lambda: tf.train.maybe_batch(
                [[1, 2]], [[True]], 1, enqueue_many=True)),
            ("known at graph construction", lambda: tf.train.maybe_batch(
                [[1, 2]], tf.placeholder(tf.bool), 1))):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(TypeError, match="int32 vs. float32"):
        tf.train.batch_join([[1], [1.]], 1)
    assert tf.train.batch([vector], 2, dynamic_pad=True
                          ).shape.as_list() == [2, None]


# Datasets.

def elements(dataset, feed=None):
    iterator = dataset.make_initializable_iterator()
    following, out = iterator.get_next(), []
    with tf.Session() as sess:
        sess.run(iterator.initializer, feed)
        try:
            while True:
                out.append(sess.run(following))
        except tf.errors.OutOfRangeError:
            return out


def test_map_that_returns_a_list():
    numbers = tf.data.Dataset.range(2)
    lists = numbers.map(lambda x: [x, tf.cast(x, tf.float32)])
    assert lists.output_types == (tf.int64, tf.float32)
    assert elements(lists) == [(0, 0), (1, 1)]
    several = numbers.map(lambda x: tf.py_func(
        lambda a: (a, np.float32(a) / 2), [x], [tf.int64, tf.float32]))
    assert elements(several) == [(0, 0), (1, .5)]
    inside = numbers.map(lambda x: ([x, x], x))
    assert inside.output_shapes[0].as_list() == [2]


def test_dataset_arguments_as_tensors(tmp_path):
    numbers = tf.data.Dataset.range(10)
    path = tf.placeholder(tf.string, [])
    assert elements(numbers.cache(path), {path: ""}) == list(range(10))
    calls = tf.placeholder(tf.int32, [])
    assert elements(numbers.map(lambda x: x + 1, num_parallel_calls=calls),
                    {calls: 2}) == list(range(1, 11))
    assert elements(numbers.interleave(
        lambda x: tf.data.Dataset.from_tensors(x), cycle_length=2,
        num_parallel_calls=calls), {calls: 2}) == list(range(10))


@pytest.mark.parametrize("graph_seed", [None, 0, 5])
@pytest.mark.parametrize("seed", [0, 3, 2**40])
def test_shuffle_by_a_seed_that_is_a_tensor(graph_seed, seed):
    tf.set_random_seed(graph_seed)
    p = tf.placeholder(tf.int64, [])
    numbers = tf.data.Dataset.range(20)
    assert elements(numbers.shuffle(20, seed=p), {p: seed}) == elements(
        numbers.shuffle(20, seed=seed))


def test_one_shot_iterator_of_listed_files(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    files = tf.data.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    following = files.make_one_shot_iterator().get_next()
    none = tf.data.Dataset.list_files(str(tmp_path / "no*"))
    missing = none.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert [sess.run(following)[-1:] for _ in range(2)] == [b"a", b"b"]
        with pytest.raises(tf.errors.InvalidArgumentError, match="No files"):
            sess.run(missing)


def test_pipelines_have_the_names_they_are_given():
    producer = tf.train.string_input_producer(["a"], name="Q")
    assert producer.queue_ref.op.name == "Q"
    assert tf.train.batch([1], 2, name="B").name == "B:0"
    found = tf.train.match_filenames_once("no*", name="M")
    assert found.name == "M:0"


def test_padded_shapes_that_do_not_fit():
    vectors = tf.data.Dataset.range(1, 3).map(lambda x: tf.fill([x], x))
    with pytest.raises(ValueError, match="padded shape .* not compatible"):
        vectors.padded_batch(2, [None, 2])
    pairs = tf.data.Dataset.from_tensors([1, 2])
    with pytest.raises(ValueError, match="padded shape .* not compatible"):
        pairs.padded_batch(1, [1])
    assert elements(pairs.padded_batch(1, [3]))[0].tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("make, name", [
    (lambda x: tf.train.batch([x], 2), "batch/fraction_of_32_full"),
    (lambda x: tf.train.batch_join([[x]], 2, capacity=9),
     "batch_join/fraction_of_9_full"),
    (lambda x: tf.train.shuffle_batch([x], 2, 20, 5),
     "shuffle_batch/fraction_over_5_of_15_full"),
    (lambda x: tf.train.range_input_producer(5),
     "input_producer/fraction_of_32_full"),
    (lambda x: tf.train.string_input_producer(["a"], capacity=7),
     "input_producer/fraction_of_7_full"),
    (lambda x: tf.train.input_producer(tf.zeros([3]), summary_name="sn"),
     "input_producer/sn")])
def test_queues_have_a_summary_of_how_full_they_are(make, name):
    with tf.Graph().as_default(), tf.Session() as session:
        make(tf.constant(1.))
        found, = tf.get_collection(tf.GraphKeys.SUMMARIES)
        value, = tf.Summary.FromString(session.run(found)).value
    assert found.op.name == value.tag == name
    assert value.simple_value == 0


@pytest.mark.parametrize("name, wanted", [
    (None, ["input_producer/RandomShuffle", "input_producer/FIFOQueueV2",
            "input_producer/FIFOQueueV2_EnqueueMany",
            "input_producer/FIFOQueueV2_Close",
            "input_producer/FIFOQueueV2_Close_1"]),
    ("ip", ["ip/RandomShuffle", "ip/ip", "ip/ip_EnqueueMany", "ip/ip_Close",
            "ip/ip_Close_1"])])
def test_names_of_a_producer(name, wanted):
    with tf.Graph().as_default() as graph:
        queue = tf.train.input_producer(tf.constant([1]), name=name)
        names = [op.name for op in graph.get_operations()]
    assert names[1:] == wanted and queue.queue_ref.op.name == wanted[1]


def test_names_of_limited_epochs():
    with tf.Graph().as_default() as graph:
        x = tf.train.limit_epochs(tf.constant([1]), 2, name="x")
        assert x.op.name == "x" and graph.get_operations()[1].name == "x/Const"
