"""tf.linalg: matrices that are stored by their triangle, their diagonal or
whole, with the products and solutions of each."""
import contextlib

from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class _Operator:
    """A batch [batch_shape, n, m] of matrices. Each kind has `_dense`,
    `_product(x, adjoint)` and `_solution(rhs, adjoint)`; arguments are matrices
    [batch_shape, n, k], and vectors [batch_shape, n] for matvec and solvevec."""

    def __init__(self, storage, dims, what, is_non_singular, is_self_adjoint,
                 is_positive_definite, is_square, name):
        with name_scope(name) as scope:
            storage = convert_to_tensor(storage, name=what)
        rank = storage.get_shape().ndims
        if rank is not None and rank < dims:
            raise ValueError(
                "Argument %s must have at least %d dimension%s.  Found: %s"
                % (what, dims, "s" if dims > 1 else "", storage))
        self._storage = storage
        self._name = name
        self._name_scope = scope
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = is_square

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._storage.dtype)
    graph_parents = property(lambda self: [self._storage])
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)
    is_square = property(lambda self: self._is_square)
    batch_shape = property(lambda self: self.shape[:-2])
    tensor_rank = property(lambda self: self.shape.ndims)
    domain_dimension = property(lambda self: self.shape[-1])
    range_dimension = property(lambda self: self.shape[-2])

    @property
    def shape(self):
        """What is known of [batch_shape, n, m]."""
        return self._storage.get_shape()

    @contextlib.contextmanager
    def _scope(self, name):
        with name_scope(self._name_scope), name_scope(name):
            yield

    def shape_tensor(self, name="shape_tensor"):
        """int32: the shape."""
        with self._scope(name):
            return _array.shape(self._dense())

    def to_dense(self, name="to_dense"):
        """The whole matrices, a tensor [batch_shape, n, m]."""
        with self._scope(name):
            return self._dense()

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The matrices plus x."""
        with self._scope(name):
            return self._dense() + self._argument(x)

    def _argument(self, x):
        return convert_to_tensor(x, name="x", dtype=self.dtype)

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The matrices, or their adjoints, times x or its adjoint."""
        with self._scope(name):
            x = self._argument(x)
            return self._product(_math.conj(_array.matrix_transpose(x))
                                 if adjoint_arg else x, adjoint)

    def matvec(self, x, adjoint=False, name="matvec"):
        """The matrices times vectors [batch_shape, m]."""
        with self._scope(name):
            x = _array.expand_dims(self._argument(x), -1)
            return _array.squeeze(self._product(x, adjoint), [-1])

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """X with matrices X = rhs. NotImplementedError unless square."""
        self._must_be_square("solve")
        with self._scope(name):
            rhs = self._argument(rhs)
            return self._solution(_math.conj(_array.matrix_transpose(rhs))
                                  if adjoint_arg else rhs, adjoint)

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """solve for vectors [batch_shape, n]."""
        self._must_be_square("solve")
        with self._scope(name):
            rhs = _array.expand_dims(self._argument(rhs), -1)
            return _array.squeeze(self._solution(rhs, adjoint), [-1])

    def _must_be_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(
                "%s: the operator %s is not square" % (what, self._name))

    def diag_part(self, name="diag_part"):
        """The diagonals [batch_shape, min(n, m)]."""
        with self._scope(name):
            return self._diagonal()

    def _diagonal(self):
        return _raw.MatrixDiagPart(self._dense())

    def trace(self, name="trace"):
        """The sums of the diagonals."""
        with self._scope(name):
            return _math.reduce_sum(self._diagonal(), axis=-1)

    def determinant(self, name="det"):
        """The determinants. NotImplementedError unless square."""
        self._must_be_square("determinant")
        with self._scope(name):
            return self._determinant()

    def _determinant(self):
        return _math.reduce_prod(self._diagonal(), axis=-1)

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithms of the determinants' sizes."""
        self._must_be_square("log_abs_determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self):
        return _math.reduce_sum(_math.log(_math.abs(self._diagonal())),
                                axis=-1)


class LinearOperatorFullMatrix(_Operator):
    """Any matrices [..., n, m]. ValueError for less than two dimensions."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        super().__init__(matrix, 2, "matrix", is_non_singular,
                         is_self_adjoint, is_positive_definite, is_square,
                         name)
        if self._is_square is None and self.shape.ndims is not None:
            n, m = self.shape.as_list()[-2:]
            self._is_square = None if None in (n, m) else n == m

    def _dense(self):
        return self._storage

    def _product(self, x, adjoint):
        return _math.matmul(self._storage, x, adjoint_a=adjoint)

    def _solution(self, rhs, adjoint):
        return _raw.MatrixSolve(self._storage, rhs, adjoint=adjoint)

    def _determinant(self):
        return _raw.MatrixDeterminant(self._storage)

    def _log_abs_determinant(self):
        return _raw.LogMatrixDeterminant(self._storage).log_abs_determinant


class LinearOperatorLowerTriangular(_Operator):
    """The lower triangles of matrices [..., n, n]; what stands above is not
    read. ValueError for less than two dimensions, or is_square=False."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported "
                             "at this time.")
        super().__init__(tril, 2, "tril", is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)

    def _dense(self):
        return _raw.MatrixBandPart(self._storage, -1, 0)

    def _product(self, x, adjoint):
        return _math.matmul(self._dense(), x, adjoint_a=adjoint)

    def _solution(self, rhs, adjoint):
        return _raw.MatrixTriangularSolve(self._dense(), rhs, lower=True,
                                          adjoint=adjoint)

    def _diagonal(self):
        return _raw.MatrixDiagPart(self._storage)


class LinearOperatorDiag(_Operator):
    """Square matrices by their diagonals [..., n]. ValueError for a scalar."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        if is_square is False:
            raise ValueError("Only square diagonal operators currently "
                             "supported.")
        super().__init__(diag, 1, "diag", is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)
        if self._is_self_adjoint is None and not self.dtype.is_complex:
            self._is_self_adjoint = True

    @property
    def shape(self):
        shape = self._storage.get_shape()
        return TensorShape(None) if shape.ndims is None else (
            shape.concatenate(shape[-1:]))

    def _dense(self):
        return _raw.MatrixDiag(self._storage)

    def _column(self, adjoint):
        values = _array.expand_dims(self._storage, -1)
        return _math.conj(values) if adjoint else values

    def _product(self, x, adjoint):
        return self._column(adjoint) * x

    def _solution(self, rhs, adjoint):
        return rhs / self._column(adjoint)

    def _diagonal(self):
        return self._storage
