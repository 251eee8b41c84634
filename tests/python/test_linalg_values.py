"""Decompositions, solvers and their gradients against NumPy."""
import numpy as np
import pytest

import headrace as tf
from op_values import expect_close, numeric_gradient, run_old_op, run_op

TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def tolerance(dtype):
    return 2e-3 if np.dtype(dtype).type in (np.float32, np.complex64) else 1e-9


def random(shape, dtype, seed=0):
    r = np.random.RandomState(seed)
    x = r.randn(*shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * r.randn(*shape)
    return x.astype(dtype)


def well_conditioned(shape, dtype, seed=0):
    return random(shape, dtype, seed) + 3 * np.eye(*shape[-2:]).astype(dtype)


def hermitian(shape, dtype, seed=0):
    x = random(shape, dtype, seed)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) +
            np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_lu_gives_the_factors_of_the_permuted_matrix(dtype, index):
    x = random((2, 5, 5), dtype)
    lu, p = run_op("Lu", x, output_idx_type=index)
    assert p.dtype == index
    lower = np.tril(lu, -1) + np.eye(5)
    upper = np.triu(lu)
    for k in range(2):
        assert sorted(p[k]) == list(range(5))
        expect_close(lower[k] @ upper[k], x[k][p[k]], tolerance(dtype),
                     tolerance(dtype))
        # Partial pivoting: no factor is larger than one (of |re| + |im| for
        # complex numbers: sqrt(2)).
        assert np.abs(np.tril(lu[k], -1)).max() <= 2 ** .5 + 1e-5


def test_lu_takes_the_largest_pivot():
    x = np.array([[1., 2.], [-4., 5.]])
    lu, p = run_op("Lu", x)
    expect_close(lu, [[-4, 5], [-.25, 3.25]])
    assert list(p) == [1, 0]


@pytest.mark.parametrize("dtype", TYPES)
def test_log_matrix_determinant_is_slogdet(dtype):
    x = np.stack([random((4, 4), dtype, seed) for seed in range(4)])
    sign, log = run_op("LogMatrixDeterminant", x)
    wanted_sign, wanted_log = np.linalg.slogdet(x.astype(np.complex128))
    if np.dtype(dtype).kind != "c":
        wanted_sign = wanted_sign.real
        assert set(np.sign(wanted_sign)) == {-1, 1}  # both are in the cases
    expect_close(sign, wanted_sign, tolerance(dtype), tolerance(dtype))
    expect_close(np.real(log), wanted_log, tolerance(dtype), tolerance(dtype))
    assert log.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_log_matrix_determinant_of_a_singular_matrix(dtype):
    sign, log = run_op("LogMatrixDeterminant", np.zeros((1, 2, 2), dtype))
    assert sign[0] == 0 and np.real(log[0]) == -np.inf


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("rows, columns", [(6, 3), (3, 6), (4, 4)])
def test_matrix_solve_ls_minimizes(dtype, fast, rows, columns):
    matrix = random((2, rows, columns), dtype)
    rhs = random((2, rows, 2), dtype, 1)
    got = run_op("MatrixSolveLs", matrix, rhs, 0., fast=fast)
    wanted = np.stack([np.linalg.lstsq(m, r, rcond=None)[0]
                       for m, r in zip(matrix, rhs)])
    expect_close(got, wanted, 10 * tolerance(dtype), 10 * tolerance(dtype))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows, columns", [(6, 3), (3, 6)])
def test_matrix_solve_ls_with_a_regularizer(dtype, rows, columns):
    matrix = random((rows, columns), dtype)
    rhs = random((rows, 2), dtype, 1)
    l2 = .75
    got = run_op("MatrixSolveLs", matrix, rhs, l2, fast=True)
    adjoint = np.conj(matrix.T)
    wanted = np.linalg.solve(adjoint @ matrix + l2 * np.eye(columns), adjoint @ rhs)
    expect_close(got, wanted, tolerance(dtype), tolerance(dtype))


@pytest.mark.parametrize("name", ["CholeskyGrad", "BatchCholeskyGrad"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cholesky_grad_is_the_derivative(dtype, name):
    x = hermitian((3, 3), np.float64)
    weights = np.tril(random((3, 3), np.float64, 1))
    factor = np.linalg.cholesky(x)

    # The gradient is symmetric: it shares what an element and its mirror do.
    def cholesky(a):
        return np.linalg.cholesky((a + a.T) / 2)

    run = run_op if name == "CholeskyGrad" else run_old_op
    got = run(name, factor.astype(dtype), weights.astype(dtype))
    expect_close(got, numeric_gradient(cholesky, x, weights), 1e-3, 1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cholesky_grad_of_a_batch_is_that_of_each(dtype):
    factor = np.linalg.cholesky(hermitian((3, 4, 4), dtype))
    grad = np.tril(random((3, 4, 4), dtype, 1))
    expect_close(run_op("CholeskyGrad", factor, grad),
                 np.stack([run_op("CholeskyGrad", f, g)
                           for f, g in zip(factor, grad)]))


@pytest.mark.parametrize("dtype", TYPES)
def test_eigenvalues_and_vectors_of_any_matrix(dtype):
    x = random((2, 4, 4), dtype)
    result = np.complex64 if tolerance(dtype) > 1e-6 else np.complex128
    values, vectors = run_op("Eig", x, Tout=result)
    for k in range(2):
        expect_close(x[k] @ vectors[k], vectors[k] * values[k], tolerance(dtype),
                     tolerance(dtype))
        order = lambda v: sorted(np.round(v.astype(np.complex128), 3).tolist(),
                                 key=lambda c: (c.real, c.imag))
        expect_close(order(values[k]), order(np.linalg.eigvals(x[k])), atol=2e-3)
        expect_close(np.linalg.norm(vectors[k], axis=0), np.ones(4), 1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decompositions_of_old_graphs(dtype):
    x = hermitian((2, 3, 3), dtype)
    close = dict(rtol=tolerance(dtype), atol=tolerance(dtype))
    values = np.linalg.eigvalsh(x)
    packed = run_old_op("BatchSelfAdjointEig", x)
    expect_close(packed[:, 0], values, **close)
    expect_close(run_old_op("SelfAdjointEig", x[0])[0], values[0], **close)
    vectors = packed[:, 1:]
    expect_close(x @ vectors, vectors * values[:, None, :], **close)
    got, vectors = run_old_op("BatchSelfAdjointEigV2", x)
    expect_close(got, values, **close)
    expect_close(x @ vectors, vectors * values[:, None, :], **close)
    expect_close(run_old_op("BatchCholesky", x), np.linalg.cholesky(x), **close)
    s, u, v = run_old_op("BatchSvd", x)
    expect_close(u * s[:, None, :] @ np.swapaxes(v, -1, -2), x, **close)
    expect_close(s, np.linalg.svd(x, compute_uv=False), **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_solvers_of_old_graphs(dtype):
    x = well_conditioned((2, 3, 3), dtype)
    rhs = random((2, 3, 2), dtype, 1)
    close = dict(rtol=tolerance(dtype), atol=tolerance(dtype))
    expect_close(run_old_op("BatchMatrixInverse", x), np.linalg.inv(x), **close)
    expect_close(run_old_op("BatchMatrixDeterminant", x), np.linalg.det(x), **close)
    expect_close(run_old_op("BatchMatrixSolve", x, rhs, adjoint=True),
                 np.linalg.solve(np.swapaxes(x, -1, -2), rhs), **close)
    expect_close(run_old_op("BatchMatrixTriangularSolve", x, rhs, lower=True),
                 np.linalg.solve(np.tril(x), rhs), **close)
    expect_close(run_old_op("BatchMatrixSolveLs", x, rhs, np.float64(0)),
                 np.linalg.solve(x, rhs), **close)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
def test_diagonals_of_old_graphs(dtype):
    x = (10 * random((2, 3, 4), np.float64)).astype(dtype)
    diagonal = (10 * random((2, 3), np.float64, 1)).astype(dtype)
    expect_close(run_old_op("BatchMatrixBandPart", x, np.int64(1), np.int64(0)),
                 np.stack([np.triu(np.tril(m), -1) for m in x]))
    expect_close(run_old_op("BatchMatrixDiagPart", x),
                 np.stack([np.diag(m) for m in x]))
    expect_close(run_old_op("BatchMatrixDiag", diagonal),
                 np.stack([np.diag(d) for d in diagonal]))
    wanted = x.copy()
    wanted[:, range(3), range(3)] = diagonal
    expect_close(run_old_op("BatchMatrixSetDiag", x, diagonal), wanted)


@pytest.mark.parametrize("version", ["V2", "V3"])
def test_bands_of_diagonals(version):
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    # V2 puts what a diagonal is too short for on its right, V3 as it is told.
    align = {} if version == "V2" else {"align": "LEFT_RIGHT"}
    k, pad = np.int32([-1, 1]), np.float32(-7)
    bands = run_op("MatrixDiagPart" + version, x, k, pad, **align)
    expect_close(bands, [[2, 7, 12], [1, 6, 11], [5, 10, -7] if version == "V2"
                         else [-7, 5, 10]])
    size = np.int32(3), np.int32(4)
    back = run_op("MatrixDiag" + version, bands, k, *size, np.float32(0), **align)
    banded = np.where(np.abs(np.subtract.outer(range(3), range(4))) <= 1, x, 0)
    expect_close(back, banded)
    filled = run_op("MatrixSetDiag" + version, np.full((3, 4), 9, np.float32),
                    bands, k, **align)
    expect_close(filled, np.where(banded == 0, 9, banded))


def test_a_determinant_may_be_infinite():
    with tf.Session() as session:
        got = session.run(tf.matrix_determinant(
            np.float32([[[1e30, 0], [0, 1e30]], [[np.nan, 0], [0, 1]],
                        [[2, 1], [1, 3]]])))
    assert got[0] == np.inf and np.isnan(got[1]) and got[2] == 5
