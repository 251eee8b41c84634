"""tf.keras.mixed_precision.experimental.LossScaleOptimizer, and what makes an
optimizer scale its losses."""
from headrace._src.control.control_flow_ops import group
from headrace._src.framework.graph import name_scope
from headrace._src.keras.optimizers import Optimizer
from headrace._src.layers.policy import begin_graph_rewrite, end_graph_rewrite
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as _logging
from headrace._src.training.loss_scale import (
    MixedPrecisionLossScaleOptimizer, applied_if_finite, get_loss_scale,
    unscaled)
from headrace._src.training.optimizer import Optimizer as _TrainOptimizer
from headrace._src.variables.strategies import loaded_strategies


class LossScaleOptimizer(Optimizer):
    """The optimizer `opt` of tf.keras with losses that are scaled by
    `loss_scale`, a LossScale, a number or "dynamic". With a dynamic scale, a
    step whose gradients are not finite changes no weight. Weights may be of any
    shape and dtypes of floats. ValueError for another optimizer, for one that
    clips gradients, and without a scale."""

    def __init__(self, opt, loss_scale):
        if not isinstance(opt, Optimizer):
            raise ValueError('"optimizer" must be an instance of OptimizerV2, '
                             'but got: %s' % (opt,))
        for name in ("clipnorm", "clipvalue"):
            value = getattr(opt, name, None)
            if value is not None:
                raise ValueError(
                    "LossScaleOptimizer does not support wrapping optimizers "
                    "with a %s. Optimizer %s has %s %s"
                    % (name, opt, name, value))
        object.__setattr__(self, "_optimizer", opt)
        object.__setattr__(self, "_loss_scale", get_loss_scale(loss_scale))
        if self._loss_scale is None:
            raise ValueError("loss_scale cannot be None.")

    def __getattr__(self, name):
        if name in ("_optimizer", "_loss_scale"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def __setattr__(self, name, value):
        setattr(self._optimizer, name, value)

    loss_scale = property(lambda self: self._loss_scale)
    iterations = property(lambda self: self._optimizer.iterations)
    weights = property(lambda self: self._optimizer.weights)

    def get_scaled_loss(self, loss):
        """The loss, or a function that returns it, times the scale."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * _math.cast(self._loss_scale(), loss.dtype.base_dtype)

    def get_unscaled_gradients(self, grads):
        """The gradients, divided by the scale."""
        return unscaled(grads, self._loss_scale)

    def get_gradients(self, loss, params):
        """The gradients of the scaled loss, divided by the scale."""
        return self.get_unscaled_gradients(self._optimizer.get_gradients(
            self.get_scaled_loss(loss), params))

    def minimize(self, loss, var_list, grad_loss=None, name=None):
        """An operation that does a step."""
        loss = loss() if callable(loss) else loss
        var_list = var_list() if callable(var_list) else var_list
        return self.apply_gradients(list(zip(
            self.get_gradients(loss, var_list), var_list)), name)

    def apply_gradients(self, grads_and_vars, name=None):
        """An operation that changes the variables if the gradients are finite,
        and the scale. ValueError between the replicas of a strategy."""
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        strategies = loaded_strategies()
        if strategies is not None and strategies.has_strategy():
            if strategies.in_cross_replica_context():
                raise ValueError("apply_gradients() must be called in a replica "
                                 "context.")
            return strategies.get_replica_context().merge_call(
                self._distributed_apply, (pairs, name))
        return self._applied(
            pairs, lambda: self._optimizer.apply_gradients(pairs, name))

    def _distributed_apply(self, distribution, pairs, name=None):
        """apply_gradients() between the replicas of a strategy: if the gradients
        of all are finite."""
        return self._applied(pairs, lambda: distribution.group(
            self._optimizer._distributed_apply(distribution, pairs, name)))

    def _applied(self, pairs, apply):
        with name_scope(self._optimizer._name):
            self._optimizer.iterations
            self._optimizer._create_hypers()
            self._optimizer._create_slots([v for _, v in pairs])
        return group(*applied_if_finite(self._loss_scale, pairs, apply))

    def add_slot(self, var, slot_name, initializer=0.):
        return self._optimizer.add_slot(var, slot_name, initializer)

    def get_slot(self, var, slot_name):
        return self._optimizer.get_slot(var, slot_name)

    def get_weights(self):
        return self._optimizer.get_weights()

    def set_weights(self, weights):
        self._optimizer.set_weights(weights)

    def _checkpoint_children(self):
        return [("loss_scale", self._loss_scale),
                ("base_optimizer", self._optimizer)]

    def _checkpoint_slots(self):
        return []

    def get_config(self):
        """Raises NotImplementedError, as in TensorFlow 1.15."""
        raise NotImplementedError("get_config() is not yet implemented for "
                                  "LossScaleOptimizers")


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """`opt`, an optimizer of tf.train or tf.keras, with losses that are scaled by
    `loss_scale`. The graph itself stays as it is: TensorFlow rewrites only what
    runs on GPUs. Variables may be of any shape and dtypes of floats. ValueError
    for another optimizer, one that scales losses already, and after
    tf.keras.mixed_precision.experimental.set_policy."""
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError('"opt" must not already be an instance of a '
                         'MixedPrecisionLossScaleOptimizer.')
    if isinstance(opt, LossScaleOptimizer):
        raise ValueError('"opt" must not already be an instance of a '
                         'LossScaleOptimizer.')
    if not isinstance(opt, (_TrainOptimizer, Optimizer)):
        raise ValueError('"opt" must be an instance of a tf.train.Optimizer or '
                         'a tf.keras.optimizers.Optimizer, but got: %s'
                         % (opt,))
    begin_graph_rewrite()
    _logging.warning("enable_mixed_precision_graph_rewrite scales the loss; "
                     "the graph is not rewritten.")
    if isinstance(opt, Optimizer):
        return LossScaleOptimizer(opt, loss_scale)
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite():
    """Says that graphs are not to be rewritten, which they never are: after it
    tf.keras.mixed_precision.experimental.set_policy may be called. Returns
    None, whatever the shapes and dtypes, and raises nothing."""
    end_graph_rewrite()
