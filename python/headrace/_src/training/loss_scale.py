"""tf.train.experimental: the loss is scaled up, and the gradients down again, so
that small gradients of float16 do not vanish."""
import abc

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import get_default_graph
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables.base import Variable
from headrace._src.variables.strategies import loaded_strategies


class LossScale(abc.ABC):
    """By what the loss is multiplied and gradients are divided. A call returns
    it, a float32 scalar; update() changes it by the gradients, of any shapes.
    A subclass defines these and get_config(). TypeError without them,
    RuntimeError for two weights of a name."""

    def __init__(self):
        self._weights = {}

    @abc.abstractmethod
    def __call__(self):
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads):
        """(an operation that changes the scale, whether to apply the gradients:
        a bool or a tensor). `grads`: a structure of unscaled gradients."""

    @abc.abstractmethod
    def get_config(self):
        """The arguments that from_config makes an equal scale of."""

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _add_weight(self, name, initial_value, dtype=None):
        """A variable of the scale."""
        key = name, get_default_graph()
        if key in self._weights:
            raise RuntimeError("Duplicate variables detected. %s" % name)
        self._weights[key] = Variable(
            initial_value, name=name, dtype=dtype, trainable=False,
            use_resource=True)
        return self._weights[key]

    def _checkpoint_children(self):
        graph = get_default_graph()
        return sorted((name, v) for (name, of), v in self._weights.items()
                      if of is graph)


class FixedLossScale(LossScale):
    """Always `loss_scale_value`, a number of at least 1, for losses of any shape
    and dtype. ValueError for another."""

    def __init__(self, loss_scale_value):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float, "
                             "got %r" % (loss_scale_value,))
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1, got %r"
                             % loss_scale_value)
        self._value = float(loss_scale_value)

    def __call__(self):
        return convert_to_tensor(self._value)

    def update(self, grads):
        return _raw.NoOp(), True

    def __repr__(self):
        return "FixedLossScale(%s)" % self._value

    def get_config(self):
        return {"loss_scale_value": self._value}


def are_finite(grads):
    """Whether all elements of the gradients are; None counts as finite."""
    grads = [g.values if isinstance(g, IndexedSlices) else g
             for g in grads if g is not None]
    return _math.reduce_all([_math.reduce_all(_raw.IsFinite(g))
                             for g in grads])


class DynamicLossScale(LossScale):
    """Begins with `initial_loss_scale`. After `increment_period` steps with
    finite gradients it is multiplied by `multiplier`; a step with others
    divides it, down to 1, and is left out. Gradients may be of any shape and
    of dtypes of floats. ValueError for arguments that are no numbers."""

    def __init__(self, initial_loss_scale=2 ** 15, increment_period=2000,
                 multiplier=2.):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight(
            "current_loss_scale", self._initial_loss_scale, dtypes.float32)
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    initial_loss_scale = property(lambda self: self._initial_loss_scale)
    increment_period = property(lambda self: self._increment_period)
    multiplier = property(lambda self: self._multiplier)

    def __call__(self):
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads):
        grads = nest.flatten(grads)
        strategies = loaded_strategies()
        if strategies is not None and strategies.has_strategy():
            strategy = strategies.get_strategy()
            finite = strategy.extended.call_for_each_replica(
                lambda grads: _math.cast(are_finite(grads), dtypes.float32),
                (grads,))
            finite = _math.equal(
                strategy.reduce(strategies.ReduceOp.SUM, finite),
                float(strategy.num_replicas_in_sync))
        else:
            finite = are_finite(grads)
        scale, steps = self._current_loss_scale, self._num_good_steps

        def grown():
            larger = scale * self._multiplier
            return group(cond(_raw.IsFinite(larger), lambda: _done(
                scale.assign(larger)), _raw.NoOp), steps.assign(0))

        def after_finite():
            return cond(steps + 1 >= self._increment_period, grown,
                        lambda: _done(steps.assign_add(1)))

        def after_others():
            return group(steps.assign(0), scale.assign(_math.maximum(
                scale / self._multiplier, 1.)))
        return cond(finite, after_finite, after_others), finite

    def __repr__(self):
        return ("DynamicLossScale(initial_loss_scale=%s, increment_period=%s, "
                "multiplier=%s)" % (self._initial_loss_scale,
                                    self._increment_period, self._multiplier))

    def get_config(self):
        return {"initial_loss_scale": self._initial_loss_scale,
                "increment_period": self._increment_period,
                "multiplier": self._multiplier}


def _done(assigned):
    return getattr(assigned, "op", assigned)


def get_loss_scale(identifier):
    """The LossScale that a number, "dynamic", a LossScale or None stands for.
    ValueError for other things."""
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    raise ValueError("Could not interpret loss scale identifier: %s"
                     % (identifier,))


def unscaled(grads, loss_scale):
    """The gradients, divided by the scale; None stays None."""
    return unscaled_by(grads, 1 / loss_scale())


def unscaled_by(grads, factor):
    """The gradients times the factor; None stays None."""
    found = []
    for g in grads:
        if isinstance(g, IndexedSlices):
            g = IndexedSlices(g.values * factor, g.indices, g.dense_shape)
        elif g is not None:
            g = g * _math.cast(factor, g.dtype.base_dtype)
        found.append(g)
    return found


def applied_if_finite(loss_scale, grads_and_vars, apply):
    """(operation, operation): apply() if the gradients are finite, and what
    changes the scale."""
    update, is_finite = loss_scale.update([g for g, _ in grads_and_vars])
    if is_finite is True:
        return apply(), update
    return cond(is_finite, apply, _raw.NoOp), update


class MixedPrecisionLossScaleOptimizer(Optimizer):
    """The optimizer `opt` of tf.train with losses that are scaled by
    `loss_scale`, a LossScale, a number or "dynamic". With a dynamic scale, a
    step whose gradients are not finite changes no variable. Variables may be of
    any shape; dtypes are those of `opt`. ValueError for what is no optimizer
    or no scale."""

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError('"opt" must be an instance of Optimizer, but got: '
                             '%s' % type(opt))
        super().__init__(opt._use_locking, opt.get_name())
        self._optimizer = opt
        self._loss_scale = get_loss_scale(loss_scale)

    def compute_gradients(self, loss, var_list=None,
                          gate_gradients=Optimizer.GATE_OP,
                          aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        scale = self._loss_scale()
        if callable(loss):
            loss = loss()
        pairs = self._optimizer.compute_gradients(
            loss * _math.cast(scale, loss.dtype.base_dtype), var_list,
            gate_gradients, aggregation_method, colocate_gradients_with_ops,
            grad_loss)
        return list(zip(unscaled([g for g, _ in pairs], self._loss_scale),
                        [v for _, v in pairs]))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        strategies = loaded_strategies()
        if strategies is not None and strategies.in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica "
                             "context.")
        pairs = tuple(grads_and_vars)
        if not isinstance(self._loss_scale, DynamicLossScale):
            return self._optimizer.apply_gradients(pairs, global_step, name)
        if strategies is None or not strategies.has_strategy():
            return self._distributed_apply(None, pairs, global_step, name)
        return strategies.get_replica_context().merge_call(
            self._distributed_apply, (pairs, global_step, name))

    def _distributed_apply(self, distribution, grads_and_vars,
                           global_step=None, name=None):
        name = name or self.get_name()

        def apply():
            arguments = grads_and_vars, global_step, name + "-wrapped"
            if distribution is None:
                return self._optimizer.apply_gradients(*arguments)
            return distribution.group(
                distribution.extended.call_for_each_replica(
                    self._optimizer.apply_gradients, arguments))
        return group(*applied_if_finite(self._loss_scale, grads_and_vars,
                                        apply), name=name)

    # What it keeps is kept by the inner optimizer.

    def get_slot(self, var, name):
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        return self._optimizer.get_slot_names()

    def variables(self):
        graph = get_default_graph()
        return self._optimizer.variables() + [
            v for (_, of), v in self._loss_scale._weights.items()
            if of is graph]

    def _checkpoint_children(self):
        return [("base_optimizer", self._optimizer),
                ("loss_scale", self._loss_scale)]
