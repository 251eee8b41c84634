"""Initial values that depend on other variables: made independent of the order
in which the variables are initialised."""
from headrace import raw_ops as _raw
from headrace._loading import load
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.framework.graph import GraphKeys

_QUESTIONS = ("IsVariableInitialized", "VarIsInitializedOp")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_READS = ("Variable", "VariableV2", "ReadVariableOp")


def initialized_value(variable):
    """The value of `variable`, or its initial value where it has none yet."""
    # For those who need it.
    cond = load("_src.control.control_flow").cond
    with _graph.init_scope():
        op = variable.op
        if op.type == "VarHandleOp":
            there = _raw.VarIsInitializedOp(op.outputs[0])
        else:
            with _graph.colocate_with(op):
                there = _raw.IsVariableInitialized(op.outputs[0])
        return cond(there, variable.read_value, lambda: getattr(
            variable, "_guarded_initial_value", variable.initial_value))


def guarded(initial, name):
    """`initial` with every variable that it reads replaced by its
    initialized_value: what is between them and `initial` is made a second time,
    with "_" and `name` after the names. `initial` itself if it reads none."""
    graph = initial.graph
    order = _inputs_first(initial.op)
    if not any(op.type in _READS for op in order):
        return initial
    variables = {}
    for key in (GraphKeys.LOCAL_VARIABLES, GraphKeys.GLOBAL_VARIABLES):
        for v in graph.get_collection(key):
            if getattr(v, "initial_value", None) is not None:
                variables[v.op.name] = v
    instead = {}  # op -> the tensor to take in place of its only output
    copied = {}   # op -> its copy's name
    for op in order:
        if op.type in _QUESTIONS:
            continue
        variable = _read_by(op, variables)
        if variable is not None:
            instead[op] = initialized_value(variable)
        elif any(t.op in instead or t.op in copied for t in op.inputs):
            copied[op] = "%s_%s" % (op.name, name)
    if initial.op in instead:
        return instead[initial.op]
    if initial.op not in copied:
        return initial
    return _copy(graph, copied, instead, initial)


def _read_by(op, variables):
    """The variable that a node is, or reads. A reference reaches its readers
    without help. A handle must be passed on to nodes that only take handles. A
    read with control inputs stays unchanged."""
    if op.type in ("Variable", "VariableV2"):
        return variables.get(op.name)
    if op.type == "ReadVariableOp" and not op.control_inputs:
        return variables.get(op.inputs[0].op.name)
    return None


def _inputs_first(op):
    """The nodes that `op` is computed from, itself last, each after its inputs.
    Not beyond variables; nothing if there is a loop."""
    order, state = [], {}
    stack = [(op, False)]
    while stack:
        node, through = stack.pop()
        if through:
            state[node] = "done"
            order.append(node)
            continue
        if node in state:
            if state[node] == "open":
                return []
            continue
        state[node] = "open"
        stack.append((node, True))
        if node.type in _VARIABLES or node.type in _QUESTIONS:
            continue
        for t in node.inputs:
            if state.get(t.op) == "open":
                return []
            if t.op not in state:
                stack.append((t.op, False))
    return order


def _copy(graph, copied, instead, initial):
    graph_def = messages.GraphDef()
    taken = {}      # "node:0" in graph_def -> Tensor
    colocated = []  # with nodes that graph_def does not have
    for op, name in copied.items():
        node = graph_def.node.add()
        node.CopyFrom(op.node_def)
        node.name = name
        if node.op == "RefSwitch":
            node.op = "Switch"
        colocated.append([g.decode() for g in node.attr["_class"].list.s])
        del node.attr["_class"]
        del node.input[:]
        for t in op.inputs:
            if t.op in copied:
                node.input.append("%s:%d" % (copied[t.op], t.value_index))
                continue
            key = "%s:%d" % (t.op.name, t.value_index)
            node.input.append(key)
            taken[key] = instead.get(t.op, t)
    with graph.as_default(), graph.name_scope(None):
        made = graph._import_graph_def(
            graph_def, "", list(taken.items()), list(copied.values()))
    for op, groups in zip(made, colocated):
        if groups:
            op._set_attr("_class", groups)
    return made[list(copied).index(initial.op)].outputs[initial.value_index]
