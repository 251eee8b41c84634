"""tf.nn: losses."""
import numpy as np

from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.array_ops import _renamed


def l2_loss(t, name=None):
    """sum(t ** 2) / 2: a scalar.

    `t`: float16, bfloat16, float32 or float64, of any shape, whose type the
    result has. TypeError for other types."""
    return _raw.L2Loss(t, name=name)


def _need_named(sentinel, labels, logits, name):
    if sentinel is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., "
                         "logits=..., ...)" % name)
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _flatten_outer(x):
    rank = _array.rank(x)
    last = _array.slice(_array.shape(x), [_raw.Sub(rank, 1)], [1])
    flat = _raw.Reshape(x, _array.concat([[-1], last], 0))
    static = x.get_shape()
    if static.ndims is not None:
        sizes = static.as_list()
        outer = sizes[:-1]
        flat.set_shape([None if None in outer
                        else int(np.prod(outer, dtype=np.int64)), sizes[-1]])
    return flat


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None,
                                         dim=None):
    """-sum(labels * log_softmax(logits)) along `axis`, the last by default.

    `labels` and `logits`: of one shape [..., classes] and float16, bfloat16,
    float32 or float64; labels are probabilities, are cast to the type of the
    logits, and have gradients too. The losses are of that type, without `axis`.
    ValueError if one is missing or shapes differ; TypeError for other types."""
    axis = _renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits",
                    [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        narrow = logits.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)
        precise = _math.cast(logits, dtypes.float32) if narrow else logits
        labels = _math.cast(labels, precise.dtype)
        n = precise._rank()
        input_rank = _array.rank(precise)
        static = logits.get_shape()
        if axis != -1 and axis != (n or 0) - 1:
            if n is None:
                raise ValueError("axis %d needs a known rank" % axis)
            order = [i for i in range(n) if i != axis % n] + [axis % n]
            precise = _raw.Transpose(precise, order)
            labels = _raw.Transpose(labels, order)
        input_shape = _array.shape(precise)
        out = _raw.SoftmaxCrossEntropyWithLogits(
            _flatten_outer(precise), _flatten_outer(labels), name=scope)
        cost = _raw.Reshape(out[0], _array.slice(
            input_shape, [0], [_raw.Sub(input_rank, 1)]))
        if static.ndims is not None:
            sizes = static.as_list()
            del sizes[axis]
            cost.set_shape(sizes)
        return _math.cast(cost, logits.dtype) if narrow else cost


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None,
                                      dim=-1, name=None, axis=None):
    """As softmax_cross_entropy_with_logits_v2, without a gradient to the
    labels.

    `labels` and `logits`: [batch, classes] or more, of float16, bfloat16,
    float32 or float64; labels are cast to the type of the logits. The losses
    are [batch], of that type. ValueError for arguments without names, one
    missing, or shapes that differ; TypeError for other types."""
    _need_named(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    with name_scope(name, "softmax_cross_entropy_with_logits_sg",
                    [logits, labels]) as scope:
        labels = _raw.StopGradient(labels, name="labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(
            labels, logits, axis=dim if axis is None else axis, name=scope)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None,
                                             logits=None, name=None):
    """-log_softmax(logits)[labels] along the last dimension of the logits.

    `labels`: int32 or int64 [batch, ...]; `logits`: float16, bfloat16, float32
    or float64 [batch, ..., classes]. The losses have the shape of the labels
    and the type of the logits. ValueError for arguments without names, one
    missing, scalar logits, or ranks or shapes that differ; InvalidArgumentError
    in the run for a label that is no class."""
    _need_named(_sentinel, labels, logits,
                "sparse_softmax_cross_entropy_with_logits")
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits",
                    [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        narrow = logits.dtype.base_dtype in (dtypes.float16, dtypes.bfloat16)
        precise = _math.cast(logits, dtypes.float32) if narrow else logits
        label_shape = _array.shape(labels)
        if logits._rank() == 0:
            raise ValueError("Logits cannot be scalars - received shape %s."
                             % logits.get_shape())
        if (logits._rank() is not None and labels._rank() is not None
                and labels._rank() != logits._rank() - 1):
            raise ValueError(
                "Rank mismatch: Rank of labels (received %d) should equal rank "
                "of logits minus 1 (received %d)."
                % (labels._rank(), logits._rank()))
        if not labels.get_shape().is_compatible_with(
                logits.get_shape()[:-1] if logits._rank() else None):
            raise ValueError(
                "Shape mismatch: The shape of labels (received %s) should "
                "equal the shape of logits except for the last dimension "
                "(received %s)." % (labels.get_shape(), logits.get_shape()))
        op = _raw.SparseSoftmaxCrossEntropyWithLogits
        if logits._rank() == 2:
            cost = op(precise, labels, name=name)[0]
        else:
            classes = _array.shape(logits)[_array.rank(logits) - 1]
            out = op(_raw.Reshape(precise, [-1, classes]),
                     _raw.Reshape(labels, [-1]), name=name)
            cost = _raw.Reshape(out[0], label_shape)
            cost.set_shape(labels.get_shape())
        return _math.cast(cost, logits.dtype) if narrow else cost


def _same_shape(logits, labels):
    try:
        labels.get_shape().merge_with(logits.get_shape())
    except ValueError:
        raise ValueError("logits and labels must have the same shape (%s vs %s)"
                         % (logits.get_shape(), labels.get_shape())) from None


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None,
                                      name=None):
    """-labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without
    overflow.

    `labels` and `logits`: of one shape and type, float16, bfloat16, float32 or
    float64, which the losses have. ValueError for arguments without names, one
    missing, or shapes that differ; TypeError for different types."""
    _need_named(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape(logits, labels)
        zeros = _array.zeros_like(logits)
        positive = logits >= zeros
        relu_logits = _raw.Select(positive, logits, zeros)
        neg_abs = _raw.Select(positive, -logits, logits)
        return _raw.Add(relu_logits - logits * labels,
                        _raw.Log1p(_raw.Exp(neg_abs)), name=scope)


def weighted_cross_entropy_with_logits(labels=None, logits=None,
                                       pos_weight=None, name=None,
                                       targets=None):
    """sigmoid_cross_entropy_with_logits with positive labels weighted."""
    labels = _renamed("targets", targets, "labels", labels)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _same_shape(logits, labels)
        weight = 1 + (pos_weight - 1) * labels
        return _raw.Add(
            (1 - labels) * logits,
            weight * (_raw.Log1p(_raw.Exp(-_raw.Abs(logits)))
                      + _raw.Relu(-logits)), name=scope)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - targets * log_input, the negative log-likelihood of
    counts up to a constant; with that constant (log(targets!), by Stirling's
    formula above 1) if the full loss is asked for."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        try:
            targets.get_shape().merge_with(log_input.get_shape())
        except ValueError:
            raise ValueError(
                "log_input and targets must have the same shape (%s vs %s)"
                % (log_input.get_shape(), targets.get_shape())) from None
        loss = _math.exp(log_input) - log_input * targets
        if compute_full_loss:
            # 2 pi as a constant of the targets' type.
            turn = convert_to_tensor(2 * np.pi, dtype=targets.dtype)
            stirling = (targets * _math.log(targets) - targets
                        + 0.5 * _math.log(turn * targets))
            small = _math.logical_and(targets >= 0., targets <= 1.)
            loss += _array.where(small, _array.zeros_like(targets), stirling)
        return loss
