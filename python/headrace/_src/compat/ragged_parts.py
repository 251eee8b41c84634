"""What programs use of tensorflow.python.ops.ragged beyond the interface."""
from headrace import raw_ops as _raw
from headrace._src.control.check_ops import assert_equal
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import dtypes, nest
from headrace._src.framework import tensor as _tensor
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant
from headrace._src.math.math_special import (
    unsorted_segment_mean, unsorted_segment_sqrt_n)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _array_special
from headrace._src.ops import math_ops as _math
from headrace._src.ragged.ragged_tensor import (
    RaggedTensor, convert, is_ragged, same_partition_dtype)


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None,
                                       name=None):
    """`convert`, with TensorFlow's order of arguments."""
    return convert(value, dtype, name, preferred_dtype)


def match_row_splits_dtypes(*tensors, **kwargs):
    """The tensors, whose ragged ones have the same type of row_splits; with
    `return_dtype` (that type, the tensors). ValueError if they differ."""
    wants_dtype = kwargs.pop("return_dtype", False)
    if kwargs:
        raise ValueError("Unexpected keyword args %r" % kwargs)
    dtype = same_partition_dtype(*tensors)
    return (dtype, tensors) if wants_dtype else tensors


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, name=None,
                row_splits_dtype=dtypes.int64):
    """RaggedTensor.from_tensor."""
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name,
                                    row_splits_dtype)


def to_tensor(rt_input, default_value=None, name=None):
    """RaggedTensor.to_tensor; a dense tensor is its own."""
    rt_input = convert(rt_input)
    return (rt_input.to_tensor(default_value, name) if is_ragged(rt_input)
            else rt_input)


def from_sparse(st_input, name=None, row_splits_dtype=dtypes.int64):
    """RaggedTensor.from_sparse."""
    return RaggedTensor.from_sparse(st_input, name, row_splits_dtype)


def to_sparse(rt_input, name=None):
    """RaggedTensor.to_sparse."""
    return convert(rt_input).to_sparse(name)


def convert_to_int_tensor(tensor, name, dtype=dtypes.int32):
    """An integer tensor of this type. TypeError for another."""
    tensor = _tensor.convert_to_tensor(tensor, name=name,
                                       preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise TypeError("%s must be an integer tensor; dtype=%s"
                        % (name, tensor.dtype))
    return _math.cast(tensor, dtype)


def get_positive_axis(axis, ndims):
    """An axis counted from the first. TypeError for what is no int, ValueError
    for one out of range, and for a negative one of an unknown rank."""
    if not isinstance(axis, int):
        raise TypeError("axis must be an int; got %s" % type(axis).__name__)
    if ndims is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically "
                             "known.")
        return axis
    if not -ndims <= axis < ndims:
        raise ValueError("axis=%s out of bounds: expected %s<=axis<%s"
                         % (axis, -ndims, ndims))
    return axis % ndims


def lengths_to_splits(lengths):
    """The row_splits of row lengths."""
    return _array.concat([[0], _math.cumsum(lengths)], axis=-1)


def repeat_ranges(params, splits, repeats):
    """The rows params[splits[i]:splits[i + 1]], each repeated as often as
    repeats[i], or `repeats`, says."""
    splits, repeats = (_tensor.convert_to_tensor(x) for x in (splits, repeats))
    starts, limits = (_array_special.repeat(x, repeats, axis=0)
                      for x in (splits[:-1], splits[1:]))
    rows = _raw.RaggedRange(starts=starts, limits=limits,
                            deltas=_array.ones([], starts.dtype))
    return _array.gather(params, rows.rt_dense_values)


def assert_splits_match(nested_splits_lists):
    """Checks that the lists of row_splits are equal. ValueError if there are not
    as many of them."""
    message = "Inputs must have identical ragged splits"
    first, *others = nested_splits_lists
    if any(len(splits) != len(first) for splits in others):
        raise ValueError(message)
    return [assert_equal(a, b, message=message) for splits in others
            for a, b in zip(first, splits)]


class RaggedTensorType:
    """What a function that is mapped gives: a RaggedTensor of these types, with
    `ragged_rank` counted as in the result of map_fn."""

    def __init__(self, dtype, ragged_rank, row_splits_dtype=dtypes.int64):
        self.dtype = dtype
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    def _part_types(self):
        return [self.dtype] + [self.row_splits_dtype] * self.ragged_rank

    def _parts(self, value):
        """The innermost values of a result, and the lengths of its rows from
        the innermost dimension outwards."""
        depth = value.ragged_rank if is_ragged(value) else 0
        if depth + 1 != self.ragged_rank:
            raise ValueError("The declared ragged rank (%d) mismatches the "
                             "result (%d)" % (self.ragged_rank, depth + 1))
        if value.dtype != self.dtype:
            raise ValueError("The declared dtype (%s) mismatches the result "
                             "(%s)" % (self.dtype, value.dtype))
        if not depth:
            rows = _array.shape(value, out_type=self.row_splits_dtype)[0]
            return [value, _array.expand_dims(rows, 0)]
        if value.row_splits.dtype.base_dtype != self.row_splits_dtype:
            raise ValueError(
                "The declared row_splits dtype (%s) mismatches the result (%s)."
                "  Use RaggedTensor.with_row_splits_dtype to convert it."
                % (self.row_splits_dtype, value.row_splits.dtype))
        lengths = [splits[1:] - splits[:-1]
                   for splits in reversed(value.nested_row_splits)]
        return [value.flat_values] + lengths + [
            _array.expand_dims(value.nrows(), 0)]

    def _of_arrays(self, arrays):
        value = arrays[0].concat()
        for lengths in arrays[1:]:
            value = RaggedTensor.from_row_lengths(value, lengths.concat(),
                                                  validate=False)
        return value


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True,
           swap_memory=False, infer_shape=True, name=None):
    """tf.map_fn whose `elems` may be ragged, and its results where `dtype` has a
    RaggedTensorType."""
    if not callable(fn):
        raise TypeError("fn must be callable.")
    with name_scope(name, "map"):
        flat = [convert(x, name="elem") for x in nest.flatten(elems)]
        same_partition_dtype(*flat)
        if any(x.shape.ndims == 0 for x in flat):
            raise ValueError("elems must be 1+ dimensional Tensors, not "
                             "scalars")
        like = elems if dtype is None else dtype
        types = [x.dtype.base_dtype for x in flat] if dtype is None else (
            nest.flatten(dtype))
        first = flat[0]
        n = (first.nrows(out_type=dtypes.int32) if is_ragged(first)
             else _array.shape(first)[0])
        arrays = [[TensorArray(part, size=n, infer_shape=infer_shape)
                   for part in _part_types(t)] for t in types]

        def compute(i, arrays):
            values = nest.pack_sequence_as(elems, [x[i] for x in flat])
            results = nest.flatten(fn(values))
            return i + 1, [
                [array.write(i, part) for array, part in zip(group, parts)]
                for group, parts in zip(arrays, [
                    t._parts(r) if isinstance(t, RaggedTensorType) else [r]
                    for t, r in zip(types, results)])]

        _, arrays = while_loop(
            lambda i, _: i < n, compute, (constant(0), arrays),
            parallel_iterations=parallel_iterations or 10, back_prop=back_prop,
            swap_memory=swap_memory, maximum_iterations=n)
        return nest.pack_sequence_as(like, [
            t._of_arrays(group) if isinstance(t, RaggedTensorType)
            else group[0].stack() for t, group in zip(types, arrays)])


def _part_types(kind):
    return (kind._part_types() if isinstance(kind, RaggedTensorType)
            else [dtypes.as_dtype(kind)])


# The segments' numbers need not be sorted.
segment_max = _raw.UnsortedSegmentMax
segment_min = _raw.UnsortedSegmentMin
segment_prod = _raw.UnsortedSegmentProd
segment_sum = _raw.UnsortedSegmentSum
segment_mean = unsorted_segment_mean
segment_sqrt_n = unsorted_segment_sqrt_n
