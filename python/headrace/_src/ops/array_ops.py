"""Making, joining, cutting and rearranging tensors, as tf.*."""
import builtins
import functools
import operator

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._src.framework import dtypes
from headrace._src.framework.dispatch import dispatched
from headrace._src.framework.graph import get_default_graph, name_scope
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor, is_tensor, replaceable)
from headrace._src.framework.tensor_shape import (
    Dimension, TensorShape, as_shape, dimension_value)

newaxis = None


def _renamed(name, value, old_name, old_value):
    """The value of an argument that has an old name too; ValueError if both
    are given."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'"
                         % (old_name, name))
    return old_value


def _size_of_axis(x, axis):
    """A number if the graph tells it, else a tensor."""
    known = x.get_shape()
    size = None if known.ndims is None else known[axis].value
    return shape(x)[axis] if size is None else size


_SMALL = 1000  # constants with fewer elements are written out


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value each run feeds; reading it unfed is an error.

    `shape`: None for any, or a list with None for sizes that may vary.

    Returns a Tensor of `dtype`. Without a value the run fails with
    InvalidArgumentError; Session.run raises ValueError for a value that does
    not fit `shape`. TypeError for what is no dtype."""
    if executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager "
                           "execution.")
    return _raw.Placeholder(dtypes.as_dtype(dtype), shape, name=name)


def placeholder_with_default(input, shape, name=None):
    """A tensor that runs may feed, and that is `input` where they do not.

    `input`: of any type, which the result has. `shape`: that of the result,
    with None for sizes that may vary. ValueError if that does not fit the shape
    of `input`, and from Session.run for a value that does not fit `shape`."""
    return _raw.PlaceholderWithDefault(input, shape, name=name)


@dispatched
def identity(input, name=None):
    """The same tensor as another node.

    `input`: of any type and shape, which the result has. TypeError or
    ValueError for what cannot become a tensor."""
    return _raw.Identity(input, name=name)


def stop_gradient(input, name=None):
    """`input`; gradients do not pass through it.

    `input`: of any type and shape, which the result has; gradients() gives None
    beyond it. TypeError or ValueError for what cannot become a tensor."""
    return _raw.StopGradient(input, name=name)


# Shapes.

def shape(input, name=None, out_type=dtypes.int32):
    """The shape as a tensor; a constant where it is known now.

    `input`: a tensor of any type and shape, or a SparseTensor. Returns
    `out_type` (int32 or int64) [rank]. TypeError or ValueError for what cannot
    become a tensor; InvalidArgumentError in the run for a size that int32 does
    not hold."""
    return _shape(input, name, True, out_type)


def _shape(input, name, optimize, out_type=dtypes.int32):
    if hasattr(input, "dense_shape"):
        return _raw.Cast(input.dense_shape, DstT=out_type, name=name)
    with name_scope(name, "Shape", [input]) as scope:
        input = convert_to_tensor(input)
        static = input.get_shape()
        if optimize and static.is_fully_defined():
            return constant(np.array(static.as_list(), np.int64), out_type,
                            name=scope)
        return _raw.Shape(input, out_type=out_type, name=scope)


def shape_n(input, out_type=dtypes.int32, name=None):
    return _raw.ShapeN(input, out_type=out_type, name=name)


@dispatched
def rank(input, name=None):
    """The number of dimensions; a constant where it is known now."""
    if hasattr(input, "dense_shape"):
        return size(input.dense_shape, name)
    with name_scope(name, "Rank", [input]) as scope:
        input = convert_to_tensor(input)
        if input._rank() is not None:
            return constant(input._rank(), dtypes.int32, name=scope)
        return _raw.Rank(input, name=scope)


@dispatched
def size(input, name=None, out_type=dtypes.int32):
    """The number of elements; a constant where it is known now.

    `input`: a tensor of any type and shape, or a SparseTensor. Returns a scalar
    of `out_type`, int32 or int64. TypeError or ValueError for what cannot
    become a tensor; InvalidArgumentError in the run for a number that int32
    does not hold."""
    if hasattr(input, "dense_shape"):
        return _raw.Prod(_raw.Cast(input.dense_shape, DstT=out_type), [0],
                         name=name)
    with name_scope(name, "Size", [input]) as scope:
        input = convert_to_tensor(input)
        static = input.get_shape()
        if static.is_fully_defined():
            return constant(static.num_elements(), out_type, name=scope)
        return _raw.Size(input, out_type=out_type, name=scope)


def reshape(tensor, shape, name=None):
    """The same elements under another shape; one dimension may be -1.

    `tensor`: of any type. `shape`: int32 or int64 [rank]. The result has the
    type of `tensor`. ValueError if the numbers of elements are known and
    differ; where they are not, and if two sizes are -1, InvalidArgumentError in
    the run."""
    return _raw.Reshape(tensor, shape, name=name)


@dispatched
def expand_dims(input, axis=None, name=None, dim=None):
    """A dimension of size 1 put in before `axis`.

    `input`: of any type and shape. `axis`: a scalar integer in [-rank - 1,
    rank], -1 for a new last dimension. The result has the type of `input`.
    ValueError for an axis out of range, or for both `axis` and `dim`."""
    axis = _renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _raw.ExpandDims(input, axis, name=name)


@dispatched
def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Without its dimensions of size 1: all, or those that `axis` lists.

    `input`: of any type and shape, whose type the result has. `axis`: integers,
    negative ones from the end. ValueError for an axis out of range or whose
    size is known and not 1, InvalidArgumentError if that is seen in the run."""
    axis = _renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = []
    elif not isinstance(axis, (list, tuple)):
        axis = [axis]
    return _raw.Squeeze(input, squeeze_dims=axis, name=name)


def broadcast_to(input, shape, name=None):
    return _raw.BroadcastTo(input, shape, name=name)


def broadcast_static_shape(shape_x, shape_y):
    """The shape that both broadcast to, as a TensorShape."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x.ndims is None or y.ndims is None:
        return TensorShape(None)
    out = []
    a, b = x.as_list(), y.as_list()
    n = builtins.max(len(a), len(b))
    for i, j in zip([1] * (n - len(a)) + a, [1] * (n - len(b)) + b):
        if i == 1 or j == 1:
            out.append(j if i == 1 else i)
        elif i is None or j is None:
            out.append(j if i is None else i)
        elif i == j:
            out.append(i)
        else:
            raise ValueError("Incompatible shapes for broadcasting: %s and %s"
                             % (x, y))
    return TensorShape(out)


def broadcast_dynamic_shape(shape_x, shape_y):
    return _raw.BroadcastArgs(shape_x, shape_y)


# Constants and fills.

def _shape_tensor(shape):
    """A shape argument as a vector tensor."""
    if not isinstance(shape, Tensor):
        try:
            shape = convert_to_tensor(TensorShape(shape),
                                      name="shape_as_tensor")
        except (TypeError, ValueError):
            shape = convert_to_tensor(shape, dtype=dtypes.int32)
    if shape._rank() == 0:
        shape = _raw.Reshape(shape, [-1])
    return shape


def _filled(value, shape, dtype, name):
    if isinstance(shape, int):
        shape = convert_to_tensor([shape], dtype=dtypes.int32,
                                  name="shape_as_tensor")
    if not isinstance(shape, Tensor):
        if isinstance(shape, (list, tuple)) and any(
                isinstance(d, Tensor) for d in shape):
            # Nodes that nothing uses, for the numbers of the later ones.
            _raw.Less(functools.reduce(operator.mul, shape), _SMALL)
        try:
            n = TensorShape(shape).num_elements()
            if n is not None and n < _SMALL:
                return constant(value, shape=shape, dtype=dtype, name=name)
        except (TypeError, ValueError):
            pass
    return _raw.Fill(_shape_tensor(shape), constant(value, dtype), name=name)


def _zero(dtype):
    if dtype == dtypes.bool_:
        return False
    return "" if dtype == dtypes.string else 0


def zeros(shape, dtype=dtypes.float32, name=None):
    """Zeros, empty strings or False of that shape.

    `shape`: integers, a TensorShape or an int32 or int64 tensor [rank]. Returns
    a tensor of `dtype`, which may be any but a resource. TypeError for what is
    no dtype, ValueError for negative sizes."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as scope:
        return _filled(_zero(dtype), shape, dtype, scope)


def ones(shape, dtype=dtypes.float32, name=None):
    """Ones, or True, of that shape.

    `shape`: integers, a TensorShape or an int32 or int64 tensor [rank]. Returns
    a tensor of `dtype`, numbers or bool. TypeError for what is no dtype and for
    strings; ValueError for negative sizes."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _filled(True if dtype == dtypes.bool_ else 1, shape, dtype,
                       scope)


@dispatched
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the shape of `tensor`, and of its type unless one is given.

    `tensor`: of any type and shape, or a SparseTensor's. TypeError for what is
    no dtype."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        kind = tensor.dtype.base_dtype
        if (optimize and tensor.get_shape().is_fully_defined()
                and kind != dtypes.variant):
            return zeros(tensor.get_shape(), dtype=dtype or kind, name=scope)
        if dtype is not None and dtype != kind:
            return zeros(_shape(tensor, None, optimize), dtype=dtype,
                         name=scope)
        return _raw.ZerosLike(tensor, name=scope)


@dispatched
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the shape of `tensor`, and of its type unless one is given.

    `tensor`: numbers or bools of any shape. TypeError for what is no dtype and
    for strings."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        out_shape = _shape(tensor, None, optimize)
        out = ones(out_shape, dtype=dtype or tensor.dtype.base_dtype,
                   name=scope)
        out.set_shape(tensor.get_shape())
        return out


def fill(dims, value, name=None):
    """A tensor of shape `dims` with `value` everywhere.

    `dims`: int32 or int64 [rank]; `value`: a scalar of any type, which the
    result has. ValueError for a value that is no scalar; InvalidArgumentError
    in the run for negative sizes."""
    return _raw.Fill(dims, value, name=name)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32,
        name=None):
    """The identity matrix, or a batch of it."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        batch = [] if batch_shape is None else batch_shape
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            square = num_columns is None
            diagonal = _raw.Minimum(num_rows, columns)
        else:
            square, diagonal = num_rows == columns, min(num_rows, columns)
        known = not isinstance(batch, Tensor) and not isinstance(
            diagonal, Tensor)
        batch = list(batch) if known else convert_to_tensor(
            batch, dtype=dtypes.int32, name="shape")

        def shape(*sizes):
            sizes = list(sizes)
            return batch + sizes if known else concat((batch, sizes), 0)
        diagonal_shape = shape(diagonal)
        matrix_shape = None if square else shape(num_rows, columns)
        ones_ = ones(diagonal_shape, dtype=dtype)
        if square:
            return _raw.MatrixDiag(ones_, name="diag")
        zeros_ = zeros(matrix_shape, dtype=dtype)
        return _raw.MatrixSetDiag(zeros_, ones_, name="set_diag")


def _type_of(value):
    """The type of what a tensor is made of, or None for None."""
    if value is None:
        return None
    return convert_to_tensor(value).dtype.base_dtype


@dispatched
def one_hot(indices, depth, on_value=None, off_value=None, axis=None,
            dtype=None, name=None):
    """A new dimension of size `depth` (the last, or `axis`): on_value (1) at
    the index, off_value (0) elsewhere. TypeError if types disagree.

    `indices`: uint8, int32 or int64, of any shape; `depth`: a scalar int32. The
    result has indices.shape with `depth` put in, and type `dtype`, that of the
    values or float32. An index out of [0, depth) gives off_value throughout.
    ValueError for an axis out of range."""
    with name_scope(name, "one_hot",
                    [indices, depth, on_value, off_value]) as scope:
        on_type = _type_of(on_value)
        off_type = _type_of(off_value)
        for given, what in ((on_type, "on_value"), (off_type, "off_value")):
            if dtype is not None and given is not None and given != dtype:
                raise TypeError("dtype %s of %s does not match dtype parameter "
                                "%s" % (given, what, dtype))
        if dtype is not None:
            on_value, off_value = (
                v if v is None or isinstance(v, Tensor)
                else np.asarray(v, dtypes.as_dtype(dtype).as_numpy_dtype)
                for v in (on_value, off_value))
        dtype = dtype or on_type or off_type or dtypes.float32
        if on_value is None:
            on_value = constant(True if dtype == dtypes.bool_ else 1, dtype,
                                name="on_value")
            on_type = dtype
        if off_value is None:
            off_value = constant(_zero(dtype), dtype, name="off_value")
            off_type = dtype
        if on_type != off_type and None not in (on_type, off_type):
            raise TypeError("dtype %s of on_value does not match dtype %s of "
                            "off_value" % (on_type, off_type))
        return _raw.OneHot(indices, depth, on_value, off_value,
                           axis=-1 if axis is None else axis, name=scope)


# Joining and splitting.

@dispatched
def concat(values, axis, name="concat"):
    """Tensors joined along `axis`; all their other sizes are the same.

    `values`: a list of tensors of one type, any. `axis`: a scalar int32, from
    the end if negative. The result has their type and rank; its size along
    `axis` is the sum of theirs. ValueError if the ranks or the other sizes
    differ, for scalars, and for an axis out of range; InvalidArgumentError in
    the run where shapes were not known."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32)
            return _raw.Identity(values[0], name=name)
    return _raw.ConcatV2(list(values), axis, name=name)


@dispatched
def stack(values, axis=0, name="stack"):
    """Tensors of one shape along a new dimension `axis`.

    `values`: a list of n tensors of one type, any, and one shape [a, b, ...].
    The result has their type and shape [n, a, b, ...], with n at `axis`, which
    may be negative. ValueError for an axis out of range or shapes that differ;
    TypeError for different types."""
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    first = convert_to_tensor(values[0]).get_shape()
    if first.ndims is not None:
        n = first.ndims + 1
        if axis < -n or axis >= n:
            raise ValueError("axis = %d not in [%d, %d)" % (axis, -n, n))
    return _raw.Pack(list(values), axis=axis, name=name)


def parallel_stack(values, name="parallel_stack"):
    """stack along axis 0, of values with known shapes."""
    with name_scope(name):
        values = [convert_to_tensor(v) for v in values]
        whole = TensorShape([len(values)]).concatenate(values[0].get_shape())
        whole.assert_is_fully_defined()
        return _raw.ParallelConcat([expand_dims(v, 0) for v in values],
                                   shape=whole)


def unstack(value, num=None, axis=0, name="unstack"):
    """The list of slices along `axis`. ValueError if their number is neither
    given nor known.

    `value`: of any type, at least [n]; n tensors of its type and shape without
    `axis` come back. ValueError for an axis out of range and for a `num` that
    is not the size, too."""
    if num is None:
        value = convert_to_tensor(value)
        static = value.get_shape()
        if static.ndims is not None:
            if axis < -static.ndims or axis >= static.ndims:
                raise ValueError("axis = %d not in [%d, %d)"
                                 % (axis, -static.ndims, static.ndims))
            num = static.as_list()[axis]
    if num is None:
        raise ValueError("Cannot infer num from shape %s" % static)
    return _raw.Unpack(value, num=num, axis=axis, name=name)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """A list of parts along `axis`: so many equal ones, or of these sizes.

    `value`: of any type, at least [n]. `num_or_size_splits`: an int, or a list
    or int32 or int64 vector of sizes, one of which may be -1 for what is left.
    The parts have its type and rank. ValueError if the size along `axis` is no
    multiple or not the sum, for an axis out of range, or if the number of parts
    is not known."""
    size_splits = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, np.integer, Dimension)):
        return _raw.Split(axis, value, num_split=int(num_or_size_splits),
                          name=name)
    if size_splits._rank() == 0:
        raise ValueError("Rank-0 tensors are not supported as the "
                         "num_or_size_splits argument to split. Argument "
                         "provided: %s" % (num_or_size_splits,))
    if num is None:
        sizes = size_splits.get_shape()
        num = sizes.as_list()[0] if sizes.ndims else None
        if num is None:
            raise ValueError("Cannot infer num from shape %s"
                             % num_or_size_splits)
    return _raw.SplitV(value, size_splits, axis, num_split=num, name=name)


# Slices.

def slice(input_, begin, size, name=None):
    """size[i] elements from begin[i] on in each dimension; size -1 is all the
    rest.

    `input_`: of any type, at least [n]; `begin` and `size`: int32 or int64
    [rank]. The result has the type of `input_` and shape `size`. ValueError, or
    in the run InvalidArgumentError, for what leaves the tensor or has another
    length."""
    return _raw.Slice(input_, begin, size, name=name)


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0,
                  ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0,
                  var=None, name=None):
    """input_[begin:end:strides], with masks as the op has them. `var`: the
    variable that input_ is the value of, for assign() of the result."""
    if strides is None:
        strides = ones_like(begin)
    result = _raw.StridedSlice(
        input_, begin, end, strides, begin_mask=begin_mask, end_mask=end_mask,
        ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask, name=name)
    if var is not None and isinstance(result, EagerTensor):
        masks = dict(begin_mask=begin_mask, end_mask=end_mask,
                     ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                     shrink_axis_mask=shrink_axis_mask)

        def assign(val, name=None):
            return var._strided_slice_assign(begin, end, strides, val, name,
                                             **masks)
        result.assign = assign
    elif var is not None:
        result.graph._sliced_variables[result.op._id] = var
    return result


def _slice_assign(sliced):
    """`v[...].assign(value)`: gives that part of the variable v a value."""
    op = sliced.op
    if op.type != "StridedSlice":
        raise AttributeError("'Tensor' object has no attribute 'assign'")
    var = sliced.graph._sliced_variables.get(op._id)

    def assign(val, name=None):
        if var is None:
            raise ValueError("Sliced assignment is only supported for "
                             "variables")
        masks = {m: op.get_attr(m) for m in (
            "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
            "shrink_axis_mask")}
        return var._strided_slice_assign(
            *op.inputs[1:], val, name or op.name + "/_assign", **masks)
    return assign


_slice = builtins.slice


def _getitem(tensor, key, var=None):
    """tensor[key]: numbers, slices, newaxis, ... and scalar tensors. `var`: the
    variable that `tensor` is the value of."""
    if isinstance(key, (list, tuple)):
        keys = list(key)
    elif isinstance(key, builtins.bool):
        raise ValueError("mask cannot be scalar.")
    elif (isinstance(key, Tensor) and key.dtype.base_dtype == dtypes.bool_) or (
            isinstance(key, np.ndarray) and key.dtype == bool):
        return boolean_mask(tensor, key)
    else:
        keys = [key]
    begin, end, strides = [], [], []
    masks = dict(begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                 shrink_axis_mask=0)
    for i, k in enumerate(keys):
        bit = 1 << i
        if isinstance(k, _slice):
            begin.append(_index(k.start, 0))
            end.append(_index(k.stop, 0))
            strides.append(_index(k.step, 1))
            masks["begin_mask"] |= bit if k.start is None else 0
            masks["end_mask"] |= bit if k.stop is None else 0
        elif k is Ellipsis:
            if masks["ellipsis_mask"]:
                raise ValueError("Multiple ellipses in slice spec not allowed")
            masks["ellipsis_mask"] |= bit
            begin.append(0), end.append(0), strides.append(1)
        elif k is None:
            masks["new_axis_mask"] |= bit
            begin.append(0), end.append(0), strides.append(1)
        else:
            k = _index(k, 0)
            begin.append(k), end.append(k + 1), strides.append(1)
            masks["shrink_axis_mask"] |= bit
    with name_scope(None, "strided_slice", [tensor] + begin + end) as scope:
        packed = [stack(v) if v else constant([], dtypes.int32)
                  for v in (begin, end, strides)]
        if any(p.dtype == dtypes.int64 for p in packed):
            packed = [p if p.dtype == dtypes.int64
                      else _raw.Cast(p, DstT=dtypes.int64) for p in packed]
        return strided_slice(tensor, *packed, name=scope, var=var, **masks)


def _index(k, default):
    if k is None:
        return default
    k = dimension_value(k)
    if not isinstance(k, Tensor) and hasattr(k, "_as_tensor"):
        k = convert_to_tensor(k)
    if isinstance(k, Tensor) and k._rank() in (None, 0):
        return k
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        return int(k)
    if isinstance(k, np.ndarray) and k.ndim == 0 and k.dtype.kind in "iu":
        return int(k)
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis "
                    "(`None`) and scalar tf.int32/tf.int64 tensors are valid "
                    "indices, got %r" % (k,))


Tensor.__getitem__ = (  # type: ignore
    lambda tensor, key: _getitem(tensor, key))
Tensor.assign = replaceable("assign", _slice_assign)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices of `tensor` where `mask` is true.

    `tensor`: of any type, at least [n]; `mask`: bool, or numbers that are true
    unless 0, whose shape is that of the dimensions of `tensor` from `axis` (0)
    on. The result has the type of `tensor`, with those dimensions as one: the
    number of true elements.
    ValueError for a scalar or unknown rank of the mask, and for shapes that do
    not fit."""
    with name_scope(name, None, [tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        axis = 0 if axis is None else axis
        n = mask._rank()
        if n is None:
            raise ValueError("Number of mask dimensions must be specified, "
                             "even if some dimensions are None.")
        if n == 0:
            raise ValueError("mask cannot be scalar.")
        static = tensor.get_shape()
        static[axis:axis + n].assert_is_compatible_with(mask.get_shape())
        leading = _raw.Prod(shape(tensor)[axis:axis + n], [0])
        tensor = _raw.Reshape(tensor, concat(
            [shape(tensor)[:axis], [leading], shape(tensor)[axis + n:]], 0))
        indices = _raw.Squeeze(_raw.Where(_raw.Reshape(mask, [-1])),
                               squeeze_dims=[1])
        return gather(tensor, indices, axis=axis)


@dispatched
def gather(params, indices, validate_indices=None, name=None, axis=None,
           batch_dims=0):
    """Slices of `params` along `axis` (0) at `indices`.

    `params`: of any type, at least [n]; `indices`: int32 or int64 of any shape.
    The result has the type of `params`, and the shape of `indices` in place of
    dimension `axis`. ValueError for an axis out of range; InvalidArgumentError
    in the run for an index out of range."""
    if axis is None:
        axis = batch_dims
    if getattr(params, "_is_resource", False) and not isinstance(
            axis, Tensor) and axis == 0 and batch_dims == 0:
        return params.sparse_read(indices, name=name)
    return _raw.GatherV2(params, indices, axis, batch_dims=batch_dims,
                         name=name)


@dispatched
def gather_nd(params, indices, name=None, batch_dims=0):
    """Elements or slices at index vectors in the last dimension of
    `indices`. Both have batch_dims leading dimensions in common.

    `params`: of any type, at least [n], whose type the result has; `indices`:
    int32 or int64 [..., k]. The result is indices.shape[:-1] +
    params.shape[k:]. ValueError if k is larger than the rank;
    InvalidArgumentError in the run for an index out of range."""
    known = constant_value(batch_dims)
    batch_dims = batch_dims if known is None else int(known)
    if not batch_dims:
        if getattr(params, "_is_resource", False):
            return params.gather_nd(indices, name=name)
        return _raw.GatherNd(params, indices, name=name)
    with name_scope(name, "BatchGatherND", [params, indices]):
        params = convert_to_tensor(params, name="params")
        indices = convert_to_tensor(indices, name="indices")
        if indices._rank() is None or params._rank() is None:
            raise ValueError("gather_nd with batch_dims needs params and "
                             "indices of known rank")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, x in ("indices", indices), ("params", params):
            if batch_dims >= x._rank():
                raise ValueError("batch_dims = %d must be less than rank(%s) = "
                                 "%d" % (batch_dims, what, x._rank()))
        # Each index vector gets the numbers of its batch before it.
        sizes = shape(indices, out_type=indices.dtype)
        columns = []
        for axis in builtins.range(batch_dims):
            place = [1] * indices._rank()
            place[axis] = -1
            numbers = _raw.Reshape(_raw.Range(
                constant(0, indices.dtype), sizes[axis],
                constant(1, indices.dtype)), place)
            columns.append(_raw.BroadcastTo(
                numbers, concat([sizes[:-1], constant([1], indices.dtype)],
                                0)))
        return _raw.GatherNd(params, concat(columns + [indices], -1))


@dispatched
def batch_gather(params, indices, name=None):
    """Of each example its own elements: params[i, indices[i]].

    `params`: of any type, [batch, n, ...]; `indices`: int32 or int64 [batch,
    m], or with more dimensions in front of both. ValueError for indices of
    unknown rank or of a higher one than params; InvalidArgumentError in the run
    for an index that leaves all of params: one that leaves only its own row
    reads another, as in TensorFlow. tf.gather with batch_dims checks each."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        rank = indices._rank()
        if rank is None:
            raise ValueError(
                "batch_gather does not allow indices with unknown shape.")
        if rank == 0 or (params._rank() or rank) < rank:
            raise ValueError("params of rank %s cannot be gathered by indices "
                             "of rank %d" % (params._rank(), rank))
        return _gather_of_each(params, indices, rank - 1)


def _gather_of_each(params, indices, batch_dims):
    """batch_gather by way of flat params, as TensorFlow makes it."""
    params_shape, indices_shape = shape(params), shape(indices)
    kind = indices.dtype.base_dtype
    flat, stride = indices, ones((), dtype=kind)
    sizes = _raw.Cast(params_shape, DstT=kind)
    for dim in range(batch_dims, 0, -1):
        count = sizes[dim - 1]
        stride *= sizes[dim]
        start = zeros((), dtype=kind)
        offsets = _raw.Range(start, count, ones((), dtype=kind)) * stride
        flat += reshape(offsets, stack([1] * (dim - 1) + [count] + [1] * (
            indices._rank() - dim)))
    flat = reshape(flat, [-1])
    inner = params_shape[batch_dims + 1:]
    rows = _raw.Prod(params_shape[:batch_dims + 1], [0])
    out = gather(reshape(params, concat([[rows], inner], 0)), flat)
    out = reshape(out, concat([indices_shape, inner], 0))
    outer = indices.get_shape()[:batch_dims].merge_with(
        params.get_shape()[:batch_dims])
    out.set_shape(outer.concatenate(
        indices.get_shape()[batch_dims:]).concatenate(
            params.get_shape()[batch_dims + 1:]))
    return out


@dispatched
def where(condition, x=None, y=None, name=None):
    """x where `condition` holds and y elsewhere; without both, the indices of
    the true elements, one a row.

    `condition`: bool, of the shape of x and y, or a vector that chooses among
    their rows, or a scalar. x and y: of one type and shape, which the result
    has. Without them, int64 [n, rank]. ValueError for one of both alone and for
    shapes that do not fit; TypeError for different types."""
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            return _raw.Where(convert_to_tensor(
                condition, dtype_hint=dtypes.bool_, name="condition"),
                name=scope)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return _raw.Select(condition, x, y, name=name)


def where_v2(condition, x=None, y=None, name=None):
    """As where, with broadcasting."""
    if x is None and y is None:
        return where(condition, name=name)
    return _raw.SelectV2(condition, x, y, name=name)


# Rearranging.

def transpose(a, perm=None, name="transpose", conjugate=False):
    """Dimensions in the order of `perm`; reversed without it.

    `a`: of any type. `perm`: int32 or int64 [rank], a permutation of 0, 1, ...
    The result has the type of `a`, and size a.shape[perm[i]] in dimension i.
    `conjugate`: complex numbers are conjugated too. ValueError for what is no
    permutation; InvalidArgumentError in the run if it was not known before."""
    with name_scope(name, "transpose", [a]) as scope:
        op = _raw.ConjugateTranspose if conjugate else _raw.Transpose
        if perm is None:
            a = convert_to_tensor(a, name="a")
            n = a._rank()
            if n:
                perm = (n - 1) - np.arange(n)
            else:
                r = _raw.Rank(a)
                perm = (r - 1) - _raw.Range(0, r, 1)
        return op(a, perm, name=scope)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """The last two dimensions swapped."""
    with name_scope(name, None, [a]):
        a = convert_to_tensor(a, name="a")
        n = a._rank()
        if n is None:
            r = _raw.Rank(a)
            perm = concat([_raw.Range(0, r - 2, 1), [r - 1, r - 2]], 0)
        elif n < 2:
            raise ValueError("Argument 'a' should be a (batch) matrix, with "
                             "rank >= 2. Found: %s" % a.get_shape())
        else:
            perm = list(builtins.range(n - 2)) + [n - 1, n - 2]
        return transpose(a, perm, conjugate=conjugate)


@dispatched
def tile(input, multiples, name=None):
    """`input` repeated multiples[i] times along each dimension.

    `input`: of any type, which the result has; `multiples`: int32 or int64
    [rank], not negative. ValueError for another length; InvalidArgumentError in
    the run for negative numbers."""
    return _raw.Tile(input, multiples, name=name)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """paddings[i] = (before, after) elements around dimension i: constants,
    or reflected ("REFLECT" without the border, "SYMMETRIC" with it).

    `tensor`: of any type, which the result has; `paddings`: int32 or int64
    [rank, 2], not negative. `constant_values`: a scalar of its type. ValueError
    for another mode or paddings of another shape; InvalidArgumentError in the
    run for reflections that are larger than the dimension."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if not is_tensor(constant_values) and constant_values == 0:
            return _raw.Pad(tensor, paddings, name=name)
        return _raw.PadV2(tensor, paddings, constant_values, name=name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError("Unknown padding mode: %s" % mode)
    return _raw.MirrorPad(tensor, paddings, mode=mode, name=name)


def reverse(tensor, axis, name=None):
    """The order turned round along the axes.

    `tensor`: of any type and shape, which the result has. `axis`: int32 or
    int64 [n], negative ones from the end. ValueError for an axis out of range
    or that is there twice, InvalidArgumentError if that is seen in the run."""
    return _raw.ReverseV2(tensor, axis, name=name)


reverse_v2 = reverse


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None,
                     name=None, seq_dim=None, batch_dim=None):
    """The first seq_lengths[i] elements of each row turned round."""
    seq_axis = _renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = _renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    return _raw.ReverseSequence(input, seq_lengths, seq_dim=seq_axis,
                                batch_dim=batch_axis or 0, name=name)


def get_static_value(tensor, partial=False):
    return constant_value(tensor, partial)


def no_op(name=None):
    """An Operation that does nothing: no shape, no dtype, None when it is run.
    Useful with control dependencies. ValueError for a name that nodes may not
    have."""
    return _raw.NoOp(name=name)


def guarantee_const(input, name=None):
    return _raw.GuaranteeConst(input, name=name)


def _last_node_id():
    return get_default_graph()._last_id
