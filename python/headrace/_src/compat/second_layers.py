"""Layers of tf.compat.v2.keras.layers, whose defaults differ from those of 1.x.
What they do is said at the layers of 1.x, which do it."""
from headrace._src.layers import backend as _backend
from headrace._src.layers import normalization as _normalization
from headrace._src.layers import recurrent as _recurrent
from headrace._src.ops import math_ops as _math


class BatchNormalization(_normalization.BatchNormalization):
    """tf.keras.layers.BatchNormalization: a layer that is not trainable does not
    train, and `fused=True` is an error where it cannot be."""

    _strict = True

    def call(self, inputs, training=None):
        if training is None:
            training = _backend.learning_phase()
        training = (bool(training) and self.trainable
                    if isinstance(training, int)
                    else _math.logical_and(training, self.trainable))
        return super().call(inputs, training)


class GRUCell(_recurrent.GRUCell):
    """tf.keras.layers.GRUCell, with sigmoids and `reset_after` by default."""

    def __init__(self, units, activation="tanh",
                 recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.,
                 recurrent_dropout=0., implementation=2, reset_after=True,
                 **kwargs):
        super().__init__(**_recurrent._given(locals()), **kwargs)


class LSTMCell(_recurrent.LSTMCell):
    """tf.keras.layers.LSTMCell, with sigmoids by default."""

    def __init__(self, units, activation="tanh",
                 recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0., recurrent_dropout=0.,
                 implementation=2, **kwargs):
        super().__init__(**_recurrent._given(locals()), **kwargs)


class GRU(_recurrent._OfCell):
    """A GRUCell over time; see tf.keras.layers.RNN."""

    cell_type = GRUCell

    def __init__(self, units, activation="tanh",
                 recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0., recurrent_dropout=0.,
                 implementation=2, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False,
                 time_major=False, reset_after=True, **kwargs):
        super().__init__(**_recurrent._given(locals()), **kwargs)


class LSTM(_recurrent._OfCell):
    """An LSTMCell over time; see tf.keras.layers.RNN."""

    cell_type = LSTMCell

    def __init__(self, units, activation="tanh",
                 recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.,
                 recurrent_dropout=0., implementation=2,
                 return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, time_major=False,
                 unroll=False, **kwargs):
        super().__init__(**_recurrent._given(locals()), **kwargs)
