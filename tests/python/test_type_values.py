"""Ops with all types that they have kernels for: each computes what NumPy does
with the same numbers in double precision, rounded to the type."""
import collections
import math
import pathlib
import subprocess

import numpy as np
import pytest

import headrace as tf
from headrace import raw_ops

from op_values import let_be_of_version

COMMAND = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "headrace"
pytestmark = pytest.mark.skipif(not COMMAND.exists(),
                                reason="the command line was not built")

# Relative, of results that are sums of a few products.
TOLERANCE = {"bfloat16": 4e-2, "half": 1e-2, "float": 1e-5, "complex64": 1e-5}
NAMES = {"half": "float16", "float": "float32", "double": "float64"}
QUANTIZED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16",
             "qint32": "int32"}


def registered():
    """{op: types of the attr T that it has kernels for}."""
    found = collections.defaultdict(set)
    if COMMAND.exists():
        for line in subprocess.run([COMMAND, "ops", "--kernels"], stdout=subprocess.PIPE,
                                   text=True, check=True).stdout.splitlines():
            op, device, _, constraints = line.split("\t")
            for one in constraints.split("; "):
                attr, _, types = one.partition(" in [")
                if device == "CPU" and attr in ("T", "dtype"):
                    found[op] |= set(types.rstrip("]").split(", "))
    return found


TYPES = registered()


def is_complex(name):
    return name.startswith("complex")


def is_integer(name):
    return "int" in name


def of_type(x, name):
    """A wide tensor as one of the type."""
    if name in QUANTIZED:
        return tf.bitcast(tf.cast(x, QUANTIZED[name]), name)
    return tf.cast(x, NAMES.get(name, name))


def widened(x):
    name = x.dtype.base_dtype.name
    if name in QUANTIZED:
        x = tf.bitcast(x, QUANTIZED[name])
    return tf.cast(x, tf.complex128 if is_complex(name) else tf.float64)


def compare(op, make, inputs, wanted, only=None, but=(), tolerance=1.,
            producer=None):
    """`make` of `inputs(type)`, wide arrays, against `wanted` of the same."""
    types = sorted((TYPES[op] & set(only) if only else TYPES[op]) -
                   {"string", "variant", "resource", *but})
    assert types, "no kernels are registered for " + op
    with tf.Graph().as_default(), tf.Session() as session:
        tried, feeds = [], {}
        if producer is not None:
            let_be_of_version(producer)
        for name in types:
            wide = np.complex128 if is_complex(name) else np.float64
            given = [np.asarray(x, wide) for x in inputs(name)]
            fed = [tf.placeholder(wide, x.shape) for x in given]
            feeds.update(zip(fed, given))
            typed = [of_type(x, name) for x in fed]
            # What the type makes of the inputs: the reference starts there.
            tried.append((name, [widened(x) for x in typed], widened(make(*typed))))
        results = session.run([t[1:] for t in tried], feeds)
    for (name, _, _), (given, got) in zip(tried, results):
        with np.errstate(all="ignore"):
            expected = np.asarray(wanted(*given))
        assert got.shape == expected.shape, name
        if is_integer(name) and expected.dtype.kind == "f":
            expected = np.trunc(expected)
        close = TOLERANCE.get(name, 1e-12 if is_integer(name) else 1e-9) * tolerance
        np.testing.assert_allclose(got, expected, rtol=close, atol=close,
                                   err_msg="%s of %s" % (op, name))


def small(name, seed=0, low=1, high=9, shape=(2, 3)):
    """Numbers that all types hold: integers, or halves of them; of both signs
    where the type has them."""
    random = np.random.RandomState(seed)
    x = random.randint(low, high, shape).astype(np.float64)
    if "uint" not in name and name != "bool":
        x *= random.choice([-1, 1], shape)
    if not is_integer(name) and name != "bool":
        x /= 2
    if is_complex(name):
        x = x + 1j * random.randint(-4, 5, shape) / 2
    return x % 2 if name == "bool" else x


def fraction(name, low=.05, high=.95):
    """Inside an interval, for functions that are defined on one."""
    x = np.linspace(low, high, 6)
    return x + (1j * np.linspace(-.4, .5, 6) if is_complex(name) else 0)


def each(function):
    return np.vectorize(function, otypes=[np.float64])


ALPHA = float(np.float32(.2))  # of LeakyRelu, an attr of single precision

UNARY = {
    "Abs": np.abs, "Neg": np.negative, "Square": np.square, "OnesLike": np.ones_like,
    "Conj": np.conj,
    "Sign": lambda x: x / np.where(x == 0, 1, np.abs(x)),
    "Relu": lambda x: np.maximum(x, 0), "Relu6": lambda x: np.clip(x, 0, 6),
    "Floor": np.floor, "Ceil": np.ceil, "Rint": np.rint, "Round": np.rint,
    "LeakyRelu": lambda x: np.where(x > 0, x, ALPHA * x),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.log1p(np.exp(x)),
    "IsNan": np.isnan, "IsInf": np.isinf, "IsFinite": np.isfinite,
    "Selu": lambda x: 1.0507009873554805 * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(x)),
}
ON_FRACTIONS = {
    "Sqrt": np.sqrt, "Rsqrt": lambda x: 1 / np.sqrt(x), "Exp": np.exp, "Expm1": np.expm1,
    "Log": np.log, "Log1p": np.log1p, "Sin": np.sin, "Cos": np.cos, "Tan": np.tan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Tanh": np.tanh, "Asin": np.arcsin,
    "Acos": np.arccos, "Atan": np.arctan, "Asinh": np.arcsinh, "Atanh": np.arctanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Erf": each(math.erf),
    "Erfc": each(math.erfc), "Lgamma": each(math.lgamma),
}


@pytest.mark.parametrize("op", UNARY)
def test_functions_of_one_number(op):
    # Of complex numbers Abs is another op.
    compare(op, getattr(raw_ops, op), lambda t: [small(t)], UNARY[op])


@pytest.mark.parametrize("op", ON_FRACTIONS)
def test_functions_of_fractions(op):
    compare(op, getattr(raw_ops, op), lambda t: [fraction(t)], ON_FRACTIONS[op],
            but=[t for t in TYPES[op] if is_integer(t)], tolerance=3)


@pytest.mark.parametrize("op", ["Reciprocal", "Inv"])
def test_reciprocals(op):
    compare(op, getattr(raw_ops, op), lambda t: [small(t)], lambda x: 1 / x)


def test_area_cosine_begins_at_one():
    compare("Acosh", raw_ops.Acosh, lambda t: [fraction(t, 1.5, 4)], np.arccosh)


BINARY = {
    "Add": np.add, "AddV2": np.add, "Mul": np.multiply, "Maximum": np.maximum,
    "Minimum": np.minimum, "SquaredDifference": lambda x, y: np.abs(x - y) ** 2,
    "Equal": np.equal, "NotEqual": np.not_equal, "Less": np.less, "Greater": np.greater,
    "LessEqual": np.less_equal, "GreaterEqual": np.greater_equal,
    "RealDiv": np.divide, "Div": np.divide, "DivNoNan": np.divide,
    "MulNoNan": np.multiply, "TruncateDiv": lambda x, y: np.trunc(x / y),
    "FloorDiv": np.floor_divide, "FloorMod": np.mod, "Mod": np.fmod,
    "TruncateMod": np.fmod, "Sub": np.subtract, "Atan2": np.arctan2,
}


COMPLEX = ("complex64", "complex128")
BUT = {"TruncateDiv": COMPLEX, "FloorDiv": COMPLEX, "SquaredDifference": COMPLEX,
       # The op, unlike AddV2, does not take these.
       "Add": ("uint16", "uint32", "uint64")}


@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_numbers(op):
    def inputs(name):
        y = small(name, seed=1, high=5)
        # Larger: a difference of unsigned numbers is none that they have.
        x = small(name, low=5) if op == "Sub" else small(name)
        x.flat[0] = y.flat[0]
        return x, y

    compare(op, getattr(raw_ops, op), inputs, BINARY[op],
            but=BUT.get(op, ()))


def test_powers():
    compare("Pow", raw_ops.Pow, lambda t: [np.abs(small(t)), np.full((2, 3), 2)],
            np.power)


BITS = {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or,
        "BitwiseXor": np.bitwise_xor, "LeftShift": np.left_shift,
        "RightShift": np.right_shift}


@pytest.mark.parametrize("op", BITS)
def test_functions_of_bits(op):
    compare(op, getattr(raw_ops, op),
            lambda t: [small(t, low=5), np.abs(small(t, seed=1, high=4))],
            lambda x, y: BITS[op](x.astype(np.int64), y.astype(np.int64)))


GRADIENTS = {
    "ReluGrad": lambda g, x: g * (x > 0),
    "Relu6Grad": lambda g, x: g * ((x > 0) & (x < 6)),
    "LeakyReluGrad": lambda g, x: np.where(x > 0, g, ALPHA * g),
    "TanhGrad": lambda y, g: g * (1 - y * y), "SigmoidGrad": lambda y, g: g * y * (1 - y),
    "SqrtGrad": lambda y, g: g / 2 / y, "RsqrtGrad": lambda y, g: -g / 2 * y ** 3,
    "ReciprocalGrad": lambda y, g: -g * y * y, "InvGrad": lambda y, g: -g * y * y,
    "SoftplusGrad": lambda g, x: g / (1 + np.exp(-x)),
    "SoftsignGrad": lambda g, x: g / (1 + np.abs(x)) ** 2,
    "EluGrad": lambda g, y: np.where(y < 0, g * (y + 1), g),
}


@pytest.mark.parametrize("op", GRADIENTS)
def test_gradients_of_functions(op):
    # These conjugate complex results; to the others they come conjugated.
    conjugates = op in ("SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
    compare(op, getattr(raw_ops, op), lambda t: [small(t), small(t, seed=1)],
            lambda a, b: GRADIENTS[op](np.conj(a) if conjugates else a, b), tolerance=4)


def test_sums_of_tensors():
    three = lambda t: [small(t, seed=s) for s in range(3)]
    total = lambda *x: sum(x)
    compare("AddN", lambda *x: raw_ops.AddN(list(x)), three, total)
    compare("AccumulateNV2", lambda *x: raw_ops.AccumulateNV2(list(x), shape=[2, 3]),
            three, total)


@pytest.mark.parametrize("op, reference", [
    ("Sum", np.sum), ("Prod", np.prod), ("Mean", np.mean), ("Max", np.max),
    ("Min", np.min)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_reductions(op, reference, index):
    # The product of all stays below 128.
    inputs = lambda t: [small(t, high=3 if op == "Prod" else 4, shape=(2, 3, 1))]
    for axes in ([1], [0, 2], [0, 1, 2]):
        compare(op, lambda x: getattr(raw_ops, op)(x, np.array(axes, index)), inputs,
                lambda x: reference(x, axis=tuple(axes)), tolerance=2)


@pytest.mark.parametrize("op, reference", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_places_of_extremes(op, reference, index):
    for result in (tf.int32, tf.int64):
        compare(op, lambda x: getattr(raw_ops, op)(x, index(1), output_type=result),
                lambda t: [small(t, shape=(3, 7))], lambda x: reference(x, axis=1),
                but=["complex64", "complex128"])


@pytest.mark.parametrize("op, reference", [("Cumsum", np.cumsum), ("Cumprod", np.cumprod)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_running_sums_and_products(op, reference, index):
    compare(op, lambda x: getattr(raw_ops, op)(x, index(1)),
            lambda t: [small(t, high=3)], lambda x: reference(x, axis=1))
    compare(op, lambda x: getattr(raw_ops, op)(x, index(1), reverse=True),
            lambda t: [small(t, high=3)],
            lambda x: reference(x[:, ::-1], axis=1)[:, ::-1])


def test_biases_and_their_gradients():
    bias = lambda t: small(t, seed=1, shape=(3,))
    for op in ("BiasAdd", "BiasAddV1"):
        compare(op, getattr(raw_ops, op), lambda t: [small(t), bias(t)], np.add)
    compare("BiasAddGrad", raw_ops.BiasAddGrad, lambda t: [small(t, high=4)],
            lambda x: x.sum(0))
    compare("BiasAdd", lambda x, b: raw_ops.BiasAdd(x, b, data_format="NCHW"),
            lambda t: [small(t, shape=(2, 3, 2, 2)), bias(t)],
            lambda x, b: x + b[:, None, None])
    compare("BiasAddGrad", lambda x: raw_ops.BiasAddGrad(x, data_format="NCHW"),
            lambda t: [small(t, high=3, shape=(2, 3, 2, 2))], lambda x: x.sum((0, 2, 3)))


SEGMENTS = {"Sum": np.sum, "Prod": np.prod, "Max": np.max, "Min": np.min, "Mean": np.mean}


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", SEGMENTS)
def test_segments(name, index):
    ids = np.array([0, 0, 1, 2, 2], index)
    inputs = lambda t: [small(t, high=3, shape=(5, 2))]
    wanted = lambda x: np.stack([SEGMENTS[name](x[ids == k], axis=0) for k in range(3)])
    compare("Segment" + name, lambda x: getattr(raw_ops, "Segment" + name)(x, ids),
            inputs, wanted)
    if name != "Mean":
        op = "UnsortedSegment" + name
        moved = np.array([2, 0, 1, 0, 2], index)
        compare(op, lambda x: getattr(raw_ops, op)(x, moved, np.int32(3)), inputs,
                lambda x: np.stack([SEGMENTS[name](x[moved == k], axis=0)
                                    for k in range(3)]))


@pytest.mark.parametrize("result", [tf.int16, tf.int32, tf.int64])
@pytest.mark.parametrize("index", [np.int16, np.int32, np.int64])
def test_largest_elements(index, result):
    top = lambda x: raw_ops.TopKV2(x, index(3), index_type=result)
    inputs = lambda t: [small(t, shape=(2, 9), high=60)]
    compare("TopKV2", lambda x: top(x).values, inputs, lambda x: -np.sort(-x)[:, :3])
    compare("TopKV2", lambda x: top(x).indices, inputs,
            lambda x: np.argsort(-x, kind="stable")[:, :3])


def test_largest_elements_in_old_graphs():
    inputs = lambda t: [small(t, shape=(2, 9), high=60)]
    compare("TopK", lambda x: raw_ops.TopK(x, k=3).values, inputs,
            lambda x: -np.sort(-x)[:, :3], producer=6)


def test_nth_elements():
    for reverse in (False, True):
        compare("NthElement", lambda x: raw_ops.NthElement(x, np.int32(2), reverse=reverse),
                lambda t: [small(t, shape=(2, 7))],
                lambda x: np.sort(x)[:, -3 if reverse else 2])


def test_clipped_values():
    compare("ClipByValue", raw_ops.ClipByValue,
            lambda t: [small(t), np.float64(2), np.float64(4)],
            lambda x, low, high: np.minimum(np.maximum(x, low), high),
            but=["complex64", "complex128"])


def test_approximate_equality():
    compare("ApproximateEqual", lambda x, y: raw_ops.ApproximateEqual(x, y, tolerance=1.5),
            lambda t: [small(t), small(t, seed=1)], lambda x, y: np.abs(x - y) < 1.5,
            but=["uint8", "uint16", "uint32", "uint64", "quint8", "quint16"])


def test_cross_products():
    compare("Cross", raw_ops.Cross, lambda t: [
        np.array([[5, 4, 3.]]), np.array([[1, 2, 1.]]) if "uint" not in t
        else np.array([[1, 0, 0.]]) * 0], np.cross)


@pytest.mark.parametrize("op", ["MatMul", "BatchMatMul", "BatchMatMulV2"])
def test_products_of_matrices(op):
    shape = () if op == "MatMul" else (2,)
    compare(op, getattr(raw_ops, op),
            lambda t: [small(t, high=4, shape=(*shape, 2, 3)),
                       small(t, seed=1, high=4, shape=(*shape, 3, 4))], np.matmul)


def test_gradients_of_mirrored_padding():
    def wanted(x):
        total = x[1:4].copy()
        total[1] += x[0]
        total[1] += x[4]
        return total

    for index in (np.int32, np.int64):
        compare("MirrorPadGrad", lambda x: raw_ops.MirrorPadGrad(
            x, np.array([[1, 1]], index), mode="REFLECT"),
            lambda t: [small(t, high=4, shape=(5,))], wanted)


def test_places_of_what_is_not_zero():
    compare("Where", lambda x: raw_ops.Where(x), lambda t: [small(t) * [1, 0, 1]],
            lambda x: np.argwhere(x))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_scattered_sums(index):
    places = np.array([[3], [0], [3]], index)

    def wanted(x):
        out = np.zeros((4, 3), x.dtype)
        np.add.at(out, places[:, 0], x)
        return out

    compare("ScatterNd", lambda x: raw_ops.ScatterNd(places, x, np.array([4, 3], index)),
            lambda t: [small(t, high=4, shape=(3, 3))], wanted, but=["bool"])
    # Of flags the sum is whether there is any.
    compare("ScatterNd", lambda x: raw_ops.ScatterNd(places, x, np.array([4, 3], index)),
            lambda t: [small(t, shape=(3, 3))], lambda x: wanted(x) > 0, only=["bool"])


def test_sums_with_sparse_tensors():
    places, size = np.int64([[0, 1], [1, 2]]), np.int64([2, 3])
    dense = lambda v: np.array([[0, v[0], 0], [0, 0, v[1]]])
    values = lambda t: small(t, high=5, shape=(2,))
    for index in (np.int32, np.int64):
        compare("SparseTensorDenseAdd", lambda v, b: raw_ops.SparseTensorDenseAdd(
            places.astype(index), v, size.astype(index), b),
            lambda t: [values(t), small(t, seed=1)], lambda v, b: dense(v) + b)
    for op, function in (("Add", np.add), ("Mul", np.multiply), ("Div", np.divide)):
        name = "SparseDenseCwise" + op
        compare(name, lambda v, b: getattr(raw_ops, name)(places, v, size, b),
                lambda t: [values(t), small(t, seed=1)],
                lambda v, b: function(v, np.array([b[0, 1], b[1, 2]])))
    for op, reduce in (("Sum", np.sum), ("Max", np.max)):
        name = "SparseReduce" + op
        compare(name, lambda v: getattr(raw_ops, name)(places, v, size, np.int32([1])),
                lambda t: [values(t)], lambda v: v)
        compare(name + "Sparse", lambda v: getattr(raw_ops, name + "Sparse")(
            places, v, size, np.int32([1])).output_values, lambda t: [values(t)],
            lambda v: v)
    for op, function in (("Maximum", np.maximum), ("Minimum", np.minimum)):
        name = "SparseSparse" + op
        compare(name, lambda a, b: getattr(raw_ops, name)(
            places, a, size, places, b, size).output_values,
            lambda t: [values(t), small(t, seed=3, shape=(2,))], function)
    compare("SparseAdd", lambda a, b: raw_ops.SparseAdd(
        places, a, size, places, b, size, tf.cast(0, a.dtype.real_dtype)).sum_values,
        lambda t: [np.abs(values(t)), np.abs(values(t))], np.add)


def test_bits_are_turned_and_counted():
    bits = lambda t: [small(t, high=100) if t != "bool" else small(t)]
    compare("Invert", raw_ops.Invert, bits,
            lambda x: np.float64(~x.astype(np.int64)), only=["int8", "int16", "int32",
                                                             "int64"])
    compare("Invert", raw_ops.Invert, bits, lambda x: 255 - x, only=["uint8"])
    compare("Invert", raw_ops.Invert, bits, lambda x: 65535 - x, only=["uint16"])
    compare("PopulationCount", raw_ops.PopulationCount, lambda t: [np.abs(bits(t)[0])],
            lambda x: each(lambda v: bin(int(v)).count("1"))(x))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_lengths_of_vectors(index):
    compare("EuclideanNorm", lambda x: raw_ops.EuclideanNorm(x, index([1])),
            lambda t: [small(t, high=5)], lambda x: np.sqrt(np.sum(np.abs(x) ** 2, axis=1)),
            tolerance=2)


def test_rows_written_in_place():
    def wanted(function):
        def apply(x, v):
            x = x.copy()
            x[1] = function(x[1], v[0])
            return x
        return apply

    for op, function in (("InplaceAdd", np.add), ("InplaceSub", np.subtract)):
        compare(op, lambda x, v: getattr(raw_ops, op)(x, np.int32([1]), v),
                lambda t: [small(t, low=5), small(t, seed=1, high=5, shape=(1, 3))],
                wanted(function))


def pooled(x, grads):
    """The gradient of the maxima of squares of two."""
    windows = x.reshape(2, 2, 2, 2, 2, 2).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4)
    out = np.zeros_like(windows)
    out[np.arange(len(windows)), windows.argmax(1)] = grads.reshape(-1)
    return out.reshape(2, 2, 2, 2, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(x.shape)


def test_max_pooling_and_its_gradient():
    attrs = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    distinct = lambda t: np.random.RandomState(0).permutation(64).reshape(2, 4, 4, 2)
    top = lambda x: x.reshape(2, 2, 2, 2, 2, 2).max((2, 4))
    compare("MaxPool", lambda x: raw_ops.MaxPool(x, **attrs), lambda t: [distinct(t)], top,
            but=["qint8"])
    compare("MaxPoolGrad", lambda x, y, g: raw_ops.MaxPoolGrad(x, y, g, **attrs),
            lambda t: [distinct(t), top(distinct(t)), small(t, shape=(2, 2, 2, 2))],
            lambda x, y, g: pooled(x, g))


def test_dilation_and_its_gradients():
    attrs = dict(strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID")
    x = lambda t: np.random.RandomState(0).permutation(12).reshape(1, 3, 4, 1)
    # So small that the largest input of a window decides.
    taps = lambda t: np.zeros((2, 2, 1))

    def largest(x):
        return np.array([[x[0, i:i + 2, j:j + 2, 0].max() for j in range(3)]
                         for i in range(2)]).reshape(1, 2, 3, 1)

    def by_input(x, taps, g):
        out = np.zeros_like(x)
        for i, j in np.ndindex(2, 3):
            at = np.unravel_index(x[0, i:i + 2, j:j + 2, 0].argmax(), (2, 2))
            out[0, i + at[0], j + at[1], 0] += g[0, i, j, 0]
        return out

    def by_filter(x, taps, g):
        out = np.zeros_like(taps)
        for i, j in np.ndindex(2, 3):
            at = np.unravel_index(x[0, i:i + 2, j:j + 2, 0].argmax(), (2, 2))
            out[(*at, 0)] += g[0, i, j, 0]
        return out

    compare("Dilation2D", lambda x, f: raw_ops.Dilation2D(x, f, **attrs),
            lambda t: [x(t), taps(t)], lambda x, f: largest(x))
    grads = lambda t: small(t, high=4, shape=(1, 2, 3, 1))
    for op, wanted in (("Dilation2DBackpropInput", by_input),
                       ("Dilation2DBackpropFilter", by_filter)):
        compare(op, lambda x, f, g: getattr(raw_ops, op)(x, f, g, **attrs),
                lambda t: [x(t), taps(t), grads(t)], wanted)


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeArea", "ResizeBicubic"])
def test_resized_images_are_of_single_precision(op):
    # The second row of each image repeats the first: between them nothing changes.
    compare(op, lambda x: getattr(raw_ops, op)(x, np.int32([4, 3])),
            lambda t: [np.tile(np.arange(3.)[None, None, :, None], (1, 2, 1, 2))],
            lambda x: x.repeat(2, 1), but=["half", "bfloat16", "double"])


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_that_were_filled_in_get_the_gradient_of_the_default(index):
    places = np.int64([2, 0])
    grads = lambda t: [small(t, high=4, shape=(4,))]
    for op in ("SparseFillEmptyRowsGrad", "RaggedFillEmptyRowsGrad"):
        compare(op, lambda g: getattr(raw_ops, op)(places, g).d_values, grads,
                lambda g: g[[2, 0]], but=["bool"])
        compare(op, lambda g: getattr(raw_ops, op)(places, g).d_default_value, grads,
                lambda g: g[1] + g[3], but=["bool"])
