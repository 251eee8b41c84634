"""tf.linalg.LinearOperator*: matrices of which less is stored than all their
elements, and matrices made of others."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.math import spectral_ops as _spectral
from headrace._src.math.linear_operator import (
    LinearOperator, adjoint_of, all_true, common_batch, product, shape_of,
    to_common_batch)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _conj(x):
    return _math.conj(x) if x.dtype.is_complex else x


def _adjoint_if(x, adjoint):
    return adjoint_of(x) if adjoint else x


def _check(name, x, message):
    from headrace._src.control import check_ops
    return getattr(check_ops, name)(x, message=message)


def _nothing_to_check():
    return _array.no_op()


def _always_fails(message):
    from headrace._src.control.control_flow import Assert
    return Assert(convert_to_tensor(False), [message])


class LinearOperatorFullMatrix(LinearOperator):
    """Any matrices [..., n, m]. ValueError for less than two dimensions."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        self._matrix = self._stored(matrix, "matrix", 2, name)
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular,
                         is_self_adjoint, is_positive_definite, is_square,
                         name)

    def _shape(self):
        return self._matrix.get_shape()

    def _shape_tensor(self):
        return _array.shape(self._matrix)

    def _to_dense(self):
        return self._matrix

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return product(self._matrix, _adjoint_if(x, adjoint_arg), adjoint)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangles of matrices [..., n, n]; what stands above is not
    read. ValueError for less than two dimensions, or is_square=False."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported "
                             "at this time.")
        self._tril = self._stored(tril, "tril", 2, name)
        super().__init__(self._tril.dtype, [self._tril], is_non_singular,
                         is_self_adjoint, is_positive_definite, True, name)

    def _shape(self):
        return self._tril.get_shape()

    def _shape_tensor(self):
        return _array.shape(self._tril)

    def _to_dense(self):
        return _raw.MatrixBandPart(self._tril, -1, 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return product(self._to_dense(), _adjoint_if(x, adjoint_arg), adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        tril, rhs = to_common_batch(self._to_dense(),
                                    _adjoint_if(rhs, adjoint_arg))
        return _raw.MatrixTriangularSolve(tril, rhs, lower=True,
                                          adjoint=adjoint)

    def _diag_part(self):
        return _raw.MatrixDiagPart(self._tril)

    def _determinant(self):
        return _math.reduce_prod(self._diag_part(), axis=-1)

    def _log_abs_determinant(self):
        return _math.reduce_sum(_math.log(_math.abs(self._diag_part())),
                                axis=-1)

    def _assert_non_singular(self):
        return _check("assert_positive", _math.abs(self._diag_part()),
                      "Singular operator:  Diagonal contained zero values.")

    def _times(self, right):
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorLowerTriangular(
                self._to_dense() * _array.expand_dims(right.diag, -2),
                is_non_singular=_both_true(self, right))
        return None


def _both_true(a, b):
    return (a.is_non_singular and b.is_non_singular) or None


class LinearOperatorDiag(LinearOperator):
    """Square matrices by their diagonals [..., n]. ValueError for a scalar."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        if is_square is False:
            raise ValueError("Only square diagonal operators currently "
                             "supported.")
        self._diag = self._stored(diag, "diag", 1, name)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(self._diag.dtype, [self._diag], is_non_singular,
                         is_self_adjoint, is_positive_definite, True, name)

    diag = property(lambda self: self._diag)

    def _shape(self):
        shape = self._diag.get_shape()
        return shape if shape.ndims is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = _array.shape(self._diag)
        return _array.concat([shape, shape[-1:]], 0)

    def _to_dense(self):
        return _raw.MatrixDiag(self._diag)

    def _values(self, adjoint):
        return _conj(self._diag) if adjoint else self._diag

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return (_array.expand_dims(self._values(adjoint), -1)
                * _adjoint_if(x, adjoint_arg))

    def _matvec(self, x, adjoint=False):
        return self._values(adjoint) * x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return (_adjoint_if(rhs, adjoint_arg)
                / _array.expand_dims(self._values(adjoint), -1))

    def _solvevec(self, rhs, adjoint=False):
        return rhs / self._values(adjoint)

    def _diag_part(self):
        return self._diag

    def _add_to_tensor(self, x):
        # set_diag does not broadcast.
        diag = self._diag + _raw.MatrixDiagPart(x)
        x, wide = to_common_batch(x, _array.expand_dims(diag, -1))
        return _raw.MatrixSetDiag(x, _array.squeeze(wide, [-1]))

    def _determinant(self):
        return _math.reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self):
        sizes = _math.log(_math.abs(self._diag))
        if self.dtype.is_complex:
            sizes = _math.cast(sizes, self.dtype)
        return _math.reduce_sum(sizes, axis=-1)

    def _assert_non_singular(self):
        return _check("assert_positive", _math.abs(self._diag),
                      "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        return _check("assert_positive", _math.real(self._diag)
                      if self.dtype.is_complex else self._diag,
                      "%s diagonal operator had non-positive diagonal entries, "
                      "thus was not positive definite."
                      % ("Complex" if self.dtype.is_complex else "Real"))

    def _assert_self_adjoint(self):
        if not self.dtype.is_complex:
            return _nothing_to_check()
        return super()._assert_self_adjoint()

    def _of(self, diag):
        return LinearOperatorDiag(
            diag, is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite)

    def _adjoint(self):
        return self._of(_math.conj(self._diag))

    def _inverse(self):
        return self._of(1. / self._diag)

    def _cholesky(self):
        return LinearOperatorDiag(_math.sqrt(self._diag), is_square=True)

    def _times(self, right):
        if isinstance(right, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(
                _array.expand_dims(self._diag, -1) * right._to_dense(),
                is_non_singular=_both_true(self, right))
        if isinstance(right, (LinearOperatorDiag, LinearOperatorScaledIdentity)):
            return LinearOperatorDiag(
                self._diag * (right.diag if isinstance(right, LinearOperatorDiag)
                              else _array.expand_dims(right.multiplier, -1)),
                is_non_singular=_both_true(self, right))
        return None


def _size(value, what):
    """A number of rows, as a number if that is known, else a tensor."""
    known = constant_value(convert_to_tensor(value))
    if known is None:
        return value
    if known.ndim or not np.issubdtype(known.dtype, np.integer):
        raise ValueError("Argument %s must be a 0-D integer.  Found: %s"
                         % (what, known))
    if known < 0:
        raise ValueError("Argument %s must be non-negative.  Found: %d"
                         % (what, known))
    return int(known)


def _known_size(size):
    return size if isinstance(size, int) else None


def _batch(batch_shape):
    """A batch shape: what is known of it, and the tensor."""
    if batch_shape is None:
        return TensorShape([]), convert_to_tensor(np.zeros([0], np.int32))
    if isinstance(batch_shape, TensorShape):
        batch_shape = batch_shape.as_list()
    tensor = convert_to_tensor(batch_shape, dtype=_dtypes.int32,
                               name="batch_shape_arg")
    known = constant_value(tensor)
    if known is not None:
        if known.ndim != 1:
            raise ValueError("Argument batch_shape must be a 1-D Tensor.  "
                             "Found: %s" % known)
        if (known < 0).any():
            raise ValueError("Argument batch_shape must be non-negative.  "
                             "Found: %s" % known)
        return TensorShape(known.tolist()), tensor
    rank = tensor.get_shape()
    return (TensorShape(None) if rank.ndims is None or rank[0].value is None
            else TensorShape([None] * rank[0].value)), tensor


def _wide(x, batch, batch_tensor):
    """x with its batch shape broadcast to `batch` as well."""
    if batch.ndims == 0:
        return x
    ones = _array.ones(_array.concat([batch_tensor, [1, 1]], 0), x.dtype)
    return to_common_batch(x, ones)[0]


class LinearOperatorIdentity(LinearOperator):
    """Identity matrices [batch_shape, num_rows, num_rows] of `dtype` (default:
    float32). ValueError for negative sizes or False as a hint."""

    def __init__(self, num_rows, batch_shape=None, dtype=None,
                 is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True,
                 assert_proper_shapes=False, name="LinearOperatorIdentity"):
        if not is_self_adjoint:
            raise ValueError("An identity operator is always self adjoint.")
        if not is_non_singular:
            raise ValueError("An identity operator is always non-singular.")
        if not is_positive_definite:
            raise ValueError(
                "An identity operator is always positive-definite.")
        if not is_square:
            raise ValueError("An identity operator is always square.")
        super().__init__(_dtypes.as_dtype(dtype or _dtypes.float32), [], True,
                         True, True, True, name)
        with name_scope(self._own_scope):
            self._num_rows = _size(num_rows, "num_rows")
            self._static_batch, self._batch = _batch(batch_shape)

    def _shape(self):
        n = _known_size(self._num_rows)
        return self._static_batch.concatenate([n, n])

    def _shape_tensor(self):
        return _array.concat([self._batch, [self._num_rows] * 2], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return _wide(_adjoint_if(x, adjoint_arg), self._static_batch,
                     self._batch)

    _solve = _matmul

    def _diag_part(self):
        return _array.ones(self._shape_static_or_dynamic()[:-1], self.dtype)

    def _to_dense(self):
        return _raw.MatrixDiag(self._diag_part())

    def _trace(self):
        return _array.ones(self._batch, self.dtype) * _math.cast(
            self._num_rows, self.dtype)

    def _determinant(self):
        return _array.ones(self._batch, self.dtype)

    def _log_abs_determinant(self):
        return _array.zeros(self._batch, self.dtype)

    def _assert_non_singular(self):
        return _nothing_to_check()

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _inverse(self):
        return self

    _adjoint = _cholesky = _inverse

    def _times(self, right):
        return right

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The matrices plus mat."""
        return super().add_to_tensor(mat, name)


class LinearOperatorScaledIdentity(LinearOperator):
    """multiplier [batch_shape] times identity matrices."""

    def __init__(self, num_rows, multiplier, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorScaledIdentity"):
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._multiplier = self._stored(multiplier, "multiplier", 0, name)
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self "
                                 "adjoint.")
            is_self_adjoint = True
        super().__init__(self._multiplier.dtype, [self._multiplier],
                         is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)
        self._num_rows = _size(num_rows, "num_rows")

    multiplier = property(lambda self: self._multiplier)

    def _shape(self):
        n = _known_size(self._num_rows)
        return self._multiplier.get_shape().concatenate([n, n])

    def _shape_tensor(self):
        return _array.concat([_array.shape(self._multiplier),
                              [self._num_rows] * 2], 0)

    def _scale(self, dims, adjoint=False):
        m = _conj(self._multiplier) if adjoint else self._multiplier
        for _ in range(dims):
            m = _array.expand_dims(m, -1)
        return m

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return _adjoint_if(x, adjoint_arg) * self._scale(2, adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return _adjoint_if(rhs, adjoint_arg) / self._scale(2, adjoint)

    def _diag_part(self):
        return self._scale(1) * _array.ones([self._num_rows], self.dtype)

    def _to_dense(self):
        return _raw.MatrixDiag(self._diag_part())

    def _trace(self):
        return self._multiplier * _math.cast(self._num_rows, self.dtype)

    def _determinant(self):
        return self._multiplier ** _math.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self):
        size = _math.log(_math.abs(self._multiplier))
        if self.dtype.is_complex:
            size = _math.cast(size, self.dtype)
        return size * _math.cast(self._num_rows, self.dtype)

    def _assert_non_singular(self):
        return _check("assert_positive", _math.abs(self._multiplier),
                      "LinearOperator was singular")

    def _assert_positive_definite(self):
        return _check("assert_positive", _math.real(self._multiplier)
                      if self.dtype.is_complex else self._multiplier,
                      "LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        if not self.dtype.is_complex:
            return _nothing_to_check()
        return super()._assert_self_adjoint()

    def _of(self, multiplier):
        return LinearOperatorScaledIdentity(
            self._num_rows, multiplier, is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite)

    def _adjoint(self):
        return self._of(_math.conj(self._multiplier))

    def _inverse(self):
        return self._of(1. / self._multiplier)

    def _cholesky(self):
        return self._of(_math.sqrt(self._multiplier))

    def _times(self, right):
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(self._scale(1) * right.diag,
                                      is_non_singular=_both_true(self, right))
        return None

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The matrices plus mat."""
        return super().add_to_tensor(mat, name)


class LinearOperatorZeros(LinearOperator):
    """Zeros [batch_shape, num_rows, num_columns or num_rows]. ValueError for
    is_non_singular or is_positive_definite, or sizes against is_square."""

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None,
                 is_non_singular=False, is_self_adjoint=True,
                 is_positive_definite=False, is_square=True,
                 assert_proper_shapes=False, name="LinearOperatorZeros"):
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive definite.")
        if is_square is False and is_self_adjoint is True:
            raise ValueError("A zero operator that is not square is not self "
                             "adjoint.")
        super().__init__(_dtypes.as_dtype(dtype or _dtypes.float32), [], False,
                         is_self_adjoint, False, is_square, name)
        with name_scope(self._own_scope):
            self._num_rows = _size(num_rows, "num_rows")
            self._num_columns = (self._num_rows if num_columns is None
                                 else _size(num_columns, "num_columns"))
            self._static_batch, self._batch = _batch(batch_shape)
        known = _known_size(self._num_rows), _known_size(self._num_columns)
        if is_square and None not in known and known[0] != known[1]:
            raise ValueError(
                "LinearOperatorZeros initialized as is_square=True, but got "
                "num_rows(%d) != num_columns(%d)" % known)

    def _shape(self):
        return self._static_batch.concatenate(
            [_known_size(self._num_rows), _known_size(self._num_columns)])

    def _shape_tensor(self):
        return _array.concat(
            [self._batch, [self._num_rows, self._num_columns]], 0)

    def _to_dense(self):
        return _array.zeros(self._shape_static_or_dynamic(), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = _adjoint_if(x, adjoint_arg)
        columns = shape_of(x)[-1:]
        rows = self._num_columns if adjoint else self._num_rows
        # Without the elements of x: NaN times 0 is no 0.
        batch = _array.broadcast_dynamic_shape(shape_of(x)[:-2], self._batch)
        return _array.zeros(_array.concat([batch, [rows], columns], 0),
                            self.dtype)

    def _diag_part(self):
        shape = self._shape_static_or_dynamic()
        return _array.zeros(_array.concat(
            [shape[:-2], [_math.minimum(shape[-1], shape[-2])]], 0), self.dtype)

    def _trace(self):
        return _array.zeros(self._batch, self.dtype)

    _determinant = _trace

    def _log_abs_determinant(self):
        return _array.fill(self._batch, convert_to_tensor(
            -np.inf, dtype=self.dtype))

    def _assert_non_singular(self):
        return _always_fails("Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        return _always_fails("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return _nothing_to_check()

    def _adjoint(self):
        return LinearOperatorZeros(
            self._num_columns, self._num_rows, self._batch, self.dtype,
            is_self_adjoint=self.is_self_adjoint,
            is_square=self._is_square_hint)

    def _times(self, right):
        square = self.is_square and right.is_square
        columns = getattr(right.domain_dimension, "value",
                          right.domain_dimension)
        batch = common_batch([self._static_batch, right.batch_shape])
        if columns is None:
            columns = right._shape_static_or_dynamic()[-1]
        if not batch.is_fully_defined():
            batch = _array.broadcast_dynamic_shape(
                self._batch, right._shape_static_or_dynamic()[:-2])
        return LinearOperatorZeros(
            self._num_rows, columns, batch, self.dtype,
            is_self_adjoint=bool(square), is_square=square)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """The matrices plus mat."""
        return super().add_to_tensor(mat, name)


class LinearOperatorAdjoint(LinearOperator):
    """The adjoints of another operator's matrices."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None):
        self._operator = operator
        super().__init__(
            operator.dtype, operator.graph_parents,
            *_hints_of(operator, is_non_singular, is_self_adjoint,
                       is_positive_definite, is_square),
            name=name or operator.name + "_adjoint")

    operator = property(lambda self: self._operator)

    def _shape(self):
        shape = self._operator.shape
        return shape if shape.ndims is None else shape[:-2].concatenate(
            [shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return _array.concat([shape[:-2], [shape[-1], shape[-2]]], 0)

    def _to_dense(self):
        return adjoint_of(self._operator.to_dense())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint,
                                     adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint,
                                    adjoint_arg=adjoint_arg)

    def _diag_part(self):
        return _conj(self._operator.diag_part())

    def _trace(self):
        return _conj(self._operator.trace())

    def _determinant(self):
        return _conj(self._operator.determinant())

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()

    def _adjoint(self):
        return self._operator


def _hints_of(operator, *given):
    """The hints of an operator that are another's too, where none is given."""
    own = (operator.is_non_singular, operator.is_self_adjoint,
           operator.is_positive_definite, operator.is_square)
    for name, o, g in zip(("is_non_singular", "is_self_adjoint",
                           "is_positive_definite", "is_square"), own, given):
        if None not in (o, g) and o != g:
            raise ValueError("%s is %s, but that of the operator is %s"
                             % (name, g, o))
    return [o if g is None else g for o, g in zip(own, given)]


class LinearOperatorInversion(LinearOperator):
    """The inverses of another operator's matrices."""

    def __init__(self, operator, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None):
        if operator.is_square is False or operator.is_non_singular is False:
            raise ValueError("operator is not square, or singular: it has no "
                             "inverse")
        self._operator = operator
        super().__init__(
            operator.dtype, operator.graph_parents,
            *_hints_of(operator, is_non_singular, is_self_adjoint,
                       is_positive_definite, is_square),
            name=name or operator.name + "_inv")

    operator = property(lambda self: self._operator)

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint,
                                     adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1. / self._operator.determinant()

    def _log_abs_determinant(self):
        return -self._operator.log_abs_determinant()

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()

    def _inverse(self):
        return self._operator


class _OfSeveral(LinearOperator):
    """An operator made of a list of others, all of one type."""

    _joint = "_"

    def __init__(self, operators, is_non_singular, is_self_adjoint,
                 is_positive_definite, is_square, name):
        operators = list(operators)
        if not operators:
            raise ValueError(
                "Expected a non-empty list of operators. Found: %s" % operators)
        for op in operators[1:]:
            if op.dtype != operators[0].dtype:
                raise TypeError(
                    "Expected all operators to have the same dtype. Found %s"
                    % ["(%s, %s)" % (o.name, o.dtype.name) for o in operators])
        self._operators = operators
        super().__init__(
            operators[0].dtype,
            [p for op in operators for p in op.graph_parents],
            all_true([o.is_non_singular for o in operators], "is_non_singular",
                     is_non_singular),
            is_self_adjoint, is_positive_definite, is_square,
            name or self._joint.join(o.name for o in operators))

    operators = property(lambda self: list(self._operators))

    def _static_batch(self):
        return common_batch(o.batch_shape for o in self._operators)

    def _batch(self):
        batch = self._operators[0].batch_shape_tensor()
        for op in self._operators[1:]:
            batch = _array.broadcast_dynamic_shape(batch,
                                                   op.batch_shape_tensor())
        return batch


class LinearOperatorComposition(_OfSeveral):
    """The products of the operators' matrices, in order. ValueError if their
    dimensions do not fit."""

    _joint = "_o_"

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None):
        super().__init__(operators, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)
        for left, right in zip(self._operators, self._operators[1:]):
            TensorShape([left.domain_dimension]).assert_is_compatible_with(
                TensorShape([right.range_dimension]))

    def _shape(self):
        return self._static_batch().concatenate(
            [self._operators[0].range_dimension,
             self._operators[-1].domain_dimension])

    def _shape_tensor(self):
        return _array.concat(
            [self._batch(), [self._operators[0].range_dimension_tensor(),
                             self._operators[-1].domain_dimension_tensor()]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = _adjoint_if(x, adjoint_arg)
        for op in self._operators if adjoint else self._operators[::-1]:
            x = op.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = _adjoint_if(rhs, adjoint_arg)
        for op in self._operators[::-1] if adjoint else self._operators:
            rhs = op.solve(rhs, adjoint=adjoint)
        return rhs

    def _determinant(self):
        found = self._operators[0].determinant()
        for op in self._operators[1:]:
            found *= op.determinant()
        return found

    def _log_abs_determinant(self):
        found = self._operators[0].log_abs_determinant()
        for op in self._operators[1:]:
            found += op.log_abs_determinant()
        return found


class LinearOperatorBlockDiag(_OfSeveral):
    """Matrices that have the operators' matrices on their diagonal and zeros
    elsewhere. ValueError if an operator is not square."""

    _joint = "_ds_"

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name=None):
        operators = list(operators)
        if not is_square or any(o.is_square is False for o in operators):
            raise ValueError("Can only represent a block diagonal of square "
                             "matrices.")
        super().__init__(
            operators, is_non_singular,
            all_true([o.is_self_adjoint for o in operators], "is_self_adjoint",
                     is_self_adjoint),
            all_true([o.is_positive_definite for o in operators],
                     "is_positive_definite", is_positive_definite), True, name)

    def _shape(self):
        sizes = [getattr(o.range_dimension, "value", o.range_dimension)
                 for o in self._operators]
        n = None if None in sizes else sum(sizes)
        return self._static_batch().concatenate([n, n])

    def _sizes(self):
        return [o.range_dimension_tensor() for o in self._operators]

    def _shape_tensor(self):
        n = _math.add_n(self._sizes())
        return _array.concat([self._batch(), [n, n]], 0)

    def _blocks(self, x, f):
        """f(operator, its rows of x) for each, one above the other."""
        sizes = [getattr(o.range_dimension, "value", o.range_dimension)
                 for o in self._operators]
        rows = _array.split(
            x, sizes if None not in sizes else _array.stack(self._sizes()),
            axis=-2, num=len(sizes))
        return _array.concat(to_common_batch(
            *[f(o, r) for o, r in zip(self._operators, rows)]), axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._blocks(_adjoint_if(x, adjoint_arg),
                            lambda o, rows: o.matmul(rows, adjoint=adjoint))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._blocks(_adjoint_if(rhs, adjoint_arg),
                            lambda o, rows: o.solve(rows, adjoint=adjoint))

    def _diag_part(self):
        columns = to_common_batch(
            *[_array.expand_dims(o.diag_part(), -1) for o in self._operators])
        return _array.squeeze(_array.concat(columns, axis=-2), [-1])

    def _trace(self):
        return sum((o.trace() for o in self._operators[1:]),
                   self._operators[0].trace())

    def _determinant(self):
        found = self._operators[0].determinant()
        for op in self._operators[1:]:
            found *= op.determinant()
        return found

    def _log_abs_determinant(self):
        return sum((o.log_abs_determinant() for o in self._operators[1:]),
                   self._operators[0].log_abs_determinant())

    def _checks(self, name):
        from headrace._src.control.control_flow_ops import group
        return group(*[getattr(o, name)() for o in self._operators])

    def _assert_non_singular(self):
        return self._checks("assert_non_singular")

    def _assert_positive_definite(self):
        return self._checks("assert_positive_definite")

    def _assert_self_adjoint(self):
        return self._checks("assert_self_adjoint")

    def _of(self, operators):
        return LinearOperatorBlockDiag(
            operators, is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite)

    def _adjoint(self):
        return self._of([o.adjoint() for o in self._operators])

    def _inverse(self):
        return self._of([o.inverse() for o in self._operators])

    def _cholesky(self):
        return LinearOperatorBlockDiag(
            [o.cholesky() for o in self._operators], is_non_singular=True)


class LinearOperatorKronecker(_OfSeveral):
    """The Kronecker products of the operators' matrices."""

    _joint = "_x_"

    def __init__(self, operators, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None, name=None):
        operators = list(operators)
        if all(o.is_square for o in operators):
            if is_square is False:
                raise ValueError("is_square is False, but it follows from the "
                                 "parts")
            is_square = True
        super().__init__(
            operators, is_non_singular,
            all_true([o.is_self_adjoint for o in operators], "is_self_adjoint",
                     is_self_adjoint),
            all_true([o.is_positive_definite for o in operators],
                     "is_positive_definite", is_positive_definite), is_square,
            name)

    def _size(self, which):
        sizes = [getattr(d, "value", d) for d in
                 (getattr(o, which) for o in self._operators)]
        return None if None in sizes else int(np.prod(sizes))

    def _shape(self):
        return self._static_batch().concatenate(
            [self._size("range_dimension"), self._size("domain_dimension")])

    def _shape_tensor(self):
        rows = columns = 1
        for o in self._operators:
            rows *= o.range_dimension_tensor()
            columns *= o.domain_dimension_tensor()
        return _array.concat([self._batch(), [rows, columns]], 0)

    def _each(self, x, f, sizes, static):
        """f(operator, x) along the operator's own part of the rows of x, one
        operator after the other. `sizes`: how many rows of x each takes."""
        columns, known = shape_of(x)[-1:], x.get_shape()
        for op, n in zip(self._operators, sizes):
            # [batch, n, the others' rows and the columns] -> [..., others, n]
            batch = shape_of(x)[:-2]
            x = f(op, _array.reshape(x, _array.concat([batch, [n, -1]], 0)))
            x = _array.matrix_transpose(x)
        # Now [batch, columns, all rows], after one last change of shape.
        x = _array.matrix_transpose(_array.reshape(x, _array.concat(
            [shape_of(x)[:-2], columns, [-1]], 0)))
        if known.ndims is not None:
            x.set_shape(common_batch(
                [self._static_batch(), known[:-2]]).concatenate(
                    [static, known[-1]]))
        return x

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        sizes = [o.range_dimension_tensor() if adjoint
                 else o.domain_dimension_tensor() for o in self._operators]
        return self._each(
            _adjoint_if(x, adjoint_arg),
            lambda o, part: o.matmul(part, adjoint=adjoint), sizes,
            self._size("domain_dimension" if adjoint else "range_dimension"))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        sizes = [o.range_dimension_tensor() for o in self._operators]
        return self._each(
            _adjoint_if(rhs, adjoint_arg),
            lambda o, part: o.solve(part, adjoint=adjoint), sizes,
            self._size("range_dimension"))

    def _diag_part(self):
        if self.is_square is not True:
            return super()._diag_part()
        found = self._operators[0].diag_part()
        for o in self._operators[1:]:
            found = (_array.expand_dims(found, -1)
                     * _array.expand_dims(o.diag_part(), -2))
            found = _array.reshape(found, _array.concat(
                [_array.shape(found)[:-2], [-1]], 0))
        found.set_shape(self.shape[:-1])
        return found

    def _trace(self):
        if self.is_square is not True:
            return super()._trace()
        found = self._operators[0].trace()
        for o in self._operators[1:]:
            found *= o.trace()
        return found

    def _determinant(self):
        total = self.domain_dimension_tensor()
        found = 1
        for o in self._operators:
            found *= o.determinant() ** _math.cast(
                total // o.domain_dimension_tensor(), self.dtype)
        return found

    def _log_abs_determinant(self):
        total = self.domain_dimension_tensor()
        found = 0
        for o in self._operators:
            found += o.log_abs_determinant() * _math.cast(
                total // o.domain_dimension_tensor(), self.dtype)
        return found

    def _of(self, operators):
        return LinearOperatorKronecker(
            operators, is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=self._is_square_hint)

    def _adjoint(self):
        return self._of([o.adjoint() for o in self._operators])

    def _inverse(self):
        return self._of([o.inverse() for o in self._operators])

    def _cholesky(self):
        return LinearOperatorKronecker(
            [o.cholesky() for o in self._operators], is_non_singular=True,
            is_square=True)


class LinearOperatorLowRankUpdate(LinearOperator):
    """base_operator + u diag(diag_update) v^H: u [..., n, k], v [..., m, k]
    (default: u), diag_update [..., k] (default: ones). solve and determinant
    are those of the base operator, mended by k x k matrices (Woodbury)."""

    def __init__(self, base_operator, u, diag_update=None, v=None,
                 is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorLowRankUpdate"):
        dtype = base_operator.dtype
        self._u = self._stored(u, "u", 2, name, dtype)
        self._v = self._u if v is None else self._stored(v, "v", 2, name, dtype)
        if diag_update is None:
            is_diag_update_positive = True
            self._diag_update = None
        else:
            self._diag_update = self._stored(diag_update, "diag_update", 1, name,
                                         dtype)
        if v is None and (diag_update is None or not dtype.is_complex):
            if base_operator.is_self_adjoint and is_self_adjoint is None:
                is_self_adjoint = True
        if v is None and is_diag_update_positive and (
                base_operator.is_positive_definite):
            for what, hint in (("is_positive_definite", is_positive_definite),
                               ("is_non_singular", is_non_singular)):
                if hint is False:
                    raise ValueError("%s is False, but the operator is positive "
                                     "definite" % what)
            is_positive_definite = is_non_singular = True
        self._base = base_operator
        self._positive_update = is_diag_update_positive
        parents = base_operator.graph_parents + [self._u]
        parents += [t for t in (self._diag_update,) if t is not None]
        parents += [] if v is None else [self._v]
        super().__init__(dtype, parents, is_non_singular, is_self_adjoint,
                         is_positive_definite, is_square, name)
        with name_scope(self._own_scope):
            rank = self._u.get_shape()[-1:]
            if self._diag_update is not None:
                self._diag_operator = LinearOperatorDiag(
                    self._diag_update,
                    is_positive_definite=is_diag_update_positive)
            else:
                known = rank.as_list() if rank.ndims else [None]
                self._diag_operator = LinearOperatorIdentity(
                    _array.shape(self._u)[-1] if None in known else known[0],
                    dtype=dtype)
        for what, matrix, dim in (("u", self._u, base_operator.range_dimension),
                                  ("v", self._v,
                                   base_operator.domain_dimension)):
            if matrix.get_shape().ndims is not None:
                TensorShape([dim]).assert_is_compatible_with(
                    matrix.get_shape()[-2:-1])

    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._diag_update)
    diag_operator = property(lambda self: self._diag_operator)
    is_diag_update_positive = property(lambda self: self._positive_update)

    def _shape(self):
        batch = common_batch(
            s[:-2] for s in (self._base.shape, self._diag_operator.shape,
                             self._u.get_shape(), self._v.get_shape()))
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        batch = self._base.batch_shape_tensor()
        for other in (self._diag_operator.batch_shape_tensor(),
                      _array.shape(self._u)[:-2], _array.shape(self._v)[:-2]):
            batch = _array.broadcast_dynamic_shape(batch, other)
        return _array.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = _adjoint_if(x, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        update = self._diag_operator.matmul(product(right, x, True),
                                            adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint) + product(left, update)

    def _diag_part(self):
        weighted = adjoint_of(self._diag_operator.matmul(adjoint_of(self._v)))
        return self._base.diag_part() + _math.reduce_sum(
            self._u * _conj(weighted), axis=-1)

    def _capacitance(self):
        """The k x k matrices diag^-1 + v^H base^-1 u."""
        return self._diag_operator.inverse().add_to_tensor(
            product(self._v, self._base.solve(self._u), True))

    def _positive_capacitance(self):
        return bool(self._base.is_positive_definite
                    and self._base.is_self_adjoint and self._positive_update
                    and self._v is self._u)

    def _determinant(self):
        return (self._base.determinant() * self._diag_operator.determinant()
                * _raw.MatrixDeterminant(self._capacitance()))

    def _log_abs_determinant(self):
        capacitance = LinearOperatorFullMatrix(
            self._capacitance(),
            is_self_adjoint=self._positive_capacitance() or None,
            is_positive_definite=self._positive_capacitance() or None)
        return (self._base.log_abs_determinant()
                + self._diag_operator.log_abs_determinant()
                + capacitance.log_abs_determinant())

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = _adjoint_if(rhs, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        plain = self._base.solve(rhs, adjoint=adjoint)
        capacitance = LinearOperatorFullMatrix(
            _adjoint_if(self._capacitance(), adjoint),
            is_self_adjoint=self._positive_capacitance() or None,
            is_positive_definite=self._positive_capacitance() or None)
        small = capacitance.solve(product(right, plain, True))
        return plain - self._base.solve(product(left, small), adjoint=adjoint)


class LinearOperatorHouseholder(LinearOperator):
    """I - 2 v v^H of the unit vectors v along reflection_axis [..., n]: the
    reflections in the planes that these vectors stand on."""

    def __init__(self, reflection_axis, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name="LinearOperatorHouseholder"):
        if is_positive_definite:
            raise ValueError("Householder operators are always non-positive "
                             "definite.")
        if is_self_adjoint is False:
            raise ValueError("Householder operators are always self adjoint.")
        if is_square is False:
            raise ValueError("Householder operators are always square.")
        self._axis = self._stored(reflection_axis, "reflection_axis", 1, name)
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, True,
                         False, True, name)

    reflection_axis = property(lambda self: self._axis)

    def _shape(self):
        shape = self._axis.get_shape()
        return shape if shape.ndims is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = _array.shape(self._axis)
        return _array.concat([shape, shape[-1:]], 0)

    def _unit(self):
        size = _math.reduce_sum(_math.square(_math.abs(self._axis)), axis=-1,
                                keepdims=True)
        return self._axis / _math.cast(_math.sqrt(size), self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = _adjoint_if(x, adjoint_arg)
        v = _array.expand_dims(self._unit(), -1)
        return x - 2 * v * product(v, x, True)

    _solve = _matmul

    def _diag_part(self):
        return 1. - 2. * _math.cast(
            _math.square(_math.abs(self._unit())), self.dtype)

    def _to_dense(self):
        v = _array.expand_dims(self._unit(), -1)
        dense = -2 * v * adjoint_of(v)
        return _raw.MatrixSetDiag(dense, 1. + _raw.MatrixDiagPart(dense))

    def _trace(self):
        return (_math.cast(self.domain_dimension_tensor(), self.dtype) - 2
                + _array.zeros(_array.shape(self._axis)[:-1], self.dtype))

    def _determinant(self):
        return -_array.ones(_array.shape(self._axis)[:-1], self.dtype)

    def _log_abs_determinant(self):
        return _array.zeros(_array.shape(self._axis)[:-1], self.dtype)

    def _assert_non_singular(self):
        return _nothing_to_check()

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self):
        return _always_fails(
            "Householder operators are always non-positive definite.")

    def _inverse(self):
        return self


class LinearOperatorToeplitz(LinearOperator):
    """Matrices that are constant along each diagonal, by their first columns
    and rows [..., n]; the first element of `row` is not read."""

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorToeplitz"):
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently "
                             "supported.")
        self._col = self._stored(col, "col", 1, name)
        self._row = self._stored(row, "row", 1, name)
        if self._col.dtype != self._row.dtype:
            raise ValueError("col and row must have one type, got %s and %s"
                             % (self._col.dtype.name, self._row.dtype.name))
        super().__init__(self._col.dtype, [self._col, self._row],
                         is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)

    col = property(lambda self: self._col)
    row = property(lambda self: self._row)

    def _shape(self):
        shape = _array.broadcast_static_shape(self._col.get_shape(),
                                              self._row.get_shape())
        return shape if shape.ndims is None else shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = _array.broadcast_dynamic_shape(_array.shape(self._col),
                                               _array.shape(self._row))
        return _array.concat([shape, shape[-1:]], 0)

    def _to_dense(self):
        # Element i, j is number n - 1 + i - j of the reversed row, less its
        # first element, with the column behind it.
        row, col = [_array.squeeze(m, [-1]) for m in to_common_batch(
            _array.expand_dims(self._row, -1), _array.expand_dims(
                self._col, -1))]
        values = _array.concat([_array.reverse(row[..., 1:], [-1]), col], -1)
        n = self._shape_static_or_dynamic()[-1]
        i = _math.range(n)
        dense = _array.gather(values, n - 1 + _array.expand_dims(i, 1)
                              - _array.expand_dims(i, 0), axis=-1)
        dense.set_shape(self.shape)
        return dense

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return product(self._to_dense(), _adjoint_if(x, adjoint_arg), adjoint)

    def _diag_part(self):
        shape = self._shape_static_or_dynamic()
        return _array.broadcast_to(self._col[..., :1], shape[:-1])

    def _trace(self):
        n = _math.cast(self.domain_dimension_tensor(), self.dtype)
        return n * _array.broadcast_to(self._col[..., 0],
                                       self._shape_static_or_dynamic()[:-2])


class _Circulant(LinearOperator):
    """F^-1 diag(spectrum) F with F the Fourier transform over the last
    block_depth dimensions of spectrum [..., n1, ...]: convolution with a kernel
    that wraps around. `input_output_dtype`: of arguments and results; a real
    one drops their imaginary parts, which are none if the spectrum is
    Hermitian."""

    def __init__(self, spectrum, depth, input_output_dtype, is_non_singular,
                 is_self_adjoint, is_positive_definite, is_square, name):
        self._depth = depth
        self._spectrum = self._stored(spectrum, "spectrum", depth, name)
        if not is_square:
            raise ValueError("A [block] circulant operator is always square.")
        if self._spectrum.dtype not in (_dtypes.float16, _dtypes.float32,
                                        _dtypes.float64, _dtypes.complex64,
                                        _dtypes.complex128):
            raise TypeError("Argument spectrum must be a float or complex "
                            "tensor, got %s" % self._spectrum.dtype.name)
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a "
                                 "self-adjoint operator.")
            is_self_adjoint = True
        super().__init__(_dtypes.as_dtype(input_output_dtype),
                         [self._spectrum], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)

    spectrum = property(lambda self: self._spectrum)
    block_depth = property(lambda self: self._depth)

    @property
    def block_shape(self):
        """What is known of the spectrum's last block_depth dimensions."""
        shape = self._spectrum.get_shape()
        return (TensorShape([None] * self._depth) if shape.ndims is None
                else shape[-self._depth:])

    def block_shape_tensor(self):
        """int32: the spectrum's last block_depth dimensions."""
        return shape_of(self._spectrum)[-self._depth:]

    def _shape(self):
        shape = self._spectrum.get_shape()
        if shape.ndims is None:
            return shape
        sizes = self.block_shape.as_list()
        n = None if None in sizes else int(np.prod(sizes))
        return shape[:-self._depth].concatenate([n, n])

    def _shape_tensor(self):
        n = _math.reduce_prod(self.block_shape_tensor())
        return _array.concat([_array.shape(self._spectrum)[:-self._depth],
                              [n, n]], 0)

    def _complex(self):
        return _math.cast(self._spectrum, self._complex_type())

    def _complex_type(self):
        wide = (_dtypes.float64, _dtypes.complex128)
        return (_dtypes.complex128 if self.dtype in wide
                or self._spectrum.dtype in wide else _dtypes.complex64)

    def _transform(self, x, inverse):
        return getattr(_spectral, ("ifft" if inverse else "fft")
                       + ("", "2d", "3d")[self._depth - 1])(x)

    def _apply(self, x, factors):
        """F^-1 diag(factors) F x, for factors in the spectrum's shape."""
        columns = _math.cast(_array.matrix_transpose(x), self._complex_type())
        flat = shape_of(columns)
        blocks = _array.reshape(columns, _array.concat(
            [flat[:-1], self.block_shape_tensor()], 0))
        factors = _array.expand_dims(factors, -1 - self._depth)
        found = self._transform(self._transform(blocks, False) * factors, True)
        # With the size itself: it cannot be inferred where there are no columns.
        found = _array.matrix_transpose(_array.reshape(found, _array.concat(
            [shape_of(found)[:-self._depth], flat[-1:]], 0)))
        if x.get_shape().ndims is not None and self.shape.ndims is not None:
            found.set_shape(common_batch(
                [self.batch_shape, x.get_shape()[:-2]]).concatenate(
                    x.get_shape()[-2:]))
        return self._out(found)

    def _out(self, x):
        return _math.cast(_math.real(x) if x.dtype.is_complex
                          and not self.dtype.is_complex else x, self.dtype)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        spectrum = self._complex()
        return self._apply(_adjoint_if(x, adjoint_arg), _math.conj(spectrum)
                           if adjoint else spectrum)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        spectrum = self._complex()
        return self._apply(_adjoint_if(rhs, adjoint_arg), 1 / (
            _math.conj(spectrum) if adjoint else spectrum))

    def _flat(self, values):
        return _array.reshape(values, _array.concat(
            [shape_of(values)[:-self._depth], [-1]], 0))

    def _determinant(self):
        found = _math.reduce_prod(self._flat(self._complex()), axis=-1)
        return self._shaped(self._out(found))

    def _log_abs_determinant(self):
        sizes = _math.log(_math.abs(self._flat(self._complex())))
        return self._shaped(_math.cast(_math.reduce_sum(sizes, axis=-1),
                                       self.dtype))

    def _trace(self):
        return self._shaped(self._out(_math.reduce_sum(
            self._flat(self._complex()), axis=-1)))

    def _shaped(self, x):
        x.set_shape(self.batch_shape)
        return x

    def _diag_part(self):
        mean = _array.expand_dims(self._trace(), -1) / _math.cast(
            self.domain_dimension_tensor(), self.dtype)
        return mean * _array.ones(self._shape_static_or_dynamic()[-1:],
                                  self.dtype)

    def convolution_kernel(self, name="convolution_kernel"):
        """The kernel in the spectrum's shape: its inverse transform."""
        with self._scope(name):
            return self._out(self._transform(self._complex(), True))

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An operation that fails unless the matrices are real."""
        from headrace._src.control.check_ops import assert_less_equal
        with self._scope(name):
            kernel = self._transform(self._complex(), True)
            eps = np.finfo(self.dtype.as_numpy_dtype).eps
            sizes = _math.cast(self.domain_dimension_tensor(),
                               kernel.dtype.real_dtype)
            return assert_less_equal(
                _math.abs(_math.imag(kernel)), 5 * eps * sizes,
                message="Spectrum was not Hermitian")

    def _assert_non_singular(self):
        return _check("assert_positive", _math.abs(self._spectrum),
                      "LinearOperator was singular")

    def _assert_positive_definite(self):
        return _check("assert_positive", _math.real(self._spectrum)
                      if self._spectrum.dtype.is_complex else self._spectrum,
                      "Not positive definite:  Real part of spectrum was not "
                      "all positive.")

    def _assert_self_adjoint(self):
        if not self._spectrum.dtype.is_complex:
            return _nothing_to_check()
        return super()._assert_self_adjoint()

    def _of(self, spectrum, like, self_adjoint):
        return type(self)(
            spectrum, input_output_dtype=self.dtype,
            is_non_singular=like[0], is_self_adjoint=self_adjoint,
            is_positive_definite=like[1])

    def _adjoint(self):
        return self._of(_conj(self._spectrum),
                        (self.is_non_singular, self.is_positive_definite),
                        self.is_self_adjoint)

    def _inverse(self):
        return self._of(1. / self._spectrum,
                        (self.is_non_singular, self.is_positive_definite),
                        self.is_self_adjoint)

    def _times(self, right):
        if type(self) is not type(right) or self.dtype != right.dtype or (
                self._spectrum.dtype != right.spectrum.dtype):
            return None
        return self._of(self._spectrum * right.spectrum,
                        (_both_true(self, right), None), None)


class LinearOperatorCirculant(_Circulant):
    __doc__ = _Circulant.__doc__

    def __init__(self, spectrum, input_output_dtype=_dtypes.complex64,
                 is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True,
                 name="LinearOperatorCirculant"):
        super().__init__(spectrum, 1, input_output_dtype, is_non_singular,
                         is_self_adjoint, is_positive_definite, is_square,
                         name)


class LinearOperatorCirculant2D(_Circulant):
    __doc__ = _Circulant.__doc__

    def __init__(self, spectrum, input_output_dtype=_dtypes.complex64,
                 is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True,
                 name="LinearOperatorCirculant2D"):
        super().__init__(spectrum, 2, input_output_dtype, is_non_singular,
                         is_self_adjoint, is_positive_definite, is_square,
                         name)


class LinearOperatorCirculant3D(_Circulant):
    __doc__ = _Circulant.__doc__

    def __init__(self, spectrum, input_output_dtype=_dtypes.complex64,
                 is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True,
                 name="LinearOperatorCirculant3D"):
        super().__init__(spectrum, 3, input_output_dtype, is_non_singular,
                         is_self_adjoint, is_positive_definite, is_square,
                         name)
