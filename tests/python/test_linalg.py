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
