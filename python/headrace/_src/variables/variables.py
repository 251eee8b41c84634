"""Functions of variables: which kind `Variable(...)` makes, the collections of
variables, what initialises them, and assignments.
"""
import os

from headrace import raw_ops as _raw
from headrace._src.control.control_flow_ops import group
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, colocate_with, device, get_default_graph, name_scope)
from headrace._src.framework.tensor import constant, convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.variables.base import (
    Variable, is_made_eagerly, sparse_parts)
from headrace._src.variables.ref_variables import RefVariable
from headrace._src.variables.resource_variables import ResourceVariable

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


def _make_default(use_resource=None, **arguments):
    """A variable of the kind that is asked for."""
    if use_resource is None:
        scopes = get_default_graph()._variable_scopes
        use_resource = scopes and scopes.current.use_resource
    if use_resource is None:
        use_resource = _use_resource_by_default
    use_resource = use_resource or is_made_eagerly()
    return (ResourceVariable if use_resource else RefVariable)(**arguments)


setattr(type(Variable), "make", staticmethod(_make_default))


def _batch_scatter_update_of(self, sparse_delta, use_locking=False, name=None):
    """Gives rows of the last batch dimension of the indices new values."""
    return batch_scatter_update(self, *sparse_parts(sparse_delta),
                                use_locking=use_locking, name=name)


setattr(Variable, "batch_scatter_update", _batch_scatter_update_of)


# Collections of variables, and what initialises them.

def global_variables(scope=None):
    """The variables of the default graph that are not local.

    A list of Variables of any shape and dtype, in the order of their making.
    `scope`: a regular expression for the beginning of the names; TypeError if
    it is no string."""
    return get_default_graph().get_collection(
        GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables():
    """As global_variables, under its old name: a list of Variables of any shape
    and dtype. It has no arguments and raises nothing."""
    return global_variables()


def local_variables(scope=None):
    """The collection LOCAL_VARIABLES of the default graph, or what of it is in
    a scope.

    A list of Variables of any shape and dtype. `scope`: a regular expression
    for the beginning of the names; TypeError if it is no string."""
    return get_default_graph().get_collection(
        GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope=None):
    """The collection TRAINABLE_VARIABLES of the default graph, or what of it is
    in a scope.

    A list of Variables of any shape and dtype, in the order of their making;
    empty if there are none. `scope`: a regular expression for the beginning of
    the names; TypeError if it is no string."""
    return get_default_graph().get_collection(
        GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope=None):
    return get_default_graph().get_collection(
        GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list, name="init"):
    """An Operation that runs the initializers of these variables.

    `var_list`: a list of Variables of any shape and dtype; an empty one gives a
    no_op. Running it gives None. AttributeError for what is no variable."""
    if var_list:
        return group(*[v.initializer for v in var_list], name=name)
    return group(name=name)


def global_variables_initializer():
    """An Operation that initialises all global variables.

    Each gets its initial value, with the variable's dtype and shape. Running it
    gives None. It raises nothing by itself; the run fails with
    FailedPreconditionError where an initial value reads a variable that has
    none yet."""
    return variables_initializer(global_variables())


def local_variables_initializer():
    """An Operation that initialises all local variables, such as those of
    tf.metrics.

    Each gets its initial value, with the variable's dtype and shape. Running it
    gives None. It raises nothing by itself."""
    return variables_initializer(local_variables())


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def tables_initializer(name="init_all_tables"):
    """An Operation that initialises the graph's tables, of whatever dtypes and
    value shapes. A no_op if there are none. Running it gives None;
    FailedPreconditionError or InvalidArgumentError then, for keys that are
    there twice with other values or a file that does not fit; NotFoundError for
    one that is missing."""
    return group(*get_default_graph().get_collection(
        GraphKeys.TABLE_INITIALIZERS), name=name)


def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value."""
    if isinstance(variable, Variable):
        return variable._initialized()
    return _raw.IsVariableInitialized(variable)


def report_uninitialized_variables(var_list=None,
                                   name="report_uninitialized_variables"):
    """A string tensor: the names of the variables without a value. Computed
    on the device that the environment variable
    TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING names, "/cpu:0" by
    default.

    `var_list`: Variables of any shape and dtype, by default all global and
    local ones. Returns a vector of strings, empty if all have values. It raises
    nothing for those that have none."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    with name_scope(name):
        initialized = [is_variable_initialized(v) for v in var_list]
        with device(os.environ.get(
                "TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")):
            if not var_list:
                return constant([], dtypes.string)
            missing = _raw.LogicalNot(_array.stack(initialized))
            return _array.boolean_mask(
                constant([v.op.name for v in var_list]), missing)


def assert_variables_initialized(var_list=None):
    """A tensor that can be computed only if the variables, by default all of
    the graph, have values; None if there are none."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        var_list = [op.outputs[0] for op in get_default_graph().get_operations()
                    if op.type in ("Variable", "VariableV2",
                                   "AutoReloadVariable")]
    if not var_list:
        return None
    ranks = []
    for v in var_list:
        with colocate_with(v.op):
            ranks.append(_raw.Rank(v))
    return ranks[0] if len(ranks) == 1 else _raw.Pack(ranks)


# Assignments as functions.

def _is_ref(ref):
    return ref.dtype._is_ref_dtype


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Gives the variable a value; a tensor of it. `validate_shape` False
    allows another shape.

    `value`: of the variable's dtype and shape. Returns the new value of a
    reference variable as a Tensor, for a resource what reads it. ValueError if
    the shapes differ, unless `validate_shape` is False; TypeError or ValueError
    for another type."""
    if not _is_ref(ref):
        return ref.assign(value, name=name)
    options = {} if validate_shape is None else dict(
        validate_shape=validate_shape)
    return _raw.Assign(ref, value, use_locking=use_locking, name=name,
                       **options)


def _add_or_subtract(method, op):
    def function(ref, value, use_locking=None, name=None):
        if not _is_ref(ref):
            return getattr(ref, method)(value)
        return getattr(_raw, op)(ref, value, use_locking=use_locking,
                                 name=name)
    function.__name__ = function.__qualname__ = method
    return function


assign_add = _add_or_subtract("assign_add", "AssignAdd")
assign_add.__doc__ = """Adds to the variable; a tensor of the sum.

    `value`: of the variable's dtype and shape, numbers. ValueError for another shape;
    TypeError or ValueError for another type."""
assign_sub = _add_or_subtract("assign_sub", "AssignSub")
assign_sub.__doc__ = """Subtracts from the variable; a tensor of the difference.

    `value`: of the variable's dtype and shape, numbers. ValueError for another shape;
    TypeError or ValueError for another type."""


def _scatter(name, locks=False):
    op = "".join(part.capitalize() for part in name.split("_"))

    def function(ref, indices, updates, use_locking=locks, name=None):
        if not _is_ref(ref) and isinstance(ref, Variable):
            return ref._scatter_rows(op, indices, updates, name)
        return getattr(_raw, op)(ref, indices, updates,
                                 use_locking=use_locking, name=name)
    function.__doc__ = ("%s: rows of the variable at `indices` with "
                        "`updates`; a tensor of the new value." % op)
    function.__name__ = function.__qualname__ = name
    return function


scatter_update = _scatter("scatter_update", locks=True)
scatter_add = _scatter("scatter_add")
scatter_sub = _scatter("scatter_sub")
scatter_mul = _scatter("scatter_mul")
scatter_div = _scatter("scatter_div")
scatter_min = _scatter("scatter_min")
scatter_max = _scatter("scatter_max")
scatter_nd_update = _scatter("scatter_nd_update", locks=True)
scatter_nd_add = _scatter("scatter_nd_add")
scatter_nd_sub = _scatter("scatter_nd_sub")


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """scatter_update in each batch: ref[b..., indices[b..., i]] becomes
    updates[b..., i]."""
    with name_scope(name, "batch_scatter_update", [indices, updates]):
        indices = convert_to_tensor(indices, name="indices")
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown "
                             "shape.")
        sizes = _array.shape(indices)
        columns = []
        for axis in range(rank - 1):
            numbers = _raw.Cast(_raw.Range(0, sizes[axis], 1),
                                DstT=indices.dtype.base_dtype)
            numbers = _raw.Reshape(numbers, [
                -1 if i == axis else 1 for i in range(rank)])
            columns.append(numbers * _array.ones_like(indices))
        return scatter_nd_update(
            ref, _array.stack(columns + [indices], axis=-1), updates,
            use_locking=use_locking)
