"""What feature columns read: a dict of features, each made into a tensor
once."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.sparse.sparse_ops import sparse_expand_dims


class Features:
    """The features of one batch: of a key the tensor or SparseTensor with at
    least two dimensions, of a column what its `transform` gives. TypeError for
    other keys; ValueError for a column that gives None."""

    column_class = "FeatureColumn"  # as errors name it

    def __init__(self, features):
        if not hasattr(features, "keys"):
            raise ValueError("features must be a dictionary of tensors by key, "
                             "not %s" % type(features).__name__)
        self._features = features
        self._made = {}

    def __getitem__(self, key):
        if key not in self._made:
            self._made[key] = (self._tensor(key) if isinstance(key, str)
                               else self._transformed(key))
        return self._made[key]

    def get(self, key, state_manager=None):
        """As features[key]."""
        return self[key]

    def _transformed(self, column):
        if not hasattr(column, "transform"):
            raise TypeError('"key" must be either a "str" or "%s". Provided: %s'
                            % (self.column_class, column))
        value = column.transform(self)
        if value is None:
            raise ValueError("Column %s is not supported." % column.name)
        return value

    def _tensor(self, key):
        if key not in self._features:
            raise ValueError("Feature %s is not in features dictionary. It has "
                             "%s" % (key, sorted(map(str, self._features))))
        x = self._features[key]
        if isinstance(x, SparseTensorValue):
            x = SparseTensor.from_value(x)
        if isinstance(x, SparseTensor):
            return (sparse_expand_dims(x, -1) if x.get_shape().ndims == 1
                    else x)
        x = convert_to_tensor(x)
        rank = x.get_shape().ndims
        if rank == 0:
            raise ValueError("Feature (key: %s) cannot have rank 0. Given: %s"
                             % (key, x))
        if rank is None:
            missing = _math.maximum(2 - _array.rank(x), 0)
            return _array.reshape(x, _array.concat(
                [_array.shape(x), _array.fill([missing], 1)], 0))
        return _array.expand_dims(x, -1) if rank == 1 else x


class OldFeatures(Features):
    """Features, for tf.feature_column's functions."""

    column_class = "_FeatureColumn"


def to_sparse(x, none=None):
    """The elements of a tensor as a SparseTensor, without those that are
    `none`: by default "" or -1. A SparseTensor as it is."""
    if isinstance(x, SparseTensor):
        return x
    if none is None:
        none = "" if x.dtype == dtypes.string else -1
    with name_scope(None, "to_sparse_input", [x]):
        none = _math.cast(none, x.dtype, name="ignore_value")
        there = _array.where(_math.not_equal(x, none), name="indices")
        return SparseTensor(
            there, _array.gather_nd(x, there, name="values"),
            _array.shape(x, out_type=dtypes.int64, name="dense_shape"))
