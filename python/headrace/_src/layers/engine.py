"""Layer: what has weights, makes them at its first call, and maps tensors to
tensors.

This is tf.keras.layers.Layer; tf.layers.Layer (`legacy.py`) takes its variables
from get_variable instead, and so shares them by name.
"""
import functools
import inspect
import re
import threading

import numpy as np

from headrace._headrace import EagerTensor, Tensor, executing_eagerly
from headrace._loading import load as _load
from headrace._src.autograph.api import tf_convert
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import (
    Graph, Operation, get_default_graph, init_scope, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.framework.tensor_shape import Dimension, TensorShape
from headrace._src.layers import (
    backend, constraints, initializers, policy, regularizers)
from headrace._src.layers.input_spec import check_inputs
from headrace._src.ops import array_ops as _array
from headrace._src.ops import math_ops as _math
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.ops.type_specs import TensorSpec
from headrace._src.variables import autocast
from headrace._src.variables import tracking as _tracking
from headrace._src.variables.module import Module
from headrace._src.variables.partitions import PartitionedVariable
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.strategies import in_first_replica
from headrace._src.variables.tracking import (
    Container, attributes, saved_attributes, with_told)
from headrace._src.variables.variables import Variable

_OURS = __name__.partition(".")[0] + "._src."
_OUR_LAYERS = __name__.rpartition(".")[0] + "."

_OPTIONS = {"input_shape", "batch_input_shape", "batch_size", "weights",
            "activity_regularizer", "autocast"}


def snake_case(name):
    """The name of a class as that of its layers: max_pooling2d."""
    words = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    words = re.sub("([a-z])([A-Z])", r"\1_\2", words).lower()
    return words if words[0] != "_" else "private" + words


def as_list(value):
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _tensor(value):
    return convert_to_tensor(value) if isinstance(
        value, (np.ndarray, float, int)) else value


def _placeholders(shape, dtype):
    """A placeholder of this shape, or a list of them."""
    if isinstance(shape, (list, tuple)) and not all(
            n is None or isinstance(n, (int, np.integer, Dimension))
            for n in shape):
        return [_placeholders(s, dtype) for s in shape]
    return _array.placeholder(dtype, TensorShape(shape))


def _depends_on(op, tensors):
    """Whether an operation takes what is computed from the tensors, or waits for
    it."""
    given = {x.name for x in nest.flatten(tensors) if isinstance(x, Tensor)}
    seen, todo = set(), [op]
    while todo:
        op = todo.pop()
        if any(x.name in given for x in op.inputs):
            return True
        for before in [x.op for x in op.inputs] + list(op.control_inputs):
            if before.name not in seen:
                seen.add(before.name)
                todo.append(before)
    return False


def _masks_of(tensors):
    """The masks of tensors, None for those without, in their structure."""
    return nest.map_structure(lambda x: getattr(x, "_keras_mask", None),
                              tensors)


class _OuterCall(threading.local):
    """What the call of a layer, which runs now, said of training."""

    training = None
    depth = 0  # of calls of layers while ops are executed eagerly


_outer_call = _OuterCall()


class _Parameters:
    """What a function can be given. `names`: those of its parameters."""

    def __init__(self, function):
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            parameters = {}
        self.names = list(parameters)
        self._takes_any = any(p.kind is p.VAR_KEYWORD
                              for p in parameters.values())

    def accepts(self, name):
        return self._takes_any or name in self.names

    def has_place(self, name, args):
        """Whether `name` is among the `args` that follow the first argument."""
        return name in self.names and self.names.index(name) <= len(args)

    def of_place(self, name, args):
        return args[self.names.index(name) - 1]


def _has_layers(value):
    return isinstance(value, Layer) or isinstance(value, list) and any(
        isinstance(x, Layer) for x in value)


class Node:
    """A call of a layer: its number, the tensors that went in and came out, and
    the layers that they came from."""

    def __init__(self, layer, index):
        inputs, outputs = layer._calls[index]
        self.outbound_layer = layer
        self.index = index
        is_first = isinstance(inputs, list) and not inputs
        self.input_tensors = (nest.flatten(outputs) if is_first
                              else _single(nest.flatten(inputs)))
        self.output_tensors = (nest.flatten(outputs) if is_first
                               else _single(nest.flatten(outputs)))
        self.input_shapes = nest.map_structure(backend.int_shape,
                                               self.input_tensors)
        self.output_shapes = nest.map_structure(backend.int_shape,
                                                self.output_tensors)
        self.arguments = layer._call_options.get(index, {})
        history = backend.graph_state().history
        found = [history.get(backend.key(x)) for x in nest.flatten(inputs)]
        self._layers = [f and f[0] for f in found]
        self.inbound_layers = _single(self._layers)
        self.node_indices = _single([f and f[1] for f in found])
        self.tensor_indices = _single([f and f[2] for f in found])

    def iterate_inbound(self):
        """(layer, number of its call, index, tensor) of each input."""
        return zip(as_list(self.inbound_layers), as_list(self.node_indices),
                   as_list(self.tensor_indices), as_list(self.input_tensors))

    def get_config(self):
        """The names of the layers, and which of their calls and outputs."""
        inbound = nest.map_structure(lambda layer: layer and layer.name,
                                     self.inbound_layers)
        return {"outbound_layer": self.outbound_layer.name,
                "inbound_layers": inbound, "node_indices": self.node_indices,
                "tensor_indices": self.tensor_indices}


def _single(values):
    return values[0] if len(values) == 1 else values


class Layer(Module):
    """A layer: `build(input_shape)` makes its weights by add_weight, and
    `call(inputs)` computes its outputs; a derived class has both.

    `trainable` False keeps its weights from TRAINABLE_VARIABLES. `dtype`: of
    its weights, by default that of the first input. `input_shape`: the shape
    of one example, for the first layer of a Sequential."""

    _masks_pass = False  # the outputs have the mask of the inputs
    _lists_layers = True  # in checkpoints
    _zero_based = True  # the first layer of a class has no number
    _use_resource_variables = False  # what tf.layers.Layer asks

    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False,
                 **kwargs):
        for key in kwargs:
            if key not in _OPTIONS and key != "input_dim":
                raise TypeError("Keyword argument not understood: %s" % key)
        if dynamic and not executing_eagerly():
            raise NotImplementedError(
                "Layer %s: dynamic=True needs eager execution"
                % (name or type(self).__name__))
        self._trainable = trainable
        self._dynamic = bool(dynamic)
        self.built = False
        self.stateful = False
        self.supports_masking = self._masks_pass
        self.input_spec = None
        self._dtype_policy = policy.policy_of(dtype)
        self._autocast = kwargs.get("autocast",
                                    policy.v2_dtype_behavior_enabled())
        self._set_name(name)
        self._activity_regularizer = kwargs.pop("activity_regularizer", None)
        self._trainable_weights = []
        self._non_trainable_weights = []
        self._losses = []         # [(tensor, it depends on the inputs)]
        self._callable_losses = []
        self._loss_functions = []  # all that were added
        self._updates = []        # operations
        self._updates_of_inputs = []  # whether each depends on the inputs
        self._metric_updates = []  # [(Metric, what updates it)]
        self._calls = []          # [(inputs, outputs)]
        self._call_options = {}   # of calls, by their number: other arguments
        self._inputs_now = None   # while `call` runs
        self._listed_layers = []  # what checkpoints call `_layers`
        self._first_weights = kwargs.get("weights")
        shape = kwargs.get("batch_input_shape")
        if shape is None and kwargs.get("input_shape") is not None:
            shape = (kwargs.get("batch_size"),) + tuple(kwargs["input_shape"])
        elif shape is None and kwargs.get("input_dim") is not None:
            shape = (kwargs.get("batch_size"), kwargs["input_dim"])
        if shape is not None:
            self._batch_input_shape = tuple(shape)

    def _set_name(self, name):
        self._name = name or backend.unique_name(
            snake_case(type(self).__name__), zero_based=self._zero_based)

    name = property(lambda self: self._name)
    _dtype = property(
        lambda self: self._dtype_policy.variable_dtype,
        lambda self, value: setattr(
            self, "_dtype_policy",
            policy.Policy(dtypes.as_dtype(value).name)))
    dtype = property(lambda self: self._dtype)
    dynamic = property(lambda self: self._dynamic)
    activity_regularizer = property(
        lambda self: self._activity_regularizer,
        lambda self, value: setattr(self, "_activity_regularizer", value))

    @property
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for layer in self._layers_inside():
            layer.trainable = value

    def _layers_inside(self):
        """The layers that are attributes of this one, once each."""
        found = []
        for _, value in attributes(self):
            for x in value if isinstance(
                    value, (list, tuple, Container)) else [value]:
                if isinstance(x, Layer) and x is not self and x not in found:
                    found.append(x)
        return found

    def _all_layers_inside(self):
        """Those, and those inside of them, once each."""
        found = []
        for layer in self._layers_inside():
            found += [x for x in [layer] + layer._all_layers_inside()
                      if not any(x is f for f in found)]
        return found

    _layers = property(lambda self: self._layers_inside())
    _compute_dtype = property(lambda self: self._dtype_policy.compute_dtype)
    _call_fn_args = property(lambda self: self._call_arguments())
    _expects_training_arg = property(
        lambda self: _Parameters(self.call).accepts("training"))
    _expects_mask_arg = property(
        lambda self: _Parameters(self.call).accepts("mask"))

    # Weights.

    def build(self, input_shape):
        """Makes the weights, for inputs of this shape."""
        self.built = True

    def add_weight(self, name=None, shape=None, dtype=None, initializer=None,
                   regularizer=None, trainable=None, constraint=None,
                   partitioner=None, use_resource=None,
                   synchronization=VariableSynchronization.AUTO,
                   aggregation=VariableAggregation.NONE, **kwargs):
        """A variable of the layer. ValueError if no initializer is given and
        there is no default for the type."""
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast"):
                raise TypeError("Unknown keyword argument: %s" % key)
        shape = () if shape is None else shape
        dtype = dtypes.as_dtype(dtype or self.dtype or backend.floatx())
        if self._dtype is None:
            self._dtype = dtype.base_dtype.name
        is_cast = (kwargs.get("experimental_autocast", True)
                   and self._dtype_policy.should_cast_variables)
        initializer = initializers.get(initializer)
        if initializer is None:
            initializer = self._default_initializer(name, dtype)
        trainable = self._may_train(trainable, synchronization)
        variable = self._make_variable(
            name, TensorShape(shape), dtype, initializer,
            trainable=trainable, constraint=constraints.get(constraint),
            partitioner=partitioner, use_resource=use_resource,
            synchronization=synchronization, aggregation=aggregation,
            collections=kwargs.get("collections"),
            getter=kwargs.get("getter"))
        if is_cast:
            variable = autocast.make_autocast(variable)
        self._regularize(variable, regularizers.get(regularizer),
                         variable.name.partition(":")[0])
        weights = (self._trainable_weights if trainable
                   else self._non_trainable_weights)
        weights.append(variable)
        return variable

    def add_variable(self, *args, **kwargs):
        """As add_weight."""
        return self.add_weight(*args, **kwargs)

    def _default_initializer(self, name, dtype):
        if dtype.is_floating:
            return initializers.get("glorot_uniform")
        if dtype.is_integer or dtype.is_bool:
            return initializers.get("zeros")
        raise ValueError("An initializer for variable %s of type %s is "
                         "required for layer %s"
                         % (name, dtype.base_dtype, self.name))

    def _may_train(self, trainable, synchronization):
        if synchronization == VariableSynchronization.ON_READ:
            if trainable:
                raise ValueError(
                    "Synchronization value can be set to "
                    "VariableSynchronization.ON_READ only for non-trainable "
                    "variables. You have specified trainable=True and "
                    "synchronization=VariableSynchronization.ON_READ.")
            return False
        return True if trainable is None else trainable

    def _make_variable(self, name, shape, dtype, initializer, getter,
                       partitioner, use_resource, **options):
        if partitioner is not None:
            raise ValueError("Layer %s: partitioner: only layers of tf.layers "
                             "have partitioned variables" % self.name)
        with init_scope():
            return Variable(
                functools.partial(initializer, shape.as_list(), dtype=dtype),
                name=name or "Variable", dtype=dtype,
                use_resource=use_resource is not False, **options)

    def _regularize(self, variable, regularizer, name):
        if regularizer is None:
            return
        parts = (list(variable) if isinstance(variable, PartitionedVariable)
                 else [variable])
        for part in parts:
            self.add_loss(functools.partial(
                self._loss_of, regularizer, part, name))

    @staticmethod
    def _loss_of(regularizer, variable, name):
        with name_scope(name + "/Regularizer"):
            return regularizer(variable)

    def _all(self, own, inner):
        found = list(own)
        for layer in self._layers_inside():
            found += [w for w in getattr(layer, inner)
                      if not any(w is f for f in found)]
        return found

    def _own_weights(self, trainable):
        """Those of add_weight, and variables that are attributes."""
        found = list(self._trainable_weights if trainable
                     else self._non_trainable_weights)
        if type(self).__module__.startswith(_OURS):
            return found
        for name, value in attributes(self):
            if name in ("states", "_states"):  # of a recurrent layer
                continue
            for v in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(v, Variable) and v.trainable == trainable and (
                        not any(v is w for w in self._trainable_weights)
                        and not any(v is w for w
                                    in self._non_trainable_weights)
                        and not any(v is w for w in found)):
                    found.append(v)
        return found

    @property
    def trainable_weights(self):
        if not self.trainable:
            return []
        return self._all(self._own_weights(True), "trainable_weights")

    @property
    def non_trainable_weights(self):
        own = self._own_weights(False)
        if not self.trainable:
            own = self._own_weights(True) + own
        return self._all(own, "non_trainable_weights")

    @property
    def weights(self):
        return self.trainable_weights + self.non_trainable_weights

    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)

    def count_params(self):
        """How many numbers the weights are. ValueError before `build`."""
        if not self.built:
            raise ValueError("You tried to call `count_params` on %s, but the "
                             "layer isn't built." % self.name)
        return sum(int(np.prod(w.get_shape().as_list()))
                   for w in self.weights)

    def get_weights(self):
        """The values of the weights in the session of
        tf.keras.backend.get_session."""
        return backend.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Gives the weights values, in the session of
        tf.keras.backend.get_session."""
        mine = self.weights
        if len(mine) != len(weights):
            raise ValueError(
                "You called `set_weights(weights)` on layer \"%s\" with a  "
                "weight list of length %d, but the layer was expecting %d "
                "weights." % (self.name, len(weights), len(mine)))
        for variable, value in zip(mine, weights):
            if tuple(variable.get_shape().as_list()) != np.shape(value):
                raise ValueError(
                    "Layer weight shape %s not compatible with provided weight "
                    "shape %s" % (variable.get_shape(), np.shape(value)))
        backend.batch_set_value(list(zip(mine, weights)))

    # Losses and updates.

    def add_loss(self, losses, inputs=None):
        """Adds scalars to the losses, or functions that make them. `inputs`:
        what they depend on, None if on weights alone."""
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(loss)
                self._loss_functions.append(loss)
            elif loss is not None:
                if not isinstance(loss, Tensor):
                    loss = convert_to_tensor(
                        loss, dtype=dtypes.as_dtype(backend.floatx()))
                self._losses.append((loss, inputs is not None))

    def _own_losses(self):
        if backend.is_eager_program():
            return self._losses_now()
        # What a function makes is kept: the second look gives the same.
        for function in self._callable_losses:
            loss = function()
            if loss is not None:
                self._losses.append((loss, False))
        self._callable_losses = []
        return self._losses

    def _losses_now(self):
        """[(loss, whether it depends on inputs)] where ops are executed eagerly,
        or of the function that is being traced."""
        graph = get_default_graph()
        found = [(x, of_inputs) for x, of_inputs in self._losses
                 if (isinstance(x, EagerTensor) if graph._eager else
                     not isinstance(x, EagerTensor) and x.graph is graph)]
        made = graph.__dict__.setdefault("_losses_of_functions", {})
        for function in self._callable_losses:
            loss = made.get(function)
            if loss is None:
                loss = function()
            if loss is not None:
                found.append((loss, False))
                if not graph._eager:
                    made[function] = loss
        return found

    def _forget_losses(self):
        """Drops the losses of the call before."""
        for layer in [self] + self._all_layers_inside():
            if layer._losses:
                layer._losses = [pair for pair in layer._losses
                                 if not isinstance(pair[0], EagerTensor)]

    @property
    def losses(self):
        return self._all([x for x, _ in self._own_losses()], "losses")

    def get_losses_for(self, inputs):
        """The losses, of the layers inside too, that depend on `inputs`, or with
        None those that depend on no inputs."""
        return self._those_for(inputs, self.losses, "_own_losses")

    def _those_for(self, inputs, found, own):
        """Those of the losses or updates `found` that depend on `inputs`. `own`:
        the method of a layer that says which depend on any."""
        depends = {}
        for layer in [self] + self._all_layers_inside():
            depends.update((id(x), value) for x, value in getattr(layer, own)())
        if inputs is None:
            return [x for x in found if not depends.get(id(x))]
        return [x for x in found if depends.get(id(x))
                and _depends_on(getattr(x, "op", x), inputs)]

    def add_metric(self, value, aggregation=None, name=None):
        """Adds a value that training shows.

        Args:
          value: a tensor, or what the call of a Metric gave.
          aggregation: "mean" for a tensor; None for a Metric's result.
          name: of the metric; by default that of the Metric.

        Raises:
          ValueError: for another aggregation, a tensor without one, or without
            a name.
        """
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric "
                "aggregation. You provided aggregation=`%s`" % aggregation)
        metric = getattr(value, "_metric_obj", None)
        if name is None and metric is None:
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric("
                "tf.reduce_sum(inputs), name='mean_activation', "
                "aggregation='mean')`")
        name = metric.name if name is None else name
        self._check_metric(value, aggregation, metric)
        known = next((m for m, _ in self._metric_updates
                      if m.name == name), None)
        if metric is not None:
            if not executing_eagerly():
                self._metric_updates.append((metric, value))
            elif known is None:
                self._metric_updates.append((metric, None))
            return
        made = known or _load("_src.keras.metrics").Mean(name)
        with in_first_replica():
            update = made.update_state(value)
        if known is None or not executing_eagerly():
            self._metric_updates.append((made, update))

    @staticmethod
    def _check_metric(value, aggregation, metric):
        if aggregation is None and metric is None:
            raise ValueError(
                "We do not support adding an aggregated metric result tensor "
                "that is not the output of a `tf.keras.metrics.Metric` metric "
                "instance. Without having access to the metric instance we "
                "cannot reset the state of a metric after every epoch during "
                "training. You can create a `tf.keras.metrics.Metric` instance "
                "and pass the result here or pass an un-aggregated result with "
                "`aggregation` parameter set as `mean`.")

    def _added_metrics(self):
        """[(metric, what updates it)] of the layer and those inside it."""
        found = list(self._metric_updates)
        for layer in self._layers_inside():
            found += layer._added_metrics()
        return found

    @property
    def metrics(self):
        found = []
        for metric, _ in self._added_metrics():
            if not any(metric is m for m in found):
                found.append(metric)
        return found

    def add_update(self, updates, inputs=None):
        """Adds operations, or functions that make them, that are to run with
        each training step. `inputs` has no effect: the graph tells whether they
        depend on the inputs of the call, or outside of one on those of any
        call."""
        inputs = (self._inputs_now if self._inputs_now is not None
                  else [call[0] for call in self._calls])
        for update in as_list(updates):
            if callable(update):
                update = update()
            if executing_eagerly():
                continue
            if not isinstance(update, Operation):
                update = getattr(update, "op", None) or convert_to_tensor(
                    update).op
            self._updates.append(update)
            self._updates_of_inputs.append(_depends_on(update, inputs))

    @property
    def updates(self):
        if not self.trainable and not self.stateful:
            return []
        return self._all(self._updates, "updates")

    def get_updates_for(self, inputs):
        """The updates, of the layers inside too, that depend on `inputs`, or
        with None those that depend on no inputs."""
        return self._those_for(inputs, self.updates, "_own_updates")

    def _own_updates(self):
        return zip(self._updates, self._updates_of_inputs)

    # Calls.

    def call(self, inputs, **kwargs):
        """The outputs for `inputs`."""
        return inputs

    def _name_scope(self):
        return self.name

    _scope_name = property(lambda self: self._name_scope())

    def _call_arguments(self):
        return _Parameters(self.call).names

    def _training_of_call(self, args, kwargs, known):
        """What a call says of training, or else the call around it. `call` gets
        it, if it takes it. `known`: the _Parameters of `call`."""
        if known.has_place("training", args):
            return known.of_place("training", args)
        if "training" in kwargs:
            if known.accepts("training"):
                return kwargs["training"]
            return kwargs.pop("training")
        training = _outer_call.training
        if training is not None and known.accepts("training"):
            kwargs["training"] = (
                _math.cast(training, dtypes.bool)
                if isinstance(training, Tensor) else bool(training))
        return training

    def __call__(self, inputs, *args, **kwargs):
        is_eager = executing_eagerly()
        if is_eager:
            if any(isinstance(x, Tensor) and not isinstance(x, EagerTensor)
                   for x in nest.flatten(inputs)):
                with backend.in_graph():
                    return self(inputs, *args, **kwargs)
            if not _outer_call.depth:
                self._forget_losses()
        for layer in self._layers_inside():
            layer._use_resource_variables = True
        inputs = nest.map_structure(_tensor, inputs)
        known = _Parameters(self.call)
        options = {**kwargs, **dict(zip(known.names[1:], args))}
        if not known.accepts("training"):
            options.pop("training", None)
        training = self._training_of_call(args, kwargs, known)
        masks = self._input_masks(inputs, args, kwargs, known)
        check_inputs(self.input_spec, inputs, self.name)
        with name_scope(self._name_scope()):
            self._build_once(inputs)
            outer, self._inputs_now = self._inputs_now, inputs
            outer_training = _outer_call.training
            _outer_call.training = training
            _outer_call.depth += 1
            try:
                with autocast.read_as(self._compute_dtype):
                    call = self.call if is_eager else tf_convert(self.call)
                    outputs = call(self._cast_inputs(inputs), *args, **kwargs)
            finally:
                _outer_call.depth -= 1
                self._inputs_now = outer
                _outer_call.training = outer_training
            if outputs is None:
                raise ValueError(
                    "A layer's `call` method should return a Tensor or a list "
                    "of Tensors, not None (layer: %s)." % self.name)
            outputs = self._copy_inputs_among(outputs, inputs)
            self._regularize_activity(inputs, outputs)
            self._mask_outputs(inputs, outputs, masks)
        if is_eager:
            return outputs
        self._remember(inputs, outputs)
        self._call_options[len(self._calls) - 1] = options
        return outputs

    def _cast_inputs(self, inputs):
        """The inputs, those of floats in the type in which the layer computes,
        if it casts them."""
        wanted = self._compute_dtype
        if not (self._autocast and wanted
                and dtypes.as_dtype(wanted).is_floating):
            return inputs

        def cast(x):
            if (not isinstance(x, (Tensor, SparseTensor))
                    and not hasattr(x, "flat_values")
                    or not x.dtype.is_floating
                    or x.dtype.base_dtype.name == wanted):
                return x
            return _math.cast(x, wanted)
        return nest.map_structure(cast, inputs)

    def _copy_inputs_among(self, outputs, inputs):
        """The outputs, with copies of those that are inputs too: in a model, a
        tensor comes from one layer."""
        if executing_eagerly():
            return outputs
        given = nest.flatten(inputs)
        own = [id(x) for x in given]
        if (not any(id(x) in own for x in nest.flatten(outputs))
                or not all(isinstance(x, Tensor) and backend.is_keras_tensor(x)
                           for x in given)):
            return outputs
        with name_scope(self.name):
            return nest.map_structure(
                lambda x: _array.identity(x) if id(x) in own else x, outputs)

    def _input_masks(self, inputs, args, kwargs, known):
        """The masks of the inputs, in their structure; None if there are none.
        `call` gets them too, if it takes a mask and was not given one. `known`:
        the _Parameters of `call`."""
        if kwargs.get("mask") is not None:
            return kwargs["mask"]
        if known.has_place("mask", args):
            return known.of_place("mask", args)
        masks = _masks_of(inputs)
        if all(mask is None for mask in nest.flatten(masks)):
            masks = None
        if known.accepts("mask"):
            if masks is not None:
                kwargs["mask"] = masks
        else:
            kwargs.pop("mask", None)
        return masks

    def _mask_outputs(self, inputs, outputs, masks):
        """Gives the outputs their masks, `_keras_mask`, unless they have some
        from layers inside."""
        outputs = nest.flatten(outputs)
        if all(hasattr(x, "_keras_mask") for x in outputs):
            return
        made = None
        if self.supports_masking or (
                type(self).compute_mask is not Layer.compute_mask):
            made = self.compute_mask(inputs, masks)
        made = [None] * len(outputs) if made is None else nest.flatten(made)
        for output, mask in zip(outputs, made):
            if isinstance(output, Tensor):
                output._keras_mask = mask

    def apply(self, inputs, *args, **kwargs):
        """The outputs for `inputs`, as a call of the layer."""
        return self(inputs, *args, **kwargs)

    def _build_once(self, inputs):
        if self.built:
            return
        check_inputs(self.input_spec, inputs, self.name)
        tensors = nest.flatten(inputs)
        if (tensors and self._compute_dtype is None
                and hasattr(tensors[0], "dtype")):
            self._dtype_policy = policy.with_input_dtype(
                self._dtype_policy, tensors[0].dtype.base_dtype)
        shapes = None
        if all(hasattr(x, "get_shape") or backend.is_symbolic(x)
               for x in tensors):
            shapes = nest.map_structure(backend.shape_of, inputs)
        self.build(shapes)
        self.built = True
        if _tracking.restore_new is not None:
            _tracking.restore_new()
        if self._first_weights is not None:
            self.set_weights(self._first_weights)
            self._first_weights = None

    def _regularize_activity(self, inputs, outputs):
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                size = _math.cast(_array.shape(output)[0], loss.dtype)
                self.add_loss(loss / size, inputs=inputs)

    def _remember(self, inputs, outputs):
        self._calls.append((inputs, outputs))
        history = backend.graph_state().history
        own = [id(x) for x in nest.flatten(inputs)]
        for i, output in enumerate(nest.flatten(outputs)):
            if backend.is_symbolic(output) and id(output) not in own:
                history[backend.key(output)] = self, len(self._calls) - 1, i

    def _checkpoint_children(self):
        """The public attributes, and what TensorFlow calls `_layers`: a list of
        those that have layers."""
        found, inner = [], []
        for name, value in saved_attributes(self):
            if not name.startswith("_"):
                found.append((name, value))
                if self._lists_layers and _has_layers(value):
                    if not inner:
                        found.append(("_layers", self._listed_layers))
                    inner.append(value)
        self._listed_layers[:] = inner
        return with_told(self, found)

    def _saved_functions(self):
        """What tf.saved_model.save writes beside _checkpoint_children."""
        return _load("_src.keras.saved_models").children(self)

    def _saved_kind(self):
        return _load("_src.keras.saved_models").kind(self)

    # What the calls had.

    @property
    def _inbound_nodes(self):
        return [Node(self, i) for i in range(len(self._calls))]

    @property
    def _outbound_nodes(self):
        history = backend.graph_state().history
        layers = {id(layer): layer for layer, _, _ in history.values()}
        return [node for layer in layers.values()
                for node in layer._inbound_nodes
                if any(layer is self for layer in node._layers)]

    inbound_nodes = property(lambda self: self._inbound_nodes)
    outbound_nodes = property(lambda self: self._outbound_nodes)

    def _only(self, at, what):
        if not self._calls:
            raise AttributeError(
                "Layer %s has no inbound nodes." % self.name if at else
                "Layer %s is not connected, no input to return." % self.name)
        return self._calls[0][at]

    def _at(self, index, at, what):
        if not 0 <= index < len(self._calls):
            raise ValueError(
                "Asked to get %s at node %d, but the layer has only %d inbound "
                "nodes." % (what, index, len(self._calls)))
        return self._calls[index][at]

    input = property(lambda self: self._only(0, "input"))
    output = property(lambda self: self._only(1, "output"))

    @property
    def input_shape(self):
        return self._common_shape(0, "input")

    @property
    def output_shape(self):
        return self._common_shape(1, "output")

    def _common_shape(self, at, what):
        """The shape that all calls had; of a network, that of its first, by
        which it was made."""
        shapes = [nest.map_structure(backend.int_shape, call[at])
                  for call in self._calls]
        if shapes and (hasattr(self, "_given")
                       or all(s == shapes[0] for s in shapes)):
            return shapes[0]
        if not shapes:
            raise AttributeError("The layer has never been called and thus has "
                                 "no defined %s shape." % what)
        raise AttributeError(
            "The layer \"%s\" has multiple inbound nodes, with different %s "
            "shapes. Hence the notion of \"%s shape\" is ill-defined for the "
            "layer. Use `get_%s_shape_at(node_index)` instead."
            % (self.name, what, what, what))

    def get_input_at(self, node_index):
        return self._at(node_index, 0, "input")

    def get_output_at(self, node_index):
        return self._at(node_index, 1, "output")

    def get_input_shape_at(self, node_index):
        return nest.map_structure(backend.int_shape,
                                  self._at(node_index, 0, "input"))

    def get_output_shape_at(self, node_index):
        return nest.map_structure(backend.int_shape,
                                  self._at(node_index, 1, "output"))

    def get_input_mask_at(self, node_index):
        return _masks_of(self._at(node_index, 0, "input_mask"))

    def get_output_mask_at(self, node_index):
        return _masks_of(self._at(node_index, 1, "output_mask"))

    input_mask = property(lambda self: _masks_of(self._only(0, "input_mask")))
    output_mask = property(
        lambda self: _masks_of(self._only(1, "output_mask")))

    def compute_mask(self, inputs, mask=None):
        """The mask of the outputs, for inputs with the mask `mask`: the same, if
        the layer supports masks. TypeError if it does not, and there is one."""
        if self.supports_masking:
            return mask
        if any(m is not None for m in nest.flatten(mask)):
            raise TypeError("Layer %s does not support masking, but was passed "
                            "an input_mask: %s" % (self.name, mask))
        return None

    @staticmethod
    def _one_mask(masks):
        """The mask of one input, of which `masks` may be the list."""
        return masks[0] if isinstance(masks, (list, tuple)) else masks

    def compute_output_shape(self, input_shape):
        """The shape of the outputs for inputs of this shape: a TensorShape, or
        a list for several. NotImplementedError for a layer of a program that
        has no such method of its own."""
        call = type(self).call
        home = type(self) if call is Layer.call else call
        if (type(self) is Layer
                or not home.__module__.startswith(_OUR_LAYERS)):
            raise NotImplementedError("compute_output_shape of %s"
                                      % type(self).__name__)
        return self._shape_of_copy(input_shape)

    def _shape_of_copy(self, input_shape):
        """What a layer of the same configuration makes, in a graph of its
        own."""
        config = self.get_config()
        with Graph().as_default():
            copy = type(self).from_config(config)
            outputs = copy(_placeholders(
                input_shape, dtypes.as_dtype(self._dtype or backend.floatx())))
            return nest.map_structure(lambda x: x.get_shape(), outputs)

    def compute_output_signature(self, input_signature):
        """The TensorSpecs of the outputs for inputs of these TensorSpecs.
        TypeError for other specs. Outputs have the type of the layer, or of
        the first input where it has none yet."""
        def shape_of(spec):
            if not isinstance(spec, TensorSpec):
                raise TypeError(
                    "Only TensorSpec signature types are supported, but saw "
                    "signature signature entry: {}.".format(spec))
            return spec.shape
        shapes = self.compute_output_shape(
            nest.map_structure(shape_of, input_signature))
        dtype = self._dtype or nest.flatten(input_signature)[0].dtype
        return nest.map_structure(
            lambda shape: TensorSpec(shape=shape, dtype=dtype), shapes)

    def get_config(self):
        """The arguments that from_config makes an equal layer of."""
        config = {"name": self.name, "trainable": self.trainable,
                  "dtype": self.dtype}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        return config

    @classmethod
    def from_config(cls, config):
        return cls(**config)
