"""Functions of tf.linalg that are made of several ops."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control import control_flow as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor, is_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math

# exp(x) is nearly p(x) / p(-x); the coefficients of p, lowest power first.
_EXPM = (64764752532480000., 32382376266240000., 7771770303897600.,
         1187353796428800., 129060195264000., 10559470521600., 670442572800.,
         33522128640., 1323241920., 40840800., 960960., 16380., 182., 1.)


def expm(input, name=None):
    """The exponential of square matrices, the last two dimensions. float32,
    float64, complex64, complex128; InvalidArgumentError for a matrix that is
    not finite."""
    with name_scope(name, "matrix_exponential", [input]):
        a = convert_to_tensor(input, name="input")
        size = _math.reduce_max(
            _math.reduce_sum(_math.abs(a), -2, keepdims=True), -1,
            keepdims=True)
        # The quotient is good up to a norm of 5.37; matrices beyond are halved
        # first, and squared as often after.
        log2 = _math.log(_math.maximum(size / 5.37, 1.)) / math.log(2.)
        halvings = _raw.Ceil(log2)
        a = a * _math.cast(_math.pow(_math.cast(2., size.dtype), -halvings),
                           a.dtype)
        one = _array.eye(_array.shape(a)[-1], dtype=a.dtype)
        a2 = _math.matmul(a, a)
        a4 = _math.matmul(a2, a2)
        powers = (one, a2, a4, _math.matmul(a4, a2))

        def half(c):
            low = _math.add_n([k * (p + _array.zeros_like(a))
                               for k, p in zip(c[:4], powers)])
            high = _math.add_n([k * p for k, p in zip(c[4:], powers[1:])])
            return low + _math.matmul(powers[3], high)

        even = half(_EXPM[0::2])
        odd = _math.matmul(a, half(_EXPM[1::2]))
        result = _raw.MatrixSolve(even - odd, even + odd)
        most = _math.reduce_max(
            _array.concat([[0], _array.reshape(_math.cast(halvings, dtypes.int32),
                                               [-1])], 0))
        halvings = _math.cast(halvings, dtypes.int32)

        def square(i, e):
            wanted = _array.broadcast_to(_math.less(i, halvings),
                                         _array.shape(e))
            return i + 1, _array.where(wanted, _math.matmul(e, e), e)

        result = _flow.while_loop(
            lambda i, e: _math.less(i, most), square,
            [convert_to_tensor(0), result])[1]
        result.set_shape(a.shape)
        return result


def _padded(diagonal, length, before):
    """A diagonal of `length` - 1 elements with one more, at an end."""
    if diagonal.shape.rank is None or length is None or (
            diagonal.shape[-1].value != length - 1):
        return diagonal
    ends = [[0, 0]] * (diagonal.shape.rank - 1)
    return _array.pad(diagonal, ends + [[1, 0] if before else [0, 1]])


def _diagonals(diagonals, diagonals_format):
    """Those above, on and below the main diagonal, as long as that one."""
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = [convert_to_tensor(d) for d in diagonals]
        length = None if main.shape.rank is None else main.shape[-1].value
        return (_padded(above, length, False), main,
                _padded(below, length, True))
    diagonals = convert_to_tensor(diagonals, name="diagonals")
    if diagonals_format == "matrix":
        rank = diagonals.shape.rank
        if rank is not None and rank < 2:
            raise ValueError("Expected diagonals to be of rank 2 or more, got "
                             "rank %d" % rank)
        if rank is not None:
            rows, columns = diagonals.shape[-2].value, diagonals.shape[-1].value
            if None not in (rows, columns) and rows != columns:
                raise ValueError("Expected last two dimensions of diagonals to "
                                 "be equal, got %d and %d" % (rows, columns))
        # Beside the diagonal there may be nothing.
        ends = _array.concat(
            [_array.zeros([_array.rank(diagonals) - 2, 2], dtypes.int32),
             [[0, 1], [0, 1]]], 0)
        wide = _array.pad(diagonals, ends)
        all_three = _raw.MatrixDiagPartV3(
            wide, [-1, 1], _math.cast(0, diagonals.dtype), align="LEFT_RIGHT")
        diagonals = all_three[..., :-1]
    elif diagonals_format != "compact":
        raise ValueError("Unrecognized diagonals_format: %s" % diagonals_format)
    return tuple(diagonals[..., i, :] for i in range(3))


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact",
                      transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True):
    """x, for which a tridiagonal matrix times x is rhs, of shape [..., m] or
    [..., m, k]. A singular matrix gives NaN.

    diagonals_format: "compact", [..., 3, m], the diagonals above, on and below
    the main one, of which the first lacks its last element and the last its
    first; "sequence", three tensors [..., m], the outer two as those or a
    element shorter; "matrix", [..., m, m], of which the rest is not read.
    transpose_rhs: rhs is [..., k, m]; conjugate_rhs: its conjugate is meant.
    """
    with name_scope(name, "tridiagonal_solve", [diagonals, rhs]) as scope:
        if diagonals_format == "compact":
            diagonals = convert_to_tensor(diagonals, name="diagonals")
        else:
            diagonals = _array.stack(_diagonals(diagonals, diagonals_format),
                                     axis=-2)
        rhs = convert_to_tensor(rhs, name="rhs")
        vector = (rhs.shape.rank is not None
                  and rhs.shape.rank + 1 == diagonals.shape.rank)
        if vector:
            rhs = _array.expand_dims(rhs, -1)
        elif transpose_rhs:
            rhs = _array.matrix_transpose(rhs)
        if conjugate_rhs:
            rhs = _math.conj(rhs)
        x = _raw.TridiagonalSolve(diagonals, rhs,
                                  partial_pivoting=partial_pivoting,
                                  name=None if vector else scope)
        return _array.squeeze(x, [-1], name=scope) if vector else x


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """A tridiagonal matrix, as tridiagonal_solve takes it, times rhs, of shape
    [..., m, k]."""
    with name_scope(name, "tridiagonal_matmul", [diagonals, rhs]) as scope:
        rhs = convert_to_tensor(rhs, name="rhs")
        rows = [_array.expand_dims(d, -2)
                for d in _diagonals(diagonals, diagonals_format)]
        return _raw.TridiagonalMatMul(*rows, rhs, name=scope)


# Norms.

def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None,
         keep_dims=None):
    """The norm of vectors, or of matrices where `axis` is a pair.

    Vectors along `axis` (None: all elements as one): "euclidean", a positive
    number or inf. Matrices: "euclidean" or "fro", 1 (the largest column sum),
    inf (the largest row sum) or 2 (the largest singular value). ValueError for
    any other."""
    keep = _math._keep(keepdims, keep_dims)
    matrix = isinstance(axis, (tuple, list)) and len(axis) == 2
    if isinstance(axis, (tuple, list)) and (
            not matrix or axis[0] == axis[1]):
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 "
                         "unique integers")
    if matrix:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                "'ord' must be a supported matrix norm in ['euclidean', 'fro', "
                "1, 2, inf], got %s" % ord)
        axis = tuple(axis)
    elif ord != "euclidean" and (
            isinstance(ord, str) or not np.isreal(ord) or ord <= 0):
        raise ValueError("'ord' must be a supported vector norm, got %s" % ord)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if matrix and ord == 2:
            return _spectral_norm(x, axis, keep)
        if ord in ("fro", "euclidean", 2):
            out = _math.sqrt(_math.reduce_sum(
                x * _math.conj(x), axis, keepdims=True))
            if keep:
                return out
            return _array.squeeze(out, axis)
        size = _math.abs(x)
        if ord == 1 or ord == np.inf:
            if matrix:
                rows, columns = axis if ord == 1 else axis[::-1]
                size = _math.reduce_sum(size, rows, keepdims=True)
                out = _math.reduce_max(size, columns, keepdims=True)
                return out if keep else _array.squeeze(out, axis)
            reduce = _math.reduce_sum if ord == 1 else _math.reduce_max
            return reduce(size, axis, keepdims=keep)
        return _math.pow(_math.reduce_sum(_math.pow(size, ord), axis,
                                          keepdims=keep), 1.0 / ord)


def _spectral_norm(x, axes, keep):
    """The largest singular value of the matrices in two dimensions."""
    if x._rank() is None:
        raise ValueError("norm of matrices needs a tensor of known rank")
    n = x._rank()
    rest = [i for i in range(n) if i not in (axes[0] % n, axes[1] % n)]
    last = _array.transpose(x, rest + [axes[0] % n, axes[1] % n])
    out = _math.reduce_max(svd(last, compute_uv=False), -1)
    for axis in sorted(a % n for a in axes) if keep else ():
        out = _array.expand_dims(out, axis)
    return out


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor divided by its norm, the norm), as `norm` takes its arguments."""
    with name_scope(name, "normalize", [tensor]):
        x = convert_to_tensor(tensor)
        size = _math.cast(norm(x, ord, axis, keepdims=True), x.dtype)
        return x / size, size


# Decompositions.

def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v), for which matrices are u diag(s) adjoint(v), with the singular
    values s in descending order; without compute_uv s alone. full_matrices: u
    and v are square."""
    s, u, v = _raw.Svd(tensor, compute_uv=compute_uv,
                       full_matrices=full_matrices, name=name)
    s = _math.real(s)
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor, name=None):
    """(eigenvalues in ascending order, eigenvectors in the columns) of
    self-adjoint matrices, of which the lower triangle is read."""
    e, v = _raw.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues that self_adjoint_eig gives."""
    return _raw.SelfAdjointEigV2(tensor, compute_v=False, name=name)[0]


def _float_matrix(a):
    a = convert_to_tensor(a, name="a")
    if not a.dtype.is_floating:
        raise TypeError("Input `a` must have `float`-like `dtype` (saw %s)."
                        % a.dtype.name)
    if a._rank() is not None and a._rank() < 2:
        raise ValueError("Input `a` must have at least 2 dimensions (saw: %d)."
                         % a._rank())
    return a


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values of the matrices are above `tol`, by default
    eps * max(rows, columns) * the largest one."""
    with name_scope(name, "matrix_rank", [a]):
        a = _float_matrix(a)
        s = svd(a, compute_uv=False)
        if tol is None:
            shape = _array.shape(a)
            sides = _math.cast(_math.maximum(shape[-2], shape[-1]), a.dtype)
            tol = (np.finfo(a.dtype.as_numpy_dtype).eps * sides
                   * _math.reduce_max(s, -1, keepdims=True))
        return _math.reduce_sum(_math.cast(s > tol, dtypes.int32), axis=-1)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The Moore-Penrose inverse of matrices. Singular values up to `rcond`
    (10 * max(rows, columns) * eps; one number or one for each matrix) times the
    largest one count as 0."""
    with name_scope(name, "pinv", [a]):
        a = _float_matrix(a)
        if rcond is None:
            shape = _array.shape(a)
            sides = _math.cast(_math.maximum(shape[-2], shape[-1]), a.dtype)
            rcond = (10. * sides
                     * np.finfo(a.dtype.as_numpy_dtype).eps)
        rcond = convert_to_tensor(rcond, dtype=a.dtype.base_dtype,
                                  name="rcond")
        s, u, v = svd(a)
        cutoff = rcond * _math.reduce_max(s, -1)
        cutoff = _array.expand_dims(cutoff, -1)
        s = _array.where_v2(s > cutoff, s,
                            np.array(np.inf, a.dtype.as_numpy_dtype))
        out = _math.matmul(v / _array.expand_dims(s, -2), u, adjoint_b=True)
        shape = a.get_shape()
        if shape.ndims is not None:
            out.set_shape(shape[:-2].concatenate([shape[-1], shape[-2]]))
        return out


# Solving.

# Bytes of a batch of matrices, above which one kernel that does every step for
# one matrix before the next beats ops that each read the whole batch.
_BATCH_BYTES = 256000


def _solve_ls_by_ops(shape, dtype):
    """Whether matrix_solve_ls makes ops for matrices of this static shape, as
    TensorFlow decides it, rather than one MatrixSolveLs."""
    if not shape.is_fully_defined():
        return True
    sides = shape.as_list()
    matrices = np.prod(sides[:-2], dtype=np.int64)
    return (np.prod(sides, dtype=np.int64) * dtype.size <= _BATCH_BYTES
            or matrices <= min(sides[-2:]))


def _gramian_cholesky(matrix, l2_regularizer, is_tall):
    """The Cholesky decomposition of A^H A + l2_regularizer I if is_tall, else
    of A A^H + l2_regularizer I."""
    gramian = _math.matmul(matrix, matrix, adjoint_a=is_tall,
                           adjoint_b=not is_tall)
    if is_tensor(l2_regularizer) or l2_regularizer != 0:
        shape = _array.shape(matrix)
        batch_shape = shape[:-2]
        axis = -1 if is_tall else -2
        identity = _array.eye(shape[axis], batch_shape=batch_shape,
                       dtype=matrix.dtype)
        side = matrix.shape[axis]
        identity.set_shape(matrix.shape[:-2].concatenate([side, side]))
        gramian += l2_regularizer * identity
    return _raw.Cholesky(gramian)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """x with the least |matrix x - rhs|^2 + l2_regularizer |x|^2; where there
    are several, the smallest. fast: by Cholesky's method, for matrices of good
    condition; else by an orthogonal decomposition, which takes no
    regularizer. A regularizer that is a tensor has the type of the matrix, or
    float64 where one op does everything: if fast is false, and for large
    batches of small matrices."""
    def tall():
        chol = _gramian_cholesky(matrix, l2_regularizer, True)
        return cholesky_solve(chol, _math.matmul(matrix, rhs, adjoint_a=True))

    def wide():
        chol = _gramian_cholesky(matrix, l2_regularizer, False)
        return _math.matmul(matrix, cholesky_solve(chol, rhs), adjoint_a=True)

    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls: complex128 matrices take no l2_regularizer but "
            "0 (got %s): results would be inaccurate." % (l2_regularizer,))
    shape = matrix.get_shape()
    if fast is False or not _solve_ls_by_ops(shape, matrix.dtype):
        return _raw.MatrixSolveLs(
            matrix, rhs, convert_to_tensor(l2_regularizer, dtypes.float64,
                                           name="l2_regularizer"),
            fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        sides = shape[-2:]
        if sides.is_fully_defined():
            return (tall if sides[-2] >= sides[-1] else wide)()
        sides = _array.shape(matrix)[-2:]
        return _flow.cond(sides[-2] >= sides[-1], tall, wide)


def cholesky_solve(chol, rhs, name=None):
    """x, for which A x is rhs; chol is the Cholesky decomposition of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = _raw.MatrixTriangularSolve(chol, rhs, adjoint=False, lower=True)
        return _raw.MatrixTriangularSolve(chol, y, adjoint=True, lower=True)


lstsq = matrix_solve_ls
solve = _raw.MatrixSolve
triangular_solve = _raw.MatrixTriangularSolve
slogdet = _raw.LogMatrixDeterminant


def logdet(matrix, name=None):
    """The logarithm of the determinant of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        chol = _raw.Cholesky(matrix)
        return 2.0 * _math.reduce_sum(
            _math.log(_math.real(_raw.MatrixDiagPart(chol))), axis=[-1])


# Diagonals.

def _plain_diagonal(k):
    return isinstance(k, int) and k == 0


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1,
                padding_value=0):
    """Matrices with the diagonal k (above the main one if positive), or the
    band from k[0] to k[1], that the last dimension (two for a band, the
    highest diagonal first) of `diagonal` has, and padding_value around it."""
    if _plain_diagonal(k) and (num_rows, num_cols, padding_value) == (-1, -1,
                                                                      0):
        return _raw.MatrixDiag(diagonal, name=name)
    diagonal = convert_to_tensor(diagonal, name="diagonal")
    return _raw.MatrixDiagV2(
        diagonal, k, num_rows, num_cols,
        convert_to_tensor(padding_value, diagonal.dtype.base_dtype), name=name)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The diagonal k of matrices, or the band from k[0] to k[1], the highest
    diagonal first, shorter ones filled with padding_value."""
    if _plain_diagonal(k):
        return _raw.MatrixDiagPart(input, name=name)
    input = convert_to_tensor(input, name="input")
    return _raw.MatrixDiagPartV2(
        input, k, convert_to_tensor(padding_value, input.dtype.base_dtype),
        name=name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """Matrices with their diagonal k, or the band from k[0] to k[1],
    replaced."""
    if _plain_diagonal(k):
        return _raw.MatrixSetDiag(input, diagonal, name=name)
    return _raw.MatrixSetDiagV2(input, diagonal, k, name=name)


def trace(x, name=None):
    """The sums of the main diagonals of matrices."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return _math.reduce_sum(_raw.MatrixDiagPart(x), [-1], name=scope)


def adjoint(matrix, name=None):
    """The last two dimensions swapped, complex numbers conjugated."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return _array.matrix_transpose(matrix, conjugate=True)
