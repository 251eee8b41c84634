"""Optimizers of tf.contrib.opt that are variants of those of tf.train."""
import contextlib

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.math import linalg_ops as _linalg
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.training.contrib_optimizers import LazyAdamOptimizer
from headrace._src.training.optimizer import Optimizer, _cast
from headrace._src.training.optimizers import (
    AdagradOptimizer, AdamOptimizer, MomentumOptimizer)


class AdamGSOptimizer(AdamOptimizer):
    """Adam that takes the number of the step from `global_step`, where Adam
    keeps the powers of beta1 and beta2 in variables of its own."""

    def __init__(self, global_step=0, learning_rate=0.001, beta1=0.9,
                 beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking,
                         name)
        self._global_step = global_step
        self._global_step_on_worker = None

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        super()._prepare()
        # One read of the step for all variables.
        self._global_step_on_worker = _math.cast(
            _array.identity(self._global_step) + 1, dtypes.float32)

    def _get_beta_accumulators(self):
        return tuple(_math.pow(beta, self._global_step_on_worker)
                     for beta in (self._beta1_t, self._beta2_t))

    def _finish(self, update_ops, name_scope):
        return Optimizer._finish(self, update_ops, name_scope)


class LazyAdamGSOptimizer(AdamGSOptimizer):
    """AdamGSOptimizer that leaves rows without a gradient as they are, with
    their averages."""

    _apply_sparse = LazyAdamOptimizer._apply_sparse
    _resource_apply_sparse = LazyAdamOptimizer._resource_apply_sparse
    _apply_rows = LazyAdamOptimizer._apply_rows


class LARSOptimizer(MomentumOptimizer):
    """Momentum with a learning rate for each variable, which keeps the update
    in proportion to the variable: learning_rate * eeta * |var| / (|gradient| +
    weight_decay * |var| + epsilon), or learning_rate where a norm is zero.

    `skip_list`: parts of the names of variables that have no rate of their own.
    Those with sparse gradients have none either. ValueError for a negative
    momentum or weight decay."""

    def __init__(self, learning_rate, momentum=0.9, weight_decay=0.0001,
                 eeta=0.001, epsilon=0.0, name="LARSOptimizer",
                 skip_list=None, use_nesterov=False):
        for argument, value in (("momentum", momentum),
                                ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError("%s should be positive: %s"
                                 % (argument, value))
        super().__init__(learning_rate, momentum, False, name, use_nesterov)
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list

    def compute_lr(self, grad, var):
        """(learning rate of a variable, its gradient with weight decay)"""
        if self._skip_list is not None and any(
                part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        of_var, of_grad = [_linalg.norm(x, ord=2) for x in (var, grad)]
        ratio = self._eeta * of_var / (
            of_grad + self._weight_decay * of_var + self._epsilon)
        for norm in (of_grad, of_var):
            ratio = _array.where(norm > 0, ratio, _array.ones_like(ratio))
        return self._learning_rate * ratio, grad + self._weight_decay * var

    def _apply_scaled(self, prefix, grad, var):
        dtype = var.dtype.base_dtype
        rate, grad = self.compute_lr(grad, var)
        slot = self.get_slot(var, "momentum")
        if var._is_resource:
            var, slot = var.handle, slot.handle
        return getattr(_raw, prefix + "ApplyMomentum")(
            var=var, accum=slot, lr=_math.cast(1.0, dtype), grad=grad * rate,
            momentum=_cast(self._momentum_tensor, dtype), use_locking=False,
            use_nesterov=self._use_nesterov)

    def _apply_dense(self, grad, var):
        return self._apply_scaled("", grad, var).op

    def _resource_apply_dense(self, grad, handle):
        return self._apply_scaled("Resource", grad, handle)


class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad that can leave its accumulators as they are, for losses that
    shall not change the learning rate:

        step = optimizer.minimize(loss)
        with optimizer.avoid_updating_slots():
            regularize = optimizer.minimize(regularization_loss)
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1,
                 use_locking=False, name="RegAdagrad"):
        super().__init__(learning_rate, initial_accumulator_value, use_locking,
                         name)
        self._should_update_slots = True

    @contextlib.contextmanager
    def avoid_updating_slots(self):
        """A block in which updates are made that use the accumulators only."""
        before = self._should_update_slots
        self._should_update_slots = False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _attrs(self):
        return {"update_slots": self._should_update_slots}
