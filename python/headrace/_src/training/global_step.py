"""The variable that counts training steps."""
from headrace._src.framework import dtypes
from headrace._src.framework.graph import (
    GraphKeys, get_default_graph, name_scope)
from headrace._src.variables import initializers as _init
from headrace._src.variables import scopes as _scopes
from headrace._src.variables.base import Variable
from headrace._src.variables.records import VariableAggregation

# The collection of the tensor that hooks read.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess, global_step_tensor):
    """The number of steps, a Python int, as `sess` has it.

    `global_step_tensor`: a scalar integer variable or tensor.
    FailedPreconditionError if it has no value yet."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph=None):
    """The graph's global step: what is in the collection GLOBAL_STEP, or what
    is called `global_step`; None if there is none, or more than one in the
    collection. TypeError if it is no scalar integer.

    It is a variable, int64 where this library made it, of shape []."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph=None):
    """Makes the graph's global step, an int64 variable `global_step`.
    ValueError if there is one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), name_scope(None):
        return _scopes.get_variable(
            GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64,
            initializer=_init.zeros_initializer(), trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph=None):
    """get_global_step, or create_global_step if there is none: a variable, a
    scalar int64.

    TypeError if what is called so is no scalar integer."""
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor):
    """TypeError if this is not an integer, or not a scalar."""
    if not (isinstance(global_step_tensor, Variable)
            or hasattr(global_step_tensor, "op")):
        raise TypeError('Existing "global_step" must be a Variable or Tensor: '
                        "%s." % (global_step_tensor,))
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError('Existing "global_step" does not have integer type: '
                        "%s" % global_step_tensor.dtype)
    shape = global_step_tensor.get_shape()
    if shape.ndims != 0 and shape.is_fully_defined():
        raise TypeError('Existing "global_step" is not scalar: %s' % shape)


def get_or_create_read(create=True):
    """A tensor of the default graph's global step, which hooks fetch; None if
    there is no step and none is to be made. Before the step has a value, this
    is its initial value."""
    graph = get_default_graph()
    found = graph.get_collection(GLOBAL_STEP_READ_KEY)
    if len(found) > 1:
        raise RuntimeError("There are multiple items in collection %s. There "
                           "should be only one." % GLOBAL_STEP_READ_KEY)
    if found:
        return found[0]
    step = get_or_create_global_step() if create else get_global_step()
    if step is None:
        return None
    with name_scope(None), name_scope(step.op.name + "/"):
        if isinstance(getattr(step, "values", None), tuple):
            # Of several devices. Its initial value may be a collective op,
            # which workers would run each time one of them reads the step.
            value = step.value()
        else:
            value = (step.initialized_value() if isinstance(step, Variable)
                     else step)
        read = value + 0
    graph.add_to_collection(GLOBAL_STEP_READ_KEY, read)
    return read
