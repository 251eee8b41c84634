"""tf.distribute's strategies whose variables lie on one device, while replicas
on several compute: CentralStorageStrategy and ParameterServerStrategy. Also
MultiWorkerMirroredStrategy, as it is on one worker."""
import enum

from headrace._src.distribute.cross_device_ops import reduce_same
from headrace._src.distribute.devices import canonical
from headrace._src.distribute.mirrored import (
    MirroredExtended, ReplicasExtended, checked_devices, local_devices)
from headrace._src.distribute.strategy import Strategy, update_on
from headrace._src.distribute.values import (
    AggregatingVariable, is_distributed)
from headrace._src.framework import nest
from headrace._src.framework.graph import (
    GraphKeys, colocate_with as beside, device, get_default_graph)
from headrace._src.training.cluster_resolver import TFConfigClusterResolver
from headrace._src.variables.base import Variable
from headrace._src.variables.records import VariableAggregation


class CentralExtended(ReplicasExtended):
    """Variables lie on `parameter_device`."""

    _own_kind = Variable

    def __init__(self, strategy, devices, parameter_device):
        super().__init__(strategy, devices)
        self._parameter_device = parameter_device

    parameter_devices = property(lambda self: (self._parameter_device,))

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda v: v.name)

    def _create_variable(self, next_creator, **options):
        colocated = options.pop("colocate_with", None)
        if colocated is not None:
            with device(None), beside(colocated):
                return self._made(next_creator, options)
        with beside(None, ignore_existing=True), device(
                self._parameter_device):
            return self._made(next_creator, options)

    def _made(self, next_creator, options):
        if len(self._devices) == 1:
            variable = next_creator(**options)
            variable._distribute_strategy = self._strategy
            return variable
        graph = get_default_graph()
        collections = options.pop("collections", None)
        collections = ([GraphKeys.GLOBAL_VARIABLES] if collections is None
                       else list(collections))
        aggregation = options.pop("aggregation", VariableAggregation.NONE)
        if not isinstance(aggregation, VariableAggregation):
            raise ValueError("Invalid variable aggregation mode: %s for "
                             "variable: %s" % (aggregation,
                                               options.get("name")))
        inner = next_creator(collections=[], **options)
        variable = AggregatingVariable(self._strategy, inner, aggregation)
        if options.get("trainable", True):
            collections.append(GraphKeys.TRAINABLE_VARIABLES)
            trainable = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            trainable[:] = [v for v in trainable if v is not inner]
        graph.add_to_collections(collections, variable)
        return variable

    def _reduce_to(self, reduce_op, value, destinations):
        if not is_distributed(value):
            return reduce_same(reduce_op, len(self._devices), value,
                               destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _single(self, structure):
        def get(x):
            if not is_distributed(x):
                return x
            if len(x.values) > 1:
                raise ValueError("You can not update variable with a value of "
                                 "several devices: %r" % (x,))
            return x.values[0]
        return nest.map_structure(get, structure)

    def _update(self, var, fn, args, kwargs, group):
        if isinstance(var, AggregatingVariable):
            var = var.get()
        if not isinstance(var, Variable):
            raise ValueError("You can not update `var` %r. It must be a "
                             "Variable." % (var,))
        with beside(var), update_on(var.device):
            return self._updated(fn(var, *self._single(tuple(args)),
                                    **self._single(kwargs)), group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        with device(colocate_with.device), update_on(colocate_with.device):
            return self._updated(fn(*args, **kwargs), group)


class CentralStorageStrategy(Strategy):
    """A replica on each of `compute_devices`, by default the GPUs or else the
    processor; variables, of any shape and dtype, on `parameter_device`, by
    default the processor, or the only GPU. ValueError for devices that are no
    list of names, AssertionError for one that is there twice."""

    def __init__(self, compute_devices=None, parameter_device=None):
        devices = checked_devices(compute_devices or local_devices())
        canonical(parameter_device or "")
        super().__init__(CentralExtended(
            self, devices, parameter_device or _place(devices)))


def _place(devices):
    """Where variables lie: on the only GPU, else on the processor."""
    return (devices[0] if len(devices) == 1 and "GPU" in devices[0]
            else "/device:CPU:0")


def require_no_cluster(name, cluster_resolver, instead):
    resolver = cluster_resolver or TFConfigClusterResolver()
    cluster = resolver.cluster_spec().as_dict()
    if sum(len(tasks) for tasks in cluster.values()) > 1:
        raise NotImplementedError(
            "%s over several tasks is not supported, got the cluster %s; use "
            "%s" % (name, cluster, instead))


class ParameterServerStrategy(Strategy):
    """In a process without a cluster, as CentralStorageStrategy: variables of
    any shape and dtype lie on the processor. NotImplementedError for a cluster
    of several tasks: tf.train.replica_device_setter places variables on
    parameter servers."""

    def __init__(self, cluster_resolver=None):
        require_no_cluster("ParameterServerStrategy", cluster_resolver,
                            "tf.train.replica_device_setter")
        devices = checked_devices(local_devices())
        super().__init__(CentralExtended(self, devices, _place(devices)))


class CollectiveCommunication(enum.Enum):
    """How workers reduce: what is best, in a ring, or by NCCL. ValueError for
    another. It holds for values of any shape and dtype."""
    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """On one worker, as MirroredStrategy on its devices, with variables of any
    shape and dtype. `communication`, a CollectiveCommunication, changes nothing
    there; ValueError for another. NotImplementedError for a cluster of several
    workers: use tf.train.SyncReplicasOptimizer."""

    def __init__(self, communication=CollectiveCommunication.AUTO):
        CollectiveCommunication(communication)
        require_no_cluster("MultiWorkerMirroredStrategy", None,
                            "tf.train.SyncReplicasOptimizer")
        super().__init__(MirroredExtended(self,
                                          checked_devices(local_devices())))
