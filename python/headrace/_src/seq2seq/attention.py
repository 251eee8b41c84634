"""tf.contrib.seq2seq: how a query [batch, size] scores the steps of a memory
[batch, time, size], and what weights those scores give."""
import functools
import math

import numpy as np

from headrace._src.control.check_ops import assert_positive
from headrace._src.control.functional_ops import scan
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.layers.engine import Layer
from headrace._src.layers.functions import Dense
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import array_special as _special
from headrace._src.ops import clipping as _clipping
from headrace._src.ops import math_ops as _math
from headrace._src.ops import random_ops as _random
from headrace._src.rnn.cells import zero_tensors
from headrace._src.variables.initializers import Constant, Ones, Zeros
from headrace._src.variables.scopes import get_variable, variable_scope


class AttentionMechanism:
    """What AttentionWrapper asks for weights."""

    @property
    def alignments_size(self):
        """The number of weights."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state that one step passes to the next."""
        raise NotImplementedError


def _size(x, axis):
    """A size of a tensor: a number, or a tensor if it is not known."""
    known = x.get_shape()[axis].value
    return _array.shape(x)[axis] if known is None else known


def _both_masks():
    return ValueError("memory_sequence_length and memory_mask can't be provided "
                      "at same time.")


def _prepare_memory(memory, memory_sequence_length=None, memory_mask=None,
                    check_inner_dims_defined=True):
    """The memory [batch, time, ...], 0 after the ends or where memory_mask, bool
    [batch, time], is false. ValueError for unknown sizes, and for both."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"),
                                memory)
    lengths = memory_sequence_length
    if lengths is not None:
        if memory_mask is not None:
            raise _both_masks()
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if check_inner_dims_defined:
        for m in nest.flatten(memory):
            if not m.get_shape()[2:].is_fully_defined():
                raise ValueError(
                    "Expected memory %s to have fully defined inner dims, but "
                    "saw shape: %s" % (m.name, m.get_shape()))
    if lengths is None and memory_mask is None:
        return memory
    first = nest.flatten(memory)[0]
    if lengths is not None:
        mask = _special.sequence_mask(lengths, maxlen=_array.shape(first)[1],
                                      dtype=first.dtype.base_dtype)
    else:
        mask = _math.cast(memory_mask, first.dtype.base_dtype)

    def masked(m):
        rank = m.get_shape().ndims
        ones = _array.ones((_array.rank(m) if rank is None else rank) - 2,
                           dtype=dtypes.int32)
        return m * _array.reshape(
            mask, _array.concat((_array.shape(mask), ones), 0))
    return nest.map_structure(masked, memory)


def _maybe_mask_score(score, memory_sequence_length=None, memory_mask=None,
                      score_mask_value=None):
    """The score [batch, time], score_mask_value after the ends or where
    memory_mask is false. ValueError for both."""
    lengths = memory_sequence_length
    if lengths is None and memory_mask is None:
        return score
    if lengths is not None:
        if memory_mask is not None:
            raise _both_masks()
        with control_dependencies([assert_positive(
                lengths, message="All values in memory_sequence_length must "
                "greater than zero.")]):
            memory_mask = _special.sequence_mask(
                lengths, maxlen=_array.shape(score)[1])
    return _array.where(memory_mask, score,
                        score_mask_value * _array.ones_like(score))


class _Mechanism(AttentionMechanism):
    """Keeps the memory as `values` and, after memory_layer, as `keys`.

    memory_sequence_length: int [batch], the number of steps that count; the
    others score score_mask_value. custom_key_value_fn(keys, values) may
    replace both."""

    def __init__(self, query_layer, memory, probability_fn,
                 memory_sequence_length=None, memory_layer=None,
                 check_inner_dims_defined=True, score_mask_value=None,
                 custom_key_value_fn=None, name=None):
        for what, layer in (("query_layer", query_layer),
                            ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError("%s is not a Layer: %s"
                                % (what, type(layer).__name__))
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        kind = getattr(memory_layer, "dtype", None)
        if kind is None:
            kind = nest.flatten(nest.map_structure(
                convert_to_tensor, memory))[0].dtype
        self.dtype = kind
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(
                kind).base_dtype.as_numpy_dtype(-np.inf)
        with name_scope(name, "BaseAttentionMechanismInit",
                        nest.flatten(memory)):
            self._probability_fn = lambda score, previous: probability_fn(
                _maybe_mask_score(score, memory_sequence_length,
                                  score_mask_value=score_mask_value), previous)
            self._values = _prepare_memory(
                memory, memory_sequence_length,
                check_inner_dims_defined=check_inner_dims_defined)
            self._keys = (self._values if memory_layer is None
                          else memory_layer(self._values))
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(
                    self._keys, self._values)
            self._batch_size = _size(self._keys, 0)
            self._alignments_size = _size(self._keys, 1)

    query_layer = property(lambda self: self._query_layer)
    memory_layer = property(lambda self: self._memory_layer)
    values = property(lambda self: self._values)
    keys = property(lambda self: self._keys)
    batch_size = property(lambda self: self._batch_size)
    alignments_size = property(lambda self: self._alignments_size)
    state_size = property(lambda self: self._alignments_size)

    def initial_alignments(self, batch_size, dtype):
        """The weights before the first step, [batch, alignments_size]: 0."""
        return zero_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first step: initial_alignments."""
        return self.initial_alignments(batch_size, dtype)

    def __call__(self, query, state):
        """(weights [batch, time], next state)."""
        with variable_scope(None, self._SCOPE, [query]):
            score = self._score(query)
        weights = self._probability_fn(score, state)
        return weights, weights


def _softmax_unless(probability_fn):
    if probability_fn is None:
        probability_fn = _nn.softmax
    elif not callable(probability_fn):
        raise TypeError("probability_fn must be callable, saw type: %s"
                        % type(probability_fn).__name__)
    return lambda score, _: probability_fn(score)


def _dense(units, name, dtype):
    return Dense(units, name=name, use_bias=False,
                 dtype=dtypes.as_dtype(dtype or dtypes.float32))


def _luong_score(query, keys, scale):
    """The dot products of the query [batch, units] with the keys [batch, time,
    units], times `scale` unless it is None. ValueError for other units."""
    depth = query.get_shape()[-1].value
    units = keys.get_shape()[-1].value
    if depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and "
            "keys.  Query (%s) has units: %s.  Keys (%s) have units: %s.  "
            "Perhaps you need to set num_units to the keys' dimension (%s)?"
            % (query, depth, keys, units, units))
    score = _array.squeeze(_math.matmul(
        _array.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def _bahdanau_score(processed_query, keys, attention_v, attention_g=None,
                    attention_b=None):
    """attention_v * tanh(keys + query), summed over the units: [batch, time] of
    a query [batch, units] and keys [batch, time, units]. With attention_g and
    attention_b, v is g * v / |v| and b is added to the sum."""
    query = _array.expand_dims(processed_query, 1)
    v = attention_v
    if attention_g is None or attention_b is None:
        return _math.reduce_sum(v * _math.tanh(keys + query), [2])
    v = attention_g * v * _math.rsqrt(_math.reduce_sum(_math.square(v)))
    return _math.reduce_sum(v * _math.tanh(keys + query + attention_b), [2])


class _Luong:
    """Scores are dot products of the query with the keys."""

    def _set_up(self, num_units, scale):
        self._num_units = num_units
        self._scale = scale

    def _score(self, query):
        g = get_variable("attention_g", dtype=query.dtype.base_dtype,
                         initializer=Ones, shape=()) if self._scale else None
        return _luong_score(query, self._keys, g)


class _Bahdanau:
    """Scores are v * tanh(keys + query_layer(query)), summed over the units;
    with normalize, g * v / |v| takes the place of v, and a bias is added."""

    def _set_up(self, num_units, normalize):
        self._num_units = num_units
        self._normalize = normalize

    def _score(self, query):
        query = self._query_layer(query) if self._query_layer else query
        kind, units = query.dtype.base_dtype, self._num_units
        v = get_variable("attention_v", [units], dtype=kind)
        if not self._normalize:
            return _bahdanau_score(query, self._keys, v)
        g = get_variable("attention_g", dtype=kind, shape=(),
                         initializer=Constant(math.sqrt(1. / units)))
        b = get_variable("attention_b", [units], dtype=kind,
                         initializer=Zeros())
        return _bahdanau_score(query, self._keys, v, g, b)


class LuongAttention(_Luong, _Mechanism):
    """Multiplicative attention: the weights are the softmax, or probability_fn,
    of the dot products of the query with the memory after `memory_layer`, of
    num_units units; with `scale` times the variable attention_g."""
    _SCOPE = "luong_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None,
                 scale=False, probability_fn=None, score_mask_value=None,
                 dtype=None, custom_key_value_fn=None, name="LuongAttention"):
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory, probability_fn=_softmax_unless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn, name=name)
        self._set_up(num_units, scale)


class BahdanauAttention(_Bahdanau, _Mechanism):
    """Additive attention: the weights are the softmax, or probability_fn, of
    attention_v * tanh(memory_layer(memory) + query_layer(query)), summed over
    num_units units; with `normalize` as in weight normalisation."""
    _SCOPE = "bahdanau_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None,
                 normalize=False, probability_fn=None, score_mask_value=None,
                 dtype=None, custom_key_value_fn=None,
                 name="BahdanauAttention"):
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory, probability_fn=_softmax_unless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn, name=name)
        self._set_up(num_units, normalize)


# Monotonic attention.

def safe_cumprod(x, *args, **kwargs):
    """cumprod of numbers in [0, 1], by logarithms: its gradient is not NaN at
    0."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return _math.exp(_math.cumsum(
            _math.log(_clipping.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i, previous_attention, mode):
    """The weights [batch, time] of attention that never goes back.

    p_choose_i [batch, time]: the probability to stop at a step when it is
    reached; previous_attention [batch, time]: the weights of the last output.
    mode: "recursive" (exact, a step at a time), "parallel" (faster; numbers
    near 0 and 1 spoil it), or "hard" for p_choose_i of 0 and 1. ValueError for
    other modes."""
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch_size = _size(p, 0)
        skipped = _array.concat(
            [_array.ones((batch_size, 1), dtype=p.dtype.base_dtype),
             1 - p[:, :-1]], 1)
        reached = scan(
            lambda x, yz: _array.reshape(yz[0] * x + yz[1], (batch_size,)),
            [_array.transpose(skipped), _array.transpose(previous)],
            _array.zeros((batch_size,), dtype=p.dtype.base_dtype))
        return p * _array.transpose(reached)
    if mode == "parallel":
        product = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * product * _math.cumsum(
            previous / _clipping.clip_by_value(product, 1e-10, 1.), axis=1)
    if mode == "hard":
        p *= _math.cumsum(previous, axis=1)
        return p * _math.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _stopping(score, previous, noise, mode, seed):
    if noise > 0:
        score += noise * _random.random_normal(
            _array.shape(score), dtype=score.dtype.base_dtype, seed=seed)
    p = (_math.cast(score > 0, score.dtype.base_dtype) if mode == "hard"
         else _math.sigmoid(score))
    return monotonic_attention(p, previous, mode)


class _Monotonic:
    """A mechanism whose scores get the variable attention_score_bias, and whose
    weights monotonic_attention makes of sigmoid(score)."""

    def _biased(self, score, query):
        return score + get_variable(
            "attention_score_bias", dtype=query.dtype.base_dtype, shape=(),
            initializer=Constant(self._score_bias_init,
                                 dtype=query.dtype.base_dtype))

    def initial_alignments(self, batch_size, dtype):
        """The weights before the first step: 1 for the first of the memory."""
        return _array.one_hot(
            _array.zeros((batch_size,), dtype=dtypes.int32),
            self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttention(_Monotonic, _Bahdanau, _Mechanism):
    """BahdanauAttention that never goes back; modes as in monotonic_attention.
    sigmoid_noise: of the normal noise on the scores."""
    _SCOPE = "bahdanau_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None,
                 normalize=False, score_mask_value=None, sigmoid_noise=0.,
                 sigmoid_noise_seed=None, score_bias_init=0., mode="parallel",
                 dtype=None, name="BahdanauMonotonicAttention"):
        super().__init__(
            query_layer=_dense(num_units, "query_layer", dtype),
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory, probability_fn=functools.partial(
                _stopping, noise=sigmoid_noise, mode=mode,
                seed=sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value, name=name)
        self._set_up(num_units, normalize)
        self._score_bias_init = score_bias_init

    def _score(self, query):
        return self._biased(_Bahdanau._score(self, query), query)


class LuongMonotonicAttention(_Monotonic, _Luong, _Mechanism):
    """LuongAttention that never goes back; modes as in monotonic_attention.
    sigmoid_noise: of the normal noise on the scores."""
    _SCOPE = "luong_monotonic_attention"

    def __init__(self, num_units, memory, memory_sequence_length=None,
                 scale=False, score_mask_value=None, sigmoid_noise=0.,
                 sigmoid_noise_seed=None, score_bias_init=0., mode="parallel",
                 dtype=None, name="LuongMonotonicAttention"):
        super().__init__(
            query_layer=None,
            memory_layer=_dense(num_units, "memory_layer", dtype),
            memory=memory, probability_fn=functools.partial(
                _stopping, noise=sigmoid_noise, mode=mode,
                seed=sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value, name=name)
        self._set_up(num_units, scale)
        self._score_bias_init = score_bias_init

    def _score(self, query):
        return self._biased(_Luong._score(self, query), query)


def hardmax(logits, name=None):
    """1 at the largest of the last dimension, 0 elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        return _array.one_hot(_math.argmax(logits, -1), _size(logits, -1),
                              dtype=logits.dtype.base_dtype)
