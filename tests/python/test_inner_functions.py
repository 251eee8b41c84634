"""Functions of tensorflow.python.* that are no part of the public interface:
distribution functions, forms with the arguments of TensorFlow 2, lists of tensors, tables, calls of
functions. Values are those of TensorFlow 1.15.5."""
import ast
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import calls
from headrace._src.functions.defun import Defun

VALUES = [line.split("\t") for line in (
    pathlib.Path(__file__).parent / "inner_values.tsv").read_text().splitlines()]

# Programs, and what they print.
PROGRAMS = {
    "if_while_for": ("""
        @function.Defun(dtypes.float32)
        def double(x): return x * 2.
        @function.Defun(dtypes.float32)
        def negate(x): return -x
        print(plain(run(functional_ops.If(False, [3.], double, negate))))
        one = constant_op.constant(1.)
        @function.Defun(*[dtypes.float32] * 2)
        def body(n, s): return n - one, s + n
        @function.Defun(*[dtypes.float32] * 2)
        def cond(n, s): return n > 0.
        print(plain(run(functional_ops.While([10., 0.], cond, body))))
        @function.Defun(dtypes.int32, dtypes.float32)
        def add(i, v): return one * math_ops.cast(i, dtypes.float32) + v
        for by_while in False, True:
            print(plain(run(functional_ops.For(0, 10, 3, [0.], add,
                                               rewrite_with_while=by_while))))
        @function.Defun(dtypes.float32, dtypes.float32)
        def product(x, y): return x * y
        print(plain(run(functional_ops.Gradient([2., 3., 1.], product))))
        """, "[-3.0]\n[0.0, 55.0]\n[18.0]\n[18.0]\n[3.0, 2.0]\n"),
    "while_of_captures": ("""
        one = constant_op.constant(1.)
        @function.Defun(dtypes.float32)
        def body(n): return n - one
        @function.Defun(dtypes.float32)
        def cond(n): return n > one
        try:
            functional_ops.While([10.], cond, body)
        except ValueError as error:
            print(error)
        """, "While op 'cond' argument must be a function without implicitly "
        "captured inputs.\n"),
    "tables": ("""
        table = lookup_ops.index_table_from_tensor(["a", "b"], 1)
        words = lookup_ops.index_to_string_table_from_tensor(["a", "b"])
        own = lookup_ops.HashTable(
            lookup_ops.KeyValueTensorInitializer([1, 2], ["x", "y"]), "no")
        more = lookup_ops.MutableHashTable(dtypes.string, dtypes.int64, -1)
        run(lookup_ops.tables_initializer())
        run(more.insert(["k"], constant_op.constant([5], dtypes.int64)))
        print(run(table.lookup(constant_op.constant(["b", "c"]))).tolist(),
              run(words.lookup(constant_op.constant([1, 7], dtypes.int64))),
              run(own.lookup(constant_op.constant([2, 3]))),
              run(more.lookup(constant_op.constant(["k", "l"]))).tolist())
        """, "[1, 2] [b'b' b'UNK'] [b'y' b'no'] [5, -1]\n"),
    "what_initializers_refuse": ("""
        for make in (lambda: init_ops_v2.Ones()([2], dtypes.string),
                     lambda: init_ops_v2.RandomNormal()([2], dtypes.int32),
                     lambda: init_ops_v2.Constant([1, 2])([3]),
                     lambda: constant_op.constant([1, 2, 3], shape=[2]),
                     lambda: constant_op.constant([[1, 2], [3]])):
            try:
                make()
            except (TypeError, ValueError) as error:
                print(type(error).__name__, error)
        print(init_ops_v2.GlorotNormal(seed=3).get_config(),
              init_ops_v2.RandomUniform().get_config())
        """, "ValueError Expected numeric or boolean dtype, got "
        "<dtype: 'string'>.\n"
        "ValueError Expected floating point type, got <dtype: 'int32'>.\n"
        "TypeError Expected Tensor's shape: (3,), got (2,).\n"
        "TypeError Expected Tensor's shape: (2,), got (3,).\n"
        "ValueError Argument must be a dense tensor: [[1, 2], [3]] - got shape "
        "[2], but wanted [2, 2].\n"
        "{'seed': 3} {'minval': -0.05, 'maxval': 0.05, 'seed': None}\n"),
    "checks_with_messages_third": ("""
        x = constant_op.constant([1, 2])
        run([check_ops.assert_less_v2(x, [3, 3], "small"),
             check_ops.assert_positive_v2(x, "small"),
             check_ops.assert_rank_v2(x, 1, "flat"),
             check_ops.assert_near_v2([1.], [1.], None, None, "near")])
        try:
            check_ops.assert_none_equal_v2(x, 1, None, "differ")
        except errors.InvalidArgumentError as error:
            print(error.message.splitlines()[0])
        """, "differ\n"),
    "what_distributions_refuse": ("""
        for make in (lambda: cd.fill_triangular([1., 2.]), cd.tridiag,
                     lambda: special_math.ndtr(1),
                     lambda: special_math.log_ndtr(1., series_order=31)):
            try:
                make()
            except (TypeError, ValueError) as error:
                print(error)
        """, "Input right-most shape (2) does not correspond to a triangular "
        "matrix.\n"
        "Must specify at least one of `below`, `diag`, `above`.\n"
        "x.dtype=<class 'numpy.int32'> is not handled, see docstring for "
        "supported types.\n"
        "series_order must be <= 30.\n"),
    "what_nodes_do_in_loops": ("""
        from tensorflow.python.ops import control_flow_util as util, script_ops
        c = constant_op.constant(2.)
        control_flow_ops.while_loop(
            lambda x: x < 9., lambda x: control_flow_ops.cond(
                x > 3., lambda: x * c, lambda: x + 1.), [c])
        graph = ops.get_default_graph()
        def names(check):
            return sorted(o.name for o in graph.get_operations() if check(o))
        print(names(util.IsLoopEnter))
        print(names(util.IsLoopConstantEnter), names(util.IsLoopExit))
        print(names(util.IsLoopSwitch), names(util.IsLoopMerge))
        print(names(util.IsCondMerge), len(names(util.IsCondSwitch)))
        mul = graph.get_operation_by_name("while/cond/mul")
        print(util.IsInCond(mul), util.IsInWhileLoop(mul),
              util.IsInWhileLoop(c.op), util.GetWhileContext(mul)
              is mul._get_control_flow_context().outer_context)
        print(util.ENABLE_CONTROL_FLOW_V2, graph._get_control_flow_context())
        print(script_ops._py_funcs.size() >= 0)
        """, "['while/Enter', 'while/cond/mul/Enter']\n"
        "['while/cond/mul/Enter'] ['while/Exit']\n"
        "['while/Switch'] ['while/Merge']\n"
        "['while/cond/Merge'] 4\n"
        "True True False True\nFalse None\nTrue\n"),
    "ragged_tensors": ("""
        import tensorflow as tf
        from tensorflow.python.ops.ragged import (
            ragged_array_ops, ragged_gather_ops, ragged_map_ops,
            ragged_math_ops, ragged_tensor, ragged_where_op)
        def show(x):
            value = tf.Session().run(x)
            print(value.to_list() if hasattr(value, "to_list")
                  else value.tolist())
        def refused(f, *args, **options):
            try:
                f(*args, **options)
            except (TypeError, ValueError) as error:
                print(type(error).__name__)
        rt = tf.ragged.constant([[1, 2], [], [3]])
        deep = tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
        rows = ragged_tensor.RaggedTensorType(tf.int32, 1)
        print(ragged_tensor.is_ragged(rt), ragged_tensor.is_ragged([1]),
              ragged_tensor.match_row_splits_dtypes(rt, return_dtype=True)[0])
        show(ragged_tensor.convert_to_tensor_or_ragged_tensor([1, 2]))
        show(ragged_math_ops.reduce_sum(rt, 1))
        show(ragged_gather_ops.gather(rt, [2, 0]))
        show(ragged_array_ops.expand_dims(rt, 0))
        show(ragged_where_op.where(rt > 1))
        show(ragged_map_ops.map_fn(tf.reduce_sum, rt))
        def mapped(f, elems, dtype=rows):
            return ragged_map_ops.map_fn(f, elems, dtype, infer_shape=False)
        show(mapped(lambda x: x * 2, rt))
        show(mapped(lambda x: tf.reduce_sum(x, 1), deep))
        show(mapped(lambda x: x + 1, deep,
                    ragged_tensor.RaggedTensorType(tf.int32, 2)))
        show(mapped(tf.range, tf.constant([2, 0, 3])))
        show(mapped(lambda x: x[0] + x[1], (rt, tf.constant([10, 20, 30]))))
        show(mapped(lambda x: (tf.size(x), x), rt, (tf.int32, rows))[1])
        refused(ragged_map_ops.map_fn, 3, rt)
        refused(ragged_map_ops.map_fn, tf.identity, 3)
        refused(ragged_map_ops.map_fn, tf.identity, rt,
                dtype=ragged_tensor.RaggedTensorType(tf.int32, 2))
        refused(ragged_map_ops.map_fn, tf.identity, rt,
                dtype=ragged_tensor.RaggedTensorType(tf.int64, 1))
        """, "True False <dtype: 'int64'>\n"
        "[1, 2]\n"
        "[3, 0, 3]\n"
        "[[3], [1, 2]]\n"
        "[[[1, 2], [], [3]]]\n"
        "[[0, 1], [2, 0]]\n"
        "[3, 0, 3]\n"
        "[[2, 4], [], [6]]\n"
        "[[1, 5], [], [4]]\n"
        "[[[2], [3, 4]], [], [[5]]]\n"
        "[[0, 1], [], [0, 1, 2]]\n"
        "[[11, 12], [], [33]]\n"
        "[[1, 2], [], [3]]\n"
        "TypeError\n"
        "ValueError\n"
        "ValueError\n"
        "ValueError\n"),
    "names_of_missing_namespaces": ("""
        from tensorflow.python.framework import config
        from tensorflow.python.ops.ragged import ragged_tensor_shape
        print(hasattr(config, "set_soft_device_placement"))
        print(hasattr(ragged_tensor_shape, "RaggedTensorDynamicShape"))
        """, "True\nFalse\n"),
    "what_is_said_of_tpus": ("""
        from tensorflow.contrib.tpu.python.tpu import tpu_function as older
        from tensorflow.python.tpu import tpu_function
        context = tpu_function.get_tpu_context()
        print(context.number_of_shards, older.get_tpu_context() is context)
        with tpu_function.tpu_shard_context(4):
            print(context.number_of_shards)
            try:
                with tpu_function.tpu_shard_context(4): pass
            except NotImplementedError as error: print(error)
        context.set_number_of_shards(2)
        print(context.number_of_shards)
        context.set_number_of_shards(None)
        """, "None True\n4\ntpu_shard_context cannot be nested.\n2\n"),
    "shapes_as_tensors": ("""
        convert = constant_op._tensor_shape_tensor_conversion_function
        shape = tf.TensorShape
        for x in (convert(shape([2, 3])), tf.convert_to_tensor(shape([1 << 31])),
                  convert(shape([2]), dtypes.int64, "q"), convert(shape([]))):
            print(x.name, x.dtype.name, plain(run(x)))
        for given, dtype in (([None, 2], None), (None, None), ([2], dtypes.float32),
                             ([1 << 31], dtypes.int32)):
            try: convert(shape(given), dtype)
            except (TypeError, ValueError) as error: print(error)
        """, "shape_as_tensor:0 int32 [2, 3]\n"
             "shape_as_tensor_1:0 int64 [2147483648]\n"
             "q:0 int64 [2]\nshape_as_tensor_2:0 int32 []\n"
             "Cannot convert a partially known TensorShape to a Tensor: (?, 2)\n"
             "Cannot convert a partially known TensorShape to a Tensor: <unknown>\n"
             "Cannot convert a TensorShape to dtype: <dtype: 'float32'>\n"
             "Cannot convert a TensorShape to dtype int32; a dimension is too large "
             "(2147483648)\n"),
}

RUN = """
import contextlib, io, json, sys, textwrap
import headrace.compat
headrace.compat.install()
import numpy as np
import tensorflow as tf
from tensorflow.contrib import distributions as cd
from tensorflow.python.ops.distributions import special_math
from tensorflow.python.framework import (
    constant_op, dtypes, errors, function, ops, sparse_tensor)
from tensorflow.python.ops import (
    array_ops, check_ops, control_flow_ops, embedding_ops, functional_ops,
    gradients_impl, image_ops_impl, init_ops_v2, inplace_ops, linalg_ops,
    list_ops, lookup_ops, math_ops, nn_impl, nn_ops, parsing_ops, random_ops,
    sparse_ops, string_ops)

def plain(x):
    if isinstance(x, (list, tuple)):
        return [plain(y) for y in x]
    return x if isinstance(x, bytes) else np.asarray(x).tolist()

def outcome(run_it):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        try:
            return run_it(session)
        except Exception as error:
            return "%s: %s" % (type(error).__name__, error)

def printed(session, text):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(textwrap.dedent(text), dict(globals(), run=session.run))
    return out.getvalue()

expressions, programs = json.load(sys.stdin)
json.dump([[outcome(lambda s: repr(plain(s.run(eval(e))))) for e in expressions],
           [outcome(lambda s: printed(s, p)) for p in programs]], sys.stdout)
"""


@pytest.fixture(scope="module")
def results():
    expressions = [expression for expression, _ in VALUES]
    programs = [text for text, _ in PROGRAMS.values()]
    done = subprocess.run([sys.executable, "-c", RUN], text=True,
                          input=json.dumps([expressions, programs]),
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    values, printed = json.loads(done.stdout)
    return {**dict(zip(expressions, values)), **dict(zip(PROGRAMS, printed))}


@pytest.mark.parametrize("expression, value", VALUES)
def test_a_value_is_that_of_tensorflow(results, expression, value):
    try:
        found = ast.literal_eval(results[expression])
    except (SyntaxError, ValueError):
        pytest.fail(results[expression])
    wanted = ast.literal_eval(value)
    assert np.shape(found) == np.shape(wanted)
    if np.asarray(wanted).dtype.kind == "S":
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_prints(results, name):
    assert results[name] == PROGRAMS[name][1]


def defun(types, function):
    return Defun(*types)(function)


def test_what_loops_refuse_and_a_call_on_a_device():
    two = [tf.float32] * 2
    with tf.Graph().as_default(), tf.Session() as session:
        cond = defun(two, lambda n, x: n > 0)
        body = defun(two, lambda n, x: (n - 1, x + n))
        pair = defun(two, lambda n, x: (n > 0, x))
        three = defun(two, lambda n, x: (n, x, x))
        step = defun([tf.int32, tf.float32], lambda i, x: (x, x))
        for make, message in (
                (lambda: calls.While([5., 0.], pair, body), "got 2 tensors"),
                (lambda: calls.While([5., 0.], cond, three),
                 "While loop body returned 3 arguments. Expected: 2"),
                (lambda: calls.For(0, 9, 1, [0.], step),
                 "For loop body returned 2 arguments. Expected: 1")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                make()
        product = defun([tf.int32] * 2, tf.multiply)
        assert session.run(calls.remote_call(
            "/cpu:0", [tf.constant(2), tf.constant(3)], [tf.int32],
            product)) == [6]


@pytest.mark.parametrize("elems, message", [
    (1., "^elems must be a 1"), ([1., 2.], "^elements in elems must be")])
def test_elements_that_are_scalars(elems, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.map_fn(lambda x: x, elems)
