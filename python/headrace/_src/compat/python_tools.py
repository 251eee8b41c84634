"""tensorflow.python.util: decorators and looks at functions, which here are those
of Python."""
import contextlib
import functools
import inspect

getargspec = getfullargspec = inspect.getfullargspec
contextmanager = contextlib.contextmanager


def __getattr__(name):
    """What tf_inspect has is Python's inspect."""
    return getattr(inspect, name)


class _Unchanged:
    """A decorator with arguments that returns what it decorates."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, function):
        return function

    def export_constant(self, module_name, name):
        """Exports nothing: there is no API to generate."""


class tf_export(_Unchanged):
    """Marks a name of TensorFlow's interface; here it changes nothing."""


keras_export = estimator_export = tf_export


class deprecated(_Unchanged):
    """`@deprecated(date, instructions)`: changes nothing, warns of nothing."""


deprecated_args = deprecated_arg_values = deprecated_endpoints = deprecated


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """func_or_class."""
    return func_or_class


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has two names. ValueError for both."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'"
                         % (old_name, new_name))
    return old_value


@contextlib.contextmanager
def silence():
    """Without warnings of what is deprecated: there are none."""
    yield


def kwarg_only(f):
    """A function that takes keyword arguments alone."""
    @functools.wraps(f)
    def wrapper(**kwargs):
        return f(**kwargs)
    return wrapper


def make_decorator(target, decorator_func, decorator_name=None,
                   decorator_doc="", decorator_argspec=None):
    """decorator_func with the name and the docstring of `target`."""
    return functools.wraps(target)(decorator_func)


def unwrap(maybe_tf_decorator):
    """([], function): the function below its decorators."""
    return [], inspect.unwrap(maybe_tf_decorator)


def rewrap(decorator_func, previous_target, new_target):
    """decorator_func around new_target."""
    decorator_func.__wrapped__ = new_target
    return decorator_func


def should_use_result(fn=None, warn_in_eager=False, error_in_function=False):
    """Changes nothing."""
    return fn if fn is not None else lambda function: function


def fn_args(fn):
    """The names of the parameters of a function or an object that is called,
    without self."""
    if isinstance(fn, functools.partial):
        args = fn_args(fn.func)
        return tuple(a for a in args[len(fn.args):] if a not in
                     (fn.keywords or {}))
    if not inspect.isfunction(fn) and not inspect.ismethod(fn) and hasattr(
            fn, "__call__"):
        fn = fn.__call__
    args = getfullargspec(inspect.unwrap(fn)).args
    return tuple(args[1:] if inspect.ismethod(fn) else args)


def has_kwargs(fn):
    """Whether it takes **kwargs."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    return getfullargspec(inspect.unwrap(fn)).varkw is not None


def get_func_name(func):
    """The name of a function, as it is shown."""
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    return getattr(func, "__name__", None) or str(type(func))


def make_all(module_name, doc_string_modules=None):
    """The public names of a module that is loaded."""
    import sys
    return [n for n in dir(sys.modules[module_name]) if not n.startswith("_")]


def remove_undocumented(module_name, allowed_exception_list=None,
                        doc_string_modules=None):
    """Removes nothing."""
