"""tf.distribute's strategies whose variables are not copied: those of
CentralStorageStrategy lie on one device, those of ParameterServerStrategy on
the parameter servers of a cluster, while replicas on several devices
compute."""
import copy

from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.collective import devices_of_worker
from headrace._src.distribute.cross_device_ops import (
    ReductionToOneDevice, devices_of, reduce_same)
from headrace._src.distribute.devices import canonical
from headrace._src.distribute.mirrored import (
    ReplicasExtended, checked_devices, local_devices)
from headrace._src.distribute.multi_worker import (
    id_in_cluster, is_chief, normalize_cluster_spec, worker_count)
from headrace._src.distribute.strategy import (
    InputContext, Strategy, update_on)
from headrace._src.distribute.values import (
    AggregatingVariable, is_distributed)
from headrace._src.framework import nest
from headrace._src.framework.graph import (
    GraphKeys, colocate_with as beside, device, get_default_graph)
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.platform import tf_logging
from headrace._src.training.cluster_resolver import (
    SimpleClusterResolver, TFConfigClusterResolver)
from headrace._src.training.device_setter import replica_device_setter
from headrace._src.variables.base import Variable
from headrace._src.variables.records import VariableAggregation


class CentralExtended(ReplicasExtended):
    """Variables lie on `parameter_device`."""

    _own_kind = Variable

    def __init__(self, strategy, devices, parameter_device):
        super().__init__(strategy, devices)
        self._parameter_device = parameter_device

    parameter_devices = property(lambda self: (self._parameter_device,))
    _variable_device = property(lambda self: self._parameter_device)

    def non_slot_devices(self, var_list):
        return min(var_list, key=lambda v: v.name)

    def _create_variable(self, next_creator, **options):
        colocated = options.pop("colocate_with", None)
        if colocated is not None:
            with device(None), beside(colocated):
                return self._made(next_creator, options)
        with beside(None, ignore_existing=True), device(
                self._variable_device):
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


class ParameterServerExtended(CentralExtended):
    """What strategies with parameter servers do. Without a cluster, variables
    lie on the processor, or the only GPU."""

    experimental_between_graph = True

    def __init__(self, strategy, cluster_resolver):
        super().__init__(strategy, (), "")
        self._cross_device_ops = ReductionToOneDevice("/device:CPU:0")
        if cluster_resolver.cluster_spec():
            self._initialize_multi_worker(cluster_resolver)
        else:
            self._initialize_local(cluster_resolver)

    experimental_should_init = property(lambda self: self._is_chief)
    should_checkpoint = property(lambda self: self._is_chief)
    should_save_summary = property(lambda self: self._is_chief)
    parameter_devices = property(lambda self: self._parameter_devices)
    _variable_device = property(lambda self: self._place_of_variables)

    def _initialize_local(self, resolver):
        self._devices, self._num_gpus_per_worker = devices_of_worker(resolver)
        place = _place(self._devices)
        self._place_of_variables, self._parameter_devices = place, (place,)
        self._is_chief = True

    def _initialize_multi_worker(self, resolver):
        """One of several workers of a cluster with parameter servers.
        ValueError for a cluster without them, or without this task."""
        cluster = normalize_cluster_spec(resolver.cluster_spec())
        task_type, task_id = resolver.task_type, resolver.task_id
        if not task_type or task_id is None:
            raise ValueError("When `cluster_spec` is given, you must also "
                             "specify `task_type` and `task_id`")
        servers = len(cluster.as_dict().get("ps", ()))
        if not servers:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        where = "/job:%s/task:%d" % (task_type, task_id)
        self._devices, self._num_gpus_per_worker = devices_of_worker(
            resolver, where)
        self._place_of_variables = replica_device_setter(
            ps_tasks=servers, worker_device=where, merge_devices=True,
            cluster=cluster)
        self._parameter_devices = tuple("/job:ps/task:%d" % i
                                        for i in range(servers))
        self._default_device = where
        self._is_chief = is_chief(cluster, task_type, task_id)
        self._cluster_spec = cluster
        self._task_type, self._task_id = task_type, task_id
        tf_logging.info(
            "Multi-worker ParameterServerStrategy with cluster_spec = %r, "
            "task_type = %r, task_id = %r, num_ps_replicas = %r, is_chief = "
            "%r", cluster.as_dict(), task_type, task_id, servers,
            self._is_chief)

    def _reduce_to(self, reduce_op, value, destinations):
        self._check_this_worker(destinations)
        return super()._reduce_to(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op, pairs):
        for _, destinations in pairs:
            self._check_this_worker(destinations)
        return super()._batch_reduce_to(reduce_op, pairs)

    def _check_this_worker(self, destinations):
        if not self._cluster_spec or destinations is None:
            return
        for name in devices_of(destinations):
            spec = DeviceSpec.from_string(name)
            if spec.job == self._task_type and spec.task != self._task_id:
                raise ValueError(
                    "Cannot reduce to another worker: %r, current worker is %r"
                    % (name, self._default_device))

    def _input_context(self):
        if not self._cluster_spec:
            return super()._input_context()
        return InputContext(
            num_input_pipelines=worker_count(self._cluster_spec,
                                             self._task_type),
            input_pipeline_id=id_in_cluster(
                self._cluster_spec, self._task_type, self._task_id),
            num_replicas_in_sync=self._num_replicas_in_sync())

    def _configure(self, session_config, cluster_spec, task_type, task_id):
        if cluster_spec:
            self._initialize_multi_worker(SimpleClusterResolver(
                normalize_cluster_spec(cluster_spec), task_type=task_type,
                task_id=task_id,
                num_accelerators={"GPU": self._num_gpus_per_worker}))
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto):
        config = copy.deepcopy(config_proto)
        config.isolate_session_state = not self._cluster_spec
        if self._cluster_spec:
            filters = [self._default_device]
            if self._task_type != "evaluator":
                filters.append("/job:ps")
            # A worker's session uses no devices of other workers.
            config.device_filters[:] = (
                [] if self._task_type == "ps" else filters)
        return config


class ParameterServerStrategy(Strategy):
    """Workers that train as they like: variables, of any shape and dtype, lie
    on the parameter servers in turn, and each worker computes on its GPUs, or
    else its processor. `cluster_resolver`: by default a
    TFConfigClusterResolver, if TF_CONFIG has parameter servers. Without a
    cluster, variables lie on the processor, or the only GPU.

    ValueError for a resolver's cluster without "ps" or without this task, and
    for values that are reduced to another worker. A session is of the worker's
    own server, with `strategy.update_config_proto(config)`."""

    def __init__(self, cluster_resolver=None):
        if cluster_resolver is None:
            cluster_resolver = TFConfigClusterResolver()
            jobs = cluster_resolver.cluster_spec().as_dict()
            if "ps" not in jobs or "master" in jobs:
                # TensorFlow's own default knows no cluster.
                cluster_resolver = SimpleClusterResolver(
                    normalize_cluster_spec({}), num_accelerators={
                        "GPU": sum("GPU" in d for d in local_devices())})
        super().__init__(ParameterServerExtended(self, cluster_resolver))


class ContribParameterServerExtended(ParameterServerExtended):
    """Batches of data sets are of one replica each."""
    _global_batch_size = False

    def _make_dataset_iterator(self, dataset):
        return _inputs.DistributedIterator(dataset, self._devices, self._host)
