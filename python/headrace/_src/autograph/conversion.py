"""Converted functions: which functions are converted, and the cache of their
code.

A converted function is a new function object over converted code, with the
globals, defaults and cells of the original. Code is kept by the code object of
the original; functions that share code (closures) share its conversion.
Thread-safe."""
import ast
import dis
import functools
import inspect
import os
import sys
import threading
import types
import weakref

from headrace._src.autograph import branches, builtins, loops, values
from headrace._src.autograph.converter import convert_tree
from headrace._src.autograph.sources import NoSource, find
from headrace._src.framework.autograph_status import (
    Status, control_status_ctx)
from headrace._src.platform import tf_logging

READY = "__ag_compiled"  # the attribute of functions that are called as is

_COMPILER_FLAGS = 0x1000000 | 0x100000  # annotations, and those before it
_LIBRARIES = {"headrace", "tensorflow", "tensorflow_core", "numpy"}
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE \
    | inspect.CO_ASYNC_GENERATOR
# The path of Python's own modules.
_STANDARD = os.path.dirname(os.__file__) + os.sep
_lock = threading.RLock()


class _Code:
    """What code became: `function_code` None says that it stays as it is."""

    def __init__(self, function_code=None, tree=None):
        self.function_code = function_code
        self.tree = tree


_converted: dict = {}  # (id of a code object, features) -> (weak reference, _Code)
# id of a converted code object -> the object
_our_code: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class _Operators:
    """The `ag__` of converted functions."""

    def __init__(self, features):
        for module in (values, branches, loops):
            self.__dict__.update(vars(module))
        self.list_append = builtins.list_append
        self.callee = functools.partial(callee, features=features)


operators = functools.lru_cache(maxsize=None)(_Operators)


_verbosity = None  # (level, also to stdout), by set_verbosity


def set_verbosity(level, to_stdout):
    global _verbosity
    _verbosity = level, to_stdout


def _log_code(function, tree):
    level, to_stdout = _verbosity or (
        int(os.getenv("AUTOGRAPH_VERBOSITY", "0")), False)
    if level < 2:
        return
    text = "Converted %s:\n\n%s\n" % (function, ast.unparse(tree))
    tf_logging.info("%s", text)
    if to_stdout:
        print(text)


# The status: whether functions are converted where nothing else says so.

def disabled():
    return control_status_ctx().status is Status.DISABLED


def callee(function, features=frozenset()):
    """What a converted function calls in place of `function`."""
    try:
        replaced = builtins.REPLACED.get(function)
    except TypeError:
        replaced = None
    if replaced is not None:
        return replaced
    if isinstance(function, type):
        return function
    return convert(function, features)


def convert(function, features=frozenset()):
    """The converted function, or `function` itself where nothing is to be
    converted or may be."""
    if isinstance(function, functools.partial):
        inner = convert(function.func, features)
        return function if inner is function.func else functools.partial(
            inner, *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        if not isinstance(function.__func__, types.FunctionType) \
                or _is_test_case(function.__self__):
            return function
        inner = convert(function.__func__, features)
        return function if inner is function.__func__ \
            else types.MethodType(inner, function.__self__)
    if isinstance(function, types.FunctionType):
        return _convert_function(function, features)
    if isinstance(function, (types.BuiltinFunctionType, type)):
        return function
    method = getattr(type(function), "__call__", None)
    if isinstance(method, types.FunctionType) \
            and not hasattr(function, READY):
        inner = convert(method, features)
        if inner is not method:
            return types.MethodType(inner, function)
    return function


def _is_test_case(instance):
    unittest = sys.modules.get("unittest")  # not loaded: there are none
    return unittest is not None and isinstance(instance, unittest.TestCase)


def _convert_function(function, features):
    code = function.__code__
    if id(code) in _our_code or hasattr(function, READY) \
            or _of_library(function):
        return function
    converted = convert_code(function, features)
    if converted.function_code is None:
        return function
    return _bind(function, converted.function_code, features)


def _of_library(function):
    module = function.__globals__.get("__name__") or ""
    if module.split(".")[0] in _LIBRARIES:
        return True
    path = function.__code__.co_filename
    return path.startswith(_STANDARD) and "site-packages" not in path \
        or path.startswith("<frozen")


def _bind(function, code, features):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells["ag__"] = types.CellType(operators(features))
    new = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells[n] for n in code.co_freevars))
    new.__kwdefaults__ = function.__kwdefaults__
    new.__qualname__ = function.__qualname__
    new.__module__ = function.__module__
    new.__doc__ = function.__doc__
    new.__dict__.update(function.__dict__)
    return new


def convert_code(function, features=frozenset(), strict=False):
    """The _Code of a function, from the cache if it is there. With `strict`,
    raises NoSource where it cannot be converted."""
    code = function.__code__
    key = id(code), features
    with _lock:
        known = _converted.get(key)
        if known is not None and known[0]() is code and (
                known[1].tree is not None or not strict):
            return known[1]
        try:
            new = _new_code(code, features, strict)
            if new.tree is not None:
                _log_code(function, new.tree)
        except NoSource as error:
            if strict:
                raise
            if code.co_filename != "<string>":
                tf_logging.warn(
                    "Entity %s could not be transformed and will be executed "
                    "as-is. Cause: %s", function, error)
            new = _Code()
        reference = weakref.ref(code, lambda _: _converted.pop(key, None))
        _converted[key] = reference, new
        return new


def _new_code(code, features, strict):
    if code.co_flags & _GENERATORS:
        raise NoSource("it is a generator function")
    if not strict and not _may_change(code):
        return _Code()
    node, class_name = find(code)
    if "ag__" in code.co_names + code.co_varnames + code.co_freevars:
        raise NoSource("the name ag__ is reserved")
    tree, generated = convert_tree(node, class_name, features)
    tree.name = "tf__" + code.co_name.strip("<>")
    outer = ast.parse("def outer(%s): pass" % ", ".join(
        ("ag__",) + code.co_freevars))
    outer.body[0].body = [tree]
    compiled = compile(ast.fix_missing_locations(outer), code.co_filename,
                       "exec", flags=code.co_flags & _COMPILER_FLAGS,
                       dont_inherit=True)
    inner = _constant_code(_constant_code(compiled, "outer"), tree.name)
    inner = _named(inner, generated | {tree.name}, code.co_name)
    _note(inner)
    return _Code(inner, tree)


def _may_change(code):
    """Whether code has calls, jumps or functions of its own, by which it could
    depend on tensors' values."""
    return any(i.opname.startswith(("CALL", "FOR_", "MAKE_FUNCTION"))
               or "JUMP" in i.opname
               or i.opname in ("UNARY_NOT", "COMPARE_OP")
               for i in dis.get_instructions(code))


def _constant_code(code, wanted):
    return next(c for c in code.co_consts
                if isinstance(c, types.CodeType) and c.co_name == wanted)


def _named(code, generated, shown):
    """The code, whose generated functions are named as the user's function
    around them: tracebacks show that."""
    constants = tuple(
        _named(c, generated, c.co_name if c.co_name not in generated else shown)
        if isinstance(c, types.CodeType) else c for c in code.co_consts)
    changes = {"co_consts": constants}
    if code.co_name in generated:
        changes["co_name"] = shown
        if sys.version_info >= (3, 11):
            changes["co_qualname"] = shown
    return code.replace(**changes)


def _note(code):
    _our_code[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _note(constant)
