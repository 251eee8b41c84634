"""tensorflow.python.framework.function_def_to_graph and graph_to_function_def:
FunctionDefs as graphs, and nodes of a graph as a FunctionDef."""
from headrace._src.framework import graph as _graph
from headrace._src.framework import messages
from headrace._src.framework.importer import import_graph_def
from headrace._src.framework.tensor_shape import as_shape
from headrace._src.functions.func_graph import FuncGraph
from headrace._src.functions.function_def import function_def
from headrace._src.saved_model.bodies import node_ends


def graph_to_function_def(graph, operations, inputs, outputs, out_names=None):
    """The FunctionDef, without a name, of what `operations` compute of the
    tensors `inputs`: `outputs`, which may have names. ValueError if there are
    more or fewer names."""
    if out_names and len(out_names) != len(outputs):
        raise ValueError("%d names for %d outputs: %s"
                         % (len(out_names), len(outputs), out_names))
    return function_def("", operations, inputs, outputs, out_names)


def _known_functions(definition, known):
    """The functions of {name: FunctionDef} that a FunctionDef calls, and those
    that they call."""
    found, todo = {}, [definition]
    while todo:
        for node in todo.pop().node_def:
            names = [node.op]
            for value in node.attr.values():
                names += [value.func.name, *[f.name for f in value.list.func]]
            for name in names:
                if name in known and name not in found:
                    found[name] = known[name]
                    todo.append(known[name])
    return found


def function_def_to_graph_def(fdef, input_shapes=None, copy_functions=True):
    """(GraphDef, {name in the FunctionDef: name in the graph}) of the tensors
    and of "^node". Arguments are Placeholders of these shapes, of which each
    may be None. Functions that it calls come from the default graph. ValueError
    if there are more or fewer shapes."""
    arguments = fdef.signature.input_arg
    if input_shapes and len(input_shapes) != len(arguments):
        raise ValueError("Length of input_shapes must match the number of "
                         "input_args. len(input_shapes): %d len(input_arg): %d"
                         % (len(input_shapes), len(arguments)))
    graph_def, names = messages.GraphDef(), {}
    graph = _graph.get_default_graph()
    graph_def.versions.CopyFrom(graph.graph_def_versions)
    library = _known_functions(fdef, graph._functions)
    if copy_functions:
        graph_def.library.function.extend(library.values())
    for i, arg in enumerate(arguments):
        node = graph_def.node.add(name=arg.name, op="Placeholder")
        node.attr["dtype"].type = arg.type
        if input_shapes and input_shapes[i] is not None:
            node.attr["shape"].shape.CopyFrom(
                as_shape(input_shapes[i]).as_proto())
        names[arg.name] = arg.name + ":0"
        names["^" + arg.name] = "^" + arg.name
    for body_node in fdef.node_def:
        names["^" + body_node.name] = "^" + body_node.name
        at, ends = 0, node_ends(body_node, library)
        for name, size in ends:
            for i in range(size):
                names["%s:%s:%d" % (body_node.name, name, i)] = "%s:%d" % (
                    body_node.name, at + i)
            at += size
    for body_node in fdef.node_def:
        node = graph_def.node.add()
        node.CopyFrom(body_node)
        del node.input[:]
        node.input.extend(
            names[name if name in names or ":" not in name
                  or name.count(":") > 1 else name + ":0"]
            for name in body_node.input)
    return graph_def, names


def function_def_to_graph(fdef, input_shapes=None, copy_functions=True):
    """The FuncGraph of a FunctionDef, with its name, and with the tensors
    `inputs` and `outputs`. ValueError as from function_def_to_graph_def."""
    outer = _graph.get_default_graph()
    graph_def, names = function_def_to_graph_def(fdef, input_shapes, True)
    graph = FuncGraph(outer)
    graph.name = fdef.signature.name
    with graph.as_default():
        import_graph_def(graph_def, name="")
    graph.inputs = [graph.get_tensor_by_name(names[arg.name])
                    for arg in fdef.signature.input_arg]
    graph.outputs = [graph.get_tensor_by_name(names[fdef.ret[arg.name]])
                     for arg in fdef.signature.output_arg]
    return graph
