"""`import tensorflow` for programs of TensorFlow 1.x, once install() was called.

A finder on sys.meta_path makes a module object for each of TensorFlow's modules
that is asked for. Such a module has no names of its own: it takes them from tf.*,
where the tables say, when they are first used. So nothing is loaded that a
program does not use, and tf's namespaces stay as they are.

- `tensorflow` and `tensorflow.compat.v1` are tf; `tensorflow.nn` is tf.nn;
  `tensorflow.compat.v2` is tf.compat.v2.
- `tensorflow.python.*` and `tensorflow.contrib.*.python.*` have the public names
  that TensorFlow 1.15 has there (tensorflow_modules.py) and what programs use
  besides (inner_modules.py). `gen_*_ops` have all ops.
- `tensorflow.core.*_pb2` have the messages, which `google.protobuf.text_format`
  takes (protobuf_text.py).
"""
import functools
import importlib
import importlib.abc
import importlib.machinery
import re
import sys
import types

from headrace import (
    _api, _interface, _loading, _names, _second_api, raw_ops)
from headrace._src.compat import (
    inner_modules, protobuf_text, tensorflow_modules)

ROOT = "tensorflow"
_GENERATED_OPS = re.compile(r"python\.(\w+\.)*gen_\w+_ops$")
_TEST_OPS = "python.framework.test_ops"
_MESSAGES = re.compile(r"core(\.(framework|protobuf|util|example|profiler|"
                       r"lib(\.core)?)"
                       r"(\.(?P<module>\w+)_pb2)?)?$")


@functools.cache
def _spaces():
    """The namespaces of tf that are there."""
    second = _second_api.ROOT
    return frozenset([
        *_api.NAMES, "raw_ops", "compat.v1", *_second_api.spaces(),
        second + ".raw_ops", second + ".compat.v1"])


@functools.cache
def _entries(path):
    """{name: (kind, home, its name there)} of an inner module, or None."""
    tables = ((inner_modules.NAMES, "inner"), (tensorflow_modules.NAMES, "tf"))
    found = {}
    for table, kind in tables:
        for home, names in table.get(path, {}).items():
            for entry in names.split():
                name, _, original = entry.partition("=")
                found.setdefault(name, (kind, home, original or name))
    return found


@functools.cache
def _packages():
    """The modules that the tables name, and the packages around them."""
    found = set()
    for path in [*tensorflow_modules.NAMES, *inner_modules.NAMES,
                 *tensorflow_modules.OTHERS, *inner_modules.OF_ESTIMATOR,
                 *inner_modules.SAME, *_spaces()]:
        while path:
            found.add(path)
            path = path.rpartition(".")[0]
    return frozenset(found)


def _plain(fullname):
    """The path below `tensorflow`, without what names the same modules."""
    path = fullname.partition(".")[2]
    for prefix in ("compat.v1.", "_api.v1.", "python.keras.api._v1.",
                   "_api.v1.compat.v1.", "compat.v2.compat.v1."):
        if (path + ".").startswith(prefix):
            path = path[len(prefix):]
    return path


def _is_known(path):
    return (not path or path in _packages() or path == _TEST_OPS
            or path.startswith("python.keras") and path[7:] in _spaces()
            or bool(_GENERATED_OPS.match(path) or _MESSAGES.match(path)))


def _of_tensorflow(path):
    """Whether TensorFlow has a public namespace or name of this path."""
    space, _, name = path.rpartition(".")
    second = _second_api.interface()
    return (path in _interface.NAMES or path in second
            or name in second.get(space, ())
            or name in _interface.NAMES.get(space, "").split())


class _Missing(Exception):
    """A name that a module does not have."""


class _Module(types.ModuleType):
    """One of TensorFlow's modules: it finds its names when they are used."""

    def __init__(self, name, doc=None):
        super().__init__(name, doc)
        vars(self)["_replaced"] = {}  # by a program: what was there before

    def __getattr__(self, name):
        if name == "__all__":
            return [n for n in self.__dir__() if not n.startswith("_")]
        if name.startswith("__") and name not in _names_of_root(self):
            raise AttributeError("module %r has no attribute %r"
                                 % (self.__name__, name))
        path = _plain(self.__name__)
        below = "%s.%s" % (path, name) if path else name
        if _is_known(below) and not _hides_module(path, name):
            return importlib.import_module("%s.%s" % (self.__name__, name))
        try:
            value = _find(path, name)
        except (_Missing, AttributeError) as missing:
            value = _imported(path, name)
            if value is None:
                if isinstance(missing, AttributeError):
                    raise
                raise AttributeError("%s.%s is not supported" % (
                    self.__name__, name)) from None
        return vars(self).setdefault(name, value)

    def __setattr__(self, name, value):
        """In a module of tensorflow.python, what a program puts in the place of
        a function holds where the library calls it, too. A module that is
        imported does not replace a function of its name."""
        if (isinstance(value, _Module) and _hides_module(
                _plain(self.__name__), name)):
            return
        home = (None if name.startswith("__")
                or isinstance(value, types.ModuleType)
                else _home(_plain(self.__name__), name))
        if home is not None:
            module, original = home
            self._replaced.setdefault(name, getattr(module, original))
            setattr(module, original, value)
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._replaced:
            module, original = _home(_plain(self.__name__), name)
            setattr(module, original, self._replaced.pop(name))
        super().__delattr__(name)

    def __dir__(self):
        path = _plain(self.__name__)
        found = set(vars(self)) - {"__path__", "_replaced"}
        # Not what TensorFlow has there and Headrace has not, or `import *`
        # would fail.
        found.update(name for name, (kind, home, original)
                     in _entries(path).items()
                     if kind == "inner" or _is_there(home, original))
        if path in _spaces() or path == "python":
            found.update(dir(_space("" if path == "python" else path)))
        if _GENERATED_OPS.match(path):
            hints = _loading.load("_hints")
            found.update(hints.snake_case(op) for op in dir(raw_ops))
        prefix = path and path + "."
        found.update(
            p[len(prefix):].partition(".")[0] for p in _packages()
            if p.startswith(prefix) and p != path)
        return sorted(found)


def _hides_module(path, name):
    """Whether the module at `path` has a function with the name of a module
    below it, as contrib.framework.python.ops has arg_scope."""
    kind, home, original = _entries(path).get(name, ("", "", ""))
    return (bool(kind) and _is_known("%s.%s" % (path, name))
            and (kind == "inner" or _is_there(home, original)))


# Where the modules are that TensorFlow's modules import from each other.
_COMMON = ("python.framework.", "python.ops.", "python.util.",
           "python.training.", "python.platform.", "python.eager.",
           "python.client.", "python.layers.", "python.lib.io.")


def _imported(path, name):
    """The module `name` where a module of tensorflow.python, or of the like in
    contrib, would have imported it; or None. A module of contrib imports its
    neighbours, too."""
    path = inner_modules.SAME.get(path, path)
    if (path + ".").startswith("python.") or ".python." in path:
        own = path.rpartition(".")[0] + "."
        for folder in _COMMON + ((own,) if path.startswith("contrib.") else ()):
            if _is_known(folder + name):
                return importlib.import_module(
                    "%s.%s%s" % (ROOT, folder, name))
    return None


def _is_there(home, name):
    """Whether the namespace `home` of tf, if it is there, has `name`."""
    return (not home or home in _spaces()) and name in dir(_space(home))


def _names_of_root(module):
    """The names with underscores that `tensorflow` has."""
    return () if module.__name__ not in (
        ROOT, "%s.%s" % (ROOT, _second_api.ROOT),
        ROOT + ".python.framework.versions") else (
        "__version__", "__git_version__", "__compiler_version__",
        "__cxx11_abi_flag__", "__monolithic_build__")


def _space(path):
    name = "headrace." + path if path else "headrace"
    return sys.modules.get(name) or importlib.import_module(name)


def _find(path, name):
    """The value of `name` in the module at `path`."""
    if path in ("", "compat.v1", "compat.v2",
                "python") and name in inner_modules.ROOT:
        home, original = inner_modules.ROOT[name]
        return getattr(_names.load(home), original)
    entry = _entries(path).get(name)
    if entry is not None:
        kind, home, original = entry
        if kind == "inner":
            return getattr(_names.load(home), original)
        if home in _spaces() or home == "":
            return getattr(_space(home), original)
    if path in inner_modules.SAME:
        return _find(inner_modules.SAME[path], name)
    if path in _spaces():
        return getattr(_space(path), name)
    if path == "python":
        return getattr(_space(""), name)
    estimator = inner_modules.OF_ESTIMATOR.get(path)
    if path.startswith("python.estimator"):  # TensorFlow's too are a package's
        estimator = "tensorflow_estimator." + path
    if estimator is not None:
        return getattr(_loading.load("_packages").load(estimator), name)
    if path.startswith("python.keras") and path[7:] in _spaces():
        return getattr(_space(path[7:]), name)
    if _GENERATED_OPS.match(path) and name == "_op_def_lib":
        return _names.load("compat.op_library").all_ops
    if _GENERATED_OPS.match(path) or path in inner_modules.WITH_OPS:
        return _op(name)
    if _MESSAGES.match(path):
        return _message(path, name)
    raise _Missing


def _home(path, name):
    """The module of _src that a name of tensorflow.python.* comes from, and
    its name there; None for others."""
    entry = _entries(path).get(name) if path.startswith("python.") else None
    if entry is None:
        return None
    kind, home, original = entry
    if kind == "tf":
        table = _names.table(home) if home in _api.NAMES else {}
        home, original = table.get(original, (None, None))
    if home in (None, "_headrace", "raw_ops"):
        return None
    return _names.load(home), original


def _op(name):
    """The function of an op by its name in gen_*_ops."""
    hints = _loading.load("_hints")
    ops = _ops(hints.snake_case)
    if name.startswith("_"):
        name = name[1:]  # as old versions called ops with wrappers
    op = ops.get(name) or (name if name in ops.values() else None)
    if op is None:
        raise _Missing
    return _with_new_names(getattr(raw_ops, op))


@functools.cache
def _with_new_names(function):
    """The function of an op, whose inputs TensorFlow may call otherwise than
    the op does."""
    renamed = dict(pair.split("=") for pair in inner_modules.INPUTS.get(
        function.op_type, "").split())
    if not renamed:
        return function

    @functools.wraps(function, assigned=("__doc__",))
    def of_op(*args, **kwargs):
        return function(*args, **{renamed.get(k, k): v
                                  for k, v in kwargs.items()})
    of_op.__name__ = of_op.__qualname__ = function.op_type
    of_op.op_type = function.op_type
    return of_op


@functools.cache
def _ops(snake_case):
    return {snake_case(op): op for op in dir(raw_ops)}


def _message(path, name):
    messages = _names.load("framework.messages")
    value = getattr(messages, name, None)
    if isinstance(value, type) and not name.startswith("_"):
        return value
    try:
        return _names.load("compat.constants").message_constant(
            _MESSAGES.match(path).group("module"), name)
    except KeyError:
        raise _Missing from None


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        module = _Module(spec.name, "TensorFlow's %s, as Headrace has it."
                         % spec.name)
        module.__file__ = _space("").__file__
        return module

    def exec_module(self, module):
        # The same object by all its names: tensorflow.compat.v1 is tensorflow.
        path = _plain(module.__name__)
        first = ".".join([ROOT, path]) if path else ROOT
        if path == "compat.v1":
            first = ROOT
        if first != module.__name__:
            sys.modules[module.__name__] = importlib.import_module(first)
        elif path == _TEST_OPS:  # GraphDefs name its ops, so they are there now
            vars(module).update(_names.load("compat.test_ops").names())


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `tensorflow` and all in it. What TensorFlow has and Headrace has
    not is an ImportError that says so, wherever another TensorFlow may be."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != ROOT and not fullname.startswith(ROOT + "."):
            return None
        if _is_known(_plain(fullname)):
            return importlib.machinery.ModuleSpec(fullname, _Loader(),
                                                  is_package=True)
        space, _, name = fullname.rpartition(".")
        if hasattr(sys.modules.get(space), name):
            # As pydoc.locate asks first, for any name.
            raise ModuleNotFoundError("No module named %r: it is a name in %s"
                                      % (fullname, space), name=fullname)
        if not _of_tensorflow(_plain(fullname)) and _is_namespace(
                _plain(space)):
            raise ModuleNotFoundError(_refusal(fullname), name=fullname)
        # Its `name` is left out, or `from a import b` would say less.
        raise ModuleNotFoundError(_refusal(fullname))


def _refusal(fullname):
    space, _, name = fullname.rpartition(".")
    path = _plain(fullname)
    if _of_tensorflow(path):
        # As the AttributeError says it, with what to use in its place.
        above, _, last = path.rpartition(".")
        text = _loading.load("_hints").message(above, last)
        return re.sub(r"^tf\.", ROOT + ".", text)
    if path.startswith("contrib.") and _of_tensorflow(
            ".".join(path.split(".")[:2])):
        return "%s is not supported" % fullname
    known = sys.modules.get(space)
    if isinstance(known, _Module) and not _is_namespace(_plain(space)):
        return "cannot import name %r from %r: it is not supported" % (name,
                                                                      space)
    return "No module named %r in Headrace" % fullname


def _is_namespace(path):
    return path in _spaces() and path not in tensorflow_modules.NAMES


_finder = _Finder()


def install(removed_names=True):
    """Makes `import tensorflow` import Headrace, with the interface of 1.15:
    `tensorflow`, `tensorflow.compat.v1` and `v2`, and of `tensorflow.python.*`,
    `tensorflow.contrib.*` and `tensorflow.core.*` what is there. It does so even
    where TensorFlow is installed, and for the whole process. Further calls do
    nothing.

    `removed_names`: names that newer Pythons and NumPys have no more and that
    programs of 1.x use (np.int, np.product, collections.Mapping, time.clock,
    inspect.getargspec and the like) are there again; ndarray.tostring and other
    methods of built-in classes cannot be.

    Raises:
      ImportError: `tensorflow` was imported before; two of them in one program
        would share no graph.
    """
    if removed_names:
        _names.load("compat.removed_names").restore()
    if _finder in sys.meta_path:
        return
    other = sys.modules.get(ROOT)
    if other is not None and not isinstance(other, _Module):
        raise ImportError(
            "tensorflow was imported before from %s: call "
            "headrace.compat.install() before the first import of tensorflow"
            % getattr(other, "__file__", None))
    sys.meta_path.insert(0, _finder)
    protobuf_text.install()
