"""Ops of sparse tensors: tf.sparse_* and tf.sparse.*."""
import collections

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_less_equal
from headrace._src.framework import dtypes
from headrace._src.framework.constant_values import constant_value_as_shape
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor, as_sparse, is_sparse


def sparse_to_dense(sparse_indices, output_shape, sparse_values,
                    default_value=0, validate_indices=True, name=None):
    """A tensor of `output_shape` with sparse_values at sparse_indices (a
    number, a vector of numbers, or a matrix with an index a row) and
    `default_value` elsewhere. With validate_indices they must be in order and
    not repeated.

    sparse_indices and output_shape: int32 or int64; values: of any type, which
    the result has, and of which default_value is a scalar. InvalidArgumentError
    in the run for shapes that do not fit, and for indices that are out of
    range, or not in order under validate_indices."""
    values = convert_to_tensor(sparse_values)
    return _raw.SparseToDense(
        sparse_indices, output_shape, values,
        convert_to_tensor(default_value, values.dtype.base_dtype),
        validate_indices=validate_indices, name=name)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True,
                           name=None):
    """The Tensor that a SparseTensor stands for; `default_value` (zero, or the
    empty string) where it has nothing.

    `sp_input`: of any type and dense_shape, which the result has;
    default_value: a scalar of that type. TypeError for what is no SparseTensor;
    InvalidArgumentError in the run for indices that are out of range, or not in
    order under validate_indices."""
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default_value = "" if sp_input.dtype == dtypes.string else (
            np.zeros((), sp_input.dtype.as_numpy_dtype))
    return sparse_to_dense(
        sp_input.indices, sp_input.dense_shape, sp_input.values, default_value,
        validate_indices, name)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """A bool tensor with the last dim replaced by `vocab_size`: true at
    [..., v] where a row of the last dim has the value v."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input.values]) as scope:
        n = _raw.Shape(sp_input.values)
        ones = _array.fill(n, True)
        rows = _array.slice(sp_input.indices, [0, 0], [-1, _array.size(
            sp_input.dense_shape) - 1])
        columns = _array.expand_dims(_math.cast(sp_input.values, dtypes.int64),
                                     1)
        shape = _array.concat([
            sp_input.dense_shape[:-1],
            _array.reshape(_math.cast(vocab_size, dtypes.int64), [1])], 0)
        found = sparse_reorder(SparseTensor(
            _array.concat([rows, columns], 1), ones, shape))
        return sparse_tensor_to_dense(found, False, validate_indices=False,
                                      name=scope)


def sparse_from_dense(tensor, name=None):
    """The elements of a tensor that are not zero, as a SparseTensor."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        zero = "" if tensor.dtype == dtypes.string else np.zeros(
            (), tensor.dtype.as_numpy_dtype)
        indices = _raw.Where(_raw.NotEqual(
            tensor, convert_to_tensor(zero, tensor.dtype.base_dtype)))
        return SparseTensor(indices, _array.gather_nd(tensor, indices),
                            _array.shape(tensor, out_type=dtypes.int64))


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False,
                               name=None):
    """The product of a SparseTensor matrix and a matrix, either of them as its
    conjugate transpose on demand.

    sp_a: [n, k]; b: [k, m]; both of one type: float16 to float64, bfloat16,
    int32 or complex. Returns [n, m] of that type. ValueError for inner sizes
    that are known and differ or b of another rank; TypeError for what is no
    SparseTensor or different types; InvalidArgumentError in the run for indices
    out of range."""
    sp_a = as_sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul",
                    [sp_a.indices, sp_a.values, b]):
        return _raw.SparseTensorDenseMatMul(
            sp_a.indices, sp_a.values, sp_a.dense_shape,
            convert_to_tensor(b, name="b"), adjoint_a=adjoint_a,
            adjoint_b=adjoint_b)


def sparse_add(a, b, threshold=None, thresh=None):
    """a + b, where at least one is sparse. Of two sparse tensors the sum is
    sparse too, without what is below `threshold` in magnitude where both have
    an element; else it is dense. Nothing is broadcast."""
    threshold = thresh if threshold is None else threshold
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError("At least one input should be SparseTensor; do you "
                        "mean to use tf.add()?")
    if is_sparse(a) and is_sparse(b):
        a, b = as_sparse(a), as_sparse(b)
        limit = convert_to_tensor(0 if threshold is None else threshold,
                                  a.values.dtype.real_dtype.base_dtype,
                                  name="thresh")
        shapes = a.get_shape(), b.get_shape()
        if not shapes[0].is_compatible_with(shapes[1]):
            raise ValueError("Shapes %s and %s are incompatible" % shapes)
        indices, values, shape = _raw.SparseAdd(
            a.indices, a.values, a.dense_shape, b.indices, b.values,
            b.dense_shape, limit)
        if shapes[0].is_fully_defined() and shapes[1].is_fully_defined():
            shape = shapes[0].as_list()
        return SparseTensor(indices, values, shape)
    if is_sparse(b):
        a, b = b, a
    a = as_sparse(a)
    return _raw.SparseTensorDenseAdd(a.indices, a.values, a.dense_shape, b)


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False,
                  concat_dim=None, expand_nonconcat_dims=None):
    """Sparse tensors behind each other along `axis`. Their other dimensions
    are equal, or with expand_nonconcat_dim are taken for the largest."""
    if concat_dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'concat_dim' and 'axis'")
        axis = concat_dim
    if expand_nonconcat_dims is not None:
        if expand_nonconcat_dim:
            raise ValueError("Cannot specify both 'expand_nonconcat_dim' and "
                             "'expand_nonconcat_dims'")
        expand_nonconcat_dim = expand_nonconcat_dims
    sp_inputs = [as_sparse(s) for s in sp_inputs]
    if len(sp_inputs) == 1:
        return sp_inputs[0]
    shapes = [s.dense_shape for s in sp_inputs]
    static = [s.get_shape() for s in sp_inputs]
    if expand_nonconcat_dim:
        largest = _math.reduce_max(_array.stack(shapes), axis=0)
        rank = shapes[0].get_shape()[0].value
        if rank is None:
            raise ValueError("expand_nonconcat_dim needs inputs of known rank")
        at = axis + rank if axis < 0 else axis
        shapes = [_array.concat([largest[:at], s[at:at + 1], largest[at + 1:]],
                                0) for s in shapes]
    indices, values, shape = _raw.SparseConcat(
        [s.indices for s in sp_inputs], [s.values for s in sp_inputs], shapes,
        concat_dim=axis, name=name)
    if all(s.is_fully_defined() for s in static):
        sizes = np.array([s.as_list() for s in static])
        total = sizes[:, axis].sum()
        sizes = sizes.max(0) if expand_nonconcat_dim else sizes[0]
        sizes[axis] = total
        shape = sizes
    return SparseTensor(indices, values, shape)


class _KeywordRequired:
    """The default of an argument that stands before those that are to be given
    by keyword."""

    def __repr__(self):
        return "KeywordRequired()"


def sparse_split(keyword_required=_KeywordRequired(), sp_input=None,
                 num_split=None, axis=None, name=None, split_dim=None):
    """A list of `num_split` slices along `axis`; the first ones are one longer
    if the size is no multiple. All arguments by keyword, as in TensorFlow."""
    axis = split_dim if axis is None else axis
    if not isinstance(keyword_required, _KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    if axis is None:
        raise ValueError("axis is required")
    sp_input = as_sparse(sp_input)
    indices, values, shapes = _raw.SparseSplit(
        convert_to_tensor(axis, dtypes.int64), sp_input.indices,
        sp_input.values, sp_input.dense_shape, num_split=num_split, name=name)
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes)]


def sparse_slice(sp_input, start, size, name=None):
    """The part of a SparseTensor from `start` on, of `size` or as much of it as
    there is."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseSlice", [sp_input.values]) as scope:
        return SparseTensor(*_raw.SparseSlice(
            sp_input.indices, sp_input.values, sp_input.dense_shape,
            convert_to_tensor(start, dtypes.int64),
            convert_to_tensor(size, dtypes.int64), name=scope))


def sparse_reshape(sp_input, shape, name=None):
    """The same elements under another shape, of which one may be -1."""
    sp_input = as_sparse(sp_input)
    shape = _math.cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.values]) as scope:
        out = _raw.SparseReshape(
            sp_input.indices, sp_input.dense_shape, shape, name=scope)
        new_shape = out[1]
        dims = _known_sizes(shape, sp_input.get_shape())
        if dims is not None and None not in dims:
            # The sizes are known now for who asks the result.
            new_shape = constant(dims, dtypes.int64)
        return SparseTensor(out[0], _array.identity(sp_input.values),
                            new_shape)


def _known_sizes(shape, old):
    """The sizes that a tensor `shape` has, None for those that nobody knows;
    None if that cannot be told. ValueError as _inferred's."""
    if shape.get_shape().ndims != 1:
        return None
    known = constant_value(shape)
    if known is not None:
        return _inferred([int(d) for d in known], old)
    if not old.is_fully_defined():
        return None
    sizes = constant_value_as_shape(shape)
    if sizes.ndims is None or sizes.as_list().count(None) > 1:
        return None
    return _inferred([-1 if d is None else d for d in sizes.as_list()], old)


def _inferred(dims, old):
    """`dims` with what -1 stands for; None if that is not known. ValueError if
    `old` has another number of elements."""
    if dims.count(-1) > 1:
        raise ValueError("At most one dimension can be inferred (-1). Found: "
                         "%s" % dims)
    total = old.num_elements()
    if total is None:
        return [None if d == -1 else d for d in dims]
    others = 1
    for d in dims:
        others *= 1 if d == -1 else d
    if (others != total if -1 not in dims
            else others == 0 and total != 0 or others and total % others):
        raise ValueError(
            "Cannot reshape a tensor with %d elements to shape %s (%d "
            "elements)." % (total, [None if d == -1 else d for d in dims],
                            others))
    return [(total // others if others else None) if d == -1 else d
            for d in dims]


def sparse_reorder(sp_input, name=None):
    """The same elements in lexicographic order of their indices."""
    sp_input = as_sparse(sp_input)
    indices, values = _raw.SparseReorder(
        sp_input.indices, sp_input.values, sp_input.dense_shape, name=name)
    known = sp_input.get_shape()
    return SparseTensor(indices, values, known.as_list() if
                        known.is_fully_defined() else
                        _array.identity(sp_input.dense_shape))


def sparse_retain(sp_input, to_retain):
    """The elements for which the bool vector `to_retain` is true."""
    sp_input = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    sp_input.values.get_shape()[0].merge_with(
        to_retain.get_shape().with_rank(1)[0])
    kept = _array.reshape(_raw.Where(to_retain), [-1])
    return SparseTensor(_array.gather(sp_input.indices, kept),
                        _array.gather(sp_input.values, kept),
                        _array.identity(sp_input.dense_shape))


def sparse_reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape, or in the smallest that has them
    all. InvalidArgument if new_shape is smaller in some dimension."""
    sp_input = as_sparse(sp_input)
    if new_shape is None:
        empty = _array.zeros_like(sp_input.dense_shape)
        tight = _math.reduce_max(_array.concat(
            [sp_input.indices + 1, _array.expand_dims(empty, 0)], 0), axis=0)
        return SparseTensor(sp_input.indices, sp_input.values, tight)
    wanted = convert_to_tensor(new_shape, dtypes.int64)
    wanted.get_shape().with_rank(1)
    if (wanted.get_shape().is_fully_defined()
            and sp_input.dense_shape.get_shape().is_fully_defined()
            and wanted.get_shape() != sp_input.dense_shape.get_shape()):
        raise ValueError("new_shape must have the rank of the input, got %s "
                         "and %s" % (wanted.get_shape(),
                                     sp_input.dense_shape.get_shape()))
    known = [constant_value(x) for x in (sp_input.dense_shape, wanted)]
    if all(k is not None for k in known) and (known[0] > known[1]).any():
        raise ValueError(
            "Requested new_shape should have dimension sizes >= "
            "sp_input.shape.  Found new_shape (%s), sp_input.shape (%s)."
            % (known[1], known[0]))
    check = assert_less_equal(sp_input.dense_shape, wanted)
    with control_dependencies([check]):
        wanted = _array.identity(wanted)
    return SparseTensor(sp_input.indices, sp_input.values, wanted)


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(SparseTensor, bool vector): each row of a matrix that has no element
    gets `default_value` in column 0; the vector says which had none."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.values]):
        default_value = convert_to_tensor(default_value,
                                          sp_input.values.dtype.base_dtype)
        indices, values, empty, _ = _raw.SparseFillEmptyRows(
            sp_input.indices, sp_input.values, sp_input.dense_shape,
            default_value)
        return (SparseTensor(indices, values, sp_input.dense_shape), empty)


def _reduction_axes(sp_input, axis, reduction_axes):
    axis = _array._renamed("axis", axis, "reduction_axes", reduction_axes)
    if axis is not None:
        return convert_to_tensor(axis, dtypes.int32)
    return _raw.Range(0, _array.size(sp_input.dense_shape), 1)


def _reduction(name, doc):
    op_type = "".join(part.capitalize() for part in name.split("_"))
    dense, sparse = getattr(_raw, op_type), getattr(_raw, op_type + "Sparse")

    def reduce(sp_input, axis=None, keepdims=None, reduction_axes=None,
               keep_dims=None):
        sp_input = as_sparse(sp_input)
        return dense(sp_input.indices, sp_input.values, sp_input.dense_shape,
                     _reduction_axes(sp_input, axis, reduction_axes),
                     keep_dims=_math._keep(keepdims, keep_dims))

    def reduce_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None,
                      keep_dims=None):
        sp_input = as_sparse(sp_input)
        return SparseTensor(*sparse(
            sp_input.indices, sp_input.values, sp_input.dense_shape,
            _reduction_axes(sp_input, axis, reduction_axes),
            keep_dims=_math._keep(keepdims, keep_dims)))
    reduce.__doc__ = doc + " over dimensions, as a Tensor."
    reduce_sparse.__doc__ = doc + " over dimensions, as a SparseTensor."
    reduce.__name__ = reduce.__qualname__ = name
    reduce_sparse.__name__ = reduce_sparse.__qualname__ = name + "_sparse"
    return reduce, reduce_sparse


sparse_reduce_sum, sparse_reduce_sum_sparse = _reduction(
    "sparse_reduce_sum", "The sum of the elements there are")
sparse_reduce_max, sparse_reduce_max_sparse = _reduction(
    "sparse_reduce_max", "The largest of the elements there are")


def sparse_softmax(sp_input, name=None):
    """Softmax over the last dimension, among the elements there are."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp_input.values]) as scope:
        values = _raw.SparseSoftmax(sp_input.indices, sp_input.values,
                                    sp_input.dense_shape, name=scope)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _extreme(op, sp_a, sp_b, name):
    sp_a, sp_b = as_sparse(sp_a), as_sparse(sp_b)
    indices, values = op(sp_a.indices, sp_a.values, sp_a.dense_shape,
                         sp_b.indices, sp_b.values, sp_b.dense_shape,
                         name=name)
    return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a, sp_b, name=None):
    """The larger value at each index that either has; missing values are 0."""
    return _extreme(_raw.SparseSparseMaximum, sp_a, sp_b, name)


def sparse_minimum(sp_a, sp_b, name=None):
    """The smaller value at each index that either has; missing values are 0."""
    return _extreme(_raw.SparseSparseMinimum, sp_a, sp_b, name)


def sparse_transpose(sp_input, perm=None, name=None):
    """The dimensions in the order of `perm`, reversed by default."""
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseTranspose", [sp_input.values]):
        if perm is None:
            rank = sp_input.dense_shape.get_shape()[0].value
            perm = (np.arange(rank)[::-1] if rank is not None else
                    _array.size(sp_input.dense_shape) - 1
                    - _raw.Range(0, _array.size(sp_input.dense_shape), 1))
        return sparse_reorder(SparseTensor(
            _array.gather(sp_input.indices, perm, axis=1), sp_input.values,
            _array.gather(sp_input.dense_shape, perm)))


def sparse_expand_dims(sp_input, axis=None, name=None):
    """With a dimension of size 1 more, at `axis` (last by default)."""
    sp_input = as_sparse(sp_input)
    rank = sp_input.dense_shape.get_shape()[0].value
    if rank is None:
        raise ValueError("the rank of the sparse tensor must be known")
    axis = -1 if axis is None else axis
    at = axis + rank + 1 if axis < 0 else axis
    if not 0 <= at <= rank:
        raise ValueError("axis %d is out of range for rank %d" % (axis, rank))
    with name_scope(name, "expand_dims", [sp_input.values]):
        zeros = _array.zeros_like(sp_input.indices[:, :1])
        return SparseTensor(
            _array.concat([sp_input.indices[:, :at], zeros,
                           sp_input.indices[:, at:]], 1), sp_input.values,
            _array.concat([sp_input.dense_shape[:at], [1],
                           sp_input.dense_shape[at:]], 0))


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A sparse identity matrix."""
    with name_scope(name, "eye"):
        rows = _math.cast(num_rows, dtypes.int64)
        columns = rows if num_columns is None else _math.cast(num_columns,
                                                              dtypes.int64)
        n = _math.minimum(rows, columns)
        along = _raw.Range(convert_to_tensor(0, dtypes.int64), n,
                           convert_to_tensor(1, dtypes.int64))
        return SparseTensor(
            _array.stack([along, along], axis=1),
            _array.ones(_array.expand_dims(n, 0), dtype),
            _array.stack([rows, columns]))


def sparse_merge(sp_ids, sp_values, vocab_size, name=None,
                 already_sorted=False):
    """Batches of ids and of values of one shape, as a sparse tensor that has
    the value at [..., id]. A list of ids needs a list of vocabulary sizes."""
    many = isinstance(sp_ids, collections.abc.Iterable) and not is_sparse(
        sp_ids)
    if not many:
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    if len(vocab_size) != len(sp_ids):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    sp_ids = [as_sparse(s) for s in sp_ids]
    sp_values = as_sparse(sp_values)
    with name_scope(name, "SparseMerge", [sp_values.values]):
        columns = [_array.expand_dims(_math.cast(s.values, dtypes.int64), 1)
                   for s in sp_ids]
        sizes = [_math.cast(v, dtypes.int64) for v in vocab_size]
        rows = sp_ids[0].indices[:, :-1]
        result = SparseTensor(
            _array.concat([rows] + columns, 1), sp_values.values,
            _array.concat([sp_ids[0].dense_shape[:-1], sizes], 0))
        return result if already_sorted else sparse_reorder(result)


def _cross(inputs, hashed_output, num_buckets, hash_key, name):
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(is_sparse(i) or hasattr(i, "op")
               or isinstance(i, (np.ndarray, list)) for i in inputs):
        raise TypeError("All inputs must be Tensors or SparseTensors")
    sparse = [as_sparse(i) for i in inputs if is_sparse(i)]
    dense = [convert_to_tensor(i) for i in inputs if not is_sparse(i)]

    def as_int64(t):
        return (t if t.dtype.base_dtype == dtypes.string
                else _math.cast(t, dtypes.int64))
    # A hash takes integers as they are; names take them as text.
    out = dtypes.int64 if hashed_output else dtypes.string
    integers = any(t.dtype.base_dtype != dtypes.string for t in
                   [s.values for s in sparse] + dense)
    internal = (dtypes.int64 if hashed_output and integers else dtypes.string)
    return SparseTensor(*_raw.SparseCross(
        [s.indices for s in sparse], [as_int64(s.values) for s in sparse],
        [s.dense_shape for s in sparse], [as_int64(d) for d in dense],
        hashed_output=hashed_output, num_buckets=num_buckets,
        hash_key=hash_key, out_type=out, internal_type=internal, name=name))


def sparse_cross(inputs, name=None):
    """All combinations of the features of each row, one of each input, as
    strings joined by "_X_"."""
    return _cross(inputs, False, 0, 0, name)


DEFAULT_HASH_KEY = 0xDECAFCAFFE


def sparse_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """As sparse_cross, with each combination's hash, modulo num_buckets if that
    is not 0."""
    key = DEFAULT_HASH_KEY if hash_key is None else hash_key
    return _cross(inputs, True, num_buckets, key, name)


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """A vector of 3 strings (or variants) that deserialize_sparse reads."""
    sp_input = as_sparse(sp_input)
    return _raw.SerializeSparse(sp_input.indices, sp_input.values,
                                sp_input.dense_shape, out_type=out_type,
                                name=name)


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """A row of 3 strings (or variants) for each slice of the first
    dimension."""
    sp_input = as_sparse(sp_input)
    return _raw.SerializeManySparse(sp_input.indices, sp_input.values,
                                    sp_input.dense_shape, out_type=out_type,
                                    name=name)


def _deserialized(out, rank):
    indices, values, shape = out
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


def deserialize_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor of what serialize_sparse made; a batch of such gives one
    with as many dimensions more. `rank`: that of the result, if it is known."""
    return _deserialized(
        _raw.DeserializeSparse(serialized_sparse, dtype=dtype, name=name),
        rank)


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor of rows that serialize_sparse or serialize_many_sparse
    made; its first dimension is the row. `rank`: its own, if it is known."""
    return _deserialized(
        _raw.DeserializeManySparse(serialized_sparse, dtype=dtype, name=name),
        rank)


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """How many insertions, deletions and replacements make each sequence of
    `hypothesis` that of `truth`: SparseTensors whose last dimension is the
    sequence. normalize: divided by the length of the latter."""
    for value, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not is_sparse(value):
            raise TypeError("%s must be a SparseTensor." % what)
    hypothesis, truth = as_sparse(hypothesis), as_sparse(truth)
    return _raw.EditDistance(
        hypothesis.indices, hypothesis.values, hypothesis.dense_shape,
        truth.indices, truth.values, truth.dense_shape, normalize=normalize,
        name=name)
