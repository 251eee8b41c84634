"""tf.contrib.distributions: triangular matrices from vectors and back, inverses
and sums that keep their digits."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _rank(x):
    return _array.rank(x) if x._rank() is None else x._rank()


def fill_triangular(x, upper=False, name=None):
    """Triangular matrices of the n (n + 1) / 2 numbers in the last dimension,
    which fill them clockwise: a lower one from its last row up, an upper one
    from its first row down. ValueError for another number of them."""
    with name_scope(name, "fill_triangular", [x]):
        x = convert_to_tensor(x, name="x")
        leading = x.get_shape().with_rank_at_least(1)
        count = None if leading.ndims is None else leading.as_list()[-1]
        if count is not None:
            n = int((np.sqrt(8 * count + 1) - 1) / 2)
            if n * (n + 1) // 2 != count:
                raise ValueError("Input right-most shape ({}) does not "
                                 "correspond to a triangular matrix.".format(
                                     count))
        else:
            count = _array.shape(x)[-1]
            n = _math.cast(_math.sqrt(
                0.25 + _math.cast(2 * count, "float32")), "int32")
        # The tail fills the rows that the triangle cuts off.
        turned = _array.reverse(x[..., n:] if upper else x, [_rank(x) - 1])
        both = [x, turned] if upper else [x[..., n:], turned]
        square = _array.reshape(
            _array.concat(both, -1),
            _array.concat([_array.shape(x)[:-1], [n, n]], 0))
        out = _raw.MatrixBandPart(square, 0 if upper else -1,
                                  -1 if upper else 0)
        sizes = [n, n] if isinstance(n, int) else [None, None]
        if leading.ndims is not None:
            out.set_shape(leading[:-1].concatenate(sizes))
        return out


def fill_triangular_inverse(x, upper=False, name=None):
    """The vectors that fill_triangular made the matrices x of. ValueError if
    their size is not known."""
    with name_scope(name, "fill_triangular_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        shape = x.get_shape().with_rank_at_least(2)
        n = None if shape.ndims is None else shape.as_list()[-1]
        if n is None:
            raise ValueError("fill_triangular_inverse needs matrices of known "
                             "size, got shape %s" % shape)
        # Where fill_triangular puts each of 0, 1, 2...
        numbers = np.arange(n * (n + 1) // 2)
        parts = ([numbers, numbers[n:][::-1]] if upper
                 else [numbers[n:], numbers[::-1]])
        square = np.concatenate(parts).reshape(n, n)
        kept = np.triu(np.ones((n, n), bool)) if upper else np.tril(
            np.ones((n, n), bool))
        places = np.zeros(len(numbers), np.int32)
        places[square[kept]] = np.flatnonzero(kept)
        flat = _array.reshape(x, _array.concat(
            [_array.shape(x)[:-2], [n * n]], 0))
        out = _array.gather(flat, places, axis=-1)
        out.set_shape(shape[:-2].concatenate([len(numbers)]))
        return out


def tridiag(below=None, diag=None, above=None, name=None):
    """Matrices of the diagonal and those next to it, zero elsewhere. ValueError
    without any of them."""
    with name_scope(name, "tridiag", [below, diag, above]):
        total = None
        for values, what, k in ((below, "below", -1), (diag, "diag", 0),
                                (above, "above", 1)):
            if values is not None:
                matrix = _linalg.matrix_diag(
                    convert_to_tensor(values, name=what), k=k)
                total = matrix if total is None else total + matrix
        if total is None:
            raise ValueError("Must specify at least one of `below`, `diag`, "
                             "`above`.")
        return total


def matrix_diag_transform(matrix, transform=None, name=None):
    """`matrix` with transform(diagonal) for its diagonal."""
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        return _raw.MatrixSetDiag(matrix,
                                  transform(_raw.MatrixDiagPart(matrix)))


def softplus_inverse(x, name=None):
    """The number whose softplus is x: log(exp(x) - 1)."""
    with name_scope(name, "softplus_inverse", [x]):
        x = convert_to_tensor(x, name="x")
        # Where softplus itself is exp(y), and where it is y.
        threshold = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.
        small = x < np.exp(threshold)
        large = x > -threshold
        # Elsewhere 1, so that gradients of what is not chosen are finite.
        inner = _raw.SelectV2(_raw.LogicalOr(small, large), _raw.OnesLike(x), x)
        y = inner + _math.log(-_raw.Expm1(-inner))
        return _raw.SelectV2(small, _math.log(x),
                             _raw.SelectV2(large, x, y))


def reduce_weighted_logsumexp(logx, w=None, axis=None, keep_dims=False,
                              return_sign=False, name=None):
    """log |sum(w exp(logx))|, and with return_sign the sign of the sum."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        logx = convert_to_tensor(logx, name="logx")
        if w is None:
            out = _math.reduce_logsumexp(logx, axis=axis, keepdims=keep_dims)
            return (out, _array.ones_like(out)) if return_sign else out
        w = convert_to_tensor(w, dtype=logx.dtype, name="w")
        logs = logx + _math.log(_math.abs(w))
        largest = _math.reduce_max(logs, axis=axis, keepdims=True)
        largest = _raw.SelectV2(_raw.IsInf(largest), _raw.ZerosLike(largest),
                                largest)
        total = _math.reduce_sum(_math.sign(w) * _math.exp(logs - largest),
                                 axis=axis, keepdims=keep_dims)
        if not keep_dims:
            largest = _array.squeeze(largest, axis)
        sign = _math.sign(total)
        out = largest + _math.log(sign * total)
        return (out, sign) if return_sign else out
