"""tf.contrib.crf: conditional random fields over sequences of tags.

inputs [batch, time, tags] scores each tag at each step, transition_params
[tags, tags] each tag after another; sequence_lengths are int [batch]."""
import numpy as np

from headrace._src.framework import dtypes
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import math_ops as _math
from headrace._src.rnn.cells import RNNCell
from headrace._src.rnn.loops import dynamic_rnn
from headrace._src.variables.scopes import get_variable


class _Transitions(RNNCell):
    """A step over the tags: inputs and states are [batch, tags]."""

    def __init__(self, transition_params):
        super().__init__()
        self._transitions = _array.expand_dims(transition_params, 0)
        self._tags = transition_params.get_shape()[0].value

    state_size = property(lambda self: self._tags)
    output_size = property(lambda self: self._tags)

    def _scores(self, state):
        return _array.expand_dims(state, 2) + self._transitions


class CrfForwardRnnCell(_Transitions):
    """The logarithms of the sums over all ways to each tag."""

    def __call__(self, inputs, state, scope=None):
        sums = inputs + _math.reduce_logsumexp(self._scores(state), [1])
        return sums, sums


class CrfDecodeForwardRnnCell(_Transitions):
    """The best score of each tag, and as output the tags before these."""

    def __call__(self, inputs, state, scope=None):
        scores = self._scores(state)
        before = _math.cast(_math.argmax(scores, 1), dtypes.int32)
        return before, inputs + _math.reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """Goes back from a tag, int32 [batch, 1], by the inputs, the tags before
    each tag."""

    def __init__(self, num_tags):
        super().__init__()
        self._tags = num_tags

    state_size = property(lambda self: 1)
    output_size = property(lambda self: 1)

    def __call__(self, inputs, state, scope=None):
        at = _array.stack([_math.range(_array.shape(inputs)[0]),
                           _array.squeeze(state, axis=[1])], axis=1)
        tags = _array.expand_dims(_array.gather_nd(inputs, at), axis=-1)
        return tags, tags


def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sum of the inputs of the tags, int [batch, time]: [batch]."""
    shape = _array.shape(inputs)
    batch, steps, tags = shape[0], shape[1], shape[2]
    first = _array.expand_dims(_math.range(batch) * steps * tags, 1)
    first += _array.expand_dims(_math.range(steps) * tags, 0)
    first = _math.cast(first, tag_indices.dtype.base_dtype)
    found = _array.reshape(_array.gather(
        _array.reshape(inputs, [-1]),
        _array.reshape(first + tag_indices, [-1])), [batch, steps])
    mask = _special.sequence_mask(
        sequence_lengths, maxlen=_array.shape(tag_indices)[1],
        dtype=inputs.dtype.base_dtype)
    return _math.reduce_sum(found * mask, 1)


def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sum of the scores of each tag after the one before it: [batch]."""
    tags = transition_params.get_shape()[0].value
    count = _array.shape(tag_indices)[1] - 1
    before = _array.slice(tag_indices, [0, 0], [-1, count])
    after = _array.slice(tag_indices, [0, 1], [-1, count])
    found = _array.gather(_array.reshape(transition_params, [-1]),
                          before * tags + after)
    mask = _special.sequence_mask(
        sequence_lengths, maxlen=_array.shape(tag_indices)[1],
        dtype=transition_params.dtype.base_dtype)
    return _math.reduce_sum(found * _array.slice(mask, [0, 1], [-1, -1]), 1)


def crf_sequence_score(inputs, tag_indices, sequence_lengths,
                       transition_params):
    """The score of sequences of tags, int [batch, time]: [batch]."""
    return (crf_unary_score(tag_indices, sequence_lengths, inputs)
            + crf_binary_score(tag_indices, sequence_lengths,
                               transition_params))


def _start(inputs):
    """(first step [batch, tags], the rest)."""
    first = _array.squeeze(_array.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])
    return first, _array.slice(inputs, [0, 1, 0], [-1, -1, -1])


def _less_one(lengths):
    lengths = _math.cast(lengths, dtypes.int32)
    return _math.maximum(_array.zeros_like(lengths), lengths - 1)


def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the sum of exp(score) over all sequences of tags:
    [batch], 0 for sequences without steps."""
    first, rest = _start(inputs)
    _, sums = dynamic_rnn(
        CrfForwardRnnCell(transition_params), rest,
        sequence_length=_less_one(sequence_lengths), initial_state=first,
        dtype=inputs.dtype.base_dtype)
    norm = _math.reduce_logsumexp(sums, [1])
    return _array.where(_math.less_equal(sequence_lengths, 0),
                        _array.zeros_like(norm), norm)


def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths,
                                transition_params):
    """The logarithm of the sum of exp(score) over the sequences of tags that
    are True in tag_bitmap, bool [batch, time, tags]: [batch]."""
    return crf_log_norm(
        _array.where(tag_bitmap, inputs, _array.fill(
            _array.shape(inputs), inputs.dtype.base_dtype.as_numpy_dtype(
                -np.inf))), sequence_lengths, transition_params)


def crf_log_likelihood(inputs, tag_indices, sequence_lengths,
                       transition_params=None):
    """(the logarithm of the probability of the tags [batch], the transition
    parameters): by default the variable `transitions`. ValueError for an
    unknown number of tags."""
    tags = inputs.get_shape()[2].value
    if tags is None:
        raise ValueError("crf_log_likelihood: the number of tags must be known, "
                         "got inputs of shape %s" % inputs.get_shape())
    tag_indices = _math.cast(tag_indices, dtypes.int32)
    sequence_lengths = _math.cast(sequence_lengths, dtypes.int32)
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths,
                               transition_params)
    return score - crf_log_norm(inputs, sequence_lengths,
                                transition_params), transition_params


def viterbi_decode(score, transition_params):
    """(list of tags, their score) of the best sequence, of arrays: score
    [time, tags]."""
    best = np.asarray(score[0])
    before = []
    for step in score[1:]:
        ways = np.expand_dims(best, 1) + transition_params
        best = step + np.max(ways, 0)
        before.append(np.argmax(ways, 0))
    tags = [int(np.argmax(best))]
    for pointers in reversed(before):
        tags.append(int(pointers[tags[-1]]))
    return tags[::-1], np.max(best)


def crf_decode(potentials, transition_params, sequence_length):
    """(tags int32 [batch, time], their scores [batch]) of the best
    sequences."""
    lengths = _math.cast(sequence_length, dtypes.int32)
    less_one = _less_one(lengths)
    tags = potentials.get_shape()[2].value
    first, rest = _start(potentials)
    before, last = dynamic_rnn(
        CrfDecodeForwardRnnCell(transition_params), rest,
        sequence_length=less_one, initial_state=first, time_major=False,
        dtype=dtypes.int32)
    before = _array.reverse_sequence(before, less_one, seq_axis=1)
    end = _array.expand_dims(
        _math.cast(_math.argmax(last, axis=1), dtypes.int32), axis=-1)
    found, _ = dynamic_rnn(
        CrfDecodeBackwardRnnCell(tags), before, sequence_length=less_one,
        initial_state=end, time_major=False, dtype=dtypes.int32)
    found = _array.concat([end, _array.squeeze(found, axis=[2])], axis=1)
    found = _array.reverse_sequence(found, lengths, seq_axis=1)
    return found, _math.reduce_max(last, axis=1)
