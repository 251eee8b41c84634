"""SparseTensor, and what makes one."""
import collections

import numpy as np

from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape, unknown_shape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

SparseTensorValue = collections.namedtuple(
    "SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """Three tensors: `indices` [n, rank] (int64), `values` [n] and
    `dense_shape` [rank] (int64). Element indices[i] is values[i]; the others
    are zero. Most ops want the indices in lexicographic order, as
    sparse_reorder puts them.

    Session.run fetches one as a SparseTensorValue and takes one, or a tuple of
    three arrays, as its feed.

    `values`: of any type. ValueError for shapes that do not fit each other;
    TypeError or ValueError for indices and dense_shape of other types."""

    _composite = True
    _tensors_in_place_of_it = "Take tf.sparse.to_dense of it, or its values."

    def __init__(self, indices, values, dense_shape):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, dtypes.int64, "indices")
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(dense_shape, dtypes.int64,
                                                  "dense_shape")
        indices_shape = self._indices.get_shape().with_rank(2)
        values_shape = self._values.get_shape().with_rank(1)
        shape_shape = self._dense_shape.get_shape().with_rank(1)
        indices_shape[0].merge_with(values_shape[0])
        indices_shape[1].merge_with(shape_shape[0])

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor of a SparseTensorValue; a SparseTensor as it is."""
        value = sparse_tensor_value
        if isinstance(value, SparseTensor):
            return value
        if not isinstance(value, SparseTensorValue):
            raise TypeError("Neither a SparseTensor nor SparseTensorValue: %s."
                            % (value,))
        return cls(*value)

    indices = property(lambda self: self._indices)
    values = property(lambda self: self._values)
    dense_shape = property(lambda self: self._dense_shape)
    op = property(lambda self: self._values.op)
    name = property(lambda self: self._values.name)
    dtype = property(lambda self: self._values.dtype)
    graph = property(lambda self: self._values.graph)
    shape = property(lambda self: self.get_shape())

    @property
    def _type_spec(self):
        return load("_src.ops.type_specs").SparseTensorSpec(self.shape,
                                                            self.dtype)

    def get_shape(self):
        """The TensorShape, as far as dense_shape is known."""
        known = constant_value(self._dense_shape, partial=True)
        if known is not None:
            return TensorShape([None if d is None or d < 0 else int(d)
                                for d in known])
        rank = self._dense_shape.get_shape()[0].value
        return unknown_shape(rank)

    def _with_values(self, values):
        """The same indices and shape with other values."""
        return SparseTensor(self._indices, values, self._dense_shape)

    def _flow_components(self):
        return [self._indices, self._values, self._dense_shape]

    @staticmethod
    def _from_flow_components(components):
        return SparseTensor(*components)

    @staticmethod
    def _flow_invariants(shape):
        """`shape` is that of dense_shape, as while_loop takes it."""
        shape = shape.with_rank(1)
        return [TensorShape([None, shape[0]]), TensorShape([None]), shape]

    def consumers(self):
        return self._values.consumers()

    def eval(self, feed_dict=None, session=None):
        """The SparseTensorValue in `session` or the default one."""
        parts = [t.eval(feed_dict, session)
                 for t in (self._indices, self._values, self._dense_shape)]
        return SparseTensorValue(*parts)

    def _fetch_components(self):
        return ([self._indices, self._values, self._dense_shape],
                lambda parts: SparseTensorValue(*parts))

    def _feed_components(self, value):
        # A placeholder of a known shape needs no dense_shape.
        if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
            raise TypeError("A SparseTensor is fed a SparseTensorValue or a "
                            "tuple of indices, values and dense_shape, got %r"
                            % type(value))
        return list(zip((self._indices, self._values, self._dense_shape),
                        value))

    def __mul__(self, dense):
        return self._with_dense(_raw.SparseDenseCwiseMul, dense, "mul")

    def __truediv__(self, dense):
        return self._with_dense(_raw.SparseDenseCwiseDiv, dense, "truediv")

    __div__ = __truediv__
    _times_dense = __mul__

    def _with_dense(self, op, dense, name):
        with name_scope(None, name, [self.values, dense]) as scope:
            dense = convert_to_tensor(dense, self.dtype.base_dtype)
            values = self._values
            kind = _math._TRUEDIV.get(values.dtype.base_dtype)
            if name == "truediv" and kind is not None:
                values, dense = (_math.cast(x, kind) for x in (values, dense))
            return self._with_values(op(self._indices, values,
                                        self._dense_shape, dense, name=scope))

    def __repr__(self):
        return "SparseTensor(indices=%s, values=%s, dense_shape=%s)" % (
            self._indices, self._values, self._dense_shape)

    __str__ = __repr__


def as_sparse(value):
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(value)
    raise TypeError("Input must be a SparseTensor, got %r." % type(value))


def is_sparse(x):
    """True for a SparseTensor or SparseTensorValue."""
    return isinstance(x, (SparseTensor, SparseTensorValue))


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """`value` as a SparseTensor if it is a sparse value, else as a Tensor.
    RuntimeError if it is sparse and of another type than `dtype`."""
    if is_sparse(value):
        value = SparseTensor.from_value(value)
        if dtype and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise RuntimeError("Sparse dtype: requested = %s, actual = %s" % (
                dtypes.as_dtype(dtype).name, value.dtype.name))
        return value
    return convert_to_tensor(value, dtype=dtype, name=name)


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor that must be fed. With a fully known `shape` only its
    indices and values need to be; the rank follows from a partly known one.

    `dtype`: any. A run without a value fails with InvalidArgumentError.
    TypeError for what is no dtype."""
    def part(of):
        return None if name is None else name + "/" + of
    rank, dense_shape = None, None
    if hasattr(shape, "op"):
        dense_shape = _math.cast(shape, dtypes.int64)
        rank = dense_shape.get_shape()[0].value
    elif shape is not None:
        dims = (shape if isinstance(shape, np.ndarray)
                else TensorShape(shape).as_list())
        rank = len(dims)
        if all(d is not None and d >= 0 for d in dims):
            dense_shape = constant(np.array(dims, np.int64), dtypes.int64,
                                   name=part("shape") or "Const")
    if dense_shape is None:
        dense_shape = _array.placeholder(dtypes.int64, [rank], part("shape"))
    values = _array.placeholder(dtype, [None], part("values"))
    indices = _array.placeholder(dtypes.int64, [None, rank], part("indices"))
    return SparseTensor(indices, values, dense_shape)
