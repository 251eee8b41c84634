"""tf.config: what sessions without a ConfigProto of their own take. A change holds
for sessions that are made after it."""
import collections
import functools

from headrace._headrace import executing_eagerly
from headrace._loading import load
from headrace._src.framework import errors
from headrace._src.framework import messages
from headrace._src.session import session as _session

PhysicalDevice = collections.namedtuple("PhysicalDevice", "name device_type")
LogicalDevice = collections.namedtuple("LogicalDevice", "name device_type")


class VirtualDeviceConfiguration(
        collections.namedtuple("VirtualDeviceConfiguration", "memory_limit")):
    """One of the devices that a physical device is divided into. CPUs have no
    `memory_limit`."""

    def __new__(cls, memory_limit=None):
        return super().__new__(cls, memory_limit)


_SWITCHES = (
    "layout_optimizer", "constant_folding", "shape_optimization", "remapping",
    "arithmetic_optimization", "dependency_optimization", "loop_optimization",
    "function_optimization", "debug_stripper", "scoped_allocator_optimization",
    "pin_to_host_optimization", "implementation_selector",
    "auto_mixed_precision")
_VALUES = ("disable_model_pruning", "disable_meta_optimizer", "min_graph_nodes")
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


class _Settings:
    """What was set."""

    def __init__(self):
        self.inter_op_threads = self.intra_op_threads = 0
        self.soft_placement = self.jit = False
        self.options = {}
        self.visible = None       # all
        self.growth = {}          # by PhysicalDevice
        self.virtual = {}         # PhysicalDevice: its configurations
        self.policy = "silent"
        self.synchronous = True


_settings = _Settings()


def _change(**values):
    """Sets some values, which sessions take from now on."""
    vars(_settings).update(values)
    _session.set_default_config(_config)


@functools.cache
def _physical():
    """All devices of this process, whatever is visible."""
    from headrace._src.framework.graph import Graph
    with _session.Session(graph=Graph(),
                          config=messages.ConfigProto()) as session:
        devices = session.list_devices()
    return [PhysicalDevice("/physical_device:" + d.name.rpartition("device:")[2],
                           d.device_type) for d in devices]


def _visible():
    return _physical() if _settings.visible is None else _settings.visible


def _config():
    """The ConfigProto of what is set."""
    s = _settings
    config = messages.ConfigProto(
        inter_op_parallelism_threads=s.inter_op_threads,
        intra_op_parallelism_threads=s.intra_op_threads,
        allow_soft_placement=s.soft_placement)
    if s.jit:
        config.graph_options.optimizer_options.global_jit_level = (
            messages.OptimizerOptions.ON_1)
    rewrite = config.graph_options.rewrite_options
    for name, value in s.options.items():
        if name in _SWITCHES:
            value = (messages.RewriterConfig.ON if value
                     else messages.RewriterConfig.OFF)
        setattr(rewrite, name, value)
    if s.visible is not None or s.virtual:
        _count_devices(config)
    growths = {s.growth.get(d, False) for d in _visible()
               if d.device_type == "GPU"} if s.growth else set()
    if len(growths) > 1:
        raise ValueError("Memory growth cannot differ between GPU devices")
    config.gpu_options.allow_growth = growths == {True}
    return config


def _count_devices(config):
    counts = {"CPU": 0, "GPU": 0}
    for device in _visible():
        counts[device.device_type] = counts.get(device.device_type, 0) + len(
            _settings.virtual.get(device, [None]))
    if not counts["CPU"]:
        raise errors.NotFoundError(
            None, None, "No CPU devices are available in this process: make one "
            "visible by tf.config.experimental.set_visible_devices")
    for kind, count in counts.items():
        config.device_count[kind] = count
    gpus = [d for d in _physical() if d.device_type == "GPU"]
    shown = [str(i) for i, d in enumerate(gpus) if d in _visible()]
    if 0 < len(shown) < len(gpus):
        config.gpu_options.visible_device_list = ",".join(shown)


# tf.config and tf.config.threading.

def get_inter_op_parallelism_threads():
    """How many nodes run at once; 0: as many as there are processors."""
    return _settings.inter_op_threads


def set_inter_op_parallelism_threads(num_threads):
    """As ConfigProto.inter_op_parallelism_threads."""
    _change(inter_op_threads=_threads(num_threads))


def get_intra_op_parallelism_threads():
    """How many threads a node may use; 0: as many as there are processors."""
    return _settings.intra_op_threads


def set_intra_op_parallelism_threads(num_threads):
    """As ConfigProto.intra_op_parallelism_threads."""
    _change(intra_op_threads=_threads(num_threads))


def _threads(number):
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError("num_threads must be an integer from 0 on, but got %r"
                         % (number,))
    return number


def get_soft_device_placement():
    """Whether a node may run elsewhere than its device says."""
    return _settings.soft_placement


def set_soft_device_placement(enabled):
    """As ConfigProto.allow_soft_placement."""
    _change(soft_placement=bool(enabled))


def experimental_list_devices():
    """The names of the devices that sessions have."""
    return [device.name for device in list_logical_devices()]


# tf.config.optimizer.

def get_jit():
    """Whether set_jit(True) was called."""
    return _settings.jit


def set_jit(enabled):
    """Sets global_jit_level of the OptimizerOptions. There is no XLA here: the
    graph passes fuse nodes in either case."""
    _change(jit=bool(enabled))


def get_experimental_options():
    """{name: value} of the options that are set, and of the two that switch all
    off."""
    return {"disable_model_pruning": False, "disable_meta_optimizer": False,
            **_settings.options}


def set_experimental_options(options):
    """Sets some options of the RewriterConfig: True or False, by name, and the
    number `min_graph_nodes`. ValueError for a name that is none of its
    fields."""
    unknown = sorted(set(options) - {*_SWITCHES, *_VALUES})
    if unknown:
        raise ValueError("no option of the optimizer is named %r; there are %s"
                         % (unknown[0], ", ".join([*_SWITCHES, *_VALUES])))
    _change(options={**_settings.options, **options})


# tf.config.experimental.

def _of_type(devices, device_type):
    return [d for d in devices if device_type in (None, d.device_type)]


def list_physical_devices(device_type=None):
    """The devices of this machine that this library can use, as PhysicalDevice
    (name, device_type); of one type, "CPU" or "GPU", if it is given."""
    return _of_type(_physical(), device_type)


def list_logical_devices(device_type=None):
    """The devices that sessions have now, as LogicalDevice (name,
    device_type)."""
    from headrace._src.framework.graph import Graph
    with _session.Session(graph=Graph()) as session:
        devices = session.list_devices()
    return _of_type([LogicalDevice(d.name, d.device_type) for d in devices],
                    device_type)


def get_visible_devices(device_type=None):
    """The physical devices that sessions may use."""
    return _of_type(_visible(), device_type)


def set_visible_devices(devices, device_type=None):
    """Sessions use these physical devices alone, of all types or of the one that
    is given. ValueError for what list_physical_devices does not have."""
    devices = list(devices) if isinstance(devices, (list, tuple)) and not (
        isinstance(devices, PhysicalDevice)) else [devices]
    for device in devices:
        if device not in list_physical_devices(device_type):
            raise ValueError("Unrecognized device: %r" % (device,))
    kept = [] if device_type is None else [
        d for d in _visible() if d.device_type != device_type]
    _change(visible=kept + devices)


def _check(device):
    if device not in _physical():
        raise ValueError("Unrecognized device: %r" % (device,))


def get_memory_growth(device):
    """Whether a GPU takes memory when it needs it. ValueError for others."""
    _check(device)
    if device.device_type != "GPU":
        raise ValueError("Memory growth is of GPUs alone, got %s" % device.name)
    return _settings.growth.get(device, False)


def set_memory_growth(device, enable):
    """As GPUOptions.allow_growth, of a GPU. All must have the same."""
    _check(device)
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    _change(growth={**_settings.growth, device: bool(enable)})


def get_virtual_device_configuration(device):
    """What set_virtual_device_configuration was given, or None."""
    _check(device)
    return _settings.virtual.get(device)


def set_virtual_device_configuration(device, virtual_devices):
    """Divides a physical CPU into several devices, one for each
    VirtualDeviceConfiguration. ValueError if one has a memory limit;
    NotImplementedError for GPUs."""
    _check(device)
    if device.device_type != "CPU":
        raise NotImplementedError(
            "a %s cannot be divided into virtual devices here: only CPUs can; "
            "use %s as one device" % (device.device_type, device.name))
    if any(v.memory_limit is not None for v in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is "
                         "currently not supported")
    _change(virtual={**_settings.virtual, device: list(virtual_devices)})


# These concern eager execution: they change no session.

def get_device_policy():
    """How eager execution would copy between devices: what was set."""
    return _settings.policy


def set_device_policy(device_policy):
    """Sets what happens to inputs of eagerly executed ops that are on other
    devices. ValueError for what is no policy."""
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError("Not a valid device policy: %r" % (device_policy,))
    _change(policy=device_policy or "silent")
    if executing_eagerly():
        load("_src.eager.context").context().device_policy = (
            _POLICIES.index(device_policy or "silent"))


def get_synchronous_execution():
    """What set_synchronous_execution was given; True at first."""
    return _settings.synchronous


def set_synchronous_execution(enable):
    """Kept for get_synchronous_execution, without an effect: it concerns eager
    execution."""
    _change(synchronous=bool(enable))
