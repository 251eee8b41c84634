"""`==` of tensors and variables by their values, as tf.enable_tensor_equality
asks for."""
from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor
from headrace._src.variables.base import Variable

_kept: dict = {}


def _equal(self, other):
    if other is None:
        return False
    try:
        return _raw.Equal(self, other)
    except (TypeError, ValueError):
        return False


def _not_equal(self, other):
    if other is None:
        return True
    try:
        return _raw.NotEqual(self, other)
    except (TypeError, ValueError):
        return True


def _no_hash(self):
    raise TypeError("%s is unhashable if Tensor equality is enabled. Instead, "
                    "use tensor.experimental_ref() as the key."
                    % type(self).__name__)


def enable():
    """Compares values from now on."""
    if _kept:
        return
    for cls in Tensor, EagerTensor, Variable:
        _kept[cls] = cls.__eq__, cls.__ne__, cls.__hash__
        cls.__eq__, cls.__ne__ = _equal, _not_equal
        cls.__hash__ = _no_hash


def disable():
    """Compares objects again."""
    for cls, (equal, not_equal, own_hash) in _kept.items():
        cls.__eq__, cls.__ne__, cls.__hash__ = equal, not_equal, own_hash
    _kept.clear()
