"""tensorflow.python.util.tf_inspect and function_utils: Python's `inspect`, which
looks below the decorators of tf_decorator."""
import collections
import functools
import inspect

from headrace._src.compat.decorators import unwrap

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
FullArgSpec = inspect.FullArgSpec


def _below(function):
    """`function` of inspect, of what is below an object's decorators."""
    @functools.wraps(function)
    def look(object):
        return function(unwrap(object)[1])
    return look


getsource = _below(inspect.getsource)
getsourcefile = _below(inspect.getsourcefile)
getsourcelines = _below(inspect.getsourcelines)
isbuiltin = _below(inspect.isbuiltin)
isclass = _below(inspect.isclass)
isframe = _below(inspect.isframe)
isfunction = _below(inspect.isfunction)
isgenerator = _below(inspect.isgenerator)
isgeneratorfunction = _below(inspect.isgeneratorfunction)
ismethod = _below(inspect.ismethod)
ismodule = _below(inspect.ismodule)
isroutine = _below(inspect.isroutine)
getdoc, getframeinfo, getmodule = (inspect.getdoc, inspect.getframeinfo,
                                   inspect.getmodule)
getmembers, getmro = inspect.getmembers, inspect.getmro


def currentframe():
    """The frame of the caller."""
    return inspect.currentframe().f_back


def stack(context=1):
    """The frames around the caller's, its own first."""
    return inspect.stack(context)[1:]


def getfile(object):
    """The file of a function, a class, a module or a frame."""
    target = unwrap(object)[1]
    return getattr(target, "f_globals", {}).get("__file__") or inspect.getfile(
        target)


def _given_spec(decorators):
    """The signature that the outermost decorator with one has, or None."""
    return next((d.decorator_argspec for d in decorators
                 if d.decorator_argspec is not None), None)


def getfullargspec(obj):
    """The FullArgSpec that the outermost decorator gives, or else that of what
    is below them."""
    decorators, target = unwrap(obj)
    spec = _given_spec(decorators)
    if spec is None:
        return inspect.getfullargspec(target)
    if isinstance(spec, inspect.FullArgSpec):
        return spec
    return FullArgSpec(spec.args, spec.varargs, spec.keywords, spec.defaults,
                       [], None, {})


def _short(spec):
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def getargspec(obj):
    """The ArgSpec (args, varargs, keywords, defaults) of a function, a partial
    one, a class or an object that is called. ValueError for partial functions
    whose signature it cannot express."""
    if isinstance(obj, functools.partial):
        return _spec_of_partial(obj)
    decorators, target = unwrap(obj)
    spec = _given_spec(decorators)
    if spec is not None:
        return spec
    candidates = [target]
    if isinstance(target, type):
        candidates += [target.__init__, target.__new__]
    for candidate in [*candidates, type(target).__call__]:
        try:
            return _short(getfullargspec(candidate))
        except TypeError:
            pass
    raise TypeError("unsupported callable")


def _spec_of_partial(partial):
    args, varargs, keywords, defaults = getargspec(partial.func)
    values = dict(zip(reversed(args), reversed(defaults or ())))
    args = args[len(partial.args):]
    for name, value in (partial.keywords or {}).items():
        if name in args:
            values[name] = value
        elif not keywords:
            raise ValueError("Function does not have **kwargs parameter, but "
                             "contains an unknown partial keyword.")
    with_default = [name in values for name in args]
    if True not in with_default:
        return ArgSpec(args, varargs, keywords, None)
    first = with_default.index(True)
    bare = [name for name in args[first:] if name not in values]
    if bare:
        raise ValueError(
            "Some arguments %s do not have default value, but they are "
            "positioned after those with default values. This can not be "
            "expressed with ArgSpec." % bare)
    return ArgSpec(args, varargs, keywords,
                   tuple(values[name] for name in args[first:]))


def getcallargs(*func_and_positional, **named):
    """{parameter: value} of a call of the first argument with the others."""
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    found = dict(named)
    owner = getattr(func, "__self__", None)
    if ismethod(func) and owner:
        positional = [owner, *positional]
    found.update(zip([a for a in spec.args if a not in found], positional))
    defaults = zip(reversed(spec.args), reversed(spec.defaults or ()))
    for name, value in [*defaults, *(spec.kwonlydefaults or {}).items()]:
        found.setdefault(name, value)
    return found


# function_utils.

def _is_called_object(obj):
    return hasattr(obj, "__call__") and ismethod(obj.__call__)


def _is_bound(function):
    target = unwrap(function)[1]
    return ismethod(target) and target.__self__ is not None


def fn_args(fn):
    """The names of the parameters of a function or an object that is called,
    without self."""
    if isinstance(fn, functools.partial):
        args = fn_args(fn.func)
        return tuple(a for a in args[len(fn.args):] if a not in
                     (fn.keywords or {}))
    if _is_called_object(fn):
        fn = fn.__call__
    args = getfullargspec(fn).args
    return tuple(args[1:] if args and _is_bound(fn) else args)


def has_kwargs(fn):
    """Whether it takes **kwargs. TypeError for what cannot be called."""
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif _is_called_object(fn):
        fn = fn.__call__
    elif not callable(fn):
        raise TypeError("fn should be a function-like object, but is of type "
                        "%s." % type(fn))
    return getfullargspec(fn).varkw is not None


def get_func_name(func):
    """The name of a function, "Class.name" of a method. ValueError for what
    cannot be called."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if isfunction(func):
        return func.__name__
    if ismethod(func):
        return "%s.%s" % (type(func.__self__).__name__,
                          func.__func__.__name__)
    return str(type(func))


def get_func_code(func):
    """The code of a function or method, or None. ValueError for what cannot be
    called."""
    func = unwrap(func)[1]
    if not callable(func):
        raise ValueError("Argument must be callable")
    if not (isfunction(func) or ismethod(func)):
        func = func.__call__
    return getattr(func, "__code__", None)
