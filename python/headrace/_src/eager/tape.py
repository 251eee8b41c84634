"""tf.GradientTape of ops that are executed eagerly."""
import contextlib

from headrace import _headrace
from headrace import raw_ops as _raw
from headrace._headrace import EagerTensor, Tensor
from headrace._src.eager.backward import segment_gradients
from headrace._src.eager.variables import variable_of
from headrace._src.framework import nest
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.platform import tf_logging as logging
from headrace._src.training.gradient_tape import GradientTape, _carries
from headrace._src.training.gradients import UnconnectedGradients
from headrace._src.variables.base import Variable


def source_of(x):
    """The EagerTensor that gradients by x are gradients by."""
    if isinstance(x, Variable):
        return x.handle
    if isinstance(x, IndexedSlices):
        return x.values
    if hasattr(x, "_handle") and isinstance(x._handle, EagerTensor):
        return x._handle
    return x


def sum_of(gradients):
    """The sum of tensors and IndexedSlices."""
    if len(gradients) == 1:
        return gradients[0]
    if all(isinstance(g, IndexedSlices) for g in gradients):
        return IndexedSlices(
            _array.concat([g.values for g in gradients], 0),
            _array.concat([g.indices for g in gradients], 0),
            gradients[0].dense_shape)
    return _raw.AddN([convert_to_tensor(g) for g in gradients])


def backpropagate(records, targets, given, sources):
    """The gradients by the EagerTensors `sources`, or None, through records,
    from those of `targets`; None among them for ones."""
    if all(r.backward is None for r in records):
        return segment_gradients(records, targets, given, sources)
    pending, tensors, done = {}, {}, {}

    def add(tensor, gradient):
        if gradient is None or not _carries(tensor):
            return
        tensors[tensor._id] = tensor
        pending.setdefault(tensor._id, []).append(gradient)

    for t, g in zip(targets, given):
        add(t, _array.ones_like(t) if g is None else g)
    wanted = {s._id for s in sources}
    made = {t._id for r in records for t in r.outputs}
    end = len(records)
    while end:
        begin = end
        while begin and records[begin - 1].backward is None:
            begin -= 1
        if begin < end:
            _through_ops(records[begin:end], pending, tensors, done, wanted,
                         made, add)
        if begin:
            begin -= 1
            _through_function(records[begin], pending, done, wanted, add)
        end = begin
    for i, found in pending.items():
        done[i] = sum_of(found)
    return [done.get(s._id) for s in sources]


def _through_ops(records, pending, tensors, done, wanted, made, add):
    own = {t._id: t for r in records for t in r.outputs}
    ys = [t for i, t in own.items() if i in pending]
    if not ys:
        return
    given = [sum_of(pending.pop(t._id)) for t in ys]
    xs = {}
    for r in records:
        for t in r.inputs:
            if _carries(t) and t._id not in own and (
                    t._id in made or t._id in wanted):
                xs[t._id] = t
    inner = [t for i, t in own.items() if i in wanted]
    found = segment_gradients(records, ys, given, list(xs.values()) + inner)
    for t, g in zip(xs.values(), found):
        add(t, g)
    for t, g in zip(inner, found[len(xs):]):
        if g is not None:
            done[t._id] = g


def _through_function(record, pending, done, wanted, add):
    if not any(t._id in pending for t in record.outputs):
        return
    grads = []
    for t in record.outputs:
        parts = pending.pop(t._id, None)
        grads.append(_array.zeros_like(t) if parts is None and _carries(t)
                     and t.dtype.is_numpy_compatible
                     else parts and sum_of(parts))
        if t._id in wanted and parts is not None:
            done[t._id] = grads[-1]
    found = record.backward(*grads)
    if not isinstance(found, (list, tuple)):
        found = [found]
    for t, g in zip(record.inputs, found):
        add(t, g)


class EagerTape(GradientTape):
    """Records the ops that are executed inside of `with`."""

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._core = _headrace.TapeCore(bool(watch_accessed_variables))
        self._recording = False
        self._was_used = False
        self._tape = None  # until it records, and after the gradients

    def __enter__(self):
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._core is None:
            self._core = _headrace.TapeCore(bool(self._watch_accessed))
        self._tape = True
        self._start()
        return self

    def _start(self):
        self._recording = True
        self._core.push()

    def _stop(self):
        self._recording = False
        self._core.pop()

    def __del__(self):
        if getattr(self, "_recording", False) and _headrace is not None:
            self._stop()

    def reset(self):
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._core.clear()

    def watch(self, tensor):
        for t in nest.flatten(tensor):
            if hasattr(t, "_flow_components"):  # a SparseTensor and the like
                self.watch([x for x in t._flow_components() if _carries(x)])
                continue
            if not isinstance(t, (Tensor, Variable)) and not hasattr(
                    t, "_handle"):
                raise ValueError("Passed in object of type %s, not tf.Tensor"
                                 % type(t))
            if not t.dtype.is_floating:
                logging.warning("The dtype of the watched tensor must be "
                                "floating (e.g. tf.float32), got %r", t.dtype)
            self._core.watch(source_of(t))

    def watched_variables(self):
        handles = sorted(self._core.handles, key=lambda h: h._id)
        found = [variable_of(h) for h in handles]
        return tuple(v for v in found if v is not None)

    def _begin(self):
        if self._tape is None:
            raise RuntimeError("GradientTape.gradient can only be called once "
                               "on non-persistent tapes.")
        if self._recording:
            if self._persistent:
                logging.log_first_n(
                    logging.WARN, "Calling GradientTape.gradient on a "
                    "persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context.", 1)
            else:
                self._stop()

    def _end(self):
        if not self._persistent:
            self._tape = self._core = None

    def _targets(self, target):
        found = []
        for t in nest.flatten(target):
            if isinstance(t, Variable):
                with self._on():
                    t = t.read_value()
            elif not isinstance(t, EagerTensor):
                t = convert_to_tensor(t)
            if t.dtype.name == "resource" or _carries(t):
                found.append(t)
            else:
                logging.warning("The dtype of the target tensor must be "
                                "floating (e.g. tf.float32) when calling "
                                "GradientTape.gradient, got %r", t.dtype)
                found.append(None)
        return found

    @contextlib.contextmanager
    def _on(self):
        """Records for a while, too."""
        if self._recording:
            yield
            return
        self._core.push()
        try:
            yield
        finally:
            self._core.pop()

    def _gradients(self, targets, sources, output_gradients, unconnected):
        """The gradients by tensors and variables."""
        xs = [source_of(x) for x in sources]
        for x, s in zip(xs, sources):
            if not isinstance(x, EagerTensor):
                raise ValueError("Passed in object of type %s, not tf.Tensor "
                                 "with a value" % type(s))
        if output_gradients is None:
            output_gradients = [None] * len(targets)
        ys, given = [], []
        for t, g in zip(targets, output_gradients):
            if t is None or not self._core.is_watched(t):
                continue
            if g is None and t.dtype.is_complex:
                g = _array.ones_like(t)
            ys.append(t)
            given.append(g)
        distinct = {x._id: x for x in xs if _carries(x)
                    and self._core.is_watched(x)}
        found = {}
        if ys and distinct:
            wanted = list(distinct.values())
            records = self._core.select(ys, wanted)
            at = {t._id for t in ys}
            if records or any(x._id in at for x in wanted):
                found = dict(zip(distinct, backpropagate(
                    records, ys, given, wanted)))
        result = [found.get(x._id) for x in xs]
        if UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO:
            result = [_array.zeros_like(
                convert_to_tensor(s)) if g is None else g
                for s, g in zip(sources, result)]
        return result

    def gradient(self, target, sources, output_gradients=None,
                 unconnected_gradients=UnconnectedGradients.NONE):
        self._begin()
        if output_gradients is not None:
            output_gradients = [None if g is None else convert_to_tensor(g)
                                for g in nest.flatten(output_gradients)]
        found = self._gradients(
            self._targets(target), nest.flatten(sources), output_gradients,
            unconnected_gradients)
        self._end()
        return nest.pack_sequence_as(sources, found)

    def _rows(self, target, sources, starts, unconnected):
        """For each source the gradients from each of `starts`, stacked, or
        None."""
        columns = [self._gradients([target], sources, [g], unconnected)
                   for g in starts]
        return [None if any(row[k] is None for row in columns) else
                _array.stack([convert_to_tensor(row[k]) for row in columns])
                for k in range(len(sources))] if columns else [None] * len(
                    sources)

    def _begin_rows(self, use_pfor):
        if not use_pfor and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute "
                "the jacobian with eager execution enabled and with "
                "experimental_use_pfor set to False.")
        self._begin()

    def jacobian(self, target, sources,
                 unconnected_gradients=UnconnectedGradients.NONE,
                 parallel_iterations=None, experimental_use_pfor=True):
        self._begin_rows(experimental_use_pfor)
        flat = nest.flatten(sources)
        (target,) = self._targets(target)
        count = target._num_elements()
        starts = [_array.reshape(_array.one_hot(
            i, count, dtype=target.dtype), target.shape) for i in range(count)]
        rows = self._rows(target, flat, starts, unconnected_gradients)
        self._end()
        shape = target.shape.as_list()
        return nest.pack_sequence_as(sources, [
            None if row is None else _array.reshape(
                row, shape + row.shape.as_list()[1:]) for row in rows])

    def batch_jacobian(self, target, source,
                       unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        of, by = target.get_shape(), source.get_shape()
        if not of.ndims or not by.ndims or not of[:1].is_compatible_with(by[:1]):
            raise ValueError("Need first dimension of target shape (%s) and "
                             "source shape (%s) to match." % (of, by))
        self._begin_rows(experimental_use_pfor)
        (target,) = self._targets(target)
        batch, rest = of.as_list()[0], of.as_list()[1:]
        count = target._num_elements() // max(batch, 1)
        starts = []
        for i in range(count):
            row = _array.reshape(_array.one_hot(
                i, count, dtype=target.dtype), [1] + rest)
            starts.append(_array.tile(row, [batch] + [1] * len(rest)))
        (rows,) = self._rows(target, [source], starts, unconnected_gradients)
        self._end()
        shape = of.as_list() + by.as_list()[1:]
        if rows is None:
            return _array.zeros(shape, dtype=target.dtype)
        axes = [1, 0] + list(range(2, rows.shape.ndims))
        return _array.reshape(_array.transpose(rows, axes), shape)
