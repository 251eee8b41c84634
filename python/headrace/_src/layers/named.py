"""Objects that may be given by name, as "relu", or by a dict with class_name and
config."""
import inspect

from headrace._loading import load as _load

_custom: dict = {}  # what programs registered, by name


def get_custom_objects():
    """The dict of objects that may be given by name beside those of tf.keras: a
    program may change it."""
    return _custom


class CustomObjectScope:
    """Objects, as dicts of them by name, that may be given by name inside of
    `with`."""

    def __init__(self, *args):
        self._objects = args
        self._before = None

    def __enter__(self):
        self._before = dict(_custom)
        for objects in self._objects:
            _custom.update(objects)
        return self

    def __exit__(self, *error):
        _custom.clear()
        _custom.update(self._before)


def custom_object_scope(*args):
    """A CustomObjectScope."""
    return CustomObjectScope(*args)


def deserialize_keras_object(identifier, module_objects=None,
                             custom_objects=None,
                             printable_module_name="object"):
    """What a name, or a dict with class_name and config, stands for: of
    `custom_objects`, of get_custom_objects() or of `module_objects`, dicts by
    name. ValueError for others; a function is returned as it is."""
    if identifier is None:
        return None
    known = {**(module_objects or {}), **_custom, **(custom_objects or {})}
    if inspect.isfunction(identifier):
        return identifier
    if isinstance(identifier, str):
        found = _known(identifier, printable_module_name, known)
        return found() if inspect.isclass(found) else found
    if not isinstance(identifier, dict):
        raise ValueError("Could not interpret serialized %s: %s"
                         % (printable_module_name, identifier))
    if "class_name" not in identifier or "config" not in identifier:
        raise ValueError("Improper config format: %s" % (identifier,))
    made = _known(identifier["class_name"], printable_module_name, known)
    config = identifier["config"]
    if not hasattr(made, "from_config"):
        return made(**config)
    if "custom_objects" in inspect.signature(made.from_config).parameters:
        return made.from_config(config, custom_objects={
            **_custom, **(custom_objects or {})})
    with CustomObjectScope(custom_objects or {}):
        return made.from_config(config)


def _known(name, what, known):
    if name not in known:
        raise ValueError("Unknown %s: %s" % (what, name))
    return known[name]


def known_layers():
    """The classes of tf.keras.layers and of models, by name."""
    layers, models = _load("keras.layers"), _load("keras.models")
    found = {name: getattr(layers, name) for name in dir(layers)
             if isinstance(getattr(layers, name), type)}
    return {**found, "Model": models.Model, "Sequential": models.Sequential,
            "BatchNormalizationV1": found["BatchNormalization"]}


def layer_of(config, custom_objects=None):
    """The layer that `describe` described. ValueError for an unknown class."""
    return deserialize_keras_object(config, known_layers(), custom_objects,
                                    "layer")


def serialize_keras_object(instance):
    """The dict, or for a function the name, of which deserialize_keras_object
    makes an equal object. ValueError for what has neither."""
    return describe(instance)


def find(given, what, known):
    """The object of `known` (a dict) that `given` stands for: itself, if it is
    callable, a name, or a dict with class_name and config. ValueError for
    anything else, where `what` says what was looked for."""
    if given is None:
        return None
    if isinstance(given, dict):
        return from_config(given, what, known)
    if isinstance(given, str):
        found = _known(given, what, {**known, **_custom})
        return found() if isinstance(found, type) else found
    if callable(given):
        return given() if isinstance(given, type) else given
    raise ValueError("Could not interpret %s identifier: %s" % (what, given))


def from_config(config, what, known):
    if set(config) - {"class_name", "config"} or "class_name" not in config:
        raise ValueError("Improper config format: %s" % (config,))
    made = _known(config["class_name"], what, {**known, **_custom})
    return made(**config.get("config", {}))


def describe(thing):
    """What from_config makes an equal object of."""
    if thing is None:
        return None
    if hasattr(thing, "get_config"):
        return {"class_name": type(thing).__name__,
                "config": thing.get_config()}
    if hasattr(thing, "__name__"):
        return thing.__name__
    raise ValueError("Cannot serialize %s" % (thing,))
