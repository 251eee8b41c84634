"""tf.contrib.framework.arg_scope: default arguments of functions, for all calls
inside a `with`."""
import contextlib
import functools
import inspect
import threading


class _Stack(threading.local):
    def __init__(self):
        self.scopes = [{}]  # {key of a function: its arguments}


_stack = _Stack()
_arguments: dict = {}  # of the decorated functions: those that have defaults


def arg_scope_func_key(op):
    return getattr(op, "_key_op", str(op))


def current_arg_scope():
    return _stack.scopes[-1]


def add_arg_scope(func):
    """`func` as a function that takes arguments from the arg_scopes around its
    calls. Arguments of a call go first."""
    key = arg_scope_func_key(func)
    _arguments[key] = tuple(
        p.name for p in inspect.signature(func).parameters.values()
        if p.default is not p.empty)

    @functools.wraps(func)
    def with_scope(*args, **kwargs):
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})
    with_scope._key_op = key
    return with_scope


def has_arg_scope(func):
    """True if add_arg_scope decorated the function."""
    return arg_scope_func_key(func) in _arguments


def arg_scoped_arguments(func):
    """The names of the arguments that an arg_scope may set. ValueError for a
    function that add_arg_scope did not decorate."""
    if not has_arg_scope(func):
        raise ValueError("%s is not decorated with @add_arg_scope" % func)
    return _arguments[arg_scope_func_key(func)]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """`with arg_scope([f, g], x=1) as scope`: calls of f and g inside have x=1
    by default. `with arg_scope(scope)` enters it again. ValueError for a
    function that add_arg_scope did not decorate.

    Layers inside may have inputs of any shape and dtype. As a context manager
    it gives the scope, a dict. TypeError for what is neither a list of
    functions nor a scope."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a"
                             "dictionary, kwargs must be empty.")
        scope = list_ops_or_scope.copy()
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = current_arg_scope().copy()
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError("(%r, %r) is not decorated with "
                                 "@add_arg_scope"
                                 % (getattr(op, "__module__", None),
                                    getattr(op, "__name__", str(op))))
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or "
                        "reused scope (i.e. dict)")
    _stack.scopes.append(scope)
    try:
        yield scope
    finally:
        _stack.scopes.pop()
