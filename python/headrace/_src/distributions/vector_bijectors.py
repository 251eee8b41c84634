"""tf.contrib.distributions.bijectors: the functions of vectors and
matrices."""
import math

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.distributions.bijectors import Bijector, Chain, parameter
from headrace._src.distributions.elementwise_bijectors import (
    AffineScalar, Softplus)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.math.linear_operators import (
    LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorLowRankUpdate,
    LinearOperatorLowerTriangular)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _zero(like):
    return convert_to_tensor(0., dtype=like.dtype.base_dtype)


class Affine(Bijector):
    """y = scale x + shift of vectors x. scale is the sum of
    scale_identity_multiplier times the identity, of scale_diag's diagonal and
    of scale_tril's lower triangle, or the identity if there is none of them;
    and of scale_perturb_factor [..., n, k] times scale_perturb_diag's diagonal
    (default: ones) times the factor's transpose."""

    def __init__(self, shift=None, scale_identity_multiplier=None,
                 scale_diag=None, scale_tril=None, scale_perturb_factor=None,
                 scale_perturb_diag=None, validate_args=False, name="affine"):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("Affine: scale_perturb_diag is given without "
                             "scale_perturb_factor")
        self._shift = parameter(shift, "shift")
        like = self._shift
        multiplier = parameter(scale_identity_multiplier,
                               "scale_identity_multiplier", like)
        like = multiplier if like is None else like
        diag = parameter(scale_diag, "scale_diag", like)
        like = diag if like is None else like
        tril = parameter(scale_tril, "scale_tril", like)
        if multiplier is not None:
            multiplier = multiplier[..., None]
            diag = multiplier if diag is None else diag + multiplier
        if tril is not None:
            tril = _raw.MatrixBandPart(tril, -1, 0)
            if diag is not None:
                whole = _raw.MatrixDiagPart(tril) + diag
                tril = _raw.MatrixSetDiag(tril, whole)
        self._diag, self._tril = diag, tril
        like = tril if diag is None and tril is not None else (
            diag if like is None else like)
        factor = parameter(scale_perturb_factor, "scale_perturb_factor", like)
        self._operator = None
        if factor is not None:
            if tril is not None:
                base = LinearOperatorLowerTriangular(tril)
            elif diag is not None:
                base = LinearOperatorDiag(diag + _array.zeros(
                    _array.shape(factor)[-2:-1], dtype=factor.dtype))
            else:
                base = LinearOperatorIdentity(_array.shape(factor)[-2],
                                              dtype=factor.dtype)
            self._operator = LinearOperatorLowRankUpdate(
                base, factor, parameter(scale_perturb_diag,
                                        "scale_perturb_diag", factor))
        super().__init__(
            graph_parents=[p for p in (self._shift, diag, tril, factor)
                           if p is not None],
            is_constant_jacobian=True, validate_args=validate_args,
            forward_min_event_ndims=1, name=name)

    shift = property(lambda self: self._shift)

    def _over(self, x):
        """The triangle, repeated over the batch of x."""
        batch = _array.broadcast_dynamic_shape(
            _array.shape(self._tril)[:-2], _array.shape(x)[:-1])
        sizes = _array.shape(self._tril)[-2:]
        return (self._tril + _array.zeros(_array.concat([batch, sizes], 0),
                                          dtype=x.dtype.base_dtype),
                x + _array.zeros(_array.concat([batch, sizes[-1:]], 0),
                                 dtype=x.dtype.base_dtype))

    def _forward(self, x):
        if self._operator is not None:
            x = self._operator.matvec(x)
        elif self._tril is not None:
            tril, x = self._over(x)
            x = _math.matmul(tril, x[..., None])[..., 0]
        elif self._diag is not None:
            x = x * self._diag
        return x if self._shift is None else x + self._shift

    def _inverse(self, y):
        if self._shift is not None:
            y = y - self._shift
        if self._operator is not None:
            return self._operator.solvevec(y)
        if self._tril is not None:
            tril, y = self._over(y)
            return _raw.MatrixTriangularSolve(tril, y[..., None],
                                              lower=True)[..., 0]
        return y if self._diag is None else y / self._diag

    def _forward_log_det_jacobian(self, x):
        if self._operator is not None:
            return self._operator.log_abs_determinant()
        if self._tril is not None:
            diag = _raw.MatrixDiagPart(self._tril)
        elif self._diag is not None:
            diag = self._diag + _array.zeros(_array.shape(x)[-1:],
                                             dtype=x.dtype.base_dtype)
        else:
            return _zero(x)
        return _math.reduce_sum(_math.log(_math.abs(diag)), axis=-1)


class AffineLinearOperator(Bijector):
    """y = scale x + shift of vectors x; scale is a LinearOperator. TypeError
    for another kind of scale, ValueError for one that is not said to be
    non-singular."""

    def __init__(self, shift=None, scale=None, validate_args=False,
                 name="affine_linear_operator"):
        if scale is not None and not hasattr(scale, "matvec"):
            raise TypeError("scale is not an instance of "
                            "tf.LinearOperator: %r" % (scale,))
        if validate_args and scale is not None and (
                scale.is_non_singular is False):
            raise ValueError("Scale matrix must be non-singular.")
        self._shift = parameter(shift, "shift")
        self._scale = scale
        super().__init__(
            graph_parents=([] if self._shift is None else [self._shift])
            + ([] if scale is None else scale.graph_parents),
            is_constant_jacobian=True, validate_args=validate_args,
            forward_min_event_ndims=1, name=name)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x):
        y = x if self._scale is None else self._scale.matvec(x)
        return y if self._shift is None else y + self._shift

    def _inverse(self, y):
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else self._scale.solvevec(x)

    def _forward_log_det_jacobian(self, x):
        return _zero(x) if self._scale is None else (
            self._scale.log_abs_determinant())


class Permute(Bijector):
    """y[..., i] = x[..., permutation[i]]. ValueError if a known permutation is
    none."""

    def __init__(self, permutation, validate_args=False, name=None):
        if not hasattr(permutation, "op"):
            values = np.asarray(permutation)
            if values.ndim != 1 or values.dtype.kind not in "iu" or (
                    sorted(values.tolist()) != list(range(values.size))):
                raise ValueError("Permutation over `d` must contain exactly "
                                 "one of each of `{0, 1, ..., d}`; got %s"
                                 % (values.tolist(),))
            permutation = values.astype(np.int32)
        self._permutation = convert_to_tensor(permutation, name="permutation")
        super().__init__(graph_parents=[self._permutation],
                         is_constant_jacobian=True, forward_min_event_ndims=1,
                         validate_args=validate_args, name=name or "permute")

    permutation = property(lambda self: self._permutation)

    def _forward(self, x):
        return _array.gather(x, self._permutation, axis=-1)

    def _inverse(self, y):
        return _array.gather(
            y, _raw.InvertPermutation(self._permutation), axis=-1)

    def _forward_log_det_jacobian(self, x):
        return _zero(x)


class Reshape(Bijector):
    """Events of event_shape_in as events of event_shape_out; one size of each
    may be -1. ValueError for shapes of different sizes."""

    def __init__(self, event_shape_out, event_shape_in=(-1,),
                 validate_args=False, name=None):
        self._out = [int(n) for n in event_shape_out]
        self._in = [int(n) for n in event_shape_in]
        for shape in (self._out, self._in):
            if shape.count(-1) > 1 or min(shape, default=0) < -1:
                raise ValueError("Reshape: a shape has one size of -1 at most "
                                 "and none below, got %s" % shape)
        if -1 not in self._out + self._in and (
                math.prod(self._out) != math.prod(self._in)):
            raise ValueError("Input/output `Tensor`s must have the same total "
                             "number of elements: %s and %s"
                             % (self._in, self._out))
        super().__init__(is_constant_jacobian=True,
                         forward_min_event_ndims=len(self._in),
                         inverse_min_event_ndims=len(self._out),
                         validate_args=validate_args, name=name or "reshape")

    def _reshaped(self, x, old, new):
        rank = x.get_shape().ndims
        lead = _array.shape(x)[:_array.rank(x) - len(old)]
        found = _array.reshape(x, _array.concat([lead, new], 0))
        if rank is not None and rank >= len(old):
            batch = x.get_shape()[:rank - len(old)]
            event = self._static(x.get_shape()[rank - len(old):], old, new)
            found.set_shape(batch.concatenate(event))
        return found

    @staticmethod
    def _static(shape, old, new):
        if shape.ndims is None:
            return TensorShape([None if n < 0 else n for n in new])
        keep = shape.ndims - len(old)
        if keep < 0 or any(have is not None and want not in (-1, have) for
                           have, want in zip(shape.as_list()[keep:], old)):
            raise ValueError("Input `event_shape` does not match "
                             "`event_shape_in`: %s and %s" % (shape, old))
        sizes = [have if want < 0 else want for have, want in
                 zip(shape.as_list()[keep:], old)]
        rest = math.prod(n for n in new if n >= 0)
        found = None if None in sizes or not rest else math.prod(sizes) // rest
        return shape[:keep].concatenate([found if n < 0 else n for n in new])

    def _forward(self, x):
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y):
        return self._reshaped(y, self._out, self._in)

    def _forward_event_shape(self, input_shape):
        return self._static(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape):
        return self._static(output_shape, self._out, self._in)

    @staticmethod
    def _sizes(shape, old, new):
        """_static of tensors."""
        keep = _array.size(shape) - len(old)
        number = _math.reduce_prod(shape[keep:])
        rest = math.prod(n for n in new if n >= 0)
        return _array.concat([shape[:keep], _array.stack([
            number // max(rest, 1) if n < 0 else n for n in new])], 0) if (
                new) else shape[:keep]

    def _forward_event_shape_tensor(self, input_shape):
        return self._sizes(input_shape, self._in, self._out)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._sizes(output_shape, self._out, self._in)

    def _forward_log_det_jacobian(self, x):
        return _zero(x)


class _Longer(Bijector):
    """Vectors whose last size grows by one."""

    def _forward_event_shape(self, input_shape):
        return self._grown(input_shape, 1)

    def _inverse_event_shape(self, output_shape):
        return self._grown(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape):
        return _array.concat([input_shape[:-1], input_shape[-1:] + 1], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        return _array.concat([output_shape[:-1], output_shape[-1:] - 1], 0)

    @staticmethod
    def _grown(shape, by):
        if not shape.ndims or shape.as_list()[-1] is None:
            return shape if shape.ndims is None else (
                shape[:-1].concatenate([None]))
        return shape[:-1].concatenate([shape.as_list()[-1] + by])


class SoftmaxCentered(_Longer):
    """y = softmax([x, 0]) of vectors x: one number longer than x."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        whole = _array.concat([x, _array.zeros_like(x[..., :1])], -1)
        whole = _math.exp(whole - _math.reduce_max(whole, -1, keepdims=True))
        return whole / _math.reduce_sum(whole, -1, keepdims=True)

    def _inverse(self, y):
        y = _math.log(y)
        return y[..., :-1] - y[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        return -_math.reduce_sum(_math.log(y), axis=-1)


class Ordered(Bijector):
    """Of vectors that increase: the first number, and the logarithms of the
    steps."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        return _array.concat(
            [x[..., :1], _math.log(x[..., 1:] - x[..., :-1])], -1)

    def _inverse(self, y):
        return _math.cumsum(
            _array.concat([y[..., :1], _math.exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return _math.reduce_sum(y[..., 1:], axis=-1)


class CholeskyOuterProduct(Bijector):
    """Y = X X^T of lower triangles X with a positive diagonal."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        return _math.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return _raw.Cholesky(y)

    def _forward_log_det_jacobian(self, x):
        logs = _math.log(_raw.MatrixDiagPart(x))
        n = _array.shape(logs)[-1]
        powers = _math.cast(n - _math.range(n), x.dtype.base_dtype)
        return _math.reduce_sum(logs * powers, axis=-1) + (
            _math.cast(n, x.dtype.base_dtype) * math.log(2.))


class TransformDiagonal(Bijector):
    """The bijector of the diagonals of matrices."""

    def __init__(self, diag_bijector, validate_args=False,
                 name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        return _raw.MatrixSetDiag(
            x, self._diag_bijector.forward(_raw.MatrixDiagPart(x)))

    def _inverse(self, y):
        return _raw.MatrixSetDiag(
            y, self._diag_bijector.inverse(_raw.MatrixDiagPart(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(
            _raw.MatrixDiagPart(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(
            _raw.MatrixDiagPart(y), event_ndims=1)


class FillTriangular(Bijector):
    """Vectors of n (n + 1) / 2 numbers as triangles [n, n], lower ones unless
    upper=True. ValueError for other sizes, or one that is not known."""

    def __init__(self, upper=False, validate_args=False,
                 name="fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2,
                         is_constant_jacobian=True,
                         validate_args=validate_args, name=name)

    def _places(self, n):
        """For each of [n, n] the place in the vector."""
        line = np.arange(n * (n + 1) // 2)
        parts = [line, line[n:][::-1]] if self._upper else (
            [line[n:], line[::-1]])
        return np.concatenate(parts).reshape(n, n)

    def _forward_event_shape(self, input_shape):
        if not input_shape.ndims or input_shape.as_list()[-1] is None:
            return TensorShape(None)
        m = input_shape.as_list()[-1]
        n = (math.isqrt(8 * m + 1) - 1) // 2
        if n * (n + 1) // 2 != m:
            raise ValueError("fill_triangular: %d is not n (n + 1) / 2 of any "
                             "n" % m)
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape):
        if output_shape.ndims is None or output_shape.ndims < 2 or (
                output_shape.as_list()[-1] is None):
            return TensorShape(None)
        n = output_shape.as_list()[-1]
        if output_shape.as_list()[-2] not in (n, None):
            raise ValueError("Matrix must be square, got %s" % output_shape)
        return output_shape[:-2].concatenate([n * (n + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        m = _math.cast(input_shape[-1:], "float64")
        n = _math.cast((_math.sqrt(8. * m + 1.) - 1.) / 2., "int32")
        return _array.concat([input_shape[:-1], n, n], 0)

    def _inverse_event_shape_tensor(self, output_shape):
        n = output_shape[-1:]
        return _array.concat([output_shape[:-2], n * (n + 1) // 2], 0)

    def _forward(self, x):
        shape = self._forward_event_shape(x.get_shape())
        if shape.ndims is None:
            raise ValueError("fill_triangular: the last size of x must be "
                             "known, got %s" % x.get_shape())
        n = shape.as_list()[-1]
        whole = _array.reshape(
            _array.gather(x, self._places(n).reshape([-1]), axis=-1),
            _array.concat([_array.shape(x)[:-1], [n, n]], 0))
        return _raw.MatrixBandPart(whole, *((0, -1) if self._upper
                                            else (-1, 0)))

    def _inverse(self, y):
        if self._inverse_event_shape(y.get_shape()).ndims is None:
            raise ValueError("fill_triangular: the sizes of y must be known, "
                             "got %s" % y.get_shape())
        n = y.get_shape().as_list()[-1]
        rows, columns = np.triu_indices(n) if self._upper else (
            np.tril_indices(n))
        order = np.argsort(self._places(n)[rows, columns])
        flat = _array.reshape(
            y, _array.concat([_array.shape(y)[:-2], [n * n]], 0))
        return _array.gather(flat, (rows * n + columns)[order], axis=-1)

    def _forward_log_det_jacobian(self, x):
        return _zero(x)

    def _inverse_log_det_jacobian(self, y):
        return _zero(y)


class ScaleTriL(Chain):
    """Vectors as lower triangles with a positive diagonal: diag_bijector,
    softplus by default, of the diagonal, plus diag_shift."""

    def __init__(self, diag_bijector=None, diag_shift=1e-5,
                 validate_args=False, name="scale_tril"):
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift),
                                   diag_bijector])
        super().__init__([TransformDiagonal(diag_bijector), FillTriangular()],
                         validate_args=validate_args, name=name)


class RealNVP(Bijector):
    """Vectors x whose first num_masked numbers stay; the others are
    x exp(log_scale) + shift, by shift_and_log_scale_fn(the first numbers, how
    many others). ValueError for a negative num_masked."""

    def __init__(self, num_masked, shift_and_log_scale_fn,
                 is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked < 0:
            raise ValueError("num_masked must be a non-negative integer.")
        self._num_masked = int(num_masked)
        self._function = shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1,
                         is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args, name=name or "real_nvp")

    def _of(self, x):
        size = x.get_shape().as_list()[-1]
        if size is None or self._num_masked >= size:
            raise ValueError("Number of masked units must be smaller than the "
                             "event size, got %d and %s"
                             % (self._num_masked, size))
        first = x[..., :self._num_masked]
        shift, log_scale = self._function(first, size - self._num_masked)
        return first, x[..., self._num_masked:], shift, log_scale

    def _forward(self, x):
        first, rest, shift, log_scale = self._of(x)
        if log_scale is not None:
            rest = rest * _math.exp(log_scale)
        return _array.concat(
            [first, rest if shift is None else rest + shift], -1)

    def _inverse(self, y):
        first, rest, shift, log_scale = self._of(y)
        if shift is not None:
            rest = rest - shift
        if log_scale is not None:
            rest = rest * _math.exp(-log_scale)
        return _array.concat([first, rest], -1)

    def _forward_log_det_jacobian(self, x):
        log_scale = self._of(x)[3]
        return _zero(x) if log_scale is None else (
            _math.reduce_sum(log_scale, axis=-1))

    def _inverse_log_det_jacobian(self, y):
        return -self._forward_log_det_jacobian(y)


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangular matrices [..., n, n], which are lower
    triangular too. What stands above the diagonal is not read."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2,
                         validate_args=validate_args, name=name)

    def _forward(self, x):
        eye = _raw.MatrixDiag(_array.ones(_array.shape(x)[:-1],
                                          dtype=x.dtype.base_dtype))
        return _raw.MatrixTriangularSolve(x, eye, lower=True)

    _inverse = _forward

    def _forward_log_det_jacobian(self, x):
        # As TensorFlow 1.15 has it, that of all n x n matrices, from
        # d(X^-1) = -X^-1 dX X^-1. Of triangles alone it would be n + 1 for 2 n.
        n = _math.cast(_array.shape(x)[-1], x.dtype.base_dtype)
        return -2. * n * _math.reduce_sum(
            _math.log(_math.abs(_raw.MatrixDiagPart(x))), axis=-1)
