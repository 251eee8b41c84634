"""Calls a function once for each replica, so that all calls reach their merges
together.

Each call has a thread of its own, but only one of them or the thread that waits
for them runs at a time: they build one graph. The graph's blocks (devices,
control inputs, branches) are those of the thread that runs."""
import contextlib
import re
import threading

from headrace._src.distribute.strategy import ReplicaContext
from headrace._src.distribute.values import regroup, select_replica
from headrace._src.framework.graph import (
    control_dependencies, device, get_default_graph, name_scope)
from headrace._src.framework.tensor import constant
from headrace._src.variables.base import variable_creator_scope
from headrace._src.variables.scopes import get_variable_scope, variable_scope

_BLOCKS = ("_device_stack", "_colocation", "_colocated_device",
           "_flow_context", "_attr_scopes", "_original", "_variable_creators")


class _Blocks:
    """The blocks of a graph in which a thread is, taken from the graph until
    the thread goes on."""

    def __init__(self, graph):
        self._graph = graph
        self.waits = graph._control_dependencies_for_inputs([])
        self._control = graph._suspend_control()
        self._values = {name: getattr(graph, name) for name in _BLOCKS}

    def enter(self):
        """The thread goes on."""
        self._graph._suspend_control()
        self._graph._resume_control(self._control)
        self._set(self._values)

    def enter_copy(self):
        """Another thread begins in the same blocks."""
        self._graph._suspend_control()
        if self.waits:
            self._graph._push_control(self.waits)
        # The list of the devices is the only one that is changed in place.
        self._set(dict(self._values,
                       _device_stack=list(self._values["_device_stack"])))

    def _set(self, values):
        for name, value in values.items():
            setattr(self._graph, name, value)
        self._graph._merge_device_stack()


class _Stopped(BaseException):
    """Ends a replica because another failed."""


class _Context(ReplicaContext):
    """A replica that runs in a thread."""

    def __init__(self, strategy, number, replica):
        super().__init__(strategy, number)
        self._replica = replica

    def _merge_call(self, merge_fn, args, kwargs):
        replica = self._replica
        graph = replica.graph
        if get_default_graph() is not graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a "
                "tf.function: the function of the replica is in one graph, the "
                "call in another. Make the function that calls "
                "experimental_run_v2 the tf.function, not the replica's")
        scope = graph.get_name_scope()
        replica.merge = merge_fn, args, kwargs
        replica.name_scope = scope + "/" if scope else ""
        replica.variable_scope = get_variable_scope()
        replica.pause()
        return replica.merged


_NUMBER = re.compile(r"_\d(/|$)")


def _canonical_name(name):
    """A variable's name without the numbers that made its parts unique."""
    return "Variable" if name is None else _NUMBER.sub(r"\1", name)


def _sharing(made, number):
    """A creator: replica 0 makes variables, the others find them by name and
    order."""
    found = {}

    def create(next_creator, **options):
        name = _canonical_name(options.get("name"))
        if number == 0:
            variable = next_creator(**options)
            made.setdefault(name, []).append(variable)
            return variable
        index = found.get(name, 0)
        found[name] = index + 1
        if index >= len(made.get(name, ())):
            raise RuntimeError("Tried to create variable %s with mismatching "
                               "name on device %d" % (options.get("name"),
                                                      number))
        return made[name][index]
    return create


class _Replica(threading.Thread):
    """One call, in a thread that runs when it is told to."""

    def __init__(self, strategy, number, where, creator, fn, args, kwargs):
        super().__init__(daemon=True)
        self._strategy = strategy
        self._number = number
        self._where = where
        self._creator = creator
        self._call = fn, args, kwargs
        self._go = threading.Event()
        self._paused = threading.Event()
        self._is_stopped = False
        self._blocks = None
        self.graph = get_default_graph()
        scope = self.graph.get_name_scope()
        scope = scope + "/" if scope else ""
        self._scope = scope + "replica_%d/" % number if number else scope
        self._variables = get_variable_scope()
        self.done = False
        self.error = self.result = self.merged = None

    def step(self, around):
        """Lets the call go on to its next merge or its end."""
        if self._blocks is None:
            around.enter_copy()
        else:
            self._blocks.enter()
        self._go.set()
        self._paused.wait()
        self._paused.clear()
        self._blocks = _Blocks(self.graph)

    def stop(self):
        """Ends the call where it is."""
        if self.is_alive() and not self.done:
            self._is_stopped = True
            if self._blocks is not None:
                self._blocks.enter()
            self._go.set()
        self.join()

    waits = property(lambda self: self._blocks.waits)

    def pause(self):
        """Of this thread: waits for the next step."""
        self._paused.set()
        self._go.wait()
        self._go.clear()
        if self._is_stopped:
            raise _Stopped()

    def run(self):
        self._go.wait()
        self._go.clear()
        try:
            if not self._is_stopped:
                self._run()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self._paused.set()

    def _run(self):
        fn, args, kwargs = self._call
        graphs = [self.graph]
        while graphs[0]._captures:
            graphs.insert(0, graphs[0]._outer)
        with contextlib.ExitStack() as stack:
            for graph in graphs:
                stack.enter_context(graph.as_default())
            with device(None):
                number = constant(self._number)
            stack.enter_context(_Context(self._strategy, number, self))
            stack.enter_context(device(self._where))
            stack.enter_context(name_scope(self._scope))
            stack.enter_context(variable_scope(self._variables,
                                               reuse=self._number > 0))
            stack.enter_context(variable_creator_scope(self._creator))
            self.result = fn(*args, **kwargs)


def call_for_each_replica(strategy, devices, fn, args, kwargs):
    """What fn(*args, **kwargs) returns on each device, regrouped. RuntimeError
    if one call merges less often than another; what a call raises goes
    through."""
    made = {}
    graph = get_default_graph()
    replicas = [_Replica(strategy, i, where, _sharing(made, i), fn,
                         select_replica(i, tuple(args)),
                         select_replica(i, dict(kwargs)))
                for i, where in enumerate(devices)]
    for replica in replicas:
        replica.start()
    around = _Blocks(graph)
    try:
        while True:
            for replica in replicas:
                replica.step(around)
                if replica.error is not None:
                    raise replica.error
            if all(r.done for r in replicas):
                break
            if any(r.done for r in replicas):
                raise RuntimeError("Some replicas made a different number of "
                                   "replica_context().merge_call() calls.")
            around.enter()
            try:
                _merge(strategy, devices, replicas)
            finally:
                around = _Blocks(graph)
    finally:
        for replica in replicas:
            replica.stop()
        around.enter()
    return regroup(devices, [r.result for r in replicas])


def _merge(strategy, devices, replicas):
    merge_fn = replicas[0].merge[0]
    args = regroup(devices, [tuple(r.merge[1]) for r in replicas])
    kwargs = regroup(devices, [dict(r.merge[2]) for r in replicas])
    waits = list(dict.fromkeys(op for r in replicas for op in r.waits))
    with name_scope(replicas[0].name_scope or None, ""), \
            control_dependencies(waits), \
            variable_scope(replicas[0].variable_scope):
        result = merge_fn(strategy, *args, **kwargs)
    for i, replica in enumerate(replicas):
        replica.merged = select_replica(i, result)


