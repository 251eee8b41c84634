"""Barrier: elements that steps complete component by component, by key."""
from headrace import raw_ops as _raw
from headrace._headrace import executing_eagerly
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.tensor import constant_value, convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape


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
    name = property(lambda self: "queue" if executing_eagerly()
                    else self._ref.op.name)

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
