"""Input pipelines that sort elements into buckets: a queue for each bucket, and
one more queue of their batches. start_queue_runners fills them."""
import functools as _functools

import numpy as _np

from headrace._src.control import control_flow_ops as _flow
from headrace._src.control.control_flow import cond, smart_cond
from headrace._src.flow import queues as _queues
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import errors as _errors
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import (
    constant, constant_value, convert_to_tensor)
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor
from headrace._src.training import summary as _summary
from headrace._src.training.coordinator import QueueRunner, add_queue_runner
from headrace._src.training.input_pipelines import (
    checked_keep_input, restore_all, store_all)


def bucket(tensors, which_bucket, batch_size, num_buckets, num_threads=1,
           capacity=32, bucket_capacities=None, shapes=None, dynamic_pad=False,
           allow_smaller_final_batch=False, keep_input=True, shared_name=None,
           name=None):
    """Batches of elements of the same bucket.

    Each run of the queue's threads puts `tensors` into the bucket
    `which_bucket`, a scalar int32 in [0, num_buckets), if the scalar bool
    `keep_input` is true. A bucket with `batch_size` elements is a batch, which
    goes to a queue of `capacity` batches.

    `tensors`: a list or dict of tensors or SparseTensors of any types. Their
    shapes, or `shapes`, are fully known, unless `dynamic_pad` fills elements up
    to the largest of a batch. `batch_size`: an int, a scalar int32, or a list
    with one of them for each bucket. `bucket_capacities`: a list of the most
    elements of each bucket, in place of `capacity`.

    Returns the batch's bucket, a scalar int32, and a list or dict like
    `tensors` (a tensor if there is one), whose first dimension is
    `batch_size`, or None for a list of sizes or if
    `allow_smaller_final_batch`, which keeps what is left at the end.

    ValueError for unknown shapes, no tensors, or a list that has not
    `num_buckets` elements; TypeError for tensors that are no list or dict;
    OutOfRangeError in the run once the inputs are at their end."""
    by_bucket = isinstance(batch_size, (list, tuple))
    sizes = list(batch_size) if by_bucket else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError(
            "bucket: If batch_size is a list it must have num_buckets elements: "
            "got %d, wanted %d" % (len(sizes), num_buckets))
    if bucket_capacities is None:
        bucket_capacities = [capacity] * num_buckets
    if len(bucket_capacities) != num_buckets:
        raise ValueError(
            "bucket: The list bucket_capacities (%s) must have exactly "
            "num_buckets (%d) elements." % (bucket_capacities, num_buckets))
    keys, values = _components(tensors)
    with _graph.name_scope(name, "bucket", values):
        element = [convert_to_tensor_or_sparse_tensor(v) for v in values]
        if not element:
            raise ValueError("Expected at least one tensor in bucket().")
        keep_input = checked_keep_input(keep_input, False)
        [element], stored = store_all([element], False, keep_input)
        sizes = [_size(size) for size in sizes]
        types = [t.dtype.base_dtype for t in element]
        if shapes is None:
            shapes = [_shape(t) for t in element]
        which = convert_to_tensor(which_bucket, _dtypes.int32,
                                  name="which_bucket")
        make = _queues.PaddingFIFOQueue if dynamic_pad else _queues.FIFOQueue
        buckets = [
            make(bucket_capacities[i], types, shapes, name="bucket_queue_%d" % i,
                 shared_name=None if shared_name is None else "%s_%d" % (
                     shared_name, i))
            for i in range(num_buckets)]
        first = (sizes[-1] if not (allow_smaller_final_batch or by_bucket)
                 and isinstance(sizes[-1], int) else None)
        # The first dimension may be unknown, which only this kind allows.
        batches = _queues.PaddingFIFOQueue(
            capacity, [_dtypes.int32, *types], [
                TensorShape([]),
                *(TensorShape([first]).concatenate(TensorShape(s))
                  for s in buckets[0].shapes)],
            shared_name=shared_name, name="top_queue")
        fill = smart_cond(
            keep_input, _functools.partial(_enqueue, buckets, which, element),
            _array.no_op)
        move = [_move(i, queue, size, batches, allow_smaller_final_batch)
                for i, (queue, size) in enumerate(zip(buckets, sizes))]
        _run(buckets[0], move, batches.close)
        _run(batches, [fill] * num_threads, lambda *cancel: _flow.group(
            *[q.close(*cancel) for q in buckets]))
        for queue in buckets:
            _summary.scalar("bucket/%s/size" % queue.name,
                            _math.cast(batches.size(), _dtypes.float32))
        _summary.scalar(
            "bucket/%s/fraction_of_%d_full" % (batches.name, capacity),
            _math.cast(batches.size(), _dtypes.float32) * (1. / capacity))
        which, *out = batches.dequeue(name="dequeue_top")
        return which, _like(keys, restore_all(out, stored))


def bucket_by_sequence_length(
        input_length, tensors, batch_size, bucket_boundaries, num_threads=1,
        capacity=32, bucket_capacities=None, shapes=None, dynamic_pad=False,
        allow_smaller_final_batch=False, keep_input=True, shared_name=None,
        name=None):
    """Batches of elements of about the same length.

    As bucket, with a bucket for lengths below the first of the ints
    `bucket_boundaries`, one from each of them up to the next, and one from the
    last on. Lists of sizes and capacities have one element more than
    `bucket_boundaries`.

    `input_length`: a scalar int32, the length of this element of `tensors`, a
    list or dict.

    Returns the lengths of the batch's elements, int32 [batch_size], and the
    batch, a list or dict like `tensors`.

    TypeError for boundaries that are no list of ints; ValueError for none, for
    some that do not increase, and for what bucket refuses; OutOfRangeError in
    the run once the inputs are at their end."""
    keys, values = _components(tensors)
    _check_boundaries(bucket_boundaries)
    with _graph.name_scope(name, "bucket_by_sequence_length",
                           [input_length, *values]):
        length = convert_to_tensor(input_length, _dtypes.int32,
                                   name="input_length")
        limits = _np.iinfo(_np.int32)
        inside = _math.logical_and(
            _math.less_equal([limits.min, *bucket_boundaries], length),
            _math.less(length, [*bucket_boundaries, limits.max]))
        which = _math.cast(_math.reduce_min(_array.where_v2(inside)),
                           _dtypes.int32)
        if shapes is not None:
            shapes = [TensorShape([]), *shapes]
        _, (lengths, *out) = bucket(
            [length, *values], which, batch_size, len(bucket_boundaries) + 1,
            num_threads, capacity, bucket_capacities, shapes, dynamic_pad,
            allow_smaller_final_batch, keep_input, shared_name)
        return lengths, out if keys is None else dict(zip(keys, out))


def _components(tensors):
    """The keys, or None, and the values of a list or dict."""
    if isinstance(tensors, dict):
        keys = sorted(tensors, key=str)
        return keys, [tensors[k] for k in keys]
    if not isinstance(tensors, (list, tuple)):
        raise TypeError("bucket: tensors must be a list or a dict of tensors, "
                        "got %r" % (tensors,))
    return None, list(tensors)


def _like(keys, out):
    if keys is not None:
        return dict(zip(keys, out))
    return out if len(out) > 1 else out[0]


def _check_boundaries(boundaries):
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError("bucket_boundaries must be a list or tuple, but "
                        "received: %s" % (boundaries,))
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in zip(boundaries, boundaries[1:]):
        if not (isinstance(low, int) and isinstance(high, int)):
            raise TypeError("bucket boundaries must be integers, but saw: %s "
                            "and %s" % (low, high))
        if low >= high:
            raise ValueError("Buckets must contain sequential increasing "
                             "lengths, but saw: %d before %d" % (low, high))


def _size(size):
    """A batch size as an int, or as a tensor if it is not known."""
    size = convert_to_tensor(size, _dtypes.int32, name="batch_size")
    known = constant_value(size)
    return size if known is None else int(known)


def _shape(tensor):
    shape = tensor.get_shape()
    if shape.ndims is None:
        raise ValueError("Cannot infer Tensor's rank: %s" % tensor)
    return shape


def _enqueue(buckets, which, element):
    """An operation that puts `element` into one of the buckets."""
    return _flow.group(*[
        cond(_math.equal(which, i),
             _functools.partial(queue.enqueue, element), _array.no_op)
        for i, queue in enumerate(buckets)], name="group_enqueues")


def _move(index, queue, size, batches, smaller_end):
    """An operation that moves a batch out of the bucket `queue`."""
    number = constant(index)
    read = queue.dequeue_up_to if smaller_end else queue.dequeue_many
    batch = read(size, name="read_bucket_%d" % index)
    return batches.enqueue(
        [number, *(batch if isinstance(batch, list) else [batch])],
        name="enqueue_from_bucket_%d" % index)


def _run(source, operations, close):
    """Adds a QueueRunner of the queue `source` for operations that fill others.
    `close` makes the operation that closes those."""
    add_queue_runner(QueueRunner(
        source, operations, close_op=close(), cancel_op=close(True),
        queue_closed_exception_types=(_errors.OutOfRangeError,
                                      _errors.CancelledError)))
