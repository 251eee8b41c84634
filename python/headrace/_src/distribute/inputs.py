"""Data for the replicas of a strategy: iterators that give each replica its
own batch."""
from headrace import raw_ops as _raw
from headrace._src.data.datasets import Dataset
from headrace._src.data.elements import attrs, flatten, pack_values
from headrace._src.distribute.values import regroup
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, device
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.sparse.sparse_ops import sparse_slice


def split_batches(dataset, replicas):
    """Each batch as `replicas` batches, the last of which may be smaller, or
    empty. ValueError for elements that are no batches."""
    if replicas == 1:
        return dataset
    shapes = [leaf.shape for leaf in flatten(dataset._spec)]
    for shape in shapes:
        if shape.ndims == 0:
            raise ValueError("Input shape should have at least one dimension. "
                             "Perhaps your input dataset is not batched?")
    sizes = [s.as_list()[0] if s.ndims else None for s in shapes]
    static = [None if size is None or size % replicas else size // replicas
              for size in sizes]

    def parts(*batch):
        batch = batch[0] if len(batch) == 1 else batch
        values = nest.flatten(batch)
        rows = (values[0].dense_shape if isinstance(values[0], SparseTensor)
                else _array.shape(values[0], out_type=dtypes.int64))[0]
        part = (rows + (replicas - 1)) // replicas

        def of_replica(number):
            begin = _math.minimum(number * part, rows)
            end = _math.minimum(begin + part, rows)
            return nest.pack_sequence_as(batch, [
                _rows(x, begin, end, n) for x, n in zip(values, static)])
        return Dataset.range(replicas).map(of_replica)
    return dataset.flat_map(parts)


def _rows(x, begin, end, static):
    if isinstance(x, SparseTensor):
        start = _array.zeros_like(x.dense_shape)
        one = _array.one_hot(0, _array.size(start), dtype=dtypes.int64)
        return sparse_slice(x, one * begin, x.dense_shape * (1 - one)
                            + one * (end - begin))
    rows = x[begin:end]
    if static is not None:
        rows.set_shape([static] + x.shape.as_list()[1:])
    return rows


class DistributedIterator:
    """The elements of a data set, in turn for the replicas on `devices`.
    OutOfRangeError if there is none for one of them."""

    def __init__(self, dataset, devices, host):
        self._devices = devices
        self._host = host
        with device(host):
            self._iterator = dataset.make_initializable_iterator()

    def initialize(self):
        """The operation that begins with the first element."""
        return self._iterator.initializer

    initializer = property(initialize)
    _initializer = initializer

    def get_next(self, name=None):
        """The next element of each replica."""
        if len(self._devices) == 1:
            with device(self._host):
                return self._iterator.get_next(name)
        iterator = self._iterator
        spec = iterator._spec
        elements, before = [], []
        # Replicas take elements in their order, all or none.
        for _ in self._devices:
            with device(self._host), control_dependencies(before):
                taken = _raw.IteratorGetNext(iterator._iterator_resource,
                                             name=name, **attrs(spec))
            taken = taken if isinstance(taken, (list, tuple)) else [taken]
            before = [taken[0].op]
            elements.append(taken)
        replicas = []
        with control_dependencies(before):
            for where, taken in zip(self._devices, elements):
                with device(where):
                    replicas.append(pack_values(
                        spec, [_array.identity(t) for t in taken]))
        return regroup(self._devices, replicas)

    output_types = property(lambda self: self._iterator.output_types)
    output_shapes = property(lambda self: self._iterator.output_shapes)
    output_classes = property(lambda self: self._iterator.output_classes)


class _FunctionIterator:
    """What a function returns, called once for each replica."""

    def __init__(self, function, devices, host):
        self._function = function
        self._devices = devices
        self._host = host

    def initialize(self):
        """Nothing is to be done."""
        return _raw.NoOp()

    initializer = property(initialize)

    def get_next(self, name=None):
        """The next element of each replica."""
        with device(self._host):
            return regroup(self._devices,
                           [self._function() for _ in self._devices])


def of_function(input_fn, context, devices, host):
    """An iterator of what input_fn(context) returns, a data set or a function.
    ValueError for other things."""
    with device(host):
        source = input_fn(context)
        if isinstance(source, Dataset):
            return DistributedIterator(source, devices, host)
        if callable(source):
            return _FunctionIterator(source, devices, host)
    raise ValueError("input_fn must return a tf.data.Dataset or a callable, "
                     "got %r" % (source,))


class DistributedDataset:
    """A data set whose iterators give each replica its own batch."""

    def __init__(self, dataset, devices, host):
        self._dataset = dataset
        self._arguments = dataset, devices, host

    def make_initializable_iterator(self):
        """An iterator that `initialize()` sets to the first element."""
        return DistributedIterator(*self._arguments)

    _make_initializable_iterator = make_initializable_iterator

    def make_one_shot_iterator(self):
        """Raises ValueError: the iterator must be initialised."""
        raise ValueError("Cannot create a one shot iterator. Please use "
                         "`make_initializable_iterator()` instead.")

    _make_one_shot_iterator = make_one_shot_iterator

    def __iter__(self):
        raise RuntimeError("__iter__() is only supported inside of tf.function "
                           "or when eager execution is enabled.")

    element_spec = property(lambda self: self._dataset.element_spec)
    output_types = property(lambda self: self._dataset.output_types)
    output_shapes = property(lambda self: self._dataset.output_shapes)
    output_classes = property(lambda self: self._dataset.output_classes)
