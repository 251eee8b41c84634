"""Partitioners, which say into how many slices get_variable cuts a variable,
and create_partitioned_variables."""
import math

from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.scopes import get_variable_scope, variable_scope


def fixed_size_partitioner(num_shards, axis=0):
    """A partitioner that cuts `axis` into `num_shards` slices, or as many as it
    has elements."""
    def partitioner(shape, **unused):
        slices = [1] * len(shape)
        slices[axis] = min(num_shards, shape[axis].value)
        return slices
    return partitioner


def variable_axis_size_partitioner(max_shard_bytes, axis=0,
                                   bytes_per_string_element=16,
                                   max_shards=None):
    """A partitioner that cuts `axis` so that no slice has more than
    `max_shard_bytes`, as long as that takes no more than `max_shards`."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element "
                         "must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def partitioner(shape, dtype):
        if not isinstance(shape, TensorShape):
            raise ValueError("shape is not a TensorShape: %s" % (shape,))
        if not shape.is_fully_defined():
            raise ValueError("shape is not fully defined: %s" % shape)
        if not isinstance(dtype, _dtypes.DType):
            raise ValueError("dtype is not a DType: %s" % (dtype,))
        length = shape[axis].value
        row_bytes = shape.num_elements() / length * _element_bytes(
            dtype, bytes_per_string_element)
        rows = max(1, math.floor(max_shard_bytes / row_bytes))
        slices = [1] * shape.ndims
        slices[axis] = math.ceil(length / rows)
        if max_shards:
            slices[axis] = min(max_shards, slices[axis])
        return slices
    return partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0,
                                 min_slice_size=256 << 10,
                                 bytes_per_string_element=16):
    """A partitioner that cuts `axis` into slices of at least `min_slice_size`
    bytes, and into at most `max_partitions`."""
    def partitioner(shape, dtype):
        if axis >= len(shape):
            raise ValueError("Can not partition variable along axis %d when "
                             "shape is only %s" % (axis, shape))
        total = shape.num_elements() * _element_bytes(
            dtype, bytes_per_string_element)
        slices = [1] * len(shape)
        slices[axis] = max(1, min(shape[axis].value, max_partitions,
                                  math.ceil(total / min_slice_size)))
        return slices
    return partitioner


def _element_bytes(dtype, string_bytes):
    return string_bytes if dtype.base_dtype == _dtypes.string else dtype.size


def create_partitioned_variables(shape, slicing, initializer,
                                 dtype=_dtypes.float32, trainable=True,
                                 collections=None, name=None, reuse=None):
    """A list of variables that are the slices of one of `shape`: slicing[i]
    along axis i, of which one may be more than 1."""
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable "
                         "must have the length: shape: %s, slicing: %s"
                         % (shape, slicing))
    if len(shape) < 1:
        raise ValueError("A partitioned Variable must have rank at least 1: "
                         "shape: %s" % (shape,))
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        return list(get_variable_scope()._get_partitioned(
            None, shape=shape, dtype=dtype, initializer=initializer,
            trainable=trainable, collections=collections,
            partitioner=lambda **unused: slicing))
