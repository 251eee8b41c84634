"""DeviceSpec: the parts of a device's name."""
_TYPES = ("CPU", "GPU")


def _number(value):
    return None if value is None else int(value)


class DeviceSpec:
    """A device's name, or a part of one: `job` (a string), `replica` and `task`
    (integers), `device_type` ("CPU", "GPU"...) and `device_index`; None where
    a part is not said. The parts can be assigned to. tf.device takes it.

    ValueError for a number that is not one."""

    def __init__(self, job=None, replica=None, task=None, device_type=None,
                 device_index=None):
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    job = property(lambda self: self._job, lambda self, value: setattr(
        self, "_job", None if value is None else str(value)))
    replica = property(lambda self: self._replica, lambda self, value: setattr(
        self, "_replica", _number(value)))
    task = property(lambda self: self._task, lambda self, value: setattr(
        self, "_task", _number(value)))
    device_type = property(
        lambda self: self._device_type, lambda self, value: setattr(
            self, "_device_type",
            value.upper() if value in ("cpu", "gpu") else value))
    device_index = property(
        lambda self: self._device_index, lambda self, value: setattr(
            self, "_device_index", _number(value)))

    def _parts(self):
        return {"job": self.job, "replica": self.replica, "task": self.task,
                "device_type": self.device_type,
                "device_index": self.device_index}

    @classmethod
    def from_string(cls, spec):
        """The DeviceSpec of a name as "/job:worker/task:1/device:CPU:0" or
        "/cpu:0". ValueError for an attribute that names have not."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec):
        """Replaces all parts by those of the name, and returns this object."""
        found = {}
        for part in (spec.split("/") if spec else ()):
            if not part:
                continue
            fields = part.split(":")
            key = fields[0]
            if key in ("job", "replica", "task") and len(fields) == 2:
                found[key] = fields[1]
                continue
            if key == "device" and len(fields) == 3:
                fields = fields[1:]
            elif key.upper() in _TYPES and len(fields) == 1:
                fields = [key, "*"]
            elif key.upper() not in _TYPES or len(fields) != 2:
                raise ValueError("Unknown attribute: '%s' in '%s'" % (key, spec))
            if "device_type" in found:
                raise ValueError("Cannot specify multiple device types: %s"
                                 % spec)
            found["device_type"] = (
                fields[0].upper() if fields[0].upper() in _TYPES
                else fields[0])
            found["device_index"] = None if fields[1] == "*" else fields[1]
        self.__init__(**found)
        return self

    def merge_from(self, dev):
        """Takes over the parts that `dev` says."""
        self.__init__(**self._merged(dev))

    def make_merged_spec(self, dev):
        """A DeviceSpec of these parts, except those that `dev` says."""
        return type(self)(**self._merged(dev))

    def _merged(self, dev):
        return {**self._parts(),
                **{k: v for k, v in dev._parts().items() if v is not None}}

    def replace(self, **kwargs):
        """A copy with other parts."""
        return type(self)(**{**self._parts(), **kwargs})

    def to_string(self):
        """The name, as "/job:worker/task:1/device:CPU:0"."""
        name = "".join(
            "/%s:%s" % (key, value) for key, value in (
                ("job", self.job), ("replica", self.replica),
                ("task", self.task)) if value is not None)
        if self.device_type is None:
            return name
        index = "*" if self.device_index is None else self.device_index
        return "%s/device:%s:%s" % (name, self.device_type, index)

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and (
            self._parts() == other._parts())

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return "<DeviceSpec %r>" % self.to_string()
