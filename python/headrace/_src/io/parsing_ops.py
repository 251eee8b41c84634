"""Parses records into tensors: Examples, SequenceExamples, CSV."""
import collections
import re

import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse import sparse_ops as _sparse

VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
VarLenFeature.__doc__ = """As many values as there are: a SparseTensor.

`dtype`: float32, int64 or string. parse_example gives one of dense_shape [batch,
longest], parse_single_example [length]. ValueError from these without a dtype;
InvalidArgumentError in the run for values of another type."""


class FixedLenFeature(collections.namedtuple(
        "FixedLenFeature", ["shape", "dtype", "default_value"])):
    """Values of a fixed `shape`, of `dtype` float32, int64 or string, in each
    Example: parse_example gives a tensor [batch] + shape.

    Required, unless there is a `default_value` of that shape and type:
    otherwise the run fails with InvalidArgumentError. parse_example raises
    ValueError without a dtype or a shape that is known."""

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(collections.namedtuple(
        "FixedLenSequenceFeature",
        ["shape", "dtype", "allow_missing", "default_value"])):
    """Any number of values of a fixed shape, padded to the longest."""

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class SparseFeature(collections.namedtuple(
        "SparseFeature",
        ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A SparseTensor of size `size` whose indices and values are features of
    their own. Several index keys and sizes: several dimensions."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size,
                               already_sorted)


class _Columns:
    """Feature configurations as what the ops want: sparse and dense keys,
    types, shapes and defaults. Dicts go in the order of their keys."""

    def __init__(self, features, allowed, sequences_pad=False):
        self.sparse = {}  # key -> type
        self.dense = []  # (key, type, shape, default)
        self.missing = []  # keys that may be missing
        self._features = features or {}
        for key in sorted(self._features):
            self._add(key, self._features[key], allowed, sequences_pad)

    def _add(self, key, feature, allowed, sequences_pad):
        if not isinstance(feature, allowed):
            known = isinstance(feature, _EXAMPLE)
            raise ValueError(
                "Unsupported %s %s." % (type(feature).__name__, feature)
                if known else "Invalid feature %s:%s." % (key, feature))
        if isinstance(feature, VarLenFeature):
            if feature.dtype is None:
                raise ValueError("Missing type for feature %s." % key)
            self._add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for part in "index_key", "value_key", "dtype":
                if not getattr(feature, part):
                    raise ValueError("Missing %s for SparseFeature %s." % (
                        "type" if part == "dtype" else part, feature))
            for index_key in self.index_keys(feature):
                self._add_sparse(index_key, _dtypes.int64)
            self._add_sparse(feature.value_key, feature.dtype)
        elif isinstance(feature, FixedLenFeature):
            self._check_dense(key, feature)
            shape = TensorShape(feature.shape)
            if shape.ndims is None or (
                    shape.ndims and shape.as_list()[0] is None):
                raise ValueError(
                    "First dimension of shape for feature %s unknown. Consider "
                    "using FixedLenSequenceFeature." % key)
            self.dense.append((key, feature.dtype, shape,
                               feature.default_value))
        else:
            self._check_dense(key, feature)
            shape = TensorShape(feature.shape)
            if feature.allow_missing:
                self.missing.append(key)
            if sequences_pad:
                if not feature.allow_missing:
                    raise ValueError("Unsupported: FixedLenSequenceFeature "
                                     "requires allow_missing to be True.")
                shape = TensorShape([None]).concatenate(shape)
            elif feature.default_value is not None:
                raise ValueError("Unsupported: default_value of "
                                 "FixedLenSequenceFeature %s." % key)
            self.dense.append((key, feature.dtype, shape,
                               feature.default_value))

    @staticmethod
    def _check_dense(key, feature):
        for what, given in (("type", feature.dtype), ("shape", feature.shape)):
            if given is None:
                raise ValueError("Missing %s for feature %s." % (what, key))

    def _add_sparse(self, key, dtype):
        dtype = _dtypes.as_dtype(dtype)
        if self.sparse.setdefault(key, dtype) != dtype:
            raise ValueError("Conflicting type %s vs %s for feature %s."
                             % (self.sparse[key], dtype, key))

    @staticmethod
    def index_keys(feature):
        keys = feature.index_key
        return [keys] if isinstance(keys, (str, bytes)) else list(keys)

    sparse_keys = property(lambda self: list(self.sparse))
    sparse_types = property(lambda self: list(self.sparse.values()))
    dense_keys = property(lambda self: [d[0] for d in self.dense])
    dense_types = property(lambda self: [_dtypes.as_dtype(d[1])
                                         for d in self.dense])
    dense_shapes = property(lambda self: [d[2] for d in self.dense])

    def defaults(self):
        """Tensors; without elements where a feature is required."""
        out = []
        for key, dtype, shape, value in self.dense:
            name = None if value is None else "key_" + _name(key)
            dtype = _dtypes.as_dtype(dtype)
            padded = shape.ndims and shape.as_list()[0] is None
            if value is None and padded:
                value = "" if dtype == _dtypes.string else 0
            elif value is None:
                value = np.zeros([0], object if dtype == _dtypes.string
                                 else dtype.as_numpy_dtype)
            elif not padded:
                value = convert_to_tensor(value, dtype=dtype, name=name)
                value = _raw.Reshape(value, shape.as_list())
            out.append(convert_to_tensor(value, dtype=dtype, name=name))
        return out

    def results(self, sparse, dense):
        """What the user asked for, by key. `sparse`: (indices, values, shapes),
        lists each; `dense`: a list."""
        tensors = dict(zip(self.sparse_keys, (
            SparseTensor(*parts) for parts in zip(*sparse))))
        tensors.update(zip(self.dense_keys, dense))
        out = {}
        for key, feature in self._features.items():
            if not isinstance(feature, SparseFeature):
                out[key] = tensors[key]
                continue
            ids = [tensors[k] for k in self.index_keys(feature)]
            sizes = feature.size if isinstance(feature.size, (list, tuple)) \
                else [feature.size]
            out[key] = _sparse.sparse_merge(
                ids, tensors[feature.value_key], list(sizes),
                already_sorted=feature.already_sorted)
        return out


def _name(key):
    """`key` as it may stand in the name of a node."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", str(key))


_EXAMPLE = (VarLenFeature, SparseFeature, FixedLenFeature,
            FixedLenSequenceFeature)


def _strings(values, name):
    return convert_to_tensor(
        np.asarray([] if values is None else values, object)
        if not hasattr(values, "op") else values, dtype=_dtypes.string,
        name=name)


def example_columns(features):
    """What is wanted of Examples, as the ops want it."""
    if not features:
        raise ValueError("Missing: features was %s." % (features,))
    return _Columns(features, _EXAMPLE, sequences_pad=True)


def parse_example(serialized, features, name=None, example_names=None):
    """The contents of a vector of serialized Examples, as a dict like
    `features`."""
    columns = example_columns(features)
    with _graph.name_scope(name, "ParseExample", [serialized]):
        serialized = convert_to_tensor(serialized, dtype=_dtypes.string,
                                       name="serialized")
        # The op makes a tensor of the names, after the default values.
        names = ([] if example_names is None else example_names)
        out = _raw.ParseExample(
            serialized, names, columns.sparse_keys,
            columns.dense_keys, columns.defaults(),
            sparse_types=columns.sparse_types,
            dense_shapes=columns.dense_shapes, name="ParseExample")
        return columns.results(out[:3], out[3])


def parse_single_example(serialized, features, name=None, example_names=None):
    """The contents of one serialized Example, as a dict like `features`.

    `serialized`: a scalar string. `features`: {key: FixedLenFeature,
    VarLenFeature, ...}. The results are tensors of the features' shapes and
    dtypes, SparseTensors of one dimension for VarLenFeature. ValueError for no
    features or an unknown kind; InvalidArgumentError in the run for bytes that
    are no Example, or a feature that is missing or of another type."""
    if not features:
        raise ValueError("Missing features.")
    columns = _Columns(features, _EXAMPLE, sequences_pad=True)
    with _graph.name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, dtype=_dtypes.string,
                                       name="serialized")
        if serialized.get_shape().ndims not in (0, None):
            raise ValueError("Input serialized must be a scalar")
        out = _raw.ParseSingleExample(
            serialized, columns.defaults(), num_sparse=len(columns.sparse),
            sparse_keys=columns.sparse_keys, dense_keys=columns.dense_keys,
            sparse_types=columns.sparse_types,
            dense_shapes=columns.dense_shapes, name="ParseSingleExample")
        return columns.results(out[:3], out[3])


_CONTEXT = (VarLenFeature, SparseFeature, FixedLenFeature)
_SEQUENCE = (VarLenFeature, SparseFeature, FixedLenSequenceFeature)


def parse_sequence_example(serialized, context_features=None,
                           sequence_features=None, example_names=None,
                           name=None):
    """(context, feature lists, lengths), dicts, of a vector of serialized
    SequenceExamples; `lengths` of the FixedLenSequenceFeatures."""
    context, lists = _both(context_features, sequence_features)
    with _graph.name_scope(name, "ParseSequenceExample", [serialized]):
        out = _raw.ParseSequenceExample(
            convert_to_tensor(serialized, dtype=_dtypes.string),
            _strings(example_names, "names"), context.defaults(),
            feature_list_dense_missing_assumed_empty=lists.missing,
            context_sparse_keys=context.sparse_keys,
            context_dense_keys=context.dense_keys,
            feature_list_sparse_keys=lists.sparse_keys,
            feature_list_dense_keys=lists.dense_keys,
            Ncontext_sparse=len(context.sparse),
            Ncontext_dense=len(context.dense),
            Nfeature_list_sparse=len(lists.sparse),
            Nfeature_list_dense=len(lists.dense),
            context_sparse_types=context.sparse_types,
            feature_list_dense_types=lists.dense_types,
            context_dense_shapes=context.dense_shapes,
            feature_list_sparse_types=lists.sparse_types,
            feature_list_dense_shapes=lists.dense_shapes,
            name="ParseSequenceExample")
        return (context.results(out[:3], out[3]),
                lists.results(out[4:7], out[7]),
                dict(zip(lists.dense_keys, out[8])))


def parse_single_sequence_example(serialized, context_features=None,
                                  sequence_features=None, example_name=None,
                                  name=None):
    """(context, feature lists), dicts, of one serialized SequenceExample."""
    context, lists = _both(context_features, sequence_features)
    with _graph.name_scope(name, "ParseSingleSequenceExample", [serialized]):
        out = _raw.ParseSingleSequenceExample(
            convert_to_tensor(serialized, dtype=_dtypes.string),
            _strings(lists.missing, "missing"), context.sparse_keys,
            context.dense_keys, lists.sparse_keys, lists.dense_keys,
            context.defaults(), "" if example_name is None else example_name,
            context_sparse_types=context.sparse_types,
            feature_list_dense_types=lists.dense_types,
            context_dense_shapes=context.dense_shapes,
            feature_list_sparse_types=lists.sparse_types,
            feature_list_dense_shapes=lists.dense_shapes,
            name="ParseSingleSequenceExample")
        return (context.results(out[:3], out[3]),
                lists.results(out[4:7], out[7]))


def _both(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    return (_Columns(context_features, _CONTEXT),
            _Columns(sequence_features, _SEQUENCE))


def decode_csv(records, record_defaults, field_delim=",",
               use_quote_delim=True, name=None, na_value="", select_cols=None):
    """The columns of CSV records, a tensor each, of the types of
    `record_defaults`; a default without elements: the field is required."""
    defaults = [convert_to_tensor(d) for d in record_defaults]
    for d in defaults:
        value = constant_value(d)
        if value is not None and np.ndim(value) > 1:
            raise ValueError("Each record default should be at most rank 1")
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if len(select_cols) and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do "
                             "not match.")
    return _raw.DecodeCSV(
        records, defaults, field_delim=field_delim,
        use_quote_delim=use_quote_delim, na_value=na_value or "",
        select_cols=select_cols or [], name=name)
