"""tf.keras.activations: functions of tensors, by name."""
from headrace import raw_ops as _raw
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend, named
from headrace._src.nn import activations as _nn
from headrace._src.ops import math_ops as _math


def linear(x):
    """x itself."""
    return x


def relu(x, alpha=0., max_value=None, threshold=0):
    return backend.relu(x, alpha, max_value, threshold)


def elu(x, alpha=1.0):
    """x, or alpha * (exp(x) - 1) below 0."""
    y = _raw.Elu(x)
    return y if alpha == 1 else _raw.Select(y > 0, y, alpha * y)


def selu(x):
    return _raw.Selu(x)


def softplus(x):
    return _raw.Softplus(x)


def softsign(x):
    return _raw.Softsign(x)


def softmax(x, axis=-1):
    """ValueError for a vector: there is nothing to normalise over."""
    rank = convert_to_tensor(x).get_shape().ndims
    if rank is not None and rank < 2:
        raise ValueError("Cannot apply softmax to a tensor that is 1D")
    if rank is None or rank == 2:
        return _nn.softmax(x, axis=axis)
    powers = _math.exp(x - _math.reduce_max(x, axis=axis, keepdims=True))
    return powers / _math.reduce_sum(powers, axis=axis, keepdims=True)


def sigmoid(x):
    return _math.sigmoid(x)


def tanh(x):
    return _math.tanh(x)


def exponential(x):
    return _math.exp(x)


def hard_sigmoid(x):
    return backend.hard_sigmoid(x)


_KNOWN = {f.__name__: f for f in (
    linear, relu, elu, selu, softplus, softsign, softmax, sigmoid, tanh,
    exponential, hard_sigmoid)}


def get(identifier):
    """The function that a name stands for; None is linear."""
    if identifier is None:
        return linear
    if isinstance(identifier, str) or callable(identifier):
        return (_KNOWN[identifier] if isinstance(identifier, str)
                and identifier in _KNOWN
                else named.find(identifier, "activation function", _KNOWN)
                if isinstance(identifier, str) else identifier)
    raise TypeError("Could not interpret activation function identifier: %r"
                    % (identifier,))


def serialize(activation):
    return getattr(activation, "__name__", activation)


def deserialize(name, custom_objects=None):
    return named.find(name, "activation function",
                      {**_KNOWN, **(custom_objects or {})})
