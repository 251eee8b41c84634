"""Look-ups of embeddings, which are rows of a table, by dense or sparse ids.
The table may lie in several parts."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import colocate_with, name_scope
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape, unknown_shape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_special import unique
from headrace._src.ops.clipping import clip_by_norm
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse.sparse_ops import (
    sparse_fill_empty_rows, sparse_reshape, sparse_retain)
from headrace._src.variables.partitions import PartitionedVariable


def _parts(params, what):
    """The parts of a table as a list; a tuple is one tensor."""
    if params is None:
        raise ValueError("%s must be specified" % what)
    if isinstance(params, (list, PartitionedVariable)):
        params = list(params)
        if not params:
            raise ValueError("Need at least one param: %s is empty" % what)
        return params
    return [params]


def _graph_elements(values):
    """Of each value something that a name scope finds the graph of."""
    return [v.values if isinstance(v, SparseTensor) else v for v in values]


def _clip(rows, ids, max_norm):
    """Rows with a norm of at most max_norm, which may be None."""
    if max_norm is None:
        return rows
    first, last = ids.get_shape().ndims, rows.get_shape().ndims
    if first is None or last is None:
        axes = _raw.Range(_array.rank(ids), _array.rank(rows), 1)
    else:
        axes = list(range(first, last))
    return clip_by_norm(rows, max_norm, axes=axes)


def _assign_ids(ids, parts, strategy):
    """(part, row there) of each id. "mod": id i is row i // n of part i % n;
    "div": parts follow each other, those that come first one row longer."""
    n = len(parts)
    if strategy == "mod":
        return ids % n, ids // n
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: %s" % strategy)
    known = [p.get_shape()[0].value for p in parts]
    if None not in known:
        total = constant(sum(known), ids.dtype)
    else:
        counts = []
        for part, count in zip(parts, known):
            if count is None:
                with colocate_with(part):
                    count = _array.shape(part)[0]
            counts.append(count)
        total = _math.reduce_sum(_math.cast(_array.stack(counts), ids.dtype))
    rows, longer = total // n, total % n
    part = _math.maximum(ids // (rows + 1), (ids - longer) // rows)
    return part, _array.where(part < longer, ids % (rows + 1),
                              (ids - longer) % rows)


def embedding_lookup(params, ids, partition_strategy="mod", name=None,
                     validate_indices=True, max_norm=None):
    """Rows of `params` at `ids`. `params`: a tensor or variable, or several
    that are parts of one table: a list or a PartitionedVariable.

    `partition_strategy`: "mod" if id i is in part i % len(params), "div" if
    the parts follow each other. `max_norm`: longer rows are scaled to it.

    `params`: at least [rows], of any type; `ids`: int32 or int64 of any shape.
    The result is ids.shape + params.shape[1:], of the type of `params`.
    ValueError for an empty list or another strategy; InvalidArgumentError in
    the run for an id that is out of range."""
    parts = _parts(params, "params")
    with name_scope(name, "embedding_lookup",
                    _graph_elements(parts + [ids])) as scope:
        if not any(getattr(p, "_is_resource", False) for p in parts):
            parts = [convert_to_tensor(p, name="params") for p in parts]
        ids = convert_to_tensor(ids, name="ids")
        if len(parts) == 1:
            with colocate_with(parts[0]):
                rows = _clip(_array.gather(parts[0], ids, name=scope), ids,
                             max_norm)
                return _raw.Identity(rows)
        n = len(parts)
        flat = _array.reshape(ids, [-1])
        part, row = _assign_ids(flat, parts, partition_strategy)
        part = _math.cast(part, dtypes.int32)
        positions = _math.range(_array.size(flat))
        gathered = []
        for p, rows in zip(parts, _raw.DynamicPartition(
                row, part, num_partitions=n)):
            with colocate_with(p):
                gathered.append(_array.gather(p, rows))
        found = _raw.ParallelDynamicStitch(
            _raw.DynamicPartition(positions, part, num_partitions=n),
            gathered, name=scope)
        row_shape = parts[0].get_shape()[1:]
        for p in parts[1:]:
            row_shape = row_shape.merge_with(p.get_shape()[1:])
        if row_shape.is_fully_defined():
            size = row_shape.as_list()
        else:
            with colocate_with(parts[0]):
                size = _array.shape(parts[0])[1:]
        found = _array.reshape(found, _array.concat(
            [_array.shape(ids), size], 0))
        found.set_shape(ids.get_shape().concatenate(row_shape))
        return _clip(found, ids, max_norm)


def embedding_lookup_sparse(params, sp_ids, sp_weights,
                            partition_strategy="mod", name=None, combiner=None,
                            max_norm=None):
    """For each row of `sp_ids` the embeddings of its ids, times `sp_weights`
    (None: 1), combined by "mean" (the default), "sum" or "sqrtn": the sum over
    the root of the sum of squared weights. Every row has at least one id.
    `params` and the other arguments: as for embedding_lookup."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    parts = _parts(params, "params")
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        for part in ("values", "indices", "dense_shape"):
            getattr(sp_ids, part).get_shape().assert_is_compatible_with(
                getattr(sp_weights, part).get_shape())
    with name_scope(name, "embedding_lookup_sparse",
                    _graph_elements(parts + [sp_ids])) as scope:
        rows = _math.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, position = unique(sp_ids.values)
        found = embedding_lookup(
            parts, ids, partition_strategy=partition_strategy,
            max_norm=max_norm)
        if found.dtype in (dtypes.float16, dtypes.bfloat16):
            found = _math.cast(found, dtypes.float32)
        if sp_weights is None:
            op = {"sum": _raw.SparseSegmentSum, "mean": _raw.SparseSegmentMean,
                  "sqrtn": _raw.SparseSegmentSqrtN}[combiner]
            return op(found, position, rows, name=scope)
        weights = sp_weights.values
        if weights.dtype != found.dtype:
            weights = _math.cast(weights, found.dtype)
        found = _array.gather(found, position)
        ones = _array.fill(_array.expand_dims(_array.rank(found) - 1, 0), 1)
        shape = found.get_shape()
        weights = _array.reshape(weights, _array.concat(
            [_array.shape(weights), ones], 0))
        if shape.ndims is not None:
            weights.set_shape(sp_weights.values.get_shape().concatenate(
                [1] * (shape.ndims - 1)))
        total = _raw.SegmentSum(found * weights, rows,
                                **({"name": scope} if combiner == "sum"
                                   else {}))
        if combiner == "sum":
            return total
        if combiner == "mean":
            by = _raw.SegmentSum(weights, rows)
        else:
            by = _math.sqrt(_raw.SegmentSum(_math.pow(weights, 2), rows))
        return _raw.RealDiv(total, by, name=scope)


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids,
                                 sparse_weights=None, combiner="mean",
                                 default_id=None, name=None,
                                 partition_strategy="div", max_norm=None):
    """embedding_lookup_sparse for ids of any rank, of which the last dimension
    is combined. Negative ids are left out, and unless the combiner is "sum"
    ids whose weight is not positive. Rows that then have no id get the
    embedding of `default_id`, or zeros."""
    if embedding_weights is None or embedding_weights == []:
        raise ValueError("Missing embedding_weights %s." % embedding_weights)
    parts = _parts(embedding_weights, "embedding_weights")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = [p if getattr(p, "_is_resource", False) and dtype in (
        None, p.dtype) else convert_to_tensor(p, dtype=dtype) for p in parts]
    with name_scope(name, "embedding_lookup", _graph_elements(
            parts + [sparse_ids])) as scope:
        shape = sparse_ids.dense_shape
        rank = shape.get_shape()[0].value
        last = (_array.size(shape) if rank is None else rank) - 1
        sparse_ids = sparse_reshape(sparse_ids, [
            _math.reduce_prod(_array.slice(shape, [0], [last])),
            _array.gather(shape, last)])
        if sparse_weights is not None:
            sparse_weights = SparseTensor(
                sparse_ids.indices, sparse_weights.values,
                sparse_ids.dense_shape)

        def keep(which):
            kept = sparse_retain(sparse_ids, which)
            return kept, (None if sparse_weights is None
                          else sparse_retain(sparse_weights, which))
        valid = sparse_ids.values >= 0
        if sparse_weights is not None:  # as many nodes as TensorFlow has
            valid = _math.logical_and(valid, _array.ones_like(
                sparse_weights.values, dtype=dtypes.bool))
        sparse_ids, sparse_weights = keep(valid)
        if combiner != "sum" and sparse_weights is not None:
            sparse_ids, sparse_weights = keep(sparse_weights.values > 0)
        sparse_ids, is_empty = sparse_fill_empty_rows(sparse_ids,
                                                      default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            parts, sparse_ids, sparse_weights, combiner=combiner,
            partition_strategy=partition_strategy, max_norm=max_norm,
            name=None if default_id is None else scope)
        if default_id is None:
            is_empty = _array.tile(
                _array.reshape(is_empty, [-1, 1]),
                _array.stack([1, _array.shape(result)[1]]))
            result = _array.where(is_empty, _array.zeros_like(result), result,
                                  name=scope)
        final = _array.reshape(result, _array.concat([
            _array.slice(_math.cast(shape, dtypes.int32), [0], [last]),
            _array.slice(_array.shape(result), [1], [-1])], 0))
        leading = unknown_shape(None if rank is None else rank - 1)
        final.set_shape(TensorShape(leading).concatenate(
            result.get_shape()[1:]))
        return final
