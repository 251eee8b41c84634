"""tf.linalg.LinearOperator*, compared with NumPy."""
import unittest

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat import operator_algebra as algebra
from headrace._src.compat import operator_utils as utils

linalg = tf.linalg
M = np.array([[[2., 1.], [3., 4.]], [[1., 5.], [-2., 3.]]], np.float32)
D = np.array([[2., -3.], [1., 4.]], np.float32)
X = np.array([[[1., 2., 3.], [4., 5., 6.]]] * 2, np.float32)
W = np.array([[[3.], [1.]]], np.float32)  # broadcasts
C = np.array([[1., 2., 3.], [4., 5., 6.]], np.float32)
KERNEL = np.array([[7., 1., .5], [2., -1., .25]], np.float32)


def full(m, **hints):
    return linalg.LinearOperatorFullMatrix(m, **hints)


def block(*parts):
    """[[a, 0], [0, b]] of matrices that broadcast."""
    n = sum(p.shape[-1] for p in parts)
    batch = np.broadcast_shapes(*[p.shape[:-2] for p in parts])
    out, at = np.zeros(batch + (n, n), parts[0].dtype), 0
    for p in parts:
        end = at + p.shape[-1]
        out[..., at:end, at:end], at = p, end
    return out


def kron(*parts):
    out = np.ones((1, 1), np.float32)
    for p in parts:
        batch = np.broadcast_shapes(out.shape[:-2], p.shape[:-2])
        a, b = [np.broadcast_to(m, batch + m.shape[-2:]) for m in (out, p)]
        out = np.einsum("...ij,...kl->...ikjl", a, b).reshape(
            batch + (a.shape[-2] * b.shape[-2], a.shape[-1] * b.shape[-1]))
    return out


def circulant(spectrum, depth, real):
    shape = spectrum.shape[-depth:]
    axes = tuple(range(-depth, 0))
    n = int(np.prod(shape))
    eye = np.eye(n).reshape((n,) + shape)
    out = np.fft.ifftn(np.fft.fftn(eye, axes=axes) * spectrum, axes=axes)
    out = out.reshape(n, n).T
    return (out.real.astype(np.float32) if real else out.astype(np.complex64))


def reflection(v):
    v = v / np.linalg.norm(v, axis=-1, keepdims=True)
    return np.eye(v.shape[-1], dtype=v.dtype) - 2 * (
        v[..., :, None] * v[..., None, :])


def toeplitz(col, row):
    n = len(col)
    return np.array([[col[i - j] if i >= j else row[j - i] for j in range(n)]
                     for i in range(n)], np.float32)


S = M @ M.transpose(0, 2, 1)
HINTS = {"is_self_adjoint": True, "is_positive_definite": True}
DIAG = np.stack([np.diag(row) for row in D])
SPECTRUM = np.array([1. + 2j, 3., -2. + 1j], np.complex64)
CASES = [
    (lambda: linalg.LinearOperatorFullMatrix(M), M),
    (lambda: linalg.LinearOperatorFullMatrix(S, **HINTS), S),
    (lambda: linalg.LinearOperatorLowerTriangular(M), np.tril(M)),
    (lambda: linalg.LinearOperatorDiag(D), DIAG),
    (lambda: linalg.LinearOperatorDiag(D * np.complex64(1 + 1j)),
     DIAG * np.complex64(1 + 1j)),
    (lambda: linalg.LinearOperatorIdentity(2, [2]),
     np.stack([np.eye(2, dtype=np.float32)] * 2)),
    (lambda: linalg.LinearOperatorScaledIdentity(2, [3., -4.]),
     np.array([3., -4.], np.float32)[:, None, None] * np.eye(2)),
    (lambda: linalg.LinearOperatorAdjoint(full(M)), M.transpose(0, 2, 1)),
    (lambda: linalg.LinearOperatorInversion(full(M)), np.linalg.inv(M)),
    (lambda: full(M).matmul(linalg.LinearOperatorDiag(D)), M @ DIAG),
    (lambda: linalg.LinearOperatorComposition(
        [full(M), full(M[0]), full(M[1])]), M @ M[0] @ M[1]),
    (lambda: linalg.LinearOperatorBlockDiag(
        [full(M), linalg.LinearOperatorDiag(D[0]), full([[5.]])]),
     block(M, DIAG[0], np.array([[5.]], np.float32))),
    (lambda: linalg.LinearOperatorKronecker(
        [full(M), linalg.LinearOperatorDiag(C[0]), full(M[1])]),
     kron(M, np.diag(C[0]), M[1])),
    (lambda: linalg.LinearOperatorLowRankUpdate(full(M), W, [[2.]]),
     M + 2 * W @ W.transpose(0, 2, 1)),
    (lambda: linalg.LinearOperatorLowRankUpdate(
        full(M), M, D, v=S), M + M @ DIAG @ S.transpose(0, 2, 1)),
    (lambda: linalg.LinearOperatorLowRankUpdate(full(S, **HINTS), W),
     S + W @ W.transpose(0, 2, 1)),
    (lambda: linalg.LinearOperatorHouseholder(D), reflection(D)),
    (lambda: linalg.LinearOperatorToeplitz(C[0], C[1]), toeplitz(C[0], C[1])),
    (lambda: linalg.LinearOperatorCirculant(
        C[0], input_output_dtype=tf.complex64), circulant(C[0], 1, False)),
    (lambda: linalg.LinearOperatorCirculant(SPECTRUM),
     circulant(SPECTRUM, 1, False)),
    (lambda: linalg.LinearOperatorCirculant2D(
        np.fft.fft2(KERNEL).astype(np.complex64), input_output_dtype=tf.float32),
     circulant(np.fft.fft2(KERNEL), 2, True)),
    (lambda: linalg.LinearOperatorCirculant3D(
        np.fft.fftn(KERNEL[None]).astype(np.complex64),
        input_output_dtype=tf.float32),
     circulant(np.fft.fftn(KERNEL[None]), 3, True)),
]


def arguments(dense):
    """A matrix and a vector for products from the left and right."""
    n, count = dense.shape[-1], int(np.prod(dense.shape[:-2]))
    x = (np.arange(count * n * 2).reshape(dense.shape[:-2] + (n, 2)) % 7 - 2)
    return x.astype(dense.dtype), x[..., 0].astype(dense.dtype)


@pytest.mark.parametrize("make, dense", CASES)
@pytest.mark.parametrize("adjoint", [False, True])
def test_products_and_solutions(make, dense, adjoint):
    dense = dense.astype(np.complex64 if np.iscomplexobj(dense)
                         else np.float32)
    x, v = arguments(dense)
    x_adjoint = np.swapaxes(x.conj(), -1, -2)
    with tf.Graph().as_default(), tf.Session() as session:
        op = make()
        tensors = [
            op.matmul(x, adjoint=adjoint),
            op.matmul(x_adjoint, adjoint=adjoint, adjoint_arg=True),
            op.matvec(v, adjoint=adjoint), op.solve(x, adjoint=adjoint),
            op.solve(x_adjoint, adjoint=adjoint, adjoint_arg=True),
            op.solvevec(v, adjoint=adjoint),
            (op.adjoint() if adjoint else op).inverse().matmul(x),
            op.matmul(op, adjoint=adjoint).matmul(x)]
        got = session.run(tensors)
    a = np.swapaxes(dense.conj(), -1, -2) if adjoint else dense
    solved = np.linalg.solve(a.astype(np.complex128), x)
    wanted = [a @ x, a @ x, (a @ v[..., None])[..., 0], solved, solved,
              np.linalg.solve(a.astype(np.complex128), v[..., None])[..., 0],
              solved, a @ dense @ x]
    for t, g, w in zip(tensors, got, wanted):
        assert t.shape.is_compatible_with(g.shape) and t.shape.ndims == g.ndim
        np.testing.assert_allclose(g, w, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("make, dense", CASES)
def test_parts(make, dense):
    dense = dense.astype(np.complex64 if np.iscomplexobj(dense)
                         else np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        op = make()
        assert op.shape.as_list() == list(dense.shape) and op.is_square
        assert op.batch_shape.as_list() == list(dense.shape[:-2])
        assert op.tensor_rank == dense.ndim
        assert op.dtype.as_numpy_dtype == dense.dtype
        got = session.run([
            op.to_dense(), op.add_to_tensor(dense), op.diag_part(), op.trace(),
            op.determinant(), op.log_abs_determinant(), op.shape_tensor(),
            op.batch_shape_tensor(), op.domain_dimension_tensor(),
            op.range_dimension_tensor(), op.tensor_rank_tensor(),
            op.adjoint().to_dense(), op.inverse().to_dense(),
            op.inverse().determinant(), op.H.log_abs_determinant()])
    det = np.linalg.det(dense)
    n = dense.shape[-1]
    wanted = [dense, dense + dense, np.diagonal(dense, axis1=-2, axis2=-1),
              np.trace(dense, axis1=-2, axis2=-1), det, np.log(abs(det)),
              dense.shape, dense.shape[:-2], n, n, dense.ndim,
              np.swapaxes(dense.conj(), -1, -2), np.linalg.inv(dense), 1 / det,
              np.log(abs(det))]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("make, feeds, dense", [
    (full, [M], M), (linalg.LinearOperatorLowerTriangular, [M], np.tril(M)),
    (linalg.LinearOperatorDiag, [D], DIAG),
    (lambda n: linalg.LinearOperatorIdentity(n), [np.int32(2)], np.eye(2)),
    (lambda b: linalg.LinearOperatorIdentity(2, b), [np.int32([2])],
     np.stack([np.eye(2)] * 2)),
    (linalg.LinearOperatorScaledIdentity, [np.int32(2), D[:, 0]],
     D[:, 0][:, None, None] * np.eye(2)),
    (lambda m, n: linalg.LinearOperatorBlockDiag([full(m), full(n)]),
     [M, M[0]], block(M, M[0])),
    (lambda m, n: linalg.LinearOperatorKronecker([full(m), full(n)]),
     [M, M[0]], kron(M, M[0])),
    (lambda m, n: linalg.LinearOperatorComposition([full(m), full(n)]),
     [M, M[0]], M @ M[0]),
    (lambda m, u: linalg.LinearOperatorLowRankUpdate(full(m), u), [M, W],
     M + W @ W.transpose(0, 2, 1)),
    (linalg.LinearOperatorHouseholder, [D], reflection(D)),
    (linalg.LinearOperatorToeplitz, [C[0], C[1]], toeplitz(C[0], C[1])),
    (lambda s: linalg.LinearOperatorCirculant(s), [SPECTRUM],
     circulant(SPECTRUM, 1, False)),
])
def test_shapes_known_in_the_run_only(make, feeds, dense):
    x, _ = arguments(dense)
    with tf.Graph().as_default(), tf.Session() as session:
        holders = [tf.placeholder(np.asarray(f).dtype) for f in feeds]
        op = make(*holders)
        at = tf.placeholder(op.dtype)
        got = session.run(
            [op.to_dense(), op.matmul(at), op.solve(at), op.diag_part(),
             op.determinant(), op.shape_tensor(), op.trace()],
            dict(zip(holders + [at], feeds + [x])))
    wanted = [dense, dense @ x, np.linalg.solve(dense, x),
              np.diagonal(dense, axis1=-2, axis2=-1), np.linalg.det(dense),
              dense.shape, np.trace(dense, axis1=-2, axis2=-1)]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-3, atol=1e-3)


def test_zeros():
    with tf.Graph().as_default(), tf.Session() as session:
        op = linalg.LinearOperatorZeros(2, 3, [2], is_square=False,
                                        is_self_adjoint=False)
        assert op.shape.as_list() == [2, 2, 3] and op.is_square is False
        square = linalg.LinearOperatorZeros(2)
        got = session.run([
            op.to_dense(), op.matmul(np.full((3, 4), np.nan, np.float32)),
            op.adjoint().to_dense(), op.matmul(
                linalg.LinearOperatorIdentity(3)).to_dense(),
            op.diag_part(), op.add_to_tensor(np.ones((2, 3), np.float32)),
            square.determinant(), square.log_abs_determinant()])
    assert [g.shape for g in got] == [
        (2, 2, 3), (2, 2, 4), (2, 3, 2), (2, 2, 3), (2, 2), (2, 2, 3), (), ()]
    assert [g.sum() for g in got] == [0, 0, 0, 0, 0, 12, 0, -np.inf]


def test_matrices_that_are_not_square():
    wide = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = np.arange(18, dtype=np.float32).reshape(9, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        product = linalg.LinearOperatorKronecker([full(wide), full(wide)])
        chain = linalg.LinearOperatorComposition([full(wide), full(wide.T)])
        assert product.shape.as_list() == [4, 9] and not product.is_square
        assert chain.is_square
        got = session.run([product.matmul(x), product.to_dense(),
                           product.matmul(x[:4], adjoint=True),
                           chain.to_dense(), product.diag_part()])
    dense = np.kron(wide, wide)
    wanted = [dense @ x, dense, dense.T @ x[:4], wide @ wide.T,
              np.diagonal(dense)]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-5)


@pytest.mark.parametrize("make, dense", [
    (lambda: full(S, **HINTS), S),
    (lambda: linalg.LinearOperatorDiag([4., 9.], is_positive_definite=True),
     np.diag([4., 9.])),
    (lambda: linalg.LinearOperatorIdentity(2), np.eye(2)),
    (lambda: linalg.LinearOperatorScaledIdentity(
        2, 4., is_positive_definite=True), 4 * np.eye(2)),
    (lambda: linalg.LinearOperatorBlockDiag(
        [full(S, **HINTS), linalg.LinearOperatorIdentity(1)]),
     block(S, np.eye(1, dtype=np.float32))),
    (lambda: linalg.LinearOperatorKronecker(
        [full(S, **HINTS), linalg.LinearOperatorIdentity(2)]),
     kron(S, np.eye(2)))])
def test_cholesky(make, dense):
    with tf.Graph().as_default(), tf.Session() as session:
        got = session.run(make().cholesky().to_dense())
    np.testing.assert_allclose(got, np.linalg.cholesky(dense), rtol=1e-4,
                               atol=1e-5)


@pytest.mark.parametrize("make, fails", [
    (lambda: full(S), set()), (lambda: full(M), {"self_adjoint",
                                                 "positive_definite"}),
    (lambda: full([[1., 2.], [2., 4.]]), {"non_singular",
                                          "positive_definite"}),
    (lambda: linalg.LinearOperatorDiag([0., 1.]), {"non_singular",
                                                   "positive_definite"}),
    (lambda: linalg.LinearOperatorDiag([1j]), {"self_adjoint",
                                               "positive_definite"}),
    (lambda: linalg.LinearOperatorScaledIdentity(2, -1.),
     {"positive_definite"}),
    (lambda: linalg.LinearOperatorIdentity(2), set()),
    (lambda: linalg.LinearOperatorZeros(2), {"non_singular",
                                             "positive_definite"}),
    (lambda: linalg.LinearOperatorHouseholder([1., 2.]),
     {"positive_definite"}),
    (lambda: linalg.LinearOperatorCirculant([1., 0., -1.]),
     {"non_singular", "positive_definite"}),
    (lambda: linalg.LinearOperatorBlockDiag(
        [linalg.LinearOperatorDiag([0.]), full(S)]),
     {"non_singular", "positive_definite"})])
def test_assertions(make, fails):
    with tf.Graph().as_default(), tf.Session() as session:
        op = make()
        for what in ("non_singular", "self_adjoint", "positive_definite"):
            check = getattr(op, "assert_" + what)
            if what in fails:
                with pytest.raises(tf.errors.InvalidArgumentError):
                    session.run(check())
            else:
                session.run(check())


def test_hermitian_spectrum():
    with tf.Graph().as_default(), tf.Session() as session:
        good = linalg.LinearOperatorCirculant(
            np.fft.fft(C[0]).astype(np.complex64), tf.float32)
        session.run(good.assert_hermitian_spectrum())
        np.testing.assert_allclose(session.run(good.convolution_kernel()),
                                   C[0], rtol=1e-5)
        bad = linalg.LinearOperatorCirculant(SPECTRUM, tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Hermitian"):
            session.run(bad.assert_hermitian_spectrum())


def test_kinds_that_stay_what_they_are():
    with tf.Graph().as_default():
        diag, eye = linalg.LinearOperatorDiag(D), (
            linalg.LinearOperatorIdentity(2))
        scaled = linalg.LinearOperatorScaledIdentity(2, [2., 3.])
        tril = linalg.LinearOperatorLowerTriangular(M)
        for op, kind in (
                (diag @ diag, "Diag"), (diag.inverse(), "Diag"),
                (diag @ tril, "LowerTriangular"), (eye @ tril,
                                                   "LowerTriangular"),
                (tril @ diag, "LowerTriangular"), (scaled @ diag, "Diag"),
                (scaled.inverse(), "ScaledIdentity"),
                (eye.inverse(), "Identity"), (tril @ tril, "Composition"),
                (linalg.LinearOperatorZeros(2) @ diag, "Zeros"),
                (tril.adjoint(), "Adjoint"), (tril.inverse(), "Inversion"),
                (tril.inverse().inverse(), "LowerTriangular")):
            assert type(op).__name__ == "LinearOperator" + kind
        assert diag.adjoint() is diag
        assert full(M).adjoint().name == "LinearOperatorFullMatrix_adjoint"
        assert linalg.LinearOperatorKronecker([tril, eye]).name == (
            "LinearOperatorLowerTriangular_x_LinearOperatorIdentity")


def test_an_operator_of_ones_own():
    class Twice(linalg.LinearOperator):
        def _shape(self):
            return tf.TensorShape([2, 2])

        def _shape_tensor(self):
            return tf.constant([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return 2 * (tf.linalg.adjoint(x) if adjoint_arg else x)

    with tf.Graph().as_default(), tf.Session() as session:
        op = Twice(tf.float32)
        assert op.name == "Twice" and op.is_square
        got = session.run([
            op.to_dense(), op.determinant(), op.log_abs_determinant(),
            op.solve(M), op.trace(), op.matvec([1., 2.]),
            op.add_to_tensor(M[0]), op.inverse().matmul(M), op.diag_part()])
        with pytest.raises(NotImplementedError, match="_matmul"):
            class Nothing(Twice):
                _matmul = linalg.LinearOperator._matmul
            Nothing(tf.float32).matmul(M)
    eye = np.eye(2)
    wanted = [2 * eye, 4, np.log(4), M / 2, 4, [2, 4], 2 * eye + M[0], M / 2,
              [2, 2]]
    for g, w in zip(got, wanted):
        np.testing.assert_allclose(g, w, rtol=1e-6)


def test_gradients_pass_through():
    with tf.Graph().as_default(), tf.Session() as session:
        diag = tf.constant([2., 4.])
        op = linalg.LinearOperatorKronecker(
            [linalg.LinearOperatorDiag(diag), full(M[0])])
        got = session.run(tf.gradients(op.log_abs_determinant(), diag)[0])
    np.testing.assert_allclose(got, [1., .5], rtol=1e-6)


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
     NotImplementedError, "not be square"),
    (lambda: linalg.LinearOperatorFullMatrix(X).solve(X),
     NotImplementedError, "not be square"),
    (lambda: full(X).inverse(), ValueError, "non square"),
    (lambda: full(M).cholesky(), ValueError, "Cholesky"),
    (lambda: full(M, is_non_singular=False).inverse(), ValueError, "singular"),
    (lambda: full(M, is_non_singular=False).solve(M), NotImplementedError,
     "singular"),
    (lambda: full(M, is_positive_definite=True, is_non_singular=False),
     ValueError, "always non-singular"),
    (lambda: full(M, is_square=False).is_square, ValueError, "conflicted"),
    (lambda: full(M, is_square=1.5), ValueError, "True, False or None"),
    (lambda: full(M).matmul(np.ones((3, 1), np.float32)), ValueError,
     "compatible"),
    (lambda: full(M).matmul(np.ones((2, 1))), TypeError, "float64"),
    (lambda: full(M).matmul(full(np.eye(3, dtype=np.float32))), ValueError,
     "dimension 2 but got 3"),
    (lambda: full(M).matvec(2.), ValueError, "1 dimensions or more"),
    (lambda: linalg.LinearOperatorComposition([]), ValueError, "non-empty"),
    (lambda: linalg.LinearOperatorKronecker([full(M), full(M + 0j)]),
     TypeError, "same dtype"),
    (lambda: linalg.LinearOperatorBlockDiag([full(X)]), ValueError, "square"),
    (lambda: linalg.LinearOperatorIdentity(-2), ValueError, "non-negative"),
    (lambda: linalg.LinearOperatorIdentity(2.5), ValueError, "integer"),
    (lambda: linalg.LinearOperatorIdentity(2, [-1]), ValueError,
     "non-negative"),
    (lambda: linalg.LinearOperatorIdentity(2, is_square=False), ValueError,
     "always square"),
    (lambda: linalg.LinearOperatorZeros(2, 3), ValueError, "num_columns"),
    (lambda: linalg.LinearOperatorZeros(2, is_non_singular=True), ValueError,
     "singular"),
    (lambda: linalg.LinearOperatorDiag(D, is_self_adjoint=False), ValueError,
     "always self adjoint"),
    (lambda: linalg.LinearOperatorLowRankUpdate(full(M), C.T), ValueError,
     "compatible"),
    (lambda: linalg.LinearOperatorToeplitz(D, is_square=False, row=D),
     ValueError, "square"),
    (lambda: linalg.LinearOperatorCirculant([1, 2]), TypeError, "int32"),
    (lambda: linalg.LinearOperatorHouseholder(
        D, is_positive_definite=True), ValueError, "non-positive"),
])
def test_refusals(make, error, words):
    with tf.Graph().as_default(), pytest.raises(error, match=words):
        make()


def test_variables_of_operators():
    with tf.Graph().as_default():
        v = tf.Variable([1., 2.])
        w = tf.Variable([[1., 0.], [2., 3.]], trainable=False)
        diagonal = linalg.LinearOperatorDiag(v)
        both = linalg.LinearOperatorComposition(
            [diagonal, linalg.LinearOperatorLowerTriangular(w)])
        assert diagonal.variables == (v,)
        assert set(both.variables) == {v, w}
        assert both.trainable_variables == (v,)
        assert diagonal in both.submodules


def test_a_circulant_operator_without_rows():
    with tf.Graph().as_default(), tf.Session() as sess:
        operator = linalg.LinearOperatorCirculant(tf.zeros([2, 0], tf.complex64))
        assert sess.run(operator.to_dense()).shape == (2, 0, 0)


def test_the_test_case_of_operators():
    from headrace._src.compat import operator_test_case as cases

    class OfDiag(cases.SquareLinearOperatorDerivedClassTest):
        error = 0.0

        @staticmethod
        def operator_shapes_infos():
            return [cases.OperatorShapesInfo(s) for s in [(0, 0), (3, 2, 2)]]

        def operator_and_matrix(self, shapes_info, dtype, use_placeholder,
                                ensure_self_adjoint_and_pd=False):
            diagonal = cases.random_sign_uniform(
                shapes_info.shape[:-1], minval=1., maxval=2., dtype=dtype)
            if ensure_self_adjoint_and_pd:
                diagonal = tf.cast(tf.abs(diagonal), dtype)
            given = diagonal + tf.cast(self.error, dtype)
            if use_placeholder:
                given = tf.placeholder_with_default(given, shape=None)
            hint = ensure_self_adjoint_and_pd or None
            return linalg.LinearOperatorDiag(
                given, is_self_adjoint=hint, is_positive_definite=hint
            ), tf.linalg.diag(diagonal)

        def test_tape(self):
            self.check_tape_safe(linalg.LinearOperatorDiag(tf.Variable([2.])))

    class OfRows(cases.NonSquareLinearOperatorDerivedClassTest):
        def operator_and_matrix(self, shapes_info, dtype, use_placeholder,
                                ensure_self_adjoint_and_pd=False):
            m = cases.random_normal(shapes_info.shape, dtype=dtype)
            return linalg.LinearOperatorFullMatrix(m), m

    class Wrong(OfDiag):
        error = 0.5

    def run(cls):
        cases.add_tests(cls)
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
        assert not result.errors, result.errors[0][1]
        return result

    wrong = run(Wrong)  # before OfDiag has tests of its own
    assert any("test_det" in str(test) for test, _ in wrong.failures)
    good = run(OfDiag)
    assert good.wasSuccessful() and good.testsRun > 300
    assert run(OfRows).wasSuccessful()
    with pytest.raises(ValueError, match="more than once"):
        cases.add_tests(OfDiag)
    with tf.Graph().as_default(), tf.Session() as sess:
        m = sess.run(cases.random_positive_definite_matrix(
            [2, 3, 3], tf.complex64, force_well_conditioned=True))
        assert np.all(np.linalg.eigvalsh(m) > 0)
        near = sess.run(cases.random_normal_correlated_columns([4, 2]))
        np.testing.assert_allclose(near[:, 0], near[:, 1], atol=1e-2)


class OfAProgram(linalg.LinearOperator):

    def _shape(self):
        return tf.TensorShape([1, 1])

    def _shape_tensor(self):
        return tf.constant([1, 1])

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return x


def test_functions_are_registered_for_classes():
    class Derived(OfAProgram):
        pass
    algebra.RegisterAdjoint(OfAProgram)(lambda a: "adjoint")
    algebra.RegisterCholesky(OfAProgram)(lambda a: "cholesky")
    algebra.RegisterInverse(OfAProgram)(lambda a: "inverse")
    algebra.RegisterMatmul(OfAProgram, OfAProgram)(lambda a, b: "product")
    algebra.RegisterSolve(OfAProgram, OfAProgram)(lambda a, b: "solution")
    op = Derived(None, is_non_singular=True)
    assert op.adjoint() == "adjoint" and op.inverse() == "inverse"
    assert Derived(None, is_positive_definite=True,
                   is_self_adjoint=True).cholesky() == "cholesky"
    assert op.matmul(op) == "product" and op.solve(op) == "solution"
    assert linalg.LinearOperatorIdentity(2).adjoint().to_dense().shape == (2, 2)
    with pytest.raises(ValueError, match="has already been registered"):
        algebra.RegisterSolve(OfAProgram, OfAProgram)(max)
    with pytest.raises(TypeError, match="must be callable"):
        algebra.RegisterAdjoint(Derived)("no function")


def test_parts_of_operators():
    x = np.arange(24.).reshape(2, 3, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        columns, back, left, right = session.run([
            utils.vec(x), utils.unvec_by(utils.vec(x), 4),
            utils.rotate_last_dim(x), utils.rotate_last_dim(x, True)])
        np.testing.assert_array_equal(
            columns, x.transpose(0, 2, 1).reshape(2, 12))
        np.testing.assert_array_equal(back, x)
        assert left.shape == (3, 4, 2) and right.shape == (4, 2, 3)
        assert utils.to_complex(tf.constant(1., tf.float64)).dtype == (
            tf.complex128)
        hint = utils.use_operator_or_provided_hint_unless_contradicting
        op = linalg.LinearOperatorDiag([1.], is_positive_definite=True)
        assert hint(op, "is_positive_definite", None, "") is True
        with pytest.raises(ValueError, match="they differ"):
            hint(op, "is_positive_definite", False, "they differ")


def test_a_derived_operator_calls_the_scope_and_the_check_of_types():
    class Doubled(tf.linalg.LinearOperatorFullMatrix):
        def twice(self, x, name="twice"):
            with self._name_scope(name):
                x = tf.convert_to_tensor(x, name="x")
                self._check_input_dtype(x)
                return 2. * self._matmul(x)

    operator = Doubled(tf.eye(2), name="own")
    assert operator.twice([[1.], [2.]]).op.name.startswith("own")
    with pytest.raises(TypeError, match="Expected argument to have dtype"):
        operator.twice(np.ones([2, 1]))
