"""tf.sets: sets in the rows of the last dimension, dense or sparse."""
from headrace import raw_ops as _raw
from headrace._src.ops.sparse_tensor import (
    SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse)


def _set_operation(a, b, operation, validate_indices):
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    b = convert_to_tensor_or_sparse_tensor(b, name="b")
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise TypeError("Types don't match, %s vs %s." % (a.dtype, b.dtype))
    if not is_sparse(a) and is_sparse(b):
        out = _raw.DenseToSparseSetOperation(
            a, b.indices, b.values, b.dense_shape, set_operation=operation,
            validate_indices=validate_indices)
    elif is_sparse(a) and not is_sparse(b):
        flipped = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
        out = _raw.DenseToSparseSetOperation(
            b, a.indices, a.values, a.dense_shape, set_operation=flipped,
            validate_indices=validate_indices)
    elif is_sparse(a):
        out = _raw.SparseToSparseSetOperation(
            a.indices, a.values, a.dense_shape, b.indices, b.values,
            b.dense_shape, set_operation=operation,
            validate_indices=validate_indices)
    else:
        out = _raw.DenseToDenseSetOperation(
            a, b, set_operation=operation, validate_indices=validate_indices)
    return SparseTensor(*out)


def set_size(a, validate_indices=True):
    """How many different values each row of the last dimension of a
    SparseTensor has, as an int32 tensor of one rank less."""
    a = convert_to_tensor_or_sparse_tensor(a, name="a")
    if not is_sparse(a):
        raise TypeError("Expected `SparseTensor`, got %s." % a)
    return _raw.SetSize(a.indices, a.values, a.dense_shape,
                        validate_indices=validate_indices)


def set_intersection(a, b, validate_indices=True):
    """For each row of the last dimension the values that both have."""
    return _set_operation(a, b, "intersection", validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """For each row of the last dimension the values of `a` that `b` has not, or
    the other way round."""
    return _set_operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a, b, validate_indices=True):
    """For each row of the last dimension the values that either has."""
    return _set_operation(a, b, "union", validate_indices)
