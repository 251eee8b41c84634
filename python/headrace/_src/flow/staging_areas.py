"""Staging areas: tensors on their way from one step to another."""
import itertools

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape


class _BaseStagingArea:
    _numbers = itertools.count()

    def __init__(self, dtypes, shapes, names, shared_name, capacity,
                 memory_limit):
        if shared_name is None:
            shared_name = "%s_%d" % (type(self).__name__, next(self._numbers))
        self._dtypes = [_dtypes.as_dtype(t) for t in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as "
                             "dtypes")
        self._shapes = [TensorShape(s) for s in
                        shapes or [None] * len(self._dtypes)]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as "
                             "dtypes")
        self._names = names
        if capacity < 0 or memory_limit < 0:
            raise ValueError("capacity and memory_limit must be >= 0")
        self._capacity, self._memory_limit = capacity, memory_limit
        # One area a graph, as queues are: names are shared in a session.
        self._shared_name = shared_name

    name = property(lambda self: self._shared_name)
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)
    capacity = property(lambda self: self._capacity)
    memory_limit = property(lambda self: self._memory_limit)

    def _attrs(self, name, what, dtypes=None):
        return dict(dtypes=self._dtypes if dtypes is None else dtypes,
                    shared_name=self._shared_name, capacity=self._capacity,
                    memory_limit=self._memory_limit,
                    name=name or "%s_%s" % (self._shared_name, what))

    def _components(self, values, indices):
        """The tensors and which components they are."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a "
                                 "dictionary")
            unknown = set(values) - set(self._names)
            if unknown:
                raise ValueError("%s are not names of the staging area: %s"
                                 % (sorted(unknown), self._names))
            indices = [i for i, n in enumerate(self._names) if n in values]
            values = [values[self._names[i]] for i in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging "
                                 "area with names")
            if not isinstance(values, (list, tuple)):
                values = [values]
            if indices is None:
                indices = list(range(len(values)))
            if len(indices) != len(values):
                raise ValueError("Number of indices %d doesn't match number of "
                                 "values %d" % (len(indices), len(values)))
        tensors = []
        for i, value in zip(indices, values):
            t = convert_to_tensor(value, dtype=self._dtypes[i])
            if not t.get_shape().is_compatible_with(self._shapes[i]):
                raise ValueError("Shapes %s and %s are not compatible"
                                 % (t.get_shape(), self._shapes[i]))
            tensors.append(t)
        return tensors, indices

    def _values(self, tensors, indices):
        tensors = (list(tensors) if isinstance(tensors, (list, tuple))
                   else [tensors])
        for t, i in zip(tensors, indices):
            t.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: t for t, i in zip(tensors, indices)}
        return tensors


class StagingArea(_BaseStagingArea):
    """A queue between steps, first in, first out, that puts nothing in between
    but the tensors' buffers."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None,
                 capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity,
                         memory_limit)

    def put(self, values, name=None):
        """An operation that puts in one element; waits for room."""
        tensors, indices = self._components(values, None)
        if len(indices) != len(self._dtypes):
            raise ValueError("Unexpected number of inputs '%d' vs '%d'"
                             % (len(indices), len(self._dtypes)))
        return _raw.Stage(tensors, **self._stage_attrs(name))

    def _stage_attrs(self, name):
        attrs = self._attrs(name, "put")
        del attrs["dtypes"]  # inferred
        return attrs

    def get(self, name=None):
        """Takes the oldest element; waits for one."""
        return self._values(_raw.Unstage(**self._attrs(name, "get")),
                            range(len(self._dtypes)))

    def peek(self, index, name=None):
        """Element `index`, which stays."""
        return self._values(
            _raw.StagePeek(index, **self._attrs(name, "peek")),
            range(len(self._dtypes)))

    def size(self, name=None):
        return _raw.StageSize(**self._attrs(name, "size"))

    def clear(self, name=None):
        return _raw.StageClear(**self._attrs(name, "clear"))


class MapStagingArea(_BaseStagingArea):
    """A staging area whose elements have keys, int64 scalars, and may be put in
    and taken out in parts; `ordered`: get() without a key takes the smallest."""

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None,
                 ordered=False, capacity=0, memory_limit=0):
        super().__init__(dtypes, shapes, names, shared_name, capacity,
                         memory_limit)
        self._prefix = "OrderedMap" if ordered else "Map"

    def _op(self, what):
        return getattr(_raw, self._prefix + what)

    def _which(self, indices):
        if indices is None:
            return list(range(len(self._dtypes)))
        if not isinstance(indices, (list, tuple)):
            indices = [indices]
        return [self._names.index(i) if isinstance(i, str) else i
                for i in indices]

    def put(self, key, vals, indices=None, name=None):
        """An operation that puts in components of the element `key`."""
        tensors, indices = self._components(vals, indices)
        order = sorted(range(len(indices)), key=lambda k: indices[k])
        return self._op("Stage")(
            key, [indices[k] for k in order], [tensors[k] for k in order],
            **self._attrs(name, "put"))

    def _take(self, what, key, indices, name):
        which = self._which(indices)
        out = self._op(what)(
            key, which, **self._attrs(name, what.lower(),
                                      [self._dtypes[i] for i in which]))
        return self._values(out, which)

    def peek(self, key, indices=None, name=None):
        """Components of the element `key`, which stay."""
        return self._take("Peek", key, indices, name)

    def get(self, key=None, indices=None, name=None):
        """Takes components of the element `key`; without one (key, values) of
        any element."""
        if key is not None:
            return self._take("Unstage", key, indices, name)
        which = self._which(indices)
        out = self._op("UnstageNoKey")(
            which, **self._attrs(name, "get_any",
                                 [self._dtypes[i] for i in which]))
        return out.key, self._values(out.values, which)

    def size(self, name=None):
        return self._op("Size")(**self._attrs(name, "size"))

    def incomplete_size(self, name=None):
        return self._op("IncompleteSize")(**self._attrs(name, "incomplete"))

    def clear(self, name=None):
        return self._op("Clear")(**self._attrs(name, "clear"))
