"""Gradients of ops against numeric differences, for the whole registry.

A case is an op, its inputs and attrs. Floating-point arrays are differentiated,
other arrays and those in Fixed are constants. The sum of the outputs, weighted
with random numbers, is compared along random directions."""
import fnmatch

import numpy as np
import pytest

import headrace as tf
from headrace import _headrace

raw = tf.raw_ops


class Fixed:
    """An input that is not differentiated."""

    def __init__(self, value):
        self.value = value


class Case:
    def __init__(self, op, *inputs, outputs=None, delta=1e-6, tolerance=1e-6,
                 unknown=True, **attrs):
        self.op, self.inputs, self.attrs = op, inputs, attrs
        self.outputs = outputs      # those that count; None: all with gradients
        self.delta, self.tolerance = delta, tolerance
        self.unknown = unknown      # works without static shapes, too


rng = np.random.RandomState(7)


def r(*shape, low=-1.0, high=1.0, dtype=np.float64):
    return rng.uniform(low, high, shape).astype(dtype)


def c(*shape):
    return r(*shape) + 1j * r(*shape)


def pos(*shape, **kw):
    return r(*shape, low=0.3, high=1.7, **kw)


def spd(n):
    a = r(n, n)
    return a @ a.T + n * np.eye(n)


def distinct(*shape):
    n = int(np.prod(shape))
    return (rng.permutation(n).reshape(shape) * 0.37 - n * 0.15)


def ints(*values):
    return np.array(values, np.int32)


def longs(values):
    return np.array(values, np.int64)


# Unary ops, by the range of arguments where they are smooth.
UNARY = {
    "any": """Neg Square Exp Expm1 Sin Cos Sinh Cosh Tanh Asinh Atan Sigmoid
        Erf Erfc Softplus Elu Selu Identity Tan PlaceholderWithDefault
        L2Loss Softmax2 LogSoftmax2 BesselI0e BesselI1e""",
    "positive": """Inv Reciprocal Sqrt Rsqrt Log Log1p Lgamma Digamma Relu
        Relu6 LeakyRelu Softsign Abs Sign""",
    "below one": "Asin Acos Atanh",
    "above one": "Acosh",
    "complex": """Neg Square Exp Expm1 Sin Cos Sinh Cosh Tanh Asinh Atan
        Sigmoid Tan Reciprocal Inv Sqrt Rsqrt Log Log1p Conj Acosh Asin Acos
        Atanh Identity""",
}
RANGES = {"any": lambda: r(3, 2), "positive": lambda: pos(3, 2),
          "below one": lambda: r(3, 2, low=-0.8, high=0.8),
          "above one": lambda: r(3, 2, low=1.2, high=3),
          "complex": lambda: c(3, 2) + (1.5 + 0.3j)}
BINARY = {
    "any": "Add AddV2 Sub Mul MulNoNan SquaredDifference Maximum Minimum",
    "positive": """Div RealDiv DivNoNan Pow Xdivy Xlogy Atan2 Igamma Igammac
        Maximum Minimum""",
    "complex": "Add AddV2 Sub Mul Div RealDiv Pow",
}


def unary_cases():
    for kind, ops in UNARY.items():
        for op in ops.split():
            if op.endswith("2"):
                yield Case(op[:-1], r(3, 4))
            elif op == "PlaceholderWithDefault":
                yield Case(op, r(3, 2), shape=[3, 2])
            else:
                yield Case(op, RANGES[kind]())


def binary_cases():
    shapes = [((3, 2), (3, 2)), ((3, 2), (2,)), ((1, 2), (3, 1)), ((), (3, 2)),
              ((2, 1, 3), (4, 1))]
    for kind, ops in BINARY.items():
        for op in ops.split():
            for a, b in shapes:
                make = {"any": r, "positive": pos, "complex": c}[kind]
                x, y = make(*a), make(*b)
                if op in ("Pow", "Div", "RealDiv") and kind == "complex":
                    x, y = x + 2, y + 2
                yield Case(op, x, y, tolerance=1e-5)


def reduction_cases():
    axes = [[0], [1], [0, 2], [-1], [0, 1, 2], []]
    for op in ("Sum", "Mean", "Prod", "Max", "Min"):
        for axis in axes:
            for keep in (False, True):
                yield Case(op, distinct(2, 3, 2), ints(*axis), keep_dims=keep)
    yield Case("Prod", np.array([[0., 2, 3], [0, 0, 4]]), ints(1))
    yield Case("Sum", c(2, 3), ints(0))
    for exclusive in (False, True):
        for reverse in (False, True):
            flags = dict(exclusive=exclusive, reverse=reverse)
            yield Case("Cumsum", r(3, 2), np.int32(0), **flags)
            yield Case("Cumprod", pos(3, 2), np.int32(1), **flags)
            if not exclusive:
                yield Case("CumulativeLogsumexp", r(4, 2), np.int32(0),
                           tolerance=1e-5, **flags)


ARRAY = [
    Case("Reshape", r(3, 4), ints(2, 6)),
    Case("ExpandDims", r(3, 4), np.int32(1)),
    Case("Squeeze", r(3, 1, 4)),
    Case("Transpose", r(2, 3, 4), ints(2, 0, 1)),
    Case("Transpose", c(2, 3), ints(1, 0)),
    Case("ConjugateTranspose", c(2, 3), ints(1, 0)),
    Case("Concat", Fixed(np.int32(1)), [r(2, 1), r(2, 3)]),
    Case("ConcatV2", [r(2, 3), r(1, 3), r(3, 3)], np.int32(0)),
    Case("ConcatV2", [r(2, 3), r(2, 1)], np.int32(-1)),
    Case("Split", np.int32(1), r(2, 6), num_split=3),
    Case("Split", np.int32(1), r(2, 6), num_split=1),
    Case("SplitV", r(2, 6), longs([1, 2, 3]), np.int32(1), num_split=3),
    Case("SplitV", r(2, 6), longs([6]), np.int32(1), num_split=1),
    Case("Pack", [r(2, 3), r(2, 3)], axis=1),
    Case("Unpack", r(2, 3), num=3, axis=1),
    Case("Slice", r(4, 5), ints(1, 2), ints(2, -1)),
    Case("StridedSlice", r(5, 6, 2), ints(4, 1), ints(0, 5), ints(-2, 1),
         shrink_axis_mask=0, end_mask=0),
    Case("StridedSlice", r(5, 6), ints(1, 0), ints(2, 3), ints(1, 1),
         shrink_axis_mask=1, begin_mask=2),
    Case("StridedSliceGrad", Fixed(ints(5, 4)), ints(1, 0), ints(4, 4),
         ints(2, 1), r(2, 4)),
    Case("Pad", r(2, 3), np.array([[1, 0], [2, 1]], np.int32)),
    Case("PadV2", r(2, 3), np.array([[1, 0], [2, 1]], np.int32),
         Fixed(np.float64(2))),
    Case("MirrorPad", r(3, 4), np.array([[1, 2], [2, 1]], np.int32),
         mode="REFLECT"),
    Case("MirrorPad", r(3, 4), np.array([[1, 2], [2, 1]], np.int32),
         mode="SYMMETRIC"),
    Case("MirrorPadGrad", r(5, 5), np.array([[1, 1], [1, 1]], np.int32),
         mode="REFLECT"),
    Case("Tile", r(2, 3), ints(3, 2)),
    Case("BroadcastTo", r(2, 1, 3), ints(4, 2, 5, 3)),
    Case("Fill", ints(2, 3), r()),
    Case("Gather", r(5, 2), np.array([[0, 3], [3, 1]], np.int32)),
    Case("GatherV2", r(5, 2), ints(4, 0, 4), np.int32(0)),
    Case("GatherV2", r(2, 5, 3), np.array([[4, 0], [1, 4]], np.int32),
         np.int32(1), unknown=False),
    Case("GatherV2", r(2, 5, 3), np.array([[4, 0], [1, 4]], np.int32),
         np.int32(1), batch_dims=1, unknown=False),
    Case("GatherV2", r(2, 3, 4), ints(3, 3, 0), np.int32(-1), unknown=False),
    Case("GatherNd", r(3, 4), np.array([[0, 1], [2, 2], [0, 1]], np.int32)),
    Case("GatherNd", r(3, 4), np.array([[2], [0]], np.int32)),
    Case("ScatterNd", np.array([[0], [2], [0]], np.int32), r(3, 4),
         ints(4, 4)),
    Case("ScatterNdNonAliasingAdd", r(4), np.array([[1], [1]], np.int32),
         r(2)),
    Case("TensorScatterAdd", r(4), np.array([[1], [1]], np.int32), r(2)),
    Case("TensorScatterSub", r(4, 2), np.array([[1], [3]], np.int32),
         r(2, 2)),
    Case("TensorScatterUpdate", r(4, 2), np.array([[1], [3]], np.int32),
         r(2, 2)),
    Case("Reverse", r(2, 3), np.array([True, False])),
    Case("ReverseV2", r(2, 3), ints(1)),
    Case("ReverseSequence", r(2, 4), ints(2, 3), seq_dim=1, batch_dim=0),
    Case("Roll", r(3, 4), ints(1, -2), ints(0, 1)),
    Case("SpaceToBatch", r(1, 4, 4, 2), np.zeros((2, 2), np.int32),
         block_size=2),
    Case("BatchToSpace", r(4, 2, 2, 2), np.zeros((2, 2), np.int32),
         block_size=2),
    Case("SpaceToBatchND", r(1, 4, 6, 2), ints(2, 3),
         np.zeros((2, 2), np.int32)),
    Case("BatchToSpaceND", r(6, 2, 2, 2), ints(2, 3),
         np.zeros((2, 2), np.int32)),
    Case("SpaceToDepth", r(1, 4, 4, 2), block_size=2),
    Case("DepthToSpace", r(1, 2, 2, 8), block_size=2),
    Case("Diag", r(3)),
    Case("DiagPart", r(3, 3)),
    Case("MatrixDiag", r(2, 3)),
    Case("MatrixDiagPart", r(2, 3, 4)),
    Case("MatrixSetDiag", r(2, 3, 4), r(2, 3)),
    Case("MatrixBandPart", r(2, 3, 4), np.int64(1), np.int64(0)),
    Case("MatrixDiagV2", r(2, 3), np.int32(1), np.int32(-1), np.int32(-1),
         Fixed(np.float64(0))),
    Case("MatrixDiagPartV2", r(2, 3, 4), np.int32(1), Fixed(np.float64(0))),
    Case("MatrixSetDiagV2", r(2, 3, 4), r(2, 3), np.int32(0)),
    Case("DynamicPartition", r(5, 2), ints(0, 2, 0, 1, 2), num_partitions=3),
    Case("DynamicStitch", [ints(0, 2), ints(1, 2)], [r(2, 3), r(2, 3)],
         outputs=[0], tolerance=None),
    Case("DynamicStitch", [ints(0, 3), ints(1, 2)], [r(2, 3), r(2, 3)]),
    Case("ParallelDynamicStitch", [ints(0, 3), ints(1, 2)],
         [r(2, 3), r(2, 3)]),
    Case("TopKV2", distinct(2, 3, 5), np.int32(2)),
    Case("NthElement", distinct(3, 5), np.int32(1)),
    Case("IdentityN", [r(2), r(3, 2)]),
    Case("EnsureShape", r(2, 3), shape=[2, None]),
    Case("CheckNumerics", r(3), message="m"),
    Case("GuaranteeConst", r(3)),
    Case("Select", np.array([True, False]), r(2, 3), r(2, 3)),
    Case("Select", np.array([[True, False]]), r(1, 2), r(1, 2)),
    Case("SelectV2", np.array([[True], [False]]), r(2, 3), r(3)),
    Case("AddN", [r(2, 3), r(2, 3), r(2, 3)]),
    Case("AccumulateNV2", [r(2, 3), r(2, 3)], shape=[2, 3]),
    Case("Cast", r(3), DstT=tf.complex128),
    Case("Complex", r(2, 1), r(1, 3), Tout=tf.complex128),
    Case("Real", c(2, 3), Tout=tf.float64),
    Case("Imag", c(2, 3), Tout=tf.float64),
    Case("ComplexAbs", c(2, 3), Tout=tf.float64),
    Case("Angle", c(2, 3), Tout=tf.float64),
    Case("Betainc", Fixed(pos(3)), Fixed(pos(3)), r(3, low=0.2, high=0.8)),
    Case("Zeta", Fixed(r(3, low=2, high=4)), pos(3)),
    Case("Polygamma", Fixed(np.array([1., 2, 3])), pos(3)),
    Case("FloorMod", r(4, low=2.1, high=2.9), np.full(4, 0.8)),
    Case("NextAfter", pos(3), Fixed(pos(3) + 1)),
    Case("L2Loss", r(3, 2)),
]
GRADIENTS = [  # gradients of gradients
    Case("SqrtGrad", pos(3), r(3)),
    Case("RsqrtGrad", pos(3), r(3)),
    Case("ReciprocalGrad", pos(3), r(3)),
    Case("InvGrad", pos(3), r(3)),
    Case("TanhGrad", r(3), r(3)),
    Case("SigmoidGrad", r(3), r(3)),
    Case("TanhGrad", c(3), c(3)),
    Case("SigmoidGrad", c(3), c(3)),
    Case("EluGrad", r(4), r(4)),
    Case("SeluGrad", r(4), r(4)),
    Case("ReluGrad", r(4), r(4)),
    Case("Relu6Grad", r(4), r(4)),
    Case("LeakyReluGrad", r(4), r(4), alpha=0.3),
    Case("SoftplusGrad", r(4), r(4)),
    Case("BiasAddGrad", r(2, 3, 4)),
    Case("BiasAddGrad", r(2, 3, 4, 2), data_format="NCHW"),
    Case("AvgPoolGrad", Fixed(ints(1, 4, 4, 2)), r(1, 2, 2, 2),
         ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"),
    Case("AvgPool3DGrad", Fixed(ints(1, 4, 4, 4, 2)), r(1, 2, 2, 2, 2),
         ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID"),
]


def segment_cases():
    ids = ints(0, 0, 2, 2)
    for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin"):
        yield Case(op, distinct(4, 2), ids)
    for op in ("UnsortedSegmentSum", "UnsortedSegmentMax",
               "UnsortedSegmentMin", "UnsortedSegmentProd"):
        yield Case(op, distinct(5, 2) + 0.05, ints(2, 0, -1, 1, 0),
                   np.int32(3), tolerance=1e-5)
    yield Case("UnsortedSegmentProd", np.array([0., 2, 3, 0, 0]),
               ints(0, 0, 1, 1, 1), np.int32(3))
    for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
        yield Case(op, r(5, 2), ints(4, 0, 4), ints(0, 0, 1))
        yield Case(op + "WithNumSegments", r(5, 2), ints(4, 0, 4),
                   ints(0, 0, 2), np.int32(4))


def product_cases():
    for ta in (False, True):
        for tb in (False, True):
            a, b = ((4, 3) if ta else (3, 4)), ((2, 4) if tb else (4, 2))
            yield Case("MatMul", r(*a), r(*b), transpose_a=ta, transpose_b=tb)
            yield Case("MatMul", c(*a), c(*b), transpose_a=ta, transpose_b=tb)
            yield Case("BatchMatMul", r(2, *a), r(2, *b), adj_x=ta, adj_y=tb)
            yield Case("BatchMatMulV2", c(2, 1, *a), c(3, *b), adj_x=ta,
                       adj_y=tb)
            yield Case("SparseMatMul", r(*a, dtype=np.float32),
                       r(*b, dtype=np.float32), transpose_a=ta,
                       transpose_b=tb, delta=1e-2, tolerance=1e-3)
    for equation, *shapes in (
            ("ij,jk->ik", (2, 3), (3, 4)), ("i,j->ij", (2,), (3,)),
            ("ij->ji", (2, 3)), ("ij->i", (2, 3)), ("ij,kj->k", (2, 3), (4, 3)),
            ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("ijk->", (2, 3, 2)),
            ("...ij,...jk->...ik", (2, 1, 3, 4), (3, 4, 2)),
            ("i...,i...->...", (2, 3), (2, 3)), ("i...j->...j", (2, 3, 2)),
            ("ij,...jk->...ik", (2, 3), (2, 2, 3, 2)), ("...i->...", (2, 3))):
        yield Case("Einsum", [r(*s) for s in shapes], equation=equation,
                   unknown="..." not in equation)
    yield Case("Einsum", [c(2, 3), c(3, 4)], equation="ij,jk->ik")
    for padding in ("SAME", "VALID"):
        s2 = dict(strides=[1, 2, 2, 1], padding=padding)
        s3 = dict(strides=[1, 2, 1, 2, 1], padding=padding)
        x, f = r(2, 5, 6, 3), r(3, 2, 3, 4)
        size = ((5, 6) if padding == "SAME" else (3, 5))
        out = (2, (size[0] + 1) // 2, (size[1] + 1) // 2)
        yield Case("Conv2D", x, f, **s2)
        yield Case("Conv2DBackpropInput", Fixed(ints(2, 5, 6, 3)), f,
                   r(*out, 4), **s2)
        yield Case("Conv2DBackpropFilter", x, Fixed(ints(3, 2, 3, 4)),
                   r(*out, 4), **s2)
        yield Case("DepthwiseConv2dNative", x, r(3, 2, 3, 2), **s2)
        yield Case("DepthwiseConv2dNativeBackpropInput",
                   Fixed(ints(2, 5, 6, 3)), r(3, 2, 3, 2), r(*out, 6), **s2)
        yield Case("DepthwiseConv2dNativeBackpropFilter", x,
                   Fixed(ints(3, 2, 3, 2)), r(*out, 6), **s2)
        x, f = r(1, 4, 3, 5, 2), r(2, 2, 2, 2, 3)
        size = ((4, 3, 5) if padding == "SAME" else (3, 2, 4))
        out = (1, (size[0] + 1) // 2, size[1], (size[2] + 1) // 2, 3)
        yield Case("Conv3D", x, f, **s3)
        yield Case("Conv3DBackpropInputV2", Fixed(ints(1, 4, 3, 5, 2)), f,
                   r(*out), **s3)
        yield Case("Conv3DBackpropFilterV2", x, Fixed(ints(2, 2, 2, 2, 3)),
                   r(*out), **s3)
        yield Case("Dilation2D", distinct(1, 5, 5, 2) * 0.1, r(2, 2, 2),
                   strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding=padding)


def nn_cases():
    yield Case("BiasAdd", r(2, 3, 4), r(4))
    yield Case("BiasAdd", r(2, 3, 4, 2), r(3), data_format="NCHW")
    yield Case("BiasAddV1", r(2, 3, 4), r(4))
    pool = dict(ksize=[1, 2, 3, 1], strides=[1, 2, 1, 1])
    pool3 = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 1, 2, 1])
    for padding in ("SAME", "VALID"):
        x, x3 = distinct(1, 4, 5, 2), distinct(1, 3, 4, 4, 2)
        yield Case("MaxPool", x, padding=padding, **pool)
        yield Case("MaxPoolV2", x, ints(1, 2, 3, 1), ints(1, 2, 1, 1),
                   padding=padding)
        yield Case("AvgPool", x, padding=padding, **pool)
        yield Case("MaxPoolWithArgmax", x, padding=padding, outputs=[0],
                   **pool)
        yield Case("MaxPool3D", x3.astype(np.float32), padding=padding,
                   delta=1e-2, tolerance=1e-3, **pool3)
        yield Case("AvgPool3D", x3, padding=padding, **pool3)
    yield Case("FractionalMaxPool", distinct(1, 6, 6, 1),
               pooling_ratio=[1., 1.5, 1.4, 1.], deterministic=True, seed=3,
               seed2=5, outputs=[0])
    yield Case("FractionalAvgPool", distinct(1, 6, 6, 1),
               pooling_ratio=[1., 1.5, 1.4, 1.], deterministic=True, seed=3,
               seed2=5, outputs=[0])
    yield Case("LRN", r(1, 2, 2, 6, dtype=np.float32), depth_radius=2,
               delta=1e-2, tolerance=2e-3)
    bn = dict(delta=1e-2, tolerance=3e-3, outputs=[0])
    f = np.float32
    for training in (True, False):
        stats = ([Fixed(np.zeros(0, f)), Fixed(np.zeros(0, f))] if training
                 else [Fixed(r(3, dtype=f)), Fixed(pos(3, dtype=f))])
        for version in ("", "V2", "V3"):
            yield Case("FusedBatchNorm" + version, r(4, 3, 2, 3, dtype=f),
                       pos(3, dtype=f), r(3, dtype=f), *stats,
                       is_training=training, **bn)
    for training in (True, False):
        for version in ("", "V2", "V3"):
            for channels in ("NHWC", "NCHW"):
                x = r(4, 3, 2, 3, dtype=f)
                stats = ([Fixed(x.mean((0, 1, 2))), Fixed(x.var((0, 1, 2)))]
                         if training else
                         [Fixed(r(3, dtype=f)), Fixed(pos(3, dtype=f))])
                if version == "V3":
                    stats.append(Fixed(np.zeros(0, f)))
                if channels == "NCHW":
                    if training:
                        continue  # the kernel needs the other
                    x = x.transpose(0, 3, 1, 2).copy()
                yield Case("FusedBatchNormGrad" + version,
                           r(*x.shape, dtype=f),
                           Fixed(x) if training else x, pos(3, dtype=f),
                           *stats, is_training=training,
                           data_format=channels, outputs=[0, 1, 2],
                           delta=1e-2, tolerance=3e-3)
    yield Case("SoftmaxCrossEntropyWithLogits", Fixed(r(3, 4)), pos(3, 4),
               outputs=[0])
    labels = pos(3, 4)
    labels /= labels.sum(1, keepdims=True)
    yield Case("SoftmaxCrossEntropyWithLogits", r(3, 4), Fixed(labels))
    yield Case("SparseSoftmaxCrossEntropyWithLogits", r(3, 4), ints(1, 0, 3),
               outputs=[0])
    yield Case("CTCLoss", r(5, 2, 4, dtype=f),
               longs([[0, 0], [0, 1], [1, 0]]), ints(1, 0, 2), ints(5, 4),
               outputs=[0], delta=1e-2, tolerance=3e-3)
    inside = np.array([-0.4, 0.1, 0.33, 0.9], f)
    yield Case("FakeQuantWithMinMaxArgs", inside, tolerance=None)
    lstm = [longs(3), r(3, 2, 4, dtype=f), r(2, 3, dtype=f),
            r(2, 3, dtype=f), r(7, 12, dtype=f), r(3, dtype=f),
            r(3, dtype=f), r(3, dtype=f), r(12, dtype=f)]
    yield Case("BlockLSTM", *lstm, use_peephole=True, outputs=[1, 6],
               delta=1e-2, tolerance=3e-3)
    yield Case("BlockLSTMV2", *lstm, use_peephole=True, outputs=[1, 6],
               delta=1e-2, tolerance=3e-3)


def linalg_cases():
    yield Case("MatrixInverse", spd(3))
    yield Case("MatrixInverse", r(2, 3, 3) + 3 * np.eye(3), adjoint=True)
    yield Case("MatrixDeterminant", r(2, 3, 3) + 2 * np.eye(3))
    yield Case("LogMatrixDeterminant", r(2, 3, 3) + 2 * np.eye(3),
               outputs=[1])
    yield Case("MatrixDeterminant", c(3, 3) + 2 * np.eye(3))
    for adjoint in (False, True):
        yield Case("MatrixSolve", r(2, 3, 3) + 3 * np.eye(3), r(2, 3, 2),
                   adjoint=adjoint)
        for lower in (False, True):
            yield Case("MatrixTriangularSolve", r(3, 3) + 3 * np.eye(3),
                       r(3, 2), lower=lower, adjoint=adjoint)
    yield Case("MatrixSolveLs", r(4, 2), r(4, 3), Fixed(np.float64(0.3)),
               unknown=False, tolerance=1e-5)
    yield Case("MatrixSolveLs", r(2, 4), r(2, 3), Fixed(np.float64(0.3)),
               unknown=False, tolerance=1e-5)
    yield Case("Qr", r(4, 3), unknown=False, tolerance=1e-5)
    for shape in ((3, 3), (2, 4, 3), (3, 5)):
        yield Case("Svd", r(*shape), compute_uv=False, outputs=[0],
                   tolerance=1e-5)
        yield Case("Svd", r(*shape), outputs=[0], unknown=False,
                   tolerance=1e-5)
    yield Case("Svd", r(4, 3), full_matrices=True, outputs=[0], unknown=False,
               tolerance=1e-5)
    yield Case("MatrixSquareRoot", spd(3), tolerance=1e-5)
    yield Case("MatrixSquareRoot", np.stack([spd(2), spd(2)]), tolerance=1e-5)
    for make in (r, c):
        yield Case("TridiagonalMatMul", make(2, 1, 4), make(2, 1, 4),
                   make(2, 1, 4), make(2, 4, 3))
        yield Case("TridiagonalSolve",
                   make(2, 3, 4) + np.array([0, 3, 0])[:, None],
                   make(2, 4, 2), tolerance=1e-5)
    yield Case("Cross", r(2, 3), r(2, 3))
    for op in ("FFT", "IFFT"):
        yield Case(op, c(2, 5))
        yield Case(op + "2D", c(2, 3, 4))
        yield Case(op + "3D", c(2, 3, 2))
    single = dict(delta=1e-2, tolerance=1e-3)
    for n in (6, 5):
        f = np.float32
        half = (r(2, n // 2 + 1) + 1j * r(2, n // 2 + 1)).astype(np.complex64)
        yield Case("RFFT", r(2, n, dtype=f), ints(n), **single)
        yield Case("RFFT2D", r(2, n, dtype=f), ints(2, n), **single)
        yield Case("IRFFT", half, ints(n), **single)
        yield Case("IRFFT2D", half, ints(2, n), **single)


def image_cases():
    single = dict(delta=1e-2, tolerance=2e-3)
    x = r(1, 3, 4, 2)
    for op in ("ResizeNearestNeighbor", "ResizeBilinear", "ResizeBicubic"):
        for align in (False, True):
            image = x if op == "ResizeNearestNeighbor" else x.astype("f")
            yield Case(op, image, ints(5, 3), align_corners=align, **single)
    yield Case("ScaleAndTranslate", x.astype("f"), ints(5, 3),
               Fixed(np.array([1.3, 0.8], "f")),
               Fixed(np.array([0.2, 0.1], "f")), **single)
    for mode in ("NEAREST", "BILINEAR"):
        move = np.array([[1, 0, 0.5, 0, 1, -1, 0, 0], [0, -1, 4, 1, 0, 0, 0, 0]],
                        "f") if mode == "BILINEAR" else np.array(
                            [[0, -1, 2, 1, 0, 0, 0, 0]], "f")
        yield Case("ImageProjectiveTransformV2",
                   r(len(move), 4, 5, 2, dtype="f"), Fixed(move), ints(4, 5),
                   interpolation=mode, **single)
    boxes = np.array([[0.1, 0.2, 0.8, 0.7], [0.3, 0.1, 0.9, 0.6]], "f")
    yield Case("CropAndResize", r(1, 5, 5, 2, dtype="f"), boxes, ints(0, 0),
               ints(3, 2), delta=1e-3, tolerance=2e-2)
    yield Case("ExtractImagePatches", r(2, 4, 5, 3), ksizes=[1, 2, 3, 1],
               strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding="SAME")
    yield Case("ExtractVolumePatches", r(1, 3, 4, 3, 2),
               ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1],
               padding="VALID")
    yield Case("RGBToHSV", pos(2, 3, 3), tolerance=1e-5)


def sparse_cases():
    at = longs([[0, 1], [1, 0], [1, 3]])
    shape = longs([2, 4])
    for ta in (False, True):
        for tb in (False, True):
            b = (2, 3) if ta else (4, 3)
            yield Case("SparseTensorDenseMatMul", at, r(3), shape,
                       r(*(b[::-1] if tb else b)), adjoint_a=ta, adjoint_b=tb)
    yield Case("SparseToDense", at, shape, r(3), r())
    yield Case("SparseToDense", at, shape, r(), r(), unknown=False)
    yield Case("SparseTensorDenseAdd", at, r(3), shape, r(2, 4))
    other = longs([[0, 0], [1, 0]])
    yield Case("SparseAdd", at, r(3), shape, other, r(2), shape,
               Fixed(np.float64(0)), outputs=[1])
    yield Case("SparseReorder", at[::-1].copy(), r(3), shape, outputs=[1])
    yield Case("SparseFillEmptyRows", longs([[0, 1], [2, 0]]), r(2),
               longs([4, 3]), r(), outputs=[1])
    yield Case("SparseSlice", at, r(3), shape, longs([0, 0]), longs([2, 2]),
               outputs=[1])
    for keep in (False, True):
        yield Case("SparseReduceSum", at, r(3), shape, ints(1),
                   keep_dims=keep)
    for dense in ((2, 4), (4,), (2, 1)):
        yield Case("SparseDenseCwiseMul", at, r(3), shape, r(*dense))
        yield Case("SparseDenseCwiseDiv", at, r(3), shape, pos(*dense))
    yield Case("SparseSoftmax", at, r(3), shape)
    yield Case("RaggedTensorToSparse", [longs([0, 2, 3]), longs([0, 1, 3, 4])],
               r(4), outputs=[1])
    yield Case("RaggedGather", [longs([0, 2, 3]), longs([0, 1, 3, 4])],
               r(4, 2), ints(1, 0, 1), OUTPUT_RAGGED_RANK=2, outputs=[1])


CASES = [*unary_cases(), *binary_cases(), *reduction_cases(), *ARRAY,
         *GRADIENTS, *segment_cases(), *product_cases(), *nn_cases(),
         *linalg_cases(), *image_cases(), *sparse_cases()]


def build(case, known):
    """(tensors that are differentiated, their values, outputs)"""
    tensors, values = [], []

    def convert(x):
        if isinstance(x, list):
            return [convert(part) for part in x]
        if isinstance(x, Fixed):
            return tf.constant(x.value)
        x = np.asarray(x)
        if x.dtype.kind not in "fc":
            return tf.constant(x)
        t = tf.placeholder(x.dtype, x.shape if known else None)
        tensors.append(t)
        values.append(x)
        return t

    found = getattr(raw, case.op)(*map(convert, case.inputs), **case.attrs)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    if case.outputs is not None:
        found = [found[i] for i in case.outputs]
    return tensors, values, [t for t in found
                             if t.dtype.is_floating or t.dtype.is_complex]


def check(case, known):
    if case.tolerance is None:  # defined by convention, not by differences
        return
    random = np.random.RandomState(3)

    def like(shape, dtype):
        a = random.uniform(-1, 1, shape)
        if np.dtype(dtype).kind == "c":
            a = a + 1j * random.uniform(-1, 1, shape)
        return a.astype(dtype)

    with tf.Graph().as_default(), tf.Session() as session:
        xs, values, ys = build(case, known)
        feed = dict(zip(xs, values))
        weights = [like(y.shape, y.dtype) for y in session.run(ys, feed)]
        grads = tf.gradients(ys, xs, grad_ys=[tf.constant(w) for w in weights],
                             unconnected_gradients="zero")
        grads = session.run([tf.convert_to_tensor(g) for g in grads], feed)

        def total(moved):
            return sum(np.sum(np.real(np.conj(w.astype(np.complex128)) * y))
                       for w, y in zip(weights, session.run(
                           ys, dict(zip(xs, moved)))))

        for i, (x, g) in enumerate(zip(values, grads)):
            assert g.shape == x.shape and g.dtype == x.dtype
            for _ in range(3):
                v = like(x.shape, x.dtype)
                if case.op in SYMMETRIC:
                    v = v + np.swapaxes(v, -1, -2)
                ends = [total([*values[:i], (x + s * case.delta * v).astype(
                    x.dtype), *values[i + 1:]]) for s in (1, -1)]
                numeric = (ends[0] - ends[1]) / (2 * case.delta)
                ours = np.sum(np.real(np.conj(g.astype(np.complex128)) * v))
                size = 1 + np.sum(np.abs(g.astype(np.complex128) * v))
                assert abs(numeric - ours) <= case.tolerance * size, (
                    "input %d: by differences %g, got %g" % (i, numeric, ours))


# Their kernels read one triangle: directions are symmetric.
SYMMETRIC = {"Cholesky", "SelfAdjointEigV2"}
CASES += [Case("Cholesky", spd(3), tolerance=1e-5),
          Case("SelfAdjointEigV2", spd(3), compute_v=True, outputs=[0],
               tolerance=1e-5),
          Case("SelfAdjointEigV2", spd(3), compute_v=False, outputs=[0],
               tolerance=1e-5)]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "case", CASES, ids=["%s-%d" % (c.op, i) for i, c in enumerate(CASES)])
def test_gradients_equal_differences(case, known):
    if not known and not case.unknown:
        pytest.skip("needs static shapes")
    check(case, known)


# Ops with a gradient that no case above has, and why.
ELSEWHERE = {
    "a graph as of today refuses the op":
        "BatchNormWithGlobalNormalization TopK",
    "the gradient is defined, not derived": """
        DebugGradientIdentity DebugGradientRefIdentity FakeQuantWithMinMaxVars
        FakeQuantWithMinMaxVarsPerChannel PreventGradient
        QuantizeAndDequantize QuantizeAndDequantizeV2
        QuantizeAndDequantizeV3 RandomGamma""",
    "linear, as the op beside it": """
        MaxPool3DGrad MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad
        MaxPoolGradV2""",
    "reads variables: see test_gradients.py": """
        ReadVariableOp RefIdentity ResourceGather ResourceGatherNd""",
    "control flow and tensor arrays: see test_gradients.py": """
        Enter Exit Merge NextIteration RefEnter RefExit
        RefMerge RefNextIteration RefSwitch Switch
        TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayReadV3
        TensorArrayScatterV3 TensorArraySplitV3 TensorArrayWriteV3""",
    "older forms of tensor arrays": """
        TensorArrayConcat TensorArrayConcatV2 TensorArrayGather
        TensorArrayGatherV2 TensorArrayRead TensorArrayReadV2
        TensorArrayScatter TensorArrayScatterV2 TensorArraySplit
        TensorArraySplitV2 TensorArrayWrite TensorArrayWriteV2""",
    "functions, lists: see test_gradients_functions.py": """
        Case If PartitionedCall RemoteCall StatefulPartitionedCall
        StatelessCase StatelessIf StatelessWhile SymbolicGradient While
        OptionalFromValue OptionalGetValue TensorListConcat TensorListConcatV2
        TensorListFromTensor TensorListGather TensorListGetItem
        TensorListPopBack TensorListPushBack TensorListResize TensorListScatter
        TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem
        TensorListSplit TensorListStack""",
    "refused, as in TensorFlow":
        "SparseDenseCwiseAdd SparseSparseMaximum SparseSparseMinimum",
    "prints": "Print",
}


def test_every_gradient_function_has_a_case():
    tested = {case.op for case in CASES}
    excused = {op for ops in ELSEWHERE.values() for op in ops.split()}
    with_function = {op for op in _headrace.gradient_ops()
                     if _headrace.gradient_entry(op)[0]}
    assert with_function - tested == excused & with_function
    assert excused <= with_function


def test_every_op_without_a_gradient_says_why():
    for op in _headrace.gradient_ops():
        has_function, reason = _headrace.gradient_entry(op)
        assert has_function != bool(reason), op


# Why ops have no entry in the registry, neither a function nor a reason; by
# patterns of names. Others have none because no floating-point tensor goes in,
# or none comes out.
WITHOUT_ENTRY = {
    "they make or read data sets":
        "*Dataset *DatasetV? DatasetToSingleElement IteratorGetNext* "
        "GetElementAtIndex",
    "they work with quantized numbers":
        "Quantized* QuantizeDown* QuantizeV2 Requantiz* Dequantize",
    "they change variables or tensors in place":
        "Apply* SparseApply* Scatter* Inplace* StridedSliceAssign "
        "TensorStridedSliceUpdate DestroyTemporaryVariable",
    "they are gradients themselves":
        "*Grad *GradV2 *GradBoxes *GradImage *GradA *GradWithArgmax *Gradient "
        "CudnnRNNBackprop *BackpropFilter *BackpropInput *BackpropInputV2 "
        "*BackpropFilterV2",
    "they parse or serialize":
        "Parse* DecodeCSV SerializeIterator SerializeSparse "
        "SerializeManySparse "
        "DeserializeSparse",
    "their output is random":
        "Random* Stateful* Stateless* NonDeterministicInts "
        "KmeansPlusPlusInitialization",
    "they exchange values with other processes":
        "Collective*",
    "they are objects, or take from one":
        "AnonymousMutableDenseHashTable QueueDequeue* Stack* TensorMap* "
        "MutexLock LookupTableExportV2 ResourceAccumulatorTakeGradient",
    "they count or search":
        "*Bincount *CountSparseOutput Unique* ListDiff NearestNeighbors "
        "NonMaxSuppressionV5 CombinedNonMaxSuppression",
    "they grow trees and ask them":
        "BoostedTrees* TreePredictionsV4",
    "TensorFlow 1.15 has no rule":
        "AdjustContrastv2 AdjustHue AdjustSaturation AudioSpectrogram "
        "BatchCholesky BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D "
        "BatchIFFT3D BatchMatrixBandPart BatchMatrixDeterminant "
        "BatchMatrixDiag BatchMatrixDiagPart BatchMatrixInverse "
        "BatchMatrixSetDiag BatchMatrixSolve BatchMatrixSolveLs "
        "BatchMatrixTriangularSolve BatchSelfAdjointEig BatchSelfAdjointEigV2 "
        "BatchSvd Bitcast ClipByValue DeepCopy DrawBoundingBoxesV2 For "
        "FusedPadConv2D FusedResizeAndPadConv2D IRFFT3D "
        "Lu MaskedMatmul MatrixExponential MatrixLogarithm Mfcc Mod "
        "ParallelConcat RFFT3D RaggedTensorFromVariant RaggedTensorToTensor "
        "RefSelect ResizeArea SegmentProd SelfAdjointEig Snapshot "
        "SparseReduceMax SparseReduceMaxSparse SparseReduceSumSparse "
        "SparseSplit TensorArrayPack TensorArrayUnpack TruncateMod "
        "WALSComputePartialLhsAndRhs",
    "TensorFlow 1.15 does not have the op":
        "BandedTriangularSolve BatchMatMulV3 BesselI0 BesselI1 BesselJ0 "
        "BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 "
        "CTCLossV2 CheckNumericsV2 Dawsn Eig Erfinv Expint ExtractGlimpseV2 "
        "FresnelCos FresnelSin ImageProjectiveTransformV3 IsotonicRegression "
        "MatrixDiagPartV3 MatrixDiagV3 MatrixSetDiagV3 Ndtri "
        "QuantizeAndDequantizeV4 RaggedFillEmptyRows SegmentMaxV2 "
        "SegmentMinV2 SegmentProdV2 SegmentSumV2 Spence TensorScatterMax "
        "TensorScatterMin Xlog1py",
    "their rules are in Python: contrib/block_cells.py":
        "GRUBlockCell LSTMBlockCell",
    "it trains with cuDNN alone, and not here":
        "CudnnRNN",
}

# Handles stand for tensors of any type.
DIFFERENTIABLE = {d.as_datatype_enum for d in (
    tf.half, tf.bfloat16, tf.float32, tf.float64, tf.complex64, tf.complex128,
    tf.resource, tf.variant)}


def may_be_differentiable(op_def, args):
    """True if one of the OpDef's arguments can have a gradient."""
    attrs = {a.name: a for a in op_def.attr}
    for arg in args:
        name = arg.type_attr or arg.type_list_attr
        types = {arg.type % 100} if arg.type else set(
            attrs[name].allowed_values.list.type)
        if not types or types & DIFFERENTIABLE:
            return True
    return False


def test_every_op_has_an_entry_or_a_reason_to_have_none():
    patterns = {p: r for r, ps in WITHOUT_ENTRY.items() for p in ps.split()}
    entries, used, unknown = set(_headrace.gradient_ops()), set(), []
    for op in sorted(n for n in dir(raw) if n[0].isupper()):
        op_def = _headrace.op_def(op)
        if op in entries or op_def is None or not (
                may_be_differentiable(op_def, op_def.input_arg)
                and may_be_differentiable(op_def, op_def.output_arg)):
            continue
        fitting = {p for p in patterns if fnmatch.fnmatchcase(op, p)}
        used |= fitting
        if not fitting:
            unknown.append(op)
    assert not unknown
    assert set(patterns) == used, "patterns that no op needs"
