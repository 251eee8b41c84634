"""tf.keras.backend: what runs, chooses and assigns."""
import contextlib

import numpy as np

from headrace._headrace import EagerTensor, Tensor
from headrace._src.control.control_flow import cond
from headrace._src.control import control_flow_ops as _flow
from headrace._src.control import functional_ops as _functional
from headrace._src.control.logging_ops import print_v2
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies
from headrace._src.framework.graph import name_scope as _name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers import backend as _backend
from headrace._src.layers.backend import get_session, learning_phase, ndim
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import (
    SparseTensor, SparseTensorValue)
from headrace._src.training import gradients as _gradients
from headrace._src.variables.base import Variable
from headrace._src.variables.variables import assign


def name_scope(name, default_name=None, values=None):
    """tf.name_scope."""
    return _name_scope(name, default_name, values)


def manual_variable_initialization(value):
    """If True, get_session() leaves variables without an initial value."""
    _backend.set_manual_initialization(bool(value))


class _Function:
    """See function."""

    def __init__(self, inputs, outputs, updates=None, name=None,
                 feed_dict=None, fetches=(), options=None, run_metadata=None):
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a "
                            "list or tuple.")
        self.inputs = nest.flatten(inputs)
        self._structure = outputs
        self.outputs = nest.flatten(outputs)
        with _backend.in_graph():
            self._make(updates, fetches)
        self.name = name
        self.feed_dict = feed_dict
        self.fetch_callbacks = {}  # of a fetch: what takes its value
        self.run_options, self.run_metadata = options, run_metadata

    def _make(self, updates, fetches):
        with control_dependencies(self.outputs[:1]):
            self.updates_op = _flow.group(*[_assigned(u)
                                            for u in updates or []])
        self.fetches = [_array.identity(x) for x in (
            fetches if isinstance(fetches, (list, tuple)) else [fetches])]

    def __call__(self, inputs=()):
        inputs = (list(inputs) if isinstance(inputs, (list, tuple))
                  else nest.flatten(inputs))
        if len(inputs) != len(self.inputs):
            raise ValueError("function: %d inputs were given, %d are wanted"
                             % (len(inputs), len(self.inputs)))
        feed = {x: _fed(x, value) for x, value in zip(self.inputs, inputs)
                if value is not None and not _is_symbol(value)}
        feed.update(self.feed_dict or {})
        session = get_session()
        feed.update(_computed(session, feed, [
            (x, value) for x, value in zip(self.inputs, inputs)
            if _is_symbol(value)]))
        outputs, _, others = session.run(
            [self.outputs, self.updates_op, self.fetches], feed,
            self.run_options, self.run_metadata)
        for fetch, value in zip(self.fetches, others):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return nest.pack_sequence_as(self._structure, outputs)


def _is_symbol(value):
    return isinstance(value, (Tensor, Variable)) and not isinstance(
        value, EagerTensor)


def _computed(session, feed, pairs):
    """The feeds for pairs of a placeholder and a tensor: the values of the
    tensors, all of one run. The tensors themselves are fed as well, so that
    what is computed from them has the same values."""
    if not pairs:
        return {}
    values = session.run([x for _, x in pairs], feed)
    found = {}
    for (placeholder, x), value in zip(pairs, values):
        found[placeholder] = _fed(placeholder, value)
        if isinstance(x, Tensor) and session.graph.is_feedable(x):
            found[x] = value
    return found


def _fed(placeholder, value):
    if isinstance(placeholder, SparseTensor):
        return _backend.as_sparse(value, SparseTensorValue)
    return np.asarray(value, placeholder.dtype.as_numpy_dtype)


def _assigned(update):
    """The op of an update: an op, or (variable, new value)."""
    if isinstance(update, tuple):
        variable, value = update
        return assign(variable, value)
    return update


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A callable from values for `inputs`, placeholders, to the values of
    `outputs`. A tensor or a variable that it gets for one is computed first.
    After the first of `outputs`, `updates` run: ops, or (variable, new value).
    It runs in get_session().

    kwargs: of Session.run. `feed_dict`, further values by tensor; `fetches`,
    further tensors, which are computed too; `options`; `run_metadata`.
    ValueError for others."""
    for key in kwargs:
        if key not in ("feed_dict", "fetches", "options", "run_metadata"):
            raise ValueError("Invalid argument \"%s\" passed to K.function with "
                             "TensorFlow backend" % key)
    return _Function(inputs, outputs, updates, name, **kwargs)


def update(x, new_x):
    """The op that sets the variable x."""
    return x.assign(new_x)


def update_add(x, increment):
    """The op that adds to the variable x."""
    return x.assign_add(increment)


def update_sub(x, decrement):
    """The op that subtracts from the variable x."""
    return x.assign_sub(decrement)


def gradients(loss, variables):
    """tf.gradients."""
    return _gradients.gradients(loss, variables)


def stop_gradient(variables):
    """The tensor, or each of a list, as a constant for gradients."""
    if isinstance(variables, (list, tuple)):
        return [_array.stop_gradient(v) for v in variables]
    return _array.stop_gradient(variables)


def print_tensor(x, message=""):
    """x; when it is computed, `message` and its value are printed."""
    with control_dependencies([print_v2(message, x)]):
        return _array.identity(x)


def map_fn(fn, elems, name=None, dtype=None):
    """tf.map_fn."""
    return _functional.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(fn, elems, initializer=None, name=None):
    """tf.foldl."""
    return _functional.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn, elems, initializer=None, name=None):
    """tf.foldr."""
    return _functional.foldr(fn, elems, initializer=initializer, name=name)


def _value_of(expression):
    return expression() if callable(expression) else expression


def switch(condition, then_expression, else_expression):
    """then_expression if `condition`, a scalar, holds, else else_expression:
    tensors, or functions without arguments that make them. A condition of more
    dimensions, the first ones of the expressions, chooses element by
    element. ValueError if it has more than they."""
    condition = _math.cast(condition, dtypes.bool_)
    if not ndim(condition):
        return cond(condition, lambda: _value_of(then_expression),
                    lambda: _value_of(else_expression))
    a = convert_to_tensor(_value_of(then_expression))
    b = convert_to_tensor(_value_of(else_expression))
    more = ndim(a) - ndim(condition)
    if more < 0:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of "
            "`then_expression` and `else_expression`. ndim(condition)=%d, "
            "ndim(then_expression)=%d" % (ndim(condition), ndim(a)))
    shape = _array.concat([_array.shape(condition), [1] * more], 0)
    mask = _math.logical_and(_array.reshape(condition, shape),
                             _array.ones_like(a, dtype=dtypes.bool_))
    return _array.where(mask, a, b)


def in_train_phase(x, alt, training=None):
    """x if layers train, else alt: tensors, or functions that make them.
    training: a bool, 0, 1 or a tensor; by default learning_phase()."""
    training = learning_phase() if training is None else training
    if isinstance(training, (bool, int)):
        return _value_of(x if training else alt)
    return switch(training, x, alt)


def in_test_phase(x, alt, training=None):
    """x unless layers train, else alt."""
    return in_train_phase(alt, x, training)


@contextlib.contextmanager
def learning_phase_scope(value):
    """Within it learning_phase() is `value`, 0 or 1. ValueError for others."""
    before = _backend.fixed_learning_phase()
    _backend.set_learning_phase(value)
    try:
        yield
    finally:
        _backend.fix_learning_phase(before)
