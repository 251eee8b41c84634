"""Input pipelines of queues: producers of file names, ranges and slices, and
batches of what comes out of them. start_queue_runners fills them."""
from headrace import array_ops as _array
from headrace import control_flow_ops as _flow
from headrace import dtypes as _dtypes
from headrace import graph as _graph
from headrace import math_ops as _math
from headrace import queues as _queues
from headrace import random_ops as _random
from headrace import raw_ops as _raw
from headrace import variables as _variables
from headrace.control_flow import cond
from headrace.coordinator import QueueRunner, add_queue_runner
from headrace.tensor import constant_value, convert_to_tensor
from headrace.tensor_shape import TensorShape


def limit_epochs(tensor, num_epochs=None, name=None):
    """`tensor`, `num_epochs` times, then OutOfRange. The count is a local
    variable."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with _graph.name_scope(name, "limit_epochs", [tensor]):
        epochs = _variables.Variable(
            0, trainable=False, name="epochs", dtype=_dtypes.int64,
            use_resource=False,
            collections=[_graph.GraphKeys.LOCAL_VARIABLES])
        count = epochs.count_up_to(num_epochs)
        with _graph.control_dependencies([count]):
            return _raw.Identity(tensor, name="limited")


def match_filenames_once(pattern, name=None):
    """A local variable with the names of the files that match, as they were
    when it was initialized."""
    with _graph.name_scope(name, "matching_filenames", [pattern]):
        return _variables.Variable(
            _raw.MatchingFiles(convert_to_tensor(pattern, _dtypes.string)),
            trainable=False, validate_shape=False, name="matching_filenames",
            collections=[_graph.GraphKeys.LOCAL_VARIABLES])


def input_producer(input_tensor, element_shape=None, num_epochs=None,
                   shuffle=True, seed=None, capacity=32, shared_name=None,
                   summary_name=None, name=None, cancel_op=None):
    """A queue of the rows of a tensor, in turn or shuffled each time."""
    del summary_name  # what it would name is not made
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
                                  shared_name=shared_name)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])],
                                     cancel_op=cancel_op))
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True,
                          seed=None, capacity=32, shared_name=None, name=None,
                          cancel_op=None):
    """A queue of strings, such as the names of files."""
    message = "string_input_producer requires a non-null input tensor"
    if isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError(message)
    with _graph.name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, _dtypes.string)
        with _graph.control_dependencies([
                _flow.Assert(_math.greater(_array.size(strings), 0),
                             [message])]):
            strings = _array.identity(strings)
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity,
                              shared_name, None, scope, cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    """A queue of the integers below `limit`."""
    with _graph.name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(_math.range(limit), [], num_epochs, shuffle, seed,
                              capacity, shared_name, None, scope)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None,
                         capacity=32, shared_name=None, name=None):
    """One slice of each tensor, all at the same index."""
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
    """Batches of what `tensors` give, run after run, through a queue."""
    return _batch([tensors] * num_threads, True, batch_size, capacity, None,
                  None, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name, "batch")


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32,
                enqueue_many=False, shapes=None, dynamic_pad=False,
                allow_smaller_final_batch=False, shared_name=None, name=None):
    """As batch, of what `keep_input`, a bool or with enqueue_many one for each
    row, says is to be kept."""
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
    """As batch_join, of what `keep_input` says is to be kept."""
    return _batch(tensors_list, keep_input, batch_size, capacity, None, None,
                  enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
                  shared_name, name, "batch_join")


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue,
                  num_threads=1, seed=None, enqueue_many=False, shapes=None,
                  allow_smaller_final_batch=False, shared_name=None,
                  name=None):
    """As batch, in random order."""
    return _batch([tensors] * num_threads, True, batch_size, capacity,
                  min_after_dequeue, seed, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name, "shuffle_batch")


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue,
                        keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None,
                        allow_smaller_final_batch=False, shared_name=None,
                        name=None):
    """As shuffle_batch, of what `keep_input` says is to be kept."""
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
    """As shuffle_batch_join, of what `keep_input` says is to be kept."""
    return _batch(tensors_list, keep_input, batch_size, capacity,
                  min_after_dequeue, seed, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name,
                  "shuffle_batch_join")


def _tensors(source):
    """The keys, or None, and the tensors of one element."""
    if isinstance(source, dict):
        keys = sorted(source)
        return keys, [convert_to_tensor(source[k]) for k in keys]
    if not isinstance(source, (list, tuple)):
        source = [source]
    return None, [convert_to_tensor(t) for t in source]


def _batch(sources, keep_input, batch_size, capacity, min_after_dequeue, seed,
           enqueue_many, shapes, dynamic_pad, smaller_end, shared_name, name,
           default_name):
    if not isinstance(sources, (list, tuple)) or not sources:
        raise ValueError("Expected tensors_list, a list of at least one list "
                         "of tensors")
    with _graph.name_scope(name, default_name, []):
        made = {}  # the threads of one source share its nodes
        elements = []
        for s in sources:
            if id(s) not in made:
                made[id(s)] = _tensors(s)
            elements.append(made[id(s)])
        keys, first = elements[0]
        if any(k != keys or len(t) != len(first) for k, t in elements):
            raise ValueError("All elements of tensors_list must have the same "
                             "keys and the same number of tensors")
        types = [t.dtype.base_dtype for t in first]
        for _, tensors in elements:
            if [t.dtype.base_dtype for t in tensors] != types:
                raise TypeError("Expected types to be consistent: %s and %s"
                                % (types, [t.dtype for t in tensors]))
        if shapes is None:
            shapes = [_common_shape([t[i] for _, t in elements], enqueue_many,
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
        add_queue_runner(QueueRunner(queue, [
            _enqueue(queue, t, keep_input, enqueue_many)
            for _, t in elements]))
        out = (queue.dequeue_up_to if smaller_end
               else queue.dequeue_many)(batch_size)
        if keys is not None:
            return dict(zip(keys, out if isinstance(out, list) else [out]))
        return out


def _common_shape(tensors, enqueue_many, dynamic_pad):
    shapes = [t.get_shape()[1:] if enqueue_many else t.get_shape()
              for t in tensors]
    shape = shapes[0]
    for other in shapes[1:]:
        if dynamic_pad and shape.ndims is not None and (
                other.ndims == shape.ndims):
            shape = TensorShape([a if a == b else None for a, b in zip(
                shape.as_list(), other.as_list())])
        else:
            shape = shape.merge_with(other)
    return shape


def _enqueue(queue, tensors, keep_input, enqueue_many):
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    known = keep_input if isinstance(keep_input, bool) else None
    if known is None:
        keep_input = convert_to_tensor(keep_input, _dtypes.bool_)
        known = constant_value(keep_input)
        if known is not None and known.ndim:
            known = None
    if known is not None:
        return put(tensors) if known else _array.no_op()
    if keep_input.get_shape().ndims is None:
        raise ValueError("`keep_input` dimensions must be known")
    if keep_input.get_shape().ndims:
        if not enqueue_many:
            raise ValueError("`keep_input` cannot be a vector when "
                             "`enqueue_many=False`.")
        return put([_array.boolean_mask(t, keep_input) for t in tensors])

    def enqueue():
        return _flow.group(put(tensors))
    return cond(keep_input, enqueue, _array.no_op)
