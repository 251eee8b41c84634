"""Libraries of ops and kernels: tf.load_op_library and tf.load_library."""
import ctypes
import hashlib
import os
import re
import sys
import types

from headrace import _headrace, raw_ops
from headrace._src.framework import errors, messages
from headrace._src.platform import sysconfig


def _with_c_api():
    """Loads the C API, which libraries with kernels in C need, from the package:
    the loader then takes it for theirs, by its name."""
    for name in "libtensorflow.so.2", "libtensorflow_framework.so.2":
        path = os.path.join(sysconfig.get_lib(), name)
        if os.path.exists(path):
            ctypes.CDLL(path)


def _python_name(op):
    """zero_out of ZeroOut."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^>])(?=[A-Z][a-z])|>", "_",
                  op).lower()


def load_op_library(library_filename):
    """Loads a library and returns a module with a function for each of its ops:
    `zero_out` of ZeroOut, and the same function as ZeroOut. OP_LIST has the ops'
    definitions. A library that was loaded before gives the same module.

    Raises errors.NotFoundError if the file cannot be loaded, and
    errors.AlreadyExistsError if one of its ops has the name of another op.
    """
    path = os.fspath(library_filename)
    _with_c_api()
    ops = _headrace.load_library(path)
    # As in TensorFlow, by the text that says what is in the module.
    name = hashlib.sha256("\n".join([path] + ops).encode()).hexdigest()
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name, "The ops of %s: %s." % (
        path, ", ".join(ops) or "none"))
    module.OP_LIST = messages.OpList()
    for op in ops:
        function = getattr(raw_ops, op)
        setattr(module, op, function)
        setattr(module, _python_name(op), function)
        module.OP_LIST.op.append(_headrace.op_def(op))
    sys.modules[name] = module
    return module


def load_library(library_location):
    """Loads a library, or all libraries in a folder (files that end in .so)."""
    location = os.fspath(library_location)
    if os.path.isdir(location):
        files = [os.path.join(location, f) for f in sorted(os.listdir(location))
                 if f.endswith(".so")]
    elif os.path.exists(location):
        files = [location]
    else:
        raise errors.make(
            errors.NOT_FOUND,
            "The file or folder to load kernel libraries from does not exist: "
            "%s" % location, None)
    _with_c_api()
    for path in files:
        _headrace.load_library(path)


def load_file_system_library(library_filename):
    """Loads a library. It cannot add file systems: files are the system's."""
    load_library(library_filename)
