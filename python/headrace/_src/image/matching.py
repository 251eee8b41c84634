"""tf.contrib.image.bipartite_match: pairs of rows and columns by distance.

The pairs come out of a binary heap, which decides between equal distances. The
heap is that of the C++ library with which TensorFlow is built, so that the
matches are TensorFlow's there too."""
import collections
import operator

import numpy as np

from headrace._src.control.script_ops import py_func
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor

BipartiteMatch = collections.namedtuple(
    "BipartiteMatch", "row_to_col_match_indices col_to_row_match_indices")


def _push_up(heap, hole, item):
    """Puts `item` at the free place `hole`, or above it."""
    while hole > 0 and heap[(hole - 1) // 2][0] > item[0]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item


def _push(heap, item):
    heap.append(item)
    _push_up(heap, len(heap) - 1, item)


def _pop(heap):
    """The item of the smallest distance; of children that are equal, the second
    moves up."""
    first, last = heap[0], heap.pop()
    if heap:
        hole = 0
        while 2 * hole + 1 < len(heap):
            child = 2 * hole + 2
            if child == len(heap) or heap[child][0] > heap[child - 1][0]:
                child -= 1
            heap[hole] = heap[child]
            hole = child
        _push_up(heap, hole, last)
    return first


def _match(distances, valid, top_k):
    """The two vectors, of a float32 matrix."""
    rows, columns = distances.shape
    if valid.size != 1:
        raise ValueError("bipartite_match: num_valid_rows has %d elements, must "
                         "have 1" % valid.size)
    valid = int(valid.reshape(-1)[0])
    if valid > rows:
        raise ValueError(
            "There should be at least %d rows in distance_mat, but only got %d "
            "rows." % (valid, rows))
    if valid < 0:
        valid = rows
    left = min(valid, columns, top_k if top_k > 0 else columns)
    column_of = np.full(rows, -1, np.int32)
    row_of = np.full(columns, -1, np.int32)
    heap = []
    for i, row in enumerate(distances[:valid].tolist()):
        for j, distance in enumerate(row):
            _push(heap, (distance, i, j))
    while left:
        _, i, j = _pop(heap)
        if column_of[i] < 0 and row_of[j] < 0:
            column_of[i], row_of[j] = j, i
            left -= 1
    return column_of, row_of


def bipartite_match(distance_mat, num_valid_rows, top_k=-1,
                    name="bipartite_match"):
    """Pairs of a row and a column, each of which is in one pair at most: the
    pair of the smallest distance, then that of the smallest of those left.

    distance_mat: float32 [rows, columns]. num_valid_rows: a float32 scalar or
    vector of one element; rows from there on have no pair. Negative: all rows
    count. top_k: an int, how many pairs to find; as many as there are unless it
    is positive.
    Returns a named tuple (row_to_col_match_indices, int32 [rows]: the column of
    each row's pair or -1; col_to_row_match_indices, int32 [columns]: the row of
    each column's).
    It is a Python function of the graph (tf.py_func), so that a GraphDef which
    has it runs in this process only.
    ValueError for another rank, TypeError unless top_k is an int. A step fails
    where there are fewer rows than num_valid_rows.
    """
    try:
        top_k = operator.index(top_k)
    except TypeError:
        raise TypeError("bipartite_match: Expected int for argument 'top_k' not "
                        "%r." % (top_k,)) from None
    with name_scope(name, "bipartite_match", [distance_mat, num_valid_rows]):
        distances = convert_to_tensor(distance_mat, dtypes.float32,
                                      name="distance_mat")
        valid = convert_to_tensor(num_valid_rows, dtypes.float32,
                                  name="num_valid_rows")
        shape = distances.get_shape()
        if shape.ndims not in (None, 2):
            raise ValueError("bipartite_match: distance_mat: Shape must be rank "
                             "2 but is rank %d" % shape.ndims)
        found = py_func(lambda d, v: _match(d, v, top_k), [distances, valid],
                        [dtypes.int32, dtypes.int32], stateful=False)
        sizes = shape.as_list() if shape.ndims else [None, None]
        for vector, size in zip(found, sizes):
            vector.set_shape([size])
        return BipartiteMatch(*found)
