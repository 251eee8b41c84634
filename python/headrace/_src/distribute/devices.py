"""Names of devices, as strategies compare them."""
from headrace._src.framework.device_spec import DeviceSpec
from headrace._src.framework.graph import get_default_graph


class _Asked:
    """Learns the device that a node made now would have."""
    device = ""
    type = name = "_Asked"

    def _set_device(self, device):
        self.device = device

    def _set_device_from_string(self, device):
        self.device = device


def current_device():
    """The device that the blocks around ask for, or ""."""
    graph = get_default_graph()
    if not any(callable(d) for d in graph._device_stack):
        return graph._device
    asked = _Asked()
    for entry in reversed(graph._device_stack):
        if entry is None:
            break
        name = entry(asked) if callable(entry) else entry
        if name:
            name = name if isinstance(name, str) else name.to_string()
            asked.device = DeviceSpec.from_string(name).make_merged_spec(
                DeviceSpec.from_string(asked.device)).to_string()
    return asked.device


def canonical(name, default=""):
    """The whole name of a device of this process, or of the job that `name`
    has. What `name` leaves out is `default`'s, then the first processor's.
    ValueError for another text."""
    spec = DeviceSpec(replica=0, task=0, device_type="CPU", device_index=0)
    if default:
        spec = spec.make_merged_spec(DeviceSpec.from_string(default))
    return spec.make_merged_spec(DeviceSpec.from_string(name)).to_string()


def resolved(name):
    """canonical() with what the blocks around ask for."""
    return canonical(name, current_device())


def host_of(name):
    """The first processor of the task of a device."""
    return DeviceSpec.from_string(name).replace(
        device_type="CPU", device_index=0).to_string()
