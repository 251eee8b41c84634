"""Functions that see each op after it was executed eagerly: tf.contrib.eager.
add_execution_callback, seterr and others."""
import contextlib
import enum

import numpy as np

from headrace import _headrace
from headrace._src.platform import tf_logging as logging


class ExecutionCallback(enum.Enum):
    """What is done about a result that is infinite or no number."""
    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An op gave a result that is infinite or no number."""

    def __init__(self, op_type, op_name, output_index, num_outputs, value):
        super().__init__()
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs = output_index, num_outputs
        self.value = value
        self.total_count = int(np.size(value))
        self.inf_count = int(np.count_nonzero(np.isinf(value)))
        self.nan_count = int(np.count_nonzero(np.isnan(value)))

    def __str__(self):
        what = [text for text, count in (("inf", self.inf_count),
                                         ("nan", self.nan_count)) if count]
        return "Found %s in output %d of %d outputs of op \"%s\"" % (
            " and ".join(what), self.output_index, self.num_outputs,
            self.op_type)


_callbacks: list = []


def _call_all(op_type, inputs, outputs):
    for callback in list(_callbacks):
        callback(op_type, inputs, None, outputs, None)


def add_execution_callback(callback):
    """Calls callback(op_type, inputs, attrs, outputs, op_name) after each op of
    this process: with lists of EagerTensors, and None for attrs and name."""
    _callbacks.append(callback)
    _headrace.set_eager_callback(_call_all)


def clear_execution_callbacks():
    """Drops all callbacks."""
    _callbacks.clear()
    _headrace.set_eager_callback(None)


def _checked(op_type, outputs, tests, action, op_name):
    action = ExecutionCallback(action)
    if action is ExecutionCallback.IGNORE:
        return
    for i, x in enumerate(outputs):
        if not (x.dtype.is_floating or x.dtype.is_complex):
            continue
        value = x.numpy()
        if not any(np.any(test(value)) for test in tests):
            continue
        error = InfOrNanError(op_type, op_name, i, len(outputs), value)
        if action is ExecutionCallback.PRINT:
            print("Warning: %s" % error)
        elif action is ExecutionCallback.WARN:
            logging.warning(str(error))
        else:
            raise error


def inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=True,
                     check_nan=True, action=ExecutionCallback.RAISE):
    """An execution callback for infinite numbers and for what is no number. It
    raises InfOrNanError, or does what `action` says."""
    del inputs, attrs
    tests = ([np.isinf] if check_inf else []) + (
        [np.isnan] if check_nan else [])
    _checked(op_type, outputs, tests, action, op_name)


def inf_callback(op_type, inputs, attrs, outputs, op_name,
                 action=ExecutionCallback.RAISE):
    """inf_nan_callback for infinite numbers alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, True, False,
                     action)


def nan_callback(op_type, inputs, attrs, outputs, op_name,
                 action=ExecutionCallback.RAISE):
    """inf_nan_callback for what is no number alone."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, False, True,
                     action)


_actions = {"inf_or_nan": ExecutionCallback.IGNORE}


def _of_seterr(op_type, inputs, attrs, outputs, op_name):
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name,
                     action=_actions["inf_or_nan"])


def seterr(inf_or_nan=None):
    """Sets what is done about infinite numbers and what is no number: an
    ExecutionCallback or its value, None for no change. What was set before, as
    {"inf_or_nan": ExecutionCallback}. ValueError for others."""
    before = dict(_actions)
    if inf_or_nan is None:
        return before
    _actions["inf_or_nan"] = ExecutionCallback(inf_or_nan)
    if _of_seterr in _callbacks:
        _callbacks.remove(_of_seterr)
    if _actions["inf_or_nan"] is not ExecutionCallback.IGNORE:
        add_execution_callback(_of_seterr)
    elif not _callbacks:
        _headrace.set_eager_callback(None)
    return before


@contextlib.contextmanager
def errstate(inf_or_nan=None):
    """seterr() inside of `with`."""
    before = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**before)
