"""tensorflow.python.framework.op_def_registry: the definitions of all ops."""
from headrace import _headrace

_registered: dict = {}


def get_registered_ops():
    """{name of an op: its OpDef}, with the ops of the libraries that were
    loaded. It is the same dict each time, and programs may add to it."""
    for name in _headrace.op_names():
        if name not in _registered:
            _registered[name] = _headrace.op_def(name)
    return _registered


def register_op_list(op_list):
    """Adds the definitions of an OpList. ValueError for an op that is there
    with another definition."""
    ops = get_registered_ops()
    for op in op_list.op:
        if ops.setdefault(op.name, op) != op:
            raise ValueError("op %s is registered with another definition"
                             % op.name)
