"""tf.keras.layers: attention, in which each query takes a mean of values."""
from headrace import raw_ops as _raw
from headrace._src.framework import dtypes
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import backend
from headrace._src.layers.engine import Layer
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math


class BaseDenseAttention(Layer):
    """Attention whose scores a derived class computes by `_calculate_scores`.
    `causal`: no query looks at values after it."""

    _masks_pass = True

    def __init__(self, causal=False, **kwargs):
        super().__init__(**kwargs)
        self.causal = causal
        self.scale = None

    def _calculate_scores(self, query, key):
        """The scores [batch, queries, values]."""
        raise NotImplementedError(
            "%s._calculate_scores" % type(self).__name__)

    def _apply_scores(self, scores, value, scores_mask=None):
        """The mean of the values by the softmax of the scores where the mask
        is True."""
        if scores_mask is not None:
            scores -= 1e9 * _math.cast(_math.logical_not(scores_mask),
                                       backend.floatx())
        return _math.matmul(_raw.Softmax(scores), value)

    def _check(self, inputs, mask):
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError("%s layer must be called on a list of inputs, "
                             "namely [query, value] or [query, value, key]."
                             % name)
        if not 2 <= len(inputs) <= 3:
            raise ValueError("%s layer accepts inputs list of length 2 or 3, "
                             "namely [query, value] or [query, value, key]. "
                             "Given length: %d" % (name, len(inputs)))
        if mask is not None and not isinstance(mask, list):
            raise ValueError("%s layer mask must be a list, namely "
                             "[query_mask, value_mask]." % name)
        if mask and len(mask) != 2:
            raise ValueError("%s layer mask must be a list of length 2, namely "
                             "[query_mask, value_mask]. Given length: %d"
                             % (name, len(mask)))

    def call(self, inputs, mask=None):
        self._check(inputs, mask)
        query, value = inputs[:2]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = mask or (None, None)
        scores = self._calculate_scores(query, key)
        seen = None
        if value_mask is not None:
            seen = _array.expand_dims(value_mask, -2)
        if self.causal:
            sizes = _array.shape(scores)
            seen = _merge_masks(seen, _lower_triangular_mask(_array.concat(
                [_array.ones_like(sizes[:-2]), sizes[-2:]], 0)))
        result = self._apply_scores(scores, value, seen)
        if query_mask is not None:
            result *= _math.cast(_array.expand_dims(query_mask, -1),
                                 result.dtype)
        return result

    def compute_mask(self, inputs, mask=None):
        self._check(inputs, mask)
        if not mask or mask[0] is None:
            return None
        return convert_to_tensor(mask[0])

    def get_config(self):
        return {**super().get_config(), "causal": self.causal}


class Attention(BaseDenseAttention):
    """Attention by products: for [query, value] or [query, value, key], the mean
    of the values by the softmax of query x key^T. With use_scale, a weight
    `scale` is a factor of the scores. `causal`: see BaseDenseAttention.

    query is [batch, queries, size], value and key [batch, values, size], all of
    one float dtype; so is the result, [batch, queries, size]. ValueError for
    another number of inputs or masks."""

    def __init__(self, use_scale=False, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight("scale", (), initializer="ones",
                                         dtype=self.dtype)
        self.built = True

    def _calculate_scores(self, query, key):
        scores = _math.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}


class AdditiveAttention(BaseDenseAttention):
    """Attention by sums: for [query, value] or [query, value, key], the mean of
    the values by the softmax of the sum of tanh(query + key), of which use_scale
    gives each number a weight `scale`. `causal`: see BaseDenseAttention.

    query is [batch, queries, size], value and key [batch, values, size], all of
    one float dtype; so is the result, [batch, queries, size]. ValueError for
    another number of inputs or masks."""

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        if self.use_scale:
            self.scale = self.add_weight(
                "scale", [TensorShape(input_shape[1])[-1].value],
                initializer="glorot_uniform", dtype=self.dtype)
        self.built = True

    def _calculate_scores(self, query, key):
        sums = _math.tanh(_array.expand_dims(query, -2)
                          + _array.expand_dims(key, -3))
        return _math.reduce_sum(
            sums if self.scale is None else self.scale * sums, -1)

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}


def _lower_triangular_mask(shape):
    """Bools of this shape: True below and on the diagonals."""
    ones = _array.ones(shape, dtypes.int32)
    return _math.greater_equal(_math.cumsum(ones, axis=-2),
                               _math.cumsum(ones, axis=-1))


def _merge_masks(x, y):
    """True where both masks are, of which None is True everywhere."""
    if x is None or y is None:
        return y if x is None else x
    return _math.logical_and(x, y)
