"""Variables: values that a session keeps between runs.

RefVariable is TensorFlow 1.x's own kind, a VariableV2 node whose output is a
reference; ResourceVariable (use_resource=True) holds a handle and is read and
written by nodes of its own. `Variable(...)` makes the one or the other.
"""
from headrace import dtypes
from headrace import raw_ops as _raw
from headrace._headrace import Tensor
from headrace.control_flow_ops import Assert, group
from headrace.default_session import session_for
from headrace.graph import (GraphKeys, colocate_with, control_dependencies,
                            get_default_graph, init_scope, name_scope)
from headrace.math_ops import reduce_all
from headrace.tensor import constant, convert_to_tensor
from headrace.tensor_shape import TensorShape

_use_resource_by_default = False


def enable_resource_variables():
    """Makes `Variable(...)` and get_variable make ResourceVariables."""
    global _use_resource_by_default
    _use_resource_by_default = True


def disable_resource_variables():
    global _use_resource_by_default
    _use_resource_by_default = False


def resource_variables_enabled():
    return _use_resource_by_default


class _VariableType(type):
    """Variable(...) makes a variable of the kind that is asked for."""

    def __call__(cls, *args, **kwargs):
        if cls is Variable:
            use_resource = kwargs.pop("use_resource", None)
            if use_resource is None:
                use_resource = _use_resource_by_default
            cls = ResourceVariable if use_resource else RefVariable
        elif cls is not RefVariable and cls is not ResourceVariable:
            return super().__call__(*args, **kwargs)
        else:
            kwargs.pop("use_resource", None)
        return super(_VariableType, cls).__call__(*args, **kwargs)


class Variable(metaclass=_VariableType):
    """A value that a session keeps: `Variable(initial_value)`.

    `initial_value`: what converts to a tensor, or a function that returns it
    (then `dtype` is needed where the value does not tell). `trainable` adds it
    to the collection TRAINABLE_VARIABLES; `collections` are those it joins,
    GLOBAL_VARIABLES by default. `validate_shape` False: values of any shape.

    A variable is used as a tensor of its value. Before its `initializer` (or
    global_variables_initializer) has run, reading it raises
    FailedPreconditionError."""

    def __init__(self, initial_value=None, trainable=None, collections=None,
                 validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, expected_shape=None,
                 import_scope=None, constraint=None, shape=None,
                 synchronization=None, aggregation=None):
        if variable_def is not None:
            raise NotImplementedError(
                "Variable(variable_def=...) is not supported yet")
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(
                "collections argument to Variable constructor must be a list, "
                "tuple, or set. Got %s of type %s"
                % (collections, type(collections)))
        self._trainable = True if trainable is None else trainable
        if self._trainable and (
                GraphKeys.TRAINABLE_VARIABLES not in collections):
            collections = list(collections) + [GraphKeys.TRAINABLE_VARIABLES]
        self._constraint = constraint
        self._save_slice_info = None
        self._initial_value = None
        graph = get_default_graph()
        with init_scope():
            self._make(initial_value, dtype, name, validate_shape,
                       caching_device)
        graph.add_to_collections(collections, self)

    # What both kinds have.

    name = property(lambda self: self._named.name)
    op = property(lambda self: self._named.op)
    graph = property(lambda self: self._named.graph)
    device = property(lambda self: self._named.device)
    initializer = property(lambda self: self._initializer_op)
    initial_value = property(lambda self: self._initial_value)
    trainable = property(lambda self: self._trainable)
    constraint = property(lambda self: self._constraint)

    @property
    def _shared_name(self):
        return self.op.name

    @property
    def shape(self):
        return TensorShape(self._shape)

    def get_shape(self):
        return TensorShape(self._shape)

    def set_shape(self, shape):
        self._shape = self.shape.merge_with(shape)

    def eval(self, session=None):
        """The value in `session`, or the default session."""
        return self.value().eval(session=session)

    def initialized_value(self):
        """The value, or the initial value where there is none yet."""
        from headrace import initial_values  # most programs do without
        return initial_values.initialized_value(self)

    def _guard(self, initial):
        """`initial` as the initializer takes it: other variables that it reads
        need not be initialised before."""
        self._guarded_initial_value = initial
        if initial.op.inputs:
            from headrace import initial_values
            self._guarded_initial_value = initial_values.guarded(
                initial, self._named.op.name)
        return self._guarded_initial_value

    def load(self, value, session=None):
        """Gives the variable a value in `session`, or the default session."""
        session_for(session, self.graph).run(
            self.initializer, {self.initializer.inputs[1]: value})

    def _set_save_slice_info(self, info):
        self._save_slice_info = info

    def _get_save_slice_info(self):
        return self._save_slice_info

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
        return self._as_tensor(None, None, False)[key]

    __array_priority__ = 100

    def _convert_initial(self, value, dtype, scope):
        """The initial value as a tensor of a known base type."""
        if callable(value):
            value = value()
        tensor = convert_to_tensor(value, dtype=dtype, name="initial_value")
        return tensor


class RefVariable(Variable):
    """A VariableV2 node; its output is a reference that Assign writes."""

    def _make(self, initial_value, dtype, name, validate_shape,
              caching_device):
        from_function = callable(initial_value)
        with name_scope(name, "Variable",
                        [] if from_function else [initial_value]) as scope:
            if from_function:
                # As colocate_with, for a variable that does not exist yet.
                graph = get_default_graph()
                graph._push_class(["loc:@" + scope[:-1]])
                try:
                    with name_scope("Initializer"), graph.device(None):
                        initial = self._convert_initial(initial_value, dtype,
                                                        scope)
                finally:
                    graph._pop_class()
            else:
                initial = self._convert_initial(initial_value, dtype, scope)
            self._initial_value = initial
            shape = initial.get_shape() if validate_shape else None
            if validate_shape and not shape.is_fully_defined() and (
                    shape.ndims is None):
                raise ValueError("initial_value must have a shape specified: "
                                 "%s" % initial)
            base = initial.dtype.base_dtype
            self._variable = _raw.VariableV2(shape=shape, dtype=base,
                                             name=scope)
            self._named = self._variable
            if validate_shape:
                self._variable.set_shape(shape)
            self._shape = self._variable.get_shape()
            self._initializer_op = _raw.Assign(
                self._variable, self._guard(initial),
                validate_shape=validate_shape).op
            with colocate_with(self._variable.op):
                self._snapshot = _raw.Identity(self._variable, name="read")
        self._caching_device = caching_device

    dtype = property(lambda self: self._variable.dtype)

    def value(self):
        """The value, as the node `read` gives it."""
        return self._snapshot

    def read_value(self):
        """The value, read by a new node under the scopes of the caller."""
        return _raw.Identity(self._variable, name="read")

    def _ref(self):
        return self._variable

    def _as_graph_element(self):
        return self._variable

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                "Incompatible type conversion requested to type '%s' for "
                "variable of type '%s'" % (dtype.name, self.dtype.name))
        return self._variable if as_ref else self._snapshot

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """A tensor of the new value, which is computed by assigning it."""
        out = _raw.Assign(self._variable, value, use_locking=use_locking,
                          name=name)
        return out if read_value else out.op

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        out = _raw.AssignAdd(self._variable, delta, use_locking=use_locking,
                             name=name)
        return out if read_value else out.op

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        out = _raw.AssignSub(self._variable, delta, use_locking=use_locking,
                             name=name)
        return out if read_value else out.op

    def count_up_to(self, limit):
        return _raw.CountUpTo(self._variable, limit=limit)

    def _scatter(self, op, slices, use_locking, name):
        return op(self._variable, slices.indices, slices.values,
                  use_locking=use_locking, name=name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ScatterAdd, sparse_delta, use_locking, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ScatterSub, sparse_delta, use_locking, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ScatterUpdate, sparse_delta, use_locking,
                             name)


class ResourceVariable(Variable):
    """A VarHandleOp node; read and written by ops that take its handle."""

    def _make(self, initial_value, dtype, name, validate_shape,
              caching_device):
        from_function = callable(initial_value)
        with name_scope(name, "Variable",
                        [] if from_function else [initial_value]) as scope:
            graph = get_default_graph()
            graph._push_class(["loc:@" + scope[:-1]])
            try:
                with name_scope("Initializer"), graph.device(None):
                    initial = self._convert_initial(initial_value, dtype,
                                                    scope)
            finally:
                graph._pop_class()
            self._initial_value = initial
            self._dtype = initial.dtype.base_dtype
            self._shape = (initial.get_shape() if validate_shape
                           else TensorShape(None))
            self._handle = _raw.VarHandleOp(
                dtype=self._dtype, shape=self._shape, shared_name=scope[:-1],
                name=scope)
            with name_scope("IsInitialized"):
                self._is_initialized_op = _raw.VarIsInitializedOp(self._handle)
            self._named = self._handle
            with name_scope("Assign") as assign_scope:
                self._initializer_op = _raw.AssignVariableOp(
                    self._handle, self._guard(initial), name=assign_scope)
            with name_scope("Read"):
                self._graph_element = self._read()

    name = property(lambda self: self._handle.op.name + ":0")
    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._handle)

    def _read(self, name=None):
        value = _raw.ReadVariableOp(self._handle, dtype=self._dtype, name=name)
        value.set_shape(self._shape)
        return value

    def is_initialized(self, name=None):
        return _raw.VarIsInitializedOp(self._handle, name=name)

    def value(self):
        """The value, read by a new node."""
        return self._read()

    def read_value(self):
        with name_scope("Read"):
            value = self._read()
        return _raw.Identity(value)

    def _ref(self):
        return self._handle

    def _as_graph_element(self):
        return self._graph_element

    def _as_tensor(self, dtype=None, name=None, as_ref=False):
        if dtype is not None and not dtype.is_compatible_with(self._dtype):
            raise ValueError(
                "Incompatible type conversion requested to type '%s' for "
                "variable of type '%s'" % (dtype.name, self._dtype.name))
        return self._handle if as_ref else self._read()

    def sparse_read(self, indices, name=None):
        """Rows of the value, without reading all of it."""
        with name_scope("Gather" if name is None else name) as scope:
            rows = _raw.ResourceGather(self._handle, indices,
                                       dtype=self._dtype, name=scope)
        return _raw.Identity(rows)

    def _update(self, op, value, name, read_value):
        value = convert_to_tensor(value, dtype=self._dtype, name="value")
        self._shape.assert_is_compatible_with(value.get_shape())
        done = op(self._handle, value, name=name)
        if not read_value:
            return done
        with control_dependencies([done]):
            return self._read()

    def assign(self, value, use_locking=None, name=None, read_value=True):
        """A tensor of the new value, which is computed by assigning it."""
        return self._update(_raw.AssignVariableOp, value, name, read_value)

    def assign_add(self, delta, use_locking=None, name=None, read_value=True):
        return self._update(_raw.AssignAddVariableOp, delta, name, read_value)

    def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
        return self._update(_raw.AssignSubVariableOp, delta, name, read_value)

    def _scatter(self, op, slices, name):
        with control_dependencies([op(self._handle, slices.indices,
                                      slices.values, name=name)]):
            return self._read()

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ResourceScatterAdd, sparse_delta, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ResourceScatterSub, sparse_delta, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(_raw.ResourceScatterUpdate, sparse_delta, name)


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


_install_operators()


# Collections of variables, and what initialises them.

def global_variables(scope=None):
    """The variables of the default graph that are not local."""
    return get_default_graph().get_collection(
        GraphKeys.GLOBAL_VARIABLES, scope)


all_variables = global_variables


def local_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    """An Operation that runs the initializers of these variables."""
    if var_list:
        return group(*[v.initializer for v in var_list], name=name)
    return group(name=name)


def global_variables_initializer():
    """An Operation that initialises all global variables."""
    return variables_initializer(global_variables())


def local_variables_initializer():
    """An Operation that initialises all local variables."""
    return variables_initializer(local_variables())


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def tables_initializer(name="init_all_tables"):
    """An Operation that initialises the graph's tables."""
    return group(*get_default_graph().get_collection(
        GraphKeys.TABLE_INITIALIZERS), name=name)


def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value."""
    if isinstance(variable, ResourceVariable):
        return variable.is_initialized()
    return _raw.IsVariableInitialized(variable)


def report_uninitialized_variables(var_list=None,
                                   name="report_uninitialized_variables"):
    """A string tensor: the names of the variables without a value."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        if not var_list:
            return constant([], dtypes.string)
        missing = _raw.LogicalNot(_raw.Pack(
            [is_variable_initialized(v) for v in var_list]))
        names = constant([v.op.name for v in var_list])
        indices = _raw.Squeeze(_raw.Where(missing), squeeze_dims=[1])
        return _raw.GatherV2(names, indices, 0)


def assert_variables_initialized(var_list=None):
    """An Operation that fails unless the variables have values."""
    var_list = global_variables() if var_list is None else var_list
    return Assert(reduce_all(_raw.Pack(
        [is_variable_initialized(v) for v in var_list])),
        ["a variable has no value"])


# Assignments as functions.

def _assign(method):
    def function(ref, value, validate_shape=None, use_locking=None, name=None):
        if isinstance(ref, ResourceVariable):
            return getattr(ref, method)(value, name=name)
        op = getattr(_raw, {"assign": "Assign", "assign_add": "AssignAdd",
                            "assign_sub": "AssignSub"}[method])
        options = {} if use_locking is None else dict(use_locking=use_locking)
        if validate_shape is not None and method == "assign":
            options["validate_shape"] = validate_shape
        return op(ref, value, name=name, **options)
    function.__name__ = method
    return function


_assign_any = _assign("assign")
_assign_add_any = _assign("assign_add")
_assign_sub_any = _assign("assign_sub")


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Gives the variable a value; a tensor of it. `validate_shape` False
    allows another shape."""
    return _assign_any(ref, value, validate_shape, use_locking, name)


def assign_add(ref, value, use_locking=None, name=None):
    """Adds to the variable; a tensor of the sum."""
    return _assign_add_any(ref, value, None, use_locking, name)


def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from the variable; a tensor of the difference."""
    return _assign_sub_any(ref, value, None, use_locking, name)


def _scatter(name):
    def function(ref, indices, updates, use_locking=False, name=None,
                 _op=name):
        if isinstance(ref, ResourceVariable):
            op = getattr(_raw, "Resource" + _op)
            with control_dependencies([op(ref.handle, indices, updates,
                                          name=name)]):
                return ref.value()
        return getattr(_raw, _op)(ref, indices, updates,
                                  use_locking=use_locking, name=name)
    function.__doc__ = ("%s: rows of the variable at `indices` with "
                        "`updates`; a tensor of the new value." % name)
    return function


scatter_update = _scatter("ScatterUpdate")
scatter_add = _scatter("ScatterAdd")
scatter_sub = _scatter("ScatterSub")
scatter_mul = _scatter("ScatterMul")
scatter_div = _scatter("ScatterDiv")
scatter_min = _scatter("ScatterMin")
scatter_max = _scatter("ScatterMax")
