"""RaggedTensor: tensors whose rows have several lengths, and how they are made
of other tensors and back."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor
from headrace._headrace import Tensor
from headrace._loading import load
from headrace._src.control import check_ops as _check
from headrace._src.control.control_flow import Assert
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework import dtypes
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.math.math_special import bincount
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_special import sequence_mask
from headrace._src.ops.sparse_tensor import (
    SparseTensor, convert_to_tensor_or_sparse_tensor, is_sparse)
from headrace._src.ragged import partitions as _rows
from headrace._src.ragged.ragged_value import (
    Ragged, RaggedTensorValue, is_ragged)


class RaggedTensor(Ragged):
    """A tensor some of whose dimensions are ragged: their slices have several
    lengths. [[3, 1], [], [5]] is the `values` [3, 1, 5] with the `row_splits`
    [0, 2, 2, 3]: row i has the values from row_splits[i] to row_splits[i + 1].
    With several ragged dimensions `values` is a RaggedTensor itself. The
    dimensions of the innermost values are uniform.

    Session.run fetches one as a RaggedTensorValue and takes such a value as its
    feed. Elementwise ops, reductions, gather, concat and others take ragged
    tensors; map_flat_values applies any op to the innermost values.

    It is made by tf.ragged.constant and by the class methods from_*; the
    constructor itself refuses with ValueError."""

    _composite = True
    _tensors_in_place_of_it = (
        "Take its to_tensor(), or tf.ragged.map_flat_values of the function.")
    __iter__ = None  # or Python would ask for rows without end
    # NumPy's operators leave the work to those here.
    __array_priority__ = 100

    def __init__(self, values, row_splits, cached_row_lengths=None,
                 cached_value_rowids=None, cached_nrows=None, internal=False):
        if not internal:
            raise ValueError(
                "RaggedTensor is made by its class methods, as "
                "RaggedTensor.from_row_lengths(); its constructor is private")
        if not isinstance(row_splits, Tensor):
            raise TypeError("row_splits must be a Tensor, got %r"
                            % (row_splits,))
        if not isinstance(values, (RaggedTensor, Tensor)):
            raise TypeError("values must be a Tensor or RaggedTensor, got %r"
                            % (values,))
        if row_splits.dtype not in _rows.INTEGERS:
            raise ValueError("row_splits must be int32 or int64, got %s"
                             % row_splits.dtype.name)
        row_splits.get_shape().assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, Tensor):
                raise TypeError("a cached value must be a Tensor, got %r"
                                % (cached,))
            if cached is not None and cached.dtype not in _rows.INTEGERS:
                raise TypeError("a cached value must be int32 or int64, got %s"
                                % cached.dtype.name)
        self._values = values
        self._row_splits = row_splits
        self._row_lengths = cached_row_lengths
        self._value_rowids = cached_value_rowids
        self._nrows = cached_nrows

    # Made of values and a partition into rows.

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None,
                          validate=True):
        """Value j is in row value_rowids[j]. These ascend from 0 on; `nrows`
        says how many rows there are, by default those up to the last with a
        value.

        `values`: a Tensor or RaggedTensor; the others are int32 or int64.
        `validate`: whether the run checks that they fit. ValueError or
        InvalidArgumentError for what is known not to fit."""
        with _making("RaggedFromValueRowIds", name, validate,
                     [values, value_rowids, nrows]):
            values, ids = _with_partition(values, value_rowids, "value_rowids")
            known_ids = constant_value(ids)
            last = (None if known_ids is None
                    else int(known_ids[-1]) if known_ids.size else -1)
            if nrows is not None:
                nrows = convert_to_tensor(nrows, ids.dtype, "nrows")
            elif last is not None:
                nrows = convert_to_tensor(last + 1, ids.dtype, "nrows")
            else:
                nrows = _array.concat([ids[-1:], [-1]], 0)[0] + 1
            known_nrows = constant_value(nrows)
            if known_nrows is not None:
                if known_nrows < 0:
                    raise ValueError("Expected nrows >= 0; got %d"
                                     % known_nrows)
                if last is not None and known_nrows < last + 1:
                    raise ValueError(
                        "Expected nrows >= value_rowids[-1] + 1; got nrows=%d, "
                        "value_rowids[-1]=%d" % (known_nrows, last))
            ids.get_shape().assert_has_rank(1)
            nrows.get_shape().assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(ids.get_shape())
            if validate:
                ids = _checked(ids, values, "from_value_rowids", lambda of: [
                    _check.assert_rank(nrows, 0, message=of),
                    _check.assert_equal(_size(values), _size(ids), message=of),
                    _check.assert_non_negative(ids[:1], message=of),
                    _ascending(ids, of),
                    _check.assert_less(ids[-1:], nrows, message=of)])
            count = _math.cast(nrows, dtypes.int32)
            lengths = bincount(_math.cast(ids, dtypes.int32), minlength=count,
                               maxlength=count, dtype=ids.dtype.base_dtype)
            if known_nrows is not None:
                lengths.set_shape([int(known_nrows)])
            return cls(values, _rows.splits_of(lengths), lengths, ids, nrows,
                       internal=True)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Row i has the values from row_splits[i] to row_splits[i + 1].

        `values`: a Tensor or RaggedTensor; `row_splits`: int32 or int64,
        ascending from 0 to the number of values. `validate`: whether the run
        checks that. ValueError or InvalidArgumentError for what is known not to
        fit."""
        _check_validate(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits is empty; it begins with 0")
        with _making("RaggedFromRowSplits", name, validate,
                     [values, row_splits]):
            values, splits = _with_partition(values, row_splits, "row_splits")
            splits.get_shape().assert_has_rank(1)
            if validate:
                splits = _checked(splits, values, "from_row_splits", lambda of: [
                    _zero(splits[0], of), _ascending(splits, of),
                    _check.assert_equal(splits[-1], _size(values, splits),
                                        message=of)])
            return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Row i has the next row_lengths[i] values.

        `values`: a Tensor or RaggedTensor; `row_lengths`: int32 or int64, whose
        sum is the number of values. `validate`: whether the run checks that.
        ValueError or InvalidArgumentError for what is known not to fit."""
        with _making("RaggedFromRowLengths", name, validate,
                     [values, row_lengths]):
            values, lengths = _with_partition(values, row_lengths,
                                              "row_lengths")
            lengths.get_shape().assert_has_rank(1)
            if validate:
                lengths = _checked(lengths, values, "from_row_lengths",
                                   lambda of: [
                    _check.assert_non_negative(lengths, message=of),
                    _check.assert_equal(_math.reduce_sum(lengths),
                                        _size(values, lengths), message=of)])
            return cls(values, _rows.splits_of(lengths), lengths, internal=True)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Row i begins with value row_starts[i], and ends where the next one
        begins.

        `values`: a Tensor or RaggedTensor; `row_starts`: int32 or int64,
        ascending from 0. `validate`: whether the run checks that. ValueError or
        InvalidArgumentError for what is known not to fit."""
        with _making("RaggedFromRowStarts", name, validate,
                     [values, row_starts]):
            values, starts = _with_partition(values, row_starts, "row_starts")
            starts.get_shape().assert_has_rank(1)
            size = _size(values, starts)
            if validate:
                starts = _checked(starts, values, "from_row_starts", lambda of: [
                    _zero(starts[:1], of), _ascending(starts, of),
                    _check.assert_less_equal(starts[-1:], size, message=of)])
            return cls(values, _array.concat([starts, [size]], 0),
                       internal=True)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Row i ends before value row_limits[i], and begins where the one
        before it ends.

        `values`: a Tensor or RaggedTensor; `row_limits`: int32 or int64,
        ascending to the number of values. `validate`: whether the run checks
        that. ValueError or InvalidArgumentError for what is known not to fit."""
        with _making("RaggedFromRowLimits", name, validate,
                     [values, row_limits]):
            values, limits = _with_partition(values, row_limits, "row_limits")
            limits.get_shape().assert_has_rank(1)
            if validate:
                limits = _checked(limits, values, "from_row_limits", lambda of: [
                    _check.assert_non_negative(limits[:1], message=of),
                    _ascending(limits, of),
                    _check.assert_equal(limits[-1:], _size(values, limits),
                                        message=of)])
            zero = _array.zeros([1], limits.dtype.base_dtype)
            return cls(values, _array.concat([zero, limits], 0), internal=True)

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids,
                                 nested_nrows=None, name=None, validate=True):
        """from_value_rowids for each ragged dimension, the outermost first in
        the lists.

        The types and errors are those of from_value_rowids; TypeError for a
        Tensor in place of a list, ValueError for lists of different lengths."""
        partitions = _listed(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(partitions)
        nested_nrows = _listed(nested_nrows, "nested_nrows")
        if len(nested_nrows) != len(partitions):
            raise ValueError("nested_nrows has %d entries, "
                             "nested_value_rowids %d"
                             % (len(nested_nrows), len(partitions)))
        with _making("RaggedFromNestedValueRowIds", name, validate,
                     [flat_values] + partitions + nested_nrows):
            for ids, nrows in zip(reversed(partitions), reversed(nested_nrows)):
                flat_values = cls.from_value_rowids(flat_values, ids, nrows,
                                                    validate=validate)
            return flat_values

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None,
                               validate=True):
        """from_row_splits for each ragged dimension, the outermost first in the
        list.

        The types and errors are those of from_row_splits; TypeError for a
        Tensor in place of the list."""
        return _nested(cls.from_row_splits, "RaggedFromNestedRowSplits",
                       flat_values, "nested_row_splits", nested_row_splits,
                       name, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None,
                                validate=True):
        """from_row_lengths for each ragged dimension, the outermost first in
        the list.

        The types and errors are those of from_row_lengths; TypeError for a
        Tensor in place of the list."""
        return _nested(cls.from_row_lengths, "RaggedFromNestedRowlengths",
                       flat_values, "nested_row_lengths", nested_row_lengths,
                       name, validate)

    # What it consists of.

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def shape(self):
        """The static TensorShape; ragged dimensions are unknown."""
        splits = self._row_splits.get_shape()[0].value
        return TensorShape([None if splits is None else splits - 1, None]
                           ).concatenate(self._values.shape[1:])

    def value_rowids(self, name=None):
        """The row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        with name_scope(name, "RaggedValueRowIds", self._flow_components()):
            return _rows.ids_of(self._row_splits)

    def nested_value_rowids(self, name=None):
        """value_rowids for each ragged dimension, the outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds",
                        self._flow_components()):
            return tuple(rt.value_rowids() for rt in self._levels())

    def nrows(self, out_type=None, name=None):
        """The number of rows, of the type of row_splits or `out_type`."""
        kind = (self._row_splits.dtype.base_dtype if out_type is None
                else dtypes.as_dtype(out_type))
        if self._nrows is not None:
            return _math.cast(self._nrows, kind)
        with name_scope(name, "RaggedNRows", self._flow_components()):
            return _array.shape(self._row_splits, out_type=kind)[0] - 1

    def row_starts(self, name=None):
        """The first value of each row."""
        with name_scope(name, "RaggedRowStarts", self._flow_components()):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """The value after the last of each row."""
        with name_scope(name, "RaggedRowLimits", self._flow_components()):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows; of those along another `axis`, as a tensor
        that is ragged in the dimensions before it. ValueError for an axis out
        of range."""
        if self._row_lengths is not None:
            return self._row_lengths
        with name_scope(name, "RaggedRowLengths", self._flow_components()):
            axis = _rows.positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return _rows.lengths_of(self._row_splits)
            if is_ragged(self._values):
                return self.with_values(self._values.row_lengths(axis - 1))
            kind = self._row_splits.dtype.base_dtype
            shape = _array.shape(self._values, out_type=kind)
            return self.with_values(
                _array.ones(shape[:axis - 1], kind) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        """row_lengths for each ragged dimension, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths",
                        self._flow_components()):
            return tuple(rt.row_lengths() for rt in self._levels())

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest shape into which all rows fit, or its dimension
        `axis`."""
        kind = (self._row_splits.dtype.base_dtype if out_type is None
                else dtypes.as_dtype(out_type))
        with name_scope(name, "RaggedBoundingBox", self._flow_components()):
            if isinstance(axis, int) and axis == 0:
                return _array.shape(self._row_splits, out_type=kind)[0] - 1
            if isinstance(axis, int) and axis == 1:
                return _longest(self._row_splits)
            inner = _array.shape(self.flat_values, out_type=kind)[1:]
            rows = _array.shape(self._row_splits, out_type=kind)[0] - 1
            box = _array.concat([_array.stack([rows] + [
                _math.cast(_longest(splits), kind)
                for splits in self.nested_row_splits]), inner], 0)
            return box if axis is None else _array.gather(box, axis)

    def _levels(self):
        """This, its values and so on while they are ragged."""
        levels = [self]
        while is_ragged(levels[-1].values):
            levels.append(levels[-1].values)
        return levels

    # The same rows with other values.

    def with_values(self, new_values):
        """The same rows, with `new_values` in place of `values`: as many.
        ValueError if their number is known to differ, and for a RaggedTensor
        with row_splits of another type."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if is_ragged(new_values):
            same_partition_dtype(self, new_values)
        return RaggedTensor(new_values, self._row_splits, self._row_lengths,
                            self._value_rowids, self._nrows, internal=True)

    def with_flat_values(self, new_values):
        """The same rows, with `new_values` in place of `flat_values`."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values)
                                if is_ragged(inner) else new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with row_splits of int32 or int64. ValueError for another
        type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in _rows.INTEGERS:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        inner = self._values
        return RaggedTensor(
            inner.with_row_splits_dtype(dtype) if is_ragged(inner) else inner,
            *[None if part is None else _math.cast(part, dtype)
              for part in (self._row_splits, self._row_lengths,
                           self._value_rowids, self._nrows)], internal=True)

    # Of and to other tensors.

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1,
                    name=None, row_splits_dtype=dtypes.int64):
        """The rows of `tensor`; with `lengths` the first lengths[i] elements of
        row i, with `padding` without the elements at the ends of rows that are
        equal to it. `lengths` may be a list of vectors, one for each ragged
        dimension.

        `tensor`: of any type, with more than `ragged_rank` dimensions. The
        run fails if lengths are too large. ValueError for both lengths and
        padding and for a ragged_rank that is not positive or too large;
        TypeError for one that is no int."""
        kind = dtypes.as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("from_tensor takes lengths or padding, not both")
        if not isinstance(ragged_rank, int):
            raise TypeError("ragged_rank expected int, got %r"
                            % (ragged_rank,))
        if ragged_rank <= 0:
            raise ValueError("ragged_rank must be greater than 0; got %s"
                             % ragged_rank)
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            tensor = convert_to_tensor(tensor, name="tensor")
            tensor.get_shape().with_rank_at_least(ragged_rank + 1)
            if ragged_rank > 1:
                return _of_uniform(cls, tensor, lengths, padding, ragged_rank,
                                   kind)
            sizes = _array.shape(tensor, out_type=kind)
            if padding is not None:
                lengths = _lengths_without(tensor, padding, kind)
            if lengths is None:
                values = _raw.Reshape(tensor, _array.concat(
                    [[sizes[0] * sizes[1]], sizes[2:]], 0))
                values.set_shape(_flat_shape(tensor.get_shape()))
                splits = _math.range(sizes[0] + 1) * sizes[1]
                _set_rows(splits, tensor.get_shape()[0].value)
                return cls(values, splits, internal=True)
            if _are_nested(lengths):
                return _of_nested_lengths(cls, tensor, lengths)
            lengths = _rows.integers(lengths, "lengths", kind)
            lengths.get_shape().assert_has_rank(1)
            lengths = _math.maximum(_math.minimum(lengths, sizes[1]), 0)
            mask = sequence_mask(lengths, maxlen=sizes[1])
            return cls(_array.boolean_mask(tensor, mask),
                       _rows.splits_of(lengths), internal=True)

    def to_tensor(self, default_value=None, name=None):
        """All rows as long as the longest, filled with `default_value`: 0, ""
        or False by default. It broadcasts to what is missing."""
        with name_scope(name, "RaggedToTensor",
                        self._flow_components() + [default_value]):
            values, default = self._values, default_value
            if default is not None:
                default = convert_to_tensor(default, self.dtype.base_dtype,
                                            "default_value")
            if is_ragged(values):
                values = values.to_tensor(default)
            default = _one_value(values, default)
            splits = self._row_splits
            kind = splits.dtype.base_dtype
            starts = _raw.ExpandDims(splits[:-1], 1)
            columns = _raw.ExpandDims(_math.range(_longest(splits)), 0)
            indices = starts + columns
            missing = _array.zeros_like(indices) + _array.shape(
                values, out_type=kind)[0]
            indices = _raw.Select(_raw.Less(
                indices, _raw.ExpandDims(splits[1:], 1)), indices, missing)
            return _array.gather(
                _array.concat([values, _raw.ExpandDims(default, 0)], 0),
                indices)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a SparseTensor of rank 2 each of which has its elements
        at its beginning, without gaps. The run fails with InvalidArgumentError
        for another one. TypeError for what is no SparseTensor, ValueError for
        another rank."""
        kind = dtypes.as_dtype(row_splits_dtype)
        if not is_sparse(st_input):
            raise TypeError("Expected SparseTensor, got %s"
                            % type(st_input).__name__)
        with name_scope(name, "RaggedFromSparse"):
            st_input = convert_to_tensor_or_sparse_tensor(st_input)
            indices = st_input.indices
            if 2 not in (st_input.dense_shape.get_shape()[0].value,
                         indices.get_shape()[1].value):
                raise ValueError("rank(st_input) must be 2")
            with control_dependencies([_no_gaps(indices)]):
                ids = _math.cast(indices[:, 0], kind)
                rows = _math.cast(st_input.dense_shape[0], kind)
                return cls.from_value_rowids(st_input.values, ids, rows,
                                             validate=False)

    def to_sparse(self, name=None):
        """A SparseTensor with the same elements, each row from its beginning
        on."""
        with name_scope(name, "RaggedToSparse", self._flow_components()):
            return SparseTensor(*_raw.RaggedTensorToSparse(
                self.nested_row_splits, self.flat_values, name=name))

    def _to_variant(self, batched_input=False, name=None):
        with name_scope(name, "RaggedToVariant", self._flow_components()):
            return _raw.RaggedTensorToVariant(
                self.nested_row_splits, self.flat_values, batched_input, name)

    @classmethod
    def _from_variant(cls, variant, dtype, output_ragged_rank,
                      input_ragged_rank=None, name=None):
        variant = convert_to_tensor(variant, dtypes.variant, "variant")
        outer = variant.get_shape().ndims
        if None not in (outer, input_ragged_rank) \
                and output_ragged_rank != input_ragged_rank + outer:
            raise ValueError(
                "output_ragged_rank (%d) must be input_ragged_rank (%d) plus "
                "the rank of variant (%d)"
                % (output_ragged_rank, input_ragged_rank, outer))
        with name_scope(name, "RaggedFromVariant", [variant]):
            splits, values = _raw.RaggedTensorFromVariant(
                variant, -1 if input_ragged_rank is None else input_ragged_rank,
                output_ragged_rank, dtype, dtypes.int64, name=name)
            return cls.from_nested_row_splits(values, splits, validate=False)

    # How other parts of the package see it.

    def consumers(self):
        """The operations that take its tensors."""
        return [op for part in self._flow_components()
                for op in part.consumers()]

    def to_list(self):
        """The rows as nested lists, while ops are executed eagerly. ValueError
        in a graph: the value is only known in a run. RaggedTensorValue has a
        to_list."""
        if isinstance(self._row_splits, EagerTensor):
            return self._rows_now()
        raise ValueError(
            "a RaggedTensor has no value before a run: take "
            "session.run(x).to_list()")

    def _rows_now(self):
        splits = self._row_splits.numpy()
        values = (self._values._rows_now() if isinstance(
            self._values, RaggedTensor) else self._values.numpy().tolist())
        return [values[a:b] for a, b in zip(splits[:-1], splits[1:])]

    @property
    def _type_spec(self):
        return load("_src.ragged.ragged_spec").RaggedTensorSpec(
            self.shape, self.dtype.base_dtype, self.ragged_rank,
            self._row_splits.dtype.base_dtype)

    def _as_graph_element(self):
        return self.flat_values

    def _flow_components(self):
        return [self.flat_values] + list(self.nested_row_splits)

    @staticmethod
    def _from_flow_components(components):
        values, *splits = components
        for row_splits in reversed(splits):
            values = RaggedTensor(values, row_splits, internal=True)
        return values

    def _flow_invariants(self, shape):
        """`shape` is that of the RaggedTensor, as while_loop takes it."""
        spec = load("_src.ragged.ragged_spec").RaggedTensorSpec(
            shape, self.dtype.base_dtype, self.ragged_rank,
            self._row_splits.dtype.base_dtype)
        return [part.shape for part in spec._component_specs]

    def _fetch_components(self):
        return (list(self.nested_row_splits) + [self.flat_values],
                lambda parts: as_value(parts[-1], parts[:-1]))

    def _feed_components(self, value):
        if not isinstance(value, RaggedTensorValue) \
                or value.ragged_rank != self.ragged_rank:
            raise TypeError(
                "This RaggedTensor is fed a RaggedTensorValue of ragged_rank "
                "%d, as tf.ragged.constant_value makes it; got %r"
                % (self.ragged_rank, value))
        return list(zip(self._flow_components(),
                        (value.flat_values,) + value.nested_row_splits))

    def _leaf_and_tensor(self, slices=False):
        return load("_src.ragged.ragged_spec").leaf_and_tensor(self, slices)

    def __getitem__(self, key):
        return load("_src.ragged.ragged_indexing").getitem(self, key)

    def __bool__(self):
        raise TypeError("a RaggedTensor has no truth value; compare its "
                        "values, or take tf.cond")

    def __repr__(self):
        if isinstance(self._row_splits, EagerTensor):
            return "<tf.RaggedTensor %s>" % self.to_list()
        return "tf.RaggedTensor(values=%s, row_splits=%s)" % (
            self._values, self._row_splits)

    __str__ = __repr__

    # Operators: the ops, which then find the ragged argument.

    __add__ = lambda x, y: _raw.Add(x, y)
    __radd__ = lambda x, y: _raw.Add(y, x)
    __sub__ = lambda x, y: _raw.Sub(x, y)
    __rsub__ = lambda x, y: _raw.Sub(y, x)
    __mul__ = lambda x, y: _raw.Mul(x, y)
    __rmul__ = lambda x, y: _raw.Mul(y, x)
    __truediv__ = lambda x, y: _math.truediv(x, y)
    __rtruediv__ = lambda x, y: _math.truediv(y, x)
    __floordiv__ = lambda x, y: _raw.FloorDiv(x, y)
    __rfloordiv__ = lambda x, y: _raw.FloorDiv(y, x)
    __mod__ = lambda x, y: _raw.FloorMod(x, y)
    __rmod__ = lambda x, y: _raw.FloorMod(y, x)
    __pow__ = lambda x, y: _math.pow(x, y)
    __rpow__ = lambda x, y: _math.pow(y, x)
    __and__ = lambda x, y: _raw.LogicalAnd(x, y)
    __rand__ = lambda x, y: _raw.LogicalAnd(y, x)
    __or__ = lambda x, y: _raw.LogicalOr(x, y)
    __ror__ = lambda x, y: _raw.LogicalOr(y, x)
    __xor__ = lambda x, y: _math.logical_xor(x, y)
    __rxor__ = lambda x, y: _math.logical_xor(y, x)
    __lt__ = lambda x, y: _raw.Less(x, y)
    __le__ = lambda x, y: _raw.LessEqual(x, y)
    __gt__ = lambda x, y: _raw.Greater(x, y)
    __ge__ = lambda x, y: _raw.GreaterEqual(x, y)
    __neg__ = lambda x: _math.negative(x)
    __abs__ = lambda x: _math.abs(x)
    __invert__ = lambda x: _raw.LogicalNot(x)


# Making one.

def _check_validate(validate):
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _making(default_name, name, validate, values):
    _check_validate(validate)
    tensors = [part for v in values
               for part in (v._flow_components() if is_ragged(v) and
                            isinstance(v, RaggedTensor) else [v])]
    return name_scope(name, default_name, tensors)


def _listed(partitions, name):
    if isinstance(partitions, Tensor):
        raise TypeError("%s must be a list of Tensors" % name)
    return list(partitions)


def _nested(make, scope, values, what, partitions, name, validate):
    partitions = _listed(partitions, what)
    with _making(scope, name, validate, [values] + partitions):
        for partition in reversed(partitions):
            values = make(values, partition, validate=validate)
        return values


def _with_partition(values, partition, name):
    """Both as tensors whose types fit."""
    if is_ragged(values):
        values = convert(values)
        kind = values.row_splits.dtype.base_dtype
        if not isinstance(partition, Tensor):
            return values, convert_to_tensor(partition, kind, name)
        if partition.dtype not in _rows.INTEGERS:
            raise ValueError("%s must have dtype int32 or int64" % name)
        if partition.dtype.base_dtype != kind:
            raise ValueError(
                "dtype mismatch: %s (%s) vs values.row_splits (%s)"
                % (name, partition.dtype.name, kind.name))
        return values, partition
    values = convert_to_tensor(values, name="values")
    is_int32 = isinstance(partition, np.ndarray) and partition.dtype == np.int32
    partition = convert_to_tensor(
        partition, name=name, dtype_hint=None if is_int32 else dtypes.int64)
    if partition.dtype not in _rows.INTEGERS:
        raise ValueError("%s must have dtype int32 or int64, got %s"
                         % (name, partition.dtype.name))
    return values, partition


def _checked(partition, values, maker, assertions):
    """The partition, once the assertions hold; these take a message."""
    message = "Arguments to %s do not form a valid RaggedTensor" % maker
    checks = [_check.assert_rank(partition, 1, message=message)]
    checks += assertions(message)
    if not is_ragged(values):
        checks.append(_check.assert_rank_at_least(values, 1))
    return with_dependencies(checks, partition)


def _zero(tensor, message):
    return _check.assert_equal(tensor, _array.zeros([], tensor.dtype.base_dtype),
                               message=message)


def _ascending(tensor, message):
    return _check.assert_non_negative(_rows.lengths_of(tensor),
                                      message=message)


def _size(values, like=None):
    """The number of rows, of the type of `like`."""
    kind = dtypes.int32 if like is None else like.dtype.base_dtype
    if is_ragged(values):
        return values.nrows(out_type=kind)
    return _array.shape(values, out_type=kind)[0]


def _longest(splits):
    return _math.maximum(_math.reduce_max(_rows.lengths_of(splits)), 0)


def _one_value(values, default):
    """`default` in the shape of a slice of `values`."""
    shape = values.get_shape()
    if default is None:
        default = _array.zeros(_array.shape(values)[1:],
                               values.dtype.base_dtype)
    elif shape.ndims is not None:
        default.get_shape().with_rank_at_most(shape.ndims - 1)
    if shape.ndims is None or default.get_shape().ndims != shape.ndims - 1:
        default = _raw.BroadcastTo(default, _array.shape(values)[1:])
    default.get_shape().assert_is_compatible_with(shape[1:])
    default.set_shape(shape[1:])
    return default


# from_tensor and from_sparse.

def _flat_shape(shape):
    if shape.ndims is None:
        return shape
    rows, columns = shape[0].value, shape[1].value
    return TensorShape([None if None in (rows, columns) else rows * columns]
                       ).concatenate(shape[2:])


def _set_rows(splits, rows):
    splits.set_shape([None if rows is None else rows + 1])


def _of_uniform(cls, tensor, lengths, padding, ragged_rank, kind):
    """from_tensor with all dimensions but the last ragged one uniform."""
    sizes = _array.shape(tensor, out_type=kind)
    flat = _raw.Reshape(tensor, _array.concat([[-1], sizes[ragged_rank:]], 0))
    flat.set_shape(TensorShape([None]).concatenate(
        tensor.get_shape()[ragged_rank:]))
    values = cls.from_tensor(flat, lengths, padding, row_splits_dtype=kind)
    for dim in range(ragged_rank - 1, 0, -1):
        rows = _raw.Prod(sizes[:dim], [0])
        splits = _math.range(rows + 1) * sizes[dim]
        if dim == 1:
            _set_rows(splits, tensor.get_shape()[0].value)
        values = cls(values, splits, internal=True)
    return values


def _lengths_without(tensor, padding, kind):
    """The lengths of the rows up to the last element that is no padding."""
    padding = convert_to_tensor(padding, tensor.dtype.base_dtype, "padding")
    padding.get_shape().assert_is_compatible_with(tensor.get_shape()[2:])
    is_padding = _raw.Equal(padding, tensor)
    if tensor.get_shape().ndims != 2:
        is_padding = _math.reduce_all(
            is_padding, _math.range(2, _array.rank(tensor)))
    is_padding.set_shape([None, None])
    is_value = _math.cast(_raw.LogicalNot(is_padding), kind)
    columns = _array.shape(tensor, out_type=kind)[1]
    return _math.reduce_max(is_value * _math.range(1, columns + 1), axis=1)


def _are_nested(lengths):
    return (isinstance(lengths, (list, tuple)) and len(lengths) > 0
            and not isinstance(lengths[0], (int, float)))


def _of_nested_lengths(cls, tensor, lengths):
    tensor.get_shape().with_rank_at_least(len(lengths) + 1)
    count = _math.reduce_sum(lengths[-1])
    all_values = cls.from_nested_row_lengths(
        _array.ones([count], dtypes.bool_), lengths, validate=False)
    mask = all_values.to_tensor(default_value=False)
    return all_values.with_flat_values(_array.boolean_mask(tensor, mask))


def _no_gaps(indices):
    """An assertion that elements stand at the beginnings of rows."""
    rows, columns = indices[:, 0], indices[:, 1]
    fine = _raw.Select(
        _raw.NotEqual(rows[1:], rows[:-1]), _raw.Equal(columns[1:], 0),
        _raw.Equal(columns[1:], columns[:-1] + 1))
    fine = _raw.LogicalAnd(_math.reduce_all(fine), _math.reduce_all(
        _raw.Equal(columns[:1], 0)))
    return Assert(fine, ["SparseTensor is not right-ragged",
                         "SparseTensor.indices =", indices])


# Values of both kinds.

def as_value(values, nested_row_splits):
    """A RaggedTensorValue of arrays."""
    for splits in reversed(nested_row_splits):
        values = RaggedTensorValue(values, splits)
    return values


def convert(value, dtype=None, name=None, dtype_hint=None):
    """A RaggedTensor as it is, a RaggedTensorValue as one, anything else as a
    Tensor. ValueError for another type than `dtype`."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(
                value.dtype):
            raise ValueError(
                "Tensor conversion requested dtype %s for RaggedTensor with "
                "dtype %s: %r" % (dtypes.as_dtype(dtype).name,
                                  value.dtype.name, value))
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = convert_to_tensor(value.flat_values, dtype, "flat_values",
                                     dtype_hint=dtype_hint)
            return RaggedTensor.from_nested_row_splits(
                flat, value.nested_row_splits, validate=False)
    return convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)


def same_partition_dtype(*tensors):
    """The type of the row_splits of the ragged ones, int64 if there are none.
    ValueError if they differ."""
    found = {t.row_splits.dtype.base_dtype for t in tensors
             if isinstance(t, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "the row_splits of these RaggedTensors have different types: %s. "
            "Give them one type, using with_row_splits_dtype"
            % ", ".join(sorted(kind.name for kind in found)))
    return found.pop() if found else dtypes.int64
