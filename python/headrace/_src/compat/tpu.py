"""tensorflow.python.tpu: what libraries need that can do with a TPU and without.
There are none here."""
import contextlib

from headrace._src.control.contexts import ControlFlowContext


class NoTpu:
    """A class of things of TPUs, of which there are no objects."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "TPUs are not supported; TPUEstimator(use_tpu=False) trains on CPUs")


class TensorTracer(NoTpu):
    """What watches tensors on TPUs."""

    @staticmethod
    def is_enabled():
        return False


class XLAControlFlowContext(ControlFlowContext):
    """The part of a graph that XLA compiles; there is none."""


def is_running_in_gce():
    """False: no TPUs are looked for."""
    return False


class TpuContext:
    """What code that may run on TPUs is told of them. `number_of_shards`: between
    how many a batch is divided; None without TPUs."""

    def __init__(self):
        self._number_of_shards = None

    number_of_shards = property(lambda self: self._number_of_shards)

    def set_number_of_shards(self, number_of_shards):
        self._number_of_shards = number_of_shards


_context = TpuContext()


def get_tpu_context():
    """The TpuContext of this process."""
    return _context


@contextlib.contextmanager
def tpu_shard_context(number_of_shards):
    """Within it get_tpu_context().number_of_shards is the given one.
    NotImplementedError inside another."""
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)
