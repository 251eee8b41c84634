"""tf.contrib.mixed_precision: an optimizer that scales the loss, and how the
scale changes."""
import abc

from headrace import raw_ops as _raw
from headrace._src.control.control_flow import cond
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import math_ops as _math
from headrace._src.training.loss_scale import are_finite, unscaled_by
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables.variables import Variable


class LossScaleManager(abc.ABC):
    """By what the loss is multiplied and gradients are divided: a subclass
    defines get_loss_scale, which returns a float32 scalar, and
    update_loss_scale. TypeError without them."""

    @abc.abstractmethod
    def get_loss_scale(self):
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads):
        """An operation that changes the scale. `finite_grads`: whether the
        gradients are, a bool scalar."""


class FixedLossScaleManager(LossScaleManager):
    """Always `loss_scale`, a number of at least 1, for losses of any shape and
    dtype. ValueError for less."""

    def __init__(self, loss_scale):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self):
        return self._loss_scale

    def update_loss_scale(self, finite_grads):
        return _raw.NoOp()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """Begins with `init_loss_scale`, a float32. After `incr_every_n_steps` steps
    in a row with finite gradients it is multiplied by `incr_ratio`, unless
    that is no finite number; after `decr_every_n_nan_or_inf` steps with others,
    in a row or not, by `decr_ratio`, down to 1. Gradients have any shape.
    TypeError for what is no number."""

    def __init__(self, init_loss_scale, incr_every_n_steps,
                 decr_every_n_nan_or_inf=2, incr_ratio=2, decr_ratio=0.8):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale = Variable(
            name="loss_scale", dtype=dtypes.float32, trainable=False,
            initial_value=convert_to_tensor(init_loss_scale, dtypes.float32))
        self._num_good_steps = Variable(
            name="good_steps", initial_value=0, dtype=dtypes.int32,
            trainable=False)
        self._num_bad_steps = Variable(
            name="bad_steps", initial_value=0, dtype=dtypes.int32,
            trainable=False)

    def get_loss_scale(self):
        return self._loss_scale

    def _change(self, value):
        return group(self._loss_scale.assign(value),
                     self._num_good_steps.assign(0),
                     self._num_bad_steps.assign(0))

    def update_loss_scale(self, finite_grads):
        def grown():
            larger = self._loss_scale * self._incr_ratio
            return self._change(cond(_raw.IsFinite(larger), lambda: larger,
                                     self._loss_scale.read_value))

        def after_finite():
            return cond(
                self._num_good_steps + 1 >= self._incr_every_n_steps, grown,
                lambda: group(self._num_good_steps.assign_add(1)))

        def after_others():
            return cond(
                self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
                lambda: self._change(_math.maximum(
                    1., self._loss_scale * self._decr_ratio)),
                lambda: group(self._num_bad_steps.assign_add(1),
                              self._num_good_steps.assign(0)))
        return cond(finite_grads, after_finite, after_others)


class LossScaleOptimizer(Optimizer):
    """The optimizer `opt` of tf.train with losses that are scaled as
    `loss_scale_manager` says. A step whose gradients are not finite changes no
    variable. Variables may be of any shape; dtypes are those of `opt`.
    ValueError if there are no gradients."""

    def __init__(self, opt, loss_scale_manager):
        super().__init__(opt._use_locking, opt.get_name())
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(self, loss, var_list=None,
                          gate_gradients=Optimizer.GATE_OP,
                          aggregation_method=None,
                          colocate_gradients_with_ops=False, grad_loss=None):
        scale = convert_to_tensor(self._loss_scale_manager.get_loss_scale())
        loss = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            loss * _math.cast(scale, loss.dtype.base_dtype), var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss)
        grads = unscaled_by([g for g, _ in pairs], _raw.Reciprocal(scale))
        return [(g, v) for g, (_, v) in zip(grads, pairs)]

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        pairs = list(grads_and_vars)
        finite = are_finite([g for g, _ in pairs])
        return group(
            cond(finite, lambda: self._opt.apply_gradients(
                pairs, global_step, name), _raw.NoOp),
            self._loss_scale_manager.update_loss_scale(finite))

    # What it keeps is kept by the inner optimizer.

    def get_slot(self, var, name):
        return self._opt.get_slot(var, name)

    def get_slot_names(self):
        return self._opt.get_slot_names()

    def variables(self):
        return self._opt.variables()
