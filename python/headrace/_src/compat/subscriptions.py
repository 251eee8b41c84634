"""tensorflow.python.framework.subscribe: functions that see the values of
tensors of a graph whenever these are computed."""
import contextlib

from headrace._headrace import Tensor
from headrace._src.framework import dtypes, nest
from headrace._src.framework.graph import control_dependencies, name_scope
from headrace._src.framework.tensor import convert_to_tensor
from headrace._src.ops import array_ops as _array
from headrace._src.ops.sparse_tensor import SparseTensor
from headrace._src.variables.base import Variable

_SCOPE = "/subscription"


def is_subscribed_identity(tensor):
    """Whether it is what subscribe returned for another tensor."""
    op = convert_to_tensor(tensor).op
    return op.type == "Identity" and (
        op.name.rpartition("/")[0] == op.inputs[0].op.name + _SCOPE)


def subscribe(tensors, side_effects):
    """Tensors of the same values in the same structure. Before such a value is
    there, all side effects have run.

    tensors: a tensor or variable, or a list, tuple or dict of them, of any
      shape. The nodes that read a tensor, or run after its op, read or run
      after the new one instead. A tensor of a type that NumPy does not have,
      such as a resource, stays as it is.
    side_effects: a function, or a list of them, from the tensor to the tensor
      or operation to run. A second call adds to those of the first.

    TypeError for other values among `tensors`."""
    if not hasattr(side_effects, "__iter__"):
        side_effects = [side_effects]
    effects = list(side_effects)
    outputs = {}  # the control outputs by op, as long as no call changes them
    return _mapped(tensors, lambda t: _subscribed(t, effects, outputs))


def _mapped(tensors, function):
    if isinstance(tensors, (Tensor, Variable)):
        return function(convert_to_tensor(tensors))
    if isinstance(tensors, SparseTensor):
        return SparseTensor(*(function(t) for t in (
            tensors.indices, tensors.values, tensors.dense_shape)))
    if isinstance(tensors, dict):
        return type(tensors)((k, _mapped(v, function))
                             for k, v in tensors.items())
    if isinstance(tensors, (list, tuple)):
        found = [_mapped(t, function) for t in tensors]
        return (type(tensors)(*found) if hasattr(tensors, "_fields")
                else type(tensors)(found))
    raise TypeError("subscribe: argument %r has invalid type %r; wanted a "
                    "tensor, or a list, tuple or dict of tensors"
                    % (tensors, type(tensors)))


@contextlib.contextmanager
def _beside(tensor, scope):
    """Nodes are made in a scope, on the device of the tensor and in the branch
    or loop that it is in."""
    graph = tensor.graph
    before = graph._get_control_flow_context()
    graph._set_control_flow_context(tensor.op._get_control_flow_context())
    try:
        with graph.as_default(), graph.device(None), graph.device(
                tensor.op.device or None), control_dependencies(
                None), name_scope(scope + "/"):
            graph._set_control_flow_context(
                tensor.op._get_control_flow_context())
            yield
    finally:
        graph._set_control_flow_context(before)


def _made(tensor, effects):
    """The operations of what the effects return."""
    return [getattr(x, "op", x) for effect in effects
            for x in nest.flatten(effect(tensor))]


def _subscribed(tensor, effects, outputs):
    if is_subscribed_identity(tensor):
        return _extended(tensor, effects)
    scope = tensor.op.name + _SCOPE
    for op in tensor.consumers():
        if op.name.startswith(scope) and is_subscribed_identity(
                op.outputs[0] if op.outputs else tensor):
            return _extended(op.outputs[0], effects)
    if tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant):
        return tensor
    readers = tensor.consumers()
    if tensor.op not in outputs:
        outputs[tensor.op] = tensor.op._control_outputs
    with _beside(tensor, scope):
        made = _made(tensor, effects)
        with control_dependencies(made):
            new = _array.identity(tensor)
    for op in readers:
        for i, value in enumerate(op.inputs):
            if value is tensor:
                op._update_input(i, new)
    for op in outputs[tensor.op]:
        # An op with several outputs is awaited through the last of them.
        others = [c for c in op.control_inputs if c is not tensor.op]
        op._remove_all_control_inputs()
        op._add_control_inputs(others + [new.op])
    return new


def _extended(identity, effects):
    tensor = identity.op.inputs[0]
    with _beside(tensor, tensor.op.name + _SCOPE):
        made = _made(tensor, effects)
    identity.op._add_control_inputs(made)
    return identity
