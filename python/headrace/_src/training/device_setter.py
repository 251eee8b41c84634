"""Where the variables of a model lie that is trained by several tasks."""
import numpy as np

from headrace._src.framework.device_spec import DeviceSpec

STANDARD_PS_OPS = (
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable",
    "MutableHashTableV2", "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
    "MutableDenseHashTableV2", "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator")


class _RoundRobin:
    """The task of each next operation: 0, 1, ..., num_tasks - 1, 0, ..."""

    def __init__(self, num_tasks):
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, unused_op):
        task = self._next
        self._next = (task + 1) % self._num_tasks
        return task


class RandomStrategy:
    """A `ps_strategy`: a task at random, from `seed`, where all tasks are as
    likely."""

    def __init__(self, num_ps, seed=0):
        self._num_ps = num_ps
        self._random = np.random.RandomState(seed)

    def __call__(self, op):
        return self._random.randint(0, self._num_ps)


class GreedyLoadBalancingStrategy:
    """A `ps_strategy`: the task with the least load yet. `load_fn` says the
    load of an Operation, as byte_size_load_fn does."""

    def __init__(self, num_tasks, load_fn):
        self._load_fn = load_fn
        self._loads = np.zeros(num_tasks)

    def __call__(self, op):
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """The bytes of the output of `op`: of a reference variable its size, of a
    resource variable that of its handle, as in TensorFlow, so that the workers
    of a mixed cluster agree. ValueError without a static shape, or with several
    outputs."""
    if len(op.outputs) != 1:
        raise ValueError("Op %s must have a single output" % op)
    output = op.outputs[0]
    output.get_shape().assert_is_fully_defined()
    return output.get_shape().num_elements() * output.dtype.size


class _Setter:
    def __init__(self, ps_device, worker_device, merge_devices, ps_ops,
                 ps_strategy):
        self._ps = DeviceSpec.from_string(ps_device)
        self._worker = DeviceSpec.from_string(worker_device or "")
        self._merge_devices = merge_devices
        self._ps_ops = ps_ops
        self._ps_strategy = ps_strategy

    def __call__(self, op):
        if not self._merge_devices and op.device:
            return op.device
        asked = DeviceSpec.from_string(op.device or "")
        device = self._worker
        if op.type in self._ps_ops:
            device = self._ps
            if device.job and asked.job in (None, device.job):
                device = device.replace(task=self._ps_strategy(op))
        return device.make_merged_spec(asked).to_string()


def replica_device_setter(ps_tasks=0, ps_device="/job:ps",
                          worker_device="/job:worker", merge_devices=True,
                          cluster=None, ps_ops=None, ps_strategy=None):
    """A function for tf.device, which puts variables on the tasks of the
    parameter servers and the rest on the worker; None if there are no
    parameter servers.

    ps_tasks: their number; with `cluster` it is counted there.
    ps_device, worker_device: the devices; the task of the first is chosen.
    merge_devices: if false, an operation that asks for a device keeps it alone.
    cluster: a tf.train.ClusterSpec, or what one is made of.
    ps_ops: the types of the operations that are put on parameter servers.
    ps_strategy: a function from such an Operation to its task; by default one
    after the other. TypeError if it is no function.

    It looks at operations, not at shapes or dtypes."""
    if cluster is not None:
        from headrace._src.training.server_lib import ClusterSpec
        job = DeviceSpec.from_string(ps_device).job
        tasks = ClusterSpec(cluster).as_dict().get(job)
        if not tasks:
            return None
        ps_tasks = len(tasks)
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        ps_strategy = _RoundRobin(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    return _Setter(ps_device, worker_device, merge_devices,
                   STANDARD_PS_OPS if ps_ops is None else ps_ops, ps_strategy)
