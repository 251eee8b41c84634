"""Variable: a value that a session keeps between runs.

There are two kinds. RefVariable is TensorFlow 1.x's own, a VariableV2 node whose
output is a reference. ResourceVariable (use_resource=True) is a handle, and is
read and written by nodes of its own. `Variable(...)` makes one or the other; here
is what both have.
"""
import contextlib
import inspect

from headrace._headrace import Tensor
from headrace._loading import load
from headrace._src.framework import messages
from headrace._src.framework.default_session import session_for
from headrace._src.framework.graph import (
    GraphKeys, get_default_graph, init_scope, name_scope)
from headrace._src.framework.indexed_slices import IndexedSlices
from headrace._src.framework.operation import Reference
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.variables.records import (
    SaveSliceInfo, VariableAggregation, VariableSynchronization,
    checked_modes, under_scope, without_scope)


def _arguments(initial_value=None, trainable=None, collections=None,
               validate_shape=True, caching_device=None, name=None,
               variable_def=None, dtype=None, expected_shape=None,
               import_scope=None, constraint=None, use_resource=None,
               synchronization=VariableSynchronization.AUTO,
               aggregation=VariableAggregation.NONE, shape=None):
    """What Variable(...) was called with, by name."""
    return locals()


# Arguments of ResourceVariable after the first six, which are those of Variable.
_OF_RESOURCES = ("dtype", "variable_def", "import_scope", "constraint",
                 "distribute_strategy", "synchronization", "aggregation",
                 "shape")


class _VariableType(type):
    """Variable(...) makes what the creators of the graph's scopes make, by
    default what `make` does, which variables.py sets."""
    make = None

    def __call__(cls, *args, **kwargs):
        if cls is Variable:
            if _VariableType.make is None:
                load("_src.variables.variables")
            make = _VariableType.make
            for creator in get_default_graph()._variable_creators:
                make = _calling(creator, make)
            return make(**_arguments(*args, **kwargs))
        if cls.__name__ == "ResourceVariable":
            kwargs.pop("distribute_strategy", None)
            kwargs.update(zip(_OF_RESOURCES, args[6:]))
            args = args[:6]
        if cls.__name__ == "ResourceVariable" and is_made_eagerly():
            cls = load("_src.eager.variables").EagerVariable
        return type.__call__(cls, *args, **kwargs)


def is_made_eagerly():
    """Whether a variable that is made now has its value at once: also in a
    function that is being traced, if its caller executes eagerly."""
    graph = get_default_graph()
    if graph._eager or not graph.building_function:
        return graph._eager
    with init_scope():
        return get_default_graph()._eager


def _calling(creator, following):
    return lambda **arguments: creator(following, **arguments)


@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """`Variable(...)` inside calls variable_creator(next_creator, **arguments)
    instead, which makes the variable or asks next_creator(**arguments).

    The variables may be of any shape and dtype. What the creator raises goes
    through; TypeError for one that cannot be called so."""
    graph = get_default_graph()
    outer = graph._variable_creators
    graph._variable_creators = inner = outer + [variable_creator]
    try:
        yield
    finally:
        if graph._variable_creators is not inner:
            raise RuntimeError("Exiting variable_creator_scope without proper "
                               "nesting.")
        graph._variable_creators = outer


@contextlib.contextmanager
def like_node(name):
    """As colocate_with, for a node that does not exist yet."""
    graph = get_default_graph()
    graph._push_class(["loc:@" + name])
    try:
        yield
    finally:
        graph._pop_class()


def sparse_parts(sparse_delta):
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError("sparse_delta is not IndexedSlices: %s"
                        % (sparse_delta,))
    return sparse_delta.indices, sparse_delta.values


class Variable(metaclass=_VariableType):
    """A value that a session keeps: `Variable(initial_value)`.

    `initial_value`: what converts to a tensor, or a function that returns it
    (then `dtype` is needed where the value does not tell). `trainable` adds it
    to the collection TRAINABLE_VARIABLES; `collections` are those it joins,
    GLOBAL_VARIABLES by default. `validate_shape` False: values of any shape.
    `caching_device`: readers on other devices share a copy on this one.
    `variable_def`: what to_proto() gave, for a variable that the graph has
    already.

    A variable is used as a tensor of its value. Before its `initializer` (or
    global_variables_initializer) has run, reading it raises
    FailedPreconditionError.

    `dtype` and shape are those of the initial value; with `dtype` it is
    converted. ValueError without an initial value, or for one whose shape is
    not known while `validate_shape` is True; TypeError or ValueError for a
    value that is not of `dtype`."""

    __signature__ = inspect.signature(_arguments)
    SaveSliceInfo = SaveSliceInfo
    _is_resource = False

    def __init__(self, initial_value=None, trainable=None, collections=None,
                 validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, expected_shape=None,
                 import_scope=None, constraint=None, synchronization=None,
                 aggregation=None, shape=None):
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually "
                                 "exclusive.")
            self._restore(variable_def, import_scope)
            return
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, "
                "tuple, or set. Got %s of type %s"
                % (collections, type(collections)))
        if constraint is not None and not callable(constraint):
            raise ValueError("The `constraint` argument must be a callable.")
        self._synchronization, self._aggregation, self._trainable = (
            checked_modes(synchronization, aggregation, trainable, name))
        if self._trainable and (
                GraphKeys.TRAINABLE_VARIABLES not in collections):
            collections = list(collections) + [GraphKeys.TRAINABLE_VARIABLES]
        self._constraint = constraint
        self._save_slice_info = None
        self._initial_value = None
        graph = self._made_in = get_default_graph()
        with init_scope(), name_scope(
                name, "Variable", [] if callable(initial_value) or (
                    graph._captures) else [initial_value]) as scope:
            self._make(initial_value, dtype, scope, validate_shape,
                       caching_device, shape)
        self.__dict__.pop("_made_in", None)
        graph.add_to_collections(collections, self)

    def _restore(self, variable_def, import_scope):
        """Finds the nodes that a VariableDef names."""
        graph = get_default_graph()

        def find(name):
            return graph.as_graph_element(under_scope(name, import_scope))
        self._synchronization, self._aggregation, self._trainable = (
            checked_modes(variable_def.synchronization,
                          variable_def.aggregation, variable_def.trainable,
                          variable_def.variable_name))
        self._constraint = self._save_slice_info = self._initial_value = None
        if variable_def.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=variable_def.save_slice_info_def,
                import_scope=import_scope)
        if variable_def.initial_value_name:
            self._initial_value = find(variable_def.initial_value_name)
        self._guarded_initial_value = self._initial_value
        self._initializer_op = find(variable_def.initializer_name)
        self._find_nodes(variable_def, find)

    # What both kinds have.

    name = property(lambda self: self._node.name)
    op = property(lambda self: self._node.op)
    graph = property(lambda self: self._node.graph)
    device = property(lambda self: self._node.device)
    initializer = property(lambda self: self._initializer_op)
    initial_value = property(lambda self: self._initial_value)
    trainable = property(lambda self: self._trainable)
    constraint = property(lambda self: self._constraint)
    synchronization = property(lambda self: self._synchronization)
    aggregation = property(lambda self: self._aggregation)
    shape = property(lambda self: self.get_shape())

    @property
    def _shared_name(self):
        return self.op.name

    def experimental_ref(self):
        """What stands for the variable in sets and as a key."""
        return Reference(self)

    def eval(self, session=None):
        """The value in `session`, or the default session."""
        return self._as_graph_element().eval(session=session)

    def initialized_value(self):
        """The value, or the initial value where there is none yet."""
        # Most programs do without.
        return load("_src.variables.initial_values").initialized_value(self)

    def _guard(self, initial):
        """`initial` as the initializer takes it: other variables that it reads
        need not be initialised before."""
        self._guarded_initial_value = initial
        if initial.op.inputs:
            # Most programs do without.
            initial_values = load("_src.variables.initial_values")
            self._guarded_initial_value = initial_values.guarded(
                initial, self._node.op.name)
        return self._guarded_initial_value

    def load(self, value, session=None):
        """Gives the variable a value in `session`, or the default session."""
        session_for(session, self.graph).run(
            self.initializer, {self.initializer.inputs[1]: value})

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        self._check_type(dtype)
        return self._node if as_ref else self.value()

    def _set_save_slice_info(self, info):
        self._save_slice_info = info

    def _get_save_slice_info(self):
        return self._save_slice_info

    @staticmethod
    def from_proto(variable_def, import_scope=None):
        """The variable that to_proto() described; its nodes are in the default
        graph, under import_scope."""
        return Variable(variable_def=variable_def, import_scope=import_scope,
                        use_resource=variable_def.is_resource)

    def to_proto(self, export_scope=None):
        """The names of the variable's nodes as a VariableDef; None for one
        outside of export_scope."""
        if export_scope is not None and not self._node.name.startswith(
                export_scope):
            return None
        d = messages.VariableDef(
            variable_name=without_scope(self._node.name, export_scope),
            initializer_name=without_scope(self.initializer.name,
                                           export_scope),
            snapshot_name=without_scope(self._snapshot.name, export_scope),
            is_resource=self._is_resource,
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value)
        if self._initial_value is not None:
            d.initial_value_name = without_scope(self._initial_value.name,
                                                 export_scope)
        info = self._save_slice_info
        info = None if info is None else info.to_proto(export_scope)
        if info is not None:
            d.save_slice_info_def.CopyFrom(info)
        return d

    def sparse_read(self, indices, name=None):
        """Rows of the value; only resource variables have it."""
        raise AttributeError("sparse_read is there for resource variables")

    def gather_nd(self, indices, name=None):
        """Elements of the value; only resource variables have it."""
        raise AttributeError("gather_nd is there for resource variables")

    def __repr__(self):
        return "<tf.Variable '%s' shape=%s dtype=%s>" % (
            self.name, self.get_shape(), self.dtype.name)

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __getitem__(self, key):
        return _array._getitem(self._as_tensor(None, None, False), key,
                               var=self)

    __array_priority__ = 100

    def _convert_initial(self, value, dtype, scope):
        """The initial value as a tensor of a known base type."""
        if callable(value):
            value = value()
        tensor = convert_to_tensor(value, dtype=dtype, name="initial_value")
        if tensor.graph._flow_contexts.get(tensor.op._id) is not None:
            raise ValueError(
                "Initializer for variable %s is from inside a control-flow "
                "construct, such as a loop or conditional. When creating a "
                "variable inside a loop or conditional, use a lambda as the "
                "initializer." % scope)
        return tensor

    def _initial_of_function(self, value, dtype, scope):
        """The same in a scope of its own, on no device of the caller's."""
        with name_scope("Initializer"), get_default_graph().device(None):
            return self._convert_initial(value, dtype, scope)

    def _check_type(self, dtype):
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                "Incompatible type conversion requested to type '%s' for "
                "variable of type '%s'" % (dtype.name, self.dtype.name))


def _install_scatters():
    def rows(op):
        def scatter(self, sparse_delta, use_locking=False, name=None):
            return self._scatter(op, sparse_delta, use_locking, name)
        scatter.__doc__ = ("%s of the rows that the IndexedSlices "
                           "`sparse_delta` has." % op)
        return scatter

    def elements(op):
        def scatter(self, indices, updates, name=None):
            return self._scatter_nd(op, indices, updates, name)
        scatter.__doc__ = ("%s: `updates` at index vectors, in the last "
                           "dimension of `indices`." % op)
        return scatter
    for what in ("add", "sub", "mul", "div", "min", "max", "update"):
        setattr(Variable, "scatter_" + what, rows("Scatter" + what.title()))
    for what in ("add", "sub", "update"):
        setattr(Variable, "scatter_nd_" + what,
                elements("ScatterNd" + what.title()))


def _install_operators():
    def forward(method):
        def operator(self, *args):
            return getattr(self._as_tensor(None, None, False), method)(*args)
        return operator
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
                 "matmul", "and", "or", "xor"):
        for prefix in ("", "r"):
            method = "__%s%s__" % (prefix, name)
            if hasattr(Tensor, method):
                setattr(Variable, method, forward(method))
    for name in ("lt", "le", "gt", "ge", "neg", "abs", "invert"):
        setattr(Variable, "__%s__" % name, forward("__%s__" % name))


_install_scatters()
_install_operators()
