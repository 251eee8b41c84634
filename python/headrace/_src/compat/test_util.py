"""tensorflow.python.framework.test_util: decorators of tests. Tests run in
graph mode, and eagerly where run_in_graph_and_eager_modes says; those for GPUs
and for TensorFlow 2 are skipped."""
import contextlib
import functools
import gc
import itertools
import os
import unittest

from headrace._headrace import executing_eagerly
from headrace._src.eager.context import eager_mode, graph_mode
from headrace._src.framework import graph as _graph
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.messages import GraphDef
from headrace._src.framework.tensor import is_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.testing.test_case import assert_equal_graph_def


def IsGoogleCudaEnabled():
    return False


IsBuiltWithROCm = IsMklEnabled = is_xla_enabled = IsGoogleCudaEnabled


def GpuSupportsHalfMatMulAndConv():
    return False


def _decorator(wrap):
    """A decorator that is used with arguments in parentheses or without any,
    on a test or on a class of them."""
    @functools.wraps(wrap)
    def decorate(func=None, *args, **kwargs):
        if func is not None and not callable(func):  # a reason
            func, args = None, (func,) + args
        if func is None:
            return lambda f: decorate(f, *args, **kwargs)
        if isinstance(func, type):
            return for_all_test_methods(wrap)(func)
        return wrap(func)
    return decorate


def for_all_test_methods(decorator, *args, **kwargs):
    """A decorator of classes that decorates each of their tests."""
    def decorate(cls):
        for name in dir(cls):
            value = getattr(cls, name)
            if (callable(value) and name != "test_session"
                    and name.startswith(unittest.TestLoader.testMethodPrefix)):
                setattr(cls, name, decorator(value, *args, **kwargs))
        return cls
    return decorate


@_decorator
def run_v1_only(func):
    return func


run_deprecated_v1 = deprecated_graph_mode_only = run_v1_only
also_run_as_tf_function = enable_control_flow_v2 = run_v1_only
disable_control_flow_v2 = with_control_flow_v2 = run_v1_only
disable_xla = no_xla_auto_jit = xla_allow_fallback = run_v1_only
assert_no_new_tensors = run_v1_only
assert_no_new_pyobjects_executing_eagerly = run_v1_only
enable_tf_xla_constant_folding = use_deterministic_cudnn = run_v1_only


def assert_no_garbage_created(f):
    """A decorator of tests that makes no objects which refer to each other in
    a cycle and to which nothing else refers: AssertionError if it does."""
    @functools.wraps(f)
    def decorated(self, *args, **kwargs):
        gc.collect()
        flags = gc.get_debug()
        gc.set_debug(gc.DEBUG_SAVEALL)
        before = len(gc.garbage)
        try:
            result = f(self, *args, **kwargs)
            gc.collect()
            found = len(gc.garbage)
            del gc.garbage[before:]
        finally:
            gc.set_debug(flags)
        self.assertEqual(before, found)
        return result
    return decorated


def _skipping(reason):
    @_decorator
    def decorate(func):
        @functools.wraps(func)
        def skipped(self, *args, **kwargs):
            self.skipTest(reason)
        return skipped
    return decorate


run_v2_only = _skipping("Test is only compatible with v2")
run_gpu_only = _skipping("Test requires GPU")
run_cuda_only = _skipping("Test requires CUDA GPU")


def build_as_function_and_v1_graph(func):
    """The test in a graph of its own."""
    @functools.wraps(func)
    def decorated(self, *args, **kwargs):
        with _graph.Graph().as_default():
            return func(self, *args, **kwargs)
    return decorated


def run_in_graph_and_eager_modes(func=None, config=None, use_gpu=True,
                                 reset_test=True, assert_no_eager_garbage=False):
    """The test inside of self.test_session(), and then with ops that are
    executed eagerly: in programs that do so anyway, and in others if the
    environment variable HEADRACE_EAGER_TESTS is set."""
    def decorate(f):
        if isinstance(f, type):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. "
                "Did you mean to use `run_all_in_graph_and_eager_modes`?")

        @functools.wraps(f)
        def decorated(self, *args, **kwargs):
            is_eager = executing_eagerly()
            with graph_mode():
                with self.test_session(use_gpu=use_gpu, config=config):
                    f(self, *args, **kwargs)
                if not is_eager and not os.environ.get(
                        "HEADRACE_EAGER_TESTS"):
                    return
                if reset_test:
                    self.tearDown()
                    self._tempdir = None
            with _graph.Graph().as_default(), eager_mode():
                if reset_test:
                    self.setUp()
                if use_gpu:
                    f(self, *args, **kwargs)
                else:
                    with _graph.device("/device:CPU:0"):
                        f(self, *args, **kwargs)
        return decorated
    return decorate if func is None else decorate(func)


def run_all_in_graph_and_eager_modes(cls):
    """run_in_graph_and_eager_modes for each test of a class."""
    return for_all_test_methods(run_in_graph_and_eager_modes)(cls)


def skip_if(condition):
    """Leaves out what is decorated if `condition`, or what it returns, is
    true."""
    def decorate(func):
        @functools.wraps(func)
        def wrapper(self, *args, **kwargs):
            if not (condition() if callable(condition) else condition):
                func(self, *args, **kwargs)
        return wrapper
    return decorate


@contextlib.contextmanager
def use_gpu():
    yield


@contextlib.contextmanager
def device(use_gpu):
    """Nodes made inside are for the CPU unless use_gpu."""
    with (contextlib.nullcontext() if use_gpu else force_cpu()):
        yield


@contextlib.contextmanager
def force_cpu():
    with _graph.device("/device:CPU:0"):
        yield


@contextlib.contextmanager
def force_gpu():
    with _graph.device("/device:GPU:0"):
        yield


def assert_equal_graph_def_v2(expected, actual):
    """assert_equal_graph_def without names that are made at random."""
    assert_equal_graph_def(actual, expected, True, True)


def assert_meta_graph_protos_equal(tester, a, b):
    """MetaGraphDefs that are equal; what the messages in their collections of
    bytes say counts, not how."""
    from headrace._src.compat.node_tools import get_collection_proto_type
    tester.assertEqual(set(a.collection_def), set(b.collection_def))
    for key in a.collection_def:
        left, right = a.collection_def[key], b.collection_def[key]
        message = get_collection_proto_type(key)
        if left.WhichOneof("kind") != "bytes_list" or message is None:
            tester.assertEqual(left, right)
            continue
        pairs = list(zip(left.bytes_list.value, right.bytes_list.value))
        tester.assertEqual(len(left.bytes_list.value),
                           len(right.bytes_list.value))
        for x, y in pairs:
            x, y = (message.FromString(v) for v in (x, y))
            tester.assertEqual(x, y)
    rest = []
    for meta_graph in (a, b):
        copy = type(meta_graph)()
        copy.CopyFrom(meta_graph)
        copy.ClearField("collection_def")
        graph_def = type(copy.graph_def)()
        graph_def.CopyFrom(copy.graph_def)
        copy.ClearField("graph_def")
        rest.append(copy)
        assert_equal_graph_def(graph_def, a.graph_def)
    tester.assertEqual(*rest)


def get_node_def_from_graph(node_name, graph_def):
    """The NodeDef of a name, or None."""
    return next((n for n in graph_def.node if n.name == node_name), None)


def set_producer_version(graph, producer_version):
    """Makes `graph`, which must be empty, one that this version of TensorFlow
    made: ops that later versions lack may be in it."""
    graph_def = GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(graph_def)
    assert graph.graph_def_versions.producer == producer_version


def enable_c_shapes(fn):
    return fn


with_c_shapes = enable_c_shapes
py_func_if_in_function = enable_output_all_intermediates = enable_c_shapes


def generate_combinations_with_testcase_name(**kwargs):
    """A list of dicts, one for each combination of the values in the lists that
    the arguments are, with a "testcase_name" of its own."""
    found = []
    for values in itertools.product(*kwargs.values()):
        chosen = dict(zip(kwargs, values))
        name = "".join(
            "_%s_%s" % ("".join(c for c in key if c.isalnum()),
                        "".join(c for c in str(value) if c.isalnum()))
            for key, value in chosen.items())
        found.append({**chosen, "testcase_name": "_test" + name})
    return found


def InstallStackTraceHandler():
    """Python's tracebacks for signals of faults."""
    import faulthandler
    faulthandler.enable()


def assert_ops_in_graph(expected_ops, graph):
    """{name: node} of the operations that expected_ops, {name: type}, names.
    ValueError if one is missing or has another type."""
    found = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError("Expected op for node %s is different. %s vs %s"
                                 % (node.name, expected_ops[node.name], node.op))
            found[node.name] = node
    if set(found) != set(expected_ops):
        raise ValueError("Not all expected ops are present. Expected %s, found "
                         "%s" % (list(expected_ops), list(found)))
    return found


def _permuted(x, orders):
    if is_tensor(x):
        return _array.transpose(x, orders[x.shape.ndims])
    return [x[i] for i in orders[len(x)]]


def NHWCToNCHW(input_tensor):
    """A tensor or a list of sizes with its channels second."""
    return _permuted(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor):
    """A tensor or a list of sizes with its channels last."""
    return _permuted(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def NHWCToNCHW_VECT_C(input_shape_or_tensor):
    """A tensor or a list of sizes, NHWC, with blocks of four channels last."""
    shape = _sizes(input_shape_or_tensor)
    if shape[-1] % 4:
        raise ValueError("Last dimension of NHWC must be evenly divisible by 4 "
                         "to convert to NCHW_VECT_C.")
    shape[-1:] = [shape[-1] // 4, 4]
    order = {5: [0, 3, 1, 2, 4], 6: [0, 4, 1, 2, 3, 5]}[len(shape)]
    if is_tensor(input_shape_or_tensor):
        return _array.transpose(_array.reshape(input_shape_or_tensor, shape),
                                order)
    return [shape[i] for i in order]


def NCHW_VECT_CToNHWC(input_shape_or_tensor):
    """What NHWCToNCHW_VECT_C takes from what it returns."""
    shape = _sizes(input_shape_or_tensor)
    order = {5: [0, 2, 3, 1, 4], 6: [0, 2, 3, 4, 1, 5]}[len(shape)]
    shape = [shape[i] for i in order]
    shape[-2:] = [shape[-2] * shape[-1]]
    if is_tensor(input_shape_or_tensor):
        return _array.reshape(_array.transpose(input_shape_or_tensor, order),
                              shape)
    return shape


def _sizes(x):
    return x.shape.as_list() if is_tensor(x) else list(x)


@contextlib.contextmanager
def fft_kernel_label_map():
    """Changes nothing: each transform has one kernel a device."""
    yield
