"""tensorflow.python.framework.kernels: which kernels there are, as the C API tells
it."""
import ctypes
import functools
import os

from headrace._src.framework.messages import KernelList
from headrace._src.platform.sysconfig import get_lib


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t),
                ("data_deallocator", ctypes.c_void_p)]


@functools.lru_cache(maxsize=None)
def _library():
    library = ctypes.CDLL(os.path.join(get_lib(), "libtensorflow.so.2"))
    library.TF_NewStatus.restype = ctypes.c_void_p
    library.TF_DeleteStatus.argtypes = [ctypes.c_void_p]
    library.TF_DeleteBuffer.argtypes = [ctypes.POINTER(_Buffer)]
    for function, arguments in (
            (library.TF_GetAllRegisteredKernels, []),
            (library.TF_GetRegisteredKernelsForOp, [ctypes.c_char_p])):
        function.argtypes = [*arguments, ctypes.c_void_p]
        function.restype = ctypes.POINTER(_Buffer)
    return library


def _kernels(name_of_function, *arguments):
    library = _library()
    status = library.TF_NewStatus()
    try:
        buffer = getattr(library, name_of_function)(*arguments, status)
    finally:
        library.TF_DeleteStatus(status)
    try:
        return KernelList.FromString(ctypes.string_at(
            buffer.contents.data, buffer.contents.length))
    finally:
        library.TF_DeleteBuffer(buffer)


def get_all_registered_kernels():
    """A KernelList of all kernels."""
    return _kernels("TF_GetAllRegisteredKernels")


def get_registered_kernels_for_op(name):
    """A KernelList of the kernels of one op; empty for an op that has none."""
    return _kernels("TF_GetRegisteredKernelsForOp", name.encode())
