"""Conditional accumulators, barriers, staging areas and critical sections:
state that several steps share, and wait for."""
import itertools
import threading

from headrace import raw_ops as _raw
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework import nest
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class ConditionalAccumulatorBase:
    """Adds gradients up until somebody takes their mean or sum."""

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = _dtypes.as_dtype(dtype)
        self._shape = TensorShape(shape)
        self._ref = accumulator_ref

    accumulator_ref = property(lambda self: self._ref)
    name = property(lambda self: self._ref.op.name.split("/")[-1])
    dtype = property(lambda self: self._dtype)

    def _name(self, name, what):
        return name or "%s_%s" % (self.name, what)

    def _op(self, what):
        """The op that takes a handle, or a reference."""
        is_handle = self._ref.dtype == _dtypes.resource
        return getattr(_raw, ("Resource" if is_handle else "") + what)

    def num_accumulated(self, name=None):
        """How many gradients have come since the last take."""
        return self._op("AccumulatorNumAccumulated")(
            self._ref, name=self._name(name, "NumAccumulated"))

    def set_global_step(self, new_global_step, name=None):
        """Gradients of steps before this one are dropped."""
        return self._op("AccumulatorSetGlobalStep")(
            self._ref, _math.cast(new_global_step, _dtypes.int64), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of dense gradients."""

    def __init__(self, dtype, shape=None, shared_name=None,
                 name="conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, _raw.ResourceConditionalAccumulator(
            dtype=_dtypes.as_dtype(dtype), shape=TensorShape(shape),
            shared_name=shared_name or "", name=name,
            reduction_type=reduction_type))

    def apply_grad(self, grad, local_step=0, name=None):
        """Adds `grad` unless `local_step` is before the global step."""
        grad = convert_to_tensor(grad, self._dtype)
        if not self._shape.is_compatible_with(grad.get_shape()):
            raise ValueError("Shapes %s and %s are not compatible"
                             % (grad.get_shape(), self._shape))
        return self._op("AccumulatorApplyGradient")(
            self._ref, _math.cast(local_step, _dtypes.int64), grad, name=name)

    def take_grad(self, num_required, name=None):
        """The mean or sum of at least `num_required` gradients, as soon as they
        have come."""
        out = self._op("AccumulatorTakeGradient")(
            self._ref, num_required, dtype=self._dtype, name=name)
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of sparse gradients: rows with their indices."""

    def __init__(self, dtype, shape=None, shared_name=None,
                 name="sparse_conditional_accumulator", reduction_type="MEAN"):
        super().__init__(dtype, shape, _raw.SparseConditionalAccumulator(
            dtype=_dtypes.as_dtype(dtype), shape=TensorShape(shape),
            shared_name=shared_name or "", name=name,
            reduction_type=reduction_type))

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """Adds the rows of `grad`, an IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape,
                               local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None,
                   local_step=0, name=None):
        """Adds rows `grad_values` at `grad_indices` unless `local_step` is
        before the global step."""
        known = grad_shape is not None
        return _raw.SparseAccumulatorApplyGradient(
            self._ref, _math.cast(local_step, _dtypes.int64),
            _math.cast(grad_indices, _dtypes.int64),
            convert_to_tensor(grad_values, self._dtype),
            _math.cast(grad_shape if known else [], _dtypes.int64),
            has_known_shape=known, name=name)

    def take_indexed_slices_grad(self, num_required, name=None):
        """take_grad as IndexedSlices."""
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(values, indices, shape)

    def take_grad(self, num_required, name=None):
        """(indices, values, shape) of at least `num_required` gradients."""
        return _raw.SparseAccumulatorTakeGradient(
            self._ref, num_required, dtype=self._dtype, name=name)


class Barrier:
    """Puts elements of several components together, by key, from parts that
    come one by one."""

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        types = list(types) if isinstance(types, (list, tuple)) else [types]
        self._types = [_dtypes.as_dtype(t) for t in types]
        self._shapes = ([TensorShape(None)] * len(types) if shapes is None
                        else [TensorShape(s) for s in shapes])
        if len(self._shapes) != len(types):
            raise ValueError("Barrier shapes must have the same length as "
                             "types")
        if shapes is not None and not all(
                s.is_fully_defined() for s in self._shapes):
            raise ValueError("All shapes must be fully defined: %s"
                             % self._shapes)
        for i, s in enumerate(self._shapes):
            if s.num_elements() == 0:
                raise ValueError("Empty tensors are not supported, but "
                                 "received shape '%s' at index %d" % (s, i))
        known = [] if shapes is None else self._shapes
        self._ref = _raw.Barrier(component_types=self._types, shapes=known,
                                 shared_name=shared_name or "", name=name)

    barrier_ref = property(lambda self: self._ref)
    name = property(lambda self: self._ref.op.name)

    def _name(self, name, what):
        return name or "%s_%s" % (self.name.split("/")[-1], what)

    def insert_many(self, component_index, keys, values, name=None):
        """Gives component `component_index` of each of `keys` its value."""
        return _raw.BarrierInsertMany(
            self._ref, keys,
            convert_to_tensor(values, self._types[component_index]),
            component_index=component_index,
            name=self._name(name, "BarrierInsertMany"))

    def take_many(self, num_elements, allow_small_batch=False, timeout=None,
                  name=None):
        """(indices, keys, values) of complete elements."""
        out = _raw.BarrierTakeMany(
            self._ref, num_elements, component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
            name=self._name(name, "BarrierTakeMany"))
        n = None if allow_small_batch else constant_value(
            out.indices.op.inputs[1])
        batch = TensorShape([None if n is None else int(n)])
        out.indices.set_shape(batch)
        out.keys.set_shape(batch)
        for t, shape in zip(out.values, self._shapes):
            t.set_shape(batch.concatenate(shape))
        return out

    def close(self, cancel_pending_enqueues=False, name=None):
        return _raw.BarrierClose(
            self._ref, cancel_pending_enqueues=cancel_pending_enqueues,
            name=self._name(name, "BarrierClose"))

    def ready_size(self, name=None):
        return _raw.BarrierReadySize(
            self._ref, name=self._name(name, "BarrierReadySize"))

    def incomplete_size(self, name=None):
        return _raw.BarrierIncompleteSize(
            self._ref, name=self._name(name, "BarrierIncompleteSize"))


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


class CriticalSection:
    """Functions whose nodes no two runs execute at the same time."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None,
                 import_scope=None):
        if critical_section_def is not None or import_scope is not None:
            raise ValueError("critical_section_def is not supported")
        with _graph.name_scope(name, "CriticalSection", []) as scope:
            with _graph.control_dependencies(None):
                self._handle = _raw.MutexV2(
                    shared_name=shared_name or scope.rstrip("/"), name=name)
        self._local = threading.local()

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` returns, computed while the lock is held."""
        if getattr(self._local, "inside", False):
            raise ValueError("Attempting to lock a CriticalSection in which we "
                             "are already running")
        with _graph.name_scope(name, "critical_section_execute", []):
            lock = _raw.MutexLock(self._handle)
            self._local.inside = True
            try:
                with _graph.control_dependencies([lock]):
                    result = fn()
            finally:
                self._local.inside = False
            leaves = [x for x in nest.flatten(result) if x is not None]
            operations = [x for x in leaves if isinstance(x, _graph.Operation)]
            tensors = [convert_to_tensor(x) for x in leaves
                       if not isinstance(x, _graph.Operation)]
            # The lock goes when all is done.
            with _graph.control_dependencies(operations + tensors):
                ensure = _raw.ConsumeMutexLock(lock)
            with _graph.control_dependencies([ensure]):
                done = iter([_array.identity(t) for t in tensors])
                if isinstance(result, _graph.Operation):
                    return _flow.group(result, ensure)
                if result is None:
                    return _array.no_op()
                return nest.map_structure(
                    lambda x: x if x is None or isinstance(x, _graph.Operation)
                    else next(done), result)
