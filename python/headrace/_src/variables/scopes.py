"""get_variable and variable_scope: variables shared by name."""
import contextlib
import functools
import threading

from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, get_default_graph, graph_of, name_scope)
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.variables.records import (
    VariableAggregation, VariableSynchronization)
from headrace._src.variables.store import VariableStore


class _ReuseMode:
    """AUTO_REUSE: a variable is shared if it exists, else made."""

    def __repr__(self):
        return "AUTO_REUSE"

    def __bool__(self):
        return True


AUTO_REUSE = _ReuseMode()


class VariableScope:
    """What get_variable does inside a `with variable_scope(...)`: the prefix
    of names, whether variables are shared, and defaults of its arguments."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None,
                 name_scope="", dtype=dtypes.float32, use_resource=None,
                 constraint=None):
        self._name = name
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)

    def reuse_variables(self):
        """From here on get_variable finds variables and makes none."""
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def set_dtype(self, dtype):
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        self._use_resource = use_resource

    def set_caching_device(self, caching_device):
        self._caching_device = caching_device

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def set_partitioner(self, partitioner):
        self._partitioner = partitioner

    def get_collection(self, name):
        scope = self._name + "/" if self._name else ""
        return get_default_graph().get_collection(name, scope)

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def _copy(self, reuse, name, name_scope, constraint):
        return VariableScope(
            reuse, name=name, initializer=self._initializer,
            regularizer=self._regularizer, caching_device=self._caching_device,
            partitioner=self._partitioner, custom_getter=self._custom_getter,
            name_scope=name_scope, dtype=self._dtype,
            use_resource=self._use_resource, constraint=constraint)

    def get_variable(self, var_store, name, shape=None, dtype=None,
                     initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None,
                     partitioner=None, validate_shape=True, use_resource=None,
                     custom_getter=None, constraint=None,
                     synchronization=VariableSynchronization.AUTO,
                     aggregation=VariableAggregation.NONE):
        """The variable "scope/name" of `var_store`, with this scope's defaults
        for what is None."""
        if dtype is not None and initializer is not None and (
                not callable(initializer)):
            given = convert_to_tensor(initializer).dtype.base_dtype
            if given != dtype:
                raise ValueError(
                    "Initializer type '%s' and explicit dtype '%s' don't "
                    "match." % (given, dtype))
        with name_scope(None, default_name=""):
            return var_store.get_variable(
                self._name + "/" + name if self._name else name,
                shape=shape, trainable=trainable, collections=collections,
                validate_shape=validate_shape, synchronization=synchronization,
                aggregation=aggregation,
                dtype=_or(dtype, self._dtype),
                initializer=_or(initializer, self._initializer),
                regularizer=_or(regularizer, self._regularizer),
                reuse=_or(reuse, self._reuse),
                caching_device=_or(caching_device, self._caching_device),
                partitioner=_or(partitioner, self._partitioner),
                use_resource=_or(use_resource, self._use_resource),
                custom_getter=_or(custom_getter, self._custom_getter),
                constraint=_or(constraint, self._constraint))

    def _get_partitioned(self, name, dtype, initializer, partitioner,
                         **arguments):
        """A PartitionedVariable named after the scope, and `name` if any."""
        if self._custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed "
                "when a custom getter is set.  Current custom getter: %s.  It "
                "is likely that you're using create_partitioned_variables.  If "
                "so, consider instead using get_variable with a non-empty "
                "partitioner parameter instead." % self._custom_getter)
        with name_scope(None, default_name=""):
            return _store().get_partitioned(
                "/".join(n for n in (self._name, name) if n),
                dtype=dtypes.as_dtype(_or(dtype, self._dtype)),
                initializer=_or(initializer, self._initializer),
                partitioner=partitioner, reuse=self._reuse,
                regularizer=self._regularizer,
                caching_device=self._caching_device,
                use_resource=self._use_resource, constraint=self._constraint,
                **arguments)


def _or(value, default):
    return default if value is None else value


class _ScopeState(threading.local):
    """The scope that a thread is in, and how often it opened each name."""

    def __init__(self):
        self.current = VariableScope(False)
        self.opened = {}

    def open(self, name):
        self.opened[name] = self.opened.get(name, 0) + 1

    def forget_inside(self, name):
        """Default names inside of the scope start again."""
        for key in self.opened:
            if key.startswith(name + "/"):
                self.opened[key] = 0


class _Store(VariableStore):
    """With the scopes that say how variables are named."""

    def __init__(self):
        super().__init__()
        self.scopes = _ScopeState()

    current = property(lambda self: self.scopes.current)


def _store(graph=None):
    graph = graph or get_default_graph()
    while graph._captures:  # a function's variables are of the graph around
        graph = graph._outer
    if graph._variable_scopes is None:
        graph._variable_scopes = _Store()
    return graph._variable_scopes


@contextlib.contextmanager
def with_store(graph, store):
    """Inside, get_variable of this graph uses a store of new_store()."""
    outer = _store(graph)
    store.scopes = outer.scopes
    graph._variable_scopes = store
    try:
        yield
    finally:
        graph._variable_scopes = outer


def new_store():
    """A store for with_store()."""
    return _Store()


def get_variable_scope():
    """The innermost variable scope of the default graph.

    It has no arguments and raises nothing. The VariableScope's dtype (float32
    unless set), initializer and so on are for variables of any shape."""
    return _store().current


def get_variable(name, shape=None, dtype=None, initializer=None,
                 regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True,
                 use_resource=None, custom_getter=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO,
                 aggregation=VariableAggregation.NONE):
    """The variable "scope/name": a new one, or under reuse the one that is
    there.

    `initializer`: an object of tf.initializers (glorot_uniform by default), a
    function of (shape, dtype), or a value, which then tells the shape.
    `partitioner`: a function of (shape, dtype) that says into how many slices
    to cut each axis; then a PartitionedVariable comes back.
    ValueError if the variable exists and reuse is off, does not exist and reuse
    is on, or has another shape or dtype.

    `shape`: integers, all known. `dtype`: the scope's or float32 by default.
    ValueError for an initializer of another kind, too."""
    arguments = dict(
        shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections,
        caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource,
        custom_getter=custom_getter, constraint=constraint,
        synchronization=synchronization, aggregation=aggregation)
    graph = get_default_graph()
    if graph._captures:
        # Variables outlive the call: they are those of the graph around.
        with graph._outer.as_default():
            return get_variable(name, **arguments)
    return get_variable_scope().get_variable(_store(), name, **arguments)


def get_local_variable(name, shape=None, dtype=None, initializer=None,
                       regularizer=None, trainable=False, collections=None,
                       caching_device=None, partitioner=None,
                       validate_shape=True, use_resource=None,
                       custom_getter=None, constraint=None,
                       synchronization=VariableSynchronization.AUTO,
                       aggregation=VariableAggregation.NONE):
    """get_variable in the collection LOCAL_VARIABLES, not trainable."""
    return get_variable(
        name, shape, dtype, initializer, regularizer, False,
        list(collections or []) + [GraphKeys.LOCAL_VARIABLES], caching_device,
        partitioner, validate_shape, use_resource, custom_getter, constraint,
        synchronization, aggregation)


class pure_variable_scope:
    """A variable_scope that leaves the names of nodes alone."""

    def __init__(self, name_or_scope, reuse=None, initializer=None,
                 regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, old_name_scope=None, dtype=None,
                 use_resource=None, constraint=None):
        self._target = name_or_scope
        self._reuse = reuse
        self._original = old_name_scope
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._defaults = dict(
            initializer=initializer, regularizer=regularizer,
            caching_device=caching_device, partitioner=partitioner,
            dtype=dtype, use_resource=use_resource)

    def __enter__(self):
        self._state = state = _store().scopes
        self._outer = state.current
        target = self._target
        if isinstance(target, VariableScope):
            base, name = target, target.name
            original = target.original_name_scope
            state.open(name)
            self._counts = dict(state.opened)
        else:
            base = self._outer
            name = base.name + "/" + target if base.name else target
            original = target if self._original is None else self._original
            state.open(name)
            self._counts = None
        self._scope = scope = base._copy(self._reuse or base.reuse, name,
                                         original, self._constraint)
        if self._custom_getter is not None:
            scope.set_custom_getter(_around(self._custom_getter,
                                            base.custom_getter))
        for what, value in self._defaults.items():
            if value is not None:
                setattr(scope, "_" + what, value)
        state.current = scope
        return scope

    def check_nesting(self):
        """RuntimeError if a scope inside of this one is still open."""
        if self._state.current is not self._scope:
            raise RuntimeError("Improper nesting of variable_scope.")

    def __exit__(self, *error):
        state = self._state
        self.check_nesting()
        if self._counts is not None:
            state.opened = self._counts
        else:
            state.forget_inside(self._scope.name)
        state.current = self._outer


def _around(custom, inner):
    """A custom getter whose `getter` is the custom getter of the scope
    around."""
    if inner is None:
        return custom

    def getter_of_both(getter, *args, **kwargs):
        return custom(functools.partial(inner, getter), *args, **kwargs)
    return getter_of_both


class variable_scope:
    """`with variable_scope("a") as scope`: get_variable prefixes names with
    "a/", and so do nodes.

    `name_or_scope`: a name, a VariableScope to enter again, or None for
    `default_name` made unique. `reuse`: True to share existing variables,
    AUTO_REUSE to make those that are missing, None to inherit. The other
    arguments are defaults for get_variable inside.

    `initializer`, `regularizer`, `partitioner`, `dtype` (tf.float32 unless
    given) and `constraint` are for variables of any shape. TypeError without a
    name and a default name, and for a name that is neither a string nor a
    VariableScope; ValueError for another `reuse`."""

    def __init__(self, name_or_scope, default_name=None, values=None,
                 initializer=None, regularizer=None, caching_device=None,
                 partitioner=None, custom_getter=None, reuse=None, dtype=None,
                 use_resource=None, constraint=None, auxiliary_name_scope=True):
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is "
                            "required")
        if not (reuse in (None, True, False) or reuse is AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or "
                             "None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError("The auxiliary_name_scope must be `True` or "
                            "`False`, while get %s" % (auxiliary_name_scope,))
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values
        self._reuse = reuse or None
        self._auxiliary = auxiliary_name_scope
        self._defaults = dict(
            initializer=initializer, regularizer=regularizer,
            caching_device=caching_device, partitioner=partitioner,
            custom_getter=custom_getter, dtype=dtype,
            use_resource=use_resource, constraint=constraint)
        self._entered = []

    def __enter__(self):
        target = self._name_or_scope
        if target is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a "
                                 "name_or_scope")
        elif not isinstance(target, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or "
                            "VariableScope.")
        with contextlib.ExitStack() as stack:
            graph = graph_of(self._values)
            stack.enter_context(graph.as_default())
            if target is None:
                part = self._default_name
            elif isinstance(target, str):
                part = target
            else:
                part = target.name.rpartition("/")[2]
            opened = None
            if not self._auxiliary:
                around = graph.get_name_scope()
                opened = stack.enter_context(graph.name_scope(
                    around + "/" if around else ""))
            elif part:
                opened = stack.enter_context(graph.name_scope(part))
            names = pure_variable_scope(
                unique_variable_scope(part) if target is None else target,
                reuse=self._reuse, old_name_scope=opened,
                **self._defaults)
            scope = stack.enter_context(names)
            self._entered.append((names, stack.pop_all()))
        return scope

    def __exit__(self, *error):
        names, stack = self._entered[-1]
        names.check_nesting()
        self._entered.pop()
        stack.__exit__(*error)


def unique_variable_scope(prefix):
    """`prefix`, with a number if this scope has opened that name already."""
    state = _store().scopes
    outer = state.current.name
    full = outer + "/" + prefix if outer else prefix
    if not state.opened.get(full):
        return prefix
    i = 1
    while state.opened.get("%s_%d" % (full, i)):
        i += 1
    return "%s_%d" % (prefix, i)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None,
                      initializer=None, regularizer=None, caching_device=None,
                      partitioner=None, custom_getter=None, reuse=None,
                      dtype=None, use_resource=None, constraint=None):
    """variable_scope with the values first."""
    with variable_scope(
            name_or_scope, default_name, values, initializer, regularizer,
            caching_device, partitioner, custom_getter, reuse, dtype,
            use_resource, constraint) as scope:
        yield scope


def no_regularizer(_):
    """A regularizer that adds nothing."""
    return None
