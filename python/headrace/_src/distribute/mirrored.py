"""tf.distribute.MirroredStrategy: a replica on each of several devices, which
keep their copies of the variables equal."""
import contextlib
import copy

from headrace import raw_ops as _raw
from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.cross_device_ops import (
    CrossDeviceOps, OnDevices, ReductionToOneDevice,
    is_distributed, reduce_same)
from headrace._src.distribute.devices import canonical, current_device, host_of
from headrace._src.distribute.replicas import call_for_each_replica
from headrace._src.distribute.strategy import (
    InputContext, ReduceOp, Strategy, StrategyExtended, get_strategy,
    update_on, wrong_strategy)
from headrace._src.distribute.values import (
    DistributedVariable, Mirrored, MirroredVariable, PerReplica,
    SyncOnReadVariable, regroup_updates, select_device, value_container)
from headrace._src.framework import nest
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import (
    Graph, GraphKeys, device, get_default_graph, name_scope)
from headrace._src.framework.tensor import constant_value
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging
from headrace._src.session.session import Session
from headrace._src.training.gradients import custom_gradient
from headrace._src.variables.base import variable_creator_scope
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.scopes import get_variable_scope, variable_scope


def without_partitions(getter, *args, **kwargs):
    """A custom getter of variables that are not cut into parts."""
    if kwargs.pop("partitioner", None) is not None:
        tf_logging.warning("Partitioned variables are disabled when using "
                           "current tf.distribute.Strategy.")
    return getter(*args, **kwargs)


def checked_devices(devices):
    """Whole names of the devices of a strategy. ValueError for what is no list
    of names, AssertionError for one that is there twice."""
    if isinstance(devices, str):
        raise ValueError("devices of MirroredStrategy must be a list of names, "
                         "got %r" % devices)
    names = tuple(canonical(d) for d in devices)
    if not names:
        raise AssertionError("Must specify at least one device.")
    if len(set(names)) < len(names):
        raise AssertionError("No duplicates allowed in `devices` argument: %s"
                             % (names,))
    if len({DeviceSpec.from_string(n).job in (None, "localhost")
            for n in names}) > 1:
        raise ValueError("Local device string cannot have job specified other "
                         "than 'localhost': %s" % (names,))
    return names


def local_devices():
    """The GPUs of this process, or else its first processor."""
    with Session(graph=Graph()) as session:
        names = [d.name for d in session.list_devices()
                 if d.device_type == "GPU"]
    return ["/device:GPU:%d" % i for i in range(len(names))] or [
        "/device:CPU:0"]


class ReplicasExtended(StrategyExtended):
    """What strategies with several replicas in one process share: `_devices`
    are those of the replicas."""

    def __init__(self, strategy, devices, cross_device_ops=None):
        super().__init__(strategy)
        if not (cross_device_ops is None
                or isinstance(cross_device_ops, CrossDeviceOps)):
            raise TypeError("cross_device_ops must be a tf.distribute."
                            "CrossDeviceOps, got %r" % (cross_device_ops,))
        self._devices = devices
        self._cross_device_ops = cross_device_ops or ReductionToOneDevice()

    worker_devices = property(lambda self: self._devices)
    worker_devices_by_replica = property(
        lambda self: [(d,) for d in self._devices])
    _host = property(lambda self: host_of(self._devices[0]))

    def _num_replicas_in_sync(self):
        return len(self._devices)

    def _devices_of_replica(self, number):
        if not isinstance(number, int):
            number = int(constant_value(number))
        return (self._devices[number],)

    @contextlib.contextmanager
    def _scope(self):
        def create(next_creator, **options):
            if get_strategy() is not self._strategy:
                raise wrong_strategy(self._strategy)
            options["use_resource"] = True
            return self._create_variable(next_creator, **options)
        with variable_scope(get_variable_scope(),
                            custom_getter=without_partitions), \
                variable_creator_scope(create):
            yield

    def _create_variable(self, next_creator, **options):
        raise NotImplementedError

    def colocate_vars_with(self, colocate_with_variable):
        if get_strategy() is not self._strategy:
            raise wrong_strategy(self._strategy)
        self._check_own(colocate_with_variable)

        def create(next_creator, **options):
            options.update(use_resource=True,
                           colocate_with=colocate_with_variable)
            return next_creator(**options)
        return variable_creator_scope(create)

    _own_kind: type = DistributedVariable

    def _check_own(self, variable):
        if not isinstance(variable, self._own_kind):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created "
                "in this tf.distribute.Strategy.scope(), not: %r"
                % (variable,))
        if variable._distribute_strategy is not self._strategy:
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created "
                "in this tf.distribute.Strategy.scope(), not %s created in "
                "scope: %s" % (variable, variable._distribute_strategy))

    def _call_for_each_replica(self, fn, args, kwargs):
        return call_for_each_replica(self._strategy, self._devices, fn, args,
                                     kwargs)

    def _reduce(self, reduce_op, value):
        where = canonical(current_device() or "/device:CPU:0")
        return self._local_results(self._reduce_to(reduce_op, value, where))[0]

    def _reduce_to(self, reduce_op, value, destinations):
        if isinstance(value, (Mirrored, MirroredVariable)):
            if reduce_op is ReduceOp.MEAN:
                return value
            raise AssertionError(
                "%r is equal in all replicas, so there is no sum of it"
                % (value,))
        if not is_distributed(value):
            return reduce_same(reduce_op, len(self._devices), value,
                               destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op, pairs):
        return self._cross_device_ops.batch_reduce(reduce_op, pairs)

    def _all_reduce(self, context, given_op, reduce_op, value):
        def reduced(strategy, *values):
            return strategy.extended.batch_reduce_to(
                reduce_op, [(v, v if is_distributed(v) else v.device)
                            for v in values])
        values = nest.flatten(value)
        if isinstance(given_op, str):
            values = context.merge_call(reduced, values)
            values = [_raw.PreventGradient(v) for v in values]
        else:
            @custom_gradient
            def with_gradient(*xs):
                return context.merge_call(reduced, xs), lambda *dys: (
                    self._all_reduce(context, given_op, reduce_op, list(dys)))
            values = with_gradient(*values)
            values = values if isinstance(values, (list, tuple)) else [values]
        return nest.pack_sequence_as(value, list(values))

    def _broadcast_to(self, tensor, destinations):
        # A number takes the type of what it is assigned to.
        if isinstance(tensor, (int, float)):
            return tensor
        return self._cross_device_ops.broadcast(
            tensor, destinations or OnDevices(self._devices))

    def _per_replica(self, values):
        """One value from those of all replicas."""
        return PerReplica(self._devices, values)

    def _local_results(self, value):
        return value.values if is_distributed(value) else (value,)

    def value_container(self, value):
        return value_container(value)

    def read_var(self, v):
        if isinstance(v, SyncOnReadVariable):
            return v._get_cross_replica()
        return _array.identity(v)

    def _make_dataset_iterator(self, dataset):
        return _inputs.DistributedIterator(
            _inputs.split_batches(dataset, len(self._devices)), self._devices,
            self._host)

    def _make_input_fn_iterator(self, input_fn):
        return _inputs.of_function(input_fn, self._input_context(),
                                   self._devices, self._host)

    def _distribute_dataset(self, dataset):
        return _inputs.DistributedDataset(
            _inputs.split_batches(dataset, len(self._devices)), self._devices,
            self._host)

    def _distribute_datasets_from_function(self, dataset_fn):
        with device(self._host):
            dataset = dataset_fn(self._input_context())
        return _inputs.DistributedDataset(dataset, self._devices, self._host)

    def _input_context(self):
        return InputContext(
            num_replicas_in_sync=self._num_replicas_in_sync())


class MirroredExtended(ReplicasExtended):
    """What MirroredStrategy does."""

    parameter_devices = property(lambda self: self._devices)

    def non_slot_devices(self, var_list):
        return self._devices

    def _initial_value(self, number, where, primary, options):
        """The initial value of a replica's copy: that of the first."""
        if number == 0:
            return options["initial_value"]

        def initial_value():
            with device(where):
                return _array.identity(primary.initial_value)
        return initial_value

    def _create_variable(self, next_creator, **options):
        beside = options.pop("colocate_with", None)
        devices = self._devices if beside is None else beside.devices
        return mirrored_variable(self._strategy, devices, next_creator,
                                 self._initial_value, options)

    def _update(self, var, fn, args, kwargs, group):
        if not isinstance(var, DistributedVariable):
            raise AssertionError("update() needs a variable of the strategy, "
                                 "got %r" % (var,))
        return self._updates(var.devices, fn, args, kwargs, group,
                             var.values)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        return self._updates(tuple(colocate_with), fn, args, kwargs, group)

    def _updates(self, devices, fn, args, kwargs, group, variables=None):
        updates = []
        for i, name in enumerate(devices):
            first = () if variables is None else (variables[i],)
            with device(name), update_on(name), name_scope("update_%d" % i):
                updates.append(fn(*first, *select_device(name, tuple(args)),
                                  **select_device(name, kwargs)))
        return regroup_updates(self, devices, updates, group)

    def _update_config_proto(self, config_proto):
        config_proto = copy.deepcopy(config_proto)
        config_proto.isolate_session_state = True
        return config_proto

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))
        if cluster_spec:
            raise NotImplementedError(
                "MirroredStrategy.configure: a cluster in one graph is not "
                "supported; use tf.distribute.experimental."
                "MultiWorkerMirroredStrategy")


def mirrored_variable(strategy, devices, next_creator, initial_value, options):
    """A variable with a copy on each device. ValueError for synchronization
    NONE and modes that there are not."""
    graph = get_default_graph()
    collections = options.pop("collections", None)
    collections = ([GraphKeys.GLOBAL_VARIABLES] if collections is None
                   else list(collections))
    name = options.get("name")
    synchronization = options.get("synchronization",
                                  VariableSynchronization.ON_WRITE)
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with "
            "`Mirrored` distribution strategy. Please change the "
            "`synchronization` for variable: %s" % name)
    if not isinstance(synchronization, VariableSynchronization):
        raise ValueError("Invalid variable synchronization mode: %s for "
                         "variable: %s" % (synchronization, name))
    aggregation = options.pop("aggregation", VariableAggregation.NONE)
    if not isinstance(aggregation, VariableAggregation):
        raise ValueError("Invalid variable aggregation mode: %s for variable: "
                         "%s" % (aggregation, name))
    options.pop("caching_device", None)
    copies = []
    given = options["initial_value"]
    for i, where in enumerate(devices):
        with device(where):
            options.update(collections=[], initial_value=initial_value(
                i, where, copies[0] if copies else None,
                dict(options, initial_value=given)))
            if i:
                # A name with "/" at its end is taken as it is.
                options["name"] = "%s/replica_%d/" % (copies[0].op.name, i)
            copies.append(next_creator(**options))
    kind = (SyncOnReadVariable
            if synchronization is VariableSynchronization.ON_READ
            else MirroredVariable)
    variable = kind(strategy, devices, copies, aggregation)
    if options.get("trainable", True):
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
        trainable = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        trainable[:] = [v for v in trainable
                        if not any(v is c for c in copies)]
    graph.add_to_collections(collections, variable)
    return variable


class MirroredStrategy(Strategy):
    """A replica on each of `devices`, by default the GPUs or else the
    processor. Variables made in `scope()` have a copy on each of them, of any
    shape and dtype; their changes are reduced with `cross_device_ops`,
    ReductionToOneDevice by default.

    ValueError for devices that are no list of names, AssertionError for one
    that is there twice; RuntimeError for the scope of a strategy in that of
    another; TypeError for other cross_device_ops."""

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__(MirroredExtended(
            self, checked_devices(devices or local_devices()),
            cross_device_ops))
