"""Graphs by pickle and copy.deepcopy: the GraphDef, and of the collections what
a MetaGraphDef holds."""
from headrace._src.framework import messages
from headrace._src.framework.graph import Graph
from headrace._src.training import meta_graph

_CALLS_PYTHON = ("PyFunc", "PyFuncStateless")


def reduce(graph):
    """What pickle makes a copy of the graph from. TypeError for a graph that
    another process cannot have: one with Python functions, or one of a class of
    its own."""
    meta = _meta_graph_of(graph)
    for node in meta_graph.all_nodes(meta.graph_def):
        if node.op in _CALLS_PYTHON:
            raise TypeError(
                "cannot pickle the graph: its node '%s' (op %s) calls a Python "
                "function, which a GraphDef does not hold; make the graph anew "
                "where it is needed, or take the part without tf.py_func by "
                "tf.graph_util.extract_sub_graph" % (node.name, node.op))
    return _made_from, (meta, graph.seed, graph.finalized)


def copy(graph):
    """A copy of the graph in this process, which calls the same Python
    functions."""
    copied = _made_from(_meta_graph_of(graph), graph.seed, graph.finalized)
    copied._py_functions = list(graph._py_functions)
    return copied


def _meta_graph_of(graph):
    if type(graph) is not Graph:
        raise TypeError(
            "cannot pickle or copy a %s: only a tf.Graph itself is made from "
            "its GraphDef; use as_graph_def()" % type(graph).__name__)
    meta = messages.MetaGraphDef()
    meta.graph_def.CopyFrom(graph._graph_def())
    for key in graph.get_all_collection_keys():
        meta_graph.add_collection_def(meta, key, graph)
    return meta


def _made_from(meta, seed, finalized):
    graph = Graph()
    with graph.as_default():
        meta_graph.import_scoped_meta_graph(
            meta, unbound_inputs_col_name=None)
    graph.seed = seed
    if finalized:
        graph.finalize()
    return graph
