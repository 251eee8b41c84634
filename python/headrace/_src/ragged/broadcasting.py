"""Two tensors, one of them ragged, broadcast to a common shape.

From the outermost dimension inwards each operand has, for every slice of the
result, the number of its own slice there. A gather of the innermost values by
these numbers is the operand in the shape of the result.
"""
from headrace import raw_ops as _raw
from headrace._src.control.control_flow import Assert
from headrace._src.framework.graph import control_dependencies
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, is_ragged, same_partition_dtype)


class _Operand:
    """A tensor, and the slices of it that the slices of the result are, in the
    dimensions that were gone through. Dimensions of size 1 stand before its
    own so that it has `rank` of them."""

    def __init__(self, tensor, rank, kind):
        self._missing = rank - tensor.shape.ndims
        self._kind = kind
        self._splits = list(tensor.nested_row_splits) if is_ragged(tensor) else []
        self._flat = tensor.flat_values if is_ragged(tensor) else tensor
        self._sizes = _array.shape(self._flat, out_type=kind)
        self._outer = len(self._splits)  # dimensions before those of _flat
        self._static = tensor.shape
        self._at = None

    def is_ragged(self, axis):
        return 0 < axis - self._missing <= self._outer

    def size(self, axis):
        """Of a uniform dimension."""
        axis -= self._missing
        if axis < 0:
            return _array.ones([], self._kind)
        if axis == 0 and self._outer:
            return _array.shape(self._splits[0], out_type=self._kind)[0] - 1
        return self._sizes[axis - self._outer]

    def static_size(self, axis):
        axis -= self._missing
        return 1 if axis < 0 else self._static[axis].value

    def start(self, count):
        """The outermost dimension has `count` slices."""
        numbers = _math.range(count)
        self._at = numbers if self._missing == 0 else _array.zeros_like(numbers)
        self._at = _math.minimum(self._at, self.size(0) - 1)

    def lengths(self, axis):
        """Those of the ragged dimension `axis`, for each slice of the result
        before it."""
        splits = self._splits[axis - self._missing - 1]
        return _array.gather(_rows.lengths_of(splits), self._at)

    def enter(self, axis, splits, ids):
        """Goes into a dimension that is split so in the result."""
        columns = _math.range(splits[-1]) - _array.gather(splits, ids)
        if self.is_ragged(axis):
            starts = _array.gather(self._splits[axis - self._missing - 1],
                                   self._at)
        elif axis <= self._missing - 1:
            return self._repeat(ids)
        elif axis == self._missing:  # its outermost one
            starts = _array.zeros_like(self._at)
        else:
            starts = self._at * self.size(axis)
        if not self.is_ragged(axis):
            columns = _math.minimum(columns, self.size(axis) - 1)
        self._at = _array.gather(starts, ids) + columns
        return None

    def _repeat(self, ids):
        self._at = _array.gather(self._at, ids)

    def values(self, axis):
        """The values for the slices of dimension `axis` of the result."""
        flat = self._flat
        own = max(axis - self._missing - self._outer, 0)  # dims to be joined
        if own:
            flat = _raw.Reshape(flat, _array.concat(
                [[-1], self._sizes[own + 1:]], 0))
            if self._flat.get_shape().ndims is not None:
                flat.set_shape([None] + self._flat.get_shape().as_list()[
                    own + 1:])
        elif axis < self._missing:
            flat = _raw.ExpandDims(flat, 0)
            for _ in range(self._missing - axis - 1):
                flat = _raw.ExpandDims(flat, 1)
        return _array.gather(flat, self._at)


def broadcast(x, y):
    """(the values of x, those of y, a function that makes a RaggedTensor of
    values in the common shape). The run fails if the shapes do not fit; for
    ranks that are unknown, ValueError."""
    if x.shape.ndims is None or y.shape.ndims is None:
        raise ValueError("Unable to broadcast: unknown rank")
    kind = same_partition_dtype(x, y)
    if is_ragged(x) and is_ragged(y) and _same(x.nested_row_splits,
                                               y.nested_row_splits):
        return x.flat_values, y.flat_values, x.with_flat_values
    rank = max(x.shape.ndims, y.shape.ndims)
    pair = [_Operand(t, rank, kind) for t in (x, y)]
    last = max(rank - t.shape.ndims + t.ragged_rank
               for t in (x, y) if is_ragged(t))
    partitions = []
    count = _uniform(pair, 0)
    rows = _static_count(pair)
    for operand in pair:
        operand.start(count)
    for axis in range(1, last + 1):
        lengths = _lengths(pair, axis, count)
        splits = _rows.splits_of(lengths)
        if axis == 1:
            splits.set_shape([None if rows is None else rows + 1])
        ids = _rows.ids_of(splits)
        for operand in pair:
            operand.enter(axis, splits, ids)
        partitions.append(splits)
        count = splits[-1]
    values = [operand.values(last) for operand in pair]
    return (*values, lambda flat: RaggedTensor._from_flow_components(
        [flat] + partitions))


def _same(a, b):
    return len(a) == len(b) and all(s is t for s, t in zip(a, b))


def _static_count(pair):
    sizes = {operand.static_size(0) for operand in pair}
    if None in sizes:
        return None
    return max(sizes) if len(sizes - {1}) <= 1 and 0 not in sizes else min(sizes)


def _checked(condition, axis, sizes, result):
    check = Assert(condition, [
        "Unable to broadcast: dimension size mismatch in dimension", axis,
        "sizes:"] + sizes, summarize=10)
    with control_dependencies([check]):
        return _array.identity(result)


def _uniform(pair, axis):
    """The size of a dimension that is uniform in both."""
    a, b = (operand.size(axis) for operand in pair)
    fits = _raw.LogicalOr(_raw.Equal(a, b), _raw.LogicalOr(
        _raw.Equal(a, 1), _raw.Equal(b, 1)))
    return _checked(fits, axis, [a, b], _raw.Select(_raw.Equal(a, 1), b, a))


def _lengths(pair, axis, count):
    """The lengths of dimension `axis` for the `count` slices before it."""
    ragged = [operand for operand in pair if operand.is_ragged(axis)]
    if not ragged:
        return _array.fill(_array.stack([count]), _uniform(pair, axis))
    lengths = [operand.lengths(axis) for operand in ragged]
    if len(ragged) == 2:
        fits = _math.reduce_all(_raw.Equal(*lengths))
        return _checked(fits, axis, lengths, lengths[0])
    other, = (operand for operand in pair if operand not in ragged)
    size = other.size(axis)
    return _checked(_raw.Equal(size, 1), axis, [size] + lengths, lengths[0])
