"""Functions of tensorflow.python.ops with the arguments that they have in
TensorFlow 2, whose names end in _v2: arrays, numbers, strings, sparse tensors.
What they do is said at the functions of 1.x, which do it."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.autograph import api as _autograph
from headrace._src.control import check_ops as _checks
from headrace._src.control import control_flow as _control
from headrace._src.control import control_flow_ops as _control_ops
from headrace._src.feature_column import columns as _columns
from headrace._src.framework import dtypes
from headrace._src.framework.graph import device as _device
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import constant as _constant
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.io import parsing_ops as _parsing
from headrace._src.math import linalg_ops as _linalg
from headrace._src.math import math_special as _special
from headrace._src.ops import array_ops as _array
from headrace._src.ops import blocks as _blocks
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops import string_ops as _strings
from headrace._src.ops.sparse_tensor import SparseTensor, as_sparse
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.training import gradients as _gradients


def device_v2(device_name):
    """tf.device of a name; RuntimeError for a function."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return _device(device_name)


def to_graph_v2(entity, recursive=True, experimental_optional_features=None):
    """tf.autograph.to_graph."""
    return _autograph.to_graph(
        entity, recursive,
        experimental_optional_features=experimental_optional_features)


def to_code_v2(entity, recursive=True, experimental_optional_features=None):
    """tf.autograph.to_code."""
    return _autograph.to_code(
        entity, recursive,
        experimental_optional_features=experimental_optional_features)


def vocabulary_file_column_v2(key, vocabulary_file, vocabulary_size=None,
                              dtype=dtypes.string, default_value=None,
                              num_oov_buckets=0):
    return _columns.categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value,
        dtype)


def shared_embedding_columns_v2(
        categorical_columns, dimension, combiner="mean", initializer=None,
        shared_embedding_collection_name=None, ckpt_to_load_from=None,
        tensor_name_in_ckpt=None, max_norm=None, trainable=True):
    return _columns.shared_embedding_columns(
        categorical_columns, dimension, combiner, initializer,
        shared_embedding_collection_name, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable)


# Arrays.

def constant(value, dtype=None, shape=None, name="Const"):
    """tf.constant, of which `shape` has as many elements as the value, unless
    that is of one element; TypeError for others."""
    if shape is not None:
        size = np.size(value)
        shape = TensorShape(shape)
        if size != shape.num_elements() and size != 1:
            raise TypeError("Expected Tensor's shape: %s, got %s."
                            % (tuple(shape.as_list()), np.shape(value)))
    return _constant(value, dtype, shape, name)


def expand_dims_v2(input, axis, name=None):
    return _array.expand_dims(input, axis, name)


def shape_v2(input, out_type=dtypes.int32, name=None):
    return _array.shape(input, name, out_type)


def size_v2(input, out_type=dtypes.int32, name=None):
    return _array.size(input, name, out_type)


def boolean_mask_v2(tensor, mask, axis=None, name="boolean_mask"):
    return _array.boolean_mask(tensor, mask, name, axis)


def transpose_v2(a, perm=None, conjugate=False, name="transpose"):
    return _array.transpose(a, perm, name, conjugate)


def zeros_like_v2(input, dtype=None, name=None):
    return _array.zeros_like(input, dtype, name)


def ones_like_v2(input, dtype=None, name=None):
    return _array.ones_like(input, dtype, name)


def pad_v2(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    return _array.pad(tensor, paddings, mode, name, constant_values)


def squeeze_v2(input, axis=None, name=None):
    return _array.squeeze(input, axis, name)


def gather_v2(params, indices, validate_indices=None, axis=None, batch_dims=0,
              name=None):
    return _array.gather(params, indices, validate_indices, name, axis,
                         batch_dims)


def gather_nd_v2(params, indices, batch_dims=0, name=None):
    return _array.gather_nd(params, indices, name, batch_dims)


def reverse_sequence_v2(input, seq_lengths, seq_axis=None, batch_axis=None,
                        name=None):
    return _array.reverse_sequence(input, seq_lengths, seq_axis, batch_axis,
                                   name)


def space_to_batch_v2(input, block_shape, paddings, name=None):
    return _raw.SpaceToBatchND(input, block_shape, paddings, name=name)


def batch_to_space_v2(input, block_shape, crops, name=None):
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return _raw.BatchToSpaceND(input, block_shape, crops, name=name)


def space_to_depth_v2(input, block_size, data_format="NHWC", name=None):
    return _blocks.space_to_depth(input, block_size, name, data_format)


def depth_to_space_v2(input, block_size, data_format="NHWC", name=None):
    return _blocks.depth_to_space(input, block_size, name, data_format)


# Numbers.

def argmax_v2(input, axis=None, output_type=dtypes.int64, name=None):
    """Along axis 0 by default."""
    return _raw.ArgMax(input, 0 if axis is None else axis,
                       output_type=output_type, name=name)


def argmin_v2(input, axis=None, output_type=dtypes.int64, name=None):
    """Along axis 0 by default."""
    return _raw.ArgMin(input, 0 if axis is None else axis,
                       output_type=output_type, name=name)


def scalar_mul_v2(scalar, x, name=None):
    return _math.scalar_mul(scalar, x, name)


def _reduction(reduce):
    def reduced(input_tensor, axis=None, keepdims=False, name=None):
        return reduce(input_tensor, axis, bool(keepdims), name)
    reduced.__name__ = reduced.__qualname__ = reduce.__name__
    reduced.__doc__ = "tf.%s, whose `keepdims` is False by default." % (
        reduce.__name__)
    return reduced


reduce_all_v2 = _reduction(_math.reduce_all)
reduce_any_v2 = _reduction(_math.reduce_any)
reduce_logsumexp_v2 = _reduction(_math.reduce_logsumexp)
reduce_max_v2 = _reduction(_math.reduce_max)
reduce_mean_v2 = _reduction(_math.reduce_mean)
reduce_min_v2 = _reduction(_math.reduce_min)
reduce_prod_v2 = _reduction(_math.reduce_prod)
reduce_sum_v2 = _reduction(_math.reduce_sum)


def bincount_v2(arr, weights=None, minlength=None, maxlength=None,
                dtype=dtypes.int32, name=None):
    with name_scope(name or "bincount"):
        return _special.bincount(arr, weights, minlength, maxlength, dtype)


def confusion_matrix_v2(labels, predictions, num_classes=None, weights=None,
                        dtype=dtypes.int32, name=None):
    return _special.confusion_matrix(labels, predictions, num_classes, dtype,
                                     name, weights)


def count_nonzero_v2(input, axis=None, keepdims=None, dtype=dtypes.int64,
                     name=None):
    return _math.count_nonzero(input, axis, keepdims, dtype, name)


def sparse_segment_sum_v2(data, indices, segment_ids, num_segments=None,
                          name=None):
    return _special.sparse_segment_sum(data, indices, segment_ids, name,
                                       num_segments)


def sparse_segment_mean_v2(data, indices, segment_ids, num_segments=None,
                           name=None):
    return _special.sparse_segment_mean(data, indices, segment_ids, name,
                                        num_segments)


def sparse_segment_sqrt_n_v2(data, indices, segment_ids, num_segments=None,
                             name=None):
    return _special.sparse_segment_sqrt_n(data, indices, segment_ids, name,
                                          num_segments)


def norm_v2(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    return _linalg.norm(tensor, ord, axis, keepdims, name)


def random_poisson_v2(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    return _random.random_poisson(lam, shape, dtype, seed, name)


def parameterized_truncated_normal(
        shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0,
        dtype=dtypes.float32, seed=None, name=None):
    """Normal values between minvals and maxvals; shape[0] is the number of
    means, if they are several."""
    with name_scope(name, "parameterized_truncated_normal",
                    [shape, means, stddevs, minvals, maxvals]):
        first, second = _random.get_seed(seed)
        return _raw.ParameterizedTruncatedNormal(
            _random._shape(shape),
            *(convert_to_tensor(x, dtype=dtype, name=what) for x, what in (
                (means, "means"), (stddevs, "stddevs"), (minvals, "minvals"),
                (maxvals, "maxvals"))),
            seed=first or 0, seed2=second or 0)


def verify_tensor_all_finite_v2(x, message, name=None):
    return _control_ops.verify_tensor_all_finite(x, message, name)


# Checks.

def _of_one(check):
    def assert_v2(x, message=None, summarize=None, name=None):
        return check(x, None, summarize, message, name)
    return assert_v2


def _of_two(check):
    def assert_v2(x, y, message=None, summarize=None, name=None):
        return check(x, y, None, summarize, message, name)
    return assert_v2


assert_negative_v2 = _of_one(_checks.assert_negative)
assert_positive_v2 = _of_one(_checks.assert_positive)
assert_non_negative_v2 = _of_one(_checks.assert_non_negative)
assert_non_positive_v2 = _of_one(_checks.assert_non_positive)
assert_equal_v2 = _of_two(_checks.assert_equal)
assert_less_v2 = _of_two(_checks.assert_less)
assert_less_equal_v2 = _of_two(_checks.assert_less_equal)
assert_greater_v2 = _of_two(_checks.assert_greater)
assert_greater_equal_v2 = _of_two(_checks.assert_greater_equal)


def assert_none_equal_v2(x, y, summarize=None, message=None, name=None):
    return _checks.assert_none_equal(x, y, None, summarize, message, name)


def assert_near_v2(x, y, rtol=None, atol=None, message=None, summarize=None,
                   name=None):
    return _checks.assert_near(x, y, rtol, atol, None, summarize, message, name)


def assert_rank_v2(x, rank, message=None, name=None):
    return _checks.assert_rank(x, rank, message=message, name=name)


def assert_rank_at_least_v2(x, rank, message=None, name=None):
    return _checks.assert_rank_at_least(x, rank, message=message, name=name)


def assert_rank_in_v2(x, ranks, message=None, name=None):
    return _checks.assert_rank_in(x, ranks, message=message, name=name)


def assert_scalar_v2(tensor, message=None, name=None):
    return _checks.assert_scalar(tensor, name, message)


assert_integer_v2 = _checks.assert_integer
assert_type_v2 = _checks.assert_type
assert_shapes_v2 = _checks.assert_shapes


# Control flow and gradients.

def while_loop_v2(cond, body, loop_vars, shape_invariants=None,
                  parallel_iterations=10, back_prop=True, swap_memory=False,
                  maximum_iterations=None, name=None):
    """A loop of one variable also returns a structure like loop_vars."""
    return _control.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations,
        back_prop, swap_memory, name, maximum_iterations,
        return_same_structure=True)


def cond_for_tf_v2(pred, true_fn=None, false_fn=None, name=None):
    return _control.cond(pred, true_fn, false_fn, strict=True, name=name)


def case_v2(pred_fn_pairs, default=None, exclusive=False, strict=False,
            name="case"):
    return _control.case(pred_fn_pairs, default, exclusive, strict, name)


def tuple_v2(tensors, control_inputs=None, name=None):
    return _control_ops.tuple(tensors, name, control_inputs)


def HessiansV2(ys, xs, gate_gradients=False, aggregation_method=None,
               name="hessians"):
    return _gradients.hessians(ys, xs, name, True, gate_gradients,
                               aggregation_method)


# Strings and examples.

def reduce_join_v2(inputs, axis=None, keepdims=False, separator="", name=None):
    return _strings.reduce_join(inputs, axis, keepdims, separator, name)


def string_length_v2(input, unit="BYTE", name=None):
    return _strings.string_length(input, name, unit)


def substr_v2(input, pos, len, unit="BYTE", name=None):
    return _strings.substr(input, pos, len, name, unit)


def ragged_split(input, sep=None, maxsplit=-1, name=None):
    return _strings.split(input, sep, maxsplit, "RaggedTensor", name=name)


def string_split_v2(source, sep=None, maxsplit=-1):
    return _strings.split(source, sep, maxsplit)


def decode_raw_v2(input_bytes, out_type, little_endian=True, fixed_length=None,
                  name=None):
    """tf.decode_raw. Strings may have any length if `fixed_length` is given:
    each counts as one of so many bytes, longer ones are cut, and zeros follow
    shorter ones."""
    if fixed_length is None:
        return _strings.decode_raw(input_bytes, out_type, little_endian, name)
    return _raw.DecodePaddedRaw(
        input_bytes, fixed_length, out_type=out_type,
        little_endian=little_endian, name=name)


def string_to_number(input, out_type=dtypes.float32, name=None):
    return _strings.string_to_number(input, out_type, name)


def string_to_hash_bucket(input, num_buckets, name=None):
    return _strings.string_to_hash_bucket(input, num_buckets, name)


def parse_example_v2(serialized, features, example_names=None, name=None):
    return _parsing.parse_example(serialized, features, name, example_names)


def parse_single_example_v2_unoptimized(serialized, features,
                                        example_names=None, name=None):
    return _parsing.parse_single_example(serialized, features, name,
                                         example_names)


def decode_csv_v2(records, record_defaults, field_delim=",",
                  use_quote_delim=True, na_value="", select_cols=None,
                  name=None):
    return _parsing.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, name, na_value,
        select_cols)


# Sparse tensors.

def sparse_concat_v2(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    return _sparse.sparse_concat(axis, sp_inputs, name, expand_nonconcat_dims)


def sparse_add_v2(a, b, threshold=0):
    return _sparse.sparse_add(a, b, threshold)


def sparse_split_v2(sp_input=None, num_split=None, axis=None, name=None):
    return _sparse.sparse_split(sp_input=sp_input, num_split=num_split,
                                axis=axis, name=name)


def _reduced(op, sp_input, axis, keepdims, output_is_sparse, name):
    op = getattr(_raw, op + "Sparse" * output_is_sparse)
    out = op(sp_input.indices, sp_input.values, sp_input.dense_shape,
             _sparse._reduction_axes(sp_input, axis, None),
             keep_dims=bool(keepdims), name=name)
    return SparseTensor(*out) if output_is_sparse else out


def sparse_reduce_max_v2(sp_input, axis=None, keepdims=None,
                         output_is_sparse=False, name=None):
    return _reduced("SparseReduceMax", as_sparse(sp_input), axis, keepdims,
                    output_is_sparse, name)


def sparse_reduce_sum_v2(sp_input, axis=None, keepdims=None,
                         output_is_sparse=False, name=None):
    return _reduced("SparseReduceSum", as_sparse(sp_input), axis, keepdims,
                    output_is_sparse, name)


def serialize_sparse_v2(sp_input, out_type=dtypes.string, name=None):
    return _sparse.serialize_sparse(sp_input, name, out_type)


def serialize_many_sparse_v2(sp_input, out_type=dtypes.string, name=None):
    return _sparse.serialize_many_sparse(sp_input, name, out_type)
