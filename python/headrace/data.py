"""tf.data: datasets, sequences of elements that a graph makes as it reads them,
and iterators over them.

An element is a structure of tuples and dicts with tensors at its leaves; a list
is a value, and becomes one tensor.

    files = tf.data.TFRecordDataset(paths).map(parse).shuffle(1000).batch(32)
    features, labels = files.make_one_shot_iterator().get_next()
"""
import collections.abc

import numpy as np

from headrace import dtypes as _dtypes
from headrace import func_graph as _func_graph
from headrace import graph as _graph
from headrace import parsing_ops as _parsing
from headrace import raw_ops as _raw
from headrace import script_ops as _script
from headrace import sparse_ops as _sparse
from headrace.array_ops import constant_value
from headrace.random_ops import get_seed as _get_seed
from headrace.tensor import convert_to_tensor
from headrace.tensor_shape import TensorShape, as_list_or_none

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


# Structures: like headrace.nest, but that lists are leaves.

def _is_nested(x):
    return isinstance(x, (tuple, collections.abc.Mapping)) \
        and not isinstance(x, (TensorShape, _sparse.SparseTensorValue))


def _children(x):
    if isinstance(x, collections.abc.Mapping):
        return [x[k] for k in sorted(x)]
    return list(x)


def _flatten(structure):
    if not _is_nested(structure):
        return [structure]
    return [leaf for c in _children(structure) for leaf in _flatten(c)]


def _pack(structure, leaves):
    leaves = iter(leaves)

    def build(s):
        if not _is_nested(s):
            return next(leaves)
        children = [build(c) for c in _children(s)]
        if isinstance(s, collections.abc.Mapping):
            packed = dict(zip(sorted(s), children))
            ordered = [(k, packed[k]) for k in s]
            return type(s)(ordered)
        return type(s)(*children) if hasattr(s, "_fields") else tuple(children)
    return build(structure)


def _map(function, *structures):
    """`function` of the leaves of structures that are alike, or of which all
    but the first may go less deep."""
    flat = [_flatten(structures[0])]
    for s in structures[1:]:
        flat.append(_flatten(s))
        if len(flat[-1]) != len(flat[0]):
            raise ValueError("The two structures don't have the same nested "
                             "structure.\n\nFirst structure: %s\n\nSecond "
                             "structure: %s" % (structures[0], s))
    return _pack(structures[0], [function(*leaves) for leaves in zip(*flat)])


def _like(structure, value, convert):
    """The leaves of `value`, converted, which has the form of `structure`; None
    stands for one None each."""
    if value is None:
        return [None] * len(_flatten(structure))
    if _is_nested(structure):
        if isinstance(structure, collections.abc.Mapping):
            parts = [value[k] for k in sorted(structure)]
        else:
            parts = list(value)
        children = _children(structure)
        if len(parts) != len(children):
            raise ValueError("%s does not have the structure of %s"
                             % (value, structure))
        return [leaf for c, p in zip(children, parts)
                for leaf in _like(c, p, convert)]
    return [convert(value)]


# What is at the leaves of elements. Each is one tensor in the graph.

class _TensorLeaf:
    def __init__(self, dtype, shape):
        self.dtype = _dtypes.as_dtype(dtype).base_dtype
        self.shape = TensorShape(shape)

    type = property(lambda self: self.dtype)
    flat_shape = property(lambda self: self.shape)

    @property
    def cls(self):
        from headrace.tensor import Tensor
        return Tensor

    def value(self, tensor):
        return tensor

    def batched(self, n):
        return _TensorLeaf(self.dtype, _concatenate([n], self.shape))

    def unbatched(self):
        if self.shape.ndims is None:
            return self
        if self.shape.ndims == 0:
            raise ValueError("Cannot unbatch an input with scalar components.")
        return _TensorLeaf(self.dtype, self.shape.as_list()[1:])


class _SparseLeaf:
    """A SparseTensor of values of `type` and dense shape `shape`, serialized:
    `prefix` and 3 variants."""
    dtype = _dtypes.variant

    def __init__(self, type_, shape, prefix=()):
        self.type = _dtypes.as_dtype(type_)
        self.shape = TensorShape(shape)
        self._prefix = list(prefix)

    flat_shape = property(lambda self: TensorShape(self._prefix + [3]))
    cls = property(lambda self: _sparse.SparseTensor)

    def value(self, tensor):
        rank = self.shape.ndims
        out = _sparse.deserialize_sparse(
            tensor, self.type,
            None if rank is None else rank - len(self._prefix))
        return out

    def batched(self, n):
        return _SparseLeaf(self.type, _concatenate([n], self.shape),
                           [n] + self._prefix)

    def unbatched(self):
        if not self._prefix:
            raise ValueError("a SparseTensor cannot be unbatched")
        return _SparseLeaf(self.type, self.shape.as_list()[1:],
                           self._prefix[1:])


class _DatasetLeaf:
    """A dataset as (part of) an element."""
    dtype = _dtypes.variant
    shape = flat_shape = TensorShape([])

    def __init__(self, spec):
        self.spec = spec

    type = property(lambda self: _map(lambda leaf: leaf.type, self.spec))
    cls = property(lambda self: Dataset)

    def value(self, tensor):
        return Dataset(tensor, self.spec)

    def batched(self, n):
        raise TypeError("datasets cannot be batched")

    unbatched = batched


def _concatenate(prefix, shape):
    if shape.ndims is None:
        return TensorShape(None)
    return TensorShape(list(prefix) + shape.as_list())


def _dims(shape):
    return as_list_or_none(shape)


def _leaf_and_tensor(value, name="component", slices=False):
    """What a value at a leaf of an element is, and the tensor it becomes:
    with `slices` one whose slices are components."""
    if isinstance(value, Dataset):
        return _DatasetLeaf(value._spec), value._variant_tensor
    if isinstance(value, _sparse.SparseTensorValue):
        value = _sparse.SparseTensor.from_value(value)
    if isinstance(value, _sparse.SparseTensor):
        serialize = _sparse.serialize_many_sparse if slices \
            else _sparse.serialize_sparse
        shape = value.get_shape()
        return (_SparseLeaf(value.dtype, shape,
                            shape.as_list()[:1] if slices else ()),
                serialize(value, out_type=_dtypes.variant))
    tensor = convert_to_tensor(value, name=name)
    return _TensorLeaf(tensor.dtype, tensor.get_shape()), tensor


def _normalize(structure, slices=False):
    """(specs, flat tensors) of a structure of values."""
    pairs = [_leaf_and_tensor(v, "component_%d" % i, slices)
             for i, v in enumerate(_flatten(structure))]
    return _pack(structure, [p[0] for p in pairs]), [p[1] for p in pairs]


def _attrs(spec):
    leaves = _flatten(spec)
    return dict(output_types=[leaf.dtype for leaf in leaves],
                output_shapes=[leaf.flat_shape for leaf in leaves])


def _values(spec, tensors):
    return _pack(spec, [leaf.value(t)
                        for leaf, t in zip(_flatten(spec), tensors)])


def _spec_of(types, shapes, classes=None):
    leaf_shapes = _like(types, shapes, TensorShape)
    leaf_classes = _like(types, classes, lambda c: c)
    return _pack(types, [
        (_SparseLeaf if c is _sparse.SparseTensor else _TensorLeaf)(t, s)
        for t, s, c in zip(_flatten(types), leaf_shapes, leaf_classes)])


def _int64(value, name):
    return convert_to_tensor(value, dtype=_dtypes.int64, name=name)


class _Function:
    """A Python function of elements, traced. `spec`: of what it returns."""

    def __init__(self, function, *arg_specs, name=None):
        leaves = [leaf for s in arg_specs for leaf in _flatten(s)]

        def call(tensors):
            values, at = [], 0
            for s in arg_specs:
                n = len(_flatten(s))
                values.append(_values(s, tensors[at:at + n]))
                at += n
            # A tuple is what the function's parameters are.
            if len(values) == 1 and type(values[0]) is tuple:
                values = values[0]
            result = function(*values)
            if result is None:
                raise TypeError("Unsupported return value from function passed "
                                "to Dataset: None.")
            return result

        def convert(result):
            self.spec, tensors = _normalize(result)
            return tensors

        traced = _func_graph.TracedFunction(
            call, [leaf.dtype for leaf in leaves],
            [leaf.flat_shape for leaf in leaves], convert,
            name=name or "Dataset_%s" % getattr(
                function, "__name__", "function").strip("<>"))
        self.attr = traced.name
        self.captured = traced.captured


def _dataset_spec(function, what):
    if not isinstance(function.spec, _DatasetLeaf):
        raise TypeError("`map_func` of %s must return a `Dataset` object."
                        % what)
    return function.spec.spec


class _Typed:
    """What has elements of the structure `_spec`."""

    @property
    def output_types(self):
        return _map(lambda leaf: leaf.type, self._spec)

    @property
    def output_shapes(self):
        return _map(lambda leaf: leaf.shape, self._spec)

    @property
    def output_classes(self):
        return _map(lambda leaf: leaf.cls, self._spec)


class Dataset(_Typed):
    """A sequence of elements. Made by the class's functions below, and from
    other datasets by its methods."""

    def __init__(self, variant_tensor, spec):
        self._variant_tensor = variant_tensor
        self._spec = spec

    def _as_graph_element(self):
        return self._variant_tensor

    def __repr__(self):
        return "<Dataset shapes: %s, types: %s>" % (self.output_shapes,
                                                    self.output_types)

    def _unary(self, op, spec=None, **kwargs):
        spec = self._spec if spec is None else spec
        return Dataset(op(self._variant_tensor, **kwargs, **_attrs(spec)), spec)

    # Sources.

    @staticmethod
    def from_tensors(tensors):
        """One element: `tensors`."""
        spec, flat = _normalize(tensors)
        return Dataset(_raw.TensorDataset(
            flat, output_shapes=[leaf.flat_shape for leaf in _flatten(spec)]),
            spec)

    @staticmethod
    def from_tensor_slices(tensors):
        """The slices of `tensors` along their first dimension."""
        spec, flat = _normalize(tensors, slices=True)
        for t in flat:
            if t.get_shape().ndims == 0:
                raise ValueError("Unbatching a tensor is only supported for "
                                 "rank >= 1")
        spec = _map(lambda leaf: leaf.unbatched(), spec)
        return Dataset(_raw.TensorSliceDataset(
            flat, output_shapes=[leaf.flat_shape for leaf in _flatten(spec)]),
            spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """The rows of a SparseTensor, each as (indices, values, dense_shape)."""
        if not isinstance(sparse_tensor, _sparse.SparseTensor):
            raise TypeError("`sparse_tensor` must be a `tf.SparseTensor` object,"
                            " not %r." % (sparse_tensor,))
        rank = sparse_tensor.get_shape().ndims
        rank = None if rank is None else rank - 1
        spec = (_TensorLeaf(_dtypes.int64, [None, rank]),
                _TensorLeaf(sparse_tensor.dtype, [None]),
                _TensorLeaf(_dtypes.int64, [rank]))
        return Dataset(_raw.SparseTensorSliceDataset(
            sparse_tensor.indices, sparse_tensor.values,
            sparse_tensor.dense_shape), spec)

    @staticmethod
    def range(*args):
        """int64 numbers, arguments as Python's range()."""
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid arguments to RangeDataset: %s"
                             % (args,))
        start, stop, step = {1: (0, args[0], 1), 2: args + (1,)}.get(
            len(args), args)
        spec = _TensorLeaf(_dtypes.int64, [])
        return Dataset(_raw.RangeDataset(
            _int64(start, "start"), _int64(stop, "stop"), _int64(step, "step"),
            **_attrs(spec)), spec)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """What iter(generator(*args)) yields: structures as `output_types`.
        The Python function runs in this process when the graph does."""
        if not callable(generator):
            raise TypeError("`generator` must be callable.")
        spec = _spec_of(output_types, output_shapes)
        leaves = _flatten(spec)
        if args is None:
            args = ()
        args = tuple(convert_to_tensor(a) for a in args)
        state = _GeneratorState(generator, spec)

        def call(function, what, types):
            def traced(tensors):
                return _script.py_func(function, tensors, types)
            return lambda arg_types: _func_graph.TracedFunction(
                traced, arg_types, [None] * len(arg_types), list,
                name="Dataset_generator_" + what)

        begin = call(state.begin, "begin", [_dtypes.int64])(
            [a.dtype for a in args])
        following = call(state.next, "next", [leaf.dtype for leaf in leaves])(
            [_dtypes.int64])
        end = call(state.end, "end", [_dtypes.int64])([_dtypes.int64])
        return Dataset(_raw.GeneratorDataset(
            list(args), [], [], init_func=begin.name, next_func=following.name,
            finalize_func=end.name, **_attrs(spec)), spec)

    @staticmethod
    def zip(datasets):
        """The elements of several datasets side by side, in a structure like
        that of `datasets`."""
        flat = _flatten(datasets)
        for d in flat:
            if not isinstance(d, Dataset):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested "
                    "structure of `Dataset` objects. %s"
                    % ("Nested structures do not support Python lists; please "
                       "use a tuple instead." if isinstance(d, list) else
                       "Got %r." % (d,)))
        spec = _pack(datasets, [d._spec for d in flat])
        return Dataset(_raw.ZipDataset([d._variant_tensor for d in flat],
                                       **_attrs(spec)), spec)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """The paths that match; in random order unless `shuffle` is False."""
        from headrace.control_flow_ops import Assert
        patterns = convert_to_tensor(file_pattern, dtype=_dtypes.string)
        paths = _raw.MatchingFiles(patterns)
        found = _raw.Greater(_raw.Size(paths), 0)
        check = Assert(found, ["No files matched pattern: ", patterns])
        with _graph.control_dependencies([check]):
            paths = _raw.Identity(paths)
        dataset = Dataset.from_tensor_slices(paths)
        if shuffle or shuffle is None:
            many = _raw.Maximum(_raw.Cast(_raw.Size(paths),
                                          DstT=_dtypes.int64), 1)
            dataset = dataset.shuffle(many, seed=seed)
        return dataset

    # Transformations.

    def map(self, map_func, num_parallel_calls=None):
        """map_func(element) for each; `num_parallel_calls` at a time."""
        f = _Function(map_func, self._spec)
        if num_parallel_calls is None:
            return Dataset(_raw.MapDataset(
                self._variant_tensor, f.captured, f=f.attr,
                preserve_cardinality=False, **_attrs(f.spec)), f.spec)
        return Dataset(_raw.ParallelMapDatasetV2(
            self._variant_tensor, f.captured,
            _int64(num_parallel_calls, "num_parallel_calls"), f=f.attr,
            preserve_cardinality=False, **_attrs(f.spec)), f.spec)

    map_with_legacy_function = map

    def flat_map(self, map_func):
        """The elements of the datasets map_func(element), one dataset after
        the other."""
        f = _Function(map_func, self._spec)
        spec = _dataset_spec(f, "flat_map")
        return Dataset(_raw.FlatMapDataset(
            self._variant_tensor, f.captured, f=f.attr, **_attrs(spec)), spec)

    def interleave(self, map_func, cycle_length=AUTOTUNE, block_length=1,
                   num_parallel_calls=None):
        """The elements of the datasets map_func(element): `block_length` of
        each of `cycle_length` datasets in turn."""
        f = _Function(map_func, self._spec)
        spec = _dataset_spec(f, "interleave")
        lengths = (_int64(cycle_length, "cycle_length"),
                   _int64(block_length, "block_length"))
        if num_parallel_calls is None:
            out = _raw.InterleaveDataset(self._variant_tensor, f.captured,
                                         *lengths, f=f.attr, **_attrs(spec))
        else:
            out = _raw.ParallelInterleaveDatasetV2(
                self._variant_tensor, f.captured, *lengths,
                _int64(num_parallel_calls, "num_parallel_calls"), f=f.attr,
                **_attrs(spec))
        return Dataset(out, spec)

    def filter(self, predicate):
        """The elements for which `predicate` is true."""
        f = _Function(predicate, self._spec)
        if not (isinstance(f.spec, _TensorLeaf) and f.spec.dtype == _dtypes.bool_
                and f.spec.shape.is_compatible_with(TensorShape([]))):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        return self._unary(_raw.FilterDataset, other_arguments=f.captured,
                           predicate=f.attr)

    filter_with_legacy_function = filter

    def batch(self, batch_size, drop_remainder=False):
        """`batch_size` elements stacked into one."""
        batch_size = _int64(batch_size, "batch_size")
        n = constant_value(batch_size)
        whole = drop_remainder if isinstance(drop_remainder, bool) \
            else constant_value(convert_to_tensor(drop_remainder))
        static = int(n) if n is not None and whole else None
        return self._unary(
            _raw.BatchDatasetV2,
            spec=_map(lambda leaf: leaf.batched(static), self._spec),
            batch_size=batch_size, drop_remainder=drop_remainder)

    def padded_batch(self, batch_size, padded_shapes, padding_values=None,
                     drop_remainder=False):
        """As batch, each component padded to the shape that `padded_shapes`
        has for it; None (or -1) there: to the longest of the batch."""
        leaves = _flatten(self._spec)
        if padded_shapes is None:
            raise ValueError("padded_shapes must be given")
        if not all(isinstance(leaf, _TensorLeaf) for leaf in leaves):
            raise TypeError("Batching of padded sparse tensors is not currently "
                            "supported")
        shapes, static = [], []
        for s in _like(self._spec, padded_shapes, lambda s: s):
            if not hasattr(s, "op"):
                known = TensorShape([None if d == -1 else d
                                     for d in _plain_dims(s)])
                s = [-1 if d is None else d for d in known.as_list()]
            else:
                known = TensorShape(None)
            shapes.append(_int64(s if not isinstance(s, list) or s else
                                 np.zeros([0], np.int64), "padded_shapes"))
            static.append(known)
        values = []
        for leaf, v in zip(leaves, _like(self._spec, padding_values,
                                         lambda v: v)):
            if v is None:
                v = "" if leaf.dtype == _dtypes.string else \
                    np.zeros([], leaf.dtype.as_numpy_dtype)
            v = convert_to_tensor(v, name="padding_value")
            if v.get_shape().ndims not in (0, None):
                raise ValueError("Padding value should be a scalar, but is not: "
                                 "%s" % (v,))
            if v.dtype.base_dtype != leaf.dtype:
                raise TypeError("Padding value tensor (%s) does not match "
                                "output type: %s" % (v, leaf.dtype.name))
            values.append(v)
        batch_size = _int64(batch_size, "batch_size")
        n = constant_value(batch_size) if drop_remainder is True else None
        spec = _pack(self._spec, [
            _TensorLeaf(leaf.dtype, _concatenate(
                [None if n is None else int(n)], s))
            for leaf, s in zip(leaves, static)])
        out = _raw.PaddedBatchDatasetV2(
            self._variant_tensor, batch_size, shapes, values,
            convert_to_tensor(drop_remainder, dtype=_dtypes.bool_),
            output_shapes=[leaf.shape for leaf in _flatten(spec)])
        return Dataset(out, spec)

    def unbatch(self):
        """The slices of the elements along their first dimension."""
        return self._unary(_raw.UnbatchDataset,
                           spec=_map(lambda leaf: leaf.unbatched(), self._spec))

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        """Datasets of `size` elements each (in each leaf), which begin `shift`
        elements (by default `size`) apart."""
        shift = size if shift is None else shift
        spec = _map(_DatasetLeaf, self._spec)
        return self._unary(
            _raw.WindowDataset, spec=spec, size=_int64(size, "size"),
            shift=_int64(shift, "shift"), stride=_int64(stride, "stride"),
            drop_remainder=drop_remainder)

    def repeat(self, count=None):
        """The sequence `count` times; None or -1: without end."""
        return self._unary(_raw.RepeatDataset,
                           count=_int64(-1 if count is None else count,
                                        "count"))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """Elements drawn at random from a buffer of `buffer_size`."""
        seed, seed2 = _get_seed(seed)
        return self._unary(
            _raw.ShuffleDataset, buffer_size=_int64(buffer_size, "buffer_size"),
            seed=_int64(seed or 0, "seed"), seed2=_int64(seed2 or 0, "seed2"),
            reshuffle_each_iteration=reshuffle_each_iteration is not False)

    def take(self, count):
        """The first `count` elements."""
        return self._unary(_raw.TakeDataset, count=_int64(count, "count"))

    def skip(self, count):
        """What follows the first `count` elements."""
        return self._unary(_raw.SkipDataset, count=_int64(count, "count"))

    def shard(self, num_shards, index):
        """Every `num_shards`-th element, from `index` on."""
        return self._unary(_raw.ShardDataset,
                           num_shards=_int64(num_shards, "num_shards"),
                           index=_int64(index, "index"))

    def concatenate(self, dataset):
        """This sequence, then the other."""
        if [leaf.type for leaf in _flatten(self._spec)] != [
                leaf.type for leaf in _flatten(dataset._spec)]:
            raise TypeError(
                "Two datasets to concatenate have different types %s and %s"
                % (self.output_types, dataset.output_types))
        spec = _map(_most_specific, self._spec, dataset._spec)
        return Dataset(_raw.ConcatenateDataset(
            self._variant_tensor, dataset._variant_tensor, **_attrs(spec)),
            spec)

    def cache(self, filename=""):
        """Keeps the elements after the first iteration: in memory, or in a
        file."""
        return self._unary(_raw.CacheDataset,
                           filename=convert_to_tensor(filename or "",
                                                      dtype=_dtypes.string))

    def prefetch(self, buffer_size):
        """Makes up to `buffer_size` elements ahead in the background."""
        return self._unary(_raw.PrefetchDataset,
                           buffer_size=_int64(
                               -1 if buffer_size is None else buffer_size,
                               "buffer_size"))

    def enumerate(self, start=0):
        """(number, element), numbers from `start` on."""
        limit = np.iinfo(np.int64).max
        return Dataset.zip((Dataset.range(start, limit), self))

    def reduce(self, initial_state, reduce_func):
        """The last state of state = reduce_func(state, element)."""
        state_spec, state = _normalize(initial_state)
        state_spec = _map(lambda leaf: _TensorLeaf(leaf.dtype, None)
                          if isinstance(leaf, _TensorLeaf) else leaf,
                          state_spec)
        f = _Function(reduce_func, state_spec, self._spec)
        if [leaf.dtype for leaf in _flatten(f.spec)] != [
                leaf.dtype for leaf in _flatten(state_spec)]:
            raise TypeError("The element types for the new state must match the "
                            "initial state.")
        out = _raw.ReduceDataset(self._variant_tensor, state, f.captured,
                                 f=f.attr, **_attrs(f.spec))
        return _values(f.spec, out)

    def apply(self, transformation_func):
        """transformation_func(self)."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError("`transformation_func` must return a Dataset.")
        return dataset

    def with_options(self, options):
        """The same: nothing in the options changes what is in a dataset."""
        return self

    def options(self):
        return Options()

    # Iterators.

    def make_one_shot_iterator(self):
        """An iterator that needs no initialisation and goes through once. The
        dataset may depend on constants alone."""
        try:
            factory = _func_graph.by_value(self._variant_tensor,
                                           "_make_dataset")
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets "
                "that capture stateful objects, such as a `Variable` or "
                "`LookupTable`. In these cases, use "
                "`Dataset.make_initializable_iterator()`. (Original error: %s)"
                % error) from None
        with self._variant_tensor.graph.as_default():
            resource = _raw.OneShotIterator(dataset_factory=factory,
                                            **_attrs(self._spec))
            return Iterator(resource, None, self._spec)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator whose `initializer` is to be run first."""
        with self._variant_tensor.graph.as_default():
            resource = _raw.IteratorV2(
                container="", shared_name=shared_name or "",
                **_attrs(self._spec))
            return Iterator(resource, _raw.MakeIterator(self._variant_tensor,
                                                        resource), self._spec)


def _plain_dims(shape):
    if isinstance(shape, TensorShape):
        return shape.as_list()
    return [None if d is None else int(d) if not hasattr(d, "value")
            else d.value for d in shape]


def _most_specific(a, b):
    if isinstance(a, _DatasetLeaf):
        return a
    make = _TensorLeaf if isinstance(a, _TensorLeaf) else _SparseLeaf
    x, y = a.shape, b.shape
    if x.ndims is None or y.ndims is None or x.ndims != y.ndims:
        return make(a.type, None)
    return make(a.type, [i if i == j else None for i, j in
                         zip(x.as_list(), y.as_list())])


class _GeneratorState:
    """The Python iterators of a generator's dataset; each has a number."""

    def __init__(self, generator, spec):
        self._generator = generator
        self._spec = spec
        self._iterators = {}
        self._next = 0

    def begin(self, *args):
        number = self._next
        self._next += 1
        self._iterators[number] = iter(self._generator(*args))
        return np.int64(number)

    def next(self, number):
        element = next(self._iterators[int(number)])
        leaves = _flatten(self._spec)
        values = _flatten_up_to(self._spec, element)
        if values is None:
            raise TypeError(
                "`generator` yielded an element that did not match the "
                "expected structure. The expected structure was %s, but the "
                "yielded element was %s."
                % (_map(lambda leaf: leaf.type, self._spec), element))
        arrays = []
        for leaf, value in zip(leaves, values):
            wanted = np.dtype(leaf.dtype.as_numpy_dtype)
            try:
                array = np.asarray(value)
                if wanted != np.dtype(object) or array.dtype.kind not in "SU":
                    array = np.asarray(value, dtype=wanted)
                else:
                    array = array.astype(object)
            except (TypeError, ValueError):
                raise TypeError(
                    "`generator` yielded an element that could not be converted"
                    " to the expected type. The expected type was %s, but the "
                    "yielded element was %s." % (leaf.dtype.name, value)
                ) from None
            if not leaf.shape.is_compatible_with(TensorShape(array.shape)):
                raise ValueError(
                    "`generator` yielded an element of shape %s where an "
                    "element of shape %s was expected."
                    % (array.shape, leaf.shape))
            arrays.append(array)
        return tuple(arrays)

    def end(self, number):
        self._iterators.pop(int(number), None)
        return np.int64(0)


def _flatten_up_to(structure, value):
    """The values where `structure` has leaves; None if it is another one."""
    if not _is_nested(structure):
        return [value]
    children = _children(structure)
    if isinstance(structure, collections.abc.Mapping):
        if not isinstance(value, collections.abc.Mapping) \
                or set(value) != set(structure):
            return None
        parts = [value[k] for k in sorted(structure)]
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(children):
            return None
        parts = list(value)
    out = []
    for c, p in zip(children, parts):
        leaves = _flatten_up_to(c, p)
        if leaves is None:
            return None
        out.extend(leaves)
    return out


class Options:
    """Accepts every option; see Dataset.with_options."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = Options()
        object.__setattr__(self, name, value)
        return value


class Iterator(_Typed):
    """A place in a sequence that the runs of a session share."""

    def __init__(self, iterator_resource, initializer, spec):
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._spec = spec

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None,
                       output_classes=None):
        """An iterator for any dataset of this structure; see
        make_initializer."""
        spec = _spec_of(output_types, output_shapes, output_classes)
        return Iterator(_raw.IteratorV2(
            container="", shared_name=shared_name or "", **_attrs(spec)),
            None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None,
                           output_classes=None):
        """The iterator that the scalar string `string_handle` names."""
        spec = _spec_of(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtype=_dtypes.string)
        return Iterator(_raw.IteratorFromStringHandleV2(
            handle, **_attrs(spec)), None, spec)

    @property
    def initializer(self):
        """The operation to run before the first element is taken."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that begins to iterate `dataset`."""
        if [leaf.type for leaf in _flatten(self._spec)] != [
                leaf.type for leaf in _flatten(dataset._spec)]:
            raise TypeError(
                "Expected output types %r but got dataset with output types %r."
                % (self.output_types, dataset.output_types))
        for mine, other in zip(_flatten(self._spec), _flatten(dataset._spec)):
            if not mine.shape.is_compatible_with(other.shape):
                raise TypeError(
                    "Expected output shapes compatible with %r but got dataset "
                    "with output shapes %r."
                    % (self.output_shapes, dataset.output_shapes))
        return _raw.MakeIterator(dataset._variant_tensor,
                                 self._iterator_resource, name=name)

    def get_next(self, name=None):
        """The next element, when it is run. OutOfRangeError at the end."""
        out = _raw.IteratorGetNext(self._iterator_resource, name=name,
                                   **_attrs(self._spec))
        return _values(self._spec, out)

    def get_next_as_optional(self):
        return _Optional(_raw.IteratorGetNextAsOptional(
            self._iterator_resource, **_attrs(self._spec)), self._spec)

    def string_handle(self, name=None):
        """A scalar string that names the iterator."""
        return _raw.IteratorToStringHandle(self._iterator_resource, name=name)


class _Optional:
    """An element, or nothing."""

    def __init__(self, variant_tensor, spec):
        self._variant_tensor = variant_tensor
        self._spec = spec

    @staticmethod
    def from_value(value):
        spec, flat = _normalize(value)
        return _Optional(_raw.OptionalFromValue(flat), spec)

    @staticmethod
    def none_from_structure(value_structure):
        return _Optional(_raw.OptionalNone(), value_structure)

    def has_value(self, name=None):
        return _raw.OptionalHasValue(self._variant_tensor, name=name)

    def get_value(self, name=None):
        out = _raw.OptionalGetValue(self._variant_tensor, name=name,
                                    **_attrs(self._spec))
        return _values(self._spec, out)


# Files.

_STRING = _TensorLeaf(_dtypes.string, [])


def _read_files(filenames, read, num_parallel_reads=None):
    """The dataset read(paths), where `filenames` may be a dataset itself."""
    if isinstance(filenames, Dataset):
        if num_parallel_reads is None:
            return filenames.flat_map(read)
        return filenames.interleave(read, cycle_length=num_parallel_reads,
                                    num_parallel_calls=num_parallel_reads)
    paths = convert_to_tensor(filenames, dtype=_dtypes.string,
                              name="filenames")
    if num_parallel_reads is None:
        return read(paths)
    paths = Dataset.from_tensor_slices(_raw.Reshape(paths, [-1]))
    return _read_files(paths, read, num_parallel_reads)


def _text(value):
    return convert_to_tensor("" if value is None else value,
                             dtype=_dtypes.string)


class TFRecordDataset(Dataset):
    """The records of files: scalar strings. `compression_type`: "", "ZLIB" or
    "GZIP"."""

    def __init__(self, filenames, compression_type=None, buffer_size=None,
                 num_parallel_reads=None):
        def read(paths):
            return Dataset(_raw.TFRecordDataset(
                paths, _text(compression_type),
                _int64(buffer_size or 0, "buffer_size")), _STRING)
        made = _read_files(filenames, read, num_parallel_reads)
        super().__init__(made._variant_tensor, made._spec)


class TextLineDataset(Dataset):
    """The lines of files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None,
                 num_parallel_reads=None):
        def read(paths):
            return Dataset(_raw.TextLineDataset(
                paths, _text(compression_type),
                _int64(buffer_size or 0, "buffer_size")), _STRING)
        made = _read_files(filenames, read, num_parallel_reads)
        super().__init__(made._variant_tensor, made._spec)


class FixedLengthRecordDataset(Dataset):
    """Files in pieces of `record_bytes`, between header and footer."""

    def __init__(self, filenames, record_bytes, header_bytes=None,
                 footer_bytes=None, buffer_size=None, compression_type=None,
                 num_parallel_reads=None):
        def read(paths):
            return Dataset(_raw.FixedLengthRecordDatasetV2(
                paths, _int64(header_bytes or 0, "header_bytes"),
                _int64(record_bytes, "record_bytes"),
                _int64(footer_bytes or 0, "footer_bytes"),
                _int64(buffer_size or 0, "buffer_size"),
                _text(compression_type)), _STRING)
        made = _read_files(filenames, read, num_parallel_reads)
        super().__init__(made._variant_tensor, made._spec)


class CsvDataset(Dataset):
    """The records of comma-separated files: a tuple of scalars, one for each of
    `record_defaults`: a type for a required field, else what a missing one
    becomes. `select_cols`: the numbers of the columns that are taken."""

    def __init__(self, filenames, record_defaults, compression_type=None,
                 buffer_size=None, header=False, field_delim=",",
                 use_quote_delim=True, na_value="", select_cols=None):
        def default(value):
            if not isinstance(value, (_dtypes.DType, type)):
                value = convert_to_tensor(value)
                return value if value.get_shape().ndims else \
                    _raw.Reshape(value, [1])
            dtype = _dtypes.as_dtype(value)
            return convert_to_tensor(np.zeros([0], dtype.as_numpy_dtype),
                                     dtype=dtype)
        defaults = [default(value) for value in record_defaults]
        spec = tuple(_TensorLeaf(d.dtype, []) for d in defaults)
        made = _raw.CSVDataset(
            convert_to_tensor(filenames, dtype=_dtypes.string),
            _text(compression_type),
            _int64(buffer_size or 4 << 20, "buffer_size"), header,
            _text(field_delim), use_quote_delim, _text(na_value),
            _int64(np.asarray(select_cols or [], np.int64), "select_cols"),
            defaults, output_shapes=_attrs(spec)["output_shapes"])
        super().__init__(made, spec)


def make_one_shot_iterator(dataset):
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator):
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    return dataset_or_iterator.output_classes


# tf.data.experimental.

def get_single_element(dataset):
    """The only element of a dataset."""
    out = _raw.DatasetToSingleElement(dataset._variant_tensor,
                                      **_attrs(dataset._spec))
    return _values(dataset._spec, out)


def cardinality(dataset):
    """The number of elements, or INFINITE_ or UNKNOWN_CARDINALITY."""
    return _raw.DatasetCardinality(dataset._variant_tensor)


def get_next_as_optional(iterator):
    return iterator.get_next_as_optional()


def ignore_errors(log_warning=False):
    """Leaves out the elements that fail."""
    return lambda d: d._unary(_raw.IgnoreErrorsDataset)


def unbatch():
    return lambda d: d.unbatch()


def enumerate_dataset(start=0):
    return lambda d: d.enumerate(start)


def map_and_batch(map_func, batch_size, num_parallel_batches=None,
                  drop_remainder=False, num_parallel_calls=None):
    """map, then batch."""
    parallel = num_parallel_calls
    if parallel is None and num_parallel_batches is not None:
        parallel = num_parallel_batches * batch_size
    return lambda d: d.map(map_func, parallel or 1).batch(batch_size,
                                                          drop_remainder)


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """shuffle, then repeat; epochs meet in the buffer."""
    def make(dataset):
        a, b = _get_seed(seed)
        return dataset._unary(
            _raw.ShuffleAndRepeatDataset,
            buffer_size=_int64(buffer_size, "buffer_size"),
            seed=_int64(a or 0, "seed"), seed2=_int64(b or 0, "seed2"),
            count=_int64(-1 if count is None else count, "count"))
    return make


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False,
                        buffer_output_elements=None,
                        prefetch_input_elements=None):
    """interleave, in parallel."""
    return lambda d: d.interleave(map_func, cycle_length, block_length,
                                  num_parallel_calls=cycle_length)


def scan(initial_state, scan_func):
    """(state, output) = scan_func(state, element): the outputs."""
    def make(dataset):
        state_spec, state = _normalize(initial_state)
        made = {}

        def both(old, element):
            new, output = scan_func(old, element)
            made["state"], tensors = _normalize(new)
            made["output"], more = _normalize(output)
            return tuple(tensors + more)
        f = _Function(both, state_spec, dataset._spec)
        if [leaf.dtype for leaf in _flatten(made["state"])] != [
                leaf.dtype for leaf in _flatten(state_spec)]:
            raise TypeError("The element types for the new state must match the "
                            "initial state.")
        spec = made["output"]
        return Dataset(_raw.ScanDataset(
            dataset._variant_tensor, state, f.captured, f=f.attr,
            preserve_cardinality=True, **_attrs(spec)), spec)
    return make


def take_while(predicate):
    """The elements before the first for which `predicate` is false."""
    def make(dataset):
        f = _Function(predicate, dataset._spec)
        return dataset._unary(_raw.TakeWhileDataset,
                              other_arguments=f.captured, predicate=f.attr)
    return make


def parse_example_dataset(features, num_parallel_calls=1):
    """Of batches of serialized Examples: dicts of `features`."""
    columns = _parsing.example_columns(features)
    leaves = {key: _SparseLeaf(type_, [None, None]) for key, type_ in zip(
        columns.sparse_keys, columns.sparse_types)}
    leaves.update((key, _TensorLeaf(type_, _concatenate([None], shape)))
                  for key, type_, shape in zip(
                      columns.dense_keys, columns.dense_types,
                      columns.dense_shapes))

    def results(element):
        sparse = [element[key] for key in columns.sparse_keys]
        return columns.results(
            ([s.indices for s in sparse], [s.values for s in sparse],
             [s.dense_shape for s in sparse]),
            [element[key] for key in columns.dense_keys])

    def make(dataset):
        parsed = dataset._unary(
            _raw.ParseExampleDataset, leaves,
            num_parallel_calls=_int64(num_parallel_calls, "parallel_calls"),
            dense_defaults=columns.defaults(), sparse_keys=columns.sparse_keys,
            dense_keys=columns.dense_keys, sparse_types=columns.sparse_types,
            dense_shapes=columns.dense_shapes)
        return parsed if set(leaves) == set(features) else parsed.map(results)
    return make


def group_by_window(key_func, reduce_func, window_size=None,
                    window_size_func=None):
    """Collects elements by the int64 key_func(element); each `window_size` (or
    window_size_func(key)) of a key become reduce_func(key, dataset)."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")

    def size_of(key):
        if window_size is not None:
            return _int64(window_size, "window_size")
        return _int64(window_size_func(key), "window_size")

    def make(dataset):
        key_spec = _TensorLeaf(_dtypes.int64, [])

        def key_of(*element):
            return _raw.Cast(key_func(*element), DstT=_dtypes.int64)
        key = _Function(key_of, dataset._spec, name="Dataset_key")
        reduce = _Function(reduce_func, key_spec, _DatasetLeaf(dataset._spec))
        size = _Function(size_of, key_spec, name="Dataset_window_size")
        spec = _dataset_spec(reduce, "group_by_window")
        return Dataset(_raw.GroupByWindowDataset(
            dataset._variant_tensor, key.captured, reduce.captured,
            size.captured, key_func=key.attr, reduce_func=reduce.attr,
            window_size_func=size.attr, **_attrs(spec)), spec)
    return make


def bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes,
        padded_shapes=None, padding_values=None, pad_to_bucket_boundary=False,
        no_padding=False, drop_remainder=False):
    """Padded batches of elements of similar lengths: bucket i holds those
    shorter than bucket_boundaries[i], the last one the rest."""
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal "
                         "len(bucket_boundaries) + 1")
    if pad_to_bucket_boundary and no_padding:
        raise ValueError("pad_to_bucket_boundary and no_padding exclude each "
                         "other.")
    sizes = np.array(bucket_batch_sizes, np.int64)
    bounds = np.array(bucket_boundaries, np.int64)

    def bucket_of(*element):
        length = _raw.Cast(element_length_func(*element), DstT=_dtypes.int64)
        return _raw.Sum(_raw.Cast(_raw.LessEqual(bounds, length),
                                  DstT=_dtypes.int64), 0)

    def batch_size(bucket):
        return _raw.GatherV2(sizes, bucket, 0)

    def batches(bucket, group):
        if no_padding:
            return group.batch(batch_size(bucket), drop_remainder)
        shapes = padded_shapes if padded_shapes is not None \
            else group.output_shapes
        if pad_to_bucket_boundary:
            # The last bucket has no boundary.
            limit = _raw.GatherV2(bounds, _raw.Minimum(
                bucket, max(len(bounds) - 1, 0)), 0) - 1

            def filled(shape):
                return _raw.Pack([limit if d in (None, -1) else np.int64(d)
                                  for d in _plain_dims(TensorShape(shape))]) \
                    if TensorShape(shape).ndims else shape
            shapes = _pack(group._spec, [
                filled(x) for x in _like(group._spec, shapes, lambda x: x)])
        return group.padded_batch(batch_size(bucket), shapes, padding_values,
                                  drop_remainder)
    return group_by_window(bucket_of, batches, window_size_func=batch_size)


def choose_from_datasets(datasets, choice_dataset):
    """Elements of `datasets`, of which one the int64 scalars of
    `choice_dataset` say."""
    if not datasets:
        raise ValueError("`datasets` must have at least one dataset.")
    spec = datasets[0]._spec
    for d in datasets[1:]:
        if d.output_types != datasets[0].output_types:
            raise TypeError("All datasets must have the same type: %s and %s."
                            % (datasets[0].output_types, d.output_types))
        spec = _map(_most_specific, spec, d._spec)
    return Dataset(_raw.DirectedInterleaveDataset(
        choice_dataset._variant_tensor, [d._variant_tensor for d in datasets],
        **_attrs(spec)), spec)


def sample_from_datasets(datasets, weights=None, seed=None):
    """Elements of `datasets` at random, with the given weights."""
    if weights is None:
        weights = [1.0 / len(datasets)] * len(datasets)
    elif len(weights) != len(datasets):
        raise ValueError("`weights` must be a vector of length %d."
                         % len(datasets))
    with np.errstate(divide="ignore"):  # a weight of 0: never
        logits = np.log(np.asarray(weights, np.float32))[np.newaxis]

    def choose(pair):
        drawn = _raw.StatelessMultinomial(logits, 1, pair,
                                          output_dtype=_dtypes.int64)
        return _raw.Squeeze(drawn)
    choice = RandomDataset(seed).batch(2, drop_remainder=True).map(choose)
    return choose_from_datasets(datasets, choice)


def RandomDataset(seed=None):
    """Random int64 numbers in [0, 2**32), without end."""
    a, b = _get_seed(seed)
    spec = _TensorLeaf(_dtypes.int64, [])
    return Dataset(_raw.RandomDataset(_int64(a or 0, "seed"),
                                      _int64(b or 0, "seed2"), **_attrs(spec)),
                   spec)


class TFRecordWriter:
    """Writes a dataset of scalar strings to a record file."""

    def __init__(self, filename, compression_type=None):
        self._filename = _text(filename)
        self._compression_type = _text(compression_type)

    def write(self, dataset):
        return _raw.DatasetToTFRecord(dataset._variant_tensor, self._filename,
                                      self._compression_type)
