"""tf.contrib.seq2seq: the loss of sequences."""
from headrace._src.framework.graph import name_scope
from headrace._src.nn.losses import sparse_softmax_cross_entropy_with_logits
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def sequence_loss(logits, targets, weights, average_across_timesteps=True,
                  average_across_batch=True, sum_over_timesteps=False,
                  sum_over_batch=False, softmax_loss_function=None, name=None):
    """Weighted cross entropy of logits [batch, time, symbols] and targets, int
    [batch, time].

    Averages divide by the sum of the weights [batch, time]; sums divide by the
    number of those that are not 0. Over both axes: a scalar; over one: a
    vector; over none: [batch, time]. softmax_loss_function(labels=, logits=)
    may replace the loss. ValueError for other ranks, and for a sum and an
    average together."""
    for what, x, rank, text in (
            ("Logits", logits, 3, "batch_size x sequence_length x logits"),
            ("Targets", targets, 2, "batch_size x sequence_length"),
            ("Weights", weights, 2, "batch_size x sequence_length")):
        if len(x.get_shape()) != rank:
            raise ValueError("%s must be a [%s] tensor" % (what, text))
    for axis, average, total in (
            ("timesteps", average_across_timesteps, sum_over_timesteps),
            ("batch", average_across_batch, sum_over_batch)):
        if average and total:
            raise ValueError("average_across_%s and sum_over_%s cannot be set "
                             "to True at same time." % (axis, axis))
    if average_across_batch and sum_over_timesteps:
        raise ValueError("average_across_batch and sum_over_timesteps cannot be "
                         "set to True at same time because of ambiguous order.")
    if sum_over_batch and average_across_timesteps:
        raise ValueError("sum_over_batch and average_across_timesteps cannot be "
                         "set to True at same time because of ambiguous order.")
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        count = _array.shape(logits)[2]
        flat = _array.reshape(logits, [-1, count])
        targets = _array.reshape(targets, [-1])
        if softmax_loss_function is None:
            loss = sparse_softmax_cross_entropy_with_logits(
                labels=targets, logits=flat)
        else:
            loss = softmax_loss_function(labels=targets, logits=flat)
        loss *= _array.reshape(weights, [-1])

        def reduced(loss, axis, sums):
            loss = _math.reduce_sum(loss, axis=axis)
            size = (_math.cast(_math.count_nonzero(weights, axis=axis),
                               loss.dtype.base_dtype) if sums
                    else _math.reduce_sum(weights, axis=axis))
            return _math.div_no_nan(loss, size)
        if average_across_timesteps and average_across_batch:
            return reduced(loss, None, False)
        if sum_over_timesteps and sum_over_batch:
            return reduced(loss, None, True)
        loss = _array.reshape(loss, _array.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return reduced(loss, [0] if average_across_batch else [1], False)
        if sum_over_timesteps or sum_over_batch:
            return reduced(loss, [0] if sum_over_batch else [1], True)
        return loss
