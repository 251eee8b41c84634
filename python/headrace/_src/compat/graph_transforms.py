"""tensorflow.tools.graph_transforms: GraphDefs rewritten as texts ask for."""
import itertools
import re
import string

from headrace._src.framework import dtypes
from headrace._src.framework.errors import (
    InvalidArgumentError, OpError, UnimplementedError)
from headrace._src.framework.messages import GraphDef

_CALL = re.compile(r"\s*([\w.]+)\s*(?:\(([^()]*)\))?\s*")
_ARGUMENT = re.compile(r'\s*([\w.]+)\s*=\s*(?:"([^"]*)"|([^",\s]*))\s*(?:,|$)')
_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase

# Transforms that TensorFlow has and this module has not.
_LEFT_OUT = frozenset("""
    add_default_attributes backport_concatv2 backport_tensor_array_v3
    flatten_atrous_conv fold_batch_norms fold_constants fold_old_batch_norms
    freeze_requantization_ranges fuse_convolutions fuse_pad_and_conv
    fuse_remote_graph fuse_resize_and_conv fuse_resize_pad_and_conv
    insert_logging merge_duplicate_nodes place_remote_graph_arguments
    quantize_nodes quantize_weights remove_control_dependencies remove_ema
    remove_nodes round_weights set_device sparsify_gather""".split())

# Values of strip_unused_nodes' arguments for names.
_EXAMPLES = {"type": "int32", "shape": "2,2,1"}


def _invalid(message, *values):
    return InvalidArgumentError(None, None, message % values)


def _parsed(text):
    """[(transform, {argument: its values})]."""
    found, at = [], 0
    while at < len(text):
        call = _CALL.match(text, at)
        if call is None:
            raise _invalid("TransformGraph: transforms: got %r at %r, wanted "
                           "name(argument=value, ...)", text, text[at:])
        values, inner = {}, 0
        arguments = (call.group(2) or "").strip()
        while inner < len(arguments):
            pair = _ARGUMENT.match(arguments, inner)
            if pair is None:
                raise _invalid(
                    "TransformGraph: transform '%s': got %r, wanted "
                    "argument=value", call.group(1), arguments[inner:])
            values.setdefault(pair.group(1), []).append(
                pair.group(3) if pair.group(2) is None else pair.group(2))
            inner = pair.end()
        found.append((call.group(1), values))
        at = call.end()
    return found


def _node_of(name):
    """The node that an input is of, and that `name` or `name:0` fetches."""
    return name.lstrip("^").partition(":")[0]


def _graph_of(nodes):
    graph = GraphDef()
    for node in nodes:
        graph.node.add().CopyFrom(node)
    return graph


def _by_name(graph):
    return {node.name: node for node in graph.node}


def _one(values, names, message):
    """The values of arguments that must be there once."""
    if any(len(values.get(name, ())) != 1 for name in names):
        raise _invalid("%s", message)
    return [values[name][0] for name in names]


def _dtype(text):
    try:
        return dtypes.as_dtype(text).as_datatype_enum
    except TypeError:
        raise _invalid("Couldn't understand type argument '%s'",
                       text) from None


def _sizes(text):
    """The sizes of a shape; of a scalar without a text."""
    if text is None:
        return []
    if not text:
        raise _invalid("Specificed shape is empty.")
    try:
        return [int(n) for n in text.split(",")]
    except ValueError:
        raise _invalid("Couldn't understand shape argument '%s'",
                       text) from None


def _strip_unused_nodes(graph, inputs, outputs, values):
    """What the outputs need, with placeholders for the inputs, needed or
    not."""
    type_, shape = (values.get(name, [default])[0] for name, default in (
        ("type", "float"), ("shape", None)))
    like = {name: (_dtype(type_), _sizes(shape)) for name in inputs}
    names = values.get("name", [])
    types, shapes = (values.get(kind, [])
                     for kind in ("type_for_name", "shape_for_name"))
    for kind, given in ("type", types), ("shape", shapes):
        if len(given) != len(names):
            raise _invalid(
                "You must pass a '%s_for_name' arg for every 'name', e.g. "
                "strip_unused_nodes(name=foo, %s_for_name=\"%s\"): got %d for "
                "%d names", kind, kind, _EXAMPLES[kind], len(given), len(names))
    like.update((n, (_dtype(t), _sizes(s)))
                for n, t, s in zip(names, types, shapes))
    nodes = _by_name(graph)
    for name in outputs + inputs:
        if name not in nodes:
            raise _invalid("Input node %s not found in graph", name)
    needed, todo = set(), outputs + inputs
    while todo:
        name = todo.pop()
        if name not in needed:
            needed.add(name)
            if name not in inputs and name in nodes:
                todo += [_node_of(i) for i in nodes[name].input]
    made = GraphDef()
    for node in graph.node:
        if node.name not in needed:
            continue
        new = made.node.add()
        if node.name not in inputs or node.op == "Placeholder":
            new.CopyFrom(node)
            continue
        new.name, new.op = node.name, "Placeholder"
        new.attr["dtype"].type, sizes = like[node.name]
        new.attr["shape"].shape.SetInParent()
        for size in sizes:
            new.attr["shape"].shape.dim.add().size = size
    return made


def _sort_by_execution_order(graph, inputs, outputs, values):
    """Each node after its inputs; a node is followed at once by what it was the
    last to wait for."""
    nodes = _by_name(graph)
    readers, waits = {}, {}
    for node in graph.node:
        names = [_node_of(i) for i in node.input]
        if node.op == "Merge" and any(
                name in nodes and nodes[name].op == "NextIteration"
                for name in names):
            waits[node.name] = 1 + sum(i.startswith("^") for i in node.input)
        else:
            waits[node.name] = len(names)
        for name in names:
            readers.setdefault(name, []).append(node.name)
    ready = [node.name for node in graph.node if not node.input]
    order = []
    while ready:
        name = ready.pop()
        order.append(nodes[name])
        for reader in readers.get(name, ()):
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    if len(order) != len(graph.node):
        raise _invalid("sort_by_execution_order: %d of %d nodes wait for each "
                       "other or for inputs that there are not",
                       len(graph.node) - len(order), len(graph.node))
    return _graph_of(order)


def _of_op(values):
    """Whether the transform is for nodes of this op."""
    op = values.get("op_name", ["*"])[0]
    return lambda node: op in ("*", node.op)


def _remove_attribute(graph, inputs, outputs, values):
    name, = _one(values, ["attribute_name"],
                 "remove_attribute expects exactly one 'attribute_name' "
                 "argument, e.g. remove_attribute(op_name=Mul, "
                 "attribute_name=foo)")
    made = _graph_of(graph.node)
    for node in filter(_of_op(values), made.node):
        if name in node.attr:
            del node.attr[name]
    return made


def _rename_attribute(graph, inputs, outputs, values):
    old, new = _one(values, ["old_attribute_name", "new_attribute_name"],
                    "rename_attribute expects exactly one "
                    "'old_attribute_name' and one 'new_attribute_name' "
                    "argument, e.g. rename_attribute(old_attribute_name=foo, "
                    "new_attribute_name=bar)")
    made = _graph_of(graph.node)
    for node in filter(_of_op(values), made.node):
        if old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return made


def _rename_op(graph, inputs, outputs, values):
    old, new = _one(values, ["old_op_name", "new_op_name"],
                    "rename_op expects exactly one 'old_op_name' and "
                    "'new_op_name' argument, e.g. "
                    "rename_op(old_op_name=Mul, new_op_name=Multiply)")
    made = _graph_of(graph.node)
    for node in made.node:
        if node.op == old:
            node.op = new
    return made


def _remove_device(graph, inputs, outputs, values):
    made = _graph_of(graph.node)
    for node in made.node:
        node.device = ""
    return made


def _short_names():
    """0 to 9, a to z, A to Z, 10, 11..."""
    for number in itertools.count():
        name = ""
        while number or not name:
            number, digit = divmod(number, len(_DIGITS))
            name = _DIGITS[digit] + name
        yield name


def _obfuscate_names(graph, inputs, outputs, values):
    """Short names for all nodes but inputs and outputs."""
    kept = {*inputs, *outputs}
    names = (name for name in _short_names() if name not in kept)
    new = {node.name: node.name if node.name in kept else next(names)
           for node in graph.node}
    made = _graph_of(graph.node)
    for node in made.node:
        node.name = new[node.name]
        renamed = []
        for name in node.input:
            start = "^" if name.startswith("^") else ""
            old, colon, output = name.lstrip("^").partition(":")
            renamed.append(start + new.get(old, old) + colon + output)
        del node.input[:]
        node.input.extend(renamed)
    return made


_TRANSFORMS = {
    "obfuscate_names": _obfuscate_names,
    "remove_attribute": _remove_attribute,
    "remove_device": _remove_device,
    "rename_attribute": _rename_attribute,
    "rename_op": _rename_op,
    "sort_by_execution_order": _sort_by_execution_order,
    "strip_unused_nodes": _strip_unused_nodes,
}


def TransformGraph(input_graph_def, inputs, outputs, transforms):
    """A GraphDef after the transforms, which are texts like "remove_device" or
    "rename_op(old_op_name=Mul, new_op_name=Multiply)".

    inputs, outputs: lists of names of nodes. ignore_errors=true among a
    transform's arguments: where it fails, the graph stays as it was.
    InvalidArgumentError for a transform that TensorFlow does not have, or wrong
    arguments; UnimplementedError for one that is not here yet.
    """
    graph = GraphDef()
    graph.CopyFrom(input_graph_def)
    inputs, outputs = ([_node_of(name) for name in names]
                       for names in (inputs, outputs))
    for name, values in _parsed(" ".join(transforms)):
        if name in _LEFT_OUT:
            raise UnimplementedError(
                None, None, "TransformGraph: transform '%s' is not supported "
                "yet; there are: %s" % (name, ", ".join(sorted(_TRANSFORMS))))
        if name not in _TRANSFORMS:
            raise _invalid("Transform '%s' not recognized.", name)
        try:
            made = _TRANSFORMS[name](graph, inputs, outputs, values)
        except OpError:
            if values.get("ignore_errors") != ["true"]:
                raise
            continue
        made.library.CopyFrom(graph.library)
        graph = made
    return graph
