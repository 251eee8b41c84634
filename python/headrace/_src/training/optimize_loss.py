"""tf.contrib.layers.optimize_loss: a training step with its usual parts."""
from headrace._headrace import Tensor
from headrace._src.control import control_flow_ops as _flow
from headrace._src.framework import dtypes
from headrace._src.framework import graph as _graph
from headrace._src.framework.graph import GraphKeys
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.training import global_step as _step
from headrace._src.training import optimizers as _optimizers
from headrace._src.training import summary as _summary
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables import initializers as _init
from headrace._src.variables import scopes as _scopes
from headrace._src.variables import variables as _variables

OPTIMIZER_CLS_NAMES = {
    "Adagrad": _optimizers.AdagradOptimizer,
    "Adam": _optimizers.AdamOptimizer,
    "Ftrl": _optimizers.FtrlOptimizer,
    "Momentum": lambda learning_rate: _optimizers.MomentumOptimizer(
        learning_rate, momentum=0.9),
    "RMSProp": _optimizers.RMSPropOptimizer,
    "SGD": _optimizers.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = [
    "learning_rate", "loss", "gradients", "gradient_norm",
    "global_gradient_norm",
]


def optimize_loss(loss, global_step, learning_rate, optimizer,
                  gradient_noise_scale=None, gradient_multipliers=None,
                  clip_gradients=None, learning_rate_decay_fn=None,
                  update_ops=None, variables=None, name=None, summaries=None,
                  colocate_gradients_with_ops=False,
                  increment_global_step=True):
    """The loss as a tensor; computing it runs a training step.

    `optimizer`: a name of OPTIMIZER_CLS_NAMES, a class, an Optimizer, or a
    function of the learning rate that returns one. `gradient_noise_scale`:
    noise on the gradients. `gradient_multipliers`: {variable or its name:
    factor}. `clip_gradients`: the greatest global norm, or a function of the
    list of pairs. `learning_rate_decay_fn` takes the rate and the step.
    `update_ops` run first; by default the collection UPDATE_OPS. `summaries`:
    names of OPTIMIZER_SUMMARIES. ValueError for arguments that do not fit."""
    loss = convert_to_tensor(loss)
    if loss.get_shape().ndims not in (None, 0):
        raise ValueError("optimize_loss: the loss must be a scalar, %s has "
                         "shape %s" % (loss.name, loss.get_shape()))
    if global_step is None:
        global_step = _step.get_global_step()
    else:
        _step.assert_global_step(global_step)
    with _scopes.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = _after_updates(loss, update_ops)
        rate = _learning_rate(learning_rate)
        if summaries is None:
            summaries = ["loss", "learning_rate", "global_gradient_norm"]
        else:
            for s in summaries:
                if s not in OPTIMIZER_SUMMARIES:
                    raise ValueError(
                        "Summaries should be one of [%s], you provided %s."
                        % (", ".join(OPTIMIZER_SUMMARIES), s))
        if rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for "
                                 "learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                _summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate, learning_rate)
        if variables is None:
            variables = _variables.trainable_variables()
        pairs = opt.compute_gradients(
            loss, variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            pairs = [(_with_noise(g, gradient_noise_scale), v)
                     for g, v in pairs]
        if gradient_multipliers is not None:
            pairs = _multiplied(pairs, gradient_multipliers)
            if not pairs:
                raise ValueError("Empty list of (gradient, var) pairs "
                                 "encountered. This is most likely to be "
                                 "caused by an improper value of "
                                 "gradient_multipliers.")
        if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
            _summary.scalar("global_norm/gradient_norm",
                            _clipping.global_norm([g for g, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summaries:
            _summary.scalar("loss", loss)
        _summaries_of_gradients(pairs, summaries)
        if clip_gradients is not None and (
                "global_gradient_norm" in summaries
                or "gradient_norm" in summaries):
            _summary.scalar("global_norm/clipped_gradient_norm",
                            _clipping.global_norm([g for g, _ in pairs]))
        step = opt.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None,
            name="train")
        return _flow.with_dependencies([step], loss)


def _after_updates(loss, update_ops):
    if update_ops is None:
        update_ops = _graph.get_collection(GraphKeys.UPDATE_OPS)
    update_ops = list(dict.fromkeys(update_ops))
    return _flow.with_dependencies(update_ops, loss) if update_ops else loss


def _learning_rate(rate):
    """The rate as a tensor or a variable that a program may assign."""
    if rate is None:
        return None
    if isinstance(rate, Tensor) and rate.get_shape().ndims == 0:
        return rate
    if isinstance(rate, float):
        if rate < 0.0:
            raise ValueError("Invalid learning_rate %s." % rate)
        return _scopes.get_variable(
            "learning_rate", [], trainable=False,
            initializer=_init.constant_initializer(rate))
    raise ValueError("Learning rate should be 0d Tensor or float. Got %s of "
                     "type %s" % (rate, type(rate)))


def _optimizer(optimizer, rate, given):
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(
                "Learning rate is None, but should be specified if optimizer "
                "is string (%s)." % optimizer)
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError("Optimizer name should be one of [%s], you "
                             "provided %s." % (
                                 ", ".join(OPTIMIZER_CLS_NAMES), optimizer))
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, Optimizer):
        if rate is None:
            raise ValueError(
                "Learning rate is None, but should be specified if optimizer "
                "is class (%s)." % optimizer)
        return optimizer(learning_rate=rate)
    if isinstance(optimizer, Optimizer):
        return optimizer
    if callable(optimizer):
        made = optimizer() if given is None else optimizer(rate)
        if not isinstance(made, Optimizer):
            raise ValueError("Unrecognized optimizer: function should return "
                             "subclass of Optimizer. Got %s." % (made,))
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, "
        "instance of subclass of Optimizer or function with one argument. Got "
        "%s." % (optimizer,))


def _with_values(g, change):
    """A gradient with other values."""
    if isinstance(g, IndexedSlices):
        return IndexedSlices(change(g.values), g.indices, g.dense_shape)
    return None if g is None else change(g)


def _with_noise(g, scale):
    def add(x):
        shape = (g.dense_shape if isinstance(g, IndexedSlices)
                 else _array.shape(x))
        return x + _random.truncated_normal(shape, dtype=x.dtype) * scale
    if isinstance(g, IndexedSlices):
        # Every row gets noise, also those without a gradient.
        return add(convert_to_tensor(g))
    return None if g is None else add(g)


def _multiplied(pairs, multipliers):
    found = []
    for g, v in pairs:
        key = v if v in multipliers else v.name
        if g is not None and key in multipliers:
            factor = multipliers[key]
            factor = (_math.cast(factor, dtypes.float32)
                      if isinstance(factor, Tensor) else convert_to_tensor(
                          factor, dtype=dtypes.float32))
            g = _with_values(
                g, lambda x, factor=factor: x * _math.cast(factor, x.dtype))
        found.append((g, v))
    return found


def _clipped(pairs, clip):
    if clip is None:
        return pairs
    if isinstance(clip, (int, float)) and not isinstance(clip, bool):
        grads, _ = _clipping.clip_by_global_norm([g for g, _ in pairs], clip)
        return list(zip(grads, [v for _, v in pairs]))
    if callable(clip):
        return clip(pairs)
    raise ValueError("Unknown type %s for clip_gradients" % type(clip))


def _summaries_of_gradients(pairs, summaries):
    for g, v in pairs:
        if g is None:
            continue
        values = g.values if isinstance(g, IndexedSlices) else g
        name = v.name.replace(":", "_")
        if "gradients" in summaries:
            _summary.histogram("gradients/" + name, values)
        if "gradient_norm" in summaries:
            _summary.scalar("gradient_norm/" + name,
                            _clipping.global_norm([values]))
