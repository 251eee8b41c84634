"""get_variable and variable_scope: variables shared by name."""
import contextlib

from headrace import dtypes
from headrace import initializers as _init
from headrace.graph import (GraphKeys, get_default_graph, graph_of,
                            name_scope)
from headrace.tensor_shape import TensorShape
from headrace.variables import RefVariable, ResourceVariable
from headrace import variables as _variables


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

    def _copy(self, **changes):
        values = dict(
            reuse=self._reuse, name=self._name, initializer=self._initializer,
            regularizer=self._regularizer, caching_device=self._caching_device,
            partitioner=self._partitioner, custom_getter=self._custom_getter,
            name_scope=self._name_scope, dtype=self._dtype,
            use_resource=self._use_resource, constraint=self._constraint)
        values.update(changes)
        return VariableScope(**values)

    def get_variable(self, name, shape=None, dtype=None, initializer=None,
                     regularizer=None, reuse=None, trainable=None,
                     collections=None, caching_device=None, partitioner=None,
                     validate_shape=True, use_resource=None,
                     custom_getter=None, constraint=None, **unused):
        arguments = dict(
            shape=shape, dtype=dtype, initializer=initializer,
            regularizer=self._regularizer if regularizer is None
            else regularizer,
            reuse=self._reuse if reuse is None or (
                self._reuse and not reuse) else reuse,
            trainable=trainable, collections=collections,
            caching_device=caching_device,
            partitioner=self._partitioner if partitioner is None
            else partitioner, validate_shape=validate_shape,
            use_resource=self._use_resource if use_resource is None
            else use_resource,
            constraint=self._constraint if constraint is None else constraint)
        if initializer is None:
            arguments["initializer"] = self._initializer
        if dtype is None:
            arguments["dtype"] = self._dtype
        full = self._name + "/" + name if self._name else name
        store = _store()
        getter = store.get
        for custom in (self._custom_getter, custom_getter):
            if custom is not None:
                getter = _bind(custom, getter)
        with name_scope(None, default_name=""):
            return getter(full, **arguments)


def _bind(custom, getter):
    def bound(name, **kwargs):
        return custom(getter, name, **kwargs)
    return bound


class _Store:
    """The variables of a graph that get_variable made, by name; and how often
    each scope's name was opened."""

    def __init__(self):
        self.variables = {}
        self.opened = {}
        self.current = VariableScope(False)

    def get(self, name, shape=None, dtype=dtypes.float32, initializer=None,
            regularizer=None, reuse=None, trainable=None, collections=None,
            caching_device=None, partitioner=None, validate_shape=True,
            use_resource=None, constraint=None):
        if partitioner is not None:
            raise NotImplementedError(
                "get_variable: partitioned variables are not supported yet")
        given = initializer is not None and not callable(initializer)
        if shape is not None:
            shape = TensorShape(shape)
        dtype = dtypes.as_dtype(dtype).base_dtype
        found = self.variables.get(name)
        if found is not None:
            if reuse is False or reuse is None:
                raise ValueError(
                    "Variable %s already exists, disallowed. Did you mean to "
                    "set reuse=True or reuse=tf.AUTO_REUSE in VarScope? It was "
                    "made at %s" % (name, found.op.source))
            if shape is not None and not shape.is_compatible_with(
                    found.get_shape()):
                raise ValueError(
                    "Trying to share variable %s, but specified shape %s and "
                    "found shape %s." % (name, shape, found.get_shape()))
            if not given and dtype != found.dtype.base_dtype:
                raise ValueError(
                    "Trying to share variable %s, but specified dtype %s and "
                    "found dtype %s." % (name, dtype.name,
                                         found.dtype.base_dtype.name))
            return found
        if reuse is True:
            raise ValueError(
                "Variable %s does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in "
                "VarScope?" % name)
        if given and shape is not None:
            raise ValueError("If initializer is a constant, do not specify "
                             "shape.")
        if not given and (shape is None or not shape.is_fully_defined()):
            if shape is None or validate_shape:
                raise ValueError(
                    "Shape of a new variable (%s) must be fully defined, but "
                    "instead was %s." % (name, shape or "<unknown>"))
        if initializer is None:
            if dtype.is_floating:
                initializer = _init.GlorotUniform()
            elif dtype.is_integer or dtype.is_bool or dtype.is_complex:
                initializer = _init.Zeros()
            else:
                raise ValueError("An initializer for variable %s of %s is "
                                 "required" % (name, dtype))
        if given:
            initial = initializer
            kind = None
        else:
            if isinstance(initializer, type):
                initializer = initializer()
            kind = dtype

            def initial():
                return initializer(shape.as_list(), dtype=dtype)
        cls = _kind(use_resource)
        variable = cls(
            initial_value=initial, trainable=trainable,
            collections=collections, caching_device=caching_device, name=name,
            dtype=kind, validate_shape=validate_shape, constraint=constraint)
        self.variables[name] = variable
        if regularizer is not None:
            with name_scope(name + "/Regularizer/"):
                loss = regularizer(variable)
            if loss is not None:
                get_default_graph().add_to_collection(
                    GraphKeys.REGULARIZATION_LOSSES, loss)
        return variable


def _kind(use_resource):
    if use_resource is None:
        use_resource = _variables.resource_variables_enabled()
    return ResourceVariable if use_resource else RefVariable


def _store(graph=None):
    graph = graph or get_default_graph()
    if graph._variable_scopes is None:
        graph._variable_scopes = _Store()
    return graph._variable_scopes


def get_variable_scope():
    """The innermost variable scope of the default graph."""
    return _store().current


def get_variable(name, shape=None, dtype=None, initializer=None,
                 regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True,
                 use_resource=None, custom_getter=None, constraint=None,
                 synchronization=None, aggregation=None):
    """The variable "scope/name": a new one, or under reuse the one that is
    there.

    `initializer`: an object of tf.initializers (glorot_uniform by default), a
    function of (shape, dtype), or a value, which then tells the shape.
    ValueError if the variable exists and reuse is off, does not exist and reuse
    is on, or has another shape or dtype."""
    graph = get_default_graph()
    if graph._captures:
        # Variables outlive the call: they are those of the graph around.
        with graph._outer.as_default():
            return get_variable(
                name, shape, dtype, initializer, regularizer, trainable,
                collections, caching_device, partitioner, validate_shape,
                use_resource, custom_getter, constraint)
    return get_variable_scope().get_variable(
        name, shape=shape, dtype=dtype, initializer=initializer,
        regularizer=regularizer, trainable=trainable, collections=collections,
        caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource,
        custom_getter=custom_getter, constraint=constraint)


def get_local_variable(name, *args, **kwargs):
    """get_variable in the collection LOCAL_VARIABLES, not trainable."""
    collections = kwargs.pop("collections", None) or []
    kwargs["collections"] = list(collections) + [GraphKeys.LOCAL_VARIABLES]
    kwargs["trainable"] = False
    return get_variable(name, *args, **kwargs)


class variable_scope:
    """`with variable_scope("a") as scope`: get_variable prefixes names with
    "a/", and so do nodes.

    `name_or_scope`: a name, a VariableScope to enter again, or None for
    `default_name` made unique. `reuse`: True to share existing variables,
    AUTO_REUSE to make those that are missing, None to inherit. The other
    arguments are defaults for get_variable inside."""

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
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = values
        self._reuse = reuse
        self._auxiliary = auxiliary_name_scope
        self._changes = {k: v for k, v in dict(
            initializer=initializer, regularizer=regularizer,
            caching_device=caching_device, partitioner=partitioner,
            dtype=dtype, use_resource=use_resource,
            constraint=constraint).items() if v is not None}
        self._custom_getter = custom_getter

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        graph = graph_of(self._values)
        self._stack.enter_context(graph.as_default())
        store = self._graph_store = _store(graph)
        self._outer = outer = store.current
        target = self._name_or_scope
        reuse = self._reuse
        if isinstance(target, VariableScope):
            base = target
            name = target.name
            scope_name = name.rpartition("/")[2]
            reuse = target.reuse if reuse is None else reuse
        else:
            base = outer
            if target is None:
                if reuse:
                    raise ValueError("reuse=True cannot be used without a "
                                     "name_or_scope")
                target = self._unique(store, outer, self._default_name)
            scope_name = target
            name = outer.name + "/" + target if outer.name else target
            reuse = (reuse or outer.reuse) if reuse is not False else (
                outer.reuse)
        opened = ""
        if self._auxiliary and scope_name:
            if self._name_or_scope is None:
                opened = self._stack.enter_context(
                    graph.name_scope(self._default_name))
            else:
                opened = self._stack.enter_context(
                    graph.name_scope(scope_name))
        elif isinstance(base, VariableScope):
            opened = graph.get_name_scope() + "/"
        original = (base.original_name_scope
                    if isinstance(self._name_or_scope, VariableScope)
                    else opened)
        new = base._copy(name=name, reuse=reuse, name_scope=original,
                         **self._changes)
        if self._custom_getter is not None:
            inner, custom = base.custom_getter, self._custom_getter
            new._custom_getter = custom if inner is None else (
                lambda getter, *a, **k: custom(_bind(inner, getter), *a, **k))
        # A scope's name counts as opened, for default names; what its inner
        # scopes counted starts again when it is opened anew.
        store.opened[name] = store.opened.get(name, 0) + 1
        self._counts = dict(store.opened)
        for key in list(store.opened):
            if key.startswith(name + "/"):
                del store.opened[key]
        store.current = new
        return new

    @staticmethod
    def _unique(store, outer, prefix):
        full = outer.name + "/" + prefix if outer.name else prefix
        if not store.opened.get(full):
            return prefix
        i = 1
        while store.opened.get("%s_%d" % (full, i)):
            i += 1
        return "%s_%d" % (prefix, i)

    def __exit__(self, *error):
        self._graph_store.current = self._outer
        self._graph_store.opened = self._counts
        self._stack.__exit__(*error)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    with variable_scope(name_or_scope, default_name, values, **kwargs) as s:
        yield s


def no_regularizer(_):
    """A regularizer that adds nothing."""
    return None


def make_template(name_, func_, create_scope_now_=False, **kwargs):
    """`func_` with variables made at its first call and shared by the
    others."""
    state = {}

    def template(*args, **more):
        with variable_scope(state.get("scope", name_ if not state else None),
                            reuse=True if state else None) as scope:
            result = func_(*args, **dict(kwargs, **more))
            state.setdefault("scope", scope)
            return result
    return template
