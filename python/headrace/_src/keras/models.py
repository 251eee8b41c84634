"""tf.keras.Model and Sequential: layers that are called as one, and trained
(training.py)."""
import numpy as np

from headrace._headrace import Tensor
from headrace._loading import load as _load
from headrace._src.framework import dtypes, nest
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.keras import configs, summaries
from headrace._src.keras import weights_files as _files
from headrace._src.keras.multi_worker import values_of
from headrace._src.keras.row_values import is_rows
from headrace._src.keras.training import Training
from headrace._src.layers import backend, named
from headrace._src.layers.engine import Layer, as_list
from headrace._src.variables.tracking import with_told


class InputLayer(Layer):
    """A placeholder, or the tensor `input_tensor`, as the start of a model."""

    _zero_based = False
    _masks_pass = True

    def __init__(self, input_shape=None, batch_size=None, dtype=None,
                 input_tensor=None, sparse=False, name=None, ragged=False,
                 **kwargs):
        if "batch_input_shape" in kwargs:
            batch_size, *input_shape = kwargs.pop("batch_input_shape")
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a "
                             "Keras input.")
        name = name or backend.unique_name("input", zero_based=False)
        if input_tensor is not None:
            dtype = input_tensor.dtype.base_dtype
        super().__init__(name=name, dtype=dtype or backend.floatx(), **kwargs)
        if input_tensor is None:
            if input_shape is None:
                raise ValueError("InputLayer %s: input_shape or input_tensor "
                                 "must be given" % name)
            if isinstance(input_shape, (int, np.integer)):
                input_shape = (input_shape,)
            shape = [batch_size] + list(TensorShape(input_shape).as_list())
            with backend.in_graph():
                input_tensor = backend.placeholder(
                    shape, dtype=self.dtype, sparse=sparse, ragged=ragged,
                    name=name)
        self._batch_input_shape = backend.int_shape(input_tensor)
        self.sparse, self.ragged = sparse, ragged
        self.built = True
        self._calls.append(([], input_tensor))
        backend.graph_state().history[backend.key(input_tensor)] = self, 0, 0

    def get_config(self):
        return {"batch_input_shape": self._batch_input_shape,
                "dtype": self.dtype, "sparse": self.sparse,
                "ragged": self.ragged, "name": self.name}


def Input(shape=None, batch_size=None, name=None, dtype=None, sparse=False,
          tensor=None, ragged=False, **kwargs):
    """A placeholder of [batch] + `shape`, from which a Model starts.

    `dtype`: float32 by default; `tensor`: a Tensor to take instead; `sparse`: a
    SparseTensor, whose shape is known if all of `shape` and the batch are;
    `ragged`: a RaggedTensor, up to the last unknown dimension. Returns it:
    [batch_size] + shape of that type. ValueError without a shape or tensor, for
    both kinds at once and for unknown arguments."""
    if "batch_shape" in kwargs:
        batch_shape = kwargs.pop("batch_shape")
        if shape is not None and batch_shape:
            raise ValueError("Only provide the `shape` OR `batch_input_shape` "
                             "argument to Input, not both at the same time.")
        batch_size, *shape = batch_shape
    if shape is None and tensor is None:
        raise ValueError("Please provide to Input either a `shape` or a "
                         "`tensor` argument. Note that `shape` does not include "
                         "the batch dimension.")
    if kwargs:
        raise ValueError("Unrecognized keyword arguments: %s"
                         % ", ".join(kwargs))
    return InputLayer(shape, batch_size, dtype, tensor, sparse, name,
                      ragged).output


def _check_names(layers):
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise ValueError("The name \"%s\" is used %d times in the model. "
                             "All layer names should be unique."
                             % (name, names.count(name)))


def _check_inputs(inputs, name):
    for x in inputs:
        if not backend.is_symbolic(x) or not backend.is_keras_tensor(x):
            raise ValueError(
                "Input tensors to a %s must come from `tf.keras.Input`. "
                "Received: %s (missing previous layer metadata)." % (name, x))
    if len({backend.key(x) for x in inputs}) < len(inputs):
        raise ValueError(
            "The list of inputs passed to the model is redundant. All inputs "
            "should only appear once. Found: %s" % (inputs,))
    sizes = {backend.int_shape(x)[:1] for x in inputs} - {(None,), ()}
    if len(sizes) > 1:
        raise ValueError("The specified batch sizes of the Input Layers are "
                         "incompatible. Found batch sizes: %s"
                         % sorted(n for n, in sizes))


class _Computed:
    """As property, but derived classes may set attributes of that name."""

    def __init__(self, function):
        self._function = function

    def __get__(self, network, owner=None):
        return self if network is None else self._function(network)


class Network(Layer):
    """What a Model is without training: layers between `inputs` and `outputs`,
    tensors that those layers made, as one layer. A derived class may have its
    layers as attributes instead, and a `call`."""

    optimizer = None
    run_eagerly = False
    _layers = ()

    def __init__(self, inputs=None, outputs=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self._given = None
        self._connected_late = False  # by arrays, not by what was given first
        self._layers = []
        if inputs is not None or outputs is not None:
            self._connect(inputs, outputs)

    def _connect(self, inputs, outputs):
        if inputs is None or outputs is None:
            raise TypeError("Model %s: `inputs` and `outputs` must both be "
                            "given" % self.name)
        _check_inputs(nest.flatten(inputs), type(self).__name__)
        self._given = inputs, outputs
        self._steps = []  # (layer, number of its call, inputs, outputs)
        history = backend.graph_state().history
        done = {backend.key(x) for x in nest.flatten(inputs)}
        stack = [(x, False) for x in reversed(nest.flatten(outputs))]
        placed = set()
        while stack:
            x, ready = stack.pop()
            if backend.key(x) in done and not ready:
                continue
            if backend.key(x) not in history or isinstance(
                    history[backend.key(x)][0], InputLayer):
                raise ValueError(
                    "Graph disconnected: cannot obtain value for tensor %s. "
                    "Layers of model %s must make it from the model's inputs; "
                    "wrap other ops in tf.keras.layers.Lambda."
                    % (backend.key(x), self.name))
            layer, call, _ = history[backend.key(x)]
            before, after = layer._calls[call]
            if not ready:
                stack.append((x, True))
                stack += [(b, False) for b in reversed(nest.flatten(before))]
            elif (layer, call) not in placed:
                placed.add((layer, call))
                self._steps.append((layer, call, before, after))
                done.update(backend.key(a) for a in nest.flatten(after))
        self._layers = configs.ordered_layers(inputs, outputs)
        _check_names(self._layers)
        self.built = True
        self._calls.append((inputs, outputs))

    def _makers(self, tensors):
        history = backend.graph_state().history
        return [history[backend.key(x)][0] for x in tensors or ()
                if backend.key(x) in history]

    _input_layers = _Computed(lambda self: self._makers(self.inputs))
    _output_layers = _Computed(lambda self: self._makers(self.outputs))
    _feed_input_names = _Computed(lambda self: self.input_names)

    def _added_metrics(self):
        found = []
        for layer in self.layers:
            found += layer._added_metrics()
        return found + self._metric_updates

    def _check_metric(self, value, aggregation, metric):
        if self._given is not None and metric is not None and (
                self._inputs_now is None):
            raise ValueError(
                "Using the result of calling a `Metric` object when calling "
                "`add_metric` on a Functional Model is not supported. Please "
                "pass the Tensor to monitor directly.")
        super()._check_metric(value, aggregation, metric)

    @property
    def layers(self):
        return list(self._layers) or self._layers_inside()

    def _check_has_weights(self):
        if not self.built and "build" in type(self).__dict__:
            raise ValueError(
                "Weights for model %s have not yet been created. Weights are "
                "created when the Model is first called on inputs or `build()` "
                "is called with an `input_shape`." % self.name)

    @property
    def weights(self):
        """Those of the layers, one layer after the other, then the model's own.
        ValueError for a model that has none yet: a Sequential or a class with a
        `build`."""
        self._check_has_weights()
        return self._own_last("weights", self._own_weights(True)
                              + self._own_weights(False))

    @property
    def trainable_weights(self):
        self._check_has_weights()
        if not self.trainable:
            return []
        return self._own_last("trainable_weights", self._trainable_weights)

    @property
    def non_trainable_weights(self):
        self._check_has_weights()
        own = list(self._non_trainable_weights)
        if not self.trainable:
            own = self._trainable_weights + own
        return self._own_last("non_trainable_weights", own)

    def _own_last(self, name, own):
        found = self._all([], name)
        return found + [w for w in own if not any(w is f for f in found)]

    @property
    def _is_graph_network(self):
        return self._given is not None and not self._connected_late

    @property
    def inputs(self):
        return None if self._given is None else nest.flatten(self._given[0])

    @property
    def outputs(self):
        return None if self._given is None else nest.flatten(self._given[1])

    def get_layer(self, name=None, index=None):
        """A layer by its name or its place. ValueError if there is none."""
        if index is not None:
            if len(self.layers) <= index:
                raise ValueError(
                    "Was asked to retrieve layer at index %s but model only "
                    "has %d layers." % (index, len(self.layers)))
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        raise ValueError("No such layer: %s" % name)

    def call(self, inputs, training=None, mask=None):
        if self._given is None:
            raise NotImplementedError(
                "Model %s has neither inputs and outputs nor a `call` of its "
                "own" % self.name)
        self._mask_inputs(inputs, mask)
        values = {backend.key(x): v for x, v in zip(nest.flatten(self._given[0]),
                                            nest.flatten(inputs))}
        for layer, call, before, after in self._steps:
            given = nest.map_structure(lambda x: values[backend.key(x)], before)
            options = nest.map_structure(
                lambda x: values.get(backend.key(x), x)
                if isinstance(x, Tensor) else x,
                layer._call_options.get(call, {}))
            if training is not None and "training" in layer._call_arguments():
                options.setdefault("training", training)
            results = layer(given, **options)
            for x, value in zip(nest.flatten(after), nest.flatten(results)):
                values[backend.key(x)] = value
        return nest.map_structure(lambda x: values[backend.key(x)], self._given[1])

    def _has_own_call(self):
        return type(self).call not in (Network.call, Sequential.call)

    def _input_masks(self, inputs, args, kwargs, known):
        if self._has_own_call():
            # As in TensorFlow, it has the masks that it is called with, and
            # not those of its inputs.
            return kwargs.get("mask")
        return super()._input_masks(inputs, args, kwargs, known)

    @staticmethod
    def _mask_inputs(inputs, masks):
        if masks is not None:
            for x, mask in zip(nest.flatten(inputs), nest.flatten(masks)):
                x._keras_mask = mask

    def compute_mask(self, inputs, mask=None):
        """The masks that the outputs for these inputs have; None for a model that
        has a `call` of its own."""
        if self._has_own_call():
            return None
        return nest.map_structure(lambda x: getattr(x, "_keras_mask", None),
                                  self.call(inputs, mask=mask))

    def _connect_to(self, x):
        """Calls the model for inputs like the arrays `x`."""
        shapes = []
        for value in [x] if is_rows(x) else as_list(
                x) if not isinstance(x, dict) else [x[k] for k in sorted(x)]:
            if is_rows(value) and not hasattr(value, "toarray"):
                raise ValueError(
                    "All SparseTensor and RaggedTensor inputs must be explicitly "
                    "declared using a keras.Input() with sparse=True or "
                    "ragged=True. We found an undeclared input %s" % (value,))
            value = np.asarray(value.toarray() if hasattr(value, "toarray")
                               else value)
            kind = value.dtype if value.dtype.kind in "iub" else backend.floatx()
            shapes.append(Input(
                batch_shape=(None,) + (value.shape[1:] or (1,)),
                dtype=dtypes.as_dtype(kind)))
        if self.run_eagerly and (self._has_own_call() or self._is_dynamic()):
            arrays = [np.asarray(v)[:1] for v in as_list(x)]
            self._given = self._eager_steps().connect(
                shapes[0] if len(shapes) == 1 else shapes, [
                    a.astype(s.dtype.as_numpy_dtype)
                    for a, s in zip(arrays, shapes)])
            self._connected_late = self.built = True
            return
        self._connect_by(shapes[0] if len(shapes) == 1 else shapes)

    def _connect_by(self, inputs):
        options = {}
        if backend.is_eager_program() and self._has_own_call() and (
                self._expects_training_arg):
            options["training"] = backend.learning_phase()
        self._given = inputs, self(inputs, **options)
        self._connected_late = True
        self.built = True

    def get_weights(self):
        """The values of the weights, one layer after the other; with a strategy,
        of all replicas together."""
        if self._strategy is not None:
            return values_of(self.weights)
        return backend.batch_get_value(self.weights)

    def save_weights(self, filepath, overwrite=True, save_format=None):
        """Writes the weights in TensorFlow's format or, if `save_format` is "h5"
        or the path ends with .h5, .hdf5 or .keras, in an HDF5 file. ImportError
        for HDF5 without h5py, ValueError before there are weights."""
        _files.save(self, str(filepath), overwrite, save_format)

    def load_weights(self, filepath, by_name=False):
        """Reads what save_weights wrote, here or in TensorFlow. `by_name`: of an
        HDF5 file, the layers whose names are the same. ValueError if a weight
        is missing or has another shape."""
        _files.load(self, str(filepath), by_name)

    _lists_layers = False

    def _checkpoint_children(self):
        """The layers by TensorFlow's names, or the attributes of a class with a
        `call` of its own; and the optimizer of Keras."""
        found = []
        if hasattr(self, "_steps") or hasattr(self, "add"):
            layers = list(self._layers)
            if hasattr(self, "add"):
                layers = self._all_layers()
            with_weights = 0
            for i, layer in enumerate(layers):
                if layer.weights:
                    found.append(("layer_with_weights-%d" % with_weights, layer))
                    with_weights += 1
                found.append(("layer-%d" % i, layer))
        else:
            found = [(name, value)
                     for name, value in super()._checkpoint_children()
                     if name not in ("history", "optimizer")]
        if hasattr(getattr(self, "optimizer", None), "_checkpoint_slots"):
            found.append(("optimizer", self.optimizer))
        if "_ckpt_saved_epoch" in self.__dict__:
            found.append(("_ckpt_saved_epoch", self._ckpt_saved_epoch))
        return with_told(self, found)

    def compute_output_shape(self, input_shape):
        """The shape of the outputs, or a list of them, for inputs of this
        shape. NotImplementedError for a derived class with a `call` of its
        own, ValueError for other numbers of inputs."""
        if self._is_graph_network and isinstance(input_shape, list) and any(
                isinstance(x, (tuple, list, TensorShape))
                for x in input_shape) and len(input_shape) != len(self.inputs):
            raise ValueError(
                "Invalid input_shape argument %s: model has %d tensor inputs."
                % (input_shape, len(self.inputs)))
        return self._shape_of_copy(input_shape)

    def get_config(self):
        """The name, the layers with their configs, and what they are called on.
        NotImplementedError for a derived class with a `call` of its own."""
        self._check_is_network("get_config")
        return configs.of_network(self)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A new model, with new weights, of what get_config gave. ValueError for
        layers that are not known."""
        inputs, outputs = configs.network(config, custom_objects)
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))

    def _check_is_network(self, what):
        if type(self).call not in (Network.call, Sequential.call) or (
                self._given is None and not isinstance(self, Sequential)):
            raise NotImplementedError(
                "%s of model %s: only a Sequential or a model of inputs and "
                "outputs has a description; a class with a `call` of its own "
                "has none. Save its weights with save_weights."
                % (what, self.name))

    def to_json(self, **kwargs):
        """The class and the config as JSON, for tf.keras.models.model_from_json;
        `kwargs` are those of json.dumps. See get_config."""
        return configs.to_json(self, **kwargs)

    def to_yaml(self, **kwargs):
        """As to_json, as YAML; `kwargs` are those of yaml.dump. ImportError
        without the package yaml."""
        return configs.to_yaml(self, **kwargs)

    def save(self, filepath, overwrite=True, include_optimizer=True,
             save_format=None, signatures=None):
        """Writes the model, with its weights and, if `include_optimizer`, what it
        is compiled with and the optimizer's state, in an HDF5 file. See
        tf.keras.models.save_model."""
        _load("keras.models").save_model(
            self, filepath, overwrite, include_optimizer, save_format,
            signatures)

    def summary(self, line_length=None, positions=None, print_fn=None):
        """Prints the layers, the shapes of their outputs, how many weights they
        have and, if they form no chain, what they are called on.
        `line_length`: of the table; `positions`: where its columns end, in
        characters or shares of a line; `print_fn` takes each line. ValueError
        before there are weights."""
        if not self.built and not self._all([], "weights"):
            raise ValueError(
                "This model has not yet been built. Build the model first by "
                "calling `build()` or calling `fit()` with some data, or "
                "specify an `input_shape` argument in the first layer(s) for "
                "automatic build.")
        summaries.show(self, line_length, positions, print_fn or print)


class Model(Training, Network):
    """Layers between `inputs` and `outputs`, tensors that those layers made,
    as one layer that can be trained. A derived class may have its layers as
    attributes instead, and a `call`."""


class Sequential(Model):
    """Layers, each of which takes the output of the one before."""

    def __init__(self, layers=None, name=None):
        super().__init__(name=name)
        for layer in as_list(layers):
            self.add(layer)

    def build(self, input_shape=None):
        """Makes the weights, for inputs of this shape. ValueError without one,
        unless the first layer says it."""
        if self._given is None and not self._is_called:
            if input_shape is None:
                raise ValueError("You must provide an `input_shape` argument.")
            self._connect_by(Input(batch_shape=tuple(
                TensorShape(input_shape).as_list())))
        self.built = True

    _is_called = False  # then each layer makes its weights

    def _build_once(self, inputs):
        self._is_called = True
        try:
            super()._build_once(inputs)
        finally:
            self._is_called = False

    def add(self, layer):
        """Appends a layer; that of the inputs by its tensor, too. TypeError for
        what is none."""
        if isinstance(layer, Tensor) and backend.is_keras_tensor(layer):
            layer = layer._keras_history.layer
            if not isinstance(layer, InputLayer):
                raise TypeError("The added layer must be an instance of class "
                                "Layer. Found: %s" % (layer,))
        if not isinstance(layer, Layer):
            raise TypeError("The added layer must be an instance of class "
                            "Layer. Found: %s" % (layer,))
        self.built = False
        first = not self._layers
        if isinstance(layer, InputLayer):
            if not first:
                raise ValueError("Sequential %s: an InputLayer can only be the "
                                 "first layer" % self.name)
            self._given = layer.output, layer.output
            self._input_layer = [layer]
            return
        if first and self._given is None and hasattr(
                layer, "_batch_input_shape"):
            x = Input(batch_shape=layer._batch_input_shape,
                      name=layer.name + "_input", dtype=layer.dtype)
            self._given = x, x
        if first and self._given is None and isinstance(layer, Network) and (
                layer._given is not None):
            given = layer.inputs[0]
            x = Input(batch_shape=backend.int_shape(given),
                      name=layer.name + "_input", dtype=given.dtype)
            self._given = x, x
        self._layers.append(layer)
        if self._given is not None:
            outputs = layer(self._given[1])
            if len(nest.flatten(outputs)) != 1:
                self._layers.pop()
                raise TypeError(
                    "All layers in a Sequential model should have a single "
                    "output tensor. For multi-output layers, use the functional "
                    "API.")
            self._given = self._given[0], outputs
            self._calls = [self._given]
            _check_names(self._layers)
            self.built = True

    def _all_layers(self):
        """The layers and, first, that of the inputs."""
        history = backend.graph_state().history
        first = [] if self._given is None or self._connected_late else [
            history[backend.key(x)][0] for x in self.inputs if backend.key(x) in history]
        return first + list(self._layers)

    def get_config(self):
        self._check_is_network("get_config")
        config = {"name": self.name,
                  "layers": [named.describe(layer)
                             for layer in self._layers]}
        if self._given is not None and self._connected_late:
            config["build_input_shape"] = backend.int_shape(self.inputs[0])
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        shape, name = None, None
        if isinstance(config, dict):
            shape, name = config.get("build_input_shape"), config.get("name")
            config = config["layers"]
        model = cls(name=name)
        for layer in config:
            model.add(named.layer_of(layer, custom_objects))
        if model._given is None and shape is not None:
            model._connect_by(Input(batch_shape=tuple(shape)))
        return model

    def pop(self):
        """Removes the last layer. TypeError if there is none."""
        if not self._layers:
            raise TypeError("There are no layers in the model.")
        self._layers.pop()
        if not self._layers:
            self._given, self._calls, self.built = None, [], False
        elif self._given is not None:
            self._given = self._given[0], self._layers[-1]._calls[-1][1]
            self._calls = [self._given]

    def predict_proba(self, x, batch_size=32, verbose=0):
        """As predict."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The number of the largest output for each example; of one output,
        whether it is above 0.5."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        if found.shape[-1] > 1:
            return found.argmax(axis=-1)
        return (found > 0.5).astype("int32")

    def call(self, inputs, training=None, mask=None):
        self._mask_inputs(inputs, mask)
        outputs = inputs
        for layer in self._layers:
            options = {}
            if training is not None and "training" in layer._call_arguments():
                options["training"] = training
            outputs = layer(outputs, **options)
        return outputs
