"""The stubs that tools/stubs.py writes: every public name has one, with the
arguments that it has, and all are Python."""
import ast
import importlib.util
import inspect
import pathlib
import re
import sys

import pytest

import headrace as tf
from headrace import _api, _names, _second_api

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """{path below the package: its tree}"""
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools/stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("headrace")
    return {path.relative_to(folder).as_posix(): ast.parse(path.read_text())
            for path in module.write(folder)}


def path_of(space):
    return "/".join([*space.split("."), "__init__.pyi"]).lstrip("/")


def defined(tree):
    """{name: its node}"""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, (ast.ImportFrom, ast.Import)):
            found.update((alias.asname, node) for alias in node.names)
    return found


def arguments(node):
    """{name: whether there is a default} of a def."""
    a = node.args
    places = a.posonlyargs + a.args
    found = dict.fromkeys((x.arg for x in places), False)
    found.update((x.arg, True) for x in places[len(places) - len(a.defaults):])
    found.update((x.arg, d is not None)
                 for x, d in zip(a.kwonlyargs, a.kw_defaults))
    for x in (a.vararg, a.kwarg):
        if x is not None:
            found[x.arg] = False
    return found


SPACES = sorted([*_api.NAMES, *_second_api.spaces()])


@pytest.mark.parametrize("space", SPACES)
def test_every_public_name_has_a_stub(stubs, space):
    found = defined(stubs[path_of(space)])
    missing = [name for name in _names.table(space) if name not in found]
    assert not missing
    for inner in SPACES:
        parent, _, name = inner.rpartition(".")
        assert not inner or parent != space or name in found
    module = tf
    for part in space.split(".") if space else ():
        module = getattr(module, part)
    for name in _names.table(space):
        node, value = found[name], getattr(module, name)
        if isinstance(node, ast.FunctionDef):
            got = arguments(node)
            wanted = {p.name: p.default is not p.empty
                      for p in inspect.signature(value).parameters.values()}
            assert got == wanted or set(got) == {"args", "kwargs"}, name
        else:
            assert not inspect.isfunction(value), name


def test_ops(stubs):
    found = defined(stubs["raw_ops.pyi"])
    assert set(dir(tf.raw_ops)) <= set(found)
    result = {name: ast.unparse(found[name].returns) for name in (
        "NoOp", "MatMul", "Unpack", "TopKV2")}
    assert result == {"NoOp": "_Operation", "MatMul": "_Tensor",
                      "Unpack": "_b.list[_Tensor]", "TopKV2": "TopKV2Result"}
    assert [x.target.id for x in found["TopKV2Result"].body] == [
        "values", "indices"]
    for name in ("Conv2D", "TopKV2", "ConcatV2"):
        assert arguments(found[name]) == {
            p.name: p.default is not p.empty for p in inspect.signature(
                getattr(tf.raw_ops, name)).parameters.values()}


def test_messages(stubs):
    config = defined(stubs["_src/framework/messages.pyi"])["ConfigProto"]
    fields = {x.target.id: ast.unparse(x.annotation) for x in config.body
              if isinstance(x, ast.AnnAssign)}
    assert fields["allow_soft_placement"] == "_b.bool"
    assert fields["inter_op_parallelism_threads"] == "_b.int"
    assert "gpu_options" in fields


TYPES = [
    ("x", "Tensor"), ("tf.matmul(x, w)", "Tensor"),
    ("tf.reduce_mean(x)", "Tensor"), ("tf.exp(x)", "Tensor"),
    ("tf.layers.dense(x, 3)", "Tensor"), ("x[:, 0] + 1", "Tensor"),
    ("w", "Variable"), ("1 - w", "Tensor"), ("tf.Variable(1.)", "Variable"),
    ("tf.square(x)", "Tensor"), ("tf.square(sparse)", "SparseTensor"),
    ("tf.float32", "DType"), ("x.dtype", "DType"), ("x.shape", "TensorShape"),
    ("x.op", "Operation"), ("tf.global_variables_initializer()", "Operation"),
    ("tf.get_default_graph()", "Graph"), ("tf.Session()", "Session"),
    ("tf.split(x, 3)", "list[Tensor]"),
    ("tf.nn.moments(x, [0])", "tuple[Tensor, Tensor]"),
]
PROGRAM = """import headrace as tf
x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable("w", [3, 2])
sparse = tf.sparse_placeholder(tf.float32)
"""


def test_types_that_mypy_finds(tmp_path):
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + "".join(
        "reveal_type(%s)\n" % expression for expression, _ in TYPES))
    out, err, status = api.run([
        "--python-executable", sys.executable, "--no-error-summary",
        "--cache-dir", str(tmp_path / "cache"), str(program)])
    assert status == 0, out + err
    found = [re.sub(r"(?:\w+\.)+(\w+)", r"\1", type_).replace("builtins.", "")
             for type_ in re.findall(r'Revealed type is "(.*)"', out)]
    assert found == [type_ for _, type_ in TYPES]


def test_the_package_says_that_it_has_types():
    assert (pathlib.Path(tf.__file__).parent / "py.typed").exists()
    assert (pathlib.Path(tf.__file__).parent / "__init__.pyi").exists()
