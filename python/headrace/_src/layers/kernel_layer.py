"""The base of the layers with a kernel and a bias."""
from headrace._src.layers import (
    activations, constraints, initializers, regularizers)
from headrace._src.layers.engine import Layer

_KINDS = {"initializer": initializers, "regularizer": regularizers,
          "constraint": constraints}


class KernelLayer(Layer):
    """A layer with an activation, perhaps a bias, and weights that have options
    of their own. `options`: for a weight `w`, any of `w_initializer`,
    `w_regularizer` and `w_constraint`, each as its argument of tf.keras.layers."""

    def __init__(self, activation, use_bias, options, activity_regularizer=None,
                 **kwargs):
        super().__init__(
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self._options = tuple(options)
        for key, value in options.items():
            setattr(self, key, _KINDS[key.rpartition("_")[2]].get(value))
        self.bias = None

    def _add(self, name, shape, options=None):
        """The variable `name`. `options`: the prefix of its options, where it is
        not the name."""
        options = options or name
        return self.add_weight(
            name, shape=shape, dtype=self.dtype, trainable=True, **{
                kind: getattr(self, "%s_%s" % (options, kind))
                for kind in _KINDS})

    def _add_bias(self, size):
        if self.use_bias:
            self.bias = self._add("bias", (size,))

    def _activate(self, outputs):
        if self.activation is activations.linear:
            return outputs
        return self.activation(outputs)

    def get_config(self):
        config = {**super().get_config(), "use_bias": self.use_bias,
                  "activation": activations.serialize(self.activation),
                  "activity_regularizer":
                      regularizers.serialize(self.activity_regularizer)}
        for key in self._options:
            config[key] = initializers.serialize(getattr(self, key))
        return config
