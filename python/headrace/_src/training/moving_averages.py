"""Moving averages of variables and tensors: tf.train.ExponentialMovingAverage."""
from headrace._headrace import EagerTensor
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, add_to_collection, colocate_with, init_scope, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math
from headrace._src.training import slots as _slots
from headrace._src.variables import initializers as _init
from headrace._src.variables import scopes as _scopes
from headrace._src.variables import variables as _variables
from headrace._src.variables.base import Variable


def _subtract(variable, delta, name):
    # The op of a resource variable lies in the scope, beside what reads it.
    return variable.assign_sub(
        delta, name=None if variable._is_resource else name)


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """variable -= (1 - decay) * (variable - value): an update of the average.

    `zero_debias`: for a variable that began as zeros, the average of the values
    alone. That takes two more variables, `biased` and `local_step`."""
    with name_scope(name, "AssignMovingAvg",
                    [variable, value, decay]) as scope:
        rate = convert_to_tensor(1.0 - decay, name="decay")
        dtype = variable.dtype.base_dtype
        if rate.dtype.base_dtype != dtype:
            rate = _math.cast(rate, dtype)
        if zero_debias:
            return _debiased(variable, value, rate, scope)
        return _subtract(variable, (variable - value) * rate, scope)


def _unused(name):
    """`name`, or with a number, so that the scope has no such variable yet."""
    scope = _scopes.get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    full, found, number = "%s/%s" % (scope.name, name), name, 0
    while (full if not number else "%s_%d" % (full, number)) in taken:
        number += 1
        found = "%s_%d" % (name, number)
    return found


def _debiased(variable, value, rate, scope):
    dtype = variable.dtype.base_dtype
    with _scopes.pure_variable_scope(variable.op.name), init_scope(), \
            colocate_with(variable):
        biased, step = [
            _scopes.get_variable(
                _unused(name), shape=shape, dtype=dtype, trainable=False,
                initializer=_init.zeros_initializer(),
                use_resource=variable._is_resource)
            for name, shape in (("biased", variable.get_shape()),
                                ("local_step", []))]
    average = biased.assign_sub((biased - value) * rate)
    count = step.assign_add(1)
    average = convert_to_tensor(average)
    return variable.assign(
        average / (1 - _math.pow(1.0 - rate, convert_to_tensor(count))),
        name=scope)


class ExponentialMovingAverage:
    """Averages of variables that fade: average = decay * average +
    (1 - decay) * value, at each run of what apply() returns.

    `num_updates`: a count of steps, by which the decay begins lower:
    min(decay, (1 + num_updates) / (10 + num_updates)). `zero_debias`: averages
    of tensors, which begin as zeros, are corrected for that.

    apply() takes variables and tensors of float16, float32 or float64 and any
    shape; an average has the same shape and dtype. TypeError for other types,
    ValueError for one that has an average already. `decay`: a number or scalar
    tensor."""

    def __init__(self, decay, num_updates=None, zero_debias=False,
                 name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages = {}  # key of the variable or tensor: (it, average)

    name = property(lambda self: self._name)

    def apply(self, var_list=None):
        """The Operation that updates the averages of these variables and
        tensors, by default of the trainable variables. Averages of variables
        begin with the variable's initial value. TypeError for other types than
        floats."""
        if var_list is None:
            var_list = _variables.trainable_variables()
        debiased = set()
        for v in var_list:
            if v.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16,
                                          dtypes.float32, dtypes.float64):
                raise TypeError("The variables must be half, float, or double: "
                                "%s" % v.name)
            if self._key(v) not in self._averages:
                self._averages[self._key(v)] = v, self._make(v)
                if self._zero_debias and not isinstance(v, Variable):
                    debiased.add(self._key(v))
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                n = _math.cast(self._num_updates, dtypes.float32,
                               name="num_updates")
                decay = _math.minimum(decay, (1.0 + n) / (10.0 + n))
            updates = [
                assign_moving_average(self.average(v), v, decay,
                                      zero_debias=self._key(v) in debiased)
                for v in var_list]
            return _flow.group(*updates, name=scope)

    @staticmethod
    def _key(v):
        if hasattr(v, "_unique_id"):  # of eager execution
            return v._unique_id
        if isinstance(v, EagerTensor):
            raise RuntimeError("ExponentialMovingAverage: averages of tensors "
                               "are not supported when eager execution is "
                               "enabled; give it variables")
        return v.graph, v.name

    def _make(self, v):
        with init_scope():
            if isinstance(v, Variable):
                average = _slots.create_slot(v, v.initialized_value(),
                                             self._name)
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, v)
                return average
            return _slots.create_zeros_slot(
                v, self._name, colocate_with_primary=v.op.type in (
                    "Variable", "VariableV2", "VarHandleOp"))

    def average(self, var):
        """The variable that is the average of `var`, or None."""
        return self._averages.get(self._key(var), (None, None))[1]

    def average_name(self, var):
        """The name of that variable, whether or not it is there."""
        if self._key(var) in self._averages:
            return self.average(var).op.name
        return "%s/%s" % (var.op.name, self._name)

    def variables_to_restore(self, moving_avg_variables=None):
        """{name in a checkpoint: variable} that gives variables the values of
        their averages: of `moving_avg_variables`, by default of all variables
        that are trainable or have an average."""
        if moving_avg_variables is None:
            moving_avg_variables = (_variables.trainable_variables()
                                    + _variables.moving_average_variables())
        averaged = {v.op.name: v for v in moving_avg_variables}
        found = {self.average_name(v): v for v in averaged.values()}
        for v in _variables.global_variables():
            if v.op.name not in averaged:
                found.setdefault(v.op.name, v)
        return found
