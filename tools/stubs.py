"""Writes type stubs (.pyi) of the package headrace into a folder.

    python tools/stubs.py DIR

DIR is a package folder: DIR/__init__.pyi, DIR/nn/__init__.pyi and so on. The
stubs are made of the package that this Python imports: functions with their
arguments, ops with what the registry knows of their types, messages with their
fields. Classes stand in their sources, from which the stubs take them.
"""
import importlib
import inspect
import keyword
import pathlib
import sys

HEAD = '''"""%s"""
import builtins as _b
import typing as _t

from headrace._typing import (
    DTypeLike as _DTypeLike, ShapeLike as _ShapeLike, TensorLike as _TensorLike)
'''
NATIVE = """from headrace._headrace import Operation as _Operation, Tensor as _Tensor
from headrace._src.framework.dtypes import DType as _DType
from headrace._src.framework.graph import Graph as _Graph
from headrace._src.ops.sparse_tensor import SparseTensor as _SparseTensor
from headrace._src.variables.base import Variable as _Variable
"""
TYPING = '''"""The types of arguments, by what they become."""
import typing

# What becomes a tensor: tensors, variables, arrays, numbers, strings, and
# sequences of these.
TensorLike: typing.TypeAlias = typing.Any
# tf.float32, "float32", numpy.float32.
DTypeLike: typing.TypeAlias = typing.Any
# A TensorShape, a sequence of sizes and None, or a tensor.
ShapeLike: typing.TypeAlias = typing.Any
'''
ATTRS = {"input": "_TensorLike", "int": "_b.int", "float": "_b.float",
         "bool": "_b.bool", "string": "_b.str | _b.bytes",
         "type": "_DTypeLike", "shape": "_ShapeLike", "tensor": "_TensorLike"}
BY_NAME = {"name": "_b.str | None", "dtype": "_DTypeLike", "shape": "_ShapeLike"}

# What functions that are written by hand return: all of a module, but for those
# named beside it and those in RESULT and OF_EACH. What is not here, or may be
# several things, is Any.
RESULTS = {
    "contrib.layers": ("_Tensor", "repeat stack dropout batch_norm"),
    "contrib.more_layers": ("_Tensor", "bow_encoder dense_to_sparse embed_sequence"),
    "image.boxes": ("_Tensor", """
        combined_non_max_suppression non_max_suppression_padded
        non_max_suppression_with_scores sample_distorted_bounding_box"""),
    "image.codecs": ("_Tensor", ""),
    "image.colors": ("_Tensor", ""),
    "image.transforms": ("_Tensor", ""),
    "layers.functions": ("_Tensor", ""),
    "losses.losses": ("_Tensor", """
        add_loss compute_weighted_loss get_losses get_regularization_loss
        get_regularization_losses get_total_loss"""),
    "metrics.means": ("_b.tuple[_t.Any, _t.Any]", ""),
    "nn.activations": ("_Tensor", "dropout top_k"),
    "nn.conv": ("_Tensor", """
        fractional_avg_pool fractional_max_pool max_pool_with_argmax"""),
    "nn.losses": ("_Tensor", ""),
    "ops.array_ops": ("_Tensor", "broadcast_static_shape get_static_value where_v2"),
    "ops.blocks": ("_Tensor", "required_space_to_batch_paddings"),
    "ops.contractions": ("_Tensor", ""),
    "ops.math_ops": ("_Tensor", """
        cast div divide scalar_mul to_bfloat16 to_double to_float to_int32
        to_int64 truediv"""),
    "ops.random_ops": ("_Tensor", "get_seed set_random_seed"),
}
RESULT = {
    "framework.dtypes:as_dtype": "_DType",
    "framework.graph:get_default_graph": "_Graph",
    "framework.tensor:constant": "_Tensor",
    "framework.tensor:convert_to_tensor": "_Tensor",
    "nn.embeddings:embedding_lookup": "_Tensor",
    "nn.normalization:batch_normalization": "_Tensor",
    "nn.normalization:l2_normalize": "_Tensor",
    "nn.normalization:local_response_normalization": "_Tensor",
    "nn.normalization:moments": "_b.tuple[_Tensor, _Tensor]",
    "ops.array_ops:no_op": "_Operation",
    "ops.array_ops:shape_n": "_b.list[_Tensor]",
    "ops.array_ops:split": "_b.list[_Tensor]",
    "ops.array_ops:unstack": "_b.list[_Tensor]",
    "ops.array_ops:where": "_Tensor",
    "ops.clipping:clip_by_global_norm": "_b.tuple[_b.list[_t.Any], _Tensor]",
    "ops.clipping:global_norm": "_Tensor",
    "ops.sparse_tensor:sparse_placeholder": "_SparseTensor",
    "sparse.sparse_ops:sparse_reorder": "_SparseTensor",
    "sparse.sparse_ops:sparse_tensor_dense_matmul": "_Tensor",
    "sparse.sparse_ops:sparse_tensor_to_dense": "_Tensor",
    "sparse.sparse_ops:sparse_to_dense": "_Tensor",
    "training.checkpoint_management:latest_checkpoint": "_b.str | None",
    "training.gradients:gradients": "_b.list[_t.Any]",
    "training.summary:histogram": "_Tensor",
    "training.summary:image": "_Tensor",
    "training.summary:scalar": "_Tensor",
    "variables.scopes:get_variable": "_Variable",
    "variables.variables:all_variables": "_b.list[_Variable]",
    "variables.variables:global_variables": "_b.list[_Variable]",
    "variables.variables:global_variables_initializer": "_Operation",
    "variables.variables:initialize_all_variables": "_Operation",
    "variables.variables:local_variables": "_b.list[_Variable]",
    "variables.variables:local_variables_initializer": "_Operation",
    "variables.variables:tables_initializer": "_Operation",
    "variables.variables:trainable_variables": "_b.list[_Variable]",
    "variables.variables:variables_initializer": "_Operation",
}
# Of a SparseTensor these make a SparseTensor, of all else a Tensor.
OF_EACH = {"ops.math_ops:" + name for name in (
    "abs bessel_i0e bessel_i1e erf negative sign square sqrt tanh").split()}
# The types of what tensors, operations and variables have.
MEMBERS = {
    "device": "_b.str", "dtype": "_DType", "graph": "_Graph", "initializer": "Operation",
    "inputs": "_t.Any", "name": "_b.str", "op": "Operation", "shape": "_TensorShape",
    "type": "_b.str"}
MEMBER_TYPES = """from headrace._src.framework.dtypes import DType as _DType
from headrace._src.framework.graph import Graph as _Graph
from headrace._src.framework.tensor_shape import TensorShape as _TensorShape
"""


def is_name(text):
    return text.isidentifier() and not keyword.iskeyword(text)


def shown(default):
    """A default as text; "..." for what is no plain literal."""
    if default is None or type(default) in (bool, int, str, bytes):
        text = repr(default)
        return text if len(text) < 40 else "..."
    if type(default) is float and default - default == 0:
        return repr(default)
    return "..."


def hint(parameter):
    """The type of a function's argument."""
    type_ = BY_NAME.get(parameter.name, "_t.Any")
    if type_.startswith("_b.") and parameter.default is not None:
        return "_b.str" if isinstance(parameter.default, str) else "_t.Any"
    return type_


def arguments(signature):
    """The text between the parentheses of a def."""
    parts, star = [], False
    parameters = list(signature.parameters.values())
    for i, p in enumerate(parameters):
        if p.kind == p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind == p.VAR_POSITIONAL:
            parts.append("*%s: _t.Any" % p.name)
            star = True
        elif p.kind == p.VAR_KEYWORD:
            parts.append("**%s: _t.Any" % p.name)
        elif p.default is p.empty:
            parts.append("%s: %s" % (p.name, hint(p)))
        else:
            parts.append("%s: %s = %s" % (p.name, hint(p), shown(p.default)))
        if p.kind == p.POSITIONAL_ONLY and (
                i + 1 == len(parameters)
                or parameters[i + 1].kind != p.POSITIONAL_ONLY):
            parts.append("/")
    return ", ".join(parts)


def result_of(home):
    """The type of what the function `home`, module:name, returns."""
    module, _, name = home.partition(":")
    type_, others = RESULTS.get(module, ("_t.Any", ""))
    return RESULT.get(home, "_t.Any" if name in others.split() else type_)


def function(name, value, home):
    """The stub of a function that is written by hand in `home`, module:name."""
    try:
        text = arguments(inspect.signature(value))
    except (TypeError, ValueError):
        text = "*args: _t.Any, **kwargs: _t.Any"
    if home in OF_EACH:
        first = next(iter(inspect.signature(value).parameters))
        of_sparse = text.replace(first + ": _t.Any", first + ": _SparseTensor", 1)
        return "".join("@_t.overload\ndef %s(%s) -> %s: ...\n" % (name, *both)
                       for both in ((of_sparse, "_SparseTensor"), (text, "_Tensor")))
    return "def %s(%s) -> %s: ...\n" % (name, text, result_of(home))


def attr_type(kind):
    """The type of an op's attr or input."""
    if kind.startswith("list("):
        inner = ATTRS.get(kind[5:-1], "_t.Any")
        return "_t.Sequence[%s]" % inner
    return ATTRS.get(kind, "_t.Any")


class Ops:
    """Defs of ops; the classes of their results stand in raw_ops.pyi."""

    def __init__(self, native, messages):
        self._native, self._messages = native, messages

    def definition(self, name):
        return self._messages.OpDef.FromString(self._native.op_def(name)) \
            if not hasattr(self._native.op_def(name), "output_arg") \
            else self._native.op_def(name)

    def result(self, op):
        """(the type of what the function returns, the class of it or "")."""
        outputs = self.definition(op.op_type).output_arg

        def one(arg):
            many = arg.number_attr or arg.type_list_attr
            return "_b.list[_Tensor]" if many else "_Tensor"
        if not outputs:
            return "_Operation", ""
        if len(outputs) == 1:
            return one(outputs[0]), ""
        fields = "".join("    %s: %s\n" % (
            arg.name if is_name(arg.name) and not arg.name.startswith("_")
            and arg.name not in ("count", "index")
            else "_%d" % i, one(arg)) for i, arg in enumerate(outputs))
        name = op.op_type + "Result"
        fields = fields.replace("    _", "    field_")
        return name, "class %s(_t.NamedTuple):\n%s\n" % (name, fields)

    def define(self, name, op, results="_raw_ops."):
        parts = []
        for arg, kind, has_default, default in op.parameters():
            if not is_name(arg):
                parts = ["*args: _t.Any", "**kwargs: _t.Any"]
                break
            type_ = attr_type(kind)
            if has_default:
                if default is None:
                    type_ += " | None"
                type_ += " = " + shown(default)
            parts.append("%s: %s" % (arg, type_))
        else:
            parts.append("name: _b.str | None = None")
        result, cls = self.result(op)
        if cls:
            result = results + result
        return "def %s(%s) -> %s: ...\n" % (name, ", ".join(parts), result)


# Classes whose members have types, and the operators of these.
NODES = ("Tensor", "Operation", "Variable")
OPERATORS = [prefix + name for prefix in ("", "r") for name in (
    "add sub mul truediv floordiv mod pow matmul and or xor").split()] + [
        "neg", "abs", "invert", "lt", "le", "gt", "ge"]


def native_class(name, cls):
    """A class that has members which mypy does not see in its source."""
    lines = ["class %s:\n" % name]
    operators = {"__%s__" % n for n in OPERATORS}
    for member in sorted({*vars(cls), "__array_priority__", "__repr__",
                          "__str__"}):
        if member in ("__new__", "__doc__", "__module__", "__slots__", "__init__",
                      "__eq__", "__ne__", "__hash__", "__nb_signature__",
                      "__getattr__"):
            continue
        if name in NODES and member in operators:
            unary = member in ("__neg__", "__abs__", "__invert__")
            lines.append("    def %s(self%s) -> Tensor: ...\n" % (
                member, "" if unary else ", other: _t.Any"))
        elif name == "Tensor" and member == "__getitem__":
            lines.append("    def __getitem__(self, item: _t.Any) -> Tensor: ...\n")
        else:
            type_ = MEMBERS.get(member) if name in NODES else None
            lines.append("    %s: %s\n" % (member, type_ or "_t.Any"))
    lines.append("    def __init__(self, *args: _t.Any, **kwargs: _t.Any) -> None: ...\n")
    if name in ("Message", "MapField", "RepeatedField", "Variable"):
        lines.append("    def __getattr__(self, name: _b.str) -> _t.Any: ...\n")
    return "".join(lines) + "\n"


def native_stub(native):
    text = '"""The part of the package that is written in C++."""\n'
    text += "import builtins as _b\nimport typing as _t\n\n" + MEMBER_TYPES + "\n"
    for name, value in sorted(vars(native).items()):
        if name.startswith("__") or not is_name(name):
            continue
        if isinstance(value, type):
            text += native_class(name, value)
        elif callable(value):
            text += "def %s(*args: _t.Any, **kwargs: _t.Any) -> _t.Any: ...\n" % name
        else:
            text += "%s: _t.Any\n" % name
    return text


def variable_stub(base):
    """Variables: their operators are those of tensors."""
    text = '"""%s"""\nimport builtins as _b\nimport typing as _t\n\n' % (
        inspect.getdoc(base).partition("\n")[0])
    text += "from headrace._headrace import Operation, Tensor\n" + MEMBER_TYPES + "\n"
    text += native_class("Variable", base.Variable)
    return text + "def __getattr__(name: _b.str) -> _t.Any: ...\n"


def messages_stub(messages, names):
    """Classes of messages with their fields."""
    text = '"""Protobuf messages."""\nimport builtins as _b\nimport typing as _t\n\n'
    text += "from headrace._headrace import Message as Message\n\n"
    for name in sorted(names):
        cls = getattr(messages, name)
        text += "class %s(Message):\n" % name
        numbers = [n for n in dir(cls) if n.endswith("_FIELD_NUMBER")]
        instance = cls()
        fields = {n[:-len("_FIELD_NUMBER")].lower() for n in numbers}
        for field in sorted(fields):
            if not is_name(field):
                continue
            value = getattr(instance, field, None)
            kind = type(value).__name__
            kind = "_b." + kind if kind in ("bool", "int", "float", "str",
                                            "bytes") else "_t.Any"
            text += "    %s: %s\n" % (field, kind)
        for constant in sorted(set(dir(cls)) - set(numbers)):
            value = getattr(cls, constant, None)
            if is_name(constant) and constant not in fields and type(value) is int:
                text += "    %s: _b.int\n" % constant
        text += "    def __init__(self, **kwargs: _t.Any) -> None: ...\n\n"
    text += "def from_text(text: _b.str | _b.bytes, message: _t.Any) -> _t.Any: ...\n"
    text += "def __getattr__(name: _b.str) -> _t.Any: ...\n"
    return text


def raw_ops_stub(raw_ops, ops):
    text = HEAD % "Every op of the registry as a function." + NATIVE + "\n"
    body = ""
    for name in dir(raw_ops):
        op = getattr(raw_ops, name)
        _, cls = ops.result(op)
        text += cls
        body += ops.define(name, op, results="")
    return text + body


def space_stub(space, module, table, spaces, ops):
    """The stub of a namespace."""
    title = "tf.%s." % space if space else "A dataflow runtime with the interface of TensorFlow 1.x."
    text = HEAD % title + NATIVE
    prefix = space + "." if space else ""
    inner = sorted(s[len(prefix):] for s in spaces
                   if s and s.startswith(prefix) and "." not in s[len(prefix):])
    imports, body = [], []
    own = "headrace" + ("." + space if space else "")
    for child in inner:
        imports.append("from %s import %s as %s\n" % (own, child, child))
    if not space:
        imports.append("from headrace import raw_ops as raw_ops\n")
    if space == "compat":
        imports.append("import headrace as _headrace_package\nfrom headrace.compat import v1 as v1, v2 as v2\n")
        body.append("def install(removed_names: _b.bool = True) -> None: ...\n")
    results = False
    for name, (home, original) in sorted(table.items()):
        value = getattr(module, name)
        if type(value).__name__ == "OpFunction":
            line = ops.define(name, value)
            results |= "_raw_ops." in line
            body.append(line)
        elif inspect.isfunction(value):
            if name not in ("install",) or space != "compat":
                body.append(function(name, value, "%s:%s" % (home, original)))
        elif type(value).__name__ == "DType":
            body.append("%s: _DType\n" % name)
        elif type(value) in (bool, int, float, str):
            body.append("%s: _b.%s\n" % (name, type(value).__name__))
        else:
            source = "headrace." + ("" if home == "_headrace" else "_src.") + home
            imports.append("from %s import %s as %s\n" % (source, original, name))
    if results:
        imports.append("from headrace import raw_ops as _raw_ops\n")
    if space in ("compat.v2", "compat.v2.compat"):
        imports.append("from headrace import raw_ops as raw_ops\n" if space == "compat.v2"
                       else "from headrace.compat import v1 as v1\n")
    if not space or space == "compat.v2":
        body.append("__version__: _b.str\n")
    return text + "".join(imports) + "\n" + "".join(body)


def write(folder):
    """Writes all stubs; returns their paths."""
    import headrace
    from headrace import _api, _names, _second_api, raw_ops
    from headrace import _headrace as native
    messages = importlib.import_module("headrace._src.framework.messages")
    ops = Ops(native, messages)
    folder = pathlib.Path(folder)
    written = []

    def save(path, text):
        path = folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        written.append(path)

    names = {original for space in _api.NAMES
             for home, original in _names.table(space).values()
             if home == "framework.messages" and original[:1].isupper()
             and original != "Message"}
    save("_typing.pyi", TYPING)
    save("_headrace.pyi", native_stub(native))
    save("raw_ops.pyi", raw_ops_stub(raw_ops, ops))
    save("_src/variables/base.pyi", variable_stub(
        importlib.import_module("headrace._src.variables.base")))
    save("_src/framework/messages.pyi", messages_stub(messages, names))
    spaces = sorted([*_api.NAMES, *_second_api.spaces()])
    for space in spaces:
        module = headrace
        for part in space.split(".") if space else ():
            module = getattr(module, part)
        save("/".join([*space.split("."), "__init__.pyi"]).lstrip("/"),
             space_stub(space, module, _names.table(space), spaces, ops))
    save("compat/v1.pyi", "from headrace import *\n")
    return written


def main():
    written = write(sys.argv[1])
    print("%d stubs, %.1f MB" % (
        len(written), sum(p.stat().st_size for p in written) / 1e6))


if __name__ == "__main__":
    main()
