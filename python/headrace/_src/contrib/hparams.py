"""tf.contrib.training.HParams: named hyperparameters with types."""
import json
import numbers
import re


def _cast(name, kind, value):
    """`value` as a `kind`, if it loses nothing."""
    fault = ValueError(
        "Could not cast hparam '%s' of type '%s' from value %r"
        % (name, kind, value))
    if isinstance(value, kind) and isinstance(value, bool) == (kind is bool):
        return value
    if value is None or kind is type(None):
        return value
    if issubclass(kind, str) != isinstance(value, str) or kind is bool or (
            isinstance(value, bool)):
        raise fault
    if issubclass(kind, numbers.Integral) and not isinstance(
            value, numbers.Integral):
        raise fault
    return kind(value)


def _parsed(name, kind, text):
    text = text.strip()
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[
                text.lower()]
        if kind is int:
            return int(float(text)) if float(text).is_integer() else int(text)
        return kind(text)
    except (KeyError, ValueError):
        raise ValueError("Could not parse hparam '%s' of type '%s' from %r"
                         % (name, kind.__name__, text)) from None


_ITEM = re.compile(r"""
    \s*(?P<name>[a-zA-Z][\w.]*)             # a name
    \s*(\[\s*(?P<index>\d+)\s*\])?          # with the place in a list
    \s*=\s*
    (?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))
    \s*($|,)""", re.VERBOSE)


class HParams:
    """`HParams(rate=0.1, layers=[2, 3])`: hyperparameters as attributes. Their
    types, and whether they are lists, are those of the first values.

    Values are Python's: bool, int, float, str, None, and lists; they have no
    shapes or dtypes. parse("rate=0.2,layers=[1]") and override_from_dict()
    raise ValueError for values of another type and KeyError or ValueError for
    names that there are not; add_hparam() raises ValueError for one that there
    is."""

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            raise NotImplementedError("HParams: hparam_def is not supported; "
                                      "use parse_json or keyword arguments")
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds one. ValueError for a name that is taken, or an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be "
                                 "empty: %s" % name)
            self._hparam_types[name] = type(value[0]), True
        else:
            self._hparam_types[name] = type(value), False
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Gives one a new value of its type. ValueError if it is of
        another."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(
                "Must pass a list for multi-valued parameter: %s." % name
                if is_list else
                "Must not pass a list for single-valued parameter: %s" % name)
        setattr(self, name, [_cast(name, kind, v) for v in value] if is_list
                else _cast(name, kind, value))

    def del_hparam(self, name):
        """Removes one, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Sets values from a text: "rate=0.1,layers=[2,3],layers[1]=4".
        ValueError for a name that is not there, or a text that is none."""
        at = 0
        while at < len(values):
            found = _ITEM.match(values, at)
            if found is None:
                raise ValueError("Malformed hyperparameter value: %s"
                                 % values[at:])
            at = found.end()
            self._parse_one(found["name"], found["index"], found["list"],
                            found["value"])
        return self

    def _parse_one(self, name, index, items, text):
        if name not in self._hparam_types:
            raise ValueError("Unknown hyperparameter type for %s" % name)
        kind, is_list = self._hparam_types[name]
        if items is not None:
            if index is not None:
                raise ValueError("Could not parse %s[%s]: a list" % (name,
                                                                     index))
            self.set_hparam(name, [_parsed(name, kind, item)
                                   for item in items.split(",") if item])
        elif index is not None:
            if not is_list:
                raise ValueError("%s is no list" % name)
            changed = list(getattr(self, name))
            if int(index) >= len(changed):
                raise ValueError("%s has %d values, got index %s"
                                 % (name, len(changed), index))
            changed[int(index)] = _parsed(name, kind, text)
            self.set_hparam(name, changed)
        else:
            self.set_hparam(name, _parsed(name, kind, text))

    def override_from_dict(self, values_dict):
        """Sets values by name."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """The values as JSON."""
        def name_of(function):
            if callable(function):
                return getattr(function, "__name__", str(function))
            raise TypeError("%r is not JSON serializable" % (function,))
        return json.dumps(self.values(), indent=indent, separators=separators,
                          sort_keys=sort_keys, default=name_of)

    def parse_json(self, values_json):
        """Sets values from JSON."""
        return self.override_from_dict(json.loads(values_json))

    def values(self):
        """{name: value}"""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """The value of `key`, or `default` if there is none. ValueError for a
        default of another type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            if is_list != isinstance(default, list):
                raise ValueError("HParam '%s' is%s a list, got default %r"
                                 % (key, "" if is_list else " not", default))
            for value in default if is_list else [default]:
                _cast(key, kind, value)
        return getattr(self, key)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return str(sorted(self.values().items()))

    def __repr__(self):
        return "HParams(%s)" % self.__str__()
