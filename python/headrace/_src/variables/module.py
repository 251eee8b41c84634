"""tf.Module: an object that has variables, and objects that have variables."""
import functools
import re

from headrace._src.framework.graph import name_scope
from headrace._src.framework.tensor_shape import TensorShape
from headrace._src.variables.base import Variable
from headrace._src.variables.tracking import (
    Setting, saved_attributes, tell, with_told)


def _snake_case(name):
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1",
                  name).lower()


class Module(Setting):
    """Keeps variables and other modules as attributes, and finds them there, in
    lists, tuples and dicts too. `name`: a Python identifier, by default the
    class's name in snake case. ValueError for another."""

    # Attributes in which variables and modules are not looked for.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset = frozenset()

    def __init__(self, name=None):
        if name is None:
            name = _snake_case(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(
                "%r is not a valid module name. Module names must be valid "
                "Python identifiers (e.g. a valid class name)." % name)
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    def __setattr__(self, name, value):
        """As that of all objects; what a property without a setter has already
        may be set again."""
        try:
            super().__setattr__(name, value)
        except AttributeError:
            if not _is_same(getattr(self, name), value):
                raise

    @property
    def name(self):
        """The name that the constructor was given, or the default."""
        return self._name

    @property
    def name_scope(self):
        """A scope for the nodes of the module, to be entered by `with`."""
        return name_scope(self._scope_name)

    @property
    def variables(self):
        """The variables of the module and those inside, once each: a tuple, in
        the order of the names of attributes."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self):
        """Those of `variables` that are trainable."""
        return tuple(self._flatten(predicate=_is_trainable))

    @property
    def submodules(self):
        """The modules inside of this one, and inside of those: a tuple."""
        return tuple(self._flatten(predicate=_is_module))

    def _no_dependency(self, value):
        """The value: what checkpoints do not follow, as derived classes say
        it."""
        return value

    def _checkpoint_children(self):
        """[(name, value)] of what tf.train.Checkpoint follows: the attributes,
        in the order in which they were set."""
        return with_told(self, [
            (name, value) for name, value in saved_attributes(self)
            if name not in ("_name", "_scope_name")])

    def _track_trackable(self, trackable, name, overwrite=False):
        """`trackable`, which checkpoints save under `name` from now on."""
        return tell(self, trackable, name, overwrite)

    def _flatten(self, recursive=True, predicate=None,
                 attribute_traversal_key=None, with_path=False):
        """What the attributes of this module, and if `recursive` of those
        inside, have that satisfies `predicate`, once each; with_path: pairs of
        (path, value). `attribute_traversal_key` orders the attributes."""
        return _found(self, recursive, predicate or (lambda _: True),
                      attribute_traversal_key, with_path, (), {id(self)})

    @classmethod
    def with_name_scope(cls, method):
        """A decorator of methods: the nodes that they add are in name_scope."""
        @functools.wraps(method)
        def in_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        return in_scope


def _is_same(a, b):
    # A tensor makes its shape anew each time.
    return a is b or isinstance(a, TensorShape) and isinstance(
        b, TensorShape) and str(a) == str(b)


def _found(module, recursive, predicate, key, with_path, path, seen):
    inner = []
    attributes = vars(module)
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for below, value in _leaves(attributes[name]):
            below = path + (name,) + below
            if not with_path:
                if id(value) in seen:
                    continue
                seen.add(id(value))
            if predicate(value):
                yield (below, value) if with_path else value
            if recursive and _is_module(value):
                inner.append((below, value))
    for below, value in inner:
        yield from _found(value, recursive, predicate, key, with_path, below,
                          seen)


def _leaves(value, path=()):
    """[(path, value)] of what lists, tuples and dicts hold."""
    if isinstance(value, dict):
        items = [(key, value[key]) for key in sorted(value)]
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", None) or range(len(value))
        items = zip(names, value)
    else:
        yield path, value
        return
    for key, part in items:
        yield from _leaves(part, path + (key,))


def _is_variable(value):
    return isinstance(value, Variable)


def _is_trainable(value):
    return isinstance(value, Variable) and value.trainable


def _is_module(value):
    return isinstance(value, Module)
