"""tensorflow.python.training: parts of modules that programs and tests use though
tf does not export them."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, get_collection)
from headrace._src.ops import math_ops as _math
from headrace._src.training.basic_session_run_hooks import (
    SecondOrStepTimer, StopAtStepHook)
from headrace._src.training.global_step import get_global_step
from headrace._src.training.moving_averages import assign_moving_average
from headrace._src.training.session_manager import SessionManager
from headrace._src.training.session_run_hook import SessionRunHook
from headrace._src.variables import initializers as _initializers
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.scopes import get_variable


def collect_summary(val, collections, default_collections):
    """Adds a summary to the collections, or the default ones for None."""
    if collections is None:
        collections = default_collections
    for key in collections:
        add_to_collection(key, val)


def skip_summary():
    """Whether this replica writes no summaries: False, there is one."""
    return False


class NeverTriggerTimer(SecondOrStepTimer):
    """A timer whose time never comes."""

    def __init__(self):
        super().__init__(every_steps=1)

    def should_trigger_for_step(self, step):
        return False

    def update_last_triggered_step(self, step):
        return None, None

    def last_triggered_step(self):
        return None


def weighted_moving_average(value, decay, weight, truediv=True,
                            collections=None, name=None):
    """The moving average of `value`, each counted as often as `weight` says:
    that of value * weight by that of weight, both of which begin with zero."""
    collections = collections or [GraphKeys.GLOBAL_VARIABLES]
    with _scopes.variable_scope(name, "WeightedMovingAvg",
                                [value, weight, decay]) as scope:
        averages = []
        for key, x in (("value_x_weight", value), ("weight", weight)):
            averages.append(get_variable(
                key, shape=x.get_shape(), dtype=x.dtype,
                initializer=_initializers.Zeros(), trainable=False,
                collections=collections))
        numerator = assign_moving_average(averages[0], value * weight, decay,
                                          zero_debias=False)
        denominator = assign_moving_average(averages[1], weight, decay,
                                            zero_debias=False)
        divide = _math.truediv if truediv else _math.div
        return divide(numerator, denominator, name=scope.name)


def maybe_name(obj):
    """The name of an object, or what it is as text."""
    return obj if isinstance(obj, str) else getattr(obj, "name", str(obj))


def ready(op, sess, msg):
    """(whether a session has all that `op` asks for, what is missing)."""
    return SessionManager._ready(op, sess)


def deduplicate_indexed_slices(values, indices):
    """(values, indices) with each index once: values of the same are added."""
    unique, places = _raw.Unique(indices)
    summed = _raw.UnsortedSegmentSum(
        values, places, _raw.Shape(unique)[0])
    return summed, unique


def var_key(var):
    """What a variable's slots are found by: its graph and the name of its
    node."""
    return var.op.graph, var.op.name


def get_or_create_steps_per_run_variable():
    """An int32 scalar, a local variable of 1: the steps of a run of a program
    whose runs have several. RuntimeError if the collection has two."""
    name = "hooks_steps_per_run"
    found = get_collection(name)
    if len(found) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with _scopes.variable_scope("hooks", reuse=_scopes.AUTO_REUSE):
        return get_variable(
            "steps_per_run", initializer=_initializers.Ones(), shape=[],
            dtype=dtypes.int32, trainable=False, use_resource=True,
            collections=[name, GraphKeys.LOCAL_VARIABLES])


class MultiStepStopAtStepHook(SessionRunHook):
    """StopAtStepHook for runs of several steps: it sets how many the next run
    has, so that the last ends at the last step."""

    def __init__(self, num_steps=None, last_step=None, steps_per_run=1):
        StopAtStepHook(num_steps, last_step)  # refuses both and none
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._num_steps, self._last_step = num_steps, last_step
        self._steps_per_run = steps_per_run

    def begin(self):
        """Finds the global step. RuntimeError if there is none."""
        self._global_step = get_global_step()
        if self._global_step is None:
            raise RuntimeError("Global step should be created to use "
                               "StopAtStepHook.")
        self._variable = get_or_create_steps_per_run_variable()

    def _set_steps(self, step, session):
        self._variable.load(min(self._last_step - step, self._steps_per_run),
                            session=session)

    def after_create_session(self, session, coord):
        """Sets the steps of the first run."""
        step = session.run(self._global_step)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._set_steps(step, session)

    def after_run(self, run_context, run_values):
        """Stops, or sets the steps of the next run."""
        step = run_context.session.run(self._global_step)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._set_steps(step, run_context.session)
