"""Objects that may be given by name, as "relu", or by a dict with class_name and
config."""


def find(given, what, known):
    """The object of `known` (a dict) that `given` stands for: itself, if it is
    callable, a name, or a dict with class_name and config. ValueError for
    anything else, where `what` says what was looked for."""
    if given is None:
        return None
    if isinstance(given, dict):
        return from_config(given, what, known)
    if isinstance(given, str):
        if given not in known:
            raise ValueError("Unknown %s: %s" % (what, given))
        found = known[given]
        return found() if isinstance(found, type) else found
    if callable(given):
        return given() if isinstance(given, type) else given
    raise ValueError("Could not interpret %s identifier: %s" % (what, given))


def from_config(config, what, known):
    if set(config) - {"class_name", "config"} or "class_name" not in config:
        raise ValueError("Improper config format: %s" % (config,))
    name = config["class_name"]
    if name not in known:
        raise ValueError("Unknown %s: %s" % (what, name))
    return known[name](**config.get("config", {}))


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
