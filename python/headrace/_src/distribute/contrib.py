"""tf.contrib.distribute: strategies with the arguments that they had there."""
from headrace._src.distribute import inputs as _inputs
from headrace._src.distribute.collective import (
    CollectiveAllReduceExtended, CollectiveCommunication)
from headrace._src.distribute.mirrored import (
    MirroredExtended, checked_devices, local_devices)
from headrace._src.distribute.parameter_server import (
    ContribParameterServerExtended)
from headrace._src.distribute.strategy import Strategy
from headrace._src.framework.errors import OutOfRangeError
from headrace._src.training.cluster_resolver import (
    SimpleClusterResolver, TFConfigClusterResolver)
from headrace._src.variables.variables import global_variables_initializer


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


def _cluster(gpus):
    """The cluster of TF_CONFIG, whose workers have so many GPUs each."""
    found = TFConfigClusterResolver()
    return SimpleClusterResolver(
        found.cluster_spec(), task_type=found.task_type,
        task_id=found.task_id, num_accelerators={"GPU": gpus},
        rpc_layer=found.rpc_layer)


class ParameterServerStrategy(Strategy):
    """As tf.distribute.experimental.ParameterServerStrategy, on
    `num_gpus_per_worker` GPUs, or the processor if it is 0; each replica gets
    whole batches of make_dataset_iterator(). Variables are of any shape and
    dtype. ValueError for a cluster of TF_CONFIG without "ps" or without this
    task, and for more GPUs than there are."""

    def __init__(self, num_gpus_per_worker=0):
        _devices(num_gpus_per_worker)
        super().__init__(ContribParameterServerExtended(
            self, _cluster(num_gpus_per_worker)))


class CollectiveAllReduceStrategy(Strategy):
    """As tf.distribute.experimental.MultiWorkerMirroredStrategy, on
    `num_gpus_per_worker` GPUs of each worker, or its processor if it is 0.
    Variables are of any shape and dtype. ValueError for a cluster of TF_CONFIG
    without this task, for more GPUs than there are, and for no
    CollectiveCommunication."""

    def __init__(self, num_gpus_per_worker=0,
                 communication=CollectiveCommunication.AUTO):
        _devices(num_gpus_per_worker)
        super().__init__(CollectiveAllReduceExtended(
            self, communication, _cluster(num_gpus_per_worker)))


class Monitor:
    """Runs a Step in a session, after its initialize() and all variables'
    initializers. It may be of any shape and dtype. ValueError without a
    session."""

    def __init__(self, step_callable, session=None):
        if session is None:
            raise ValueError("Should provide a `session` in Graph mode.")
        session.run(step_callable.initialize())
        step = step_callable()
        session.run(global_variables_initializer())
        self._run_step = lambda: session.run(step)

    def run_steps(self, num_steps=None):
        """Runs so many steps, or all until the data ends."""
        step = 0
        while num_steps is None or step < num_steps:
            try:
                self._run_step()
            except OutOfRangeError:
                break
            step += 1


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
