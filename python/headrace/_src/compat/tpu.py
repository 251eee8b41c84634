"""tensorflow.python.tpu: what libraries need that can do with a TPU and without.
There are none here."""
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
