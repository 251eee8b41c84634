"""Updates of parts of variables and tensors, and sums by segments, against
NumPy."""
import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import expect_close, run_op

TYPES = [np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
         np.uint8, np.uint16]
INDICES = [np.int32, np.int64]
MEANING = {"Update": lambda old, new: new, "Add": np.add, "Sub": np.subtract,
           "Mul": np.multiply, "Min": np.minimum, "Max": np.maximum,
           "Div": lambda a, b: (a / b if a.dtype.kind == "f" else a // b)}


def updated(op, value, resource, *inputs, **attrs):
    """The variable's value after the op."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(value, use_resource=resource)
        session.run(variable.initializer)
        done = getattr(raw_ops, op)(variable.handle if resource else variable.op.outputs[0],
                                    *inputs, **attrs)
        session.run(done.op if hasattr(done, "op") else done)
        return session.run(variable.read_value())


# By reference, minima and maxima are of these types alone.
ORDERED = [np.float16, np.float32, np.float64, np.int32, np.int64]


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("name, dtype, resource", [
    (name, dtype, resource) for name in MEANING for dtype in TYPES
    for resource in (False, True)
    if resource or name not in ("Min", "Max") or dtype in ORDERED])
def test_scattered_rows(name, dtype, index, resource):
    value = (np.arange(12).reshape(4, 3) + 20).astype(dtype)
    rows = np.array([2, 0, 2] if name != "Update" else [2, 0], index)
    updates = (np.arange(3 * len(rows)) % 3 + 1).astype(dtype).reshape(-1, 3)
    wanted = value.copy()
    for row, update in zip(rows, updates):
        wanted[row] = MEANING[name](wanted[row], update)
    op = ("ResourceScatter" if resource else "Scatter") + name
    got = updated(op, value, resource, rows, updates)
    expect_close(got, wanted, 1e-2 if dtype == np.float16 else 1e-5)


@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["Update", "Add", "Sub", "Min", "Max"])
def test_scattered_elements_and_slices(name, dtype, index, resource):
    value = (np.arange(12).reshape(4, 3) + 20).astype(dtype)
    op = ("ResourceScatterNd" if resource else "ScatterNd") + name
    places = np.array([[3, 1], [0, 2]], index)
    updates = np.array([30, 3], dtype)
    wanted = value.copy()
    for place, update in zip(places, updates):
        wanted[tuple(place)] = MEANING[name](wanted[tuple(place)], update)
    expect_close(updated(op, value, resource, places, updates), wanted)
    rows, updates = np.array([[3], [1]], index), value[:2] + dtype(4)
    wanted = value.copy()
    wanted[[3, 1]] = MEANING[name](wanted[[3, 1]], updates)
    expect_close(updated(op, value, resource, rows, updates), wanted)


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES + [np.uint32, np.uint64])
@pytest.mark.parametrize("op", ["TensorScatterAdd", "TensorScatterSub",
                                "TensorScatterMin", "TensorScatterMax",
                                "TensorScatterUpdate", "ScatterNdNonAliasingAdd"])
def test_tensors_with_scattered_updates(op, dtype, index):
    if op == "ScatterNdNonAliasingAdd" and dtype in (np.uint32, np.uint64):
        dtype = np.complex64
    value = (np.arange(8) + 20).astype(dtype)
    places, updates = np.array([[4], [1], [7]], index), np.array([9, 40, 3], dtype)
    wanted = value.copy()
    meaning = MEANING[op[-3:] if op[-3:] in MEANING else "Update"]
    wanted[places[:, 0]] = meaning(wanted[places[:, 0]], updates)
    expect_close(run_op(op, value, places, updates), wanted)


@pytest.mark.parametrize("op", ["Update", "Add", "Sub"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float64, np.int64])
def test_rows_written_in_place(op, dtype):
    value = np.arange(12).reshape(4, 3).astype(dtype)
    rows, updates = np.int32([3, 1]), np.full((2, 3), 7, dtype)
    wanted = value.copy()
    wanted[[3, 1]] = MEANING[op](wanted[[3, 1]], updates)
    expect_close(run_op("Inplace" + op, value, rows, updates), wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_variables_are_added_to_and_subtracted_from(dtype):
    value, other = np.array([9, 7], dtype), np.array([2, 3], dtype)
    expect_close(updated("AssignAddVariableOp", value, True, other), value + other)
    expect_close(updated("AssignSubVariableOp", value, True, other), value - other)


def test_slices_of_variables_and_tensors_are_assigned():
    value = np.arange(20, dtype=np.float32).reshape(4, 5)
    bounds = [np.int32(b) for b in ([0, 1], [4, 5], [2, 3])]
    new = np.float32([[90, 91], [92, 93]])
    wanted = value.copy()
    wanted[0:4:2, 1:5:3] = new
    for op, resource in (("StridedSliceAssign", False),
                         ("ResourceStridedSliceAssign", True)):
        expect_close(updated(op, value, resource, *bounds, new), wanted)
    expect_close(run_op("TensorStridedSliceUpdate", value, *bounds, new), wanted)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_counting_up_to_a_limit(dtype):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(dtype(3), use_resource=True)
        count = raw_ops.ResourceCountUpTo(variable.handle, limit=5, T=dtype)
        session.run(variable.initializer)
        assert [session.run(count), session.run(count)] == [3, 4]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(count)
        assert session.run(variable.read_value()) == 5


SEGMENTS = {"Sum": (np.sum, 0), "Prod": (np.prod, 1), "Max": (np.max, None),
            "Min": (np.min, None)}


def by_segment(x, ids, count, reduce, empty):
    return np.stack([reduce(x[ids == k], axis=0) if np.any(ids == k)
                     else np.full(x.shape[1:], empty, x.dtype) for k in range(count)])


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", SEGMENTS)
def test_segments_with_their_number(name, dtype, index):
    x = (np.arange(15).reshape(5, 3) % 4 + 1).astype(dtype)
    ids = np.array([0, 0, 1, 3, 3], index)
    reduce, empty = SEGMENTS[name]
    if empty is None:
        info = np.finfo if np.dtype(dtype).kind == "f" else np.iinfo
        empty = info(dtype).min if name == "Max" else info(dtype).max
    expect_close(run_op("Segment%sV2" % name, x, ids, np.int32(5)),
                 by_segment(x, ids, 5, reduce, empty))


REDUCTIONS = {"Sum": lambda n: 1, "Mean": lambda n: n, "SqrtN": np.sqrt}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("segment", INDICES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_sparse_segments_and_their_gradients(name, dtype, segment, index):
    x = np.random.RandomState(0).randn(6, 2).astype(dtype)
    rows = np.array([5, 0, 2, 2, 1], index)
    ids = np.array([0, 0, 0, 2, 2], segment)
    tolerance = 1e-2 if dtype == np.float16 else 1e-5
    matrix = np.zeros((4, 6))  # of the linear map that the op is
    for row, k in zip(rows, ids):
        matrix[k, row] += 1 / REDUCTIONS[name](np.sum(ids == k))
    got = run_op("SparseSegment%sWithNumSegments" % name, x, rows, ids, np.int32(4))
    expect_close(got, matrix @ x.astype(np.float64), tolerance, tolerance)
    expect_close(run_op("SparseSegment" + name, x, rows, ids),
                 (matrix @ x.astype(np.float64))[:3], tolerance, tolerance)
    grads = np.random.RandomState(1).randn(4, 2).astype(dtype)
    got = run_op("SparseSegment%sGrad" % name, grads, rows, ids, np.int32(6))
    expect_close(got, matrix.T @ grads.astype(np.float64), tolerance, tolerance)


@pytest.mark.parametrize("dtype", TYPES + [np.complex64, np.bool_])
def test_parallel_stitching(dtype):
    indices = [np.int32([4, 0]), np.int32([[1], [3]]), np.int32(2)]
    data = [np.arange(4).reshape(2, 2), np.arange(4, 8).reshape(2, 1, 2),
            np.int32([8, 9])]
    got = run_op("ParallelDynamicStitch", indices, [d.astype(dtype) for d in data])
    wanted = np.array([[2, 3], [4, 5], [8, 9], [6, 7], [0, 1]]).astype(dtype)
    expect_close(got, wanted)


@pytest.mark.parametrize("result", INDICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64,
                                   np.int8, np.uint8, np.float16])
def test_bounds_in_sorted_rows(dtype, result):
    rows = np.sort(np.random.RandomState(0).randint(0, 9, (3, 7)), axis=1).astype(dtype)
    values = np.tile(np.arange(10), (3, 1)).astype(dtype)
    for op, side in (("LowerBound", "left"), ("UpperBound", "right")):
        got = run_op(op, rows, values, out_type=result)
        assert got.dtype == result
        expect_close(got, [np.searchsorted(r, v, side) for r, v in zip(rows, values)])


@pytest.mark.parametrize("result", INDICES)
@pytest.mark.parametrize("axis", INDICES)
def test_unique_rows_with_counts(axis, result):
    x = np.int32([[1, 2], [3, 4], [1, 2], [0, 0], [1, 2]])
    y, index, count = run_op("UniqueWithCountsV2", x, np.array([0], axis),
                             out_idx=result)
    assert y.tolist() == [[1, 2], [3, 4], [0, 0]]
    assert index.dtype == count.dtype == result
    assert index.tolist() == [0, 1, 0, 2, 0] and count.tolist() == [3, 1, 1]
