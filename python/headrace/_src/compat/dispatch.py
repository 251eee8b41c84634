"""tensorflow.python.util.dispatch: functions that a program replaces for types of
its own; framework.registry and util.lazy_loader."""
import importlib
import itertools
import types

from headrace._src.compat.call_stacks import extract_stack
from headrace._src.compat.decorators import make_decorator
from headrace._src.compat.inspection import getargspec

DISPATCH_ATTR = "_tf_dispatchers"


class OpDispatcher:
    """Handles calls of functions that it is registered for."""
    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        """The result for these arguments, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op):
        """Lets it handle calls of `op`, which add_dispatch_list has
        prepared."""
        if not hasattr(op, DISPATCH_ATTR):
            raise AssertionError("Dispatching not enabled for %s" % op)
        getattr(op, DISPATCH_ATTR).append(self)


def dispatch(op, *args, **kwargs):
    """What the first dispatcher of `op` that handles the arguments returns, or
    OpDispatcher.NOT_SUPPORTED."""
    for dispatcher in getattr(op, DISPATCH_ATTR):
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


class _ByTypes(OpDispatcher):
    def __init__(self, function, types):
        self._function, self._types = function, types

    def handle(self, args, kwargs):
        for x in itertools.chain(args, kwargs.values()):
            values = x if isinstance(x, (list, tuple)) else ()
            if any(isinstance(v, self._types) for v in (x, *values)):
                return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op, *types):
    """A decorator of the function that stands for `op` where arguments are of
    these types. It has the same signature, or AssertionError."""
    def decorate(func):
        if getargspec(func) != getargspec(op):
            raise AssertionError(
                "The decorated function's signature must exactly match the "
                "signature of the overridden op.")
        _ByTypes(func, types).register(op)
        return func
    return decorate


def add_dispatch_list(target):
    """Gives a function a list of dispatchers, empty yet."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError("%s already has a dispatch list" % target)
    setattr(target, DISPATCH_ATTR, [])
    return target


def add_dispatch_support(target):
    """A function that asks its dispatchers where `target` raises TypeError or
    ValueError."""
    def wrapper(*args, **kwargs):
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result
    add_dispatch_list(wrapper)
    return make_decorator(target, wrapper, "add_dispatch_support")


class Registry:
    """Objects of a program, by name."""

    def __init__(self, name):
        self._name = name
        self._registry = {}  # name: (object, frame)

    def register(self, candidate, name=None):
        """Keeps an object by `name`, or its own. KeyError if one has it."""
        name = name or candidate.__name__
        if name in self._registry:
            frame = self._registry[name][1]
            raise KeyError("Registering two %s with name '%s'! (Previous "
                           "registration was in %s %s:%d)" % (
                               self._name, name, frame.name, frame.filename,
                               frame.lineno))
        frames = extract_stack(limit=3)
        self._registry[name] = candidate, frames[min(2, len(frames) - 1)]

    def list(self):
        return self._registry.keys()

    def lookup(self, name):
        """The object. LookupError if there is none."""
        name = name.decode() if isinstance(name, bytes) else name
        if name not in self._registry:
            raise LookupError("%s registry has no entry for: %s"
                              % (self._name, name))
        return self._registry[name][0]


class LazyLoader(types.ModuleType):
    """A module that is imported when something of it is used."""

    def __init__(self, local_name, parent_module_globals, name, warning=None):
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals
        self._warning = warning
        super().__init__(name)

    def _load(self):
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        if self._warning:
            from headrace._src.platform import tf_logging as logging
            logging.warning(self._warning)
            self._warning = None
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item):
        return getattr(self._load(), item)

    def __dir__(self):
        return dir(self._load())


def get_json_type(obj):
    """`obj` as what JSON can express. TypeError if it cannot."""
    import collections.abc

    import numpy as np

    from headrace._src.framework.tensor_shape import Dimension, TensorShape
    if hasattr(obj, "get_config"):
        return {"class_name": type(obj).__name__, "config": obj.get_config()}
    if isinstance(obj, (np.ndarray, np.generic)):
        return obj.tolist()
    if callable(obj):
        return obj.__name__
    if isinstance(obj, Dimension):
        return obj.value
    if isinstance(obj, TensorShape):
        return obj.as_list()
    if isinstance(obj, collections.abc.Mapping):
        return dict(obj)
    raise TypeError("Not JSON Serializable:", obj)
