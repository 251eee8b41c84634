"""tensorflow.python.ops.linalg.linear_operator_test_util: test cases that
compare a LinearOperator with the matrix that it stands for, and random
matrices for them."""
import itertools

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes, errors
from headrace._src.framework.graph import Graph
from headrace._src.compat import operator_utils as _utils
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.testing.test_case import TestCase
from headrace._src.training.gradient_tape import GradientTape

GRAPH_SEED = 87654321


class OperatorShapesInfo:
    """The shape of an operator, and whatever else a test case keeps with it."""

    def __init__(self, shape, **kwargs):
        self.shape = shape
        vars(self).update(kwargs)

    def __repr__(self):
        return "shape=%s" % (self.shape,)


class CheckTapeSafeSkipOptions:
    """What check_tape_safe may leave out."""
    DETERMINANT = "determinant"
    DIAG_PART = "diag_part"
    LOG_ABS_DETERMINANT = "log_abs_determinant"
    TRACE = "trace"


class LinearOperatorDerivedClassTest(TestCase):
    """The base of the tests of one class of operators. A derived class defines
    operator_and_matrix, make_rhs, make_x and operator_shapes_infos; add_tests
    then makes its tests."""

    _atol = {dtypes.float16: 1e-3, dtypes.float32: 1e-6, dtypes.float64: 1e-12,
             dtypes.complex64: 1e-6, dtypes.complex128: 1e-12}
    _rtol = dict(_atol)

    def assertAC(self, x, y):
        """x and y are close; _atol and _rtol say how close for x's dtype."""
        dtype = dtypes.as_dtype(x.dtype)
        self.assertAllClose(x, y, atol=self._atol[dtype],
                            rtol=self._rtol[dtype])

    @staticmethod
    def adjoint_options():
        return [False, True]

    @staticmethod
    def adjoint_arg_options():
        return [False, True]

    @staticmethod
    def dtypes_to_test():
        return [dtypes.float32, dtypes.float64, dtypes.complex64,
                dtypes.complex128]

    @staticmethod
    def use_placeholder_options():
        return [False, True]

    @staticmethod
    def operator_shapes_infos():
        """A list of OperatorShapesInfo."""
        raise NotImplementedError("operator_shapes_infos has not been "
                                  "implemented.")

    def operator_and_matrix(self, shapes_info, dtype, use_placeholder,
                            ensure_self_adjoint_and_pd=False):
        """An operator and the matrix that it is equal to."""
        raise NotImplementedError("operator_and_matrix has not been "
                                  "implemented.")

    def make_rhs(self, operator, adjoint, with_batch=True):
        """A right side for operator.solve."""
        raise NotImplementedError("make_rhs is not defined.")

    def make_x(self, operator, adjoint, with_batch=True):
        """An argument for operator.matmul."""
        raise NotImplementedError("make_x is not defined.")

    @staticmethod
    def skip_these_tests():
        """The names of tests, without "test_", that add_tests leaves out."""
        return []

    def assertRaisesError(self, msg):
        """assertRaisesRegexp of the error of a run."""
        return self.assertRaisesRegexp(
            errors.InvalidArgumentError, msg)

    def check_tape_safe(self, operator, skip_options=None):
        """Each method of operator has a gradient to each of its variables."""
        skipped = skip_options or []

        def check(method, *args):
            with GradientTape() as tape:
                value = method(*args)
            for gradient in tape.gradient(value, operator.variables):
                self.assertIsNotNone(gradient)

        check(operator.to_dense)
        check(operator.adjoint().to_dense)
        x = self.make_x(operator, adjoint=False)
        check(operator.matmul, x)
        check(operator.add_to_tensor,
              _array.ones(operator.shape_tensor(), dtype=operator.dtype))
        square = ["trace", "diag_part"]
        if operator.is_square:
            square += ["determinant", "log_abs_determinant"]
            check(operator.solve, self.make_rhs(operator, adjoint=False))
        for name in square:
            if name not in skipped:
                check(getattr(operator, name))


class _Operators(LinearOperatorDerivedClassTest):
    """Random arguments of operators."""

    def _sizes(self, operator, dimension, with_batch):
        """The shape of a matrix with `dimension` rows ("domain" or "range")."""
        columns = self._get_num_systems(operator)
        if operator.shape.is_fully_defined():
            rows = getattr(operator, dimension + "_dimension").value
            batch = operator.batch_shape.as_list() if with_batch else []
            return batch + [rows, columns]
        rows = getattr(operator, dimension + "_dimension_tensor")()
        batch = operator.batch_shape_tensor() if with_batch else (
            _array.zeros([0], dtypes.int32))
        return _array.concat([batch, [rows, columns]], 0)

    def _get_num_systems(self, operator):
        """How many columns an argument has."""
        raise NotImplementedError("_get_num_systems is not defined.")


class SquareLinearOperatorDerivedClassTest(_Operators):
    """The base of the tests of an operator that is square."""

    @staticmethod
    def operator_shapes_infos():
        return [OperatorShapesInfo(shape) for shape in
                [(0, 0), (1, 1), (1, 3, 3), (3, 4, 4), (2, 1, 4, 4)]]

    def make_rhs(self, operator, adjoint, with_batch=True):
        return self.make_x(operator, not adjoint, with_batch)

    def make_x(self, operator, adjoint, with_batch=True):
        return random_normal(self._sizes(operator, "domain", with_batch),
                             dtype=operator.dtype)

    def _get_num_systems(self, operator):
        # One for few rows, or a matrix has as many rows as the argument columns.
        rank = operator.tensor_rank
        return 2 if rank is None or rank == 2 else 1


class NonSquareLinearOperatorDerivedClassTest(_Operators):
    """The base of the tests of an operator that may be not square."""

    @staticmethod
    def skip_these_tests():
        return ["cholesky", "inverse", "solve", "solve_with_broadcast", "det",
                "log_abs_det"]

    @staticmethod
    def operator_shapes_infos():
        return [OperatorShapesInfo(shape) for shape in
                [(2, 1), (1, 2), (1, 3, 2), (3, 3, 4), (2, 1, 2, 4)]]

    def make_rhs(self, operator, adjoint, with_batch=True):
        raise NotImplementedError(
            "make_rhs not implemented because we don't test solve")

    def make_x(self, operator, adjoint, with_batch=True):
        return random_normal(
            self._sizes(operator, "range" if adjoint else "domain", with_batch),
            dtype=operator.dtype)

    def _get_num_systems(self, operator):
        return 2


def _made(case, use_placeholder, shapes_info, dtype, **kwargs):
    return case.operator_and_matrix(shapes_info, dtype,
                                    use_placeholder=use_placeholder, **kwargs)


# The tests. Each returns what the operator gives and what its matrix gives.

def _to_dense(operator, matrix):
    return operator.to_dense(), matrix


def _det(operator, matrix):
    return operator.determinant(), _raw.MatrixDeterminant(matrix)


def _log_abs_det(operator, matrix):
    return operator.log_abs_determinant(), _linalg.slogdet(matrix)[1]


def _adjoint(operator, matrix):
    wanted = _linalg.adjoint(matrix)
    return [operator.adjoint().to_dense(), operator.H.to_dense()], [wanted] * 2


def _inverse(operator, matrix):
    return operator.inverse().to_dense(), _raw.MatrixInverse(matrix)


def _cholesky(operator, matrix):
    return operator.cholesky().to_dense(), _raw.Cholesky(matrix)


def _trace(operator, matrix):
    return operator.trace(), _linalg.trace(matrix)


def _add_to_tensor(operator, matrix):
    return operator.add_to_tensor(2 * matrix), 3 * matrix


def _diag_part(operator, matrix):
    return operator.diag_part(), _linalg.matrix_diag_part(matrix)


_PLAIN = {"to_dense": _to_dense, "det": _det, "log_abs_det": _log_abs_det,
          "adjoint": _adjoint, "inverse": _inverse, "cholesky": _cholesky,
          "trace": _trace, "add_to_tensor": _add_to_tensor,
          "diag_part": _diag_part}


def _plain_test(name, use_placeholder, shapes_info, dtype):
    def test(self):
        with self.session(graph=Graph()) as sess:
            sess.graph.seed = GRAPH_SEED
            more = {"ensure_self_adjoint_and_pd": True} if (
                name == "cholesky") else {}
            found, wanted = _PLAIN[name](*_made(
                self, use_placeholder, shapes_info, dtype, **more))
            if not isinstance(found, list):
                found, wanted = [found], [wanted]
            for f, w in zip(found, wanted):
                if not use_placeholder:
                    self.assertAllEqual(f.shape, w.shape)
                self.assertAC(*sess.run([f, w]))
    return test


def _product_test(solve, with_batch, use_placeholder, shapes_info, dtype,
                  adjoint, adjoint_arg):
    def test(self):
        if not with_batch and len(shapes_info.shape) <= 2:
            return  # the same as with the batch
        with self.session(graph=Graph()) as sess:
            sess.graph.seed = GRAPH_SEED
            operator, matrix = _made(self, use_placeholder, shapes_info, dtype)
            make = self.make_rhs if solve else self.make_x
            x = make(operator, adjoint=adjoint, with_batch=with_batch)
            call = operator.solve if solve else operator.matmul
            found = call(_linalg.adjoint(x) if adjoint_arg else x,
                         adjoint=adjoint, adjoint_arg=adjoint_arg)
            if solve:
                wanted = _utils.matrix_solve_with_broadcast(
                    matrix, x, adjoint=adjoint)
            else:
                wanted = _math.matmul(matrix, x, adjoint_a=adjoint)
            if not use_placeholder:
                self.assertAllEqual(found.shape, wanted.shape)
            self.assertAC(*sess.run([found, wanted]))
    return test


def _tests_of(cls):
    """(name, test) of all tests of a class."""
    options = list(itertools.product(
        cls.use_placeholder_options(), cls.operator_shapes_infos(),
        cls.dtypes_to_test()))
    for name, option in itertools.product(_PLAIN, options):
        yield name, option, _plain_test(name, *option)
    for solve, with_batch in itertools.product([False, True], [True, False]):
        name = ("solve" if solve else "matmul") + (
            "" if with_batch else "_with_broadcast")
        for option in itertools.product(
                options, cls.adjoint_options(), cls.adjoint_arg_options()):
            option = option[0] + option[1:]
            yield name, option, _product_test(solve, with_batch, *option)


def add_tests(test_cls):
    """Gives a derived class its tests, one for each combination of its options.

    Raises:
      ValueError: the class has a test of that name.
    """
    skipped = test_cls.skip_these_tests()
    names = ("use_placeholder", "", "dtype", "adjoint", "adjoint_arg")
    for name, option, test in _tests_of(test_cls):
        if name in skipped:
            continue
        said = ",".join("%s=%s" % (n, v) if n else repr(v)
                        for n, v in zip(names, option))
        full = "test_%s__%s" % (name, said)
        if hasattr(test_cls, full):
            raise ValueError("Test %s defined more than once" % full)
        test.__name__ = full
        setattr(test_cls, full, test)


def random_positive_definite_matrix(shape, dtype, force_well_conditioned=False):
    """A random matrix that is positive definite: L L^H.

    Args:
      shape: of the result, [..., n, n].
      dtype: floating or complex.
      force_well_conditioned: L's diagonal is near 1 and the rest small.
    """
    dtype = dtypes.as_dtype(dtype)
    low = random_tril_matrix(shape, dtype, force_well_conditioned)
    return _math.matmul(low, low, adjoint_b=True)


def random_tril_matrix(shape, dtype, force_well_conditioned=False,
                       remove_upper=True):
    """A random lower triangular matrix.

    Args:
      shape: of the result, [..., n, n].
      dtype: floating or complex.
      force_well_conditioned: the diagonal is from 0.75 to 1.25 and the rest is
        divided by sqrt(n).
      remove_upper: whether what is above the diagonal is 0.
    """
    dtype = dtypes.as_dtype(dtype)
    result = random_normal(shape, dtype=dtype)
    if remove_upper:
        result = _raw.MatrixBandPart(result, -1, 0)
    if not force_well_conditioned:
        return result
    shape = _array.shape(result)
    size = _math.cast(shape[-1], dtype.real_dtype)
    diagonal = random_uniform(shape[:-1], dtype=dtype.real_dtype, minval=0.75,
                              maxval=1.25)
    result /= _math.cast(_math.sqrt(size), dtype)
    return _linalg.matrix_set_diag(result, _math.cast(diagonal, dtype))


def _parts(dtype, make, seed):
    """make(real dtype, seed), or two of them for a complex dtype."""
    dtype = dtypes.as_dtype(dtype)
    real = make(dtype.real_dtype, seed)
    if not dtype.is_complex:
        return real
    return _math.complex(real, make(
        dtype.real_dtype, None if seed is None else seed + 1234))


def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None):
    """Normal numbers; of a complex dtype, both parts are."""
    return _parts(dtype, lambda real, s: _random.random_normal(
        shape, mean=mean, stddev=stddev, dtype=real, seed=s), seed)


def random_uniform(shape, minval=None, maxval=None, dtype=dtypes.float32,
                   seed=None):
    """Uniform numbers from minval (0) to maxval (1); of a complex dtype, both
    parts are."""
    low = 0 if minval is None else minval
    return _parts(dtype, lambda real, s: _random.random_uniform(
        shape, minval=low, maxval=maxval, dtype=real, seed=s), seed)


def random_sign_uniform(shape, minval=None, maxval=None, dtype=dtypes.float32,
                        seed=None):
    """random_uniform, of which about half are negated."""
    dtype = dtypes.as_dtype(dtype)
    values = random_uniform(shape, minval, maxval, dtype, seed)
    sign = _math.sign(_random.random_uniform(
        shape, minval=-1., maxval=1.,
        seed=None if seed is None else seed + 12))
    return values * _math.cast(sign, dtype)


def random_normal_correlated_columns(shape, mean=0.0, stddev=1.0,
                                     dtype=dtypes.float32, eps=1e-4, seed=None):
    """Matrices whose columns are nearly one another: they differ by eps times
    normal numbers."""
    dtype = dtypes.as_dtype(dtype)
    shape = list(shape)
    common = random_normal(shape[:-1] + [1], mean, stddev, dtype, seed)
    own = random_normal(shape, 0.0, eps, dtype,
                        None if seed is None else seed + 1)
    return common + own
