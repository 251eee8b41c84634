"""Which values decide in the run of a graph, not in Python."""
from headrace._headrace import executing_eagerly
from headrace._src.framework import tensor as _tensor


def is_tensor(x):
    """True for a tensor, a variable and the like, unless ops are executed
    eagerly: then Python decides by its value."""
    return _tensor.is_tensor(x) and not executing_eagerly()
