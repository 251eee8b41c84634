"""Arithmetic, reductions, casts and matrix products, as tf.* and tf.math.*."""
import builtins

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.framework import dtypes
from headrace._src.framework.dispatch import dispatched
from headrace._src.framework.graph import name_scope
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import (
    constant, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops.array_ops import _renamed

_count = builtins.range

# These are the registry's functions themselves.
add = _raw.Add
multiply = _raw.Mul
subtract = _raw.Sub
floordiv = _raw.FloorDiv
floormod = mod = _raw.FloorMod
realdiv = _raw.RealDiv
truncatediv = _raw.TruncateDiv
truncatemod = _raw.TruncateMod
floor_div = _raw.FloorDiv
maximum = _raw.Maximum
minimum = _raw.Minimum
squared_difference = _raw.SquaredDifference
greater = _raw.Greater
greater_equal = _raw.GreaterEqual
less = _raw.Less
less_equal = _raw.LessEqual
logical_and = _raw.LogicalAnd
logical_or = _raw.LogicalOr
logical_not = _raw.LogicalNot
sigmoid = _raw.Sigmoid
exp = _raw.Exp
log = _raw.Log
sin = _raw.Sin
cos = _raw.Cos
floor = _raw.Floor
ceil = _raw.Ceil
rsqrt = _raw.Rsqrt


def _of_each(name, op, doc, types="float16 to float64, bfloat16 or complex"):
    """`op` as a function of tensors, and of a SparseTensor's values: what gives
    0 for 0."""
    def function(x, name=None):
        if hasattr(x, "_with_values"):
            return x._with_values(op(x.values, name=name))
        return op(x, name=name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc + """ Also of a SparseTensor's values.

    x: """ + types + """, of any shape. The result has its type
    and shape. TypeError for other types."""
    return dispatched(function)


negative = _of_each("negative", _raw.Neg, "-x.", "numbers, also complex")
sign = _of_each("sign", _raw.Sign, "-1, 0 or 1; of complex numbers x / abs(x).",
                "numbers, also complex")
square = _of_each("square", _raw.Square, "x * x.", "numbers, also complex")
sqrt = _of_each("sqrt", _raw.Sqrt,
                "The square root, NaN where a real x is negative.")
tanh = _of_each("tanh", _raw.Tanh, "The hyperbolic tangent.")
erf = _of_each("erf", _raw.Erf, "The error function.", "float16 to float64 or bfloat16")
bessel_i0e = _of_each("bessel_i0e", _raw.BesselI0e, "Bessel i0, scaled.",
                      "float16 to float64 or bfloat16")
bessel_i1e = _of_each("bessel_i1e", _raw.BesselI1e, "Bessel i1, scaled.",
                      "float16 to float64 or bfloat16")


def equal(x, y, name=None):
    """x == y, elementwise with broadcasting, as bool.

    x and y: of one type, also strings and bools, of shapes that broadcast.
    ValueError for shapes that do not; TypeError or ValueError for different
    types."""
    return _raw.Equal(x, y, name=name)


def not_equal(x, y, name=None):
    """x != y, elementwise with broadcasting, as bool.

    x and y: of one type, also strings and bools, of shapes that broadcast.
    ValueError for shapes that do not; TypeError or ValueError for different
    types."""
    return _raw.NotEqual(x, y, name=name)


@dispatched
def abs(x, name=None):
    """The absolute value; of complex numbers their magnitude. Also of a
    SparseTensor's values.

    x: real or complex numbers of any shape. The result has its shape, and its
    type or, of complex64 and complex128, float32 and float64. TypeError for
    strings and bools."""
    if hasattr(x, "_with_values"):
        return x._with_values(abs(x.values, name))
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return _raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name=name or "Abs")
    return _raw.Abs(x, name=name)


def pow(x, y, name=None):
    """x to the power y, elementwise.

    x and y: numbers of one type, float16 to float64, int32, int64 or complex,
    of shapes that broadcast. ValueError for shapes that do not; TypeError or
    ValueError for different types; InvalidArgumentError in the run for integers
    with a negative exponent."""
    with name_scope(name, "Pow", [x]) as scope:
        return _raw.Pow(x, y, name=scope)


@dispatched
def divide(x, y, name=None):
    """x / y as Python divides: integers give floats.

    x and y: numbers of one type, of shapes that broadcast; int8 to int16 give
    float32, int32 and int64 float64. ValueError for shapes that do not;
    TypeError or ValueError for different types."""
    if name is not None:
        return _truediv(x, y, name)
    return convert_to_tensor(x) / y


def div(x, y, name=None):
    """x / y as Python 2 divides: integers give integers, rounded down.

    x and y: numbers of one type, of shapes that broadcast; the result has their
    type. ValueError for shapes that do not; TypeError or ValueError for
    different types; InvalidArgumentError in the run if an integer is divided by
    0."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.is_floating or x.dtype.is_complex:
            return _raw.RealDiv(x, y, name=scope)
        return _raw.FloorDiv(x, y, name=scope)


@dispatched
def div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return _raw.DivNoNan(x, y, name=scope)


divide_no_nan = div_no_nan


_TRUEDIV = {dtypes.uint8: dtypes.float32, dtypes.int8: dtypes.float32,
            dtypes.uint16: dtypes.float32, dtypes.int16: dtypes.float32,
            dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64}


@dispatched
def _truediv(x, y, name=None):
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype_hint=x.dtype.base_dtype)
        kind = x.dtype.base_dtype
        if kind != y.dtype.base_dtype:
            raise TypeError("x and y must have the same dtype, got %r != %r"
                            % (kind, y.dtype.base_dtype))
        if kind.is_integer:
            if kind not in _TRUEDIV:
                raise TypeError("Invalid dtype %r in __truediv__." % kind)
            x = cast(x, _TRUEDIV[kind])
            y = cast(y, _TRUEDIV[kind])
        return _raw.RealDiv(x, y, name=scope)


def truediv(x, y, name=None):
    """x / y; integers are cast to floating point first (int32 to float64)."""
    return _truediv(x, y, name)


def scalar_mul(scalar, x, name=None):
    """A scalar times a Tensor or IndexedSlices, of the same kind.

    `scalar`: of the type of x, numbers; x: of any shape. ValueError for what is
    no scalar; TypeError for different types."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar._rank() not in (0, None):
        raise ValueError("Only scalar multiply works, got shape %s"
                         % scalar.get_shape())
    if isinstance(x, IndexedSlices):
        return IndexedSlices(_raw.Mul(scalar, x.values, name=name), x.indices,
                             x.dense_shape)
    return _raw.Mul(scalar, x, name=name)


_LIST_OF = ("inputs must be a list of at least one %s with the same dtype and "
            "shape")


@dispatched
def add_n(inputs, name=None):
    """The sum of a list of tensors of one shape and type.

    `inputs`: a list or tuple of Tensors and IndexedSlices, of numbers. The
    result has their type and shape. ValueError for an empty list, for what is
    no list, and for shapes that differ; TypeError for different types."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(_LIST_OF % "Tensor/IndexedSlices")
    inputs = [convert_to_tensor(x) for x in inputs]
    if len(inputs) == 1:
        if name:
            return _raw.Identity(inputs[0], name=name)
        return inputs[0]
    return _raw.AddN(list(inputs), name=name)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors, of `shape` and `tensor_dtype` if these are
    given."""
    if not isinstance(inputs, (list, tuple)) or not inputs or any(
            isinstance(x, IndexedSlices) for x in inputs):
        raise ValueError(_LIST_OF % "Tensor")
    inputs = [convert_to_tensor(x) for x in inputs]
    dtype = inputs[0].dtype.base_dtype
    if any(x.dtype.base_dtype != dtype for x in inputs):
        raise ValueError("%s, got the types %s" % (
            _LIST_OF % "Tensor", ", ".join(x.dtype.name for x in inputs)))
    shape = TensorShape(shape)
    for x in inputs:
        shape = shape.merge_with(x.get_shape())
    if tensor_dtype is not None and tensor_dtype != dtype:
        raise TypeError("tensor_dtype is %s, but input is of type %s"
                        % (tensor_dtype, dtype))
    if len(inputs) == 1:
        return _raw.Identity(inputs[0], name=name) if name else inputs[0]
    return _raw.AccumulateNV2(inputs, shape=shape, name=name)


@dispatched
def round(x, name=None):
    """Rounded to the nearest integer, halves to even.

    x: real or complex numbers of any shape; the result has its type and shape,
    and integers stay. TypeError for strings and bools."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else _raw.Round(x, name=name)


@dispatched
def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x)))."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return _raw.Neg(_raw.Softplus(-x), name=scope)


@dispatched
def cast(x, dtype, name=None):
    """x as `dtype`; x itself, also a resource variable, if it has that type
    already. Of a SparseTensor and IndexedSlices the values are cast.

    `x`: numbers or bools, of any shape, which the result has too. Floats lose
    their fraction on the way to integers; to bool, what is not zero is True.
    TypeError for a `dtype` that is none; UnimplementedError in the run from or
    to strings."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    if (isinstance(x, Tensor) or getattr(x, "_is_resource", False)) and (
            x.dtype == dtype):
        return x
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype, name), x.indices,
                             x.dense_shape)
    if hasattr(x, "_with_values"):
        return x._with_values(cast(x.values, dtype, name))
    with name_scope(name, "Cast", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype != dtype:
            x = _raw.Cast(x, DstT=dtype, name=scope)
        return x


@dispatched
def saturate_cast(value, dtype, name=None):
    """cast, with values brought into the range of `dtype` first."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.min < dtype.min:
            value = _raw.Maximum(value, constant(
                dtype.min, value.dtype.base_dtype, name="min"))
        if value.dtype.max > dtype.max:
            value = _raw.Minimum(value, constant(
                dtype.max, value.dtype.base_dtype, name="max"))
        return cast(value, dtype, name=scope)


def to_float(x, name="ToFloat"):
    """Casts to float32: numbers or bools of any shape, which stays. TypeError
    for what cannot become a tensor; UnimplementedError in the run for strings.
    Old: cast(x, tf.float32)."""
    return cast(x, dtypes.float32, name)


def to_double(x, name="ToDouble"):
    """cast to float64."""
    return cast(x, dtypes.float64, name)


def to_int32(x, name="ToInt32"):
    """Casts to int32: numbers or bools of any shape, which stays; fractions are
    cut off. TypeError for what cannot become a tensor; UnimplementedError in
    the run for strings. Old: cast(x, tf.int32)."""
    return cast(x, dtypes.int32, name)


def to_int64(x, name="ToInt64"):
    """Casts to int64: numbers or bools of any shape, which stays; fractions are
    cut off. TypeError for what cannot become a tensor; UnimplementedError in
    the run for strings. Old: cast(x, tf.int64)."""
    return cast(x, dtypes.int64, name)


def to_bfloat16(x, name="ToBFloat16"):
    return cast(x, dtypes.bfloat16, name)


def bitcast(input, type, name=None):
    """The same bits as another type."""
    return _raw.Bitcast(input, type, name=name)


@dispatched
def complex(real, imag, name=None):
    """real + i imag: complex64 of float32, complex128 of float64."""
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        both = real.dtype.base_dtype, imag.dtype.base_dtype
        outs = {(dtypes.float32,) * 2: dtypes.complex64,
                (dtypes.float64,) * 2: dtypes.complex128}
        if both not in outs:
            raise TypeError("real and imag have incorrect types: {} {}".format(
                real.dtype.name, imag.dtype.name))
        return _raw.Complex(real, imag, Tout=outs[both], name=scope)


@dispatched
def real(input, name=None):
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return _raw.Real(input, Tout=input.dtype.real_dtype, name=scope)


@dispatched
def imag(input, name=None):
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return _raw.ZerosLike(input, name="zeros_like")
        return _raw.Imag(input, Tout=input.dtype.real_dtype, name=scope)


@dispatched
def angle(input, name=None):
    """The argument of complex numbers; 0 for real ones, negative or not."""
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return _raw.ZerosLike(input, name="zeros_like")
        return _raw.Angle(input, Tout=input.dtype.real_dtype, name=scope)


@dispatched
def conj(x, name=None):
    """The complex conjugate; real numbers as they are."""
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype == dtypes.variant:
            return _raw.Conj(x, name=scope)
    if x.dtype.is_floating or x.dtype.is_integer:
        return x
    raise TypeError("Expected numeric or variant tensor, got dtype %r"
                    % x.dtype)


# Reductions.

def _axis(x, axis, reduction_indices):
    """The axes to reduce, as what the op takes. Those of a value that is no
    tensor yet are counted by nodes, as in TensorFlow."""
    axis = _renamed("axis", axis, "reduction_indices", reduction_indices)
    if axis is not None:
        return axis
    if isinstance(x, Tensor) and x._rank() is not None:
        return constant(np.arange(x._rank()), dtype=dtypes.int32)
    return range(0, _array.rank(x))


def _keep(keepdims, keep_dims):
    if keep_dims is not None:
        if keepdims is not None:
            raise ValueError("Cannot specify both 'keep_dims' and 'keepdims'.")
        return keep_dims
    return bool(keepdims)


def _reduction(name, op_type, doc, types="numbers, also complex"):
    """A reduction op as a function. `types`: those of the input, in words."""
    op = getattr(_raw, op_type)

    def reduce(input_tensor, axis=None, keepdims=None, name=None,
               reduction_indices=None, keep_dims=None):
        keep = _keep(keepdims, keep_dims)
        x = input_tensor
        if isinstance(x, IndexedSlices):
            x = convert_to_tensor(x)
        out = op(x, _axis(x, axis, reduction_indices), keep_dims=keep,
                 name=name)
        if axis is None and reduction_indices is None and not keep:
            out.set_shape([])
        return out
    reduce.__doc__ = doc + """

    `axis`: a number or list of numbers, negative ones from the end; None for
    all. `keepdims`: reduced dimensions stay, with size 1.

    `input_tensor`: """ + types + """, of any shape. The result
    has its type and the other dimensions; a scalar if none is left. ValueError
    for an axis out of range and for both `keepdims` and `keep_dims`; TypeError
    for other types."""
    reduce.__name__ = reduce.__qualname__ = name
    return dispatched(reduce)


reduce_sum = _reduction("reduce_sum", "Sum", "The sum over dimensions.")
reduce_mean = _reduction("reduce_mean", "Mean", "The mean over dimensions.")
reduce_prod = _reduction("reduce_prod", "Prod", "The product over dimensions.")
reduce_max = _reduction("reduce_max", "Max", "The largest element over dimensions.",
                        types="real numbers")
reduce_min = _reduction("reduce_min", "Min", "The smallest element over dimensions.",
                        types="real numbers")
reduce_all = _reduction("reduce_all", "All", "Logical and over dimensions of a bool tensor.",
                        "bools")
reduce_any = _reduction("reduce_any", "Any", "Logical or over dimensions of a bool tensor.",
                        "bools")


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of squared distances from the mean."""
    with name_scope(name or "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        means = reduce_mean(x, axis=axis, keepdims=True)
        return reduce_mean(_raw.Square(x - means), axis=axis,
                           keepdims=keepdims)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of reduce_variance."""
    with name_scope(name or "reduce_std"):
        return _raw.Sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None,
                     reduction_indices=None, keep_dims=None):
    """log(sum(exp(x))) over dimensions, without overflow."""
    keep = _keep(keepdims, keep_dims)
    axis = _renamed("axis", axis, "reduction_indices", reduction_indices)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]):
        x = convert_to_tensor(input_tensor)
        raw_max = reduce_max(x, axis=axis, keepdims=True)
        offset = _raw.StopGradient(_raw.Select(
            _raw.IsFinite(raw_max), raw_max, _raw.ZerosLike(raw_max)))
        total = reduce_sum(_raw.Exp(_raw.Sub(x, offset)), axis=axis,
                           keepdims=keep)
        result = _raw.Log(total)
        if not keep:
            offset = _raw.Reshape(offset, _raw.Shape(result))
        return _raw.Add(result, offset)


def count_nonzero(input_tensor=None, axis=None, keepdims=None,
                  dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):
    """How many elements differ from zero, over dimensions.

    `input_tensor`: numbers, bools or strings of any shape. The result is of
    `dtype`, with the dimensions that `axis` does not name, a scalar without it;
    `keepdims` keeps the others as 1. ValueError for an axis out of range or for
    both names of an argument."""
    keep = _keep(keepdims, keep_dims)
    x = _renamed("input", input, "input_tensor", input_tensor)
    if x is None:
        raise ValueError("count_nonzero needs an input")
    with name_scope(name, "count_nonzero", [x]):
        x = convert_to_tensor(x, name="input")
        zero = constant(
            "" if x.dtype.base_dtype == dtypes.string
            else np.zeros((), x.dtype.as_numpy_dtype), x.dtype.base_dtype,
            name="zeros")
        hits = cast(_raw.NotEqual(x, zero), dtypes.int64)
        return cast(reduce_sum(hits, axis, keep,
                               reduction_indices=reduction_indices), dtype)


def argmax(input, axis=None, name=None, dimension=None,
           output_type=dtypes.int64):
    """The index of the largest element along `axis` (0 by default).

    `input`: numbers or bools, at least [n]; the first of equal elements counts.
    Returns `output_type` (int64 or int32), of the shape without `axis`, a
    scalar int. ValueError for an axis out of range, or for both `axis` and
    `dimension`; TypeError for strings; InvalidArgumentError in the run if the
    dimension is empty."""
    axis = _renamed("axis", axis, "dimension", dimension)
    return _raw.ArgMax(input, 0 if axis is None else axis,
                       output_type=output_type, name=name)


def argmin(input, axis=None, name=None, dimension=None,
           output_type=dtypes.int64):
    """The index of the smallest element along `axis` (0 by default)."""
    axis = _renamed("axis", axis, "dimension", dimension)
    return _raw.ArgMin(input, 0 if axis is None else axis,
                       output_type=output_type, name=name)


def arg_max(input, dimension, output_type=dtypes.int64, name=None):
    """As argmax."""
    return _raw.ArgMax(input, dimension, output_type=output_type, name=name)


def arg_min(input, dimension, output_type=dtypes.int64, name=None):
    """As argmin."""
    return _raw.ArgMin(input, dimension, output_type=output_type, name=name)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running sums along `axis`: [a, b, c] gives [a, a + b, a + b + c], with
    `exclusive` [0, a, a + b], with `reverse` from the end.

    `x`: numbers of any shape; the result has its type and shape. `axis`: a
    scalar int32. ValueError, or in the run InvalidArgumentError, for an axis
    out of range; TypeError for other types."""
    with name_scope(name, "Cumsum", [x]) as scope:
        return _raw.Cumsum(x, axis, exclusive=exclusive, reverse=reverse,
                           name=scope)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Running products along `axis`: [a, b, c] gives [a, a * b, a * b * c],
    with `exclusive` [1, a, a * b], with `reverse` from the end.

    `x`: numbers of any shape; the result has its type and shape. `axis`: a
    scalar int32. ValueError, or in the run InvalidArgumentError, for an axis
    out of range; TypeError for other types."""
    with name_scope(name, "Cumprod", [x]) as scope:
        return _raw.Cumprod(x, axis, exclusive=exclusive, reverse=reverse,
                            name=scope)


# Matrix products.

def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False,
           adjoint_b=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of matrices, or of the matrices in the last two dimensions of
    tensors of one type and rank.

    a [..., n, k] times b [..., k, m] gives [..., n, m], of the type of both:
    float16, bfloat16, float32, float64, int32, int64, complex64 or complex128.
    `transpose_a` and `adjoint_a` take `a` as [..., k, n]. ValueError if inner
    sizes differ, if a tensor is no matrix, or if an argument is both to be
    transposed and adjoint; TypeError or ValueError for different types."""
    with name_scope(name, "MatMul", [a, b]) as scope:
        for side, both in (("a", transpose_a and adjoint_a),
                           ("b", transpose_b and adjoint_b)):
            if both:
                raise ValueError("Only one of transpose_%s and adjoint_%s can "
                                 "be True." % (side, side))
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        rank_a, rank_b = a._rank(), b._rank()
        if rank_a is None or rank_a > 2 or rank_b is None or rank_b > 2:
            if transpose_a:
                a, adjoint_a = conj(a), True
            if transpose_b:
                b, adjoint_b = conj(b), True
            return _raw.BatchMatMulV2(a, b, adj_x=adjoint_a, adj_y=adjoint_b,
                                      name=scope)
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        types = (a.dtype.base_dtype, b.dtype.base_dtype)
        # Where one is bfloat16 and the other float32, no other op does it.
        if {*types} == {dtypes.bfloat16, dtypes.float32} or (
                (a_is_sparse or b_is_sparse)
                and {*types} <= {dtypes.bfloat16, dtypes.float32}):
            return _raw.SparseMatMul(
                a, b, transpose_a=transpose_a, transpose_b=transpose_b,
                a_is_sparse=a_is_sparse, b_is_sparse=b_is_sparse, name=scope)
        return _raw.MatMul(a, b, transpose_a=transpose_a,
                           transpose_b=transpose_b, name=scope)


# Sequences.

def range(start, limit=None, delta=1, dtype=None, name="range"):
    """start, start + delta, ... up to but without limit; range(n) from 0.

    Scalars of real numbers; the result is a vector of `dtype`, or of the
    largest of their types, [ceil((limit - start) / delta)]. ValueError for a
    delta of 0 and for a step away from the limit, where the values are known,
    InvalidArgumentError in the run otherwise."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        given = [("start", start), ("limit", limit), ("delta", delta)]
        values = [convert_to_tensor(v, dtype=dtype, name=n) for n, v in given]
        if dtype is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float32,
                     dtypes.float64]
            wanted = max((v.dtype.base_dtype for v in values), key=order.index)
            values = [cast(v, wanted) for v in values]
        return _raw.Range(*values, name=scope)


def linspace(start, stop, num, name=None):
    """`num` evenly spaced values from start to stop, both included.

    `start` and `stop`: scalars of bfloat16, float32 or float64; `num`: a scalar
    int32 or int64. Returns a vector [num] of their type. ValueError, or in the
    run InvalidArgumentError, if num is not positive; TypeError for different
    types."""
    return _raw.LinSpace(start, stop, num, name=name)


lin_space = linspace


# Operators of Tensor.

def _operator(op, name):
    def forward(x, y):
        if op is _raw.Mul and hasattr(y, "_times_dense"):  # a SparseTensor
            return y._times_dense(x)
        return op(x, y, name=name)

    def backward(y, x):
        dtype = y.dtype.base_dtype
        if not isinstance(x, Tensor):
            with name_scope(None, name, [x, y]) as scope:
                x = convert_to_tensor(x, dtype=dtype, name="x")
                return op(x, y, name=scope)
        return op(x, y, name=name)
    return forward, backward


def _add_forward(x, y):
    if x.dtype.base_dtype is dtypes.string:
        return _raw.Add(x, y, name="add")
    return _raw.AddV2(x, y, name="add")


def _add_backward(y, x):
    with name_scope(None, "add", [x, y]) as scope:
        x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
        op = _raw.Add if y.dtype.base_dtype is dtypes.string else _raw.AddV2
        return op(x, y, name=scope)


def _truediv_backward(y, x):
    with name_scope(None, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, dtype=y.dtype.base_dtype, name="x")
        return _truediv(x, y, scope)


def _matmul_backward(y, x):
    return matmul(convert_to_tensor(x, dtype=y.dtype.base_dtype), y,
                  name="matmul")


def install_operators():
    """Gives Tensor its arithmetic operators. `==` stays identity."""
    Tensor.__add__, Tensor.__radd__ = _add_forward, _add_backward
    for method, op, name in (
            ("sub", _raw.Sub, "sub"), ("mul", _raw.Mul, "mul"),
            ("floordiv", _raw.FloorDiv, "floordiv"),
            ("mod", _raw.FloorMod, "mod"), ("pow", _raw.Pow, "pow"),
            ("and", _raw.LogicalAnd, "and"), ("or", _raw.LogicalOr, "or")):
        forward, backward = _operator(op, name)
        setattr(Tensor, "__%s__" % method, forward)
        setattr(Tensor, "__r%s__" % method, backward)
    Tensor.__xor__, Tensor.__rxor__ = _xor, _xor_backward
    Tensor.__truediv__ = lambda x, y: _truediv(x, y)
    Tensor.__rtruediv__ = _truediv_backward
    Tensor.__div__, Tensor.__rdiv__ = Tensor.__truediv__, _truediv_backward
    Tensor.__matmul__ = lambda x, y: matmul(x, y, name="matmul")
    Tensor.__rmatmul__ = _matmul_backward
    Tensor.__lt__ = lambda x, y: _raw.Less(x, y)
    Tensor.__le__ = lambda x, y: _raw.LessEqual(x, y)
    Tensor.__gt__ = lambda x, y: _raw.Greater(x, y)
    Tensor.__ge__ = lambda x, y: _raw.GreaterEqual(x, y)
    Tensor.__neg__ = lambda x: _raw.Neg(x)
    Tensor.__abs__ = lambda x: abs(x)
    Tensor.__invert__ = lambda x: _raw.LogicalNot(x)


def _xor(x, y):
    with name_scope(None, "xor", [x, y]) as scope:
        return logical_xor(x, convert_to_tensor(y, x.dtype, name="y"),
                           name=scope)


def _xor_backward(y, x):
    with name_scope(None, "xor", [x, y]) as scope:
        return logical_xor(convert_to_tensor(x, y.dtype, name="x"), y,
                           name=scope)


def logical_xor(x, y, name="LogicalXor"):
    """x xor y of bool tensors."""
    return _raw.LogicalAnd(
        _raw.LogicalOr(x, y), _raw.LogicalNot(_raw.LogicalAnd(x, y)),
        name=name)
