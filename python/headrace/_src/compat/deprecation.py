"""tensorflow.python.util.deprecation: decorators of what a program will remove.
They warn once for each function, and write a notice into its docstring."""
import collections
import contextlib
import functools
import inspect
import re

from headrace._src.compat.decorators import (
    add_notice_to_docstring, get_qualified_name, make_decorator,
    validate_callable)
from headrace._src.compat.inspection import getcallargs, getfullargspec
from headrace._src.platform import tf_logging as logging

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING: dict = {}  # what was warned of

DeprecatedArgSpec = collections.namedtuple(
    "DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


class DeprecatedNamesAlreadySet(Exception):
    """deprecated_endpoints of what has them already."""


@contextlib.contextmanager
def silence():
    """Without warnings."""
    global _PRINT_DEPRECATION_WARNINGS
    before = _PRINT_DEPRECATION_WARNINGS
    _PRINT_DEPRECATION_WARNINGS = False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _call_location():
    """"file:line" of the program, outside of this module."""
    frame = inspect.currentframe()
    while frame.f_back and frame.f_globals is globals():
        frame = frame.f_back
    return "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)


def _when(date):
    return "in a future version" if date is None else "after %s" % date


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion "
                         "instructions!")


def _warn(key, once, message, *args):
    """Logs a warning, once for each `key` if `once`."""
    if not _PRINT_DEPRECATION_WARNINGS or key in _PRINTED_WARNING:
        return
    if once:
        _PRINTED_WARNING[key] = True
    logging.warning(message, _call_location(), *args)


def deprecated(date, instructions, warn_once=True):
    """A decorator of functions that go away after `date`, "YYYY-MM-DD", or some
    time. ValueError for another date, and without instructions."""
    _check(date, instructions)

    def decorate(func):
        validate_callable(func, "deprecated")

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            _warn(func, warn_once,
                  "From %s: %s (from %s) is deprecated and will be removed %s."
                  "\nInstructions for updating:\n%s", get_qualified_name(func),
                  func.__module__, _when(date), instructions)
            return func(*args, **kwargs)
        notice = ["THIS FUNCTION IS DEPRECATED. It will be removed %s."
                  % _when(date), "Instructions for updating:"]
        return make_decorator(func, new_func, "deprecated",
                              add_notice_to_docstring(
                                  func.__doc__, instructions,
                                  "DEPRECATED FUNCTION", "(deprecated)",
                                  notice))
    return decorate


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """A function that calls func_or_class, or a class below it, and warns of
    the old name."""
    instructions = "Please use %s instead." % name

    def warn(key):
        _warn(key, warn_once, "From %s: The name %s is deprecated. Please use "
              "%s instead.\n", deprecated_name, name)

    if isinstance(func_or_class, type):
        class NewClass(func_or_class):
            __doc__ = add_notice_to_docstring(
                func_or_class.__doc__, instructions, "DEPRECATED CLASS",
                "(deprecated)", ["THIS CLASS IS DEPRECATED. It will be removed "
                                 "in a future version. "])

            @functools.wraps(func_or_class.__init__)
            def __init__(self, *args, **kwargs):
                warn(NewClass)
                super().__init__(*args, **kwargs)
        NewClass.__name__ = func_or_class.__name__
        NewClass.__module__ = _call_location()
        make_decorator(func_or_class.__init__, NewClass.__init__)
        return NewClass
    validate_callable(func_or_class, "deprecated")

    @functools.wraps(func_or_class)
    def new_func(*args, **kwargs):
        warn(new_func)
        return func_or_class(*args, **kwargs)
    return make_decorator(
        func_or_class, new_func, "deprecated", add_notice_to_docstring(
            func_or_class.__doc__, instructions, "DEPRECATED FUNCTION",
            "(deprecated)", ["THIS FUNCTION IS DEPRECATED. It will be removed "
                             "in a future version.",
                             "Instructions for updating:"]))


def deprecated_endpoints(*args):
    """A decorator that notes names of the interface that are deprecated."""
    def decorate(func):
        if "_tf_deprecated_api_names" in vars(func):
            raise DeprecatedNamesAlreadySet(
                "Cannot set deprecated names for %s to %s. Deprecated names "
                "are already set to %s." % (func.__name__, args,
                                            func._tf_deprecated_api_names))
        func._tf_deprecated_api_names = args
        return func
    return decorate


def _same(a, b):
    if a is b:
        return True
    try:
        equal = a == b
    except TypeError:
        return False
    return equal if isinstance(equal, bool) else False


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples,
                    **kwargs):
    """A decorator of functions with parameters that go away: their names, or
    (name, a value that is no reason to warn). ValueError for names that the
    function does not have."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError("Illegal argument to deprecated_args: %s" % kwargs)
    harmless = dict(
        (x[0], [x[1]]) if isinstance(x, tuple) else (x, [])
        for x in deprecated_arg_names_or_tuples)

    def decorate(func):
        validate_callable(func, "deprecated_args")
        spec = getfullargspec(func)
        known = spec.args + [spec.varargs, spec.varkw]
        missing = [name for name in harmless if name not in known]
        if missing:
            raise ValueError(
                "The following deprecated arguments are not present in the "
                "function signature: %s. Found next arguments: %s."
                % (missing, known))

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            if _PRINT_DEPRECATION_WARNINGS:
                values = getcallargs(func, *args, **kwargs)
                for name, fine in harmless.items():
                    if name == spec.varargs:
                        given = len(args) > len(spec.args)
                    elif name == spec.varkw:
                        given = bool(kwargs)
                    else:
                        given = (name in kwargs or spec.args.index(name)
                                 < len(args)) and not any(
                                     _same(values[name], v) for v in fine)
                    if given:
                        _warn((func, name), warn_once,
                              "From %s: calling %s (from %s) with %s is "
                              "deprecated and will be removed %s.\n"
                              "Instructions for updating:\n%s",
                              get_qualified_name(func), func.__module__, name,
                              _when(date), instructions)
            return func(*args, **kwargs)
        notice = [
            "SOME ARGUMENTS ARE DEPRECATED: `(%s)`. They will be removed %s."
            % (", ".join(sorted(harmless)), _when(date)),
            "Instructions for updating:"]
        return make_decorator(func, new_func, "deprecated",
                              add_notice_to_docstring(
                                  func.__doc__, instructions,
                                  "DEPRECATED FUNCTION ARGUMENTS",
                                  "(deprecated arguments)", notice))
    return decorate


def deprecated_arg_values(date, instructions, warn_once=True,
                          **deprecated_kwargs):
    """A decorator of functions with values of parameters that go away."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(func):
        validate_callable(func, "deprecated_arg_values")

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            if _PRINT_DEPRECATION_WARNINGS:
                values = getcallargs(func, *args, **kwargs)
                for name, value in deprecated_kwargs.items():
                    if name in values and values[name] == value:
                        _warn((func, name), warn_once,
                              "From %s: calling %s (from %s) with %s=%s is "
                              "deprecated and will be removed %s.\n"
                              "Instructions for updating:\n%s",
                              get_qualified_name(func), func.__module__, name,
                              value, _when(date), instructions)
            return func(*args, **kwargs)
        notice = ["SOME ARGUMENT VALUES ARE DEPRECATED: `(%s)`. They will be "
                  "removed %s." % (", ".join(
                      "%s=%r" % item for item in
                      sorted(deprecated_kwargs.items())), _when(date)),
                  "Instructions for updating:"]
        return make_decorator(func, new_func, "deprecated",
                              add_notice_to_docstring(
                                  func.__doc__, instructions,
                                  "DEPRECATED FUNCTION ARGUMENT VALUES",
                                  "(deprecated argument values)", notice))
    return decorate


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value of an argument that has two names. ValueError for both."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'"
                         % (old_name, new_name))
    return old_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """A docstring with another name of an argument."""
    for form in ("`%s`", "%s:"):
        old_doc = old_doc.replace(form % old_argument, form % new_argument)
    return old_doc
