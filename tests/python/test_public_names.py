"""The names of tf.*: all are there, though the modules that define them are
loaded when the first of their names is asked for."""
import pickle
import subprocess
import sys
import types

import pytest

import headrace as tf
from headrace import _api, _names

# What every program loads, and what one does that runs a graph from a file.
ALWAYS = """
    _api _headrace _loading _names array_ops default_session dtypes errors graph
    indexed_slices math_ops raw_ops script_ops session tensor tensor_shape"""
TO_RUN = "importer messages"

# What modules define for each other: of some, everything.
INTERNAL_MODULES = """
    data_elements default_session func_graph function_def initial_values nest
    resource_variables variable_partitions variable_records variable_store"""
INTERNAL = {
    "control_flow": """CondContext ControlFlowContext WhileContext context_of
                       output_context smart_cond""",
    "control_flow_ops": "with_dependencies",
    "datasets": "DatasetLeaf dataset_spec",
    "graph": "global_graph graph_of",
    "parsing_ops": "example_columns",
    "raw_ops": "make_result_type signature",
    "script_ops": "call",
    "session": "MemoryPlan expand_feed expand_fetch",
    "session_handles": "TensorHandle",
    "sparse_ops": "is_sparse",
    "template": "Template",
    "tensor": "constant_value convert_n_to_tensor feed_to_array to_array",
    "tensor_shape": "as_dimension as_shape scalar unknown_shape",
    "variable_base": "sparse_parts",
    "variable_scopes": "pure_variable_scope unique_variable_scope",
    "variables": "RefVariable",
}
MODULES = {name: _names.load(name) for name in sorted(_api._submodules())}
NAMESPACES = {  # with the modules whose names are all public
    name: module for name, module in sorted(sys.modules.items())
    if name.partition(".")[0] == "headrace" and "._" not in name
    and ("__dir__" in vars(module) or module.__name__ in (
        "headrace.dtypes", "headrace.errors", "headrace.initializers",
        "headrace.messages"))}


def fresh(program):
    """What a program prints that has loaded nothing else."""
    done = subprocess.run([sys.executable, "-c", program], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def public(module):
    return [n for n in dir(module) if not n.startswith("_")]


def test_import_loads_little():
    first, second = fresh("""if True:
        import sys
        import headrace as tf
        def loaded():
            print(*sorted(name[9:] for name, module in sys.modules.items()
                          if name.startswith("headrace.")
                          and module.__spec__ is not None
                          and module is not tf))
        loaded()
        graph_def = tf.GraphDef()
        graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
        graph_def.node.add(name="y", op="Neg", input=["x"]).attr["T"].type = 1
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
        with tf.Session(graph=graph, config=tf.ConfigProto()) as session:
            session.run("y:0", {"x:0": 1.0})
        loaded()""").splitlines()
    assert first.split() == sorted(ALWAYS.split())
    assert second.split() == sorted(ALWAYS.split() + TO_RUN.split())


@pytest.mark.parametrize("name", NAMESPACES)
def test_names_are_there(name):
    module = NAMESPACES[name]
    for n in public(module):
        assert getattr(module, n) is getattr(module, n)
    if name != "headrace.messages":
        star = {}
        exec("from %s import *" % name, star)
        assert set(public(module)) <= set(star)


def test_every_definition_has_a_public_name():
    reached = {id(getattr(module, n)) for module in NAMESPACES.values()
               for n in public(module)}
    for name, module in MODULES.items():
        if name not in INTERNAL_MODULES.split():
            hidden = {n for n, x in _names._defined_by(module).items()
                      if id(x) not in reached}
            assert hidden == set(INTERNAL.get(name, "").split()), name


def test_no_name_is_a_module_too():
    # Loading the module would put it in the place of what tf has by the name.
    named = fresh("""if True:
        import headrace as tf
        from headrace import _api
        print(*set(_api._dir()) - set(vars(tf)))""").split()
    assert "while_loop" in named and not set(named) & set(MODULES)


def test_threads():
    fresh("""if True:
        import sys
        from threading import Barrier, Thread
        import headrace as tf
        from headrace import _api
        names = [(tf, n) for n in _api._dir()]
        for space in (tf.data, tf.io, tf.linalg, tf.random, tf.sets, tf.sparse,
                      tf.strings, tf.train, tf.data.experimental):
            names += [(space, n) for n in dir(space)]
        names += [(tf.raw_ops, n) for n in ("Cos", "Sin", "Tan", "TopKV2")]
        names += [(tf, n) for n in ("nn", "summary", "queues", "matrix_inverse",
                                    "bessel_i0e", "fft", "GraphDef", "v1")]
        names += [(tf.image, "ssim"), (tf.math, "lgamma"), (tf.math, "pow")]
        found, count = {}, 8
        barrier = Barrier(count)
        def find(i):
            barrier.wait()
            start = i * len(names) // count
            mine = {(space.__name__, n): getattr(space, n)
                    for space, n in names[start:] + names[:start]}
            found[i] = mine
        sys.setswitchinterval(1e-6)
        threads = [Thread(target=find, args=(i,)) for i in range(count)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert len(found) == count
        for key, value in found[0].items():
            assert all(mine[key] is value for mine in found.values()), key""")


@pytest.mark.parametrize("statement", [
    "import headrace.nn as nn; assert {'conv2d', 'swish'} <= set(dir(nn))",
    "from headrace.nn import embedding_lookup, nce_loss, relu6",
    "import headrace.math as m; m.reduce_sum, m.zero_fraction",
    "from headrace.math import *; reduce_sum, zero_fraction",
    "from headrace import *; while_loop, image.psnr, nn.crelu, bool, queues",
    "import headrace.data.experimental as e; e.AUTOTUNE",
    "from headrace.data import Dataset, experimental",
    "import headrace.compat.v1 as tf; tf.Variable, tf.compat.v1.Session",
    "import headrace.summary; headrace.summary.scalar",
    "from headrace import sparse_ops, GraphDef, matrix_inverse, sets",
    "import headrace.image_ops; headrace.image.ssim",
    "import headrace; assert {'cond', 'queues', 'nn'} <= set(dir(headrace))",
    "import pydoc as p; p.plain(p.render_doc('headrace')).index('while_loop(')",
])
def test_ways_to_import(statement):
    fresh(statement)


def test_pickle():
    things = [tf.Variable, tf.data.Dataset, tf.nn.conv2d, tf.matmul, tf.float32,
              tf.errors.NotFoundError, tf.SparseTensorValue(1, 2, 3)]
    data = pickle.dumps(things)
    assert pickle.loads(data) == things
    fresh("""if True:
        import pickle
        things = pickle.loads(%r)
        import headrace as tf
        assert things[:4] == [tf.Variable, tf.data.Dataset, tf.nn.conv2d,
                              tf.matmul]""" % data)


def test_what_modules_register_is_there_first():
    fresh("""if True:
        import headrace as tf
        x = tf.constant([1., 2.])
        graph_def = tf.GraphDef()
        node = graph_def.node.add(name="f", op="PyFunc")
        node.attr["token"].s = b"pyfunc_99"
        node.attr["Tin"].list.SetInParent()
        node.attr["Tout"].list.type.append(1)
        f, = tf.import_graph_def(graph_def, return_elements=["f:0"])
        with tf.Session() as session:
            assert session.run(-x[1] + 1.) == -1
            try:
                session.run(f)
            except tf.errors.InvalidArgumentError as error:
                assert "pyfunc_99 is not found" in str(error)
            else:
                raise AssertionError("no function has this token")
            slices = tf.IndexedSlices(x, [0, 2], [3])
            assert session.run(tf.convert_to_tensor(slices)).tolist() == [
                1, 0, 2]""")


@pytest.mark.parametrize("name", [
    "layers", "train.Saver", "train.AdamOptimizer", "summary.FileWriter"])
def test_what_is_not_supported_yet(name):
    space, _, attr = name.rpartition(".")
    with pytest.raises(AttributeError,
                       match="tf.%s is not supported yet" % name):
        getattr(getattr(tf, space) if space else tf, attr)


@pytest.mark.parametrize("space", ["nn", "math", "image", "data", "summary"])
def test_no_such_name(space):
    for module in (tf, getattr(tf, space)):
        assert isinstance(module, types.ModuleType)
        for name in ("no_such_name", "NoSuchName", "__no_such_name__"):
            with pytest.raises(AttributeError, match="no attribute '%s'" % name):
                getattr(module, name)


def test_most_ops_are_found_without_the_names_of_all():
    fresh("""if True:
        import headrace as tf
        from headrace import _names
        assert tf.nn.elu is tf.raw_ops.Elu
        assert tf.matrix_band_part is tf.raw_ops.MatrixBandPart
        assert not _names._ops_by_python_name.cache_info().currsize""")
    ops = _names._ops_by_python_name()
    assert len(ops) > 1000
    assert {name: _names._op_named(name) for name in ops} == ops
