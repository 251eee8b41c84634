"""tf.contrib.training and tf.contrib.slim.learning: the step of a training
program, made of a loss and an optimizer."""
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace._src.control.control_flow_ops import with_dependencies
from headrace._src.framework.graph import (
    GraphKeys, control_dependencies, get_collection, get_collection_ref,
    name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.tensor import constant
from headrace._src.ops import array_ops as _array
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.platform import tf_logging as logging
from headrace._src.training import global_step as _step
from headrace._src.training import summary as _summary
from headrace._src.training.optimizer import Optimizer
from headrace._src.variables.variables import trainable_variables

_USE_GLOBAL_STEP = 0


def _of_values(gradient, change):
    """`change` of a gradient, or of the rows of IndexedSlices."""
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(change(gradient.values), gradient.indices,
                             gradient.dense_shape)
    return change(gradient)


def add_gradients_summaries(grads_and_vars):
    """Histograms of gradients and their norms; their summaries."""
    summaries = []
    for grad, var in grads_and_vars:
        if grad is None:
            logging.info("Var %s has no gradient", var.op.name)
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        summaries.append(_summary.histogram(var.op.name + "_gradient", values))
        summaries.append(_summary.histogram(
            var.op.name + "_gradient_norm", _clipping.global_norm([values])))
    return summaries


def clip_gradient_norms(gradients_to_variables, max_norm):
    """The pairs, each gradient clipped to the norm max_norm."""
    return [(g if g is None else _of_values(
        g, lambda x: _clipping.clip_by_norm(x, max_norm)), v)
        for g, v in gradients_to_variables]


def clip_gradient_norms_fn(max_norm):
    """clip_gradient_norms as a function of the pairs."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """The pairs, the gradients of the variables in gradient_multipliers,
    {variable or its name: factor}, multiplied. ValueError for other types, for
    no factors, and for a factor of a gradient that is None."""
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    found = []
    for grad, var in grads_and_vars:
        key = var if var in gradient_multipliers else var.op.name
        if key in gradient_multipliers:
            if grad is None:
                raise ValueError("Requested multiple of `None` gradient.")
            factor = gradient_multipliers[key]
            if not isinstance(factor, Tensor):
                factor = constant(factor, dtype=grad.dtype.base_dtype)
            grad = _of_values(grad, lambda x: x * _math.cast(
                factor, x.dtype.base_dtype))
        found.append((grad, var))
    return found


def create_train_op(
        total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None,
        variables_to_train=None, transform_grads_fn=None,
        summarize_gradients=False, gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None, colocate_gradients_with_ops=False,
        check_numerics=True):
    """The loss as a tensor; computing it runs a training step after the
    update_ops, by default the collection UPDATE_OPS.

    `global_step`: counts the steps; None for none, by default the graph's.
    transform_grads_fn changes the list of (gradient, variable). check_numerics:
    a loss that is no number fails the step."""
    if global_step is _USE_GLOBAL_STEP:
        global_step = _step.get_or_create_global_step()
    known = get_collection(GraphKeys.UPDATE_OPS)
    updates = list(dict.fromkeys(known if update_ops is None else update_ops))
    if not set(known) <= set(updates):
        logging.warning("update_ops in create_train_op does not contain all "
                        "the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with control_dependencies(updates):
            barrier = _array.no_op(name="update_barrier")
        total_loss = with_dependencies([barrier], total_loss)
    if variables_to_train is None:
        variables_to_train = trainable_variables()
    else:
        trains = trainable_variables()
        for v in variables_to_train:
            if all(v is not t for t in trains):
                raise ValueError("create_train_op: the variable %s is not "
                                 "trainable" % v.name)
    pairs = optimizer.compute_gradients(
        total_loss, variables_to_train, gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops)
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = _raw.CheckNumerics(total_loss,
                                            "LossTensor is inf or nan")
        train_op = with_dependencies([applied], total_loss)
    collection = get_collection_ref(GraphKeys.TRAIN_OP)
    if all(train_op is not op for op in collection):
        collection.append(train_op)
    return train_op


def slim_create_train_op(
        total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None,
        variables_to_train=None, clip_gradient_norm=0,
        summarize_gradients=False, gate_gradients=Optimizer.GATE_OP,
        aggregation_method=None, colocate_gradients_with_ops=False,
        gradient_multipliers=None, check_numerics=True):
    """tf.contrib.training.create_train_op, whose gradients are multiplied by
    gradient_multipliers, {variable or its name: factor}, and clipped to
    clip_gradient_norm if that is above 0."""
    def transform(pairs):
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs
    return create_train_op(
        total_loss=total_loss, optimizer=optimizer, global_step=global_step,
        update_ops=update_ops, variables_to_train=variables_to_train,
        transform_grads_fn=transform, summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
        check_numerics=check_numerics)
