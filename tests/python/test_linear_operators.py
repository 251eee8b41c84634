"""tf.linalg.LinearOperator*, compared with NumPy."""
import numpy as np
import pytest

import headrace as tf

linalg = tf.linalg
M = np.array([[[2., 1.], [3., 4.]], [[1., 5.], [-2., 3.]]], np.float32)
D = np.array([[2., -3.], [1., 4.]], np.float32)
X = np.array([[[1., 2., 3.], [4., 5., 6.]]] * 2, np.float32)
CASES = [
    (lambda: linalg.LinearOperatorFullMatrix(M), M),
    (lambda: linalg.LinearOperatorLowerTriangular(M), np.tril(M)),
    (lambda: linalg.LinearOperatorDiag(D),
     np.stack([np.diag(row) for row in D]))]


@pytest.mark.parametrize("make, dense", CASES)
@pytest.mark.parametrize("adjoint", [False, True])
def test_products_and_solutions(make, dense, adjoint):
    with tf.Graph().as_default(), tf.Session() as session:
        op = make()
        got = session.run([
            op.matmul(X, adjoint=adjoint),
            op.matmul(X.transpose(0, 2, 1), adjoint=adjoint, adjoint_arg=True),
            op.matvec(D, adjoint=adjoint), op.solve(X, adjoint=adjoint),
            op.solvevec(D, adjoint=adjoint)])
    a = dense.transpose(0, 2, 1) if adjoint else dense
    column = D[..., None]
    wanted = [a @ X, a @ X, (a @ column)[..., 0], np.linalg.solve(a, X),
              np.linalg.solve(a, column)[..., 0]]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("make, dense", CASES)
def test_parts(make, dense):
    with tf.Graph().as_default(), tf.Session() as session:
        op = make()
        assert op.shape.as_list() == [2, 2, 2] and op.is_square
        assert op.batch_shape.as_list() == [2] and op.tensor_rank == 3
        got = session.run([
            op.to_dense(), op.add_to_tensor(M), op.diag_part(), op.trace(),
            op.determinant(), op.log_abs_determinant(), op.shape_tensor()])
    det = np.linalg.det(dense)
    wanted = [dense, dense + M, np.diagonal(dense, axis1=1, axis2=2),
              np.trace(dense, axis1=1, axis2=2), det, np.log(abs(det)),
              [2, 2, 2]]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-5)


def test_names():
    with tf.Graph().as_default():
        dense = linalg.LinearOperatorLowerTriangular(M).to_dense()
    assert dense.op.name == (
        "LinearOperatorLowerTriangular/to_dense/MatrixBandPart")


@pytest.mark.parametrize("make, error, words", [
    (lambda: linalg.LinearOperatorLowerTriangular([1.]), ValueError,
     "Argument tril must have at least 2 dimensions"),
    (lambda: linalg.LinearOperatorLowerTriangular(M, is_square=False),
     ValueError, "Only square lower triangular"),
    (lambda: linalg.LinearOperatorDiag(2.), ValueError,
     "Argument diag must have at least 1 dimension"),
    (lambda: linalg.LinearOperatorFullMatrix(X).determinant(),
     NotImplementedError, "not square"),
    (lambda: linalg.LinearOperatorFullMatrix(X).solve(X),
     NotImplementedError, "not square")])
def test_refusals(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()
