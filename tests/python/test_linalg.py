"""tf.linalg: what is made of several ops. Values are NumPy's or TensorFlow's."""
import numpy as np
import pytest

import headrace as tf


def run(*tensors):
    with tf.Session() as sess:
        return sess.run(list(tensors) if len(tensors) > 1 else tensors[0])


M = np.array([[4., 1, 0.5], [2, 3, -1], [.25, 1, 7]])
# Summed up in fractions.
E = np.array([
    [123.48221454584494, 75.04555160277386, 97.66030425663756],
    [49.86188911346332, -1.6779441029711006, -195.32060851327512],
    [249.28858031248754, 295.5498226053595, 949.9941539066728]])


def test_functions_of_a_matrix():
    np.testing.assert_allclose(run(tf.linalg.expm(M)), E, rtol=1e-11)
    np.testing.assert_allclose(run(tf.linalg.expm(M.astype(np.float32))), E,
                               rtol=1e-5, atol=1e-3)
    root = run(tf.linalg.sqrtm(M))
    np.testing.assert_allclose(root @ root, M, rtol=1e-12)
    log = tf.linalg.logm(M.astype(np.complex128))
    np.testing.assert_allclose(run(tf.linalg.expm(log)), M, rtol=1e-11)


def test_expm_halves_each_matrix_as_it_needs():
    small, large = M * 1e-3, np.diag([60., -60, 1])
    both = tf.placeholder(tf.float64)
    e = tf.linalg.expm(both)
    with tf.Session() as sess:
        got = sess.run(e, {both: [[small, large]]})
        np.testing.assert_allclose(got[0, 0], run(tf.linalg.expm(small)),
                                   rtol=1e-15)
        np.testing.assert_allclose(np.diag(got[0, 1]), np.exp([60., -60, 1]),
                                   rtol=1e-11)
        assert sess.run(e, {both: np.zeros([0, 3, 3])}).shape == (0, 3, 3)
        assert sess.run(e, {both: np.zeros([2, 0, 0])}).shape == (2, 0, 0)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(e, {both: M * np.nan})


A = np.array([[4., 1, 0, 0], [2, 5, -1, 0], [0, 1, 6, 3], [0, 0, 2, 7]])
ABOVE, MAIN, BELOW = [1., -1, 3], [4., 5, 6, 7], [2., 1, 2]
FORMS = [
    ("compact", [ABOVE + [99], MAIN, [99] + BELOW]),
    ("sequence", (ABOVE + [99], MAIN, [99] + BELOW)),
    ("sequence", (ABOVE, MAIN, BELOW)),
    ("matrix", A + np.eye(4, k=2)),
]


@pytest.mark.parametrize("form, diagonals", FORMS)
def test_tridiagonal(form, diagonals):
    if form != "sequence":
        diagonals = np.array(diagonals)
    else:
        diagonals = tuple(np.array(d) for d in diagonals)
    right = np.arange(8.).reshape(4, 2) + 1
    want = np.linalg.solve(A, right)

    def solve(rhs, **options):
        return run(tf.linalg.tridiagonal_solve(diagonals, rhs, form, **options))

    np.testing.assert_allclose(solve(right), want)
    np.testing.assert_allclose(solve(right, partial_pivoting=False), want)
    np.testing.assert_allclose(solve(right[:, 0]), want[:, 0])
    np.testing.assert_allclose(solve(right.T, transpose_rhs=True), want)
    np.testing.assert_allclose(
        run(tf.linalg.tridiagonal_matmul(diagonals, right, form)), A @ right)


def test_tridiagonal_takes_conjugates_and_batches():
    d = np.array(FORMS[0][1]) * (1 + 1j)
    right = np.arange(4.) * 1j + 1
    got = run(tf.linalg.tridiagonal_solve(np.stack([d, 2 * d]),
                                          np.stack([right, right]),
                                          conjugate_rhs=True))
    want = np.linalg.solve(A * (1 + 1j), right.conj())
    np.testing.assert_allclose(got, [want, want / 2])
    one = run(tf.linalg.tridiagonal_solve(np.array([[4.]]), np.array([[2.]]), "matrix"))
    assert one.tolist() == [[0.5]]


def test_tridiagonal_refuses():
    with pytest.raises(ValueError, match="Unrecognized diagonals_format: x"):
        tf.linalg.tridiagonal_solve(A, A, "x")
    with pytest.raises(ValueError, match="sequence of length 3"):
        tf.linalg.tridiagonal_solve(A, A, "sequence")
    with pytest.raises(ValueError, match="to be equal, got 3 and 4"):
        tf.linalg.tridiagonal_matmul(A[:3], A, "matrix")
    with pytest.raises(ValueError):
        tf.linalg.tridiagonal_solve(A, A)  # four diagonals


def _names():
    return [n.name for n in tf.get_default_graph().as_graph_def().node]


UNKNOWN = (None, [None, 3], [None, None, None])


@pytest.mark.parametrize("rows", [4, 2])
@pytest.mark.parametrize("l2", [0., .5])
@pytest.mark.parametrize("shape", ("known",) + UNKNOWN)
def test_lstsq_takes_a_regularizer_of_the_type_of_the_matrix(rows, l2, shape):
    batch = 1 if shape == [None, 3] else 2
    m = np.random.RandomState(0).rand(batch, rows, 3).astype(np.float32)
    r = np.random.RandomState(1).rand(batch, rows, 2).astype(np.float32)
    if batch == 1:
        m, r = m[0], r[0]
    matrix = tf.constant(m) if shape == "known" else tf.placeholder(
        tf.float32, shape)
    x = tf.linalg.lstsq(matrix, r, tf.constant(l2))
    regular = np.swapaxes(m, -1, -2) @ m + l2 * np.eye(3)
    wanted = np.linalg.pinv(regular, 1e-5) @ np.swapaxes(m, -1, -2) @ r
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(x, {matrix: m}), wanted,
                                   rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("shape, fast, op", [
    ([4, 3], True, "Cholesky"),
    ([4, 3], False, "MatrixSolveLs"),
    ([3, 4, 3], True, "Cholesky"),
    ([9000, 4, 3], True, "MatrixSolveLs"),
])
def test_lstsq_is_one_op_for_large_batches_of_small_matrices(shape, fast, op):
    tf.linalg.lstsq(tf.zeros(shape), tf.zeros(shape), fast=fast)
    types = {n.op for n in tf.get_default_graph().as_graph_def().node}
    assert {"Cholesky", "MatrixSolveLs"} & types == {op}


def test_lstsq_refuses_a_regularizer_for_complex128():
    with pytest.raises(NotImplementedError, match="complex128"):
        tf.linalg.lstsq(np.eye(2, dtype=np.complex128),
                        np.eye(2, dtype=np.complex128), .5)


def test_nodes_of_eye_of_unknown_size_have_their_names():
    size = tf.placeholder(tf.int32, [], name="n")
    tf.eye(size, 3, name="eye")
    assert _names() == [
        "n", "eye/Minimum/y", "eye/Minimum", "eye/shape",
        "eye/concat/values_1", "eye/concat/axis", "eye/concat",
        "eye/concat_1/values_1/1", "eye/concat_1/values_1",
        "eye/concat_1/axis", "eye/concat_1", "eye/ones/Const", "eye/ones",
        "eye/zeros/Const", "eye/zeros", "eye/set_diag"]
