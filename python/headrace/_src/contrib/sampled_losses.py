"""tf.contrib.nn: further losses over samples of very many classes."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn.activations import top_k
from headrace._src.nn.candidate_sampling import (
    learned_unigram_candidate_sampler, sampled_logits_and_labels,
    sampled_softmax_loss)
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.nn.losses import sparse_softmax_cross_entropy_with_logits
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


def _best(weights, biases, inputs, sampled_values, n, temperature, strategy):
    """Of a sample the n classes with the greatest sums, over the rows of
    `inputs`, of exp(logit / temperature)."""
    sampled, true_count, sampled_count = [
        _array.stop_gradient(s) for s in sampled_values]
    sampled = _math.cast(sampled, dtypes.int64)
    rows = embedding_lookup(weights, sampled, strategy)
    scores = _math.reduce_logsumexp(
        _math.matmul(rows, inputs / temperature, transpose_b=True), axis=1)
    scores += _array.reshape(
        embedding_lookup(biases, sampled, strategy), [-1]) / temperature
    places = top_k(scores, n, sorted=False)[1]
    return (_array.gather(sampled, places), true_count,
            _array.gather(sampled_count, places))


def rank_sampled_softmax_loss(weights, biases, labels, inputs, num_sampled,
                              num_resampled, num_classes, num_true,
                              sampled_values, resampling_temperature,
                              remove_accidental_hits, partition_strategy,
                              name=None):
    """sampled_softmax_loss with the num_resampled classes of a sample of
    num_sampled that are hardest to tell from the true ones.

    Without `sampled_values` (what a sampler gives)
    learned_unigram_candidate_sampler draws. The lower `resampling_temperature`,
    the more one row's great logit counts beside many rows' middling ones.
    Returns the losses, [batch]. ValueError for num_sampled > num_classes,
    num_resampled >= num_sampled, and another partition_strategy than "div" and
    "mod"."""
    if num_sampled > num_classes:
        raise ValueError("num_sampled (%s) cannot be greater than num_classes "
                         "(%s)" % (num_sampled, num_classes))
    if num_sampled <= num_resampled:
        raise ValueError("num_resampled (%s) must be less than num_sampled (%s)"
                         % (num_resampled, num_sampled))
    if partition_strategy not in ("div", "mod"):
        raise ValueError("unsupported partition_strategy (%s)"
                         % (partition_strategy,))
    with name_scope(name, "rank_sampled_softmax_loss") as scope:
        inputs = convert_to_tensor(inputs, name="inputs")
        if not sampled_values:
            sampled_values = learned_unigram_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes)
        return sampled_softmax_loss(
            weights, biases, labels, inputs, num_resampled, num_classes,
            num_true, _best(weights, biases, inputs, sampled_values,
                            num_resampled, resampling_temperature,
                            partition_strategy),
            remove_accidental_hits, partition_strategy, scope)


def sampled_sparse_softmax_loss(weights, biases, labels, inputs, num_sampled,
                                num_classes, sampled_values=None,
                                remove_accidental_hits=True,
                                partition_strategy="mod",
                                name="sampled_sparse_softmax_loss"):
    """sampled_softmax_loss of rows with one true class each, labels [batch, 1].
    Returns the losses, [batch]."""
    logits, _ = sampled_logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, 1,
        sampled_values, True, remove_accidental_hits, partition_strategy, name)
    # The true class's logit is the first.
    firsts = _array.zeros([_array.shape(logits)[0], 1], dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(
        labels=_array.squeeze(firsts), logits=logits)
