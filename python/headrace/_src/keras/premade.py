"""tf.keras.experimental: models that are made already."""
from headrace._src.keras.models import Model
from headrace._src.layers import activations, initializers, named, regularizers
from headrace._src.layers.core import Dense
from headrace._src.layers.engine import Layer, as_list
from headrace._src.nn import activations as _nn


class LinearModel(Model):
    """The sum of products of the inputs, a tensor or SparseTensor [batch, size]
    of floats or a list of such, with kernels [size, units], and of a bias:
    [batch, units]. ValueError for another number of inputs than at first."""

    def __init__(self, units=1, activation=None, use_bias=True,
                 kernel_initializer="glorot_uniform", bias_initializer="zeros",
                 kernel_regularizer=None, bias_regularizer=None, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape):
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        self.dense_layers = [
            Dense(units=self.units, use_bias=False,
                  kernel_initializer=self.kernel_initializer,
                  kernel_regularizer=self.kernel_regularizer)
            for _ in shapes]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", shape=[self.units], initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, dtype=self.dtype,
                trainable=True)
        self.built = True

    def call(self, inputs):
        inputs = as_list(inputs)
        if len(inputs) != len(self.dense_layers):
            raise ValueError("Expected {} inputs, but got {} inputs".format(
                len(self.dense_layers), len(inputs)))
        result = None
        for x, layer in zip(inputs, self.dense_layers):
            output = layer(x)
            result = output if result is None else result + output
        if self.use_bias:
            result = _nn.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self):
        return {
            **Layer.get_config(self), "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(
                self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(
                self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class WideDeepModel(Model):
    """The mean of what `linear_model`, a LinearModel, and `dnn_model` make of the
    inputs: [linear inputs, inputs of the network], or one for both, of the
    shapes and dtypes that they take. compile() takes one optimizer, or one for
    each of the two. ValueError as they raise it."""

    def __init__(self, linear_model, dnn_model, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs):
        if isinstance(inputs, (tuple, list)) and len(inputs) == 2:
            linear_inputs, dnn_inputs = inputs
        else:
            linear_inputs = dnn_inputs = inputs
        output = .5 * (self.linear_model(linear_inputs)
                       + self.dnn_model(dnn_inputs))
        return self.activation(output) if self.activation else output

    def _updates_by_gradients(self, weights):
        optimizers = self.optimizer
        if not isinstance(optimizers, (list, tuple)):
            optimizers = optimizers, optimizers
        updates = []
        for part, optimizer in zip((self.linear_model, self.dnn_model),
                                   optimizers):
            updates += as_list(optimizer.get_updates(
                self.total_loss, part.trainable_weights))
        return updates

    def get_config(self):
        return {
            **Layer.get_config(self),
            "linear_model": named.serialize_keras_object(self.linear_model),
            "dnn_model": named.serialize_keras_object(self.dnn_model),
            "activation": activations.serialize(self.activation)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        for name in ("linear_model", "dnn_model"):
            config[name] = named.layer_of(config[name], custom_objects)
        return cls(**config)
