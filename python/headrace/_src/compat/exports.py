"""tensorflow.python.util.tf_export: notes the names of a program's interface at
its functions, classes and constants."""
import collections
import functools
import sys

from headrace._src.compat.decorators import unwrap

TENSORFLOW_API_NAME = "tensorflow"
KERAS_API_NAME = "keras"
ESTIMATOR_API_NAME = "estimator"
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]

_Attributes = collections.namedtuple(  # type: ignore[name-match]
    "ExportedApiAttributes", ["names", "constants"])
_PREFIXES = {TENSORFLOW_API_NAME: "_tf", ESTIMATOR_API_NAME: "_estimator",
             KERAS_API_NAME: "_keras"}
API_ATTRS = {api: _Attributes(prefix + "_api_names", prefix + "_api_constants")
             for api, prefix in _PREFIXES.items()}
API_ATTRS_V1 = {api: _Attributes(*(name + "_v1" for name in attributes))
                for api, attributes in API_ATTRS.items()}


class SymbolAlreadyExposedError(Exception):
    """What is exported was exported before."""


class InvalidSymbolNameError(Exception):
    """A name of the interface that is not allowed."""


class api_export:
    """`@api_export("a.name")`: notes the names of a function or a class, those
    of `v1` for TensorFlow 1."""

    def __init__(self, *args, **kwargs):
        if "v2" in kwargs:
            raise ValueError(
                'You passed a "v2" argument to tf_export. This is not what you '
                "want. Pass v2 names directly as positional arguments instead.")
        self._names = args
        self._names_v1 = kwargs.get("v1", args)
        self._api_name = kwargs.get("api_name", TENSORFLOW_API_NAME)
        self._overrides = kwargs.get("overrides", [])
        self._allow_multiple_exports = kwargs.get("allow_multiple_exports",
                                                  False)
        names = {*self._names, *self._names_v1}
        if self._api_name == TENSORFLOW_API_NAME:
            for space in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(space) for name in names):
                    raise InvalidSymbolNameError(
                        "@tf_export is not allowed to export symbols under "
                        "%s.*" % space)
        elif not all(name.startswith(self._api_name) for name in names):
            raise InvalidSymbolNameError(
                "Can only export symbols under package name of component. e.g. "
                "tensorflow_estimator must export all symbols under "
                "tf.estimator")

    def __call__(self, func):
        for other in self._overrides:
            for attributes in (API_ATTRS, API_ATTRS_V1):
                name = attributes[self._api_name].names
                if hasattr(unwrap(other)[1], name):
                    delattr(unwrap(other)[1], name)
        target = unwrap(func)[1]
        for attributes, names in ((API_ATTRS, self._names),
                                  (API_ATTRS_V1, self._names_v1)):
            attribute = attributes[self._api_name].names
            # A class that inherits them was not exported itself.
            if (attribute in getattr(target, "__dict__", {})
                    and not self._allow_multiple_exports):
                raise SymbolAlreadyExposedError(
                    "Symbol %s is already exposed as %s." % (
                        target.__name__, getattr(target, attribute)))
            setattr(target, attribute, names)
        return func

    def export_constant(self, module_name, name):
        """Notes that the constant `name` of a module has these names."""
        module = sys.modules[module_name]
        for attributes, names in ((API_ATTRS, self._names),
                                  (API_ATTRS_V1, self._names_v1)):
            attribute = attributes[self._api_name].constants
            if not hasattr(module, attribute):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def kwarg_only(f):
    """A function that takes keyword arguments alone."""
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        if args:
            raise TypeError(
                "%s only takes keyword args (possible keys: %s). Please pass "
                "these args as kwargs instead." % (
                    f.__name__, f.__code__.co_varnames[
                        :f.__code__.co_argcount]))
        return f(**kwargs)
    return wrapper


def get_canonical_name(api_names, deprecated_api_names):
    """The first of the names that is not deprecated, or the first, or None."""
    return next((name for name in api_names
                 if name not in deprecated_api_names),
                api_names[0] if api_names else None)


def get_canonical_name_for_symbol(symbol, api_name=TENSORFLOW_API_NAME,
                                  add_prefix_to_v1_names=False):
    """The name that the interface has for it, or None."""
    attributes = getattr(unwrap(symbol)[1], "__dict__", {})
    if API_ATTRS[api_name].names not in attributes:
        return None
    deprecated = attributes.get("_tf_deprecated_api_names", ())
    name = get_canonical_name(attributes[API_ATTRS[api_name].names], deprecated)
    if name:
        return name
    name = get_canonical_name(attributes[API_ATTRS_V1[api_name].names],
                              deprecated)
    return "compat.v1.%s" % name if add_prefix_to_v1_names else name


def _all_of(attributes, symbol, own):
    found = []
    for api in (TENSORFLOW_API_NAME, ESTIMATOR_API_NAME, KERAS_API_NAME):
        name = getattr(attributes[api], own)
        if name in getattr(symbol, "__dict__", {}):
            found.extend(vars(symbol)[name])
    return found


def get_v1_names(symbol):
    """The names that it was given for TensorFlow 1."""
    return _all_of(API_ATTRS_V1, symbol, "names")


def get_v2_names(symbol):
    """The names that it was given for TensorFlow 2."""
    return _all_of(API_ATTRS, symbol, "names")


def get_v1_constants(module):
    """(names, attribute) of constants of a module, for TensorFlow 1."""
    return _all_of(API_ATTRS_V1, module, "constants")


def get_v2_constants(module):
    """(names, attribute) of constants of a module, for TensorFlow 2."""
    return _all_of(API_ATTRS, module, "constants")
