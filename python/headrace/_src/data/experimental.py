"""tf.data.experimental: transformations that are not methods of Dataset. Most
functions here return a function for Dataset.apply."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import Assert
from headrace._src.data.datasets import Dataset, DatasetLeaf, dataset_spec
from headrace._src.data.elements import (
    ElementFunction, SparseLeaf, TensorLeaf, as_int64, attrs, check_state,
    leaves_like, map_leaves, normalize, normalize_element, pack, pack_values,
    plain_dims, seeds)
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.io import parsing_ops as _parsing
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def get_single_element(dataset):
    """The only element of a dataset."""
    out = _raw.DatasetToSingleElement(dataset._variant_tensor,
                                      **attrs(dataset._spec))
    return pack_values(dataset._spec, out)


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


def unique():
    """Leaves out the elements, scalars of int32, int64 or string, that were
    there before."""
    def make(dataset):
        types = nest.flatten(dataset.output_types)
        if len(types) != 1 or types[0] not in (
                _dtypes.int32, _dtypes.int64, _dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a "
                "single `tf.int32`, `tf.int64`, or `tf.string` component, got "
                "%s" % (dataset.output_types,))
        return dataset._unary(_raw.UniqueDataset)
    return make


def enumerate_dataset(start=0):
    return lambda d: d.enumerate(start)


def map_and_batch(map_func, batch_size, num_parallel_batches=None,
                  drop_remainder=False, num_parallel_calls=None):
    """map, then batch."""
    parallel = num_parallel_calls
    if parallel is not None and num_parallel_batches is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` "
                         "arguments are mutually exclusive.")
    if parallel is None:
        parallel = batch_size * (num_parallel_batches or 1)

    def make(dataset):
        f = ElementFunction(map_func, dataset._spec)
        size = as_int64(batch_size, "batch_size")
        calls = as_int64(parallel, "num_parallel_calls")
        whole = convert_to_tensor(drop_remainder, dtype=_dtypes.bool_,
                                  name="drop_remainder")
        n, sure = constant_value(size), constant_value(whole)
        static = int(n) if n is not None and sure else None
        spec = map_leaves(lambda leaf: leaf.batched(static), f.spec)
        return Dataset(_raw.MapAndBatchDataset(
            dataset._variant_tensor, f.captured, size, calls, whole, f=f.attr,
            preserve_cardinality=False, **attrs(spec)), spec)
    return make


map_and_batch_with_legacy_function = map_and_batch


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """shuffle, then repeat; epochs meet in the buffer."""
    def make(dataset):
        size = as_int64(buffer_size, "buffer_size")
        times = as_int64(-1 if count is None else count, "count")
        a, b = seeds(seed)
        return dataset._unary(
            _raw.ShuffleAndRepeatDataset, buffer_size=size, seed=a, seed2=b,
            count=times)
    return make


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False,
                        buffer_output_elements=None,
                        prefetch_input_elements=None):
    """interleave, in parallel. If it is `sloppy`, a dataset whose next element
    is not ready lets the others pass."""
    def make(dataset):
        f = ElementFunction(map_func, dataset._spec)
        spec = dataset_spec(f, "parallel_interleave")
        ahead = 2 * block_length if buffer_output_elements is None \
            else buffer_output_elements
        opened = 2 * cycle_length if prefetch_input_elements is None \
            else prefetch_input_elements
        return Dataset(_raw.ParallelInterleaveDataset(
            dataset._variant_tensor, f.captured,
            as_int64(cycle_length, "cycle_length"),
            as_int64(block_length, "block_length"),
            convert_to_tensor(sloppy, dtype=_dtypes.bool_, name="sloppy"),
            as_int64(ahead, "buffer_output_elements"),
            as_int64(opened, "prefetch_input_elements"), f=f.attr,
            **attrs(spec)), spec)
    return make


def scan(initial_state, scan_func):
    """(state, output) = scan_func(state, element): the outputs."""
    def make(dataset):
        state_spec, state = normalize_element(initial_state)
        made = {}

        def both(old, element):
            pair = scan_func(old, element)
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise TypeError("The scan function must return a pair "
                                "comprising the new state and the output value, "
                                "got %s" % (pair,))
            new, output = pair
            made["state"], tensors = normalize(new)
            made["output"], more = normalize(output)
            return tuple(tensors + more)
        f = ElementFunction(both, state_spec, dataset._spec)
        check_state(made["state"], state_spec)
        spec = made["output"]
        return Dataset(_raw.ScanDataset(
            dataset._variant_tensor, state, f.captured, f=f.attr,
            preserve_cardinality=True, **attrs(spec)), spec)
    return make


def take_while(predicate):
    """The elements before the first for which `predicate` is false."""
    def make(dataset):
        f = dataset._predicate(predicate)
        return dataset._unary(_raw.TakeWhileDataset,
                              other_arguments=f.captured, predicate=f.attr)
    return make


def parse_example_dataset(features, num_parallel_calls=1):
    """Of batches of serialized Examples: dicts of `features`."""
    columns = _parsing.example_columns(features)

    def leaves_of(batch):
        leaves = {key: SparseLeaf(type_, batch.concatenate([None]))
                  for key, type_ in zip(columns.sparse_keys,
                                        columns.sparse_types)}
        leaves.update((key, TensorLeaf(type_, batch.concatenate(shape)))
                      for key, type_, shape in zip(
                          columns.dense_keys, columns.dense_types,
                          columns.dense_shapes))
        return leaves

    def results(element):
        sparse = [element[key] for key in columns.sparse_keys]
        return columns.results(
            ([s.indices for s in sparse], [s.values for s in sparse],
             [s.dense_shape for s in sparse]),
            [element[key] for key in columns.dense_keys])

    def make(dataset):
        given = dataset._spec.shape if isinstance(dataset._spec, TensorLeaf) \
            else TensorShape(None)
        leaves = leaves_of(given if given.ndims == 1 else TensorShape([None]))
        parsed = dataset._unary(
            _raw.ParseExampleDataset, leaves,
            num_parallel_calls=as_int64(num_parallel_calls, "parallel_calls"),
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
            return as_int64(window_size, "window_size")
        return as_int64(window_size_func(key), "window_size")

    def make(dataset):
        key_spec = TensorLeaf(_dtypes.int64, [])

        def key_of(*element):
            return _raw.Cast(key_func(*element), DstT=_dtypes.int64)
        key = ElementFunction(key_of, dataset._spec, name="Dataset_key")
        reduce = ElementFunction(reduce_func, key_spec,
                                 DatasetLeaf(dataset._spec))
        size = ElementFunction(size_of, key_spec, name="Dataset_window_size")
        spec = dataset_spec(reduce, "group_by_window")
        return Dataset(_raw.GroupByWindowDataset(
            dataset._variant_tensor, key.captured, reduce.captured,
            size.captured, key_func=key.attr, reduce_func=reduce.attr,
            window_size_func=size.attr, **attrs(spec)), spec)
    return make


class Reducer:
    """What group_by_reducer does with the elements of a key: `init_func(key)`
    is the first state, `reduce_func(state, element)` the next, and
    `finalize_func(state)` the element that comes out."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func = init_func
        self._reduce_func = reduce_func
        self._finalize_func = finalize_func

    init_func = property(lambda self: self._init_func)
    reduce_func = property(lambda self: self._reduce_func)
    finalize_func = property(lambda self: self._finalize_func)


def group_by_reducer(key_func, reducer):
    """What a Reducer makes of the elements of each int64 key_func(element), in
    the order of the keys. Made of group_by_window: the elements are kept until
    the end of the dataset. ValueError for keys of another type."""
    def group(key, elements):
        state = elements.reduce(reducer.init_func(key), reducer.reduce_func)
        result = (reducer.finalize_func(*state) if type(state) is tuple
                  else reducer.finalize_func(state))
        return Dataset.from_tensors(result)

    def make(dataset):
        key = ElementFunction(key_func, dataset._spec).spec
        if not (isinstance(key, TensorLeaf) and key.dtype == _dtypes.int64
                and key.shape.is_compatible_with(TensorShape([]))):
            raise ValueError(
                "`key_func` must return a single tf.int64 tensor. Got type=%s "
                "and shape=%s" % (map_leaves(lambda leaf: leaf.type, key),
                                  map_leaves(lambda leaf: leaf.shape, key)))
        return dataset.apply(group_by_window(
            key_func, group, window_size=np.iinfo(np.int64).max))
    return make


def dense_to_sparse_batch(batch_size, row_shape):
    """Batches of tensors of one rank and any sizes, as SparseTensors whose rows
    have `row_shape`; a size that is None there is the largest of the batch.
    TypeError for elements of several parts; a run raises
    InvalidArgumentError for an element that is larger than a row."""
    rows = TensorShape(row_shape)

    def sparse(x):
        x.set_shape([None] * rows.ndims)
        sizes = _raw.Shape(x, out_type=_dtypes.int64)
        limits = convert_to_tensor(
            [-1 if d is None else d for d in rows.as_list()],
            dtype=_dtypes.int64)
        fits = _raw.All(_raw.LogicalOr(_raw.Less(limits, np.int64(0)),
                                       _raw.LessEqual(sizes, limits)), 0)
        check = Assert(fits, ["dense_to_sparse_batch: an element has the shape",
                              sizes, "; larger than a row:", limits])
        with control_dependencies([check]):
            shape = _raw.Select(_raw.Less(limits, np.int64(0)), sizes, limits)
        return SparseTensor(_raw.Where(_raw.Fill(sizes, True)),
                            _raw.Reshape(x, [-1]), shape)

    def make(dataset):
        if not isinstance(dataset._spec, TensorLeaf):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a "
                "single component, whereas the input has %r."
                % (dataset.output_types,))
        made = dataset.map(sparse).batch(batch_size)
        made._spec.shape = TensorShape([None]).concatenate(rows)
        return made
    return make


def copy_to_device(target_device, source_device="/cpu:0"):
    """Elements on `target_device`. Datasets run on the CPU here, and an element
    is copied to the device of what reads it when it does: the dataset stays as
    it is."""
    return lambda dataset: dataset


def prefetch_to_device(device, buffer_size=None):
    """copy_to_device, with `buffer_size` elements made ahead; None lets the
    dataset choose."""
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(
        buffer_size)


def Counter(start=0, step=1, dtype=_dtypes.int64):
    """start, start + step, and so on without end."""
    first = convert_to_tensor(start, dtype=dtype, name="start")
    more = convert_to_tensor(step, dtype=dtype, name="step")
    return Dataset.from_tensors(0).repeat(None).apply(
        scan(first, lambda state, _: (state + more, state)))


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
    with name_scope("bucket_by_seq_length"):
        sizes = as_int64(bucket_batch_sizes, "Const")
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
                                  for d in plain_dims(TensorShape(shape))]) \
                    if TensorShape(shape).ndims else shape
            shapes = pack(group._spec, leaves_like(group._spec, shapes, filled))
        return group.padded_batch(batch_size(bucket), shapes, padding_values,
                                  drop_remainder)
    return group_by_window(bucket_of, batches, window_size_func=batch_size)


def choose_from_datasets(datasets, choice_dataset):
    """Elements of `datasets`, of which one the int64 scalars of
    `choice_dataset` say."""
    if not datasets:
        raise ValueError("`datasets` must have at least one dataset.")
    if choice_dataset.output_types != _dtypes.int64 or (
            not choice_dataset.output_shapes.is_compatible_with([])):
        raise TypeError("`choice_dataset` must be a dataset of scalar "
                        "`tf.int64` tensors, got %s" % (choice_dataset,))
    spec = datasets[0]._spec
    for d in datasets[1:]:
        if d.output_types != datasets[0].output_types:
            raise TypeError("All datasets must have the same type: %s and %s."
                            % (datasets[0].output_types, d.output_types))
        spec = map_leaves(lambda a, b: a.widened(b), spec, d._spec)
    return Dataset(_raw.DirectedInterleaveDataset(
        choice_dataset._variant_tensor, [d._variant_tensor for d in datasets],
        **attrs(spec)), spec)


def sample_from_datasets(datasets, weights=None, seed=None):
    """Elements of `datasets` at random, with the given weights: a vector, or a
    dataset of vectors, of which each is for one element."""
    if isinstance(weights, Dataset):
        def choose_by(pair, given):
            return _choose(pair, _array.expand_dims(
                _raw.Log(given, name="logits"), 0))
        choice = Dataset.zip((_pairs(seed), weights)).map(choose_by)
        return choose_from_datasets(datasets, choice)
    if weights is None:
        logits = np.log(np.full([1, len(datasets)], 1 / len(datasets),
                                np.float32))
    else:
        weights = convert_to_tensor(weights, name="weights")
        if not weights.get_shape().is_compatible_with([len(datasets)]):
            raise ValueError("`weights` must be a vector of length %d."
                             % len(datasets))
        # A weight of 0: never.
        logits = _array.expand_dims(_raw.Log(weights, name="logits"), 0)

    return choose_from_datasets(datasets, _pairs(seed).map(
        lambda pair: _choose(pair, logits)))


def _pairs(seed):
    """The pairs of seeds by which datasets are drawn."""
    return RandomDataset(seed).batch(2, drop_remainder=True)


def _choose(pair, logits):
    """The number of a dataset, by logits of the shape [1, datasets]."""
    return _raw.Squeeze(_raw.StatelessMultinomial(
        logits, 1, pair, output_dtype=_dtypes.int64))


def RandomDataset(seed=None):
    """Random int64 numbers in [0, 2**32), without end."""
    spec = TensorLeaf(_dtypes.int64, [])
    return Dataset(_raw.RandomDataset(*seeds(seed), **attrs(spec)), spec)
