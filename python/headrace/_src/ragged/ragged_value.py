"""RaggedTensorValue: a ragged tensor as arrays, outside of a graph."""
import numpy as np

from headrace._loading import load


class Ragged:
    """What both kinds of ragged tensors have in common: `values`, whose rows
    from row_splits[i] to row_splits[i + 1] are row i. `values` is ragged itself
    if there are further ragged dimensions."""

    @property
    def flat_values(self):
        """The values of the innermost ragged dimension: no ragged tensor."""
        values = self.values
        while isinstance(values, Ragged):
            values = values.values
        return values

    @property
    def nested_row_splits(self):
        """The row_splits of all ragged dimensions, outermost first."""
        inner = self.values
        return (self.row_splits,) + (
            inner.nested_row_splits if isinstance(inner, Ragged) else ())

    @property
    def ragged_rank(self):
        """The number of ragged dimensions, and of those outside of them."""
        return len(self.nested_row_splits)


class RaggedTensorValue(Ragged):
    """The value of a RaggedTensor, as Session.run gives and takes it.

    `values`: an array or another RaggedTensorValue; `row_splits`: a vector of
    int32 or int64 that begins with 0 and ends with the number of rows of
    `values`. TypeError for others; ValueError for row_splits of another type
    than those of `values`."""

    def __init__(self, values, row_splits):
        if not (isinstance(row_splits, (np.ndarray, np.generic))
                and row_splits.dtype in (np.int64, np.int32)
                and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy "
                            "array, got %r" % (row_splits,))
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a "
                            "RaggedTensorValue, got %r" % (values,))
        if isinstance(values, RaggedTensorValue) \
                and row_splits.dtype != values.row_splits.dtype:
            raise ValueError(
                "row_splits (%s) and values.row_splits (%s) must have the same "
                "dtype" % (row_splits.dtype, values.row_splits.dtype))
        self._values = values
        self._row_splits = row_splits

    values = property(lambda self: self._values)
    row_splits = property(lambda self: self._row_splits)
    dtype = property(lambda self: self._values.dtype)

    @property
    def shape(self):
        """A tuple, with None for the ragged dimensions."""
        return (len(self._row_splits) - 1, None) + self._values.shape[1:]

    def to_list(self):
        """Nested lists."""
        inner = self._values
        rows = inner.to_list() if isinstance(inner, Ragged) else inner.tolist()
        splits = self._row_splits
        return [rows[a:b] for a, b in zip(splits[:-1], splits[1:])]

    def _leaf_and_tensor(self, slices=False):
        tensors = load("_src.ragged.ragged_tensor")
        return tensors.convert(self)._leaf_and_tensor(slices)

    def __str__(self):
        return "<tf.RaggedTensorValue %s>" % self.to_list()

    def __repr__(self):
        return "tf.RaggedTensorValue(values=%r, row_splits=%r)" % (
            self._values, self._row_splits)


def is_ragged(value):
    """True for a RaggedTensor or RaggedTensorValue."""
    return isinstance(value, Ragged)
