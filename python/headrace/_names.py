"""Names that are found when they are first asked for.

Functions that TensorFlow writes by hand stand in this package's modules, which
are loaded when one of their names is needed: most programs need few of them.
Every other op of the registry has the Python name that it has in TensorFlow:
softplus for Softplus, l2_loss for L2Loss, ...
"""
import functools
import re

from headrace import raw_ops
from headrace._headrace import OpFunction, message_class, op_names
from headrace._loading import load

# Where the Python name is not the op's in snake case.
_RENAMED = {
    "matrix_inverse": "MatrixInverse", "inv": "MatrixInverse",
    "det": "MatrixDeterminant", "tensor_diag": "Diag",
    "tensor_diag_part": "DiagPart", "band_part": "MatrixBandPart",
    "diag_part": "DiagPart",
    "sqrtm": "MatrixSquareRoot", "logm": "MatrixLogarithm",
    "parse_tensor": "ParseTensor",
}


def _to_snake(name):
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def _op_named(name):
    """The op with this Python name, or None."""
    # Right for most; the names of the whole registry take milliseconds.
    op = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    if _to_snake(op) == name and hasattr(raw_ops, op):
        return op
    return _ops_by_python_name().get(name)


@functools.cache
def _ops_by_python_name():
    ops = {}
    for op in op_names():
        if not op.startswith("_"):
            ops.setdefault(_to_snake(op), op)
    return ops


def lookup(name, module):
    """The function for an op's Python name, or the class of a message, kept in
    `module` (its globals). AttributeError if there is none."""
    if name[:1].isupper():
        message = message_class(name)
        if message is not None:
            return module.setdefault(name, message)
    elif not name.startswith("_"):
        op = _RENAMED.get(name) or _op_named(name)
        if op:
            return module.setdefault(name, getattr(raw_ops, op))
    raise missing(module.get("__name__"), name)


def missing(module, name):
    """The AttributeError for a name that is not in `module`: it says so where
    TensorFlow 1.15 has it."""
    if not name.startswith("_"):
        interface = load("_interface")  # for those who ask for such names
        namespace = module.partition(".")[2]
        if name in interface.NAMES.get(namespace, "").split():
            return AttributeError("tf%s is not supported yet" % ".".join(
                ["", namespace, name] if namespace else ["", name]))
    return AttributeError("module %r has no attribute %r" % (module, name))


def _defined_by(module):
    """What a module defines for users; not what it imports."""
    return {n: f for n, f in vars(module).items() if not n.startswith("_")
            and (isinstance(f, OpFunction)
                 or getattr(f, "__module__", None) == module.__name__)}


def on_demand(namespace, whole="", **homes):
    """__getattr__ and __dir__ for a module with the globals `namespace`, which
    has names of other modules and then those that `lookup` finds.

    `homes`: a module, and what of it is taken, under what name, as in
    string_ops="lower join=string_join". `whole`: modules of which everything
    is taken that they define. A module is loaded when the first of its names
    is asked for, or when `dir` asks for all names of a whole one. Any thread
    may ask: a name is the same object for all."""
    table = {}
    for home, names in homes.items():
        for entry in names.split():
            name, _, original = entry.partition("=")
            table[name] = home, original or name
    whole = whole.split()

    def find(name):
        if name == "__all__":
            return [n for n in namespace["__dir__"]() if n[0] != "_"]
        if name in table:
            home, original = table[name]
            return namespace.setdefault(name, getattr(load(home), original))
        if not name.startswith("_"):
            for home in whole:
                defined = _defined_by(load(home))
                if name in defined:
                    return namespace.setdefault(name, defined[name])
        return lookup(name, namespace)

    def names():
        return sorted({*namespace, *table}.union(
            *(_defined_by(load(home)) for home in whole)))

    return find, names
