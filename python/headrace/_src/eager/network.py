"""tf.contrib.eager.Network and Sequential: layers that are called as one, of
before tf.keras.Model was."""
import os

from headrace._src.eager import checkpoints as _checkpoints
from headrace._src.layers.engine import Layer
from headrace._src.layers.legacy import Layer as LegacyLayer


class Network(LegacyLayer):
    """The base of networks: a derived class makes its layers in __init__, each
    by `self.track_layer(layer)`, and has a `call`. Use tf.keras.Model in its
    place."""

    _zero_based = True

    def __init__(self, name=None):
        self._tracked = []
        super().__init__(name=name)
        self.built = True

    def _layers_inside(self):
        return self._tracked

    def _set_name(self, name):
        Layer._set_name(self, name)
        self._base_name = self._name


    def track_layer(self, layer):
        """Makes a Layer or a Network part of this one; `layer`. TypeError for
        anything else, ValueError for two of one name."""
        if not isinstance(layer, Layer):
            raise TypeError(
                "Network.track_layer() passed type %s, not a tf.layers.Layer"
                % type(layer))
        if layer.name in [known.name for known in self._tracked
                          if known is not layer]:
            raise ValueError(
                "Attempt to add two Layers with the name '%s' to the same "
                "Network '%s'." % (layer.name, self.name))
        if not any(layer is known for known in self._tracked):
            self._tracked.append(layer)
        return layer

    @property
    def layers(self):
        return list(self._tracked)

    def get_layer(self, name=None, index=None):
        """A layer by its name or its number. ValueError if there is none."""
        if (index is None) == (name is None):
            raise ValueError("Exactly one of 'index' or 'name' must be provided "
                             "to get_layer.")
        if index is not None:
            if len(self._tracked) <= index:
                raise ValueError("Was asked to retrieve layer at index %d but "
                                 "model only has %d layers."
                                 % (index, len(self._tracked)))
            return self._tracked[index]
        for layer in self._tracked:
            if layer.name == name:
                return layer
        raise ValueError("No such layer: %s" % name)

    def add_loss(self, losses, inputs=None):
        raise RuntimeError("add_loss is not supported in Network class yet. "
                           "Please file an issue at https://github.com/"
                           "tensorflow/tensorflow/issues")


class Sequential(Network):
    """Layers and functions, each of which takes what the one before gives.
    TypeError for what cannot be called."""

    def __init__(self, layers_funcs=None, name=None):
        super().__init__(name=name)
        self._functions = []
        for function in layers_funcs or ():
            self.add(function)

    def add(self, layer_func):
        """Appends a Layer, or a function of a tensor."""
        if isinstance(layer_func, Layer):
            self.track_layer(layer_func)
        elif not callable(layer_func):
            raise TypeError("Sequential.add() takes only tf.layers.Layer objects "
                            "or callables; not '%s' of type '%s'."
                            % (layer_func, type(layer_func)))
        self._functions.append(layer_func)

    def call(self, inputs):
        for function in self._functions:
            inputs = function(inputs)
        return inputs


def _names(network, map_func):
    prefix = network.name + "/"
    found = {}
    for v in network.variables:
        name = v._shared_name
        if map_func is not None:
            name = map_func(name)
        elif name.startswith(prefix):
            name = name[len(prefix):]
        found[name] = v
    return found


def save_network_checkpoint(network, save_path, global_step=None,
                            map_func=None):
    """Writes the variables of a Network, by their names without the network's,
    or as `map_func` changes them; the path of the checkpoint. In a folder, it is
    called as the network."""
    if os.path.isdir(save_path):
        save_path = os.path.join(save_path, network.name.replace("/", "_"))
    if global_step is not None:
        save_path = "%s-%d" % (save_path, int(global_step))
    return _checkpoints.write(_names(network, map_func), save_path)


def restore_network_checkpoint(network, save_path, map_func=None):
    """Gives the variables of a Network the values that save_network_checkpoint
    wrote. The network must have been called."""
    if os.path.isdir(save_path):
        save_path = os.path.join(save_path, network.name.replace("/", "_"))
    _checkpoints.read(_names(network, map_func), save_path)
