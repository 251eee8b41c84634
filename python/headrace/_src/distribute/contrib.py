"""tf.contrib.distribute: strategies with the arguments that they had there."""
from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.mirrored import (
    MirroredExtended, checked_devices, local_devices)
from headrace._src.distribute.parameter_server import (
    CentralExtended, CollectiveCommunication, require_no_cluster)
from headrace._src.distribute.strategy import Strategy


def _devices(gpus):
    """The first GPUs of the process, or the processor if `gpus` is 0.
    ValueError for more GPUs than there are."""
    if gpus is None:
        return checked_devices(local_devices())
    if gpus == 0:
        return checked_devices(["/device:CPU:0"])
    found = [d for d in local_devices() if "GPU" in d]
    if len(found) < gpus:
        raise ValueError("num_gpus is %d, but this process has %d GPUs"
                         % (gpus, len(found)))
    return checked_devices(found[:gpus])


class _Mirrored(MirroredExtended):
    """Batches of data sets are of one replica each."""
    _global_batch_size = False

    def _make_dataset_iterator(self, dataset):
        return _inputs.DistributedIterator(dataset, self._devices, self._host)


class MirroredStrategy(Strategy):
    """As tf.distribute.MirroredStrategy, but each replica gets whole batches of
    make_dataset_iterator(). `num_gpus` (also `num_gpus_per_worker`): so many
    GPUs, or the processor if 0, in place of `devices`. Variables are of any
    shape and dtype. ValueError for both or too many; `auto_shard_dataset` has
    no effect in one process."""

    def __init__(self, devices=None, num_gpus=None, num_gpus_per_worker=None,
                 cross_device_ops=None, auto_shard_dataset=False,
                 cross_tower_ops=None):
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and "
                             "`num_gpus_per_worker`.")
        gpus = num_gpus_per_worker if num_gpus is None else num_gpus
        if devices is not None and gpus is not None:
            raise ValueError("Must only specify one of `devices` and "
                             "`num_gpus`.")
        super().__init__(_Mirrored(
            self, checked_devices(devices) if devices else _devices(gpus),
            cross_device_ops or cross_tower_ops))


class _Central(CentralExtended):
    """Batches of data sets are of one replica each."""
    _global_batch_size = False

    def _make_dataset_iterator(self, dataset):
        return _inputs.DistributedIterator(dataset, self._devices, self._host)


class ParameterServerStrategy(Strategy):
    """In a process without a cluster: variables, of any shape and dtype, on the
    processor, or the only GPU of `num_gpus_per_worker`, which have a replica
    each. NotImplementedError for a cluster of several tasks, which TF_CONFIG
    has; ValueError for more GPUs than there are."""

    def __init__(self, num_gpus_per_worker=0):
        require_no_cluster("ParameterServerStrategy", None,
                           "tf.train.replica_device_setter")
        devices = _devices(num_gpus_per_worker)
        super().__init__(_Central(
            self, devices, devices[0] if num_gpus_per_worker == 1
            else "/device:CPU:0"))


class CollectiveAllReduceStrategy(Strategy):
    """On one worker: a replica on each of `num_gpus_per_worker` GPUs, or on the
    processor if it is 0, which have copies of the variables, of any shape and
    dtype. NotImplementedError for a cluster of several workers, which
    TF_CONFIG has; ValueError for more GPUs than there are, and for no
    CollectiveCommunication."""

    def __init__(self, num_gpus_per_worker=0,
                 communication=CollectiveCommunication.AUTO):
        CollectiveCommunication(communication)
        require_no_cluster("CollectiveAllReduceStrategy", None,
                           "tf.train.SyncReplicasOptimizer")
        super().__init__(MirroredExtended(self, _devices(num_gpus_per_worker)))


class Step:
    """What a program does in each step: a subclass defines __call__.
    NotImplementedError from one that does not. It has no shape and no
    dtype."""

    def __init__(self, distribution):
        self._distribution = distribution

    distribution = property(lambda self: self._distribution)

    def initialize(self):
        """Operations to run before the first step."""
        return []

    def __call__(self):
        raise NotImplementedError("must be implemented in descendants")


class StandardInputStep(Step):
    """A step over the data set that dataset_fn() gives, of any shapes and
    dtypes. ValueError if it gives none."""

    def __init__(self, dataset_fn, distribution):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(
            lambda _: dataset_fn())

    def initialize(self):
        return self._iterator.initialize()
