"""The namespaces of tf: modules whose names are found when they are asked for.

TensorFlow has thousands of names and programs use a few dozen. A module of
`_src` is loaded when the first of its names is needed.
"""
import functools
from importlib import machinery
import os
import sys
import types

from headrace import _loading, raw_ops
from headrace._api import NAMES


@functools.cache
def table(space):
    """{name: (module, its name there)} of the namespace `space`."""
    if space in NAMES:
        return _entries(NAMES[space])
    second = _loading.load("_second_api")
    return second.table(
        space, lambda first: table(first) if first in NAMES else None, _entries)


def _entries(homes):
    """{name: (module, its name there)} of {module: names}."""
    found = {}
    for home, names in homes.items():
        for entry in names.split():
            name, _, original = entry.partition("=")
            if home == "raw_ops" and not original:
                original = "".join(
                    part[:1].upper() + part[1:] for part in name.split("_"))
            found[name] = home, original or name
    return found


def load(home):
    """The module that NAMES calls `home`."""
    if home == "raw_ops":
        return raw_ops
    if home != "_headrace":
        home = "_src." + home
    return _loading.load(home)


def fill(module, space):
    """Gives `module` the names of the namespace `space`. Any thread may ask for
    one: a name is the same object for all."""
    namespace = vars(module)

    def names():
        own = {n for n in namespace if not n.startswith("_")}
        if space == "compat":
            own.add("v2")
        packages = _loading.load("_packages")
        if packages.homes(space) and packages.is_installed():
            own.update(packages.homes(space))
        return sorted(own.union(table(space)))

    def find(name):
        if name == "__all__":
            return names()
        if name in table(space):
            home, original = table(space)[name]
            return namespace.setdefault(name, getattr(load(home), original))
        if name.startswith("_"):
            raise AttributeError("module %r has no attribute %r"
                                 % (module.__name__, name))
        if (space, name) == ("compat", "v2"):  # most programs do without
            return _loading.load("compat.v2")
        packages = _loading.load("_packages")
        if name in packages.homes(space) and packages.is_installed():
            return namespace.setdefault(name, packages.find(space, name))
        hints = _loading.load("_hints")  # for those who ask for such names
        raise AttributeError(hints.message(space, name))

    module.__getattr__ = find
    module.__dir__ = lambda: sorted({*names(), *(
        n for n in namespace if n.startswith("__"))})


def install(tf):
    """Makes `tf` and all its namespaces."""
    modules = {"": tf}
    _fill_all(NAMES, modules)
    modules["keras"].__version__ = "2.2.4-tf"  # of TensorFlow 1.15
    compat = modules["compat"]
    compat.v1 = sys.modules["headrace.compat.v1"] = tf
    # `python -m headrace.compat` runs compat/__main__.py.
    compat.__path__ = [os.path.join(tf.__path__[0], "compat")]
    compat.__spec__ = machinery.ModuleSpec("headrace.compat", None,
                                           is_package=True)
    compat.__spec__.submodule_search_locations[:] = compat.__path__


def _fill_all(spaces, modules):
    """Makes the modules of `spaces` that `modules` lacks; {space: module}."""
    for space in sorted(spaces):  # parents before children
        if space not in modules:
            modules[space] = module = types.ModuleType(
                "headrace." + space, "tf.%s: see the functions." % space)
            sys.modules[module.__name__] = module
            parent, _, name = space.rpartition(".")
            setattr(modules[parent], name, module)
        fill(modules[space], space)


def install_second(v2):
    """Makes `v2` tf.compat.v2, with all its namespaces."""
    tf = sys.modules["headrace"]
    second = _loading.load("_second_api")
    modules = {second.ROOT: v2}
    v2.__path__ = []
    _fill_all(second.spaces(), modules)
    v2.__version__ = tf.__version__
    v2.raw_ops = sys.modules[v2.__name__ + ".raw_ops"] = raw_ops
    compat = modules[second.full("compat")]
    compat.v1 = sys.modules[compat.__name__ + ".v1"] = tf
