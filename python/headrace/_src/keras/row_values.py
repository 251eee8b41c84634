"""Sparse and ragged values as data of tf.keras: rows of them, and several joined to
one, as arrays can be."""
import numpy as np

from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.ragged.ragged_value import RaggedTensorValue


def is_rows(x):
    """Whether x is a value of a sparse or ragged tensor, or a matrix of
    scipy.sparse."""
    return isinstance(x, (SparseTensorValue, RaggedTensorValue)) or hasattr(
        x, "tocoo")


class Rows:
    """A sparse or ragged value, of which examples can be taken as of an array:
    `value`, and its `shape`, in which None is a ragged dimension."""

    def __init__(self, value):
        self.value = value
        self.shape = (tuple(int(n) for n in value.dense_shape)
                      if isinstance(value, SparseTensorValue)
                      else tuple(value.shape))
        self.ndim = len(self.shape)

    def __len__(self):
        return int(self.shape[0])

    def __getitem__(self, at):
        at = np.arange(len(self))[at]
        if isinstance(self.value, SparseTensorValue):
            return Rows(_sparse_rows(self.value, at))
        return Rows(_ragged_rows(self.value, at))


def _sparse_rows(value, at):
    indices, values = np.asarray(value.indices), np.asarray(value.values)
    found_indices, found_values = [], []
    for new, old in enumerate(at):
        own = indices[:, 0] == old
        rows = indices[own].copy()
        rows[:, 0] = new
        found_indices.append(rows)
        found_values.append(values[own])
    shape = [len(at)] + [int(n) for n in value.dense_shape[1:]]
    return SparseTensorValue(
        np.concatenate(found_indices) if len(at) else indices[:0],
        np.concatenate(found_values) if len(at) else values[:0],
        np.array(shape, np.int64))


def _ragged_rows(value, at):
    splits = value.row_splits
    pieces = [np.arange(splits[i], splits[i + 1]) for i in at]
    inner = np.concatenate(pieces) if pieces else np.zeros(0, np.int64)
    inner = inner.astype(np.int64)
    new = np.concatenate([[0], np.cumsum([len(p) for p in pieces])])
    values = value.values
    values = (_ragged_rows(values, inner)
              if isinstance(values, RaggedTensorValue) else values[inner])
    return RaggedTensorValue(values, new.astype(splits.dtype))


def _sparse_matrix(x):
    """A matrix of scipy.sparse as a SparseTensorValue, ordered by rows."""
    x = x.tocsr().tocoo()
    order = np.lexsort((x.col, x.row))
    return SparseTensorValue(
        np.stack([x.row[order], x.col[order]], 1).astype(np.int64),
        x.data[order], np.array(x.shape, np.int64))


def as_input(x, tensor, name):
    """What is fed to the input `tensor`, given x: an array, or Rows for a sparse or
    ragged one. ValueError for another kind of value."""
    if isinstance(x, Rows):
        x = x.value
    if isinstance(tensor, SparseTensor):
        if hasattr(x, "tocoo"):
            x = _sparse_matrix(x)
        if not isinstance(x, SparseTensorValue):
            raise ValueError(
                "Error when checking input: %s is sparse, so it takes a "
                "SparseTensorValue or a matrix of scipy.sparse, got %s"
                % (name, type(x).__name__))
        values = np.asarray(x.values).astype(tensor.dtype.as_numpy_dtype)
        return Rows(SparseTensorValue(x.indices, values, x.dense_shape))
    if hasattr(tensor, "flat_values"):
        if not isinstance(x, RaggedTensorValue):
            raise ValueError(
                "Error when checking input: %s is ragged, so it takes a "
                "RaggedTensorValue, got %s" % (name, type(x).__name__))
        return Rows(x)
    if isinstance(x, (SparseTensorValue, RaggedTensorValue)):
        raise ValueError(
            "Error when checking input: %s takes arrays, got %s; declare it by "
            "tf.keras.Input with sparse=True or ragged=True"
            % (name, type(x).__name__))
    return x.toarray() if hasattr(x, "toarray") else x


def joined(parts):
    """The outputs of several batches as one value."""
    if isinstance(parts[0], SparseTensorValue):
        begins = np.cumsum([0] + [int(p.dense_shape[0]) for p in parts])
        indices = []
        for begin, part in zip(begins, parts):
            rows = np.array(part.indices)
            rows[:, 0] += begin
            indices.append(rows)
        shape = np.max([p.dense_shape for p in parts], axis=0)
        shape[0] = begins[-1]
        return SparseTensorValue(
            np.concatenate(indices), np.concatenate([p.values for p in parts]),
            shape)
    if isinstance(parts[0], RaggedTensorValue):
        splits, begin = [parts[0].row_splits[:1]], 0
        for part in parts:
            splits.append(part.row_splits[1:] + begin)
            begin += part.row_splits[-1]
        return RaggedTensorValue(
            joined([p.values for p in parts]),
            np.concatenate(splits).astype(parts[0].row_splits.dtype))
    return np.concatenate(parts)
