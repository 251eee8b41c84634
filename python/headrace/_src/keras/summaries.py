"""The table that Model.summary prints."""
import numpy as np

from headrace._src.framework import nest
from headrace._src.layers import backend


def _row(fields, ends):
    line = ""
    for i, (field, end) in enumerate(zip(fields, ends)):
        if i:
            line = line[:-1] + " "
        line = (line + str(field))[:end].ljust(end)
    return line


def _shape(layer):
    if not getattr(layer, "_calls", None):
        return "multiple"
    try:
        shape = layer.output_shape
    except AttributeError:
        return "multiple"
    is_input = not nest.flatten(layer._calls[0][0])
    return [shape] if is_input else shape


def _is_chain(model):
    """Whether each layer takes the output of the one before alone."""
    steps = getattr(model, "_steps", None)
    if steps is None:
        return True
    layers = [layer for layer, _, _, _ in steps]
    return (len(model.inputs) == 1 and len(set(map(id, layers))) == len(layers)
            and all(len(nest.flatten(before)) == 1 for _, _, before, _ in steps)
            and [backend.key(nest.flatten(before)[0]) for _, _, before, _ in steps[1:]]
            == [backend.key(nest.flatten(after)[0]) for _, _, _, after in steps[:-1]])


def _sources(model, layer):
    """["name[call][output]"] of what the layer is called on in the model."""
    history, found = backend.graph_state().history, []
    for other, _, before, _ in model._steps:
        if other is layer:
            found += ["%s[%d][%d]" % (source.name, call, i)
                      for source, call, i in (history[backend.key(x)] for x
                                              in nest.flatten(before))]
    return found


def _count(weights):
    return sum(int(np.prod(w.get_shape().as_list())) for w in weights)


def show(model, line_length, ends, say):
    is_chain = _is_chain(model)
    width = line_length or (65 if is_chain else 98)
    ends = ends or ([.45, .85, 1.] if is_chain else [.33, .55, .67, 1.])
    if ends[-1] <= 1:
        ends = [int(width * end) for end in ends]
    titles = ["Layer (type)", "Output Shape", "Param #"]
    if not is_chain:
        titles.append("Connected to")
    say("Model: \"%s\"" % model.name)
    say("_" * width)
    say(_row(titles, ends))
    say("=" * width)
    layers = model.layers
    for layer in layers:
        fields = ["%s (%s)" % (layer.name, type(layer).__name__), _shape(layer),
                  layer.count_params() if layer.built else 0]
        sources = [] if is_chain else _sources(model, layer)
        say(_row(fields + ([] if is_chain else (sources[:1] or [""])), ends))
        for source in sources[1:]:
            say(_row(["", "", "", source], ends))
        say(("=" if layer is layers[-1] else "_") * width)
    say("Total params: {:,}".format(_count(model.weights)))
    say("Trainable params: {:,}".format(_count(model.trainable_weights)))
    say("Non-trainable params: {:,}".format(
        _count(model.non_trainable_weights)))
    say("_" * width)
