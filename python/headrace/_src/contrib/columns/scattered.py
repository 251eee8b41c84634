"""tf.contrib.layers: embeddings that share the numbers of one vector."""
from headrace._src.contrib.columns.sparse import sparse_feature_cross
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.math import math_special as _segments
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse
from headrace._src.variables.partitions import PartitionedVariable


def _parts(params):
    if isinstance(params, PartitionedVariable):
        params = list(params)
    return params if isinstance(params, list) else [params]


def _check_parts(parts):
    """How many numbers the vectors have together. ValueError if they are not as
    long as the parts of a vector that is divided evenly."""
    sizes = []
    for part in parts:
        shape = part.get_shape()
        shape.assert_has_rank(1)
        shape.assert_is_fully_defined()
        sizes.append(shape[0].value)
    total = sum(sizes)
    for i, size in enumerate(sizes):
        wanted = (total - i - 1) // len(sizes) + 1
        if size != wanted:
            raise ValueError("Tensor %d in params has size %d, expected %d."
                             % (i, size, wanted))
    return total


def scattered_embedding_lookup(params, values, dimension, name=None,
                               hash_key=None):
    """Embeddings [..., dimension] of `values`, strings or integers of any shape:
    numbers at hashed places of `params`, a vector or a list of its parts.
    ValueError without a dimension above 0, and for parts of uneven lengths."""
    if dimension is None:
        raise ValueError("You must specify dimension.")
    parts = _parts(params)
    with name_scope(name, "scattered_embedding_lookup",
                    parts + [dimension, values]):
        shape = _array.shape(values)
        values = _array.reshape(values, [-1, 1])
        if dimension <= 0:
            raise ValueError("Dimension must be >0. Given is %d" % dimension)
        places = _array.tile(
            _array.expand_dims(_math.range(0, dimension), 0),
            _array.shape(values))
        ids = _sparse.sparse_tensor_to_dense(sparse_feature_cross(
            [places, values], hashed_output=True,
            num_buckets=_check_parts(parts), hash_key=hash_key))
        found = embedding_lookup(parts, ids, partition_strategy="div")
        return _array.reshape(found, _array.concat([shape, [dimension]], 0))


def scattered_embedding_lookup_sparse(params, sparse_values, dimension,
                                      combiner=None, default_value=None,
                                      name=None, hash_key=None):
    """Of each row of a SparseTensor the combined embeddings, as
    scattered_embedding_lookup's: [rows, dimension].

    `combiner`: "mean", "sqrtn" or "sum". `default_value`: what rows without a
    value have. TypeError for another tensor; ValueError for another combiner."""
    parts = _parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with name_scope(name, "scattered_embedding_lookup_sparse",
                    parts + [sparse_values]) as scope:
        if default_value is None:  # what no program has
            default_value = ("6ZxWzWOHxZ" if sparse_values.dtype
                             == dtypes.string else 1288896567)
        filled, _ = _sparse.sparse_fill_empty_rows(sparse_values,
                                                   default_value)
        rows = _math.cast(filled.indices[:, 0], dtypes.int32)
        values, places = _special.unique(filled.values)
        embeddings = scattered_embedding_lookup(parts, values, dimension,
                                                hash_key=hash_key)
        combine = {None: _segments.sparse_segment_mean,
                   "mean": _segments.sparse_segment_mean,
                   "sqrtn": _segments.sparse_segment_sqrt_n,
                   "sum": _segments.sparse_segment_sum}.get(combiner)
        if combine is None:
            raise ValueError("Combiner must be one of 'mean', 'sqrtn' or "
                             "'sum'.")
        return combine(embeddings, places, rows, name=scope)
