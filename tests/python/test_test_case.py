"""tf.test.TestCase: a program's own tests."""
import collections
import os
import subprocess
import sys
import unittest

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import node_tools, test_util

Point = collections.namedtuple("Point", "x y")


class Case(tf.test.TestCase):
    """Not collected: its methods are called below."""
    __test__ = False

    def runTest(self):
        pass


@pytest.fixture
def case():
    case = Case()
    case.setUp()
    yield case
    case.tearDown()


HOLDS = {
    "close": lambda c: c.assertAllClose([1., 2.], np.float32([1, 2.000001])),
    "close_tensor": lambda c: c.assertAllClose(tf.constant([1., 2.]), [1, 2]),
    "close_nested": lambda c: c.assertAllClose(
        {"a": [1., [2., 3.]], "b": (4., np.zeros(3))},
        {"b": (4., np.zeros(3)), "a": [1., [2., 3.]]}),
    "close_tensors_in_a_list": lambda c: c.assertAllClose(
        [tf.constant([1., 2.]), [3., 4.]], (np.float32([1, 2]),
                                            tf.constant([3., 4.]))),
    "close_tensors_of_several_shapes": lambda c: c.assertAllClose(
        (tf.constant([1., 2.]), tf.constant(3.)), ([1., 2.], 3.)),
    "equal_tensors_in_a_list": lambda c: c.assertAllEqual(
        [tf.constant(1), 2], [1, 2]),
    "close_named": lambda c: c.assertAllClose(Point(1., [2.]),
                                              Point(1., [2.])),
    "close_nan": lambda c: c.assertAllClose([np.nan], [np.nan]),
    "close_half": lambda c: c.assertAllCloseAccordingToType(
        np.float16([1.]), np.float16([1.001])),
    "not_close": lambda c: c.assertNotAllClose([1.], [1.1]),
    "equal": lambda c: c.assertAllEqual(tf.constant([[1, 2]]), [[1, 2]]),
    "equal_strings": lambda c: c.assertAllEqual(tf.constant(["a", "b"]),
                                                ["a", b"b"]),
    "equal_nan": lambda c: c.assertAllEqual([np.nan, 1.], [np.nan, 1.]),
    "not_equal": lambda c: c.assertNotAllEqual([1], [2]),
    "greater": lambda c: c.assertAllGreater([2, 3], 1),
    "greater_equal": lambda c: c.assertAllGreaterEqual([1, 3], 1),
    "less": lambda c: c.assertAllLess(tf.constant([2, 3]), 4),
    "less_equal": lambda c: c.assertAllLessEqual([2, 4], 4),
    "in_range": lambda c: c.assertAllInRange([0., 1.], 0, 2,
                                             open_upper_bound=True),
    "in_set": lambda c: c.assertAllInSet([0, 1, 1], {0, 1}),
    "dtype": lambda c: c.assertDTypeEqual(tf.constant(1.), np.float32),
    "shape": lambda c: c.assertShapeEqual(np.ones([2, 3]), tf.ones([2, 3])),
    "near": lambda c: c.assertNear(1., 1.01, .1),
    "array_near": lambda c: c.assertArrayNear([1., 2.], [1.01, 2.], .1),
    "ndarray_near": lambda c: c.assertNDArrayNear(np.ones(2), np.ones(2), .1),
    "items": lambda c: c.assertItemsEqual([1, 2, 2], [2, 1, 2]),
    "texts": lambda c: (c.assertMultiLineEqual("a\n", "a\n", msg="x"),
                        c.assertDictEqual(a={1: 2}, b={1: 2})),
    "len": lambda c: (c.assertLen([1], 1), c.assertEmpty([]),
                      c.assertNotEmpty([1])),
    "starts": lambda c: (c.assertStartsWith("abc", "a"),
                         c.assertEndsWith("abc", "c")),
    "device": lambda c: c.assertDeviceEqual("/cpu:0", "/device:CPU:0"),
    "device_without_slash": lambda c: c.assertDeviceEqual(
        "job:ps/task:0", "/job:ps/task:0"),
    "old_names": lambda c: (
        c.assert_(True), c.assertEquals(1, 1), c.assertNotEquals(1, 2),
        c.assertAlmostEquals(1., 1.), c.assertRegexpMatches("abc", "b")),
    "proto": lambda c: c.assertProtoEquals(
        'name: "n" op: "Neg"', tf.NodeDef(name="n", op="Neg")),
    "proto_version": lambda c: c.assertProtoEqualsVersion(
        'node { name: "n" op: "NoOp" }', _graph_def_of_no_op()),
    "same_elements": lambda c: c.assertSameElements([1, 2], [2, 1, 1]),
    "same_structure": lambda c: c.assertSameStructure({"a": [1]}, {"a": (1,)}),
    "no_common": lambda c: c.assertNoCommonElements([1], [2]),
    "subset": lambda c: c.assertContainsSubset({1}, [1, 2]),
    "subsequence": lambda c: (
        c.assertContainsSubsequence([1, 2, 3], [1, 3]),
        c.assertContainsExactSubsequence([1, 2, 3], [2, 3])),
    "in_order": lambda c: c.assertContainsInOrder(["a", "c"], "abc"),
    "sequence": lambda c: (
        c.assertSequenceStartsWith([1], [1, 2]),
        c.assertSequenceAlmostEqual([1.], [1.01], places=1)),
    "ordered": lambda c: c.assertTotallyOrdered([1, 1], [2]),
    "between": lambda c: c.assertBetween(2, 1, 3),
    "regex": lambda c: c.assertRegexMatch("abc", ["x", "b"]),
    "url": lambda c: c.assertUrlEqual("http://a/?x=1&y=2", "http://a/?y=2&x=1"),
    "json": lambda c: c.assertJsonEqual('{"a": 1}', '{ "a":1 }'),
    "command": lambda c: (c.assertCommandSucceeds("echo yes", ["yes"]),
                          c.assertCommandFails("echo no; exit 2", ["no"])),
    "raises": lambda c: c.assertRaisesWithLiteralMatch(
        KeyError, "'a'", {}.__getitem__, "a"),
}


def _graph_def_of_no_op():
    with tf.Graph().as_default() as g:
        tf.no_op(name="n")
    return g.as_graph_def()


FAILS = {
    "close": lambda c: c.assertAllClose([1.], [1.1]),
    "close_shape": lambda c: c.assertAllClose([1.], [[1.]]),
    "close_tensors_in_a_list": lambda c: c.assertAllClose(
        [tf.constant(1.), tf.constant(2.)], [1., 3.]),
    "close_keys": lambda c: c.assertAllClose({"a": 1.}, {"b": 1.}),
    "close_length": lambda c: c.assertAllClose([1., [2.]], [1., [2.], 3.]),
    "not_close": lambda c: c.assertNotAllClose([1.], [1.]),
    "equal": lambda c: c.assertAllEqual([1, 2], [1, 3]),
    "equal_strings": lambda c: c.assertAllEqual(["a"], ["b"]),
    "not_equal": lambda c: c.assertNotAllEqual([1], [1]),
    "same_elements": lambda c: c.assertSameElements([1, 2], [2]),
    "same_structure": lambda c: c.assertSameStructure({"a": [1]}, {"a": [2]}),
    "no_common": lambda c: c.assertNoCommonElements([1], [1]),
    "subset": lambda c: c.assertContainsSubset({3}, [1, 2]),
    "subsequence": lambda c: c.assertContainsSubsequence([1, 2], [2, 1]),
    "exact_subsequence": lambda c: c.assertContainsExactSubsequence(
        [1, 2, 3], [1, 3]),
    "in_order": lambda c: c.assertContainsInOrder(["c", "a"], "abc"),
    "ordered": lambda c: c.assertTotallyOrdered([2], [1]),
    "between": lambda c: c.assertBetween(4, 1, 3),
    "regex": lambda c: c.assertRegexMatch("abc", ["x"]),
    "command": lambda c: c.assertCommandSucceeds("exit 1"),
    "raises": lambda c: c.assertRaisesWithLiteralMatch(
        KeyError, "'b'", {}.__getitem__, "a"),
    "greater": lambda c: c.assertAllGreater([1, 3], 1),
    "greater_equal": lambda c: c.assertAllGreaterEqual([0, 3], 1),
    "less": lambda c: c.assertAllLess([2, 4], 4),
    "less_equal": lambda c: c.assertAllLessEqual([5, 4], 4),
    "in_range": lambda c: c.assertAllInRange([0., 2.], 0, 2,
                                             open_upper_bound=True),
    "in_range_text": lambda c: c.assertAllInRange(["a"], 0, 2),
    "in_set": lambda c: c.assertAllInSet([0, 5], {0, 1}),
    "dtype": lambda c: c.assertDTypeEqual(tf.constant(1.), np.float64),
    "shape": lambda c: c.assertShapeEqual(np.ones([2]), tf.ones([3])),
    "near": lambda c: c.assertNear(1., 2., .1),
    "array_near": lambda c: c.assertArrayNear([1.], [2.], .1),
    "ndarray_near": lambda c: c.assertNDArrayNear(np.ones(2), np.zeros(2), .1),
    "items": lambda c: c.assertItemsEqual([1, 2], [2, 2]),
    "texts": lambda c: c.assertMultiLineEqual("a", "b"),
    "dicts": lambda c: c.assertDictEqual({1: 2}, {1: 3}),
    "fail": lambda c: c.fail("a", user_msg="b"),
    "len": lambda c: c.assertLen([1], 2),
    "empty": lambda c: c.assertEmpty([1]),
    "not_empty": lambda c: c.assertNotEmpty([]),
    "starts": lambda c: c.assertStartsWith("abc", "b"),
    "ends": lambda c: c.assertEndsWith("abc", "b"),
    "device": lambda c: c.assertDeviceEqual("/cpu:0", "/cpu:1"),
    "proto": lambda c: c.assertProtoEquals('name: "m"', tf.NodeDef(name="n")),
}


@pytest.mark.parametrize("name", HOLDS)
def test_holds(name, case):
    HOLDS[name](case)


@pytest.mark.parametrize("name", FAILS)
def test_fails(name, case):
    with pytest.raises(AssertionError):
        FAILS[name](case)


def test_every_assertion_is_tested():
    ours = {n for n in vars(tf.test.TestCase) if n.startswith("assert")}
    source = open(__file__).read()
    assert {n for n in ours if n + "(" not in source} == set()


def test_raises(case):
    bad = tf.div(tf.constant(1), tf.placeholder_with_default(0, []),
                 name="bad")
    check = tf.Assert(tf.equal(bad, 1), ["was not one"], name="check")
    with case.session() as session:
        failing = tf.Assert(tf.placeholder_with_default(False, []), ["no"],
                            name="failing")
        with case.assertRaisesOpError("assertion failed"):
            session.run(failing)
        with case.assertRaisesWithPredicateMatch(tf.errors.OpError,
                                                 "Caused by: failing"):
            session.run(failing)
        with case.assertRaisesWithPredicateMatch(
                tf.errors.OpError, lambda e: e.op is failing):
            session.run(failing)
        with pytest.raises(AssertionError, match="Exception of type"):
            with case.assertRaisesOpError("another text"):
                session.run(failing)
        with pytest.raises(AssertionError, match="not raised"):
            with case.assertRaisesOpError("text"):
                pass
    assert check.name.startswith("check")
    with case.assertRaisesRegexp(ValueError, "a.c"):
        raise ValueError("abc")


def test_sessions(case):
    v = tf.Variable(1)
    with case.cached_session() as first:
        first.run(v.initializer)
        case.assertAllEqual(v, 1)
    with case.test_session() as second:
        assert second is first and v.eval() == 1
    assert case.evaluate(v) == 1  # no default session: that of the test
    with case.session(graph=tf.Graph()) as third:
        assert third is not first
    wrong = [("graph", dict(graph=tf.Graph())),
             ("graph", dict(graph=tf.get_default_graph())),
             ("config", dict(config=tf.ConfigProto())),
             ("force_gpu value", dict(force_gpu=True))]
    for what, arguments in wrong:
        with pytest.raises(ValueError, match=what + " used to get the cached"):
            with case.cached_session(**arguments):
                pass
    with case.test_session(config=tf.ConfigProto(), force_gpu=True) as last:
        assert last is first


def test_a_kept_session_brings_its_graph(case):
    with case.cached_session() as first:
        graph = tf.get_default_graph()
    with tf.Graph().as_default() as other:
        with case.cached_session() as second:
            assert second is first and tf.get_default_graph() is graph
            assert second.run(tf.constant(3)) == 3
        with case.session() as third:
            assert third.graph is other is tf.get_default_graph()


@pytest.mark.parametrize("arguments, device, is_soft", [
    ({}, "/device:CPU:0", True), ({"use_gpu": True}, "", True),
    ({"force_gpu": True}, "/device:GPU:0", False),
    ({"force_gpu": True, "config": tf.ConfigProto(allow_soft_placement=True)},
     "/device:GPU:0", False),
    ({"config": tf.ConfigProto()}, "/device:CPU:0", False)])
def test_devices_of_sessions(case, arguments, device, is_soft):
    given = arguments.get("config", tf.ConfigProto())
    was_soft = given.allow_soft_placement
    for session in (case.session, case.cached_session):
        with session(**arguments) as opened:
            assert tf.constant(1).op.device == device
            assert opened._config.allow_soft_placement == is_soft
    assert given.allow_soft_placement == was_soft


def test_each_test_begins_anew(case):
    numbers = case.evaluate(tf.random_uniform([3]))
    case.tearDown()
    case.setUp()
    assert not tf.get_default_graph().get_operations()
    np.testing.assert_array_equal(case.evaluate(tf.random_uniform([3])),
                                  numbers)


def test_a_test_begins_anew_within_a_graph_that_another_left(case):
    with case.cached_session() as first:
        pass
    with tf.Graph().as_default() as graph:
        tf.constant(1)
        case.setUp()
        assert tf.get_default_graph() is not graph
        assert not tf.get_default_graph().get_operations()
        with case.cached_session() as second:
            assert second is not first
            assert second.graph is tf.get_default_graph()
    assert tf.get_default_graph() is not graph


def test_directories(case):
    assert os.path.isdir(case.get_temp_dir())
    assert case.get_temp_dir().startswith(tf.test.get_temp_dir())
    assert Case().get_temp_dir() != case.get_temp_dir()
    assert tf.test.test_src_dir_path("a").endswith("/a")


def test_graph_defs():
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a, b]):
        tf.no_op(name="c")
    one = tf.get_default_graph().as_graph_def()
    other = tf.GraphDef()
    other.node.extend(reversed(list(one.node)))
    tf.test.assert_equal_graph_def(one, other)
    other.node[0].name = "d"
    with pytest.raises(AssertionError, match=(
            "^Did not find expected node '{{node d}} = ")):
        tf.test.assert_equal_graph_def(one, other)
    del other.node[0]
    with pytest.raises(AssertionError,
                       match="^Found unexpected node '{{node c}} = "):
        tf.test.assert_equal_graph_def(one, other)
    with pytest.raises(TypeError, match="GraphDef"):
        tf.test.assert_equal_graph_def(one, 5)


@pytest.mark.parametrize("call,kind,text", [
    (lambda c: c.assertAllClose([0], [1]), AssertionError,
     r"Not equal to tolerance(.|\n)*a is different from b(.|\n)*not close dif = "
     r"\[1\]"),
    (lambda c: c.assertAllClose(7, 7.1), AssertionError, "not close lhs = 7\n"),
    (lambda c: c.assertAllClose({"y": (2, [{"n": 3}])}, {"y": (2, [{"n": 4}])}),
     AssertionError, r"a\[y\]\[1\]\[0\]\[n\] is different from b\[y\]"),
    (lambda c: c.assertAllClose({"a": 1}, {"b": 1}), AssertionError,
     r"mismatched keys: a has keys \['a'\], but b has keys \['b'\]"),
    (lambda c: c.assertAllClose(1, {"a": 1}), ValueError,
     "Can't compare dict to non-dict, a vs b"),
    (lambda c: c.assertAllEqual([0, 1], [0, 2]), AssertionError,
     r"not equal where = .*1.*\nnot equal lhs = \[1\]\nnot equal rhs = \[2\]"),
    (lambda c: c.assertAllInRange([1., np.nan], 0, 2), AssertionError,
     r"1 of the 2 element\(s\) are NaN(.|\n)*\[1\] : nan"),
    (lambda c: c.assertAllInRange([[5., 15.]] * 12, 5, 10), AssertionError,
     r"12 of the 24 element\(s\) are outside the range \[5, 10\]"
     r"(.|\n)*\[9 1\] : 15.0\n  \.\.\."),
    (lambda c: c.assertAllInRange([True], 0, 1), AssertionError,
     "ordered numeric type, instead it has type: bool"),
    (lambda c: c.assertShapeEqual([1], tf.ones([1])), TypeError, "np_array"),
    (lambda c: c.assertShapeEqual(np.ones(1), 3), TypeError, "tf_tensor"),
])
def test_failures_tell_what_differs_and_where(case, call, kind, text):
    with pytest.raises(kind, match=text):
        call(case)


@pytest.mark.parametrize("text", ["message", "new", "old"])
def test_op_errors_name_the_original_operation(case, text):
    graph = tf.get_default_graph()
    old = node_tools.Operation(node_tools.node_def("NoOp", "old"), graph)
    new = node_tools.Operation(node_tools.node_def("NoOp", "new"), graph,
                               original_op=old)
    assert new._original_op is old
    with case.assertRaisesOpError(text):
        raise tf.errors.InternalError(new.node_def, new, "message")


def test_garbage_is_found():
    class Garbage(tf.test.TestCase):
        @test_util.assert_no_garbage_created
        def cycle(self):
            a = []
            a.append(a)

        @test_util.assert_no_garbage_created
        def line(self):
            return [[]]

    assert Garbage("line").line() == [[]]
    with pytest.raises(AssertionError):
        Garbage("cycle").cycle()


@pytest.mark.parametrize("value, status", [(3, 0), (4, 1)])
def test_main(tmp_path, value, status):
    program = tmp_path / "program.py"
    program.write_text("""if True:
        import headrace as tf
        class AddTest(tf.test.TestCase):
            def testAdd(self):
                with self.cached_session():
                    self.assertAllEqual(tf.add(1, 2).eval(), %d)
        tf.test.main()""" % value)
    done = subprocess.run([sys.executable, str(program)], capture_output=True,
                          text=True)
    assert done.returncode == status and "Ran 1 test in" in done.stderr


def test_mock_is_the_standard_library_s():
    from unittest import mock
    assert tf.test.mock is mock


def test_checked_threads_fail_the_test_that_does_not_join_them(case):
    threads = [case.checkedThread(len, args=([],)) for _ in range(2)]
    for thread in threads:
        thread.start()
    threads[0].join()
    with pytest.raises(AssertionError, match="not joined"):
        case.tearDown()
    threads[1].join()


def test_checked_threads_raise_what_their_function_raises(case):
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division by zero"):
        thread.join()


def test_writes_to_a_stream_are_captured(case):
    with case.captureWritesToStream(sys.__stderr__) as captured:
        os.write(sys.__stderr__.fileno(), b"written\n")
    assert captured.contents() == "written\n"


def test_nodes_of_a_test_session_are_for_the_cpu(case):
    # As in 1.15; those for a GPU that is not there go to the CPU.
    with case.session(graph=tf.Graph()):
        assert tf.constant(1).device == "/device:CPU:0"
        with tf.device("/gpu:0"):
            assert case.evaluate(tf.constant(1) + 1) == 2
    with case.cached_session(use_gpu=True):
        assert tf.constant(1).device == ""


def test_stubs_are_taken_out_again():
    class Parent:
        value = 1

    class Child(Parent):
        pass

    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(Child, "value", 2)
        stubs.SmartSet(Parent, "value", 3)
        assert (Child.value, Parent.value) == (2, 3)
        stubs.CleanUp()
        assert (Child.value, Parent.value) == (1, 1)


class Measured(tf.test.Benchmark):
    def benchmark_constant(self):
        with tf.Session() as session:
            return self.run_op_benchmark(session, tf.constant(1), min_iters=3,
                                         mbs=2)


def test_benchmarks_report_what_they_measure():
    with tf.Graph().as_default():
        found = Measured().benchmark_constant()
    assert found["name"] == "Measured.benchmark_constant"
    assert found["iters"] == 3 and found["wall_time"] > 0
    assert found["throughput"] == 2 / found["wall_time"]
    assert Measured().evaluate(tf.constant(2)) == 2


def test_what_derived_classes_call_of_tensorflows():
    class Test(tf.test.TestCase):
        def runTest(self):
            with self.cached_session() as first:
                assert self._eval_tensor(tf.constant(1)) == 1
                assert self._eval_tensor(None) is None
                assert self._GetNdArray(tf.constant([1])).tolist() == [1]
                assert self._GetNdArray([2.]).dtype == np.float64
            self._ClearCachedSession()
            with self.cached_session() as second:
                assert second is not first
            a, b = np.array([[1., 2.]]), np.array([[1., 2.5]])
            assert self._NDArrayNear(a, a, 1e-5)
            assert not self._NDArrayNear(a, b, .1)
    result = unittest.TestResult()
    Test().run(result)
    assert result.wasSuccessful(), result.errors + result.failures
