"""Kernels of convolutions that keep the length of their input: initializers.

A kernel is a product of kernels with two elements along each axis, [P, 1 - P]
with P a random projection, and an orthogonal matrix."""
import itertools

import numpy as np

from headrace._src.framework import dtypes
from headrace._src.framework.tensor_shape import as_list_or_none
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.initializers import (
    Initializer, floating, orthonormal)

_NAMES = {3: "three", 4: "four", 5: "five"}


class _OrthogonalKernel(Initializer):
    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain, self.seed = gain, seed
        self.dtype = floating(dtype)

    def _orthogonal(self, n, dtype):
        """A random orthogonal matrix [n, n]."""
        random = self._random.random_normal([n, n], dtype=dtype,
                                            seed=self.seed)
        if self.seed is not None:
            self.seed += 1  # or all matrices would be equal
        return orthonormal(random)

    def _projection(self, n, dtype):
        """A random projection [n, n]: P = P^T = P P."""
        q = self._orthogonal(n, dtype)
        kept = _math.cast(self._random.random_normal(
            [n], seed=self.seed) > 0, dtype)
        if self.seed is not None:
            self.seed += 1
        columns = q * kept
        return _math.matmul(columns, columns, transpose_b=True)


def _channels(sizes):
    if sizes[-2] > sizes[-1]:
        raise ValueError("In_filters cannot be greater than out_filters.")
    return sizes[-2:]


class ConvolutionDeltaOrthogonal(_OrthogonalKernel):
    """A kernel [..., inputs, outputs] of 1 to 3 axes that is zero but in the
    middle, where its rows are orthonormal, times `gain`.

    `seed`: of the random numbers. `dtype`: floating, or ValueError. In the call
    ValueError for another number of axes, and for more inputs than outputs."""

    def __call__(self, shape, dtype=None, partition_info=None):
        sizes, dtype = as_list_or_none(shape), dtype or self.dtype
        if not 3 <= len(sizes) <= 5:
            raise ValueError("The tensor to initialize must be at least "
                             "three-dimensional and at most five-dimensional")
        inputs, outputs = _channels(sizes)
        middle = self.gain * self._orthogonal(outputs, dtype)[:inputs]
        at = [(size - 1) // 2 for size in sizes[:-2]]
        around = [[i, size - 1 - i] for i, size in zip(at, sizes)]
        return _array.pad(
            _array.reshape(middle, [1] * len(at) + [inputs, outputs]),
            around + [[0, 0], [0, 0]])


class _ConvolutionOrthogonal(_OrthogonalKernel):
    axes: int  # of the kernel

    def __call__(self, shape, dtype=None, partition_info=None):
        sizes, dtype = as_list_or_none(shape), dtype or self.dtype
        if len(sizes) != self.axes + 2:
            raise ValueError("The tensor to initialize must be %s-dimensional"
                             % _NAMES[self.axes + 2])
        inputs, outputs = _channels(sizes)
        if len(set(sizes[:self.axes])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        rows = self._orthogonal(outputs, dtype)[:inputs]
        kernel = {(0,) * self.axes: self.gain * rows}
        for _ in range(sizes[0] - 1):
            kernel = _convolved(kernel, self._short(outputs, dtype))
        return _array.reshape(
            _array.stack([kernel[at] for at in sorted(kernel)]), sizes)

    def _short(self, n, dtype):
        """{position: matrix} of a kernel with two elements along each axis."""
        one = _array.eye(n, dtype=dtype)
        pairs = []
        for _ in range(self.axes):
            p = self._projection(n, dtype)
            pairs.append((p, one - p))
        found = {}
        for at in itertools.product((0, 1), repeat=self.axes):
            factors = [pair[i] for pair, i in zip(pairs, at)]
            product = factors[0]
            for factor in factors[1:]:
                product = _math.matmul(product, factor)
            found[at] = product
        return found


def _convolved(left, right):
    """The product of two kernels."""
    found = {}
    for a, b in itertools.product(left, right):
        at = tuple(int(i) for i in np.add(a, b))
        term = _math.matmul(left[a], right[b])
        found[at] = found[at] + term if at in found else term
    return found


class ConvolutionOrthogonal1D(_ConvolutionOrthogonal):
    """A kernel [size, inputs, outputs] of a convolution that keeps the length
    of what it is given, where that is continued around, times `gain`.

    `seed`: of the random numbers. `dtype`: floating, or ValueError. In the call
    ValueError for another number of axes, and for more inputs than outputs."""
    axes = 1


class ConvolutionOrthogonal2D(_ConvolutionOrthogonal):
    """A kernel [size, size, inputs, outputs], as ConvolutionOrthogonal1D makes
    them; ValueError for two sizes as well."""
    axes = 2


class ConvolutionOrthogonal3D(_ConvolutionOrthogonal):
    """A kernel [size, size, size, inputs, outputs], as ConvolutionOrthogonal1D
    makes them; ValueError for several sizes as well."""
    axes = 3
