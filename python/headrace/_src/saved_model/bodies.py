"""FunctionDefs of a SavedModel as graphs that a program can look at."""
from headrace import _headrace
from headrace._src.framework import messages
from headrace._src.framework.graph import Graph


class Body(Graph):
    """The nodes of a function. `inputs`: placeholders of its arguments, then of
    the tensors that it takes from outside. `outputs`: its results."""

    def __init__(self, definition, library, specs, results):
        """`definition`: a FunctionDef. `library`: {name: FunctionDef} that its
        nodes call. `specs`, `results`: TensorSpecs of the first arguments and
        of the results."""
        super().__init__()
        arguments = [arg.name for arg in definition.signature.input_arg]
        graph_def = messages.GraphDef()
        graph_def.versions.CopyFrom(self.graph_def_versions)
        for function in library.values():
            graph_def.library.function.add().CopyFrom(function)
        for i, arg in enumerate(definition.signature.input_arg):
            node = graph_def.node.add(name=arg.name, op="Placeholder")
            node.attr["dtype"].type = arg.type
            shape = node.attr["shape"].shape
            if i < len(specs):
                shape.CopyFrom(specs[i].shape.as_proto())
            else:
                shape.unknown_rank = True
        ends = {}
        for node in definition.node_def:
            ends[node.name] = _ends(node, library)
            graph_def.node.add().CopyFrom(node)
        for node in graph_def.node:
            names = [_resolved(name, ends) for name in node.input]
            del node.input[:]
            node.input.extend(names)
        self._import_graph_def(graph_def, "", [], [])
        self.inputs = [self.get_tensor_by_name(name + ":0")
                       for name in arguments]
        self.outputs = []
        for arg in definition.signature.output_arg:
            name = _resolved(definition.ret[arg.name], ends)
            self.outputs.append(self.get_tensor_by_name(
                name if ":" in name else name + ":0"))
        for tensor, spec in zip(self.outputs, results):
            tensor.set_shape(spec.shape)


def node_ends(node, library):
    """[(name of an output in the op's signature, number of its tensors)];
    `library`: {name: FunctionDef} of the functions that may be called."""
    signature = (library[node.op].signature if node.op in library
                 else _headrace.op_def(node.op))
    return [(arg.name, node.attr[arg.number_attr].i if arg.number_attr else
             len(node.attr[arg.type_list_attr].list.type)
             if arg.type_list_attr else 1) for arg in signature.output_arg]


def _ends(node, library):
    """{name of an output in the op's signature: index of its first tensor}"""
    found, at = {}, 0
    for name, size in node_ends(node, library):
        found[name] = at
        at += size
    return found


def _resolved(name, ends):
    """An input of a FunctionDef, "node:output:index", as a graph has it."""
    node, *rest = name.split(":")
    if not rest:
        return name
    return "%s:%d" % (node, ends[node][rest[0]] + int(rest[1] if rest[1:] else 0))
