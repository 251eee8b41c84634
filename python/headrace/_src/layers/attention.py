"""tf.keras.layers: attention over the steps of a sequence."""
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import backend
from headrace._src.layers.engine import Layer
from headrace._src.nn import activations as _nn
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.variables import initializers as _initializers


class _Attention(Layer):
    """What queries find among values: the values' mean, weighted by the softmax
    of scores. A derived class has the scores."""

    _masks_pass = True

    def __init__(self, causal=False, use_scale=False, **kwargs):
        super().__init__(**kwargs)
        self.causal = causal
        self.use_scale = use_scale
        self.scale = None

    def _calculate_scores(self, query, key):
        """[batch, queries, values] of [batch, queries, depth] and [batch,
        values, depth]."""
        raise NotImplementedError("%s._calculate_scores" % type(self).__name__)

    def _apply_scores(self, scores, value, scores_mask=None):
        if scores_mask is not None:
            # Far below any score: the softmax of these is 0.
            scores -= 1.e9 * _math.cast(_math.logical_not(scores_mask),
                                        backend.floatx())
        return _math.matmul(_nn.softmax(scores), value)

    def call(self, inputs, mask=None):
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        of_query, of_value = mask if mask else (None, None)
        scores = self._calculate_scores(query, key)
        there = None
        if of_value is not None:
            there = _array.expand_dims(of_value, -2)
        if self.causal:
            before = _until_now(scores)
            there = before if there is None else _math.logical_and(there,
                                                                   before)
        result = self._apply_scores(scores, value, there)
        if of_query is not None:
            result *= _math.cast(_array.expand_dims(of_query, -1), result.dtype)
        return result

    def compute_mask(self, inputs, mask=None):
        """That of the query."""
        self._check(inputs, mask)
        if not mask or mask[0] is None:
            return None
        return convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape):
        query, value = (TensorShape(s) for s in input_shape[:2])
        return query[:-1].concatenate(value[-1])

    def _check(self, inputs, mask):
        kind = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                "%s layer must be called on a list of inputs, namely [query, "
                "value] or [query, value, key]." % kind)
        if len(inputs) not in (2, 3):
            raise ValueError(
                "%s layer accepts inputs list of length 2 or 3, namely [query, "
                "value] or [query, value, key]. Given length: %d"
                % (kind, len(inputs)))
        if not mask:
            return
        if not isinstance(mask, list):
            raise ValueError("%s layer mask must be a list, namely [query_mask, "
                             "value_mask]." % kind)
        if len(mask) != 2:
            raise ValueError(
                "%s layer mask must be a list of length 2, namely [query_mask, "
                "value_mask]. Given length: %d" % (kind, len(mask)))

    def get_config(self):
        return {**super().get_config(), "causal": self.causal,
                "use_scale": self.use_scale}


def _until_now(scores):
    """Bools [1, queries, values]: whether the value is not after the query."""
    shape = _array.shape(scores)
    shape = _array.concat([_array.ones_like(shape[:-2]), shape[-2:]], 0)
    row, column = (
        _math.cumsum(_array.ones(shape, dtypes.int32), axis)
        for axis in (-2, -1))
    return _math.greater_equal(row, column)


class Attention(_Attention):
    """Attention whose scores are the products of queries and keys.

    Called with a list: query [batch, queries, depth], value [batch, values,
    depth], and key like value (by default the values). The result is [batch,
    queries, depth]. `mask`: a list of the bools [batch, queries], of which those
    that are False give zeros, and [batch, values], of which those that are
    False do not count. `causal`: later values do not count. `use_scale`: the
    weight `scale`, a scalar, multiplies the scores. ValueError for another
    number of inputs or masks."""

    def __init__(self, use_scale=False, **kwargs):
        super().__init__(use_scale=use_scale, **kwargs)

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight(
                "scale", shape=(), initializer=_initializers.Ones(),
                dtype=self.dtype, trainable=True)
        self.built = True

    def _calculate_scores(self, query, key):
        scores = _math.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(_Attention):
    """Attention whose scores are the sum over depth of tanh(query + key), which
    the weight `scale` [depth] multiplies with `use_scale`. Else as
    Attention."""

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(use_scale=use_scale, **kwargs)

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight(
                "scale", shape=[TensorShape(input_shape[1])[-1].value],
                initializer=_initializers.glorot_uniform(),
                dtype=self.dtype, trainable=True)
        self.built = True

    def _calculate_scores(self, query, key):
        sums = _math.tanh(_array.expand_dims(query, -2)
                          + _array.expand_dims(key, -3))
        return _math.reduce_sum(
            (self.scale if self.use_scale else 1.) * sums, axis=-1)
