"""tensorflow.python.framework.ops, device and resources: nodes from NodeDefs,
registries of programs, and the stack of graphs."""
import re

from headrace import _headrace
from headrace._headrace import Operation as _Operation
from headrace._headrace import Tensor
from headrace._src.compat.gradient_registry import (
    registry as gradient_registry)
from headrace._src.framework import device_spec
from headrace._src.framework import graph as _graph
from headrace._src.framework.default_session import (
    default_sessions, get_default_session)
from headrace._src.framework.messages import NodeDef
from headrace._src.training import meta_graph as _meta_graph

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*")


# Nodes.

def node_def(op_type, name, device=None):
    """A NodeDef; `device` is a name, a DeviceSpec, or a function from the
    NodeDef to one."""
    message = NodeDef(op=op_type, name=name)
    if device is not None:
        message.device = _device(device(message) if callable(device)
                                 else device)
    return message


def _device(device):
    return device.to_string() if hasattr(device, "to_string") else str(device)


def _new_operation(node_def, g, inputs=None, output_types=None,
                   control_inputs=None, input_types=None, original_op=None,
                   op_def=None):
    """A node of graph `g` with these inputs, as the NodeDef describes it."""
    if not isinstance(node_def, NodeDef):
        raise TypeError("node_def needs to be a NodeDef: %s" % (node_def,))
    if not _NODE_NAME.fullmatch(node_def.name):
        raise ValueError("'%s' is not a valid node name" % node_def.name)
    if not isinstance(g, _graph.Graph):
        raise TypeError("g needs to be a Graph: %s" % (g,))
    inputs = [] if inputs is None else inputs
    if not isinstance(inputs, list):
        raise TypeError("inputs needs to be a list of Tensors: %s" % (inputs,))
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError("input needs to be a Tensor: %s" % (x,))
    outer, g._name_scope = g._name_scope, ""
    original, g._original = g._original, original_op
    g._merge_device_stack()
    try:
        op = g._create_op(node_def.op, inputs, node_def.name + "/",
                          dict(node_def.attr))
    finally:
        g._name_scope, g._original = outer, original
        g._merge_device_stack()
    if node_def.device:
        op._set_device(node_def.device)
    for c in control_inputs or ():
        op._add_control_input(c.op if isinstance(c, Tensor) else c)
    return op


def create_c_op(graph, node_def, inputs, control_inputs):
    """A node that takes no part in the blocks of the graph yet: control flow
    and control inputs come with Graph._create_op_from_tf_operation or
    Graph._add_new_tf_operations. `inputs`: tensors, and lists of them."""
    flat = []
    for x in inputs:
        flat.extend(x if isinstance(x, (list, tuple)) else [x])
    context, graph._flow_context = graph._flow_context, None
    control = graph._suspend_control()
    try:
        op = _new_operation(node_def, graph, flat,
                            control_inputs=control_inputs)
    finally:
        graph._resume_control(control)
        graph._flow_context = context
    graph.__dict__.setdefault("_new_c_ops", []).append(op)
    return op


class _OperationType(type):
    """Instances of Operation are the nodes of graphs; a call makes one."""

    def __call__(cls, *args, **kwargs):
        return _new_operation(*args, **kwargs)

    def __instancecheck__(cls, instance):
        return isinstance(instance, _Operation)

    def __subclasscheck__(cls, other):
        return other is cls or issubclass(other, _Operation)


class Operation(metaclass=_OperationType):
    """A node of a graph: Operation(node_def, graph, inputs, output_types)."""


# Registries.

def get_gradient_function(op):
    """The gradient function of a node's op, None if it has no inputs or no
    gradient goes through it. LookupError if there is none."""
    if not op.inputs:
        return None
    try:
        op_type = op._attr("_gradient_op_type").decode()
    except ValueError:
        op_type = op.type
    return gradient_registry.lookup(op_type)


_shape_functions: dict = {}


class RegisterShape:
    """A decorator of shape functions in Python. They are kept and not called:
    the ops have theirs."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        _shape_functions.setdefault(self._op_type, f)
        return f


# Collections.

def register_proto_function(collection_name, proto_type=None, to_proto=None,
                            from_proto=None):
    """How meta graphs hold the items of a collection: to_proto(item,
    export_scope=) returns a message of proto_type, from_proto(message,
    import_scope=) an item."""
    for what, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError("%s must be callable." % what)
    if collection_name in _meta_graph.registered:
        raise KeyError("Registering two proto functions with name '%s'!"
                       % collection_name)
    _meta_graph.registered[collection_name] = proto_type, to_proto, from_proto


def _proto_function(collection_name, index):
    found = _meta_graph.proto_functions(collection_name)
    return found and found[index]


def get_collection_proto_type(collection_name):
    """The message of a collection's items, or None."""
    return _proto_function(collection_name, 0)


def get_to_proto_function(collection_name):
    return _proto_function(collection_name, 1)


def get_from_proto_function(collection_name):
    return _proto_function(collection_name, 2)


# Graphs and devices.

class _DefaultGraphStack:
    """The graphs of as_default() of this thread."""

    @property
    def stack(self):
        graphs = []
        while _headrace.default_graph_depth():
            graphs.append(_headrace.get_default_graph())
            _headrace.pop_default_graph()
        for graph in reversed(graphs):
            _headrace.push_default_graph(graph)
        return graphs[::-1]

    def get_default(self):
        return _graph.get_default_graph()

    def reset(self):
        """Forgets them, and the default graph of the program."""
        _graph.leave_default_graphs()
        _graph.reset_default_graph()

    def is_cleared(self):
        return not _headrace.default_graph_depth()


class _DefaultSessionStack:
    """The default sessions of this thread."""
    stack = property(lambda self: list(default_sessions()))

    def get_default(self):
        return get_default_session()

    def reset(self):
        default_sessions().clear()

    def is_cleared(self):
        return not default_sessions()


default_graph_stack = _DefaultGraphStack()
default_session_stack = _DefaultSessionStack()


class name_scope_v2:
    """`with name_scope_v2(name)`: a scope of the default graph. It may be
    entered any number of times."""

    def __init__(self, name):
        if name is None or not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._exit = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        scope = _graph.name_scope(self._name)
        entered = scope.__enter__()
        self._exit.append(scope)
        return entered

    def __exit__(self, *error):
        return self._exit.pop().__exit__(*error)


def canonical_name(device):
    """The name of a device, written out; "" for None."""
    if device is None:
        return ""
    if isinstance(device, str):
        device = device_spec.DeviceSpec.from_string(device)
    return device.to_string()


def is_device_spec(obj):
    """Whether it is a DeviceSpec."""
    return isinstance(obj, device_spec.DeviceSpec)


def check_valid(spec):
    """ValueError unless it is the name of a device."""
    device_spec.DeviceSpec.from_string(spec)


def merge_device(spec):
    """A device function that asks for `spec`, a DeviceSpec or a name, where
    inner blocks leave parts of the device open."""
    name = canonical_name(spec)
    return lambda node: _headrace.merge_devices(node.device or "", name)
