"""tf.test: test cases with sessions, and assertions about arrays."""
import collections.abc
import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
import unittest

import numpy as np

from headrace import _headrace
from headrace._headrace import Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.behavior import (
    GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER)
from headrace._src.framework.default_session import get_default_session
from headrace._src.framework.errors import OpError
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.messages import (
    ConfigProto, GraphDef, from_text)
from headrace._src.framework.tensor import is_tensor
from headrace._src.ops.random_ops import DEFAULT_GRAPH_SEED
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.session.session import Session
from headrace._src.testing.assertions import Assertions


def main(argv=None):
    """Runs the tests of the program, as unittest.main does."""
    unittest.main(argv=argv)


_temp_dir = None


def get_temp_dir():
    """A directory that is there until the program ends."""
    global _temp_dir
    if _temp_dir is None:
        import atexit
        _temp_dir = tempfile.mkdtemp(prefix="headrace_test_")
        atexit.register(shutil.rmtree, _temp_dir, ignore_errors=True)
    return _temp_dir


def test_src_dir_path(relative_path):
    """The path of a file beside the program."""
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])),
                        relative_path)


setattr(test_src_dir_path, "__test__", False)  # no test, in spite of its name


def assert_equal_graph_def(actual, expected, checkpoint_v2=False,
                           hash_table_shared_name=False):
    """AssertionError unless the GraphDefs have the same nodes, in any order.
    checkpoint_v2 leaves out names of temporary files of checkpoints, and
    hash_table_shared_name those of tables."""
    for graph_def in (actual, expected):
        if not isinstance(graph_def, GraphDef):
            raise TypeError("Expected tf.GraphDef, got %s"
                            % type(graph_def).__name__)
    found, wanted = (
        {node.name: _comparable(node, checkpoint_v2, hash_table_shared_name)
         for node in graph_def.node} for graph_def in (actual, expected))
    for name, node in wanted.items():
        if name not in found:
            raise AssertionError("Did not find expected node '{{node %s}} = %s'"
                                 % (name, node.op))
        if found[name] != node:
            raise AssertionError("node '{{node %s}}' differs: got\n%s\nwanted"
                                 "\n%s" % (name, found[name], node))
    for name in reversed([n for n in found if n not in wanted]):
        raise AssertionError("Found unexpected node '{{node %s}} = %s'"
                             % (name, found[name].op))


def _comparable(node, checkpoint_v2, hash_table_shared_name):
    copy = type(node)()
    copy.CopyFrom(node)
    if hash_table_shared_name and "HashTable" in copy.op:
        copy.attr["shared_name"].s = b""
    if checkpoint_v2 and copy.op == "Const" and b"_temp" in b"".join(
            copy.attr["value"].tensor.string_val):
        del copy.attr["value"].tensor.string_val[:]
    inputs = list(copy.input)
    del copy.input[:]
    # Control inputs have no order.
    copy.input.extend([i for i in inputs if not i.startswith("^")]
                      + sorted(i for i in inputs if i.startswith("^")))
    return copy


def _new_session(graph, config, force_gpu):
    """A session of a test: nodes may be where their device is not, unless
    force_gpu or the configuration say otherwise."""
    if config is None:
        config = ConfigProto(allow_soft_placement=not force_gpu)
    elif force_gpu and config.allow_soft_placement:
        given, config = config, ConfigProto()
        config.CopyFrom(given)
        config.allow_soft_placement = False
    return Session(graph=graph, config=config)


@contextlib.contextmanager
def _placed(session, use_gpu, force_gpu):
    """The session, its graph and a device as the default ones."""
    with session.graph.as_default(), session.as_default():
        if use_gpu and not force_gpu:
            yield
        else:
            with session.graph.device("/device:GPU:0" if force_gpu
                                      else "/device:CPU:0"):
                yield


PlainTestCase = Assertions


def _is_ragged(*values):
    return any(hasattr(x, "ragged_rank") for x in values)


def _value_now(x):
    """The value of what was executed eagerly."""
    if x is None:
        return None
    if callable(x) and not hasattr(x, "dtype"):
        return nest.map_structure(_value_now, x())
    if isinstance(x, SparseTensor):
        return SparseTensorValue(x.indices.numpy(), x.values.numpy(),
                                 x.dense_shape.numpy())
    if isinstance(x, IndexedSlices):
        return load("_src.framework.indexed_slices").IndexedSlicesValue(
            x.values.numpy(), x.indices.numpy(),
            None if x.dense_shape is None else x.dense_shape.numpy())
    if hasattr(x, "nested_row_splits"):
        return load("_src.ragged.ragged_factory").constant_value(x.to_list())
    if hasattr(x, "numpy"):
        return x.numpy()
    raise ValueError("Unsupported type %s." % type(x))


class TestCase(Assertions):
    """A test whose methods each begin with an empty default graph and fixed
    seeds."""

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._session = None
        self._tempdir = None

    def setUp(self):
        super().setUp()
        self._ClearCachedSession()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED % 2 ** 32)
        # An earlier test may have failed within `with graph.as_default()`.
        _graph.leave_default_graphs()
        if not executing_eagerly():
            _graph.reset_default_graph()
        _graph.get_default_graph().seed = DEFAULT_GRAPH_SEED

    def tearDown(self):
        self._ClearCachedSession()
        super().tearDown()

    # What derived classes call of TensorFlow's, by its names there.

    def _ClearCachedSession(self):
        """Closes cached_session; the next one is new."""
        if self._session is not None:
            self._session[0].close()
            self._session = None

    def _GetNdArray(self, a):
        """The value of a tensor, or what is given, as an array."""
        return self._array(a)

    def _NDArrayNear(self, ndarray1, ndarray2, err):
        """Whether two arrays are at a distance (L2) below err."""
        return bool(np.linalg.norm(
            np.subtract(ndarray1, ndarray2).ravel()) < err)

    def _eval_tensor(self, tensor):
        """The value of a tensor, or of what is in one of its kinds; None of
        None."""
        return None if tensor is None else self.evaluate(tensor)

    def get_temp_dir(self):
        """A directory of this test's own."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._tempdir

    # Sessions.

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A new session as the default one, and its graph as the default
        graph. New nodes are placed on the CPU; with use_gpu nowhere, with
        force_gpu on the GPU. None while ops are executed eagerly."""
        if executing_eagerly():
            yield None
            return
        with _new_session(graph, config, force_gpu) as session:
            with _placed(session, use_gpu, force_gpu):
                yield session

    def cached_session(self, graph=None, config=None, use_gpu=False,
                       force_gpu=False):
        """The session of this test, which keeps its state, as the default
        one, and its graph as the default graph. ValueError for another graph
        or configuration than at first."""
        return self._kept_session(graph, config, use_gpu, force_gpu, True)

    @contextlib.contextmanager
    def _kept_session(self, graph, config, use_gpu, force_gpu, is_strict):
        if executing_eagerly():
            yield None
            return
        if self._session is None:
            self._session = _new_session(graph, config, force_gpu), {
                "graph": graph, "config": config, "force_gpu value": force_gpu}
        session, first = self._session
        for (what, old), new in zip(first.items(), (graph, config, force_gpu)):
            if is_strict and old is not new:
                raise ValueError("The %s used to get the cached session is "
                                 "different than the one that was used to "
                                 "create the session. Maybe create a new "
                                 "session with self.session()" % what)
        with _placed(session, use_gpu, force_gpu):
            yield session

    @property  # so that loaders do not take it for a test by its name
    def test_session(self):
        """test_session(graph=None, config=None, use_gpu=False,
        force_gpu=False): the session of this test, or a new one for a graph
        that is given."""
        def make(graph=None, config=None, use_gpu=False, force_gpu=False):
            if graph is None:
                return self._kept_session(None, config, use_gpu, force_gpu,
                                          False)
            return self.session(graph, config, use_gpu, force_gpu)
        return make

    def evaluate(self, tensors):
        """Their values, by the default session or that of this test, or at once
        while ops are executed eagerly."""
        if executing_eagerly():
            return nest.map_structure(_value_now, tensors)
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as session:
            return session.run(tensors)

    def _array(self, x):
        if is_tensor(x):
            x = self.evaluate(x)
        elif isinstance(x, (list, tuple)):
            tensors = [t for t in nest.flatten(x) if is_tensor(t)]
            if tensors:
                values = iter(self.evaluate(tensors))
                x = nest.map_structure(
                    lambda t: next(values) if is_tensor(t) else t, x)
        if isinstance(x, (np.ndarray, np.generic)):
            return np.asarray(x)
        return np.array(x)

    def _lists(self, x):
        """A ragged tensor, or what is compared with one, as nested lists."""
        if hasattr(x, "_flow_components") or is_tensor(x):
            x = self.evaluate(x)
        if hasattr(x, "ragged_rank"):
            return x.to_list()
        if isinstance(x, (np.ndarray, np.generic)):
            return x.tolist()
        if isinstance(x, (list, tuple)):
            return [self._lists(item) for item in x]
        return x

    def _lists_close(self, a, b, rtol, atol, path):
        if isinstance(a, list) != isinstance(b, list) or isinstance(
                a, list) and len(a) != len(b):
            self.fail("different at %s: %s and %s" % (path, a, b))
        if isinstance(a, list):
            for i, (x, y) in enumerate(zip(a, b)):
                self._lists_close(x, y, rtol, atol, path + [i])
        elif not np.allclose(a, b, rtol, atol, equal_nan=True):
            self.fail("not close at %s: %s and %s" % (path, a, b))

    # Arrays.

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Arrays, or structures of them, whose elements differ by at most atol
        + rtol * |b|; NaN is near NaN. Also ragged tensors."""
        if _is_ragged(a, b):
            self._lists_close(self._lists(a), self._lists(b), rtol, atol, [])
            return
        self._all_close(a, b, rtol, atol, [], msg)

    def _all_close(self, a, b, rtol, atol, path, msg):
        where = "".join("[%s]" % p for p in path)
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, collections.abc.Mapping) != isinstance(
                b, collections.abc.Mapping):
            raise ValueError("Can't compare dict to non-dict, a%s vs b%s. %s"
                             % (where, where, msg or ""))
        if isinstance(a, collections.abc.Mapping):
            self.assertItemsEqual(
                a.keys(), b.keys(), "mismatched keys: a%s has keys %s, but b%s "
                "has keys %s. %s" % (where, list(a), where, list(b), msg or ""))
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, path + [str(key)],
                                msg)
            return
        if isinstance(a, (list, tuple)):
            try:
                left, right = self._array(a), self._array(b)
            except (TypeError, ValueError):
                left = np.array(None, object)  # of several shapes
            if left.dtype == object:
                self.assertEqual(len(a), len(b), "lengths of a%s differ: %s"
                                 % (where, msg))
                for i, (x, y) in enumerate(zip(a, b)):
                    self._all_close(x, y, rtol, atol, path + [str(i)], msg)
                return
            a, b = left, right
        self._arrays_close(
            self._array(a), self._array(b), rtol, atol,
            "Mismatched value: a%s is different from b%s. %s"
            % (where, where, msg or ""))

    def _arrays_close(self, a, b, rtol, atol, msg):
        self._same_shapes(a, b, msg)
        if a.dtype.name == "bfloat16":
            a = a.astype(np.float32)
        if b.dtype.name == "bfloat16":
            b = b.astype(np.float32)
        try:
            near = np.isclose(a, b, rtol, atol, equal_nan=True)
        except TypeError:  # not numbers: said below
            near = True
        if not np.all(near):
            msg = "\n".join([msg, *_differences("not close", ~near, a, b),
                             _distances(~near, a, b, rtol, atol)])
        try:
            np.testing.assert_allclose(a, b, rtol, atol, err_msg=msg,
                                       equal_nan=True)
        except AssertionError as error:
            raise self.failureException(str(error)) from None

    def _same_shapes(self, a, b, msg):
        self.assertEqual(
            a.shape, b.shape, "Shape mismatch: expected %s, got %s with "
            "contents %s. \n%s" % (a.shape, b.shape, b, msg or ""))

    def assertAllCloseAccordingToType(
            self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,
            half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2,
            bfloat16_atol=1e-2, msg=None):
        """assertAllClose with the tolerances of the less precise type."""
        a, b = self._array(a), self._array(b)
        kinds = {a.dtype.name, b.dtype.name}
        for names, r, t in (
                ({"float32", "complex64"}, float_rtol, float_atol),
                ({"float16"}, half_rtol, half_atol),
                ({"bfloat16"}, bfloat16_rtol, bfloat16_atol)):
            if kinds & names:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a, b, **kwargs):
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        self.fail("The two values are close at all elements")

    def assertAllEqual(self, a, b, msg=None):
        """Arrays with the same elements; NaN is NaN. Also ragged tensors."""
        if _is_ragged(a, b):
            self.assertEqual(self._lists(a), self._lists(b), msg)
            return
        a, b = self._array(a), self._array(b)
        self._same_shapes(a, b, msg)
        same = _strings(a) == _strings(b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a),
                                                      np.isnan(b)))
        if not np.all(same):
            self.fail("\n".join([
                "", "Arrays are not equal", "", *([msg] if msg else []),
                *_differences("not equal", np.logical_not(same), a, b)]))

    def assertNotAllEqual(self, a, b, msg=None):
        try:
            self.assertAllEqual(a, b, msg)
        except AssertionError:
            return
        self.fail("The two values are equal at all elements", msg)

    def _all(self, holds, a, what):
        if not np.all(holds):
            self.fail("not all elements are %s: %s"
                      % (what, a[np.logical_not(holds)]))

    def assertAllGreater(self, a, comparison_target):
        a = self._array(a)
        self._all(a > comparison_target, a, "> %s" % comparison_target)

    def assertAllLess(self, a, comparison_target):
        a = self._array(a)
        self._all(a < comparison_target, a, "< %s" % comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):
        a = self._array(a)
        self._all(a >= comparison_target, a, ">= %s" % comparison_target)

    def assertAllLessEqual(self, a, comparison_target):
        a = self._array(a)
        self._all(a <= comparison_target, a, "<= %s" % comparison_target)

    def assertAllInRange(self, target, lower_bound, upper_bound,
                         open_lower_bound=False, open_upper_bound=False):
        """All elements lie in the range, its bounds too unless they are
        open."""
        target = self._array(target)
        if target.dtype.kind not in "iuf":
            raise AssertionError(
                "The value of %s does not have an ordered numeric type, "
                "instead it has type: %s" % (target, target.dtype))
        missing = np.isnan(target)
        if np.any(missing):
            self.fail("%d of the %d element(s) are NaN. Subscripts(s) and "
                      "value(s) of the NaN element(s):\n%s" % (
                          np.sum(missing), target.size,
                          _elements(missing, target)))
        low = (target > lower_bound if open_lower_bound
               else target >= lower_bound)
        high = (target < upper_bound if open_upper_bound
                else target <= upper_bound)
        outside = np.logical_not(np.logical_and(low, high))
        if np.any(outside):
            self.fail("%d of the %d element(s) are outside the range %s%s, %s%s"
                      ". Subscript(s) and value(s) of the offending elements:\n"
                      "%s" % (np.sum(outside), target.size,
                              "(" if open_lower_bound else "[", lower_bound,
                              upper_bound, ")" if open_upper_bound else "]",
                              _elements(outside, target)))

    def assertAllInSet(self, target, expected_set):
        target = self._array(target)
        extra = set(target.ravel().tolist()) - set(expected_set)
        if extra:
            self.fail("%s are not in the set %s" % (extra, expected_set))

    def assertDTypeEqual(self, target, expected_dtype):
        if isinstance(target, Tensor) or hasattr(target, "_as_tensor"):
            got = target.dtype.base_dtype
            expected_dtype = dtypes.as_dtype(expected_dtype)
        else:
            got = self._array(target).dtype
        self.assertEqual(got, expected_dtype)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        """A tensor whose static shape is that of the array."""
        if not isinstance(np_array, (np.ndarray, np.generic)):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(),
                         msg)

    def assertNear(self, f1, f2, err, msg=None):
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, "%f != %f +/- %f%s" % (
            f1, f2, err, " (%s)" % msg if msg is not None else ""))

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for a, b in zip(farray1, farray2):
            self.assertNear(float(a), float(b), err, msg=msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Arrays of one shape at a distance (L2) below err."""
        a, b = np.asarray(ndarray1), np.asarray(ndarray2)
        self.assertEqual(a.shape, b.shape, msg)
        self.assertTrue(self._NDArrayNear(a, b, err), msg)

    # What else there is.

    def fail(self, msg=None, user_msg=None):
        """Fails with both messages."""
        super().fail(": ".join(m for m in (msg, user_msg) if m) or None)

    def assertDictEqual(self, a, b, msg=None):
        super().assertDictEqual(a, b, msg)

    def assertMultiLineEqual(self, first, second, msg=None, **kwargs):
        super().assertMultiLineEqual(first, second, msg)

    def assertItemsEqual(self, first, second, msg=None):
        self.assertCountEqual(first, second, msg)

    def assertLen(self, container, expected_len, msg=None):
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container, msg=None):
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container, msg=None):
        self.assertGreater(len(container), 0, msg)

    def assertStartsWith(self, actual, expected_start, msg=None):
        if not actual.startswith(expected_start):
            self.fail("%r does not start with %r%s"
                      % (actual, expected_start, " : %s" % msg if msg else ""))

    def assertEndsWith(self, actual, expected_end, msg=None):
        if not actual.endswith(expected_end):
            self.fail("%r does not end with %r%s"
                      % (actual, expected_end, " : %s" % msg if msg else ""))

    def assertDeviceEqual(self, device1, device2, msg=None):
        """Names of one device, however they are written."""
        names = [_headrace.merge_devices("", _graph._device_string(d or ""))
                 for d in (device1, device2)]
        self.assertEqual(*names, msg)

    def assertProtoEquals(self, expected_message_maybe_ascii, message,
                          msg=None):
        """A message that equals another or its text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            if isinstance(expected, bytes):
                expected = expected.decode()
            expected = from_text(expected, type(message)())
        self.assertIs(type(expected), type(message), msg)
        self.assertTrue(expected == message, "got\n%s\nwanted\n%s\n%s"
                        % (message, expected, msg or ""))

    def assertProtoEqualsVersion(self, expected, actual,
                                 producer=GRAPH_DEF_VERSION,
                                 min_consumer=GRAPH_DEF_VERSION_MIN_CONSUMER,
                                 msg=None):
        """A GraphDef that equals the text and has these versions."""
        if not isinstance(expected, str):
            copy = type(expected)()
            copy.CopyFrom(expected)
        else:
            copy = from_text(expected, type(actual)())
        copy.versions.producer = producer
        copy.versions.min_consumer = min_consumer
        self.assertProtoEquals(copy, actual, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type,
                                       expected_err_re_or_predicate):
        """The block raises exception_type, and its message, with the operation
        that failed, matches the expression or satisfies the function."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except Exception as error:
            text = str(error)
            op = getattr(error, "op", None)
            while op is not None:
                text += "\nCaused by: " + op.name
                op = op._original_op
            matches = (wanted(error) if callable(wanted)
                       else re.search(wanted, text))
            if not isinstance(error, exception_type) or not matches:
                raise self.failureException(
                    "Exception of type %s: %s" % (type(error), text)
                ) from error
            return
        self.fail("%s not raised" % exception_type.__name__)

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        return self.assertRaisesWithPredicateMatch(
            OpError, expected_err_re_or_predicate)

    def assertRaisesRegexp(self, expected_exception, expected_regex, *args,
                           **kwargs):
        return self.assertRaisesRegex(expected_exception, expected_regex,
                                      *args, **kwargs)


def _differences(what, where, a, b):
    """Lines about the elements of two arrays at which `where` is true."""
    if a.shape:
        yield "%s where = %s" % (what, np.where(where))
        a, b = a[where], b[where]
    yield "%s lhs = %s" % (what, a)
    yield "%s rhs = %s" % (what, b)


def _distances(where, a, b, rtol, atol):
    where = where if a.shape else ()
    return "not close dif = %s\nnot close tol = %s\ndtype = %s, shape = %s" % (
        np.abs(a - b)[where], (atol + rtol * np.abs(b))[where], a.dtype, a.shape)


def _elements(where, a):
    """A line for each of the first ten elements at which `where` is true."""
    places = np.argwhere(where)
    return "\n".join(["  %s : %s" % (place, a[tuple(place)])
                      for place in places[:10]]
                     + ["  ..."] * (len(places) > 10))


def _strings(a):
    """Arrays of text and of bytes alike as bytes."""
    if a.dtype.kind not in "SUO":
        return a
    out = np.empty(a.shape, object)
    for i, x in np.ndenumerate(a):
        out[i] = x.encode() if isinstance(x, str) else x
    return out


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """False: this build runs on CPUs alone. A bool, whatever the arguments; it
    has to do with no shapes and dtypes, and raises nothing."""
    return False


def is_built_with_cuda():
    """False: this build runs on CPUs alone."""
    return False


is_built_with_rocm = is_built_with_gpu_support = is_built_with_cuda


def gpu_device_name():
    """The name of the first GPU: empty, as there is none."""
    return ""
