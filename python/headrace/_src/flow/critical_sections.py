"""CriticalSection: functions of which only one runs at a time."""
import threading

from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array


class CriticalSection:
    """Functions whose nodes no two runs execute at the same time."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None,
                 import_scope=None):
        if critical_section_def is not None or import_scope is not None:
            raise ValueError("critical_section_def is not supported")
        with _graph.name_scope(name, "CriticalSection", []) as scope:
            with _graph.control_dependencies(None):
                self._handle = _raw.MutexV2(
                    shared_name=shared_name or scope.rstrip("/"), name=scope)
        self._local = threading.local()

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` returns, computed while the lock is held."""
        if getattr(self._local, "inside", False):
            raise ValueError("Attempting to lock a CriticalSection in which we "
                             "are already running")
        with _graph.name_scope(name, "critical_section_execute", []):
            lock = _raw.MutexLock(self._handle)
            self._local.inside = True
            try:
                with _graph.control_dependencies([lock]):
                    result = fn()
            finally:
                self._local.inside = False
            leaves = [x for x in nest.flatten(result) if x is not None]
            operations = [x for x in leaves if isinstance(x, _graph.Operation)]
            tensors = [convert_to_tensor(x) for x in leaves
                       if not isinstance(x, _graph.Operation)]
            # The lock goes when all is done.
            with _graph.control_dependencies(operations + tensors):
                ensure = _raw.ConsumeMutexLock(lock)
            with _graph.control_dependencies([ensure]):
                done = iter([_array.identity(t) for t in tensors])
                if isinstance(result, _graph.Operation):
                    return _flow.group(result, ensure)
                if result is None:
                    return _array.no_op()
                return nest.map_structure(
                    lambda x: x if x is None or isinstance(x, _graph.Operation)
                    else next(done), result)
