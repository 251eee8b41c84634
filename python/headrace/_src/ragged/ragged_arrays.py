"""Ragged tensors rearranged: gathered, joined, masked, tiled, chosen."""
from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _check
from headrace._src.control.control_flow import Assert
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.math.math_special import argsort
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged.ragged_map import map_flat_values
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, convert, is_ragged, same_partition_dtype)


# Gathering.

def gather(params, indices, name=None):
    """The rows of `params` at `indices`; either may be ragged."""
    with name_scope(name, "RaggedGather"):
        params, indices = convert(params, name="params"), convert(
            indices, name="indices")
        same_partition_dtype(params, indices)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if not is_ragged(params):
            return _array.gather(params, indices)
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("indices.shape.ndims must be known statically")
        splits, values = _raw.RaggedGather(
            params.nested_row_splits, params.flat_values, indices,
            OUTPUT_RAGGED_RANK=rank + params.ragged_rank - 1)
        values.set_shape([None] + params.flat_values.get_shape().as_list()[1:]
                         if params.flat_values.get_shape().ndims else None)
        return RaggedTensor._from_flow_components([values] + list(splits))


def gather_nd(params, indices, name=None):
    """The elements or slices of `params` at index vectors; either may be
    ragged, but not in the last dimension of `indices`."""
    if not is_ragged(params) and not is_ragged(indices):
        return _array.gather_nd(params, indices, name)
    with name_scope(name, "RaggedGatherNd"):
        params, indices = convert(params, name="params"), convert(
            indices, name="indices")
        kind = same_partition_dtype(params, indices)
        shape = indices.shape
        if shape.ndims is None:
            raise ValueError("indices must have a known rank")
        if shape.ndims == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices) and shape.ndims == indices.ragged_rank + 1:
            raise ValueError("the last dimension of indices is ragged; index "
                             "vectors have one length")
        size = shape[-1].value
        if size is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if shape.ndims > 2:
            return _gather_nd_of_each(params, indices, kind)
        return _at_vectors(params, indices, size, kind)


def _gather_nd_of_each(params, indices, kind):
    """With index vectors in several dimensions."""
    outer = indices.shape.ndims - 2
    dense = not is_ragged(indices)
    if dense:
        indices = RaggedTensor.from_tensor(indices, ragged_rank=outer,
                                           row_splits_dtype=kind)
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if dense and is_ragged(result) and result.ragged_rank == outer:
        return result.to_tensor()
    return result


def _at_vectors(params, indices, size, kind):
    """`indices` has rank 1 or 2, `params` is ragged."""
    if size == 0:
        rank = params.shape.ndims
        for _ in range(indices.get_shape().ndims - 1):
            params = expand_dims(params, 0)
        return tile(params, _array.concat([
            _array.shape(indices)[:-1], _array.ones([rank], dtypes.int32)], 0))
    if size == 1:
        return gather(params, _raw.Reshape(indices, [-1]))
    indices = _math.cast(indices, kind)
    at = indices[..., 0]
    for dim in range(1, size):
        if not is_ragged(params):
            rest = _array.concat([_raw.ExpandDims(at, -1), indices[..., dim:]],
                                 -1)
            return _array.gather_nd(params, rest)
        at = _array.gather(params.row_splits, at) + indices[..., dim]
        params = params.values
    return gather(params, at)


def batch_gather(params, indices, name=None):
    """Of each row of `params` its elements at that row of `indices`."""
    if not is_ragged(params) and not is_ragged(indices):
        return _array.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather"):
        params, indices = convert(params, name="params"), convert(
            indices, name="indices")
        same_partition_dtype(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("indices must have a known rank")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices):
            return _batch_gather_ragged(params, indices, rank)
        if rank == 1:
            return gather(params, indices)
        if rank > 2:
            raise ValueError("batch shape from indices does not match params "
                             "shape")
        starts = _raw.ExpandDims(params.row_starts(), 1)
        return gather(params.values, _math.cast(
            indices, starts.dtype.base_dtype) + starts)


def _batch_gather_ragged(params, indices, rank):
    params_rank = params.shape.ndims
    if not is_ragged(params) and (rank > 2 or params_rank is not None
                                  and params_rank < 2):
        raise ValueError("batch shape from indices does not match params shape")
    if rank > 2:
        check = _check.assert_equal(params.row_splits, indices.row_splits)
        with control_dependencies([check]):
            return indices.with_values(batch_gather(params.values,
                                                    indices.values))
    if not is_ragged(params):
        params = RaggedTensor.from_tensor(
            params, row_splits_dtype=indices.row_splits.dtype.base_dtype)
    starts = _array.gather(params.row_starts(), indices.value_rowids())
    at = _math.cast(indices.values, starts.dtype.base_dtype) + starts
    return indices.with_values(gather(params.values, at))


# Joining.

def concat(values, axis, name=None):
    """Tensors, some of them ragged, one after the other along `axis`."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat"):
        return _joined(_all_converted(values), axis, stacked=False)


def stack(values, axis=0, name=None):
    """Tensors of one rank as slices of a new dimension `axis`, which need not
    have the same shape.

    `values`: a list of Tensors, RaggedTensors or what becomes one, of one type.
    The result is a RaggedTensor, but for the last dimension of plain tensors
    a Tensor. ValueError for no values, different ranks, types of row_splits
    that differ, and an axis out of range; the run fails if the slices do not
    fit."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    with name_scope(name, "RaggedConcat"):
        return _joined(_all_converted(values), axis, stacked=True)


def _all_converted(values):
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    values = [convert(x, name="rt_input") for x in values]
    same_partition_dtype(*values)
    return values


def _joined(values, axis, stacked):
    if len(values) == 1:
        return expand_dims(values[0], axis) if stacked else values[0]
    rank = values[0].shape.ndims
    for x in values[1:]:
        if rank is None:
            rank = x.shape.ndims
        else:
            x.shape.assert_has_rank(rank)
    out_rank = rank if rank is None or not stacked else rank + 1
    axis = _rows.positive_axis(axis, out_rank)
    if rank is not None and axis in (rank - 1, out_rank - 1) and not any(
            map(is_ragged, values)):
        return (_array.stack if stacked else _array.concat)(values, axis)
    if stacked:
        values = [expand_dims(x, axis) for x in _of_one_depth(values)]
    return _concat(values, axis)


def _of_one_depth(values):
    """All ragged, and of one ragged_rank."""
    kind = same_partition_dtype(*values)
    ragged_rank = max([1] + [x.ragged_rank for x in values if is_ragged(x)])
    return [_deeper(x, ragged_rank, kind) for x in values]


def _concat(values, axis):
    values = _of_one_depth(values)
    if axis == 0:
        return _concat_rows(values)
    if axis == 1:
        return _concat_columns(values)
    checks = _rows.check_same(*[[x.row_splits] for x in values])
    with control_dependencies(checks):
        inner = [x.values for x in values]
        joined = (_concat(inner, axis - 1) if any(map(is_ragged, inner))
                  or axis > 2 else _array.concat(inner, axis - 1))
        return values[0].with_values(joined)


def _deeper(value, ragged_rank, kind):
    """The same with at least this ragged_rank."""
    if ragged_rank < 1:
        return value
    if not is_ragged(value):
        value = RaggedTensor.from_tensor(value, row_splits_dtype=kind)
    if value.ragged_rank < ragged_rank:
        value = value.with_values(_deeper(value.values, ragged_rank - 1, kind))
    return value


def _concat_rows(values):
    flat = _array.concat([x.flat_values for x in values], 0)
    partitions = []
    for all_splits in zip(*[x.nested_row_splits for x in values]):
        pieces, offset = [all_splits[0]], all_splits[0][-1]
        for splits in all_splits[1:]:
            pieces.append(splits[1:] + offset)
            offset += splits[-1]
        partitions.append(_array.concat(pieces, 0))
    return RaggedTensor._from_flow_components([flat] + partitions)


def _concat_columns(values):
    """Row i of the result is rows i of the values. Their rows all come one
    after the other, are sorted, and every n of them become one."""
    n, rows = len(values), values[0].nrows()
    checks = [_check.assert_equal(
        x.nrows(), rows, message="Input tensors have incompatible shapes.")
        for x in values[1:]]
    with control_dependencies(checks):
        order = _raw.Reshape(_math.range(rows * n), _array.stack([n, -1]))
        order = _raw.Reshape(_raw.Transpose(order, [1, 0]), [-1])
        sorted_rows = gather(_concat_rows(values), order)
        splits = sorted_rows.row_splits[::n]
        for x in values:
            splits.set_shape([None if x.shape[0].value is None
                              else x.shape[0].value + 1])
        return RaggedTensor(sorted_rows.values, splits, internal=True)


# Dimensions.

def expand_dims(input, axis, name=None):
    """With a dimension of size 1 more."""
    with name_scope(name, "RaggedExpandDims"):
        input = convert(input, name="input")
        if not is_ragged(input):
            return _array.expand_dims(input, axis)
        rank = input.shape.ndims
        axis = _rows.positive_axis(axis, None if rank is None else rank + 1)
        if axis > 1:
            return input.with_values(expand_dims(input.values, axis - 1))
        rows = input.nrows()
        if axis == 0:
            splits = _array.stack([_array.zeros_like(rows), rows])
        else:
            splits = _math.range(rows + 1)
            known = input.shape[0].value
            splits.set_shape([None if known is None else known + 1])
        return RaggedTensor(input, splits, internal=True)


def squeeze(input, axis, name=None):
    """Without the dimensions `axis`, whose size must be 1."""
    with name_scope(name, "RaggedSqueeze"):
        input = convert(input)
        if axis is None:
            raise ValueError("squeeze of a RaggedTensor needs an axis")
        axes = [axis] if isinstance(axis, int) else axis
        if not isinstance(axes, (list, tuple)) or not all(
                isinstance(d, int) for d in axes):
            raise TypeError("Axis must be a list or tuple of integers.")
        axes = {_rows.positive_axis(d, input.shape.ndims) for d in axes}
        ragged_rank = input.ragged_rank
        flat = with_dependencies(_squeezable(input, axes), input.flat_values)
        inner = [d - ragged_rank for d in axes if d > ragged_rank]
        if inner:
            flat = _array.squeeze(flat, inner)
        # A dimension that goes takes the partition into it along, dimension 0
        # that of the next one.
        splits = [s for i, s in enumerate(input.nested_row_splits)
                  if i + 1 not in axes]
        if 0 in axes and splits:
            splits.pop(0)
        result = RaggedTensor._from_flow_components([flat] + splits)
        if axes.issuperset(range(ragged_rank + 1)):
            result = _array.squeeze(result, [0])
        return result


def _squeezable(input, axes):
    message = "the given axis (axis = %d) is not squeezable!"
    checks = [Assert(_math.reduce_all(_raw.Equal(lengths, 1)),
                     [message % axis])
              for axis, lengths in enumerate(input.nested_row_lengths(), 1)
              if axis in axes]
    if 0 in axes:
        checks.append(Assert(_raw.Equal(_array.size(input.row_splits), 2),
                             [message % 0]))
    return checks


def rank(input, name=None):
    """The number of dimensions."""
    with name_scope(name, "RaggedRank"):
        return input.ragged_rank + _array.rank(input.flat_values)


def tile(input, multiples, name=None):
    """`input`, ragged, multiples[i] times along dimension i."""
    with name_scope(name, "RaggedTile"):
        input = convert(input)
        kind = input.row_splits.dtype.base_dtype
        times = _rows.integers(multiples, "multiples", kind)
        times.get_shape().assert_has_rank(1)
        known = constant_value(times)
        # For each slice of the result in one dimension after the other: the
        # slice of the input that it is.
        at = _array.tile(_math.range(input.nrows()), times[:1])
        partitions = []
        for axis, splits in enumerate(input.nested_row_splits, 1):
            lengths = _array.gather(_rows.lengths_of(splits), at)
            starts = _array.gather(splits, at)
            limits = starts + lengths
            if known is None or known[axis] != 1:
                lengths = lengths * times[axis]
                starts = _rows.times_each(starts, times[axis])
                limits = _rows.times_each(limits, times[axis])
            partitions.append(_rows.splits_of(lengths))
            at = _rows.ranges(starts, limits)
        flat = _array.gather(input.flat_values, at)
        inner = input.ragged_rank + 1
        flat = _array.tile(
            flat, [1] + known.tolist()[inner:] if known is not None
            else _array.concat([_array.ones([1], kind), times[inner:]], 0))
        return RaggedTensor._from_flow_components([flat] + partitions)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None,
            dtype=None, name=None):
    """tf.one_hot of the values. `axis` counts dimensions of `indices`."""
    with name_scope(name, "RaggedOneHot"):
        indices = convert(indices)
        if axis is not None:
            axis = _rows.positive_axis(axis, indices.shape.ndims)
            if axis < indices.ragged_rank:
                raise ValueError("axis may not be less than "
                                 "indices.ragged_rank.")
        return indices.with_flat_values(_array.one_hot(
            indices.flat_values, depth, on_value, off_value, axis, dtype))


# Choosing.

def boolean_mask(data, mask, name=None):
    """The elements of `data` where `mask` is true. The result keeps the
    dimensions of the mask, the last of them ragged.

    `data` and `mask`: Tensors or RaggedTensors; the shape of the mask, of known
    rank, is that of the first dimensions of `data`. ValueError for a scalar
    mask and for different types of row_splits; the run fails if the rows
    differ."""
    with name_scope(name, "RaggedMask"):
        data = convert(data, name="data")
        mask = convert(mask, dtypes.bool_, "mask")
        kind = same_partition_dtype(data, mask)
        if mask.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if mask.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if mask.shape.ndims == 1:
            return _rows_where(data, mask)
        if not is_ragged(mask):
            mask = RaggedTensor.from_tensor(
                mask, row_splits_dtype=kind, ragged_rank=min(
                    mask.shape.ndims - 1, data.ragged_rank)
                if is_ragged(data) else mask.shape.ndims - 1)
        if not is_ragged(data):
            data = RaggedTensor.from_tensor(
                data, ragged_rank=mask.ragged_rank, row_splits_dtype=kind)
        return _masked(data, mask, kind)


def _rows_where(data, mask):
    """The rows for which a vector is true."""
    if not is_ragged(data):
        return _array.boolean_mask(data, mask)
    of_values = _array.gather(mask, data.value_rowids())
    lengths = _array.boolean_mask(_rows.lengths_of(data.row_splits), mask)
    return RaggedTensor(boolean_mask(data.values, of_values),
                        _rows.splits_of(lengths), internal=True)


def _masked(data, mask, kind):
    """Both are ragged, and have the rows of the mask."""
    depth = mask.ragged_rank
    checks = _rows.check_same(mask.nested_row_splits,
                              data.nested_row_splits[:depth])
    with control_dependencies(checks):
        partitions = list(mask.nested_row_splits)
        inner_mask, ids = mask.flat_values, None
        for level in range(depth):
            ids = data.value_rowids()
            data = data.values
        if inner_mask.get_shape().ndims == 1:
            lengths = _raw.UnsortedSegmentSum(
                _math.cast(inner_mask, kind), ids,
                _array.shape(partitions[-1], out_type=kind)[0] - 1)
            partitions[-1] = _rows.splits_of(lengths)
        values = boolean_mask(data, inner_mask)
        for splits in reversed(partitions):
            values = RaggedTensor(values, splits, internal=True)
        return values


def where(condition, x=None, y=None, name=None):
    """x where `condition` holds and y elsewhere, or the coordinates of its true
    elements. At least one of them is ragged."""
    if (x is None) != (y is None):
        raise ValueError("x and y go together: one of them is missing")
    with name_scope(name, "RaggedWhere"):
        condition = convert(condition, name="condition")
        if x is None:
            return _coordinates(condition)
        x, y = convert(x, name="x"), convert(y, name="y")
        kind = same_partition_dtype(condition, x, y)
        if all(map(is_ragged, (condition, x, y))):
            return map_flat_values(_array.where, condition, x, y)
        if is_ragged(condition):
            raise ValueError("condition is ragged, so x and y must be, too")
        condition.get_shape().assert_has_rank(1)
        x_rows, y_rows = (_math.range(
            t.nrows() if is_ragged(t) else _array.shape(t, out_type=kind)[0])
            for t in (x, y))
        rows = _raw.Select(condition, x_rows,
                           y_rows + _array.size(x_rows, out_type=kind))
        return gather(concat([x, y], 0), rows)


def _coordinates(condition):
    if not is_ragged(condition):
        return _array.where(condition)
    inner = _coordinates(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype.base_dtype)
    rows = _array.gather(condition.value_rowids(), inner[:, 0])
    columns = inner[:, 0] - _array.gather(condition.row_splits, rows)
    return _array.concat([_raw.ExpandDims(rows, 1), _raw.ExpandDims(columns, 1),
                          inner[:, 1:]], 1)


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """A RaggedTensor whose row i is the elements of `data` for which
    `partitions` is i, in their order.

    `data`: a Tensor or RaggedTensor; `partitions`: int32 or int64, of known
    rank, with the shape of its first dimensions; `num_partitions`: a scalar.
    ValueError for other ranks; the run fails for a partition that is not below
    num_partitions and for rows that differ."""
    with name_scope(name, "SegmentStack"):
        data = convert(data, name="data")
        kind = (data.row_splits.dtype.base_dtype if is_ragged(data) else None)
        partitions = convert(partitions, name="partitions", dtype_hint=kind)
        if kind is not None:
            partitions = map_flat_values(_math.cast, partitions, kind)
        count = _math.cast(convert_to_tensor(
            num_partitions, name="num_partitions",
            dtype_hint=partitions.dtype.base_dtype),
            partitions.dtype.base_dtype)
        rank = partitions.shape.ndims
        if rank is None:
            raise ValueError("partitions must have known rank.")
        count.get_shape().assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            return RaggedTensor.from_value_rowids(
                stack([data]), _array.stack([partitions]), count,
                validate=False)
        if rank == 1:
            return _stacked(data, partitions, count)
        return _stacked_inner(data, partitions, num_partitions, rank)


def _stacked(data, partitions, count):
    order = argsort(partitions, stable=True)
    ids = _array.gather(partitions, order)
    check = _check.assert_less(
        ids[-1:], count, message="partitions must be less than num_partitions")
    with control_dependencies([check]):
        return RaggedTensor.from_value_rowids(gather(data, order), ids, count,
                                              validate=False)


def _stacked_inner(data, partitions, num_partitions, rank):
    """Without the outermost dimension, which `partitions` has too."""
    kind = (partitions.row_splits.dtype.base_dtype if is_ragged(partitions)
            else partitions.dtype.base_dtype)
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=kind)
    if not is_ragged(partitions):
        partitions = RaggedTensor.from_tensor(
            partitions, row_splits_dtype=kind,
            ragged_rank=max(1, min(data.ragged_rank, rank - 1)))
    check = _check.assert_equal(
        data.row_splits, partitions.row_splits,
        message="data and partitions have incompatible ragged shapes")
    with control_dependencies([check]):
        return stack_dynamic_partitions(data.values, partitions.values,
                                        num_partitions)


def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of the rows of stack_dynamic_partitions."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    rows = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [rows[i] for i in range(num_partitions)]


