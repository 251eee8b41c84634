"""Keras in a program that executes eagerly: models of inputs and outputs, and
what trains and runs models, are nodes of one graph, which is called as functions
of the eager context; weights are eager variables."""
import numpy as np

from headrace._headrace import EagerTensor, Operation, Tensor
from headrace._src.eager.backward import (
    Call, needed_by, without_captured)
from headrace._src.eager.context import eager_graph
from headrace._src.framework import nest
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.ops.array_ops import placeholder
from headrace._src.ops.sparse_tensor import SparseTensor, SparseTensorValue
from headrace._src.training.gradient_tape import GradientTape
from headrace._src.variables.base import Variable

_current: list = []


def keras_graph():
    """The graph of Keras models."""
    if not _current:
        graph = FuncGraph(eager_graph())
        graph._is_of_keras = True
        _current.append(graph)
    return _current[0]


def clear():
    """Begins another graph."""
    _current.clear()


class _Step:
    """A function of the graph: from feeds to fetches."""

    def __init__(self, graph, fetches, feeds):
        tensors = [t for t in fetches if isinstance(t, Tensor)]
        operations = [o for o in fetches if isinstance(o, Operation)]
        with graph.as_default(), graph.name_scope(None):
            if operations:
                with graph.control_dependencies(None), \
                        graph.control_dependencies(operations):
                    tensors.append(constant(0))
        needed, _ = needed_by(tensors, given={t.op._id for t in feeds})
        needed, symbols, self.handles = without_captured(graph, needed)
        self.feeds = feeds
        self.call = Call("__keras_step", graph, needed,
                         list(feeds) + symbols, tensors)

    def __call__(self, values):
        return self.call(values + self.handles)


class KerasSession:
    """What runs the graph of Keras in place of a session."""

    def __init__(self, graph):
        self.graph = graph
        self._steps = {}

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of tensors and operations, nested lists of them."""
        flat, feeds, values = [], [], []
        for t, value in (feed_dict or {}).items():
            if isinstance(t, SparseTensor):
                parts = (t.indices, t.values, t.dense_shape)
                value = (value.indices, value.values, value.dense_shape) \
                    if isinstance(value, (SparseTensorValue, SparseTensor)) \
                    else value
                feeds += parts
                values += [convert(v, p.dtype) for v, p in zip(value, parts)]
                continue
            feeds.append(t)
            values.append(convert(value, t.dtype))
        now = []
        for x in nest.flatten(fetches):
            if isinstance(x, Variable):
                now.append(("value", x))
            elif isinstance(x, EagerTensor) or x is None:
                now.append(("value", x))
            elif isinstance(x, SparseTensor):
                now.append(("sparse", len(flat)))
                flat += [x.indices, x.values, x.dense_shape]
            else:
                now.append(("fetch", len(flat)))
                flat.append(x)
        found = self._values(flat, feeds, values)
        result = []
        for kind, x in now:
            if kind == "value":
                result.append(None if x is None else _eager_value(x))
            elif kind == "sparse":
                result.append(SparseTensorValue(*found[x:x + 3]))
            else:
                result.append(found[x])
        return nest.pack_sequence_as(fetches, result)

    def tensors(self, flat, feed_dict):
        """Tensors of the graph as EagerTensors, which tapes follow."""
        feeds = list(feed_dict)
        return self._tensors(flat, feeds, list(feed_dict.values()))

    def _values(self, flat, feeds, values):
        if not flat:
            return []
        found = iter(self._tensors(flat, feeds, values))
        with eager_graph().as_default():
            return [next(found).numpy() if isinstance(x, Tensor) else None
                    for x in flat]

    def _tensors(self, flat, feeds, values):
        key = (tuple((x.op._id, x.value_index) if isinstance(x, Tensor)
                     else (x._id, None) for x in flat),
               tuple(t.op._id for t in feeds))
        step = self._steps.get(key)
        with eager_graph().as_default():
            if step is None:
                step = self._steps[key] = _Step(self.graph, flat, feeds)
            given = [v if isinstance(v, EagerTensor) else
                     convert_to_tensor(v, dtype=t.dtype.base_dtype)
                     for v, t in zip(values, step.feeds)]
            return step(given)


def convert(value, dtype):
    """A fed value as a tensor or an array of the type."""
    if isinstance(value, EagerTensor):
        return value if value.dtype == dtype else np.asarray(value).astype(
            dtype.as_numpy_dtype)
    return np.asarray(value, dtype.as_numpy_dtype)


def _eager_value(x):
    with eager_graph().as_default():
        return x.numpy()


def session():
    """The KerasSession of the graph."""
    graph = keras_graph()
    found = graph.__dict__.get("_session")
    if found is None:
        found = graph._session = KerasSession(graph)
    return found


class EagerSteps:
    """What trains, tests and runs a model whose `call` is executed eagerly in
    each step: its losses and metrics are functions of its outputs."""

    def __init__(self, model):
        self._model = model

    def connect(self, inputs, arrays):
        """(inputs, outputs) as placeholders: the outputs are like those of a
        call with the arrays."""
        with eager_graph().as_default():
            outputs = self.call(arrays, False)
        with keras_graph().as_default():
            return inputs, nest.map_structure(
                lambda x: placeholder(x.dtype, [None] + x.shape.as_list()[1:]),
                outputs)

    def call(self, arrays, training):
        """The outputs for a list of arrays."""
        model = self._model
        tensors = [convert_to_tensor(x, dtype=t.dtype.base_dtype) for x, t in
                   zip(arrays, model.inputs)] if model.inputs else [
                       convert_to_tensor(x) for x in arrays]
        options = {}
        if model._expects_training_arg:
            options["training"] = training
        return model(tensors[0] if len(tensors) == 1 else tensors, **options)

    def step(self, x, feeds, train):
        """The values of the losses of a batch. `feeds`: targets and weights."""
        model, run = self._model, session()
        weights = model.trainable_weights
        with GradientTape() as tape:
            outputs = [convert_to_tensor(y)
                       for y in nest.flatten(self.call(x, train))]
            feeds = {**dict(zip(model.outputs, outputs)), **feeds}
            losses = run.tensors(
                [model.total_loss, *model._values.values()], feeds)
            total = losses[0]
            for extra, of_inputs in _losses_inside(model):
                if of_inputs and isinstance(extra, EagerTensor):
                    total = total + extra
        if train:
            found = tape.gradient(total, weights)
            model.optimizer.apply_gradients(
                [(g, v) for g, v in zip(found, weights) if g is not None])
        if model._compiled_updates:
            run.run(list(model._compiled_updates), feeds)
        return [total.numpy()] + [x.numpy() for x in losses[1:]]


def _losses_inside(model):
    found = []
    for layer in [model] + model._all_layers_inside():
        found += layer._own_losses()
    return found
