"""Values that each replica of a strategy has its own of, and variables whose
copies on several devices a program uses as one."""
import contextlib
import weakref

from headrace._headrace import Tensor
from headrace._src.control.control_flow_ops import group
from headrace._src.distribute.devices import canonical, current_device
from headrace._src.distribute.strategy import (
    ReduceOp, get_replica_context, get_strategy, get_update_device,
    has_strategy, in_cross_replica_context)
from headrace._src.framework import nest
from headrace._src.framework.graph import control_dependencies, device
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor import constant_value
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables import saveables as _saveables
from headrace._src.variables.base import Variable
from headrace._src.variables.records import VariableAggregation
from headrace._src.variables.strategies import container_of


def replica_number(context):
    """The number of the replica that runs."""
    number = context.replica_id_in_sync_group
    if isinstance(number, int):
        return number
    number = constant_value(number)
    return 0 if number is None else int(number)


class DistributedValues:
    """One value on each of `devices`."""

    def __init__(self, devices, values):
        self._devices = tuple(devices)
        self._values = tuple(values)

    devices = property(lambda self: self._devices)
    values = property(lambda self: self._values)
    primary = property(lambda self: self._values[0])

    @property
    def is_tensor_like(self):
        return all(is_tensor(v) for v in self._values)

    def _on(self, name):
        """The value on a device, or None."""
        name = canonical(name)
        if name in self._devices:
            return self._values[self._devices.index(name)]
        return None

    def get(self, device=None):
        """The value of the replica that runs, or that on `device`. ValueError
        for a device without one."""
        if device is None:
            context = get_replica_context()
            if context is not None:
                return self._of_replica(context)
            device = get_update_device()
            if device is None:
                return self._get_cross_replica()
        found = self._on(device)
        if found is None:
            raise ValueError("Device %s not found in %s (current device %s)"
                             % (canonical(device), self._devices,
                                current_device()))
        return found

    def _of_replica(self, context):
        return self._values[min(replica_number(context),
                                len(self._values) - 1)]

    def _get_cross_replica(self):
        raise ValueError("%s has no value between replicas; use "
                         "strategy.experimental_local_results or reduce"
                         % type(self).__name__)

    def __repr__(self):
        return "%s:{\n%s\n}" % (type(self).__name__, ",\n".join(
            "  %d %s: %r" % (i, d, v) for i, (d, v) in enumerate(
                zip(self._devices, self._values))))


class ReplicaDeviceMap(tuple):
    """The devices of replicas, one each, as TensorFlow's classes of values are
    made with."""

    all_devices = property(tuple)
    num_logical_devices = 1
    num_replicas_in_graph = property(len)
    devices_by_replica = property(lambda self: [(d,) for d in self])

    def logical_device_from_values(self, values):
        return 0

    def logical_to_actual_devices(self, logical_device):
        return tuple(self)

    def replica_for_device(self, device):
        """The number of the replica on a device. ValueError for another
        device."""
        return self.index(device)


class PerReplica(DistributedValues):
    """Values that differ."""

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        raise ValueError(
            "a PerReplica is no tensor: use strategy.experimental_local_results"
            " or strategy.reduce. Got %r" % self)


class _Delegate(DistributedValues):
    """Is used as the value of the place where the program is."""

    def __getattr__(self, name):
        if name in ("_values", "_devices") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.get(), name)


def _install_operators():
    def forward(method):
        def operator(self, *args):
            return getattr(self.get(), method)(*args)
        return operator
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
                 "matmul", "and", "or", "xor"):
        for prefix in ("", "r"):
            setattr(_Delegate, "__%s%s__" % (prefix, name),
                    forward("__%s%s__" % (prefix, name)))
    for name in ("lt", "le", "gt", "ge", "neg", "abs", "invert", "getitem"):
        setattr(_Delegate, "__%s__" % name, forward("__%s__" % name))


_install_operators()


class Mirrored(_Delegate):
    """Values that are equal."""

    def _get_cross_replica(self):
        found = self._on(current_device())
        return self.primary if found is None else found

    def _as_graph_element(self):
        value = self.get()
        if hasattr(value, "_as_graph_element"):
            return value._as_graph_element()
        return value

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        return convert_to_tensor(self.get(), dtype=dtype, name=name)


def is_tensor(value):
    return isinstance(value, (Tensor, Variable, IndexedSlices)) or (
        isinstance(value, Mirrored) and value.is_tensor_like)


@contextlib.contextmanager
def _in_scope(strategy):
    """The strategy's scope holds. RuntimeError if another one's does."""
    if not has_strategy():
        with strategy.scope():
            yield
        return
    if get_strategy() is not strategy:
        raise RuntimeError(
            "Mixing different tf.distribute.Strategy objects: %s is not %s"
            % (get_strategy(), strategy))
    yield


class _Node:
    """What of a variable's op is the same on all devices."""

    def __init__(self, op):
        self.name, self.graph, self.type = op.name, op.graph, op.type


class DistributedVariable(Variable):
    """Variables of several devices, used as one: in a replica as that of its
    device."""

    _is_resource = True

    def __init__(self, strategy, devices, values, aggregation):
        self._strategy = strategy
        self._devices = tuple(devices)
        self._values = tuple(values)
        self._aggregation = aggregation
        self._initializer_op = None
        self._common_name = self.primary.op.name
        for v in self._values:
            v._distributed_container = weakref.ref(self)

    devices = DistributedValues.devices
    values = DistributedValues.values
    primary = DistributedValues.primary
    get = DistributedValues.get
    _on = DistributedValues._on
    _of_replica = DistributedValues._of_replica
    __repr__ = DistributedValues.__repr__
    is_tensor_like = True

    def __getattr__(self, name):
        if name in ("_values", "_devices") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.get(), name)

    distribute_strategy = property(lambda self: self._strategy)
    _distribute_strategy = property(lambda self: self._strategy)

    name = property(lambda self: self.primary.name)
    dtype = property(lambda self: self.primary.dtype)
    graph = property(lambda self: self.primary.graph)
    trainable = property(lambda self: self.primary.trainable)
    constraint = property(lambda self: self.primary.constraint)
    synchronization = property(lambda self: self.primary.synchronization)
    aggregation = property(lambda self: self._aggregation)
    device = property(lambda self: self._closest().device)
    initial_value = property(lambda self: self._closest().initial_value)
    _shared_name = property(lambda self: self._common_name)
    _node = property(lambda self: self.primary._node)
    _snapshot = property(lambda self: self._closest()._snapshot)
    _save_slice_info = property(lambda self: self.primary._save_slice_info)

    def get_shape(self):
        return self.primary.get_shape()

    @property
    def op(self):
        """The variable's node of the replica that runs; between replicas its
        name, graph and type."""
        if in_cross_replica_context():
            return _Node(self.primary.op)
        return self.get().op

    @property
    def handle(self):
        """The handle of the device where the program is. ValueError between
        replicas."""
        where = None
        if get_replica_context() is None:
            where = get_update_device()
            if where is None:
                raise ValueError(
                    "`handle` is not available outside the replica context or "
                    "a `tf.distribute.Strategy.update()` call.")
        return self.get(device=where).handle

    @property
    def initializer(self):
        """The operation that initialises the variable on all devices."""
        if self._initializer_op is not None:
            return self._initializer_op
        return group(*[v.initializer for v in self._values])

    def _closest(self):
        """The variable of the replica that runs or of the device around, else
        the first."""
        context = get_replica_context()
        if context is not None:
            return self._of_replica(context)
        found = self._on(get_update_device() or current_device())
        return self.primary if found is None else found

    def is_initialized(self, name=None):
        result = self.primary.is_initialized()
        for v in self._values[1:-1]:
            result = _math.logical_and(result, v.is_initialized())
        return _math.logical_and(
            result, self._values[-1].is_initialized(), name=name)

    def _initialized(self):
        return self.is_initialized()

    def initialized_value(self):
        return self._closest().initialized_value()

    def eval(self, session=None):
        return self._closest().eval(session)

    def load(self, value, session=None):
        for v in self._values:
            v.load(value, session)

    def value(self):
        return self._closest().value()

    def read_value(self):
        with _in_scope(self._strategy):
            return _array.identity(self.get())

    def _get_save_slice_info(self):
        return self.primary._get_save_slice_info()

    def _set_save_slice_info(self, info):
        for v in self._values:
            v._set_save_slice_info(info)

    def to_proto(self, export_scope=None):
        return self.primary.to_proto(export_scope)

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        return convert_to_tensor(self.get(), dtype=dtype, name=name)

    def sparse_read(self, indices, name=None):
        return self.get().sparse_read(indices, name)

    def gather_nd(self, indices, name=None):
        return self.get().gather_nd(indices, name)

    def assign(self, *args, **kwargs):
        return self._assigned("assign", *args, **kwargs)

    def assign_add(self, *args, **kwargs):
        return self._assigned("assign_add", *args, **kwargs)

    def assign_sub(self, *args, **kwargs):
        return self._assigned("assign_sub", *args, **kwargs)


def _no_aggregation(kind):
    return ValueError(
        "You must specify an aggregation method to update a %s in Replica "
        "Context. You can do so by passing an explicit value for argument "
        "`aggregation` to tf.Variable(..).e.g. `tf.Variable(..., "
        "aggregation=tf.VariableAggregation.SUM)`. Or update it between "
        "replicas: `tf.distribute.get_replica_context().merge_call(merge_fn)`, "
        "and `strategy.extended.update()` in merge_fn." % kind)


def aggregated(strategy, value, aggregation, destinations):
    """`value` of all replicas as the variable's aggregation has it."""
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return strategy.extended.broadcast_to(
            strategy.experimental_local_results(value)[0], destinations)
    return strategy.extended.reduce_to(
        ReduceOp.from_variable_aggregation(aggregation), value, destinations)


def assigned_in_all(variable, strategy, aggregation, kind, method, of_device,
                    args, kwargs):
    """Calls variable.METHOD(*args, **kwargs) on all devices: between replicas
    with these arguments, in a replica with what the replicas' are together."""
    def change(v, *args, **kwargs):
        return getattr(v, method)(*args, **kwargs)

    def merged(strategy, value, *args, **kwargs):
        value = aggregated(strategy, value, aggregation, variable)
        return strategy.extended.update(variable, change, (value,) + args,
                                        kwargs)
    with _in_scope(strategy):
        if not in_cross_replica_context():
            if aggregation is VariableAggregation.NONE:
                raise _no_aggregation(kind)
            return get_replica_context().merge_call(merged, args, kwargs)
        where = get_update_device()
        if where is not None:
            return change(of_device(where), *args, **kwargs)
        return strategy.extended.update(variable, change, args, kwargs)


class _MirroredSaveable(_saveables._ResourceVariable):
    def __init__(self, variable, name):
        super().__init__(variable.primary, "", name)
        self._variable = variable

    def restore(self, restored_tensors, restored_shapes):
        done = []
        for v in self._variable.values:
            with device(v.device):
                done.append(v.assign(restored_tensors[0]))
        return group(*done)


class MirroredVariable(DistributedVariable):
    """Its copies have equal values: what changes one changes all."""

    def _assigned(self, method, *args, **kwargs):
        return assigned_in_all(self, self._strategy, self._aggregation,
                               "MirroredVariable", method, self.get, args,
                               kwargs)

    def _get_cross_replica(self):
        found = self._on(current_device())
        return _array.identity(self.primary if found is None else found)

    def _as_graph_element(self):
        if in_cross_replica_context():
            return self.primary._as_graph_element()
        return self.get()._as_graph_element()

    def _saveable(self, name):
        return _MirroredSaveable(self, name)


class _SyncOnReadSaveable(_saveables.SaveableObject):
    def __init__(self, variable, name):
        def read():
            return variable._strategy.extended.read_var(variable)
        super().__init__(read, [_saveables.SaveSpec(
            read, "", name, variable.dtype, variable.primary.device)], name)
        self._variable = variable

    def restore(self, restored_tensors, restored_shapes):
        return self._variable.assign(restored_tensors[0])


class SyncOnReadVariable(DistributedVariable):
    """Each replica changes its own copy. What reads the variable between
    replicas gets their sum, mean or the first, as its aggregation says."""

    def _assigned(self, method, *args, **kwargs):
        with _in_scope(self._strategy):
            if not in_cross_replica_context():
                return getattr(self.get(), method)(*args, **kwargs)
            value = args[0]
            if self._aggregation is VariableAggregation.SUM:
                if method != "assign":
                    raise ValueError(
                        "SyncOnReadVariable does not support `%s` in "
                        "cross-replica context when aggregation is set to "
                        "`tf.VariableAggregation.SUM`." % method)
                # So that the sum is what was assigned.
                value *= 1. / self._strategy.num_replicas_in_sync
            done = []
            for v in self._values:
                with device(v.device):
                    done.append(getattr(v, method)(value))
            return group(*done)

    def _get_cross_replica(self):
        if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary
        with _in_scope(self._strategy):
            return self._strategy.reduce(ReduceOp.from_variable_aggregation(
                self._aggregation), self)

    def _as_graph_element(self):
        if in_cross_replica_context():
            return self._get_cross_replica()
        return self.get()._as_graph_element()

    def _saveable(self, name):
        return _SyncOnReadSaveable(self, name)


class AggregatingVariable(DistributedVariable):
    """One variable that all replicas use: what they assign is first reduced as
    its aggregation says."""

    def __init__(self, strategy, variable, aggregation):
        super().__init__(strategy, (variable.device,), (variable,),
                         aggregation)

    def get(self, device=None):
        return self.primary

    op = property(lambda self: self.primary.op)
    handle = property(lambda self: self.primary.handle)
    device = property(lambda self: self.primary.device)
    initializer = property(lambda self: self.primary.initializer)
    __repr__ = Variable.__repr__

    def _closest(self):
        return self.primary

    def is_initialized(self, name=None):
        return self.primary.is_initialized(name)

    def read_value(self):
        return self.primary.read_value()

    def _assigned(self, method, *args, **kwargs):
        return assigned_in_all(self, self._strategy, self._aggregation,
                               "AggregatingVariable", method, self.get, args,
                               kwargs)

    def _as_graph_element(self):
        return self.primary._as_graph_element()

    def _saveable(self, name):
        return _saveables.saveable_of(self.primary, "", name)


def is_distributed(value):
    """Whether each replica may have its own of `value`."""
    return isinstance(value, (DistributedValues, DistributedVariable)) and (
        not isinstance(value, AggregatingVariable))


def value_container(value):
    """The distributed variable that `value` is a part of, else `value`."""
    found = container_of(value)
    return value if found is None else found


def regroup(devices, values, wrap_class=PerReplica):
    """From a structure in each replica to one structure, whose leaves have the
    values of all."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        parts = [regroup(devices, [v[i] for v in values], wrap_class)
                 for i in range(len(first))]
        if any(len(v) != len(first) for v in values):
            raise AssertionError(
                "replicas have lists of different lengths: %s"
                % [len(v) for v in values])
        if isinstance(first, list):
            return parts
        return (type(first)._make(parts) if hasattr(first, "_make")
                else tuple(parts))
    if isinstance(first, dict):
        if any(set(v) != set(first) for v in values):
            raise AssertionError("replicas have dicts of different keys: %s"
                                 % [sorted(v) for v in values])
        return {key: regroup(devices, [v[key] for v in values], wrap_class)
                for key in first}
    container = container_of(first)
    if container is None and all(v is first for v in values):
        return first
    if container is not None:
        if any(container_of(v) is not container for v in values):
            raise AssertionError("replicas have parts of different variables: "
                                 "%s" % (values,))
        return container
    return wrap_class(devices, values)


def select_replica(number, structure):
    """What replica `number` has of a structure."""
    return nest.map_structure(
        lambda x: x.values[number] if is_distributed(x) else x, structure)


def select_device(name, structure):
    """What a device has of a structure of values that are equal on all.
    TypeError for others."""
    def get(x):
        if not is_distributed(x):
            return x
        if not isinstance(x, (Mirrored, MirroredVariable)):
            raise TypeError("Expected value to be mirrored across replicas: "
                            "%s in %s." % (x, structure))
        return x.get(name)
    return nest.map_structure(get, structure)


def regroup_updates(extended, devices, updates, is_grouped):
    """The results of an update on each device as one. With `is_grouped`, what
    uses the result waits for all devices."""
    if not is_grouped:
        return nest.map_structure(extended._local_results,
                                  regroup(devices, updates, Mirrored))

    def wrap(devices, values):
        if len(values) == 1:
            return Mirrored(devices, values)
        done = group(*values)
        if not all(is_tensor(v) for v in values):
            return done
        after = []
        for name, v in zip(devices, values):
            with device(name), control_dependencies([done]):
                after.append(_array.identity(v))
        return Mirrored(devices, after)
    return regroup(devices, updates, wrap)
