"""Ragged tensors beside TensorFlow 1.15: see ragged_cases.py. Of what differs on
purpose, DIFFERENT says why."""
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
import ragged_cases
from headrace._src.compat import gradient_tools, ragged_parts

RECORDED = dict(
    line.split("\t") for line in (
        pathlib.Path(__file__).parent / "ragged_values.tsv"
    ).read_text(encoding="utf8").splitlines())

# The expression: (what it gives here, why).
MORE_SHAPES = "more of the static shape is known"
ANY_SLICE = "slices of columns are those of lists"
RAGGED_VALUES = "a RaggedTensorValue is taken where a RaggedTensor is"
RAGGED_STATES = "a state may be ragged"
DIFFERENT = {
    "tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5])": (
        "(5,) int64 [0, 0, 2, 2, 2]", MORE_SHAPES),
    "tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5], out_type=tf.int32)": (
        "(5,) int32 [0, 0, 2, 2, 2]", MORE_SHAPES),
    "R([[1, 2], [], [3]]).value_rowids()": (
        "(3,) int64 [0, 0, 2]", MORE_SHAPES),
    "R([[[1], [2, 3]], [], [[]]]).nested_value_rowids()": (
        "[(3,), (3,)] [int64 [0, 0, 2], int64 [0, 1, 1]]", MORE_SHAPES),
    "tf.constant([[10], [20]]) + R([[1, 2], [3]])": (
        "(2, ?) ragged int32 int64 [[11, 12], [23]]", MORE_SHAPES),
    "tf.constant([[10], [20]]) - R([[1, 2], [3]])": (
        "(2, ?) ragged int32 int64 [[9, 8], [17]]", MORE_SHAPES),
    'elements(tf.data.Dataset.from_tensor_slices(["a b", "c"]).map(lambda s: '
    'tf.strings.split([s], result_type="RaggedTensor")))': (
        "(1, ?) [ragged object int64 [[b'a', b'b']], ragged object int64 "
        "[[b'c']]]", MORE_SHAPES),
    'tf.strings.unicode_split("héllo", "UTF-8")': (
        r"(?,) object [b'h', b'\xc3\xa9', b'l', b'l', b'o']",
        "the shape functions do not decode strings"),
    "R([[[1], [2, 3]], [], [[]]]).bounding_shape(out_type=tf.int32)": (
        "(3,) int32 [3, 2, 2]", "out_type may be another one than the splits'"),
    "tf.ragged.map_flat_values(tf.concat, [R([[1, 2], [3]]), R([[10, 20], "
    "[30]])], axis=0)": (
        "ValueError as the graph is made", "the values would not be all used"),
    'tf.ragged.range(["a"])': (
        "TypeError as the graph is made", "a user's error is no assertion"),
    "R([[[1], [2, 3]], [[4]]]) + [[[10], [20]]]": (
        "InvalidArgumentError as it runs",
        "a size of 2 is no length of every row"),
    "fed([[1, 2], [], [3]]) * dense([10], known=False)": (
        "ValueError as the graph is made", "the message says why"),
    "tf.add(V([[1, 2], [3]], dtype=np.int32), 1)": (
        "(2, ?) ragged int32 int64 [[2, 3], [4]]", RAGGED_VALUES),
    "tf.cast(V([[1, 2], [3]]), tf.float32)": (
        "(2, ?) ragged float32 int64 [[1.0, 2.0], [3.0]]", RAGGED_VALUES),
    'tf.string_to_number(R([["1", "2"], []]))': (
        "(2, ?) ragged float32 int64 [[1.0, 2.0], []]",
        "it is in TensorFlow's list of ragged ops, but fails"),
    'tf.strings.to_number(R([["1", "2"], []]), tf.int32)': (
        "(2, ?) ragged int32 int64 [[1, 2], []]", "as string_to_number"),
    'tf.string_to_number(R([["x"]]))': (
        "InvalidArgumentError as it runs", "as string_to_number"),
    'tf.string_to_hash_bucket(R([["1", "2"], []]), 10)': (
        "(2, ?) ragged int64 int64 [[3, 2], []]", "as string_to_number"),
    "R([[1, 2, 4], [], [3]])[:, ::-1]": (
        "(3, ?) ragged int32 int64 [[4, 2, 1], [], [3]]", ANY_SLICE),
    "R([[1, 2, 4], [], [3]])[:, 1::-1]": (
        "(3, ?) ragged int32 int64 [[2, 1], [], [3]]", ANY_SLICE),
    "R([[1, 2, 4], [], [3]])[:, :-3:-1]": (
        "(3, ?) ragged int32 int64 [[4, 2], [], [3]]", ANY_SLICE),
    "R([[1, 2, 4], [], [3]])[:, :0]": (
        "(3, ?) ragged int32 int64 [[], [], []]", ANY_SLICE),
    "tf.while_loop(lambda r: tf.reduce_sum(r) < 9, lambda r: r * 2, "
    "[R([[1], [1]])])": (
        "[(2, ?)] [ragged int32 int64 [[8], [8]]]", RAGGED_STATES),
    "tf.data.Dataset.range(3).reduce(R([[1], []]), lambda r, i: r + "
    "tf.cast(i, tf.int32))": (
        "(2, ?) ragged int32 int64 [[4], []]", RAGGED_STATES),
    "elements(tf.data.Dataset.range(3).apply(tf.data.experimental.scan("
    "R([[1], []]), lambda r, i: (r + 1, r))))": (
        "(2, ?) [ragged int32 int64 [[1], []], ragged int32 int64 [[2], []], "
        "ragged int32 int64 [[3], []]]", RAGGED_STATES),
    'tf.strings.ngrams(R([["a", "b", "c"], [], ["d"]]), 3, pad_values="P")': (
        "(3, ?) ragged object int64 [[b'P P a', b'P a b', b'a b c', b'b c P', "
        "b'c P P'], [b'P P P', b'P P P'], [b'P P d', b'P d P', b'd P P']]",
        "no string of the row before is in an empty row"),
}


@pytest.mark.parametrize("expression", ragged_cases.expressions())
def test_values_are_those_of_tensorflow(expression):
    here, _ = DIFFERENT.get(expression, (RECORDED[expression], None))
    assert ragged_cases.outcome(tf, expression) == here


def test_the_differences_are_differences():
    assert [e for e, (here, _) in DIFFERENT.items()
            if RECORDED[e] == here] == []


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_a_run_takes_and_gives_ragged_values():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ragged.placeholder(tf.int32, 1)
        value = tf.ragged.constant_value([[1, 2], []], dtype=np.int32)
        fetched = session.run({"a": [x, x + 1]}, {x: value})["a"]
        assert [v.to_list() for v in fetched] == [[[1, 2], []], [[2, 3], []]]
        assert all(isinstance(v, tf.ragged.RaggedTensorValue) for v in fetched)
        doubled = session.make_callable(x * 2, [x.flat_values, x.row_splits])
        assert doubled(value.values, value.row_splits).to_list() == [[2, 4], []]
        assert session.run(x.values, {x: value}).tolist() == [1, 2]


@pytest.mark.parametrize("value", [
    [[1]], np.ones([1, 1]), tf.ragged.constant_value([[[1]]]), 3])
def test_a_feed_of_another_kind_is_refused(value):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ragged.placeholder(tf.int32, 1)
        with pytest.raises(TypeError, match="RaggedTensorValue of ragged_rank"):
            session.run(x, {x: value})


def test_a_feed_of_another_shape_is_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ragged.placeholder(tf.int32, 1, [3])
        with pytest.raises(ValueError, match="Cannot feed value of shape"):
            session.run(x, {x: tf.ragged.constant_value([[1]])})


def test_ordinary_functions_say_what_they_refuse():
    with tf.Graph().as_default():
        x = tf.ragged.constant([[1.], []])
        for function in tf.nn.relu, tf.transpose, tf.matrix_inverse, tf.split:
            with pytest.raises(TypeError, match=r"Take its to_tensor\(\)"):
                function(x, 1) if function is tf.split else function(x)
        with pytest.raises(TypeError, match="not iterable"):
            list(x)


def test_an_optimizer_trains_through_ragged_rows():
    """A bag of words of several lengths: the mean of its embeddings."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable(np.arange(8.).reshape(4, 2), dtype=tf.float32)
        words = tf.ragged.placeholder(tf.int64, 1)
        vectors = tf.ragged.map_flat_values(
            tf.nn.embedding_lookup, table, words)
        means = tf.reduce_mean(vectors, axis=1)
        loss = tf.reduce_sum(means ** 2)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        feed = {words: tf.ragged.constant_value([[0, 3], [1]])}
        assert session.run(means, feed).tolist() == [[3, 4], [2, 3]]
        before = session.run(loss, feed)
        for _ in range(3):
            session.run(step, feed)
        assert session.run(loss, feed) < before / 2
        assert session.run(table)[2].tolist() == [4, 5]


def test_ordinary_calls_do_not_load_ragged_modules():
    program = """if True:
        import sys
        import headrace as tf
        x = tf.constant([[1., 2.]])
        tf.reduce_sum(tf.concat([x, x], 0) + 1, axis=1)
        try:
            tf.concat([x, "a"], 0)
        except TypeError:
            pass
        try:
            tf.exp(object())
        except TypeError:
            pass
        print([name for name in sys.modules if "_src.ragged" in name])
        """
    done = subprocess.run([sys.executable, "-c", program], check=True,
                          stdout=subprocess.PIPE, text=True)
    assert done.stdout == "[]\n"


def test_errors_of_ordinary_arguments_stay_what_they_are():
    with tf.Graph().as_default():
        tf.ragged.constant([[1]])  # now the modules are loaded
        with pytest.raises(TypeError, match="Failed to convert object"):
            tf.exp(object())
        with pytest.raises(TypeError, match="missing"):
            tf.concat()
        with pytest.raises(ValueError, match="concat"):
            tf.concat([[1, 2], [[3]]], 0)


def test_a_saved_graph_runs_in_another_session(tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.ragged.placeholder(tf.int32, 1)
        tf.identity(tf.reduce_sum(x, axis=1), name="sums")
        names = [x.flat_values.name, x.row_splits.name]
    with tf.Graph().as_default():
        tf.import_graph_def(graph.as_graph_def(), name="")
        assert run("sums:0", dict(zip(names, ([1, 2, 3], [0, 2, 2, 3])))
                   ).tolist() == [3, 0, 3]


class Assertions(tf.test.TestCase):
    """What tf.test.TestCase compares."""

    def runTest(self):
        x = tf.ragged.constant([[1., 2.], []])
        for equal in x, [[1, 2], []], tf.ragged.constant_value([[1., 2.], []]):
            self.assertAllEqual(x, equal)
            self.assertAllEqual(equal, x)
            self.assertAllClose(x, equal)
        self.assertAllClose(x, [[1, 2 + 1e-7], []])
        for other in [[1, 2]], [[1, 3], []], [[1], [2]], [1, 2], x + 1:
            with self.assertRaises(AssertionError):
                self.assertAllEqual(x, other)
            with self.assertRaises(AssertionError):
                self.assertAllClose(x, other)
            self.assertNotAllEqual(x, other)


def test_assertions_compare_ragged_tensors():
    case = Assertions()
    case.setUp()
    with tf.Graph().as_default(), tf.Session():
        case.runTest()


def test_placeholders_of_keras():
    backend = tf.keras.backend
    with tf.Graph().as_default():
        assert backend.placeholder([None, None], ragged=True).ragged_rank == 1
        x = backend.placeholder([None, 2, None, 3], dtype="int32", ragged=True)
        assert (x.ragged_rank, x.dtype) == (2, tf.int32)
        assert x.flat_values.shape.as_list() == [None, 3]
        with pytest.raises(ValueError, match="both sparse and ragged"):
            backend.placeholder([None, None], sparse=True, ragged=True)
        assert tf.keras.Input([None], ragged=True).ragged_rank == 1


def test_a_signature_refuses_a_ragged_tensor():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="flat_values"):
        tf.saved_model.build_tensor_info(tf.ragged.constant([[1]]))


@pytest.mark.parametrize("make, sum_of, value", [
    (lambda: tf.ragged.placeholder(tf.int32, 1),
     lambda x: tf.reduce_sum(x.to_tensor()),
     tf.ragged.constant_value([[1, 2], []], dtype=np.int32)),
    (lambda: tf.sparse_placeholder(tf.int32), tf.sparse.reduce_sum,
     tf.SparseTensorValue([[0, 0], [0, 1]], [1, 2], [2, 2]))])
def test_a_partial_run_takes_values_of_several_tensors(make, sum_of, value):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = make(), tf.placeholder(tf.int32, [])
        total = sum_of(x)
        later = total + y
        handle = session.partial_run_setup([total, later], [x, y])
        assert session.partial_run(handle, total, {x: value}) == 3
        assert session.partial_run(handle, later, {y: 4}) == 7


def plain(value):
    found = run(value)
    return found.to_list() if hasattr(found, "to_list") else found.tolist()


@pytest.mark.parametrize("call,expected", [
    (lambda: ragged_parts.from_tensor([[1, 0], [2, 3]], padding=0),
     [[1], [2, 3]]),
    (lambda: ragged_parts.to_tensor(tf.ragged.constant([[1], [2, 3]]), 9),
     [[1, 9], [2, 3]]),
    (lambda: ragged_parts.to_tensor(tf.constant([1])), [1]),
    (lambda: ragged_parts.from_sparse(tf.SparseTensor([[0, 0]], [1], [1, 2])),
     [[1]]),
    (lambda: ragged_parts.to_sparse(tf.ragged.constant([[1], [2]])).values,
     [1, 2]),
    (lambda: ragged_parts.lengths_to_splits([1, 0, 2]), [0, 1, 1, 3]),
    (lambda: ragged_parts.repeat_ranges(
        ["a", "b", "c"], [0, 2, 3], 2), [b"a", b"b", b"a", b"b", b"c", b"c"]),
    (lambda: ragged_parts.repeat_ranges([1, 2, 3], [0, 2, 3], [1, 2]),
     [1, 2, 3, 3]),
    (lambda: ragged_parts.convert_to_int_tensor(3, "n", tf.int64), 3),
    (lambda: ragged_parts.segment_sum(
        tf.ragged.constant([[1], [2], [], [3, 4]]), [0, 1, 0, 0], 2),
     [[4, 4], [2]]),
    (lambda: ragged_parts.segment_mean([1., 2., 3.], [0, 1, 0], 2), [2., 2.]),
    (lambda: tf.repeat(5, 2, axis=0), [5, 5])])
def test_parts_of_the_library_are_functions(call, expected):
    assert plain(call()) == expected


@pytest.mark.parametrize("call,kind,text", [
    (lambda: ragged_parts.get_positive_axis("x", 1), TypeError, "must be an int"),
    (lambda: ragged_parts.get_positive_axis(-1, None), ValueError, "negative"),
    (lambda: ragged_parts.get_positive_axis(3, 3), ValueError,
     "axis=3 out of bounds: expected -3<=axis<3"),
    (lambda: ragged_parts.convert_to_int_tensor([1.], "n"), TypeError,
     "n must be an integer tensor"),
    (lambda: ragged_parts.assert_splits_match([[1], []]), ValueError,
     "identical ragged splits"),
    (lambda: ragged_parts.segment_sum(
        [1, 2], tf.ragged.constant([[0], [1]]), 2), ValueError,
     "segment_ids.shape must be a prefix of data.shape, but segment_ids is "
     "ragged and data is not"),
    (lambda: tf.repeat([1, 2], [[1]], axis=0), ValueError,
     r"Shape \(1, 1\) must have rank at most 1")])
def test_parts_of_the_library_refuse(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_axes_and_splits_are_checked():
    assert [ragged_parts.get_positive_axis(*a) for a in (
        (1, 3), (-1, 3), (1, None))] == [1, 2, 1]
    checks = ragged_parts.assert_splits_match([[tf.constant([0, 1])]] * 3)
    assert len(checks) == 2


def test_shapes_of_reductions():
    assert plain(gradient_tools.reduced_shape([2, 3, 5], [1, -1])) == [2, 1, 1]
