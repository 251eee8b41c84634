"""Optimizers of tf.contrib.opt around another: what they do with its gradients
or after its updates."""
import contextlib
import types

from headrace._headrace import Tensor
from headrace._src.control import control_flow as _control
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    colocate_with, control_dependencies, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.training import summary as _summary
from headrace._src.training.global_step import get_global_step
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables import initializers as _initializers
from headrace._src.variables.scopes import get_variable


class DropStaleGradientOptimizer(Optimizer):
    """Uses the gradients of a worker only if the global step grew by at most
    `staleness` while they were computed. A variable "stale_counter" counts
    those that it drops, and a summary has their share."""

    def __init__(self, opt, staleness, use_locking=False,
                 name="DropStaleGradient"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness

    def compute_gradients(self, loss, *args, **kwargs):
        """Those of the optimizer, after a read of the global step."""
        with colocate_with(loss):
            self._local_step = get_global_step() + 0
        with control_dependencies([self._local_step]):
            loss = _array.identity(loss)
            return self._opt.compute_gradients(loss, *args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the variables, or counts the gradients as dropped."""
        grads_and_vars = list(grads_and_vars)
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        with colocate_with(global_step):
            dropped = get_variable(
                "stale_counter", [],
                initializer=_initializers.zeros_initializer(), trainable=False)

        def accept():
            with control_dependencies([self._opt.apply_gradients(
                    grads_and_vars, global_step=global_step, name=name)]):
                return _array.identity(0.0)

        gradients = [g if isinstance(g, Tensor) else g.op
                     for g, _ in grads_and_vars if g is not None]
        with control_dependencies(gradients), colocate_with(global_step):
            staleness = _array.reshape(global_step - self._local_step, [])
        counted = dropped.assign_add(_control.cond(
            _math.less_equal(staleness, self._staleness), accept,
            lambda: _array.identity(1.0)))
        _summary.scalar("Gradient staleness percentage", dropped / _math.cast(
            global_step + 1, dtypes.float32))
        return counted


class VariableClippingOptimizer(Optimizer):
    """Clips variables after their updates: to the norm `max_norm` along the
    dimensions that `vars_to_clip_dims` has for a variable. Of variables with
    sparse gradients only the rows that had one are clipped, unless dimension 0
    is among the dimensions; a row that had two loses its excess twice."""

    def __init__(self, opt, vars_to_clip_dims, max_norm, use_locking=False,
                 colocate_clip_ops_with_vars=False, name="VariableClipping"):
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {v: dims[:] for v, dims
                                   in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocate_clip_ops_with_vars = colocate_clip_ops_with_vars

    def compute_gradients(self, *args, **kwargs):
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args, **kwargs):
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Updates the variables, then clips them."""
        grads_and_vars = list(grads_and_vars)
        with name_scope(name, self._name) as scope:
            update = self._opt.apply_gradients(grads_and_vars,
                                               global_step=global_step)
            clipped = []
            with control_dependencies([update]):
                for grad, var in grads_and_vars:
                    if grad is None or var not in self._vars_to_clip_dims:
                        continue
                    with name_scope("clip_" + var.op.name):
                        clipped.append(self._clip(grad, var))
            return _flow.group(update, *clipped, name=scope)

    def _clip(self, grad, var):
        dims = self._vars_to_clip_dims[var]
        if not isinstance(grad, IndexedSlices):
            return self._clip_whole(var, dims)
        if 0 in dims:
            logging.warning(
                "Clipping norm across dims %s for %s is inefficient when "
                "including sparse dimension 0.", dims, var.op.name)
            return self._clip_whole(var, dims)
        return self._clip_rows(grad, var, dims)

    def _clip_whole(self, var, dims):
        with self._place(var):
            value = var.read_value()
            excess = value - _clipping.clip_by_norm(value, self._max_norm, dims)
        with colocate_with(var):
            return var.assign_sub(excess, use_locking=self._use_locking)

    def _clip_rows(self, grad, var, dims):
        with colocate_with(var):
            rows = _array.gather(var, grad.indices)
        with self._place(var):
            excess = rows - _clipping.clip_by_norm(rows, self._max_norm, dims)
        with colocate_with(var):
            return var.scatter_sub(
                IndexedSlices(excess, grad.indices, grad.dense_shape),
                use_locking=self._use_locking)

    def _place(self, var):
        return (colocate_with(var) if self._colocate_clip_ops_with_vars
                else contextlib.nullcontext())


def _all_zeros(grad):
    return _math.equal(_math.count_nonzero(grad), 0)


class MultitaskOptimizerWrapper:
    """An optimizer that leaves variables, and its slots, as they are where a
    gradient is all zeros: the loss of a task that a batch does not have.

    It changes the optimizer `opt` itself, and has its attributes. TypeError if
    that is no tf.train.Optimizer."""

    def __init__(self, opt):
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of "
                            "tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse",
                     "_resource_apply_sparse"):
            setattr(opt, name, self._unless_zeros(getattr(opt, name), opt))

    @staticmethod
    def _unless_zeros(update, opt):
        def updated(self, grad, *args, **kwargs):
            def call():
                with control_dependencies([update(grad, *args, **kwargs)]):
                    return _array.no_op()
            values = grad.values if isinstance(grad, IndexedSlices) else grad
            return _control.cond(_all_zeros(values), _array.no_op, call)
        return types.MethodType(updated, opt)

    def __getattr__(self, name):
        return getattr(self._opt, name)


def clip_gradients_by_global_norm(gradients_variables, clip_norm=20.):
    """([(clipped gradient, variable)], norm): as tf.clip_by_global_norm, for
    what compute_gradients gives."""
    gradients, variables = zip(*gradients_variables)

    def without_zeros(grad):
        if grad is None:
            return None
        return _control.cond(
            _all_zeros(grad), lambda: _array.zeros([], dtype=grad.dtype),
            lambda: grad)

    norm = _clipping.global_norm([without_zeros(g) for g in gradients])
    gradients, _ = _clipping.clip_by_global_norm(gradients, clip_norm,
                                                 use_norm=norm)
    return list(zip(gradients, variables)), norm
