"""Input pipelines of queues: producers of file names, ranges and slices, and
batches of what comes out of them. start_queue_runners fills them."""
from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.control.control_flow import (
    Assert, cond, smart_cond)
from headrace._src.flow import queues as _queues
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.ops.sparse_tensor import (
    SparseTensor, convert_to_tensor_or_sparse_tensor)
from headrace._src.sparse.sparse_ops import sparse_retain
from headrace._src.training import summary as _summary
from headrace._src.training.coordinator import QueueRunner, add_queue_runner
from headrace._src.variables import variables as _variables


def limit_epochs(tensor, num_epochs=None, name=None):
    """`tensor`, `num_epochs` times, then OutOfRange. The count is a local
    variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with _graph.name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = _variables.Variable(
            constant(0, dtype=_dtypes.int64), trainable=False, name="epochs",
            use_resource=False,
            collections=[_graph.GraphKeys.LOCAL_VARIABLES])
        count = epochs.count_up_to(num_epochs)
        with _graph.control_dependencies([count]):
            return _raw.Identity(tensor, name=scope)


def match_filenames_once(pattern, name=None):
    """A local variable with the names of the files that match, as they were
    when it was initialized."""
    with _graph.name_scope(name, "matching_filenames", [pattern]) as scope:
        return _variables.Variable(
            _raw.MatchingFiles(convert_to_tensor(pattern, _dtypes.string)),
            trainable=False, validate_shape=False, name=scope,
            collections=[_graph.GraphKeys.LOCAL_VARIABLES])


def _summarize_fill(queue, name, capacity, at_least=None):
    """A summary of the share of the queue's places above `at_least` that are
    taken."""
    size = queue.size()
    if at_least is not None:
        size = _math.maximum(0, size - at_least)
        capacity -= at_least
    _summary.scalar(name, _math.cast(size, _dtypes.float32)
                    * (1. / capacity))


def input_producer(input_tensor, element_shape=None, num_epochs=None,
                   shuffle=True, seed=None, capacity=32, shared_name=None,
                   summary_name=None, name=None, cancel_op=None):
    """A queue of the rows of a tensor, in turn or shuffled each time.
    `summary_name`: a summary of how full it is."""
    with _graph.name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.get_shape()[1:].merge_with(TensorShape(element_shape))
        if not shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined "
                             "shape or `element_shape` must be specified")
        if shuffle:
            rows = _random.random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = _queues.FIFOQueue(capacity, [rows.dtype.base_dtype], [shape],
                                  shared_name=shared_name, name=name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])],
                                     cancel_op=cancel_op))
        if summary_name is not None:
            _summarize_fill(queue, summary_name, capacity)
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True,
                          seed=None, capacity=32, shared_name=None, name=None,
                          cancel_op=None):
    """A queue of strings, such as the names of files, which a QueueRunner fills
    `num_epochs` times or for ever, shuffled each time by `shuffle`.

    `string_tensor`: strings [n]; each dequeued one is a scalar string. With
    `num_epochs` a local variable counts, and the run ends with OutOfRangeError.
    ValueError for an empty list; InvalidArgumentError in the run for one that
    turns out empty."""
    message = "string_input_producer requires a non-null input tensor"
    if isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError(message)
    with _graph.name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, _dtypes.string)
        with _graph.control_dependencies([
                Assert(_math.greater(_array.size(strings), 0),
                             [message])]):
            strings = _array.identity(strings)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity,
                              shared_name, "fraction_of_%d_full" % capacity, scope,
                              cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    """A queue of the integers below `limit`, shuffled each time by `shuffle`,
    `num_epochs` times or for ever.

    `limit`: a scalar int32; each dequeued one is a scalar int32. A run raises
    OutOfRangeError after the last. ValueError for a name that nodes may not
    have."""
    with _graph.name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(_math.range(limit), [], num_epochs, shuffle, seed,
                              capacity, shared_name,
                              "fraction_of_%d_full" % capacity, scope)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    """One slice of each tensor, all at the same index, in the order of their
    indices or shuffled, through a queue.

    `tensor_list`: tensors [n, ...] of any types; the results are of the same
    types, without the first dimension. ValueError for an empty list;
    InvalidArgumentError in the run for a tensor that is shorter than the first;
    OutOfRangeError in the run after `num_epochs`."""
    with _graph.name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in "
                             "slice_input_producer().")
        queue = range_input_producer(_array.shape(tensors[0])[0], num_epochs,
                                     shuffle, seed, capacity, shared_name)
        index = queue.dequeue()
        return [_array.gather(t, index) for t in tensors]


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False,
          shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
          shared_name=None, name=None):
    """Batches of the values of `tensors` in successive runs, through a queue
    that `num_threads` threads fill.

    `tensors`: a list or dict of tensors of any types, whose shapes are known,
    unless `dynamic_pad` fills them up to the largest. The results are alike,
    with `batch_size` (or, if `allow_smaller_final_batch`, None) as a first
    dimension; with `enqueue_many` the first dimension of the tensors is that of
    examples. ValueError for unknown shapes or no tensors; OutOfRangeError in
    the run once the inputs are at their end."""
    return _batch([tensors] * num_threads, True, batch_size, capacity, None,
                  None, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch")


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32,
                enqueue_many=False, shapes=None, dynamic_pad=False,
                allow_smaller_final_batch=False, shared_name=None, name=None):
    """As batch, for the inputs that `keep_input` keeps: a bool, or with
    enqueue_many one bool for each row."""
    return _batch([tensors] * num_threads, keep_input, batch_size, capacity,
                  None, None, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch")


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False,
               shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
               shared_name=None, name=None):
    """As batch, with a thread for each of several lists of tensors."""
    return _batch(tensors_list, True, batch_size, capacity, None, None,
                  enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  shared_name, name, "batch_join")


def maybe_batch_join(tensors_list, keep_input, batch_size, capacity=32,
                     enqueue_many=False, shapes=None, dynamic_pad=False,
                     allow_smaller_final_batch=False, shared_name=None,
                     name=None):
    """As batch_join, for the inputs that `keep_input` keeps."""
    return _batch(tensors_list, keep_input, batch_size, capacity, None, None,
                  enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  shared_name, name, "batch_join")


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue,
                  num_threads=1, seed=None, enqueue_many=False, shapes=None,
                  allow_smaller_final_batch=False, shared_name=None,
                  name=None):
    """As batch, in random order: examples are drawn from a queue of `capacity`,
    in which at least `min_after_dequeue` stay.

    `tensors`: a list or dict of tensors of any types, with known shapes; the
    results are alike, with `batch_size` as a first dimension. `seed`: an int.
    ValueError for unknown shapes or no tensors; OutOfRangeError in the run once
    the inputs are at their end."""
    return _batch([tensors] * num_threads, True, batch_size, capacity,
                  min_after_dequeue, seed, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name, "shuffle_batch")


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue,
                        keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None,
                        allow_smaller_final_batch=False, shared_name=None,
                        name=None):
    """As shuffle_batch, for the inputs that `keep_input` keeps."""
    return _batch([tensors] * num_threads, keep_input, batch_size, capacity,
                  min_after_dequeue, seed, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name, "shuffle_batch")


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue,
                       seed=None, enqueue_many=False, shapes=None,
                       allow_smaller_final_batch=False, shared_name=None,
                       name=None):
    """As batch_join, in random order."""
    return _batch(tensors_list, True, batch_size, capacity, min_after_dequeue,
                  seed, enqueue_many, shapes, False, allow_smaller_final_batch,
                  shared_name, name, "shuffle_batch_join")


def maybe_shuffle_batch_join(tensors_list, batch_size, capacity,
                             min_after_dequeue, keep_input, seed=None,
                             enqueue_many=False, shapes=None,
                             allow_smaller_final_batch=False, shared_name=None,
                             name=None):
    """As shuffle_batch_join, for the inputs that `keep_input` keeps."""
    return _batch(tensors_list, keep_input, batch_size, capacity,
                  min_after_dequeue, seed, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name,
                  "shuffle_batch_join")


def _tensors(source):
    """The keys, or None, and the components of one element."""
    keys = None
    if isinstance(source, dict):
        keys = sorted(source, key=str)
        source = [source[k] for k in keys]
    elif not isinstance(source, (list, tuple)):
        source = [source]
    if not source:
        raise ValueError("Expected at least one tensor in batch().")
    return keys, [convert_to_tensor_or_sparse_tensor(t) for t in source]


class _Stored:
    """A SparseTensor component: the queue holds handles of what `map_op` and
    its like keep in a map of the session."""

    def __init__(self, map_op, rank):
        self._map_op = map_op
        self._rank = rank

    @staticmethod
    def store(value, enqueue_many, keep_input, stored=None):
        """(handles, _Stored) of a SparseTensor, which goes to the map of
        `stored` if there is one. What is not kept is not stored: its handle
        is -1."""
        op, rank = _raw.AddSparseToTensorsMap, value.get_shape().ndims
        rows = value.dense_shape[:1] if enqueue_many else None
        if enqueue_many:
            op, rank = _raw.AddManySparseToTensorsMap, rank and rank - 1
        if keep_input.get_shape().ndims == 1:
            kept = _array.gather(keep_input, value.indices[:, 0])
            value, keep_input = sparse_retain(value, kept), constant(True)
        made = []

        def add():
            handles = op(value.indices, value.values, value.dense_shape,
                         shared_name=stored._map_op.name if stored else "")
            made.append(handles.op)
            return handles

        def missing():
            none = constant(-1, _dtypes.int64)
            return none if rows is None else _array.fill(rows, none)
        # A known keep_input decides on the enqueue operation alone.
        handles = (cond(keep_input, add, missing)
                   if constant_value(keep_input) is None else add())
        if enqueue_many:
            handles.set_shape([None])
        if stored is None:
            stored = _Stored(made[0], rank)
        elif None not in (rank, stored._rank) and rank != stored._rank:
            raise ValueError("Inconsistent SparseTensors: a rank of %d and one "
                             "of %d" % (stored._rank, rank))
        return _array.expand_dims(handles, -1), stored

    def restore(self, handles):
        """The SparseTensors behind a vector of handles as one."""
        op = self._map_op
        with _graph.colocate_with(op):
            indices, values, shape = _raw.TakeManySparseFromTensorsMap(
                _raw.Squeeze(handles, squeeze_dims=[1]),
                dtype=op.get_attr("T"), container=op.get_attr("container"),
                shared_name=op.get_attr("shared_name") or op.name)
        if self._rank is not None:
            indices.set_shape([None, self._rank + 1])
            shape.set_shape([self._rank + 1])
        return SparseTensor(indices, values, shape)


def store_all(elements, enqueue_many, keep_input):
    """The components with handles for SparseTensors, and for each component
    the _Stored or None. `elements`: lists of components."""
    stored = [None] * len(elements[0])
    for element in elements[1:]:
        if [isinstance(t, SparseTensor) for t in element] != [
                isinstance(t, SparseTensor) for t in elements[0]]:
            raise ValueError("Inconsistent SparseTensors list: %s vs. %s"
                             % (elements[0], element))
    out = []
    for element in elements:
        out.append(list(element))
        for i, t in enumerate(element):
            if isinstance(t, SparseTensor):
                out[-1][i], stored[i] = _Stored.store(
                    t, enqueue_many, keep_input, stored[i])
    return out, stored


def restore_all(tensors, stored):
    """The SparseTensors again. All leave their maps whichever is fetched."""
    if not any(stored):
        return tensors
    values = [t if s is None else s.restore(t)
              for t, s in zip(tensors, stored)]
    wait = [v.values if isinstance(v, SparseTensor) else v for v in values]

    def after(t):
        return _flow.with_dependencies(wait, t)
    return [SparseTensor(after(v.indices), after(v.values),
                         after(v.dense_shape))
            if isinstance(v, SparseTensor) else after(v) for v in values]


def _batch(sources, keep_input, batch_size, capacity, min_after_dequeue, seed,
           enqueue_many, shapes, dynamic_pad, smaller_end, shared_name, name,
           default_name):
    if not isinstance(sources, (list, tuple)) or not sources:
        raise ValueError("Expected tensors_list, a list of at least one list "
                         "of tensors")
    with _graph.name_scope(name, default_name, []) as scope:
        keep_input = checked_keep_input(keep_input, enqueue_many)
        # The threads of one source share its nodes.
        unique = list({id(s): s for s in sources}.values())
        read = [_tensors(s) for s in unique]
        keys, first = read[0]
        if any(k != keys for k, _ in read):
            raise ValueError("All dictionaries in tensors_list must have the "
                             "same keys")
        if any(len(t) != len(first) for _, t in read):
            raise ValueError("All elements of tensors_list must have the same "
                             "number of tensors")
        elements, stored = store_all([t for _, t in read], enqueue_many,
                                      keep_input)
        types = [t.dtype.base_dtype for t in elements[0]]
        for tensors in elements:
            if [t.dtype.base_dtype for t in tensors] != types:
                raise TypeError("Expected types to be consistent: %s vs. %s."
                                % (", ".join(t.name for t in types), ", ".join(
                                    t.dtype.name for t in tensors)))
        if shapes is None:
            shapes = [_common_shape([t[i] for t in elements], enqueue_many,
                                    dynamic_pad)
                      for i in range(len(types))]
        if min_after_dequeue is not None:
            queue = _queues.RandomShuffleQueue(
                capacity, min_after_dequeue, types, shapes, seed=seed,
                shared_name=shared_name)
        elif dynamic_pad:
            queue = _queues.PaddingFIFOQueue(capacity, types, shapes,
                                             shared_name=shared_name)
        else:
            queue = _queues.FIFOQueue(capacity, types, shapes,
                                      shared_name=shared_name)
        fills = {id(s): _enqueue(queue, t, keep_input, enqueue_many)
                 for s, t in zip(unique, elements)}
        add_queue_runner(QueueRunner(queue, [fills[id(s)] for s in sources]))
        if min_after_dequeue is None:
            _summarize_fill(queue, "fraction_of_%d_full" % capacity, capacity)
        elif capacity > min_after_dequeue:
            above = capacity - min_after_dequeue
            _summarize_fill(
                queue, "fraction_over_%d_of_%d_full" % (
                    min_after_dequeue, above), capacity, min_after_dequeue)
        out = (queue.dequeue_up_to if smaller_end
               else queue.dequeue_many)(batch_size, name=scope)
        out = restore_all(out if isinstance(out, list) else [out], stored)
        if keys is not None:
            return dict(zip(keys, out))
        return out if len(out) > 1 else out[0]


def _common_shape(tensors, enqueue_many, dynamic_pad):
    for t in tensors:
        if t.get_shape().ndims is None:
            raise ValueError("Cannot infer Tensor's rank: %s" % t)
    shapes = [t.get_shape().with_rank_at_least(1)[1:] if enqueue_many
              else t.get_shape() for t in tensors]
    shape = shapes[0]
    for other in shapes[1:]:
        merged = shape.merge_with(other)
        shape = merged if not dynamic_pad else TensorShape(
            [a if a == b else None for a, b in zip(shape.as_list(),
                                                   other.as_list())])
    return shape


def checked_keep_input(keep_input, enqueue_many):
    keep_input = convert_to_tensor(keep_input, _dtypes.bool_)
    rank = keep_input.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph "
                         "construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when "
                         "`enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _enqueue(queue, tensors, keep_input, enqueue_many):
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.get_shape().ndims:
        return put([_array.boolean_mask(t, keep_input) for t in tensors])
    return smart_cond(keep_input, lambda: put(tensors), _array.no_op)
