"""What distributions share whose parameters broadcast against each other."""
import hashlib

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_positive
from headrace._src.control.control_flow import Assert
from headrace._src.distributions.distribution import (
    FULLY_REPARAMETERIZED, Distribution)
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random


def new_seed(seed, salt):
    """The seed of a second random op, or None for none."""
    if seed is None:
        return None
    digest = hashlib.md5((str(seed) + salt).encode()).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF


def column(x):
    """x with one more dimension, of size 1, at the end."""
    return _array.expand_dims(x, -1)


def without_last(shape):
    """A static shape without its last dimension."""
    return shape if shape.ndims is None else shape[:-1]


class Parametric(Distribution):
    """Of the parameters {name: value}, kept as tensors `_name` of one type;
    those that `positive` names are checked with validate_args. TypeError for
    parameters of several types, ValueError for shapes that do not go together."""

    def __init__(self, values, positive, validate_args, allow_nan_stats, name,
                 kind=FULLY_REPARAMETERIZED, own=None):
        parameters = dict(values, validate_args=validate_args,
                          allow_nan_stats=allow_nan_stats, name=name, **own or {})
        tensors = []
        with name_scope(name, values=list(values.values())) as name:
            for key, value in values.items():
                value = convert_to_tensor(value, name=key)
                check = ([assert_positive(value)]
                         if validate_args and key in positive else [])
                with control_dependencies(check):
                    tensors.append(_array.identity(value, name=key))
                setattr(self, "_" + key, tensors[-1])
        types = [t.dtype.base_dtype for t in tensors]
        if any(not t.is_floating or t != types[0] for t in types):
            raise TypeError("%s: parameters must have one floating point type, got %s"
                            % (type(self).__name__, [t.name for t in types]))
        self._tensors = tensors
        self._shape = TensorShape([])
        for t in tensors:
            self._shape = _array.broadcast_static_shape(self._shape,
                                                        t.get_shape())
        super().__init__(types[0], kind, validate_args, allow_nan_stats,
                         parameters, name=name)

    def _batch_shape(self):
        return self._shape

    def _batch_shape_tensor(self):
        shape = _array.shape(self._tensors[0])
        for t in self._tensors[1:]:
            shape = _array.broadcast_dynamic_shape(shape, _array.shape(t))
        return shape

    def _samples(self, n):
        return _array.concat([[n], self.batch_shape_tensor()], 0)

    def _uniform(self, shape, seed):
        """Random numbers above 0, which has no logarithm, and below 1."""
        return _random.random_uniform(
            shape, minval=np.finfo(self.dtype.as_numpy_dtype).tiny, maxval=1.,
            dtype=self.dtype, seed=seed)

    def _wide(self, x):
        """x of the batch's shape."""
        return x * _array.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _where_defined(self, defined, value, what):
        """`value`, and where it is not defined NaN; an error of the run in its
        place without allow_nan_stats."""
        if self.allow_nan_stats:
            nan = convert_to_tensor(float("nan"), dtype=self.dtype)
            return _raw.SelectV2(defined, value, nan)
        check = Assert(_math.reduce_all(defined), [
            "%s of %s is not defined for some parameters" % (what, self.name)])
        with control_dependencies([check]):
            return _array.identity(value)
