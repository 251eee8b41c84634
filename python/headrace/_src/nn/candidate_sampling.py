"""Losses over very many classes, by samples of them: candidate samplers,
nce_loss, sampled_softmax_loss.

A sampler gives (sampled_candidates, true_expected_count,
sampled_expected_count): num_sampled classes, and how often each true class and
each sampled one is to be expected in such a sample. Equal seeds give
TensorFlow's classes.
"""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.nn.embeddings import embedding_lookup
from headrace._src.nn.losses import (
    sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2)
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.random_ops import _seeds
from headrace._src.sparse import sparse_ops as _sparse


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique,
                              range_max, seed=None, name=None):
    """Classes of [0, range_max), all of the same probability."""
    return _raw.UniformCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, name=name, **_seeds(seed))


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique,
                                  range_max, seed=None, name=None):
    """Classes of [0, range_max), of probability log((k + 2) / (k + 1)) /
    log(range_max + 1): for classes sorted by falling frequency."""
    return _raw.LogUniformCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, name=name, **_seeds(seed))


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled,
                                      unique, range_max, seed=None, name=None):
    """Classes of [0, range_max), as often as they were true classes of this
    op's earlier runs, plus one."""
    return _raw.LearnedUnigramCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, name=name, **_seeds(seed))


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled,
                                    unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0,
                                    num_shards=1, shard=0, unigrams=(),
                                    seed=None, name=None):
    """Classes by weights: `unigrams`, or the last fields of the lines of
    `vocab_file`, to the power `distortion`. The first num_reserved_ids classes
    are never drawn. With several shards the classes of `shard` are every
    num_shards-th."""
    return _raw.FixedUnigramCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max, vocab_file=vocab_file,
        distortion=distortion, num_reserved_ids=num_reserved_ids,
        num_shards=num_shards, shard=shard, unigrams=list(unigrams), name=name,
        **_seeds(seed))


def all_candidate_sampler(true_classes, num_true, num_sampled, unique,
                          seed=None, name=None):
    """All classes of [0, num_sampled), for tests."""
    return _raw.AllCandidateSampler(
        true_classes, num_true=num_true, num_sampled=num_sampled,
        unique=unique, name=name, **_seeds(seed))


def compute_accidental_hits(true_classes, sampled_candidates, num_true,
                            seed=None, name=None):
    """(rows, ids, weights): ids[i] is the place of a sampled candidate that is
    a true class of row rows[i]; every weight is the lowest float32."""
    return _raw.ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true=num_true, name=name,
        **_seeds(seed))


def _sum_rows(x):
    # A product with ones, so that the graph is TensorFlow's.
    columns = _array.shape(x)[1]
    ones = _array.ones(_array.stack([columns, 1]), x.dtype)
    return _raw.Reshape(_math.matmul(x, ones), [-1])


def sampled_logits_and_labels(weights, biases, labels, inputs, num_sampled,
                              num_classes, num_true=1, sampled_values=None,
                              subtract_log_q=True,
                              remove_accidental_hits=False,
                              partition_strategy="mod", name=None, seed=None):
    """Logits of the true classes and of a sample, [batch, num_true +
    num_sampled], with subtract_log_q less the log of their expected counts; and
    the labels."""
    if not isinstance(weights, (list, tuple)):
        weights = [weights]
    with name_scope(name, "compute_sampled_logits"):
        labels = convert_to_tensor(labels, name="labels")
        inputs = convert_to_tensor(inputs, name="inputs")
        labels = _math.cast(labels, dtypes.int64)
        flat = _array.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed=seed)
        sampled, true_count, sampled_count = [
            _raw.StopGradient(s) for s in sampled_values]
        sampled = _math.cast(sampled, dtypes.int64)
        ids = _array.concat([flat, sampled], 0)

        rows = _math.cast(embedding_lookup(weights, ids, partition_strategy),
                          inputs.dtype)
        n = _array.shape(flat)[0]
        true_w = _array.slice(rows, [0, 0], _array.stack([n, -1]))
        n = _array.shape(flat)[0]
        sampled_w = _array.slice(rows, _array.stack([n, 0]), [-1, -1])
        sampled_logits = _math.matmul(inputs, sampled_w, transpose_b=True)

        all_b = _math.cast(embedding_lookup(biases, ids, partition_strategy),
                           inputs.dtype)
        true_b = _array.slice(all_b, [0], _array.shape(flat))
        sampled_b = _array.slice(all_b, _array.shape(flat), [-1])

        dim = _array.shape(true_w)[1:2]
        products = _math.multiply(
            _array.expand_dims(inputs, 1),
            _array.reshape(true_w, _array.concat([[-1, num_true], dim], 0)))
        sums = _sum_rows(_array.reshape(products,
                                        _array.concat([[-1], dim], 0)))
        true_logits = _array.reshape(sums, [-1, num_true])
        true_logits += _array.reshape(true_b, [-1, num_true])
        sampled_logits += sampled_b

        if remove_accidental_hits:
            hit_rows, hit_ids, hit_weights = compute_accidental_hits(
                labels, sampled, num_true)
            places = _array.concat(
                [_array.reshape(hit_rows, [-1, 1]),
                 _array.reshape(_math.cast(hit_ids, dtypes.int32), [-1, 1])],
                1, "sparse_indices")
            shape = _array.concat([_array.shape(labels)[:1],
                                   _array.expand_dims(num_sampled, 0)], 0)
            sampled_logits += _sparse.sparse_to_dense(
                places, shape, _math.cast(hit_weights, sampled_logits.dtype),
                default_value=0.0, validate_indices=False)
        if subtract_log_q:
            true_logits -= _math.cast(_raw.Log(true_count), inputs.dtype)
            sampled_logits -= _math.cast(_raw.Log(sampled_count), inputs.dtype)

        logits = _array.concat([true_logits, sampled_logits], 1)
        # Each row's labels add up to 1.
        out_labels = _array.concat(
            [_array.ones_like(true_logits) / num_true,
             _array.zeros_like(sampled_logits)], 1)
        return logits, out_labels


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes,
             num_true=1, sampled_values=None, remove_accidental_hits=False,
             partition_strategy="mod", name="nce_loss"):
    """The noise-contrastive estimation loss of each row of `inputs`.

    weights [num_classes, dim], biases [num_classes], labels [batch, num_true],
    inputs [batch, dim]. Without `sampled_values` (what a sampler gives)
    log_uniform_candidate_sampler draws num_sampled classes, for all rows the
    same.

    Weights, biases and inputs are float32 (or float16, float64), labels int64
    or cast to it. Returns the losses, [batch] of the type of `inputs`.
    ValueError for shapes that do not fit; InvalidArgumentError in the run for a
    label that is no class."""
    logits, labels = sampled_logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, True, remove_accidental_hits, partition_strategy, name)
    return _sum_rows(sigmoid_cross_entropy_with_logits(
        labels=labels, logits=logits, name="sampled_losses"))


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled,
                         num_classes, num_true=1, sampled_values=None,
                         remove_accidental_hits=True,
                         partition_strategy="mod", name="sampled_softmax_loss",
                         seed=None):
    """The softmax cross entropy of each row of `inputs` over its true classes
    and a sample of the others: for training, where it is close to, and far
    cheaper than, that over all classes. Arguments as of nce_loss.

    Returns the losses, [batch] of the type of `inputs`. ValueError for shapes
    that do not fit; InvalidArgumentError in the run for a label that is no
    class."""
    logits, labels = sampled_logits_and_labels(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true,
        sampled_values, True, remove_accidental_hits, partition_strategy, name,
        seed)
    labels = _raw.StopGradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
