"""tensorflow.python.ops.linalg.linear_operator_util: matrices with batch
dimensions that are broadcast."""
from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _checks
from headrace._src.control import control_flow_ops as _control
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math import linalg_ops as _linalg
from headrace._src.math import linear_operator as _operator
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.base import Variable


def broadcast_matrix_batch_dims(batch_matrices, name=None):
    """The matrices, as many times as the common batch shape asks for. TypeError
    unless they are a list or tuple."""
    with name_scope(name or "broadcast_matrix_batch_dims"):
        if not isinstance(batch_matrices, (list, tuple)):
            raise TypeError("batch_matrices must be an iterable of Tensors. "
                            "Found: %s" % (batch_matrices,))
        matrices = [convert_to_tensor(m) for m in batch_matrices]
        for m in matrices:
            m.get_shape().with_rank_at_least(2)
        if len(matrices) < 2:
            return matrices
        return _operator.to_common_batch(*matrices)


def _pair(a, b):
    return _operator.to_common_batch(
        convert_to_tensor(a), convert_to_tensor(b))


def cholesky_solve_with_broadcast(chol, rhs, name=None):
    """cholesky_solve of broadcast batches."""
    with name_scope(name or "CholeskySolveWithBroadcast"):
        return _linalg.cholesky_solve(*_pair(chol, rhs))


def matrix_solve_with_broadcast(matrix, rhs, adjoint=False, name=None):
    """matrix_solve of broadcast batches."""
    with name_scope(name or "MatrixSolveWithBroadcast"):
        matrix, rhs = _pair(matrix, rhs)
        return _raw.MatrixSolve(matrix, rhs, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(matrix, rhs, lower=True,
                                           adjoint=False, name=None):
    """matrix_triangular_solve of broadcast batches."""
    with name_scope(name or "MatrixTriangularSolve"):
        matrix, rhs = _pair(matrix, rhs)
        return _raw.MatrixTriangularSolve(matrix, rhs, lower=lower,
                                          adjoint=adjoint)


def assert_no_entries_with_modulus_zero(
        x, message=None, name="assert_no_entries_with_modulus_zero"):
    """An operation that fails if an element is 0."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        zero = convert_to_tensor(0, dtype=x.dtype.real_dtype)
        return _checks.assert_less(zero, _math.abs(x), message=message)


def assert_zero_imag_part(x, message=None, name="assert_zero_imag_part"):
    """An operation that fails if an element is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating:
            return _control.group()
        zero = convert_to_tensor(0, dtype=x.dtype.real_dtype)
        return _checks.assert_equal(zero, _math.imag(x), message=message)


def is_ref(x):
    """Whether the value may change between runs of a node: that of a variable,
    or of what says so of itself."""
    return isinstance(x, Variable) or (
        hasattr(x, "dtype") and hasattr(x, "shape") and hasattr(x, "value")
        and callable(x.value))


def convert_nonref_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """The value as a tensor; None and what is_ref stay, which must be of
    `dtype`: TypeError for others."""
    if value is None:
        return None
    if not is_ref(value):
        return convert_to_tensor(value, dtype, name, dtype_hint)
    if dtype is not None and dtypes.as_dtype(
            dtype).base_dtype != value.dtype.base_dtype:
        raise TypeError("Mutable type must be of dtype \"%s\" but is \"%s\"." % (
            dtypes.as_dtype(dtype).base_dtype.name,
            value.dtype.base_dtype.name))
    return value


def shape_tensor(shape, name=None):
    """A shape as a vector of int32, or of int64 if it is one."""
    dtype = dtypes.int32 if isinstance(shape, (tuple, list)) and all(
        isinstance(n, int) for n in shape) else None
    return convert_to_tensor(shape, dtype=dtype, name=name)


def assert_compatible_matrix_dimensions(operator, x):
    """An operation that fails in the run unless `operator` can be multiplied by
    x [..., n, k]."""
    return _checks.assert_equal(
        _array.shape(x)[-2], operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be "
        "the same as this operator")


def use_operator_or_provided_hint_unless_contradicting(
        operator, hint_attr_name, provided_hint_value, message):
    """The hint of an operator or the one that was given, whichever there is.
    ValueError with `message` if they contradict each other."""
    own = getattr(operator, hint_attr_name)
    if None not in (own, provided_hint_value) and (
            bool(own) != bool(provided_hint_value)):
        raise ValueError(message)
    return provided_hint_value if own is None else own


def to_complex(x):
    """x in the complex type of its precision."""
    if x.dtype.is_complex:
        return x
    return _math.cast(x, dtypes.complex128 if x.dtype == dtypes.float64
                      else dtypes.complex64)


def vec(x):
    """The columns of [..., n, m] below each other: [..., n * m]."""
    return _array.reshape(_array.matrix_transpose(x), _array.concat(
        [_array.shape(x)[:-2], [-1]], 0))


def unvec_by(y, num_col):
    """[..., n * num_col] as the columns of [..., n, num_col]."""
    return _array.matrix_transpose(_array.reshape(y, _array.concat(
        [_array.shape(y)[:-1], [num_col, -1]], 0)))


def rotate_last_dim(x, rotate_right=False):
    """The first dimension made the last, or with rotate_right the last made
    the first."""
    rank = _array.rank(x)
    order = ([[rank - 1], _math.range(0, rank - 1)] if rotate_right
             else [_math.range(1, rank), [0]])
    return _array.transpose(x, _array.concat(order, 0))
