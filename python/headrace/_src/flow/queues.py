"""Queues: FIFOQueue, RandomShuffleQueue, PaddingFIFOQueue, PriorityQueue."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape, unknown_shape
from headrace._src.ops.random_ops import get_seed


def _common_shape(shapes):
    """What the shapes have in common: where they differ nothing is known."""
    ranks = {s.ndims for s in shapes}
    if len(ranks) > 1 or None in ranks:
        return unknown_shape()
    return TensorShape([sizes.pop() if len(sizes) == 1 else None
                        for sizes in map(set, zip(*(s.as_list()
                                                    for s in shapes)))])


class QueueBase:
    """A queue of elements, each one or several tensors, that nodes put in and
    take out. enqueue waits while the queue is full and dequeue while it is
    empty; a closed queue takes nothing more, and gives what it has."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = dtypes
        self._shapes = (None if shapes is None
                        else [TensorShape(s) for s in shapes])
        self._names = names
        self._queue_ref = queue_ref

    queue_ref = property(lambda self: self._queue_ref)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes or [
        TensorShape(None)] * len(self._dtypes))
    names = property(lambda self: self._names)
    name = property(lambda self: "queue" if executing_eagerly()
                    else self._queue_ref.op.name)

    @staticmethod
    def from_list(index, queues):
        """The queue that the scalar `index` picks."""
        if not queues or not isinstance(queues, list) or not all(
                isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        refs = _raw.Pack([q.queue_ref for q in queues])
        shapes = [_common_shape(component)
                  for component in zip(*(q.shapes for q in queues))]
        return QueueBase(first.dtypes, shapes, first.names,
                         _raw.GatherV2(refs, index, 0))

    def _components(self, values, many):
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a "
                                 "dictionary")
            if sorted(values) != sorted(self._names):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of "
                    "Queue.  Dictionary: (%s), Queue: (%s)"
                    % (sorted(values), sorted(self._names)))
            values = [values[k] for k in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue "
                                 "with names")
            if not isinstance(values, (list, tuple)):
                values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError("Expected %d components, got %d: %s"
                             % (len(self._dtypes), len(values), values))
        tensors = []
        for i, (value, dtype) in enumerate(zip(values, self._dtypes)):
            t = convert_to_tensor(value, dtype=dtype, name="component_%d" % i)
            shape = t.get_shape()
            if self._shapes is not None and shape.ndims is not None:
                got = TensorShape(shape.as_list()[1:]) if many else shape
                got.assert_is_compatible_with(self._shapes[i])
            tensors.append(t)
        return tensors

    def _values(self, tensors):
        if not isinstance(tensors, (list, tuple)):
            tensors = [tensors]
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else list(tensors)

    def _set_shapes(self, tensors, n):
        for t, shape in zip(tensors, self.shapes):
            if shape.ndims is not None:
                t.set_shape(shape if n is None else [n[0]] + shape.as_list())
        return tensors

    def _scope(self, name, what):
        return "%s_%s" % (self.name.split("/")[-1], what) if name is None \
            else name

    def enqueue(self, vals, name=None):
        """An operation that puts in one element: a tensor, a list of them, or
        a dict where the queue has names."""
        with _graph.name_scope(name, self._scope(None, "enqueue"),
                               [self._queue_ref]) as scope:
            return _raw.QueueEnqueueV2(self._queue_ref,
                                       self._components(vals, False),
                                       name=scope)

    def enqueue_many(self, vals, name=None):
        """An operation that puts in every slice of `vals`."""
        with _graph.name_scope(name, self._scope(None, "EnqueueMany"),
                               [self._queue_ref]) as scope:
            return _raw.QueueEnqueueManyV2(self._queue_ref,
                                           self._components(vals, True),
                                           name=scope)

    def dequeue(self, name=None):
        """One element."""
        out = _raw.QueueDequeueV2(self._queue_ref,
                                  component_types=self._dtypes,
                                  name=self._scope(name, "Dequeue"))
        return self._values(self._set_shapes(out, None))

    def dequeue_many(self, n, name=None):
        """`n` elements as one, stacked; OutOfRange if a closed queue has
        fewer."""
        size = constant_value(n) if not isinstance(n, int) else n
        out = _raw.QueueDequeueManyV2(self._queue_ref, n,
                                      component_types=self._dtypes,
                                      name=self._scope(name, "DequeueMany"))
        return self._values(self._set_shapes(
            out, [None if size is None else int(size)]))

    def dequeue_up_to(self, n, name=None):
        """`n` elements stacked, or what is left when the queue is closed."""
        out = _raw.QueueDequeueUpToV2(self._queue_ref, n,
                                      component_types=self._dtypes,
                                      name=self._scope(name, "DequeueUpTo"))
        return self._values(self._set_shapes(out, [None]))

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation that ends the queue; those that wait to put something
        in still do, unless they are cancelled."""
        return _raw.QueueCloseV2(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues,
            name=self._scope(name, "Close"))

    def is_closed(self, name=None):
        return _raw.QueueIsClosedV2(self._queue_ref,
                                    name=self._scope(name, "Is_Closed"))

    def size(self, name=None):
        """The number of elements, a scalar int32."""
        return _raw.QueueSizeV2(self._queue_ref,
                                name=self._scope(name, "Size"))


def _types(dtypes):
    if not isinstance(dtypes, (list, tuple)):
        dtypes = [dtypes]
    return [_dtypes.as_dtype(t) for t in dtypes]


def _shapes(shapes, types, allow_unknown_sizes=False):
    shapes = _shape_list(shapes, types)
    for s in shapes or ():
        if allow_unknown_sizes and s.ndims is None:
            raise ValueError("All shapes must have a defined rank: %s"
                             % shapes)
        if not allow_unknown_sizes and not s.is_fully_defined():
            raise ValueError("All shapes must be fully defined: %s" % shapes)
    return shapes


def _shape_list(shapes, types):
    if shapes is None:
        return None
    if (isinstance(shapes, TensorShape)
            or not isinstance(shapes, (list, tuple))
            or not any(isinstance(s, (list, tuple, TensorShape))
                       for s in shapes)):
        shapes = [shapes]  # sizes, of the only component
    if len(shapes) != len(types):
        raise ValueError("Queue shapes must have the same length as dtypes, "
                         "received %d shapes, %d dtypes"
                         % (len(shapes), len(types)))
    return [TensorShape(s) for s in shapes]


def _names(names, types):
    if not names:
        return None
    if isinstance(names, str):
        names = [names]
    if len(names) != len(types):
        raise ValueError("List of names must have the same length as the list "
                         "of dtypes, received %d names, %d dtypes"
                         % (len(names), len(types)))
    return list(names)


class FIFOQueue(QueueBase):
    """A queue of tuples of tensors: first in, first out.

    `capacity`: how many; enqueue() waits for room. `dtypes`: a list of types;
    `shapes`: a list of known shapes, which dequeue_many() needs. ValueError or
    TypeError for another number of shapes or names than of dtypes; TypeError
    for values of another type. A run raises OutOfRangeError at the end of a
    closed queue, CancelledError for what waits to enqueue there."""

    def __init__(self, capacity, dtypes, shapes=None, names=None,
                 shared_name=None, name="fifo_queue"):
        types = _types(dtypes)
        shapes, names = _shapes(shapes, types), _names(names, types)
        super().__init__(types, shapes, names, _raw.FIFOQueueV2(
            component_types=types, shapes=_known(shapes), capacity=capacity,
            shared_name=shared_name or "", name=name))


class RandomShuffleQueue(QueueBase):
    """In random order; what is taken out is chosen among at least
    `min_after_dequeue` more elements, until the queue is closed."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None,
                 names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        types = _types(dtypes)
        shapes, names = _shapes(shapes, types), _names(names, types)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        super().__init__(types, shapes, names, _raw.RandomShuffleQueueV2(
            component_types=types, shapes=_known(shapes), capacity=capacity,
            min_after_dequeue=min_after_dequeue, seed=seed1, seed2=seed2,
            shared_name=shared_name or "", name=name))


class PaddingFIFOQueue(QueueBase):
    """First in, first out; dequeue_many pads with zeros in the dimensions that
    `shapes` leaves open."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None,
                 name="padding_fifo_queue"):
        types = _types(dtypes)
        if shapes is None:
            raise ValueError("When providing partial shapes, a list of shapes "
                             "must be provided.")
        shapes = _shapes(shapes, types, allow_unknown_sizes=True)
        names = _names(names, types)
        super().__init__(types, shapes, names, _raw.PaddingFIFOQueueV2(
            component_types=types, shapes=_known(shapes), capacity=capacity,
            shared_name=shared_name or "", name=name))


class PriorityQueue(QueueBase):
    """The smallest priority, an int64 scalar that goes before the other
    components, first."""

    def __init__(self, capacity, types, shapes=None, names=None,
                 shared_name=None, name="priority_queue"):
        types = _types(types)
        shapes = _shapes(shapes, types)
        super().__init__(
            [_dtypes.int64] + types,
            [TensorShape([])] + shapes if shapes else None, None,
            _raw.PriorityQueueV2(
                component_types=types, shapes=_known(shapes),
                capacity=capacity, shared_name=shared_name or "", name=name))
        self._names = _names(names, self._dtypes)


def _known(shapes):
    return [] if shapes is None else shapes
