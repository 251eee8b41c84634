"""Models of tf.keras as configs, dicts of what JSON can write: the layers with
their configs and the calls of each; and models made of them."""
import collections
import json

import numpy as np

from headrace._loading import load as _load
from headrace._src.framework import dtypes, nest
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.layers import backend, named


class _Walk:
    """The calls that lead from inputs to outputs, and how far each is from the
    outputs."""

    def __init__(self, inputs, outputs):
        self._history = backend.graph_state().history
        self._first = {}    # layer: the order in which it was met
        self._ends = {backend.key(x) for x in nest.flatten(inputs)}
        calls = self._in_order(nest.flatten(outputs))
        call_depths, self.depths = {}, {}
        for layer, number in reversed(calls):
            depth = max(call_depths.get((layer, number), 0),
                        self.depths.get(layer, 0))
            call_depths[layer, number] = self.depths[layer] = depth
            for before in self._before(layer, number):
                call_depths[before] = max(call_depths.get(before, 0), depth + 1)
        for x in nest.flatten(inputs):
            if backend.key(x) in self._history and (
                    self._history[backend.key(x)][0] not in self.depths):
                self.depths[self._history[backend.key(x)][0]] = 0
                self._first[self._history[backend.key(x)][0]] = -1
        self.calls = set(calls)

    def _before(self, layer, number):
        if any(backend.key(x) in self._ends
               for x in nest.flatten(layer._calls[number][1])):
            return []
        return [self._history[backend.key(x)][:2]
                for x in nest.flatten(layer._calls[number][0])
                if backend.key(x) in self._history]

    def _in_order(self, outputs):
        """(layer, number of the call), what a call needs before it."""
        calls, done, stack = [], set(), []
        for output in outputs:
            if backend.key(output) in self._history:
                stack = [(self._history[backend.key(output)][:2], False)]
            while stack:
                call, is_ready = stack.pop()
                if is_ready:
                    calls.append(call)
                elif call not in done:
                    done.add(call)
                    self._first.setdefault(call[0], len(self._first))
                    stack.append((call, True))
                    stack += [(before, False)
                              for before in reversed(self._before(*call))]
        return calls

    def layers(self):
        return sorted(self.depths, key=lambda layer: (
            -self.depths[layer], self._first[layer]))


def ordered_layers(inputs, outputs):
    """The layers of a model: those farthest from the outputs come first."""
    return _Walk(inputs, outputs).layers()


def of_network(model):
    """The config of a model of inputs and outputs. TypeError for a call with an
    argument that JSON has not."""
    walk = _Walk(*model._given)
    history = backend.graph_state().history
    numbers = {}  # of calls among those of their layer in this model
    for layer in model.layers:
        of_layer = [n for n in range(len(layer._calls))
                    if (layer, n) in walk.calls]
        numbers.update({(layer, n): i for i, n in enumerate(
            of_layer, _own_calls(layer))})

    def place(x):
        layer, call, index = history[backend.key(x)]
        return layer.name, numbers.get((layer, call), 0), index

    layers = []
    for layer in model.layers:
        calls = []
        for number in range(len(layer._calls)):
            if (layer, number) not in numbers or not nest.flatten(
                    layer._calls[number][0]):
                continue
            options = _plain_options(layer, number)
            calls.append([list(place(x)) + [options]
                          for x in nest.flatten(layer._calls[number][0])])
        layers.append({"name": layer.name, **named.describe(layer),
                       "inbound_nodes": calls})
    return {"name": model.name, "layers": layers,
            "input_layers": [list(place(x)) for x in model.inputs],
            "output_layers": [list(place(x)) for x in model.outputs]}


def _own_calls(layer):
    """1 for a model, whose inputs and outputs count as its first call."""
    return 1 if hasattr(layer, "_steps") or hasattr(layer, "add") else 0


def _plain_options(layer, number):
    """The arguments of a call beside its inputs."""
    options = {key: value for key, value
               in layer._call_options.get(number, {}).items()
               if value is not None and key != "initial_state"}
    try:
        json.dumps(options)
    except TypeError:
        raise TypeError(
            "Layer %s was called with arguments that cannot be saved: %s. Make "
            "them part of its inputs, or of the layer." % (
                layer.name, sorted(options))) from None
    return options


def network(config, custom_objects=None):
    """(inputs, outputs) that new layers make of the config of a model.
    ValueError if it names a layer, or a call of one, that is not there."""
    waiting = []   # (name, layer, numbered calls that are still to be made)
    made = {}      # (name, number of call): tensors
    for entry in config["layers"]:
        layer = named.layer_of(entry, custom_objects)
        calls = entry["inbound_nodes"]
        if not calls:
            made[entry["name"], 0] = nest.flatten(layer.output)
        waiting.append((entry["name"], layer, collections.deque(
            enumerate(calls, _own_calls(layer)))))

    def tensor(place):
        name, number, index = place[:3]
        found = made.get((name, number))
        if found is None or index >= len(found):
            raise ValueError("The config of model %s has no output %s of call "
                             "%s of layer %s"
                             % (config.get("name"), index, number, name))
        return found[index]

    def is_ready(calls):
        return calls and all((x[0], x[1]) in made for x in calls[0][1])

    while waiting:
        is_stuck = True
        for name, layer, calls in waiting:
            while is_ready(calls):
                number, call = calls.popleft()
                inputs = [tensor(x) for x in call]
                options = call[0][3] if len(call[0]) > 3 else {}
                outputs = layer(inputs[0] if len(inputs) == 1 else inputs,
                                **options)
                made[name, number] = nest.flatten(outputs)
                is_stuck = False
        waiting = [w for w in waiting if w[2]]
        if waiting and is_stuck:
            raise ValueError(
                "The config of model %s calls layer %s on what no layer makes"
                % (config.get("name"), waiting[0][0]))

    def all_of(places):
        tensors = [tensor(place) for place in places]
        return tensors[0] if len(tensors) == 1 else tensors
    return all_of(config["input_layers"]), all_of(config["output_layers"])


def as_plain(value):
    """What JSON has no type for, as json.dumps asks. TypeError for what has no
    such form."""
    if hasattr(value, "get_config"):
        return named.describe(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, TensorShape):
        return value.as_list()
    raise TypeError("Not JSON Serializable: %s" % (value,))


def whole(model):
    """The class and config of a model, and what made it."""
    return {**named.describe(model),
            "keras_version": _load("keras").__version__,
            "backend": "tensorflow"}


def to_json(model, **kwargs):
    return json.dumps(whole(model), default=as_plain, **kwargs)


def _yaml(method):
    try:
        import yaml  # type: ignore
    except ImportError as error:
        raise ImportError("`%s` requires the package yaml: pip install pyyaml"
                          % method) from error
    return yaml


def to_yaml(model, **kwargs):
    return _yaml("to_yaml").dump(json.loads(json.dumps(
        whole(model), default=as_plain)), **kwargs)


def model_from_config(config, custom_objects=None):
    """The model of a dict with class_name and config. TypeError for a list, the
    config of a Sequential alone, ValueError for unknown layers."""
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list. "
                        "Maybe you meant to use "
                        "`Sequential.from_config(config)`?")
    return named.layer_of({"class_name": config["class_name"],
                           "config": config["config"]}, custom_objects)


def model_from_json(json_string, custom_objects=None):
    """The model of what to_json gave, with new weights."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string, custom_objects=None):
    """The model of what to_yaml gave, with new weights. ImportError without the
    package yaml, ValueError for YAML with objects of Python."""
    yaml = _yaml("model_from_yaml")

    class Loader(yaml.SafeLoader):
        """Reads tuples and lists, which TensorFlow writes as Python's."""
    Loader.add_constructor("tag:yaml.org,2002:python/tuple",
                           lambda self, node: tuple(
                               self.construct_sequence(node, deep=True)))
    Loader.add_constructor(
        "tag:yaml.org,2002:python/object/apply:tensorflow.python.training."
        "tracking.data_structures.ListWrapper",
        lambda self, node: self.construct_sequence(node, deep=True)[0])
    try:
        config = yaml.load(yaml_string, Loader)
    except yaml.constructor.ConstructorError as error:
        raise ValueError("model_from_yaml: objects of Python are not supported "
                         "but for tuples and lists; write the model with "
                         "to_json: %s" % error) from None
    return model_from_config(config, custom_objects)


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of the same layers, with new weights. `clone_function`: makes the
    new layer of each but those for inputs; by default their configs do.
    ValueError for a model that has no config, and for input tensors that are not
    as many as its inputs."""
    model._check_is_network("clone_model")
    if clone_function is not None and not callable(clone_function):
        raise ValueError("Expected `clone_function` argument to be a callable")
    make = clone_function or (lambda layer: type(layer).from_config(
        layer.get_config()))
    given = None if input_tensors is None else nest.flatten(input_tensors)
    if given is not None and len(given) != len(model.inputs or [None]):
        raise ValueError("clone_model: %d input tensors for a model of %d "
                         "inputs" % (len(given), len(model.inputs or [None])))
    if hasattr(model, "add"):
        clone = type(model)(name=model.name)
        if given is not None:
            clone.add(_input_layer(model, given[0]))
        for layer in model.layers:
            clone.add(make(layer))
        return clone
    return _cloned_network(model, given, make)


def _input_layer(model, x):
    history = backend.graph_state().history
    if backend.key(x) in history:
        return history[backend.key(x)][0]
    return named.known_layers()["InputLayer"](input_tensor=x)


def _cloned_network(model, given, make):
    kinds = named.known_layers()
    values, new = {}, {}
    history = backend.graph_state().history
    for i, x in enumerate(model.inputs):
        if given is not None:
            values[backend.key(x)] = _input_layer(model, given[i]).output
        else:
            old = history[backend.key(x)][0]
            values[backend.key(x)] = kinds["InputLayer"].from_config(
                old.get_config()).output
    for layer, number, before, after in model._steps:
        if layer not in new:
            new[layer] = make(layer)
        outputs = new[layer](
            nest.map_structure(lambda x: values[backend.key(x)], before),
            **_plain_options(layer, number))
        for x, value in zip(nest.flatten(after), nest.flatten(outputs)):
            values[backend.key(x)] = value
    return type(model)(
        nest.map_structure(lambda x: values[backend.key(x)], model._given[0]),
        nest.map_structure(lambda x: values[backend.key(x)], model._given[1]),
        name=model.name)
