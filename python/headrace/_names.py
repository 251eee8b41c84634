"""Python names of ops: softplus for Softplus, l2_loss for L2Loss, ...

Functions that TensorFlow writes by hand stand in this package's modules; every
other op of the registry is found here when its name is first asked for.
"""
import re

from headrace import raw_ops
from headrace._headrace import message_class, op_names

# Where the Python name is not the op's in snake case.
_RENAMED = {
    "matrix_inverse": "MatrixInverse", "inv": "MatrixInverse",
    "det": "MatrixDeterminant", "tensor_diag": "Diag",
    "tensor_diag_part": "DiagPart", "band_part": "MatrixBandPart",
    "set_diag": "MatrixSetDiag", "diag_part": "DiagPart",
    "sqrtm": "MatrixSquareRoot", "logm": "MatrixLogarithm",
    "parse_tensor": "ParseTensor",
}
# Parts of TensorFlow 1.x that are not there, and are said to be.
_UNSUPPORTED = re.compile(
    r"headrace\.(layers|keras|estimator|losses|metrics|distribute|distributions"
    r"|feature_column|profiler|app|flags|logging|gfile"
    r"|summary\.FileWriter(Cache)?|train\.(\w*Optimizer|Saver|Supervisor|\w*Session\w*|\w*Hook|Server"
    r"|ClusterSpec|Checkpoint\w*|Scaffold|\w*checkpoint\w*|\w*_decay"
    r"|ExponentialMovingAverage|\w*global_step\w*))")
_snake = {}


def _to_snake(name):
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def lookup(name, module):
    """The function for an op's Python name, or the class of a message, kept in
    `module` (its globals). AttributeError if there is none."""
    if name[:1].isupper():
        message = message_class(name)
        if message is not None:
            module[name] = message
            return message
    elif not name.startswith("_"):
        if not _snake:
            for op in op_names():
                if not op.startswith("_"):
                    _snake.setdefault(_to_snake(op), op)
        op = _RENAMED.get(name) or _snake.get(name)
        if op:
            function = getattr(raw_ops, op)
            module[name] = function
            return function
    full_name = "%s.%s" % (module.get("__name__"), name)
    if _UNSUPPORTED.fullmatch(full_name):
        raise AttributeError("tf%s is not supported yet"
                             % full_name[len("headrace"):])
    raise AttributeError("module %r has no attribute %r"
                         % (module.get("__name__"), name))
