"""IndexedSlices: some rows of a large tensor and where they stand, as the
gradients of gathers are."""

import collections

from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant_value, convert_to_tensor, register_tensor_conversion_function)
from headrace._src.framework.tensor_shape import TensorShape, unknown_shape

IndexedSlicesValue = collections.namedtuple(
    "IndexedSlicesValue", ["values", "indices", "dense_shape"])


class IndexedSlices:
    """`values` [n, ...] are the slices along the first axis at `indices` [n] of
    a tensor of `dense_shape` (a vector, or None if that is not known); slices
    at the same index add up, the others are zero.

    As a Tensor it is that sum, for which dense_shape must be known.
    Session.run fetches one as an IndexedSlicesValue and takes one, or a tuple
    of two or three arrays, as its feed.

    `values`: of any type; `indices`: int32 or int64. ValueError for parts of
    different graphs, and for a Tensor of it without dense_shape or of another
    type."""

    _composite = True

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    name = property(lambda self: self._values.name)
    device = property(lambda self: self._values.device)
    op = property(lambda self: self._values.op)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)
    shape = property(lambda self: self._static_shape())

    @property
    def _type_spec(self):
        return load("_src.ops.type_specs").type_spec_from_value(self)

    def consumers(self):
        """The operations that take its tensors."""
        return [op for t in self._components() for op in t.consumers()]

    def _static_shape(self):
        known = (None if self._dense_shape is None
                 else constant_value(self._dense_shape))
        if known is None:
            rows = self._values.get_shape()
            return (unknown_shape() if rows.ndims is None
                    else TensorShape([None]).concatenate(rows[1:]))
        return TensorShape([int(d) for d in known])

    def _components(self):
        return [t for t in (self._values, self._indices, self._dense_shape)
                if t is not None]

    _flow_components = _components

    @staticmethod
    def _from_flow_components(components):
        return IndexedSlices(*components)

    def _flow_invariants(self, shape):
        """`shape` is that of `values`, as while_loop takes it."""
        rank = None if shape.ndims is None else shape.ndims
        return [shape, TensorShape([shape[0] if rank else None]),
                TensorShape([rank])][:len(self._components())]

    def _fetch_components(self):
        return (self._components(), lambda parts: IndexedSlicesValue(
            *parts, *[None] * (3 - len(parts))))

    def _feed_components(self, value):
        parts = self._components()
        if isinstance(value, tuple) and len(value) == 3 and value[2] is None:
            value = value[:2]
        if not isinstance(value, (tuple, list)) or len(value) != len(parts):
            raise TypeError(
                "These IndexedSlices are fed an IndexedSlicesValue or a tuple "
                "of %s, got %r" % (" and ".join(
                    ("values", "indices", "dense_shape")[:len(parts)]), value))
        return list(zip(parts, value))

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self):
        return "IndexedSlices(indices=%s, values=%s%s)" % (
            self._indices, self._values,
            "" if self._dense_shape is None
            else ", dense_shape=%s" % (self._dense_shape,))

    __str__ = __repr__


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """IndexedSlices as they are, an IndexedSlicesValue as such, anything else
    as a Tensor."""
    if isinstance(value, IndexedSlicesValue):
        with name_scope(name, "IndexedSlices"):
            value = IndexedSlices(*(None if part is None
                                    else convert_to_tensor(part)
                                    for part in value))
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(
            value.dtype):
        raise ValueError(
            "Tensor conversion requested dtype %s for Tensor with dtype %s"
            % (dtypes.as_dtype(dtype).name, value.dtype.name))
    return value


def _as_tensor(value, dtype=None, name=None, as_ref=False):
    if as_ref or (dtype is not None
                  and not dtype.is_compatible_with(value.dtype)):
        raise ValueError(
            "Tensor conversion requested dtype %s for IndexedSlices with dtype "
            "%s" % (dtype and dtype.name, value.dtype.name))
    if value.dense_shape is None:
        raise ValueError("Tensor conversion requested for IndexedSlices "
                         "without dense_shape: %s" % value)
    return _raw.UnsortedSegmentSum(value.values, value.indices,
                                   value.dense_shape[0], name=name)


register_tensor_conversion_function(IndexedSlices, _as_tensor)


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without those slices whose index is in mask_indices."""
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        kept, at = _raw.ListDiff(a.indices, mask_indices)
        return IndexedSlices(_raw.GatherV2(a.values, at, 0, name=scope), kept,
                             a.dense_shape)
