"""What Operation and Tensor have beyond the extension's, for programs that look
into graphs."""
import re

import numpy as np

from headrace._headrace import Operation, Tensor
from headrace._loading import load
from headrace._src.framework.default_session import session_for


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor of the graph was used as a Python bool or iterated over."""


class Reference:
    """Stands for an object; equal to another Reference of the same object."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """The object."""
        return self._wrapped

    def __eq__(self, other):
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped "
                            "object")
        return self._wrapped is other._wrapped

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return "<%s wrapping %r>" % (type(self).__name__, self._wrapped)


# Operation.

def _run(self, feed_dict=None, session=None):
    """Runs this operation in `session`, or the default session."""
    session_for(session, self.graph, True).run(self, feed_dict)


def _repr(self):
    return "<tf.Operation '%s' type=%s>" % (self.name, self.type)


_attr = Operation.get_attr  # shapes as lists, tensors as values


def _get_attr(self, name):
    """The value of an attr: a number, bytes, a DType, or a list of them; of a
    shape, a tensor or a function the message. ValueError if there is none."""
    value = _attr(self, name)
    if isinstance(value, bytes):  # text, or a tensor of one string
        if all(a.name != name or a.type != "tensor" for a in self.op_def.attr):
            return value
    elif value is not None and not isinstance(
            value, (list, str, np.ndarray, np.generic)):
        return value
    message = self.node_def.attr[name]
    kind = message.WhichOneof("value")
    if kind in ("shape", "tensor", "func"):
        return getattr(message, kind)
    if kind == "list":
        for kind in ("shape", "tensor", "func"):
            if len(getattr(message.list, kind)):
                return list(getattr(message.list, kind))
    return value


def _traceback(self):
    """[(file, line, function, None)]: where the program made it."""
    match = re.fullmatch(r"(.*):(\d+) in (.*)", self.source)
    if match is None:
        return []
    return [(match.group(1), int(match.group(2)), match.group(3), None)]


_native_set_device = Operation._set_device


def _set_device(self, device):
    _native_set_device(self, device.to_string() if hasattr(
        device, "to_string") else device or "")


def _add_control_inputs(self, ops):
    for op in ops:
        self._add_control_input(op)


def _control_outputs(self):
    return [op for op in self.graph.get_operations()
            if any(c is self for c in op.control_inputs)]


def _device_assignments(self):
    """The tf.device blocks in which the program made it, the innermost first:
    each names the device or the function, and its line."""
    return load("_src.compat.call_stacks").device_blocks(
        self.graph._places(self._id)[0])


def _colocation_dict(self):
    """{name: where the program asked that this be with that operation}."""
    return load("_src.compat.call_stacks").places_by_name(
        self.graph._places(self._id)[1])


Operation.run = _run
Operation.__repr__ = _repr  # type: ignore
Operation.__str__ = lambda self: str(self.node_def)  # type: ignore
Operation.traceback = property(_traceback)
Operation.traceback_with_start_lines = property(
    lambda self: [line + (1,) for line in _traceback(self)])
Operation.get_attr = _get_attr
Operation._attr = _attr
Operation._get_control_flow_context = lambda self: (
    self.graph._flow_contexts.get(self._id))
Operation._original_op = property(
    lambda self: self.graph._originals.get(self._id))
Operation._set_device = _set_device
Operation._set_device_from_string = _native_set_device
Operation._as_graph_element = lambda self: self
Operation._get_control_flow_context = lambda self: (
    self.graph._flow_contexts.get(self._id))
Operation._add_control_inputs = _add_control_inputs
Operation._graph, Operation._outputs = Operation.graph, Operation.outputs
Operation._id_value = Operation._id
Operation._get_control_flow_context = lambda self: load(
    "_src.control.contexts").context_of(self)
Operation._control_flow_context = property(
    lambda self: self._get_control_flow_context())
Operation._is_stateful = property(lambda self: self.op_def.is_stateful)
Operation._control_outputs = property(_control_outputs)
Operation._device_assignments = property(_device_assignments)
Operation._colocation_dict = property(_colocation_dict)
Operation._node_def = property(lambda self: self.node_def)
Operation._op_def = property(lambda self: self.op_def)
Operation._output_types = property(
    lambda self: [int(t.dtype.as_datatype_enum) for t in self.outputs])
Operation._input_types = property(
    lambda self: [t.dtype.base_dtype for t in self.inputs])
Operation._control_inputs = property(lambda self: self.control_inputs)


# Tensor.

def _as_node_def_input(self):
    return "%s:%d" % (self.op.name, self.value_index) if (
        self.value_index) else self.op.name


def _shape_tuple(self):
    shape = self._shape_list()
    return None if shape is None else tuple(shape)


def _override_operator(operator, func):
    """Makes `func` an operator of tensors: "__or__". ValueError for a name that
    is none of those in OVERLOADABLE_OPERATORS."""
    if operator not in Tensor.OVERLOADABLE_OPERATORS:
        raise ValueError("Overriding %s is disallowed" % operator)
    setattr(Tensor, operator, func)


Tensor.experimental_ref = lambda self: Reference(self)
Tensor._value_index = property(lambda self: self.value_index)
Tensor._as_tf_output = lambda self: self  # functions of the C API take it
Tensor._as_node_def_input = _as_node_def_input
Tensor._shape_tuple = _shape_tuple
Tensor._shape_as_list = Tensor._shape_list
Tensor._shape = Tensor._shape_val = property(lambda self: self.shape)
Tensor._op, Tensor._dtype = Tensor.op, Tensor.dtype
Tensor._consumers = property(lambda self: self.consumers())
Tensor.__copy__ = lambda self: self  # it is a value that does not change
Tensor.OVERLOADABLE_OPERATORS = set("__%s__" % name for name in """
    abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg
    or pow radd rand rdiv rfloordiv rmatmul rmod rmul ror rpow rsub rtruediv
    rxor sub truediv xor""".split())
Tensor._override_operator = staticmethod(_override_operator)
