"""tf.distribute with one replica: the strategy of programs that set none, and
those that put everything on one device (one_device.py).

Libraries ask for the context of the replica that runs and let it merge values;
with one replica the values stay what they are."""
import contextlib
import enum
import threading

from headrace._src.control.control_flow_ops import group
from headrace._src.data.datasets import Dataset
from headrace._src.framework import nest
from headrace._src.framework.graph import colocate_with
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.records import VariableAggregation


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
        lambda self: self._strategy.extended._devices_of_replica())

    def __enter__(self):
        _contexts().append(self)

    def __exit__(self, *error):
        _contexts().pop()

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """merge_fn(strategy, *args, **kwargs) for all replicas at once. In it
        there is no replica context."""
        with entered(Between(self._strategy)):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def all_reduce(self, reduce_op, value):
        """The sum or the mean of a structure of tensors over the replicas.
        ValueError for another reduce_op."""
        _reduce_op(reduce_op)
        return nest.map_structure(_array.identity, value)


class StrategyExtended:
    """What a strategy does, for those who write libraries."""

    def __init__(self, container_strategy):
        self._strategy = container_strategy

    experimental_require_static_shapes = False

    def _of_devices(self, what):
        raise RuntimeError("%s() method unsupported by default "
                           "tf.distribute.Strategy." % what)

    worker_devices = property(lambda self: self._of_devices("worker_devices"))
    parameter_devices = property(
        lambda self: self._of_devices("parameter_devices"))

    def _num_replicas_in_sync(self):
        return 1

    def _devices_of_replica(self):
        return ("",)

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """What fn(*args, **kwargs) returns in each replica."""
        with ReplicaContext(self._strategy, 0):
            return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op, value, destinations):
        """`value` of all replicas on the devices of `destinations`."""
        _reduce_op(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs):
        """reduce_to for several pairs."""
        _reduce_op(reduce_op)
        return [value for value, _ in value_destination_pairs]

    def broadcast_to(self, tensor, destinations):
        return tensor

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """fn(var, *args, **kwargs) where the variable lies."""
        with colocate_with(var):
            return self._updated(fn(var, *args, **(kwargs or {})), group)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None,
                        group=True):
        """fn(*args, **kwargs) where values without a variable lie."""
        return self._updated(fn(*args, **(kwargs or {})), group)

    def _updated(self, result, is_grouped):
        return result if is_grouped else self._strategy.unwrap(result)

    def non_slot_devices(self, var_list):
        """Where values that belong to no single variable lie."""
        return min(var_list, key=lambda v: v.name)

    def colocate_vars_with(self, colocate_with_variable):
        return colocate_with(colocate_with_variable)

    def value_container(self, value):
        return value

    def variable_created_in_scope(self, v):
        return True

    def read_var(self, v):
        return _array.identity(v)


class Strategy:
    """Runs functions in replicas; here in one."""

    def __init__(self, extended):
        self._extended = extended

    extended = property(lambda self: self._extended)
    num_replicas_in_sync = property(
        lambda self: self._extended._num_replicas_in_sync())

    @contextlib.contextmanager
    def scope(self):
        """Variables made in it are the strategy's."""
        yield self

    def experimental_run(self, fn, input_iterator=None):
        """What fn returns in each replica for the next element of an iterator
        of make_dataset_iterator, or without arguments."""
        with self.scope():
            return self.experimental_run_v2(
                fn, () if input_iterator is None else (
                    input_iterator.get_next(),))

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """What fn(*args, **kwargs) returns in each replica."""
        return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis=None):
        """`value` of all replicas as one tensor; with `axis`, also reduced
        along it. ValueError for a reduce_op that there is not."""
        reduce_op = _reduce_op(reduce_op)
        if axis is None:
            return value
        if reduce_op is ReduceOp.SUM:
            return _math.reduce_sum(value, axis=axis)
        return _math.reduce_mean(value, axis=axis)

    def experimental_local_results(self, value):
        """The values of the replicas of this process."""
        return (value,)

    def unwrap(self, value):
        """experimental_local_results by its old name."""
        return self.experimental_local_results(value)

    def group(self, value, name=None):
        """An operation that is done when `value` is in all replicas."""
        value = nest.flatten(self.unwrap(value))
        if len(value) == 1 and name is None:
            return getattr(value[0], "op", value[0])
        return group(*value, name=name)

    def experimental_distribute_dataset(self, dataset):
        return dataset

    def experimental_distribute_datasets_from_function(self, dataset_fn):
        """dataset_fn(InputContext)."""
        return dataset_fn(InputContext())

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A data set of the rows of arrays."""
        return Dataset.from_tensor_slices(numpy_input)

    def make_dataset_iterator(self, dataset):
        return dataset.make_initializable_iterator()

    def make_input_fn_iterator(
            self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator over the data set input_fn(InputContext)."""
        return input_fn(InputContext()).make_initializable_iterator()

    def colocate_vars_with(self, colocate_with_variable):
        return self._extended.colocate_vars_with(colocate_with_variable)

    def update_config_proto(self, config_proto):
        return config_proto


class _DefaultStrategy(Strategy):
    def __init__(self):
        super().__init__(StrategyExtended(self))


_strategy = _DefaultStrategy()
_replica = ReplicaContext(_strategy, 0)


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
    if get_replica_context() is not replica_ctx:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")


def get_loss_reduction():
    """How the losses of replicas are added up."""
    return ReduceOp.SUM
