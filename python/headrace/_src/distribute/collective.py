"""Strategies whose workers reduce by collective ops: each worker has its own
graph, session and server, and copies of the variables.

    TF_CONFIG='{"cluster": {"worker": ["host0:2222", "host1:2222"]},
                "task": {"type": "worker", "index": 0}}'

All workers run one program. Collective ops of different workers meet by the
numbers that CollectiveKeys counts, so all workers must make them in one
order."""
import copy
import enum
import threading

from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.cross_device_ops import (
    CrossDeviceOps, copied, devices_of, is_sparse, reduce_same)
from headrace._src.distribute.devices import canonical
from headrace._src.distribute.mirrored import MirroredExtended, local_devices
from headrace._src.distribute.multi_worker import (
    collective_leader, id_in_cluster, is_chief, normalize_cluster_spec,
    worker_count)
from headrace._src.distribute.shards import shard
from headrace._src.distribute.strategy import InputContext, ReduceOp, Strategy
from headrace._src.distribute.values import (
    Mirrored, MirroredVariable, is_distributed, regroup)
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import (
    control_dependencies, device, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import collective_ops as _ops
from headrace._src.platform import tf_logging
from headrace._src.training.cluster_resolver import (
    SimpleClusterResolver, TFConfigClusterResolver)

_lock = threading.Lock()
_thread = threading.local()


class CollectiveCommunication(enum.Enum):
    """How workers reduce: what is best, in a ring, or by NCCL. Headrace's
    servers choose themselves. ValueError for another. It holds for values of
    any shape and dtype."""
    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CollectiveKeys:
    """Numbers that are the same on all workers that make the same ops. A group
    has one for each set of kinds of devices. Those of ops are counted for
    each thread, for a thread may be a worker of its own."""

    def __init__(self, group_key_start=1, op_instance_key_start=100,
                 variable_instance_key_start=1000000):
        if op_instance_key_start == variable_instance_key_start:
            raise AssertionError("keys of ops and of variables must differ")
        self._group_key = group_key_start
        self._groups = {}
        self._op_start = op_instance_key_start
        self._variable_key = variable_instance_key_start

    def get_group_key(self, devices):
        """The number of a group with such devices in each worker."""
        specs = [DeviceSpec.from_string(canonical(d)) for d in devices]
        kinds = ",".join(sorted("%s:%d" % (s.device_type, s.device_index)
                                for s in specs))
        with _lock:
            if kinds not in self._groups:
                self._groups[kinds] = self._group_key
                self._group_key += 1
            return self._groups[kinds]

    def get_op_instance_key(self):
        """A number for the next op."""
        key = getattr(_thread, "op_key", self._op_start)
        _thread.op_key = key + 1
        return key

    def get_variable_instance_key(self):
        """A number for the next variable."""
        self._variable_key += 1
        return self._variable_key - 1


def build_collective_reduce(input_tensors, num_workers, collective_keys,
                            reduction_op="Add", unary_op="Id"):
    """A list: for each of the tensors, one a device of this worker, what the
    tensors of all workers are together. Without others, the tensors."""
    return _on_each_device(_ops.all_reduce, input_tensors, num_workers,
                           collective_keys, reduction_op, unary_op)


def build_collective_gather(input_tensors, num_workers, collective_keys):
    """As build_collective_reduce: the rows of all workers' tensors."""
    return _on_each_device(_ops.all_gather, input_tensors, num_workers,
                           collective_keys)


def _on_each_device(op, tensors, num_workers, keys, *options):
    """A list of what the collective op gives for each tensor, on its device.
    Without others, the tensors."""
    size = len(tensors) * num_workers
    if size < 2:
        return tensors
    devices = [t.device for t in tensors]
    group, key = keys.get_group_key(devices), keys.get_op_instance_key()
    results = []
    for where, t in zip(devices, tensors):
        with device(where):
            results.append(op(t, size, group, key, *options))
    return results


class CollectiveAllReduce(CrossDeviceOps):
    """Reduces over the devices of all workers by collective ops, and puts the
    result on the destinations of this worker. Values are tensors of any shape
    and numeric dtype, or IndexedSlices, whose rows are gathered. ValueError
    for values without a device.

    `all_reduce_merge_scope`: so many reductions have one name scope."""

    def __init__(self, num_workers=1, num_gpus_per_worker=0,
                 all_reduce_merge_scope=32, collective_keys=None):
        self._num_workers = num_workers
        self._num_gpus_per_worker = num_gpus_per_worker
        self._all_reduce_merge_scope = all_reduce_merge_scope
        self._collective_keys = collective_keys or CollectiveKeys()

    _num_between_graph_workers = property(lambda self: self._num_workers)

    def reduce_implementation(self, reduce_op, per_replica_value,
                              destinations):
        reduced = self._all_reduced(reduce_op, [per_replica_value])[0]
        devices = devices_of(destinations)
        if not is_distributed(reduced):
            reduced = Mirrored(devices_of(reduced), [reduced])
        elif is_distributed(destinations) and reduced.devices == devices:
            return reduced
        copies = []
        # All of this worker's devices have reduced.
        with control_dependencies([
                v.values if isinstance(v, IndexedSlices) else v
                for v in reduced.values]):
            for name in devices:
                found = reduced._on(name)
                copies.append(copied(
                    reduced.primary if found is None else found, name))
        return regroup(devices, copies, Mirrored)

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs):
        first = value_destination_pairs[0][0] if value_destination_pairs else ()
        if all(set(devices_of(v)) == set(devices_of(d))
               and set(devices_of(v)) == set(devices_of(first))
               for v, d in value_destination_pairs):
            return self._all_reduced(
                reduce_op, [v for v, _ in value_destination_pairs])
        return [self.reduce_implementation(reduce_op, v, d)
                for v, d in value_destination_pairs]

    def _all_reduced(self, reduce_op, values):
        dense = iter(self._each(
            reduce_op, [v for v in values if not is_sparse(v)], self._sum))
        sparse = iter(self._each(
            reduce_op, [v for v in values if is_sparse(v)], self._rows))
        return [next(sparse if is_sparse(v) else dense) for v in values]

    def _each(self, reduce_op, values, reduce):
        results = []
        at_once = self._all_reduce_merge_scope
        for begin in range(0, len(values), at_once):
            with name_scope("allreduce"):
                for value in values[begin:begin + at_once]:
                    results.append((value.devices, reduce(value.values)))
        return [self._mirrored(reduce_op, *pair) for pair in results]

    def _mirrored(self, reduce_op, devices, values):
        if reduce_op is ReduceOp.MEAN:
            replicas = len(devices) * self._num_workers
            means = []
            for v in values:
                with device(v.device):
                    means.append(IndexedSlices(
                        v.values / replicas, v.indices, v.dense_shape)
                        if isinstance(v, IndexedSlices) else v / replicas)
            values = means
        return regroup(devices, values, Mirrored)

    def _sum(self, values):
        return build_collective_reduce(list(values), self._num_workers,
                                       self._collective_keys)

    def _rows(self, values):
        rows = build_collective_gather([v.values for v in values],
                                       self._num_workers,
                                       self._collective_keys)
        indices = build_collective_gather([v.indices for v in values],
                                          self._num_workers,
                                          self._collective_keys)
        return [IndexedSlices(r, i, v.dense_shape)
                for r, i, v in zip(rows, indices, values)]


def devices_of_worker(resolver, where=""):
    """(devices, number of GPUs) of this worker, whose device's name begins with
    `where`: those of the process if TF_CONFIG says what the cluster is, else
    as many GPUs as the resolver knows of, or the processor."""
    if isinstance(resolver, TFConfigClusterResolver):
        gpus = sum("GPU" in d for d in local_devices())
    else:
        gpus = resolver.num_accelerators().get("GPU", 0)
    names = ["%s/device:GPU:%d" % (where, i) for i in range(gpus)] or [
        where or "/device:CPU:0"]
    return tuple(canonical(n) for n in names), gpus


class CollectiveAllReduceExtended(MirroredExtended):
    """What strategies over collective ops do."""

    experimental_between_graph = True
    _global_batch_size = True

    def __init__(self, container_strategy, communication,
                 cluster_resolver=None):
        self._communication = CollectiveCommunication(communication)
        resolver = cluster_resolver or TFConfigClusterResolver()
        super().__init__(container_strategy, ())
        if resolver.cluster_spec():
            self._initialize_multi_worker(resolver)
        else:
            self._initialize_local(resolver)

    should_checkpoint = property(lambda self: self._is_chief)
    should_save_summary = property(lambda self: self._is_chief)

    def _initialize_local(self, resolver, devices=None):
        """One worker, in this process."""
        found, gpus = devices_of_worker(resolver)
        self._set_up(tuple(map(canonical, devices or ())) or found, gpus, 1,
                     resolver)
        self._cluster_spec = self._task_type = self._task_id = None
        self._is_chief = True

    def _initialize_multi_worker(self, resolver):
        """One of several workers. ValueError for a task that is not in the
        cluster."""
        cluster = normalize_cluster_spec(resolver.cluster_spec())
        task_type, task_id = resolver.task_type, resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also "
                             "specify `task_type` and `task_id`.")
        workers = worker_count(cluster, task_type)
        if not workers:
            raise ValueError("No `worker`, `chief` or `evaluator` tasks can be "
                             "found in `cluster_spec`.")
        self._is_chief = is_chief(cluster, task_type, task_id)
        where = "/job:%s/task:%d" % (task_type, task_id)
        devices, gpus = devices_of_worker(resolver, where)
        self._set_up(devices, gpus, workers, resolver)
        self._cluster_spec = cluster
        self._task_type, self._task_id = task_type, task_id
        self._default_device = where
        tf_logging.info(
            "Multi-worker CollectiveAllReduceStrategy with cluster_spec = %r, "
            "task_type = %r, task_id = %r, num_workers = %r, local_devices = "
            "%r, communication = %s", cluster.as_dict(), task_type, task_id,
            workers, devices, self._communication)

    def _set_up(self, devices, gpus, workers, resolver):
        if self._communication is CollectiveCommunication.NCCL and not gpus:
            tf_logging.warning("Enabled NCCL communication but no GPUs "
                               "detected/specified.")
        self._devices = devices
        self._num_workers = workers
        self._num_gpus_per_worker = gpus
        self._rpc_layer = resolver.rpc_layer
        self._collective_keys = CollectiveKeys()
        self._cross_device_ops = CollectiveAllReduce(
            num_workers=workers, num_gpus_per_worker=gpus,
            collective_keys=self._collective_keys)

    def _num_replicas_in_sync(self):
        return len(self._devices) * self._num_workers

    def _initial_value(self, number, where, primary, options):
        if number or self._num_workers == 1:
            return super()._initial_value(number, where, primary, options)

        def of_the_chief():
            group = self._collective_keys.get_group_key([where])
            key = self._collective_keys.get_variable_instance_key()
            value = options["initial_value"]
            with device(where):
                if callable(value):
                    value = value()
                value = convert_to_tensor(value, dtype=options.get("dtype"))
                about = (value.shape, value.dtype, self._num_workers, group,
                         key)
                if not self._is_chief:
                    return _ops.broadcast_recv(*about)
                sent = _ops.broadcast_send(value, *about)
                with control_dependencies([sent]):
                    return _array.identity(value)
        return of_the_chief

    def _input_context(self):
        number = 0 if self._cluster_spec is None else id_in_cluster(
            self._cluster_spec, self._task_type, self._task_id)
        return InputContext(num_input_pipelines=self._num_workers,
                            input_pipeline_id=number,
                            num_replicas_in_sync=self._num_replicas_in_sync())

    def _shared(self, dataset):
        context = self._input_context()
        return shard(
            _inputs.split_batches(dataset, self._num_replicas_in_sync()),
            context.num_input_pipelines, context.input_pipeline_id)

    def _make_dataset_iterator(self, dataset):
        return _inputs.DistributedIterator(self._shared(dataset),
                                           self._devices, self._host)

    def _distribute_dataset(self, dataset):
        return _inputs.DistributedDataset(self._shared(dataset), self._devices,
                                          self._host)

    def _reduce_to(self, reduce_op, value, destinations):
        if isinstance(value, (Mirrored, MirroredVariable)):
            return super()._reduce_to(reduce_op, value, destinations)
        if is_distributed(value) and len(self._devices) == 1:
            value = value.values[0]
        if not is_distributed(value) and self._num_workers == 1:
            return reduce_same(reduce_op, len(self._devices), value,
                               destinations)
        return self._cross_device_ops.reduce(reduce_op, value, destinations)

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        if cluster_spec:
            self._initialize_multi_worker(SimpleClusterResolver(
                normalize_cluster_spec(cluster_spec), task_type=task_type,
                task_id=task_id, rpc_layer=self._rpc_layer,
                num_accelerators={"GPU": self._num_gpus_per_worker}))
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto):
        config = copy.deepcopy(config_proto)
        rewrites = config.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = rewrites.ON
        del rewrites.scoped_allocator_opts.enable_op[:]
        rewrites.scoped_allocator_opts.enable_op.append("CollectiveReduce")
        if self._communication is CollectiveCommunication.NCCL:
            config.experimental.collective_nccl = True
        if self._cluster_spec:
            config.experimental.collective_group_leader = collective_leader(
                self._cluster_spec, self._task_type, self._task_id)
            # A worker's session uses no devices of other workers.
            config.device_filters[:] = [self._default_device]
        return config


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on the GPUs, or else the processor, of all workers of the
    cluster that TF_CONFIG has; each has copies of the variables, of any shape
    and dtype, which collective ops keep equal. Without TF_CONFIG, those of
    this process. `communication`: a CollectiveCommunication, a hint that
    Headrace's servers do not need.

    ValueError for no CollectiveCommunication, and for a cluster without this
    task. A session is of the worker's own server, with
    `strategy.update_config_proto(config)`; UnavailableError from a run if
    another worker is gone."""

    def __init__(self, communication=CollectiveCommunication.AUTO):
        super().__init__(CollectiveAllReduceExtended(self, communication))

    @classmethod
    def _from_local_devices(cls, devices):
        """A strategy of these devices of the process."""
        made = cls()
        made.extended._initialize_local(TFConfigClusterResolver(), devices)
        return made
