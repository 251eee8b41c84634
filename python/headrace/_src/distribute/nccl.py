"""tensorflow.python.ops.nccl_ops and tf.contrib.nccl: reductions over GPUs by
NCCL. There is no such op here, so all of them raise once their arguments are
checked."""
from headrace._src.framework.errors import UnimplementedError


def _refuse(name, tensors, what):
    """ValueError for no tensors and for tensors without a device, else
    UnimplementedError."""
    if not tensors:
        raise ValueError("Must pass >0 tensors to %s operations" % what)
    for t in tensors:
        if not t.device:
            raise ValueError("Device assignment required for nccl "
                             "collective ops")
    raise UnimplementedError(
        None, None, "nccl.%s: no op Nccl%s for the devices %s; use tf.add_n, "
        "tf.distribute.HierarchicalCopyAllReduce, or collective ops over "
        "servers" % (name, "AllReduce" if what == "all reduce" else
                     "Reduce" if what == "reduce" else "Broadcast",
                     ", ".join(t.device for t in tensors)))


def all_sum(tensors):
    """The sum of tensors, on the device of each. UnimplementedError; ValueError
    for none and for tensors without a device."""
    _refuse("all_sum", tensors, "all reduce")


def all_prod(tensors):
    """The product of tensors, as all_sum."""
    _refuse("all_prod", tensors, "all reduce")


def all_min(tensors):
    """The least of tensors, as all_sum."""
    _refuse("all_min", tensors, "all reduce")


def all_max(tensors):
    """The greatest of tensors, as all_sum."""
    _refuse("all_max", tensors, "all reduce")


def reduce_sum(tensors):
    """The sum of tensors on one of their devices, as all_sum."""
    _refuse("reduce_sum", tensors, "reduce")


def broadcast(tensor):
    """A tensor for all devices, as all_sum."""
    _refuse("broadcast", [tensor], "broadcast")
