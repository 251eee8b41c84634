"""tf.linalg.LinearOperator: batches of matrices that are known by what they do.

A kind of operator derives from LinearOperator and says `_shape`,
`_shape_tensor` and `_matmul`; all else follows from these, by way of the dense
matrices, where the kind does not know better."""
import contextlib

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.math.operator_functions import (
    ADJOINTS, CHOLESKYS, INVERSES, PRODUCTS, SOLUTIONS, registered)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables.base import Variable
from headrace._src.variables.module import Module


def adjoint_of(x):
    """The conjugate transposes of matrices."""
    x = _array.matrix_transpose(x)
    return _math.conj(x) if x.dtype.is_complex else x


def product(a, b, adjoint_a=False):
    """Products of matrices whose batch shapes broadcast."""
    if a.get_shape().ndims == b.get_shape().ndims == 2:
        return _math.matmul(a, b, adjoint_a=adjoint_a)
    return _raw.BatchMatMulV2(a, b, adj_x=adjoint_a)


def static_or_dynamic(shape, tensor):
    """`shape` as a tensor: a constant if it is known, else tensor()."""
    if shape.is_fully_defined():
        return convert_to_tensor(np.array(shape.as_list(), np.int32))
    return tensor()


def shape_of(x):
    return static_or_dynamic(x.get_shape(), lambda: _array.shape(x))


def to_common_batch(*matrices):
    """The matrices with their batch shapes broadcast to a common one."""
    shapes = [m.get_shape() for m in matrices]
    if all(s.is_fully_defined() for s in shapes):
        if all(s[:-2].as_list() == shapes[0][:-2].as_list() for s in shapes):
            return list(matrices)
    batch = shape_of(matrices[0])[:-2]
    for m in matrices[1:]:
        batch = _array.broadcast_dynamic_shape(batch, shape_of(m)[:-2])
    static = common_batch(s[:-2] if s.ndims is not None else s for s in shapes)
    found = []
    for m in matrices:
        wide = _array.broadcast_to(
            m, _array.concat([batch, shape_of(m)[-2:]], 0))
        if m.get_shape().ndims is not None:
            wide.set_shape(static.concatenate(m.get_shape()[-2:]))
        found.append(wide)
    return found


def common_batch(shapes):
    """What is known of the shape that static batch shapes broadcast to."""
    common = TensorShape([])
    for s in shapes:
        common = _array.broadcast_static_shape(common, s)
    return common


def all_true(hints, what, given):
    """The hint `what` of an operator whose parts all have it, if they do."""
    if all(h is True for h in hints):
        if given is False:
            raise ValueError("%s is False, but it follows from the parts"
                             % what)
        return True
    return given


class LinearOperator(Module):
    """A batch [batch_shape, n, m] of matrices.

    `dtype`: of their elements. `is_non_singular`, `is_self_adjoint`,
    `is_positive_definite`, `is_square`: promises (True), or False or None; they
    choose between algorithms and are not checked, except those that
    contradict each other (ValueError). Arguments of matmul and solve are
    matrices [..., n, k], or operators; of matvec and solvevec vectors
    [..., n]; their batch shapes broadcast. `variables` has those that an
    operator was made of."""

    def __init__(self, dtype, graph_parents=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None):
        for hint in (is_non_singular, is_self_adjoint, is_positive_definite,
                     is_square):
            if hint not in (True, False, None):
                raise ValueError("a hint must be True, False or None, got %r"
                                 % (hint,))
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError(
                    "A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._dtype = dtype
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = is_square
        self._name = name or type(self).__name__
        self._take_scope(self._name)

    def _take_scope(self, name):
        # The scope is the operator's own, whoever calls it.
        if not hasattr(self, "_own_scope"):
            with name_scope(name) as scope:
                self._own_scope = scope

    def _stored(self, value, what, dims, name, dtype=None):
        """`value` as a tensor of `dims` dimensions or more."""
        self._take_scope(name)
        if isinstance(value, Variable):
            self._of_arguments = [*getattr(self, "_of_arguments", []), value]
        with name_scope(self._own_scope):
            value = convert_to_tensor(value, name=what, dtype=dtype)
        rank = value.get_shape().ndims
        if rank is not None and rank < dims:
            raise ValueError(
                "Argument %s must have at least %d dimension%s.  Found: %s"
                % (what, dims, "s" if dims > 1 else "", value))
        return value

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    graph_parents = property(lambda self: list(self._graph_parents))
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)
    shape = property(lambda self: self._shape(),
                     doc="What is known of [batch_shape, n, m].")
    batch_shape = property(lambda self: self.shape[:-2])
    tensor_rank = property(lambda self: self.shape.ndims)
    domain_dimension = property(lambda self: self._dimension(-1))
    range_dimension = property(lambda self: self._dimension(-2))
    H = property(lambda self: self.adjoint(), doc="The adjoint operator.")

    def __repr__(self):
        return "<tf.linalg.%s '%s' shape=%s dtype=%s>" % (
            type(self).__name__, self._name, self.shape, self.dtype.name)

    @property
    def is_square(self):
        """By its shape, else by the hints. ValueError if they disagree."""
        n, m = self.range_dimension, self.domain_dimension
        known = getattr(n, "value", n), getattr(m, "value", m)
        if None in known:
            return self._is_square_hint
        square = known[0] == known[1]
        if self._is_square_hint not in (None, square):
            raise ValueError("User provided is_square hint conflicted with "
                             "static shape.")
        return square

    def _dimension(self, i):
        shape = self.shape
        return TensorShape([None])[0] if shape.ndims is None else shape[i]

    @contextlib.contextmanager
    def _scope(self, name):
        with name_scope(self._own_scope), name_scope(name):
            yield

    # What derived classes of programs call.

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        """The scope, inside of the present one, of a method."""
        full = self._name if name is None else "%s/%s" % (self._name, name)
        with name_scope(full) as scope:
            yield scope

    def _check_input_dtype(self, arg):
        """TypeError for a tensor of another type than the operator's."""
        if arg.dtype.base_dtype != self.dtype:
            raise TypeError(
                "Expected argument to have dtype %s.  Found: %s in tensor %s"
                % (self.dtype, arg.dtype, arg))

    # What kinds say.

    def _shape(self):
        raise NotImplementedError("_shape of %s" % type(self).__name__)

    def _shape_tensor(self):
        raise NotImplementedError("_shape_tensor of %s" % type(self).__name__)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("_matmul of %s" % type(self).__name__)

    # What follows from that.

    def _shape_static_or_dynamic(self):
        return static_or_dynamic(self.shape, self._shape_tensor)

    def _to_dense(self):
        shape = self._shape_static_or_dynamic()
        eye = _raw.MatrixDiag(_array.ones([shape[-1]], self.dtype))
        dense = self._matmul(_array.broadcast_to(
            eye, _array.concat([shape[:-2], shape[-1:], shape[-1:]], 0)))
        dense.set_shape(self.shape)
        return dense

    def _add_to_tensor(self, x):
        return self._to_dense() + x

    def _diag_part(self):
        return _raw.MatrixDiagPart(self._to_dense())

    def _trace(self):
        return _math.reduce_sum(self._diag_part(), axis=-1)

    def _can_use_cholesky(self):
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _determinant(self):
        if self._can_use_cholesky():
            return _math.exp(self._log_abs_determinant())
        return _raw.MatrixDeterminant(self._to_dense())

    def _log_abs_determinant(self):
        if self._can_use_cholesky():
            diagonal = _raw.MatrixDiagPart(_raw.Cholesky(self._to_dense()))
            return 2 * _math.reduce_sum(_math.log(diagonal), axis=-1)
        return _raw.LogMatrixDeterminant(self._to_dense()).log_abs_determinant

    def _matvec(self, x, adjoint=False):
        return _array.squeeze(
            self._matmul(_array.expand_dims(x, -1), adjoint=adjoint), [-1])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            chol, rhs = to_common_batch(_raw.Cholesky(self._to_dense()), rhs)
            half = _raw.MatrixTriangularSolve(chol, rhs, lower=True)
            return _raw.MatrixTriangularSolve(chol, half, lower=True,
                                              adjoint=True)
        dense, rhs = to_common_batch(self._to_dense(), rhs)
        return _raw.MatrixSolve(dense, rhs, adjoint=adjoint)

    def _solvevec(self, rhs, adjoint=False):
        return _array.squeeze(
            self._solve(_array.expand_dims(rhs, -1), adjoint=adjoint), [-1])

    def _assert_non_singular(self):
        from headrace._src.control.check_ops import assert_less
        sizes = _raw.Svd(self._to_dense(), compute_uv=False).s
        condition = (_math.reduce_max(sizes, axis=-1)
                     / _math.reduce_min(sizes, axis=-1))
        eps = np.finfo(self.dtype.as_numpy_dtype).eps
        return assert_less(
            condition, convert_to_tensor(np.asarray(1 / eps), condition.dtype),
            message="Singular matrix up to precision epsilon.")

    def _assert_positive_definite(self):
        from headrace._src.control.check_ops import assert_positive
        chol = _raw.MatrixDiagPart(_raw.Cholesky(self._to_dense()))
        return assert_positive(
            _math.real(chol) if self.dtype.is_complex else chol,
            message="Matrix was not positive definite.")

    def _assert_self_adjoint(self):
        from headrace._src.control.check_ops import assert_equal
        dense = self._to_dense()
        return assert_equal(dense, adjoint_of(dense),
                            message="Matrix was not equal to its adjoint.")

    # Operators made of this one. Kinds that stay of their kind say so.

    def _adjoint(self):
        from headrace._src.math.linear_operators import LinearOperatorAdjoint
        return LinearOperatorAdjoint(self)

    def _inverse(self):
        from headrace._src.math.linear_operators import LinearOperatorInversion
        return LinearOperatorInversion(self)

    def _cholesky(self):
        from headrace._src.math.linear_operators import (
            LinearOperatorLowerTriangular)
        return LinearOperatorLowerTriangular(
            _raw.Cholesky(self._to_dense()), is_non_singular=True,
            is_self_adjoint=False, is_square=True)

    def _times(self, right):
        """This operator times another; None if that is no simple kind."""
        return None

    # For callers.

    def shape_tensor(self, name="shape_tensor"):
        """int32: the shape."""
        with self._scope(name):
            return self._shape_static_or_dynamic()

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """int32: the batch shape."""
        with self._scope(name):
            return static_or_dynamic(self.batch_shape,
                                     lambda: self._shape_tensor()[:-2])

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """int32: the number of dimensions."""
        with self._scope(name):
            if self.tensor_rank is not None:
                return convert_to_tensor(self.tensor_rank)
            return _array.size(self._shape_tensor())

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """int32: m."""
        with self._scope(name):
            return self._size_of(self.domain_dimension, -1)

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """int32: n."""
        with self._scope(name):
            return self._size_of(self.range_dimension, -2)

    def _size_of(self, dimension, at):
        if dimension.value is not None:
            return convert_to_tensor(dimension.value)
        return self._shape_tensor()[at]

    def to_dense(self, name="to_dense"):
        """The whole matrices, a tensor [batch_shape, n, m]."""
        with self._scope(name):
            return self._to_dense()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The matrices plus x."""
        with self._scope(name):
            return self._add_to_tensor(self._argument(x, "x"))

    def _argument(self, x, what, inner=None, axis=-2):
        x = convert_to_tensor(x, name=what, preferred_dtype=None
                              if hasattr(x, "dtype") else self.dtype)
        if x.dtype.base_dtype != self.dtype.base_dtype:
            raise TypeError("Expected argument to have dtype %s.  Found: %s in "
                            "tensor %s" % (self.dtype, x.dtype, x))
        if inner is not None and x.get_shape().ndims is not None:
            if x.get_shape().ndims < -axis:
                raise ValueError("%s of %s must have %d dimensions or more, "
                                 "got shape %s" % (what, self._name, -axis,
                                                   x.get_shape()))
            TensorShape([inner]).assert_is_compatible_with(
                TensorShape([x.get_shape()[axis]]))
        return x

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The matrices, or their adjoints, times x or its adjoint; an operator
        if x is one."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            own = registered(PRODUCTS, type(left), type(right))
            if own is not None:
                with self._scope(name):
                    return own(left, right)
            return self._compose(left, right, name)
        with self._scope(name):
            x = self._argument(x, "x", self._dimension(-2 if adjoint else -1),
                               -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _compose(self, left, right, name):
        from headrace._src.math.linear_operators import (
            LinearOperatorComposition)
        inner, outer = right.range_dimension, left.domain_dimension
        known = getattr(inner, "value", inner), getattr(outer, "value", outer)
        if None not in known and known[0] != known[1]:
            raise ValueError("Operators are incompatible. Expected `x` to have "
                             "dimension %d but got %d." % known[::-1])
        with self._scope(name):
            simple = left._times(right)
            return simple or LinearOperatorComposition([left, right])

    def __matmul__(self, other):
        return self.matmul(other)

    def matvec(self, x, adjoint=False, name="matvec"):
        """The matrices times vectors [..., m]."""
        with self._scope(name):
            x = self._argument(x, "x", self._dimension(-2 if adjoint else -1),
                               -1)
            return self._matvec(x, adjoint=adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """X with matrices X = rhs, or with their adjoints; an operator if rhs
        is one. NotImplementedError for what is_non_singular or is_square says
        False of."""
        self._must_be_solvable()
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            own = registered(SOLUTIONS, type(left), type(right))
            if own is not None:
                with self._scope(name):
                    return own(left, right)
            return self._compose(left.inverse(), right, name)
        with self._scope(name):
            rhs = self._argument(rhs, "rhs", self._dimension(
                -1 if adjoint else -2), -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """solve for vectors [..., n]."""
        self._must_be_solvable()
        with self._scope(name):
            rhs = self._argument(rhs, "rhs", self._dimension(
                -1 if adjoint else -2), -1)
            return self._solvevec(rhs, adjoint=adjoint)

    def _must_be_solvable(self):
        if self.is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected "
                "to be singular.")
        if self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected "
                "to not be square.")

    def _must_be_square(self):
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected "
                "to not be square.")

    def diag_part(self, name="diag_part"):
        """The diagonals [batch_shape, min(n, m)]."""
        with self._scope(name):
            return self._diag_part()

    def trace(self, name="trace"):
        """The sums of the diagonals."""
        with self._scope(name):
            return self._trace()

    def determinant(self, name="det"):
        """The determinants. NotImplementedError unless square."""
        self._must_be_square()
        with self._scope(name):
            return self._determinant()

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the determinants' sizes. NotImplementedError unless
        square."""
        self._must_be_square()
        with self._scope(name):
            return self._log_abs_determinant()

    def adjoint(self, name="adjoint"):
        """The operator of the conjugate transposes."""
        if self.is_self_adjoint is True:
            return self
        own = registered(ADJOINTS, type(self))
        with self._scope(name):
            return self._adjoint() if own is None else own(self)

    def inverse(self, name="inverse"):
        """The operator of the inverses. ValueError for what is_square or
        is_non_singular says False of."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents "
                             "a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents "
                             "a singular matrix.")
        own = registered(INVERSES, type(self))
        with self._scope(name):
            return self._inverse() if own is None else own(self)

    def cholesky(self, name="cholesky"):
        """The operator L, lower triangular, with L L^H = this one. ValueError
        unless is_self_adjoint and is_positive_definite are True."""
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a "
                             "positive definite self adjoint matrix.")
        own = registered(CHOLESKYS, type(self))
        with self._scope(name):
            return self._cholesky() if own is None else own(self)

    def assert_non_singular(self, name="assert_non_singular"):
        """An operation that fails if a matrix is singular."""
        with self._scope(name):
            return self._assert_non_singular()

    def assert_positive_definite(self, name="assert_positive_definite"):
        """An operation that fails if a matrix is not positive definite."""
        with self._scope(name):
            return self._assert_positive_definite()

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """An operation that fails if a matrix is not its own adjoint."""
        with self._scope(name):
            return self._assert_self_adjoint()

