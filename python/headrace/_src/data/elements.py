"""Elements of datasets: structures of tuples and dicts with tensors, sparse
tensors or datasets at their leaves. A list is a value, and becomes one tensor.

A spec is such a structure with a leaf's description in place of each value:
TensorLeaf, SparseLeaf, datasets.DatasetLeaf, ragged_spec.RaggedLeaf.
"""
import collections.abc

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.autograph.api import tf_convert
from headrace._src.autograph.effects import Watch
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.functions import func_graph as _func_graph
from headrace._src.ops import random_ops as _random
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.sparse import sparse_ops as _sparse


# Structures are those of framework.nest, but that lists are leaves.

def is_nested(x):
    """Whether it has parts."""
    return isinstance(x, (tuple, collections.abc.Mapping)) \
        and not isinstance(x, (TensorShape, SparseTensorValue))


def parts_of(x):
    """The parts; those of a dict by rising keys."""
    if isinstance(x, collections.abc.Mapping):
        return [x[k] for k in sorted(x)]
    return list(x)


def flatten(structure):
    """The leaves, a list."""
    if not is_nested(structure):
        return [structure]
    return [leaf for c in parts_of(structure) for leaf in flatten(c)]


def pack(structure, leaves):
    leaves = iter(leaves)

    def build(s):
        if not is_nested(s):
            return next(leaves)
        children = [build(c) for c in parts_of(s)]
        if isinstance(s, collections.abc.Mapping):
            packed = dict(zip(sorted(s), children))
            ordered = [(k, packed[k]) for k in s]
            return type(s)(ordered)
        return type(s)(*children) if hasattr(s, "_fields") else tuple(children)
    return build(structure)


def same_types(spec, other):
    return [leaf.type for leaf in flatten(spec)] == [
        leaf.type for leaf in flatten(other)]


def check_state(spec, initial):
    """TypeError unless a state goes on with the types that it begins with."""
    if [leaf.dtype for leaf in flatten(spec)] != [
            leaf.dtype for leaf in flatten(initial)]:
        raise TypeError("The element types for the new state must match the "
                        "initial state.")


def map_leaves(function, *structures):
    """Applies `function` to the leaves of structures that are alike. All but
    the first may be less deep."""
    flat = [flatten(structures[0])]
    for s in structures[1:]:
        flat.append(flatten(s))
        if len(flat[-1]) != len(flat[0]):
            raise ValueError("The two structures don't have the same nested "
                             "structure.\n\nFirst structure: %s\n\nSecond "
                             "structure: %s" % (structures[0], s))
    return pack(structures[0], [function(*leaves) for leaves in zip(*flat)])


def leaves_like(structure, value, convert):
    """The leaves of `value`, converted, which has the form of `structure`; None
    stands for one None each."""
    if value is None:
        return [None] * len(flatten(structure))
    if is_nested(structure):
        if isinstance(structure, collections.abc.Mapping):
            parts = [value[k] for k in sorted(structure)]
        else:
            parts = list(value)
        children = parts_of(structure)
        if len(parts) != len(children):
            raise ValueError("%s does not have the structure of %s"
                             % (value, structure))
        return [leaf for c, p in zip(children, parts)
                for leaf in leaves_like(c, p, convert)]
    return [convert(value)]


def flatten_up_to(structure, value):
    """The values where `structure` has leaves; None if it is another one."""
    if not is_nested(structure):
        return [value]
    children = parts_of(structure)
    if isinstance(structure, collections.abc.Mapping):
        if not isinstance(value, collections.abc.Mapping) \
                or set(value) != set(structure):
            return None
        parts = [value[k] for k in sorted(structure)]
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(children):
            return None
        parts = list(value)
    out = []
    for c, p in zip(children, parts):
        leaves = flatten_up_to(c, p)
        if leaves is None:
            return None
        out.extend(leaves)
    return out


class TensorLeaf:
    """A tensor. Like every leaf it is one tensor in the graph, of `dtype` and
    `flat_shape`; `type`, `shape` and `cls` are what users see of it."""

    def __init__(self, dtype, shape):
        self.dtype = _dtypes.as_dtype(dtype).base_dtype
        self.shape = TensorShape(shape)

    type = property(lambda self: self.dtype)
    flat_shape = property(lambda self: self.shape)
    cls = property(lambda self: Tensor)

    def value(self, tensor):
        return tensor

    def batched(self, n):
        return TensorLeaf(self.dtype, TensorShape([n]).concatenate(self.shape))

    def unbatched(self):
        if self.shape.ndims is None:
            return self
        if self.shape.ndims == 0:
            raise ValueError("Cannot unbatch an input with scalar components.")
        return TensorLeaf(self.dtype, self.shape.as_list()[1:])

    def widened(self, other):
        """What values of this leaf and of `other` are."""
        return TensorLeaf(self.dtype, _common_shape(self.shape, other.shape))


class SparseLeaf:
    """A SparseTensor of values of `type` and dense shape `shape`, serialized:
    `prefix` and 3 variants."""
    dtype = _dtypes.variant

    def __init__(self, type_, shape, prefix=()):
        self.type = _dtypes.as_dtype(type_)
        self.shape = TensorShape(shape)
        self._prefix = list(prefix)

    flat_shape = property(lambda self: TensorShape(self._prefix + [3]))
    cls = property(lambda self: SparseTensor)

    def value(self, tensor):
        return _sparse.deserialize_sparse(tensor, self.type, self.shape.ndims)

    def batched(self, n):
        return SparseLeaf(self.type, TensorShape([n]).concatenate(self.shape),
                          [n] + self._prefix)

    def unbatched(self):
        if self.shape.ndims is None:
            return SparseLeaf(self.type, None)
        if self.shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank "
                             ">= 1")
        return SparseLeaf(self.type, self.shape.as_list()[1:])

    def widened(self, other):
        return SparseLeaf(self.type, _common_shape(self.shape, other.shape))


def _common_shape(a, b):
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return None
    return [i if i == j else None for i, j in zip(a.as_list(), b.as_list())]


def _leaf_and_tensor(value, name="component", slices=False):
    """What a value at a leaf of an element is, and the tensor it becomes:
    with `slices` one whose slices are components."""
    if hasattr(value, "_leaf_and_tensor"):  # a dataset, or ragged
        return value._leaf_and_tensor(slices)
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        serialize = _sparse.serialize_many_sparse if slices \
            else _sparse.serialize_sparse
        shape = value.get_shape()
        return (SparseLeaf(value.dtype, shape,
                           shape.as_list()[:1] if slices else ()),
                serialize(value, out_type=_dtypes.variant))
    tensor = convert_to_tensor(value, name=name)
    return TensorLeaf(tensor.dtype, tensor.get_shape()), tensor


def normalize(structure, slices=False):
    """(specs, flat tensors) of a structure of values."""
    pairs = [_leaf_and_tensor(v, "component_%d" % i, slices)
             for i, v in enumerate(flatten(structure))]
    return pack(structure, [p[0] for p in pairs]), [p[1] for p in pairs]


def normalize_element(structure, slices=False):
    """normalize, in a name scope of its own."""
    with _graph.name_scope("normalize_element"):
        return normalize(structure, slices)


def attrs(spec):
    """The attrs of an op whose elements have this spec."""
    leaves = flatten(spec)
    return dict(output_types=[leaf.dtype for leaf in leaves],
                output_shapes=[leaf.flat_shape for leaf in leaves])


def pack_values(spec, tensors):
    """The element whose flat tensors these are."""
    return pack(spec, [leaf.value(t)
                       for leaf, t in zip(flatten(spec), tensors)])


def spec_of(types, shapes, classes=None):
    leaf_shapes = leaves_like(types, shapes, TensorShape)
    leaf_classes = leaves_like(types, classes, lambda c: c)
    return pack(types, [
        c._leaf() if hasattr(c, "_leaf")  # a RaggedTensorSpec
        else (SparseLeaf if c is SparseTensor else TensorLeaf)(t, s)
        for t, s, c in zip(flatten(types), leaf_shapes, leaf_classes)])


class ElementFunction:
    """A Python function of elements, traced. `spec` describes its results."""

    def __init__(self, function, *arg_specs, name=None):
        leaves = [leaf for s in arg_specs for leaf in flatten(s)]
        converted = tf_convert(function)

        def call(tensors):
            values, at = [], 0
            for s in arg_specs:
                n = len(flatten(s))
                values.append(pack_values(s, tensors[at:at + n]))
                at += n
            # A tuple is what the function's parameters are.
            if len(values) == 1 and type(values[0]) is tuple:
                values = values[0]
            result = converted(*values)
            if result is None:
                raise TypeError("Unsupported return value from function passed "
                                "to Dataset: None.")
            # A list here is most often what an op with several outputs gave,
            # which cannot be stacked.
            return tuple(result) if type(result) is list else result

        def convert(result):
            self.spec, tensors = normalize(result)
            return Watch(whole=True).after(tensors)

        traced = _func_graph.TracedFunction(
            call, [leaf.dtype for leaf in leaves],
            [leaf.flat_shape for leaf in leaves], convert,
            name=name or "Dataset_%s" % getattr(
                function, "__name__", "function").strip("<>"))
        self.attr = traced.name
        self.captured = traced.captured


class Typed:
    """What has elements of the structure `_spec`."""

    @property
    def output_types(self):
        return map_leaves(lambda leaf: leaf.type, self._spec)

    @property
    def output_shapes(self):
        return map_leaves(lambda leaf: leaf.shape, self._spec)

    @property
    def output_classes(self):
        return map_leaves(lambda leaf: leaf.cls, self._spec)


def as_int64(value, name):
    return convert_to_tensor(value, dtype=_dtypes.int64, name=name)


def parallel_calls(value, dtype=_dtypes.int64):
    """`value` as `dtype`; it may be a tensor of int32 or int64."""
    if is_tensor(value) and value.dtype.base_dtype != dtype:
        value = _raw.Cast(value, DstT=dtype)
    return convert_to_tensor(value, dtype=dtype, name="num_parallel_calls")


def seeds(seed):
    """The two int64 seeds of a dataset op. `seed`: None, a number or a scalar
    tensor."""
    if is_tensor(seed):
        first, _ = _random.get_seed(0)
        second = seed % np.array(np.iinfo(np.int32).max,
                                 seed.dtype.as_numpy_dtype)
    else:
        first, second = _random.get_seed(seed)
    first = as_int64(first or 0, "seed")
    if second is None:
        return first, as_int64(0, "seed2")
    # A pair of zeros would stand for no seed at all.
    with _graph.name_scope("seed2") as scope:
        second = _raw.Cast(second, DstT=_dtypes.int64) if is_tensor(second) \
            else as_int64(second, "Const")
        zeros = _raw.LogicalAnd(_raw.Equal(first, as_int64(0, "Equal/y")),
                                _raw.Equal(second, as_int64(0, "Equal_1/y")))
        largest = as_int64(np.iinfo(np.int32).max, "Const")
        return first, _raw.Select(zeros, largest, second, name=scope)


def plain_dims(shape):
    if isinstance(shape, TensorShape):
        return shape.as_list()
    return [None if d is None else int(d) if not hasattr(d, "value")
            else d.value for d in shape]
