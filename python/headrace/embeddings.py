"""Look-ups of embeddings, which are rows of a table, by dense or sparse ids."""
from headrace import array_ops as _array
from headrace import dtypes
from headrace import math_ops as _math
from headrace import raw_ops as _raw
from headrace.graph import colocate_with, name_scope
from headrace.sparse_ops import SparseTensor
from headrace.tensor import convert_to_tensor


def embedding_lookup(params, ids, partition_strategy="mod", name=None,
                     validate_indices=True, max_norm=None):
    """Rows of `params`, a tensor or variable, at `ids`."""
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise NotImplementedError(
                "embedding_lookup: params in several parts are not supported "
                "yet")
        params = params[0]
    with name_scope(name, "embedding_lookup", [params, ids]) as scope:
        if not hasattr(params, "op"):
            params = convert_to_tensor(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        with colocate_with(params.op):
            rows = _array.gather(params, ids, name=scope)
            if max_norm is not None:
                rows = _math.clip_by_norm(
                    rows, max_norm, axes=list(range(ids._rank(), rows._rank())))
            return _raw.Identity(rows)


def embedding_lookup_sparse(params, sp_ids, sp_weights,
                            partition_strategy="mod", name=None, combiner=None,
                            max_norm=None):
    """For each row of `sp_ids` the embeddings of its ids, times `sp_weights`
    (None: 1), combined by "mean" (the default), "sum" or "sqrtn": the sum over
    the root of the sum of squared weights. Every row has at least one id."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        sp_ids.values.get_shape().assert_is_compatible_with(
            sp_weights.values.get_shape())
    single = params[0] if isinstance(params, (list, tuple)) else params
    with name_scope(name, "embedding_lookup_sparse", [single]) as scope:
        rows = _math.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, position = _array.unique(sp_ids.values)
        found = embedding_lookup(
            params, ids, partition_strategy=partition_strategy,
            max_norm=max_norm)
        if sp_weights is None:
            op = {"sum": _raw.SparseSegmentSum, "mean": _raw.SparseSegmentMean,
                  "sqrtn": _raw.SparseSegmentSqrtN}[combiner]
            return op(found, position, rows, name=scope)
        weights = sp_weights.values
        if weights.dtype != found.dtype:
            weights = _math.cast(weights, found.dtype)
        found = _array.gather(found, position)
        ones = _array.ones(_array.expand_dims(_array.rank(found) - 1, 0),
                           dtypes.int32)
        shape = found.get_shape()
        weights = _array.reshape(weights, _array.concat(
            [_array.shape(weights), ones], 0))
        if shape.ndims is not None:
            weights.set_shape(
                [sp_weights.values.get_shape()[0].value]
                + [1] * (shape.ndims - 1))
        total = _raw.SegmentSum(found * weights, rows,
                                **({"name": scope} if combiner == "sum"
                                   else {}))
        if combiner == "sum":
            return total
        if combiner == "mean":
            by = _raw.SegmentSum(weights, rows)
        else:
            by = _math.sqrt(_raw.SegmentSum(_math.square(weights), rows))
        return _raw.RealDiv(total, by, name=scope)
