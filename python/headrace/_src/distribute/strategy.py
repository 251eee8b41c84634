"""tf.distribute: what all strategies are, and the strategy of programs that set
none, of one replica.

Libraries ask for the context of the replica that runs and let it merge values;
with one replica the values stay what they are. mirrored.py has strategies of
several devices, one_device.py that of one."""
import contextlib
import enum
import sys
import threading

from headrace._src.control.control_flow_ops import group
from headrace._src.data.datasets import Dataset
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    colocate_with, device, get_default_graph)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.cluster_resolver import tf_config
from headrace._src.variables.records import VariableAggregation
from headrace._src.variables.strategies import set_loaded


class ReduceOp(enum.Enum):
    """How the values of replicas become one."""
    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        """ReduceOp of a tf.VariableAggregation. ValueError for one that does
        not reduce."""
        found = {VariableAggregation.SUM: ReduceOp.SUM,
                 VariableAggregation.MEAN: ReduceOp.MEAN}.get(aggregation)
        if found is None:
            raise ValueError("Could not convert from `tf.VariableAggregation` "
                             "%s to`tf.distribute.ReduceOp` type" % aggregation)
        return found


def _reduce_op(value):
    return ReduceOp(value.upper()) if isinstance(value, str) else (
        ReduceOp(value))


class InputContext:
    """What a function that makes a data set learns of the inputs."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0,
                 num_replicas_in_sync=1):
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """Its share of a batch. ValueError if the replicas do not divide it."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                "The `global_batch_size` %d is not divisible by "
                "`num_replicas_in_sync` %d" % (global_batch_size,
                                               self.num_replicas_in_sync))
        return global_batch_size // self.num_replicas_in_sync


class InputReplicationMode(enum.Enum):
    """How often a data set is made."""
    PER_WORKER = "PER_WORKER"


_state = threading.local()


class Between:
    """The context between replicas: in the scope of a strategy, and while
    values are merged."""

    def __init__(self, strategy):
        self.strategy = strategy


def _contexts():
    """The contexts that this thread has entered, a ReplicaContext or Between
    each."""
    if not hasattr(_state, "stack"):
        _state.stack = []
    return _state.stack


@contextlib.contextmanager
def entered(context):
    """The context holds in it."""
    _contexts().append(context)
    try:
        yield
    finally:
        _contexts().pop()


def get_update_device():
    """The device whose update() or update_non_slot() runs, or None."""
    return getattr(_state, "update_device", None)


@contextlib.contextmanager
def update_on(device):
    """An update of what lies on a device."""
    outer = get_update_device()
    _state.update_device = device
    try:
        yield
    finally:
        _state.update_device = outer


class UpdateContext:
    """A block in which a variable on `device` is updated: the context of
    tf.distribute.StrategyExtended.update(). It holds for any shape and dtype.
    RuntimeError in the block of another."""

    def __init__(self, device):
        self._device = device
        self._outer = None

    def __enter__(self):
        if get_update_device() is not None:
            raise RuntimeError("UpdateContext: an update of %s is in progress"
                               % (get_update_device(),))
        self._outer = update_on(self._device)
        self._outer.__enter__()

    def __exit__(self, *error):
        self._outer.__exit__(*error)


class ReplicaContext:
    """The replica whose function runs, and what it does with the others."""

    def __init__(self, strategy, replica_id_in_sync_group):
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    strategy = property(lambda self: self._strategy)
    replica_id_in_sync_group = property(lambda self: self._id)
    num_replicas_in_sync = property(
        lambda self: self._strategy.num_replicas_in_sync)
    devices = property(
        lambda self: self._strategy.extended._devices_of_replica(self._id))

    def __enter__(self):
        _contexts().append(self)

    def __exit__(self, *error):
        _contexts().pop()

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """merge_fn(strategy, *args, **kwargs) for all replicas at once. In it
        there is no replica context. RuntimeError in another replica than
        this."""
        require_replica_context(self)
        return self._merge_call(merge_fn, args, kwargs or {})

    def _merge_call(self, merge_fn, args, kwargs):
        with entered(Between(self._strategy)):
            return merge_fn(self._strategy, *args, **kwargs)

    def all_reduce(self, reduce_op, value):
        """The sum or the mean of a structure of tensors over the replicas.
        ValueError for another reduce_op."""
        return self._strategy.extended._all_reduce(
            self, reduce_op, _reduce_op(reduce_op), value)


class StrategyExtended:
    """What a strategy does, for those who write libraries. A subclass defines
    the methods whose names begin with "_"."""

    def __init__(self, container_strategy):
        self._strategy = container_strategy

    experimental_require_static_shapes = False
    experimental_between_graph = False
    experimental_should_init: bool = True
    should_checkpoint: bool = True
    should_save_summary: bool = True
    _default_device = None
    _cluster_spec = None
    _task_type = None
    _task_id = None
    _global_batch_size = True

    def _of_devices(self, what):
        raise RuntimeError("%s() method unsupported by default "
                           "tf.distribute.Strategy." % what)

    worker_devices = property(lambda self: self._of_devices("worker_devices"))
    parameter_devices = property(
        lambda self: self._of_devices("parameter_devices"))

    def _num_replicas_in_sync(self):
        return 1

    def _devices_of_replica(self, number):
        return ("",)

    def _require_between(self):
        """RuntimeError in a replica of the strategy and in the scope of
        another."""
        stack = _contexts()
        if not stack:
            return
        if stack[-1].strategy is not self._strategy:
            raise wrong_strategy(self._strategy)
        if not isinstance(stack[-1], Between):
            raise RuntimeError(
                "Method requires being in cross-replica context, use "
                "get_replica_context().merge_call()")

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """What fn(*args, **kwargs) returns in each replica."""
        self._require_between()
        with self._strategy.scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def _call_for_each_replica(self, fn, args, kwargs):
        with ReplicaContext(self._strategy, 0):
            return fn(*args, **kwargs)

    def reduce_to(self, reduce_op, value, destinations):
        """`value` of all replicas on the devices of `destinations`."""
        self._require_between()
        return self._reduce_to(_reduce_op(reduce_op), value, destinations)

    def _reduce_to(self, reduce_op, value, destinations):
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs):
        """reduce_to for several pairs."""
        self._require_between()
        return self._batch_reduce_to(_reduce_op(reduce_op),
                                     list(value_destination_pairs))

    def _batch_reduce_to(self, reduce_op, pairs):
        return [self._reduce_to(reduce_op, value, destinations)
                for value, destinations in pairs]

    def _reduce(self, reduce_op, value):
        return self._local_results(self._reduce_to(reduce_op, value, None))[0]

    def _all_reduce(self, context, given_op, reduce_op, value):
        return nest.map_structure(_array.identity, value)

    def broadcast_to(self, tensor, destinations):
        """A copy of `tensor` on each of the devices."""
        self._require_between()
        return self._broadcast_to(tensor, destinations)

    def _broadcast_to(self, tensor, destinations):
        return tensor

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """fn(var, *args, **kwargs) on each device where the variable lies."""
        self._require_between()
        with self._strategy.scope():
            return self._update(var, fn, args, kwargs or {}, group)

    def _update(self, var, fn, args, kwargs, group):
        with colocate_with(var), update_on(var):
            return self._updated(fn(var, *args, **kwargs), group)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None,
                        group=True):
        """fn(*args, **kwargs) on each device where values without a variable
        lie."""
        self._require_between()
        with self._strategy.scope():
            return self._update_non_slot(colocate_with, fn, args, kwargs or {},
                                         group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        with update_on(colocate_with):
            return self._updated(fn(*args, **kwargs), group)

    def _updated(self, result, is_grouped):
        return result if is_grouped else nest.map_structure(
            self._local_results, result)

    def _local_results(self, value):
        return (value,)

    def non_slot_devices(self, var_list):
        """Where values that belong to no single variable lie."""
        return min(var_list, key=lambda v: v.name)

    def colocate_vars_with(self, colocate_with_variable):
        """Variables made in it lie where a variable of the strategy lies."""
        return colocate_with(colocate_with_variable)

    def value_container(self, value):
        """The variable of the strategy that `value` is a part of, else
        `value`."""
        return value

    def variable_created_in_scope(self, v):
        """Whether the variable is the strategy's."""
        return getattr(v, "_distribute_strategy", self._strategy) is (
            self._strategy)

    def read_var(self, v):
        """The value of a variable, of all replicas together."""
        return _array.identity(v)

    def _scope(self):
        """What else holds in the scope: a context."""
        return contextlib.nullcontext()

    def _make_dataset_iterator(self, dataset):
        return dataset.make_initializable_iterator()

    def _make_input_fn_iterator(self, input_fn):
        return input_fn(InputContext()).make_initializable_iterator()

    def _distribute_dataset(self, dataset):
        return dataset

    def _distribute_datasets_from_function(self, dataset_fn):
        return dataset_fn(InputContext())

    def _update_config_proto(self, config_proto):
        return config_proto

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        """Takes a cluster; here nothing."""


def wrong_strategy(strategy):
    """The error of a method of a strategy whose scope does not hold."""
    if not has_strategy():
        return RuntimeError('Need to be inside "with strategy.scope()" for %s'
                            % (strategy,))
    return RuntimeError(
        "Mixing different tf.distribute.Strategy objects: %s is not %s"
        % (get_strategy(), strategy))


def _sum_and_count(value, axis):
    """(sum, size) of a tensor along an axis. ValueError for one that it has
    not."""
    value = convert_to_tensor(value)
    total = _math.reduce_sum(value, axis=axis)
    rank = value.shape.ndims
    if rank is not None:
        if not -rank <= axis < rank:
            raise ValueError(
                "`axis` = %r out of range for `value` with rank %d"
                % (axis, rank))
        axis %= rank
        size = value.shape.as_list()[axis]
        if size is not None:
            return total, size
    elif axis < 0:
        axis = axis + _array.rank(value)
    if rank == 1:
        return total, _array.size(value, out_type=dtypes.int64)
    return total, _array.shape(value, out_type=dtypes.int64)[axis]


class Strategy:
    """Runs functions in replicas."""

    def __init__(self, extended):
        self._extended = extended
        self._scale_loss_for_estimator = False

    extended = property(lambda self: self._extended)
    num_replicas_in_sync = property(
        lambda self: self._extended._num_replicas_in_sync())

    @contextlib.contextmanager
    def scope(self):
        """Variables made in it are the strategy's. RuntimeError in the scope of
        another and in a replica."""
        if _contexts():
            self._extended._require_between()
            yield self
            return
        where = self._extended._default_device
        with entered(Between(self)), self._extended._scope(), (
                device(where) if where else contextlib.nullcontext()):
            yield self

    @contextlib.contextmanager
    def _scale_loss_for_estimator_enabled(self):
        """In it, optimizers of tf.train divide losses by the number of
        replicas, as Estimators want it."""
        self._scale_loss_for_estimator = True
        try:
            yield
        finally:
            self._scale_loss_for_estimator = False

    def _in_multi_worker_mode(self):
        """Whether TF_CONFIG has a cluster of workers."""
        config = tf_config()
        return bool(config) and "master" not in config.get("cluster", {})

    def experimental_run(self, fn, input_iterator=None):
        """What fn returns in each replica for the next element of an iterator
        of make_dataset_iterator, or without arguments."""
        with self.scope():
            return self.experimental_run_v2(
                fn, () if input_iterator is None else (
                    input_iterator.get_next(),))

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """What fn(*args, **kwargs) returns in each replica."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis=None):
        """`value` of all replicas as one tensor; with `axis`, also reduced
        along it. ValueError for a reduce_op that there is not, and for an axis
        that `value` has not; TypeError for one that is no integer."""
        self._extended._require_between()
        reduce_op = _reduce_op(reduce_op)
        if axis is None:
            return self._extended._reduce(reduce_op, value)
        if reduce_op is ReduceOp.SUM:
            value = self.experimental_run_v2(
                lambda v: _math.reduce_sum(v, axis=axis), (value,))
            return self._extended._reduce(reduce_op, value)
        if not isinstance(axis, int):
            raise TypeError("Expected `axis` to be an integer not: %r"
                            % (axis,))
        total, count = self.experimental_run_v2(_sum_and_count, (value, axis))
        total = self._extended._reduce(ReduceOp.SUM, total)
        if isinstance(count, int):
            count *= self.num_replicas_in_sync
        else:
            count = self._extended._reduce(ReduceOp.SUM, count)
        return _math.truediv(total, _math.cast(count, total.dtype))

    def experimental_local_results(self, value):
        """A tuple: the values of the replicas of this process."""
        return self._extended._local_results(value)

    def unwrap(self, value):
        """experimental_local_results by its old name."""
        return self._extended._local_results(value)

    def group(self, value, name=None):
        """An operation that is done when `value` is in all replicas."""
        value = nest.flatten(self.unwrap(value))
        if len(value) == 1 and name is None:
            return getattr(value[0], "op", value[0])
        return group(*value, name=name)

    def experimental_distribute_dataset(self, dataset):
        """The data set, each batch of which is shared by the replicas."""
        return self._extended._distribute_dataset(dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn):
        """dataset_fn(InputContext), whose batches are of one replica each."""
        return self._extended._distribute_datasets_from_function(dataset_fn)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A data set of the rows of arrays."""
        return Dataset.from_tensor_slices(numpy_input)

    def make_dataset_iterator(self, dataset):
        """An iterator over batches that the replicas share, which has
        `initialize()`. ValueError for elements that are no batches."""
        return self._extended._make_dataset_iterator(dataset)

    def make_input_fn_iterator(
            self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator over the data set input_fn(InputContext), whose batches
        are of one replica each. ValueError if it gives no data set or
        function, or for another mode than PER_WORKER."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError("Input replication mode not supported: %r"
                             % (replication_mode,))
        return self._extended._make_input_fn_iterator(input_fn)

    def colocate_vars_with(self, colocate_with_variable):
        return self._extended.colocate_vars_with(colocate_with_variable)

    def update_config_proto(self, config_proto):
        """A ConfigProto for sessions of the strategy."""
        return self._extended._update_config_proto(config_proto)

    def configure(self, session_config=None, cluster_spec=None, task_type=None,
                  task_id=None):
        """Takes a cluster, and changes the ConfigProto as
        update_config_proto does."""
        return self._extended._configure(session_config, cluster_spec,
                                         task_type, task_id)


class _DefaultStrategy(Strategy):
    def __init__(self):
        super().__init__(StrategyExtended(self))

    @contextlib.contextmanager
    def scope(self):
        """Changes nothing."""
        yield self


_strategy = _DefaultStrategy()
_replica = ReplicaContext(_strategy, 0)


def get_default_strategy():
    """The strategy of programs that set none."""
    return _strategy


def _context():
    stack = _contexts()
    return stack[-1] if stack else _replica


def get_strategy():
    """The strategy in whose scope or replica the program is; else that of one
    replica without a device."""
    return _context().strategy


def has_strategy():
    """Whether the program is in the scope of a strategy."""
    return get_strategy() is not _strategy


def get_replica_context():
    """The context of the replica that runs; None in a merge_call and in the
    scope of a strategy."""
    context = _context()
    return None if isinstance(context, Between) else context


def in_cross_replica_context():
    """Whether a merge_call runs, or the scope of a strategy holds."""
    return get_replica_context() is None


def get_cross_replica_context():
    """The strategy between replicas, or None."""
    return get_strategy() if in_cross_replica_context() else None


def require_replica_context(replica_ctx):
    """RuntimeError unless `replica_ctx` runs."""
    current = get_replica_context()
    if current is replica_ctx:
        return
    if current is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if current.strategy is getattr(replica_ctx, "strategy", None):
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError("Mismatching tf.distribute.Strategy objects: %s is not "
                       "%s." % (current.strategy,
                                getattr(replica_ctx, "strategy", None)))


def get_loss_reduction():
    """How the losses of replicas are added up: SUM, but in an Estimator's
    strategy as the last loss was, by default MEAN."""
    if not get_strategy()._scale_loss_for_estimator:
        return ReduceOp.SUM
    last = getattr(get_default_graph(), "_last_loss_reduction", None)
    return ReduceOp.SUM if last in ("sum", "weighted_sum") else ReduceOp.MEAN


set_loaded(sys.modules[__name__])
