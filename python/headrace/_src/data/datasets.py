"""tf.data: datasets, sequences of elements that a graph makes as it reads them.

    files = tf.data.TFRecordDataset(paths).map(parse).shuffle(1000).batch(32)
    features, labels = files.make_one_shot_iterator().get_next()

elements.py says what an element is.
"""
import weakref

import numpy as np

from headrace import raw_ops as _raw
from headrace._headrace import (
    EagerTensor, executing_eagerly, fresh_dataset)
from headrace._loading import load
from headrace._src.control import script_ops as _script
from headrace._src.control.control_flow import Assert
from headrace._src.data.elements import (
    ElementFunction, TensorLeaf, Typed, as_int64, attrs, check_state, flatten,
    flatten_up_to, leaves_like, map_leaves, normalize, normalize_element, pack,
    pack_values, parallel_calls, plain_dims, same_types, seeds, spec_of)
from headrace._src.data.iterators import Iterator
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.nest import map_structure
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape, as_list_or_none
from headrace._src.functions import func_graph as _func_graph
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor

AUTOTUNE = -1


class DatasetLeaf:
    """A dataset as (part of) an element."""
    dtype = _dtypes.variant
    shape = flat_shape = TensorShape([])

    def __init__(self, spec):
        self.spec = spec

    type = property(lambda self: map_leaves(lambda leaf: leaf.type, self.spec))
    cls = property(lambda self: Dataset)

    def value(self, tensor):
        return Dataset(tensor, self.spec)

    def batched(self, n):
        raise TypeError("datasets cannot be batched")

    unbatched = batched

    def widened(self, other):
        return self


def dataset_spec(function, what):
    if not isinstance(function.spec, DatasetLeaf):
        raise TypeError("`map_func` of %s must return a `Dataset` object."
                        % what)
    return function.spec.spec


class Dataset(Typed):
    """A sequence of elements. Made by the class's functions below, and from
    other datasets by its methods.

    Elements are nested tuples and dicts of Tensors and SparseTensors;
    output_types and output_shapes tell their dtypes and shapes. TypeError or
    ValueError for functions whose results do not fit; a run of an iterator
    raises OutOfRangeError at the end."""

    def __init__(self, variant_tensor, spec):
        self._variant_tensor = variant_tensor
        self._spec = spec

    def _as_graph_element(self):
        return self._variant_tensor

    def _leaf_and_tensor(self, slices=False):
        return DatasetLeaf(self._spec), self._variant_tensor

    def __repr__(self):
        shapes, types = (
            str(text).replace("'", "") for text in (
                map_structure(str, self.output_shapes),
                map_structure(repr, self.output_types)))
        return "<%s shapes: %s, types: %s>" % (type(self).__name__, shapes,
                                               types)

    def _unary(self, op, spec=None, **kwargs):
        spec = self._spec if spec is None else spec
        return Dataset(op(self._variant_tensor, **kwargs, **attrs(spec)), spec)

    # Sources.

    @staticmethod
    def from_tensors(tensors):
        """One element: `tensors`."""
        spec, flat = normalize_element(tensors)
        return Dataset(_raw.TensorDataset(
            flat, output_shapes=[leaf.flat_shape for leaf in flatten(spec)]),
            spec)

    @staticmethod
    def from_tensor_slices(tensors):
        """The slices of `tensors` along their first dimension."""
        spec, flat = normalize_element(tensors, slices=True)
        for t in flat:
            if t.get_shape().ndims == 0:
                raise ValueError("Unbatching a tensor is only supported for "
                                 "rank >= 1")
        spec = map_leaves(lambda leaf: leaf.unbatched(), spec)
        return Dataset(_raw.TensorSliceDataset(
            flat, output_shapes=[leaf.flat_shape for leaf in flatten(spec)]),
            spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """The rows of a SparseTensor, each as (indices, values, dense_shape)."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError("`sparse_tensor` must be a `tf.SparseTensor` object,"
                            " not %r." % (sparse_tensor,))
        rank = sparse_tensor.get_shape().ndims
        rank = None if rank is None else rank - 1
        spec = (TensorLeaf(_dtypes.int64, [None, rank]),
                TensorLeaf(sparse_tensor.dtype, [None]),
                TensorLeaf(_dtypes.int64, [rank]))
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
        spec = TensorLeaf(_dtypes.int64, [])
        return Dataset(_raw.RangeDataset(
            as_int64(start, "start"), as_int64(stop, "stop"),
            as_int64(step, "step"), **attrs(spec)), spec)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """What iter(generator(*args)) yields: structures as `output_types`.
        The Python function runs in this process when the graph does."""
        if not callable(generator):
            raise TypeError("`generator` must be callable.")
        spec = spec_of(output_types, output_shapes)
        leaves = flatten(spec)
        if args is None:
            args = ()
        args = tuple(convert_to_tensor(a, name="args_%d" % i)
                     for i, a in enumerate(args))
        state = _GeneratorState(generator, spec)

        def call(function, what, types):
            def traced(tensors):
                return _script.py_func(function, tensors, types)
            return lambda arg_types: _func_graph.TracedFunction(
                traced, arg_types, [None] * len(arg_types), list,
                name="Dataset_generator_" + what)

        def make(unused):
            begin = call(state.begin, "begin", [_dtypes.int64])(
                [a.dtype for a in args])
            following = call(state.next, "next",
                             [leaf.dtype for leaf in leaves])([_dtypes.int64])
            end = call(state.end, "end", [_dtypes.int64])([_dtypes.int64])
            return Dataset(_raw.GeneratorDataset(
                list(args), [], [], init_func=begin.name,
                next_func=following.name, finalize_func=end.name,
                **attrs(spec)), spec)

        return Dataset.from_tensors(0).flat_map(make)

    @staticmethod
    def zip(datasets):
        """The elements of several datasets side by side, in a structure like
        that of `datasets`."""
        flat = flatten(datasets)
        for d in flat:
            if not isinstance(d, Dataset):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested "
                    "structure of `Dataset` objects. %s"
                    % ("Nested structures do not support Python lists; please "
                       "use a tuple instead." if isinstance(d, list) else
                       "Got %r." % (d,)))
        spec = pack(datasets, [d._spec for d in flat])
        return Dataset(_raw.ZipDataset([d._variant_tensor for d in flat],
                                       **attrs(spec)), spec)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """The paths that match; in random order unless `shuffle` is False."""
        def count(paths):
            return _array.shape(paths, out_type=_dtypes.int64)[0]

        with _graph.name_scope("list_files"):
            patterns = convert_to_tensor(file_pattern, dtype=_dtypes.string,
                                         name="file_pattern")
            paths = _raw.MatchingFiles(patterns)
            found = _raw.Greater(count(paths), 0, name="match_not_empty")
            with _graph.name_scope("ReduceJoin"):
                rank = patterns.get_shape().ndims
                axes = _raw.Range(_raw.Rank(patterns) - 1, -1, -1) \
                    if rank is None else convert_to_tensor(
                        list(reversed(range(rank))), dtype=_dtypes.int32,
                        name="Const")
                joined = _raw.ReduceJoin(patterns, axes, separator=", ")
            message = _raw.Add("No files matched pattern: ", joined,
                               name="message")
            check = Assert(found, [message], summarize=1,
                           name="assert_not_empty")
            with _graph.control_dependencies([check]):
                paths = _raw.Identity(paths)
            dataset = Dataset.from_tensor_slices(paths)
            if shuffle or shuffle is None:
                many = _raw.Maximum(count(paths), np.int64(1))
                dataset = dataset.shuffle(many, seed=seed)
            return dataset

    # Transformations.

    def map(self, map_func, num_parallel_calls=None):
        """map_func(element) for each; `num_parallel_calls` at a time."""
        f = ElementFunction(map_func, self._spec)
        if num_parallel_calls is None:
            return Dataset(_raw.MapDataset(
                self._variant_tensor, f.captured, f=f.attr,
                preserve_cardinality=False, **attrs(f.spec)), f.spec)
        return Dataset(_raw.ParallelMapDataset(
            self._variant_tensor, f.captured,
            parallel_calls(num_parallel_calls, _dtypes.int32), f=f.attr,
            preserve_cardinality=False, **attrs(f.spec)), f.spec)

    map_with_legacy_function = map

    def flat_map(self, map_func):
        """The elements of the datasets map_func(element), one dataset after
        the other."""
        f = ElementFunction(map_func, self._spec)
        spec = dataset_spec(f, "flat_map")
        return Dataset(_raw.FlatMapDataset(
            self._variant_tensor, f.captured, f=f.attr, **attrs(spec)), spec)

    def interleave(self, map_func, cycle_length=AUTOTUNE, block_length=1,
                   num_parallel_calls=None):
        """The elements of the datasets map_func(element): `block_length` of
        each of `cycle_length` datasets in turn."""
        return self._interleave(map_func, cycle_length, block_length,
                                num_parallel_calls, sloppy=False)

    def _interleave(self, map_func, cycle_length, block_length,
                    num_parallel_calls, sloppy):
        f = ElementFunction(map_func, self._spec)
        spec = dataset_spec(f, "interleave")
        lengths = (as_int64(cycle_length, "cycle_length"),
                   as_int64(block_length, "block_length"))
        if num_parallel_calls is None:
            out = _raw.InterleaveDataset(self._variant_tensor, f.captured,
                                         *lengths, f=f.attr, **attrs(spec))
        else:
            out = _raw.ParallelInterleaveDatasetV2(
                self._variant_tensor, f.captured, *lengths,
                parallel_calls(num_parallel_calls), f=f.attr,
                sloppy=sloppy, **attrs(spec))
        return Dataset(out, spec)

    def _predicate(self, function):
        """A function of elements that gives a scalar bool. ValueError for
        another."""
        f = ElementFunction(function, self._spec)
        if not (isinstance(f.spec, TensorLeaf) and f.spec.dtype == _dtypes.bool_
                and f.spec.shape.is_compatible_with(TensorShape([]))):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        return f

    def filter(self, predicate):
        """The elements for which `predicate` is true."""
        f = self._predicate(predicate)
        return self._unary(_raw.FilterDataset, other_arguments=f.captured,
                           predicate=f.attr)

    filter_with_legacy_function = filter

    def batch(self, batch_size, drop_remainder=False):
        """`batch_size` elements stacked into one."""
        batch_size = as_int64(batch_size, "batch_size")
        n = constant_value(batch_size)
        whole = drop_remainder if isinstance(drop_remainder, bool) \
            else constant_value(convert_to_tensor(drop_remainder))
        static = int(n) if n is not None and whole else None
        return self._unary(
            _raw.BatchDatasetV2,
            spec=map_leaves(lambda leaf: leaf.batched(static), self._spec),
            batch_size=batch_size, drop_remainder=convert_to_tensor(
                drop_remainder, dtype=_dtypes.bool_, name="drop_remainder"))

    def padded_batch(self, batch_size, padded_shapes, padding_values=None,
                     drop_remainder=False):
        """As batch, each component padded to the shape that `padded_shapes`
        has for it; None (or -1) there: to the longest of the batch."""
        batch_size = as_int64(batch_size, "batch_size")
        leaves = flatten(self._spec)
        if padded_shapes is None:
            raise ValueError("padded_shapes must be given")
        if not all(isinstance(leaf, TensorLeaf) for leaf in leaves):
            raise TypeError("Batching of padded sparse or ragged tensors is not "
                            "currently supported")
        shapes, static = [], []
        for leaf, s in zip(leaves, leaves_like(self._spec, padded_shapes,
                                               lambda s: s)):
            if not hasattr(s, "op"):
                known = TensorShape([None if d == -1 else d
                                     for d in plain_dims(s)])
                if not _pads_to(leaf.shape, known):
                    raise ValueError(
                        "The padded shape %s is not compatible with the "
                        "corresponding input component shape %s."
                        % (known, leaf.shape))
                s = [-1 if d is None else d for d in known.as_list()]
            else:
                value = constant_value(s)
                known = TensorShape(None) if value is None else TensorShape(
                    [None if d == -1 else d for d in value.tolist()])
            shapes.append(as_int64(s if not isinstance(s, list) or s else
                                   np.zeros([0], np.int64), "Const"))
            static.append(known)
        values = []
        for leaf, v in zip(leaves, leaves_like(self._spec, padding_values,
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
        n = constant_value(batch_size) if drop_remainder is True else None
        count = TensorShape([None if n is None else int(n)])
        spec = pack(self._spec, [TensorLeaf(leaf.dtype, count.concatenate(s))
                                 for leaf, s in zip(leaves, static)])
        out = _raw.PaddedBatchDatasetV2(
            self._variant_tensor, batch_size, shapes, values,
            convert_to_tensor(drop_remainder, dtype=_dtypes.bool_,
                              name="drop_remainder"),
            output_shapes=[leaf.shape for leaf in flatten(spec)])
        return Dataset(out, spec)

    def unbatch(self):
        """The slices of the elements along their first dimension."""
        spec = map_leaves(lambda leaf: leaf.unbatched(), self._spec)

        def sliced(*parts):
            whole = parts if len(parts) > 1 else parts[0]
            if all(isinstance(leaf, TensorLeaf) for leaf in flatten(spec)):
                return whole
            return tuple(normalize(whole, slices=True)[1])
        return self.map(sliced)._unary(_raw.UnbatchDataset, spec=spec)

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        """Datasets of `size` elements each (in each leaf), which begin `shift`
        elements (by default `size`) apart."""
        shift = size if shift is None else shift
        spec = map_leaves(DatasetLeaf, self._spec)
        return self._unary(
            _raw.WindowDataset, spec=spec, size=as_int64(size, "size"),
            shift=as_int64(shift, "shift"), stride=as_int64(stride, "stride"),
            drop_remainder=convert_to_tensor(
                drop_remainder, dtype=_dtypes.bool_, name="drop_remainder"))

    def repeat(self, count=None):
        """The sequence `count` times; None or -1: without end."""
        return self._unary(_raw.RepeatDataset,
                           count=as_int64(-1 if count is None else count,
                                          "count"))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """Elements drawn at random from a buffer of `buffer_size`."""
        buffer_size = as_int64(buffer_size, "buffer_size")
        seed, seed2 = seeds(seed)
        return self._unary(
            _raw.ShuffleDataset,
            buffer_size=buffer_size, seed=seed, seed2=seed2,
            reshuffle_each_iteration=reshuffle_each_iteration is not False)

    def take(self, count):
        """The first `count` elements."""
        return self._unary(_raw.TakeDataset, count=as_int64(count, "count"))

    def skip(self, count):
        """What follows the first `count` elements."""
        return self._unary(_raw.SkipDataset, count=as_int64(count, "count"))

    def shard(self, num_shards, index):
        """Every `num_shards`-th element, from `index` on."""
        return self._unary(_raw.ShardDataset,
                           num_shards=as_int64(num_shards, "num_shards"),
                           index=as_int64(index, "index"))

    def concatenate(self, dataset):
        """This sequence, then the other."""
        if not same_types(self._spec, dataset._spec):
            raise TypeError(
                "Two datasets to concatenate have different types %s and %s"
                % (self.output_types, dataset.output_types))
        spec = map_leaves(lambda a, b: a.widened(b), self._spec,
                          dataset._spec)
        return Dataset(_raw.ConcatenateDataset(
            self._variant_tensor, dataset._variant_tensor, **attrs(spec)),
            spec)

    def cache(self, filename=""):
        """Keeps the elements after the first iteration: in memory, or in a
        file."""
        return self._unary(_raw.CacheDataset,
                           filename=convert_to_tensor(
                               "" if filename is None else filename,
                               dtype=_dtypes.string, name="filename"))

    def prefetch(self, buffer_size):
        """Makes up to `buffer_size` elements ahead in the background."""
        return self._unary(_raw.PrefetchDataset,
                           buffer_size=as_int64(
                               -1 if buffer_size is None else buffer_size,
                               "buffer_size"))

    def enumerate(self, start=0):
        """(number, element), numbers from `start` on."""
        limit = np.iinfo(np.int64).max
        return Dataset.zip((Dataset.range(start, limit), self))

    @property
    def element_spec(self):
        """The structure of an element, with a TypeSpec in place of each tensor
        or dataset."""
        from headrace._src.data.structures import specs_of
        return specs_of(self._spec)

    def reduce(self, initial_state, reduce_func):
        """The last state of state = reduce_func(state, element). Its shape is
        known as far as the first state and all others have it in common."""
        with _graph.name_scope("initial_state"):
            state_spec, state = normalize_element(initial_state)
        before = None
        while before is None or _shapes(state_spec) != _shapes(before):
            before = state_spec
            f = ElementFunction(reduce_func, before, self._spec)
            check_state(f.spec, before)
            state_spec = map_leaves(lambda a, b: a.widened(b), before, f.spec)
        out = _raw.ReduceDataset(self._variant_tensor, state, f.captured,
                                 f=f.attr, **attrs(state_spec))
        return pack_values(state_spec, out)

    def _reduce_while(self, initial_state, step):
        """reduce, until `step`, which returns (state, (state, goes on)), says
        that it does not go on: then with the state before."""
        from headrace._src.data.experimental import scan, take_while
        states = self.apply(scan(initial_state, step)).apply(
            take_while(lambda state, goes_on: goes_on))
        return states.reduce(initial_state, lambda old, new: new[0])

    def apply(self, transformation_func):
        """transformation_func(self)."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError("`transformation_func` must return a Dataset.")
        return dataset

    def with_options(self, options):
        """The same, with these options beside its own."""
        if not isinstance(options, Options):
            raise TypeError("`options` must be a tf.data.Options, got %r."
                            % (options,))
        if executing_eagerly():
            changed = Dataset(self._variant_tensor, self._spec)
            self._variant_tensor._options = merged = Options()
            merged._update(self.options())
            merged._update(options)
            return changed
        of_graph = _options.setdefault(self._variant_tensor.graph, {})
        given = of_graph.setdefault(self._variant_tensor.op._id, Options())
        given._update(options)
        return Dataset(self._variant_tensor, self._spec)

    def options(self):
        """The options of this dataset and of those that it is made of."""
        result = Options()
        if isinstance(self._variant_tensor, EagerTensor):
            result._update(self._variant_tensor.__dict__.get(
                "_options", Options()))
            return result
        of_graph = _options.get(self._variant_tensor.graph)
        todo, seen, found = [self._variant_tensor.op], set(), []
        while of_graph and todo:
            op = todo.pop()
            if op._id in seen:
                continue
            seen.add(op._id)
            if op._id in of_graph:
                found.append(of_graph[op._id])
            todo += [x.op for x in op.inputs if x.dtype == _dtypes.variant]
        for options in reversed(found):
            result._update(options)
        return result

    def _optimizations(self):
        """The names of the optimizations that the options ask for."""
        options = self.options().experimental_optimization
        default = options._get("apply_default_optimizations", True)
        return sorted(
            [name for name in _DEFAULT_OPTIMIZATIONS
             if options._get(name, default)] +
            [name for name in _MORE_OPTIMIZATIONS if options._get(name, False)])

    def _optimized(self):
        """The variant tensor for an iterator."""
        names, out = self._optimizations(), self._variant_tensor
        if names:
            out = _raw.OptimizeDataset(
                out, convert_to_tensor(names, dtype=_dtypes.string,
                                       name="optimizations"),
                optimization_configs=_OPTIMIZATION_CONFIGS,
                **attrs(self._spec))
        out = _raw.ModelDataset(out, **attrs(self._spec))
        stats = self.options().experimental_stats
        aggregator = stats._get("aggregator", None)
        if aggregator is None:
            return out
        if stats._get("latency_all_edges", False):
            raise NotImplementedError(
                "Options.experimental_stats.latency_all_edges is not supported: "
                "put tf.data.experimental.latency_stats(name) behind the datasets "
                "whose latency is of interest.")
        return _raw.SetStatsAggregatorDataset(
            out, aggregator._resource, *(
                convert_to_tensor(stats._get(name, ""), dtype=_dtypes.string)
                for name in ("prefix", "counter_prefix")), **attrs(self._spec))

    def _optimize_in(self, function):
        """Adds to a FunctionDef, which returns the dataset, what _optimized
        makes."""
        with _graph.Graph().as_default() as graph:
            dataset = Dataset(_raw.RangeDataset(
                as_int64(0, "a"), as_int64(0, "b"), as_int64(0, "c"),
                **attrs(TensorLeaf(_dtypes.int64, []))), self._spec)
            given = dataset._variant_tensor.op.name
            dataset._optimizations = self._optimizations
            dataset._optimized()
            nodes = graph.as_graph_def().node[4:]
        taken = {node.name for node in function.node_def}
        outputs = {given: next(iter(function.ret.values()))}
        for node in nodes:
            name = node.name
            while name in taken:
                name += "_1"
            outputs[node.name] = name + (
                ":output:0" if node.op == "Const" else ":handle:0")
            inputs = [outputs[x] for x in node.input]
            node.name = name
            del node.input[:]
            node.input.extend(inputs)
            function.node_def.add().CopyFrom(node)
        for key in function.ret:
            function.ret[key] = outputs["ModelDataset"]

    # Iterators.

    def _for_iterator(self):
        fresh = Dataset(fresh_dataset(self._variant_tensor), self._spec)
        fresh._optimizations = self._optimizations
        return fresh._optimized()

    def __iter__(self):
        if executing_eagerly():
            return load("_src.eager.datasets").iterator_of(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager "
            "execution is enabled. tf.compat.v1.data.make_one_shot_iterator("
            "dataset).get_next() is the next element in each run.")

    def make_one_shot_iterator(self):
        """An iterator that needs no initialisation and goes through once. The
        dataset may depend on constants alone."""
        if executing_eagerly():
            return iter(self)
        if self.options().experimental_stats._get("aggregator", None):
            raise ValueError(
                "`Dataset.make_one_shot_iterator()` does not support the option "
                "experimental_stats.aggregator: use "
                "`Dataset.make_initializable_iterator()`.")
        try:
            factory = _func_graph.by_value(
                self._variant_tensor, "_make_dataset",
                finish=self._optimize_in)
        except _func_graph.StatefulCaptureError as error:
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets "
                "that capture stateful objects, such as a `Variable` or "
                "`LookupTable`. In these cases, use "
                "`Dataset.make_initializable_iterator()`. (Original error: %s)"
                % error) from None
        with self._variant_tensor.graph.as_default():
            resource = _raw.OneShotIterator(dataset_factory=factory,
                                            **attrs(self._spec))
            return Iterator._of(resource, None, self._spec)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator whose `initializer` is to be run first."""
        if executing_eagerly():
            raise RuntimeError(
                "dataset.make_initializable_iterator is not supported when "
                "eager execution is enabled.")
        with self._variant_tensor.graph.as_default():
            variant = self._optimized()
            resource = _raw.IteratorV2(
                container="", shared_name=shared_name or "",
                **attrs(self._spec))
            with _graph.colocate_with(resource):
                initializer = _raw.MakeIterator(variant, resource)
            return Iterator._of(resource, initializer, self._spec)


def _pads_to(shape, padded):
    """False if values of `shape` are known not to fit into `padded`."""
    if shape.ndims is None:
        return True
    return shape.ndims == padded.ndims and all(
        a is None or b is None or a <= b
        for a, b in zip(shape.as_list(), padded.as_list()))


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
        leaves = flatten(self._spec)
        values = flatten_up_to(self._spec, element)
        if values is None:
            raise TypeError(
                "`generator` yielded an element that did not match the "
                "expected structure. The expected structure was %s, but the "
                "yielded element was %s."
                % (map_leaves(lambda leaf: leaf.type, self._spec), element))
        arrays = []
        for leaf, value in zip(leaves, values):
            wanted = np.dtype(leaf.dtype.as_numpy_dtype)
            try:
                array = np.asarray(value, dtype=wanted)
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


class Options:
    """Accepts every option. Those of experimental_optimization decide whether
    `shuffle` and `repeat` become one, which changes the order of the elements;
    experimental_stats gives an aggregator of statistics
    (tf.data.experimental.StatsOptions); the others change nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = Options()
        object.__setattr__(self, name, value)
        return value

    def _get(self, name, default):
        """The value of an option; `default` if it was not set or is None."""
        value = vars(self).get(name)
        return default if value is None or isinstance(value, Options) else value

    def _update(self, other):
        """Takes the options that `other` has."""
        for name, value in vars(other).items():
            if isinstance(value, Options):
                getattr(self, name)._update(value)
            else:
                setattr(self, name, value)

    def merge(self, options):
        """New options: these, and over them those of `options`."""
        result = Options()
        result._update(self)
        result._update(options)
        return result


# Of each graph: {id of a node: its Options}.
_options: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def moved_options(op, made):
    """Gives a copy of a data set's node the options of the node."""
    of_graph = _options.get(op.graph, {})
    if op._id in of_graph:
        of_graph[made._id] = of_graph[op._id]


_DEFAULT_OPTIMIZATIONS = ("map_and_batch_fusion", "noop_elimination",
                          "shuffle_and_repeat_fusion")
_MORE_OPTIMIZATIONS = ("filter_fusion", "filter_with_random_uniform_fusion",
                       "hoist_random_uniform", "map_and_filter_fusion",
                       "map_fusion", "map_parallelization")
_OPTIMIZATION_CONFIGS = ["map_vectorization:use_choose_fastest:false"]


def make_one_shot_iterator(dataset):
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    """dataset.make_initializable_iterator(shared_name)."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator):
    return dataset_or_iterator.output_types


def _shapes(spec):
    return [as_list_or_none(leaf.shape) for leaf in flatten(spec)]


def get_output_shapes(dataset_or_iterator):
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    return dataset_or_iterator.output_classes
