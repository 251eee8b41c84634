"""The weights of CuDNNLSTM and CuDNNGRU as those of LSTM and GRU, and back."""
import numpy as np


def _by_gates(kernel, gates, change):
    return np.hstack([change(part) for part in np.hsplit(kernel, gates)])


def _converted(values, gates, from_cudnn, bias):
    """[kernel, recurrent kernel, bias] in the other form: cuDNN keeps each
    gate's kernel transposed."""
    order = "F" if from_cudnn else "C"
    return [_by_gates(values[0], gates,
                      lambda k: k.T.reshape(k.shape, order=order)),
            _by_gates(values[1], gates, lambda k: k.T), bias]


def _lstm(kind, values):
    units, bias = values[1].shape[0], values[2]
    sources = {(8 * units,): "CuDNNLSTM", (4 * units,): "LSTM"}
    if bias.shape not in sources:
        raise ValueError("Invalid bias shape: %s" % (bias.shape,))
    source = sources[bias.shape]
    if source == kind:
        return values
    if source == "CuDNNLSTM":
        return _converted(values, 4, True, bias.reshape(2, -1).sum(0))
    return _converted(values, 4, False, np.tile(.5 * bias, 2))


def _gru(kind, layer, values):
    units, bias = values[1].shape[0], values[2]
    sources = {(6 * units,): "CuDNNGRU",
               (2, 3 * units): "GRU(reset_after=True)",
               (3 * units,): "GRU(reset_after=False)"}
    if bias.shape not in sources:
        raise ValueError("Invalid bias shape: %s" % (bias.shape,))
    source = sources[bias.shape]
    target = kind if kind == "CuDNNGRU" else (
        "GRU(reset_after=%s)" % layer.reset_after)
    if source == target:
        return values
    if "GRU(reset_after=False)" in (source, target):
        raise ValueError("%s is not compatible with %s" % (source, target))
    from_cudnn = source == "CuDNNGRU"
    return _converted(values, 3, from_cudnn,
                      bias.reshape((2, -1) if from_cudnn else -1))


def fitted(layer, values):
    """The values of a layer's weights in a file, in the form that the layer has
    them, which may be cuDNN's or not. ValueError for a GRU whose bias has no
    such form."""
    kind = type(layer).__name__
    if kind == "Bidirectional":
        n = len(values) // 2
        return (fitted(layer.forward_layer, values[:n])
                + fitted(layer.backward_layer, values[n:]))
    if kind == "TimeDistributed":
        return fitted(layer.layer, values)
    if kind in ("Model", "Sequential"):
        return _of_model(layer, values)
    if len(values) != 3:
        return values
    if kind in ("LSTM", "CuDNNLSTM"):
        return _lstm(kind, values)
    if kind in ("GRU", "CuDNNGRU"):
        return _gru(kind, layer, values)
    return values


def _of_model(model, values):
    """A file has the weights of a model inside of another as one list: first
    those that are trained."""
    weights = model.trainable_weights + model.non_trainable_weights
    if len(weights) != len(values):
        return values
    places = {id(w): i for i, w in enumerate(weights)}
    found = list(values)
    for layer in model.layers:
        own = [places[id(w)] for w in
               layer.trainable_weights + layer.non_trainable_weights]
        for i, value in zip(own, fitted(layer, [values[i] for i in own])):
            found[i] = value
    return found
