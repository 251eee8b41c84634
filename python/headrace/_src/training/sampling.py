"""tf.contrib.training: examples chosen at random, of which queues make batches,
and batches of which rows are dropped and repeated."""
from headrace import raw_ops as _raw
from headrace._src.control import check_ops as _check
from headrace._src.control.control_flow import Assert, cond
from headrace._src.control.control_flow_ops import Print, with_dependencies
from headrace._src.framework import dtypes as _dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.indexed_slices import (
    convert_to_tensor_or_indexed_slices)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.training import input_pipelines as _input
from headrace._src.training import moving_averages as _averages
from headrace._src.variables import scopes as _scopes
from headrace._src.variables import variables as _variables

# Counts of classes begin with this, so that no estimated share is 0.
_FIRST_COUNT = 10
# By how much the sum of probabilities may differ from 1.
_TOLERANCE = 1e-6


def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """The rows of each of `inputs`, row i of all of them k times, where k has
    the Poisson distribution of the mean rates[i].

    inputs: a list of tensors [batch, ...]. rates: a float tensor [batch].
    back_prop: whether a gradient may go through the choice.
    Returns a list of tensors like `inputs`, of any number of rows, even none.
    """
    with name_scope(scope, "resample_at_rate", list(inputs) + [rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = _math.cast(_random.random_poisson(
            rates, (), rates.dtype, seed=seed), _dtypes.int32)
        rows = _special.repeat(
            _math.range(_array.shape(counts)[0]), counts)
        if not back_prop:
            rows = _array.stop_gradient(rows)
        return [_array.gather(x, rows) for x in inputs]


def weighted_resample(inputs, weights, overall_rate, scope=None,
                      mean_decay=0.999, seed=None):
    """resample_at_rate with rates in proportion to `weights`, `overall_rate` on
    the average over many steps.

    inputs: a list of tensors [batch, ...]. weights: a float tensor [batch].
    mean_decay: how slowly the mean of the weights follows; it is a local
    variable, estimate_mean/estimated_mean.
    Returns (a list of tensors like `inputs`, of any number of rows; the rate of
    each row of them).
    """
    with name_scope(scope, "weighted_resample", inputs) as full:
        with _scopes.variable_scope(scope, "estimate_mean", inputs):
            mean = _scopes.get_local_variable(
                "estimated_mean", initializer=_math.cast(0, weights.dtype),
                dtype=weights.dtype)
            mean = _averages.assign_moving_average(
                mean, _math.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        found = resample_at_rate([rates] + inputs, rates, scope=full,
                                 seed=seed, back_prop=False)
        return found[1:], found[0]


def _check_list(function, tensors):
    if not isinstance(tensors, (list, tuple)):
        raise TypeError("%s: tensors is %r, must be a list of tensors"
                        % (function, tensors))


def _converted(tensors):
    return [convert_to_tensor_or_indexed_slices(x) for x in tensors]


def _check_rows(tensors, rows):
    """ValueError unless each of the tensors may have `rows` rows."""
    for x in tensors:
        shape = x.get_shape().with_rank_at_least(1)
        shape[0].assert_is_compatible_with(rows)


def _one_by_one(tensors, threads, capacity):
    """The rows of batches, out of a queue."""
    rows = _input.batch(tensors, batch_size=1, num_threads=threads,
                        capacity=capacity, enqueue_many=True)
    if not isinstance(rows, list):
        rows = [rows]
    return [_array.squeeze(x, [0]) for x in rows]


def rejection_sample(tensors, accept_prob_fn, batch_size, queue_threads=1,
                     enqueue_many=False, prebatch_capacity=16,
                     prebatch_threads=1, runtime_checks=False, name=None):
    """Batches of examples that were accepted: accept_prob_fn(example) gives the
    probability, a float32 scalar, from the list of the example's tensors.

    tensors: a list of tensors of one example, or with enqueue_many of batches
      of the same size. Queues of `queue_threads` and `prebatch_threads` threads
      hold what is accepted and the examples of batches.
    runtime_checks: a step fails where a probability is not in [0, 1].
    Returns a list of tensors like those of an example, with batch_size rows.
    ValueError for batches of different sizes, TypeError unless `tensors` is a
    list.
    """
    _check_list("rejection_sample", tensors)
    with _scopes.variable_scope(name, "rejection_sample", tensors):
        example = _converted(tensors)
        if enqueue_many:
            _check_rows(example, example[0].get_shape().with_rank_at_least(
                1)[0])
            example = _one_by_one(example, prebatch_threads, prebatch_capacity)
        accepted = accept_prob_fn(example)
        if runtime_checks:
            accepted = _raw.Identity(with_dependencies(
                [_check.assert_less_equal(0.0, accepted),
                 _check.assert_less_equal(accepted, 1.0)], accepted),
                name="prob_with_checks")
        found = _input.maybe_batch(
            example, keep_input=_random.random_uniform([]) < accepted,
            batch_size=batch_size, num_threads=queue_threads)
        return found if isinstance(found, list) else [found]


def stratified_sample(tensors, labels, target_probs, batch_size,
                      init_probs=None, enqueue_many=False, queue_capacity=16,
                      threads_per_queue=1, name=None):
    """Batches in which class i has the share target_probs[i] on the average:
    examples of classes that come too often are dropped.

    tensors: a list of tensors of one example, or with enqueue_many of batches.
    labels: the example's class, an integer, or the classes of the batch.
    target_probs, init_probs: float32 vectors, the shares wanted and the shares
      of what comes in. Without init_probs they are counted, in the variable
      class_count.
    Returns (a list of tensors like those of an example with batch_size rows,
    the labels of the rows).
    ValueError for batches of different sizes, labels of another rank, and
    vectors whose shapes differ or are not known. A step fails where
    probabilities do not add up to 1, where a class that does not come in is
    wanted, and where a label is not a class.
    """
    _check_list("stratified_sample", tensors)
    with name_scope(name, "stratified_sample", list(tensors) + [labels]):
        tensors = _converted(tensors)
        labels = convert_to_tensor(labels)
        target = convert_to_tensor(target_probs, _dtypes.float32)
        if not enqueue_many:
            tensors = [_array.expand_dims(x, 0) for x in tensors]
            labels = _array.expand_dims(labels, 0)
        if init_probs is None:
            target.get_shape().assert_is_fully_defined()
            first = _counted_shares(labels, target.get_shape().num_elements())
        else:
            first = convert_to_tensor(init_probs, _dtypes.float32)
        first, target = _checked_shares(first), _checked_shares(target)
        if first.get_shape().num_elements() != target.get_shape(
                ).num_elements():
            raise ValueError(
                "Probability parameters must have the same length.")
        tensors, labels = _checked_examples(
            tensors, labels, first.get_shape().num_elements())
        possible = Assert(
            _math.reduce_all(_math.logical_or(
                _math.not_equal(first, 0), _math.equal(target, 0))),
            ["All classes with zero initial probability must also have zero "
             "target probability: ", first, target])
        accepted = _accepted(with_dependencies([possible], first), target)
        *example, label = _one_by_one(tensors + [labels], threads_per_queue,
                                      queue_capacity)
        *found, labels = _input.maybe_batch(
            example + [label],
            keep_input=_random.random_uniform([]) < _array.gather(
                accepted, label),
            batch_size=batch_size, num_threads=threads_per_queue)
        return found, labels


def _counted_shares(labels, classes):
    """The shares of the classes in all batches so far, float32."""
    counts = _variables.Variable(
        [_FIRST_COUNT] * classes, trainable=False, name="class_count",
        dtype=_dtypes.int64)
    counts = counts.assign_add(_math.reduce_sum(_array.one_hot(
        labels, classes, dtype=_dtypes.int64), 0))
    # A copy, for other threads change the variable while it is divided.
    counts = counts + _array.zeros_like(counts)
    return _math.cast(counts / _math.reduce_sum(counts), _dtypes.float32)


def _checked_shares(shares):
    """A vector that must be no negative numbers which add up to 1."""
    shares.get_shape().assert_is_fully_defined()
    shares.get_shape().assert_has_rank(1)
    total = _math.reduce_sum(shares)
    return with_dependencies([
        _check.assert_non_negative(shares),
        _check.assert_less(total, 1.0 + _TOLERANCE),
        _check.assert_less(1.0 - _TOLERANCE, total)], shares)


def _checked_examples(tensors, labels, classes):
    """Batches that must have as many rows as there are labels, each of which
    must be a class."""
    labels.get_shape().assert_has_rank(1)
    _check_rows(tensors, labels.get_shape()[0])
    rows = _array.shape(labels)[0]
    some = _check.assert_positive(rows)
    labels = with_dependencies([some], labels)
    tensors = [with_dependencies(
        [some, _check.assert_equal(_array.shape(x)[0], rows)], x)
               for x in tensors]
    return tensors, with_dependencies([
        _check.assert_integer(labels), _check.assert_non_negative(labels),
        _check.assert_less(labels, _math.cast(classes, labels.dtype))], labels)


def _accepted(first, target):
    """The share of each class that is accepted, so that the rest has the shares
    `target`: in proportion to target / first, and 1 for the class of which
    there is too little. It is logged where half of all examples are dropped."""
    ratio = target / first
    ratio = _array.where_v2(_raw.IsNan(ratio), _array.zeros_like(ratio),
                            ratio)
    accepted = ratio / _math.reduce_max(ratio)
    dropped = _math.reduce_sum((1 - accepted) * first)
    return cond(_math.less(dropped, .5), lambda: accepted, lambda: Print(
        accepted, [accepted],
        message="Proportion of examples rejected by sampler is high.",
        first_n=10))
