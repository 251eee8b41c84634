"""tensorflow.python.distribute.strategy_combinations: strategies and optimizers
for the arguments of tests. Those of GPUs that the process has not are left out
of a test, and so are those of TPUs."""
import headrace as _hr
from headrace._src.compat.combinations import (
    NamedDistribution, NamedObject, combine)
from headrace._src.distribute.mirrored import MirroredStrategy
from headrace._src.distribute.one_device import OneDeviceStrategy
from headrace._src.distribute.parameter_server import CentralStorageStrategy
from headrace._src.distribute.strategy import get_default_strategy
from headrace._src.session import config as _config


def _tpu():
    raise NotImplementedError("TPUs are not supported")


def _one(name, device, gpus=None):
    return NamedDistribution(name, lambda: OneDeviceStrategy(device), gpus)


def _mirrored(name, devices, gpus=None):
    return NamedDistribution(name, lambda: MirroredStrategy(devices), gpus)


_WORKER_1 = "/job:worker/replica:0/task:1/"
default_strategy = NamedDistribution("Default", get_default_strategy)
one_device_strategy = _one("OneDeviceCPU", "/cpu:0")
one_device_strategy_gpu = _one("OneDeviceGPU", "/gpu:0", 1)
one_device_strategy_on_worker_1 = _one("OneDeviceOnWorker1CPU",
                                       _WORKER_1 + "cpu:0")
one_device_strategy_gpu_on_worker_1 = _one("OneDeviceOnWorker1GPU",
                                           _WORKER_1 + "gpu:0", 1)
tpu_strategy = NamedDistribution("TPU", _tpu, required_tpu=True)
tpu_strategy_one_step = NamedDistribution("TPUOneStep", _tpu,
                                          required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _tpu,
                                          required_tpu=True)
tpu_strategy_one_step_one_core = NamedDistribution("TPUOneStepOneCore", _tpu,
                                                   required_tpu=True)
mirrored_strategy_with_one_cpu = _mirrored("Mirrored1CPU", ["/cpu:0"])
mirrored_strategy_with_one_gpu = _mirrored("Mirrored1GPU", ["/gpu:0"], 1)
mirrored_strategy_with_gpu_and_cpu = _mirrored("MirroredCPUAndGPU",
                                               ["/gpu:0", "/cpu:0"], 1)
mirrored_strategy_with_two_gpus = _mirrored("Mirrored2GPUs",
                                            ["/gpu:0", "/gpu:1"], 2)
mirrored_strategy_with_cpu_1_and_2 = _mirrored("Mirrored2CPU",
                                               ["/cpu:1", "/cpu:2"])
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs",
    lambda: CentralStorageStrategy(["/gpu:0", "/gpu:1"]), required_gpus=2)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU",
    lambda: CentralStorageStrategy(["/gpu:0", "/cpu:0"]), required_gpus=1)

gradient_descent_optimizer_v1_fn = NamedObject(
    "GradientDescentV1", lambda: _hr.train.GradientDescentOptimizer(0.2))
adagrad_optimizer_v1_fn = NamedObject(
    "AdagradV1", lambda: _hr.train.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject(
    "AdamV1", lambda: _hr.train.AdamOptimizer(0.001, epsilon=1))
rmsprop_optimizer_v1_fn = NamedObject(
    "RmsPropV1", lambda: _hr.train.RMSPropOptimizer(0.001))
optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]
gradient_descent_optimizer_keras_v2_fn = NamedObject(
    "GradientDescentKerasV2", lambda: _hr.keras.optimizers.SGD(0.2))
adagrad_optimizer_keras_v2_fn = NamedObject(
    "AdagradKerasV2", lambda: _hr.keras.optimizers.Adagrad(0.001))
adam_optimizer_keras_v2_fn = NamedObject(
    "AdamKerasV2", lambda: _hr.keras.optimizers.Adam(0.001, epsilon=1.0))
rmsprop_optimizer_keras_v2_fn = NamedObject(
    "RmsPropKerasV2", lambda: _hr.keras.optimizers.RMSprop(0.001))
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn,
                 adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2
graph_and_eager_modes = ["graph", "eager"]
strategies_minus_tpu = [
    default_strategy, one_device_strategy, one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu, mirrored_strategy_with_two_gpus]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]
_with_optimizers = [one_device_strategy, mirrored_strategy_with_gpu_and_cpu,
                    mirrored_strategy_with_two_gpus]


def set_virtual_cpus_to_at_least(num_virtual_cpus):
    """Sessions have so many processors. ValueError for none, RuntimeError if
    fewer were set before."""
    if num_virtual_cpus < 1:
        raise ValueError("`num_virtual_cpus` must be at least 1 not %r"
                         % (num_virtual_cpus,))
    device = _config.list_physical_devices("CPU")[0]
    given = _config.get_virtual_device_configuration(device)
    if given is None:
        _config.set_virtual_device_configuration(device, [
            _config.VirtualDeviceConfiguration()
            for _ in range(num_virtual_cpus)])
    elif len(given) < num_virtual_cpus:
        raise RuntimeError("Already configured with %d < %d virtual CPUs"
                           % (len(given), num_virtual_cpus))


def distributions_and_v1_optimizers():
    """Strategies with optimizers of tf.train."""
    return combine(distribution=_with_optimizers, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers():
    """Strategies with optimizers of tf.keras."""
    return combine(distribution=_with_optimizers, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers():
    """Strategies with optimizers of both."""
    return combine(distribution=_with_optimizers,
                   optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations():
    """Strategies without TPUs."""
    return combine(distribution=strategies_minus_tpu,
                   mode=graph_and_eager_modes)


def tpu_strategy_combinations():
    """Strategies of TPUs."""
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations():
    """All strategies."""
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations():
    """Strategies without TPUs and without that of programs that set none."""
    return combine(distribution=strategies_minus_tpu[1:],
                   mode=graph_and_eager_modes)


def all_strategy_combinations_minus_default():
    """All strategies without that of programs that set none."""
    return (all_strategy_minus_default_and_tpu_combinations()
            + tpu_strategy_combinations())
