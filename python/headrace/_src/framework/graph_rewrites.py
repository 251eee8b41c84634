"""tf.graph_util: parts of GraphDefs, and variables as constants."""
from headrace._src.framework import dtypes
from headrace._src.framework.messages import GraphDef, NodeDef
from headrace._src.framework.tensor_proto import make_tensor_proto

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


def _node_of(input_name):
    """The node that an input of a NodeDef is of."""
    return input_name.lstrip("^").partition(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The GraphDef with what the nodes of the list need, and no more."""
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    nodes = {node.name: node for node in graph_def.node}
    needed, open_names = set(), list(dest_nodes)
    for name in open_names:
        if name not in nodes:
            raise AssertionError("%s is not in graph" % name)
    while open_names:
        name = open_names.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in nodes:
            open_names += [_node_of(i) for i in nodes[name].input]
    out = GraphDef()
    for node in graph_def.node:
        if node.name in needed:
            out.node.add().CopyFrom(node)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def convert_variables_to_constants(sess, input_graph_def, output_node_names,
                                   variable_names_whitelist=None,
                                   variable_names_blacklist=None):
    """What the output nodes need of the GraphDef, with the values that the
    variables have in the session as constants in their place: those of the
    whitelist, if there is one, without those of the blacklist.

    Constants have the variables' dtypes and shapes. AssertionError or
    ValueError for an output that the GraphDef does not have;
    FailedPreconditionError for a variable without a value."""
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    fetches, names = [], []
    for node in graph_def.node:
        if node.op in _VARIABLES and (
                variable_names_whitelist is None
                or node.name in variable_names_whitelist) and not (
                variable_names_blacklist is not None
                and node.name in variable_names_blacklist):
            names.append(node.name)
            fetches.append(node.name + (
                "/Read/ReadVariableOp:0" if node.op == "VarHandleOp" else ":0"))
    values = dict(zip(names, sess.run(fetches))) if names else {}
    out = GraphDef()
    for node in graph_def.node:
        new = out.node.add()
        if node.name in values:
            _set_constant(new, node.name, node.attr["dtype"].type,
                          values[node.name])
            new.device = node.device
        elif node.op == "ReadVariableOp" and _node_of(
                node.input[0]) in values:
            new.op, new.name, new.device = "Identity", node.name, node.device
            new.input.extend(node.input)
            new.attr["T"].CopyFrom(node.attr["dtype"])
        elif node.op == "ResourceGather" and _node_of(
                node.input[0]) in values:
            _set_gather(out, new, node)
        else:
            new.CopyFrom(node)
    out.library.CopyFrom(graph_def.library)
    out.versions.CopyFrom(graph_def.versions)
    return out


def _set_constant(node, name, dtype, value):
    dtype = dtypes.as_dtype(dtype).base_dtype
    node.op, node.name = "Const", name
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype))


def _set_gather(graph_def, new, node):
    if node.attr["batch_dims"].i:
        raise ValueError("ResourceGather '%s' with batch_dims cannot be made "
                         "one of a constant" % node.name)
    axis = graph_def.node.add()
    _set_constant(axis, node.name + "/axis", dtypes.int32.as_datatype_enum, 0)
    axis.device = node.device
    new.op, new.name, new.device = "GatherV2", node.name, node.device
    new.input.extend([node.input[0], node.input[1], axis.name])
    new.input.extend([i for i in node.input[2:] if i.startswith("^")])
    new.attr["Tparams"].CopyFrom(node.attr["dtype"])
    new.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    new.attr["Taxis"].type = dtypes.int32.as_datatype_enum


def remove_training_nodes(input_graph, protected_nodes=None):
    """The GraphDef without CheckNumerics and Identity nodes, except the
    protected ones and those with control edges."""
    protected = set(protected_nodes or ())
    controls, controlled = set(), set()
    for node in input_graph.node:
        for name in node.input:
            if name.startswith("^"):
                controlled.add(node.name)
                controls.add(_node_of(name))
    instead = {}
    for node in input_graph.node:
        if node.name in protected or not node.input:
            continue
        removed = node.op == "CheckNumerics"
        if node.op == "Identity":
            removed = node.name not in controls and (
                node.name not in controlled)
        if removed:
            instead[node.name] = node.input[0]
    out = GraphDef()
    for node in input_graph.node:
        if node.name in instead:
            continue
        new = out.node.add()
        new.CopyFrom(node)
        del new.input[:]
        for name in node.input:
            if name.startswith("^") and _node_of(name) in instead:
                continue  # nothing of it is left to wait for
            while _node_of(name) in instead:
                name = instead[_node_of(name)]
            new.input.append(name)
    for field in "library", "versions":
        if input_graph.HasField(field):
            getattr(out, field).CopyFrom(getattr(input_graph, field))
    return out


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node, an Operation or NodeDef, handles strings or int32 in a
    way for which there are kernels on the CPU alone."""
    node_def = node if isinstance(node, NodeDef) else node.node_def
    if pin_variables_on_cpu and node_def.op in _VARIABLES + (
            "AutoReloadVariable", "ReadVariableOp"):
        return True
    typed = {"Const": "dtype", "DynamicStitch": "T",
             "ParallelDynamicStitch": "T", "Cast": "SrcT"}.get(node_def.op)
    if typed is None:
        return False
    kind = node_def.attr[typed].type
    return kind == dtypes.int32.as_datatype_enum or (
        node_def.op == "Const" and kind == dtypes.string.as_datatype_enum)


def tensor_shape_from_node_def_name(graph, input_name):
    """The static shape of a tensor, or of the first one of a node."""
    name = input_name if ":" in input_name else input_name + ":0"
    return graph.get_tensor_by_name(name).get_shape()
