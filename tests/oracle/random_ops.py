"""Random graphs around one node of any op of the registry, each from a seed.

make_case(ops, name, seed) gives a case as op_worker.py reads it: constants and
placeholders of random types, shapes and values behind each input, integers at
times through a short chain of ops as programs compute shapes. Most random
arguments of most ops are refused, so names of arguments and attrs say what they
are likely to want; what they say is not followed always.
"""
import math
import random

import numpy as np

from op_shapes import SHAPES_BY_OP

FLOAT, DOUBLE, INT32, UINT8, INT16, INT8, STRING = 1, 2, 3, 4, 5, 6, 7
COMPLEX64, INT64, BOOL, QINT8, QUINT8, QINT32 = 8, 9, 10, 11, 12, 13
BFLOAT16, QINT16, QUINT16, UINT16, COMPLEX128, HALF = 14, 15, 16, 17, 18, 19
RESOURCE, VARIANT, UINT32, UINT64 = 20, 21, 22, 23

NUMPY = {FLOAT: np.float32, DOUBLE: np.float64, INT32: np.int32,
         UINT8: np.uint8, INT16: np.int16, INT8: np.int8,
         COMPLEX64: np.complex64, INT64: np.int64, BOOL: np.bool_,
         QINT8: np.int8, QUINT8: np.uint8, QINT32: np.int32,
         BFLOAT16: np.uint16, QINT16: np.int16, QUINT16: np.uint16,
         UINT16: np.uint16, COMPLEX128: np.complex128, HALF: np.float16,
         UINT32: np.uint32, UINT64: np.uint64}
FLOATS = {FLOAT, DOUBLE, HALF, BFLOAT16}
COMPLEX = {COMPLEX64, COMPLEX128}
COMMON_TYPES = [FLOAT] * 5 + [INT32] * 3 + [INT64, DOUBLE, STRING, BOOL,
                                            COMPLEX64, HALF, UINT8]
RARE_TYPES = [INT16, INT8, BFLOAT16, UINT16, COMPLEX128, UINT32, UINT64, QINT8]

# Parts of names of ops that leave the process, wait for others, or whose work
# depends on more than their arguments.
DENIED = ("Abort", "Print", "WriteFile", "Save", "MergeV2", "PyFunc",
          "Snapshot", "TFRecord", "Cache", "Send", "Recv", "Dataset",
          "Iterator",
          "Collective", "TPU", "Xla", "Cudnn", "DebugNumericSummary", "Enter",
          "NextIteration", "Merge", "LoopCond", "Rpc", "Nccl", "Timestamp",
          "Delete", "Multiprocess", "Stage", "Unstage", "MapPeek", "Remote",
          "Lmdb", "Gcs", "Bigtable", "DTensor", "Outfeed", "Infeed",
          "WorkerHeartbeat")
# Denormals are left out: TensorFlow's threads take them for zero.
SPECIAL_FLOATS = [math.inf, -math.inf, math.nan, -0., 0., 1e-37, 3e38, -1., 1.,
                  .5, 1.5, 2.5, -.5, 88.7, -104., 1e10, 65504.]
TEXTS = [b"", b"a", b"abc", b"1", b"2.5", b"-3", b"nan", b"\xc3\xa9t\xc3\xa9",
         b"a,b", b"x y  z", b"\xff\xfe", b"hello world",
         b"12345678901234567890"]
EQUATIONS = [b"ab,bc->ac", b"ab,ab->", b"ii->i", b"a...,...b->ab", b"ab->ba",
             b"abc,cd->abd", b"...,...->...", b"a,b->ab"]


class Refused(Exception):
    """No case can be made of this op."""


def encode(dtype, array):
    """A tensor as op_worker.py takes it."""
    array = np.asarray(array)
    if dtype == STRING:
        return STRING, list(array.shape), list(array.ravel())
    if dtype == BFLOAT16:
        bits = array.astype(np.float32).view(np.uint32)
        bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
        return dtype, list(array.shape), bits.astype(np.uint16).tobytes()
    return dtype, list(array.shape), array.astype(NUMPY[dtype]).tobytes()


def decode(tensor):
    dtype, dims, data = tensor
    if dtype == STRING:
        array = np.empty(len(data), object)
        array[:] = data
        return array.reshape(dims)
    array = np.frombuffer(data, NUMPY[dtype]).reshape(dims)
    if dtype == BFLOAT16:
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array


def is_extreme(case):
    """Whether an argument is infinite, NaN, or so large or small that squares
    leave the range of floats or digits are lost."""
    tensors = [value for _, value in case["feeds"]]
    for node in case["nodes"]:
        tensors += [v for kind, v in node["attrs"].values() if kind == "tensor"]
    for tensor in tensors:
        if tensor[0] in FLOATS or tensor[0] in COMPLEX:
            array = decode(tensor)
            parts = np.abs(np.stack([array.real, array.imag])).astype(np.float64)
            parts = parts[parts != 0]
            if parts.size and not (1e-30 < parts.min() <= parts.max() < 1e9):
                return True
    return False


class Maker:
    """`ranks` has, for some of the inputs by number, the ranks that the op's
    shape function takes."""

    def __init__(self, op, rng, ranks):
        self.op, self.rng, self.ranks = op, rng, ranks
        self.nodes, self.feeds, self.attrs, self.values = [], [], {}, {}
        # Half of the cases have ordinary numbers alone.
        self.special = rng.random() < .35
        self.rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8])
        dims = [1, 2, 3, 4, 5, 7] if rng.random() < .8 else [0, 1, 2, 3]
        self.shape = [rng.choice(dims if self.rank < 5 else [1, 2, 3])
                      for _ in range(self.rank)]
        self.scheme = rng.choice(["same", "same", "broadcast", "prefix",
                                  "independent", "cube", "cube"])
        if self.scheme == "cube":
            self.shape = [rng.choice([1, 2, 2, 3, 3, 4, 0])] * self.rank
        self.sparse = {}

    # Values.

    def floats(self, shape):
        rng = np.random.default_rng(self.rng.getrandbits(32))
        kind = self.rng.randrange(6)
        if kind == 0:
            values = rng.integers(-4, 5, shape).astype(np.float64)
        elif kind == 1:
            values = rng.random(shape)
        elif kind == 2:
            values = rng.standard_normal(shape) * 10
        elif kind == 3:
            values = np.abs(rng.standard_normal(shape)) * 3
        else:
            values = rng.standard_normal(shape)
        if self.special:
            chosen = rng.choice(SPECIAL_FLOATS, shape)
            values = np.where(rng.random(shape) < self.rng.choice([.1, .5, 1]),
                              chosen, values)
        return values

    def integers(self, dtype, shape, low=None, high=None):
        rng = np.random.default_rng(self.rng.getrandbits(32))
        info = np.iinfo(NUMPY[dtype])
        if low is not None:
            return rng.integers(low, max(high, low + 1), shape)
        kind = self.rng.randrange(4)
        if kind == 0 and info.min < 0:
            values = rng.integers(-5, 6, shape)
        elif kind == 1:
            values = rng.integers(0, 100, shape)
        else:
            values = rng.integers(0, 4, shape)
        if self.special:
            chosen = rng.choice(np.array(
                [info.min, info.max, 0, 1, info.max - 1, info.max // 2],
                NUMPY[dtype]), shape)
            values = np.where(rng.random(shape) < .3, chosen,
                              np.asarray(values).astype(NUMPY[dtype]))
        return values

    def tensor(self, dtype, shape, low=None, high=None):
        if dtype == STRING:
            array = np.empty(shape, object)
            flat = [self.rng.choice(TEXTS) for _ in range(array.size)]
            array.ravel()[:] = flat
            array = np.array(flat, object).reshape(shape)
        elif dtype == BOOL:
            array = np.random.default_rng(
                self.rng.getrandbits(32)).integers(0, 2, shape)
        elif dtype in COMPLEX:
            parts = np.empty(shape, np.complex128)
            parts.real, parts.imag = self.floats(shape), self.floats(shape)
            array = parts
        elif dtype in FLOATS:
            array = self.floats(shape) if low is None else \
                self.integers(INT64, shape, low, high)
        elif dtype in NUMPY:
            array = self.integers(dtype, shape, low, high)
        else:
            raise Refused("no values of type %d" % dtype)
        with np.errstate(all="ignore"):
            return encode(dtype, array)

    # Attrs.

    def pick_type(self, attr):
        if attr.allowed:
            # What the most programs use comes first.
            common = [t for t in attr.allowed if t in (FLOAT, INT32, INT64)]
            if common and self.rng.random() < .45:
                return self.rng.choice(common)
            return self.rng.choice(attr.allowed)
        return self.rng.choice(COMMON_TYPES if self.rng.random() < .8
                               else RARE_TYPES)

    def pick_attr(self, attr):
        """(kind, value) or None for the default."""
        rng, name = self.rng, attr.name
        counts = {a.number_attr for a in self.op.inputs + self.op.outputs}
        if name in counts:
            return "int", max(attr.minimum or 0, rng.choice([1, 1, 2, 2, 3]))
        if attr.type == "type":
            if attr.has_default and rng.random() < .3:
                return "type", attr.default
            return "type", self.pick_type(attr)
        if attr.type == "list(type)":
            n = max(attr.minimum or 0, rng.choice([1, 1, 2, 3]))
            return "list(type)", [self.pick_type(attr) for _ in range(n)]
        if attr.has_default and rng.random() < .6:
            return None
        if attr.type == "int":
            if name in ("dtype",):
                return "int", FLOAT
            low = -self.rank if "axis" in name or "dim" in name else 0
            v = rng.choice([0, 1, 2, 2, 3, 4, 5, 8, low, -1])
            return "int", max(v, attr.minimum or -9) if rng.random() < .95 \
                else v
        if attr.type == "float":
            return "float", rng.choice([0., 1., .5, -1., .1, 2., 1e-3])
        if attr.type == "bool":
            return "bool", rng.random() < .5
        if attr.type == "string":
            if name == "equation":
                return "string", rng.choice(EQUATIONS)
            if attr.allowed:
                return "string", rng.choice(attr.allowed)
            return "string", rng.choice(TEXTS[:6])
        if attr.type == "shape":
            return "shape", self.partial(self.shape)
        if attr.type == "list(int)":
            if name in ("ksize", "strides", "dilations", "rates"):
                n = 5 if "3D" in self.op.name else 4
                inner = [rng.choice([1, 1, 2, 3]) for _ in range(n - 2)]
                if name == "rates" and rng.random() < .6:
                    inner = [1] * (n - 2)
                return "list(int)", [1] + inner + [1]
            n = max(attr.minimum or 0, rng.choice([0, 1, 1, 2, 3]))
            return "list(int)", [rng.choice([0, 1, 2, 3, -1])
                                 for _ in range(n)]
        if attr.type == "list(float)":
            n = max(attr.minimum or 0, rng.choice([0, 1, 2, 4]))
            return "list(float)", sorted(rng.choice([-1., 0., .5, 2., 7.])
                                         for _ in range(n))
        if attr.type == "list(bool)":
            return "list(bool)", [rng.random() < .5
                                  for _ in range(rng.randrange(3))]
        if attr.type == "list(string)":
            n = max(attr.minimum or 0, rng.choice([0, 1, 2]))
            values = attr.allowed or TEXTS[:5]
            return "list(string)", [rng.choice(values) for _ in range(n)]
        if attr.type == "list(shape)":
            wanted = [v for k, v in self.attrs.values() if k == "list(type)"]
            n = len(wanted[0]) if wanted else rng.randrange(3)
            return "list(shape)", [self.partial(self.shape) for _ in range(n)]
        if attr.type == "tensor":
            return "tensor", self.tensor(rng.choice(COMMON_TYPES), self.shape)
        if attr.has_default:
            return None
        raise Refused("no values of attr %s: %s" % (name, attr.type))

    def partial(self, shape):
        """`shape` with less known of it."""
        kind = self.rng.randrange(5)
        if kind == 0:
            return None
        if kind == 1:
            return [-1 if self.rng.random() < .5 else d for d in shape]
        return list(shape)

    # Shapes.

    def some_shape(self, i):
        rng, shape = self.rng, list(self.shape)
        if self.scheme in ("same", "cube") and rng.random() < .93:
            return shape
        if self.scheme == "broadcast":
            shape = [1 if rng.random() < .3 else d for d in shape]
            return shape[rng.randrange(len(shape) + 1):] if rng.random() < .3 \
                else shape
        if self.scheme == "prefix" and i:
            return shape[:rng.randrange(len(shape) + 1)]
        if self.scheme == "prefix":
            return shape
        return [rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randrange(5))]

    def fitted(self, i, shape):
        """`shape`, with the rank that input `i` wants."""
        ranks = self.ranks.get(i)
        if not ranks or len(shape) in ranks or self.rng.random() < .03:
            return shape
        rank = min(ranks, key=lambda r: (abs(r - len(shape)), r)) \
            if self.rng.random() < .5 else self.rng.choice(ranks)
        more = shape or self.shape or [self.rng.choice([1, 2, 3])]
        while len(more) < rank:
            more = more + more
        return more[:rank]

    def fitted_value(self, i, value):
        """`value` if its rank is one that input `i` takes, or None; of what
        should be a scalar the first element."""
        ranks = self.ranks.get(i)
        dtype, dims, _ = value
        if not ranks or len(dims) in ranks or self.rng.random() < .03:
            return value
        if ranks == [0] and 0 not in dims:
            return encode(dtype, decode(value).ravel()[0])
        return None

    def matrix_shape(self, i, square):
        batch = self.shape[:max(0, self.rank - 2)]
        n = self.shape[-1] if self.rank else 3
        if square:
            return batch + [n, n]
        m = self.shape[-2] if self.rank > 1 else 2
        return batch + [m, n]

    def first(self):
        """Shape of the first input that has one, for hints of the later."""
        for dtype, dims, _ in self.values.values():
            if dtype != STRING or len(self.values) == 1:
                return dims
        return self.shape

    def hinted(self, name, dtype, i):
        """A tensor that an argument of this name is likely to want, or None."""
        rng, op = self.rng, self.op.name
        first = self.shape if i == 0 else self.first()
        rank, n0 = len(first), first[0] if first else 1
        lower = name.lower()
        spec = SHAPES_BY_OP.get(op)
        if spec is not None and i < len(spec) and spec[i] is not None:
            letters = self.letters
            dims = [d if isinstance(d, int) else letters(d) for d in spec[i]]
            return self.tensor(dtype, dims)
        integer = dtype in (INT32, INT64, INT16, UINT8, INT8, UINT32, UINT64,
                            UINT16)
        if op.startswith(("Sparse", "Deserialize", "Serialize", "AddSparse",
                          "AddManySparse", "TakeMany", "DenseToSparse",
                          "Set", "RaggedCross")) or "Sparse" in op:
            found = self.sparse_part(lower, dtype)
            if found is not None:
                return found
        if op.startswith(("Matrix", "BatchMatrix", "Cholesky", "BatchCholesky",
                          "SelfAdjoint", "BatchSelfAdjoint", "Lu", "Logm",
                          "Eig")) and i == 0 and "Diag" not in op:
            return self.tensor(dtype, self.matrix_shape(i, True))
        if op.startswith(("Unsorted", "Segment", "SparseSegment")):
            if lower == "segment_ids":
                dims = first[:1] if not op.startswith("Unsorted") else \
                    first[:rng.randrange(1, rank + 1) if rank else 0]
                if op.startswith("SparseSegment"):
                    dims = self.values["indices"][1] if "indices" in \
                        self.values else first[:1]
                values = decode(self.tensor(dtype, dims, 0, 4))
                return encode(dtype, np.sort(values, axis=None).reshape(dims))
            if lower in ("num_segments", "output_dim0"):
                return self.tensor(dtype, [], 0, 6)
            if lower == "indices":
                return self.tensor(dtype, [rng.randrange(5)], 0, max(1, n0))
        if not integer:
            if lower in ("lr", "alpha", "beta1", "beta2", "epsilon", "rho",
                         "momentum", "l1", "l2", "lr_power", "beta1_power",
                         "beta2_power", "beta", "logbase", "l2_shrinkage",
                         "min", "max", "min_range", "max_range", "input_min",
                         "input_max", "threshold", "delta", "on_value",
                         "off_value", "rate", "score_threshold",
                         "iou_threshold", "base", "start", "stop", "limit",
                         "min_input", "max_input", "requested_output_min",
                         "requested_output_max", "default_value",
                         "soft_nms_sigma", "sign_decay", "scale", "factor"):
                return self.tensor(dtype, [])
            if lower in ("bias", "b", "scale", "offset", "mean", "variance"):
                return self.tensor(dtype, first[-1:])
            return None
        if lower in ("axis", "dim", "dimension", "concat_dim", "split_dim",
                     "reduction_indices", "axes", "dims", "batch_dims"):
            low, high = -rank, rank
            if rng.random() < .6:
                return self.tensor(dtype, [], low, high)
            n = rng.randrange(rank + 1)
            values = rng.sample(range(rank), n)
            return encode(dtype, np.array(values, np.int64) -
                          (rank if rng.random() < .3 else 0))
        if lower == "perm":
            values = list(range(rank))
            rng.shuffle(values)
            return encode(dtype, np.array(values, np.int64))
        if lower in ("shape", "size", "output_shape", "input_sizes", "sizes",
                     "broadcast_shape", "crop_size", "filter_sizes",
                     "element_shape", "dense_shape", "orig_input_shape",
                     "tensor_shape", "input_shape"):
            if op in ("Reshape",):
                dims = [int(np.prod(first))] if rng.random() < .4 else \
                    first[::-1]
                if dims and rng.random() < .4:
                    dims[rng.randrange(len(dims))] = -1
                return encode(dtype, np.array(dims, np.int64))
            if op == "Slice":
                values = [rng.choice([-1, 0, 1]) for _ in range(rank)]
                return encode(dtype, np.array(values, np.int64))
            if op.startswith(("Resize", "CropAnd", "ExtractGlimpse")):
                return self.tensor(dtype, [2], 1, 6)
            if rng.random() < .5:
                return encode(dtype, np.array(self.shape, np.int64))
            return self.tensor(dtype, [rng.randrange(5)], 0, 4)
        if lower in ("begin", "end", "strides", "begins", "ends"):
            n = rank if op == "Slice" else rng.randrange(rank + 1) or 1
            n = len(self.values["begin"][2]) // (4 if dtype in (INT32,) else 8)\
                if "begin" in self.values and dtype in (INT32, INT64) else n
            low, high = (0, 2) if op == "Slice" else (-3, 5)
            if lower == "strides":
                return encode(dtype, np.array(
                    [rng.choice([1, 1, 2, -1]) for _ in range(n)], np.int64))
            return self.tensor(dtype, [n], low, high)
        if lower == "multiples":
            return self.tensor(dtype, [rank], 0, 4)
        if lower in ("shift",):
            return self.tensor(dtype, [], -4, 5)
        if lower in ("paddings", "crops"):
            rows = rank if op.startswith(("Pad", "MirrorPad")) else \
                max(0, min(2, rank - 2))
            return self.tensor(dtype, [rows, 2], 0, 3)
        if lower == "block_shape":
            return self.tensor(dtype, [max(0, min(2, rank - 2))], 1, 3)
        if lower in ("k", "depth", "n", "num", "num_rows", "num_columns",
                     "num_classes", "max_output_size", "num_split", "window",
                     "num_samples", "index", "i", "nbins", "row_shift", "seed1",
                     "diagonal", "maxlength", "minlength", "num_upper",
                     "num_lower", "nrows", "alignment", "num_bits", "start",
                     "limit", "delta", "size_hint", "num_buckets"):
            return self.tensor(dtype, [], 0, 6)
        if lower == "fft_length":
            return self.tensor(dtype, [3 if "3D" in op else
                                       2 if "2D" in op else 1], 1, 6)
        if lower == "seed":
            return self.tensor(dtype, [2], 0, 100)
        if lower in ("indices", "labels", "ids", "targets"):
            if op.startswith(("Scatter", "TensorScatter", "GatherNd",
                              "ResourceScatterNd", "ScatterNd")) and \
                    "Nd" in op + ("Nd" if op.startswith("Tensor") else ""):
                depth = rng.randrange(1, rank + 1) if rank else 0
                return self.tensor(dtype, [rng.randrange(4), depth], 0,
                                   max(1, min(first[:depth] or [1])))
            dims = [rng.randrange(4) for _ in range(rng.randrange(3))]
            if op.startswith(("Sparse", "Resource")):
                dims = [rng.randrange(4)]
            return self.tensor(dtype, dims, 0, max(1, n0))
        if "splits" in lower or lower in ("row_lengths",):
            n = rng.randrange(4)
            steps = np.random.default_rng(rng.getrandbits(32)).integers(
                0, 3, n)
            return encode(dtype, np.concatenate([[0], np.cumsum(steps)]))
        if lower in ("sequence_length", "seq_lengths", "seq_len"):
            return self.tensor(dtype, [n0], 0, 4)
        return None

    def letters(self, letter):
        sizes = self.sizes
        if letter not in sizes:
            sizes[letter] = self.rng.choice([1, 2, 3, 4, 5, 6, 8])
            if self.rng.random() < .05:
                sizes[letter] = 0
        if letter not in "kl" or self.rng.random() < .9:
            return sizes[letter]
        return self.rng.choice([1, 2, 3])

    def sparse_part(self, lower, dtype):
        """Of (indices, values, shape) with names like a_indices, x_shape."""
        for end, part in (("indices", 0), ("values", 1), ("dense_shape", 2),
                          ("shape", 2), ("shapes", 2)):
            if not lower.endswith(end):
                continue
            prefix = lower[:-len(end)].rstrip("_")
            if prefix not in self.sparse:
                shared = next(iter(self.sparse.values()), None)
                dims = shared[2] if shared and self.rng.random() < .8 else [
                    self.rng.choice([1, 2, 3, 4])
                    for _ in range(self.rng.choice([1, 2, 2, 2, 3]))]
                size = int(np.prod(dims))
                count = self.rng.randrange(min(size, 5) + 1)
                at = sorted(self.rng.sample(range(size), count))
                indices = np.array(np.unravel_index(at, dims)).T \
                    if count else np.zeros((0, len(dims)), np.int64)
                self.sparse[prefix] = indices, count, dims
            indices, count, dims = self.sparse[prefix]
            if part == 1:
                return self.tensor(dtype, [count])
            if dtype not in (INT64, INT32):
                return None
            return encode(dtype, indices if part == 0 else
                          np.array(dims, np.int64))
        return None

    # Nodes.

    def node(self, op, inputs, **attrs):
        name = "n%d" % len(self.nodes)
        self.nodes.append({"name": name, "op": op, "inputs": inputs,
                           "attrs": attrs})
        return name, 0

    def constant(self, value):
        return self.node("Const", [], dtype=("type", value[0]),
                         value=("tensor", value))

    def placeholder(self, value, shape):
        source = self.node("Placeholder", [], dtype=("type", value[0]),
                           shape=("shape", shape))
        self.feeds.append((source[0], value))
        return source

    def source(self, value):
        rng = self.rng
        dtype, dims, _ = value
        if rng.random() < .12:
            source = self.node("Identity", [self.source(value)],
                               T=("type", dtype))
            return source
        if dtype in (INT32, INT64) and len(dims) == 1 and 0 < dims[0] < 9 and \
                rng.random() < .3:
            return self.assembled(value)
        if rng.random() < .5:
            return self.constant(value)
        return self.placeholder(value, self.partial(dims))

    def assembled(self, value):
        """A vector of integers as programs that compute shapes make it."""
        rng, dtype = self.rng, value[0]
        numbers = [int(v) for v in decode(value)]

        def scalar(v):
            return encode(dtype, np.int64(v))

        kind = rng.randrange(5)
        if kind == 0:
            parts = [self.constant(scalar(v)) if rng.random() < .6 else
                     self.placeholder(scalar(v), []) for v in numbers]
            return self.node("Pack", [parts], T=("type", dtype),
                             N=("int", len(parts)))
        if kind == 1 and all(0 <= v < 20 for v in numbers):
            of = encode(UINT8, np.zeros(numbers)) \
                if np.prod(numbers) < 5000 else None
            if of is not None:
                return self.node(
                    "Shape", [self.placeholder(of, self.partial(numbers))],
                    T=("type", UINT8), out_type=("type", dtype))
        if kind == 2 and len(numbers) > 1:
            at = rng.randrange(1, len(numbers))
            parts = [self.source(encode(dtype, np.array(n, np.int64)))
                     for n in (numbers[:at], numbers[at:])]
            axis = self.constant(encode(INT32, np.int64(0)))
            return self.node("ConcatV2", [parts, axis], T=("type", dtype),
                             N=("int", 2))
        if kind == 3:
            longer = self.source(encode(dtype, np.array([7, *numbers, 5])))
            ends = [self.constant(encode(INT32, np.array([v])))
                    for v in (1, 1 + len(numbers), 1)]
            return self.node("StridedSlice", [longer, *ends],
                             T=("type", dtype), Index=("type", INT32))
        if kind == 4:
            other = INT64 if dtype == INT32 else INT32
            if all(abs(v) < 2 ** 31 for v in numbers):
                return self.node(
                    "Cast", [self.source(encode(other, np.array(numbers)))],
                    SrcT=("type", other), DstT=("type", dtype))
        one = self.constant(scalar(1))
        if all(abs(v) < 2 ** 31 - 1 for v in numbers):
            less = self.source(encode(dtype, np.array(numbers) - 1))
            return self.node("AddV2", [less, one], T=("type", dtype))
        return self.constant(value)

    def variable(self, value):
        variable = self.node("VariableV2", [], dtype=("type", value[0]),
                             shape=("shape", value[1]))
        return self.node("Assign", [variable, self.constant(value)],
                         T=("type", value[0]))

    def make(self):
        op, rng = self.op, self.rng
        self.sizes = {}
        for attr in op.attrs:
            picked = self.pick_attr(attr)
            if picked is not None:
                self.attrs[attr.name] = picked
        defaults = {a.name: a.default for a in op.attrs if a.has_default}

        def attr(name):
            return self.attrs[name][1] if name in self.attrs else \
                defaults[name]

        inputs = []
        for i, arg in enumerate(op.inputs):
            if arg.type_list_attr:
                types, is_list = attr(arg.type_list_attr), True
            else:
                one = attr(arg.type_attr) if arg.type_attr else arg.type
                is_list = bool(arg.number_attr)
                types = [one] * (attr(arg.number_attr) if is_list else 1)
            sources = []
            for dtype in types:
                if dtype in (RESOURCE, VARIANT):
                    raise Refused("input of type %d" % dtype)
                value = self.hinted(arg.name, dtype, i) \
                    if rng.random() < .93 else None
                if value is not None:
                    value = self.fitted_value(i, value)
                if value is None:
                    value = self.tensor(dtype,
                                        self.fitted(i, self.some_shape(i)))
                self.values[arg.name] = value
                sources.append(self.variable(value) if arg.is_ref
                               else self.source(value))
            inputs.append(sources if is_list else sources[0])
        node = self.node(op.name, inputs, **self.attrs)[0]
        types = []
        for arg in op.outputs:
            if arg.type_list_attr:
                types += attr(arg.type_list_attr)
                continue
            n = attr(arg.number_attr) if arg.number_attr else 1
            types += [attr(arg.type_attr) if arg.type_attr else arg.type] * n
        fetches = [(node, k) for k, t in enumerate(types) if t in NUMPY or
                   t == STRING]
        return {"nodes": self.nodes, "feeds": self.feeds, "fetches": fetches}


def usable(op):
    return (not op.name.startswith("_") and bool(op.outputs) and
            not any(part in op.name for part in DENIED) and
            all(a.type not in (RESOURCE, VARIANT) for a in op.inputs) and
            all(a.has_default or a.type not in ("func", "list(func)")
                for a in op.attrs))


def make_case(ops, name, seed, ranks=None):
    """A case, the same for the same seed and ranks. Refused if none can be
    made."""
    rng = random.Random("%s %d" % (name, seed))
    return Maker(ops[name], rng, ranks or {}).make()


def accepted_ranks(library, op, max_rank=6):
    """The ranks that each input may have, {number: [rank, ...]}, for those of
    which `library` refuses some when it builds the node: all other inputs have
    unknown ranks meanwhile."""
    found = {}
    for i, arg in enumerate(op.inputs):
        if arg.type_list_attr or arg.is_ref:
            continue
        taken = set()
        for seed in range(3):
            maker = Maker(op, random.Random(seed), {})
            try:
                case = maker.make()
            except Refused:
                return {}
            for rank in range(max_rank + 1):
                answer = library.ask(placeholders(op, case, i, rank))
                if answer["stage"] != "build":
                    taken.add(rank)
        if taken and len(taken) <= max_rank:
            found[i] = sorted(taken)
    return found


def placeholders(op, case, chosen, rank):
    """The last node of `case` alone, not to be run: its inputs placeholders of
    unknown rank, of `rank` for the argument `chosen`."""
    last = case["nodes"][-1]
    types = {n["name"]: n["attrs"] for n in case["nodes"][:-1]}
    nodes = []

    def placeholder(source, number):
        attrs = types[source[0]]
        dtype = next(attrs[key] for key in ("dtype", "out_type", "DstT", "T")
                     if key in attrs)
        shape = [-1] * rank if number == chosen else None
        name = "p%d" % len(nodes)
        nodes.append({"name": name, "op": "Placeholder", "inputs": [],
                      "attrs": {"dtype": dtype, "shape": ("shape", shape)}})
        return name, 0

    inputs = [[placeholder(s, i) for s in source] if isinstance(source, list)
              else placeholder(source, i)
              for i, source in enumerate(last["inputs"])]
    nodes.append({**last, "inputs": inputs})
    return {"nodes": nodes, "feeds": [], "fetches": [], "build_only": True}
