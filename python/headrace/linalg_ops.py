"""Functions of tf.linalg that are made of several ops."""
import math

from headrace import array_ops as _array
from headrace import control_flow as _flow
from headrace import dtypes
from headrace import math_ops as _math
from headrace import raw_ops as _raw
from headrace.graph import name_scope
from headrace.tensor import convert_to_tensor

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


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None,
         keep_dims=None):
    """The norm of a tensor: "euclidean" (2), 1, another number, or inf."""
    keep = _math._keep(keepdims, keep_dims)
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            out = _math.sqrt(_math.reduce_sum(
                x * _math.conj(x), axis, keepdims=True))
            return out if keep else _array.squeeze(out, axis)
        size = _math.abs(x)
        if ord == float("inf"):
            return _math.reduce_max(size, axis, keepdims=keep)
        if ord == 1:
            return _math.reduce_sum(size, axis, keepdims=keep)
        return _math.pow(_math.reduce_sum(_math.pow(size, ord), axis,
                                          keepdims=keep), 1.0 / ord)
