"""tf.distribute's strategies that put everything on one device."""
import contextlib

from headrace._src.distribute.strategy import (
    Between, InputContext, InputReplicationMode, ReplicaContext, Strategy,
    StrategyExtended, entered, get_strategy, has_strategy)
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import device
from headrace._src.framework.tensor import constant
from headrace._src.variables.base import variable_creator_scope


def _canonical(name):
    """The whole name of a device of this process. ValueError for another
    text."""
    spec = DeviceSpec.from_string(name)
    return DeviceSpec(
        job=spec.job, replica=spec.replica or 0, task=spec.task or 0,
        device_type=spec.device_type or "CPU",
        device_index=spec.device_index or 0).to_string()


def _creator_on(name):
    """Makes resource variables on a device."""
    def create(next_creator, **options):
        options["use_resource"] = True
        with device(name):
            return next_creator(**options)
    return create


class _Extended(StrategyExtended):
    def __init__(self, strategy, name):
        super().__init__(strategy)
        self._device = name

    worker_devices = property(lambda self: (self._device,))
    parameter_devices = property(lambda self: (self._device,))

    def _devices_of_replica(self):
        return self.worker_devices

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """What fn(*args, **kwargs) returns in the replica, on the device."""
        with device(self._device):
            context = ReplicaContext(self._strategy, constant(0))
            with context:
                return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op, value, destinations):
        with device(self._device):
            return super().reduce_to(reduce_op, value, destinations)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        with device(self._device), entered(Between(self._strategy)):
            return self._updated(fn(var, *args, **(kwargs or {})), group)

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None,
                        group=True):
        with device(self._device), entered(Between(self._strategy)):
            return self._updated(fn(*args, **(kwargs or {})), group)

    def non_slot_devices(self, var_list):
        return self.worker_devices


class _Iterator:
    """The elements of a data set, for replicas."""

    def __init__(self, dataset):
        self._iterator = dataset.make_initializable_iterator()

    def initialize(self):
        """The operation that begins with the first element."""
        return self._iterator.initializer

    initializer = property(initialize)

    def get_next(self):
        """Tensors of the next element."""
        return self._iterator.get_next()

    output_types = property(lambda self: self._iterator.output_types)
    output_shapes = property(lambda self: self._iterator.output_shapes)
    output_classes = property(lambda self: self._iterator.output_classes)


class OneDeviceStrategy(Strategy):
    """Puts variables and the functions of the one replica on `device`, the name
    of a device of this process or of another task. Variables made in `scope()`
    are resource variables. ValueError for what names no device; RuntimeError
    for the scope of a strategy in that of another."""

    def __init__(self, device):
        super().__init__(_Extended(self, _canonical(device)))

    @contextlib.contextmanager
    def scope(self):
        """Variables made in it are the strategy's, and lie on its device."""
        if has_strategy() and get_strategy() is not self:
            raise RuntimeError(
                "Mixing different tf.distribute.Strategy objects: %s is not %s"
                % (self, get_strategy()))
        with entered(Between(self)), variable_creator_scope(
                _creator_on(self._extended._device)):
            yield self

    def make_dataset_iterator(self, dataset):
        """An iterator over batches, which has `initialize()`."""
        return _Iterator(dataset)

    def make_input_fn_iterator(
            self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """The same over the data set input_fn(InputContext)."""
        return _Iterator(input_fn(InputContext()))


class MirroredStrategy(OneDeviceStrategy):
    """One replica on the device of `devices`, by default the processor. As in
    TensorFlow, a machine without GPUs is one device. NotImplementedError for
    several: Headrace mirrors no variables."""

    def __init__(self, devices=None, cross_device_ops=None):
        if isinstance(devices, str):
            raise ValueError("devices of MirroredStrategy must be a list of "
                             "names, got %r" % devices)
        names = [_canonical(d) for d in devices or ["/device:CPU:0"]]
        if len(set(names)) < len(names):
            raise AssertionError("No duplicates allowed in `devices` argument: "
                                 "%s" % (tuple(names),))
        if len(names) > 1:
            raise NotImplementedError(
                "MirroredStrategy on %d devices, %s: variables are not "
                "mirrored; use tf.device and one tower a device, or "
                "tf.train.SyncReplicasOptimizer"
                % (len(names), ", ".join(names)))
        super().__init__(names[0])
