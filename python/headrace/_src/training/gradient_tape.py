"""tf.GradientTape in a graph: gradients through the nodes that were added while
the tape recorded.

The graph keeps all nodes in the order in which they were added, so a tape only
remembers from which node to which it recorded, and what it watched from when on.
tf.gradients does the rest; what was not recorded counts as constant."""
import contextlib

from headrace._headrace import Tensor, executing_eagerly
from headrace._loading import load
from headrace._src.control.control_flow import while_loop
from headrace._src.control.tensor_array import TensorArray
from headrace._src.framework import nest
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.training.gradients import (
    UnconnectedGradients, gradients, key_of, source_of, variables_by_tensor,
    variables_read)
from headrace._src.variables.base import Variable


def _carries(tensor):
    """Whether gradients go through a tensor of its type."""
    kind = tensor.dtype.base_dtype
    return (kind.is_floating or kind.is_complex
            or kind.name in ("resource", "variant"))


def jacobian_of_rows(target, sources, rows):
    """The jacobian of `target` by `sources`, in their structure, of the gradients
    of its elements: a tensor [elements, shape of the source] for each source,
    or None."""
    shape, found = _array.shape(target), []
    for x, row in zip(nest.flatten(sources), rows):
        if row is not None:
            row = _array.reshape(row, _array.concat(
                [shape, _array.shape(row)[1:]], 0))
            row.set_shape(target.get_shape().concatenate(x.get_shape()))
        found.append(row)
    return nest.pack_sequence_as(sources, found)


class GradientTape:
    """Records the nodes that are added inside of `with`, and gives gradients
    through them, from what it watches: trainable variables that the nodes read,
    without watch_accessed_variables only what watch() names. gradient() may be
    called once, of a `persistent` tape more often."""

    def __new__(cls, persistent=False, watch_accessed_variables=True):
        if cls is GradientTape and executing_eagerly():
            cls = load("_src.eager.tape").EagerTape
        return super().__new__(cls)

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._graph = None
        self._recording = False
        self._is_done = True  # until it records
        self._forget()

    def _forget(self):
        self._spans = []    # [first node, the one after the last or None]
        self._watched = []  # (first node that may use it, tensor)
        self._variables = {}  # those that are watched by name

    # Recording.

    def __enter__(self):
        if self._recording:
            raise ValueError("Tape is already recording.")
        graph = get_default_graph()
        if self._graph is not None and self._graph is not graph:
            raise ValueError("GradientTape: it recorded in another graph than "
                             "the default graph")
        self._graph = graph
        self._is_done = False
        self._start()
        return self

    def __exit__(self, *error):
        if self._recording:
            self._stop()

    def _start(self):
        self._recording = True
        self._spans.append([self._graph._last_id, None])

    def _stop(self):
        self._recording = False
        self._spans[-1][1] = self._graph._last_id

    @contextlib.contextmanager
    def stop_recording(self):
        """A context whose nodes are not recorded. RuntimeError if none are
        recorded now."""
        if not self._recording:
            raise RuntimeError(
                "Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self):
        """Forgets what was recorded and watched. ValueError if the tape does
        not record."""
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._forget()
        self._start()

    def watch(self, tensor):
        """Watches a structure of tensors and variables from now on. ValueError
        for anything else, and before the tape recorded."""
        for t in nest.flatten(tensor):
            if not isinstance(t, (Tensor, Variable)):
                raise ValueError("Passed in object of type %s, not tf.Tensor"
                                 % type(t))
            if self._graph is None:
                raise ValueError("GradientTape: watch is called inside of "
                                 "`with` of the tape")
            if not t.dtype.is_floating:
                logging.warning("The dtype of the watched tensor must be "
                                "floating (e.g. tf.float32), got %r", t.dtype)
            source = source_of(t)
            if isinstance(t, Variable):
                self._variables[key_of(source)] = t
            self._watched.append((self._graph._last_id, source))

    def watched_variables(self):
        """The variables that are watched, a tuple in the order in which they
        were made."""
        self._check_that_it_recorded()
        found = dict(self._variables)
        if self._watch_accessed:
            found.update(variables_read(self._graph, self._operations()))
        return tuple(found[k] for k in sorted(found))

    def _check_that_it_recorded(self):
        if self._graph is None:
            raise ValueError("GradientTape: nothing was recorded yet")

    def _operations(self):
        for first, end in self._spans:
            for i in range(first, self._graph._last_id if end is None else end):
                op = self._graph._operation_by_id(i)
                if op is not None:
                    yield op

    def _trace(self):
        """(keys of tensors that depend on what is watched, tensors that gradients
        stop at)."""
        waiting = list(self._watched)
        variables = dict(self._variables)
        if self._watch_accessed:
            variables.update(variables_by_tensor(self._graph))
        active, recorded, given = set(variables), set(), {}
        for v in variables.values():
            if not v._is_resource:
                active.add(key_of(v.value()))
                recorded.add(v.value().op._id)
        for op in self._operations():
            while waiting and waiting[0][0] <= op._id:
                active.add(key_of(waiting.pop(0)[1]))
            inputs = list(op.inputs)
            if any(key_of(x) in active and _carries(x) for x in inputs):
                recorded.add(op._id)
                active.update(key_of(x) for x in op.outputs)
                given.update((x.op._id, x) for x in inputs)
        active.update(key_of(x) for _, x in waiting)
        given.update((x.op._id, x) for _, x in self._watched)
        return active, [x for i, x in given.items() if i not in recorded]

    # Gradients.

    def _begin(self):
        """Whether to go on recording after the gradients were made."""
        if self._is_done:
            raise RuntimeError("GradientTape.gradient can only be called once "
                               "on non-persistent tapes.")
        if self._recording and not self._persistent:
            self._stop()
        self._is_done = not self._persistent

    def _gradients(self, targets, sources, output_gradients, unconnected):
        """The gradients by each of the tensors and variables `sources`, or
        None."""
        active, stops = self._trace()
        if output_gradients is None:
            output_gradients = [None] * len(targets)
        pairs = [(y, g) for y, g in zip(targets, output_gradients)
                 if key_of(y) in active and _carries(y)]
        by_key = {key_of(source_of(x)): x for x in sources}
        connected = [k for k in by_key if k in active] if pairs else []
        if connected:
            found = gradients([y for y, _ in pairs],
                              [by_key[k] for k in connected],
                              [g for _, g in pairs], stop_gradients=stops)
            by_key = dict(zip(connected, found))
        result = [by_key[k] if k in connected else None for k in (
            key_of(source_of(x)) for x in sources)]
        if UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO:
            result = [_array.zeros_like(x) if g is None else g
                      for x, g in zip(sources, result)]
        return result

    def _targets(self, target):
        found = [convert_to_tensor(t) for t in nest.flatten(target)]
        for t in found:
            if t.graph is not self._graph:
                raise ValueError("GradientTape: %s is in another graph than the "
                                 "one that was recorded" % t.name)
            if not _carries(t):
                logging.warning("The dtype of the target tensor must be "
                                "floating (e.g. tf.float32) when calling "
                                "GradientTape.gradient, got %r", t.dtype)
        return found

    def gradient(self, target, sources, output_gradients=None,
                 unconnected_gradients=UnconnectedGradients.NONE):
        """The gradients of the sum of `target`, a structure of tensors, by each
        of `sources`, in their structure: None where `target` does not depend on
        one through recorded nodes, or zeros as unconnected_gradients says.
        `output_gradients`: those of the targets, by default ones. RuntimeError
        for a second call on a tape that is not persistent."""
        self._begin()
        if output_gradients is not None:
            output_gradients = [None if g is None else convert_to_tensor(g)
                                for g in nest.flatten(output_gradients)]
        found = self._gradients(
            self._targets(target), nest.flatten(sources), output_gradients,
            unconnected_gradients)
        return nest.pack_sequence_as(sources, found)

    def _rows(self, target, sources, count, start, unconnected, parallel):
        """For each of `sources` the gradients [count, shape of the source] from
        start(0), start(1)... as gradients of `target`; None where there are
        none."""
        without = set()

        def row(i, *arrays):
            found = self._gradients([target], sources, [start(i)], unconnected)
            without.update(k for k, g in enumerate(found) if g is None)
            return [i + 1] + [
                a.write(i, _array.zeros_like(x) if g is None
                        else convert_to_tensor(g))
                for a, x, g in zip(arrays, sources, found)]
        arrays = while_loop(
            lambda i, *_: i < count, row,
            [0] + [TensorArray(x.dtype.base_dtype, count) for x in sources],
            parallel_iterations=parallel or 10)[1:]
        return [None if k in without else a.stack()
                for k, a in enumerate(arrays)]

    def jacobian(self, target, sources,
                 unconnected_gradients=UnconnectedGradients.NONE,
                 parallel_iterations=None, experimental_use_pfor=True):
        """The derivatives of each element of the tensor `target` by each of
        `sources`, in their structure: [shape of target, shape of the source],
        or None. They are made row by row in a loop."""
        self._begin()
        (target,) = self._targets(target)
        flat = nest.flatten(sources)
        shape = _array.shape(target)
        count = _array.size(target)

        def start(i):
            return _array.reshape(
                _array.one_hot(i, count, dtype=target.dtype.base_dtype), shape)
        rows = self._rows(target, flat, count, start,
                                   unconnected_gradients, parallel_iterations)
        return jacobian_of_rows(target, sources, rows)

    def batch_jacobian(self, target, source,
                       unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        """The derivatives of each row of the tensor `target`, [batch, ...], by
        the same row of `source`: [batch, shape of a row of target, shape of a
        row of source]; zeros if there are none. ValueError if the batches
        differ or are not known to be there."""
        self._begin()
        (target,) = self._targets(target)
        of, by = target.get_shape(), source.get_shape()
        if not of.ndims or not by.ndims or not of[:1].is_compatible_with(by[:1]):
            raise ValueError("Need first dimension of target shape (%s) and "
                             "source shape (%s) to match." % (of, by))
        shape = _array.shape(target)
        count = _math.reduce_prod(shape[1:])

        def start(i):
            row = _array.one_hot(i, count, dtype=target.dtype.base_dtype)
            return _array.reshape(_array.tile(
                _array.expand_dims(row, 0), [shape[0], 1]), shape)
        (rows,) = self._rows(target, [source], count, start,
                                      unconnected_gradients,
                                      parallel_iterations)
        whole = _array.concat([shape, _array.shape(source)[1:]], 0)
        if rows is None:
            found = _array.zeros(whole, dtype=target.dtype.base_dtype)
        else:
            axes = _array.concat(
                [[1, 0], _math.range(2, _array.rank(rows))], 0)
            found = _array.reshape(_array.transpose(rows, axes), whole)
        found.set_shape(of.concatenate(by[1:]))
        return found
