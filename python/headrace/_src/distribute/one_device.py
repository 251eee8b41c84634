"""tf.distribute.OneDeviceStrategy: everything on one device."""
import contextlib

from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.devices import canonical, host_of
from headrace._src.distribute.strategy import (
    InputContext, ReplicaContext, Strategy, StrategyExtended, update_on)
from headrace._src.framework.graph import device
from headrace._src.framework.tensor import constant
from headrace._src.variables.base import variable_creator_scope


class _Extended(StrategyExtended):
    def __init__(self, strategy, name):
        super().__init__(strategy)
        self._device = name

    worker_devices = property(lambda self: (self._device,))
    parameter_devices = property(lambda self: (self._device,))

    def _devices_of_replica(self, number):
        return self.worker_devices

    @contextlib.contextmanager
    def _scope(self):
        def create(next_creator, **options):
            options["use_resource"] = True
            colocated = options.pop("colocate_with", None)
            with device(getattr(colocated, "device", None) or self._device):
                variable = next_creator(**options)
            variable._distribute_strategy = self._strategy
            return variable
        with variable_creator_scope(create):
            yield

    def colocate_vars_with(self, colocate_with_variable):
        self._require_between()
        return device(colocate_with_variable.device)

    def _call_for_each_replica(self, fn, args, kwargs):
        with device(self._device):
            with ReplicaContext(self._strategy, constant(0)):
                return fn(*args, **kwargs)

    def _reduce_to(self, reduce_op, value, destinations):
        return value

    def _reduce(self, reduce_op, value):
        return value

    def _broadcast_to(self, tensor, destinations):
        return tensor

    def _update(self, var, fn, args, kwargs, group):
        with device(self._device), update_on(self._device):
            return self._updated(fn(var, *args, **kwargs), group)

    def _update_non_slot(self, colocate_with, fn, args, kwargs, group):
        with device(self._device), update_on(self._device):
            return self._updated(fn(*args, **kwargs), group)

    def non_slot_devices(self, var_list):
        return self.worker_devices

    def _iterator(self, dataset):
        return _inputs.DistributedIterator(dataset, self.worker_devices,
                                           host_of(self._device))

    _make_dataset_iterator = _iterator

    def _make_input_fn_iterator(self, input_fn):
        return _inputs.of_function(input_fn, InputContext(),
                                   self.worker_devices, host_of(self._device))

    def _distribute_dataset(self, dataset):
        return _inputs.DistributedDataset(dataset, self.worker_devices,
                                          host_of(self._device))


class OneDeviceStrategy(Strategy):
    """Puts variables and the functions of the one replica on `device`, the name
    of a device of this process or of another task. Variables made in `scope()`
    are resource variables. ValueError for what names no device; RuntimeError
    for the scope of a strategy in that of another."""

    def __init__(self, device):
        super().__init__(_Extended(self, canonical(device)))
