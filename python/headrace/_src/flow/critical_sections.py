"""CriticalSection: functions of which only one runs at a time."""
import collections
import threading

from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import graph as _graph
from headrace._src.framework import dtypes, nest
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array

# Collections: of CriticalSections, and of Executions.
CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"

_ENTERED = ("The function fn attempts to directly access the CriticalSection in "
            "which it would be running.  This is illegal and would cause "
            "deadlocks.")

# What a call of `execute` made: its lock's operation, the handle of the critical
# section, the resources that the function uses, and whether for itself.
Execution = collections.namedtuple(
    "Execution", "op handle resources exclusive_resource_access")


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
        _graph.add_to_collection(CRITICAL_SECTIONS, self)

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` returns, computed while the lock is held.

        Args:
          fn: a function that adds nodes.
          exclusive_resource_access: no other critical section may use the
            resources that fn's nodes use.
          name: of the scope.

        Raises:
          ValueError: fn enters this critical section again, or uses resources
            of another one and one of the two wants them for itself.
        """
        if getattr(self._local, "inside", False):
            raise ValueError(_ENTERED)
        graph = _graph.get_default_graph()
        with _graph.name_scope(name, "critical_section_execute", []):
            lock = _raw.MutexLock(self._handle)
            before = len(graph.get_operations())
            self._local.inside = True
            try:
                with _graph.control_dependencies([lock]):
                    result = fn()
            finally:
                self._local.inside = False
            made = graph.get_operations()[before:]
            _after_inputs_of(made, lock.op)
            used = self._resources_of(made)
            self._check_resources(used, exclusive_resource_access)
            leaves = [x for x in nest.flatten(result) if x is not None]
            operations = [x for x in leaves if isinstance(x, _graph.Operation)]
            tensors = [convert_to_tensor(x) for x in leaves
                       if not isinstance(x, _graph.Operation)]
            # The lock goes when all is done.
            with _graph.control_dependencies(operations + tensors):
                ensure = _raw.ConsumeMutexLock(lock)
            _graph.add_to_collection(CRITICAL_SECTION_EXECUTIONS, Execution(
                lock.op, self._handle, used, exclusive_resource_access))
            with _graph.control_dependencies([ensure]):
                done = iter([_array.identity(t) for t in tensors])
                if isinstance(result, _graph.Operation):
                    return _flow.group(result, ensure)
                if result is None:
                    return _array.no_op()
                return nest.map_structure(
                    lambda x: x if x is None or isinstance(x, _graph.Operation)
                    else next(done), result)

    def _is_handle(self, x):
        """Whether a resource is the lock of this critical section."""
        own, other = self._handle.op, x.op
        return (other.type == own.type
                and other.get_attr("shared_name") == own.get_attr("shared_name")
                and (other.device == own.device
                     or other.colocation_groups() == own.colocation_groups()))

    def _resources_of(self, operations):
        found = []
        for op in operations:
            for x in op.inputs:
                if x.dtype == dtypes.resource and not any(
                        x is f for f in found):
                    found.append(x)
        if any(self._is_handle(x) for x in found):
            raise ValueError(_ENTERED)
        return found

    def _check_resources(self, used, exclusive):
        for other in _graph.get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_handle(other.handle) or not (
                    exclusive or other.exclusive_resource_access):
                continue
            shared = [x for x in used if any(x is o for o in other.resources)]
            if shared:
                raise ValueError(
                    "This execution would access resources: %s.  Either this "
                    "lock (CriticalSection: %s) or lock '%s' (CriticalSection: "
                    "%s) requested exclusive resource access of this resource.  "
                    "Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?"
                    % (shared, self._handle, other, other.handle))


def _after_inputs_of(operations, lock):
    """Lets the lock wait for what the operations take from outside: that may
    need the same lock."""
    own = {op.name for op in operations} | {lock.name}
    outside = {}
    for op in operations:
        for x in [t.op for t in op.inputs] + list(op.control_inputs):
            if x.name not in own:
                outside[x.name] = x
    for x in [t.op for t in lock.inputs] + list(lock.control_inputs):
        outside.pop(x.name, None)
    if outside:
        lock._add_control_input(_flow.group(*outside.values()))
